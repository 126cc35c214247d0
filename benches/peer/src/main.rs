//! Measures our libraries and the reference's side by side: same data, same calls, one process.
//!
//! ```text
//! cargo run --release -p ferroblosc-bench-peer -- [OPTIONS]
//!   --parts NAMES               comma list of kernels, filters, chunks, files, calls, threads,
//!                               blosc1, memory (default: these, or files with --file), plugins,
//!                               curves, scaling
//!   --full yes                  many more cells: half an hour instead of some minutes
//!   --noise yes                 also measures a copy of the reference (last column)
//!   --level NAME                maximum instruction set: generic, sse2, avx2, avx512, neon
//!   --only "WORDS"              only cells whose names contain all these words
//!   --markdown yes              tables as Markdown
//!   --json PATH                 also writes the results and facts about the machine to a file,
//!                               which scripts/bench-compare.py reads
//!   --file file:TYPESIZE:PATH   real data (repeatable)
//!   --levels 1,5,9              compression levels
//!   --chunk BYTES               bytes per chunk
//!   --threads N                 threads per context of chunks (default 1)
//!   --ms N                      time per library and measurement, milliseconds (default 25)
//! ```
//!
//! The libraries take turns, A B C C B A, so that none benefits from cache contents left by
//! another, and the best turn is the result. With one thread the clock is the CPU time of the
//! calling thread, which is least affected by other load; with more threads it is wall time. All
//! libraries decompress the reference's chunk, and every result is compared with the source. Ratios
//! are ours / reference: above 1 we are faster; in the size column, below 1 we compress better.

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
mod machine;
mod memory;
mod options;
mod peers;
#[path = "../../../tools/b2/src/plot.rs"]
mod plot;
mod plugins;
mod report;
mod scaling;

use options::{Options, Part};
use peers::Peers;
use report::Report;
use std::process::ExitCode;

/// The variable that limits the instruction set of our library.
const LEVEL: &str = "FERROBLOSC_SIMD";

fn bench(options: &Options) -> Result<(), String> {
    if let Some(level) = &options.level {
        // SAFETY: no other thread has been started.
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
            Part::Scaling => scaling::run(options, &peers)?,
        }
    }
    if options.parts.iter().any(|part| !matches!(part, Part::Memory | Part::Curves | Part::Scaling))
    {
        report.print();
        if let Some(path) = &options.json {
            report.write_json(path, machine::facts())?;
        }
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
