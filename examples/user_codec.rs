//! Adds a codec of the program: `cargo run --example user_codec`.
//!
//! A *codec* compresses the bytes of a block after the filters. A chunk stores the number of its
//! codec, so a program that reads the chunk must register the same codec. Numbers from 160 to 255
//! are free for programs.

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::codec::{self, Codec, CodecCall};
use ferroblosc::{Error, Result};

const RUNS: u8 = 160;

/// Stores runs of equal bytes as pairs: the length of the run and the byte. The library calls
/// codecs in several threads at the same time, so they must not change shared data.
struct Runs;

impl Codec for Runs {
    fn encode(&self, _: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let mut size = 0;
        for equal in src.chunk_by(|a, b| a == b) {
            for run in equal.chunks(255) {
                // Returning 0 means that the result does not fit: the library then stores the
                // bytes uncompressed. So `dest` may be shorter than `src`.
                let Some(pair) = dest.get_mut(size..size + 2) else { return Ok(0) };
                pair.copy_from_slice(&[run.len() as u8, run[0]]);
                size += 2;
            }
        }
        Ok(size)
    }

    fn decode(&self, _: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // The input may be damaged or hostile: check every length.
        let mut size = 0;
        let (pairs, rest) = src.as_chunks::<2>();
        for &[len, byte] in pairs {
            let run = dest.get_mut(size..size + usize::from(len)).ok_or(Error::Data)?;
            run.fill(byte);
            size += run.len();
        }
        if rest.is_empty() { Ok(size) } else { Err(Error::Data) }
    }
}

fn main() -> Result<()> {
    // The last argument is the code; the two numbers before it are stored with the codec: an id of
    // its library, and the version of its format, which is written to each chunk.
    codec::register(RUNS, "example_runs", Runs)?;
    assert_eq!(codec::compname_to_compcode("example_runs"), Some(RUNS));

    // A picture of black and white stripes, without filters: an empty list of filters replaces
    // the default, the byte shuffle.
    let data: Vec<u8> = (0..1_000_000).map(|i| if i / 100 % 2 == 0 { 0 } else { 255 }).collect();
    let params = CParams::default().codec(RUNS).typesize(1).filters(&[]).threads(2);
    let mut compressor = Compressor::new(params)?;
    let chunk = compressor.compress_to_vec(&data)?;
    assert!(chunk.len() < data.len() / 40);
    println!("{} bytes of stripes became {}", data.len(), chunk.len());

    let mut restored = vec![0; data.len()];
    let mut decompressor = Decompressor::new(DParams::default());
    decompressor.decompress(&chunk, &mut restored)?;
    assert!(restored == data);

    // Bytes without runs: the codec returns 0, and the chunk is only a header longer than the data.
    let noise: Vec<u8> =
        (0..100_000u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8).collect();
    let chunk = compressor.compress_to_vec(&noise)?;
    assert!(chunk.len() <= noise.len() + ferroblosc::chunk::MAX_OVERHEAD);
    decompressor.decompress(&chunk, &mut restored)?;
    assert!(restored[..noise.len()] == noise);
    println!("{} bytes without runs became {}", noise.len(), chunk.len());
    Ok(())
}
