//! The worker pool that all contexts share.
//!
//! `run` spreads one job over threads. The caller is the first thread and never waits for a
//! helper that has not begun: it publishes the job, notifies at most two helpers (each notifies two
//! more when it begins, as long as shares are left), and then does its own share. When that
//! returns, no work is left to hand out, so the run is closed and only helpers *inside* the job are
//! waited for. A run on a machine without a free core therefore costs little more than the same
//! work on one thread.
//!
//! `os::thread` starts threads, and `os::futex` lets them wait. On systems without threads, the
//! caller is the only thread of a run.
//!
//! The pool is lock-free and created at the first use, for two reasons: callers never block each
//! other, and a forked child finds no lock that is held by a thread which does not exist there. For
//! the same reason the pool does not use `crossbeam`'s parker or `std`'s threads, which contain
//! locks.

// | file | contents |
// |---|---|
// | `run.rs` | running a job on the backend, the pool or the caller |
// | `slot.rs` | one run: its job, the shares left, the threads inside |
// | `helpers.rs` | the pool: helper threads and open runs |
// | `sync.rs` | the atomic types, which model checkers replace |
// | `gate.rs` | a lock for objects whose calls may run callbacks |
// | `boxes.rs` | a pointer through which threads pass one boxed value |
// | `bits.rs` | a set of small numbers shared by threads |
// | `panics.rs` | passing a panic from a helper to the caller |
// | `fork.rs` | the number of forks |
// | `process.rs` | the process-wide pool, and its replacement in a forked child |
// | `backend.rs` | user-provided threads that replace the pool's |
// | `shared_list.rs` | a list that is replaced by changes, for registries |

mod backend;
mod bits;
pub(crate) mod boxes;
mod fork;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod gate;
#[cfg(not(feature = "internals"))]
pub(crate) mod gate;
mod helpers;
mod panics;
mod process;
mod run;
mod shared_list;
mod slot;
pub(crate) mod sync;

use crate::os::{futex, thread};
pub use backend::{Backend, set_backend};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use internals::*;
#[cfg(not(feature = "internals"))]
pub(crate) use internals::*;

/// The largest number of threads of a run.
pub const MAX_THREADS: usize = 32767;

/// What the C libraries and `ferroblosc-formats` use in addition.
mod internals {
    pub use super::run::{release, run};
    pub use super::shared_list::SharedList;
}

#[cfg(test)]
mod tests;
