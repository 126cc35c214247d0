//! Builds the header and the footer. Those of a frame in memory are built on the first access to
//! its bytes.

use crate::buffer::copied_to_vec;
use crate::frame::format::{
    Description, Footer, IndexForm, checksum::FingerprintStatus, header, index,
};
use crate::frame::store::{Frame, Location, Memory, Transaction, Unpublished};
use crate::{Error, Result};

impl Frame {
    /// Builds the header and the footer of these chunks.
    ///
    /// # Errors
    /// [`Error::Data`] if the header would change its length; [`Error::MemoryAlloc`]; the errors of
    /// an invalid description.
    pub(super) fn footer(
        &mut self,
        description: &Description,
        offsets: &[i64],
        form: IndexForm,
        checksums: Option<&[u64]>,
    ) -> Result<Footer> {
        let header = header::build(description, self.kind())?;
        self.cached_mut().check_header_len(&header)?;
        let index = self.encode_index(offsets, form, description.counters.nbytes)?;
        let data_len = if self.is_sparse() { 0 } else { description.counters.cbytes.max(0) as u64 };
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

    /// Builds the bytes around the current chunks.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::footer`], and those of reading the index and the checksums.
    pub(super) fn footer_of_current(
        &mut self,
        description: &Description,
        form: IndexForm,
    ) -> Result<Footer> {
        let offsets = self.offsets()?;
        let checksums = self.checksums()?;
        let offsets = offsets.as_slice()?;
        self.footer(description, &offsets, form, checksums.as_deref())
    }

    /// Builds the bytes around the current chunks with the stored index.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::footer_of_current`].
    pub(super) fn footer_with_stored_index(&self, description: &Description) -> Result<Footer> {
        let header = header::build(description, self.kind())?;
        let checksums = self.checksums()?;
        let cached = self.cached();
        cached.check_header_len(&header)?;
        let index = copied_to_vec(self.stored_footer(&cached)?.index())?;
        let index_at = cached.index_position(self.is_sparse());
        let trailer = &description.trailer;
        Footer::new(header, index_at, index, trailer, checksums.as_deref())
    }

    /// Writes index, trailer and header of a frame in memory, if they are outdated.
    pub(super) fn flush(&mut self) -> Result<()> {
        if !self.is_memory() {
            return Ok(());
        }
        let Some(unpublished) = self.unpublished.take() else {
            return Ok(());
        };
        let result = self.write_footer_to_memory(&unpublished);
        if result.is_err() {
            self.unpublished = Some(unpublished);
        }
        result
    }

    fn write_footer_to_memory(&mut self, unpublished: &Unpublished) -> Result<()> {
        let footer = self.footer_of_current(&unpublished.description, unpublished.form)?;
        let nchunks = self.offsets()?.len();
        let Some((memory, cached)) = self.memory_and_cached() else {
            return Err(Error::InvalidParam);
        };
        let bytes = memory.to_mut()?;
        bytes.resize(footer.start() as usize)?;
        bytes.reserve(footer.index.len() + footer.rest.len())?;
        bytes.append(&footer.index)?;
        bytes.append(&footer.rest)?;
        bytes[..footer.header.len()].copy_from_slice(&footer.header);
        cached.written(&footer);
        cached.encoded = nchunks;
        Ok(())
    }

    /// Returns the bytes of a frame in memory; `None` for one in files.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn memory(&mut self) -> Result<Option<&mut Memory>> {
        self.flush()?;
        match &mut self.location {
            Location::Memory(memory) => Ok(Some(memory)),
            Location::Disk(_) => Ok(None),
        }
    }

    /// Returns the size of the frame in bytes; for a sparse frame the size of its index file.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn frame_len(&mut self) -> Result<u64> {
        self.flush()?;
        Ok(self.cached_mut().len)
    }

    /// Returns the state of the fingerprint, and the checksums.
    ///
    /// # Errors
    /// Returns the errors of reading the frame.
    pub fn seal(&mut self) -> Result<FingerprintStatus> {
        self.flush()?;
        let cached = self.cached();
        if !cached.is_fingerprinted {
            return Ok(FingerprintStatus::Absent);
        }
        // The committed state is in the file while a transaction defers its changes.
        let committed = self.deferring().and_then(Transaction::committed);
        Ok(self.stored_footer(committed.unwrap_or(&cached))?.inspect())
    }
}
