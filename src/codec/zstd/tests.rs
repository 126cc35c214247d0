//! The size of streams of Blosc 1.x, and streams with noise.

use super::*;
use crate::codec::noise;
use crate::codec::noise::tests::{bound, noise, streams, text};

fn blosc1_size(level: u8, src: &[u8]) -> usize {
    let mut dest = vec![0; src.len()];
    let mut codec = Zstd::default();
    let len = codec
        .encode_blosc1(level, Blosc1Stream::default(), src, &mut dest)
        .unwrap();
    let mut back = vec![0; src.len()];
    assert_eq!(
        codec.decode(None, &dest[..len], &mut back, src.len()),
        Ok(src.len())
    );
    assert!(back == src);
    len
}

#[test]
fn short_runs_are_no_longer_than_version_1_5_4_makes_them() {
    for (level, len, size) in [
        (7, 32, 16),
        (8, 64, 16),
        (8, 128, 16),
        (8, 256, 18),
        (9, 512, 18),
    ] {
        assert!(
            blosc1_size(level, &vec![0; len]) <= size,
            "{len} zeros at level {level}"
        );
    }
    let runs: Vec<u8> = [0xFF, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0]
        .into_iter()
        .flat_map(|byte| [byte; 16])
        .collect();
    assert!(blosc1_size(8, &runs) <= 22);
    let different_runs: Vec<u8> = (10..18).flat_map(|byte| [byte; 16]).collect();
    assert!(blosc1_size(9, &different_runs) <= 24);
}

#[test]
fn a_few_values_are_no_longer_than_version_1_5_4_makes_them() {
    let mut sparse = [0; 64];
    for place in [7, 23, 55, 63] {
        sparse[place] = 1;
    }
    assert!(blosc1_size(9, &sparse) <= 24);
}

#[test]
fn a_short_stream_takes_no_more_room_than_there_is() {
    let zeros = [0; 100];
    let mut dest = [0xEE; 100];
    for room in 0..30 {
        let mut codec = Zstd::default();
        let len = codec.encode_blosc1(9, Blosc1Stream::default(), &zeros, &mut dest[..room]);
        assert!(len.unwrap() <= room);
        assert!(
            dest[room..].iter().all(|&byte| byte == 0xEE),
            "room for {room}"
        );
    }
}

#[test]
fn what_repeats_behind_noise_is_found() {
    let stretch = noise(1, 256, 20_000);
    let mut src = stretch.clone();
    // Pieces of what the parser skipped, each too short to be found by looking at one position in ten.
    for start in (10_000..19_000).step_by(30) {
        src.extend_from_slice(&stretch[start..start + 9]);
    }
    assert!(is_noisy(&src));
    for level in 3..=5 {
        assert!(
            blosc1_size(level, &src) < src.len() * 95 / 100,
            "level {level}"
        );
    }
}

#[test]
fn text_counters_and_short_streams_are_not_noisy() {
    let text = b"ocean relief and depth, measured at a station in the north. ".repeat(100);
    let counters: Vec<u8> = (0..8000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
    assert!(!is_noisy(&text));
    assert!(!is_noisy(&counters));
    assert!(!is_noisy(
        &(0..=255).cycle().take(1000).collect::<Vec<u8>>()
    ));
}

/// Encodes a shuffled stream for either kind of chunk, into no more than `capacity` bytes.
fn encode_both(zstd: &mut Zstd, level: u8, src: &[u8], capacity: usize) -> [Vec<u8>; 2] {
    let mut dest = vec![0; capacity];
    let len = zstd.encode_shuffled(level, Shuffled::Bytes, src, &mut dest);
    let ours = dest[..len.expect("encodes")].to_vec();
    let kind = Blosc1Stream {
        shuffled: Shuffled::Bytes,
        ..Blosc1Stream::default()
    };
    let len = zstd.encode_blosc1(level, kind, src, &mut dest);
    [ours, dest[..len.expect("encodes")].to_vec()]
}

#[test]
fn counters_are_no_longer_than_the_library_makes_them_in_long_blocks() {
    // Short enough to be encoded again, and too long.
    for items in [6000_u32, 9000] {
        for step in 1..=9 {
            let low = (0..items).map(|i| (i * step) as u8);
            let high = (0..items).map(|i| ((i * step) >> 8) as u8);
            let zeros = (0..15 * items).map(|_| 0);
            let src: Vec<u8> = low.chain(high).chain(zeros).collect();
            assert!(is_noisy(&src));
            for level in 3..=5 {
                let [_, stream] = encode_both(&mut Zstd::default(), level, &src, bound(&src));
                let whole = blosc1_size(level, &src).min(searched(level, &src).len());
                assert!(
                    stream.len() <= whole,
                    "{items} items, steps of {step}, level {level}"
                );
            }
        }
    }
}

/// What the library makes of it.
fn searched(level: u8, src: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; bound(src)];
    let len = Zstd::default().encode(level, None, src, &mut dest);
    dest[..len.expect("encodes")].to_vec()
}

#[test]
fn streams_with_and_without_noise_come_back() {
    let mut zstd = Zstd::default();
    for src in streams() {
        for level in 1..=9 {
            for stream in encode_both(&mut zstd, level, &src, bound(&src)) {
                let mut back = vec![0; src.len()];
                assert_eq!(
                    zstd.decode(None, &stream, &mut back, src.len()),
                    Ok(src.len())
                );
                assert!(back == src);
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_streams_before() {
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
            // Parsers that weigh prices come near it with few matches and long blocks.
            let most = searched + if level < 7 { 0 } else { searched / 200 };
            for stream in encode_both(&mut Zstd::default(), level, &src, bound(&src)) {
                assert!(stream.len() < most, "{values} values, level {level}");
            }
        }
    }
}

#[test]
fn noise_has_a_code_for_each_kind() {
    // Four values each, but others.
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
fn streams_without_noise_are_the_librarys_own() {
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
fn noise_is_searched_in_streams_that_are_not_shuffled() {
    // Items of eight random bytes, and the same in another order.
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
fn the_library_looks_for_no_matches_at_long_distances_beside_noise() {
    // As it would in a stream of more than 64 MiB at level 9.
    let src = noise(8, 30, 50_000);
    let mut finder = noise::Noise::default();
    let runs = finder.find(&src, noise::Search::FarThrees);
    assert!(!runs.is_empty());
    let parameters = [
        (ZSTD_cParameter::ZSTD_c_compressionLevel, 22),
        (ZSTD_cParameter::ZSTD_c_windowLog, 27),
    ];
    let mut dest = vec![0; bound(&src)];
    let len = Encoder::new()
        .unwrap()
        .encode_around(runs, parameters, &src, &mut dest);
    assert!((1..src.len()).contains(&len.unwrap()));
}

#[test]
fn a_destination_that_is_too_small_gives_nothing_and_the_next_stream_is_whole() {
    let src = [
        text(9000),
        noise(4, 4, 20_000),
        text(9000),
        noise(5, 100, 20_000),
        text(9000),
    ]
    .concat();
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
