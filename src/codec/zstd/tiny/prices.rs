//! What the parts of a parse cost in a frame, in [`BIT`]s.
//!
//! A sequence is three symbols (how many literals, how long the match, from how far) and the extra bits that some
//! of them have. Symbols are entropy coded, so their price is a matter of how often they occur: at first by the
//! distributions that the format predefines (RFC 8878, section 3.1.1.3.2.2), later by what an earlier parse took.

use super::{LONGEST, SHORTEST_MATCH};
use zstd_sys::ZSTD_Sequence;

/// A bit. Prices are finer than that.
pub(super) const BIT: u32 = 256;

const BYTES: usize = 1 << 8;
const RUN_SYMBOLS: usize = 36;
const LENGTH_SYMBOLS: usize = 53;
const OFFSET_SYMBOLS: usize = 11;

/// How the format predefines the symbols to be distributed, for the offsets within reach.
const PREDEFINED_RUNS: [u32; RUN_SYMBOLS] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
    1, 1, 1, 1,
];
const PREDEFINED_LENGTHS: [u32; LENGTH_SYMBOLS] = {
    let mut shares = [1; LENGTH_SYMBOLS];
    (shares[1], shares[2]) = (4, 3);
    let mut symbol = 3;
    while symbol < 9 {
        shares[symbol] = 2;
        symbol += 1;
    }
    shares
};
const PREDEFINED_OFFSETS: [u32; OFFSET_SYMBOLS] = [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1];
/// The sums of those.
const RUN_TOTAL: u32 = 64;
const LENGTH_TOTAL: u32 = 64;
const OFFSET_TOTAL: u32 = 32;

/// A symbol, and how many extra bits it has.
#[derive(Clone, Copy)]
struct Symbol {
    symbol: u8,
    extra: u8,
}

/// Numbers below so many are symbols of their own; above, a symbol begins every 1 << extra numbers.
const fn symbols<const STEPS: usize>(direct: usize, extras: [u8; STEPS]) -> [Symbol; LONGEST + 1] {
    let mut table = [Symbol {
        symbol: 0,
        extra: 0,
    }; LONGEST + 1];
    let mut number = 0;
    while number < direct {
        table[number].symbol = number as u8;
        number += 1;
    }
    let mut step = 0;
    while step < STEPS {
        let end = number + (1 << extras[step]);
        while number < end && number <= LONGEST {
            table[number] = Symbol {
                symbol: (direct + step) as u8,
                extra: extras[step],
            };
            number += 1;
        }
        step += 1;
    }
    table
}

const RUNS: [Symbol; LONGEST + 1] = symbols(16, [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10]);
/// By the length beyond the shortest match.
const LENGTHS: [Symbol; LONGEST + 1] = symbols(32, [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10]);

/// How often each symbol occurs in a parse.
pub(in crate::codec::zstd) struct Counts {
    literals: [u32; BYTES],
    runs: [u32; RUN_SYMBOLS],
    lengths: [u32; LENGTH_SYMBOLS],
    offsets: [u32; OFFSET_SYMBOLS],
}

impl Counts {
    fn new() -> Counts {
        Counts {
            literals: [0; BYTES],
            runs: [0; RUN_SYMBOLS],
            lengths: [0; LENGTH_SYMBOLS],
            offsets: [0; OFFSET_SYMBOLS],
        }
    }

    /// Those of a parse of `src`. The last sequence is the literals behind the last match.
    pub(in crate::codec::zstd) fn of(src: &[u8], sequences: &[ZSTD_Sequence]) -> Counts {
        let mut counts = Counts::new();
        let mut at = 0;
        let mut recent = Recent::FIRST;
        for sequence in sequences {
            let run = sequence.litLength as usize;
            let length = sequence.matchLength as usize;
            for &byte in &src[at..at + run] {
                counts.literals[usize::from(byte)] += 1;
            }
            at += run + length;
            if length != 0 {
                let number = recent.number(sequence.offset as u16, run == 0);
                recent = recent.after(sequence.offset as u16, number, run == 0);
                counts.runs[usize::from(RUNS[run].symbol)] += 1;
                counts.lengths[usize::from(LENGTHS[length - SHORTEST_MATCH].symbol)] += 1;
                counts.offsets[number.ilog2() as usize] += 1;
            }
        }
        counts
    }
}

/// The three offsets last used, which have numbers of their own.
#[derive(Clone, Copy)]
pub(super) struct Recent([u16; 3]);

impl Recent {
    /// At the start of a frame.
    pub(super) const FIRST: Recent = Recent([1, 4, 8]);

    /// The offsets that numbers 1 to 3 stand for: behind a match (no literals between), repeating the last one
    /// makes no sense.
    pub(super) fn offsets(self, behind_a_match: bool) -> [u16; 3] {
        let [first, second, third] = self.0;
        if behind_a_match {
            [second, third, first.wrapping_sub(1)]
        } else {
            self.0
        }
    }

    /// The number of an offset, whose logarithm is its symbol.
    pub(super) fn number(self, offset: u16, behind_a_match: bool) -> u16 {
        let recent = self.offsets(behind_a_match);
        match recent.iter().position(|&other| other == offset) {
            Some(index) => 1 + index as u16,
            None => offset + 3,
        }
    }

    /// The offsets last used when `offset` has been, by its number.
    pub(super) fn after(self, offset: u16, number: u16, behind_a_match: bool) -> Recent {
        let [first, second, third] = self.0;
        let place = number + u16::from(behind_a_match);
        Recent(match place {
            1 => self.0,
            2 => [second, first, third],
            _ => [offset, first, second],
        })
    }
}

/// The prices of all parts of a parse.
pub(in crate::codec::zstd) struct Prices {
    literals: [u32; BYTES],
    runs: [u32; RUN_SYMBOLS],
    lengths: [u32; LENGTH_SYMBOLS],
    offsets: [u32; OFFSET_SYMBOLS],
}

impl Prices {
    /// By the predefined distributions, with literals as they are.
    pub(in crate::codec::zstd) fn predefined() -> Prices {
        let price = |total: u32| move |share: u32| log2(total) - log2(share);
        Prices {
            literals: [8 * BIT; BYTES],
            runs: PREDEFINED_RUNS.map(price(RUN_TOTAL)),
            lengths: PREDEFINED_LENGTHS.map(price(LENGTH_TOTAL)),
            offsets: PREDEFINED_OFFSETS.map(price(OFFSET_TOTAL)),
        }
    }

    /// With the offset last used for nothing, and all others out of reach: matches continue runs of one byte, so
    /// that their symbols have a chance to be all the same.
    pub(in crate::codec::zstd) fn runs() -> Prices {
        const OUT_OF_REACH: u32 = 64 * BIT;
        let mut offsets = [OUT_OF_REACH; OFFSET_SYMBOLS];
        offsets[0] = 0;
        Prices {
            offsets,
            ..Prices::predefined()
        }
    }

    /// With literals in a Huffman code, as if all of `src` were literals.
    pub(in crate::codec::zstd) fn huffman(mut self, src: &[u8]) -> Prices {
        let mut counts = [0; BYTES];
        for &byte in src {
            counts[usize::from(byte)] += 1;
        }
        self.literals = literal_prices(&counts);
        self
    }

    /// By what a parse took; literals too if they are coded.
    pub(in crate::codec::zstd) fn adapted(counts: &Counts, literals_are_coded: bool) -> Prices {
        Prices {
            literals: if literals_are_coded {
                literal_prices(&counts.literals)
            } else {
                [8 * BIT; BYTES]
            },
            runs: symbol_prices(&counts.runs),
            lengths: symbol_prices(&counts.lengths),
            offsets: symbol_prices(&counts.offsets),
        }
    }

    pub(super) fn literal(&self, byte: u8) -> u32 {
        self.literals[usize::from(byte)]
    }

    /// Of `len` literals in front of a match, without the literals themselves.
    pub(super) fn run(&self, len: usize) -> u32 {
        let Symbol { symbol, extra } = RUNS[len];
        self.runs[usize::from(symbol)] + u32::from(extra) * BIT
    }

    /// Of a match of `len` bytes.
    pub(super) fn length(&self, len: usize) -> u32 {
        let Symbol { symbol, extra } = LENGTHS[len - SHORTEST_MATCH];
        self.lengths[usize::from(symbol)] + u32::from(extra) * BIT
    }

    /// Of an offset with this number.
    pub(super) fn offset(&self, number: u16) -> u32 {
        let symbol = number.ilog2();
        self.offsets[symbol as usize] + symbol * BIT
    }
}

/// A symbol that stands for all costs nothing; one that did not occur may yet.
fn symbol_prices<const SYMBOLS: usize>(counts: &[u32; SYMBOLS]) -> [u32; SYMBOLS] {
    const COUNT: u32 = 8;
    const UNSEEN: u32 = 16;
    let total: u32 = counts.iter().sum();
    counts.map(|count| match count {
        all if all == total => 0,
        _ => log2(COUNT * total + UNSEEN) - log2(COUNT * count + 1),
    })
}

/// A code of whole bits has none of less than one, and none of more than eleven.
fn literal_prices(counts: &[u32; BYTES]) -> [u32; BYTES] {
    const LONGEST_CODE: u32 = 11;
    let total: u32 = counts.iter().sum();
    counts.map(|count| (log2(4 * total + 1) - log2(4 * count + 1)).clamp(BIT, LONGEST_CODE * BIT))
}

/// The logarithm of a number that is not 0, in [`BIT`]s: exact for powers of 2, and straight between them, so
/// that it is the same on every machine.
fn log2(number: u32) -> u32 {
    let whole = number.ilog2();
    whole * BIT + (((number - (1 << whole)) * BIT) >> whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_shares_add_up() {
        assert_eq!(PREDEFINED_RUNS.iter().sum::<u32>(), RUN_TOTAL);
        assert_eq!(PREDEFINED_LENGTHS.iter().sum::<u32>(), LENGTH_TOTAL);
    }

    /// From the tables of RFC 8878, section 3.1.1.3.2.1.1.
    #[test]
    fn symbols_are_those_of_the_format() {
        for (run, symbol, extra) in [
            (15, 15, 0),
            (17, 16, 1),
            (24, 20, 2),
            (47, 23, 3),
            (48, 24, 4),
            (127, 25, 6),
            (512, 28, 9),
            (1024, 29, 10),
        ] {
            let found = RUNS[run];
            assert_eq!(
                (found.symbol, found.extra),
                (symbol, extra),
                "{run} literals"
            );
        }
        for (length, symbol, extra) in [
            (3, 0, 0),
            (34, 31, 0),
            (36, 32, 1),
            (46, 36, 2),
            (66, 39, 3),
            (99, 42, 5),
            (258, 43, 7),
            (1026, 45, 9),
            (1027, 46, 10),
        ] {
            let found = LENGTHS[length - SHORTEST_MATCH];
            assert_eq!(
                (found.symbol, found.extra),
                (symbol, extra),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn recent_offsets_move_to_the_front() {
        let recent = Recent::FIRST;
        assert_eq!(recent.number(4, false), 2);
        assert_eq!(recent.after(4, 2, false).0, [4, 1, 8]);
        assert_eq!(recent.number(4, true), 1);
        assert_eq!(recent.after(4, 1, true).0, [4, 1, 8]);
        assert_eq!(recent.number(8, true), 2);
        assert_eq!(recent.after(8, 2, true).0, [8, 1, 4]);
        assert_eq!(recent.number(100, false), 103);
        let recent = recent.after(100, 103, false);
        assert_eq!(recent.0, [100, 1, 4]);
        assert_eq!(recent.number(99, true), 3);
        assert_eq!(recent.after(99, 3, true).0, [99, 100, 1]);
    }
}
