//! The overhead of calls: small buffers, calls without context, single-use contexts, and waking a
//! second thread.

use crate::buffer::Buffer;
use crate::chunks::{Runner, runners};
use crate::clock::{Clock, Times, race};
use crate::data;
use crate::groups::Group;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::Report;
use ferroblosc_interop::ffi::{Cparams, Dparams};
use ferroblosc_interop::library::{Library, c_len};

/// The data set and its item size in bytes.
const DATA: &str = "i64-times";
const TYPESIZE: usize = 8;
/// The code of LZ4.
pub const LZ4: u8 = 1;
const SMALL: [usize; 3] = [256, 1 << 10, 4 << 10];
const ANY: [usize; 7] = [256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const THREADED: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];
const LARGE: usize = 32 << 20;
/// The number of blocks of a chunk for two threads.
const BLOCKS: usize = 4;
/// The minimum block size in bytes for more than one thread.
pub const LEAST_BLOCK: usize = 4 << 10;
const OVERHEAD: usize = 32;
const LEVEL: i32 = 5;
const SHUFFLE: i32 = 1;

/// Returns `len` bytes of the data set of these measurements.
pub fn source(len: usize) -> Buffer {
    data::generated(len, |name| name == DATA).swap_remove(0).bytes
}

/// Returns compression parameters for the data set; the library chooses a block size of 0.
pub fn cparams(compcode: u8, threads: i16, blocksize: usize) -> Cparams {
    Cparams {
        compcode,
        typesize: TYPESIZE as i32,
        nthreads: threads,
        blocksize: blocksize as i32,
        ..Cparams::default()
    }
}

fn add_and_print(report: &mut Report, group: Group, name: &str, bytes: usize, times: &Times) {
    Report::print_cell(name, bytes, &[("", times)], None);
    report.add(group, name, times, None);
}

/// Measures calls with a context on up to 4 KiB.
fn small(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    for size in SMALL {
        let source = source(size);
        for (codec, compcode) in [("blosclz", 0), ("lz4", LZ4)] {
            let write = format!("compress {codec}, {size} bytes");
            let read = format!("decompress {codec}, {size} bytes");
            let mut runners = runners(peers, cparams(compcode, 1, 0), size)?;
            runners.iter_mut().for_each(|runner| runner.compress(&source));
            let chunk = Buffer::of(runners[1].made()?);
            for runner in &mut runners {
                runner.check(&chunk, &source)?;
            }
            let mut time = |work: &dyn Fn(&mut Runner)| {
                race(Clock::Thread, options.budget, &mut runners, work)
            };
            if options.wants(&write) {
                let times = time(&|runner| runner.compress(&source));
                add_and_print(report, Group::SmallCalls, &write, size, &times);
            }
            if options.wants(&read) {
                let times = time(&|runner| {
                    runner.decompress(&chunk);
                });
                add_and_print(report, Group::SmallReads, &read, size, &times);
            }
        }
    }
    Ok(())
}

/// Calls `blosc2_compress`.
fn compress(library: &Library, source: &[u8], dest: &mut [u8]) -> i32 {
    let (from, to) = (source.as_ptr().cast(), dest.as_mut_ptr().cast());
    let (have, capacity) = (c_len(source), c_len(dest));
    // SAFETY: both buffers have the given lengths.
    unsafe { (library.blosc2_compress)(LEVEL, SHUFFLE, TYPESIZE as i32, from, have, to, capacity) }
}

/// Calls `blosc2_decompress`.
fn decompress(library: &Library, chunk: &[u8], dest: &mut [u8]) -> i32 {
    let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
    // SAFETY: both buffers have the given lengths.
    unsafe { (library.blosc2_decompress)(from, c_len(chunk), to, c_len(dest)) }
}

/// Calls `blosc2_getitem` for one item in the middle.
fn get(library: &Library, chunk: &[u8], total: usize, dest: &mut [u8]) -> i32 {
    let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
    // SAFETY: both buffers have the given lengths.
    unsafe { (library.blosc2_getitem)(from, c_len(chunk), (total / 2) as i32, 1, to, c_len(dest)) }
}

/// Creates a context, decompresses once and frees it.
fn once(library: &Library, chunk: &[u8], dest: &mut [u8]) -> i32 {
    let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
    // SAFETY: both buffers have the given lengths; the context is created and freed here.
    unsafe {
        let context = (library.blosc2_create_dctx)(Dparams::default());
        let code = (library.blosc2_decompress_ctx)(context, from, c_len(chunk), to, c_len(dest));
        (library.blosc2_free_ctx)(context);
        code
    }
}

/// A library call that reads one buffer and writes another.
type Call = fn(&Library, &[u8], &mut [u8]) -> i32;

/// Measures calls without context, and with a single-use context.
fn without_context(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    for size in ANY {
        let source = source(size);
        let mut chunk = vec![0; size + OVERHEAD];
        let made = compress(peers.blosc2[1], &source, &mut chunk);
        chunk.truncate(usize::try_from(made).map_err(|_| format!("compress: {made}"))?);
        let chunk = Buffer::of(&chunk);
        let item: Call = |library, chunk, dest| {
            let total = dest.len() / TYPESIZE;
            get(library, chunk, total, dest)
        };
        let calls: [(&str, Group, &Buffer, Call); 4] = [
            ("blosc2_compress", Group::SmallCalls, &source, compress),
            ("blosc2_decompress", Group::SmallCalls, &chunk, decompress),
            ("blosc2_getitem", Group::SmallCalls, &chunk, item),
            ("context, decompress, free", Group::Contexts, &chunk, once),
        ];
        for (label, group, input, call) in calls {
            let name = format!("{label}, {size} bytes");
            if !options.wants(&name) {
                continue;
            }
            let capacity = match label {
                "blosc2_compress" => size + OVERHEAD,
                _ => size,
            };
            let mut sides = Vec::new();
            for &library in &peers.blosc2 {
                let mut dest = Buffer::new(capacity);
                let code = call(library, input, &mut dest);
                if code <= 0 {
                    return Err(format!("{name}: {code} of {}", library.name));
                }
                sides.push((library, dest));
            }
            let times = race(Clock::Thread, options.budget, &mut sides, |(library, dest)| {
                call(library, input, dest);
            });
            add_and_print(report, group, &name, size, &times);
        }
    }
    Ok(())
}

/// Measures all kinds of small calls.
///
/// # Errors
/// Returns the failing cell.
pub fn run(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    small(options, peers, report)?;
    without_context(options, peers, report)
}

/// Measures two threads on work of microseconds and of milliseconds.
///
/// # Errors
/// Returns the failing cell.
pub fn threads(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    for size in THREADED {
        let source = source(size);
        let params = cparams(LZ4, 2, (size / BLOCKS).max(LEAST_BLOCK));
        let times = both(options, peers, params, &source)?;
        for (label, times) in ["compress", "decompress"].iter().zip(&times) {
            let name = format!("2 threads: {label}, {} KiB", size >> 10);
            add_and_print(report, Group::WakingUp, &name, size, times);
        }
    }
    let source = source(LARGE);
    let one = both(options, peers, cparams(LZ4, 1, 0), &source)?;
    let two = both(options, peers, cparams(LZ4, 2, 0), &source)?;
    for (label, (one, two)) in ["compress", "decompress"].iter().zip(one.iter().zip(&two)) {
        let name = format!("{label}, {} MiB", LARGE >> 20);
        Report::print_cell(&format!("1 thread: {name}"), LARGE, &[("", one)], None);
        Report::print_cell(&format!("2 threads: {name}"), LARGE, &[("", two)], None);
        report.add_own(Group::Scaling, &name, one, two);
    }
    Ok(())
}

/// Returns the wall times of compression and decompression.
///
/// # Errors
/// Returns the failing call.
pub fn both(
    options: &Options,
    peers: &Peers,
    params: Cparams,
    source: &[u8],
) -> Result<[Times; 2], String> {
    let mut runners = runners(peers, params, source.len())?;
    runners.iter_mut().for_each(|runner| runner.compress(source));
    let chunk = Buffer::of(runners[1].made()?);
    for runner in &mut runners {
        runner.check(&chunk, source)?;
    }
    let mut time =
        |work: &dyn Fn(&mut Runner)| race(Clock::Wall, options.budget, &mut runners, work);
    Ok([
        time(&|runner| runner.compress(source)),
        time(&|runner| {
            runner.decompress(&chunk);
        }),
    ])
}
