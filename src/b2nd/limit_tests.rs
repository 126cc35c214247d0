//! Tests of arguments at and beyond their limits.

use super::meta;
use super::request::{SliceRequest, slice_chunks};
use super::selection::Selection;
use super::view::{has_numbers_of, squeezed};
use super::{Array, Fill, Geometry, Layout};
use crate::chunk::{CParams, DParams, EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, Special, special};
use crate::schunk::{SChunk, Storage};
use crate::{Error, Result};

const GRID: Layout<'_> = Layout { shape: &[4, 6], chunkshape: &[2, 3], blockshape: &[2, 2] };

/// Returns an array of ascending bytes.
fn bytes(storage: Storage, params: CParams, layout: &Layout<'_>) -> Array {
    let items: Vec<u8> = (0..layout.shape.iter().product::<i64>() as u8).collect();
    Array::from_items(storage, params, layout, &items).unwrap()
}

fn grid() -> Array {
    bytes(Storage::memory(), CParams::default(), &GRID)
}

fn without_dimensions() -> Array {
    Array::full(Storage::memory(), CParams::default(), [], 7u8).unwrap()
}

/// Replaces a chunk by zeros of another size.
fn damage(array: &mut Array, nchunk: i64) {
    let mut zeros = [0; EXTENDED_HEADER_LENGTH];
    special::zeros(&CParams::default().typesize(1), 99, &mut zeros).unwrap();
    array.schunk_mut().update_chunk(nchunk, &zeros).unwrap();
}

#[test]
fn chunks_and_blocks_above_their_limits_are_refused() {
    let zeros = |chunk: i32, block: i32| {
        let layout = Layout { shape: &[4], chunkshape: &[chunk], blockshape: &[block] };
        let params = CParams::default().typesize(1);
        Array::zeros(Storage::memory(), params, &layout, "|u1").map(drop)
    };
    assert_eq!(zeros(i32::MAX, 1 << 20), Err(Error::MaxBufsizeExceeded));
    let block = MAX_BLOCKSIZE + 1;
    assert_eq!(zeros(block, block), Err(Error::InvalidParam));
    assert_eq!(zeros(block - 1, block - 1), Ok(()));
}

#[test]
fn items_of_all_sizes_round_trip() {
    for typesize in [1usize, 2, 255, 256, 300] {
        let items: Vec<u8> = (0..24 * typesize).map(|i| (i * 7 / 3) as u8).collect();
        let params = CParams::default().typesize(typesize as i32);
        for storage in [Storage::memory(), Storage::frame()] {
            let array = Array::from_item_bytes(storage, params.clone(), &GRID, "", &items).unwrap();
            assert_eq!(array.items().unwrap(), items, "{typesize}");
            let item = array.get_slice(&[3, 5], &[4, 6]).unwrap();
            assert_eq!(item, items[23 * typesize..]);
        }
    }
    for typesize in [0, -1, i32::MIN] {
        let params = CParams::default().typesize(typesize);
        let array = Array::zeros(Storage::memory(), params, &GRID, "");
        assert_eq!(array.err(), Some(Error::InvalidParam), "{typesize}");
    }
}

#[test]
fn values_must_have_the_item_size_and_nans_an_item_size_of_floats() {
    let create = |typesize, fill: Fill<'_>| {
        let params = CParams::default().typesize(typesize);
        Array::create(Storage::memory(), params, &GRID, "", fill)
    };
    for len in [0, 3, 5] {
        assert_eq!(create(4, Fill::Value(&[1; 8][..len])).err(), Some(Error::InvalidParam));
    }
    for typesize in [1, 2, 3, 16] {
        assert_eq!(create(typesize, Fill::Special(Special::Nan)).err(), Some(Error::Data));
    }
    let nans = create(8, Fill::Special(Special::Nan)).unwrap();
    assert_eq!(nans.items().unwrap(), f64::NAN.to_ne_bytes().repeat(24));
}

#[test]
fn slices_outside_the_array_and_buffers_of_other_sizes_are_refused() {
    let mut array = grid();
    for (start, stop) in [
        (&[0][..], &[1][..]),
        (&[0, 0], &[1]),
        (&[0, 0, 0], &[1, 1, 1]),
        (&[2, 0], &[1, 6]),
        (&[-1, 0], &[1, 6]),
        (&[0, 0], &[4, 7]),
        (&[0, 0], &[i64::MAX, 6]),
        (&[i64::MIN, 0], &[i64::MAX, 6]),
    ] {
        assert_eq!(array.get_slice(start, stop), Err(Error::InvalidParam), "{start:?} {stop:?}");
        assert_eq!(array.set_slice(start, stop, &[9; 6]), Err(Error::InvalidParam));
    }
    for len in [0, 5, 7] {
        let mut dest = vec![0; len];
        let read = array.get_slice_into(&[1, 0], &[2, 6], &mut dest);
        assert_eq!(read, Err(Error::InvalidParam));
        assert_eq!(array.set_slice(&[1, 0], &[2, 6], &dest), Err(Error::InvalidParam));
    }
    // An empty slice may begin anywhere.
    assert_eq!(array.get_slice(&[100, 0], &[100, 6]), Ok(vec![]));
    array.set_slice(&[100, 0], &[100, 6], &[]).unwrap();
    assert_eq!(array.get::<u8>(..).unwrap(), (0..24).collect::<Vec<u8>>());
    let request =
        |size| SliceRequest::new(&array.geometry(), 1, &[0, 0], &[2, 3], &[2, 4], size).map(drop);
    assert_eq!((request(6), request(5)), (Ok(()), Err(Error::InvalidParam)));
    let chunks = |shape: &[i64], start: i64| {
        let geometry = Geometry::new(shape, &[2, 3], &[2, 2]).unwrap();
        slice_chunks(&geometry, &[start, 0], &[4, 6])
    };
    assert_eq!(chunks(&[4, 6], 2), Ok(vec![2, 3]));
    assert_eq!(chunks(&[4, 6], -1), Err(Error::InvalidParam));
    assert_eq!(chunks(&[0, 6], -1), Ok(vec![]));
}

#[test]
fn impossible_shapes_are_refused() {
    let mut array = bytes(
        Storage::memory(),
        CParams::default(),
        &Layout { shape: &[8], chunkshape: &[2], blockshape: &[2] },
    );
    for (shape, start) in [
        (&[8, 1][..], None),
        (&[9], Some(&[0, 0][..])),
        (&[-1], None),
        (&[-2], Some(&[0][..])),
        (&[10], Some(&[-2])),
        (&[10], Some(&[10])),
        (&[9], Some(&[2])),
        (&[10], Some(&[3])),
        // The removed items do not exist.
        (&[4], Some(&[6])),
        (&[i64::MAX], None),
    ] {
        let resized = array.resize(shape, start);
        assert_eq!(resized, Err(Error::InvalidParam), "{shape:?} {start:?}");
    }
    for (start, len) in [(0, -1), (0, 9), (-1, 1), (9, 0), (0, i64::MAX), (i64::MIN, 1)] {
        assert_eq!(array.delete(0, start, len), Err(Error::InvalidParam), "{start} {len}");
    }
    for axis in [-1, 1, i8::MIN, i8::MAX] {
        assert_eq!(array.append(&[1], axis), Err(Error::InvalidParam), "{axis}");
    }
    assert_eq!(array.insert(&[1, 1], 0, 9), Err(Error::InvalidParam));
    assert_eq!(array.get::<u8>(..).unwrap(), (0..8).collect::<Vec<u8>>());
    assert_eq!(without_dimensions().append(&[1], 0), Err(Error::InvalidParam));
    let layout = Layout { shape: &[0], chunkshape: &[0], blockshape: &[0] };
    let mut empty = bytes(Storage::memory(), CParams::default(), &layout);
    assert_eq!(empty.append(&[1], 0), Err(Error::InvalidParam));
    empty.append(&[], 0).unwrap_err();
}

#[test]
fn a_buffer_of_the_size_of_a_padded_chunk_is_appended_item_by_item() {
    let layout = Layout { shape: &[3], chunkshape: &[3], blockshape: &[2] };
    let mut array = bytes(Storage::memory(), CParams::default(), &layout);
    assert_eq!(array.schunk().chunksize(), 4);
    array.append(&[3, 4, 5, 6], 0).unwrap();
    assert_eq!(array.get::<u8>(..).unwrap(), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn impossible_selections_are_refused() {
    let mut array = grid();
    assert_eq!(array.get_sparse(&[]), Ok(vec![]));
    for number in [-1, 24, i64::MAX, i64::MIN] {
        assert_eq!(array.get_sparse(&[0, number]), Err(Error::InvalidParam), "{number}");
    }
    assert_eq!(without_dimensions().get_sparse(&[0]), Err(Error::InvalidParam));
    assert_eq!(without_dimensions().get_orthogonal(&[]), Err(Error::InvalidParam));
    for lists in [&[][..], &[&[0][..]], &[&[0], &[0], &[0]]] {
        assert_eq!(array.get_orthogonal(lists), Err(Error::InvalidParam));
    }
    for lists in [[&[4][..], &[0]], [&[0], &[-1]], [&[i64::MIN], &[0]], [&[0], &[i64::MAX]]] {
        assert_eq!(array.get_orthogonal(&lists), Err(Error::InvalidIndex));
        assert_eq!(array.set_orthogonal(&lists, &[1]), Err(Error::InvalidIndex));
    }
    let lists = [&[3, 0][..], &[5, 1, 5]];
    assert_eq!(array.get_orthogonal(&lists), Ok(vec![23, 19, 23, 5, 1, 5]));
    for len in [0, 5, 7] {
        assert_eq!(array.set_orthogonal(&lists, &vec![1; len]), Err(Error::InvalidParam));
    }
    let select = |shape: &[i64]| Selection::new(&array, &lists, shape, 6).map(drop);
    assert_eq!(select(&[2, 4]), Ok(()));
    for shape in [&[2][..], &[2, 2], &[1, 3], &[-2, 3], &[i64::MAX, i64::MAX], &[2, 3, 1]] {
        assert_eq!(select(shape), Err(Error::InvalidParam), "{shape:?}");
    }
    assert_eq!(array.get::<u8>(..).unwrap(), (0..24).collect::<Vec<u8>>());
}

#[test]
fn uninitialised_items_are_zeros_in_selections_and_after_a_change_beside_them() {
    for threads in [1, 2] {
        let content = Fill::Special(Special::Uninit);
        let params = CParams::default().typesize(1).threads(threads);
        let create = || Array::create(Storage::memory(), params.clone(), &GRID, "|u1", content);
        let mut array = create().unwrap();
        assert_eq!(array.get_orthogonal(&[&[0, 3], &[0, 5]]), Ok(vec![0; 4]));
        assert_eq!(array.get_sparse(&[0, 23]), Ok(vec![0; 2]));
        array.set_slice(&[0, 0], &[4, 5], &[7; 20]).unwrap();
        let rows = array.items().unwrap();
        assert!(rows.chunks(6).all(|row| row == [7, 7, 7, 7, 7, 0]), "{rows:?}");
    }
}

#[test]
fn a_chunk_of_another_size_is_an_error_for_any_number_of_threads() {
    for threads in [1, 2] {
        for nchunk in 0..4 {
            let params = CParams::default().threads(threads);
            let mut array = bytes(Storage::memory(), params, &GRID);
            damage(&mut array, nchunk);
            assert_eq!(array.items(), Err(Error::Failure), "{nchunk}");
            assert_eq!(array.get_orthogonal(&[&[0, 3], &[0, 5]]), Err(Error::Failure));
            // No chunk is covered completely, so each must be read.
            let changed = array.set_slice(&[1, 1], &[3, 5], &[9; 8]);
            assert_eq!(changed, Err(Error::Failure), "{nchunk}");
            // The other chunks can still be read.
            let item = |row, column| array.get_slice(&[row, column], &[row + 1, column + 1]);
            let corners = [item(0, 0), item(0, 5), item(3, 0), item(3, 5)];
            for (number, (read, expected)) in corners.into_iter().zip([0, 5, 18, 23]).enumerate() {
                let is_damaged = number as i64 == nchunk;
                assert_eq!(read, if is_damaged { Err(Error::Failure) } else { Ok(vec![expected]) });
            }
        }
    }
}

#[test]
fn views_need_matching_dimensions_and_no_other_metalayers() {
    let array = grid();
    assert_eq!(array.expand_dims(&[true, false]).err(), Some(Error::InvalidParam));
    let params = CParams::default().typesize(1);
    let layers: [(&[u8], &[u8]); 1] = [(b"other", b"content")];
    let other = Array::zeros_with(Storage::memory(), params, &GRID, "|u1", &layers).unwrap();
    assert_eq!(other.expand_dims(&[true, false, false]).err(), Some(Error::InvalidParam));
    assert_eq!(other.squeeze().err(), Some(Error::InvalidParam));
    let thick = Geometry::new(&[1, 4], &[2, 2], &[1, 2]).unwrap();
    assert_eq!(squeezed(&thick, &[true, false]), Err(Error::InvalidParam));
    assert_eq!(squeezed(&thick, &[true]), Err(Error::InvalidParam));
    let empty = Geometry::new(&[4, 0], &[2, 2], &[2, 2]).unwrap();
    assert!(has_numbers_of(&empty, &thick));
}

#[test]
fn copies_and_extensions_need_matching_arrays() {
    let mut array = grid();
    let copy = |typesize, range: (&[i64], &[i64])| -> Result<Vec<u8>> {
        let params = CParams::default().typesize(typesize);
        array.copy_slice(Storage::memory(), params, &GRID, range)?.items()
    };
    assert_eq!(copy(1, (&[3, 4], &[4, 6])), Ok(vec![22, 23]));
    assert_eq!(copy(2, (&[3, 4], &[4, 6])), Err(Error::InvalidParam));
    assert_eq!(copy(1, (&[3], &[4])), Err(Error::InvalidParam));
    assert_eq!(copy(1, (&[3, 4], &[4])), Err(Error::InvalidParam));
    assert_eq!(copy(1, (&[3, 6], &[4, 4])), Err(Error::InvalidParam));
    let full = |shape: &[i64]| Array::full(Storage::memory(), CParams::default(), shape, 9u8);
    let wide = Array::full(Storage::memory(), CParams::default(), [4, 6], 9u16).unwrap();
    assert_eq!(array.extend(&wide, 0), Err(Error::InvalidParam));
    for (shape, axis) in [(&[4][..], 0), (&[4, 6, 1], 0), (&[4, 5], 0), (&[3, 6], 1), (&[4, 6], 2)]
    {
        assert_eq!(array.extend(&full(shape).unwrap(), axis), Err(Error::InvalidParam));
    }
    array.extend(&full(&[0, 6]).unwrap(), 0).unwrap();
    assert_eq!(array.shape(), [4, 6]);
    // Other chunks: the items are copied.
    array.extend(&full(&[1, 6]).unwrap(), 0).unwrap();
    assert_eq!(array.get::<u8>((4, ..)).unwrap(), [9; 6]);
    assert_eq!(array.get::<u8>((..4, ..)).unwrap(), (0..24).collect::<Vec<u8>>());
}

#[test]
fn other_chunks_in_the_metalayer_of_another_writer_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::file(folder.path().join("a")).durable();
    let mut array = bytes(storage.clone(), CParams::default(), &GRID);
    let mut other = SChunk::open(storage, DParams::default()).unwrap();
    let before = other.metalayer(meta::NAME).unwrap();
    for (chunkshape, blockshape) in [(&[2, 2], &[2, 2]), (&[2, 3], &[1, 2])] {
        let dtype = array.dtype().map(str::as_bytes);
        let now = meta::serialize(GRID.shape, chunkshape, blockshape, dtype, 0).unwrap();
        other.update_metalayer(meta::NAME, &now).unwrap();
        assert_eq!(array.refresh(), Err(Error::Data));
        assert_eq!(array.transaction().err(), Some(Error::Data));
        assert_eq!(array.get::<u8>(..), Err(Error::Data));
        other.update_metalayer(meta::NAME, &before).unwrap();
        // No transaction is open.
        array.set((0, 0), &[0u8]).unwrap();
        assert_eq!(array.get::<u8>(..).unwrap(), (0..24).collect::<Vec<u8>>());
    }
}
