//! Open zip files: their members and the data of these.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferroblosc::os::files;

use super::super::error::{Error, Result};
use super::directory::{self, Fault, Member};
use super::format::{
    DESCRIPTOR_MAGIC, END_MAGIC, HAS_DESCRIPTOR, LOCAL_LEN, LOCAL_MAGIC, MAX_SHOWN_NAME, u16_at,
    u32_at, zip_error,
};
use super::writer::Header;
use super::{end, inflate, salvage};

/// The identity of a file and its size in bytes.
type Identity = ((u64, u64), u64);

/// An open zip file.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    file: Arc<File>,
    identity: Identity,
    members: Vec<Member>,
    /// The offset of the directory in the file, if there is one.
    directory: Option<u64>,
    /// The ranges of bytes from there on that the directory and the end records do not use.
    unused: [Range<u64>; 2],
    comment: Vec<u8>,
}

/// Opens a file; returns its identity and its size in bytes, too.
fn open(path: &Path) -> std::io::Result<(File, Identity)> {
    let file = File::open(path)?;
    let identity = (files::identity_of(&file)?, file.metadata()?.len());
    Ok((file, identity))
}

impl Archive {
    /// Opens a zip file and reads its directory; returns `None` if the file has no end record.
    ///
    /// # Errors
    /// [`Error::Storage`]; [`Error::Zip`] for a damaged directory; [`Error::Limit`];
    /// [`Error::Memory`].
    pub fn open(path: &Path) -> Result<Option<Archive>> {
        let (file, identity) = open(path).map_err(Error::storage(path))?;
        let len = identity.1;
        let Some(end) = end::find(path, &file, len)? else {
            let mut start = [0; 4];
            let is_zip = len >= 4 && {
                files::read_exact_at(&file, 0, &mut start).map_err(Error::storage(path))?;
                start == *LOCAL_MAGIC || start == *END_MAGIC
            };
            if is_zip {
                return Err(zip_error(path, "the zip file is truncated: it has no end record"));
            }
            return Ok(None);
        };
        let (members, rest) = directory::read(path, &file, &end)?;
        let directory_end = end.at + end.size;
        Ok(Some(Archive {
            path: path.to_owned(),
            file: Arc::new(file),
            identity,
            members,
            directory: Some(end.at),
            unused: [directory_end - rest..directory_end, end.unused],
            comment: end.comment,
        }))
    }

    /// Opens a zip file without a usable directory: its members are found by their local headers.
    /// Also returns descriptions of the members that are incomplete.
    ///
    /// # Errors
    /// [`Error::Storage`]; [`Error::Limit`].
    pub fn salvage(path: &Path) -> Result<(Archive, Vec<String>)> {
        let (file, identity) = open(path).map_err(Error::storage(path))?;
        let (members, mut lost) = salvage::members(path, &file, identity.1)?;
        let first = members.iter().map(|member| member.offset).min().unwrap_or(0);
        if first > 0 && lost.is_empty() {
            lost.push(format!("{first} bytes before the members of the zip file"));
        }
        let archive = Archive {
            path: path.to_owned(),
            file: Arc::new(file),
            identity,
            members,
            directory: None,
            unused: [0..0, 0..0],
            comment: Vec::new(),
        };
        Ok((archive, lost))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the open file.
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Checks that the path is still this file. Writers replace zip files.
    ///
    /// # Errors
    /// [`Error::Changed`]; [`Error::Storage`].
    pub fn check_unchanged(&self) -> Result<()> {
        let found = files::identity_at(&self.path)
            .and_then(|identity| Ok((identity, std::fs::metadata(&self.path)?.len())))
            .map_err(Error::storage(&self.path))?;
        if found == self.identity { Ok(()) } else { Err(Error::Changed(self.path.clone())) }
    }

    /// Returns the members in the order of the directory.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the comment of the archive; it is empty if there is none, and without a directory.
    pub fn comment(&self) -> &[u8] {
        &self.comment
    }

    /// Returns the number of bytes before the first member or, if there is none, before the
    /// directory; 0 without a directory.
    pub fn prefix_len(&self) -> u64 {
        let first = self.members.iter().map(|member| member.offset).min();
        self.directory.map_or(0, |at| first.unwrap_or(at).min(at))
    }

    /// Calls `write` with the bytes before the first member.
    ///
    /// # Errors
    /// The errors of `write`; [`Error::Storage`].
    #[cfg(feature = "zarr")]
    pub fn for_prefix(&self, mut write: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut buffer = vec![0; 1 << 16];
        let (mut at, len) = (0, self.prefix_len());
        while at < len {
            let rest = usize::try_from(len - at).unwrap_or(usize::MAX);
            let piece = &mut buffer[..rest.min(1 << 16)];
            self.read_at(piece, at)?;
            write(piece)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Checks that a copy of the members, the bytes before them and the comment is complete.
    ///
    /// # Errors
    /// [`Error::Refused`] if there are bytes in no member; [`Error::Storage`].
    pub fn check_listed(&self) -> Result<()> {
        match self.unlisted()? {
            None => Ok(()),
            Some(range) => {
                let why = format!("a change would lose {}", lost_text(&range));
                Err(Error::refused(self.path.display().to_string(), why))
            }
        }
    }

    /// Returns the first range of bytes other than zero that are after the first member, and in no
    /// member, descriptor or entry of the directory. There is none without a directory.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn unlisted(&self) -> Result<Option<Range<u64>>> {
        let Some(directory) = self.directory else {
            return Ok(None);
        };
        let mut end = self.prefix_len();
        let mut order: Vec<&Member> = self.members.iter().collect();
        order.sort_unstable_by_key(|member| member.offset);
        for member in order {
            if let Some(found) = self.non_zero(end..member.offset.min(directory))? {
                return Ok(Some(found));
            }
            // The bytes of a damaged member extend to the next one.
            let stop = match self.end_of(member) {
                Err(Error::Member { .. }) => member.limit,
                stop => stop?,
            };
            end = end.max(stop);
        }
        for gap in std::iter::once(end..directory).chain(self.unused.clone()) {
            if let Some(found) = self.non_zero(gap)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns the offset after the data of a member and their descriptor, if there is one.
    fn end_of(&self, member: &Member) -> Result<u64> {
        let end = self.data_offset(member)? + member.compressed;
        if u16_at(&self.local_header(member)?, 6) & HAS_DESCRIPTOR == 0 {
            return Ok(end);
        }
        let (crc, sizes) = (member.crc.to_le_bytes(), [member.compressed, member.size]);
        let short = sizes.iter().flat_map(|size| size.to_le_bytes()[..4].to_vec());
        let wide = sizes.iter().flat_map(|size| size.to_le_bytes());
        for sizes in [short.collect::<Vec<u8>>(), wide.collect()] {
            for magic in [&DESCRIPTOR_MAGIC[..], b""] {
                let wanted = [magic, &crc, &sizes].concat();
                let mut found = vec![0; wanted.len()];
                if member.limit - end >= wanted.len() as u64 {
                    self.read_member(member, &mut found, end)?;
                    if found == wanted {
                        return Ok(end + wanted.len() as u64);
                    }
                }
            }
        }
        Ok(end)
    }

    /// Returns the range without the zeros at its start; `None` if all bytes are zero.
    fn non_zero(&self, range: Range<u64>) -> Result<Option<Range<u64>>> {
        let mut buffer = vec![0; 1 << 16];
        let mut at = range.start;
        while at < range.end {
            let rest = usize::try_from(range.end - at).unwrap_or(usize::MAX);
            let piece = &mut buffer[..rest.min(1 << 16)];
            self.read_at(piece, at)?;
            if let Some(found) = piece.iter().position(|&byte| byte != 0) {
                return Ok(Some(at + found as u64..range.end));
            }
            at += piece.len() as u64;
        }
        Ok(None)
    }

    /// Returns the fields of a member that do not describe its data, to be written again.
    ///
    /// # Errors
    /// [`Error::Member`] if there is no local header; [`Error::Storage`].
    pub fn header_of(&self, member: &Member) -> Result<Header> {
        let local = self.local_header(member)?;
        let mut extra = vec![0; usize::from(u16_at(&local, 28))];
        let start = member.offset + LOCAL_LEN as u64 + u64::from(u16_at(&local, 26));
        self.read_member(member, &mut extra, start)?;
        Ok(Header {
            name: member.raw_name.clone(),
            description: member.description.clone(),
            local_extra: directory::other_fields(&extra),
        })
    }

    /// Returns the offset of a stored member's data in the file, in bytes.
    ///
    /// # Errors
    /// [`Error::Member`] if the member is encrypted or compressed, overlaps another one, or has no
    /// local header; [`Error::Storage`].
    pub fn data_offset(&self, member: &Member) -> Result<u64> {
        let invalid = |why: &str| Error::Member { name: member.name.clone(), why: why.to_owned() };
        if let Some(fault) = member.fault {
            return Err(invalid(&self.fault_text(member, fault)));
        }
        let local = self.local_header(member)?;
        let name_len = u64::from(u16_at(&local, 26));
        let start = member.offset + LOCAL_LEN as u64 + name_len + u64::from(u16_at(&local, 28));
        if start.checked_add(member.compressed).is_none_or(|end| end > member.limit) {
            return Err(invalid("its data reach into the next member or the directory"));
        }
        Ok(start)
    }

    fn fault_text(&self, member: &Member, fault: Fault) -> String {
        match fault {
            Fault::Encrypted => "it is encrypted".to_owned(),
            Fault::Method => format!("compression method {} is not supported", member.method),
            Fault::Sizes => {
                let (compressed, size) = (member.compressed, member.size);
                format!("it is not compressed, but has two sizes: {compressed} and {size} bytes")
            }
            Fault::OutOfBounds => "its data are out of bounds".to_owned(),
            Fault::Overlap(other) => {
                let mut name: String =
                    self.members[other].name.chars().take(MAX_SHOWN_NAME + 1).collect();
                if name.chars().count() > MAX_SHOWN_NAME {
                    name.pop();
                    name.push('…');
                }
                format!("it overlaps member {name:?}")
            }
        }
    }

    fn local_header(&self, member: &Member) -> Result<[u8; LOCAL_LEN]> {
        let mut local = [0; LOCAL_LEN];
        self.read_member(member, &mut local, member.offset)?;
        if local[..4] != *LOCAL_MAGIC {
            let why = "there is no local header at its offset".to_owned();
            return Err(Error::Member { name: member.name.clone(), why });
        }
        Ok(local)
    }

    /// Fills `dest` with the bytes of the file from `offset`.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn read_at(&self, dest: &mut [u8], offset: u64) -> Result<()> {
        files::read_exact_at(&self.file, offset, dest).map_err(Error::storage(&self.path))
    }

    /// As [`Archive::read_at`], for bytes of a member.
    ///
    /// # Errors
    /// [`Error::Member`] if the file ends before them; [`Error::Changed`]; [`Error::Storage`].
    fn read_member(&self, member: &Member, dest: &mut [u8], offset: u64) -> Result<()> {
        self.read_at(dest, offset).or_else(|error| {
            self.check_unchanged()?;
            let end = offset.checked_add(dest.len() as u64);
            if end.is_some_and(|end| end <= self.identity.1) {
                return Err(error);
            }
            let why = "the file ends before its data".to_owned();
            Err(Error::Member { name: member.name.clone(), why })
        })
    }

    /// Returns the first `len` bytes of a stored member, which must have that many.
    ///
    /// # Errors
    /// The errors of [`Archive::data_offset`].
    pub fn start_of(&self, member: &Member, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read_member(member, &mut bytes, self.data_offset(member)?)?;
        Ok(bytes)
    }

    /// Returns the content of a member, inflated if necessary, after comparing its CRC-32.
    ///
    /// # Errors
    /// [`Error::Limit`] if the content has more than `limit` bytes; [`Error::Member`] if it is
    /// damaged; [`Error::Storage`]; [`Error::Memory`].
    pub fn read(&self, member: &Member, limit: u64) -> Result<Vec<u8>> {
        let start = self.data_offset(member)?;
        member.check_size(limit)?;
        let (bytes, crc) = if member.is_stored() {
            // The data are inside the file, so that the allocation is bounded by its length.
            let len = usize::try_from(member.size).map_err(|_| Error::Memory)?;
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(len)?;
            bytes.resize(len, 0);
            self.read_member(member, &mut bytes, start)?;
            let crc = zlib_rs::crc32::crc32(0, &bytes);
            (bytes, crc)
        } else {
            let mut bytes = Vec::new();
            self.for_each_piece(member, |piece| {
                bytes.try_reserve(piece.len())?;
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
            return Ok(bytes);
        };
        check_crc(member, crc)?;
        Ok(bytes)
    }

    /// Returns the first `len` bytes of the content of a member, or all if it has fewer. The CRC-32
    /// is not compared.
    ///
    /// # Errors
    /// [`Error::Member`] if the member is damaged; [`Error::Storage`]; [`Error::Memory`].
    pub fn prefix(&self, member: &Member, len: usize) -> Result<Vec<u8>> {
        let start = self.data_offset(member)?;
        let len = usize::try_from(member.size).unwrap_or(usize::MAX).min(len);
        if member.is_stored() {
            return self.start_of(member, len);
        }
        let mut bytes = Vec::new();
        let read_at = |dest: &mut [u8], at| self.read_member(member, dest, start + at);
        inflate::inflate(member, read_at, |piece| {
            bytes.extend_from_slice(&piece[..piece.len().min(len - bytes.len())]);
            Ok(bytes.len() < len)
        })?;
        Ok(bytes)
    }

    /// Calls `write` with the content of a member, piece by piece, and compares its CRC-32 at the
    /// end.
    ///
    /// # Errors
    /// The errors of `write`; [`Error::Member`] if the member is damaged; [`Error::Storage`].
    pub fn for_each_piece(
        &self,
        member: &Member,
        mut write: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let start = self.data_offset(member)?;
        if !member.is_stored() {
            let read_at = |dest: &mut [u8], at| self.read_member(member, dest, start + at);
            let crc = inflate::inflate(member, read_at, |piece| {
                write(piece)?;
                Ok(true)
            })?;
            return crc.map_or(Ok(()), |crc| check_crc(member, crc));
        }
        let mut buffer = vec![0; 1 << 16];
        let (mut at, mut crc) = (0, 0);
        while at < member.size {
            let rest = usize::try_from(member.size - at).unwrap_or(usize::MAX);
            let piece = &mut buffer[..rest.min(1 << 16)];
            self.read_member(member, piece, start + at)?;
            crc = zlib_rs::crc32::crc32(crc, piece);
            write(piece)?;
            at += piece.len() as u64;
        }
        check_crc(member, crc)
    }

    /// Compares the CRC-32 of a member, one buffer at a time.
    ///
    /// # Errors
    /// [`Error::Member`]; [`Error::Storage`].
    pub fn check_content(&self, member: &Member) -> Result<()> {
        self.for_each_piece(member, |_| Ok(()))
    }

    /// Compares the local header of a member with the directory: name, method and sizes.
    ///
    /// # Errors
    /// [`Error::Member`]; [`Error::Storage`].
    pub fn check_local_header(&self, member: &Member) -> Result<()> {
        self.data_offset(member)?;
        let local = self.local_header(member)?;
        let mut name = vec![0; usize::from(u16_at(&local, 26))];
        self.read_member(member, &mut name, member.offset + LOCAL_LEN as u64)?;
        let has_descriptor = u16_at(&local, 6) & HAS_DESCRIPTOR != 0;
        let is_size = |at, size: u64| {
            // Sizes of 32 bits that do not fit are in the extra field; descriptors follow the data.
            let stored = u64::from(u32_at(&local, at));
            stored == size || stored == u64::from(u32::MAX) || (has_descriptor && stored == 0)
        };
        let differing = if name != member.raw_name {
            "name"
        } else if u16_at(&local, 8) != member.method {
            "method"
        } else if !is_size(18, member.compressed) || !is_size(22, member.size) {
            "size"
        } else {
            return Ok(());
        };
        let why = format!("its {differing} in the local header differs from the directory");
        Err(Error::Member { name: member.name.clone(), why })
    }
}

/// Describes bytes that are lost in a copy.
pub fn lost_text(range: &Range<u64>) -> String {
    let Range { start, end } = range;
    format!("the bytes from {start} to {end} of the zip file, which are in no member")
}

fn check_crc(member: &Member, crc: u32) -> Result<()> {
    if crc == member.crc {
        return Ok(());
    }
    let why = format!("its CRC-32 is {crc:08x}, not {:08x} as recorded", member.crc);
    Err(Error::Member { name: member.name.clone(), why })
}
