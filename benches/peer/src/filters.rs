//! Filters alone: a pipeline of one filter with a user codec that does the minimum.
//!
//! The codec copies each block to a separate buffer and reports a length of a few bytes; decoding
//! copies the block back. Each direction therefore costs the filter, one copy, and the call
//! overhead.

use crate::chunks::{Runner, runners};
use crate::clock::{Clock, race};
use crate::groups::Direction::{Read, Write};
use crate::groups::{Direction, Group};
use crate::options::Options;
use crate::peers::Peers;
use crate::report::Report;
use ferroblosc_interop::data::Content;
use ferroblosc_interop::ffi::{Codec, Cparams};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::hint::black_box;

/// The id and the name of the codec.
const BUFFER_CODEC: u8 = 200;
const BUFFER_CODEC_NAME: &std::ffi::CStr = c"keeper";
/// The reported length of a stream in bytes.
const STREAM: usize = 16;
/// The number of bytes that the codec copies at once.
const PIECE: usize = 1 << 10;
const BYTEDELTA: u8 = 35;
const INT_TRUNC: u8 = 36;
const NEVER_SPLIT: i32 = 2;
const SIZES: [usize; 2] = [32 << 10, 256 << 10];

thread_local! {
    /// The block that was encoded last.
    static KEPT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Copies bytes in short pieces. For whole blocks `memcpy` uses string instructions, which are up
/// to five times slower on some CPUs if both addresses are close modulo the page size (glibc bugs
/// 30994 and 30995): the time would depend on the addresses of the buffers.
fn copy(src: &[u8], dest: &mut [u8]) {
    let piece = black_box(PIECE);
    for (from, to) in src.chunks(piece).zip(dest.chunks_mut(piece)) {
        to.copy_from_slice(from);
    }
}

unsafe extern "C" fn encode(
    input: *const u8,
    input_len: i32,
    output: *mut u8,
    output_len: i32,
    _meta: u8,
    _params: *mut c_void,
    _chunk: *const c_void,
) -> c_int {
    let (Ok(input_len), true) = (usize::try_from(input_len), output_len >= STREAM as i32) else {
        return 0;
    };
    // SAFETY: the library passes buffers of the given lengths, and the output has space for a
    // stream.
    let input = unsafe {
        output.write_bytes(0, STREAM);
        std::slice::from_raw_parts(input, input_len)
    };
    KEPT.with_borrow_mut(|kept| {
        kept.resize(input_len, 0);
        copy(input, kept);
    });
    STREAM as c_int
}

unsafe extern "C" fn decode(
    _input: *const u8,
    _input_len: i32,
    output: *mut u8,
    output_len: i32,
    _meta: u8,
    _params: *mut c_void,
    _chunk: *const c_void,
) -> c_int {
    KEPT.with_borrow(|kept| {
        if usize::try_from(output_len) != Ok(kept.len()) {
            return -1;
        }
        // SAFETY: the library passes a buffer of the given length.
        copy(kept, unsafe { std::slice::from_raw_parts_mut(output, kept.len()) });
        output_len
    })
}

/// Registers the codec with each library.
fn register(peers: &Peers) -> Result<(), String> {
    let codec = Codec {
        compcode: BUFFER_CODEC,
        compname: BUFFER_CODEC_NAME.as_ptr(),
        complib: BUFFER_CODEC,
        version: 1,
        encoder: encode as *mut c_void,
        decoder: decode as *mut c_void,
    };
    for library in &peers.blosc2 {
        // SAFETY: the codec is copied, and its name and functions live as long as the program.
        let code = unsafe { (library.blosc2_register_codec)(&codec) };
        if code != 0 {
            return Err(format!("{} does not accept the codec ({code})", library.name));
        }
    }
    Ok(())
}

/// Measures the filters.
///
/// # Errors
/// Returns the failing filter.
pub fn run(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    type Grouping = fn(Direction) -> Group;
    register(peers)?;
    for size in SIZES {
        for typesize in [1, 2, 4, 8] {
            let truncated = 4 * typesize as u8;
            let filters: [(&str, Grouping, u8, u8); 2] = [
                ("bytedelta", Group::Bytedelta, BYTEDELTA, typesize as u8),
                ("int_trunc", Group::IntTrunc, INT_TRUNC, truncated),
            ];
            for (filter, group, id, meta) in filters {
                let name = format!("{filter} of {typesize}, {} KiB", size >> 10);
                if !options.wants(&name) {
                    continue;
                }
                let cparams = Cparams {
                    compcode: BUFFER_CODEC,
                    typesize: typesize as i32,
                    blocksize: size as i32,
                    splitmode: NEVER_SPLIT,
                    filters: [0, 0, 0, 0, 0, id],
                    filters_meta: [0, 0, 0, 0, 0, meta],
                    ..Cparams::default()
                };
                let source = Content::Sorted.make(size, typesize, 3);
                let mut runners = runners(peers, cparams, size)?;
                let mut expected = source.clone();
                if id == INT_TRUNC {
                    truncate(&mut expected, typesize);
                }
                for runner in &mut runners {
                    runner.compress(&source);
                    let chunk = runner.made()?.to_vec();
                    runner.check(&chunk, &expected).map_err(|error| format!("{name}: {error}"))?;
                }
                let chunk = runners[1].made()?.to_vec();
                let mut time = |work: &dyn Fn(&mut Runner)| {
                    race(Clock::Thread, options.budget, &mut runners, work)
                };
                let write = time(&|runner| runner.compress(&source));
                let read = time(&|runner| {
                    runner.decompress(&chunk);
                });
                Report::print_cell(&name, size, &[("write", &write), ("read", &read)], None);
                report.add(group(Write), &name, &write, None);
                report.add(group(Read), &name, &read, None);
            }
        }
    }
    Ok(())
}

/// Clears the lower half of the bits of each item.
fn truncate(bytes: &mut [u8], typesize: usize) {
    for item in bytes.chunks_exact_mut(typesize) {
        match typesize {
            1 => item[0] &= 0xF0,
            _ => item[..typesize / 2].fill(0),
        }
    }
}
