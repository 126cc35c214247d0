//! Changes data while they are compressed and decompressed: `cargo run --example prefilter`.
//!
//! A *prefilter* writes each block that is compressed, usually from the block of the source. A
//! *postfilter* changes each block after decompression. Unlike filters they are not recorded in the
//! chunk: they belong to one context. Both avoid a pass over the data and a second buffer.

use ferroblosc::Result;
use ferroblosc::chunk::{
    CParams, Compressor, DParams, Decompressor, Postfilter, PostfilterCall, Prefilter,
    PrefilterCall, Refused,
};
use std::sync::Arc;

/// Rounds numbers to multiples of `step`: fewer digits compress better.
struct Round {
    step: f64,
}

impl Prefilter for Round {
    // The library calls this for one block at a time, from several threads.
    fn apply(&self, call: &mut PrefilterCall<'_>) -> std::result::Result<(), Refused> {
        // Without a source there is no input. Refusing makes the compression fail.
        let input = call.input.ok_or(Refused)?;
        for (item, out) in input.as_chunks().0.iter().zip(call.output.as_chunks_mut().0) {
            *out = ((f64::from_le_bytes(*item) / self.step).round() * self.step).to_le_bytes();
        }
        Ok(())
    }
}

/// Converts degrees Celsius to kelvins.
struct ToKelvin;

impl Postfilter for ToKelvin {
    fn apply(&self, call: &mut PostfilterCall<'_>) -> std::result::Result<(), Refused> {
        // `call.offset` is the position of the block in the chunk, for results that depend on it.
        for (item, out) in call.input.as_chunks().0.iter().zip(call.output.as_chunks_mut().0) {
            *out = (f64::from_le_bytes(*item) + 273.15).to_le_bytes();
        }
        Ok(())
    }
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|item| f64::from_le_bytes(*item)).collect()
}

fn main() -> Result<()> {
    let celsius: Vec<f64> =
        (0..100_000).map(|i| 20.0 + 5.0 * (f64::from(i) * 0.001).sin()).collect();
    let data: Vec<u8> = celsius.iter().flat_map(|item| item.to_le_bytes()).collect();

    let params = CParams::default().typesize(8).threads(2);
    let exact = Compressor::new(params.clone())?.compress_to_vec(&data)?;
    let step = 1.0 / 64.0;
    let rounding = params.prefilter(Arc::new(Round { step }));
    let rounded = Compressor::new(rounding)?.compress_to_vec(&data)?;
    assert!(rounded.len() < exact.len() / 2);
    println!("{} bytes: exact {}, rounded {}", data.len(), exact.len(), rounded.len());

    // Any decompressor reads the chunk. The differences are at most half a step.
    let mut restored = vec![0; data.len()];
    Decompressor::new(DParams::default()).decompress(&rounded, &mut restored)?;
    let near = |(a, b): (&f64, f64)| (a - b).abs() <= step / 2.0;
    assert!(celsius.iter().zip(numbers(&restored)).all(near));

    // With the postfilter the same chunk is returned in kelvins.
    let params = DParams::default().threads(2).postfilter(Arc::new(ToKelvin));
    let mut kelvin = vec![0; data.len()];
    Decompressor::new(params).decompress(&rounded, &mut kelvin)?;
    let (restored, kelvin) = (numbers(&restored), numbers(&kelvin));
    assert!(restored.iter().zip(&kelvin).all(|(c, k)| c + 273.15 == *k));
    println!("the first number: {} °C, {:.2} K", restored[0], kelvin[0]);
    Ok(())
}
