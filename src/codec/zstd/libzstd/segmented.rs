//! Frames in segments: incompressible regions are written without matches.
//!
//! ```text
//! header  blocks with matches | blocks of literals or raw | blocks with matches | ...
//! ```
//!
//! The library calls a *sequence producer* for the matches of each block. Ours returns no matches
//! for blocks in regions, and fails for all others, which the library then searches itself. The
//! frame is flushed at the boundaries of regions, so that each block is either inside or outside a
//! region. Positions in regions are not indexed, so later matches do not refer to them.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use zstd_sys::{
    ZSTD_CCtx_setPledgedSrcSize, ZSTD_EndDirective, ZSTD_Sequence, ZSTD_cParameter,
    ZSTD_compressStream2, ZSTD_inBuffer, ZSTD_isError, ZSTD_outBuffer,
    ZSTD_registerSequenceProducer,
};

use super::context::{Encoder, encoded};
use crate::Result;
use crate::codec::incompressible::Region;

/// The library's parameters for stable buffers, which avoid copies, and for its own search if a
/// sequence producer fails. They have no names in the stable interface.
const STABLE_INPUT: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam9;
const STABLE_OUTPUT: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam10;
const SEARCH_FALLBACK: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam17;

/// The value that disables long-distance matching, which the library enables at its last level for
/// streams of more than 64 MiB but cannot combine with a sequence producer.
const DISABLED: i32 = 2;

/// The error value of a sequence producer.
const PRODUCER_FAILED: usize = usize::MAX;

/// The block size in regions; neighbouring planes have different statistics. A block may reuse the
/// entropy code of the previous one.
const REGION_BLOCK: usize = 8 << 10;

/// The regions, as passed to the sequence producer.
struct SegmentMap<'a> {
    src: *const u8,
    regions: &'a [Region],
}

impl SegmentMap<'_> {
    /// Whether this block of the stream is in a region.
    fn is_incompressible(&self, block: *const u8) -> bool {
        let start = block.addr().wrapping_sub(self.src.addr());
        let before = self.regions.partition_point(|region| region.bytes.end <= start);
        let region = self.regions.get(before);
        region.is_some_and(|region| region.bytes.contains(&start))
    }
}

impl Encoder {
    /// Encodes `src` without a search in `regions`, which are not empty, with `parameters` in
    /// addition to our own.
    pub(super) fn encode_segmented(
        &mut self,
        regions: &[Region],
        parameters: impl IntoIterator<Item = (ZSTD_cParameter, i32)>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let context = self.0.as_ptr();
        let map = SegmentMap { src: src.as_ptr(), regions };
        let fixed = [
            (STABLE_INPUT, 1),
            (STABLE_OUTPUT, 1),
            (SEARCH_FALLBACK, 1),
            (ZSTD_cParameter::ZSTD_c_enableLongDistanceMatching, DISABLED),
        ];
        self.set(fixed.into_iter().chain(parameters));
        // SAFETY: the context is exclusively owned. `map` outlives the frame, after which the
        // producer is removed.
        unsafe {
            ZSTD_CCtx_setPledgedSrcSize(context, src.len() as u64);
            let state = (&raw const map).cast_mut().cast();
            ZSTD_registerSequenceProducer(context, state, Some(produce_literals));
        }
        let mut input = ZSTD_inBuffer { src: src.as_ptr().cast(), size: 0, pos: 0 };
        let mut output = ZSTD_outBuffer { dst: dest.as_mut_ptr().cast(), size: dest.len(), pos: 0 };
        let boundaries = regions.iter().flat_map(|region| {
            let Range { start, end } = region.bytes;
            (start..end).step_by(REGION_BLOCK).chain([end])
        });
        let mut result = 0;
        for end in boundaries.chain([src.len()]) {
            let last = end == src.len();
            if end == input.size && !last {
                continue;
            }
            input.size = end;
            let directive =
                if last { ZSTD_EndDirective::ZSTD_e_end } else { ZSTD_EndDirective::ZSTD_e_flush };
            // SAFETY: the context is exclusively owned; the buffers are live slices, or prefixes of
            // them, and do not change between calls.
            result = unsafe { ZSTD_compressStream2(context, &mut output, &mut input, directive) };
            // SAFETY: the function only inspects the number.
            if last || unsafe { ZSTD_isError(result) } != 0 {
                break;
            }
        }
        self.set([]);
        // Without an error, stable buffers leave nothing to be flushed.
        match result {
            0 => Ok(output.pos),
            error => encoded(error),
        }
    }
}

/// Returns a block in a region as one run of literals; called by the library as its sequence
/// producer.
///
/// # Safety
/// `map` points to a [`SegmentMap`], and `sequences` to space for `capacity` sequences.
unsafe extern "C" fn produce_literals(
    map: *mut c_void,
    sequences: *mut ZSTD_Sequence,
    capacity: usize,
    block: *const c_void,
    len: usize,
    _dict: *const c_void,
    _dict_len: usize,
    _level: c_int,
    _window: usize,
) -> usize {
    // SAFETY: guaranteed by the caller; `encode_segmented` keeps the map on its stack until the
    // frame is finished.
    let map = unsafe { &*map.cast::<SegmentMap>() };
    match u32::try_from(len) {
        Ok(len) if capacity > 0 && map.is_incompressible(block.cast()) => {
            let literals = ZSTD_Sequence { offset: 0, litLength: len, matchLength: 0, rep: 0 };
            // SAFETY: guaranteed by the caller; the capacity is at least one.
            unsafe { sequences.write(literals) };
            1
        }
        _ => PRODUCER_FAILED,
    }
}
