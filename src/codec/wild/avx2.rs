//! Copies with AVX2.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_extract_epi64, _mm_loadu_si128, _mm_storeu_si128,
    _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_storeu_si256,
};

use std::hint::select_unpredictable;
use std::ptr;

use super::{Copier, Portable, SLACK, STEP, WIDE, WORD, copy_step};

/// Copies with AVX2. To be used only inside functions compiled for it.
pub(in super::super) struct Avx2;

/// How many bytes behind a match may be scribbled over. Long matches are copied this much at a time, since where a loop
/// of short steps ends is rarely predicted.
const REACH: usize = SLACK;

/// What was stored this many bytes ago has reached the cache, more or less.
const FORGOTTEN: usize = 512;

/// Bytes that were never written, so that loading them waits for nothing.
const ELSEWHERE: &[u8; STEP] = &[0; STEP];

/// For each distance below a step: which byte of the distance stands where in 32 repeating bytes. The row of distance 0
/// makes zeros. (Constants, as a shared library would look up the place of a static each time.)
const SPREAD: &[[u8; WIDE]; STEP] = &{
    let mut rows = [[0x80; WIDE]; STEP];
    let mut distance = 1;
    while distance < STEP {
        let mut i = 0;
        while i < WIDE {
            rows[distance][i] = (i % distance) as u8;
            i += 1;
        }
        distance += 1;
    }
    rows
};

/// For each distance below a step, its largest multiple in 32 bytes.
const PERIOD: &[u8; STEP] = &{
    let mut periods = [WIDE as u8; STEP];
    let mut distance = 1;
    while distance < STEP {
        periods[distance] = (WIDE - WIDE % distance) as u8;
        distance += 1;
    }
    periods
};

impl Copier for Avx2 {
    /// In one store, because a match behind the literals loads some of them and what is behind, and gets these at once
    /// only if they come from one store.
    #[inline(always)]
    unsafe fn copy_literals(src: *const u8, dest: *mut u8) {
        // SAFETY: passed on.
        unsafe { copy_wide(src, dest) }
    }

    #[inline(always)]
    unsafe fn copy_match(out: *mut u8, distance: usize, len: usize, room: usize) {
        // SAFETY: passed on.
        unsafe {
            if room < len + REACH {
                copy_at_the_end(out, distance, len, room);
            } else if distance < STEP {
                copy_pattern(out, distance, len);
            } else {
                copy_far(out, distance, len);
            }
        }
    }

    #[inline(always)]
    unsafe fn copy_word(out: *mut u8, distance: usize) {
        // SAFETY: both ways write no more than WIDE bytes; a word from a distance of a word or more on lies before
        // `out`, where `distance` bytes are readable.
        unsafe {
            if distance < WORD {
                _mm256_storeu_si256(out.cast(), pattern(out, distance));
            } else {
                copy_as::<u64>(out.sub(distance).cast_const(), out);
            }
        }
    }

    /// A load gets at once what is still on its way to the cache only if that comes from one store, and a narrow load
    /// more often does. The stores behind the first wait for loads of their own, so where the first word is all there
    /// is to copy, the others are loaded from elsewhere; without a branch, as nobody could predict it in text.
    #[inline(always)]
    unsafe fn copy_words(out: *mut u8, distance: usize, len: usize) {
        // SAFETY: passed on; both ways write no more than WIDE bytes, and from a distance of a word on each word that
        // is read was written before it.
        unsafe {
            if distance < WORD {
                _mm256_storeu_si256(out.cast(), pattern(out, distance));
                return;
            }
            let from = out.sub(distance).cast_const();
            copy_as::<u64>(from, out);
            let more = select_unpredictable(len > WORD, from.add(WORD), ELSEWHERE.as_ptr());
            copy_as::<u64>(more, out.add(WORD));
            copy_as::<u16>(more.add(WORD), out.add(STEP));
        }
    }
}

/// [`Copier::copy_match`] where less than REACH is left behind the match. Out of line, since that happens once or twice a
/// stream. But streams may be short, and the last match most of them, so a repeating pattern stays in a register here too,
/// and of a far match that is long only the end is copied with care.
///
/// # Safety
/// As there, the CPU has AVX2, and `room < len + REACH`.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn copy_at_the_end(out: *mut u8, distance: usize, len: usize, room: usize) {
    // SAFETY: passed on, a distance below a step with a step of room. Where there is more than that, the distance is a step
    // or more; the first part is shorter than the match, since `room < len + REACH`, and ends REACH bytes before the room
    // does; the rest has as many bytes before it, and what is left of the room.
    unsafe {
        if distance < STEP && room >= STEP {
            return copy_pattern_within(out, distance, len, room);
        }
        let mut quick = 0;
        if room >= 2 * REACH {
            quick = room - REACH;
            copy_far(out, distance, quick);
        }
        Portable::copy_match(out.add(quick), distance, len - quick, room - quick);
    }
}

/// Copies 32 bytes.
///
/// # Safety
/// `src` must be readable and `dest` writable for them. They may overlap: all is read first.
#[inline(always)]
unsafe fn copy_wide(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller vouches for both places.
    unsafe { _mm256_storeu_si256(dest.cast(), _mm256_loadu_si256(src.cast())) }
}

/// Copies one value.
///
/// # Safety
/// `src` must be readable and `dest` writable for it.
#[inline(always)]
unsafe fn copy_as<T>(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller vouches for both places.
    unsafe { ptr::write_unaligned(dest.cast::<T>(), ptr::read_unaligned(src.cast::<T>())) }
}

/// The bytes of a distance below a step, repeated.
///
/// # Safety
/// The `distance` bytes before `out` are readable, and a step from `out` on is.
#[inline(always)]
unsafe fn pattern(out: *const u8, distance: usize) -> __m256i {
    // SAFETY: the load reads the distance and at most a step behind; the table has a row for each distance.
    unsafe {
        let bytes = _mm_loadu_si128(out.sub(distance).cast());
        let row = _mm256_loadu_si256(SPREAD.as_ptr().add(distance).cast());
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), row)
    }
}

/// [`pattern`] where a wait for the bytes counts: a run often follows one or two literals, and the last of them alone can
/// be loaded before they are in the cache.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn pattern_of_run(out: *const u8, distance: usize) -> __m256i {
    // SAFETY: passed on.
    unsafe {
        match distance {
            1 => _mm256_set1_epi8(*out.sub(1) as i8),
            _ => pattern(out, distance),
        }
    }
}

/// Copies a match of a distance below a step.
///
/// # Safety
/// As [`Copier::copy_match`], and a room of `len + REACH`.
#[inline(always)]
unsafe fn copy_pattern(out: *mut u8, distance: usize, len: usize) {
    // SAFETY: each row of four stores begins inside the match and spans at most REACH.
    unsafe {
        let pattern = pattern_of_run(out, distance);
        let period = usize::from(PERIOD[distance]);
        let mut done = 0;
        while done < len {
            let out = out.add(done);
            _mm256_storeu_si256(out.cast(), pattern);
            _mm256_storeu_si256(out.add(period).cast(), pattern);
            _mm256_storeu_si256(out.add(2 * period).cast(), pattern);
            _mm256_storeu_si256(out.add(3 * period).cast(), pattern);
            done += 4 * period;
        }
    }
}

/// Copies a match of a distance below a step, and writes nothing behind the room.
///
/// # Safety
/// As [`Copier::copy_match`], and `room >= STEP`.
#[inline(always)]
unsafe fn copy_pattern_within(out: *mut u8, distance: usize, len: usize, room: usize) {
    // SAFETY: the room has the step that the pattern is read from; each store of more than a byte is preceded by a look at
    // what is left of the room, and single bytes are written before `len`, which is no more than the room. The tables have
    // a row for each distance below a step.
    unsafe {
        let pattern = pattern_of_run(out, distance);
        let period = usize::from(PERIOD[distance]);
        let mut done = 0;
        while done < len && room - done >= WIDE {
            _mm256_storeu_si256(out.add(done).cast(), pattern);
            done += period;
        }
        if done >= len {
            return;
        }
        let mut step = _mm256_castsi256_si128(pattern);
        if room - done >= STEP {
            _mm_storeu_si128(out.add(done).cast(), step);
            done += STEP;
            step = _mm256_extracti128_si256(pattern, 1);
        }
        let mut word = _mm_cvtsi128_si64(step);
        if done < len && room - done >= WORD {
            ptr::write_unaligned(out.add(done).cast(), word);
            done += WORD;
            word = _mm_extract_epi64(step, 1);
        }
        while done < len {
            *out.add(done) = word as u8;
            word >>= u8::BITS;
            done += 1;
        }
    }
}

/// Copies a match of a distance of at least a step.
///
/// # Safety
/// As [`Copier::copy_match`], and a room of `len + REACH`.
#[inline(always)]
unsafe fn copy_far(out: *mut u8, distance: usize, len: usize) {
    // SAFETY: reads begin and writes begin inside the match or the distance before it, and span at most REACH.
    unsafe {
        let from = out.sub(distance);
        copy_step(from, out);
        copy_step(from.add(STEP), out.add(STEP));
        if len <= WIDE {
            return;
        }
        if distance >= len {
            copy_long(from, out, len);
            return;
        }
        // What lies from `from` to the first byte not yet written repeats. So copy that, and have twice as much, until
        // what is copied was written so long ago that waiting for it is over. What is read beyond that is only
        // scribbled, and written again by the next round.
        let mut done = 0;
        while done < len {
            let ready = distance + done;
            let rest = len - done;
            let part = if ready >= FORGOTTEN {
                rest
            } else {
                ready.min(rest)
            };
            copy_long(from, out.add(done), part);
            done += part;
        }
    }
}

/// Copies `len` bytes, in steps of twice 32 bytes.
///
/// # Safety
/// `src` must be readable and `dest` writable for `len` and as many bytes behind as REACH. They may overlap: what one step
/// writes a later one may read.
#[inline(always)]
unsafe fn copy_long(src: *const u8, dest: *mut u8, len: usize) {
    let mut done = 0;
    while done < len {
        // SAFETY: each step begins inside, and spans half of REACH.
        unsafe {
            copy_wide(src.add(done), dest.add(done));
            copy_wide(src.add(done + WIDE), dest.add(done + WIDE));
        }
        done += 2 * WIDE;
    }
}
