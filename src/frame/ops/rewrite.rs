//! Changes of the metalayers, which rewrite the header and the footer.

use crate::frame::format::{Description, Footer, IndexForm, header, index};
use crate::frame::store::{Changes, Files, Frame, Space, change_in_place};
use crate::io::WriteGranularity;
use crate::{Buffer, Result};
use std::sync::Arc;

impl Frame {
    /// Rewrites the header, which keeps its length, after a change of the contents of fixed
    /// metalayers.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::change`].
    pub fn rewrite_header(&mut self, description: &Description) -> Result<()> {
        self.prepare_change()?;
        self.flush()?;
        if self.rewrites_later() {
            return self.rewrite_later(description);
        }
        match self.files().map(Arc::clone) {
            Some(files) if self.has_fingerprint() || files.is_sparse() && files.is_durable() => {
                self.rewrite_around_index(&files, description)
            }
            _ => self.rewrite_sections(description, None),
        }
    }

    /// Rewrites the trailer after a change of variable-length metalayers. Returns the size in bytes
    /// of the data section, or of all chunk files.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::change`].
    pub fn rewrite_trailer(&mut self, mut description: Description) -> Result<i64> {
        self.prepare_change()?;
        self.flush()?;
        let cbytes = description.counters.cbytes;
        if self.rewrites_later() {
            self.rewrite_later(&description)?;
            return Ok(cbytes);
        }
        match self.files().map(Arc::clone) {
            Some(files) if self.has_shadows() && description.counters.nbytes > 0 => {
                description.counters.cbytes = self.shadow_data_len();
                let nchunks = self.offsets()?.len();
                let form = IndexForm::Encoded(index::capacity(nchunks));
                let footer = self.footer_of_current(&description, form)?;
                self.shadow(&files, &[], &footer)?;
                self.remember_footer(footer);
                let cached = self.cached_mut();
                cached.counters.cbytes = description.counters.cbytes;
                cached.encoded = nchunks;
                return Ok(self.compact_if_worthwhile(description.counters.cbytes));
            }
            Some(files) if self.has_fingerprint() || files.is_durable() => {
                self.rewrite_around_index(&files, &description)?;
            }
            _ => self.rewrite_sections(&description, Some(&description.trailer))?,
        }
        Ok(cbytes)
    }

    /// Rewrites a frame without chunks, with other metalayers.
    ///
    /// # Errors
    /// Returns the same errors as [`Frame::change`].
    pub fn rewrite_empty(&mut self, description: &Description) -> Result<()> {
        self.prepare_change()?;
        self.flush()?;
        let footer = Footer::of_empty(description, self.kind(), self.has_fingerprint())?;
        let header_len = footer.header.len() as u32;
        if self.deferring().is_some() {
            self.replace_header_later(header_len, description);
            return Ok(());
        }
        if let Some((memory, _)) = self.memory_and_cached() {
            *memory.to_mut()? = Buffer::copy_of(&footer.to_bytes()?)?;
        } else if let Some(files) = self.files().map(Arc::clone) {
            if files.is_replaceable() {
                self.replace_file(&files, &footer)?;
            } else {
                let bytes = footer.to_bytes()?;
                change_in_place(&files, self.cached_mut(), |writer| {
                    writer.write(0, &bytes, WriteGranularity::Whole)?;
                    writer.end_file(bytes.len() as u64)
                })?;
            }
        }
        self.remember_footer(footer);
        let cached = self.cached_mut();
        cached.header_len = header_len;
        cached.counters = description.counters;
        Ok(())
    }

    /// Whether the header and the footer are written by the commit of the open transaction, or with
    /// the checksums of a frame in memory.
    fn rewrites_later(&self) -> bool {
        self.deferring().is_some() || self.is_memory() && self.has_fingerprint()
    }

    fn rewrite_later(&mut self, description: &Description) -> Result<()> {
        let header = header::build(description, self.kind())?;
        self.cached_mut().check_header_len(&header)?;
        self.publish_later(description, None);
        Ok(())
    }

    /// Records a new header of a frame without chunks for the commit of the open transaction.
    fn replace_header_later(&mut self, header_len: u32, description: &Description) {
        let cached = self.cached_mut();
        let old_len = u64::from(cached.header_len);
        cached.header_len = header_len;
        cached.counters = description.counters;
        let header_len = u64::from(header_len);
        if let Some(open) = self.transaction.as_deref_mut()
            && let Changes::File { space, .. } = &mut open.changes
        {
            // A rollback of an inner transaction may restore chunks up to this offset.
            let end = (old_len + space.end()).max(header_len);
            *space = Space::new(end - header_len);
        }
        self.publish_later(description, None);
    }

    /// Rewrites everything except chunks and index, with new checksums.
    fn rewrite_around_index(&mut self, files: &Files, description: &Description) -> Result<()> {
        let footer = self.footer_with_stored_index(description)?;
        let has_chunks = !footer.index.is_empty() && !files.is_sparse();
        if files.is_replaceable() && !has_chunks {
            self.replace_file(files, &footer)?;
        } else {
            change_in_place(files, self.cached_mut(), |writer| {
                writer.write(0, &footer.header, WriteGranularity::Whole)?;
                writer.write(footer.rest_at(), &footer.rest, WriteGranularity::Bytes)?;
                writer.end_file(footer.frame_len())
            })?;
        }
        self.remember_footer(footer);
        Ok(())
    }

    /// Rewrites the header, which keeps its length, and the trailer, if one is given, of a frame
    /// without checksums.
    fn rewrite_sections(
        &mut self,
        description: &Description,
        trailer: Option<&Arc<Vec<u8>>>,
    ) -> Result<()> {
        let mut header = header::build(description, self.kind())?;
        let cached = self.cached_mut();
        cached.check_header_len(&header)?;
        let trailer_at = cached.trailer_position();
        let len = trailer.map_or(cached.len, |trailer| trailer_at + trailer.len() as u64);
        header::set_frame_len(&mut header, len);
        let old_footer = cached.footer.clone();
        if let Some((memory, _)) = self.memory_and_cached() {
            let bytes = memory.to_mut()?;
            if let Some(trailer) = trailer {
                bytes.reserve(trailer.len())?;
                bytes.resize(trailer_at as usize)?;
                bytes.append(trailer)?;
            }
            bytes[..header.len()].copy_from_slice(&header);
        } else if let Some(files) = self.files().map(Arc::clone) {
            change_in_place(&files, self.cached_mut(), |writer| {
                writer.write(0, &header, WriteGranularity::Whole)?;
                let Some(trailer) = trailer else {
                    return Ok(());
                };
                writer.write(trailer_at, trailer, WriteGranularity::Bytes)?;
                writer.end_file(len)
            })?;
        }
        let cached = self.cached_mut();
        cached.len = len;
        if let Some(trailer) = trailer {
            cached.trailer_len = trailer.len() as u32;
        }
        let rest = trailer.or(old_footer.as_ref().map(|old| &old.rest)).cloned();
        if let Some(rest) = rest
            && !self.is_memory()
        {
            self.remember_sections(old_footer, header, rest);
        }
        Ok(())
    }

    /// Caches the footer of a frame without checksums after its header or trailer was rewritten, so
    /// that the next change does not read it back. `old` is the previous footer, if it was cached.
    fn remember_sections(
        &mut self,
        old: Option<Arc<Footer>>,
        header: Vec<u8>,
        trailer: Arc<Vec<u8>>,
    ) {
        let cached = self.cached();
        let index = match old {
            Some(old) => Arc::try_unwrap(old).map_or_else(|old| old.index.clone(), |old| old.index),
            None if cached.counters.nbytes <= 0 => Vec::new(),
            None => match self.read_index(&cached) {
                Ok(index) => index.into_owned(),
                Err(_) => return,
            },
        };
        let index_at = cached.index_position(self.is_sparse());
        drop(cached);
        let footer =
            Footer { header, index_at, index, trailer_len: trailer.len() as u32, rest: trailer };
        let cached = self.cached_mut();
        cached.footer = (footer.frame_len() == cached.len).then(|| Arc::new(footer));
    }
}
