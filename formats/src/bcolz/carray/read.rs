//! Reads rows. Decodes only the chunks that contain them, and for small ranges only the blocks.

use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::Carray;
use super::state::{Worker, locked};
use crate::bcolz::chunkfile::{self, Chunk, Expected};
use crate::bcolz::error::{Error, Result};
use crate::bcolz::packed::{Access, Layout};
use crate::blpk::MAX_NBYTES;
use crate::numpy::Kind;
use crate::threads::keep_first;
use ferroblosc::pool;

/// Ranges shorter than the chunk size divided by this factor are decoded without the rest of the
/// chunk.
const PARTIAL_FACTOR: usize = 2;
/// The approximate number of bytes allocated and read per step and thread.
const STEP: u64 = 16 << 20;

/// A requested range of a chunk.
struct Segment<'d> {
    number: u64,
    expected: Expected,
    /// The offset in the uncompressed chunk, in bytes.
    start: usize,
    dest: &'d mut [u8],
}

impl Worker {
    /// Reads a segment.
    fn read(
        &mut self,
        layout: &Layout,
        access: Access<'_>,
        segment: Segment<'_>,
        nthreads: i32,
    ) -> Result<()> {
        let (engine, plain) = (&mut self.engine, &mut self.plain);
        let Segment { number, expected, start, dest } = segment;
        let work = |chunk: Chunk<'_>, path: &Path| {
            if start == 0 && dest.len() == chunk.nbytes {
                return chunk.decode(engine, nthreads, dest, path);
            }
            let is_small = dest.len() < chunk.nbytes / PARTIAL_FACTOR;
            if is_small && chunk.decode_part(engine, start, dest, path)? {
                return Ok(());
            }
            chunk.decode_to(engine, nthreads, plain, path)?;
            dest.copy_from_slice(&plain[start..start + dest.len()]);
            Ok(())
        };
        layout.with_chunk(access, number, expected, &mut self.file, work)
    }

    /// Reads a complete chunk into `plain`.
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
    /// Returns the bytes of a range of rows, in C order.
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
        // Allocate step by step, so that missing chunks are detected before the whole result is
        // touched.
        let batch = (STEP / self.row_bytes()).max(1) * self.threads() as u64;
        let batch = batch.next_multiple_of(self.chunklen());
        let mut row = rows.start;
        while row < rows.end {
            let end = row.saturating_add(batch).min(rows.end);
            let filled = bytes.len();
            bytes.resize(filled + ((end - row) * self.row_bytes()) as usize, 0);
            self.read_into(row, &mut bytes[filled..])?;
            row = end;
        }
        Ok(bytes)
    }

    /// Fills `dest` with the bytes of the rows from `start`.
    ///
    /// # Errors
    /// [`Error::RowBytes`] if `dest` is not a multiple of the row size; [`Error::NoSuchRows`];
    /// [`Error`].
    pub fn read_into(&mut self, start: u64, dest: &mut [u8]) -> Result<()> {
        self.check_items()?;
        let count = self.rows_in(dest.len())?;
        self.check_rows(start, count)?;
        if count == 0 {
            return Ok(());
        }
        let (chunklen, row_bytes) = (self.chunklen(), self.row_bytes());
        let mut segments = Vec::new();
        let mut rest = dest;
        let mut row = start;
        while !rest.is_empty() {
            let number = row / chunklen;
            let first = row % chunklen;
            let rows = (chunklen - first).min(start + count - row);
            let (dest, following) = rest.split_at_mut((rows * row_bytes) as usize);
            let offset = (first * row_bytes) as usize;
            rest = following;
            row += rows;
            match &self.writer.tail {
                Some(buffered) if number >= self.first_buffered(buffered.len()) => {
                    let chunks_before = number - self.first_buffered(buffered.len());
                    let offset = offset + (chunks_before * self.chunk_bytes()) as usize;
                    dest.copy_from_slice(&buffered[offset..offset + dest.len()]);
                }
                _ => {
                    segments.try_reserve(1)?;
                    segments.push(Segment {
                        number,
                        expected: self.expected(number),
                        start: offset,
                        dest,
                    });
                }
            }
        }
        self.read_segments(segments)
    }

    fn read_segments(&mut self, mut segments: Vec<Segment<'_>>) -> Result<()> {
        let mut workers = self.take_workers(segments.len());
        let result = match segments.pop() {
            None => Ok(()),
            Some(segment) if segments.is_empty() => self.read_one(&mut workers[0], segment),
            Some(last) => {
                segments.push(last);
                let (back, result) = self.read_many(workers, segments);
                self.workers = back;
                return result;
            }
        };
        self.workers = workers;
        result
    }

    /// Reads a single segment. The second partial read of the same chunk decodes and caches all of
    /// it. If the chunk is damaged elsewhere, its segments are decoded individually.
    fn read_one(&mut self, worker: &mut Worker, segment: Segment<'_>) -> Result<()> {
        let Segment { number, expected, .. } = segment;
        let is_part = (segment.dest.len() as u64) < expected.most;
        let is_repeated = is_part && self.last_part == Some(number);
        self.last_part = is_part.then_some(number);
        let is_cached = |(cached, _): &(u64, Vec<u8>)| *cached == number;
        let nthreads = self.threads();
        if is_repeated && !self.cached.as_ref().is_some_and(is_cached) {
            let access = self.access();
            let read = worker.read_whole(&self.layout, access, number, expected, nthreads);
            if read.is_ok() {
                self.cached = Some((number, std::mem::take(&mut worker.plain)));
            }
        }
        if let Some((_, plain)) = self.cached.as_ref().filter(|cached| is_cached(cached))
            && let Some(part) = plain.get(segment.start..segment.start + segment.dest.len())
        {
            segment.dest.copy_from_slice(part);
            return Ok(());
        }
        worker.read(&self.layout, self.access(), segment, nthreads)
    }

    /// Reads segments in parallel; each worker claims the next one from a queue. Returns the error of
    /// the first segment that fails.
    fn read_many(
        &self,
        workers: Vec<Worker>,
        segments: Vec<Segment<'_>>,
    ) -> (Vec<Worker>, Result<()>) {
        let (layout, access) = (&self.layout, self.access());
        let workers: Vec<_> = workers.into_iter().map(Mutex::new).collect();
        let queue = Mutex::new(segments.into_iter());
        let failure = Mutex::new(None);
        pool::run(workers.len(), &|tid| {
            let mut worker = locked(&workers[tid]);
            let next = || locked(&queue).next();
            while let Some(segment) = next() {
                let number = segment.number;
                if let Err(error) = worker.read(layout, access, segment, 1) {
                    // Empty the queue to stop the other workers.
                    while next().is_some() {}
                    keep_first(&mut locked(&failure), (number, error));
                }
            }
        });
        let workers = workers.into_iter().map(Mutex::into_inner);
        let workers = workers.map(|worker| worker.unwrap_or_default()).collect();
        let failure = failure.into_inner();
        match failure.unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => (workers, Err(error)),
            None => (workers, Ok(())),
        }
    }

    /// Returns a worker for each thread, at most `segments` and at least one.
    pub(super) fn take_workers(&mut self, segments: usize) -> Vec<Worker> {
        let mut workers = std::mem::take(&mut self.workers);
        let wanted = (self.threads() as usize).min(segments).max(1);
        workers.truncate(wanted);
        workers.resize_with(wanted, Worker::default);
        workers
    }

    pub(crate) fn threads(&self) -> i32 {
        self.options.nthreads.clamp(1, 256)
    }

    /// Returns the uncompressed rows of a chunk.
    ///
    /// # Errors
    /// [`Error`]
    pub fn read_chunk(&mut self, number: u64) -> Result<Vec<u8>> {
        self.read(self.rows_of(number)?)
    }

    /// Returns the range of rows in a chunk.
    ///
    /// # Errors
    /// [`Error::Argument`] if the chunk does not exist.
    pub fn rows_of(&self, number: u64) -> Result<Range<u64>> {
        if number >= self.nchunks() {
            return Err(Error::Argument("there is no such chunk"));
        }
        let start = number * self.chunklen();
        Ok(start..start.saturating_add(self.chunklen()).min(self.len()))
    }

    /// Replaces `bytes` with a stored chunk and returns its uncompressed size in bytes. The last
    /// chunk may hold extra rows. Buffered rows are in no chunk, so a writer must flush first.
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
        self.layout.with_chunk(self.access(), number, expected, &mut file, keep)
    }

    /// Returns the pickle of an object in an object array. Unpickling executes code from the data.
    ///
    /// # Errors
    /// [`Error::Argument`] for other dtypes; [`Error`].
    pub fn pickle(&mut self, number: u64) -> Result<Vec<u8>> {
        if self.dtype().kind() != Kind::Object {
            return Err(Error::Argument("the dtype is not object"));
        }
        self.check_rows(number, 1)?;
        let path = self.chunk_path(number);
        let any = Expected { least: 0, most: u64::from(MAX_NBYTES) };
        let mut worker = Worker::default();
        chunkfile::read(&self.options.store, &path, any.most, &mut worker.file)?;
        let chunk = chunkfile::checked(&worker.file, any, self.options.strict, &path)?;
        chunk.decode_to(&mut worker.engine, 1, &mut worker.plain, &path)?;
        Ok(worker.plain)
    }

    pub(super) fn check_rows(&self, start: u64, count: u64) -> Result<()> {
        match start.checked_add(count) {
            Some(end) if end <= self.len() => Ok(()),
            _ => Err(Error::NoSuchRows { start, count, len: self.len() }),
        }
    }

    /// Returns the number of rows in `bytes` bytes.
    pub(in crate::bcolz) fn rows_in(&self, bytes: usize) -> Result<u64> {
        let row = self.row_bytes();
        match row {
            1.. if (bytes as u64).is_multiple_of(row) => Ok(bytes as u64 / row),
            _ => Err(Error::RowBytes { given: bytes, row }),
        }
    }
}
