//! Benchmarks of the kernels alone at each level this CPU has:
//! `cargo bench --package ferroblosc-bench-core --bench kernels -- [FILTER]`.
//!
//! Names are kernel/level/typesize, so `-- '^shuffle/avx2'` runs the code of one file. Buffers of
//! 64 KiB stay in the caches, as the blocks of chunks do.

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use ferroblosc::kernels::{Level, bitshuffle, bytedelta, delta, run, shuffle, trunc_prec};
use ferroblosc_bench_core::random;
use std::hint::black_box;

/// The size of a buffer in bytes: a multiple of the item sizes that are powers of two. The other
/// item sizes leave a tail.
const LEN: usize = 64 << 10;
const TYPESIZES: [usize; 9] = [1, 2, 3, 4, 7, 8, 12, 16, 32];
/// The word sizes of delta and truncation.
const WORDS: [usize; 4] = [1, 2, 4, 8];

/// A kernel at a level, for items of the given size.
type Kernel = fn(Level, usize, &[u8], &mut [u8]);

/// Returns the same pseudo-random bytes each time.
fn source() -> Vec<u8> {
    random().take(LEN / 4).flat_map(u32::to_le_bytes).collect()
}

fn each_level(group: &mut BenchmarkGroup<'_, WallTime>, typesizes: &[usize], kernel: Kernel) {
    let source = source();
    let mut dest = vec![0; LEN];
    group.throughput(Throughput::Bytes(LEN as u64));
    for level in Level::available() {
        for &typesize in typesizes {
            let id = BenchmarkId::new(level.name(), typesize);
            group.bench_function(id, |bencher| {
                bencher.iter(|| kernel(level, typesize, black_box(&source), black_box(&mut dest)));
            });
        }
    }
}

fn transforms(criterion: &mut Criterion) {
    let kernels: [(&str, &[usize], Kernel); 9] = [
        ("shuffle", &TYPESIZES, shuffle::shuffle_at),
        ("unshuffle", &TYPESIZES, shuffle::unshuffle_at),
        ("bitshuffle", &TYPESIZES, bitshuffle::bitshuffle_at),
        ("bitunshuffle", &TYPESIZES, bitshuffle::bitunshuffle_at),
        ("bytedelta encode", &TYPESIZES, bytedelta::encode_at),
        ("bytedelta decode", &TYPESIZES, bytedelta::decode_at),
        ("delta encode", &WORDS, delta::encode_first_at),
        ("delta decode", &WORDS, delta::decode_first_at),
        ("truncate", &WORDS, |level, word, source, dest| {
            trunc_prec::truncate_at(level, word, 4, source, dest);
        }),
    ];
    for (name, typesizes, kernel) in kernels {
        each_level(&mut criterion.benchmark_group(name), typesizes, kernel);
    }
}

/// Benchmarks run detection on a run, which must be read completely.
fn runs(criterion: &mut Criterion) {
    let stream = vec![7; LEN];
    let mut group = criterion.benchmark_group("constant");
    group.throughput(Throughput::Bytes(LEN as u64));
    for level in Level::available() {
        group.bench_function(level.name(), |bencher| {
            bencher.iter(|| run::constant_at(level, black_box(&stream)));
        });
    }
}

criterion_group!(benches, transforms, runs);
criterion_main!(benches);
