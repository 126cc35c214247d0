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

/// How many offsets are in an index; `chunk` may go on behind it. Any chunk will do that can be one of
/// offsets and is not too short for what it says to hold.
///
/// # Errors
/// [`Error::InvalidHeader`] when it is no index; the errors of [`ChunkHeader::parse`].
pub fn count(chunk: &[u8]) -> Result<usize> {
    let header = ChunkHeader::parse(chunk)?;
    let is_stored = header.is_memcpyed();
    let is_sound = header.cbytes >= EXTENDED_HEADER_LENGTH
        && header.cbytes <= chunk.len()
        && header.nbytes.is_multiple_of(OFFSET_LEN)
        && (!is_stored || header.cbytes == header.header_len() + header.nbytes)
        && (header.special != Special::None || header.nbytes / MAX_EXPANSION <= header.cbytes);
    if is_sound {
        Ok(header.nbytes / OFFSET_LEN)
    } else {
        Err(Error::InvalidHeader)
    }
}

/// The offsets in an index; `chunk` may go on behind it.
///
/// # Errors
/// [`Error::InvalidHeader`] when it isn't the index of `nchunks` chunks, if that is known;
/// [`Error::MemoryAlloc`]; the errors of [`count`] and of [`Decompressor::decompress`].
pub fn decode(
    decompressor: &mut Decompressor,
    chunk: &[u8],
    nchunks: Option<i64>,
) -> Result<Vec<i64>> {
    let count = count(chunk)?;
    if nchunks.is_some_and(|nchunks| i64::try_from(count) != Ok(nchunks)) {
        return Err(Error::InvalidHeader);
    }
    let mut bytes = Buffer::zeroed(count * OFFSET_LEN)?;
    decompressor.decompress(chunk, &mut bytes)?;
    let mut offsets = Vec::new();
    offsets.try_reserve_exact(count)?;
    let (words, _) = bytes.as_chunks::<OFFSET_LEN>();
    offsets.extend(words.iter().map(|&word| i64::from_le_bytes(word)));
    Ok(offsets)
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
    /// The last index.
    chunk: Vec<u8>,
    /// How many blocks the last index has if it was put together, else 0.
    nblocks: usize,
    /// How many of `blocks` are at their places in it.
    placed: usize,
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
            chunk: Vec::new(),
            nblocks: 0,
            placed: 0,
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
    pub fn encode(&mut self, offsets: &[i64], unchanged: usize, room: usize) -> Result<&[u8]> {
        self.forget_blocks_behind(unchanged.min(offsets.len()) / BLOCK);
        if offsets.len() > MAX_CHUNKS {
            return Err(Error::InvalidParam);
        }
        if offsets.len() > BLOCK && self.encode_in_blocks(offsets, room)? {
            return Ok(&self.chunk);
        }
        self.encode_whole(offsets, room)?;
        Ok(&self.chunk)
    }

    fn forget_blocks_behind(&mut self, kept: usize) {
        self.ends.truncate(kept);
        self.blocks.truncate(self.start_of(self.ends.len()));
        self.placed = self.placed.min(kept);
    }

    /// Where a full block begins in `blocks`.
    fn start_of(&self, nblock: usize) -> usize {
        match nblock {
            0 => 0,
            _ => self.ends[nblock - 1],
        }
    }

    /// Compresses everything at once.
    fn encode_whole(&mut self, offsets: &[i64], room: usize) -> Result<()> {
        self.nblocks = 0;
        self.placed = 0;
        to_bytes(offsets, &mut self.raw)?;
        resize(&mut self.chunk, room)?;
        match self.compressor.compress(&self.raw, &mut self.chunk)? {
            0 => Err(Error::WriteBuffer),
            len => {
                self.chunk.truncate(len);
                Ok(())
            }
        }
    }

    /// Compresses the blocks that are not kept, and puts all together. Returns whether that gives the bytes
    /// of a compression at once: it does as long as `room` leaves the compressor as much for each block as
    /// it can use, and no block is of the kind that makes a chunk of another form.
    fn encode_in_blocks(&mut self, offsets: &[i64], room: usize) -> Result<bool> {
        let (full, rest) = offsets.as_chunks::<BLOCK>();
        for block in &full[self.ends.len()..] {
            let Some(len) = self.compress_block(block)? else {
                return Ok(false);
            };
            self.blocks.try_reserve(len)?;
            self.ends.try_reserve(1)?;
            let compressed = &self.one_block[ONLY_BLOCK_AT..ONLY_BLOCK_AT + len];
            self.blocks.extend_from_slice(compressed);
            self.ends.push(self.blocks.len());
        }
        let rest_len = match rest {
            [] => 0,
            rest => match self.compress_block(rest)? {
                Some(len) => len,
                None => return Ok(false),
            },
        };
        let nblocks = offsets.len().div_ceil(BLOCK);
        let data_at = EXTENDED_HEADER_LENGTH + nblocks * START_LEN;
        let rest_at = data_at + self.blocks.len();
        let last_full_at = data_at + self.start_of(full.len() - 1);
        let is_roomy = last_full_at + WORST_BLOCK <= room
            && (rest.is_empty() || rest_at + SIZE_LEN + rest.len() * OFFSET_LEN <= room);
        if !is_roomy {
            return Ok(false);
        }
        let Some(of_block) = self.header else {
            return Ok(false);
        };
        self.put_together(nblocks, rest_at + rest_len)?;
        let header = HeaderFields {
            version: of_block.basic.version,
            versionlz: of_block.basic.versionlz,
            flags: of_block.basic.flags,
            typesize: of_block.basic.typesize,
            nbytes: offsets.len() * OFFSET_LEN,
            blocksize: BLOCK * OFFSET_LEN,
            cbytes: self.chunk.len(),
            filters: of_block.filters,
            udcodec: of_block.udcodec,
            codec_meta: of_block.codec_meta,
            flags2: 0,
            blosc2_flags: 0,
        };
        header.write(&mut self.chunk);
        Ok(true)
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

    /// Puts the block starts, `blocks` and what is in `one_block` of the last block at their places in
    /// `chunk`, which gets `len` bytes. What has its place already is left there.
    fn put_together(&mut self, nblocks: usize, len: usize) -> Result<()> {
        if self.nblocks != nblocks {
            self.placed = 0;
        }
        self.nblocks = 0;
        resize(&mut self.chunk, len)?;
        let data_at = EXTENDED_HEADER_LENGTH + nblocks * START_LEN;
        for nblock in self.placed..nblocks {
            let start = (data_at + self.start_of(nblock)) as i32;
            let entry = EXTENDED_HEADER_LENGTH + nblock * START_LEN;
            self.chunk[entry..entry + START_LEN].copy_from_slice(&start.to_le_bytes());
        }
        let from = self.start_of(self.placed);
        let rest_at = data_at + self.blocks.len();
        self.chunk[data_at + from..rest_at].copy_from_slice(&self.blocks[from..]);
        let rest_len = len - rest_at;
        self.chunk[rest_at..]
            .copy_from_slice(&self.one_block[ONLY_BLOCK_AT..ONLY_BLOCK_AT + rest_len]);
        self.nblocks = nblocks;
        self.placed = self.ends.len();
        Ok(())
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
mod tests {
    use super::*;
    use crate::frame::vectors;
    use proptest::prelude::*;

    fn encoded(offsets: &[i64]) -> Vec<u8> {
        let mut encoder = Encoder::new().unwrap();
        encoder
            .encode(offsets, 0, room(offsets.len()))
            .unwrap()
            .to_vec()
    }

    fn compressed_at_once(offsets: &[i64], room: usize) -> Vec<u8> {
        let bytes: Vec<u8> = offsets
            .iter()
            .flat_map(|offset| offset.to_le_bytes())
            .collect();
        let mut chunk = vec![0; room];
        let len = Compressor::new(params())
            .unwrap()
            .compress(&bytes, &mut chunk)
            .unwrap();
        chunk.truncate(len);
        chunk
    }

    /// Offsets of chunks of about `size` bytes, some of which are stored nowhere.
    fn offsets(count: usize, size: i64) -> Vec<i64> {
        let mut position = 0;
        (0..count as i64)
            .map(|i| match i * 7919 % 97 {
                0 => offset::of_special(Special::Zero).unwrap(),
                1 => offset::of_special(Special::Nan).unwrap(),
                noise => {
                    position += size + noise;
                    position
                }
            })
            .collect()
    }

    #[test]
    fn offsets_are_read_by_their_bits() {
        let kind = |offset: u64| offset::special(offset as i64);
        assert_eq!(kind(0x8100_0000_0000_0000), Ok(Some(Special::Zero)));
        assert_eq!(kind(0x8200_0000_0000_0000), Ok(Some(Special::Nan)));
        assert_eq!(kind(0x8400_0000_0000_0000), Ok(Some(Special::Uninit)));
        assert_eq!(kind(0x7fff_ffff_ffff_ffff), Ok(None));
        assert_eq!(kind(0), Ok(None));
        for kind in [Special::Zero, Special::Nan, Special::Uninit] {
            let offset = offset::of_special(kind).unwrap();
            assert_eq!(offset::special(offset), Ok(Some(kind)));
        }
        assert_eq!(offset::of_special(Special::Value), None);
    }

    #[test]
    fn row_f12_kinds_that_do_not_exist_are_read_as_others_read_them() {
        let kind = |offset: u64| offset::special(offset as i64);
        for zeros in [0x8300_0000_0000_0000, u64::MAX, 0x8100_0000_0000_0123] {
            assert_eq!(kind(zeros), Ok(Some(Special::Zero)));
        }
        assert_eq!(kind(0x8600_0000_0000_0000), Ok(Some(Special::Uninit)));
        for none in [0x8000_0000_0000_0000, 0x8800_0000_0000_0000] {
            assert_eq!(kind(none), Err(Error::Data));
        }
    }

    #[test]
    fn the_index_of_a_filled_frame_is_that_of_the_reference() {
        let zeros = |nchunks| fill(nchunks, Special::Zero).unwrap();
        // Of 2500 int32 in chunks of 4000 bytes, and of 10,000 chunks.
        let three = "0501050818000000180000002800000000000000000000000000000000000030\
                     0000000000000081";
        let many = "0501050880380100004000002800000000000000000000000000000000000030\
                    0000000000000081";
        assert_eq!(zeros(3), vectors::bytes(three));
        assert_eq!(zeros(10_000), vectors::bytes(many));
        assert_eq!(fill(1, Special::Value), Err(Error::InvalidParam));
        assert_eq!(
            fill(MAX_CHUNKS + 1, Special::Zero),
            Err(Error::InvalidParam)
        );
    }

    #[test]
    fn offsets_come_back_all_and_one_by_one() {
        let mut decompressor = Decompressor::default();
        for count in [1, 2, 5, 100, 2047, 2048, 2049, 2052, 5000] {
            let offsets = offsets(count, 100);
            let chunk = encoded(&offsets);
            let nchunks = Some(count as i64);
            assert_eq!(decode(&mut decompressor, &chunk, nchunks).unwrap(), offsets);
            for nchunk in [0, count / 2, count - 1] {
                let found = one(&mut decompressor, &chunk, nchunk).unwrap();
                assert_eq!(found, offsets[nchunk]);
            }
            assert_eq!(
                one(&mut decompressor, &chunk, count),
                Err(Error::InvalidParam)
            );
            let wrong = decode(&mut decompressor, &chunk, Some(count as i64 + 1));
            assert_eq!(wrong, Err(Error::InvalidHeader));
        }
    }

    #[test]
    fn any_chunk_of_offsets_is_an_index() {
        let offsets = offsets(300, 100);
        let bytes: Vec<u8> = offsets
            .iter()
            .flat_map(|offset| offset.to_le_bytes())
            .collect();
        for typesize in [1, 2, 3, 4, 8, 16, 100] {
            let params = CParams::default().codec(codec::id::ZSTD).typesize(typesize);
            let chunk = Compressor::new(params)
                .unwrap()
                .compress_to_vec(&bytes)
                .unwrap();
            let mut decompressor = Decompressor::default();
            assert_eq!(
                decode(&mut decompressor, &chunk, Some(300)).unwrap(),
                offsets
            );
            assert_eq!(one(&mut decompressor, &chunk, 299).unwrap(), offsets[299]);
        }
    }

    #[test]
    fn row_f15_an_index_is_not_longer_than_its_bytes_can_tell() {
        let nbytes_at = 4..8;
        let mut stored = encoded(&[0, 10]);
        stored[nbytes_at.clone()].copy_from_slice(&0x7fff_fff8_i32.to_le_bytes());
        assert_eq!(count(&stored), Err(Error::InvalidHeader));
        let mut compressed = encoded(&offsets(1000, 5));
        compressed[nbytes_at].copy_from_slice(&0x7fff_fff8_i32.to_le_bytes());
        assert!(decode(&mut Decompressor::default(), &compressed, None).is_err());
        let mut odd = encoded(&[0, 10]);
        odd[4] -= 1;
        assert_eq!(count(&odd), Err(Error::InvalidHeader));
    }

    #[test]
    fn an_index_that_grows_is_what_one_compression_makes() {
        let all = offsets(3 * BLOCK + 10, 100);
        let mut encoder = Encoder::new().unwrap();
        let near_a_border = |count: usize| (count + 40) % BLOCK < 80 || count.is_multiple_of(397);
        for count in 1..all.len() {
            let offsets = &all[..count];
            let index = encoder.encode(offsets, count - 1, room(count)).unwrap();
            if near_a_border(count) {
                assert_eq!(
                    index,
                    compressed_at_once(offsets, room(count)),
                    "{count} offsets"
                );
            }
        }
    }

    #[test]
    fn an_index_after_a_deletion_may_be_longer_than_its_offsets() {
        // Observed of C-Blosc2: four offsets take 72 bytes after a deletion and 64 else.
        let offsets = [0, 0x1163, 0x2163, 0x3163];
        let mut encoder = Encoder::new().unwrap();
        let after_deletion = encoder.encode(&offsets, 0, room(5)).unwrap().len();
        let else_ = encoder.encode(&offsets, 0, room(4)).unwrap().len();
        assert_eq!((after_deletion, else_), (72, 64));
    }

    /// A change of a list of offsets.
    #[derive(Clone, Debug)]
    enum Change {
        Append(Vec<i64>),
        Insert(prop::sample::Index, i64),
        Delete(prop::sample::Index),
        Cut(prop::sample::Index),
        Update(prop::sample::Index, i64, bool),
    }

    fn some_offset() -> impl Strategy<Value = i64> {
        prop_oneof![
            4 => 0..1i64 << 30,
            1 => any::<i64>(),
            1 => Just(0x81u64.wrapping_shl(56) as i64),
        ]
    }

    fn many_offsets() -> impl Strategy<Value = Vec<i64>> {
        let counts = prop_oneof![0..10usize, BLOCK - 5..BLOCK + 6, 0..5000usize];
        let steps = prop_oneof![Just(0i64), Just(1), 0..100_000i64];
        prop_oneof![
            3 => (counts, steps, some_offset()).prop_map(|(count, step, first)| {
                (0..count as i64).map(|i| first.wrapping_add(i * step)).collect()
            }),
            1 => prop::collection::vec(any::<i64>(), 0..BLOCK + 10),
        ]
    }

    fn change() -> impl Strategy<Value = Change> {
        let place = any::<prop::sample::Index>;
        prop_oneof![
            many_offsets().prop_map(Change::Append),
            some_offset().prop_map(|offset| Change::Append(vec![offset])),
            (place(), some_offset()).prop_map(|(at, offset)| Change::Insert(at, offset)),
            place().prop_map(Change::Delete),
            place().prop_map(Change::Cut),
            (place(), some_offset(), any::<bool>())
                .prop_map(|(at, offset, shifts)| Change::Update(at, offset, shifts)),
        ]
    }

    impl Change {
        /// Does it; returns how many offsets in front of it are as before.
        fn apply(&self, offsets: &mut Vec<i64>) -> usize {
            let (len, last) = (offsets.len(), offsets.len().saturating_sub(1));
            match self {
                Change::Append(more) => {
                    offsets.extend(more);
                    len
                }
                Change::Insert(at, offset) => {
                    let at = at.index(len + 1);
                    offsets.insert(at, *offset);
                    at
                }
                Change::Delete(at) if len > 1 => {
                    offsets.remove(at.index(len));
                    at.index(len)
                }
                Change::Cut(at) if len > 1 => {
                    offsets.truncate(1 + at.index(last));
                    offsets.len()
                }
                Change::Update(at, offset, shifts) if len > 0 => {
                    let at = at.index(len);
                    offsets[at] = *offset;
                    for later in &mut offsets[at + 1..] {
                        *later = later.wrapping_add(i64::from(*shifts));
                    }
                    at
                }
                _ => len,
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn whatever_changes_the_index_is_what_one_compression_makes(
            changes in prop::collection::vec((change(), any::<bool>()), 1..12),
        ) {
            let mut encoder = Encoder::new().unwrap();
            let mut offsets = Vec::new();
            for (change, has_room_for_one_more) in changes {
                let unchanged = change.apply(&mut offsets);
                let room = room(offsets.len() + usize::from(has_room_for_one_more));
                let index = encoder.encode(&offsets, unchanged, room).unwrap();
                prop_assert_eq!(index, &compressed_at_once(&offsets, room)[..]);
            }
        }
    }
}
