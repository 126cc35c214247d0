//! Ordered parallel processing.
//!
//! Each worker fetches the next job, processes it and submits the result. The worker that submits
//! the next result in order writes it and all consecutive ones that are ready. So reading,
//! processing and writing overlap, no worker waits for its turn, and the output does not depend on
//! the number of workers. The number of buffers bounds memory: a worker that finds none sleeps
//! until the writer frees one. The first failing job in order ends the run, so the error is
//! deterministic.

use crate::threads;
use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The input and output of a job.
#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

/// The state shared by the workers.
struct Queue<P, E> {
    /// Free buffers, most recently used last.
    free: Vec<Buffers>,
    /// Results from index `written` on, with gaps for missing ones.
    ready: VecDeque<Option<(Result<P, E>, Buffers)>>,
    /// The number of written results, which is the index of the next one.
    written: u64,
    /// Whether a worker is writing.
    is_writing: bool,
    /// The number of workers that wait for buffers.
    waiting: usize,
    /// Whether the feed has ended.
    has_ended: bool,
    stopped: bool,
}

struct Shared<P, E> {
    queue: Mutex<Queue<P, E>>,
    /// Signals free buffers, or the end.
    changed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panicking worker stops the others, so the poisoned state is not used.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P, E> Shared<P, E> {
    fn new(buffers: usize) -> Shared<P, E> {
        Shared {
            queue: Mutex::new(Queue {
                free: std::iter::repeat_with(Buffers::default).take(buffers).collect(),
                ready: VecDeque::new(),
                written: 0,
                is_writing: false,
                waiting: 0,
                has_ended: false,
                stopped: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits for free buffers. Returns `None` at the end.
    fn buffers(&self) -> Option<Buffers> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.has_ended || queue.stopped {
                return None;
            }
            if let Some(buffers) = queue.free.pop() {
                return Some(buffers);
            }
            queue.waiting += 1;
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting -= 1;
        }
    }

    /// Submits the result of a job. If it is the next one and no other worker is writing, writes it
    /// and all consecutive ones that are ready.
    ///
    /// # Errors
    /// The first error in order, of a job or of the sink.
    fn submit(
        &self,
        number: u64,
        result: Result<P, E>,
        buffers: Buffers,
        sink: &Mutex<impl FnMut(P, &[u8], &[u8]) -> Result<(), E>>,
    ) -> Result<(), E> {
        let mut queue = lock(&self.queue);
        // Less than the number of buffers, since each preceding job holds buffers until it is
        // written.
        let index = (number - queue.written) as usize;
        if queue.ready.len() <= index {
            queue.ready.resize_with(index + 1, || None);
        }
        queue.ready[index] = Some((result, buffers));
        if queue.is_writing {
            return Ok(());
        }
        while let Some(Some((result, buffers))) = queue.ready.front_mut().map(Option::take)
            && !queue.stopped
        {
            queue.is_writing = true;
            drop(queue);
            (lock(sink))(result?, &buffers.input, &buffers.output)?;
            queue = lock(&self.queue);
            queue.is_writing = false;
            queue.ready.pop_front();
            queue.written += 1;
            queue.free.push(buffers);
            if queue.waiting > 0 {
                self.changed.notify_one();
            }
        }
        Ok(())
    }

    /// Marks the end of the feed.
    fn end(&self) {
        lock(&self.queue).has_ended = true;
        self.changed.notify_all();
    }

    fn stop(&self) {
        lock(&self.queue).stopped = true;
        self.changed.notify_all();
    }
}

/// Stops the other workers if a worker panics.
struct StopOnPanic<'s, P, E>(&'s Shared<P, E>);

impl<P, E> Drop for StopOnPanic<'_, P, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// The feed and the index of its next job.
struct Feed<F> {
    feed: F,
    number: u64,
    ended: bool,
}

/// Runs jobs on several threads, including the calling one.
///
/// `feed` returns the next job, or `None` at the end. `work` processes it with the state of its
/// worker. `sink` receives the results in order. `feed` fills the input buffer of a job, `work` its
/// output buffer. Buffers are reused without clearing.
///
/// # Errors
/// The error of the first job in order that fails.
pub fn run<P, State, E>(
    split: ThreadSplit,
    feed: impl FnMut(&mut Vec<u8>) -> Result<Option<P>, E> + Send,
    work: impl Fn(&mut State, &mut P, &[u8], &mut Vec<u8>) -> Result<(), E> + Sync,
    sink: impl FnMut(P, &[u8], &[u8]) -> Result<(), E> + Send,
) -> Result<(), E>
where
    P: Send,
    State: Default,
    E: Send,
{
    let feed = Mutex::new(Feed { feed, number: 0, ended: false });
    let sink = Mutex::new(sink);
    let shared = Shared::new(split.buffers);
    let failure = Mutex::new(None);
    let worker = || {
        let _guard = StopOnPanic(&shared);
        let mut state = State::default();
        while let Some(mut buffers) = shared.buffers() {
            let (number, job) = {
                let mut feed = lock(&feed);
                if feed.ended {
                    break;
                }
                let job = (feed.feed)(&mut buffers.input);
                feed.ended = !matches!(job, Ok(Some(_)));
                let number = feed.number;
                feed.number += 1;
                (number, job)
            };
            let job = match job {
                Ok(Some(job)) => Ok(job),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            let result = job.and_then(|mut job| {
                work(&mut state, &mut job, &buffers.input, &mut buffers.output)?;
                Ok(job)
            });
            if let Err(error) = shared.submit(number, result, buffers, &sink) {
                *lock(&failure) = Some(error);
                shared.stop();
                break;
            }
        }
        shared.end();
    };
    threads::run("bloscpack", split.workers, worker);
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// The approximate limit of memory for buffers in bytes; larger jobs get fewer workers.
const MEMORY: u64 = 512 << 20;

/// The split of threads between parallel jobs and threads within a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadSplit {
    /// The number of workers.
    pub workers: usize,
    /// The number of buffers, at least one per worker.
    pub buffers: usize,
    /// The number of threads within each job.
    pub threads_per_worker: i32,
}

impl ThreadSplit {
    /// Splits `nthreads` threads for `jobs` jobs of `size` bytes; either may be unknown.
    pub fn new(nthreads: usize, jobs: Option<u64>, size: Option<u32>) -> ThreadSplit {
        let nthreads = nthreads.clamp(1, 256) as u64;
        let memory_limit = MEMORY / (2 * u64::from(size.unwrap_or(1)).max(1));
        let workers = nthreads.min(jobs.unwrap_or(nthreads)).min(memory_limit).max(1);
        // A single worker needs one buffer.
        let buffers = match workers {
            1 => 1,
            _ => (2 * workers).min(memory_limit),
        };
        ThreadSplit {
            workers: workers as usize,
            buffers: buffers as usize,
            threads_per_worker: nthreads.div_ceil(workers) as i32,
        }
    }
}

/// The growth of a buffer in bytes while the length of the input is unknown.
const STEP: usize = 1 << 20;

/// Reads until `buffer` holds `len` bytes or the input ends. Existing content is overwritten
/// without being cleared; the buffer grows only as bytes arrive.
pub fn fill(reader: &mut impl io::Read, len: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.truncate(len);
    let mut filled = 0;
    while filled < len {
        if filled == buffer.len() {
            let new_len = len.min(filled + filled.max(STEP));
            buffer.try_reserve_exact(new_len - filled).map_err(|_| io::ErrorKind::OutOfMemory)?;
            buffer.resize(new_len, 0);
        }
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a split with one buffer per worker and `more` additional ones.
    fn split(workers: usize, more: usize) -> ThreadSplit {
        ThreadSplit { workers, buffers: workers + more, threads_per_worker: 1 }
    }

    /// Squares the numbers below `count` with varying delays; fails at `bad`.
    fn squares(split: ThreadSplit, count: u64, bad: &[u64]) -> Result<Vec<u64>, u64> {
        let mut numbers = 0..count;
        let mut written = Vec::new();
        run::<u64, (), u64>(
            split,
            |input| {
                input.clear();
                Ok(numbers.next())
            },
            |(), &mut number, _, output| {
                std::thread::sleep(std::time::Duration::from_micros((number * 7) % 50));
                output.clear();
                output.extend((number * number).to_le_bytes());
                if bad.contains(&number) {
                    return Err(number);
                }
                Ok(())
            },
            |_, _, output| {
                written.push(u64::from_le_bytes(output.try_into().unwrap()));
                Ok(())
            },
        )?;
        Ok(written)
    }

    #[test]
    fn results_are_written_in_the_order_of_the_jobs() {
        let expected: Vec<u64> = (0..300).map(|number| number * number).collect();
        for workers in [1, 2, 7] {
            for more in [0, 1, 9] {
                let split = split(workers, more);
                assert_eq!(squares(split, 300, &[]).unwrap(), expected);
                assert_eq!(squares(split, 0, &[]), Ok(vec![]));
            }
        }
    }

    #[test]
    fn the_first_failing_job_in_order_is_reported() {
        for workers in [1, 2, 7] {
            for _ in 0..20 {
                let bad = [53, 54, 55, 200];
                assert_eq!(squares(split(workers, workers), 300, &bad), Err(53));
            }
        }
    }

    #[test]
    fn a_panic_of_a_worker_stops_all_workers() {
        let mut left = 100;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run::<i32, (), ()>(
                split(4, 4),
                |_| {
                    left -= 1;
                    Ok(Some(left).filter(|&left| left > 0))
                },
                |(), &mut number, _, _| {
                    assert_ne!(number, 50, "intended panic");
                    Ok(())
                },
                |_, _, _| Ok(()),
            )
        }));
        assert!(result.is_err());
    }

    #[test]
    fn a_buffer_grows_only_as_bytes_arrive() {
        let mut job = Vec::new();
        fill(&mut &[7; 10][..], usize::MAX, &mut job).unwrap();
        assert_eq!(job, [7; 10]);
        assert!(job.capacity() <= 2 * STEP);
        fill(&mut io::repeat(8), 3 * STEP + 1, &mut job).unwrap();
        assert!(job.len() == 3 * STEP + 1 && job.iter().all(|&byte| byte == 8));
        fill(&mut &[9; 10][..], 4, &mut job).unwrap();
        assert_eq!(job, [9; 4]);
    }

    #[test]
    fn threads_are_split_over_jobs_first() {
        let split = |threads, jobs, size| {
            let split = ThreadSplit::new(threads, jobs, size);
            (split.workers, split.buffers, split.threads_per_worker)
        };
        assert_eq!(split(8, Some(100), Some(1 << 20)), (8, 16, 1));
        assert_eq!(split(8, Some(1), Some(1 << 20)), (1, 1, 8));
        assert_eq!(split(8, Some(3), Some(1 << 20)), (3, 6, 3));
        assert_eq!(split(8, Some(100), Some(20 << 20)), (8, 12, 1));
        assert_eq!(split(8, Some(100), Some(1 << 30)), (1, 1, 8));
        assert_eq!(split(0, None, None), (1, 1, 1));
    }
}
