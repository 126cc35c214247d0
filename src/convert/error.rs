//! Why a conversion fails: what either format says.

use std::fmt;
use std::path::{Path, PathBuf};

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
    /// The side of Blosc2.
    B2nd {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        error: crate::Error,
    },
    /// The array has no dimension that could grow.
    NoDimension,
    /// Blosc2 has no array of such a shape, or no such chunks.
    Layout,
    /// The dtype of an array of Blosc2 has other bytes than its items.
    Itemsize,
    /// Frames that should be the columns of a table are not.
    Columns(PathBuf),
}

impl Error {
    /// The same error, which tells of the file if it is one of Blosc2.
    pub(super) fn in_file(self, path: &Path) -> Error {
        match self {
            Error::B2nd { error, .. } => Error::B2nd {
                path: path.to_owned(),
                error,
            },
            other => other,
        }
    }

    /// The nearest of the library's error codes, for C callers.
    pub fn code(&self) -> crate::Error {
        match self {
            Error::Bcolz(error) => error.code(),
            Error::Bloscpack(error) => error.code(),
            Error::B2nd { error, .. } => *error,
            Error::NoDimension | Error::Layout => crate::Error::InvalidParam,
            Error::Itemsize | Error::Columns(_) => crate::Error::Data,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Bcolz(error) => error.fmt(f),
            Error::Bloscpack(error) => error.fmt(f),
            Error::B2nd { path, error } => write!(f, "{}: {error}", path.display()),
            Error::NoDimension => f.write_str("a carray has at least one dimension"),
            Error::Layout => f.write_str("Blosc2 has no arrays of such shapes or chunks"),
            Error::Itemsize => f.write_str("the dtype says another size than the items have"),
            Error::Columns(path) => write!(
                f,
                "the frames in '{}' are not the columns of a table",
                path.display()
            ),
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

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        Error::B2nd {
            path: PathBuf::new(),
            error,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Bloscpack(error.into())
    }
}
