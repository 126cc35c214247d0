//! The prices of sequences and literals in a frame, in units of `1 / BIT` bits ([`BIT`]).
//!
//! A sequence has three symbols (number of literals, match length, offset), some with extra bits.
//! Symbols are entropy coded, so their prices follow from their frequencies: initially the
//! predefined distributions of the format (RFC 8878, section 3.1.1.3.2.2), later the statistics of
//! a previous parse.

use super::{LONGEST, SHORTEST_MATCH};
use zstd_sys::ZSTD_Sequence;

/// The price of one bit.
pub(super) const BIT: u32 = 256;

const BYTES: usize = 1 << 8;
const RUN_SYMBOLS: usize = 36;
const LENGTH_SYMBOLS: usize = 53;
const OFFSET_SYMBOLS: usize = 11;

/// The predefined distributions of the format, for the offsets of short streams.
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
/// The sums of the distributions.
const RUN_TOTAL: u32 = 64;
const LENGTH_TOTAL: u32 = 64;
const OFFSET_TOTAL: u32 = 32;

/// A symbol and its number of extra bits.
#[derive(Clone, Copy)]
struct Symbol {
    symbol: u8,
    extra: u8,
}

/// Returns the symbol of each number. Numbers below `direct` are their own symbols; each further
/// symbol covers `1 << extra` numbers.
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
/// Indexed by the match length minus the minimum.
const LENGTHS: [Symbol; LONGEST + 1] = symbols(32, [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10]);

/// The frequency of each symbol in a parse.
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

    /// Counts the symbols of a parse of `src`. The last sequence holds the literals after the last
    /// match.
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
                let code = recent.code(sequence.offset as u16, run == 0);
                recent = recent.after(sequence.offset as u16, code, run == 0);
                counts.runs[usize::from(RUNS[run].symbol)] += 1;
                counts.lengths[usize::from(LENGTHS[length - SHORTEST_MATCH].symbol)] += 1;
                counts.offsets[code.ilog2() as usize] += 1;
            }
        }
        counts
    }
}

/// The three most recent offsets, which have separate codes.
#[derive(Clone, Copy)]
pub(super) struct Recent([u16; 3]);

impl Recent {
    /// The offsets at the start of a frame.
    pub(super) const FIRST: Recent = Recent([1, 4, 8]);

    /// Returns the offsets with the codes 1 to 3. They differ directly after a match, where
    /// repeating its offset is useless.
    pub(super) fn offsets(self, after_match: bool) -> [u16; 3] {
        let [first, second, third] = self.0;
        if after_match {
            [second, third, first.wrapping_sub(1)]
        } else {
            self.0
        }
    }

    /// Returns the code of an offset, whose logarithm is its symbol.
    pub(super) fn code(self, offset: u16, after_match: bool) -> u16 {
        let recent = self.offsets(after_match);
        match recent.iter().position(|&other| other == offset) {
            Some(index) => 1 + index as u16,
            None => offset + 3,
        }
    }

    /// Returns the recent offsets after the use of `offset` with the given code.
    pub(super) fn after(self, offset: u16, code: u16, after_match: bool) -> Recent {
        let [first, second, third] = self.0;
        let rank = code + u16::from(after_match);
        Recent(match rank {
            1 => self.0,
            2 => [second, first, third],
            _ => [offset, first, second],
        })
    }
}

/// The prices of all symbols and literals.
pub(in crate::codec::zstd) struct Prices {
    literals: [u32; BYTES],
    runs: [u32; RUN_SYMBOLS],
    lengths: [u32; LENGTH_SYMBOLS],
    offsets: [u32; OFFSET_SYMBOLS],
}

impl Prices {
    /// Returns the prices by the predefined distributions, with uncompressed literals.
    pub(in crate::codec::zstd) fn predefined() -> Prices {
        let price = |total: u32| move |share: u32| log2(total) - log2(share);
        Prices {
            literals: [8 * BIT; BYTES],
            runs: PREDEFINED_RUNS.map(price(RUN_TOTAL)),
            lengths: PREDEFINED_LENGTHS.map(price(LENGTH_TOTAL)),
            offsets: PREDEFINED_OFFSETS.map(price(OFFSET_TOTAL)),
        }
    }

    /// Returns prices with the most recent offset free and all others prohibitive: matches then
    /// continue runs of one byte, so their symbols tend to be equal.
    pub(in crate::codec::zstd) fn runs() -> Prices {
        const PROHIBITIVE: u32 = 64 * BIT;
        let mut offsets = [PROHIBITIVE; OFFSET_SYMBOLS];
        offsets[0] = 0;
        Prices {
            offsets,
            ..Prices::predefined()
        }
    }

    /// Replaces the prices of literals by those of a Huffman code, as if all of `src` were
    /// literals.
    pub(in crate::codec::zstd) fn huffman(mut self, src: &[u8]) -> Prices {
        let mut counts = [0; BYTES];
        for &byte in src {
            counts[usize::from(byte)] += 1;
        }
        self.literals = literal_prices(&counts);
        self
    }

    /// Returns the prices by the statistics of a parse, including those of literals if these are
    /// compressed.
    pub(in crate::codec::zstd) fn adapted(counts: &Counts, are_literals_coded: bool) -> Prices {
        Prices {
            literals: if are_literals_coded {
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

    /// Returns the price of the length code of `len` literals before a match.
    pub(super) fn run(&self, len: usize) -> u32 {
        let Symbol { symbol, extra } = RUNS[len];
        self.runs[usize::from(symbol)] + u32::from(extra) * BIT
    }

    /// Returns the price of the length code of a match of `len` bytes.
    pub(super) fn length(&self, len: usize) -> u32 {
        let Symbol { symbol, extra } = LENGTHS[len - SHORTEST_MATCH];
        self.lengths[usize::from(symbol)] + u32::from(extra) * BIT
    }

    pub(super) fn offset(&self, code: u16) -> u32 {
        let symbol = code.ilog2();
        self.offsets[symbol as usize] + symbol * BIT
    }
}

/// Returns the prices of symbols with these frequencies. A symbol that is the only one costs
/// nothing; unused symbols have a finite price.
fn symbol_prices<const SYMBOLS: usize>(counts: &[u32; SYMBOLS]) -> [u32; SYMBOLS] {
    const COUNT: u32 = 8;
    const UNSEEN: u32 = 16;
    let total: u32 = counts.iter().sum();
    counts.map(|count| match count {
        all if all == total => 0,
        _ => log2(COUNT * total + UNSEEN) - log2(COUNT * count + 1),
    })
}

/// Returns the prices of literals with these frequencies; prefix codes have 1 to 11 bits.
fn literal_prices(counts: &[u32; BYTES]) -> [u32; BYTES] {
    const LONGEST_CODE: u32 = 11;
    let total: u32 = counts.iter().sum();
    counts.map(|count| (log2(4 * total + 1) - log2(4 * count + 1)).clamp(BIT, LONGEST_CODE * BIT))
}

/// Returns the logarithm of a nonzero number in units of [`BIT`]: exact for powers of 2 and linear
/// between them, so that it is the same on all machines.
fn log2(number: u32) -> u32 {
    let whole = number.ilog2();
    whole * BIT + (((number - (1 << whole)) * BIT) >> whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_distributions_are_complete() {
        assert_eq!(PREDEFINED_RUNS.iter().sum::<u32>(), RUN_TOTAL);
        assert_eq!(PREDEFINED_LENGTHS.iter().sum::<u32>(), LENGTH_TOTAL);
    }

    /// From the tables of RFC 8878, section 3.1.1.3.2.1.1.
    #[test]
    fn symbols_follow_the_format() {
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
        assert_eq!(recent.code(4, false), 2);
        assert_eq!(recent.after(4, 2, false).0, [4, 1, 8]);
        assert_eq!(recent.code(4, true), 1);
        assert_eq!(recent.after(4, 1, true).0, [4, 1, 8]);
        assert_eq!(recent.code(8, true), 2);
        assert_eq!(recent.after(8, 2, true).0, [8, 1, 4]);
        assert_eq!(recent.code(100, false), 103);
        let recent = recent.after(100, 103, false);
        assert_eq!(recent.0, [100, 1, 4]);
        assert_eq!(recent.code(99, true), 3);
        assert_eq!(recent.after(99, 3, true).0, [99, 100, 1]);
    }
}
