//! Errors of the parser of the command line, in the format of Bloscpack.

use crate::args::command;
use crate::log;
use crate::usage::{ALIASES, UsageError, canonical, spelled_subcommand, usage_of};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::process::ExitCode;

/// Whether an option precedes the subcommand.
fn is_global(option: &str) -> bool {
    option.starts_with("--nthreads") || option.starts_with("-n")
}

fn text_of(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    }
}

/// Returns the parser of a subcommand, by its name or alias, or of the program.
fn parser_of(subcommand: Option<&str>) -> clap::Command {
    let command = command();
    subcommand.and_then(|name| command.find_subcommand(canonical(name)).cloned()).unwrap_or(command)
}

/// Returns the name of an option in errors: `-k/--checksum`.
fn option_name(shown: &str, subcommand: Option<&str>) -> String {
    // clap shows `--checksum <checksum>`.
    let long = shown.split([' ', '=']).next().unwrap_or(shown);
    let command = parser_of(subcommand);
    let found = command.get_arguments().find(|argument| {
        argument.get_long().is_some_and(|name| long.strip_prefix("--") == Some(name))
            || argument.get_short().is_some_and(|name| long == format!("-{name}"))
    });
    match found.and_then(|argument| Some((argument.get_short()?, argument.get_long()?))) {
        Some((short, long)) => format!("-{short}/--{long}"),
        None => long.to_owned(),
    }
}

/// Returns the long options with this prefix.
fn candidates(prefix: &str, subcommand: Option<&str>) -> Vec<String> {
    let command = parser_of(subcommand);
    let name = prefix.split('=').next().unwrap_or(prefix).trim_start_matches("--");
    let longs = command.get_arguments().filter_map(clap::Arg::get_long);
    let longs: Vec<String> = longs
        .filter(|long| prefix.starts_with("--") && long.starts_with(name))
        .map(|long| format!("--{long}"))
        .collect();
    longs
}

/// Prints an error of the parser, or the help. Returns the exit status.
pub fn report(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let subcommand = spelled_subcommand(arguments);
    if error.kind() == ErrorKind::DisplayHelp {
        let usage = usage_of(subcommand.as_deref());
        log::print(&format!("{usage}\n\n{error}"));
        return ExitCode::SUCCESS;
    }
    let argument = text_of(error, ContextKind::InvalidArg);
    let name_used = subcommand.clone();
    let argument_name = || option_name(&argument, name_used.as_deref());
    let (subcommand, reason) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = text_of(error, ContextKind::InvalidSubcommand);
            (None, invalid_subcommand(&name))
        }
        ErrorKind::UnknownArgument => {
            let candidates = candidates(&argument, name_used.as_deref());
            if candidates.len() > 1 {
                let reason =
                    format!("ambiguous option: {argument} could match {}", candidates.join(", "));
                (subcommand, reason)
            } else if subcommand.is_none() && !argument.starts_with('-') {
                (None, invalid_subcommand(&argument))
            } else {
                (None, format!("unrecognized arguments: {argument}"))
            }
        }
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            let name = argument_name();
            let is_global = is_global(&argument);
            let subcommand = subcommand.filter(|_| !is_global);
            (subcommand, format!("argument {name}: expected one argument"))
        }
        ErrorKind::TooManyValues => {
            (subcommand, format!("argument {}: ignored explicit argument", argument_name()))
        }
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            (subcommand, first.trim_start_matches("error: ").to_owned())
        }
    };
    UsageError::Syntax { subcommand, reason }.report()
}

fn invalid_subcommand(name: &str) -> String {
    let names: Vec<String> = ALIASES
        .iter()
        .flat_map(|(_, names)| names.iter().map(|name| format!("'{name}'")))
        .collect();
    format!("argument : invalid choice: '{name}' (choose from {})", names.join(", "))
}
