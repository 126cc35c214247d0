//! Systems with the functions of POSIX.

pub mod files;
pub(crate) mod futex;
#[cfg(feature = "mmap")]
pub(crate) mod mapping;
pub(crate) mod process;
pub(crate) mod thread;
