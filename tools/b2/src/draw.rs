//! `plot`: the items of a slice with one or two dimensions.
//!
//! Items are read in order, at most 4 MiB at a time, and collected in the pixels of the plot: the
//! memory does not depend on the size of the data.

use crate::cat::{array_or_bytes, parse_dtype};
use crate::cli::{Cli, PlotArgs};
use crate::error::{Failure, Outcome};
use crate::extract::Selection;
use crate::field;
use crate::fill::shape_text;
use crate::io::{Output, refuse_directory_name};
use crate::items;
use crate::members;
use crate::picture::{self, Image, Line};
use ferroblosc::Error;
use ferroblosc::io::named;
use ferroblosc_formats::convert::{self, SourceOptions};
use ferroblosc_formats::numpy::{ArrayInfo, Dtype, Kind};
use ferroblosc_tools_common::progress::bar;
use std::path::Path;

/// The maximum number of pixels along an axis.
const PIXELS: u64 = 1000;
/// The maximum number of bytes that are read at once, unless an item is larger.
const READ_BYTES: u64 = 4 << 20;

/// The format of a plot.
#[derive(Clone, Copy)]
enum PlotFormat {
    Svg,
    Png,
}

fn format_of(path: &Path) -> Result<PlotFormat, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(PlotFormat::Svg),
        Some("png") => Ok(PlotFormat::Png),
        _ => {
            let shown = path.display();
            Err(Failure::usage(format!("{shown}: the extension of a plot is .svg or .png")))
        }
    }
}

pub fn run(args: &PlotArgs, cli: &Cli) -> Outcome {
    let format = format_of(&args.output)?;
    let input = members::open_data(&args.file)?;
    input.refuse_nesting(&args.output)?;
    let found = input.detect()?;
    let source = field::open(input.path(), &found, args.column.as_deref(), cli.nthreads());
    let source = source.map_err(|failure| input.error(failure))?;
    let dtype = args.dtype.as_deref().map(parse_dtype).transpose()?;
    let mut options = SourceOptions::default();
    options.dtype = dtype;
    let source = convert::with_options(source, &options);
    let mut source = source.map_err(|error| input.error(error))?;
    let info = array_or_bytes(source.as_ref()).map_err(|failure| input.error(failure))?;
    if !matches!(info.dtype.kind(), Kind::Bool | Kind::Int | Kind::Uint | Kind::Float) {
        let shown = info.dtype.repr();
        return Err(input.error(
            Failure::new(format!("items of the type {shown} are not numbers"))
                .with_hint("'--column' selects a field of records"),
        ));
    }
    let selection = Selection::parse(args.slice.as_deref().unwrap_or_default(), &info)
        .map_err(|failure| failure.at(input.name()))?;
    let shape = selection.shape();
    refuse_directory_name(&args.output)?;
    let output = Output::new(&args.output, args.force)?;
    let bar = bar(!cli.quiet, Some(shape.iter().product::<u64>() * info.dtype.itemsize()));
    let mut read = |start: &[u64], stop: &[u64], dest: &mut [u8]| {
        bar.inc(dest.len() as u64);
        let read = selection.read(source.as_mut(), (start, stop), dest);
        read.map_err(|error| input.error(error))
    };
    let picture = match shape.as_slice() {
        &[len] => {
            let line = line_of(len, &info, &mut read)?;
            match format {
                PlotFormat::Svg => picture::line_svg(&line).into_bytes(),
                PlotFormat::Png => picture::png(&picture::line_image(&line))?,
            }
        }
        &[rows, columns] => {
            let image = image_of((rows, columns), &info, &mut read)?;
            match format {
                PlotFormat::Svg => picture::image_svg(&image, (rows, columns))?.into_bytes(),
                PlotFormat::Png => picture::png(&image.coloured())?,
            }
        }
        shape => {
            let shown = shape_text(shape);
            return Err(input.error(
                Failure::new(format!("the shape {shown} has neither one nor two dimensions"))
                    .with_hint("SLICE selects them: '0,...' selects the first index of the first dimension"),
            ));
        }
    };
    bar.finish_and_clear();
    let written = named::write(output.path(), &picture);
    written.map_err(|error| output.error(Failure::from(error)))?;
    output.commit()
}

/// Converts an item. An item that is not finite has no number.
fn number(dtype: &Dtype, bytes: &[u8]) -> Option<f64> {
    let order = dtype.is_big_endian();
    let number = match dtype.kind() {
        Kind::Int => items::signed(bytes, order) as f64,
        Kind::Float => items::float_value(bytes, order),
        _ => items::unsigned(bytes, order) as f64,
    };
    number.is_finite().then_some(number)
}

/// Reads the items from the first to before the second index in each dimension.
type Read<'a> = &'a mut dyn FnMut(&[u64], &[u64], &mut [u8]) -> Outcome;

fn buffer(size: u64) -> Result<Vec<u8>, Failure> {
    let size = usize::try_from(size).map_err(|_| Error::MemoryAlloc)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(Error::from)?;
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Returns the pixel of an index.
fn pixel(index: u64, len: u64, pixels: u64) -> usize {
    // The result is less than `pixels`.
    (u128::from(index) * u128::from(pixels) / u128::from(len)) as usize
}

fn line_of(len: u64, info: &ArrayInfo, read: Read<'_>) -> Result<Line, Failure> {
    let itemsize = info.dtype.itemsize().max(1);
    let pixels = len.min(PIXELS);
    let mut ranges = vec![None; pixels as usize];
    let most = (READ_BYTES / itemsize).max(1);
    let mut at = 0;
    while at < len {
        let count = most.min(len - at);
        let mut bytes = buffer(count * itemsize)?;
        read(&[at], &[at + count], &mut bytes)?;
        for (index, item) in (at..).zip(bytes.chunks_exact(itemsize as usize)) {
            let Some(number) = number(&info.dtype, item) else {
                continue;
            };
            let range = &mut ranges[pixel(index, len, pixels)];
            *range = Some(match *range {
                None => (number, number),
                Some((low, high)) => (f64::min(low, number), f64::max(high, number)),
            });
        }
        at += count;
    }
    Ok(Line { len, ranges })
}

fn image_of(
    (rows, columns): (u64, u64),
    info: &ArrayInfo,
    read: Read<'_>,
) -> Result<Image, Failure> {
    let itemsize = info.dtype.itemsize().max(1);
    let (height, width) = (rows.min(PIXELS), columns.min(PIXELS));
    let mut sums = vec![(0.0, 0_u64); (height * width) as usize];
    let wide = columns.min((READ_BYTES / itemsize).max(1)).max(1);
    let high = (READ_BYTES / itemsize / wide).max(1);
    let mut row = 0;
    while row < rows {
        let last_row = (row + high).min(rows);
        let mut column = 0;
        while column < columns {
            let last = (column + wide).min(columns);
            let mut bytes = buffer((last_row - row) * (last - column) * itemsize)?;
            read(&[row, column], &[last_row, last], &mut bytes)?;
            let mut items = bytes.chunks_exact(itemsize as usize);
            for row in row..last_row {
                let start = pixel(row, rows, height) * width as usize;
                for (column, item) in (column..last).zip(&mut items) {
                    if let Some(number) = number(&info.dtype, item) {
                        let sum = &mut sums[start + pixel(column, columns, width)];
                        sum.0 += number;
                        sum.1 += 1;
                    }
                }
            }
            column = last;
        }
        row = last_row;
    }
    let means = sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / count as f64));
    Ok(Image { width: width as usize, height: height as usize, values: means.collect() })
}
