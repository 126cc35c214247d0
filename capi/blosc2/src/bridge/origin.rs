//! The parameters that a context was created with, as C structs for the callbacks of the program.

use crate::defaults;
use crate::types::context::blosc2_context;
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

/// The parameters that a context was created with.
pub struct Origin<P, U> {
    /// The parameters after the environment variables were applied; their pointer to user
    /// parameters is that of `user`.
    pub params: P,
    /// The context's copy of the parameters of the prefilter or postfilter.
    pub user: OwnCopy<U>,
    /// The context; NULL during its construction.
    context: AtomicPtr<blosc2_context>,
}

/// The origin of a context for compression.
pub type CompressionOrigin = Origin<blosc2_cparams, blosc2_prefilter_params>;
/// The origin of a context for decompression.
pub type DecompressionOrigin = Origin<blosc2_dparams, blosc2_postfilter_params>;

// SAFETY: the pointers in the C structs belong to the program, which allows their use
// by callbacks in any thread. The library itself reads only `user`, which the program must not
// change during a call.
unsafe impl Send for CompressionOrigin {}
// SAFETY: as above; `context` is atomic.
unsafe impl Sync for CompressionOrigin {}
// SAFETY: as for compression.
unsafe impl Send for DecompressionOrigin {}
// SAFETY: as for compression.
unsafe impl Sync for DecompressionOrigin {}

impl<P: 'static, U: 'static> Origin<P, U> {
    /// Returns the origin of a context that does not exist yet.
    pub fn new(params: P, user: OwnCopy<U>) -> Origin<P, U> {
        Origin { params, user, context: AtomicPtr::new(null_mut()) }
    }

    /// Sets the context, before other threads know it.
    pub fn set_context(&self, context: *mut blosc2_context) {
        // Relaxed: other threads receive the context from this one, which synchronises.
        self.context.store(context, Ordering::Relaxed);
    }

    /// Returns the context, for callbacks.
    pub fn context(&self) -> *mut blosc2_context {
        // Relaxed: as above.
        self.context.load(Ordering::Relaxed)
    }

    /// Returns the origin in user data; `None` for a call without context.
    fn in_data(user_data: Option<&UserData>) -> Option<&Origin<P, U>> {
        user_data?.downcast_ref()
    }

    /// Returns the context of user data, or NULL.
    pub fn context_of(user_data: Option<&UserData>) -> *mut blosc2_context {
        Self::in_data(user_data).map_or(null_mut(), Origin::context)
    }
}

impl CompressionOrigin {
    /// Returns the parameters that a callback receives; the defaults for a call without context.
    pub fn snapshot(ctx: &CallContext<'_>) -> blosc2_cparams {
        blosc2_cparams {
            typesize: ctx.typesize as i32,
            blocksize: ctx.blocksize as i32,
            ..Self::in_data(ctx.user_data).map_or(defaults::CPARAMS, |origin| origin.params)
        }
    }
}

impl DecompressionOrigin {
    /// Returns the parameters that a callback receives; the defaults for a call without context.
    pub fn snapshot(ctx: &CallContext<'_>) -> blosc2_dparams {
        blosc2_dparams {
            typesize: ctx.typesize as i32,
            ..Self::in_data(ctx.user_data).map_or(defaults::DPARAMS, |origin| origin.params)
        }
    }
}
