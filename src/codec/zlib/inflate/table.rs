//! Tables of codewords.
//!
//! A table has an entry for each sequence of as many bits as an index has. Longer codewords share an
//! entry that refers to a second table after the first one.

use super::bits::Bits;
use super::entry::{CODEWORD_SHIFT, Entry, INVALID, LITERALS, SECOND_TABLE, VALUE_SHIFT};

/// The maximum length of a codeword in bits.
pub(super) const MAX_CODEWORD: usize = 15;
/// The table of literals and lengths. The second tables of 288 symbols with codewords of up to 15
/// bits end at most here. (Source: the program `enough` of zlib.)
pub(super) type LiteralTable = Table<2342, 11>;
/// The table of distances: 32 symbols.
pub(super) type DistanceTable = Table<402, 8>;
/// The table of codeword lengths, which have codewords of at most 7 bits.
pub(super) type LengthTable = Table<128, 7>;

/// Whether each sequence of bits begins with a codeword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Completeness {
    Complete,
    /// There is only one codeword, of one bit.
    OneBit,
    /// There are no codewords.
    Empty,
}

/// A table with `LEN` entries and indexes of `BITS` bits.
pub(super) struct Table<const LEN: usize, const BITS: u32> {
    entries: [Entry; LEN],
}

impl<const LEN: usize, const BITS: u32> Table<LEN, BITS> {
    /// Returns a table without codewords.
    pub(super) const fn new() -> Table<LEN, BITS> {
        Table { entries: [INVALID; LEN] }
    }

    /// Returns the entry of the next bits, which may refer to a second table.
    #[inline(always)]
    pub(super) fn first(&self, bits: &Bits<'_>) -> Entry {
        self.entries[bits.peek(BITS)]
    }

    /// Returns the entry to which the entry of the next bits refers, if it refers to a second table,
    /// or that entry itself.
    #[inline(always)]
    pub(super) fn resolve(&self, first: Entry, bits: &Bits<'_>) -> Entry {
        if first & SECOND_TABLE == SECOND_TABLE {
            self.entries[(first >> VALUE_SHIFT) as usize + bits.peek_after(BITS, first & 0xf)]
        } else {
            first
        }
    }

    /// Returns the entry of the next codeword.
    #[inline(always)]
    pub(super) fn entry(&self, bits: &Bits<'_>) -> Entry {
        self.resolve(self.first(bits), bits)
    }

    /// Builds the table for codewords of these lengths. Returns `None` if there are no such codewords,
    /// because the lengths are too small, or too large.
    pub(super) fn build(&mut self, lengths: &[u8], symbols: &[Entry]) -> Option<Completeness> {
        let table = &mut self.entries;
        let index_bits = BITS as usize;
        let mut counts = [0_u16; MAX_CODEWORD + 1];
        for &length in lengths {
            counts[usize::from(length)] += 1;
        }
        counts[0] = 0;
        // The number of unused codewords of each length.
        let mut unused = 1_i32;
        for &count in &counts[1..] {
            unused = 2 * unused - i32::from(count);
            if unused < 0 {
                return None;
            }
        }
        let longest = counts.iter().rposition(|&count| count > 0).unwrap_or(0);
        let completeness = match (unused, longest) {
            (0, _) => Completeness::Complete,
            (_, 0) => Completeness::Empty,
            (_, 1) => Completeness::OneBit,
            _ => return None,
        };
        let first_len = 1 << index_bits;
        if completeness != Completeness::Complete {
            table[..first_len].fill(INVALID);
        }

        // The symbols by length, and then by number: the order of their codewords.
        let mut starts = [0_u16; MAX_CODEWORD + 2];
        for length in 1..=MAX_CODEWORD {
            starts[length + 1] = starts[length] + counts[length];
        }
        let mut sorted = [0_u16; LITERALS];
        for (symbol, &length) in lengths.iter().enumerate() {
            if length > 0 {
                let at = &mut starts[usize::from(length)];
                sorted[usize::from(*at)] = symbol as u16;
                *at += 1;
            }
        }

        // The first bit of a codeword is the lowest bit of an index, so codewords are reversed.
        let mut codeword = 0_usize;
        let mut next = sorted.iter();
        let mut take = || symbols[usize::from(*next.next().expect("a symbol for each codeword"))];
        for (length, &count) in counts[..=index_bits].iter().enumerate().skip(1) {
            let bits = (length as u32) << CODEWORD_SHIFT | length as u32;
            for _ in 0..count {
                table[codeword] = take() + bits;
                codeword = next_codeword(codeword, length);
            }
            // Codewords that are shorter than an index are followed by any bits.
            if length < index_bits {
                table.copy_within(..1 << length, 1 << length);
            }
        }

        let mut end = first_len;
        let (mut second, mut second_bits, mut prefix) = (0, 0, usize::MAX);
        for (length, &count) in counts.iter().enumerate().skip(index_bits + 1) {
            let rest_bits = length - index_bits;
            let bits = (length as u32) << CODEWORD_SHIFT | length as u32;
            for remaining in (1..=count).rev() {
                let first = codeword & (first_len - 1);
                if first != prefix {
                    // A second table has as many index bits as the longest codeword that begins with
                    // this prefix needs.
                    prefix = first;
                    second = end;
                    second_bits = rest_bits;
                    let mut used = usize::from(remaining);
                    while used < 1 << second_bits {
                        second_bits += 1;
                        used = 2 * used + usize::from(counts[index_bits + second_bits]);
                    }
                    end = second + (1 << second_bits);
                    table[prefix] =
                        SECOND_TABLE | (second as u32) << VALUE_SHIFT | second_bits as u32;
                }
                let entry = take() + bits;
                let indexes = (codeword >> index_bits..1 << second_bits).step_by(1 << rest_bits);
                for index in indexes {
                    table[second + index] = entry;
                }
                codeword = next_codeword(codeword, length);
            }
        }
        Some(completeness)
    }
}

/// Returns the reversed codeword after `codeword` of the same length; 0 after the last one.
fn next_codeword(codeword: usize, length: usize) -> usize {
    let zeros = !codeword & ((1 << length) - 1);
    match zeros.checked_ilog2() {
        Some(highest) => codeword & ((1 << highest) - 1) | 1 << highest,
        None => 0,
    }
}
