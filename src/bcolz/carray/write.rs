//! Changing rows: what is written when, so that a reader always finds what the sizes tell of.

use super::read::Worker;
use super::{Carray, META, SIZES, locked};
use crate::bcolz::chunkfile::{self, Chunk, Expected, FRONT};
use crate::bcolz::error::{Error, Result};
use crate::bcolz::meta::Sizes;
use crate::bcolz::packed::Layout;
use crate::bcolz::value;
use crate::blosc1;
use crate::bloscpack::Value;
use crate::pool;
use std::sync::{Mutex, PoisonError};

/// Rows that growth makes at once, in bytes, about.
const FILL_STEP: u64 = 4 << 20;
/// Bytes that are worth another thread, which takes as long to wake up as some of them take to compress.
const WORTH_A_THREAD: usize = 256 << 10;
/// Bytes of a chunk that is worth waiting for others. A shorter one is best compressed at once, while its rows are
/// in the cache.
const WORTH_WAITING: usize = 1 << 20;
/// Bytes of full chunks that wait in memory, at most.
const MOST_KEPT: usize = 16 << 20;

/// What a writer has in memory.
#[derive(Default)]
pub(super) struct Writer {
    /// The rows behind the full chunks that are in files, once they were needed: fewer than a chunk's, unless
    /// large full chunks wait until there is one for each thread.
    pub rest: Option<Vec<u8>>,
    /// Whether they, or the length, differ from what is on the disk.
    dirty: bool,
    /// Whether the directory has been made ready.
    prepared: bool,
    /// Whether there can be files that no row is in any more.
    has_stale: bool,
    /// Bytes of the full chunks without what is in front of them, once they were counted.
    cbytes: Option<u64>,
}

impl Carray {
    /// Refuses changes where there can't be any, and makes the directory ready for the first one.
    fn begin(&mut self) -> Result<()> {
        self.check_writable()?;
        self.check_items()?;
        if matches!(self.layout, Layout::Packed(_)) {
            return Err(Error::ReadOnlyLayout(self.root.clone()));
        }
        self.storage.cparams.check(&self.storage.dtype)?;
        if !self.writer.prepared {
            let store = &self.options.store;
            if !store.exists(&self.data)? {
                store.make_directory(&self.data)?;
            }
            self.attrs.ensure(store)?;
            for directory in [&self.root, &self.data, &self.root.join(META)] {
                store.sweep(directory)?;
            }
            self.writer.prepared = true;
            self.writer.has_stale = true;
            if self.full_chunks() == 0 {
                self.writer.cbytes = Some(0);
            }
        }
        Ok(())
    }

    pub(in crate::bcolz) fn check_writable(&self) -> Result<()> {
        match self.is_writable {
            true => Ok(()),
            false => Err(Error::ReadOnly),
        }
    }

    /// Lets chunks written from now on be compressed otherwise, for this handle.
    ///
    /// # Errors
    /// [`Error::Argument`], [`Error::NoSuchCodec`].
    pub fn set_cparams(&mut self, cparams: super::Cparams) -> Result<()> {
        cparams.check(&self.storage.dtype)?;
        self.storage.cparams = cparams;
        Ok(())
    }

    /// Appends rows. Full chunks are written at once, large ones when there is one for each thread; the rest, and the
    /// new length, when the handle is flushed. A failure leaves the rows there were.
    ///
    /// # Errors
    /// [`Error::RowBytes`]; [`Error::ReadOnly`]; [`Error`].
    pub fn append(&mut self, rows: &[u8]) -> Result<()> {
        self.begin()?;
        let count = self.rows_in(rows.len())?;
        let len = self.sizes.len.checked_add(count);
        let sizes = len.and_then(|len| Sizes::new(len, &self.sizes.row_shape, &self.storage.dtype));
        let sizes = sizes.ok_or(Error::Argument("there can't be so many rows"))?;
        if count == 0 {
            return Ok(());
        }
        if self.kept_bytes() >= self.at_once() * self.chunk_bytes() as usize {
            // There were more threads, or a write failed.
            self.settle()?;
        }
        let mut rest = self.take_rest()?;
        let before = rest.len();
        let appended = self.append_chunks(&mut rest, rows);
        match appended {
            Ok(()) => self.sizes = sizes,
            Err(_) => rest.truncate(before),
        }
        self.writer.dirty = true;
        self.writer.rest = Some(rest);
        appended
    }

    /// Puts rows behind `rest`, writes the chunks that are full unless they are to wait for others, and leaves in it
    /// the rows of none. After a failure it begins with what was in it.
    fn append_chunks(&mut self, rest: &mut Vec<u8>, rows: &[u8]) -> Result<()> {
        let chunk_bytes = self.chunk_bytes() as usize;
        let full = (rest.len() + rows.len()) / chunk_bytes;
        let missing = rest.len().next_multiple_of(chunk_bytes) - rest.len();
        let direct = rows.len().saturating_sub(missing) / chunk_bytes;
        if full < self.at_once() && direct < self.threads() as usize {
            rest.try_reserve(rows.len())?;
            rest.extend_from_slice(rows);
            return Ok(());
        }
        let kept = (rest.len() + missing) / chunk_bytes;
        let (head, behind) = rows.split_at(missing);
        let (direct, behind) = behind.split_at((full - kept) * chunk_bytes);
        rest.try_reserve(missing.max(behind.len()))?;
        rest.extend_from_slice(head);
        let first = self.first_kept(rest.len() - missing);
        let chunks = rest.chunks(chunk_bytes).chain(direct.chunks(chunk_bytes));
        self.write_chunks(first, full, chunks)?;
        rest.clear();
        rest.extend_from_slice(behind);
        Ok(())
    }

    /// How many full chunks are written at once, at least.
    fn at_once(&self) -> usize {
        let chunk_bytes = self.chunk_bytes() as usize;
        match chunk_bytes >= WORTH_WAITING {
            true => (MOST_KEPT / chunk_bytes).clamp(1, self.threads() as usize),
            false => 1,
        }
    }

    /// Bytes of the rows in memory.
    fn kept_bytes(&self) -> usize {
        self.writer.rest.as_ref().map_or(0, Vec::len)
    }

    /// The first chunk whose rows are in memory, of which there are so many bytes.
    pub(super) fn first_kept(&self, bytes: usize) -> u64 {
        self.full_chunks() - bytes as u64 / self.chunk_bytes()
    }

    /// Writes the full chunks that are only in memory, so that there is only a part of one.
    fn settle(&mut self) -> Result<()> {
        let chunk_bytes = self.chunk_bytes() as usize;
        let Some(mut rest) = self.writer.rest.take_if(|rest| rest.len() >= chunk_bytes) else {
            return Ok(());
        };
        let full = rest.len() - rest.len() % chunk_bytes;
        let first = self.first_kept(rest.len());
        let chunks = rest[..full].chunks(chunk_bytes);
        let written = self.write_chunks(first, full / chunk_bytes, chunks);
        if written.is_ok() {
            rest.drain(..full);
        }
        self.writer.rest = Some(rest);
        written
    }

    /// Appends a full chunk as it is stored elsewhere, behind full chunks alone.
    pub(crate) fn append_stored(&mut self, chunk: &[u8]) -> Result<()> {
        self.begin()?;
        self.settle()?;
        let full = self.chunk_bytes();
        let expected = Expected {
            least: full,
            most: full,
        };
        let number = self.full_chunks();
        let path = self.chunk_path(number);
        Chunk::in_bytes(chunk, expected, &path)?;
        if self.rest_bytes() > 0 {
            return Err(Error::Argument("a full chunk follows full chunks"));
        }
        let len = self.sizes.len.checked_add(self.chunklen());
        let sizes = len.and_then(|len| Sizes::new(len, &self.sizes.row_shape, &self.storage.dtype));
        let sizes = sizes.ok_or(Error::Argument("there can't be so many rows"))?;
        let mut file = chunkfile::front()?;
        file.try_reserve_exact(chunk.len())?;
        file.extend_from_slice(chunk);
        self.cached.take_if(|(cached, _)| *cached == number);
        self.options.store.replace(&path, &file)?;
        if let Some(cbytes) = &mut self.writer.cbytes {
            *cbytes = cbytes.saturating_add(chunk.len() as u64);
        }
        self.sizes = sizes;
        self.writer.rest = None;
        self.writer.dirty = true;
        Ok(())
    }

    /// Writes a chunk anew, whatever is in its place: all rows that belong there. Files without rows stay.
    pub(in crate::bcolz) fn rewrite(&mut self, number: u64, rows: Vec<u8>) -> Result<()> {
        self.begin()?;
        self.settle()?;
        self.writer.has_stale = false;
        if number < self.full_chunks() {
            return self.write_full(number, &rows);
        }
        self.writer.rest = Some(rows);
        self.writer.dirty = true;
        Ok(())
    }

    /// Writes over the rows from `start` on. Full chunks are written at once, the rest when the handle is flushed.
    ///
    /// # Errors
    /// [`Error::NoSuchRows`]; those of [`Carray::append`].
    pub fn set(&mut self, start: u64, rows: &[u8]) -> Result<()> {
        self.begin()?;
        self.settle()?;
        let count = self.rows_in(rows.len())?;
        self.check_rows(start, count)?;
        let (chunklen, row_bytes) = (self.chunklen(), self.row_bytes());
        let (mut row, mut rows) = (start, rows);
        while !rows.is_empty() {
            let (number, first) = (row / chunklen, row % chunklen);
            let here = (chunklen - first).min(start + count - row);
            let (part, behind) = rows.split_at((here * row_bytes) as usize);
            self.set_part(number, (first * row_bytes) as usize, part)?;
            row += here;
            rows = behind;
        }
        Ok(())
    }

    fn set_part(&mut self, number: u64, offset: usize, part: &[u8]) -> Result<()> {
        if number == self.full_chunks() {
            let mut rest = self.take_rest()?;
            rest[offset..offset + part.len()].copy_from_slice(part);
            self.writer.rest = Some(rest);
            self.writer.dirty = true;
            return Ok(());
        }
        if part.len() as u64 == self.chunk_bytes() {
            return self.write_full(number, part);
        }
        let mut plain = self.decoded(number)?;
        plain[offset..offset + part.len()].copy_from_slice(part);
        self.write_full(number, &plain)
    }

    /// Takes `count` rows away from the end.
    ///
    /// # Errors
    /// [`Error::Argument`] when there are not so many; [`Error::ReadOnly`]; [`Error`].
    pub fn trim(&mut self, count: u64) -> Result<()> {
        self.begin()?;
        let Some(len) = self.sizes.len.checked_sub(count) else {
            return Err(Error::Argument("`nitems` must be less than total length"));
        };
        if count == 0 {
            return Ok(());
        }
        // What is shortened is what is on the disk.
        self.flush()?;
        let number = len / self.chunklen();
        let rest_bytes = (len % self.chunklen() * self.row_bytes()) as usize;
        let mut rest = match number == self.full_chunks() {
            true => self.take_rest()?,
            false if rest_bytes == 0 => Vec::new(),
            false => self.decoded(number)?,
        };
        rest.truncate(rest_bytes);
        let before = std::mem::replace(&mut self.sizes.len, len);
        self.writer.cbytes = None;
        if let Err(error) = self.write_sizes() {
            self.sizes.len = before;
            return Err(error);
        }
        self.writer.rest = Some(rest);
        self.writer.has_stale = true;
        self.cached = None;
        self.write_rest()?;
        self.remove_stale()
    }

    /// Makes it `len` rows long: takes rows away, or fills new ones with the fill value.
    ///
    /// # Errors
    /// Those of [`Carray::trim`] and [`Carray::append`].
    pub fn resize(&mut self, len: u64) -> Result<()> {
        self.begin()?;
        if let Some(count) = self.sizes.len.checked_sub(len) {
            self.trim(count)?;
            return self.flush();
        }
        let row_bytes = self.row_bytes() as usize;
        let shape = &self.sizes.row_shape;
        let row = value::row_of(&self.storage.dtype, &self.storage.dflt, shape, row_bytes);
        let at_once = (FILL_STEP / self.row_bytes()).max(1);
        while self.sizes.len < len {
            let count = (len - self.sizes.len).min(at_once) as usize;
            self.append(&row.repeat(count))?;
        }
        self.flush()
    }

    /// Writes what is only in memory: the rows behind the full chunks, then the length. Nothing in a handle that reads.
    ///
    /// # Errors
    /// [`Error`]; the rows stay in memory then.
    pub fn flush(&mut self) -> Result<()> {
        if !self.is_writable || !self.writer.dirty {
            return Ok(());
        }
        self.flush_rest()?;
        self.flush_sizes()
    }

    /// The first half of a flush: the rows.
    pub(in crate::bcolz) fn flush_rest(&mut self) -> Result<()> {
        match self.writer.dirty {
            true => self.write_rest(),
            false => Ok(()),
        }
    }

    /// The second half of a flush: the length, and what it leaves behind.
    pub(in crate::bcolz) fn flush_sizes(&mut self) -> Result<()> {
        if !self.writer.dirty {
            return Ok(());
        }
        self.write_sizes()?;
        self.writer.dirty = false;
        self.remove_stale()
    }

    /// Goes back to the rows that the sizes on the disk tell of.
    pub(in crate::bcolz) fn revert(&mut self, len: u64) {
        self.sizes.len = len;
        self.writer.rest = None;
        self.writer.dirty = false;
        self.writer.cbytes = None;
        self.cached = None;
    }

    /// Flushes and closes.
    ///
    /// # Errors
    /// Those of [`Carray::flush`].
    pub fn close(mut self) -> Result<()> {
        let flushed = self.flush();
        // Dropping tries nothing again.
        self.writer.dirty = false;
        flushed
    }

    /// Puts a value under a name among the attributes, on the disk at once.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn set_attr(&mut self, name: &str, value: Value) -> Result<()> {
        self.check_writable()?;
        self.attrs
            .set(&self.options.store, name, Some(value))
            .map(|_| ())
    }

    /// Takes an attribute away; returns whether there was one.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn remove_attr(&mut self, name: &str) -> Result<bool> {
        self.check_writable()?;
        self.attrs.set(&self.options.store, name, None)
    }

    /// The rows behind the full chunks, which stay taken until they are put back.
    fn take_rest(&mut self) -> Result<Vec<u8>> {
        if let Some(rest) = self.writer.rest.take() {
            return Ok(rest);
        }
        match self.rest_bytes() as usize {
            0 => Ok(Vec::new()),
            len => {
                let mut rest = self.decoded(self.full_chunks())?;
                rest.truncate(len);
                Ok(rest)
            }
        }
    }

    /// All that is in a chunk on the disk.
    fn decoded(&mut self, number: u64) -> Result<Vec<u8>> {
        let mut worker = self.workers.pop().unwrap_or_default();
        let (engine, plain) = (&mut worker.engine, &mut worker.plain);
        let (expected, nthreads) = (self.expected(number), self.threads());
        let read = self.layout.with_chunk(
            self.access(),
            number,
            expected,
            &mut worker.file,
            |chunk, path| chunk.decode_to(engine, nthreads, plain, path),
        );
        let plain = std::mem::take(&mut worker.plain);
        self.workers.push(worker);
        read.map(|()| plain)
    }

    fn params(&self, nthreads: i32) -> Result<blosc1::Params> {
        self.storage.cparams.params(self.typesize, nthreads)
    }

    /// Makes the file of a chunk with these rows in the worker's memory; returns its bytes.
    fn encode<'w>(&self, worker: &'w mut Worker, nthreads: i32, rows: &[u8]) -> Result<&'w [u8]> {
        let params = self.params(nthreads)?;
        let digits = self.storage.cparams.quantize;
        let (engine, rounded) = (&mut worker.engine, &mut worker.plain);
        let rows = match digits {
            0 => rows,
            _ => {
                rounded.clear();
                rounded.try_reserve_exact(rows.len())?;
                rounded.extend_from_slice(rows);
                value::quantize(&self.storage.dtype, digits, rounded);
                rounded
            }
        };
        let len = chunkfile::encode(engine, &params, rows, &mut worker.file)?;
        Ok(&worker.file[..len])
    }

    /// Makes the file of a chunk and puts it in its place; returns the bytes of the chunk in it.
    fn put(&self, worker: &mut Worker, nthreads: i32, number: u64, rows: &[u8]) -> Result<u64> {
        let file = self.encode(worker, nthreads, rows)?;
        let path = self.chunk_path(number);
        self.options.store.replace(&path, file)?;
        Ok((file.len() - FRONT) as u64)
    }

    /// Writes so many full chunks behind all there are in files, each on one thread if there are several.
    fn write_chunks<'c>(
        &mut self,
        first: u64,
        count: usize,
        chunks: impl Iterator<Item = &'c [u8]> + Send,
    ) -> Result<()> {
        self.cached.take_if(|(cached, _)| *cached >= first);
        let worth = count * self.chunk_bytes() as usize / WORTH_A_THREAD;
        let workers = self.take_workers(count.min(worth));
        let nthreads = match workers.len() {
            1 => self.threads(),
            _ => 1,
        };
        let workers: Vec<_> = workers.into_iter().map(Mutex::new).collect();
        // The chunks that nobody has taken yet, and the bytes of those written; or why one could not be.
        let work = Mutex::new(Ok(((first..).zip(chunks), 0_u64)));
        let next = || locked(&work).as_mut().ok()?.0.next();
        let this = &*self;
        pool::run(workers.len(), &|tid| {
            let mut worker = locked(&workers[tid]);
            while let Some((number, rows)) = next() {
                let put = this.put(&mut worker, nthreads, number, rows);
                let mut work = locked(&work);
                match (&mut *work, put) {
                    (Ok((_, total)), Ok(cbytes)) => *total += cbytes,
                    (Ok(_), Err(error)) => *work = Err(error),
                    (Err(_), _) => {}
                }
            }
        });
        let workers = workers.into_iter().map(Mutex::into_inner);
        self.workers = workers.map(|worker| worker.unwrap_or_default()).collect();
        let work = work.into_inner();
        let (_, total) = work.unwrap_or_else(PoisonError::into_inner)?;
        if let Some(cbytes) = &mut self.writer.cbytes {
            *cbytes = cbytes.saturating_add(total);
        }
        Ok(())
    }

    /// Writes a full chunk.
    fn write_full(&mut self, number: u64, rows: &[u8]) -> Result<()> {
        self.cached.take_if(|(cached, _)| *cached == number);
        let before = match self.writer.cbytes {
            Some(_) if number < self.full_chunks() => self.cbytes_of(number)?,
            _ => 0,
        };
        let mut worker = self.workers.pop().unwrap_or_default();
        let put = self.put(&mut worker, self.threads(), number, rows);
        self.workers.push(worker);
        let after = put?;
        if let Some(cbytes) = &mut self.writer.cbytes {
            *cbytes = cbytes.saturating_sub(before).saturating_add(after);
        }
        Ok(())
    }

    /// Bytes of a chunk on the disk.
    fn cbytes_of(&self, number: u64) -> Result<u64> {
        let path = self.chunk_path(number);
        let stream = self.options.store.open(&path)?;
        let stream = stream.ok_or_else(|| Error::MissingChunk(path.clone()))?;
        let size = stream.size().map_err(Error::storage(&path))?;
        Ok(size.saturating_sub(FRONT as u64))
    }

    /// Writes the rows behind the full chunks as they are in memory.
    fn write_rest(&mut self) -> Result<()> {
        self.settle()?;
        let Some(rest) = self.writer.rest.take() else {
            return Ok(());
        };
        let written = match rest.is_empty() {
            true => Ok(()),
            false => {
                let mut worker = self.workers.pop().unwrap_or_default();
                let put = self.put(&mut worker, self.threads(), self.full_chunks(), &rest);
                self.workers.push(worker);
                put.map(|_| ())
            }
        };
        self.writer.rest = Some(rest);
        written
    }

    fn write_sizes(&mut self) -> Result<()> {
        let cbytes = match self.writer.cbytes {
            Some(cbytes) => cbytes,
            None => (0..self.full_chunks()).try_fold(0, |total: u64, number| {
                Ok::<_, Error>(total.saturating_add(self.cbytes_of(number)?))
            })?,
        };
        self.writer.cbytes = Some(cbytes);
        // As a bcolz that has just made the array counts: with a chunk for what is in memory.
        let value = self
            .sizes
            .to_value(cbytes.saturating_add(self.chunk_bytes()));
        let path = self.root.join(META).join(SIZES);
        self.options.store.replace_json(&path, &value)
    }

    /// Removes the files of chunks that no row is in.
    fn remove_stale(&mut self) -> Result<()> {
        if !self.writer.has_stale {
            return Ok(());
        }
        let nchunks = self.nchunks();
        for name in self.options.store.list(&self.data)?.unwrap_or_default() {
            if chunkfile::number_of(&name).is_some_and(|number| number >= nchunks) {
                self.options.store.remove(&self.data.join(name))?;
            }
        }
        self.writer.has_stale = false;
        Ok(())
    }
}
