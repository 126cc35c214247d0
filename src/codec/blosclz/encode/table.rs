//! The match finder's hash table: maps the hash of 4 bytes to their last position.
//!
//! The table is cleared before a long stream. Before a short one, clearing would cost more than
//! encoding. Its positions are stored relative to the table's `base` instead, which grows with each
//! stream, so entries of earlier streams are below it. An entry not set in this stream reads as
//! position 0, as in a cleared table.

use crate::Result;

/// The largest supported hash size in bits.
pub(super) const MAX_HASH_BITS: u32 = 14;

/// A table entry: a position plus the table's base.
pub(super) trait Slot: Copy + Default {
    /// The number of distinct values of an entry.
    const LIMIT: usize;
    fn new(value: usize) -> Self;
    fn value(self) -> usize;
}

impl Slot for u16 {
    const LIMIT: usize = 1 << 16;

    #[inline(always)]
    fn new(value: usize) -> u16 {
        value as u16
    }

    #[inline(always)]
    fn value(self) -> usize {
        self.into()
    }
}

impl Slot for u32 {
    const LIMIT: usize = (u32::MAX as usize).saturating_add(1);

    #[inline(always)]
    fn new(value: usize) -> u32 {
        value as u32
    }

    #[inline(always)]
    fn value(self) -> usize {
        self as usize
    }
}

/// The memory of a table, reused by later streams.
#[derive(Default)]
pub(super) struct Table<S> {
    slots: Vec<S>,
    /// One more than the highest stored value.
    base: usize,
}

impl<S: Slot> Table<S> {
    /// Whether [`cleared`](Self::cleared) is estimated to be faster than
    /// [`with_base`](Self::with_base) for a stream of `positions` bytes: at most eight bytes to
    /// clear per position.
    pub(super) fn clearing_pays(positions: usize, hash_bits: u32) -> bool {
        positions >= (size_of::<S>() << hash_bits) / 8
    }

    /// Returns an index without positions for a stream of `positions <= S::LIMIT` bytes.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub(super) fn with_base(
        &mut self,
        positions: usize,
        hash_bits: u32,
    ) -> Result<Index<'_, S, true>> {
        self.allocate(positions, hash_bits)?;
        if self.base.checked_add(positions).is_none_or(|end| end > S::LIMIT) {
            self.slots.fill(S::default());
            self.base = 0;
        }
        let base = self.base;
        self.base += positions;
        Ok(Index { slots: &mut self.slots, base, shift: u32::BITS - hash_bits })
    }

    /// Clears the table and returns an index like [`with_base`](Self::with_base), but with base 0.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub(super) fn cleared(
        &mut self,
        positions: usize,
        hash_bits: u32,
    ) -> Result<Index<'_, S, false>> {
        self.allocate(positions, hash_bits)?;
        self.slots[..1 << hash_bits].fill(S::default());
        // All values stored by this stream, and those left in the other slots, are below this.
        self.base = self.base.max(positions);
        Ok(Index { slots: &mut self.slots, base: 0, shift: u32::BITS - hash_bits })
    }

    /// Allocates the slots on first use and checks the limits.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    fn allocate(&mut self, positions: usize, hash_bits: u32) -> Result<()> {
        assert!(positions <= S::LIMIT && hash_bits <= MAX_HASH_BITS);
        if self.slots.is_empty() {
            self.slots.try_reserve_exact(1 << MAX_HASH_BITS)?;
            self.slots.resize(1 << MAX_HASH_BITS, S::default());
        }
        Ok(())
    }
}

/// A table as used by one stream. Without `BASED`, its base is 0.
pub(super) struct Index<'a, S, const BASED: bool> {
    slots: &'a mut [S],
    base: usize,
    shift: u32,
}

impl<S: Slot, const BASED: bool> Index<'_, S, BASED> {
    /// Returns the slot of `word`.
    #[inline(always)]
    pub(super) fn slot(&self, word: u32) -> usize {
        (word.wrapping_mul(2_654_435_761) >> self.shift) as usize
    }

    /// Returns the entry in a slot.
    ///
    /// # Safety
    /// `slot` must come from [`slot`](Self::slot).
    #[inline(always)]
    pub(super) unsafe fn entry(&self, slot: usize) -> S {
        // SAFETY: a slot number has at most MAX_HASH_BITS bits, and there are `1 << MAX_HASH_BITS`
        // slots.
        unsafe { *self.slots.get_unchecked(slot) }
    }

    /// Sets the entry in a slot.
    ///
    /// # Safety
    /// `slot` must come from [`slot`](Self::slot).
    #[inline(always)]
    pub(super) unsafe fn set_entry(&mut self, slot: usize, entry: S) {
        // SAFETY: as in `entry`.
        unsafe { *self.slots.get_unchecked_mut(slot) = entry };
    }

    /// Returns the entry that represents a position of this stream.
    #[inline(always)]
    pub(super) fn entry_of(&self, position: usize) -> S {
        S::new(if BASED { self.base + position } else { position })
    }

    /// Returns the position that an entry represents, or 0 if it was set by an earlier stream.
    #[inline(always)]
    pub(super) fn position_of(&self, entry: S) -> usize {
        if BASED { entry.value().saturating_sub(self.base) } else { entry.value() }
    }
}
