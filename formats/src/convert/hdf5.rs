//! Converts HDF5 datasets to b2nd arrays and back, with the same chunks.
//!
//! Chunk `i` of the dataset corresponds to chunk `i` of the b2nd array. If the only filter of the
//! dataset is one of Blosc, and the blocks of a chunk are those of the b2nd array, the chunk is
//! copied. Otherwise it is recompressed. Chunks that are not stored become special chunks, which
//! hold only the fill value. As in `zarr.rs`, items outside of the array become zeros.

use std::path::Path;

use super::attachments::Attachments;
use super::b2nd::{block_of, has_blocks_of, narrow};
use super::error::{Error, Result};
use super::grid::{count_of, grid_of, index_of, number_of};
use super::intact::ChunkCheck;
use super::missing::{MissingChunks, check_count};
use super::ndcopy::{Side, copy_box};
use super::one_change::OneChange;
use super::placeholder::check_has_data;
use super::sink::{
    Compression, Destination, Hdf5Filter, Hdf5Sink, Progress, Writing, add_vlmetalayers, storage,
    write_array_chunks, zero_buffer,
};
use super::source::{array_of, describe, is_text, open_hdf5, open_schunk};
use crate::hdf5::{self, Dataset};
use ferroblosc::b2nd::{self, Array, Geometry};
use ferroblosc::chunk::{BasicHeader, DParams, rewrap};
use ferroblosc::schunk::SChunk;

/// The block size in bytes of recompressed chunks.
const BLOCK_BYTES: u64 = 64 << 10;

/// Returns the chunk of Blosc2 in a stored chunk, and its block shape, if it has one.
fn chunk_of(stored: &[u8], filter: i32, chunkshape: &[i32]) -> Option<(Vec<u8>, Option<Vec<i32>>)> {
    match filter {
        hdf5::BLOSC2 => hdf5::chunk_in(stored, chunkshape),
        _ => Some((rewrap::to_blosc2(stored)?, None)),
    }
}

/// Returns a stored chunk, if all filters were applied to it.
fn stored_chunk(dataset: &Dataset, start: &[u64]) -> Result<Option<Vec<u8>>> {
    Ok(dataset.read_chunk(start)?.and_then(|(mask, stored)| (mask == 0).then_some(stored)))
}

/// Writes the dataset at `input` to a b2nd frame. Returns the number of chunks that were copied
/// without recompression, or `None` if its chunks cannot be those of the frame; nothing is written
/// then.
///
/// # Errors
/// Returns the errors of reading and writing; an incomplete output may be left.
pub fn hdf5_to_frame(
    input: &Path,
    (output, directory): (&Path, bool),
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<Option<u64>> {
    let (_file, dataset) = open_hdf5(input)?;
    let is_plain = !is_text(&dataset) && dataset.item().shape.is_empty();
    let Some(chunks) = dataset.chunks().filter(|_| is_plain).map(<[u64]>::to_vec) else {
        return Ok(None);
    };
    let (info, _) = describe(&dataset, true)?;
    let itemsize = info.dtype.itemsize();
    let is_small = chunks.iter().zip(&info.shape).all(|(chunk, len)| chunk <= len);
    if itemsize == 0 || info.shape.is_empty() || info.shape.contains(&0) || !is_small {
        return Ok(None);
    }
    let typesize = i32::try_from(itemsize).map_err(|_| Error::Layout)?;
    let chunkshape: Vec<i32> = narrow(chunks.clone())?;
    let grid = grid_of(&info.shape, &chunks);
    check_count(count_of(&grid))?;
    let start_of = |index: &[u64]| -> Vec<u64> {
        index.iter().zip(&chunks).map(|(at, len)| at * len).collect()
    };
    let filter = match dataset.filters() {
        [filter] if matches!(filter.id, hdf5::BLOSC | hdf5::BLOSC2) => Some(filter.id),
        _ => None,
    };
    let filter = filter.filter(|_| dataset.is_stored_form());
    let stored_numbers = stored_numbers(&dataset, &grid, &chunks)?;
    // The blocks are those of the first stored chunk.
    let mut blocks = None;
    if let Some(filter) = filter {
        for &number in &stored_numbers {
            let Some(stored) = stored_chunk(&dataset, &start_of(&index_of(&grid, number)))? else {
                continue;
            };
            let found = chunk_of(&stored, filter, &chunkshape);
            blocks = found.and_then(|(chunk, shape)| {
                shape.or_else(|| {
                    let blocksize = BasicHeader::parse(&chunk).ok()?.clamped_blocksize();
                    let blocksize = u64::try_from(blocksize).ok()?;
                    narrow(block_of(&chunks, (blocksize / itemsize).max(1))).ok()
                })
            });
            break;
        }
    }
    let blocks = match blocks {
        Some(blocks) => blocks,
        None => narrow(block_of(&chunks, (BLOCK_BYTES / itemsize).max(1)))?,
    };
    let shape: Vec<i64> = narrow(info.shape.clone())?;
    let geometry = Geometry::new(&shape, &chunkshape, &blocks).map_err(|_| Error::Layout)?;
    b2nd::create::check_sizes(&geometry, typesize).map_err(|_| Error::Layout)?;
    // Blocks in another order than the items of a chunk need the functions of arrays.
    let is_linear = geometry.is_linear();
    let chunksize = geometry.chunksize(typesize)?;
    if !is_linear && filter != Some(hdf5::BLOSC2) {
        return Ok(None);
    }
    let compression = attachments.compression.clone().unwrap_or_default();
    let compression = Compression { blocksize: geometry.blocknitems * typesize, ..compression };
    let cparams = compression.params(typesize, writing.threads());
    let nbytes = i32::try_from(chunksize).map_err(|_| Error::Layout)?;
    let fill = dataset.fill_value()?.filter(|fill| fill.iter().any(|&byte| byte != 0));
    let mut gaps = match &fill {
        Some(fill) => MissingChunks::new(&cparams, nbytes, fill),
        None => MissingChunks::new(&cparams, nbytes, &[0]),
    };
    let nchunks = count_of(&grid);
    let change = OneChange::of_missing(nchunks);
    let storage = change.storage(storage(output, directory, writing));
    let mut schunk = SChunk::create(storage, cparams.clone(), DParams::default())?;
    schunk.set_chunksize(nbytes)?;
    let dtype = Some(info.dtype.text().as_bytes());
    let meta = b2nd::meta::serialize(geometry.shape(), &chunkshape, &blocks, dtype, 0)?;
    schunk.add_metalayer(b2nd::meta::NAME, &meta)?;
    change.begin(schunk.state_mut())?;
    let chunk_items = chunks.iter().product::<u64>() * itemsize;
    let origin = vec![0; chunks.len()];
    let mut check = ChunkCheck::new(writing.threads());
    let mut copied = 0;
    // Items outside of the array are zeros, so that a missing chunk at the edge has other items
    // than the fill value.
    let visited: Box<dyn Iterator<Item = u64>> = match fill {
        None => Box::new(stored_numbers.iter().copied()),
        Some(_) => Box::new(0..nchunks),
    };
    let mut next = 0;
    for number in visited {
        gaps.add(number - next);
        progress((number - next).saturating_mul(chunk_items));
        next = number + 1;
        let start = start_of(&index_of(&grid, number));
        let ends = start.iter().zip(&chunks).zip(&info.shape);
        let extent: Vec<u64> = ends.map(|((at, chunk), len)| (len - at).min(*chunk)).collect();
        let is_edge = extent != chunks;
        progress(extent.iter().product::<u64>() * itemsize);
        let is_stored = stored_numbers.binary_search(&number).is_ok();
        if !is_stored && !is_edge && gaps.add(1) {
            continue;
        }
        gaps.flush(&mut schunk)?;
        let stored = match filter {
            Some(_) if is_stored => stored_chunk(&dataset, &start)?,
            _ => None,
        };
        let chunk = stored.zip(filter).and_then(|(stored, filter)| {
            let (chunk, shape) = chunk_of(&stored, filter, &chunkshape)?;
            let is_same = match shape {
                Some(shape) => shape == blocks,
                None => is_linear && has_blocks_of(&chunk, typesize, cparams.blocksize),
            };
            let header = BasicHeader::parse(&chunk).ok().filter(|_| is_same)?;
            let has_typesize = i32::from(header.typesize) == typesize;
            (has_typesize && header.nbytes == nbytes).then_some(chunk)
        });
        let has_zeros = |items: &[u8]| -> bool {
            let mut zeroed = vec![0; items.len()];
            let side = || Side { shape: &chunks, start: &origin };
            copy_box(&extent, itemsize as usize, (&side(), items), (&side(), &mut zeroed));
            zeroed == items
        };
        if let Some(chunk) = chunk
            && (!is_edge && check.is_intact(&chunk)
                || is_edge
                    && decoded(&cparams, &chunk, chunk_items, is_linear)
                        .is_some_and(|items| has_zeros(&items)))
        {
            schunk.append_chunk(&chunk)?;
            copied += 1;
            continue;
        }
        let mut items = zero_buffer(extent.iter().product::<u64>() * itemsize)?;
        dataset.read(&start, &extent, &mut items)?;
        let mut whole = zero_buffer(chunksize as u64)?;
        if is_linear {
            let (from, to) =
                (Side { shape: &extent, start: &origin }, Side { shape: &chunks, start: &origin });
            copy_box(&extent, itemsize as usize, (&from, &items), (&to, &mut whole));
            schunk.append(&whole)?;
        } else {
            let mut inside = zero_buffer(chunk_items)?;
            let (from, to) =
                (Side { shape: &extent, start: &origin }, Side { shape: &chunks, start: &origin });
            copy_box(&extent, itemsize as usize, (&from, &items), (&to, &mut inside));
            let frame = hdf5::frame_of(&inside, cparams.clone(), (&chunkshape, &blocks))?;
            let made = hdf5::chunk_in(&frame, &chunkshape).ok_or(Error::Layout)?;
            schunk.append_chunk(&made.0)?;
        }
    }
    gaps.add(nchunks - next);
    gaps.flush(&mut schunk)?;
    change.commit(schunk.state_mut())?;
    add_vlmetalayers(&mut schunk, attachments)?;
    schunk.close()?;
    Ok(Some(copied))
}

/// Returns the numbers, in C order, of the chunks that are stored: all if this libhdf5 cannot list
/// them.
fn stored_numbers(dataset: &Dataset, grid: &[u64], chunks: &[u64]) -> Result<Vec<u64>> {
    let Some(starts) = dataset.stored_starts()? else {
        return Ok((0..count_of(grid)).collect());
    };
    let index = |start: &[u64]| -> Vec<u64> {
        start.iter().zip(chunks).map(|(at, len)| at / len).collect()
    };
    Ok(starts.iter().map(|start| number_of(grid, &index(start))).collect())
}

/// Returns the items of a chunk in C order, if their order is that of its bytes.
fn decoded(
    params: &ferroblosc::chunk::CParams,
    chunk: &[u8],
    nbytes: u64,
    is_linear: bool,
) -> Option<Vec<u8>> {
    let mut schunk =
        SChunk::create(ferroblosc::schunk::Storage::memory(), params.clone(), DParams::default())
            .ok()?;
    schunk.append_chunk(chunk).ok().filter(|_| is_linear)?;
    let mut items = vec![0; usize::try_from(schunk.nbytes()).ok()?];
    schunk.decompress(0, &mut items).ok()?;
    items.truncate(usize::try_from(nbytes).ok()?);
    Some(items)
}

/// Writes the b2nd array at `input` to a dataset with the same chunks. Returns the number of chunks
/// that were copied without recompression, or `None` if HDF5 does not support the chunks; nothing
/// is written then.
///
/// # Errors
/// Returns the errors of reading and writing; an incomplete output may be left.
pub fn frame_to_hdf5(
    (input, is_directory): (&Path, bool),
    (output, filter): (&Path, Hdf5Filter),
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
    let fits = chunks.iter().zip(&info.shape).all(|(chunk, len)| (1..=*len).contains(chunk));
    let chunk_bytes = chunks.iter().try_fold(itemsize, |bytes, &len| bytes.checked_mul(len));
    let is_small =
        chunk_bytes.is_some_and(|bytes| bytes <= ferroblosc::blosc1::MAX_BUFFERSIZE as u64);
    let is_converted = info.dtype.kind() == crate::numpy::Kind::Unicode;
    if itemsize == 0 || info.shape.is_empty() || !fits || !is_small || is_converted {
        return Ok(None);
    }
    let destination = Destination::Hdf5 { filter: Some(filter) };
    let (compression, lacking) = attachments.compression_for(destination);
    let writing = Writing { compression, ..writing.clone() };
    // Chunks of plugins are not copied: few readers have them.
    let can_copy = lacking.is_none();
    let is_linear = geometry.is_linear()
        && geometry.chunksize(array.schunk().typesize()).ok()
            == chunk_bytes.map(|len| len as usize);
    let (chunkshape, blockshape) = (geometry.chunkshape().to_vec(), geometry.blockshape().to_vec());
    let shapes = Some((chunks, blockshape.clone()));
    let params = (&writing, attachments);
    let mut sink = Hdf5Sink::create(output, Some(filter), &info, shapes, params)?;
    let mut check = ChunkCheck::new(writing.threads());
    let is_ordered = is_linear || filter == Hdf5Filter::Blosc2 && chunkshape.len() > 1;
    let stored = |sink: &Hdf5Sink, chunk: &[u8]| {
        let is_stored = ferroblosc::chunk::ChunkHeader::parse(chunk)
            .is_ok_and(|header| header.special == ferroblosc::chunk::Special::None);
        if !is_stored || !check.is_intact(chunk) {
            return Ok(None);
        }
        match filter {
            Hdf5Filter::Blosc => Ok(rewrap::to_blosc1(chunk)),
            Hdf5Filter::Blosc2 => {
                let shapes = (chunkshape.as_slice(), blockshape.as_slice());
                let frame = hdf5::frame_around(chunk, sink.params().clone(), shapes)?;
                Ok(Some(frame.to_vec()))
            }
        }
    };
    let stored = (can_copy && is_ordered).then_some(stored);
    let copied = write_array_chunks(&array, &mut sink, stored, progress)?;
    sink.finish()?;
    Ok(Some(copied))
}
