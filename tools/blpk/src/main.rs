//! `blpk`: Bloscpack's command.
//!
//! The words, messages and exit codes of the Python tool hold, so that old command lines and scripts do:
//! messages go to standard output behind `blpk: `, errors too, and only what is wrong with the command line
//! itself goes to standard error. What is new has words of its own, and none that would change the meaning of an
//! old line.
//!
//! | file | what |
//! |---|---|
//! | `words.rs` | subcommands, options and their values |
//! | `usage.rs` | what is wrong with a command line, in the words of old |
//! | `voice.rs` | messages and errors: where to, how loud |
//! | `files.rs` | inputs and outputs: names, `-`, what may be overwritten |
//! | `compress.rs`, `decompress.rs`, `append.rs`, `info.rs` | the old subcommands |
//! | `verify.rs`, `estimate.rs`, `extras.rs` | the new ones |
//! | `show.rs` | headers and values as text and as JSON |
//! | `trace.rs` | the lines of `-v` and `-d` about containers |
//! | `progress.rs` | the bar |

mod append;
mod compress;
mod decompress;
mod estimate;
mod extras;
mod files;
mod info;
mod progress;
mod show;
mod trace;
mod usage;
mod verify;
mod voice;
mod words;

use ferroblosc_tools_common::status::{CORRUPT, ERROR, USAGE};
use std::process::ExitCode;
use voice::{Failure, Voice};

/// The version of Bloscpack whose words these are.
const BLOSCPACK: &str = "0.16.0";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    let matches = match words::command().try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(error) => return usage::explain(&error, &arguments),
    };
    let globals = match words::Globals::of(&matches, &arguments) {
        Ok(globals) => globals,
        Err(wrong) => return wrong.report(),
    };
    if globals.version {
        voice::print(&format!(
            "bloscpack: '{BLOSCPACK}' ferroblosc: '{}' blosc: '{}'\n",
            env!("CARGO_PKG_VERSION"),
            ferroblosc::blosc1::VERSION.to_string_lossy()
        ));
        return ExitCode::SUCCESS;
    }
    let Some((name, arguments_of)) = matches.subcommand() else {
        let voice = Voice::new(&globals, false);
        trace::arguments(&voice, &mut globals.arguments("None"));
        files::show_threads(globals.nthreads, &voice);
        return usage::too_few();
    };
    let call = words::Call {
        globals: &globals,
        arguments: arguments_of,
        raw: &arguments,
    };
    let voice = Voice::new(&globals, call.writes_to_stdout(name));
    let result = match name {
        "compress" => compress::run(&call, &voice),
        "decompress" => decompress::run(&call, &voice),
        "append" => append::run(&call, &voice),
        "info" => info::run(&call, &voice),
        "verify" => verify::run(&call, &voice),
        "estimate" => estimate::estimate(&call, &voice),
        "bench" => estimate::bench(&call, &voice),
        "metadata" => extras::metadata(&call, &voice),
        "recover" => extras::recover(&call, &voice),
        "completions" => extras::completions(&call),
        _ => extras::man(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(wrong)) => wrong.report(),
        Err(Failure::Said(code)) => ExitCode::from(code),
        Err(Failure::Error(lines)) => {
            for line in lines {
                voice.error(&line);
            }
            ExitCode::from(ERROR)
        }
    }
}
