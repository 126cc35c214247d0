//! The state of a handle: buffers of threads, and buffered rows.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ferroblosc::blosc1::Engine;

/// The buffers of a thread for reading and writing chunks.
#[derive(Default)]
pub(super) struct Worker {
    pub engine: Engine,
    /// The content of a chunk file.
    pub file: Vec<u8>,
    /// The uncompressed chunk.
    pub plain: Vec<u8>,
}

/// The buffered rows and the state of a writer.
#[derive(Default)]
pub(super) struct Writer {
    /// The buffered rows after the last written chunk, once loaded. Less than one chunk, unless
    /// large full chunks are buffered for parallel compression.
    pub tail: Option<Vec<u8>>,
    /// Whether the tail or the length differs from the files.
    pub dirty: bool,
    /// Whether the directory was prepared for writing.
    pub prepared: bool,
    /// Whether chunk files after the last chunk of the array may exist.
    pub may_have_stale: bool,
    /// The total size of the full chunks in bytes without file prefixes, once computed.
    pub cbytes: Option<u64>,
}

/// Locks a mutex and ignores poisoning.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
