//! Messages on standard error about refused calls, for people who set `BLOSC_WARN` to a number above 0.

use std::fmt;

use crate::chunk::environment;

/// Writes a message, if somebody wants it.
pub(super) fn warn(text: fmt::Arguments<'_>) {
    use std::io::Write;
    if environment::number("BLOSC_WARN").is_some_and(|level| level > 0) {
        // A message that cannot be written is dropped: it never makes a call fail.
        let _deferred = crate::cancellation::defer();
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}
