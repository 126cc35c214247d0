//! Writing of zip files with stored members.
//!
//! Equal members give equal bytes: all have the same time, 1980-01-01. Fields of 64 bits are written
//! only for sizes, offsets and counts that need them.

use ferroblosc::io::{Stream, WriteGranularity};

use super::format::{
    END_MAGIC, ENTRY_MAGIC, LOCAL_LEN, LOCAL_MAGIC, LOCATOR_MAGIC, RECORD_LEN, RECORD_MAGIC, UTF8,
    ZIP64_EXTRA,
};

/// The version that is needed to read a member, and one with fields of 64 bits.
const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;
/// The system of the writer, which determines the form of the attributes: Unix.
const SYSTEM: u16 = 3 << 8;
/// The date 1980-01-01.
const DATE: u16 = 1 << 5 | 1;
/// The attributes of a regular file that its owner can write.
const ATTRIBUTES: u32 = 0o100_644 << 16;
/// The maximum number of members of a directory without fields of 64 bits.
const MAX_COUNT: u64 = u16::MAX as u64;

/// Returns the number, or the maximum if it does not fit, and whether it does not.
fn narrow(number: u64) -> (u32, bool) {
    match u32::try_from(number) {
        Ok(small) if small != u32::MAX => (small, false),
        _ => (u32::MAX, true),
    }
}

/// A zip file that is being written.
pub struct ZipWriter<'s> {
    stream: &'s dyn Stream,
    at: u64,
    directory: Vec<u8>,
    count: u64,
}

/// The destination of the data of a member.
pub struct MemberWriter<'s> {
    stream: &'s dyn Stream,
    at: u64,
    crc: u32,
}

impl MemberWriter<'_> {
    /// Appends bytes to the data of the member.
    pub fn write(&mut self, bytes: &[u8]) -> ferroblosc::Result<()> {
        self.stream.write_at(self.at, bytes, WriteGranularity::Bytes)?;
        self.at += bytes.len() as u64;
        self.crc = zlib_rs::crc32::crc32(self.crc, bytes);
        Ok(())
    }
}

impl<'s> ZipWriter<'s> {
    /// Begins a zip file at the offset `at` of a file.
    pub fn new(stream: &'s dyn Stream, at: u64) -> ZipWriter<'s> {
        ZipWriter { stream, at, directory: Vec::new(), count: 0 }
    }

    /// Adds a member with the data that `fill` writes.
    ///
    /// # Errors
    /// Those of `fill`, and those that `error` returns for errors of the file.
    pub fn add<E>(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut MemberWriter<'s>) -> Result<(), E>,
        error: impl Fn(ferroblosc::Error) -> E,
        size: u64,
    ) -> Result<(), E> {
        let start = self.at;
        let (small_size, is_large) = narrow(size);
        let mut header = LOCAL_MAGIC.to_vec();
        common(&mut header, name, if is_large { VERSION_ZIP64 } else { VERSION }, small_size);
        header.extend((if is_large { 20u16 } else { 0 }).to_le_bytes());
        header.extend(name.as_bytes());
        if is_large {
            header.extend(ZIP64_EXTRA.to_le_bytes());
            header.extend(16u16.to_le_bytes());
            header.extend(size.to_le_bytes());
            header.extend(size.to_le_bytes());
        }
        let mut member =
            MemberWriter { stream: self.stream, at: start + header.len() as u64, crc: 0 };
        fill(&mut member)?;
        let end = start + header.len() as u64 + size;
        if member.at != end {
            let why = "the data of a member changed while they were copied";
            return Err(error(ferroblosc::Error::FileRead.because(why)));
        }
        header[14..18].copy_from_slice(&member.crc.to_le_bytes());
        self.stream.write_at(start, &header, WriteGranularity::Bytes).map_err(error)?;
        self.add_entry(name, size, start, member.crc);
        self.at = end;
        Ok(())
    }

    fn add_entry(&mut self, name: &str, size: u64, offset: u64, crc: u32) {
        let ((small_size, is_large), (small_offset, is_far)) = (narrow(size), narrow(offset));
        let mut extra = Vec::new();
        if is_large || is_far {
            let len = if is_large { 16 } else { 0 } + if is_far { 8u16 } else { 0 };
            extra.extend(ZIP64_EXTRA.to_le_bytes());
            extra.extend(len.to_le_bytes());
            if is_large {
                extra.extend(size.to_le_bytes());
                extra.extend(size.to_le_bytes());
            }
            if is_far {
                extra.extend(offset.to_le_bytes());
            }
        }
        let version = if extra.is_empty() { VERSION } else { VERSION_ZIP64 };
        let entry = &mut self.directory;
        entry.extend(ENTRY_MAGIC);
        entry.extend((SYSTEM | VERSION).to_le_bytes());
        let start = entry.len();
        common(entry, name, version, small_size);
        entry[start + 10..start + 14].copy_from_slice(&crc.to_le_bytes());
        // At most 28 bytes.
        entry.extend((extra.len() as u16).to_le_bytes());
        // No comment, the first disk, no internal attributes.
        entry.extend([0; 6]);
        entry.extend(ATTRIBUTES.to_le_bytes());
        entry.extend(small_offset.to_le_bytes());
        entry.extend(name.as_bytes());
        entry.extend(&extra);
        self.count += 1;
    }

    /// Writes the directory and the end record.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(self) -> ferroblosc::Result<()> {
        let mut tail = self.directory;
        let size = tail.len() as u64;
        let ((small_size, is_large), (small_at, is_far)) = (narrow(size), narrow(self.at));
        let is_zip64 = self.count >= MAX_COUNT || is_large || is_far;
        if is_zip64 {
            let record_at = self.at + size;
            tail.extend(RECORD_MAGIC);
            // The length of the record after this field.
            tail.extend((RECORD_LEN as u64 - 12).to_le_bytes());
            tail.extend((SYSTEM | VERSION_ZIP64).to_le_bytes());
            tail.extend(VERSION_ZIP64.to_le_bytes());
            tail.extend([0; 8]);
            tail.extend(self.count.to_le_bytes());
            tail.extend(self.count.to_le_bytes());
            tail.extend(size.to_le_bytes());
            tail.extend(self.at.to_le_bytes());
            tail.extend(LOCATOR_MAGIC);
            tail.extend([0; 4]);
            tail.extend(record_at.to_le_bytes());
            tail.extend(1u32.to_le_bytes());
        }
        let count = (self.count.min(MAX_COUNT) as u16).to_le_bytes();
        tail.extend(END_MAGIC);
        tail.extend([0; 4]);
        tail.extend(count);
        tail.extend(count);
        tail.extend(small_size.to_le_bytes());
        tail.extend(small_at.to_le_bytes());
        tail.extend([0; 2]);
        self.stream.write_at(self.at, &tail, WriteGranularity::Bytes)
    }
}

/// Appends the fields that a local header and an entry of the directory share, from the version to
/// the length of the name. The CRC is 0.
fn common(bytes: &mut Vec<u8>, name: &str, version: u16, size: u32) {
    let flags = if name.is_ascii() { 0 } else { UTF8 };
    bytes.extend(version.to_le_bytes());
    bytes.extend(flags.to_le_bytes());
    // Stored, at midnight.
    bytes.extend([0; 4]);
    bytes.extend(DATE.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(size.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    // Names have at most `MAX_KEY_LEN` bytes.
    bytes.extend((name.len() as u16).to_le_bytes());
}

const _: () = assert!(LOCAL_LEN == 30);

#[cfg(test)]
mod tests {
    use super::super::Archive;
    use super::*;
    use ferroblosc::io::{FileOps, FileSystem};

    #[test]
    fn members_beyond_4_gib_and_many_members_are_read() {
        let folder = tempfile::tempdir().unwrap();
        for (prefix, count) in [(0, 3), (5 << 30, 3), (0, 65_535), (0, 65_600)] {
            let path = folder.path().join(format!("{prefix}-{count}.zip"));
            let stream = FileSystem.create_new(&path, false).unwrap();
            let mut zip = ZipWriter::new(&*stream, prefix);
            for number in 0..count {
                let fill = |member: &mut MemberWriter<'_>| member.write(b"data");
                zip.add(&format!("{number}é"), fill, |error| error, 4).unwrap();
            }
            zip.finish().unwrap();
            let archive = Archive::open(&path).unwrap().unwrap();
            assert_eq!(archive.members().len(), count);
            for member in archive.members().iter().step_by(7000) {
                archive.check_local_header(member).unwrap();
                assert_eq!(archive.read(member, 100).unwrap(), b"data");
                assert!(member.name.ends_with('é'));
            }
        }
    }

    #[test]
    fn a_member_of_4_gib_has_fields_of_64_bits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.zip");
        let stream = FileSystem.create_new(&path, false).unwrap();
        let mut zip = ZipWriter::new(&*stream, 0);
        let size = (4 << 30) + 5;
        let sparse = |member: &mut MemberWriter<'_>| {
            // The bytes before the last ones stay a hole.
            member.at += size - 5;
            member.write(b"after")
        };
        zip.add("large", sparse, |error| error, size).unwrap();
        zip.add("small", |member| member.write(b"data"), |error: ferroblosc::Error| error, 4)
            .unwrap();
        zip.finish().unwrap();
        let archive = Archive::open(&path).unwrap().unwrap();
        assert_eq!(archive.members()[0].size, size);
        archive.check_local_header(&archive.members()[0]).unwrap();
        assert_eq!(archive.read(&archive.members()[1], 100).unwrap(), b"data");
    }

    #[test]
    fn data_of_another_size_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let stream = FileSystem.create_new(&folder.path().join("z"), false).unwrap();
        let mut zip = ZipWriter::new(&*stream, 0);
        let added = zip.add("a", |member| member.write(b"four"), |error| error, 5);
        assert_eq!(added, Err(ferroblosc::Error::FileRead));
    }
}
