//! `convert`.

use crate::auto;
use crate::cat::parse_dtype;
use crate::cli::{Cli, ConvertArgs, Hdf5FilterName, InputFormat, Order, OutputFormat};
use crate::csv;
use crate::error::{Failure, Outcome, report_lost};
use crate::field;
use crate::io::{
    Input, Output, Overwritten, STDIO, check_space, refuse_directory_name, refuse_nesting,
    refuse_terminal,
};
use crate::members;
use crate::names::{EXTENSIONS, format_of_name};
use crate::options::{self, Form, OutputKind};
use crate::store::target as store_target;
use crate::tables::{self, TableFormat};
use ferroblosc::io::named::named;
use ferroblosc_formats::convert::{
    self, ArrowFormat, Compression, Destination, Detected, Format, Hdf5Filter, Location, Reading,
    SourceOptions,
};
use ferroblosc_formats::hdf5;
use ferroblosc_formats::store;
use ferroblosc_formats::zarr::Version;
use ferroblosc_tools_common::identity::Identity;
use ferroblosc_tools_common::progress::bar;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the format for the extension of a path.
fn of_name(path: &Path) -> Result<OutputFormat, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    if let Some(to) = format_of_name(path) {
        return Ok(to);
    }
    let shown = path.display();
    let reason = match extension {
        _ if path == Path::new(STDIO) => "standard output has no extension".to_owned(),
        None => format!("{shown}: the name has no extension"),
        Some(extension) => format!("{shown}: the extension '.{extension}' is unknown"),
    };
    let known: Vec<String> = EXTENSIONS.iter().map(|(known, _)| format!(".{known}")).collect();
    Err(Failure::usage(reason).replacing_hint(format!(
        "known extensions are {}; '--to FORMAT' selects the format for other names",
        known.join(" ")
    )))
}

pub fn form(args: &ConvertArgs, path: &Path) -> Result<Form, Failure> {
    let directory = args.settings.directory;
    let to = match args.to {
        Some(to) => to,
        None => of_name(path)?,
    };
    Ok(Form::Binary(match to {
        OutputFormat::Csv => return Ok(Form::Csv),
        OutputFormat::B2frame => Destination::Frame { directory },
        OutputFormat::B2nd => Destination::B2nd { directory },
        OutputFormat::Blp => Destination::Bloscpack,
        OutputFormat::Bcolz => Destination::Bcolz,
        OutputFormat::Npy => Destination::Npy,
        OutputFormat::Npz => Destination::Npz,
        OutputFormat::Zarr => Destination::Zarr { version: Version::V3, is_zip: is_zip(path) },
        OutputFormat::Zarr2 => Destination::Zarr { version: Version::V2, is_zip: is_zip(path) },
        OutputFormat::Hdf5 => Destination::Hdf5 {
            filter: match args.hdf5_filter {
                Hdf5FilterName::Blosc2 => Some(Hdf5Filter::Blosc2),
                Hdf5FilterName::Blosc => Some(Hdf5Filter::Blosc),
                Hdf5FilterName::None => None,
            },
        },
        OutputFormat::Blosc1 => Destination::Blosc1,
        OutputFormat::Blosc2 => Destination::Blosc2,
        OutputFormat::Bin => Destination::Plain,
        OutputFormat::B2z | OutputFormat::B2d | OutputFormat::B2e => {
            return Err(Failure::usage("only stores and directories of frames become stores"));
        }
        OutputFormat::Arrow | OutputFormat::Parquet => {
            return Err(Failure::usage("only tables in stores become Arrow and Parquet files"));
        }
    }))
}

/// Whether the extension is that of zip files.
fn is_zip(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"))
}

/// Splits `FILE:/NAME` into the file to write and the name of the array in it. A name is a path
/// without empty parts and dots, so that it cannot lead out of a directory.
pub fn target(output: &Path) -> (PathBuf, Option<String>) {
    let whole = || (output.to_owned(), None);
    let is_in_directory = output.parent().is_some_and(|parent| parent.join("").is_dir());
    if output.exists() || (is_in_directory && output.parent() != Some(Path::new(""))) {
        return whole();
    }
    let Some((path, name)) = Location::splits(output).next() else {
        return whole();
    };
    let name = name.trim_matches('/');
    let is_valid = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if is_valid { (path.to_owned(), Some(name.to_owned())) } else { whole() }
}

/// Returns the format of the input: the requested or detected one, or bytes with a given type.
fn detect(input: &Input, args: &ConvertArgs) -> Result<Detected, Failure> {
    match args.from {
        Some(InputFormat::Bin) => Ok(Detected::raw()),
        Some(InputFormat::Csv) | None => match convert::detect(input.path()) {
            Err(convert::Error::Unknown) if args.dtype.is_some() => Ok(Detected::raw()),
            Err(convert::Error::Unknown) if ArrowFormat::detect(input.path()).is_some() => {
                let failure = Failure::new("Arrow and Parquet files only become tables in stores");
                Err(failure.at(input.name()).with_hint("such an output ends with .b2z or .b2d"))
            }
            Err(convert::Error::Unknown) => {
                Err(input.error(convert::Error::Unknown).replacing_hint(
                    "'--dtype TYPE' and '--shape LENGTHS' convert the bytes of any file",
                ))
            }
            found => found.map_err(|error| input.error(error)),
        },
    }
}

/// Whether a file is an HDF5 file, to which datasets can be added.
pub fn is_hdf5(path: &Path) -> bool {
    convert::detect(path).is_ok_and(|found| found.format == Format::Hdf5)
}

/// Copies an HDF5 file to the staged output, to which datasets are added. The datasets of these
/// names are removed from the copy if `force` is true; otherwise they are an error. A group is
/// never removed. Returns the description of the file before it is copied.
pub fn copy_hdf5(
    path: &Path,
    names: &[&str],
    output: &mut Output,
    force: bool,
) -> Result<Identity, Failure> {
    let failed = |error, what| named(error, ferroblosc::Error::FileWrite, what, path);
    let before = Identity::of_target(path).map_err(|error| failed(error, "read"))?;
    let metadata = fs::metadata(path).map_err(|error| failed(error, "read"))?;
    fs::copy(path, output.path()).map_err(|error| failed(error, "copy"))?;
    output.copy_permissions(&metadata)?;
    let in_file = |error: hdf5::Error| Failure::from(convert::Error::from(error)).at(path);
    let file = hdf5::File::open_to_change(output.path()).map_err(in_file)?;
    for name in names {
        let parents = name.match_indices('/').map(|(at, _)| &name[..at]);
        for parent in parents {
            if file.exists(parent).map_err(in_file)?
                && !matches!(file.node(parent), Ok(hdf5::Node::Group))
            {
                return Err(Failure::new(format!("{parent:?} is not a group")).at(path));
            }
        }
        // A dimension without values becomes a dataset.
        if !file.exists(name).map_err(in_file)? || file.is_bare_dimension(name).map_err(in_file)? {
            continue;
        }
        if matches!(file.node(name), Ok(hdf5::Node::Group)) {
            return Err(Failure::new(format!("{name:?} is a group")).at(path));
        }
        if !force {
            let failure = Failure::new(format!("the dataset {name:?} already exists"));
            return Err(failure.at(path).with_hint("'--force' replaces it"));
        }
        hdf5::unlink(&file, name).map_err(in_file)?;
    }
    file.close().map_err(in_file)?;
    Ok(before)
}

/// Fails if the file of an output `FILE:/NAME` is a store.
fn refuse_store(path: &Path) -> Outcome {
    let shown = path.display();
    if members::is_store_name(path) || store::is_store(path) {
        return Err(Failure::usage(format!("{shown}: 'convert' does not change stores"))
            .replacing_hint("'b2 put' adds a file to a store"));
    }
    Ok(())
}

/// Returns whether the file of an output `FILE:/NAME` exists. Fails if arrays of this form cannot
/// be added to it: only to HDF5 files arrays of this format can.
fn can_grow(path: &Path, form: Form) -> Result<bool, Failure> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(false);
    }
    let shown = path.display();
    let is_hdf5 = is_hdf5(path);
    if is_hdf5 && matches!(form, Form::Binary(Destination::Hdf5 { .. })) {
        return Ok(true);
    }
    let reason = if is_hdf5 {
        "arrays of another format cannot be added to an HDF5 file"
    } else {
        "arrays cannot be added to an existing file"
    };
    Err(Failure::new(format!("{shown}: already exists, and {reason}"))
        .with_hint("select another file for the array, which is created"))
}

/// Converts an array, data without a type, or a store.
pub fn run(args: &ConvertArgs, cli: &Cli) -> Outcome {
    let Location { path: container, key } = Location::of(&args.input);
    refuse_nesting(&container, key.as_deref().unwrap_or_default(), &args.output)?;
    if !members::is_store_output(args) && store_target(&args.input).is_some() {
        let path = target(&args.output).0;
        let format = match args.to.map_or_else(|| of_name(&path), Ok) {
            // A column is an array.
            Ok(OutputFormat::Csv) => args.column.is_none().then_some(TableFormat::Csv),
            Ok(OutputFormat::Arrow) => Some(TableFormat::Arrow(ArrowFormat::Ipc)),
            Ok(OutputFormat::Parquet) => Some(TableFormat::Arrow(ArrowFormat::Parquet)),
            _ => None,
        };
        if let Some(format) = format
            && export_table(args, format, cli)?
        {
            return Ok(());
        }
    }
    let Some(input) = members::convert(args, cli)? else {
        return Ok(());
    };
    let (path, name) = target(&args.output);
    if name.is_some() {
        refuse_store(&path)?;
    }
    let to = form(args, &path)?;
    options::check(args, OutputKind::Data(to))?;
    let is_directory = match to {
        Form::Binary(Destination::Frame { directory } | Destination::B2nd { directory }) => {
            directory
        }
        Form::Binary(Destination::Bcolz | Destination::Zarr { is_zip: false, .. }) => true,
        Form::Binary(_) | Form::Csv => false,
    };
    if !is_directory {
        refuse_directory_name(&path)?;
    }
    let has_names = matches!(
        to,
        Form::Binary(Destination::Npz | Destination::Zarr { .. } | Destination::Hdf5 { .. })
    );
    if name.is_some() && !has_names {
        return Err(Failure::usage(format!(
            "{}: only .npz files, HDF5 files and Zarr groups contain arrays with names",
            args.output.display()
        )));
    }
    let grown = match &name {
        Some(name) if can_grow(&path, to)? => Some(name.as_str()),
        _ => None,
    };
    let is_text = matches!(to, Form::Binary(Destination::Plain) | Form::Csv);
    if args.output == Path::new(STDIO) && !is_text {
        refuse_terminal(args.settings.force)?;
    }
    let (input, args, _) = csv::import(input, args, cli)?;
    let args = &args;
    let overwritten = match &name {
        None => Overwritten::find(&path, args.settings.force, [input.path()])?,
        Some(_) => None,
    };
    let mut found = detect(&input, args)?;
    let (mut input, mut args, mut params) = (input, args.clone(), None);
    if let Some(column) = &args.column
        && found.format != Format::Ctable
    {
        let field = field::extract(&input, &found, column, (cli.nthreads(), cli.quiet))?;
        report_lost(field.lost, &args.output, args.strict)?;
        (input, params) = (field.input, field.params);
        found = input.detect()?;
        args.column = None;
    }
    let args = &args;
    // A file that another program creates in the meantime is not replaced, also with `--force`.
    let force = if name.is_some() { grown.is_some() } else { args.settings.force };
    let mut output = Output::new(&path, force)?.over(overwritten).durable(args.settings.durable);
    let copied = grown
        .map(|name| copy_hdf5(&path, &[name], &mut output, args.settings.force))
        .transpose()?;
    let from = (input.path(), &found);
    let to = (output.path(), args.output.as_path(), to, name);
    let in_context = |failure| output.error(input.error(failure));
    convert_like(from, params, to, (args, cli), &in_context)?;
    match copied {
        Some(before) => output.commit_over(&before),
        None => output.commit(),
    }
}

/// Writes a table in a store as CSV, Arrow or Parquet; returns `false` for other objects.
fn export_table(args: &ConvertArgs, format: TableFormat, cli: &Cli) -> Result<bool, Failure> {
    let Some(table) = store_target(&args.input) else {
        return Ok(false);
    };
    let class = table.open()?.class(table.key()).map_err(|error| table.error(error))?;
    if class != store::Class::Table {
        return Ok(false);
    }
    options::check(args, OutputKind::ExportedTable)?;
    refuse_directory_name(&args.output)?;
    let output = Output::new(&args.output, args.settings.force)?;
    if matches!(format, TableFormat::Arrow(_)) && args.output == Path::new(STDIO) {
        refuse_terminal(args.settings.force)?;
    }
    let Some(lost) = tables::export(&table, output.path(), format, cli)
        .map_err(|failure| output.error(failure))?
    else {
        return Ok(false);
    };
    report_lost(lost, &args.output, args.strict)?;
    output.commit()?;
    Ok(true)
}

/// Converts an array, or data without a type. The output has its path, its name in messages, its
/// format, and the name of the array in it. `in_context` adds the names of the files to an error.
pub fn convert_one(
    from: (&Path, &Detected),
    to: (&Path, &Path, Form, Option<String>),
    options: (&ConvertArgs, &Cli),
    in_context: &dyn Fn(Failure) -> Failure,
) -> Outcome {
    convert_like(from, None, to, options, in_context)
}

/// Converts data as [`convert_one`], with these compression parameters instead of those of the
/// input.
fn convert_like(
    (input, found): (&Path, &Detected),
    like: Option<Compression>,
    (output, shown, form, name): (&Path, &Path, Form, Option<String>),
    (args, cli): (&ConvertArgs, &Cli),
    in_context: &dyn Fn(Failure) -> Failure,
) -> Outcome {
    let dtype = args.dtype.as_deref().map(parse_dtype).transpose()?;
    let mut source_options = SourceOptions::default();
    source_options.raw = args.raw;
    source_options.dtype = dtype;
    source_options.shape.clone_from(&args.shape);
    source_options.fortran_order = args.order == Order::Fortran;
    let mut reading = Reading::with_threads(cli.nthreads());
    reading.column.clone_from(&args.column);
    let summary = convert::summarise(input, found).map_err(|error| in_context(error.into()));
    let (nbytes, typesize) =
        summary.as_ref().map_or((0, 1), |found| (found.nbytes, found.typesize.max(1)));
    let least = match form {
        // A column has less bytes than its table. The size of larger arrays has an error of its own.
        _ if args.column.is_some() || nbytes == u64::MAX => 0,
        // A digit and a separator.
        Form::Csv => (nbytes / typesize).saturating_mul(2),
        Form::Binary(Destination::Plain | Destination::Npy | Destination::Npz) => nbytes,
        Form::Binary(_) => 0,
    };
    check_space(output, least, args.settings.force).map_err(|failure| failure.at(shown))?;
    let Form::Binary(destination) = form else {
        let written = write_csv((input, found), output, (&reading, &source_options));
        return report_lost(written.map_err(in_context)?, shown, args.strict);
    };
    let params = match &like {
        Some(_) => like.clone(),
        None => {
            convert::params_of(input, found, &reading).map_err(|error| in_context(error.into()))?
        }
    };
    let mut writing = args.settings.writing_like(cli, params.unwrap_or_default())?;
    if writing.compression.is_none() {
        writing.compression = like;
    }
    writing.name = name;
    writing.chunks.clone_from(&args.chunks);
    writing.blocks.clone_from(&args.blocks);
    if let Some(goal) = args.auto.auto {
        let source = convert::open_as(input, found, &reading)
            .and_then(|source| convert::with_options(source, &source_options));
        let mut source = source.map_err(|error| in_context(error.into()))?;
        auto::apply_to_source(source.as_mut(), goal, (shown, cli), &mut writing)
            .map_err(in_context)?;
    }
    let bar = bar(!cli.quiet, Some(summary?.nbytes));
    let converted = convert::convert(
        (input, found),
        (output, destination),
        (&reading, &source_options),
        &writing,
        &mut |bytes| bar.inc(bytes),
    );
    bar.finish_and_clear();
    let converted = converted.map_err(|error| {
        let failure = in_context(error.into());
        match (found.format, reading.column.is_some()) {
            (Format::Ctable, false) => failure.with_hint("select a column with '--column NAME'"),
            _ => failure,
        }
    })?;
    report_lost(converted.lost, shown, args.strict)
}

/// Writes data as CSV. Returns descriptions of the metadata that are not kept.
fn write_csv(
    (input, found): (&Path, &Detected),
    output: &Path,
    (reading, options): (&Reading, &SourceOptions),
) -> Result<Vec<String>, Failure> {
    let source = convert::open_as(input, found, reading)?;
    let mut source = convert::with_options(source, options)?;
    csv::write(source.as_mut(), output)?;
    Ok(convert::lost_metadata(input, found, reading)?)
}

/// Returns the extension of the files of a format.
pub fn extension_of(format: OutputFormat) -> &'static str {
    let mut known = EXTENSIONS.into_iter();
    known.find(|&(_, other)| other == format).map_or("zarr", |(extension, _)| extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_split_after_its_drive() {
        let split = |output: &str| {
            let (path, name) = target(Path::new(output));
            (path.to_str().unwrap().to_owned(), name)
        };
        let named = |path: &str, name: &str| (path.to_owned(), Some(name.to_owned()));
        let whole = |path: &str| (path.to_owned(), None);
        assert_eq!(split("missing/new.h5:/g/x/"), named("missing/new.h5", "g/x"));
        for output in ["missing/new.npy", "missing/new.h5:/..", "missing/new.h5:/"] {
            assert_eq!(split(output), whole(output));
        }
        if cfg!(windows) {
            assert_eq!(split("C:/missing/new.h5:/x"), named("C:/missing/new.h5", "x"));
            assert_eq!(split(r"C:\missing\new.h5:/x"), named(r"C:\missing\new.h5", "x"));
            assert_eq!(split("C:/missing/new.npy"), whole("C:/missing/new.npy"));
        }
    }
}
