//! Running a job on the threads of the backend, of the pool, or of the caller alone.

use super::{MAX_THREADS, backend, process};

/// Runs `job(tid)` on up to `nthreads` threads at once.
///
/// The caller is tid 0 and does its share itself; helpers have the tids 1, 2, … in the order in
/// which they begin. Each tid is below `nthreads` and is used at most once. Returns when no thread
/// is inside `job` any more.
///
/// **The job must be able to finish with tid 0 alone**: threads claim units of work from a common
/// counter instead of owning a fixed range, because helpers that have not begun when the first
/// share returns do not take part. (A share must return only when no work is left to begin.) Shares
/// must not wait for one another.
///
/// There are at most eight helpers per available core, and at most as many as the open runs need. A
/// larger `nthreads`, also above [`MAX_THREADS`], is accepted, and the job runs on fewer threads.
/// If a thread cannot be started, the run uses the existing ones. If 64 runs are open already,
/// which is rare, it uses the caller alone. Runs may be nested: a job may itself call `run`.
///
/// If a [`Backend`](super::Backend) is set, the backend runs the job instead.
///
/// # Panics
///
/// A panic in a share is caught, the other shares continue to their end, and the first panic is
/// resumed in the caller. If a job forks the process while helpers are inside it and continues in
/// the child, the run panics in the child, because the helpers and their shares do not exist there.
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
    match process::pool() {
        Some(pool) => pool.run(nthreads.min(MAX_THREADS), job),
        None => job(0),
    }
}

/// Ends all idle helper threads; busy helpers end when they become idle.
///
/// Does not wait for them. Later runs start new helpers.
pub fn release() {
    if let Some(pool) = process::existing_pool() {
        pool.shutdown_idle();
    }
}
