//! Pieces through several threads, in order.
//!
//! Each worker takes the next piece from the feed, works on it and leaves its result. Whoever leaves the one that is to
//! be written next writes it, and all that are ready behind it; so one worker reads while others work and another
//! writes, nobody waits for his turn, and what is written is the same for any number of workers. There are never more
//! pieces in memory than buffers for them: a worker that finds none sleeps until the writer has got on.
//! The first piece that fails ends everything, and it is always the same one.

use std::collections::VecDeque;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a piece comes from, and what is made of it.
#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

/// What is between the feed and the sink.
struct Belt<P, E> {
    /// Buffers that no piece is in, the last used last.
    free: Vec<Buffers>,
    /// The results from number `written` on that are ready, and gaps for those that are not.
    ready: VecDeque<Option<(Result<P, E>, Buffers)>>,
    /// Pieces that were written, and the one that is being written.
    written: u64,
    /// Whether somebody writes.
    is_writing: bool,
    /// How many sleep until there are buffers.
    sleepers: usize,
    /// Whether no piece is to be taken from the feed any more.
    is_fed: bool,
    stopped: bool,
}

struct Shared<P, E> {
    belt: Mutex<Belt<P, E>>,
    /// There are buffers, or everything has stopped.
    changed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A worker that panics stops the others first, and nobody looks at what it left.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P, E> Shared<P, E> {
    fn new(buffers: usize) -> Shared<P, E> {
        Shared {
            belt: Mutex::new(Belt {
                free: std::iter::repeat_with(Buffers::default)
                    .take(buffers)
                    .collect(),
                ready: VecDeque::new(),
                written: 0,
                is_writing: false,
                sleepers: 0,
                is_fed: false,
                stopped: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits for buffers; none when there is nothing more to do with them.
    fn buffers(&self) -> Option<Buffers> {
        let mut belt = lock(&self.belt);
        loop {
            if belt.is_fed || belt.stopped {
                return None;
            }
            if let Some(buffers) = belt.free.pop() {
                return Some(buffers);
            }
            belt.sleepers += 1;
            belt = self
                .changed
                .wait(belt)
                .unwrap_or_else(PoisonError::into_inner);
            belt.sleepers -= 1;
        }
    }

    /// Leaves the result of a piece. If it is the next one and nobody writes, writes it and all that are ready behind
    /// it.
    ///
    /// # Errors
    /// The first one, whether of a result or of the sink.
    fn leave(
        &self,
        number: u64,
        result: Result<P, E>,
        buffers: Buffers,
        sink: &Mutex<impl FnMut(P, &[u8], &[u8]) -> Result<(), E>>,
    ) -> Result<(), E> {
        let mut belt = lock(&self.belt);
        // Below the number of buffers, as each piece in between has some.
        let place = (number - belt.written) as usize;
        if belt.ready.len() <= place {
            belt.ready.resize_with(place + 1, || None);
        }
        belt.ready[place] = Some((result, buffers));
        if belt.is_writing {
            return Ok(());
        }
        while let Some(Some((result, buffers))) = belt.ready.front_mut().map(Option::take)
            && !belt.stopped
        {
            belt.is_writing = true;
            drop(belt);
            (lock(sink))(result?, &buffers.input, &buffers.output)?;
            belt = lock(&self.belt);
            belt.is_writing = false;
            belt.ready.pop_front();
            belt.written += 1;
            belt.free.push(buffers);
            if belt.sleepers > 0 {
                self.changed.notify_one();
            }
        }
        Ok(())
    }

    /// Says that the feed has ended.
    fn end(&self) {
        lock(&self.belt).is_fed = true;
        self.changed.notify_all();
    }

    fn stop(&self) {
        lock(&self.belt).stopped = true;
        self.changed.notify_all();
    }
}

/// Stops everybody when a worker leaves by a panic.
struct StopOnPanic<'s, P, E>(&'s Shared<P, E>);

impl<P, E> Drop for StopOnPanic<'_, P, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// What pieces come from, and the number of the next one.
struct Feed<F> {
    feed: F,
    number: u64,
    ended: bool,
}

/// Runs pieces through threads, that of the caller among them.
///
/// `feed` gives the next piece, or none at the end; `work` makes something of it, with a state of its
/// worker's own; `sink` takes the results in the order of the pieces. Buffers are handed to piece after piece as the
/// one before left them: `feed` and `work` put into their first one what the next needs.
///
/// # Errors
/// The error of the first piece that has one.
pub fn run<P, State, E>(
    spread: Spread,
    feed: impl FnMut(&mut Vec<u8>) -> Result<Option<P>, E> + Send,
    work: impl Fn(&mut State, &mut P, &[u8], &mut Vec<u8>) -> Result<(), E> + Sync,
    sink: impl FnMut(P, &[u8], &[u8]) -> Result<(), E> + Send,
) -> Result<(), E>
where
    P: Send,
    State: Default,
    E: Send,
{
    let feed = Mutex::new(Feed {
        feed,
        number: 0,
        ended: false,
    });
    let sink = Mutex::new(sink);
    let shared = Shared::new(spread.buffers);
    let failure = Mutex::new(None);
    let worker = || {
        let _guard = StopOnPanic(&shared);
        let mut state = State::default();
        while let Some(mut buffers) = shared.buffers() {
            let (number, piece) = {
                let mut feed = lock(&feed);
                if feed.ended {
                    break;
                }
                let piece = (feed.feed)(&mut buffers.input);
                feed.ended = !matches!(piece, Ok(Some(_)));
                let number = feed.number;
                feed.number += 1;
                (number, piece)
            };
            let piece = match piece {
                Ok(Some(piece)) => Ok(piece),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            let worked = piece.and_then(|mut piece| {
                work(&mut state, &mut piece, &buffers.input, &mut buffers.output)?;
                Ok(piece)
            });
            if let Err(error) = shared.leave(number, worked, buffers, &sink) {
                *lock(&failure) = Some(error);
                shared.stop();
                break;
            }
        }
        shared.end();
    };
    std::thread::scope(|scope| {
        for _ in 1..spread.workers {
            let name = std::thread::Builder::new().name("bloscpack".into());
            // With fewer threads it goes on, too.
            if name.spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Bytes of pieces in memory at once, about; larger pieces are worked on by fewer workers.
const MEMORY: u64 = 512 << 20;

/// How threads are spread: over pieces, and over the blocks of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Workers.
    pub workers: usize,
    /// Pieces in memory at once, at least one for each worker.
    pub buffers: usize,
    /// Threads in the work on each piece.
    pub inside: i32,
}

impl Spread {
    /// Spreads `nthreads` over `pieces` of `size` bytes each; either may be unknown.
    pub fn new(nthreads: usize, pieces: Option<u64>, size: Option<u32>) -> Spread {
        let nthreads = nthreads.clamp(1, 256) as u64;
        let by_memory = MEMORY / (2 * u64::from(size.unwrap_or(1)).max(1));
        let workers = nthreads
            .min(pieces.unwrap_or(nthreads))
            .min(by_memory)
            .max(1);
        // Who has nobody to wait for needs no more than one.
        let buffers = match workers {
            1 => 1,
            _ => (2 * workers).min(by_memory),
        };
        Spread {
            workers: workers as usize,
            buffers: buffers as usize,
            inside: nthreads.div_ceil(workers) as i32,
        }
    }
}

/// How much a piece grows at once when it is not known whether it will be filled.
const STEP: usize = 1 << 20;

/// Reads until `piece` holds `len` bytes or there are no more. A piece that was as long before is not touched
/// but by what is read; a longer one grows only as its bytes arrive.
pub fn fill(reader: &mut impl io::Read, len: usize, piece: &mut Vec<u8>) -> io::Result<()> {
    piece.truncate(len);
    let mut filled = 0;
    while filled < len {
        if filled == piece.len() {
            let longer = len.min(filled + filled.max(STEP));
            piece
                .try_reserve_exact(longer - filled)
                .map_err(|_| io::ErrorKind::OutOfMemory)?;
            piece.resize(longer, 0);
        }
        match reader.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    piece.truncate(filled);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many workers, with some buffers more.
    fn spread(workers: usize, more: usize) -> Spread {
        Spread {
            workers,
            buffers: workers + more,
            inside: 1,
        }
    }

    /// Squares the numbers below `count`, which are late in turn; fails at `bad`.
    fn squares(spread: Spread, count: u64, bad: &[u64]) -> Result<Vec<u64>, u64> {
        let mut numbers = 0..count;
        let mut written = Vec::new();
        run::<u64, (), u64>(
            spread,
            |input| {
                input.clear();
                Ok(numbers.next())
            },
            |_, &mut number, _, output| {
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
    fn results_come_in_the_order_of_the_pieces() {
        let expected: Vec<u64> = (0..300).map(|number| number * number).collect();
        for workers in [1, 2, 7] {
            for more in [0, 1, 9] {
                let spread = spread(workers, more);
                assert_eq!(squares(spread, 300, &[]).unwrap(), expected);
                assert_eq!(squares(spread, 0, &[]), Ok(vec![]));
            }
        }
    }

    #[test]
    fn the_first_piece_that_fails_is_the_failure() {
        for workers in [1, 2, 7] {
            for _ in 0..20 {
                let bad = [53, 54, 55, 200];
                assert_eq!(squares(spread(workers, workers), 300, &bad), Err(53));
            }
        }
    }

    #[test]
    fn a_panic_of_a_worker_ends_all_of_them() {
        let mut left = 100;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run::<i32, (), ()>(
                spread(4, 4),
                |_| {
                    left -= 1;
                    Ok(Some(left).filter(|&left| left > 0))
                },
                |_, &mut number, _, _| {
                    assert_ne!(number, 50, "on purpose");
                    Ok(())
                },
                |_, _, _| Ok(()),
            )
        }));
        assert!(result.is_err());
    }

    #[test]
    fn a_piece_grows_only_as_its_bytes_arrive() {
        let mut piece = Vec::new();
        fill(&mut &[7; 10][..], usize::MAX, &mut piece).unwrap();
        assert_eq!(piece, [7; 10]);
        assert!(piece.capacity() <= 2 * STEP);
        fill(&mut io::repeat(8), 3 * STEP + 1, &mut piece).unwrap();
        assert!(piece.len() == 3 * STEP + 1 && piece.iter().all(|&byte| byte == 8));
        fill(&mut &[9; 10][..], 4, &mut piece).unwrap();
        assert_eq!(piece, [9; 4]);
    }

    #[test]
    fn threads_go_to_pieces_first_and_then_into_them() {
        let spread = |threads, pieces, size| {
            let spread = Spread::new(threads, pieces, size);
            (spread.workers, spread.buffers, spread.inside)
        };
        assert_eq!(spread(8, Some(100), Some(1 << 20)), (8, 16, 1));
        assert_eq!(spread(8, Some(1), Some(1 << 20)), (1, 1, 8));
        assert_eq!(spread(8, Some(3), Some(1 << 20)), (3, 6, 3));
        assert_eq!(spread(8, Some(100), Some(20 << 20)), (8, 12, 1));
        assert_eq!(spread(8, Some(100), Some(1 << 30)), (1, 1, 8));
        assert_eq!(spread(0, None, None), (1, 1, 1));
    }
}
