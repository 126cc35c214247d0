//! What a context was created with, in C's terms, for the callbacks of its user.

use crate::context::blosc2_context;
use crate::defaults;
use crate::types::params::{
    blosc2_cparams, blosc2_dparams, blosc2_postfilter_params, blosc2_prefilter_params,
};
use ferroblosc::{CallContext, UserData};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Parameters of the user that the context has a copy of, at an address that stays.
///
/// The user may get at the copy (through `blosc2_ctx_get_cparams`) and change it between calls, so
/// it is only ever read as a whole, at the time of a callback.
pub struct OwnCopy<T>(*mut T);

impl<T: Copy> OwnCopy<T> {
    /// A copy of what `original` points to; NULL stays NULL.
    ///
    /// # Safety
    /// `original` is NULL or points to a valid `T`.
    pub unsafe fn of(original: *const T) -> OwnCopy<T> {
        // SAFETY: the caller promises a valid `T` or NULL.
        let original = unsafe { original.as_ref() };
        OwnCopy(original.map_or(null_mut(), |value| Box::into_raw(Box::new(*value))))
    }

    /// Where the copy is, or NULL.
    pub fn as_ptr(&self) -> *mut T {
        self.0
    }

    /// The value of now.
    pub fn read(&self) -> Option<T> {
        // SAFETY: NULL or the box of `of`, which lives as long as `self`.
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

/// What a compression context was created with.
pub struct CompressionOrigin {
    /// The parameters, as the environment left them; `preparams` points to the context's copy.
    pub cparams: blosc2_cparams,
    /// The context's copy of the parameters of the prefilter.
    pub preparams: OwnCopy<blosc2_prefilter_params>,
    /// The context; NULL until it exists.
    pub context: AtomicPtr<blosc2_context>,
}

// SAFETY: the pointers inside are the user's, who allows workers to hand them to callbacks in any
// thread; the library itself reads only `preparams`, which nobody may change during a call.
unsafe impl Send for CompressionOrigin {}
// SAFETY: as above; `context` is atomic.
unsafe impl Sync for CompressionOrigin {}

impl CompressionOrigin {
    /// The context, for callbacks.
    pub fn context(&self) -> *mut blosc2_context {
        // Relaxed: stored before the context is given to anybody.
        self.context.load(Ordering::Relaxed)
    }

    /// The parameters of a call, as a callback gets to see them; the defaults when the call has
    /// none.
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

    /// The context behind a token, or NULL.
    pub fn context_of(user_data: Option<&UserData>) -> *mut blosc2_context {
        let origin = user_data.and_then(|user_data| user_data.downcast_ref::<CompressionOrigin>());
        origin.map_or(null_mut(), CompressionOrigin::context)
    }
}

/// What a decompression context was created with.
pub struct DecompressionOrigin {
    /// The parameters, as the environment left them; `postparams` points to the context's copy.
    pub dparams: blosc2_dparams,
    /// The context's copy of the parameters of the postfilter.
    pub postparams: OwnCopy<blosc2_postfilter_params>,
    /// The context; NULL until it exists.
    pub context: AtomicPtr<blosc2_context>,
}

// SAFETY: as for `CompressionOrigin`.
unsafe impl Send for DecompressionOrigin {}
// SAFETY: as for `CompressionOrigin`.
unsafe impl Sync for DecompressionOrigin {}

impl DecompressionOrigin {
    /// The context, for callbacks.
    pub fn context(&self) -> *mut blosc2_context {
        // Relaxed: stored before the context is given to anybody.
        self.context.load(Ordering::Relaxed)
    }

    /// The parameters of a call, as a callback gets to see them; the defaults when the call has
    /// none.
    pub fn snapshot(ctx: &CallContext<'_>) -> blosc2_dparams {
        let origin = ctx
            .user_data
            .and_then(|user_data| user_data.downcast_ref::<DecompressionOrigin>());
        blosc2_dparams {
            typesize: ctx.typesize as i32,
            ..origin.map_or(defaults::DPARAMS, |origin| origin.dparams)
        }
    }

    /// The context behind a token, or NULL.
    pub fn context_of(user_data: Option<&UserData>) -> *mut blosc2_context {
        let origin =
            user_data.and_then(|user_data| user_data.downcast_ref::<DecompressionOrigin>());
        origin.map_or(null_mut(), DecompressionOrigin::context)
    }
}
