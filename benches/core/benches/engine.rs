//! The chunk engine: `cargo bench --package ferroblosc-bench-core --bench engine -- [FILTER]`.
//!
//! Reused contexts compress and decompress chunks of 1 MiB and read items of them, with each codec
//! and filter. Names are task/codec+filter/level. `make bench` compares these tasks with the
//! reference; this benchmark compares two versions of the library.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ferroblosc::Result;
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, MAX_OVERHEAD};
use ferroblosc::filter::Slot;
use ferroblosc::{codec, filter};
use ferroblosc_bench_core::random;
use std::hint::black_box;

const LEN: usize = 1 << 20;
const TYPESIZE: usize = 8;
const CODECS: [(&str, u8); 5] = [
    ("blosclz", codec::id::BLOSCLZ),
    ("lz4", codec::id::LZ4),
    ("lz4hc", codec::id::LZ4HC),
    ("zlib", codec::id::ZLIB),
    ("zstd", codec::id::ZSTD),
];
const FILTERS: [(&str, u8); 3] = [
    ("none", filter::id::NONE),
    ("shuffle", filter::id::SHUFFLE),
    ("bitshuffle", filter::id::BITSHUFFLE),
];
const LEVELS: [u8; 2] = [1, 5];
/// The sizes of small chunks in bytes, where the cost of the call dominates.
const SMALL: usize = 1 << 10;
/// The number of items read at once, and their index.
const ITEMS: [usize; 2] = [1, 1000];
const PLACE: usize = 54_321;

/// Returns time stamps that increase irregularly.
fn source(len: usize) -> Vec<u8> {
    let mut time = 1_600_000_000_000_u64;
    let steps = random().take(len / TYPESIZE);
    steps
        .flat_map(|step| {
            time += 1000 + u64::from(step >> 1) % 40;
            time.to_le_bytes()
        })
        .collect()
}

fn params(codec: u8, filter: u8, level: u8) -> CParams {
    CParams::default()
        .codec(codec)
        .level(level)
        .typesize(TYPESIZE as i32)
        .filters(&[Slot { id: filter, meta: 0 }])
}

/// Measures both directions and item reads of one combination.
fn combination(criterion: &mut Criterion, name: &str, params: CParams, len: usize) -> Result<()> {
    let (source, level) = (source(len), params.clevel);
    let mut compressor = Compressor::new(params)?;
    let mut decompressor = Decompressor::new(DParams::default());
    let mut chunk_dest = vec![0; len + MAX_OVERHEAD];
    let mut dest = vec![0; len];
    let chunk = compressor.compress_to_vec(&source)?;

    let mut group = criterion.benchmark_group("compress");
    group.throughput(Throughput::Bytes(len as u64));
    group.bench_function(BenchmarkId::new(name, level), |bencher| {
        bencher.iter(|| compressor.compress(black_box(&source), black_box(&mut chunk_dest)));
    });
    group.finish();

    let mut group = criterion.benchmark_group("decompress");
    group.throughput(Throughput::Bytes(len as u64));
    group.bench_function(BenchmarkId::new(name, level), |bencher| {
        bencher.iter(|| decompressor.decompress(black_box(&chunk), black_box(&mut dest)));
    });
    group.finish();

    for items in ITEMS.into_iter().filter(|items| PLACE + items <= len / TYPESIZE) {
        let mut group = criterion.benchmark_group(format!("get {items}"));
        group.bench_function(BenchmarkId::new(name, level), |bencher| {
            let dest = &mut dest[..items * TYPESIZE];
            bencher
                .iter(|| decompressor.getitem(black_box(&chunk), PLACE as i32, items as i32, dest));
        });
        group.finish();
    }
    Ok(())
}

fn chunks(criterion: &mut Criterion) {
    for (codec_name, codec) in CODECS {
        for (filter_name, filter) in FILTERS {
            for level in LEVELS {
                let name = format!("{codec_name}+{filter_name}");
                combination(criterion, &name, params(codec, filter, level), LEN)
                    .expect("the data can be compressed");
            }
        }
    }
}

fn small_chunks(criterion: &mut Criterion) {
    for (name, codec) in [("small blosclz", codec::id::BLOSCLZ), ("small lz4", codec::id::LZ4)] {
        let params = params(codec, filter::id::SHUFFLE, 5);
        combination(criterion, name, params, SMALL).expect("the data can be compressed");
    }
}

criterion_group!(benches, chunks, small_chunks);
criterion_main!(benches);
