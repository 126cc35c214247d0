//! Tests of the byte format as a whole: frames split into sections and rebuilt, and damaged ones.

use super::description::Metalayer;
use super::header::{self, FIXED_LEN, FrameHeader, Kind};
use super::index::{self, Encoder, Offsets};
use super::{trailer, vectors};
use crate::chunk::{EXTENDED_HEADER_LENGTH, sizes};
use crate::{Error, Result};

/// The sections of a frame.
struct Parts {
    header: FrameHeader,
    metalayers: Vec<Metalayer>,
    data: Vec<u8>,
    offsets: Vec<i64>,
    vlmetalayers: Vec<Metalayer>,
}

/// Splits a frame with this module's parsers, each at the offset that the previous one found.
fn take_apart(frame: &[u8]) -> Result<Parts> {
    let header = FrameHeader::parse(frame, Kind::Contiguous)?;
    let frame = frame.get(..header.frame_len as usize).ok_or(Error::ReadBuffer)?;
    let tail = frame.last_chunk().ok_or(Error::ReadBuffer)?;
    let trailer_len = trailer::trailer_len(tail, header.frame_len)? as usize;
    let header_len = header.header_len as usize;
    let has_data = header.counters.nbytes > 0;
    let index_at = if has_data {
        header_len.saturating_add(header.counters.cbytes as usize)
    } else {
        header_len
    };
    let trailer_at = if has_data { frame.len() - trailer_len } else { header_len };
    let offsets = if has_data {
        let chunk = frame.get(index_at..).ok_or(Error::InvalidHeader)?;
        Offsets::parse(chunk, header.nchunks(), i64::MAX)?.to_vec()?
    } else {
        Vec::new()
    };
    for &offset in &offsets {
        index::offset::special(offset)?;
    }
    let trailer = frame
        .get(trailer_at..)
        .and_then(|rest| rest.get(..trailer_len))
        .ok_or(Error::ReadBuffer)?;
    trailer::fingerprint(trailer);
    Ok(Parts {
        header,
        metalayers: header::parse_metalayers(&frame[..header_len])?,
        data: frame[header_len..index_at].to_vec(),
        offsets,
        vlmetalayers: trailer::parse(trailer)?,
    })
}

fn named(metalayers: &[Metalayer]) -> Vec<(&[u8], &[u8])> {
    metalayers.iter().map(|metalayer| (&metalayer.name[..], &metalayer.content[..])).collect()
}

fn assemble(parts: &Parts) -> Vec<u8> {
    let header = FrameHeader { header_len: 0, ..parts.header };
    let mut frame = header.build(Kind::Contiguous, &named(&parts.metalayers)).unwrap();
    frame.extend_from_slice(&parts.data);
    let first = parts.offsets.first().map(|&offset| index::offset::special(offset).unwrap());
    if let Some(Some(kind)) = first {
        frame.extend_from_slice(&index::fill(parts.offsets.len(), kind).unwrap());
    } else if first.is_some() {
        let mut encoder = Encoder::new().unwrap();
        let capacity = index::capacity(parts.offsets.len());
        frame.extend(encoder.encode(&parts.offsets, 0, capacity).unwrap());
    }
    frame.extend_from_slice(&trailer::build(&named(&parts.vlmetalayers), None).unwrap());
    frame
}

#[test]
fn known_frames_are_rebuilt_byte_for_byte() {
    for hex in vectors::ALL {
        let frame = vectors::bytes(hex);
        let parts = take_apart(&frame).unwrap();
        assert_eq!(assemble(&parts), frame);
        assert_eq!(frame.len() as u64, parts.header.frame_len);
        let fixed = parts.header.fixed_bytes(Kind::Contiguous);
        assert_eq!(fixed, frame[..FIXED_LEN]);
    }
}

#[test]
fn a_known_frame_records_its_parameters() {
    let parts = take_apart(&vectors::bytes(vectors::THREE)).unwrap();
    let counters = parts.header.counters;
    assert_eq!((counters.chunksize, counters.blocksize), (32, 0));
    assert_eq!((counters.nbytes, counters.cbytes), (80, 176));
    assert_eq!(parts.header.nchunks(), Some(3));
    assert_eq!(parts.offsets, [0, 64, 128]);
    assert_eq!(named(&parts.metalayers), [(&b"mm"[..], &b"hello"[..])]);
    let [vv] = &parts.vlmetalayers[..] else {
        panic!("one variable-length metalayer");
    };
    assert_eq!(vv.name, b"vv");
    assert_eq!(vv.content[EXTENDED_HEADER_LENGTH..], *b"world");
    let recorded = parts.header.recorded;
    assert_eq!((recorded.compcode, recorded.clevel), (0, 0));
    assert_eq!((recorded.splitmode, recorded.typesize), (4, 4));
    assert_eq!(recorded.filters.map(|slot| slot.id), [0, 0, 0, 0, 0, 1]);
    assert!(parts.header.has_vlmetalayers && !parts.header.vl_blocks);

    let filled = take_apart(&vectors::bytes(vectors::FILLED)).unwrap();
    assert_eq!(filled.offsets, [0x81 << 56; 3].map(|offset: u64| offset as i64));
    assert_eq!((filled.header.counters.blocksize, filled.header.counters.chunksize), (4000, 4000));

    let variable = take_apart(&vectors::bytes(vectors::VARIABLE)).unwrap();
    assert_eq!(variable.header.nchunks(), None);
    assert_eq!((variable.header.recorded.compcode, variable.header.recorded.clevel), (5, 9));
    let vl = take_apart(&vectors::bytes(vectors::VL)).unwrap();
    assert!(vl.header.vl_blocks);
    assert_eq!((vl.header.recorded.compcode, vl.header.recorded.splitmode), (2, 2));
}

#[test]
fn row_f15_truncated_frames_are_rejected() {
    for hex in vectors::ALL {
        let frame = vectors::bytes(hex);
        for len in 0..frame.len() {
            assert!(take_apart(&frame[..len]).is_err(), "{len} bytes");
        }
    }
}

#[test]
fn flipped_bytes_never_panic() {
    for hex in vectors::ALL {
        let frame = vectors::bytes(hex);
        for at in 0..frame.len() {
            for flip in 1..=255 {
                let mut broken = frame.clone();
                broken[at] ^= flip;
                let Ok(parts) = take_apart(&broken) else {
                    continue;
                };
                let content = parts.metalayers.iter().chain(&parts.vlmetalayers);
                let bytes: usize = content.map(|metalayer| metalayer.content.len()).sum();
                assert!(bytes <= 2 * frame.len());
            }
        }
    }
}

#[test]
fn every_parser_handles_every_section_of_a_frame() {
    for hex in vectors::ALL {
        let frame = vectors::bytes(hex);
        for at in 0..frame.len() {
            // An unreadable page follows the input of the parsers.
            let part = crate::testing::GuardedBuf::copy_of(&frame[at..]);
            for kind in [Kind::Contiguous, Kind::Sparse] {
                let _ = FrameHeader::parse(&part, kind);
            }
            let _ = header::parse_metalayers(&part);
            let _ = trailer::parse(&part);
            let _ = trailer::fingerprint(&part);
            let _ = Offsets::parse(&part, None, i64::MAX);
        }
    }
}

#[test]
fn chunks_are_located_by_their_offsets() {
    for hex in vectors::ALL {
        let parts = take_apart(&vectors::bytes(hex)).unwrap();
        for &offset in &parts.offsets {
            if index::offset::special(offset).unwrap().is_none() {
                let chunk = &parts.data[offset as usize..];
                assert!(sizes(chunk).unwrap().cbytes as usize <= chunk.len());
            }
        }
        let fixed = parts.header.fixed_bytes(Kind::Contiguous);
        assert_eq!(fixed[header::MAGIC_AT..][..8], header::MAGIC);
    }
}
