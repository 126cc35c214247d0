//! The memory that each library needs to compress and decompress, in a separate process.
//!
//! The figure is the peak resident memory in KiB, without file pages (code) and without the memory
//! resident before the library was opened (the program and its buffers).

use crate::buffer::Buffer;
use crate::data;
use crate::options::Options;
use ferroblosc_interop::cell::CODECS;
use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::library::{Library, our_path, reference_path};
use std::path::Path;
use std::process::Command;

/// The command of a child process.
pub const COMMAND: &str = "memory-of";
/// The sizes of chunks in bytes.
const SIZES: [usize; 2] = [1 << 20, 16 << 20];
/// The number of calls in each direction; contexts are reused.
const CALLS: usize = 3;
const DATA: &str = "i64-times";
const LEVELS: [u8; 3] = [1, 5, 9];
const SHUFFLES: [(&str, u8); 2] = [("shuffle", 1), ("bitshuffle", 2)];
const OVERHEAD: usize = 32;

/// Returns a field of the process status in KiB.
fn of_status(name: &str) -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).ok_or(format!("no {name} in /proc/self/status"))
}

/// Works with one library in this process and prints its memory use.
///
/// # Errors
/// Returns the failure.
pub fn of(arguments: &[String]) -> Result<(), String> {
    let [path, numbers @ ..] = arguments else {
        return Err("no library".to_owned());
    };
    let numbers: Vec<usize> = numbers.iter().flat_map(|word| word.parse()).collect();
    let &[codec, level, filter, size, threads] = &numbers[..] else {
        return Err("no parameters".to_owned());
    };
    let set = data::generated(size, |name| name == DATA).swap_remove(0);
    let mut chunk = Buffer::new(size + OVERHEAD);
    let mut dest = Buffer::new(size);
    let before = of_status("RssAnon:")?;
    // Resets the peak.
    std::fs::write("/proc/self/clear_refs", "5").map_err(|error| error.to_string())?;
    let library = Library::open("library", Path::new(path))?;
    let compressor = library.compressor(Cparams {
        compcode: codec as u8,
        clevel: level as u8,
        typesize: set.typesize as i32,
        nthreads: threads as i16,
        filters: [0, 0, 0, 0, 0, filter as u8],
        ..Cparams::default()
    });
    let compressor = compressor.ok_or("no context")?;
    let decompressor = library.decompressor(threads as i16);
    for _ in 0..CALLS {
        let made = compressor.compress(&set.bytes, &mut chunk);
        let made = usize::try_from(made).map_err(|_| format!("compresses to {made}"))?;
        decompressor.decompress(&chunk[..made], &mut dest);
    }
    if *dest != *set.bytes {
        return Err("decodes to other bytes".to_owned());
    }
    let most = of_status("VmHWM:")? - of_status("RssFile:")?;
    println!("{}", most.saturating_sub(before));
    Ok(())
}

/// Returns the memory use of a library in KiB.
fn measure(library: &Path, parameters: [usize; 5]) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .arg(COMMAND)
        .arg(library)
        .args(parameters.map(|parameter| parameter.to_string()))
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = || String::from_utf8_lossy(&output.stderr).into_owned();
    text.trim().parse().map_err(|_| complaint())
}

/// Prints the memory use of all codecs.
///
/// # Errors
/// Returns the failure.
pub fn run(options: &Options) -> Result<(), String> {
    let libraries = [our_path(), reference_path()?];
    println!(
        "\n{:52} {:>9} {:>9} {:>7}",
        "most memory beside data and code, KiB", "ours", "ref.", "ratio"
    );
    let (mut sum, mut count) = (0.0, 0);
    for (codec, compcode) in CODECS {
        for level in LEVELS {
            for (filter, id) in SHUFFLES {
                for size in SIZES {
                    for threads in [1, 2] {
                        let name = format!(
                            "memory {codec} {level} {filter} {}M threads {threads}",
                            size >> 20
                        );
                        let is_slow = codec == "zstd" && level == 9 && size > SIZES[0];
                        if is_slow || !options.wants(&name) {
                            continue;
                        }
                        let parameters = [compcode.into(), level.into(), id.into(), size, threads];
                        let [ours, theirs] = [&libraries[0], &libraries[1]]
                            .map(|library| measure(library, parameters));
                        let (ours, theirs) = (ours?, theirs?);
                        println!("{name:52} {ours:9.0} {theirs:9.0} {:7.2}", ours / theirs);
                        sum += (ours / theirs).ln();
                        count += 1;
                    }
                }
            }
        }
    }
    println!("memory, geometric mean of {count}: {:.2}", (sum / f64::from(count.max(1))).exp());
    Ok(())
}
