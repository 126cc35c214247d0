//! Blocks that several threads encode, put into the chunk in the order of their numbers.
//!
//! Threads take the blocks in order. Whoever takes the one that comes next in the chunk encodes it where it
//! belongs. Any other is encoded *ahead*, into a buffer, which waits for its turn if need be and is then copied,
//! by whichever thread comes by. There are at most [`BUFFERS_PER_THREAD`] buffers for each thread at work but one, and a
//! block is begun only with a place or a buffer for it: that bounds the memory, however long a block takes or
//! its thread is held up.
//!
//! No thread ever waits for another here, as shares of a run must not (a user's threads may be fewer than the
//! jobs, or one may have begun a job inside another, from a callback). A thread that finds no buffer leaves, the
//! others leave when they are done with what they have begun, and then the next round begins: another run of
//! the pool. What makes this go on:
//!
//! - While a block waits, the next one is in work: it was taken before, and once it is encoded it is placed, and
//!   all that wait behind it.
//! - So when all threads have left, each block that was begun is in the chunk, and nothing waits.
//! - In each round a block is placed: the first one taken is the next, and it needs no buffer. A thread that
//!   is alone always has the next.
//!
//! A thread that dies of a panic, or that a forked child lacks, keeps its block for ever. Then the others run out of
//! buffers and leave, and the run ends as the pool says.

use std::sync::{Mutex, MutexGuard, PoisonError};

use memmap2::MmapMut;

use super::block_encoder::{BlockEncoder, Encoded};
use super::view::WORD;
use super::worker::Worker;
use super::worker_cache::Staff;
use crate::{Error, Result, pool};

/// How many blocks a thread may be ahead, the one it works on among them. One thread of all has the next block, and needs no
/// buffer.
const BUFFERS_PER_THREAD: usize = 2;

/// Most bytes of buffers that are kept when nobody is left who they serve, those that were never reached among them.
const MAX_SPARE_BYTES: usize = 2 << 20;

/// Where a block begins in a buffer. Large buffers begin at the same place of a page, and what is copied from one to
/// another as it is would be read at the addresses, but for the page, that have just been written to, which
/// processors take for the same at first.
const SKEW: usize = 2048;

/// The chunk in the making.
pub(super) struct Output<'d> {
    /// The table of block starts.
    starts: &'d mut [u8],
    /// Where the next block begins in the chunk, and the destination from there on.
    position: usize,
    rest: &'d mut [u8],
    /// The next block.
    next: usize,
    /// Whether all blocks so far are runs of zeros.
    all_zero: bool,
}

/// Room for a block in its worst case, once it was needed: pages of the system's. The worst case is hardly ever met, and
/// pages that no block reaches are never there; `calloc` would clear those it takes from the heap.
type Buffer = Option<MmapMut>;

/// What is kept of it from one compression to the next.
#[derive(Default)]
pub(super) struct Buffers {
    idle: Vec<Buffer>,
    waiting: Vec<Waiting>,
}

/// An encoded block whose turn has not come. A failure has its turn too: it does not count when the
/// destination ends before it.
struct Waiting {
    nblock: usize,
    buffer: Buffer,
    encoded: Result<Option<Encoded>>,
}

/// What all threads of a round share.
struct Line<'a, 'd> {
    encoder: &'a BlockEncoder<'a>,
    buffers: &'a mut Buffers,
    output: Output<'d>,
    /// The first block that nobody has begun, and the first that nobody shall begin.
    untaken: usize,
    end: usize,
    /// Threads that have come in this round.
    threads: usize,
    /// Buffers that are not idle.
    lent: usize,
    /// Whether the threads shall leave before the end, because one has left.
    is_ending: bool,
    state: State,
}

enum State {
    Running,
    /// The destination may be too small for the next block in its worst case.
    Short,
    Failed(Error),
}

/// What a thread does next.
enum Task<'d> {
    /// Encode the next block of the chunk, where it belongs.
    InPlace {
        nblock: usize,
        rest: &'d mut [u8],
    },
    /// Encode a block whose place is not known yet.
    Ahead {
        nblock: usize,
        buffer: Buffer,
    },
    /// Copy what waited.
    Copy {
        buffer: Buffer,
        place: &'d mut [u8],
    },
    Leave,
}

impl<'d> Output<'d> {
    /// A chunk whose blocks begin at `position`, where `rest` lies.
    pub fn new(starts: &'d mut [u8], position: usize, rest: &'d mut [u8]) -> Output<'d> {
        Output {
            starts,
            position,
            rest,
            next: 0,
            all_zero: true,
        }
    }

    /// Where the chunk ends so far, and whether its blocks are runs of zeros.
    pub fn end(&self) -> (usize, bool) {
        (self.position, self.all_zero)
    }

    /// Encodes what is left, one block after another; false when one does not fit.
    pub fn encode(
        &mut self,
        encoder: &BlockEncoder<'_>,
        nblocks: usize,
        staff: &mut Staff,
    ) -> Result<bool> {
        while self.next < nblocks {
            let Some(encoded) = encoder.encode(staff.own(), self.next, 0, self.rest)? else {
                return Ok(false);
            };
            self.take_place(encoded);
        }
        Ok(true)
    }

    /// Encodes in up to `nthreads` threads, until all is done or the destination gets short.
    pub fn encode_in_threads(
        self,
        encoder: &BlockEncoder<'_>,
        nblocks: usize,
        nthreads: usize,
        staff: &mut Staff,
    ) -> Result<Output<'d>> {
        let (workers, buffers) = staff.of_all_with_buffers();
        buffers.recall();
        let mut line = Mutex::new(Line {
            encoder,
            buffers,
            untaken: self.next,
            end: nblocks,
            output: self,
            threads: 0,
            lent: 0,
            is_ending: false,
            state: State::Running,
        });
        while inner(&mut line).begins_round() {
            pool::run(nthreads, &|tid| {
                let mut worker = workers.take(tid);
                serve(&line, encoder, &mut worker, tid);
                workers.put(tid, worker);
            });
        }
        let line = line.into_inner().unwrap_or_else(PoisonError::into_inner);
        match line.state {
            State::Failed(error) => Err(error),
            State::Running | State::Short => Ok(line.output),
        }
    }

    /// Gives the next block its place.
    fn take_place(&mut self, encoded: Encoded) -> &'d mut [u8] {
        let entry = WORD * self.next;
        self.starts[entry..entry + WORD].copy_from_slice(&(self.position as i32).to_le_bytes());
        self.next += 1;
        self.position += encoded.len;
        self.all_zero &= encoded.all_zero;
        let (place, rest) = std::mem::take(&mut self.rest).split_at_mut(encoded.len);
        self.rest = rest;
        place
    }
}

impl Buffers {
    /// Takes back what the last compression left behind when it ended early.
    fn recall(&mut self) {
        let left = self.waiting.drain(..).map(|waiting| waiting.buffer);
        self.idle.extend(left);
    }

    /// Gives up what should not be held for nobody.
    pub fn make_spare(&mut self) {
        self.recall();
        let mut held = 0;
        self.idle.retain(|buffer| {
            buffer.as_ref().is_some_and(|pages| {
                held += pages.len();
                held <= MAX_SPARE_BYTES
            })
        });
    }
}

fn inner<'a, 'b, 'd>(line: &'b mut Mutex<Line<'a, 'd>>) -> &'b mut Line<'a, 'd> {
    line.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// The first `len` bytes of a buffer, after replacing it when it is shorter.
fn long_enough(buffer: &mut Buffer, len: usize) -> Result<&mut [u8]> {
    drop(buffer.take_if(|pages| pages.len() < SKEW + len));
    let pages = match buffer {
        Some(pages) => pages,
        none => none.insert(
            MmapMut::map_anon(SKEW + len)
                .map_err(|error| Error::MemoryAlloc.of_bytes(SKEW + len).os(error))?,
        ),
    };
    Ok(&mut pages[SKEW..SKEW + len])
}

/// What [`long_enough`] gave room for.
fn held(buffer: &Buffer, len: usize) -> &[u8] {
    let pages = buffer.as_deref().unwrap_or_default();
    &pages[SKEW..SKEW + len]
}

/// What a thread does in a round.
fn serve(line: &Mutex<Line<'_, '_>>, encoder: &BlockEncoder<'_>, worker: &mut Worker, tid: usize) {
    let lock = || -> MutexGuard<'_, _> { line.lock().unwrap_or_else(PoisonError::into_inner) };
    let mut task = lock().come();
    loop {
        task = match task {
            Task::InPlace { nblock, rest } => {
                let encoded = encoder.encode(worker, nblock, tid, rest);
                lock().is_in_place(rest, encoded)
            }
            Task::Ahead { nblock, mut buffer } => {
                let encoded = long_enough(&mut buffer, encoder.worst_case(nblock))
                    .and_then(|room| encoder.encode(worker, nblock, tid, room));
                lock().is_ahead(Waiting {
                    nblock,
                    buffer,
                    encoded,
                })
            }
            Task::Copy { buffer, place } => {
                place.copy_from_slice(held(&buffer, place.len()));
                lock().is_copied(buffer)
            }
            Task::Leave => return,
        }
    }
}

impl<'d> Line<'_, 'd> {
    /// Whether there is anything left to do for threads; if so, they may come.
    fn begins_round(&mut self) -> bool {
        self.threads = 0;
        self.is_ending = false;
        matches!(self.state, State::Running) && self.output.next < self.end
    }

    /// A thread comes.
    fn come(&mut self) -> Task<'d> {
        self.threads += 1;
        self.next_task()
    }

    /// The next block has been encoded where it belongs.
    fn is_in_place(&mut self, rest: &'d mut [u8], encoded: Result<Option<Encoded>>) -> Task<'d> {
        self.output.rest = rest;
        if let Some(encoded) = self.judge(encoded) {
            self.output.take_place(encoded);
        }
        self.next_task()
    }

    /// A block has been encoded into a buffer.
    fn is_ahead(&mut self, block: Waiting) -> Task<'d> {
        if block.encoded.is_err() {
            // What is behind it is not needed.
            self.end = self.end.min(block.nblock + 1);
        }
        self.buffers.waiting.push(block);
        self.next_task()
    }

    /// A block has been copied from a buffer to its place.
    fn is_copied(&mut self, buffer: Buffer) -> Task<'d> {
        self.give_back(buffer);
        self.next_task()
    }

    fn next_task(&mut self) -> Task<'d> {
        let next = self.output.next;
        let waiting = &mut self.buffers.waiting;
        let its_turn = waiting.iter().position(|block| block.nblock == next);
        let is_untaken = self.untaken == next && self.untaken < self.end && !self.is_ending;
        if !matches!(self.state, State::Running) {
            return Task::Leave;
        }
        // The same condition as if one thread had come here: each stream has all the room it needs.
        if (its_turn.is_some() || is_untaken)
            && self.output.rest.len() < self.encoder.worst_case(next)
        {
            self.state = State::Short;
            return Task::Leave;
        }
        if let Some(at) = its_turn {
            let Waiting {
                buffer, encoded, ..
            } = self.buffers.waiting.swap_remove(at);
            return match self.judge(encoded) {
                Some(encoded) => Task::Copy {
                    buffer,
                    place: self.output.take_place(encoded),
                },
                None => {
                    self.give_back(buffer);
                    Task::Leave
                }
            };
        }
        if is_untaken {
            return Task::InPlace {
                nblock: self.take(),
                rest: std::mem::take(&mut self.output.rest),
            };
        }
        if self.untaken >= self.end || self.is_ending {
            return Task::Leave;
        }
        if self.lent == BUFFERS_PER_THREAD * (self.threads - 1) {
            self.is_ending = true;
            return Task::Leave;
        }
        self.lent += 1;
        Task::Ahead {
            nblock: self.take(),
            buffer: self.buffers.idle.pop().unwrap_or_default(),
        }
    }

    fn take(&mut self) -> usize {
        self.untaken += 1;
        self.untaken - 1
    }

    fn give_back(&mut self, buffer: Buffer) {
        self.lent -= 1;
        self.buffers.idle.push(buffer);
    }

    /// What became of the next block; all ends when it is none.
    fn judge(&mut self, encoded: Result<Option<Encoded>>) -> Option<Encoded> {
        match encoded {
            Ok(Some(encoded)) => return Some(encoded),
            Ok(None) => self.state = State::Short,
            Err(error) => self.state = State::Failed(error),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_encoder::{CodecChoice, Source};
    use super::super::params::{CParams, HeaderForm};
    use super::*;
    use crate::codec;
    use crate::filter::Pipeline;

    const BLOCK: usize = 100;
    const BLOCKS: usize = 20;

    /// Calls `test` with a line of 20 blocks that nobody has begun, and twice the room they need.
    fn with_line(buffers: &mut Buffers, test: impl FnOnce(&mut Line<'_, '_>)) {
        let params = CParams::default();
        let data = [0; BLOCK * BLOCKS];
        let encoder = BlockEncoder {
            params: &params,
            source: Source::Bytes(&data),
            typesize: 1,
            blocksize: BLOCK,
            nbytes: data.len(),
            split: false,
            runs: true,
            pipeline: Pipeline::default(),
            choice: CodecChoice::of(codec::id::LZ4.into(), HeaderForm::Extended),
            dictionary: None,
            reference: None,
        };
        let mut starts = [0; WORD * BLOCKS];
        let mut dest = [0; 2 * BLOCK * BLOCKS];
        let mut line = Line {
            encoder: &encoder,
            buffers,
            output: Output::new(&mut starts, 0, &mut dest),
            untaken: 0,
            end: BLOCKS,
            threads: 0,
            lent: 0,
            is_ending: false,
            state: State::Running,
        };
        assert!(line.begins_round());
        test(&mut line);
    }

    fn encoded(len: usize) -> Result<Option<Encoded>> {
        let all_zero = false;
        Ok(Some(Encoded { len, all_zero }))
    }

    /// Takes the next block, which must be `nblock` and have its place.
    fn in_place<'d>(task: Task<'d>, nblock: usize) -> &'d mut [u8] {
        match task {
            Task::InPlace { nblock: n, rest } if n == nblock => rest,
            _ => panic!("block {nblock} is not begun where it belongs"),
        }
    }

    /// Encodes block `nblock`, which must be begun ahead.
    fn ahead(task: Task<'_>, nblock: usize, encoded: Result<Option<Encoded>>) -> Waiting {
        match task {
            Task::Ahead { nblock: n, buffer } if n == nblock => Waiting {
                nblock,
                buffer,
                encoded,
            },
            _ => panic!("block {nblock} is not begun ahead"),
        }
    }

    fn copied(task: Task<'_>, len: usize) -> Buffer {
        match task {
            Task::Copy { buffer, place } if place.len() == len => buffer,
            _ => panic!("a block of {len} bytes is not copied"),
        }
    }

    #[test]
    fn a_thread_alone_puts_all_blocks_where_they_belong() {
        let mut buffers = Buffers::default();
        with_line(&mut buffers, |line| {
            let mut task = line.come();
            for nblock in 0..BLOCKS {
                let rest = in_place(task, nblock);
                assert_eq!(rest.len(), 2 * BLOCK * BLOCKS - 7 * nblock);
                task = line.is_in_place(rest, encoded(7));
            }
            assert!(matches!(task, Task::Leave));
            assert!(!line.begins_round());
            assert_eq!(line.output.end(), (7 * BLOCKS, false));
        });
        assert!(buffers.idle.is_empty());
    }

    #[test]
    fn threads_leave_without_a_buffer_and_come_again_when_all_is_in_place() {
        let mut buffers = Buffers::default();
        with_line(&mut buffers, |line| {
            let slow = line.come();
            let mut quick = line.come();
            let bound = BUFFERS_PER_THREAD;
            for nblock in 1..=bound {
                quick = line.is_ahead(ahead(quick, nblock, encoded(nblock)));
            }
            assert!(matches!(quick, Task::Leave));
            let mut slow = line.is_in_place(in_place(slow, 0), encoded(50));
            for len in 1..=bound {
                slow = line.is_copied(copied(slow, len));
            }
            assert!(matches!(slow, Task::Leave), "so that both can come again");
            assert_eq!((line.output.next, line.lent), (1 + bound, 0));
            assert!(line.buffers.waiting.is_empty() && line.begins_round());
            in_place(line.come(), 1 + bound);
            ahead(line.come(), 2 + bound, encoded(1));
        });
        assert_eq!(buffers.idle.len(), BUFFERS_PER_THREAD - 1);
    }

    #[test]
    fn another_thread_goes_on_while_blocks_are_copied() {
        with_line(&mut Buffers::default(), |line| {
            let first = line.come();
            let second = line.come();
            let third = line.is_ahead(ahead(second, 1, encoded(11)));
            let copy = line.is_in_place(in_place(first, 0), encoded(10));
            let copy = copied(copy, 11);
            let fourth = line.is_ahead(ahead(third, 2, encoded(12)));
            let fourth = line.is_copied(copied(fourth, 12));
            in_place(fourth, 3);
            ahead(line.is_copied(copy), 4, encoded(1));
        });
    }

    #[test]
    fn a_failure_waits_for_its_turn_and_nothing_behind_it_is_begun() {
        let mut buffers = Buffers::default();
        with_line(&mut buffers, |line| {
            let first = line.come();
            let second = line.come();
            let failed = ahead(second, 1, Err(Error::Data));
            assert!(matches!(line.is_ahead(failed), Task::Leave));
            assert!(matches!(line.state, State::Running));
            let last = line.is_in_place(in_place(first, 0), encoded(10));
            assert!(matches!(last, Task::Leave));
            assert!(matches!(line.state, State::Failed(ref error) if *error == Error::Data));
            assert!(!line.begins_round());
        });
    }

    #[test]
    fn what_a_short_destination_leaves_waiting_is_kept_for_the_next_chunk() {
        let mut buffers = Buffers::default();
        with_line(&mut buffers, |line| {
            let first = line.come();
            let second = line.come();
            let third = line.is_ahead(ahead(second, 1, encoded(BLOCK)));
            let third = ahead(third, 2, encoded(BLOCK));
            let last = line.is_in_place(in_place(first, 0), encoded(2 * BLOCK * BLOCKS - 50));
            assert!(matches!(last, Task::Leave));
            assert!(matches!(line.is_ahead(third), Task::Leave));
            assert!(!line.begins_round());
            assert_eq!(line.output.next, 1);
        });
        assert!(buffers.idle.is_empty());
        buffers.recall();
        assert_eq!((buffers.idle.len(), buffers.waiting.len()), (2, 0));
    }

    #[test]
    fn only_so_many_bytes_are_kept_for_nobody() {
        let mut buffers = Buffers::default();
        for len in [MAX_SPARE_BYTES / 2 - SKEW, MAX_SPARE_BYTES / 2 - SKEW, 1000] {
            let mut buffer = None;
            long_enough(&mut buffer, len).unwrap();
            buffers.idle.push(buffer);
        }
        buffers.waiting.push(Waiting {
            nblock: 1,
            buffer: None,
            encoded: encoded(1),
        });
        buffers.make_spare();
        assert_eq!((buffers.idle.len(), buffers.waiting.len()), (2, 0));
    }

    #[test]
    fn a_buffer_is_replaced_only_when_it_is_too_short() {
        let mut buffer = None;
        long_enough(&mut buffer, 1000).unwrap().fill(7);
        assert_eq!(long_enough(&mut buffer, 10).unwrap(), [7; 10]);
        assert_eq!(held(&buffer, 1000), [7; 1000]);
        assert_eq!(long_enough(&mut buffer, 1 << 20).unwrap().len(), 1 << 20);
        assert_eq!(held(&buffer, 1000), [0; 1000]);
    }
}
