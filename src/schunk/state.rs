//! The interface between super-chunk operations and the representation of a super-chunk.
//!
//! In C a super-chunk is a struct whose fields programs read and write between calls, so its state
//! is not cached elsewhere. The operations are therefore generic over a trait, which both Rust's
//! super-chunk and the C struct implement.

use crate::chunk::{Compressor, Decompressor, Source};
use crate::frame::{Counters, Frame, Loaded, StoredParams};
use crate::{Buffer, Result};

/// The kind of metalayer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// Metalayers of fixed length, stored as plain bytes.
    Fixed,
    /// Metalayers of variable length, each stored as a chunk.
    Variable,
}

/// Name and content of a metalayer.
pub type Layer<'a> = (&'a [u8], &'a [u8]);

/// The state of a super-chunk.
///
/// Chunks are either separate in memory ([`State::chunk`]) or in a frame ([`State::frame`]), never
/// both. Methods that accept `&self` may be called from several threads at once.
pub trait State {
    /// Returns the compression parameters that frames record.
    fn recorded(&self) -> StoredParams;

    /// Returns the counters and sizes.
    fn counters(&self) -> Counters;

    /// Returns the numbers of threads for compression and for decompression.
    fn threads(&self) -> (i16, i16);

    /// Returns the compressor's parameters, which copies inherit, and its block size in bytes: the
    /// last one used, or the one requested, or 0.
    fn used(&self) -> (StoredParams, i32);

    /// Records the index of the chunk that is being processed.
    fn set_current(&self, nchunk: i64);

    /// Returns the frame, if the chunks are in one.
    fn frame(&self) -> Option<&Frame>;

    /// Returns a chunk in memory; empty if there is no such chunk.
    fn chunk(&self, nchunk: usize) -> &[u8];

    /// Calls `f` with the metalayers of a kind.
    fn with_layers(&self, kind: Layers, f: &mut dyn FnMut(&[Layer<'_>]));

    /// Returns the index of the metalayer with a name.
    fn find_layer(&self, kind: Layers, name: &[u8]) -> Option<usize> {
        let mut found = None;
        self.with_layers(kind, &mut |layers| {
            found = layers.iter().position(|&(other, _)| other == name);
        });
        found
    }

    /// Returns the number of metalayers of a kind.
    fn layer_count(&self, kind: Layers) -> usize {
        let mut count = 0;
        self.with_layers(kind, &mut |layers| count = layers.len());
        count
    }

    /// Loads counters and metalayers that changed in the file, and increments the version.
    fn reload(&self, loaded: Loaded);

    /// Calls `f` with the compressor, whose callbacks are set.
    ///
    /// # Errors
    /// Returns the errors of `f`; [`crate::Error::InvalidParam`] if there is no compressor.
    fn compress_with(&self, f: &mut dyn FnMut(&mut Compressor) -> Result<usize>) -> Result<usize>;

    /// Compresses a chunk; returns its size in bytes, 0 if `dest` is too short.
    ///
    /// # Errors
    /// Returns the errors of [`State::compress_with`] and [`Compressor::compress_source`].
    fn compress(&self, src: Source<'_>, dest: &mut [u8]) -> Result<usize> {
        self.compress_with(&mut |compressor| compressor.compress_source(src, dest))
    }

    /// Calls `f` with a decompressor, whose callbacks are set.
    ///
    /// # Errors
    /// Returns the errors of `f`; [`crate::Error::InvalidParam`] if there is no decompressor.
    fn decompress(&self, f: &mut dyn FnMut(&mut Decompressor) -> Result<usize>) -> Result<usize>;

    /// Whether the super-chunk owns its chunks, so that their number may change. A view does not.
    fn owns_chunks(&self) -> bool {
        true
    }

    /// Returns the mutable frame, if the super-chunk owns one.
    fn frame_mut(&mut self) -> Option<&mut Frame>;

    /// Sets the counters and sizes.
    fn set_counters(&mut self, counters: Counters);

    /// Reserves memory for one more chunk beyond the `nchunks` existing ones.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`]; the state is unchanged then.
    fn reserve_chunk(&mut self, nchunks: usize) -> Result<()>;

    /// Inserts a chunk at index `at` of the `nchunks` existing ones, using reserved memory.
    fn insert(&mut self, nchunks: usize, at: usize, chunk: Buffer);

    /// Replaces a chunk. Returns the old one if its memory may be reused, and frees it otherwise.
    fn exchange(&mut self, at: usize, chunk: Buffer) -> Option<Buffer>;

    /// Removes chunks, in ascending order, from the `nchunks` existing ones.
    fn release(&mut self, nchunks: usize, gone: &[usize]);

    /// Reorders the chunks: new chunk `i` is old chunk `order[i]`.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`]; the state is unchanged then.
    fn permute(&mut self, order: &[usize]) -> Result<()>;

    /// Appends a metalayer.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`]; the state is unchanged then.
    fn add_layer(&mut self, kind: Layers, name: &[u8], content: Buffer) -> Result<()>;

    /// Overwrites a fixed metalayer in place; `content` has the same length.
    fn edit_layer(&mut self, at: usize, content: &[u8]);

    /// Replaces the content of a variable-length metalayer.
    fn set_layer(&mut self, at: usize, content: Buffer);

    /// Removes a variable-length metalayer; the indices of later ones decrease.
    fn remove_layer(&mut self, at: usize);

    /// Increments the version of the metalayers.
    fn bump_version(&mut self);
}
