//! User-defined prefilters and postfilters.

use super::active_callbacks::run_callback;
use super::origin::{CompressionOrigin, DecompressionOrigin};
use crate::types::flag::is_set;
use crate::types::params::{blosc2_postfilter_params, blosc2_prefilter_params};
use ferroblosc::chunk::{Postfilter, PostfilterCall, Prefilter, PrefilterCall, Refused};
use std::ffi::c_int;
use std::ptr::null;
use std::sync::Arc;

/// A prefilter; the origin holds its parameters.
pub struct CPrefilter {
    /// The callback.
    pub function: unsafe extern "C" fn(*mut blosc2_prefilter_params) -> c_int,
    /// The parameters that the context was created with.
    pub origin: Arc<CompressionOrigin>,
}

impl Prefilter for CPrefilter {
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused> {
        let own = self.origin.user.read().ok_or(Refused)?;
        let mut params = blosc2_prefilter_params {
            input: call.input.map_or(null(), <[u8]>::as_ptr),
            output: call.output.as_mut_ptr(),
            output_size: call.output.len() as i32,
            output_typesize: call.output_typesize,
            output_offset: call.output_offset as i32,
            nchunk: call.nchunk,
            nblock: call.nblock as i32,
            tid: call.tid as i32,
            ttmp: call.scratch.as_mut_ptr(),
            ttmp_nbytes: call.scratch.len(),
            ctx: CompressionOrigin::context_of(call.user_data),
            ..own
        };
        let schunk = self.origin.params.schunk;
        // SAFETY: the pointers are those of slices with the sizes passed; the program that set the
        // prefilter guarantees that it accesses nothing else.
        match run_callback(schunk, || unsafe { (self.function)(&mut params) }) {
            0 => Ok(()),
            _ => Err(Refused),
        }
    }

    fn output_typesize(&self) -> i32 {
        self.origin.user.read().map_or(0, |own| own.output_typesize.max(0))
    }

    fn is_disposable(&self) -> bool {
        self.origin.user.read().is_some_and(|own| is_set(own.output_is_disposable))
    }
}

/// A postfilter; the origin holds its parameters.
pub struct CPostfilter {
    /// The callback.
    pub function: unsafe extern "C" fn(*mut blosc2_postfilter_params) -> c_int,
    /// The parameters that the context was created with.
    pub origin: Arc<DecompressionOrigin>,
}

impl Postfilter for CPostfilter {
    fn apply(&self, call: &mut PostfilterCall<'_>) -> Result<(), Refused> {
        let own = self.origin.user.read().ok_or(Refused)?;
        let mut params = blosc2_postfilter_params {
            input: call.input.as_ptr(),
            output: call.output.as_mut_ptr(),
            size: call.output.len() as i32,
            typesize: call.typesize as i32,
            offset: call.offset as i32,
            nchunk: call.nchunk,
            nblock: call.nblock as i32,
            tid: call.tid as i32,
            ttmp: call.scratch.as_mut_ptr(),
            ttmp_nbytes: call.scratch.len(),
            ctx: DecompressionOrigin::context_of(call.user_data),
            ..own
        };
        let schunk = self.origin.params.schunk;
        // SAFETY: as in `CPrefilter::apply`.
        match run_callback(schunk, || unsafe { (self.function)(&mut params) }) {
            0 => Ok(()),
            _ => Err(Refused),
        }
    }
}
