//! The bytes of a journal.
//!
//! Numbers are little endian; checksums are XXH3 of 64 bits:
//!
//! ```text
//!   0  "B2JRNL02"
//!   8  inode of the file                              64 bits
//!  16  creation time of the file, ns, or 0            64 bits
//!  24  start of the data in the file                  64 bits
//!  32  bytes of the data before and after             2 × 64 bits
//!  48  bytes of the file before and after             2 × 64 bits
//!  64  bytes of the journal                           64 bits
//!  72  number of records                              64 bits
//!  80  checksum of bytes next to the records          64 bits
//!  88  checksum of the head                           64 bits
//!  96  records: position in the file                  64 bits
//!               bytes before and after                2 × 64 bits
//!               the bytes before, the bytes after
//!               checksum of the record                64 bits
//!      end:     checksum of all preceding bytes       64 bits
//! ```
//! If all 64 bits of a size after the change are ones, that size is unknown. Records then have no
//! bytes after the change.

use super::reason::Reason;
use crate::io::backend::Stream;
use crate::{Error, Result};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"B2JRNL02";
/// The magic of journals that do not identify their file; they are never used.
const OLD_MAGIC: [u8; 8] = *b"B2JRNL01";
/// The magic of journals that `blpk` wrote before it shared this format.
const OLD_BLPK_MAGIC: [u8; 8] = *b"blpkundo";
/// The size of a number, and of a checksum, in bytes.
const WORD: usize = size_of::<u64>();
/// The size of the head in bytes.
const HEAD_LEN: usize = MAGIC.len() + 11 * WORD;
/// The size of a record without the bytes of the file, in bytes.
const RECORD_LEN: usize = 4 * WORD;
/// An unknown size.
pub const UNKNOWN: u64 = u64::MAX;
/// The number of bytes by which a journal without content is recognised: zeros, or a magic.
const FRONT: usize = 512;

/// Bytes that a change overwrites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The offset in the file.
    pub position: u64,
    /// The bytes before the change, up to the old end of the file.
    pub before: Vec<u8>,
    /// The bytes after the change, if known.
    pub after: Option<Vec<u8>>,
}

impl Record {
    pub(super) fn before_end(&self) -> u64 {
        self.position + self.before.len() as u64
    }

    /// Returns the end of the bytes that the change may touch.
    pub(super) fn end(&self) -> u64 {
        let after = self.after.as_ref().map_or(0, Vec::len);
        self.position + self.before.len().max(after) as u64
    }
}

/// The state of a file before a change, and the data that identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The inode of the file.
    pub inode: u64,
    /// The creation time of the file, in nanoseconds; 0 if unknown.
    pub created_ns: u64,
    /// The offset of the data in the file.
    pub start: u64,
    /// The size of the data in bytes before and after the change.
    pub len: (u64, u64),
    /// The size of the file in bytes before and after the change.
    pub size: (u64, u64),
    /// Checksum of unchanged bytes next to the records.
    pub beside: u64,
    /// The bytes that the change overwrites, by offset.
    pub records: Vec<Record>,
}

/// The numbers of a head with a valid checksum.
struct Head {
    image: Image,
    journal_len: u64,
    records: u64,
}

impl Head {
    fn parse(bytes: &[u8; HEAD_LEN]) -> Option<Head> {
        let number = |index: usize| word(bytes, MAGIC.len() + index * WORD);
        let sum = word(bytes, HEAD_LEN - WORD)?;
        if !bytes.starts_with(&MAGIC) || sum != xxh3_64(&bytes[..HEAD_LEN - WORD]) {
            return None;
        }
        Some(Head {
            image: Image {
                inode: number(0)?,
                created_ns: number(1)?,
                start: number(2)?,
                len: (number(3)?, number(4)?),
                size: (number(5)?, number(6)?),
                beside: number(9)?,
                records: Vec::new(),
            },
            journal_len: number(7)?,
            records: number(8)?,
        })
    }

    /// Whether the size of the journal is consistent with the sizes of the file.
    fn is_bounded(&self) -> bool {
        let (before, after) = self.image.size;
        let after = if after == UNKNOWN { 0 } else { after };
        let most = before
            .checked_add(after)
            .and_then(|bytes| bytes.checked_add(self.records.checked_mul(RECORD_LEN as u64)?))
            .and_then(|bytes| bytes.checked_add((HEAD_LEN + WORD) as u64));
        most.is_some_and(|most| self.journal_len <= most)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(WORD)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

impl Image {
    /// Serializes the journal.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn encode(&self) -> Result<Vec<u8>> {
        let after_len = |record: &Record| record.after.as_ref().map_or(0, Vec::len);
        let len = self.records.iter().fold(HEAD_LEN + WORD, |len, record| {
            len + RECORD_LEN + record.before.len() + after_len(record)
        });
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len)?;
        let push = |bytes: &mut Vec<u8>, number: u64| bytes.extend(number.to_le_bytes());
        bytes.extend(MAGIC);
        for number in [
            self.inode,
            self.created_ns,
            self.start,
            self.len.0,
            self.len.1,
            self.size.0,
            self.size.1,
            len as u64,
            self.records.len() as u64,
            self.beside,
        ] {
            push(&mut bytes, number);
        }
        let sum = xxh3_64(&bytes);
        push(&mut bytes, sum);
        for record in &self.records {
            let start = bytes.len();
            push(&mut bytes, record.position);
            push(&mut bytes, record.before.len() as u64);
            let after = record.after.as_ref();
            push(&mut bytes, after.map_or(UNKNOWN, |after| after.len() as u64));
            bytes.extend(&record.before);
            bytes.extend(after.into_iter().flatten());
            let sum = xxh3_64(&bytes[start..]);
            push(&mut bytes, sum);
        }
        let sum = xxh3_64(&bytes);
        push(&mut bytes, sum);
        Ok(bytes)
    }

    /// Parses the bytes of a journal; `None` if they are not a complete one.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn decode(bytes: &[u8]) -> Result<Option<Image>> {
        let Some(head) = bytes.first_chunk().and_then(Head::parse) else {
            return Ok(None);
        };
        let content_len = bytes.len().saturating_sub(WORD);
        // The head ends with the checksum of the bytes before it, like the journal.
        let Some(mut rest) = bytes.get(HEAD_LEN..content_len) else {
            return Ok(None);
        };
        let is_whole = head.journal_len == bytes.len() as u64
            && word(bytes, content_len) == Some(xxh3_64(&bytes[..content_len]));
        if !is_whole {
            return Ok(None);
        }
        let mut image = head.image;
        for _ in 0..head.records {
            let Some((record, next)) = decode_record(rest)? else {
                return Ok(None);
            };
            image.records.try_reserve(1)?;
            image.records.push(record);
            rest = next;
        }
        Ok(Some(image).filter(|image| rest.is_empty() && image.is_consistent()))
    }

    /// Whether the records are in order and within the file, and cover everything that the change
    /// may destroy.
    fn is_consistent(&self) -> bool {
        let (before, after) = self.size;
        let most = if after == UNKNOWN { before } else { before.max(after) };
        let mut end = 0;
        for record in &self.records {
            let len = record.after.as_ref().map_or(0, Vec::len);
            let len = len.max(record.before.len()) as u64;
            let Some(record_end) = record.position.checked_add(len) else {
                return false;
            };
            let lacks_after = record.after.is_none() && after != UNKNOWN;
            let is_cut = record.after.is_some()
                && record.before_end() < record_end.min(before)
                && record.position < before;
            if record.position < end || record_end > most || lacks_after || is_cut {
                return false;
            }
            end = record_end;
        }
        let in_file = self.start.checked_add(self.len.0);
        // Truncation must remove only recorded bytes.
        let mut kept = after.min(before);
        for record in &self.records {
            if record.position <= kept && kept < record.before_end() {
                kept = record.before_end();
            }
        }
        in_file.is_some_and(|end| end <= before) && kept >= before
    }
}

fn decode_record(bytes: &[u8]) -> Result<Option<(Record, &[u8])>> {
    let numbers = (word(bytes, 0), word(bytes, WORD), word(bytes, 2 * WORD));
    let (Some(position), Some(before), Some(after)) = numbers else {
        return Ok(None);
    };
    let data = 3 * WORD;
    let copy = |from: usize, len: u64| -> Result<Option<Vec<u8>>> {
        let end = usize::try_from(len).ok().and_then(|len| from.checked_add(len));
        let Some(found) = end.and_then(|end| bytes.get(from..end)) else {
            return Ok(None);
        };
        let mut copy = Vec::new();
        copy.try_reserve_exact(found.len())?;
        copy.extend_from_slice(found);
        Ok(Some(copy))
    };
    let Some(before) = copy(data, before)? else {
        return Ok(None);
    };
    let mut end = data + before.len();
    let after = if after == UNKNOWN {
        None
    } else {
        let Some(after) = copy(end, after)? else {
            return Ok(None);
        };
        end += after.len();
        Some(after)
    };
    if word(bytes, end) != Some(xxh3_64(&bytes[..end])) {
        return Ok(None);
    }
    let record = Record { position, before, after };
    Ok(Some((record, &bytes[end + WORD..])))
}

/// Reads a journal, or returns the reason for not using it.
pub(super) fn read(journal: &dyn Stream) -> Result<std::result::Result<Image, Reason>> {
    let head = front(journal)?;
    if head.starts_with(&OLD_MAGIC) || head.starts_with(&OLD_BLPK_MAGIC) {
        return Ok(Err(Reason::OldFormat));
    }
    if !is_journal(&head) {
        return Ok(Err(Reason::NotAJournal));
    }
    let Some(head) = head.first_chunk().and_then(Head::parse) else {
        return Ok(Err(Reason::Incomplete));
    };
    if journal.size()? != head.journal_len || !head.is_bounded() {
        return Ok(Err(Reason::Incomplete));
    }
    let len = usize::try_from(head.journal_len).map_err(|_| Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    bytes.resize(len, 0);
    if journal.read_at(0, &mut bytes)? != len {
        return Ok(Err(Reason::Incomplete));
    }
    Image::decode(&bytes).map(|image| image.ok_or(Reason::Incomplete))
}

/// Returns the first bytes of a journal.
pub(super) fn front(journal: &dyn Stream) -> Result<Vec<u8>> {
    let mut front = vec![0; FRONT];
    let read = journal.read_at(0, &mut front)?;
    front.truncate(read);
    Ok(front)
}

/// Whether these are the first bytes of a journal, with or without content.
pub(super) fn is_journal(front: &[u8]) -> bool {
    let begins = |magic: &[u8]| front.starts_with(magic);
    begins(&MAGIC)
        || begins(&OLD_MAGIC)
        || begins(&OLD_BLPK_MAGIC)
        || MAGIC.starts_with(front)
        || front.iter().all(|&byte| byte == 0)
}
