//! Writing a new frame of many chunks as one change.
//!
//! A frame can be read after each chunk that is appended to it: the index and the checksums of all
//! chunks are written again each time. A new frame is not read before it is complete, so those of
//! many chunks are written in a transaction, which writes them once.

use super::error::Result;
use ferroblosc::schunk::{State, Storage, transaction};

/// The number of chunks above which a new frame is written as one change.
const MANY: u64 = 1 << 12;

/// Whether a new frame is written as one change.
#[derive(Clone, Copy, Debug)]
pub struct OneChange(bool);

impl OneChange {
    /// For a frame that will have this number of chunks, in a file or as a directory. A directory
    /// has a file for each chunk, and a transaction would sync all of them.
    pub fn of_stored(nchunks: u64, directory: bool) -> OneChange {
        OneChange(nchunks > MANY && !directory)
    }

    /// For a frame that will have this number of chunks, most of them without bytes.
    #[cfg(any(feature = "hdf5", feature = "zarr"))]
    pub(super) fn of_missing(nchunks: u64) -> OneChange {
        OneChange(nchunks > MANY)
    }

    /// Returns the storage that the new frame needs.
    pub fn storage(self, storage: Storage) -> Storage {
        if self.0 { storage.durable() } else { storage }
    }

    /// Begins the change. Metalayers of a fixed size are added before: they move the chunks.
    ///
    /// # Errors
    /// The errors of [`transaction::begin`].
    pub fn begin<S: State + ?Sized>(self, state: &mut S) -> Result<()> {
        if self.0 && transaction::has_transactions(state) {
            transaction::begin(state)?;
        }
        Ok(())
    }

    /// Commits the change.
    ///
    /// # Errors
    /// The errors of [`transaction::commit`].
    pub fn commit<S: State + ?Sized>(self, state: &mut S) -> Result<()> {
        if self.0 && transaction::has_transactions(state) {
            transaction::commit(state)?;
        }
        Ok(())
    }
}
