//! The fixed metalayers, at the end of a frame's header.

use super::description::{MAX_METALAYERS, Metalayer};
use super::header::FIXED_LEN;
use super::section::{self, Named};
use crate::Result;

/// Size of the section without metalayers, in bytes.
pub(super) const EMPTY_LEN: usize = section::EMPTY_LEN;
/// Size of an empty map as counted in headers: from the first byte of the section to the end of the
/// map.
const SIZE_OF_NONE: usize = 7;
/// Offset of the map in the section.
const MAP_AT: usize = 4;

/// Returns the size of the section in bytes.
pub(super) fn built_len(metalayers: &[Named<'_>]) -> Result<usize> {
    section::built_len(metalayers, MAX_METALAYERS)
}

/// Appends the section to the fixed part of a header.
pub(super) fn write(header: &mut Vec<u8>, metalayers: &[Named<'_>]) {
    let start = header.len();
    section::write(
        |bytes| header.extend_from_slice(bytes),
        start,
        metalayers,
        SIZE_OF_NONE,
    );
}

/// Parses the metalayers of a whole header.
///
/// # Errors
/// [`Error::Data`](crate::Error::Data) for more than [`MAX_METALAYERS`], for invalid markers and
/// positions, and for contents that overlap; [`Error::ReadBuffer`](crate::Error::ReadBuffer) for
/// contents beyond the header.
pub fn parse(header: &[u8]) -> Result<Vec<Metalayer>> {
    section::parse(header, FIXED_LEN + MAP_AT, MAX_METALAYERS)
}
