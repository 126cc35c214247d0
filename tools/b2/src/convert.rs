//! `convert`.

use crate::cli::{Cli, ConvertArgs, To};
use crate::place::{Input, Output};
use crate::voice::{self, Failure, Outcome};
use ferroblosc::bcolz::Dtype;
use ferroblosc::convert::{self, Destination, Format, Reading, SourceOptions};
use ferroblosc_tools_common::progress::bar;
use std::path::Path;

/// The formats by the endings of names.
const ENDINGS: [(&str, To); 12] = [
    ("b2frame", To::B2frame),
    ("b2nd", To::B2nd),
    ("blp", To::Blp),
    ("bcolz", To::Bcolz),
    ("npy", To::Npy),
    ("blosc1", To::Blosc1),
    ("blosc2", To::Blosc2),
    ("blosc", To::Blosc1),
    ("bin", To::Bin),
    ("raw", To::Bin),
    ("dat", To::Bin),
    ("cframe", To::B2frame),
];

/// The format that a name asks for.
fn of_name(path: &Path) -> Result<To, Failure> {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase());
    let found = ENDINGS
        .into_iter()
        .find(|(known, _)| Some(*known) == ending.as_deref());
    match found {
        Some((_, to)) => Ok(to),
        None => Err(Failure::usage(format!(
            "'{}' has no ending that tells a format",
            path.display()
        ))
        .advise("'--to FORMAT' tells it: b2frame, b2nd, blp, bcolz, npy, blosc1, blosc2, bin")),
    }
}

fn destination(args: &ConvertArgs) -> Result<Destination, Failure> {
    let directory = args.settings.directory;
    let to = match args.to {
        Some(to) => to,
        None => of_name(&args.output)?,
    };
    Ok(match to {
        To::B2frame => Destination::Frame { directory },
        To::B2nd => Destination::B2nd { directory },
        To::Blp => Destination::Bloscpack,
        To::Bcolz => Destination::Bcolz,
        To::Npy => Destination::Npy,
        To::Blosc1 => Destination::Blosc1,
        To::Blosc2 => Destination::Blosc2,
        To::Bin => Destination::Plain,
    })
}

pub fn run(args: &ConvertArgs, cli: &Cli) -> Outcome {
    let destination = destination(args)?;
    let dtype = args.dtype.as_deref().map(Dtype::parse).transpose();
    let taking = SourceOptions {
        raw: args.raw,
        dtype: dtype.map_err(|error| Failure::usage(error.to_string()))?,
    };
    let reading = Reading {
        column: args.column.clone(),
        nthreads: cli.nthreads(),
    };
    let input = Input::new(&args.input)?;
    let found = input.detect()?;
    let output = Output::new(&args.output, args.settings.force)?;
    let params = convert::params_of(input.path(), &found, &reading);
    let params = params.map_err(|error| input.blame(error))?;
    let writing = args
        .settings
        .writing_like(cli, params.unwrap_or_default())?;
    let summary = convert::summarise(input.path(), &found).map_err(|error| input.blame(error))?;
    let bar = bar(!cli.quiet, Some(summary.nbytes));
    let converted = convert::convert(
        (input.path(), &found),
        (output.path(), destination),
        (&reading, &taking),
        &writing,
        &mut |bytes| bar.inc(bytes),
    );
    bar.finish_and_clear();
    let converted = converted.map_err(|error| {
        let failure = output.blame(input.blame(error));
        match (found.format, reading.column.is_some()) {
            (Format::Ctable, false) => {
                failure.advise("'--column NAME' takes one column of a table")
            }
            _ => failure,
        }
    })?;
    if args.strict && !converted.lost.is_empty() {
        let lost = converted.lost.join("; ");
        return Err(Failure::new(format!(
            "{}: this can't be kept: {lost}",
            args.output.display()
        ))
        .advise("without '--strict' it is left out"));
    }
    for what in &converted.lost {
        voice::warn(&format!("{}: not kept: {what}", args.output.display()));
    }
    output.commit()
}
