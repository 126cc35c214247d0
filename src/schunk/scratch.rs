//! Buffers for whole chunks, kept between calls.
//!
//! A call that changes one item of a chunk needs two buffers as large as the chunk. Memory that is new to the process
//! is cleared by the system page by page, which takes longer than the change itself, so some buffers are kept.

use super::offer::Offer;
use crate::chunk::MAX_OVERHEAD;
use crate::{Buffer, Result};
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// Upper bound on idle scratch memory kept process-wide, in bytes.
const MAX_IDLE_BYTES: usize = 32 << 20;
/// Upper bound on the number of idle buffers.
const MAX_IDLE_BUFFERS: usize = 4;

/// The idle buffers, oldest first. The lock is only tried, so a process that was forked while it was held goes on
/// without them.
static IDLE: Mutex<Vec<Buffer>> = Mutex::new(Vec::new());

/// A buffer of arbitrary content, which is kept for later calls when it is dropped.
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
    /// A chunk, before and after the change.
    pub stored: Scratch,
    /// Its content.
    pub plain: Scratch,
}

impl ChunkBuffers {
    /// Buffers for chunks of `chunksize` bytes.
    pub fn new(chunksize: usize) -> ChunkBuffers {
        ChunkBuffers {
            stored: Scratch::take(chunksize + MAX_OVERHEAD),
            plain: Scratch::take(chunksize),
        }
    }

    /// Offers the first `len` bytes of `stored` to a super-chunk. A large chunk is not copied if `is_kept`: if the
    /// super-chunk would keep the copy in memory.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn offer(&mut self, len: usize, is_kept: bool) -> Result<Offer<'_>> {
        if !is_kept || len < self.stored.len() / 2 {
            return Ok(Offer::Copy(&self.stored[..len]));
        }
        self.stored.resize(len)?;
        self.stored.shrink();
        Ok(Offer::Exchange(&mut self.stored))
    }
}

/// Adds a buffer to idle ones; the oldest go where there are too many. Buffers that are too large are freed.
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
