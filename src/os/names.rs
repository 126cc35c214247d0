//! Names of temporary files.

use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a name for a temporary file, which no other call in this process returns.
pub(crate) fn unused_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    // Relaxed: the number must only be unique.
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!(".ferroblosc-{}-{number}", super::process::id())
}
