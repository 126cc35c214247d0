//! Why the work with bcolz's directories fails.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Mode;

/// The result of the work with bcolz's directories.
pub type Result<T> = std::result::Result<T, Error>;

/// Why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A file or a directory could not be used.
    Storage {
        /// Which.
        path: PathBuf,
        /// How.
        error: crate::Error,
    },
    /// There is no memory for what is needed.
    Memory,
    /// There is nothing of bcolz's here.
    NotFound(PathBuf),
    /// The object was never finished: its description is empty or there are no sizes.
    Incomplete(PathBuf),
    /// A file that describes the object can't be understood.
    Description {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A chunk can't be right.
    Chunk {
        /// Its file.
        path: PathBuf,
        /// Why.
        why: &'static str,
    },
    /// The file of a chunk is not there.
    MissingChunk(PathBuf),
    /// The description of a type of items is not understood.
    Dtype(String),
    /// Python's objects are counted and handed out as they are, but not converted.
    Objects,
    /// The mode doesn't allow the change.
    ReadOnly,
    /// The layout is one that is read and never written.
    ReadOnlyLayout(PathBuf),
    /// There is something already where something would be made.
    Exists {
        /// Where.
        path: PathBuf,
        /// How it would have been made.
        mode: Mode,
    },
    /// What would be replaced is nothing of bcolz's.
    NotOurs(PathBuf),
    /// Somebody else is writing.
    Busy(PathBuf),
    /// There are no such rows.
    NoSuchRows {
        /// The first one.
        start: u64,
        /// How many.
        count: u64,
        /// The rows there are.
        len: u64,
    },
    /// There is no row with this index.
    NoSuchRow(i64),
    /// There are other bytes than whole rows.
    RowBytes {
        /// The bytes given.
        given: usize,
        /// Bytes of a row.
        row: u64,
    },
    /// An argument can't be.
    Argument(&'static str),
    /// There is no codec of this name.
    NoSuchCodec(String),
    /// Compression failed.
    Compression(crate::blosc1::Error),
    /// No column can have this name.
    ColumnName(String),
    /// There is no such column.
    NoSuchColumn(String),
    /// There is such a column already.
    ColumnExists(String),
    /// The columns have different lengths.
    UnequalColumns(PathBuf),
    /// A link leads out of the directory it is in.
    Outside(PathBuf),
}

impl Error {
    /// A failure of the storage at `path`.
    pub(super) fn storage(path: &Path) -> impl FnOnce(crate::Error) -> Error + '_ {
        move |error| match error.kind() {
            crate::ErrorKind::MemoryAlloc => Error::Memory,
            _ => Error::Storage {
                path: path.to_owned(),
                error,
            },
        }
    }

    /// The nearest of the library's error codes, for C callers.
    pub fn code(&self) -> crate::Error {
        use crate::Error as Code;
        match self {
            Error::Storage { error, .. } => error.clone(),
            Error::Memory => Code::MemoryAlloc,
            Error::NotFound(_) | Error::MissingChunk(_) | Error::NoSuchColumn(_) => Code::NotFound,
            Error::ReadOnly | Error::ReadOnlyLayout(_) | Error::NotOurs(_) => Code::FileWrite,
            Error::Exists { .. } | Error::Outside(_) => Code::FileOpen,
            Error::Busy(_) => Code::Lock,
            Error::NoSuchRows { .. } | Error::NoSuchRow(_) => Code::InvalidIndex,
            Error::RowBytes { .. }
            | Error::Argument(_)
            | Error::ColumnName(_)
            | Error::ColumnExists(_) => Code::InvalidParam,
            Error::NoSuchCodec(_) => Code::CodecSupport,
            Error::Compression(_) => Code::Failure,
            _ => Code::Data,
        }
    }
}

impl Error {
    /// Whether the machine failed, which says nothing about what was read: memory or the system.
    pub(super) fn is_of_machine(&self) -> bool {
        match self {
            Error::Memory => true,
            Error::Storage { error, .. } => error.is_of_system(),
            _ => false,
        }
    }

    /// Whether the fault lies in what was read, not in the call or the machine.
    pub fn is_corruption(&self) -> bool {
        matches!(
            self,
            Error::Incomplete(_)
                | Error::Description { .. }
                | Error::Chunk { .. }
                | Error::MissingChunk(_)
                | Error::UnequalColumns(_)
                | Error::Outside(_)
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The core names the file that failed, which may be one beside this one.
            Error::Storage { error, .. } if error.path().is_some() => error.fmt(f),
            Error::Storage { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Memory => f.write_str("out of memory"),
            Error::NotFound(path) => {
                write!(
                    f,
                    "there is no carray and no ctable at '{}'",
                    path.display()
                )
            }
            Error::Incomplete(path) => write!(f, "'{}' was never finished", path.display()),
            Error::Description { path, why } => write!(f, "{}: {why}", path.display()),
            Error::Chunk { path, why } => write!(f, "{}: {why}", path.display()),
            Error::MissingChunk(path) => write!(f, "chunkfile '{}' not found", path.display()),
            Error::Dtype(text) => write!(f, "the dtype '{text}' is not understood"),
            Error::Objects => f.write_str("Python's objects are not converted"),
            Error::ReadOnly => f.write_str("cannot modify data because mode is 'r'"),
            Error::ReadOnlyLayout(path) => write!(
                f,
                "'{}' has a layout that is only read, never written",
                path.display()
            ),
            Error::Exists { path, mode } => write!(
                f,
                "specified rootdir path '{}' already exists and creation mode is '{}'",
                path.display(),
                mode.letter()
            ),
            Error::NotOurs(path) => write!(
                f,
                "'{}' holds something that is not bcolz's, and is not replaced",
                path.display()
            ),
            Error::Busy(path) => write!(f, "somebody else is writing to '{}'", path.display()),
            Error::NoSuchRows { start, count, len } => {
                write!(
                    f,
                    "there are no {count} rows from {start} on, only {len} in all"
                )
            }
            Error::NoSuchRow(index) => write!(f, "index {index} is out of range"),
            Error::RowBytes { given, row } => {
                write!(f, "{given} bytes are not whole rows of {row} bytes")
            }
            Error::Argument(why) => f.write_str(why),
            Error::NoSuchCodec(name) => write!(f, "there is no codec '{name}'"),
            Error::Compression(error) => error.fmt(f),
            Error::ColumnName(name) => write!(f, "no column can be called {name:?}"),
            Error::NoSuchColumn(name) => write!(f, "there is no column {name:?}"),
            Error::ColumnExists(name) => write!(f, "there is a column {name:?} already"),
            Error::UnequalColumns(path) => {
                write!(
                    f,
                    "the columns of '{}' have different lengths",
                    path.display()
                )
            }
            Error::Outside(path) => {
                write!(
                    f,
                    "'{}' leads out of the directory it is in",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Storage { error, .. } => Some(error),
            Error::Compression(error) => Some(error),
            _ => None,
        }
    }
}

impl From<std::collections::TryReserveError> for Error {
    fn from(_: std::collections::TryReserveError) -> Error {
        Error::Memory
    }
}
