//! The copies LZ decoders are made of: short ones in whole words that may scribble past their end, and
//! matches that overlap what they write.
//!
//! Everything here moves fixed-size blocks, because a copy of 16 bytes is one load and one store while a
//! copy of 5 is a call. Callers prove that there is room for the scribbling.

use std::ptr;

/// The size of one step of the copies.
pub(super) const STEP: usize = 16;

/// Copies 16 bytes.
///
/// # Safety
/// `src` must be readable and `dest` writable for 16 bytes. They may overlap: all 16 are read first.
#[inline(always)]
pub(super) unsafe fn copy_step(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller vouches for both places.
    unsafe {
        let bytes: [u8; STEP] = ptr::read_unaligned(src.cast());
        ptr::write_unaligned(dest.cast(), bytes);
    }
}

/// Copies `len` bytes to `out` from `distance` bytes before it, as if byte by byte: where the match overlaps
/// itself the last `distance` bytes repeat. May also change the `room - len` bytes behind the match.
///
/// # Safety
/// `1 <= distance`, the `distance` bytes before `out` are readable, `room` bytes from `out` on are writable
/// and initialised, in the same allocation, and `len <= room`.
#[inline(always)]
pub(super) unsafe fn copy_match(out: *mut u8, distance: usize, len: usize, room: usize) {
    // SAFETY: passed on.
    unsafe {
        if distance >= STEP {
            copy_far(out, distance, len, room);
        } else {
            copy_pattern(out, distance, len, room);
        }
    }
}

/// [`copy_match`] for a distance of at least one step: no step overlaps itself.
///
/// # Safety
/// As [`copy_match`], and `distance >= STEP`.
#[inline(always)]
unsafe fn copy_far(out: *mut u8, distance: usize, len: usize, room: usize) {
    // SAFETY: every step starts at `done < len`. Writing it needs `done + STEP <= room`, which the loops check;
    // what it reads lies `distance >= STEP` bytes before and so is written already.
    unsafe {
        let from = out.sub(distance);
        let mut done = 0;
        if len.next_multiple_of(STEP) <= room {
            while done < len {
                copy_step(from.add(done), out.add(done));
                done += STEP;
            }
            return;
        }
        while done + STEP <= len {
            copy_step(from.add(done), out.add(done));
            done += STEP;
        }
        ptr::copy_nonoverlapping(from.add(done), out.add(done), len - done);
    }
}

/// [`copy_match`] for distances below one step: the repeating bytes are spread over a register once, then only
/// stored, each time a whole number of periods further on. (Reading back what was just written in other
/// portions would stall.)
///
/// # Safety
/// As [`copy_match`], and `distance < STEP`.
#[inline(always)]
unsafe fn copy_pattern(out: *mut u8, distance: usize, len: usize, room: usize) {
    // SAFETY: reads the `distance` bytes before `out` and, only where `room` has them, the bytes behind; writes
    // a step only at `done + STEP <= room`.
    unsafe {
        let from = out.sub(distance);
        if room < STEP {
            for done in 0..len {
                *out.add(done) = *from.add(done);
            }
            return;
        }
        let pattern = spread(ptr::read_unaligned(from.cast()), distance);
        let period = STEP - STEP % distance;
        let mut done = 0;
        while done < len && done + STEP <= room {
            ptr::write_unaligned(out.add(done).cast(), pattern);
            done += period;
        }
        if done < len {
            ptr::copy_nonoverlapping(pattern.as_ptr(), out.add(done), len - done);
        }
    }
}

/// The first `distance` bytes of `bytes`, repeated over the whole array.
#[inline(always)]
fn spread(bytes: [u8; STEP], distance: usize) -> [u8; STEP] {
    let mut bits = 8 * distance as u32;
    let mut pattern = u128::from_le_bytes(bytes) & ((1u128 << bits) - 1);
    while bits < u128::BITS {
        pattern |= pattern << bits;
        bits *= 2;
    }
    pattern.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_repeats_its_distance_and_stays_in_its_room() {
        const BEFORE: usize = 80;
        for distance in 1..=BEFORE {
            for len in 1..100 {
                for room in len..len + 40 {
                    let start: Vec<u8> =
                        (0..BEFORE + room + 8).map(|i| (i * 7 + 3) as u8).collect();
                    let mut expected = start.clone();
                    for i in BEFORE..BEFORE + len {
                        expected[i] = expected[i - distance];
                    }
                    let mut found = start.clone();
                    // SAFETY: `BEFORE >= distance` bytes before, more than `room` behind.
                    unsafe { copy_match(found.as_mut_ptr().add(BEFORE), distance, len, room) };
                    assert_eq!(found[..BEFORE + len], expected[..BEFORE + len]);
                    assert_eq!(found[BEFORE + room..], start[BEFORE + room..]);
                }
            }
        }
    }
}
