//! The chunk header, parsed and written only here.
//!
//! ```text
//!  0        1          2      3         4        8          12      16
//! +--------+----------+------+---------+--------+----------+-------+
//! |version |versionlz |flags |typesize | nbytes |blocksize |cbytes |      every chunk
//! +--------+----------+------+---------+--------+----------+-------+
//! 16          22       23         24              30      31       32
//! +-----------+--------+---------+---------------+-------+---------+
//! |filters[6] |udcodec |codecmeta|filters_meta[6]|flags2 |b2flags  |      extended header only
//! +-----------+--------+---------+---------------+-------+---------+
//! ```
//! Integers are signed 32-bit little-endian. The header is extended if the shuffle and bitshuffle
//! flags are both set; otherwise the flags define the filter pipeline. (Source: the C-Blosc2 chunk
//! format.)

use super::limits::{EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, MIN_HEADER_LENGTH, WORD, blosc1};
use crate::filter::{self, SLOTS, Slot};
use crate::{Error, Result, codec};

/// The chunk version of Blosc 1.x.
pub const VERSION_BLOSC1: u8 = 2;
/// The chunk version of the Blosc2 alphas, which had five filter slots.
const VERSION_ALPHA: u8 = 3;
/// The chunk version of the first Blosc2 beta.
const VERSION_BETA: u8 = 4;
/// The chunk version of regular chunks.
pub(crate) const VERSION_STABLE: u8 = 5;
/// The chunk version of chunks with variable-length blocks.
pub const VERSION_VL: u8 = 6;

/// Bits of the flags byte.
pub(crate) mod flag {
    pub const SHUFFLE: u8 = 0x01;
    pub const MEMCPYED: u8 = 0x02;
    pub const BITSHUFFLE: u8 = 0x04;
    pub const DELTA: u8 = 0x08;
    pub const NOT_SPLIT: u8 = 0x10;
    /// Both bits together mark an extended header.
    pub const EXTENDED: u8 = SHUFFLE | BITSHUFFLE;
    /// The position of the codec's format code.
    pub const FORMAT_SHIFT: u8 = 5;
}

/// Bits of byte 0x1E.
pub(crate) mod flag2 {
    pub const VL_BLOCKS: u8 = 0x01;
}

/// Bits of byte 0x1F.
pub(crate) mod blosc2_flag {
    pub const USE_DICT: u8 = 0x01;
    pub const LAZY: u8 = 0x08;
    pub const SPECIAL_SHIFT: u8 = 4;
    pub const SPECIAL_MASK: u8 = 0x07;
    pub const INSTRUMENTED: u8 = 0x80;
}

/// The offsets of the fields in bytes.
pub(in crate::chunk) mod offset {
    pub const VERSION: usize = 0;
    pub const VERSIONLZ: usize = 1;
    pub const FLAGS: usize = 2;
    pub const TYPESIZE: usize = 3;
    pub const NBYTES: usize = 4;
    pub const BLOCKSIZE: usize = 8;
    pub const CBYTES: usize = 12;
    pub const FILTERS: usize = 16;
    pub const UDCODEC: usize = 22;
    pub const CODEC_META: usize = 23;
    pub const FILTERS_META: usize = 24;
    pub const FLAGS2: usize = 30;
    pub const BLOSC2_FLAGS: usize = 31;
}

/// The kinds of chunks whose content is defined by the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Special {
    /// A regular chunk.
    None,
    /// All bytes are zero.
    Zero,
    /// All items are NaN.
    Nan,
    /// All items equal the value that follows the header.
    Value,
    /// Uninitialised: decompression does not write the destination.
    Uninit,
    /// A kind that this format version does not define.
    Unknown,
}

impl Special {
    /// Returns the kind with this number in the C interface.
    pub fn from_number(number: i32) -> Special {
        match number {
            0 => Special::None,
            1 => Special::Zero,
            2 => Special::Nan,
            3 => Special::Value,
            4 => Special::Uninit,
            _ => Special::Unknown,
        }
    }

    /// Returns the bits of byte 0x1F for this kind.
    pub(crate) fn bits(self) -> u8 {
        let number = match self {
            Special::None => 0,
            Special::Zero => 1,
            Special::Nan => 2,
            Special::Value => 3,
            Special::Uninit => 4,
            Special::Unknown => 5,
        };
        number << blosc2_flag::SPECIAL_SHIFT
    }
}

/// The first 16 bytes of a chunk. Every number except `nbytes` is checked to be in range; their
/// combination is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BasicHeader {
    /// The version of the chunk format.
    pub version: u8,
    /// The version of the codec's stream format.
    pub versionlz: u8,
    /// The flags byte.
    pub flags: u8,
    /// The item size in bytes, `1..=255`.
    pub typesize: u8,
    /// The uncompressed size in bytes; negative in some invalid headers.
    pub nbytes: i32,
    /// The stored block size in bytes, `1..=MAX_BLOCKSIZE`, or the number of variable-length
    /// blocks.
    pub blocksize: i32,
    /// The size of the chunk in bytes, header included; at least 16.
    pub cbytes: i32,
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl BasicHeader {
    /// Reads the first 16 bytes of a chunk without checking them.
    #[doc(hidden)]
    pub fn read(src: &[u8; MIN_HEADER_LENGTH]) -> BasicHeader {
        BasicHeader {
            version: src[offset::VERSION],
            versionlz: src[offset::VERSIONLZ],
            flags: src[offset::FLAGS],
            typesize: src[offset::TYPESIZE],
            nbytes: i32_at(src, offset::NBYTES),
            blocksize: i32_at(src, offset::BLOCKSIZE),
            cbytes: i32_at(src, offset::CBYTES),
        }
    }

    /// Parses the first 16 bytes of a chunk.
    ///
    /// # Errors
    /// [`Error::ReadBuffer`] if there are fewer; [`Error::InvalidHeader`] if a size is out of
    /// range.
    pub fn parse(src: &[u8]) -> Result<BasicHeader> {
        BasicHeader::parse_within(src, MAX_BLOCKSIZE)
    }

    /// Parses like [`BasicHeader::parse`], with `longest_block` as the maximum block size.
    fn parse_within(src: &[u8], longest_block: i32) -> Result<BasicHeader> {
        let header = BasicHeader::read(src.first_chunk().ok_or(Error::ReadBuffer)?);
        let sizes_are_sound = header.cbytes >= MIN_HEADER_LENGTH as i32
            && (1..=longest_block).contains(&header.blocksize)
            && header.typesize != 0;
        if sizes_are_sound { Ok(header) } else { Err(Error::InvalidHeader) }
    }

    /// Whether the 16 bytes of the extension follow.
    pub fn is_extended(&self) -> bool {
        self.flags & flag::EXTENDED == flag::EXTENDED
    }

    /// Returns the length of the whole header in bytes.
    pub fn header_len(&self) -> usize {
        if self.is_extended() { EXTENDED_HEADER_LENGTH } else { MIN_HEADER_LENGTH }
    }

    /// Returns the 3-bit code of the codec's stream format.
    pub fn format(&self) -> u8 {
        self.flags >> flag::FORMAT_SHIFT
    }

    /// Whether chunks of this version may have streams of this format.
    pub(crate) fn allows_format(&self) -> bool {
        codec::info_of_format(self.format())
            .is_none_or(|codec| !codec.is_blosc1_only || self.version <= VERSION_BLOSC1)
    }

    /// Whether a built-in codec decodes the streams.
    #[doc(hidden)]
    pub fn has_builtin_codec(&self) -> bool {
        self.allows_format() && codec::info_of_format(self.format()).is_some()
    }

    /// Returns the block size in bytes, limited to the size of the data, as in every reader.
    pub fn clamped_blocksize(&self) -> i32 {
        if self.nbytes > 0 { self.blocksize.min(self.nbytes) } else { self.blocksize }
    }
}

/// A whole header, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkHeader {
    /// The first 16 bytes.
    pub basic: BasicHeader,
    /// The uncompressed size in bytes.
    pub nbytes: usize,
    /// The size of the chunk in bytes according to the header; the buffer may be shorter or longer.
    pub cbytes: usize,
    /// The filter pipeline.
    pub filters: [Slot; SLOTS],
    /// The codec's compcode; used only if the format code is
    /// [`codec::format::USER`](crate::codec::format::USER).
    pub udcodec: u8,
    /// The codec's parameter.
    pub codec_meta: u8,
    /// Whether the chunk has variable-length blocks.
    pub vl_blocks: bool,
    /// Whether a dictionary follows the block starts.
    pub use_dict: bool,
    /// Whether the blocks are still in a file.
    pub lazy: bool,
    /// Whether the chunk contains measurements instead of data.
    pub instrumented: bool,
    /// The kind of special chunk.
    pub special: Special,
}

impl ChunkHeader {
    /// A header before parsing.
    pub(crate) const EMPTY: ChunkHeader = ChunkHeader {
        basic: BasicHeader {
            version: 0,
            versionlz: 0,
            flags: 0,
            typesize: 0,
            nbytes: 0,
            blocksize: 0,
            cbytes: 0,
        },
        nbytes: 0,
        cbytes: 0,
        filters: [Slot { id: 0, meta: 0 }; SLOTS],
        udcodec: 0,
        codec_meta: 0,
        vl_blocks: false,
        use_dict: false,
        lazy: false,
        instrumented: false,
        special: Special::None,
    };

    /// Parses and checks the header of a chunk.
    ///
    /// # Errors
    /// [`Error::ReadBuffer`] if `src` is shorter than the header; [`Error::InvalidHeader`] if the
    /// header is inconsistent; [`Error::VersionSupport`] if it has a newer format.
    #[inline]
    pub fn parse(src: &[u8]) -> Result<ChunkHeader> {
        let mut header = ChunkHeader::EMPTY;
        header.read(src)?;
        Ok(header)
    }

    /// Parses like [`ChunkHeader::parse`], in place into a header that equals
    /// [`ChunkHeader::EMPTY`]: copying fields that have just been written one by one stalls on
    /// store forwarding.
    #[inline(always)]
    pub(crate) fn read(&mut self, src: &[u8]) -> Result<()> {
        self.read_remainder(BasicHeader::parse(src)?, src)
    }

    /// Parses like [`ChunkHeader::read`] with the rules of Blosc 1.x: blocks may be longer, there
    /// is no extension, shuffle takes precedence over bitshuffle, and delta is ignored.
    ///
    /// # Errors
    /// Returns the errors of [`ChunkHeader::parse`].
    pub(crate) fn read_blosc1(&mut self, src: &[u8]) -> Result<()> {
        let mut basic = BasicHeader::parse_within(src, blosc1::MAX_BLOCKSIZE)?;
        basic.flags &= !flag::DELTA;
        if basic.flags & flag::SHUFFLE != 0 {
            basic.flags &= !flag::BITSHUFFLE;
        }
        self.read_remainder(basic, src)
    }

    /// Whether two extended headers differ at most in `cbytes`.
    #[inline(always)]
    pub(crate) fn eq_except_cbytes(
        header: &[u8; EXTENDED_HEADER_LENGTH],
        other: &[u8; EXTENDED_HEADER_LENGTH],
    ) -> bool {
        header[..offset::CBYTES] == other[..offset::CBYTES]
            && header[MIN_HEADER_LENGTH..] == other[MIN_HEADER_LENGTH..]
    }

    /// Reads `cbytes` from a header that is otherwise the same.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`] if the chunk cannot have that size.
    #[inline(always)]
    pub(crate) fn read_cbytes(&mut self, other: &[u8; EXTENDED_HEADER_LENGTH]) -> Result<()> {
        let cbytes = i32_at(other, offset::CBYTES);
        if cbytes < EXTENDED_HEADER_LENGTH as i32 {
            return Err(Error::InvalidHeader);
        }
        self.basic.cbytes = cbytes;
        self.cbytes = cbytes as usize;
        match self.special {
            Special::Value => self.check_special(),
            _ => Ok(()),
        }
    }

    #[inline(always)]
    fn read_remainder(&mut self, basic: BasicHeader, src: &[u8]) -> Result<()> {
        self.basic = basic;
        self.nbytes = usize::try_from(basic.nbytes).map_err(|_| Error::InvalidHeader)?;
        self.cbytes = basic.cbytes as usize;
        if basic.is_extended() {
            return self.read_extension(src);
        }
        self.filters = slots_from_flags(basic.flags);
        Ok(())
    }

    fn read_extension(&mut self, src: &[u8]) -> Result<()> {
        if self.cbytes < EXTENDED_HEADER_LENGTH {
            return Err(Error::InvalidHeader);
        }
        let src = src.first_chunk::<EXTENDED_HEADER_LENGTH>().ok_or(Error::ReadBuffer)?;
        let version = self.basic.version;
        let ids = &src[offset::FILTERS..offset::FILTERS + SLOTS];
        let metas = &src[offset::FILTERS_META..offset::FILTERS_META + SLOTS];
        for ((slot, &id), &meta) in self.filters.iter_mut().zip(ids).zip(metas) {
            *slot = Slot { id, meta };
        }
        if version == VERSION_ALPHA {
            self.filters[SLOTS - 1] = Slot::default();
        }
        // These two versions have no second flags byte; its value is undefined.
        let flags2 = match version {
            VERSION_ALPHA | VERSION_BETA => 0,
            _ => src[offset::FLAGS2],
        };
        let blosc2_flags = src[offset::BLOSC2_FLAGS];
        self.udcodec = src[offset::UDCODEC];
        self.codec_meta = src[offset::CODEC_META];
        self.vl_blocks = flags2 & flag2::VL_BLOCKS != 0;
        self.use_dict = blosc2_flags & blosc2_flag::USE_DICT != 0;
        self.instrumented = blosc2_flags & blosc2_flag::INSTRUMENTED != 0;
        let special = blosc2_flags >> blosc2_flag::SPECIAL_SHIFT & blosc2_flag::SPECIAL_MASK;
        self.special = Special::from_number(i32::from(special));
        self.lazy = blosc2_flags & blosc2_flag::LAZY != 0 && self.special == Special::None;
        self.check_special()?;
        if version > VERSION_VL && flags2 & !flag2::VL_BLOCKS != 0 {
            return Err(Error::VersionSupport);
        }
        if self.vl_blocks && self.is_memcpyed() {
            return Err(Error::InvalidHeader);
        }
        Ok(())
    }

    fn check_special(&self) -> Result<()> {
        if self.vl_blocks && self.special != Special::None {
            return Err(Error::InvalidHeader);
        }
        let is_sound = match self.special {
            Special::None | Special::Zero => true,
            Special::Value => {
                let width = self.value_width();
                (1..=self.nbytes.min(MAX_BLOCKSIZE as usize)).contains(&width)
                    && self.nbytes.is_multiple_of(width)
            }
            Special::Nan | Special::Uninit | Special::Unknown => {
                self.nbytes.is_multiple_of(self.typesize())
            }
        };
        if is_sound { Ok(()) } else { Err(Error::InvalidHeader) }
    }

    /// Checks the stored size of a chunk that is decompressed from `len` bytes.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`] if bytes are missing; [`Error::Data`] for stored data of another
    /// size, and for special chunks of an unknown type.
    #[inline(always)]
    pub(crate) fn check_stored(&self, len: usize) -> Result<()> {
        if !self.lazy && self.cbytes > len {
            return Err(Error::InvalidHeader);
        }
        let is_wrong = self.is_memcpyed() && self.cbytes != self.nbytes + self.header_len();
        if is_wrong || self.special == Special::Unknown { Err(Error::Data) } else { Ok(()) }
    }

    /// Returns the length of the header in bytes.
    pub fn header_len(&self) -> usize {
        self.basic.header_len()
    }

    /// Returns the item size in bytes.
    pub fn typesize(&self) -> usize {
        usize::from(self.basic.typesize)
    }

    /// Returns the size of the value that follows the header of a [`Special::Value`] chunk, in
    /// bytes.
    pub fn value_width(&self) -> usize {
        self.cbytes - EXTENDED_HEADER_LENGTH
    }

    /// Whether the data are stored uncompressed.
    pub fn is_memcpyed(&self) -> bool {
        self.basic.flags & flag::MEMCPYED != 0
    }

    /// Whether full blocks may be split into one stream per byte of an item.
    pub fn is_split(&self) -> bool {
        self.basic.flags & flag::NOT_SPLIT == 0
    }

    /// Returns the block size in bytes. If a forced block size was not a multiple of the item size,
    /// the header stores it unrounded, while the blocks have the next smaller multiple.
    pub fn blocksize(&self) -> usize {
        let raw = self.basic.blocksize as usize;
        let (_, excess) = div_rem(raw, self.typesize());
        let holds_items =
            !self.is_memcpyed() && !self.instrumented && self.special == Special::None;
        let blocksize =
            if holds_items && raw > self.typesize() && excess != 0 { raw - excess } else { raw };
        if self.nbytes > 0 { blocksize.min(self.nbytes) } else { blocksize }
    }
}

/// Returns quotient and remainder of two 31-bit numbers; powers of two, the common case, need no
/// division.
#[inline(always)]
pub(crate) fn div_rem(number: usize, by: usize) -> (usize, usize) {
    if by.is_power_of_two() {
        return (number >> by.trailing_zeros(), number & (by - 1));
    }
    let (number, by) = (number as u32, by as u32);
    ((number / by) as usize, (number % by) as usize)
}

/// Returns the flags of the filters in a pipeline.
pub(crate) fn flags_from_slots(slots: &[Slot; SLOTS]) -> u8 {
    slots
        .iter()
        .map(|slot| match slot.id {
            filter::id::SHUFFLE => flag::SHUFFLE,
            filter::id::BITSHUFFLE => flag::BITSHUFFLE,
            filter::id::DELTA => flag::DELTA,
            _ => 0,
        })
        .fold(0, |flags, flag| flags | flag)
}

/// Whether the flags of a 16-byte header can represent this pipeline.
pub(crate) fn is_expressible_as_flags(slots: &[Slot; SLOTS]) -> bool {
    let flags = flags_from_slots(slots);
    flags & flag::EXTENDED != flag::EXTENDED && slots_from_flags(flags) == *slots
}

/// Returns the pipeline that the flags of a 16-byte header represent.
fn slots_from_flags(flags: u8) -> [Slot; SLOTS] {
    let mut slots = [Slot::default(); SLOTS];
    if flags & flag::SHUFFLE != 0 {
        slots[SLOTS - 1].id = filter::id::SHUFFLE;
    }
    if flags & flag::BITSHUFFLE != 0 {
        slots[SLOTS - 1].id = filter::id::BITSHUFFLE;
    }
    if flags & flag::DELTA != 0 {
        slots[SLOTS - 2].id = filter::id::DELTA;
    }
    slots
}

/// Sets the lazy bit of a header.
pub(crate) fn set_lazy(header: &mut [u8]) {
    header[offset::BLOSC2_FLAGS] |= blosc2_flag::LAZY;
}

/// Whether a chunk is lazy, so that it has fewer bytes than its header states. Only the header is
/// read.
pub fn is_lazy(chunk: &[u8]) -> bool {
    const SPECIAL: u8 = blosc2_flag::SPECIAL_MASK << blosc2_flag::SPECIAL_SHIFT;
    chunk.first_chunk::<EXTENDED_HEADER_LENGTH>().is_some_and(|header| {
        header[offset::FLAGS] & flag::EXTENDED == flag::EXTENDED
            && header[offset::BLOSC2_FLAGS] & (blosc2_flag::LAZY | SPECIAL) == blosc2_flag::LAZY
    })
}

/// A header to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeaderFields {
    pub version: u8,
    pub versionlz: u8,
    pub flags: u8,
    pub typesize: u8,
    pub nbytes: usize,
    pub blocksize: usize,
    pub cbytes: usize,
    pub filters: [Slot; SLOTS],
    pub udcodec: u8,
    pub codec_meta: u8,
    pub flags2: u8,
    pub blosc2_flags: u8,
}

impl HeaderFields {
    /// Returns the length of the header in bytes.
    pub fn header_len(&self) -> usize {
        if self.flags & flag::EXTENDED == flag::EXTENDED {
            EXTENDED_HEADER_LENGTH
        } else {
            MIN_HEADER_LENGTH
        }
    }

    /// Writes the header to the beginning of `dest`, which must have at least
    /// [`HeaderFields::header_len`] bytes.
    pub fn write(&self, dest: &mut [u8]) {
        dest[offset::VERSION] = self.version;
        dest[offset::VERSIONLZ] = self.versionlz;
        dest[offset::FLAGS] = self.flags;
        dest[offset::TYPESIZE] = self.typesize;
        for (at, size) in [
            (offset::NBYTES, self.nbytes),
            (offset::BLOCKSIZE, self.blocksize),
            (offset::CBYTES, self.cbytes),
        ] {
            dest[at..at + WORD].copy_from_slice(&(size as i32).to_le_bytes());
        }
        if self.header_len() == EXTENDED_HEADER_LENGTH {
            for (i, slot) in self.filters.iter().enumerate() {
                dest[offset::FILTERS + i] = slot.id;
                dest[offset::FILTERS_META + i] = slot.meta;
            }
            dest[offset::UDCODEC] = self.udcodec;
            dest[offset::CODEC_META] = self.codec_meta;
            dest[offset::FLAGS2] = self.flags2;
            dest[offset::BLOSC2_FLAGS] = self.blosc2_flags;
        }
    }
}
