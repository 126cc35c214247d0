//! The copies LZ decoders are made of: short ones in whole steps that may scribble past their end, and matches
//! that overlap what they write.
//!
//! Two things make them fast. A copy of one fixed-size step is a load and a store, where a copy of 5 bytes is a
//! call; so steps are always whole, and callers prove that there is room for what they scribble. And a load that
//! overlaps several stores still on their way to the cache waits for them; so a match with a short distance never
//! reads back what it wrote: the repeating bytes are spread over a register once, and from then on only stored.

#[cfg(target_arch = "x86_64")]
mod avx2;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

use std::ptr;

/// The size of one step.
pub(super) const STEP: usize = 16;

/// The size of what is copied for something short, however short it is.
pub(super) const WIDE: usize = 2 * STEP;

/// The size of what long literals are copied by: where a loop of shorter steps ends is rarely predicted.
pub(super) const STRIDE: usize = 2 * WIDE;

/// With so many bytes to scribble over behind the output, no copy of a match needs care.
pub(crate) const SLACK: usize = 4 * WIDE;

/// The longest match that a single load can copy.
#[cfg(any(test, target_arch = "x86_64"))]
pub(super) const WORD: usize = size_of::<u64>();

/// The longest match that counts as short: what a token of LZ4 alone can tell.
pub(super) const SHORT: usize = STEP + 2;

/// Copies one step.
///
/// # Safety
/// `src` must be readable and `dest` writable for [`STEP`] bytes. They may overlap: all is read first.
#[inline(always)]
pub(super) unsafe fn copy_step(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller vouches for both places.
    unsafe {
        // As one integer, since the compiler moves arrays through the stack.
        let bytes: u128 = ptr::read_unaligned(src.cast());
        ptr::write_unaligned(dest.cast(), bytes);
    }
}

/// A way to copy literals and matches.
pub(super) trait Copier {
    /// Copies [`WIDE`] bytes.
    ///
    /// # Safety
    /// `src` must be readable and `dest` writable for them. They may overlap: all is read first.
    unsafe fn copy_literals(src: *const u8, dest: *mut u8);

    /// Copies `len` bytes in whole strides.
    ///
    /// # Safety
    /// `src` must be readable and `dest` writable for `len` bytes rounded up to a multiple of [`STRIDE`]. They must not
    /// overlap.
    #[inline(always)]
    unsafe fn copy_strides(src: *const u8, dest: *mut u8, len: usize) {
        let mut done = 0;
        while done < len {
            // SAFETY: `done` is a multiple of STRIDE below `len`.
            unsafe {
                Self::copy_literals(src.add(done), dest.add(done));
                Self::copy_literals(src.add(done + WIDE), dest.add(done + WIDE));
            }
            done += STRIDE;
        }
    }

    /// Copies `len` bytes to `out` from `distance` bytes before it, as if byte by byte: where the match overlaps
    /// itself, the `distance` bytes before `out` repeat. A distance of 0 writes zeros. May also change the
    /// `room - len` bytes behind the match.
    ///
    /// # Safety
    /// The `distance` bytes before `out` are readable, `room` bytes from `out` on are readable and writable, in the
    /// same allocation, and `len <= room`.
    unsafe fn copy_match(out: *mut u8, distance: usize, len: usize, room: usize);

    /// [`copy_match`](Self::copy_match) for any length up to 8, without knowing which. May change [`WIDE`] bytes from
    /// `out` on.
    ///
    /// # Safety
    /// The `distance` bytes before `out` are readable, and [`WIDE`] bytes from `out` on are readable and writable, in
    /// the same allocation.
    #[inline(always)]
    unsafe fn copy_word(out: *mut u8, distance: usize) {
        // SAFETY: passed on.
        unsafe { Self::copy_match(out, distance, WIDE, WIDE) }
    }

    /// [`copy_match`](Self::copy_match) for a length up to [`SHORT`], where the match often reads what the one before
    /// it wrote. May change [`WIDE`] bytes from `out` on.
    ///
    /// # Safety
    /// As for [`copy_word`](Self::copy_word), and `len <= SHORT`.
    #[inline(always)]
    unsafe fn copy_words(out: *mut u8, distance: usize, len: usize) {
        debug_assert!(len <= SHORT);
        // SAFETY: passed on.
        unsafe { Self::copy_match(out, distance, WIDE, WIDE) }
    }
}

/// Copies matches on any machine, and right up to the end of the room.
pub(super) struct Portable;

impl Copier for Portable {
    #[inline(always)]
    unsafe fn copy_literals(src: *const u8, dest: *mut u8) {
        // SAFETY: both steps are among the bytes the caller vouches for.
        unsafe {
            let low: u128 = ptr::read_unaligned(src.cast());
            let high: u128 = ptr::read_unaligned(src.add(STEP).cast());
            ptr::write_unaligned(dest.cast(), low);
            ptr::write_unaligned(dest.add(STEP).cast(), high);
        }
    }

    #[inline(always)]
    unsafe fn copy_match(out: *mut u8, distance: usize, len: usize, room: usize) {
        // SAFETY: passed on.
        unsafe {
            if distance >= STEP {
                copy_far(out, distance, len, room);
            } else {
                copy_pattern(out, distance, len, room);
            }
        }
    }
}

/// [`Copier::copy_match`] for distances of a step and more: no step overlaps itself.
///
/// # Safety
/// As there, and `distance >= STEP`.
#[inline(always)]
unsafe fn copy_far(out: *mut u8, distance: usize, len: usize, room: usize) {
    // SAFETY: a step is written only where `done + STEP <= room`; what it reads lies `distance >= STEP` bytes
    // before and so is written already. The rest is shorter than a step and so than the distance.
    unsafe {
        let from = out.sub(distance);
        let mut done = 0;
        while done < len && done + STEP <= room {
            copy_step(from.add(done), out.add(done));
            done += STEP;
        }
        if done < len {
            ptr::copy_nonoverlapping(from.add(done), out.add(done), len - done);
        }
    }
}

/// [`Copier::copy_match`] for distances below a step.
///
/// # Safety
/// As there, and `distance < STEP`.
#[inline(always)]
unsafe fn copy_pattern(out: *mut u8, distance: usize, len: usize, room: usize) {
    // SAFETY: reads the `distance` bytes before `out` and, only where `room` has them, bytes behind; writes a step
    // only where `done + STEP <= room`, and the rest, shorter than a step, byte by byte or from the pattern.
    unsafe {
        let from = out.sub(distance);
        if room < STEP {
            for done in 0..len {
                *out.add(done) = if distance == 0 { 0 } else { *from.add(done) };
            }
            return;
        }
        let bytes: u128 = ptr::read_unaligned(from.cast());
        let pattern = spread(u128::from_le(bytes), distance).to_le();
        let period = STEP - STEP.checked_rem(distance).unwrap_or(0);
        let mut done = 0;
        while done < len && done + STEP <= room {
            ptr::write_unaligned(out.add(done).cast(), pattern);
            done += period;
        }
        if done < len {
            let pattern = pattern.to_ne_bytes();
            ptr::copy_nonoverlapping(pattern.as_ptr(), out.add(done), len - done);
        }
    }
}

/// The first `distance` bytes of a little-endian step, repeated over the whole step; zeros for distance 0.
#[inline(always)]
fn spread(bytes: u128, distance: usize) -> u128 {
    let mut bits = 8 * distance as u32;
    if bits == 0 {
        return 0;
    }
    let mut pattern = bytes & ((1 << bits) - 1);
    while bits < u128::BITS {
        pattern |= pattern << bits;
        bits *= 2;
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is there after a match at `at`.
    fn matched(start: &[u8], at: usize, distance: usize, len: usize) -> Vec<u8> {
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
                for room in (len..len + 40).chain([len + 127, len + 128, len + 140]) {
                    let start: Vec<u8> =
                        (0..BEFORE + room + 8).map(|i| (i * 7 + 3) as u8).collect();
                    let expected = matched(&start, BEFORE, distance, len);
                    let mut found = start.clone();
                    // SAFETY: `BEFORE >= distance` bytes before, more than `room` behind.
                    unsafe { M::copy_match(found.as_mut_ptr().add(BEFORE), distance, len, room) };
                    assert_eq!(found[..BEFORE + len], expected[..BEFORE + len]);
                    assert_eq!(found[BEFORE + room..], start[BEFORE + room..]);
                }
            }
        }
    }

    fn check_words<M: Copier>() {
        const BEFORE: usize = 70;
        let start: Vec<u8> = (0..BEFORE + WIDE + 8).map(|i| (i * 7 + 3) as u8).collect();
        for distance in 0..=BEFORE {
            for len in 1..=SHORT {
                let expected = matched(&start, BEFORE, distance, len);
                let verify = |found: &[u8]| {
                    assert_eq!(
                        found[..BEFORE + len],
                        expected[..BEFORE + len],
                        "{len} from {distance}"
                    );
                    assert_eq!(found[BEFORE + WIDE..], start[BEFORE + WIDE..]);
                };
                let mut found = start.clone();
                // SAFETY: `BEFORE >= distance` bytes before, more than WIDE behind.
                unsafe { M::copy_words(found.as_mut_ptr().add(BEFORE), distance, len) };
                verify(&found);
                if len <= WORD {
                    found.clone_from(&start);
                    // SAFETY: as before.
                    unsafe { M::copy_word(found.as_mut_ptr().add(BEFORE), distance) };
                    verify(&found);
                }
            }
        }
    }

    #[test]
    fn a_short_match_repeats_its_distance_and_stays_in_its_room() {
        check_words::<Portable>();
    }

    #[test]
    fn a_match_repeats_its_distance_and_stays_in_its_room() {
        check::<Portable>();
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_match_copied_with_avx2_does_the_same() {
        #[target_feature(enable = "avx2")]
        fn compiled_for_it() {
            check::<Avx2>();
            check_words::<Avx2>();
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: just detected.
            unsafe { compiled_for_it() };
        }
    }
}
