//! The copy loops of LZ decoders: fixed-size steps that may overwrite bytes past their end, and
//! matches that overlap their own output.
//!
//! Two rules make them fast. A fixed-size copy compiles to one load and one store, while a copy of
//! variable length is a call; so steps are always whole, and callers guarantee the writable space.
//! A load that overlaps several stores still in the store buffer stalls; so a match with a short
//! distance never reads back its own output: its pattern is repeated in a register once and then
//! only stored.

#[cfg(target_arch = "x86_64")]
mod avx2;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

use std::ptr;

pub(super) const STEP: usize = 16;

/// The number of bytes copied for any short literal run or match.
pub(super) const WIDE: usize = 2 * STEP;

/// The number of bytes per iteration of a long literal copy. Larger iterations mean fewer
/// mispredicted loop exits.
pub(super) const STRIDE: usize = 2 * WIDE;

/// The number of writable bytes after the output with which no match copy needs bounds checks.
pub(crate) const SLOP: usize = 4 * WIDE;

/// The longest match that one 64-bit load copies.
pub(super) const WORD: usize = size_of::<u64>();

/// The longest match length that an LZ4 token encodes without extra bytes.
pub(super) const SHORT: usize = STEP + 2;

/// Copies one step.
///
/// # Safety
/// `src` must be readable and `dest` writable for [`STEP`] bytes. They may overlap: everything is
/// read before anything is written.
#[inline(always)]
pub(super) unsafe fn copy_step(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller guarantees both ranges.
    unsafe {
        // A single integer: the compiler moves arrays through the stack.
        let bytes: u128 = ptr::read_unaligned(src.cast());
        ptr::write_unaligned(dest.cast(), bytes);
    }
}

/// Copy routines for literals and matches.
pub(super) trait Copier {
    /// Copies [`WIDE`] bytes.
    ///
    /// # Safety
    /// `src` must be readable and `dest` writable for [`WIDE`] bytes. They may overlap: everything
    /// is read before anything is written.
    unsafe fn copy_literals(src: *const u8, dest: *mut u8);

    /// Copies `len` bytes in whole strides.
    ///
    /// # Safety
    /// `src` must be readable and `dest` writable for `len` rounded up to a multiple of [`STRIDE`]
    /// bytes, without overlap.
    #[inline(always)]
    unsafe fn copy_strides(src: *const u8, dest: *mut u8, len: usize) {
        let mut done = 0;
        while done < len {
            // SAFETY: `done` is a multiple of STRIDE below `len`, so the stride ends within the
            // range that the caller guarantees.
            unsafe {
                Self::copy_literals(src.add(done), dest.add(done));
                Self::copy_literals(src.add(done + WIDE), dest.add(done + WIDE));
            }
            done += STRIDE;
        }
    }

    /// Copies a match of `len` bytes from `distance` bytes before `out` to `out`, as if byte by
    /// byte: an overlapping match repeats the `distance` bytes before `out`. A distance of 0 writes
    /// zeros. May also overwrite the `capacity - len` bytes after the match.
    ///
    /// # Safety
    /// In one allocation, the `distance` bytes before `out` must be readable, and `capacity` bytes
    /// from `out` readable and writable; `len <= capacity`.
    unsafe fn copy_match(out: *mut u8, distance: usize, len: usize, capacity: usize);

    /// Copies a match of any length up to 8 like [`copy_match`](Self::copy_match). May overwrite
    /// [`WIDE`] bytes from `out`.
    ///
    /// # Safety
    /// In one allocation, the `distance` bytes before `out` must be readable, and [`WIDE`] bytes
    /// from `out` readable and writable.
    unsafe fn copy_up_to_8(out: *mut u8, distance: usize);

    /// Copies a match of at most [`SHORT`] bytes like [`copy_match`](Self::copy_match). Such a
    /// match often reads the output of the previous one. May overwrite [`WIDE`] bytes from `out`.
    ///
    /// # Safety
    /// The same conditions as for [`copy_up_to_8`](Self::copy_up_to_8), and `len <= SHORT`.
    unsafe fn copy_short(out: *mut u8, distance: usize, len: usize);
}

/// Copies for any CPU, also used near the end of the output.
pub(super) struct Portable;

impl Copier for Portable {
    #[inline(always)]
    unsafe fn copy_literals(src: *const u8, dest: *mut u8) {
        // SAFETY: both steps are within the WIDE bytes that the caller guarantees.
        unsafe {
            let low: u128 = ptr::read_unaligned(src.cast());
            let high: u128 = ptr::read_unaligned(src.add(STEP).cast());
            ptr::write_unaligned(dest.cast(), low);
            ptr::write_unaligned(dest.add(STEP).cast(), high);
        }
    }

    #[inline(always)]
    unsafe fn copy_match(out: *mut u8, distance: usize, len: usize, capacity: usize) {
        // SAFETY: the caller's guarantees are passed on, and each function is called with distances
        // that it accepts.
        unsafe {
            if distance >= STEP {
                copy_far(out, distance, len, capacity);
            } else {
                copy_pattern(out, distance, len, capacity);
            }
        }
    }

    #[inline(always)]
    unsafe fn copy_up_to_8(out: *mut u8, distance: usize) {
        // SAFETY: a word that is loaded from a distance of at least a word ends at or before `out`;
        // otherwise it ends in the WIDE readable bytes from `out`, to which the word is written.
        unsafe {
            let from = out.sub(distance).cast_const();
            if distance >= WORD {
                copy_word(from, out);
            } else {
                let bytes: u64 = ptr::read_unaligned(from.cast());
                let pattern = repeat_in_word(u64::from_le(bytes), distance).to_le();
                ptr::write_unaligned(out.cast(), pattern);
            }
        }
    }

    #[inline(always)]
    unsafe fn copy_short(out: *mut u8, distance: usize, len: usize) {
        debug_assert!(len <= SHORT);
        // SAFETY: all stores end at most WIDE bytes after `out`. With a distance of at least a
        // word, each word is read from before the position it is written to: before `out`, or from
        // output already written. Otherwise the word that is read ends in the readable bytes from
        // `out`.
        unsafe {
            let from = out.sub(distance).cast_const();
            if distance >= WORD {
                copy_word(from, out);
                copy_word(from.add(WORD), out.add(WORD));
                let last: u16 = ptr::read_unaligned(from.add(2 * WORD).cast());
                ptr::write_unaligned(out.add(2 * WORD).cast(), last);
                return;
            }
            let bytes: u64 = ptr::read_unaligned(from.cast());
            let pattern = repeat_in_word(u64::from_le(bytes), distance).to_le();
            // At least 5 bytes, so three words have all bytes of a short match.
            let period = usize::from(WORD_PERIODS[distance]);
            ptr::write_unaligned(out.cast(), pattern);
            ptr::write_unaligned(out.add(period).cast(), pattern);
            ptr::write_unaligned(out.add(2 * period).cast(), pattern);
        }
    }
}

/// Copies one word.
///
/// # Safety
/// `src` must be readable and `dest` writable for [`WORD`] bytes. They may overlap: everything is
/// read before anything is written.
#[inline(always)]
unsafe fn copy_word(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller guarantees both ranges.
    unsafe { ptr::write_unaligned(dest.cast::<u64>(), ptr::read_unaligned(src.cast::<u64>())) }
}

/// The number of bytes that an iteration for long matches may write.
const REACH: usize = 4 * STEP;

/// Runs [`Copier::copy_match`] for distances of at least a step: no step overlaps itself.
///
/// # Safety
/// The same conditions as for [`Copier::copy_match`], and `distance >= STEP`.
#[inline(always)]
unsafe fn copy_far(out: *mut u8, distance: usize, len: usize, capacity: usize) {
    // SAFETY: a step is written only if `done + STEP <= capacity`; an iteration of several steps
    // begins below `len`, and only if `len + REACH <= capacity`. A step reads from
    // `distance >= STEP` bytes before, which are already written. The remainder is shorter than a
    // step and thus than the distance, so its ranges do not overlap.
    unsafe {
        let from = out.sub(distance);
        let mut done = 0;
        if capacity >= len + REACH {
            while done < len {
                copy_step(from.add(done), out.add(done));
                copy_step(from.add(done + STEP), out.add(done + STEP));
                done += 2 * STEP;
            }
            return;
        }
        while done < len && done + STEP <= capacity {
            copy_step(from.add(done), out.add(done));
            done += STEP;
        }
        if done < len {
            ptr::copy_nonoverlapping(from.add(done), out.add(done), len - done);
        }
    }
}

/// Runs [`Copier::copy_match`] for distances below a step.
///
/// # Safety
/// The same conditions as for [`Copier::copy_match`], and `distance < STEP`.
#[inline(always)]
unsafe fn copy_pattern(out: *mut u8, distance: usize, len: usize, capacity: usize) {
    // SAFETY: reads start in the `distance` bytes before `out`, and extend past `out` only if
    // `capacity` has a whole step. A step is written only if `done + STEP <= capacity`; an
    // iteration of several steps begins below `len`, and only if `len + REACH <= capacity`. The
    // remainder, shorter than a step, is written byte by byte or copied from the pattern.
    unsafe {
        let from = out.sub(distance);
        if capacity < STEP {
            for done in 0..len {
                *out.add(done) = if distance == 0 { 0 } else { *from.add(done) };
            }
            return;
        }
        let bytes: u128 = ptr::read_unaligned(from.cast());
        let pattern = repeat(u128::from_le(bytes), distance).to_le();
        let period = usize::from(STEP_PERIODS[distance]);
        let mut done = 0;
        if capacity >= len + REACH {
            while done < len {
                let out = out.add(done);
                ptr::write_unaligned(out.cast(), pattern);
                ptr::write_unaligned(out.add(period).cast(), pattern);
                ptr::write_unaligned(out.add(2 * period).cast(), pattern);
                ptr::write_unaligned(out.add(3 * period).cast(), pattern);
                done += 4 * period;
            }
            return;
        }
        while done < len && done + STEP <= capacity {
            ptr::write_unaligned(out.add(done).cast(), pattern);
            done += period;
        }
        if done < len {
            let pattern = pattern.to_ne_bytes();
            ptr::copy_nonoverlapping(pattern.as_ptr(), out.add(done), len - done);
        }
    }
}

/// Returns the largest multiple of each distance below a step that is at most `size`; `size` for
/// distance 0.
const fn periods(size: usize) -> [u8; STEP] {
    let mut periods = [size as u8; STEP];
    let mut distance = 1;
    while distance < STEP {
        periods[distance] = (size - size % distance) as u8;
        distance += 1;
    }
    periods
}

const WORD_PERIODS: &[u8; STEP] = &periods(WORD);
const STEP_PERIODS: &[u8; STEP] = &periods(STEP);

/// Factors that repeat the lowest `distance` bytes of a step over the step, by distance. Zero for
/// distance 0.
const REPEAT: &[u128; STEP] = &{
    let mut factors = [0; STEP];
    let mut distance = 1;
    while distance < STEP {
        let mut at = 0;
        while at < STEP {
            factors[distance] |= 1 << (8 * at);
            at += distance;
        }
        distance += 1;
    }
    factors
};

/// Repeats the first `distance` bytes, fewer than a step, of a little-endian step over the whole
/// step; returns zeros for distance 0.
#[inline(always)]
fn repeat(bytes: u128, distance: usize) -> u128 {
    (bytes & ((1 << (8 * distance)) - 1)).wrapping_mul(REPEAT[distance])
}

/// Repeats the first `distance` bytes, fewer than a word, of a little-endian word over the whole
/// word; returns zeros for distance 0.
#[inline(always)]
fn repeat_in_word(bytes: u64, distance: usize) -> u64 {
    (bytes & ((1 << (8 * distance)) - 1)).wrapping_mul(REPEAT[distance] as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the expected bytes after a match at `at`.
    fn expected_match(start: &[u8], at: usize, distance: usize, len: usize) -> Vec<u8> {
        let mut expected = start.to_vec();
        for i in at..at + len {
            expected[i] = match distance {
                0 => 0,
                _ => expected[i - distance],
            };
        }
        expected
    }

    fn check<M: Copier>() {
        const BEFORE: usize = 130;
        for distance in 0..=BEFORE {
            for len in (1..70).chain([100, 129, 255, 300]) {
                for capacity in (len..len + 40).chain([len + 127, len + 128, len + 140]) {
                    let start: Vec<u8> =
                        (0..BEFORE + capacity + 8).map(|i| (i * 7 + 3) as u8).collect();
                    let expected = expected_match(&start, BEFORE, distance, len);
                    let mut found = start.clone();
                    // SAFETY: there are `BEFORE >= distance` bytes before and more than `capacity`
                    // from `BEFORE` on.
                    unsafe {
                        M::copy_match(found.as_mut_ptr().add(BEFORE), distance, len, capacity);
                    };
                    assert_eq!(found[..BEFORE + len], expected[..BEFORE + len]);
                    assert_eq!(found[BEFORE + capacity..], start[BEFORE + capacity..]);
                }
            }
        }
    }

    fn check_short<M: Copier>() {
        const BEFORE: usize = 70;
        let start: Vec<u8> = (0..BEFORE + WIDE + 8).map(|i| (i * 7 + 3) as u8).collect();
        for distance in 0..=BEFORE {
            for len in 1..=SHORT {
                let expected = expected_match(&start, BEFORE, distance, len);
                let verify = |found: &[u8]| {
                    assert_eq!(
                        found[..BEFORE + len],
                        expected[..BEFORE + len],
                        "{len} from {distance}"
                    );
                    assert_eq!(found[BEFORE + WIDE..], start[BEFORE + WIDE..]);
                };
                let mut found = start.clone();
                // SAFETY: there are `BEFORE >= distance` bytes before and more than WIDE from
                // `BEFORE` on.
                unsafe { M::copy_short(found.as_mut_ptr().add(BEFORE), distance, len) };
                verify(&found);
                if len <= WORD {
                    found.clone_from(&start);
                    // SAFETY: as above.
                    unsafe { M::copy_up_to_8(found.as_mut_ptr().add(BEFORE), distance) };
                    verify(&found);
                }
            }
        }
    }

    #[test]
    fn a_short_match_repeats_its_distance_within_its_capacity() {
        check_short::<Portable>();
    }

    #[test]
    fn a_match_repeats_its_distance_within_its_capacity() {
        check::<Portable>();
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn avx2_copies_equal_the_expected_matches() {
        #[target_feature(enable = "avx2")]
        fn check_all() {
            check::<Avx2>();
            check_short::<Avx2>();
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 was just detected.
            unsafe { check_all() };
        }
    }
}
