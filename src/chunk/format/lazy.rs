//! Lazy chunks: proxies of chunks whose blocks are still in a file.
//!
//! ```text
//! header(32), lazy bit set | block starts: i32 × nblocks | trailer
//! trailer = nchunk: i32 | offset: i64 | stored bytes of each block: i32 × nblocks
//! ```
//! `offset` is the offset of the chunk in its frame; in a sparse frame each chunk is a separate
//! file. A block is read when it is decoded. Lazy chunks are never stored. (Source: the C-Blosc2
//! chunk format.)

use std::sync::Arc;

use super::blocks::{Blocking, word_at};
use super::header::{ChunkHeader, Special, set_lazy};
use super::limits::WORD;
use crate::buffer::copied_to_vec;
use crate::filter::grown;
use crate::io::ReadAt;
use crate::{Error, Result};

/// The size of the trailer before the block sizes, in bytes.
const TRAILER_LEN: usize = 12;
/// Upper bound on the bytes that stream sizes add to a block, per byte of an item.
const STREAM_OVERHEAD: usize = 4;

/// The source of the blocks of lazy chunks.
pub trait LazySource: Send + Sync {
    /// Opens the file that contains chunk `nchunk`, at `offset` in its frame; returns the file and
    /// the offset of the chunk in it.
    ///
    /// # Errors
    /// [`Error::FileOpen`] or [`Error::PluginIo`]; the decompression fails with this error.
    fn open(&self, nchunk: i32, offset: u64) -> Result<(Arc<dyn ReadAt>, u64)>;
}

/// The stored blocks of a lazy chunk.
pub(crate) struct LazyChunk<'a> {
    file: Arc<dyn ReadAt>,
    /// The offset of the chunk in the file.
    position: u64,
    /// The table of block sizes.
    sizes: &'a [u8],
    largest: usize,
}

impl<'a> LazyChunk<'a> {
    /// Opens the file of a lazy chunk whose block starts end at `table_end`.
    pub fn open(
        src: &'a [u8],
        header: &ChunkHeader,
        table_end: usize,
        source: Option<&dyn LazySource>,
    ) -> Result<LazyChunk<'a>> {
        let source = source.ok_or(Error::InvalidParam)?;
        let nblocks = Blocking::of(header).count;
        let trailer = src
            .get(table_end..)
            .filter(|trailer| trailer.len() >= TRAILER_LEN + WORD * nblocks)
            .ok_or(Error::ReadBuffer)?;
        let nchunk = word_at(trailer, 0).ok_or(Error::ReadBuffer)?;
        let (_, after) = trailer.split_at(WORD);
        let (offset, sizes) = after.split_first_chunk().ok_or(Error::ReadBuffer)?;
        let offset =
            u64::try_from(i64::from_le_bytes(*offset)).map_err(|_| Error::InvalidHeader)?;
        let (file, position) = source.open(nchunk, offset)?;
        let largest = if header.vl_blocks {
            header.cbytes
        } else {
            header.blocksize() + STREAM_OVERHEAD * header.typesize()
        };
        Ok(LazyChunk { file, position, sizes, largest })
    }

    /// Fills `dest` from offset `start` of the chunk; returns the error `short` if the file is too
    /// short.
    pub fn read(&self, start: usize, dest: &mut [u8], short: Error) -> Result<()> {
        let position = self.position.checked_add(start as u64).ok_or(Error::InvalidHeader)?;
        position.checked_add(dest.len() as u64).ok_or(Error::InvalidHeader)?;
        if self.file.read_at(position, dest)? == dest.len() { Ok(()) } else { Err(short) }
    }

    /// Returns the stored size of a block in bytes.
    pub fn stored_len(&self, nblock: usize) -> Result<usize> {
        word_at(self.sizes, WORD * nblock)
            .and_then(|size| usize::try_from(size).ok())
            .filter(|size| (1..=self.largest).contains(size))
            .ok_or(Error::InvalidHeader)
    }

    /// Reads the block at offset `start` of the chunk.
    pub fn fetch<'b>(
        &self,
        nblock: usize,
        start: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        let stored = grown(buffer, self.stored_len(nblock)?)?;
        self.read(start, stored, Error::ReadBuffer)?;
        Ok(stored)
    }
}

/// Makes a lazy chunk from the header and block starts of a stored one. A special chunk has no
/// blocks to leave out: `front` must then be the whole chunk, and is returned unchanged.
///
/// # Errors
/// - [`Error::InvalidParam`] for a short header, which has no lazy bit;
/// - [`Error::Data`] if the sizes of stored data are inconsistent;
/// - [`Error::ReadBuffer`] if `front` is too short;
/// - [`Error::InvalidHeader`] if the header is invalid or a block start is outside the chunk;
/// - [`Error::VersionSupport`] if the chunk has a newer format;
/// - [`Error::MemoryAlloc`].
pub fn make_lazy(front: &[u8], nchunk: i32, offset: i64) -> Result<Vec<u8>> {
    let header = ChunkHeader::parse(front)?;
    if header.special != Special::None {
        return copied_to_vec(front);
    }
    if !header.basic.is_extended() {
        return Err(Error::InvalidParam);
    }
    let nblocks = Blocking::of(&header).count;
    let table_len = WORD * nblocks;
    let header_len = header.header_len();
    // Stored data have no table to bound the number of blocks, so the size of the chunk must match.
    let table = if !header.is_memcpyed() {
        Some(front.get(header_len..header_len + table_len).ok_or(Error::ReadBuffer)?)
    } else if header.cbytes == header_len + header.nbytes {
        None
    } else {
        return Err(Error::Data);
    };
    let mut lazy = Vec::new();
    lazy.try_reserve_exact(header_len + 2 * table_len + TRAILER_LEN)?;
    lazy.extend_from_slice(&front[..header_len]);
    set_lazy(&mut lazy);
    match table {
        Some(table) => lazy.extend_from_slice(table),
        None => lazy.resize(header_len + table_len, 0),
    }
    lazy.extend_from_slice(&nchunk.to_le_bytes());
    lazy.extend_from_slice(&offset.to_le_bytes());
    match table {
        Some(table) => {
            append_stored_sizes(&mut lazy, table, &header)?;
        }
        None => {
            let blocksize = header.blocksize();
            let len = |i: usize| blocksize.min(header.nbytes - i * blocksize) as i32;
            lazy.extend((0..nblocks).flat_map(|i| len(i).to_le_bytes()));
        }
    }
    Ok(lazy)
}

/// Appends the stored size of each block. A block extends to the next higher block start.
fn append_stored_sizes(lazy: &mut Vec<u8>, table: &[u8], header: &ChunkHeader) -> Result<()> {
    let starts = || {
        let words = table.chunks_exact(WORD);
        words.map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    };
    let mut ordered = Vec::new();
    ordered.try_reserve_exact(table.len() / WORD + 1)?;
    ordered.extend(starts());
    ordered.push(header.cbytes as i32);
    ordered.sort_unstable();
    for start in starts() {
        let next = ordered.partition_point(|&other| other <= start);
        let end = ordered.get(next).filter(|_| start >= 0).ok_or(Error::InvalidHeader)?;
        lazy.extend_from_slice(&(end - start).to_le_bytes());
    }
    Ok(())
}
