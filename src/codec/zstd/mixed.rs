//! A frame of which the noise is written without matches.
//!
//! ```text
//! head  blocks with matches | blocks of literals or raw | blocks with matches | ...
//! ```
//!
//! The library asks a *sequence producer* for the matches of each block. Ours says that noise has none, and of all else that the library
//! is to search for itself. Noise has blocks of its own, as the frame is flushed where it begins and ends. Positions in noise
//! are not noted, so nothing behind it is found there.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use zstd_sys::{
    ZSTD_CCtx_setPledgedSrcSize, ZSTD_EndDirective, ZSTD_Sequence, ZSTD_cParameter,
    ZSTD_compressStream2, ZSTD_inBuffer, ZSTD_isError, ZSTD_outBuffer,
    ZSTD_registerSequenceProducer,
};

use super::{Encoder, encoded};
use crate::Result;
use crate::codec::noise::Run;

/// The library's parameters for buffers that stay where they are, so that nothing is copied, and for a search of its own where a
/// sequence producer fails. They have no names in the stable interface.
const STABLE_INPUT: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam9;
const STABLE_OUTPUT: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam10;
const SEARCH_INSTEAD: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam17;

/// Matches at long distances are what the library looks for in streams of more than 64 MiB at its last level, but not beside a
/// sequence producer.
const NO_LONG_DISTANCES: i32 = 2;

/// What a sequence producer returns that fails.
const FAILED: usize = usize::MAX;

/// Noise is cut into blocks of this size, as planes side by side have other values; a block needn't have a code of its own.
const NOISE_BLOCK: usize = 8 << 10;

/// What the sequence producer is to know: where the noise is.
struct Known<'a> {
    src: *const u8,
    runs: &'a [Run],
}

impl Known<'_> {
    /// Whether this block of the stream is noise.
    fn is_noise(&self, block: *const u8) -> bool {
        let start = block.addr().wrapping_sub(self.src.addr());
        let before = self.runs.partition_point(|run| run.bytes.end <= start);
        let run = self.runs.get(before);
        run.is_some_and(|run| run.bytes.contains(&start))
    }
}

impl Encoder {
    /// Encodes `src` without a search in its noise, `runs`, of which there is some; with `parameters` beside the level.
    pub(super) fn encode_around(
        &mut self,
        runs: &[Run],
        parameters: impl IntoIterator<Item = (ZSTD_cParameter, i32)>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let context = self.0.as_ptr();
        let noise = Known {
            src: src.as_ptr(),
            runs,
        };
        let ours = [
            (STABLE_INPUT, 1),
            (STABLE_OUTPUT, 1),
            (SEARCH_INSTEAD, 1),
            (
                ZSTD_cParameter::ZSTD_c_enableLongDistanceMatching,
                NO_LONG_DISTANCES,
            ),
        ];
        self.set(ours.into_iter().chain(parameters));
        // SAFETY: the context is ours alone. `noise` outlives the frame, behind which the producer is forgotten.
        unsafe {
            ZSTD_CCtx_setPledgedSrcSize(context, src.len() as u64);
            let state = (&raw const noise).cast_mut().cast();
            ZSTD_registerSequenceProducer(context, state, Some(literals_of_noise));
        }
        let mut input = ZSTD_inBuffer {
            src: src.as_ptr().cast(),
            size: 0,
            pos: 0,
        };
        let mut output = ZSTD_outBuffer {
            dst: dest.as_mut_ptr().cast(),
            size: dest.len(),
            pos: 0,
        };
        let borders = runs.iter().flat_map(|run| {
            let Range { start, end } = run.bytes;
            (start..end).step_by(NOISE_BLOCK).chain([end])
        });
        let mut result = 0;
        for end in borders.chain([src.len()]) {
            let last = end == src.len();
            if end == input.size && !last {
                continue;
            }
            input.size = end;
            let directive = if last {
                ZSTD_EndDirective::ZSTD_e_end
            } else {
                ZSTD_EndDirective::ZSTD_e_flush
            };
            // SAFETY: the context is ours alone; the buffers are live slices, or their beginnings, and stay the same
            // from call to call.
            result = unsafe { ZSTD_compressStream2(context, &mut output, &mut input, directive) };
            // SAFETY: only looks at the number.
            if last || unsafe { ZSTD_isError(result) } != 0 {
                break;
            }
        }
        self.set([]);
        // Without an error, with such buffers, nothing is left to be written.
        match result {
            0 => Ok(output.pos),
            error => encoded(error),
        }
    }
}

/// The sequence producer: a block of noise is one run of literals.
///
/// # Safety
/// `noise` points to a [`Known`], `sequences` to room for as many as `capacity`.
unsafe extern "C" fn literals_of_noise(
    noise: *mut c_void,
    sequences: *mut ZSTD_Sequence,
    capacity: usize,
    block: *const c_void,
    len: usize,
    _dict: *const c_void,
    _dict_len: usize,
    _level: c_int,
    _window: usize,
) -> usize {
    // SAFETY: the caller's contract; `encode_around` has it on its stack until the frame is done.
    let noise = unsafe { &*noise.cast::<Known>() };
    match u32::try_from(len) {
        Ok(len) if capacity > 0 && noise.is_noise(block.cast()) => {
            let literals = ZSTD_Sequence {
                offset: 0,
                litLength: len,
                matchLength: 0,
                rep: 0,
            };
            // SAFETY: the caller's contract; the capacity is one at least.
            unsafe { sequences.write(literals) };
            1
        }
        _ => FAILED,
    }
}
