//! Sources of archives, and reads from sequential sources.

use std::fs::File;
use std::io::Read;

use super::error::{Error, Result};
use ferroblosc::io::ReadAt;
use ferroblosc::io::named::NamedFile;

/// Random access to a byte sequence of known size: a file, memory, or a server that supports range
/// requests.
///
/// ```
/// use ferroblosc_formats::blpk::{Archive, Result, Source};
/// use ferroblosc::io::ReadAt;
///
/// /// A file on a server that supports range requests.
/// struct Remote { /* the connection */ }
/// # impl Remote { fn get(&self, _: std::ops::Range<u64>) -> Vec<u8> { Vec::new() } }
///
/// impl ReadAt for Remote {
///     fn read_at(&self, position: u64, dest: &mut [u8]) -> ferroblosc::Result<usize> {
///         let body = self.get(position..position + dest.len() as u64);
///         dest[..body.len()].copy_from_slice(&body);
///         Ok(body.len())
///     }
/// }
///
/// impl Source for Remote {
///     fn size(&self) -> Result<u64> {
///         Ok(0) // the size that the server reported
///     }
/// }
///
/// assert!(Archive::open(Remote {}).is_err());
/// ```
pub trait Source: ReadAt {
    /// Returns the size in bytes.
    ///
    /// # Errors
    /// [`Error::Io`](super::Error::Io) if it cannot be determined.
    fn size(&self) -> Result<u64>;
}

impl Source for File {
    fn size(&self) -> Result<u64> {
        Ok(self.metadata()?.len())
    }
}

impl Source for &File {
    fn size(&self) -> Result<u64> {
        Source::size(*self)
    }
}

impl Source for NamedFile {
    fn size(&self) -> Result<u64> {
        Source::size(self.file())
    }
}

impl Source for Vec<u8> {
    fn size(&self) -> Result<u64> {
        Ok(self.len() as u64)
    }
}

/// Borrowed bytes as a source.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'b>(pub &'b [u8]);

impl ReadAt for Bytes<'_> {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> ferroblosc::Result<usize> {
        let start = usize::try_from(position).map_or(self.0.len(), |at| at.min(self.0.len()));
        let len = dest.len().min(self.0.len() - start);
        dest[..len].copy_from_slice(&self.0[start..start + len]);
        Ok(len)
    }
}

impl Source for Bytes<'_> {
    fn size(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }
}

/// A sequential reader of a source.
pub(super) struct Cursor<'s, S> {
    pub source: &'s S,
    pub position: u64,
}

impl<S: Source> Read for Cursor<'_, S> {
    fn read(&mut self, dest: &mut [u8]) -> std::io::Result<usize> {
        let read = self.source.read_at(self.position, dest).map_err(std::io::Error::other)?;
        self.position += read as u64;
        Ok(read)
    }
}

/// Reads until `dest` is full or the data end; returns the number of bytes read.
pub(super) fn read_up_to(reader: &mut impl Read, dest: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < dest.len() {
        match reader.read(&mut dest[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}

/// Fills `dest`; `what` names the section in errors.
pub(super) fn read_exactly(
    reader: &mut impl Read,
    dest: &mut [u8],
    what: &'static str,
) -> Result<()> {
    if read_up_to(reader, dest)? == dest.len() { Ok(()) } else { Err(Error::Truncated(what)) }
}
