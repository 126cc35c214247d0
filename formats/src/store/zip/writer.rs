//! Writing of zip files with stored members.
//!
//! Equal members give equal bytes: all have the same time, 1980-01-01, except copies of members
//! with their [`Header`]. Fields of 64 bits are written only for sizes, offsets and counts that need
//! them. The CRC-32 of a member that is written as a stream is put into its local header when the
//! stream has ended.

use std::io::{self, Seek, SeekFrom, Write};

use super::directory::Description;
use super::format::{
    END_MAGIC, ENTRY_MAGIC, LOCAL_MAGIC, LOCATOR_MAGIC, RECORD_LEN, RECORD_MAGIC, STORED, UTF8,
    ZIP64_EXTRA,
};

/// The version of the format that is needed to read a member, and one with fields of 64 bits.
const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;
/// The system whose permissions are recorded: Unix.
const SYSTEM: u16 = 3 << 8;
/// The permissions of a regular file that all may read.
const PERMISSIONS: u32 = 0o100_644 << 16;
/// The first day that the format supports, 1980-01-01.
const DATE: u16 = 1 << 5 | 1;
/// The offset of the CRC-32 in a local header.
const CRC_AT: u64 = 14;

/// The name of a member, and the fields that do not describe its data.
#[derive(Clone, Debug)]
pub struct Header {
    pub(super) name: Vec<u8>,
    pub(super) description: Description,
    /// The extra fields of the local header besides the sizes of 64 bits.
    pub(super) local_extra: Vec<u8>,
}

impl Header {
    /// Returns the header of a new member.
    pub fn new(name: &str) -> Header {
        let description = Description {
            made_by: SYSTEM | VERSION,
            is_utf8: !name.is_ascii(),
            time: (u32::from(DATE) << 16).to_le_bytes(),
            external: PERMISSIONS,
            ..Description::default()
        };
        Header { name: name.as_bytes().to_vec(), description, local_extra: Vec::new() }
    }
}

struct Entry {
    header: Header,
    crc: u32,
    size: u64,
    offset: u64,
}

impl Entry {
    /// Returns the extra fields: the zip64 field of the values that need more than 32 bits, and the
    /// other ones.
    fn extra(&self, is_local: bool) -> Vec<u8> {
        let mut extra = self.zip64(!is_local);
        let Header { description, local_extra, .. } = &self.header;
        extra.extend(if is_local { local_extra } else { &description.extra });
        extra
    }

    fn zip64(&self, with_offset: bool) -> Vec<u8> {
        let mut values = Vec::new();
        if self.size >= u32::MAX.into() {
            values.extend([self.size, self.size]);
        }
        if with_offset && self.offset >= u32::MAX.into() {
            values.push(self.offset);
        }
        let mut field = Vec::new();
        if !values.is_empty() {
            field.extend(ZIP64_EXTRA.to_le_bytes());
            field.extend((values.len() as u16 * 8).to_le_bytes());
            field.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        field
    }

    /// Returns the fields that local headers and entries of the directory share.
    fn shared(&self, is_local: bool) -> io::Result<Vec<u8>> {
        let is_wide = !self.zip64(!is_local).is_empty();
        let version = if is_wide { VERSION_ZIP64 } else { VERSION };
        let flags = if self.header.description.is_utf8 { UTF8 } else { 0 };
        let size = narrow(self.size);
        let mut bytes = Vec::new();
        for value in [version, flags, STORED] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(self.header.description.time);
        for value in [self.crc, size, size] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(len_of("a name", &self.header.name)?);
        bytes.extend(len_of("an extra field", &self.extra(is_local))?);
        Ok(bytes)
    }
}

/// Returns the length of a field, in 16 bits.
fn len_of(what: &str, field: &[u8]) -> io::Result<[u8; 2]> {
    let len = u16::try_from(field.len());
    let len = len.map_err(|_| io::Error::other(format!("{what} in a zip file is too long")))?;
    Ok(len.to_le_bytes())
}

/// Returns the value, or the maximum if the value is in the zip64 field.
fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Writes a zip file. Without [`ZipWriter::finish`] the file has no directory.
pub struct ZipWriter<W: Write + Seek> {
    file: W,
    at: u64,
    entries: Vec<Entry>,
    comment: Vec<u8>,
}

/// Counts bytes and computes their CRC-32.
struct Counted<'w, W> {
    file: &'w mut W,
    crc: u32,
    size: u64,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.crc = zlib_rs::crc32::crc32(self.crc, &bytes[..count]);
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<W: Write + Seek> ZipWriter<W> {
    /// Returns a writer to a file whose position is `at`.
    pub fn new(file: W, at: u64) -> ZipWriter<W> {
        ZipWriter { file, at, entries: Vec::new(), comment: Vec::new() }
    }

    /// Sets the comment of the archive.
    pub fn set_comment(&mut self, comment: &[u8]) {
        self.comment = comment.to_vec();
    }

    fn start(&mut self, entry: &Entry) -> io::Result<()> {
        let mut header = LOCAL_MAGIC.to_vec();
        header.extend(entry.shared(true)?);
        header.extend(&entry.header.name);
        header.extend(entry.extra(true));
        self.file.write_all(&header)?;
        self.at += header.len() as u64;
        Ok(())
    }

    /// Adds a member.
    ///
    /// # Errors
    /// Returns the error of writing.
    #[cfg(any(test, feature = "zarr"))]
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let crc = zlib_rs::crc32::crc32(0, bytes);
        let size = bytes.len() as u64;
        let entry = Entry { header: Header::new(name), crc, size, offset: self.at };
        self.start(&entry)?;
        self.file.write_all(bytes)?;
        self.at += size;
        self.entries.push(entry);
        Ok(())
    }

    /// Adds a member whose `size` bytes are written by `fill`. `failed` converts errors of writing.
    ///
    /// # Errors
    /// Returns the error of `fill` or of writing, and fails if `fill` writes another number of
    /// bytes.
    pub fn add_stream<E>(
        &mut self,
        name: &str,
        size: u64,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
        failed: impl Fn(io::Error) -> E,
    ) -> Result<(), E> {
        self.add_with(Header::new(name), size, fill, failed)
    }

    /// As [`ZipWriter::add_stream`], with the header of a member.
    ///
    /// # Errors
    /// The errors of [`ZipWriter::add_stream`].
    pub fn add_with<E>(
        &mut self,
        header: Header,
        size: u64,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
        failed: impl Fn(io::Error) -> E,
    ) -> Result<(), E> {
        let mut entry = Entry { header, crc: 0, size, offset: self.at };
        self.start(&entry).map_err(&failed)?;
        let mut counted = Counted { file: &mut self.file, crc: 0, size: 0 };
        fill(&mut counted)?;
        let (crc, written) = (counted.crc, counted.size);
        if written != size {
            let text = format!("{written} bytes instead of {size} were written to a zip file");
            return Err(failed(io::Error::other(text)));
        }
        self.at += size;
        self.set_crc(&entry, crc).map_err(failed)?;
        entry.crc = crc;
        self.entries.push(entry);
        Ok(())
    }

    /// Writes the CRC-32 into the local header of a member.
    fn set_crc(&mut self, entry: &Entry, crc: u32) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(entry.offset + CRC_AT))?;
        self.file.write_all(&crc.to_le_bytes())?;
        self.file.seek(SeekFrom::Start(self.at)).map(drop)
    }

    /// Writes the directory and returns the file.
    ///
    /// # Errors
    /// Returns the error of writing.
    pub fn finish(mut self) -> io::Result<W> {
        let start = self.at;
        for entry in &self.entries {
            let Header { name, description, .. } = &entry.header;
            let mut bytes = ENTRY_MAGIC.to_vec();
            bytes.extend(description.made_by.to_le_bytes());
            bytes.extend(entry.shared(false)?);
            bytes.extend(len_of("a comment", &description.comment)?);
            // The first disk.
            bytes.extend([0; 2]);
            bytes.extend(description.internal.to_le_bytes());
            bytes.extend(description.external.to_le_bytes());
            bytes.extend(narrow(entry.offset).to_le_bytes());
            bytes.extend(name);
            bytes.extend(entry.extra(false));
            bytes.extend(&description.comment);
            self.file.write_all(&bytes)?;
            self.at += bytes.len() as u64;
        }
        let (size, count) = (self.at - start, self.entries.len() as u64);
        let mut bytes = Vec::new();
        if count >= u16::MAX.into() || size >= u32::MAX.into() || start >= u32::MAX.into() {
            bytes.extend(RECORD_MAGIC);
            bytes.extend((RECORD_LEN as u64 - 12).to_le_bytes());
            bytes.extend((SYSTEM | VERSION_ZIP64).to_le_bytes());
            bytes.extend(VERSION_ZIP64.to_le_bytes());
            bytes.extend([0; 8]);
            bytes.extend([count, count, size, start].iter().flat_map(|value| value.to_le_bytes()));
            bytes.extend(LOCATOR_MAGIC);
            bytes.extend([0; 4]);
            bytes.extend(self.at.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
        }
        let short = u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes();
        bytes.extend(END_MAGIC);
        bytes.extend([0; 4]);
        bytes.extend([short, short].concat());
        bytes.extend(narrow(size).to_le_bytes());
        bytes.extend(narrow(start).to_le_bytes());
        bytes.extend(len_of("the comment", &self.comment)?);
        bytes.extend(&self.comment);
        self.file.write_all(&bytes)?;
        self.file.flush()?;
        Ok(self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Archive;
    use super::*;

    #[test]
    fn written_members_are_read_back() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("a.zip");
        let mut writer = ZipWriter::new(std::fs::File::create(&path).unwrap(), 0);
        writer.add("one", b"first").unwrap();
        writer
            .add_stream(
                "äö/two",
                6,
                |output| {
                    output.write_all(b"sec")?;
                    output.write_all(b"ond")
                },
                |error| error,
            )
            .unwrap();
        writer.finish().unwrap();
        let archive = Archive::open(&path).unwrap().unwrap();
        let names: Vec<&str> = archive.members().iter().map(|member| &*member.name).collect();
        assert_eq!(names, ["one", "äö/two"]);
        for (member, content) in archive.members().iter().zip([&b"first"[..], b"second"]) {
            archive.check_local_header(member).unwrap();
            assert_eq!(archive.read(member, 10).unwrap(), content);
        }
    }

    #[test]
    fn many_members_and_large_ones_have_zip64_fields() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("a.zip");
        let mut writer = ZipWriter::new(std::fs::File::create(&path).unwrap(), 0);
        for number in 0..70_000 {
            writer.add(&number.to_string(), b"").unwrap();
        }
        writer.finish().unwrap();
        let archive = Archive::open(&path).unwrap().unwrap();
        assert_eq!(archive.members().len(), 70_000);
        assert_eq!(archive.members()[69_999].name, "69999");

        let large = Entry { header: Header::new(""), crc: 0, size: 1 << 32, offset: 1 << 33 };
        let expected = [&[1, 0, 24, 0][..], &(1_u64 << 32).to_le_bytes()].concat();
        assert!(large.zip64(true).starts_with(&expected));
        assert!(large.zip64(true).ends_with(&(1_u64 << 33).to_le_bytes()));
        assert_eq!(large.zip64(false).len(), 20);
    }

    /// Python's `zipfile` and Info-ZIP read all entries of the directory, too.
    #[test]
    fn members_that_the_end_record_does_not_count_are_read() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("a.zip");
        let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()), 0);
        for name in ["one", "two", "three"] {
            writer.add(name, name.as_bytes()).unwrap();
        }
        let mut bytes = writer.finish().unwrap().into_inner();
        let counts = bytes.len() - 14;
        for count in 0..=3 {
            bytes[counts..counts + 4].copy_from_slice(&[count, 0, count, 0]);
            std::fs::write(&path, &bytes).unwrap();
            let archive = Archive::open(&path).unwrap().unwrap();
            let names: Vec<&str> = archive.members().iter().map(|member| &*member.name).collect();
            assert_eq!(names, ["one", "two", "three"], "{count}");
        }
        bytes[counts..counts + 4].copy_from_slice(&[4, 0, 4, 0]);
        std::fs::write(&path, &bytes).unwrap();
        assert!(Archive::open(&path).is_err());
    }

    #[test]
    fn members_beyond_4_gib_are_read() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("a.zip");
        let mut file = std::fs::File::create(&path).unwrap();
        let (prefix, size) = (5 << 30, (4 << 30) + 5);
        file.seek(SeekFrom::Start(prefix)).unwrap();
        let mut zip = ZipWriter::new(file, prefix);
        zip.add("small é", b"data").unwrap();
        // The bytes before the last ones are a hole.
        let header = Header::new("large");
        zip.start(&Entry { header: header.clone(), crc: 0, size, offset: zip.at }).unwrap();
        zip.entries.push(Entry { header, crc: 0, size, offset: zip.at - 55 });
        zip.file.seek(SeekFrom::Current(i64::try_from(size).unwrap())).unwrap();
        zip.at += size;
        zip.add("last", b"data").unwrap();
        zip.finish().unwrap();
        let archive = Archive::open(&path).unwrap().unwrap();
        assert_eq!(archive.members()[1].size, size);
        for member in archive.members() {
            archive.check_local_header(member).unwrap();
        }
        for member in [&archive.members()[0], &archive.members()[2]] {
            assert_eq!(archive.read(member, 100).unwrap(), b"data");
        }
    }

    #[test]
    fn a_stream_of_another_length_is_an_error() {
        let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()), 0);
        let written = writer.add_stream("a", 3, |output| output.write_all(b"four"), |error| error);
        assert_eq!(
            written.unwrap_err().to_string(),
            "4 bytes instead of 3 were written to a zip file"
        );
    }
}
