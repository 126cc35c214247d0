//! `convert` between tables in stores and other formats.

use crate::cli::{Cli, ConvertArgs, HeaderName};
use crate::csv;
use crate::error::{self, Failure, Outcome, report_lost};
use crate::io::{Input, Output, STDIO, temporary_folder};
use crate::options::{self, OutputKind};
use crate::store::Target;
use ferroblosc::io::named::NamedFile;
use ferroblosc_formats::convert::{self, ArrowFormat, Reading};
use ferroblosc_formats::store::{Class, Store, StoreWriter, WriteOptions};
use ferroblosc_tools_common::progress::{ProgressWriter, bar};
use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

/// The size of the buffers in bytes.
const BUFFER: usize = 256 << 10;

/// Creates a store that is a table from an array of records, a bcolz ctable, an Arrow or Parquet
/// file, or a CSV file with names. Returns `false` for other inputs.
pub fn import(args: &ConvertArgs, options: &WriteOptions, cli: &Cli) -> Result<bool, Failure> {
    if args.input != Path::new(STDIO) && !args.input.exists() {
        return Ok(false);
    }
    let input = Input::new_or_fifo(&args.input)?;
    if args.from.is_none()
        && let Some(format) = ArrowFormat::detect(input.path())
    {
        return import_arrow((&input, format), args, options, cli).map(|()| true);
    }
    refuse_other_content(&input, args)?;
    let is_csv = csv::is_csv(&input, args);
    let (input, imported, texts) = csv::import(input, args, cli)?;
    let Ok(found) = convert::detect(input.path()) else {
        return Ok(false);
    };
    let reading = Reading::with_threads(cli.nthreads());
    let Ok(mut source) = convert::open_as(input.path(), &found, &reading) else {
        return Ok(false);
    };
    if !source.content().array.as_ref().is_some_and(convert::is_records) {
        if is_csv {
            let failure = Failure::new("columns without names are an array, not a table");
            return Err(input.error(failure).with_hint(
                "'--header yes' reads names from the first line; 'b2 put' adds an array to a store",
            ));
        }
        return Ok(false);
    }
    options::check(&imported, OutputKind::Table)?;
    let size = source.content().nbytes;
    write_store(args, (options, cli), size, |writer, output, progress| {
        let to = (writer, "/");
        let added = convert::texts_to_table(source.as_mut(), &texts, to, progress);
        added.map_err(|error| output.error(input.error(error)))?;
        Ok(Vec::new())
    })?;
    Ok(true)
}

/// Creates a store with the objects that `add` adds. `add` receives the writer, the output and a
/// function that advances the progress bar, which ends at `size` bytes, and returns descriptions of
/// the omitted data.
fn write_store(
    args: &ConvertArgs,
    (options, cli): (&WriteOptions, &Cli),
    size: u64,
    add: impl FnOnce(&mut StoreWriter, &Output, &mut dyn FnMut(u64)) -> Result<Vec<String>, Failure>,
) -> Outcome {
    if args.output == Path::new(STDIO) {
        return Err(Failure::usage("stores are not written to standard output"));
    }
    let output = Output::new(&args.output, args.settings.force)?;
    let at_output = |error: ferroblosc_formats::store::Error| output.error(Failure::from(error));
    let mut writer = Store::create_with(output.path(), options).map_err(at_output)?;
    let bar = bar(!cli.quiet, Some(size));
    let lost = add(&mut writer, &output, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    report_lost(lost?, &args.output, args.strict)?;
    writer.commit().map_err(at_output)?;
    output.commit()
}

/// Fails if a file with the extension of Arrow or Parquet files has other content.
fn refuse_other_content(input: &Input, args: &ConvertArgs) -> Outcome {
    let extension = input.name().extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_expected = ["arrow", "arrows", "feather", "parquet"].contains(&&*extension);
    let is_unknown = || matches!(convert::detect(input.path()), Err(convert::Error::Unknown));
    if !is_expected || args.from.is_some() || !input.path().is_file() || !is_unknown() {
        return Ok(());
    }
    let mut start = Vec::new();
    NamedFile::open(input.path())?.take(4).read_to_end(&mut start)?;
    let reason = match &start[..] {
        [] => "the file is empty",
        b"FEA1" => "files of Feather V1 are not supported",
        _ => "the file is not an Arrow IPC or Parquet file",
    };
    Err(input.error(Failure::new(reason)))
}

/// Creates a store that is a table from an Arrow or Parquet file.
fn import_arrow(
    (input, format): (&Input, ArrowFormat),
    args: &ConvertArgs,
    options: &WriteOptions,
    cli: &Cli,
) -> Outcome {
    options::check(args, OutputKind::Table)?;
    let of_csv = [
        ("--delimiter", args.delimiter.is_some()),
        ("--header", !matches!(args.header, HeaderName::Auto)),
    ];
    if let Some((option, _)) = of_csv.into_iter().find(|&(_, is_given)| is_given) {
        let text = format!("{option}: {} is not a CSV file", input.name().display());
        return Err(Failure::usage(text));
    }
    let size = fs::metadata(input.path()).map_or(0, |found| found.len());
    write_store(args, (options, cli), size, |writer, output, progress| {
        let added = convert::arrow_to_table(input.path(), format, writer, "/", progress);
        let added = added.map_err(|error| {
            let failure = output.error(Failure::from(error));
            failure.of_target(input.path(), input.name()).at(input.name())
        })?;
        Ok(added.lost)
    })
}

/// A format of files with one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    Csv,
    Arrow(ArrowFormat),
}

/// Writes a table to a file. Returns descriptions of the omitted data; `None` if the object is no
/// table.
pub fn export(
    target: &Target,
    output: &Path,
    format: TableFormat,
    cli: &Cli,
) -> Result<Option<Vec<String>>, Failure> {
    let store = target.open_to_read_all()?;
    if store.class(target.key()).map_err(|error| target.error(error))? != Class::Table {
        return Ok(None);
    }
    let table = store.table(target.key()).map_err(|error| target.error(error))?;
    let writer = BufWriter::with_capacity(BUFFER, NamedFile::create(output)?);
    let mut file = ProgressWriter { writer, bar: bar(!cli.quiet, None) };
    let written = match format {
        TableFormat::Csv => convert::table_to_csv(&table, &mut file),
        TableFormat::Arrow(format) => convert::table_to_arrow(&table, format, &mut file),
    };
    let written = written.and_then(|lost| {
        file.flush()?;
        Ok(lost)
    });
    file.bar.finish_and_clear();
    written.map(Some).map_err(|error| target.at(error.into()))
}

/// Returns a table as a temporary `.npy` file with records.
pub fn as_records(target: &Target, store: &Store) -> Result<Input, Failure> {
    let table = store.table(target.key()).map_err(|error| target.error(error))?;
    let folder = temporary_folder()?;
    let path = folder.path("table.npy");
    let mut file = BufWriter::with_capacity(BUFFER, NamedFile::create(&path)?);
    let written = convert::table_to_npy(&table, &mut file);
    let lost = written.map_err(|error| target.at(error.into()))?;
    drop(file);
    for lost in lost {
        error::warn(&format!("{}: not kept: {lost}", target.name().display()));
    }
    Ok(Input::temporary(path, target.name(), folder))
}
