//! Copies, each with a preemption in the middle.

pub(crate) mod copy {
    /// Copies `src` to `dest`, which has the same length.
    pub(crate) fn copy(src: &[u8], dest: &mut [u8]) {
        let half = src.len() / 2;
        dest[..half].copy_from_slice(&src[..half]);
        shuttle::thread::yield_now();
        dest[half..].copy_from_slice(&src[half..]);
    }
}
