//! The results: a line for each cell during the run, and at the end tables of groups, of finer
//! groups, and of the worst cells.

use crate::clock::Times;
use crate::groups::{Group, Kind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The number of worst cells to print.
const WORST: usize = 20;
/// Chunks larger than the reference's by more than this ratio are reported.
const LARGER: f64 = 1.05;

/// The number of samples for the interval of a mean.
const SAMPLES: usize = 1000;

/// The figures of one cell in one group.
struct Entry {
    name: String,
    /// Our figure: a ratio of speeds, or our own for [`Kind::Own`].
    ours: f64,
    /// The reference's own figure, for [`Kind::Own`].
    theirs: Option<f64>,
    /// The reference's figure relative to its copy's.
    noise: Option<f64>,
    /// The size of our chunk relative to the reference's.
    size: Option<f64>,
}

impl Entry {
    /// Whether the difference from the reference is not larger than that between the reference and
    /// its copy.
    fn is_noise(&self) -> bool {
        self.noise.is_some_and(|noise| self.ours.ln().abs() <= noise.ln().abs())
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "ours": self.ours,
            "reference": self.theirs,
            "noise": self.noise,
            "size": self.size,
        })
    }
}

/// The results of all cells so far.
pub struct Report {
    markdown: bool,
    groups: BTreeMap<Group, Vec<Entry>>,
    details: BTreeMap<String, Vec<f64>>,
}

/// Returns the geometric mean, if there are numbers.
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for number in numbers {
        sum += number.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// Returns the 95 % interval of the geometric mean, by the bootstrap: the means of samples of the
/// numbers, drawn with replacement. Equal numbers have equal intervals.
fn interval(numbers: &[f64]) -> Option<(f64, f64)> {
    if numbers.len() < 2 {
        return None;
    }
    // A linear congruential generator; its upper bits are random enough.
    let mut state = 1u64;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers[(state >> 33) as usize % numbers.len()]
    };
    let mut means: Vec<f64> =
        (0..SAMPLES).filter_map(|_| mean((0..numbers.len()).map(|_| draw()))).collect();
    means.sort_by(f64::total_cmp);
    Some((means[SAMPLES / 40], means[SAMPLES - 1 - SAMPLES / 40]))
}

/// Formats a ratio of speeds with a sensible number of digits.
fn ratio(value: f64) -> String {
    match value {
        ..9.95 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(String::new, |value| format!("{value:.digits$}"))
}

impl Report {
    /// Creates an empty report, printed as Markdown or for a terminal.
    pub fn new(markdown: bool) -> Report {
        Report { markdown, groups: BTreeMap::new(), details: BTreeMap::new() }
    }

    /// Adds the times of one cell and, for chunks, our size and theirs.
    pub fn add(&mut self, group: Group, name: &str, times: &Times, sizes: Option<[usize; 2]>) {
        let entry = Entry {
            name: name.to_owned(),
            ours: times[1] / times[0],
            theirs: None,
            noise: times.get(2).map(|copy| times[1] / copy),
            size: sizes.map(|[ours, theirs]| ours as f64 / theirs as f64),
        };
        self.groups.entry(group).or_default().push(entry);
    }

    /// Adds a cell in which each library is compared with its own baseline: the times of that and
    /// of the work.
    pub fn add_own(&mut self, group: Group, name: &str, base: &Times, times: &Times) {
        let own = |who: usize| base[who] / times[who];
        let entry = Entry {
            name: name.to_owned(),
            ours: own(0),
            theirs: Some(own(1)),
            noise: (times.len() > 2).then(|| own(2) / own(1)),
            size: None,
        };
        self.groups.entry(group).or_default().push(entry);
    }

    /// Adds the times of a cell to a finer group.
    pub fn add_detail(&mut self, name: String, times: &Times) {
        self.details.entry(name).or_default().push(times[1] / times[0]);
    }

    /// Prints a cell: its name, and for each direction our speed and theirs in bytes or calls per
    /// second, and their ratio.
    pub fn print_cell(
        name: &str,
        bytes: usize,
        races: &[(&str, &Times)],
        sizes: Option<[usize; 2]>,
    ) {
        print!("{name:52}");
        for (label, times) in races {
            let speed = |who: usize| bytes as f64 / times[who] / 1e9;
            let quotient = times[1] / times[0];
            print!("  {label} {:7.3} {:7.3} {quotient:6.2}", speed(0), speed(1));
        }
        match sizes {
            Some([ours, theirs]) => println!("  size {:.4}", ours as f64 / theirs as f64),
            None => println!(),
        }
    }

    /// Prints the tables.
    pub fn print(&self) {
        self.print_groups();
        self.print_details();
        self.print_worst();
    }

    /// Prints a table row, as Markdown or padded for a terminal.
    fn line(&self, first: &str, cells: &[String]) {
        if self.markdown {
            println!("| {first} | {} |", cells.join(" | "));
        } else {
            let cells: String = cells.iter().map(|cell| format!(" {cell:>16}")).collect();
            println!("{first:50}{cells}");
        }
    }

    fn header(&self, first: &str, names: &[&str]) {
        println!();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        self.line(first, &names);
        if self.markdown {
            println!("|{}", "---|".repeat(names.len() + 1));
        }
    }

    fn print_groups(&self) {
        self.header(
            "geometric means; above 1 we are faster",
            &["cells", "ours", "95 %", "size", "goal", "noise"],
        );
        for (&group, entries) in &self.groups {
            let speeds: Vec<f64> = entries.iter().map(|entry| entry.ours).collect();
            let ours = mean(speeds.iter().copied()).unwrap_or(f64::NAN);
            let theirs = mean(entries.iter().filter_map(|entry| entry.theirs));
            let figure = match (group.kind(), theirs) {
                (Kind::Own, Some(theirs)) => format!("{ours:.2} (ref. {theirs:.2})"),
                _ => ratio(ours),
            };
            let cells = [
                entries.len().to_string(),
                figure,
                interval(&speeds).map_or_else(String::new, |(low, high)| {
                    format!("{}–{}", ratio(low), ratio(high))
                }),
                optional(mean(entries.iter().filter_map(|entry| entry.size)), 3),
                group.goal().map_or_else(String::new, |goal| format!("{goal}")),
                optional(mean(entries.iter().filter_map(|entry| entry.noise)), 3),
            ];
            self.line(&group.name(), &cells);
        }
    }

    fn print_details(&self) {
        if self.details.is_empty() {
            return;
        }
        self.header("in detail", &["cells", "speed"]);
        for (name, ratios) in &self.details {
            let speed = mean(ratios.iter().copied()).unwrap_or(f64::NAN);
            self.line(name, &[ratios.len().to_string(), ratio(speed)]);
        }
    }

    fn print_worst(&self) {
        let speeds = self.groups.iter().filter(|(group, _)| group.kind() == Kind::Speed);
        let mut entries: Vec<(&Group, &Entry)> = speeds
            .flat_map(|(group, entries)| entries.iter().map(move |entry| (group, entry)))
            .collect();
        entries.sort_by(|a, b| a.1.ours.total_cmp(&b.1.ours));
        self.header("the worst cells", &["group", "speed", "noise"]);
        for (group, entry) in entries.iter().take(WORST) {
            let mark = if entry.is_noise() { " (noise)" } else { "" };
            let speed = format!("{:.2}{mark}", entry.ours);
            let cells = [group.name(), speed, optional(entry.noise, 2)];
            self.line(&entry.name, &cells);
        }
        let mut larger: Vec<(&str, f64)> = entries
            .iter()
            .filter_map(|(_, entry)| Some((entry.name.as_str(), entry.size?)))
            .filter(|&(_, size)| size > LARGER)
            .collect();
        larger.sort_by(|a, b| b.1.total_cmp(&a.1));
        larger.dedup();
        let heading = format!(
            "chunks larger than the reference's by more than {:.0} %",
            (LARGER - 1.0) * 100.0
        );
        self.header(&heading, &["size"]);
        for (name, size) in larger {
            self.line(name, &[format!("{size:.3}")]);
        }
    }

    /// Writes all cells to a file.
    ///
    /// # Errors
    /// The path and the system's error.
    pub fn write_json(&self, path: &Path, machine: Value) -> Result<(), String> {
        let groups: Vec<Value> = self
            .groups
            .iter()
            .map(|(group, entries)| {
                json!({
                    "name": group.name(),
                    "goal": group.goal(),
                    "is_speed": group.kind() == Kind::Speed,
                    "cells": entries.iter().map(Entry::to_json).collect::<Vec<_>>(),
                })
            })
            .collect();
        let options: Vec<String> = std::env::args().skip(1).collect();
        let text = json!({ "machine": machine, "options": options, "groups": groups });
        fs::write(path, format!("{text:#}\n"))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::{interval, mean};

    #[test]
    fn an_interval_contains_the_mean_and_is_repeatable() {
        let numbers: Vec<f64> = (1..=20).map(f64::from).collect();
        let (low, high) = interval(&numbers).unwrap();
        let mean = mean(numbers.iter().copied()).unwrap();
        assert!(low < mean && mean < high, "{low} {mean} {high}");
        assert!(low > 4.0 && high < 12.0, "{low} {high}");
        assert_eq!(interval(&numbers), Some((low, high)));
        assert_eq!(interval(&[2.0]), None);
        let (low, high) = interval(&[2.0; 5]).unwrap();
        assert!((low - 2.0).abs() < 1e-12 && (high - 2.0).abs() < 1e-12);
    }
}
