//! The error codes of Blosc 1.x.

use std::fmt;

/// The result of a call of Blosc 1.x.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Any other failure.
    Failure,
    /// The codec is unknown.
    CodecSupport,
    /// The version of the chunk or of its streams is unknown.
    Version,
    /// A parameter is out of range.
    InvalidParam,
}

impl Error {
    /// Returns the number returned to C callers.
    pub const fn code(self) -> i32 {
        match self {
            Error::Failure => -1,
            Error::CodecSupport => -5,
            Error::Version => -9,
            Error::InvalidParam => -10,
        }
    }
}

impl Error {
    /// Returns the text of the error.
    pub const fn text(self) -> &'static str {
        match self {
            Error::Failure => "failure",
            Error::CodecSupport => "codec not supported",
            Error::Version => "version not supported",
            Error::InvalidParam => "parameter out of range",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Error {}

/// Blosc 1.x distinguishes only one of the engine's errors from failure.
impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        match error.kind() {
            crate::ErrorKind::CodecSupport => Error::CodecSupport,
            _ => Error::Failure,
        }
    }
}
