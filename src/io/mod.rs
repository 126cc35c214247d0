//! Access to files, and the backends that store frames.
//!
//! [`ReadAt`] reads files at an offset, from several threads at once and without a shared file
//! offset. A [`Backend`] stores frames.
//!
//! ```
//! use ferroblosc::io::ReadAt;
//!
//! let bytes = b"header and data".to_vec();
//! let mut four = [0; 4];
//! assert_eq!(bytes.read_at(11, &mut four)?, 4);
//! assert_eq!(&four, b"data");
//! assert_eq!(bytes.read_at(13, &mut four)?, 2, "fewer only at the end");
//! # Ok::<(), ferroblosc::Error>(())
//! ```

mod backend;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod beside;
#[cfg(not(feature = "internals"))]
pub(crate) mod beside;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod claim;
#[cfg(not(feature = "internals"))]
pub(crate) mod claim;
#[cfg(test)]
#[path = "../../tests/checks/fault/lib.rs"]
pub mod fault;
mod filesystem;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod ids;
#[cfg(not(feature = "internals"))]
pub(crate) mod ids;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod journal;
#[cfg(not(feature = "internals"))]
pub(crate) mod journal;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod lock;
#[cfg(not(feature = "internals"))]
pub(crate) mod lock;
#[cfg(all(feature = "internals", feature = "mmap"))]
#[doc(hidden)]
pub mod mapping;
#[cfg(all(not(feature = "internals"), feature = "mmap"))]
pub(crate) mod mapping;
#[cfg(feature = "mmap")]
pub mod mmap;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod named;
#[cfg(not(feature = "internals"))]
pub(crate) mod named;
mod page_buffer;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod paths;
#[cfg(not(feature = "internals"))]
pub(crate) mod paths;
mod reader;
mod regular;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod temporary;
#[cfg(not(feature = "internals"))]
pub(crate) mod temporary;
#[cfg(test)]
pub(crate) mod testing;

pub use backend::{
    Attributes, Backend, Durability, FileKind, FileOps, Identity, Mapped, Mode, Stream, View,
    WriteGranularity, append,
};
pub use filesystem::{DurableFileSystem, FileSystem};
#[cfg(not(feature = "internals"))]
pub(crate) use filesystem::{WRITE_STEP, stream_of};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use filesystem::{WRITE_STEP, stream_of, stream_of_borrowed};
pub(crate) use page_buffer::PageBuffer;
pub use reader::Reader;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use reader::open_with_spare_descriptors;
pub use regular::{open_regular, read_regular};

use crate::os::files;
use crate::{Error, Result, kernels};

/// Bytes that can be read at any offset.
pub trait ReadAt: Send + Sync {
    /// Reads into `dest` from `position` on; returns the number of bytes read, which is less than
    /// `dest.len()` only at the end.
    ///
    /// # Errors
    /// [`Error::FileRead`] when reading fails.
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize>;
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let start = usize::try_from(position).map_or(self.len(), |start| start.min(self.len()));
        let len = dest.len().min(self.len() - start);
        kernels::copy::copy(&self[start..start + len], &mut dest[..len]);
        Ok(len)
    }
}

impl ReadAt for std::fs::File {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        use std::io::ErrorKind;
        let mut filled = 0;
        while filled < dest.len() {
            match files::read_at(self, position + filled as u64, &mut dest[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::FileRead.during("read").os(error)),
            }
        }
        Ok(filled)
    }
}

impl ReadAt for &std::fs::File {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        ReadAt::read_at(*self, position, dest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_reads_like_the_bytes(source: &dyn ReadAt, bytes: &[u8]) {
        for position in [0, 1, bytes.len() - 1, bytes.len(), bytes.len() + 9] {
            let mut dest = [0; 7];
            let there = bytes.get(position..).unwrap_or_default();
            let len = source.read_at(position as u64, &mut dest).unwrap();
            assert_eq!(len, there.len().min(7));
            assert_eq!(dest[..len], there[..len]);
        }
    }

    #[test]
    fn memory_and_files_are_read_identically() {
        let bytes: Vec<u8> = (0..100).collect();
        assert_reads_like_the_bytes(&bytes, &bytes);
        let path = std::env::temp_dir().join(format!("ferroblosc-read-at-{}", std::process::id()));
        std::fs::write(&path, &bytes).unwrap();
        assert_reads_like_the_bytes(&std::fs::File::open(&path).unwrap(), &bytes);
        std::fs::remove_file(path).unwrap();
    }
}
