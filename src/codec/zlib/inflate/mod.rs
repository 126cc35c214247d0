//! The decoder of zlib streams (RFC 1950, RFC 1951), for streams and outputs in whole buffers.
//!
//! It accepts and rejects the same streams as zlib's `inflate`, including its rules for incomplete
//! codes: a code of literals or distances may be incomplete only if it has a single codeword of one
//! bit. A stream is
//!
//! ```text
//! header     2 bytes: method and window size, check bits
//! blocks     bits, from the lowest of each byte: 1 for the last block, 2 for the kind, content
//! checksum   4 bytes, big-endian: Adler-32 of the data
//! ```
//!
//! A block is stored (kind 0) or consists of symbols with codewords of the format (1), or with
//! codewords whose lengths precede the symbols (2).
//!
//! | file | content |
//! |---|---|
//! | `entry.rs` | entries of tables, and the symbols of the format |
//! | `table.rs` | tables of codewords |
//! | `bits.rs` | the bits of a stream |
//! | `output.rs` | the output, with literals and matches |

mod bits;
mod entry;
mod output;
mod table;
#[cfg(test)]
mod tests;

use super::super::wildcopy::{Copier, Portable};
use crate::{Error, Result};
use bits::Bits;
use entry::{
    DISTANCE_SYMBOLS, DISTANCES, END, END_OF_BLOCK, EXCEPTION, Entry, LENGTH_SYMBOLS, LENGTHS,
    LITERAL, LITERAL_SYMBOLS, LITERALS, MAX_DISTANCES, MAX_MATCH, VALUE_SHIFT,
};
use output::Output;
use table::{Completeness, DistanceTable, LengthTable, LiteralTable};

const HEADER_LEN: usize = 2;
const CHECKSUM_LEN: usize = 4;
const METHOD: u8 = 8;
const MAX_WINDOW_BITS: u8 = 15;
const DICTIONARY: u8 = 0x20;
/// The maximum number of literals and lengths of a block with codeword lengths.
const MAX_LITERALS: usize = 286;

/// Bytes of input that are left before the refill at the start of each fast iteration.
const INPUT: usize = 3 * size_of::<u64>();
/// Bytes of output that are left at the start of each fast iteration.
const OUTPUT: usize = 4 + MAX_MATCH;
/// The maximum number of bits of a codeword of a distance with its extra bits.
const DISTANCE_BITS: u8 = 28;

/// The order of the lengths of the codewords that encode codeword lengths.
const LENGTH_ORDER: [u8; LENGTHS] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The kind of codewords in the tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loaded {
    Nothing,
    Fixed,
    OfBlock,
}

/// A decoder. Its 11 KiB of tables are reused for all streams.
pub(super) struct Inflater {
    loaded: Loaded,
    literals: LiteralTable,
    distances: DistanceTable,
}

impl Inflater {
    pub(super) const fn new() -> Inflater {
        Inflater {
            loaded: Loaded::Nothing,
            literals: LiteralTable::new(),
            distances: DistanceTable::new(),
        }
    }

    /// Decodes `src` into the first `len` bytes of `dest`, and may overwrite the bytes after them.
    /// Ignores bytes after the end of the stream. Returns the number of bytes produced.
    ///
    /// # Errors
    /// [`Error::Data`] if `src` is not a valid stream of at most `len` bytes.
    pub(super) fn decode(&mut self, src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
        self.stream(src, dest, len).ok_or(Error::Data)
    }

    fn stream(&mut self, src: &[u8], dest: &mut [u8], len: usize) -> Option<usize> {
        let &[method, flags] = src.first_chunk::<HEADER_LEN>()?;
        let is_valid = u16::from_be_bytes([method, flags]).is_multiple_of(31)
            && method & 0xf == METHOD
            && (method >> 4) + 8 <= MAX_WINDOW_BITS
            && flags & DICTIONARY == 0;
        if !is_valid {
            return None;
        }
        let body = &src[HEADER_LEN..];
        let (used, produced) = self.blocks(body, dest, len)?;
        let checksum = body.get(used..)?.first_chunk::<CHECKSUM_LEN>()?;
        let found = ::zlib_rs::adler32::adler32(1, &dest[..produced]);
        (found == u32::from_be_bytes(*checksum)).then_some(produced)
    }

    /// Decodes all blocks; returns the numbers of bytes read and produced.
    fn blocks(&mut self, src: &[u8], dest: &mut [u8], len: usize) -> Option<(usize, usize)> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the features were just detected.
            return unsafe { self.blocks_avx2(src, dest, len) };
        }
        self.blocks_with::<Portable>(src, dest, len)
    }

    /// Runs [`blocks_with`](Self::blocks_with), compiled for AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi2")]
    fn blocks_avx2(&mut self, src: &[u8], dest: &mut [u8], len: usize) -> Option<(usize, usize)> {
        self.blocks_with::<super::super::wildcopy::Avx2>(src, dest, len)
    }

    #[inline(always)]
    fn blocks_with<C: Copier>(
        &mut self,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Option<(usize, usize)> {
        let mut input = Bits::new(src);
        let mut output = Output::new(dest, len);
        loop {
            input.refill()?;
            let is_last = input.take(1) == 1;
            match input.take(2) {
                0 => stored(&mut input, &mut output)?,
                1 => {
                    self.load_fixed();
                    self.symbols::<C>(&mut input, &mut output)?;
                }
                2 => {
                    self.load(&mut input)?;
                    self.symbols::<C>(&mut input, &mut output)?;
                }
                _ => return None,
            }
            if is_last {
                return Some((input.align()?, output.produced()));
            }
        }
    }

    /// Loads the codewords of the format.
    fn load_fixed(&mut self) {
        if self.loaded == Loaded::Fixed {
            return;
        }
        let mut lengths = [8; LITERALS];
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        let literals = self.literals.build(&lengths, LITERAL_SYMBOLS);
        let distances = self.distances.build(&[5; DISTANCES], DISTANCE_SYMBOLS);
        debug_assert!(literals.is_some() && distances.is_some());
        self.loaded = Loaded::Fixed;
    }

    /// Reads the codeword lengths of a block and loads its codewords.
    fn load(&mut self, input: &mut Bits<'_>) -> Option<()> {
        self.loaded = Loaded::OfBlock;
        input.refill()?;
        let literals = 257 + input.take(5) as usize;
        let distances = 1 + input.take(5) as usize;
        let count = 4 + input.take(4) as usize;
        if literals > MAX_LITERALS || distances > MAX_DISTANCES {
            return None;
        }
        let mut lengths = [0; LENGTHS];
        for &symbol in &LENGTH_ORDER[..count] {
            input.refill()?;
            lengths[usize::from(symbol)] = input.take(3) as u8;
        }
        let mut table = LengthTable::new();
        if table.build(&lengths, LENGTH_SYMBOLS)? == Completeness::OneBit {
            return None;
        }

        let mut lengths = [0; MAX_LITERALS + MAX_DISTANCES];
        let total = literals + distances;
        let mut done = 0;
        while done < total {
            input.refill()?;
            let entry = table.first(input);
            if entry & EXCEPTION != 0 {
                return None;
            }
            input.consume(entry);
            let (length, times) = match (entry >> VALUE_SHIFT) as u8 {
                16 => (*lengths.get(done.checked_sub(1)?)?, 3 + input.take(2)),
                17 => (0, 3 + input.take(3)),
                18 => (0, 11 + input.take(7)),
                length => (length, 1),
            };
            let end = done + times as usize;
            if end > total {
                return None;
            }
            lengths[done..end].fill(length);
            done = end;
        }
        let (of_literals, of_distances) = lengths[..total].split_at(literals);
        if of_literals[END_OF_BLOCK] == 0 {
            return None;
        }
        self.literals.build(of_literals, LITERAL_SYMBOLS)?;
        self.distances.build(of_distances, DISTANCE_SYMBOLS)?;
        Some(())
    }

    /// Decodes the symbols of a block up to its end.
    #[inline(always)]
    fn symbols<C: Copier>(&self, input: &mut Bits<'_>, output: &mut Output<'_>) -> Option<()> {
        if self.fast_symbols::<C>(input, output)? {
            return Some(());
        }
        loop {
            input.refill()?;
            let entry = self.literals.entry(input);
            if entry & LITERAL != 0 {
                input.consume(entry);
                output.push(literal_of(entry))?;
                continue;
            }
            if entry & EXCEPTION != 0 {
                input.consume(entry);
                return (entry & END == END).then_some(());
            }
            let length = input.value(entry);
            input.refill()?;
            let entry = self.distances.entry(input);
            if entry & EXCEPTION != 0 {
                return None;
            }
            let distance = input.value(entry);
            output.copy::<C>(distance, length)?;
        }
    }

    /// Decodes symbols while neither the input nor the output is near its end. Returns whether the
    /// block ended.
    #[inline(always)]
    fn fast_symbols<C: Copier>(
        &self,
        input: &mut Bits<'_>,
        output: &mut Output<'_>,
    ) -> Option<bool> {
        // Copies that no other function can change stay in registers.
        let mut local_input = *input;
        let mut local_output = output.reborrow();
        let ended = self.fast_loop::<C>(&mut local_input, &mut local_output);
        let produced = local_output.produced();
        *input = local_input;
        output.advance_to(produced);
        ended
    }

    /// Runs [`fast_symbols`](Self::fast_symbols).
    #[inline(always)]
    fn fast_loop<C: Copier>(&self, input: &mut Bits<'_>, output: &mut Output<'_>) -> Option<bool> {
        if !input.has(INPUT) || !output.has(OUTPUT) {
            return Some(false);
        }
        // SAFETY: INPUT bytes are left, and a refill reads 8.
        unsafe { input.refill_fast() };
        let mut entry = self.literals.first(input);
        loop {
            // At least 56 bits are available: enough for four literals of 11 bits and the next
            // index, or for three and 23 bits more; a length or a long literal has at most 20.
            for _ in 0..3 {
                if entry & LITERAL == 0 {
                    break;
                }
                input.consume(entry);
                // SAFETY: OUTPUT bytes were left at the start of the iteration, which has written
                // at most two.
                unsafe { output.push_fast(literal_of(entry)) };
                entry = self.literals.first(input);
            }
            if entry & LITERAL != 0 {
                // SAFETY: as above; the iteration has written at most three.
                match unsafe { self.literal_and_refill(entry, input, output) } {
                    Some(next) => entry = next,
                    None => return Some(false),
                }
                continue;
            }
            if entry & EXCEPTION != 0 {
                entry = self.literals.resolve(entry, input);
                if entry & LITERAL != 0 {
                    // SAFETY: as above; the iteration has written at most three.
                    match unsafe { self.literal_and_refill(entry, input, output) } {
                        Some(next) => entry = next,
                        None => return Some(false),
                    }
                    continue;
                }
                if entry & EXCEPTION != 0 {
                    input.consume(entry);
                    return (entry & END == END).then_some(true);
                }
            }
            let length = input.value(entry);
            if !input.are_available(DISTANCE_BITS) {
                // SAFETY: INPUT bytes were left before the refill at the start of the iteration, so
                // 16 are left before this one.
                unsafe { input.refill_fast() };
            }
            entry = self.distances.entry(input);
            if entry & EXCEPTION != 0 {
                return None;
            }
            let distance = input.value(entry);
            if !input.has(INPUT) || !output.has(length + OUTPUT) {
                output.copy::<C>(distance, length)?;
                return Some(false);
            }
            // The next entry is loaded while the match is copied.
            // SAFETY: INPUT bytes are left, and a refill reads 8.
            unsafe { input.refill_fast() };
            entry = self.literals.first(input);
            output.copy::<C>(distance, length)?;
        }
    }

    /// Appends the literal of an entry and returns the next entry, or `None` if the input or the
    /// output is near its end.
    ///
    /// # Safety
    /// There is space for the literal.
    #[inline(always)]
    unsafe fn literal_and_refill(
        &self,
        entry: Entry,
        input: &mut Bits<'_>,
        output: &mut Output<'_>,
    ) -> Option<Entry> {
        input.consume(entry);
        // SAFETY: the caller guarantees the space.
        unsafe { output.push_fast(literal_of(entry)) };
        if !input.has(INPUT) || !output.has(OUTPUT) {
            return None;
        }
        // SAFETY: INPUT bytes are left, and a refill reads 8.
        unsafe { input.refill_fast() };
        Some(self.literals.first(input))
    }
}

/// Returns the literal of an entry.
#[inline(always)]
fn literal_of(entry: Entry) -> u8 {
    (entry >> VALUE_SHIFT) as u8
}

/// Copies a stored block.
fn stored(input: &mut Bits<'_>, output: &mut Output<'_>) -> Option<()> {
    let &[low, high, not_low, not_high] = input.bytes(4)?.first_chunk()?;
    let len = u16::from_le_bytes([low, high]);
    if u16::from_le_bytes([not_low, not_high]) != !len {
        return None;
    }
    output.extend(input.bytes(len.into())?)
}
