//! The decoder in Rust, compared with that of the C library.

use super::libzstd::Encoder;
use super::{libzstd, pure};
use crate::codec::incompressible::tests::{bound, noise, runs, streams, text};
use crate::codec::info::Code;
use crate::codec::{Blosc1Stream, CodecInfo, Dictionary, Shuffled, StreamCodec, id};
use crate::{Error, ErrorKind, Result};
use zstd_sys::ZSTD_cParameter;

fn codec(info: &CodecInfo) -> Box<dyn StreamCodec> {
    match info.code {
        Code::Stream(make) => make(),
        _ => unreachable!("a built-in codec"),
    }
}

/// Both decoders, with a dictionary for each.
struct Pair {
    codecs: [Box<dyn StreamCodec>; 2],
    dicts: [Option<Dictionary>; 2],
    /// The number of streams that both decode.
    accepted: usize,
    /// The number of streams that both decode, with different results.
    different: usize,
    /// The number of streams that only the C library decodes, and that only ours decodes.
    disputed: [usize; 2],
}

impl Pair {
    fn new(dict: Option<&[u8]>) -> Pair {
        let infos = [&libzstd::INFO, &pure::INFO];
        let prepare = |info: &CodecInfo| {
            dict.map(|bytes| Dictionary::new_decoding(info.dictionaries, bytes).unwrap())
        };
        Pair {
            codecs: infos.map(codec),
            dicts: infos.map(prepare),
            accepted: 0,
            different: 0,
            disputed: [0; 2],
        }
    }

    fn decode(&mut self, stream: &[u8], len: usize) -> [Result<Vec<u8>>; 2] {
        [0, 1].map(|i| {
            let mut dest = vec![0xEE; len];
            let done = self.codecs[i].decode(self.dicts[i].as_ref(), stream, &mut dest, len)?;
            dest.truncate(done);
            Ok(dest)
        })
    }

    /// Checks that both decoders return `data`.
    fn assert_decode(&mut self, stream: &[u8], data: &[u8]) {
        for (decoded, name) in self.decode(stream, data.len()).iter().zip(["C", "Rust"]) {
            let decoded = decoded.as_ref().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(decoded == data, "{name}: {} bytes", data.len());
        }
    }

    /// Checks that the decoders return the same bytes, or both an error.
    fn assert_agree(&mut self, stream: &[u8], len: usize) {
        let before = (self.disputed, self.different);
        self.assert_sound(stream, len);
        let front = &stream[..stream.len().min(30)];
        let after = (self.disputed, self.different);
        assert_eq!(before, after, "{front:02x?}: {} into {len}", stream.len());
    }

    /// Checks that the decoder in Rust returns an error or at most `len` bytes.
    fn assert_sound(&mut self, stream: &[u8], len: usize) {
        let [theirs, ours] = self.decode(stream, len);
        self.disputed[0] += usize::from(theirs.is_ok() && ours.is_err());
        self.disputed[1] += usize::from(theirs.is_err() && ours.is_ok());
        match (&theirs, &ours) {
            (_, Err(error)) => assert_eq!(*error, Error::Data),
            (Err(_), Ok(_)) => {}
            (Ok(theirs), Ok(ours)) => {
                self.different += usize::from(theirs != ours);
                self.accepted += 1;
            }
        }
    }
}

/// Returns the streams of all encoders.
fn encoded(level: u8, dict: Option<&Dictionary>, src: &[u8]) -> Vec<Vec<u8>> {
    let mut codec = codec(&libzstd::INFO);
    let mut dest = vec![0; bound(src)];
    let kind = Blosc1Stream { split: false, shuffled: Shuffled::Bytes, typesize: 4 };
    let mut streams = Vec::new();
    let len = codec.encode(level, dict, src, &mut dest).unwrap();
    streams.push(dest[..len].to_vec());
    if dict.is_none() {
        let len = codec.encode_shuffled(level, Shuffled::Bytes, src, &mut dest).unwrap();
        streams.push(dest[..len].to_vec());
        let len = codec.encode_blosc1(level, kind, src, &mut dest).unwrap();
        streams.push(dest[..len].to_vec());
    }
    streams
}

#[test]
fn streams_of_all_levels_decode() {
    let mut pair = Pair::new(None);
    for src in streams().into_iter().chain([runs(30, 40, 70_000), vec![7; 200_000]]) {
        for level in 1..=9 {
            for stream in encoded(level, None, &src) {
                pair.assert_decode(&stream, &src);
            }
        }
    }
}

#[test]
fn streams_of_all_lengths_decode() {
    let mut pair = Pair::new(None);
    let src = [text(2000), noise(5, 60, 2000), text(300_000), noise(9, 256, 140_000)].concat();
    for len in (1..300).chain([1000, 3000, 65_536, 131_071, 131_072, 131_073, src.len()]) {
        for level in [1, 5, 9] {
            for stream in encoded(level, None, &src[..len]) {
                pair.assert_decode(&stream, &src[..len]);
            }
        }
    }
    // Longer than a step of the decoder.
    let src = src.repeat(8);
    for stream in encoded(3, None, &src) {
        pair.assert_decode(&stream, &src);
    }
}

fn trained(samples: &[u8]) -> Vec<u8> {
    let sizes = vec![100; samples.len() / 100];
    Dictionary::train(id::ZSTD, samples, &sizes, 8 << 10).expect("trains")
}

#[test]
fn streams_with_dictionaries_decode() {
    let src = text(60_000);
    let trained = trained(&src);
    assert!(trained.starts_with(&0xEC30_A437_u32.to_le_bytes()));
    for bytes in [&*trained, &src[..5000], &src[..7], &src[..0], &noise(3, 256, 200_000)] {
        let mut pair = Pair::new(Some(bytes));
        for level in [1, 4, 9] {
            let dict = Dictionary::for_encoding(id::ZSTD, level, bytes.to_vec()).unwrap();
            for len in [1, 50, 300, 5000, src.len()] {
                for stream in encoded(level, Some(&dict), &src[..len]) {
                    pair.assert_decode(&stream, &src[..len]);
                    pair.assert_agree(&stream, len - 1);
                    pair.assert_agree(&stream[..stream.len() - 1], len);
                }
            }
        }
    }
}

#[test]
fn one_decoder_uses_many_dictionaries() {
    let src = text(60_000);
    let trained = [trained(&src), trained(&src[20_000..])];
    let dicts = [&*trained[0], &src[..900], &trained[1], &src[..0]];
    let mut ours = codec(&pure::INFO);
    for (bytes, from) in dicts.iter().cycle().zip((0..20_000).step_by(1700)) {
        let src = &src[from..][..4000];
        let encoder = Dictionary::for_encoding(id::ZSTD, 5, bytes.to_vec()).unwrap();
        let decoder = Dictionary::new_decoding(pure::INFO.dictionaries, bytes).unwrap();
        for (encoder, decoder) in [(Some(&encoder), Some(&decoder)), (None, None)] {
            for stream in encoded(5, encoder, src) {
                let mut dest = vec![0; src.len()];
                assert_eq!(ours.decode(decoder, &stream, &mut dest, src.len()), Ok(src.len()));
                assert!(dest == src);
            }
        }
    }
}

#[test]
fn a_stream_needs_its_dictionary() {
    let src = text(60_000);
    let bytes = trained(&src);
    let dict = Dictionary::for_encoding(id::ZSTD, 5, bytes.clone()).unwrap();
    for stream in encoded(5, Some(&dict), &src[..3000]) {
        for other in [None, Some(&*trained(&src[10_000..])), Some(&src[..5000])] {
            let [theirs, ours] = Pair::new(other).decode(&stream, 3000);
            assert_eq!((theirs, ours), (Err(Error::Data), Err(Error::Data)));
        }
    }
}

#[test]
fn invalid_dictionaries_are_rejected() {
    let bytes = trained(&text(60_000));
    let results = |bytes: &[u8]| {
        [&libzstd::INFO, &pure::INFO].map(|info| {
            Dictionary::new_decoding(info.dictionaries, bytes).map(|_| ()).map_err(|e| e.kind())
        })
    };
    let (mut rejected, mut disputed) = (0, 0);
    for len in 0..bytes.len().min(400) {
        let [theirs, ours] = results(&bytes[..len]);
        assert_eq!(theirs, ours, "{len} bytes");
        rejected += usize::from(ours.is_err());
    }
    // The tables are in the first bytes, after the magic number.
    for at in 4..200 {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let [theirs, ours] = results(&damaged);
            disputed += usize::from(theirs != ours);
            assert!(ours.is_ok() || ours == Err(ErrorKind::CodecDict), "{ours:?}");
            rejected += usize::from(ours.is_err());
        }
    }
    assert!(rejected > 400 && disputed < 20, "{rejected}, {disputed}");
}

/// Returns a frame with a checksum.
fn with_checksum(src: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; bound(src)];
    let parameters = [(ZSTD_cParameter::ZSTD_c_checksumFlag, 1)];
    let len = Encoder::new().unwrap().encode_with_parameters(parameters, src, &mut dest).unwrap();
    dest.truncate(len);
    dest
}

#[test]
fn checksums_are_verified() {
    let src = text(5000);
    let stream = with_checksum(&src);
    let mut pair = Pair::new(None);
    pair.assert_decode(&stream, &src);
    for at in stream.len() - 4..stream.len() {
        let mut damaged = stream.clone();
        damaged[at] ^= 1;
        assert_eq!(pair.decode(&damaged, src.len()), [Err(Error::Data), Err(Error::Data)]);
    }
}

#[test]
fn several_frames_and_skippable_ones_decode() {
    let src = text(5000);
    let frame = |src: &[u8]| encoded(5, None, src).remove(0);
    let skippable = |magic: u32, len: u32| {
        let mut bytes = [magic.to_le_bytes(), len.to_le_bytes()].concat();
        bytes.resize(8 + len as usize, 0xAA);
        bytes
    };
    let all = [
        skippable(0x184D_2A50, 0),
        frame(&src[..700]),
        skippable(0x184D_2A5F, 1000),
        with_checksum(&src[700..800]),
        frame(&src[800..]),
        skippable(0x184D_2A53, 3),
    ]
    .concat();
    let mut pair = Pair::new(None);
    pair.assert_decode(&all, &src);
    pair.assert_decode(&[], &[]);
    for len in 0..all.len() {
        pair.assert_agree(&all[..len], src.len());
    }
    for rest in
        [&b"\0"[..], b"\x28\xb5\x2f", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\xff\xff\xff\xff"]
    {
        pair.assert_agree(&[&*all, rest].concat(), src.len());
    }
}

/// Returns the frame with another header: a descriptor and the bytes after it.
fn with_header(stream: &[u8], header: &[u8]) -> Vec<u8> {
    // A single segment with a content size of two bytes.
    assert_eq!(stream[4] & 0xE3, 0x60);
    [&stream[..4], header, &stream[7..]].concat()
}

#[test]
fn all_headers_decode() {
    let src = text(5000);
    let stream = encoded(5, None, &src).remove(0);
    let size = src.len() as u64;
    let mut pair = Pair::new(None);
    let sized = |descriptor: u8, window: &[u8], size: &[u8]| {
        with_header(&stream, &[&[descriptor], window, size].concat())
    };
    for window in 0..=u8::MAX {
        // The C library refuses windows above 1 GiB on 32-bit systems.
        let is_above_1_gib = (21 << 3..22 << 3).contains(&window);
        if cfg!(target_pointer_width = "32") && is_above_1_gib {
            continue;
        }
        pair.assert_agree(&sized(0, &[window], &[]), src.len());
        pair.assert_agree(&sized(0x40, &[window], &(size as u16 - 256).to_le_bytes()), src.len());
    }
    assert!(pair.accepted > 250, "{}", pair.accepted);
    for size in [size, size - 1, size + 1, 0, 1 << 40, u64::MAX] {
        pair.assert_agree(&sized(0xA0, &[], &(size as u32).to_le_bytes()), src.len());
        pair.assert_agree(&sized(0xE0, &[], &size.to_le_bytes()), src.len());
        pair.assert_agree(&sized(0xC0, &[0x58], &size.to_le_bytes()), src.len());
    }
    // Each combination of flags.
    for descriptor in 0..=u8::MAX {
        pair.assert_agree(&with_header(&stream, &[descriptor]), src.len());
        pair.assert_agree(&sized(descriptor, &[0x58], &[0; 12]), src.len());
    }
}

/// Returns pseudo-random numbers.
fn random() -> impl FnMut() -> usize {
    let mut state = 1_u64;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    }
}

#[test]
fn row_d15_damaged_streams_are_errors_or_decode() {
    let mut random = random();
    let src = [text(600), noise(4, 20, 500), text(300), runs(5, 30, 400)].concat();
    let bytes = trained(&text(60_000));
    let dict = Dictionary::for_encoding(id::ZSTD, 5, bytes.clone()).unwrap();
    let mut plain = Pair::new(None);
    let mut with_dict = Pair::new(Some(&bytes));
    let mut with_content = Pair::new(Some(&src[..500]));
    let content = Dictionary::for_encoding(id::ZSTD, 5, src[..500].to_vec()).unwrap();
    for (pair, dict) in
        [(&mut plain, None), (&mut with_dict, Some(&dict)), (&mut with_content, Some(&content))]
    {
        for level in [1, 5, 9] {
            for stream in encoded(level, dict, &src) {
                for len in 0..stream.len() {
                    pair.assert_agree(&stream[..len], src.len());
                }
                for at in 0..stream.len() {
                    for bit in 0..8 {
                        let mut damaged = stream.clone();
                        damaged[at] ^= 1 << bit;
                        pair.assert_sound(&damaged, src.len());
                    }
                }
                for _ in 0..500 {
                    let mut damaged = stream.clone();
                    for _ in 0..1 + random() % 6 {
                        let at = random() % damaged.len();
                        damaged[at] = random() as u8;
                    }
                    pair.assert_sound(&damaged, src.len() + random() % 3 * 500);
                }
            }
        }
        // Ours is stricter. Without a checksum, neither decoder detects all damage.
        let undetected = pair.different + pair.disputed[1];
        assert!(undetected < pair.accepted / 100, "{undetected} of {}", pair.accepted);
    }
}
