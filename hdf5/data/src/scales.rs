//! Dimension scales: datasets that describe a dimension of others.
//!
//! The attributes are those of HDF5's specification of dimension scales:
//!
//! | attribute | of | value |
//! |---|---|---|
//! | `CLASS` | scales | the text `DIMENSION_SCALE` |
//! | `NAME` | scales | the name |
//! | `DIMENSION_LIST` | other datasets | a list of references to scales for each dimension |
//! | `REFERENCE_LIST` | scales | records: the reference to a dataset, and the number of a dimension |
//!
//! As in netCDF-4, a dimension without values is a scale whose name starts with a certain text; its
//! items are not stored.

use crate::api::{Guard, ObjectInfo, api};
use crate::attribute;
use crate::error::{Error, Result};
use crate::file::{File, Info, Node, links, of_output};
use crate::handle::{DEFAULT, Handle, c_name, check};
use crate::shape::{self, extent};
use std::collections::HashSet;
use std::ffi::{CStr, c_int, c_void};

/// The start of the name of a dimension without values, which its length follows.
const NO_VALUES: &str = "This is a netCDF dimension but not a netCDF variable.";
const CLASS: &str = "CLASS";
const NAME: &str = "NAME";
const LIST: &str = "DIMENSION_LIST";
const REFERRERS: &str = "REFERENCE_LIST";
const SCALE: &[u8] = b"DIMENSION_SCALE";
/// `H5T_COMPOUND`.
const COMPOUND: c_int = 6;
/// The maximum number of references to a scale that are read.
const MAX_REFERRERS: u64 = 1 << 20;

/// A reference to an object.
type Reference = [u8; 8];

/// `ds_list_t`: an item of `REFERENCE_LIST`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Referrer {
    dataset: Reference,
    dimension: c_int,
    _padding: c_int,
}

/// `hvl_t`: a sequence of variable length.
#[repr(C)]
struct Sequence {
    len: usize,
    start: *const c_void,
}

/// A dimension of a dataset: the path of the dataset, and the number of the dimension.
pub type Dimension = (String, usize);

/// Returns an attribute that is a text of fixed or variable length.
fn text_of(object: &Handle, name: &str) -> Result<Option<Vec<u8>>> {
    let api = api()?;
    let guard = Guard::new(api);
    let c_name = c_name(name)?;
    // SAFETY: the object is open, and the name is a C string.
    if unsafe { (api.H5Aexists)(object.id(), c_name.as_ptr()) } <= 0 {
        return Ok(None);
    }
    Ok(match attribute::read(object, &c_name, &guard)? {
        attribute::Attribute::Texts(_, mut texts) => texts.pop(),
        attribute::Attribute::Items(_, _, mut bytes) => {
            let len = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            bytes.truncate(len);
            Some(bytes)
        }
        attribute::Attribute::Unsupported(_) => None,
    })
}

/// Whether a dataset is a dimension scale.
pub fn is_scale(object: &Handle) -> Result<bool> {
    Ok(text_of(object, CLASS)?.is_some_and(|class| class == SCALE))
}

/// Whether a dataset is a dimension without values.
fn is_bare(object: &Handle) -> Result<bool> {
    let name = if is_scale(object)? { text_of(object, NAME)? } else { None };
    Ok(name.is_some_and(|name| name.starts_with(NO_VALUES.as_bytes())))
}

/// Writes an attribute with a text of fixed length, which ends with NUL.
fn write_text(object: &Handle, name: &str, text: &[u8]) -> Result<()> {
    let api = api()?;
    let guard = Guard::new(api);
    let text = [text, b"\0"].concat();
    // SAFETY: the type is a string of the length of the text.
    unsafe {
        let base = api.variable(&guard, "H5T_C_S1_g")?;
        let datatype = Handle::new((api.H5Tcopy)(base), &guard, "create a type")?;
        check((api.H5Tset_size)(datatype.id(), text.len()), &guard, "create a type")?;
        attribute::write_items(object, name, &datatype, Some(&[]), text.as_ptr().cast())
    }
}

/// Returns the references to the scales of each dimension.
fn lists(object: &Handle, rank: usize) -> Result<Vec<Vec<Reference>>> {
    let mut lists = attribute::scales(object)?;
    lists.resize(rank, Vec::new());
    Ok(lists)
}

fn set_lists(object: &Handle, lists: &[Vec<Reference>]) -> Result<()> {
    if lists.iter().all(Vec::is_empty) {
        return attribute::remove(object, LIST);
    }
    let api = api()?;
    let guard = Guard::new(api);
    let sequences: Vec<Sequence> = lists
        .iter()
        .map(|list| Sequence { len: list.len(), start: list.as_ptr().cast() })
        .collect();
    // SAFETY: the items are sequences of object references, which outlive the call.
    unsafe {
        let base = api.variable(&guard, "H5T_STD_REF_OBJ_g")?;
        let datatype = Handle::new((api.H5Tvlen_create)(base), &guard, "create a type")?;
        attribute::write_items(
            object,
            LIST,
            &datatype,
            Some(&[lists.len() as u64]),
            sequences.as_ptr().cast(),
        )
    }
}

/// Returns the type of `Referrer`.
fn referrer_type(guard: &Guard) -> Result<Handle> {
    let api = api()?;
    let action = "create a type";
    // SAFETY: the class exists, and the fields are inside of the record.
    unsafe {
        let made = (api.H5Tcreate)(COMPOUND, size_of::<Referrer>());
        let made = Handle::new(made, guard, action)?;
        let reference = api.variable(guard, "H5T_STD_REF_OBJ_g")?;
        let number = api.variable(guard, "H5T_NATIVE_INT_g")?;
        let insert = api.H5Tinsert;
        check(insert(made.id(), c"dataset".as_ptr(), 0, reference), guard, action)?;
        let offset = std::mem::offset_of!(Referrer, dimension);
        check(insert(made.id(), c"dimension".as_ptr(), offset, number), guard, action)?;
        Ok(made)
    }
}

/// Returns the dimensions to which a scale is attached.
fn referrers(scale: &Handle) -> Result<Vec<Referrer>> {
    let api = api()?;
    let guard = Guard::new(api);
    let name = c_name(REFERRERS)?;
    // SAFETY: the object is open, and the name is a C string.
    if unsafe { (api.H5Aexists)(scale.id(), name.as_ptr()) } <= 0 {
        return Ok(Vec::new());
    }
    let (attribute, datatype, space) = attribute::open(scale, &name, &guard)?;
    let (shape, _) = extent(&space, &guard)?;
    // SAFETY: the type is open.
    let is_record = unsafe { (api.H5Tget_class)(datatype.id()) } == COMPOUND;
    let count = shape.iter().try_fold(1_u64, |count, &len| count.checked_mul(len));
    let Some(count @ 1..=MAX_REFERRERS) = count.filter(|_| is_record) else {
        return Ok(Vec::new());
    };
    let memory = referrer_type(&guard)?;
    let mut found = vec![Referrer { dataset: [0; 8], dimension: -1, _padding: 0 }; count as usize];
    // SAFETY: the buffer has all items in the type of memory.
    let status = unsafe { (api.H5Aread)(attribute.id(), memory.id(), found.as_mut_ptr().cast()) };
    check(status, &guard, "read the references to a dimension scale")?;
    Ok(found)
}

fn set_referrers(scale: &Handle, referrers: &[Referrer]) -> Result<()> {
    if referrers.is_empty() {
        return attribute::remove(scale, REFERRERS);
    }
    let guard = Guard::new(api()?);
    let datatype = referrer_type(&guard)?;
    let shape = [referrers.len() as u64];
    // SAFETY: the items are records of this type.
    unsafe {
        attribute::write_items(scale, REFERRERS, &datatype, Some(&shape), referrers.as_ptr().cast())
    }
}

impl File {
    /// Opens a dataset of any type, and returns its shape; `None` if it has no dataspace of items.
    fn open_dataset(&self, path: &str) -> Result<Option<(Handle, Vec<u64>)>> {
        let guard = Guard::new(api()?);
        let (object, Node::Dataset) = self.open_object(path)? else {
            return Ok(None);
        };
        let api = api()?;
        // SAFETY: the dataset is open.
        let space = unsafe { (api.H5Dget_space)(object.id()) };
        let space = Handle::new(space, &guard, format!("open {path:?}"))?;
        let (shape, is_null) = extent(&space, &guard)?;
        Ok((!is_null).then_some((object, shape)))
    }

    /// Returns the reference to the object at a path.
    fn reference(&self, path: &str) -> Result<Reference> {
        let api = api()?;
        let guard = Guard::new(api);
        let mut reference = [0; 8];
        let name = c_name(&format!("/{}", path.trim_matches('/')))?;
        // SAFETY: the buffer has the size of an object reference; 0 is `H5R_OBJECT`.
        let status = unsafe {
            let dest = reference.as_mut_ptr().cast();
            (api.H5Rcreate)(dest, self.handle.id(), name.as_ptr(), 0, -1)
        };
        check(status, &guard, format!("refer to {path:?}"))?;
        Ok(reference)
    }

    /// Returns the object of a reference, or `None` if there is none.
    fn dereference(&self, reference: &Reference) -> Result<Option<Handle>> {
        let api = api()?;
        let guard = Guard::new(api);
        // SAFETY: the reference has the size of an object reference; 0 is `H5R_OBJECT`.
        let object = unsafe {
            (api.H5Rdereference2)(self.handle.id(), DEFAULT, 0, reference.as_ptr().cast())
        };
        Ok(Handle::new(object, &guard, "read a reference").ok())
    }

    /// Whether there is a dimension without values at a path: a scale whose items are not stored.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn is_bare_dimension(&self, path: &str) -> Result<bool> {
        match self.open_object(path) {
            Ok((object, Node::Dataset)) => is_bare(&object),
            Ok(_) | Err(Error::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether there is a dimension scale at a path.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn is_scale(&self, path: &str) -> Result<bool> {
        match self.open_object(path) {
            Ok((object, Node::Dataset)) => is_scale(&object),
            Ok(_) | Err(Error::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the shape of a dataset of any type; empty without items.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Call`].
    pub fn shape_of(&self, path: &str) -> Result<Vec<u64>> {
        Ok(self.open_dataset(path)?.map(|(_, shape)| shape).unwrap_or_default())
    }

    /// Whether a dimension of this length can have the dataset at a path as its scale. `None` if
    /// there is no object.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn can_be_scale(&self, path: &str, len: u64) -> Result<Option<bool>> {
        if !self.exists(path)? {
            return Ok(None);
        }
        match self.open_dataset(path) {
            // A scale has no scales.
            Ok(Some((object, shape))) => {
                Ok(Some(shape == [len] && lists(&object, 1)?.iter().all(Vec::is_empty)))
            }
            Ok(None) | Err(Error::NotFound(_)) => Ok(Some(false)),
            Err(error) => Err(error),
        }
    }

    /// Makes the dataset at a path a dimension scale, unless it is one.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Call`].
    pub fn make_scale(&self, path: &str) -> Result<()> {
        let (object, _) = self.open_object(path)?;
        if is_scale(&object)? {
            return Ok(());
        }
        let name = path.rsplit('/').next().unwrap_or_default();
        write_text(&object, CLASS, SCALE)?;
        write_text(&object, NAME, name.as_bytes())
    }

    /// Creates a dimension without values.
    ///
    /// # Errors
    /// [`Error::Exists`]; [`Error::Call`].
    pub fn create_bare_dimension(&self, path: &str, len: u64) -> Result<()> {
        let path = format!("/{}", path.trim_matches('/'));
        if self.exists(&path)? {
            return Err(Error::Exists(path));
        }
        let api = api()?;
        let guard = Guard::new(api);
        let action = || format!("create the dimension {path:?}");
        let space = shape::space(Some(&[len]), &guard)?;
        let class = api.variable(&guard, "H5P_CLS_DATASET_CREATE_ID_g")?;
        let item = api.variable(&guard, "H5T_IEEE_F32BE_g")?;
        let (name, links) = (c_name(&path)?, links(&guard)?);
        // SAFETY: the class is that of property lists for datasets, and the identifiers are open.
        let object = unsafe {
            let list = Handle::new((api.H5Pcreate)(class), &guard, action())?;
            check((api.H5Pset_obj_track_times)(list.id(), 0), &guard, action())?;
            let (file, list) = (self.handle.id(), list.id());
            let id =
                (api.H5Dcreate2)(file, name.as_ptr(), item, space.id(), links.id(), list, DEFAULT);
            Handle::new(id, &guard, action()).map_err(of_output)?
        };
        write_text(&object, CLASS, SCALE)?;
        write_text(&object, NAME, format!("{NO_VALUES}{len:10}").as_bytes())
    }

    /// Attaches a dimension scale to a dimension of a dataset.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Call`].
    pub fn attach_scale(&self, dataset: &str, dimension: usize, scale: &str) -> Result<()> {
        let Some((object, shape)) = self.open_dataset(dataset)? else {
            return Err(Error::NotFound(dataset.to_owned()));
        };
        let number = c_int::try_from(dimension).ok().filter(|_| dimension < shape.len());
        let number = number
            .ok_or_else(|| Error::Invalid(format!("{dataset:?} has no dimension {dimension}")))?;
        let (own, other) = (self.reference(dataset)?, self.reference(scale)?);
        let mut lists = lists(&object, shape.len())?;
        if !lists[dimension].contains(&other) {
            lists[dimension].push(other);
            set_lists(&object, &lists)?;
        }
        let (scale, _) = self.open_object(scale)?;
        let mut found = referrers(&scale)?;
        if !found.iter().any(|found| found.dataset == own && found.dimension == number) {
            found.push(Referrer { dataset: own, dimension: number, _padding: 0 });
            set_referrers(&scale, &found)?;
        }
        Ok(())
    }

    /// Removes the link to a dataset. If it is the last one, the dataset is detached from its
    /// scales, and from the dimensions whose scale it is. Returns these.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Call`]. The dataset stays attached, unless undoing fails, too.
    pub fn unlink_dataset(&self, path: &str) -> Result<Vec<Dimension>> {
        let _guard = Guard::new(api()?);
        // Everything is read before the first change.
        let (changes, detached) = self.detachments(path)?;
        let mut made = 0;
        let changed = changes.iter().try_for_each(|change| {
            made += 1;
            change.apply()
        });
        if let Err(error) = changed.and_then(|()| self.unlink(path)) {
            for change in changes[..made].iter().rev() {
                // The error of the change is returned.
                let _ = change.undo();
            }
            return Err(error);
        }
        Ok(detached)
    }

    /// Returns the changes that detach a dataset, if it has no other link, and the dimensions whose
    /// scale it is.
    fn detachments(&self, path: &str) -> Result<(Vec<Change>, Vec<Dimension>)> {
        let (mut changes, mut detached) = (Vec::new(), Vec::new());
        if let Some((object, shape)) = self.open_dataset(path)?
            && link_count(&object)? <= 1
        {
            let own = self.reference(path)?;
            let mut seen = HashSet::new();
            for reference in lists(&object, shape.len())?.into_iter().flatten() {
                if seen.insert(reference)
                    && let Some(scale) = self.dereference(&reference)?
                {
                    let old = referrers(&scale)?;
                    let new = old.iter().filter(|found| found.dataset != own).copied().collect();
                    changes.push(Change::Referrers { scale, old, new });
                }
            }
            seen.clear();
            for referrer in referrers(&object)? {
                if !seen.insert(referrer.dataset) {
                    continue;
                }
                let Some(dataset) = self.dereference(&referrer.dataset)? else {
                    continue;
                };
                let Some(path) = path_of(&dataset)? else {
                    continue;
                };
                let old = attribute::scales(&dataset)?;
                let mut new = old.clone();
                for (number, list) in new.iter_mut().enumerate() {
                    if list.contains(&own) {
                        list.retain(|scale| *scale != own);
                        detached.push((path.clone(), number));
                    }
                }
                if new != old {
                    changes.push(Change::Lists { dataset, old, new });
                }
            }
        }
        Ok((changes, detached))
    }
}

/// A change of an attribute that detaches a dataset from a scale.
enum Change {
    /// Of `REFERENCE_LIST`.
    Referrers { scale: Handle, old: Vec<Referrer>, new: Vec<Referrer> },
    /// Of `DIMENSION_LIST`.
    Lists { dataset: Handle, old: Vec<Vec<Reference>>, new: Vec<Vec<Reference>> },
}

impl Change {
    fn apply(&self) -> Result<()> {
        match self {
            Change::Referrers { scale, new, .. } => set_referrers(scale, new),
            Change::Lists { dataset, new, .. } => set_lists(dataset, new),
        }
    }

    fn undo(&self) -> Result<()> {
        match self {
            Change::Referrers { scale, old, .. } => set_referrers(scale, old),
            Change::Lists { dataset, old, .. } => set_lists(dataset, old),
        }
    }
}

/// Returns a path of an object, without slashes at its ends. `None` if it has none, or one that is
/// not UTF-8 or has 4096 bytes or more.
pub fn path_of(object: &Handle) -> Result<Option<String>> {
    let api = api()?;
    let _guard = Guard::new(api);
    let mut text = [0; 4096];
    // SAFETY: the object is open, and the buffer has this length.
    let len = unsafe { (api.H5Iget_name)(object.id(), text.as_mut_ptr(), text.len()) };
    if len <= 0 || len as usize >= text.len() {
        return Ok(None);
    }
    // SAFETY: the buffer ends with NUL.
    let path = unsafe { CStr::from_ptr(text.as_ptr()) }.to_str();
    Ok(path.ok().map(|path| path.trim_matches('/').to_owned()))
}

/// Returns the number of hard links to an object.
fn link_count(object: &Handle) -> Result<u32> {
    let api = api()?;
    let guard = Guard::new(api);
    let info = Info::of(object.id(), &guard)?;
    // The type of the object, of 4 bytes, and the number of links follow the address.
    let bytes = match api.object_info {
        ObjectInfo::Fields(_) => &info.rest[4..8],
        ObjectInfo::All(_) => &info.address[12..16],
    };
    Ok(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}
