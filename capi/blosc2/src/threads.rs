//! Threads provided by the caller.

use crate::bridge::threads::CThreads;
use crate::types::threads::blosc_threads_callback;
use ferroblosc::pool::{self, Backend};
use ferroblosc_capi_common::boundary;
use std::ffi::c_void;
use std::sync::Arc;

/// Sets a callback that runs the parallel jobs of all contexts instead of the library's threads. It
/// must not be called while a context is in use.
///
/// - `callback`: the callback, or NULL to use the library's threads again.
/// - `callback_data`: the first argument of the callback, owned by the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_threads_callback(
    callback: blosc_threads_callback,
    callback_data: *mut c_void,
) {
    boundary!(blosc2_set_threads_callback, {
        let backend = CThreads::new(callback, callback_data);
        pool::set_backend(backend.map(|backend| Arc::new(backend) as Arc<dyn Backend>));
        Ok(())
    });
}
