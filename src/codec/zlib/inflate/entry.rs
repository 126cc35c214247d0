//! The entries of tables of codewords, and the symbols of the format.

pub(super) const LITERALS: usize = 288;
pub(super) const DISTANCES: usize = 32;
/// The number of codeword lengths, and of the codes for their repetition.
pub(super) const LENGTHS: usize = 19;
pub(super) const MAX_DISTANCES: usize = 30;
pub(super) const END_OF_BLOCK: usize = 256;
pub(super) const MAX_MATCH: usize = 258;

/// An entry of a table:
///
/// | bits | content |
/// |---|---|
/// | 0–7 | bits to consume: codeword and extra bits; of a second table: its index bits |
/// | 8–11 | bits of the codeword, after which the extra bits follow |
/// | 13 | the end of a block |
/// | 14 | the entry refers to a second table |
/// | 15 | the end, a second table, or (without bits 13 and 14) no codeword |
/// | 16–30 | a literal, the least length or distance, or the index of a second table |
/// | 31 | a literal |
pub(super) type Entry = u32;

pub(super) const CODEWORD_SHIFT: u32 = 8;
pub(super) const VALUE_SHIFT: u32 = 16;
pub(super) const END: Entry = EXCEPTION | 1 << 13;
pub(super) const SECOND_TABLE: Entry = EXCEPTION | 1 << 14;
pub(super) const EXCEPTION: Entry = 1 << 15;
pub(super) const LITERAL: Entry = 1 << 31;
/// The entry of bits that are no codeword.
pub(super) const INVALID: Entry = EXCEPTION;

/// The entries of literals and lengths, without codewords.
pub(super) const LITERAL_SYMBOLS: &[Entry; LITERALS] = &{
    let mut entries = [INVALID; LITERALS];
    let mut symbol = 0;
    while symbol < END_OF_BLOCK {
        entries[symbol] = LITERAL | (symbol as u32) << VALUE_SHIFT;
        symbol += 1;
    }
    entries[END_OF_BLOCK] = END;
    let (mut symbol, mut least) = (257, 3);
    while symbol < 285 {
        let extra = if symbol < 265 { 0 } else { (symbol as u32 - 261) / 4 };
        entries[symbol] = least << VALUE_SHIFT | extra;
        least += 1 << extra;
        symbol += 1;
    }
    entries[285] = (MAX_MATCH as u32) << VALUE_SHIFT;
    entries
};

/// The entries of distances, without codewords.
pub(super) const DISTANCE_SYMBOLS: &[Entry; DISTANCES] = &{
    let mut entries = [INVALID; DISTANCES];
    let (mut symbol, mut least) = (0, 1);
    while symbol < MAX_DISTANCES {
        let extra = if symbol < 4 { 0 } else { symbol as u32 / 2 - 1 };
        entries[symbol] = least << VALUE_SHIFT | extra;
        least += 1 << extra;
        symbol += 1;
    }
    entries
};

/// The entries of codeword lengths, without codewords.
pub(super) const LENGTH_SYMBOLS: &[Entry; LENGTHS] = &{
    let mut entries = [0; LENGTHS];
    let mut symbol = 0;
    while symbol < entries.len() {
        entries[symbol] = (symbol as u32) << VALUE_SHIFT;
        symbol += 1;
    }
    entries
};
