//! Read-only support for the two published frame layouts before the current one.
//!
//! Their headers do not distinguish them, and their descriptions are incomplete; this reader
//! accepts every interpretation. The header equals the current one up to offset 52, then:
//!
//! ```text
//!  52  d2     chunksize         there is no blocksize
//!  57  d1 d1  threads
//!  63  c2/c3  whether there is user metadata
//!  64  d8     count ids[8] metas[8]
//!  82         the metalayers, see `section.rs`; the array of contents may be missing
//! ```
//! Chunks and index have the current layout. An offset has 2, 4 or 8 bytes, whichever fits the
//! number of chunks, and is relative to the end of the header or to the first byte of the frame;
//! with its highest bit set it encodes a special chunk, as in the current layout. The trailer has
//! one chunk of user metadata instead of variable-length metalayers: `94 00 (c6 length chunk, or
//! nothing) ce trailer_len d8 0 0[16]`.
//!
//! These headers number codecs and filters differently; the codec and the filters of the first
//! chunk are reported instead. (Source: the two older descriptions of the C-Blosc2 frame format.)

use super::description::{Counters, MAX_METALAYERS, Metalayer, StoredParams};
use super::header::{self, FrameHeader, Lengths, MIN_TRAILER_LEN};
use super::index::{self, Offsets};
use super::section::{self, BIN32, i16_at, i32_at, i64_at};
use super::trailer;
use crate::chunk::{
    BasicHeader, ChunkHeader, EXTENDED_HEADER_LENGTH, MIN_HEADER_LENGTH, SplitMode,
};
use crate::codec;
use crate::filter::{SLOTS, Slot};
use crate::{Error, Result};

/// The size in bytes of the start of a header, whose layout is the same in every older frame.
pub const FIXED_LEN: usize = 82;
/// The size of the shortest header in bytes: an empty map of metalayers and no array after it.
const MIN_LEN: usize = FIXED_LEN + 7;
/// The offset of the map of metalayers.
const MAP_AT: usize = FIXED_LEN + 4;
const FLAGS_AT: usize = 25;
const CODEC_AT: usize = 27;
const CHUNKSIZE_AT: usize = 53;
const CTHREADS_AT: usize = 58;
const DTHREADS_AT: usize = 61;
const FILTERS_AT: usize = 66;
const FILTERS_META_AT: usize = 74;
/// The markers that identify the older layouts. The current layout has a different marker at 57, so
/// a current frame with a damaged first byte is not mistaken for an older one.
const MARKERS: [(usize, u8); 6] = [
    (0, 0x9d),
    (CHUNKSIZE_AT - 1, 0xd2),
    (CTHREADS_AT - 1, 0xd1),
    (DTHREADS_AT - 1, 0xd1),
    (64, 0xd8),
    (FIXED_LEN, 0x93),
];
/// Highest version number of these layouts and of the current one.
const LAST_VERSION: u8 = 3;
const VERSION_MASK: u8 = 0x0f;
/// The offset of the user metadata in a trailer.
const USERMETA_AT: usize = 2;
/// Name of the metalayer that user metadata are reported as.
const USERMETA: &[u8] = b"usermeta";

/// The contents of a frame, converted to the current format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyFrame {
    /// The header; its counters are complete.
    pub header: FrameHeader,
    /// The offsets of the chunks, relative to the end of the header; special ones as in
    /// [`Offsets`].
    pub offsets: Offsets,
    /// The fixed metalayers.
    pub metalayers: Vec<Metalayer>,
    /// The user metadata, if any, as a variable-length metalayer.
    pub vlmetalayers: Vec<Metalayer>,
}

/// A function that fills a slice with the bytes at an offset, relative to the first byte of the
/// frame, or fails.
pub type ReadFrame<'a> = dyn Fn(u64, &mut [u8]) -> Result<()> + 'a;

/// Whether `bytes` is the start of a frame of an older layout. At least [`FIXED_LEN`] + 1 bytes are
/// needed.
pub fn is_legacy(bytes: &[u8]) -> bool {
    MARKERS.iter().all(|&(at, marker)| bytes.get(at) == Some(&marker))
}

/// Reads a frame of an older layout, without its chunks. `available` bytes exist.
///
/// # Errors
/// [`Error::InvalidHeader`] if it is not such a frame or is truncated, [`Error::VersionSupport`]
/// for a later format; [`Error::Data`] and [`Error::ReadBuffer`] for invalid metalayers;
/// [`Error::MemoryAlloc`]; the errors of `read` and of decompression.
pub fn read(read: &ReadFrame<'_>, available: u64) -> Result<LegacyFrame> {
    let frame = Frame::open(read, available)?;
    let metalayers = section::parse(&frame.header, MAP_AT, MAX_METALAYERS)?;
    let vlmetalayers = frame.usermeta()?;
    let (offsets, first) =
        if frame.nbytes > 0 { frame.offsets()? } else { (Offsets::Each(Vec::new()), None) };
    let header = FrameHeader {
        header_len: frame.lengths.header_len,
        frame_len: frame.lengths.frame_len,
        recorded: frame.recorded(first.as_ref()),
        counters: Counters {
            chunksize: frame.chunksize,
            blocksize: 0,
            flags2: 0,
            nchunks: i64::try_from(offsets.len()).map_err(|_| Error::InvalidHeader)?,
            nbytes: frame.nbytes,
            cbytes: i64::try_from(frame.cbytes).map_err(|_| Error::InvalidHeader)?,
        },
        threads: (i16_at(&frame.header, CTHREADS_AT), i16_at(&frame.header, DTHREADS_AT)),
        has_vlmetalayers: !vlmetalayers.is_empty(),
        vl_blocks: false,
    };
    Ok(LegacyFrame { header, offsets, metalayers, vlmetalayers })
}

/// A frame that is being read.
struct Frame<'a> {
    read: &'a ReadFrame<'a>,
    lengths: Lengths,
    header: Vec<u8>,
    trailer_len: u32,
    chunksize: i32,
    nbytes: i64,
    cbytes: u64,
}

impl<'a> Frame<'a> {
    /// Reads the header and locates the sections.
    fn open(read: &'a ReadFrame<'a>, available: u64) -> Result<Frame<'a>> {
        let shortest = (MIN_LEN + MIN_TRAILER_LEN) as u64;
        if available < shortest {
            return Err(Error::InvalidHeader);
        }
        let mut fixed = [0; FIXED_LEN + 1];
        read(0, &mut fixed)?;
        if !is_legacy(&fixed) {
            return Err(Error::InvalidHeader);
        }
        if fixed[FLAGS_AT] & VERSION_MASK > LAST_VERSION {
            return Err(Error::VersionSupport);
        }
        let lengths = Lengths::parse(&fixed, MIN_LEN)?;
        if lengths.frame_len > available {
            return Err(Error::InvalidHeader);
        }
        let mut tail = [0; trailer::TAIL_LEN];
        read(lengths.frame_len - tail.len() as u64, &mut tail)?;
        let nbytes = i64_at(&fixed, header::NBYTES_AT);
        // In a frame without data the size of the chunks is ignored.
        let cbytes = if nbytes > 0 { i64_at(&fixed, header::CBYTES_AT) } else { 0 };
        let frame = Frame {
            read,
            trailer_len: trailer::trailer_len(&tail, lengths.frame_len)?,
            header: read_vec(read, 0, u64::from(lengths.header_len))?,
            lengths,
            chunksize: i32_at(&fixed, CHUNKSIZE_AT),
            nbytes,
            cbytes: u64::try_from(cbytes).map_err(|_| Error::InvalidHeader)?,
        };
        let is_sound = frame.index_at() <= frame.trailer_at()
            && i32_at(&fixed, header::TYPESIZE_AT) > 0
            && (nbytes <= 0 || frame.chunksize >= 0);
        if is_sound { Ok(frame) } else { Err(Error::InvalidHeader) }
    }

    fn header_len(&self) -> u64 {
        u64::from(self.lengths.header_len)
    }

    fn index_at(&self) -> u64 {
        self.header_len().saturating_add(self.cbytes)
    }

    fn trailer_at(&self) -> u64 {
        self.lengths.frame_len - u64::from(self.trailer_len)
    }

    /// Reads the user metadata.
    fn usermeta(&self) -> Result<Vec<Metalayer>> {
        let trailer = read_vec(self.read, self.trailer_at(), u64::from(self.trailer_len))?;
        if trailer.get(USERMETA_AT) != Some(&BIN32) {
            return Ok(Vec::new());
        }
        let content = section::content_at(&trailer, USERMETA_AT as i32)?;
        if content.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![Metalayer { name: USERMETA.to_vec(), content: content.to_vec() }])
    }

    /// Returns the offsets in the current format, and the header of the first chunk if it is
    /// stored.
    fn offsets(&self) -> Result<(Offsets, Option<ChunkHeader>)> {
        let space = self.trailer_at() - self.index_at();
        let mut head = [0; MIN_HEADER_LENGTH];
        if space < head.len() as u64 {
            return Err(Error::InvalidHeader);
        }
        (self.read)(self.index_at(), &mut head)?;
        let cbytes = u64::try_from(BasicHeader::parse(&head)?.cbytes)
            .ok()
            .filter(|&cbytes| cbytes <= space)
            .ok_or(Error::InvalidHeader)?;
        let chunk = read_vec(self.read, self.index_at(), cbytes)?;
        let nbytes = index::payload_len(&chunk)?;
        let width = self.width(nbytes)?;
        let mut offsets = match index::repeated(&chunk, width)? {
            Some(item) => {
                Offsets::Same { count: nbytes / width, offset: widen_offset(&item[..width]) }
            }
            None => {
                let payload = index::payload(&chunk)?;
                let mut offsets = Vec::new();
                offsets.try_reserve_exact(payload.len() / width)?;
                offsets.extend(payload.chunks_exact(width).map(widen_offset));
                Offsets::Each(offsets)
            }
        };
        self.rebase_offsets(offsets.kept_mut())?;
        let first = match offsets.get(0) {
            Some(offset @ 0..) => self.chunk_at(offset as u64),
            _ => None,
        };
        Ok((offsets, first))
    }

    /// Returns the size of an offset in bytes, in an index of `nbytes` bytes.
    fn width(&self, nbytes: usize) -> Result<usize> {
        let width = match i64::from(self.chunksize) {
            0 => size_of::<i64>(),
            chunksize => {
                let nchunks = (self.nbytes - 1) / chunksize + 1;
                let nchunks = usize::try_from(nchunks).map_err(|_| Error::InvalidHeader)?;
                if nchunks > index::MAX_CHUNKS || !nbytes.is_multiple_of(nchunks) {
                    return Err(Error::InvalidHeader);
                }
                nbytes / nchunks
            }
        };
        match width {
            2 | 4 | 8 if nbytes != 0 && nbytes.is_multiple_of(width) => Ok(width),
            _ => Err(Error::InvalidHeader),
        }
    }

    /// Makes offsets relative to the end of the header.
    fn rebase_offsets(&self, offsets: &mut [i64]) -> Result<()> {
        let stored = || offsets.iter().copied().filter(|&offset| offset >= 0);
        let Some(smallest) = stored().min() else {
            return Ok(());
        };
        let header_len = i64::from(self.lengths.header_len);
        let from_frame = match u64::try_from(smallest - header_len) {
            Ok(offset) => self.chunk_at(offset).is_some(),
            Err(_) => false,
        };
        let origin = if from_frame { header_len } else { 0 };
        for offset in offsets.iter_mut().filter(|offset| **offset >= 0) {
            *offset -= origin;
            let has_room = u64::try_from(*offset)
                .ok()
                .and_then(|offset| offset.checked_add(MIN_HEADER_LENGTH as u64))
                .is_some_and(|end| end <= self.cbytes);
            if !has_room {
                return Err(Error::InvalidHeader);
            }
        }
        Ok(())
    }

    /// Returns the header of the chunk at this offset after the header, if there is a chunk.
    fn chunk_at(&self, offset: u64) -> Option<ChunkHeader> {
        let space = self.cbytes.checked_sub(offset)?;
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        let there = usize::try_from(space).map_or(head.len(), |space| space.min(head.len()));
        let head = &mut head[..there];
        (self.read)(self.header_len() + offset, head).ok()?;
        let chunk = ChunkHeader::parse(head).ok()?;
        let fits = chunk.cbytes as u64 <= space
            && (self.chunksize == 0 || chunk.basic.nbytes <= self.chunksize);
        fits.then_some(chunk)
    }

    /// Returns the reported parameters, given the header of the first chunk.
    fn recorded(&self, first: Option<&ChunkHeader>) -> StoredParams {
        // The last two of eight slots are not reported: the current format has only six.
        let slots: [Slot; SLOTS] = std::array::from_fn(|i| Slot {
            id: self.header[FILTERS_AT + i],
            meta: self.header[FILTERS_META_AT + i],
        });
        StoredParams {
            compcode: first.map_or(codec::id::BLOSCLZ, compcode),
            compcode_meta: first.map_or(0, |chunk| chunk.codec_meta),
            clevel: self.header[CODEC_AT] >> 4,
            splitmode: SplitMode::FORWARD_COMPAT.0 as u8,
            typesize: i32_at(&self.header, header::TYPESIZE_AT),
            use_dict: first.is_some_and(|chunk| chunk.use_dict),
            filters: first.map_or(slots, |chunk| chunk.filters),
        }
    }
}

/// Returns a codec id for the codec of a chunk.
fn compcode(chunk: &ChunkHeader) -> u8 {
    codec::info_of_format(chunk.basic.format()).map_or(chunk.udcodec, |codec| codec.id)
}

/// Widens an offset of any size; its special bits move to their current position.
fn widen_offset(bytes: &[u8]) -> i64 {
    let mut offset = [0; size_of::<i64>()];
    let highest = bytes[bytes.len() - 1];
    match highest & 0x80 {
        0 => offset[..bytes.len()].copy_from_slice(bytes),
        _ => offset[size_of::<i64>() - 1] = highest,
    }
    i64::from_le_bytes(offset)
}

fn read_vec(read: &ReadFrame<'_>, position: u64, len: u64) -> Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    read(position, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
pub(in crate::frame) mod tests;
