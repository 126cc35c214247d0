//! Changes rows. The order of writes ensures that readers find every row that `sizes` counts.

use super::Carray;
use super::state::{Worker, locked};
use crate::bcolz::chunkfile::{self, Chunk, Expected, PREFIX_LEN};
use crate::bcolz::error::{Error, Result};
use crate::bcolz::meta::Sizes;
use crate::bcolz::packed::Layout;
use crate::bcolz::root::{META, SIZES};
use crate::bcolz::store::StagedFile;
use crate::bcolz::value;
use crate::bloscpack::Value;
use ferroblosc::blosc1;
use ferroblosc::os::files;
use ferroblosc::pool;
use std::sync::{Mutex, PoisonError};

/// The approximate number of bytes added per step when growing.
const FILL_STEP: u64 = 4 << 20;
/// The minimum number of bytes per thread. For fewer bytes, starting a thread does not save time.
const MIN_BYTES_PER_THREAD: usize = 256 << 10;
/// The minimum size in bytes of a chunk to buffer for parallel compression. Smaller chunks are
/// compressed immediately, while their rows are in the CPU cache.
const MIN_BUFFERED_CHUNK: usize = 1 << 20;
/// The maximum size of buffered full chunks in bytes.
const MAX_BUFFERED: usize = 16 << 20;

/// A prepared removal of rows.
pub(in crate::bcolz) struct Trim {
    /// The number of remaining rows.
    len: u64,
    /// The rows of the new tail.
    tail: Vec<u8>,
    /// The new length.
    sizes: StagedFile,
}

impl Carray {
    /// Fails if the array cannot be changed, and prepares the directory before the first change.
    pub(in crate::bcolz) fn prepare_write(&mut self) -> Result<()> {
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
                store.remove_leftovers(directory)?;
            }
            self.writer.prepared = true;
            self.writer.may_have_stale = true;
            if self.full_chunks() == 0 {
                self.writer.cbytes = Some(0);
            }
        }
        Ok(())
    }

    pub(in crate::bcolz) fn check_writable(&self) -> Result<()> {
        if self.is_writable { self.owner.check(&self.root) } else { Err(Error::ReadOnly) }
    }

    /// Sets the compression parameters of subsequent chunks, for this handle only.
    ///
    /// # Errors
    /// [`Error::Argument`], [`Error::NoSuchCodec`].
    pub fn set_cparams(&mut self, cparams: super::Compression) -> Result<()> {
        cparams.check(&self.storage.dtype)?;
        self.storage.cparams = cparams;
        Ok(())
    }

    /// Appends rows. Full chunks are written immediately, or, if they are large, once there is one
    /// for each thread. A flush writes the tail and the new length. On failure, the array is
    /// unchanged.
    ///
    /// # Errors
    /// [`Error::RowBytes`]; [`Error::ReadOnly`]; [`Error`].
    pub fn append(&mut self, rows: &[u8]) -> Result<()> {
        self.prepare_write()?;
        let count = self.rows_in(rows.len())?;
        let len = self.sizes.len.checked_add(count);
        let sizes = len.and_then(|len| Sizes::new(len, &self.sizes.row_shape, &self.storage.dtype));
        let sizes = sizes.ok_or(Error::Argument("the array would be too large"))?;
        if count == 0 {
            return Ok(());
        }
        if self.buffered_bytes() >= self.min_batch() * self.chunk_bytes() as usize {
            // The number of threads was reduced, or a write failed.
            self.write_buffered()?;
        }
        let mut tail = self.take_tail()?;
        let before = tail.len();
        let appended = self.append_chunks(&mut tail, rows);
        match appended {
            Ok(()) => self.sizes = sizes,
            Err(_) => tail.truncate(before),
        }
        self.writer.dirty = true;
        self.writer.tail = Some(tail);
        appended
    }

    /// Appends rows to `tail`, writes the full chunks unless they are to be buffered, and leaves
    /// the remaining rows in `tail`. On failure, `tail` still begins with its previous content.
    fn append_chunks(&mut self, tail: &mut Vec<u8>, rows: &[u8]) -> Result<()> {
        let chunk_bytes = self.chunk_bytes() as usize;
        let full = (tail.len() + rows.len()) / chunk_bytes;
        let missing = tail.len().next_multiple_of(chunk_bytes) - tail.len();
        if full < self.min_batch() {
            tail.try_reserve(rows.len())?;
            tail.extend_from_slice(rows);
            return Ok(());
        }
        let buffered = (tail.len() + missing) / chunk_bytes;
        let (head, following) = rows.split_at(missing);
        let (direct, following) = following.split_at((full - buffered) * chunk_bytes);
        tail.try_reserve(missing.max(following.len()))?;
        tail.extend_from_slice(head);
        let first = self.first_buffered(tail.len() - missing);
        let chunks = tail.chunks(chunk_bytes).chain(direct.chunks(chunk_bytes));
        self.write_chunks(first, full, chunks)?;
        tail.clear();
        tail.extend_from_slice(following);
        Ok(())
    }

    /// Returns the minimum number of full chunks that are written at once.
    fn min_batch(&self) -> usize {
        let chunk_bytes = self.chunk_bytes() as usize;
        if chunk_bytes >= MIN_BUFFERED_CHUNK {
            (MAX_BUFFERED / chunk_bytes).clamp(1, self.threads() as usize)
        } else {
            1
        }
    }

    /// Returns the size of the buffered rows in bytes.
    fn buffered_bytes(&self) -> usize {
        self.writer.tail.as_ref().map_or(0, Vec::len)
    }

    /// Returns the index of the first buffered chunk if `bytes` bytes are buffered.
    pub(super) fn first_buffered(&self, bytes: usize) -> u64 {
        self.full_chunks() - bytes as u64 / self.chunk_bytes()
    }

    /// Writes the buffered full chunks, so that only the tail remains buffered.
    fn write_buffered(&mut self) -> Result<()> {
        let chunk_bytes = self.chunk_bytes() as usize;
        let Some(mut tail) = self.writer.tail.take_if(|tail| tail.len() >= chunk_bytes) else {
            return Ok(());
        };
        let full = tail.len() - tail.len() % chunk_bytes;
        let first = self.first_buffered(tail.len());
        let chunks = tail[..full].chunks(chunk_bytes);
        let written = self.write_chunks(first, full / chunk_bytes, chunks);
        if written.is_ok() {
            tail.drain(..full);
        }
        self.writer.tail = Some(tail);
        written
    }

    /// Appends a full compressed chunk. All previous chunks must be full.
    pub(crate) fn append_stored(&mut self, chunk: &[u8]) -> Result<()> {
        self.prepare_write()?;
        self.write_buffered()?;
        let full = self.chunk_bytes();
        let expected = Expected { least: full, most: full };
        let number = self.full_chunks();
        let path = self.chunk_path(number);
        Chunk::in_bytes(chunk, expected, &path)?;
        if self.tail_bytes() > 0 {
            return Err(Error::Argument("a full chunk can only follow full chunks"));
        }
        let len = self.sizes.len.checked_add(self.chunklen());
        let sizes = len.and_then(|len| Sizes::new(len, &self.sizes.row_shape, &self.storage.dtype));
        let sizes = sizes.ok_or(Error::Argument("the array would be too large"))?;
        let mut file = chunkfile::prefix()?;
        file.try_reserve_exact(chunk.len())?;
        file.extend_from_slice(chunk);
        self.cached.take_if(|(cached, _)| *cached == number);
        self.options.store.replace(&path, &file)?;
        if let Some(cbytes) = &mut self.writer.cbytes {
            *cbytes = cbytes.saturating_add(chunk.len() as u64);
        }
        self.sizes = sizes;
        self.writer.tail = None;
        self.writer.dirty = true;
        Ok(())
    }

    /// Replaces chunk `number` with `rows`, all rows of that chunk. Keeps chunk files after the
    /// last chunk of the array.
    pub(in crate::bcolz) fn rewrite(&mut self, number: u64, rows: Vec<u8>) -> Result<()> {
        self.prepare_write()?;
        self.write_buffered()?;
        self.writer.may_have_stale = false;
        if number < self.full_chunks() {
            return self.write_full(number, &rows);
        }
        self.writer.tail = Some(rows);
        self.writer.dirty = true;
        Ok(())
    }

    /// Overwrites the rows from `start`. Full chunks are written immediately, the tail when the
    /// handle is flushed.
    ///
    /// # Errors
    /// [`Error::NoSuchRows`]; the errors of [`Carray::append`].
    pub fn set(&mut self, start: u64, rows: &[u8]) -> Result<()> {
        self.prepare_write()?;
        self.write_buffered()?;
        let count = self.rows_in(rows.len())?;
        self.check_rows(start, count)?;
        let (chunklen, row_bytes) = (self.chunklen(), self.row_bytes());
        let (mut row, mut rows) = (start, rows);
        while !rows.is_empty() {
            let (number, first) = (row / chunklen, row % chunklen);
            let here = (chunklen - first).min(start + count - row);
            let (part, following) = rows.split_at((here * row_bytes) as usize);
            self.set_part(number, (first * row_bytes) as usize, part)?;
            row += here;
            rows = following;
        }
        Ok(())
    }

    fn set_part(&mut self, number: u64, offset: usize, part: &[u8]) -> Result<()> {
        if number == self.full_chunks() {
            let mut tail = self.take_tail()?;
            tail[offset..offset + part.len()].copy_from_slice(part);
            self.writer.tail = Some(tail);
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

    /// Removes the last `count` rows.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are fewer rows; [`Error::ReadOnly`]; [`Error`].
    pub fn trim(&mut self, count: u64) -> Result<()> {
        self.prepare_write()?;
        if count == 0 {
            return Ok(());
        }
        let trim = self.begin_trim(count)?;
        self.commit_trim(trim)?;
        self.finish_trim()
    }

    /// Prepares the removal of rows: reads the new tail and writes the new length to a temporary
    /// file.
    pub(in crate::bcolz) fn begin_trim(&mut self, count: u64) -> Result<Trim> {
        self.prepare_write()?;
        let Some(len) = self.sizes.len.checked_sub(count) else {
            return Err(Error::Argument("`nitems` must be less than total length"));
        };
        // The files must be up to date before they are truncated.
        self.flush()?;
        let number = len / self.chunklen();
        let tail_bytes = (len % self.chunklen() * self.row_bytes()) as usize;
        let mut tail = if tail_bytes == 0 {
            // A damaged chunk without remaining rows does not matter.
            Vec::new()
        } else if number == self.full_chunks() {
            self.take_tail()?
        } else {
            self.decoded(number)?
        };
        tail.truncate(tail_bytes);
        let before = std::mem::replace(&mut self.sizes.len, len);
        self.writer.cbytes = None;
        let sizes = self.new_sizes();
        self.sizes.len = before;
        self.writer.cbytes = None;
        Ok(Trim { len, tail, sizes: sizes? })
    }

    /// Changes the length.
    pub(in crate::bcolz) fn commit_trim(&mut self, trim: Trim) -> Result<()> {
        let Trim { len, tail, sizes } = trim;
        sizes.commit()?;
        self.sizes.len = len;
        self.writer.tail = Some(tail);
        self.writer.may_have_stale = true;
        self.cached = None;
        Ok(())
    }

    /// Writes the tail of the remaining rows, and removes the chunks after it. A failure leaves
    /// rows in the files that are not part of the array.
    pub(in crate::bcolz) fn finish_trim(&mut self) -> Result<()> {
        self.write_tail()?;
        self.remove_stale()
    }

    /// Changes the number of rows to `len`. New rows contain the fill value. If new rows cannot be
    /// written, the array keeps its length.
    ///
    /// # Errors
    /// The errors of [`Carray::trim`] and [`Carray::append`]; [`Error::Storage`] if the new chunks
    /// need more than the free space.
    pub fn resize(&mut self, len: u64) -> Result<()> {
        self.prepare_write()?;
        if let Some(count) = self.sizes.len.checked_sub(len) {
            self.trim(count)?;
            return self.flush();
        }
        // A failure discards all buffered rows.
        self.flush()?;
        let before = self.sizes.len;
        check_growth(&mut [&mut *self], len)?;
        let grown = self.grow(len).and_then(|()| self.flush_sizes());
        if grown.is_err() {
            self.revert(before);
        }
        grown
    }

    /// Returns `count` rows of the fill value.
    fn fill_rows(&self, count: u64) -> Result<Vec<u8>> {
        let row_bytes = self.row_bytes() as usize;
        let (dtype, shape) = (&self.storage.dtype, &self.sizes.row_shape);
        let mut rows = value::row_of(dtype, &self.storage.dflt, shape, row_bytes)?;
        rows.try_reserve_exact((count as usize - 1) * row_bytes)?;
        for _ in 1..count {
            rows.extend_from_within(..row_bytes);
        }
        Ok(rows)
    }

    /// Returns the size of the files of the new chunks that contain only the fill value, if the
    /// array grows to the length `len`.
    fn file_bytes_of_growth(&mut self, len: u64) -> Result<u64> {
        let first = self.sizes.len.div_ceil(self.chunklen());
        let count = (len / self.chunklen()).saturating_sub(first);
        if count == 0 {
            return Ok(0);
        }
        let rows = self.fill_rows(self.chunklen())?;
        let mut worker = self.workers.pop().unwrap_or_default();
        let size = self.encode(&mut worker, self.threads(), &rows).map(<[u8]>::len);
        self.workers.push(worker);
        Ok(count.saturating_mul(size? as u64))
    }

    /// Appends rows of the fill value up to the length `len`, and writes all but the new length.
    pub(in crate::bcolz) fn grow(&mut self, len: u64) -> Result<()> {
        let row_bytes = self.row_bytes() as usize;
        let batch =
            (FILL_STEP / self.row_bytes()).clamp(1, len.saturating_sub(self.sizes.len).max(1));
        let rows = self.fill_rows(batch)?;
        while self.sizes.len < len {
            let count = (len - self.sizes.len).min(batch) as usize;
            self.append(&rows[..count * row_bytes])?;
        }
        self.flush_tail()
    }

    /// Writes the buffered rows, then the length. Does nothing for a reading handle.
    ///
    /// # Errors
    /// [`Error`]; the rows remain buffered.
    pub fn flush(&mut self) -> Result<()> {
        if !self.is_writable || !self.writer.dirty {
            return Ok(());
        }
        self.check_writable()?;
        self.flush_tail()?;
        self.flush_sizes()
    }

    /// The first phase of a flush: writes the tail.
    pub(in crate::bcolz) fn flush_tail(&mut self) -> Result<()> {
        if self.writer.dirty { self.write_tail() } else { Ok(()) }
    }

    /// The second phase of a flush: writes the length and removes stale files.
    pub(in crate::bcolz) fn flush_sizes(&mut self) -> Result<()> {
        let staged = self.stage_sizes()?;
        self.commit_sizes(staged)
    }

    /// Writes the length to a temporary file, unless nothing has changed.
    pub(in crate::bcolz) fn stage_sizes(&mut self) -> Result<Option<StagedFile>> {
        if self.writer.dirty { self.new_sizes().map(Some) } else { Ok(None) }
    }

    /// Completes the second phase of a flush.
    pub(in crate::bcolz) fn commit_sizes(&mut self, staged: Option<StagedFile>) -> Result<()> {
        let Some(staged) = staged else {
            return Ok(());
        };
        staged.commit()?;
        self.writer.dirty = false;
        self.remove_stale()
    }

    /// Whether the rows or their number differ from those in the files.
    pub(in crate::bcolz) fn is_dirty(&self) -> bool {
        self.writer.dirty
    }

    /// Discards buffered rows and restores the length on disk.
    pub(in crate::bcolz) fn revert(&mut self, len: u64) {
        self.sizes.len = len;
        self.writer.tail = None;
        self.writer.dirty = false;
        self.writer.cbytes = None;
        self.writer.may_have_stale = true;
        self.cached = None;
    }

    /// Flushes and closes the handle.
    ///
    /// # Errors
    /// The errors of [`Carray::flush`].
    pub fn close(mut self) -> Result<()> {
        let flushed = self.flush();
        // `drop` must not flush again.
        self.discard();
        flushed
    }

    /// Prevents that dropping the handle writes buffered rows.
    pub(in crate::bcolz) fn discard(&mut self) {
        self.writer.dirty = false;
    }

    /// Sets an attribute and writes it immediately.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn set_attr(&mut self, name: &str, value: Value) -> Result<()> {
        self.check_writable()?;
        self.attrs.set(&self.options.store, name, Some(value)).map(|_| ())
    }

    /// Removes an attribute. Returns whether it existed.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn remove_attr(&mut self, name: &str) -> Result<bool> {
        self.check_writable()?;
        self.attrs.set(&self.options.store, name, None)
    }

    /// Moves the tail out of the writer, after loading it if necessary. The caller must put it
    /// back.
    fn take_tail(&mut self) -> Result<Vec<u8>> {
        if let Some(tail) = self.writer.tail.take() {
            return Ok(tail);
        }
        match self.tail_bytes() as usize {
            0 => Ok(Vec::new()),
            len => {
                let mut tail = self.decoded(self.full_chunks())?;
                tail.truncate(len);
                Ok(tail)
            }
        }
    }

    /// Returns the uncompressed content of a stored chunk.
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

    /// Encodes rows as a chunk file in the worker's buffer. Returns the file's content.
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

    /// Encodes rows and replaces the chunk file. Returns the size of the chunk in bytes.
    fn write_chunk(
        &self,
        worker: &mut Worker,
        nthreads: i32,
        number: u64,
        rows: &[u8],
    ) -> Result<u64> {
        let file = self.encode(worker, nthreads, rows)?;
        let path = self.chunk_path(number);
        self.options.store.replace(&path, file)?;
        Ok((file.len() - PREFIX_LEN) as u64)
    }

    /// Writes full chunks after all existing ones. Multiple workers compress one chunk each on a
    /// single thread.
    fn write_chunks<'c>(
        &mut self,
        first: u64,
        count: usize,
        chunks: impl Iterator<Item = &'c [u8]> + Send,
    ) -> Result<()> {
        self.cached.take_if(|(cached, _)| *cached >= first);
        let max_workers = count * self.chunk_bytes() as usize / MIN_BYTES_PER_THREAD;
        let workers = self.take_workers(count.min(max_workers));
        let nthreads = match workers.len() {
            1 => self.threads(),
            _ => 1,
        };
        let workers: Vec<_> = workers.into_iter().map(Mutex::new).collect();
        // The remaining chunks and the total size of the written ones, or the first error.
        let work = Mutex::new(Ok(((first..).zip(chunks), 0_u64)));
        let next = || locked(&work).as_mut().ok()?.0.next();
        let this = &*self;
        pool::run(workers.len(), &|tid| {
            let mut worker = locked(&workers[tid]);
            while let Some((number, rows)) = next() {
                let written = this.write_chunk(&mut worker, nthreads, number, rows);
                let mut work = locked(&work);
                match (&mut *work, written) {
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

    /// Replaces a full chunk.
    fn write_full(&mut self, number: u64, rows: &[u8]) -> Result<()> {
        self.cached.take_if(|(cached, _)| *cached == number);
        let before = match self.writer.cbytes {
            Some(_) => self.cbytes_of(number)?,
            None => 0,
        };
        let mut worker = self.workers.pop().unwrap_or_default();
        let written = self.write_chunk(&mut worker, self.threads(), number, rows);
        self.workers.push(worker);
        let after = written?;
        if let Some(cbytes) = &mut self.writer.cbytes {
            *cbytes = cbytes.saturating_sub(before).saturating_add(after);
        }
        Ok(())
    }

    /// Returns the size of a stored chunk in bytes.
    fn cbytes_of(&self, number: u64) -> Result<u64> {
        let path = self.chunk_path(number);
        let stream = self.options.store.open(&path)?;
        let stream = stream.ok_or_else(|| Error::MissingChunk(path.clone()))?;
        let size = stream.size().map_err(Error::storage(&path))?;
        Ok(size.saturating_sub(PREFIX_LEN as u64))
    }

    /// Writes the buffered rows of the tail.
    fn write_tail(&mut self) -> Result<()> {
        self.write_buffered()?;
        let Some(tail) = self.writer.tail.take() else {
            return Ok(());
        };
        let written = if tail.is_empty() {
            Ok(())
        } else {
            let number = self.full_chunks();
            self.cached.take_if(|(cached, _)| *cached == number);
            let mut worker = self.workers.pop().unwrap_or_default();
            let written = self.write_chunk(&mut worker, self.threads(), number, &tail);
            self.workers.push(worker);
            written.map(|_| ())
        };
        self.writer.tail = Some(tail);
        written
    }

    /// Writes the length.
    pub(in crate::bcolz) fn write_sizes(&mut self) -> Result<()> {
        self.new_sizes()?.commit()
    }

    /// Writes the length to a temporary file.
    fn new_sizes(&mut self) -> Result<StagedFile> {
        let cbytes = match self.writer.cbytes {
            Some(cbytes) => cbytes,
            None => (0..self.full_chunks()).try_fold(0, |total: u64, number| {
                Ok::<_, Error>(total.saturating_add(self.cbytes_of(number)?))
            })?,
        };
        self.writer.cbytes = Some(cbytes);
        // Count the buffer as one full chunk, like bcolz for a newly created array.
        let value = self.sizes.to_value(cbytes.saturating_add(self.chunk_bytes()));
        let path = self.root.join(META).join(SIZES);
        self.options.store.stage_json(&path, &value)
    }

    /// Removes chunk files after the last chunk of the array.
    fn remove_stale(&mut self) -> Result<()> {
        if !self.writer.may_have_stale {
            return Ok(());
        }
        let nchunks = self.nchunks();
        for name in self.options.store.list(&self.data)?.unwrap_or_default() {
            if chunkfile::number_of(&name).is_some_and(|number| number >= nchunks) {
                self.options.store.remove(&self.data.join(name))?;
            }
        }
        self.writer.may_have_stale = false;
        Ok(())
    }
}

/// Checks that arrays, which are on one file system, can grow to the length `len`. Otherwise rows
/// would be written until the disk is full.
///
/// # Errors
/// [`Error::Argument`] for a length that no array has; [`Error::Storage`] if the new chunks need
/// more than the free space.
pub(in crate::bcolz) fn check_growth(arrays: &mut [&mut Carray], len: u64) -> Result<()> {
    let mut plain = 0_u64;
    for array in &*arrays {
        Sizes::new(len, &array.sizes.row_shape, &array.storage.dtype)
            .ok_or(Error::Argument("the array would be too large"))?;
        let rows = len.saturating_sub(array.sizes.len);
        plain = plain.saturating_add(rows.saturating_mul(array.row_bytes()));
    }
    let Some(array) = arrays.first() else {
        return Ok(());
    };
    let (root, Some(free)) = (array.root.clone(), files::free_space(&array.data)) else {
        return Ok(());
    };
    if plain <= free {
        return Ok(());
    }
    let mut stored = 0_u64;
    for array in arrays {
        stored = stored.saturating_add(array.file_bytes_of_growth(len)?);
    }
    if stored <= free {
        return Ok(());
    }
    let text = format!("the new rows need {stored} bytes, and {free} are free on the file system");
    Err(Error::Storage { path: root, error: ferroblosc::Error::FileWrite.because(text) })
}

impl Drop for Carray {
    fn drop(&mut self) {
        // Callers that need the error call `close`.
        let _ = self.flush();
    }
}
