//! A slice that somebody asks for, checked, and cut along chunks and blocks.
//!
//! ```text
//! slice ── parts ──> one box of each chunk it touches ── pieces ──> one box of each block
//! ```
//! Each box is told by where it begins in its chunk or block, its extents, and where it begins in the
//! caller's buffer.

use super::MAX_DIM;
use super::copy::{BoxCopy, Side};
use super::geometry::Geometry;
use crate::{Error, Result};

/// A number for each dimension.
pub(super) type Numbers = [usize; MAX_DIM];

/// A slice of an array, and the buffer it comes from or goes to.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) geometry: Geometry,
    pub(super) typesize: usize,
    pub(super) chunksize: usize,
    pub(super) blocksize: usize,
    pub(super) is_linear: bool,
    start: [i64; MAX_DIM],
    /// Behind the last item, inside the array.
    end: [i64; MAX_DIM],
    /// The buffer's.
    shape: Numbers,
    extchunk: Numbers,
    block: Numbers,
    reach: usize,
    is_exact: bool,
}

/// The box of a slice that lies in one chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub nchunk: i64,
    /// Where it begins in the chunk.
    pub from: Numbers,
    pub extents: Numbers,
    /// Where it begins in the buffer.
    pub at: Numbers,
    /// Whether it has all items of the chunk that are the array's.
    pub is_all: bool,
}

/// The box of a part that lies in one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub nblock: usize,
    /// Where it begins in the block.
    from: Numbers,
    extents: Numbers,
    at: Numbers,
}

/// Refuses a slice with items outside of the array. Slices without items may be anywhere.
///
/// # Errors
/// [`Error::InvalidParam`].
pub fn check_inside(geometry: &Geometry, start: &[i64], stop: &[i64]) -> Result<()> {
    let is_empty = start.iter().zip(stop).any(|(start, stop)| start == stop);
    let is_inside = (geometry.shape().iter())
        .zip(start.iter().zip(stop))
        .all(|(&extent, (&start, &stop))| start >= 0 && stop <= extent);
    if is_empty || is_inside {
        Ok(())
    } else {
        Err(Error::InvalidParam)
    }
}

impl Request {
    /// The items from `start` to before `stop`, which may be outside of the array from the end on, at the
    /// origin of a buffer of `shape` whose first `size` bytes may be used. A number for each dimension.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for numbers that make no slice, and for a buffer that is too small.
    pub fn new(
        geometry: &Geometry,
        typesize: usize,
        start: &[i64],
        stop: &[i64],
        shape: &[i64],
        size: i64,
    ) -> Result<Request> {
        let ndim = geometry.ndim;
        if [start.len(), stop.len(), shape.len()] != [ndim; 3] {
            return Err(Error::InvalidParam);
        }
        let mut wanted = i64::try_from(typesize).map_err(|_| Error::InvalidParam)?;
        for dim in 0..ndim {
            let extent = stop[dim].checked_sub(start[dim]);
            let extent = extent.filter(|&extent| extent >= 0 && extent <= shape[dim]);
            let extent = extent
                .filter(|_| start[dim] >= 0)
                .ok_or(Error::InvalidParam)?;
            // An empty slice needs no room however large its other extents are.
            wanted = match extent {
                0 => 0,
                _ => wanted.checked_mul(extent).ok_or(Error::InvalidParam)?,
            };
        }
        let chunksize = geometry.chunksize(typesize as i32)?;
        if size < wanted {
            return Err(Error::InvalidParam);
        }
        let mut request = Request {
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
            reach: 0,
            is_exact: false,
        };
        let mut extents = [1; MAX_DIM];
        for dim in 0..ndim {
            let counted = |number: i64| usize::try_from(number).map_err(|_| Error::InvalidParam);
            request.start[dim] = start[dim];
            request.end[dim] = stop[dim].min(geometry.shape[dim]).max(start[dim]);
            request.shape[dim] = counted(shape[dim])?;
            request.extchunk[dim] = counted(geometry.extchunkshape[dim])?;
            request.block[dim] = counted(i64::from(geometry.blockshape[dim]))?;
            extents[dim] = counted(request.end[dim] - start[dim])?;
        }
        let side = Side {
            shape: &request.shape[..ndim],
            start: &[0; MAX_DIM][..ndim],
        };
        let whole =
            BoxCopy::new(typesize, &extents[..ndim], side, side).ok_or(Error::InvalidParam)?;
        request.reach = whole.dst_reach();
        // Bytes between the items would be counted by the reach, but not by the items.
        request.is_exact = whole
            .as_run()
            .is_some_and(|(_, _, run)| run as i64 == wanted);
        Ok(request)
    }

    /// Bytes of the buffer that are reached, from its start on.
    pub fn reach(&self) -> usize {
        self.reach
    }

    /// Whether each of the first `size` bytes of the buffer is one of an item's.
    pub fn fills(&self, size: usize) -> bool {
        self.is_exact && self.reach == size
    }

    /// Blocks of a chunk.
    pub(super) fn nblocks(&self) -> usize {
        self.chunksize.checked_div(self.blocksize).unwrap_or(0)
    }

    fn ndim(&self) -> usize {
        self.geometry.ndim
    }

    /// How many parts there are.
    pub(super) fn count(&self) -> usize {
        (0..self.ndim())
            .map(|dim| {
                let (first, last) = self.chunks_of(dim);
                usize::try_from(last - first).unwrap_or(usize::MAX)
            })
            .fold(1, usize::saturating_mul)
    }

    /// The first chunk along a dimension and the one behind the last.
    fn chunks_of(&self, dim: usize) -> (i64, i64) {
        let chunk = i64::from(self.geometry.chunkshape[dim]);
        match self.end[dim] > self.start[dim] {
            true => (self.start[dim] / chunk, (self.end[dim] - 1) / chunk + 1),
            false => (0, 0),
        }
    }

    /// The boxes of the chunks, in the order of their numbers.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> + Send + '_ {
        let ndim = self.ndim();
        let strides = self.geometry.chunk_strides();
        let ranges: [(i64, i64); MAX_DIM] = std::array::from_fn(|dim| match dim < ndim {
            true => self.chunks_of(dim),
            false => (0, 1),
        });
        let mut is_there = ranges.iter().all(|(first, end)| first != end);
        let mut at = ranges.map(|(first, _)| first);
        std::iter::from_fn(move || {
            let part = is_there.then(|| self.part(&at, &strides))?;
            is_there = advance(&mut at, ndim, |dim| ranges[dim]);
            Some(part)
        })
    }

    fn part(&self, at: &[i64; MAX_DIM], strides: &[i64; MAX_DIM]) -> Part {
        let mut part = Part {
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
            part.nchunk += at[dim] * strides[dim];
            // All are inside a chunk or the buffer, whose extents were counted.
            part.from[dim] = (first - origin) as usize;
            part.extents[dim] = (last - first) as usize;
            part.at[dim] = (first - self.start[dim]) as usize;
            part.is_all &= first == origin && last == limit;
        }
        part
    }

    /// Whether a part is all that its chunk has room for.
    pub(super) fn fills_chunk(&self, part: &Part) -> bool {
        part.extents[..self.ndim()] == self.extchunk[..self.ndim()]
    }

    /// Blocks that a part touches.
    pub(super) fn count_pieces(&self, part: &Part) -> usize {
        (0..self.ndim())
            .map(|dim| self.blocks_of(part, dim))
            .map(|(first, end)| end - first)
            .product()
    }

    fn blocks_of(&self, part: &Part, dim: usize) -> (usize, usize) {
        let block = self.block[dim];
        let last = part.from[dim] + part.extents[dim] - 1;
        (part.from[dim] / block, last / block + 1)
    }

    /// The boxes of a part's blocks.
    pub(super) fn pieces<'a>(&'a self, part: &'a Part) -> impl Iterator<Item = Piece> + 'a {
        let ndim = self.ndim();
        let strides = self.geometry.block_strides();
        let ranges: [(usize, usize); MAX_DIM] = std::array::from_fn(|dim| match dim < ndim {
            true => self.blocks_of(part, dim),
            false => (0, 1),
        });
        let mut is_there = true;
        let mut at = ranges.map(|(first, _)| first);
        std::iter::from_fn(move || {
            if !is_there {
                return None;
            }
            let mut piece = Piece {
                nblock: 0,
                from: [0; MAX_DIM],
                extents: [1; MAX_DIM],
                at: part.at,
            };
            for dim in 0..ndim {
                let origin = at[dim] * self.block[dim];
                let first = part.from[dim].max(origin);
                let last = (part.from[dim] + part.extents[dim]).min(origin + self.block[dim]);
                piece.nblock += at[dim] * strides[dim] as usize;
                piece.from[dim] = first - origin;
                piece.extents[dim] = last - first;
                piece.at[dim] += first - part.from[dim];
            }
            is_there = advance(&mut at, ndim, |dim| ranges[dim]);
            Some(piece)
        })
    }

    fn buffer_side<'a>(&'a self, at: &'a Numbers) -> Side<'a> {
        Side {
            shape: &self.shape[..self.ndim()],
            start: &at[..self.ndim()],
        }
    }

    /// From a chunk whose items are rows first, or to it, to or from the buffer.
    pub(super) fn linear_copy(&self, part: &Part, way: Way) -> BoxCopy {
        let chunk = Side {
            shape: &self.extchunk[..self.ndim()],
            start: &part.from[..self.ndim()],
        };
        way.copy(self, &part.extents, chunk, self.buffer_side(&part.at))
    }

    /// From a block, or to it.
    pub(super) fn piece_copy(&self, piece: &Piece, way: Way) -> BoxCopy {
        let block = Side {
            shape: &self.block[..self.ndim()],
            start: &piece.from[..self.ndim()],
        };
        way.copy(self, &piece.extents, block, self.buffer_side(&piece.at))
    }
}

/// The numbers of the chunks that a slice touches, in order. An empty slice inside a chunk counts that
/// chunk.
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
        if ranges[dim].0 >= ranges[dim].1 {
            return Ok(numbers);
        }
    }
    let count = ranges[..ndim]
        .iter()
        .try_fold(1usize, |count, (first, end)| {
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

/// Which way items move.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    ToBuffer,
    FromBuffer,
}

impl Way {
    fn copy(
        self,
        request: &Request,
        extents: &Numbers,
        inside: Side<'_>,
        buffer: Side<'_>,
    ) -> BoxCopy {
        let (src, dst) = match self {
            Way::ToBuffer => (inside, buffer),
            Way::FromBuffer => (buffer, inside),
        };
        let extents = &extents[..request.ndim()];
        // Each box is a part of the one that was counted, and of a chunk whose bytes were.
        BoxCopy::new(request.typesize, extents, src, dst).expect("a part of what was counted")
    }
}

/// What places are counted in.
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

/// Goes on to the next place, rows first, in these ranges; false behind the last one, which the first follows.
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
