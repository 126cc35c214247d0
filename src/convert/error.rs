//! Why a conversion fails: what either format says.

use std::fmt;

use crate::{bcolz, bloscpack, blpk};

/// The result of a conversion.
pub type Result<T> = std::result::Result<T, Error>;

/// Why it failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The side of bcolz.
    Bcolz(bcolz::Error),
    /// The side of Bloscpack or of a `.npy` file.
    Bloscpack(bloscpack::Error),
    /// The array has no dimension that could grow.
    NoDimension,
}

impl Error {
    /// The nearest of the library's error codes, for C callers.
    pub fn code(&self) -> crate::Error {
        match self {
            Error::Bcolz(error) => error.code(),
            Error::Bloscpack(error) => error.code(),
            Error::NoDimension => crate::Error::InvalidParam,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Bcolz(error) => error.fmt(f),
            Error::Bloscpack(error) => error.fmt(f),
            Error::NoDimension => f.write_str("a carray has at least one dimension"),
        }
    }
}

impl std::error::Error for Error {}

impl From<bcolz::Error> for Error {
    fn from(error: bcolz::Error) -> Error {
        Error::Bcolz(error)
    }
}

impl From<bloscpack::Error> for Error {
    fn from(error: bloscpack::Error) -> Error {
        Error::Bloscpack(error)
    }
}

impl From<blpk::Error> for Error {
    fn from(error: blpk::Error) -> Error {
        Error::Bloscpack(error.into())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Bloscpack(error.into())
    }
}
