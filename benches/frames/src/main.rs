//! Measures super-chunks and frames with our `libblosc2.so` and with the reference.
//!
//! ```text
//! cargo run --release -p ferroblosc-bench-frames -- [--turns N] [--chunks N] [--dir DIRECTORY]
//! ```
//!
//! One process makes the same calls with both libraries in the order A B B A; the result is the
//! best turn of each. Ratios are reference / ours, above 1 if ours is faster. `--chunks` is the
//! number of chunks of the growing super-chunks (default: 100,000), `--dir` the directory of the
//! files (default: a temporary directory). At the end a separate process for each library and
//! storage prints its peak memory: all of it, and without pages of files (the library's code and a
//! mapped frame).

mod api;

use api::{Api, Kind, Owned};
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::{our_path, reference_path};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The number of items of a chunk.
const ITEMS: usize = 10_000;
/// The number of chunks of the super-chunk that is filled, read and sliced.
const CHUNKS: usize = 1000;
/// The number of slices read, and of their items.
const SLICES: usize = 10_000;
const SLICE_ITEMS: usize = 100;
/// The number of changes of the metadata.
const UPDATES: usize = 1000;
/// The size of a large chunk in bytes, and the number of large chunks.
const LARGE: usize = 8 << 20;
const LARGE_CHUNKS: i64 = 4;
/// The number of times that a large super-chunk is opened.
const OPENED: usize = 20;
/// The number of chunks after which growth is measured first.
const EARLY: usize = 400;

struct Options {
    turns: usize,
    chunks: usize,
    directory: PathBuf,
}

fn options() -> Result<Options, String> {
    let mut options = Options { turns: 3, chunks: 100_000, directory: std::env::temp_dir() };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse().map_err(|_| format!("{name} {value}: not a number"));
        match name.as_str() {
            "--turns" => options.turns = number()?,
            "--chunks" => options.chunks = number()?,
            "--dir" => options.directory = PathBuf::from(value),
            _ => return Err(format!("{name}: unknown")),
        }
    }
    Ok(options)
}

/// The duration of each task in seconds, by name, in order.
type Times = Vec<(String, f64)>;

fn timed<T>(times: &mut Times, name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    times.push((name.to_owned(), start.elapsed().as_secs_f64()));
    result
}

/// Returns the items of all chunks: each chunk starts one item after the start of the previous one.
fn ramp() -> Vec<i64> {
    (0..(ITEMS + CHUNKS) as i64).map(|i| 3 * i).collect()
}

/// Fills, reads and slices one super-chunk, and changes its metadata.
fn everyday(api: &Api, kind: Kind, path: &str, times: &mut Times) {
    let ramp = ramp();
    let data = |nchunk: usize| &ramp[nchunk..nchunk + ITEMS];
    let schunk = Owned::new(api, kind, path);
    let of = |task: &str| format!("{} {task}", kind.name());
    timed(times, &of("append 1,000 chunks"), || {
        (0..CHUNKS).for_each(|nchunk| schunk.append(data(nchunk)));
    });
    let mut dest = vec![0; ITEMS];
    timed(times, &of("read all"), || {
        for nchunk in 0..CHUNKS {
            schunk.decompress(nchunk as i64, &mut dest);
        }
    });
    assert_eq!(dest, data(CHUNKS - 1), "what was read");
    let mut slice = vec![0; SLICE_ITEMS];
    let mut state = 12345u32;
    timed(times, &of("10,000 slices of 100 items"), || {
        for _ in 0..SLICES {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let start = state as usize % (CHUNKS * ITEMS - SLICE_ITEMS);
            schunk.slice(start as i64, &mut slice);
        }
    });
    let mut content: Vec<u8> = (0..150).collect();
    schunk.add_metadata(&mut content);
    timed(times, &of("1,000 changes of a vlmetalayer"), || {
        for i in 0..UPDATES {
            schunk.update_metadata(&mut content[..100 + i % 50]);
        }
    });
}

/// Changes large chunks, and appends to a super-chunk with a large metalayer. The large data are
/// incompressible.
fn large(api: &Api, kind: Kind, path: &str, times: &mut Times) {
    let noise = |seed: u64| -> Vec<i64> {
        let mut state = seed;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as i64
        };
        (0..LARGE / 8).map(|_| next()).collect()
    };
    let data = noise(1);
    let mut chunks = [1, 2].map(|seed| compressed(api, &noise(seed), 0));
    let of = |task: &str| format!("{} {task}", kind.name());
    let schunk = Owned::new(api, kind, path);
    (0..LARGE_CHUNKS).for_each(|_| schunk.append(&data));
    let items = (LARGE / 8) as i64;
    timed(times, &of("20 items, each in a chunk of 8 MB"), || {
        for i in 0..20 {
            schunk.set_item(i % LARGE_CHUNKS * items + 1000 * i, i);
        }
    });
    timed(times, &of("20 updates of chunks of 8 MB"), || {
        for i in 0..20 {
            schunk.update_chunk(i % LARGE_CHUNKS, &mut chunks[usize::from(i % 8 < 4)]);
        }
    });
    drop(schunk);
    let schunk = Owned::new(api, kind, path);
    let mut content: Vec<u8> = data.iter().flat_map(|item| item.to_le_bytes()).collect();
    schunk.add_metadata(&mut content[..LARGE / 2]);
    let mut chunk = small_chunk(api);
    timed(times, &of("100 appends beside 4 MB of metalayers"), || {
        (0..100).for_each(|_| schunk.append_chunk(&mut chunk));
    });
}

/// Returns a small chunk, which is appended repeatedly.
fn small_chunk(api: &Api) -> Vec<u8> {
    let data: Vec<i64> = (0..30).map(|i| i * i * 77_777).collect();
    compressed(api, &data, Cparams::default().clevel)
}

/// Returns a compressed chunk.
fn compressed(api: &Api, data: &[i64], clevel: u8) -> Vec<u8> {
    let mut chunk = vec![0; size_of_val(data) + 32];
    let params = Cparams { typesize: 8, clevel, ..Cparams::default() };
    // SAFETY: the context is created and freed here; the sizes of source and destination are
    // passed.
    let size = unsafe {
        let context = (api.blosc2_create_cctx)(params);
        let size = (api.blosc2_compress_ctx)(
            context,
            data.as_ptr().cast(),
            size_of_val(data) as i32,
            chunk.as_mut_ptr().cast(),
            chunk.len() as i32,
        );
        (api.blosc2_free_ctx)(context);
        size
    };
    chunk.truncate(usize::try_from(size).expect("the chunk fits"));
    chunk
}

/// Appends to a super-chunk, and opens it when it is large.
fn growth(api: &Api, kind: Kind, path: &str, chunks: usize, times: &mut Times) {
    let mut chunk = small_chunk(api);
    let mut schunk = Owned::new(api, kind, path);
    let of = |task: &str| format!("{} {task}", kind.name());
    timed(times, &of(&format!("append the first {EARLY}")), || {
        (0..EARLY).for_each(|_| schunk.append_chunk(&mut chunk));
    });
    timed(times, &of(&format!("append up to {chunks}")), || {
        (EARLY..chunks).for_each(|_| schunk.append_chunk(&mut chunk));
    });
    if matches!(kind, Kind::File | Kind::Directory) {
        schunk.close();
        timed(times, &of(&format!("open {chunks} chunks, {OPENED} times")), || {
            for _ in 0..OPENED {
                // SAFETY: the path is that of a super-chunk; the opened one is freed.
                unsafe {
                    let opened = (api.blosc2_schunk_open)(schunk.path().as_ptr());
                    assert!(!opened.is_null(), "open");
                    (api.blosc2_schunk_free)(opened);
                }
            }
        });
    }
}

fn compare(options: &Options) -> Result<(), String> {
    let apis = [Api::open(&our_path())?, Api::open(&reference_path()?)?];
    for api in &apis {
        // SAFETY: the call has no preconditions.
        unsafe { (api.blosc2_init)() };
    }
    let mut best: [Times; 2] = [Vec::new(), Vec::new()];
    let mut run = |which: usize, work: &dyn Fn(&Api, &str, &mut Times)| {
        let name = format!("ferroblosc-bench-{}-{which}", std::process::id());
        let path = options.directory.join(name);
        let mut times = Vec::new();
        work(&apis[which], &path.to_string_lossy(), &mut times);
        for (name, seconds) in times {
            match best[which].iter_mut().find(|(other, _)| *other == name) {
                Some((_, least)) => *least = least.min(seconds),
                None => best[which].push((name, seconds)),
            }
        }
    };
    for kind in Kind::ALL {
        for turn in 0..2 * options.turns {
            let first = turn % 2;
            for which in [first, 1 - first] {
                run(which, &|api, path, times| everyday(api, kind, path, times));
                run(which, &|api, path, times| large(api, kind, path, times));
            }
        }
        for which in [0, 1, 1, 0] {
            run(which, &|api, path, times| {
                growth(api, kind, path, options.chunks, times);
            });
        }
    }
    println!("{:48} {:>11} {:>11} {:>6}", "", "ours", "reference", "ratio");
    for (name, ours) in &best[0] {
        let theirs = best[1].iter().find(|(other, _)| other == name).map_or(0.0, |(_, t)| *t);
        println!("{name:48} {:9.3}ms {:9.3}ms {:6.2}", ours * 1e3, theirs * 1e3, theirs / ours);
    }
    Ok(())
}

/// Runs the tasks once with one library and prints the peak memory of the process in KiB: all of
/// it, and without pages of files.
fn memory_of(library: &str, kind: &str, directory: &str, chunks: &str) -> Result<(), String> {
    let kind = Kind::ALL.into_iter().find(|other| other.name() == kind).ok_or("no such kind")?;
    let chunks = chunks.parse().map_err(|_| "not a number")?;
    let api = Api::open(library.as_ref())?;
    // SAFETY: the call has no preconditions.
    unsafe { (api.blosc2_init)() };
    let path = format!("{directory}/ferroblosc-bench-memory-{}", std::process::id());
    everyday(&api, kind, &path, &mut Vec::new());
    growth(&api, kind, &path, chunks, &mut Vec::new());
    // The value of `getrusage` is not used: it includes the peak of the parent process.
    let (most, of_files) = (of_status("VmHWM:")?, of_status("RssFile:")?);
    println!("{most} {}", most - of_files);
    Ok(())
}

/// Returns a field of the process status in KiB.
fn of_status(name: &str) -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).ok_or(format!("no {name} in /proc/self/status"))
}

fn compare_memory(options: &Options) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    println!("\n{:48} {:>11} {:>11} {:>6}", "most memory, KiB", "ours", "reference", "ratio");
    for kind in Kind::ALL {
        let measure = |library: PathBuf| {
            let output = Command::new(&program)
                .arg("memory-of")
                .arg(library)
                .args([kind.name(), &options.directory.to_string_lossy()])
                .arg(options.chunks.to_string())
                .output()
                .map_err(|e| e.to_string())?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let figures: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
            <[f64; 2]>::try_from(figures).map_err(|_| format!("{}: no figures", kind.name()))
        };
        let (ours, theirs) = (measure(our_path())?, measure(reference_path()?)?);
        for (i, what) in ["", ", but for code and mapped files"].into_iter().enumerate() {
            let (ours, theirs) = (ours[i], theirs[i]);
            let name = format!("{}{what}", kind.name());
            println!("{name:48} {ours:11} {theirs:11} {:6.2}", theirs / ours);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let result = match &arguments[1..] {
        [command, library, kind, directory, chunks] if command == "memory-of" => {
            memory_of(library, kind, directory, chunks)
        }
        _ => options().and_then(|options| {
            compare(&options)?;
            compare_memory(&options)
        }),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("frames: {error}");
            ExitCode::FAILURE
        }
    }
}
