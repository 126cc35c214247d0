//! Rewriting of a frame without unused bytes, also before it is closed.
//!
//! The chunks of a contiguous frame are copied in order to a temporary file, which then replaces
//! the old one. In a sparse frame the chunk files that the index does not refer to are removed.

use crate::buffer::copied_to_vec;
use crate::chunk::{
    BasicHeader, ChunkHeader, DParams, Decompressor, EXTENDED_HEADER_LENGTH, Special,
};
use crate::frame::format::{
    Description, Footer, IndexForm, Kind, Offsets, checksum, header, index,
};
use crate::frame::store::{Files, Frame, FrameReader, Location};
use crate::io::{Stream, WriteGranularity};
use crate::os::process;
use crate::{Error, Result, trace_warning};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Growth of the data section in bytes, beyond a doubling, that is allowed before holes are
/// searched.
const SMALL: i64 = 1 << 20;
/// The number of bytes copied at a time.
const SEGMENT: usize = 1 << 20;

/// The stored chunks of a contiguous frame. The index of a damaged frame can refer to one of them
/// many times.
struct Stored {
    extents: Vec<Extent>,
    /// The offsets of the chunks without holes, by the offsets with holes.
    moved: HashMap<i64, i64>,
    /// The size of all chunks in bytes, without holes.
    len: i64,
}

/// A chunk to copy.
struct Extent {
    /// The number of the first chunk that is stored there.
    nchunk: usize,
    /// The offset after the header.
    position: u64,
    /// The size in bytes.
    len: usize,
}

impl Frame {
    /// Frees the bytes that the frame does not use. Returns the size in bytes of the data section,
    /// or of all chunk files. In a contiguous frame with checksums, missing checksums are computed,
    /// except those of chunks that cannot be decompressed.
    ///
    /// A frame in memory, and one that shares its file with other data, stays unchanged.
    ///
    /// # Errors
    /// Returns the errors of [`Frame::change`] and of reading.
    pub fn compact(&mut self) -> Result<i64> {
        if self.transaction.is_some() {
            return Err(Error::InvalidParam);
        }
        let files = match &self.location {
            Location::Disk(files) if files.start() == 0 && !self.legacy => Arc::clone(files),
            _ => return Ok(self.cached_mut().counters.cbytes),
        };
        self.prepare_change()?;
        match files.directory() {
            Some(_) => self.remove_orphans(&files)?,
            None if self.cached_mut().counters.nbytes > 0 => self.rewrite_file(&files, None)?,
            None => {}
        }
        Ok(self.cached_mut().counters.cbytes)
    }

    /// Compacts a durable frame once its holes are larger than its chunks. Returns the size of the
    /// data section in bytes, which is `cbytes` if nothing was done.
    pub(super) fn compact_if_worthwhile(&mut self, cbytes: i64) -> i64 {
        if !self.has_shadows() || cbytes <= 0 || self.transaction.is_some() {
            return cbytes;
        }
        self.changed_by = Some(process::id());
        if self.hole_search_threshold == 0 {
            self.hole_search_threshold = cbytes.saturating_mul(2).saturating_add(SMALL);
        }
        if cbytes <= self.hole_search_threshold {
            return cbytes;
        }
        let compacted = self.live_len().and_then(|live| {
            self.hole_search_threshold = live.saturating_mul(2).saturating_add(SMALL);
            if cbytes / 2 > live { self.compact() } else { Ok(cbytes) }
        });
        compacted.unwrap_or_else(|error| {
            // The change itself succeeded; only the holes remain.
            trace_warning!("a frame with holes cannot be compacted: {error}");
            self.hole_search_threshold = cbytes.saturating_mul(2);
            self.cached_mut().counters.cbytes
        })
    }

    /// Closes the frame. An open transaction is rolled back.
    ///
    /// # Errors
    /// Returns the errors of a program's own backend.
    pub fn finish(mut self) -> Result<()> {
        if self.transaction.is_some() {
            let is_ours = self.check_transaction().is_ok();
            self.roll_back(!is_ours);
        }
        self.compact_on_close();
        match &self.location {
            Location::Memory(_) => Ok(()),
            Location::Disk(files) => {
                files.forget_reader();
                files.backend().destroy()
            }
        }
    }

    /// Compacts a durable frame before it is closed, if its holes exceed a quarter of its chunks.
    /// On failure the frame stays complete, only larger than needed.
    pub fn compact_on_close(&mut self) {
        // A handle that made no change does not compact, nor does its copy in a forked child: the
        // parent would change the replaced file.
        if !self.has_shadows() || self.changed_by != Some(process::id()) {
            return;
        }
        if let Err(error) = self.try_compact_on_close() {
            trace_warning!("a frame with holes cannot be compacted: {error}");
        }
    }

    fn try_compact_on_close(&mut self) -> Result<()> {
        let _held = self.lock_exclusive()?;
        let typesize = self.cached_mut().typesize;
        self.refresh(typesize, drop)?;
        let live = self.live_len()?;
        let cbytes = self.cached_mut().counters.cbytes;
        if cbytes - live > live / 4 { self.compact().map(|_| ()) } else { Ok(()) }
    }

    /// Returns the size of all chunks in bytes, without holes.
    fn live_len(&self) -> Result<i64> {
        let Location::Disk(files) = &self.location else {
            return Ok(self.cached().counters.cbytes);
        };
        let reader = files.latest()?;
        Ok(self.stored(&reader)?.len)
    }

    /// Finds the stored chunks of a contiguous frame.
    fn stored(&self, reader: &FrameReader) -> Result<Stored> {
        let offsets = self.offsets()?;
        let cached = self.cached();
        let header_len = u64::from(cached.header_len);
        let data_len = cached.data_len();
        drop(cached);
        let mut found = Stored { extents: Vec::new(), moved: HashMap::new(), len: 0 };
        for (nchunk, stored) in offsets.iter().enumerate() {
            let Ok(position) = u64::try_from(stored) else {
                continue;
            };
            found.moved.try_reserve(1)?;
            let Entry::Vacant(moved) = found.moved.entry(stored) else {
                continue;
            };
            let mut front = [0; EXTENDED_HEADER_LENGTH];
            reader.read(header_len + position, &mut front)?;
            let len = usize::try_from(BasicHeader::parse(&front)?.cbytes).ok();
            let len = len.filter(|&len| {
                let end = position.checked_add(len as u64);
                len >= EXTENDED_HEADER_LENGTH && end.is_some_and(|end| end <= data_len)
            });
            let len = len.ok_or(Error::InvalidHeader)?;
            found.extents.try_reserve(1)?;
            found.extents.push(Extent { nchunk, position, len });
            moved.insert(found.len);
            found.len += len as i64;
        }
        Ok(found)
    }

    /// Rewrites the file without holes, with another description if one is given.
    pub(super) fn rewrite_file(
        &mut self,
        files: &Files,
        description: Option<&Description>,
    ) -> Result<()> {
        files.check_there()?;
        let reader = files.latest()?;
        let stored = self.stored(&reader)?;
        let mut checksums = self.checksums()?;
        let (header_len, nbytes, back) = {
            let cached = self.cached();
            let back = match description {
                Some(_) => None,
                None => Some(self.stored_footer(&cached)?),
            };
            (cached.header_len, cached.counters.nbytes, back)
        };
        let old_offsets = self.offsets()?;
        let mut offsets = old_offsets.to_vec()?;
        for offset in &mut offsets {
            *offset = stored.moved.get(offset).copied().unwrap_or(*offset);
        }
        let cbytes = stored.len;
        let mut header = match description {
            Some(description) => header::build(description, Kind::Contiguous)?,
            None => reader.read_vec(0, header_len as usize)?,
        };
        header::set_cbytes(&mut header, cbytes);
        // The existing index may be shorter than a new encoding of the same offsets.
        let index = match &back {
            Some(back) if offsets == *old_offsets.as_slice()? => copied_to_vec(back.index())?,
            _ => {
                self.cached_mut().encoded = 0;
                let form = IndexForm::Encoded(index::capacity(offsets.len()));
                self.encode_index(&offsets, form, nbytes)?
            }
        };
        let trailer = match (&back, description) {
            (_, Some(description)) => Arc::clone(&description.trailer),
            (Some(back), None) => Arc::new(copied_to_vec(back.trailer())?),
            (None, None) => return Err(Error::Failure),
        };
        let index_at = u64::from(header_len) + cbytes as u64;
        let mut footer = None;
        let replaced = files.replace(|stream| {
            copy_chunks(&reader, stream, header_len, &stored.extents, checksums.as_deref_mut())?;
            let made = Footer::new(header, index_at, index, &trailer, checksums.as_deref())?;
            stream.write_at(index_at, &made.index, WriteGranularity::Whole)?;
            stream.write_at(made.rest_at(), &made.rest, WriteGranularity::Whole)?;
            stream.write_at(0, &made.header, WriteGranularity::Whole)?;
            footer = Some(made);
            Ok(())
        });
        if let Err(error) = replaced {
            // Both files hold the same content, unless the description is new.
            let is_new = description.is_some();
            self.cached_mut().stale |= error.in_doubt && is_new;
            if !error.in_doubt || is_new {
                return Err(error.error);
            }
        }
        let cached = self.cached_mut();
        cached.written(&footer.ok_or(Error::Failure)?);
        cached.counters.cbytes = cbytes;
        cached.encoded = offsets.len();
        cached.offsets = Some(Arc::new(Offsets::Each(offsets)));
        cached.checksums = Some(checksums.map(Arc::new));
        self.in_doubt = 0;
        Ok(())
    }

    /// Removes chunk files that the index does not refer to.
    fn remove_orphans(&mut self, files: &Files) -> Result<()> {
        let offsets = self.offsets()?;
        let named: HashSet<_> = offsets
            .iter()
            .filter_map(|stored| u32::try_from(stored).ok())
            .filter_map(|id| files.chunk_path(id).file_name().map(ToOwned::to_owned))
            .collect();
        let directory = files.directory().ok_or(Error::InvalidParam)?;
        for name in files.file_ops().list(directory)? {
            let path = directory.join(&name);
            // Other files of this extension belong to the user.
            let digits = path.file_stem().and_then(|stem| stem.to_str());
            let id = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let is_chunk = id.is_some_and(|id| files.chunk_path(id) == path);
            if is_chunk && !named.contains(&name) {
                files.remove(&path);
            }
        }
        Ok(())
    }
}

/// Copies the chunks contiguously, and computes missing checksums of those that can be
/// decompressed.
fn copy_chunks(
    reader: &FrameReader,
    target: &dyn Stream,
    header_len: u32,
    extents: &[Extent],
    mut checksums: Option<&mut [u64]>,
) -> Result<()> {
    let mut position = u64::from(header_len);
    let mut segment = Vec::new();
    let mut decompressor = Decompressor::new(DParams::default());
    for &Extent { nchunk, position: from, len } in extents {
        let start = segment.len();
        segment.try_reserve(len)?;
        segment.resize(start + len, 0);
        reader.read(u64::from(header_len) + from, &mut segment[start..])?;
        if let Some(sum) = checksums.as_deref_mut().and_then(|checksums| checksums.get_mut(nchunk))
            && *sum == checksum::OF_SPECIAL
            // Checksums must not certify damage.
            && is_intact(&mut decompressor, &segment[start..])
        {
            *sum = checksum::of_chunk(&segment[start..]);
        }
        if segment.len() >= SEGMENT {
            target.write_at(position, &segment, WriteGranularity::Whole)?;
            position += segment.len() as u64;
            segment.clear();
        }
    }
    target.write_at(position, &segment, WriteGranularity::Whole)
}

/// Whether a chunk can be decompressed. One of a repeated value is not: it can be much larger.
fn is_intact(decompressor: &mut Decompressor, chunk: &[u8]) -> bool {
    match ChunkHeader::parse(chunk) {
        Ok(header) if header.special != Special::None => header.check_stored(chunk.len()).is_ok(),
        Ok(_) => decompressor.decompress_to_vec(chunk).is_ok(),
        Err(_) => false,
    }
}
