//! A tuner of the user's.

use super::origin::CompressionOrigin;
use super::serving::serve;
use crate::tuners;
use ferroblosc::chunk::{Tuner, TunerCall};
use ferroblosc::{Error, Result};
use std::ffi::c_int;
use std::sync::Arc;

/// A registered tuner in use by a context.
pub struct CTuner {
    /// Its id; what it stands for is looked up at each call, as it may be gone.
    pub id: c_int,
    /// What the context was created with.
    pub origin: Arc<CompressionOrigin>,
}

impl Tuner for CTuner {
    fn next_blocksize(&self, _: &TunerCall) -> Result<Option<usize>> {
        let tuner = tuners::registered(self.id).ok_or(Error::InvalidParam)?;
        let next_blocksize = tuner.next_blocksize.ok_or(Error::Tuner)?;
        // SAFETY: the context exists while it compresses; whoever registered the tuner promised
        // that its functions take any context.
        let schunk = self.origin.cparams.schunk;
        match serve(schunk, || unsafe { next_blocksize(self.origin.context()) }) {
            // A tuner has no means of setting a block size in an opaque context: the library does.
            0.. => Ok(None),
            _ => Err(Error::Tuner),
        }
    }
}
