//! `convert`.

use crate::cat::parse_dtype;
use crate::cli::{Cli, ConvertArgs, OutputFormat};
use crate::error::{self, Failure, Outcome};
use crate::io::{Input, Output, STDIO, refuse_terminal};
use ferroblosc_formats::convert::{self, Destination, Format, Reading, SourceOptions};
use ferroblosc_tools_common::progress::bar;
use std::path::Path;

/// The formats by file name extension.
const EXTENSIONS: [(&str, OutputFormat); 12] = [
    ("b2frame", OutputFormat::B2frame),
    ("b2nd", OutputFormat::B2nd),
    ("blp", OutputFormat::Blp),
    ("bcolz", OutputFormat::Bcolz),
    ("npy", OutputFormat::Npy),
    ("blosc1", OutputFormat::Blosc1),
    ("blosc2", OutputFormat::Blosc2),
    ("blosc", OutputFormat::Blosc1),
    ("bin", OutputFormat::Bin),
    ("raw", OutputFormat::Bin),
    ("dat", OutputFormat::Bin),
    ("cframe", OutputFormat::B2frame),
];

/// Returns the format for the extension of a path.
fn of_name(path: &Path) -> Result<OutputFormat, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let found = EXTENSIONS.into_iter().find(|(known, _)| Some(*known) == extension.as_deref());
    if let Some((_, to)) = found {
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

/// Fails if the extension of an output that will be a frame is that of another format.
pub fn check_frame_name(path: &Path) -> Outcome {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let of_frames = |to| matches!(to, OutputFormat::B2frame | OutputFormat::B2nd);
    let mut known = EXTENSIONS.into_iter();
    let is_other = known.any(|(known, to)| Some(known) == extension.as_deref() && !of_frames(to));
    if !is_other {
        return Ok(());
    }
    let names = EXTENSIONS.into_iter().filter(|&(_, to)| of_frames(to));
    let names: Vec<String> = names.map(|(known, _)| format!(".{known}")).collect();
    let shown = path.display();
    Err(Failure::usage(format!(
        "{shown}: the output is a frame, with one of the extensions {}",
        names.join(" ")
    ))
    .replacing_hint("'b2 convert' writes other formats"))
}

fn destination(args: &ConvertArgs) -> Result<Destination, Failure> {
    let directory = args.settings.directory;
    let to = match args.to {
        Some(to) => to,
        None => of_name(&args.output)?,
    };
    Ok(match to {
        OutputFormat::B2frame => Destination::Frame { directory },
        OutputFormat::B2nd => Destination::B2nd { directory },
        OutputFormat::Blp => Destination::Bloscpack,
        OutputFormat::Bcolz => Destination::Bcolz,
        OutputFormat::Npy => Destination::Npy,
        OutputFormat::Blosc1 => Destination::Blosc1,
        OutputFormat::Blosc2 => Destination::Blosc2,
        OutputFormat::Bin => Destination::Plain,
    })
}

pub fn run(args: &ConvertArgs, cli: &Cli) -> Outcome {
    let destination = destination(args)?;
    if args.output == Path::new(STDIO) && destination != Destination::Plain {
        refuse_terminal(args.settings.force)?;
    }
    let dtype = args.dtype.as_deref().map(parse_dtype).transpose()?;
    let source_options = SourceOptions { raw: args.raw, dtype };
    let reading = Reading { column: args.column.clone(), nthreads: cli.nthreads() };
    let input = Input::new(&args.input)?;
    let found = input.detect()?;
    let output = Output::new(&args.output, args.settings.force)?;
    let params = convert::params_of(input.path(), &found, &reading);
    let params = params.map_err(|error| input.error(error))?;
    let writing = args.settings.writing_like(cli, params.unwrap_or_default())?;
    let summary = convert::summarise(input.path(), &found).map_err(|error| input.error(error))?;
    let bar = bar(!cli.quiet, Some(summary.nbytes));
    let converted = convert::convert(
        (input.path(), &found),
        (output.path(), destination),
        (&reading, &source_options),
        &writing,
        &mut |bytes| bar.inc(bytes),
    );
    bar.finish_and_clear();
    let converted = converted.map_err(|error| {
        let failure = output.error(input.error(error));
        match (found.format, reading.column.is_some()) {
            (Format::Ctable, false) => failure.with_hint("select a column with '--column NAME'"),
            _ => failure,
        }
    })?;
    if args.strict && !converted.lost.is_empty() {
        let lost = converted.lost.join("; ");
        return Err(Failure::new(format!(
            "{}: the format does not support: {lost}",
            args.output.display()
        ))
        .with_hint("without '--strict' it is omitted"));
    }
    for lost in &converted.lost {
        error::warn(&format!("{}: not kept: {lost}", args.output.display()));
    }
    output.commit()
}
