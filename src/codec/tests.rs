//! Tests shared by all built-in codecs, run through [`Workspace`].

use super::*;
use crate::testing::GuardedBuf;
use crate::{Error, Result};

/// All built-in codecs with their formats.
const CODECS: [(u8, u8); 6] = [
    (id::BLOSCLZ, format::BLOSCLZ),
    (id::LZ4, format::LZ4),
    (id::LZ4HC, format::LZ4),
    (id::SNAPPY, format::SNAPPY),
    (id::ZLIB, format::ZLIB),
    (id::ZSTD, format::ZSTD),
];

/// The codecs that support dictionaries.
const DICT_CODECS: [(u8, u8); 3] =
    [(id::LZ4, format::LZ4), (id::LZ4HC, format::LZ4), (id::ZSTD, format::ZSTD)];

/// Returns reproducible pseudo-random bytes.
fn noise(len: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let step = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    std::iter::repeat_with(step).take(len).collect()
}

/// Returns streams like those that filters produce: byte planes of counters, runs, near and far
/// repeats, text, noise.
fn samples(len: usize) -> Vec<Vec<u8>> {
    let words = ["block ", "chunk ", "frame ", "codec ", "filter ", "the "];
    let text = noise(len, 7)
        .iter()
        .flat_map(|&b| words[usize::from(b) % words.len()].bytes())
        .take(len)
        .collect();
    let period = noise(37, 3);
    vec![
        vec![0x2A; len],
        (0..len).map(|i| (i / 5) as u8).collect(),
        (0..len).map(|i| (i / 256) as u8).collect(),
        (0..len).map(|i| period[i % period.len()]).collect(),
        (0..len).map(|i| b"abc"[i % 3]).collect(),
        noise(len, 1).iter().map(|b| b % 4).collect(),
        text,
        noise(len, 2),
    ]
}

fn encode(space: &mut Workspace, codec: u8, level: u8, src: &[u8], capacity: usize) -> Vec<u8> {
    let mut dest = GuardedBuf::zeroed(capacity);
    let src = GuardedBuf::copy_of(src);
    let len = space.encode(codec, level, None, &src, &mut dest).expect("encoding doesn't fail");
    dest[..len].to_vec()
}

fn decode(space: &mut Workspace, format: u8, src: &[u8], capacity: usize) -> Result<Vec<u8>> {
    let src = GuardedBuf::copy_of(src);
    let mut dest = GuardedBuf::zeroed(capacity);
    let len = space.decode(format, None, &src, &mut dest)?;
    assert!(len <= capacity);
    Ok(dest[..len].to_vec())
}

#[test]
fn every_codec_round_trips_at_every_level() {
    let mut space = Workspace::new();
    for (codec, format) in CODECS {
        for level in 0..=9 {
            for len in [1, 2, 15, 16, 17, 127, 128, 1000, 4096, 70_000] {
                if codec == id::ZSTD && level == 9 && len > 10_000 {
                    continue; // slow, with no further coverage
                }
                for src in samples(len) {
                    let stream = encode(&mut space, codec, level, &src, 2 * len + 100);
                    if stream.is_empty() {
                        assert_eq!(codec, id::BLOSCLZ, "only BloscLZ gives up");
                        continue;
                    }
                    assert_eq!(decode(&mut space, format, &stream, len), Ok(src));
                }
            }
        }
    }
}

#[test]
fn every_codec_respects_any_capacity() {
    let mut space = Workspace::new();
    for (codec, format) in CODECS {
        for src in samples(700) {
            let level = 7;
            let full = encode(&mut space, codec, level, &src, 2000);
            for capacity in 0..=full.len() + 70 {
                let stream = encode(&mut space, codec, level, &src, capacity);
                if !stream.is_empty() {
                    assert_eq!(decode(&mut space, format, &stream, src.len()).as_ref(), Ok(&src));
                } else if codec != id::SNAPPY && !full.is_empty() {
                    assert!(capacity < full.len().max(66) + 10, "gives up near the limit only");
                }
            }
        }
    }
}

#[test]
fn row_d8_a_used_workspace_writes_the_same_as_a_fresh_one() {
    let mut used = Workspace::new();
    let lens = [5000, 100, 65_536, 64, 65_547, 3000, 1 << 17, 800, 4095, 4096];
    for round in 0..2u8 {
        for (codec, _) in CODECS {
            for (i, len) in lens.into_iter().enumerate() {
                let level =
                    if codec == id::ZSTD { 1 + round } else { 1 + (i as u8 * 4 + round) % 9 };
                for src in samples(len) {
                    let fresh = encode(&mut Workspace::new(), codec, level, &src, len);
                    let reused = encode(&mut used, codec, level, &src, len);
                    assert!(reused == fresh, "codec {codec} level {level} len {len}");
                }
            }
        }
    }
}

#[test]
fn decoders_reject_or_report_wrong_lengths() {
    let mut space = Workspace::new();
    for (codec, format) in CODECS {
        for src in [&samples(500)[3], &samples(500)[6]] {
            let stream = encode(&mut space, codec, 9, src, 1000);
            for capacity in 0..500 {
                let short = decode(&mut space, format, &stream, capacity);
                assert_eq!(short, Err(Error::Data), "codec {codec} into {capacity}");
            }
            let long = decode(&mut space, format, &stream, 600);
            assert_eq!(long.as_ref(), Ok(src), "the true length is reported");
        }
    }
}

#[test]
fn decoders_survive_truncation_and_mutation() {
    let mut space = Workspace::new();
    for (codec, format) in CODECS {
        for src in samples(300) {
            let stream = encode(&mut space, codec, 5, &src, 1000);
            for cut in 0..stream.len() {
                let result = decode(&mut space, format, &stream[..cut], src.len());
                assert_ne!(result.as_ref(), Ok(&src), "codec {codec} cut to {cut}");
            }
            for at in 0..stream.len() {
                for flip in [1, 0x10, 0x80, 0xFF] {
                    let mut bad = stream.clone();
                    bad[at] ^= flip;
                    let _ = decode(&mut space, format, &bad, src.len());
                }
            }
        }
    }
}

#[test]
fn only_zlib_accepts_bytes_after_the_stream() {
    let mut space = Workspace::new();
    let src = &samples(1000)[3];
    for (codec, format) in CODECS {
        let mut stream = encode(&mut space, codec, 9, src, 2000);
        stream.push(7);
        let result = decode(&mut space, format, &stream, src.len());
        if codec == id::ZLIB {
            assert_eq!(result.as_ref(), Ok(src));
        } else {
            assert_ne!(result.as_ref(), Ok(src), "codec {codec}");
        }
    }
}

#[test]
fn zlib_requires_the_zlib_wrapper() {
    let mut space = Workspace::new();
    let src = &samples(1000)[1];
    let stream = encode(&mut space, id::ZLIB, 5, src, 2000);
    let raw = &stream[2..stream.len() - 4];
    assert_eq!(decode(&mut space, format::ZLIB, raw, src.len()), Err(Error::Data));
    let gzip = [b"\x1f\x8b\x08\0\0\0\0\0\0\x03", raw].concat();
    assert_eq!(decode(&mut space, format::ZLIB, &gzip, src.len()), Err(Error::Data));
    for (level, second_byte) in [(1, 0x01), (2, 0x5e), (5, 0x5e), (6, 0x9c), (7, 0xda), (9, 0xda)] {
        let stream = encode(&mut space, id::ZLIB, level, src, 2000);
        assert_eq!(stream[..2], [0x78, second_byte]);
    }
}

/// zlib-rs keeps some of the state of a stream that did not fit.
#[test]
fn zlib_starts_over_after_a_stream_that_did_not_fit() {
    let mut space = Workspace::new();
    let text = &samples(400_000)[6];
    for level in 1..=9 {
        let stream = encode(&mut Workspace::new(), id::ZLIB, level, text, text.len());
        for capacity in [stream.len() - 1, stream.len() - 20, stream.len() / 2] {
            assert!(encode(&mut space, id::ZLIB, level, text, capacity).is_empty());
            assert!(encode(&mut space, id::ZLIB, level, text, text.len()) == stream);
        }
    }
}

#[test]
fn zstd_accepts_several_frames_and_skippable_ones() {
    let mut space = Workspace::new();
    let src = &samples(1000)[1];
    let (head, tail) = src.split_at(300);
    let skippable = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let stream = [
        &skippable[..],
        &encode(&mut space, id::ZSTD, 1, head, 1000),
        &skippable,
        &encode(&mut space, id::ZSTD, 3, tail, 1000),
        &skippable,
    ]
    .concat();
    assert_eq!(decode(&mut space, format::ZSTD, &stream, src.len()).as_ref(), Ok(src));
}

#[test]
fn zstd_does_not_allocate_the_window_size_of_the_frame() {
    let src = noise(1000, 5);
    let mut space = Workspace::new();
    // A frame with a window descriptor, whose top five bits set the window size, and one raw last
    // block.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0];
    let block = 1 | (src.len() as u32) << 3;
    frame.extend_from_slice(&block.to_le_bytes()[..3]);
    frame.extend_from_slice(&src);
    // The C library refuses windows above 1 GiB on 32-bit systems.
    let (one_gib, two_gib) = (20 << 3, 21 << 3);
    frame[5] = if cfg!(target_pointer_width = "32") { one_gib } else { two_gib };
    assert_eq!(decode(&mut space, format::ZSTD, &frame, src.len()).as_ref(), Ok(&src));
    let one_tib = 30 << 3;
    frame[5] = one_tib;
    assert_eq!(decode(&mut space, format::ZSTD, &frame, src.len()), Err(Error::Data));
}

#[test]
fn unknown_codecs_are_not_supported() {
    let mut space = Workspace::new();
    for codec in [6, 31, 32, 200] {
        let result = space.encode(codec, 5, None, &[0; 100], &mut [0; 100]);
        assert_eq!(result, Err(Error::CodecSupport));
    }
    for format in [5, format::USER, 7, 255] {
        let result = space.decode(format, None, &[0; 100], &mut [0; 100]);
        assert_eq!(result, Err(Error::CodecSupport));
    }
}

#[test]
fn dictionaries_shorten_streams_and_round_trip() {
    let mut space = Workspace::new();
    let text = &samples(60_000)[6];
    for (codec, format) in DICT_CODECS {
        for level in [1, 2, 5, 9] {
            let dict = Dictionary::for_encoding(codec, level, text[..2000].to_vec()).unwrap();
            let reader = Dictionary::for_decoding(format, dict.bytes()).unwrap();
            for src in [&text[3000..3300], &text[10_000..13_000], &text[20_000..55_000]] {
                let mut stream = vec![0; src.len()];
                let len = space.encode(codec, level, Some(&dict), src, &mut stream).unwrap();
                let mut plain = vec![0; src.len()];
                let plain_len = space.encode(codec, level, None, src, &mut plain).unwrap();
                assert!(len > 0);
                if src.len() < 1000 {
                    assert!(len < plain_len, "codec {codec}: {len} against {plain_len}");
                }
                let mut back = GuardedBuf::zeroed(src.len());
                let produced = space.decode(format, Some(&reader), &stream[..len], &mut back);
                assert_eq!(produced, Ok(src.len()));
                assert_eq!(&back[..], src);

                let mut again = vec![0; src.len()];
                let fresh = Workspace::new().encode(codec, level, Some(&dict), src, &mut again);
                assert_eq!(fresh, Ok(len));
                assert!(again[..len] == stream[..len], "codec {codec} level {level}");
            }
        }
    }
}

#[test]
fn row_c23_zstd_with_a_dictionary_ignores_the_level() {
    let mut space = Workspace::new();
    let text = &samples(60_000)[6];
    let dict = Dictionary::for_encoding(id::ZSTD, 9, text[..2000].to_vec()).unwrap();
    let mut streams = [1, 5, 9].map(|level| {
        let mut stream = vec![0; 8000];
        let src = &text[9000..17_000];
        let len = space.encode(id::ZSTD, level, Some(&dict), src, &mut stream).unwrap();
        stream.truncate(len);
        stream
    });
    let first = streams[0].clone();
    assert!(streams.iter_mut().all(|stream| *stream == first));
}

#[test]
fn codecs_without_dictionaries_ignore_them() {
    let mut space = Workspace::new();
    let src = &samples(1000)[3];
    for (codec, format) in [(id::BLOSCLZ, format::BLOSCLZ), (id::ZLIB, format::ZLIB)] {
        let dict = Dictionary::for_encoding(codec, 9, src.clone()).unwrap();
        let mut stream = vec![0; 1000];
        let len = space.encode(codec, 9, Some(&dict), src, &mut stream).unwrap();
        assert_eq!(stream[..len], encode(&mut space, codec, 9, src, 1000));
        let dict = Dictionary::for_decoding(format, src).unwrap();
        let mut back = vec![0; 1000];
        assert_eq!(space.decode(format, Some(&dict), &stream[..len], &mut back), Ok(1000));
        assert_eq!(&back, src);
    }
}

#[test]
fn zstd_rejects_a_broken_dictionary() {
    let magic = [0x37, 0xA4, 0x30, 0xEC, 1, 2, 3, 4, 5, 6, 7, 8];
    let result = Dictionary::for_decoding(format::ZSTD, &magic);
    assert_eq!(result.err(), Some(Error::CodecDict));
    assert!(Dictionary::for_decoding(format::ZSTD, &[b'x'; 300]).is_ok());
    assert!(Dictionary::for_decoding(format::ZSTD, b"x").is_ok());
}

#[test]
fn training_returns_a_dictionary_or_none() {
    let text = &samples(60_000)[6];
    let sizes = vec![300; 200];
    let dict = Dictionary::train(id::ZSTD, text, &sizes, 3000).expect("a dictionary");
    assert!(!dict.is_empty() && dict.len() <= 3000);
    assert_eq!(dict[..4], [0x37, 0xA4, 0x30, 0xEC]);
    assert!(Dictionary::for_decoding(format::ZSTD, &dict).is_ok());

    let samples = GuardedBuf::copy_of(&text[..6000]);
    for sizes in [&[1; 8][..], &[], &[1, 1, 1, 1, 1, 1, 2, 5000], &[9; 6]] {
        assert_eq!(Dictionary::train(id::ZSTD, &samples, sizes, 256), None, "too few bytes");
    }
    let _ = Dictionary::train(id::ZSTD, &samples, &[1, 1, 1, 1, 1, 3, 5992], 300);
    let _ = Dictionary::train(id::ZSTD, &samples, &[6, 994, 1000, 1000, 1000, 1000, 1000], 300);
    assert_eq!(Dictionary::train(id::ZSTD, &samples, &[1000; 7], 300), None, "beyond the samples");
    assert_eq!(Dictionary::train(id::ZSTD, &samples, &[usize::MAX, 2], 300), None);
}
