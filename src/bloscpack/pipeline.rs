//! Pieces through several threads, in order.
//!
//! Each worker takes the next piece from the feed, works on it, waits until all pieces before it are
//! written, and writes its result. So one worker reads while others work and another writes, what is written
//! is the same for any number of workers, and there are never more pieces in memory than workers.
//! The first piece that fails ends everything, and it is always the same one.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Where it stands: which piece may be written.
#[derive(Default)]
struct Turn {
    next: u64,
    stopped: bool,
}

/// The order in which results are written.
#[derive(Default)]
struct Turns {
    turn: Mutex<Turn>,
    changed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A worker that panics stops the others first, and nobody looks at what it left.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// Waits for the turn of a piece; false when there will be none.
    fn wait(&self, piece: u64) -> bool {
        let mut turn = lock(&self.turn);
        while turn.next != piece && !turn.stopped {
            turn = self
                .changed
                .wait(turn)
                .unwrap_or_else(PoisonError::into_inner);
        }
        !turn.stopped
    }

    fn pass_on(&self) {
        lock(&self.turn).next += 1;
        self.changed.notify_all();
    }

    fn stop(&self) {
        lock(&self.turn).stopped = true;
        self.changed.notify_all();
    }

    fn is_stopped(&self) -> bool {
        lock(&self.turn).stopped
    }
}

/// Stops everybody when a worker leaves by a panic.
struct StopOnPanic<'t>(&'t Turns);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

/// What pieces come from.
struct Feed<F> {
    feed: F,
    /// The number of the next piece.
    number: u64,
    ended: bool,
}

/// Runs pieces through at most `workers` threads, that of the caller among them.
///
/// `feed` gives the next piece, or none at the end; `work` makes something of it, with a state of its
/// worker's own; `sink` takes the results in the order of the pieces. Buffers are the worker's, and are
/// handed to each of its pieces again: `feed` and `work` put into their first one what the next needs.
///
/// # Errors
/// The error of the first piece that has one.
pub fn run<P, State, E>(
    workers: usize,
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
    let turns = Turns::default();
    let failure = Mutex::new(None);
    let worker = || {
        let _guard = StopOnPanic(&turns);
        let mut state = State::default();
        let (mut input, mut output) = (Vec::new(), Vec::new());
        loop {
            let (number, piece) = {
                let mut feed = lock(&feed);
                if feed.ended || turns.is_stopped() {
                    return;
                }
                let piece = (feed.feed)(&mut input);
                feed.ended = !matches!(piece, Ok(Some(_)));
                let number = feed.number;
                feed.number += 1;
                (number, piece)
            };
            let piece = match piece {
                Ok(Some(piece)) => Ok(piece),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let worked = piece.and_then(|mut piece| {
                work(&mut state, &mut piece, &input, &mut output)?;
                Ok(piece)
            });
            if !turns.wait(number) {
                return;
            }
            let written = worked.and_then(|piece| (lock(&sink))(piece, &input, &output));
            if let Err(error) = written {
                *lock(&failure) = Some(error);
                turns.stop();
                return;
            }
            turns.pass_on();
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
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
        Spread {
            workers: workers as usize,
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

    /// Squares the numbers below `count`, which are late in turn; fails at `bad`.
    fn squares(workers: usize, count: u64, bad: &[u64]) -> Result<Vec<u64>, u64> {
        let mut numbers = 0..count;
        let mut written = Vec::new();
        run::<u64, (), u64>(
            workers,
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
            assert_eq!(squares(workers, 300, &[]).unwrap(), expected);
        }
        assert_eq!(squares(3, 0, &[]), Ok(vec![]));
    }

    #[test]
    fn the_first_piece_that_fails_is_the_failure() {
        for workers in [1, 2, 7] {
            for _ in 0..20 {
                assert_eq!(squares(workers, 300, &[53, 54, 55, 200]), Err(53));
            }
        }
    }

    #[test]
    fn a_panic_of_a_worker_ends_all_of_them() {
        let mut left = 100;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run::<i32, (), ()>(
                4,
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
            (spread.workers, spread.inside)
        };
        assert_eq!(spread(8, Some(100), Some(1 << 20)), (8, 1));
        assert_eq!(spread(8, Some(1), Some(1 << 20)), (1, 8));
        assert_eq!(spread(8, Some(3), Some(1 << 20)), (3, 3));
        assert_eq!(spread(8, Some(100), Some(1 << 30)), (1, 8));
        assert_eq!(spread(0, None, None), (1, 1));
    }
}
