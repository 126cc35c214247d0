//! `cat` and `head`.
//!
//! Of an array each line is what lies along the last dimension, behind the indices of the others; of records each
//! line is one, with a column for each field; of what is no array each line is 16 bytes. As many lines at a time as
//! fit into a buffer are read and put in line.

use crate::cli::{CatArgs, Cli, HeadArgs};
use crate::items;
use crate::place::Input;
use crate::slice;
use crate::table::{Side, Table};
use crate::voice::{Failure, Outcome, Paint};
use ferroblosc::bcolz::{Dtype, Kind};
use ferroblosc::bloscpack::{self, ArrayInfo, Literal};
use ferroblosc::convert::{self, Reading, Source};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Bytes that are read at once, unless one line needs more.
const AT_ONCE: u64 = 4 << 20;
/// Lines that are put in line with each other.
const LINES: u64 = 500;
/// Bytes in a line of what is no array.
const BYTES: u64 = 16;
/// Items of a line that `head` shows.
const SHOWN: u64 = 10;

/// What is to be printed.
struct Wanted<'a> {
    path: &'a Path,
    column: &'a Option<String>,
    dtype: &'a Option<String>,
    slice: Slice<'a>,
    raw: bool,
}

/// Which items.
enum Slice<'a> {
    /// Those of this text.
    Text(&'a str),
    /// So many of the first dimension.
    First(u64),
}

pub fn cat(args: &CatArgs, cli: &Cli) -> Outcome {
    run(
        &Wanted {
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
        &Wanted {
            path: &args.path,
            column: &args.column,
            dtype: &args.dtype,
            slice: Slice::First(args.lines),
            raw: false,
        },
        cli,
    )
}

/// The type that is asked for.
fn named(text: &str) -> Result<Dtype, Failure> {
    Dtype::parse(text).map_err(|error| Failure::usage(error.to_string()))
}

fn run(wanted: &Wanted, cli: &Cli) -> Outcome {
    let input = Input::new(wanted.path)?;
    let found = input.detect()?;
    let reading = Reading {
        column: wanted.column.clone(),
        nthreads: cli.nthreads(),
    };
    let mut source =
        convert::open_as(input.path(), &found, &reading).map_err(|error| input.blame(error))?;
    let array = match wanted.dtype {
        None => source.content().array.clone(),
        Some(text) => Some(
            taken_as(&named(text)?, source.as_ref()).map_err(|failure| failure.at(input.name()))?,
        ),
    };
    let mut output = BufWriter::with_capacity(256 << 10, std::io::stdout().lock());
    let printed = match &array {
        Some(info) => print_array(&mut output, source.as_mut(), info, wanted),
        None => print_bytes(&mut output, source.as_mut(), wanted),
    };
    printed.map_err(|failure| failure.at(input.name()))?;
    Ok(output.flush()?)
}

/// All bytes as items of a type.
fn taken_as(dtype: &Dtype, source: &dyn Source) -> Result<ArrayInfo, Failure> {
    let nbytes = source.content().nbytes;
    let size = dtype.itemsize();
    if size == 0 || !nbytes.is_multiple_of(size) {
        return Err(Failure::new(format!(
            "{nbytes} bytes are no items of {size} bytes"
        )));
    }
    Ok(ArrayInfo {
        dtype: bloscpack::Dtype::parse(&dtype.description().repr())?,
        shape: vec![nbytes / size],
        fortran_order: false,
    })
}

/// What is wanted of a shape. The first lines are those of the first indices; of their items the first are wanted.
fn bounds(wanted: &Wanted, shape: &[u64]) -> Result<(Vec<u64>, Vec<u64>), Failure> {
    match &wanted.slice {
        Slice::Text(text) => slice::parse(text, shape),
        Slice::First(lines) => {
            let mut stop = shape.to_vec();
            if let [.., _, last] = stop.as_mut_slice() {
                *last = SHOWN.min(*last);
            }
            let by_lines = shape.len() - usize::from(shape.len() > 1);
            let mut lines = *lines;
            for len in stop[..by_lines].iter_mut().rev() {
                let there = *len;
                *len = there.min(lines);
                lines = lines.div_ceil(there.max(1));
            }
            Ok((vec![0; shape.len()], stop))
        }
    }
}

/// What is wanted of so many bytes.
fn bytes_wanted(wanted: &Wanted, nbytes: u64) -> Result<(u64, u64), Failure> {
    match &wanted.slice {
        Slice::Text(text) => {
            let (start, stop) = slice::parse(text, &[nbytes])?;
            Ok((start[0], stop[0]))
        }
        Slice::First(lines) => Ok((0, lines.saturating_mul(BYTES).min(nbytes))),
    }
}

/// A buffer of so many bytes.
fn buffer(size: u64) -> Result<Vec<u8>, Failure> {
    let size = usize::try_from(size).map_err(|_| ferroblosc::Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(size)
        .map_err(|_| ferroblosc::Error::MemoryAlloc)?;
    bytes.resize(size, 0);
    Ok(bytes)
}

fn print_bytes(output: &mut impl Write, source: &mut dyn Source, wanted: &Wanted) -> Outcome {
    let (mut position, end) = bytes_wanted(wanted, source.content().nbytes)?;
    while position < end {
        let mut bytes = buffer((end - position).min(AT_ONCE))?;
        source.read(position, &mut bytes)?;
        if wanted.raw {
            output.write_all(&bytes)?;
        } else {
            for (number, line) in bytes.chunks(BYTES as usize).enumerate() {
                let at = position + number as u64 * BYTES;
                write_bytes(output, at, line)?;
            }
        }
        position += bytes.len() as u64;
    }
    Ok(())
}

/// A line of bytes: where they are, in hexadecimal digits, and as characters.
fn write_bytes(output: &mut impl Write, at: u64, line: &[u8]) -> Outcome {
    let digits: Vec<String> = line.chunks(2).map(items::hex).collect();
    let visible = |byte: u8| {
        if byte.is_ascii_graphic() || byte == b' ' {
            byte.into()
        } else {
            '.'
        }
    };
    let characters: String = line.iter().map(|&byte| visible(byte)).collect();
    Ok(writeln!(
        output,
        "{at:08x}  {:<39}  {characters}",
        digits.join(" ")
    )?)
}

/// Reads a box of items. Under a type of the caller's there is one dimension.
fn read(
    source: &mut dyn Source,
    wanted: &Wanted,
    start: &[u64],
    stop: &[u64],
    dest: &mut [u8],
) -> Outcome {
    if wanted.dtype.is_none() {
        return Ok(source.read_box(start, stop, dest)?);
    }
    let itemsize = (dest.len() as u64).checked_div(stop[0] - start[0]);
    Ok(source.read(start[0] * itemsize.unwrap_or(0), dest)?)
}

fn print_array(
    output: &mut impl Write,
    source: &mut dyn Source,
    info: &ArrayInfo,
    wanted: &Wanted,
) -> Outcome {
    let (start, stop) = bounds(wanted, &info.shape)?;
    let itemsize = info.dtype.itemsize();
    let extent = |dim: usize| stop[dim] - start[dim];
    let is_empty = (0..start.len()).any(|dim| extent(dim) == 0) || itemsize == 0;
    if is_empty {
        return Ok(());
    }
    let literal = Literal::parse(&info.dtype.repr());
    let literal = literal.ok_or_else(|| Failure::new("the type is not understood"))?;
    let mut printer = Printer::new(Dtype::from_description(&literal)?, &info.shape, wanted);
    // The outer dimensions are walked over until what is inside fits into the buffer.
    let inner_bytes = |dim: usize| {
        (dim..start.len())
            .map(extent)
            .product::<u64>()
            .saturating_mul(itemsize)
    };
    let outer = (0..start.len()).find(|&dim| inner_bytes(dim + 1) <= AT_ONCE);
    let Some(outer) = outer else {
        // A single item, of no dimension.
        let mut bytes = buffer(itemsize)?;
        read(source, wanted, &start, &stop, &mut bytes)?;
        return printer.print(output, &start, &stop, &bytes);
    };
    let rows = (AT_ONCE / inner_bytes(outer + 1)).clamp(1, LINES);
    let mut index = start.clone();
    loop {
        let mut until = stop.clone();
        for dim in 0..outer {
            until[dim] = index[dim] + 1;
        }
        until[outer] = stop[outer].min(index[outer] + rows);
        let size = index.iter().zip(&until).map(|(first, last)| last - first);
        let mut bytes = buffer(size.product::<u64>().saturating_mul(itemsize))?;
        read(source, wanted, &index, &until, &mut bytes)?;
        printer.print(output, &index, &until, &bytes)?;
        index[outer] = until[outer];
        let mut dim = outer;
        while index[dim] == stop[dim] {
            let Some(before) = dim.checked_sub(1) else {
                return Ok(());
            };
            index[dim] = start[dim];
            dim = before;
            index[dim] += 1;
        }
    }
}

/// Prints boxes of items.
struct Printer {
    dtype: Dtype,
    raw: bool,
    /// Whether there are more items in a line than those wanted.
    has_more: bool,
    /// Whether items of a line are of the last dimension; else each line is one item.
    by_lines: bool,
    has_heading: bool,
    /// How many more lines are printed at most.
    lines_left: u64,
}

impl Printer {
    fn new(dtype: Dtype, shape: &[u64], wanted: &Wanted) -> Printer {
        let is_record = dtype.kind() == Kind::Record;
        let is_head = matches!(wanted.slice, Slice::First(_));
        let by_lines = shape.len() > 1 && !is_record;
        Printer {
            raw: wanted.raw,
            has_more: is_head && by_lines && shape.last().is_some_and(|&len| len > SHOWN),
            by_lines,
            has_heading: is_record,
            lines_left: match wanted.slice {
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
        let (lead, along) = match self.by_lines {
            true => (ndim - 1, (stop[ndim - 1] - start[ndim - 1]) as usize),
            false => (ndim, 1),
        };
        let is_record = self.dtype.kind() == Kind::Record;
        let cells = match is_record {
            true => self.dtype.fields().len(),
            false => along + usize::from(self.has_more),
        };
        let mut sides = vec![Side::Right; lead + cells];
        let is_text = |kind| {
            matches!(
                kind,
                Kind::Bytes | Kind::Unicode | Kind::Void | Kind::Object
            )
        };
        if is_record {
            for (side, field) in sides[lead..].iter_mut().zip(self.dtype.fields()) {
                if is_text(field.dtype.kind()) || !field.shape.is_empty() {
                    *side = Side::Left;
                }
            }
        } else if is_text(self.dtype.kind()) {
            sides[lead..].fill(Side::Left);
        }
        let mut table = Table::new(&sides);
        let paint = Paint::output();
        let has_heading = std::mem::take(&mut self.has_heading);
        if has_heading {
            let names = self.dtype.fields().iter().map(|field| field.name.clone());
            table.add(
                std::iter::repeat_n("#".to_owned(), lead)
                    .chain(names)
                    .collect(),
            );
        }
        let mut index = start[..lead].to_vec();
        for line in bytes.chunks_exact(itemsize * along) {
            if self.lines_left == 0 {
                break;
            }
            self.lines_left -= 1;
            let mut row: Vec<String> = index.iter().map(u64::to_string).collect();
            match is_record {
                true => row.extend(
                    self.dtype
                        .fields()
                        .iter()
                        .map(|field| items::of_field(field, line)),
                ),
                false => {
                    let items = line.chunks_exact(itemsize);
                    row.extend(items.map(|item| items::text(&self.dtype, item)));
                    if self.has_more {
                        row.push("…".to_owned());
                    }
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
        let painted = |line: &str| match has_heading {
            true => paint.faint(line),
            false => line.to_owned(),
        };
        Ok(table.write(output, painted)?)
    }
}
