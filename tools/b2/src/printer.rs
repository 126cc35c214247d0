//! Prints boxes of items: as a table with aligned columns, as CSV, as lines of JSON, or as raw
//! bytes.
//!
//! A line contains the items along the last dimension, after the indices of the other dimensions,
//! or a record with a column for each field.

use crate::error::{Failure, Outcome};
use crate::items::{self, Digits};
use crate::slice::Axis;
use crate::style::Style;
use crate::table::{Alignment, Table};
use ferroblosc::escape::{escape, escape_json};
use ferroblosc_formats::numpy::{Dtype, Kind};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::io::{IsTerminal, Write};

/// The maximum number of columns of a CSV file.
const MAX_COLUMNS: u64 = 1 << 20;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Table,
    Csv,
    Json,
    Raw,
}

/// Options of printing.
#[derive(Clone, Copy, Debug)]
pub struct PrintOptions {
    pub form: Form,
    /// Whether lines begin with indices.
    pub has_index: bool,
    pub digits: Digits,
    /// Whether the last dimension is truncated, which a table indicates.
    pub has_more: bool,
    /// The maximum number of lines.
    pub lines: u64,
    /// Whether the output is a text for standard output: bytes that are not UTF-8 are escaped, and
    /// on a terminal also control characters.
    pub is_text: bool,
}

/// Prints boxes of items in order.
pub struct Printer {
    dtype: Dtype,
    options: PrintOptions,
    /// Whether a line contains the items of the last dimension. Otherwise it contains one item.
    by_lines: bool,
    has_heading: bool,
    /// The maximum number of lines that remain to be printed.
    lines_left: u64,
    /// Whether standard output is a terminal.
    is_terminal: bool,
}

impl Printer {
    pub fn new(dtype: Dtype, ndim: usize, options: PrintOptions) -> Printer {
        let is_record = dtype.kind() == Kind::Record;
        Printer {
            by_lines: ndim > 1 && !is_record,
            // Without indices, the columns of an array in a CSV file have no names.
            has_heading: match options.form {
                Form::Table => is_record,
                Form::Csv => is_record || options.has_index,
                Form::Json | Form::Raw => false,
            },
            lines_left: options.lines,
            is_terminal: options.is_text && std::io::stdout().is_terminal(),
            options,
            dtype,
        }
    }

    /// Whether lines of several items are printed as a whole.
    pub fn has_whole_lines(&self) -> bool {
        self.by_lines && matches!(self.options.form, Form::Csv | Form::Json)
    }

    /// Prints the heading, if there are no items.
    pub fn print_empty(&mut self, output: &mut impl Write, axes: &[Axis]) -> Outcome {
        if self.options.form == Form::Csv {
            self.print_csv_heading(output, axes)?;
        }
        Ok(())
    }

    /// Prints the items of the given indices.
    pub fn print(&mut self, output: &mut impl Write, axes: &[Axis], bytes: &[u8]) -> Outcome {
        match self.options.form {
            Form::Raw => Ok(output.write_all(bytes)?),
            Form::Table => self.print_table(output, axes, bytes),
            Form::Csv => {
                self.print_csv_heading(output, axes)?;
                self.each_line(axes, bytes, |printer, index, line| {
                    let index = index.iter().map(|number| number.to_string().into_bytes());
                    let mut cells: Vec<Vec<u8>> = index.collect();
                    let form = (printer.options.digits, printer.options.is_text);
                    for item in line.chunks_exact(printer.dtype.itemsize() as usize) {
                        items::csv_cells(&printer.dtype, item, form, &mut cells);
                    }
                    write_csv(output, &cells, printer.is_terminal)
                })
            }
            Form::Json => self.each_line(axes, bytes, |printer, index, line| {
                let items = line.chunks_exact(printer.dtype.itemsize() as usize);
                let mut items =
                    items.map(|item| items::json(&printer.dtype, item, printer.options.digits));
                let is_record = printer.dtype.kind() == Kind::Record;
                let value: Json = if printer.by_lines {
                    items.collect()
                } else {
                    items.next().unwrap_or_default()
                };
                let line = match (printer.options.has_index && !is_record, printer.by_lines) {
                    (false, _) => value,
                    (true, true) => json!({"index": index, "values": value}),
                    (true, false) => json!({"index": index, "value": value}),
                };
                Ok(writeln!(output, "{}", escape_json(&line.to_string()))?)
            }),
        }
    }

    /// Returns the number of dimensions whose indices a line begins with, and the number of items
    /// in a line.
    fn line_shape(&self, axes: &[Axis]) -> (usize, usize) {
        match axes.split_last() {
            Some((last, lead)) if self.by_lines => (lead.len(), last.count as usize),
            _ => (axes.len(), 1),
        }
    }

    /// Calls `f` with the indices and the bytes of each line.
    fn each_line(
        &mut self,
        axes: &[Axis],
        bytes: &[u8],
        mut f: impl FnMut(&Printer, &[u64], &[u8]) -> Outcome,
    ) -> Outcome {
        let (lead, along) = self.line_shape(axes);
        let mut numbers = vec![0; lead];
        for line in bytes.chunks_exact(self.dtype.itemsize() as usize * along) {
            if self.lines_left == 0 {
                break;
            }
            self.lines_left -= 1;
            let shown = if self.options.has_index { lead } else { 0 };
            let index = axes[..shown].iter().zip(&numbers);
            let index: Vec<u64> = index.map(|(axis, &number)| axis.at(number)).collect();
            f(self, &index, line)?;
            for dim in (0..lead).rev() {
                numbers[dim] += 1;
                if numbers[dim] < axes[dim].count {
                    break;
                }
                numbers[dim] = 0;
            }
        }
        Ok(())
    }

    /// Prints the heading before the first line, if there is one.
    fn print_csv_heading(&mut self, output: &mut impl Write, axes: &[Axis]) -> Outcome {
        if !std::mem::take(&mut self.has_heading) {
            return Ok(());
        }
        let (lead, along) = self.line_shape(axes);
        let columns = items::csv_width(&self.dtype).saturating_mul(along as u64);
        if columns > MAX_COLUMNS {
            return Err(Failure::new(format!(
                "a line has {columns} columns; --csv prints at most {MAX_COLUMNS}"
            )));
        }
        let mut names: Vec<String> = match (self.options.has_index, lead) {
            (false, _) => Vec::new(),
            (true, 1) => vec!["index".to_owned()],
            (true, lead) => (0..lead).map(|dim| format!("index{dim}")).collect(),
        };
        if self.dtype.kind() == Kind::Record {
            items::csv_names(&self.dtype, "", &mut names);
        } else if let Some(last) = axes.last().filter(|_| self.by_lines) {
            names.extend((0..last.count).map(|number| last.at(number).to_string()));
        } else {
            names.push("value".to_owned());
        }
        write_csv(output, &names, self.is_terminal)
    }

    fn print_table(&mut self, output: &mut impl Write, axes: &[Axis], bytes: &[u8]) -> Outcome {
        let (lead, along) = self.line_shape(axes);
        let lead = if self.options.has_index { lead } else { 0 };
        let is_record = self.dtype.kind() == Kind::Record;
        let has_more = self.options.has_more && self.by_lines;
        let cells =
            if is_record { self.dtype.fields().len() } else { along + usize::from(has_more) };
        let mut sides = vec![Alignment::Right; lead + cells];
        let is_text =
            |kind| matches!(kind, Kind::Bytes | Kind::Unicode | Kind::Void | Kind::Object);
        if is_record {
            for (side, field) in sides[lead..].iter_mut().zip(self.dtype.fields()) {
                if is_text(field.dtype.kind()) || !field.shape.is_empty() {
                    *side = Alignment::Left;
                }
            }
        } else if is_text(self.dtype.kind()) {
            sides[lead..].fill(Alignment::Left);
        }
        let mut table = Table::new(&sides);
        let style = Style::stdout();
        let has_heading = std::mem::take(&mut self.has_heading);
        if has_heading {
            let names = self.dtype.fields().iter().map(|field| field.name.clone());
            table.add(std::iter::repeat_n("#".to_owned(), lead).chain(names).collect());
        }
        self.each_line(axes, bytes, |printer, index, line| {
            let digits = printer.options.digits;
            let mut row: Vec<String> = index.iter().map(u64::to_string).collect();
            if let Some(last) = row.last_mut() {
                last.push(':');
            }
            if is_record {
                let fields = printer.dtype.fields().iter();
                row.extend(fields.map(|field| items::of_field(field, line, digits)));
            } else {
                let items = line.chunks_exact(printer.dtype.itemsize() as usize);
                row.extend(items.map(|item| items::text(&printer.dtype, item, digits)));
                if has_more {
                    row.push("…".to_owned());
                }
            }
            table.add(row);
            Ok(())
        })?;
        let styled = |line: &str| {
            if has_heading { style.faint(line) } else { line.to_owned() }
        };
        Ok(table.write(output, styled)?)
    }
}

/// Writes a line of a CSV file (RFC 4180). On a terminal, control characters are escaped.
pub fn write_csv(
    output: &mut impl Write,
    cells: &[impl AsRef<[u8]>],
    is_terminal: bool,
) -> Outcome {
    let mut line = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        if number > 0 {
            line.push(b',');
        }
        let cell: Cow<'_, [u8]> = if is_terminal {
            escape(&String::from_utf8_lossy(cell.as_ref())).into_owned().into_bytes().into()
        } else {
            cell.as_ref().into()
        };
        let has_blank_ends = cell.starts_with(b" ") || cell.ends_with(b" ");
        // Readers skip empty lines.
        let is_line = cell.is_empty() && cells.len() == 1;
        if cell.iter().any(|byte| b",\"\n\r".contains(byte)) || has_blank_ends || is_line {
            line.push(b'"');
            for &byte in cell.iter() {
                line.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
            }
            line.push(b'"');
        } else {
            line.extend_from_slice(&cell);
        }
    }
    line.push(b'\n');
    Ok(output.write_all(&line)?)
}
