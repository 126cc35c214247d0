//! Carrays out of containers and `.npy` files, and back.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::error::{Error, Result};
use crate::bcolz::{Carray, CarraySpec, Cparams, Dtype, Mode, Options};
use crate::blosc1::{self, Engine};
use crate::bloscpack::{
    self, ArrayInfo, Literal, Metadata, MetadataArgs, Replacement, Value, npy_header,
    read_npy_header, section_for,
};
use crate::blpk::{self, Archive, Checksum, Header, OFFSET_LENGTH, Stream};
use crate::io::ReadAt;
use crate::io::named::NamedFile;

/// Bytes that files are written in.
const FILE_BUFFER: usize = 256 << 10;
/// Bytes of a chunk without data.
const HEADER: usize = blosc1::HEADER_LENGTH;

/// How the carray is made that something is converted to.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// Rows of a chunk; or none for those of the source, if it has chunks of whole rows, else by the length.
    pub chunklen: Option<u64>,
    /// How chunks are compressed that can't be taken as they are.
    pub cparams: Cparams,
    /// Whether records may be written, which bcolz itself can't open again.
    pub records: bool,
}

/// What NumPy calls the array.
fn info_of(array: &Carray) -> Result<ArrayInfo> {
    let description = array.dtype().description().repr();
    Ok(ArrayInfo {
        dtype: bloscpack::Dtype::parse(&description)?,
        shape: array.shape(),
        fortran_order: false,
    })
}

/// Writes the rows of the carray at `root` into a `.npy` file.
///
/// # Errors
/// [`Error`]
pub fn carray_to_npy(root: &Path, output: &Path, options: &Options) -> Result<()> {
    let mut array = Carray::open(root, Mode::Read, options)?;
    let info = info_of(&array)?;
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

/// A new carray for an array, in chunks of `chunklen` rows or as many as `target` says.
fn create(
    info: &ArrayInfo,
    chunklen: Option<u64>,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<Carray> {
    let (&len, row_shape) = info.shape.split_first().ok_or(Error::NoDimension)?;
    let text = info.dtype.repr();
    let literal = Literal::parse(&text);
    let dtype = match literal {
        Some(literal) => Dtype::from_description(&literal)?,
        None => Dtype::parse(&text)?,
    };
    let spec = CarraySpec {
        row_shape: row_shape.to_vec(),
        chunklen: target.chunklen.or(chunklen),
        expectedlen: len,
        cparams: target.cparams.clone(),
        records: target.records,
        ..CarraySpec::new(dtype)
    };
    Ok(Carray::create(root, &spec, mode, options)?)
}

/// Appends all rows of an array whose bytes can be read from any position.
fn append_rows(
    array: &mut Carray,
    info: &ArrayInfo,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let len = info.shape.first().copied().unwrap_or(0);
    let (row_bytes, at_once) = (array.row_bytes(), array.chunklen());
    let mut rows = Vec::new();
    while array.len() < len {
        let start = array.len();
        let count = (len - start).min(at_once);
        // A chunk fits into memory, as the carray was made with it.
        rows.resize((count * row_bytes) as usize, 0);
        match info.fortran_order {
            false => read(start * row_bytes, &mut rows)?,
            true => gather(info, start, count, &mut rows, &mut read)?,
        }
        array.append(&rows)?;
    }
    Ok(())
}

/// Gathers rows of an array whose first dimension varies fastest: of each item of a row those of all rows follow
/// each other.
fn gather(
    info: &ArrayInfo,
    start: u64,
    count: u64,
    rows: &mut [u8],
    mut read: impl FnMut(u64, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let itemsize = info.dtype.itemsize();
    let size = itemsize as usize;
    let (len, row_shape) = info.shape.split_first().ok_or(Error::NoDimension)?;
    let items: u64 = row_shape.iter().product();
    let mut column = vec![0; count as usize * size];
    for item in 0..items {
        // The number of the item in C's order is that of these indices; here the first of them varies fastest.
        let (mut rest, mut stride, mut position) = (item, items, 0);
        for &length in row_shape.iter().rev() {
            stride /= length;
            position += rest % length * stride;
            rest /= length;
        }
        read((position * len + start) * itemsize, &mut column)?;
        let row = items as usize * size;
        for (k, value) in column.chunks_exact(size).enumerate() {
            let at = k * row + item as usize * size;
            rows[at..at + size].copy_from_slice(value);
        }
    }
    Ok(())
}

/// Makes the carray of a `.npy` file at `root`.
///
/// # Errors
/// [`Error`]; what was made is removed then.
pub fn npy_to_carray(
    npy: &Path,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<()> {
    let mut file = NamedFile::open_regular(npy)?;
    let info = read_npy_header(&mut file)?;
    let items = file.stream_position()?;
    let nbytes = info.nbytes()?;
    if file
        .file()
        .metadata()?
        .len()
        .checked_sub(items)
        .is_none_or(|there| there < nbytes)
    {
        return Err(bloscpack::Error::Npy("there are too few items").into());
    }
    let array = create(&info, None, root, target, mode, options)?;
    finish(array, root, options, |array| {
        append_rows(array, &info, |position, dest| {
            let read = file.read_at(items + position, dest);
            match read.map_err(blpk::Error::from)? == dest.len() {
                true => Ok(()),
                false => Err(bloscpack::Error::Npy("there are too few items").into()),
            }
        })
    })
}

/// Fills a new carray and closes it; removes it when that fails.
pub(super) fn finish(
    mut array: Carray,
    root: &Path,
    options: &Options,
    fill: impl FnOnce(&mut Carray) -> Result<()>,
) -> Result<()> {
    let filled = fill(&mut array);
    let filled = filled.and(array.close().map_err(Error::from));
    if filled.is_err() {
        // Why it failed matters more than what is left of it.
        let _ = crate::bcolz::purge(root, options);
    }
    filled
}

/// Writes the carray at `root` into a container. Its chunks are taken as they are; only the rest is compressed anew,
/// should its file hold more rows than there are.
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

/// Writes the carray at `root` into a container whose metadata have these entries besides those of the array.
pub(super) fn carray_to_container(
    root: &Path,
    output: &Path,
    checksum: Checksum,
    extra: &[(String, Value)],
    options: &Options,
) -> Result<()> {
    let mut array = Carray::open(root, Mode::Read, options)?;
    let info = info_of(&array)?;
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
    let mut front = header.encode()?;
    front.extend(section.encode()?);
    writer.write_all(&front)?;
    let mut position = front.len() as u64;
    if has_offsets {
        for _ in 0..entries {
            writer.write_all(&blpk::UNUSED_OFFSET.to_le_bytes())?;
        }
        position += entries * OFFSET_LENGTH;
    }
    let mut offsets = Vec::new();
    let mut chunk = Vec::new();
    for number in 0..entries {
        stored_rows(&mut array, number, &mut chunk)?;
        let digest = checksum.digest(&chunk);
        writer.write_all(&chunk)?;
        writer.write_all(&digest)?;
        offsets.push(position);
        position += (chunk.len() + digest.len()) as u64;
    }
    if has_offsets {
        writer.seek(SeekFrom::Start(front.len() as u64))?;
        for offset in offsets {
            writer.write_all(&offset.to_le_bytes())?;
        }
    }
    writer.flush()?;
    drop(writer);
    Ok(replacement.commit()?)
}

/// The header of the container of an array. No rows make one chunk of nothing.
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

/// A chunk with exactly the rows of an array that are in it.
fn stored_rows(array: &mut Carray, number: u64, chunk: &mut Vec<u8>) -> Result<()> {
    let rows = match array.is_empty() {
        true => Vec::new(),
        false => {
            let rows = array.rows_of(number)?;
            let nbytes = array.stored_chunk(number, chunk)?;
            if nbytes as u64 == (rows.end - rows.start) * array.row_bytes() {
                return Ok(());
            }
            array.read(rows)?
        }
    };
    let params = blosc1::Params {
        call: blosc1::Call {
            clevel: 5,
            shuffle: 1,
            typesize: array.dtype().blosc_typesize().unwrap_or(1).into(),
        },
        compressor: Some(crate::codec::id::LZ4),
        blocksize: 0,
        splitmode: crate::chunk::SplitMode::FORWARD_COMPAT,
        nthreads: 1,
    };
    chunk.resize(rows.len() + HEADER, 0);
    let compressed = Engine::default().compress(&params, &rows, chunk);
    let cbytes = compressed.map_err(bloscpack::Error::Compression)?;
    chunk.truncate(cbytes);
    Ok(())
}

/// Makes the carray of the array in a container at `root`. Chunks of whole rows are taken as they are.
///
/// # Errors
/// [`Error`]; what was made is removed then.
pub fn bloscpack_to_carray(
    input: &Path,
    root: &Path,
    target: &Target,
    mode: Mode,
    options: &Options,
) -> Result<()> {
    bloscpack::check_complete(input)?;
    let file = NamedFile::open_regular(input)?;
    let mut archive = Archive::open(file)?;
    let metadata = archive.metadata().map(Metadata::of).transpose()?;
    let info = ArrayInfo::from_metadata(metadata.as_ref())?;
    let (expected, actual) = (info.nbytes()?, archive.plain_size()?);
    if expected != actual {
        return Err(bloscpack::Error::ArraySize { expected, actual }.into());
    }
    let row_bytes = info.shape.get(1..).unwrap_or_default().iter();
    let row_bytes = row_bytes.product::<u64>() * info.dtype.itemsize();
    let size = archive.header().chunk_size.map_or(0, u64::from);
    let has_whole_rows = row_bytes > 0 && size > 0 && size.is_multiple_of(row_bytes);
    let rows = has_whole_rows.then(|| size / row_bytes);
    let is_alike = !info.fortran_order
        && rows.is_some()
        && target.chunklen.is_none_or(|len| rows == Some(len));
    let array = create(&info, rows, root, target, mode, options)?;
    finish(array, root, options, |array| {
        if is_alike {
            return append_chunks(array, NamedFile::open_regular(input)?);
        }
        append_rows(array, &info, |position, dest| {
            Ok(archive.read_range(position, dest)?)
        })
    })
}

/// Appends the chunks of a container: full ones as they are, the last one by its rows.
fn append_chunks(array: &mut Carray, file: impl Read) -> Result<()> {
    let mut stream = Stream::new(std::io::BufReader::with_capacity(FILE_BUFFER, file), None)?;
    let full = array.chunklen() * array.row_bytes();
    let (mut stored, mut plain) = (Vec::new(), Vec::new());
    let mut engine = Engine::default();
    while let Some(chunk) = stream.next_chunk(&mut stored)? {
        if u64::from(chunk.nbytes) == full {
            chunk.verify(&stored)?;
            array.append_stored(&stored[..chunk.cbytes as usize])?;
        } else {
            chunk.decode(&stored, &mut engine, 1, &mut plain)?;
            array.append(&plain)?;
        }
    }
    Ok(())
}
