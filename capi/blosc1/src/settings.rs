//! The settings of the calls without `_ctx`, and the initialisation of the library.

use crate::state::{self, SETTINGS};
use ferroblosc::blosc1::{self, Error};
use ferroblosc::chunk::SplitMode;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int};
use std::ptr::null;

/// Initialises the library. Calling it is optional for all functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_init() {
    boundary!(blosc_init, always, Error, {
        state::initialize();
        Ok(())
    });
}

/// Stops the threads of the library and frees its working memory. The settings are kept, and all
/// functions continue to work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_destroy() {
    boundary!(blosc_destroy, always, Error, {
        if state::uninitialise() {
            state::release();
        }
        Ok(())
    });
}

/// Stops the threads of the library and frees its working memory until they are needed again.
///
/// Returns 0, or -1 if the library is not initialised.
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

/// Returns the number of threads, initially 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_nthreads() -> c_int {
    boundary!(blosc_get_nthreads, Error, { Ok(SETTINGS.nthreads()) })
}

/// Sets the number of threads. An invalid number makes calls that need threads fail.
///
/// - `nthreads`: the number of threads: 1 to BLOSC_MAX_THREADS.
///
/// Returns the previous number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_nthreads(nthreads: c_int) -> c_int {
    boundary!(blosc_set_nthreads, Error, {
        state::initialize();
        Ok(SETTINGS.set_nthreads(nthreads))
    })
}

/// Returns the name of the compressor, or NULL after an unknown one was set. The library owns the
/// name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_compressor() -> *const c_char {
    boundary!(blosc_get_compressor, always, Error, {
        let code = SETTINGS.compressor().map(c_int::from);
        let name = code.and_then(blosc1::compcode_to_compname);
        Ok(name.map_or(null(), |name| name.as_ptr()))
    })
}

/// Sets the compressor.
///
/// - `compname`: the name of the compressor.
///
/// Returns the code of the compressor, or -1 for an unknown one; compression then fails until
/// another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_compressor(compname: *const c_char) -> c_int {
    boundary!(blosc_set_compressor, Error, {
        state::initialize();
        // SAFETY: the caller passes a NUL-terminated string or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        Ok(SETTINGS.set_compressor(name.to_bytes())?.into())
    })
}

/// Returns the block size in bytes, or 0 if it is automatic.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_get_blocksize() -> c_int {
    boundary!(blosc_get_blocksize, Error, { Ok(SETTINGS.blocksize()) })
}

/// Sets the block size.
///
/// - `blocksize`: the block size in bytes, or 0 for an automatic one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_blocksize(blocksize: usize) {
    boundary!(blosc_set_blocksize, Error, {
        SETTINGS.set_blocksize(blocksize);
        Ok(())
    });
}

/// Sets the mode in which blocks are split into one stream per byte of an item. It applies to the
/// functions with `_ctx`, too.
///
/// - `splitmode`: BLOSC_FORWARD_COMPAT_SPLIT (default), BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT or
///   BLOSC_AUTO_SPLIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_splitmode(splitmode: c_int) {
    boundary!(blosc_set_splitmode, Error, {
        SETTINGS.set_splitmode(SplitMode(splitmode));
        Ok(())
    });
}
