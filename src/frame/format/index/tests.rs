//! Tests of the index against bytes of C-Blosc2 and against one compression of the whole list.

use super::*;
use crate::frame::format::vectors;
use proptest::prelude::*;

fn encoded(offsets: &[i64]) -> Vec<u8> {
    let mut encoder = Encoder::new().unwrap();
    encoder.encode(offsets, 0, capacity(offsets.len())).unwrap().clone()
}

fn parsed(chunk: &[u8], nchunks: Option<i64>) -> Result<Vec<i64>> {
    Offsets::parse(chunk, nchunks, i64::MAX)?.to_vec()
}

/// Returns the expected output of the encoder, independent of its previous inputs.
fn compressed_at_once(offsets: &[i64], capacity: usize) -> Result<Vec<u8>> {
    let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let mut chunk = vec![0; capacity];
    match Compressor::new(params())?.compress(&bytes, &mut chunk)? {
        0 => Err(Error::WriteBuffer),
        len => {
            chunk.truncate(len);
            Ok(chunk)
        }
    }
}

/// Returns incompressible offsets.
fn noise(count: usize) -> Vec<i64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as i64
    };
    (0..count).map(|_| next()).collect()
}

/// Returns offsets of chunks of about `size` bytes, some of them special.
fn offsets(count: usize, size: i64) -> Vec<i64> {
    let mut position = 0;
    (0..count as i64)
        .map(|i| match i * 7919 % 97 {
            0 => offset::of_special(Special::Zero).unwrap(),
            1 => offset::of_special(Special::Nan).unwrap(),
            noise => {
                position += size + noise;
                position
            }
        })
        .collect()
}

#[test]
fn special_offsets_are_decoded_by_their_bits() {
    let kind = |offset: u64| offset::special(offset as i64);
    assert_eq!(kind(0x8100_0000_0000_0000), Ok(Some(Special::Zero)));
    assert_eq!(kind(0x8200_0000_0000_0000), Ok(Some(Special::Nan)));
    assert_eq!(kind(0x8400_0000_0000_0000), Ok(Some(Special::Uninit)));
    assert_eq!(kind(0x7fff_ffff_ffff_ffff), Ok(None));
    assert_eq!(kind(0), Ok(None));
    for kind in [Special::Zero, Special::Nan, Special::Uninit] {
        let offset = offset::of_special(kind).unwrap();
        assert_eq!(offset::special(offset), Ok(Some(kind)));
    }
    assert_eq!(offset::of_special(Special::Value), None);
}

#[test]
fn row_f12_unknown_special_kinds_are_decoded_as_other_readers_do() {
    let kind = |offset: u64| offset::special(offset as i64);
    for zeros in [0x8300_0000_0000_0000, u64::MAX, 0x8100_0000_0000_0123] {
        assert_eq!(kind(zeros), Ok(Some(Special::Zero)));
    }
    assert_eq!(kind(0x8600_0000_0000_0000), Ok(Some(Special::Uninit)));
    for none in [0x8000_0000_0000_0000, 0x8800_0000_0000_0000] {
        assert_eq!(kind(none), Err(Error::Data));
    }
}

#[test]
fn the_index_of_a_filled_frame_equals_the_reference() {
    let zeros = |nchunks| fill(nchunks, Special::Zero).unwrap();
    // The indexes of 2500 int32 in chunks of 4000 bytes, and of 10,000 chunks.
    let three = "0501050818000000180000002800000000000000000000000000000000000030\
                 0000000000000081";
    let many = "0501050880380100004000002800000000000000000000000000000000000030\
                0000000000000081";
    assert_eq!(zeros(3), vectors::bytes(three));
    assert_eq!(zeros(10_000), vectors::bytes(many));
    assert_eq!(fill(1, Special::Value), Err(Error::InvalidParam));
    assert_eq!(fill(MAX_CHUNKS + 1, Special::Zero), Err(Error::InvalidParam));
}

#[test]
fn the_common_offset_of_a_filled_frame_is_found_without_decompression() {
    let nan = offset::of_special(Special::Nan).unwrap();
    let filled = fill(1000, Special::Nan).unwrap();
    assert_eq!(repeated_offset(&filled), Ok(Some(nan)));
    assert_eq!(parsed(&filled, Some(1000)), Ok(vec![nan; 1000]));
    assert_eq!(repeated_offset(&encoded(&[nan; 1000])), Ok(None));
}

/// Returns a chunk of `nbytes` bytes that repeats `value`.
fn of_value(nbytes: i32, value: &[u8]) -> Vec<u8> {
    let params = CParams::default().typesize(value.len() as i32);
    let mut chunk = vec![0; EXTENDED_HEADER_LENGTH + value.len()];
    special::repeatval(&params, nbytes, value, &mut chunk).unwrap();
    chunk
}

/// Returns a special chunk without a stored value.
fn of_kind(nbytes: i32, kind: Special) -> Vec<u8> {
    let params = CParams::default().typesize(8);
    let mut chunk = vec![0; EXTENDED_HEADER_LENGTH];
    match kind {
        Special::Zero => special::zeros(&params, nbytes, &mut chunk),
        Special::Uninit => special::uninit(&params, nbytes, &mut chunk),
        _ => special::nans(&params, nbytes, &mut chunk),
    }
    .unwrap();
    chunk
}

#[test]
fn an_offset_may_be_a_repeated_shorter_value() {
    let halves = of_value(16, &[1, 0, 0, 0]);
    for (chunk, offset) in [
        (halves, 1 << 32 | 1),
        (of_value(16, &[1, 2]), 0x0201_0201_0201_0201),
        (of_value(16, &[3]), 0x0303_0303_0303_0303),
        (of_kind(16, Special::Zero), 0),
        (of_kind(16, Special::Uninit), 0),
    ] {
        assert_eq!(repeated_offset(&chunk), Ok(Some(offset)));
        assert_eq!(parsed(&chunk, None), Ok(vec![offset; 2]));
        let written_out = payload(&chunk).unwrap();
        assert_eq!(written_out[..], [offset.to_le_bytes(); 2].concat());
    }
}

#[test]
fn different_offsets_may_be_one_repeated_value() {
    let pair: Vec<u8> = (1..=16).collect();
    let chunk = of_value(48, &pair);
    assert_eq!(repeated_offset(&chunk), Ok(None));
    let offsets = [0x0807_0605_0403_0201, 0x100f_0e0d_0c0b_0a09].repeat(3);
    let decoded = parsed(&chunk, None);
    assert_eq!(decoded, Ok(offsets));
}

#[test]
fn row_f15_an_index_of_one_value_uses_bounded_memory() {
    const NBYTES: i32 = 0x7fff_ff00;
    // No offset repeats three bytes, and NaNs are not offsets.
    let triple = of_value(NBYTES / 24 * 24, &[1, 2, 3]);
    let nans = of_kind(NBYTES, Special::Nan);
    for chunk in [triple, nans] {
        assert_eq!(repeated_offset(&chunk), Ok(None));
        let refused = Err(Error::InvalidHeader);
        assert_eq!(parsed(&chunk, None), refused);
        assert_eq!(payload(&chunk).err(), refused.err());
    }
}

#[test]
fn offsets_round_trip() {
    for count in [1, 2, 5, 100, 2047, 2048, 2049, 2052, 5000] {
        let offsets = offsets(count, 100);
        let chunk = encoded(&offsets);
        let nchunks = Some(count as i64);
        assert_eq!(parsed(&chunk, nchunks).unwrap(), offsets);
        let wrong = parsed(&chunk, Some(count as i64 + 1));
        assert_eq!(wrong, Err(Error::InvalidHeader));
    }
}

#[cfg(feature = "zstd")]
#[test]
fn any_chunk_of_offsets_is_accepted_as_an_index() {
    let offsets = offsets(300, 100);
    let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    for typesize in [1, 2, 3, 4, 8, 16, 100] {
        let params = CParams::default().codec(codec::id::ZSTD).typesize(typesize);
        let chunk = Compressor::new(params).unwrap().compress_to_vec(&bytes).unwrap();
        assert_eq!(parsed(&chunk, Some(300)).unwrap(), offsets);
    }
}

#[test]
fn row_f15_an_index_is_not_longer_than_its_bytes_can_encode() {
    let nbytes_at = 4..8;
    let mut stored = encoded(&[0, 10]);
    stored[nbytes_at.clone()].copy_from_slice(&0x7fff_fff8_i32.to_le_bytes());
    assert_eq!(count(&stored), Err(Error::InvalidHeader));
    let mut compressed = encoded(&offsets(1000, 5));
    compressed[nbytes_at].copy_from_slice(&0x7fff_fff8_i32.to_le_bytes());
    assert!(parsed(&compressed, None).is_err());
    let mut odd = encoded(&[0, 10]);
    odd[4] -= 1;
    assert_eq!(count(&odd), Err(Error::InvalidHeader));
}

#[test]
fn a_growing_index_equals_one_compression() {
    let all = offsets(3 * BLOCK + 10, 100);
    let mut encoder = Encoder::new().unwrap();
    let mut assembled = 0;
    let near_a_border = |count: usize| (count + 40) % BLOCK < 80 || count.is_multiple_of(397);
    for count in 1..all.len() {
        let (offsets, capacity) = (&all[..count], capacity(count));
        let index = encoder.encode(offsets, count - 1, capacity);
        let is_assembled =
            |encoder: &mut Encoder| encoder.encode_in_blocks(offsets, capacity).unwrap().is_some();
        assembled += usize::from(count > BLOCK && is_assembled(&mut encoder));
        if near_a_border(count) {
            assert_eq!(index, compressed_at_once(offsets, capacity), "{count} offsets");
        }
    }
    // A full compression would be correct but slow.
    assert!(assembled >= all.len() - 2 - BLOCK, "{assembled} times");
}

#[test]
fn blocks_of_any_kind_equal_one_compression() {
    let kinds: [fn(usize) -> Vec<i64>; 5] = [
        |count| offsets(count, 100),
        |count| noise(count),
        |count| vec![0; count],
        |count| vec![-1; count],
        |count| [noise(count / 2), vec![0; count - count / 2]].concat(),
    ];
    for first in kinds {
        for second in kinds {
            for last in kinds {
                for count in [0, 1, 3, 4, 5, 100, BLOCK] {
                    let offsets = [first(BLOCK), second(BLOCK), last(count)].concat();
                    let capacity = capacity(offsets.len());
                    let mut encoder = Encoder::new().unwrap();
                    let index = encoder.encode(&offsets, 0, capacity);
                    assert_eq!(index, compressed_at_once(&offsets, capacity));
                }
            }
        }
    }
}

#[test]
fn an_index_of_any_size_limit_equals_one_compression() {
    let lists = [
        offsets(2 * BLOCK + 100, 100),
        offsets(3 * BLOCK, 5),
        [offsets(BLOCK, 100), noise(BLOCK)].concat(),
        [offsets(BLOCK, 100), noise(BLOCK - 9)].concat(),
        [noise(BLOCK), offsets(BLOCK + 9, 100)].concat(),
    ];
    for offsets in lists {
        let plenty = 2 * capacity(offsets.len());
        let mut encoder = Encoder::new().unwrap();
        let len = encoder.encode(&offsets, 0, plenty).unwrap().len();
        // The sizes at which the last full block, and the last block, just fit.
        let nblocks = offsets.len().div_ceil(BLOCK);
        let rest = offsets.len() % BLOCK;
        let data_at = EXTENDED_HEADER_LENGTH + START_LEN * nblocks;
        let full = offsets.len() / BLOCK;
        let last_full = data_at + encoder.start_of(full - 1) + WORST_BLOCK;
        let last = data_at + encoder.blocks.len() + SIZE_LEN + rest * OFFSET_LEN;
        for limit in [len, last_full, last, capacity(offsets.len())] {
            for capacity in limit - 9..limit + 9 {
                let unchanged = offsets.len();
                let index = encoder.encode(&offsets, unchanged, capacity);
                let expected = compressed_at_once(&offsets, capacity);
                assert_eq!(index, expected, "{capacity} bytes");
            }
        }
    }
}

#[test]
fn an_index_after_a_deletion_may_be_longer_than_its_offsets() {
    // The index that C-Blosc2 left of five chunks of 4032 bytes after deleting the second.
    let offsets = [0, 0x1f80, 0x2f40, 0x3f00];
    let index = "0501150820000000200000004800000000000000000100000000000000000000\
                 240000002000000000804000001f2f3f00000000000000000000000000000000\
                 0000000000000000";
    let mut encoder = Encoder::new().unwrap();
    let after_deletion = encoder.encode(&offsets, 0, capacity(5)).unwrap();
    assert_eq!(after_deletion, vectors::bytes(index));
    assert_eq!(encoder.encode(&offsets, 0, capacity(4)).unwrap().len(), 64);
}

/// A change of a list of offsets.
#[derive(Clone, Debug)]
enum Change {
    Append(Vec<i64>),
    Insert(prop::sample::Index, i64),
    Delete(prop::sample::Index),
    Cut(prop::sample::Index),
    Update(prop::sample::Index, i64, bool),
}

fn some_offset() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0..1i64 << 30,
        1 => any::<i64>(),
        1 => Just(0x81u64.wrapping_shl(56) as i64),
    ]
}

fn many_offsets() -> impl Strategy<Value = Vec<i64>> {
    let counts = prop_oneof![0..10usize, BLOCK - 5..BLOCK + 6, 0..5000usize];
    let steps = prop_oneof![Just(0i64), Just(1), 0..100_000i64];
    prop_oneof![
        3 => (counts.clone(), steps, some_offset()).prop_map(|(count, step, first)| {
            (0..count as i64).map(|i| first.wrapping_add(i * step)).collect()
        }),
        1 => counts.clone().prop_map(noise),
        1 => counts.prop_map(|count| vec![0; count]),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        many_offsets().prop_map(Change::Append),
        some_offset().prop_map(|offset| Change::Append(vec![offset])),
        (place(), some_offset()).prop_map(|(at, offset)| Change::Insert(at, offset)),
        place().prop_map(Change::Delete),
        place().prop_map(Change::Cut),
        (place(), some_offset(), any::<bool>())
            .prop_map(|(at, offset, shifts)| Change::Update(at, offset, shifts)),
    ]
}

impl Change {
    /// Applies the change; returns the number of unchanged offsets before it.
    fn apply(&self, offsets: &mut Vec<i64>) -> usize {
        let (len, last) = (offsets.len(), offsets.len().saturating_sub(1));
        match self {
            Change::Append(more) => {
                offsets.extend(more);
                len
            }
            Change::Insert(at, offset) => {
                let at = at.index(len + 1);
                offsets.insert(at, *offset);
                at
            }
            Change::Delete(at) if len > 1 => {
                offsets.remove(at.index(len));
                at.index(len)
            }
            Change::Cut(at) if len > 1 => {
                offsets.truncate(1 + at.index(last));
                offsets.len()
            }
            Change::Update(at, offset, shifts) if len > 0 => {
                let at = at.index(len);
                offsets[at] = *offset;
                for later in &mut offsets[at + 1..] {
                    *later = later.wrapping_add(i64::from(*shifts));
                }
                at
            }
            _ => len,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_index_after_any_change_equals_one_compression(
        changes in prop::collection::vec((change(), any::<bool>()), 1..12),
    ) {
        let mut encoder = Encoder::new().unwrap();
        let mut offsets = Vec::new();
        for (change, has_capacity_for_one_more) in changes {
            let unchanged = change.apply(&mut offsets);
            let capacity = capacity(offsets.len() + usize::from(has_capacity_for_one_more));
            let index = encoder.encode(&offsets, unchanged, capacity);
            prop_assert_eq!(index, compressed_at_once(&offsets, capacity));
        }
    }
}

#[test]
fn the_largest_offset_is_checked_over_the_full_range() {
    let ends = [i64::MIN, i64::MIN + 1, -33, -32, -1, 0, 1, 64, i64::MAX - 1, i64::MAX];
    for last in ends {
        for stored in ends {
            let expected = stored < 0 || stored <= last;
            assert_eq!(none_beyond(last, &[stored]), expected, "{stored}, {last}");
            assert_eq!(none_beyond(last, &[-5, stored, -1]), expected);
        }
    }
}
