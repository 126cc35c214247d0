//! A validated slice request, split along chunks and blocks.
//!
//! ```text
//! slice ── chunk_boxes() ──> one box per chunk ── block_boxes() ──> one box per block
//! ```
//! Each box has a start in its chunk or block, extents, and a start in the caller's buffer.

use super::MAX_DIM;
use super::copy::{BoxCopy, Side};
use super::geometry::Geometry;
use crate::chunk::{ChunkHeader, Special};
use crate::{Error, Result};

/// One number per dimension.
pub(super) type Numbers = [usize; MAX_DIM];

/// The sizes that all chunks of an array have, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkSizes {
    /// The size of a chunk.
    pub(super) chunksize: usize,
    /// The size of a block.
    pub(super) blocksize: usize,
}

impl ChunkSizes {
    /// Checks that a chunk can be read as a chunk of the array.
    ///
    /// # Errors
    /// [`Error::Failure`], with the difference, for other sizes.
    pub(super) fn check(self, header: &ChunkHeader) -> Result<()> {
        let ChunkSizes { chunksize, blocksize } = self;
        let text = if header.nbytes != chunksize {
            format!("the chunk has {} bytes, and chunks of the array {chunksize}", header.nbytes)
        } else if header.vl_blocks {
            "the blocks of the chunk have individual lengths".to_owned()
        } else if header.special == Special::None && header.blocksize() != blocksize {
            let found = header.blocksize();
            format!(
                "the blocks of the chunk have {found} bytes, and those of the array {blocksize}"
            )
        } else {
            return Ok(());
        };
        Err(Error::Failure.because(text))
    }
}

/// A slice of an array, and the caller's buffer.
#[derive(Clone, Debug)]
pub struct SliceRequest {
    pub(super) geometry: Geometry,
    pub(super) typesize: usize,
    pub(super) chunksize: usize,
    pub(super) blocksize: usize,
    pub(super) is_linear: bool,
    start: [i64; MAX_DIM],
    /// The end of the slice, clipped to the array, exclusive.
    end: [i64; MAX_DIM],
    /// Shape of the buffer.
    shape: Numbers,
    extchunk: Numbers,
    block: Numbers,
    extent_bytes: usize,
    is_exact: bool,
}

/// The box of a slice within one chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkBox {
    pub nchunk: i64,
    /// Start in the chunk.
    pub from: Numbers,
    pub extents: Numbers,
    /// Start in the buffer.
    pub at: Numbers,
    /// Whether the box covers all items of the chunk that belong to the array.
    pub is_all: bool,
}

/// The box of a slice within one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockBox {
    pub nblock: usize,
    /// Start in the block.
    from: Numbers,
    extents: Numbers,
    at: Numbers,
}

/// Checks that a slice has no items outside the array. Empty slices may start anywhere.
///
/// # Errors
/// [`Error::InvalidParam`].
pub fn check_inside(geometry: &Geometry, start: &[i64], stop: &[i64]) -> Result<()> {
    let is_empty = start.iter().zip(stop).any(|(start, stop)| start == stop);
    let is_inside = (geometry.shape().iter())
        .zip(start.iter().zip(stop))
        .all(|(&extent, (&start, &stop))| start >= 0 && stop <= extent);
    if is_empty || is_inside { Ok(()) } else { Err(outside(geometry, start, stop)) }
}

/// Returns the error for the first range that is not inside the array.
#[cold]
fn outside(geometry: &Geometry, start: &[i64], stop: &[i64]) -> Error {
    let ranges = start.iter().zip(stop).zip(geometry.shape());
    for (axis, ((&start, &stop), &len)) in ranges.enumerate() {
        if start > stop {
            let text = format!("the range {start}..{stop} of axis {axis} ends before its start");
            return Error::InvalidParam.because(text);
        }
        if start < 0 || stop > len {
            return Error::InvalidParam.because(format!(
                "the range {start}..{stop} of axis {axis} is outside its length {len}"
            ));
        }
    }
    Error::InvalidParam
}

impl SliceRequest {
    /// Builds a request for the items from `start` to before `stop`, at the origin of a buffer of
    /// `shape` and `size` bytes. `stop` may exceed the array. All arguments have one entry per
    /// dimension.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for an invalid slice, and for a buffer that is too small.
    pub fn new(
        geometry: &Geometry,
        typesize: usize,
        start: &[i64],
        stop: &[i64],
        shape: &[i64],
        size: i64,
    ) -> Result<SliceRequest> {
        let ndim = geometry.ndim;
        if [start.len(), stop.len(), shape.len()] != [ndim; 3] {
            return Err(Error::InvalidParam.because(format!(
                "the slice has {} starts and {} stops, but the array has {ndim} dimensions",
                start.len(),
                stop.len()
            )));
        }
        // An empty slice needs no buffer, however large its other extents are.
        let is_empty = start.iter().zip(stop).any(|(start, stop)| start == stop);
        let mut wanted = i64::try_from(typesize).map_err(|_| Error::InvalidParam)?;
        for dim in 0..ndim {
            let extent = stop[dim].checked_sub(start[dim]);
            let extent = extent.filter(|&extent| extent >= 0 && extent <= shape[dim]);
            let extent = extent.filter(|_| start[dim] >= 0);
            let extent = extent.ok_or_else(|| outside(geometry, start, stop))?;
            if !is_empty {
                wanted = wanted.checked_mul(extent).ok_or(Error::InvalidParam)?;
            }
        }
        if is_empty {
            wanted = 0;
        }
        let chunksize = geometry.chunksize(typesize as i32)?;
        if size < wanted {
            let text = format!("the buffer has {size} bytes, but {wanted} are needed");
            return Err(Error::InvalidParam.because(text));
        }
        let mut request = SliceRequest {
            geometry: *geometry,
            typesize,
            chunksize,
            blocksize: geometry.blocknitems.max(0) as usize * typesize,
            is_linear: geometry.is_linear(),
            start: [0; MAX_DIM],
            end: [0; MAX_DIM],
            shape: [1; MAX_DIM],
            extchunk: [1; MAX_DIM],
            block: [1; MAX_DIM],
            extent_bytes: 0,
            is_exact: false,
        };
        let mut extents = [1; MAX_DIM];
        for dim in 0..ndim {
            let counted = |number: i64| match usize::try_from(number) {
                Err(_) if is_empty => Ok(usize::MAX),
                result => result.map_err(|_| Error::InvalidParam),
            };
            request.start[dim] = start[dim];
            request.end[dim] = stop[dim].min(geometry.shape[dim]).max(start[dim]);
            request.shape[dim] = counted(shape[dim])?;
            request.extchunk[dim] = counted(geometry.extchunkshape[dim])?;
            request.block[dim] = counted(i64::from(geometry.blockshape[dim]))?;
            extents[dim] = counted(request.end[dim] - start[dim])?;
        }
        let side = Side { shape: &request.shape[..ndim], start: &[0; MAX_DIM][..ndim] };
        let whole =
            BoxCopy::new(typesize, &extents[..ndim], side, side).ok_or(Error::InvalidParam)?;
        request.extent_bytes = whole.dst_extent();
        // Gaps between items count for the extent in bytes, but not for the number of items.
        request.is_exact = whole.as_run().is_some_and(|(_, _, run)| run as i64 == wanted);
        Ok(request)
    }

    /// Returns the extent of the slice in the buffer, in bytes from its start.
    pub fn extent_bytes(&self) -> usize {
        self.extent_bytes
    }

    /// Whether items cover each of the first `size` bytes of the buffer.
    pub fn fills(&self, size: usize) -> bool {
        self.is_exact && self.extent_bytes == size
    }

    /// Parses the header of a chunk, which must have the chunk and block sizes of the array.
    ///
    /// # Errors
    /// The errors of [`ChunkSizes::check`] and of parsing.
    pub(super) fn parse_header(&self, chunk: &[u8]) -> Result<ChunkHeader> {
        let header = ChunkHeader::parse(chunk)?;
        ChunkSizes { chunksize: self.chunksize, blocksize: self.blocksize }.check(&header)?;
        Ok(header)
    }

    /// Returns the number of blocks in a chunk.
    pub(super) fn nblocks(&self) -> usize {
        self.chunksize.checked_div(self.blocksize).unwrap_or(0)
    }

    fn ndim(&self) -> usize {
        self.geometry.ndim
    }

    /// Returns the number of chunks that the slice touches.
    pub(super) fn count(&self) -> usize {
        (0..self.ndim())
            .map(|dim| {
                let (first, last) = self.chunks_of(dim);
                usize::try_from(last - first).unwrap_or(usize::MAX)
            })
            .fold(1, usize::saturating_mul)
    }

    /// Returns the range of touched chunks along a dimension, with an exclusive end.
    fn chunks_of(&self, dim: usize) -> (i64, i64) {
        let chunk = i64::from(self.geometry.chunkshape[dim]);
        if self.end[dim] > self.start[dim] {
            (self.start[dim] / chunk, (self.end[dim] - 1) / chunk + 1)
        } else {
            (0, 0)
        }
    }

    /// Iterates over the boxes of the chunks, in chunk order.
    pub(super) fn chunk_boxes(&self) -> impl Iterator<Item = ChunkBox> + Send + '_ {
        let ndim = self.ndim();
        let strides = self.geometry.chunk_strides();
        let ranges: [(i64, i64); MAX_DIM] =
            std::array::from_fn(|dim| if dim < ndim { self.chunks_of(dim) } else { (0, 1) });
        let mut is_there = ranges.iter().all(|(first, end)| first != end);
        let mut at = ranges.map(|(first, _)| first);
        std::iter::from_fn(move || {
            let chunk_box = is_there.then(|| self.chunk_box(&at, &strides))?;
            is_there = advance(&mut at, ndim, |dim| ranges[dim]);
            Some(chunk_box)
        })
    }

    fn chunk_box(&self, at: &[i64; MAX_DIM], strides: &[i64; MAX_DIM]) -> ChunkBox {
        let mut chunk_box = ChunkBox {
            nchunk: 0,
            from: [0; MAX_DIM],
            extents: [1; MAX_DIM],
            at: [0; MAX_DIM],
            is_all: true,
        };
        for dim in 0..self.ndim() {
            let chunk = i64::from(self.geometry.chunkshape[dim]);
            let origin = at[dim] * chunk;
            let limit = (origin.saturating_add(chunk)).min(self.geometry.shape[dim]);
            let first = self.start[dim].max(origin);
            let last = self.end[dim].min(limit);
            chunk_box.nchunk += at[dim] * strides[dim];
            // In bounds: the position is inside a chunk or the buffer, whose extents fit in
            // `usize`.
            chunk_box.from[dim] = (first - origin) as usize;
            chunk_box.extents[dim] = (last - first) as usize;
            chunk_box.at[dim] = (first - self.start[dim]) as usize;
            chunk_box.is_all &= first == origin && last == limit;
        }
        chunk_box
    }

    /// Whether the box covers the whole chunk, padding included.
    pub(super) fn fills_chunk(&self, chunk_box: &ChunkBox) -> bool {
        chunk_box.extents[..self.ndim()] == self.extchunk[..self.ndim()]
    }

    /// Returns the number of blocks that a box touches.
    pub(super) fn count_block_boxes(&self, chunk_box: &ChunkBox) -> usize {
        (0..self.ndim())
            .map(|dim| self.blocks_of(chunk_box, dim))
            .map(|(first, end)| end - first)
            .product()
    }

    fn blocks_of(&self, chunk_box: &ChunkBox, dim: usize) -> (usize, usize) {
        let block = self.block[dim];
        let last = chunk_box.from[dim] + chunk_box.extents[dim] - 1;
        (chunk_box.from[dim] / block, last / block + 1)
    }

    /// Iterates over the boxes of the blocks.
    pub(super) fn block_boxes<'a>(
        &'a self,
        chunk_box: &'a ChunkBox,
    ) -> impl Iterator<Item = BlockBox> + 'a {
        let ndim = self.ndim();
        let strides = self.geometry.block_strides();
        let ranges: [(usize, usize); MAX_DIM] =
            std::array::from_fn(
                |dim| {
                    if dim < ndim { self.blocks_of(chunk_box, dim) } else { (0, 1) }
                },
            );
        let mut is_there = true;
        let mut at = ranges.map(|(first, _)| first);
        std::iter::from_fn(move || {
            if !is_there {
                return None;
            }
            let mut block_box =
                BlockBox { nblock: 0, from: [0; MAX_DIM], extents: [1; MAX_DIM], at: chunk_box.at };
            for dim in 0..ndim {
                let origin = at[dim] * self.block[dim];
                let first = chunk_box.from[dim].max(origin);
                let last =
                    (chunk_box.from[dim] + chunk_box.extents[dim]).min(origin + self.block[dim]);
                block_box.nblock += at[dim] * strides[dim] as usize;
                block_box.from[dim] = first - origin;
                block_box.extents[dim] = last - first;
                block_box.at[dim] += first - chunk_box.from[dim];
            }
            is_there = advance(&mut at, ndim, |dim| ranges[dim]);
            Some(block_box)
        })
    }

    fn buffer_side<'a>(&'a self, at: &'a Numbers) -> Side<'a> {
        Side { shape: &self.shape[..self.ndim()], start: &at[..self.ndim()] }
    }

    /// Plans a copy between a chunk in row-major order and the buffer.
    pub(super) fn linear_copy(&self, chunk_box: &ChunkBox, direction: Direction) -> BoxCopy {
        let chunk =
            Side { shape: &self.extchunk[..self.ndim()], start: &chunk_box.from[..self.ndim()] };
        direction.copy(self, &chunk_box.extents, chunk, self.buffer_side(&chunk_box.at))
    }

    /// Plans a copy between a block and the buffer.
    pub(super) fn block_copy(&self, block_box: &BlockBox, direction: Direction) -> BoxCopy {
        let block =
            Side { shape: &self.block[..self.ndim()], start: &block_box.from[..self.ndim()] };
        direction.copy(self, &block_box.extents, block, self.buffer_side(&block_box.at))
    }
}

/// Returns the indices of the chunks that a slice touches, ascending. An empty slice inside a chunk
/// includes that chunk, unless it starts after the last item.
///
/// # Errors
/// [`Error::InvalidParam`] for a negative start, [`Error::MemoryAlloc`].
pub fn slice_chunks(geometry: &Geometry, start: &[i64], stop: &[i64]) -> Result<Vec<i64>> {
    let mut numbers = Vec::new();
    let ndim = geometry.ndim;
    let mut ranges = [(0, 1); MAX_DIM];
    if geometry.nitems == 0 {
        return Ok(numbers);
    }
    for dim in 0..ndim {
        let (start, stop) = (start[dim], stop[dim].max(0));
        let chunk = i64::from(geometry.chunkshape[dim]);
        if start < 0 {
            return Err(Error::InvalidParam);
        }
        let end = stop / chunk + i64::from(stop % chunk != 0);
        ranges[dim] = (start / chunk, end.min(geometry.chunks_along(dim)));
        // The last chunk may extend beyond the items.
        if ranges[dim].0 >= ranges[dim].1 || start >= geometry.shape[dim] {
            return Ok(numbers);
        }
    }
    let count = ranges[..ndim].iter().try_fold(1usize, |count, (first, end)| {
        count.checked_mul(usize::try_from(end - first).ok()?)
    });
    numbers.try_reserve_exact(count.ok_or(Error::MemoryAlloc)?)?;
    let strides = geometry.chunk_strides();
    let mut at = ranges.map(|(first, _)| first);
    loop {
        numbers.push((0..ndim).map(|dim| at[dim] * strides[dim]).sum());
        if !advance(&mut at, ndim, |dim| ranges[dim]) {
            return Ok(numbers);
        }
    }
}

/// The direction of a copy.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    ToBuffer,
    FromBuffer,
}

impl Direction {
    fn copy(
        self,
        request: &SliceRequest,
        extents: &Numbers,
        inside: Side<'_>,
        buffer: Side<'_>,
    ) -> BoxCopy {
        let (src, dst) = match self {
            Direction::ToBuffer => (inside, buffer),
            Direction::FromBuffer => (buffer, inside),
        };
        let extents = &extents[..request.ndim()];
        // Cannot overflow: each box is within the validated request and within a chunk.
        BoxCopy::new(request.typesize, extents, src, dst).expect("within a validated request")
    }
}

/// The integer type of an index.
pub(super) trait Step: Copy + PartialEq {
    fn next(self) -> Self;
}

impl Step for i64 {
    fn next(self) -> i64 {
        self + 1
    }
}

impl Step for usize {
    fn next(self) -> usize {
        self + 1
    }
}

/// Advances an index in row-major order within ranges. After the last index it wraps to the first
/// and returns false.
pub(super) fn advance<T: Step>(
    at: &mut [T; MAX_DIM],
    ndim: usize,
    range: impl Fn(usize) -> (T, T),
) -> bool {
    for dim in (0..ndim).rev() {
        let (first, end) = range(dim);
        at[dim] = at[dim].next();
        if at[dim] != end {
            return true;
        }
        at[dim] = first;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_slice_needs_no_buffer() {
        let geometry = Geometry::new(&[4, 4, 4], &[2, 2, 2], &[1, 1, 1]).unwrap();
        let large = 1 << 40;
        for empty in 0..3 {
            let mut stop = [large; 3];
            stop[empty] = 0;
            let request = SliceRequest::new(&geometry, 4, &[0; 3], &stop, &[large; 3], 0);
            assert_eq!(request.unwrap().count(), 0, "{stop:?}");
        }
        let stop = [large; 3];
        assert!(SliceRequest::new(&geometry, 4, &[0; 3], &stop, &[large; 3], i64::MAX).is_err());
    }

    /// The position of an item: chunk, block in the chunk, offset in the block.
    type Position = (i64, usize, usize);

    /// Returns the position of an item of a two-dimensional array, by the definition of the format.
    fn position(geometry: &Geometry, item: [i64; 2]) -> Position {
        let (mut nchunk, mut nblock, mut offset) = (0, 0, 0);
        for (dim, &index) in item.iter().enumerate() {
            let (chunk, block) = (geometry.chunkshape[dim], geometry.blockshape[dim]);
            let inside = index % i64::from(chunk);
            let chunks = (geometry.shape[dim] as usize).div_ceil(chunk as usize);
            let blocks = (chunk as usize).div_ceil(block as usize);
            nchunk = nchunk * chunks as i64 + index / i64::from(chunk);
            nblock = nblock * blocks + inside as usize / block as usize;
            offset = offset * block as usize + inside as usize % block as usize;
        }
        (nchunk, nblock, offset)
    }

    /// Checks the boxes of a slice: they contain the position of each of its items once.
    fn check_slice(geometry: &Geometry, start: [i64; 2], stop: [i64; 2]) {
        let case = format!("{geometry:?} {start:?} {stop:?}");
        let extent = [stop[0] - start[0], stop[1] - start[1]];
        let size = extent[0] * extent[1];
        let request = SliceRequest::new(geometry, 1, &start, &stop, &extent, size).expect(&case);
        // For each item of the buffer, its position.
        let mut found = vec![None; size as usize];
        let mut chunks = Vec::new();
        for chunk_box in request.chunk_boxes() {
            let mut blocks = 0;
            let mut items = 0;
            for block_box in request.block_boxes(&chunk_box) {
                blocks += 1;
                for y in 0..block_box.extents[0] {
                    for x in 0..block_box.extents[1] {
                        let at = (block_box.at[0] + y) * extent[1] as usize + block_box.at[1] + x;
                        let offset = (block_box.from[0] + y) * geometry.blockshape[1] as usize
                            + block_box.from[1]
                            + x;
                        let position = (chunk_box.nchunk, block_box.nblock, offset);
                        assert_eq!(found[at].replace(position), None, "{case}");
                        items += 1;
                    }
                }
            }
            assert_eq!(blocks, request.count_block_boxes(&chunk_box), "{case}");
            assert_eq!(items, chunk_box.extents[0] * chunk_box.extents[1], "{case}");
            chunks.push((
                chunk_box.nchunk,
                items,
                chunk_box.is_all,
                request.fills_chunk(&chunk_box),
            ));
        }
        assert_eq!(chunks.len(), request.count(), "{case}");
        assert!(chunks.is_sorted_by(|a, b| a.0 < b.0), "{case}");
        for (at, position_found) in found.iter().enumerate() {
            let item = [start[0] + at as i64 / extent[1], start[1] + at as i64 % extent[1]];
            let is_inside = (0..2).all(|dim| item[dim] < geometry.shape[dim]);
            let expected = is_inside.then(|| position(geometry, item));
            assert_eq!(*position_found, expected, "{case}");
        }
        // The items of each touched chunk that belong to the array.
        let (rows, columns) = (geometry.shape[0], geometry.shape[1]);
        for &(nchunk, items, is_all, fills_chunk) in &chunks {
            let every = (0..rows).flat_map(|y| (0..columns).map(move |x| [y, x]));
            let all = every.filter(|&item| position(geometry, item).0 == nchunk).count();
            assert_eq!(is_all, items == all, "{case}");
            assert_eq!(fills_chunk, items as i64 == geometry.extchunknitems, "{case}");
        }
        let touched = slice_chunks(geometry, &start, &stop).unwrap();
        if (0..2).any(|dim| start[dim] >= geometry.shape[dim]) {
            assert!(touched.is_empty(), "{case}: {touched:?}");
        }
        if (0..2).all(|dim| start[dim] < stop[dim].min(geometry.shape[dim])) {
            assert!(touched.iter().eq(chunks.iter().map(|chunk| &chunk.0)), "{case}");
        }
        let is_inside = size == 0 || (0..2).all(|dim| stop[dim] <= geometry.shape[dim]);
        assert_eq!(check_inside(geometry, &start, &stop).is_ok(), is_inside, "{case}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes Miri minutes")]
    fn every_slice_of_every_small_array_contains_each_item_once() {
        // One dimension is tried in full, as the second one of an array of one row, and both with
        // fewer shapes.
        let full = [(1..=6, 4, 4), (1..=3, 2, 2)];
        let one: [i64; 1] = [1];
        for (rows, (columns, chunks, blocks)) in
            [(&one[..], full[0].clone()), (&[1, 2, 3][..], full[1].clone())]
        {
            for (&height, width) in
                rows.iter().flat_map(|row| columns.clone().map(move |w| (row, w)))
            {
                for shapes in 0..chunks * blocks * rows.len() as i32 * rows.len() as i32 {
                    let (chunk, block) = (shapes % chunks + 1, shapes / chunks % blocks + 1);
                    let others = shapes / chunks / blocks;
                    let count = rows.len() as i32;
                    let (chunk_rows, block_rows) = (others % count + 1, others / count + 1);
                    let geometry =
                        Geometry::new(&[height, width], &[chunk_rows, chunk], &[block_rows, block]);
                    let geometry = geometry.unwrap();
                    for top in 0..=height {
                        for bottom in top..=height + 1 {
                            for left in 0..=width {
                                for right in left..=width + 1 {
                                    check_slice(&geometry, [top, left], [bottom, right]);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
