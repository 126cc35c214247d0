//! The bytes around the chunks of a frame, which are written together: the header before them, and
//! the footer after them.
//!
//! ```text
//! header | chunks | index | rest: checksums, if any, and trailer |
//! ```

use super::checksum_io;
use super::description::Description;
use super::frame::{CachedState, Frame, build_header};
use super::header::{self, Kind};
use super::index;
use super::write::IndexForm;
use crate::{Error, Result};
use std::sync::Arc;

/// The footer of a frame, with the header that refers to it.
pub(super) struct Footer {
    /// The whole header.
    pub header: Vec<u8>,
    /// Position of the index.
    pub index_at: u64,
    /// The index; empty in a frame without data.
    pub index: Vec<u8>,
    /// The bytes after the index, or after the header in a frame without data. They may include
    /// large metalayers, so they are shared with the description.
    pub rest: Arc<Vec<u8>>,
    /// Size of the trailer, at the end of `rest`, in bytes.
    pub trailer_len: u32,
}

impl Footer {
    /// Returns the position of `rest`.
    pub fn rest_at(&self) -> u64 {
        if self.index.is_empty() {
            self.header.len() as u64
        } else {
            self.index_at + self.index.len() as u64
        }
    }

    /// Returns the position after the chunks: that of the index, or of `rest` in a frame without
    /// data.
    pub fn start(&self) -> u64 {
        if self.index.is_empty() {
            self.rest_at()
        } else {
            self.index_at
        }
    }

    /// Returns the size of the frame in bytes.
    pub fn frame_len(&self) -> u64 {
        self.rest_at() + self.rest.len() as u64
    }

    /// Returns the bytes of a range with their positions; `None` if the range includes bytes of
    /// chunks, which are not cached.
    pub fn range(&self, position: u64, len: u64) -> Option<impl Iterator<Item = (u64, &[u8])>> {
        let end = position + len;
        let is_of_it = end <= self.header.len() as u64 || (self.start()..=end).contains(&position);
        let parts: [(u64, &[u8]); 3] = [
            (0, &self.header),
            (self.index_at, &self.index),
            (self.rest_at(), &self.rest),
        ];
        is_of_it.then(|| {
            parts.into_iter().filter_map(move |(at, bytes)| {
                let first = position.max(at);
                let last = end.min(at + bytes.len() as u64);
                let range = first.checked_sub(at)? as usize..last.checked_sub(at)? as usize;
                Some((first, bytes.get(range)?))
            })
        })
    }

    /// Whether the header, the index or the rest is at this position and equals `bytes`. Contents
    /// are compared only if they are not the same slice.
    pub fn has(&self, position: u64, bytes: &[u8]) -> bool {
        let parts: [(u64, &[u8]); 3] = [
            (0, &self.header),
            (self.index_at, &self.index),
            (self.rest_at(), &self.rest),
        ];
        parts
            .into_iter()
            .any(|(at, part)| at == position && (std::ptr::eq(part, bytes) || part == bytes))
    }

    /// Returns the header, the index and the rest as one buffer: a contiguous frame without chunks,
    /// or the index file of a sparse frame.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(self.header.len() + self.index.len() + self.rest.len())?;
        bytes.extend_from_slice(&self.header);
        bytes.extend_from_slice(&self.index);
        bytes.extend_from_slice(&self.rest);
        Ok(bytes)
    }
}

impl Frame {
    /// Builds the bytes around these chunks.
    ///
    /// # Errors
    /// [`Error::Data`] if the header would change its length; [`Error::MemoryAlloc`]; those of an
    /// invalid description.
    pub(super) fn footer(
        &mut self,
        description: &Description,
        offsets: &[i64],
        form: IndexForm,
        checksums: Option<&[u64]>,
    ) -> Result<Footer> {
        let kind = self.kind();
        let header = build_header(description, kind)?;
        check_header_len(self.cached_mut(), &header)?;
        let index = self.encode_index(offsets, form, description.counters.nbytes)?;
        let data_len = match kind {
            Kind::Contiguous => description.counters.cbytes.max(0) as u64,
            Kind::Sparse => 0,
        };
        let index_at = header.len() as u64 + data_len;
        Footer::new(header, index_at, index, &description.trailer, checksums)
    }

    /// Returns the index chunk; empty for a frame without data.
    pub(super) fn encode_index(
        &mut self,
        offsets: &[i64],
        form: IndexForm,
        nbytes: i64,
    ) -> Result<Vec<u8>> {
        if nbytes == 0 {
            return Ok(Vec::new());
        }
        let unchanged = self.cached_mut().encoded;
        match form {
            IndexForm::Encoded(capacity) => {
                let encoder = match &mut self.encoder {
                    Some(encoder) => encoder,
                    none => none.insert(index::Encoder::new()?),
                };
                encoder.encode(offsets, unchanged, capacity)
            }
            IndexForm::Fill(kind) => index::fill(offsets.len(), kind),
        }
    }
}

impl Footer {
    /// Assembles the sections and sets the frame length in the header.
    pub fn new(
        header: Vec<u8>,
        index_at: u64,
        index: Vec<u8>,
        trailer: &Arc<Vec<u8>>,
        checksums: Option<&[u64]>,
    ) -> Result<Footer> {
        let rest = checksum_io::rest(&header, &index, trailer, checksums)?;
        let mut footer = Footer {
            header,
            index_at,
            index,
            rest,
            trailer_len: trailer.len() as u32,
        };
        let len = footer.frame_len();
        header::set_frame_len(&mut footer.header, len);
        Ok(footer)
    }
}

/// Checks that a new header has the length of the current one, because chunks follow it.
pub(super) fn check_header_len(cached: &CachedState, header: &[u8]) -> Result<()> {
    if header.len() == cached.header_len as usize {
        Ok(())
    } else {
        Err(Error::Data)
    }
}
