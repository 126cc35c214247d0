//! The directory of a zip file: names, sizes and offsets of the members.

use std::fs::File;
use std::path::Path;

use ferroblosc::os::files;

use super::super::error::{Error, Result};
use super::super::limits::{MAX_DIRECTORY, MAX_MEMBERS};
use super::end::End;
use super::format::{
    DEFLATED, ENCRYPTED, ENTRY_MAGIC, LOCAL_LEN, STORED, UTF8, ZIP64_EXTRA, u16_at, u32_at, u64_at,
    zip_error,
};

const ENTRY_LEN: usize = 46;

/// A member of a zip file.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name, with replacements for bytes that are not UTF-8.
    pub name: String,
    /// The bytes of the name.
    pub(super) raw_name: Vec<u8>,
    /// The uncompressed size, in bytes.
    pub size: u64,
    /// The stored size, in bytes.
    pub(super) compressed: u64,
    /// The CRC-32 of the uncompressed bytes.
    pub(super) crc: u32,
    /// The compression method.
    pub(super) method: u16,
    /// The offset of the local header in the file, in bytes.
    pub(super) offset: u64,
    /// The start of the next member or of the directory, which bounds the data.
    pub(super) limit: u64,
    /// The reason why the member is unusable, if it is.
    pub(super) fault: Option<Fault>,
    /// The fields of the directory that do not describe the data.
    pub(super) description: Description,
}

/// The fields of an entry of the directory that do not describe the data of the member.
#[derive(Clone, Debug, Default)]
pub(super) struct Description {
    /// The system that wrote the member, and the version of the format.
    pub made_by: u16,
    /// Whether the name is in UTF-8.
    pub is_utf8: bool,
    /// The time and the date, as in the file.
    pub time: [u8; 4],
    pub internal: u16,
    /// The permissions and the type of the file.
    pub external: u32,
    /// The extra fields besides the sizes of 64 bits.
    pub extra: Vec<u8>,
    pub comment: Vec<u8>,
}

/// The reason why a member is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is encrypted.
    Encrypted,
    /// Its compression method is not supported.
    Method,
    /// It is not compressed, but has two sizes.
    Sizes,
    /// Its data are out of bounds.
    OutOfBounds,
    /// It overlaps the member of this number.
    Overlap(usize),
}

impl Member {
    /// Checks that the content has at most `limit` bytes.
    ///
    /// # Errors
    /// [`Error::Limit`]
    pub fn check_size(&self, limit: u64) -> Result<()> {
        if self.size <= limit {
            return Ok(());
        }
        let what = format!("member {:?} has {} bytes", self.name, self.size);
        Err(Error::Limit { what, limit })
    }

    /// Returns the stored size, in bytes.
    pub fn stored_size(&self) -> u64 {
        self.compressed
    }

    /// Whether the data are stored without compression, so that they can be read in place.
    pub fn is_stored(&self) -> bool {
        self.method == STORED
    }
}

/// Reads the directory. Also returns the number of bytes after its entries.
pub fn read(path: &Path, file: &File, end: &End) -> Result<(Vec<Member>, u64)> {
    // The directory is inside the file, which can be sparse.
    if end.size > MAX_DIRECTORY {
        let what = format!("{}: the directory has {} bytes", path.display(), end.size);
        return Err(Error::Limit { what, limit: MAX_DIRECTORY });
    }
    let size = usize::try_from(end.size).map_err(|_| Error::Memory)?;
    if end.entries > MAX_MEMBERS {
        let what = format!("{}: there are {} members", path.display(), end.entries);
        return Err(Error::Limit { what, limit: MAX_MEMBERS });
    }
    if end.entries > end.size / ENTRY_LEN as u64 {
        let why = "the zip file is damaged: its directory is too short for its entries";
        return Err(zip_error(path, why));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size)?;
    bytes.resize(size, 0);
    files::read_exact_at(file, end.at, &mut bytes).map_err(Error::storage(path))?;
    let mut members = Vec::new();
    members.try_reserve_exact(usize::try_from(end.entries).map_err(|_| Error::Memory)?)?;
    let mut rest = &bytes[..];
    // The number of entries has 16 bits without zip64, and some writers truncate it: the directory
    // determines them, as in other readers.
    while (members.len() as u64) < end.entries || rest.starts_with(ENTRY_MAGIC) {
        let number = members.len();
        if number as u64 == MAX_MEMBERS {
            let what = format!("{}: there are too many members", path.display());
            return Err(Error::Limit { what, limit: MAX_MEMBERS });
        }
        let (member, len) = parse(rest, end).ok_or_else(|| {
            zip_error(path, format!("the zip file is damaged: directory entry {number} is invalid"))
        })?;
        members.try_reserve(1)?;
        members.push(member);
        rest = &rest[len..];
    }
    mark_overlaps(&mut members, end.at);
    Ok((members, rest.len() as u64))
}

/// Parses an entry; returns the member and the length of the entry.
fn parse(bytes: &[u8], end: &End) -> Option<(Member, usize)> {
    if bytes.len() < ENTRY_LEN || !bytes.starts_with(ENTRY_MAGIC) {
        return None;
    }
    let name_len = usize::from(u16_at(bytes, 28));
    let extra_len = usize::from(u16_at(bytes, 30));
    let len = ENTRY_LEN + name_len + extra_len + usize::from(u16_at(bytes, 32));
    if bytes.len() < len {
        return None;
    }
    let raw_name = &bytes[ENTRY_LEN..][..name_len];
    let extra = &bytes[ENTRY_LEN + name_len..][..extra_len];
    let mut wide = zip64_field(extra)?;
    // Fields of 32 bits with the maximum value are in the extra field, in this order.
    let mut size_at = |at| match u32_at(bytes, at) {
        u32::MAX if wide.len() >= 8 => {
            let value = u64_at(wide, 0);
            wide = &wide[8..];
            value
        }
        value => u64::from(value),
    };
    let (size, compressed, offset) = (size_at(24), size_at(20), size_at(42));
    let (flags, method) = (u16_at(bytes, 8), u16_at(bytes, 10));
    let fault = if flags & ENCRYPTED != 0 {
        Some(Fault::Encrypted)
    } else if method != STORED && method != DEFLATED {
        Some(Fault::Method)
    } else if method == STORED && size != compressed {
        Some(Fault::Sizes)
    } else {
        None
    };
    let name = name_of(raw_name, flags & UTF8 != 0);
    let description = Description {
        made_by: u16_at(bytes, 4),
        is_utf8: flags & UTF8 != 0,
        time: [bytes[12], bytes[13], bytes[14], bytes[15]],
        internal: u16_at(bytes, 36),
        external: u32_at(bytes, 38),
        extra: other_fields(extra),
        comment: bytes[ENTRY_LEN + name_len + extra_len..len].to_vec(),
    };
    let member = Member {
        name,
        raw_name: raw_name.to_vec(),
        size,
        compressed,
        crc: u32_at(bytes, 16),
        method,
        offset: offset.checked_add(end.prefix)?,
        limit: end.at,
        fault,
        description,
    };
    Some((member, len))
}

/// Returns the text of a name.
pub(super) fn name_of(raw_name: &[u8], is_utf8: bool) -> String {
    if is_utf8 {
        String::from_utf8_lossy(raw_name).into_owned()
    } else {
        raw_name.iter().map(|&byte| cp437(byte)).collect()
    }
}

/// Returns the content of the zip64 field; it is empty if there is none.
pub(super) fn zip64_field(mut extra: &[u8]) -> Option<&[u8]> {
    while extra.len() >= 4 {
        let len = usize::from(u16_at(extra, 2));
        let content = extra.get(4..4 + len)?;
        if u16_at(extra, 0) == ZIP64_EXTRA {
            return Some(content);
        }
        extra = &extra[4 + len..];
    }
    Some(&[])
}

/// Returns the extra fields without those of sizes of 64 bits.
pub(super) fn other_fields(mut extra: &[u8]) -> Vec<u8> {
    let mut others = Vec::new();
    while extra.len() >= 4 {
        let len = (4 + usize::from(u16_at(extra, 2))).min(extra.len());
        if u16_at(extra, 0) != ZIP64_EXTRA {
            others.extend_from_slice(&extra[..len]);
        }
        extra = &extra[len..];
    }
    others.extend_from_slice(extra);
    others
}

/// Sets the bound of each member, and marks members that overlap or are out of bounds.
fn mark_overlaps(members: &mut [Member], directory: u64) {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_unstable_by_key(|&number| members[number].offset);
    let mut last: Option<(usize, u64)> = None;
    for number in order {
        let Member { offset, compressed, .. } = members[number];
        let end = offset.checked_add(LOCAL_LEN as u64).and_then(|at| at.checked_add(compressed));
        let end = end.filter(|&end| end <= directory);
        let Some(end) = end else {
            members[number].fault = Some(Fault::OutOfBounds);
            continue;
        };
        match last {
            Some((previous, limit)) if offset < limit => {
                members[previous].fault = Some(Fault::Overlap(number));
                members[number].fault = Some(Fault::Overlap(previous));
            }
            Some((previous, _)) => members[previous].limit = offset,
            None => {}
        }
        if last.is_none_or(|(_, limit)| end > limit) {
            last = Some((number, end));
        }
    }
}

/// Returns the character of code page 437.
fn cp437(byte: u8) -> char {
    const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
    match byte.checked_sub(0x80) {
        Some(at) => UPPER.chars().nth(usize::from(at)).unwrap_or(char::REPLACEMENT_CHARACTER),
        None => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_page_has_all_characters() {
        let text: String = (0..=255).map(cp437).collect();
        assert_eq!(text.chars().count(), 256);
        assert_eq!((cp437(0x81), cp437(0xe1), cp437(0xff)), ('ü', 'ß', '\u{a0}'));
        assert!(!text.contains(char::REPLACEMENT_CHARACTER));
    }
}
