//! The BloscLZ encoder. Its output is byte-identical to that of BloscLZ 2.5.3, or 2.5.1 for Blosc
//! 1.x chunks ([`Version`]), so compressed sizes never differ.
//!
//! It runs one match finder (`search.rs`) in two passes. The *probe* scans a portion of the input
//! and only counts the output bytes. If the estimated ratio is too low for the level, the encoder
//! stops and the stream is stored raw. Otherwise the second pass writes the stream.

mod search;
mod table;

use search::{REDUCED, Sink, search};
use table::{Index, Slot, Table};

use super::super::wildcopy::{STEP, copy_step};
use super::limits::{FAR, LONG, MAX_RUN};
use crate::Result;

/// The parameters of a compression level.
struct LevelParams {
    hash_bits: u32,
    /// The probe scans the last `1 / scan_divisor` of the input.
    scan_divisor: usize,
    /// The minimum estimated ratio of input to output bytes.
    min_ratio: f64,
    /// Whether the position after the last indexed position of a match is indexed too.
    second_index: bool,
}

const fn level(hash_bits: u32, scan_divisor: usize, min_ratio: f64) -> LevelParams {
    LevelParams { hash_bits, scan_divisor, min_ratio, second_index: false }
}

/// The parameters of levels `1..=9`.
static LEVELS: [LevelParams; 9] = [
    level(12, 8, 2.0),
    level(13, 4, 1.5),
    level(14, 4, 1.2),
    level(14, 2, 1.2),
    level(14, 2, 1.2),
    level(14, 2, 1.2),
    level(14, 1, 1.15),
    level(14, 1, 1.1),
    LevelParams { second_index: true, ..level(14, 1, 1.0) },
];

/// The BloscLZ version whose output is written.
#[derive(Clone, Copy)]
pub(super) enum Version {
    /// BloscLZ 2.5.3, of C-Blosc2.
    Current,
    /// BloscLZ 2.5.1, of C-Blosc 1.21. It accepts shorter matches, except in split blocks that
    /// compress well.
    Blosc1 { split: bool },
}

/// The probe's hash bits and divisor for [`Version::Blosc1`], at all levels.
const BLOSC1_PROBE_BITS: u32 = 12;
const BLOSC1_PROBE_DIVISOR: usize = 4;
/// The ratio from which split blocks are written without short matches.
const BLOSC1_LONG_RATIO: f64 = 4.0;

/// The backoff, which is also the minimum reduced length: with and without short matches.
const SHORT: usize = 3;
const LONG_ONLY: usize = 4;

/// The minimum input in bytes; shorter inputs are never compressed.
const MIN_INPUT: usize = 16;
/// The minimum output buffer in bytes; smaller ones are never used.
const MIN_OUTPUT: usize = 66;
/// The number of initial bytes that are always literals and not indexed.
const HEAD_LITERALS: usize = 4;
/// The probe's initial byte count and literal run length.
const PROBE_INITIAL_COUNT: usize = 5;
const PROBE_INITIAL_RUN: usize = 4;

/// The encoder's hash tables. `near` has small entries, for positions below 64 KiB: all probes and
/// most streams.
#[derive(Default)]
pub(super) struct Encoder {
    near: Table<u16>,
    wide: Table<u32>,
}

impl Encoder {
    /// Encodes `src` into `dest` and returns the length of the stream, or 0 if it does not compress
    /// well enough or does not fit. A stream as long as `dest` counts as not fitting.
    pub(super) fn encode(
        &mut self,
        version: Version,
        level: u8,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let Some(params) = LEVELS.get(usize::from(level).wrapping_sub(1)) else {
            return Ok(0);
        };
        if src.len() < MIN_INPUT || dest.len() < MIN_OUTPUT {
            return Ok(0);
        }
        let estimate = match version {
            Version::Current => self.probe::<LONG_ONLY>(src, params.hash_bits, params.scan_divisor),
            Version::Blosc1 { .. } => {
                self.probe::<SHORT>(src, BLOSC1_PROBE_BITS, BLOSC1_PROBE_DIVISOR)
            }
        }?;
        if estimate.ratio < params.min_ratio {
            return Ok(0);
        }
        let accepts_short = match version {
            Version::Current => false,
            Version::Blosc1 { split } => !split || estimate.ratio < BLOSC1_LONG_RATIO,
        };
        match (accepts_short, estimate.is_steady) {
            (true, true) => self.write::<SHORT, true>(params, src, dest),
            (true, false) => self.write::<SHORT, false>(params, src, dest),
            (false, true) => self.write::<LONG_ONLY, true>(params, src, dest),
            (false, false) => self.write::<LONG_ONLY, false>(params, src, dest),
        }
    }

    /// Estimates the compression ratio from the last `1 / divisor` of the input.
    fn probe<const BACKOFF: usize>(
        &mut self,
        src: &[u8],
        hash_bits: u32,
        divisor: usize,
    ) -> Result<Estimate> {
        let scan_len = src.len() / divisor;
        let scanned = &src[src.len() - scan_len..][..scan_len.min(1 << hash_bits)];
        let mut probe = Probe::<BACKOFF> {
            counted: PROBE_INITIAL_COUNT,
            run: PROBE_INITIAL_RUN,
            anchor: 0,
            matches: 0,
            repeats: 0,
            last: 0,
        };
        let (len, table) = (scanned.len(), &mut self.near);
        let stop = if Table::<u16>::clearing_pays(len, hash_bits) {
            let index = table.cleared(len, hash_bits)?;
            search(scanned, 0, index, false, &mut probe)
        } else {
            let index = table.with_base(len, hash_bits)?;
            search(scanned, 0, index, false, &mut probe)
        };
        let Some(stop) = stop else {
            return Ok(Estimate::default());
        };
        probe.literals(stop);
        Ok(Estimate {
            ratio: stop as f64 / probe.counted as f64,
            is_steady: probe.repeats * STEADY_FRACTION > probe.matches * (STEADY_FRACTION - 1),
        })
    }

    /// Runs the second pass, which writes the stream.
    fn write<const BACKOFF: usize, const STEADY: bool>(
        &mut self,
        params: &LevelParams,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let (len, hash_bits) = (src.len(), params.hash_bits);
        let written = if len > u16::LIMIT {
            let index = self.wide.cleared(len, hash_bits)?;
            write::<BACKOFF, STEADY, _, _>(index, params, src, dest)
        } else if Table::<u16>::clearing_pays(len, hash_bits) {
            let index = self.near.cleared(len, hash_bits)?;
            write::<BACKOFF, STEADY, _, _>(index, params, src, dest)
        } else {
            let index = self.near.with_base(len, hash_bits)?;
            write::<BACKOFF, false, _, _>(index, params, src, dest)
        };
        Ok(written)
    }
}

/// The size of the longest run with its control byte, and of a near match with at most one length
/// byte.
const USUAL_OUTPUT: usize = 1 + MAX_RUN + 3;
const _: () = assert!(MAX_RUN == 2 * STEP);

fn write<const BACKOFF: usize, const STEADY: bool, S: Slot, const BASED: bool>(
    index: Index<'_, S, BASED>,
    params: &LevelParams,
    src: &[u8],
    dest: &mut [u8],
) -> usize {
    let mut writer = Writer::<BACKOFF, STEADY> { src, dest, written: 0, anchor: 0 };
    let fits = search(src, HEAD_LITERALS, index, params.second_index, &mut writer).is_some()
        && writer.literals(src.len());
    if !fits || writer.written >= writer.dest.len() {
        return 0;
    }
    writer.dest[0] |= MAX_RUN as u8;
    writer.written
}

/// Counts the bytes that [`Writer`] would write, with the reference's approximations.
struct Probe<const BACKOFF: usize> {
    counted: usize,
    /// The length of the current literal run.
    run: usize,
    /// The position of the first byte not yet counted.
    anchor: usize,
    matches: usize,
    /// The number of matches of the same length as the previous one.
    repeats: usize,
    /// The reduced length of the previous match.
    last: usize,
}

#[derive(Default)]
struct Estimate {
    /// Scanned bytes divided by counted bytes.
    ratio: f64,
    /// Whether more than three in four matches have the length of the previous one.
    is_steady: bool,
}

/// Lengths are steady if less than one match in `STEADY_FRACTION` differs from the previous one.
const STEADY_FRACTION: usize = 4;

impl<const BACKOFF: usize> Probe<BACKOFF> {
    /// Counts the literals up to position `end`.
    fn literals(&mut self, end: usize) {
        let count = end - self.anchor;
        let run = self.run + count;
        self.counted += count + run / MAX_RUN;
        self.run = run % MAX_RUN;
    }
}

impl<const BACKOFF: usize> Sink for Probe<BACKOFF> {
    const BACKOFF: usize = BACKOFF;
    const STRICT_FAR: bool = false;
    const STEADY: bool = false;

    #[inline(always)]
    fn on_match(&mut self, at: usize, reduced: usize, distance: usize) -> bool {
        self.literals(at);
        // An empty run was counted with its control byte, which the match reuses. The control byte
        // of the run after the match is counted in advance.
        self.counted -= usize::from(self.run == 0);
        self.counted += match_len(reduced, distance) + 1;
        self.run = 0;
        self.anchor = at + reduced + REDUCED;
        self.matches += 1;
        self.repeats += usize::from(reduced == self.last);
        self.last = reduced;
        true
    }
}

/// Returns the encoded size of a match in bytes.
#[inline(always)]
fn match_len(reduced: usize, distance: usize) -> usize {
    let reach = if distance >= FAR { 4 } else { 2 };
    if reduced < LONG { reach } else { reach + (reduced - LONG) / 255 + 1 }
}

struct Writer<'a, const BACKOFF: usize, const STEADY: bool> {
    src: &'a [u8],
    dest: &'a mut [u8],
    written: usize,
    /// The position of the first byte not yet written.
    anchor: usize,
}

impl<const BACKOFF: usize, const STEADY: bool> Writer<'_, BACKOFF, STEADY> {
    /// Writes the literals up to position `end` in runs. Returns whether they fit.
    #[inline(always)]
    fn literals(&mut self, end: usize) -> bool {
        let count = end - self.anchor;
        if self.dest.len() - self.written < count + count.div_ceil(MAX_RUN) {
            return false;
        }
        while self.anchor < end {
            let len = (end - self.anchor).min(MAX_RUN);
            self.dest[self.written] = (len - 1) as u8;
            self.written += 1;
            self.copy_run(len);
        }
        true
    }

    /// Copies a run of at most [`MAX_RUN`] bytes from `anchor`.
    #[inline(always)]
    fn copy_run(&mut self, len: usize) {
        let (from, to) = (self.anchor, self.written);
        if from + MAX_RUN <= self.src.len() && to + MAX_RUN <= self.dest.len() {
            // SAFETY: both sides have MAX_RUN bytes, which is two steps, as just checked.
            unsafe {
                let src = self.src.as_ptr().add(from);
                let dest = self.dest.as_mut_ptr().add(to);
                copy_step(src, dest);
                copy_step(src.add(STEP), dest.add(STEP));
            }
        } else {
            self.dest[to..to + len].copy_from_slice(&self.src[from..from + len]);
        }
        self.anchor += len;
        self.written += len;
    }

    #[inline(always)]
    fn byte(&mut self, byte: usize) {
        self.dest[self.written] = byte as u8;
        self.written += 1;
    }
}

impl<const BACKOFF: usize, const STEADY: bool> Writer<'_, BACKOFF, STEADY> {
    /// Writes the preceding literals and a match of any form. Returns whether they fit.
    #[inline(never)]
    fn write_match(&mut self, at: usize, reduced: usize, distance: usize) -> bool {
        if !self.literals(at) || self.dest.len() - self.written < match_len(reduced, distance) {
            return false;
        }
        let far = distance >= FAR;
        let reach = if far { FAR - 1 } else { distance - 1 };
        self.byte(reduced.min(LONG) << 5 | reach >> 8);
        if reduced >= LONG {
            let mut rest = reduced - LONG;
            while rest >= 255 {
                self.byte(255);
                rest -= 255;
            }
            self.byte(rest);
        }
        self.byte(reach & 255);
        if far {
            self.byte((distance - FAR) >> 8);
            self.byte((distance - FAR) & 255);
        }
        true
    }
}

impl<const BACKOFF: usize, const STEADY: bool> Sink for Writer<'_, BACKOFF, STEADY> {
    const BACKOFF: usize = BACKOFF;
    const STRICT_FAR: bool = true;
    const STEADY: bool = STEADY;

    #[inline(always)]
    fn on_match(&mut self, at: usize, reduced: usize, distance: usize) -> bool {
        let literals = at - self.anchor;
        let is_usual = literals <= MAX_RUN && distance < FAR && reduced < LONG + 255;
        if is_usual
            && self.anchor + MAX_RUN <= self.src.len()
            && self.written + USUAL_OUTPUT <= self.dest.len()
        {
            // SAFETY: `src` has MAX_RUN bytes (two steps) from `anchor`. `dest` has USUAL_OUTPUT
            // bytes left: a control byte with two steps, or with up to MAX_RUN literals and the 3
            // bytes of a match.
            unsafe {
                let start = self.dest.as_mut_ptr();
                let mut to = start.add(self.written);
                if literals > 0 {
                    let src = self.src.as_ptr().add(self.anchor);
                    *to = (literals - 1) as u8;
                    copy_step(src, to.add(1));
                    copy_step(src.add(STEP), to.add(1 + STEP));
                    to = to.add(1 + literals);
                }
                let reach = distance - 1;
                *to = (reduced.min(LONG) << 5 | reach >> 8) as u8;
                if reduced >= LONG {
                    to = to.add(1);
                    *to = (reduced - LONG) as u8;
                }
                *to.add(1) = reach as u8;
                self.written = to.add(2).addr() - start.addr();
            }
        } else if !self.write_match(at, reduced, distance) {
            return false;
        }
        self.anchor = at + reduced + REDUCED;
        true
    }
}

#[cfg(test)]
mod tests;
