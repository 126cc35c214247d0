//! The end record of a zip file, and the zip64 record that replaces its fields.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use ferroblosc::os::files;

use super::super::error::{Error, Result};
use super::format::{
    END_MAGIC, LOCATOR_MAGIC, RECORD_LEN, RECORD_MAGIC, u16_at, u32_at, u64_at, zip_error,
};

const END_LEN: usize = 22;
const LOCATOR_LEN: u64 = 20;

/// The location of the directory.
pub struct End {
    /// The offset of the directory in the file, in bytes.
    pub at: u64,
    /// The size of the directory, in bytes.
    pub size: u64,
    /// The number of its entries.
    pub entries: u64,
    /// The number of bytes before the archive, which its offsets do not count.
    pub prefix: u64,
    /// The bytes between the zip64 record and its locator.
    pub unused: Range<u64>,
    /// The comment of the archive.
    pub comment: Vec<u8>,
}

/// Finds the end record: the last one whose comment ends exactly at the end of the file. A magic
/// within a comment is therefore not mistaken for an end record.
pub fn find(path: &Path, file: &File, len: u64) -> Result<Option<End>> {
    let longest = (END_LEN + usize::from(u16::MAX)) as u64;
    let start = len.saturating_sub(longest);
    let mut tail = vec![0; usize::try_from(len - start).map_err(|_| Error::Memory)?];
    files::read_exact_at(file, start, &mut tail).map_err(Error::storage(path))?;
    let Some(last) = tail.len().checked_sub(END_LEN) else {
        return Ok(None);
    };
    let is_end = |&at: &usize| {
        tail[at..].starts_with(END_MAGIC)
            && at + END_LEN + usize::from(u16_at(&tail, at + 20)) == tail.len()
    };
    let Some(at) = (0..=last).rev().find(is_end) else {
        return Ok(None);
    };
    let record = &tail[at..at + END_LEN];
    let mut end = End {
        at: u64::from(u32_at(record, 16)),
        size: u64::from(u32_at(record, 12)),
        entries: u64::from(u16_at(record, 10)),
        prefix: 0,
        unused: 0..0,
        comment: tail[at + END_LEN..].to_vec(),
    };
    let mut disks = u32::from(u16_at(record, 4)) | u32::from(u16_at(record, 6));
    let mut directory_end = start + at as u64;
    if let Some((record_at, record)) = zip64_record(path, file, directory_end)? {
        end = End {
            at: u64_at(&record, 48),
            size: u64_at(&record, 40),
            entries: u64_at(&record, 32),
            unused: record_at + RECORD_LEN as u64..directory_end - LOCATOR_LEN,
            ..end
        };
        disks = u32_at(&record, 16) | u32_at(&record, 20);
        directory_end = record_at;
    }
    if disks != 0 {
        return Err(zip_error(path, "zip files of several disks are not supported"));
    }
    let invalid = || zip_error(path, "the zip file is damaged: its directory is out of bounds");
    let real = directory_end.checked_sub(end.size).ok_or_else(invalid)?;
    end.prefix = real.checked_sub(end.at).ok_or_else(invalid)?;
    end.at = real;
    Ok(Some(end))
}

/// Returns the offset and the bytes of the zip64 record of an end record at `end_at`, if any.
fn zip64_record(path: &Path, file: &File, end_at: u64) -> Result<Option<(u64, [u8; RECORD_LEN])>> {
    let Some(locator_at) = end_at.checked_sub(LOCATOR_LEN) else {
        return Ok(None);
    };
    let mut locator = [0; LOCATOR_LEN as usize];
    files::read_exact_at(file, locator_at, &mut locator).map_err(Error::storage(path))?;
    if locator[..4] != *LOCATOR_MAGIC {
        return Ok(None);
    }
    // The recorded offset does not count a prefix; the record usually ends at the locator.
    let adjacent = locator_at.checked_sub(RECORD_LEN as u64);
    for at in [Some(u64_at(&locator, 8)), adjacent].into_iter().flatten() {
        let is_inside = at.checked_add(RECORD_LEN as u64).is_some_and(|end| end <= locator_at);
        if !is_inside {
            continue;
        }
        let mut record = [0; RECORD_LEN];
        files::read_exact_at(file, at, &mut record).map_err(Error::storage(path))?;
        if record[..4] == *RECORD_MAGIC {
            return Ok(Some((at, record)));
        }
    }
    Err(zip_error(path, "the zip file is damaged: its zip64 record is missing"))
}
