//! The operating system: functions that differ between systems.
//!
//! | module | systems |
//! |---|---|
//! | `unix` | Linux; other systems with the functions of POSIX |
//! | `none` | no operating system (`wasm32-unknown-unknown`): one thread and no files |
//!
//! Other code contains no `cfg` for systems, except the tests, and the mapped files of the feature
//! `mmap`, which needs `unix`. Each module has the functions that are listed below; a further system
//! is a further module with these functions.
//!
//! | module | functions |
//! |---|---|
//! | `files` | opening, positions, attributes, permissions and locks of files |
//! | `futex` | waiting until a word changes |
//! | `memory` | the allocator of the buffers that C programs own |
//! | `process` | process ids, forks, the clock, the environment |
//! | `thread` | starting a thread, disabling its cancellation |

#[cfg(not(unix))]
mod none;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use none::{files, futex, memory, process, thread};
#[cfg(unix)]
pub(crate) use unix::{files, futex, memory, process, thread};
