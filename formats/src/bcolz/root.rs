//! The files in the directory of an object, by which it is recognised.

use std::path::Path;

use super::chunkfile::number_of;
use super::error::{Error, Result};
use super::mode::Mode;
use super::options::Options;
use super::store::{Store, is_file_of_writer};

/// The file that marks a directory as a table.
pub(super) const ROOTDIRS: &str = "__rootdirs__";
/// The file that records a column rename in progress; not part of the format.
pub(super) const RENAMING: &str = ".ferroblosc-renaming";
/// The directory of the chunks of an array.
pub(crate) const DATA: &str = "data";
/// The directory of the metadata of an array.
pub(crate) const META: &str = "meta";
/// The file of the shape, in [`META`].
pub(super) const SIZES: &str = "sizes";
/// The file of dtype and parameters, in [`META`].
pub(super) const STORAGE: &str = "storage";

/// Whether a file in the directory of an array or table, or in its metadata directory, is one of
/// the format, a lock file or a temporary file.
pub(crate) fn is_file_of_object(name: &str) -> bool {
    let is_reserved = name.starts_with("__") && name.ends_with("__");
    is_reserved || name == RENAMING || matches!(name, SIZES | STORAGE) || is_file_of_writer(name)
}

/// Whether a file in the directory of chunks is a chunk or a temporary file.
pub(crate) fn is_chunk_file(name: &str) -> bool {
    number_of(name).is_some() || is_file_of_writer(name)
}

/// Whether a directory is a table.
pub(crate) fn is_ctable(path: &Path) -> bool {
    path.join(ROOTDIRS).is_file()
}

/// Whether a directory is an array, complete or not.
pub(crate) fn is_carray(path: &Path) -> bool {
    path.join(META).is_dir() || path.join(DATA).is_dir()
}

/// Whether there is an object at `root`, complete or not.
pub(super) fn is_object(root: &Path, store: &Store) -> Result<bool> {
    let description = root.join(META).join(STORAGE);
    Ok(store.exists(&root.join(ROOTDIRS))? || store.exists(&description)?)
}

/// Removes an existing object at `root` if the mode allows it.
pub(super) fn clear_root(root: &Path, mode: Mode, options: &Options) -> Result<()> {
    let store = &options.store;
    if mode == Mode::Read {
        return Err(Error::ReadOnly);
    }
    if !store.exists(root)? {
        return Ok(());
    }
    if mode == Mode::Append {
        let path = root.to_owned();
        return Err(Error::Exists { path, mode });
    }
    if !store.is_directory(root)? {
        return Err(Error::NotOurs(root.to_owned()));
    }
    let is_empty = store.list(root)?.is_some_and(|names| names.is_empty());
    if !is_empty && !is_object(root, store)? {
        return Err(Error::NotOurs(root.to_owned()));
    }
    if is_empty { store.remove_tree(root) } else { remove_object(root, store) }
}

/// Removes an object.
///
/// # Errors
/// [`Error::Busy`] if another writer holds the lock.
pub(super) fn remove_object(root: &Path, store: &Store) -> Result<()> {
    drop(store.lock(root)?);
    store.remove_tree(root)
}
