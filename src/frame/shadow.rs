//! Changing a file so that it is at every moment as it was or as it is to become.
//!
//! A frame's header alone decides where its index and trailer are. So a change writes all that is new behind
//! the frame of now:
//!
//! ```text
//! header | chunks | index | trailer |                                     before
//! header | chunks | index | trailer | new chunk | index | trailer |       written, but not yet part of it
//! header'| chunks | .............. | new chunk | index | trailer |       after
//! ```
//! waits until that is on the disk, and then writes the fixed part of the header over the old one: so few
//! bytes in so small a place that a disk writes all of them or none. What the new state doesn't refer to is a
//! hole. Nothing is written into holes: whoever still reads the old state, without locks, finds all of it.
//! When holes take more room than data, the frame is put together anew, see `compact.rs`.
//!
//! Every reader of the format reads such frames, since nothing in it says that there are no holes.

use crate::io::{Portions, Stream};
use crate::{Error, Result, trace_warning};

/// A change that is ready to be written.
pub struct Shadow<'a> {
    /// The file.
    pub stream: &'a dyn Stream,
    /// Where in it the frame begins.
    pub start: u64,
    /// The end of what may not be touched, counted from the start of the frame like all positions.
    pub end: u64,
    /// The bytes of the header that are there: its fixed part, or all of it.
    pub old: &'a [u8],
    /// As many bytes of the new header, within one sector.
    pub new: &'a [u8],
}

/// Why a change was not made.
#[derive(Clone, Debug)]
pub struct NotMade {
    /// What went wrong.
    pub error: Error,
    /// Whether the disk may hold the new header all the same, so that nothing of the new state may be
    /// overwritten.
    pub in_doubt: bool,
}

impl Shadow<'_> {
    /// Writes what is new and then the header.
    ///
    /// # Errors
    /// Those of the backend; the frame is as it was then, and what was written behind it is cut off, unless
    /// it is in doubt.
    pub fn commit(&self, writes: &[(u64, &[u8])]) -> std::result::Result<(), NotMade> {
        if let Err(error) = self.prepare(writes) {
            self.cut();
            return Err(NotMade {
                error,
                in_doubt: false,
            });
        }
        let Err(error) = self.write_header(self.new) else {
            return Ok(());
        };
        let in_doubt = self.write_header(self.old).is_err();
        if !in_doubt {
            self.cut();
        }
        Err(NotMade { error, in_doubt })
    }

    /// Writes and syncs everything but the header.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn prepare(&self, writes: &[(u64, &[u8])]) -> Result<()> {
        // What somebody left behind the frame would be behind the new one too, if it is longer.
        if self.stream.size()? > self.start + self.end {
            self.stream.truncate(self.start + self.end)?;
        }
        for &(position, bytes) in writes {
            self.stream
                .write_at(self.start + position, bytes, Portions::Bytes)?;
        }
        self.stream.sync()
    }

    fn write_header(&self, header: &[u8]) -> Result<()> {
        self.stream.write_at(self.start, header, Portions::Whole)?;
        self.stream.sync()
    }

    fn cut(&self) {
        if let Err(error) = self.stream.truncate(self.start + self.end) {
            trace_warning!("what a failed change left can't be cut off: {error}");
        }
    }
}
