//! The BloscLZ decoder.
//!
//! Far from both ends of input and output, instructions are read without checks and copied in whole steps; the
//! last few go through the careful path, which checks every byte. Both accept and refuse exactly the same.

use std::ptr;

use super::super::wild::{Copier, Portable, WIDE};
use super::{FAR, LONG, MAX_RUN};
use crate::{Error, Result};

/// The control byte of the longest literal run.
const FULL_RUN: usize = MAX_RUN - 1;
/// What an instruction but for long matches reads at most, with the control byte of the next one.
const QUICK_INPUT: usize = MAX_RUN + 1;
/// What such an instruction writes at most, scribbling included.
const QUICK_ROOM: usize = MAX_RUN + WIDE;

/// Decodes `src` into the first `len` bytes of `dest`, and may scribble over those behind. Returns the number of bytes
/// produced.
///
/// # Errors
/// [`Error::Data`] for an empty stream, one that ends inside an instruction, one that has more than
/// `len` bytes, and a match that reaches back before the first byte.
pub(super) fn decode(src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: just detected.
        return unsafe { decode_avx2(src, dest, len) };
    }
    decode_with::<Portable>(src, dest, len)
}

/// [`decode`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn decode_avx2(src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    decode_with::<super::super::wild::Avx2>(src, dest, len)
}

#[inline(always)]
fn decode_with<C: Copier>(src: &[u8], dest: &mut [u8], len: usize) -> Result<usize> {
    let input = src.as_ptr_range();
    let slack = dest[len..].len();
    let start = dest.as_mut_ptr();
    let mut cursor = Cursor {
        input: input.start,
        input_end: input.end,
        out: start,
        out_start: start,
        // SAFETY: `len` bytes from the start on are in the slice, as just looked at.
        out_end: unsafe { start.add(len) },
        slack,
    };
    // The first control byte is a literal run whatever its top bits say.
    let mut control = cursor.read(1)? % MAX_RUN;
    loop {
        while control < LONG << 5 && cursor.is_quick() {
            // SAFETY: just checked.
            control = unsafe {
                if control == FULL_RUN {
                    cursor.quick_runs::<C>()
                } else if control < FULL_RUN {
                    cursor.quick_run::<C>(control + 1)
                } else {
                    cursor.quick_match::<C>(control)?
                }
            };
        }
        if control < MAX_RUN {
            // SAFETY: control bytes of literals are below MAX_RUN, as just looked at.
            unsafe { cursor.literals(control + 1)? };
        } else {
            let (distance, len) = cursor.match_head(control)?;
            if cursor.unread() == 0 {
                break;
            }
            // SAFETY: distance and length have been checked.
            unsafe { cursor.matched::<C>(distance, len) };
        }
        if cursor.unread() == 0 {
            break;
        }
        control = cursor.read(1)?;
    }
    Ok(cursor.produced())
}

/// Where the decoder stands.
///
/// The invariant behind every method: the bytes from `input` to `input_end` are readable, those from `out_start` to
/// `out_end` and `slack` more are writable, and `out` is among the former or at their end.
struct Cursor {
    input: *const u8,
    input_end: *const u8,
    out: *mut u8,
    out_start: *mut u8,
    out_end: *mut u8,
    slack: usize,
}

/// The instructions that are no long matches, far from the ends. Each returns the next control byte, and is safe to call
/// while [`is_quick`](Cursor::is_quick): there is more unread and more room than any of them needs.
impl Cursor {
    #[inline(always)]
    fn is_quick(&self) -> bool {
        self.unread() >= QUICK_INPUT && self.room() >= QUICK_ROOM
    }

    /// Copies literal runs of the full length. Where these begin doesn't depend on their control bytes, so one need not
    /// wait for the other.
    #[inline(always)]
    unsafe fn quick_runs<C: Copier>(&mut self) -> usize {
        loop {
            // SAFETY: is_quick, at first and whenever this goes on.
            let control = unsafe { self.quick_run::<C>(MAX_RUN) };
            if control != FULL_RUN || !self.is_quick() {
                return control;
            }
        }
    }

    /// Copies one literal run.
    #[inline(always)]
    unsafe fn quick_run<C: Copier>(&mut self, len: usize) -> usize {
        // SAFETY: is_quick.
        unsafe {
            C::copy_literals(self.input, self.out);
            self.input = self.input.add(len);
            self.out = self.out.add(len);
            self.next()
        }
    }

    /// Executes one short match.
    #[inline(always)]
    unsafe fn quick_match<C: Copier>(&mut self, control: usize) -> Result<usize> {
        // SAFETY: is_quick, and the distance is checked.
        unsafe {
            let mut distance = 256 * (control % MAX_RUN) + self.next() + 1;
            if distance == FAR {
                distance += 256 * self.next();
                distance += self.next();
            }
            if distance > self.produced() {
                return Err(Error::Data);
            }
            // Short matches have 3 to 8 bytes.
            C::copy_word(self.out, distance);
            self.out = self.out.add((control >> 5) + 2);
            Ok(self.next())
        }
    }
}

impl Cursor {
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

    /// The next byte of the input, if at least `needed >= 1` bytes are unread.
    #[inline(always)]
    fn read(&mut self, needed: usize) -> Result<usize> {
        if self.unread() < needed {
            return Err(Error::Data);
        }
        // SAFETY: at least one byte is unread.
        Ok(unsafe { self.next() })
    }

    /// Copies a run of literals.
    ///
    /// # Safety
    /// `len` is 1 to [`MAX_RUN`].
    #[inline(always)]
    unsafe fn literals(&mut self, len: usize) -> Result<()> {
        if len > self.unread() || len > self.room() {
            return Err(Error::Data);
        }
        // SAFETY: both sides have `len` bytes, as just checked; the caller vouches for how many these are.
        unsafe {
            copy_run(self.input, self.out, len);
            self.input = self.input.add(len);
            self.out = self.out.add(len);
        }
        Ok(())
    }

    /// Reads and checks the rest of a match: its distance and length. Every byte of it, but for the far form's
    /// last two, must be followed by another one, since a match never ends a stream.
    #[inline(always)]
    fn match_head(&mut self, control: usize) -> Result<(usize, usize)> {
        let mut len = (control >> 5) + 2;
        if len == LONG + 2 {
            loop {
                let more = self.read(2)?;
                len += more;
                if len > self.room() {
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
        if len > self.room() || distance > self.produced() {
            return Err(Error::Data);
        }
        Ok((distance, len))
    }

    /// Executes a match that [`match_head`](Self::match_head) has checked.
    ///
    /// # Safety
    /// `1 <= distance <= produced`, `len <= room`.
    #[inline(always)]
    unsafe fn matched<C: Copier>(&mut self, distance: usize, len: usize) {
        // SAFETY: the caller vouches for distance and length.
        unsafe {
            C::copy_match(self.out, distance, len, self.room() + self.slack);
            self.out = self.out.add(len);
        }
    }

    #[inline(always)]
    fn unread(&self) -> usize {
        self.input_end.addr() - self.input.addr()
    }

    #[inline(always)]
    fn room(&self) -> usize {
        self.out_end.addr() - self.out.addr()
    }

    #[inline(always)]
    fn produced(&self) -> usize {
        self.out.addr() - self.out_start.addr()
    }
}

/// Copies 1 to [`MAX_RUN`] bytes and no more: the first and the last of them, of which both may have some. Near the ends of
/// short streams most runs have two or three bytes, and a call of `memcpy` takes longer.
///
/// # Safety
/// `len` is 1 to [`MAX_RUN`]; `src` must be readable and `dest` writable for so many bytes, and neither have bytes of the other.
#[inline(always)]
unsafe fn copy_run(src: *const u8, dest: *mut u8, len: usize) {
    debug_assert!((1..=MAX_RUN).contains(&len));
    /// Copies the first and the last `N` bytes of `len`.
    ///
    /// # Safety
    /// As for [`copy_run`], and `len` is at least `N`.
    #[inline(always)]
    unsafe fn ends<const N: usize>(src: *const u8, dest: *mut u8, len: usize) {
        // SAFETY: both ends are inside the `len` bytes, as these are no fewer than `N`.
        unsafe {
            let first: [u8; N] = ptr::read(src.cast());
            let last: [u8; N] = ptr::read(src.add(len - N).cast());
            ptr::write(dest.cast(), first);
            ptr::write(dest.add(len - N).cast(), last);
        }
    }
    // SAFETY: the caller's contract; each arm has as many bytes as its ends, and byte `len / 2` is one of one to three.
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
    use super::super::super::wild::SLACK;
    use super::*;
    use crate::testing::GuardedBuf;
    use proptest::prelude::*;

    /// The format as its description reads, one byte at a time.
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

    /// Decodes with input and output both ending at an inaccessible page, with and without bytes to scribble over.
    fn guarded(src: &[u8], capacity: usize) -> Option<Vec<u8>> {
        let src = GuardedBuf::copy_of(src);
        let run = |slack: usize| {
            let mut dest = GuardedBuf::zeroed(capacity + slack);
            let produced = decode(&src, &mut dest, capacity).ok()?;
            Some(dest[..produced].to_vec())
        };
        let exact = run(0);
        for slack in [9, SLACK] {
            assert_eq!(run(slack), exact, "{slack} bytes behind change nothing");
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
        assert_eq!(
            guarded(&fox, 400).unwrap(),
            "The quick brown fox ".repeat(20).as_bytes()
        );
        let letters = hex("27 6162636465666768 e06c07 02666768");
        assert_eq!(guarded(&letters, 128).unwrap(), b"abcdefgh".repeat(16));
        let run = [
            &hex("25 737461727441 e05900 11 41")[..],
            b"finish-the-buffer",
        ]
        .concat();
        let expected = [b"start", &[b'A'; 100][..], b"finish-the-buffer"].concat();
        assert_eq!(guarded(&run, 122).unwrap(), expected);
        let far = [
            hex("27 6162636465666768 e0"),
            vec![0xff; 35],
            hex("42 00 9fff0330 00 5a"),
        ]
        .concat();
        let expected = [b"abcdefgh", &[b'h'; 9000][..], b"abcdefZ"].concat();
        assert_eq!(guarded(&far, 9015).unwrap(), expected);
    }

    #[test]
    fn the_top_bits_of_the_first_byte_mean_nothing() {
        for top in 0..8u8 {
            assert_eq!(guarded(&[top << 5 | 1, 7, 8], 2).unwrap(), [7, 8]);
        }
    }

    #[test]
    fn near_and_far_distances_meet_without_a_gap() {
        for (distance, bytes) in [
            (8190, "9ffd"),
            (8191, "9ffe"),
            (8192, "9fff0000"),
            (8193, "9fff0001"),
            (73726, "9ffffffe"),
            (super::super::MAX_DISTANCE, "9fffffff"),
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
        let far = [
            hex("27 6162636465666768 e0"),
            vec![0xff; 35],
            hex("42 00 9fff0330"),
        ]
        .concat();
        assert_eq!(guarded(&far, 9014).unwrap().len(), 9008);
        assert_eq!(guarded(&far, 9013), None, "longer than the room");
    }

    #[test]
    fn an_endless_length_is_refused_before_it_overflows() {
        let mut stream = vec![0, b'x', 0xe0];
        stream.resize(100_000, 0xff);
        assert_eq!(decode(&stream, &mut [0; 64], 64), Err(Error::Data));
    }

    #[test]
    fn an_empty_stream_is_refused() {
        assert_eq!(guarded(&[], 10), None);
        assert_eq!(guarded(&[0], 10), None);
    }

    /// Streams that look like real ones: instructions of every kind, mostly within bounds.
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
        fn agrees_with_the_naive_decoder_on_real_looking_streams(
            stream in streams(),
            slack in -3i32..40,
        ) {
            let full = naive(&stream, usize::MAX).map_or(300, |out| out.len());
            let capacity = full.saturating_add_signed(slack as isize);
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
        fn agrees_with_the_naive_decoder_on_noise(
            stream in prop::collection::vec(any::<u8>(), 0..200),
            capacity in 0..1000usize,
        ) {
            prop_assert_eq!(guarded(&stream, capacity), naive(&stream, capacity));
        }
    }
}
