//! Large buffers from the heap, for systems and builds that map no memory.

use crate::{Buffer, Result};

pub(crate) type Pages = Buffer;

/// Returns `len` bytes, all zero.
///
/// # Errors
/// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
pub(crate) fn zeroed(len: usize) -> Result<Pages> {
    Buffer::zeroed(len)
}
