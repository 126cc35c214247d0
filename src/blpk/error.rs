//! What can be wrong with a container, in the words that users of Bloscpack know.

use std::fmt;
use std::io;

/// The result of everything about containers that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a container could not be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed.
    Io(io::Error),
    /// There is no memory for what is needed.
    Memory,
    /// The header is this short.
    HeaderLength(usize),
    /// The file begins with something else.
    Magic([u8; 4]),
    /// An option bit without meaning is set.
    OptionBit(u32),
    /// There is no checksum with this number.
    ChecksumId(u8),
    /// A field of the header is out of its range: name, lowest, highest and actual value.
    Range {
        /// The field.
        field: &'static str,
        /// Its lowest value.
        lowest: i64,
        /// Its highest value.
        highest: i64,
        /// What it is.
        actual: i64,
    },
    /// The last chunk is larger than a chunk.
    LastChunk {
        /// Bytes of the last chunk.
        last_chunk: u32,
        /// Bytes of a chunk.
        chunk_size: u32,
    },
    /// There are chunks to append, but it is not known how many there are.
    AppendableToUnknown(u64),
    /// More chunks and chunks to append than there can be.
    TooManyChunks {
        /// Chunks there are.
        nchunks: u64,
        /// Chunks that may be appended.
        max_app_chunks: u64,
    },
    /// The format is of another version.
    Version(u8),
    /// The file ends inside of this.
    Truncated(&'static str),
    /// The metadata section contradicts itself.
    MetadataSection(&'static str),
    /// There is no codec for metadata with this number.
    MetadataCodec(u8),
    /// The metadata don't decompress to the bytes they should.
    MetadataData,
    /// The metadata are larger than is allowed.
    MetadataSize(u32),
    /// A digest is not that of the bytes.
    Checksum {
        /// What it was stored with.
        what: Checked,
        /// The digest in the file.
        expected: Vec<u8>,
        /// The digest of the bytes.
        received: Vec<u8>,
    },
    /// The header of a chunk can't be right.
    ChunkHeader {
        /// Which chunk.
        index: u64,
        /// Why.
        why: &'static str,
    },
    /// A chunk holds another number of bytes than the container says.
    ChunkSize {
        /// Which chunk.
        index: u64,
        /// What the container says.
        expected: u32,
        /// What the chunk says.
        actual: u32,
    },
    /// A chunk does not decompress.
    ChunkData {
        /// Which chunk.
        index: u64,
    },
    /// An offset points to where no chunk can be.
    Offset {
        /// Which chunk.
        index: u64,
        /// The offset.
        offset: i64,
    },
    /// There is no such chunk.
    NoSuchChunk(u64),
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

/// What a digest was stored with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The metadata section.
    Metadata,
    /// This chunk.
    Chunk(u64),
}

impl Error {
    /// The nearest of the library's error codes, for C callers.
    pub fn code(&self) -> crate::Error {
        use crate::Error as Code;
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

    /// Whether the fault lies in the header, so that the file may be of another kind altogether.
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

    /// Whether the fault lies in the file, not in the call or the machine.
    pub fn is_corruption(&self) -> bool {
        !matches!(
            self,
            Error::Io(_) | Error::Memory | Error::NoSuchChunk(_) | Error::NoSuchRange { .. }
        )
    }
}

/// Bytes as Python shows them: `b'\x00a'`.
pub fn bytes_repr(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    };
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
            Error::HeaderLength(len) => write!(
                f,
                "attempting to decode a bloscpack header of length '{len}', not '32'"
            ),
            Error::Magic(found) => write!(
                f,
                "the magic marker b'blpk' is missing from the bloscpack header, instead we found: {}",
                bytes_repr(found)
            ),
            Error::OptionBit(bit) => write!(
                f,
                "Element {bit} was non-zero when attempting to decode options"
            ),
            Error::ChecksumId(id) => write!(f, "there is no checksum with the number '{id}'"),
            Error::Range {
                field,
                lowest,
                highest,
                actual,
            } => write!(
                f,
                "'{field}' must be in the range {lowest} <= n <= {highest}, not '{actual}'"
            ),
            Error::LastChunk {
                last_chunk,
                chunk_size,
            } => write!(
                f,
                "'last_chunk' ({last_chunk}) is larger than 'chunk_size' ({chunk_size})"
            ),
            Error::AppendableToUnknown(max_app_chunks) => write!(
                f,
                "'max_app_chunks' is '{max_app_chunks}' although 'nchunks' is unknown"
            ),
            Error::TooManyChunks {
                nchunks,
                max_app_chunks,
            } => write!(
                f,
                "'nchunks' ({nchunks}) and 'max_app_chunks' ({max_app_chunks}) are together larger than {}",
                super::MAX_CHUNKS
            ),
            Error::Version(version) => write!(
                f,
                "format version of file was not '{}' as expected, but '{version}'",
                super::VERSION
            ),
            Error::Truncated(what) => write!(f, "the file ends inside of {what}"),
            Error::MetadataSection(why) => write!(f, "bad metadata section: {why}"),
            Error::MetadataCodec(id) => {
                write!(f, "there is no metadata codec with the number '{id}'")
            }
            Error::MetadataData => f.write_str("the metadata can't be decompressed"),
            Error::MetadataSize(size) => write!(
                f,
                "the metadata have '{size}' bytes, more than the '{}' that are read",
                super::MAX_METADATA
            ),
            Error::Checksum {
                what,
                expected,
                received,
            } => {
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
            Error::ChunkSize {
                index,
                expected,
                actual,
            } => write!(
                f,
                "chunk '{index}' is corrupt: it holds '{actual}' bytes, not '{expected}'"
            ),
            Error::ChunkData { index } => {
                write!(f, "chunk '{index}' is corrupt: it can't be decompressed")
            }
            Error::Offset { index, offset } => {
                write!(
                    f,
                    "the offset '{offset}' of chunk '{index}' is out of range"
                )
            }
            Error::NoSuchChunk(index) => write!(f, "there is no chunk '{index}'"),
            Error::NoSuchRange { start, len, size } => write!(
                f,
                "there are no '{len}' bytes from '{start}' on, only '{size}' in all"
            ),
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

/// Returns the core's error for one of `std::io`, with what it knows about the circumstances.
fn of_io(error: &io::Error) -> crate::Error {
    use crate::ErrorKind as Kind;
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<crate::Error>());
    let kind = match error.kind() {
        io::ErrorKind::NotFound => Kind::NotFound,
        io::ErrorKind::PermissionDenied => Kind::FileOpen,
        io::ErrorKind::WriteZero | io::ErrorKind::StorageFull => Kind::FileWrite,
        _ => inner.map_or(Kind::FileRead, crate::Error::kind),
    };
    match (inner, error.raw_os_error()) {
        (Some(inner), _) => inner.clone().recast(kind),
        (None, Some(number)) => crate::Error::new(kind).os(io::Error::from_raw_os_error(number)),
        (None, None) => crate::Error::new(kind).because(error.to_string()),
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}

impl From<std::collections::TryReserveError> for Error {
    fn from(_: std::collections::TryReserveError) -> Error {
        Error::Memory
    }
}

/// An error of an I/O trait of ours.
impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Error {
        match error.kind() {
            crate::ErrorKind::MemoryAlloc => Error::Memory,
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
}
