//! The files in the directory of an object, by which it is recognised.

use std::path::{Path, PathBuf};

use super::chunkfile::number_of;
use super::error::{Error, Result};
use super::mode::Mode;
use super::options::Options;
use super::store::{LOCK_FILE, Store, WriterLock, is_file_of_writer};
use ferroblosc::io::FileKind;

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

/// Whether there is only the lock file, and empty directories, of an object whose creation or removal
/// was interrupted.
pub(super) fn is_remainder(root: &Path, store: &Store) -> Result<bool> {
    let is_expected = |name: &str| match name {
        DATA | META => store.has_only(&root.join(name), |_| Ok(false)),
        _ => Ok(name == LOCK_FILE),
    };
    Ok(store.exists(&root.join(LOCK_FILE))? && store.has_only(root, is_expected)?)
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
    let is_ours = store.is_directory(root)?
        && (is_object(root, store)?
            || is_remainder(root, store)?
            || store.has_only(root, |_| Ok(false))?);
    if is_ours { remove_object(root, store) } else { Err(Error::NotOurs(root.to_owned())) }
}

/// Locks the object at `root` for changes. Writers of a table and of its columns exclude each
/// other: each of two writers first locks its own object, and then looks for the lock of the other
/// one. Writers of different columns do not.
///
/// # Errors
/// [`Error::Busy`] with the path of the object that has a writer: the object itself, a table that
/// contains it, or a column.
pub(super) fn lock_object(root: &Path, store: &Store) -> Result<WriterLock> {
    let lock = store.lock(root)?;
    check_related(root, store)?;
    Ok(lock)
}

/// Fails if the object at `root`, a table that contains it, or a column has a writer. Readers call
/// it if the files contradict each other: a change in progress looks like damage.
///
/// # Errors
/// [`Error::Busy`]
pub(super) fn check_unlocked(root: &Path, store: &Store) -> Result<()> {
    if store.is_locked(root)? {
        return Err(Error::Busy(root.to_owned()));
    }
    check_related(root, store)
}

/// Fails if a table that contains the object at `root`, or a column in it, has a writer.
fn check_related(root: &Path, store: &Store) -> Result<()> {
    // A column may be a link.
    for mut object in [store.absolute(root), store.resolve(root)?] {
        while let Some(table) = table_of(&object, store)? {
            if store.is_locked(&table)? {
                return Err(Error::Busy(table));
            }
            object = table;
        }
    }
    if store.exists(&root.join(ROOTDIRS))? {
        // The second directory contains the columns of the published layout.
        for directory in [root.to_owned(), root.join(DATA)] {
            for name in store.list(&directory)?.unwrap_or_default() {
                let column = directory.join(name);
                if store.is_locked(&column)? {
                    return Err(Error::Busy(column));
                }
            }
        }
    }
    Ok(())
}

/// Returns the table that contains an object as a column, in either layout.
fn table_of(object: &Path, store: &Store) -> Result<Option<PathBuf>> {
    // The parent of `..` is not that of its directory.
    let parent = object.parent().filter(|_| object.file_name().is_some());
    let published = parent.filter(|parent| parent.ends_with(DATA)).and_then(Path::parent);
    for directory in [parent, published].into_iter().flatten() {
        // In a directory with the sticky bit, such as `/tmp`, other users can create files beside
        // the object, but not change it.
        if store.exists(&directory.join(ROOTDIRS))? && !store.is_sticky(directory)? {
            return Ok(Some(directory.to_owned()));
        }
    }
    Ok(None)
}

/// Creates the directory of a new object, locks it, and calls `write`, which writes the files. If
/// this fails, the directory is removed.
///
/// # Errors
/// [`Error::Busy`] if a table that contains the directory has a writer; the errors of `write`.
pub(super) fn create_object<T>(
    root: &Path,
    store: &Store,
    write: impl FnOnce() -> Result<T>,
) -> Result<(T, WriterLock)> {
    store.make_directory(root)?;
    // Errors of the cleanup are ignored.
    let lock = lock_object(root, store).inspect_err(|_| {
        // It has files if another process uses it.
        let _ = store.remove_directory(root);
    })?;
    match write() {
        Ok(written) => Ok((written, lock)),
        Err(error) => {
            let _ = remove_locked(root, store, lock);
            Err(error)
        }
    }
}

/// Removes an object.
///
/// # Errors
/// [`Error::Busy`] if the object, a table that contains it, or a column has a writer.
pub(super) fn remove_object(root: &Path, store: &Store) -> Result<()> {
    let lock = lock_object(root, store)?;
    remove_locked(root, store, lock)
}

/// Removes an object with its lock. The files by which it is recognised are removed last, so that an
/// interrupted removal can be repeated. Nothing is removed that another process creates at `root`
/// after the lock is released.
fn remove_locked(root: &Path, store: &Store, lock: WriterLock) -> Result<()> {
    if store.kind(root)? != Some(FileKind::Directory) {
        drop(lock);
        return store.remove(root);
    }
    let meta = root.join(META);
    store.remove_content(root, |name| matches!(name, META | ROOTDIRS | LOCK_FILE))?;
    if store.kind(&meta)? == Some(FileKind::Directory) {
        store.remove_content(&meta, |name| name == STORAGE)?;
    }
    store.remove_content(root, |name| name == LOCK_FILE)?;
    drop(lock);
    store.remove_directory(root)
}
