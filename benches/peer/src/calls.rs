//! What a call costs beside its work: small buffers, calls without context, contexts for one call; and two threads,
//! which have to be woken.

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

/// The data, and the bytes of its items.
const DATA: &str = "i64-times";
const TYPESIZE: usize = 8;
const LZ4: u8 = 1;
const SMALL: [usize; 3] = [256, 1 << 10, 4 << 10];
const ANY: [usize; 7] = [
    256,
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
];
const THREADED: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];
const LARGE: usize = 32 << 20;
/// Blocks of a chunk that two threads work on, and the least bytes of a block.
const BLOCKS: usize = 4;
const LEAST_BLOCK: usize = 4 << 10;
const OVERHEAD: usize = 32;
const LEVEL: i32 = 5;
const SHUFFLE: i32 = 1;

fn source(len: usize) -> Buffer {
    data::generated(len, |name| name == DATA)
        .swap_remove(0)
        .bytes
}

fn cparams(compcode: u8, threads: i16, blocksize: usize) -> Cparams {
    Cparams {
        compcode,
        typesize: TYPESIZE as i32,
        nthreads: threads,
        blocksize: blocksize as i32,
        ..Cparams::default()
    }
}

fn told(report: &mut Report, group: Group, name: &str, bytes: usize, times: &Times) {
    Report::print_cell(name, bytes, &[("", times)], None);
    report.add(group, name, times, None);
}

/// Calls with a context on up to 4 KiB.
fn small(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    for size in SMALL {
        let source = source(size);
        for (codec, compcode) in [("blosclz", 0), ("lz4", LZ4)] {
            let write = format!("compress {codec}, {size} bytes");
            let read = format!("decompress {codec}, {size} bytes");
            let mut runners = runners(peers, cparams(compcode, 1, 0), size)?;
            runners
                .iter_mut()
                .for_each(|runner| runner.compress(&source));
            let chunk = Buffer::of(runners[1].made()?);
            for runner in &mut runners {
                runner.check(&chunk, &source)?;
            }
            let mut time = |work: &dyn Fn(&mut Runner)| {
                race(Clock::Thread, options.budget, &mut runners, work)
            };
            if options.wants(&write) {
                let times = time(&|runner| runner.compress(&source));
                told(report, Group::SmallCalls, &write, size, &times);
            }
            if options.wants(&read) {
                let times = time(&|runner| {
                    runner.decompress(&chunk);
                });
                told(report, Group::SmallReads, &read, size, &times);
            }
        }
    }
    Ok(())
}

/// `blosc2_compress`.
fn compress(library: &Library, source: &[u8], dest: &mut [u8]) -> i32 {
    let (from, to) = (source.as_ptr().cast(), dest.as_mut_ptr().cast());
    let (have, room) = (c_len(source), c_len(dest));
    // SAFETY: both buffers are as long as said.
    unsafe { (library.blosc2_compress)(LEVEL, SHUFFLE, TYPESIZE as i32, from, have, to, room) }
}

/// `blosc2_decompress`.
fn decompress(library: &Library, chunk: &[u8], dest: &mut [u8]) -> i32 {
    let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
    // SAFETY: both buffers are as long as said.
    unsafe { (library.blosc2_decompress)(from, c_len(chunk), to, c_len(dest)) }
}

/// `blosc2_getitem` of one item in the middle.
fn get(library: &Library, chunk: &[u8], total: usize, dest: &mut [u8]) -> i32 {
    let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
    // SAFETY: both buffers are as long as said.
    unsafe { (library.blosc2_getitem)(from, c_len(chunk), (total / 2) as i32, 1, to, c_len(dest)) }
}

/// Makes a context, decompresses once and frees it.
fn once(library: &Library, chunk: &[u8], dest: &mut [u8]) -> i32 {
    let (from, to) = (chunk.as_ptr().cast(), dest.as_mut_ptr().cast());
    // SAFETY: both buffers are as long as said; the context is made and freed here.
    unsafe {
        let context = (library.blosc2_create_dctx)(Dparams::default());
        let code = (library.blosc2_decompress_ctx)(context, from, c_len(chunk), to, c_len(dest));
        (library.blosc2_free_ctx)(context);
        code
    }
}

/// A call of a library that reads one buffer and writes another.
type Call = fn(&Library, &[u8], &mut [u8]) -> i32;

/// Calls without context, and with one that is used once.
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
        for (what, group, input, call) in calls {
            let name = format!("{what}, {size} bytes");
            if !options.wants(&name) {
                continue;
            }
            let room = match what {
                "blosc2_compress" => size + OVERHEAD,
                _ => size,
            };
            let mut sides = Vec::new();
            for &library in &peers.blosc2 {
                let mut dest = Buffer::new(room);
                let code = call(library, input, &mut dest);
                if code <= 0 {
                    return Err(format!("{name}: {code} of {}", library.name));
                }
                sides.push((library, dest));
            }
            let times = race(
                Clock::Thread,
                options.budget,
                &mut sides,
                |(library, dest)| {
                    call(library, input, dest);
                },
            );
            told(report, group, &name, size, &times);
        }
    }
    Ok(())
}

/// Small calls of all kinds.
///
/// # Errors
/// Which one fails.
pub fn run(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    small(options, peers, report)?;
    without_context(options, peers, report)
}

/// Two threads on what takes microseconds, and on what takes milliseconds.
///
/// # Errors
/// What fails.
pub fn threads(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    for size in THREADED {
        let source = source(size);
        let params = cparams(LZ4, 2, (size / BLOCKS).max(LEAST_BLOCK));
        let times = both(options, peers, params, &source)?;
        for (what, times) in ["compress", "decompress"].iter().zip(&times) {
            let name = format!("2 threads: {what}, {} KiB", size >> 10);
            told(report, Group::WakingUp, &name, size, times);
        }
    }
    let source = source(LARGE);
    let one = both(options, peers, cparams(LZ4, 1, 0), &source)?;
    let two = both(options, peers, cparams(LZ4, 2, 0), &source)?;
    for (what, (one, two)) in ["compress", "decompress"].iter().zip(one.iter().zip(&two)) {
        let name = format!("{what}, {} MiB", LARGE >> 20);
        Report::print_cell(&format!("1 thread: {name}"), LARGE, &[("", one)], None);
        Report::print_cell(&format!("2 threads: {name}"), LARGE, &[("", two)], None);
        report.add_own(Group::Scaling, &name, one, two);
    }
    Ok(())
}

/// Times on the wall of compressing and decompressing.
fn both(
    options: &Options,
    peers: &Peers,
    params: Cparams,
    source: &[u8],
) -> Result<[Times; 2], String> {
    let mut runners = runners(peers, params, source.len())?;
    runners
        .iter_mut()
        .for_each(|runner| runner.compress(source));
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
