//! The offsets section: for each chunk, and each that may be appended, where it begins.
//!
//! An entry is a little-endian i64, a position in the file, or −1 when there is no chunk yet. A writer
//! fills the section with −1 first and with positions last, so that an interrupted file shows.

/// Bytes of an entry.
pub const OFFSET_LENGTH: u64 = 8;
/// The entry of a chunk that is not there.
pub const UNUSED_OFFSET: i64 = -1;

/// The entries in the bytes of a section.
pub(super) fn decode(bytes: &[u8]) -> impl Iterator<Item = i64> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|&entry| i64::from_le_bytes(entry))
}
