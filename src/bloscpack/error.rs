//! Why Bloscpack's work fails, in the words its users know.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::json::JsonError;
use crate::blosc1;
use crate::blpk;
use crate::io::named::named;

/// The result of Bloscpack's work.
pub type Result<T> = std::result::Result<T, Error>;

/// Why it failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The container, or reading or writing it.
    Container(blpk::Error),
    /// There is no checksum of this name.
    NoSuchChecksum(String),
    /// There is no codec of this name.
    NoSuchCodec(String),
    /// There is no kind of metadata of this name that can be written.
    NoSuchSerializer(String),
    /// The header has no room for this typesize.
    Typesize(i64),
    /// Blosc has no chunks of items of this size.
    BloscTypesize,
    /// There is no such level.
    Clevel(i64),
    /// There is no such level for metadata.
    MetadataLevel(i64),
    /// There can be no chunks of this size.
    ChunkSize(u64),
    /// The data make more chunks than there can be.
    TooManyChunks(u64),
    /// There can be no room for so many chunks.
    MaxAppChunks(i64),
    /// Compression failed.
    Compression(blosc1::Error),
    /// The metadata are no JSON.
    Json(JsonError),
    /// The metadata don't fit into their section: bytes needed and there.
    MetadataSectionTooSmall {
        /// Bytes of the metadata.
        required: u64,
        /// Bytes that are reserved.
        allocated: u64,
    },
    /// The metadata are larger than any section.
    MetadataTooLarge,
    /// The digest of another checksum is of another length.
    ChecksumLengthMismatch,
    /// There are no metadata.
    NoMetadataFound,
    /// The metadata are what they were.
    NoChangeInMetadata,
    /// Nothing can be appended without offsets.
    NoOffsets,
    /// Nothing can be appended when the sizes are not known.
    UnknownSizes,
    /// There is no room for the offsets of the appended chunks.
    NotEnoughSpace,
    /// A file would be read and written at once.
    SameFile(PathBuf),
    /// Somebody else is appending to the file.
    Busy(PathBuf),
    /// A change of the file was interrupted, and not undone yet.
    Interrupted(PathBuf),
    /// What is kept of an interrupted change can't be used.
    Journal(PathBuf),
    /// There is no array in the container.
    NotANumpyArray,
    /// Arrays of Python's objects are not stored.
    ObjectArray,
    /// This is no type of items.
    Dtype(String),
    /// This is no `.npy` file.
    Npy(&'static str),
    /// The container holds another number of bytes than the array has.
    ArraySize {
        /// Bytes of the array.
        expected: u64,
        /// Bytes in the container.
        actual: u64,
    },
}

impl Error {
    /// The nearest of the library's error codes, for C callers.
    pub fn code(&self) -> crate::Error {
        use crate::Error as Code;
        match self {
            Error::Container(error) => error.code(),
            Error::NoSuchCodec(_) | Error::Compression(blosc1::Error::CodecSupport) => {
                Code::CodecSupport
            }
            Error::Compression(_) => Code::Failure,
            Error::Json(_) | Error::NotANumpyArray | Error::Npy(_) | Error::ArraySize { .. } => {
                Code::Data
            }
            Error::NoMetadataFound => Code::MetalayerNotFound,
            Error::NoOffsets | Error::UnknownSizes | Error::NotEnoughSpace => Code::ChunkAppend,
            Error::Busy(_) => Code::Lock,
            Error::Interrupted(_) | Error::Journal(_) => Code::FileOpen,
            _ => Code::InvalidParam,
        }
    }

    /// Names the operation and the path in an error of the system that names none.
    pub(super) fn at(self, operation: &'static str, path: &Path) -> Error {
        match self {
            Error::Container(blpk::Error::Io(error))
                if !error
                    .get_ref()
                    .is_some_and(|inner| inner.is::<crate::Error>()) =>
            {
                named(error, crate::Error::FileWrite, operation, path).into()
            }
            other => other,
        }
    }

    /// Whether the fault lies in a container that was read.
    pub fn is_corruption(&self) -> bool {
        match self {
            Error::Container(error) => error.is_corruption(),
            Error::ArraySize { .. } | Error::Interrupted(_) | Error::Journal(_) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Container(error) => error.fmt(f),
            Error::NoSuchChecksum(name) => write!(f, "checksum '{name}' does not exist"),
            Error::NoSuchCodec(name) => write!(f, "codec '{name}' does not exist"),
            Error::NoSuchSerializer(name) => write!(f, "serializer '{name}' does not exist"),
            Error::Typesize(size) => write!(
                f,
                "'typesize' must be in the range 0 <= n <= 255, not '{size}'"
            ),
            Error::BloscTypesize => f.write_str("typesize can only be in the 1-255 range."),
            Error::Clevel(_) => f.write_str("clevel can only be in the 0-9 range."),
            Error::MetadataLevel(level) => write!(
                f,
                "'meta_level' must be in the range 0 <= n <= 9, not '{level}'"
            ),
            Error::ChunkSize(size) => write!(
                f,
                "'chunk_size' must be in the range 1 <= n <= {}, not '{size}'",
                blpk::MAX_NBYTES
            ),
            Error::TooManyChunks(nchunks) => write!(
                f,
                "nchunks: '{nchunks}' is greater than the MAX_CHUNKS: '{}'",
                blpk::MAX_CHUNKS
            ),
            Error::MaxAppChunks(number) => write!(
                f,
                "'max_app_chunks' must be in the range 0 <= n <= {}, not '{number}'",
                blpk::MAX_CHUNKS
            ),
            Error::Compression(error) => write!(f, "compression failed: {error}"),
            Error::Json(error) => write!(f, "the metadata are no valid JSON: {error}"),
            Error::MetadataSectionTooSmall {
                required,
                allocated,
            } => write!(
                f,
                "metadata section is too small to contain the metadata required: {required} allocated: {allocated}"
            ),
            Error::MetadataTooLarge => f.write_str("the metadata are too large for a section"),
            Error::ChecksumLengthMismatch => f.write_str("checksums have a size mismatch"),
            Error::NoMetadataFound => {
                f.write_str("unable to seek to metadata if it does not exist")
            }
            Error::NoChangeInMetadata => {
                f.write_str("you requested to update metadata, but this has not changed")
            }
            Error::NoOffsets => {
                f.write_str("Appending to a file without offsets is not yet supported")
            }
            Error::UnknownSizes => {
                f.write_str("Appending to a file of unknown sizes is not possible")
            }
            Error::NotEnoughSpace => f.write_str("not enough space"),
            Error::SameFile(path) => {
                write!(f, "'{}' can't be input and output at once", path.display())
            }
            Error::Busy(path) => {
                write!(
                    f,
                    "'{}' is being changed by another process",
                    path.display()
                )
            }
            Error::Interrupted(path) => write!(
                f,
                "a change of '{}' was interrupted; 'blpk recover' brings back the state before it",
                path.display()
            ),
            Error::Journal(path) => write!(f, "the journal '{}' can't be used", path.display()),
            Error::NotANumpyArray => f.write_str("the file does not contain a NumPy array"),
            Error::ObjectArray => f.write_str("arrays of Python objects can't be stored"),
            Error::Dtype(text) => write!(f, "'{text}' is no data type"),
            Error::Npy(why) => write!(f, "not a .npy file: {why}"),
            Error::ArraySize { expected, actual } => write!(
                f,
                "the array has '{expected}' bytes, but the file holds '{actual}'"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The text is that of the container's error.
            Error::Container(error) => error.source(),
            Error::Compression(error) => Some(error),
            _ => None,
        }
    }
}

impl From<blpk::Error> for Error {
    fn from(error: blpk::Error) -> Error {
        Error::Container(error)
    }
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        Error::Container(error.into())
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Container(error.into())
    }
}

impl From<std::collections::TryReserveError> for Error {
    fn from(error: std::collections::TryReserveError) -> Error {
        Error::Container(error.into())
    }
}

impl From<JsonError> for Error {
    fn from(error: JsonError) -> Error {
        Error::Json(error)
    }
}
