//! Streams with incompressible regions and runs: detection, encoding and round trips.

use super::Zlib;
use super::c_zlib::CZlib;
use super::segmented::{Deflater, Matches};
use crate::Error;
use crate::codec::incompressible::tests::{bound, incompressible_len, noise, runs, streams, text};
use crate::codec::incompressible::{Scanner, Search};
use crate::codec::{Blosc1Stream, StreamCodec};

/// Encodes with both encoders, into at most `capacity` bytes.
fn encode_both(zlib: &mut Zlib, level: u8, src: &[u8], capacity: usize) -> [Vec<u8>; 2] {
    let mut dest = vec![0; capacity];
    let len = zlib.encode(level, None, src, &mut dest).expect("encodes");
    let ours = dest[..len].to_vec();
    let len = zlib.encode_blosc1(level, Blosc1Stream::default(), src, &mut dest).expect("encodes");
    [ours, dest[..len].to_vec()]
}

fn decode(zlib: &mut Zlib, stream: &[u8], len: usize) -> Vec<u8> {
    let mut back = vec![0; len];
    let count = zlib.decode(None, stream, &mut back, len).expect("decodes");
    assert_eq!(count, len);
    back
}

/// Returns the stream of zlib-rs without region detection.
fn searched(level: u8, src: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; bound(src)];
    let config = zlib_rs::DeflateConfig::new(level.into());
    let (stream, code) = zlib_rs::compress_slice(&mut dest, src, config);
    assert_eq!(code, zlib_rs::ReturnCode::Ok);
    stream.to_vec()
}

/// Returns the length of zlib's stream without region detection, header and checksum.
fn searched_by_zlib(level: u8, src: &[u8]) -> usize {
    let mut deflate = CZlib::new(level).expect("memory");
    let all = Matches::Found { window: &[] };
    let stream = deflate.encode(all, src, true, &mut vec![0; bound(src)]);
    stream.expect("encodes").expect("fits")
}

const BOUNDED: [Search; 2] = [Search::Min4, Search::Min3];

#[test]
fn streams_with_and_without_noise_round_trip() {
    let mut zlib = Zlib::default();
    for src in streams() {
        for level in [1, 2, 6, 9] {
            for stream in encode_both(&mut zlib, level, &src, bound(&src)) {
                assert!(decode(&mut zlib, &stream, src.len()) == src);
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_earlier_streams() {
    let mut used = Zlib::default();
    for src in streams().iter().rev() {
        for level in [1, 9] {
            let streams = encode_both(&mut used, level, src, bound(src));
            let fresh = encode_both(&mut Zlib::default(), level, src, bound(src));
            assert!(streams == fresh);
        }
    }
}

#[test]
fn a_stream_that_does_not_fit_is_empty_and_does_not_affect_the_next() {
    let src =
        [text(9000), noise(3, 256, 20_000), text(9000), noise(4, 100, 20_000), text(9000)].concat();
    for level in [1, 5, 9] {
        let mut zlib = Zlib::default();
        let whole = encode_both(&mut zlib, level, &src, bound(&src));
        let most = whole.iter().map(Vec::len).min().expect("two");
        let near_the_end = (most - 40..most).step_by(3);
        for capacity in (0..most).step_by(4999).chain(0..12).chain(near_the_end) {
            for stream in encode_both(&mut zlib, level, &src, capacity) {
                assert!(stream.is_empty(), "{capacity}");
            }
            assert!(encode_both(&mut zlib, level, &src, bound(&src)) == whole);
        }
    }
}

#[test]
fn a_destination_of_the_exact_length_suffices() {
    let mut zlib = Zlib::default();
    for src in streams() {
        for level in [1, 6, 9] {
            for (which, stream) in
                encode_both(&mut zlib, level, &src, bound(&src)).iter().enumerate()
            {
                assert!(encode_both(&mut zlib, level, &src, stream.len())[which] == *stream);
                assert!(encode_both(&mut zlib, level, &src, stream.len() - 1)[which].is_empty());
            }
        }
    }
}

#[test]
fn noise_of_few_values_is_detected_and_shorter_than_with_matches() {
    let src = noise(6, 30, 100_000);
    assert_eq!(incompressible_len(&src, Search::Min4), src.len());
    let [stream, _] = encode_both(&mut Zlib::default(), 5, &src, bound(&src));
    assert!(stream.len() < searched(5, &src).len());
}

#[test]
fn noise_with_changing_values_has_new_codes() {
    // 64 values in each 4 KiB, shifted from segment to segment.
    let src: Vec<u8> = (0..32_u8)
        .flat_map(|part| {
            let values = noise(part.into(), 64, 4096);
            values.into_iter().map(move |value| value + part % 4 * 64)
        })
        .collect();
    assert!(incompressible_len(&src, Search::Min3) > src.len() / 2);
    for stream in encode_both(&mut Zlib::default(), 9, &src, bound(&src)) {
        assert!(stream.len() < src.len() * 15 / 16);
    }
}

#[test]
fn uniform_noise_is_stored_beside_noise_of_few_values() {
    let src = [noise(17, 60, 20_480), noise(18, 256, 90_112), noise(19, 60, 20_480)].concat();
    let mut scanner = Scanner::default();
    let found = scanner.scan(&src, Search::Min4);
    let regions: Vec<_> = found.iter().map(|run| (run.bytes.clone(), run.uniform)).collect();
    assert_eq!(regions, [(0..20_480, false), (20_480..110_592, true), (110_592..src.len(), false)]);
    // Stored in two blocks.
    for stream in encode_both(&mut Zlib::default(), 5, &src, bound(&src)) {
        let stored = &src[20_480..20_480 + 65_535];
        let at = stream.windows(8).position(|bytes| bytes == &stored[..8]).expect("stored");
        assert_eq!(stream[at - 5..at], [0, 0xff, 0xff, 0, 0]);
        assert!(stream[at..].starts_with(stored));
        assert_eq!(decode(&mut Zlib::default(), &stream, src.len()), src);
    }
}

#[test]
fn repeated_noise_is_detected_only_once() {
    let period = noise(7, 256, 20_480);
    let src = period.repeat(8);
    for search in BOUNDED {
        let found = incompressible_len(&src, search);
        assert!((16_384..=24_576).contains(&found), "{found}");
    }
    for stream in encode_both(&mut Zlib::default(), 5, &src, bound(&src)) {
        assert!(stream.len() < period.len() * 11 / 10, "{}", stream.len());
    }
}

#[test]
fn runs_are_no_longer_than_with_a_search() {
    let kinds = [(1, 9), (200, 30), (30, 50), (30, 400), (4, 200), (4, 3000), (2, 60)];
    let records = [8, 32, 100, 300, 1000].map(|len| {
        let mut records = vec![0; 100_000];
        for (record, i) in records.chunks_exact_mut(len).zip(0_u16..) {
            record[..2].copy_from_slice(&i.wrapping_mul(7).to_le_bytes());
        }
        records
    });
    let random = kinds.map(|(values, most)| runs(values, most, 100_000));
    for src in random.into_iter().chain(records) {
        for level in 2..=9 {
            let streams = encode_both(&mut Zlib::default(), level, &src, bound(&src));
            let searched = [searched(level, &src).len(), searched_by_zlib(level, &src)];
            for (stream, searched) in streams.iter().zip(searched) {
                assert!(
                    stream.len() <= searched + searched / 50 + 8,
                    "{:?}..., level {level}: {} and {searched}",
                    &src[..2000],
                    stream.len()
                );
            }
        }
    }
    // Labels are a quarter shorter.
    let src = runs(30, 400, 100_000);
    let [stream, _] = encode_both(&mut Zlib::default(), 5, &src, bound(&src));
    assert!(stream.len() < searched(5, &src).len() * 4 / 5);
}

#[test]
fn short_streams_equal_those_of_the_library() {
    for src in [noise(10, 256, 16_383), noise(11, 9, 12_000), text(16_000)] {
        for level in 1..=9 {
            let [stream, _] = encode_both(&mut Zlib::default(), level, &src, bound(&src));
            assert!(stream == searched(level, &src));
        }
    }
}

/// Decodes with the C library.
fn decode_by_zlib(stream: &[u8], len: usize) -> Option<Vec<u8>> {
    use libz_sys as z;
    let mut back = vec![0; len];
    let mut state = std::mem::MaybeUninit::<z::z_stream>::zeroed();
    // SAFETY: zlib has default allocators instead of null pointers. The other pointers and lengths
    // come from live slices, and the state does not move before it is ended.
    let code = unsafe {
        let state = state.as_mut_ptr();
        (*state).next_in = stream.as_ptr().cast_mut();
        (*state).avail_in = stream.len() as z::uInt;
        (*state).next_out = back.as_mut_ptr();
        (*state).avail_out = len as z::uInt;
        let size = size_of::<z::z_stream>() as std::ffi::c_int;
        assert_eq!(z::inflateInit_(state, z::zlibVersion(), size), z::Z_OK);
        let code = z::inflate(state, z::Z_FINISH);
        back.truncate((*state).total_out as usize);
        z::inflateEnd(state);
        code
    };
    (code == z::Z_STREAM_END).then_some(back)
}

#[test]
fn both_decoders_agree() {
    let mut zlib = Zlib::default();
    for src in streams() {
        for level in 1..=9 {
            for stream in encode_both(&mut zlib, level, &src, bound(&src)) {
                assert!(decode_by_zlib(&stream, src.len().max(1)).as_ref() == Some(&src));
                assert!(decode(&mut zlib, &stream, src.len()) == src);
            }
        }
    }
}

#[test]
fn both_decoders_agree_about_damaged_streams() {
    let src = [text(600), noise(4, 20, 500), text(300), runs(5, 30, 400)].concat();
    let mut zlib = Zlib::default();
    for level in [1, 6, 9] {
        let [stream, _] = encode_both(&mut zlib, level, &src, bound(&src));
        let mut assert_agree = |stream: &[u8], len: usize| {
            let mut back = vec![0; len];
            let ours = zlib.decode(None, stream, &mut back, len);
            let ours = ours.map(|len| &back[..len]);
            match (decode_by_zlib(stream, len), ours) {
                (None, Err(error)) => assert_eq!(error, Error::Data),
                (theirs, ours) => assert_eq!(theirs.as_deref().ok_or(Error::Data), ours),
            }
        };
        for len in 0..stream.len() {
            assert_agree(&stream[..len], src.len());
        }
        for len in 1..src.len() {
            assert_agree(&stream, len);
        }
        for at in 0..stream.len() {
            for bit in 0..8 {
                let mut damaged = stream.clone();
                damaged[at] ^= 1 << bit;
                assert_agree(&damaged, src.len());
                assert_agree(&damaged, 2 * src.len());
            }
        }
    }
}
