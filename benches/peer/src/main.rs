//! Times our libraries and the reference's side by side: same data, same calls, one process.
//!
//! ```text
//! cargo run --release -p ferroblosc-bench-peer -- [OPTIONS]
//!   --parts NAMES               comma list of kernels, filters, chunks, files, calls, threads, blosc1, memory (these if
//!                               nothing is said), plugins, curves
//!   --full yes                  many more cells: half an hour instead of some minutes
//!   --noise yes                 the reference takes part twice: the last column is what it is against itself
//!   --level NAME                the best instructions we may use: generic, sse2, avx2, avx512, neon
//!   --only "WORDS"              only cells whose names have all these words
//!   --markdown yes              tables that can be pasted into a document
//!   --file file:TYPESIZE:PATH   real data (repeatable)
//!   --levels 1,5,9              compression levels
//!   --chunk BYTES               bytes per chunk
//!   --threads N                 threads per context of chunks (default 1)
//!   --ms N                      time per library and measurement, milliseconds (default 25)
//! ```
//!
//! The libraries take turns, A B C C B A, so that none profits from what another left in the caches, and the best turn
//! counts. With one thread the clock is the CPU time of the calling thread, which a busy machine disturbs least; with
//! more it is wall time. All decompress the chunk the reference made, and every result is compared with the source.
//! Ratios are ours / reference: above 1 we are faster; in the size column, below 1 we pack tighter.

mod blosc1;
mod buffer;
mod calls;
mod chunks;
mod clock;
mod curves;
mod data;
mod filters;
mod groups;
mod kernels;
mod memory;
mod options;
mod peers;
mod plugins;
mod report;

use options::{Options, Part};
use peers::Peers;
use report::Report;
use std::process::ExitCode;

/// What tells our library which instructions to use.
const LEVEL: &str = "FERROBLOSC_SIMD";

fn bench(options: &Options) -> Result<(), String> {
    if let Some(level) = &options.level {
        // SAFETY: no other thread was started yet.
        unsafe { std::env::set_var(LEVEL, level) };
    }
    let peers = Peers::open(options.noise)?;
    let mut report = Report::new(options.markdown);
    for part in &options.parts {
        match part {
            Part::Kernels => kernels::run(options, &peers, &mut report)?,
            Part::Filters => filters::run(options, &peers, &mut report)?,
            Part::Chunks => chunks::generated(options, &peers, &mut report)?,
            Part::Files => chunks::files(options, &peers, &mut report)?,
            Part::Calls => calls::run(options, &peers, &mut report)?,
            Part::Threads => calls::threads(options, &peers, &mut report)?,
            Part::Blosc1 => blosc1::run(options, &peers, &mut report)?,
            Part::Plugins => plugins::run(options, &peers, &mut report)?,
            Part::Memory => memory::run(options)?,
            Part::Curves => curves::run(options, &peers)?,
        }
    }
    if options
        .parts
        .iter()
        .any(|part| !matches!(part, Part::Memory | Part::Curves))
    {
        report.print();
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((first, rest)) if first == memory::COMMAND => memory::of(rest),
        _ => Options::from_arguments(arguments.into_iter()).and_then(|options| bench(&options)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peer: {error}");
            ExitCode::FAILURE
        }
    }
}
