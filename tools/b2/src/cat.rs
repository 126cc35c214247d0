//! `cat` and `head`.
//!
//! Arrays are printed by lines (`printer.rs`). Other data: a line contains 16 bytes. The lines that
//! fit into a buffer are read at once, and their columns are aligned. Of a table, a line that does
//! not fit is printed as several lines.

use crate::cli::{CatArgs, Cli, HeadArgs, TextArgs};
use crate::error::{Failure, Outcome};
use crate::field;
use crate::io::Input;
use crate::items;
use crate::plural::with_article;
use crate::printer::{Form, PrintOptions, Printer};
use crate::rows;
use crate::slice::{self, Axis};
use crate::store::{self, Target};
use ferroblosc_formats::convert::{self, Source};
use ferroblosc_formats::numpy::{ArrayInfo, Dtype};
use ferroblosc_formats::store::Class;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The size of the buffer in bytes, unless a line is larger.
const BUFFER_SIZE: u64 = 4 << 20;
/// The maximum number of lines with aligned columns.
const MAX_LINES: u64 = 500;
/// The maximum number of items in a line of CSV or JSON.
const MAX_LINE_ITEMS: u64 = 4 << 20;
/// The maximum size of the items in a line of CSV or JSON, in bytes.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// The number of bytes in a line, for data other than arrays.
const BYTES_PER_LINE: u64 = 16;
/// The maximum number of items in a line of `head`.
const HEAD_ITEMS: u64 = 10;

/// A request of `cat` or `head`.
struct CatRequest<'a> {
    path: &'a Path,
    column: &'a Option<String>,
    /// The condition that rows of a table in a store satisfy.
    condition: Option<&'a str>,
    dtype: &'a Option<String>,
    slice: Slice<'a>,
    form: Form,
    text: &'a TextArgs,
    /// Whether the items are printed to standard output.
    is_stdout: bool,
}

/// The items to print.
enum Slice<'a> {
    /// A slice in text form.
    Text(&'a str),
    /// The first lines.
    First(u64),
}

/// Returns the form of the output.
fn form(text: &TextArgs, raw: bool) -> Form {
    match (raw, text.csv, text.json) {
        (true, _, _) => Form::Raw,
        (_, true, _) => Form::Csv,
        (_, _, true) => Form::Json,
        _ => Form::Table,
    }
}

pub fn cat(args: &CatArgs, cli: &Cli) -> Outcome {
    run(
        &CatRequest {
            path: &args.path,
            column: &args.column,
            condition: args.condition.as_deref(),
            dtype: &args.dtype,
            slice: Slice::Text(args.slice.as_deref().unwrap_or_default()),
            form: form(&args.text, args.raw),
            text: &args.text,
            is_stdout: true,
        },
        cli,
    )
}

pub fn head(args: &HeadArgs, cli: &Cli) -> Outcome {
    run(
        &CatRequest {
            path: &args.path,
            column: &args.column,
            condition: args.condition.as_deref(),
            dtype: &args.dtype,
            slice: Slice::First(args.lines),
            form: form(&args.text, false),
            text: &args.text,
            is_stdout: true,
        },
        cli,
    )
}

/// Parses a type of the command line.
pub fn parse_dtype(text: &str) -> Result<Dtype, Failure> {
    Dtype::parse(text).map_err(|error| {
        let is_subarray = text.trim_start().starts_with('(');
        Failure::usage(format!("--dtype: {error}")).replacing_hint(if is_subarray {
            "write the type of one item, such as '<i4'; only fields have shapes: \"[('a', '<i4', (2,))]\""
        } else {
            "types are written as in NumPy: '<f4', '|S5', \"[('a', '<i4')]\""
        })
    })
}

fn run(request: &CatRequest, cli: &Cli) -> Outcome {
    let dtype = request.dtype.as_deref().map(parse_dtype).transpose()?;
    if let Some(target) = store::target(request.path) {
        return of_store(&target, request, dtype.as_ref());
    }
    let input = Input::new(request.path)?;
    let found = input.detect()?;
    if request.condition.is_some() {
        return Err(Failure::usage("--where is only supported for tables in stores"));
    }
    let source = field::open(input.path(), &found, request.column.as_deref(), cli.nthreads())
        .map_err(|failure| input.error(failure))?;
    print(source, request, dtype.as_ref()).map_err(|failure| failure.at(input.name()))
}

/// Prints an object in a store. Tables and arrays of objects have no items of one type, and are
/// printed as rows.
fn of_store(target: &Target, request: &CatRequest, dtype: Option<&Dtype>) -> Outcome {
    let store = target.open()?;
    let class = store.class(target.key()).map_err(|error| target.error(error))?;
    let source = match class {
        Class::NdArray => store
            .array(target.key())
            .map_err(Failure::from)
            .and_then(|array| Ok(convert::array_source(array)?)),
        Class::SChunk => store
            .leaf(target.key())
            .map_err(Failure::from)
            .and_then(|leaf| Ok(convert::schunk_source(leaf.into_schunk())?)),
        _ if dtype.is_some() => {
            let text = format!("--dtype is not supported for {}", with_article(class.name()));
            return Err(Failure::usage(text));
        }
        _ => {
            let (slice, lines) = match request.slice {
                Slice::Text(text) => (Some(text), u64::MAX),
                Slice::First(lines) => (None, lines),
            };
            let request = rows::RowRequest {
                column: request.column.as_deref(),
                condition: request.condition,
                slice,
                lines,
                form: request.form,
                has_index: !request.text.no_index,
                digits: request.text.precision.map(usize::from),
            };
            return rows::print(target, &store, class, &request);
        }
    };
    if request.condition.is_some() {
        return Err(target.at(Failure::new("--where selects rows of tables")));
    }
    let source = source.and_then(|source| match request.column {
        Some(name) => field::select(source, name),
        None => Ok(source),
    });
    source.and_then(|source| print(source, request, dtype)).map_err(|failure| target.at(failure))
}

fn print(mut source: Box<dyn Source>, request: &CatRequest, dtype: Option<&Dtype>) -> Outcome {
    let array = match dtype {
        None if matches!(request.form, Form::Csv | Form::Json) => {
            Some(array_or_bytes(source.as_ref())?)
        }
        None => source.content().array.clone(),
        Some(dtype) => Some(reinterpret(dtype, source.as_ref())?),
    };
    let mut output = BufWriter::with_capacity(256 << 10, crate::io::stdout());
    match &array {
        Some(info) => print_array(&mut output, source.as_mut(), info, request)?,
        None => print_bytes(&mut output, source.as_mut(), request)?,
    }
    Ok(output.flush()?)
}

/// Writes the items of an array as CSV, without indices.
pub fn write_csv(source: &mut dyn Source, info: &ArrayInfo, output: &mut impl Write) -> Outcome {
    let text = TextArgs { csv: true, json: false, no_index: true, precision: None };
    let request = CatRequest {
        path: Path::new(""),
        column: &None,
        condition: None,
        dtype: &None,
        slice: Slice::Text(""),
        form: Form::Csv,
        text: &text,
        is_stdout: false,
    };
    print_array(output, source, info, &request)
}

/// Returns the description of an array. Other data are an array of bytes.
pub fn array_or_bytes(source: &dyn Source) -> Result<ArrayInfo, Failure> {
    match &source.content().array {
        Some(info) => Ok(info.clone()),
        None => bytes_of(source.content().nbytes),
    }
}

/// Returns the description of an array of bytes.
pub fn bytes_of(nbytes: u64) -> Result<ArrayInfo, Failure> {
    Ok(ArrayInfo {
        dtype: Dtype::parse("|u1").map_err(convert::Error::from)?,
        shape: vec![nbytes],
        fortran_order: false,
    })
}

/// Returns the description of all bytes as items of a type.
pub fn reinterpret(dtype: &Dtype, source: &dyn Source) -> Result<ArrayInfo, Failure> {
    let nbytes = source.content().nbytes;
    let size = dtype.itemsize();
    if size == 0 || !nbytes.is_multiple_of(size) {
        return Err(Failure::new(format!("{nbytes} bytes is not a multiple of {size} bytes")));
    }
    Ok(ArrayInfo {
        dtype: dtype.described().map_err(convert::Error::from)?,
        shape: vec![nbytes / size],
        fortran_order: false,
    })
}

/// Returns the selected indices of each dimension. `head` selects the first items of the first
/// lines.
fn selection(request: &CatRequest, shape: &[u64], is_table: bool) -> Result<Vec<Axis>, Failure> {
    match &request.slice {
        Slice::Text(text) => slice::parse(text, shape),
        Slice::First(lines) => {
            let mut axes: Vec<Axis> = shape.iter().map(|&len| Axis::whole(len)).collect();
            if let [.., _, last] = axes.as_mut_slice()
                && is_table
            {
                last.count = HEAD_ITEMS.min(last.count);
            }
            let by_lines = shape.len() - usize::from(shape.len() > 1);
            let mut lines = *lines;
            for axis in axes[..by_lines].iter_mut().rev() {
                let full = axis.count;
                axis.count = full.min(lines);
                lines = lines.div_ceil(full.max(1));
            }
            Ok(axes)
        }
    }
}

/// Returns the offset of the first requested byte and the offset after the last one.
fn byte_bounds(request: &CatRequest, nbytes: u64) -> Result<(u64, u64), Failure> {
    match &request.slice {
        Slice::Text(text) => match slice::parse(text, &[nbytes])?[..] {
            [axis] if axis.step == 1 => Ok(axis.bounds()),
            _ => Err(Failure::usage(format!("--slice '{text}': bytes are printed without steps"))
                .replacing_hint("with '--dtype u1' they are an array")),
        },
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

fn print_bytes(output: &mut impl Write, source: &mut dyn Source, request: &CatRequest) -> Outcome {
    let (mut position, end) = byte_bounds(request, source.content().nbytes)?;
    while position < end {
        let mut bytes = buffer((end - position).min(BUFFER_SIZE))?;
        source.read(position, &mut bytes)?;
        if request.form == Form::Raw {
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
    request: &CatRequest,
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
    request: &CatRequest,
) -> Outcome {
    let is_table = request.form == Form::Table;
    let axes = selection(request, &info.shape, is_table)?;
    let itemsize = info.dtype.itemsize();
    let is_head = matches!(request.slice, Slice::First(_));
    let options = PrintOptions {
        form: request.form,
        has_index: !request.text.no_index,
        digits: request.text.precision.map(usize::from),
        has_more: is_head && info.shape.last().is_some_and(|&len| len > HEAD_ITEMS),
        lines: match request.slice {
            Slice::Text(_) => u64::MAX,
            Slice::First(lines) => lines,
        },
        is_text: request.is_stdout,
    };
    let mut printer = Printer::new(info.dtype.clone(), info.shape.len(), options);
    if axes.iter().any(|axis| axis.count == 0) || itemsize == 0 {
        return printer.print_empty(output, &axes);
    }
    // Iterates over the outer dimensions, until the inner ones fit into the buffer.
    let extent = |axis: &Axis| {
        let (start, stop) = axis.bounds();
        stop - start
    };
    let inner_bytes =
        |dim: usize| axes[dim..].iter().map(extent).product::<u64>().saturating_mul(itemsize);
    let outer = (0..axes.len()).find(|&dim| inner_bytes(dim + 1) <= BUFFER_SIZE);
    let Some(outer) = outer.or(axes.len().checked_sub(1)) else {
        // An array without dimensions has one item.
        let bytes = read_axes(source, request, &axes, itemsize)?;
        return printer.print(output, &axes, &bytes);
    };
    // A line of CSV or JSON that is read in several boxes is printed at once.
    let joins_lines = outer + 1 == axes.len() && printer.has_whole_lines();
    let mut line = Vec::new();
    if joins_lines {
        let count = axes[outer].count;
        let nbytes = count.saturating_mul(itemsize);
        if count > MAX_LINE_ITEMS || nbytes > MAX_LINE_BYTES {
            return Err(Failure::new(format!(
                "a line has {count} items of {itemsize} bytes; --csv and --json print at most {MAX_LINE_ITEMS} items and {MAX_LINE_BYTES} bytes"
            ))
            .with_hint("'--slice' selects fewer of them"));
        }
    }
    let most_lines = if is_table { MAX_LINES } else { u64::MAX };
    // The indices between the selected ones are read, too.
    let fitting = (BUFFER_SIZE / inner_bytes(outer + 1)).max(1);
    let rows = ((fitting - 1) / axes[outer].step.unsigned_abs() + 1).min(most_lines);
    // The number of the next index of each dimension.
    let mut next = vec![0; axes.len()];
    loop {
        let mut part = axes.clone();
        for dim in 0..outer {
            part[dim] = axes[dim].part(next[dim], 1);
        }
        part[outer] = axes[outer].part(next[outer], rows);
        let bytes = read_axes(source, request, &part, itemsize)?;
        next[outer] += part[outer].count;
        if joins_lines {
            line.extend_from_slice(&bytes);
            if next[outer] == axes[outer].count {
                part[outer] = axes[outer];
                printer.print(output, &part, &line)?;
                line.clear();
            }
        } else {
            printer.print(output, &part, &bytes)?;
        }
        let mut dim = outer;
        while next[dim] == axes[dim].count {
            let Some(outer_dim) = dim.checked_sub(1) else {
                return Ok(());
            };
            next[dim] = 0;
            dim = outer_dim;
            next[dim] += 1;
        }
    }
}

/// Reads the selected items: the smallest box that contains them, from which they are copied.
fn read_axes(
    source: &mut dyn Source,
    request: &CatRequest,
    axes: &[Axis],
    itemsize: u64,
) -> Result<Vec<u8>, Failure> {
    let (start, stop): (Vec<u64>, Vec<u64>) = axes.iter().map(Axis::bounds).unzip();
    let extents: Vec<u64> = start.iter().zip(&stop).map(|(first, last)| last - first).collect();
    let mut bytes = buffer(extents.iter().product::<u64>().saturating_mul(itemsize))?;
    read(source, request, &start, &stop, &mut bytes)?;
    if axes.iter().all(|axis| axis.step == 1 || axis.count == 1) {
        return Ok(bytes);
    }
    let mut picked = Vec::with_capacity(bytes.len());
    let mut numbers = vec![0; axes.len()];
    loop {
        let at = axes
            .iter()
            .zip(&numbers)
            .zip(&start)
            .zip(&extents)
            .fold(0, |at, (((axis, &number), first), extent)| {
                at * extent + (axis.at(number) - first)
            });
        let item = (at * itemsize) as usize;
        picked.extend_from_slice(&bytes[item..item + itemsize as usize]);
        let mut dim = axes.len();
        loop {
            let Some(inner) = dim.checked_sub(1) else {
                return Ok(picked);
            };
            dim = inner;
            numbers[dim] += 1;
            if numbers[dim] < axes[dim].count {
                break;
            }
            numbers[dim] = 0;
        }
    }
}
