//! Writes chunks, super-chunks and b2nd arrays.

use std::io::Read as _;
use std::path::Path;

use super::super::attachments::Attachments;
use super::super::boxes::boxes;
use super::super::detect::Detected;
use super::super::error::{Error, Result};
use super::super::source::{Reading, Source};
use super::input::{Progress, array_in, for_each_segment};
use super::options::{Destination, Writing};
use crate::numpy::ArrayInfo;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams, MAX_BUFFERSIZE};
use ferroblosc::io::named;
use ferroblosc::schunk::{SChunk, Storage, meta};

/// The default block size of an array in bytes.
const BLOCK_BYTES: u64 = 64 << 10;

/// Returns the storage of a new frame.
pub fn storage(output: &Path, directory: bool, writing: &Writing) -> Storage {
    let mut storage = if directory { Storage::directory(output) } else { Storage::file(output) };
    if writing.checksums {
        storage = storage.checksums();
    }
    if writing.durable {
        storage = storage.durable();
    }
    storage
}

/// Returns the item size as the type size of a frame.
fn typesize_of(bytes: u64) -> Result<i32> {
    i32::try_from(bytes.max(1)).map_err(|_| Error::CannotHold("smaller items"))
}

pub fn write_chunk(
    source: &mut dyn Source,
    output: &Path,
    writing: &Writing,
    progress: Progress<'_>,
) -> Result<()> {
    let bytes = read_all(source, MAX_BUFFERSIZE as u64, progress)?;
    let typesize = typesize_of(source.content().typesize)?;
    let params = writing.compression().params(typesize, writing.threads());
    let chunk = Compressor::new(params)?.compress_to_vec(&bytes)?;
    Ok(named::write(output, &chunk)?)
}

/// Reads all bytes of a source of at most `most` bytes.
pub fn read_all(source: &mut dyn Source, most: u64, progress: Progress<'_>) -> Result<Vec<u8>> {
    let nbytes = source.content().nbytes;
    let capacity = usize::try_from(nbytes).ok().filter(|_| nbytes <= most);
    let capacity = capacity.ok_or(Error::CannotHold("two gigabytes at most"))?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(capacity).map_err(ferroblosc::Error::from)?;
    let size = source.content().read_size;
    for_each_segment(source, size, progress, |segment| {
        bytes.extend_from_slice(segment);
        Ok(())
    })?;
    Ok(bytes)
}

/// Creates an empty super-chunk. Returns it with its chunk size in bytes.
fn create(
    itemsize: u64,
    output: &Path,
    directory: bool,
    writing: &Writing,
) -> Result<(SChunk, usize)> {
    let params = writing.compression().params(typesize_of(itemsize)?, writing.threads());
    let storage = storage(output, directory, writing);
    let mut schunk = SChunk::create(storage, params, DParams::default())?;
    let chunk_bytes = writing.chunk_bytes(itemsize);
    let chunksize = i32::try_from(chunk_bytes).map_err(|_| Error::Layout)?;
    schunk.set_chunksize(chunksize)?;
    Ok((schunk, chunk_bytes as usize))
}

pub fn write_schunk(
    source: &mut dyn Source,
    output: &Path,
    directory: bool,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let (mut schunk, chunk_bytes) = create(source.content().typesize, output, directory, writing)?;
    for (name, content) in &attachments.metalayers {
        meta::add(schunk.state_mut(), name, content)?;
    }
    for_each_segment(source, chunk_bytes, progress, |segment| {
        schunk.append(segment)?;
        Ok(())
    })?;
    add_vlmetalayers(&mut schunk, attachments)?;
    Ok(schunk.close()?)
}

/// Adds variable-length metalayers: copies those of a frame, otherwise encodes the attributes.
fn add_vlmetalayers(schunk: &mut SChunk, attachments: &Attachments) -> Result<()> {
    for (name, content) in &attachments.vlmetalayers {
        meta::vl_add(schunk.state_mut(), name, content, CParams::default())?;
    }
    if !attachments.has_layers() {
        attachments.described().write(schunk)?;
    }
    Ok(())
}

/// Compresses a byte stream, as items of `typesize` bytes, into a new frame. Returns the number of
/// bytes read.
///
/// # Errors
/// Returns the error of reading or writing; an incomplete frame may be left.
pub fn compress(
    reader: &mut dyn std::io::Read,
    typesize: u64,
    (output, directory): (&Path, bool),
    writing: &Writing,
) -> Result<u64> {
    let (mut schunk, chunk_bytes) = create(typesize, output, directory, writing)?;
    let mut chunk = Vec::new();
    let mut total = 0;
    loop {
        chunk.clear();
        reader.take(chunk_bytes as u64).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            break;
        }
        schunk.append(&chunk)?;
        total += chunk.len() as u64;
    }
    schunk.close()?;
    Ok(total)
}

/// Returns the chunk shape and the block shape that a new array of this type and shape gets.
///
/// # Errors
/// [`Error::Layout`] for extents of more than 31 bits.
pub fn partitions(info: &ArrayInfo, writing: &Writing) -> Result<(Vec<i32>, Vec<i32>)> {
    let itemsize = info.dtype.itemsize().max(1);
    let chunkshape = partition(&info.shape, writing.chunk_bytes(itemsize) / itemsize)?;
    let blockshape = blocks_of(&chunkshape, itemsize, writing.compression().blocksize)?;
    Ok((chunkshape, blockshape))
}

/// Returns the block shape for chunks of this shape. `requested` is the block size in bytes; 0
/// selects the default.
///
/// # Errors
/// [`Error::Layout`] for extents of more than 31 bits.
pub fn blocks_of(chunkshape: &[i32], itemsize: u64, requested: i32) -> Result<Vec<i32>> {
    let chunk: Vec<u64> = chunkshape.iter().map(|len| u64::from(len.unsigned_abs())).collect();
    let block_bytes = match requested {
        requested @ 1.. => u64::from(requested.unsigned_abs()),
        _ => BLOCK_BYTES,
    };
    partition(&chunk, block_bytes / itemsize.max(1))
}

/// Returns the largest partition of at most `most` items whose items are contiguous in C order:
/// complete in the last dimensions, partial in one, and a single item in the dimensions before it.
fn partition(shape: &[u64], most: u64) -> Result<Vec<i32>> {
    let mut left = most.max(1);
    let mut extents: Vec<i32> = Vec::new();
    for &len in shape.iter().rev() {
        // An empty dimension has partitions of one item.
        let extent = len.clamp(1, left.max(1));
        extents.push(i32::try_from(extent).map_err(|_| Error::Layout)?);
        left = if extent < len { 1 } else { left / extent };
    }
    extents.reverse();
    Ok(extents)
}

pub fn write_array(
    source: &mut dyn Source,
    output: &Path,
    directory: bool,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let info = array_in(source)?;
    let itemsize = info.dtype.itemsize();
    let compression = writing.compression();
    let (chunkshape, blockshape) = partitions(&info, writing)?;
    let chunk: Vec<u64> = chunkshape.iter().map(|len| u64::from(len.unsigned_abs())).collect();
    let shape: Option<Vec<i64>> = info.shape.iter().map(|&len| i64::try_from(len).ok()).collect();
    let shape = shape.ok_or(Error::Layout)?;
    let layout = Layout { shape: &shape, chunkshape: &chunkshape, blockshape: &blockshape };
    let params = compression.params(typesize_of(itemsize)?, writing.threads());
    let layers = borrowed(&attachments.metalayers);
    let target = storage(output, directory, writing);
    let mut array = Array::zeros_with(target, params, &layout, info.dtype.text(), &layers)?;
    let mut done = 0;
    let nitems = info.nbytes()? / itemsize;
    let mut buffer = Vec::new();
    while done < nitems {
        let count = run_length(&info.shape, &chunk, done);
        buffer.resize((count * itemsize) as usize, 0);
        source.read(done * itemsize, &mut buffer)?;
        let mut rest = buffer.as_slice();
        for nd_box in boxes(&shape, done, count) {
            let size: i64 = nd_box.start.iter().zip(&nd_box.stop).map(|(a, b)| b - a).product();
            let (items, others) = rest.split_at((size.unsigned_abs() * itemsize) as usize);
            array.set_slice(&nd_box.start, &nd_box.stop, items)?;
            rest = others;
        }
        done += count;
        progress(count * itemsize);
    }
    drop(array);
    let mut schunk = SChunk::open(storage(output, directory, writing), DParams::default())?;
    add_vlmetalayers(&mut schunk, attachments)?;
    Ok(schunk.close()?)
}

/// A new b2nd array with the metadata of a source. The caller writes the items.
pub struct NewArray {
    /// The array: zeros at first.
    pub array: Array,
    attachments: Attachments,
    storage: Storage,
}

impl NewArray {
    /// Creates the array of this type and shape at `output`, which must not exist, as a directory
    /// if `directory` is true. `input` is the source of the fixed metalayers, and of the
    /// compression parameters unless `writing` has some. `partitions` are the chunk shape and the
    /// block shape, or `None` for those of [`partitions`].
    ///
    /// # Errors
    /// Errors of reading the metadata and of creating the array; an incomplete output may be left.
    pub fn create(
        (input, found): (&Path, &Detected),
        (output, directory): (&Path, bool),
        info: &ArrayInfo,
        shapes: Option<(Vec<i32>, Vec<i32>)>,
        writing: &Writing,
    ) -> Result<NewArray> {
        let attachments = Attachments::of(input, found, &Reading::default())?;
        let (chunkshape, blockshape) = match shapes {
            Some(shapes) => shapes,
            None => partitions(info, writing)?,
        };
        let shape: Option<Vec<i64>> =
            info.shape.iter().map(|&len| i64::try_from(len).ok()).collect();
        let shape = shape.ok_or(Error::Layout)?;
        let layout = Layout { shape: &shape, chunkshape: &chunkshape, blockshape: &blockshape };
        let compression = match &writing.compression {
            Some(compression) => compression.clone(),
            None => {
                let destination = Destination::B2nd { directory };
                attachments.compression_for(destination).0.unwrap_or_default()
            }
        };
        let params = compression.params(typesize_of(info.dtype.itemsize())?, writing.threads());
        let storage = storage(output, directory, writing);
        let array = Array::zeros_with(
            storage.clone(),
            params,
            &layout,
            info.dtype.text(),
            &borrowed(&attachments.metalayers),
        )?;
        Ok(NewArray { array, attachments, storage })
    }

    /// Writes the variable-length metalayers, or the attributes of other formats, and closes the
    /// array. Returns descriptions of the metadata that an array cannot hold.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn finish(self) -> Result<Vec<String>> {
        drop(self.array);
        let mut schunk = SChunk::open(self.storage, DParams::default())?;
        add_vlmetalayers(&mut schunk, &self.attachments)?;
        schunk.close()?;
        Ok(self.attachments.lost_in(Destination::B2nd { directory: false }, true))
    }
}

/// Borrows names and contents of metalayers.
fn borrowed(layers: &[(Vec<u8>, Vec<u8>)]) -> Vec<(&[u8], &[u8])> {
    layers.iter().map(|(name, content)| (name.as_slice(), content.as_slice())).collect()
}

/// Returns the number of items from item `done` to the end of its chunk. Chunks are contiguous in C
/// order.
fn run_length(shape: &[u64], chunk: &[u64], done: u64) -> u64 {
    // The dimension in which chunks are partial. Their extent is 1 in the dimensions before it, and
    // complete in those after it.
    let cut = chunk.iter().position(|&len| len > 1);
    let Some(cut) = cut else {
        return 1;
    };
    let inner: u64 = shape[cut + 1..].iter().product();
    let row = done / inner % shape[cut];
    let rows = chunk[cut] - row % chunk[cut];
    rows.min(shape[cut] - row) * inner - done % inner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_contiguous() {
        assert_eq!(partition(&[100, 100], 1000).unwrap(), [10, 100]);
        assert_eq!(partition(&[100, 100], 50).unwrap(), [1, 50]);
        assert_eq!(partition(&[7, 2, 3], 1 << 20).unwrap(), [7, 2, 3]);
        assert_eq!(partition(&[5, 0, 3], 6).unwrap(), [2, 1, 3]);
        assert_eq!(partition(&[], 6).unwrap(), []);
        assert_eq!(partition(&[10], 0).unwrap(), [1]);
    }

    #[test]
    fn runs_end_at_chunk_boundaries() {
        for (shape, most) in [(&[7_u64, 5, 3][..], 10), (&[7, 5, 3], 2), (&[4, 9], 30), (&[11], 4)]
        {
            let chunk = partition(shape, most).unwrap();
            let chunk: Vec<u64> = chunk.iter().map(|&len| len as u64).collect();
            let (total, mut done, mut runs) = (shape.iter().product::<u64>(), 0, 0);
            while done < total {
                done += run_length(shape, &chunk, done);
                runs += 1;
            }
            let chunks: u64 =
                shape.iter().zip(&chunk).map(|(len, part)| len.div_ceil(*part)).product();
            assert_eq!((done, runs), (total, chunks), "{shape:?} {chunk:?}");
        }
    }
}
