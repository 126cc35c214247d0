//! Writing of formats whose arrays are a grid of compressed chunks, one chunk at a time.

use super::super::error::Result;
use super::super::grid::{grid_of, index_of};
use super::super::source::{Source, chunk_error, repeated_item, written_chunks};
use super::frame::resize;
use super::input::Progress;
use crate::numpy::ArrayInfo;
use ferroblosc::b2nd::Array;

/// An array of chunks that is written.
pub trait ChunkSink {
    /// Returns the type and the shape of the array.
    fn info(&self) -> &ArrayInfo;

    /// Returns the shape of a chunk.
    fn chunkshape(&self) -> &[u64];

    /// Whether all items are the fill value: their chunk need not be stored.
    fn is_empty(&self, items: &[u8]) -> bool;

    /// Compresses and writes a chunk. `items` are those in the array.
    ///
    /// # Errors
    /// The errors of compression and of writing.
    fn put(&mut self, index: &[u64], items: &[u8]) -> Result<()>;

    /// Writes a stored chunk unchanged.
    ///
    /// # Errors
    /// The errors of writing.
    fn put_stored(&mut self, index: &[u64], stored: &[u8]) -> Result<()>;

    /// Returns the start and the end of a chunk in the array.
    fn extent(&self, index: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let chunks = self.chunkshape();
        let start: Vec<u64> = index.iter().zip(chunks).map(|(at, len)| at * len).collect();
        let ends = start.iter().zip(chunks).zip(&self.info().shape);
        let stop = ends.map(|((start, len), most)| (start + len).min(*most)).collect();
        (start, stop)
    }
}

/// Writes all items of a source. Chunks of the fill value are not stored.
///
/// # Errors
/// The errors of reading and of [`ChunkSink::put`].
pub fn write_items(
    source: &mut dyn Source,
    sink: &mut impl ChunkSink,
    progress: Progress<'_>,
) -> Result<()> {
    let itemsize = sink.info().dtype.itemsize();
    let stored = source.stored_chunks()?.filter(|stored| sink.is_empty(&stored.fill));
    let indices = written_chunks(&sink.info().shape, sink.chunkshape(), stored.as_ref())?;
    let (mut items, mut left) = (Vec::new(), source.content().nbytes);
    for index in indices {
        let (start, stop) = sink.extent(&index);
        let lengths = start.iter().zip(&stop).map(|(start, stop)| stop - start);
        let bytes = lengths.product::<u64>() * itemsize;
        resize(&mut items, bytes)?;
        source.read_box(&start, &stop, &mut items)?;
        sink.put(&index, &items)?;
        progress(bytes);
        left -= bytes;
    }
    progress(left);
    Ok(())
}

/// Writes all items of an array with the same chunks. `stored` returns the stored form of a chunk if
/// it is copied without recompression; without it no chunk is. Returns the number of copied chunks.
///
/// # Errors
/// The errors of reading and writing, and of `stored`.
pub fn write_array_chunks<S: ChunkSink>(
    array: &Array,
    sink: &mut S,
    mut stored: Option<impl FnMut(&S, &[u8]) -> ferroblosc::Result<Option<Vec<u8>>>>,
    progress: Progress<'_>,
) -> Result<u64> {
    let info = sink.info();
    let (itemsize, nbytes) = (info.dtype.itemsize(), info.nbytes()?);
    let grid = grid_of(&info.shape, sink.chunkshape());
    let (mut copied, mut done) = (0, 0);
    let mut next = 0;
    while next < array.geometry().nchunks() {
        let number = next;
        let with_position = |error| chunk_error(array.schunk(), number, error);
        let item = repeated_item(array.schunk(), number, itemsize).map_err(with_position)?;
        if let Some((_, run)) = item.filter(|(item, _)| sink.is_empty(item)) {
            next += run;
            continue;
        }
        next += 1;
        let index = index_of(&grid, number.unsigned_abs());
        let (start, stop) = sink.extent(&index);
        let lengths = start.iter().zip(&stop).map(|(start, stop)| stop - start);
        let bytes = lengths.product::<u64>() * itemsize;
        progress(bytes);
        done += bytes;
        if let Some(stored) = &mut stored {
            let chunk = array.schunk().chunk(number).map_err(with_position)?;
            if let Some(stored) = stored(sink, &chunk).map_err(with_position)? {
                sink.put_stored(&index, &stored)?;
                copied += 1;
                continue;
            }
        }
        // The extents of an array have 63 bits.
        let [start, stop] =
            [start, stop].map(|at| at.iter().map(|&at| at as i64).collect::<Vec<_>>());
        let items = array.get_slice(&start, &stop).map_err(with_position)?;
        sink.put(&index, &items)?;
    }
    progress(nbytes - done);
    Ok(copied)
}
