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
//! codewords whose lengths precede the symbols (2). A table with [`LITERAL_BITS`] or
//! [`DISTANCE_BITS`] index bits has an entry for each codeword; longer codewords share an entry that
//! refers to a second table after the first one.

use std::ptr;

use super::super::wildcopy::{Copier, Portable};
use crate::{Error, Result};

const HEADER_LEN: usize = 2;
const CHECKSUM_LEN: usize = 4;
const METHOD: u8 = 8;
const MAX_WINDOW_BITS: u8 = 15;
const DICTIONARY: u8 = 0x20;

/// The maximum length of a codeword in bits.
const MAX_CODEWORD: usize = 15;
const LITERAL_BITS: u32 = 11;
const DISTANCE_BITS: u32 = 8;
/// Index bits of the codewords that encode codeword lengths, which have at most 7 bits.
const LENGTH_BITS: u32 = 7;

/// The entries of a table of literals and lengths: the most that 288 symbols with codewords of up
/// to 15 bits need.
const LITERAL_ENTRIES: usize = 2342;
/// The same for 32 distances.
const DISTANCE_ENTRIES: usize = 402;

const LITERALS: usize = 288;
const DISTANCES: usize = 32;
/// The maximum numbers of symbols of a block with codeword lengths.
const MAX_LITERALS: usize = 286;
const MAX_DISTANCES: usize = 30;
const END_OF_BLOCK: usize = 256;
const MAX_MATCH: usize = 258;

/// The order of the lengths of the codewords that encode codeword lengths.
const LENGTH_ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

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
type Entry = u32;

const CODEWORD_SHIFT: u32 = 8;
const VALUE_SHIFT: u32 = 16;
const END: Entry = EXCEPTION | 1 << 13;
const SECOND_TABLE: Entry = EXCEPTION | 1 << 14;
const EXCEPTION: Entry = 1 << 15;
const LITERAL: Entry = 1 << 31;
/// The entry of bits that are no codeword.
const INVALID: Entry = EXCEPTION;

/// The entries of literals and lengths, without codewords.
const LITERAL_SYMBOLS: &[Entry; LITERALS] = &{
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
const DISTANCE_SYMBOLS: &[Entry; DISTANCES] = &{
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
const LENGTH_SYMBOLS: &[Entry; LENGTH_ORDER.len()] = &{
    let mut entries = [0; LENGTH_ORDER.len()];
    let mut symbol = 0;
    while symbol < entries.len() {
        entries[symbol] = (symbol as u32) << VALUE_SHIFT;
        symbol += 1;
    }
    entries
};

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
    literals: [Entry; LITERAL_ENTRIES],
    distances: [Entry; DISTANCE_ENTRIES],
}

impl Inflater {
    pub(super) const fn new() -> Inflater {
        Inflater {
            loaded: Loaded::Nothing,
            literals: [INVALID; LITERAL_ENTRIES],
            distances: [INVALID; DISTANCE_ENTRIES],
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
        let mut input = Input::new(src);
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
                return Some((input.align()?, output.produced));
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
        let literals = build(&mut self.literals, LITERAL_BITS, &lengths, LITERAL_SYMBOLS);
        let distances =
            build(&mut self.distances, DISTANCE_BITS, &[5; DISTANCES], DISTANCE_SYMBOLS);
        debug_assert!(literals.is_some() && distances.is_some());
        self.loaded = Loaded::Fixed;
    }

    /// Reads the codeword lengths of a block and loads its codewords.
    fn load(&mut self, input: &mut Input<'_>) -> Option<()> {
        self.loaded = Loaded::OfBlock;
        input.refill()?;
        let literals = 257 + input.take(5) as usize;
        let distances = 1 + input.take(5) as usize;
        let count = 4 + input.take(4) as usize;
        if literals > MAX_LITERALS || distances > MAX_DISTANCES {
            return None;
        }
        let mut lengths = [0; LENGTH_ORDER.len()];
        for &symbol in &LENGTH_ORDER[..count] {
            input.refill()?;
            lengths[usize::from(symbol)] = input.take(3) as u8;
        }
        let mut table = [INVALID; 1 << LENGTH_BITS];
        if build(&mut table, LENGTH_BITS, &lengths, LENGTH_SYMBOLS)? == Completeness::OneBit {
            return None;
        }

        let mut lengths = [0; MAX_LITERALS + MAX_DISTANCES];
        let total = literals + distances;
        let mut done = 0;
        while done < total {
            input.refill()?;
            let entry = table[input.peek(LENGTH_BITS)];
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
        build(&mut self.literals, LITERAL_BITS, of_literals, LITERAL_SYMBOLS)?;
        build(&mut self.distances, DISTANCE_BITS, of_distances, DISTANCE_SYMBOLS)?;
        Some(())
    }

    /// Decodes the symbols of a block up to its end.
    #[inline(always)]
    fn symbols<C: Copier>(&self, input: &mut Input<'_>, output: &mut Output<'_>) -> Option<()> {
        if self.fast_symbols::<C>(input, output)? {
            return Some(());
        }
        loop {
            input.refill()?;
            let entry = self.literal_or_length(input);
            if entry & LITERAL != 0 {
                input.consume(entry);
                output.push((entry >> VALUE_SHIFT) as u8)?;
                continue;
            }
            if entry & EXCEPTION != 0 {
                input.consume(entry);
                return (entry & END == END).then_some(());
            }
            let length = input.value(entry);
            input.refill()?;
            let entry = self.distance(input);
            if entry & EXCEPTION != 0 {
                return None;
            }
            let distance = input.value(entry);
            output.copy::<C>(distance, length)?;
        }
    }

    /// Returns the entry of the next codeword of a literal or length.
    #[inline(always)]
    fn literal_or_length(&self, input: &Input<'_>) -> Entry {
        let entry = self.literals[input.peek(LITERAL_BITS)];
        if entry & SECOND_TABLE == SECOND_TABLE {
            self.literals[input.peek_second(LITERAL_BITS, entry)]
        } else {
            entry
        }
    }

    /// Returns the entry of the next codeword of a distance.
    #[inline(always)]
    fn distance(&self, input: &Input<'_>) -> Entry {
        let entry = self.distances[input.peek(DISTANCE_BITS)];
        if entry & SECOND_TABLE == SECOND_TABLE {
            self.distances[input.peek_second(DISTANCE_BITS, entry)]
        } else {
            entry
        }
    }

    /// Decodes symbols while neither the input nor the output is near its end. Returns whether the
    /// block ended.
    #[inline(always)]
    fn fast_symbols<C: Copier>(
        &self,
        input: &mut Input<'_>,
        output: &mut Output<'_>,
    ) -> Option<bool> {
        // Copies that no other function can change stay in registers.
        let mut local_input = *input;
        let mut local_output =
            Output { dest: output.dest, produced: output.produced, len: output.len };
        let ended = self.fast_loop::<C>(&mut local_input, &mut local_output);
        *input = local_input;
        output.produced = local_output.produced;
        ended
    }

    /// Runs [`fast_symbols`](Self::fast_symbols).
    #[inline(always)]
    fn fast_loop<C: Copier>(&self, input: &mut Input<'_>, output: &mut Output<'_>) -> Option<bool> {
        /// Bytes of input for the refills of one iteration.
        const INPUT: usize = 3 * size_of::<u64>();
        /// Bytes of output of one iteration.
        const OUTPUT: usize = 4 + MAX_MATCH;
        if !input.has(INPUT) || !output.has(OUTPUT) {
            return Some(false);
        }
        // SAFETY: INPUT bytes of input are left here and before the last refill of each iteration
        // that continues; three refills read at most INPUT bytes, and an iteration has one more.
        // OUTPUT bytes of output are left at the same points, and an iteration writes at most four
        // literals without a check.
        unsafe {
            input.refill_fast();
            let mut entry = self.literals[input.peek(LITERAL_BITS)];
            loop {
                // At least 56 bits are available: enough for four literals of 11 bits and the next
                // index.
                for _ in 0..3 {
                    if entry & LITERAL == 0 {
                        break;
                    }
                    input.consume(entry);
                    output.push_fast(entry);
                    entry = self.literals[input.peek(LITERAL_BITS)];
                }
                if entry & LITERAL != 0 {
                    input.consume(entry);
                    output.push_fast(entry);
                    if !input.has(INPUT) || !output.has(OUTPUT) {
                        return Some(false);
                    }
                    input.refill_fast();
                    entry = self.literals[input.peek(LITERAL_BITS)];
                    continue;
                }
                // At least 23 bits are left, and a length or a long literal has at most 20.
                if entry & EXCEPTION != 0 {
                    if entry & SECOND_TABLE == SECOND_TABLE {
                        entry = self.literals[input.peek_second(LITERAL_BITS, entry)];
                    }
                    if entry & LITERAL != 0 {
                        input.consume(entry);
                        output.push_fast(entry);
                        if !input.has(INPUT) || !output.has(OUTPUT) {
                            return Some(false);
                        }
                        input.refill_fast();
                        entry = self.literals[input.peek(LITERAL_BITS)];
                        continue;
                    }
                    if entry & EXCEPTION != 0 {
                        input.consume(entry);
                        return (entry & END == END).then_some(true);
                    }
                }
                let length = input.value(entry);
                if (input.available as u8) < 28 {
                    input.refill_fast();
                }
                entry = self.distance(input);
                if entry & EXCEPTION != 0 {
                    return None;
                }
                let distance = input.value(entry);
                if !input.has(INPUT) || !output.has(length + OUTPUT) {
                    output.copy::<C>(distance, length)?;
                    return Some(false);
                }
                // The next entry is loaded while the match is copied.
                input.refill_fast();
                entry = self.literals[input.peek(LITERAL_BITS)];
                output.copy::<C>(distance, length)?;
            }
        }
    }
}

/// Copies a stored block.
fn stored(input: &mut Input<'_>, output: &mut Output<'_>) -> Option<()> {
    let from = input.align()?;
    let rest = &input.src[from..];
    let &[low, high, not_low, not_high] = rest.first_chunk()?;
    let len = u16::from_le_bytes([low, high]);
    if u16::from_le_bytes([not_low, not_high]) != !len {
        return None;
    }
    let content = rest[4..].get(..usize::from(len))?;
    output.extend(content)?;
    input.position = from + 4 + content.len();
    Some(())
}

/// Whether each sequence of bits begins with a codeword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Completeness {
    Complete,
    /// There is only one codeword, of one bit.
    OneBit,
    /// There are no codewords.
    Empty,
}

/// Builds the table for codewords of these lengths. Returns `None` if there are no such codewords,
/// because the lengths are too small, or too large.
fn build(
    table: &mut [Entry],
    index_bits: u32,
    lengths: &[u8],
    symbols: &[Entry],
) -> Option<Completeness> {
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
    let index_bits = index_bits as usize;
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
                table[prefix] = SECOND_TABLE | (second as u32) << VALUE_SHIFT | second_bits as u32;
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

/// Returns the reversed codeword after `codeword` of the same length; 0 after the last one.
fn next_codeword(codeword: usize, length: usize) -> usize {
    let zeros = !codeword & ((1 << length) - 1);
    match zeros.checked_ilog2() {
        Some(highest) => codeword & ((1 << highest) - 1) | 1 << highest,
        None => 0,
    }
}

/// The unread bits of a stream.
#[derive(Clone, Copy)]
struct Input<'a> {
    src: &'a [u8],
    /// The offset of the first byte that is not in `bits`.
    position: usize,
    /// The next bits, from the lowest one on. Bits above `available` may be those of the stream.
    bits: u64,
    /// The number of bits that may be consumed, in the lowest 8 bits; those after the end of the
    /// stream are zeros.
    available: u32,
    /// The number of bytes in `bits` that are after the end of the stream.
    excess: usize,
}

impl<'a> Input<'a> {
    fn new(src: &'a [u8]) -> Input<'a> {
        Input { src, position: 0, bits: 0, available: 0, excess: 0 }
    }

    /// Whether at least `len` bytes are not in `bits`.
    #[inline(always)]
    fn has(&self, len: usize) -> bool {
        self.src.len() - self.position >= len
    }

    /// Makes at least 56 bits available. Returns `None` if bits after the end of the stream were
    /// consumed.
    #[inline(always)]
    fn refill(&mut self) -> Option<()> {
        if self.has(size_of::<u64>()) {
            // SAFETY: the bytes were just checked.
            unsafe { self.refill_fast() };
            return Some(());
        }
        self.available = u32::from(self.available as u8);
        self.bits &= (1 << self.available) - 1;
        while self.available < 56 {
            if let Some(&byte) = self.src.get(self.position) {
                self.bits |= u64::from(byte) << self.available;
                self.position += 1;
            } else {
                self.excess += 1;
            }
            self.available += 8;
        }
        (self.excess <= self.available as usize / 8).then_some(())
    }

    /// Makes at least 56 bits available.
    ///
    /// # Safety
    /// At least 8 bytes are not in `bits`.
    #[inline(always)]
    unsafe fn refill_fast(&mut self) {
        debug_assert!(self.has(size_of::<u64>()) && self.available as u8 <= 63);
        // SAFETY: the caller guarantees the bytes.
        let word: u64 = unsafe { ptr::read_unaligned(self.src.as_ptr().add(self.position).cast()) };
        self.bits |= u64::from_le(word) << (self.available & 63);
        self.position += 7 - (self.available as usize >> 3 & 7);
        self.available |= 56;
    }

    /// Returns the next bits as an index.
    #[inline(always)]
    fn peek(&self, count: u32) -> usize {
        self.bits as usize & ((1 << count) - 1)
    }

    /// Returns the index in the second table to which an entry refers.
    #[inline(always)]
    fn peek_second(&self, index_bits: u32, entry: Entry) -> usize {
        let second = (entry >> VALUE_SHIFT) as usize;
        second + ((self.bits >> index_bits) as usize & ((1 << (entry & 0xf)) - 1))
    }

    /// Consumes and returns at most 13 bits.
    #[inline(always)]
    fn take(&mut self, count: u32) -> u32 {
        let value = self.peek(count) as u32;
        self.consume(count);
        value
    }

    /// Consumes the bits of an entry.
    #[inline(always)]
    fn consume(&mut self, entry: Entry) {
        // Without masks of their own, these are two instructions; a shift ignores the other bits.
        self.bits >>= entry & 63;
        self.available = self.available.wrapping_sub(entry);
    }

    /// Consumes the bits of an entry; returns its value with the extra bits.
    #[inline(always)]
    fn value(&mut self, entry: Entry) -> usize {
        let with_extra = self.bits & ((1 << (entry & 63)) - 1);
        let extra = with_extra >> (entry >> CODEWORD_SHIFT & 0xf);
        self.consume(entry);
        (entry >> VALUE_SHIFT) as usize + extra as usize
    }

    /// Discards the bits up to the next byte, and all bits that are available. Returns the offset
    /// of this byte, or `None` if it is after the end.
    fn align(&mut self) -> Option<usize> {
        let unread = usize::from(self.available as u8 / 8);
        self.position -= unread.checked_sub(self.excess)?;
        (self.bits, self.available, self.excess) = (0, 0, 0);
        Some(self.position)
    }
}

/// The output.
///
/// Invariant: `len` and `slop` bytes from `start` are writable, and `produced <= len`.
struct Output<'a> {
    dest: &'a mut [u8],
    produced: usize,
    len: usize,
}

impl<'a> Output<'a> {
    /// # Panics
    /// If `len` is out of range.
    fn new(dest: &'a mut [u8], len: usize) -> Output<'a> {
        assert!(len <= dest.len());
        Output { dest, produced: 0, len }
    }

    /// Whether at least `len` more bytes may be produced.
    #[inline(always)]
    fn has(&self, len: usize) -> bool {
        self.len - self.produced >= len
    }

    fn push(&mut self, literal: u8) -> Option<()> {
        *self.dest[..self.len].get_mut(self.produced)? = literal;
        self.produced += 1;
        Some(())
    }

    /// Appends the literal of an entry.
    ///
    /// # Safety
    /// There is space for it.
    #[inline(always)]
    unsafe fn push_fast(&mut self, entry: Entry) {
        // SAFETY: the caller guarantees that the index is below `len`.
        unsafe { *self.dest.get_unchecked_mut(self.produced) = (entry >> VALUE_SHIFT) as u8 };
        self.produced += 1;
    }

    fn extend(&mut self, bytes: &[u8]) -> Option<()> {
        let free = &mut self.dest[self.produced..self.len];
        free.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.produced += bytes.len();
        Some(())
    }

    /// Appends a match. Returns `None` if it begins before the output or ends after it.
    #[inline(always)]
    fn copy<C: Copier>(&mut self, distance: usize, length: usize) -> Option<()> {
        if distance > self.produced || !self.has(length) {
            return None;
        }
        // SAFETY: `produced` is in `dest`, which has `distance` bytes before and `capacity` bytes
        // from it, `length` of them in the output.
        unsafe {
            let capacity = self.dest.len() - self.produced;
            C::copy_match(self.dest.as_mut_ptr().add(self.produced), distance, length, capacity);
        }
        self.produced += length;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::zlib_rs::{DeflateConfig, Inflate, InflateFlush, Method, ReturnCode, Status, Strategy};

    /// Returns what zlib-rs reads from and produces for the blocks in `src`.
    fn expected(src: &[u8], len: usize) -> Option<(usize, Vec<u8>)> {
        let mut inflate = Inflate::new(false, MAX_WINDOW_BITS);
        let mut dest = vec![0; len];
        let status = inflate.decompress(src, &mut dest, InflateFlush::Finish).ok()?;
        dest.truncate(inflate.total_out() as usize);
        (status == Status::StreamEnd).then_some((inflate.total_in() as usize, dest))
    }

    /// Checks the results for the blocks in `src`, with each kind of copies.
    fn check(inflater: &mut Inflater, src: &[u8], len: usize) {
        let expected = expected(src, len);
        for slop in [0, 7, 200] {
            for is_portable in [false, true] {
                let mut dest = vec![0x55; len + slop];
                let found = if is_portable {
                    inflater.blocks_with::<Portable>(src, &mut dest, len)
                } else {
                    inflater.blocks(src, &mut dest, len)
                };
                let found = found.map(|(used, produced)| (used, dest[..produced].to_vec()));
                assert!(found == expected, "{src:02x?}, {len}: {found:?}, not {expected:?}");
            }
        }
    }

    /// Returns numbers that repeat after 2^64 calls.
    fn random() -> impl FnMut(usize) -> usize {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % below
        }
    }

    /// Returns data with literals, runs and matches at all distances.
    fn data(next: &mut impl FnMut(usize) -> usize, len: usize) -> Vec<u8> {
        let mut data: Vec<u8> = Vec::new();
        while data.len() < len {
            let range = [2, 20, 256][next(3)];
            match next(4) {
                0 => data.extend((0..=next(60)).map(|_| next(range) as u8)),
                1 => data.extend(std::iter::repeat_n(next(range) as u8, next(700))),
                _ if data.is_empty() => {}
                kind => {
                    let most = if kind == 2 { data.len().min(40) } else { data.len() };
                    let distance = 1 + next(most);
                    for _ in 0..next(300) {
                        data.push(data[data.len() - distance]);
                    }
                }
            }
        }
        data.truncate(len);
        data
    }

    fn compressed(src: &[u8], level: i32, strategy: Strategy) -> Vec<u8> {
        let mut dest = vec![0; src.len() + src.len() / 8 + 100];
        let config = DeflateConfig {
            level,
            method: Method::Deflated,
            window_bits: 15,
            mem_level: 1,
            strategy,
        };
        let (stream, code) = ::zlib_rs::compress_slice(&mut dest, src, config);
        assert_eq!(code, ReturnCode::Ok);
        stream.to_vec()
    }

    const STRATEGIES: [Strategy; 4] =
        [Strategy::Default, Strategy::Fixed, Strategy::HuffmanOnly, Strategy::Rle];

    #[test]
    fn streams_are_decoded_as_by_zlib() {
        let mut next = random();
        let mut inflater = Inflater::new();
        let rounds = if cfg!(miri) { 1 } else { 60 };
        for round in 0..rounds {
            let len = [0, 1, 300, 40_000][round % 4] + next(1000);
            let src = data(&mut next, len);
            for strategy in STRATEGIES {
                let stream = compressed(&src, [0, 1, 6, 9][next(4)], strategy);
                let mut dest = vec![0; len];
                assert_eq!(inflater.decode(&stream, &mut dest, len), Ok(len));
                assert!(dest == src);
                let body = &stream[HEADER_LEN..];
                check(&mut inflater, body, len);
                check(&mut inflater, body, len + 1);
                check(&mut inflater, body, len.saturating_sub(1));
                let end = next(body.len());
                check(&mut inflater, &body[..end], len);
            }
        }
    }

    #[test]
    fn damaged_streams_are_decoded_as_by_zlib() {
        let mut next = random();
        let mut inflater = Inflater::new();
        let rounds = if cfg!(miri) { 8 } else { 30_000 };
        for _ in 0..rounds {
            let len = next(600);
            let src = data(&mut next, len);
            let mut stream = compressed(&src, [1, 9][next(2)], STRATEGIES[next(4)]);
            for _ in 0..=next(3) {
                let at = HEADER_LEN + next(stream.len() - HEADER_LEN);
                stream[at] = if next(2) == 0 { stream[at] ^ 1 << next(8) } else { next(256) as u8 };
            }
            check(&mut inflater, &stream[HEADER_LEN..], len + next(400));
        }
    }

    #[test]
    fn any_bytes_are_decoded_as_by_zlib() {
        let mut next = random();
        let mut inflater = Inflater::new();
        let rounds = if cfg!(miri) { 20 } else { 60_000 };
        for _ in 0..rounds {
            let mut src: Vec<u8> = (0..next(200)).map(|_| next(256) as u8).collect();
            // The last block, of a random kind.
            if let Some(first) = src.first_mut() {
                *first = *first & 0xf8 | 1 | (next(3) as u8) << 1;
            }
            check(&mut inflater, &src, next(1000));
        }
    }

    #[test]
    fn headers_and_checksums_are_checked() {
        let src = b"the data of a stream, of a stream";
        let stream = compressed(src, 6, Strategy::Default);
        let mut inflater = Inflater::new();
        let mut decode = |stream: &[u8]| {
            let mut dest = [0; 33];
            inflater.decode(stream, &mut dest, src.len()).map(|len| dest[..len].to_vec())
        };
        assert_eq!(decode(&stream).unwrap(), src);
        assert_eq!(decode(&[&stream[..], b"after the end"].concat()).unwrap(), src);
        for len in 0..stream.len() {
            assert_eq!(decode(&stream[..len]), Err(Error::Data), "{len}");
        }
        let changed = |at: usize, byte: u8| {
            let mut changed = stream.clone();
            changed[at] = byte;
            changed
        };
        // Another checksum; other check bits; another method; a window of 64 KiB; a dictionary.
        let last = stream.len() - 1;
        assert_eq!(decode(&changed(last, !stream[last])), Err(Error::Data));
        assert_eq!(decode(&changed(1, stream[1] ^ 1)), Err(Error::Data));
        for header in [[0x77, 0x1f_u8], [0x88, 0x1c], [0x78, 0x20]] {
            let check = u16::from_be_bytes(header) % 31;
            let header = (u16::from_be_bytes(header) + (31 - check) % 31).to_be_bytes();
            let stream = [&header, &stream[2..]].concat();
            assert_eq!(decode(&stream), Err(Error::Data), "{header:02x?}");
        }
        // A window of 256 bytes is no limit for distances, as in zlib.
        let header = (0x0800_u16 + 31 - 0x0800 % 31).to_be_bytes();
        assert_eq!(decode(&[&header, &stream[2..]].concat()).unwrap(), src);
    }

    #[test]
    fn codes_are_complete_or_have_one_codeword_of_one_bit() {
        let mut table = [0; LITERAL_ENTRIES];
        let mut build = |lengths: &[u8]| build(&mut table, LITERAL_BITS, lengths, LITERAL_SYMBOLS);
        assert_eq!(build(&[0; 5]), Some(Completeness::Empty));
        assert_eq!(build(&[0, 1]), Some(Completeness::OneBit));
        assert_eq!(build(&[1, 1]), Some(Completeness::Complete));
        assert_eq!(build(&[2, 1, 2]), Some(Completeness::Complete));
        assert_eq!(build(&[0, 2]), None);
        assert_eq!(build(&[2, 2, 2]), None);
        assert_eq!(build(&[1, 1, 1]), None);
        assert_eq!(build(&[1, 2, 3, 3, 15]), None);
    }

    /// The numbers of entries are those of the worst codes. (Source: the program `enough` of zlib.)
    #[test]
    fn tables_hold_long_codewords() {
        let mut next = random();
        let mut literals = [0; LITERAL_ENTRIES];
        let mut distances = [0; DISTANCE_ENTRIES];
        let rounds = if cfg!(miri) { 3 } else { 20_000 };
        for _ in 0..rounds {
            for symbols in [LITERALS, DISTANCES] {
                // Codewords are split until there is one for each symbol.
                let mut lengths = vec![1_u8, 1];
                while lengths.len() < symbols {
                    let range = 1 + next(20);
                    let at = lengths.len() - 1 - next(lengths.len().min(range));
                    if usize::from(lengths[at]) < MAX_CODEWORD {
                        lengths[at] += 1;
                        lengths.push(lengths[at]);
                    } else {
                        let shortest = (0..lengths.len()).min_by_key(|&at| lengths[at]).unwrap();
                        lengths[shortest] += 1;
                        lengths.push(lengths[shortest]);
                    }
                }
                let built = if symbols == LITERALS {
                    build(&mut literals, LITERAL_BITS, &lengths, LITERAL_SYMBOLS)
                } else {
                    build(&mut distances, DISTANCE_BITS, &lengths, DISTANCE_SYMBOLS)
                };
                assert_eq!(built, Some(Completeness::Complete));
            }
        }
    }
}
