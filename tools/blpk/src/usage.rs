//! Usage texts and errors of the command line, in the format of Bloscpack: the usage, then
//! `blpk c: error: …`, on standard error.

use crate::args::{self, ALIASES};
use crate::{ERROR, USAGE, log};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::process::ExitCode;

/// An error of the command line.
#[derive(Debug)]
pub enum UsageError {
    /// An error of the syntax, in the arguments of a subcommand (or its alias) or of the program.
    Syntax {
        subcommand: Option<String>,
        reason: String,
    },
    /// A value out of range, which is printed like other errors.
    Value(String),
}

impl UsageError {
    /// Prints the error. Returns the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            UsageError::Syntax { subcommand, reason } => {
                let name = match subcommand {
                    Some(name) => format!("blpk {name}"),
                    None => "blpk".to_owned(),
                };
                eprint!(
                    "{}\n{name}: error: {reason}\n",
                    usage_of(subcommand.as_deref())
                );
                ExitCode::from(USAGE)
            }
            UsageError::Value(reason) => {
                log::write_lines(false, "error: ", reason);
                ExitCode::from(ERROR)
            }
        }
    }
}

/// The options of subcommands, in the order of the usage line.
const COMPRESS: &[&str] = &[
    "[-h]",
    "[-t <size>]",
    "[-l [0, 9]]",
    "[-s]",
    "[-c <codec>]",
    "[-z <size>]",
    "[-k <checksum>]",
    "[-o]",
    "[-m <metadata>]",
];
const APPEND: &[&str] = &[
    "[-h]",
    "[-t <size>]",
    "[-l [0, 9]]",
    "[-s]",
    "[-c <codec>]",
    "[-e]",
    "[-m <metadata>]",
];
/// The maximum length of a usage line, in characters.
const WIDTH: usize = 78;

/// Returns the usage of a subcommand, by its name or alias, or of the program.
pub fn usage_of(subcommand: Option<&str>) -> String {
    let Some(name_used) = subcommand else {
        return "usage: blpk [-h] [--version] [-v | -d] [-f] [-n [1, 256]]  ...".to_owned();
    };
    let (options, files): (&[&str], &str) = match args::canonical(name_used) {
        "compress" => (COMPRESS, "<in_file> [<out_file>]"),
        "decompress" => (&["[-h]", "[-e]"], "<in_file> [<out_file>]"),
        "append" => (APPEND, "<original_file> <new_file>"),
        "metadata" => (&["[-h]"], "<file> <metadata>"),
        "bench" | "estimate" => (
            &["[-h]", "[-t <size>]", "[-l [0, 9]]", "[-s]", "[-c <codec>]"],
            "<in_file>",
        ),
        "completions" => (&["[-h]"], "<shell>"),
        "man" => (&["[-h]"], ""),
        _ => (&["[-h]"], "<file>"),
    };
    let start = format!("usage: blpk {name_used} ");
    let one_line = format!("{start}{} {files}", options.join(" "));
    if one_line.len() <= WIDTH {
        return one_line.trim_end().to_owned();
    }
    let indent = " ".repeat(start.len());
    let mut lines = vec![start.clone()];
    for option in options {
        let line = lines.last_mut().expect("there is a first line");
        let is_fresh = line.len() == start.len();
        if line.len() + usize::from(!is_fresh) + option.len() > WIDTH {
            lines.push(format!("{indent}{option}"));
        } else {
            if !is_fresh {
                line.push(' ');
            }
            line.push_str(option);
        }
    }
    lines.push(format!("{indent}{files}"));
    lines.join("\n")
}

/// Prints the error of a command line without a subcommand. Returns the exit status.
pub fn missing_subcommand() -> ExitCode {
    log::print(&format!("{}\n", usage_of(None)));
    log::write_lines(false, "error: ", "too few arguments");
    ExitCode::from(USAGE)
}

/// Returns the subcommand or alias of a command line.
pub fn spelled_subcommand(arguments: &[OsString]) -> Option<String> {
    let mut arguments = arguments.iter().skip(1);
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        if argument == "-n" || (argument.starts_with("--n") && !argument.contains('=')) {
            arguments.next();
        } else if !argument.starts_with('-') {
            return ALIASES
                .iter()
                .any(|(_, names)| names.contains(&&*argument))
                .then(|| argument.into_owned());
        }
    }
    None
}

fn text_of(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    }
}

/// Returns the name of an option in errors: `-k/--checksum`.
fn option_name(shown: &str, subcommand: Option<&str>) -> String {
    // clap shows `--checksum <checksum>`.
    let long = shown.split([' ', '=']).next().unwrap_or(shown);
    let command = args::command();
    let command = subcommand
        .and_then(|name| command.find_subcommand(args::canonical(name)).cloned())
        .unwrap_or(command);
    let found = command.get_arguments().find(|argument| {
        argument
            .get_long()
            .is_some_and(|name| long.strip_prefix("--") == Some(name))
            || argument
                .get_short()
                .is_some_and(|name| long == format!("-{name}"))
    });
    match found.and_then(|argument| Some((argument.get_short()?, argument.get_long()?))) {
        Some((short, long)) => format!("-{short}/--{long}"),
        None => long.to_owned(),
    }
}

/// Returns the long options with this prefix.
fn candidates(prefix: &str, subcommand: Option<&str>) -> Vec<String> {
    let command = args::command();
    let command = subcommand
        .and_then(|name| command.find_subcommand(args::canonical(name)).cloned())
        .unwrap_or(command);
    let name = prefix
        .split('=')
        .next()
        .unwrap_or(prefix)
        .trim_start_matches("--");
    let longs = command.get_arguments().filter_map(clap::Arg::get_long);
    let longs: Vec<String> = longs
        .filter(|long| prefix.starts_with("--") && long.starts_with(name))
        .map(|long| format!("--{long}"))
        .collect();
    longs
}

/// Prints an error of the parser, or the help. Returns the exit status.
pub fn report_parse_error(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
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
                let reason = format!(
                    "ambiguous option: {argument} could match {}",
                    candidates.join(", ")
                );
                (subcommand, reason)
            } else if subcommand.is_none() && !argument.starts_with('-') {
                (None, invalid_subcommand(&argument))
            } else {
                (None, format!("unrecognized arguments: {argument}"))
            }
        }
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            let name = argument_name();
            let is_global = args::is_global(&argument);
            let subcommand = subcommand.filter(|_| !is_global);
            (
                subcommand,
                format!("argument {name}: expected one argument"),
            )
        }
        ErrorKind::TooManyValues => (
            subcommand,
            format!("argument {}: ignored explicit argument", argument_name()),
        ),
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
    format!(
        "argument : invalid choice: '{name}' (choose from {})",
        names.join(", ")
    )
}
