//! What a super-chunk is made of, for those who work on it.
//!
//! In C the super-chunk is a struct whose fields programs read and write between calls, so the struct is the
//! truth and nothing is remembered beside it. The operations of this room are therefore written over a
//! trait: Rust's own super-chunk is one implementation, the struct of C another.

use crate::chunk::{Compressor, Decompressor, Source};
use crate::frame::{Counters, Frame, Loaded, StoredParams};
use crate::{Buffer, Result};

/// Which of the two kinds of metalayers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// Those whose contents keep their length; plain bytes.
    Fixed,
    /// Those of variable length; each content is a chunk.
    Variable,
}

/// A name and a content.
pub type Layer<'a> = (&'a [u8], &'a [u8]);

/// The parts of a super-chunk.
///
/// Chunks are either apart in memory ([`State::held`]) or in a frame ([`State::frame`]), never both. What
/// takes `&self` may be called from several threads at once.
pub trait State {
    /// What it compresses with.
    fn recorded(&self) -> StoredParams;

    /// Its sizes.
    fn counters(&self) -> Counters;

    /// Threads that compress and that decompress.
    fn threads(&self) -> (i16, i16);

    /// What its compressor has, which is what copies get, and the block size it used last, or was asked for;
    /// 0 when neither.
    fn used(&self) -> (StoredParams, i32);

    /// Notes which chunk is being worked on.
    fn set_current(&self, nchunk: i64);

    /// The frame, when the chunks are in one.
    fn frame(&self) -> Option<&Frame>;

    /// One of the chunks that are apart in memory; empty when there is none of this number.
    fn held(&self, nchunk: usize) -> &[u8];

    /// Calls `f` with the metalayers of a kind.
    fn with_layers(&self, kind: Layers, f: &mut dyn FnMut(&[Layer<'_>]));

    /// Takes up sizes and metalayers that somebody else has changed, and counts the change.
    fn take_up(&self, loaded: Loaded);

    /// Calls `f` with what compresses, callbacks included.
    ///
    /// # Errors
    /// Those of `f`; [`crate::Error::InvalidParam`] when nothing can compress.
    fn compress_with(&self, f: &mut dyn FnMut(&mut Compressor) -> Result<usize>) -> Result<usize>;

    /// Compresses as the super-chunk does; returns the bytes of the chunk, 0 when `dest` is too short.
    ///
    /// # Errors
    /// Those of [`State::compress_with`] and [`Compressor::compress_source`].
    fn compress(&self, src: Source<'_>, dest: &mut [u8]) -> Result<usize> {
        self.compress_with(&mut |compressor| compressor.compress_source(src, dest))
    }

    /// Calls `f` with what decompresses, callbacks included.
    ///
    /// # Errors
    /// Those of `f`; [`crate::Error::InvalidParam`] when nothing can decompress.
    fn decompress(&self, f: &mut dyn FnMut(&mut Decompressor) -> Result<usize>) -> Result<usize>;

    /// The frame, to be changed.
    fn frame_mut(&mut self) -> Option<&mut Frame>;

    /// Sets the sizes.
    fn set_counters(&mut self, counters: Counters);

    /// Makes room for one more chunk apart in memory, besides the `held` there are.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`]; nothing has changed then.
    fn make_room(&mut self, held: usize) -> Result<()>;

    /// Puts a chunk in front of number `at` of the `held` there are, or behind all, where room was made.
    fn hold(&mut self, held: usize, at: usize, chunk: Buffer);

    /// Replaces a chunk. Returns the old one if its memory may be reused; otherwise it is freed.
    fn exchange(&mut self, at: usize, chunk: Buffer) -> Option<Buffer>;

    /// Frees these chunks of the `held` there are, whose numbers go up; those that stay move up.
    fn release(&mut self, held: usize, gone: &[usize]);

    /// Chunk `i` becomes the one that had the number `order[i]`.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`]; nothing has changed then.
    fn permute(&mut self, order: &[usize]) -> Result<()>;

    /// Adds a metalayer behind the others of its kind.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`]; nothing has changed then.
    fn add_layer(&mut self, kind: Layers, name: &[u8], content: Buffer) -> Result<()>;

    /// Overwrites the content of a fixed metalayer where it is; `content` has its length.
    fn edit_layer(&mut self, at: usize, content: &[u8]);

    /// Gives a variable-length metalayer another content.
    fn set_layer(&mut self, at: usize, content: Buffer);

    /// Removes a variable-length metalayer; those behind it move up.
    fn remove_layer(&mut self, at: usize);

    /// Counts a change of the metalayers.
    fn tick(&mut self);
}
