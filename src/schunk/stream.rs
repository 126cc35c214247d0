//! Super-chunks as streams: readers and writers of the uncompressed data.

use super::chunks::{self, NewChunk};
use super::chunksize_policy::{UNSET, VARIABLE};
use super::schunk::SChunk;
use super::state::State as _;
use crate::chunk::Source;
use crate::frame::Frame;
use crate::{Error, Result, item};
use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};

/// The size in bytes of chunks that a writer creates if the super-chunk has no fixed chunk size.
const DEFAULT_CHUNKSIZE: usize = 1 << 20;

/// The positions of chunks in the uncompressed data.
enum Starts {
    /// All chunks but the last have this size in bytes.
    Fixed(u64),
    /// The start of each chunk, and the end of the last one.
    Each(Vec<u64>),
}

/// A reader of the uncompressed data of a super-chunk, see [`SChunk::reader`].
#[must_use]
pub struct Reader<'a> {
    schunk: &'a SChunk,
    starts: Starts,
    len: u64,
    position: u64,
    /// The chunk that was read last.
    chunk: Vec<u8>,
    /// The start of this chunk.
    start: u64,
}

impl<'a> Reader<'a> {
    fn new(schunk: &'a SChunk) -> Result<Reader<'a>> {
        let nchunks = schunk.nchunks();
        let (starts, len) = match u64::try_from(schunk.chunksize()) {
            Ok(chunksize @ 1..) if has_fixed_chunks(schunk)? => {
                (Starts::Fixed(chunksize), u64::try_from(schunk.nbytes()).unwrap_or(0))
            }
            _ => {
                let mut starts = Vec::new();
                starts.try_reserve_exact(usize::try_from(nchunks).unwrap_or(0))?;
                let mut end = 0u64;
                for nchunk in 0..nchunks {
                    starts.push(end);
                    end += chunks::nbytes(schunk.state(), nchunk)? as u64;
                }
                (Starts::Each(starts), end)
            }
        };
        Ok(Reader { schunk, starts, len, position: 0, chunk: Vec::new(), start: 0 })
    }

    /// Returns the size of the uncompressed data in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no data.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads the chunk at the position, unless it was read last.
    fn load(&mut self) -> Result<()> {
        let end = self.start + self.chunk.len() as u64;
        if (self.start..end).contains(&self.position) {
            return Ok(());
        }
        let (nchunk, start) = match &self.starts {
            Starts::Fixed(size) => (self.position / size, self.position / size * size),
            Starts::Each(starts) => {
                // Chunks without data start where the next chunk starts.
                let after = starts.partition_point(|&start| start <= self.position);
                (after as u64 - 1, starts[after - 1])
            }
        };
        self.start = start;
        let nchunk = i64::try_from(nchunk).map_err(|_| Error::InvalidParam)?;
        let read = chunks::decompress_to_vec(self.schunk.state(), nchunk, &mut self.chunk);
        if read.is_err() {
            self.chunk.clear();
        }
        read?;
        if self.position - start >= self.chunk.len() as u64 {
            self.chunk.clear();
            return Err(Error::Data
                .of_chunk(nchunk)
                .because("the chunk is shorter than the chunk size of the super-chunk"));
        }
        Ok(())
    }
}

/// Whether only the last chunk may be shorter than the chunk size.
fn has_fixed_chunks(schunk: &SChunk) -> Result<bool> {
    let (chunksize, nchunks) = (i64::from(schunk.chunksize()), schunk.nchunks());
    if schunk.nbytes() == chunksize.saturating_mul(nchunks) || nchunks == 0 {
        return Ok(true);
    }
    // Reordering can move a short chunk to any position.
    let last = i64::from(chunks::nbytes(schunk.state(), nchunks - 1)?);
    Ok(chunksize.saturating_mul(nchunks - 1).saturating_add(last) == schunk.nbytes())
}

impl BufRead for Reader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position >= self.len {
            return Ok(&[]);
        }
        self.load()?;
        Ok(&self.chunk[(self.position - self.start) as usize..])
    }

    fn consume(&mut self, amount: usize) {
        self.position = self.position.saturating_add(amount as u64);
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        if dest.is_empty() {
            return Ok(0);
        }
        let size = self.fill_buf()?.read(dest)?;
        self.consume(size);
        Ok(size)
    }
}

impl Seek for Reader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.len.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        let before = "the position is before the start";
        self.position =
            position.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, before))?;
        Ok(self.position)
    }
}

/// A writer that appends to a super-chunk, see [`SChunk::writer`].
#[must_use = "a writer stores the last bytes in `finish`"]
pub struct Writer<'a> {
    schunk: &'a mut SChunk,
    chunksize: usize,
    /// The data after the last complete chunk.
    buffer: Vec<u8>,
    /// The number of bytes of `buffer` that are stored as the last chunk of the super-chunk.
    stored: usize,
    has_begun: bool,
    /// The number of chunks and of bytes after the last change by this writer.
    counts: (i64, i64),
}

impl<'a> Writer<'a> {
    fn new(schunk: &'a mut SChunk) -> Result<Writer<'a>> {
        schunk.refresh()?;
        Ok(Writer {
            chunksize: chunksize_to_write(schunk),
            schunk,
            buffer: Vec::new(),
            stored: 0,
            has_begun: false,
            counts: (0, 0),
        })
    }

    /// Returns the size in bytes of the chunks that the writer creates.
    pub fn chunksize(&self) -> usize {
        self.chunksize
    }

    /// Sets the chunk size of an empty super-chunk, or loads its last chunk if that is short.
    fn begin(&mut self) -> Result<()> {
        if self.has_begun {
            return Ok(());
        }
        self.schunk.refresh()?;
        // Another handle may have added the first chunk.
        self.chunksize = chunksize_to_write(self.schunk);
        self.counts = (self.schunk.nchunks(), self.schunk.nbytes());
        let (chunksize, nchunks) = (self.schunk.chunksize(), self.schunk.nchunks());
        if chunksize == UNSET {
            let chunksize = i32::try_from(self.chunksize).map_err(|_| Error::InvalidParam)?;
            self.schunk.set_chunksize(chunksize)?;
        } else if chunksize != VARIABLE && nchunks > 0 {
            let last = chunks::nbytes(self.schunk.state(), nchunks - 1)?;
            if last < chunksize {
                let last = self.schunk.decompress_to_vec(nchunks - 1)?;
                if last.len() >= self.chunksize {
                    return Err(changed());
                }
                self.stored = last.len();
                self.buffer = last;
            }
        }
        self.buffer.try_reserve_exact(self.chunksize - self.buffer.len())?;
        self.has_begun = true;
        Ok(())
    }

    /// Stores the buffer as the last chunk. A short chunk is completed by later calls.
    fn store(&mut self) -> Result<()> {
        if self.buffer.len() > self.stored {
            self.counts = store(self.schunk, &self.buffer, self.stored > 0, self.counts)?;
            self.stored = self.buffer.len();
        }
        if self.buffer.len() == self.chunksize || self.schunk.chunksize() == VARIABLE {
            self.buffer.clear();
            self.stored = 0;
        }
        Ok(())
    }

    fn accept(&mut self, data: &[u8]) -> Result<usize> {
        self.begin()?;
        // A full buffer is stored before data are accepted, so that an error concerns earlier data.
        if self.buffer.len() == self.chunksize {
            self.store()?;
        }
        if self.buffer.is_empty() && data.len() >= self.chunksize {
            self.counts = store(self.schunk, &data[..self.chunksize], false, self.counts)?;
            return Ok(self.chunksize);
        }
        let size = data.len().min(self.chunksize - self.buffer.len());
        self.buffer.extend_from_slice(&data[..size]);
        Ok(size)
    }

    /// Stores the remaining data as the last chunk. Without this call the buffered data, up to one
    /// chunk, are lost. The error returns the data that are not stored, and is converted by `?` to
    /// an [`Error`] or an [`io::Error`].
    ///
    /// # Errors
    /// - the errors of [`SChunk::append`] and [`SChunk::update_chunk`].
    pub fn finish(mut self) -> std::result::Result<(), FinishError> {
        let Err(error) = self.store() else {
            return Ok(());
        };
        self.buffer.drain(..self.stored);
        Err(FinishError { error, data: self.buffer })
    }
}

/// The error of [`Writer::finish`], with the data that the writer could not store.
///
/// ```no_run
/// use ferroblosc::schunk::SChunk;
/// use std::io::Write;
///
/// fn append(log: &mut SChunk, text: &[u8], backup: &mut impl Write) -> std::io::Result<()> {
///     let mut writer = log.writer()?;
///     writer.write_all(text)?;
///     if let Err(error) = writer.finish() {
///         backup.write_all(error.data())?;
///         return Err(error.into());
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct FinishError {
    error: Error,
    data: Vec<u8>,
}

impl FinishError {
    /// Returns the cause.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Returns the bytes that are not stored, at most one chunk.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Returns the cause, and the bytes that are not stored.
    pub fn into_parts(self) -> (Error, Vec<u8>) {
        (self.error, self.data)
    }
}

impl fmt::Display for FinishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

impl std::error::Error for FinishError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&self.error)
    }
}

impl From<FinishError> for Error {
    fn from(error: FinishError) -> Error {
        error.error
    }
}

impl From<FinishError> for io::Error {
    fn from(error: FinishError) -> io::Error {
        error.error.into()
    }
}

/// Returns the size in bytes of the chunks that a writer creates.
fn chunksize_to_write(schunk: &SChunk) -> usize {
    let typesize = usize::try_from(schunk.typesize()).unwrap_or(1).max(1);
    match usize::try_from(schunk.chunksize()) {
        Ok(chunksize @ 1..) => chunksize,
        _ => (DEFAULT_CHUNKSIZE / typesize).max(1) * typesize,
    }
}

/// Compresses `data` into a new last chunk, or in place of the last chunk. Returns the new numbers
/// of chunks and bytes; fails if the old ones are not `counts`.
fn store(
    schunk: &mut SChunk,
    data: &[u8],
    replaces: bool,
    counts: (i64, i64),
) -> Result<(i64, i64)> {
    let now = |schunk: &SChunk| (schunk.nchunks(), schunk.nbytes());
    // With a lock, no other handle changes the super-chunk between the comparison and the change.
    let held = schunk.state().frame().map(Frame::lock_call).transpose()?.flatten();
    schunk.refresh()?;
    if now(schunk) != counts {
        return Err(changed());
    }
    if replaces {
        let last = schunk.nchunks() - 1;
        let chunk = chunks::compress_for(schunk.state(), last, Source::Bytes(data))?;
        chunks::update(schunk.state_mut(), last, NewChunk::Give(&mut Some(chunk)))?;
    } else {
        schunk.append(data)?;
    }
    drop(held);
    Ok(now(schunk))
}

#[cold]
fn changed() -> Error {
    Error::Failure.because("another handle changed the super-chunk after the writer had begun")
}

impl Write for Writer<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if data.is_empty() {
            return Ok(0);
        }
        Ok(self.accept(data)?)
    }

    /// Stores the buffered data. The last chunk is compressed again when more data are written.
    fn flush(&mut self) -> io::Result<()> {
        Ok(self.store()?)
    }
}

impl SChunk {
    /// Returns a reader of the uncompressed data, for the traits [`Read`], [`BufRead`] and
    /// [`Seek`]. It keeps the last chunk that it decompressed. The chunks are those at the last
    /// refresh. An error at a damaged chunk repeats until the position is outside the chunk.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    /// use std::io::{BufRead, Seek, SeekFrom, Write};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let mut log = SChunk::create(Storage::memory(), CParams::default(), DParams::default())?;
    /// let mut writer = log.writer()?;
    /// writeln!(writer, "first line")?;
    /// writeln!(writer, "second line")?;
    /// writer.finish()?;
    ///
    /// let mut reader = log.reader()?;
    /// reader.seek(SeekFrom::Start(6))?;
    /// let lines: Vec<String> = reader.lines().collect::<Result<_, _>>()?;
    /// assert_eq!(lines, ["line", "second line"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - the [read errors](SChunk#read-errors) if the size of a chunk must be read: that of a short
    ///   last chunk, or of all chunks if the chunk size is variable. In the reader's methods, the
    ///   errors of [`SChunk::decompress_to_vec`] are inside the [`io::Error`].
    pub fn reader(&self) -> Result<Reader<'_>> {
        Reader::new(self)
    }

    /// Returns a writer that appends to the super-chunk, for the trait [`Write`]. It collects data
    /// and compresses them in chunks of the chunk size; if the last chunk is shorter, it is
    /// completed first. If the chunk size is variable, each [`Write::flush`] ends a chunk. Without
    /// a chunk size ([`SChunk::set_chunksize`]) chunks have at most 1 MiB, in whole items.
    ///
    /// [`Writer::finish`] stores the last chunk and returns errors. A writer that is dropped
    /// without it discards the buffered data, up to one chunk. If another handle changes the
    /// super-chunk in the meantime, the writer fails and keeps that change; use
    /// [`SChunk::transaction`] to exclude others.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    /// use std::io::Read;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let params = CParams::default().typesize(1);
    /// let mut copy = SChunk::create(Storage::memory(), params, DParams::default())?;
    /// copy.set_chunksize(4096)?;
    /// let mut writer = copy.writer()?;
    /// std::io::copy(&mut std::io::repeat(7).take(10_000), &mut writer)?;
    /// writer.finish()?;
    /// assert_eq!((copy.nchunks(), copy.nbytes()), (3, 10_000));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - the [access errors](SChunk#access-errors). In the writer's methods, the errors of
    ///   [`SChunk::append`] and [`SChunk::update_chunk`] are inside the [`io::Error`].
    pub fn writer(&mut self) -> Result<Writer<'_>> {
        Writer::new(self)
    }

    /// Appends the items of an iterator, in chunks of the chunk size like [`SChunk::writer`], and
    /// returns the number of items.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    ///
    /// let params = CParams::default().typesize(8);
    /// let mut squares = SChunk::create(Storage::memory(), params, DParams::default())?;
    /// squares.set_chunksize(8000)?;
    /// squares.extend((0..2500u64).map(|i| i * i))?;
    /// assert_eq!(squares.nchunks(), 3);
    /// assert_eq!(squares.get::<u64>(2498..)?, [6_240_004, 6_245_001]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the item size;
    /// - the errors of [`SChunk::append`] and [`SChunk::update_chunk`], after which the items of
    ///   earlier chunks remain.
    pub fn extend<T: crate::Item>(&mut self, items: impl IntoIterator<Item = T>) -> Result<u64> {
        self.check_item::<T>()?;
        let mut writer = Writer::new(self)?;
        let at_once = (writer.chunksize / size_of::<T>()).max(1);
        let mut count = 0;
        let mut batch = Vec::new();
        batch.try_reserve_exact(at_once)?;
        let mut items = items.into_iter();
        loop {
            batch.clear();
            batch.extend(items.by_ref().take(at_once));
            if batch.is_empty() {
                break;
            }
            count += batch.len() as u64;
            let mut bytes = item::bytes_of(&batch);
            while !bytes.is_empty() {
                bytes = &bytes[writer.accept(bytes)?..];
            }
        }
        writer.finish()?;
        Ok(count)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::chunk::{CParams, DParams, Special, special};
    use crate::schunk::Storage;

    pub fn bytes(len: usize) -> Vec<u8> {
        (0..len as u64).map(|i| (i * i % 251) as u8).collect()
    }

    pub fn create(storage: Storage) -> SChunk {
        SChunk::create(storage, CParams::default().typesize(1), DParams::default()).unwrap()
    }

    pub fn of_chunks(storage: Storage, sizes: &[usize]) -> (SChunk, Vec<u8>) {
        let data = bytes(sizes.iter().sum());
        let mut schunk = create(storage);
        let mut rest = data.as_slice();
        for &size in sizes {
            let (chunk, others) = rest.split_at(size);
            schunk.append(chunk).unwrap();
            rest = others;
        }
        (schunk, data)
    }

    #[test]
    fn a_writer_fails_if_another_handle_changed_the_super_chunk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.b2frame");
        let storage = || Storage::file(&path).locking();
        let (schunk, data) = of_chunks(storage(), &[100, 30]);
        schunk.close().unwrap();
        let mut one = SChunk::open(storage(), DParams::default()).unwrap();
        let mut other = SChunk::open(storage(), DParams::default()).unwrap();
        let mut writer = one.writer().unwrap();
        writer.write_all(&[1; 10]).unwrap();
        let mut second = other.writer().unwrap();
        second.write_all(&[2; 20]).unwrap();
        second.finish().unwrap();
        let error = writer.finish().unwrap_err();
        assert!(error.to_string().contains("another handle changed"), "{error}");
        // The 30 bytes of the last chunk that the writer completed are stored.
        assert_eq!(error.data(), [1; 10]);
        assert_eq!(io::Error::from(error.clone()).to_string(), error.to_string());
        assert_eq!(
            (error.error(), &Error::from(error.clone())),
            (&Error::Failure, &Error::Failure)
        );
        assert_eq!(error.into_parts(), (Error::Failure, vec![1; 10]));
        let mut read = Vec::new();
        one.reader().unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, [&data[..], &[2; 20]].concat());
        // A new writer continues after the change.
        let mut writer = one.writer().unwrap();
        writer.write_all(&[3; 5]).unwrap();
        writer.finish().unwrap();
        assert_eq!(one.decompress_to_vec(1).unwrap()[30..], [&[2; 20][..], &[3; 5]].concat());
    }

    #[test]
    fn a_writer_keeps_the_chunk_size_that_another_handle_set_before_the_first_write() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::file(folder.path().join("a.b2frame"));
        let mut one = create(storage.clone());
        let mut other = SChunk::open(storage, DParams::default()).unwrap();
        let mut writer = one.writer().unwrap();
        other.append(&[1; 100]).unwrap();
        writer.write_all(&[2; 130]).unwrap();
        assert_eq!(writer.chunksize(), 100);
        writer.finish().unwrap();
        assert_eq!((one.nchunks(), one.chunksize(), one.nbytes()), (3, 100, 230));
        assert_eq!(one.decompress_to_vec(2).unwrap(), [2; 30]);
    }

    #[test]
    fn a_selection_needs_a_buffer_of_its_size() {
        let params = CParams::default().typesize(4);
        let mut schunk = SChunk::create(Storage::memory(), params, DParams::default()).unwrap();
        schunk.append(&bytes(400)).unwrap();
        for len in [0, 4, 7, 9, 11, 12] {
            let selected = schunk.get_sparse(&[0, 99], &mut vec![7; len]);
            assert_eq!(selected, Err(Error::InvalidParam), "{len}");
        }
        assert_eq!(schunk.get_sparse(&[], &mut [7; 3]), Err(Error::InvalidParam));
        let mut items = [7; 8];
        schunk.get_sparse(&[99, 0], &mut items).unwrap();
        assert_eq!(items[..4], bytes(400)[396..]);
    }

    #[test]
    fn selections_of_uninitialised_chunks_contain_no_items_of_other_chunks() {
        let mut schunk = create(Storage::memory());
        schunk.append(&bytes(100)).unwrap();
        schunk.append(&bytes(100)).unwrap();
        let mut uninit = vec![0; 32];
        special::uninit(&CParams::default().typesize(1), 100, &mut uninit).unwrap();
        schunk.update_chunk(1, &uninit).unwrap();
        let mut items = [7; 4];
        schunk.get_sparse(&[3, 50, 105, 190], &mut items).unwrap();
        assert_eq!(items[2..], [0, 0]);
    }

    #[test]
    fn a_slice_within_an_uninitialised_chunk_is_written_among_zeros() {
        let mut schunk = create(Storage::memory());
        schunk.append(&[7; 100]).unwrap();
        let mut uninit = vec![0; 32];
        special::uninit(&CParams::default().typesize(1), 100, &mut uninit).unwrap();
        schunk.update_chunk(0, &uninit).unwrap();
        schunk.set_slice(40, 50, &[9; 10]).unwrap();
        assert_eq!(
            schunk.decompress_to_vec(0).unwrap(),
            [&[0; 40][..], &[9; 10], &[0; 50]].concat()
        );
    }

    #[test]
    fn ranges_of_variable_chunks_are_refused() {
        let (mut schunk, _) = of_chunks(Storage::memory(), &[100, 30, 100]);
        let mut items = [0; 4];
        let error = schunk.get_slice(0, 4, &mut items).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::InvalidParam);
        assert_eq!(schunk.set_slice(0, 4, &items).unwrap_err(), error);
        assert_eq!(schunk.get_sparse(&[0], &mut items[..1]).unwrap_err(), error);
    }

    #[test]
    fn nothing_is_read_or_written_for_empty_buffers() {
        let (mut schunk, data) = of_chunks(Storage::memory(), &[100, 30]);
        let mut writer = schunk.writer().unwrap();
        assert_eq!(writer.write(&[]).unwrap(), 0);
        writer.finish().unwrap();
        let mut reader = schunk.reader().unwrap();
        assert_eq!(reader.read(&mut []).unwrap(), 0);
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read, data);
        schunk.get_sparse(&[], &mut []).unwrap();
    }

    #[test]
    fn a_writer_sets_the_chunk_size_of_an_empty_super_chunk() {
        let mut schunk = create(Storage::frame());
        let mut writer = schunk.writer().unwrap();
        let chunksize = writer.chunksize();
        let data = bytes(2 * chunksize + 30);
        writer.write_all(&data).unwrap();
        writer.finish().unwrap();
        assert_eq!((schunk.chunksize() as usize, schunk.nchunks()), (chunksize, 3));
        let mut read = Vec::new();
        schunk.reader().unwrap().read_to_end(&mut read).unwrap();
        assert!(read == data);
    }

    #[test]
    fn readers_return_all_bytes_of_fixed_and_variable_chunks() {
        for sizes in [&[][..], &[100], &[100, 100, 30], &[100, 30, 100, 7], &[5, 0, 9]] {
            for storage in [Storage::memory(), Storage::frame()] {
                let (schunk, data) = of_chunks(storage, sizes);
                let mut reader = schunk.reader().unwrap();
                assert_eq!((reader.len(), reader.is_empty()), (data.len() as u64, data.is_empty()));
                let mut read = Vec::new();
                reader.read_to_end(&mut read).unwrap();
                assert_eq!(read, data, "{sizes:?}");
                for (position, byte) in (0..).zip(&data) {
                    reader.seek(SeekFrom::Start(position)).unwrap();
                    assert_eq!(&reader.fill_buf().unwrap()[0], byte, "{sizes:?}");
                }
                assert!(reader.seek(SeekFrom::End(0)).is_ok());
                assert!(reader.fill_buf().unwrap().is_empty());
            }
        }
    }

    #[test]
    fn readers_seek_like_files() {
        let (schunk, data) = of_chunks(Storage::memory(), &[100, 100, 30]);
        let mut reader = schunk.reader().unwrap();
        assert_eq!(reader.seek(SeekFrom::End(-30)).unwrap(), 200);
        assert_eq!(reader.seek(SeekFrom::Current(-150)).unwrap(), 50);
        let mut part = [0; 100];
        reader.read_exact(&mut part).unwrap();
        assert_eq!(part, data[50..150]);
        let error = reader.seek(SeekFrom::Current(-151)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(reader.stream_position().unwrap(), 150);
        assert_eq!(reader.seek(SeekFrom::Start(1000)).unwrap(), 1000);
        assert_eq!(reader.read(&mut part).unwrap(), 0);
    }

    #[test]
    fn reordered_short_chunks_are_read_in_their_order() {
        let (mut schunk, data) = of_chunks(Storage::frame(), &[100, 100, 30]);
        schunk.reorder(&[2, 0, 1]).unwrap();
        let mut read = Vec::new();
        schunk.reader().unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, [&data[200..], &data[..200]].concat());
    }

    #[test]
    fn uninitialised_chunks_are_read_as_zeros() {
        let mut schunk = create(Storage::memory());
        schunk.append(&[7; 100]).unwrap();
        let mut filled = create(Storage::memory());
        filled.fill(100, Special::Uninit, 100).unwrap();
        schunk.append_chunk(&filled.chunk(0).unwrap()).unwrap();
        let mut read = Vec::new();
        schunk.reader().unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, [[7; 100], [0; 100]].concat());
    }

    #[test]
    fn damage_is_an_error_item_and_an_io_error() {
        let (mut schunk, data) = of_chunks(Storage::memory(), &[1000, 1000, 300]);
        let mut chunk = schunk.chunk(1).unwrap().to_vec();
        // The codec of the chunk is unknown.
        chunk[2] |= 0xe0;
        chunk[22] = 0xfe;
        schunk.update_chunk(1, &chunk).unwrap();
        let read: Vec<Result<Vec<u8>>> = schunk.chunks().collect();
        assert_eq!(read.len(), 3);
        assert_eq!(read[0].as_deref(), Ok(&data[..1000]));
        assert_eq!(read[1].as_ref().unwrap_err().chunk(), Some(1));
        assert_eq!(read[2].as_deref(), Ok(&data[2000..]));

        let mut reader = schunk.reader().unwrap();
        let mut buffer = Vec::new();
        let error = reader.read_to_end(&mut buffer).unwrap_err();
        let inner: &Error = error.get_ref().unwrap().downcast_ref().unwrap();
        assert_eq!(inner.chunk(), Some(1));
        assert_eq!(buffer, data[..1000]);
        assert!(reader.fill_buf().is_err());
        reader.seek(SeekFrom::Start(2000)).unwrap();
        assert_eq!(reader.fill_buf().unwrap(), &data[2000..]);
    }

    #[test]
    fn writers_fill_chunks_whatever_the_sizes_of_writes_are() {
        let data = bytes(1050);
        for storage in [Storage::memory(), Storage::frame()] {
            for step in [1, 7, 100, 101, 350, 1050] {
                let mut schunk = create(storage.clone());
                schunk.set_chunksize(100).unwrap();
                let mut writer = schunk.writer().unwrap();
                assert_eq!(writer.chunksize(), 100);
                for part in data.chunks(step) {
                    writer.write_all(part).unwrap();
                }
                writer.finish().unwrap();
                assert_eq!((schunk.nchunks(), schunk.chunksize()), (11, 100), "{step}");
                let read: Result<Vec<Vec<u8>>> = schunk.chunks().collect();
                assert_eq!(read.unwrap().concat(), data);
            }
        }
    }

    #[test]
    fn writers_complete_a_short_last_chunk() {
        let data = bytes(250);
        for storage in [Storage::memory(), Storage::frame()] {
            let mut schunk = create(storage);
            schunk.set_chunksize(100).unwrap();
            for part in [&data[..30], &data[30..35], &data[35..190], &data[190..]] {
                let mut writer = schunk.writer().unwrap();
                writer.write_all(part).unwrap();
                writer.finish().unwrap();
            }
            assert_eq!((schunk.nchunks(), schunk.chunksize(), schunk.nbytes()), (3, 100, 250));
            let mut read = Vec::new();
            schunk.reader().unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, data);
        }
    }

    #[test]
    fn flushed_data_are_stored_and_dropped_data_are_not() {
        let mut schunk = create(Storage::frame());
        schunk.set_chunksize(100).unwrap();
        let mut writer = schunk.writer().unwrap();
        writer.write_all(&[1; 130]).unwrap();
        writer.flush().unwrap();
        writer.flush().unwrap();
        writer.write_all(&[2; 20]).unwrap();
        drop(writer);
        assert_eq!(schunk.nbytes(), 130);
        let mut writer = schunk.writer().unwrap();
        writer.write_all(&[3; 20]).unwrap();
        writer.flush().unwrap();
        drop(writer);
        assert_eq!((schunk.nchunks(), schunk.nbytes(), schunk.chunksize()), (2, 150, 100));
        assert_eq!(schunk.decompress_to_vec(1).unwrap(), [[1; 30].as_slice(), &[3; 20]].concat());
    }

    #[test]
    fn writers_append_to_variable_chunks() {
        let (mut schunk, mut data) = of_chunks(Storage::memory(), &[100, 30, 100]);
        let mut writer = schunk.writer().unwrap();
        writer.write_all(&[9; 10]).unwrap();
        writer.flush().unwrap();
        writer.write_all(&[8; 10]).unwrap();
        writer.finish().unwrap();
        data.extend([[9; 10], [8; 10]].concat());
        assert_eq!((schunk.nchunks(), schunk.chunksize()), (5, VARIABLE));
        let mut read = Vec::new();
        schunk.reader().unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, data);
    }

    #[test]
    fn unused_writers_change_nothing() {
        let mut schunk = create(Storage::memory());
        schunk.writer().unwrap().finish().unwrap();
        assert_eq!((schunk.nchunks(), schunk.chunksize()), (0, UNSET));
        let (mut schunk, _) = of_chunks(Storage::memory(), &[100, 30]);
        schunk.writer().unwrap().finish().unwrap();
        assert_eq!((schunk.nchunks(), schunk.nbytes()), (2, 130));
    }

    #[test]
    fn iterators_are_appended_in_chunks() {
        let params = CParams::default().typesize(4);
        let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        schunk.set_chunksize(400).unwrap();
        assert_eq!(schunk.extend(0..250u32), Ok(250));
        assert_eq!(schunk.extend(std::iter::empty::<u32>()), Ok(0));
        assert_eq!(schunk.extend(250..310u32), Ok(60));
        assert_eq!((schunk.nchunks(), schunk.chunksize()), (4, 400));
        assert_eq!(schunk.get::<u32>(..).unwrap(), (0..310).collect::<Vec<u32>>());
        assert_eq!(schunk.extend(0..3u64), Err(Error::InvalidParam));
    }

    #[test]
    fn writers_work_inside_transactions() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::file(folder.path().join("log.b2frame")).durable().locking();
        let mut schunk = create(storage);
        schunk.set_chunksize(100).unwrap();
        let data = bytes(350);
        for (part, is_kept) in [(&data[..130], true), (&data[..70], false), (&data[130..], true)] {
            let mut transaction = schunk.transaction().unwrap();
            let mut writer = transaction.writer().unwrap();
            writer.write_all(part).unwrap();
            writer.finish().unwrap();
            if is_kept {
                transaction.commit().unwrap();
            }
        }
        let mut read = Vec::new();
        schunk.reader().unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, data);
        assert_eq!((schunk.nchunks(), schunk.chunksize()), (4, 100));
    }
}
