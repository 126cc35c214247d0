//! The limits of the instructions of a stream.

/// Control bytes below this value start a literal run.
pub(super) const MAX_RUN: usize = 32;
/// The `L` of a match with length extension bytes.
pub(super) const LONG: usize = 7;
/// The shortest distance of the far form.
pub(super) const FAR: usize = 8192;
/// The longest distance the format can express.
#[cfg(test)]
pub(super) const MAX_DISTANCE: usize = FAR + 0xFFFF;
