//! Copies of blocks at many offsets in a page:
//! `cargo bench --package ferroblosc-bench-core --bench copy -- [SIZE…]`.
//!
//! For each size in bytes, `kernels::copy::copy`, `memcpy` and a simple loop of registers copy the
//! same bytes alternately. The shortest time of each counts, so that other programs disturb little.
//! Columns are the speeds of the three in GB/s, at the worst offsets and in the geometric mean of
//! all, and copy's speed relative to each of the others: the mean and the worst. The offsets of the
//! worst are that of the source in a page, plus the distance of the destination from the source.

use ferroblosc::kernels::{Level, copy};
use std::hint::black_box;
use std::time::{Duration, Instant};

const PAGE: usize = 4096;
/// The sizes without arguments: below and above the threshold, up to beyond the L3 cache.
const SIZES: [usize; 13] = [
    256,
    1000,
    2000,
    2048,
    3000,
    4096,
    16_000,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    16 << 20,
    64 << 20,
];
/// The offsets of the source in a page.
const OFFSETS: [usize; 4] = [0, 5, 32, 4080];
/// Copies of small sizes between two readings of the clock have this many bytes together.
const BATCH: usize = 64 << 10;

type Copy = fn(&[u8], &mut [u8]);
const COPIES: [(&str, Copy); 3] = [("copy", copy::copy), ("memcpy", memcpy), ("simple", simple)];

fn memcpy(src: &[u8], dest: &mut [u8]) {
    dest.copy_from_slice(src);
}

/// Copies 32 bytes at a time, from the start on, whatever the offsets are.
fn simple(src: &[u8], dest: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if Level::Avx2.is_available() {
        // SAFETY: the CPU has AVX2, and both slices have the same length.
        unsafe { simple_avx2(src.as_ptr(), dest.as_mut_ptr(), src.len()) }
        return;
    }
    copy::copy_at(Level::Generic, src, dest);
}

/// # Safety
/// The CPU has AVX2; `src` is readable and `dest` writable for `len` bytes. They are pointers so
/// that the compiler, which cannot know that they do not overlap, does not call `memcpy`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
unsafe fn simple_avx2(src: *const u8, dest: *mut u8, len: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_storeu_si256};
    const BYTES: usize = 32;
    let end = len - len % BYTES;
    // SAFETY: all accesses are below `len`.
    unsafe {
        for i in (0..end).step_by(BYTES) {
            _mm256_storeu_si256(dest.add(i).cast(), _mm256_loadu_si256(src.add(i).cast()));
        }
        std::ptr::copy_nonoverlapping(src.add(end), dest.add(end), len - end);
    }
}

/// Returns the distances of the destination from the source modulo a page: those around 0 are the
/// ones that matter.
fn distances() -> impl Iterator<Item = usize> {
    let near = [0, 1, 8, 15, 16, 31, 32, 48, 63, 64, 100, 130, 200, 300, 500, 700, 1000, 1500];
    near.into_iter().chain([2047, 2048]).chain(near.into_iter().skip(1).map(|near| PAGE - near))
}

/// Returns the shortest time in seconds of each function for one copy.
fn race(src: &[u8], dest: &mut [u8]) -> [f64; COPIES.len()] {
    let count = (BATCH / src.len()).max(1);
    let rounds = ((64 << 20) / (count * src.len())).clamp(8, 600);
    let mut best = [Duration::MAX; COPIES.len()];
    for _ in 0..rounds {
        for (best, (_, copy)) in best.iter_mut().zip(COPIES) {
            copy(src, dest);
            let start = Instant::now();
            for _ in 0..count {
                copy(black_box(src), black_box(dest));
            }
            *best = (*best).min(start.elapsed());
        }
    }
    best.map(|best| best.as_secs_f64() / count as f64)
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

/// The speeds of all functions in GB/s at one pair of offsets.
struct Sample {
    speeds: [f64; COPIES.len()],
    offset: usize,
    distance: usize,
}

impl Sample {
    /// Returns copy's speed relative to that of another function.
    fn ratio(&self, other: usize) -> f64 {
        self.speeds[0] / self.speeds[other]
    }
}

fn main() {
    let wanted: Vec<usize> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    let sizes = if wanted.is_empty() { &SIZES[..] } else { &wanted };
    let largest = sizes.iter().copied().max().unwrap_or(0) + 3 * PAGE;
    let src: Vec<u8> = (0..largest).map(|i| (i * 31 / 7) as u8).collect();
    let mut dest = vec![1; largest];
    let (src_page, dest_page) = (src.as_ptr().align_offset(PAGE), dest.as_ptr().align_offset(PAGE));
    let names = COPIES.map(|(name, _)| format!("{name:>7}")).join("");
    println!("    bytes  worst:{names}  mean:{names}  relative to others: mean, worst");
    for &size in sizes {
        let mut samples = Vec::new();
        for offset in OFFSETS {
            for distance in distances() {
                let from = src_page + offset;
                let to = dest_page + (offset + distance) % PAGE;
                let times = race(&src[from..from + size], &mut dest[to..to + size]);
                let speeds = times.map(|time| size as f64 / time / 1e9);
                samples.push(Sample { speeds, offset, distance });
            }
        }
        print!("{size:>9}        ");
        for i in 0..COPIES.len() {
            let speeds = samples.iter().map(|sample| sample.speeds[i]);
            print!(" {:>6.1}", speeds.fold(f64::INFINITY, f64::min));
        }
        print!("       ");
        for i in 0..COPIES.len() {
            print!(" {:>6.1}", mean(samples.iter().map(|sample| sample.speeds[i])));
        }
        for (i, (name, _)) in COPIES.iter().enumerate().skip(1) {
            samples.sort_by(|a, b| a.ratio(i).total_cmp(&b.ratio(i)));
            let (worst, mean) = (&samples[0], mean(samples.iter().map(|sample| sample.ratio(i))));
            let (ratio, offset, distance) = (worst.ratio(i), worst.offset, worst.distance);
            print!("  {name} {mean:.2}, {ratio:.2} ({offset} + {distance})");
        }
        println!();
    }
}
