//! Speed by the number of threads of a context, and by the number of threads that call the library.
//!
//! The thread counts are the powers of two up to twice the number of processors, and the number of
//! processors. The caller counts are the powers of two up to 64, so that many callers share the
//! processors of any machine; the last column is the cost of that.

use crate::calls::{self, LZ4, both, cparams, source};
use crate::chunks::Runner;
use crate::options::Options;
use crate::peers::Peers;
use ferroblosc_interop::library::Library;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// The sizes of chunks for threads of one context, in bytes.
const SIZES: [usize; 4] = [64 << 10, 512 << 10, 4 << 20, 32 << 20];
/// The size of the chunk of each caller, in bytes.
const CALLER_SIZE: usize = 256 << 10;
const MOST_CALLERS: usize = 64;
/// The number of threads of the contexts of callers.
const THREADS_OF_CALLERS: [i16; 2] = [1, 4];

/// The minimum duration of a measurement of callers in seconds: many turns of each on its
/// processor.
const LEAST_SECONDS: f64 = 0.2;

/// A direction of the calls of [`together`].
#[derive(Clone, Copy)]
enum Direction {
    Compress,
    Decompress,
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the powers of two up to `most`.
fn powers(most: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |count| Some(count * 2)).take_while(move |&count| count <= most)
}

/// Measures both.
///
/// # Errors
/// Returns the failing call.
pub fn run(options: &Options, peers: &Peers) -> Result<(), String> {
    by_threads(options, peers)?;
    by_callers(options, peers)
}

/// Prints the speed of one context by its number of threads.
fn by_threads(options: &Options, peers: &Peers) -> Result<(), String> {
    println!(
        "\n{:40} {:>8} {:>8} {:>7} {:>14} {:>14}",
        "threads of one context, GB/s", "ours", "ref.", "ratio", "ours / 1 thr.", "ref. / 1 thr."
    );
    let mut counts: Vec<usize> = powers(2 * processors()).chain([processors()]).collect();
    counts.sort_unstable();
    counts.dedup();
    for size in SIZES {
        let source = source(size);
        let mut single = None;
        for &count in &counts {
            let threads = i16::try_from(count).map_err(|_| format!("{count} threads"))?;
            // As many blocks as threads at least, as the library's own choice for large chunks has.
            let blocksize = (size / (2 * count)).clamp(calls::LEAST_BLOCK, 128 << 10);
            let times = both(options, peers, cparams(LZ4, threads, blocksize), &source)?;
            let single = single.get_or_insert_with(|| times.clone());
            for ((label, times), single) in
                ["compress", "decompress"].iter().zip(&times).zip(&*single)
            {
                let name = format!("{label}, {} KiB, {count} threads", size >> 10);
                let speed = |who: usize| size as f64 / times[who] / 1e9;
                println!(
                    "{name:40} {:8.2} {:8.2} {:7.2} {:14.2} {:14.2}",
                    speed(0),
                    speed(1),
                    times[1] / times[0],
                    single[0] / times[0],
                    single[1] / times[1]
                );
            }
        }
    }
    Ok(())
}

/// Prints the speed of all callers together, and the share of the greatest speed that the library
/// had with fewer callers.
fn by_callers(options: &Options, peers: &Peers) -> Result<(), String> {
    println!(
        "\n{:40} {:>8} {:>8} {:>7} {:>14} {:>14}",
        "callers of contexts, GB/s together", "ours", "ref.", "ratio", "ours / best", "ref. / best"
    );
    let source = source(CALLER_SIZE);
    for threads in THREADS_OF_CALLERS {
        for (label, direction) in
            [("compress", Direction::Compress), ("decompress", Direction::Decompress)]
        {
            let mut best = [0.0; 2];
            for callers in powers(MOST_CALLERS) {
                let mut speeds = [0.0; 2];
                // In turns A B B A, as in the other parts.
                for who in [0, 1, 1, 0] {
                    let library = peers.blosc2[who];
                    let seconds = options.budget.max(LEAST_SECONDS);
                    let speed = together(library, &source, direction, threads, callers, seconds)?;
                    speeds[who] = f64::max(speeds[who], speed);
                }
                for (best, speed) in best.iter_mut().zip(speeds) {
                    *best = f64::max(*best, speed);
                }
                let name = format!("{label}, {callers} callers, {threads} threads each");
                println!(
                    "{name:40} {:8.2} {:8.2} {:7.2} {:14.2} {:14.2}",
                    speeds[0] / 1e9,
                    speeds[1] / 1e9,
                    speeds[0] / speeds[1],
                    speeds[0] / best[0],
                    speeds[1] / best[1]
                );
            }
        }
    }
    Ok(())
}

/// Returns the bytes per second of `callers` threads together, each with a context of its own,
/// which call for about `seconds`, from the first call of any thread to the end of the last one.
fn together(
    library: &'static Library,
    source: &[u8],
    direction: Direction,
    threads: i16,
    callers: usize,
    seconds: f64,
) -> Result<f64, String> {
    let barrier = Barrier::new(callers);
    let work = || -> Result<(usize, Instant, Instant), String> {
        let ready = prepare(library, source, threads);
        // Each thread passes the barrier, whatever fails.
        barrier.wait();
        let (mut runner, chunk) = ready?;
        let start = Instant::now();
        let mut calls = 0;
        while calls == 0 || start.elapsed().as_secs_f64() < seconds {
            match direction {
                Direction::Compress => runner.compress(source),
                Direction::Decompress => {
                    runner.decompress(&chunk);
                }
            }
            calls += 1;
        }
        Ok((calls, start, Instant::now()))
    };
    let results: Vec<_> = thread::scope(|scope| {
        let handles: Vec<_> = (0..callers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|handle| handle.join()).collect()
    });
    let (mut calls, mut times) = (0, None);
    for result in results {
        let (count, start, end) = result.map_err(|_| "a caller panicked".to_owned())??;
        calls += count;
        let (first, last) = times.get_or_insert((start, end));
        *first = start.min(*first);
        *last = end.max(*last);
    }
    let elapsed = times.map_or(f64::NAN, |(first, last)| (last - first).as_secs_f64());
    Ok((calls * source.len()) as f64 / elapsed)
}

/// Returns a runner and a chunk that it decompresses to `source`.
fn prepare(
    library: &'static Library,
    source: &[u8],
    threads: i16,
) -> Result<(Runner, Vec<u8>), String> {
    let mut runner = Runner::new(library, cparams(LZ4, threads, 32 << 10), source.len())?;
    runner.compress(source);
    let chunk = runner.made()?.to_vec();
    runner.check(&chunk, source)?;
    Ok((runner, chunk))
}
