//! The output of a decoder.

use super::super::super::wildcopy::Copier;

/// The first `len` bytes of a buffer; those after them may be overwritten.
///
/// Invariant: `produced <= len <= dest.len()`.
pub(super) struct Output<'a> {
    dest: &'a mut [u8],
    produced: usize,
    len: usize,
}

impl<'a> Output<'a> {
    /// # Panics
    /// If `len` is out of range.
    pub(super) fn new(dest: &'a mut [u8], len: usize) -> Output<'a> {
        assert!(len <= dest.len());
        Output { dest, produced: 0, len }
    }

    /// Returns the number of bytes produced.
    pub(super) fn produced(&self) -> usize {
        self.produced
    }

    /// Returns another view of the same output; [`advance_to`](Self::advance_to) records what it
    /// produces.
    #[inline(always)]
    pub(super) fn reborrow(&mut self) -> Output<'_> {
        Output { dest: self.dest, produced: self.produced, len: self.len }
    }

    /// Records that another view of the output has produced `produced` bytes in total.
    ///
    /// # Panics
    /// If that exceeds the output.
    #[inline(always)]
    pub(super) fn advance_to(&mut self, produced: usize) {
        assert!(produced <= self.len);
        self.produced = produced;
    }

    /// Whether at least `len` more bytes may be produced.
    #[inline(always)]
    pub(super) fn has(&self, len: usize) -> bool {
        self.len - self.produced >= len
    }

    pub(super) fn push(&mut self, literal: u8) -> Option<()> {
        *self.dest[..self.len].get_mut(self.produced)? = literal;
        self.produced += 1;
        Some(())
    }

    /// Appends a literal.
    ///
    /// # Safety
    /// [`has`](Self::has) must be true for 1 byte.
    #[inline(always)]
    pub(super) unsafe fn push_fast(&mut self, literal: u8) {
        // SAFETY: the caller guarantees `produced < len`, and `len <= dest.len()`.
        unsafe { *self.dest.get_unchecked_mut(self.produced) = literal };
        self.produced += 1;
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) -> Option<()> {
        let free = &mut self.dest[self.produced..self.len];
        free.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.produced += bytes.len();
        Some(())
    }

    /// Appends a match. Returns `None` if it begins before the output or ends after it.
    #[inline(always)]
    pub(super) fn copy<C: Copier>(&mut self, distance: usize, length: usize) -> Option<()> {
        if distance > self.produced || !self.has(length) {
            return None;
        }
        // SAFETY: `produced <= len <= dest.len()`, so `dest` has `capacity` bytes from `produced` on.
        // The checks guarantee that at least `length` of them are writable, and that `distance`
        // bytes are before them.
        unsafe {
            let capacity = self.dest.len() - self.produced;
            C::copy_match(self.dest.as_mut_ptr().add(self.produced), distance, length, capacity);
        }
        self.produced += length;
        Some(())
    }
}
