//! The errors of Zarr.

use std::fmt;
use std::path::PathBuf;

use crate::store;

/// The result of an operation on Zarr data.
pub type Result<T> = std::result::Result<T, Error>;

/// The error of an operation on Zarr data.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file, or a zip file, cannot be accessed.
    Storage(store::Error),
    /// There is no array or group of this name.
    NotFound(String),
    /// The name is that of a group, not of an array.
    Group(String),
    /// The path of an array to write has empty parts or dots, or is not that of a file on Windows.
    Name(String),
    /// The metadata are invalid.
    Metadata {
        /// The key of the metadata.
        key: String,
        /// The reason.
        why: String,
    },
    /// The metadata are valid, but this library does not support them.
    Unsupported {
        /// The key of the metadata.
        key: String,
        /// The unsupported part.
        what: String,
    },
    /// A chunk is damaged.
    Chunk {
        /// The key of the chunk.
        key: String,
        /// The reason.
        why: String,
    },
    /// The target of a link is outside of the directory, or does not exist.
    Link(PathBuf),
    /// There is too much data.
    Limit(String),
    /// The dtype cannot be written in version 3 of the format.
    Dtype(String),
    /// The allocation of memory failed.
    Memory,
}

impl Error {
    /// Whether the error is caused by damaged data, not by the call or the system.
    pub fn is_corruption(&self) -> bool {
        match self {
            Error::Storage(error) => error.is_corruption(),
            Error::Metadata { .. } | Error::Chunk { .. } | Error::Link(_) => true,
            _ => false,
        }
    }

    /// Returns the library's error code that matches best.
    pub fn code(&self) -> ferroblosc::Error {
        match self {
            Error::Storage(error) => error.code(),
            Error::NotFound(_) => ferroblosc::Error::NotFound,
            Error::Name(_) | Error::Group(_) | Error::Unsupported { .. } | Error::Dtype(_) => {
                ferroblosc::Error::InvalidParam
            }
            Error::Metadata { .. } | Error::Chunk { .. } | Error::Link(_) => {
                ferroblosc::Error::Data
            }
            Error::Limit(_) | Error::Memory => ferroblosc::Error::MemoryAlloc,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Storage(error) => error.fmt(f),
            Error::NotFound(name) => write!(f, "there is no array or group {name:?}"),
            Error::Group(name) => write!(f, "{name:?} is a group, not an array"),
            Error::Name(name) => write!(f, "the name {name:?} is not a path in the output"),
            Error::Metadata { key, why } => write!(f, "{key}: {why}"),
            Error::Unsupported { key, what } => write!(f, "{key}: {what} is not supported"),
            Error::Chunk { key, why } => write!(f, "chunk {key}: {why}"),
            Error::Link(path) => {
                let shown = path.display();
                write!(
                    f,
                    "the target of the link '{shown}' is outside of the directory, or missing"
                )
            }
            Error::Limit(what) => f.write_str(what),
            Error::Dtype(dtype) => {
                write!(f, "version 3 of Zarr does not support the dtype {dtype}, version 2 does")
            }
            Error::Memory => f.write_str("out of memory"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message is that of the inner error.
            Error::Storage(error) => error.source(),
            _ => None,
        }
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Error {
        Error::Storage(error)
    }
}

impl From<std::collections::TryReserveError> for Error {
    fn from(_: std::collections::TryReserveError) -> Error {
        Error::Memory
    }
}
