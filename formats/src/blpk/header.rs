//! The header of each of the three versions.
//!
//! | bytes | version 3 | version 2 | version 1 |
//! |---|---|---|---|
//! | 0 | magic `blpk` | the same | the same |
//! | 4 | version | version | version |
//! | 5 | options: bit 0 offsets, bit 1 metadata | options: bit 0 offsets | reserved |
//! | 6 | checksum | checksum | reserved |
//! | 7 | typesize | typesize | reserved |
//! | 8 | chunk size, i32 | chunk size, i32 | number of chunks, i64; end of the header |
//! | 12 | size of the last chunk, i32 | the same | |
//! | 16 | number of chunks, i64 | the same | |
//! | 24 | chunks reserved for appending, i64 | reserved | |
//!
//! All numbers are little-endian; −1 means unknown. The consistency of the fields is checked on
//! reading and on writing.

use super::checksum::Checksum;
use super::error::{Error, Result};
use super::limits::{MAX_CHUNKS, MAX_NBYTES, VERSION};

/// The magic number.
pub const MAGIC: [u8; 4] = *b"blpk";

/// Length of a header of version 1, in bytes.
pub(super) const SHORT_LENGTH: usize = 16;
/// Length of a header of versions 2 and 3, in bytes.
pub(super) const LENGTH: usize = 32;

/// The representation of an unknown number.
const UNKNOWN: i64 = -1;

mod offset {
    pub const VERSION: usize = 4;
    pub const OPTIONS: usize = 5;
    pub const CHECKSUM: usize = 6;
    pub const TYPESIZE: usize = 7;
    pub const CHUNK_SIZE: usize = 8;
    pub const LAST_CHUNK: usize = 12;
    pub const NCHUNKS: usize = 16;
    pub const MAX_APP_CHUNKS: usize = 24;
    pub const NCHUNKS_V1: usize = 8;
}

/// The option bits.
mod option {
    pub const OFFSETS: u8 = 0x01;
    pub const METADATA: u8 = 0x02;
}

/// A header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Format version, 1 to 3.
    pub version: u8,
    /// Whether there is an offsets section.
    pub offsets: bool,
    /// Whether there is a metadata section.
    pub metadata: bool,
    /// The checksum of the chunks.
    pub checksum: Checksum,
    /// Item size in bytes, for information only.
    pub typesize: u8,
    /// Uncompressed size of each chunk but the last, in bytes.
    pub chunk_size: Option<u32>,
    /// Uncompressed size of the last chunk, in bytes.
    pub last_chunk: Option<u32>,
    /// The number of chunks.
    pub nchunks: Option<u64>,
    /// The number of reserved entries in the offsets section.
    pub max_app_chunks: u64,
}

impl Default for Header {
    /// Returns a header with all sizes unknown and no optional sections.
    fn default() -> Header {
        Header {
            version: VERSION,
            offsets: false,
            metadata: false,
            checksum: Checksum::None,
            typesize: 0,
            chunk_size: None,
            last_chunk: None,
            nchunks: None,
            max_app_chunks: 0,
        }
    }
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn i64_at(bytes: &[u8], at: usize) -> i64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    i64::from_le_bytes(number)
}

/// Decodes a number, `None` if it is unknown.
fn known(field: &'static str, number: i64, highest: i64) -> Result<Option<u64>> {
    match number {
        UNKNOWN => Ok(None),
        0.. if number <= highest => Ok(Some(number.unsigned_abs())),
        _ => Err(Error::Range { field, lowest: UNKNOWN, highest, actual: number }),
    }
}

/// Decodes a chunk size, `None` if it is unknown.
fn known_size(field: &'static str, number: i32) -> Result<Option<u32>> {
    let size = known(field, i64::from(number), i64::from(MAX_NBYTES))?;
    Ok(size.and_then(|size| u32::try_from(size).ok()))
}

/// Encodes a number.
fn written(field: &'static str, number: Option<u64>, highest: u64) -> Result<i64> {
    let Some(number) = number else {
        return Ok(UNKNOWN);
    };
    let highest = i64::try_from(highest).unwrap_or(i64::MAX);
    let actual = i64::try_from(number).unwrap_or(i64::MAX);
    if actual <= highest && number <= MAX_CHUNKS {
        return Ok(actual);
    }
    Err(Error::Range { field, lowest: UNKNOWN, highest, actual })
}

impl Header {
    /// Returns a header of version 1, which only records the number of chunks.
    pub fn version1(nchunks: Option<u64>) -> Header {
        Header { version: 1, nchunks, ..Header::default() }
    }

    /// Returns the length of the encoded header in bytes.
    pub fn encoded_len(&self) -> usize {
        if self.version == 1 { SHORT_LENGTH } else { LENGTH }
    }

    /// Returns the number of entries in the offsets section; `None` if the number of chunks is
    /// unknown.
    pub fn entries(&self) -> Option<u64> {
        Some(self.nchunks? + self.max_app_chunks)
    }

    /// Returns the total uncompressed size in bytes, if every size is known.
    pub fn plain_size(&self) -> Option<u64> {
        let (chunk_size, last) = (u64::from(self.chunk_size?), u64::from(self.last_chunk?));
        match self.nchunks? {
            0 => Some(0),
            n => chunk_size.checked_mul(n - 1)?.checked_add(last),
        }
    }

    /// Returns the uncompressed size that chunk `index` must have, if the header determines it.
    pub fn nbytes_of(&self, index: u64) -> Option<u32> {
        let is_last = self.nchunks? == index.checked_add(1)?;
        if is_last { self.last_chunk } else { self.chunk_size }
    }

    /// Decodes the header at the start of `bytes`.
    ///
    /// # Errors
    /// The errors of invalid fields, checked in Bloscpack's order; [`Error::Version`] is the last.
    pub fn decode(bytes: &[u8]) -> Result<Header> {
        if Header::is_version1(bytes) {
            return Header::decode_v1(bytes);
        }
        let Some(bytes) = bytes.first_chunk::<LENGTH>() else {
            return Err(Error::HeaderLength(bytes.len()));
        };
        let header = Header::decode_long(bytes)?;
        match header.version {
            2 | VERSION => Ok(header),
            other => Err(Error::Version(other)),
        }
    }

    /// Whether the bytes are the start of a version 1 container, whose header is shorter.
    pub(super) fn is_version1(bytes: &[u8]) -> bool {
        bytes.len() >= SHORT_LENGTH && bytes.starts_with(&MAGIC) && bytes[offset::VERSION] == 1
    }

    fn decode_v1(bytes: &[u8]) -> Result<Header> {
        let nchunks = known("nchunks", i64_at(bytes, offset::NCHUNKS_V1), i64::MAX)?;
        Ok(Header::version1(nchunks))
    }

    fn decode_long(bytes: &[u8; LENGTH]) -> Result<Header> {
        let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if magic != MAGIC {
            return Err(Error::Magic(magic));
        }
        let version = bytes[offset::VERSION];
        let meaningful = match version {
            2 => option::OFFSETS,
            _ => option::OFFSETS | option::METADATA,
        };
        let options = bytes[offset::OPTIONS];
        let unknown = options & !meaningful;
        if unknown != 0 {
            return Err(Error::OptionBit(unknown.trailing_zeros()));
        }
        let max_app_chunks = match version {
            2 => 0,
            _ => i64_at(bytes, offset::MAX_APP_CHUNKS),
        };
        let header = Header {
            version,
            offsets: options & option::OFFSETS != 0,
            metadata: options & option::METADATA != 0,
            checksum: Checksum::from_id(bytes[offset::CHECKSUM])?,
            typesize: bytes[offset::TYPESIZE],
            chunk_size: known_size("chunk_size", i32_at(bytes, offset::CHUNK_SIZE))?,
            last_chunk: known_size("last_chunk", i32_at(bytes, offset::LAST_CHUNK))?,
            nchunks: known("nchunks", i64_at(bytes, offset::NCHUNKS), i64::MAX)?,
            max_app_chunks: u64::try_from(max_app_chunks).map_err(|_| Error::Range {
                field: "max_app_chunks",
                lowest: 0,
                highest: i64::MAX,
                actual: max_app_chunks,
            })?,
        };
        header.check()?;
        Ok(header)
    }

    /// Checks the consistency of the fields.
    fn check(&self) -> Result<()> {
        match self.nchunks {
            None if self.max_app_chunks != 0 => {
                return Err(Error::AppendableToUnknown(self.max_app_chunks));
            }
            Some(nchunks) if nchunks.saturating_add(self.max_app_chunks) > MAX_CHUNKS => {
                return Err(Error::TooManyChunks { nchunks, max_app_chunks: self.max_app_chunks });
            }
            _ => {}
        }
        match (self.last_chunk, self.chunk_size) {
            (Some(last_chunk), Some(chunk_size)) if last_chunk > chunk_size => {
                Err(Error::LastChunk { last_chunk, chunk_size })
            }
            _ => Ok(()),
        }
    }

    /// Encodes the header: 16 bytes for version 1, 32 otherwise.
    ///
    /// # Errors
    /// [`Error::Range`] and other errors of [`Header::decode`] for a header that readers would
    /// refuse.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let size = |field, size: Option<u32>| -> Result<[u8; 4]> {
            let number = written(field, size.map(u64::from), u64::from(MAX_NBYTES))?;
            Ok((number as i32).to_le_bytes())
        };
        let chunk_size = size("chunk_size", self.chunk_size)?;
        let last_chunk = size("last_chunk", self.last_chunk)?;
        let nchunks = written("nchunks", self.nchunks, MAX_CHUNKS)?.to_le_bytes();
        let max_app = written("max_app_chunks", Some(self.max_app_chunks), MAX_CHUNKS)?;
        self.check()?;
        let mut bytes = vec![0; self.encoded_len()];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(offset::VERSION, &[self.version]);
        if self.version == 1 {
            put(offset::NCHUNKS_V1, &nchunks);
            return Ok(bytes);
        }
        let mut options = 0;
        if self.offsets {
            options |= option::OFFSETS;
        }
        if self.metadata {
            options |= option::METADATA;
        }
        put(offset::OPTIONS, &[options]);
        put(offset::CHECKSUM, &[self.checksum.id()]);
        put(offset::TYPESIZE, &[self.typesize]);
        put(offset::CHUNK_SIZE, &chunk_size);
        put(offset::LAST_CHUNK, &last_chunk);
        put(offset::NCHUNKS, &nchunks);
        put(offset::MAX_APP_CHUNKS, &max_app.to_le_bytes());
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes a header with one field replaced.
    fn with(at: usize, field: &[u8]) -> Result<Header> {
        let mut bytes = Header::default().encode().unwrap();
        bytes[at..at + field.len()].copy_from_slice(field);
        Header::decode(&bytes)
    }

    #[test]
    fn a_default_header_matches_the_published_example() {
        let mut expected = b"blpk\x03\0\0\0".to_vec();
        expected.extend([0xFF; 16]);
        expected.extend([0; 8]);
        assert_eq!(Header::default().encode().unwrap(), expected);
        assert_eq!(Header::decode(&expected).unwrap(), Header::default());
        assert_eq!(Header::default().entries(), None);
    }

    #[test]
    fn each_field_is_read_at_its_limits_and_refused_beyond() {
        let most = 2_147_483_631_i32;
        assert_eq!(with(8, &most.to_le_bytes()).unwrap().chunk_size, Some(most as u32));
        assert_eq!(with(8, &0_i32.to_le_bytes()).unwrap().chunk_size, Some(0));
        assert_eq!(with(12, &most.to_le_bytes()).unwrap().last_chunk, Some(most as u32));
        assert_eq!(with(16, &i64::MAX.to_le_bytes()).unwrap().nchunks, Some(MAX_CHUNKS));
        for (at, number) in [(8, most + 1), (8, -2), (12, most + 1), (12, i32::MIN)] {
            assert!(matches!(with(at, &number.to_le_bytes()), Err(Error::Range { .. })));
        }
        assert!(matches!(with(16, &(-2_i64).to_le_bytes()), Err(Error::Range { .. })));
        assert!(matches!(with(24, &(-1_i64).to_le_bytes()), Err(Error::Range { .. })));
        assert!(matches!(with(24, &1_i64.to_le_bytes()), Err(Error::AppendableToUnknown(1))));
        assert!(matches!(with(6, &[9]), Err(Error::ChecksumId(9))));
        for bits in 0..=u8::MAX {
            match with(5, &[bits]) {
                Ok(_) => assert!(bits < 4),
                Err(Error::OptionBit(bit)) => assert_eq!((bits >> 2).trailing_zeros() + 2, bit),
                Err(other) => panic!("{other}"),
            }
        }
    }

    #[test]
    fn contradictory_sizes_are_refused_on_read_and_write() {
        let header = Header { chunk_size: Some(9), last_chunk: Some(10), ..Header::default() };
        assert!(matches!(header.encode(), Err(Error::LastChunk { .. })));
        let header = Header { nchunks: Some(MAX_CHUNKS), max_app_chunks: 1, ..Header::default() };
        assert!(matches!(header.encode(), Err(Error::TooManyChunks { .. })));
        let header = Header { chunk_size: Some(MAX_NBYTES + 1), ..Header::default() };
        assert!(matches!(header.encode(), Err(Error::Range { .. })));
    }

    #[test]
    fn errors_are_reported_in_the_order_of_bloscpack() {
        let mut bytes = [0xFF; LENGTH];
        assert!(matches!(Header::decode(&bytes[..31]), Err(Error::HeaderLength(31))));
        assert!(matches!(Header::decode(&bytes), Err(Error::Magic(_))));
        bytes[..4].copy_from_slice(&MAGIC);
        assert!(matches!(Header::decode(&bytes), Err(Error::OptionBit(2))));
        bytes[5] = 0;
        assert!(matches!(Header::decode(&bytes), Err(Error::ChecksumId(255))));
        bytes[6] = 0;
        bytes[8] = 0;
        assert!(matches!(Header::decode(&bytes), Err(Error::Range { field: "chunk_size", .. })));
        bytes[8] = 0xFF;
        assert!(matches!(
            Header::decode(&bytes),
            Err(Error::Range { field: "max_app_chunks", .. })
        ));
        bytes[24..].fill(0);
        assert!(matches!(Header::decode(&bytes), Err(Error::Version(255))));
    }

    #[test]
    fn version_1_records_only_the_number_of_chunks() {
        let header = Header::version1(Some(7));
        let bytes = header.encode().unwrap();
        assert_eq!(bytes, b"blpk\x01\0\0\0\x07\0\0\0\0\0\0\0");
        assert_eq!(Header::decode(&bytes).unwrap(), header);
        assert_eq!(Header::version1(None).encode().unwrap()[8..], [0xFF; 8]);
    }
}
