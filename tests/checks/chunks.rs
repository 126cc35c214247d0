//! Round trips through every codec and filter, and a digest of all chunks, which must be the same
//! on every machine and at every SIMD level.

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, SplitMode};
use ferroblosc::codec::id;
use ferroblosc::filter::{self, Slot};

/// The digest of the chunks of [`round_trips`]. It changes only if the output of an encoder
/// changes.
const DIGEST: u64 = 0xfe56_d378_f3e0_f1e5;

/// FNV-1a, 64 bits.
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

fn slot(id: u8, meta: u8) -> Slot {
    Slot { id, meta }
}

fn pipelines() -> [Vec<Slot>; 7] {
    let (shuffle, bits) = (slot(filter::id::SHUFFLE, 0), slot(filter::id::BITSHUFFLE, 0));
    let delta = slot(filter::id::DELTA, 0);
    [
        vec![],
        vec![shuffle],
        vec![bits],
        vec![delta, shuffle],
        vec![delta, bits],
        vec![shuffle, slot(filter::id::BYTEDELTA, 4)],
        vec![slot(filter::id::SHUFFLE, 3), delta, bits],
    ]
}

/// Returns slow ramps with noise in the low bits, followed by a constant range.
fn data(len: usize) -> Vec<u8> {
    let mut noise = 1u32;
    let mut data: Vec<u8> = (0..len.div_ceil(4) as u32)
        .flat_map(|i| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (i * 40 + (noise >> 28)).to_le_bytes()
        })
        .collect();
    data.truncate(len);
    let constant = len / 2..len / 2 + len / 5;
    data[constant].fill(7);
    data
}

/// Compresses and decompresses with all kinds of parameters, and compares the digest of all chunks.
pub fn round_trips() {
    let mut digest = Digest(0xcbf2_9ce4_8422_2325);
    for codec in [id::BLOSCLZ, id::LZ4, id::LZ4HC, id::ZLIB, id::ZSTD] {
        for filters in pipelines() {
            for typesize in [1, 2, 3, 4, 8, 12, 16, 24] {
                let splitmode = SplitMode(1 + typesize % 4);
                let level = 1 + typesize as u8 % 9;
                let params = CParams::default()
                    .codec(codec)
                    .level(level)
                    .typesize(typesize)
                    .splitmode(splitmode)
                    .blocksize(if typesize == 8 { 0 } else { 4096 })
                    .filters(&filters);
                let cell = format!("codec {codec} filters {filters:?} typesize {typesize}");
                let data = data(20_011);
                let chunk = Compressor::new(params).unwrap().compress_to_vec(&data).unwrap();
                digest.add(&chunk);
                let mut back = vec![0; data.len()];
                let mut decompressor = Decompressor::new(DParams::default());
                assert_eq!(decompressor.decompress(&chunk, &mut back), Ok(data.len()), "{cell}");
                assert!(back == data, "{cell}");
            }
        }
    }
    assert_eq!(digest.0, DIGEST, "digest {:#x}", digest.0);
}
