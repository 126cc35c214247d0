//! The errors of conversions.

use std::fmt;
use std::path::{Path, PathBuf};

#[cfg(feature = "hdf5")]
use crate::hdf5;
#[cfg(feature = "zarr")]
use crate::zarr;
use crate::{bcolz, bloscpack, blpk, numpy, store};
use ferroblosc::plugin::Plugin;

/// The result of a conversion.
pub type Result<T> = std::result::Result<T, Error>;

/// The maximum number of keys in a message.
const MAX_KEYS: usize = 10;

/// The error of a conversion.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A bcolz error.
    Bcolz(bcolz::Error),
    /// A Bloscpack or `.npy` error.
    Bloscpack(bloscpack::Error),
    /// A Blosc2 error.
    B2nd {
        /// The file or directory, or an empty path if it is unknown.
        path: PathBuf,
        /// The error.
        error: ferroblosc::Error,
    },
    /// The array has no dimensions.
    NoDimension,
    /// The shape or the partitions are not valid for the target format.
    Layout,
    /// The item size of the dtype differs from the type size of the array.
    Itemsize,
    /// The frames in this directory are not the columns of one table.
    Columns(PathBuf),
    /// A chunk cannot be read.
    Chunk {
        /// The index of the chunk.
        number: i64,
        /// The offset of the chunk in its file, in bytes, if it is known.
        position: Option<u64>,
        /// The error.
        error: ferroblosc::Error,
    },
    /// A chunk cannot be read because its codec or filter is missing.
    NeedsPlugin {
        /// The index of the chunk.
        number: i64,
        /// The offset of the chunk in its file, in bytes, if it is known.
        position: Option<u64>,
        /// The codec or filter.
        plugin: Plugin,
    },
    /// The chunks are placeholders: python-blosc2 computes or fetches the data.
    Placeholder(String),
    /// A file is truncated.
    Truncated {
        /// The required size in bytes.
        expected: u64,
        /// The actual size in bytes.
        actual: u64,
    },
    /// The format is unknown.
    Unknown,
    /// A column was requested from data other than a table.
    NoColumns,
    /// The requested column is a table, or the table contains one.
    Nested(String),
    /// The dtype does not match the type size.
    Dtype {
        /// The dtype.
        dtype: String,
        /// The type size in bytes.
        typesize: i64,
    },
    /// The size of the data is not a multiple of the item size.
    NotMultipleOfItem {
        /// The size of the data in bytes.
        nbytes: u64,
        /// The size of an item in bytes.
        itemsize: u64,
    },
    /// The size of the data is not that of the requested shape.
    NotOfShape {
        /// The size of the data in bytes.
        nbytes: u64,
        /// The size of the shape in bytes, or `None` if it overflows.
        expected: Option<u64>,
    },
    /// The chunk or block shape is invalid, for this reason.
    Partition(&'static str),
    /// A store, or a zip file, cannot be read.
    Store(store::Error),
    /// An Arrow or Parquet file cannot be read or written.
    #[cfg(feature = "arrow")]
    Arrow {
        /// The reason.
        why: String,
        /// Whether the file is damaged.
        is_damaged: bool,
    },
    /// Zarr data cannot be read or written.
    #[cfg(feature = "zarr")]
    Zarr(zarr::Error),
    /// HDF5 data cannot be read or written.
    #[cfg(feature = "hdf5")]
    Hdf5(hdf5::Error),
    /// A field of records and a column of a table cannot be converted to each other.
    Field {
        /// The name of the field or column; it is empty for all of them.
        name: String,
        /// The reason.
        why: String,
    },
    /// The container has no array of this key.
    NoSuchKey(String),
    /// The name of an array to write has empty parts or dots.
    Name(String),
    /// The data are not a container of several arrays.
    NoKeys,
    /// Several arrays of a container match. Contains their keys.
    SeveralArrays(Vec<String>),
    /// The data cannot be repaired, for this reason.
    Unrepairable(&'static str),
    /// The target format cannot hold the data. Contains a description of the data it can hold.
    CannotHold(&'static str),
    /// The range is out of bounds.
    NoSuchRange {
        /// The start of the range, in bytes.
        start: u64,
        /// The length of the range in bytes.
        len: u64,
        /// The size of the data in bytes.
        size: u64,
    },
}

impl Error {
    /// Sets the path of a Blosc2 error.
    pub(super) fn in_file(self, path: &Path) -> Error {
        match self {
            Error::B2nd { error, .. } => Error::B2nd { path: path.to_owned(), error },
            other => other,
        }
    }

    /// Returns the library's error code that matches best, for C callers.
    pub fn code(&self) -> ferroblosc::Error {
        match self {
            Error::Bcolz(error) => error.code(),
            Error::Bloscpack(error) => error.code(),
            Error::B2nd { error, .. } => error.clone(),
            Error::Store(error) => error.code(),
            #[cfg(feature = "arrow")]
            Error::Arrow { .. } => ferroblosc::Error::Data,
            #[cfg(feature = "zarr")]
            Error::Zarr(error) => error.code(),
            #[cfg(feature = "hdf5")]
            Error::Hdf5(error) if error.needs_filter() => ferroblosc::Error::CodecSupport,
            #[cfg(feature = "hdf5")]
            Error::Hdf5(error) => match error {
                hdf5::Error::NotFound(_) => ferroblosc::Error::NotFound,
                hdf5::Error::Invalid(_) => ferroblosc::Error::Data,
                hdf5::Error::Call { is_open: true, .. } => ferroblosc::Error::Data,
                _ => ferroblosc::Error::InvalidParam,
            },
            Error::NoSuchKey(_) => ferroblosc::Error::NotFound,
            Error::Name(_)
            | Error::Field { .. }
            | Error::NoDimension
            | Error::Layout
            | Error::NoColumns
            | Error::Nested(_)
            | Error::NotMultipleOfItem { .. }
            | Error::NotOfShape { .. }
            | Error::Partition(_)
            | Error::SeveralArrays(_)
            | Error::NoKeys
            | Error::Unrepairable(_)
            | Error::CannotHold(_)
            | Error::Placeholder(_) => ferroblosc::Error::InvalidParam,
            Error::NeedsPlugin { .. } => ferroblosc::Error::CodecSupport,
            Error::Chunk { error, .. } => error.clone(),
            Error::Truncated { .. } => ferroblosc::Error::ReadBuffer,
            Error::Itemsize | Error::Columns(_) | Error::Unknown | Error::Dtype { .. } => {
                ferroblosc::Error::Data
            }
            Error::NoSuchRange { .. } => ferroblosc::Error::InvalidIndex,
        }
    }

    /// Whether the message contains the path of the file that failed.
    pub fn names_path(&self) -> bool {
        let error: Option<&ferroblosc::Error> = match self {
            Error::B2nd { path, error } => {
                if !path.as_os_str().is_empty() {
                    return true;
                }
                Some(error)
            }
            Error::Bcolz(bcolz::Error::Storage { .. })
            | Error::Store(store::Error::Storage { .. } | store::Error::Zip { .. }) => return true,
            Error::Bloscpack(bloscpack::Error::Container(blpk::Error::Io(error))) => {
                error.get_ref().and_then(|inner| inner.downcast_ref())
            }
            _ => None,
        };
        error.is_some_and(|error| error.path().is_some())
    }

    /// Whether the error is caused by damaged data, not by the call or the system.
    pub fn is_corruption(&self) -> bool {
        match self {
            Error::Bcolz(error) => error.is_corruption(),
            Error::Store(error) => error.is_corruption(),
            #[cfg(feature = "arrow")]
            Error::Arrow { is_damaged, .. } => *is_damaged,
            #[cfg(feature = "zarr")]
            Error::Zarr(error) => error.is_corruption(),
            #[cfg(feature = "hdf5")]
            Error::Hdf5(error) => error.is_corruption(),
            Error::Bloscpack(bloscpack::Error::Npy(_)) => true,
            Error::Bloscpack(error) => error.is_corruption(),
            Error::B2nd { error, .. } | Error::Chunk { error, .. } => error.is_corruption(),
            Error::Truncated { .. } | Error::Dtype { .. } | Error::Itemsize => true,
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Bcolz(error) => error.fmt(f),
            Error::Bloscpack(error) => error.fmt(f),
            Error::Store(error) => error.fmt(f),
            #[cfg(feature = "arrow")]
            Error::Arrow { why, .. } => f.write_str(why),
            #[cfg(feature = "zarr")]
            Error::Zarr(error) => error.fmt(f),
            #[cfg(feature = "hdf5")]
            Error::Hdf5(error) => error.fmt(f),
            Error::B2nd { path, error }
                if path.as_os_str().is_empty() || error.path().is_some() =>
            {
                error.fmt(f)
            }
            Error::B2nd { path, error } => write!(f, "{}: {error}", path.display()),
            Error::NoDimension => f.write_str("a carray has at least one dimension"),
            Error::Layout => {
                f.write_str("Blosc2 does not support arrays of this shape or these chunks")
            }
            Error::Itemsize => {
                f.write_str("the item size of the dtype differs from the type size of the array")
            }
            Error::Columns(path) => {
                write!(f, "the frames in '{}' are not the columns of a table", path.display())
            }
            Error::Chunk { number, position, error } => {
                write!(f, "chunk {number}")?;
                if let Some(position) = position {
                    write!(f, " at byte {position}")?;
                }
                // The message of a system error names the file, which may be one of several.
                if error.errno().is_some() {
                    write!(f, ": {error}")
                } else {
                    write!(f, ": {}", error.reason())
                }
            }
            Error::NeedsPlugin { number, position, plugin } => match position {
                Some(position) => {
                    write!(f, "chunk {number} at byte {position}: it needs {plugin}")
                }
                None => write!(f, "chunk {number}: it needs {plugin}"),
            },
            Error::Placeholder(description) => write!(
                f,
                "this is {description}; its data are not in the file, only python-blosc2 can compute or fetch them"
            ),
            Error::Truncated { expected, actual } => {
                write!(f, "the file ends at byte {actual}, and its data need {expected} bytes")
            }
            Error::Unknown => f.write_str("the format is unknown"),
            Error::NoColumns => f.write_str("only tables have columns"),
            Error::Nested(name) => write!(f, "column {name:?} is a table itself"),
            Error::Dtype { dtype, typesize } => {
                write!(f, "the type {dtype} does not have items of {typesize} bytes")
            }
            Error::NotMultipleOfItem { nbytes, itemsize } => {
                write!(f, "{nbytes} bytes are not a multiple of items of {itemsize} bytes")
            }
            Error::NotOfShape { nbytes, expected: Some(expected) } => {
                write!(f, "the shape needs {expected} bytes, and the data have {nbytes}")
            }
            Error::NotOfShape { expected: None, .. } => f.write_str("the shape is too large"),
            Error::Partition(why) => f.write_str(why),
            Error::Field { name, why } if name.is_empty() => f.write_str(why),
            Error::Field { name, why } => write!(f, "column {name:?}: {why}"),
            Error::NoSuchKey(key) => write!(f, "there is no array {key:?}"),
            Error::Name(name) => write!(f, "the name {name:?} is not a path in the output"),
            Error::NoKeys => {
                f.write_str("only .npz files, HDF5 files and Zarr groups contain several arrays")
            }
            Error::SeveralArrays(keys) => {
                let shown: Vec<String> =
                    keys.iter().take(MAX_KEYS).map(|key| format!("{key:?}")).collect();
                let more = if keys.len() > MAX_KEYS { ", …" } else { "" };
                write!(f, "there are {} arrays: {}{more}", keys.len(), shown.join(", "))
            }
            Error::Unrepairable(why) => write!(f, "it cannot be repaired: {why}"),
            Error::CannotHold(content) => write!(f, "the target format holds {content}"),
            Error::NoSuchRange { start, len, size } => {
                write!(f, "{len} bytes from {start} on are out of range, the size is {size}")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message is that of the inner error.
            Error::Bcolz(error) => error.source(),
            Error::Bloscpack(error) => error.source(),
            Error::Store(error) => error.source(),
            #[cfg(feature = "zarr")]
            Error::Zarr(error) => error.source(),
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

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Error {
        Error::Store(error)
    }
}

#[cfg(feature = "zarr")]
impl From<zarr::Error> for Error {
    fn from(error: zarr::Error) -> Error {
        match error {
            zarr::Error::Storage(error) => Error::Store(error),
            other => Error::Zarr(other),
        }
    }
}

#[cfg(feature = "hdf5")]
impl From<hdf5::Error> for Error {
    fn from(error: hdf5::Error) -> Error {
        Error::Hdf5(error)
    }
}

impl From<bloscpack::Error> for Error {
    fn from(error: bloscpack::Error) -> Error {
        Error::Bloscpack(error)
    }
}

impl From<numpy::Error> for Error {
    fn from(error: numpy::Error) -> Error {
        Error::Bloscpack(error.into())
    }
}

impl From<blpk::Error> for Error {
    fn from(error: blpk::Error) -> Error {
        Error::Bloscpack(error.into())
    }
}

impl From<ferroblosc::Error> for Error {
    fn from(error: ferroblosc::Error) -> Error {
        Error::B2nd { path: PathBuf::new(), error }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Bloscpack(error.into())
    }
}
