//! What is wrong with a directory: every file is looked at, every chunk decompressed.

use std::fmt;
use std::path::{Path, PathBuf};

use super::carray::{DATA, META, SIZES, STORAGE};
use super::chunkfile::{self, Chunk, Expected};
use super::ctable::{self, ROOTDIRS};
use super::dtype::Kind;
use super::error::{Error, Result};
use super::meta::{Sizes, Storage};
use super::packed::Layout;
use super::store::{self, Store};
use super::{Carray, Mode, Options, attrs, names};
use crate::blosc1::Engine;
use crate::bloscpack::Value;
use crate::blpk::MAX_NBYTES;

/// So many chunks may be missing in any case.
const FEW_MISSING: u64 = 16;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A file or directory is not there whose absence can be borne.
    Missing,
    /// A file that describes something can't be understood, or is not there.
    Description(String),
    /// The chunk is not there.
    MissingChunk,
    /// The chunk belongs to no row; a note, since bcolz leaves such files.
    ExtraChunk,
    /// The chunk holds fewer rows than it must.
    ShortChunk {
        /// Plain bytes it holds.
        holds: u64,
        /// Plain bytes it must hold.
        needs: u64,
    },
    /// The chunk can't be read.
    Chunk(&'static str),
    /// The codec of the chunk, by the format code in its header, is not in this version; the chunk may be intact.
    Codec(u8),
    /// What stands in front of the chunk is wrong.
    Front,
    /// The column has another length than the first one.
    ColumnLength {
        /// Its length.
        len: u64,
        /// The length of the first one.
        first: u64,
    },
    /// A column can't be called so.
    ColumnName,
    /// A file of a change that was interrupted; a note.
    Leftover,
}

impl Fault {
    /// Whether nothing is lost or wrong because of it.
    pub fn is_note(&self) -> bool {
        matches!(self, Fault::ExtraChunk | Fault::Leftover)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Missing => f.write_str("it is not there"),
            Fault::Description(why) => f.write_str(why),
            Fault::MissingChunk => f.write_str("the chunk is not there"),
            Fault::ExtraChunk => f.write_str("the chunk belongs to no row"),
            Fault::ShortChunk { holds, needs } => {
                write!(f, "the chunk holds {holds} bytes of {needs}")
            }
            Fault::Chunk(why) => f.write_str(why),
            Fault::Codec(format) => {
                write!(
                    f,
                    "the codec of the stream format {format} is not in this version"
                )
            }
            Fault::Front => f.write_str("the file does not begin as it should"),
            Fault::ColumnLength { len, first } => {
                write!(f, "the column has {len} rows and the first one {first}")
            }
            Fault::ColumnName => f.write_str("no column can be called so"),
            Fault::Leftover => f.write_str("a change was interrupted here"),
        }
    }
}

/// A fault and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// Looks at everything at `root`.
///
/// # Errors
/// [`Error::NotFound`] when there is nothing; [`Error::Memory`]. What is wrong with something is no error.
pub fn verify(root: &Path, options: &Options) -> Result<Vec<Finding>> {
    let store = &options.store;
    let mut findings = Vec::new();
    if store.exists(&root.join(ROOTDIRS))? {
        table(root, options, &mut findings)?;
    } else if store.exists(&root.join(META))? || store.exists(&root.join(DATA))? {
        array(root, options, &mut findings)?;
    } else {
        return Err(Error::NotFound(root.to_owned()));
    }
    Ok(findings)
}

fn add(findings: &mut Vec<Finding>, path: PathBuf, fault: Fault) {
    findings.push(Finding { path, fault });
}

/// The JSON of a file, if it can be read and is some.
fn json(store: &Store, path: PathBuf, findings: &mut Vec<Finding>) -> Result<Option<Value>> {
    let why = match store.read_json(&path) {
        Ok(Some(value)) => return Ok(Some(value)),
        Ok(None) => "it is not there".to_owned(),
        Err(error) if error.is_of_machine() => return Err(error),
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
    if let Some(value) = json(store, path.clone(), findings)?
        && !matches!(value, Value::Object(_))
    {
        let why = "it is no object".to_owned();
        add(findings, path, Fault::Description(why));
    }
    Ok(())
}

fn table(root: &Path, options: &Options, findings: &mut Vec<Finding>) -> Result<()> {
    let store = &options.store;
    attributes(root, store, findings)?;
    let path = root.join(ROOTDIRS);
    let columns = match ctable::read_names(store, root) {
        Ok(columns) => columns,
        Err(Error::ColumnName(name)) => {
            add(
                findings,
                root.join(name.replace('/', "_")),
                Fault::ColumnName,
            );
            return Ok(());
        }
        Err(error) if error.is_of_machine() => return Err(error),
        Err(error) => {
            add(findings, path, Fault::Description(error.to_string()));
            return Ok(());
        }
    };
    let mut first = None;
    for name in columns {
        names::check_read(&name)?;
        let place = match ctable::place_of(store, root, &name) {
            Ok(place) => place.path,
            Err(error) if error.is_of_machine() => return Err(error),
            Err(error) => {
                add(
                    findings,
                    root.join(name),
                    Fault::Description(error.to_string()),
                );
                continue;
            }
        };
        if store.exists(&place.join(ROOTDIRS))? {
            // A table in a table is read by its reader alone, which looks for tables without an end.
            if let Err(error) = ctable::Ctable::open_unchecked(&place, Mode::Read, options, 1) {
                if error.is_of_machine() {
                    return Err(error);
                }
                add(findings, place, Fault::Description(error.to_string()));
            }
            continue;
        }
        let Some(len) = array(&place, options, findings)? else {
            continue;
        };
        let first = *first.get_or_insert(len);
        if len != first {
            add(findings, place, Fault::ColumnLength { len, first });
        }
    }
    Ok(())
}

/// What describes an array, as far as it can be understood.
pub(super) fn described(
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
            match sizes.and_then(|sizes| match is_object {
                true => Ok(sizes),
                false => sizes.check(storage.chunklen, &path).map(|()| sizes),
            }) {
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

/// Looks at an array; returns its length, if that is known.
fn array(root: &Path, options: &Options, findings: &mut Vec<Finding>) -> Result<Option<u64>> {
    let store = &options.store;
    attributes(root, store, findings)?;
    let (storage, sizes) = described(root, store, findings)?;
    let (Some(storage), Some(sizes)) = (storage, sizes) else {
        return Ok(None);
    };
    let data = root.join(DATA);
    let Some(there) = store.list(&data)? else {
        add(findings, data, Fault::Missing);
        return Ok(Some(sizes.len));
    };
    let is_object = storage.dtype.kind() == Kind::Object;
    let nchunks = match is_object {
        true => sizes.len,
        false => sizes.len.div_ceil(storage.chunklen),
    };
    if !is_object && let Ok(Layout::Packed(_)) = Layout::find(store, &data, nchunks) {
        packed(root, options, findings)?;
        return Ok(Some(sizes.len));
    }
    let mut engine = Engine::default();
    // What is missing behind those there is missing as one.
    let looked_at = nchunks.min(reach(&there));
    for number in 0..looked_at {
        let expected = match is_object {
            true => Expected {
                least: 0,
                most: u64::from(MAX_NBYTES),
            },
            false => expected(&storage, &sizes, number),
        };
        let path = data.join(format!("__{number}.blp"));
        if let Some(fault) = chunk(store, &path, expected, &mut engine)? {
            add(findings, path, fault);
        }
    }
    if looked_at < nchunks {
        add(
            findings,
            data.join(format!("__{looked_at}.blp")),
            Fault::MissingChunk,
        );
    }
    for name in there {
        let is_extra = chunkfile::number_of(&name).is_some_and(|number| number >= nchunks);
        if is_extra {
            add(findings, data.join(&name), Fault::ExtraChunk);
        } else if store::is_temporary(&name) {
            add(findings, data.join(&name), Fault::Leftover);
        }
    }
    Ok(Some(sizes.len))
}

/// Behind which chunk the files of an array end. Anybody can give a file a large number, so a file in front of which more
/// are missing than are there is not one of them.
pub(super) fn reach(names: &[String]) -> u64 {
    let mut numbers: Vec<u64> = names
        .iter()
        .filter_map(|name| chunkfile::number_of(name))
        .collect();
    numbers.sort_unstable();
    let there = (0..).zip(numbers);
    let near = there.take_while(|&(before, number)| number - before <= before + FEW_MISSING);
    near.last().map_or(0, |(_, number)| number + 1)
}

/// The plain bytes that chunk `number` of an array must hold.
pub(super) fn expected(storage: &Storage, sizes: &Sizes, number: u64) -> Expected {
    let most = storage.chunklen * sizes.row_bytes;
    let rows = sizes.len - (number * storage.chunklen).min(sizes.len);
    Expected {
        least: rows.min(storage.chunklen) * sizes.row_bytes,
        most,
    }
}

/// What is wrong with the file of a chunk.
fn chunk(
    store: &Store,
    path: &Path,
    expected: Expected,
    engine: &mut Engine,
) -> Result<Option<Fault>> {
    let mut file = Vec::new();
    let any = Expected {
        least: 0,
        ..expected
    };
    let mut plain = Vec::new();
    let found = chunkfile::read(store, path, expected.most, &mut file)
        .and_then(|()| Chunk::in_file(&file, any, path))
        .and_then(|chunk| chunk.decode_to(engine, 1, &mut plain, path).map(|()| chunk));
    Ok(match found {
        Ok(chunk) if (chunk.nbytes as u64) < expected.least => Some(Fault::ShortChunk {
            holds: chunk.nbytes as u64,
            needs: expected.least,
        }),
        Ok(chunk) => (!chunk.has_right_front).then_some(Fault::Front),
        Err(Error::MissingChunk(_)) => Some(Fault::MissingChunk),
        Err(Error::Chunk { why, .. }) => Some(match chunkfile::unknown_codec(&file) {
            Some(format) => Fault::Codec(format),
            None => Fault::Chunk(why),
        }),
        Err(error) if error.is_of_machine() => return Err(error),
        Err(_) => Some(Fault::Chunk("the file can't be read")),
    })
}

/// Looks at an array of the published layout, by reading all of it.
fn packed(root: &Path, options: &Options, findings: &mut Vec<Finding>) -> Result<()> {
    let mut array = match Carray::open_unclaimed(root, Mode::Read, options) {
        Ok(array) => array,
        Err(error) if error.is_of_machine() => return Err(error),
        Err(error) => {
            add(
                findings,
                root.to_owned(),
                Fault::Description(error.to_string()),
            );
            return Ok(());
        }
    };
    for number in 0..array.nchunks() {
        match array.read_chunk(number) {
            Ok(_) => {}
            Err(error) if error.is_of_machine() => return Err(error),
            Err(Error::Chunk { path, why }) => add(findings, path, Fault::Chunk(why)),
            Err(error) => {
                add(
                    findings,
                    root.to_owned(),
                    Fault::Description(error.to_string()),
                );
            }
        }
    }
    Ok(())
}
