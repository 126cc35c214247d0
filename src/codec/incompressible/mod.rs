//! Finds incompressible regions of a stream, where a match search gains almost nothing.
//!
//! Shuffled numbers have many such regions, since the lowest bytes of measurements are random. Zlib
//! and Zstd spend most of their time in them, and the matches that they find often make the stream
//! longer: strings of few distinct values repeat by chance, but encoding their distances costs more
//! than it saves.
//!
//! The cost of bytes without matches is estimated from the frequency of equal pairs (Rényi entropy
//! of order 2, a lower bound of Shannon's). The savings of matches are summed over a fast parse
//! that stores only the last position of each string. A segment is incompressible if these savings
//! are negligible, both for it and for all segments of its region together.
//!
//! Later data may refer to a region, so noise that repeats is compressible the second time. After a
//! region, Deflate continues with the preceding bytes as its dictionary. Zstd cannot do that, and
//! its matches reach further than the parse; so in its streams a sample of all regions is recorded,
//! and if strings of the sample repeat, no region is reported. Shorter repeats, such as items in
//! another order, are not detected.
//!
//! The parse costs a tenth of deflate's time at the middle levels, but some streams are encoded at
//! gigabytes per second. So segments are first tested by a sample, and only consecutive candidates
//! are parsed. The number of segments skipped after an unsuccessful parse doubles each time.

#[cfg(test)]
pub(super) mod tests;

use std::mem::replace;
use std::ops::Range;

/// The length of a segment, in bytes. A shorter remainder belongs to the last segment.
const SEGMENT: usize = 4096;

/// The minimum number of segments of a region. Leaving and resuming the search costs time and some
/// bytes.
const MIN_SEGMENTS: usize = 4;

/// The maximum distance of deflate matches.
pub(super) const WINDOW: usize = 32 * 1024;

/// The number of segments of a stream that are tested for repeats before the parse, at most.
const TESTED_SEGMENTS: usize = 8;

/// The length of a segment's sample, in bytes.
const SAMPLE_LEN: usize = 256;

/// The cost of one bit: the unit of costs is a quarter bit.
const BIT: u32 = 4;

/// The savings in a segment may be at most `1 / MAX_SAVED_DIVISOR` of its cost, or twice the
/// fraction allowed for the region if that is more.
const MAX_SAVED_DIVISOR: u32 = 128;

/// The size of the position table, in bits of the index.
const INDEX_BITS: u32 = 13;

/// The distance between indexed positions before a region. Matches longer than this are still
/// found.
const INDEX_STRIDE: usize = 8;

/// The maximum number of times that the number of skipped segments doubles.
const MAX_BACKOFF: u32 = 4;

/// The hash multiplier, from the golden ratio.
pub(super) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The entropy of a byte below which long matches save little.
const LOW_ENTROPY: u32 = 3 * BIT;

/// The entropy of a byte below which prefix codes are inefficient, since they use at least one bit
/// per byte.
const MIN_ENTROPY: u32 = BIT + BIT / 4;

/// The entropy of a byte from which on a fast search finds no matches.
const HIGH_ENTROPY: u32 = 4 * BIT;

/// The match search of an encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Search {
    /// Matches of at least four bytes, with low effort.
    Fast,
    /// Matches of at least four bytes.
    Min4,
    /// Matches of at least three bytes.
    Min3,
    /// Matches of more than four bytes in the whole preceding stream, accelerating where there are
    /// none.
    FarFast,
    /// Matches of at least four bytes in the whole preceding stream, accelerating where there are
    /// none.
    FarMin4,
    /// Matches of at least three bytes in the whole preceding stream.
    FarMin3,
}

impl Search {
    /// Whether the search is futile for bytes with these statistics, if matches save nothing.
    fn is_futile(self, bytes: &ByteStats) -> bool {
        match self {
            // This search is faster than writing literals with a prefix code.
            Search::Fast => bytes.uniform,
            Search::Min4 | Search::Min3 => bytes.cost >= LOW_ENTROPY,
            Search::FarFast => (MIN_ENTROPY..HIGH_ENTROPY).contains(&bytes.cost),
            Search::FarMin4 => bytes.cost >= MIN_ENTROPY && !bytes.uniform,
            Search::FarMin3 => bytes.cost >= MIN_ENTROPY,
        }
    }

    /// Whether the search may be futile for a segment with this sample.
    fn may_be_futile(self, sample: &Sample) -> bool {
        match self {
            Search::Fast | Search::Min4 | Search::Min3 => {
                sample.equal_neighbours <= SAMPLE_LEN as u32 / 8
            }
            Search::FarFast => sample.is_random(12 * SAMPLE_LEN as u32),
            Search::FarMin4 => sample.is_random(3 * SAMPLE_LEN as u32 / 2),
            Search::FarMin3 => sample.is_random(0),
        }
    }

    fn finds_min3(self) -> bool {
        matches!(self, Search::Min3 | Search::FarMin3)
    }

    /// Whether the search finds matches beyond [`WINDOW`].
    fn is_far(self) -> bool {
        matches!(self, Search::FarFast | Search::FarMin4 | Search::FarMin3)
    }

    /// Returns two costs of a match, excluding the bits of its distance: in general, and with the
    /// distance of the previous match, which is common in records.
    fn match_costs(self) -> (u32, u32) {
        match self {
            Search::Fast | Search::Min4 | Search::Min3 => (8 * BIT, 6 * BIT),
            // Low-entropy bytes have long matches by chance. With lower costs, each would save a
            // bit or two.
            Search::FarFast | Search::FarMin4 | Search::FarMin3 => (13 * BIT, 11 * BIT),
        }
    }

    /// Returns the divisor of the parsed bytes: the parse covers one byte in this many.
    fn parse_divisor(self) -> usize {
        if self == Search::FarFast { 4 } else { 1 }
    }

    /// Returns the divisor of the allowed savings: matches may save at most `1 / divisor` of a
    /// region's cost. Real savings are smaller, since encoders choose the longest match and not the
    /// one that saves most.
    fn savings_divisor(self, bytes: &ByteStats) -> u32 {
        match self {
            // In uniform bytes, matches that are not by chance are easily distinguished.
            Search::FarMin3 if bytes.uniform => 1000,
            Search::FarMin3 if bytes.cost < LOW_ENTROPY => 75,
            Search::Fast | Search::Min4 => 300,
            Search::Min3 => 512,
            Search::FarFast | Search::FarMin4 => 75,
            Search::FarMin3 => 150,
        }
    }
}

/// Finds incompressible regions, and holds the tables for this.
#[derive(Default)]
pub(super) struct Scanner {
    /// `None` until first used.
    positions: Option<Box<PositionTable>>,
    /// `None` until first used.
    recorded: Option<Box<RecordedStrings>>,
    /// The end of the indexed positions; `None` at the start of a stream.
    indexed: Option<usize>,
    /// The regions of the last stream.
    regions: Vec<Region>,
    /// Whether each segment of the current region is uniform.
    uniform: Vec<bool>,
}

/// An incompressible range of the stream.
pub(super) struct Region {
    pub(super) bytes: Range<usize>,
    /// Whether all byte values are equally frequent, so that a prefix code does not help.
    pub(super) uniform: bool,
}

impl Scanner {
    /// Returns the regions of `src` that are incompressible for `search`, in order.
    pub(super) fn scan(&mut self, src: &[u8], search: Search) -> &[Region] {
        self.regions.clear();
        self.indexed = None;
        let segments = src.len() / SEGMENT;
        let is_candidate =
            |segment| search.may_be_futile(&Sample::of(&src[segment_bounds(src, segment)]));
        if search.is_far()
            && search != Search::FarFast
            && self.candidates_repeat(src, segments, is_candidate)
        {
            return &self.regions;
        }
        // The last of MIN_SEGMENTS consecutive segments is tested first: if it fails, the others
        // need no test.
        let (mut first, mut backoff) = (0, 0);
        while first + MIN_SEGMENTS <= segments {
            let candidates = first..first + MIN_SEGMENTS;
            if let Some(rejected) = candidates.rev().find(|&segment| !is_candidate(segment)) {
                first = rejected + 1;
                continue;
            }
            self.uniform.clear();
            let mut balance = 0;
            while let end = first + self.uniform.len()
                && end < segments
                && (self.uniform.len() < MIN_SEGMENTS || is_candidate(end))
                && let Some((loss, uniform)) = self.loss(src, segment_bounds(src, end), search)
                && balance + loss <= 0
            {
                balance += loss;
                self.uniform.push(uniform);
            }
            let end = first + self.uniform.len();
            if self.uniform.len() >= MIN_SEGMENTS {
                self.push_region(first * SEGMENT..segment_bounds(src, end - 1).end);
                backoff = 0;
                first = end + 1;
            } else {
                first = end + (1 << backoff);
                backoff = MAX_BACKOFF.min(backoff + 1);
            }
        }
        if search.is_far() && self.repeats_later(src) {
            self.regions.clear();
        }
        &self.regions
    }

    /// Whether at least half of the candidates in a sample of the segments repeat bytes of
    /// preceding ones. The parse takes much longer than this test, and its regions would be
    /// discarded.
    ///
    /// The segments of the sample are a power of two apart: planes of items, which may be equal,
    /// often have such a length.
    fn candidates_repeat(
        &mut self,
        src: &[u8],
        segments: usize,
        is_candidate: impl Fn(usize) -> bool,
    ) -> bool {
        if segments < 2 * TESTED_SEGMENTS {
            return false;
        }
        let recorded = self.recorded.get_or_insert_default();
        recorded.0.fill(0);
        let stride = (segments / TESTED_SEGMENTS).next_power_of_two();
        let (mut tested, mut repeated) = (0, 0);
        for segment in (0..segments).step_by(stride).filter(|&segment| is_candidate(segment)) {
            tested += 1;
            let half = &src[segment * SEGMENT..][..SEGMENT / 2];
            repeated += usize::from(recorded.record(half));
        }
        repeated > 0 && 2 * repeated >= tested
    }

    /// Adds a region. At least [`MIN_SEGMENTS`] consecutive uniform segments become a separate
    /// region.
    fn push_region(&mut self, region: Range<usize>) {
        let mut start = region.start;
        let before = self.regions.len();
        for same in self.uniform.chunk_by(|a, b| a == b) {
            let bytes = start..start + same.len() * SEGMENT;
            let uniform = same[0] && same.len() >= MIN_SEGMENTS;
            start = bytes.end;
            match self.regions[before..].last_mut() {
                Some(last) if last.uniform == uniform => last.bytes.end = bytes.end,
                _ => self.regions.push(Region { bytes, uniform }),
            }
        }
        if let Some(last) = self.regions.last_mut() {
            last.bytes.end = region.end;
        }
    }

    /// Whether bytes of the regions repeat later, in another region or elsewhere.
    fn repeats_later(&mut self, src: &[u8]) -> bool {
        let Some(first) = self.regions.first() else {
            return false;
        };
        let recorded = self.recorded.get_or_insert_default();
        recorded.0.fill(0);
        let mut done = first.bytes.start;
        self.regions.iter().any(|Region { bytes, .. }| {
            let between = &src[done..bytes.start];
            done = bytes.end;
            recorded.is_repeated_in(between) || recorded.record(&src[bytes.clone()])
        }) || recorded.is_repeated_in(&src[done..])
    }

    /// Returns the estimated loss of encoding this segment without matches, less the allowed loss,
    /// and whether the segment is uniform. Returns `None` if the loss is too large. Segments must
    /// be passed in order.
    fn loss(&mut self, src: &[u8], segment: Range<usize>, search: Search) -> Option<(i64, bool)> {
        let bytes = ByteStats::of(&src[segment.clone()]);
        if !search.is_futile(&bytes)
            || bytes.cost < LOW_ENTROPY && is_periodic(&src[segment.clone()])
        {
            return None;
        }
        let positions = self.positions.get_or_insert_default();
        // A different subrange for each segment, so that all offsets are covered.
        let (at, divisor) = (segment.start / SEGMENT, search.parse_divisor());
        let len = segment.len() / divisor;
        let start = segment.start + at % divisor * len;
        let segment = start..start + len;
        let indexed = self.indexed.replace(segment.end).unwrap_or_else(|| {
            // The result must not depend on the previous stream.
            positions.0.fill(0);
            0
        });
        let indexed = indexed.max(segment.start.saturating_sub(WINDOW));
        let cost = bytes.cost * segment.len() as u32;
        let fraction = search.savings_divisor(&bytes);
        let max_saved = cost / MAX_SAVED_DIVISOR.min(fraction / 2);
        let saved = if search == Search::FarMin3 && bytes.cost < LOW_ENTROPY {
            // Shorter strings of low-entropy bytes are so frequent that their last position is
            // meaningless.
            positions.saved::<5>(src, indexed, segment.clone(), search, bytes.cost, max_saved)
        } else if search.finds_min3() {
            positions.saved::<3>(src, indexed, segment.clone(), search, bytes.cost, max_saved)
        } else {
            positions.saved::<4>(src, indexed, segment.clone(), search, bytes.cost, max_saved)
        };
        let loss = i64::from(saved?) - i64::from(cost / fraction);
        if search.is_far() && has_correlated_pairs(&src[segment], &bytes) {
            return None;
        }
        Some((loss, bytes.uniform))
    }
}

/// The last positions of strings. Each entry holds 16 hash bits above the position modulo 2^16.
struct PositionTable([u32; 1 << INDEX_BITS]);

impl Default for PositionTable {
    fn default() -> PositionTable {
        PositionTable([0; _])
    }
}

impl PositionTable {
    /// Stores the position of the string at the start of `word`. Returns the previous position with
    /// the same hash, if any.
    #[inline(always)]
    fn replace<const STRING: u32>(&mut self, word: u64, at: usize) -> Option<u16> {
        const TAG: u32 = 0xffff_0000;
        let hash = (word << (64 - 8 * STRING)).wrapping_mul(MULTIPLIER);
        let tag = (hash >> (32 - INDEX_BITS)) as u32 & TAG;
        let index = (hash >> (64 - INDEX_BITS)) as usize;
        let before = replace(&mut self.0[index], tag | at as u32 & !TAG);
        ((before ^ tag) & TAG == 0).then_some(before as u16)
    }

    /// Returns the savings of matches in `segment`, whose bytes cost `byte_cost` each, or `None` if
    /// they exceed `max_saved`. Positions before `indexed` are indexed already; of those up to
    /// `segment`, one in [`INDEX_STRIDE`] is indexed first.
    fn saved<const STRING: u32>(
        &mut self,
        src: &[u8],
        indexed: usize,
        segment: Range<usize>,
        search: Search,
        byte_cost: u32,
        max_saved: u32,
    ) -> Option<u32> {
        for at in (indexed..segment.start).step_by(INDEX_STRIDE) {
            self.replace::<STRING>(word(&src[at..at + 8]), at);
        }
        let (match_cost, same_distance_cost) = search.match_costs();
        let (mut saved, mut last_distance) = (0, 0);
        let mut at = segment.start;
        while let Some((here, before)) = src[at..segment.end]
            .windows(8)
            .zip(at..)
            .find_map(|(bytes, at)| Some((at, self.replace::<STRING>(word(bytes), at)?)))
        {
            at = here + 1;
            let distance = usize::from((here as u16).wrapping_sub(before));
            if distance == 0 || distance > WINDOW.min(here) {
                continue;
            }
            let len = match_len(&src[here - distance..], &src[here..segment.end]);
            let cost = if distance == last_distance {
                same_distance_cost
            } else {
                match_cost + distance.ilog2() * BIT
            };
            let saving = (len as u32 * byte_cost).saturating_sub(cost);
            last_distance = distance;
            if len >= STRING as usize && saving > 0 {
                saved += saving;
                if saved > max_saved {
                    return None;
                }
                at = here + len;
            }
        }
        Some(saved)
    }
}

/// Hash tags of sampled strings in the regions. The strings sampled depend on their bytes only.
struct RecordedStrings([u16; 1 << INDEX_BITS]);

impl Default for RecordedStrings {
    fn default() -> RecordedStrings {
        RecordedStrings([0; _])
    }
}

impl RecordedStrings {
    /// One string in this many is sampled.
    const ONE_IN: u64 = 64;

    /// The length of the strings: long enough that even those of low entropy rarely repeat by
    /// chance.
    const STRING: usize = 16;

    /// The number of repeated sampled strings that makes a segment a repeat. It corresponds to a
    /// sixteenth of the segment.
    const MIN_REPEATS: usize = SEGMENT / (16 * RecordedStrings::ONE_IN as usize);

    /// Records the sampled strings of a region. Returns whether many in one segment were recorded
    /// before.
    fn record(&mut self, region: &[u8]) -> bool {
        region.chunks(SEGMENT).any(|segment| {
            let known = sampled_strings(segment)
                .filter(|&(index, tag)| replace(&mut self.0[index], tag) == tag)
                .count();
            known >= RecordedStrings::MIN_REPEATS
        })
    }

    /// Whether many sampled strings in one segment of `src` are recorded.
    fn is_repeated_in(&self, src: &[u8]) -> bool {
        src.chunks(SEGMENT).any(|segment| {
            let known = sampled_strings(segment).filter(|&(index, tag)| self.0[index] == tag);
            known.count() >= RecordedStrings::MIN_REPEATS
        })
    }
}

/// Returns the table index and the tag of each sampled string.
fn sampled_strings(src: &[u8]) -> impl Iterator<Item = (usize, u16)> {
    src.windows(RecordedStrings::STRING).filter_map(|string| {
        let (start, end) = (word(&string[..8]), word(&string[8..]));
        let choice = start.wrapping_mul(MULTIPLIER);
        // Excludes runs: those of zeros would always be sampled, others often.
        (choice <= u64::MAX / RecordedStrings::ONE_IN && start != end).then(|| {
            let hash = (choice.rotate_left(32) ^ end).wrapping_mul(MULTIPLIER);
            // Tags differ from empty entries.
            let tag = (hash >> 32) as u16 | 1;
            ((hash >> (64 - INDEX_BITS)) as usize, tag)
        })
    })
}

fn segment_bounds(src: &[u8], segment: usize) -> Range<usize> {
    let start = segment * SEGMENT;
    let end = start + SEGMENT;
    start..if src.len() - end < SEGMENT { src.len() } else { end }
}

struct ByteStats {
    /// The cost of a byte without matches.
    cost: u32,
    /// Whether all values are equally frequent.
    uniform: bool,
    len: u64,
    /// The number of equal ordered pairs of bytes, including each byte with itself.
    equal_pairs: u64,
}

impl ByteStats {
    fn of(segment: &[u8]) -> ByteStats {
        // Four tables avoid waiting for the previous increment of the same counter.
        let mut counts = [[0_u16; 256]; 4];
        let fours = segment.chunks_exact(4);
        for &byte in fours.remainder() {
            counts[0][usize::from(byte)] += 1;
        }
        for four in fours {
            for (counts, &byte) in counts.iter_mut().zip(four) {
                counts[usize::from(byte)] += 1;
            }
        }
        let [a, b, c, d] = counts;
        let equal_pairs: u64 =
            (0..256).map(|byte| u64::from(a[byte] + b[byte] + c[byte] + d[byte]).pow(2)).sum();
        let len = segment.len() as u64;
        // At most 256, with 7 fraction bits; the logarithm of its fourth power is in quarters.
        let one_in = (len.pow(2) << 7) / equal_pairs;
        ByteStats {
            cost: one_in.pow(4).ilog2() - 4 * 7,
            // Random bytes have 1/256 of all pairs and those of each byte with itself. With 1/32
            // more equal pairs, a prefix code saves more than its description costs.
            uniform: 256 * equal_pairs <= len.pow(2) + len.pow(2) / 32 + 256 * len,
            len,
            equal_pairs,
        }
    }
}

/// Whether some byte pairs of `segment` occur more often than by chance, measured by the number of
/// equal neighbour pairs. A high-effort encoder gains more from these than the parse detects.
fn has_correlated_pairs(segment: &[u8], bytes: &ByteStats) -> bool {
    const INDEX_BITS: u32 = 12;
    let mut counts = [0_u16; 1 << INDEX_BITS];
    let mut equal_pairs = 0_u64;
    for (&one, &next) in segment.iter().zip(&segment[1..]) {
        let hash = (u32::from(one) << 8 | u32::from(next)).wrapping_mul(MULTIPLIER as u32);
        let count = &mut counts[(hash >> (u32::BITS - INDEX_BITS)) as usize];
        equal_pairs += u64::from(*count);
        *count += 1;
    }
    let pairs = |len: u64| len.pow(2) / 2;
    let (all, whole) = (pairs(segment.len() as u64), pairs(bytes.len));
    // The number of pairs equal in both bytes by chance, and of other pairs with the same hash.
    let in_one = (bytes.equal_pairs - bytes.len) / 2;
    let in_both = in_one.pow(2) / whole * all / whole;
    let chance = in_both + (all >> INDEX_BITS);
    equal_pairs > chance + chance / 8 + 8 * chance.isqrt()
}

/// Whether bytes at some distance are equal more often than by chance. Short matches at one
/// distance cost almost nothing, and in records of low-entropy bytes they are too short for the
/// parse.
fn is_periodic(segment: &[u8]) -> bool {
    const LONGEST: usize = 128;
    let (sample, _) = segment.split_first_chunk::<{ SAMPLE_LEN / 2 }>().expect("longer");
    // Half of the number in a whole sample.
    let chance = Sample::of(segment).equal_pairs / SAMPLE_LEN as u32 / 2;
    (2..=LONGEST).any(|distance| {
        let equal: u8 =
            sample.iter().zip(&segment[distance..]).map(|(a, b)| u8::from(a == b)).sum();
        u32::from(equal) > max_by_chance(chance)
    })
}

/// Returns the largest plausible number of equal bytes in a sample, given the expected number.
fn max_by_chance(chance: u32) -> u32 {
    chance + chance / 2 + 8
}

struct Sample {
    /// The number of bytes equal to the previous one.
    equal_neighbours: u32,
    /// The number of equal pairs of bytes, each counted twice.
    equal_pairs: u32,
}

impl Sample {
    /// Samples the middle of a segment.
    fn of(segment: &[u8]) -> Sample {
        let from = (segment.len() - SAMPLE_LEN) / 2;
        let pairs: [&[u8; SAMPLE_LEN - 1]; 2] =
            [0, 1].map(|at| segment[from + at..][..SAMPLE_LEN - 1].try_into().expect("its length"));
        let equal: u8 = (0..SAMPLE_LEN - 1).map(|at| u8::from(pairs[0][at] == pairs[1][at])).sum();
        let mut counts = [0_u32; 256];
        let mut equal_pairs = 0;
        for &byte in pairs[0] {
            equal_pairs += counts[usize::from(byte)];
            counts[usize::from(byte)] += 1;
        }
        Sample { equal_neighbours: equal.into(), equal_pairs: 2 * equal_pairs }
    }

    /// Whether neighbours are equal hardly more often than any two bytes, at least
    /// `min_equal_pairs` pairs are equal, and the bytes are not nearly all equal.
    fn is_random(&self, min_equal_pairs: u32) -> bool {
        let chance = self.equal_pairs / SAMPLE_LEN as u32;
        self.equal_pairs >= min_equal_pairs
            && chance <= SAMPLE_LEN as u32 / 2
            && self.equal_neighbours <= max_by_chance(chance)
    }
}

#[inline(always)]
pub(super) fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// Returns the number of equal bytes, at most the length of deflate's longest match.
fn match_len(old: &[u8], new: &[u8]) -> usize {
    const MAX_LEN: usize = 258;
    if let (Some(&old), Some(&new)) = (old.first_chunk(), new.first_chunk()) {
        let differ = u64::from_le_bytes(old) ^ u64::from_le_bytes(new);
        if differ != 0 {
            return differ.trailing_zeros() as usize / 8;
        }
    }
    old.iter().zip(new).take(MAX_LEN).take_while(|(a, b)| a == b).count()
}
