//! Tables of text with aligned columns.

use ferroblosc::escape::escape;
use std::io::{self, Write};

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    Left,
    Right,
}

/// A table of cells. Rows can be written before the last one is known.
pub struct Table {
    sides: Vec<Alignment>,
    /// The rows that are not written yet.
    rows: Vec<Vec<String>>,
    /// The minimum widths of the columns.
    widths: Vec<usize>,
    /// The number of rows that were written.
    written: usize,
}

/// Returns the width of a text in characters.
fn width(text: &str) -> usize {
    text.chars().count()
}

impl Table {
    pub fn new(sides: &[Alignment]) -> Table {
        let widths = vec![0; sides.len()];
        Table { sides: sides.to_vec(), rows: Vec::new(), widths, written: 0 }
    }

    pub fn add(&mut self, cells: Vec<String>) {
        let cells = cells.iter().map(|cell| escape(cell).into_owned());
        self.rows.push(cells.collect());
    }

    /// Makes the columns wide enough for a row that is added later.
    pub fn widen(&mut self, cells: &[String]) {
        for (known, cell) in self.widths.iter_mut().zip(cells) {
            *known = width(&escape(cell)).max(*known);
        }
    }

    /// Makes the columns wide enough for the rows from number `first`.
    fn fit(&mut self, first: usize) {
        for row in &self.rows[first.min(self.rows.len())..] {
            for (known, cell) in self.widths.iter_mut().zip(row) {
                *known = width(cell).max(*known);
            }
        }
    }

    /// Returns the number of rows, including those that were written.
    pub fn len(&self) -> usize {
        self.written + self.rows.len()
    }

    /// Returns the number of rows that are not written yet.
    pub fn unwritten(&self) -> usize {
        self.rows.len()
    }

    /// Removes all rows after the first `len` ones, except those that were written.
    pub fn truncate(&mut self, len: usize) {
        self.rows.truncate(len.saturating_sub(self.written));
    }

    /// As [`Table::truncate`], for rows that are added again: their columns stay wide enough.
    pub fn withdraw(&mut self, len: usize) {
        self.fit(len.saturating_sub(self.written));
        self.truncate(len);
    }

    /// Writes the rows that are not written yet, with two blanks between columns. `style` styles
    /// the first row of the table. The columns are as wide as their widest cell so far.
    pub fn write(
        &mut self,
        output: &mut impl Write,
        style: impl Fn(&str) -> String,
    ) -> io::Result<()> {
        self.fit(0);
        for row in self.rows.drain(..) {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let blanks = " ".repeat(self.widths[column] - width(cell));
                if column > 0 {
                    line.push_str("  ");
                }
                match self.sides[column] {
                    Alignment::Left => line.extend([cell.as_str(), &blanks]),
                    Alignment::Right => line.extend([blanks.as_str(), cell]),
                }
            }
            let line = line.trim_end();
            match self.written {
                0 => writeln!(output, "{}", style(line))?,
                _ => writeln!(output, "{line}")?,
            }
            self.written += 1;
        }
        Ok(())
    }
}

/// The maximum number of characters of a dtype in a table.
const MAX_DTYPE: usize = 60;

/// Returns a dtype for a cell. One of many fields is truncated, so that it does not widen all rows.
pub fn short_dtype(text: &str) -> String {
    match text.char_indices().nth(MAX_DTYPE) {
        None => text.to_owned(),
        Some(_) => text.chars().take(MAX_DTYPE - 1).chain(['…']).collect(),
    }
}

/// Formats a tuple like Python.
pub fn tuple(lengths: &[u64]) -> String {
    match lengths {
        [single] => format!("({single},)"),
        many => {
            let texts: Vec<String> = many.iter().map(u64::to_string).collect();
            format!("({})", texts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_dtypes_are_truncated() {
        let longest = "é".repeat(MAX_DTYPE);
        assert_eq!(short_dtype(&longest), longest);
        let short = short_dtype(&format!("{longest}é"));
        assert_eq!(short, "é".repeat(MAX_DTYPE - 1) + "…");
    }
}
