//! Resizing an array: chunks are added and removed, none is rewritten.
//!
//! A resize first shrinks and then grows. Readers without locks must never see a shape whose chunks
//! are missing, so shrinking publishes the shape before it removes chunks, and growing publishes it
//! after it adds them. Items that are cut off within a chunk remain in it, and reappear when the
//! array grows.

use super::create::{metalayer, with_metalayer, zero_chunk};
use super::geometry::Geometry;
use super::meta;
use super::request::{SliceRequest, advance};
use super::set::set;
use super::state::{State, typesize};
use super::sync::refresh;
use super::transaction::atomically;
use super::{MAX_DIM, state};
use crate::chunk::Source;
use crate::frame::Frame;
use crate::schunk::chunks::{
    NewChunk, append_data, delete as delete_chunk, delete_apart, delete_at_once, delete_deferred,
    insert as insert_chunk, insert_special,
};
use crate::schunk::{meta as metalayers, transaction};
use crate::{Error, ErrorKind, Result};

/// A validated resize.
struct Plan {
    before: Geometry,
    /// The intermediate shape.
    smaller: Geometry,
    after: Geometry,
    /// Positions at which items are removed and inserted.
    out: [i64; MAX_DIM],
    into: [i64; MAX_DIM],
    /// Whether chunks of a frame are removed by one change also without transactions, so that all
    /// or none of them move.
    at_once: bool,
}

impl Plan {
    fn new(before: Geometry, shape: &[i64], start: Option<&[i64]>) -> Result<Plan> {
        let refused = || Error::InvalidParam;
        let ndim = before.ndim;
        if shape.len() != ndim || start.is_some_and(|start| start.len() != ndim) {
            let given = shape.len();
            return Err(refused().because(format!(
                "the new shape has {given} dimensions, but the array has {ndim}"
            )));
        }
        let mut smaller = [1; MAX_DIM];
        let (mut out, mut into) = ([0; MAX_DIM], [0; MAX_DIM]);
        for dim in 0..ndim {
            let (old, new) = (before.shape[dim], shape[dim]);
            let chunk = i64::from(before.chunkshape[dim]);
            smaller[dim] = old.min(new);
            (out[dim], into[dim]) = (smaller[dim], smaller[dim]);
            if let Some(start) = start {
                let start = start[dim];
                let end = if new > old { old } else { new };
                let is_cut = old != new && start != end;
                if !(0..=old).contains(&start) || new < 0 {
                    return Err(refused().because(format!(
                        "axis {dim} of length {old} cannot be resized to {new} at index {start}"
                    )));
                }
                let is_whole = |items: i64| items.checked_rem(chunk) == Some(0);
                if is_cut && !(is_whole(start) && is_whole(new.abs_diff(old) as i64)) {
                    return Err(refused().because(format!(
                        "only whole chunks of {chunk} indices can be added or removed before the \
                         end of axis {dim}"
                    )));
                }
                // Shrinking removes items at `start`, so they must exist.
                if new < old && start > new {
                    return Err(refused());
                }
                (out[dim], into[dim]) = (start, start);
            }
        }
        Ok(Plan {
            smaller: before.with_shape(&smaller[..ndim])?,
            after: before.with_shape(shape)?,
            before,
            out,
            into,
            at_once: false,
        })
    }
}

/// Calls `f` with the index of each chunk whose first item is, along any dimension, within the
/// `count` indices from `start`.
fn each_chunk_in(
    geometry: &Geometry,
    start: &[i64; MAX_DIM],
    count: impl Fn(usize) -> i64,
    mut f: impl FnMut(i64) -> Result<()>,
) -> Result<()> {
    let ndim = geometry.ndim;
    // The ranges of chunk indices along each dimension.
    let mut ranges = [(0, 0); MAX_DIM];
    let mut along = [0; MAX_DIM];
    for dim in 0..ndim {
        // An empty chunk shape has no chunks.
        let chunk = i64::from(geometry.chunkshape[dim]).max(1);
        let above = |item: i64| item / chunk + i64::from(item % chunk != 0);
        ranges[dim] = (above(start[dim]), above(start[dim].saturating_add(count(dim))));
        along[dim] = geometry.chunks_along(dim);
    }
    // If only the first dimension changes, the chunks are consecutive.
    let first = if (1..ndim).all(|dim| count(dim) == 0) { ranges[0].0 } else { 0 };
    let mut at = [0; MAX_DIM];
    at[0] = first;
    let mut nchunk = first.saturating_mul(geometry.chunk_strides()[0]);
    let mut is_there = nchunk < geometry.nchunks();
    while is_there {
        if (0..ndim).any(|dim| (ranges[dim].0..ranges[dim].1).contains(&at[dim])) {
            f(nchunk)?;
        }
        nchunk += 1;
        is_there = advance(&mut at, ndim, |dim| (0, along[dim]));
    }
    Ok(())
}

/// Changes the shape. Items are added or removed at `start`, or at the end if it is `None`. Before
/// the end, only whole chunks can be added or removed. New items are zero, unless an earlier resize
/// cut them off within a chunk.
///
/// # Errors
/// [`Error::InvalidParam`] for invalid shapes and positions, and for views; [`Error::Failure`] if
/// chunks cannot be removed or added, and for arrays of Caterva with chunks; [`Error::Lock`].
pub fn resize<A: State + ?Sized>(a: &mut A, shape: &[i64], start: Option<&[i64]>) -> Result<()> {
    resize_by(a, shape, start, false)
}

/// Like [`resize`]; chunks of a frame without transactions are removed by one change if `at_once`.
///
/// # Errors
/// Returns the same errors as [`resize`].
pub(super) fn resize_by<A: State + ?Sized>(
    a: &mut A,
    shape: &[i64],
    start: Option<&[i64]>,
    at_once: bool,
) -> Result<()> {
    if a.is_view() {
        return Err(Error::InvalidParam);
    }
    let _held = a.chunks().frame().map(Frame::lock_exclusive).transpose()?;
    refresh(a)?;
    let plan = Plan { at_once, ..Plan::new(a.geometry()?, shape, start)? };
    if plan.before == plan.after {
        return Ok(());
    }
    let typesize = a.chunks().recorded().typesize;
    state::typesize(a)?;
    state::check_chunksize(a.chunks(), plan.after.chunksize(typesize)?)?;
    check_nchunks(&plan)?;
    if a.chunks().counters().nchunks < plan.before.nchunks() {
        return Err(Error::Failure);
    }
    atomically(a, |a| resize_to(a, &plan))
}

fn resize_to<A: State + ?Sized>(a: &mut A, plan: &Plan) -> Result<()> {
    let (name, mut bytes) = metalayer(a.chunks())?;
    // A metalayer cannot be added after chunks, and that of Caterva is never written.
    if name != meta::NAME {
        if a.chunks().counters().nchunks > 0 {
            return Err(Error::Failure);
        }
        let g = &plan.before;
        bytes = meta::serialize(g.shape(), g.chunkshape(), g.blockshape(), None, 0)?;
        metalayers::add(a.chunks_mut(), meta::NAME.as_bytes(), &bytes)
            .map_err(|error| error.recast(ErrorKind::Failure))?;
    }
    if plan.smaller != plan.before {
        let chunks = a.chunks().counters().nchunks;
        publish(a, &mut bytes, &plan.smaller)?;
        if let Err(error) = remove_chunks(a, plan) {
            if a.chunks().counters().nchunks == chunks {
                let _ = publish(a, &mut bytes, &plan.before);
            }
            return Err(error);
        }
    }
    if plan.after != plan.smaller {
        let mut added = Vec::new();
        add_chunks(a, plan, &mut added)
            .and_then(|()| publish(a, &mut bytes, &plan.after))
            .inspect_err(|_| {
                // Chunks beyond the shape would shift the following ones.
                for &nchunk in added.iter().rev() {
                    let _ = remove(a, nchunk);
                }
            })?;
    }
    Ok(())
}

/// Refuses more chunks than a super-chunk can index, before any change.
fn check_nchunks(plan: &Plan) -> Result<()> {
    if plan.after.nchunks() <= i64::from(i32::MAX) { Ok(()) } else { Err(Error::Failure) }
}

/// Writes the shape to the metalayer and to the array.
fn publish<A: State + ?Sized>(a: &mut A, bytes: &mut [u8], geometry: &Geometry) -> Result<()> {
    meta::set_shape(bytes, geometry.shape())?;
    metalayers::update(a.chunks_mut(), meta::NAME.as_bytes(), bytes)
        .map_err(|error| error.recast(ErrorKind::Failure))?;
    a.set_geometry(geometry, a.version());
    Ok(())
}

fn remove_chunks<A: State + ?Sized>(a: &mut A, plan: &Plan) -> Result<()> {
    let mut gone = Vec::new();
    let count = |dim: usize| plan.before.shape[dim] - plan.smaller.shape[dim];
    each_chunk_in(&plan.before, &plan.out, count, |nchunk| {
        gone.try_reserve(1)?;
        gone.push(nchunk);
        Ok(())
    })?;
    if a.chunks().frame().is_none() {
        return delete_apart(a.chunks_mut(), &gone)
            .map_err(|error| error.recast(ErrorKind::Failure));
    }
    // In a transaction no hole is reused. If the chunks cannot be removed at once, the last one is
    // removed first, since the list of chunks after a removed one moves.
    let deleted = if plan.at_once && !transaction::has_transactions(a.chunks()) {
        delete_at_once(a.chunks_mut(), &gone)
    } else {
        delete_deferred(a.chunks_mut(), &gone)
    };
    if deleted.map_err(|error| error.recast(ErrorKind::Failure))? {
        return Ok(());
    }
    if transaction::has_transactions(a.chunks()) {
        return gone.iter().rev().try_for_each(|&nchunk| remove(a, nchunk));
    }
    // In ascending order, as in the reference: the order determines which holes a frame has. The
    // indices of later chunks decrease each time.
    (0..).zip(gone).try_for_each(|(before, nchunk)| {
        // Once a chunk is removed, the array is consistent only after all others are removed, so a
        // failed removal, for instance for lack of memory, is repeated once.
        remove(a, nchunk - before).or_else(|error| match before {
            0 => Err(error),
            _ => remove(a, nchunk - before),
        })
    })
}

fn remove<A: State + ?Sized>(a: &mut A, nchunk: i64) -> Result<()> {
    let removed = delete_chunk(a.chunks_mut(), nchunk);
    removed.map(drop).map_err(|error| error.recast(ErrorKind::Failure))
}

/// Inserts the new chunks and pushes their indices to `added`.
fn add_chunks<A: State + ?Sized>(a: &mut A, plan: &Plan, added: &mut Vec<i64>) -> Result<()> {
    if plan.after.nchunks() == plan.smaller.nchunks() {
        return Ok(());
    }
    let zeros = zero_chunk(a.chunks(), &plan.after)?;
    let count = |dim: usize| plan.after.shape[dim] - plan.smaller.shape[dim];
    if a.chunks().frame().is_some() {
        let mut at = Vec::new();
        each_chunk_in(&plan.after, &plan.into, count, |nchunk| {
            at.try_reserve(1)?;
            at.push(usize::try_from(nchunk).map_err(|_| Error::Failure)?);
            Ok(())
        })?;
        added.try_reserve_exact(at.len())?;
        let inserted = insert_special(a.chunks_mut(), &at, &zeros);
        if inserted.map_err(|error| error.recast(ErrorKind::Failure))? {
            added.extend(at.iter().map(|&nchunk| nchunk as i64));
            return Ok(());
        }
    }
    each_chunk_in(&plan.after, &plan.into, count, |nchunk| {
        added.try_reserve(1)?;
        let inserted = insert_chunk(a.chunks_mut(), nchunk, NewChunk::Copy(&zeros));
        inserted.map(|_| added.push(nchunk)).map_err(|error| error.recast(ErrorKind::Failure))
    })
}

/// Converts an axis to a dimension, after checking that it exists.
pub(super) fn dimension(geometry: &Geometry, axis: i8) -> Result<usize> {
    usize::try_from(axis).ok().filter(|&axis| axis < geometry.ndim).ok_or_else(|| {
        let text = format!("there is no axis {axis}: the array has {} dimensions", geometry.ndim);
        Error::InvalidParam.because(text)
    })
}

/// Returns the number of indices along an axis that `len` bytes of items fill.
fn growth(geometry: &Geometry, typesize: usize, axis: usize, len: usize) -> Result<i64> {
    let refused = || Error::InvalidParam;
    let mut slab = typesize;
    for dim in (0..geometry.ndim).filter(|&dim| dim != axis) {
        let extent = usize::try_from(geometry.shape[dim]).map_err(|_| refused())?;
        slab = slab.checked_mul(extent).ok_or_else(refused)?;
    }
    match len.checked_rem(slab) {
        Some(0) => i64::try_from(len / slab).map_err(|_| refused()),
        _ => Err(refused().because(format!(
            "the buffer has {len} bytes, but a multiple of {slab} is needed along axis {axis}"
        ))),
    }
}

/// Inserts the items of `data` before index `start` along an axis.
///
/// # Errors
/// [`Error::InvalidParam`] for an invalid axis, data that do not match the other dimensions, and a
/// position within the array that is not a chunk boundary; the errors of [`resize`] and [`set`].
pub fn insert<A: State + ?Sized>(a: &mut A, data: &[u8], axis: i8, start: i64) -> Result<()> {
    // The lock keeps other processes out between growing and writing.
    let _held = a.chunks().frame().map(Frame::lock_exclusive).transpose()?;
    refresh(a)?;
    insert_at(a, data, axis, |_| start)
}

fn insert_at<A: State + ?Sized>(
    a: &mut A,
    data: &[u8],
    axis: i8,
    position: impl FnOnce(i64) -> i64,
) -> Result<()> {
    let before = a.geometry()?;
    let axis = dimension(&before, axis)?;
    let typesize = typesize(a)?;
    let count = growth(&before, typesize, axis, data.len())?;
    let start = position(before.shape[axis]);
    // Without items, too.
    if start > before.shape[axis] {
        return Err(Error::InvalidParam);
    }
    if count == 0 {
        return Ok(());
    }
    let mut shape = before.shape;
    shape[axis] = shape[axis].checked_add(count).ok_or(Error::InvalidParam)?;
    let ndim = before.ndim;
    let mut starts = before.shape;
    starts[axis] = start;
    let at_end = start == before.shape[axis];
    let (mut first, mut stop) = ([0; MAX_DIM], shape);
    first[axis] = start;
    stop[axis] = start.checked_add(count).ok_or(Error::InvalidParam)?;
    let mut extents = shape;
    extents[axis] = count;
    atomically(a, |a| {
        resize(a, &shape[..ndim], (!at_end).then_some(&starts[..ndim]))?;
        let request = SliceRequest::new(
            &a.geometry()?,
            typesize,
            &first[..ndim],
            &stop[..ndim],
            &extents[..ndim],
            i64::try_from(data.len()).map_err(|_| Error::InvalidParam)?,
        )?;
        set(a, &request, data).inspect_err(|_| {
            // Removes the added items, which have no data. This may fail for the same reason, for
            // instance a full disk: the items remain then, unless only chunks at the end do.
            let start = (!at_end).then_some(&starts[..ndim]);
            let at_once = !at_end || axis > 0;
            let _ = resize_by(a, &before.shape[..ndim], start, at_once);
        })
    })
}

/// Appends the items of `data` along an axis.
///
/// # Errors
/// Returns the same errors as [`insert`]; [`Error::InvalidParam`] for an array without dimensions
/// or with empty chunks.
pub fn append<A: State + ?Sized>(a: &mut A, data: &[u8], axis: i8) -> Result<()> {
    let _held = a.chunks().frame().map(Frame::lock_exclusive).transpose()?;
    refresh(a)?;
    let g = a.geometry()?;
    let typesize = typesize(a)?;
    if g.ndim == 0 || g.extchunknitems == 0 {
        return Err(Error::InvalidParam);
    }
    let is_chunk = !a.is_view()
        && axis == 0
        && Ok(data.len()) == g.chunksize(typesize as i32)
        && g.shape[0] % i64::from(g.chunkshape[0]) == 0
        && g.extchunkshape[0] == i64::from(g.chunkshape[0])
        && (1..g.ndim).all(|dim| {
            let chunk = i64::from(g.chunkshape[dim]);
            g.shape[dim] == chunk && i64::from(g.blockshape[dim]) == chunk
        })
        && a.chunks().counters().nchunks == g.nchunks()
        && with_metalayer(a.chunks(), |name, _| Ok(name == meta::NAME)).unwrap_or(false);
    if is_chunk { append_chunk(a, &g, data) } else { insert_at(a, data, axis, |end| end) }
}

/// Appends data that exactly fill one chunk.
fn append_chunk<A: State + ?Sized>(a: &mut A, g: &Geometry, data: &[u8]) -> Result<()> {
    let mut shape = g.shape;
    let grown = shape[0].checked_add(i64::from(g.chunkshape[0]));
    shape[0] = grown.ok_or(Error::InvalidParam)?;
    let after = g.with_shape(&shape[..g.ndim])?;
    atomically(a, |a| {
        let (_, mut bytes) = metalayer(a.chunks())?;
        append_data(a.chunks_mut(), Source::Bytes(data))
            .map_err(|error| error.recast(ErrorKind::Failure))?;
        publish(a, &mut bytes, &after).inspect_err(|_| {
            // A chunk beyond the shape would shift the following ones.
            let _ = remove(a, g.nchunks());
        })
    })
}

/// Deletes `len` indices from `start` along an axis.
///
/// # Errors
/// [`Error::InvalidParam`] for an invalid axis or range, and for a position within the array that
/// is not a chunk boundary; the errors of [`resize`].
pub fn delete<A: State + ?Sized>(a: &mut A, axis: i8, start: i64, len: i64) -> Result<()> {
    let _held = a.chunks().frame().map(Frame::lock_exclusive).transpose()?;
    refresh(a)?;
    let before = a.geometry()?;
    let axis = dimension(&before, axis)?;
    let extent = before.shape[axis];
    if len < 0 || len > extent || !(0..=extent).contains(&start) {
        return Err(Error::InvalidParam);
    }
    let mut shape = before.shape;
    shape[axis] -= len;
    let mut starts = before.shape;
    starts[axis] = start;
    let at_end = start == shape[axis];
    let ndim = before.ndim;
    resize(a, &shape[..ndim], (!at_end).then_some(&starts[..ndim]))
}
