//! The match finder.
//!
//! It looks at every position once, in order: where was a word like this last seen, and do the bytes there go on
//! like the bytes here? The first good answer is taken. The usual answer is "nothing", so what has to be done for it is
//! little, and done for a few positions in a row.

use super::super::FAR;
use super::table::{Index, Slot};
use std::hint::black_box;

/// How many bytes at the end are never searched: they are the last literals.
const TAIL: usize = 12;
/// A match of `reduced` length is this much longer when decoded.
pub(super) const REDUCED: usize = 2;
/// The least reduced length of a far match.
const MIN_REDUCED_FAR: usize = 6;
/// Matches reach less far back than this.
const REACH: usize = 73725;
/// How many positions are looked at in a row.
const ROW: usize = 4;
/// The bytes compared at once, at first and then in a long match.
const WORD: usize = size_of::<u64>();
const LEAP: usize = 32;

/// What becomes of the matches found.
pub(super) trait Sink {
    /// The bytes a match gives back at its end, for the literals behind it; a match's reduced length is no
    /// shorter.
    const GIVE_BACK: usize;
    /// How many equal bytes it takes for a match.
    const MIN_EQUAL: usize = 2 * Self::GIVE_BACK - 1;
    /// Whether far matches must be longer.
    const STRICT_FAR: bool;
    /// Whether short matches are likely to be as long as the one before.
    const STEADY: bool;

    /// Takes the match of `reduced + REDUCED` bytes at position `at`. Returns whether to go on.
    fn matched(&mut self, at: usize, reduced: usize, distance: usize) -> bool;
}

/// Runs the match finder over `src` from position `start` on. `twice` indexes a second position behind each match.
/// Returns the position where the search ended, or `None` if `sink` wanted no more.
///
/// Put into its caller, it would run out of registers.
#[inline(never)]
pub(super) fn search<S: Slot, const BASED: bool, K: Sink>(
    src: &[u8],
    start: usize,
    mut index: Index<'_, S, BASED>,
    twice: bool,
    sink: &mut K,
) -> Option<usize> {
    let limit = src.len().saturating_sub(TAIL);
    let mut at = start;
    if at == 0 && limit > 0 {
        // The only position that could find itself: it has nothing before it, so it is just noted.
        index.note(src, 0);
        at = 1;
    }
    // From here on there is no row left.
    let rows_end = (limit + 1).saturating_sub(ROW);
    let mut lengths = Lengths::default();
    while at < limit {
        // SAFETY: `1 <= at`, and `limit` leaves TAIL bytes from each position on.
        let found = unsafe {
            if at < rows_end {
                look::<ROW, S, BASED, K>(src, at, &mut index)
            } else {
                look::<1, S, BASED, K>(src, at, &mut index)
            }
        };
        match found {
            Look::Nothing(next) => at = next,
            Look::Match(here, from, differing) => {
                let distance = here - from;
                // Asked of hits alone: whether a place was noted so long ago can't be predicted.
                if S::LIMIT > REACH && distance >= REACH {
                    at = here + 1;
                    continue;
                }
                let equal = match differing {
                    0 => equal_beyond(src, from, here),
                    _ => lengths.next::<K>(differing.trailing_zeros() as usize / 8),
                };
                let end = (here + equal + 1).min(src.len() - 1);
                let reduced = end - here - K::GIVE_BACK;
                if K::STRICT_FAR && distance >= FAR && reduced < MIN_REDUCED_FAR {
                    at = here + 1;
                    continue;
                }
                if !sink.matched(here, reduced, distance) {
                    return None;
                }
                let last = here + reduced;
                index.note(src, last);
                if twice {
                    index.note_as(word(src, last) >> 8, last + 1);
                }
                at = last + REDUCED;
            }
        }
    }
    Some(at)
}

/// The lengths of short matches.
#[derive(Default)]
struct Lengths {
    last: usize,
    /// How many in a row have been as long as the one before.
    alike: u32,
}

impl Lengths {
    /// Takes the next length and returns it, in such a way that the CPU needn't wait for it where lengths are steady: it goes on
    /// with the last one until it knows better, and the search for the next match begins before this one's end is found.
    #[inline(always)]
    fn next<K: Sink>(&mut self, length: usize) -> usize {
        /// So many alike make it worth a try.
        const ENOUGH: u32 = 8;
        if !K::STEADY {
            return length;
        }
        let is_alike = length == self.last;
        if self.alike >= ENOUGH && is_alike {
            // The compiler mustn't see that the one is as good as the other.
            return black_box(self.last);
        }
        self.alike = if is_alike { self.alike + 1 } else { 0 };
        self.last = length;
        length
    }
}

/// The outcome of looking at some positions.
enum Look {
    /// None of them matched; the next position to look at.
    Nothing(usize),
    /// The position that matched, and where, and what differs between the words there.
    Match(usize, usize, u64),
}

/// Looks at `N` positions from `at` on and notes them, up to the first that matches.
///
/// # Safety
/// `at >= 1`, and `src` has [`WORD`] bytes from each of the `N` positions on.
#[inline(always)]
unsafe fn look<const N: usize, S: Slot, const BASED: bool, K: Sink>(
    src: &[u8],
    at: usize,
    index: &mut Index<'_, S, BASED>,
) -> Look {
    for here in at..at + N {
        // SAFETY: the caller vouches for the position; the place was just computed. The index began with no position set, so
        // what it has there is a position already passed, or 0, which is before `at`.
        unsafe {
            let word = load(src, here);
            let place = index.place(word as u32);
            let from = index.position_of(index.entry(place));
            index.set_entry(place, index.entry_of(here));
            let differing = word ^ load(src, from);
            if differing << (64 - 8 * K::MIN_EQUAL) == 0 {
                return Look::Match(here, from, differing);
            }
        }
    }
    Look::Nothing(at + N)
}

/// How many bytes behind `here` are equal to those behind `from < here`, up to the end of `src`. The words there are.
#[inline(always)]
fn equal_beyond(src: &[u8], from: usize, here: usize) -> usize {
    let mut equal = WORD;
    loop {
        // Equal words speak for a long match.
        while here + equal + LEAP <= src.len() && leap_equal(src, from + equal, here + equal) {
            equal += LEAP;
        }
        if here + equal + WORD > src.len() {
            break;
        }
        // SAFETY: a word from here on is inside `src`, as just checked, and `from` lies before `here`.
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

/// Whether [`LEAP`] bytes at two positions are the same.
#[inline(always)]
fn leap_equal(src: &[u8], from: usize, here: usize) -> bool {
    src[from..from + LEAP] == src[here..here + LEAP]
}

/// The little-endian word at a position.
///
/// # Safety
/// `src` must have [`WORD`] bytes from there on.
#[inline(always)]
unsafe fn load(src: &[u8], position: usize) -> u64 {
    // SAFETY: the caller vouches for the bytes.
    u64::from_le(unsafe { src.as_ptr().add(position).cast::<u64>().read_unaligned() })
}

/// The 4 bytes at a position as a little-endian word.
#[inline(always)]
fn word(src: &[u8], position: usize) -> u32 {
    u32::from_le_bytes(src[position..position + 4].try_into().expect("4 bytes"))
}

impl<S: Slot, const BASED: bool> Index<'_, S, BASED> {
    /// Notes a position under its own word.
    #[inline(always)]
    fn note(&mut self, src: &[u8], position: usize) {
        self.note_as(word(src, position), position);
    }

    /// Notes a position under a word.
    #[inline(always)]
    fn note_as(&mut self, word: u32, position: usize) {
        let place = self.place(word);
        // SAFETY: the place was just computed.
        unsafe { self.set_entry(place, self.entry_of(position)) };
    }
}
