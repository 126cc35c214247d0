//! Random access to chunks, from any source that supports positioned reads.
//!
//! A chunk is found by its offset. Without an offsets section, and for unused entries, the headers
//! of all preceding chunks are read in order and their positions are cached.

use super::chunk::{Chunk, resize};
use super::error::{Error, Result};
use super::header::Header;
use super::metadata::MetadataSection;
use super::offsets::{self, OFFSET_LENGTH, UNUSED_OFFSET};
use super::prelude::Prelude;
use super::source::{Cursor, Source};
use ferroblosc::blosc1::Engine;
use ferroblosc::chunk::MIN_HEADER_LENGTH;

/// The number of entries of the offsets section per read.
const ENTRIES_AT_ONCE: u64 = 8192;
/// Ranges shorter than the chunk size divided by this factor are decoded without the rest of the
/// chunk.
const SMALL_FRACTION: u32 = 2;

/// The position of a chunk in the file and in the uncompressed data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkLocation {
    /// Offset of the chunk in the file, in bytes.
    pub position: u64,
    /// Offset of its data in the uncompressed data, in bytes.
    pub start: u64,
    /// The chunk.
    pub chunk: Chunk,
}

/// A container with random access.
///
/// ```no_run
/// use ferroblosc_formats::blpk::Archive;
///
/// let mut archive = Archive::open(std::fs::File::open("measurements.blp")?)?;
/// let mut some = [0; 800];
/// archive.read_range(1_000_000, &mut some)?;
/// # Ok::<(), ferroblosc_formats::blpk::Error>(())
/// ```
pub struct Archive<S> {
    source: S,
    size: u64,
    prelude: Prelude,
    /// The offsets of the existing chunks, once they are read.
    offsets: Option<Vec<i64>>,
    /// The positions of the first chunks, found by reading headers in order.
    scanned: Vec<ChunkLocation>,
    engine: Engine,
    nthreads: i32,
    stored: Vec<u8>,
}

impl<S: Source> Archive<S> {
    /// Reads everything before the chunks.
    ///
    /// # Errors
    /// The errors of [`Prelude::read`].
    pub fn open(source: S) -> Result<Archive<S>> {
        let size = source.size()?;
        let mut cursor = Cursor { source: &source, position: 0 };
        let prelude = Prelude::read(&mut cursor, Some(size))?;
        Ok(Archive {
            source,
            size,
            prelude,
            offsets: None,
            scanned: Vec::new(),
            engine: Engine::default(),
            nthreads: 1,
            stored: Vec::new(),
        })
    }

    /// Sets the number of threads for decompression.
    pub fn set_threads(&mut self, nthreads: i32) {
        self.nthreads = nthreads;
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.prelude.header
    }

    /// Returns the metadata section, if there is one.
    pub fn metadata(&self) -> Option<&MetadataSection> {
        self.prelude.metadata.as_ref()
    }

    /// Moves the metadata section out of the archive.
    pub(crate) fn take_metadata(&mut self) -> Option<MetadataSection> {
        self.prelude.metadata.take()
    }

    /// Returns the prelude: everything before the chunks.
    pub fn prelude(&self) -> &Prelude {
        &self.prelude
    }

    /// Returns the source.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Returns the size of the file in bytes.
    pub fn file_size(&self) -> u64 {
        self.size
    }

    /// Returns the number of chunks. If the header does not record it, the chunks are counted.
    ///
    /// # Errors
    /// The errors of [`Archive::locate`], of any chunk.
    pub fn nchunks(&mut self) -> Result<u64> {
        if let Some(nchunks) = self.prelude.header.nchunks {
            return Ok(nchunks);
        }
        while self.scan_next()? {}
        Ok(self.scanned.len() as u64)
    }

    /// Returns the uncompressed size in bytes. If the header does not record it, the chunk sizes
    /// are added up.
    ///
    /// # Errors
    /// The errors of [`Archive::locate`], of any chunk.
    pub fn plain_size(&mut self) -> Result<u64> {
        if let Some(size) = self.prelude.header.plain_size() {
            return Ok(size);
        }
        while self.scan_next()? {}
        let last = self.scanned.last();
        Ok(last.map_or(0, |location| location.start + u64::from(location.chunk.nbytes)))
    }

    /// Returns the offsets of the existing chunks as stored, or `None` without an offsets section.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Memory`].
    pub fn offsets(&mut self) -> Result<Option<&[i64]>> {
        let header = &self.prelude.header;
        let (true, Some(nchunks)) = (header.offsets, header.nchunks) else {
            return Ok(None);
        };
        if self.offsets.is_none() {
            self.offsets = Some(self.read_offsets(nchunks)?);
        }
        Ok(self.offsets.as_deref())
    }

    fn read_offsets(&self, nchunks: u64) -> Result<Vec<i64>> {
        // The section is within the file, so the number of entries is below the file size.
        let mut entries = Vec::new();
        let mut bytes = Vec::new();
        let mut position = self.prelude.offsets_start;
        let mut left = nchunks;
        while left > 0 {
            let step = left.min(ENTRIES_AT_ONCE);
            resize(&mut bytes, (step * OFFSET_LENGTH) as usize)?;
            if self.source.read_at(position, &mut bytes)? < bytes.len() {
                return Err(Error::Truncated("the offsets"));
            }
            entries.try_reserve(step as usize)?;
            entries.extend(offsets::decode(&bytes));
            position += step * OFFSET_LENGTH;
            left -= step;
        }
        Ok(entries)
    }

    /// Returns the position of chunk `index`.
    ///
    /// # Errors
    /// [`Error::NoSuchChunk`], [`Error::Offset`]; the errors of parsing a chunk header.
    pub fn locate(&mut self, index: u64) -> Result<ChunkLocation> {
        let nchunks = self.prelude.header.nchunks;
        if nchunks.is_some_and(|nchunks| index >= nchunks) {
            return Err(Error::NoSuchChunk(index));
        }
        if let Some(location) = self.scanned_chunk(index) {
            return Ok(location);
        }
        if let Some(location) = self.locate_by_offset(index)? {
            return Ok(location);
        }
        self.locate_by_scan(index)
    }

    fn scanned_chunk(&self, index: u64) -> Option<ChunkLocation> {
        self.scanned.get(usize::try_from(index).ok()?).copied()
    }

    /// Returns the position of chunk `index` that its offset determines, or `None` if it has none.
    ///
    /// # Errors
    /// [`Error::Offset`]; the errors of parsing the chunk's header.
    pub(crate) fn locate_by_offset(&mut self, index: u64) -> Result<Option<ChunkLocation>> {
        let Some(start) =
            self.prelude.header.chunk_size.and_then(|size| u64::from(size).checked_mul(index))
        else {
            return Ok(None);
        };
        let (Some(offsets), Ok(at)) = (self.offsets()?, usize::try_from(index)) else {
            return Ok(None);
        };
        let used = |at: usize| offsets.get(at).copied().filter(|&entry| entry != UNUSED_OFFSET);
        let Some(offset) = used(at) else {
            return Ok(None);
        };
        let is_in_order = at.checked_sub(1).and_then(used).is_none_or(|before| before < offset)
            && used(at + 1).is_none_or(|after| offset < after);
        let position = u64::try_from(offset)
            .ok()
            .filter(|&at| self.is_plausible(at))
            .ok_or(Error::Offset { index, offset })?;
        // Chunks are in order: this offset or one beside it is that of another chunk.
        if !is_in_order && !self.locate_by_scan(index).is_ok_and(|found| found.position == position)
        {
            return Err(Error::Offset { index, offset });
        }
        let chunk = self.chunk_at(position, index)?;
        Ok(Some(ChunkLocation { position, start, chunk }))
    }

    /// Whether a chunk can start at this position.
    fn is_plausible(&self, position: u64) -> bool {
        let header_end = position.saturating_add(MIN_HEADER_LENGTH as u64);
        position >= self.prelude.chunks_start && header_end <= self.size
    }

    /// Returns the position of chunk `index` that the headers of the chunks before it determine.
    ///
    /// # Errors
    /// [`Error::NoSuchChunk`]; the errors of parsing the header of this chunk or one before it.
    pub(crate) fn locate_by_scan(&mut self, index: u64) -> Result<ChunkLocation> {
        loop {
            if let Some(location) = self.scanned_chunk(index) {
                return Ok(location);
            }
            if !self.scan_next()? {
                return Err(Error::NoSuchChunk(index));
            }
        }
    }

    /// Finds the position of the next unknown chunk; returns false if there is none.
    fn scan_next(&mut self) -> Result<bool> {
        let index = self.scanned.len() as u64;
        let nchunks = self.prelude.header.nchunks;
        let (position, start) = match self.scanned.last() {
            None => (self.prelude.chunks_start, 0),
            Some(last) => {
                (last.position + last.chunk.stored_len(), last.start + u64::from(last.chunk.nbytes))
            }
        };
        let is_end = match nchunks {
            Some(nchunks) => index >= nchunks,
            None => position >= self.size,
        };
        if is_end {
            return Ok(false);
        }
        let chunk = self.chunk_at(position, index)?;
        self.scanned.try_reserve(1)?;
        self.scanned.push(ChunkLocation { position, start, chunk });
        Ok(true)
    }

    /// Parses the chunk at a position and checks that it is entirely within the file.
    fn chunk_at(&self, position: u64, index: u64) -> Result<Chunk> {
        let mut header = [0; MIN_HEADER_LENGTH];
        if self.source.read_at(position, &mut header)? < MIN_HEADER_LENGTH {
            return Err(Error::Truncated("the header of a chunk"));
        }
        let chunk = Chunk::check(&header, index, &self.prelude.header)?;
        let end = position.checked_add(chunk.stored_len());
        if end.is_none_or(|end| end > self.size) {
            return Err(Error::Truncated("a chunk"));
        }
        Ok(chunk)
    }

    /// Reads a chunk and its digest into `stored`, whose content is replaced, and verifies the
    /// digest.
    ///
    /// # Errors
    /// The errors of [`Archive::locate`]; [`Error::Checksum`].
    pub fn read_stored(&mut self, index: u64, stored: &mut Vec<u8>) -> Result<ChunkLocation> {
        let location = self.locate(index)?;
        self.read_at_location(&location, stored)?;
        location.chunk.verify(stored)?;
        Ok(location)
    }

    fn read_at_location(&self, location: &ChunkLocation, stored: &mut Vec<u8>) -> Result<()> {
        resize(stored, location.chunk.stored_len() as usize)?;
        if self.source.read_at(location.position, stored)? < stored.len() {
            return Err(Error::Truncated("a chunk"));
        }
        Ok(())
    }

    /// Reads and decompresses a chunk into `plain`, whose content is replaced.
    ///
    /// # Errors
    /// The errors of [`Archive::read_stored`]; [`Error::ChunkData`].
    pub fn read_chunk(&mut self, index: u64, plain: &mut Vec<u8>) -> Result<ChunkLocation> {
        let location = self.locate(index)?;
        let mut stored = std::mem::take(&mut self.stored);
        let decoded = self.read_located(&location, &mut stored, plain);
        self.stored = stored;
        decoded.map(|()| location)
    }

    /// Reads the chunk at a location with its digest into `stored`, and decompresses it into
    /// `plain`. The contents of both are replaced.
    ///
    /// # Errors
    /// [`Error::Checksum`]; [`Error::ChunkData`], with the chunk in `stored`.
    pub(crate) fn read_located(
        &mut self,
        location: &ChunkLocation,
        stored: &mut Vec<u8>,
        plain: &mut Vec<u8>,
    ) -> Result<()> {
        self.read_at_location(location, stored)?;
        location.chunk.decode(stored, &mut self.engine, self.nthreads, plain)
    }

    /// Returns the index of the chunk that contains the uncompressed byte at `position`, which must
    /// exist.
    pub(super) fn chunk_of(&mut self, position: u64) -> Result<u64> {
        let header = &self.prelude.header;
        if let (Some(size @ 1..), Some(_)) = (header.chunk_size, header.nchunks) {
            return Ok(position / u64::from(size));
        }
        loop {
            let found = self.scanned.partition_point(|location| {
                location.start + u64::from(location.chunk.nbytes) <= position
            });
            if found < self.scanned.len() {
                return Ok(found as u64);
            }
            if !self.scan_next()? {
                return Err(Error::NoSuchRange {
                    start: position,
                    len: 1,
                    size: self.plain_size()?,
                });
            }
        }
    }

    /// Reads uncompressed bytes from offset `start` to fill `dest`. Only the chunks that contain
    /// them are read. If the range covers less than half of a chunk, only that range is
    /// decompressed.
    ///
    /// # Errors
    /// [`Error::NoSuchRange`] if the range exceeds the data; the errors of [`Archive::read_chunk`].
    pub fn read_range(&mut self, start: u64, dest: &mut [u8]) -> Result<()> {
        let len = dest.len() as u64;
        let size = self.plain_size()?;
        if start.checked_add(len).is_none_or(|end| end > size) {
            return Err(Error::NoSuchRange { start, len, size });
        }
        let mut filled = 0;
        let mut plain = Vec::new();
        while filled < dest.len() {
            let position = start + filled as u64;
            let index = self.chunk_of(position)?;
            let location = self.locate(index)?;
            let first = (position - location.start) as usize;
            let count =
                (location.chunk.nbytes as usize).saturating_sub(first).min(dest.len() - filled);
            if count == 0 {
                return Err(Error::NoSuchRange { start, len, size });
            }
            let part = &mut dest[filled..filled + count];
            if count < (location.chunk.nbytes / SMALL_FRACTION) as usize {
                self.read_partial(&location, first, part, &mut plain)?;
            } else {
                self.read_chunk(index, &mut plain)?;
                part.copy_from_slice(&plain[first..first + count]);
            }
            filled += count;
        }
        Ok(())
    }

    /// Reads a byte range of a chunk through the items that contain it.
    fn read_partial(
        &mut self,
        location: &ChunkLocation,
        first: usize,
        dest: &mut [u8],
        items: &mut Vec<u8>,
    ) -> Result<()> {
        let index = location.chunk.index;
        let typesize = usize::from(location.chunk.header.typesize.max(1));
        let end = (first + dest.len()).next_multiple_of(typesize);
        if end > location.chunk.nbytes as usize {
            // An incomplete last item cannot be requested.
            self.read_chunk(index, items)?;
            dest.copy_from_slice(&items[first..first + dest.len()]);
            return Ok(());
        }
        let begin = first - first % typesize;
        resize(items, end - begin)?;
        let mut stored = std::mem::take(&mut self.stored);
        let read = self.read_at_location(location, &mut stored);
        let verified = read.and_then(|()| location.chunk.verify(&stored));
        let decoded = verified.and_then(|()| {
            let chunk = &stored[..location.chunk.cbytes as usize];
            let (item, count) = ((begin / typesize) as i32, ((end - begin) / typesize) as i32);
            let decoded = self.engine.getitem(chunk, item, count, items);
            decoded.map_err(|_| Error::ChunkData { index })
        });
        self.stored = stored;
        decoded?;
        dest.copy_from_slice(&items[first - begin..first - begin + dest.len()]);
        Ok(())
    }
}
