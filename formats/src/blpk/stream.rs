//! Sequential access to chunks, from any reader.

use std::io::Read;

use super::chunk::{Chunk, resize};
use super::error::{Error, Result};
use super::header::Header;
use super::metadata::{MetadataSection, skip};
use super::prelude::Prelude;
use super::source::{read_exactly, read_up_to};
use ferroblosc::chunk::MIN_HEADER_LENGTH;

/// Bytes per read of a chunk if the size of the file is unknown.
const STEP: usize = 1 << 20;

/// Reads the chunks of a container sequentially.
///
/// ```
/// # use ferroblosc_formats::blpk::{Header, Stream};
/// # fn main() -> ferroblosc_formats::blpk::Result<()> {
/// # let file = Header::version1(Some(0)).encode()?;
/// let mut stream = Stream::new(file.as_slice(), None)?;
/// let mut engine = ferroblosc::blosc1::Engine::default();
/// let (mut stored, mut plain) = (Vec::new(), Vec::new());
/// while let Some(chunk) = stream.next_chunk(&mut stored)? {
///     chunk.decode(&stored, &mut engine, 1, &mut plain)?;
///     println!("{} bytes", plain.len());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Stream<R> {
    reader: R,
    prelude: Prelude,
    size: Option<u64>,
    position: u64,
    next: u64,
}

impl<R: Read> Stream<R> {
    /// Reads everything before the chunks. `size` is the size of the container in bytes, if known.
    ///
    /// # Errors
    /// The errors of [`Prelude::read`].
    pub fn new(mut reader: R, size: Option<u64>) -> Result<Stream<R>> {
        let prelude = Prelude::read(&mut reader, size)?;
        let offsets = prelude.chunks_start - prelude.offsets_start;
        skip(&mut reader, offsets, "the offsets")?;
        Ok(Stream { reader, position: prelude.chunks_start, prelude, size, next: 0 })
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.prelude.header
    }

    /// Returns the metadata section, if there is one.
    pub fn metadata(&self) -> Option<&MetadataSection> {
        self.prelude.metadata.as_ref()
    }

    /// Returns the prelude: everything before the chunks.
    pub fn prelude(&self) -> &Prelude {
        &self.prelude
    }

    /// Returns the offset of the next chunk, in bytes.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Reads the next chunk with its digest into `stored`, whose content is replaced; returns
    /// `None` after the last one.
    ///
    /// A container that does not record its number of chunks extends to the end of the file.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the file ends within the chunk or its digest; the errors of the
    /// chunk's header.
    pub fn next_chunk(&mut self, stored: &mut Vec<u8>) -> Result<Option<Chunk>> {
        let nchunks = self.prelude.header.nchunks;
        if nchunks.is_some_and(|nchunks| self.next >= nchunks) {
            return Ok(None);
        }
        let mut header = [0; MIN_HEADER_LENGTH];
        match read_up_to(&mut self.reader, &mut header)? {
            MIN_HEADER_LENGTH => {}
            0 if nchunks.is_none() => return Ok(None),
            _ => return Err(Error::Truncated("the header of a chunk")),
        }
        let chunk = Chunk::check(&header, self.next, &self.prelude.header)?;
        let end = self.position + chunk.stored_len();
        if self.size.is_some_and(|size| end > size) {
            return Err(Error::Truncated("a chunk"));
        }
        resize(stored, MIN_HEADER_LENGTH)?;
        stored.copy_from_slice(&header);
        self.read_body(chunk.stored_len() as usize, stored)?;
        self.position = end;
        self.next += 1;
        Ok(Some(chunk))
    }

    fn read_body(&mut self, len: usize, stored: &mut Vec<u8>) -> Result<()> {
        while stored.len() < len {
            let filled = stored.len();
            let step = match self.size {
                Some(_) => len - filled,
                None => STEP.min(len - filled),
            };
            stored.try_reserve(step)?;
            stored.resize(filled + step, 0);
            read_exactly(&mut self.reader, &mut stored[filled..], "a chunk")?;
        }
        Ok(())
    }
}
