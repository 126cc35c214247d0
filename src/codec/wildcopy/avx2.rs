//! Copies with AVX2.

use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_extract_epi64, _mm_loadu_si128, _mm_storeu_si128,
    _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_set1_epi8, _mm256_shuffle_epi8, _mm256_storeu_si256,
};

use std::hint::select_unpredictable;
use std::ptr;

use super::{Copier, Portable, SLOP, STEP, WIDE, WORD, copy_step, periods};

/// Copies with AVX2. Must only be used in functions compiled for AVX2.
pub(in super::super) struct Avx2;

/// The number of bytes after a match that may be overwritten. Long matches are copied in iterations
/// of this size, since larger iterations mean fewer mispredicted loop exits.
const REACH: usize = SLOP;

/// The distance in bytes after which stores have usually left the store buffer.
const STORE_BUFFER_SPAN: usize = 512;

/// Bytes that are never written, so that loading them never waits for a store.
const NEVER_WRITTEN: &[u8; STEP] = &[0; STEP];

/// Shuffle masks that repeat the first `distance` bytes over 32 bytes, by distance below a step.
/// Distance 0 yields zeros. A constant, because a shared library looks up the address of a static
/// each time.
const REPEAT_MASKS: &[[u8; WIDE]; STEP] = &{
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

const PERIODS: &[u8; STEP] = &periods(WIDE);

impl Copier for Avx2 {
    /// Uses one store: a match after the literals often loads some of them and the bytes after
    /// them, and store forwarding needs these to come from one store.
    #[inline(always)]
    unsafe fn copy_literals(src: *const u8, dest: *mut u8) {
        // SAFETY: the caller's guarantees are passed on.
        unsafe { copy_wide(src, dest) }
    }

    #[inline(always)]
    unsafe fn copy_match(out: *mut u8, distance: usize, len: usize, capacity: usize) {
        // SAFETY: the caller's guarantees are passed on; each function is called with distances and
        // a capacity that it accepts.
        unsafe {
            if capacity < len + REACH {
                copy_near_end(out, distance, len, capacity);
            } else if distance < STEP {
                copy_pattern(out, distance, len);
            } else {
                copy_far(out, distance, len);
            }
        }
    }

    #[inline(always)]
    unsafe fn copy_up_to_8(out: *mut u8, distance: usize) {
        // SAFETY: both branches write at most WIDE bytes. A word loaded from a distance of at least
        // a word ends at or before `out`, and the `distance` bytes before `out` are readable.
        unsafe {
            if distance < WORD {
                _mm256_storeu_si256(out.cast(), pattern(out, distance));
            } else {
                copy_as::<u64>(out.sub(distance).cast_const(), out);
            }
        }
    }

    /// Copies the first word with a narrow load: store forwarding needs a load to be covered by a
    /// single store, which is more likely for a narrow load. Loads after the first word would also
    /// wait for earlier stores, so if the first word is the whole match, they read from another
    /// address. This is a select and not a branch, because match lengths in text are unpredictable.
    #[inline(always)]
    unsafe fn copy_short(out: *mut u8, distance: usize, len: usize) {
        // SAFETY: both branches write at most WIDE bytes. With a distance of at least a word, each
        // word is read from before the position it is written to: before `out`, or from output
        // already written. NEVER_WRITTEN has STEP bytes, and 10 are read from it.
        unsafe {
            if distance < WORD {
                _mm256_storeu_si256(out.cast(), pattern(out, distance));
                return;
            }
            let from = out.sub(distance).cast_const();
            copy_as::<u64>(from, out);
            let more = select_unpredictable(len > WORD, from.add(WORD), NEVER_WRITTEN.as_ptr());
            copy_as::<u64>(more, out.add(WORD));
            copy_as::<u16>(more.add(WORD), out.add(STEP));
        }
    }
}

/// Copies a match like [`Copier::copy_match`], with less than REACH bytes of capacity after the
/// match. Not inlined, since it runs once or twice per stream. The stream may be short, and its
/// last match may be most of the output. So the pattern of a short distance is kept in a register,
/// and only the end of a long far match is copied with bounds checks.
///
/// # Safety
/// The same conditions as for [`Copier::copy_match`]; the CPU has AVX2, and
/// `capacity < len + REACH`.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn copy_near_end(out: *mut u8, distance: usize, len: usize, capacity: usize) {
    // SAFETY: `copy_pattern_within` is called with a distance below a step and a capacity of at
    // least a step. If `capacity >= 2 * REACH`, then the distance is at least a step; `unchecked`
    // is shorter than the match, since `capacity < len + REACH`, and ends REACH bytes before the
    // end of the capacity. The remaining match has the same distance of readable bytes before it
    // and the remaining capacity.
    unsafe {
        if distance < STEP && capacity >= STEP {
            return copy_pattern_within(out, distance, len, capacity);
        }
        let mut unchecked = 0;
        if capacity >= 2 * REACH {
            unchecked = capacity - REACH;
            copy_far(out, distance, unchecked);
        }
        Portable::copy_match(out.add(unchecked), distance, len - unchecked, capacity - unchecked);
    }
}

/// Copies 32 bytes.
///
/// # Safety
/// `src` must be readable and `dest` writable for 32 bytes. They may overlap: everything is read
/// before anything is written.
#[inline(always)]
unsafe fn copy_wide(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller guarantees both ranges.
    unsafe { _mm256_storeu_si256(dest.cast(), _mm256_loadu_si256(src.cast())) }
}

/// Copies one value of type `T`, unaligned.
///
/// # Safety
/// `src` must be readable and `dest` writable for `size_of::<T>()` bytes.
#[inline(always)]
unsafe fn copy_as<T>(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller guarantees both ranges.
    unsafe { ptr::write_unaligned(dest.cast::<T>(), ptr::read_unaligned(src.cast::<T>())) }
}

/// Returns the last `distance` bytes before `out`, repeated over 32 bytes.
///
/// # Safety
/// `distance < STEP`; the `distance` bytes before `out` and [`STEP`] bytes from `out` must be
/// readable.
#[inline(always)]
unsafe fn pattern(out: *const u8, distance: usize) -> __m256i {
    // SAFETY: the load reads STEP bytes from `distance` bytes before `out`; the table has a row for
    // each distance below a step.
    unsafe {
        let bytes = _mm_loadu_si128(out.sub(distance).cast());
        let row = _mm256_loadu_si256(REPEAT_MASKS.as_ptr().add(distance).cast());
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), row)
    }
}

/// Returns [`pattern`], with less latency for runs: a run often follows one or two literals, and
/// only a load of the single last byte can be forwarded from their store.
///
/// # Safety
/// The same conditions as for [`pattern`].
#[inline(always)]
unsafe fn pattern_of_run(out: *const u8, distance: usize) -> __m256i {
    // SAFETY: the caller's guarantees are passed on; for distance 1, the byte before `out` is
    // readable.
    unsafe {
        match distance {
            1 => _mm256_set1_epi8(*out.sub(1) as i8),
            _ => pattern(out, distance),
        }
    }
}

/// Copies a match with a distance below a step.
///
/// # Safety
/// The same conditions as for [`Copier::copy_match`], with a capacity of at least `len + REACH`,
/// and `distance < STEP`.
#[inline(always)]
unsafe fn copy_pattern(out: *mut u8, distance: usize, len: usize) {
    // SAFETY: each group of four stores begins inside the match and spans at most REACH bytes.
    unsafe {
        let pattern = pattern_of_run(out, distance);
        let period = usize::from(PERIODS[distance]);
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

/// Copies a match with a distance below a step and writes nothing beyond `capacity`.
///
/// # Safety
/// The same conditions as for [`Copier::copy_match`], and `distance < STEP <= capacity`.
#[inline(always)]
unsafe fn copy_pattern_within(out: *mut u8, distance: usize, len: usize, capacity: usize) {
    // SAFETY: `capacity` has the step that the pattern is read from. Each store of more than one
    // byte follows a check of the remaining capacity, and single bytes are written only below
    // `len <= capacity`. The tables have a row for each distance below a step.
    unsafe {
        let pattern = pattern_of_run(out, distance);
        let period = usize::from(PERIODS[distance]);
        let mut done = 0;
        while done < len && capacity - done >= WIDE {
            _mm256_storeu_si256(out.add(done).cast(), pattern);
            done += period;
        }
        if done >= len {
            return;
        }
        let mut step = _mm256_castsi256_si128(pattern);
        if capacity - done >= STEP {
            _mm_storeu_si128(out.add(done).cast(), step);
            done += STEP;
            step = _mm256_extracti128_si256(pattern, 1);
        }
        let mut word = _mm_cvtsi128_si64(step);
        if done < len && capacity - done >= WORD {
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

/// Copies a match with a distance of at least a step.
///
/// # Safety
/// The same conditions as for [`Copier::copy_match`], with a capacity of at least `len + REACH`,
/// and `distance >= STEP`.
#[inline(always)]
unsafe fn copy_far(out: *mut u8, distance: usize, len: usize) {
    // SAFETY: reads and writes begin inside the match or the distance before it and span at most
    // REACH bytes.
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
        // The range from `from` to the first unwritten byte is periodic. Each round copies that
        // range, which doubles it, until its stores have left the store buffer. Bytes read beyond
        // it are arbitrary, and the next round overwrites them.
        let mut done = 0;
        while done < len {
            let periodic = distance + done;
            let rest = len - done;
            let round = if periodic >= STORE_BUFFER_SPAN { rest } else { periodic.min(rest) };
            copy_long(from, out.add(done), round);
            done += round;
        }
    }
}

/// Copies `len` bytes in steps of 64.
///
/// # Safety
/// `src` must be readable and `dest` writable for `len + REACH` bytes. They may overlap: a step may
/// read the output of an earlier one.
#[inline(always)]
unsafe fn copy_long(src: *const u8, dest: *mut u8, len: usize) {
    let mut done = 0;
    while done < len {
        // SAFETY: each step begins inside the `len` bytes and spans half of REACH.
        unsafe {
            copy_wide(src.add(done), dest.add(done));
            copy_wide(src.add(done + WIDE), dest.add(done + WIDE));
        }
        done += 2 * WIDE;
    }
}
