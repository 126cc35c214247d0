//! The library's one error type: each variant is one of the public `BLOSC2_ERROR_*` codes.

use std::ffi::CStr;
use std::fmt;

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// Why a call failed. [`Error::code`] is the number the C interface returns.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Error {
            $(#[doc = $text] $(#[$doc])* $name,)*
            /// A code that a user's callback returned and that is none of the library's own.
            Callback(i32),
        }

        impl Error {
            /// The public error code, always negative (but for a callback's own).
            pub const fn code(self) -> i32 {
                match self {
                    $(Error::$name => $code,)*
                    Error::Callback(code) => code,
                }
            }

            /// The error with this code; a code of no variant becomes [`Error::Callback`].
            pub const fn from_code(code: i32) -> Error {
                match code {
                    $($code => Error::$name,)*
                    other => Error::Callback(other),
                }
            }

            /// The text of this error, as `blosc2_error_string` gives it.
            pub const fn message(self) -> &'static str {
                match self {
                    $(Error::$name => $text,)*
                    Error::Callback(_) => "Unknown error",
                }
            }

            /// The text of this error with a NUL at its end, for C callers.
            pub const fn c_message(self) -> &'static CStr {
                const fn c_text(text: &'static str) -> &'static CStr {
                    match CStr::from_bytes_with_nul(text.as_bytes()) {
                        Ok(text) => text,
                        Err(_) => panic!("a text with a NUL inside"),
                    }
                }
                match self {
                    $(Error::$name => const { c_text(concat!($text, "\0")) },)*
                    Error::Callback(_) => c"Unknown error",
                }
            }
        }
    };
}

errors! {
    Failure = -1, "Generic failure";
    Stream = -2, "Bad stream";
    Data = -3, "Invalid data";
    MemoryAlloc = -4, "Memory alloc/realloc failure";
    ReadBuffer = -5, "Not enough space to read";
    WriteBuffer = -6, "Not enough space to write";
    CodecSupport = -7, "Codec not supported";
    CodecParam = -8, "Invalid parameter supplied to codec";
    CodecDict = -9, "Codec dictionary error";
    VersionSupport = -10, "Version not supported";
    InvalidHeader = -11, "Invalid value in header";
    InvalidParam = -12, "Invalid parameter supplied to function";
    FileRead = -13, "File read failure";
    FileWrite = -14, "File write failure";
    FileOpen = -15, "File open failure";
    NotFound = -16, "Not found";
    RunLength = -17, "Bad run length encoding";
    FilterPipeline = -18, "Filter pipeline error";
    ChunkInsert = -19, "Chunk insert failure";
    ChunkAppend = -20, "Chunk append failure";
    ChunkUpdate = -21, "Chunk update failure";
    TwoGbLimit = -22, "Sizes larger than 2gb not supported";
    SchunkCopy = -23, "Super-chunk copy failure";
    FrameType = -24, "Wrong type for frame";
    FileTruncate = -25, "File truncate failure";
    ThreadCreate = -26, "Thread or thread context creation failure";
    Postfilter = -27, "Postfilter failure";
    FrameSpecial = -28, "Special frame failure";
    SchunkSpecial = -29, "Special super-chunk failure";
    PluginIo = -30, "IO plugin error";
    FileRemove = -31, "Remove file failure";
    NullPointer = -32, "Pointer is null";
    InvalidIndex = -33, "Invalid index";
    MetalayerNotFound = -34, "Metalayer has not been found";
    MaxBufsizeExceeded = -35, "Maximum buffersize exceeded";
    Tuner = -36, "Tuner failure";
    Lock = -37, "Frame lock failure";
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Callback(code) => write!(f, "callback failed with code {code}"),
            other => f.write_str(other.message()),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::collections::TryReserveError> for Error {
    fn from(_: std::collections::TryReserveError) -> Error {
        Error::MemoryAlloc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_maps_to_an_error_and_back() {
        for code in -37..=-1 {
            let error = Error::from_code(code);
            assert_eq!(error.code(), code);
            assert_ne!(error.message(), "Unknown error");
            assert_eq!(error.c_message().to_str(), Ok(error.message()));
        }
        assert_eq!(Error::from_code(-100), Error::Callback(-100));
        assert_eq!(Error::Callback(7).message(), "Unknown error");
    }
}
