//! Messages for people, on standard error, under `BLOSC_TRACE` and `BLOSC_INFO`.
//!
//! The library never prints otherwise. A line is `[error] - text (file:line)`, the layout users of
//! C-Blosc2 know; `BLOSC_INFO` adds `[INFO] - …` lines about the parameters of each compression and about
//! mapped files.
//!
//! ```
//! // With BLOSC_TRACE set: [warning] - 3 blocks are missing (src/main.rs:2)
//! ferroblosc::trace_warning!("{} blocks are missing", 3);
//! ```

use std::fmt;

use crate::cancellation;
use crate::chunk::environment::variable;

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The call fails.
    Error,
    /// The call goes on, but not as asked.
    Warning,
    /// Worth knowing.
    Info,
}

/// Whether `BLOSC_TRACE` is set (to anything).
pub fn enabled() -> bool {
    variable("BLOSC_TRACE").is_some()
}

#[doc(hidden)]
pub fn write(severity: Severity, file: &str, line: u32, text: fmt::Arguments<'_>) {
    use std::io::Write;
    let name = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    // A message that cannot be written is dropped: tracing never makes a call fail.
    // The text may name things by what a file says.
    let text = text.to_string();
    let text = crate::escape::escape(&text);
    let _deferred = cancellation::defer();
    let _ = writeln!(std::io::stderr(), "[{name}] - {text} ({file}:{line})");
}

/// Whether `BLOSC_INFO` is set (to anything).
pub(crate) fn informs() -> bool {
    variable("BLOSC_INFO").is_some()
}

/// Writes a line that `BLOSC_INFO` asks for, if it is set.
#[doc(hidden)]
pub fn inform(text: fmt::Arguments<'_>) {
    use std::io::Write;
    if informs() {
        let _deferred = cancellation::defer();
        let _ = writeln!(std::io::stderr(), "[INFO] - {text}");
    }
}

/// Writes an error message when tracing is on.
#[macro_export]
macro_rules! trace_error {
    ($($arg:tt)*) => {
        if $crate::trace::enabled() {
            $crate::trace::write($crate::trace::Severity::Error, file!(), line!(), format_args!($($arg)*));
        }
    };
}

/// Writes a warning when tracing is on.
#[macro_export]
macro_rules! trace_warning {
    ($($arg:tt)*) => {
        if $crate::trace::enabled() {
            $crate::trace::write($crate::trace::Severity::Warning, file!(), line!(), format_args!($($arg)*));
        }
    };
}
