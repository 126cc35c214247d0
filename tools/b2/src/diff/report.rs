//! The result of a comparison, as text and as JSON.

use crate::error::Outcome;
use crate::style::Style;
use crate::table::tuple;
use ferroblosc::escape::escape;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::path::PathBuf;

/// The reason the items of two files are not compared one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    Types,
    Shapes,
}

/// The first difference.
#[derive(Clone, Debug, PartialEq)]
pub struct First {
    pub item: u64,
    pub column: String,
    pub one: String,
    pub other: String,
}

/// The differences of a segment, or of all data.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// The number of different items.
    pub items: u64,
    pub first: Option<First>,
    /// The largest absolute difference of two numbers.
    pub largest: Option<f64>,
}

impl Differences {
    /// Adds the differences of the next segment.
    pub fn merge(&mut self, other: Differences) {
        self.items += other.items;
        if self.first.is_none() {
            self.first = other.first;
        }
        self.add_distance(other.largest);
    }

    /// Adds the distance of two numbers.
    pub fn add_distance(&mut self, distance: Option<f64>) {
        self.largest = match (self.largest, distance) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
    }
}

/// The result of the comparison of two arrays, tables or lists of objects.
#[derive(Default)]
pub struct Report {
    pub names: [PathBuf; 2],
    pub types: [String; 2],
    pub shapes: [Vec<u64>; 2],
    pub mismatch: Option<Mismatch>,
    /// The number of items that were compared.
    pub compared: u64,
    pub differences: Differences,
    /// The index of the first difference in each dimension.
    pub index: Vec<u64>,
}

impl Report {
    pub fn is_equal(&self) -> bool {
        self.mismatch.is_none() && self.differences.items == 0
    }

    /// Converts the result to JSON.
    pub fn to_json(&self) -> Json {
        let reason = match self.mismatch {
            Some(Mismatch::Types) => Some("type"),
            Some(Mismatch::Shapes) => Some("shape"),
            None if self.differences.items > 0 => Some("values"),
            None => None,
        };
        let first = self.differences.first.as_ref().map(|first| {
            json!({
                "index": self.index,
                "column": Some(&first.column).filter(|column| !column.is_empty()),
                "values": [first.one, first.other],
            })
        });
        json!({
            "paths": self.names.each_ref().map(|name| name.to_string_lossy()),
            "types": self.types,
            "shapes": self.shapes,
            "equal": self.is_equal(),
            "reason": reason,
            "compared": self.compared,
            "different": self.differences.items,
            "max_difference": self.differences.largest,
            "first": first,
        })
    }

    /// Returns both names, as the start of a line.
    pub fn title(&self) -> String {
        let names = self.names.each_ref().map(|name| name.display().to_string());
        names.each_ref().map(|name| escape(name).into_owned()).join(" ")
    }

    /// Writes the differences. Each description begins with `title`.
    pub fn print(&self, output: &mut impl Write, title: &str) -> Outcome {
        let style = Style::stdout();
        match self.mismatch {
            Some(Mismatch::Types) => {
                let [one, other] = self.types.each_ref().map(|text| escape(text));
                writeln!(output, "{title}: the types differ: {one} and {other}")?;
            }
            Some(Mismatch::Shapes) => {
                let [one, other] = self.shapes.each_ref().map(|shape| tuple(shape));
                writeln!(output, "{title}: the shapes differ: {one} and {other}")?;
            }
            None => {}
        }
        let differences = &self.differences;
        let Some(first) = &differences.first else {
            return Ok(());
        };
        let share = differences.items as f64 / self.compared as f64 * 100.0;
        let counts = format!("{} of {} items differ", differences.items, self.compared);
        writeln!(output, "{title}: {} ({share:.3} %)", style.bad(&counts))?;
        let column = match first.column.as_str() {
            "" => String::new(),
            column => format!(", column {}", escape(column)),
        };
        let (one, other) = (escape(&first.one), escape(&first.other));
        writeln!(output, "  first at {}{column}: {one} and {other}", tuple(&self.index))?;
        if let Some(largest) = differences.largest {
            writeln!(output, "  largest difference: {largest:?}")?;
        }
        Ok(())
    }
}
