//! Tests of the older layouts, with frames built by hand from their descriptions.

use super::*;
use crate::chunk::{CParams, Compressor, Decompressor, Special, special};
use crate::frame::format::{Kind, vectors};

/// Returns the frame of [`vectors::TINY`] in the later of the two layouts.
pub(in crate::frame) fn tiny() -> Vec<u8> {
    let today = vectors::bytes(vectors::TINY);
    let header = "9da862326672616d6500 d20000006b cf0000000000000114 a4 11005000\
                  d30000000000000020 d30000000000000040 d200000004 d200000020 d10001 d10001 c3\
                  d808 0000000000010000 0000000000000000\
                  93cd000e de0001 a16d d200000063 dc0001 c600000003 010203";
    let mut frame = vectors::bytes(header);
    frame.extend_from_slice(&today[0x70..0xd8]);
    frame.extend(vectors::bytes("9400 c600000023"));
    frame.extend_from_slice(&today[0xf0..0x113]);
    frame.extend(vectors::bytes("ce00000041 d800 00000000000000000000000000000000"));
    frame
}

/// The components of a frame; a field for each choice that the descriptions leave open.
struct FrameParts {
    flags: u8,
    /// The byte that counts the filters.
    filters: u8,
    has_array: bool,
    chunksize: i32,
    nbytes: i64,
    data: Vec<u8>,
    /// The index; empty for a frame without one.
    index: Vec<u8>,
    /// The bytes of the user metadata field.
    usermeta: Vec<u8>,
}

/// Returns the index with these bytes; empty for an empty list.
fn compressed(offsets: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CParams::default().typesize(1)).unwrap();
    match offsets {
        [] => Vec::new(),
        offsets => compressor.compress_to_vec(offsets).unwrap(),
    }
}

impl FrameParts {
    /// Returns the components of a frame with three chunks of 40, 40 and 20 bytes, one metalayer
    /// and no user metadata. `offsets` holds the bytes of the index before compression.
    fn of(offsets: Vec<u8>) -> FrameParts {
        let mut data = Vec::new();
        for (nbytes, byte) in [(40, 1), (40, 2), (20, 3)] {
            let params = CParams::default().level(0).codec(codec::id::ZSTD);
            let mut compressor = Compressor::new(params).unwrap();
            data.extend(compressor.compress_to_vec(&vec![byte; nbytes]).unwrap());
        }
        FrameParts {
            flags: 0x21,
            filters: 6,
            has_array: false,
            chunksize: 40,
            nbytes: 100,
            data,
            index: compressed(&offsets),
            usermeta: vec![0xc0],
        }
    }

    fn header_len(&self) -> i64 {
        102 + if self.has_array { 3 } else { 0 }
    }

    fn frame(&self) -> Vec<u8> {
        let mut frame = vectors::bytes(
            "9da862326672616d6500 d200000000 cf0000000000000000 a4 00009500 d30000000000000000\
             d30000000000000000 d200000004 d200000000 d10001 d10001 c2\
             d800 0102030405060708 1112131415161718",
        );
        frame[FLAGS_AT] = self.flags;
        frame[65] = self.filters;
        frame.extend(vectors::bytes("93cd000e de0001 a16d d2"));
        let content_at = self.header_len() as i32 - 6;
        frame.extend(content_at.to_be_bytes());
        if self.has_array {
            frame.extend(vectors::bytes("dc0001"));
        }
        frame.extend(vectors::bytes("c600000001 2a"));
        assert_eq!(frame.len() as i64, self.header_len());
        frame.extend(&self.data);
        frame.extend(&self.index);
        let trailer_at = frame.len();
        frame.extend([0x94, 0x00]);
        frame.extend(&self.usermeta);
        let trailer_len = (frame.len() - trailer_at + 23) as u32;
        frame.push(0xce);
        frame.extend(trailer_len.to_be_bytes());
        frame.extend([0xd8, 0x00]);
        frame.extend([0; 16]);
        let mut put = |at: usize, bytes: &[u8]| {
            frame[at..at + bytes.len()].copy_from_slice(bytes);
        };
        put(header::HEADER_LEN_AT, &(self.header_len() as i32).to_be_bytes());
        put(header::NBYTES_AT, &self.nbytes.to_be_bytes());
        put(header::CBYTES_AT, &(self.data.len() as i64).to_be_bytes());
        put(CHUNKSIZE_AT, &self.chunksize.to_be_bytes());
        let frame_len = frame.len() as u64;
        frame[header::FRAME_LEN_AT..][..8].copy_from_slice(&frame_len.to_be_bytes());
        frame
    }
}

fn parse(frame: &[u8]) -> Result<LegacyFrame> {
    let read_at = |position: u64, dest: &mut [u8]| {
        let position = usize::try_from(position).unwrap();
        let end = position.checked_add(dest.len()).ok_or(Error::FileRead)?;
        dest.copy_from_slice(frame.get(position..end).ok_or(Error::FileRead)?);
        Ok(())
    };
    read(&read_at, frame.len() as u64)
}

fn words<const N: usize>(offsets: &[i64], narrow: impl Fn(i64) -> [u8; N]) -> Vec<u8> {
    offsets.iter().flat_map(|&offset| narrow(offset)).collect()
}

fn words_of_2(offsets: &[i64]) -> Vec<u8> {
    words(offsets, |offset| (offset as i16).to_le_bytes())
}

#[test]
fn row_f36_a_frame_of_the_later_layout_is_read() {
    let frame = tiny();
    assert_eq!(frame.len(), 276);
    assert!(is_legacy(&frame));
    let found = parse(&frame).unwrap();
    let named = |metalayers: &[Metalayer]| {
        let [metalayer] = metalayers else {
            panic!("one metalayer");
        };
        (metalayer.name.clone(), metalayer.content.clone())
    };
    assert_eq!(named(&found.metalayers), (b"m".to_vec(), vec![1, 2, 3]));
    let (name, content) = named(&found.vlmetalayers);
    assert_eq!(name, b"usermeta");
    let mut value = [0; 3];
    Decompressor::default().decompress(&content, &mut value).unwrap();
    assert_eq!(&value, b"abc");
    assert_eq!(found.offsets.kept(), [0]);
    let today = FrameHeader::parse(&vectors::bytes(vectors::TINY), Kind::Contiguous).unwrap();
    let counters = Counters { nchunks: 1, ..today.counters };
    assert_eq!(found.header.counters, counters);
    assert_eq!(found.header.recorded, today.recorded);
    assert_eq!((found.header.header_len, found.header.frame_len), (107, 276));
    assert_eq!(found.header.threads, (1, 1));
    assert!(found.header.has_vlmetalayers);
}

#[test]
fn row_f36_a_frame_of_the_earlier_layout_is_read() {
    // Offsets of 16 bits from the first byte of the frame, no array, no user metadata.
    let parts = FrameParts::of(words_of_2(&[102, 102 + 72, 102 + 144]));
    let found = parse(&parts.frame()).unwrap();
    assert_eq!(found.offsets.kept(), [0, 72, 144]);
    assert_eq!(found.metalayers[0].content, [0x2a]);
    assert!(found.vlmetalayers.is_empty() && !found.header.has_vlmetalayers);
    let counters = found.header.counters;
    assert_eq!((counters.nchunks, counters.nbytes, counters.cbytes), (3, 100, 196));
    // The codec and filters of the header are ignored: the chunks were stored.
    let recorded = found.header.recorded;
    assert_eq!((recorded.compcode, recorded.clevel), (codec::id::BLOSCLZ, 9));
    assert_eq!(recorded.filters.map(|slot| slot.id), [0, 0, 0, 0, 0, 1]);
}

#[test]
fn row_f36_every_width_and_origin_of_offsets_is_equivalent() {
    for origin in [0, 102] {
        let offsets = [144, 0, 72].map(|offset: i64| origin + offset);
        let widths = [
            words_of_2(&offsets),
            words(&offsets, |offset| (offset as i32).to_le_bytes()),
            words(&offsets, i64::to_le_bytes),
        ];
        for bytes in widths {
            for (filters, flags) in [(6, 0x01), (8, 0x12), (0, 0x30)] {
                let parts = FrameParts { filters, flags, ..FrameParts::of(bytes.clone()) };
                let found = parse(&parts.frame()).unwrap();
                assert_eq!(found.offsets.kept(), [144, 0, 72]);
            }
        }
    }
}

#[test]
fn row_f36_special_offsets_of_any_width_are_converted() {
    let of = |kind| index::offset::of_special(kind).unwrap();
    let special = |kind: u8| {
        let eight = [0, 0, 0, 0, 0, 0, 0, 0x80 | kind];
        let zeros = [0; 8];
        [2, 4, 8].map(|width| [&eight[8 - width..], &zeros[..width]].concat())
    };
    for (bit, kind) in [(1, Special::Zero), (2, Special::Nan), (4, Special::Uninit)] {
        for bytes in special(bit) {
            let parts = FrameParts { nbytes: 80, ..FrameParts::of(bytes) };
            let found = parse(&parts.frame()).unwrap();
            assert_eq!(found.offsets.kept(), [of(kind), 0]);
            // Without a stored first chunk the filters of the header are reported.
            let filters = found.header.recorded.filters;
            assert_eq!(filters.map(|slot| slot.id), [1, 2, 3, 4, 5, 6]);
            assert_eq!(filters.map(|slot| slot.meta), [0x11, 0x12, 0x13, 0x14, 0x15, 0x16]);
        }
    }
}

#[test]
fn row_f36_one_common_offset_is_not_expanded() {
    const NCHUNKS: usize = 1 << 27;
    for (value, offset) in
        [(&[0x00_u8, 0x81][..], index::offset::of_special(Special::Zero)), (&[0], Some(0))]
    {
        let mut parts = FrameParts::of(Vec::new());
        parts.nbytes = 40 * NCHUNKS as i64;
        let mut index = vec![0; EXTENDED_HEADER_LENGTH + value.len()];
        let params = CParams::default().typesize(value.len() as i32);
        special::repeatval(&params, 2 * NCHUNKS as i32, value, &mut index).unwrap();
        parts.index = index;
        let found = parse(&parts.frame()).unwrap();
        assert_eq!(found.header.counters.nchunks, NCHUNKS as i64);
        assert_eq!(found.offsets.len(), NCHUNKS);
        assert_eq!(found.offsets.kept(), [offset.unwrap()]);
    }
}

#[test]
fn row_f36_chunks_of_different_sizes_have_offsets_of_64_bits() {
    let parts = FrameParts {
        chunksize: 0,
        has_array: true,
        ..FrameParts::of(words(&[0, 72, 144], i64::to_le_bytes))
    };
    let found = parse(&parts.frame()).unwrap();
    assert_eq!(found.offsets.kept(), [0, 72, 144]);
    let narrow = FrameParts { index: compressed(&words_of_2(&[0, 72, 144])), ..parts };
    assert_eq!(parse(&narrow.frame()), Err(Error::InvalidHeader));
}

#[test]
fn row_f36_a_frame_without_chunks_is_read() {
    let parts = FrameParts {
        nbytes: 0,
        chunksize: -1,
        data: Vec::new(),
        usermeta: vectors::bytes("c600000000"),
        ..FrameParts::of(Vec::new())
    };
    let found = parse(&parts.frame()).unwrap();
    assert!(found.offsets.is_empty() && found.vlmetalayers.is_empty());
    assert_eq!(found.header.counters.nchunks, 0);
}

#[test]
fn row_f36_offsets_of_other_widths_are_rejected() {
    for width in [1, 3, 16, 32] {
        let parts = FrameParts::of(vec![0; 3 * width]);
        assert_eq!(parse(&parts.frame()), Err(Error::InvalidHeader), "{width} bytes");
    }
    let outside = FrameParts::of(words_of_2(&[0, 72, 181]));
    assert_eq!(parse(&outside.frame()), Err(Error::InvalidHeader));
}

#[test]
fn row_f36_current_frames_are_never_mistaken_for_older_ones() {
    for hex in vectors::ALL {
        let mut frame = vectors::bytes(hex);
        frame[0] = 0x9d;
        assert!(!is_legacy(&frame));
        assert_eq!(parse(&frame), Err(Error::InvalidHeader));
    }
    let frame = tiny();
    for (at, _) in MARKERS {
        let mut damaged = frame.clone();
        damaged[at] ^= 1;
        assert!(!is_legacy(&damaged));
    }
    assert!(is_legacy(&frame[..FIXED_LEN + 1]) && !is_legacy(&frame[..FIXED_LEN]));
}

#[test]
fn truncated_older_frames_are_rejected() {
    for frame in [tiny(), FrameParts::of(words_of_2(&[102, 174, 246])).frame()] {
        assert!(parse(&frame).is_ok());
        for len in 0..frame.len() {
            assert!(parse(&frame[..len]).is_err(), "{len} bytes");
        }
    }
}

#[test]
fn flipped_bytes_in_an_older_frame_never_panic() {
    let mut parts = FrameParts::of(words_of_2(&[102, 174, 246]));
    parts.usermeta = vectors::bytes("c600000003 010203");
    for frame in [tiny(), parts.frame()] {
        for at in 0..frame.len() {
            for flip in 1..=255 {
                let mut broken = frame.clone();
                broken[at] ^= flip;
                let Ok(found) = parse(&broken) else {
                    continue;
                };
                for offset in found.offsets.iter() {
                    let end = offset.max(0) + MIN_HEADER_LENGTH as i64;
                    assert!(end <= found.header.counters.cbytes);
                }
            }
        }
    }
}
