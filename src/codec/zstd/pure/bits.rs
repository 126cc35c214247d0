//! Bit streams, which are read from their end to their start.

use crate::{Error, Result};

/// The number of bytes that a reader loads at a time.
const WORD: usize = 8;

/// A reader of a bit stream. The highest set bit of the last byte marks the end; the bits before it
/// are read first.
#[derive(Clone, Copy)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// The offset of the loaded bytes.
    at: usize,
    /// The loaded bytes. Those of a stream of fewer bytes are the highest ones.
    word: u64,
    /// The number of bits of `word` that were read. It exceeds `limit` after reading past the
    /// start.
    used: u32,
    /// The number of bits of `word` that belong to the stream.
    limit: u32,
}

impl<'a> BitReader<'a> {
    /// Begins to read a stream.
    ///
    /// # Errors
    /// [`Error::Data`] if it has no end.
    pub fn new(bytes: &'a [u8]) -> Result<BitReader<'a>> {
        let last = *bytes.last().ok_or(Error::Data)?;
        if last == 0 {
            return Err(Error::Data);
        }
        let mut reader =
            BitReader { bytes, at: 0, word: 0, used: last.leading_zeros() + 1, limit: 64 };
        if bytes.len() >= WORD {
            reader.at = bytes.len() - WORD;
            reader.load();
        } else {
            for (i, &byte) in bytes.iter().rev().enumerate() {
                reader.word |= u64::from(byte) << (56 - 8 * i);
            }
            reader.limit = 8 * bytes.len() as u32;
        }
        Ok(reader)
    }

    #[inline(always)]
    fn load(&mut self) {
        if let Some(Some(word)) = self.bytes.get(self.at..).map(|rest| rest.first_chunk()) {
            self.word = u64::from_le_bytes(*word);
        }
    }

    /// Whether [`BitReader::refill_fast`] is possible.
    #[inline(always)]
    pub fn is_far_from_start(&self) -> bool {
        self.at >= WORD
    }

    /// Loads further bytes: afterwards at least 57 bits can be read.
    #[inline(always)]
    pub fn refill_fast(&mut self) {
        self.at -= (self.used >> 3) as usize;
        self.used &= 7;
        self.load();
    }

    /// Loads further bytes: afterwards at least 57 bits can be read, or all that are left.
    #[inline(always)]
    pub fn refill(&mut self) {
        let count = ((self.used >> 3) as usize).min(self.at);
        if count > 0 {
            self.at -= count;
            self.used -= 8 * count as u32;
            self.load();
        }
    }

    /// Returns the next `count` bits, at most 57, without reading them.
    #[inline(always)]
    pub fn peek(&self, count: u32) -> u64 {
        (self.word << (self.used & 63)) >> 1 >> (63 - count)
    }

    /// Returns the next 11 bits without reading them.
    #[inline(always)]
    pub fn peek_11(&self) -> usize {
        ((self.word << (self.used & 63)) >> 53) as usize
    }

    /// Skips bits.
    #[inline(always)]
    pub fn skip(&mut self, count: u32) {
        self.used += count;
    }

    /// Reads `count` bits, at most 57.
    #[inline(always)]
    pub fn read(&mut self, count: u32) -> u64 {
        let bits = self.peek(count);
        self.skip(count);
        bits
    }

    /// Whether bits before the start were read. Must follow a refill.
    #[inline(always)]
    pub fn is_exceeded(&self) -> bool {
        self.at == 0 && self.used > self.limit
    }

    /// Refills; returns whether exactly all bits were read.
    pub fn finish(&mut self) -> bool {
        self.refill();
        self.at == 0 && self.used == self.limit
    }
}
