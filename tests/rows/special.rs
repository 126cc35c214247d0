//! Chunks that consist of a header, or of a header and one value.

use ferroblosc::Error;
use ferroblosc::chunk::{CParams, DParams, Decompressor, special};

use crate::common::*;

fn made(nbytes: i32, make: impl Fn(i32, &mut [u8]) -> ferroblosc::Result<usize>) -> Vec<u8> {
    let mut dest = vec![0; 1000];
    let size = make(nbytes, &mut dest).unwrap();
    dest.truncate(size);
    dest
}

fn value_of(width: usize) -> Vec<u8> {
    (0..width).map(|i| (i * 3 + 1) as u8).collect()
}

#[test]
fn row_c45_ranges_of_a_long_value_begin_at_the_requested_item() {
    for width in [300, 1000] {
        let value = value_of(width);
        let params = lz4(width as i32, &[]);
        let mut chunk = vec![0; 32 + width];
        let nbytes = 10 * width;
        let size = special::repeatval(&params, nbytes as i32, &value, &mut chunk);
        assert_eq!(size, Ok(32 + width));
        assert_eq!(chunk[at::TYPESIZE], 1);
        let data = value.repeat(10);
        assert_eq!(decompress(&chunk, nbytes).as_ref(), Ok(&data));
        for (start, count) in [(10, 300), (0, 1), (299, 2), (nbytes - 7, 7), (5, nbytes - 5)] {
            assert_eq!(
                getitem(&chunk, start as i32, count as i32, count).as_deref(),
                Ok(&data[start..start + count])
            );
            let mut dest = vec![0; count];
            let read = Decompressor::new(DParams::default()).getitem_bytes(
                &chunk,
                start as i32,
                count as i32,
                &mut dest,
            );
            assert_eq!((read, &dest[..]), (Ok(count), &data[start..start + count]));
        }
    }
}

#[test]
fn row_c45_the_item_size_of_a_value_chunk_is_that_of_the_header() {
    let chunk = made(40, |n, dest| special::repeatval(&lz4(4, &[]), n, &[1, 2, 3, 4], dest));
    assert_eq!(getitem(&chunk, 3, 2, 8), Ok(vec![1, 2, 3, 4, 1, 2, 3, 4]));
    let tampered = with_byte(&chunk, at::TYPESIZE, 2);
    assert_eq!(getitem(&tampered, 3, 2, 8), Ok(vec![3, 4, 1, 2]));
}

#[test]
fn row_c48_nans_of_any_item_size_can_be_made_but_only_floats_read() {
    for (typesize, nan) in
        [(4, f32::NAN.to_le_bytes().to_vec()), (8, f64::NAN.to_le_bytes().to_vec())]
    {
        let chunk = made(80, |n, dest| special::nans(&lz4(typesize, &[]), n, dest));
        assert_eq!(decompress(&chunk, 80), Ok(nan.repeat(80 / nan.len())));
        assert_eq!(getitem(&chunk, 2, 1, 8), Ok(nan));
    }
    for typesize in [1, 2, 16] {
        let chunk = made(80, |n, dest| special::nans(&lz4(typesize, &[]), n, dest));
        assert_eq!(decompress(&chunk, 80), Err(Error::Data));
        assert_eq!(getitem(&chunk, 1, 1, 16), Err(Error::Data));
    }
}

#[test]
fn uninitialised_chunks_do_not_write_the_destination() {
    let chunk = made(80, |n, dest| special::uninit(&lz4(8, &[]), n, dest));
    assert_eq!(decompress(&chunk, 80), Ok(vec![UNTOUCHED; 80]));
    assert_eq!(getitem(&chunk, 2, 3, 24), Ok(vec![UNTOUCHED; 24]));
}

#[test]
fn zeros_need_not_be_whole_items() {
    let chunk = made(80, |n, dest| special::zeros(&lz4(8, &[]), n, dest));
    let odd = with_i32(&chunk, at::NBYTES, 77);
    assert_eq!(decompress(&odd, 77), Ok(vec![0; 77]));
    assert_eq!(getitem(&odd, 9, 1, 8), Err(Error::InvalidParam));
}

#[test]
fn inconsistent_special_chunks_are_refused() {
    let params = lz4(8, &[]);
    let nans = made(80, |n, dest| special::nans(&params, n, dest));
    let uninit = made(80, |n, dest| special::uninit(&params, n, dest));
    let value = made(80, |n, dest| special::repeatval(&params, n, &[7; 8], dest));
    for chunk in [
        with_i32(&nans, at::NBYTES, 76),
        with_i32(&uninit, at::NBYTES, 76),
        with_i32(&value, at::NBYTES, 76),
        with_i32(&value, at::CBYTES, 32),
        with_i32(&value, at::CBYTES, 39),
        with_i32(&value, at::CBYTES, 41),
        with_i32(&value, at::CBYTES, 48),
        with_i32(&value, at::NBYTES, 4),
        with_byte(&value, at::FLAGS2, 1),
        with_byte(&nans, at::FLAGS2, 1),
    ] {
        assert_eq!(decompress(&chunk, 80), Err(Error::InvalidHeader));
        assert_eq!(getitem(&chunk, 0, 1, 8), Err(Error::InvalidHeader));
    }
}

#[test]
fn unknown_special_types_are_refused() {
    let zeros = made(80, |n, dest| special::zeros(&lz4(8, &[]), n, dest));
    for kind in [5, 6, 7] {
        let chunk = with_byte(&zeros, at::BLOSC2_FLAGS, kind << 4);
        assert_eq!(decompress(&chunk, 80), Err(Error::Data));
        assert_eq!(getitem(&chunk, 0, 1, 8), Err(Error::SchunkSpecial));
    }
}

#[test]
fn special_chunks_are_never_lazy() {
    let zeros = made(80, |n, dest| special::zeros(&lz4(8, &[]), n, dest));
    let lazy = with_byte(&zeros, at::BLOSC2_FLAGS, 0x10 | flags::LAZY);
    assert_eq!(decompress(&lazy, 80), Ok(vec![0; 80]));
    assert_eq!(getitem(&lazy, 1, 2, 16), Ok(vec![0; 16]));
    let value = made(80, |n, dest| special::repeatval(&lz4(8, &[]), n, &[7; 8], dest));
    let mut cut = with_byte(&value, at::BLOSC2_FLAGS, 0x30 | flags::LAZY);
    cut.truncate(36);
    assert!(decompress(&cut, 80).is_err());
    assert!(getitem(&cut, 0, 1, 8).is_err());
}

#[test]
fn making_special_chunks_has_the_errors_of_the_reference() {
    let params = CParams::default();
    let mut dest = [0; 64];
    assert_eq!(special::zeros(&params, 80, &mut dest[..31]), Err(Error::Data));
    assert_eq!(special::zeros(&params, 81, &mut dest), Err(Error::Data));
    assert_eq!(special::repeatval(&params, 80, &[1; 8], &mut dest[..39]), Err(Error::Data));
    assert_eq!(special::repeatval(&params, 80, &[1; 7], &mut dest), Err(Error::InvalidParam));
    let unknown_filter = lz4(8, &[slot(5, 0)]);
    assert_eq!(special::zeros(&unknown_filter, 80, &mut dest), Err(Error::NullPointer));
    let mut dense = params;
    dense.clevel = 10;
    assert_eq!(special::zeros(&dense, 80, &mut dest), Err(Error::CodecParam));
}

#[test]
fn special_chunks_may_be_empty() {
    for make in [special::zeros, special::nans, special::uninit] {
        for typesize in [1, 2, 8] {
            let empty = made(0, |n, dest| make(&lz4(typesize, &[]), n, dest));
            assert_eq!(decompress(&empty, 0), Ok(vec![]));
            assert_eq!(decompress(&empty, 9), Ok(vec![]));
        }
    }
}
