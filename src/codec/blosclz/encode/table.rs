//! The match finder's hash table: for each hash of 4 bytes, where such bytes were last seen.
//!
//! Before a long stream the table is cleared. Before a short one that would cost more than encoding it. So there positions are
//! stored with an offset, the table's `base`, that grows from stream to stream: whatever an earlier stream left behind is
//! below it. An entry never set in this stream reads as position 0, just as in a cleared table.

use crate::Result;

/// The most bits a hash may have.
pub(super) const MAX_HASH_BITS: u32 = 14;

/// An entry: a position plus the table's base.
pub(super) trait Slot: Copy + Default {
    /// How many positions an entry can tell apart.
    const LIMIT: usize;
    /// The entry for this value, which is below [`LIMIT`](Self::LIMIT).
    fn new(value: usize) -> Self;
    /// The value.
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
    const LIMIT: usize = 1 << 32;

    #[inline(always)]
    fn new(value: usize) -> u32 {
        value as u32
    }

    #[inline(always)]
    fn value(self) -> usize {
        self as usize
    }
}

/// The memory of a table, kept between streams.
#[derive(Default)]
pub(super) struct Table<S> {
    slots: Vec<S>,
    /// One more than the highest value stored.
    base: usize,
}

impl<S: Slot> Table<S> {
    /// True when [`cleared`](Self::cleared) is taken to be quicker than [`based`](Self::based) for a stream of so many bytes: when
    /// no more than eight bytes are cleared for each position that is searched for less.
    pub(super) fn clearing_pays(positions: usize, hash_bits: u32) -> bool {
        positions >= (size_of::<S>() << hash_bits) / 8
    }

    /// An index in which no position is set, for a stream of `positions <= S::LIMIT` bytes.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub(super) fn based(&mut self, positions: usize, hash_bits: u32) -> Result<Index<'_, S, true>> {
        self.make(positions, hash_bits)?;
        if self.base + positions > S::LIMIT {
            self.slots.fill(S::default());
            self.base = 0;
        }
        let base = self.base;
        self.base += positions;
        Ok(Index {
            slots: &mut self.slots,
            base,
            shift: u32::BITS - hash_bits,
        })
    }

    /// Such an index that has been cleared.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub(super) fn cleared(
        &mut self,
        positions: usize,
        hash_bits: u32,
    ) -> Result<Index<'_, S, false>> {
        self.make(positions, hash_bits)?;
        self.slots[..1 << hash_bits].fill(S::default());
        // What is stored now is below this, like all that is left in the other slots.
        self.base = self.base.max(positions);
        Ok(Index {
            slots: &mut self.slots,
            base: 0,
            shift: u32::BITS - hash_bits,
        })
    }

    /// Sees to it that there are slots for a stream of so many bytes and hashes of so many bits.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    fn make(&mut self, positions: usize, hash_bits: u32) -> Result<()> {
        const { assert!(size_of::<usize>() >= 8, "positions of u32 and more") };
        assert!(positions <= S::LIMIT && hash_bits <= MAX_HASH_BITS);
        if self.slots.is_empty() {
            self.slots.try_reserve_exact(1 << MAX_HASH_BITS)?;
            self.slots.resize(1 << MAX_HASH_BITS, S::default());
        }
        Ok(())
    }
}

/// A table as one stream sees it. Without `BASED`, its base is 0.
pub(super) struct Index<'a, S, const BASED: bool> {
    slots: &'a mut [S],
    base: usize,
    shift: u32,
}

impl<S: Slot, const BASED: bool> Index<'_, S, BASED> {
    /// Where words like `word` are noted.
    #[inline(always)]
    pub(super) fn place(&self, word: u32) -> usize {
        (word.wrapping_mul(2_654_435_761) >> self.shift) as usize
    }

    /// The entry at a place.
    ///
    /// # Safety
    /// `place` must come from [`place`](Self::place).
    #[inline(always)]
    pub(super) unsafe fn entry(&self, place: usize) -> S {
        // SAFETY: a place has at most MAX_HASH_BITS bits, and there are as many slots.
        unsafe { *self.slots.get_unchecked(place) }
    }

    /// Sets the entry at a place.
    ///
    /// # Safety
    /// `place` must come from [`place`](Self::place).
    #[inline(always)]
    pub(super) unsafe fn set_entry(&mut self, place: usize, entry: S) {
        // SAFETY: as in `entry`.
        unsafe { *self.slots.get_unchecked_mut(place) = entry };
    }

    /// The entry that stands for a position of this stream.
    #[inline(always)]
    pub(super) fn entry_of(&self, position: usize) -> S {
        S::new(if BASED {
            self.base + position
        } else {
            position
        })
    }

    /// The position an entry stands for; 0 if it is left over from an earlier stream.
    #[inline(always)]
    pub(super) fn position_of(&self, entry: S) -> usize {
        if BASED {
            entry.value().saturating_sub(self.base)
        } else {
            entry.value()
        }
    }
}
