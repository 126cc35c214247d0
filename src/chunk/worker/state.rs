//! Per-thread state for work on blocks: codec states and buffers, kept between blocks and calls.

use crate::Result;
use crate::codec::{self, Workspace};
use crate::filter::{MARGIN, Scratch, grown};

/// The state of one thread that works for a context.
#[derive(Default)]
pub(crate) struct Worker {
    pub codecs: Workspace,
    /// The buffers between the stages of a filter pipeline.
    pub filters: Scratch,
    /// A stored block of a lazy chunk.
    pub fetched: Vec<u8>,
    /// A block between codec and filters, in both directions.
    pub streams: Vec<u8>,
    /// The planes of `streams` that are known to hold one repeated byte.
    pub planes: PlaneCache,
    /// The output of a prefilter or the input of a postfilter.
    pub block: Vec<u8>,
    /// A decoded block from which a range is copied.
    pub partial_block: Vec<u8>,
    /// Scratch memory for prefilters and postfilters.
    pub callback: Vec<u8>,
    /// The output of compressions that are only measured.
    pub compressed_stream: Vec<u8>,
}

/// Upper bound on the buffer memory of a cached idle worker, in bytes.
const MAX_IDLE_BYTES: usize = 1 << 20;

impl Worker {
    /// Releases large codec states; returns whether the worker is small enough to be cached.
    pub fn trim(&mut self) -> bool {
        self.codecs.shrink();
        !self.is_large()
    }

    /// Whether the buffers exceed [`MAX_IDLE_BYTES`].
    pub fn is_large(&self) -> bool {
        let buffers = [
            &self.fetched,
            &self.streams,
            &self.block,
            &self.partial_block,
            &self.callback,
            &self.compressed_stream,
        ];
        let held: usize = buffers.iter().map(|buffer| buffer.capacity()).sum();
        held + self.filters.capacity() > MAX_IDLE_BYTES
    }
}

/// The maximum number of streams that are unshuffled directly from the stored block.
pub(crate) const MAX_PLANES: usize = 16;

// The planes of a block with their slop fit in a buffer allocated for the block.
const _: () = assert!(MAX_PLANES * codec::SLOP <= MARGIN);

/// Returns buffers for `planes` planes of `len` bytes, each followed by [`codec::SLOP`] bytes of
/// slop. `buffer` must be the one that a [`PlaneCache`] tracks.
pub(crate) fn plane_buffers(
    buffer: &mut Vec<u8>,
    planes: usize,
    len: usize,
) -> Result<std::slice::ChunksExactMut<'_, u8>> {
    let stride = len + codec::SLOP;
    Ok(grown(buffer, planes * stride)?.chunks_exact_mut(stride))
}

/// Tracks which planes of a buffer are filled with one byte. Constant planes tend to be the same in
/// successive blocks, and are then not filled again.
#[derive(Default)]
pub(crate) struct PlaneCache {
    plane_len: usize,
    filled: [Option<u8>; MAX_PLANES],
}

impl PlaneCache {
    /// Forgets all planes. Must be called when the buffer is written by other means.
    pub fn invalidate_all(&mut self) {
        self.filled = [None; MAX_PLANES];
    }

    /// Sets the length of the planes.
    pub fn set_plane_len(&mut self, plane_len: usize) {
        if self.plane_len != plane_len {
            self.plane_len = plane_len;
            self.invalidate_all();
        }
    }

    /// Fills plane `number` with `value`, unless it is already filled with it.
    pub fn fill(&mut self, number: usize, plane: &mut [u8], value: u8) {
        if self.filled[number] != Some(value) {
            plane.fill(value);
            self.filled[number] = Some(value);
        }
    }

    /// Forgets plane `number`, whose content is about to change.
    pub fn invalidate(&mut self, number: usize) {
        self.filled[number] = None;
    }
}
