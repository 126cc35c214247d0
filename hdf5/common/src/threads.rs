//! The number of threads of a call without `BLOSC_NTHREADS`.
//!
//! HDF5 serialises all calls of a process, so a program cannot use more than one processor for the
//! filters unless they have threads of their own.

use std::env;
use std::sync::atomic::{AtomicI16, Ordering::Relaxed};
use std::thread::available_parallelism;

/// The maximum number of threads.
const MAX: i16 = 8;

/// Chunks with fewer bytes of data are processed by the calling thread alone.
const MIN_CHUNK: usize = 256 * 1024;

/// Variables with the number of processes that a launcher has started: those of Open MPI, MPICH and
/// its descendants, MVAPICH, and Slurm's `srun`.
const PROCESSES: [&str; 5] = [
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "MPI_LOCALNRANKS",
    "MV2_COMM_WORLD_SIZE",
    "SLURM_STEP_NUM_TASKS",
];

/// The number of threads for large chunks; 0 until it is known.
static THREADS: AtomicI16 = AtomicI16::new(0);

/// The number of threads of calls, unless `BLOSC_NTHREADS` overrides it.
#[derive(Clone, Copy, Debug)]
pub struct Threads(i16);

impl Threads {
    /// The calling thread alone.
    pub const ONE: Threads = Threads(1);

    /// Returns the number for this process: the processors that it may use, at most 8, or 1 if it
    /// is one of several processes that a launcher has started, or if `is_parallel`, which is
    /// called once, returns that HDF5 was built for MPI.
    pub fn of_process(is_parallel: impl FnOnce() -> bool) -> Threads {
        let known = THREADS.load(Relaxed);
        if known > 0 {
            return Threads(known);
        }
        let count = if is_one_of_several(|name| env::var(name).ok()) || is_parallel() {
            1
        } else {
            available_parallelism()
                .map_or(1, |count| i16::try_from(count.get()).unwrap_or(MAX).min(MAX))
        };
        // Threads that arrive here at the same time find the same number.
        THREADS.store(count, Relaxed);
        Threads(count)
    }

    /// Sets the number for this process, at least 1, for programs with threads of their own.
    pub fn set_of_process(count: i16) {
        THREADS.store(count.max(1), Relaxed);
    }

    /// Returns the number for a chunk of `nbytes` bytes of data.
    pub fn for_chunk(self, nbytes: usize) -> i16 {
        if nbytes < MIN_CHUNK { 1 } else { self.0 }
    }
}

/// Whether a variable states that a launcher has started several processes.
fn is_one_of_several(value_of: impl Fn(&str) -> Option<String>) -> bool {
    let count = |name: &&str| value_of(name)?.trim().parse::<u32>().ok();
    PROCESSES.iter().filter_map(count).any(|count| count > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blosc::Blosc;
    use crate::blosc2::Blosc2;
    use crate::filter::{Dataset, Filter, Values};

    #[test]
    fn processes_of_a_launcher_have_one_thread() {
        let environment = |set: &'static [(&str, &str)]| {
            is_one_of_several(|name| {
                let found = set.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(!environment(&[]));
        assert!(!environment(&[("PMI_SIZE", "1"), ("OMPI_COMM_WORLD_SIZE", "")]));
        assert!(!environment(&[("PMI_SIZE", "two"), ("PMI_RANK", "2")]));
        assert!(environment(&[("PMI_SIZE", "1"), ("OMPI_COMM_WORLD_SIZE", "2")]));
        assert!(environment(&[("SLURM_STEP_NUM_TASKS", "256")]));
    }

    #[test]
    fn a_program_can_set_the_number() {
        for count in [3, 1] {
            Threads::set_of_process(count);
            assert_eq!(Threads::of_process(|| unreachable!("the number is known")).0, count);
        }
    }

    #[test]
    fn small_chunks_have_one_thread() {
        assert_eq!(Threads(4).for_chunk(MIN_CHUNK - 1), 1);
        assert_eq!(Threads(4).for_chunk(MIN_CHUNK), 4);
        assert_eq!(Threads::ONE.for_chunk(usize::MAX), 1);
    }

    #[test]
    fn stored_chunks_do_not_depend_on_the_number_of_threads() {
        fn check<F: Filter>(codec: u32) {
            let data: Vec<u8> =
                (0..300_000_u32).flat_map(|i| (i / 7 * 1000 + i % 5).to_le_bytes()).collect();
            let dataset = Dataset {
                typesize: 4,
                chunksize: data.len() as u32,
                chunkshape: vec![300, 1000],
                is_mandatory: false,
            };
            let mut values = Values::new(&[0, 0, 0, 0, 5, 1, codec]);
            F::complete(&mut values, &dataset).unwrap();
            let values = values.as_slice();
            let stored = F::compress(values, &data, Threads::ONE).unwrap().unwrap();
            for threads in [Threads(2), Threads(8)] {
                let other = F::compress(values, &data, threads).unwrap().unwrap();
                assert_eq!(other[..], stored[..], "{codec}, {threads:?}");
                let read = F::decompress(values, &stored, threads).unwrap();
                assert_eq!(read[..], data, "{codec}, {threads:?}");
            }
        }
        for codec in [0, 1, 4, 5] {
            check::<Blosc>(codec);
            check::<Blosc2>(codec);
        }
    }
}
