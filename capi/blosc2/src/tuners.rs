//! Registration of tuners.

use crate::bridge::tuner::register;
use crate::types::plugins::blosc2_tuner;
use ferroblosc::Error;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::c_int;

/// Registers a tuner for the contexts created afterwards. Registering the same id and name again
/// has no effect.
///
/// - `tuner`: the tuner. The struct is copied; the name is not and must outlive the library.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_FAILURE if the id is below
/// BLOSC2_USER_REGISTERED_TUNER_START or registered with another name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_tuner(tuner: *mut blosc2_tuner) -> c_int {
    boundary!(blosc2_register_tuner, {
        // SAFETY: the caller passes a valid struct or NULL.
        let tuner = unsafe { pointers::reference(tuner) }?;
        if tuner.name.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: not NULL; the caller guarantees a NUL-terminated name.
        unsafe { register(*tuner) }?;
        Ok(0)
    })
}
