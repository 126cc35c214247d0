//! Finds the noise in a stream: parts in which a search for matches gains next to nothing.
//!
//! Shuffled numbers are full of it, since the lowest bytes of measurements are random. Deflate spends most of its time
//! there, and its matches often make the stream longer: bytes of few values recur without being worth a distance.
//!
//! What bytes cost without matches is taken from how often two of them are equal (Rényi's entropy of the second order, which is not
//! above Shannon's). What matches would save is summed up over a quick parse, with the last place alone where a string
//! was seen. A part is noise while that is next to nothing, in it and in the parts of the same run together.
//!
//! Whatever comes later may refer to noise: behind it the search goes on with the bytes before as dictionary, so noise
//! that comes again is no noise the second time.
//!
//! To parse takes a tenth of deflate's time at the middle levels, but some streams are written at gigabytes a second. So a
//! part is suspected first, by a sample of it, and only runs of suspects are parsed, in which the parts left out double
//! each time that it was for nothing.

use std::mem::replace;
use std::ops::Range;

/// What is judged at once. What is too little for a part of its own belongs to the last.
const PART: usize = 4096;

/// Fewer parts of noise in a row are left to the search: leaving it and coming back costs time and some bytes.
const RUN_MIN: usize = 4;

/// How far back matches reach.
pub(super) const WINDOW: usize = 32 * 1024;

/// The sample of a part.
const SAMPLE: usize = 256;

/// Costs are counted in quarters of a bit.
const BIT: u32 = 4;

/// What a match costs beside the bits of its distance.
const MATCH_COST: u32 = 8 * BIT;

/// What a match costs whose distance is that of the string seen last: in records, such matches are the rule.
const SAME_DISTANCE_COST: u32 = 6 * BIT;

/// No part of a run has more saved than this.
const SAVED_FRACTION_MAX: u32 = 128;

/// Bits of the index of the table of places.
const INDEX_BITS: u32 = 13;

/// Of the bytes before a run, one in so many strings is looked at: longer matches are found all the same.
const STRIDE: usize = 8;

/// How often the parts left out double.
const PATIENCE_MAX: u32 = 4;

/// Bytes that cost less are cheap: long matches of them cost little.
const CHEAP: u32 = 3 * BIT;

/// How an encoder searches for matches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// For four bytes, with little care.
    Quick,
    /// For four bytes.
    Fours,
    /// For three bytes.
    Threes,
}

impl Search {
    /// Whether it is as well left out for such bytes, if no match saves anything.
    fn is_in_vain(self, bytes: &Statistics) -> bool {
        match self {
            // It is faster than to write literals of any code but none.
            Search::Quick => bytes.flat,
            _ => bytes.cost >= CHEAP,
        }
    }

    /// Matches save no more than this fraction of what a run of noise costs. Most of that is not saved in truth, as those that
    /// search take the longest match and not the one that saves most.
    fn saved_fraction(self) -> u32 {
        match self {
            Search::Threes => 512,
            _ => 300,
        }
    }
}

/// Finds noise, and keeps what it needs for that.
#[derive(Default)]
pub(super) struct Noise {
    /// `None` until first needed.
    places: Option<Box<Places>>,
    /// Up to where strings were entered; `None` before the first of a stream.
    entered: Option<usize>,
    /// Found in the last stream.
    runs: Vec<Run>,
    /// Which parts of a run are flat.
    flat: Vec<bool>,
}

/// A range of noise.
pub(super) struct Run {
    pub(super) bytes: Range<usize>,
    /// Whether all values are as frequent, so that no code makes it shorter.
    pub(super) flat: bool,
}

impl Noise {
    /// The noise in `src` to such a search, in its order.
    pub(super) fn find(&mut self, src: &[u8], search: Search) -> &[Run] {
        self.runs.clear();
        self.entered = None;
        let parts = src.len() / PART;
        let suspect = |part| is_suspect(&src[bounds(src, part)]);
        // Of so many parts in a row, the last is looked at first: if it is none, the others needn't be.
        let (mut first, mut patience) = (0, 0);
        while first + RUN_MIN <= parts {
            let run = first..first + RUN_MIN;
            if let Some(none) = run.rev().find(|&part| !suspect(part)) {
                first = none + 1;
                continue;
            }
            self.flat.clear();
            let mut balance = 0;
            while let end = first + self.flat.len()
                && end < parts
                && suspect(end)
                && let Some((loss, flat)) = self.loss(src, bounds(src, end), search)
                && balance + loss <= 0
            {
                balance += loss;
                self.flat.push(flat);
            }
            let end = first + self.flat.len();
            if self.flat.len() >= RUN_MIN {
                self.push_run(first, bounds(src, end - 1).end);
                patience = 0;
                first = end + 1;
            } else {
                first = end + (1 << patience);
                patience = PATIENCE_MAX.min(patience + 1);
            }
        }
        &self.runs
    }

    /// Keeps a run of noise up to `end`; what is flat for long enough becomes a run of its own.
    fn push_run(&mut self, first: usize, end: usize) {
        let mut start = first * PART;
        let before = self.runs.len();
        for alike in self.flat.chunk_by(|a, b| a == b) {
            let bytes = start..start + alike.len() * PART;
            let flat = alike[0] && alike.len() >= RUN_MIN;
            start = bytes.end;
            match self.runs[before..].last_mut() {
                Some(last) if last.flat == flat => last.bytes.end = bytes.end,
                _ => self.runs.push(Run { bytes, flat }),
            }
        }
        if let Some(last) = self.runs.last_mut() {
            last.bytes.end = end;
        }
    }

    /// What this part would lose without matches in it and in the bytes before, less what may be lost, and whether it is flat; `None`
    /// if that is much. Parts are asked for in their order.
    fn loss(&mut self, src: &[u8], part: Range<usize>, search: Search) -> Option<(i64, bool)> {
        let bytes = Statistics::of(&src[part.clone()]);
        if !search.is_in_vain(&bytes) {
            return None;
        }
        let places = self.places.get_or_insert_default();
        let entered = self.entered.replace(part.end).unwrap_or_else(|| {
            // What is found must not depend on the stream before.
            places.0.fill(0);
            0
        });
        let entered = entered.max(part.start.saturating_sub(WINDOW));
        let cost = bytes.cost * part.len() as u32;
        let most = cost / SAVED_FRACTION_MAX;
        let saved = if search == Search::Threes {
            places.enter::<3>(src, entered..part.start);
            places.saved::<3>(src, part, bytes.cost, most)
        } else {
            places.enter::<4>(src, entered..part.start);
            places.saved::<4>(src, part, bytes.cost, most)
        };
        let loss = i64::from(saved?) - i64::from(cost / search.saved_fraction());
        Some((loss, bytes.flat))
    }
}

/// Where strings were last seen: by some bits of their hash the others above, and the place modulo 2^16 below.
struct Places([u32; 1 << INDEX_BITS]);

impl Default for Places {
    fn default() -> Places {
        Places([0; _])
    }
}

impl Places {
    /// Enters strings that nobody asks about.
    fn enter<const STRING: u32>(&mut self, src: &[u8], range: Range<usize>) {
        for at in range.step_by(STRIDE) {
            self.replace::<STRING>(word(&src[at..at + 8]), at);
        }
    }

    /// Enters the string at the beginning of `word`. Returns the last place with such a hash, if there was one.
    #[inline(always)]
    fn replace<const STRING: u32>(&mut self, word: u64, at: usize) -> Option<u16> {
        const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        const TAG: u32 = 0xffff_0000;
        let hash = (word << (64 - 8 * STRING)).wrapping_mul(MULTIPLIER);
        let tag = (hash >> (32 - INDEX_BITS)) as u32 & TAG;
        let index = (hash >> (64 - INDEX_BITS)) as usize;
        let before = replace(&mut self.0[index], tag | at as u32 & !TAG);
        ((before ^ tag) & TAG == 0).then_some(before as u16)
    }

    /// What matches would save in this part, whose bytes cost so much each; `None` if it is more than `most`.
    fn saved<const STRING: u32>(
        &mut self,
        src: &[u8],
        part: Range<usize>,
        byte_cost: u32,
        most: u32,
    ) -> Option<u32> {
        let (mut saved, mut last_distance) = (0, 0);
        let mut at = part.start;
        while let Some((here, before)) = src[at..part.end]
            .windows(8)
            .zip(at..)
            .find_map(|(bytes, at)| Some((at, self.replace::<STRING>(word(bytes), at)?)))
        {
            at = here + 1;
            let distance = usize::from((here as u16).wrapping_sub(before));
            if distance == 0 || distance > WINDOW.min(here) {
                continue;
            }
            let len = match_len(&src[here - distance..], &src[here..part.end]);
            let match_cost = if distance == last_distance {
                SAME_DISTANCE_COST
            } else {
                MATCH_COST + distance.ilog2() * BIT
            };
            let saving = (len as u32 * byte_cost).saturating_sub(match_cost);
            last_distance = distance;
            if len >= STRING as usize && saving > 0 {
                saved += saving;
                if saved > most {
                    return None;
                }
                at = here + len;
            }
        }
        Some(saved)
    }
}

/// The bytes of a part.
fn bounds(src: &[u8], part: usize) -> Range<usize> {
    let start = part * PART;
    let end = start + PART;
    start..if src.len() - end < PART {
        src.len()
    } else {
        end
    }
}

/// How frequent the values of bytes are.
struct Statistics {
    /// What a byte costs without matches.
    cost: u32,
    /// Whether all are as frequent.
    flat: bool,
}

impl Statistics {
    fn of(part: &[u8]) -> Statistics {
        // Four tables, as adding to a number that was just added to has to wait.
        let mut counts = [[0_u16; 256]; 4];
        let fours = part.chunks_exact(4);
        for &byte in fours.remainder() {
            counts[0][usize::from(byte)] += 1;
        }
        for four in fours {
            for (counts, &byte) in counts.iter_mut().zip(four) {
                counts[usize::from(byte)] += 1;
            }
        }
        let [a, b, c, d] = counts;
        let pairs: u64 = (0..256)
            .map(|byte| u64::from(a[byte] + b[byte] + c[byte] + d[byte]).pow(2))
            .sum();
        let len = part.len() as u64;
        // At most 256, with 7 bits behind the point; its fourth power has the logarithm in quarters.
        let one_in = (len.pow(2) << 7) / pairs;
        Statistics {
            cost: one_in.pow(4).ilog2() - 4 * 7,
            // Random bytes have 1/256 of all pairs and those of each byte with itself. A code wins back what describes it
            // where there are a thirtieth more.
            flat: 256 * pairs <= len.pow(2) + len.pow(2) / 32 + 256 * len,
        }
    }
}

/// Whether bytes in the middle of this part seldom follow themselves.
fn is_suspect(part: &[u8]) -> bool {
    let from = (part.len() - SAMPLE) / 2;
    let pairs: [&[u8; SAMPLE - 1]; 2] = [0, 1].map(|at| {
        part[from + at..][..SAMPLE - 1]
            .try_into()
            .expect("its length")
    });
    let equal: u8 = (0..SAMPLE - 1)
        .map(|at| u8::from(pairs[0][at] == pairs[1][at]))
        .sum();
    usize::from(equal) <= SAMPLE / 8
}

/// Eight bytes as a number.
#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// How many bytes are the same, up to deflate's longest match.
fn match_len(old: &[u8], new: &[u8]) -> usize {
    const MOST: usize = 258;
    if let (Some(&old), Some(&new)) = (old.first_chunk(), new.first_chunk()) {
        let differ = u64::from_le_bytes(old) ^ u64::from_le_bytes(new);
        if differ != 0 {
            return differ.trailing_zeros() as usize / 8;
        }
    }
    old.iter()
        .zip(new)
        .take(MOST)
        .take_while(|(a, b)| a == b)
        .count()
}
