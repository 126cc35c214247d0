//! `b2`: the command-line program for all formats of the Blosc family.
//!
//! File types are detected by content. Results go to standard output; errors, warnings and progress
//! go to standard error. Exit statuses: 0 success, 1 error, 2 invalid command line, 3 corrupt data,
//! 4 missing plugin.
//!
//! | file | content |
//! |---|---|
//! | `cli.rs` | commands and options |
//! | `error.rs`, `style.rs` | errors and warnings; colours |
//! | `io.rs`, `identity.rs` | input and output files, standard input and output; changes of files |
//! | `info.rs`, `json.rs`, `ls.rs` | descriptions of files, as text and as JSON |
//! | `cat.rs`, `slice.rs`, `printer.rs` | items as text, CSV and JSON |
//! | `items.rs`, `field.rs`, `table.rs` | single items, fields of records, and tables |
//! | `stats.rs`, `diff.rs`, `scan.rs` | statistics, comparison, and reading in threads |
//! | `meta.rs`, `msgpack.rs` | metalayers, attributes and metadata, and MessagePack as JSON |
//! | `store.rs` | stores of python-blosc2 for the commands above, and for `verify` |
//! | `members.rs` | changes of stores, and their conversion and repair |
//! | `verify.rs`, `repair.rs` | verification and repair |
//! | `convert.rs`, `settings.rs` | conversion, and the options of compression |
//! | `pack.rs` | compression of any file |
//! | `targets.rs`, `trial.rs` | its inputs and outputs, and the choice of filters |
//! | `bench.rs`, `plot.rs` | benchmarks of codecs, levels and filters |

#![forbid(unsafe_code)]

mod bench;
mod cat;
mod cli;
mod convert;
mod diff;
mod error;
mod field;
mod identity;
mod info;
mod io;
mod items;
mod json;
mod ls;
mod members;
mod meta;
mod msgpack;
mod pack;
mod plot;
mod printer;
mod repair;
mod scan;
mod settings;
mod slice;
mod stats;
mod store;
mod style;
mod table;
mod targets;
mod trial;
mod verify;

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
            // The parser returns the help and the version as errors, too. A closed pipe is ignored.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(status::USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    if let Err(error) = staging::clean_up_on_signals() {
        return error::report(&Failure::new(format!("cannot handle signals: {error}")));
    }
    // Plugin libraries are loaded in the same way as by `libblosc2`.
    ferroblosc_capi_plugins::plugins::install();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => error::report(&failure),
    }
}

fn run(cli: &Cli) -> Outcome {
    if let Some(done) = store::run(&cli.command) {
        return done;
    }
    match &cli.command {
        Command::Info(args) => info::run(args),
        Command::Ls(args) => ls::run(args),
        Command::Cat(args) => cat::cat(args, cli),
        Command::Head(args) => cat::head(args, cli),
        Command::Verify(args) => verify::run(args, cli),
        Command::Convert(args) => convert::run(args, cli),
        Command::Compress(args) => pack::compress(args, cli),
        Command::Decompress(args) => pack::decompress(args, cli),
        Command::Repair(args) => repair::run(args, cli),
        Command::Get(args) => members::get(args),
        Command::Put(args) => members::put(args, cli),
        Command::Rm(args) => members::rm(args),
        Command::Bench(args) => bench::run(args, cli),
        Command::Stats(args) => stats::run(args, cli),
        Command::Diff(args) => diff::run(args, cli),
        Command::Meta { command } => meta::run(command, cli),
        Command::Completions { shell } => {
            let text = man::completions(&mut Cli::command(), *shell);
            Ok(std::io::stdout().write_all(&text)?)
        }
        Command::Man => {
            let page = man::man(&Cli::command())?;
            Ok(std::io::stdout().write_all(&page)?)
        }
    }
}
