//! `b2`: the command-line program for all formats of the Blosc family.
//!
//! File types are detected by content. Results go to standard output; errors, warnings and progress
//! go to standard error. Exit statuses: 0 success, 1 error, 2 invalid command line, 3 corrupt data,
//! 4 missing plugin.
//!
//! | file | content |
//! |---|---|
//! | `cli.rs`, `cli/` | commands and options; the texts of the help, values of options |
//! | `error.rs`, `plural.rs`, `style.rs` | errors and warnings; numbers in messages; colours |
//! | `paths.rs` | names of inputs in messages and in printed commands |
//! | `io.rs` | input and output files, and standard input and output |
//! | `info.rs`, `json.rs`, `ls.rs` | descriptions of files, as text and as JSON |
//! | `cat.rs`, `slice.rs`, `printer.rs` | items as text, CSV and JSON |
//! | `items.rs`, `field.rs`, `table.rs` | single items, fields of records, and tables |
//! | `stats.rs`, `diff/`, `scan.rs` | statistics, comparison, and reading in threads |
//! | `meta.rs`, `msgpack.rs` | metalayers, attributes and metadata, and MessagePack as JSON |
//! | `store.rs` | stores of python-blosc2 for the commands above, and for `verify` |
//! | `rows.rs`, `tables.rs` | `cat` and `head`, and `convert`, for tables in stores |
//! | `members.rs` | changes of stores, and their conversion and repair |
//! | `verify.rs`, `repair.rs`, `settled.rs` | verification, also of files that change, and repair |
//! | `convert.rs`, `csv.rs`, `settings.rs` | conversion, CSV files, and the options of compression |
//! | `names.rs` | formats by the extensions of file names |
//! | `options.rs` | the options that an output of `convert` supports |
//! | `all.rs`, `container.rs` | conversion of all arrays of a container |
//! | `pack.rs`, `auto.rs` | compression of any file, and the option `--auto` |
//! | `targets.rs`, `trial.rs` | its inputs and outputs, and the choice of filters |
//! | `folders.rs` | directories that are created for outputs |
//! | `append.rs`, `resize.rs`, `compact.rs` | changes of frames and arrays in place |
//! | `concat.rs`, `extract.rs`, `recompress.rs` | joined, sliced and recompressed frames and arrays |
//! | `inplace.rs`, `fill.rs` | durable changes; items written to a part of an array |
//! | `lock.rs`, `state.rs` | locks, and the detection of changes by other programs |
//! | `manual.rs` | manual pages |
//! | `draw.rs`, `picture.rs` | plots of items, and their forms as SVG and PNG |
//! | `view/` | the terminal viewer |
//! | `bench.rs`, `plot.rs`, `measure.rs` | benchmarks of codecs, levels and filters |

#![forbid(unsafe_code)]

mod all;
mod append;
mod auto;
mod bench;
mod cat;
mod cli;
mod compact;
mod concat;
mod container;
mod convert;
mod csv;
mod diff;
mod draw;
mod error;
mod extract;
mod field;
mod fill;
mod folders;
mod info;
mod inplace;
mod io;
mod items;
mod json;
mod lock;
mod ls;
mod manual;
mod measure;
mod members;
mod meta;
mod msgpack;
mod names;
mod options;
mod pack;
mod paths;
mod picture;
mod plot;
mod plural;
mod printer;
mod recompress;
mod repair;
mod resize;
mod rows;
mod scan;
mod settings;
mod settled;
mod slice;
mod state;
mod stats;
mod store;
mod style;
mod table;
mod tables;
mod targets;
mod trial;
mod verify;
mod view;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command};
use error::{Failure, Outcome};
use ferroblosc_tools_common::{man, staging, status};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // The parser returns the help and the version as errors, too.
            let printed = error.print().and_then(|()| std::io::stdout().flush());
            return match printed {
                _ if error.use_stderr() => ExitCode::from(status::USAGE),
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => error::report(&io::name_stdout(error).into()),
            };
        }
    };
    if let Err(error) = staging::clean_up_on_signals() {
        return error::report(&Failure::new(format!("cannot handle signals: {error}")));
    }
    error::hide_caught_panics();
    // Plugin libraries are loaded in the same way as by `libblosc2`.
    ferroblosc_capi_plugins::plugins::install();
    // Bytes after the last line feed are still in the buffer.
    match run(&cli).and_then(|()| Ok(io::stdout().flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => error::report(&failure),
    }
}

/// Whether the output of a command is a report about its work: it verifies, compares or changes
/// files.
fn is_report(command: &Command) -> bool {
    matches!(
        command,
        Command::Verify(_)
            | Command::Diff(_)
            | Command::Repair(_)
            | Command::Append(_)
            | Command::Resize(_)
            | Command::Compact(_)
            | Command::Concat(_)
            | Command::Slice(_)
            | Command::Recompress(_)
    )
}

fn run(cli: &Cli) -> Outcome {
    if is_report(&cli.command) {
        crate::io::ignore_closed_stdout();
    }
    match &cli.command {
        Command::Info(args) => info::run(args),
        Command::Ls(args) => ls::run(args),
        Command::Cat(args) => cat::cat(args, cli),
        Command::Head(args) => cat::head(args, cli),
        Command::Verify(args) => verify::run(args, cli),
        Command::Convert(args) if args.all => all::run(args, cli),
        Command::Convert(args) => convert::run(args, cli),
        Command::Compress(args) => pack::compress(args, cli),
        Command::Decompress(args) => pack::decompress(args, cli),
        Command::Repair(args) => repair::run(args, cli),
        Command::Get(args) => members::get(args),
        Command::Put(args) => members::put(args, cli),
        Command::Rm(args) => members::rm(args),
        Command::Append(args) => append::run(args, cli),
        Command::Resize(args) => resize::run(args, cli),
        Command::Concat(args) => concat::run(args, cli),
        Command::Slice(args) => extract::run(args, cli),
        Command::Recompress(args) => recompress::run(args, cli),
        Command::Plot(args) => draw::run(args, cli),
        Command::Compact(args) => compact::run(args, cli),
        Command::Bench(args) => bench::run(args, cli),
        Command::Stats(args) => stats::run(args, cli),
        Command::Diff(args) => diff::run(args, cli),
        Command::View(args) => view::run(args, cli),
        Command::Meta { command } => meta::run(command, cli),
        Command::Completions { shell } => {
            let text = man::completions(&mut Cli::command(), *shell);
            Ok(crate::io::stdout().write_all(&text)?)
        }
        Command::Man(args) => manual::run(args),
    }
}
