//! The files of Zarr data: a directory or a zip file, which map keys to values.
//!
//! Keys come from metadata. A key whose file is a link out of the directory is an error: a
//! directory from an untrusted source must not copy other files of the user.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::limits::{MAX_DEPTH, MAX_NODES};
use crate::store::Error as StoreError;
use crate::store::zip::Archive;
use crate::tree;
use ferroblosc::io::ReadAt;
use ferroblosc::io::named::NamedFile;

/// The files with the metadata of arrays and groups.
pub const METADATA_V3: &str = "zarr.json";
pub const ARRAY_V2: &str = ".zarray";
pub const GROUP_V2: &str = ".zgroup";
/// The file of attributes in version 2.
pub const ATTRIBUTES_V2: &str = ".zattrs";
/// The copies of the metadata of all arrays in version 2, which are wrong if arrays are added.
/// Those of version 3 are in the metadata of the root.
pub const CONSOLIDATED_V2: &str = ".zmetadata";
const METADATA: [&str; 3] = [METADATA_V3, ARRAY_V2, GROUP_V2];

/// Whether a file in the directory of an array or a group contains metadata.
pub fn is_metadata_file(name: &str) -> bool {
    METADATA.contains(&name) || matches!(name, ATTRIBUTES_V2 | CONSOLIDATED_V2)
}

/// Whether a name in the directory of an array can be a key, or the start of a key, of a chunk.
pub fn is_chunk_key(name: &str) -> bool {
    let indices = match name.strip_prefix('c') {
        Some("") => return true,
        Some(rest) => rest.strip_prefix('.'),
        None => Some(name),
    };
    let is_index = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    indices.is_some_and(|indices| indices.split('.').all(is_index))
}

/// Whether a directory is an array or a group.
pub fn is_node_directory(path: &Path) -> bool {
    METADATA.iter().any(|name| path.join(name).is_file())
}

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The bytes from an offset on.
    At {
        /// The offset.
        offset: u64,
        /// The length.
        len: u64,
    },
    /// The last bytes.
    End(u64),
}

impl Part {
    /// Returns the offset and the length in a value of `size` bytes, or `None` if it is out of
    /// bounds.
    fn range(self, size: u64) -> Option<(u64, u64)> {
        let (offset, len) = match self {
            Part::At { offset, len } => (offset, len),
            Part::End(len) => (size.checked_sub(len)?, len),
        };
        (offset.checked_add(len)? <= size).then_some((offset, len))
    }
}

/// A directory or a zip file.
pub enum Storage {
    /// A directory.
    Directory {
        /// The path.
        root: PathBuf,
        /// The path without links.
        real: PathBuf,
    },
    /// A zip file.
    Zip {
        /// The open file.
        archive: Archive,
        /// The numbers of the members by name.
        members: HashMap<String, usize>,
    },
}

impl Storage {
    /// Opens a directory or a zip file.
    ///
    /// # Errors
    /// [`Error::Storage`]; [`Error::NotFound`] if it is neither.
    pub fn open(path: &Path) -> Result<Storage> {
        if path.is_dir() {
            let real = fs::canonicalize(path).map_err(StoreError::storage(path))?;
            return Ok(Storage::Directory { root: path.to_owned(), real });
        }
        match Archive::open(path)? {
            Some(archive) => Ok(Storage::of_archive(archive)),
            None => Err(Error::NotFound(path.display().to_string())),
        }
    }

    /// Returns the storage of an open zip file. Of several members of a name, the last one counts.
    pub fn of_archive(archive: Archive) -> Storage {
        let members = archive.members().iter().enumerate();
        let members = members.map(|(number, member)| (member.name.clone(), number)).collect();
        Storage::Zip { archive, members }
    }

    /// Returns a value of at most `limit` bytes, or `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Storage`]; [`Error::Link`]; [`Error::Limit`]; [`Error::Memory`].
    pub fn get(&self, key: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        match self {
            Storage::Directory { .. } => {
                let Some(mut file) = self.file(key)? else {
                    return Ok(None);
                };
                let path = file.path().to_owned();
                let size = file.file().metadata().map_err(StoreError::storage(&path))?.len();
                check_size(key, size, limit)?;
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(usize::try_from(size).map_err(|_| Error::Memory)?)?;
                let read = Read::by_ref(&mut file).take(size).read_to_end(&mut bytes);
                read.map_err(StoreError::storage(&path))?;
                Ok(Some(bytes))
            }
            Storage::Zip { archive, members } => {
                let Some(&number) = members.get(key) else {
                    return Ok(None);
                };
                let member = &archive.members()[number];
                check_size(key, member.size, limit)?;
                Ok(Some(archive.read(member, limit)?))
            }
        }
    }

    /// Returns a part of a value; `None` if there is no value.
    ///
    /// # Errors
    /// The errors of [`Storage::get`]; [`Error::Chunk`] if the part is out of bounds.
    pub fn get_part(&self, key: &str, part: Part, limit: u64) -> Result<Option<Vec<u8>>> {
        let outside = || Error::Chunk { key: key.to_owned(), why: "it is truncated".to_owned() };
        let bounds = |size| part.range(size).ok_or_else(outside);
        match self {
            Storage::Directory { .. } => {
                let Some(file) = self.file(key)? else {
                    return Ok(None);
                };
                let path = file.path().to_owned();
                let size = file.file().metadata().map_err(StoreError::storage(&path))?.len();
                let (offset, len) = bounds(size)?;
                let mut bytes = buffer(key, len, limit)?;
                let read = file.read_at(offset, &mut bytes);
                let read = read.map_err(|error| StoreError::Storage { path, error })?;
                // Another program has shortened the file.
                if read == bytes.len() { Ok(Some(bytes)) } else { Err(outside()) }
            }
            Storage::Zip { archive, members } => {
                let Some(&number) = members.get(key) else {
                    return Ok(None);
                };
                let member = &archive.members()[number];
                if !member.is_stored() {
                    let whole = archive.read(member, limit)?;
                    let (offset, len) = bounds(whole.len() as u64)?;
                    return Ok(Some(whole[offset as usize..(offset + len) as usize].to_vec()));
                }
                let (offset, len) = bounds(member.size)?;
                let mut bytes = buffer(key, len, limit)?;
                archive.read_at(&mut bytes, archive.data_offset(member)? + offset)?;
                Ok(Some(bytes))
            }
        }
    }

    /// Opens the file of a key in a directory.
    fn file(&self, key: &str) -> Result<Option<NamedFile>> {
        let Storage::Directory { root, real } = self else {
            return Ok(None);
        };
        let path = root.join(key);
        let found = match fs::canonicalize(&path) {
            Ok(found) => found,
            Err(error) => {
                return match error.kind() {
                    // A link to no file is not a missing chunk.
                    ErrorKind::NotFound if fs::symlink_metadata(&path).is_ok() => {
                        Err(Error::Link(path))
                    }
                    ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
                    _ => Err(StoreError::storage(&path)(error).into()),
                };
            }
        };
        if !found.starts_with(real) {
            return Err(Error::Link(path));
        }
        let file = NamedFile::open_regular(&found);
        Ok(Some(file.map_err(StoreError::storage(&path))?))
    }

    /// Whether there is a value of a key.
    pub fn has(&self, key: &str) -> bool {
        match self {
            Storage::Directory { root, .. } => root.join(key).is_file(),
            Storage::Zip { members, .. } => members.contains_key(key),
        }
    }

    /// Returns the sorted paths of the arrays and groups below a group, without the group itself,
    /// also below directories without metadata. Links are not followed, and directories of chunks
    /// are not searched. Members of zip files whose paths are not valid, such as those with `..`,
    /// are skipped.
    ///
    /// # Errors
    /// [`Error::Storage`]; [`Error::Limit`].
    pub fn nodes(&self, group: &str) -> Result<Vec<String>> {
        let mut found = BTreeSet::new();
        let start = if group.is_empty() { String::new() } else { format!("{group}/") };
        match self {
            Storage::Directory { root, .. } => {
                let (mut pending, mut searched) = (vec![(start, 0, true)], 0);
                while let Some((prefix, depth, is_node)) = pending.pop() {
                    let path = root.join(&prefix);
                    let entries = match fs::read_dir(&path) {
                        // Directories without metadata need not be part of the data.
                        Err(error) if !is_node && error.kind() == ErrorKind::PermissionDenied => {
                            continue;
                        }
                        entries => entries.map_err(StoreError::storage(&path))?,
                    };
                    for entry in entries {
                        let entry = entry.map_err(StoreError::storage(&path))?;
                        let kind = entry.file_type().map_err(StoreError::storage(&path))?;
                        let name = entry.file_name();
                        let Some(name) = name.to_str().filter(|_| kind.is_dir()) else {
                            continue;
                        };
                        let node = format!("{prefix}{name}");
                        let is_node =
                            METADATA.iter().any(|name| self.has(&format!("{node}/{name}")));
                        let is_searched = if is_node {
                            !self.has(&format!("{node}/{ARRAY_V2}"))
                        } else {
                            !is_chunk_key(name)
                        };
                        if is_searched && depth < MAX_DEPTH {
                            pending.push((format!("{node}/"), depth + 1, is_node));
                            searched += 1;
                        }
                        if is_node {
                            found.insert(node);
                        }
                        if found.len().max(searched) > MAX_NODES {
                            return Err(too_many_nodes());
                        }
                    }
                }
            }
            Storage::Zip { members, .. } => {
                for name in members.keys() {
                    if let Some((node, file)) = name.rsplit_once('/')
                        && METADATA.contains(&file)
                        && node.starts_with(&start)
                        && !node.is_empty()
                        && is_valid_path(node)
                    {
                        found.insert(node.to_owned());
                    }
                }
                if found.len() > MAX_NODES {
                    return Err(too_many_nodes());
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Returns the size of all values whose keys start with a directory, in bytes.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn stored_bytes(&self, prefix: &str) -> Result<u64> {
        let mut total = 0_u64;
        match self {
            Storage::Directory { root, .. } => {
                let path = root.join(prefix);
                total = tree::size_of(&path, MAX_DEPTH).map_err(StoreError::storage(&path))?;
            }
            Storage::Zip { archive, members } => {
                let start = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
                for (name, &number) in members {
                    if name.starts_with(&start) {
                        let size = archive.members()[number].stored_size();
                        total = total.saturating_add(size);
                    }
                }
            }
        }
        Ok(total)
    }
}

/// Whether a path of an array or a group is empty, for the root, or has no empty parts and dots.
pub fn is_valid_path(node: &str) -> bool {
    node.is_empty() || node.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn too_many_nodes() -> Error {
    Error::Limit(format!("there are more than {MAX_NODES} arrays and groups"))
}

/// Returns a buffer for a part of a value.
fn buffer(key: &str, len: u64, limit: u64) -> Result<Vec<u8>> {
    check_size(key, len, limit)?;
    let len = usize::try_from(len).map_err(|_| Error::Memory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

fn check_size(key: &str, size: u64, limit: u64) -> Result<()> {
    if size <= limit {
        return Ok(());
    }
    Err(Error::Limit(format!("{key} has {size} bytes, the limit is {limit}")))
}
