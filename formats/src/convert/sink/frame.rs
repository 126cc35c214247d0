//! Writes chunks, super-chunks and b2nd arrays.

use std::io::Read as _;
use std::path::Path;

use super::super::attachments::Attachments;
use super::super::boxes::boxes;
use super::super::detect::Detected;
use super::super::error::{Error, Result};
use super::super::grid::{count_of, grid_of};
use super::super::missing;
use super::super::one_change::OneChange;
use super::super::source::{Reading, Source, StoredChunks, written_chunks};
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

/// A new super-chunk.
struct NewFrame {
    schunk: SChunk,
    chunk_bytes: usize,
    change: OneChange,
}

/// Creates an empty super-chunk for this number of bytes; `None` if it is unknown.
fn create(
    (nbytes, itemsize): (Option<u64>, u64),
    output: &Path,
    directory: bool,
    writing: &Writing,
) -> Result<NewFrame> {
    let params = writing.compression().params(typesize_of(itemsize)?, writing.threads());
    let chunk_bytes = writing.chunk_bytes(itemsize);
    let nchunks = nbytes.map_or(u64::MAX, |nbytes| nbytes / chunk_bytes);
    let change = OneChange::of_stored(nchunks, directory);
    let storage = change.storage(storage(output, directory, writing));
    let mut schunk = SChunk::create(storage, params, DParams::default())?;
    let chunksize = i32::try_from(chunk_bytes).map_err(|_| Error::Layout)?;
    schunk.set_chunksize(chunksize)?;
    Ok(NewFrame { schunk, chunk_bytes: chunk_bytes as usize, change })
}

pub fn write_schunk(
    source: &mut dyn Source,
    output: &Path,
    directory: bool,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let (nbytes, itemsize) = (source.content().nbytes, source.content().typesize);
    let frame = create((Some(nbytes), itemsize), output, directory, writing)?;
    let NewFrame { mut schunk, chunk_bytes, change } = frame;
    for (name, content) in &attachments.metalayers {
        meta::add(schunk.state_mut(), name, content)?;
    }
    change.begin(schunk.state_mut())?;
    for_each_segment(source, chunk_bytes, progress, |segment| {
        schunk.append(segment)?;
        Ok(())
    })?;
    add_vlmetalayers(&mut schunk, attachments)?;
    change.commit(schunk.state_mut())?;
    Ok(schunk.close()?)
}

/// Adds variable-length metalayers: copies those of a frame, otherwise encodes the attributes.
pub fn add_vlmetalayers(schunk: &mut SChunk, attachments: &Attachments) -> Result<()> {
    for (name, content) in &attachments.vlmetalayers {
        meta::vl_add(schunk.state_mut(), name, content, CParams::default())?;
    }
    if !attachments.has_layers() {
        attachments.described().write(schunk)?;
    }
    Ok(())
}

/// Compresses a byte stream, as items of `typesize` bytes, into a new frame. `nbytes` is the size of
/// the stream, if it is known. Returns the number of bytes read.
///
/// # Errors
/// Returns the error of reading or writing; an incomplete frame may be left.
pub fn compress(
    (reader, nbytes): (&mut dyn std::io::Read, Option<u64>),
    typesize: u64,
    (output, directory): (&Path, bool),
    writing: &Writing,
) -> Result<u64> {
    let frame = create((nbytes, typesize), output, directory, writing)?;
    let NewFrame { mut schunk, chunk_bytes, change } = frame;
    change.begin(schunk.state_mut())?;
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
    change.commit(schunk.state_mut())?;
    schunk.close()?;
    Ok(total)
}

/// Returns the chunk shape and the block shape of a new array of this type and shape: those that
/// `writing` requests, contiguous in C order if it requests only sizes, or those of
/// [`Layout::auto`].
///
/// # Errors
/// [`Error::Layout`] for extents of more than 31 bits.
pub fn partitions(info: &ArrayInfo, writing: &Writing) -> Result<(Vec<i32>, Vec<i32>)> {
    let itemsize = info.dtype.itemsize().max(1);
    let has_sizes = writing.chunk_bytes.is_some() || writing.compression().blocksize != 0;
    let chunkshape = match (&writing.chunks, &writing.blocks) {
        (Some(lengths), _) => requested(lengths, &info.shape, false)?,
        (None, None) if !has_sizes => return automatic(info),
        (None, _) => partition(&info.shape, writing.chunk_bytes(itemsize) / itemsize)?,
    };
    let blockshape = match &writing.blocks {
        Some(lengths) => {
            let chunk: Vec<u64> =
                chunkshape.iter().map(|len| u64::from(len.unsigned_abs())).collect();
            requested(lengths, &chunk, true)?
        }
        None => blocks_of(&chunkshape, itemsize, writing.compression().blocksize)?,
    };
    Ok((chunkshape, blockshape))
}

/// Returns the chunk shape and the block shape of [`Layout::auto`].
fn automatic(info: &ArrayInfo) -> Result<(Vec<i32>, Vec<i32>)> {
    let shape: Option<Vec<i64>> = info.shape.iter().map(|&len| i64::try_from(len).ok()).collect();
    let itemsize = i32::try_from(info.dtype.itemsize().max(1)).map_err(|_| Error::Layout)?;
    let geometry = Layout::auto(&shape.ok_or(Error::Layout)?, itemsize)?;
    Ok((geometry.chunkshape().to_vec(), geometry.blockshape().to_vec()))
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
pub(super) fn partition(shape: &[u64], most: u64) -> Result<Vec<i32>> {
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

/// The maximum size in bytes of the items that are read at once if chunks are not contiguous in the
/// source, unless a chunk is larger.
const MAX_SLAB: u64 = 64 << 20;

/// Checks a requested chunk or block shape, which must have the dimensions of `outer`.
fn check_requested(lengths: &[u64], outer: &[u64], of_block: bool) -> Result<()> {
    if lengths.len() != outer.len() {
        return Err(Error::Partition(if of_block {
            "the block shape and the array have different numbers of dimensions"
        } else {
            "the chunk shape and the array have different numbers of dimensions"
        }));
    }
    if lengths.contains(&0) {
        return Err(Error::Partition("lengths of chunks and blocks must be at least 1"));
    }
    if of_block && lengths.iter().zip(outer).any(|(block, chunk)| block > chunk) {
        return Err(Error::Partition("a block must not be longer than a chunk"));
    }
    Ok(())
}

/// Returns a requested chunk or block shape, which must have the dimensions of `outer`.
pub(super) fn requested(lengths: &[u64], outer: &[u64], of_block: bool) -> Result<Vec<i32>> {
    check_requested(lengths, outer, of_block)?;
    lengths.iter().map(|&len| i32::try_from(len).map_err(|_| Error::Layout)).collect()
}

/// Returns the chunk shape of a new array that is not a frame: the requested one, contiguous chunks
/// of the requested size, that of the source, or that of [`Layout::auto`].
#[cfg(any(feature = "hdf5", feature = "zarr"))]
pub(super) fn chunkshape_of(
    source: &dyn Source,
    info: &ArrayInfo,
    writing: &Writing,
) -> Result<Vec<u64>> {
    if let Some(chunks) = &writing.chunks {
        check_requested(chunks, &info.shape, false)?;
        return Ok(chunks.clone());
    }
    if writing.chunk_bytes.is_none()
        && let Some(chunks) = source.chunkshape()
    {
        return Ok(chunks.clone());
    }
    let (chunks, _) = partitions(info, &Writing { blocks: None, ..writing.clone() })?;
    Ok(chunks.into_iter().map(|len| u64::from(len.unsigned_abs())).collect())
}

/// Checks that Blosc supports the size of chunks.
#[cfg(any(feature = "hdf5", feature = "zarr"))]
pub(super) fn check_chunk_size(chunks: &[u64], itemsize: u64) -> Result<()> {
    let bytes = chunks.iter().try_fold(itemsize, |bytes, &len| bytes.checked_mul(len));
    if bytes.is_none_or(|bytes| bytes > ferroblosc::blosc1::MAX_BUFFERSIZE as u64) {
        return Err(Error::Partition("a chunk of Blosc has less than 2 GB"));
    }
    Ok(())
}

/// Whether the items of each chunk are contiguous in C order: a single item in the first
/// dimensions, partial in one, and complete in the dimensions after it.
fn is_contiguous(shape: &[u64], chunk: &[u64]) -> bool {
    let mut rest = chunk.iter().zip(shape).skip_while(|&(&chunk, _)| chunk == 1);
    rest.next();
    rest.all(|(&chunk, &len)| chunk == len.max(1))
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
    let kept = match (source.chunkshape(), &writing.chunks, writing.chunk_bytes) {
        (Some(lengths), None, None) => Some(lengths.clone()),
        _ => writing.chunks.clone(),
    };
    let (chunkshape, blockshape) = partitions(&info, &Writing { chunks: kept, ..writing.clone() })?;
    let chunk: Vec<u64> = chunkshape.iter().map(|len| u64::from(len.unsigned_abs())).collect();
    let shape: Option<Vec<i64>> = info.shape.iter().map(|&len| i64::try_from(len).ok()).collect();
    let shape = shape.ok_or(Error::Layout)?;
    let layout = Layout { shape: &shape, chunkshape: &chunkshape, blockshape: &blockshape };
    let nchunks = count_of(&grid_of(&info.shape, &chunk));
    missing::check_count(nchunks)?;
    // The new array has zeros.
    let stored = source.stored_chunks()?.filter(StoredChunks::is_fill_zero);
    let change = OneChange::of_stored(nchunks, directory && stored.is_none());
    let params = compression.params(typesize_of(itemsize)?, writing.threads());
    let layers = borrowed(&attachments.metalayers);
    let target = change.storage(storage(output, directory, writing));
    let mut array = Array::zeros_with(target, params, &layout, info.dtype.text(), &layers)?;
    change.begin(array.schunk_mut().state_mut())?;
    if let Some(stored) = stored {
        copy_stored(source, &mut array, &info, (&chunk, &stored), progress)?;
    } else if is_contiguous(&info.shape, &chunk) {
        copy_runs(source, &mut array, &info, &chunk, progress)?;
    } else {
        copy_slabs(source, &mut array, &info, &chunk, progress)?;
    }
    change.commit(array.schunk_mut().state_mut())?;
    drop(array);
    let mut schunk = SChunk::open(storage(output, directory, writing), DParams::default())?;
    add_vlmetalayers(&mut schunk, attachments)?;
    Ok(schunk.close()?)
}

/// Copies the chunks with stored items, one chunk at a time.
fn copy_stored(
    source: &mut dyn Source,
    array: &mut Array,
    info: &ArrayInfo,
    (chunk, stored): (&[u64], &StoredChunks),
    progress: Progress<'_>,
) -> Result<()> {
    let (mut buffer, mut left) = (Vec::new(), info.nbytes()?);
    for index in written_chunks(&info.shape, chunk, Some(stored))? {
        let start: Vec<u64> = index.iter().zip(chunk).map(|(at, len)| at * len).collect();
        let ends = start.iter().zip(chunk).zip(&info.shape);
        let stop: Vec<u64> = ends.map(|((start, len), most)| (start + len).min(*most)).collect();
        let lengths = start.iter().zip(&stop).map(|(start, stop)| stop - start);
        let bytes = lengths.fold(info.dtype.itemsize(), u64::saturating_mul);
        resize(&mut buffer, bytes)?;
        source.read_box(&start, &stop, &mut buffer)?;
        array.set_slice(&signed(&start), &signed(&stop), &buffer)?;
        progress(bytes);
        left -= bytes;
    }
    progress(left);
    Ok(())
}

/// Returns an index of an array whose lengths fit.
fn signed(index: &[u64]) -> Vec<i64> {
    index.iter().map(|&index| index as i64).collect()
}

/// Copies all items if chunks are contiguous in C order, one chunk at a time.
fn copy_runs(
    source: &mut dyn Source,
    array: &mut Array,
    info: &ArrayInfo,
    chunk: &[u64],
    progress: Progress<'_>,
) -> Result<()> {
    let itemsize = info.dtype.itemsize();
    let shape = array.shape();
    let nitems = info.nbytes()? / itemsize;
    let mut done = 0;
    let mut buffer = Vec::new();
    while done < nitems {
        let count = run_length(&info.shape, chunk, done);
        resize(&mut buffer, count * itemsize)?;
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
    Ok(())
}

/// Copies all items if chunks are not contiguous in C order: all chunks with the same index in the
/// first dimensions at once, as far as [`MAX_SLAB`] permits.
fn copy_slabs(
    source: &mut dyn Source,
    array: &mut Array,
    info: &ArrayInfo,
    chunk: &[u64],
    progress: Progress<'_>,
) -> Result<()> {
    let itemsize = info.dtype.itemsize();
    if info.nbytes()? == 0 {
        return Ok(());
    }
    // The slab is one chunk long in the first dimensions, and complete in the others.
    let mut slab = chunk.to_vec();
    for dim in (0..slab.len()).rev() {
        let lengths = slab.iter().enumerate();
        let bytes = lengths.fold(itemsize, |bytes, (at, &len)| {
            bytes.saturating_mul(if at == dim { info.shape[at] } else { len })
        });
        if bytes > MAX_SLAB || dim == 0 {
            break;
        }
        slab[dim] = info.shape[dim];
    }
    let mut start = vec![0; slab.len()];
    let mut buffer = Vec::new();
    loop {
        let ends = start.iter().zip(&slab).zip(&info.shape);
        let stop: Vec<u64> = ends.map(|((start, len), most)| (start + len).min(*most)).collect();
        let lengths = start.iter().zip(&stop).map(|(start, stop)| stop - start);
        let bytes = lengths.fold(itemsize, u64::saturating_mul);
        resize(&mut buffer, bytes)?;
        source.read_box(&start, &stop, &mut buffer)?;
        array.set_slice(&signed(&start), &signed(&stop), &buffer)?;
        progress(bytes);
        let mut dim = start.len();
        loop {
            let Some(outer) = dim.checked_sub(1) else {
                return Ok(());
            };
            dim = outer;
            start[dim] += slab[dim];
            if start[dim] < info.shape[dim] {
                break;
            }
            start[dim] = 0;
        }
    }
}

/// Changes the length of a buffer; the allocation may fail.
pub(super) fn resize(buffer: &mut Vec<u8>, bytes: u64) -> Result<()> {
    let len = usize::try_from(bytes).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
    buffer.try_reserve_exact(len.saturating_sub(buffer.len())).map_err(ferroblosc::Error::from)?;
    buffer.resize(len, 0);
    Ok(())
}

/// Returns a buffer of zeros.
#[cfg(any(feature = "hdf5", feature = "zarr"))]
pub fn zero_buffer(bytes: u64) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    resize(&mut buffer, bytes)?;
    Ok(buffer)
}

/// A new b2nd array with the metadata of a source. The caller writes the items.
pub struct NewArray {
    /// The array: zeros at first.
    pub array: Array,
    attachments: Attachments,
    storage: Storage,
    change: OneChange,
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
        let chunk: Vec<u64> = chunkshape.iter().map(|len| u64::from(len.unsigned_abs())).collect();
        let change = OneChange::of_stored(count_of(&grid_of(&info.shape, &chunk)), directory);
        let mut array = Array::zeros_with(
            change.storage(storage.clone()),
            params,
            &layout,
            info.dtype.text(),
            &borrowed(&attachments.metalayers),
        )?;
        change.begin(array.schunk_mut().state_mut())?;
        Ok(NewArray { array, attachments, storage, change })
    }

    /// Writes the variable-length metalayers, or the attributes of other formats, and closes the
    /// array. Returns descriptions of the metadata that an array cannot hold.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn finish(mut self) -> Result<Vec<String>> {
        self.change.commit(self.array.schunk_mut().state_mut())?;
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
    fn contiguous_chunks_are_recognized() {
        for (shape, chunk, expected) in [
            (&[7_u64, 5, 3][..], &[2_u64, 5, 3][..], true),
            (&[7, 5, 3], &[1, 2, 3], true),
            (&[7, 5, 3], &[1, 1, 2], true),
            (&[7, 5, 3], &[2, 4, 3], false),
            (&[7, 5, 3], &[7, 5, 2], false),
            (&[7, 0], &[7, 1], true),
            (&[], &[], true),
            // Longer than the dimension: the padding separates the rows.
            (&[7, 5], &[2, 8], false),
        ] {
            assert_eq!(is_contiguous(shape, chunk), expected, "{shape:?} {chunk:?}");
        }
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
