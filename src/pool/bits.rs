//! A lock-free set of small numbers shared by threads: one bit each, 64 per word.

use super::sync::{AtomicU64, Ordering};

const WORD: usize = u64::BITS as usize;

/// A set of numbers below a capacity.
///
/// Every operation is SeqCst. One of the sets (parked helpers) is part of a Dekker-style protocol:
/// "open a run, then check for parked helpers" against "park, then check for open runs", which
/// needs a single order of both. For the other sets acquire and release would suffice, but they
/// change only when a run begins, and on the supported CPUs an atomic read-modify-write costs the
/// same in either ordering.
pub(super) struct Bits {
    words: Box<[AtomicU64]>,
    capacity: usize,
}

impl Bits {
    /// Returns an empty set of numbers below `capacity`.
    pub(super) fn new(capacity: usize) -> Bits {
        let words = (0..capacity.div_ceil(WORD)).map(|_| AtomicU64::new(0));
        Bits { words: words.collect(), capacity }
    }

    /// Inserts `number`.
    pub(super) fn insert(&self, number: usize) {
        self.words[number / WORD].fetch_or(1 << (number % WORD), Ordering::SeqCst);
    }

    /// Removes `number`; returns whether it was in the set.
    pub(super) fn remove(&self, number: usize) -> bool {
        let bit = 1 << (number % WORD);
        self.words[number / WORD].fetch_and(!bit, Ordering::SeqCst) & bit != 0
    }

    /// Removes and returns the smallest number.
    pub(super) fn pop(&self) -> Option<usize> {
        self.change(|bits| bits.trailing_zeros(), |bits, bit| bits & !bit)
    }

    /// Inserts and returns the smallest number below the capacity that is not in the set.
    pub(super) fn push(&self) -> Option<usize> {
        self.change(|bits| bits.trailing_ones(), |bits, bit| bits | bit)
    }

    /// Applies `with` to the bit that `choose` finds, in the first word that has such a bit.
    /// Returns the number of the bit.
    fn change(&self, choose: fn(u64) -> u32, with: fn(u64, u64) -> u64) -> Option<usize> {
        for (index, word) in self.words.iter().enumerate() {
            let mut bits = word.load(Ordering::SeqCst);
            loop {
                let chosen = choose(bits) as usize;
                let number = index * WORD + chosen;
                if chosen == WORD || number >= self.capacity {
                    break;
                }
                let changed = with(bits, 1 << chosen);
                match word.compare_exchange_weak(bits, changed, Ordering::SeqCst, Ordering::SeqCst)
                {
                    Ok(_) => return Some(number),
                    Err(now) => bits = now,
                }
            }
        }
        None
    }
}

#[cfg(test)]
impl Bits {
    pub(super) fn len(&self) -> usize {
        self.words.iter().map(|word| word.load(Ordering::SeqCst).count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_popped_smallest_first() {
        let set = Bits::new(200);
        for number in [130, 7, 199, 64] {
            set.insert(number);
        }
        assert!(set.remove(64));
        assert!(!set.remove(64));
        let popped: Vec<_> = std::iter::from_fn(|| set.pop()).collect();
        assert_eq!(popped, [7, 130, 199]);
    }

    #[test]
    fn push_fills_gaps_up_to_the_capacity() {
        for capacity in [1, 63, 64, 65, 130] {
            let set = Bits::new(capacity);
            for number in 0..capacity {
                assert_eq!(set.push(), Some(number));
            }
            assert_eq!(set.push(), None);
            assert!(set.remove(capacity / 2));
            assert_eq!(set.push(), Some(capacity / 2));
        }
    }

    #[test]
    fn two_threads_never_have_the_same_number() {
        let set = Bits::new(100);
        let pushed = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| std::iter::from_fn(|| set.push()).collect::<Vec<_>>()))
                .collect();
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect::<Vec<_>>()
        });
        let mut sorted = pushed;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
}
