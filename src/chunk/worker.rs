//! What a thread needs to work on blocks: codec states and buffers, kept between blocks and calls.

use crate::Result;
use crate::codec::{self, Workspace};
use crate::filter::{MARGIN, Scratch, grown};

/// The state of one thread at work for a context.
#[derive(Default)]
pub(super) struct Worker {
    /// States of the codecs.
    pub codecs: Workspace,
    /// Buffers between the stages of a pipeline.
    pub filters: Scratch,
    /// A block of a lazy chunk, as stored.
    pub fetched: Vec<u8>,
    /// A block between the codec and the filters, when compressing as when decompressing.
    pub streams: Vec<u8>,
    /// Which planes of `streams` hold one byte over and over.
    pub planes: PlaneCache,
    /// A block on the outer side of the filters: a prefilter's output or a postfilter's input.
    pub block: Vec<u8>,
    /// A block of which only a part is asked for.
    pub part: Vec<u8>,
    /// Memory lent to prefilters and postfilters.
    pub callback: Vec<u8>,
    /// A compressed stream that is only measured.
    pub compressed_stream: Vec<u8>,
}

/// Most bytes of buffers that a worker keeps when nobody is left who it works for.
const MAX_SPARE_BYTES: usize = 1 << 20;

impl Worker {
    /// Gives up what a worker that serves nobody should not hold on to, and says whether the rest is worth
    /// keeping.
    pub fn make_spare(&mut self) -> bool {
        self.codecs.shrink();
        !self.is_large()
    }

    /// Whether its buffers are more than should be kept for nobody.
    pub fn is_large(&self) -> bool {
        let buffers = [
            &self.fetched,
            &self.streams,
            &self.block,
            &self.part,
            &self.callback,
            &self.compressed_stream,
        ];
        let held: usize = buffers.iter().map(|buffer| buffer.capacity()).sum();
        held + self.filters.capacity() > MAX_SPARE_BYTES
    }
}

/// Most streams that are unshuffled from where they lie.
pub(super) const MAX_PLANES: usize = 16;

// Places for the planes of a block fit in a buffer that was made for the block.
const _: () = assert!(MAX_PLANES * codec::SLOP <= MARGIN);

/// Places for planes of `len` bytes each in the buffer that a [`PlaneCache`] knows, with room to scribble over behind each.
pub(super) fn places(
    buffer: &mut Vec<u8>,
    planes: usize,
    len: usize,
) -> Result<std::slice::ChunksExactMut<'_, u8>> {
    let place = len + codec::SLOP;
    Ok(grown(buffer, planes * place)?.chunks_exact_mut(place))
}

/// Remembers which planes of a buffer are filled with one byte, so that constant streams, which tend to
/// be the same from block to block, are not filled in again.
#[derive(Default)]
pub(super) struct PlaneCache {
    plane_len: usize,
    filled: [Option<u8>; MAX_PLANES],
}

impl PlaneCache {
    /// Must be called when the buffer is written otherwise.
    pub fn forget(&mut self) {
        self.filled = [None; MAX_PLANES];
    }

    /// From now on planes have this length.
    pub fn set_plane_len(&mut self, plane_len: usize) {
        if self.plane_len != plane_len {
            self.plane_len = plane_len;
            self.forget();
        }
    }

    /// Makes `plane`, the one of this number, consist of `value`.
    pub fn fill(&mut self, number: usize, plane: &mut [u8], value: u8) {
        if self.filled[number] != Some(value) {
            plane.fill(value);
            self.filled[number] = Some(value);
        }
    }

    /// The plane of this number is about to get other content.
    pub fn forget_plane(&mut self, number: usize) {
        self.filled[number] = None;
    }
}
