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
    /// The array has 2⁶⁴ bytes or more; most of them are not stored.
    TooLarge,
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
            | Error::TooLarge
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
            Error::TooLarge => f.write_str("the array has 2⁶⁴ bytes or more"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::Error as Code;
    use std::error::Error as _;

    /// Errors of the data are corruption; those of the call and of the system are not.
    #[test]
    fn errors_have_a_text_a_code_and_a_cause() {
        let chunk = |position| Error::Chunk { number: 3, position, error: Code::Data };
        let dtype = || Error::Dtype { dtype: "<f8".to_owned(), typesize: 4 };
        let field = |name: &str| Error::Field { name: name.to_owned(), why: "no".to_owned() };
        let keys = |count: usize| Error::SeveralArrays(vec!["x".to_owned(); count]);
        let shape = |expected| Error::NotOfShape { nbytes: 5, expected };
        let b2nd = |path: &str| Error::B2nd { path: path.into(), error: Code::Data };
        let arguments = Code::InvalidParam;
        for (error, text, code, is_corruption) in [
            (b2nd(""), Code::Data.to_string(), Code::Data, true),
            (b2nd("f"), format!("f: {}", Code::Data), Code::Data, true),
            (chunk(None), format!("chunk 3: {}", Code::Data), Code::Data, true),
            (chunk(Some(9)), format!("chunk 3 at byte 9: {}", Code::Data), Code::Data, true),
            (Error::NoDimension, "a carray has at least".into(), arguments.clone(), false),
            (Error::Layout, "Blosc2 does not support".into(), arguments.clone(), false),
            (Error::Itemsize, "the item size of the dtype".into(), Code::Data, true),
            (Error::Columns("d".into()), "the frames in 'd' are not".into(), Code::Data, false),
            (dtype(), "the type <f8 does not have items of 4".into(), Code::Data, true),
            (
                Error::Truncated { expected: 9, actual: 4 },
                "the file ends at byte 4, and its data need 9 bytes".into(),
                Code::ReadBuffer,
                true,
            ),
            (Error::Unknown, "the format is unknown".into(), Code::Data, false),
            (Error::NoColumns, "only tables have columns".into(), arguments.clone(), false),
            (Error::Nested("c".into()), "column \"c\" is a table".into(), arguments.clone(), false),
            (
                Error::NotMultipleOfItem { nbytes: 5, itemsize: 4 },
                "5 bytes are not a multiple of items of 4 bytes".into(),
                arguments.clone(),
                false,
            ),
            (shape(Some(8)), "the shape needs 8 bytes".into(), arguments.clone(), false),
            (shape(None), "the shape is too large".into(), arguments.clone(), false),
            (Error::TooLarge, "the array has 2⁶⁴ bytes".into(), arguments.clone(), false),
            (Error::Partition("p"), "p".into(), arguments.clone(), false),
            (field(""), "no".into(), arguments.clone(), false),
            (field("a"), "column \"a\": no".into(), arguments.clone(), false),
            (Error::NoSuchKey("k".into()), "there is no array \"k\"".into(), Code::NotFound, false),
            (
                Error::Name("..".into()),
                "the name \"..\" is not a path".into(),
                arguments.clone(),
                false,
            ),
            (Error::NoKeys, "only .npz files, HDF5".into(), arguments.clone(), false),
            (keys(2), "there are 2 arrays: \"x\", \"x\"".into(), arguments.clone(), false),
            (Error::Unrepairable("u"), "it cannot be repaired: u".into(), arguments.clone(), false),
            (Error::CannotHold("c"), "the target format holds c".into(), arguments.clone(), false),
            (
                Error::Placeholder("p".into()),
                "this is p; its data".into(),
                arguments.clone(),
                false,
            ),
            (
                Error::NoSuchRange { start: 1, len: 2, size: 2 },
                "2 bytes from 1 on are out of range, the size is 2".into(),
                Code::InvalidIndex,
                false,
            ),
            (bcolz::Error::NoSuchColumn("c".into()).into(), String::new(), Code::NotFound, false),
            (store::Error::NoSuchKey("/k".into()).into(), "there is".into(), Code::NotFound, false),
        ] {
            assert!(error.to_string().starts_with(&text), "{error} is not {text}");
            assert_eq!((error.code(), error.is_corruption()), (code, is_corruption), "{error}");
            let has_path = matches!(&error, Error::B2nd { path, .. } if *path == Path::new("f"));
            assert_eq!(error.names_path(), has_path, "{error}");
            assert_eq!(error.source().is_some(), matches!(error, Error::Chunk { .. }), "{error}");
        }
        assert!(keys(MAX_KEYS + 1).to_string().ends_with("\"x\", …"));
        let in_file = Error::from(Code::Data).in_file(Path::new("f"));
        assert!(in_file.names_path() && !Error::NoKeys.in_file(Path::new("f")).names_path());
    }

    #[test]
    fn system_errors_name_the_file_that_failed() {
        let io = std::fs::File::open("/no/such/file").unwrap_err();
        let named = ferroblosc::io::named::named(io, Code::FileOpen, "open", Path::new("f"));
        let error = Error::from(named);
        assert!(error.names_path() && !error.is_corruption(), "{error}");
        assert!(error.to_string().starts_with("cannot open f: "), "{error}");
        let plain = Error::from(std::io::Error::other("why"));
        assert!(!plain.names_path() && plain.to_string().contains("why"));
        let lost = Code::FileRead.during("read").at("g");
        let chunk = Error::Chunk { number: 1, position: None, error: lost };
        assert!(chunk.source().is_some() && !chunk.names_path());
        let storage = store::Error::Storage { path: "s".into(), error: Code::FileRead };
        assert!(Error::from(storage).names_path());
    }
}
