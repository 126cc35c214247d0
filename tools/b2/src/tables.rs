//! `convert` between tables in stores and other formats.

use crate::cli::{Cli, ConvertArgs, Order};
use crate::csv;
use crate::error::{self, Failure};
use crate::io::{Input, Output, STDIO, temporary_folder};
use crate::store::Target;
use ferroblosc::io::named::NamedFile;
use ferroblosc_formats::convert::{self, Reading};
use ferroblosc_formats::store::{Class, Store, WriteOptions};
use ferroblosc_tools_common::progress::bar;
use std::io::BufWriter;
use std::path::Path;

/// The size of the buffers in bytes.
const BUFFER: usize = 256 << 10;

/// Creates a store that is a table from an array of records, a bcolz ctable or a CSV file with
/// names. Returns `false` for other inputs.
pub fn import(args: &ConvertArgs, options: &WriteOptions, cli: &Cli) -> Result<bool, Failure> {
    if args.input != Path::new(STDIO) && !args.input.exists() {
        return Ok(false);
    }
    let (input, imported) = csv::import(Input::new(&args.input)?, args, cli)?;
    let Ok(found) = convert::detect(input.path()) else {
        return Ok(false);
    };
    let reading = Reading { column: None, nthreads: cli.nthreads() };
    let Ok(mut source) = convert::open_as(input.path(), &found, &reading) else {
        return Ok(false);
    };
    if !source.content().array.as_ref().is_some_and(convert::is_records) {
        return Ok(false);
    }
    let given = [
        ("--column", imported.column.is_some()),
        ("--dtype", imported.dtype.is_some()),
        ("--raw", imported.raw),
        ("--shape", imported.shape.is_some()),
        ("--order", imported.order == Order::Fortran),
        ("--chunks", imported.chunks.is_some()),
        ("--blocks", imported.blocks.is_some()),
        ("--embed", imported.embed.is_some()),
        ("--codec", imported.settings.codec.is_some()),
        ("--level", imported.settings.level.is_some()),
        ("--filters", !imported.settings.filters.is_empty()),
        ("--block-size", imported.settings.block_size.is_some()),
        ("--chunk-size", imported.settings.chunk_size.is_some()),
        ("--directory", imported.settings.directory),
    ];
    if let Some((option, _)) = given.into_iter().find(|&(_, is_given)| is_given) {
        return Err(Failure::usage(format!("{option}: not supported for tables in stores")));
    }
    if args.output == Path::new(STDIO) {
        return Err(Failure::usage("stores are not written to standard output"));
    }
    let output = Output::new(&args.output, args.settings.force)?;
    let at_output = |error: ferroblosc_formats::store::Error| output.error(Failure::from(error));
    let mut writer = Store::create_with(output.path(), options).map_err(at_output)?;
    let bar = bar(!cli.quiet, Some(source.content().nbytes));
    let added =
        convert::records_to_table(source.as_mut(), &mut writer, "/", &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    added.map_err(|error| output.error(input.error(error)))?;
    writer.commit().map_err(at_output)?;
    output.commit()?;
    Ok(true)
}

/// Writes a table as CSV. Returns descriptions of what is not kept; `None` if the object is no table.
pub fn export_csv(target: &Target, output: &Path) -> Result<Option<Vec<String>>, Failure> {
    let store = target.open()?;
    if store.class(target.key()).map_err(|error| target.error(error))? != Class::Table {
        return Ok(None);
    }
    let table = store.table(target.key()).map_err(|error| target.error(error))?;
    let mut file = BufWriter::with_capacity(BUFFER, NamedFile::create(output)?);
    let written = convert::table_to_csv(&table, &mut file);
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
