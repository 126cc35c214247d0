//! Repairs a directory as far as possible and reports lost rows.
//!
//! Replaced and removed files are kept with the suffix `.broken`, except a chunk whose prefix alone
//! is invalid and temporary files. Lost rows contain the fill value, so that the following rows
//! keep their index. A column that lost rows at its end is extended by the fill value to the length
//! of the undamaged columns; undamaged columns are truncated to the shortest of them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::chunkfile::{self, Chunk, Expected};
use super::ctable;
use super::error::{Error, Result};
use super::meta::{Sizes, Storage};
use super::packed::{self, Layout};
use super::root::{DATA, META, ROOTDIRS, SIZES, lock_object};
use super::store::Store;
use super::verify::{self, Fault, Finding};
use super::{Carray, Mode, Options, attrs, value};
use crate::blpk::MAX_NBYTES;
use crate::numpy::Kind;
use ferroblosc::blosc1::Engine;

/// The error of lengths whose size in bytes exceeds 64 bits.
const TOO_LARGE: Error = Error::Argument("the shape is too large");

/// The result of [`repair`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The repaired faults.
    pub repaired: Vec<Finding>,
    /// The lost rows of each array.
    pub lost: Vec<(PathBuf, Range<u64>)>,
    /// The remaining faults.
    pub remaining: Vec<Finding>,
}

/// Repairs the object at `root` as far as possible.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Busy`]; [`Error`] if a file cannot be written.
pub fn repair(root: &Path, options: &Options) -> Result<Repaired> {
    let store = &options.store;
    if !verify::is_object(root, store)? {
        return Err(Error::NotFound(root.to_owned()));
    }
    let lock = lock_object(root, store)?;
    let found = verify::find(root, options)?;
    let mut repaired = Repaired::default();
    if store.exists(&root.join(ROOTDIRS))? {
        // Without valid names of columns, no column is repaired.
        unless_damaged(ctable::finish_renaming(store, root))?;
        attributes(root, store)?;
        let columns = unless_damaged(ctable::read_names(store, root))?;
        let mut paths = Vec::new();
        for name in columns {
            match ctable::locate_column(store, root, &name) {
                Ok(location) if location.is_writable => {
                    let intact_len = intact_len(&location.path, store)?;
                    paths.push((location.path, intact_len));
                }
                // A column that is missing, in the published layout, or outside of the directory.
                Ok(_) | Err(Error::NotFound(_) | Error::Outside(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let table_len = paths.iter().filter_map(|(_, len)| *len).min();
        let mut arrays = Vec::new();
        for (path, intact_len) in paths {
            array(&path, table_len, options, &mut repaired)?;
            match Carray::open_unlocked(&path, Mode::Append, options) {
                Ok(array) => arrays.push(Column { array, is_intact: intact_len.is_some() }),
                Err(error) if error.is_system_error() => return Err(error),
                Err(_) => {}
            }
        }
        equalize_columns(arrays, store, &mut repaired)?;
    } else {
        array(root, None, options, &mut repaired)?;
    }
    merge_adjacent(&mut repaired.lost);
    repaired.remaining = verify::find(root, options)?;
    drop(lock);
    repaired.repaired = found;
    let remaining = &repaired.remaining;
    repaired.repaired.retain(|finding| !remaining.contains(finding));
    Ok(repaired)
}

/// Returns the default value instead of an error that is caused by damage.
fn unless_damaged<T: Default>(result: Result<T>) -> Result<T> {
    match result {
        Err(error) if !error.is_system_error() => Ok(T::default()),
        other => other,
    }
}

/// A column of a table after its own repair.
struct Column {
    array: Carray,
    /// Whether its description and its last chunks existed ([`intact_len`]).
    is_intact: bool,
}

/// Returns the length of an array with a valid description and all files of its last chunks, or
/// `None` for a damaged one.
fn intact_len(root: &Path, store: &Store) -> Result<Option<u64>> {
    let (storage, sizes) = verify::read_description(root, store, &mut Vec::new())?;
    let (Some(storage), Some(sizes)) = (storage, sizes) else {
        return Ok(None);
    };
    let data = root.join(DATA);
    if !has_own_files(&data, &storage, Some(&sizes), store)? {
        return Ok(Some(sizes.len));
    }
    let rows_per_chunk = match storage.dtype.kind() {
        Kind::Object => 1,
        _ => storage.chunklen,
    };
    let names = store.list(&data)?.unwrap_or_default();
    let is_intact = verify::end_of_chunks(&names) >= sizes.len.div_ceil(rows_per_chunk);
    Ok(is_intact.then_some(sizes.len))
}

/// Merges the ranges of lost rows of an array that follow each other.
fn merge_adjacent(lost: &mut Vec<(PathBuf, Range<u64>)>) {
    lost.sort_by(|(one, rows), (other, later)| (one, rows.start).cmp(&(other, later.start)));
    lost.dedup_by(|(path, rows), (previous_path, previous)| {
        let follows = path == previous_path && rows.start <= previous.end;
        if follows {
            previous.end = previous.end.max(rows.end);
        }
        follows
    });
}

/// Changes columns to one length: that of the shortest intact column, or, without such a column,
/// that of the longest one.
///
/// # Errors
/// Nothing is changed if one of the columns cannot be: [`Error::Objects`],
/// [`Error::ReadOnlyLayout`].
fn equalize_columns(
    mut columns: Vec<Column>,
    store: &Store,
    repaired: &mut Repaired,
) -> Result<()> {
    let lengths = |is_intact: bool| {
        let columns = columns.iter();
        let columns = columns.filter(move |column| column.is_intact == is_intact);
        columns.map(|column| column.array.len())
    };
    let len = lengths(true).min().or_else(|| lengths(false).max());
    let len = len.unwrap_or(0);
    columns.retain(|column| column.array.len() != len);
    for column in &mut columns {
        column.array.prepare_write()?;
    }
    for Column { mut array, .. } in columns {
        let (root, before) = (array.root().to_owned(), array.len());
        keep_chunks(&array, len, store)?;
        if before > len {
            array.trim(before - len)?;
            repaired.lost.push((root, len..before));
        } else {
            array.resize(len)?;
            repaired.lost.push((root, before..len));
        }
        array.close()?;
    }
    Ok(())
}

/// Keeps the chunk files that a change of the length to `len` rows would overwrite or remove,
/// including files without rows.
fn keep_chunks(array: &Carray, len: u64, store: &Store) -> Result<()> {
    let most = array.chunklen() * array.row_bytes();
    let changed = len.min(array.len()) / array.chunklen();
    let names = store.list(&array.root().join(DATA))?.unwrap_or_default();
    for number in names.iter().filter_map(|name| chunkfile::number_of(name)) {
        let path = array.chunk_path(number);
        if number == changed && number < array.nchunks() {
            // Truncation and extension read the chunk.
            let mut file = Vec::new();
            chunkfile::read(store, &path, most, &mut file)?;
            store.replace(&unused_name(store, &path)?, &file)?;
        } else if number >= changed {
            set_aside(store, &path)?;
        }
    }
    Ok(())
}

/// Returns an unused path that appends `.broken`, and a number if necessary, to `path`.
fn unused_name(store: &Store, path: &Path) -> Result<PathBuf> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let mut aside = path.with_file_name(format!("{name}.broken"));
    let mut number = 1;
    while store.exists(&aside)? {
        aside = path.with_file_name(format!("{name}.broken-{number}"));
        number += 1;
    }
    Ok(aside)
}

/// Renames a file to an unused `.broken` name.
fn set_aside(store: &Store, path: &Path) -> Result<()> {
    if store.exists(path)? { store.rename(path, &unused_name(store, path)?) } else { Ok(()) }
}

fn attributes(root: &Path, store: &Store) -> Result<()> {
    match attrs::Attrs::read(store, root) {
        Ok(mut attrs) => attrs.ensure(store),
        Err(Error::Description { path, .. } | Error::Incomplete(path)) => {
            set_aside(store, &path)?;
            attrs::write_none(store, root)
        }
        Err(error) => Err(error),
    }
}

/// Repairs an array. A column that lost its description or its last chunks is set to the length
/// `table_len` of the intact columns in one step, before its chunks are filled: an interrupted
/// repair must not leave a shorter column that looks intact.
fn array(
    root: &Path,
    table_len: Option<u64>,
    options: &Options,
    repaired: &mut Repaired,
) -> Result<()> {
    let store = &options.store;
    attributes(root, store)?;
    let (storage, sizes) = verify::read_description(root, store, &mut Vec::new())?;
    // Without the dtype, the rows are unknown.
    let Some(storage) = storage.filter(|storage| !storage.dtype.has_objects()) else {
        return Ok(());
    };
    let data = root.join(DATA);
    if !store.exists(&data)? {
        store.make_directory(&data)?;
    }
    if !has_own_files(&data, &storage, sizes.as_ref(), store)? {
        return Ok(());
    }
    let sizes = match sizes {
        Some(sizes) => sizes,
        None => {
            let Some(mut sizes) = sizes_from_chunks(&data, &storage, store)? else {
                return Ok(());
            };
            if let Some(len) = table_len.filter(|&len| len > sizes.len) {
                sizes = Sizes::new(len, &sizes.row_shape, &storage.dtype).ok_or(TOO_LARGE)?;
            }
            let path = root.join(META).join(SIZES);
            set_aside(store, &path)?;
            store.replace_json(&path, &sizes.to_value(storage.chunklen * sizes.row_bytes))?;
            sizes
        }
    };
    chunks(root, &storage, &sizes, table_len, options, repaired)
}

/// Whether each chunk has a file of its own. Other layouts are not repaired: the number of their
/// files is not that of their chunks.
fn has_own_files(
    data: &Path,
    storage: &Storage,
    sizes: Option<&Sizes>,
    store: &Store,
) -> Result<bool> {
    let Some(sizes) = sizes else {
        return Ok(!packed::any_has_several(store, data)?);
    };
    match Layout::find(store, data, sizes.len.div_ceil(storage.chunklen)) {
        Ok(layout) => Ok(matches!(layout, Layout::Own)),
        Err(error) if error.is_system_error() => Err(error),
        // A damaged file of several chunks.
        Err(_) => Ok(false),
    }
}

/// Derives the sizes from the chunks. Rows of several items become one-dimensional rows. A chunk
/// that cannot be read counts as a full one if there are others after it, and otherwise has the
/// size in its header.
fn sizes_from_chunks(data: &Path, storage: &Storage, store: &Store) -> Result<Option<Sizes>> {
    let item = storage.dtype.itemsize();
    let chunk_items = storage.chunklen.saturating_mul(item).max(1);
    let end = verify::end_of_chunks(&store.list(data)?.unwrap_or_default());
    let (mut full, mut row_items, mut rest) = (0, None, 0);
    for number in 0..end {
        let path = chunkfile::path_of(data, number);
        let nbytes = match read_decoded(store, &path, u64::from(MAX_NBYTES))? {
            Some((plain, _)) => plain.len() as u64,
            None if number + 1 < end => {
                full += 1;
                continue;
            }
            None => {
                let most = chunk_items.saturating_mul(row_items.unwrap_or(1));
                nbytes_in_header(store, &path)?.filter(|&nbytes| nbytes <= most).unwrap_or(0)
            }
        };
        if row_items.is_none() {
            let is_full = nbytes > 0 && nbytes.is_multiple_of(chunk_items);
            row_items = Some(if is_full { nbytes / chunk_items } else { 1 });
        }
        let row_items = row_items.unwrap_or(1);
        if nbytes != chunk_items.saturating_mul(row_items) {
            rest = (nbytes / (item * row_items).max(1)).min(storage.chunklen);
            break;
        }
        full += 1;
    }
    let row_items = row_items.unwrap_or(1);
    let row_shape = if row_items > 1 { vec![row_items] } else { Vec::new() };
    let len = storage.chunklen.checked_mul(full).and_then(|len| len.checked_add(rest));
    let sizes = len.and_then(|len| Sizes::new(len, &row_shape, &storage.dtype));
    Ok(sizes.filter(|sizes| sizes.check(storage.chunklen, data).is_ok()))
}

/// Returns the uncompressed size in the header of a chunk that cannot be read, if it has one.
fn nbytes_in_header(store: &Store, path: &Path) -> Result<Option<u64>> {
    let mut file = Vec::new();
    match chunkfile::read(store, path, 0, &mut file) {
        Ok(()) => {}
        Err(error) if error.is_system_error() => return Err(error),
        Err(_) => return Ok(None),
    }
    Ok(chunkfile::nbytes_of(&file))
}

/// Returns the uncompressed chunk of a file and whether its prefix is valid, or `None` if it cannot
/// be read.
fn read_decoded(store: &Store, path: &Path, most: u64) -> Result<Option<(Vec<u8>, bool)>> {
    let (mut file, mut plain) = (Vec::new(), Vec::new());
    let any = Expected { least: 0, most };
    let read = chunkfile::read(store, path, most, &mut file)
        .and_then(|()| Chunk::in_file(&file, any, path))
        .and_then(|chunk| {
            chunk.decode_to(&mut Engine::default(), 1, &mut plain, path)?;
            Ok(chunk.has_valid_prefix)
        });
    match read {
        Ok(has_valid_prefix) => Ok(Some((plain, has_valid_prefix))),
        Err(error) if error.is_system_error() => Err(error),
        Err(_) => Ok(None),
    }
}

/// Repairs the chunks of an array. Without its last chunks, it is truncated to its files, or filled
/// up to `table_len`.
fn chunks(
    root: &Path,
    storage: &Storage,
    sizes: &Sizes,
    table_len: Option<u64>,
    options: &Options,
    repaired: &mut Repaired,
) -> Result<()> {
    let store = &options.store;
    let mut findings = verify::find(root, options)?;
    findings.retain(|finding| !finding.fault.is_note());
    let is_chunk = |fault: &Fault| {
        matches!(
            fault,
            Fault::MissingChunk | Fault::ShortChunk { .. } | Fault::Chunk(_) | Fault::Prefix
        )
    };
    // Verification reports only the first missing chunk after the last file.
    let nchunks = sizes.len.div_ceil(storage.chunklen);
    let names = store.list(&root.join(DATA))?.unwrap_or_default();
    let end = verify::end_of_chunks(&names);
    let mut broken: Vec<u64> = findings
        .iter()
        .filter(|finding| is_chunk(&finding.fault))
        .filter_map(|finding| chunkfile::number_of(&finding.path.file_name()?.to_string_lossy()))
        .filter(|&number| number < end)
        .collect();
    if end < nchunks {
        let stored = end * storage.chunklen;
        let filled = table_len.filter(|&len| len > stored);
        let len = filled.map_or(stored, |len| len.min(sizes.len));
        if len < sizes.len {
            let shorter = Sizes::new(len, &sizes.row_shape, &storage.dtype).ok_or(TOO_LARGE)?;
            let path = root.join(META).join(SIZES);
            set_aside(store, &path)?;
            store.replace_json(&path, &shorter.to_value(storage.chunklen * sizes.row_bytes))?;
            repaired.lost.push((root.to_owned(), len..sizes.len));
            // The last file may be the tail, which now must be a full chunk.
            return match len {
                0 => Ok(()),
                _ => chunks(root, storage, &shorter, table_len, options, repaired),
            };
        }
        broken.extend(end..nchunks);
    }
    broken.sort_unstable();
    if broken.is_empty() {
        return Ok(());
    }
    let row_bytes = sizes.row_bytes as usize;
    let row = value::row_of(&storage.dtype, &storage.dflt, &sizes.row_shape, row_bytes)?;
    let mut array = Carray::open_unlocked(root, Mode::Append, options)?;
    for number in broken {
        let path = chunkfile::path_of(&root.join(DATA), number);
        let expected = verify::expected(storage, sizes, number);
        let found = read_decoded(store, &path, expected.most)?;
        let (mut rows, has_valid_prefix) = found.unwrap_or((Vec::new(), true));
        if has_valid_prefix && rows.len() as u64 >= expected.least {
            // A chunk after the gap in the files.
            continue;
        }
        if has_valid_prefix {
            set_aside(store, &path)?;
        }
        rows.truncate(expected.least as usize);
        rows.truncate(rows.len() - rows.len() % row_bytes);
        let start = number * storage.chunklen;
        let kept = (rows.len() / row_bytes) as u64;
        let count = expected.least / sizes.row_bytes;
        rows.try_reserve_exact(expected.least as usize - rows.len())?;
        while (rows.len() as u64) < expected.least {
            rows.extend_from_slice(&row);
        }
        if kept < count {
            repaired.lost.push((root.to_owned(), start + kept..start + count));
        }
        array.rewrite(number, rows)?;
    }
    array.close()
}
