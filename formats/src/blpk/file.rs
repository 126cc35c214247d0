//! The uncompressed data of a container as a file object.

use std::io::{self, Read, Seek, SeekFrom};

use super::archive::Archive;
use super::error::{Error, Result};
use super::source::Source;

/// Reads the uncompressed bytes of an archive, from any position. Caches the current chunk.
///
/// ```no_run
/// use ferroblosc_formats::blpk::{Archive, PlainFile};
/// use std::io::{Read, Seek, SeekFrom};
///
/// let mut file = PlainFile::new(Archive::open(std::fs::File::open("log.blp")?)?)?;
/// let mut tail = String::new();
/// file.seek(SeekFrom::End(-1000))?;
/// file.read_to_string(&mut tail)?;
/// # Ok::<(), ferroblosc_formats::blpk::Error>(())
/// ```
pub struct PlainFile<S> {
    archive: Archive<S>,
    size: u64,
    position: u64,
    /// The offset in bytes, in the uncompressed data, of the chunk that is cached in `plain`.
    kept: Option<u64>,
    plain: Vec<u8>,
}

impl<S: Source> PlainFile<S> {
    /// Returns a file object positioned at the start of the data.
    ///
    /// # Errors
    /// The errors of [`Archive::plain_size`].
    pub fn new(mut archive: Archive<S>) -> Result<PlainFile<S>> {
        let size = archive.plain_size()?;
        Ok(PlainFile { archive, size, position: 0, kept: None, plain: Vec::new() })
    }

    /// Returns the size of the data in bytes.
    pub fn len(&self) -> u64 {
        self.size
    }

    /// Whether the data are empty.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Returns the archive.
    pub fn into_archive(self) -> Archive<S> {
        self.archive
    }

    /// Returns the bytes from the current position to the end of the chunk that contains it.
    fn rest_of_chunk(&mut self) -> Result<&[u8]> {
        let offset_in = |start: u64, plain: &[u8]| -> Option<usize> {
            let offset = usize::try_from(self.position.checked_sub(start)?).ok()?;
            (offset < plain.len()).then_some(offset)
        };
        if let Some(offset) = self.kept.and_then(|start| offset_in(start, &self.plain)) {
            return Ok(&self.plain[offset..]);
        }
        self.kept = None;
        let index = self.archive.chunk_of(self.position)?;
        let place = self.archive.read_chunk(index, &mut self.plain)?;
        self.kept = Some(place.start);
        let offset = offset_in(place.start, &self.plain).ok_or(Error::ChunkData { index })?;
        Ok(&self.plain[offset..])
    }
}

impl<S: Source> Read for PlainFile<S> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.size || dest.is_empty() {
            return Ok(0);
        }
        let rest = self.rest_of_chunk().map_err(|error| match error {
            Error::Io(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        })?;
        let len = rest.len().min(dest.len());
        dest[..len].copy_from_slice(&rest[..len]);
        self.position += len as u64;
        Ok(len)
    }
}

impl<S: Source> Seek for PlainFile<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = target.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "a position before the beginning")
        })?;
        Ok(self.position)
    }
}
