//! The offsets section: one entry per chunk, including those reserved for appending.
//!
//! An entry is a little-endian i64: the chunk's offset in the file, or −1 if it is unused. A writer
//! first fills the section with −1 and writes the offsets last, so that an interrupted write is
//! detectable.

/// Length of an entry in bytes.
pub const OFFSET_LENGTH: u64 = 8;
/// The value of an unused entry.
pub const UNUSED_OFFSET: i64 = -1;

/// Decodes the entries of a section.
pub(super) fn decode(bytes: &[u8]) -> impl Iterator<Item = i64> {
    bytes.as_chunks().0.iter().map(|&entry| i64::from_le_bytes(entry))
}
