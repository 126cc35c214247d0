//! Converts Bloscpack containers and `.npy` files to carrays and back.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::error::{Error, Result};
use super::intact::{ChunkCheck, needs_plugin};
use super::sink::append_rows;
use super::source::{Container, Npy, Reading, Source};
use crate::bcolz::{Carray, CarraySpec, Compression, Mode, Options};
use crate::bloscpack::{self, MetadataArgs, Replacement, Value, section_for};
use crate::blpk::{self, Checksum, Header, OFFSET_LENGTH, Stream};
use crate::numpy::{ArrayInfo, npy_header};
use ferroblosc::blosc1::{self, Engine};
use ferroblosc::io::named::NamedFile;

/// The size of file buffers in bytes.
const FILE_BUFFER: usize = 256 << 10;
/// The size of a chunk header in bytes.
const HEADER: usize = blosc1::HEADER_LENGTH;

/// The parameters of a carray to create.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The number of rows per chunk. `None` selects the source's chunk length if its chunks hold
    /// whole rows, otherwise a length that depends on the size of the array.
    pub chunklen: Option<u64>,
    /// The compression parameters of chunks that cannot be copied.
    pub cparams: Compression,
    /// Whether to allow record dtypes, which bcolz itself cannot reopen.
    pub records: bool,
}

/// Writes the rows of the carray at `root` to a `.npy` file.
///
/// # Errors
/// [`Error`]
pub fn carray_to_npy(root: &Path, output: &Path, options: &Options) -> Result<()> {
    let mut array = Carray::open(root, Mode::Read, options)?;
    let info = array.info()?;
    let mut replacement = Replacement::create(output)?;
    let mut writer = replacement.writer();
    writer.write_all(&npy_header(&info)?)?;
    for number in 0..array.nchunks() {
        writer.write_all(&array.read_chunk(number)?)?;
    }
    writer.flush()?;
    drop(writer);
    Ok(replacement.commit()?)
}

/// Creates a carray for an array. The chunk length of `target` overrides `chunklen`.
fn create(
    info: &ArrayInfo,
    chunklen: Option<u64>,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<Carray> {
    let (&len, row_shape) = info.shape.split_first().ok_or(Error::NoDimension)?;
    let spec = CarraySpec {
        row_shape: row_shape.to_vec(),
        chunklen: target.chunklen.or(chunklen),
        expectedlen: len,
        cparams: target.cparams.clone(),
        records: target.records,
        ..CarraySpec::new(info.dtype.clone().named())
    };
    Ok(Carray::create(root, &spec, mode, options)?)
}

/// Creates a carray at `root` from a `.npy` file.
///
/// # Errors
/// [`Error`]; the incomplete carray is removed.
pub fn npy_to_carray(
    npy: &Path,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<()> {
    let mut source = Npy::open(npy).map_err(|error| match error {
        Error::Truncated { .. } => bloscpack::Error::Npy("there are too few items").into(),
        other => other,
    })?;
    let info = source.content().array.clone().ok_or(Error::NoDimension)?;
    let len = info.shape.first().copied().unwrap_or(0);
    let array = create(&info, None, root, target, mode, options)?;
    fill_or_remove(array, root, options, |array| append_rows(array, &mut source, len, &mut |_| {}))
}

/// Fills a new carray and closes it, or removes it on failure.
pub(super) fn fill_or_remove(
    mut array: Carray,
    root: &Path,
    options: &Options,
    fill: impl FnOnce(&mut Carray) -> Result<()>,
) -> Result<()> {
    let filled = fill(&mut array);
    let filled = filled.and(array.close().map_err(Error::from));
    if filled.is_err() {
        // An error of the cleanup would hide the original error.
        let _ = crate::bcolz::purge(root, options);
    }
    filled
}

/// Writes the carray at `root` to a Bloscpack container. Chunks are copied; only a chunk that
/// stores more rows than the carray has is recompressed.
///
/// # Errors
/// [`Error`]
pub fn carray_to_bloscpack(
    root: &Path,
    output: &Path,
    checksum: Checksum,
    options: &Options,
) -> Result<()> {
    carray_to_container(root, output, checksum, &[], options)
}

/// Writes the carray at `root` to a container. `extra` is added to the metadata of the array.
pub(super) fn carray_to_container(
    root: &Path,
    output: &Path,
    checksum: Checksum,
    extra: &[(String, Value)],
    options: &Options,
) -> Result<()> {
    let mut array = Carray::open(root, Mode::Read, options)?;
    let info = array.info()?;
    let mut metadata = info.to_metadata();
    if let Value::Object(entries) = &mut metadata {
        entries.extend(extra.iter().cloned());
    }
    let section = section_for(&metadata, &MetadataArgs::default())?;
    let mut replacement = Replacement::create(output)?;
    let has_offsets = replacement.is_seekable();
    let header = header_for(&array, checksum, has_offsets)?;
    let entries = header.entries().unwrap_or(0);
    let mut writer = replacement.writer();
    let mut head = header.encode()?;
    head.extend(section.encode()?);
    writer.write_all(&head)?;
    let mut position = head.len() as u64;
    if has_offsets {
        for _ in 0..entries {
            writer.write_all(&blpk::UNUSED_OFFSET.to_le_bytes())?;
        }
        position += entries * OFFSET_LENGTH;
    }
    let mut offsets = Vec::new();
    let mut chunk = Vec::new();
    let mut check = ChunkCheck::new(i16::try_from(options.nthreads).unwrap_or(i16::MAX).max(1));
    for number in 0..entries {
        stored_rows(&mut array, number, &mut chunk, &mut check)?;
        let digest = checksum.digest(&chunk);
        writer.write_all(&chunk)?;
        writer.write_all(&digest)?;
        offsets.push(position);
        position += (chunk.len() + digest.len()) as u64;
    }
    if has_offsets {
        writer.seek(SeekFrom::Start(head.len() as u64))?;
        for offset in offsets {
            writer.write_all(&offset.to_le_bytes())?;
        }
    }
    writer.flush()?;
    drop(writer);
    Ok(replacement.commit()?)
}

/// Returns the header of the container. An array without rows is stored as one empty chunk.
fn header_for(array: &Carray, checksum: Checksum, offsets: bool) -> Result<Header> {
    let size = |rows: u64| u32::try_from(rows * array.row_bytes()).ok();
    let nchunks = array.nchunks().max(1);
    let last = array.len() - (nchunks - 1) * array.chunklen();
    Ok(Header {
        offsets,
        metadata: true,
        checksum,
        typesize: array.dtype().blosc_typesize().unwrap_or(1),
        chunk_size: size(if nchunks == 1 { last } else { array.chunklen() }),
        last_chunk: size(last),
        nchunks: Some(nchunks),
        ..Header::default()
    })
}

/// Sets `chunk` to a compressed chunk with exactly the rows of chunk `number`.
fn stored_rows(
    array: &mut Carray,
    number: u64,
    chunk: &mut Vec<u8>,
    check: &mut ChunkCheck,
) -> Result<()> {
    let rows = if array.is_empty() {
        Vec::new()
    } else {
        let rows = array.rows_of(number)?;
        let nbytes = array.stored_chunk(number, chunk)?;
        let is_whole = nbytes as u64 == (rows.end - rows.start) * array.row_bytes();
        if is_whole && check.is_intact(chunk) {
            return Ok(());
        }
        array.read(rows)?
    };
    let params = blosc1::Params {
        call: blosc1::Call {
            clevel: 5,
            shuffle: 1,
            typesize: array.dtype().blosc_typesize().unwrap_or(1).into(),
        },
        compressor: Some(ferroblosc::codec::id::LZ4),
        blocksize: 0,
        splitmode: ferroblosc::chunk::SplitMode::FORWARD_COMPAT,
        nthreads: 1,
    };
    chunk.resize(rows.len() + HEADER, 0);
    let compressed = Engine::default().compress(&params, &rows, chunk);
    let cbytes = compressed.map_err(bloscpack::Error::Compression)?;
    chunk.truncate(cbytes);
    Ok(())
}

/// Creates a carray at `root` from the array in a container. Chunks of whole rows are copied.
///
/// # Errors
/// [`Error`]; the incomplete carray is removed.
pub fn bloscpack_to_carray(
    input: &Path,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<()> {
    let reading =
        Reading { nthreads: usize::try_from(options.nthreads).unwrap_or(1), ..Reading::default() };
    let mut source = Container::open(input, &reading)?;
    let info = source.array().ok_or(bloscpack::Error::NotANumpyArray)?;
    let row_bytes = info.shape.get(1..).unwrap_or_default().iter();
    let row_bytes = row_bytes.product::<u64>() * info.dtype.itemsize();
    let size = source.chunk_size();
    let has_whole_rows = row_bytes > 0 && size > 0 && size.is_multiple_of(row_bytes);
    let rows = has_whole_rows.then(|| size / row_bytes);
    let has_same_chunks = !info.fortran_order
        && rows.is_some()
        && target.chunklen.is_none_or(|len| rows == Some(len));
    let len = info.shape.first().copied().unwrap_or(0);
    let array = create(info, rows, root, target, mode, options)?;
    fill_or_remove(array, root, options, |array| {
        if has_same_chunks {
            return append_chunks(array, NamedFile::open_regular(input)?);
        }
        append_rows(array, &mut source, len, &mut |_| {})
    })
}

/// Appends the chunks of a container: copies full chunks and recompresses the last one.
fn append_chunks(array: &mut Carray, file: impl Read) -> Result<()> {
    let mut stream = Stream::new(std::io::BufReader::with_capacity(FILE_BUFFER, file), None)?;
    let full = array.chunklen() * array.row_bytes();
    let (mut stored, mut plain) = (Vec::new(), Vec::new());
    let mut engine = Engine::default();
    let nthreads = array.threads();
    while let Some(chunk) = stream.next_chunk(&mut stored)? {
        let is_full = u64::from(chunk.nbytes) == full;
        let bytes = &stored[..chunk.cbytes as usize];
        match chunk.decode(&stored, &mut engine, nthreads, &mut plain) {
            Err(blpk::Error::ChunkData { .. }) if is_full && needs_plugin(bytes) => {}
            decoded => decoded?,
        }
        if is_full {
            array.append_stored(bytes)?;
        } else {
            array.append(&plain)?;
        }
    }
    Ok(())
}
