//! Messages and errors: where to, how loud.

use crate::usage::Wrong;
use crate::words::Globals;
use ferroblosc::bloscpack;
use ferroblosc::escape::escape;
use std::io::Write;

/// Why a subcommand ended.
pub enum Failure {
    /// The command line is wrong.
    Usage(Wrong),
    /// Something else, in these words.
    Error(Vec<String>),
    /// It has been said; this is the exit status.
    Said(u8),
}

impl From<bloscpack::Error> for Failure {
    fn from(error: bloscpack::Error) -> Failure {
        let mut lines = vec![error.to_string()];
        if let bloscpack::Error::Container(fault) = &error
            && fault.is_in_header()
        {
            lines.push("This might not be a bloscpack compressed file.".to_owned());
        }
        Failure::Error(lines)
    }
}

impl From<ferroblosc::blpk::Error> for Failure {
    fn from(error: ferroblosc::blpk::Error) -> Failure {
        bloscpack::Error::from(error).into()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        bloscpack::Error::from(error).into()
    }
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Failure {
        Failure::Usage(wrong)
    }
}

/// An error in these words.
pub fn error(text: impl Into<String>) -> Failure {
    Failure::Error(vec![text.into()])
}

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Errors alone.
    Quiet,
    /// What was asked for.
    Normal,
    /// What is being done.
    Verbose,
    /// Everything.
    Debug,
}

/// Says things to people.
pub struct Voice {
    level: Level,
    /// Standard output carries data, so that everything is said elsewhere.
    output_is_taken: bool,
    errors_to_stderr: bool,
}

/// The variable that sends errors to standard error.
const STDERR_VARIABLE: &str = "BLPK_STDERR";

impl Voice {
    pub fn new(globals: &Globals, output_is_taken: bool) -> Voice {
        let by_variable = std::env::var_os(STDERR_VARIABLE);
        let by_variable = by_variable.is_some_and(|value| !value.is_empty() && value != "0");
        Voice {
            level: globals.level,
            output_is_taken,
            errors_to_stderr: output_is_taken || globals.errors_to_stderr || by_variable,
        }
    }

    pub fn level(&self) -> Level {
        self.level
    }

    /// What was asked for.
    pub fn say(&self, text: &str) {
        self.speak(Level::Normal, text);
    }

    /// What is being done.
    pub fn verbose(&self, text: &str) {
        self.speak(Level::Verbose, text);
    }

    /// What else might be of interest.
    pub fn debug(&self, text: &str) {
        self.speak(Level::Debug, text);
    }

    fn speak(&self, level: Level, text: &str) {
        if self.level >= level {
            write_lines(self.output_is_taken, "", text);
        }
    }

    pub fn error(&self, text: &str) {
        write_lines(self.errors_to_stderr, "error: ", text);
    }
}

/// Writes a text to standard output as it is.
pub fn print(text: &str) {
    // Whoever doesn't listen misses it.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Writes lines behind the name of the program; empty ones are left out.
pub fn write_lines(to_stderr: bool, mark: &str, text: &str) {
    let lines: String = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            // Columns are kept; all else that a terminal acts on is escaped.
            let cells: Vec<_> = line.split('\t').map(escape).collect();
            format!("blpk: {mark}{}\n", cells.join("\t"))
        })
        .collect();
    // Whoever doesn't listen misses it.
    let _ = if to_stderr {
        std::io::stderr().write_all(lines.as_bytes())
    } else {
        std::io::stdout().write_all(lines.as_bytes())
    };
}
