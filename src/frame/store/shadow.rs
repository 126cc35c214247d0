//! Atomic changes of a file: after a crash it holds either the old or the new state.
//!
//! The header of a frame alone determines the offsets of its index and trailer. A change therefore
//! writes all new bytes after the end of the current frame:
//!
//! ```text
//! header | chunks | index | trailer |                               before
//! header | chunks | index | trailer | new chunk | index | trailer | written, not yet referred to
//! header'| chunks | ............... | new chunk | index | trailer | after
//! ```
//! The change then waits until these bytes are on the disk, and overwrites the fixed part of the
//! header. That part fits into one sector, which a disk writes completely or not at all. Bytes that
//! the new state does not refer to are a hole. Holes are never written to, so lock-free readers of
//! the old state still find all of it. Once holes are larger than the data, the frame is compacted,
//! see `ops/compact.rs`.
//!
//! All readers of the format accept such frames, since the format does not forbid holes.

use super::journal::CommitError;
use crate::io::{Stream, WriteGranularity};
use crate::{Result, trace_warning};

/// A change that is ready to be written.
pub struct Shadow<'a> {
    /// The file.
    pub stream: &'a dyn Stream,
    /// The offset of the frame in the file.
    pub start: u64,
    /// The end of the bytes that must stay unchanged. All offsets are relative to the start of the
    /// frame.
    pub end: u64,
    /// The current bytes of the header: its fixed part, or all of it.
    pub old: &'a [u8],
    /// The new header, of the same length, within one sector.
    pub new: &'a [u8],
}

impl Shadow<'_> {
    /// Writes the new bytes and then the header.
    ///
    /// # Errors
    /// Returns the errors of the backend. The frame is then unchanged and the bytes after it are
    /// truncated, unless the change is in doubt.
    pub fn commit(&self, writes: &[(u64, &[u8])]) -> std::result::Result<(), CommitError> {
        if let Err(error) = self.prepare(writes) {
            self.cut();
            return Err(CommitError::undone(error));
        }
        let Err(error) = self.write_header(self.new) else {
            return Ok(());
        };
        let in_doubt = self.write_header(self.old).is_err();
        if !in_doubt {
            self.cut();
        }
        Err(CommitError { error, in_doubt })
    }

    /// Writes and syncs everything except the header.
    ///
    /// # Errors
    /// Returns the errors of the backend.
    pub fn prepare(&self, writes: &[(u64, &[u8])]) -> Result<()> {
        // Leftover bytes that extend beyond the new frame would follow it otherwise.
        if self.stream.size()? > self.start + self.end {
            self.stream.truncate(self.start + self.end)?;
        }
        for &(position, bytes) in writes {
            self.stream.write_at(self.start + position, bytes, WriteGranularity::Bytes)?;
        }
        self.stream.sync()
    }

    fn write_header(&self, header: &[u8]) -> Result<()> {
        self.stream.write_at(self.start, header, WriteGranularity::Whole)?;
        self.stream.sync()
    }

    fn cut(&self) {
        if let Err(error) = self.stream.truncate(self.start + self.end) {
            trace_warning!("the bytes of a failed change cannot be truncated: {error}");
        }
    }
}
