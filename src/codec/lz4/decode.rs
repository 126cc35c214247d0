//! The LZ4 block decoder. It replaces the decoder of liblz4, which is slow on typical filtered
//! data: long matches with short periods, often up to the very end of the block.
//!
//! A sequence is:
//!
//! ```text
//! token       number of literals (high 4 bits), match length - 4 (low 4 bits); 15 = extended
//! [255 … n]   extension of the number of literals: sum of the bytes up to the first below 255
//! literals
//! distance    2 bytes, little-endian; the last sequence of a block ends before it
//! [255 … n]   extension of the match length
//! ```
//!
//! It accepts and rejects exactly the same blocks as `LZ4_decompress_safe`: it enforces the
//! format's restrictions near the end of a block, except where the library does not. A distance of
//! 0, which no encoder writes, means zeros.

use std::hint::black_box;
use std::ptr;

use super::super::wildcopy::{Copier, Portable, STRIDE, WIDE, copy_step};
use crate::{Error, Result, kernels};

/// The length in a token that has extension bytes.
const EXTENDED: usize = 15;
const DISTANCE_LEN: usize = 2;
/// The size of a sequence without length extensions, excluding its literals.
const SEQUENCE_LEN: usize = 1 + DISTANCE_LEN;
const MIN_MATCH: usize = 4;
#[cfg(any(not(feature = "lz4"), test))]
const MAX_DISTANCE: usize = u16::MAX as usize;
/// The number of literals at the end of the output.
const LAST_LITERALS: usize = 5;
/// The distance to the end of the output, in bytes: literals that end closer to it must be the last
/// ones.
const MIN_END_OUTPUT: usize = 12;
/// The distance to the end of the input, in bytes: literals that end closer to it must be the last
/// ones, since a distance, a token and the last literals could not follow.
const MIN_END_INPUT: usize = DISTANCE_LEN + 1 + LAST_LITERALS;
/// The number of unread bytes after a token with which short literals are never the last ones,
/// provided that [`UNCHECKED_OUTPUT`] bytes of output are left.
const UNCHECKED_INPUT: usize = EXTENDED + DISTANCE_LEN;
/// The number of bytes of output left after a token with which the ends of short literals and of a
/// short match need no check: the size of the longest of both.
const UNCHECKED_OUTPUT: usize = (EXTENDED - 1) + (EXTENDED - 1 + MIN_MATCH);

/// The minimum distance for which the library does not check the end of a short match after
/// literals that need no check.
const LENIENT_DISTANCE: usize = 8;
/// The output needed by a sequence without length extensions, including overwritten bytes past its
/// end.
const FAST_OUTPUT: usize = UNCHECKED_OUTPUT + WIDE;
// Long literals are copied in strides, with at least that much output after them.
const _: () = assert!(FAST_OUTPUT >= STRIDE);

/// Decodes `src` into the first `len` bytes of `dest`, and may overwrite the bytes after them.
/// Returns the number of bytes produced.
///
/// # Errors
/// [`Error::Data`] if `src` is not a valid block of at most `len` bytes.
pub(super) fn decode(src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    if len == 0 {
        return if src == [0] { Ok(0) } else { Err(Error::Data) };
    }
    if src.is_empty() {
        return Err(Error::Data);
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was just detected.
        return unsafe { decode_avx2(src, dest, len) }.ok_or(Error::Data);
    }
    decode_with::<Portable>(src, dest, len).ok_or(Error::Data)
}

/// Runs [`decode_with`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn decode_avx2(src: &[u8], dest: &mut [u8], len: usize) -> Option<usize> {
    decode_with::<super::super::wildcopy::Avx2>(src, dest, len)
}

/// Decodes `src` into `dest`, with matches that may begin in the bytes of `window`.
///
/// # Errors
/// [`Error::Data`] if `src` is not a valid block of at most `dest.len()` bytes,
/// [`Error::MemoryAlloc`].
#[cfg(any(not(feature = "lz4"), test))]
pub(super) fn decode_after(window: &[u8], src: &[u8], dest: &mut [u8]) -> Result<usize> {
    if src.is_empty() || dest.is_empty() {
        return decode(src, dest, dest.len());
    }
    let window = &window[window.len().saturating_sub(MAX_DISTANCE)..];
    let mut output = Vec::new();
    output.try_reserve_exact(window.len() + dest.len())?;
    output.extend_from_slice(window);
    output.resize(window.len() + dest.len(), 0);
    let len = output.len();
    let end = decode_from::<Portable>(src, &mut output, window.len(), len).ok_or(Error::Data)?;
    let produced = &output[window.len()..end];
    dest[..produced.len()].copy_from_slice(produced);
    Ok(produced.len())
}

/// Runs [`decode`] for non-empty input. Returns `None` if the block is invalid.
#[inline(always)]
fn decode_with<C: Copier>(src: &[u8], dest: &mut [u8], len: usize) -> Option<usize> {
    decode_from::<C>(src, dest, 0, len)
}

/// Decodes non-empty input into `dest[produced..len]`; matches may begin in the bytes before them.
/// Returns the end of the output, or `None` if the block is invalid.
///
/// # Panics
/// If `src` is empty, or `produced` or `len` is out of range.
#[inline(always)]
fn decode_from<C: Copier>(
    src: &[u8],
    dest: &mut [u8],
    produced: usize,
    len: usize,
) -> Option<usize> {
    assert!(!src.is_empty() && produced <= len);
    let input = src.as_ptr_range();
    let slop = dest[len..].len();
    let start = dest.as_mut_ptr();
    let mut cursor =
        Cursor { input: input.start, input_end: input.end, start, produced, len, slop };
    // SAFETY: the cursor's ranges are those slices, and `produced <= len`. A token is unread at the
    // start, as `src` is not empty, and after each sequence but the last, as both methods
    // guarantee.
    unsafe {
        loop {
            cursor.fast_sequences::<C>()?;
            if !cursor.sequence::<C>()? {
                return Some(cursor.produced);
            }
        }
    }
}

/// The positions in input and output.
///
/// Invariant: the bytes from `input` to `input_end` are readable, `len + slop` bytes from `start`
/// are writable, and `produced <= len`.
struct Cursor {
    input: *const u8,
    input_end: *const u8,
    start: *mut u8,
    produced: usize,
    len: usize,
    slop: usize,
}

impl Cursor {
    /// Executes sequences while they are far enough from both ends to need few checks. Leaves a
    /// token unread.
    ///
    /// # Safety
    /// A token must be unread.
    #[inline(always)]
    unsafe fn fast_sequences<C: Copier>(&mut self) -> Option<()> {
        let fast_input_end = self.input_end.addr().saturating_sub(UNCHECKED_INPUT);
        let Some(fast_len) = self.len.checked_sub(FAST_OUTPUT) else {
            return Some(());
        };
        // The number of literals determines the position of the next sequence, so it is on the
        // critical path. `black_box` keeps the compiler from adding the constant after that number
        // is known.
        let sequence_len = black_box(SEQUENCE_LEN);
        // SAFETY: the loop condition guarantees UNCHECKED_INPUT bytes after the token and
        // FAST_OUTPUT bytes of output. So a step may be read after the token and written; short
        // literals leave a distance and a token unread, so `after` is inside the input; a short
        // match and the bytes it overwrites past its end fit. Long literals leave at least a stride
        // unread, and FAST_OUTPUT, which is at least a stride.
        unsafe {
            while self.input.addr() < fast_input_end && self.produced <= fast_len {
                let start = self.input;
                let mut after = start.add(sequence_len);
                let token = self.next();
                let mut literals = token >> 4;
                if literals < EXTENDED {
                    copy_step(self.input, self.out());
                } else {
                    literals += self.read_extension(EXTENDED)?;
                    if self.unread() < literals + STRIDE
                        || self.remaining() < literals + FAST_OUTPUT
                    {
                        self.input = start;
                        return Some(());
                    }
                    C::copy_strides(self.input, self.out(), literals);
                    after = self.input.add(DISTANCE_LEN);
                }
                self.input = after.add(literals).sub(DISTANCE_LEN);
                self.produced += literals;
                let distance = self.read_distance()?;
                let len = token & 15;
                if len < EXTENDED {
                    C::copy_short(self.out(), distance, len + MIN_MATCH);
                    self.produced += len + MIN_MATCH;
                } else {
                    self.long_match::<C>(distance)?;
                }
            }
        }
        Some(())
    }

    /// Executes one sequence. Returns whether another one follows, whose token is then unread.
    ///
    /// # Safety
    /// The token must be unread.
    #[inline(always)]
    unsafe fn sequence<C: Copier>(&mut self) -> Option<bool> {
        // SAFETY: UNCHECKED_INPUT and UNCHECKED_OUTPUT exceed a step and any short literals; both
        // kinds of literals leave at least 3 bytes unread, a distance and a token; the match is
        // checked.
        unsafe {
            let token = self.next();
            let mut literals = token >> 4;
            let is_unchecked = literals < EXTENDED
                && self.unread() >= UNCHECKED_INPUT
                && self.remaining() >= UNCHECKED_OUTPUT;
            if is_unchecked {
                copy_step(self.input, self.out());
                self.input = self.input.add(literals);
                self.produced += literals;
            } else {
                if literals == EXTENDED {
                    literals += self.read_extension(EXTENDED)?;
                }
                if self.copy_literals(literals)? {
                    return Some(false);
                }
            }
            let distance = self.read_distance()?;
            let len = token & 15;
            if len == EXTENDED {
                self.long_match::<C>(distance)?;
                return Some(true);
            }
            // UNCHECKED_OUTPUT guarantees the output of a short match after unchecked literals.
            if is_unchecked && distance >= LENIENT_DISTANCE {
                self.copy_match::<C>(distance, len + MIN_MATCH);
            } else {
                self.checked_match::<C>(distance, len + MIN_MATCH)?;
            }
        }
        Some(true)
    }

    /// Copies literals, which may be the last ones. Returns whether they are.
    #[inline(always)]
    fn copy_literals(&mut self, len: usize) -> Option<bool> {
        let last = self.remaining() < len + MIN_END_OUTPUT || self.unread() < len + MIN_END_INPUT;
        if last && (self.unread() != len || self.remaining() < len) {
            return None;
        }
        // SAFETY: input and output have `len` bytes: for the last literals as just checked,
        // otherwise by the two minimum distances.
        unsafe {
            kernels::copy::copy_nonoverlapping(self.input, self.out(), len);
            self.input = self.input.add(len);
            self.produced += len;
        }
        Some(last)
    }

    /// Reads a length extension. At least `keep` bytes must remain unread after it.
    #[inline(always)]
    fn read_extension(&mut self, keep: usize) -> Option<usize> {
        let mut sum = 0;
        loop {
            if self.unread() <= keep {
                return None;
            }
            // SAFETY: more than `keep` bytes are unread.
            let byte = unsafe { self.next() };
            sum += byte;
            if byte != 255 {
                return Some(sum);
            }
        }
    }

    /// Reads the distance of a match and checks that the match does not start before the output.
    ///
    /// # Safety
    /// Two bytes must be unread.
    #[inline(always)]
    unsafe fn read_distance(&mut self) -> Option<usize> {
        // SAFETY: the caller guarantees two unread bytes.
        let distance = unsafe {
            let bytes: [u8; DISTANCE_LEN] = ptr::read_unaligned(self.input.cast());
            self.input = self.input.add(DISTANCE_LEN);
            usize::from(u16::from_le_bytes(bytes))
        };
        if distance > self.produced {
            return None;
        }
        Some(distance)
    }

    /// Executes a match with an extended length.
    ///
    /// # Safety
    /// `distance <= produced`.
    #[inline(always)]
    unsafe fn long_match<C: Copier>(&mut self, distance: usize) -> Option<()> {
        let len = EXTENDED + MIN_MATCH + self.read_extension(LAST_LITERALS - 1)?;
        // SAFETY: the caller guarantees the distance.
        unsafe { self.checked_match::<C>(distance, len) }
    }

    /// Executes a match after checking that the last literals fit after it.
    ///
    /// # Safety
    /// `distance <= produced`.
    #[inline(always)]
    unsafe fn checked_match<C: Copier>(&mut self, distance: usize, len: usize) -> Option<()> {
        if self.remaining() < len + LAST_LITERALS {
            return None;
        }
        // SAFETY: the output was just checked, and the caller guarantees the distance.
        unsafe { self.copy_match::<C>(distance, len) };
        Some(())
    }

    /// Executes a match.
    ///
    /// # Safety
    /// `distance <= produced` and `len <= remaining()`.
    #[inline(always)]
    unsafe fn copy_match<C: Copier>(&mut self, distance: usize, len: usize) {
        // SAFETY: the caller guarantees distance and length.
        unsafe {
            C::copy_match(self.out(), distance, len, self.remaining() + self.slop);
            self.produced += len;
        }
    }

    /// Reads the next input byte.
    ///
    /// # Safety
    /// At least one byte must be unread.
    #[inline(always)]
    unsafe fn next(&mut self) -> usize {
        // SAFETY: the caller guarantees an unread byte.
        unsafe {
            let byte = *self.input;
            self.input = self.input.add(1);
            usize::from(byte)
        }
    }

    #[inline(always)]
    fn unread(&self) -> usize {
        self.input_end.addr() - self.input.addr()
    }

    #[inline(always)]
    fn remaining(&self) -> usize {
        self.len - self.produced
    }

    /// Returns the address of the next output byte.
    #[inline(always)]
    fn out(&self) -> *mut u8 {
        // SAFETY: `produced <= len`, and `len` bytes from `start` are writable.
        unsafe { self.start.add(self.produced) }
    }
}

#[cfg(test)]
mod window_tests {
    use super::*;

    const WINDOW: &[u8] = b"0123456789abcdef";
    /// A match of 12 bytes at distance 8, then 5 literals.
    const BLOCK: [u8; 9] = [0x08, 8, 0, 0x50, b'v', b'w', b'x', b'y', b'z'];
    const DECODED: &[u8] = b"89abcdef89abvwxyz";

    fn decoded(window: &[u8], block: &[u8], capacity: usize) -> Result<Vec<u8>> {
        let mut dest = vec![0; capacity];
        let len = decode_after(window, block, &mut dest)?;
        dest.truncate(len);
        Ok(dest)
    }

    #[test]
    fn a_match_may_begin_in_the_window() {
        assert_eq!(decoded(WINDOW, &BLOCK, 17).unwrap(), DECODED);
        assert_eq!(decoded(WINDOW, &BLOCK, 100).unwrap(), DECODED);
        // The last 65,535 bytes of a longer window count.
        let long = [vec![b'-'; 70_000], WINDOW.to_vec()].concat();
        assert_eq!(decoded(&long, &BLOCK, 17).unwrap(), DECODED);
        let farthest = [&[0x08, 0xff, 0xff], &BLOCK[3..]].concat();
        assert_eq!(decoded(&long, &farthest, 17).unwrap(), b"------------vwxyz");
    }

    #[test]
    fn damaged_blocks_and_short_outputs_are_errors_or_end_in_bounds() {
        for capacity in 0..DECODED.len() {
            assert_eq!(decoded(WINDOW, &BLOCK, capacity), Err(Error::Data));
        }
        // One token without literals is a whole block.
        assert_eq!(decoded(WINDOW, &BLOCK[..1], 17).unwrap(), b"");
        for len in (0..BLOCK.len()).filter(|&len| len != 1) {
            assert_eq!(decoded(WINDOW, &BLOCK[..len], 17), Err(Error::Data), "{len}");
        }
        for distance in [17, 0xffff_u16] {
            let [low, high] = distance.to_le_bytes();
            let block = [&[0x08, low, high], &BLOCK[3..]].concat();
            assert_eq!(decoded(WINDOW, &block, 17), Err(Error::Data), "{distance}");
            assert_eq!(decoded(&[], &block, 17), Err(Error::Data), "{distance}");
        }
        for at in 0..BLOCK.len() {
            for byte in 0..=u8::MAX {
                let mut block = BLOCK;
                block[at] = byte;
                for window in [WINDOW, &WINDOW[..3], &[]] {
                    let _ = decoded(window, &block, 17);
                }
            }
        }
    }
}

#[cfg(all(test, feature = "lz4"))]
mod tests {
    use super::super::super::wildcopy::SLOP;
    use super::super::liblz4::ffi;
    use super::*;
    use crate::testing::GuardedBuf;
    use proptest::prelude::*;

    fn library(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
        let mut dest = vec![0; capacity];
        // SAFETY: pointers and lengths are those of live buffers.
        let produced = unsafe {
            ffi::LZ4_decompress_safe(
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                src.len() as i32,
                capacity as i32,
            )
        };
        dest.truncate(usize::try_from(produced).ok()?);
        Some(dest)
    }

    /// Decodes with input and output both ending at an inaccessible page, by each path this machine
    /// supports, with and without slop.
    fn guarded(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
        type Decoder = fn(&[u8], &mut [u8], usize) -> Option<usize>;
        let src = GuardedBuf::copy_of(src);
        let run = |decoder: Decoder, slop: usize| {
            let mut dest = GuardedBuf::zeroed(capacity + slop);
            let produced = decoder(&src, &mut dest, capacity)?;
            Some(dest[..produced].to_vec())
        };
        let any = |src: &[u8], dest: &mut [u8], len: usize| decode(src, dest, len).ok();
        let best = run(any, 0);
        for slop in [0, 9, SLOP] {
            assert_eq!(run(any, slop), best, "{slop} bytes of slop");
            if !src.is_empty() && capacity > 0 {
                let portable = run(decode_with::<Portable>, slop);
                assert_eq!(portable, best, "all paths agree");
            }
        }
        best
    }

    fn agree(src: &[u8], capacity: usize) {
        assert_eq!(guarded(src, capacity), library(src, capacity), "{src:02x?} into {capacity}");
    }

    /// Returns the extension bytes of a length.
    fn rest_of_length(len: usize) -> Vec<u8> {
        match len.checked_sub(EXTENDED) {
            None => Vec::new(),
            Some(rest) => [vec![255; rest / 255], vec![(rest % 255) as u8]].concat(),
        }
    }

    /// Returns one sequence; without a match it is a last one.
    fn sequence(literals: &[u8], matched: Option<(usize, usize)>) -> Vec<u8> {
        let extra = matched.map_or(0, |(_, len)| len - MIN_MATCH);
        let token = literals.len().min(EXTENDED) << 4 | extra.min(EXTENDED);
        let mut bytes = vec![token as u8];
        bytes.extend(rest_of_length(literals.len()));
        bytes.extend(literals);
        if let Some((distance, _)) = matched {
            bytes.extend((distance as u16).to_le_bytes());
            bytes.extend(rest_of_length(extra));
        }
        bytes
    }

    #[test]
    fn a_block_of_the_chunk_format_decodes() {
        // One literal, one run, and five literals at the end.
        let block = [0x1f, 0x61, 0x01, 0x00, 0x4b, 0x50, 0x61, 0x61, 0x61, 0x61, 0x61];
        assert_eq!(guarded(&block, 100).unwrap(), vec![b'a'; 100]);
        assert_eq!(guarded(&[0x30, b'r', b'e', b'd'], 3).unwrap(), b"red");
    }

    #[test]
    fn empty_blocks_and_outputs_follow_the_library() {
        for src in [&[][..], &[0], &[0, 0], &[0x10, 7], &[0x0f, 1, 0, 0]] {
            for capacity in 0..20 {
                // The library needs a non-null source.
                if src.is_empty() {
                    assert_eq!(guarded(src, capacity), None);
                } else {
                    agree(src, capacity);
                }
            }
        }
    }

    #[test]
    fn every_distance_and_length_agrees_with_the_library_near_the_end() {
        let seed: Vec<u8> = (0..80u8).map(|i| i.wrapping_mul(37) ^ 0x5a).collect();
        for distance in (0..40).chain([63, 64, 65, 79, 80, 81]) {
            for len in (4..24).chain([31, 32, 33, 64, 100, 273, 600]) {
                for tail in [0, 1, 4, 5, 6, 7, 11, 12, 13, 20, 70] {
                    let block =
                        [sequence(&seed, Some((distance, len))), sequence(&seed[..tail], None)]
                            .concat();
                    for capacity in [0, 1, 5, 40] {
                        agree(&block, seed.len() + len + tail + capacity);
                    }
                    agree(&block, seed.len() + len + tail - 1);
                    // Short literals before the match, which the library checks less strictly.
                    let block = [
                        sequence(&seed, Some((7, 50))),
                        sequence(&seed[..3], Some((distance, len))),
                        sequence(&seed[..tail], None),
                    ]
                    .concat();
                    for capacity in [0, 1, 5, 40] {
                        agree(&block, seed.len() + 53 + len + tail + capacity);
                    }
                }
            }
        }
    }

    #[test]
    fn an_endless_length_is_rejected() {
        for token in [0xf0, 0x0f, 0xff] {
            let mut block = vec![0x10, b'x', 1, 0, token];
            block.resize(100_000, 0xff);
            agree(&block, 1000);
        }
    }

    /// Mostly valid blocks, some of them near the format's limits.
    fn blocks() -> impl Strategy<Value = Vec<u8>> {
        let literals = prop_oneof![
            6 => prop::collection::vec(any::<u8>(), 0..15),
            2 => prop::collection::vec(any::<u8>(), 15..80),
            1 => prop::collection::vec(any::<u8>(), 260..300),
        ];
        let len = prop_oneof![5 => 4..19usize, 3 => 19..80usize, 1 => 270..600usize];
        let distance = prop_oneof![6 => 1..9usize, 4 => 9..70usize, 1 => 0..400usize];
        let sequences = prop::collection::vec((literals, distance, len), 0..30);
        (
            prop::collection::vec(any::<u8>(), 0..100),
            sequences,
            prop::collection::vec(any::<u8>(), 0..20),
        )
            .prop_map(|(first, sequences, last)| {
                let mut block = sequence(&first, Some((first.len().max(1), 4)));
                for (literals, distance, len) in sequences {
                    block.extend(sequence(&literals, Some((distance, len))));
                }
                block.extend(sequence(&last, None));
                block
            })
    }

    proptest! {
        #[test]
        fn row_d14_our_decoder_agrees_with_the_library_on_realistic_blocks(
            block in blocks(),
            slop in -20isize..80,
        ) {
            let full = library(&block, 40_000).map_or(500, |out| out.len());
            agree(&block, full.saturating_add_signed(slop));
        }

        #[test]
        fn row_d14_our_decoder_agrees_with_the_library_on_mutated_blocks(
            block in blocks(),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            cut in 0..20usize,
            slop in -20isize..80,
        ) {
            let full = library(&block, 40_000).map_or(500, |out| out.len());
            let mut block = block;
            let at = at.index(block.len());
            block[at] = byte;
            block.truncate(block.len() - cut.min(block.len() - 1));
            agree(&block, full.saturating_add_signed(slop));
        }

        #[test]
        fn agrees_with_the_library_on_random_bytes(
            block in prop::collection::vec(any::<u8>(), 1..200),
            capacity in 0..1000usize,
        ) {
            agree(&block, capacity);
        }
    }
}
