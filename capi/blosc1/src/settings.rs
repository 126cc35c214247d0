//! What the calls without `_ctx` go by, and the life of the library.

use crate::state::{self, SETTINGS};
use ferroblosc::blosc1::{self, Error};
use ferroblosc::chunk::SplitMode;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int};
use std::ptr::null;

/// Initialises the library. All functions work without.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_init() {
    boundary!(blosc_init, always, Error, {
        state::initialise();
        Ok(())
    })
}

/// Ends the threads of the library and frees its working memory. Settings stay, and all functions
/// go on working.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_destroy() {
    boundary!(blosc_destroy, always, Error, {
        if state::forget() {
            state::release();
        }
        Ok(())
    })
}

/// Ends the threads of the library and frees its working memory, until the next call that needs
/// them. Gives 0, or -1 when the library is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_free_resources() -> c_int {
    boundary!(blosc_free_resources, always, Error, {
        if !state::is_initialised() {
            return Err(Error::Failure);
        }
        state::release();
        Ok(0)
    })
}

/// The number of threads. 1 at first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_nthreads() -> c_int {
    boundary!(blosc_get_nthreads, Error, { Ok(SETTINGS.nthreads()) })
}

/// Sets the number of threads, from 1 to BLOSC_MAX_THREADS. Gives the number before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_nthreads(nthreads: c_int) -> c_int {
    boundary!(blosc_set_nthreads, Error, {
        state::initialise();
        Ok(SETTINGS.set_nthreads(nthreads))
    })
}

/// The name of the compressor; NULL after an unknown one was set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_compressor() -> *const c_char {
    boundary!(blosc_get_compressor, always, Error, {
        let code = SETTINGS.compressor().map(c_int::from);
        let name = code.and_then(blosc1::compcode_to_compname);
        Ok(name.map_or(null(), |name| name.as_ptr()))
    })
}

/// Chooses the compressor. Gives its code; -1 for an unknown one, and compressing fails then until
/// another one is chosen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_compressor(compname: *const c_char) -> c_int {
    boundary!(blosc_set_compressor, Error, {
        state::initialise();
        // SAFETY: the caller gives a NUL-terminated string, or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        Ok(SETTINGS.set_compressor(name.to_bytes())?.into())
    })
}

/// The block size; 0 when it is automatic.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_blocksize() -> c_int {
    boundary!(blosc_get_blocksize, Error, { Ok(SETTINGS.blocksize()) })
}

/// Sets the block size; 0 is automatic.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_blocksize(blocksize: usize) {
    boundary!(blosc_set_blocksize, Error, {
        SETTINGS.set_blocksize(blocksize);
        Ok(())
    })
}

/// Chooses whether blocks are split into one stream per byte of an item: BLOSC_FORWARD_COMPAT_SPLIT
/// (default) or one of its siblings. Counts for the calls with _ctx too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_splitmode(splitmode: c_int) {
    boundary!(blosc_set_splitmode, Error, {
        SETTINGS.set_splitmode(SplitMode(splitmode));
        Ok(())
    })
}
