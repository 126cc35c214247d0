//! The BloscLZ decoder.
//!
//! Far from both ends of input and output, a fast path reads instructions without bounds checks and
//! copies whole steps. The last few instructions use a fully checked path. Both accept and reject
//! the same streams.

use std::ptr;

use super::super::wildcopy::{Copier, Portable, WIDE};
use super::limits::{FAR, LONG, MAX_RUN};
use crate::{Error, Result};

/// The control byte of the longest literal run.
const FULL_RUN: usize = MAX_RUN - 1;
/// The most bytes that an instruction other than a long match reads, including the next control
/// byte.
const FAST_INPUT: usize = MAX_RUN + 1;
/// The most bytes that such an instruction writes, including those past its end.
const FAST_OUTPUT: usize = MAX_RUN + WIDE;

/// Decodes `src` into the first `len` bytes of `dest`, and may overwrite the bytes after them.
/// Returns the number of bytes produced.
///
/// # Errors
/// [`Error::Data`] if the stream is empty, ends inside an instruction, decodes to more than `len`
/// bytes, or has a match that starts before the first byte of output.
pub(super) fn decode(src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was just detected.
        return unsafe { decode_avx2(src, dest, len) };
    }
    decode_with::<Portable>(src, dest, len)
}

/// Runs [`decode`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn decode_avx2(src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    decode_with::<super::super::wildcopy::Avx2>(src, dest, len)
}

#[inline(always)]
fn decode_with<C: Copier>(src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    let input = src.as_ptr_range();
    let slop = dest[len..].len();
    let start = dest.as_mut_ptr();
    let mut cursor = Cursor {
        input: input.start,
        input_end: input.end,
        out: start,
        out_start: start,
        // SAFETY: `dest` has at least `len` bytes, as the slicing above checks.
        out_end: unsafe { start.add(len) },
        slop,
    };
    // The top bits of the first control byte are ignored.
    let mut control = cursor.read(1)? % MAX_RUN;
    loop {
        while control < LONG << 5 && cursor.has_margin() {
            // SAFETY: `has_margin` was just checked.
            control = unsafe {
                if control == FULL_RUN {
                    cursor.fast_runs::<C>()
                } else if control < FULL_RUN {
                    cursor.fast_run::<C>(control + 1)
                } else {
                    cursor.fast_match::<C>(control)?
                }
            };
        }
        if control < MAX_RUN {
            // SAFETY: the control byte is below MAX_RUN, so the length is 1 to MAX_RUN.
            unsafe { cursor.copy_literals(control + 1)? };
        } else {
            let (distance, len) = cursor.read_match(control)?;
            if cursor.unread() == 0 {
                break;
            }
            // SAFETY: `read_match` has checked distance and length.
            unsafe { cursor.copy_match::<C>(distance, len) };
        }
        if cursor.unread() == 0 {
            break;
        }
        control = cursor.read(1)?;
    }
    Ok(cursor.produced())
}

/// The positions in input and output.
///
/// Invariant: the bytes from `input` to `input_end` are readable, those from `out_start` to
/// `out_end` and `slop` more are writable, and `out_start <= out <= out_end`.
struct Cursor {
    input: *const u8,
    input_end: *const u8,
    out: *mut u8,
    out_start: *mut u8,
    out_end: *mut u8,
    slop: usize,
}

/// The fast path: all instructions except long matches. Each returns the next control byte, and is
/// safe to call while [`has_margin`](Cursor::has_margin) holds: none needs more input or output
/// than this guarantees.
impl Cursor {
    #[inline(always)]
    fn has_margin(&self) -> bool {
        self.unread() >= FAST_INPUT && self.remaining() >= FAST_OUTPUT
    }

    /// Copies consecutive literal runs of full length. Their positions do not depend on their
    /// control bytes, so the copies need not wait for these.
    #[inline(always)]
    unsafe fn fast_runs<C: Copier>(&mut self) -> usize {
        loop {
            // SAFETY: `has_margin` holds on entry and is checked before each further iteration.
            let control = unsafe { self.fast_run::<C>(MAX_RUN) };
            if control != FULL_RUN || !self.has_margin() {
                return control;
            }
        }
    }

    #[inline(always)]
    unsafe fn fast_run<C: Copier>(&mut self, len: usize) -> usize {
        // SAFETY: `has_margin` holds.
        unsafe {
            C::copy_literals(self.input, self.out);
            self.input = self.input.add(len);
            self.out = self.out.add(len);
            self.next()
        }
    }

    /// Executes one short match.
    #[inline(always)]
    unsafe fn fast_match<C: Copier>(&mut self, control: usize) -> Result<usize> {
        // SAFETY: `has_margin` holds, and the distance is checked before the copy.
        unsafe {
            let mut distance = 256 * (control % MAX_RUN) + self.next() + 1;
            if distance == FAR {
                distance += 256 * self.next();
                distance += self.next();
            }
            if distance > self.produced() {
                return Err(Error::Data);
            }
            // The match is 3 to 8 bytes long.
            C::copy_up_to_8(self.out, distance);
            self.out = self.out.add((control >> 5) + 2);
            Ok(self.next())
        }
    }
}

impl Cursor {
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

    /// Reads the next input byte if at least `needed >= 1` bytes are unread.
    #[inline(always)]
    fn read(&mut self, needed: usize) -> Result<usize> {
        if self.unread() < needed {
            return Err(Error::Data);
        }
        // SAFETY: at least one byte is unread.
        Ok(unsafe { self.next() })
    }

    /// Copies a literal run.
    ///
    /// # Safety
    /// `len` is 1 to [`MAX_RUN`].
    #[inline(always)]
    unsafe fn copy_literals(&mut self, len: usize) -> Result<()> {
        if len > self.unread() || len > self.remaining() {
            return Err(Error::Data);
        }
        // SAFETY: input and output have `len` bytes, as just checked; the caller guarantees the
        // range of `len`.
        unsafe {
            copy_run(self.input, self.out, len);
            self.input = self.input.add(len);
            self.out = self.out.add(len);
        }
        Ok(())
    }

    /// Reads and checks the rest of a match: its distance and length. Each byte except the last one
    /// of the far form must be followed by another byte, since a match never ends a stream.
    #[inline(always)]
    fn read_match(&mut self, control: usize) -> Result<(usize, usize)> {
        let mut len = (control >> 5) + 2;
        if len == LONG + 2 {
            loop {
                let more = self.read(2)?;
                len += more;
                if len > self.remaining() {
                    return Err(Error::Data);
                }
                if more != 255 {
                    break;
                }
            }
        }
        let mut distance = 256 * (control % MAX_RUN) + self.read(2)? + 1;
        if distance == FAR {
            distance += 256 * self.read(2)?;
            distance += self.read(1)?;
        }
        if len > self.remaining() || distance > self.produced() {
            return Err(Error::Data);
        }
        Ok((distance, len))
    }

    /// Executes a match that [`read_match`](Self::read_match) has checked.
    ///
    /// # Safety
    /// `1 <= distance <= produced()` and `len <= remaining()`.
    #[inline(always)]
    unsafe fn copy_match<C: Copier>(&mut self, distance: usize, len: usize) {
        // SAFETY: the caller guarantees distance and length.
        unsafe {
            C::copy_match(self.out, distance, len, self.remaining() + self.slop);
            self.out = self.out.add(len);
        }
    }

    #[inline(always)]
    fn unread(&self) -> usize {
        self.input_end.addr() - self.input.addr()
    }

    #[inline(always)]
    fn remaining(&self) -> usize {
        self.out_end.addr() - self.out.addr()
    }

    #[inline(always)]
    fn produced(&self) -> usize {
        self.out.addr() - self.out_start.addr()
    }
}

/// Copies exactly 1 to [`MAX_RUN`] bytes by copying the first and the last of them, which may
/// overlap. Near the ends of short streams most runs have two or three bytes, for which `memcpy` is
/// slower.
///
/// # Safety
/// `len` is 1 to [`MAX_RUN`]; `src` must be readable and `dest` writable for `len` bytes, without
/// overlap.
#[inline(always)]
unsafe fn copy_run(src: *const u8, dest: *mut u8, len: usize) {
    debug_assert!((1..=MAX_RUN).contains(&len));
    /// Copies the first and the last `N` bytes of `len`.
    ///
    /// # Safety
    /// The same conditions as for [`copy_run`], and `len` is at least `N`.
    #[inline(always)]
    unsafe fn ends<const N: usize>(src: *const u8, dest: *mut u8, len: usize) {
        // SAFETY: both ends are within the `len >= N` bytes.
        unsafe {
            let first: [u8; N] = ptr::read(src.cast());
            let last: [u8; N] = ptr::read(src.add(len - N).cast());
            ptr::write(dest.cast(), first);
            ptr::write(dest.add(len - N).cast(), last);
        }
    }
    // SAFETY: the caller guarantees the ranges; `len` is at least the `N` of each arm; in the last
    // arm, `len` is 1 to 3 and index `len / 2` is below it.
    unsafe {
        match len {
            16.. => ends::<16>(src, dest, len),
            8.. => ends::<8>(src, dest, len),
            4.. => ends::<4>(src, dest, len),
            _ => {
                *dest.add(len / 2) = *src.add(len / 2);
                ends::<1>(src, dest, len);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::wildcopy::SLOP;
    use super::*;
    use crate::testing::GuardedBuf;
    use proptest::prelude::*;

    /// A byte-by-byte decoder that follows the format description.
    fn naive(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
        let mut out: Vec<u8> = Vec::new();
        let mut at = 0;
        let mut control = usize::from(*src.first()?) & 31;
        at += 1;
        loop {
            if control < 32 {
                let run = src.get(at..at + control + 1)?;
                if out.len() + run.len() > capacity {
                    return None;
                }
                out.extend_from_slice(run);
                at += run.len();
            } else {
                let mut len = (control >> 5) + 2;
                let high = control & 31;
                if control >> 5 == 7 {
                    loop {
                        if src.len() - at < 2 {
                            return None;
                        }
                        let more = src[at];
                        at += 1;
                        len += usize::from(more);
                        if more != 255 {
                            break;
                        }
                    }
                }
                if src.len() - at < 2 {
                    return None;
                }
                let low = src[at];
                at += 1;
                let mut distance = high * 256 + usize::from(low) + 1;
                if high == 31 && low == 255 {
                    if src.len() - at < 2 {
                        return None;
                    }
                    distance = usize::from(src[at]) * 256 + usize::from(src[at + 1]) + 8192;
                    at += 2;
                }
                if out.len() + len > capacity || distance > out.len() {
                    return None;
                }
                if at == src.len() {
                    return Some(out);
                }
                for _ in 0..len {
                    out.push(out[out.len() - distance]);
                }
            }
            if at == src.len() {
                return Some(out);
            }
            control = usize::from(src[at]);
            at += 1;
        }
    }

    /// Decodes with input and output both ending at an inaccessible page, with and without slop.
    fn guarded(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
        let src = GuardedBuf::copy_of(src);
        let run = |slop: usize| {
            let mut dest = GuardedBuf::zeroed(capacity + slop);
            let produced = decode(&src, &mut dest, capacity).ok()?;
            Some(dest[..produced].to_vec())
        };
        let exact = run(0);
        for slop in [9, SLOP] {
            assert_eq!(run(slop), exact, "{slop} bytes of slop change nothing");
        }
        exact
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn worked_examples_decode() {
        let fox = hex("33 5468652071 7569636b20 62726f776e20 666f7820 e0ff7113 026f7820");
        assert_eq!(guarded(&fox, 400).unwrap(), "The quick brown fox ".repeat(20).as_bytes());
        let letters = hex("27 6162636465666768 e06c07 02666768");
        assert_eq!(guarded(&letters, 128).unwrap(), b"abcdefgh".repeat(16));
        let run = [&hex("25 737461727441 e05900 11 41")[..], b"finish-the-buffer"].concat();
        let expected = [b"start", &[b'A'; 100][..], b"finish-the-buffer"].concat();
        assert_eq!(guarded(&run, 122).unwrap(), expected);
        let far =
            [hex("27 6162636465666768 e0"), vec![0xff; 35], hex("42 00 9fff0330 00 5a")].concat();
        let expected = [b"abcdefgh", &[b'h'; 9000][..], b"abcdefZ"].concat();
        assert_eq!(guarded(&far, 9015).unwrap(), expected);
    }

    #[test]
    fn the_top_bits_of_the_first_byte_are_ignored() {
        for top in 0..8u8 {
            assert_eq!(guarded(&[top << 5 | 1, 7, 8], 2).unwrap(), [7, 8]);
        }
    }

    #[test]
    fn near_and_far_distances_are_contiguous() {
        for (distance, bytes) in [
            (8190, "9ffd"),
            (8191, "9ffe"),
            (8192, "9fff0000"),
            (8193, "9fff0001"),
            (73726, "9ffffffe"),
            (super::super::limits::MAX_DISTANCE, "9fffffff"),
        ] {
            let mut stream = Vec::new();
            let mut expected = Vec::new();
            for (i, run) in (0..distance as u32)
                .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
                .collect::<Vec<u8>>()
                .chunks(32)
                .enumerate()
            {
                stream.push((run.len() as u8 - 1) | if i == 0 { 32 } else { 0 });
                stream.extend_from_slice(run);
                expected.extend_from_slice(run);
            }
            stream.extend(hex(bytes));
            stream.extend([0, b'Z']);
            expected.extend_from_within(..6);
            expected.push(b'Z');
            assert_eq!(guarded(&stream, expected.len()).unwrap(), expected);
        }
    }

    #[test]
    fn a_match_at_the_end_is_dropped_but_still_checked() {
        let far = [hex("27 6162636465666768 e0"), vec![0xff; 35], hex("42 00 9fff0330")].concat();
        assert_eq!(guarded(&far, 9014).unwrap().len(), 9008);
        assert_eq!(guarded(&far, 9013), None, "longer than the output");
    }

    #[test]
    fn an_endless_length_is_rejected_before_it_overflows() {
        let mut stream = vec![0, b'x', 0xe0];
        stream.resize(100_000, 0xff);
        assert_eq!(decode(&stream, &mut [0; 64], 64), Err(Error::Data));
    }

    #[test]
    fn an_empty_stream_is_rejected() {
        assert_eq!(guarded(&[], 10), None);
        assert_eq!(guarded(&[0], 10), None);
    }

    /// Streams with instructions of every kind, mostly valid.
    fn streams() -> impl Strategy<Value = Vec<u8>> {
        let literals = prop::collection::vec(any::<u8>(), 1..=32).prop_map(|bytes| {
            let mut run = vec![bytes.len() as u8 - 1];
            run.extend(bytes);
            run
        });
        let short = (1..7u8, 0..40u8).prop_map(|(len, low)| vec![len << 5, low]);
        let long = (0..2usize, any::<u8>(), 0..=255u8).prop_map(|(full, rest, low)| {
            let mut bytes = vec![0xe0];
            bytes.extend(vec![255; full]);
            bytes.extend([rest, low]);
            bytes
        });
        let far = (1..7u8, any::<u8>()).prop_map(|(len, low)| vec![len << 5 | 31, 255, 0, low]);
        let instruction = prop_oneof![4 => literals.clone(), 3 => short, 2 => long, 1 => far];
        (literals, prop::collection::vec(instruction, 0..40))
            .prop_map(|(first, rest)| [first, rest.concat()].concat())
    }

    proptest! {
        #[test]
        fn agrees_with_the_naive_decoder_on_realistic_streams(
            stream in streams(),
            slop in -3i32..40,
        ) {
            let full = naive(&stream, usize::MAX).map_or(300, |out| out.len());
            let capacity = full.saturating_add_signed(slop as isize);
            prop_assert_eq!(guarded(&stream, capacity), naive(&stream, capacity));
        }

        #[test]
        fn agrees_with_the_naive_decoder_on_mutated_streams(
            stream in streams(),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            cut in 0..4usize,
            capacity in 0..2000usize,
        ) {
            let mut stream = stream;
            let at = at.index(stream.len());
            stream[at] = byte;
            stream.truncate(stream.len() - cut.min(stream.len()));
            prop_assert_eq!(guarded(&stream, capacity), naive(&stream, capacity));
        }

        #[test]
        fn agrees_with_the_naive_decoder_on_random_bytes(
            stream in prop::collection::vec(any::<u8>(), 0..200),
            capacity in 0..1000usize,
        ) {
            prop_assert_eq!(guarded(&stream, capacity), naive(&stream, capacity));
        }
    }
}
