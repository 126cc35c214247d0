//! Huffman codes of literals.

use super::bits::BitReader;
use super::fse::{Decoder, Table};
use crate::{Error, Result};

/// The largest length of a code in bits.
const MAX_BITS: u32 = 11;
/// The largest accuracy of the table of weights.
const MAX_WEIGHT_LOG: u32 = 6;
/// The number of codes that fit into the bits after a refill.
const CODES: usize = 5;
/// The shortest literals in four streams.
const MIN_FOUR_STREAMS: usize = 6;
/// The length of the sizes of three streams.
const JUMP_TABLE: usize = 6;

/// The symbols and the lengths of the codes.
#[derive(Clone)]
pub struct Codes {
    /// For each beginning of [`MAX_BITS`] bits the symbol, and 256 times the length of its code.
    entries: [u16; 1 << MAX_BITS],
}

impl Codes {
    /// Returns codes that decode nothing valid.
    pub fn new() -> Codes {
        Codes { entries: [0; 1 << MAX_BITS] }
    }

    /// Reads the description of codes; returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::Data`]
    pub fn read(&mut self, src: &[u8]) -> Result<usize> {
        let mut weights = [0_u8; 256];
        let (&header, rest) = src.split_first().ok_or(Error::Data)?;
        let (count, len) = if header < 128 {
            let len = usize::from(header);
            let count = read_weights(rest.get(..len).ok_or(Error::Data)?, &mut weights)?;
            (count, len)
        } else {
            let count = usize::from(header) - 127;
            let len = count.div_ceil(2);
            let bytes = rest.get(..len).ok_or(Error::Data)?;
            for (i, weight) in weights[..count].iter_mut().enumerate() {
                *weight = if i % 2 == 0 { bytes[i / 2] >> 4 } else { bytes[i / 2] & 15 };
            }
            (count, len)
        };
        self.set(&mut weights, count)?;
        Ok(1 + len)
    }

    /// Builds the codes of `count` weights; the one of the last symbol follows from them.
    fn set(&mut self, weights: &mut [u8; 256], count: usize) -> Result<()> {
        let mut total = 0_u32;
        for &weight in &weights[..count] {
            if u32::from(weight) > MAX_BITS {
                return Err(Error::Data);
            }
            total += (1 << weight) >> 1;
        }
        if total == 0 {
            return Err(Error::Data);
        }
        let log = total.ilog2() + 1;
        let rest = (1 << log) - total;
        if log > MAX_BITS || !rest.is_power_of_two() {
            return Err(Error::Data);
        }
        *weights.get_mut(count).ok_or(Error::Data)? = rest.ilog2() as u8 + 1;
        let weights = &weights[..=count];
        // The longest codes have the weight 1; there is an even number of them.
        let longest = weights.iter().filter(|&&weight| weight == 1).count();
        if longest < 2 || longest % 2 != 0 {
            return Err(Error::Data);
        }
        // Shorter codes than the longest possible ones stand for several beginnings.
        let scale = MAX_BITS - log;
        let mut at = 0;
        for weight in 1..=log {
            let entry = (log + 1 - weight) << 8;
            let len = 1_usize << (weight - 1 + scale);
            for (symbol, _) in
                weights.iter().enumerate().filter(|(_, it)| u32::from(**it) == weight)
            {
                let entries = self.entries.get_mut(at..at + len).ok_or(Error::Data)?;
                entries.fill(entry as u16 | symbol as u16);
                at += len;
            }
        }
        if at == self.entries.len() { Ok(()) } else { Err(Error::Data) }
    }

    #[inline(always)]
    fn decode(&self, bits: &mut BitReader<'_>) -> u8 {
        let entry = self.entries[bits.peek_11() & ((1 << MAX_BITS) - 1)];
        bits.skip(u32::from(entry >> 8));
        entry as u8
    }

    /// Decodes one stream, which must have the length of `dest`.
    ///
    /// # Errors
    /// [`Error::Data`]
    pub fn decode_stream(&self, src: &[u8], dest: &mut [u8]) -> Result<()> {
        self.finish(BitReader::new(src)?, dest)
    }

    fn finish(&self, mut bits: BitReader<'_>, dest: &mut [u8]) -> Result<()> {
        for part in dest.chunks_mut(CODES) {
            bits.refill();
            for symbol in part {
                *symbol = self.decode(&mut bits);
            }
        }
        if bits.finish() { Ok(()) } else { Err(Error::Data) }
    }

    /// Decodes four streams, each of a quarter of `dest`.
    ///
    /// # Errors
    /// [`Error::Data`]
    pub fn decode_four_streams(&self, src: &[u8], dest: &mut [u8]) -> Result<()> {
        if dest.len() < MIN_FOUR_STREAMS || src.len() < JUMP_TABLE {
            return Err(Error::Data);
        }
        let (sizes, src) = src.split_at(JUMP_TABLE);
        let size = |i: usize| usize::from(u16::from_le_bytes([sizes[2 * i], sizes[2 * i + 1]]));
        let mut rest = src;
        let mut next = |len: usize| {
            let (stream, after) = rest.split_at_checked(len).ok_or(Error::Data)?;
            rest = after;
            BitReader::new(stream)
        };
        let (mut a, mut b, mut c) = (next(size(0))?, next(size(1))?, next(size(2))?);
        let mut d = BitReader::new(rest)?;
        let quarter = dest.len().div_ceil(4);
        let (dest_a, dest) = dest.split_at_mut(quarter);
        let (dest_b, dest) = dest.split_at_mut(quarter);
        let (dest_c, dest_d) = dest.split_at_mut_checked(quarter).ok_or(Error::Data)?;
        // The streams are independent, so their codes are decoded alternately.
        let mut done = 0;
        let parts = (dest_a.chunks_exact_mut(CODES).zip(dest_b.chunks_exact_mut(CODES)))
            .zip(dest_c.chunks_exact_mut(CODES).zip(dest_d.chunks_exact_mut(CODES)));
        for ((part_a, part_b), (part_c, part_d)) in parts {
            let is_far = a.is_far_from_start()
                && b.is_far_from_start()
                && c.is_far_from_start()
                && d.is_far_from_start();
            if !is_far {
                break;
            }
            a.refill_fast();
            b.refill_fast();
            c.refill_fast();
            d.refill_fast();
            for i in 0..CODES {
                part_a[i] = self.decode(&mut a);
                part_b[i] = self.decode(&mut b);
                part_c[i] = self.decode(&mut c);
                part_d[i] = self.decode(&mut d);
            }
            done += CODES;
        }
        self.finish(a, &mut dest_a[done..])?;
        self.finish(b, &mut dest_b[done..])?;
        self.finish(c, &mut dest_c[done..])?;
        self.finish(d, &mut dest_d[done..])
    }
}

/// Decodes weights, which two decoders with the same table read alternately; returns their number.
fn read_weights(src: &[u8], weights: &mut [u8; 256]) -> Result<usize> {
    let mut table = Table::new();
    let len = table.read(src, MAX_BITS as usize + 2, MAX_WEIGHT_LOG)?;
    let mut bits = BitReader::new(&src[len..])?;
    let mut decoders = [Decoder::new(&table, &mut bits), Decoder::new(&table, &mut bits)];
    bits.refill();
    if bits.is_exceeded() {
        return Err(Error::Data);
    }
    let mut count = 0;
    let mut put = |weight: u8| {
        // The last weight is not stored, so at most 255 are.
        *weights[..255].get_mut(count).ok_or(Error::Data)? = weight;
        count += 1;
        Ok::<(), Error>(())
    };
    for turn in 0.. {
        put(decoders[turn % 2].symbol())?;
        decoders[turn % 2].advance(&mut bits);
        bits.refill();
        if bits.is_exceeded() {
            put(decoders[(turn + 1) % 2].symbol())?;
            break;
        }
    }
    Ok(count)
}
