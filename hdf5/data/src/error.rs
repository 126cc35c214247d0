//! Errors.

use std::fmt;

/// A result.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of reading or writing HDF5 data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// libhdf5 was not found. Contains the names that were searched, and the linker's message.
    Missing(String),
    /// libhdf5 cannot be used, for this reason.
    Unsupported(String),
    /// A function of libhdf5 failed.
    Call {
        /// The operation.
        action: String,
        /// The innermost message of the error stack.
        reason: String,
        /// Whether the file was opened, so that damage is the likely reason.
        is_open: bool,
    },
    /// The file has no object at this path.
    NotFound(String),
    /// The path has an object already.
    Exists(String),
    /// The object at this path is a group.
    Group(String),
    /// The type of a dataset or attribute has no form in memory.
    Type {
        /// The path of the dataset.
        path: String,
        /// A description of the type.
        description: String,
    },
    /// The items of a dataset are in another file (external storage), or in other datasets (a
    /// virtual dataset). Hostile data could name any file of the system, so none is opened.
    Elsewhere {
        /// The path of the dataset.
        path: String,
        /// The first file or dataset with items.
        source: String,
    },
    /// The file contains invalid values, for this reason.
    Invalid(String),
}

impl Error {
    /// Whether libhdf5 lacks a filter.
    pub fn needs_filter(&self) -> bool {
        let Error::Call { reason, .. } = self else {
            return false;
        };
        is_missing_filter(reason)
    }

    /// Whether the error is caused by damaged data.
    pub fn is_corruption(&self) -> bool {
        let is_damage = matches!(self, Error::Call { is_open: true, .. } | Error::Invalid(_));
        is_damage && !self.needs_filter()
    }
}

/// Whether a message of HDF5 is that of a missing filter.
pub fn is_missing_filter(text: &str) -> bool {
    text.contains("filter") && text.contains("not registered")
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Missing(searched) => write!(f, "libhdf5 is not found: {searched}"),
            Error::Unsupported(reason) => write!(f, "libhdf5 cannot be used: {reason}"),
            Error::Call { action, reason, .. } if reason.is_empty() => {
                write!(f, "HDF5 cannot {action}")
            }
            Error::Call { action, reason, .. } => write!(f, "HDF5 cannot {action}: {reason}"),
            Error::NotFound(path) => write!(f, "the HDF5 file has no object {path:?}"),
            Error::Exists(path) => write!(f, "the HDF5 file already has an object {path:?}"),
            Error::Group(path) => write!(f, "{path:?} is a group of the HDF5 file"),
            Error::Type { path, description } => {
                write!(f, "the dataset {path:?} has {description}, which has no dtype")
            }
            Error::Elsewhere { path, source } => {
                write!(f, "the items of the dataset {path:?} are in {source:?}, which is not read")
            }
            Error::Invalid(reason) => write!(f, "the HDF5 file is invalid: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
