//! Converts Zarr arrays to b2nd arrays and back, with the same chunks.
//!
//! Chunk `i` of the Zarr array corresponds to chunk `i` of the b2nd array. If a chunk of the Zarr
//! array is one of Blosc, its items are in C order, and its block size is that of the b2nd array,
//! only its header is rewritten. Otherwise it is recompressed. Missing chunks become special
//! chunks, which hold only the fill value. Items outside of the array are zeros in b2nd: a chunk at
//! the edge with others is recompressed, since they would become items of the array if it is
//! resized.

use std::path::Path;

use super::attachments::Attachments;
use super::b2nd::{block_of, has_blocks_of, narrow};
use super::error::{Error, Result};
use super::intact::ChunkCheck;
use super::missing::MissingChunks;
use super::ndcopy::{Side, copy_box};
use super::one_change::OneChange;
use super::placeholder::check_has_data;
use super::sink::{
    Compression, Destination, Progress, Writing, ZarrSink, add_vlmetalayers, storage,
    write_array_chunks, zero_buffer,
};
use super::source::{array_of, open_schunk, open_zarr};
use crate::zarr::Version;
use ferroblosc::b2nd::{self, Array, Geometry};
use ferroblosc::chunk::{BasicHeader, DParams, rewrap};
use ferroblosc::schunk::SChunk;

/// The block size in bytes of recompressed chunks.
const BLOCK_BYTES: u64 = 64 << 10;

/// Writes the Zarr array at `input` to a b2nd frame. Returns the number of chunks that were copied
/// without recompression.
///
/// # Errors
/// Returns the errors of reading and writing; an incomplete output may be left.
pub fn zarr_to_frame(
    input: &Path,
    (output, directory): (&Path, bool),
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<u64> {
    let mut source = open_zarr(input)?;
    let metadata = source.metadata().clone();
    let itemsize = metadata.dtype.itemsize();
    let typesize = i32::try_from(itemsize).map_err(|_| Error::Layout)?;
    let is_blosc = metadata.pipeline.is_blosc();
    let mut block_bytes = BLOCK_BYTES;
    if is_blosc {
        for number in 0..source.nchunks() {
            let index = source.chunk_index(number);
            if let Some(stored) = source.stored_chunk(&index)? {
                let header = BasicHeader::parse(&stored).ok();
                let blocksize = header.map(|header| u64::try_from(header.clamped_blocksize()));
                block_bytes = blocksize.and_then(std::result::Result::ok).unwrap_or(BLOCK_BYTES);
                break;
            }
        }
    }
    let blocks = block_of(&metadata.chunks, (block_bytes / itemsize).max(1));
    let (shape, chunks) = (narrow(metadata.shape.clone())?, narrow(metadata.chunks.clone())?);
    let geometry = Geometry::new(&shape, &chunks, &narrow(blocks)?).map_err(|_| Error::Layout)?;
    b2nd::create::check_sizes(&geometry, typesize).map_err(|_| Error::Layout)?;
    let chunksize = geometry.chunksize(typesize)?;
    let compression = attachments.compression.clone().unwrap_or_default();
    let compression = Compression { blocksize: geometry.blocknitems * typesize, ..compression };
    let cparams = compression.params(typesize, writing.threads());
    let blocksize = cparams.blocksize;
    let nbytes = i32::try_from(chunksize).map_err(|_| Error::Layout)?;
    let nchunks = source.nchunks();
    let change = OneChange::of_missing(nchunks);
    let storage = change.storage(storage(output, directory, writing));
    let mut schunk = SChunk::create(storage, cparams.clone(), DParams::default())?;
    schunk.set_chunksize(nbytes)?;
    let meta = b2nd::meta::serialize(
        geometry.shape(),
        geometry.chunkshape(),
        geometry.blockshape(),
        Some(metadata.dtype.text().as_bytes()),
        0,
    )?;
    schunk.add_metalayer(b2nd::meta::NAME, &meta)?;
    change.begin(schunk.state_mut())?;
    let origin = vec![0; metadata.shape.len()];
    let mut gaps = MissingChunks::new(&cparams, nbytes, &metadata.fill);
    let mut check = ChunkCheck::new(writing.threads());
    let mut copied = 0;
    for number in 0..nchunks {
        let index = source.chunk_index(number);
        let ends = index.iter().zip(&metadata.chunks).zip(&metadata.shape);
        let extent: Vec<u64> =
            ends.map(|((at, chunk), len)| (*len - at * chunk).min(*chunk)).collect();
        let is_edge = extent != metadata.chunks;
        let zero_outside = |items: &[u8]| -> Result<Vec<u8>> {
            let mut zeroed = zero_buffer(items.len() as u64)?;
            let side = || Side { shape: &metadata.chunks, start: &origin };
            copy_box(&extent, itemsize as usize, (&side(), items), (&side(), &mut zeroed));
            Ok(zeroed)
        };
        let Some(stored) = source.stored_chunk(&index)? else {
            if is_edge && !source.is_fill_zero() {
                gaps.flush(&mut schunk)?;
                let mut items = zero_buffer(chunksize as u64)?;
                source.fill(&mut items);
                schunk.append(&zero_outside(&items)?)?;
                progress(chunksize as u64);
                continue;
            }
            if !gaps.add(1) {
                let mut items = zero_buffer(chunksize as u64)?;
                source.fill(&mut items);
                schunk.append(&items)?;
            }
            progress(chunksize as u64);
            continue;
        };
        gaps.flush(&mut schunk)?;
        let mut items = None;
        if is_edge {
            let decoded = source.decode(&index, stored.clone())?;
            let zeroed = zero_outside(&decoded)?;
            items = Some(zeroed).filter(|zeroed| *zeroed != decoded);
        }
        // The padding of blocks at the end of the chunk is not part of the stored one.
        if is_blosc
            && items.is_none()
            && source.chunk_bytes() == chunksize
            && BasicHeader::parse(&stored).is_ok_and(|header| header.nbytes == nbytes)
            && has_blocks_of(&stored, typesize, blocksize)
            && let Some(chunk) = rewrap::to_blosc2(&stored)
            && (is_edge || check.is_intact(&chunk))
        {
            schunk.append_chunk(&chunk)?;
            copied += 1;
        } else {
            let mut items = match items {
                Some(items) => items,
                None => source.decode(&index, stored)?,
            };
            items.try_reserve_exact(chunksize - items.len()).map_err(ferroblosc::Error::from)?;
            items.resize(chunksize, 0);
            schunk.append(&items)?;
        }
        progress(chunksize as u64);
    }
    gaps.flush(&mut schunk)?;
    change.commit(schunk.state_mut())?;
    add_vlmetalayers(&mut schunk, attachments)?;
    schunk.close()?;
    Ok(copied)
}

/// Writes the b2nd array at `input` to a Zarr array with the same chunks. Returns the number of
/// chunks that were copied without recompression, or `None` if the format does not support the
/// chunks; nothing is written then.
///
/// # Errors
/// Returns the errors of reading and writing; an incomplete output may be left.
pub fn frame_to_zarr(
    (input, is_directory): (&Path, bool),
    (output, version, is_zip): (&Path, Version, bool),
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<Option<u64>> {
    let array = Array::from_schunk(open_schunk(input, is_directory, writing.threads())?)?;
    check_has_data(array.schunk().state())?;
    let info = array_of(&array)?;
    let itemsize = info.dtype.itemsize();
    let geometry = array.geometry();
    let chunks: Vec<u64> =
        geometry.chunkshape().iter().map(|&len| u64::from(len.unsigned_abs())).collect();
    let chunk_bytes = chunks.iter().try_fold(itemsize, |bytes, &len| bytes.checked_mul(len));
    let is_small =
        chunk_bytes.is_some_and(|bytes| bytes <= ferroblosc::blosc1::MAX_BUFFERSIZE as u64);
    if itemsize == 0 || !is_small || chunks.contains(&0) {
        return Ok(None);
    }
    let destination = Destination::Zarr { version, is_zip };
    let writing =
        Writing { compression: attachments.compression_for(destination).0, ..writing.clone() };
    // Items outside of the array are zeros in b2nd chunks; readers of Zarr ignore them.
    let is_linear = geometry.is_linear()
        && geometry.chunksize(array.schunk().typesize()).ok()
            == chunk_bytes.map(|len| len as usize);
    let mut sink =
        ZarrSink::create(output, (version, is_zip), &info, chunks, (&writing, attachments))?;
    let mut check = ChunkCheck::new(writing.threads());
    let stored = |_: &ZarrSink, chunk: &[u8]| {
        let rewrapped = rewrap::to_blosc1(chunk).filter(|chunk| holds(chunk, chunk_bytes));
        Ok(rewrapped.filter(|chunk| check.is_intact(chunk)))
    };
    let stored = is_linear.then_some(stored);
    let copied = write_array_chunks(&array, &mut sink, stored, progress)?;
    sink.finish()?;
    Ok(Some(copied))
}

/// Whether the uncompressed size of a chunk is `nbytes`.
fn holds(chunk: &[u8], nbytes: Option<u64>) -> bool {
    BasicHeader::parse(chunk).is_ok_and(|header| u64::try_from(header.nbytes).ok() == nbytes)
}
