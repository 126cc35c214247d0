//! What is wrong with a command line, in the words of old: usage, then `blpk c: error: …`, on standard error.

use crate::words::{self, ALIASES};
use crate::{ERROR, USAGE, voice};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::process::ExitCode;

/// What is wrong.
#[derive(Debug)]
pub enum Wrong {
    /// The words don't fit: of this subcommand (as it was spelled), for this reason.
    Usage {
        subcommand: Option<String>,
        why: String,
    },
    /// A value is out of range, which is said like any other error.
    Value(String),
}

impl Wrong {
    /// Says so.
    pub fn report(&self) -> ExitCode {
        match self {
            Wrong::Usage { subcommand, why } => {
                let name = match subcommand {
                    Some(name) => format!("blpk {name}"),
                    None => "blpk".to_owned(),
                };
                eprint!(
                    "{}\n{name}: error: {why}\n",
                    usage_of(subcommand.as_deref())
                );
                ExitCode::from(USAGE)
            }
            Wrong::Value(why) => {
                voice::write_lines(false, "error: ", why);
                ExitCode::from(ERROR)
            }
        }
    }
}

/// Arguments of the old subcommands, in the order of the usage line.
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
/// How long a line of usage gets.
const WIDTH: usize = 78;

/// The usage of a subcommand, spelled like this, or of the program.
pub fn usage_of(subcommand: Option<&str>) -> String {
    let Some(spelled) = subcommand else {
        return "usage: blpk [-h] [--version] [-v | -d] [-f] [-n [1, 256]]  ...".to_owned();
    };
    let (options, files): (&[&str], &str) = match words::canonical(spelled) {
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
    let start = format!("usage: blpk {spelled} ");
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

/// Without a subcommand.
pub fn too_few() -> ExitCode {
    voice::print(&format!("{}\n", usage_of(None)));
    voice::write_lines(false, "error: ", "too few arguments");
    ExitCode::from(USAGE)
}

/// The subcommand of a command line as it was spelled.
pub fn spelled_subcommand(arguments: &[OsString]) -> Option<String> {
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        let word = word.to_string_lossy();
        if word == "-n" || (word.starts_with("--n") && !word.contains('=')) {
            words.next();
        } else if !word.starts_with('-') {
            return ALIASES
                .iter()
                .any(|(_, names)| names.contains(&&*word))
                .then(|| word.into_owned());
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

/// How an option is called in errors: `-k/--checksum`.
fn option_name(shown: &str, subcommand: Option<&str>) -> String {
    // The library shows `--checksum <checksum>`.
    let long = shown.split([' ', '=']).next().unwrap_or(shown);
    let command = words::command();
    let command = subcommand
        .and_then(|name| command.find_subcommand(words::canonical(name)).cloned())
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

/// The options that begin with this word, when there are several.
fn candidates(word: &str, subcommand: Option<&str>) -> Vec<String> {
    let command = words::command();
    let command = subcommand
        .and_then(|name| command.find_subcommand(words::canonical(name)).cloned())
        .unwrap_or(command);
    let name = word
        .split('=')
        .next()
        .unwrap_or(word)
        .trim_start_matches("--");
    let longs = command.get_arguments().filter_map(clap::Arg::get_long);
    let longs: Vec<String> = longs
        .filter(|long| word.starts_with("--") && long.starts_with(name))
        .map(|long| format!("--{long}"))
        .collect();
    longs
}

/// Says what the parser of the command line found.
pub fn explain(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let subcommand = spelled_subcommand(arguments);
    if error.kind() == ErrorKind::DisplayHelp {
        let usage = usage_of(subcommand.as_deref());
        voice::print(&format!("{usage}\n\n{error}"));
        return ExitCode::SUCCESS;
    }
    let argument = text_of(error, ContextKind::InvalidArg);
    let spelled = subcommand.clone();
    let argument_name = || option_name(&argument, spelled.as_deref());
    let (subcommand, why) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text_of(error, ContextKind::InvalidSubcommand);
            (None, invalid_subcommand(&word))
        }
        ErrorKind::UnknownArgument => {
            let candidates = candidates(&argument, spelled.as_deref());
            if candidates.len() > 1 {
                let why = format!(
                    "ambiguous option: {argument} could match {}",
                    candidates.join(", ")
                );
                (subcommand, why)
            } else if subcommand.is_none() && !argument.starts_with('-') {
                (None, invalid_subcommand(&argument))
            } else {
                (None, format!("unrecognized arguments: {argument}"))
            }
        }
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            let name = argument_name();
            let is_global = words::is_global(&argument);
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
    Wrong::Usage { subcommand, why }.report()
}

fn invalid_subcommand(word: &str) -> String {
    let names: Vec<String> = ALIASES
        .iter()
        .flat_map(|(_, names)| names.iter().map(|name| format!("'{name}'")))
        .collect();
    format!(
        "argument : invalid choice: '{word}' (choose from {})",
        names.join(", ")
    )
}
