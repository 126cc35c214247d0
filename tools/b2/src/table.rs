//! Columns of text that stand in line.

use ferroblosc::escape::escape;
use std::io::{self, Write};

/// The side on which the texts of a column are in line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// Rows of cells.
pub struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
}

/// How wide a text is on a screen: one for each character.
fn width(text: &str) -> usize {
    text.chars().count()
}

impl Table {
    pub fn new(sides: &[Side]) -> Table {
        Table {
            sides: sides.to_vec(),
            rows: Vec::new(),
        }
    }

    pub fn add(&mut self, cells: Vec<String>) {
        let cells = cells.iter().map(|cell| escape(cell).into_owned());
        self.rows.push(cells.collect());
    }

    /// Writes the rows with two blanks between columns; `paint` may dress up the first one.
    pub fn write(&self, output: &mut impl Write, paint: impl Fn(&str) -> String) -> io::Result<()> {
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
                    Side::Left => line.extend([cell.as_str(), &blanks]),
                    Side::Right => line.extend([blanks.as_str(), cell]),
                }
            }
            let line = line.trim_end();
            match number {
                0 => writeln!(output, "{}", paint(line))?,
                _ => writeln!(output, "{line}")?,
            }
        }
        Ok(())
    }
}
