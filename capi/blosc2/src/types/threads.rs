//! Threads provided by the caller.

use std::ffi::{c_int, c_void};

/// Calls `dojob(jobdata + i * jobdata_elsize)` once for each i below `numjobs`, in any threads and
/// order, and returns after all calls have returned.
///
/// - `callback_data`: the pointer passed to blosc2_set_threads_callback().
/// - `dojob`: the function that runs a job.
/// - `numjobs`: the number of jobs.
/// - `jobdata_elsize`: the size of an element of `jobdata` in bytes.
/// - `jobdata`: an array of `numjobs` elements, valid until the callback returns.
pub type blosc_threads_callback = Option<
    unsafe extern "C" fn(
        callback_data: *mut c_void,
        dojob: Option<unsafe extern "C" fn(job: *mut c_void)>,
        numjobs: c_int,
        jobdata_elsize: usize,
        jobdata: *mut c_void,
    ),
>;
