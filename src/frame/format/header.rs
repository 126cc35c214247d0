//! Parsing and building of frame headers.
//!
//! ```text
//!   0  9e a8  "b2frame\0"        an array of 14, a string of 8
//!  10  d2     header_len         bytes of the whole header
//!  15  cf     frame_len          bytes of the whole frame
//!  24  a4     flags kind codec split
//!  29  d3     nbytes             uncompressed bytes of all chunks
//!  38  d3     cbytes             bytes of the data section, or of all chunk files
//!  47  d2     typesize
//!  52  d2     blocksize          requested; 0 is automatic
//!  57  d2     chunksize          −1 before the first chunk, 0 when chunks differ
//!  62  d1 d1  threads            of compression and decompression
//!  68  c2/c3                     whether there are variable-length metalayers
//!  69  d8     6 ids[6] codec codec_meta metas[6] more_flags 0
//!  87         the metalayers, see `section.rs`
//! ```
//! The first column is the offset of the first byte in the second column, a msgpack marker; numbers
//! are big endian. `BLANK` has all the markers, and building a header fills in the numbers. Parsing
//! ignores the markers: it reads the numbers at fixed offsets, and accepts everything that other
//! readers of the format accept. (Source: the C-Blosc2 frame format.)

use super::description::{self, Counters, Description, MAX_METALAYERS, Metalayer, StoredParams};
use super::section::{self, Named, bytes_at, i16_at, i32_at, i64_at};
use crate::filter::{SLOTS, Slot};
use crate::{Error, Result};

/// The size in bytes of the start of a header, whose layout is the same in every frame.
pub const FIXED_LEN: usize = 87;
/// The size of the shortest trailer in bytes.
pub const MIN_TRAILER_LEN: usize = 25;
/// The size of the smallest header, that of a frame without metalayers, in bytes.
pub const MIN_LEN: usize = FIXED_LEN + section::EMPTY_LEN;
/// The first bytes of each frame that is written.
pub const MARK: &[u8; 10] = b"\x9e\xa8b2frame\0";
/// The magic bytes at offset 2. A frame in memory must have them; readers of files ignore them.
pub const MAGIC: [u8; 8] = *b"b2frame\0";

/// The offset of [`MAGIC`].
pub(super) const MAGIC_AT: usize = 2;
/// The offset of the header length, 32 bits.
pub const HEADER_LEN_AT: usize = 11;
/// The offset of the frame length, 64 bits.
pub(super) const FRAME_LEN_AT: usize = 16;
/// The offset of the thread counts: two 16-bit numbers, each after a marker.
pub(super) const THREADS_AT: usize = 62;
const FLAGS_AT: usize = 25;
const KIND_AT: usize = 26;
const CODEC_AT: usize = 27;
const SPLIT_AT: usize = 28;
pub(super) const NBYTES_AT: usize = 30;
pub(super) const CBYTES_AT: usize = 39;
pub(super) const TYPESIZE_AT: usize = 48;
const BLOCKSIZE_AT: usize = 53;
const CHUNKSIZE_AT: usize = 58;
const CTHREADS_AT: usize = THREADS_AT + 1;
const DTHREADS_AT: usize = THREADS_AT + 4;
const HAS_VLMETALAYERS_AT: usize = 68;
const NFILTERS_AT: usize = 70;
const FILTERS_AT: usize = 71;
const UDCODEC_AT: usize = 77;
const CODEC_META_AT: usize = 78;
const FILTERS_META_AT: usize = 79;
const MORE_FLAGS_AT: usize = 85;

/// The offset of the map of metalayers.
const METALAYERS_AT: usize = FIXED_LEN + 4;
/// The size of an empty map as counted in headers: from the first byte of the section to the end of
/// the map.
const SIZE_OF_NO_METALAYERS: usize = 7;

/// The fixed part with all numbers 0.
const BLANK: [u8; FIXED_LEN] = {
    let mut bytes = [0; FIXED_LEN];
    let mut i = 0;
    while i < MARK.len() {
        bytes[i] = MARK[i];
        i += 1;
    }
    bytes[HEADER_LEN_AT - 1] = 0xd2;
    bytes[FRAME_LEN_AT - 1] = 0xcf;
    bytes[FLAGS_AT - 1] = 0xa4;
    bytes[NBYTES_AT - 1] = 0xd3;
    bytes[CBYTES_AT - 1] = 0xd3;
    bytes[TYPESIZE_AT - 1] = 0xd2;
    bytes[BLOCKSIZE_AT - 1] = 0xd2;
    bytes[CHUNKSIZE_AT - 1] = 0xd2;
    bytes[CTHREADS_AT - 1] = 0xd1;
    bytes[DTHREADS_AT - 1] = 0xd1;
    bytes[NFILTERS_AT - 1] = 0xd8;
    bytes[NFILTERS_AT] = SLOTS as u8;
    bytes
};

/// Bits of the format version.
const VERSION_MASK: u8 = 0x0f;
/// Version of frames that all readers of the format accept.
const VERSION_STABLE: u8 = 2;
/// Version of frames with variable chunk sizes or variable-length blocks; the highest one accepted.
const VERSION_VARIABLE: u8 = 3;
/// Offsets have 64 bits. Readers ignore this flag.
const OFFSETS_64: u8 = 0x10;
/// Chunks differ in size.
const VARIABLE_CHUNKS: u8 = 0x40;
/// Chunks have variable-length blocks.
const VL_BLOCKS: u8 = 0x80;
/// Codec ids from this value on are stored in a separate byte.
const CODEC_ELSEWHERE: u8 = 6;
const NIBBLE: u8 = 0x0f;
const SPLIT_MASK: u8 = 0x03;
const USE_DICT: u8 = 0x01;
const FALSE: u8 = 0xc2;
const TRUE: u8 = 0xc3;

/// The size of an offset in the index, in bytes.
const OFFSET_LEN: i64 = 8;

/// The storage of a frame's chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// All chunks between header and index.
    Contiguous,
    /// Each chunk in its own file.
    Sparse,
}

impl Kind {
    fn byte(self) -> u8 {
        match self {
            Kind::Contiguous => 0,
            Kind::Sparse => 1,
        }
    }
}

/// The fixed part of a header, parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameHeader {
    /// The size of the header in bytes, including metalayers.
    pub header_len: u32,
    /// The size of the frame in bytes; for a sparse frame the size of its index file.
    pub frame_len: u64,
    /// Compression parameters.
    pub recorded: StoredParams,
    /// Sizes; `flags2` and `nchunks` are not stored in a header and are 0 here.
    pub counters: Counters,
    /// The numbers of compression and decompression threads when the header was written. Unused.
    pub threads: (i16, i16),
    /// Whether the trailer has metalayers. Readers trust the trailer instead.
    pub has_vlmetalayers: bool,
    /// Whether chunks have variable-length blocks. Readers trust the first chunk instead.
    pub vl_blocks: bool,
}

/// The lengths that the current and the older layouts store at the same offsets.
pub(super) struct Lengths {
    pub header_len: u32,
    pub frame_len: u64,
}

impl Lengths {
    /// Reads the lengths of header and frame from the first bytes of a frame.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`] for impossible lengths.
    pub fn parse(bytes: &[u8], shortest_header: usize) -> Result<Lengths> {
        let header_len = i32_at(bytes, HEADER_LEN_AT);
        let frame_len = i64_at(bytes, FRAME_LEN_AT);
        let lengths = Lengths {
            header_len: u32::try_from(header_len).map_err(|_| Error::InvalidHeader)?,
            frame_len: u64::try_from(frame_len).map_err(|_| Error::InvalidHeader)?,
        };
        let is_sound = lengths.frame_len >= (shortest_header + MIN_TRAILER_LEN) as u64
            && lengths.header_len as usize >= shortest_header
            && u64::from(lengths.header_len) <= lengths.frame_len;
        if is_sound { Ok(lengths) } else { Err(Error::InvalidHeader) }
    }
}

impl FrameHeader {
    /// Parses the fixed part of the header of a frame of this kind. `bytes` may be longer.
    ///
    /// Fields that reading does not need are not checked: markers and magic, the flags of the
    /// chunks, unknown codecs and levels, and the block size.
    ///
    /// # Errors
    /// [`Error::ReadBuffer`] for fewer than [`FIXED_HEADER_LEN`](crate::frame::FIXED_HEADER_LEN)
    /// bytes, [`Error::VersionSupport`] for a later format, [`Error::FrameType`] for a frame of the
    /// other kind, [`Error::InvalidHeader`] for impossible lengths and sizes.
    pub fn parse(bytes: &[u8], kind: Kind) -> Result<FrameHeader> {
        let bytes: &[u8; FIXED_LEN] = bytes.first_chunk().ok_or(Error::ReadBuffer)?;
        let flags = bytes[FLAGS_AT];
        if flags & VERSION_MASK > VERSION_VARIABLE {
            return Err(Error::VersionSupport);
        }
        if bytes[KIND_AT] != kind.byte() {
            return Err(Error::FrameType);
        }
        let lengths = Lengths::parse(bytes, FIXED_LEN)?;
        let counters = Counters {
            chunksize: i32_at(bytes, CHUNKSIZE_AT),
            blocksize: i32_at(bytes, BLOCKSIZE_AT),
            flags2: 0,
            nchunks: 0,
            nbytes: i64_at(bytes, NBYTES_AT),
            cbytes: i64_at(bytes, CBYTES_AT),
        };
        let header = FrameHeader {
            header_len: lengths.header_len,
            frame_len: lengths.frame_len,
            recorded: StoredParams {
                compcode: match bytes[CODEC_AT] & NIBBLE {
                    CODEC_ELSEWHERE => bytes[UDCODEC_AT],
                    nibble => nibble,
                },
                compcode_meta: bytes[CODEC_META_AT],
                clevel: bytes[CODEC_AT] >> 4,
                splitmode: (bytes[SPLIT_AT] & SPLIT_MASK) + 1,
                typesize: i32_at(bytes, TYPESIZE_AT),
                use_dict: bytes[MORE_FLAGS_AT] & USE_DICT != 0,
                filters: slots(bytes)?,
            },
            counters,
            threads: (i16_at(bytes, CTHREADS_AT), i16_at(bytes, DTHREADS_AT)),
            has_vlmetalayers: bytes[HAS_VLMETALAYERS_AT] == TRUE,
            vl_blocks: flags & VL_BLOCKS != 0,
        };
        let has_chunks_that_can_be = counters.nbytes <= 0
            || counters.chunksize >= 0
                && counters.cbytes >= 0
                && header.nchunks().is_none_or(|n| n <= i64::from(i32::MAX) / OFFSET_LEN);
        if header.recorded.typesize > 0 && has_chunks_that_can_be {
            Ok(header)
        } else {
            Err(Error::InvalidHeader)
        }
    }

    /// Returns the number of chunks; `None` if the chunks differ in size, because then only the
    /// index records the number.
    pub fn nchunks(&self) -> Option<i64> {
        let Counters { nbytes, chunksize, .. } = self.counters;
        match i64::from(chunksize) {
            _ if nbytes <= 0 => Some(0),
            chunksize @ 1.. => Some((nbytes - 1) / chunksize + 1),
            _ => None,
        }
    }

    /// Builds the fixed part from the fields, `header_len` and `frame_len` included.
    pub fn fixed_bytes(&self, kind: Kind) -> [u8; FIXED_LEN] {
        let StoredParams {
            compcode,
            compcode_meta,
            clevel,
            splitmode,
            typesize,
            use_dict,
            filters,
        } = self.recorded;
        let counters = &self.counters;
        let is_variable = counters.chunksize == 0;
        let version = if is_variable || self.vl_blocks { VERSION_VARIABLE } else { VERSION_STABLE };
        let mut bytes = BLANK;
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(HEADER_LEN_AT, &self.header_len.to_be_bytes());
        put(FRAME_LEN_AT, &self.frame_len.to_be_bytes());
        put(NBYTES_AT, &counters.nbytes.to_be_bytes());
        put(CBYTES_AT, &counters.cbytes.to_be_bytes());
        put(TYPESIZE_AT, &typesize.to_be_bytes());
        put(BLOCKSIZE_AT, &counters.blocksize.to_be_bytes());
        put(CHUNKSIZE_AT, &counters.chunksize.to_be_bytes());
        put(CTHREADS_AT, &self.threads.0.to_be_bytes());
        put(DTHREADS_AT, &self.threads.1.to_be_bytes());
        bytes[FLAGS_AT] = version
            | OFFSETS_64
            | if is_variable { VARIABLE_CHUNKS } else { 0 }
            | if self.vl_blocks { VL_BLOCKS } else { 0 };
        bytes[KIND_AT] = kind.byte();
        bytes[CODEC_AT] = (clevel & NIBBLE) << 4 | compcode.min(CODEC_ELSEWHERE);
        bytes[SPLIT_AT] = splitmode.wrapping_sub(1) & SPLIT_MASK;
        bytes[HAS_VLMETALAYERS_AT] = if self.has_vlmetalayers { TRUE } else { FALSE };
        for (i, slot) in filters.iter().enumerate() {
            bytes[FILTERS_AT + i] = slot.id;
            bytes[FILTERS_META_AT + i] = slot.meta;
        }
        bytes[UDCODEC_AT] = compcode;
        bytes[CODEC_META_AT] = compcode_meta;
        bytes[MORE_FLAGS_AT] = if use_dict { USE_DICT } else { 0 };
        bytes
    }

    /// Builds the whole header with these metalayers, each a name and its content. The stored
    /// header length is computed; `header_len` is ignored.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for more metalayers, longer names or more bytes than a header can
    /// hold; [`Error::MemoryAlloc`].
    pub fn build(&self, kind: Kind, metalayers: &[Named<'_>]) -> Result<Vec<u8>> {
        let section = section::built_len(metalayers, MAX_METALAYERS)?;
        let header_len = i32::try_from(section + FIXED_LEN).map_err(|_| Error::InvalidParam)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(section + FIXED_LEN)?;
        let header = FrameHeader { header_len: header_len as u32, ..*self };
        bytes.extend_from_slice(&header.fixed_bytes(kind));
        section::write(
            |part| bytes.extend_from_slice(part),
            FIXED_LEN,
            metalayers,
            SIZE_OF_NO_METALAYERS,
        );
        Ok(bytes)
    }
}

/// Builds the header of a described frame, without the frame length.
///
/// # Errors
/// Returns the same errors as [`FrameHeader::build`].
pub fn build(description: &Description, kind: Kind) -> Result<Vec<u8>> {
    let fixed = FrameHeader {
        header_len: 0,
        frame_len: 0,
        recorded: description.recorded,
        counters: description.counters,
        threads: description.threads,
        has_vlmetalayers: description.has_vlmetalayers,
        vl_blocks: description.counters.flags2 & description::VL_BLOCKS != 0,
    };
    let layers = description.metalayers.iter();
    let layers: Vec<Named<'_>> =
        layers.map(|layer| (&layer.name[..], &layer.content[..])).collect();
    fixed.build(kind, &layers)
}

/// Whether `bytes` begins with the magic of a frame.
pub fn has_magic(bytes: &[u8]) -> bool {
    bytes.get(MAGIC_AT..MAGIC_AT + MAGIC.len()) == Some(&MAGIC[..])
}

/// Whether `bytes` begins with a header that has all MessagePack markers after the magic bytes,
/// which may be damaged.
pub fn has_markers(bytes: &[u8]) -> bool {
    const MARKERS: [usize; 11] = [
        HEADER_LEN_AT - 1,
        FRAME_LEN_AT - 1,
        FLAGS_AT - 1,
        NBYTES_AT - 1,
        CBYTES_AT - 1,
        TYPESIZE_AT - 1,
        BLOCKSIZE_AT - 1,
        CHUNKSIZE_AT - 1,
        CTHREADS_AT - 1,
        DTHREADS_AT - 1,
        NFILTERS_AT - 1,
    ];
    MARKERS.iter().all(|&at| bytes.get(at) == Some(&BLANK[at]))
}

/// Reads the frame length from a fixed part, unchecked.
pub fn frame_len(fixed: &[u8; FIXED_LEN]) -> u64 {
    u64::from_be_bytes(bytes_at(fixed, FRAME_LEN_AT))
}

/// Reads the uncompressed size of all chunks from a fixed part and, if it is not 0, the size of the
/// data section, both in bytes.
pub fn data_lens(fixed: &[u8; FIXED_LEN]) -> (i64, Option<i64>) {
    let nbytes = i64_at(fixed, NBYTES_AT);
    (nbytes, (nbytes > 0).then(|| i64_at(fixed, CBYTES_AT)))
}

/// Sets the frame length in a header.
pub fn set_frame_len(header: &mut [u8], len: u64) {
    let field = &mut header[FRAME_LEN_AT..][..size_of::<u64>()];
    field.copy_from_slice(&len.to_be_bytes());
}

/// Sets the size of the data section in a header.
pub fn set_cbytes(header: &mut [u8], cbytes: i64) {
    let field = &mut header[CBYTES_AT..][..size_of::<i64>()];
    field.copy_from_slice(&cbytes.to_be_bytes());
}

/// Parses the metalayers of a whole header.
///
/// # Errors
/// [`Error::Data`] for more than [`MAX_METALAYERS`], for invalid markers and offsets, and for
/// contents that overlap; [`Error::ReadBuffer`] for contents beyond the header.
pub fn parse_metalayers(header: &[u8]) -> Result<Vec<Metalayer>> {
    section::parse(header, METALAYERS_AT, MAX_METALAYERS)
}

/// Reads the filter pipeline, which may have fewer than [`SLOTS`] slots.
fn slots(bytes: &[u8; FIXED_LEN]) -> Result<[Slot; SLOTS]> {
    let count = usize::from(bytes[NFILTERS_AT]);
    let mut slots = [Slot::default(); SLOTS];
    let filled = slots.get_mut(..count).ok_or(Error::InvalidHeader)?;
    for (i, slot) in filled.iter_mut().enumerate() {
        *slot = Slot { id: bytes[FILTERS_AT + i], meta: bytes[FILTERS_META_AT + i] };
    }
    Ok(slots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::format::vectors;

    fn parse(frame: &[u8]) -> Result<FrameHeader> {
        FrameHeader::parse(frame, Kind::Contiguous)
    }

    /// Parses the header of a frame of three chunks with some bytes changed.
    fn changed(at: usize, bytes: &[u8]) -> Result<FrameHeader> {
        let mut frame = vectors::bytes(vectors::THREE);
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        parse(&frame)
    }

    fn three() -> FrameHeader {
        parse(&vectors::bytes(vectors::THREE)).unwrap()
    }

    #[test]
    fn invalid_headers_are_rejected() {
        let frame = vectors::bytes(vectors::THREE);
        assert_eq!(parse(&frame[..FIXED_LEN - 1]), Err(Error::ReadBuffer));
        assert!(parse(&frame[..FIXED_LEN]).is_ok());
        assert_eq!(changed(FLAGS_AT, &[0x14]), Err(Error::VersionSupport));
        assert_eq!(changed(KIND_AT, &[1]), Err(Error::FrameType));
        assert_eq!(changed(KIND_AT, &[0x10]), Err(Error::FrameType));
        let invalid: [(usize, &[u8]); 12] = [
            (HEADER_LEN_AT, &86u32.to_be_bytes()),
            (HEADER_LEN_AT, &433u32.to_be_bytes()),
            (HEADER_LEN_AT, &u32::MAX.to_be_bytes()),
            (FRAME_LEN_AT, &111u64.to_be_bytes()),
            (FRAME_LEN_AT, &114u64.to_be_bytes()),
            (FRAME_LEN_AT, &u64::MAX.to_be_bytes()),
            (TYPESIZE_AT, &0u32.to_be_bytes()),
            (TYPESIZE_AT, &u32::MAX.to_be_bytes()),
            (NFILTERS_AT, &[7]),
            (CHUNKSIZE_AT, &(-1i32).to_be_bytes()),
            (CBYTES_AT, &(-1i64).to_be_bytes()),
            (NBYTES_AT, &(32i64 * 268_435_456).to_be_bytes()),
        ];
        for (at, bytes) in invalid {
            assert_eq!(changed(at, bytes), Err(Error::InvalidHeader), "{bytes:?} at {at}");
        }
        let most = changed(NBYTES_AT, &(32i64 * 268_435_455).to_be_bytes()).unwrap();
        assert_eq!(most.nchunks(), Some(268_435_455));
    }

    #[test]
    fn sizes_are_ignored_without_data() {
        for at in [NBYTES_AT, CBYTES_AT, CHUNKSIZE_AT] {
            let mut frame = vectors::bytes(vectors::EMPTY);
            frame[at] = 0xff;
            assert_eq!(parse(&frame).unwrap().nchunks(), Some(0));
        }
    }

    #[test]
    fn the_number_of_chunks_includes_a_short_last_one() {
        for (nbytes, nchunks) in [(1, 1), (32, 1), (33, 2), (64, 2)] {
            let header = changed(NBYTES_AT, &i64::to_be_bytes(nbytes)).unwrap();
            assert_eq!(header.nchunks(), Some(nchunks));
        }
        assert_eq!(changed(CHUNKSIZE_AT, &[0; 4]).unwrap().nchunks(), None);
    }

    #[test]
    fn row_f12_harmless_errors_in_a_header_are_accepted() {
        let honest = three();
        let lies: [(usize, &[u8]); 9] = [
            (0, &[0x9d]),
            (MAGIC_AT, b"B2FRAME!"),
            (HEADER_LEN_AT - 1, &[0]),
            (FLAGS_AT, &[0x10]),
            (FLAGS_AT, &[0x03]),
            (FLAGS_AT, &[0x52]),
            (TYPESIZE_AT - 1, &[0xff]),
            (NFILTERS_AT - 1, &[0xd2]),
            (THREADS_AT, &[0]),
        ];
        for (at, bytes) in lies {
            assert_eq!(changed(at, bytes), Ok(honest), "{bytes:?} at {at}");
        }
        assert!(changed(FLAGS_AT, &[0x92]).unwrap().vl_blocks);
        assert!(!changed(HAS_VLMETALAYERS_AT, &[0]).unwrap().has_vlmetalayers);
        assert_eq!(changed(THREADS_AT + 1, &[0, 7]).unwrap().threads, (7, 1));
        let level_15 = changed(CODEC_AT, &[0xf7]).unwrap().recorded;
        assert_eq!((level_15.clevel, level_15.compcode), (15, 7));
        let huge = changed(BLOCKSIZE_AT, &i32::MAX.to_be_bytes()).unwrap();
        assert_eq!(huge.counters.blocksize, i32::MAX);
    }

    #[test]
    fn a_header_with_damaged_magic_bytes_is_recognized() {
        let mut frame = vectors::bytes(vectors::THREE);
        frame[..MARK.len()].fill(0xff);
        assert!(has_markers(&frame));
        assert!(!has_magic(&frame));
        assert!(!has_markers(&frame[..NFILTERS_AT - 1]));
        frame[NFILTERS_AT - 1] ^= 1;
        assert!(!has_markers(&frame));
    }

    #[test]
    fn row_f13_a_negative_block_size_is_accepted() {
        let header = changed(BLOCKSIZE_AT, &(-16000i32).to_be_bytes()).unwrap();
        assert_eq!(header.counters.blocksize, -16000);
    }

    #[test]
    fn fewer_filters_than_slots_fill_the_first_slots() {
        for (count, ids) in [(0, [0; 6]), (2, [1, 2, 0, 0, 0, 0]), (6, [1, 2, 3, 4, 5, 6])] {
            let mut frame = vectors::bytes(vectors::THREE);
            frame[NFILTERS_AT] = count;
            frame[FILTERS_AT..FILTERS_AT + SLOTS].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
            let filters = parse(&frame).unwrap().recorded.filters;
            assert_eq!(filters.map(|slot| slot.id), ids);
        }
    }

    #[test]
    fn codecs_that_are_not_built_in_have_a_separate_byte() {
        // Observed with C-Blosc2: byte 27, byte 77, the codec and the level.
        for (codec, udcodec, compcode, clevel) in
            [(0x95, 5, 5, 9), (0x52, 2, 2, 5), (0x56, 32, 32, 5), (0x56, 160, 160, 5)]
        {
            let mut frame = vectors::bytes(vectors::THREE);
            frame[CODEC_AT] = codec;
            frame[UDCODEC_AT] = udcodec;
            let header = parse(&frame).unwrap();
            let recorded = header.recorded;
            assert_eq!((recorded.compcode, recorded.clevel), (compcode, clevel));
            assert_eq!(header.fixed_bytes(Kind::Contiguous), frame[..FIXED_LEN]);
        }
        // For a built-in codec that byte is ignored.
        assert_eq!(changed(UDCODEC_AT, &[9]).unwrap().recorded.compcode, 0);
    }

    #[test]
    fn flags_mark_variable_chunks_and_blocks() {
        for (chunksize, vl_blocks, flags) in [
            (-1, false, 0x12),
            (32, false, 0x12),
            (0, false, 0x53),
            (32, true, 0x93),
            (0, true, 0xd3),
        ] {
            let mut header = three();
            header.counters.chunksize = chunksize;
            header.vl_blocks = vl_blocks;
            assert_eq!(header.fixed_bytes(Kind::Sparse)[FLAGS_AT..][..2], [flags, 1]);
        }
    }

    #[test]
    fn all_header_fields_round_trip() {
        let mut header = three();
        header.recorded = StoredParams {
            compcode: 35,
            compcode_meta: 77,
            clevel: 8,
            splitmode: 2,
            typesize: 1000,
            use_dict: true,
            filters: std::array::from_fn(|i| Slot { id: 160 + i as u8, meta: 10 + i as u8 }),
        };
        header.counters.blocksize = -5;
        header.counters.nbytes = 1 << 40;
        header.counters.cbytes = 1 << 39;
        header.counters.chunksize = 1 << 30;
        header.threads = (-3, 300);
        header.frame_len = 1 << 50;
        for kind in [Kind::Contiguous, Kind::Sparse] {
            let bytes = header.fixed_bytes(kind);
            assert_eq!(FrameHeader::parse(&bytes, kind), Ok(header));
        }
        for splitmode in 1..=4 {
            header.recorded.splitmode = splitmode;
            let bytes = header.fixed_bytes(Kind::Sparse);
            assert_eq!(bytes[SPLIT_AT], splitmode - 1);
            assert_eq!(FrameHeader::parse(&bytes, Kind::Sparse), Ok(header));
        }
    }

    #[test]
    fn a_built_header_contains_its_length() {
        let metalayers: [Named<'_>; 2] = [(b"", b"content"), (&[b'n'; 31], b"")];
        let bytes = three().build(Kind::Contiguous, &metalayers).unwrap();
        let header = FrameHeader { frame_len: 1000, ..three() };
        assert_eq!(i32_at(&bytes, HEADER_LEN_AT) as usize, bytes.len());
        let empty = header.build(Kind::Contiguous, &[]).unwrap();
        assert_eq!((empty.len(), MIN_LEN), (97, 97));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes Miri minutes")]
    fn every_small_frame_has_the_number_of_chunks_that_hold_its_bytes() {
        let mut header = three();
        for nbytes in -2..=60_i64 {
            for chunksize in 0..=20_i32 {
                header.counters.nbytes = nbytes;
                header.counters.chunksize = chunksize;
                let holds = |chunks: &i64| chunks * i64::from(chunksize) >= nbytes;
                let expected = match chunksize {
                    _ if nbytes <= 0 => Some(0),
                    0 => None,
                    _ => (0..).find(holds),
                };
                assert_eq!(header.nchunks(), expected, "{nbytes} {chunksize}");
            }
        }
    }
}
