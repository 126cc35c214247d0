//! The functions of the operating system and of its C library that the C libraries use.
//!
//! | module | systems |
//! |---|---|
//! | `unix` | Linux; other systems with the functions of POSIX |
//! | `windows` | Windows, with the Universal C Runtime |
//!
//! Both have these modules. Files, mappings and threads are in the core's `os`.
//!
//! | module | functions |
//! |---|---|
//! | `clock` | timestamps of a monotonic clock |
//! | `errno` | the error number of the thread |
//! | `fork` | functions that are called before and after a fork |
//! | `library` | shared libraries that are loaded at run time |
//! | `objects` | the shared libraries of the process |
//! | `path` | paths as C strings |
//! | `shell` | the output of a command |
//! | `slot` | a pointer for each thread, which is freed when the thread exits |
//! | `stdio` | files of the C library |

mod object;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use object::Object;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;
