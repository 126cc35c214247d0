//! The codes by which the calls of Blosc 1.x fail.

use std::fmt;

/// The result of a call of Blosc 1.x.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Anything that has no code of its own.
    Failure,
    /// There is no such codec.
    CodecSupport,
    /// The chunk, or the streams in it, are of a version that is not known.
    Version,
    /// A parameter is out of range.
    InvalidParam,
}

impl Error {
    /// The number that C callers get.
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

/// Of the engine's many errors, callers of Blosc 1.x know only one besides failure.
impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        match error.kind() {
            crate::ErrorKind::CodecSupport => Error::CodecSupport,
            _ => Error::Failure,
        }
    }
}
