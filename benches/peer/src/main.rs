//! Times our `libblosc2.so` and the reference side by side: same data, same calls, one process.
//!
//! ```text
//! cargo run --release -p ferroblosc-bench-peer -- [OPTIONS]
//!   --file file:TYPESIZE:PATH   real data instead of the generated sets (repeatable)
//!   --levels 1,5,9              compression levels (default 5)
//!   --chunk BYTES               bytes per call (default 4194304)
//!   --threads N                 threads per context (default 1)
//!   --ms N                      time per measurement, milliseconds (default 40)
//!   --plugins yes               the codecs and filters that are plugins, instead of the built-in ones
//! ```
//!
//! The two take turns, A B B A, so that neither profits from what the other left in the caches,
//! and the best turn counts. With one thread the clock is the CPU time of the calling thread, which
//! a busy machine disturbs least; with more it is wall time. Both decompress the chunk the
//! reference made. Every result is compared with the source. Ratios are ours / reference: above 1
//! we are faster; in the size column, below 1 we pack tighter.

mod data;
mod options;
mod plugins;

use std::collections::BTreeMap;
use std::process::ExitCode;

use ferroblosc_interop::cell::CODECS;
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::{Library, OwnedContext, ours, reference};

use data::Set;
use options::Options;

/// Filter pipelines by name, as the last two slots and their parameter bytes.
const PIPELINES: [(&str, [u8; 2], [u8; 2]); 6] = [
    ("none", [0, 0], [0, 0]),
    ("shuffle", [0, 1], [0, 0]),
    ("bitshuffle", [0, 2], [0, 0]),
    ("delta+shuffle", [3, 1], [0, 0]),
    ("trunc+shuffle", [4, 1], [10, 0]),
    ("shuffle+bytedelta", [1, 35], [0, 0]),
];

/// The directions that are timed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Direction {
    Compress,
    Decompress,
}

/// What one combination came to.
struct Row {
    compress: [f64; 2],
    decompress: [f64; 2],
    sizes: [usize; 2],
}

/// Geometric means under construction, per group and direction.
#[derive(Default)]
struct Groups(BTreeMap<(String, Direction), (f64, u32)>);

impl Groups {
    fn add(&mut self, group: String, direction: Direction, ratio: f64) {
        let (sum, count) = self.0.entry((group, direction)).or_default();
        *sum += ratio.ln();
        *count += 1;
    }

    fn add_row(&mut self, groups: [String; 4], row: &Row) {
        for group in groups {
            self.add_pair(&group, row.compress, row.decompress);
        }
    }

    /// Adds the times of ours and theirs.
    fn add_pair(&mut self, group: &str, compress: [f64; 2], decompress: [f64; 2]) {
        let ratio = |[ours, theirs]: [f64; 2]| theirs / ours;
        self.add(group.to_owned(), Direction::Compress, ratio(compress));
        self.add(group.to_owned(), Direction::Decompress, ratio(decompress));
    }

    fn print(&self) {
        println!(
            "\n{:32} {:>6} {:>9} {:>11}",
            "group (speed, ours/reference)", "cells", "compress", "decompress"
        );
        for ((group, direction), (sum, count)) in &self.0 {
            let mean = (sum / f64::from(*count)).exp();
            match direction {
                Direction::Compress => print!("{group:32} {count:>6} {mean:>9.3}"),
                Direction::Decompress => println!(" {mean:>11.3}"),
            }
        }
    }
}

/// Seconds on the clock that suits the number of threads.
fn now(threads: i16) -> f64 {
    let clock = if threads == 1 {
        libc::CLOCK_THREAD_CPUTIME_ID
    } else {
        libc::CLOCK_MONOTONIC
    };
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a valid output; both clocks exist wherever the two libraries run.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Best seconds per call of each, taking turns until the time is used up.
fn race(options: &Options, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> [f64; 2] {
    const LEAST_TURNS: usize = 2;
    let mut best = [f64::INFINITY; 2];
    let end = now(options.threads) + 2.0 * options.milliseconds * 1e-3;
    let mut turns = 0;
    while turns < LEAST_TURNS || now(options.threads) < end {
        for who in [0, 1, 1, 0] {
            let start = now(options.threads);
            if who == 0 {
                ours()
            } else {
                theirs()
            }
            best[who] = best[who].min(now(options.threads) - start);
        }
        turns += 1;
    }
    best
}

/// One library's contexts and buffers for a combination.
struct Runner {
    name: &'static str,
    compressor: OwnedContext<'static>,
    decompressor: OwnedContext<'static>,
    chunk: Vec<u8>,
    size: usize,
    decoded: Vec<u8>,
}

impl Runner {
    fn new(library: &'static Library, cparams: Cparams, nbytes: usize) -> Result<Runner, String> {
        Ok(Runner {
            name: library.name,
            compressor: library
                .compressor(cparams)
                .ok_or("no compression context")?,
            decompressor: library.decompressor(cparams.nthreads),
            chunk: vec![0; nbytes + 32],
            size: 0,
            decoded: vec![0; nbytes],
        })
    }

    fn compress(&mut self, source: &[u8]) {
        self.size = self.compressor.compress(source, &mut self.chunk).max(0) as usize;
    }

    fn decompress(&mut self, chunk: &[u8]) -> i32 {
        self.decompressor.decompress(chunk, &mut self.decoded)
    }

    /// Compresses once and checks that `chunk` decodes to `expected` (or to anything, if `None`).
    fn check(&mut self, chunk: &[u8], expected: Option<&[u8]>) -> Result<(), String> {
        let code = self.decompress(chunk);
        if code != self.decoded.len() as i32 || expected.is_some_and(|bytes| bytes != self.decoded)
        {
            return Err(format!("{} decodes to {code} or to other bytes", self.name));
        }
        Ok(())
    }
}

fn run(options: &Options, set: &Set, cparams: Cparams) -> Result<Row, String> {
    let mut mine = Runner::new(ours(), cparams, set.bytes.len())?;
    let mut theirs = Runner::new(reference(), cparams, set.bytes.len())?;
    mine.compress(&set.bytes);
    theirs.compress(&set.bytes);
    let chunks = [
        mine.chunk[..mine.size].to_vec(),
        theirs.chunk[..theirs.size].to_vec(),
    ];
    // A lossy pipeline gives what the reference makes of it; any other gives the source.
    let lossy = cparams.filters.contains(&4);
    theirs.check(&chunks[1], (!lossy).then_some(&set.bytes))?;
    let expected = theirs.decoded.clone();
    for chunk in &chunks {
        mine.check(chunk, Some(&expected))?;
        theirs.check(chunk, Some(&expected))?;
    }
    let compress = race(
        options,
        || mine.compress(&set.bytes),
        || theirs.compress(&set.bytes),
    );
    let decompress = race(
        options,
        || {
            mine.decompress(&chunks[1]);
        },
        || {
            theirs.decompress(&chunks[1]);
        },
    );
    Ok(Row {
        compress,
        decompress,
        sizes: [chunks[0].len(), chunks[1].len()],
    })
}

fn print_row(name: &str, nbytes: usize, row: &Row) {
    let speed = |seconds: f64| nbytes as f64 / seconds / 1e9;
    let [c, d] = [row.compress, row.decompress];
    println!(
        "{name:46} {:7.3} {:7.3} {:6.3}  {:7.3} {:7.3} {:6.3}  {:6.3}",
        speed(c[0]),
        speed(c[1]),
        c[1] / c[0],
        speed(d[0]),
        speed(d[1]),
        d[1] / d[0],
        row.sizes[0] as f64 / row.sizes[1] as f64,
    );
}

fn bench(options: &Options) -> Result<(), String> {
    println!(
        "{:46} {:>7} {:>7} {:>6}  {:>7} {:>7} {:>6}  {:>6}",
        "GB/s of uncompressed bytes", "comp A", "comp B", "A/B", "dec A", "dec B", "A/B", "size"
    );
    if options.plugins {
        return plugins::bench(options);
    }
    let mut groups = Groups::default();
    for set in options.sets()? {
        for (codec, compcode) in CODECS {
            for (pipeline, slots, metas) in PIPELINES {
                if !set.suits(pipeline) {
                    continue;
                }
                for &clevel in &options.levels {
                    let [first, second] = metas;
                    let second = if slots[1] == 35 {
                        set.typesize as u8
                    } else {
                        second
                    };
                    let cparams = Cparams {
                        compcode,
                        clevel,
                        typesize: set.typesize as i32,
                        nthreads: options.threads,
                        filters: [0, 0, 0, 0, slots[0], slots[1]],
                        filters_meta: [0, 0, 0, 0, first, second],
                        ..Cparams::default()
                    };
                    let name = format!("{} {codec} {clevel} {pipeline}", set.name);
                    let row =
                        run(options, &set, cparams).map_err(|error| format!("{name}: {error}"))?;
                    print_row(&name, set.bytes.len(), &row);
                    let kinds = [
                        "all".to_owned(),
                        format!("codec {codec}"),
                        format!("filter {pipeline}"),
                        format!("set {}", set.name),
                    ];
                    groups.add_row(kinds, &row);
                }
            }
        }
    }
    groups.print();
    Ok(())
}

fn main() -> ExitCode {
    match Options::from_arguments(std::env::args().skip(1)).and_then(|options| bench(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peer: {error}");
            ExitCode::FAILURE
        }
    }
}
