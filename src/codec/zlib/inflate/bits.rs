//! The bits of a stream.

use std::ptr;

use super::entry::{CODEWORD_SHIFT, Entry, VALUE_SHIFT};

/// The unread bits of a stream.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    src: &'a [u8],
    /// The offset of the first byte that is not in `bits`.
    position: usize,
    /// The next bits, from the lowest one on. Bits above `available` may be those of the stream.
    bits: u64,
    /// The number of bits that may be consumed, in the lowest 8 bits; those after the end of the
    /// stream are zeros.
    available: u32,
    /// The number of bytes in `bits` that are after the end of the stream.
    excess: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(src: &'a [u8]) -> Bits<'a> {
        Bits { src, position: 0, bits: 0, available: 0, excess: 0 }
    }

    /// Whether at least `len` bytes are not in `bits`.
    #[inline(always)]
    pub(super) fn has(&self, len: usize) -> bool {
        self.src.len() - self.position >= len
    }

    /// Makes at least 56 bits available. Returns `None` if bits after the end of the stream were
    /// consumed.
    #[inline(always)]
    pub(super) fn refill(&mut self) -> Option<()> {
        if self.has(size_of::<u64>()) {
            // SAFETY: the bytes were just checked.
            unsafe { self.refill_fast() };
            return Some(());
        }
        self.available = u32::from(self.available as u8);
        self.bits &= (1 << self.available) - 1;
        while self.available < 56 {
            if let Some(&byte) = self.src.get(self.position) {
                self.bits |= u64::from(byte) << self.available;
                self.position += 1;
            } else {
                self.excess += 1;
            }
            self.available += 8;
        }
        (self.excess <= self.available as usize / 8).then_some(())
    }

    /// Makes at least 56 bits available.
    ///
    /// # Safety
    /// [`has`](Self::has) must be true for 8 bytes.
    #[inline(always)]
    pub(super) unsafe fn refill_fast(&mut self) {
        debug_assert!(self.has(size_of::<u64>()) && self.available as u8 <= 63);
        // SAFETY: the caller guarantees that `src` has 8 bytes from `position` on.
        let word: u64 = unsafe { ptr::read_unaligned(self.src.as_ptr().add(self.position).cast()) };
        self.bits |= u64::from_le(word) << (self.available & 63);
        self.position += 7 - (self.available as usize >> 3 & 7);
        self.available |= 56;
    }

    /// Returns the next bits as an index.
    #[inline(always)]
    pub(super) fn peek(&self, count: u32) -> usize {
        self.bits as usize & ((1 << count) - 1)
    }

    /// Returns `count` bits after the next `skipped` ones as an index.
    #[inline(always)]
    pub(super) fn peek_after(&self, skipped: u32, count: u32) -> usize {
        (self.bits >> skipped) as usize & ((1 << count) - 1)
    }

    /// Whether at least `count` bits are available.
    #[inline(always)]
    pub(super) fn are_available(&self, count: u8) -> bool {
        self.available as u8 >= count
    }

    /// Consumes and returns at most 13 bits.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let value = self.peek(count) as u32;
        self.consume(count);
        value
    }

    /// Consumes the bits of an entry.
    #[inline(always)]
    pub(super) fn consume(&mut self, entry: Entry) {
        // Without masks of their own, these are two instructions; a shift ignores the other bits.
        self.bits >>= entry & 63;
        self.available = self.available.wrapping_sub(entry);
    }

    /// Consumes the bits of an entry; returns its value with the extra bits.
    #[inline(always)]
    pub(super) fn value(&mut self, entry: Entry) -> usize {
        let with_extra = self.bits & ((1 << (entry & 63)) - 1);
        let extra = with_extra >> (entry >> CODEWORD_SHIFT & 0xf);
        self.consume(entry);
        (entry >> VALUE_SHIFT) as usize + extra as usize
    }

    /// Discards the bits up to the next byte, and all bits that are available. Returns the offset
    /// of this byte, or `None` if it is after the end.
    pub(super) fn align(&mut self) -> Option<usize> {
        let unread = usize::from(self.available as u8 / 8);
        self.position -= unread.checked_sub(self.excess)?;
        (self.bits, self.available, self.excess) = (0, 0, 0);
        Some(self.position)
    }

    /// Discards the bits up to the next byte, and reads `len` bytes. Returns `None` if the stream
    /// ends before.
    pub(super) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let from = self.align()?;
        let bytes = self.src[from..].get(..len)?;
        self.position += len;
        Some(bytes)
    }
}
