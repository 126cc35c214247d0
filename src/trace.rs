//! Diagnostics on standard error, enabled by `BLOSC_TRACE` and `BLOSC_INFO`.
//!
//! The library prints nothing else. A line is `[error] - text (file:line)`, the format of C-Blosc2;
//! `BLOSC_INFO` adds `[INFO] - …` lines about the parameters of each compression and about
//! memory-mapped files.
//!
//! ```
//! // With BLOSC_TRACE set: [warning] - 3 blocks are missing (src/main.rs:2)
//! ferroblosc::trace_warning!("{} blocks are missing", 3);
//! ```

use std::fmt;

use crate::cancellation;
use crate::environment::Variables;

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The call fails.
    Error,
    /// The call continues, but not as requested.
    Warning,
    /// A normal event.
    Info,
}

/// Whether `BLOSC_TRACE` is set, to any value.
pub fn enabled() -> bool {
    Variables::scan().is_set("BLOSC_TRACE")
}

#[doc(hidden)]
pub fn write(severity: Severity, file: &str, line: u32, text: fmt::Arguments<'_>) {
    let name = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    print(format_args!("[{name}]"), text, format_args!(" ({file}:{line})"));
}

/// Writes a line to the standard error stream, with `text` escaped: it may contain names from
/// files. A write error is ignored, so that tracing never fails a call.
fn print(label: fmt::Arguments<'_>, text: fmt::Arguments<'_>, end: fmt::Arguments<'_>) {
    use std::io::Write;
    let text = text.to_string();
    let text = crate::escape::escape(&text);
    let _deferred = cancellation::defer();
    let _ = writeln!(std::io::stderr(), "{label} - {text}{end}");
}

/// Whether `BLOSC_INFO` is set, to any value.
pub(crate) fn info_enabled() -> bool {
    Variables::scan().is_set("BLOSC_INFO")
}

/// Writes an information line if `BLOSC_INFO` is set.
#[doc(hidden)]
pub fn write_info(text: fmt::Arguments<'_>) {
    if info_enabled() {
        print(format_args!("[INFO]"), text, format_args!(""));
    }
}

/// Writes an error message if tracing is enabled.
#[macro_export]
macro_rules! trace_error {
    ($($arg:tt)*) => {
        if $crate::trace::enabled() {
            $crate::trace::write($crate::trace::Severity::Error, file!(), line!(), format_args!($($arg)*));
        }
    };
}

/// Writes a warning if tracing is enabled.
#[macro_export]
macro_rules! trace_warning {
    ($($arg:tt)*) => {
        if $crate::trace::enabled() {
            $crate::trace::write($crate::trace::Severity::Warning, file!(), line!(), format_args!($($arg)*));
        }
    };
}
