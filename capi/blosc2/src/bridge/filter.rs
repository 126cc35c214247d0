//! User-registered filters.

use super::active_callbacks::run_callback;
use super::origin::{CompressionOrigin, DecompressionOrigin};
use crate::types::plugins::{blosc2_filter_backward_cb, blosc2_filter_forward_cb};
use ferroblosc::filter::{Filter, FilterCall};
use ferroblosc::{Error, Result};
use std::ffi::c_int;

/// The functions of a registered filter.
pub struct CFilter {
    /// The function that compression calls, if any.
    pub forward: blosc2_filter_forward_cb,
    /// The function that decompression calls, if any.
    pub backward: blosc2_filter_backward_cb,
}

impl Filter for CFilter {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let forward = self.forward.ok_or(Error::FilterPipeline)?;
        let mut cparams = CompressionOrigin::snapshot(&call.ctx);
        // SAFETY: both slices have the length passed; `cparams` outlives the call; the program that
        // registered the filter guarantees that it accesses nothing else.
        let status = run_callback(cparams.schunk, || unsafe {
            forward(
                src.as_ptr(),
                dest.as_mut_ptr(),
                src.len() as i32,
                call.meta,
                &mut cparams,
                call.id,
            )
        });
        check_status(status)
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        let backward = self.backward.ok_or(Error::FilterPipeline)?;
        let mut dparams = DecompressionOrigin::snapshot(&call.ctx);
        // SAFETY: as in `forward`.
        let status = run_callback(dparams.schunk, || unsafe {
            backward(
                src.as_ptr(),
                dest.as_mut_ptr(),
                src.len() as i32,
                call.meta,
                &mut dparams,
                call.id,
            )
        });
        check_status(status)
    }
}

/// Converts the result of a filter: 0 for success, anything else for an error. Positive values are
/// errors without a code.
fn check_status(status: c_int) -> Result<()> {
    match status {
        0 => Ok(()),
        1.. => Err(Error::FilterPipeline),
        code => Err(Error::from_code(code)),
    }
}
