//! The operating system: functions that differ between systems.
//!
//! | module | systems |
//! |---|---|
//! | `unix` | Linux; other systems with the functions of POSIX |
//! | `windows` | Windows |
//! | `none` | no operating system (`wasm32-unknown-unknown`): one thread and no files |
//!
//! Other code contains no `cfg` for systems, except the tests. Each module has the functions that
//! are listed below; a further system is a further module with these functions.
//!
//! | module | functions |
//! |---|---|
//! | `files` | opening, positions, attributes, permissions, renaming and locks of files |
//! | `futex` | waiting until a word changes |
//! | `mapping` | files mapped into memory (feature `mmap`; not in `none`) |
//! | `memory` | the allocator of the buffers that C programs own |
//! | `process` | process ids, forks, the clock, the environment |
//! | `thread` | starting a thread, disabling its cancellation |

#[cfg(feature = "mmap")]
mod access;
#[cfg(any(unix, windows))]
pub(crate) mod memory;
#[cfg(not(any(unix, windows)))]
mod none;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(feature = "mmap")]
pub use access::Access;
#[cfg(not(any(unix, windows)))]
pub(crate) use none::{files, futex, memory, process, thread};
#[cfg(all(unix, feature = "mmap"))]
pub(crate) use unix::mapping;
#[cfg(unix)]
pub(crate) use unix::{files, futex, process, thread};
#[cfg(all(windows, feature = "mmap"))]
pub(crate) use windows::mapping;
#[cfg(windows)]
pub(crate) use windows::{files, futex, process, thread};
