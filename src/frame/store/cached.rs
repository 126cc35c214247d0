//! The state of a frame as it was last read or written.

use crate::frame::format::{
    Counters, Description, Footer, FrameHeader, IndexForm, Offsets, trailer,
};
use crate::{Error, Result};
use std::sync::Arc;

/// The cached state of a frame.
#[derive(Clone)]
pub struct CachedState {
    /// The size of the frame in bytes.
    pub len: u64,
    pub header_len: u32,
    pub trailer_len: u32,
    pub counters: Counters,
    /// The size of an item in bytes, as the header records it.
    pub typesize: i32,
    /// The offsets of the chunks, read on first use.
    pub offsets: Option<Arc<Offsets>>,
    /// The header and the footer of a frame in files, if the last change wrote all of them.
    pub footer: Option<Arc<Footer>>,
    /// The number of leading offsets that are unchanged since the encoder last encoded them.
    pub encoded: usize,
    /// Largest number of a chunk file, computed on first use.
    pub max_id: Option<i64>,
    /// Chunks without data that were added before any chunk with data; the frame does not store
    /// them yet.
    pub pending: Vec<u8>,
    /// The number of bytes before the blocks of the last chunk that was read lazily: an estimate
    /// for the next one.
    pub front_len: usize,
    /// Whether the next access must read the frame again even if the lengths match.
    pub stale: bool,
    /// Whether the path names another file than the one that was read.
    pub is_replaced: bool,
    /// Whether the frame has a fingerprint.
    pub is_fingerprinted: bool,
    /// The checksums of the chunks, read on first use; the inner option is `None` for a frame
    /// without them.
    pub checksums: Option<Option<Arc<Vec<u64>>>>,
    /// Whether an open transaction stages the changes in memory and writes one journal at its
    /// commit, so that single changes need no journal.
    pub is_journaled: bool,
    /// Whether a change in such a transaction failed, so that the staged bytes may be in neither
    /// the old nor the new state.
    pub is_torn: bool,
}

/// Header, index and trailer that are not written yet: those of a frame in memory until the next
/// access to its bytes, and those of an open transaction until its commit.
#[derive(Clone)]
pub struct Unpublished {
    pub description: Description,
    pub form: IndexForm,
}

impl CachedState {
    /// Returns the state of a frame with this header. Its index and checksums are not cached yet.
    pub fn of(header: &FrameHeader, trailer_len: u32, is_fingerprinted: bool) -> CachedState {
        CachedState {
            len: header.frame_len,
            header_len: header.header_len,
            trailer_len,
            counters: header.counters,
            typesize: header.recorded.typesize,
            offsets: None,
            footer: None,
            encoded: 0,
            max_id: None,
            pending: Vec::new(),
            front_len: 0,
            stale: false,
            is_replaced: false,
            is_fingerprinted,
            checksums: None,
            is_journaled: false,
            is_torn: false,
        }
    }

    /// Records that another file was renamed to the path.
    pub fn replaced(&mut self) {
        self.stale = true;
        self.is_replaced = true;
    }

    /// Returns a copy for a rollback, without the cached footer.
    pub fn snapshot(&self) -> CachedState {
        CachedState { footer: None, ..self.clone() }
    }

    /// Updates the lengths, and whether there is a fingerprint, after `footer` was written.
    pub fn written(&mut self, footer: &Footer) {
        self.len = footer.frame_len();
        self.trailer_len = footer.trailer_len;
        self.is_fingerprinted = trailer::fingerprint(&footer.rest).is_some();
    }

    /// Checks that a new header has the length of the current one, because chunks follow it.
    ///
    /// # Errors
    /// [`Error::Data`] if it does not.
    pub fn check_header_len(&self, header: &[u8]) -> Result<()> {
        if header.len() == self.header_len as usize { Ok(()) } else { Err(Error::Data) }
    }

    /// Returns the size of the data section in bytes.
    pub fn data_len(&self) -> u64 {
        self.counters.cbytes.max(0) as u64
    }

    /// Returns the offset of the index.
    pub fn index_position(&self, sparse: bool) -> u64 {
        let data = if sparse { 0 } else { self.data_len() };
        u64::from(self.header_len) + data
    }

    /// Returns the offset of the trailer.
    pub fn trailer_position(&self) -> u64 {
        if self.counters.nbytes > 0 {
            self.len - u64::from(self.trailer_len)
        } else {
            u64::from(self.header_len)
        }
    }
}
