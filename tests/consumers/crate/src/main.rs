//! Stores measurements in a file, and evaluates them in parallel.

use ferroblosc::b2nd::Array;
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::item::{DateTime64, unit::Second};
use ferroblosc::schunk::Storage;
use ferroblosc::{Item, codec};
use rayon::iter::ParallelIterator;

#[derive(Clone, Copy, Item)]
#[repr(C)]
struct Sample {
    time: DateTime64<Second>,
    temperature: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("samples-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let storage = Storage::file(folder.join("samples.b2nd")).durable().checksums();
    let params = CParams::default().codec(codec::id::ZSTD);
    let first = Sample { time: DateTime64::new(0), temperature: 15.0 };
    let mut samples = Array::full(storage.clone(), params, [1], first)?;
    let later = |i| Sample { time: DateTime64::new(i), temperature: 15.0 + (i % 10) as f64 };
    samples.append_iter((1..100_000).map(later))?;
    samples.set_vlmetalayer_value("place", &("Frankfurt", 50.05, 8.6))?;
    samples.close()?;

    let samples = Array::open(storage, DParams::default())?;
    let warmest = samples.par_chunks::<Sample>()?.map(|chunk| -> ferroblosc::Result<f64> {
        Ok(chunk?.1.iter().map(|sample| sample.temperature).fold(f64::MIN, f64::max))
    });
    assert_eq!(warmest.try_reduce(|| f64::MIN, |a, b| Ok(a.max(b)))?, 24.0);
    assert_eq!(samples.get::<Sample>(99_999)?[0].time, DateTime64::new(99_999));
    println!("{} samples in {} bytes", samples.shape()[0], samples.schunk().cbytes());
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
