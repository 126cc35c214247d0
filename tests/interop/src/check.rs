//! The checks of a cell.
//!
//! Both libraries return the same code; each decodes the other's chunk to the same bytes; our chunk
//! is about as small; our chunk does not depend on the number of threads; slices and masked
//! decompression match the whole. [`crate::rows`] lists the exceptions for the reference.

use crate::cell::{Cell, INT_TRUNC, Size, TRUNC_PREC};
use crate::data::Random;
use crate::ffi::Cparams;
use crate::guard::Guarded;
use crate::library::{Library, OwnedContext, c_len};
use crate::rows::{self, Facts, Trust};
use crate::tally::Report;

/// The maximum number of blocks; cells with more blocks take longer and test nothing new.
const MOST_BLOCKS: usize = 20_000;

/// The size of a chunk's header in bytes.
pub(crate) const HEADER: usize = 32;

/// The code for a parameter that a codec does not support.
const CODEC_PARAM: i32 = -8;
/// The result of compression into a destination that is too small.
const NO_ROOM: i32 = 0;
/// The code for a filter failure.
const FILTER_PIPELINE: i32 = -18;

impl Cell {
    /// Returns the size of the source in bytes. A size in blocks is multiplied by the block size
    /// that the library chooses for a buffer of 1 MiB.
    fn nbytes(&self, library: &Library) -> Result<usize, String> {
        match self.size() {
            Size::Bytes(bytes) => {
                let forced = self.forced_blocksize();
                Ok(if forced == 0 { bytes } else { bytes.min(forced * MOST_BLOCKS) })
            }
            Size::Blocks(blocks, offset) => {
                let zeros = vec![0; 1 << 20];
                let mut chunk = vec![0; zeros.len() + HEADER];
                let cparams =
                    Cparams { use_dict: 0, filters: [0, 0, 0, 0, 0, 1], ..self.cparams() };
                let context =
                    library.compressor(cparams).ok_or("no context to determine the block size")?;
                let size = context.compress(&zeros, &mut chunk);
                if size < HEADER as i32 {
                    return Err(format!("the probe for the block size returns {size}"));
                }
                Ok((blocks * field(&chunk, 8) as usize).saturating_add_signed(offset))
            }
        }
    }

    /// Compares the two libraries in this cell.
    ///
    /// # Errors
    /// Returns the defect of our library as text.
    pub fn check(&self, ours: &Library, reference: &Library) -> Result<Report, String> {
        let source = self.content().make(self.nbytes(reference)?, self.typesize(), self.seed());
        let capacity = self.capacity(source.len());

        let guarded_source = Guarded::copy_of(&source);
        let our_result = self.compress(ours, &guarded_source, capacity, self.threads());
        if *guarded_source != source[..] {
            return Err("compress wrote into its source".to_owned());
        }
        self.check_thread_independence(ours, &guarded_source, capacity, &our_result)?;
        if rows::reference_must_not_compress(self, source.len()) {
            return match our_result {
                Ok(chunk) => self.check_ours(ours, reference, &source, &chunk),
                // A codec without dictionaries fails before any other check.
                Err(CODEC_PARAM) if !self.codec_has_dictionaries() => Ok(()),
                Err(FILTER_PIPELINE) if self.a_filter_refuses_the_typesize() => Ok(()),
                Err(NO_ROOM) if self.tight() => Ok(()),
                Err(code) => Err(format!("compress returns {code}")),
            }
            .map(|()| Report::default());
        }
        let their_result = self.compress_with_reference(reference, &source, capacity)?;
        let (our_chunk, their_chunk) = match (our_result, their_result) {
            (Ok(our_chunk), Ok(their_chunk)) => (our_chunk, their_chunk),
            (Err(our_code), Err(their_code)) if our_code == their_code => {
                return Ok(Report::default());
            }
            (Ok(our_chunk), Err(FILTER_PIPELINE))
                if facts_of(&our_chunk).memcpyed && rows::reference_filters_too_early(self) =>
            {
                self.check_ours(ours, reference, &source, &our_chunk)?;
                return Ok(Report::default());
            }
            (Ok(our_chunk), Err(NO_ROOM)) if self.may_fit_otherwise(&our_chunk) => {
                self.check_ours(ours, reference, &source, &our_chunk)?;
                return Ok(Report::default());
            }
            (Err(NO_ROOM), Ok(their_chunk)) if self.may_fit_otherwise(&their_chunk) => {
                return Ok(Report::default());
            }
            (our_result, their_result) => {
                return Err(format!(
                    "compress returns {} instead of {}",
                    code_of(&our_result),
                    code_of(&their_result)
                ));
            }
        };
        self.check_ours(ours, reference, &source, &our_chunk)?;
        self.check_header(&our_chunk, &their_chunk, source.len())?;
        // The reference's blocks equal ours even if its header differs (C3).
        let their_facts =
            Facts { blocksize: facts_of(&our_chunk).blocksize, ..facts_of(&their_chunk) };
        let trust = rows::trust_in_reference_chunk(self, &their_facts);
        self.check_theirs(ours, reference, &source, &their_chunk, &their_facts, trust)?;
        self.report(&our_chunk, &their_chunk, &their_facts, trust)
    }

    /// Whether the result of one encoder may fit the destination while that of the other does not;
    /// `chunk` is one of the results.
    fn may_fit_otherwise(&self, chunk: &[u8]) -> bool {
        let facts = facts_of(chunk);
        self.tight()
            && (rows::trust_in_reference_chunk(self, &facts) != Trust::Good
                || !rows::encoders_agree(self, &facts, &facts))
    }

    /// Returns our chunk of this cell, compressed with `threads` threads, or the error code.
    pub fn compress_with(&self, ours: &Library, threads: i16) -> Result<Vec<u8>, i32> {
        let nbytes = self.nbytes(ours).map_err(|_| 0)?;
        let source = self.content().make(nbytes, self.typesize(), self.seed());
        let capacity = self.capacity(source.len());
        self.compress(ours, &source, capacity, threads)
    }

    /// Checks that the reference reads its own chunk unless [`rows`] lists an exception. This
    /// ensures that the list is complete and that comparisons based on the list are valid.
    ///
    /// # Errors
    /// Returns the actual result as text.
    pub fn check_reference(&self, reference: &Library) -> Result<Report, String> {
        let source = self.content().make(self.nbytes(reference)?, self.typesize(), self.seed());
        let capacity = self.capacity(source.len());
        if rows::reference_must_not_compress(self, source.len()) {
            return Ok(Report::default());
        }
        let Ok(chunk) = self.compress_with_reference(reference, &source, capacity)? else {
            return Ok(Report::default());
        };
        let facts = facts_of(&chunk);
        let facts =
            Facts { blocksize: self.real_blocksize(facts.blocksize, source.len()), ..facts };
        let trust = rows::trust_in_reference_chunk(self, &facts);
        if trust == Trust::Good && rows::reference_can_decode(self) {
            let threads =
                if rows::reference_can_decode_threaded(self) { self.threads() } else { 1 };
            let context = reference.decompressor(threads);
            let expected = self.expected(&source, &facts);
            let decoded = decompress(&context, &chunk, expected.len(), 0xa5);
            expect("the reference's chunk, its own decoder", &decoded, &expected)?;
        }
        Ok(Report::default())
    }

    /// Returns the block size used by the reference if its header contains `header`.
    fn real_blocksize(&self, header: usize, nbytes: usize) -> usize {
        let typesize = self.typesize();
        if !self.has_ragged_blocksize(nbytes) {
            header
        } else if nbytes < typesize {
            1
        } else {
            header - header % typesize
        }
    }

    /// Compresses with a new context of the reference, because its contexts keep the first block
    /// size (C1) and other parameters (C2). The copy of the source has slack, because the reference
    /// may write there (C33).
    fn compress_with_reference(
        &self,
        reference: &Library,
        source: &[u8],
        capacity: usize,
    ) -> Result<Result<Vec<u8>, i32>, String> {
        const SLACK: usize = 1 << 16;
        let context =
            reference.compressor(self.cparams()).ok_or("the reference returns no context")?;
        let mut copy = source.to_vec();
        copy.resize(source.len() + SLACK, 0);
        let mut dest = vec![0; capacity];
        let size = context.compress(&copy[..source.len()], &mut dest);
        Ok(chunk_or_code(size, dest))
    }

    fn compress(
        &self,
        ours: &Library,
        source: &[u8],
        capacity: usize,
        threads: i16,
    ) -> Result<Vec<u8>, i32> {
        let Some(context) = ours.compressor(Cparams { nthreads: threads, ..self.cparams() }) else {
            return Err(0);
        };
        let mut dest = Guarded::filled(capacity, 0xa5);
        let size = context.compress(source, &mut dest);
        chunk_or_code(size, dest.to_vec())
    }

    fn check_thread_independence(
        &self,
        ours: &Library,
        source: &[u8],
        capacity: usize,
        result: &Result<Vec<u8>, i32>,
    ) -> Result<(), String> {
        let threads = if self.threads() == 1 { 3 } else { 1 };
        let other = self.compress(ours, source, capacity, threads);
        if other == *result {
            return Ok(());
        }
        let difference = match (&other, result) {
            (Ok(other), Ok(chunk)) => first_difference(other, chunk),
            _ => None,
        };
        Err(format!(
            "{threads} threads return {} bytes or code, {} threads return {}; first difference {difference:?}",
            code_of(&other),
            self.threads(),
            code_of(result),
        ))
    }

    /// Compares the header fields that do not depend on the compressed size.
    fn check_header(
        &self,
        our_chunk: &[u8],
        their_chunk: &[u8],
        nbytes: usize,
    ) -> Result<(), String> {
        let ragged = self.has_ragged_blocksize(nbytes);
        for (name, range) in [
            ("version", 0..2),
            ("typesize", 3..4),
            ("nbytes", 4..8),
            ("blocksize", 8..12),
            ("filters and codec", 16..30),
        ] {
            if name == "blocksize" && ragged {
                continue;
            }
            let (mine, theirs) = (&our_chunk[range.clone()], &their_chunk[range]);
            if mine != theirs {
                return Err(format!("header field {name}: {mine:02x?} instead of {theirs:02x?}"));
            }
        }
        if field(our_chunk, 12) != i64::from(c_len(our_chunk)) {
            return Err(format!(
                "header cbytes {} in {} bytes",
                field(our_chunk, 12),
                our_chunk.len()
            ));
        }
        Ok(())
    }

    /// Returns the data that decoding must return: the source, truncated if a lossy filter ran.
    fn expected(&self, source: &[u8], facts: &Facts) -> Vec<u8> {
        let mut bytes = source.to_vec();
        if facts.memcpyed {
            return bytes;
        }
        let typesize = self.stored_typesize();
        for &(filter, meta) in self.pipeline() {
            let width = match (filter, typesize) {
                (TRUNC_PREC, 4) => 23,
                (TRUNC_PREC, 8) => 52,
                (INT_TRUNC, 1 | 2 | 4 | 8) => 8 * typesize as u32,
                _ => continue,
            };
            let cut = if meta >= 0 { width - meta as u32 } else { u32::from(meta.unsigned_abs()) };
            for block in bytes.chunks_mut(facts.blocksize) {
                for word in block.chunks_exact_mut(typesize) {
                    cut_low_bits(word, cut);
                }
            }
        }
        bytes
    }

    /// Checks our chunk, independently of the reference's chunk.
    fn check_ours(
        &self,
        ours: &Library,
        reference: &Library,
        source: &[u8],
        chunk: &[u8],
    ) -> Result<(), String> {
        let expected = self.expected(source, &facts_of(chunk));
        let guarded = Guarded::copy_of(chunk);
        for threads in [1, self.threads()] {
            let context = ours.decompressor(threads);
            let decoded = decompress(&context, &guarded, expected.len(), 0xa5);
            expect("our chunk, our decoder", &decoded, &expected)?;
            self.check_slices(&context, &guarded, &expected)?;
            check_masked(&context, &guarded, &expected)?;
        }
        if rows::reference_can_decode(self) {
            let threads =
                if rows::reference_can_decode_threaded(self) { self.threads() } else { 1 };
            let context = reference.decompressor(threads);
            let decoded = decompress(&context, chunk, expected.len(), 0xa5);
            expect("our chunk, the reference's decoder", &decoded, &expected)?;
        }
        Ok(())
    }

    fn check_theirs(
        &self,
        ours: &Library,
        reference: &Library,
        source: &[u8],
        chunk: &[u8],
        facts: &Facts,
        trust: Trust,
    ) -> Result<(), String> {
        let guarded = Guarded::copy_of(chunk);
        let context = ours.decompressor(self.threads());
        let mine = decompress(&context, &guarded, source.len(), 0xa5);
        match trust {
            Trust::Good | Trust::OnlyWeRead(_) => {
                let expected = self.expected(source, facts);
                expect("the reference's chunk, our decoder", &mine, &expected)?;
                self.check_slices(&context, &guarded, &expected)
            }
            Trust::SameForBoth(row) => {
                if !rows::reference_can_decode(self) {
                    return Ok(());
                }
                let theirs = decompress(&reference.decompressor(1), chunk, source.len(), 0xa5);
                if mine != theirs {
                    return Err(format!(
                        "the reference's chunk ({row}) decodes differently with its own decoder"
                    ));
                }
                Ok(())
            }
            // Any result is fine, without a crash or an over-read.
            Trust::Broken(_) => Ok(()),
        }
    }

    fn check_slices(
        &self,
        context: &OwnedContext<'_>,
        chunk: &[u8],
        expected: &[u8],
    ) -> Result<(), String> {
        let typesize = self.stored_typesize();
        let items = expected.len() / typesize;
        let mut random = Random::new(self.seed());
        let mut ranges = vec![(0, items), (items, 0)];
        for _ in 0..4 {
            let start = random.below(items + 1);
            ranges.push((start, random.below(items - start + 1)));
        }
        for (start, count) in ranges {
            let slice = &expected[start * typesize..(start + count) * typesize];
            let mut dest = Guarded::filled(slice.len(), 0x5a);
            let size = context.getitem(chunk, start as i32, count as i32, &mut dest);
            if size != c_len(slice) || *dest != *slice {
                return Err(format!("getitem({start}, {count}) returns {size} or other bytes"));
            }
            dest.fill(0x5a);
            let size =
                context.getitem_bytes(chunk, (start * typesize) as i32, c_len(slice), &mut dest);
            if size != c_len(slice) || *dest != *slice {
                return Err(format!(
                    "getitem_bytes({start}, {count}) returns {size} or other bytes"
                ));
            }
        }
        Ok(())
    }

    fn report(
        &self,
        our_chunk: &[u8],
        their_chunk: &[u8],
        their_facts: &Facts,
        trust: Trust,
    ) -> Result<Report, String> {
        if trust != Trust::Good || !rows::sizes_comparable(self, their_facts) {
            return Ok(Report::default());
        }
        let (mine, theirs) = (our_chunk.len(), their_chunk.len());
        if mine as f64 > theirs as f64 * 1.02 + 16.0 {
            return Err(format!("{mine} bytes, the reference's chunk has {theirs}"));
        }
        Ok(Report {
            ours: mine as i64,
            reference: theirs as i64,
            comparable_bytes: rows::encoders_agree(self, &facts_of(our_chunk), their_facts),
            identical: our_chunk == their_chunk,
        })
    }
}

/// Returns a little-endian header field.
fn field(chunk: &[u8], offset: usize) -> i64 {
    let bytes = chunk[offset..offset + 4].try_into().expect("four bytes");
    i64::from(i32::from_le_bytes(bytes))
}

fn facts_of(chunk: &[u8]) -> Facts {
    Facts {
        nbytes: field(chunk, 4) as usize,
        blocksize: field(chunk, 8) as usize,
        memcpyed: chunk[2] & 0x02 != 0,
        special: chunk[31] & 0x70 != 0,
    }
}

fn chunk_or_code(size: i32, mut dest: Vec<u8>) -> Result<Vec<u8>, i32> {
    if size <= 0 {
        return Err(size);
    }
    dest.truncate(size as usize);
    Ok(dest)
}

fn code_of(result: &Result<Vec<u8>, i32>) -> i64 {
    match result {
        Ok(chunk) => chunk.len() as i64,
        Err(code) => i64::from(*code),
    }
}

fn cut_low_bits(word: &mut [u8], bits: u32) {
    let mask = u64::MAX.checked_shl(bits).unwrap_or(0).to_le_bytes();
    for (byte, mask) in word.iter_mut().zip(mask) {
        *byte &= mask;
    }
}

/// Returns the decoded bytes or the error code.
fn decompress(
    context: &OwnedContext<'_>,
    chunk: &[u8],
    nbytes: usize,
    fill: u8,
) -> Result<Vec<u8>, i32> {
    let mut dest = Guarded::filled(nbytes, fill);
    let size = context.decompress(chunk, &mut dest);
    if size == c_len(&dest) { Ok(dest.to_vec()) } else { Err(size) }
}

fn expect(what: &str, decoded: &Result<Vec<u8>, i32>, expected: &[u8]) -> Result<(), String> {
    match decoded {
        Ok(bytes) if bytes == expected => Ok(()),
        Ok(bytes) => Err(format!(
            "{what}: {} bytes with the first wrong one at {:?}",
            bytes.len(),
            first_difference(bytes, expected)
        )),
        Err(code) => Err(format!("{what}: returns {code}")),
    }
}

fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    let common = a.iter().zip(b).position(|(x, y)| x != y);
    common.or_else(|| (a.len() != b.len()).then(|| a.len().min(b.len())))
}

/// Checks decompression with every third block masked: the destination of masked blocks must not
/// change.
fn check_masked(context: &OwnedContext<'_>, chunk: &[u8], expected: &[u8]) -> Result<(), String> {
    let blocksize = facts_of(chunk).blocksize;
    let mut mask: Vec<bool> =
        (0..expected.len().div_ceil(blocksize)).map(|block| block % 3 == 0).collect();
    if mask.is_empty() {
        return Ok(());
    }
    let code = context.set_maskout(&mut mask);
    if code != 0 {
        return Err(format!("set_maskout returns {code}"));
    }
    const UNTOUCHED: u8 = 0x3c;
    let mut masked = expected.to_vec();
    for block in masked.chunks_mut(blocksize).step_by(3) {
        block.fill(UNTOUCHED);
    }
    expect("masked", &decompress(context, chunk, expected.len(), UNTOUCHED), &masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroing_bits_clears_the_low_bits_of_a_little_endian_integer() {
        let mut word = [0xff; 4];
        cut_low_bits(&mut word, 13);
        assert_eq!(u32::from_le_bytes(word), !0 << 13);
    }
}
