//! Parsers for short streams, which split them into literals and matches.
//!
//! In a frame of a few dozen bytes, one or two bytes matter, and the library's parsers do not
//! optimise for that: they ignore the gain if all sequences have the same symbol, and use a Huffman
//! code for literals only from a minimum number. So short streams are parsed here with exact
//! prices, starting from several price tables ([`prices`]). The library writes each parse, and the
//! shortest frame is used.

mod matches;
mod prices;

use zstd_sys::ZSTD_Sequence;

use matches::{Matches, common_len};
use prices::Recent;
pub(super) use prices::{Counts, Prices};

/// The maximum length of a short stream.
pub(super) const LONGEST: usize = 1 << 10;
/// The minimum match length of the format.
const SHORTEST_MATCH: usize = 3;
/// For a long match, only the first and the last lengths are tried.
const FIRST_LENGTHS: usize = 32;
const LAST_LENGTHS: usize = 3;
/// A match of at least this length is accepted: no other match is tried inside it, except near both
/// ends.
const ACCEPT_LENGTH: usize = 64;
const MARGIN: usize = 4;

/// The cheapest parse up to a position where a match ends.
#[derive(Clone, Copy)]
struct Node {
    price: u32,
    /// The end of the previous match.
    from: u16,
    len: u16,
    offset: u16,
    recent: Recent,
}

const UNREACHED: Node = Node {
    price: u32::MAX,
    from: 0,
    len: 0,
    offset: 0,
    recent: Recent::FIRST,
};

/// Literals after a match.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    /// The price of everything up to the end of the run, except that of the run length.
    price: u32,
}

/// Returns the parse of `len` bytes without matches.
pub(super) fn literals(len: usize) -> [ZSTD_Sequence; 1] {
    [ZSTD_Sequence {
        offset: 0,
        litLength: len as u32,
        matchLength: 0,
        rep: 0,
    }]
}

#[derive(Default)]
pub(super) struct Parser {
    matches: Matches,
    nodes: Vec<Node>,
}

impl Parser {
    /// Finds the matches of `src`, which has at most [`LONGEST`] bytes. Returns whether there are
    /// any. Later parses must be of the same `src`.
    pub(super) fn find_matches(&mut self, src: &[u8]) -> bool {
        self.matches.find(src);
        !self.matches.is_empty()
    }

    /// Returns the cheapest parse. The last sequence holds the literals after the last match.
    pub(super) fn parse(&mut self, src: &[u8], prices: &Prices) -> Vec<ZSTD_Sequence> {
        self.nodes.clear();
        self.nodes.resize(src.len() + 1, UNREACHED);
        self.nodes[0].price = 0;
        let mut run = Run { start: 0, price: 0 };
        let mut inside = 0..0;
        for (at, &byte) in src.iter().enumerate() {
            let node = self.nodes[at].price;
            if node != UNREACHED.price
                && node + prices.run(0) <= run.price + prices.run(at - run.start)
            {
                run = Run {
                    start: at,
                    price: node,
                };
            }
            if !inside.contains(&at) {
                let longest = self.try_matches(src, prices, at, run);
                if longest >= ACCEPT_LENGTH && at >= inside.end {
                    inside = at + MARGIN..at + longest - MARGIN;
                }
            }
            run.price += prices.literal(byte);
        }
        let end = if self.nodes[src.len()].price <= run.price {
            src.len()
        } else {
            run.start
        };
        self.sequences(src.len(), end)
    }

    /// Continues from `at` with each match there. Returns the length of the longest one.
    fn try_matches(&mut self, src: &[u8], prices: &Prices, at: usize, run: Run) -> usize {
        let recent = self.nodes[run.start].recent;
        let after_match = run.start == at;
        let price = run.price + prices.run(at - run.start);
        let mut extend = |offset: u16, shortest: usize, longest: usize| {
            let code = recent.code(offset, after_match);
            let price = price + prices.offset(code);
            let last = (shortest + FIRST_LENGTHS).max((longest + 1).saturating_sub(LAST_LENGTHS));
            let lengths = shortest..=longest.min(shortest + FIRST_LENGTHS - 1);
            for len in lengths.chain(last..=longest) {
                let price = price + prices.length(len);
                let node = &mut self.nodes[at + len];
                if price < node.price {
                    *node = Node {
                        price,
                        from: run.start as u16,
                        len: len as u16,
                        offset,
                        recent: recent.after(offset, code, after_match),
                    };
                }
            }
        };
        let mut longest_recent = 0;
        for offset in recent.offsets(after_match) {
            let back = at.checked_sub(usize::from(offset));
            if let Some(back) = back
                && back < at
            {
                let len = common_len(src, back, at);
                extend(offset, SHORTEST_MATCH, len);
                longest_recent = longest_recent.max(len);
            }
        }
        let mut shortest = SHORTEST_MATCH;
        for found in self.matches.at(at) {
            let longest = usize::from(found.len);
            extend(found.offset, shortest, longest);
            shortest = longest + 1;
        }
        longest_recent.max(shortest - 1)
    }

    /// Returns the sequences up to the match that ends at `end`, and the remaining literals of the
    /// `len` bytes.
    fn sequences(&self, len: usize, end: usize) -> Vec<ZSTD_Sequence> {
        let mut sequences = literals(len - end).to_vec();
        let mut end = end;
        while end != 0 {
            let node = self.nodes[end];
            let from = usize::from(node.from);
            sequences.push(ZSTD_Sequence {
                offset: u32::from(node.offset),
                litLength: (end - from) as u32 - u32::from(node.len),
                matchLength: u32::from(node.len),
                rep: 0,
            });
            end = from;
        }
        sequences.reverse();
        sequences
    }
}

pub(super) fn is_same(one: &[ZSTD_Sequence], other: &[ZSTD_Sequence]) -> bool {
    let key =
        |sequence: &ZSTD_Sequence| (sequence.litLength, sequence.matchLength, sequence.offset);
    one.iter().map(key).eq(other.iter().map(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replays the sequences with the literals of `src`.
    fn replay(src: &[u8], sequences: &[ZSTD_Sequence]) -> Vec<u8> {
        let mut made: Vec<u8> = Vec::new();
        for sequence in sequences {
            let literals = made.len()..made.len() + sequence.litLength as usize;
            made.extend_from_slice(&src[literals]);
            for _ in 0..sequence.matchLength {
                made.push(made[made.len() - sequence.offset as usize]);
            }
        }
        made
    }

    #[test]
    fn sequences_replay_the_stream_for_all_prices() {
        let mut parser = Parser::default();
        let mut random = 5u32;
        for round in 0..200 {
            let values = [2, 4, 20][round % 3];
            let longest_run = [1, 3, 50][round / 3 % 3];
            let src: Vec<u8> = (0..LONGEST)
                .flat_map(|_| {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let run = 1 + (random >> 16) as usize % longest_run;
                    std::iter::repeat_n((random >> 24) as u8 % values, run)
                })
                .take(if round == 0 { LONGEST } else { 5 * round })
                .collect();
            if !parser.find_matches(&src) {
                continue;
            }
            for prices in [
                Prices::predefined(),
                Prices::runs(),
                Prices::predefined().huffman(&src),
            ] {
                let parse = parser.parse(&src, &prices);
                assert!(replay(&src, &parse) == src, "round {round}");
                let adapted = Prices::adapted(&Counts::of(&src, &parse), true);
                assert!(replay(&src, &parser.parse(&src, &adapted)) == src);
            }
        }
    }

    #[test]
    fn runs_become_a_literal_and_a_match_each() {
        let src: Vec<u8> = (10..18u8).flat_map(|byte| [byte; 16]).collect();
        let mut parser = Parser::default();
        assert!(parser.find_matches(&src));
        let parse = parser.parse(&src, &Prices::runs());
        let (last, runs) = parse.split_last().unwrap();
        assert_eq!((last.litLength, last.matchLength), (0, 0));
        assert_eq!(runs.len(), 8);
        for run in runs {
            assert_eq!((run.litLength, run.matchLength, run.offset), (1, 15, 1));
        }
    }

    #[test]
    fn a_stream_without_repetition_has_no_matches() {
        let src: Vec<u8> = (0..=255).collect();
        assert!(!Parser::default().find_matches(&src));
    }
}
