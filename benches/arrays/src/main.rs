//! Measures arrays with our `libblosc2.so` and with the reference.
//!
//! ```text
//! cargo run --release -p ferroblosc-bench-arrays -- \
//!     [--turns N] [--only TEXT] [--threads N] [--dir DIRECTORY]
//! ```
//!
//! One process makes the same calls with both libraries in the order A B B A; the result is the
//! best turn of each. Ratios are reference / ours, above 1 if ours is faster. The last column is
//! the ratio of the CPU times of all threads, which is less affected by other processes. `--only`
//! selects the groups whose names contain a text, `--threads` one number of threads instead of 1
//! and 2, `--dir` the directory of the files (default: a temporary directory).

mod api;
mod tasks;

use api::{Api, StorageOptions};
use ferroblosc_interop::library::{open_shared, our_path, reference_path};
use ferroblosc_interop::storage::Kind;
use std::path::PathBuf;
use std::process::ExitCode;
use tasks::{Times, access, fresh, large, shapes};

struct Options {
    turns: usize,
    only: String,
    threads: Option<i16>,
    directory: PathBuf,
}

fn options() -> Result<Options, String> {
    let mut options =
        Options { turns: 8, only: String::new(), threads: None, directory: std::env::temp_dir() };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        let wrong = || format!("{name} {value}: not a number");
        match name.as_str() {
            "--turns" => options.turns = value.parse().map_err(|_| wrong())?,
            "--threads" => options.threads = Some(value.parse().map_err(|_| wrong())?),
            "--only" => options.only = value,
            "--dir" => options.directory = PathBuf::from(value),
            _ => return Err(format!("{name}: unknown")),
        }
    }
    Ok(options)
}

/// A function that measures the tasks of a group. It receives the functions of a library and the
/// storage, and adds the results to the times.
type Work = dyn Fn(&Api, StorageOptions<'_>, &mut Times);

/// Returns the groups of tasks, each with its name and storage.
fn groups() -> Vec<(String, Kind, Box<Work>)> {
    let mut groups: Vec<(String, Kind, Box<Work>)> = Vec::new();
    for case in &tasks::CASES {
        for kind in [Kind::Sparse, Kind::File] {
            let name = format!("{}, {}", case.name, name_of(kind));
            groups.push((
                name,
                kind,
                Box::new(|api, storage, times| access(api, case, storage, times)),
            ));
        }
        let name = format!("{}, new arrays in memory", case.name);
        groups.push((
            name,
            Kind::Sparse,
            Box::new(|api, storage, times| fresh(api, case, storage, times)),
        ));
    }
    for kind in [Kind::Sparse, Kind::Frame, Kind::File, Kind::Directory] {
        groups.push((format!("shapes, {}", name_of(kind)), kind, Box::new(shapes)));
        groups.push((format!("large chunks, {}", name_of(kind)), kind, Box::new(large)));
    }
    groups
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Sparse => "memory",
        Kind::Frame => "frame",
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Mapped => "mmap",
    }
}

fn load(path: PathBuf) -> Result<Api, String> {
    // SAFETY: both libraries have the functions of C-Blosc2 3.3 with these types; none is ever
    // closed.
    let api = unsafe { Api::load(open_shared(&path)?) }.map_err(|e| format!("{path:?}: {e}"))?;
    // SAFETY: the call has no preconditions.
    unsafe { (api.blosc2_init)() };
    Ok(api)
}

fn compare(options: &Options) -> Result<(), String> {
    let apis = [load(our_path())?, load(reference_path()?)?];
    for (name, kind, work) in groups() {
        if !name.contains(&options.only) {
            continue;
        }
        for nthreads in [1, 2] {
            if options.threads.is_some_and(|wanted| wanted != nthreads) {
                continue;
            }
            let mut best: [Times; 2] = [Vec::new(), Vec::new()];
            for turn in 0..2 * options.turns {
                let first = turn % 2;
                for which in [first, 1 - first] {
                    let file = format!("ferroblosc-bench-{}-{which}", std::process::id());
                    let path = options.directory.join(file);
                    let storage = StorageOptions { kind, path: &path.to_string_lossy(), nthreads };
                    let mut times = Vec::new();
                    work(&apis[which], storage, &mut times);
                    keep_best(&mut best[which], times);
                }
            }
            tell(&format!("{name}, {nthreads} threads"), &best);
        }
    }
    Ok(())
}

fn keep_best(best: &mut Times, times: Times) {
    for (name, took) in times {
        match best.iter_mut().find(|(other, _)| *other == name) {
            Some((_, least)) => {
                least.clock = least.clock.min(took.clock);
                least.processors = least.processors.min(took.processors);
            }
            None => best.push((name, took)),
        }
    }
}

fn tell(title: &str, [ours, theirs]: &[Times; 2]) {
    println!("{title:40} {:>11} {:>11} {:>6} {:>9}", "ours", "reference", "ratio", "processor");
    for ((name, ours), (_, theirs)) in ours.iter().zip(theirs) {
        println!(
            "  {name:38} {:9.3}ms {:9.3}ms {:6.2} {:9.2}",
            ours.clock * 1e3,
            theirs.clock * 1e3,
            theirs.clock / ours.clock,
            theirs.processors / ours.processors
        );
    }
}

fn main() -> ExitCode {
    match options().and_then(|options| compare(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("arrays: {error}");
            ExitCode::FAILURE
        }
    }
}
