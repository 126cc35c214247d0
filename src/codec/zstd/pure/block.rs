//! Compressed blocks: literals, and sequences of copies.

use super::bits::BitReader;
use super::fse::{Decoder, Table};
use super::huffman::Codes;
use crate::{Error, Result};

/// The maximum size of a block, and of its content.
pub const MAX_BLOCK: usize = 128 << 10;
/// The number of bytes that are copied at a time. Literals are followed by as many unused bytes.
const STRIDE: usize = 16;
/// The longest match that is copied in strides.
const MAX_STRIDED: usize = 256;

/// The number of symbols of literal lengths, of offsets and of match lengths.
const NSYMBOLS: [usize; 3] = [36, 32, 53];
/// The largest accuracies of their tables.
const MAX_LOGS: [u32; 3] = [9, 8, 9];
/// The accuracies and shares of the predefined tables.
const PREDEFINED: [(u32, &[i16]); 3] = [
    (
        6,
        &[
            4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1,
            1, 1, 1, -1, -1, -1, -1,
        ],
    ),
    (
        5,
        &[
            1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1,
            -1,
        ],
    ),
    (
        6,
        &[
            1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
            1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
        ],
    ),
];
/// The smallest length and the number of further bits of each symbol, padded to a power of two.
const LITERAL_LENGTHS: [(u32, u32); 64] = lengths(0, 16, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 6]);
const MATCH_LENGTHS: [(u32, u32); 64] = lengths(3, 32, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7]);

/// Returns the lengths of symbols: `exact` ones of a single length from `first` on, then those with
/// these numbers of bits; each further symbol has one bit more.
const fn lengths(first: u32, exact: usize, bits: &[u32]) -> [(u32, u32); 64] {
    let mut all = [(0, 0); 64];
    let mut length = first;
    let mut symbol = 0;
    while symbol < 64 && length < 1 << 20 {
        let count = if symbol < exact {
            0
        } else if symbol - exact < bits.len() {
            bits[symbol - exact]
        } else {
            all[symbol - 1].1 + 1
        };
        all[symbol] = (length, count);
        length += 1 << count;
        symbol += 1;
    }
    all
}

/// The tables that a block can share with the block before it, and the last offsets.
#[derive(Clone)]
pub struct Tables {
    /// The codes of the literals.
    pub codes: Box<Codes>,
    pub has_codes: bool,
    /// The tables of literal lengths, of offsets and of match lengths.
    pub sequences: Box<[Table; 3]>,
    pub has_sequences: [bool; 3],
    /// The last three offsets, the latest first.
    pub offsets: [u32; 3],
}

impl Tables {
    /// Returns the tables at the start of a frame.
    pub fn new() -> Tables {
        Tables {
            codes: Box::new(Codes::new()),
            has_codes: false,
            sequences: Box::new([Table::new(), Table::new(), Table::new()]),
            has_sequences: [false; 3],
            offsets: [1, 4, 8],
        }
    }

    /// Prepares for another frame; tables are read before they are used.
    pub fn reset(&mut self) {
        self.has_codes = false;
        self.has_sequences = [false; 3];
        self.offsets = [1, 4, 8];
    }

    /// Copies the tables of a dictionary.
    pub fn copy_from(&mut self, other: &Tables) {
        (*self.codes).clone_from(&other.codes);
        (*self.sequences).clone_from(&other.sequences);
        self.has_codes = other.has_codes;
        self.has_sequences = other.has_sequences;
        self.offsets = other.offsets;
    }

    /// Reads the table of lengths or offsets in a dictionary; returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Data`]
    pub fn read_sequences(&mut self, kind: usize, src: &[u8]) -> Result<usize> {
        let len = self.sequences[kind].read(src, NSYMBOLS[kind], MAX_LOGS[kind])?;
        self.has_sequences[kind] = true;
        Ok(len)
    }

    /// Reads the table of a block with this mode; returns its length in bytes.
    fn read_table(&mut self, kind: usize, mode: u8, src: &[u8]) -> Result<usize> {
        match mode {
            0 => {
                let (log, shares) = PREDEFINED[kind];
                self.sequences[kind].set(shares, log);
                self.has_sequences[kind] = true;
                Ok(0)
            }
            1 => {
                let symbol = *src.first().ok_or(Error::Data)?;
                if usize::from(symbol) >= NSYMBOLS[kind] {
                    return Err(Error::Data);
                }
                self.sequences[kind].set_single(symbol);
                self.has_sequences[kind] = true;
                Ok(1)
            }
            2 => self.read_sequences(kind, src),
            _ if self.has_sequences[kind] => Ok(0),
            _ => Err(Error::Data),
        }
    }
}

/// The destination of a frame, and the bytes before it.
pub struct Output<'a> {
    /// The content of the dictionary.
    pub prefix: &'a [u8],
    pub dest: &'a mut [u8],
    /// The number of decoded bytes.
    pub done: usize,
}

impl Output<'_> {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`Error::Data`] if they do not fit.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let dest = self.dest[self.done..].get_mut(..bytes.len()).ok_or(Error::Data)?;
        dest.copy_from_slice(bytes);
        self.done += bytes.len();
        Ok(())
    }

    /// Appends a byte `len` times.
    ///
    /// # Errors
    /// Returns the same errors as [`Output::push`].
    pub fn fill(&mut self, byte: u8, len: usize) -> Result<()> {
        self.dest[self.done..].get_mut(..len).ok_or(Error::Data)?.fill(byte);
        self.done += len;
        Ok(())
    }

    /// Appends `len` bytes at the start of `literals`, which may be longer.
    #[inline(always)]
    fn push_literals(&mut self, literals: &[u8], len: usize) -> Result<()> {
        let dest = &mut self.dest[self.done..];
        if len <= STRIDE
            && let (Some(to), Some(from)) =
                (dest.first_chunk_mut::<STRIDE>(), literals.first_chunk())
        {
            *to = *from;
            self.done += len;
            return Ok(());
        }
        self.push(literals.get(..len).ok_or(Error::Data)?)
    }

    /// Appends `len` bytes from `offset` bytes before the end.
    #[inline(always)]
    fn copy(&mut self, offset: usize, len: usize) -> Result<()> {
        let (done, end) = (self.done, self.done + len);
        if offset >= STRIDE / 2
            && offset <= done
            && len <= MAX_STRIDED
            && let Some(area) = self.dest.get_mut(done - offset..end + STRIDE)
        {
            if offset >= STRIDE {
                copy_strides::<STRIDE>(area, offset, len);
            } else {
                copy_strides::<{ STRIDE / 2 }>(area, offset, len);
            }
            self.done = end;
            return Ok(());
        }
        self.copy_overlapping(offset, len)
    }

    /// Like [`Output::copy`], for all offsets.
    fn copy_overlapping(&mut self, offset: usize, mut len: usize) -> Result<()> {
        if len > self.dest.len() - self.done || offset == 0 {
            return Err(Error::Data);
        }
        if offset > self.done {
            let before = offset - self.done;
            let start = self.prefix.len().checked_sub(before).ok_or(Error::Data)?;
            let count = before.min(len);
            let bytes = &self.prefix[start..start + count];
            self.dest[self.done..self.done + count].copy_from_slice(bytes);
            self.done += count;
            len -= count;
            if len == 0 {
                return Ok(());
            }
        }
        let start = self.done - offset;
        if offset == 1 {
            let byte = self.dest[start];
            return self.fill(byte, len);
        }
        // Each copy doubles the length of the repeated bytes.
        let end = self.done + len;
        while self.done < end {
            let count = (self.done - start).min(end - self.done);
            self.dest.copy_within(start..start + count, self.done);
            self.done += count;
        }
        Ok(())
    }
}

/// Copies the first `len` bytes to `offset`, `N` bytes at a time, and further bytes after them.
#[inline(always)]
fn copy_strides<const N: usize>(area: &mut [u8], offset: usize, len: usize) {
    for at in (0..len).step_by(N) {
        area.copy_within(at..at + N, offset + at);
    }
}

/// Decodes a compressed block. `literals` is a buffer, which is reused.
///
/// # Errors
/// [`Error::Data`]
pub fn decode(
    tables: &mut Tables,
    literals: &mut Vec<u8>,
    src: &[u8],
    output: &mut Output<'_>,
) -> Result<()> {
    let (len, count) = read_literals(tables, literals, src)?;
    decode_sequences(tables, &literals[..count + STRIDE], count, &src[len..], output)
}

/// Decodes the literals of a block; returns the length of their section, and their number.
fn read_literals(
    tables: &mut Tables,
    literals: &mut Vec<u8>,
    src: &[u8],
) -> Result<(usize, usize)> {
    let mut start = [0; 8];
    let available = src.len().min(5);
    start[..available].copy_from_slice(&src[..available]);
    let header = u64::from_le_bytes(start);
    let (kind, format) = (header & 3, header >> 2 & 3);
    let size = |from: u32, bits: u32| (header >> from & ((1 << bits) - 1)) as usize;
    let (header_len, count, len) = match (kind, format) {
        (0 | 1, 0 | 2) => (1, size(3, 5), None),
        (0 | 1, 1) => (2, size(4, 12), None),
        (0 | 1, _) => (3, size(4, 20), None),
        (_, 0 | 1) => (3, size(4, 10), Some(size(14, 10))),
        (_, 2) => (4, size(4, 14), Some(size(18, 14))),
        _ => (5, size(4, 18), Some(size(22, 18))),
    };
    if count > MAX_BLOCK {
        return Err(Error::Data);
    }
    let len = len.unwrap_or(if kind == 0 { count } else { 1 });
    let section = src.get(header_len..).and_then(|rest| rest.get(..len)).ok_or(Error::Data)?;
    if literals.len() < count + STRIDE {
        literals.try_reserve_exact(MAX_BLOCK + STRIDE - literals.len())?;
        literals.resize(MAX_BLOCK + STRIDE, 0);
    }
    let dest = &mut literals[..count];
    match kind {
        0 => dest.copy_from_slice(section),
        1 => dest.fill(section[0]),
        _ => {
            let mut streams = section;
            if kind == 2 {
                tables.has_codes = false;
                streams = &streams[tables.codes.read(section)?..];
                tables.has_codes = true;
            }
            if !tables.has_codes || count == 0 {
                return Err(Error::Data);
            }
            if format == 0 {
                tables.codes.decode_stream(streams, dest)?;
            } else {
                tables.codes.decode_four_streams(streams, dest)?;
            }
        }
    }
    Ok((header_len + len, count))
}

/// Returns the number of sequences and the length of this number.
fn read_count(src: &[u8]) -> Result<(usize, usize)> {
    let byte = |i: usize| src.get(i).map(|&byte| usize::from(byte)).ok_or(Error::Data);
    Ok(match byte(0)? {
        255 => (byte(1)? + (byte(2)? << 8) + 0x7F00, 3),
        high @ 128.. => (((high - 128) << 8) + byte(1)?, 2),
        count => (count, 1),
    })
}

/// Decodes the sequences of a block and writes its content. `literals` has `count` literals, and
/// further bytes.
fn decode_sequences(
    tables: &mut Tables,
    literals: &[u8],
    count: usize,
    src: &[u8],
    output: &mut Output<'_>,
) -> Result<()> {
    let start = output.done;
    let (nsequences, len) = read_count(src)?;
    let mut src = &src[len..];
    if nsequences == 0 {
        return if src.is_empty() { output.push(&literals[..count]) } else { Err(Error::Data) };
    }
    let (&modes, rest) = src.split_first().ok_or(Error::Data)?;
    src = rest;
    if modes & 3 != 0 {
        return Err(Error::Data);
    }
    for (kind, shift) in [(0, 6), (1, 4), (2, 2)] {
        let len = tables.read_table(kind, modes >> shift & 3, src)?;
        src = src.get(len..).ok_or(Error::Data)?;
    }
    let mut bits = BitReader::new(src)?;
    let [of_literals, of_offsets, of_matches] = &*tables.sequences;
    let mut literal_lengths = Decoder::new(of_literals, &mut bits);
    let mut offsets = Decoder::new(of_offsets, &mut bits);
    let mut match_lengths = Decoder::new(of_matches, &mut bits);
    let [mut first, mut second, mut third] = tables.offsets;
    let mut used = 0;
    for left in (0..nsequences).rev() {
        bits.refill();
        let offset_bits = u32::from(offsets.symbol()) & 31;
        let (match_base, match_bits) = MATCH_LENGTHS[usize::from(match_lengths.symbol()) & 63];
        let (literal_base, literal_bits) =
            LITERAL_LENGTHS[usize::from(literal_lengths.symbol()) & 63];
        let value = (1 << offset_bits) + bits.read(offset_bits) as u32;
        let match_len = (match_base + bits.read(match_bits) as u32) as usize;
        // The bits of all lengths and states may exceed those of one refill.
        bits.refill();
        let literal_len = (literal_base + bits.read(literal_bits) as u32) as usize;
        if left > 0 {
            literal_lengths.advance(&mut bits);
            match_lengths.advance(&mut bits);
            offsets.advance(&mut bits);
        }
        let offset = if value > 3 {
            (first, second, third) = (value - 3, first, second);
            first
        } else {
            match value - u32::from(literal_len != 0) {
                0 => {}
                1 => (first, second) = (second, first),
                2 => (first, second, third) = (third, first, second),
                _ => (first, second, third) = (first.wrapping_sub(1), first, second),
            }
            first
        };
        if literal_len > count - used {
            return Err(Error::Data);
        }
        output.push_literals(&literals[used..], literal_len)?;
        used += literal_len;
        output.copy(offset as usize, match_len)?;
        if output.done - start > MAX_BLOCK {
            return Err(Error::Data);
        }
    }
    if !bits.finish() {
        return Err(Error::Data);
    }
    tables.offsets = [first, second, third];
    output.push(&literals[used..count])?;
    if output.done - start > MAX_BLOCK { Err(Error::Data) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_format() {
        assert_eq!(LITERAL_LENGTHS[15..20], [(15, 0), (16, 1), (18, 1), (20, 1), (22, 1)]);
        assert_eq!(
            LITERAL_LENGTHS[20..27],
            [(24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6), (128, 7)]
        );
        assert_eq!(LITERAL_LENGTHS[34..36], [(32768, 15), (65536, 16)]);
        assert_eq!(MATCH_LENGTHS[30..33], [(33, 0), (34, 0), (35, 1)]);
        assert_eq!(
            MATCH_LENGTHS[36..44],
            [(43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4), (99, 5), (131, 7)]
        );
        assert_eq!(MATCH_LENGTHS[51..53], [(32771, 15), (65539, 16)]);
    }
}
