//! Finds the noise in a stream: parts in which a search for matches gains next to nothing.
//!
//! Shuffled numbers are full of it, since the lowest bytes of measurements are random. Zlib and Zstd spend most of their time
//! there, and their matches often make the stream longer: bytes of few values recur without being worth a distance.
//!
//! What bytes cost without matches is taken from how often two of them are equal (Rényi's entropy of the second order, which is not
//! above Shannon's). What matches would save is summed up over a quick parse, with the last place alone where a string
//! was seen. A part is noise while that is next to nothing, in it and in the parts of the same run together.
//!
//! Whatever comes later may refer to noise, so noise that comes again is no noise the second time. Deflate goes on behind noise with
//! the bytes before as dictionary. Zstd can't, and its matches reach farther than the parse looks; so in its streams a sample of all noise
//! is remembered, and where strings of it come again, there is no noise at all. Shorter ones are not seen, such as items in another order.
//!
//! To parse takes a tenth of deflate's time at the middle levels, but some streams are written at gigabytes a second. So a
//! part is suspected first, by a sample of it, and only runs of suspects are parsed, in which the parts left out double
//! each time that it was for nothing.

#[cfg(test)]
pub(super) mod tests;

use std::mem::replace;
use std::ops::Range;

/// What is judged at once. What is too little for a part of its own belongs to the last.
const PART: usize = 4096;

/// Fewer parts of noise in a row are left to the search: leaving it and coming back costs time and some bytes.
const RUN_MIN: usize = 4;

/// How far back matches of deflate reach.
pub(super) const WINDOW: usize = 32 * 1024;

/// The sample of a part.
const SAMPLE: usize = 256;

/// Costs are counted in quarters of a bit.
const BIT: u32 = 4;

/// No part of a run has more saved than this, or, if that is more, than twice what may be saved in all.
const SAVED_FRACTION_MAX: u32 = 128;

/// Bits of the index of the table of places.
const INDEX_BITS: u32 = 13;

/// Of the bytes before a run, one in so many strings is looked at: longer matches are found all the same.
const STRIDE: usize = 8;

/// How often the parts left out double.
const PATIENCE_MAX: u32 = 4;

/// What words are multiplied with for their hash: the golden ratio.
pub(super) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bytes that cost less are cheap: long matches of them cost little.
const CHEAP: u32 = 3 * BIT;

/// Of bytes that cost less, a code of whole bits makes too much.
const CHEAPEST: u32 = BIT + BIT / 4;

/// Bytes that cost as much are dear: a quick search finds no match.
const DEAR: u32 = 4 * BIT;

/// How an encoder searches for matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Search {
    /// For four bytes, with little care.
    Quick,
    /// For four bytes.
    Fours,
    /// For three bytes.
    Threes,
    /// For more than four bytes in all of the stream before, quickly where there are none.
    FarQuick,
    /// For four bytes in all of the stream before, quickly where there are none.
    FarFours,
    /// For three bytes in all of the stream before.
    FarThrees,
}

impl Search {
    /// Whether it is as well left out for such bytes, if no match saves anything.
    fn is_in_vain(self, bytes: &Statistics) -> bool {
        match self {
            // It is faster than to write literals of any code but none.
            Search::Quick => bytes.flat,
            Search::Fours | Search::Threes => bytes.cost >= CHEAP,
            Search::FarQuick => (CHEAPEST..DEAR).contains(&bytes.cost),
            Search::FarFours => bytes.cost >= CHEAPEST && !bytes.flat,
            Search::FarThrees => bytes.cost >= CHEAPEST,
        }
    }

    /// Whether it may be in vain for bytes of which these are a sample.
    fn is_suspect(self, sample: &Glimpse) -> bool {
        match self {
            Search::Quick | Search::Fours | Search::Threes => sample.equal <= SAMPLE as u32 / 8,
            Search::FarQuick => sample.is_random(12 * SAMPLE as u32),
            Search::FarFours => sample.is_random(3 * SAMPLE as u32 / 2),
            Search::FarThrees => sample.is_random(0),
        }
    }

    /// Whether it finds three bytes.
    fn finds_threes(self) -> bool {
        matches!(self, Search::Threes | Search::FarThrees)
    }

    /// Whether it finds what is farther back than the window.
    fn is_far(self) -> bool {
        matches!(
            self,
            Search::FarQuick | Search::FarFours | Search::FarThrees
        )
    }

    /// What a match costs beside the bits of its distance, and one whose distance is that of the string seen last: in records, such
    /// matches are the rule.
    fn match_costs(self) -> (u32, u32) {
        match self {
            Search::Quick | Search::Fours | Search::Threes => (8 * BIT, 6 * BIT),
            // Cheap bytes have long matches by chance, each of which saves a bit or two if it costs less.
            Search::FarQuick | Search::FarFours | Search::FarThrees => (13 * BIT, 11 * BIT),
        }
    }

    /// One byte in so many is parsed to judge it.
    fn parsed_fraction(self) -> usize {
        if self == Search::FarQuick { 4 } else { 1 }
    }

    /// Matches save no more than this fraction of what a run of noise costs. Most of that is not saved in truth, as those that
    /// search take the longest match and not the one that saves most.
    fn saved_fraction(self, bytes: &Statistics) -> u32 {
        match self {
            // What is no match by chance shows clearly.
            Search::FarThrees if bytes.flat => 1000,
            Search::FarThrees if bytes.cost < CHEAP => 75,
            Search::Quick | Search::Fours => 300,
            Search::Threes => 512,
            Search::FarQuick | Search::FarFours => 75,
            Search::FarThrees => 150,
        }
    }
}

/// Finds noise, and keeps what it needs for that.
#[derive(Default)]
pub(super) struct Noise {
    /// `None` until first needed.
    places: Option<Box<Places>>,
    /// `None` until first needed.
    sample: Option<Box<Sample>>,
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
        let suspect = |part| search.is_suspect(&Glimpse::of(&src[bounds(src, part)]));
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
                && (self.flat.len() < RUN_MIN || suspect(end))
                && let Some((loss, flat)) = self.loss(src, bounds(src, end), search)
                && balance + loss <= 0
            {
                balance += loss;
                self.flat.push(flat);
            }
            let end = first + self.flat.len();
            if self.flat.len() >= RUN_MIN {
                self.push_run(first * PART..bounds(src, end - 1).end);
                patience = 0;
                first = end + 1;
            } else {
                first = end + (1 << patience);
                patience = PATIENCE_MAX.min(patience + 1);
            }
        }
        if search.is_far() && self.comes_again(src) {
            self.runs.clear();
        }
        &self.runs
    }

    /// Keeps a run of noise; what is flat for long enough becomes a run of its own.
    fn push_run(&mut self, run: Range<usize>) {
        let mut start = run.start;
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
            last.bytes.end = run.end;
        }
    }

    /// Whether some of the noise comes again behind it, in noise or elsewhere.
    fn comes_again(&mut self, src: &[u8]) -> bool {
        let Some(first) = self.runs.first() else {
            return false;
        };
        let sample = self.sample.get_or_insert_default();
        sample.0.fill(0);
        let mut done = first.bytes.start;
        self.runs.iter().any(|Run { bytes, .. }| {
            let between = &src[done..bytes.start];
            done = bytes.end;
            sample.has_some_of(between) || sample.add(&src[bytes.clone()])
        }) || sample.has_some_of(&src[done..])
    }

    /// What this part would lose without matches in it and in the bytes before, less what may be lost, and whether it is flat; `None`
    /// if that is much. Parts are asked for in their order.
    fn loss(&mut self, src: &[u8], part: Range<usize>, search: Search) -> Option<(i64, bool)> {
        let bytes = Statistics::of(&src[part.clone()]);
        if !search.is_in_vain(&bytes) || bytes.cost < CHEAP && has_a_period(&src[part.clone()]) {
            return None;
        }
        let places = self.places.get_or_insert_default();
        // Another piece of each part, so that what is in one place of all is seen.
        let (at, pieces) = (part.start / PART, search.parsed_fraction());
        let piece = part.len() / pieces;
        let start = part.start + at % pieces * piece;
        let part = start..start + piece;
        let entered = self.entered.replace(part.end).unwrap_or_else(|| {
            // What is found must not depend on the stream before.
            places.0.fill(0);
            0
        });
        let entered = entered.max(part.start.saturating_sub(WINDOW));
        let cost = bytes.cost * part.len() as u32;
        let fraction = search.saved_fraction(&bytes);
        let most = cost / SAVED_FRACTION_MAX.min(fraction / 2);
        let saved = if search == Search::FarThrees && bytes.cost < CHEAP {
            // Of cheap bytes, shorter strings are everywhere: the last place of one says nothing.
            places.saved::<5>(src, entered, part.clone(), search, bytes.cost, most)
        } else if search.finds_threes() {
            places.saved::<3>(src, entered, part.clone(), search, bytes.cost, most)
        } else {
            places.saved::<4>(src, entered, part.clone(), search, bytes.cost, most)
        };
        let loss = i64::from(saved?) - i64::from(cost / fraction);
        if search.is_far() && follow_each_other(&src[part], &bytes) {
            return None;
        }
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
    /// Enters the string at the beginning of `word`. Returns the last place with such a hash, if there was one.
    #[inline(always)]
    fn replace<const STRING: u32>(&mut self, word: u64, at: usize) -> Option<u16> {
        const TAG: u32 = 0xffff_0000;
        let hash = (word << (64 - 8 * STRING)).wrapping_mul(MULTIPLIER);
        let tag = (hash >> (32 - INDEX_BITS)) as u32 & TAG;
        let index = (hash >> (64 - INDEX_BITS)) as usize;
        let before = replace(&mut self.0[index], tag | at as u32 & !TAG);
        ((before ^ tag) & TAG == 0).then_some(before as u16)
    }

    /// What matches would save in this part, whose bytes cost so much each; `None` if it is more than `most`. Strings before `entered`
    /// have been entered; of those from there on up to the part, which nobody asks about, some are.
    fn saved<const STRING: u32>(
        &mut self,
        src: &[u8],
        entered: usize,
        part: Range<usize>,
        search: Search,
        byte_cost: u32,
        most: u32,
    ) -> Option<u32> {
        for at in (entered..part.start).step_by(STRIDE) {
            self.replace::<STRING>(word(&src[at..at + 8]), at);
        }
        let (match_cost, same_distance_cost) = search.match_costs();
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
            let cost = if distance == last_distance {
                same_distance_cost
            } else {
                match_cost + distance.ilog2() * BIT
            };
            let saving = (len as u32 * byte_cost).saturating_sub(cost);
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

/// Some bits of the hashes of strings in noise, at the index that others are. Which strings these are depends on their
/// bytes alone.
struct Sample([u16; 1 << INDEX_BITS]);

impl Default for Sample {
    fn default() -> Sample {
        Sample([0; _])
    }
}

impl Sample {
    /// One string in so many is noted.
    const ONE_IN: u64 = 64;

    /// The strings' length: so long that even cheap ones are seldom the same by chance.
    const STRING: usize = 16;

    /// So many strings of a part come again if a sixteenth of it does.
    const REPEATED: usize = PART / (16 * Sample::ONE_IN as usize);

    /// Notes strings of noise; returns whether a part of it has many that were known.
    fn add(&mut self, noise: &[u8]) -> bool {
        noise.chunks(PART).any(|part| {
            let known = chosen_strings(part)
                .filter(|&(index, tag)| replace(&mut self.0[index], tag) == tag)
                .count();
            known >= Sample::REPEATED
        })
    }

    /// Whether a part of `src` has many of the strings noted.
    fn has_some_of(&self, src: &[u8]) -> bool {
        src.chunks(PART).any(|part| {
            let known = chosen_strings(part).filter(|&(index, tag)| self.0[index] == tag);
            known.count() >= Sample::REPEATED
        })
    }
}

/// The strings to note: where, and as what.
fn chosen_strings(src: &[u8]) -> impl Iterator<Item = (usize, u16)> {
    src.windows(Sample::STRING).filter_map(|string| {
        let (start, end) = (word(&string[..8]), word(&string[8..]));
        let choice = start.wrapping_mul(MULTIPLIER);
        // Runs of zeros would be chosen always, those of other bytes often.
        (choice <= u64::MAX / Sample::ONE_IN && start != end).then(|| {
            let hash = (choice.rotate_left(32) ^ end).wrapping_mul(MULTIPLIER);
            // No string leaves the mark of an empty place.
            let tag = (hash >> 32) as u16 | 1;
            ((hash >> (64 - INDEX_BITS)) as usize, tag)
        })
    })
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
    /// How many there are.
    len: u64,
    /// How many pairs of any two are equal, those of each byte with itself among them.
    alike: u64,
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
        let alike: u64 = (0..256)
            .map(|byte| u64::from(a[byte] + b[byte] + c[byte] + d[byte]).pow(2))
            .sum();
        let len = part.len() as u64;
        // At most 256, with 7 bits behind the point; its fourth power has the logarithm in quarters.
        let one_in = (len.pow(2) << 7) / alike;
        Statistics {
            cost: one_in.pow(4).ilog2() - 4 * 7,
            // Random bytes have 1/256 of all pairs and those of each byte with itself. A code wins back what describes it
            // where there are a thirtieth more.
            flat: 256 * alike <= len.pow(2) + len.pow(2) / 32 + 256 * len,
            len,
            alike,
        }
    }
}

/// Whether in this part of `bytes` some come behind some others more often than by chance: by how many pairs of any two neighbours are equal. An encoder
/// that takes great care gains more from that than the parse sees.
fn follow_each_other(part: &[u8], bytes: &Statistics) -> bool {
    const INDEX_BITS: u32 = 12;
    let mut counts = [0_u16; 1 << INDEX_BITS];
    let mut alike = 0_u64;
    for (&one, &next) in part.iter().zip(&part[1..]) {
        let hash = (u32::from(one) << 8 | u32::from(next)).wrapping_mul(MULTIPLIER as u32);
        let count = &mut counts[(hash >> (u32::BITS - INDEX_BITS)) as usize];
        alike += u64::from(*count);
        *count += 1;
    }
    let pairs = |len: u64| len.pow(2) / 2;
    let (all, whole) = (pairs(part.len() as u64), pairs(bytes.len));
    // Of all pairs so many are equal in both bytes by chance, and of the others so many have the same hash.
    let in_one = (bytes.alike - bytes.len) / 2;
    let in_both = in_one.pow(2) / whole * all / whole;
    let chance = in_both + (all >> INDEX_BITS);
    alike > chance + chance / 8 + 8 * chance.isqrt()
}

/// Whether bytes are as so many places before more often than any two are. Parts of the same bytes at the same distance cost next to
/// nothing, and are so short in records of cheap bytes that the parse sees nothing in them.
fn has_a_period(part: &[u8]) -> bool {
    const LONGEST: usize = 128;
    let (sample, _) = part.split_first_chunk::<{ SAMPLE / 2 }>().expect("longer");
    // Half as many as in a whole sample.
    let chance = Glimpse::of(part).alike / SAMPLE as u32 / 2;
    (2..=LONGEST).any(|distance| {
        let equal: u8 = sample
            .iter()
            .zip(&part[distance..])
            .map(|(a, b)| u8::from(a == b))
            .sum();
        u32::from(equal) > most_by_chance(chance)
    })
}

/// How often bytes of a sample may be equal by chance of which so many should be.
fn most_by_chance(chance: u32) -> u32 {
    chance + chance / 2 + 8
}

/// What is seen in a sample.
struct Glimpse {
    /// How many bytes are the one before.
    equal: u32,
    /// How many pairs of any two bytes are equal, each counted twice.
    alike: u32,
}

impl Glimpse {
    /// Of bytes in the middle of this part.
    fn of(part: &[u8]) -> Glimpse {
        let from = (part.len() - SAMPLE) / 2;
        let pairs: [&[u8; SAMPLE - 1]; 2] = [0, 1].map(|at| {
            part[from + at..][..SAMPLE - 1]
                .try_into()
                .expect("its length")
        });
        let equal: u8 = (0..SAMPLE - 1)
            .map(|at| u8::from(pairs[0][at] == pairs[1][at]))
            .sum();
        let mut counts = [0_u32; 256];
        let mut alike = 0;
        for &byte in pairs[0] {
            alike += counts[usize::from(byte)];
            counts[usize::from(byte)] += 1;
        }
        Glimpse {
            equal: equal.into(),
            alike: 2 * alike,
        }
    }

    /// Whether neighbours are hardly more often equal than any two bytes, of which so many pairs and not nearly all are equal.
    fn is_random(&self, alike: u32) -> bool {
        let chance = self.alike / SAMPLE as u32;
        self.alike >= alike && chance <= SAMPLE as u32 / 2 && self.equal <= most_by_chance(chance)
    }
}

/// Eight bytes as a number.
#[inline(always)]
pub(super) fn word(bytes: &[u8]) -> u64 {
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
