//! The errors of Bloscpack, with the messages of the original program.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::json::JsonError;
use crate::{blpk, numpy};
use ferroblosc::blosc1;
use ferroblosc::io::named::named;

/// The result of a Bloscpack operation.
pub type Result<T> = std::result::Result<T, Error>;

/// The error of a Bloscpack operation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An error of the container, or of reading or writing it.
    Container(blpk::Error),
    /// The checksum is unknown.
    NoSuchChecksum(String),
    /// The codec is unknown.
    NoSuchCodec(String),
    /// The metadata format is not supported for writing.
    NoSuchSerializer(String),
    /// The type size does not fit in the header.
    Typesize(i64),
    /// Blosc does not support the type size.
    BloscTypesize,
    /// The level is out of range.
    Clevel(i64),
    /// The metadata level is out of range.
    MetadataLevel(i64),
    /// The chunk size is out of range.
    ChunkSize(u64),
    /// The number of chunks exceeds the maximum.
    TooManyChunks(u64),
    /// The number of chunks to reserve is out of range.
    MaxAppChunks(i64),
    /// Too many offsets are to be reserved for appended chunks.
    ReservedOffsets {
        /// The requested number.
        requested: u64,
        /// The maximum.
        most: u64,
    },
    /// Compression failed.
    Compression(blosc1::Error),
    /// The metadata are not valid JSON.
    Json(JsonError),
    /// The metadata do not fit in their section.
    MetadataSectionTooSmall {
        /// The size of the metadata in bytes.
        required: u64,
        /// The reserved size in bytes.
        allocated: u64,
    },
    /// The metadata exceed the maximum size of a section.
    MetadataTooLarge,
    /// More bytes are to be reserved for metadata than the header can record.
    ReservedMetadata(u64),
    /// The digest of the new checksum has another length.
    ChecksumLengthMismatch,
    /// There are no metadata.
    NoMetadataFound,
    /// The new metadata equal the old ones.
    NoChangeInMetadata,
    /// The container has no offsets, which an append requires.
    NoOffsets,
    /// The sizes in the header are unknown, which an append requires.
    UnknownSizes,
    /// Too few offsets are reserved for the appended chunks.
    NotEnoughSpace,
    /// Input and output are the same file.
    SameFile(PathBuf),
    /// Another process is changing the file.
    Busy(PathBuf),
    /// Another program replaced, moved or removed the file while it was changed.
    Replaced(PathBuf),
    /// A change of the file was interrupted and is not rolled back yet.
    Interrupted(PathBuf),
    /// The journal of an interrupted change is not usable.
    Journal(PathBuf),
    /// The container does not hold an array.
    NotANumpyArray,
    /// Arrays of Python objects are not supported.
    ObjectArray,
    /// The dtype is invalid.
    Dtype(String),
    /// Fields of this dtype overlap.
    Overlap(String),
    /// The file is not a `.npy` file.
    Npy(&'static str),
    /// The size of the data differs from that of the array.
    ArraySize {
        /// The size of the array in bytes.
        expected: u64,
        /// The size of the data in bytes.
        actual: u64,
    },
}

impl Error {
    /// Returns the library's error code that matches best, for C callers.
    pub fn code(&self) -> ferroblosc::Error {
        use ferroblosc::Error as Code;
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
            Error::Busy(_) | Error::Replaced(_) => Code::Lock,
            Error::Interrupted(_) | Error::Journal(_) => Code::FileOpen,
            _ => Code::InvalidParam,
        }
    }

    /// Adds the operation and the path to a system error without them.
    pub(super) fn at(self, operation: &'static str, path: &Path) -> Error {
        match self {
            Error::Container(blpk::Error::Io(error))
                if !error.get_ref().is_some_and(|inner| inner.is::<ferroblosc::Error>()) =>
            {
                named(error, ferroblosc::Error::FileWrite, operation, path).into()
            }
            other => other,
        }
    }

    /// Whether the error is caused by a damaged container.
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
            Error::Typesize(size) => {
                write!(f, "'typesize' must be in the range 0 <= n <= 255, not '{size}'")
            }
            Error::BloscTypesize => f.write_str("typesize can only be in the 1-255 range."),
            Error::Clevel(_) => f.write_str("clevel can only be in the 0-9 range."),
            Error::MetadataLevel(level) => {
                write!(f, "'meta_level' must be in the range 0 <= n <= 9, not '{level}'")
            }
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
            Error::ReservedOffsets { requested, most } => write!(
                f,
                "'max_app_chunks' is {requested}, but at most {most} offsets of {} bytes can be \
                 reserved",
                blpk::OFFSET_LENGTH
            ),
            Error::Compression(error) => write!(f, "compression failed: {error}"),
            Error::Json(error) => write!(f, "the metadata is not valid JSON: {error}"),
            Error::MetadataSectionTooSmall { required, allocated } => write!(
                f,
                "metadata section is too small to contain the metadata required: {required} allocated: {allocated}"
            ),
            Error::MetadataTooLarge => f.write_str("the metadata are too large for a section"),
            Error::ReservedMetadata(requested) => write!(
                f,
                "'max_meta_size' is {requested}, but at most {} bytes can be reserved for metadata",
                u32::MAX
            ),
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
                write!(f, "'{}' cannot be input and output at once", path.display())
            }
            Error::Busy(path) => {
                write!(f, "'{}' is being changed by another process", path.display())
            }
            Error::Replaced(path) => write!(
                f,
                "another program replaced, moved or removed '{}' while it was changed",
                path.display()
            ),
            Error::Interrupted(path) => write!(
                f,
                "a change of '{}' was interrupted; 'blpk recover' restores the state before it",
                path.display()
            ),
            Error::Journal(path) => write!(f, "the journal '{}' cannot be used", path.display()),
            Error::NotANumpyArray => f.write_str("the file does not contain a NumPy array"),
            Error::ObjectArray => f.write_str("arrays of Python objects cannot be stored"),
            Error::Dtype(text) => write!(f, "'{text}' is not a data type"),
            Error::Overlap(text) => write!(f, "fields of the dtype {text} overlap"),
            Error::Npy(why) => write!(f, "not a .npy file: {why}"),
            Error::ArraySize { expected, actual } => {
                write!(f, "the array has '{expected}' bytes, but the file holds '{actual}'")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message is that of the container's error.
            Error::Container(error) => error.source(),
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
            numpy::Error::Objects => Error::ObjectArray,
            numpy::Error::Npy(why) => Error::Npy(why),
            numpy::Error::Io(error) => error.into(),
        }
    }
}

impl From<blpk::Error> for Error {
    fn from(error: blpk::Error) -> Error {
        Error::Container(error)
    }
}

impl From<ferroblosc::Error> for Error {
    fn from(error: ferroblosc::Error) -> Error {
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

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::Error as Code;
    use std::error::Error as _;

    /// The texts of errors that Bloscpack has are its own.
    #[test]
    fn errors_have_a_text_and_a_code() {
        let text = || "x".to_owned();
        let path = || PathBuf::from("p");
        let of_json = super::super::json::Value::parse(b"{").unwrap_err();
        for (error, shown, code, is_corruption) in [
            (
                Error::NoSuchChecksum(text()),
                "checksum 'x' does not exist",
                Code::InvalidParam,
                false,
            ),
            (Error::NoSuchCodec(text()), "codec 'x' does not exist", Code::CodecSupport, false),
            (
                Error::NoSuchSerializer(text()),
                "serializer 'x' does not exist",
                Code::InvalidParam,
                false,
            ),
            (
                Error::MetadataLevel(10),
                "'meta_level' must be in the range 0 <= n <= 9, not '10'",
                Code::InvalidParam,
                false,
            ),
            (
                Error::ChunkSize(0),
                "'chunk_size' must be in the range 1 <= n <= 2147483631, not '0'",
                Code::InvalidParam,
                false,
            ),
            (
                Error::TooManyChunks(1 << 63),
                "nchunks: '9223372036854775808' is greater than the MAX_CHUNKS: \
                 '9223372036854775807'",
                Code::InvalidParam,
                false,
            ),
            (
                Error::MaxAppChunks(-1),
                "'max_app_chunks' must be in the range 0 <= n <= 9223372036854775807, not '-1'",
                Code::InvalidParam,
                false,
            ),
            (
                Error::Compression(blosc1::Error::Failure),
                "compression failed: failure",
                Code::Failure,
                false,
            ),
            (
                Error::Compression(blosc1::Error::CodecSupport),
                "compression failed: ",
                Code::CodecSupport,
                false,
            ),
            (of_json.into(), "the metadata is not valid JSON: no key at byte 1", Code::Data, false),
            (Error::MetadataTooLarge, "the metadata are too large", Code::InvalidParam, false),
            (Error::NoMetadataFound, "unable to seek to metadata", Code::MetalayerNotFound, false),
            (Error::NoOffsets, "Appending to a file without", Code::ChunkAppend, false),
            (Error::UnknownSizes, "Appending to a file of unknown", Code::ChunkAppend, false),
            (Error::NotEnoughSpace, "not enough space", Code::ChunkAppend, false),
            (
                Error::SameFile(path()),
                "'p' cannot be input and output at once",
                Code::InvalidParam,
                false,
            ),
            (Error::Busy(path()), "'p' is being changed by another process", Code::Lock, false),
            (
                Error::Replaced(path()),
                "another program replaced, moved or removed 'p' while it was changed",
                Code::Lock,
                false,
            ),
            (
                Error::Interrupted(path()),
                "a change of 'p' was interrupted; 'blpk recover' restores the state before it",
                Code::FileOpen,
                true,
            ),
            (Error::Journal(path()), "the journal 'p' cannot be used", Code::FileOpen, true),
            (Error::NotANumpyArray, "the file does not contain", Code::Data, false),
            (numpy::Error::Objects.into(), "arrays of Python objects", Code::InvalidParam, false),
            (
                numpy::Error::Dtype(text()).into(),
                "'x' is not a data type",
                Code::InvalidParam,
                false,
            ),
            (
                numpy::Error::Overlap(text()).into(),
                "fields of the dtype x overlap",
                Code::InvalidParam,
                false,
            ),
            (numpy::Error::Npy("why").into(), "not a .npy file: why", Code::Data, false),
            (
                Error::ArraySize { expected: 24, actual: 23 },
                "the array has '24' bytes, but the file holds '23'",
                Code::Data,
                true,
            ),
        ] {
            assert!(error.to_string().starts_with(shown), "{error} is not {shown}");
            assert_eq!((error.code(), error.is_corruption()), (code, is_corruption), "{error}");
            let is_inner = matches!(error, Error::Compression(_));
            assert_eq!(error.source().is_some(), is_inner, "{error}");
        }
    }

    #[test]
    fn errors_of_the_system_keep_their_cause_and_are_no_damage() {
        // ENOSPC.
        let full = || io::Error::from_raw_os_error(28);
        let of_numpy = Error::from(numpy::Error::Io(full()));
        assert_eq!(of_numpy.to_string(), Error::from(full()).to_string());
        let named = Error::from(full()).at("write", Path::new("p"));
        assert!(named.to_string().starts_with("cannot write p: "), "{named}");
        // The innermost name is that of the file that failed.
        assert_eq!(named.at("open", Path::new("q")).to_string().matches("cannot").count(), 1);
        let of_library = Error::from(Code::FileWrite.at("p"));
        assert!(!of_library.is_corruption() && of_library.to_string().contains('p'));
        let memory = Vec::<u8>::new().try_reserve(usize::MAX).unwrap_err();
        let memory = Error::from(memory);
        assert_eq!((memory.code(), memory.is_corruption()), (Code::MemoryAlloc, false));
    }
}
