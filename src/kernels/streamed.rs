//! Copies past the caches, for destinations so large that they would only push other data out of them.

/// Copies `src` to `dest` of the same length without reading `dest` into the caches first, where the CPU can.
///
/// # Panics
/// If the lengths differ.
pub fn copy(src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len());
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        const LINE: usize = 64;
        let head = dest.as_ptr().align_offset(LINE).min(dest.len());
        let (src_head, src) = src.split_at(head);
        let (dest_head, dest) = dest.split_at_mut(head);
        dest_head.copy_from_slice(src_head);
        let lines = dest.len() / LINE * LINE;
        let (src_lines, src_tail) = src.split_at(lines);
        let (dest_lines, dest_tail) = dest.split_at_mut(lines);
        for (from, to) in src_lines.chunks_exact(LINE).zip(dest_lines.chunks_exact_mut(LINE)) {
            let from = from.as_ptr().cast::<__m128i>();
            let to = to.as_mut_ptr().cast::<__m128i>();
            // SAFETY: SSE2 is x86-64's baseline; both are lines, `to` is aligned to one.
            unsafe {
                let line = [
                    _mm_loadu_si128(from),
                    _mm_loadu_si128(from.add(1)),
                    _mm_loadu_si128(from.add(2)),
                    _mm_loadu_si128(from.add(3)),
                ];
                _mm_stream_si128(to, line[0]);
                _mm_stream_si128(to.add(1), line[1]);
                _mm_stream_si128(to.add(2), line[2]);
                _mm_stream_si128(to.add(3), line[3]);
            }
        }
        dest_tail.copy_from_slice(src_tail);
        // SAFETY: SSE2 as above.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    dest.copy_from_slice(src);
}
