//! Threads provided by the caller.

use std::ffi::{c_int, c_void};

/// Calls `dojob(jobdata + i * jobdata_elsize)` once for each i below `numjobs`, in any threads and
/// order, and returns after all calls have returned.
pub type blosc_threads_callback = Option<
    unsafe extern "C" fn(
        callback_data: *mut c_void,
        dojob: Option<unsafe extern "C" fn(job: *mut c_void)>,
        numjobs: c_int,
        jobdata_elsize: usize,
        jobdata: *mut c_void,
    ),
>;
