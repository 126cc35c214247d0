//! The parameters that a context was created with, as C structs for the callbacks of the program.

use crate::context::blosc2_context;
use crate::defaults;
use crate::types::params::{
    blosc2_cparams, blosc2_dparams, blosc2_postfilter_params, blosc2_prefilter_params,
};
use ferroblosc::{CallContext, UserData};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A context's copy of user parameters, at a stable address.
///
/// The program may change the copy between calls (through `blosc2_ctx_get_cparams`), so it is only
/// read as a whole, when a callback runs.
pub struct OwnCopy<T>(*mut T);

impl<T: Copy> OwnCopy<T> {
    /// Copies the struct at `original`; NULL stays NULL.
    ///
    /// # Safety
    /// `original` is NULL or points to a valid `T`.
    pub unsafe fn of(original: *const T) -> OwnCopy<T> {
        // SAFETY: the caller guarantees a valid `T` or NULL.
        let original = unsafe { original.as_ref() };
        OwnCopy(original.map_or(null_mut(), |value| Box::into_raw(Box::new(*value))))
    }

    /// Returns the address of the copy, or NULL.
    pub fn as_ptr(&self) -> *mut T {
        self.0
    }

    /// Returns the current value.
    pub fn read(&self) -> Option<T> {
        // SAFETY: NULL or the pointer of the box made in `of`, which lives as long as `self`.
        (!self.0.is_null()).then(|| unsafe { self.0.read() })
    }
}

impl<T> Drop for OwnCopy<T> {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the pointer came from `Box::into_raw` and is dropped once.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

/// The parameters that a compression context was created with.
pub struct CompressionOrigin {
    /// The parameters after the environment variables were applied; `preparams` points to the
    /// context's copy.
    pub cparams: blosc2_cparams,
    /// The context's copy of the prefilter parameters.
    pub preparams: OwnCopy<blosc2_prefilter_params>,
    /// The context; NULL during its construction.
    pub context: AtomicPtr<blosc2_context>,
}

// SAFETY: the pointers belong to the program, which allows their use by callbacks in any thread.
// The library itself reads only `preparams`, which the program must not change during a call.
unsafe impl Send for CompressionOrigin {}
// SAFETY: as above; `context` is atomic.
unsafe impl Sync for CompressionOrigin {}

impl CompressionOrigin {
    /// Returns the context, for callbacks.
    pub fn context(&self) -> *mut blosc2_context {
        // Relaxed: stored before the context is shared with other threads.
        self.context.load(Ordering::Relaxed)
    }

    /// Returns the parameters that a callback receives; the defaults for a call without context.
    pub fn snapshot(ctx: &CallContext<'_>) -> blosc2_cparams {
        let origin = ctx
            .user_data
            .and_then(|user_data| user_data.downcast_ref::<CompressionOrigin>());
        blosc2_cparams {
            typesize: ctx.typesize as i32,
            blocksize: ctx.blocksize as i32,
            ..origin.map_or(defaults::CPARAMS, |origin| origin.cparams)
        }
    }

    /// Returns the context of user data, or NULL.
    pub fn context_of(user_data: Option<&UserData>) -> *mut blosc2_context {
        let origin = user_data.and_then(|user_data| user_data.downcast_ref::<CompressionOrigin>());
        origin.map_or(null_mut(), CompressionOrigin::context)
    }
}

/// The parameters that a decompression context was created with.
pub struct DecompressionOrigin {
    /// The parameters after the environment variables were applied; `postparams` points to the
    /// context's copy.
    pub dparams: blosc2_dparams,
    /// The context's copy of the postfilter parameters.
    pub postparams: OwnCopy<blosc2_postfilter_params>,
    /// The context; NULL during its construction.
    pub context: AtomicPtr<blosc2_context>,
}

// SAFETY: as for `CompressionOrigin`.
unsafe impl Send for DecompressionOrigin {}
// SAFETY: as for `CompressionOrigin`.
unsafe impl Sync for DecompressionOrigin {}

impl DecompressionOrigin {
    /// Returns the context, for callbacks.
    pub fn context(&self) -> *mut blosc2_context {
        // Relaxed: stored before the context is shared with other threads.
        self.context.load(Ordering::Relaxed)
    }

    /// Returns the parameters that a callback receives; the defaults for a call without context.
    pub fn snapshot(ctx: &CallContext<'_>) -> blosc2_dparams {
        let origin = ctx
            .user_data
            .and_then(|user_data| user_data.downcast_ref::<DecompressionOrigin>());
        blosc2_dparams {
            typesize: ctx.typesize as i32,
            ..origin.map_or(defaults::DPARAMS, |origin| origin.dparams)
        }
    }

    /// Returns the context of user data, or NULL.
    pub fn context_of(user_data: Option<&UserData>) -> *mut blosc2_context {
        let origin =
            user_data.and_then(|user_data| user_data.downcast_ref::<DecompressionOrigin>());
        origin.map_or(null_mut(), DecompressionOrigin::context)
    }
}
