//! Adds a filter of the program: `cargo run --example user_filter`.
//!
//! A *filter* transforms a block before the codec compresses it, without changing its size, and is
//! undone after decompression. A chunk stores the ids of its filters, so a program that reads the
//! chunk must register the same filter. Ids from 160 to 255 are free for programs.

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::filter::{self, Filter, FilterCall, Slot};
use ferroblosc::{Error, Result};

const DIFFERENCES: u8 = 160;

/// Replaces each 32-bit integer by its difference to the one before it. The library calls filters
/// in several threads at the same time, so they must not change shared data.
struct Differences;

impl Filter for Differences {
    fn forward(&self, _: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let mut last = 0u32;
        let (items, rest) = src.as_chunks::<4>();
        for (item, out) in items.iter().zip(dest.as_chunks_mut::<4>().0) {
            let item = u32::from_le_bytes(*item);
            *out = item.wrapping_sub(last).to_le_bytes();
            last = item;
        }
        // A block may end with a part of an item: it must be copied.
        let whole = src.len() - rest.len();
        dest[whole..].copy_from_slice(rest);
        Ok(())
    }

    fn backward(&self, _: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let mut last = 0u32;
        let (items, rest) = src.as_chunks::<4>();
        for (item, out) in items.iter().zip(dest.as_chunks_mut::<4>().0) {
            last = last.wrapping_add(u32::from_le_bytes(*item));
            *out = last.to_le_bytes();
        }
        let whole = src.len() - rest.len();
        dest[whole..].copy_from_slice(rest);
        Ok(())
    }
}

fn main() -> Result<()> {
    // A curve whose neighbours differ little.
    let data: Vec<u8> = (0..60_000u32).flat_map(|i| (i * i / 50).to_le_bytes()).collect();

    // A filter without registration is unknown, and compression fails.
    let slots = [DIFFERENCES, filter::id::SHUFFLE].map(|id| Slot { id, meta: 0 });
    let params = CParams::default().typesize(4).threads(2).filters(&slots);
    let error = Compressor::new(params.clone())?.compress_to_vec(&data).unwrap_err();
    assert_eq!(error, Error::FilterPipeline);
    println!("before registration: {error}");

    // Registered filters serve all contexts of the process.
    filter::register(DIFFERENCES, "example_differences", Differences)?;
    let filtered = Compressor::new(params)?.compress_to_vec(&data)?;
    // For comparison: the default is the byte shuffle alone.
    let shuffled = Compressor::new(CParams::default().typesize(4))?.compress_to_vec(&data)?;
    assert!(filtered.len() < shuffled.len());
    println!("{} bytes: shuffle alone {}", data.len(), shuffled.len());
    println!("with differences before the shuffle {}", filtered.len());

    let restored = Decompressor::new(DParams::default()).decompress_to_vec(&filtered)?;
    assert!(restored == data);
    println!("decompression restored the data");
    Ok(())
}
