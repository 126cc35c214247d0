//! Anonymous memory that the system maps: pages occupy no memory before they are written.

use crate::{Error, Result};

pub(crate) type Pages = memmap2::MmapMut;

/// Returns `len` bytes, all zero.
///
/// # Errors
/// [`Error::MemoryAlloc`].
pub(crate) fn zeroed(len: usize) -> Result<Pages> {
    memmap2::MmapMut::map_anon(len).map_err(|error| Error::MemoryAlloc.of_bytes(len).os(error))
}
