//! The match finder.
//!
//! It looks at every position once, in order: where was a word like this last seen, and do the bytes there go on
//! like the bytes here? The first good answer is taken. Looking and noting go four positions at a time, so that
//! the usual answer "nothing" costs one branch in four; when one of the four does match, what was noted for those
//! behind it is taken back. Right behind a match the next one is often near, and positions go one by one.

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
/// How many positions are looked at together.
const BATCH: usize = 4;
/// How many positions behind a match are looked at one by one.
const ALONE: usize = 4;
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
pub(super) fn search<S: Slot, K: Sink>(
    src: &[u8],
    start: usize,
    mut index: Index<'_, S>,
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
    // Batches begin at this position and at as many others behind it; elsewhere positions go one by one.
    let batches_end = (limit + 1).saturating_sub(BATCH);
    let (mut together, mut batches) = (at, batches_end.saturating_sub(at));
    let mut lengths = Lengths::default();
    while at < limit {
        // SAFETY: `1 <= at` and `limit` leaves TAIL bytes behind each position of the batch.
        let found = unsafe {
            if at.wrapping_sub(together) < batches {
                look::<BATCH, S, K>(src, at, &mut index)
            } else {
                look::<1, S, K>(src, at, &mut index)
            }
        };
        match found {
            Look::Nothing(next) => at = next,
            Look::Match(here, from, differing) => {
                let distance = here - from;
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
                together = at + ALONE;
                batches = batches_end.saturating_sub(together);
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
    /// The position that matched, and where, and what differs between the words there. Positions behind it have not been noted.
    Match(usize, usize, u64),
}

/// Looks at and notes `N` positions from `at` on.
///
/// # Safety
/// `at >= 1`, and `src` has 8 bytes from each of the `N` positions on.
#[inline(always)]
unsafe fn look<const N: usize, S: Slot, K: Sink>(
    src: &[u8],
    at: usize,
    index: &mut Index<'_, S>,
) -> Look {
    let mut places = [0; N];
    let mut before = [S::default(); N];
    let mut differing = [0u64; N];
    let mut words = 0;
    for i in 0..N {
        // SAFETY: the caller vouches for the N positions, the place was just computed, and what was noted there in
        // this stream is a position already passed; position 0 is before `at`.
        unsafe {
            let here = load(src, at + i);
            places[i] = index.place(here as u32);
            before[i] = index.entry(places[i]);
            index.set_entry(places[i], index.entry_of(at + i));
            let there = load(src, index.position_of(before[i]));
            words = here ^ there;
            differing[i] = words << (64 - 8 * K::MIN_EQUAL);
        }
        if S::LIMIT > REACH && at + i - index.position_of(before[i]) >= REACH {
            differing[i] = 1;
        }
    }
    let mut hits = 0u32;
    for (i, &bits) in differing.iter().enumerate() {
        hits |= u32::from(bits == 0) << i;
    }
    if hits == 0 {
        return Look::Nothing(at + N);
    }
    // Take back the positions behind the first hit, in reverse order, since two may share a place. Which one it is
    // can't be predicted: so this stores without a branch, to the others what is there already.
    let hit = hits.trailing_zeros() as usize;
    for i in (1..N).rev() {
        // SAFETY: as above.
        unsafe {
            let entry = index.entry(places[i]);
            index.set_entry(places[i], if i > hit { before[i] } else { entry });
        }
    }
    let (here, from) = (at + hit, index.position_of(before[hit]));
    if N > 1 {
        // SAFETY: as above.
        words = unsafe { load(src, here) ^ load(src, from) };
    }
    Look::Match(here, from, words)
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

impl<S: Slot> Index<'_, S> {
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
