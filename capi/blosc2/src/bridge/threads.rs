//! User-defined thread backends.

use crate::types::threads::blosc_threads_callback;
use ferroblosc::cancellation;
use ferroblosc::pool::Backend;
use std::ffi::{c_int, c_void};

/// A callback that runs jobs in threads of the program.
pub struct CThreads {
    callback: unsafe extern "C" fn(
        *mut c_void,
        Option<unsafe extern "C" fn(*mut c_void)>,
        c_int,
        usize,
        *mut c_void,
    ),
    data: *mut c_void,
}

// SAFETY: the program allows calls of the callback with `data` from any thread.
unsafe impl Send for CThreads {}
// SAFETY: as above; the library does not access the memory at `data`.
unsafe impl Sync for CThreads {}

impl CThreads {
    /// Returns the backend of a callback; `None` for NULL.
    pub fn new(callback: blosc_threads_callback, data: *mut c_void) -> Option<CThreads> {
        callback.map(|callback| CThreads { callback, data })
    }
}

/// A job, as the argument of [`dojob`].
struct Job<'a> {
    job: &'a (dyn Fn(usize) + Sync),
    index: usize,
}

/// Runs the job at `job`. The core guarantees that jobs do not panic.
unsafe extern "C" fn dojob(job: *mut c_void) {
    // SAFETY: `run` passes pointers to its jobs to the callback, and returns after all of them.
    let Job { job, index } = unsafe { &*job.cast::<Job<'_>>() };
    // The thread belongs to the program, which may cancel it.
    let _deferred = cancellation::defer();
    job(*index);
}

impl Backend for CThreads {
    fn run(&self, njobs: usize, job: &(dyn Fn(usize) + Sync)) {
        let mut jobs: Vec<Job<'_>> = (0..njobs).map(|index| Job { job, index }).collect();
        let _deferred = cancellation::defer();
        // SAFETY: the array has `njobs` elements of the size passed. It is valid until the callback
        // returns, and the callback returns after all jobs.
        unsafe {
            (self.callback)(
                self.data,
                Some(dojob),
                njobs as c_int,
                size_of::<Job<'_>>(),
                jobs.as_mut_ptr().cast(),
            );
        }
    }
}
