//! The decoder: our own, because the blocks of filtered data have what liblz4's is slow at, long matches with short
//! periods, often up to the very end of the block.
//!
//! A sequence is
//!
//! ```text
//! token   length of literals (high 4 bits, 15 = goes on), length of the match less 4 (low 4 bits, 15 = goes on)
//! [255 … n]   more of the literals' length, if it goes on: the sum of the bytes to the first that isn't 255
//! literals
//! distance    2 bytes, little-endian; the last sequence of a block ends before it
//! [255 … n]   more of the match's length
//! ```
//!
//! It accepts and refuses what `LZ4_decompress_safe` does, to the letter: the restrictions near the end of a block
//! that the format's description asks of encoders, and the cases in which the library doesn't insist on them. A
//! distance of 0, which no encoder writes, stands for zeros.

use std::hint::black_box;
use std::ptr;

use super::super::wildcopy::{Copier, Portable, STRIDE, WIDE, copy_step};
use crate::{Error, Result};

/// The length in a token that goes on in further bytes.
const GOES_ON: usize = 15;
/// Bytes of a distance.
const DISTANCE: usize = 2;
/// Bytes of a sequence whose lengths are in its token, beside its literals.
const FRAME: usize = 1 + DISTANCE;
/// The shortest match.
const MIN_MATCH: usize = 4;
/// This many bytes at the end of the output are literals.
const LAST_LITERALS: usize = 5;
/// Literals that end closer to the end of the output than this are the last ones.
const LAST_START: usize = 12;
/// Literals that end closer to the end of the input than this are the last ones: a distance, a token and the last
/// literals would have to follow.
const LAST_INPUT: usize = DISTANCE + 1 + LAST_LITERALS;
/// With this much unread input behind a token, short literals are never the last ones …
const EASY_INPUT: usize = GOES_ON + DISTANCE;
/// … if there is also this much room, for the longest short literals and the longest short match.
const EASY_ROOM: usize = (GOES_ON - 1) + (GOES_ON - 1 + MIN_MATCH);

/// From this distance on the library doesn't check where a short match behind easy literals ends.
const LENIENT_DISTANCE: usize = 8;
/// The room for the literals and the match of a sequence whose lengths don't go on, with all scribbling.
const QUICK_ROOM: usize = EASY_ROOM + WIDE;
// Long literals are copied by strides with that much room behind them.
const _: () = assert!(QUICK_ROOM >= STRIDE);

/// Decodes `src` into the first `len` bytes of `dest`, and may scribble over those behind. Returns the number of bytes
/// produced.
///
/// # Errors
/// [`Error::Data`] if `src` is no valid block of at most `len` bytes.
pub(super) fn decode(src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    if len == 0 {
        return if src == [0] { Ok(0) } else { Err(Error::Data) };
    }
    if src.is_empty() {
        return Err(Error::Data);
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: just detected.
        return unsafe { decode_avx2(src, dest, len) }.ok_or(Error::Data);
    }
    decode_with::<Portable>(src, dest, len).ok_or(Error::Data)
}

/// [`decode_with`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn decode_avx2(src: &[u8], dest: &mut [u8], len: usize) -> Option<usize> {
    decode_with::<super::super::wildcopy::Avx2>(src, dest, len)
}

/// [`decode`] of what is not empty, into what is not; `None` if the block is not valid.
#[inline(always)]
fn decode_with<C: Copier>(src: &[u8], dest: &mut [u8], len: usize) -> Option<usize> {
    let input = src.as_ptr_range();
    let slack = dest[len..].len();
    let start = dest.as_mut_ptr();
    let mut cursor = Cursor {
        input: input.start,
        input_end: input.end,
        start,
        produced: 0,
        len,
        slack,
    };
    // SAFETY: the cursor's two ranges are those slices. A token is unread at the start, and behind each sequence but
    // the last, as both methods promise.
    unsafe {
        loop {
            cursor.quick_sequences::<C>()?;
            if !cursor.sequence::<C>()? {
                return Some(cursor.produced);
            }
        }
    }
}

/// Where the decoder stands.
///
/// The invariant behind every method: the bytes from `input` to `input_end` are readable, `len` bytes from `start` on and
/// `slack` more are writable, and `produced` is at most `len`.
struct Cursor {
    input: *const u8,
    input_end: *const u8,
    start: *mut u8,
    produced: usize,
    len: usize,
    slack: usize,
}

impl Cursor {
    /// Executes sequences for as long as they are so far from both ends that little needs a check. Afterwards a token
    /// is unread.
    ///
    /// # Safety
    /// A token must be unread.
    #[inline(always)]
    unsafe fn quick_sequences<C: Copier>(&mut self) -> Option<()> {
        let quick_input = self.input_end.addr().saturating_sub(EASY_INPUT);
        let Some(quick_len) = self.len.checked_sub(QUICK_ROOM) else {
            return Some(());
        };
        // The number of literals tells where the next sequence is, and all that comes behind waits for it. So nothing but
        // that number is left to be added when it is known; the compiler would add a constant after it.
        let frame = black_box(FRAME);
        // SAFETY: with the unread input and the room that the loop asks for, a step may be read behind the token and
        // written, short literals leave a distance and a token unread, so `behind` is inside the input, and a short match
        // with its scribbling stays within the room. Long literals leave a stride unread, and QUICK_ROOM, which is one at
        // least.
        unsafe {
            while self.input.addr() < quick_input && self.produced <= quick_len {
                let start = self.input;
                let mut behind = start.add(frame);
                let token = self.next();
                let mut literals = token >> 4;
                if literals < GOES_ON {
                    copy_step(self.input, self.out());
                } else {
                    literals += self.more(GOES_ON)?;
                    if self.unread() < literals + STRIDE || self.room() < literals + QUICK_ROOM {
                        self.input = start;
                        return Some(());
                    }
                    C::copy_strides(self.input, self.out(), literals);
                    behind = self.input.add(DISTANCE);
                }
                self.input = behind.add(literals).sub(DISTANCE);
                self.produced += literals;
                let distance = self.distance()?;
                let len = token & 15;
                if len < GOES_ON {
                    C::copy_short(self.out(), distance, len + MIN_MATCH);
                    self.produced += len + MIN_MATCH;
                } else {
                    self.long_match::<C>(distance)?;
                }
            }
        }
        Some(())
    }

    /// Executes one sequence. Returns whether another one follows, in which case its token is unread.
    ///
    /// # Safety
    /// The token must be unread.
    #[inline(always)]
    unsafe fn sequence<C: Copier>(&mut self) -> Option<bool> {
        // SAFETY: EASY_INPUT and EASY_ROOM are more than a step and than any short literals; both kinds of literals
        // leave at least 3 bytes unread, a distance and a token; the match is checked.
        unsafe {
            let token = self.next();
            let mut literals = token >> 4;
            let easy =
                literals < GOES_ON && self.unread() >= EASY_INPUT && self.room() >= EASY_ROOM;
            if easy {
                copy_step(self.input, self.out());
                self.input = self.input.add(literals);
                self.produced += literals;
            } else {
                if literals == GOES_ON {
                    literals += self.more(GOES_ON)?;
                }
                if self.literals(literals)? {
                    return Some(false);
                }
            }
            let distance = self.distance()?;
            let len = token & 15;
            if len == GOES_ON {
                self.long_match::<C>(distance)?;
                return Some(true);
            }
            // A short match behind easy literals ends within the room, however close to the end.
            if easy && distance >= LENIENT_DISTANCE {
                self.matched::<C>(distance, len + MIN_MATCH);
            } else {
                self.checked_match::<C>(distance, len + MIN_MATCH)?;
            }
        }
        Some(true)
    }

    /// Copies literals that may be the last ones. Returns whether they are.
    #[inline(always)]
    fn literals(&mut self, len: usize) -> Option<bool> {
        let last = self.room() < len + LAST_START || self.unread() < len + LAST_INPUT;
        if last && (self.unread() != len || self.room() < len) {
            return None;
        }
        // SAFETY: both sides have `len` bytes: if these are the last literals, as just checked, otherwise even more.
        unsafe {
            ptr::copy_nonoverlapping(self.input, self.out(), len);
            self.input = self.input.add(len);
            self.produced += len;
        }
        Some(last)
    }

    /// The rest of a length that goes on. At least `keep` bytes must be unread behind it.
    #[inline(always)]
    fn more(&mut self, keep: usize) -> Option<usize> {
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

    /// The distance of a match, which must not reach before the first byte.
    ///
    /// # Safety
    /// Two bytes must be unread.
    #[inline(always)]
    unsafe fn distance(&mut self) -> Option<usize> {
        // SAFETY: the caller vouches for the bytes.
        let distance = unsafe {
            let bytes: [u8; DISTANCE] = ptr::read_unaligned(self.input.cast());
            self.input = self.input.add(DISTANCE);
            usize::from(u16::from_le_bytes(bytes))
        };
        if distance > self.produced {
            return None;
        }
        Some(distance)
    }

    /// Executes a match whose length goes on.
    ///
    /// # Safety
    /// `distance <= produced`.
    #[inline(always)]
    unsafe fn long_match<C: Copier>(&mut self, distance: usize) -> Option<()> {
        let len = GOES_ON + MIN_MATCH + self.more(LAST_LITERALS - 1)?;
        // SAFETY: passed on.
        unsafe { self.checked_match::<C>(distance, len) }
    }

    /// Executes a match that must leave room for the last literals.
    ///
    /// # Safety
    /// `distance <= produced`.
    #[inline(always)]
    unsafe fn checked_match<C: Copier>(&mut self, distance: usize, len: usize) -> Option<()> {
        if self.room() < len + LAST_LITERALS {
            return None;
        }
        // SAFETY: there is room, and the caller vouches for the distance.
        unsafe { self.matched::<C>(distance, len) };
        Some(())
    }

    /// Executes a match.
    ///
    /// # Safety
    /// `distance <= produced`, `len <= room`.
    #[inline(always)]
    unsafe fn matched<C: Copier>(&mut self, distance: usize, len: usize) {
        // SAFETY: the caller vouches for distance and length.
        unsafe {
            C::copy_match(self.out(), distance, len, self.room() + self.slack);
            self.produced += len;
        }
    }

    /// The next byte of the input.
    ///
    /// # Safety
    /// One must be unread.
    #[inline(always)]
    unsafe fn next(&mut self) -> usize {
        // SAFETY: the caller vouches for it.
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
    fn room(&self) -> usize {
        self.len - self.produced
    }

    /// Where the next byte goes.
    #[inline(always)]
    fn out(&self) -> *mut u8 {
        // SAFETY: so many bytes from the start on are writable.
        unsafe { self.start.add(self.produced) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::wildcopy::SLOP;
    use super::super::ffi;
    use super::*;
    use crate::testing::GuardedBuf;
    use proptest::prelude::*;

    /// Decodes with liblz4.
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

    /// Decodes with input and output both ending at an inaccessible page, by every path this machine has, with and without
    /// bytes to scribble over.
    fn guarded(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
        type Decoder = fn(&[u8], &mut [u8], usize) -> Option<usize>;
        let src = GuardedBuf::copy_of(src);
        let run = |decoder: Decoder, slack: usize| {
            let mut dest = GuardedBuf::zeroed(capacity + slack);
            let produced = decoder(&src, &mut dest, capacity)?;
            Some(dest[..produced].to_vec())
        };
        let any = |src: &[u8], dest: &mut [u8], len: usize| decode(src, dest, len).ok();
        let best = run(any, 0);
        for slack in [0, 9, SLOP] {
            assert_eq!(run(any, slack), best, "{slack} bytes behind");
            if !src.is_empty() && capacity > 0 {
                let portable = run(decode_with::<Portable>, slack);
                assert_eq!(portable, best, "every path does the same");
            }
        }
        best
    }

    fn agree(src: &[u8], capacity: usize) {
        assert_eq!(
            guarded(src, capacity),
            library(src, capacity),
            "{src:02x?} into {capacity}"
        );
    }

    /// The bytes of a length beyond what its token holds.
    fn rest_of_length(len: usize) -> Vec<u8> {
        match len.checked_sub(GOES_ON) {
            None => Vec::new(),
            Some(rest) => [vec![255; rest / 255], vec![(rest % 255) as u8]].concat(),
        }
    }

    /// One sequence; without a match it is a last one.
    fn sequence(literals: &[u8], matched: Option<(usize, usize)>) -> Vec<u8> {
        let extra = matched.map_or(0, |(_, len)| len - MIN_MATCH);
        let token = literals.len().min(GOES_ON) << 4 | extra.min(GOES_ON);
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
        // "0123456789abcdef", its bytes 0x1f 'a' ×6 … : one run behind one literal, five literals at the end.
        let block = [
            0x1f, 0x61, 0x01, 0x00, 0x4b, 0x50, 0x61, 0x61, 0x61, 0x61, 0x61,
        ];
        assert_eq!(guarded(&block, 100).unwrap(), vec![b'a'; 100]);
        assert_eq!(guarded(&[0x30, b'r', b'e', b'd'], 3).unwrap(), b"red");
    }

    #[test]
    fn empty_blocks_and_outputs_follow_the_library() {
        for src in [&[][..], &[0], &[0, 0], &[0x10, 7], &[0x0f, 1, 0, 0]] {
            for capacity in 0..20 {
                // The library wants a source it can point to.
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
                    let block = [
                        sequence(&seed, Some((distance, len))),
                        sequence(&seed[..tail], None),
                    ]
                    .concat();
                    for capacity in [0, 1, 5, 40] {
                        agree(&block, seed.len() + len + tail + capacity);
                    }
                    agree(&block, seed.len() + len + tail - 1);
                    // Short literals before the match, which the library treats with less care.
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
    fn a_length_that_never_ends_is_refused() {
        for token in [0xf0, 0x0f, 0xff] {
            let mut block = vec![0x10, b'x', 1, 0, token];
            block.resize(100_000, 0xff);
            agree(&block, 1000);
        }
    }

    /// Blocks that look like real ones, mostly within bounds, and sometimes near their rules' edges.
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
        fn row_d14_our_decoder_agrees_with_the_library_on_real_looking_blocks(
            block in blocks(),
            slack in -20isize..80,
        ) {
            let full = library(&block, 40_000).map_or(500, |out| out.len());
            agree(&block, full.saturating_add_signed(slack));
        }

        #[test]
        fn row_d14_our_decoder_agrees_with_the_library_on_mutated_blocks(
            block in blocks(),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            cut in 0..20usize,
            slack in -20isize..80,
        ) {
            let full = library(&block, 40_000).map_or(500, |out| out.len());
            let mut block = block;
            let at = at.index(block.len());
            block[at] = byte;
            block.truncate(block.len() - cut.min(block.len() - 1));
            agree(&block, full.saturating_add_signed(slack));
        }

        #[test]
        fn agrees_with_the_library_on_noise(
            block in prop::collection::vec(any::<u8>(), 1..200),
            capacity in 0..1000usize,
        ) {
            agree(&block, capacity);
        }
    }
}
