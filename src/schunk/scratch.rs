//! Scratch buffers for whole chunks, cached between calls.
//!
//! A call that changes one item of a chunk needs two buffers of the chunk's size. The system clears
//! fresh memory page by page, which takes longer than the change itself.

use super::new_chunk::NewChunk;
use crate::chunk::MAX_OVERHEAD;
use crate::{Buffer, Result};
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// Upper bound on idle scratch memory kept process-wide, in bytes.
const MAX_IDLE_BYTES: usize = 32 << 20;
/// Upper bound on the number of idle buffers.
const MAX_IDLE_BUFFERS: usize = 4;

/// The idle buffers, oldest first. Access uses `try_lock` only: a process that was forked while the
/// lock was held continues without the cache.
static IDLE: Mutex<Vec<Buffer>> = Mutex::new(Vec::new());

/// A buffer of arbitrary content that returns to the cache when it is dropped.
#[derive(Default)]
pub(crate) struct Scratch(Buffer);

impl Scratch {
    /// Returns the smallest idle buffer of at least `len` bytes, or an empty one.
    pub fn take(len: usize) -> Scratch {
        let smallest = |idle: &mut Vec<Buffer>| {
            let fitting = idle.iter().enumerate().filter(|(_, it)| it.len() >= len);
            let at = fitting.min_by_key(|(_, it)| it.len()).map(|(at, _)| at);
            at.map(|at| idle.remove(at))
        };
        let found = (IDLE.try_lock().ok()).and_then(|mut idle| smallest(&mut idle));
        Scratch(found.unwrap_or_default())
    }

    /// Returns the first `len` bytes, with arbitrary content. If there are fewer, takes another
    /// idle buffer or allocates one.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`].
    pub fn ensure_len(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.0.len() < len {
            *self = Scratch::take(len);
        }
        self.0.ensure_len(len)
    }
}

impl Deref for Scratch {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Buffer {
        &mut self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Ok(mut idle) = IDLE.try_lock() {
            keep(&mut idle, std::mem::take(&mut self.0));
        }
    }
}

/// The buffers of a call that changes chunks.
pub(crate) struct ChunkBuffers {
    /// The compressed chunk, before and after the change.
    pub stored: Scratch,
    /// The uncompressed chunk.
    pub plain: Scratch,
}

impl ChunkBuffers {
    /// Returns buffers for chunks of `chunksize` bytes.
    pub fn new(chunksize: usize) -> ChunkBuffers {
        ChunkBuffers {
            stored: Scratch::take(chunksize + MAX_OVERHEAD),
            plain: Scratch::take(chunksize),
        }
    }

    /// Passes the first `len` bytes of `stored` to a super-chunk. `is_kept` states that the
    /// super-chunk keeps chunks in memory; a large chunk then moves instead of being copied.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn new_chunk(&mut self, len: usize, is_kept: bool) -> Result<NewChunk<'_>> {
        if !is_kept || len < self.stored.len() / 2 {
            return Ok(NewChunk::Copy(&self.stored[..len]));
        }
        self.stored.resize(len)?;
        self.stored.shrink();
        Ok(NewChunk::Exchange(&mut self.stored))
    }
}

/// Adds a buffer to the cache and evicts the oldest ones above the limits. Buffers larger than
/// `MAX_IDLE_BYTES` are freed.
fn keep(idle: &mut Vec<Buffer>, buffer: Buffer) {
    if buffer.is_empty() || buffer.len() > MAX_IDLE_BYTES || idle.try_reserve(1).is_err() {
        return;
    }
    idle.push(buffer);
    while idle.len() > MAX_IDLE_BUFFERS
        || idle.iter().map(|it| it.len()).sum::<usize>() > MAX_IDLE_BYTES
    {
        idle.remove(0);
    }
}

/// Frees the idle buffers.
pub fn release() {
    if let Ok(mut idle) = IDLE.try_lock() {
        *idle = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens(idle: &[Buffer]) -> Vec<usize> {
        idle.iter().map(|buffer| buffer.len()).collect()
    }

    #[test]
    fn idle_buffers_are_bounded_in_number_and_bytes() {
        let mut idle = Vec::new();
        for len in [0, 10, 20, 30, 40, 50] {
            keep(&mut idle, Buffer::zeroed(len).unwrap());
        }
        assert_eq!(lens(&idle), [20, 30, 40, 50]);
        keep(&mut idle, Buffer::zeroed(MAX_IDLE_BYTES + 1).unwrap());
        assert_eq!(lens(&idle), [20, 30, 40, 50]);
        keep(&mut idle, Buffer::zeroed(MAX_IDLE_BYTES - 60).unwrap());
        assert_eq!(lens(&idle), [50, MAX_IDLE_BYTES - 60]);
    }
}
