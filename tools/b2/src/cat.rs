//! `cat` and `head`.
//!
//! Arrays: a line contains the items along the last dimension, after the indices of the other
//! dimensions. Records: a line contains a record, with a column for each field. Other data: a line
//! contains 16 bytes. The lines that fit into a buffer are read at once, and their columns are
//! aligned.

use crate::cli::{CatArgs, Cli, HeadArgs};
use crate::error::{Failure, Outcome};
use crate::io::Input;
use crate::items;
use crate::slice;
use crate::style::Style;
use crate::table::{Alignment, Table};
use ferroblosc_formats::convert::{self, Reading, Source};
use ferroblosc_formats::numpy::{ArrayInfo, Dtype, Kind};
use std::io::{BufWriter, Write};
use std::path::Path;

/// The size of the buffer in bytes, unless a line is larger.
const BUFFER_SIZE: u64 = 4 << 20;
/// The maximum number of lines with aligned columns.
const MAX_LINES: u64 = 500;
/// The number of bytes in a line, for data other than arrays.
const BYTES_PER_LINE: u64 = 16;
/// The maximum number of items in a line of `head`.
const HEAD_ITEMS: u64 = 10;

/// A request of `cat` or `head`.
struct Request<'a> {
    path: &'a Path,
    column: &'a Option<String>,
    dtype: &'a Option<String>,
    slice: Slice<'a>,
    raw: bool,
}

/// The items to print.
enum Slice<'a> {
    /// A slice in text form.
    Text(&'a str),
    /// The first lines.
    First(u64),
}

pub fn cat(args: &CatArgs, cli: &Cli) -> Outcome {
    run(
        &Request {
            path: &args.path,
            column: &args.column,
            dtype: &args.dtype,
            slice: Slice::Text(args.slice.as_deref().unwrap_or_default()),
            raw: args.raw,
        },
        cli,
    )
}

pub fn head(args: &HeadArgs, cli: &Cli) -> Outcome {
    run(
        &Request {
            path: &args.path,
            column: &args.column,
            dtype: &args.dtype,
            slice: Slice::First(args.lines),
            raw: false,
        },
        cli,
    )
}

/// Parses a type of the command line.
pub fn parse_dtype(text: &str) -> Result<Dtype, Failure> {
    Dtype::parse(text).map_err(|error| {
        Failure::usage(format!("--dtype: {error}"))
            .replacing_hint("types are written as in NumPy: '<f4', '|S5', \"[('a', '<i4')]\"")
    })
}

fn run(request: &Request, cli: &Cli) -> Outcome {
    let input = Input::new(request.path)?;
    let found = input.detect()?;
    let reading = Reading { column: request.column.clone(), nthreads: cli.nthreads() };
    let mut source =
        convert::open_as(input.path(), &found, &reading).map_err(|error| input.error(error))?;
    let array = match request.dtype {
        None => source.content().array.clone(),
        Some(text) => Some(
            reinterpret(&parse_dtype(text)?, source.as_ref())
                .map_err(|failure| failure.at(input.name()))?,
        ),
    };
    let mut output = BufWriter::with_capacity(256 << 10, std::io::stdout().lock());
    let printed = match &array {
        Some(info) => print_array(&mut output, source.as_mut(), info, request),
        None => print_bytes(&mut output, source.as_mut(), request),
    };
    printed.map_err(|failure| failure.at(input.name()))?;
    Ok(output.flush()?)
}

/// Returns the description of all bytes as items of a type.
fn reinterpret(dtype: &Dtype, source: &dyn Source) -> Result<ArrayInfo, Failure> {
    let nbytes = source.content().nbytes;
    let size = dtype.itemsize();
    if size == 0 || !nbytes.is_multiple_of(size) {
        return Err(Failure::new(format!("{nbytes} bytes are no multiple of {size} bytes")));
    }
    Ok(ArrayInfo {
        dtype: dtype.described().map_err(convert::Error::from)?,
        shape: vec![nbytes / size],
        fortran_order: false,
    })
}

/// Returns the start and the stop index of each dimension. `head` prints the first items of the
/// first lines.
fn bounds(request: &Request, shape: &[u64]) -> Result<(Vec<u64>, Vec<u64>), Failure> {
    match &request.slice {
        Slice::Text(text) => slice::parse(text, shape),
        Slice::First(lines) => {
            let mut stop = shape.to_vec();
            if let [.., _, last] = stop.as_mut_slice() {
                *last = HEAD_ITEMS.min(*last);
            }
            let by_lines = shape.len() - usize::from(shape.len() > 1);
            let mut lines = *lines;
            for len in stop[..by_lines].iter_mut().rev() {
                let full = *len;
                *len = full.min(lines);
                lines = lines.div_ceil(full.max(1));
            }
            Ok((vec![0; shape.len()], stop))
        }
    }
}

/// Returns the offset of the first requested byte and the offset after the last one.
fn byte_bounds(request: &Request, nbytes: u64) -> Result<(u64, u64), Failure> {
    match &request.slice {
        Slice::Text(text) => {
            let (start, stop) = slice::parse(text, &[nbytes])?;
            Ok((start[0], stop[0]))
        }
        Slice::First(lines) => Ok((0, lines.saturating_mul(BYTES_PER_LINE).min(nbytes))),
    }
}

/// Allocates a buffer.
fn buffer(size: u64) -> Result<Vec<u8>, Failure> {
    let size = usize::try_from(size).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
    bytes.resize(size, 0);
    Ok(bytes)
}

fn print_bytes(output: &mut impl Write, source: &mut dyn Source, request: &Request) -> Outcome {
    let (mut position, end) = byte_bounds(request, source.content().nbytes)?;
    while position < end {
        let mut bytes = buffer((end - position).min(BUFFER_SIZE))?;
        source.read(position, &mut bytes)?;
        if request.raw {
            output.write_all(&bytes)?;
        } else {
            for (number, line) in bytes.chunks(BYTES_PER_LINE as usize).enumerate() {
                let at = position + number as u64 * BYTES_PER_LINE;
                write_bytes(output, at, line)?;
            }
        }
        position += bytes.len() as u64;
    }
    Ok(())
}

/// Writes a line of bytes: the offset, hexadecimal digits and characters.
fn write_bytes(output: &mut impl Write, at: u64, line: &[u8]) -> Outcome {
    let digits: Vec<String> = line.chunks(2).map(items::hex).collect();
    let visible = |byte: u8| {
        if byte.is_ascii_graphic() || byte == b' ' { byte.into() } else { '.' }
    };
    let characters: String = line.iter().map(|&byte| visible(byte)).collect();
    Ok(writeln!(output, "{at:08x}  {:<39}  {characters}", digits.join(" "))?)
}

/// Reads a box of items. With option `--dtype`, the box has one dimension.
fn read(
    source: &mut dyn Source,
    request: &Request,
    start: &[u64],
    stop: &[u64],
    dest: &mut [u8],
) -> Outcome {
    if request.dtype.is_none() {
        return Ok(source.read_box(start, stop, dest)?);
    }
    let itemsize = (dest.len() as u64).checked_div(stop[0] - start[0]);
    Ok(source.read(start[0] * itemsize.unwrap_or(0), dest)?)
}

fn print_array(
    output: &mut impl Write,
    source: &mut dyn Source,
    info: &ArrayInfo,
    request: &Request,
) -> Outcome {
    let (start, stop) = bounds(request, &info.shape)?;
    let itemsize = info.dtype.itemsize();
    let extent = |dim: usize| stop[dim] - start[dim];
    let is_empty = (0..start.len()).any(|dim| extent(dim) == 0) || itemsize == 0;
    if is_empty {
        return Ok(());
    }
    let mut printer = Printer::new(info.dtype.clone(), &info.shape, request);
    // Iterates over the outer dimensions, until the inner ones fit into the buffer.
    let inner_bytes =
        |dim: usize| (dim..start.len()).map(extent).product::<u64>().saturating_mul(itemsize);
    let outer = (0..start.len()).find(|&dim| inner_bytes(dim + 1) <= BUFFER_SIZE);
    let Some(outer) = outer else {
        // An array without dimensions has one item.
        let mut bytes = buffer(itemsize)?;
        read(source, request, &start, &stop, &mut bytes)?;
        return printer.print(output, &start, &stop, &bytes);
    };
    let rows = (BUFFER_SIZE / inner_bytes(outer + 1)).clamp(1, MAX_LINES);
    let mut index = start.clone();
    loop {
        let mut until = stop.clone();
        for dim in 0..outer {
            until[dim] = index[dim] + 1;
        }
        until[outer] = stop[outer].min(index[outer] + rows);
        let size = index.iter().zip(&until).map(|(first, last)| last - first);
        let mut bytes = buffer(size.product::<u64>().saturating_mul(itemsize))?;
        read(source, request, &index, &until, &mut bytes)?;
        printer.print(output, &index, &until, &bytes)?;
        index[outer] = until[outer];
        let mut dim = outer;
        while index[dim] == stop[dim] {
            let Some(outer_dim) = dim.checked_sub(1) else {
                return Ok(());
            };
            index[dim] = start[dim];
            dim = outer_dim;
            index[dim] += 1;
        }
    }
}

/// Prints boxes of items.
struct Printer {
    dtype: Dtype,
    raw: bool,
    /// Whether lines are truncated.
    has_more: bool,
    /// Whether a line contains the items of the last dimension. Otherwise it contains one item.
    by_lines: bool,
    has_heading: bool,
    /// The maximum number of lines that remain to be printed.
    lines_left: u64,
}

impl Printer {
    fn new(dtype: Dtype, shape: &[u64], request: &Request) -> Printer {
        let is_record = dtype.kind() == Kind::Record;
        let is_head = matches!(request.slice, Slice::First(_));
        let by_lines = shape.len() > 1 && !is_record;
        Printer {
            raw: request.raw,
            has_more: is_head && by_lines && shape.last().is_some_and(|&len| len > HEAD_ITEMS),
            by_lines,
            has_heading: is_record,
            lines_left: match request.slice {
                Slice::Text(_) => u64::MAX,
                Slice::First(lines) => lines,
            },
            dtype,
        }
    }

    fn print(
        &mut self,
        output: &mut impl Write,
        start: &[u64],
        stop: &[u64],
        bytes: &[u8],
    ) -> Outcome {
        if self.raw {
            return Ok(output.write_all(bytes)?);
        }
        let itemsize = self.dtype.itemsize() as usize;
        let ndim = start.len();
        let (lead, along) = if self.by_lines {
            (ndim - 1, (stop[ndim - 1] - start[ndim - 1]) as usize)
        } else {
            (ndim, 1)
        };
        let is_record = self.dtype.kind() == Kind::Record;
        let cells =
            if is_record { self.dtype.fields().len() } else { along + usize::from(self.has_more) };
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
        let mut index = start[..lead].to_vec();
        for line in bytes.chunks_exact(itemsize * along) {
            if self.lines_left == 0 {
                break;
            }
            self.lines_left -= 1;
            let mut row: Vec<String> = index.iter().map(u64::to_string).collect();
            if is_record {
                let fields = self.dtype.fields().iter();
                row.extend(fields.map(|field| items::of_field(field, line)));
            } else {
                let items = line.chunks_exact(itemsize);
                row.extend(items.map(|item| items::text(&self.dtype, item)));
                if self.has_more {
                    row.push("…".to_owned());
                }
            }
            if lead > 0
                && let Some(last) = row.get_mut(lead - 1)
            {
                last.push(':');
            }
            table.add(row);
            for dim in (0..lead).rev() {
                index[dim] += 1;
                if index[dim] < stop[dim] {
                    break;
                }
                index[dim] = start[dim];
            }
        }
        let styled = |line: &str| {
            if has_heading { style.faint(line) } else { line.to_owned() }
        };
        Ok(table.write(output, styled)?)
    }
}
