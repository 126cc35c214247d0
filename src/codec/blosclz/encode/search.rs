//! The match finder.
//!
//! It visits the positions in order, looks up the last position of the same 4 bytes and compares
//! the bytes there. The first match that is long enough is accepted, and its bytes are skipped.
//! Most lookups fail, so the failing path is short and handles several positions in a row.

use super::super::limits::FAR;
use super::table::{Index, Slot};
use std::hint::black_box;

/// The number of bytes at the end that are never searched and always literals.
const TAIL: usize = 12;
/// A match of reduced length `n` decodes to `n + REDUCED` bytes.
pub(super) const REDUCED: usize = 2;
/// The minimum reduced length of a far match.
const MIN_REDUCED_FAR: usize = 6;
/// The exclusive upper bound of match distances.
const REACH: usize = 73725;
/// The number of positions looked up in a row.
const BATCH: usize = 4;
/// The number of bytes compared at once, initially and within a long match.
const WORD: usize = size_of::<u64>();
const WIDE: usize = 32;

/// Receives the matches found.
pub(super) trait Sink {
    /// The number of bytes by which a match is shortened at its end, and the minimum reduced
    /// length.
    const BACKOFF: usize;
    /// The minimum number of equal bytes of a match.
    const MIN_EQUAL: usize = 2 * Self::BACKOFF - 1;
    /// Whether far matches have a larger minimum length.
    const STRICT_FAR: bool;
    /// Whether short matches usually have the length of the previous one.
    const STEADY: bool;

    /// Accepts the match of `reduced + REDUCED` bytes at position `at`. Returns whether to
    /// continue.
    fn on_match(&mut self, at: usize, reduced: usize, distance: usize) -> bool;
}

/// Runs the match finder over `src` from position `start`. `index_second` indexes a second position
/// after each match. Returns the position where the search ended, or `None` if `sink` stopped it.
///
/// Not inlined, because the caller would run out of registers.
#[inline(never)]
pub(super) fn search<S: Slot, const BASED: bool, K: Sink>(
    src: &[u8],
    start: usize,
    mut index: Index<'_, S, BASED>,
    index_second: bool,
    sink: &mut K,
) -> Option<usize> {
    let limit = src.len().saturating_sub(TAIL);
    let mut at = start;
    if at == 0 && limit > 0 {
        // A lookup at position 0 would return position 0, since unset entries read as 0. Nothing
        // precedes this position, so it is only indexed.
        index.insert(src, 0);
        at = 1;
    }
    // From this position on, a batch does not fit.
    let batches_end = (limit + 1).saturating_sub(BATCH);
    let mut predictor = LengthPredictor::default();
    while at < limit {
        // SAFETY: `at >= 1`, and each position looked up is below `limit`, which leaves TAIL >=
        // WORD bytes from it.
        let found = unsafe {
            if at < batches_end {
                lookup::<BATCH, S, BASED, K>(src, at, &mut index)
            } else {
                lookup::<1, S, BASED, K>(src, at, &mut index)
            }
        };
        match found {
            Lookup::Miss(next) => at = next,
            Lookup::Match(here, from, differing) => {
                let distance = here - from;
                // Checked after a match only, because this branch is unpredictable.
                if S::LIMIT > REACH && distance >= REACH {
                    at = here + 1;
                    continue;
                }
                let equal = match differing {
                    0 => equal_len(src, from, here),
                    _ => predictor.predict::<K>(differing.trailing_zeros() as usize / 8),
                };
                let end = (here + equal + 1).min(src.len() - 1);
                let reduced = end - here - K::BACKOFF;
                if K::STRICT_FAR && distance >= FAR && reduced < MIN_REDUCED_FAR {
                    at = here + 1;
                    continue;
                }
                if !sink.on_match(here, reduced, distance) {
                    return None;
                }
                let last = here + reduced;
                index.insert(src, last);
                if index_second {
                    index.insert_word(word(src, last) >> 8, last + 1);
                }
                at = last + REDUCED;
            }
        }
    }
    Some(at)
}

/// Predicts the lengths of short matches.
#[derive(Default)]
struct LengthPredictor {
    last: usize,
    /// The number of consecutive lengths equal to the previous one.
    repeats: u32,
}

impl LengthPredictor {
    /// Returns `length`. If lengths are steady, the result does not depend on `length` but on a
    /// predicted branch, so the CPU can start the next lookup before it has computed the end of
    /// this match.
    #[inline(always)]
    fn predict<K: Sink>(&mut self, length: usize) -> usize {
        /// The minimum number of repeated lengths before predicting.
        const MIN_REPEATS: u32 = 8;
        if !K::STEADY {
            return length;
        }
        let is_repeat = length == self.last;
        if self.repeats >= MIN_REPEATS && is_repeat {
            // Keeps the compiler from replacing `last` with the equal `length`.
            return black_box(self.last);
        }
        self.repeats = if is_repeat { self.repeats + 1 } else { 0 };
        self.last = length;
        length
    }
}

/// The result of looking up some positions.
enum Lookup {
    /// No position matched; holds the next position to look up.
    Miss(usize),
    /// The matching position, the earlier position, and the XOR of their words.
    Match(usize, usize, u64),
}

/// Looks up and indexes `N` positions from `at`, up to the first match.
///
/// # Safety
/// `at >= 1`, and `src` has [`WORD`] bytes from each of the `N` positions.
#[inline(always)]
unsafe fn lookup<const N: usize, S: Slot, const BASED: bool, K: Sink>(
    src: &[u8],
    at: usize,
    index: &mut Index<'_, S, BASED>,
) -> Lookup {
    for here in at..at + N {
        // SAFETY: the caller guarantees WORD bytes from `here`, and the slot was just computed. The
        // index started empty, so its entry is either an earlier position or 0, and both are before
        // `here`.
        unsafe {
            let word = load(src, here);
            let slot = index.slot(word as u32);
            let from = index.position_of(index.entry(slot));
            index.set_entry(slot, index.entry_of(here));
            let differing = word ^ load(src, from);
            if differing << (64 - 8 * K::MIN_EQUAL) == 0 {
                return Lookup::Match(here, from, differing);
            }
        }
    }
    Lookup::Miss(at + N)
}

/// Returns the number of equal bytes from `here` and from `from < here`, up to the end of `src`.
/// The first words are known to be equal.
#[inline(always)]
fn equal_len(src: &[u8], from: usize, here: usize) -> usize {
    let mut equal = WORD;
    loop {
        // Equal words suggest a long match.
        while here + equal + WIDE <= src.len() && wide_equal(src, from + equal, here + equal) {
            equal += WIDE;
        }
        if here + equal + WORD > src.len() {
            break;
        }
        // SAFETY: `src` has a word from `here + equal`, as just checked, and `from < here`.
        let differing = unsafe { load(src, here + equal) ^ load(src, from + equal) };
        if differing != 0 {
            return equal + (differing.trailing_zeros() / 8) as usize;
        }
        equal += WORD;
    }
    while here + equal < src.len() && src[here + equal] == src[from + equal] {
        equal += 1;
    }
    equal
}

/// Whether [`WIDE`] bytes at two positions are equal.
#[inline(always)]
fn wide_equal(src: &[u8], from: usize, here: usize) -> bool {
    src[from..from + WIDE] == src[here..here + WIDE]
}

/// Loads the little-endian word at a position.
///
/// # Safety
/// `src` must have [`WORD`] bytes from `position`.
#[inline(always)]
unsafe fn load(src: &[u8], position: usize) -> u64 {
    // SAFETY: the caller guarantees these bytes.
    u64::from_le(unsafe { src.as_ptr().add(position).cast::<u64>().read_unaligned() })
}

/// Loads the 4 bytes at a position as a little-endian integer.
#[inline(always)]
fn word(src: &[u8], position: usize) -> u32 {
    u32::from_le_bytes(src[position..position + 4].try_into().expect("4 bytes"))
}

impl<S: Slot, const BASED: bool> Index<'_, S, BASED> {
    /// Indexes a position under its own bytes.
    #[inline(always)]
    fn insert(&mut self, src: &[u8], position: usize) {
        self.insert_word(word(src, position), position);
    }

    /// Indexes a position under `word`.
    #[inline(always)]
    fn insert_word(&mut self, word: u32, position: usize) {
        let slot = self.slot(word);
        // SAFETY: the slot was just computed.
        unsafe { self.set_entry(slot, self.entry_of(position)) };
    }
}
