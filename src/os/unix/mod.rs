//! Systems with the functions of POSIX.

pub(crate) mod files;
pub(crate) mod futex;
pub(crate) mod memory;
pub(crate) mod process;
pub(crate) mod thread;
