//! The index of a frame: the offsets of its chunks.
//!
//! The index is itself a chunk, of little-endian 64-bit *offsets*. In a contiguous frame an offset
//! is the offset of a chunk relative to the end of the header; in a sparse frame it is the number
//! of the chunk's file. A negative offset encodes a chunk of one repeated value, which is not
//! stored.
//!
//! Every change of a frame rewrites the index. Its bytes must equal one compression of the whole
//! list, but its blocks of 2048 offsets are compressed independently, and [`Encoder`] caches them:
//! an append compresses only the last block. (Source: the C-Blosc2 frame format.)

use crate::chunk::header::HeaderFields;
use crate::chunk::{
    CParams, ChunkHeader, Compressor, Decompressor, EXTENDED_HEADER_LENGTH, MAX_OVERHEAD, Special,
    SplitMode, special,
};
use crate::codec::{self, CodecInfo};
use crate::filter::{self, Slot};
use crate::{Buffer, Error, Result};
use std::borrow::Cow;
use std::slice;

/// The size of an offset in bytes.
const OFFSET_LEN: usize = size_of::<i64>();
/// The number of offsets in a block.
const BLOCK: usize = 2048;
/// The size of a block start in bytes.
const START_LEN: usize = 4;
/// The size in bytes of the length field before a compressed block.
const SIZE_LEN: usize = 4;
/// The offset of the compressed block in a chunk of one block.
const ONLY_BLOCK_AT: usize = EXTENDED_HEADER_LENGTH + START_LEN;
/// Maximum size of a compressed block in bytes.
const WORST_BLOCK: usize = SIZE_LEN + BLOCK * OFFSET_LEN;
/// Index buffers are multiples of this size in bytes.
const CAPACITY_STEP: usize = 1 << 14;
/// Maximum number of chunks in a frame.
pub const MAX_CHUNKS: usize = i32::MAX as usize / OFFSET_LEN;

/// Encoding of chunks that are not stored as negative offsets.
pub mod offset {
    use super::{Error, Result, Special};

    const ZERO_BIT: i64 = 1 << 56;
    const NAN_BIT: i64 = 1 << 57;
    const UNINIT_BIT: i64 = 1 << 58;

    /// Returns the value that fills a chunk with this offset; `None` if the chunk is stored.
    ///
    /// # Errors
    /// [`Error::Data`] for a negative offset of an unknown kind.
    pub fn special(offset: i64) -> Result<Option<Special>> {
        // Readers test the bits in this order and ignore all others.
        let kinds =
            [(ZERO_BIT, Special::Zero), (UNINIT_BIT, Special::Uninit), (NAN_BIT, Special::Nan)];
        if offset >= 0 {
            return Ok(None);
        }
        kinds
            .into_iter()
            .find(|(bit, _)| offset & bit != 0)
            .map(|(_, kind)| Some(kind))
            .ok_or(Error::Data)
    }

    /// Converts the offset of a stored chunk of a sparse frame to the number of its file.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`] if it is none.
    pub fn file_id(offset: i64) -> Result<u32> {
        u32::try_from(offset).map_err(|_| Error::InvalidHeader)
    }

    /// Returns the offset of a chunk of this kind; `None` for kinds that are stored.
    pub fn of_special(kind: Special) -> Option<i64> {
        let bit = match kind {
            Special::Zero => ZERO_BIT,
            Special::Nan => NAN_BIT,
            Special::Uninit => UNINIT_BIT,
            Special::None | Special::Value | Special::Unknown => return None,
        };
        Some(i64::MIN | bit)
    }
}

/// The stored offsets of a frame's chunks: bytes relative to the end of the header, file numbers,
/// or negative values for chunks of one repeated value.
///
/// A few bytes of a file can describe a huge number of chunks with the same offset, so such a list
/// is not expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offsets {
    /// One offset per chunk.
    Each(Vec<i64>),
    /// The same offset for all chunks.
    Same {
        /// The number of chunks.
        count: usize,
        /// The offset.
        offset: i64,
    },
}

impl Offsets {
    /// Parses the index of `nchunks` chunks, if that number is known, with offsets up to `last`;
    /// `chunk` may be longer.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`] if it is not the index of that many chunks, for offsets above
    /// `last`, and if it is larger than its bytes can encode; [`Error::MemoryAlloc`]; the errors of
    /// [`ChunkHeader::parse`] and of [`Decompressor::decompress`].
    pub fn parse(chunk: &[u8], nchunks: Option<i64>, last: i64) -> Result<Offsets> {
        let count = count(chunk)?;
        if nchunks.is_some_and(|nchunks| i64::try_from(count) != Ok(nchunks)) {
            return Err(Error::InvalidHeader);
        }
        let offsets = match repeated_offset(chunk)? {
            Some(offset) => Offsets::Same { count, offset },
            None => Offsets::Each(decode(chunk, count)?),
        };
        if none_beyond(last, offsets.kept()) { Ok(offsets) } else { Err(Error::InvalidHeader) }
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        match self {
            Offsets::Each(offsets) => offsets.len(),
            Offsets::Same { count, .. } => *count,
        }
    }

    /// Whether there are no chunks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the offset of a chunk.
    pub fn get(&self, nchunk: usize) -> Option<i64> {
        match self {
            Offsets::Each(offsets) => offsets.get(nchunk).copied(),
            Offsets::Same { count, offset } => (nchunk < *count).then_some(*offset),
        }
    }

    /// Iterates over the offsets in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> + Clone {
        (0..self.len()).filter_map(|nchunk| self.get(nchunk))
    }

    /// Returns the offsets that are held in memory: one, if all chunks share it.
    pub fn kept(&self) -> &[i64] {
        match self {
            Offsets::Each(offsets) => offsets,
            Offsets::Same { offset, .. } => slice::from_ref(offset),
        }
    }

    /// Like [`Offsets::kept`], but mutable.
    pub fn kept_mut(&mut self) -> &mut [i64] {
        match self {
            Offsets::Each(offsets) => offsets,
            Offsets::Same { offset, .. } => slice::from_mut(offset),
        }
    }

    /// Returns the offsets, expanded if necessary.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn as_slice(&self) -> Result<Cow<'_, [i64]>> {
        match self {
            Offsets::Each(offsets) => Ok(Cow::Borrowed(offsets)),
            Offsets::Same { .. } => self.to_vec().map(Cow::Owned),
        }
    }

    /// Returns the expanded offsets.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn to_vec(&self) -> Result<Vec<i64>> {
        let mut offsets = Vec::new();
        offsets.try_reserve_exact(self.len()).map_err(|_| Error::MemoryAlloc)?;
        offsets.extend(self.iter());
        Ok(offsets)
    }
}

/// Whether no offset exceeds `last`. A nonnegative offset above `last` has a negative distance to
/// it, so the loop only collects sign bits, has no branches, and runs at memory bandwidth.
fn none_beyond(last: i64, offsets: &[i64]) -> bool {
    // Values below -1 have the same result, and their distance to the largest offset would
    // overflow.
    let last = last.max(-1);
    let signs =
        offsets.iter().fold(0, |signs, &stored| signs | (last.wrapping_sub(stored) & !stored));
    signs >= 0
}

/// Encoding of an index that is written.
#[derive(Clone, Copy, Debug)]
pub enum IndexForm {
    /// Compressed into at most this many bytes.
    Encoded(usize),
    /// One repeated offset.
    Fill(Special),
}

/// Returns the maximum size in bytes of an index of this number of offsets. After a deletion,
/// callers pass the number before it.
pub fn capacity(offsets: usize) -> usize {
    offsets * OFFSET_LEN + MAX_OVERHEAD
}

/// Returns the uncompressed size of the chunk at the start of `chunk`, in bytes, after checking
/// that the chunk is complete and long enough for that size.
///
/// # Errors
/// [`Error::InvalidHeader`] if the chunk is incomplete or too short; the errors of
/// [`ChunkHeader::parse`].
pub fn payload_len(chunk: &[u8]) -> Result<usize> {
    let header = ChunkHeader::parse(chunk)?;
    let is_sound = header.cbytes <= chunk.len()
        && (!header.is_memcpyed() || header.cbytes == header.header_len() + header.nbytes)
        && (header.special != Special::None
            || header.nbytes / CodecInfo::LARGEST_EXPANSION <= header.cbytes);
    if is_sound { Ok(header.nbytes) } else { Err(Error::InvalidHeader) }
}

/// Like [`payload_len`], for a chunk that is going to be decompressed. A few bytes of a special
/// chunk can expand to two gigabytes; an index of one repeated offset is therefore never expanded,
/// and other special chunks are limited.
fn expanded_len(chunk: &[u8]) -> Result<usize> {
    let nbytes = payload_len(chunk)?;
    if nbytes / CodecInfo::LARGEST_EXPANSION <= ChunkHeader::parse(chunk)?.cbytes {
        Ok(nbytes)
    } else {
        Err(Error::InvalidHeader)
    }
}

/// Decompresses the chunk at the start of `chunk`.
///
/// # Errors
/// [`Error::InvalidHeader`] if its size is larger than its bytes can encode;
/// [`Error::MemoryAlloc`]; the errors of [`payload_len`] and of [`Decompressor::decompress`].
pub fn payload(chunk: &[u8]) -> Result<Buffer> {
    let mut bytes = Buffer::zeroed(expanded_len(chunk)?)?;
    Decompressor::default().decompress(chunk, &mut bytes)?;
    Ok(bytes)
}

/// Returns the number of offsets in an index; `chunk` may be longer. Every chunk whose size is a
/// multiple of the offset size is accepted.
///
/// # Errors
/// [`Error::InvalidHeader`] if it is not an index; the errors of [`ChunkHeader::parse`].
fn count(chunk: &[u8]) -> Result<usize> {
    let nbytes = payload_len(chunk)?;
    let is_long_enough = ChunkHeader::parse(chunk)?.cbytes >= EXTENDED_HEADER_LENGTH;
    if is_long_enough && nbytes.is_multiple_of(OFFSET_LEN) {
        Ok(nbytes / OFFSET_LEN)
    } else {
        Err(Error::InvalidHeader)
    }
}

/// Decompresses an index of `count` offsets.
fn decode(chunk: &[u8], count: usize) -> Result<Vec<i64>> {
    expanded_len(chunk)?;
    let mut offsets = Vec::new();
    offsets.try_reserve_exact(count)?;
    offsets.resize(count, 0);
    Decompressor::default().decompress(chunk, bytemuck::cast_slice_mut(&mut offsets))?;
    for offset in &mut offsets {
        *offset = i64::from_le(*offset);
    }
    Ok(offsets)
}

/// Returns the offset that all chunks share, if the index is one repeated value, as in a filled
/// frame. A few bytes can then represent a huge number of chunks, so such an index is not expanded.
///
/// # Errors
/// The errors of [`ChunkHeader::parse`].
fn repeated_offset(chunk: &[u8]) -> Result<Option<i64>> {
    Ok(repeated(chunk, OFFSET_LEN)?.map(i64::from_le_bytes))
}

/// Returns the repeated item of `width` bytes, at most 8, that fills a special chunk, padded with
/// zeros. `None` if the chunk is not special or has no such item (NaNs are not offsets).
///
/// # Errors
/// The errors of [`ChunkHeader::parse`].
pub fn repeated(chunk: &[u8], width: usize) -> Result<Option<[u8; OFFSET_LEN]>> {
    let header = ChunkHeader::parse(chunk)?;
    let mut item = [0; OFFSET_LEN];
    match header.special {
        Special::Zero | Special::Uninit => {}
        Special::Value if width.is_multiple_of(header.value_width()) => {
            let value = chunk.get(EXTENDED_HEADER_LENGTH..header.cbytes);
            let value = value.ok_or(Error::InvalidHeader)?;
            for part in item[..width].chunks_exact_mut(value.len()) {
                part.copy_from_slice(value);
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(item))
}

/// Returns the index of `nchunks` chunks of the same repeated value.
///
/// # Errors
/// [`Error::InvalidParam`] for a kind that is stored and for more than [`MAX_CHUNKS`];
/// [`Error::MemoryAlloc`].
pub fn fill(nchunks: usize, kind: Special) -> Result<Vec<u8>> {
    let offset = offset::of_special(kind).ok_or(Error::InvalidParam)?;
    if nchunks > MAX_CHUNKS {
        return Err(Error::InvalidParam);
    }
    let nbytes = i32::try_from(nchunks * OFFSET_LEN).map_err(|_| Error::InvalidParam)?;
    let mut chunk = Vec::new();
    chunk.try_reserve_exact(EXTENDED_HEADER_LENGTH + OFFSET_LEN)?;
    chunk.resize(EXTENDED_HEADER_LENGTH + OFFSET_LEN, 0);
    special::repeatval(&params(), nbytes, &offset.to_le_bytes(), &mut chunk)?;
    Ok(chunk)
}

/// Returns the compression parameters of an index.
fn params() -> CParams {
    CParams::default()
        .codec(codec::id::BLOSCLZ)
        .level(5)
        .typesize(OFFSET_LEN as i32)
        .splitmode(SplitMode::NEVER)
        .blocksize((BLOCK * OFFSET_LEN) as i32)
        .filters(&[Slot { id: filter::id::SHUFFLE, meta: 0 }])
}

/// Encodes indexes and reuses the compressed blocks of the previous one.
pub struct Encoder {
    compressor: Compressor,
    /// Header of the chunk that was compressed last; equal to that of an index except for the
    /// sizes.
    header: Option<ChunkHeader>,
    /// The compressed full blocks at the start of the previous index, contiguous.
    blocks: Vec<u8>,
    /// The end of each block in `blocks`.
    ends: Vec<usize>,
    raw: Vec<u8>,
    one_block: Vec<u8>,
}

impl Encoder {
    /// Returns an encoder without cached blocks.
    ///
    /// # Errors
    /// Returns the errors of [`Compressor::new`].
    pub fn new() -> Result<Encoder> {
        Ok(Encoder {
            compressor: Compressor::new(params())?,
            header: None,
            blocks: Vec::new(),
            ends: Vec::new(),
            raw: Vec::new(),
            one_block: Vec::new(),
        })
    }

    /// Returns the index of these offsets in at most `capacity` bytes, see [`capacity`]. The first
    /// `unchanged` offsets must equal those of the previous call, whether it succeeded or not.
    ///
    /// # Errors
    /// [`Error::WriteBuffer`] if it does not fit, [`Error::InvalidParam`] for more than
    /// [`MAX_CHUNKS`], [`Error::MemoryAlloc`].
    pub fn encode(
        &mut self,
        offsets: &[i64],
        unchanged: usize,
        capacity: usize,
    ) -> Result<Vec<u8>> {
        self.forget_blocks_after(unchanged.min(offsets.len()) / BLOCK);
        if offsets.len() > MAX_CHUNKS {
            return Err(Error::InvalidParam);
        }
        if offsets.len() > BLOCK
            && let Some(chunk) = self.encode_in_blocks(offsets, capacity)?
        {
            return Ok(chunk);
        }
        self.encode_whole(offsets, capacity)
    }

    fn forget_blocks_after(&mut self, kept: usize) {
        self.ends.truncate(kept);
        self.blocks.truncate(self.start_of(self.ends.len()));
    }

    /// Returns the start of a full block in `blocks`.
    fn start_of(&self, nblock: usize) -> usize {
        match nblock {
            0 => 0,
            _ => self.ends[nblock - 1],
        }
    }

    /// Compresses all offsets at once.
    fn encode_whole(&mut self, offsets: &[i64], capacity: usize) -> Result<Vec<u8>> {
        to_bytes(offsets, &mut self.raw)?;
        let mut chunk = Vec::new();
        resize(&mut chunk, capacity)?;
        match self.compressor.compress(&self.raw, &mut chunk)? {
            0 => Err(Error::WriteBuffer),
            len => {
                chunk.truncate(len);
                Ok(chunk)
            }
        }
    }

    /// Compresses the blocks that are not cached and assembles the index, if that produces the same
    /// bytes as one compression of the whole. Returns `None` otherwise: if `capacity` leaves the
    /// compressor fewer bytes for a block than it can use, or if the chunk would be stored
    /// uncompressed or as a special chunk.
    fn encode_in_blocks(&mut self, offsets: &[i64], capacity: usize) -> Result<Option<Vec<u8>>> {
        let (full, rest) = offsets.as_chunks::<BLOCK>();
        for block in &full[self.ends.len()..] {
            let Some(len) = self.compress_block(block)? else {
                return Ok(None);
            };
            if self.blocks.capacity() - self.blocks.len() < len {
                self.blocks.try_reserve_exact(len.max(CAPACITY_STEP))?;
            }
            self.ends.try_reserve(1)?;
            let compressed = &self.one_block[ONLY_BLOCK_AT..ONLY_BLOCK_AT + len];
            self.blocks.extend_from_slice(compressed);
            self.ends.push(self.blocks.len());
        }
        let rest_len = match rest {
            [] => 0,
            rest => {
                let len = match self.compress_block(rest)? {
                    Some(len) => Some(len),
                    // Offsets too few for a compressed chunk can still form a compressed block.
                    None => self.compress_last(&full[full.len() - 1], rest)?,
                };
                let Some(len) = len else {
                    return Ok(None);
                };
                len
            }
        };
        let nblocks = offsets.len().div_ceil(BLOCK);
        let data_at = EXTENDED_HEADER_LENGTH + nblocks * START_LEN;
        let rest_at = data_at + self.blocks.len();
        let last_full_at = data_at + self.start_of(full.len() - 1);
        let has_capacity = last_full_at + WORST_BLOCK <= capacity
            && (rest.is_empty() || rest_at + SIZE_LEN + rest.len() * OFFSET_LEN <= capacity);
        if !has_capacity {
            return Ok(None);
        }
        let Some(of_block) = self.header else {
            return Ok(None);
        };
        let mut chunk = self.assemble(nblocks, rest_at + rest_len)?;
        let header = HeaderFields {
            version: of_block.basic.version,
            versionlz: of_block.basic.versionlz,
            flags: of_block.basic.flags,
            typesize: of_block.basic.typesize,
            nbytes: offsets.len() * OFFSET_LEN,
            blocksize: BLOCK * OFFSET_LEN,
            cbytes: chunk.len(),
            filters: of_block.filters,
            udcodec: of_block.udcodec,
            codec_meta: of_block.codec_meta,
            flags2: 0,
            blosc2_flags: 0,
        };
        header.write(&mut chunk);
        Ok(Some(chunk))
    }

    /// Compresses the offsets of one block into `one_block`. Returns its compressed size in bytes,
    /// or `None` if the block would be stored differently in an index.
    fn compress_block(&mut self, offsets: &[i64]) -> Result<Option<usize>> {
        to_bytes(offsets, &mut self.raw)?;
        resize(&mut self.one_block, ONLY_BLOCK_AT + WORST_BLOCK)?;
        let len = self.compressor.compress(&self.raw, &mut self.one_block)?;
        let header = ChunkHeader::parse(&self.one_block[..len])?;
        if header.is_memcpyed() || header.special != Special::None {
            return Ok(None);
        }
        self.header = Some(header);
        Ok(Some(len - ONLY_BLOCK_AT))
    }

    /// Like [`Self::compress_block`], for the last block, compressed in one chunk with the
    /// preceding block.
    fn compress_last(&mut self, block: &[i64; BLOCK], rest: &[i64]) -> Result<Option<usize>> {
        to_bytes(block, &mut self.raw)?;
        self.raw.try_reserve(rest.len() * OFFSET_LEN)?;
        self.raw.extend(rest.iter().flat_map(|offset| offset.to_le_bytes()));
        resize(&mut self.one_block, EXTENDED_HEADER_LENGTH + 2 * (START_LEN + WORST_BLOCK))?;
        let len = self.compressor.compress(&self.raw, &mut self.one_block)?;
        let header = ChunkHeader::parse(&self.one_block[..len])?;
        if header.is_memcpyed() || header.special != Special::None {
            return Ok(None);
        }
        // The start of the second block follows that of the first, at the offset of the only block
        // of a shorter chunk.
        let start = self.one_block[ONLY_BLOCK_AT..].first_chunk();
        let start = start.map_or(0, |&start| i32::from_le_bytes(start)) as usize;
        self.one_block.copy_within(start..len, ONLY_BLOCK_AT);
        self.header = Some(header);
        Ok(Some(len - start))
    }

    /// Assembles an index of `len` bytes: space for a header, then the block starts, `blocks`, and
    /// the last block from `one_block`.
    fn assemble(&self, nblocks: usize, len: usize) -> Result<Vec<u8>> {
        let data_at = EXTENDED_HEADER_LENGTH + nblocks * START_LEN;
        let mut chunk = Vec::new();
        // A new index mostly fits into the memory that the previous one freed.
        chunk.try_reserve_exact(len.next_multiple_of(CAPACITY_STEP))?;
        chunk.resize(EXTENDED_HEADER_LENGTH, 0);
        for nblock in 0..nblocks {
            let start = (data_at + self.start_of(nblock)) as i32;
            chunk.extend_from_slice(&start.to_le_bytes());
        }
        chunk.extend_from_slice(&self.blocks);
        let rest_len = len - chunk.len();
        chunk.extend_from_slice(&self.one_block[ONLY_BLOCK_AT..ONLY_BLOCK_AT + rest_len]);
        Ok(chunk)
    }
}

/// Serializes the offsets as an index stores them.
fn to_bytes(offsets: &[i64], bytes: &mut Vec<u8>) -> Result<()> {
    bytes.clear();
    bytes.try_reserve(offsets.len() * OFFSET_LEN)?;
    bytes.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
    Ok(())
}

fn resize(bytes: &mut Vec<u8>, len: usize) -> Result<()> {
    bytes.try_reserve(len.saturating_sub(bytes.len()))?;
    bytes.resize(len, 0);
    Ok(())
}

#[cfg(test)]
mod tests;
