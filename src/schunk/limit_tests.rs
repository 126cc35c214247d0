//! Tests of arguments at and beyond their limits, and of errors.

use super::chunks::{self, NewChunk, delete_at_once, insert_special};
use super::{SChunk, Storage, slices};
use crate::chunk::{CParams, Compressor, DParams, EXTENDED_HEADER_LENGTH, Special, special};
use crate::{Error, ErrorKind};
use std::io::{BufRead, Seek, SeekFrom};

fn create(storage: Storage, typesize: i32) -> SChunk {
    let params = CParams::default().typesize(typesize);
    SChunk::create(storage, params, DParams::default()).unwrap()
}

/// Returns a super-chunk of bytes with chunks of these sizes.
fn of_sizes(storage: Storage, sizes: &[usize]) -> SChunk {
    let mut schunk = create(storage, 1);
    for (number, &size) in (1..).zip(sizes) {
        schunk.append(&vec![number; size]).unwrap();
    }
    schunk
}

fn zeros(nbytes: i32) -> [u8; EXTENDED_HEADER_LENGTH] {
    let mut chunk = [0; EXTENDED_HEADER_LENGTH];
    special::zeros(&CParams::default().typesize(1), nbytes, &mut chunk).unwrap();
    chunk
}

#[test]
fn impossible_fills_change_nothing() {
    for (storage, refused) in
        [(Storage::memory(), Error::SchunkSpecial), (Storage::frame(), Error::FrameSpecial)]
    {
        let mut schunk = create(storage, 4);
        for (nitems, kind, chunksize, error) in [
            (-1, Special::Zero, 400, &Error::InvalidParam),
            (i64::MIN, Special::Zero, 400, &Error::InvalidParam),
            (10, Special::Zero, 0, &Error::InvalidParam),
            (10, Special::Zero, i32::MIN, &Error::InvalidParam),
            (10, Special::Zero, 3, &Error::InvalidParam),
            (10, Special::Zero, 402, &refused),
            (10, Special::Value, 400, &refused),
            (10, Special::None, 400, &refused),
            (i64::MAX, Special::Zero, 4, &Error::SchunkSpecial),
            (i64::MAX, Special::Zero, i32::MAX, &Error::SchunkSpecial),
        ] {
            let filled = schunk.fill(nitems, kind, chunksize);
            assert_eq!(filled.as_ref(), Err(error), "{nitems} {kind:?} {chunksize}");
        }
        assert_eq!(schunk.fill(0, Special::Zero, -1), Ok(0));
        assert_eq!((schunk.nchunks(), schunk.nbytes(), schunk.chunksize()), (0, 0, -1));
        assert_eq!(schunk.fill(10, Special::Zero, 16), Ok(3));
        assert_eq!(schunk.fill(10, Special::Zero, 16), Err(Error::FrameSpecial));
        assert_eq!(schunk.get::<i32>(..).unwrap(), [0; 10]);
    }
}

#[test]
fn chunk_numbers_and_orders_out_of_range_are_refused() {
    for storage in [Storage::memory(), Storage::frame()] {
        let mut schunk = of_sizes(storage, &[100, 100, 30]);
        let chunk = zeros(100);
        for number in [-1, 4, i64::MIN, i64::MAX] {
            assert_eq!(schunk.insert_chunk(number, &chunk), Err(Error::InvalidParam), "{number}");
        }
        for number in [-1, 3, i64::MIN, i64::MAX] {
            assert_eq!(schunk.update_chunk(number, &chunk), Err(Error::InvalidParam), "{number}");
            assert_eq!(schunk.delete_chunk(number), Err(Error::InvalidParam), "{number}");
            assert!(schunk.chunk(number).is_err() && schunk.decompress_to_vec(number).is_err());
        }
        for order in [&[][..], &[0, 1], &[0, 1, 2, 3], &[0, 1, 1], &[0, 1, 3], &[-1, 0, 1]] {
            assert_eq!(schunk.reorder(order), Err(Error::Data), "{order:?}");
        }
        for chunksize in [-1, 100] {
            assert_eq!(schunk.set_chunksize(chunksize), Err(Error::InvalidParam));
        }
        assert_eq!(schunk.set_typesize(0), Err(Error::InvalidParam));
        assert_eq!((schunk.nchunks(), schunk.nbytes(), schunk.chunksize()), (3, 230, 100));
        schunk.reorder(&[2, 0, 1]).unwrap();
        assert_eq!(schunk.decompress_to_vec(0).unwrap(), [3; 30]);
    }
    assert_eq!(create(Storage::memory(), 1).set_chunksize(-1), Err(Error::InvalidParam));
    assert_eq!(create(Storage::frame(), 1).reorder(&[]), Err(Error::Data));
    assert_eq!(create(Storage::memory(), 1).reorder(&[]), Ok(()));
}

#[test]
fn bytes_that_are_no_chunk_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut schunk = of_sizes(Storage::file(folder.path().join("f")), &[]);
    let data: Vec<u8> = (0..4000u32).flat_map(u32::to_le_bytes).collect();
    schunk.append(&data).unwrap();
    let lazy = chunks::lazy_chunk(schunk.state(), 0).unwrap().to_vec();
    let error = chunks::append(schunk.state_mut(), NewChunk::Copy(&lazy)).unwrap_err();
    assert_eq!(error.to_string(), "a lazy chunk cannot be stored");
    for len in 0..16 {
        let append = chunks::append(schunk.state_mut(), NewChunk::Copy(&lazy[..len]));
        assert_eq!(append, Err(Error::InvalidHeader), "{len}");
        assert_eq!(schunk.append_chunk(&lazy[..len]), Err(Error::InvalidHeader), "{len}");
    }
    let mut longer = schunk.chunk(0).unwrap().to_vec();
    longer.push(0);
    assert_eq!(schunk.append_chunk(&longer), Err(Error::InvalidHeader));
    assert_eq!(schunk.append_chunk(&longer[..longer.len() - 2]), Err(Error::InvalidHeader));
    assert_eq!(schunk.nchunks(), 1);
}

#[test]
fn a_chunk_with_a_short_header_is_stored_with_a_long_one() {
    // Version 2, stored, items of 1 byte; 4 bytes of data in one block; 20 bytes.
    let chunk = [2, 1, 2, 1, 4, 0, 0, 0, 4, 0, 0, 0, 20, 0, 0, 0, 5, 6, 7, 8];
    for storage in [Storage::memory(), Storage::frame()] {
        let mut schunk = create(storage, 1);
        schunk.append_chunk(&chunk).unwrap();
        schunk.append_chunk(&chunk).unwrap();
        assert_eq!(schunk.decompress_to_vec(1).unwrap(), [5, 6, 7, 8]);
        let bytes = schunk.to_bytes().unwrap();
        let again = SChunk::from_bytes(&bytes, DParams::default()).unwrap();
        assert!(again.chunk(0).unwrap().len() >= EXTENDED_HEADER_LENGTH);
        assert_eq!(again.get::<u8>(..).unwrap(), [5, 6, 7, 8, 5, 6, 7, 8]);
    }
}

#[test]
fn several_chunks_are_changed_at_once_only_if_all_have_one_size() {
    let mut memory = of_sizes(Storage::memory(), &[100, 100]);
    assert_eq!(insert_special(memory.state_mut(), &[1], &zeros(100)), Ok(false));
    let mut frame = of_sizes(Storage::frame(), &[100, 100]);
    let stored = frame.chunk(0).unwrap().to_vec();
    for (at, chunk) in [(&[][..], &zeros(100)[..]), (&[1], &zeros(99)), (&[1], &stored)] {
        assert_eq!(insert_special(frame.state_mut(), at, chunk), Ok(false), "{at:?}");
    }
    assert_eq!(insert_special(frame.state_mut(), &[0, 2], &zeros(100)), Ok(true));
    let expected = [[0; 100], [1; 100], [0; 100], [2; 100]].concat();
    assert_eq!(frame.get::<u8>(..).unwrap(), expected);
    assert_eq!(delete_at_once(frame.state_mut(), &[]), Ok(false));
    assert_eq!(delete_at_once(frame.state_mut(), &[0, 4]), Err(Error::InvalidParam));
    assert_eq!(delete_at_once(frame.state_mut(), &[0, 2]), Ok(true));
    assert_eq!(frame.get::<u8>(..).unwrap(), [[1; 100], [2; 100]].concat());
    let mut short = of_sizes(Storage::frame(), &[100, 30]);
    assert_eq!(insert_special(short.state_mut(), &[1], &zeros(100)), Ok(false));
    assert_eq!(delete_at_once(short.state_mut(), &[0]), Ok(false));
    assert_eq!(short.nbytes(), 130);
}

#[test]
fn only_existing_blocks_of_variable_length_are_returned() {
    let params = CParams::default().typesize(1);
    let mut compressor = Compressor::new(params).unwrap();
    let chunk = compressor.vl_compress_to_vec(&[b"one", b"three"]).unwrap();
    let mut schunk = create(Storage::memory(), 1);
    schunk.append_chunk(&chunk).unwrap();
    assert_eq!(schunk.vl_block(0, 1).unwrap(), b"three");
    for number in [-1, 2, i64::MIN, i64::MAX] {
        assert_eq!(schunk.vl_block(0, number), Err(Error::InvalidParam), "{number}");
    }
    assert_eq!(schunk.get_sparse(&[0], &mut [0]), Err(Error::InvalidParam));
    // Chunks of the other kind do not fit.
    assert_eq!(schunk.append(&[1; 100]), Err(Error::ChunkAppend));
    let fixed = of_sizes(Storage::memory(), &[100, 100]);
    assert_eq!(fixed.vl_block(0, 0), Err(Error::InvalidParam));
    let mut fixed = fixed;
    assert_eq!(fixed.update_chunk(0, &chunk), Err(Error::ChunkUpdate));
}

#[test]
fn ranges_of_items_have_these_chunks() {
    let schunk = of_sizes(Storage::memory(), &[100, 100, 30]);
    let of = |start, stop| slices::slice_chunks(schunk.state(), start, stop);
    for (start, stop, expected) in [
        (0, 100, 0..1),
        (0, 101, 0..2),
        (150, 150, 1..2),
        (100, 100, 1..1),
        (150, 100, 1..1),
        (5, -5, 0..0),
        (500, 600, 5..6),
        (i64::MAX, i64::MAX, i64::MAX / 100..i64::MAX / 100 + 1),
    ] {
        assert_eq!(of(start, stop), Ok(expected), "{start} {stop}");
    }
    for (start, stop) in [(-5, 5), (-1, -1), (i64::MIN, 0)] {
        assert_eq!(of(start, stop), Err(Error::InvalidParam), "{start} {stop}");
    }
    let empty = create(Storage::memory(), 4);
    assert_eq!(slices::slice_chunks(empty.state(), 3, 4), Ok(0..0));
    let variable = of_sizes(Storage::memory(), &[100, 30, 100]);
    assert_eq!(slices::slice_chunks(variable.state(), 0, 1), Err(Error::InvalidParam));
    let mut wide = create(Storage::memory(), 4);
    wide.append(&[0; 400]).unwrap();
    for (start, stop) in [(i64::MAX, i64::MAX), (0, i64::MAX), (i64::MIN, 0)] {
        assert_eq!(slices::slice_chunks(wide.state(), start, stop), Err(Error::InvalidParam));
    }
}

#[test]
fn items_out_of_range_are_neither_read_nor_written() {
    let mut schunk = of_sizes(Storage::memory(), &[100, 30]);
    let mut items = [7; 200];
    for (start, stop) in [(-1, 5), (0, 131), (130, 131), (0, i64::MAX), (i64::MIN, i64::MAX)] {
        let len = usize::try_from(stop.min(200)).unwrap();
        assert_eq!(schunk.get_slice(start, stop, &mut items), Err(Error::Failure));
        let set = schunk.set_slice(start, stop, &items[..len]);
        assert_eq!(set, Err(Error::InvalidParam), "{start} {stop}");
    }
    assert_eq!(schunk.get_slice(5, 5, &mut []), Ok(()));
    assert_eq!(schunk.get_slice(i64::MAX, i64::MIN, &mut []), Ok(()));
    assert_eq!(schunk.get_slice(0, 130, &mut items[..129]), Err(Error::Failure));
    for number in [-1, 130, i64::MIN, i64::MAX] {
        assert_eq!(schunk.get_sparse(&[0, number], &mut items[..2]), Err(Error::InvalidParam));
    }
    let selected = slices::get_sparse(schunk.state(), &[0, 1], &mut items[..3]);
    assert_eq!(selected, Err(Error::InvalidParam));
    assert_eq!(schunk.get::<u8>(..).unwrap(), [&[1; 100][..], &[2; 30]].concat());
}

#[test]
fn several_uninitialised_blocks_are_selected_as_zeros() {
    let mut schunk = of_sizes(Storage::memory(), &[100, 100]);
    let mut uninit = [0; EXTENDED_HEADER_LENGTH];
    let params = CParams::default().typesize(1).blocksize(32);
    special::uninit(&params, 100, &mut uninit).unwrap();
    schunk.update_chunk(1, &uninit).unwrap();
    let mut items = [9; 5];
    schunk.get_sparse(&[0, 100, 199, 99, 150], &mut items).unwrap();
    assert_eq!(items, [1, 0, 0, 1, 0]);
}

#[test]
fn locked_files_are_read_and_written_in_slices() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let storage = || Storage::file(&path).locking();
    let mut schunk = of_sizes(storage(), &[100, 100, 30]);
    let mut other = SChunk::open(storage(), DParams::default()).unwrap();
    schunk.set_slice(95, 105, &[9; 10]).unwrap();
    let mut items = [0; 4];
    other.get_slice(94, 98, &mut items).unwrap();
    assert_eq!(items, [1, 9, 9, 9]);
    // The other handle removes chunks that this one still knows.
    other.delete_chunk(2).unwrap();
    other.delete_chunk(1).unwrap();
    assert_eq!(schunk.get_slice(150, 154, &mut items), Err(Error::Failure));
    assert_eq!(schunk.set_slice(150, 154, &items), Err(Error::InvalidParam));
    assert_eq!(schunk.get_sparse(&[150], &mut items[..1]), Err(Error::InvalidParam));
    assert_eq!(schunk.nchunks(), 1);
    // With locks a file that is not valid is an error; without, it may be incomplete.
    std::fs::write(&path, b"no frame").unwrap();
    assert!(schunk.refresh().is_err());
}

#[test]
fn an_invalid_file_is_left_for_a_later_refresh_without_locks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let schunk = of_sizes(Storage::file(&path), &[100]);
    let frame = std::fs::read(&path).unwrap();
    std::fs::write(&path, b"no frame").unwrap();
    assert_eq!(schunk.refresh(), Ok(false));
    assert!(schunk.decompress_to_vec(0).is_err());
    std::fs::write(&path, frame).unwrap();
    assert_eq!(schunk.decompress_to_vec(0).unwrap(), [1; 100]);
}

#[test]
fn a_reader_reports_a_chunk_that_another_handle_has_shortened() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::file(folder.path().join("f"));
    let schunk = of_sizes(storage.clone(), &[100, 100, 100]);
    let mut reader = schunk.reader().unwrap();
    let mut other = SChunk::open(storage, DParams::default()).unwrap();
    other.update_chunk(1, &zeros(50)).unwrap();
    reader.seek(SeekFrom::Start(160)).unwrap();
    let error = reader.fill_buf().unwrap_err().to_string();
    assert!(error.contains("is shorter than the chunk size"), "{error}");
    reader.seek(SeekFrom::Start(140)).unwrap();
    assert_eq!(reader.fill_buf().unwrap(), [0; 10]);
}

#[test]
fn verification_lists_missing_plugins_and_incomplete_chunk_files() {
    let mut schunk = create(Storage::memory(), 1);
    let data: Vec<u8> = (0..4000).map(|i| (i / 3 % 251) as u8).collect();
    schunk.append(&data).unwrap();
    schunk.append(&data).unwrap();
    let mut chunk = schunk.chunk(1).unwrap().to_vec();
    // The codec 0xfe.
    chunk[2] |= 0xe0;
    chunk[22] = 0xfe;
    schunk.update_chunk(1, &chunk).unwrap();
    let report = schunk.verify().unwrap();
    assert_eq!((report.faults(), report.decompressed), (0, 2));
    let numbers = report.unverified_chunks.into_iter().flat_map(|(numbers, _)| numbers);
    assert_eq!(numbers.collect::<Vec<i64>>(), [1]);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d");
    let mut schunk = of_sizes(Storage::directory(&path), &[100, 100]);
    let chunk = path.join("00000001.chunk");
    let whole = std::fs::read(&chunk).unwrap();
    for len in [0, 15, 31, whole.len() - 1] {
        std::fs::write(&chunk, &whole[..len]).unwrap();
        let report = schunk.verify().unwrap();
        assert_eq!(report.bad_chunks.len(), 1, "{len}");
        assert_eq!(report.bad_chunks[0].0, 1..2, "{len}");
        assert!(schunk.decompress_to_vec(1).is_err(), "{len}");
        assert_eq!(schunk.decompress_to_vec(0).unwrap(), [1; 100]);
    }
    std::fs::remove_file(&chunk).unwrap();
    let missing = schunk.verify().unwrap().bad_chunks;
    assert_eq!((missing.len(), missing[0].1.kind()), (1, ErrorKind::FileOpen));
}
