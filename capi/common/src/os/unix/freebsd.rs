//! FreeBSD.

// Only Linux needs more.
#[doc(hidden)]
#[macro_export]
macro_rules! without_thread_atexit {
    () => {};
}

pub use super::elf::loaded;
pub(super) use libc::{__error as errno_location, fopen, fseeko, ftello};
