//! The subcommands, their usage texts, and errors of the command line in the format of Bloscpack:
//! the usage, then `blpk c: error: …`, on standard error.

use crate::log;
use ferroblosc_tools_common::status::{ERROR, USAGE};
use std::ffi::OsString;
use std::process::ExitCode;

/// The subcommands with their aliases.
pub const ALIASES: [(&str, &[&str]); 11] = [
    ("compress", &["compress", "c"]),
    ("decompress", &["decompress", "d"]),
    ("append", &["append", "a"]),
    ("info", &["info", "i"]),
    ("verify", &["verify", "v"]),
    ("estimate", &["estimate", "e"]),
    ("bench", &["bench", "b"]),
    ("metadata", &["metadata", "m"]),
    ("recover", &["recover", "r"]),
    ("completions", &["completions"]),
    ("man", &["man"]),
];

/// Returns the subcommand for an alias.
pub fn canonical(alias: &str) -> &str {
    let found = ALIASES.iter().find(|(_, names)| names.contains(&alias));
    found.map_or(alias, |(name, _)| name)
}

/// An error of the command line.
#[derive(Debug)]
pub enum UsageError {
    /// An error of the syntax, in the arguments of a subcommand (or its alias) or of the program.
    Syntax { subcommand: Option<String>, reason: String },
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
                eprint!("{}\n{name}: error: {reason}\n", usage_of(subcommand.as_deref()));
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
const APPEND: &[&str] =
    &["[-h]", "[-t <size>]", "[-l [0, 9]]", "[-s]", "[-c <codec>]", "[-e]", "[-m <metadata>]"];
/// The maximum length of a usage line, in characters.
const WIDTH: usize = 78;

/// Returns the usage of a subcommand, by its name or alias, or of the program.
pub fn usage_of(subcommand: Option<&str>) -> String {
    let Some(name_used) = subcommand else {
        return "usage: blpk [-h] [--version] [-v | -d] [-f] [-n [1, 256]]  ...".to_owned();
    };
    let (options, files): (&[&str], &str) = match canonical(name_used) {
        "compress" => (COMPRESS, "<in_file> [<out_file>]"),
        "decompress" => (&["[-h]", "[-e]"], "<in_file> [<out_file>]"),
        "append" => (APPEND, "<original_file> <new_file>"),
        "metadata" => (&["[-h]"], "<file> <metadata>"),
        "bench" | "estimate" => {
            (&["[-h]", "[-t <size>]", "[-l [0, 9]]", "[-s]", "[-c <codec>]"], "<in_file>")
        }
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
