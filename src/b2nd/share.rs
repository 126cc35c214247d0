//! Sharing the chunks of one call out among threads.
//!
//! What is read or written of an array is cut into parts, one for each chunk that is touched. When there are at
//! least as many as threads, each thread works on chunks of its own: it waits less than when all threads work on
//! the blocks of one chunk. Chunks are looked up by one thread at a time, decoded and encoded by all, and
//! changed in the order of the parts, so that an array's bytes don't depend on the number of threads.

use super::get::check;
use super::request::Request;
use super::state::{Chunks, check_chunksize};
use crate::chunk::{Compressor, Decompressor, MAX_OVERHEAD, Source, Special};
use crate::frame::{Frame, FrameChunk};
use crate::schunk::chunks::{Offer, chunk, chunk_into, lazy_chunk, update};
use crate::schunk::scratch::ChunkBuffers;
use crate::{Buffer, Error, Result, pool};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Chunks for each thread that may wait for one that is slower, until a thread stops.
const MOST_WAITING: usize = 16;

/// What is read of chunks.
pub(super) trait Reading: Sync {
    /// What is wanted of one chunk.
    type Part: Send;

    /// The chunk's number, and whether so little of it is wanted that its blocks are better left in their file.
    fn chunk_of(&self, part: &Self::Part) -> (i64, bool);

    /// Reads a part of its chunk; `scratch` is kept from one part to the next.
    ///
    /// # Errors
    /// For a chunk that isn't of the array's sizes; those of decompression.
    fn read(
        &self,
        decompressor: &mut Decompressor,
        scratch: &mut Buffer,
        part: &Self::Part,
        chunk: &[u8],
    ) -> Result<()>;

    /// Looks the chunk of a part up.
    fn fetch<'s>(&self, s: &'s Chunks<'_>, part: &Self::Part) -> Result<FrameChunk<'s>> {
        match self.chunk_of(part) {
            (nchunk, true) => lazy_chunk(s, nchunk),
            (nchunk, false) => chunk(s, nchunk),
        }
    }
}

/// Reads `count` parts.
///
/// # Errors
/// The first one's that can't be read.
pub(super) fn read<R: Reading>(
    s: &Chunks<'_>,
    reading: &R,
    parts: impl Iterator<Item = R::Part> + Send,
    count: usize,
) -> Result<()> {
    // The blocks of lazy chunks are read after the chunks were looked up.
    let _held = s.frame().map(Frame::lock_shared).transpose()?;
    let _open = s.frame().and_then(Frame::keep_chunks_open);
    let mut parts = Some(parts);
    let mut shared = None;
    s.decompress(&mut |decompressor| {
        let params = decompressor.params();
        let nthreads = usize::try_from(params.nthreads).unwrap_or(1);
        if nthreads > 1 && count >= nthreads && params.postfilter.is_none() {
            shared = Some((decompressor.clone_single_threaded(), nthreads));
            return Ok(0);
        }
        let mut scratch = Buffer::new();
        for part in parts.take().into_iter().flatten() {
            let chunk = reading.fetch(s, &part)?;
            reading.read(decompressor, &mut scratch, &part, &chunk)?;
        }
        Ok(0)
    })?;
    let (Some((twin, nthreads)), Some(parts)) = (shared, parts) else {
        return Ok(());
    };
    let parts = Mutex::new(Ok::<_, Error>(parts));
    pool::run(nthreads, &|_| {
        let mut decompressor = twin.clone_single_threaded();
        let mut scratch = Buffer::new();
        loop {
            let mut waiting = locked(&parts);
            let Some(part) = waiting.as_mut().ok().and_then(Iterator::next) else {
                return;
            };
            let fetched = reading.fetch(s, &part);
            drop(waiting);
            let read = fetched
                .and_then(|chunk| reading.read(&mut decompressor, &mut scratch, &part, &chunk));
            if let Err(error) = read {
                *locked(&parts) = Err(error);
                return;
            }
        }
    });
    parts
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .map(drop)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is written to chunks.
pub(super) trait Writing: Sync {
    /// What is written to one chunk.
    type Part: Send;

    /// The chunk's number.
    fn number(&self, part: &Self::Part) -> i64;

    /// The whole chunk, where the caller's buffer has it as it is.
    fn ready(&self, part: &Self::Part) -> Option<&[u8]>;

    /// What there is in the chunk besides the part.
    fn around(&self, part: &Self::Part) -> Around;

    /// Writes a part into its chunk.
    fn write(&self, part: &Self::Part, chunk: &mut [u8]);
}

/// What a chunk has besides the part that is written to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    /// What it has now.
    Kept,
    /// Zeros, where the array has no items.
    Zeros,
    /// Nothing: the part is the chunk.
    Nothing,
}

/// Writes `count` parts of chunks that have the sizes of `sizes`; each is compressed once.
///
/// # Errors
/// Of the first chunk that can't be read, compressed or changed; those in front of it are written then.
pub(super) fn write<W: Writing>(
    s: &mut Chunks<'_>,
    writing: &W,
    sizes: &Request,
    mut parts: impl Iterator<Item = W::Part> + Send,
    count: usize,
) -> Result<()> {
    check_chunksize(s, sizes.chunksize)?;
    let twins = Twins::of(s, count)?;
    // The first chunk is always made by the super-chunk's own compressor, which tells afterwards what it used.
    let alone = match twins {
        Some(_) => 1,
        None => usize::MAX,
    };
    let mut buffers = ChunkBuffers::new(sizes.chunksize);
    for part in parts.by_ref().take(alone) {
        write_alone(s, writing, sizes, &part, &mut buffers)?;
    }
    let Some(twins) = twins else {
        return Ok(());
    };
    let line = Mutex::new(Line {
        s,
        parts: parts.enumerate(),
        next: 0,
        waiting: Vec::new(),
        result: Ok(()),
    });
    pool::run(twins.nthreads, &|_| {
        if let Err(error) = twins.work(writing, sizes, &line) {
            locked(&line).result = Err(error);
        }
    });
    line.into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .result
}

/// Makes the chunk that a part is written to in `buffers.stored`, and returns its size in bytes: `fetch` decompresses
/// the chunk of now into its first buffer and may use the second one, `compress` compresses the new content.
fn make<W: Writing>(
    buffers: &mut ChunkBuffers,
    writing: &W,
    sizes: &Request,
    part: &W::Part,
    fetch: impl FnOnce(&mut [u8], &mut Buffer) -> Result<()>,
    compress: impl FnOnce(&[u8], &mut [u8]) -> Result<usize>,
) -> Result<usize> {
    let plain = match writing.ready(part) {
        Some(bytes) => bytes,
        None => {
            let plain = buffers.plain.ensure_len(sizes.chunksize)?;
            match writing.around(part) {
                Around::Kept => {
                    // Of the size that it is to have later, so that it is made once.
                    buffers.stored.ensure_len(sizes.chunksize + MAX_OVERHEAD)?;
                    fetch(plain, &mut buffers.stored)?;
                }
                Around::Zeros => plain.fill(0),
                Around::Nothing => {}
            }
            writing.write(part, plain);
            plain
        }
    };
    let dest = buffers.stored.ensure_len(sizes.chunksize + MAX_OVERHEAD)?;
    compress(plain, dest)
}

/// Writes a part with what the super-chunk itself compresses and decompresses with.
fn write_alone<W: Writing>(
    s: &mut Chunks<'_>,
    writing: &W,
    sizes: &Request,
    part: &W::Part,
    buffers: &mut ChunkBuffers,
) -> Result<()> {
    let nchunk = writing.number(part);
    let fetch = |dest: &mut [u8], scratch: &mut Buffer| {
        let chunk = chunk_into(s, nchunk, scratch)?;
        s.decompress(&mut |decompressor| unpack(decompressor, sizes, chunk, dest))
            .map(drop)
    };
    let len = make(buffers, writing, sizes, part, fetch, |data, dest| {
        // Prefilters ask which chunk they are at.
        s.set_current(nchunk);
        s.compress(Source::Bytes(data), dest)
    })?;
    let offer = buffers.offer(len, s.frame().is_none())?;
    update(s, nchunk, offer).map(drop)
}

/// Decompresses a chunk as a whole.
fn unpack(
    decompressor: &mut Decompressor,
    sizes: &Request,
    chunk: &[u8],
    dest: &mut [u8],
) -> Result<usize> {
    let special = check(chunk, sizes)?.special;
    if special == Special::Uninit {
        dest.fill(0);
    }
    match decompressor.decompress(chunk, dest)? {
        len if len == sizes.chunksize => Ok(len),
        _ => Err(Error::Failure),
    }
}

/// What several threads compress and decompress with.
struct Twins {
    compressor: Compressor,
    decompressor: Decompressor,
    nthreads: usize,
}

impl Twins {
    /// None when `count` chunks are better worked on one after the other, and when code of users looks on.
    fn of(s: &Chunks<'_>, count: usize) -> Result<Option<Twins>> {
        let nthreads = usize::try_from(s.threads().0).unwrap_or(1);
        if nthreads <= 1 || count <= nthreads {
            return Ok(None);
        }
        let (mut compressor, mut decompressor) = (None, None);
        s.compress_with(&mut |own| {
            compressor = (!own.params().has_callbacks()).then(|| own.clone_single_threaded());
            Ok(0)
        })?;
        // What is overwritten as a whole needs no decompressor.
        let _ = s.decompress(&mut |own| {
            decompressor = (own.params().postfilter.is_none()).then(|| own.clone_single_threaded());
            Ok(0)
        });
        Ok(compressor
            .zip(decompressor)
            .map(|(compressor, decompressor)| Twins {
                compressor,
                decompressor,
                nthreads,
            }))
    }

    /// Writes parts of a line until none is left, as one of several threads.
    fn work<W: Writing, I: Iterator<Item = (usize, W::Part)>>(
        &self,
        writing: &W,
        sizes: &Request,
        line: &Mutex<Line<'_, '_, I>>,
    ) -> Result<()> {
        let mut compressor = self.compressor.clone_single_threaded();
        let mut decompressor = self.decompressor.clone_single_threaded();
        let mut buffers = ChunkBuffers::new(sizes.chunksize);
        loop {
            let mut held = locked(line);
            if held.result.is_err() || held.waiting.len() >= MOST_WAITING * self.nthreads {
                return Ok(());
            }
            let Some((turn, part)) = held.parts.next() else {
                return Ok(());
            };
            let nchunk = writing.number(&part);
            let old = (writing.around(&part) == Around::Kept).then(|| held.copy_of(nchunk));
            drop(held);
            let fetch = |dest: &mut [u8], _: &mut Buffer| {
                let old = old.unwrap_or(Err(Error::Failure))?;
                unpack(&mut decompressor, sizes, &old, dest).map(drop)
            };
            let made = make(&mut buffers, writing, sizes, &part, fetch, |data, dest| {
                compressor.compress(data, dest)
            });
            let made = made.map(|len| &buffers.stored[..len]);
            locked(line).deliver(turn, nchunk, made);
        }
    }
}

/// A chunk that is ready before those in front of it.
struct Waiting {
    turn: usize,
    nchunk: i64,
    made: Result<Buffer>,
}

/// The parts in order, the super-chunk, and what waits for its turn.
struct Line<'a, 's, I> {
    s: &'a mut Chunks<'s>,
    parts: I,
    /// Whose turn it is.
    next: usize,
    waiting: Vec<Waiting>,
    result: Result<()>,
}

impl<I> Line<'_, '_, I> {
    /// A chunk that stays while others are changed.
    fn copy_of(&self, nchunk: i64) -> Result<Buffer> {
        match chunk(self.s, nchunk)? {
            FrameChunk::Borrowed(bytes) => Buffer::copy_of(bytes),
            FrameChunk::Owned(buffer) => Ok(buffer),
        }
    }

    /// Takes what has become of a chunk, and changes those whose turn has come.
    fn deliver(&mut self, turn: usize, nchunk: i64, made: Result<&[u8]>) {
        if turn != self.next {
            let made = made.and_then(Buffer::copy_of);
            self.waiting.push(Waiting { turn, nchunk, made });
            return;
        }
        self.change(nchunk, made.map(Offer::Copy));
        while let Some(at) = (self.waiting.iter()).position(|other| other.turn == self.next) {
            let Waiting { nchunk, made, .. } = self.waiting.swap_remove(at);
            match made {
                Ok(buffer) => self.change(nchunk, Ok(Offer::Give(&mut Some(buffer)))),
                Err(error) => self.change(nchunk, Err(error)),
            }
        }
    }

    /// Changes the chunk whose turn it is, unless one in front of it has failed.
    fn change(&mut self, nchunk: i64, made: Result<Offer<'_>>) {
        self.next += 1;
        if self.result.is_ok() {
            self.result = made.and_then(|offer| update(self.s, nchunk, offer).map(drop));
        }
    }
}
