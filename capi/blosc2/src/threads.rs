//! Threads that the caller provides.

use crate::bridge::threads::CThreads;
use crate::types::threads::blosc_threads_callback;
use ferroblosc::pool::{self, Backend};
use ferroblosc_capi_common::boundary;
use std::ffi::c_void;
use std::sync::Arc;

/// Makes all contexts run their parallel work through a callback instead of the threads of the
/// library; NULL goes back to those. To be called while no context is at work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_threads_callback(
    callback: blosc_threads_callback,
    callback_data: *mut c_void,
) {
    boundary!(blosc2_set_threads_callback, {
        let backend = CThreads::new(callback, callback_data);
        pool::set_backend(backend.map(|backend| Arc::new(backend) as Arc<dyn Backend>));
        Ok(())
    })
}
