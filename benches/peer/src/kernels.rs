//! The exported shuffle functions, on buffers within and beyond the caches.

use crate::buffer::Buffer;
use crate::clock::{Clock, race};
use crate::groups::Group;
use crate::options::Options;
use crate::peers::Peers;
use crate::report::Report;
use ferroblosc_interop::data::Content;
use ferroblosc_interop::library::{Library, c_len};

const TYPESIZES: [usize; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64];
const SIZES: [usize; 3] = [32 << 10, 256 << 10, 4 << 20];
const NAMES: [&str; 4] = ["shuffle", "unshuffle", "bitshuffle", "bitunshuffle"];
/// The share of the time budget per cell: there are many cells with little variance.
const SHARE_OF_BUDGET: f64 = 0.4;

fn call(library: &Library, kernel: &str, typesize: usize, src: &[u8], dest: &mut [u8]) -> i32 {
    let function = match kernel {
        "shuffle" => library.blosc2_shuffle,
        "unshuffle" => library.blosc2_unshuffle,
        "bitshuffle" => library.blosc2_bitshuffle,
        _ => library.blosc2_bitunshuffle,
    };
    assert!(src.len() <= dest.len(), "the destination is too short");
    // SAFETY: both buffers have the given length.
    unsafe {
        let (from, to) = (src.as_ptr().cast(), dest.as_mut_ptr().cast());
        function(typesize as i32, c_len(src), from, to)
    }
}

fn group(kernel: &str, typesize: usize) -> (Group, &'static str) {
    let (group, sizes) = match (kernel, typesize) {
        (_, 2 | 4 | 8 | 16) => (Group::ShuffleEven, "2, 4, 8, 16"),
        ("unshuffle", 12) => (Group::UnshuffleTwelve, "12"),
        (_, 12) => (Group::ShuffleOdd, "12"),
        (_, ..8) => (Group::ShuffleOdd, "1, 3, 5, 6, 7"),
        _ => (Group::ShuffleLong, "20 to 64"),
    };
    if kernel.starts_with("bit") { (Group::Bitshuffle, sizes) } else { (group, sizes) }
}

/// Measures all functions.
///
/// # Errors
/// Returns the function whose output differs from the reference's.
pub fn run(options: &Options, peers: &Peers, report: &mut Report) -> Result<(), String> {
    for size in SIZES {
        for typesize in TYPESIZES {
            let len = size / typesize * typesize;
            let source = Buffer::of(&Content::Random.make(len, 1, 7));
            for kernel in NAMES {
                let name = format!("{kernel} of {typesize}, {} KiB", size >> 10);
                if !options.wants(&name) {
                    continue;
                }
                let sides = peers.blosc2.iter().map(|library| (library, Buffer::new(len)));
                let mut sides: Vec<_> = sides.collect();
                let work = |(library, dest): &mut (&&Library, Buffer)| {
                    call(library, kernel, typesize, &source, dest);
                };
                sides.iter_mut().for_each(work);
                if *sides[0].1 != *sides[1].1 {
                    return Err(format!("{name}: the results differ"));
                }
                let budget = options.budget * SHARE_OF_BUDGET;
                let times = race(Clock::Thread, budget, &mut sides, work);
                Report::print_cell(&name, len, &[("", &times)], None);
                let (group, sizes) = group(kernel, typesize);
                report.add(group, &name, &times, None);
                report.add_detail(format!("kernel {kernel}, {sizes}"), &times);
            }
        }
    }
    Ok(())
}
