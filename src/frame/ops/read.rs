//! Reading the chunks of a frame.

use crate::chunk::header::is_lazy;
use crate::chunk::{
    BasicHeader, CParams, ChunkHeader, EXTENDED_HEADER_LENGTH, MIN_HEADER_LENGTH, Special,
    make_lazy, special,
};
use crate::frame::format::checksum::{self, OF_SPECIAL};
use crate::frame::format::{Counters, Offsets, offset};
use crate::frame::store::{Frame, FrameReader, Location};
use crate::io::View;
use crate::{Buffer, Error, ErrorKind, Result};
use std::ops::Deref;
use std::sync::Arc;

/// The size of a block start in bytes.
const WORD: usize = 4;

/// A chunk of a frame: borrowed from the frame, or a copy.
#[derive(Debug)]
pub enum FrameChunk<'a> {
    /// Bytes of the frame.
    Borrowed(&'a [u8]),
    /// A copy, or a chunk that the frame does not store.
    Owned(Buffer),
}

impl Deref for FrameChunk<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            FrameChunk::Borrowed(bytes) => bytes,
            FrameChunk::Owned(buffer) => buffer,
        }
    }
}

/// A chunk and the owner of its bytes.
enum FoundChunk<'a> {
    /// The frame.
    Borrowed(&'a [u8]),
    /// A new buffer.
    Owned(Buffer),
    /// The scratch buffer; the value is the size of the chunk in bytes.
    InScratch(usize),
}

/// A consistent copy of the cached state that locates chunks.
struct Map {
    offsets: Arc<Offsets>,
    header_len: u64,
    typesize: i32,
    /// The size of the data section in bytes.
    data_len: u64,
    counters: Counters,
    pending: bool,
    front_len: usize,
    checksums: Option<Arc<Vec<u64>>>,
}

impl Frame {
    /// Returns the offset of a chunk in a contiguous frame, relative to the first byte of the
    /// frame; `None` for chunks that are not stored and in sparse frames.
    pub fn chunk_position(&self, nchunk: usize) -> Option<u64> {
        let map = self.map().ok()?;
        let stored = map.offset(nchunk).ok()?;
        if self.is_sparse() || stored < 0 { None } else { map.position(stored).ok() }
    }

    /// Returns the number of chunks from a chunk on, without the last chunk of the frame, that have
    /// the same repeated value and size, no bytes in the frame, and no checksum. If the first chunk
    /// is another one, the result is 0. The time is proportional to the result.
    ///
    /// # Errors
    /// Returns the errors of reading the index and the checksums.
    pub fn special_run(&self, nchunk: usize) -> Result<usize> {
        let map = self.map()?;
        let is_special = map.offsets.get(nchunk).is_some_and(|stored| stored < 0);
        Ok(if is_special { map.equal_run(nchunk) } else { 0 })
    }

    /// Returns the number of chunks from a chunk on, without the last chunk of the frame, that have
    /// the same entry in the index and no checksum. The time is proportional to the result.
    ///
    /// # Errors
    /// Returns the errors of reading the index and the checksums.
    pub fn equal_run(&self, nchunk: usize) -> Result<usize> {
        Ok(self.map()?.equal_run(nchunk))
    }

    fn map(&self) -> Result<Map> {
        let mut cached = self.cached();
        let offsets = self.find_offsets(&mut cached)?;
        self.find_checksums(&mut cached, offsets.len())?;
        Ok(Map {
            checksums: cached.checksums.clone().flatten(),
            offsets,
            header_len: u64::from(cached.header_len),
            typesize: cached.typesize,
            data_len: cached.data_len(),
            counters: cached.counters,
            pending: !cached.pending.is_empty(),
            front_len: cached.front_len,
        })
    }

    /// Returns a chunk: borrowed from a frame in memory or in a mapping, otherwise a copy. A chunk
    /// of one repeated value, which is not stored, is built.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if there is no such chunk; [`Error::FileOpen`], [`Error::FileRead`],
    /// [`Error::InvalidHeader`], [`Error::Data`] if it cannot be read; [`Error::Data`] also if its
    /// checksum does not match.
    pub fn chunk(&self, nchunk: usize) -> Result<FrameChunk<'_>> {
        let map = self.map()?;
        let mut bytes = Buffer::new();
        let found = self.find_chunk(&map, nchunk, &mut bytes);
        let chunk = found.and_then(|found| match found {
            FoundChunk::Borrowed(chunk) => Ok(FrameChunk::Borrowed(chunk)),
            FoundChunk::Owned(chunk) => Ok(FrameChunk::Owned(chunk)),
            FoundChunk::InScratch(len) => {
                bytes.resize(len)?;
                Ok(FrameChunk::Owned(bytes))
            }
        });
        map.checked(nchunk, chunk)
    }

    /// Like [`Frame::chunk`], but a chunk in a file is read into `scratch`, which grows if needed.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::chunk`].
    pub fn chunk_into<'a>(&'a self, nchunk: usize, scratch: &'a mut Buffer) -> Result<&'a [u8]> {
        let map = self.map()?;
        let found = self.find_chunk(&map, nchunk, scratch);
        let chunk = found.and_then(|found| match found {
            FoundChunk::Borrowed(chunk) => Ok(chunk),
            FoundChunk::Owned(chunk) => {
                let scratch = scratch.ensure_len(chunk.len())?;
                scratch.copy_from_slice(&chunk);
                Ok(&*scratch)
            }
            FoundChunk::InScratch(len) => Ok(&scratch[..len]),
        });
        map.checked(nchunk, chunk)
    }

    /// Whether [`Frame::chunk`] compares a chunk with a checksum.
    ///
    /// # Errors
    /// Returns the errors of reading the index and the checksums.
    pub fn has_checksum(&self, nchunk: usize) -> Result<bool> {
        Ok(self.map()?.sum(nchunk).is_some())
    }

    /// Locates a chunk; one in a file is read into `scratch`.
    fn find_chunk(&self, map: &Map, nchunk: usize, scratch: &mut Buffer) -> Result<FoundChunk<'_>> {
        let stored = map.offset(nchunk)?;
        if let Some(kind) = offset::special(stored)? {
            return map.special_chunk(nchunk, kind).map(FoundChunk::Owned);
        }
        if map.pending {
            return self.pending_chunk(stored).map(FoundChunk::Owned);
        }
        let found = match &self.location {
            Location::Memory(memory) => {
                let start = usize::try_from(map.position(stored)?);
                let bytes = start.ok().and_then(|start| memory.bytes().get(start..));
                let bytes = bytes.ok_or(Error::InvalidHeader)?;
                let len = map.chunk_len(stored, bytes)?;
                FoundChunk::Borrowed(bytes.get(..len).ok_or(Error::InvalidHeader)?)
            }
            Location::Disk(files) if files.is_sparse() => {
                FoundChunk::InScratch(files.read_chunk_file(offset::file_id(stored)?, scratch)?)
            }
            Location::Disk(files) => {
                let reader = files.latest()?;
                map.read_chunk(&reader, nchunk, stored, scratch)?
            }
        };
        map.check_chunk(match &found {
            FoundChunk::Borrowed(chunk) => chunk,
            FoundChunk::Owned(chunk) => chunk,
            FoundChunk::InScratch(len) => &scratch[..*len],
        })?;
        Ok(found)
    }

    /// Returns a lazy chunk of a frame in files: its header, its block table, and the location of
    /// its blocks. Chunks without blocks, those in memory, and those with a known checksum are
    /// returned whole.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::chunk`].
    pub fn lazy_chunk(&self, nchunk: usize) -> Result<FrameChunk<'_>> {
        let map = self.map()?;
        let stored = map.offset(nchunk)?;
        let in_file = matches!(self.location, Location::Disk(_)) && stored >= 0 && !map.pending;
        if !in_file || map.sum(nchunk).is_some() {
            return self.chunk(nchunk);
        }
        let (lazy, front_len) = self.with_front_of(&map, stored, |front, whole| {
            map.check_chunk(front)?;
            let header = ChunkHeader::parse(front)?;
            let front_len = front_len(&header);
            let is_special = header.special != Special::None;
            if header.nbytes == 0 || !header.basic.is_extended() || is_special {
                return Ok((whole(header.cbytes)?, 0));
            }
            let (number, position) = if self.is_sparse() {
                let id = offset::file_id(stored)?;
                (id as i32, i64::from(id))
            } else {
                let position = i64::try_from(map.position(stored)?);
                (
                    i32::try_from(nchunk).map_err(|_| Error::InvalidHeader)?,
                    position.map_err(|_| Error::InvalidHeader)?,
                )
            };
            let lazy = make_lazy(front, number, position)?;
            Ok((Buffer::copy_of(&lazy)?, front_len))
        })?;
        if front_len > 0 {
            self.cached().front_len = front_len;
        }
        Ok(FrameChunk::Owned(lazy))
    }

    /// Calls `f` with the header and the block table of a stored chunk.
    pub(super) fn with_front<T>(
        &self,
        nchunk: usize,
        f: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        let map = self.map()?;
        let stored = map.offset(nchunk)?;
        if matches!(self.location, Location::Memory(_)) || stored < 0 || map.pending {
            return f(&self.chunk(nchunk)?);
        }
        self.with_front_of(&map, stored, |front, _| f(front))
    }

    /// Returns the uncompressed size of a chunk in bytes.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::chunk`].
    pub fn chunk_nbytes(&self, nchunk: usize) -> Result<usize> {
        let map = self.map()?;
        if offset::special(map.offset(nchunk)?)?.is_some() {
            return map.implied_len(nchunk);
        }
        let header = self.stored_header(nchunk)?;
        usize::try_from(header.nbytes).map_err(|_| Error::InvalidHeader)
    }

    /// Returns the header of a chunk that the frame stores. A chunk file may be truncated after the
    /// header, so that it can be replaced or removed: its size in the header is then correct if all
    /// chunks together have the recorded size.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::chunk`].
    pub(super) fn stored_header(&self, nchunk: usize) -> Result<BasicHeader> {
        let map = self.map()?;
        let stored = map.offset(nchunk)?;
        let files = match &self.location {
            Location::Disk(files) if files.is_sparse() && !map.pending && stored >= 0 => files,
            _ => return self.with_front(nchunk, BasicHeader::parse),
        };
        // Returns the header of a chunk file, and the size of the file.
        let header_of = |stored: i64| -> Result<(BasicHeader, u64)> {
            let reader = FrameReader::of_chunk_file(files.open_chunk(offset::file_id(stored)?)?);
            let mut header = [0; MIN_HEADER_LENGTH];
            reader.read(0, &mut header)?;
            Ok((BasicHeader::parse(&header)?, reader.available()?))
        };
        let (header, available) = header_of(stored)?;
        if header.cbytes as u64 > available {
            let mut total = i64::from(header.cbytes);
            for (other, stored) in map.offsets.iter().enumerate() {
                if other != nchunk && stored >= 0 {
                    total = total.saturating_add(header_of(stored)?.0.cbytes.into());
                }
            }
            if total != map.counters.cbytes {
                return Err(files.short_chunk_file(offset::file_id(stored)?));
            }
        }
        Ok(header)
    }

    /// Calls `f` with the start of a chunk in a file, up to the end of its block table, and with a
    /// function that reads the whole chunk, given its size.
    fn with_front_of<T>(
        &self,
        map: &Map,
        stored: i64,
        f: impl FnOnce(&[u8], &dyn Fn(usize) -> Result<Buffer>) -> Result<T>,
    ) -> Result<T> {
        let Location::Disk(files) = &self.location else {
            return Err(Error::InvalidParam);
        };
        let (reader, position, end) = if files.is_sparse() {
            let reader = FrameReader::of_chunk_file(files.open_chunk(offset::file_id(stored)?)?);
            let end = reader.available()?;
            (reader, 0, end)
        } else {
            let reader = files.latest()?;
            (reader, map.position(stored)?, map.header_len + map.data_len)
        };
        let available = end.checked_sub(position).ok_or(Error::InvalidHeader)?;
        let available = usize::try_from(available).unwrap_or(usize::MAX);
        let short = || {
            if files.is_sparse() {
                offset::file_id(stored).map_or_else(|error| error, |id| files.short_chunk_file(id))
            } else {
                Error::InvalidHeader
            }
        };
        let mut front = [0; GUESS_LIMIT];
        let first = map.front_len.clamp(EXTENDED_HEADER_LENGTH, GUESS_LIMIT);
        let first = &mut front[..first.min(available)];
        reader.read(position, first)?;
        let basic = BasicHeader::parse(first).map_err(|error| match error.kind() {
            ErrorKind::ReadBuffer => short(),
            _ => error,
        })?;
        let len = usize::try_from(basic.cbytes).map_err(|_| Error::InvalidHeader)?;
        if len > available {
            return Err(short());
        }
        let whole = |len: usize| {
            if len > available {
                return Err(short());
            }
            let mut bytes = Buffer::unspecified(len)?;
            reader.read(position, &mut bytes)?;
            Ok(bytes)
        };
        let wanted = front_len(&ChunkHeader::parse(first)?).min(len);
        if wanted <= first.len() {
            return f(first, &whole);
        }
        f(&reader.read_vec(position, wanted)?, &whole)
    }

    fn pending_chunk(&self, stored: i64) -> Result<Buffer> {
        let cached = self.cached();
        let start = usize::try_from(stored).map_err(|_| Error::InvalidHeader)?;
        let bytes = cached
            .pending
            .get(start..start + EXTENDED_HEADER_LENGTH)
            .ok_or(Error::InvalidHeader)?;
        Buffer::copy_of(bytes)
    }
}

/// Maximum number of bytes read from a chunk before its header is parsed.
const GUESS_LIMIT: usize = 1024;

/// Returns the size of a chunk's header and block table, in bytes.
fn front_len(header: &ChunkHeader) -> usize {
    if header.is_memcpyed() || header.special != Special::None || header.nbytes == 0 {
        return header.header_len();
    }
    let nblocks = if header.vl_blocks {
        header.basic.blocksize.max(0) as usize
    } else {
        header.nbytes.div_ceil(header.blocksize().max(1))
    };
    header.header_len() + WORD * nblocks
}

impl Map {
    /// Returns the checksum of a chunk, if it is known.
    fn sum(&self, nchunk: usize) -> Option<u64> {
        let sum = self.checksums.as_ref()?.get(nchunk).copied();
        sum.filter(|&sum| sum != OF_SPECIAL)
    }

    /// As [`Frame::equal_run`].
    fn equal_run(&self, nchunk: usize) -> usize {
        let end = self.offsets.len().saturating_sub(1);
        let Some(stored) = self.offsets.get(nchunk) else {
            return 0;
        };
        // A special chunk with a checksum was stored: its entry in the index is damaged.
        let is_in_run =
            |&other: &usize| self.offsets.get(other) == Some(stored) && self.sum(other).is_none();
        (nchunk..end).take_while(is_in_run).count()
    }

    fn offset(&self, nchunk: usize) -> Result<i64> {
        self.offsets.get(nchunk).ok_or(Error::InvalidParam)
    }

    /// Returns the offset of a chunk in the frame.
    fn position(&self, stored: i64) -> Result<u64> {
        u64::try_from(stored)
            .ok()
            .and_then(|stored| self.header_len.checked_add(stored))
            .ok_or(Error::InvalidHeader)
    }

    /// Returns the size in bytes of a chunk with this start, which must fit the data section.
    fn chunk_len(&self, stored: i64, front: &[u8]) -> Result<usize> {
        let header = BasicHeader::parse(front)?;
        let end = stored.checked_add(i64::from(header.cbytes));
        let inside = end.is_some_and(|end| end.max(0) as u64 <= self.data_len);
        match usize::try_from(header.cbytes) {
            Ok(len) if inside && len >= EXTENDED_HEADER_LENGTH => Ok(len),
            _ => Err(Error::InvalidHeader),
        }
    }

    /// Verifies the checksum of a chunk, if it is known.
    fn checked<T: Deref<Target = [u8]>>(&self, nchunk: usize, found: Result<T>) -> Result<T> {
        let Some(sum) = self.sum(nchunk) else {
            return found;
        };
        match found {
            Ok(chunk) if sum == checksum::of_chunk(&chunk) => Ok(chunk),
            Ok(_) => Err(Error::Data.because("its checksum does not match")),
            Err(error) => match error.kind() {
                ErrorKind::FileOpen | ErrorKind::FileRead | ErrorKind::MemoryAlloc => Err(error),
                // Bytes that are not even a valid chunk do not match the checksum either.
                _ => Err(error.recast(ErrorKind::Data)),
            },
        }
    }

    fn read_chunk<'a>(
        &self,
        reader: &FrameReader,
        nchunk: usize,
        stored: i64,
        scratch: &mut Buffer,
    ) -> Result<FoundChunk<'a>> {
        let position = self.position(stored)?;
        let mut header = [0; EXTENDED_HEADER_LENGTH];
        let lent = |view: View| {
            // SAFETY: the frame is borrowed for `'a`, so it is not written to, and the owner of a
            // mapping keeps it in place as long as a frame uses it.
            unsafe { view.bytes::<'a>() }
        };
        if let Some(view) = reader.view(position, EXTENDED_HEADER_LENGTH) {
            let len = self.chunk_len(stored, lent(view))?;
            let view = reader.view(position, len).ok_or(Error::FileRead)?;
            return Ok(FoundChunk::Borrowed(lent(view)));
        }
        // Chunks are mostly contiguous, so the next one usually starts at the end of this one.
        let next = self.offsets.get(nchunk + 1).filter(|&next| next > stored);
        let guess = next.unwrap_or(self.data_len as i64) - stored;
        let limit = self.counters.chunksize.max(0) as i64 + EXTENDED_HEADER_LENGTH as i64;
        if guess > EXTENDED_HEADER_LENGTH as i64 && guess <= limit {
            let bytes = scratch.ensure_len(guess as usize)?;
            reader.read(position, bytes)?;
            let len = self.chunk_len(stored, bytes)?;
            if len <= bytes.len() {
                return Ok(FoundChunk::InScratch(len));
            }
        }
        reader.read(position, &mut header)?;
        let len = self.chunk_len(stored, &header)?;
        reader.read(position, scratch.ensure_len(len)?)?;
        Ok(FoundChunk::InScratch(len))
    }

    /// Returns the size in bytes of the chunk with this number, which follows from the chunk size.
    fn implied_len(&self, nchunk: usize) -> Result<usize> {
        let chunksize = usize::try_from(self.counters.chunksize).unwrap_or(0);
        if chunksize == 0 {
            return Err(Error::InvalidHeader);
        }
        match self.remainder() {
            rest @ 1.. if nchunk + 1 == self.offsets.len() => Ok(rest),
            _ => Ok(chunksize),
        }
    }

    /// Returns the size of the short last chunk in bytes; 0 if all chunks are full.
    fn remainder(&self) -> usize {
        match self.counters.chunksize {
            ..=0 => 0,
            chunksize => (self.counters.nbytes.max(0) % i64::from(chunksize)) as usize,
        }
    }

    /// Rejects chunks whose size contradicts the header of the frame, and lazy chunks: they would
    /// be read from a position of the file that they contain. `chunk` is at least the header.
    fn check_chunk(&self, chunk: &[u8]) -> Result<()> {
        if is_lazy(chunk) {
            return Err(Error::InvalidHeader.because("a stored chunk is marked as lazy"));
        }
        let nbytes = BasicHeader::parse(chunk)?.nbytes;
        // Reordering can move the short chunk anywhere.
        let short = self.remainder() as i64;
        let right = self.counters.chunksize <= 0
            || nbytes == self.counters.chunksize
            || i64::from(nbytes) == short;
        if right || self.pending { Ok(()) } else { Err(Error::InvalidHeader) }
    }

    fn special_chunk(&self, nchunk: usize, kind: Special) -> Result<Buffer> {
        let nbytes = self.implied_len(nchunk)? as i32;
        // Other programs also write zeros whose length is not a multiple of the item size.
        let typesize = match kind {
            Special::Zero | Special::Uninit if nbytes.checked_rem(self.typesize) != Some(0) => 1,
            _ => self.typesize,
        };
        let params =
            CParams::default().typesize(typesize).blocksize(self.counters.blocksize.max(0));
        special::chunk_of(kind, &params, nbytes)
    }
}
