//! `blpk`: the command-line program of Bloscpack.
//!
//! It accepts the command lines of Bloscpack's Python program, prints the same messages and returns
//! the same exit statuses, so that scripts continue to work: messages and errors go to standard
//! output with the prefix `blpk: `, and only errors of the command line go to standard error.
//! Additional options and subcommands do not change the meaning of any command line that Bloscpack
//! accepts.
//!
//! | file | content |
//! |---|---|
//! | `args.rs` | subcommands, options and their values |
//! | `usage.rs`, `parse_error.rs` | usage texts and errors of the command line |
//! | `log.rs`, `error.rs` | messages and errors |
//! | `io.rs` | input and output files, and standard input and output |
//! | `compress.rs`, `decompress.rs`, `append.rs`, `info.rs` | the subcommands of Bloscpack |
//! | `verify.rs`, `estimate.rs`, `extras.rs` | additional subcommands |
//! | `show.rs` | headers and values as text and as JSON |
//! | `trace.rs` | the lines of `-v` and `-d` about containers |
//! | `progress.rs` | the progress bar |

#![forbid(unsafe_code)]

mod append;
mod args;
mod compress;
mod decompress;
mod error;
mod estimate;
mod extras;
mod info;
mod io;
mod log;
mod parse_error;
mod progress;
mod show;
mod trace;
mod usage;
mod verify;

use error::Failure;
use ferroblosc_formats::bloscpack::{list_incomplete, remove_incomplete};
use ferroblosc_tools_common::staging;
use ferroblosc_tools_common::status::ERROR;
use log::Logger;
use std::process::ExitCode;

/// The version of Bloscpack with the same command line.
const BLOSCPACK: &str = "0.16.0";

fn main() -> ExitCode {
    log::finish(run())
}

fn run() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    let matches = match args::command().try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error) => return parse_error::report(&error, &arguments),
    };
    let globals = match args::Globals::of(&matches, &arguments) {
        Ok(globals) => globals,
        Err(error) => return error.report(),
    };
    if globals.version {
        log::print(&format!(
            "bloscpack: '{BLOSCPACK}' ferroblosc: '{}' blosc: '{}'\n",
            env!("CARGO_PKG_VERSION"),
            ferroblosc::blosc1::VERSION.to_string_lossy()
        ));
        return ExitCode::SUCCESS;
    }
    let logger =
        |is_stdout_used| Logger::new(globals.level, globals.errors_to_stderr, is_stdout_used);
    let Some((name, arguments_of)) = matches.subcommand() else {
        let logger = logger(false);
        trace::arguments(&logger, &mut globals.arguments("None"));
        io::show_threads(globals.nthreads, &logger);
        return usage::missing_subcommand();
    };
    list_incomplete();
    staging::at_signal(remove_incomplete);
    // Without the handlers, only the removal of incomplete files is missing.
    let _ = staging::clean_up_on_signals();
    let call = args::Call { globals: &globals, arguments: arguments_of, command_line: &arguments };
    let logger = logger(call.writes_to_stdout(name));
    let result = match name {
        "compress" => compress::run(&call, &logger),
        "decompress" => decompress::run(&call, &logger),
        "append" => append::run(&call, &logger),
        "info" => info::run(&call, &logger),
        "verify" => verify::run(&call, &logger),
        "estimate" => estimate::estimate(&call, &logger),
        "bench" => estimate::bench(&call, &logger),
        "metadata" => extras::metadata(&call, &logger),
        "recover" => extras::recover(&call, &logger),
        "completions" => extras::completions(&call),
        _ => extras::man(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(error)) => error.report(),
        Err(Failure::Reported(code)) => ExitCode::from(code),
        // The reader of the data needs no more of them.
        Err(Failure::Error(_)) if call.writes_to_stdout(name) && log::is_closed() => {
            ExitCode::SUCCESS
        }
        Err(Failure::Error(lines)) => {
            for line in lines {
                logger.error(&line);
            }
            ExitCode::from(ERROR)
        }
    }
}
