//! Messages on standard error about rejected calls, enabled by setting `BLOSC_WARN` to a positive
//! number.

use std::fmt;

use crate::environment::Variables;

/// Writes a message if enabled.
pub(super) fn warn(text: fmt::Arguments<'_>) {
    use std::io::Write;
    if Variables::scan().number("BLOSC_WARN").is_some_and(|level| level > 0) {
        // A write error is ignored, so that it never fails a call.
        let _deferred = crate::cancellation::defer();
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}
