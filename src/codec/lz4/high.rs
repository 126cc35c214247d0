//! The high-compression encoder: hash chains over the whole window, 256 KiB of state.

use std::ffi::c_int;
use std::ptr::{self, NonNull};

use super::super::{Blosc1Stream, Dictionary, StreamCodec};
use super::ffi::{self, StreamHc};
use crate::{Error, Result};

/// LZ4HC's states, one for plain streams and one for streams with a dictionary.
#[derive(Default)]
pub(in super::super) struct Lz4Hc {
    plain: Option<State>,
    with_dict: Option<State>,
}

/// The lowest level that looks for matches along chains. LZ4 1.9 did so at all levels; since 1.10 the lower
/// ones are faster and less dense.
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
        match dict.and_then(Dictionary::lz4hc_encoder) {
            Some(dict) => State::of(&mut self.with_dict)?.encode_with(dict, src, dest),
            None => State::of(&mut self.plain)?.encode(level, src, dest),
        }
    }

    /// At no level less dense than the LZ4 1.9 of Blosc 1.x.
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
        super::decode(dict, src, dest, len)
    }
}

/// A state that is always ready for a "fast reset".
struct State(NonNull<StreamHc>);

// SAFETY: plain memory with no tie to the thread that made it.
unsafe impl Send for State {}

impl State {
    fn new() -> Result<State> {
        // SAFETY: no preconditions; null when out of memory.
        let stream = unsafe { ffi::LZ4_createStreamHC() };
        NonNull::new(stream).map(State).ok_or(Error::MemoryAlloc)
    }

    fn of(slot: &mut Option<State>) -> Result<&mut State> {
        Ok(match slot {
            Some(state) => state,
            empty => empty.insert(State::new()?),
        })
    }

    fn encode(&mut self, level: c_int, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // SAFETY: the state was initialised by the library and is used by one-shot calls only; pointers and
        // lengths are those of live slices.
        super::encoded(unsafe {
            ffi::LZ4_compress_HC_extStateHC_fastReset(
                self.0.as_ptr().cast(),
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                super::source_len(src)?,
                super::capacity(dest),
                level,
            )
        })
    }

    /// Encodes with a dictionary, starting from a copy of its filled tables: attaching them, which the library
    /// offers too, finds fewer matches at the low levels. A copy costs no more than clearing the state would.
    fn encode_with(&mut self, dict: &HighDict, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let stream = self.0.as_ptr();
        // SAFETY: both streams are initialised states of this many bytes, and the library's own way to reuse a
        // dictionary's tables is the same plain copy. The bytes of the dictionary, to which the copy points,
        // outlive this call, and no later one looks at the copy.
        super::encoded(unsafe {
            let size = usize::try_from(ffi::LZ4_sizeofStateHC()).map_err(|_| Error::Data)?;
            let tables: *const StreamHc = dict.0.0.as_ptr();
            ptr::copy_nonoverlapping(tables.cast::<u8>(), stream.cast::<u8>(), size);
            ffi::LZ4_compress_HC_continue(
                stream,
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                super::source_len(src)?,
                super::capacity(dest),
            )
        })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ffi::LZ4_freeStreamHC(self.0.as_ptr()) };
    }
}

/// A dictionary's filled tables. They point to the dictionary's bytes, which their owner must keep.
pub(in super::super) struct HighDict(State);

// SAFETY: never changed after it was made.
unsafe impl Sync for HighDict {}

impl HighDict {
    /// The tables of `bytes` for encoding at `level`. The bytes must stay where they are for as long as
    /// the tables are used.
    pub(in super::super) fn new(bytes: &[u8], level: u8) -> Result<HighDict> {
        let state = State::new()?;
        // SAFETY: the stream is fresh, pointer and length are those of a live slice. The level comes first
        // because it decides which tables are filled.
        unsafe {
            ffi::LZ4_resetStreamHC_fast(state.0.as_ptr(), level.into());
            ffi::LZ4_loadDictHC(
                state.0.as_ptr(),
                bytes.as_ptr().cast(),
                super::source_len(bytes)?,
            );
        }
        Ok(HighDict(state))
    }
}
