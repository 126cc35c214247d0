//! The high-compression encoder: hash chains over the whole window, 256 KiB of state.

use std::ffi::c_int;
use std::ptr::{self, NonNull};

use super::call;
use super::ffi::{self, StreamHc};
use crate::codec::{Blosc1Stream, Dictionary, StreamCodec, get_or_try_make};
use crate::{Error, Result};

/// LZ4HC's states: one for streams without and one for streams with a dictionary.
#[derive(Default)]
pub(super) struct Lz4Hc {
    plain: Option<State>,
    with_dict: Option<State>,
}

/// The lowest level that searches hash chains. LZ4 1.9 did so at all levels; since 1.10 the lower
/// levels are faster and compress less.
const FIRST_CHAIN_LEVEL: u8 = 3;

impl StreamCodec for Lz4Hc {
    fn encode(
        &mut self,
        level: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let level = c_int::from(level);
        match dict.and_then(Dictionary::prepared::<HighDict>) {
            Some(dict) => {
                get_or_try_make(&mut self.with_dict, State::new)?.encode_with(dict, src, dest)
            }
            None => get_or_try_make(&mut self.plain, State::new)?.encode(level, src, dest),
        }
    }

    /// Compresses at least as well as the LZ4 1.9 of Blosc 1.x at every level.
    fn encode_blosc1(
        &mut self,
        level: u8,
        _kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encode(level.max(FIRST_CHAIN_LEVEL), None, src, dest)
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
struct State(NonNull<StreamHc>);

// SAFETY: plain memory that is not bound to a thread.
unsafe impl Send for State {}

impl State {
    fn new() -> Result<State> {
        // SAFETY: no preconditions; returns null if out of memory.
        let stream = unsafe { ffi::LZ4_createStreamHC() };
        NonNull::new(stream).map(State).ok_or(Error::MemoryAlloc)
    }

    fn encode(&mut self, level: c_int, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // SAFETY: the library has initialised the state, which is used for one-shot calls only; the
        // pointers and lengths come from live slices.
        call::encoded(unsafe {
            ffi::LZ4_compress_HC_extStateHC_fastReset(
                self.0.as_ptr().cast(),
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                call::source_len(src)?,
                call::capacity(dest),
                level,
            )
        })
    }

    /// Encodes with a dictionary, starting from a copy of its filled tables. The library can also
    /// attach them, but then finds fewer matches at low levels. The copy costs no more than
    /// clearing the state.
    fn encode_with(&mut self, dict: &HighDict, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let stream = self.0.as_ptr();
        // SAFETY: both streams are initialised states of `size` bytes, and the library itself
        // reuses a dictionary's tables by the same copy. The dictionary's bytes, to which the copy
        // points, outlive this call by the contract of `HighDict::new`; no later call reads the
        // copy.
        call::encoded(unsafe {
            let size = usize::try_from(ffi::LZ4_sizeofStateHC()).map_err(|_| Error::Data)?;
            let tables: *const StreamHc = dict.0.0.as_ptr();
            ptr::copy_nonoverlapping(tables.cast::<u8>(), stream.cast::<u8>(), size);
            ffi::LZ4_compress_HC_continue(
                stream,
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                call::source_len(src)?,
                call::capacity(dest),
            )
        })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: created by the library and freed once.
        unsafe { ffi::LZ4_freeStreamHC(self.0.as_ptr()) };
    }
}

/// The filled tables of a dictionary. They point to the dictionary's bytes, which the owner must
/// keep alive.
pub(super) struct HighDict(State);

// SAFETY: never modified after creation.
unsafe impl Sync for HighDict {}

impl HighDict {
    /// Creates the tables of `bytes` for encoding at `level`.
    ///
    /// # Safety
    /// The bytes neither change nor move and are not freed before the tables are dropped.
    pub(super) unsafe fn new(bytes: &[u8], level: u8) -> Result<HighDict> {
        let state = State::new()?;
        // SAFETY: the stream is new; the pointer and the length come from a live slice. The level
        // is set first because it determines which tables are filled.
        unsafe {
            ffi::LZ4_resetStreamHC_fast(state.0.as_ptr(), level.into());
            ffi::LZ4_loadDictHC(state.0.as_ptr(), bytes.as_ptr().cast(), call::source_len(bytes)?);
        }
        Ok(HighDict(state))
    }
}
