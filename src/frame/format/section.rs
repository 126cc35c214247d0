//! Named byte strings, as stored in headers and trailers.
//!
//! ```text
//!  93 cd size     an array of 3; size of the map
//!  de N           a map:    N × (a0|length, name, d2, offset)
//!  dc N           an array: N × (c6, length, content)
//! ```
//! `size` and `N` have 16 bits; offsets and lengths of contents have 32 bits; all are big endian.
//! An offset is the distance of a content's `c6` from the first byte of the header or trailer.
//! Readers locate the contents by these offsets alone and ignore the rest of the array. (Source:
//! the C-Blosc2 frame format.)

use super::description::{MAX_NAME_LEN, Metalayer};
use crate::buffer::copied_to_vec;
use crate::{Error, Result};

/// Returns the `N` bytes at `at`; zeros if `bytes` ends before them.
pub fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.copied().unwrap_or([0; N])
}

/// Reads a big-endian number.
pub fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(bytes_at(bytes, at))
}

pub fn i64_at(bytes: &[u8], at: usize) -> i64 {
    i64::from_be_bytes(bytes_at(bytes, at))
}

pub fn i16_at(bytes: &[u8], at: usize) -> i16 {
    i16::from_be_bytes(bytes_at(bytes, at))
}

/// A name and its content.
pub type Named<'a> = (&'a [u8], &'a [u8]);

/// The size of a section without names, in bytes.
pub const EMPTY_LEN: usize = 10;
/// The size of the array marker, the map size, and the marker and count of the map, in bytes.
const HEAD_LEN: usize = 7;
/// The size of the marker and count of the array of contents, in bytes.
const ARRAY_HEAD: usize = 3;
/// The size of a map entry without its name, in bytes.
const ENTRY_LEN: usize = 6;
/// The size of the marker and length before a content, in bytes.
const CONTENT_HEAD: usize = 5;

const ARRAY_OF_3: u8 = 0x93;
const UINT16: u8 = 0xcd;
const MAP16: u8 = 0xde;
const ARRAY16: u8 = 0xdc;
const SHORT_STRING: u8 = 0xa0;
const SHORT_STRING_MASK: u8 = 0xe0;
const INT32: u8 = 0xd2;
pub const BIN32: u8 = 0xc6;

/// Returns the size of a section with these names, in bytes.
///
/// # Errors
/// [`Error::InvalidParam`] for more than `most` names, a name that is too long, or more bytes than
/// an offset can address.
pub fn built_len(named: &[Named<'_>], most: usize) -> Result<usize> {
    if named.len() > most || named.iter().any(|(name, _)| name.len() > MAX_NAME_LEN) {
        return Err(Error::InvalidParam);
    }
    named
        .iter()
        .try_fold(EMPTY_LEN, |len, (name, content)| {
            len.checked_add(ENTRY_LEN + name.len() + CONTENT_HEAD)?.checked_add(content.len())
        })
        .filter(|&len| i32::try_from(len).is_ok())
        .ok_or(Error::InvalidParam)
}

/// Passes the bytes of a section that begins at offset `start` to `put`, in order. The caller has
/// validated the names with [`built_len`]. `size_of_none` is the size of an empty map, which
/// headers and trailers count differently.
pub fn write(mut put: impl FnMut(&[u8]), start: usize, named: &[Named<'_>], size_of_none: usize) {
    let entries: usize = named.iter().map(|(name, _)| name.len() + ENTRY_LEN).sum();
    // Readers ignore this size, so thousands of names may exceed its range.
    let size = u16::try_from(size_of_none + entries).unwrap_or(u16::MAX);
    let count = (named.len() as u16).to_be_bytes();
    put(&[ARRAY_OF_3, UINT16]);
    put(&size.to_be_bytes());
    put(&[MAP16]);
    put(&count);
    let mut position = start + HEAD_LEN + entries + ARRAY_HEAD;
    for (name, content) in named {
        put(&[SHORT_STRING | name.len() as u8]);
        put(name);
        put(&[INT32]);
        put(&(position as i32).to_be_bytes());
        position += CONTENT_HEAD + content.len();
    }
    put(&[ARRAY16]);
    put(&count);
    for (_, content) in named {
        put(&[BIN32]);
        put(&(content.len() as i32).to_be_bytes());
        put(content);
    }
}

/// Parses the names and contents of a section whose map begins at offset `map_at` of the header or
/// trailer `bytes`.
///
/// # Errors
/// [`Error::Data`] for more than `most` names, invalid markers and offsets, and contents that
/// overlap; [`Error::ReadBuffer`] for a section that exceeds `bytes`.
pub fn parse(bytes: &[u8], map_at: usize, most: usize) -> Result<Vec<Metalayer>> {
    let map = bytes.get(map_at..).ok_or(Error::ReadBuffer)?;
    let &[marker, high, low, ref entries @ ..] = map else {
        return Err(Error::ReadBuffer);
    };
    let count = usize::from(u16::from_be_bytes([high, low]));
    if marker != MAP16 || count > most {
        return Err(Error::Data);
    }
    let mut entries = entries;
    let mut metalayers = Vec::new();
    metalayers.try_reserve_exact(count.min(entries.len() / ENTRY_LEN))?;
    // Overlapping contents could need far more memory than the section has bytes.
    let mut left = bytes.len();
    for _ in 0..count {
        let (name, position) = split_entry(&mut entries)?;
        let content = content_at(bytes, position)?;
        left = left.checked_sub(content.len()).ok_or(Error::Data)?;
        metalayers.push(Metalayer { name: copied_to_vec(name)?, content: copied_to_vec(content)? });
    }
    Ok(metalayers)
}

/// Splits the next name and offset off the map.
fn split_entry<'a>(entries: &mut &'a [u8]) -> Result<(&'a [u8], i32)> {
    let head = entries.split_off_first().ok_or(Error::ReadBuffer)?;
    if head & SHORT_STRING_MASK != SHORT_STRING {
        return Err(Error::Data);
    }
    let name_len = usize::from(head & !SHORT_STRING_MASK);
    let name = entries.split_off(..name_len).ok_or(Error::ReadBuffer)?;
    let &[marker, ref position @ ..] =
        entries.split_off(..ENTRY_LEN - 1).ok_or(Error::ReadBuffer)?
    else {
        return Err(Error::ReadBuffer);
    };
    if marker != INT32 {
        return Err(Error::Data);
    }
    Ok((name, i32_at(position, 0)))
}

/// Returns the content at an offset.
pub fn content_at(bytes: &[u8], position: i32) -> Result<&[u8]> {
    let found = usize::try_from(position)
        .ok()
        .and_then(|position| bytes.get(position..))
        .filter(|found| !found.is_empty())
        .ok_or(Error::Data)?;
    let (head, content) = found.split_at_checked(CONTENT_HEAD).ok_or(Error::ReadBuffer)?;
    if head[0] != BIN32 {
        return Err(Error::Data);
    }
    let len = usize::try_from(i32_at(head, 1)).map_err(|_| Error::Data)?;
    content.get(..len).ok_or(Error::ReadBuffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::format::{MAX_METALAYERS, MAX_VLMETALAYERS};
    use crate::frame::format::{header, trailer, vectors};

    /// The offset of the metalayers' map in the header of [`vectors::TINY`], which has one named
    /// `m`.
    const MAP_AT: usize = 91;

    fn tiny() -> Vec<u8> {
        vectors::bytes(vectors::TINY)[..112].to_vec()
    }

    fn changed(at: usize, bytes: &[u8]) -> Result<Vec<Metalayer>> {
        let mut header = tiny();
        header[at..at + bytes.len()].copy_from_slice(bytes);
        header::parse_metalayers(&header)
    }

    #[test]
    fn invalid_sections_are_rejected() {
        let position_at = MAP_AT + 6;
        let content_at = 0x68;
        let data: [(usize, &[u8]); 8] = [
            (MAP_AT, &[0x80]),
            (MAP_AT + 1, &[0, 17]),
            (MAP_AT + 3, &[0xc1]),
            (MAP_AT + 5, &[0xd3]),
            (position_at, &(-1i32).to_be_bytes()),
            (position_at, &112u32.to_be_bytes()),
            (content_at, &[0xc5]),
            (content_at + 1, &(-1i32).to_be_bytes()),
        ];
        for (at, bytes) in data {
            assert_eq!(changed(at, bytes), Err(Error::Data), "{bytes:?} at {at}");
        }
        let beyond: [(usize, &[u8]); 4] = [
            (position_at, &108u32.to_be_bytes()),
            (content_at + 1, &4u32.to_be_bytes()),
            (content_at + 1, &i32::MAX.to_be_bytes()),
            (MAP_AT + 3, &[0xbf]),
        ];
        for (at, bytes) in beyond {
            assert_eq!(changed(at, bytes), Err(Error::ReadBuffer), "{bytes:?} at {at}");
        }
    }

    #[test]
    fn row_f12_harmless_errors_in_a_section_are_accepted() {
        let honest = header::parse_metalayers(&tiny());
        assert_eq!(honest.as_ref().map(Vec::len), Ok(1));
        // The array and its size, and the array of contents.
        let lies: [(usize, &[u8]); 3] = [(87, &[0; 4]), (0x65, &[0; 3]), (0x65, &[0xff; 3])];
        for (at, bytes) in lies {
            assert_eq!(changed(at, bytes), honest, "{bytes:?} at {at}");
        }
        assert_eq!(changed(MAP_AT + 1, &[0, 0]), Ok(Vec::new()));
    }

    #[test]
    fn names_may_be_empty_equal_or_contain_a_nul() {
        let named: [Named<'_>; 4] = [(b"", b"1"), (b"a\0b", b"2"), (b"x", b""), (b"x", b"4")];
        let bytes = trailer::build(&named, None).unwrap();
        let found = trailer::parse(&bytes).unwrap();
        let found: Vec<Named<'_>> =
            found.iter().map(|metalayer| (&metalayer.name[..], &metalayer.content[..])).collect();
        assert_eq!(found, named);
    }

    #[test]
    fn overlapping_contents_use_no_more_memory_than_the_section_has_bytes() {
        // Sixteen names of one content of 1000 bytes.
        let contents = [(&b"a"[..], &[7; 1000][..]); MAX_METALAYERS];
        let mut bytes = trailer::build(&contents, None).unwrap();
        let entries_at = 9;
        let first: [u8; 7] = bytes[entries_at + 1..entries_at + 8].try_into().unwrap();
        for entry in 1..MAX_METALAYERS {
            let at = entries_at + entry * (ENTRY_LEN + 1) + 1;
            bytes[at..at + 6].copy_from_slice(&first[..6]);
        }
        assert!(trailer::parse(&bytes).is_ok());
        let short = bytes[..1200].to_vec();
        assert_eq!(trailer::parse(&short), Err(Error::Data));
    }

    #[test]
    fn row_f5_a_trailer_holds_more_metalayers_than_a_header() {
        let some = [(&b"name"[..], &b"content"[..]); MAX_METALAYERS + 1];
        let trailer = trailer::build(&some, None).unwrap();
        assert_eq!(trailer::parse(&trailer).unwrap().len(), some.len());
        assert_eq!(built_len(&some, MAX_METALAYERS), Err(Error::InvalidParam));
        let most = vec![some[0]; MAX_VLMETALAYERS];
        let trailer = trailer::build(&most, None).unwrap();
        assert_eq!(trailer::parse(&trailer).unwrap().len(), most.len());
        let too_many = vec![some[0]; MAX_VLMETALAYERS + 1];
        assert_eq!(trailer::build(&too_many, None), Err(Error::InvalidParam));
    }

    #[test]
    fn row_f23_overlong_names_are_rejected_when_writing() {
        let longest = [b'n'; MAX_NAME_LEN];
        assert!(trailer::build(&[(&longest, b"")], None).is_ok());
        let too_long = [b'n'; MAX_NAME_LEN + 1];
        assert_eq!(trailer::build(&[(&too_long, b"")], None), Err(Error::InvalidParam));
    }
}
