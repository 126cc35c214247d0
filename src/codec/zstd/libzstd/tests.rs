//! The size of streams of Blosc 1.x, and streams with incompressible regions.

use super::*;
use crate::codec::incompressible;
use crate::codec::incompressible::tests::{bound, noise, streams, text};

fn blosc1_size(level: u8, src: &[u8]) -> usize {
    let mut dest = vec![0; src.len()];
    let mut codec = Zstd::default();
    let len = codec.encode_blosc1(level, Blosc1Stream::default(), src, &mut dest).unwrap();
    let mut back = vec![0; src.len()];
    assert_eq!(codec.decode(None, &dest[..len], &mut back, src.len()), Ok(src.len()));
    assert!(back == src);
    len
}

#[test]
fn short_runs_are_no_longer_than_with_version_1_5_4() {
    for (level, len, size) in [(7, 32, 16), (8, 64, 16), (8, 128, 16), (8, 256, 18), (9, 512, 18)] {
        assert!(blosc1_size(level, &vec![0; len]) <= size, "{len} zeros at level {level}");
    }
}

#[test]
fn a_short_stream_respects_the_capacity() {
    let zeros = [0; 100];
    let mut dest = [0xEE; 100];
    for capacity in 0..30 {
        let mut codec = Zstd::default();
        let len = codec.encode_blosc1(9, Blosc1Stream::default(), &zeros, &mut dest[..capacity]);
        assert!(len.unwrap() <= capacity);
        assert!(dest[capacity..].iter().all(|&byte| byte == 0xEE), "capacity {capacity}");
    }
}

#[test]
fn repeats_after_noise_are_found() {
    let skipped = noise(1, 256, 20_000);
    let mut src = skipped.clone();
    // Repeats of skipped bytes, each too short to be found by searching one position in ten.
    for start in (10_000..19_000).step_by(30) {
        src.extend_from_slice(&skipped[start..start + 9]);
    }
    assert_ne!(Noise::of([&src[..]]), Noise::None);
    for level in 3..=5 {
        assert!(blosc1_size(level, &src) < src.len() * 95 / 100, "level {level}");
    }
}

#[test]
fn text_counters_and_short_streams_are_not_noisy() {
    let text = b"ocean relief and depth, measured at a station in the north. ".repeat(100);
    let counters: Vec<u8> = (0..8000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
    let short: Vec<u8> = (0..=255).cycle().take(1000).collect();
    for src in [&text, &counters, &short] {
        assert_eq!(Noise::of([&src[..]]), Noise::None);
    }
}

/// Encodes a shuffled stream for both kinds of chunk, into at most `capacity` bytes.
fn encode_both(zstd: &mut Zstd, level: u8, src: &[u8], capacity: usize) -> [Vec<u8>; 2] {
    let mut dest = vec![0; capacity];
    let len = zstd.encode_shuffled(level, Shuffled::Bytes, src, &mut dest);
    let ours = dest[..len.expect("encodes")].to_vec();
    let kind = Blosc1Stream { shuffled: Shuffled::Bytes, typesize: 8, ..Blosc1Stream::default() };
    let len = zstd.encode_blosc1(level, kind, src, &mut dest);
    [ours, dest[..len.expect("encodes")].to_vec()]
}

#[test]
fn counters_are_no_longer_than_with_long_blocks() {
    // Short enough to be encoded again, and too long.
    for items in [6000_u32, 9000] {
        for step in 1..=9 {
            let low = (0..items).map(|i| (i * step) as u8);
            let high = (0..items).map(|i| ((i * step) >> 8) as u8);
            let zeros = (0..15 * items).map(|_| 0);
            let src: Vec<u8> = low.chain(high).chain(zeros).collect();
            assert_eq!(Noise::of([&src[..]]), Noise::None);
            for level in 3..=5 {
                let [_, stream] = encode_both(&mut Zstd::default(), level, &src, bound(&src));
                let whole = blosc1_size(level, &src).min(searched(level, &src).len());
                assert!(stream.len() <= whole, "{items} items, steps of {step}, level {level}");
            }
        }
    }
}

/// Returns the planes of smooth 64-bit items: one in eight bytes changes rarely for each noisy one.
fn planes(len: usize, noisy: usize) -> Vec<u8> {
    (0..8u64)
        .flat_map(|plane| match plane {
            _ if plane < noisy as u64 => noise(plane + 20, 256, len),
            _ => (0..len as u64).map(|i| (i >> (4 * (plane + 1))) as u8 & 0x3f).collect(),
        })
        .collect()
}

#[test]
fn shares_of_noise_are_estimated() {
    for (noisy, share) in [
        (0, Noise::None),
        (1, Noise::Little),
        (2, Noise::Little),
        (3, Noise::Half),
        (4, Noise::Half),
        (5, Noise::Much),
        (8, Noise::Much),
    ] {
        assert_eq!(Noise::of([&planes(8192, noisy)[..]]), share, "{noisy} planes");
    }
}

#[test]
fn smooth_numbers_with_noise_are_not_longer_than_with_the_search_of_the_level() {
    for len in [8192, 32_768] {
        for noisy in 1..=7 {
            let src = planes(len, noisy);
            for level in 3..=6 {
                let [_, stream] = encode_both(&mut Zstd::default(), level, &src, bound(&src));
                let searched = searched(level, &src).len();
                assert!(
                    stream.len() <= searched + searched / 100,
                    "{noisy} of {len}, level {level}"
                );
            }
        }
    }
}

#[test]
fn repeats_in_noise_are_found_at_the_distance_of_planes() {
    let one = noise(30, 256, 32_768);
    let src = [one.clone(), noise(31, 256, 32_768), one.clone(), one].concat();
    assert_eq!(Noise::of([&src[..]]), Noise::Much);
    for level in 3..=6 {
        let [_, stream] = encode_both(&mut Zstd::default(), level, &src, bound(&src));
        assert!(stream.len() < src.len() * 51 / 100, "level {level}: {}", stream.len());
    }
}

#[test]
fn blocks_begin_with_planes() {
    assert_eq!(plane_block(8, 64 << 10), 8 << 10);
    assert_eq!(plane_block(16, 64 << 10), 8 << 10);
    assert_eq!(plane_block(12, 96_000), 16_000);
    assert_eq!(plane_block(4, 1 << 20), 64 << 10);
    assert_eq!(plane_block(2, 300_000), 50_000);
    assert_eq!(plane_block(0, 0), 8 << 10);
    assert_eq!(plane_block(255, 100), 8 << 10);
}

/// Returns the stream of the library without region detection.
fn searched(level: u8, src: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; bound(src)];
    let len = Zstd::default().encode(level, None, src, &mut dest);
    dest[..len.expect("encodes")].to_vec()
}

#[test]
fn streams_with_and_without_noise_round_trip() {
    let mut zstd = Zstd::default();
    for src in streams() {
        for level in 1..=9 {
            for stream in encode_both(&mut zstd, level, &src, bound(&src)) {
                let mut back = vec![0; src.len()];
                assert_eq!(zstd.decode(None, &stream, &mut back, src.len()), Ok(src.len()));
                assert!(back == src);
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_earlier_streams() {
    let mut used = Zstd::default();
    for src in streams().iter().rev() {
        for level in [1, 2, 3, 5, 7] {
            let streams = encode_both(&mut used, level, src, bound(src));
            let fresh = encode_both(&mut Zstd::default(), level, src, bound(src));
            assert!(streams == fresh, "level {level}, {} bytes", src.len());
        }
    }
}

#[test]
fn noise_of_few_values_is_no_longer_than_with_matches() {
    for values in [4, 30] {
        let src = noise(1, values, 100_000);
        for level in 3..=9 {
            let searched = searched(level, &src).len();
            // Optimal parsers come close to it with few matches and long blocks.
            let max = searched + if level < 7 { 0 } else { searched / 200 };
            for stream in encode_both(&mut Zstd::default(), level, &src, bound(&src)) {
                assert!(stream.len() < max, "{values} values, level {level}");
            }
        }
    }
}

#[test]
fn noise_with_changing_values_has_new_codes() {
    // Four values in each plane, different from those of the others.
    let src: Vec<u8> = (0..8_u8)
        .flat_map(|plane| {
            let values = noise(plane.into(), 4, 32_768);
            values.into_iter().map(move |value| 4 * plane + value)
        })
        .collect();
    for level in [3, 5, 7] {
        for stream in encode_both(&mut Zstd::default(), level, &src, bound(&src)) {
            assert!(stream.len() < src.len() * 2 / 8 * 101 / 100, "{level}");
        }
    }
}

#[test]
fn streams_without_noise_equal_those_of_the_library() {
    let once = noise(6, 20, 40_000);
    for src in [
        noise(2, 4, 16_383),
        noise(3, 30, 12_000),
        text(100_000),
        [once.clone(), text(90_000), once].concat(),
        vec![7; 100_000],
    ] {
        for level in 1..=8 {
            let [stream, _] = encode_both(&mut Zstd::default(), level, &src, bound(&src));
            assert!(stream == searched(level, &src), "level {level}");
        }
    }
}

#[test]
fn noise_is_searched_in_unshuffled_streams() {
    // Items of eight random bytes, followed by the same items in another order.
    let items = noise(7, 256, 80_000);
    let mut backwards: Vec<&[u8]> = items.chunks(8).collect();
    backwards.reverse();
    let src = [items.clone(), backwards.concat()].concat();
    for level in [5, 7] {
        let mut dest = vec![0; bound(&src)];
        let mut zstd = Zstd::default();
        let len = zstd.encode_blosc1(level, Blosc1Stream::default(), &src, &mut dest);
        assert!(len.unwrap() < src.len() * 4 / 5, "level {level}");
    }
}

#[test]
fn segmented_frames_disable_long_distance_matching() {
    // As the library does in a stream of more than 64 MiB at level 9.
    let src = noise(8, 30, 50_000);
    let mut scanner = incompressible::Scanner::default();
    let regions = scanner.scan(&src, incompressible::Search::FarMin3);
    assert!(!regions.is_empty());
    let parameters =
        [(ZSTD_cParameter::ZSTD_c_compressionLevel, 22), (ZSTD_cParameter::ZSTD_c_windowLog, 27)];
    let mut dest = vec![0; bound(&src)];
    let len = Encoder::new().unwrap().encode_segmented(regions, parameters, &src, &mut dest);
    assert!((1..src.len()).contains(&len.unwrap()));
}

#[test]
fn a_stream_that_does_not_fit_is_empty_and_does_not_affect_the_next() {
    let src =
        [text(9000), noise(4, 4, 20_000), text(9000), noise(5, 100, 20_000), text(9000)].concat();
    for level in [1, 3, 5, 7] {
        let mut zstd = Zstd::default();
        let whole = encode_both(&mut zstd, level, &src, bound(&src));
        let least = whole.iter().map(Vec::len).min().expect("two");
        let near_the_end = (least - 40..least).step_by(3);
        for capacity in (0..least).step_by(4999).chain(0..20).chain(near_the_end) {
            for stream in encode_both(&mut zstd, level, &src, capacity) {
                assert!(stream.is_empty(), "{capacity}");
            }
            assert!(encode_both(&mut zstd, level, &src, bound(&src)) == whole);
        }
    }
}
