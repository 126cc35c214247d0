//! Verifies a directory: checks every file and decompresses every chunk.

use std::fmt;
use std::path::{Path, PathBuf};

use super::chunkfile::{self, Chunk, Expected};
use super::ctable;
use super::error::{Error, Result};
use super::meta::{Sizes, Storage};
use super::packed::Layout;
use super::root::{DATA, META, ROOTDIRS, SIZES, STORAGE, check_unlocked};
use super::store::{self, Store};
use super::{Carray, Mode, Options, attrs, names};
use crate::bloscpack::Value;
use crate::blpk::MAX_NBYTES;
use crate::numpy::Kind;
use ferroblosc::blosc1::Engine;

/// The number of missing chunk files before a later file that is always tolerated.
const MIN_ALLOWED_GAP: u64 = 16;

/// A fault found by [`verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The file of the attributes or the directory of the chunks is missing.
    Missing,
    /// A description file is invalid or missing.
    Description(String),
    /// A chunk file is missing.
    MissingChunk,
    /// A chunk file after the last chunk of the array. This is a note: bcolz leaves these files.
    ExtraChunk,
    /// A chunk has too few rows.
    ShortChunk {
        /// The uncompressed size in bytes.
        holds: u64,
        /// The required uncompressed size in bytes.
        needs: u64,
    },
    /// A chunk cannot be read.
    Chunk(&'static str),
    /// This build lacks the chunk's codec, identified by its format code. The chunk may be intact.
    Codec(u8),
    /// A chunk file has a wrong prefix.
    Prefix,
    /// The length of a column differs from that of the first one.
    ColumnLength {
        /// The length of the column.
        len: u64,
        /// The length of the first column.
        first: u64,
    },
    /// A column name is invalid.
    ColumnName,
    /// A temporary file of an interrupted change. This is a note.
    Leftover,
}

impl Fault {
    /// Whether the fault is only a note: no data are lost or wrong.
    pub fn is_note(&self) -> bool {
        matches!(self, Fault::ExtraChunk | Fault::Leftover)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Missing => f.write_str("it is missing"),
            Fault::Description(why) => f.write_str(why),
            Fault::MissingChunk => f.write_str("the chunk is missing"),
            Fault::ExtraChunk => f.write_str("the chunk has no rows in the array"),
            Fault::ShortChunk { holds, needs } => {
                write!(f, "the chunk holds {holds} bytes of {needs}")
            }
            Fault::Chunk(why) => f.write_str(why),
            Fault::Codec(format) => {
                write!(f, "the codec of the stream format {format} is not in this version")
            }
            Fault::Prefix => f.write_str("the file has a wrong prefix"),
            Fault::ColumnLength { len, first } => {
                write!(f, "the column has {len} rows and the first one {first}")
            }
            Fault::ColumnName => f.write_str("the column name is not valid"),
            Fault::Leftover => f.write_str("a temporary file of an interrupted change"),
        }
    }
}

/// A fault and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The file or directory.
    pub path: PathBuf,
    /// The fault.
    pub fault: Fault,
}

/// Verifies the object at `root`.
///
/// # Errors
/// [`Error::NotFound`] if there is no object; [`Error::Memory`]; [`Error::Busy`] if faults are
/// found while it is being changed, which may be parts of the change. Damage is reported as a
/// [`Finding`].
pub fn verify(root: &Path, options: &Options) -> Result<Vec<Finding>> {
    let findings = find(root, options)?;
    if findings.iter().all(|finding| finding.fault.is_note()) {
        return Ok(findings);
    }
    check_unlocked(root, &options.store)?;
    // A writer may have completed its change in the meantime.
    let findings = find(root, options)?;
    check_unlocked(root, &options.store)?;
    Ok(findings)
}

/// As [`verify`], also for the caller that has locked the object.
pub(super) fn find(root: &Path, options: &Options) -> Result<Vec<Finding>> {
    let store = &options.store;
    let mut findings = Vec::new();
    if !is_object(root, store)? {
        return Err(Error::NotFound(root.to_owned()));
    }
    if store.exists(&root.join(ROOTDIRS))? {
        table(root, options, &mut findings)?;
    } else {
        array(root, options, &mut findings)?;
    }
    Ok(findings)
}

/// Whether there is an object, complete or not, or a damaged one.
pub(super) fn is_object(root: &Path, store: &Store) -> Result<bool> {
    for name in [ROOTDIRS, META, DATA] {
        if store.exists(&root.join(name))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn add(findings: &mut Vec<Finding>, path: PathBuf, fault: Fault) {
    findings.push(Finding { path, fault });
}

/// Returns the content of a JSON file, or adds a finding if it is invalid.
fn json(store: &Store, path: PathBuf, findings: &mut Vec<Finding>) -> Result<Option<Value>> {
    found(store.read_json(&path), path, findings)
}

/// Returns the content of a description file. A damaged one is a finding.
fn found<T>(
    read: Result<Option<T>>,
    path: PathBuf,
    findings: &mut Vec<Finding>,
) -> Result<Option<T>> {
    let why = match read {
        Ok(Some(value)) => return Ok(Some(value)),
        Ok(None) => "it is missing".to_owned(),
        Err(error) if error.is_system_error() => return Err(error),
        Err(Error::Incomplete(_)) => "it is empty".to_owned(),
        Err(Error::Description { why, .. }) => why,
        Err(error) => error.to_string(),
    };
    add(findings, path, Fault::Description(why));
    Ok(None)
}

fn attributes(root: &Path, store: &Store, findings: &mut Vec<Finding>) -> Result<()> {
    let path = root.join(attrs::FILE);
    if !store.exists(&path)? {
        add(findings, path, Fault::Missing);
        return Ok(());
    }
    found(store.read_entries(&path), path, findings).map(|_| ())
}

fn table(root: &Path, options: &Options, findings: &mut Vec<Finding>) -> Result<()> {
    let store = &options.store;
    attributes(root, store, findings)?;
    let path = root.join(ROOTDIRS);
    let columns = match ctable::read_names(store, root) {
        Ok(columns) => columns,
        Err(Error::ColumnName(name)) => {
            add(findings, root.join(name.replace('/', "_")), Fault::ColumnName);
            return Ok(());
        }
        Err(error) if error.is_system_error() => return Err(error),
        Err(error) => {
            add(findings, path, Fault::Description(error.to_string()));
            return Ok(());
        }
    };
    let mut first = None;
    for name in columns {
        names::check_read(&name)?;
        let column = match ctable::locate_column(store, root, &name) {
            Ok(location) => location.path,
            Err(error) if error.is_system_error() => return Err(error),
            Err(error) => {
                add(findings, root.join(name), Fault::Description(error.to_string()));
                continue;
            }
        };
        if store.exists(&column.join(ROOTDIRS))? {
            // Nested tables are opened, which limits their depth, but not verified.
            if let Err(error) = ctable::Ctable::open_unchecked(&column, Mode::Read, options, 1) {
                if error.is_system_error() {
                    return Err(error);
                }
                add(findings, column, Fault::Description(error.to_string()));
            }
            continue;
        }
        let Some(len) = array(&column, options, findings)? else {
            continue;
        };
        let first = *first.get_or_insert(len);
        if len != first {
            add(findings, column, Fault::ColumnLength { len, first });
        }
    }
    Ok(())
}

/// Returns the valid descriptions of an array.
pub(super) fn read_description(
    root: &Path,
    store: &Store,
    findings: &mut Vec<Finding>,
) -> Result<(Option<Storage>, Option<Sizes>)> {
    let meta = root.join(META);
    let path = meta.join(STORAGE);
    let storage = match json(store, path.clone(), findings)? {
        Some(value) => match Storage::from_value(&value, &path) {
            Ok(storage) => Some(storage),
            Err(error) => {
                add(findings, path, Fault::Description(error.to_string()));
                None
            }
        },
        None => None,
    };
    let path = meta.join(SIZES);
    let value = json(store, path.clone(), findings)?;
    let sizes = match (&storage, value) {
        (Some(storage), Some(value)) => {
            let sizes = Sizes::from_value(&value, &storage.dtype, &path);
            let is_object = storage.dtype.kind() == Kind::Object;
            let checked = sizes.and_then(|sizes| {
                if !is_object {
                    sizes.check(storage.chunklen, &path)?;
                }
                Ok(sizes)
            });
            match checked {
                Ok(sizes) => Some(sizes),
                Err(error) => {
                    add(findings, path, Fault::Description(error.to_string()));
                    None
                }
            }
        }
        _ => None,
    };
    Ok((storage, sizes))
}

/// Verifies an array. Returns its length if it is known.
fn array(root: &Path, options: &Options, findings: &mut Vec<Finding>) -> Result<Option<u64>> {
    let store = &options.store;
    attributes(root, store, findings)?;
    let (storage, sizes) = read_description(root, store, findings)?;
    let (Some(storage), Some(sizes)) = (storage, sizes) else {
        return Ok(None);
    };
    let data = root.join(DATA);
    let Some(names) = store.list(&data)? else {
        add(findings, data, Fault::Missing);
        return Ok(Some(sizes.len));
    };
    let is_object = storage.dtype.kind() == Kind::Object;
    let nchunks = if is_object { sizes.len } else { sizes.len.div_ceil(storage.chunklen) };
    if !is_object {
        match Layout::find(store, &data, nchunks) {
            Ok(Layout::Packed(_)) => {
                packed(root, options, findings)?;
                return Ok(Some(sizes.len));
            }
            Err(error) if error.is_system_error() => return Err(error),
            Ok(Layout::Own) | Err(_) => {}
        }
    }
    let mut engine = Engine::default();
    // Chunks missing after the last file are reported once.
    let checked = nchunks.min(end_of_chunks(&names));
    for number in 0..checked {
        let expected = if is_object {
            Expected { least: 0, most: u64::from(MAX_NBYTES) }
        } else {
            expected(&storage, &sizes, number)
        };
        let path = chunkfile::path_of(&data, number);
        if let Some(fault) = chunk(store, &path, expected, &mut engine)? {
            add(findings, path, fault);
        }
    }
    if checked < nchunks {
        add(findings, chunkfile::path_of(&data, checked), Fault::MissingChunk);
    }
    for name in names {
        let is_extra = chunkfile::number_of(&name).is_some_and(|number| number >= nchunks);
        if is_extra {
            add(findings, data.join(&name), Fault::ExtraChunk);
        } else if store::is_temporary(&name) {
            add(findings, data.join(&name), Fault::Leftover);
        }
    }
    Ok(Some(sizes.len))
}

/// Returns the number of chunks up to the last file. File names are untrusted: a file and all later
/// ones are ignored if the missing files before it outnumber the existing ones by more than
/// [`MIN_ALLOWED_GAP`].
pub(super) fn end_of_chunks(names: &[String]) -> u64 {
    let mut numbers: Vec<u64> =
        names.iter().filter_map(|name| chunkfile::number_of(name)).collect();
    numbers.sort_unstable();
    let numbered = (0..).zip(numbers);
    let near = numbered.take_while(|&(before, number)| number - before <= before + MIN_ALLOWED_GAP);
    near.last().map_or(0, |(_, number)| number + 1)
}

/// Returns the uncompressed size that chunk `number` must have.
pub(super) fn expected(storage: &Storage, sizes: &Sizes, number: u64) -> Expected {
    let most = storage.chunklen * sizes.row_bytes;
    let rows = sizes.len - (number * storage.chunklen).min(sizes.len);
    Expected { least: rows.min(storage.chunklen) * sizes.row_bytes, most }
}

/// Verifies a chunk file.
fn chunk(
    store: &Store,
    path: &Path,
    expected: Expected,
    engine: &mut Engine,
) -> Result<Option<Fault>> {
    let mut file = Vec::new();
    let any = Expected { least: 0, ..expected };
    let mut plain = Vec::new();
    let found = chunkfile::read(store, path, expected.most, &mut file)
        .and_then(|()| Chunk::in_file(&file, any, path))
        .and_then(|chunk| chunk.decode_to(engine, 1, &mut plain, path).map(|()| chunk));
    Ok(match found {
        Ok(chunk) if (chunk.nbytes as u64) < expected.least => {
            Some(Fault::ShortChunk { holds: chunk.nbytes as u64, needs: expected.least })
        }
        Ok(chunk) => (!chunk.has_valid_prefix).then_some(Fault::Prefix),
        Err(Error::MissingChunk(_)) => Some(Fault::MissingChunk),
        Err(Error::Chunk { why, .. }) => Some(match chunkfile::unknown_codec(&file) {
            Some(format) => Fault::Codec(format),
            None => Fault::Chunk(why),
        }),
        Err(error) if error.is_system_error() => return Err(error),
        Err(_) => Some(Fault::Chunk("the file cannot be read")),
    })
}

/// Verifies an array of the published layout by reading all of it.
fn packed(root: &Path, options: &Options, findings: &mut Vec<Finding>) -> Result<()> {
    let mut array = match Carray::open_unlocked(root, Mode::Read, options) {
        Ok(array) => array,
        Err(error) if error.is_system_error() => return Err(error),
        Err(error) => {
            add(findings, root.to_owned(), Fault::Description(error.to_string()));
            return Ok(());
        }
    };
    for number in 0..array.nchunks() {
        match array.read_chunk(number) {
            Ok(_) => {}
            Err(error) if error.is_system_error() => return Err(error),
            Err(Error::Chunk { path, why }) => add(findings, path, Fault::Chunk(why)),
            Err(error) => {
                add(findings, root.to_owned(), Fault::Description(error.to_string()));
            }
        }
    }
    Ok(())
}
