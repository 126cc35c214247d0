//! Messages on standard output and standard error.

use ferroblosc::Error;
use ferroblosc::escape::escape;
use ferroblosc::io::named::named;
use ferroblosc_tools_common::status::ERROR;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The verbosity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Only errors.
    Quiet,
    /// The results of the subcommand.
    Normal,
    /// The steps of the subcommand, too.
    Verbose,
    /// Debugging output, too.
    Debug,
}

/// Prints messages up to a level.
pub struct Logger {
    level: Level,
    /// Whether standard output carries data, so that messages go to standard error.
    is_stdout_used: bool,
    errors_to_stderr: bool,
}

/// The environment variable that sends errors to standard error.
const STDERR_VARIABLE: &str = "BLPK_STDERR";

impl Logger {
    /// Returns a logger for messages up to `level`. If `is_stdout_used`, standard output carries
    /// data. Errors then go to standard error, and also with `errors_to_stderr` or if the
    /// environment variable is set.
    pub fn new(level: Level, errors_to_stderr: bool, is_stdout_used: bool) -> Logger {
        let by_variable = std::env::var_os(STDERR_VARIABLE);
        let by_variable = by_variable.is_some_and(|value| !value.is_empty() && value != "0");
        Logger {
            level,
            is_stdout_used,
            errors_to_stderr: is_stdout_used || errors_to_stderr || by_variable,
        }
    }

    pub fn level(&self) -> Level {
        self.level
    }

    /// Prints a result.
    pub fn info(&self, text: &str) {
        self.log(Level::Normal, text);
    }

    /// Prints a step of the subcommand.
    pub fn verbose(&self, text: &str) {
        self.log(Level::Verbose, text);
    }

    /// Prints debugging output.
    pub fn debug(&self, text: &str) {
        self.log(Level::Debug, text);
    }

    fn log(&self, level: Level, text: &str) {
        if self.level >= level {
            write_lines(self.is_stdout_used, "", text);
        }
    }

    /// Prints an error, at any level.
    pub fn error(&self, text: &str) {
        write_lines(self.errors_to_stderr, "error: ", text);
    }
}

/// Whether the reader of standard output has closed the pipe.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether a write to standard output failed because its reader has closed the pipe.
pub fn is_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

/// Standard output, named in its errors.
pub struct StandardOutput;

impl StandardOutput {
    fn named(error: std::io::Error) -> std::io::Error {
        if error.kind() == ErrorKind::BrokenPipe {
            // Relaxed: the main thread reads it after the subcommand.
            IS_CLOSED.store(true, Ordering::Relaxed);
        }
        named(error, Error::FileWrite, "write to", Path::new("standard output"))
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::stdout().write(bytes).map_err(StandardOutput::named)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush().map_err(StandardOutput::named)
    }
}

/// Writes a text to standard output without a prefix.
pub fn print(text: &(impl AsRef<[u8]> + ?Sized)) {
    keep_error(StandardOutput.write_all(text.as_ref()));
}

/// The first error of writing messages to standard output.
static UNWRITTEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// Keeps an error of standard output for [`finish`]. A closed pipe is not an error.
fn keep_error(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Writes the buffered bytes of standard output. Returns the exit status: that of the subcommand,
/// or that of an error if the subcommand succeeded and its messages could not be written.
pub fn finish(code: ExitCode) -> ExitCode {
    let succeeded = code == ExitCode::SUCCESS;
    if succeeded {
        keep_error(StandardOutput.flush());
    }
    let unwritten = UNWRITTEN.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(error) = unwritten else {
        return code;
    };
    write_lines(true, "error: ", &error.to_string());
    if succeeded { ExitCode::from(ERROR) } else { code }
}

/// Writes non-empty lines, each with the program's name and `mark` as prefix.
pub fn write_lines(to_stderr: bool, mark: &str, text: &str) {
    let lines: String = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            // All control characters but tabs are escaped.
            let cells: Vec<_> = line.split('\t').map(escape).collect();
            format!("blpk: {mark}{}\n", cells.join("\t"))
        })
        .collect();
    if to_stderr {
        // A failed write to standard error cannot be reported.
        let _ = std::io::stderr().write_all(lines.as_bytes());
    } else {
        keep_error(StandardOutput.write_all(lines.as_bytes()));
    }
}
