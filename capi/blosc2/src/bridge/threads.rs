//! Threads of the user's.

use crate::types::threads::blosc_threads_callback;
use ferroblosc::cancellation;
use ferroblosc::pool::Backend;
use std::ffi::{c_int, c_void};

/// The function that runs jobs in threads of the user's.
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

// SAFETY: the user allows the library to pass `data` to the callback from any thread.
unsafe impl Send for CThreads {}
// SAFETY: as above; the library does not look at `data`.
unsafe impl Sync for CThreads {}

impl CThreads {
    /// The backend over a callback; none for NULL.
    pub fn new(callback: blosc_threads_callback, data: *mut c_void) -> Option<CThreads> {
        callback.map(|callback| CThreads { callback, data })
    }
}

/// One job, as `dojob` finds it behind the pointer it gets.
struct Job<'a> {
    job: &'a (dyn Fn(usize) + Sync),
    index: usize,
}

/// Runs the job at `job`; the core promises that jobs don't panic.
unsafe extern "C" fn dojob(job: *mut c_void) {
    // SAFETY: `run` gives the callback pointers to jobs, and outlives them.
    let Job { job, index } = unsafe { &*job.cast::<Job<'_>>() };
    // The thread is the program's, which may cancel it.
    let _deferred = cancellation::defer();
    job(*index);
}

impl Backend for CThreads {
    fn run(&self, njobs: usize, job: &(dyn Fn(usize) + Sync)) {
        let mut jobs: Vec<Job<'_>> = (0..njobs).map(|index| Job { job, index }).collect();
        let _deferred = cancellation::defer();
        // SAFETY: the array has `njobs` elements of the size told, and lives until the callback,
        // which runs each of them before, comes back.
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
