//! `b2`: one tool for everything Blosc.
//!
//! What something is, is told by its content. Results go to standard output, and all that is said about the work to
//! standard error. Exit statuses: 0 for success, 1 for an error, 2 for a wrong command line, 3 for corrupt data, 4 for a missing plugin.
//!
//! | file | what |
//! |---|---|
//! | `cli.rs` | commands and options |
//! | `voice.rs` | errors and advice; colour |
//! | `place.rs` | inputs and outputs: paths, and `-` |
//! | `info.rs`, `json.rs`, `ls.rs` | what is there, for people and for programs |
//! | `cat.rs`, `slice.rs`, `items.rs`, `table.rs` | items as text |
//! | `verify.rs`, `repair.rs` | what is wrong, and what can be mended |
//! | `convert.rs`, `settings.rs` | other formats, and how they are compressed |
//! | `pack.rs` | files of any kind |
//! | `bench.rs`, `plot.rs` | what suits the user's data |

mod bench;
mod cat;
mod cli;
mod convert;
mod info;
mod items;
mod json;
mod ls;
mod pack;
mod place;
mod plot;
mod repair;
mod settings;
mod slice;
mod table;
mod verify;
mod voice;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command};
use ferroblosc_tools_common::{pages, staging, status};
use std::io::Write;
use std::process::ExitCode;
use voice::{Failure, Outcome};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no mistakes. Whoever doesn't listen misses it.
            let _ = error.print();
            return match error.use_stderr() {
                true => ExitCode::from(status::USAGE),
                false => ExitCode::SUCCESS,
            };
        }
    };
    if let Err(error) = staging::clean_up_on_signals() {
        return voice::report(&Failure::new(format!("cannot wait for signals: {error}")));
    }
    // Plugin libraries are loaded as `libblosc2` loads them.
    ferroblosc_capi_plugins::plugins::install();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => voice::report(&failure),
    }
}

fn run(cli: &Cli) -> Outcome {
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
        Command::Bench(args) => bench::run(args, cli),
        Command::Completions { shell } => {
            let text = pages::completions(&mut Cli::command(), *shell);
            Ok(std::io::stdout().write_all(&text)?)
        }
        Command::Man => {
            let page = pages::man(&Cli::command())?;
            Ok(std::io::stdout().write_all(&page)?)
        }
    }
}
