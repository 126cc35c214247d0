//! Why a conversion fails: what either format says.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::plugin::Plugin;
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
    /// A chunk can't be read.
    Chunk {
        /// Which.
        number: i64,
        /// The byte of the file where it begins, if it is known.
        position: Option<u64>,
        /// Why.
        error: crate::Error,
    },
    /// A chunk can't be read, because its codec or filter is missing.
    NeedsPlugin {
        /// The number of the chunk.
        number: i64,
        /// The offset of the chunk in its file, if it is known.
        position: Option<u64>,
        /// The codec or filter.
        plugin: Plugin,
    },
    /// The chunks are not the data, which are computed or fetched by python-blosc2.
    Recipe(String),
    /// A file ends before its data do.
    CutOff {
        /// Bytes there should be.
        expected: u64,
        /// Bytes there are.
        actual: u64,
    },
    /// This is nothing that is known here.
    Unknown,
    /// A column is asked of something that has none.
    NoColumns,
    /// What is wanted as an array, a column or the whole, has a table in it.
    Nested(String),
    /// The type of an array is not one of its items' size.
    Dtype {
        /// The type.
        dtype: String,
        /// Bytes of an item.
        typesize: i64,
    },
    /// The bytes are no whole number of items.
    Uneven {
        /// Bytes there are.
        nbytes: u64,
        /// Bytes of an item.
        itemsize: u64,
    },
    /// Too little is left of it to be mended.
    Beyond(&'static str),
    /// The format that is written can only hold this.
    CannotHold(&'static str),
    /// The range is not inside the data.
    NoSuchRange {
        /// Where it begins.
        start: u64,
        /// Its bytes.
        len: u64,
        /// The bytes there are.
        size: u64,
    },
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
            Error::B2nd { error, .. } => error.clone(),
            Error::NoDimension
            | Error::Layout
            | Error::NoColumns
            | Error::Nested(_)
            | Error::Uneven { .. }
            | Error::Beyond(_)
            | Error::CannotHold(_)
            | Error::Recipe(_) => crate::Error::InvalidParam,
            Error::NeedsPlugin { .. } => crate::Error::CodecSupport,
            Error::Chunk { error, .. } => error.clone(),
            Error::CutOff { .. } => crate::Error::ReadBuffer,
            Error::Itemsize | Error::Columns(_) | Error::Unknown | Error::Dtype { .. } => {
                crate::Error::Data
            }
            Error::NoSuchRange { .. } => crate::Error::InvalidIndex,
        }
    }

    /// Whether the text of the error names the file that failed.
    pub fn names_path(&self) -> bool {
        let error: Option<&crate::Error> = match self {
            Error::B2nd { path, error } => {
                if !path.as_os_str().is_empty() {
                    return true;
                }
                Some(error)
            }
            Error::Bcolz(bcolz::Error::Storage { .. }) => return true,
            Error::Bloscpack(bloscpack::Error::Container(blpk::Error::Io(error))) => {
                error.get_ref().and_then(|inner| inner.downcast_ref())
            }
            _ => None,
        };
        error.is_some_and(|error| error.path().is_some())
    }

    /// Whether the fault lies in what was read, not in the call or the machine.
    pub fn is_corruption(&self) -> bool {
        match self {
            Error::Bcolz(error) => error.is_corruption(),
            Error::Bloscpack(bloscpack::Error::Npy(_)) => true,
            Error::Bloscpack(error) => error.is_corruption(),
            Error::B2nd { error, .. } | Error::Chunk { error, .. } => error.is_corruption(),
            Error::CutOff { .. } | Error::Dtype { .. } | Error::Itemsize => true,
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Bcolz(error) => error.fmt(f),
            Error::Bloscpack(error) => error.fmt(f),
            Error::B2nd { path, error }
                if path.as_os_str().is_empty() || error.path().is_some() =>
            {
                error.fmt(f)
            }
            Error::B2nd { path, error } => write!(f, "{}: {error}", path.display()),
            Error::NoDimension => f.write_str("a carray has at least one dimension"),
            Error::Layout => f.write_str("Blosc2 has no arrays of such shapes or chunks"),
            Error::Itemsize => f.write_str("the dtype says another size than the items have"),
            Error::Columns(path) => write!(
                f,
                "the frames in '{}' are not the columns of a table",
                path.display()
            ),
            Error::Chunk {
                number,
                position,
                error,
            } => {
                write!(f, "chunk {number}")?;
                if let Some(position) = position {
                    write!(f, " at byte {position}")?;
                }
                // An error of the system names its file, which may be one of several.
                if error.errno().is_some() {
                    write!(f, ": {error}")
                } else {
                    write!(f, ": {}", error.reason())
                }
            }
            Error::NeedsPlugin {
                number,
                position,
                plugin,
            } => match position {
                Some(position) => {
                    write!(f, "chunk {number} at byte {position}: it needs {plugin}")
                }
                None => write!(f, "chunk {number}: it needs {plugin}"),
            },
            Error::Recipe(what) => write!(
                f,
                "this is {what}: its chunks are not its data, which only python-blosc2 computes or fetches"
            ),
            Error::CutOff { expected, actual } => write!(
                f,
                "the file ends at byte {actual}, and its data need {expected} bytes"
            ),
            Error::Unknown => f.write_str("this is none of the formats that are known"),
            Error::NoColumns => f.write_str("only tables have columns"),
            Error::Nested(name) => write!(f, "column {name:?} is a table itself"),
            Error::Dtype { dtype, typesize } => {
                write!(f, "the type {dtype} is none of items of {typesize} bytes")
            }
            Error::Uneven { nbytes, itemsize } => {
                write!(f, "{nbytes} bytes are no items of {itemsize} bytes")
            }
            Error::Beyond(why) => write!(f, "it can't be mended: {why}"),
            Error::CannotHold(what) => write!(f, "the format that is written holds {what}"),
            Error::NoSuchRange { start, len, size } => {
                write!(
                    f,
                    "there are no {len} bytes from {start} on, only {size} in all"
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The text is that of the inner error.
            Error::Bcolz(error) => error.source(),
            Error::Bloscpack(error) => error.source(),
            Error::B2nd { error, .. } => error.source(),
            Error::Chunk { error, .. } => Some(error),
            _ => None,
        }
    }
}

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
