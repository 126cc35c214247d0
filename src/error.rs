//! The library's error: one of the public `BLOSC2_ERROR_*` codes, with context.
//!
//! An [`Error`] without context has 16 bytes and allocates nothing. Callers add the context that
//! they have: the operation, the path, the chunk, the system's error.
//!
//! ```
//! use ferroblosc::{Error, ErrorKind};
//!
//! let cause = std::io::Error::from_raw_os_error(libc::ENOENT);
//! let error = Error::FileOpen.during("open").at("/data/a.b2nd").os(cause);
//! assert_eq!(error.kind(), ErrorKind::FileOpen);
//! assert_eq!(error.errno(), Some(libc::ENOENT));
//! assert_eq!(
//!     error.to_string(),
//!     "cannot open /data/a.b2nd: No such file or directory (os error 2)"
//! );
//! ```

use std::borrow::Cow;
use std::ffi::{CStr, OsString};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of a fallible function.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// The kind of an [`Error`]: one of the public error codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $(#[doc = $text] $(#[$doc])* $name,)*
            /// A code returned by a user's callback, other than the library's codes.
            Callback(i32),
        }

        impl ErrorKind {
            /// Returns the public error code, which is negative except for callback codes.
            pub const fn code(self) -> i32 {
                match self {
                    $(ErrorKind::$name => $code,)*
                    ErrorKind::Callback(code) => code,
                }
            }

            /// Returns the kind with this code; other codes become [`ErrorKind::Callback`].
            pub const fn from_code(code: i32) -> ErrorKind {
                match code {
                    $($code => ErrorKind::$name,)*
                    other => ErrorKind::Callback(other),
                }
            }

            /// Returns the text of this kind, which is also the result of `blosc2_error_string`.
            pub const fn message(self) -> &'static str {
                match self {
                    $(ErrorKind::$name => $text,)*
                    ErrorKind::Callback(_) => "Unknown error",
                }
            }

            /// Returns the NUL-terminated text of this kind, for C callers.
            pub const fn c_message(self) -> &'static CStr {
                const fn c_text(text: &'static str) -> &'static CStr {
                    match CStr::from_bytes_with_nul(text.as_bytes()) {
                        Ok(text) => text,
                        Err(_) => panic!("a text with a NUL inside"),
                    }
                }
                match self {
                    $(ErrorKind::$name => const { c_text(concat!($text, "\0")) },)*
                    ErrorKind::Callback(_) => c"Unknown error",
                }
            }
        }

        // Errors without context, named like their kinds.
        #[allow(non_upper_case_globals)]
        impl Error {
            $(#[doc = $text] $(#[$doc])* pub const $name: Error = Error::new(ErrorKind::$name);)*
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

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Callback(code) => write!(f, "callback failed with code {code}"),
            other => f.write_str(other.message()),
        }
    }
}

/// An error: its [kind](Error::kind) and context.
///
/// Two errors are equal if their kinds are equal.
#[derive(Clone)]
pub struct Error {
    kind: ErrorKind,
    context: Option<Boxed>,
}

/// A box of one element. Unlike [`Box::new`], allocating a vector can fail.
type Boxed = Box<[Context; 1]>;

#[derive(Clone, Debug, Default)]
struct Context {
    /// The kind before the first [`Error::recast`].
    origin: Option<ErrorKind>,
    operation: Option<&'static str>,
    path: Option<PathBuf>,
    chunk: Option<i64>,
    bytes: Option<u64>,
    detail: Option<Cow<'static, str>>,
    source: Option<Source>,
}

#[derive(Debug)]
enum Source {
    /// An error number of the operating system.
    System(io::Error),
    Other(Arc<dyn std::error::Error + Send + Sync>),
}

impl Clone for Source {
    fn clone(&self) -> Source {
        match self {
            Source::System(error) => Source::System(io::Error::from_raw_os_error(
                error.raw_os_error().unwrap_or_default(),
            )),
            Source::Other(error) => Source::Other(Arc::clone(error)),
        }
    }
}

impl Error {
    /// Returns an error of this kind without context. Allocates nothing.
    pub const fn new(kind: ErrorKind) -> Error {
        Error { kind, context: None }
    }

    /// Returns the error of a callback that returned `code`, which is not one of the library's
    /// codes.
    // Named like the constants.
    #[allow(non_snake_case)]
    pub const fn Callback(code: i32) -> Error {
        Error::new(ErrorKind::Callback(code))
    }

    /// Returns the error with this code, without context.
    pub const fn from_code(code: i32) -> Error {
        Error::new(ErrorKind::from_code(code))
    }

    /// Returns the kind before the first [`Error::recast`].
    pub fn origin(&self) -> ErrorKind {
        let origin = self.context().and_then(|context| context.origin);
        origin.unwrap_or(self.kind)
    }

    /// Returns the kind of the error.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the code returned by the C interface.
    pub const fn code(&self) -> i32 {
        self.kind.code()
    }

    /// Returns the text of the kind, which is also the result of `blosc2_error_string`.
    /// [`Display`](fmt::Display) adds the context.
    pub const fn message(&self) -> &'static str {
        self.kind.message()
    }

    /// Returns the NUL-terminated text of the kind, for C callers.
    pub const fn c_message(&self) -> &'static CStr {
        self.kind.c_message()
    }

    /// Whether the data read is invalid: damaged, truncated, or not of the format. False for system
    /// errors, for a newer format ([`Error::VersionSupport`]), a missing codec or filter, and
    /// parameters of the program.
    pub fn is_corruption(&self) -> bool {
        let is_of_data = matches!(
            self.origin(),
            ErrorKind::Data
                | ErrorKind::InvalidHeader
                | ErrorKind::ReadBuffer
                | ErrorKind::RunLength
                | ErrorKind::Stream
                | ErrorKind::FrameType
                | ErrorKind::FrameSpecial
                | ErrorKind::SchunkSpecial
                | ErrorKind::Failure
        );
        is_of_data && self.errno().is_none()
    }

    /// Whether a system error other than a missing file caused this error. Such an error does not
    /// mean that the data are invalid.
    pub fn is_system_error(&self) -> bool {
        self.system_kind().is_some_and(|kind| kind != io::ErrorKind::NotFound)
    }

    /// Returns the operation that failed, as a verb: `open`, `write to`.
    pub fn operation(&self) -> Option<&'static str> {
        self.context()?.operation
    }

    /// Returns the path of the file or directory.
    pub fn path(&self) -> Option<&Path> {
        self.context()?.path.as_deref()
    }

    /// Returns the index of the chunk.
    pub fn chunk(&self) -> Option<i64> {
        self.context()?.chunk
    }

    /// Returns the number of bytes that could not be allocated.
    pub fn bytes(&self) -> Option<u64> {
        self.context()?.bytes
    }

    /// Returns the system's error number, from the direct or an indirect cause.
    pub fn errno(&self) -> Option<i32> {
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            let system = error.downcast_ref::<io::Error>();
            if let Some(number) = system.and_then(io::Error::raw_os_error) {
                return Some(number);
            }
            // `io::Error::source` skips the error that it wraps.
            source = match system.and_then(io::Error::get_ref) {
                Some(inner) => Some(inner),
                None => error.source(),
            };
        }
        None
    }

    /// Returns the kind of the system's error, from the direct or an indirect cause.
    pub(crate) fn system_kind(&self) -> Option<io::ErrorKind> {
        self.errno().map(|number| io::Error::from_raw_os_error(number).kind())
    }

    /// Adds the operation that failed, as a verb to follow `cannot`, unless set.
    #[cold]
    pub fn during(self, operation: &'static str) -> Error {
        self.with(|context| {
            context.operation.get_or_insert(operation);
        })
    }

    /// Adds the path of the file or directory, unless set.
    #[cold]
    pub fn at(self, path: impl AsRef<Path>) -> Error {
        self.with(|context| {
            if context.path.is_none() {
                let path = path.as_ref().as_os_str();
                let mut copy = OsString::new();
                if copy.try_reserve_exact(path.len()).is_ok() {
                    copy.push(path);
                    context.path = Some(copy.into());
                }
            }
        })
    }

    /// Sets the path of the file or directory.
    #[cold]
    pub(crate) fn replacing_path(self, path: &Path) -> Error {
        self.with(|context| context.path = None).at(path)
    }

    /// Adds the index of the chunk, unless set. An error of a lock is not one of a chunk.
    #[cold]
    pub fn of_chunk(self, number: i64) -> Error {
        if self.kind == ErrorKind::Lock {
            return self;
        }
        self.with(|context| {
            context.chunk.get_or_insert(number);
        })
    }

    /// Adds the number of bytes that could not be allocated, unless set.
    #[cold]
    pub fn of_bytes(self, count: usize) -> Error {
        self.with(|context| {
            context.bytes.get_or_insert(count as u64);
        })
    }

    /// Adds the reason as a sentence, unless set.
    #[cold]
    pub fn because(self, detail: impl Into<Cow<'static, str>>) -> Error {
        self.with(|context| {
            context.detail.get_or_insert_with(|| detail.into());
        })
    }

    /// Adds the system's error as the [source](std::error::Error::source), unless set.
    ///
    /// An `Error` wrapped in an [`io::Error`] keeps its context. The kind becomes
    /// [`ErrorKind::MemoryAlloc`] if the system is out of memory.
    #[cold]
    pub fn os(mut self, error: io::Error) -> Error {
        if error.kind() == io::ErrorKind::OutOfMemory {
            self.kind = ErrorKind::MemoryAlloc;
        }
        if error.raw_os_error().is_some() {
            return self.with(|context| {
                context.source.get_or_insert(Source::System(error));
            });
        }
        match error.downcast::<Error>() {
            Ok(error) => error.recast(self.kind),
            Err(error) => self.caused_by(error),
        }
    }

    /// Adds the system's last error on this thread as the source, unless set.
    #[cold]
    pub fn last_os(self) -> Error {
        self.os(io::Error::last_os_error())
    }

    /// Adds the error that caused this one, unless set.
    #[cold]
    pub fn caused_by(self, error: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.with(|context| {
            context.source.get_or_insert_with(|| Source::Other(Arc::new(error)));
        })
    }

    /// Returns the error with another kind, and with the text of the first kind.
    /// [`ErrorKind::MemoryAlloc`] is not replaced.
    #[cold]
    pub fn recast(mut self, kind: ErrorKind) -> Error {
        if self.kind == ErrorKind::MemoryAlloc {
            return self;
        }
        let old = std::mem::replace(&mut self.kind, kind);
        if old == kind {
            return self;
        }
        self.with(|context| {
            context.origin.get_or_insert(old);
        })
    }

    fn context(&self) -> Option<&Context> {
        self.context.as_ref().map(|context| &context[0])
    }

    /// Calls `change` with the context. If the context cannot be allocated, the error is returned
    /// unchanged.
    fn with(mut self, change: impl FnOnce(&mut Context)) -> Error {
        if self.context.is_none() {
            self.context = boxed(Context::default());
        }
        if let Some(context) = &mut self.context {
            change(&mut context[0]);
        }
        self
    }
}

fn boxed(context: Context) -> Option<Boxed> {
    let mut one = Vec::new();
    one.try_reserve_exact(1).ok()?;
    one.push(context);
    one.into_boxed_slice().try_into().ok()
}

impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Error {}

impl Hash for Error {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error::new(kind)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.kind, f)?;
        if self.context.is_some() {
            write!(f, " ({self})")?;
        }
        Ok(())
    }
}

/// Formats one line with the context: `cannot open /x/y: No such file or directory (os error 2)`,
/// `chunk 3 of /x/y: Invalid data`, `Invalid data`.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(context) = self.context() else {
            return fmt::Display::fmt(&self.kind, f);
        };
        let mut separator = "";
        if let Some(operation) = context.operation {
            write!(f, "cannot {operation}")?;
            separator = " ";
        }
        if let Some(chunk) = context.chunk {
            write!(f, "{separator}chunk {chunk}")?;
            separator = " of ";
        }
        if let Some(path) = &context.path {
            write!(f, "{separator}{}", escaped(path))?;
        }
        if context.operation.is_some() || context.chunk.is_some() || context.path.is_some() {
            f.write_str(": ")?;
        }
        self.write_reason(f)
    }
}

impl Error {
    /// Returns the text without the operation, the path and the chunk, for callers that add these
    /// themselves.
    pub fn reason(&self) -> impl fmt::Display + '_ {
        struct Reason<'a>(&'a Error);
        impl fmt::Display for Reason<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write_reason(f)
            }
        }
        Reason(self)
    }

    fn write_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(context) = self.context() else {
            return fmt::Display::fmt(&self.kind, f);
        };
        match (&context.detail, &context.source) {
            (Some(detail), None) => f.write_str(detail)?,
            (Some(detail), Some(source)) => write!(f, "{detail}: {}", source.get())?,
            (None, Some(source)) if context.operation.is_some() => write!(f, "{}", source.get())?,
            (None, Some(source)) => write!(f, "{}: {}", self.origin(), source.get())?,
            (None, None) => fmt::Display::fmt(&self.origin(), f)?,
        }
        if let Some(bytes) = context.bytes {
            write!(f, " of {bytes} bytes")?;
        }
        Ok(())
    }
}

/// Returns `path` as one line for a terminal: control characters as `\u{..}`, invalid UTF-8 as
/// U+FFFD.
fn escaped(path: &Path) -> impl fmt::Display {
    struct Escaped<'a>(&'a Path);
    impl fmt::Display for Escaped<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            use fmt::Write;
            for character in self.0.to_string_lossy().chars() {
                if character.is_control() {
                    write!(f, "{}", character.escape_default())?;
                } else {
                    f.write_char(character)?;
                }
            }
            Ok(())
        }
    }
    Escaped(path)
}

impl Source {
    fn get(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        match self {
            Source::System(error) => error,
            Source::Other(error) => &**error,
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.context()?.source.as_ref()?;
        Some(source.get())
    }
}

/// Wraps the error for traits of `std::io`. [`io::Error::get_ref`] and [`Error::os`] return it.
impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match error.kind() {
            ErrorKind::MemoryAlloc => io::ErrorKind::OutOfMemory,
            ErrorKind::InvalidParam => io::ErrorKind::InvalidInput,
            _ if error.is_corruption() => io::ErrorKind::InvalidData,
            _ => match error.errno() {
                Some(number) => io::Error::from_raw_os_error(number).kind(),
                None => io::ErrorKind::Other,
            },
        };
        io::Error::new(kind, error)
    }
}

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

    #[test]
    fn an_error_has_16_bytes() {
        assert!(size_of::<Error>() <= 16);
        assert_eq!(size_of::<Result<()>>(), size_of::<Error>());
    }

    #[test]
    fn errors_are_equal_if_their_kinds_are() {
        assert_eq!(Error::FileOpen, Error::FileOpen.at("/x").during("open"));
        assert_ne!(Error::FileOpen, Error::FileRead);
    }

    #[cfg(unix)]
    #[test]
    fn the_text_names_the_operation_the_chunk_the_path_and_the_cause() {
        let cause = || io::Error::from_raw_os_error(libc::ENOSPC);
        let no_space = "No space left on device (os error 28)";
        for (error, text) in [
            (Error::Data, "Invalid data".to_owned()),
            (Error::Data.at("/x"), "/x: Invalid data".to_owned()),
            (Error::Data.of_chunk(3), "chunk 3: Invalid data".to_owned()),
            (Error::Data.of_chunk(3).at("/x"), "chunk 3 of /x: Invalid data".to_owned()),
            (
                Error::Lock.during("lock").at("/x.b2lock").of_chunk(3).os(cause()),
                format!("cannot lock /x.b2lock: {no_space}"),
            ),
            (
                Error::FileWrite.during("write to").at("/x").os(cause()),
                format!("cannot write to /x: {no_space}"),
            ),
            (
                Error::FileWrite.during("write").of_chunk(2).at("/x").os(cause()),
                format!("cannot write chunk 2 of /x: {no_space}"),
            ),
            (Error::FileWrite.os(cause()), format!("File write failure: {no_space}")),
            (
                Error::CodecSupport.because("codec 42 is not registered"),
                "codec 42 is not registered".to_owned(),
            ),
            (
                Error::MemoryAlloc.of_bytes(12),
                "Memory alloc/realloc failure of 12 bytes".to_owned(),
            ),
            (
                Error::FileOpen.during("open").at("/a\x1b[31m\n"),
                "cannot open /a\\u{1b}[31m\\n: File open failure".to_owned(),
            ),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn existing_context_is_kept() {
        let inner = Error::FileOpen.during("open").at("/inner").of_chunk(1);
        let outer = inner.during("read").at("/outer").of_chunk(2);
        assert_eq!(outer.operation(), Some("open"));
        assert_eq!(outer.path(), Some(Path::new("/inner")));
        assert_eq!(outer.chunk(), Some(1));
    }

    #[test]
    fn a_recast_error_reports_its_origin() {
        let error = Error::FilterPipeline.recast(ErrorKind::Data).recast(ErrorKind::Failure);
        assert_eq!(error, Error::Failure);
        assert_eq!(error.origin(), ErrorKind::FilterPipeline);
        assert_eq!(error.to_string(), Error::FilterPipeline.to_string());
        assert!(!error.is_corruption());
        assert!(Error::Data.recast(ErrorKind::Failure).is_corruption());
    }

    #[test]
    fn a_reason_omits_operation_chunk_and_path() {
        let error = Error::Data.during("read").of_chunk(3).at("/x");
        assert_eq!(error.reason().to_string(), "Invalid data");
        assert_eq!(Error::Data.reason().to_string(), "Invalid data");
    }

    #[test]
    fn an_io_error_contains_the_error() {
        let error = io::Error::from(Error::Data.of_chunk(3));
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert_eq!(error.to_string(), "chunk 3: Invalid data");
        assert_eq!(Error::FileRead.os(error).chunk(), Some(3));
        let missing = Error::FileOpen.os(io::Error::from_raw_os_error(libc::ENOENT));
        assert_eq!(io::Error::from(missing).kind(), io::ErrorKind::NotFound);
        assert_eq!(io::Error::from(Error::MemoryAlloc).kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(io::Error::from(Error::InvalidParam).kind(), io::ErrorKind::InvalidInput);
        assert_eq!(io::Error::from(Error::CodecSupport).kind(), io::ErrorKind::Other);
    }

    #[test]
    fn a_system_error_is_not_corruption() {
        let error = Error::Data.os(io::Error::from_raw_os_error(libc::EIO));
        assert!(Error::Data.is_corruption() && !error.is_corruption());
    }

    #[test]
    fn the_error_number_survives_clones_and_wrapping() {
        let error = Error::FileWrite.os(io::Error::from_raw_os_error(libc::EIO));
        assert_eq!(error.clone().errno(), Some(libc::EIO));
        let through_io = Error::FileRead.os(io::Error::other(error.clone()));
        assert_eq!(through_io.kind(), ErrorKind::FileRead);
        assert_eq!(through_io.origin(), ErrorKind::FileWrite);
        assert_eq!(through_io.errno(), Some(libc::EIO));
        let wrapped = Error::Data.caused_by(io::Error::other(error));
        assert_eq!(wrapped.errno(), Some(libc::EIO));
        assert_eq!(Error::Data.errno(), None);
        let eof = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert_eq!(Error::FileRead.os(eof).errno(), None);
    }
}
