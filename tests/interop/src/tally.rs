//! Sums over many cells: failures, compressed sizes, byte-identical chunks.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use crate::cell;
use crate::isolate::{Outcome, Values};

/// The tolerance of the size ratio, which must be at most 1.00 to two digits.
const MEAN_TOLERANCE: f64 = 0.0005;

/// The number of cells of a codec and level in a random sample from which on their mean size ratio
/// is judged: the interval of fewer is wrong, and that of one cell has no width.
const MIN_SAMPLE: u32 = 20;

/// The report of a successful cell.
#[derive(Clone, Copy, Default)]
pub struct Report {
    /// Our compressed size in bytes, 0 if there is nothing to compare.
    pub ours: i64,
    /// The reference's compressed size in bytes.
    pub reference: i64,
    /// Whether the two encoders should write the same bytes.
    pub comparable_bytes: bool,
    /// Whether they did.
    pub identical: bool,
}

impl Report {
    /// Returns the report as numbers, to pass from the child to the parent.
    pub fn to_values(self) -> Values {
        let flags = [i64::from(self.comparable_bytes), i64::from(self.identical)];
        vec![self.ours, self.reference, flags[0], flags[1]]
    }

    fn from_values(values: &Values) -> Report {
        Report {
            ours: values[0],
            reference: values[1],
            comparable_bytes: values[2] != 0,
            identical: values[3] != 0,
        }
    }
}

/// The logarithms of size ratios.
#[derive(Default)]
struct Ratios {
    sum: f64,
    squares: f64,
    count: u32,
}

impl Ratios {
    fn add(&mut self, ratio: f64) {
        self.sum += ratio.ln();
        self.squares += ratio.ln().powi(2);
        self.count += 1;
    }

    /// Returns the geometric mean, and the lower end of its 95 % confidence interval: a small
    /// random sample can exceed a limit that all cells together meet.
    fn mean_and_bound(&self) -> (f64, f64) {
        let count = f64::from(self.count);
        let mean = self.sum / count;
        let variance = (self.squares / count - mean.powi(2)).max(0.0);
        (mean.exp(), (mean - 2.0 * (variance / count).sqrt()).exp())
    }
}

#[derive(Default)]
struct Identity {
    comparable: u32,
    identical: u32,
    example: Option<String>,
}

/// The sums over all cells run so far.
pub struct Tally {
    codecs: Vec<&'static str>,
    cells: usize,
    failures: Vec<String>,
    ratios: BTreeMap<(usize, u8), Ratios>,
    identity: BTreeMap<usize, Identity>,
}

/// The number of failures printed in full; others are only counted.
const SHOWN: usize = 25;

impl Default for Tally {
    /// Creates an empty tally for the codecs of `libblosc2.so`.
    fn default() -> Tally {
        Tally::new(&cell::CODECS.map(|(name, _)| name))
    }
}

impl Tally {
    /// Creates an empty tally for these codecs.
    pub fn new(codecs: &[&'static str]) -> Tally {
        Tally {
            codecs: codecs.to_vec(),
            cells: 0,
            failures: Vec::new(),
            ratios: BTreeMap::new(),
            identity: BTreeMap::new(),
        }
    }

    /// Adds the outcome of a cell with this codec index and level.
    pub fn add(&mut self, cell: &impl Display, codec: usize, level: u8, outcome: &Outcome) {
        self.cells += 1;
        match outcome {
            Outcome::Values(values) => {
                self.add_report(cell, codec, level, Report::from_values(values));
            }
            Outcome::Failed(text) => self.failures.push(format!("{cell}: {text}")),
            Outcome::Killed(libc::SIGALRM) => self.failures.push(format!("{cell}: hangs")),
            Outcome::Killed(signal) => {
                self.failures.push(format!("{cell}: crashes with signal {signal}"));
            }
        }
    }

    fn add_report(&mut self, cell: &impl Display, codec: usize, level: u8, report: Report) {
        if report.ours > 0 && report.reference > 0 {
            let ratios = self.ratios.entry((codec, level)).or_default();
            ratios.add(report.ours as f64 / report.reference as f64);
        }
        if report.comparable_bytes {
            let identity = self.identity.entry(codec).or_default();
            identity.comparable += 1;
            identity.identical += u32::from(report.identical);
            if !report.identical && identity.example.is_none() {
                identity.example = Some(cell.to_string());
            }
        }
    }

    /// Prints the sums. Fails if a cell failed, if a codec and level compress significantly worse
    /// than the reference, or if chunks differ that must be identical.
    ///
    /// # Panics
    /// Panics to fail the test.
    pub fn conclude(&self) {
        self.conclude_from(1);
    }

    /// Like [`Tally::conclude`], for a random sample, in which a codec and level can have few
    /// cells: its mean is judged from 20 cells on. Each cell alone has a limit of its own.
    ///
    /// # Panics
    /// Panics to fail the test.
    pub fn conclude_sample(&self) {
        self.conclude_from(MIN_SAMPLE);
    }

    /// Judges the means of at least `least` cells.
    fn conclude_from(&self, least: u32) {
        let mut complaints = String::new();
        for failure in self.failures.iter().take(SHOWN) {
            let _ = writeln!(complaints, "  {failure}");
        }
        if self.failures.len() > SHOWN {
            let _ = writeln!(complaints, "  … {} cells failed in total", self.failures.len());
        }
        println!("{} cells", self.cells);
        self.print_ratios(least, &mut complaints);
        self.print_identity(&mut complaints);
        assert!(complaints.is_empty(), "\n{complaints}");
    }

    fn print_ratios(&self, least: u32, complaints: &mut String) {
        if self.ratios.is_empty() {
            return;
        }
        println!("compressed size, ours / reference (geometric mean per codec and level):");
        for (codec, name) in self.codecs.iter().enumerate() {
            let mut line = format!("  {name:8}");
            for level in 0..=9 {
                let Some(ratios) = self.ratios.get(&(codec, level)) else {
                    continue;
                };
                let (mean, bound) = ratios.mean_and_bound();
                let _ = write!(line, " {level}:{mean:.4}");
                if ratios.count >= least && bound > 1.0 + MEAN_TOLERANCE {
                    let _ =
                        writeln!(complaints, "  {name} level {level}: mean size ratio {mean:.5}");
                }
            }
            println!("{line}");
        }
    }

    fn print_identity(&self, complaints: &mut String) {
        if self.identity.is_empty() {
            return;
        }
        println!("serial chunks equal to the reference's, byte for byte:");
        for (&codec, identity) in &self.identity {
            let name = self.codecs[codec];
            println!("  {name:8} {} of {}", identity.identical, identity.comparable);
            if let Some(example) = &identity.example {
                let _ = writeln!(
                    complaints,
                    "  {name}: bytes differ from the reference, for example in {example}"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ratios: &[f64]) -> (f64, f64) {
        let mut all = Ratios::default();
        ratios.iter().for_each(|&ratio| all.add(ratio));
        all.mean_and_bound()
    }

    #[test]
    fn only_significantly_larger_sizes_exceed_the_limit() {
        let (mean, bound) = of(&[1.002; 20]);
        assert!((mean - 1.002).abs() < 1e-9 && bound > 1.0 + MEAN_TOLERANCE);
        // One cell of twenty.
        let mut ratios = [1.0; 20];
        ratios[7] = 1.04;
        let (mean, bound) = of(&ratios);
        assert!(mean > 1.0 + MEAN_TOLERANCE && bound <= 1.0 + MEAN_TOLERANCE);
        // Many such cells.
        let (_, bound) = of(&ratios.repeat(20));
        assert!(bound > 1.0 + MEAN_TOLERANCE);
    }

    fn tally(cells: u32) -> Tally {
        let mut tally = Tally::new(&["zstd"]);
        for cell in 0..cells {
            let report =
                Report { ours: 1004 + i64::from(cell % 3), reference: 1000, ..Report::default() };
            tally.add(&"a cell", 0, 1, &Outcome::Values(report.to_values()));
        }
        tally
    }

    #[test]
    fn a_few_larger_chunks_of_a_sample_are_accepted() {
        tally(1).conclude_sample();
        tally(MIN_SAMPLE - 1).conclude_sample();
    }

    #[test]
    #[should_panic(expected = "zstd level 1: mean size ratio 1.00")]
    fn many_larger_chunks_of_a_sample_are_a_finding() {
        tally(MIN_SAMPLE).conclude_sample();
    }

    #[test]
    #[should_panic(expected = "zstd level 1: mean size ratio 1.00")]
    fn a_larger_chunk_of_chosen_cells_is_a_finding() {
        tally(1).conclude();
    }
}
