//! Describes data of any format in a common form.

use std::path::Path;

use super::detect::{Detected, Format};
use super::error::{Error, Result};
#[cfg(feature = "hdf5")]
use super::grid::{grid_of, number_of};
use super::location::Location;
use super::npz::Npz;
use super::placeholder::placeholder;
use super::source::{Reading, array_of, chunk_error, open_schunk, schunk_of_chunk};
use crate::bcolz::{Attrs, Carray, Ctable, Mode, Object, Options};
use crate::bloscpack::{self, Metadata, Value};
use crate::blpk::{Archive, Checksum};
#[cfg(feature = "hdf5")]
use crate::hdf5;
use crate::numpy::{ArrayInfo, read_npy_header};
use crate::store::{self, zip::Member};
use crate::tree;
#[cfg(feature = "zarr")]
use crate::zarr::{self, Codec};
use ferroblosc::b2nd::Array;
use ferroblosc::chunk::{BasicHeader, ChunkHeader};
use ferroblosc::codec;
use ferroblosc::filter::{self, SLOTS, Slot};
use ferroblosc::frame::{self, checksum::FingerprintStatus};
use ferroblosc::io::named::NamedFile;
use ferroblosc::schunk::{Layers, SChunk, State, chunks};

/// The description of data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The detected format.
    pub found: Detected,
    /// The total size of all files in bytes.
    pub stored: u64,
    /// The uncompressed size in bytes.
    pub nbytes: u64,
    /// The size of an item in bytes.
    pub typesize: u64,
    /// The type and shape of an array, or of a table's records. `None` if the type is not
    /// supported.
    pub array: Option<ArrayInfo>,
    /// The chunk shape and block shape of a b2nd array, in items; the chunk length of a carray, in
    /// rows.
    pub partitions: Option<(Vec<u64>, Option<Vec<u64>>)>,
    /// The number of chunks, or `None` for formats without chunks.
    pub nchunks: Option<u64>,
    /// The uncompressed size in bytes of each chunk except the last, if it is constant.
    pub chunksize: Option<u64>,
    /// The name of the codec, if it is known.
    pub codec: Option<String>,
    /// The recorded compression level.
    pub level: Option<u8>,
    /// The filters with their parameters, in the order of compression.
    pub filters: Vec<(String, u8)>,
    /// A note about the state of the journal of the file.
    pub journal: Option<String>,
    /// The name of the checksum.
    pub checksum: Option<&'static str>,
    /// The names of the fixed metalayers and the sizes of their contents in bytes.
    pub metalayers: Vec<(String, u64)>,
    /// The names of the variable-length metalayers and the sizes of their contents in bytes.
    pub vlmetalayers: Vec<(String, u64)>,
    /// The metadata of a container, or the attributes of a bcolz object.
    pub metadata: Option<Value>,
    /// A description of the data source, if the chunks are placeholders for an expression or
    /// reference.
    pub placeholder: Option<String>,
    /// The reason why an array of a container cannot be read.
    pub fault: Option<String>,
    /// The columns of a table, or the arrays of a container.
    pub columns: Vec<(String, Summary)>,
}

/// Returns the name of the codec with this number.
pub fn codec_name(compcode: u8) -> String {
    match codec::compcode_to_compname(compcode) {
        Some(name) => name.to_string_lossy().into_owned(),
        None => format!("codec {compcode}"),
    }
}

/// Returns the name of a chunk's codec. LZ4 and LZ4HC share one format.
pub fn codec_of_chunk(header: &ChunkHeader) -> String {
    let format = header.basic.format();
    match codec::info_of_format(format) {
        Some(codec) => codec.name_str().to_owned(),
        None if format == codec::format::USER => codec_name(header.udcodec),
        None => format!("format {format}"),
    }
}

/// Returns the name of a filter.
pub fn filter_name(id: u8) -> String {
    match filter::info(id) {
        Some(filter) => filter.name.to_owned(),
        None => format!("filter {id}"),
    }
}

fn filter_names(slots: &[Slot; SLOTS]) -> Vec<(String, u8)> {
    let used = slots.iter().filter(|slot| slot.id != filter::id::NONE);
    used.map(|slot| (filter_name(slot.id), slot.meta)).collect()
}

/// Describes the data at `path`.
///
/// # Errors
/// Returns the errors of the format.
pub fn summarise(path: &Path, found: &Detected) -> Result<Summary> {
    let empty = Summary {
        found: *found,
        stored: tree::size_of(&Location::of(path).path, usize::MAX)?,
        nbytes: 0,
        typesize: 1,
        array: None,
        partitions: None,
        nchunks: None,
        chunksize: None,
        codec: None,
        level: None,
        filters: Vec::new(),
        journal: journal_note(path, found)?,
        checksum: None,
        metalayers: Vec::new(),
        vlmetalayers: Vec::new(),
        metadata: None,
        placeholder: None,
        fault: None,
        columns: Vec::new(),
    };
    match found.format {
        Format::Blosc1 | Format::Blosc2 => of_chunk(path, empty),
        Format::Frame => {
            let schunk = open_schunk(path, found.is_directory, 1)?;
            of_schunk(schunk, empty)
        }
        Format::B2nd => of_array(path, empty),
        Format::Bloscpack => of_container(path, empty),
        Format::Carray => of_carray(path, empty),
        Format::Ctable => of_ctable(path, empty),
        Format::Npy => {
            let info = read_npy_header(&mut NamedFile::open_regular(path)?)?;
            Ok(Summary {
                nbytes: info.nbytes()?,
                typesize: info.dtype.itemsize(),
                array: Some(info),
                ..empty
            })
        }
        #[cfg(feature = "zarr")]
        Format::Zarr => of_zarr(path, empty),
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => of_hdf5(path, empty),
        Format::Npz => of_npz(path, empty),
        Format::Raw => Ok(Summary { nbytes: empty.stored, ..empty }),
    }
}

/// Returns a note about the state of the journal of a file, if there is something to report.
pub(super) fn journal_note(path: &Path, found: &Detected) -> Result<Option<String>> {
    Ok(match found.format {
        Format::Frame | Format::B2nd if found.is_directory => {
            frame::describe_journal(&path.join("chunks.b2frame"))?
        }
        Format::Frame | Format::B2nd => frame::describe_journal(path)?,
        Format::Bloscpack => bloscpack::describe_journal(path)?,
        _ => None,
    })
}

fn of_chunk(path: &Path, empty: Summary) -> Result<Summary> {
    let schunk = schunk_of_chunk(path, 1)?;
    let chunk_0_error = |error| chunk_error(&schunk, 0, error);
    let chunk = schunk.chunk(0).map_err(chunk_0_error)?;
    let header = ChunkHeader::parse(&chunk).map_err(chunk_0_error)?;
    Ok(Summary {
        nbytes: header.nbytes as u64,
        typesize: header.basic.typesize.into(),
        nchunks: Some(1),
        chunksize: Some(header.nbytes as u64),
        codec: Some(codec_of_chunk(&header)),
        filters: filter_names(&header.filters),
        ..empty
    })
}

fn of_schunk(mut schunk: SChunk, empty: Summary) -> Result<Summary> {
    let checksum = match schunk.state_mut().frame_mut() {
        Some(frame) => match frame.seal()? {
            FingerprintStatus::Absent => None,
            FingerprintStatus::Intact(_) | FingerprintStatus::Broken(_) => Some("xxh3"),
        },
        None => None,
    };
    let recorded = schunk.state().recorded();
    let layers = |kind| {
        let mut found = Vec::new();
        schunk.state().with_layers(kind, &mut |layers| {
            let sized = |content: &[u8]| match kind {
                Layers::Fixed => content.len() as u64,
                // A variable-length metalayer is stored as a chunk.
                Layers::Variable => BasicHeader::parse(content)
                    .map_or(0, |header| u64::try_from(header.nbytes).unwrap_or(0)),
            };
            found = layers
                .iter()
                .map(|(name, content)| (String::from_utf8_lossy(name).into_owned(), sized(content)))
                .collect();
        });
        found
    };
    Ok(Summary {
        nbytes: u64::try_from(schunk.nbytes()).unwrap_or(0),
        typesize: u64::try_from(schunk.typesize()).unwrap_or(1),
        nchunks: u64::try_from(schunk.nchunks()).ok(),
        chunksize: u64::try_from(schunk.chunksize()).ok().filter(|&size| size > 0),
        codec: Some(codec_name(recorded.compcode)),
        level: Some(recorded.clevel),
        filters: filter_names(&recorded.filters),
        checksum,
        metalayers: layers(Layers::Fixed),
        vlmetalayers: layers(Layers::Variable),
        placeholder: placeholder(schunk.state()),
        ..empty
    })
}

fn of_array(path: &Path, empty: Summary) -> Result<Summary> {
    let is_directory = empty.found.is_directory;
    let array = Array::from_schunk(open_schunk(path, is_directory, 1)?)?;
    let info = array_of(&array).ok();
    let geometry = array.geometry();
    let lengths =
        |lengths: &[i32]| lengths.iter().map(|len| u64::from(len.unsigned_abs())).collect();
    let partitions = (lengths(geometry.chunkshape()), Some(lengths(geometry.blockshape())));
    let nitems: i64 = array.shape().iter().product();
    let typesize = array.schunk().typesize();
    let summary = of_schunk(open_schunk(path, is_directory, 1)?, empty)?;
    Ok(Summary {
        // Exclude the padding of chunks at the edges.
        nbytes: nitems.unsigned_abs().saturating_mul(typesize.unsigned_abs().into()),
        typesize: typesize.unsigned_abs().into(),
        array: info,
        partitions: Some(partitions),
        ..summary
    })
}

fn of_container(path: &Path, empty: Summary) -> Result<Summary> {
    let mut archive = Archive::open(NamedFile::open_regular(path)?)?;
    let metadata = archive.metadata().map(Metadata::of).transpose()?;
    let nchunks = archive.nchunks()?;
    let nbytes = archive.plain_size()?;
    let header = *archive.header();
    let array = ArrayInfo::from_metadata(metadata.as_ref()).ok();
    let mut stored = Vec::new();
    let chunk = match nchunks {
        0 => None,
        _ => {
            archive.read_stored(0, &mut stored)?;
            ChunkHeader::parse(&stored).ok()
        }
    };
    Ok(Summary {
        nbytes,
        typesize: match &array {
            Some(info) => info.dtype.itemsize(),
            None => header.typesize.into(),
        },
        array,
        nchunks: Some(nchunks),
        chunksize: header.chunk_size.map(u64::from),
        codec: chunk.as_ref().map(codec_of_chunk),
        filters: chunk.map_or_else(Vec::new, |chunk| filter_names(&chunk.filters)),
        checksum: (header.checksum != Checksum::None).then(|| header.checksum.name()),
        metadata: metadata.as_ref().and_then(Metadata::value).cloned(),
        ..empty
    })
}

/// Returns the attributes, if there are any.
fn attributes(attrs: &Attrs) -> Option<Value> {
    let decoded = attrs.iter().map(|(name, value)| (name.to_owned(), value.clone()));
    let undecodable = attrs.undecodable().map(|name| (name.to_owned(), Value::Null));
    let entries: Vec<_> = decoded.chain(undecodable).collect();
    (!entries.is_empty()).then_some(Value::Object(entries))
}

fn of_carray(path: &Path, empty: Summary) -> Result<Summary> {
    let array = Carray::open(path, Mode::Read, &Options::default())?;
    of_open_carray(&array, empty)
}

fn of_open_carray(array: &Carray, empty: Summary) -> Result<Summary> {
    let cparams = array.cparams();
    let shuffle = match cparams.shuffle {
        1 => Some(filter::id::SHUFFLE),
        2 => Some(filter::id::BITSHUFFLE),
        _ => None,
    };
    let chunksize = array.chunklen().saturating_mul(array.row_bytes());
    Ok(Summary {
        nbytes: array.len().saturating_mul(array.row_bytes()),
        typesize: array.dtype().itemsize(),
        array: array.info().ok(),
        partitions: Some((vec![array.chunklen()], None)),
        nchunks: Some(array.nchunks()),
        chunksize: Some(chunksize),
        codec: Some(cparams.cname.clone()),
        level: Some(cparams.clevel),
        filters: shuffle.map(|id| (filter_name(id), 0)).into_iter().collect(),
        metadata: attributes(array.attrs()),
        ..empty
    })
}

/// Returns the description of an array of a container. One that cannot be read has a fault, unless
/// the error is one of the system.
fn readable(described: Result<Summary>, empty: &Summary) -> Result<Summary> {
    match described {
        Err(error @ Error::Store(store::Error::Storage { .. })) => Err(error),
        Err(error) => Ok(Summary { stored: 0, fault: Some(error.to_string()), ..empty.clone() }),
        described => described,
    }
}

/// Describes a Zarr array, or a group.
#[cfg(feature = "zarr")]
fn of_zarr(path: &Path, empty: Summary) -> Result<Summary> {
    let location = Location::of(path);
    let node = location.key.unwrap_or_default();
    let of_array = |node: &str| {
        let array = zarr::Array::open(&location.path, node)?;
        let metadata = array.metadata();
        let info = ArrayInfo {
            dtype: metadata.dtype.clone(),
            shape: metadata.shape.clone(),
            fortran_order: false,
        };
        let filters = match array.compressor() {
            Some(zarr::Codec::Blosc { shuffle: Some(1), .. }) => vec![filter::id::SHUFFLE],
            Some(zarr::Codec::Blosc { shuffle: Some(2), .. }) => vec![filter::id::BITSHUFFLE],
            _ => Vec::new(),
        };
        let attrs = Some(metadata.attrs.clone()).filter(|attrs| !attrs.is_empty());
        Ok(Summary {
            stored: array.stored_bytes()?,
            nbytes: info.nbytes()?,
            typesize: info.dtype.itemsize(),
            array: Some(info),
            partitions: Some((metadata.chunks.clone(), None)),
            nchunks: Some(array.nchunks()),
            chunksize: Some(array.chunk_bytes() as u64),
            codec: array.compressor().map(|codec| codec.name().to_owned()),
            level: array.compressor().and_then(zarr::Codec::level),
            filters: filters.into_iter().map(|id| (filter_name(id), 0)).collect(),
            metadata: attrs.map(Value::Object),
            ..empty.clone()
        })
    };
    let arrays = zarr::arrays_in(&location.path, &node)?;
    if arrays == [node] {
        return of_array(&arrays[0]);
    }
    let mut columns = Vec::new();
    for node in &arrays {
        columns.push((format!("/{node}"), readable(of_array(node), &empty)?));
    }
    let nbytes = columns.iter().fold(0_u64, |sum, (_, array)| sum.saturating_add(array.nbytes));
    Ok(Summary { nbytes, columns, ..empty })
}

/// Describes an HDF5 dataset, or a file or group of datasets.
#[cfg(feature = "hdf5")]
fn of_hdf5(path: &Path, empty: Summary) -> Result<Summary> {
    let location = Location::of(path);
    let key = location.key.unwrap_or_default();
    let file = super::source::open_file(&location.path)?;
    let object = |attrs: Vec<(String, Value)>| {
        Some(attrs).filter(|attrs| !attrs.is_empty()).map(Value::Object)
    };
    let of_dataset = |path: &str| -> Result<Summary> {
        let dataset = hdf5::Dataset::open(&file, path)?;
        let (info, _) = super::source::describe(&dataset, true)?;
        let (attrs, _) = hdf5::attributes_of(dataset.attributes())?;
        let chunks = dataset.chunks().map(|chunks| hdf5::shape_of(chunks, dataset.item()));
        let typesize = info.dtype.itemsize();
        let count = |chunks: &[u64]| {
            let counts = info.shape.iter().zip(chunks).map(|(len, chunk)| len.div_ceil(*chunk));
            counts.fold(1_u64, u64::saturating_mul)
        };
        let bytes = |chunks: &[u64]| chunks.iter().fold(typesize, |a, &b| a.saturating_mul(b));
        let blosc = dataset.filters().iter().find_map(hdf5::compression_of);
        let names = dataset.filters().iter().map(|filter| match filter.id {
            hdf5::BLOSC => "blosc".to_owned(),
            hdf5::BLOSC2 => "blosc2".to_owned(),
            id if filter.name.is_empty() => format!("filter {id}"),
            _ => filter.name.clone(),
        });
        Ok(Summary {
            stored: dataset.stored_bytes(),
            nbytes: info.nbytes().unwrap_or(u64::MAX),
            typesize,
            nchunks: chunks.as_deref().map(count),
            chunksize: chunks.as_deref().map(bytes),
            partitions: chunks.map(|chunks| (chunks, None)),
            codec: match &blosc {
                Some((codec, ..)) => Some(codec_name(*codec)),
                None => Some(names.collect::<Vec<_>>().join(", ")).filter(|name| !name.is_empty()),
            },
            level: blosc.as_ref().map(|(_, level, _)| *level),
            filters: blosc
                .into_iter()
                .flat_map(|(_, _, filters)| filters)
                .map(|slot| (filter_name(slot.id), slot.meta))
                .collect(),
            metadata: object(attrs),
            array: Some(info),
            ..empty.clone()
        })
    };
    let datasets = match hdf5::datasets(&file, &key) {
        Err(hdf5::Error::NotFound(_)) => return Err(Error::NoSuchKey(key)),
        found => found?,
    };
    if datasets == [key.clone()] {
        return of_dataset(&key);
    }
    let mut columns = Vec::new();
    for path in &datasets {
        columns.push((format!("/{path}"), readable(of_dataset(path), &empty)?));
    }
    let nbytes = columns.iter().fold(0_u64, |sum, (_, array)| sum.saturating_add(array.nbytes));
    let (attrs, _) = hdf5::attributes_of(file.group(&key)?.attributes())?;
    Ok(Summary { nbytes, columns, metadata: object(attrs), ..empty })
}

/// Describes an array of a `.npz` file, or a file of several arrays.
fn of_npz(path: &Path, empty: Summary) -> Result<Summary> {
    let npz = Npz::open(path)?;
    let of_member = |member: &Member| {
        let (info, _) = npz.header(member)?;
        Ok(Summary {
            nbytes: info.nbytes()?,
            typesize: info.dtype.itemsize(),
            array: Some(info),
            stored: member.stored_size(),
            ..empty.clone()
        })
    };
    if npz.has_key() || npz.arrays().count() == 1 {
        return of_member(npz.member()?);
    }
    let mut columns: Vec<(String, Summary)> = Vec::new();
    for (key, member) in npz.arrays() {
        columns.push((format!("/{key}"), readable(of_member(member), &empty)?));
    }
    let nbytes = columns.iter().fold(0_u64, |sum, (_, array)| sum.saturating_add(array.nbytes));
    Ok(Summary { nbytes, columns, ..empty })
}

fn of_ctable(path: &Path, empty: Summary) -> Result<Summary> {
    let table = Ctable::open(path, Mode::Read, &Options::default())?;
    let mut columns = Vec::new();
    for name in table.names() {
        let (format, root) = match table.column(name)? {
            Object::Carray(array) => (Format::Carray, array.root()),
            Object::Ctable(inner) => (Format::Ctable, inner.root()),
        };
        let found = Detected { format, ..empty.found };
        columns.push((name.to_owned(), summarise(root, &found)?));
    }
    let nbytes = columns.iter().fold(0_u64, |sum, (_, column)| sum.saturating_add(column.nbytes));
    let reading = Reading::default();
    let records = super::source::open_as(path, &empty.found, &reading).ok();
    let array = records.and_then(|records| records.content().array.clone());
    Ok(Summary {
        nbytes,
        typesize: nbytes.checked_div(table.len()).unwrap_or(0),
        array,
        nchunks: columns.iter().map(|(_, column)| column.nchunks).sum(),
        metadata: attributes(table.attrs()),
        columns,
        ..empty
    })
}

/// The description of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkSummary {
    /// The index of the chunk.
    pub number: u64,
    /// The offset of the chunk in its file in bytes, if it is stored in one.
    pub position: Option<u64>,
    /// The uncompressed size in bytes.
    pub nbytes: u64,
    /// The compressed size in bytes.
    pub cbytes: u64,
    /// The name of the codec, or the kind of a special chunk.
    pub codec: String,
    /// The names of the filters.
    pub filters: Vec<String>,
}

fn chunk_of(number: u64, position: Option<u64>, bytes: &[u8]) -> ferroblosc::Result<ChunkSummary> {
    use ferroblosc::chunk::Special;
    let header = ChunkHeader::parse(bytes)?;
    let codec = match header.special {
        Special::None if header.is_memcpyed() => "stored".to_owned(),
        Special::None => codec_of_chunk(&header),
        Special::Zero => "zeros".to_owned(),
        Special::Nan => "nans".to_owned(),
        Special::Value => "value".to_owned(),
        Special::Uninit => "uninit".to_owned(),
        _ => "unknown".to_owned(),
    };
    let filters = filter_names(&header.filters);
    Ok(ChunkSummary {
        number,
        position,
        nbytes: header.nbytes as u64,
        cbytes: header.cbytes as u64,
        codec,
        filters: filters.into_iter().map(|(name, _)| name).collect(),
    })
}

/// Calls `f` with each chunk at `path` in order, until it returns `false`.
///
/// # Errors
/// Returns the errors of the format, or [`super::Error::Chunk`] for an unreadable chunk header.
pub fn each_chunk(
    path: &Path,
    found: &Detected,
    f: &mut dyn FnMut(ChunkSummary) -> bool,
) -> Result<()> {
    match found.format {
        Format::Blosc1 | Format::Blosc2 => {
            let schunk = schunk_of_chunk(path, 1)?;
            let listed = schunk.chunk(0).and_then(|chunk| chunk_of(0, Some(0), &chunk));
            f(listed.map_err(|error| chunk_error(&schunk, 0, error))?);
        }
        Format::Frame | Format::B2nd => {
            let schunk = open_schunk(path, found.is_directory, 1)?;
            for number in 0..schunk.nchunks() {
                let at = usize::try_from(number).unwrap_or(usize::MAX);
                let frame = schunk.state().frame();
                let position = frame.and_then(|frame| frame.chunk_position(at));
                let listed = chunks::lazy_chunk(schunk.state(), number)
                    .and_then(|chunk| chunk_of(at as u64, position, &chunk));
                if !f(listed.map_err(|error| chunk_error(&schunk, number, error))?) {
                    break;
                }
            }
        }
        Format::Bloscpack => {
            let mut archive = Archive::open(NamedFile::open_regular(path)?)?;
            let mut stored = Vec::new();
            for number in 0..archive.nchunks()? {
                let entry = archive.read_stored(number, &mut stored)?;
                if !f(chunk_of(number, Some(entry.position), &stored)?) {
                    break;
                }
            }
        }
        Format::Carray => {
            let array = Carray::open(path, Mode::Read, &Options::default())?;
            let mut stored = Vec::new();
            for number in 0..array.nchunks() {
                array.stored_chunk(number, &mut stored)?;
                if !f(chunk_of(number, None, &stored)?) {
                    break;
                }
            }
        }
        #[cfg(feature = "zarr")]
        Format::Zarr => {
            let mut array = super::source::open_zarr(path)?;
            let (codec, nbytes) = (array.compressor().map(Codec::name), array.chunk_bytes());
            let codec = codec.unwrap_or("stored").to_owned();
            for number in 0..array.nchunks() {
                let index = array.chunk_index(number);
                let Some(stored) = array.stored_chunk(&index)? else {
                    continue;
                };
                let summary = ChunkSummary {
                    number,
                    position: None,
                    nbytes: nbytes as u64,
                    cbytes: stored.len() as u64,
                    codec: codec.clone(),
                    filters: Vec::new(),
                };
                if !f(summary) {
                    break;
                }
            }
        }
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => each_hdf5_chunk(path, f)?,
        Format::Ctable | Format::Npy | Format::Npz | Format::Raw => {}
    }
    Ok(())
}

/// Calls `f` with each stored chunk of an HDF5 dataset, as [`each_chunk`]. A dataset without chunks
/// has none.
#[cfg(feature = "hdf5")]
fn each_hdf5_chunk(path: &Path, f: &mut dyn FnMut(ChunkSummary) -> bool) -> Result<()> {
    let (_file, dataset) = super::source::open_hdf5(path)?;
    let Some(chunks) = dataset.chunks().map(<[u64]>::to_vec) else {
        return Ok(());
    };
    let grid = grid_of(dataset.shape(), &chunks);
    let nbytes = chunks.iter().fold(dataset.item().size() as u64, |a, &b| a.saturating_mul(b));
    let filters = dataset.filters();
    let Some(starts) = dataset.stored_starts()? else {
        let why = "it cannot list the chunks of a dataset, which needs version 1.10.5".to_owned();
        return Err(hdf5::Error::Unsupported(why).into());
    };
    for start in starts.iter() {
        let Some(stored) = dataset.stored_chunk(start)? else {
            continue;
        };
        let index: Vec<u64> = start.iter().zip(&chunks).map(|(at, len)| at / len).collect();
        let number = number_of(&grid, &index);
        // The bits of the mask are the filters that were skipped.
        let applied = filters.iter().enumerate().filter(|(at, _)| stored.mask >> at & 1 == 0);
        let applied: Vec<&hdf5::Filter> = applied.map(|(_, filter)| filter).collect();
        let blosc = applied.iter().find(|filter| matches!(filter.id, hdf5::BLOSC | hdf5::BLOSC2));
        // The chunk contains its complete parameters, which may differ from those of the filter.
        let inner = match blosc {
            Some(filter) if applied.len() == 1 => {
                let bytes = dataset.read_chunk(start)?.map(|(_, bytes)| bytes);
                bytes.and_then(|bytes| inner_chunk(filter.id, &bytes))
            }
            _ => None,
        };
        let names = applied.iter().map(|filter| match filter.id {
            hdf5::BLOSC => "blosc".to_owned(),
            hdf5::BLOSC2 => "blosc2".to_owned(),
            id if filter.name.is_empty() => format!("filter {id}"),
            _ => filter.name.clone(),
        });
        let names: Vec<String> = names.collect();
        let (codec, filters) = match inner {
            Some(inner) => (inner.codec, inner.filters),
            None if names.is_empty() => ("stored".to_owned(), Vec::new()),
            None => (names.join(","), Vec::new()),
        };
        let position = Some(stored.position);
        let summary = ChunkSummary { number, position, nbytes, cbytes: stored.len, codec, filters };
        if !f(summary) {
            break;
        }
    }
    Ok(())
}

/// Returns the description of the chunk of Blosc in a stored chunk of a filter.
#[cfg(feature = "hdf5")]
fn inner_chunk(filter: i32, bytes: &[u8]) -> Option<ChunkSummary> {
    if filter == hdf5::BLOSC {
        return chunk_of(0, None, bytes).ok();
    }
    // Filter 32026 stores a frame of one chunk.
    let schunk = SChunk::from_bytes(bytes, ferroblosc::chunk::DParams::default()).ok()?;
    let chunk = chunks::lazy_chunk(schunk.state(), 0).ok()?;
    chunk_of(0, None, &chunk).ok()
}
