//! Selection of items by coordinates: single items, and the cross product of indices.

use super::MAX_DIM;
use super::copy::Shared;
use super::geometry::Geometry;
use super::get::partial_threshold;
use super::parallel::{self, ChunkReader, ChunkWriter, Unwritten};
use super::request::{SliceRequest, advance};
use super::state::{State, check_chunksize, check_writable, typesize};
use crate::chunk::{Decompressor, Special, mask_of_all};
use crate::frame::Frame;
use crate::schunk::scratch::Scratch;
use crate::schunk::transaction::atomically;
use crate::schunk::{geometry::unidim_to_multidim, slices};
use crate::{Error, Result, kernels, plugin};

/// Reads the items at these row-major item numbers into consecutive items of `dest`.
///
/// # Errors
/// [`Error::InvalidParam`] for an array without dimensions, a number out of range, and a `dest` of
/// another size; [`Error::Failure`] if the chunks have other sizes than the array's; the errors of
/// reading.
pub fn get_sparse<A: State + ?Sized>(a: &A, numbers: &[i64], dest: &mut [u8]) -> Result<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    let g = a.geometry()?;
    let is_inside = |number: &i64| (0..g.nitems).contains(number);
    if g.ndim == 0 || !numbers.iter().all(is_inside) {
        return Err(Error::InvalidParam);
    }
    check_chunksize(a.chunks(), g.chunksize(typesize(a)? as i32)?)?;
    let (chunks, blocks) = (g.chunk_strides(), g.block_strides());
    let mut positions = Vec::new();
    positions.try_reserve_exact(numbers.len())?;
    let mut index = [0; MAX_DIM];
    for &number in numbers {
        unidim_to_multidim(g.shape(), number, &mut index[..g.ndim]);
        let mut nchunk = 0;
        let mut in_chunk = 0;
        for dim in 0..g.ndim {
            nchunk += index[dim] / i64::from(g.chunkshape[dim]) * chunks[dim];
            in_chunk += offset_in_chunk(&g, &blocks, dim, index[dim]);
        }
        let position = nchunk.checked_mul(g.extchunknitems).and_then(|at| at.checked_add(in_chunk));
        positions.push(position.ok_or(Error::InvalidParam)?);
    }
    slices::get_sparse(a.chunks(), &positions, dest)
}

/// Returns the contribution of the index along one dimension to the offset in the chunk, in items.
fn offset_in_chunk(g: &Geometry, blocks: &[i64; MAX_DIM], dim: usize, index: i64) -> i64 {
    let (chunk, block) = (i64::from(g.chunkshape[dim]), i64::from(g.blockshape[dim]));
    let inside = index % chunk;
    let stride: i64 =
        g.blockshape[dim + 1..g.ndim].iter().map(|&extent| i64::from(extent)).product();
    inside / block * blocks[dim] * i64::from(g.blocknitems) + inside % block * stride
}

/// A selected index along one dimension; offsets are in bytes.
#[derive(Clone, Copy, Debug)]
struct Pick {
    nchunk: i64,
    nblock: i64,
    in_chunk: usize,
    in_buffer: usize,
}

/// A validated cross product of indices along each dimension.
pub struct Selection {
    /// The selected indices along each dimension, in ascending order of position.
    picks: Vec<Vec<Pick>>,
    /// The ranges of picks per chunk along each dimension.
    groups: Vec<Vec<(usize, usize)>>,
    whole: SliceRequest,
    extent_bytes: usize,
}

impl Selection {
    /// Validates the cross product of `indices` for a buffer of this shape and `size` bytes.
    ///
    /// # Errors
    /// [`Error::InvalidIndex`] for an index out of range; [`Error::InvalidParam`] for an array
    /// without dimensions, a buffer that is smaller or larger than the items, and a shape too small
    /// for them; [`Error::MemoryAlloc`].
    pub fn new<A: State + ?Sized>(
        a: &A,
        indices: &[&[i64]],
        shape: &[i64],
        size: i64,
    ) -> Result<Selection> {
        let refused = || Error::InvalidParam;
        let g = a.geometry()?;
        let width = typesize(a)?;
        if g.ndim == 0 || indices.len() != g.ndim || shape.len() != g.ndim {
            return Err(refused());
        }
        for (dim, indices) in indices.iter().enumerate() {
            if !indices.iter().all(|index| (0..g.shape[dim]).contains(index)) {
                return Err(Error::InvalidIndex);
            }
        }
        let total =
            indices.iter().try_fold(width, |total, indices| total.checked_mul(indices.len()));
        if total.map(i64::try_from) != Some(Ok(size)) {
            return Err(refused());
        }
        let zeros = [0; MAX_DIM];
        let none = &zeros[..g.ndim];
        let whole = SliceRequest::new(&g, width, none, none, none, 0)?;
        let blocks = g.block_strides();
        let mut picks = Vec::new();
        let mut stride = width;
        for dim in (0..g.ndim).rev() {
            let extent = usize::try_from(shape[dim]).map_err(|_| refused())?;
            if extent < indices[dim].len() {
                return Err(refused());
            }
            let mut along = Vec::new();
            along.try_reserve_exact(indices[dim].len())?;
            for (position, &index) in indices[dim].iter().enumerate() {
                let chunk = i64::from(g.chunkshape[dim]);
                along.push(Pick {
                    nchunk: index / chunk,
                    nblock: index % chunk / i64::from(g.blockshape[dim]),
                    // Within a chunk, whose size in bytes was validated.
                    in_chunk: offset_in_chunk(&g, &blocks, dim, index) as usize * width,
                    in_buffer: position.checked_mul(stride).ok_or_else(refused)?,
                });
            }
            // In the order of the buffer for each item: if one is written twice, the last value
            // remains. A stable sort would allocate memory.
            along.sort_unstable_by_key(|pick| (pick.nchunk, pick.in_chunk, pick.in_buffer));
            picks.push(along);
            stride = stride.checked_mul(extent).ok_or_else(refused)?;
        }
        picks.reverse();
        let extent_bytes = match total {
            Some(1..) => picks.iter().try_fold(width, |extent_bytes, along| {
                let last = along.iter().map(|pick| pick.in_buffer).max();
                extent_bytes.checked_add(last.unwrap_or(0))
            }),
            _ => Some(0),
        };
        let groups = picks.iter().map(|along| ranges(along)).collect::<Result<_>>()?;
        Ok(Selection { picks, groups, whole, extent_bytes: extent_bytes.ok_or_else(refused)? })
    }

    /// Returns the extent of the selection in the buffer, in bytes from its start.
    pub fn extent_bytes(&self) -> usize {
        self.extent_bytes
    }

    fn ndim(&self) -> usize {
        self.picks.len()
    }

    /// Returns the touched chunks and their number.
    fn chunks(&self) -> (impl Iterator<Item = Touched> + Send + '_, usize) {
        let ndim = self.ndim();
        let strides = self.whole.geometry.chunk_strides();
        let count = match self.extent_bytes {
            0 => 0,
            _ => self.groups.iter().map(Vec::len).product(),
        };
        let mut is_there = count > 0;
        let mut next = [0; MAX_DIM];
        let chunks = std::iter::from_fn(move || {
            if !is_there {
                return None;
            }
            let at = next;
            is_there = advance(&mut next, ndim, |dim| (0, self.groups[dim].len()));
            let number = |dim: usize| self.picked_along(dim, at[dim])[0].nchunk * strides[dim];
            let nchunk = (0..ndim).map(number).sum();
            Some(Touched { nchunk, at })
        });
        (chunks, count)
    }

    /// Returns the picks of a group along a dimension.
    fn picked_along(&self, dim: usize, group: usize) -> &[Pick] {
        let (start, end) = self.groups[dim][group];
        &self.picks[dim][start..end]
    }

    /// Returns the picks of a chunk along each dimension.
    fn picked(&self, chunk: &Touched) -> [&[Pick]; MAX_DIM] {
        std::array::from_fn(|dim| {
            if dim < self.ndim() { self.picked_along(dim, chunk.at[dim]) } else { &[] }
        })
    }
}

/// A chunk with selected items.
struct Touched {
    nchunk: i64,
    /// The group along each dimension.
    at: [usize; MAX_DIM],
}

/// Returns the ranges of picks that are in the same chunk.
///
/// # Errors
/// [`Error::MemoryAlloc`].
fn ranges(along: &[Pick]) -> Result<Vec<(usize, usize)>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for group in along.chunk_by(|a, b| a.nchunk == b.nchunk) {
        ranges.try_reserve(1)?;
        ranges.push((start, start + group.len()));
        start += group.len();
    }
    Ok(ranges)
}

/// Calls `f` for each run of selected items, with its offsets in chunk and buffer and its length in
/// bytes.
fn each_run(picked: &[&[Pick]], width: usize, mut f: impl FnMut(usize, usize, usize)) {
    let Some((row, outer)) = picked.split_last() else {
        return;
    };
    let mut at = [0; MAX_DIM];
    loop {
        let (mut from, mut to) = (0, 0);
        for (dim, along) in outer.iter().enumerate() {
            from += along[at[dim]].in_chunk;
            to += along[at[dim]].in_buffer;
        }
        let continues = |a: &Pick, b: &Pick| {
            b.in_chunk == a.in_chunk + width && b.in_buffer == a.in_buffer + width
        };
        for run in row.chunk_by(continues) {
            f(from + run[0].in_chunk, to + run[0].in_buffer, run.len() * width);
        }
        if !advance(&mut at, outer.len(), |dim| (0, outer[dim].len())) {
            return;
        }
    }
}

/// Reads a selection. Bytes of `dest` between the items remain unchanged.
///
/// # Errors
/// [`Error::Failure`] if a chunk cannot be read.
///
/// # Panics
/// Panics if `dest` is shorter than the extent of the selection.
pub fn get<A: State + ?Sized>(a: &A, selection: &Selection, dest: &mut [u8]) -> Result<()> {
    let s = a.chunks();
    let dest = Shared::new(&mut dest[..selection.extent_bytes]);
    let (chunks, count) = selection.chunks();
    let gathering = Gathering { selection, dest: &dest, partial_threshold: partial_threshold(s) };
    parallel::read(s, &gathering, chunks, count).map_err(plugin::or_failure)
}

/// The state of one read.
struct Gathering<'a> {
    selection: &'a Selection,
    dest: &'a Shared<'a>,
    partial_threshold: usize,
}

impl ChunkReader for Gathering<'_> {
    type Task = Touched;

    fn chunk_of(&self, touched: &Touched) -> (i64, bool) {
        let picked = self.selection.picked(touched);
        let wanted = picked[..self.selection.ndim()]
            .iter()
            .map(|along| along.chunk_by(|a, b| a.nblock == b.nblock).count())
            .fold(self.partial_threshold, usize::saturating_mul);
        (touched.nchunk, wanted <= self.selection.whole.nblocks())
    }

    fn read(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Scratch,
        touched: &Touched,
        chunk: &[u8],
    ) -> Result<()> {
        let whole = &self.selection.whole;
        let picked = self.selection.picked(touched);
        let picked = &picked[..self.selection.ndim()];
        let special = whole.parse_header(chunk)?.special;
        let scratch = scratch.ensure_len(whole.chunksize)?;
        if special == Special::Uninit {
            scratch.fill(0);
        }
        // A special chunk may record other block sizes; it is decoded as a whole.
        if special == Special::None
            && let Some(skipped) = skipped_blocks(&whole.geometry, picked)?
        {
            decompressor.set_maskout(skipped);
        }
        if decompressor.decompress(chunk, scratch)? != whole.chunksize {
            return Err(Error::Failure);
        }
        each_run(picked, whole.typesize, |from, to, len| {
            // SAFETY: each combination of indices has a separate range in the buffer, and only one
            // thread writes to it.
            let dest = unsafe { self.dest.slice_mut(to, len) };
            kernels::copy::copy(&scratch[from..from + len], dest);
        });
        Ok(())
    }
}

/// Returns the blocks of a chunk without selected items; `None` if every block has some.
///
/// # Errors
/// [`Error::MemoryAlloc`].
fn skipped_blocks(g: &Geometry, picked: &[&[Pick]]) -> Result<Option<Vec<bool>>> {
    let blocks = picked
        .iter()
        .map(|along| {
            let mut blocks = Vec::new();
            blocks.try_reserve_exact(along.len())?;
            blocks.extend(along.iter().map(|pick| pick.nblock));
            blocks.dedup();
            Ok(blocks)
        })
        .collect::<Result<Vec<Vec<i64>>>>()?;
    let total: usize = (0..g.ndim).map(|dim| g.blocks_along(dim) as usize).product();
    if blocks.iter().map(Vec::len).product::<usize>() == total {
        return Ok(None);
    }
    let strides = g.block_strides();
    let mut skipped = mask_of_all(total)?;
    let mut at = [0; MAX_DIM];
    loop {
        let nblock: i64 = (0..g.ndim).map(|dim| blocks[dim][at[dim]] * strides[dim]).sum();
        skipped[nblock as usize] = false;
        if !advance(&mut at, g.ndim, |dim| (0, blocks[dim].len())) {
            return Ok(Some(skipped));
        }
    }
}

/// Writes a selection. If an item is selected twice, its last value in `src` remains.
///
/// # Errors
/// [`Error::InvalidParam`] for a view of a frame; [`Error::Lock`]; [`Error::Failure`] if a chunk
/// cannot be read, compressed or changed.
///
/// # Panics
/// Panics if `src` is shorter than the extent of the selection.
pub fn set<A: State + ?Sized>(a: &mut A, selection: &Selection, src: &[u8]) -> Result<()> {
    check_writable(a)?;
    let s = a.chunks_mut();
    let _held = s.frame().map(Frame::lock_exclusive).transpose()?;
    let (chunks, count) = selection.chunks();
    let scattering = Scattering { selection, src };
    let written =
        atomically(s, |s| parallel::write(s, &scattering, &selection.whole, chunks, count));
    written.map_err(plugin::or_failure)
}

/// The state of one write.
struct Scattering<'a> {
    selection: &'a Selection,
    src: &'a [u8],
}

impl ChunkWriter for Scattering<'_> {
    type Task = Touched;

    fn number(&self, touched: &Touched) -> i64 {
        touched.nchunk
    }

    fn contiguous_chunk(&self, _: &Touched) -> Option<&[u8]> {
        None
    }

    fn unwritten(&self, _: &Touched) -> Unwritten {
        Unwritten::Current
    }

    fn write(&self, touched: &Touched, chunk: &mut [u8]) {
        let picked = self.selection.picked(touched);
        let picked = &picked[..self.selection.ndim()];
        each_run(picked, self.selection.whole.typesize, |to, from, len| {
            kernels::copy::copy(&self.src[from..from + len], &mut chunk[to..to + len]);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_of_every_small_chunk_has_its_offset() {
        for number in 0..3_i32.pow(6) {
            let digit = |place: u32| number / 3_i32.pow(place) % 3 + 1;
            let chunkshape = [digit(0), digit(1), digit(2)];
            let blockshape = [digit(3), digit(4), digit(5)];
            // Two chunks along each dimension.
            let shape = chunkshape.map(|extent| 2 * i64::from(extent));
            let geometry = Geometry::new(&shape, &chunkshape, &blockshape).unwrap();
            let blocks = geometry.block_strides();
            let mut seen = vec![false; geometry.extchunknitems as usize];
            for item in 0..geometry.nitems {
                let mut index = [0; MAX_DIM];
                unidim_to_multidim(&shape, item, &mut index[..3]);
                let offset: i64 =
                    (0..3).map(|dim| offset_in_chunk(&geometry, &blocks, dim, index[dim])).sum();
                // The block, and the offset in it, by the definition of the format.
                let (mut nblock, mut inner) = (0, 0);
                for dim in 0..3 {
                    let (chunk, block) = (i64::from(chunkshape[dim]), i64::from(blockshape[dim]));
                    let inside = index[dim] % chunk;
                    nblock = nblock * ((chunk + block - 1) / block) + inside / block;
                    inner = inner * block + inside % block;
                }
                let expected = nblock * i64::from(geometry.blocknitems) + inner;
                assert_eq!(offset, expected, "{chunkshape:?} {blockshape:?} {index:?}");
                seen[offset as usize] = true;
            }
            let items = seen.iter().filter(|seen| **seen).count();
            assert_eq!(items as i32, geometry.chunknitems, "items share an offset");
        }
    }

    #[test]
    fn the_runs_of_every_small_selection_contain_each_item_once() {
        const WIDTH: usize = 2;
        let (rows, columns) = (3, 5);
        let picks = |set: usize, stride: usize| -> Vec<Pick> {
            let indices = (0..columns).filter(|index| set & (1 << index) != 0);
            let of = |(position, index): (usize, usize)| Pick {
                nchunk: 0,
                nblock: 0,
                in_chunk: index * stride,
                in_buffer: position * stride,
            };
            indices.enumerate().map(of).collect()
        };
        for row_set in 1..1_usize << rows {
            for column_set in 1..1_usize << columns {
                let along = [picks(row_set, columns * WIDTH), picks(column_set, WIDTH)];
                let mut copied = Vec::new();
                let mut runs = 0;
                each_run(&[&along[0], &along[1]], WIDTH, |from, to, len| {
                    copied.extend((0..len).map(|byte| (to + byte, from + byte)));
                    runs += 1;
                });
                let mut expected = Vec::new();
                for row in &along[0] {
                    for column in &along[1] {
                        let to = row.in_buffer + column.in_buffer;
                        let from = row.in_chunk + column.in_chunk;
                        expected.extend((0..WIDTH).map(|byte| (to + byte, from + byte)));
                    }
                }
                assert_eq!(copied, expected);
                // A run begins at each selected column whose left neighbour is not selected.
                let begins = (column_set & !(column_set << 1)).count_ones() as usize;
                assert_eq!(runs, begins * along[0].len());
            }
        }
    }

    #[test]
    fn every_small_selection_skips_the_blocks_without_items() {
        let geometry = Geometry::new(&[4, 5], &[4, 5], &[2, 2]).unwrap();
        let picks = |set: usize, extent: usize| -> Vec<Pick> {
            let indices = (0..extent).filter(|index| set & (1 << index) != 0);
            let of =
                |index| Pick { nchunk: 0, nblock: index as i64 / 2, in_chunk: 0, in_buffer: 0 };
            indices.map(of).collect()
        };
        for row_set in 1..1_usize << 4 {
            for column_set in 1..1_usize << 5 {
                let along = [picks(row_set, 4), picks(column_set, 5)];
                let skipped = skipped_blocks(&geometry, &[&along[0], &along[1]]).unwrap();
                let skipped = skipped.unwrap_or(vec![false; 6]);
                for (nblock, &is_skipped) in skipped.iter().enumerate() {
                    let (row, column) = (nblock as i64 / 3, nblock as i64 % 3);
                    let is_hit =
                        |along: &[Pick], nblock| along.iter().any(|it| it.nblock == nblock);
                    let is_needed = is_hit(&along[0], row) && is_hit(&along[1], column);
                    assert_eq!(is_skipped, !is_needed, "{row_set:b} {column_set:b} {nblock}");
                }
            }
        }
    }
}
