//! The errors of the bcolz format.

use std::fmt;
use std::path::{Path, PathBuf};

use super::mode::Mode;
use crate::numpy;

/// The result of an operation on bcolz directories.
pub type Result<T> = std::result::Result<T, Error>;

/// The error of an operation on bcolz directories.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be accessed.
    Storage {
        /// The file or directory.
        path: PathBuf,
        /// The error.
        error: ferroblosc::Error,
    },
    /// Out of memory.
    Memory,
    /// There is no bcolz object at this path.
    NotFound(PathBuf),
    /// The object is incomplete: its description is empty or its sizes are missing.
    Incomplete(PathBuf),
    /// A file that describes the object is invalid.
    Description {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A chunk is invalid.
    Chunk {
        /// The chunk file.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// A chunk file is missing.
    MissingChunk(PathBuf),
    /// The dtype is not supported.
    Dtype(String),
    /// Fields of this dtype overlap.
    Overlap(String),
    /// Python objects can be counted and extracted as pickles, but not converted.
    Objects,
    /// The mode does not allow changes.
    ReadOnly,
    /// The layout is supported for reading only.
    ReadOnlyLayout(PathBuf),
    /// The path already exists.
    Exists {
        /// The path.
        path: PathBuf,
        /// The creation mode.
        mode: Mode,
    },
    /// The directory to replace is not a bcolz object.
    NotOurs(PathBuf),
    /// Another writer holds the lock.
    Busy(PathBuf),
    /// The range of rows is out of bounds.
    NoSuchRows {
        /// The first row.
        start: u64,
        /// The number of rows.
        count: u64,
        /// The length of the array.
        len: u64,
    },
    /// The row index is out of bounds.
    NoSuchRow(i64),
    /// The number of bytes is not a multiple of the row size.
    RowBytes {
        /// The number of bytes.
        given: usize,
        /// The size of a row in bytes.
        row: u64,
    },
    /// An argument is invalid.
    Argument(&'static str),
    /// The codec is unknown.
    NoSuchCodec(String),
    /// Compression failed.
    Compression(ferroblosc::blosc1::Error),
    /// The column name is invalid.
    ColumnName(String),
    /// The column does not exist.
    NoSuchColumn(String),
    /// The column already exists.
    ColumnExists(String),
    /// The columns have different lengths.
    UnequalColumns(PathBuf),
    /// A column is a symbolic link to a location outside the table's directory.
    Outside(PathBuf),
}

impl Error {
    /// Returns a function that converts an error of the storage at `path`.
    pub(super) fn storage(path: &Path) -> impl FnOnce(ferroblosc::Error) -> Error + '_ {
        move |error| match error.kind() {
            ferroblosc::ErrorKind::MemoryAlloc => Error::Memory,
            _ => Error::Storage { path: path.to_owned(), error },
        }
    }

    /// Returns the library's error code that matches best, for C callers.
    pub fn code(&self) -> ferroblosc::Error {
        use ferroblosc::Error as Code;
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
    /// Whether the error is caused by the system, such as lack of memory, and not by the data.
    pub(super) fn is_system_error(&self) -> bool {
        match self {
            Error::Memory => true,
            Error::Storage { error, .. } => error.is_system_error(),
            _ => false,
        }
    }

    /// Whether the error is caused by damaged data, not by the call or the system.
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
            // The inner error names the file that failed, which may be another one.
            Error::Storage { path, error }
                if error.path().is_some() || path.as_os_str().is_empty() =>
            {
                error.fmt(f)
            }
            Error::Storage { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Memory => f.write_str("out of memory"),
            Error::NotFound(path) => {
                write!(f, "there is no carray or ctable at '{}'", path.display())
            }
            Error::Incomplete(path) => {
                write!(f, "'{}' is incomplete: its creation was interrupted", path.display())
            }
            Error::Description { path, why } => write!(f, "{}: {why}", path.display()),
            Error::Chunk { path, why } => write!(f, "{}: {why}", path.display()),
            Error::MissingChunk(path) => write!(f, "chunkfile '{}' not found", path.display()),
            Error::Dtype(text) => write!(f, "the dtype '{text}' is not understood"),
            Error::Overlap(text) => write!(f, "fields of the dtype {text} overlap"),
            Error::Objects => f.write_str("Python objects can't be converted"),
            Error::ReadOnly => f.write_str("cannot modify data because mode is 'r'"),
            Error::ReadOnlyLayout(path) => write!(f, "'{}' has a read-only layout", path.display()),
            Error::Exists { path, mode } => write!(
                f,
                "specified rootdir path '{}' already exists and creation mode is '{}'",
                path.display(),
                mode.letter()
            ),
            Error::NotOurs(path) => {
                write!(f, "'{}' is not a bcolz object and is not replaced", path.display())
            }
            Error::Busy(path) => write!(f, "'{}' is locked by another writer", path.display()),
            Error::NoSuchRows { start, count, len } => {
                write!(f, "{count} rows from {start} on are out of range, there are {len} rows")
            }
            Error::NoSuchRow(index) => write!(f, "index {index} is out of range"),
            Error::RowBytes { given, row } => {
                write!(f, "{given} bytes are not a multiple of rows of {row} bytes")
            }
            Error::Argument(why) => f.write_str(why),
            Error::NoSuchCodec(name) => write!(f, "there is no codec '{name}'"),
            Error::Compression(error) => write!(f, "compression failed: {error}"),
            Error::ColumnName(name) => write!(f, "{name:?} is not a valid column name"),
            Error::NoSuchColumn(name) => write!(f, "there is no column {name:?}"),
            Error::ColumnExists(name) => write!(f, "there is a column {name:?} already"),
            Error::UnequalColumns(path) => {
                write!(f, "the columns of '{}' have different lengths", path.display())
            }
            Error::Outside(path) => {
                write!(f, "'{}' is outside of its directory", path.display())
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

impl From<numpy::Error> for Error {
    fn from(error: numpy::Error) -> Error {
        match error {
            numpy::Error::Dtype(text) => Error::Dtype(text),
            numpy::Error::Overlap(text) => Error::Overlap(text),
            numpy::Error::Objects => Error::Objects,
            numpy::Error::Npy(why) => Error::Argument(why),
            numpy::Error::Io(error) => Error::Storage {
                path: PathBuf::new(),
                error: ferroblosc::Error::FileRead.os(error),
            },
        }
    }
}

impl From<std::collections::TryReserveError> for Error {
    fn from(_: std::collections::TryReserveError) -> Error {
        Error::Memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::Error as Code;
    use std::error::Error as _;

    /// Errors that need an allocation that fails, or a damaged library, and conversions of errors.
    #[test]
    fn errors_have_a_text_and_a_code() {
        let path = Path::new("p");
        for (error, text, code) in [
            (Error::storage(path)(Code::MemoryAlloc), "out of memory", Code::MemoryAlloc),
            (
                Error::Compression(ferroblosc::blosc1::Error::Failure),
                "compression failed: ",
                Code::Failure,
            ),
            (Error::NotOurs("p".into()), "'p' is not a bcolz object", Code::FileWrite),
            (numpy::Error::Overlap("d".to_owned()).into(), "fields of the dtype d", Code::Data),
            (numpy::Error::Objects.into(), "Python objects", Code::Data),
            (numpy::Error::Npy("why").into(), "why", Code::InvalidParam),
        ] {
            assert!(error.to_string().starts_with(text), "{error} is not {text}");
            assert_eq!(error.code(), code, "{error}");
            assert!(!error.is_corruption(), "{error}");
        }
        let damaged = Error::storage(path)(Code::FileRead);
        assert_eq!(damaged.to_string(), format!("p: {}", Code::FileRead));
        assert!(!damaged.is_system_error() && damaged.source().is_some());
        // EACCES, of a file without a name.
        let denied = Error::from(numpy::Error::Io(std::io::Error::from_raw_os_error(13)));
        assert!(denied.is_system_error() && !denied.to_string().starts_with(':'), "{denied}");
        assert!(Error::Memory.is_system_error() && Error::Memory.source().is_none());
        assert!(Error::Compression(ferroblosc::blosc1::Error::Failure).source().is_some());
        // The path of the inner error is that of the file that failed.
        let inner = Error::storage(path)(Code::FileRead.at("inner"));
        assert!(inner.to_string().starts_with("inner: "), "{inner}");
    }

    #[test]
    fn modes_have_the_letters_of_bcolz() {
        assert_eq!([Mode::Read, Mode::Append, Mode::Write].map(Mode::letter), ['r', 'a', 'w']);
    }
}
