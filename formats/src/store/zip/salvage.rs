//! Members of a zip file without a usable directory, found by their local headers.

use std::fs::File;
use std::path::Path;

use ferroblosc::os::files;

use ferroblosc::frame::{FIXED_HEADER_LEN, has_magic, header};

use super::super::error::{Error, Result};
use super::super::limits::{MAX_KEY_LEN, MAX_MEMBERS};
use super::directory::{Description, Member, name_of, zip64_field};
use super::format::{
    DEFLATED, ENCRYPTED, HAS_DESCRIPTOR, LOCAL_LEN, LOCAL_MAGIC, STORED, UTF8, u16_at, u32_at,
    u64_at,
};

/// The size of the buffer to search headers, in bytes.
const BUFFER_SIZE: usize = 1 << 20;

/// The maximum number of members that cannot be used and are described.
const MAX_LOST: usize = 1000;

/// Returns the complete members, and descriptions of the others.
pub fn members(path: &Path, file: &File, len: u64) -> Result<(Vec<Member>, Vec<String>)> {
    let (mut members, mut lost): (Vec<Member>, Vec<String>) = (Vec::new(), Vec::new());
    let mut undescribed = 0u64;
    let mut search = Search { path, file, len, buffer: vec![0; BUFFER_SIZE], start: 0, filled: 0 };
    let mut at = 0;
    while let Some(start) = search.next_header(at)? {
        if members.len() as u64 == MAX_MEMBERS {
            let what = format!("{}: there are too many members", path.display());
            return Err(Error::Limit { what, limit: MAX_MEMBERS });
        }
        at = match parse(path, file, start, len)? {
            Parsed::Member(member) => {
                let end = member.limit;
                members.push(member);
                end
            }
            Parsed::Lost(name, why) => {
                if lost.len() < MAX_LOST {
                    lost.push(format!("member {name:?}: {why}"));
                } else {
                    undescribed += 1;
                }
                start + LOCAL_MAGIC.len() as u64
            }
            Parsed::NoMember => start + LOCAL_MAGIC.len() as u64,
        };
    }
    if undescribed > 0 {
        lost.push(format!("{undescribed} more members that cannot be used"));
    }
    Ok((members, lost))
}

/// The search for local headers, with one buffer for neighbouring ones.
struct Search<'f> {
    path: &'f Path,
    file: &'f File,
    /// The length of the file.
    len: u64,
    buffer: Vec<u8>,
    /// The offset of the buffered bytes in the file.
    start: u64,
    /// The number of buffered bytes.
    filled: usize,
}

impl Search<'_> {
    /// Returns the offset of the next magic of a local header at or after `at`.
    fn next_header(&mut self, mut at: u64) -> Result<Option<u64>> {
        let magic = LOCAL_MAGIC.len();
        while at.checked_add(LOCAL_LEN as u64).is_some_and(|end| end <= self.len) {
            let buffered = self.start..self.start + self.filled as u64;
            if !buffered.contains(&at) || buffered.end - at < magic as u64 {
                let rest = usize::try_from(self.len - at).unwrap_or(usize::MAX).min(BUFFER_SIZE);
                let bytes = &mut self.buffer[..rest];
                self.filled = 0;
                files::read_exact_at(self.file, at, bytes).map_err(Error::storage(self.path))?;
                (self.start, self.filled) = (at, rest);
            }
            // The offset is in the buffer.
            let skipped = (at - self.start) as usize;
            let bytes = &self.buffer[skipped..self.filled];
            if let Some(found) = bytes.windows(magic).position(|window| window == LOCAL_MAGIC) {
                return Ok(Some(at + found as u64));
            }
            at += (bytes.len() - magic + 1) as u64;
        }
        Ok(None)
    }
}

enum Parsed {
    Member(Member),
    /// A name, and the reason why the member is unusable.
    Lost(String, &'static str),
    /// The bytes are not a local header.
    NoMember,
}

fn parse(path: &Path, file: &File, start: u64, len: u64) -> Result<Parsed> {
    let read = |at: u64, size: usize| -> Result<Option<Vec<u8>>> {
        if at.checked_add(size as u64).is_none_or(|end| end > len) {
            return Ok(None);
        }
        let mut bytes = vec![0; size];
        files::read_exact_at(file, at, &mut bytes).map_err(Error::storage(path))?;
        Ok(Some(bytes))
    };
    let Some(local) = read(start, LOCAL_LEN)? else {
        return Ok(Parsed::NoMember);
    };
    let (flags, method) = (u16_at(&local, 6), u16_at(&local, 8));
    let (name_len, extra_len) = (usize::from(u16_at(&local, 26)), usize::from(u16_at(&local, 28)));
    if !matches!(method, STORED | DEFLATED) || name_len == 0 || name_len > MAX_KEY_LEN {
        return Ok(Parsed::NoMember);
    }
    let Some(named) = read(start + LOCAL_LEN as u64, name_len + extra_len)? else {
        return Ok(Parsed::NoMember);
    };
    let (raw_name, extra) = named.split_at(name_len);
    let name = name_of(raw_name, flags & UTF8 != 0);
    if flags & ENCRYPTED != 0 {
        return Ok(Parsed::Lost(name, "it is encrypted"));
    }
    let data = start + (LOCAL_LEN + name_len + extra_len) as u64;
    let mut sizes = [u64::from(u32_at(&local, 22)), u64::from(u32_at(&local, 18))];
    if sizes.contains(&u64::from(u32::MAX)) {
        let mut wide = zip64_field(extra).unwrap_or_default();
        for size in sizes.iter_mut().filter(|size| **size == u64::from(u32::MAX)) {
            if wide.len() < 8 {
                return Ok(Parsed::Lost(name, "its size is unknown"));
            }
            *size = u64_at(wide, 0);
            wide = &wide[8..];
        }
    }
    let [mut size, mut compressed] = sizes;
    let mut crc = u32_at(&local, 14);
    if flags & HAS_DESCRIPTOR != 0 && compressed == 0 {
        // The sizes follow the data, so that only frames have a known end.
        let fixed = read(data, FIXED_HEADER_LEN)?.filter(|bytes| has_magic(bytes));
        let fixed: Option<[u8; FIXED_HEADER_LEN]> = fixed.and_then(|bytes| bytes.try_into().ok());
        let Some(fixed) = fixed.filter(|_| method == STORED) else {
            return Ok(Parsed::Lost(name, "its size is unknown"));
        };
        size = header::frame_len(&fixed);
        compressed = size;
        crc = 0;
        let Some(end) = data.checked_add(size).filter(|&end| end <= len) else {
            return Ok(Parsed::Lost(name, "its data are truncated"));
        };
        let mut at = data;
        while at < end {
            let rest = usize::try_from(end - at).unwrap_or(usize::MAX).min(BUFFER_SIZE);
            let Some(bytes) = read(at, rest)? else { break };
            crc = zlib_rs::crc32::crc32(crc, &bytes);
            at += rest as u64;
        }
    }
    if method == STORED && size != compressed {
        return Ok(Parsed::Lost(name, "it is not compressed, but has two sizes"));
    }
    let Some(limit) = data.checked_add(compressed).filter(|&end| end <= len) else {
        return Ok(Parsed::Lost(name, "its data are truncated"));
    };
    let raw_name = raw_name.to_vec();
    Ok(Parsed::Member(Member {
        name,
        raw_name,
        size,
        compressed,
        crc,
        method,
        offset: start,
        limit,
        fault: None,
        description: Description::default(),
    }))
}
