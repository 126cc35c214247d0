//! Plots speed against ratio, averaged over the numeric data sets: a line for each codec, dashed
//! for the reference, with a point for each level.

use crate::buffer::Buffer;
use crate::chunks::{Runner, runners};
use crate::clock::{Clock, race};
use crate::data;
use crate::options::Options;
use crate::peers::Peers;
use crate::plot::{self, Point};
use ferroblosc_interop::cell::CODECS;
use ferroblosc_interop::ffi::Cparams;

const CHUNK: usize = 1 << 20;
const LEVELS: [u8; 5] = [1, 3, 5, 7, 9];
const TITLE: &str = "Ferroblosc and C-Blosc2 (dashed), numeric data, chunks of 1 MiB";
const LIBRARIES: [&str; 2] = ["Ferroblosc", "C-Blosc2"];

/// Sums of logarithms: ratio, write speed, read speed.
type Sums = [f64; 3];

/// Measures all levels of all codecs.
///
/// # Errors
/// Returns the failure.
pub fn run(options: &Options, peers: &Peers) -> Result<(), String> {
    let sets = data::generated(options.chunk.unwrap_or(CHUNK), |_| true);
    let sets: Vec<_> = sets.iter().filter(|set| set.numeric).collect();
    let (mut points, mut curves) = (Vec::new(), Vec::new());
    for (codec, compcode) in CODECS {
        let mut of_libraries = LIBRARIES.map(|_| Vec::new());
        for level in LEVELS {
            let mut sums: Vec<Sums> = vec![[0.0; 3]; peers.blosc2.len()];
            for set in &sets {
                let cparams = Cparams {
                    compcode,
                    clevel: level,
                    typesize: set.typesize as i32,
                    ..Cparams::default()
                };
                let mut runners = runners(peers, cparams, set.bytes.len())?;
                runners.iter_mut().for_each(|runner| runner.compress(&set.bytes));
                let chunk = Buffer::of(runners[1].made()?);
                for runner in &mut runners {
                    runner.check(&chunk, &set.bytes)?;
                }
                let mut time = |work: &dyn Fn(&mut Runner)| {
                    race(Clock::Thread, options.budget, &mut runners, work)
                };
                let write = time(&|runner| runner.compress(&set.bytes));
                let read = time(&|runner| {
                    runner.decompress(&chunk);
                });
                let bytes = set.bytes.len() as f64;
                for (who, sums) in sums.iter_mut().enumerate() {
                    sums[0] += (bytes / runners[who].made()?.len() as f64).ln();
                    sums[1] += (bytes / write[who] / 1e6).ln();
                    sums[2] += (bytes / read[who] / 1e6).ln();
                }
            }
            for (library, sums) in sums.iter().take(LIBRARIES.len()).enumerate() {
                let [ratio, write, read] = sums.map(|sum| (sum / sets.len() as f64).exp());
                of_libraries[library].push(Point {
                    codec: codec.to_owned(),
                    label: format!("{}, {codec} {level}", LIBRARIES[library]),
                    level,
                    is_on_front: [false; 2],
                    ratio,
                    speeds: [write, read],
                });
            }
        }
        for (library, of_library) in of_libraries.into_iter().enumerate() {
            let start = points.len();
            points.extend(of_library);
            curves.push((start..points.len(), library > 0));
        }
    }
    print!("{}", plot::svg(TITLE, &points, &curves));
    Ok(())
}
