//! Known streams, round trips, and invalid streams.

use super::layout::{HEADER_LEN, LITERAL};
use super::*;
use crate::blockshape::tests::Array;
use proptest::prelude::*;

fn call(array: &Array, meta: u8) -> CodecCall<'_> {
    CodecCall { level: 5, meta, ctx: array.call_context() }
}

fn decode(meta: u8, stream: &[u8], len: usize) -> Result<Vec<u8>> {
    let array = Array::new(1, &[1]);
    let mut dest = vec![0xEE; len];
    let made = Ndlz.decode(&call(&array, meta), stream, &mut dest)?;
    dest.truncate(made);
    Ok(dest)
}

fn encode(meta: u8, (height, width): (usize, usize), block: &[u8]) -> Option<Vec<u8>> {
    let array = Array::new(1, &[height as i32, width as i32]);
    let mut dest = vec![0; block.len()];
    let len = Ndlz.encode(&call(&array, meta), block, &mut dest).unwrap();
    dest.truncate(len);
    (len > 0).then_some(dest)
}

/// Returns a block of cells, `columns` of them side by side.
fn block_of<const SIDE: usize>(cells: &[[[u8; SIDE]; SIDE]], columns: usize) -> Vec<u8> {
    let mut block = Vec::new();
    for line in cells.chunks(columns) {
        for row in 0..SIDE {
            line.iter().for_each(|cell| block.extend_from_slice(&cell[row]));
        }
    }
    block
}

const A: [[u8; 4]; 4] = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]];

fn known_4() -> (Vec<u8>, Vec<u8>) {
    let cells = [
        A,
        A,
        [[7; 4]; 4],
        [A[0], A[1], A[2], *b"ABCD"],
        [*b"efgh", A[1], A[2], A[3]],
        [A[0], A[1], *b"zyxw", *b"srqp"],
        [*b"abcd", *b"mnop", A[2], A[3]],
        A,
    ];
    let stream = [
        b"\x02\x08\0\0\0\x10\0\0\0".as_slice(),
        b"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10",
        b"\xc0\x10\0",
        b"\x40\x07",
        b"\xe8\x15\0ABCD",
        b"\xe0\x18\0efgh",
        b"\x88\x23\0zyxwsrqp",
        b"\x80\x26\0abcdmnop",
        b"\xc0\x39\0",
    ];
    (block_of(&cells, 4), stream.concat())
}

fn known_8() -> (Vec<u8>, Vec<u8>) {
    let first: [[u8; 8]; 8] = std::array::from_fn(|y| std::array::from_fn(|x| (8 * y + x) as u8));
    let mut third = first;
    for (row, value) in [(0, 0x4C), (1, 0x4D), (5, 0x4E), (6, 0x4F), (7, 0x50)] {
        third[row] = [value; 8];
    }
    let mut last = first;
    for (row, values) in last[..6].iter_mut().enumerate() {
        *values = std::array::from_fn(|x| (0x64 + 8 * row + x) as u8);
    }
    let mut stream = b"\x02\x10\0\0\0\x10\0\0\0\0".to_vec();
    stream.extend(0..64);
    stream.extend(b"\xc0\x40\0\xaa\x33\0");
    (0x4C..=0x50).for_each(|value| stream.extend([value; 8]));
    stream.extend(b"\x8e\x3e\0");
    stream.extend(0x64..0x94);
    (block_of(&[first, first, third, last], 2), stream)
}

#[test]
fn known_streams_are_read_and_written() {
    for (meta, shape, (block, stream)) in [(4, (8, 16), known_4()), (8, (16, 16), known_8())] {
        assert_eq!(decode(meta, &stream, block.len()).as_deref(), Ok(&*block));
        let made = encode(meta, shape, &block).expect("shorter than the block");
        assert_eq!(decode(meta, &made, block.len()).as_deref(), Ok(&*block));
        assert_eq!(made, stream, "cells of side {meta}");
    }
}

#[test]
fn low_bits_of_4x4_tokens_are_ignored_and_invalid_tokens_rejected() {
    let (block, stream) = known_4();
    let second = HEADER_LEN + 17;
    for (token, is_valid) in
        [(0xC0, true), (0xC1, false), (0x41, false), (0xA0, false), (0x81, false)]
    {
        let mut stream = stream.clone();
        stream[second] = token;
        assert_eq!(decode(4, &stream, block.len()).is_ok(), is_valid, "{token:#x}");
    }
    let e8 = second + 5;
    assert_eq!(stream[e8], 0xE8);
    for token in 0xE8..0xF0 {
        let mut stream = stream.clone();
        stream[e8] = token;
        assert_eq!(decode(4, &stream, block.len()).as_deref(), Ok(&*block));
    }
}

#[test]
fn row_c65_offsets_near_the_16_bit_limit_are_read() {
    // 4095 literal cells, then one with almost the largest 16-bit offsets.
    for (token, rows, offset) in [(0xE8, 1, 65_534), (0x30, 0, 65_532), (0xC0, 0, 65_535)] {
        let mut stream = vec![2];
        stream.extend(4i32.to_le_bytes());
        stream.extend((4 * 4096i32).to_le_bytes());
        for i in 0..4095u32 {
            stream.push(0);
            (0..4).for_each(|row| stream.extend((i * 4 + row).to_le_bytes()));
        }
        let origin = stream.len();
        stream.push(token);
        stream.extend((offset as u16).to_le_bytes());
        if token == 0x30 {
            stream.extend((offset as u16).to_le_bytes());
        }
        stream.extend(vec![9; 4 * rows]);
        let block = decode(4, &stream, 4 * 4 * 4096).expect("a valid stream");
        assert_eq!(block[4 * 4095..4 * 4096], stream[origin - offset..][..4], "{token:#x}");
    }
}

#[test]
fn row_c65_the_encoder_writes_no_offset_that_older_decoders_misread() {
    // The first cell, more than 64 KiB of different cells, and the first cell again.
    let mut cells: Vec<[[u8; 4]; 4]> = (0..3900u32)
        .map(|i| {
            std::array::from_fn(|row| (i * 4 + row as u32).wrapping_mul(0x9E37_79B9).to_le_bytes())
        })
        .collect();
    let mut tail = [[[5; 4]; 4]; 5000];
    tail[4999] = cells[0];
    cells.extend(tail);
    let block = block_of(&cells, cells.len());
    let stream = encode(4, (4, 4 * cells.len()), &block).expect("shorter than the block");
    let last = &stream[stream.len() - 17..];
    assert_eq!(last[0], LITERAL, "too far to refer to");
    assert_eq!(decode(4, &stream, block.len()).as_deref(), Ok(&*block));
}

#[test]
fn blocks_without_two_dimensions_are_rejected() {
    let mut dest = [0; 256];
    let block = [1; 256];
    for (shape, meta) in
        [(&[256][..], 4), (&[4, 8, 8], 4), (&[16, 15], 4), (&[16, 16], 5), (&[16, 16], 0)]
    {
        let array = Array::new(1, shape);
        let result = Ndlz.encode(&call(&array, meta), &block, &mut dest);
        assert_eq!(result, Err(Error::Data), "{shape:?}, side {meta}");
    }
    let array = Array::new(1, &[16, 16]);
    let without_parent = CodecCall { ctx: Default::default(), ..call(&array, 4) };
    assert_eq!(Ndlz.encode(&without_parent, &block, &mut dest), Err(Error::Data));
    assert_eq!(decode(5, &known_4().1, 128), Err(Error::Data));
}

#[test]
fn every_truncated_stream_is_rejected() {
    for (meta, (block, stream)) in [(4, known_4()), (8, known_8())] {
        for len in 0..stream.len() {
            assert_eq!(decode(meta, &stream[..len], block.len()), Err(Error::Data));
        }
        assert_eq!(decode(meta, &stream, block.len() - 1), Err(Error::Data));
        let mut negative = stream.clone();
        negative[4] = 0x80;
        assert_eq!(decode(meta, &negative, block.len()), Err(Error::Data));
        let mut huge = stream;
        huge[1..9].fill(0x7F);
        assert_eq!(decode(meta, &huge, block.len()), Err(Error::Data));
    }
}

proptest! {
    #[test]
    fn blocks_of_any_shape_round_trip(
        height in 1usize..70,
        width in 1usize..70,
        values in 1u8..5,
        period in 1usize..40,
        wide in any::<bool>(),
    ) {
        let block: Vec<u8> = (0..height * width)
            .map(|i| (i % period * 7 % 11) as u8 % values + (i / 500) as u8)
            .collect();
        let meta = if wide { 8 } else { 4 };
        if let Some(stream) = encode(meta, (height, width), &block) {
            prop_assert!(stream.len() <= block.len());
            prop_assert_eq!(decode(meta, &stream, block.len()), Ok(block));
        }
    }

    #[test]
    fn the_decoder_survives_any_stream(
        mut stream in proptest::collection::vec(any::<u8>(), 0..400),
        height in 0u8..20,
        width in 0u8..20,
        meta in prop_oneof![Just(4u8), Just(8)],
    ) {
        if stream.len() > HEADER_LEN {
            stream[..HEADER_LEN].copy_from_slice(&[2, height, 0, 0, 0, width, 0, 0, 0]);
        }
        let _ = decode(meta, &stream, 400);
    }
}
