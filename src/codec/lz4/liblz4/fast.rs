//! The fast encoder, with a 16 KiB hash table. The chunk's level determines the acceleration.

use std::ptr::NonNull;

use super::super::{acceleration, encode, is_skipped};
use super::call;
use super::ffi::{self, Stream};
use crate::codec::{Blosc1Stream, Dictionary, Shuffled, StreamCodec, get_or_try_make};
use crate::{Error, Result};

/// LZ4's states: one for streams without and one for streams with a dictionary, since each use of
/// the table would force the other to clear it.
#[derive(Default)]
pub(in crate::codec) struct Lz4 {
    plain: Option<State>,
    with_dict: Option<State>,
    /// The state of our own encoder.
    own: encode::Table,
}

/// Whether liblz4 encodes streams without a dictionary. It hashes words of the machine, so that its
/// output depends on their size and byte order. Our own encoder has the output for 64-bit
/// little-endian words on all systems.
const IS_LIBLZ4_PLAIN: bool = cfg!(all(target_pointer_width = "64", target_endian = "little"));

impl StreamCodec for Lz4 {
    fn encode(
        &mut self,
        level: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        match dict.and_then(Dictionary::prepared::<FastDict>) {
            Some(dict) => get_or_try_make(&mut self.with_dict, State::new)?.encode_with(
                dict,
                acceleration(level),
                src,
                dest,
            ),
            None if IS_LIBLZ4_PLAIN => {
                get_or_try_make(&mut self.plain, State::new)?.encode(acceleration(level), src, dest)
            }
            None => Ok(encode::encode(&mut self.own, acceleration(level), src, dest)?.unwrap_or(0)),
        }
    }

    fn encode_shuffled(
        &mut self,
        level: u8,
        shuffled: Shuffled,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        if is_skipped(level, shuffled, src) {
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
        call::decode(dict, src, dest, len)
    }
}

/// A state that is always ready for a "fast reset".
struct State(NonNull<Stream>);

// SAFETY: plain memory that is not bound to a thread.
unsafe impl Send for State {}

impl State {
    fn new() -> Result<State> {
        // SAFETY: no preconditions; returns null if out of memory.
        let stream = unsafe { ffi::LZ4_createStream() };
        NonNull::new(stream).map(State).ok_or(Error::MemoryAlloc)
    }

    fn encode(&mut self, acceleration: u16, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // SAFETY: the library has initialised the state, which is used for one-shot calls only; the
        // pointers and lengths come from live slices.
        call::encoded(unsafe {
            ffi::LZ4_compress_fast_extState_fastReset(
                self.0.as_ptr().cast(),
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                call::source_len(src)?,
                call::capacity(dest),
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
        // SAFETY: the library has initialised the stream, which is reset before use. The
        // dictionary's stream is only read; it and, by the contract of `FastDict::new`, the bytes
        // it points to outlive this call, and the attachment is not used after it.
        call::encoded(unsafe {
            ffi::LZ4_resetStream_fast(stream);
            ffi::LZ4_attach_dictionary(stream, dict.0.0.as_ptr());
            ffi::LZ4_compress_fast_continue(
                stream,
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                call::source_len(src)?,
                call::capacity(dest),
                acceleration.into(),
            )
        })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: created by the library and freed once.
        unsafe { ffi::LZ4_freeStream(self.0.as_ptr()) };
    }
}

/// The filled hash table of a dictionary. It points to the dictionary's bytes, which the owner must
/// keep alive.
pub(super) struct FastDict(State);

// SAFETY: never modified after creation.
unsafe impl Sync for FastDict {}

impl FastDict {
    /// Creates the table of `bytes`.
    ///
    /// # Safety
    /// The bytes neither change nor move and are not freed before the table is dropped.
    pub(super) unsafe fn new(bytes: &[u8]) -> Result<FastDict> {
        let state = State::new()?;
        // SAFETY: the stream is new; the pointer and the length come from a live slice.
        unsafe {
            ffi::LZ4_loadDict(state.0.as_ptr(), bytes.as_ptr().cast(), call::source_len(bytes)?);
        }
        Ok(FastDict(state))
    }
}
