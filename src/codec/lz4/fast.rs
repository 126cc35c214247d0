//! The fast encoder: one 16 KiB hash table, the chunk's level turned into an acceleration.

use std::ptr::NonNull;

use super::super::{Blosc1Stream, Dictionary, Shuffled, StreamCodec};
use super::ffi::{self, Stream};
use super::glance;
use crate::{Error, Result};

/// LZ4's states: one for plain streams, one for streams with a dictionary, since the two fill their tables
/// in ways that would make each other start from nothing.
#[derive(Default)]
pub(in super::super) struct Lz4 {
    plain: Option<State>,
    with_dict: Option<State>,
}

impl StreamCodec for Lz4 {
    fn encode(
        &mut self,
        level: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        match dict.and_then(Dictionary::lz4_encoder) {
            Some(dict) => {
                State::of(&mut self.with_dict)?.encode_with(dict, acceleration(level), src, dest)
            }
            None => State::of(&mut self.plain)?.encode(acceleration(level), src, dest),
        }
    }

    fn encode_shuffled(
        &mut self,
        level: u8,
        shuffled: Shuffled,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        if shuffled == Shuffled::Bytes && glance::finds_no_match(src, acceleration(level)) {
            return Ok(0);
        }
        self.encode(level, None, src, dest)
    }

    fn encode_blosc1(
        &mut self,
        level: u8,
        kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encode_shuffled(level, kind.shuffled, src, dest)
    }

    fn decode(
        &mut self,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        super::decode(dict, src, dest, len)
    }
}

/// How much LZ4 hurries at this level of a chunk: by so many bytes it goes on at first where it finds nothing.
fn acceleration(level: u8) -> u16 {
    10 - u16::from(level.min(9))
}

/// A state that is always ready for a "fast reset".
struct State(NonNull<Stream>);

// SAFETY: plain memory with no tie to the thread that made it.
unsafe impl Send for State {}

impl State {
    fn new() -> Result<State> {
        // SAFETY: no preconditions; null when out of memory.
        let stream = unsafe { ffi::LZ4_createStream() };
        NonNull::new(stream).map(State).ok_or(Error::MemoryAlloc)
    }

    fn of(slot: &mut Option<State>) -> Result<&mut State> {
        Ok(match slot {
            Some(state) => state,
            empty => empty.insert(State::new()?),
        })
    }

    fn encode(&mut self, acceleration: u16, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // SAFETY: the state was initialised by the library and is used by one-shot calls only; pointers and
        // lengths are those of live slices.
        super::encoded(unsafe {
            ffi::LZ4_compress_fast_extState_fastReset(
                self.0.as_ptr().cast(),
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                super::source_len(src)?,
                super::capacity(dest),
                acceleration.into(),
            )
        })
    }

    fn encode_with(
        &mut self,
        dict: &FastDict,
        acceleration: u16,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let stream = self.0.as_ptr();
        // SAFETY: the stream was initialised by the library and is reset before use; the dictionary's
        // stream is only read, and like the bytes it points to it outlives this call, after which the
        // attachment is never looked at again.
        super::encoded(unsafe {
            ffi::LZ4_resetStream_fast(stream);
            ffi::LZ4_attach_dictionary(stream, dict.0.0.as_ptr());
            ffi::LZ4_compress_fast_continue(
                stream,
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                super::source_len(src)?,
                super::capacity(dest),
                acceleration.into(),
            )
        })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ffi::LZ4_freeStream(self.0.as_ptr()) };
    }
}

/// A dictionary's filled hash table. It points to the dictionary's bytes, which its owner must keep.
pub(in super::super) struct FastDict(State);

// SAFETY: never changed after it was made.
unsafe impl Sync for FastDict {}

impl FastDict {
    /// The table of `bytes`, which must stay where they are for as long as the table is used.
    pub(in super::super) fn new(bytes: &[u8]) -> Result<FastDict> {
        let state = State::new()?;
        // SAFETY: the stream is fresh, pointer and length are those of a live slice.
        unsafe {
            ffi::LZ4_loadDict(
                state.0.as_ptr(),
                bytes.as_ptr().cast(),
                super::source_len(bytes)?,
            );
        }
        Ok(FastDict(state))
    }
}
