//! Speed against ratio, for `scripts/plot.py`: tab-separated lines with codec, level, library,
//! ratio, and write and read speed in GB/s, averaged over the numeric data sets.

use crate::buffer::Buffer;
use crate::chunks::{Runner, runners};
use crate::clock::{Clock, race};
use crate::data;
use crate::options::Options;
use crate::peers::Peers;
use ferroblosc_interop::cell::CODECS;
use ferroblosc_interop::ffi::Cparams;

const CHUNK: usize = 1 << 20;
const LEVELS: [u8; 5] = [1, 3, 5, 7, 9];

/// Sums of logarithms: ratio, write speed, read speed.
type Sums = [f64; 3];

/// Measures all levels of all codecs.
///
/// # Errors
/// Returns the failure.
pub fn run(options: &Options, peers: &Peers) -> Result<(), String> {
    let sets = data::generated(options.chunk.unwrap_or(CHUNK), |_| true);
    let sets: Vec<_> = sets.iter().filter(|set| set.numeric).collect();
    println!("codec\tlevel\tlibrary\tratio\twrite\tread");
    for (codec, compcode) in CODECS {
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
                runners
                    .iter_mut()
                    .for_each(|runner| runner.compress(&set.bytes));
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
                    sums[1] += (bytes / write[who] / 1e9).ln();
                    sums[2] += (bytes / read[who] / 1e9).ln();
                }
            }
            for (sums, library) in sums.iter().zip(["ours", "reference"]) {
                let [ratio, write, read] = sums.map(|sum| (sum / sets.len() as f64).exp());
                println!("{codec}\t{level}\t{library}\t{ratio:.4}\t{write:.4}\t{read:.4}");
            }
        }
    }
    Ok(())
}
