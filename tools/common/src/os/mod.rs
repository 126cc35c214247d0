//! The functions of the operating system that the programs use.
//!
//! | module | systems |
//! |---|---|
//! | `unix` | Linux; other systems with the functions of POSIX |
//! | `windows` | Windows |
//!
//! Both have these functions. Positions, identities and renaming of files are in the core's `os`.

mod special;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use special::Special;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;
