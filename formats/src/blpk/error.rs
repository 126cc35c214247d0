//! Errors of containers, with Bloscpack's messages.

use std::fmt;
use std::io;

use super::limits::{MAX_CHUNKS, MAX_METADATA, VERSION};

/// The result of fallible container operations.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a container could not be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error.
    Io(io::Error),
    /// Memory allocation failed.
    Memory,
    /// The header has this length in bytes, which is too short.
    HeaderLength(usize),
    /// The file starts with these bytes instead of the magic number.
    Magic([u8; 4]),
    /// An undefined option bit is set.
    OptionBit(u32),
    /// The checksum identifier is unknown.
    ChecksumId(u8),
    /// A header field is out of its range.
    Range {
        /// The name of the field.
        field: &'static str,
        /// The lowest valid value.
        lowest: i64,
        /// The highest valid value.
        highest: i64,
        /// The actual value.
        actual: i64,
    },
    /// The last chunk is larger than the chunk size.
    LastChunk {
        /// Size of the last chunk in bytes.
        last_chunk: u32,
        /// The chunk size in bytes.
        chunk_size: u32,
    },
    /// The header reserves this many chunks for appending, but the number of chunks is unknown.
    AppendableToUnknown(u64),
    /// The sum of existing and reserved chunks exceeds the limit.
    TooManyChunks {
        /// The number of chunks.
        nchunks: u64,
        /// The number of chunks reserved for appending.
        max_app_chunks: u64,
    },
    /// The format version is unsupported.
    Version(u8),
    /// The file ends within this section.
    Truncated(&'static str),
    /// The metadata section is inconsistent.
    MetadataSection(&'static str),
    /// The metadata codec identifier is unknown.
    MetadataCodec(u8),
    /// The metadata cannot be decompressed to their recorded size.
    MetadataData,
    /// The metadata exceed the size limit.
    MetadataSize(u32),
    /// A digest does not match.
    Checksum {
        /// The section that the digest belongs to.
        what: Checked,
        /// The stored digest.
        expected: Vec<u8>,
        /// The computed digest.
        received: Vec<u8>,
    },
    /// A chunk header is invalid.
    ChunkHeader {
        /// The index of the chunk.
        index: u64,
        /// The reason.
        why: &'static str,
    },
    /// The size of a chunk contradicts the container's header.
    ChunkSize {
        /// The index of the chunk.
        index: u64,
        /// The size in the container's header, in bytes.
        expected: u32,
        /// The size in the chunk's header, in bytes.
        actual: u32,
    },
    /// A chunk cannot be decompressed.
    ChunkData {
        /// The index of the chunk.
        index: u64,
    },
    /// An offset is not a possible position of a chunk.
    Offset {
        /// The index of the chunk.
        index: u64,
        /// The offset.
        offset: i64,
    },
    /// The chunk does not exist.
    NoSuchChunk(u64),
    /// The range exceeds the data.
    NoSuchRange {
        /// Start of the range, in bytes.
        start: u64,
        /// Length of the range, in bytes.
        len: u64,
        /// Size of the data, in bytes.
        size: u64,
    },
}

/// The section that a digest belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The metadata section.
    Metadata,
    /// The chunk with this index.
    Chunk(u64),
}

impl Error {
    /// Returns the closest error code of the library, for C callers.
    pub fn code(&self) -> ferroblosc::Error {
        use ferroblosc::Error as Code;
        match self {
            Error::Io(error) => of_io(error),
            Error::Memory => Code::MemoryAlloc,
            Error::Version(_) => Code::VersionSupport,
            Error::HeaderLength(_)
            | Error::Magic(_)
            | Error::OptionBit(_)
            | Error::ChecksumId(_)
            | Error::Range { .. }
            | Error::LastChunk { .. }
            | Error::AppendableToUnknown(_)
            | Error::TooManyChunks { .. } => Code::InvalidHeader,
            Error::Truncated(_) => Code::ReadBuffer,
            Error::NoSuchChunk(_) | Error::NoSuchRange { .. } => Code::InvalidIndex,
            _ => Code::Data,
        }
    }

    /// Whether the error is in the header, so that the file may be of another format.
    pub fn is_in_header(&self) -> bool {
        matches!(
            self,
            Error::HeaderLength(_)
                | Error::Magic(_)
                | Error::OptionBit(_)
                | Error::Range { .. }
                | Error::LastChunk { .. }
                | Error::AppendableToUnknown(_)
                | Error::TooManyChunks { .. }
        )
    }

    /// Whether the file is corrupt, as opposed to errors of the call or the system.
    pub fn is_corruption(&self) -> bool {
        !matches!(
            self,
            Error::Io(_) | Error::Memory | Error::NoSuchChunk(_) | Error::NoSuchRange { .. }
        )
    }
}

/// Formats bytes like Python: `b'\x00a'`.
pub fn bytes_repr(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut text = format!("b{quote}");
    for &byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b'\'' if quote == '\'' => text.push_str("\\'"),
            0x20..=0x7E => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push(quote);
    text
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Memory => f.write_str("out of memory"),
            Error::HeaderLength(len) => {
                write!(f, "attempting to decode a bloscpack header of length '{len}', not '32'")
            }
            Error::Magic(found) => write!(
                f,
                "the magic marker b'blpk' is missing from the bloscpack header, instead we found: {}",
                bytes_repr(found)
            ),
            Error::OptionBit(bit) => {
                write!(f, "Element {bit} was non-zero when attempting to decode options")
            }
            Error::ChecksumId(id) => write!(f, "there is no checksum with the number '{id}'"),
            Error::Range { field, lowest, highest, actual } => write!(
                f,
                "'{field}' must be in the range {lowest} <= n <= {highest}, not '{actual}'"
            ),
            Error::LastChunk { last_chunk, chunk_size } => {
                write!(f, "'last_chunk' ({last_chunk}) is larger than 'chunk_size' ({chunk_size})")
            }
            Error::AppendableToUnknown(_) => {
                f.write_str("'max_app_chunks' can not be non '0' if 'nchunks' is '-1'")
            }
            Error::TooManyChunks { nchunks, max_app_chunks } => write!(
                f,
                "'nchunks + max_app_chunks' must be in the range 0 <= n <= {}, not '{}'",
                MAX_CHUNKS,
                u128::from(*nchunks) + u128::from(*max_app_chunks)
            ),
            Error::Version(version) => {
                write!(f, "format version of file was not '{VERSION}' as expected, but '{version}'")
            }
            Error::Truncated(what) => write!(f, "the file ends inside of {what}"),
            Error::MetadataSection(why) => write!(f, "bad metadata section: {why}"),
            Error::MetadataCodec(id) => {
                write!(f, "there is no metadata codec with the number '{id}'")
            }
            Error::MetadataData => f.write_str("the metadata cannot be decompressed"),
            Error::MetadataSize(size) => write!(
                f,
                "the metadata have '{size}' bytes, more than the '{MAX_METADATA}' that are read"
            ),
            Error::Checksum { what, expected, received } => {
                match what {
                    Checked::Metadata => f.write_str("Checksum mismatch detected in metadata ")?,
                    Checked::Chunk(_) => f.write_str("Checksum mismatch detected in chunk, ")?,
                }
                write!(
                    f,
                    "expected: '{}', received: '{}'",
                    bytes_repr(expected),
                    bytes_repr(received)
                )
            }
            Error::ChunkHeader { index, why } => write!(f, "chunk '{index}' is corrupt: {why}"),
            Error::ChunkSize { index, expected, actual } => {
                write!(f, "chunk '{index}' is corrupt: it holds '{actual}' bytes, not '{expected}'")
            }
            Error::ChunkData { index } => {
                write!(f, "chunk '{index}' is corrupt: it cannot be decompressed")
            }
            Error::Offset { index, offset } => {
                write!(f, "the offset '{offset}' of chunk '{index}' is out of range")
            }
            Error::NoSuchChunk(index) => write!(f, "there is no chunk '{index}'"),
            Error::NoSuchRange { start, len, size } => {
                write!(f, "there are no '{len}' bytes from '{start}' on, only '{size}' in all")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error) => Some(error),
            _ => None,
        }
    }
}

/// Converts an I/O error to the core's error, with its context.
fn of_io(error: &io::Error) -> ferroblosc::Error {
    use ferroblosc::ErrorKind as Kind;
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ferroblosc::Error>());
    let kind = match error.kind() {
        io::ErrorKind::NotFound => Kind::NotFound,
        io::ErrorKind::PermissionDenied => Kind::FileOpen,
        io::ErrorKind::WriteZero | io::ErrorKind::StorageFull => Kind::FileWrite,
        _ => inner.map_or(Kind::FileRead, ferroblosc::Error::kind),
    };
    match (inner, error.raw_os_error()) {
        (Some(inner), _) => inner.clone().recast(kind),
        (None, Some(number)) => {
            ferroblosc::Error::new(kind).os(io::Error::from_raw_os_error(number))
        }
        (None, None) => ferroblosc::Error::new(kind).because(error.to_string()),
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::OutOfMemory => Error::Memory,
            _ => Error::Io(error),
        }
    }
}

impl From<std::collections::TryReserveError> for Error {
    fn from(_: std::collections::TryReserveError) -> Error {
        Error::Memory
    }
}

/// An error of the library's own I/O traits.
impl From<ferroblosc::Error> for Error {
    fn from(error: ferroblosc::Error) -> Error {
        match error.kind() {
            ferroblosc::ErrorKind::MemoryAlloc => Error::Memory,
            _ => Error::Io(io::Error::other(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_formatted_as_in_python() {
        assert_eq!(bytes_repr(b"JSON"), "b'JSON'");
        assert_eq!(bytes_repr(b"\x00\xff\n\\"), "b'\\x00\\xff\\n\\\\'");
        assert_eq!(bytes_repr(b"it's"), "b\"it's\"");
        assert_eq!(bytes_repr(b"'\""), "b'\\'\"'");
    }

    #[test]
    fn a_lack_of_memory_has_its_own_code() {
        for error in [
            Error::from(io::Error::from(io::ErrorKind::OutOfMemory)),
            Error::from(ferroblosc::Error::MemoryAlloc),
            Error::from(Vec::<u8>::new().try_reserve(usize::MAX).unwrap_err()),
        ] {
            assert_eq!(error.code(), ferroblosc::Error::MemoryAlloc);
            assert!(!error.is_corruption());
        }
    }
}
