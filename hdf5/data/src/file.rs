//! Files, groups and links.

use crate::api::{Guard, Id, ObjectInfo, api};
use crate::error::{Error, Result};
use crate::handle::{DEFAULT, Handle, c_name, check};
use ferroblosc_capi_common::os;
use std::collections::HashSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

/// `H5F_ACC_RDWR` and `H5F_ACC_EXCL`.
const READ_WRITE: u32 = 1;
const EXCLUSIVE: u32 = 4;
/// `H5I_GROUP` and `H5I_DATASET`.
const GROUP: c_int = 2;
const DATASET: c_int = 5;
/// `H5L_TYPE_HARD`.
const HARD: c_int = 0;
/// The maximum number of objects of a file that are listed.
const MAX_OBJECTS: usize = 1 << 20;
/// The maximum size of the paths of these objects in bytes. Deeply nested groups have paths whose
/// size is the square of the size of the file.
const MAX_PATHS: usize = 256 << 20;

/// An object of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A group.
    Group,
    /// A dataset.
    Dataset,
}

/// An open file.
#[derive(Debug)]
pub struct File {
    pub(crate) handle: Handle,
}

/// An open group.
#[derive(Debug)]
pub struct Group {
    pub(crate) handle: Handle,
}

/// Returns the path of an object, with one slash at its start and none at its end.
fn absolute(path: &str) -> String {
    format!("/{}", path.trim_matches('/'))
}

impl File {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// [`Error::Missing`] and [`Error::Unsupported`] without a usable libhdf5; [`Error::Call`].
    pub fn open(path: &Path) -> Result<File> {
        File::open_with(path, 0)
    }

    /// Opens a file to change it.
    ///
    /// # Errors
    /// Returns the same errors as [`File::open`].
    pub fn open_to_change(path: &Path) -> Result<File> {
        File::open_with(path, READ_WRITE)
    }

    fn open_with(path: &Path, flags: u32) -> Result<File> {
        let api = api()?;
        let guard = Guard::new(api);
        let name = path_name(path)?;
        // SAFETY: the name is a C string.
        let id = unsafe { (api.H5Fopen)(name.as_ptr(), flags, DEFAULT) };
        let handle = Handle::new(id, &guard, "open the file")?;
        Ok(File { handle })
    }

    /// Creates a file, which must not exist.
    ///
    /// # Errors
    /// Returns the same errors as [`File::open`].
    pub fn create(path: &Path) -> Result<File> {
        let api = api()?;
        let guard = Guard::new(api);
        let name = path_name(path)?;
        // SAFETY: the name is a C string.
        let id = unsafe { (api.H5Fcreate)(name.as_ptr(), EXCLUSIVE, DEFAULT, DEFAULT) };
        let made = Handle::new(id, &guard, "create the file");
        made.map(|handle| File { handle }).map_err(of_output)
    }

    /// Writes everything to the file. All datasets and groups must be closed.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn close(self) -> Result<()> {
        let api = api()?;
        let guard = Guard::new(api);
        // SAFETY: the file is open; 1 is `H5F_SCOPE_GLOBAL`.
        let status = unsafe { (api.H5Fflush)(self.handle.id(), 1) };
        let written = check(status, &guard, "write the file");
        // Closing changes the size of the file, and frees the file also if it fails.
        let closed = self.handle.close(&guard, "write the file");
        written.and(closed).map_err(of_output)
    }

    /// Opens an object by its path.
    pub(crate) fn open_object(&self, path: &str) -> Result<(Handle, Node)> {
        let api = api()?;
        let guard = Guard::new(api);
        let path = absolute(path);
        if !self.exists_locked(&path, &guard)? {
            return Err(Error::NotFound(path));
        }
        let name = c_name(&path)?;
        // A link may have no target.
        // SAFETY: the file is open, and the name is a C string.
        let exists = unsafe { (api.H5Oexists_by_name)(self.handle.id(), name.as_ptr(), DEFAULT) };
        if exists == 0 && path != "/" {
            return Err(Error::NotFound(path));
        }
        // SAFETY: the file is open, and the name is a C string.
        let id = unsafe { (api.H5Oopen)(self.handle.id(), name.as_ptr(), DEFAULT) };
        let handle = Handle::new(id, &guard, format!("open {path:?}"))?;
        // SAFETY: the identifier is open.
        match unsafe { (api.H5Iget_type)(handle.id()) } {
            GROUP => Ok((handle, Node::Group)),
            DATASET => Ok((handle, Node::Dataset)),
            _ => Err(Error::NotFound(path)),
        }
    }

    /// Returns the kind of the object at a path.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no group or dataset; [`Error::Call`].
    pub fn node(&self, path: &str) -> Result<Node> {
        Ok(self.open_object(path)?.1)
    }

    /// Whether each link of a path exists. A link without a target exists, too.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn exists(&self, path: &str) -> Result<bool> {
        let guard = Guard::new(api()?);
        self.exists_locked(&absolute(path), &guard)
    }

    fn exists_locked(&self, path: &str, guard: &Guard) -> Result<bool> {
        let api = api()?;
        let mut prefix = String::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let outer = std::mem::take(&mut prefix);
            prefix = format!("{outer}/{part}");
            let name = c_name(&prefix)?;
            // SAFETY: the file is open, and the name is a C string.
            let exists = unsafe { (api.H5Lexists)(self.handle.id(), name.as_ptr(), DEFAULT) };
            match check(exists, guard, format!("open {prefix:?}")) {
                Ok(0) => return Ok(false),
                Err(_) if !outer.is_empty() && self.is_no_group(&outer)? => return Ok(false),
                exists => exists?,
            };
        }
        Ok(true)
    }

    /// Whether a path whose links exist has no target, or one that is not a group: it contains no
    /// other objects.
    ///
    /// # Errors
    /// [`Error::Call`] if the object cannot be read; it may be a group.
    fn is_no_group(&self, path: &str) -> Result<bool> {
        let api = api()?;
        let guard = Guard::new(api);
        let name = c_name(path)?;
        // SAFETY: the file is open, and the name is a C string.
        let id = unsafe {
            match (api.H5Oexists_by_name)(self.handle.id(), name.as_ptr(), DEFAULT) {
                0 => return Ok(true),
                _ => (api.H5Oopen)(self.handle.id(), name.as_ptr(), DEFAULT),
            }
        };
        let object = Handle::new(id, &guard, format!("open {path:?}"))?;
        // SAFETY: the identifier is open.
        Ok(unsafe { (api.H5Iget_type)(object.id()) } != GROUP)
    }

    /// Opens a group.
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is no group; [`Error::Call`].
    pub fn group(&self, path: &str) -> Result<Group> {
        match self.open_object(path)? {
            (handle, Node::Group) => Ok(Group { handle }),
            _ => Err(Error::NotFound(absolute(path))),
        }
    }

    /// Creates a group, and the groups that contain it.
    ///
    /// # Errors
    /// [`Error::Exists`] if it is a dataset; [`Error::Call`].
    pub fn create_group(&self, path: &str) -> Result<Group> {
        let api = api()?;
        let guard = Guard::new(api);
        let path = absolute(path);
        if self.exists_locked(&path, &guard)? {
            return match self.open_object(&path)? {
                (handle, Node::Group) => Ok(Group { handle }),
                _ => Err(Error::Exists(path)),
            };
        }
        let (name, links) = (c_name(&path)?, links(&guard)?);
        // SAFETY: the identifiers are open, and the name is a C string.
        let id = unsafe {
            (api.H5Gcreate2)(self.handle.id(), name.as_ptr(), links.id(), DEFAULT, DEFAULT)
        };
        let made = Handle::new(id, &guard, format!("create the group {path:?}"));
        made.map(|handle| Group { handle }).map_err(of_output)
    }

    /// Removes the link at a path. The space of its object may remain in the file.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn unlink(&self, path: &str) -> Result<()> {
        let api = api()?;
        let guard = Guard::new(api);
        let name = c_name(&absolute(path))?;
        // SAFETY: the file is open, and the name is a C string.
        let status = unsafe { (api.H5Ldelete)(self.handle.id(), name.as_ptr(), DEFAULT) };
        check(status, &guard, format!("remove {path:?}")).map(drop)
    }

    /// Returns the paths of all groups and datasets below a group, relative to it, each object
    /// once, sorted by name. Only hard links are followed, so that no other file is opened and a
    /// cycle of groups ends.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Call`].
    pub fn walk(&self, group: &str) -> Result<Vec<(String, Node)>> {
        let guard = Guard::new(api()?);
        let root = self.group(group)?;
        let mut seen = HashSet::from([identity(root.handle.id(), &guard)?]);
        let mut found = Vec::new();
        let mut size = 0_usize;
        // The groups that are not listed yet, the next one last.
        let mut pending = vec![(String::new(), root.handle)];
        while let Some((prefix, group)) = pending.pop() {
            let mut inner = Vec::new();
            for name in hard_links(group.id(), &guard)? {
                let path =
                    if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
                let Some((handle, node)) = open_in(group.id(), &name, &guard)? else {
                    continue;
                };
                if !seen.insert(identity(handle.id(), &guard)?) {
                    continue;
                }
                if seen.len() > MAX_OBJECTS {
                    return Err(Error::Invalid(format!("it has more than {MAX_OBJECTS} objects")));
                }
                size = size.saturating_add(path.len());
                if size > MAX_PATHS {
                    let reason = format!("the paths of its objects exceed {MAX_PATHS} bytes");
                    return Err(Error::Invalid(reason));
                }
                found.push((path.clone(), node));
                if node == Node::Group {
                    inner.push((path, handle));
                }
            }
            pending.extend(inner.into_iter().rev());
        }
        found.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
        Ok(found)
    }
}

/// Marks an error as one of writing.
pub fn of_output(error: Error) -> Error {
    match error {
        Error::Call { action, reason, .. } => Error::Call { action, reason, is_open: false },
        other => other,
    }
}

/// Returns a property list for links, with which missing groups are created.
pub fn links(guard: &Guard) -> Result<Handle> {
    let api = api()?;
    let class = api.variable(guard, "H5P_CLS_LINK_CREATE_ID_g")?;
    // SAFETY: the class is that of property lists for links, which have both properties; 1 is
    // `H5T_CSET_UTF8`.
    unsafe {
        let links = Handle::new((api.H5Pcreate)(class), guard, "create a property list")?;
        check((api.H5Pset_create_intermediate_group)(links.id(), 1), guard, "create groups")?;
        check((api.H5Pset_char_encoding)(links.id(), 1), guard, "create groups")?;
        Ok(links)
    }
}

fn path_name(path: &Path) -> Result<CString> {
    os::path::text(path).ok_or_else(|| Error::NotFound(path.display().to_string()))
}

/// Opens a group or dataset in a group. Returns `None` for other objects.
fn open_in(group: Id, name: &str, guard: &Guard) -> Result<Option<(Handle, Node)>> {
    let (api, shown, name) = (api()?, name, c_name(name)?);
    // SAFETY: the group is open, and the name is a C string.
    let id = unsafe { (api.H5Oopen)(group, name.as_ptr(), DEFAULT) };
    let handle = Handle::new(id, guard, format!("open {shown:?}"))?;
    // SAFETY: the identifier is open.
    Ok(match unsafe { (api.H5Iget_type)(handle.id()) } {
        GROUP => Some((handle, Node::Group)),
        DATASET => Some((handle, Node::Dataset)),
        _ => None,
    })
}

/// The visitor of links, which records the names of hard links.
unsafe extern "C" fn record(
    _: Id,
    name: *const c_char,
    info: *const c_void,
    found: *mut c_void,
) -> c_int {
    // SAFETY: HDF5 passes a C string, an information whose first field is the kind of the link, and
    // the pointer of `hard_links` to its local variable.
    let (name, kind, found) = unsafe {
        (CStr::from_ptr(name), *info.cast::<c_int>(), &mut *found.cast::<Vec<CString>>())
    };
    if kind == HARD {
        found.push(name.to_owned());
    }
    0
}

/// Returns the names of the hard links of a group.
fn hard_links(group: Id, guard: &Guard) -> Result<Vec<String>> {
    let api = api()?;
    let mut names: Vec<CString> = Vec::new();
    let visitor: unsafe extern "C" fn(Id, *const c_char, *const c_void, *mut c_void) -> c_int =
        record;
    let mut start = 0;
    // SAFETY: the group is open; the visitor has the type of `H5L_iterate_t`, and receives a
    // pointer to `names`. The index and the order are those of names.
    let status = unsafe {
        let data = (&raw mut names).cast();
        (api.iterate)(group, 0, 0, &raw mut start, visitor as *const c_void, data)
    };
    check(status, guard, "list a group")?;
    let name_of = |name: CString| {
        name.into_string().map_err(|error| {
            let name = error.into_cstring();
            Error::Invalid(format!("the name {:?} is not UTF-8", name.to_string_lossy()))
        })
    };
    names.into_iter().map(name_of).collect()
}

/// The start of `H5O_info1_t` and `H5O_info2_t`: the number of the file and the address, which is a
/// token of 16 bytes in the second. The rest is larger than each of them.
#[repr(C, align(8))]
pub(crate) struct Info {
    file: [u8; 8],
    pub(crate) address: [u8; 16],
    pub(crate) rest: [u8; 488],
}

impl Info {
    /// Returns the information about an open object.
    pub(crate) fn of(object: Id, guard: &Guard) -> Result<Info> {
        let api = api()?;
        let mut info = Info { file: [0; 8], address: [0; 16], rest: [0; 488] };
        let data = (&raw mut info).cast();
        // SAFETY: the object is open, and the buffer is larger than each version of the struct. 1
        // is `H5O_INFO_BASIC`.
        let status = unsafe {
            match api.object_info {
                ObjectInfo::Fields(info) => info(object, data, 1),
                ObjectInfo::All(info) => info(object, data),
            }
        };
        check(status, guard, "describe an object")?;
        Ok(info)
    }
}

/// Returns the number of the file of an object and its address.
fn identity(object: Id, guard: &Guard) -> Result<([u8; 8], [u8; 16])> {
    let mut info = Info::of(object, guard)?;
    if let ObjectInfo::All(_) = api()?.object_info {
        // The address has 8 bytes; the type and the number of links follow.
        info.address[8..].fill(0);
    }
    Ok((info.file, info.address))
}
