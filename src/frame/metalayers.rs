//! The fixed metalayers: the end of a frame's header.

use super::description::{MAX_METALAYERS, Metalayer};
use super::header::FIXED_LEN;
use super::section::{self, Named};
use crate::Result;

/// Bytes that a header has for no metalayers.
pub(super) const EMPTY_LEN: usize = section::EMPTY_LEN;
/// The size of an empty map as headers count it: from the first byte of the section to the end of the map.
const SIZE_OF_NONE: usize = 7;
/// Where the map begins in the section.
const MAP_AT: usize = 4;

/// Bytes of the section.
pub(super) fn built_len(metalayers: &[Named<'_>]) -> Result<usize> {
    section::built_len(metalayers, MAX_METALAYERS)
}

/// Writes the section behind the fixed part of a header.
pub(super) fn write(header: &mut Vec<u8>, metalayers: &[Named<'_>]) {
    let start = header.len();
    section::write(
        |bytes| header.extend_from_slice(bytes),
        start,
        metalayers,
        SIZE_OF_NONE,
    );
}

/// Reads the metalayers of a whole header.
///
/// # Errors
/// [`Error::Data`](crate::Error::Data) for more than [`MAX_METALAYERS`], for markers and positions that can't
/// be, and for contents that overlap; [`Error::ReadBuffer`](crate::Error::ReadBuffer) for what goes on behind
/// the header.
pub fn parse(header: &[u8]) -> Result<Vec<Metalayer>> {
    section::parse(header, FIXED_LEN + MAP_AT, MAX_METALAYERS)
}
