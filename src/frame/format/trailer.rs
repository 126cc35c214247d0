//! The trailer of a frame: the variable-length metalayers and a fingerprint.
//!
//! ```text
//!  0  94 01                       an array of 4; the version of the trailer
//!  2  the section, see `section.rs`; each content is a chunk that holds the value
//!     ce trailer_len              32 bits, big endian
//!     d8 kind fingerprint[16]     kind 0 and zeros: none; kind 3: 128 bits
//! ```
//! A trailer is located from its end: the last 25 bytes have the same layout in every frame.
//! (Source: the C-Blosc2 frame format.)

use super::description::{MAX_VLMETALAYERS, Metalayer};
use super::header::{FIXED_LEN, MIN_TRAILER_LEN};
use super::section::{self, Named, i32_at};
use crate::{Error, Result};

/// The size in bytes of the end of a trailer, whose layout is the same in every frame. A shorter
/// trailer is rejected.
pub const TAIL_LEN: usize = MIN_TRAILER_LEN;
/// The size of a trailer without metalayers, in bytes.
pub const EMPTY_LEN: usize = HEAD.len() + section::EMPTY_LEN + END_LEN;
/// The size of a fingerprint, in bytes.
pub const FINGERPRINT_LEN: usize = 16;

const HEAD: [u8; 2] = [0x94, 0x01];
/// The offset of the section's map.
const MAP_AT: usize = 6;
/// The size of an empty map as counted in trailers: from the marker of the size to the end of the
/// map.
const SIZE_OF_NONE: usize = 6;
/// The size of the fields after the section, in bytes.
const END_LEN: usize = 23;
const UINT32: u8 = 0xce;
const EXT16: u8 = 0xd8;
/// No fingerprint.
const KIND_NONE: u8 = 0;
/// A fingerprint of 128 bits.
const KIND_128: u8 = 3;

/// Returns the size in bytes of the trailer of a frame of `frame_len` bytes that ends with `tail`.
///
/// # Errors
/// [`Error::InvalidHeader`] if `tail` is not the end of a frame.
pub fn trailer_len(tail: &[u8; TAIL_LEN], frame_len: u64) -> Result<u32> {
    let end = &tail[TAIL_LEN - END_LEN..];
    let len = u32::try_from(i32_at(end, 1)).map_err(|_| Error::InvalidHeader)?;
    let is_sound = end[0] == UINT32
        && len as usize >= TAIL_LEN
        && frame_len.checked_sub(FIXED_LEN as u64).is_some_and(|most| u64::from(len) <= most);
    if is_sound { Ok(len) } else { Err(Error::InvalidHeader) }
}

/// Parses the variable-length metalayers of a whole trailer. Contents are returned as stored: the
/// chunks that hold the values.
///
/// # Errors
/// [`Error::Data`] for more than [`MAX_VLMETALAYERS`], for invalid markers and offsets, and for
/// contents that overlap; [`Error::ReadBuffer`] for contents beyond the trailer.
pub fn parse(trailer: &[u8]) -> Result<Vec<Metalayer>> {
    section::parse(trailer, MAP_AT, MAX_VLMETALAYERS)
}

/// Builds the trailer with these metalayers, each a name and the chunk that holds its value.
///
/// # Errors
/// [`Error::InvalidParam`] for more metalayers, longer names or more bytes than a trailer can hold;
/// [`Error::MemoryAlloc`].
pub fn build(
    vlmetalayers: &[Named<'_>],
    fingerprint: Option<[u8; FINGERPRINT_LEN]>,
) -> Result<Vec<u8>> {
    let len = built_len(vlmetalayers)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len)?;
    write(|part| bytes.extend_from_slice(part), vlmetalayers, len, fingerprint);
    Ok(bytes)
}

/// Whether [`build`] would return `trailer` for these metalayers without a fingerprint. Compares
/// without copying.
pub fn is_of(trailer: &[u8], vlmetalayers: &[Named<'_>]) -> bool {
    if built_len(vlmetalayers) != Ok(trailer.len()) {
        return false;
    }
    let mut rest = Some(trailer);
    write(
        |part| rest = rest.and_then(|rest| rest.strip_prefix(part)),
        vlmetalayers,
        trailer.len(),
        None,
    );
    rest.is_some()
}

fn built_len(vlmetalayers: &[Named<'_>]) -> Result<usize> {
    let section = section::built_len(vlmetalayers, MAX_VLMETALAYERS)?;
    section
        .checked_add(HEAD.len() + END_LEN)
        .filter(|&len| i32::try_from(len).is_ok())
        .ok_or(Error::InvalidParam)
}

/// Passes the bytes of a trailer of `len` bytes to `put`, in order.
fn write(
    mut put: impl FnMut(&[u8]),
    vlmetalayers: &[Named<'_>],
    len: usize,
    fingerprint: Option<[u8; FINGERPRINT_LEN]>,
) {
    put(&HEAD);
    section::write(&mut put, HEAD.len(), vlmetalayers, SIZE_OF_NONE);
    put(&[UINT32]);
    put(&(len as i32).to_be_bytes());
    put(&[EXT16]);
    put(&[fingerprint.map_or(KIND_NONE, |_| KIND_128)]);
    put(&fingerprint.unwrap_or_default());
}

/// Returns the 128-bit fingerprint of a trailer, if it has one.
pub fn fingerprint(trailer: &[u8]) -> Option<[u8; FINGERPRINT_LEN]> {
    let (rest, fingerprint) = trailer.split_last_chunk()?;
    (rest.last() == Some(&KIND_128)).then_some(*fingerprint)
}

/// Marks a trailer as having a 128-bit fingerprint; the caller fills it in.
///
/// # Errors
/// [`Error::InvalidParam`] if the trailer has no fingerprint field.
pub fn reserve_fingerprint(trailer: &mut [u8]) -> Result<()> {
    let kind = trailer.len().checked_sub(FINGERPRINT_LEN + 1).ok_or(Error::InvalidParam)?;
    trailer[kind] = KIND_128;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::format::vectors;

    #[test]
    fn a_trailer_is_recognized_by_its_metalayers() {
        let layers: [Named<'_>; 2] = [(b"a", b"content"), (b"bc", b"")];
        let built = build(&layers, None).unwrap();
        assert!(is_of(&built, &layers));
        assert!(is_of(&build(&[], None).unwrap(), &[]));
        let others: [[Named<'_>; 2]; 3] = [
            [(b"a", b"contenT"), (b"bc", b"")],
            [(b"a", b"content"), (b"bd", b"")],
            [(b"ab", b"content"), (b"c", b"")],
        ];
        for other in others {
            assert!(!is_of(&built, &other), "{other:?}");
        }
        assert!(!is_of(&built, &layers[..1]));
        assert!(!is_of(&build(&layers, Some([7; 16])).unwrap(), &layers));
    }

    fn tail(len: u32) -> [u8; TAIL_LEN] {
        let frame = vectors::bytes(vectors::EMPTY);
        let mut tail: [u8; TAIL_LEN] = *frame.last_chunk().unwrap();
        tail[3..7].copy_from_slice(&len.to_be_bytes());
        tail
    }

    #[test]
    fn the_length_of_a_trailer_is_found_from_its_end() {
        let frame = vectors::bytes(vectors::THREE);
        let frame_len = frame.len() as u64;
        let len = trailer_len(frame.last_chunk().unwrap(), frame_len).unwrap();
        assert_eq!(len, 85);
        assert_eq!(parse(&frame[frame.len() - 85..]).unwrap().len(), 1);
    }

    #[test]
    fn invalid_lengths_are_rejected() {
        assert_eq!(trailer_len(&tail(35), 132), Ok(35));
        assert_eq!(trailer_len(&tail(25), 132), Ok(25));
        assert_eq!(trailer_len(&tail(45), 132), Ok(45));
        for len in [0, 24, 46, i32::MAX as u32, u32::MAX] {
            assert_eq!(trailer_len(&tail(len), 132), Err(Error::InvalidHeader), "{len}");
        }
        assert_eq!(trailer_len(&tail(35), 0), Err(Error::InvalidHeader));
        let mut unmarked = tail(35);
        unmarked[2] = 0xcd;
        assert_eq!(trailer_len(&unmarked, 132), Err(Error::InvalidHeader));
    }

    #[test]
    fn a_trailer_of_minimum_length_is_found_but_not_parsed() {
        let frame = vectors::bytes(vectors::EMPTY);
        assert!(parse(&frame[frame.len() - TAIL_LEN..]).is_err());
    }

    #[test]
    fn row_f12_version_markers_and_fingerprint_of_a_trailer_are_ignored() {
        let frame = vectors::bytes(vectors::THREE);
        let trailer = &frame[frame.len() - 85..];
        let honest = parse(trailer).unwrap();
        for at in (0..MAP_AT).chain(85 - END_LEN + 5..85) {
            let mut lie = trailer.to_vec();
            lie[at] ^= 0xff;
            assert_eq!(parse(&lie).unwrap(), honest, "byte {at}");
        }
    }

    #[test]
    fn a_fingerprint_round_trips() {
        let empty = build(&[], None).unwrap();
        assert_eq!((empty.len(), EMPTY_LEN), (35, 35));
        assert_eq!(fingerprint(&empty), None);
        let some = std::array::from_fn(|i| i as u8);
        let with = build(&[(b"name", b"content")], Some(some)).unwrap();
        assert_eq!(fingerprint(&with), Some(some));
        assert_eq!(fingerprint(&with[with.len() - 16..]), None);
        // Fingerprints of 32 and 64 bits are defined, but no writer uses them.
        for kind in [1, 2] {
            let mut other = with.clone();
            let at = other.len() - FINGERPRINT_LEN - 1;
            other[at] = kind;
            assert_eq!(fingerprint(&other), None);
        }
    }
}
