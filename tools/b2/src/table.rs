//! Tables of text with aligned columns.

use ferroblosc::escape::escape;
use std::io::{self, Write};

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    Left,
    Right,
}

/// A table of cells.
pub struct Table {
    sides: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

/// Returns the width of a text in characters.
fn width(text: &str) -> usize {
    text.chars().count()
}

impl Table {
    pub fn new(sides: &[Alignment]) -> Table {
        Table { sides: sides.to_vec(), rows: Vec::new() }
    }

    pub fn add(&mut self, cells: Vec<String>) {
        let cells = cells.iter().map(|cell| escape(cell).into_owned());
        self.rows.push(cells.collect());
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Removes all rows after the first `len` ones.
    pub fn truncate(&mut self, len: usize) {
        self.rows.truncate(len);
    }

    /// Writes the rows, with two blanks between columns. `style` styles the first row.
    pub fn write(&self, output: &mut impl Write, style: impl Fn(&str) -> String) -> io::Result<()> {
        let mut widths = vec![0; self.sides.len()];
        for row in &self.rows {
            for (known, cell) in widths.iter_mut().zip(row) {
                *known = width(cell).max(*known);
            }
        }
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let blanks = " ".repeat(widths[column] - width(cell));
                if column > 0 {
                    line.push_str("  ");
                }
                match self.sides[column] {
                    Alignment::Left => line.extend([cell.as_str(), &blanks]),
                    Alignment::Right => line.extend([blanks.as_str(), cell]),
                }
            }
            let line = line.trim_end();
            match number {
                0 => writeln!(output, "{}", style(line))?,
                _ => writeln!(output, "{line}")?,
            }
        }
        Ok(())
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
