//! CSV files as inputs and outputs of `convert`.
//!
//! An input is converted to a temporary `.npy` file, so that all formats can be written from it.

use crate::cat;
use crate::cli::{Cli, ConvertArgs, HeaderName, InputFormat};
use crate::error::{Failure, Outcome, report_lost};
use crate::io::{Input, temporary_folder};
use ferroblosc::io::named::NamedFile;
use ferroblosc_formats::convert::{self, Source};
use ferroblosc_formats::csv::{self, Header, Options};
use ferroblosc_tools_common::progress::bar;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The size of the buffers in bytes.
const BUFFER: usize = 256 << 10;

/// Whether the extension of a path is this one.
fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Whether an input is read as CSV: it is requested, or the format is unknown and the name is that
/// of a CSV file.
pub fn is_csv(input: &Input, args: &ConvertArgs) -> bool {
    let has_name = has_extension(input.name(), "csv") || has_extension(input.name(), "tsv");
    match args.from {
        Some(from) => from == InputFormat::Csv,
        None => has_name && matches!(convert::detect(input.path()), Err(convert::Error::Unknown)),
    }
}

/// Returns a CSV input as a temporary `.npy` file, the options without those that were used, and
/// whether each column has texts. Returns other inputs unchanged.
pub fn import(
    input: Input,
    args: &ConvertArgs,
    cli: &Cli,
) -> Result<(Input, ConvertArgs, Vec<bool>), Failure> {
    let header = match args.header {
        HeaderName::Auto => Header::Auto,
        HeaderName::Yes => Header::Yes,
        HeaderName::No => Header::No,
    };
    if !is_csv(&input, args) {
        let unused =
            [("--delimiter", args.delimiter.is_some()), ("--header", header != Header::Auto)];
        return match unused.into_iter().find(|&(_, is_given)| is_given) {
            Some((option, _)) => {
                let text = format!("{option}: {} is not a CSV file", input.name().display());
                Err(Failure::usage(text).replacing_hint("'--from csv' reads any file as CSV"))
            }
            None => Ok((input, args.clone(), Vec::new())),
        };
    }
    if args.shape.is_some() {
        return Err(Failure::usage("--shape: the lines of a CSV file determine the shape"));
    }
    let mut options = Options::default();
    if has_extension(input.name(), "tsv") {
        options.delimiter = b'\t';
    }
    if let Some(delimiter) = args.delimiter {
        options.delimiter = delimiter;
    }
    options.header = header;
    options.dtype = args.dtype.as_deref().map(cat::parse_dtype).transpose()?;
    let failed = |error: csv::Error| input.error(failure_of(error));
    let folder = temporary_folder()?;
    let path = folder.path("input.npy");
    // The file is read twice.
    let size = fs::metadata(input.path()).map_or(0, |found| found.len());
    let bar = bar(!cli.quiet, Some(size.saturating_mul(2)));
    let table = csv::scan(input.path(), &options, &mut |bytes| bar.inc(bytes)).map_err(failed)?;
    report_lost(table.lost.clone(), &args.output, args.strict)?;
    let mut output = BufWriter::with_capacity(BUFFER, NamedFile::create(&path)?);
    let written = csv::write_npy(input.path(), &table, &mut output, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    written.map_err(failed)?;
    drop(output);
    let name = input.name().to_owned();
    let args = ConvertArgs { from: None, dtype: None, ..args.clone() };
    Ok((Input::temporary(path, &name, folder), args, table.texts))
}

fn failure_of(error: csv::Error) -> Failure {
    match error {
        csv::Error::Io(error) => error.into(),
        csv::Error::Line { ref reason, .. } if reason.contains("has no value") => {
            Failure::new(error.to_string())
                .with_hint("'--dtype' with a floating-point type makes it NaN")
        }
        error => Failure::new(error.to_string()),
    }
}

/// Writes an array of at most two dimensions to a CSV file: a line for each row or record. Records
/// have a first line with the names of their fields.
pub fn write(source: &mut dyn Source, output: &Path) -> Outcome {
    let info = cat::array_or_bytes(source)?;
    if info.shape.len() > 2 {
        let text = "the target format holds arrays of one or two dimensions, and tables";
        return Err(Failure::new(text).with_hint("'b2 slice' selects a part of an array"));
    }
    let mut file = BufWriter::with_capacity(BUFFER, NamedFile::create(output)?);
    cat::write_csv(source, &info, &mut file)?;
    Ok(file.flush()?)
}
