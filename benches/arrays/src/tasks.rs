//! The measured tasks on arrays.

use crate::api::{Api, Owned, Partitions, StorageOptions};
use std::time::Instant;

/// The duration of a task in seconds.
#[derive(Clone, Copy)]
pub struct Took {
    /// Elapsed time.
    pub clock: f64,
    /// CPU time of all threads.
    pub processors: f64,
}

/// The duration of each task, by name, in order.
pub type Times = Vec<(String, Took)>;

/// Partitions of a three-dimensional array.
pub struct Case {
    /// The name.
    pub name: &'static str,
    chunks: [i32; 3],
    blocks: [i32; 3],
}

/// The number of items along each dimension.
const EDGE: i64 = 128;
const ITEMS: usize = (EDGE * EDGE * EDGE) as usize;

/// Chunks of 512 KiB with blocks of rows, with cubic blocks, and with chunks and blocks that do not
/// divide the shape.
pub const CASES: [Case; 3] = [
    Case { name: "rows", chunks: [32, 64, 64], blocks: [8, 64, 64] },
    Case { name: "cubes", chunks: [32, 64, 64], blocks: [16, 32, 32] },
    Case { name: "odd", chunks: [30, 70, 60], blocks: [17, 23, 29] },
];

/// The thickness of slabs in items.
const THICK: i64 = 8;
/// The number of slabs read and written along each axis.
const SLABS: i64 = 3;
/// The number of single items read and written.
const READ: usize = 500;
const WRITTEN: usize = 20;
/// The number of indices read at once.
const SPARSE: usize = 10_000;
/// The number of indices along each dimension.
const PICKED: usize = 40;

/// The number of items of a large chunk, and the number of chunks.
const LARGE_ITEMS: i64 = 2 << 20;
const LARGE_CHUNKS: i64 = 4;

fn timed<T>(times: &mut Times, name: impl Into<String>, work: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), processor_seconds());
    let result = work();
    let took =
        Took { clock: start.elapsed().as_secs_f64(), processors: processor_seconds() - before };
    times.push((name.into(), took));
    result
}

/// Returns the CPU time of this process in seconds.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the struct.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(code, 0, "the time of the process");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Pseudorandom numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end.unsigned_abs()) as i64
    }
}

/// Returns items that increase along all dimensions, with noise.
fn items(count: usize) -> Vec<i32> {
    let mut random = Random(1);
    let edge = EDGE as usize;
    (0..count)
        .map(|at| {
            let (x, y, z) = (at / edge / edge, at / edge % edge, at % edge);
            (1000 * x + 30 * y + z) as i32 + random.below(4) as i32
        })
        .collect()
}

impl Case {
    fn partitions(&self) -> Partitions<'_> {
        Partitions { chunks: &self.chunks, blocks: &self.blocks }
    }
}

/// Reads and writes slices of an array.
pub fn access(api: &Api, case: &Case, storage: StorageOptions<'_>, times: &mut Times) {
    let shape = [EDGE; 3];
    let data = items(ITEMS);
    let array = timed(times, "from_cbuffer", || {
        Owned::of_items(api, storage, &shape, case.partitions(), &data)
    });
    let mut all = vec![0; ITEMS];
    timed(times, "to_cbuffer", || array.read_all(&mut all));
    assert!(all == data, "what was read");
    slabs(&array, times);
    single_items(&array, times);
    selections(&array, times);
}

fn slabs(array: &Owned<'_>, times: &mut Times) {
    let mut slab = vec![0; (EDGE * EDGE * THICK) as usize];
    let bounds = |axis: usize, n: i64| {
        let (mut start, mut stop) = ([0; 3], [EDGE; 3]);
        start[axis] = n * (EDGE - THICK) / (SLABS - 1);
        stop[axis] = start[axis] + THICK;
        (start, stop)
    };
    for axis in 0..3 {
        timed(times, format!("get slabs along axis {axis}"), || {
            for (start, stop) in (0..SLABS).map(|n| bounds(axis, n)) {
                array.get(&start, &stop, &mut slab);
            }
        });
    }
    for axis in 0..3 {
        timed(times, format!("set slabs along axis {axis}"), || {
            for (start, stop) in (0..SLABS).map(|n| bounds(axis, n)) {
                array.set(&start, &stop, &slab);
            }
        });
    }
}

fn single_items(array: &Owned<'_>, times: &mut Times) {
    let mut random = Random(2);
    let mut draw = |count: usize| -> Vec<[i64; 3]> {
        (0..count).map(|_| std::array::from_fn(|_| random.below(EDGE))).collect()
    };
    let (read, written) = (draw(READ), draw(WRITTEN));
    let mut item = [7];
    timed(times, format!("get {READ} single items"), || {
        for at in &read {
            array.get(at, &at.map(|i| i + 1), &mut item);
        }
    });
    timed(times, format!("set {WRITTEN} single items"), || {
        for at in &written {
            array.set(at, &at.map(|i| i + 1), &item);
        }
    });
}

fn selections(array: &Owned<'_>, times: &mut Times) {
    let mut random = Random(3);
    let numbers: Vec<i64> = (0..SPARSE).map(|_| random.below(ITEMS as i64)).collect();
    let mut found = vec![0; SPARSE];
    timed(times, format!("get {SPARSE} items by number"), || {
        array.get_sparse(&numbers, &mut found);
    });
    let indices: Vec<Vec<i64>> =
        (0..3).map(|_| (0..PICKED).map(|_| random.below(EDGE)).collect()).collect();
    let mut found = vec![0; PICKED * PICKED * PICKED];
    timed(times, "get an orthogonal selection", || {
        array.get_orthogonal(&indices, &mut found);
    });
    timed(times, "set an orthogonal selection", || {
        array.set_orthogonal(&indices, &found);
    });
    let few: Vec<Vec<i64>> = indices.iter().map(|along| along[..3].to_vec()).collect();
    timed(times, "get a small orthogonal selection", || {
        array.get_orthogonal(&few, &mut found[..27]);
    });
}

/// Creates arrays from other arrays.
pub fn fresh(api: &Api, case: &Case, storage: StorageOptions<'_>, times: &mut Times) {
    let shape = [EDGE; 3];
    let other_path = format!("{}-other", storage.path);
    let other = StorageOptions { path: &other_path, ..storage };
    let data = items(ITEMS);
    let array = Owned::of_items(api, storage, &shape, case.partitions(), &data);
    timed(times, "copy", || {
        array.copy(other, &shape, case.partitions());
    });
    let partitions = Partitions { chunks: &[40, 40, 100], blocks: &[10, 20, 50] };
    timed(times, "copy with other partitions", || {
        array.copy(other, &shape, partitions);
    });
    timed(times, "slice as an array", || {
        let (start, stop) = ([10, 10, 10], [110, 110, 110]);
        array.slice(other, &start, &stop, case.partitions());
    });
    for axis in [0, 2] {
        timed(times, format!("concatenate along axis {axis}"), || {
            array.concatenated(&array, axis, other, &shape, case.partitions());
        });
    }
}

/// The number of items of a row, and of rows of a chunk and of an append.
const ROW: i64 = 1000;
const ROWS_OF_CHUNK: i32 = 50;
const ROWS: i64 = 5;
const APPENDS: usize = 50;
/// The number of chunks along each dimension after growing.
const GROWN: i64 = 10;
/// The number of chunks of a one-dimensional array that grows and shrinks.
const LINE: i64 = 200;

/// Writes single items of large chunks, and reads rows of them.
pub fn large(api: &Api, storage: StorageOptions<'_>, times: &mut Times) {
    let mut random = Random(2);
    let count = LARGE_CHUNKS * LARGE_ITEMS;
    let data: Vec<i32> = (0..count).map(|_| random.below(1 << 32) as i32).collect();
    let partitions = Partitions { chunks: &[1, LARGE_ITEMS as i32], blocks: &[1, 1 << 16] };
    let shape = [LARGE_CHUNKS, LARGE_ITEMS];
    let array = Owned::of_items(api, storage, &shape, partitions, &data);
    timed(times, "set 20 items, each in a chunk of 8 MB", || {
        for i in 0..20 {
            let (row, at) = (i % LARGE_CHUNKS, 1000 * i);
            array.set(&[row, at], &[row + 1, at + 1], &[i as i32]);
        }
    });
    let mut part = vec![0; 1000];
    timed(times, "get 1,000 slices of 1,000 items", || {
        for i in 0..1000 {
            let (row, at) = (i % LARGE_CHUNKS, 2000 * i);
            array.get(&[row, at], &[row + 1, at + 1000], &mut part);
        }
    });
}

/// Resizes arrays.
pub fn shapes(api: &Api, storage: StorageOptions<'_>, times: &mut Times) {
    let data = items((ROW * i64::from(ROWS_OF_CHUNK)) as usize);
    let partitions = Partitions { chunks: &[ROWS_OF_CHUNK, ROW as i32], blocks: &[5, ROW as i32] };
    let rows = Owned::zeros(api, storage, &[0, ROW], partitions);
    timed(times, format!("append {ROWS} rows, {APPENDS} times"), || {
        for _ in 0..APPENDS {
            rows.append(&data[..(ROWS * ROW) as usize], 0);
        }
    });
    timed(times, format!("append a chunk, {APPENDS} times"), || {
        for _ in 0..APPENDS {
            rows.append(&data, 0);
        }
    });
    drop(rows);

    let partitions = Partitions { chunks: &[10, 10, 10], blocks: &[5, 5, 5] };
    let grown = Owned::zeros(api, storage, &[10; 3], partitions);
    timed(times, "grow in three dimensions", || {
        grown.resize(&[10 * GROWN; 3]);
    });
    timed(times, "shrink in three dimensions", || {
        grown.resize(&[30; 3]);
    });
    drop(grown);

    let line = Owned::zeros(api, storage, &[0], Partitions { chunks: &[1000], blocks: &[500] });
    timed(times, format!("grow by a chunk, {LINE} times"), || {
        (1..=LINE).for_each(|n| line.resize(&[1000 * n]));
    });
    timed(times, format!("shrink by a chunk, {LINE} times"), || {
        (0..LINE).rev().for_each(|n| line.resize(&[1000 * n]));
    });
    timed(times, "grow by 2,000 chunks", || {
        line.resize(&[2_000_000]);
    });
}
