//! Checksums of a frame, stored in bytes that other readers ignore.
//!
//! The *fingerprint* at the end of the trailer, kind 3 of the C-Blosc2 frame format, seals
//! everything except the chunks. It is the big-endian XXH3-128 of these bytes in this order:
//!
//! | bytes | exception |
//! |---|---|
//! | the first 87 bytes of the header | frame length (16..24) and threads (62..68) count as zeros |
//! | the index, if there are chunks | |
//! | the bytes between index and trailer | |
//! | the trailer | without its last 16 bytes, the fingerprint |
//!
//! The *table* has a checksum for each chunk and each metalayer. It ends where the trailer begins,
//! so the fingerprint covers it, and it is found from its end:
//!
//! ```text
//!   0  "b2xs"
//!   4  1  1  0 0       version of the table; algorithm: XXH3-64; zeros
//!   8  chunks          number of each kind, 64 bits
//!  16  metalayers
//!  24  vlmetalayers
//!  32  checksums       64 bits each: chunks, then metalayers, then variable-length metalayers
//!      length          of the whole table, 64 bits
//! ```
//! Numbers are little endian. The checksum of a chunk covers its stored bytes; it is 0 for a chunk
//! that is not stored. The checksum of a metalayer covers the length of its name (one byte), the
//! name, and its content (for a variable-length metalayer, the chunk that holds the value).
//!
//! A writer that does not support these checksums sets the fingerprint kind to 0 with every trailer
//! it writes, and drops the table with every index. A table is therefore valid only together with a
//! fingerprint of kind 3. If that fingerprint does not match, the frame is damaged, but a chunk
//! that matches its entry in the table is still intact. Such a writer changes one thing without
//! writing a trailer: the content of a fixed metalayer. The fingerprint does not cover fixed
//! metalayers, and a checksum mismatch of one means that it was changed, not that it is damaged.

use super::header::{FIXED_LEN, FRAME_LEN_AT, THREADS_AT};
use super::trailer::{self, FINGERPRINT_LEN};
use crate::{Error, Result};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Checksum of a chunk that is not stored.
pub const OF_SPECIAL: u64 = 0;

/// The first bytes of a table.
pub const MAGIC: [u8; 4] = *b"b2xs";
const VERSION: u8 = 1;
const XXH3_64: u8 = 1;
/// The first 8 bytes of a table.
const HEAD: [u8; 8] = [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], VERSION, XXH3_64, 0, 0];
/// The size of a number in bytes.
const WORD: usize = size_of::<u64>();
/// The size of a table without checksums, in bytes.
const EMPTY_LEN: usize = HEAD.len() + 3 * WORD + WORD;

/// Header bytes that the fingerprint does not cover: the frame length and the threads.
const CHANGING: [std::ops::Range<usize>; 2] =
    [FRAME_LEN_AT..FRAME_LEN_AT + 8, THREADS_AT..THREADS_AT + 6];

/// The bytes of a frame that a fingerprint covers.
#[derive(Clone, Copy, Debug)]
pub struct FingerprintInput<'a> {
    /// The fixed-length start of the header.
    pub header: &'a [u8; FIXED_LEN],
    /// The index; empty without chunks.
    pub index: &'a [u8],
    /// The bytes between index and trailer.
    pub slack: &'a [u8],
    /// The whole trailer.
    pub trailer: &'a [u8],
}

/// Result of checking the fingerprint of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FingerprintStatus {
    /// There is no fingerprint, or one of an unknown kind.
    Absent,
    /// The fingerprint does not match. A table may still be present; its entries may be damaged,
    /// but an entry that matches proves its chunk intact.
    Broken(Option<Table>),
    /// The fingerprint matches; the table is optional.
    Intact(Option<Table>),
}

/// The checksums of the chunks and metalayers of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// One checksum per chunk; [`OF_SPECIAL`] means unknown.
    pub chunks: Vec<u64>,
    /// One checksum per fixed metalayer.
    pub metalayers: Vec<u64>,
    /// One checksum per variable-length metalayer.
    pub vlmetalayers: Vec<u64>,
}

/// Returns the checksum of a chunk's stored bytes.
pub fn of_chunk(chunk: &[u8]) -> u64 {
    xxh3_64(chunk)
}

/// Returns the checksum of a metalayer. `name` has at most 255 bytes.
pub fn of_metalayer(name: &[u8], content: &[u8]) -> u64 {
    let mut hash = Xxh3Default::new();
    hash.update(&[name.len() as u8]);
    hash.update(name);
    hash.update(content);
    hash.digest()
}

impl FingerprintInput<'_> {
    /// Computes the fingerprint for the trailer.
    pub fn fingerprint(&self) -> [u8; FINGERPRINT_LEN] {
        let mut header = *self.header;
        for changing in CHANGING {
            header[changing].fill(0);
        }
        let covered = self.trailer.len().saturating_sub(FINGERPRINT_LEN);
        let mut hash = Xxh3Default::new();
        hash.update(&header);
        hash.update(self.index);
        hash.update(self.slack);
        hash.update(&self.trailer[..covered]);
        hash.digest128().to_be_bytes()
    }

    /// Compares the fingerprint in the trailer with the computed one.
    pub fn inspect(&self) -> FingerprintStatus {
        match trailer::fingerprint(self.trailer) {
            None => FingerprintStatus::Absent,
            Some(found) => {
                let table = Table::parse(self.slack);
                if found == self.fingerprint() {
                    FingerprintStatus::Intact(table)
                } else {
                    FingerprintStatus::Broken(table)
                }
            }
        }
    }
}

/// Writes the fingerprint into a trailer that was built with a placeholder.
///
/// # Errors
/// [`Error::InvalidParam`] when the trailer has no fingerprint field.
pub fn seal(
    header: &[u8; FIXED_LEN],
    index: &[u8],
    slack: &[u8],
    trailer: &mut [u8],
) -> Result<()> {
    trailer::fingerprint(trailer).ok_or(Error::InvalidParam)?;
    let parts = FingerprintInput { header, index, slack, trailer };
    let fingerprint = parts.fingerprint();
    let field = trailer.last_chunk_mut().ok_or(Error::InvalidParam)?;
    *field = fingerprint;
    Ok(())
}

impl Table {
    fn lists(&self) -> [&[u64]; 3] {
        [&self.chunks, &self.metalayers, &self.vlmetalayers]
    }

    /// Returns the size of the serialized table in bytes.
    pub fn len_in_bytes(&self) -> usize {
        let checksums: usize = self.lists().iter().map(|list| list.len()).sum();
        EMPTY_LEN + checksums * WORD
    }

    /// Serializes the table.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let len = self.len_in_bytes();
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        bytes.extend_from_slice(&HEAD);
        for list in self.lists() {
            bytes.extend_from_slice(&(list.len() as u64).to_le_bytes());
        }
        for list in self.lists() {
            bytes.extend(list.iter().flat_map(|checksum| checksum.to_le_bytes()));
        }
        bytes.extend_from_slice(&(len as u64).to_le_bytes());
        Ok(bytes)
    }

    /// Parses the table at the end of `slack`, if there is one. Only the fingerprint shows whether
    /// it is valid.
    pub fn parse(slack: &[u8]) -> Option<Table> {
        let (_, len) = slack.split_last_chunk::<WORD>()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let start = slack.len().checked_sub(len)?;
        let (head, rest) = slack[start..].split_first_chunk()?;
        if *head != HEAD {
            return None;
        }
        let (words, odd) = rest.as_chunks::<WORD>();
        let [chunks, metalayers, vlmetalayers, checksums @ .., _] = words else {
            return None;
        };
        let mut checksums = checksums;
        let mut take = |count: &[u8; WORD]| {
            let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
            let taken = checksums.split_off(..count)?;
            let mut list = Vec::new();
            list.try_reserve_exact(count).ok()?;
            list.extend(taken.iter().map(|word| u64::from_le_bytes(*word)));
            Some(list)
        };
        let table = Table {
            chunks: take(chunks)?,
            metalayers: take(metalayers)?,
            vlmetalayers: take(vlmetalayers)?,
        };
        (odd.is_empty() && checksums.is_empty()).then_some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::format::vectors;
    use proptest::prelude::*;

    /// The sections of [`vectors::TINY`], with a table and a sealed trailer.
    struct Fixture {
        header: [u8; FIXED_LEN],
        index: Vec<u8>,
        slack: Vec<u8>,
        trailer: Vec<u8>,
    }

    impl Fixture {
        fn new() -> Fixture {
            let frame = vectors::bytes(vectors::TINY);
            let table = Table {
                chunks: vec![of_chunk(&frame[0x70..0xb0])],
                metalayers: vec![of_metalayer(b"m", &[1, 2, 3])],
                vlmetalayers: vec![of_metalayer(b"v", &frame[0xf0..0x113])],
            };
            let vlmetalayer = (&b"v"[..], &frame[0xf0..0x113]);
            let mut fixture = Fixture {
                header: *frame.first_chunk().unwrap(),
                index: frame[0xb0..0xd8].to_vec(),
                slack: table.to_bytes().unwrap(),
                trailer: trailer::build(&[vlmetalayer], Some([0; FINGERPRINT_LEN])).unwrap(),
            };
            let Fixture { header, index, slack, trailer } = &mut fixture;
            seal(header, index, slack, trailer).unwrap();
            fixture
        }

        fn inspect(&self) -> FingerprintStatus {
            let input = FingerprintInput {
                header: &self.header,
                index: &self.index,
                slack: &self.slack,
                trailer: &self.trailer,
            };
            input.inspect()
        }
    }

    #[test]
    fn checksums_match_the_published_algorithm() {
        // The published hashes of the empty input, with 64 and 128 bits.
        assert_eq!(of_chunk(&[]), 0x2d06_8005_38d3_94c2);
        let nothing = Xxh3Default::new().digest128();
        assert_eq!(nothing, 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
    }

    #[test]
    fn row_f35_a_sealed_frame_has_a_checksum_table() {
        let fixture = Fixture::new();
        let FingerprintStatus::Intact(Some(table)) = fixture.inspect() else {
            panic!("{:?}", fixture.inspect());
        };
        assert_eq!(table.chunks.len(), 1);
        assert_eq!(table.len_in_bytes(), fixture.slack.len());
        assert_eq!(table, Table::parse(&fixture.slack).unwrap());
    }

    #[test]
    fn row_f35_frames_of_other_writers_have_no_seal() {
        let mut fixture = Fixture::new();
        let frame = vectors::bytes(vectors::TINY);
        fixture.trailer = frame[0xd8..].to_vec();
        assert_eq!(fixture.inspect(), FingerprintStatus::Absent);
    }

    #[test]
    fn changing_any_sealed_byte_breaks_the_seal() {
        let intact = Fixture::new().inspect();
        let FingerprintStatus::Intact(table) = intact.clone() else {
            panic!("{intact:?}");
        };
        let broken = FingerprintStatus::Broken(table);
        for at in 0..FIXED_LEN {
            let mut fixture = Fixture::new();
            fixture.header[at] ^= 1;
            let is_free = CHANGING.iter().any(|changing| changing.contains(&at));
            let expected = if is_free { intact.clone() } else { broken.clone() };
            assert_eq!(fixture.inspect(), expected, "byte {at} of the header");
        }
        let parts: [fn(&mut Fixture) -> &mut Vec<u8>; 3] = [
            |fixture| &mut fixture.index,
            |fixture| &mut fixture.slack,
            |fixture| &mut fixture.trailer,
        ];
        for part in parts {
            for at in 0..part(&mut Fixture::new()).len() {
                let mut fixture = Fixture::new();
                part(&mut fixture)[at] ^= 1;
                assert!(!matches!(fixture.inspect(), FingerprintStatus::Intact(_)), "byte {at}");
            }
        }
    }

    #[test]
    fn a_trailer_without_a_fingerprint_field_is_not_sealed() {
        let mut trailer = trailer::build(&[], None).unwrap();
        let header = [0; FIXED_LEN];
        assert_eq!(seal(&header, &[], &[], &mut trailer), Err(Error::InvalidParam));
        assert_eq!(seal(&header, &[], &[], &mut []), Err(Error::InvalidParam));
    }

    #[test]
    fn a_table_that_is_longer_than_its_lists_is_none() {
        let table = Table { chunks: vec![1], ..Table::default() };
        for surplus in [1, WORD, WORD + 1] {
            let mut slack = table.to_bytes().unwrap();
            let len = slack.len() + surplus;
            let (_, field) = slack.split_last_chunk_mut::<WORD>().unwrap();
            *field = (len as u64).to_le_bytes();
            let at = slack.len() - WORD;
            slack.splice(at..at, vec![0; surplus]);
            assert_eq!(Table::parse(&slack), None, "{surplus} bytes more");
        }
    }

    #[test]
    fn the_checksum_of_a_metalayer_covers_its_name() {
        assert_ne!(of_metalayer(b"ab", b"c"), of_metalayer(b"a", b"bc"));
    }

    proptest! {
        #[test]
        fn tables_are_parsed_after_any_other_bytes(
            before in prop::collection::vec(any::<u8>(), 0..50),
            chunks in prop::collection::vec(any::<u64>(), 0..50),
            metalayers in prop::collection::vec(any::<u64>(), 0..16),
            vlmetalayers in prop::collection::vec(any::<u64>(), 0..16),
        ) {
            let table = Table { chunks, metalayers, vlmetalayers };
            let mut slack = before;
            slack.extend(table.to_bytes().unwrap());
            prop_assert_eq!(Table::parse(&slack), Some(table));
        }

        #[test]
        fn damaged_tables_do_not_panic(at in 0usize..200, value: u8, cut in 0usize..200) {
            let table = Table { chunks: vec![1, 2, 3], ..Table::default() };
            let mut slack = table.to_bytes().unwrap();
            let at = at % slack.len();
            slack[at] = value;
            slack.truncate(cut);
            if let Some(found) = Table::parse(&slack) {
                prop_assert!(found.len_in_bytes() <= slack.len());
            }
        }
    }
}
