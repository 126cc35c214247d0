//! The index of a frame: where each of its chunks is.
//!
//! It is a chunk itself, of little-endian 64-bit *offsets*. A chunk of a contiguous frame begins that many
//! bytes behind the end of the header; a chunk of a sparse frame is in the file of that number. A negative
//! offset stands for a chunk that is stored nowhere, since all its values are the same.
//!
//! Every change of a frame writes the index anew, and others read it, so that its bytes are those of a
//! compression of the whole. But its blocks of 2048 offsets are compressed apart from each other, and
//! [`Encoder`] keeps them: appending to many chunks compresses only the last block. (Source: the C-Blosc2
//! frame format.)

use crate::chunk::header::HeaderFields;
use crate::chunk::{
    CParams, ChunkHeader, Compressor, Decompressor, EXTENDED_HEADER_LENGTH, MAX_OVERHEAD, Special,
    SplitMode, special,
};
use crate::codec;
use crate::filter::{self, Slot};
use crate::{Buffer, Error, Result};

/// Bytes of an offset.
const OFFSET_LEN: usize = size_of::<i64>();
/// Offsets in a block.
const BLOCK: usize = 2048;
/// Bytes of a block start.
const START_LEN: usize = 4;
/// Bytes of the size in front of a compressed block.
const SIZE_LEN: usize = 4;
/// Where the compressed block is in a chunk of one block.
const ONLY_BLOCK_AT: usize = EXTENDED_HEADER_LENGTH + START_LEN;
/// The most bytes a compressed block takes.
const WORST_BLOCK: usize = SIZE_LEN + BLOCK * OFFSET_LEN;
/// Bytes that the memory of an index is a multiple of.
const ROOM_STEP: usize = 1 << 14;
/// No codec makes more bytes of one.
const MAX_EXPANSION: usize = 32768;
/// The most chunks a frame can have.
pub const MAX_CHUNKS: usize = i32::MAX as usize / OFFSET_LEN;

/// What offsets stand for.
pub mod offset {
    use super::{Error, Result, Special};

    const ZERO_BIT: i64 = 1 << 56;
    const NAN_BIT: i64 = 1 << 57;
    const UNINIT_BIT: i64 = 1 << 58;

    /// What a chunk with this offset consists of; none when it is stored somewhere.
    ///
    /// # Errors
    /// [`Error::Data`] for a negative offset that says none of it.
    pub fn special(offset: i64) -> Result<Option<Special>> {
        // Readers look at the bits in this order, and at no others.
        let kinds = [
            (ZERO_BIT, Special::Zero),
            (UNINIT_BIT, Special::Uninit),
            (NAN_BIT, Special::Nan),
        ];
        if offset >= 0 {
            return Ok(None);
        }
        kinds
            .into_iter()
            .find(|(bit, _)| offset & bit != 0)
            .map(|(_, kind)| Some(kind))
            .ok_or(Error::Data)
    }

    /// The offset of a chunk of this kind; none for those that are stored.
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

/// Bytes that an index of this many chunks may take, with room for an offset more where one was deleted.
pub fn room(offsets: usize) -> usize {
    offsets * OFFSET_LEN + MAX_OVERHEAD
}

/// How many bytes the chunk at the beginning of `chunk` holds, found plausible: it is whole and not too short
/// for what it says to hold.
///
/// # Errors
/// [`Error::InvalidHeader`] when it isn't; the errors of [`ChunkHeader::parse`].
pub(super) fn payload_len(chunk: &[u8]) -> Result<usize> {
    let header = ChunkHeader::parse(chunk)?;
    let is_sound = header.cbytes <= chunk.len()
        && (!header.is_memcpyed() || header.cbytes == header.header_len() + header.nbytes)
        && (header.special != Special::None || header.nbytes / MAX_EXPANSION <= header.cbytes);
    if is_sound {
        Ok(header.nbytes)
    } else {
        Err(Error::InvalidHeader)
    }
}

/// The same for a chunk that is going to be decompressed. One that is special tells of up to two gigabytes in a few
/// bytes; those of such a size that indexes are written with are one offset over and over, and stay as they are.
fn written_out_len(chunk: &[u8]) -> Result<usize> {
    let nbytes = payload_len(chunk)?;
    if nbytes / MAX_EXPANSION <= ChunkHeader::parse(chunk)?.cbytes {
        Ok(nbytes)
    } else {
        Err(Error::InvalidHeader)
    }
}

/// What the chunk at the beginning of `chunk` holds.
///
/// # Errors
/// [`Error::InvalidHeader`] when it tells of more than its bytes can hold; [`Error::MemoryAlloc`]; the errors of
/// [`payload_len`] and of [`Decompressor::decompress`].
pub(super) fn payload(decompressor: &mut Decompressor, chunk: &[u8]) -> Result<Buffer> {
    let mut bytes = Buffer::zeroed(written_out_len(chunk)?)?;
    decompressor.decompress(chunk, &mut bytes)?;
    Ok(bytes)
}

/// How many offsets are in an index; `chunk` may go on behind it. Any chunk will do that can be one of
/// offsets.
///
/// # Errors
/// [`Error::InvalidHeader`] when it is no index; the errors of [`ChunkHeader::parse`].
pub fn count(chunk: &[u8]) -> Result<usize> {
    let nbytes = payload_len(chunk)?;
    let is_long_enough = ChunkHeader::parse(chunk)?.cbytes >= EXTENDED_HEADER_LENGTH;
    if is_long_enough && nbytes.is_multiple_of(OFFSET_LEN) {
        Ok(nbytes / OFFSET_LEN)
    } else {
        Err(Error::InvalidHeader)
    }
}

/// The offsets in an index; `chunk` may go on behind it.
///
/// # Errors
/// [`Error::InvalidHeader`] when it isn't the index of `nchunks` chunks, if that is known, or tells of more than its
/// bytes can hold; [`Error::MemoryAlloc`]; the errors of [`count`] and of [`Decompressor::decompress`].
pub fn decode(
    decompressor: &mut Decompressor,
    chunk: &[u8],
    nchunks: Option<i64>,
) -> Result<Vec<i64>> {
    let count = count(chunk)?;
    if nchunks.is_some_and(|nchunks| i64::try_from(count) != Ok(nchunks)) {
        return Err(Error::InvalidHeader);
    }
    let mut offsets = Vec::new();
    if let Some(offset) = the_only_one(chunk)? {
        offsets.try_reserve_exact(count)?;
        offsets.resize(count, offset);
        return Ok(offsets);
    }
    written_out_len(chunk)?;
    offsets.try_reserve_exact(count)?;
    offsets.resize(count, 0);
    decompressor.decompress(chunk, bytemuck::cast_slice_mut(&mut offsets))?;
    for offset in &mut offsets {
        *offset = i64::from_le(*offset);
    }
    Ok(offsets)
}

/// The offset that all chunks have, if the index is one value over and over, as in a frame that was filled. A
/// few bytes can stand for very many chunks then, which are not worth decompressing.
///
/// # Errors
/// The errors of [`ChunkHeader::parse`].
pub fn the_only_one(chunk: &[u8]) -> Result<Option<i64>> {
    Ok(repeated(chunk, OFFSET_LEN)?.map(i64::from_le_bytes))
}

/// The item of `width` bytes, at most those of an offset, that fills a special chunk; zeros follow it. None when
/// the chunk is not special, or no such item fills it. (NaNs are no offsets.)
///
/// # Errors
/// The errors of [`ChunkHeader::parse`].
pub(super) fn repeated(chunk: &[u8], width: usize) -> Result<Option<[u8; OFFSET_LEN]>> {
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

/// One of the offsets in an index; `chunk` may go on behind it. Only the block it is in is decompressed.
///
/// # Errors
/// [`Error::InvalidParam`] when there are not as many; the errors of [`decode`].
pub fn one(decompressor: &mut Decompressor, chunk: &[u8], nchunk: usize) -> Result<i64> {
    if nchunk >= count(chunk)? {
        return Err(Error::InvalidParam);
    }
    let typesize = ChunkHeader::parse(chunk)?.typesize();
    if !OFFSET_LEN.is_multiple_of(typesize) {
        return Ok(decode(decompressor, chunk, None)?[nchunk]);
    }
    let start = i32::try_from(nchunk * OFFSET_LEN).map_err(|_| Error::InvalidParam)?;
    let mut offset = [0; OFFSET_LEN];
    decompressor.getitem_bytes(chunk, start, OFFSET_LEN as i32, &mut offset)?;
    Ok(i64::from_le_bytes(offset))
}

/// The index of `nchunks` chunks that all consist of the same value.
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

/// What an index is compressed with.
fn params() -> CParams {
    CParams::default()
        .codec(codec::id::BLOSCLZ)
        .level(5)
        .typesize(OFFSET_LEN as i32)
        .splitmode(SplitMode::NEVER)
        .blocksize((BLOCK * OFFSET_LEN) as i32)
        .filters(&[Slot {
            id: filter::id::SHUFFLE,
            meta: 0,
        }])
}

/// Makes indexes; keeps what of the last can be in the next.
pub struct Encoder {
    compressor: Compressor,
    /// The header of the last block that was compressed alone: but for the sizes, that of an index.
    header: Option<ChunkHeader>,
    /// The full blocks at the beginning of the last index, compressed, one after another.
    blocks: Vec<u8>,
    /// Where each of them ends in `blocks`.
    ends: Vec<usize>,
    raw: Vec<u8>,
    one_block: Vec<u8>,
}

impl Encoder {
    /// An encoder that has nothing to keep.
    ///
    /// # Errors
    /// Those of [`Compressor::new`].
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

    /// The index with these offsets, in at most `room` bytes, see [`room`]. The first `unchanged` offsets are
    /// those of the last call; how that call ended doesn't matter.
    ///
    /// # Errors
    /// [`Error::WriteBuffer`] when it doesn't fit, [`Error::InvalidParam`] for more than [`MAX_CHUNKS`],
    /// [`Error::MemoryAlloc`].
    pub fn encode(&mut self, offsets: &[i64], unchanged: usize, room: usize) -> Result<Vec<u8>> {
        self.forget_blocks_behind(unchanged.min(offsets.len()) / BLOCK);
        if offsets.len() > MAX_CHUNKS {
            return Err(Error::InvalidParam);
        }
        if offsets.len() > BLOCK
            && let Some(chunk) = self.encode_in_blocks(offsets, room)?
        {
            return Ok(chunk);
        }
        self.encode_whole(offsets, room)
    }

    fn forget_blocks_behind(&mut self, kept: usize) {
        self.ends.truncate(kept);
        self.blocks.truncate(self.start_of(self.ends.len()));
    }

    /// Where a full block begins in `blocks`.
    fn start_of(&self, nblock: usize) -> usize {
        match nblock {
            0 => 0,
            _ => self.ends[nblock - 1],
        }
    }

    /// Compresses everything at once.
    fn encode_whole(&mut self, offsets: &[i64], room: usize) -> Result<Vec<u8>> {
        to_bytes(offsets, &mut self.raw)?;
        let mut chunk = Vec::new();
        resize(&mut chunk, room)?;
        match self.compressor.compress(&self.raw, &mut chunk)? {
            0 => Err(Error::WriteBuffer),
            len => {
                chunk.truncate(len);
                Ok(chunk)
            }
        }
    }

    /// Compresses the blocks that are not kept, and puts all together, if that gives the bytes of a compression
    /// at once: it does as long as `room` leaves the compressor as much for each block as it can use, and no
    /// block is of the kind that makes a chunk of another form.
    fn encode_in_blocks(&mut self, offsets: &[i64], room: usize) -> Result<Option<Vec<u8>>> {
        let (full, rest) = offsets.as_chunks::<BLOCK>();
        for block in &full[self.ends.len()..] {
            let Some(len) = self.compress_block(block)? else {
                return Ok(None);
            };
            if self.blocks.capacity() - self.blocks.len() < len {
                self.blocks.try_reserve_exact(len.max(ROOM_STEP))?;
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
                    // Too few offsets for a compressed chunk can still be a compressed block.
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
        let is_roomy = last_full_at + WORST_BLOCK <= room
            && (rest.is_empty() || rest_at + SIZE_LEN + rest.len() * OFFSET_LEN <= room);
        if !is_roomy {
            return Ok(None);
        }
        let Some(of_block) = self.header else {
            return Ok(None);
        };
        let mut chunk = self.put_together(nblocks, rest_at + rest_len)?;
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

    /// Compresses the offsets of one block alone, into `one_block`; returns how many bytes it takes, if the
    /// block is stored as it is among others.
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

    /// The same for the last block, compressed behind the one before it.
    fn compress_last(&mut self, block: &[i64; BLOCK], rest: &[i64]) -> Result<Option<usize>> {
        to_bytes(block, &mut self.raw)?;
        self.raw.try_reserve(rest.len() * OFFSET_LEN)?;
        self.raw
            .extend(rest.iter().flat_map(|offset| offset.to_le_bytes()));
        resize(
            &mut self.one_block,
            EXTENDED_HEADER_LENGTH + 2 * (START_LEN + WORST_BLOCK),
        )?;
        let len = self.compressor.compress(&self.raw, &mut self.one_block)?;
        let header = ChunkHeader::parse(&self.one_block[..len])?;
        if header.is_memcpyed() || header.special != Special::None {
            return Ok(None);
        }
        // Behind the start of the first block, where the block of a shorter chunk is, is that of the second.
        let start = self.one_block[ONLY_BLOCK_AT..].first_chunk();
        let start = start.map_or(0, |&start| i32::from_le_bytes(start)) as usize;
        self.one_block.copy_within(start..len, ONLY_BLOCK_AT);
        self.header = Some(header);
        Ok(Some(len - start))
    }

    /// Room for a header, and behind it the block starts, `blocks` and what is in `one_block` of the last block:
    /// `len` bytes in all.
    fn put_together(&self, nblocks: usize, len: usize) -> Result<Vec<u8>> {
        let data_at = EXTENDED_HEADER_LENGTH + nblocks * START_LEN;
        let mut chunk = Vec::new();
        // Each index fits where one before was freed, but for the few that begin another step.
        chunk.try_reserve_exact(len.next_multiple_of(ROOM_STEP))?;
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

/// The offsets as the index has them.
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
