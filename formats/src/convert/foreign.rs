//! Files in the directory of a format that are not part of its data, such as notes of the user.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::detect::Format;
use super::error::Result;
use crate::bcolz;
use crate::store::{self, Store};
#[cfg(feature = "zarr")]
use crate::zarr;
use ferroblosc::io::named::named;

/// The index of a frame in a directory.
const INDEX: &str = "chunks.b2frame";
/// The suffix of a lock file, and its name in a directory.
const LOCK: &str = ".b2lock";
/// The suffixes of the files that writers of frames leave after a crash.
const TEMPORARY: [&str; 2] = [".b2journal", ".b2tmp"];

/// A directory of a format.
#[derive(Clone, Copy)]
enum Directory {
    Frame,
    /// A table of bcolz, which contains arrays.
    Ctable,
    /// An array of bcolz.
    Carray,
    CarrayMeta,
    CarrayData,
    /// A group or an array of Zarr.
    #[cfg(feature = "zarr")]
    ZarrNode,
    /// Chunks of a Zarr array, or directories of them.
    #[cfg(feature = "zarr")]
    ZarrChunks,
}

/// Whether a name in the directory of a frame is that of its index, of a chunk, or of a temporary
/// file.
pub fn is_file_of_frame(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let is_chunk = name
        .strip_suffix(b".chunk")
        .is_some_and(|stem| stem.len() == 8 && stem.iter().all(u8::is_ascii_hexdigit));
    is_chunk
        || name == INDEX.as_bytes()
        || TEMPORARY.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
}

impl Directory {
    fn of(format: Format) -> Option<Directory> {
        match format {
            Format::Frame | Format::B2nd => Some(Directory::Frame),
            Format::Ctable => Some(Directory::Ctable),
            Format::Carray => Some(Directory::Carray),
            #[cfg(feature = "zarr")]
            Format::Zarr => Some(Directory::ZarrNode),
            _ => None,
        }
    }

    /// Whether a file of this name is part of the data.
    fn has_file(self, name: &str) -> bool {
        match self {
            Directory::Frame => name == LOCK || is_file_of_frame(OsStr::new(name)),
            Directory::Ctable | Directory::Carray | Directory::CarrayMeta => {
                bcolz::is_file_of_object(name)
            }
            Directory::CarrayData => bcolz::is_chunk_file(name),
            #[cfg(feature = "zarr")]
            Directory::ZarrNode => zarr::is_metadata_file(name) || zarr::is_chunk_key(name),
            #[cfg(feature = "zarr")]
            Directory::ZarrChunks => zarr::is_chunk_key(name),
        }
    }

    /// Returns what the subdirectory `name` at `path` contains; `None` if it is no part of the
    /// data.
    fn subdirectory(self, name: &str, path: &Path) -> Option<Directory> {
        match self {
            Directory::Ctable if bcolz::is_ctable(path) => Some(Directory::Ctable),
            Directory::Ctable => bcolz::is_carray(path).then_some(Directory::Carray),
            Directory::Carray => match name {
                bcolz::META => Some(Directory::CarrayMeta),
                bcolz::DATA => Some(Directory::CarrayData),
                _ => None,
            },
            Directory::Frame | Directory::CarrayMeta | Directory::CarrayData => None,
            #[cfg(feature = "zarr")]
            Directory::ZarrNode if zarr::is_node_directory(path) => Some(Directory::ZarrNode),
            #[cfg(feature = "zarr")]
            Directory::ZarrNode | Directory::ZarrChunks => {
                zarr::is_chunk_key(name).then_some(Directory::ZarrChunks)
            }
        }
    }
}

/// Returns the path of a file or directory below `path` that is not part of its data, in the
/// directory of a format or a store. Lock files and temporary files of the format are part of it.
///
/// # Errors
/// Those of reading the directories, and of the store.
pub fn foreign_file(path: &Path) -> Result<Option<PathBuf>> {
    if !path.is_dir() {
        return Ok(None);
    }
    if store::is_store(path) {
        let opened = Store::open(path)?;
        return Ok(opened.foreign_files().next().map(|name| path.join(name)));
    }
    let Some(root) = Directory::of(super::detect(path)?.format) else {
        return Ok(None);
    };
    let mut pending = vec![(path.to_owned(), root)];
    while let Some((folder, kind)) = pending.pop() {
        let failed = |error| named(error, ferroblosc::Error::FileRead, "read", &folder);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (name, path) = (entry.file_name(), entry.path());
            let Some(name) = name.to_str() else {
                return Ok(Some(path));
            };
            if !entry.file_type().map_err(failed)?.is_dir() {
                if !kind.has_file(name) {
                    return Ok(Some(path));
                }
            } else if let Some(kind) = kind.subdirectory(name, &path) {
                pending.push((path, kind));
            } else {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}
