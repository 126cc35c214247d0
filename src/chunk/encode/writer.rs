//! The blocks of a chunk, written in block order.
//!
//! One thread encodes blocks straight into the destination. Several threads claim blocks in order.
//! The thread that claims the next block of the chunk encodes it in place. Every other block is
//! encoded into a buffer, stays pending until its turn, and is then copied into the chunk by any
//! free thread. There are at most [`BUFFERS_PER_THREAD`] buffers for each thread but one, and a
//! thread claims a block only with a destination or a buffer for it. This bounds the memory even if
//! one block is slow or its thread is suspended.
//!
//! No thread ever waits for another, because the shares of a run must not block: a user's thread
//! pool may have fewer threads than there are jobs, and a callback may start a nested job. A thread
//! that finds no free buffer leaves, the others leave after finishing their claimed blocks, and the
//! next round (another run of the pool) starts. Progress is guaranteed:
//!
//! - While a block is pending, the next block of the chunk is being encoded: it was claimed
//!   earlier. Once it is encoded, it and all pending blocks that follow it are written.
//! - Therefore, when all threads have left, every claimed block is in the chunk and none is
//!   pending.
//! - Every round writes a block: the first block it claims is the next one, which needs no buffer.
//!   A single thread always has the next block.
//!
//! Once the destination may be too small for a block, the output limit of its encoder depends on
//! the preceding blocks. From this block on, one thread encodes all blocks, so the bytes of a chunk
//! do not depend on the number of threads.
//!
//! A thread that panics, or that is missing in a forked child, never returns its block. The others
//! then run out of buffers and leave, and the pool reports how the run ended.

use std::sync::PoisonError;

use super::block::BlockEncoder;
use crate::chunk::format::limits::WORD;
use crate::chunk::worker::buffers::{Buffer, BufferedBlock, Buffers, Encoded};
use crate::chunk::worker::cache::{WorkerCache, home_slot};
use crate::chunk::worker::state::Worker;
use crate::codec::Dictionary;
use crate::pool::sync::{Mutex, MutexGuard};
use crate::{Error, Result, kernels, pool};

/// The maximum number of buffered blocks per thread, the one being encoded included. One of the
/// threads has the next block and needs no buffer.
const BUFFERS_PER_THREAD: usize = 2;

/// Writes the tables and the blocks of a chunk to `dest`, after a header of `header_len` bytes.
/// Returns the end of the chunk, or `None` if it does not fit.
pub(super) fn write_blocks(
    encoder: &BlockEncoder<'_>,
    header_len: usize,
    workers: &mut WorkerCache,
    dest: &mut [u8],
) -> Result<Option<Encoded>> {
    let dictionary = encoder.dictionary.as_ref().map(Dictionary::bytes);
    let table_end = header_len + WORD * encoder.nblocks;
    let position = table_end + dictionary.map_or(0, |bytes| WORD + bytes.len());
    if position > dest.len() {
        return Ok(None);
    }
    let (front, rest) = dest.split_at_mut(position);
    if let Some(bytes) = dictionary {
        let (size, area) = front[table_end..].split_at_mut(WORD);
        size.copy_from_slice(&(bytes.len() as i32).to_le_bytes());
        area.copy_from_slice(bytes);
    }
    let mut output = Output {
        starts: &mut front[header_len..table_end],
        position,
        rest,
        next: 0,
        all_zero: true,
    };
    let nthreads = usize::try_from(encoder.params.nthreads).unwrap_or(1);
    if nthreads > 1 && encoder.nbytes / encoder.blocksize > 1 {
        output = write_in_threads(encoder, nthreads, workers, output)?;
    }
    while output.next < encoder.nblocks {
        let Some(encoded) = encoder.encode(workers.own(), output.next, 0, output.rest)? else {
            return Ok(None);
        };
        output.reserve(encoded);
    }
    Ok(Some(Encoded { len: output.position, all_zero: output.all_zero }))
}

/// The chunk under construction.
struct Output<'d> {
    /// The table of block starts.
    starts: &'d mut [u8],
    /// The offset of the next block in the chunk, and the destination from there on.
    position: usize,
    rest: &'d mut [u8],
    /// The index of the next block.
    next: usize,
    /// Whether all blocks so far are runs of zeros.
    all_zero: bool,
}

impl<'d> Output<'d> {
    /// Records the start of the next block and returns its destination.
    fn reserve(&mut self, encoded: Encoded) -> &'d mut [u8] {
        let entry = WORD * self.next;
        self.starts[entry..entry + WORD].copy_from_slice(&(self.position as i32).to_le_bytes());
        self.next += 1;
        self.position += encoded.len;
        self.all_zero &= encoded.all_zero;
        let (dest, rest) = std::mem::take(&mut self.rest).split_at_mut(encoded.len);
        self.rest = rest;
        dest
    }
}

/// Writes blocks with up to `nthreads` threads until all are written or the destination may be too
/// small.
fn write_in_threads<'d>(
    encoder: &BlockEncoder<'_>,
    nthreads: usize,
    workers: &mut WorkerCache,
    output: Output<'d>,
) -> Result<Output<'d>> {
    let (workers, buffers) = workers.shared_with_buffers();
    buffers.reclaim();
    let mut writer = Mutex::new(OrderedWriter {
        encoder,
        buffers,
        next_unclaimed: output.next,
        end: encoder.nblocks,
        output,
        threads: 0,
        buffers_in_use: 0,
        is_draining: false,
        state: State::Running,
    });
    while writer.get_mut().unwrap_or_else(PoisonError::into_inner).start_round() {
        pool::run(nthreads, &|tid| {
            let home = home_slot();
            let mut worker = workers.take(home);
            run_worker(&writer, encoder, &mut worker, tid);
            workers.put(home, worker);
        });
    }
    let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
    match writer.state {
        State::Failed(error) => Err(error),
        State::Running | State::OutOfSpace => Ok(writer.output),
    }
}

/// The state that the threads of a round share.
struct OrderedWriter<'a, 'd> {
    encoder: &'a BlockEncoder<'a>,
    buffers: &'a mut Buffers,
    output: Output<'d>,
    /// The first unclaimed block, and the end of the blocks to claim.
    next_unclaimed: usize,
    end: usize,
    /// The number of threads that have joined this round.
    threads: usize,
    /// The number of buffers that are not idle.
    buffers_in_use: usize,
    /// Whether the threads must leave early, because one found no buffer.
    is_draining: bool,
    state: State,
}

enum State {
    Running,
    /// The destination may be too small for the next block at its maximum encoded length.
    OutOfSpace,
    Failed(Error),
}

/// The next step of a thread.
enum Task<'d> {
    /// Encode the next block of the chunk in place.
    InPlace {
        nblock: usize,
        rest: &'d mut [u8],
    },
    /// Encode a block whose offset is not known yet into a buffer.
    Buffered {
        nblock: usize,
        buffer: Buffer,
    },
    /// Copy a buffered block into the chunk.
    Copy {
        buffer: Buffer,
        dest: &'d mut [u8],
    },
    Leave,
}

/// Runs one thread of a round.
fn run_worker(
    writer: &Mutex<OrderedWriter<'_, '_>>,
    encoder: &BlockEncoder<'_>,
    worker: &mut Worker,
    tid: usize,
) {
    let lock = || -> MutexGuard<'_, _> { writer.lock().unwrap_or_else(PoisonError::into_inner) };
    let mut task = lock().join();
    loop {
        task = match task {
            Task::InPlace { nblock, rest } => {
                let encoded = encoder.encode(worker, nblock, tid, rest);
                lock().on_encoded_in_place(rest, encoded)
            }
            Task::Buffered { nblock, mut buffer } => {
                let encoded = buffer
                    .grown(encoder.max_encoded_len(nblock))
                    .and_then(|dest| encoder.encode(worker, nblock, tid, dest));
                lock().on_buffered(BufferedBlock { nblock, buffer, encoded })
            }
            Task::Copy { buffer, dest } => {
                kernels::copy::copy(buffer.bytes(dest.len()), dest);
                lock().on_copied(buffer)
            }
            Task::Leave => return,
        }
    }
}

impl<'d> OrderedWriter<'_, 'd> {
    /// Starts a round if blocks remain; otherwise returns false.
    fn start_round(&mut self) -> bool {
        self.threads = 0;
        self.is_draining = false;
        matches!(self.state, State::Running) && self.output.next < self.end
    }

    /// Registers a thread and returns its first task.
    fn join(&mut self) -> Task<'d> {
        self.threads += 1;
        self.next_task()
    }

    /// Accepts the next block, which was encoded in place.
    fn on_encoded_in_place(
        &mut self,
        rest: &'d mut [u8],
        encoded: Result<Option<Encoded>>,
    ) -> Task<'d> {
        self.output.rest = rest;
        if let Some(encoded) = self.accept(encoded) {
            self.output.reserve(encoded);
        }
        self.next_task()
    }

    /// Accepts a block that was encoded into a buffer.
    fn on_buffered(&mut self, block: BufferedBlock) -> Task<'d> {
        if block.encoded.is_err() {
            // Later blocks are not needed.
            self.end = self.end.min(block.nblock + 1);
        }
        self.buffers.pending.push(block);
        self.next_task()
    }

    /// Accepts the buffer of a block that has been copied into the chunk.
    fn on_copied(&mut self, buffer: Buffer) -> Task<'d> {
        self.return_buffer(buffer);
        self.next_task()
    }

    fn next_task(&mut self) -> Task<'d> {
        let next = self.output.next;
        let pending = &self.buffers.pending;
        let ready = pending.iter().position(|block| block.nblock == next);
        let next_is_unclaimed =
            self.next_unclaimed == next && self.next_unclaimed < self.end && !self.is_draining;
        if !matches!(self.state, State::Running) {
            return Task::Leave;
        }
        // Each stream must have all the space it may need, so that its bytes do not depend on the
        // number of threads.
        if (ready.is_some() || next_is_unclaimed)
            && self.output.rest.len() < self.encoder.max_encoded_len(next)
        {
            self.state = State::OutOfSpace;
            return Task::Leave;
        }
        if let Some(at) = ready {
            let BufferedBlock { buffer, encoded, .. } = self.buffers.pending.swap_remove(at);
            return match self.accept(encoded) {
                Some(encoded) => Task::Copy { buffer, dest: self.output.reserve(encoded) },
                None => {
                    self.return_buffer(buffer);
                    Task::Leave
                }
            };
        }
        if next_is_unclaimed {
            return Task::InPlace {
                nblock: self.claim(),
                rest: std::mem::take(&mut self.output.rest),
            };
        }
        if self.next_unclaimed >= self.end || self.is_draining {
            return Task::Leave;
        }
        if self.buffers_in_use == BUFFERS_PER_THREAD * (self.threads - 1) {
            self.is_draining = true;
            return Task::Leave;
        }
        self.buffers_in_use += 1;
        Task::Buffered { nblock: self.claim(), buffer: self.buffers.idle.pop().unwrap_or_default() }
    }

    fn claim(&mut self) -> usize {
        self.next_unclaimed += 1;
        self.next_unclaimed - 1
    }

    fn return_buffer(&mut self, buffer: Buffer) {
        self.buffers_in_use -= 1;
        self.buffers.idle.push(buffer);
    }

    /// Returns the next block's encoding, or ends the encoding if it failed or did not fit.
    fn accept(&mut self, encoded: Result<Option<Encoded>>) -> Option<Encoded> {
        match encoded {
            Ok(Some(encoded)) => return Some(encoded),
            Ok(None) => self.state = State::OutOfSpace,
            Err(error) => self.state = State::Failed(error),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::{CodecSelection, Source};
    use super::*;
    use crate::chunk::params::{CParams, HeaderForm};
    use crate::codec;
    use crate::filter::Pipeline;

    const BLOCK: usize = 100;
    const BLOCKS: usize = 20;

    /// Calls `test` with a writer of 20 unclaimed blocks and twice the space they need.
    fn with_writer(buffers: &mut Buffers, test: impl FnOnce(&mut OrderedWriter<'_, '_>)) {
        let params = CParams::default();
        let data = [0; BLOCK * BLOCKS];
        let encoder = BlockEncoder {
            params: &params,
            source: Source::Bytes(&data),
            typesize: 1,
            blocksize: BLOCK,
            nbytes: data.len(),
            nblocks: BLOCKS,
            split: false,
            runs: true,
            pipeline: Pipeline::default(),
            codec: CodecSelection::of(codec::id::BLOSCLZ.into(), HeaderForm::Extended),
            dictionary: None,
            reference: None,
        };
        let mut starts = [0; WORD * BLOCKS];
        let mut dest = [0; 2 * BLOCK * BLOCKS];
        let mut writer = OrderedWriter {
            encoder: &encoder,
            buffers,
            output: Output {
                starts: &mut starts,
                position: 0,
                rest: &mut dest,
                next: 0,
                all_zero: true,
            },
            next_unclaimed: 0,
            end: BLOCKS,
            threads: 0,
            buffers_in_use: 0,
            is_draining: false,
            state: State::Running,
        };
        assert!(writer.start_round());
        test(&mut writer);
    }

    fn encoded(len: usize) -> Result<Option<Encoded>> {
        let all_zero = false;
        Ok(Some(Encoded { len, all_zero }))
    }

    /// Returns the destination of `nblock`, which must be encoded in place.
    fn in_place<'d>(task: Task<'d>, nblock: usize) -> &'d mut [u8] {
        match task {
            Task::InPlace { nblock: n, rest } if n == nblock => rest,
            _ => panic!("block {nblock} is not encoded in place"),
        }
    }

    /// Finishes `nblock`, which must be encoded into a buffer.
    fn buffered(task: Task<'_>, nblock: usize, encoded: Result<Option<Encoded>>) -> BufferedBlock {
        match task {
            Task::Buffered { nblock: n, buffer } if n == nblock => {
                BufferedBlock { nblock, buffer, encoded }
            }
            _ => panic!("block {nblock} is not encoded into a buffer"),
        }
    }

    fn copied(task: Task<'_>, len: usize) -> Buffer {
        match task {
            Task::Copy { buffer, dest } if dest.len() == len => buffer,
            _ => panic!("no block of {len} bytes is copied"),
        }
    }

    #[test]
    fn a_single_thread_encodes_all_blocks_in_place() {
        let mut buffers = Buffers::default();
        with_writer(&mut buffers, |writer| {
            let mut task = writer.join();
            for nblock in 0..BLOCKS {
                let rest = in_place(task, nblock);
                assert_eq!(rest.len(), 2 * BLOCK * BLOCKS - 7 * nblock);
                task = writer.on_encoded_in_place(rest, encoded(7));
            }
            assert!(matches!(task, Task::Leave));
            assert!(!writer.start_round());
            assert_eq!(writer.output.position, 7 * BLOCKS);
        });
        assert!(buffers.idle.is_empty());
    }

    #[test]
    fn threads_leave_when_buffers_run_out_and_the_next_round_continues() {
        let mut buffers = Buffers::default();
        with_writer(&mut buffers, |writer| {
            let slow = writer.join();
            let mut quick = writer.join();
            let bound = BUFFERS_PER_THREAD;
            for nblock in 1..=bound {
                quick = writer.on_buffered(buffered(quick, nblock, encoded(nblock)));
            }
            assert!(matches!(quick, Task::Leave));
            let mut slow = writer.on_encoded_in_place(in_place(slow, 0), encoded(50));
            for len in 1..=bound {
                slow = writer.on_copied(copied(slow, len));
            }
            assert!(matches!(slow, Task::Leave), "both threads have left");
            assert_eq!((writer.output.next, writer.buffers_in_use), (1 + bound, 0));
            assert!(writer.buffers.pending.is_empty() && writer.start_round());
            in_place(writer.join(), 1 + bound);
            buffered(writer.join(), 2 + bound, encoded(1));
        });
        assert_eq!(buffers.idle.len(), BUFFERS_PER_THREAD - 1);
    }

    #[test]
    fn other_threads_continue_while_a_block_is_copied() {
        with_writer(&mut Buffers::default(), |writer| {
            let first = writer.join();
            let second = writer.join();
            let third = writer.on_buffered(buffered(second, 1, encoded(11)));
            let copy = writer.on_encoded_in_place(in_place(first, 0), encoded(10));
            let copy = copied(copy, 11);
            let fourth = writer.on_buffered(buffered(third, 2, encoded(12)));
            let fourth = writer.on_copied(copied(fourth, 12));
            in_place(fourth, 3);
            buffered(writer.on_copied(copy), 4, encoded(1));
        });
    }

    #[test]
    fn a_failure_is_reported_in_block_order_and_no_later_block_is_started() {
        let mut buffers = Buffers::default();
        with_writer(&mut buffers, |writer| {
            let first = writer.join();
            let second = writer.join();
            let failed = buffered(second, 1, Err(Error::Data));
            assert!(matches!(writer.on_buffered(failed), Task::Leave));
            assert!(matches!(writer.state, State::Running));
            let last = writer.on_encoded_in_place(in_place(first, 0), encoded(10));
            assert!(matches!(last, Task::Leave));
            assert!(matches!(writer.state, State::Failed(ref error) if *error == Error::Data));
            assert!(!writer.start_round());
        });
    }

    #[test]
    fn buffers_pending_at_a_short_destination_are_reclaimed_for_the_next_chunk() {
        let mut buffers = Buffers::default();
        with_writer(&mut buffers, |writer| {
            let first = writer.join();
            let second = writer.join();
            let third = writer.on_buffered(buffered(second, 1, encoded(BLOCK)));
            let third = buffered(third, 2, encoded(BLOCK));
            let last =
                writer.on_encoded_in_place(in_place(first, 0), encoded(2 * BLOCK * BLOCKS - 50));
            assert!(matches!(last, Task::Leave));
            assert!(matches!(writer.on_buffered(third), Task::Leave));
            assert!(!writer.start_round());
            assert_eq!(writer.output.next, 1);
        });
        assert!(buffers.idle.is_empty());
        buffers.reclaim();
        assert_eq!((buffers.idle.len(), buffers.pending.len()), (2, 0));
    }
}
