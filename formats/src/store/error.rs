//! The errors of stores.

use ferroblosc::io::temporary;
use std::fmt;
use std::path::{Path, PathBuf};

/// The result of an operation on a store.
pub type Result<T> = std::result::Result<T, Error>;

/// The description of a symbolic link.
pub(super) const LINK: &str = "a symbolic link";

/// The error of an operation on a store.
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
    /// The path is neither a store nor a contiguous frame.
    NotAStore(PathBuf),
    /// The zip file is damaged or has an unsupported form.
    Zip {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A member of a zip file is damaged or has an unsupported form.
    Member {
        /// The name of the member.
        name: String,
        /// The reason.
        why: String,
    },
    /// The frame of a leaf is damaged.
    Frame {
        /// The key of the leaf.
        key: String,
        /// The error.
        error: ferroblosc::Error,
    },
    /// The content of an object contradicts its class.
    Damaged {
        /// The key of the object.
        key: String,
        /// The reason.
        why: String,
    },
    /// The schema of a table is invalid.
    Schema {
        /// The key of the table.
        key: String,
        /// The reason.
        why: String,
    },
    /// The file or directory of the store changed after it was opened.
    Changed(PathBuf),
    /// There is no such key.
    NoSuchKey(String),
    /// The key exists, but its object is of another class.
    WrongClass {
        /// The key of the object.
        key: String,
        /// The class of the object.
        found: &'static str,
        /// The classes that the operation accepts.
        wanted: &'static str,
    },
    /// The object describes a computation or a location outside of the store, and has no values of
    /// its own. Stores never execute, resolve or fetch it.
    NotData {
        /// The key of the object.
        key: String,
        /// The class of the object.
        class: &'static str,
    },
    /// A leaf that the table needs is missing.
    MissingLeaf(String),
    /// The table has no such column.
    NoSuchColumn(String),
    /// The column has no stored values that can be read.
    Column {
        /// The name of the column.
        name: String,
        /// The reason.
        why: String,
    },
    /// A value of a column is missing or damaged.
    Row {
        /// The name of the column.
        column: String,
        /// The row in the stored columns, counted from 0 and including deleted rows.
        row: u64,
        /// The reason.
        why: String,
    },
    /// The rows or items are out of range.
    OutOfRange {
        /// The first row or item.
        start: u64,
        /// The row or item after the last one.
        end: u64,
        /// The number of rows or items.
        len: u64,
    },
    /// The text of a condition is invalid.
    Filter {
        /// The position in the text, in bytes.
        at: usize,
        /// The reason.
        why: String,
    },
    /// The items are stored in a form that can be exported, but not decoded.
    Unsupported {
        /// The key of the object.
        key: String,
        /// The form.
        why: String,
    },
    /// A value cannot be stored, for this reason.
    Value(String),
    /// The key or the name of an attribute is invalid.
    InvalidName {
        /// The key or the name.
        name: String,
        /// The reason.
        why: String,
    },
    /// The key exists already.
    KeyExists(String),
    /// The path exists already.
    Exists {
        /// The path.
        path: PathBuf,
        /// The type of the file, such as `a FIFO`.
        kind: &'static str,
    },
    /// A store, or a file or directory in it, is of a type that is not changed, such as a link.
    FileType {
        /// The path.
        path: PathBuf,
        /// The type of the file, such as `a FIFO`.
        kind: &'static str,
        /// The type that it must have, such as `a directory`.
        wanted: &'static str,
    },
    /// Another writer has the store open.
    Locked(PathBuf),
    /// The store is damaged: it is neither changed nor copied.
    Unsound {
        /// The path of the store.
        path: PathBuf,
        /// The first damage.
        why: String,
    },
    /// The operation is not possible for this store or object.
    Refused {
        /// The path or the key.
        place: String,
        /// The reason.
        why: String,
    },
    /// A size exceeds a limit.
    Limit {
        /// The object and its size.
        what: String,
        /// The limit.
        limit: u64,
    },
    /// Out of memory.
    Memory,
}

impl Error {
    /// Returns a function that converts an error of the storage at `path`.
    pub(crate) fn storage(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
        move |error| Error::Storage {
            path: path.to_owned(),
            error: ferroblosc::Error::FileRead.during("read").at(path).os(error),
        }
    }

    /// Returns a function that converts an error of a change of the files at `path`.
    pub(super) fn file(path: &Path) -> impl FnOnce(ferroblosc::Error) -> Error + '_ {
        move |error| Error::Storage { path: path.to_owned(), error }
    }

    /// Replaces the path of a temporary file or directory by that of its target.
    pub(super) fn of_target(self, temporary: &Path, target: &Path) -> Error {
        match self {
            Error::Storage { path, error } => {
                let error = temporary::error_of_target(error, temporary, target);
                Error::Storage { path, error }
            }
            other => other,
        }
    }

    /// Returns the error of an operation that is not possible.
    pub(super) fn refused(place: impl Into<String>, why: impl Into<String>) -> Error {
        Error::Refused { place: place.into(), why: why.into() }
    }

    /// Returns a function that converts an error of the frame of the leaf `key`.
    pub(super) fn frame(key: &str) -> impl FnOnce(ferroblosc::Error) -> Error + '_ {
        move |error| match error.kind() {
            ferroblosc::ErrorKind::MemoryAlloc => Error::Memory,
            _ => Error::Frame { key: key.to_owned(), error },
        }
    }

    /// Returns the error of a leaf whose content contradicts its class.
    pub(super) fn damaged(key: &str, why: impl Into<String>) -> Error {
        Error::Damaged { key: key.to_owned(), why: why.into() }
    }

    /// Whether the error is caused by damaged data, not by the call, the system or a limit.
    pub fn is_corruption(&self) -> bool {
        match self {
            Error::Zip { .. }
            | Error::Member { .. }
            | Error::Damaged { .. }
            | Error::Schema { .. }
            | Error::MissingLeaf(_)
            | Error::Unsound { .. }
            | Error::Row { .. } => true,
            Error::Frame { error, .. } => !error.is_system_error(),
            _ => false,
        }
    }

    /// Returns the library's error code that matches best, for C callers.
    pub fn code(&self) -> ferroblosc::Error {
        use ferroblosc::Error as Code;
        match self {
            Error::Storage { error, .. } | Error::Frame { error, .. } => error.clone(),
            Error::Memory | Error::Limit { .. } => Code::MemoryAlloc,
            Error::NoSuchKey(_) | Error::NoSuchColumn(_) | Error::MissingLeaf(_) => Code::NotFound,
            Error::WrongClass { .. } | Error::NotAStore(_) => Code::FrameType,
            Error::NotData { .. } | Error::Unsupported { .. } => Code::InvalidParam,
            Error::OutOfRange { .. } => Code::InvalidIndex,
            Error::Exists { .. } | Error::FileType { .. } => Code::FileOpen,
            Error::Locked(_) => Code::Lock,
            Error::Value(_)
            | Error::Filter { .. }
            | Error::InvalidName { .. }
            | Error::KeyExists(_)
            | Error::Refused { .. } => Code::InvalidParam,
            _ => Code::Data,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The inner error names the file that failed, which may be another one.
            Error::Storage { error, .. } if error.path().is_some() => error.fmt(f),
            Error::Storage { path, error } => write!(f, "{}: {error}", path.display()),
            Error::NotAStore(path) => {
                write!(f, "'{}' is neither a store nor a contiguous frame", path.display())
            }
            Error::Zip { path, why } => write!(f, "{}: {why}", path.display()),
            Error::Member { name, why } => write!(f, "member {name:?}: {why}"),
            Error::Frame { key, error } => write!(f, "{key}: {error}"),
            Error::Damaged { key, why } => write!(f, "{key}: {why}"),
            Error::Schema { key, why } => write!(f, "{key}: the schema is invalid: {why}"),
            Error::Changed(path) => {
                write!(f, "{}: the store changed while it was read", path.display())
            }
            Error::NoSuchKey(key) => write!(f, "there is no key {key:?}"),
            Error::WrongClass { key, found, wanted } => {
                write!(f, "{key} is of class {found}, not {wanted}")
            }
            Error::NotData { key, class } => write!(
                f,
                "{key} is of class {class}: it has no values of its own, and is never evaluated"
            ),
            Error::MissingLeaf(key) => write!(f, "the leaf {key:?} is missing"),
            Error::NoSuchColumn(name) => write!(f, "there is no column {name:?}"),
            Error::Column { name, why } => write!(f, "column {name:?}: {why}"),
            Error::Row { column, row, why } => {
                write!(f, "column {column:?}, stored row {row}: {why}")
            }
            Error::OutOfRange { start, end, len } => {
                write!(f, "{start}..{end} is out of range, the length is {len}")
            }
            Error::Filter { at, why } => {
                write!(f, "the condition is invalid at byte {at}: {why}")
            }
            Error::Unsupported { key, why } => write!(f, "{key}: {why}"),
            Error::Value(why) => write!(f, "the value cannot be stored: {why}"),
            Error::InvalidName { name, why } => write!(f, "the name {name:?} is invalid: {why}"),
            Error::KeyExists(key) => write!(f, "the key {key:?} exists already"),
            Error::Exists { path, kind } => {
                write!(f, "'{}' exists already: it is {kind}", path.display())
            }
            Error::FileType { path, kind, wanted } => {
                write!(f, "'{}' is {kind}, not {wanted}", path.display())?;
                if *kind == LINK {
                    f.write_str("; changes do not follow links: use the path without links")?;
                }
                Ok(())
            }
            Error::Locked(path) => {
                write!(f, "{}: another writer has the store open", path.display())
            }
            Error::Unsound { path, why } => {
                write!(f, "{}: the store is damaged: {why}", path.display())
            }
            Error::Refused { place, why } => write!(f, "{place}: {why}"),
            Error::Limit { what, limit } => write!(f, "{what}; the limit is {limit}"),
            Error::Memory => f.write_str("out of memory"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Storage { error, .. } | Error::Frame { error, .. } => Some(error),
            _ => None,
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

    /// Errors of the data are corruption; those of the call and of the system are not.
    #[test]
    fn errors_have_a_text_and_a_code() {
        let text = |text: &str| text.to_owned();
        let (key, why) = (|| text("/k"), || text("w"));
        for (error, shown, code, is_corruption) in [
            (Error::NotAStore("p".into()), "'p' is neither a store", Code::FrameType, false),
            (Error::Zip { path: "p".into(), why: why() }, "p: w", Code::Data, true),
            (Error::Member { name: text("m"), why: why() }, "member \"m\": w", Code::Data, true),
            (Error::Damaged { key: key(), why: why() }, "/k: w", Code::Data, true),
            (Error::Schema { key: key(), why: why() }, "/k: the schema is", Code::Data, true),
            (Error::Changed("p".into()), "p: the store changed", Code::Data, false),
            (Error::NoSuchKey(key()), "there is no key \"/k\"", Code::NotFound, false),
            (
                Error::WrongClass { key: key(), found: "a", wanted: "b" },
                "/k is of class a, not b",
                Code::FrameType,
                false,
            ),
            (
                Error::NotData { key: key(), class: "c" },
                "/k is of class c: it has no values",
                Code::InvalidParam,
                false,
            ),
            (Error::MissingLeaf(key()), "the leaf \"/k\" is missing", Code::NotFound, true),
            (Error::NoSuchColumn(why()), "there is no column \"w\"", Code::NotFound, false),
            (Error::Column { name: text("c"), why: why() }, "column \"c\": w", Code::Data, false),
            (
                Error::Row { column: text("c"), row: 4, why: why() },
                "column \"c\", stored row 4: w",
                Code::Data,
                true,
            ),
            (
                Error::OutOfRange { start: 1, end: 4, len: 3 },
                "1..4 is out of range, the length is 3",
                Code::InvalidIndex,
                false,
            ),
            (
                Error::Filter { at: 2, why: why() },
                "the condition is invalid at byte 2: w",
                Code::InvalidParam,
                false,
            ),
            (Error::Unsupported { key: key(), why: why() }, "/k: w", Code::InvalidParam, false),
            (Error::Value(why()), "the value cannot be stored: w", Code::InvalidParam, false),
            (
                Error::InvalidName { name: text("n"), why: why() },
                "the name \"n\" is invalid: w",
                Code::InvalidParam,
                false,
            ),
            (Error::KeyExists(key()), "the key \"/k\" exists", Code::InvalidParam, false),
            (
                Error::Exists { path: "p".into(), kind: "a file" },
                "'p' exists already: it is a file",
                Code::FileOpen,
                false,
            ),
            (
                Error::FileType { path: "p".into(), kind: LINK, wanted: "a directory" },
                "'p' is a symbolic link, not a directory; changes do not follow links: use",
                Code::FileOpen,
                false,
            ),
            (
                Error::FileType { path: "p".into(), kind: "a file", wanted: "a directory" },
                "'p' is a file, not a directory",
                Code::FileOpen,
                false,
            ),
            (Error::Locked("p".into()), "p: another writer", Code::Lock, false),
            (
                Error::Unsound { path: "p".into(), why: why() },
                "p: the store is damaged: w",
                Code::Data,
                true,
            ),
            (Error::refused("p", "w"), "p: w", Code::InvalidParam, false),
            (Error::Limit { what: why(), limit: 7 }, "w; the limit is 7", Code::MemoryAlloc, false),
            (Error::Memory, "out of memory", Code::MemoryAlloc, false),
        ] {
            assert!(error.to_string().starts_with(shown), "{error} is not {shown}");
            assert_eq!((error.code(), error.is_corruption()), (code, is_corruption), "{error}");
            assert!(error.source().is_none(), "{error}");
        }
    }

    #[test]
    fn inner_errors_are_sources_and_keep_their_kind() {
        let frame = Error::frame("/k")(Code::Data);
        assert!(frame.source().is_some() && frame.is_corruption());
        assert_eq!(frame.to_string(), format!("/k: {}", Code::Data));
        assert!(matches!(Error::frame("/k")(Code::MemoryAlloc), Error::Memory));
        let path = Path::new("p");
        let storage = Error::file(path)(Code::FileRead.at("inner"));
        assert!(storage.source().is_some() && !storage.is_corruption());
        assert!(storage.to_string().starts_with("inner: "), "{storage}");
        assert_eq!(storage.code(), Code::FileRead);
        // A temporary file has the name of its target.
        let staged = Error::file(path)(Code::FileWrite.at("p.tmp"));
        let shown = staged.of_target(Path::new("p.tmp"), path).to_string();
        assert!(shown.starts_with("p: "), "{shown}");
        let other = Error::Memory.of_target(path, path);
        assert!(matches!(other, Error::Memory));
    }
}
