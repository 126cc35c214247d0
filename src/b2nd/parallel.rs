//! Parallel reads and writes of an array's chunks.
//!
//! A read or write is split into tasks, one per touched chunk. If there are at least as many tasks
//! as threads, each thread processes separate chunks, which causes less waiting than processing the
//! blocks of one chunk in all threads. Chunks are looked up by one thread at a time, decoded and
//! encoded in parallel, and changed in task order, so that the result does not depend on the number
//! of threads.

use super::request::SliceRequest;
use super::state::{Chunks, check_chunksize};
use crate::chunk::{Compressor, Decompressor, MAX_OVERHEAD, Source, Special};
use crate::frame::{Frame, FrameChunk};
use crate::schunk::chunks::{NewChunk, chunk, chunk_into, lazy_chunk, update};
use crate::schunk::scratch::{ChunkBuffers, Scratch};
use crate::{Buffer, Error, Result, pool};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Upper bound on the encoded chunks per thread that wait for a slower thread.
const MAX_WAITING: usize = 16;

/// A read of chunks.
pub(super) trait ChunkReader: Sync {
    /// The request for one chunk.
    type Task: Send;

    /// Returns the chunk index, and whether the request is small enough to read single blocks
    /// instead of the whole chunk from its file.
    fn chunk_of(&self, task: &Self::Task) -> (i64, bool);

    /// Reads the requested items of a chunk; `scratch` is reused for the next chunk.
    ///
    /// # Errors
    /// [`crate::Error::Failure`] if the chunk does not have the array's sizes; the errors of
    /// decompression.
    fn read(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Scratch,
        task: &Self::Task,
        chunk: &[u8],
    ) -> Result<()>;

    /// Looks up the chunk of a request; a whole chunk in a file is read into `stored`, which is
    /// reused for the next chunk.
    fn fetch<'s>(
        &self,
        s: &'s Chunks<'_>,
        task: &Self::Task,
        stored: &'s mut Buffer,
    ) -> Result<FrameChunk<'s>> {
        match self.chunk_of(task) {
            (nchunk, true) => lazy_chunk(s, nchunk),
            (nchunk, false) => chunk_into(s, nchunk, stored).map(FrameChunk::Borrowed),
        }
    }
}

/// Reads `count` chunks.
///
/// # Errors
/// The error of the first request that fails.
pub(super) fn read<R: ChunkReader>(
    s: &Chunks<'_>,
    reader: &R,
    tasks: impl Iterator<Item = R::Task> + Send,
    count: usize,
) -> Result<()> {
    // The lock covers the reads of blocks, which follow the lookup of a lazy chunk.
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    let _open = s.frame().and_then(Frame::keep_chunks_open);
    let mut tasks = Some(tasks);
    let mut shared = None;
    s.decompress(&mut |decompressor| {
        let params = decompressor.params();
        let nthreads = usize::try_from(params.nthreads).unwrap_or(1);
        if nthreads > 1 && count >= nthreads && params.postfilter.is_none() {
            shared = Some((decompressor.clone_single_threaded(), nthreads));
            return Ok(0);
        }
        let (mut scratch, mut stored) = (Scratch::default(), Scratch::take(0));
        for task in tasks.take().into_iter().flatten() {
            let chunk = reader.fetch(s, &task, &mut stored)?;
            reader.read(decompressor, &mut scratch, &task, &chunk)?;
        }
        Ok(0)
    })?;
    let (Some((prototype, nthreads)), Some(tasks)) = (shared, tasks) else {
        return Ok(());
    };
    let tasks = Mutex::new(Ok::<_, Error>(tasks));
    pool::run(nthreads, &|_| {
        let mut decompressor = prototype.clone_single_threaded();
        let (mut scratch, mut stored) = (Scratch::default(), Scratch::take(0));
        loop {
            let mut waiting = locked(&tasks);
            let Some(task) = waiting.as_mut().ok().and_then(Iterator::next) else {
                return;
            };
            let fetched = reader.fetch(s, &task, &mut stored);
            drop(waiting);
            let read = fetched
                .and_then(|chunk| reader.read(&mut decompressor, &mut scratch, &task, &chunk));
            if let Err(error) = read {
                *locked(&tasks) = Err(error);
                return;
            }
        }
    });
    tasks.into_inner().unwrap_or_else(PoisonError::into_inner).map(drop)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A write to chunks.
pub(super) trait ChunkWriter: Sync {
    /// The data for one chunk.
    type Task: Send;

    /// Returns the chunk index.
    fn number(&self, task: &Self::Task) -> i64;

    /// Returns the whole chunk, if it is contiguous in the caller's buffer.
    fn contiguous_chunk(&self, task: &Self::Task) -> Option<&[u8]>;

    /// Returns the content of the chunk outside the written items.
    fn unwritten(&self, task: &Self::Task) -> Unwritten;

    /// Writes the items to the uncompressed chunk.
    fn write(&self, task: &Self::Task, chunk: &mut [u8]);
}

/// The content of a chunk outside the items that are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// The current content.
    Current,
    /// Zeros, for padding outside the array.
    Zeros,
    /// None: the items cover the chunk.
    Nothing,
}

/// Writes `count` chunks, which must have the sizes in `sizes`; each is compressed once.
///
/// # Errors
/// The error of the first chunk that cannot be read, compressed or changed. The chunks before it
/// are written.
pub(super) fn write<W: ChunkWriter>(
    s: &mut Chunks<'_>,
    writer: &W,
    sizes: &SliceRequest,
    mut tasks: impl Iterator<Item = W::Task> + Send,
    count: usize,
) -> Result<()> {
    check_chunksize(s, sizes.chunksize)?;
    let clones = WorkerClones::of(s, count)?;
    // The super-chunk's own compressor encodes the first chunk, so that it records the block size.
    let alone = match clones {
        Some(_) => 1,
        None => usize::MAX,
    };
    let mut buffers = ChunkBuffers::new(sizes.chunksize);
    for task in tasks.by_ref().take(alone) {
        write_alone(s, writer, sizes, &task, &mut buffers)?;
    }
    let Some(clones) = clones else {
        return Ok(());
    };
    let ordered = Mutex::new(OrderedWriter {
        s,
        tasks: tasks.enumerate(),
        next: 0,
        waiting: Vec::new(),
        result: Ok(()),
    });
    pool::run(clones.nthreads, &|_| {
        clones.work(writer, sizes, &ordered);
    });
    ordered.into_inner().unwrap_or_else(PoisonError::into_inner).result
}

/// Encodes the new chunk into `buffers.stored` and returns its size in bytes. `fetch` decompresses
/// the current chunk into its first argument, with the second as scratch; `compress` compresses the
/// new content.
fn make<W: ChunkWriter>(
    buffers: &mut ChunkBuffers,
    writer: &W,
    sizes: &SliceRequest,
    task: &W::Task,
    fetch: impl FnOnce(&mut [u8], &mut Buffer) -> Result<()>,
    compress: impl FnOnce(&[u8], &mut [u8]) -> Result<usize>,
) -> Result<usize> {
    let plain = match writer.contiguous_chunk(task) {
        Some(bytes) => bytes,
        None => {
            let plain = buffers.plain.ensure_len(sizes.chunksize)?;
            match writer.unwritten(task) {
                Unwritten::Current => {
                    // Allocates the final size at once.
                    buffers.stored.ensure_len(sizes.chunksize + MAX_OVERHEAD)?;
                    fetch(plain, &mut buffers.stored)?;
                }
                Unwritten::Zeros => plain.fill(0),
                Unwritten::Nothing => {}
            }
            writer.write(task, plain);
            plain
        }
    };
    let dest = buffers.stored.ensure_len(sizes.chunksize + MAX_OVERHEAD)?;
    compress(plain, dest)
}

/// Writes a chunk with the super-chunk's own compressor and decompressor.
fn write_alone<W: ChunkWriter>(
    s: &mut Chunks<'_>,
    writer: &W,
    sizes: &SliceRequest,
    task: &W::Task,
    buffers: &mut ChunkBuffers,
) -> Result<()> {
    let nchunk = writer.number(task);
    let fetch = |dest: &mut [u8], scratch: &mut Buffer| {
        let chunk = chunk_into(s, nchunk, scratch)?;
        s.decompress(&mut |decompressor| unpack(decompressor, sizes, chunk, dest)).map(drop)
    };
    let len = make(buffers, writer, sizes, task, fetch, |data, dest| {
        // Prefilters query the current chunk.
        s.set_current(nchunk);
        s.compress(Source::Bytes(data), dest)
    })?;
    let new_chunk = buffers.new_chunk(len, s.frame().is_none())?;
    update(s, nchunk, new_chunk).map(drop)
}

/// Decompresses a whole chunk.
fn unpack(
    decompressor: &mut Decompressor,
    sizes: &SliceRequest,
    chunk: &[u8],
    dest: &mut [u8],
) -> Result<usize> {
    let special = sizes.parse_header(chunk)?.special;
    if special == Special::Uninit {
        dest.fill(0);
    }
    match decompressor.decompress(chunk, dest)? {
        len if len == sizes.chunksize => Ok(len),
        _ => Err(Error::Failure),
    }
}

/// The compressor and the decompressor that each thread clones.
struct WorkerClones {
    compressor: Compressor,
    decompressor: Decompressor,
    nthreads: usize,
}

impl WorkerClones {
    /// Returns `None` if `count` chunks are better processed sequentially, and if user-defined
    /// callbacks are set.
    fn of(s: &Chunks<'_>, count: usize) -> Result<Option<WorkerClones>> {
        let nthreads = usize::try_from(s.threads().0).unwrap_or(1);
        if nthreads <= 1 || count <= nthreads {
            return Ok(None);
        }
        let (mut compressor, mut decompressor) = (None, None);
        s.compress_with(&mut |own| {
            compressor = (!own.params().has_callbacks()).then(|| own.clone_single_threaded());
            Ok(0)
        })?;
        // The error is ignored: writes that cover whole chunks need no decompressor.
        let _ = s.decompress(&mut |own| {
            decompressor = (own.params().postfilter.is_none()).then(|| own.clone_single_threaded());
            Ok(0)
        });
        Ok(compressor.zip(decompressor).map(|(compressor, decompressor)| WorkerClones {
            compressor,
            decompressor,
            nthreads,
        }))
    }

    /// Processes writes until none is left, as one of several threads.
    fn work<W: ChunkWriter, I: Iterator<Item = (usize, W::Task)>>(
        &self,
        writer: &W,
        sizes: &SliceRequest,
        ordered: &Mutex<OrderedWriter<'_, '_, I>>,
    ) {
        let mut compressor = self.compressor.clone_single_threaded();
        let mut decompressor = self.decompressor.clone_single_threaded();
        let mut buffers = ChunkBuffers::new(sizes.chunksize);
        loop {
            let mut held = locked(ordered);
            if held.result.is_err() || held.waiting.len() >= MAX_WAITING * self.nthreads {
                return;
            }
            let Some((turn, task)) = held.tasks.next() else {
                return;
            };
            let nchunk = writer.number(&task);
            let old = (writer.unwritten(&task) == Unwritten::Current).then(|| held.copy_of(nchunk));
            drop(held);
            let fetch = |dest: &mut [u8], _: &mut Buffer| {
                let old = old.unwrap_or(Err(Error::Failure))?;
                unpack(&mut decompressor, sizes, &old, dest).map(drop)
            };
            let made = make(&mut buffers, writer, sizes, &task, fetch, |data, dest| {
                compressor.compress(data, dest)
            });
            let made = made.map(|len| &buffers.stored[..len]);
            locked(ordered).accept(turn, nchunk, made);
        }
    }
}

/// A chunk that was encoded before its predecessors.
struct Waiting {
    turn: usize,
    nchunk: i64,
    made: Result<Buffer>,
}

/// The ordered writes, the super-chunk, and the encoded chunks that wait for their turn.
struct OrderedWriter<'a, 's, I> {
    s: &'a mut Chunks<'s>,
    tasks: I,
    /// The turn of the next chunk to be changed.
    next: usize,
    waiting: Vec<Waiting>,
    result: Result<()>,
}

impl<I> OrderedWriter<'_, '_, I> {
    /// Copies a chunk, which remains valid while others change.
    fn copy_of(&self, nchunk: i64) -> Result<Buffer> {
        match chunk(self.s, nchunk)? {
            FrameChunk::Borrowed(bytes) => Buffer::copy_of(bytes),
            FrameChunk::Owned(buffer) => Ok(buffer),
        }
    }

    /// Accepts an encoded chunk, then changes all chunks whose turn has come.
    fn accept(&mut self, turn: usize, nchunk: i64, made: Result<&[u8]>) {
        if turn != self.next {
            let made = made.and_then(Buffer::copy_of);
            self.waiting.push(Waiting { turn, nchunk, made });
            return;
        }
        self.change(nchunk, made.map(NewChunk::Copy));
        while let Some(at) = (self.waiting.iter()).position(|other| other.turn == self.next) {
            let Waiting { nchunk, made, .. } = self.waiting.swap_remove(at);
            match made {
                Ok(buffer) => self.change(nchunk, Ok(NewChunk::Give(&mut Some(buffer)))),
                Err(error) => self.change(nchunk, Err(error)),
            }
        }
    }

    /// Changes the chunk whose turn it is, unless an earlier one failed.
    fn change(&mut self, nchunk: i64, made: Result<NewChunk<'_>>) {
        self.next += 1;
        if self.result.is_ok() {
            self.result = made.and_then(|new_chunk| update(self.s, nchunk, new_chunk).map(drop));
        }
    }
}
