//! What a super-chunk compresses and decompresses with.

use crate::bridge::schunk::CSchunk;
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use crate::types::schunk::blosc2_schunk;
use crate::{defaults, global};
use ferroblosc::schunk::State;
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::c_int;
use std::ptr::null_mut;

/// The parameters that copies get when they aren't told any: those of the context that compresses, with the
/// block size it used last. Threads are nobody's choice, so 0.
pub fn of_context(schunk: CSchunk) -> blosc2_cparams {
    // SAFETY: the context is NULL or valid.
    let context = unsafe { (*schunk.as_ptr()).cctx.as_ref() };
    let cparams = context.map_or_else(|| recorded(schunk), |context| context.cparams());
    blosc2_cparams {
        typesize: schunk.recorded().typesize,
        nthreads: 0,
        schunk: null_mut(),
        prefilter: None,
        preparams: null_mut(),
        tuner_params: null_mut(),
        tuner_id: 0,
        instr_codec: false,
        codec_params: null_mut(),
        filter_params: defaults::CPARAMS.filter_params,
        ..cparams
    }
}

/// The parameters that the fields of the super-chunk tell.
fn recorded(schunk: CSchunk) -> blosc2_cparams {
    let (recorded, counters) = (schunk.recorded(), schunk.counters());
    blosc2_cparams {
        compcode: recorded.compcode,
        compcode_meta: recorded.compcode_meta,
        clevel: recorded.clevel,
        use_dict: c_int::from(recorded.use_dict),
        typesize: recorded.typesize,
        blocksize: counters.blocksize,
        splitmode: i32::from(recorded.splitmode),
        filters: recorded.filters.map(|slot| slot.id),
        filters_meta: recorded.filters.map(|slot| slot.meta),
        ..defaults::CPARAMS
    }
}

/// Whether chunks made with `cparams` could be those that there are: the parameters that shape chunks are
/// those of the context, and no callback of the user takes part.
pub fn make_same_chunks(schunk: CSchunk, cparams: &blosc2_cparams, own: &blosc2_cparams) -> bool {
    // SAFETY: the contexts are NULL or valid.
    let has_callback = unsafe {
        let (cctx, dctx) = ((*schunk.as_ptr()).cctx, (*schunk.as_ptr()).dctx);
        cctx.as_ref()
            .is_some_and(|context| context.cparams().prefilter.is_some())
            || dctx
                .as_ref()
                .is_some_and(|context| context.dparams().postfilter.is_some())
    };
    !has_callback
        && cparams.typesize == own.typesize
        && cparams.clevel == own.clevel
        && cparams.compcode == own.compcode
        && (cparams.use_dict != 0) == (own.use_dict != 0)
        && (cparams.blocksize == 0 || cparams.blocksize == own.blocksize)
        && cparams.filters == own.filters
        && cparams.filters_meta == own.filters_meta
}

/// Stores a value in memory of malloc, for the caller to free.
///
/// # Safety
/// `out` is NULL or room for a pointer.
unsafe fn give<T: Copy>(value: T, out: *mut *mut T) -> Result<()> {
    if out.is_null() {
        return Err(Error::InvalidParam);
    }
    let block: *mut T = Buffer::zeroed(size_of::<T>())?.into_raw().cast();
    // SAFETY: a block of malloc of the size of `T`; the caller promises room for the pointer.
    unsafe {
        block.write(value);
        out.write(block);
    }
    Ok(())
}

/// Stores a copy of the parameters that the super-chunk compresses with in *cparams; free() it. Gives 0
/// or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_cparams(
    schunk: *mut blosc2_schunk,
    cparams: *mut *mut blosc2_cparams,
) -> c_int {
    boundary!(blosc2_schunk_get_cparams, {
        // SAFETY: the caller gives a super-chunk and room for a pointer, or NULL.
        unsafe {
            pointers::write_if_given(cparams, null_mut());
            let schunk = CSchunk::new(schunk)?;
            let context = (*schunk.as_ptr()).cctx.as_ref();
            let value = blosc2_cparams {
                schunk: schunk.as_ptr().cast(),
                nthreads: context
                    .map_or_else(global::nthreads, |context| context.cparams().nthreads),
                ..recorded(schunk)
            };
            give(value, cparams)?;
        }
        Ok(0)
    })
}

/// Stores a copy of the parameters that the super-chunk decompresses with in *dparams; free() it. Gives
/// 0 or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_get_dparams(
    schunk: *mut blosc2_schunk,
    dparams: *mut *mut blosc2_dparams,
) -> c_int {
    boundary!(blosc2_schunk_get_dparams, {
        // SAFETY: the caller gives a super-chunk and room for a pointer, or NULL.
        unsafe {
            pointers::write_if_given(dparams, null_mut());
            let schunk = CSchunk::new(schunk)?;
            let context = (*schunk.as_ptr()).dctx.as_ref();
            let value = blosc2_dparams {
                schunk: schunk.as_ptr().cast(),
                nthreads: context
                    .map_or_else(global::nthreads, |context| context.dparams().nthreads),
                postfilter: None,
                postparams: null_mut(),
                typesize: 0,
            };
            give(value, dparams)?;
        }
        Ok(0)
    })
}
