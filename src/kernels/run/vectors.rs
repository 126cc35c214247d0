//! Run detection with vectors, one cache line at a time.

use crate::kernels::vector::{LINE, Vector};

/// Bytes compared at once after the last whole line.
const WORD: usize = size_of::<u64>();

/// Whether all `len` bytes at `stream` are `byte`.
///
/// # Safety
/// The contract of [`Vector`]; `stream` is valid for reads of `len` bytes.
#[inline(always)]
pub(super) unsafe fn is_run_of<V: Vector>(byte: u8, stream: *const u8, len: usize) -> bool {
    // SAFETY: all accesses are below `len`.
    unsafe {
        let all = V::splat(byte);
        let mut i = 0;
        while i + LINE <= len {
            let mut differ = V::load(stream.add(i)).xor(all);
            for at in (V::BYTES..LINE).step_by(V::BYTES) {
                differ = differ.or(V::load(stream.add(i + at)).xor(all));
            }
            if !differ.is_zero() {
                return false;
            }
            i += LINE;
        }
        let word = u64::from_ne_bytes([byte; WORD]);
        let word_at = |at: usize| stream.add(at).cast::<u64>().read_unaligned();
        while i + WORD <= len {
            if word_at(i) != word {
                return false;
            }
            i += WORD;
        }
        if len >= WORD {
            // The last word overlaps bytes that have been compared.
            return word_at(len - WORD) == word;
        }
        while i < len {
            if *stream.add(i) != byte {
                return false;
            }
            i += 1;
        }
        true
    }
}
