//! The limits of chunks.

#[path = "../../../../../src/chunk/format/limits.rs"]
pub(crate) mod limits;
