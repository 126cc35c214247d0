//! Reading rows: only the chunks they are in, and of a chunk only the blocks.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::{Carray, locked};
use crate::bcolz::chunkfile::{self, Chunk, Expected};
use crate::bcolz::dtype::Kind;
use crate::bcolz::error::{Error, Result};
use crate::bcolz::packed::{Access, Layout};
use crate::blosc1::Engine;
use crate::blpk::MAX_NBYTES;
use crate::pool;

/// Parts of a chunk that are smaller than it by this factor are decoded alone.
const SMALL_PART: usize = 2;
/// Bytes that are made room for and read at once, about.
const STEP: u64 = 16 << 20;

/// What a thread keeps for reading and writing chunks.
#[derive(Default)]
pub(super) struct Worker {
    pub engine: Engine,
    /// The bytes of a file.
    pub file: Vec<u8>,
    /// Plain bytes of a chunk.
    pub plain: Vec<u8>,
}

/// A part of a chunk that is wanted.
struct Piece<'d> {
    number: u64,
    expected: Expected,
    /// Where it begins in the plain bytes.
    start: usize,
    dest: &'d mut [u8],
}

impl Worker {
    /// Reads a piece.
    fn read(
        &mut self,
        layout: &Layout,
        access: Access<'_>,
        piece: Piece<'_>,
        nthreads: i32,
    ) -> Result<()> {
        let (engine, plain) = (&mut self.engine, &mut self.plain);
        let Piece {
            number,
            expected,
            start,
            dest,
        } = piece;
        let work = |chunk: Chunk<'_>, path: &Path| {
            if start == 0 && dest.len() == chunk.nbytes {
                return chunk.decode(engine, nthreads, dest, path);
            }
            let is_small = dest.len() < chunk.nbytes / SMALL_PART;
            if is_small && chunk.decode_part(engine, start, dest, path)? {
                return Ok(());
            }
            chunk.decode_to(engine, nthreads, plain, path)?;
            dest.copy_from_slice(&plain[start..start + dest.len()]);
            Ok(())
        };
        layout.with_chunk(access, number, expected, &mut self.file, work)
    }

    /// Reads a chunk into `plain`.
    fn read_whole(
        &mut self,
        layout: &Layout,
        access: Access<'_>,
        number: u64,
        expected: Expected,
        nthreads: i32,
    ) -> Result<()> {
        let (engine, plain) = (&mut self.engine, &mut self.plain);
        let work = |chunk: Chunk<'_>, path: &Path| chunk.decode_to(engine, nthreads, plain, path);
        layout.with_chunk(access, number, expected, &mut self.file, work)
    }
}

impl Carray {
    /// The bytes of the rows in a range, one row after the other.
    ///
    /// # Errors
    /// [`Error::NoSuchRows`]; [`Error`].
    pub fn read(&mut self, rows: Range<u64>) -> Result<Vec<u8>> {
        let count = rows.end.saturating_sub(rows.start);
        self.check_items()?;
        self.check_rows(rows.start, count)?;
        let too_many = |_| Error::Memory;
        let total = usize::try_from(count * self.row_bytes()).map_err(too_many)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(total)?;
        // The memory is used as chunks turn out to be there.
        let rows_at_once = (STEP / self.row_bytes()).max(1) * self.threads() as u64;
        let rows_at_once = rows_at_once.next_multiple_of(self.chunklen());
        let mut row = rows.start;
        while row < rows.end {
            let end = row.saturating_add(rows_at_once).min(rows.end);
            let filled = bytes.len();
            bytes.resize(filled + ((end - row) * self.row_bytes()) as usize, 0);
            self.read_into(row, &mut bytes[filled..])?;
            row = end;
        }
        Ok(bytes)
    }

    /// Fills `dest` with the bytes of the rows from `start` on.
    ///
    /// # Errors
    /// [`Error::RowBytes`] when `dest` holds no whole rows; [`Error::NoSuchRows`]; [`Error`].
    pub fn read_into(&mut self, start: u64, dest: &mut [u8]) -> Result<()> {
        self.check_items()?;
        let count = self.rows_in(dest.len())?;
        self.check_rows(start, count)?;
        if count == 0 {
            return Ok(());
        }
        let (chunklen, row_bytes) = (self.chunklen(), self.row_bytes());
        let mut pieces = Vec::new();
        let mut rest = dest;
        let mut row = start;
        while !rest.is_empty() {
            let number = row / chunklen;
            let first = row % chunklen;
            let rows = (chunklen - first).min(start + count - row);
            let (dest, behind) = rest.split_at_mut((rows * row_bytes) as usize);
            let offset = (first * row_bytes) as usize;
            rest = behind;
            row += rows;
            match &self.writer.rest {
                Some(in_memory) if number >= self.first_kept(in_memory.len()) => {
                    let chunks_before = number - self.first_kept(in_memory.len());
                    let offset = offset + (chunks_before * self.chunk_bytes()) as usize;
                    dest.copy_from_slice(&in_memory[offset..offset + dest.len()]);
                }
                _ => {
                    pieces.try_reserve(1)?;
                    pieces.push(Piece {
                        number,
                        expected: self.expected(number),
                        start: offset,
                        dest,
                    });
                }
            }
        }
        self.read_pieces(pieces)
    }

    fn read_pieces(&mut self, mut pieces: Vec<Piece<'_>>) -> Result<()> {
        let mut workers = self.take_workers(pieces.len());
        let result = match pieces.pop() {
            None => Ok(()),
            Some(piece) if pieces.is_empty() => self.read_one(&mut workers[0], piece),
            Some(last) => {
                pieces.push(last);
                let (back, result) = self.read_many(workers, pieces);
                self.workers = back;
                return result;
            }
        };
        self.workers = workers;
        result
    }

    /// Reads a piece alone. Who reads several parts of one chunk is likely to read more of it, so it is kept; where it
    /// is damaged elsewhere, each part is read for itself.
    fn read_one(&mut self, worker: &mut Worker, piece: Piece<'_>) -> Result<()> {
        let Piece {
            number, expected, ..
        } = piece;
        let is_part = (piece.dest.len() as u64) < expected.most;
        let is_again = is_part && self.last_part == Some(number);
        self.last_part = is_part.then_some(number);
        let is_kept = |(kept, _): &(u64, Vec<u8>)| *kept == number;
        let nthreads = self.threads();
        if is_again && !self.cached.as_ref().is_some_and(is_kept) {
            let access = self.access();
            let read = worker.read_whole(&self.layout, access, number, expected, nthreads);
            if read.is_ok() {
                self.cached = Some((number, std::mem::take(&mut worker.plain)));
            }
        }
        if let Some((_, plain)) = self.cached.as_ref().filter(|cached| is_kept(cached))
            && let Some(part) = plain.get(piece.start..piece.start + piece.dest.len())
        {
            piece.dest.copy_from_slice(part);
            return Ok(());
        }
        worker.read(&self.layout, self.access(), piece, nthreads)
    }

    /// Lets each worker take the next piece until there is none.
    fn read_many(&self, workers: Vec<Worker>, pieces: Vec<Piece<'_>>) -> (Vec<Worker>, Result<()>) {
        let (layout, access) = (&self.layout, self.access());
        let workers: Vec<_> = workers.into_iter().map(Mutex::new).collect();
        let queue = Mutex::new(pieces.into_iter());
        let failure = Mutex::new(None);
        pool::run(workers.len(), &|tid| {
            let mut worker = locked(&workers[tid]);
            let next = || locked(&queue).next();
            while let Some(piece) = next() {
                if let Err(error) = worker.read(layout, access, piece, 1) {
                    // Nothing is left for the others.
                    while next().is_some() {}
                    locked(&failure).get_or_insert(error);
                }
            }
        });
        let workers = workers.into_iter().map(Mutex::into_inner);
        let workers = workers.map(|worker| worker.unwrap_or_default()).collect();
        let failure = failure.into_inner();
        match failure.unwrap_or_else(PoisonError::into_inner) {
            Some(error) => (workers, Err(error)),
            None => (workers, Ok(())),
        }
    }

    /// Workers for so many pieces, at least one.
    pub(super) fn take_workers(&mut self, pieces: usize) -> Vec<Worker> {
        let mut workers = std::mem::take(&mut self.workers);
        let wanted = (self.threads() as usize).min(pieces).max(1);
        workers.truncate(wanted);
        workers.resize_with(wanted, Worker::default);
        workers
    }

    pub(super) fn threads(&self) -> i32 {
        self.options.nthreads.clamp(1, 256)
    }

    /// The plain bytes of a chunk, as many as there are rows in it.
    ///
    /// # Errors
    /// [`Error`]
    pub fn read_chunk(&mut self, number: u64) -> Result<Vec<u8>> {
        self.read(self.rows_of(number)?)
    }

    /// The rows that are in a chunk.
    ///
    /// # Errors
    /// [`Error::Argument`] when there is no such chunk.
    pub fn rows_of(&self, number: u64) -> Result<Range<u64>> {
        if number >= self.nchunks() {
            return Err(Error::Argument("there is no such chunk"));
        }
        let start = number * self.chunklen();
        Ok(start..start.saturating_add(self.chunklen()).min(self.len()))
    }

    /// A chunk as it is stored, in `bytes`, which is replaced; returns its plain bytes. The last one may hold more
    /// rows than there are. Rows in memory are not in any chunk, so a writer flushes first.
    ///
    /// # Errors
    /// [`Error`]
    pub fn stored_chunk(&self, number: u64, bytes: &mut Vec<u8>) -> Result<usize> {
        self.check_items()?;
        self.rows_of(number)?;
        let mut file = Vec::new();
        let expected = self.expected(number);
        let keep = |chunk: Chunk<'_>, _: &Path| {
            bytes.clear();
            bytes.try_reserve_exact(chunk.bytes.len())?;
            bytes.extend_from_slice(chunk.bytes);
            Ok(chunk.nbytes)
        };
        self.layout
            .with_chunk(self.access(), number, expected, &mut file, keep)
    }

    /// The bytes of Python's pickle of an object, in an array of objects. Whoever unpickles them runs what
    /// they say.
    ///
    /// # Errors
    /// [`Error::Argument`] in arrays of anything else; [`Error`].
    pub fn pickle(&mut self, number: u64) -> Result<Vec<u8>> {
        if self.dtype().kind() != Kind::Object {
            return Err(Error::Argument("these are no objects"));
        }
        self.check_rows(number, 1)?;
        let path = self.chunk_path(number);
        let any = Expected {
            least: 0,
            most: u64::from(MAX_NBYTES),
        };
        let mut worker = Worker::default();
        chunkfile::read(&self.options.store, &path, any.most, &mut worker.file)?;
        let chunk = chunkfile::checked(&worker.file, any, self.options.strict, &path)?;
        chunk.decode_to(&mut worker.engine, 1, &mut worker.plain, &path)?;
        Ok(worker.plain)
    }

    pub(super) fn check_rows(&self, start: u64, count: u64) -> Result<()> {
        match start.checked_add(count) {
            Some(end) if end <= self.len() => Ok(()),
            _ => Err(Error::NoSuchRows {
                start,
                count,
                len: self.len(),
            }),
        }
    }

    /// How many rows so many bytes are.
    pub(in crate::bcolz) fn rows_in(&self, bytes: usize) -> Result<u64> {
        let row = self.row_bytes();
        match row {
            1.. if (bytes as u64).is_multiple_of(row) => Ok(bytes as u64 / row),
            _ => Err(Error::RowBytes { given: bytes, row }),
        }
    }
}
