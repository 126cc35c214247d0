//! Concatenation of arrays, and copies of items between arrays.

use super::MAX_DIM;
use super::geometry::Geometry;
use super::get::get;
use super::request::SliceRequest;
use super::resize::{dimension, resize, resize_by};
use super::set::set;
use super::state::{State, typesize};
use super::sync::{refresh, refresh_locked};
use super::transaction::atomically;
use crate::frame::Frame;
use crate::io::lock::Kind as LockKind;
use crate::schunk::chunks::{NewChunk, chunk, copied, update};
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

/// Appends the items of `source` to `target` along an axis. The two may be handles of one frame.
///
/// # Errors
/// Returns the errors of [`check`], [`resize`], reading and writing; [`Error::Lock`] for two handles
/// of one frame with locks.
pub fn extend<A: State + ?Sized, B: State + ?Sized>(
    target: &mut A,
    source: &B,
    axis: i8,
) -> Result<()> {
    let _held = target.chunks().frame().map(Frame::lock_exclusive).transpose()?;
    refresh(target)?;
    let _read = refresh_locked(source, LockKind::Shared)?;
    check(target, source, axis)?;
    // The copy uses the geometries before the resize, even if source and target are the same array.
    let (before, from) = (target.geometry()?, source.geometry()?);
    let axis = dimension(&before, axis)?;
    let mut shape = before.shape;
    shape[axis] = shape[axis].checked_add(from.shape[axis]).ok_or(Error::InvalidParam)?;
    let mut offset = [0; MAX_DIM];
    offset[axis] = before.shape[axis];
    atomically(target, |target| {
        resize(target, &shape[..before.ndim], None)?;
        copy_all(target, source, &from, &offset).inspect_err(|_| {
            // Removes the added items, which are zeros, as far as possible.
            let _ = resize_by(target, before.shape(), None, axis > 0);
        })
    })
}

/// Copies the items of `source`, which has the geometry `from` or had it before the target was
/// resized, to the target at `offset`.
fn copy_all<A: State + ?Sized, B: State + ?Sized>(
    target: &mut A,
    source: &B,
    from: &Geometry,
    offset: &[i64; MAX_DIM],
) -> Result<()> {
    if from.nitems == 0 {
        return Ok(());
    }
    // The resize has changed the numbers of the chunks of another handle of the same frame.
    refresh(source)?;
    let after = target.geometry()?;
    let is_aligned = after.has_partitions_of(from)
        && (0..from.ndim).all(|dim| offset[dim] % i64::from(after.chunkshape[dim]) == 0);
    if is_aligned {
        copy_chunks(target, source, from, offset)
    } else {
        copy_items(target, source, from, (&[0; MAX_DIM], offset))
    }
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
        let copied = copied(source.chunks(), (chunk_box.nchunk, &bytes), target.chunks());
        let is_unverified = copied.map_err(plugin::or_failure)?.is_unverified();
        let mut given = Some(bytes);
        let chunk = match &given {
            Some(bytes) if is_unverified => NewChunk::Unverified(bytes),
            _ => NewChunk::Give(&mut given),
        };
        update(target.chunks_mut(), number, chunk).map_err(plugin::or_failure)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::b2nd::{Array, Layout};
    use crate::chunk::{CParams, DParams, EXTENDED_HEADER_LENGTH, special};
    use crate::schunk::Storage;
    use std::path::Path;

    const SQUARE: Layout<'_> = Layout { shape: &[4, 4], chunkshape: &[2, 2], blockshape: &[1, 2] };

    fn square(storage: Storage) -> Array {
        let items: Vec<i32> = (0..16).collect();
        Array::from_items(storage, CParams::default(), &SQUARE, &items).unwrap()
    }

    /// Returns the items of the square, twice along axis 1.
    fn twice() -> Vec<i32> {
        (0..4).flat_map(|row| (0..8).map(move |column| 4 * row + column % 4)).collect()
    }

    /// Returns storages of each kind at a path.
    fn storages(path: &Path) -> [Storage; 6] {
        let at = |name: &str| path.join(name);
        [
            Storage::memory(),
            Storage::frame(),
            Storage::file(at("file")),
            Storage::file(at("durable")).durable(),
            Storage::directory(at("directory")),
            Storage::directory(at("durable directory")).durable(),
        ]
    }

    #[test]
    fn row_n44_an_array_is_extended_by_another_handle_of_itself() {
        let folder = tempfile::tempdir().unwrap();
        for (number, storage) in storages(folder.path()).into_iter().enumerate().skip(2) {
            let mut array = square(storage.clone());
            let other = Array::open(storage.clone(), DParams::default()).unwrap();
            array.extend(&other, 1).unwrap();
            assert_eq!(array.get::<i32>(..).unwrap(), twice(), "{number}");
            assert_eq!(other.get::<i32>(..).unwrap(), twice(), "{number}");
            // If the axis ends within a chunk, items are copied instead of chunks.
            array.resize(&[4, 3], None).unwrap();
            array.extend(&other, 1).unwrap();
            let row = [0, 1, 2, 0, 1, 2];
            assert_eq!(array.get::<i32>((0, ..)).unwrap(), row, "{number}");
            let again = Array::open(storage, DParams::default()).unwrap();
            assert_eq!(again.get::<i32>(..).unwrap(), array.get::<i32>(..).unwrap());
        }
    }

    #[test]
    fn row_n44_a_locked_array_does_not_wait_for_itself() {
        let folder = tempfile::tempdir().unwrap();
        for storage in storages(folder.path()).into_iter().skip(2) {
            let mut array = square(storage.clone().locking());
            let other = Array::open(storage.locking(), DParams::default()).unwrap();
            assert_eq!(array.extend(&other, 1), Err(Error::Lock));
            assert_eq!(array.shape(), [4, 4]);
            assert_eq!(other.get::<i32>(..).unwrap(), (0..16).collect::<Vec<i32>>());
        }
    }

    #[test]
    fn an_array_keeps_its_shape_if_the_other_one_cannot_be_read() {
        let mut damaged = square(Storage::memory());
        // A chunk of another size.
        let mut zeros = [0; EXTENDED_HEADER_LENGTH];
        special::zeros(&CParams::default().typesize(4), 32, &mut zeros).unwrap();
        damaged.schunk_mut().update_chunk(3, &zeros).unwrap();
        let items: Vec<i32> = (20..32).collect();
        for (axis, shape) in [(0, [3, 4]), (1, [4, 3])] {
            let folder = tempfile::tempdir().unwrap();
            for (number, storage) in storages(folder.path()).into_iter().enumerate() {
                let layout = Layout { shape: &shape, ..SQUARE };
                let array = Array::from_items(storage, CParams::default(), &layout, &items);
                let mut array = array.unwrap();
                let nchunks = array.schunk().nchunks();
                assert_eq!(array.extend(&damaged, axis), Err(Error::Failure), "{number}");
                assert_eq!(array.shape(), shape, "{number}");
                assert_eq!(array.schunk().nchunks(), nchunks, "{number}");
                assert_eq!(array.get::<i32>(..).unwrap(), items, "{number}");
                array.extend(&square(Storage::memory()), axis).unwrap();
                let extent = array.shape();
                let last = array.get::<i32>((extent[0] - 1, extent[1] - 1));
                assert_eq!(last.unwrap(), [15], "{number}");
            }
        }
    }
}
