//! The BloscLZ encoder: writes the very bytes that BloscLZ 2.5.3 writes, so that sizes never differ; and for
//! chunks of Blosc 1.x those that 2.5.1 writes ([`Edition`]).
//!
//! It works in two passes over one match finder (`search.rs`). The *probe* runs the finder over a part
//! of the input and only counts what would be written; if that promises too little for the level, the
//! encoder gives up and the stream is stored raw. The second pass writes.

mod search;
mod table;

use search::{REDUCED, Sink, search};
use table::{Index, Slot, Table};

use super::super::wild::{STEP, copy_step};
use super::{FAR, LONG, MAX_RUN};
use crate::Result;

/// What a compression level decides.
struct Effort {
    hash_bits: u32,
    /// The probe looks at the last part of the input, of this fraction of its length.
    window_divisor: usize,
    /// The least ratio of probed to counted bytes worth encoding for.
    min_ratio: f64,
    /// Whether the byte behind a match's last indexed position is indexed as well.
    second_index: bool,
}

const fn effort(hash_bits: u32, window_divisor: usize, min_ratio: f64) -> Effort {
    Effort {
        hash_bits,
        window_divisor,
        min_ratio,
        second_index: false,
    }
}

/// By level, from 1 on.
static EFFORTS: [Effort; 9] = [
    effort(12, 8, 2.0),
    effort(13, 4, 1.5),
    effort(14, 4, 1.2),
    effort(14, 2, 1.2),
    effort(14, 2, 1.2),
    effort(14, 2, 1.2),
    effort(14, 1, 1.15),
    effort(14, 1, 1.1),
    Effort {
        second_index: true,
        ..effort(14, 1, 1.0)
    },
];

/// Whose bytes are written.
#[derive(Clone, Copy)]
pub(super) enum Edition {
    /// BloscLZ 2.5.3, of C-Blosc2.
    Current,
    /// BloscLZ 2.5.1, of C-Blosc 1.21. It accepts shorter matches, but not where streams of split blocks
    /// compress well.
    Blosc1 {
        /// Whether blocks are split.
        split: bool,
    },
}

/// What [`Edition::Blosc1`] probes, whatever the level: the hash bits and the part of the input.
const BLOSC1_PROBE_BITS: u32 = 12;
const BLOSC1_PROBE_DIVISOR: usize = 4;
/// From this ratio on it does without short matches in split blocks.
const BLOSC1_LONG_RATIO: f64 = 4.0;

/// The bytes a match gives back, and its least reduced length: where short matches are taken, and where
/// not.
const SHORT: usize = 3;
const LONG_ONLY: usize = 4;

/// Shorter inputs are never compressed.
const MIN_INPUT: usize = 16;
/// Into smaller outputs nothing is compressed.
const MIN_OUTPUT: usize = 66;
/// How many bytes at the start are literals, unseen by the match finder.
const HEAD: usize = 4;
/// The bytes the probe has counted before it looks at the first one, and the length of the literal run
/// it believes to be in.
const PROBE_COUNTED: usize = 5;
const PROBE_RUN: usize = 4;

/// The encoder's hash tables: one with small entries for what reaches no further than 64 KiB, which is
/// the probe always and most streams.
#[derive(Default)]
pub(super) struct Encoder {
    near: Table<u16>,
    wide: Table<u32>,
}

impl Encoder {
    /// Encodes `src` into `dest` and returns the length of the stream, or 0 if it isn't worth it or doesn't
    /// fit. A stream as long as `dest` counts as one that doesn't fit.
    pub(super) fn encode(
        &mut self,
        edition: Edition,
        level: u8,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let Some(effort) = EFFORTS.get(usize::from(level).wrapping_sub(1)) else {
            return Ok(0);
        };
        if src.len() < MIN_INPUT || dest.len() < MIN_OUTPUT {
            return Ok(0);
        }
        let promise = match edition {
            Edition::Current => {
                self.probe::<LONG_ONLY>(src, effort.hash_bits, effort.window_divisor)
            }
            Edition::Blosc1 { .. } => {
                self.probe::<SHORT>(src, BLOSC1_PROBE_BITS, BLOSC1_PROBE_DIVISOR)
            }
        }?;
        if promise.ratio < effort.min_ratio {
            return Ok(0);
        }
        let takes_short = match edition {
            Edition::Current => false,
            Edition::Blosc1 { split } => !split || promise.ratio < BLOSC1_LONG_RATIO,
        };
        match (takes_short, promise.is_steady) {
            (true, true) => self.write::<SHORT, true>(effort, src, dest),
            (true, false) => self.write::<SHORT, false>(effort, src, dest),
            (false, true) => self.write::<LONG_ONLY, true>(effort, src, dest),
            (false, false) => self.write::<LONG_ONLY, false>(effort, src, dest),
        }
    }

    /// What a look at the last part of the input, a fraction of its length, promises.
    fn probe<const LEAST: usize>(
        &mut self,
        src: &[u8],
        hash_bits: u32,
        divisor: usize,
    ) -> Result<Promise> {
        let window = src.len() / divisor;
        let scanned = &src[src.len() - window..][..window.min(1 << hash_bits)];
        let mut probe = Probe::<LEAST> {
            counted: PROBE_COUNTED,
            run: PROBE_RUN,
            anchor: 0,
            matches: 0,
            alike: 0,
            last: 0,
        };
        let (len, table) = (scanned.len(), &mut self.near);
        let stop = if Table::<u16>::clearing_pays(len, hash_bits) {
            let index = table.cleared(len, hash_bits)?;
            search(scanned, 0, index, false, &mut probe)
        } else {
            let index = table.based(len, hash_bits)?;
            search(scanned, 0, index, false, &mut probe)
        };
        let Some(stop) = stop else {
            return Ok(Promise::default());
        };
        probe.literals(stop);
        Ok(Promise {
            ratio: stop as f64 / probe.counted as f64,
            is_steady: probe.alike * STEADY_FRACTION > probe.matches * (STEADY_FRACTION - 1),
        })
    }

    /// The second pass.
    fn write<const LEAST: usize, const STEADY: bool>(
        &mut self,
        effort: &Effort,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let (len, hash_bits) = (src.len(), effort.hash_bits);
        let written = if len > u16::LIMIT {
            let index = self.wide.cleared(len, hash_bits)?;
            write::<LEAST, STEADY, _, _>(index, effort, src, dest)
        } else if Table::<u16>::clearing_pays(len, hash_bits) {
            let index = self.near.cleared(len, hash_bits)?;
            write::<LEAST, STEADY, _, _>(index, effort, src, dest)
        } else {
            let index = self.near.based(len, hash_bits)?;
            write::<LEAST, false, _, _>(index, effort, src, dest)
        };
        Ok(written)
    }
}

/// Room for the longest run with its control byte, and for a near match that is not very long.
const USUAL_ROOM: usize = 1 + MAX_RUN + 3;
const _: () = assert!(MAX_RUN == 2 * STEP);

/// The second pass, with this table.
fn write<const LEAST: usize, const STEADY: bool, S: Slot, const BASED: bool>(
    index: Index<'_, S, BASED>,
    effort: &Effort,
    src: &[u8],
    dest: &mut [u8],
) -> usize {
    let mut writer = Writer::<LEAST, STEADY> {
        src,
        dest,
        written: 0,
        anchor: 0,
    };
    let fits = search(src, HEAD, index, effort.second_index, &mut writer).is_some()
        && writer.literals(src.len());
    if !fits || writer.written >= writer.dest.len() {
        return 0;
    }
    writer.dest[0] |= MAX_RUN as u8;
    writer.written
}

/// Counts what [`Writer`] would write, in the reference's own way of counting.
struct Probe<const LEAST: usize> {
    counted: usize,
    /// The length of the current literal run.
    run: usize,
    /// Where the bytes not yet counted begin.
    anchor: usize,
    matches: usize,
    /// How many matches were as long as the one before.
    alike: usize,
    /// The reduced length of the last one.
    last: usize,
}

/// What a probe promises.
#[derive(Default)]
struct Promise {
    /// Bytes probed to bytes counted.
    ratio: f64,
    /// Whether nearly all matches are as long as the one before.
    is_steady: bool,
}

/// One match in so many at most is of another length where they are steady.
const STEADY_FRACTION: usize = 4;

impl<const LEAST: usize> Probe<LEAST> {
    /// Counts the literals up to position `end`.
    fn literals(&mut self, end: usize) {
        let count = end - self.anchor;
        let run = self.run + count;
        self.counted += count + run / MAX_RUN;
        self.run = run % MAX_RUN;
    }
}

impl<const LEAST: usize> Sink for Probe<LEAST> {
    const GIVE_BACK: usize = LEAST;
    const STRICT_FAR: bool = false;
    const STEADY: bool = false;

    #[inline(always)]
    fn matched(&mut self, at: usize, reduced: usize, distance: usize) -> bool {
        self.literals(at);
        // An empty run has been counted with its control byte, which serves the match; and the control byte
        // of the run behind the match is counted in advance.
        self.counted -= usize::from(self.run == 0);
        self.counted += match_len(reduced, distance) + 1;
        self.run = 0;
        self.anchor = at + reduced + REDUCED;
        self.matches += 1;
        self.alike += usize::from(reduced == self.last);
        self.last = reduced;
        true
    }
}

/// How many bytes a match takes.
#[inline(always)]
fn match_len(reduced: usize, distance: usize) -> usize {
    let reach = if distance >= FAR { 4 } else { 2 };
    if reduced < LONG {
        reach
    } else {
        reach + (reduced - LONG) / 255 + 1
    }
}

/// Writes the stream.
struct Writer<'a, const LEAST: usize, const STEADY: bool> {
    src: &'a [u8],
    dest: &'a mut [u8],
    written: usize,
    /// Where the bytes not yet written begin.
    anchor: usize,
}

impl<const LEAST: usize, const STEADY: bool> Writer<'_, LEAST, STEADY> {
    /// Writes the literals up to position `end`, in runs. Returns whether they fit.
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

    /// Copies a run of at most [`MAX_RUN`] bytes from `anchor` on.
    #[inline(always)]
    fn copy_run(&mut self, len: usize) {
        let (from, to) = (self.anchor, self.written);
        if from + MAX_RUN <= self.src.len() && to + MAX_RUN <= self.dest.len() {
            // SAFETY: both sides have MAX_RUN bytes, two steps, as just checked.
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

impl<const LEAST: usize, const STEADY: bool> Writer<'_, LEAST, STEADY> {
    /// Writes the literals up to a match and the match, of any kind. Returns whether they fit.
    #[inline(never)]
    fn any_match(&mut self, at: usize, reduced: usize, distance: usize) -> bool {
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

impl<const LEAST: usize, const STEADY: bool> Sink for Writer<'_, LEAST, STEADY> {
    const GIVE_BACK: usize = LEAST;
    const STRICT_FAR: bool = true;
    const STEADY: bool = STEADY;

    #[inline(always)]
    fn matched(&mut self, at: usize, reduced: usize, distance: usize) -> bool {
        let literals = at - self.anchor;
        let is_usual = literals <= MAX_RUN && distance < FAR && reduced < LONG + 255;
        if is_usual
            && self.anchor + MAX_RUN <= self.src.len()
            && self.written + USUAL_ROOM <= self.dest.len()
        {
            // SAFETY: there is room for a run and a match, and MAX_RUN bytes, two steps, can be read at the anchor.
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
        } else if !self.any_match(at, reduced, distance) {
            return false;
        }
        self.anchor = at + reduced + REDUCED;
        true
    }
}

#[cfg(test)]
mod tests;
