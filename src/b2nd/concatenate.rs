//! Concatenation of arrays, and copies of items between arrays.

use super::MAX_DIM;
use super::geometry::Geometry;
use super::get::get;
use super::request::SliceRequest;
use super::resize::{dimension, resize};
use super::set::set;
use super::state::{State, typesize};
use super::sync::refresh;
use super::transaction::atomically;
use crate::frame::Frame;
use crate::schunk::chunks::{NewChunk, chunk, update};
use crate::{Buffer, Error, Result, plugin};

/// Checks that `second` can be appended to `first` along an axis.
///
/// # Errors
/// [`Error::InvalidParam`] if the item sizes or the other dimensions differ, or there is no such
/// axis.
pub fn check<A: State + ?Sized, B: State + ?Sized>(first: &A, second: &B, axis: i8) -> Result<()> {
    let (g, h) = (first.geometry()?, second.geometry()?);
    let axis = dimension(&g, axis)?;
    let fits = typesize(first)? == typesize(second)?
        && g.ndim == h.ndim
        && (0..g.ndim).all(|dim| dim == axis || g.shape[dim] == h.shape[dim]);
    if fits { Ok(()) } else { Err(Error::InvalidParam) }
}

/// Appends the items of `source` to `target` along an axis.
///
/// # Errors
/// Returns the errors of [`check`], [`resize`], reading and writing.
pub fn extend<A: State + ?Sized, B: State + ?Sized>(
    target: &mut A,
    source: &B,
    axis: i8,
) -> Result<()> {
    check(target, source, axis)?;
    let _held = target.chunks().frame().map(Frame::lock_exclusive).transpose()?;
    refresh(target)?;
    // The copy uses the geometries before the resize, even if source and target are the same array.
    let (before, from) = (target.geometry()?, source.geometry()?);
    let axis = dimension(&before, axis)?;
    let mut shape = before.shape;
    shape[axis] = shape[axis].checked_add(from.shape[axis]).ok_or(Error::InvalidParam)?;
    let mut offset = [0; MAX_DIM];
    offset[axis] = before.shape[axis];
    atomically(target, |target| {
        resize(target, &shape[..before.ndim], None)?;
        let after = target.geometry()?;
        if from.nitems == 0 {
            return Ok(());
        }
        let is_aligned = after.has_partitions_of(&from)
            && before.shape[axis] % i64::from(after.chunkshape[axis]) == 0;
        if is_aligned {
            copy_chunks(target, source, &from, &offset)
        } else {
            copy_items(target, source, &from, (&[0; MAX_DIM], &offset))
        }
    })
}

/// Copies the chunks of `source` verbatim to their positions in the target, starting at `offset`.
fn copy_chunks<A: State + ?Sized, B: State + ?Sized>(
    target: &mut A,
    source: &B,
    from: &Geometry,
    offset: &[i64; MAX_DIM],
) -> Result<()> {
    let after = target.geometry()?;
    let strides = after.chunk_strides();
    let zeros = [0; MAX_DIM];
    // `from` is the geometry before the resize: a source that is also the target is already
    // resized.
    let everything = SliceRequest::new(
        &source.geometry()?,
        typesize(source)?,
        &zeros[..from.ndim],
        from.shape(),
        from.shape(),
        i64::MAX,
    )?;
    for chunk_box in everything.chunk_boxes() {
        let number = (0..from.ndim)
            .map(|dim| {
                let at = chunk_box.at[dim] as i64 + offset[dim];
                at / i64::from(after.chunkshape[dim]) * strides[dim]
            })
            .sum();
        let bytes = {
            let chunk = chunk(source.chunks(), chunk_box.nchunk).map_err(plugin::or_failure)?;
            Buffer::copy_of(&chunk)?
        };
        let updated = update(target.chunks_mut(), number, NewChunk::Give(&mut Some(bytes)));
        updated.map_err(plugin::or_failure)?;
    }
    Ok(())
}

/// Copies a box of `extents` items from one position in `source` to another in the target, one
/// target chunk at a time.
pub fn copy_items<A: State + ?Sized, B: State + ?Sized>(
    target: &mut A,
    source: &B,
    extents: &Geometry,
    (from, to): (&[i64; MAX_DIM], &[i64; MAX_DIM]),
) -> Result<()> {
    let (g, h) = (target.geometry()?, source.geometry()?);
    let ndim = g.ndim;
    let width = typesize(target)?;
    let mut stop = [0; MAX_DIM];
    for dim in 0..ndim {
        stop[dim] = to[dim] + extents.shape[dim];
    }
    let sized = |start: &[i64], stop: &[i64], shape: &[i64], g: &Geometry| {
        SliceRequest::new(g, width, &start[..ndim], &stop[..ndim], &shape[..ndim], i64::MAX)
    };
    let all = sized(to, &stop, &extents.shape, &g)?;
    let mut items = Buffer::new();
    for chunk_box in all.chunk_boxes() {
        let (mut first, mut last, mut shape) = ([0; MAX_DIM], [0; MAX_DIM], [1; MAX_DIM]);
        let (mut put, mut end) = ([0; MAX_DIM], [0; MAX_DIM]);
        let mut len = width;
        for dim in 0..ndim {
            // The numbers fit: positions within an array are 64-bit numbers.
            let (at, extent) = (chunk_box.at[dim] as i64, chunk_box.extents[dim] as i64);
            (first[dim], put[dim]) = (from[dim] + at, to[dim] + at);
            (last[dim], end[dim]) = (first[dim] + extent, put[dim] + extent);
            shape[dim] = extent;
            len *= chunk_box.extents[dim];
        }
        items.resize(len)?;
        // Items outside the source are zeros.
        items.fill(0);
        get(source, &sized(&first, &last, &shape, &h)?, &mut items)?;
        set(target, &sized(&put, &end, &shape, &g)?, &items)?;
    }
    Ok(())
}
