//! User-registered tuners.

use super::origin::CompressionOrigin;
use super::serving::run_callback;
use crate::tuners;
use ferroblosc::chunk::{Tuner, TunerCall};
use ferroblosc::{Error, Result};
use std::ffi::c_int;
use std::sync::Arc;

/// A registered tuner of a context.
pub struct CTuner {
    /// The id of the tuner. The tuner is looked up at each call, since it may have been removed.
    pub id: c_int,
    /// The parameters that the context was created with.
    pub origin: Arc<CompressionOrigin>,
}

impl Tuner for CTuner {
    fn next_blocksize(&self, _: &TunerCall) -> Result<Option<usize>> {
        let tuner = tuners::registered(self.id).ok_or(Error::InvalidParam)?;
        let next_blocksize = tuner.next_blocksize.ok_or(Error::Tuner)?;
        let schunk = self.origin.cparams.schunk;
        // SAFETY: the context exists while it compresses; the program that registered the tuner
        // guarantees that its functions accept any context.
        match run_callback(schunk, || unsafe { next_blocksize(self.origin.context()) }) {
            // A tuner cannot set the block size of an opaque context, so the library chooses it.
            0.. => Ok(None),
            _ => Err(Error::Tuner),
        }
    }
}
