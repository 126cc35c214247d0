//! Errors, and the progress of reading.

use std::fmt;

/// A result.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of reading a file.
#[derive(Debug)]
pub enum Error {
    /// The file cannot be read, or the output not be written.
    Io(std::io::Error),
    /// A line is invalid.
    Line {
        /// The number of the line, from 1 on.
        line: u64,
        /// The reason.
        reason: String,
    },
    /// The file as a whole is invalid, for this reason.
    File(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Line { line, reason } => write!(f, "line {line}: {reason}"),
            Error::File(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}

/// A callback that receives the number of bytes read since the last call.
pub type Progress<'p> = &'p mut dyn FnMut(u64);
