//! Buffers for blocks that are encoded before their turn.

use crate::Result;
use crate::io::PageBuffer;

/// Upper bound on the idle buffer memory cached process-wide, untouched pages included.
const MAX_IDLE_BYTES: usize = 2 << 20;

/// The offset of a block in its buffer. Large buffers are page-aligned; without the offset, a copy
/// from one to another could load from addresses that equal recent stores modulo the page size,
/// which processors treat as conflicts (4 KiB aliasing).
const PAGE_OFFSET: usize = 2048;

/// A compressed block.
#[derive(Clone, Copy)]
pub(crate) struct Encoded {
    pub len: usize,
    /// Whether all its streams are runs of zeros.
    pub all_zero: bool,
}

/// A buffer for one block of maximum encoded length, allocated on first use. It is mapped rather
/// than taken from the heap because few blocks reach that length: untouched pages cost nothing,
/// while `calloc` would clear recycled memory.
#[derive(Default)]
pub(crate) struct Buffer(Option<PageBuffer>);

impl Buffer {
    /// Returns the first `len` bytes, after replacing the memory if it is shorter.
    pub fn grown(&mut self, len: usize) -> Result<&mut [u8]> {
        drop(self.0.take_if(|pages| pages.len() < PAGE_OFFSET + len));
        let pages = match &mut self.0 {
            Some(pages) => pages,
            none => none.insert(PageBuffer::zeroed(PAGE_OFFSET + len)?),
        };
        Ok(&mut pages[PAGE_OFFSET..PAGE_OFFSET + len])
    }

    /// Returns the first `len` bytes, which [`Buffer::grown`] has allocated.
    pub fn bytes(&self, len: usize) -> &[u8] {
        let pages = self.0.as_deref().unwrap_or_default();
        &pages[PAGE_OFFSET..PAGE_OFFSET + len]
    }
}

/// An encoded block that is waiting for its turn. A failure is also reported in order: it is
/// ignored if the destination is exhausted first.
pub(crate) struct BufferedBlock {
    pub nblock: usize,
    pub buffer: Buffer,
    pub encoded: Result<Option<Encoded>>,
}

/// The buffers kept from one compression to the next.
#[derive(Default)]
pub(crate) struct Buffers {
    pub idle: Vec<Buffer>,
    pub pending: Vec<BufferedBlock>,
}

impl Buffers {
    /// Reclaims the buffers of blocks left pending when the last compression ended early.
    pub fn reclaim(&mut self) {
        let reclaimed = self.pending.drain(..).map(|block| block.buffer);
        self.idle.extend(reclaimed);
    }

    /// Releases idle buffers above [`MAX_IDLE_BYTES`] before they are cached.
    pub fn trim(&mut self) {
        self.reclaim();
        let mut held = 0;
        self.idle.retain(|buffer| {
            buffer.0.as_ref().is_some_and(|pages| {
                held += pages.len();
                held <= MAX_IDLE_BYTES
            })
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_buffers_are_limited_in_bytes() {
        let mut buffers = Buffers::default();
        for len in [MAX_IDLE_BYTES / 2 - PAGE_OFFSET, MAX_IDLE_BYTES / 2 - PAGE_OFFSET, 1000] {
            let mut buffer = Buffer::default();
            buffer.grown(len).unwrap();
            buffers.idle.push(buffer);
        }
        buffers.pending.push(BufferedBlock {
            nblock: 1,
            buffer: Buffer::default(),
            encoded: Ok(None),
        });
        buffers.trim();
        assert_eq!((buffers.idle.len(), buffers.pending.len()), (2, 0));
    }

    #[test]
    fn a_buffer_is_replaced_only_when_it_is_too_short() {
        let mut buffer = Buffer::default();
        buffer.grown(1000).unwrap().fill(7);
        assert_eq!(buffer.grown(10).unwrap(), [7; 10]);
        assert_eq!(buffer.bytes(1000), [7; 1000]);
        assert_eq!(buffer.grown(1 << 20).unwrap().len(), 1 << 20);
        assert_eq!(buffer.bytes(1000), [0; 1000]);
    }
}
