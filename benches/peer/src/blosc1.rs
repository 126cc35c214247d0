//! The Blosc 1.x library against C-Blosc 1.21: the calls with explicit parameters.

use crate::buffer::Buffer;
use crate::clock::{Clock, Times, race};
use crate::data::{self, Set};
use crate::groups::Direction::{Read, Write};
use crate::groups::Group;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::Report;
use ferroblosc_interop::blosc1::Library;
use std::ffi::{CString, c_int};

const CODECS: [&str; 5] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
const FILTERS: [&str; 3] = ["none", "shuffle", "bitshuffle"];
const OVERHEAD: usize = 16;
const KIB: usize = 1 << 10;

/// The compression parameters of a cell.
struct Params {
    codec: CString,
    level: u8,
    filter: usize,
    typesize: usize,
}

fn compress(library: &Library, params: &Params, source: &[u8], dest: &mut [u8]) -> c_int {
    // SAFETY: both buffers have the given lengths, and the name ends with NUL.
    unsafe {
        (library.blosc_compress_ctx)(
            params.level.into(),
            params.filter as c_int,
            params.typesize,
            source.len(),
            source.as_ptr().cast(),
            dest.as_mut_ptr().cast(),
            dest.len(),
            params.codec.as_ptr(),
            0,
            1,
        )
    }
}

/// Measures writing and reading; also returns the sizes of our chunk and theirs.
fn measure(
    options: &Options,
    peers: &Peers,
    params: &Params,
    source: &[u8],
) -> Result<(Times, Times, [usize; 2]), String> {
    let libraries = &peers.blosc1;
    let mut chunks = Vec::new();
    for library in libraries {
        let mut chunk = Buffer::new(source.len() + OVERHEAD);
        let size = compress(library, params, source, &mut chunk);
        match usize::try_from(size) {
            Ok(size @ 1..) => chunks.push(Buffer::of(&chunk[..size])),
            _ => return Err(format!("{} compresses to {size}", library.name)),
        }
    }
    let mut dest = Buffer::new(source.len());
    for library in libraries {
        for chunk in &chunks[..2] {
            let code = library.decompress(chunk, &mut dest, 1);
            if usize::try_from(code) != Ok(source.len()) || *dest != *source {
                return Err(format!("{} decodes to {code}, or to other bytes", library.name));
            }
        }
    }
    let sides = libraries.iter();
    let mut sides: Vec<_> =
        sides.map(|library| (library, Buffer::new(source.len() + OVERHEAD))).collect();
    let write = race(Clock::Thread, options.budget, &mut sides, |(library, dest)| {
        compress(library, params, source, dest);
    });
    let read = race(Clock::Thread, options.budget, &mut sides, |(library, dest)| {
        library.decompress(&chunks[1], &mut dest[..source.len()], 1);
    });
    Ok((write, read, [chunks[0].len(), chunks[1].len()]))
}

fn cell(
    options: &Options,
    peers: &Peers,
    report: &mut Report,
    set: &Set,
    codec: &str,
    level: u8,
    filter: usize,
) -> Result<(), String> {
    let name = format!("1.x {} {codec} {level} {}", set.name, FILTERS[filter]);
    if !options.wants(&name) {
        return Ok(());
    }
    let params = Params {
        codec: CString::new(codec).map_err(|error| error.to_string())?,
        level,
        filter,
        typesize: set.typesize,
    };
    let measured = measure(options, peers, &params, &set.bytes);
    let (write, read, sizes) = measured.map_err(|error| format!("{name}: {error}"))?;
    Report::print_cell(&name, set.bytes.len(), &[("write", &write), ("read", &read)], Some(sizes));
    report.add(Group::Blosc1(Write), &name, &write, Some(sizes));
    report.add(Group::Blosc1(Read), &name, &read, None);
    report.add_detail(format!("1.x {codec}, write"), &write);
    report.add_detail(format!("1.x {codec}, read"), &read);
    Ok(())
}

/// Measures all cells.
///
/// # Errors
/// Returns the failing cell.
pub fn run(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    let sizes: &[usize] = match (options.chunk, options.full) {
        (Some(size), _) => &[size],
        (None, true) => &[256 * KIB, 4096 * KIB],
        (None, false) => &[256 * KIB],
    };
    let levels: &[u8] = match (&options.levels, options.full) {
        (Some(levels), _) => levels,
        (None, true) => &[1, 5, 9],
        (None, false) => &[5],
    };
    for &size in sizes {
        for set in data::generated(size, |_| true).iter().filter(|set| !set.special) {
            for codec in CODECS {
                let is_fast = matches!(codec, "blosclz" | "lz4");
                for filter in 0..FILTERS.len() {
                    for &level in levels {
                        let is_left_out =
                            !is_fast && (filter != 1 || (size > 256 * KIB && level == 9));
                        if !is_left_out {
                            cell(options, peers, report, set, codec, level, filter)?;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}
