//! Floor 1: the worker pool, the threads that all contexts share.
//!
//! [`run`] spreads one job over threads. The caller is the first of them and never waits for a
//! helper that has not begun: it publishes the job, rings for at most two helpers (each of which
//! rings for two more when it begins, as long as shares are left), and then does its own share. When
//! that returns there is nothing left to hand out, so the run is closed and only helpers that are
//! *inside* the job are waited for. A run on a machine without a free core therefore costs little
//! more than the same work on one thread.
//!
//! | file | what |
//! |---|---|
//! | `slot.rs` | one run: its job, the shares left, the threads inside |
//! | `pool.rs` | the helpers and the board of open runs |
//! | `worker.rs` | what a helper does with its life |
//! | `thread.rs` | starting an operating-system thread |
//! | `futex.rs` | sleeping and waking |
//! | `gate.rs` | a lock of objects whose calls may run code of the program |
//! | `bits.rs` | a set of small numbers that threads share |
//! | `panics.rs` | carrying a panic from a helper to the caller |
//! | `fork.rs` | where the crew is kept, and how a forked child gets a new one |
//! | `backend.rs` | a user's threads instead of ours |
//!
//! Everything is lock-free, and built at the first use, for two reasons: callers never block each
//! other, and a child forked while some thread was in the middle of anything here finds no lock that
//! is held by a thread which does not exist. The same reason rules out `crossbeam`'s parker and
//! `std`'s way of starting threads, which have locks inside.

mod backend;
mod bits;
mod fork;
mod futex;
pub mod gate;
mod helpers;
mod panics;
mod slot;
mod thread;
mod worker;

pub use backend::{Backend, set_backend};

/// Most threads a run can ask for.
pub const MAX_THREADS: usize = 32767;

/// Runs `job(tid)` on up to `nthreads` threads at once.
///
/// The caller is tid 0 and does its share itself; helpers get the tids 1, 2, … in the order in which
/// they begin, each tid below `nthreads` and entered at most once. Returns when no thread is inside
/// `job` any more.
///
/// **The job must be able to finish with tid 0 alone**: threads claim pieces of work from a common
/// counter rather than owning a fixed part, because helpers that have not begun by the time the
/// first share returns are called off. (A share that returns, whichever it is, says that nothing is
/// left to begin with.) Shares must not wait for one another.
///
/// There are never more than eight helpers per available core, nor more than the open runs asked
/// for; `nthreads` above that (or above [`MAX_THREADS`]) is accepted and runs on fewer. When a thread
/// cannot be started, and in the rare case that 64 runs are open at the same time, the run goes on
/// with the threads there are, or with the caller alone. Runs may be nested: a job may itself call
/// `run`.
///
/// With a [`Backend`] set, the backend runs the job instead.
///
/// # Panics
///
/// A panic in a share is caught, the other shares go on to their end, and the first panic is resumed
/// in the caller. A job that forks the process while helpers are inside it and then goes on in the
/// child panics there, because their shares are lost to the child.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let next = AtomicUsize::new(0);
/// let squares: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
/// ferroblosc::pool::run(4, &|_tid| {
///     loop {
///         let index = next.fetch_add(1, Ordering::Relaxed);
///         let Some(square) = squares.get(index) else { break };
///         square.store(index * index, Ordering::Relaxed);
///     }
/// });
/// assert_eq!(squares[9].load(Ordering::Relaxed), 81);
/// ```
pub fn run(nthreads: usize, job: &(dyn Fn(usize) + Sync)) {
    if nthreads <= 1 {
        return job(0);
    }
    if let Some(backend) = backend::current() {
        return backend::run_on(&*backend, nthreads.min(MAX_THREADS), job);
    }
    match fork::pool() {
        Some(pool) => pool.run(nthreads.min(MAX_THREADS), job),
        None => job(0),
    }
}

/// Lets all idle helper threads end; helpers at work end after it.
///
/// Does not wait for them. Later runs start helpers anew.
pub fn release() {
    if let Some(pool) = fork::existing_pool() {
        pool.shutdown_idle();
    }
}

#[cfg(test)]
mod tests;
