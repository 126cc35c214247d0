//! Run detection with vectors, a cache line at a time.

use crate::kernels::vector::{LINE, Vector};

/// True when all `len` bytes at `stream` are `byte`.
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
        while i < len {
            if *stream.add(i) != byte {
                return false;
            }
            i += 1;
        }
        true
    }
}
