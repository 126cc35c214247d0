//! Contexts: parameters and working memory of compression or decompression.

use crate::bridge::context::Context;
use crate::buffers::{compress_buffer, read_chunk};
use crate::types::context::blosc2_context;
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use ferroblosc::Error;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};

/// Creates a context for compression.
///
/// The parameters are copied, including the struct at `preparams`. Environment variables override
/// them: BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_DELTA,
/// BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE.
///
/// - `cparams`: the compression parameters. An unknown filter or tuner is an error here; most other
///   invalid values make the compression fail.
///
/// Returns the context, which the caller frees with blosc2_free_ctx(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_create_cctx(cparams: blosc2_cparams) -> *mut blosc2_context {
    boundary!(blosc2_create_cctx, {
        // SAFETY: the caller passes valid parameters.
        unsafe { Context::for_compression(cparams) }
    })
}

/// Creates a context for decompression.
///
/// The parameters are copied, including the struct at `postparams`. The environment variable
/// BLOSC_NTHREADS overrides them.
///
/// - `dparams`: the decompression parameters.
///
/// Returns the context, which the caller frees with blosc2_free_ctx(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_create_dctx(dparams: blosc2_dparams) -> *mut blosc2_context {
    boundary!(blosc2_create_dctx, {
        // SAFETY: the caller passes valid parameters.
        unsafe { Context::for_decompression(dparams) }
    })
}

/// Frees a context and everything it owns.
///
/// - `context`: the context, or NULL to do nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_free_ctx(context: *mut blosc2_context) {
    boundary!(blosc2_free_ctx, always, {
        // SAFETY: the caller passes a context that is not used again, or NULL.
        unsafe { Context::free(context) };
        Ok(())
    });
}

/// Copies the parameters of a context for compression. The block size is that of the last
/// compression.
///
/// - `ctx`: the context.
/// - `cparams`: the destination. Its `tuner_params` and `filter_params` are not changed.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_cparams(
    ctx: *mut blosc2_context,
    cparams: *mut blosc2_cparams,
) -> c_int {
    boundary!(blosc2_ctx_get_cparams, in_memory, {
        // SAFETY: the caller passes a context and a struct, or NULL; all-zero bytes are a valid
        // struct.
        unsafe {
            let Ok(context) = Context::of(ctx) else {
                pointers::write_if_given(cparams, std::mem::zeroed());
                return Err(Error::InvalidParam);
            };
            let made = context.cparams();
            let out = pointers::reference_mut(cparams)?;
            *out = blosc2_cparams {
                tuner_params: out.tuner_params,
                filter_params: out.filter_params,
                ..made
            };
        }
        Ok(0)
    })
}

/// Copies the parameters of a context for decompression.
///
/// - `ctx`: the context.
/// - `dparams`: the destination.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_dparams(
    ctx: *mut blosc2_context,
    dparams: *mut blosc2_dparams,
) -> c_int {
    boundary!(blosc2_ctx_get_dparams, in_memory, {
        // SAFETY: the caller passes a context and a struct, or NULL; all-zero bytes are a valid
        // struct.
        unsafe {
            let Ok(context) = Context::of(ctx) else {
                pointers::write_if_given(dparams, std::mem::zeroed());
                return Err(Error::InvalidParam);
            };
            *pointers::reference_mut(dparams)? = context.dparams();
        }
        Ok(0)
    })
}

/// Sets blocks to skip in the next decompression with a context. Their bytes in the destination are
/// not changed. Only the next decompression uses the mask.
///
/// - `ctx`: the context.
/// - `maskout`: one entry per block, true to skip it; copied.
/// - `nblocks`: the number of blocks of the chunk.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_maskout(
    ctx: *mut blosc2_context,
    maskout: *mut bool,
    nblocks: c_int,
) -> c_int {
    boundary!(blosc2_set_maskout, in_memory, {
        // SAFETY: the caller passes a context or NULL.
        let context = unsafe { Context::of(ctx) }?;
        if nblocks < 0 {
            return Err(Error::MemoryAlloc);
        }
        // SAFETY: the caller passes `nblocks` marks of one byte each, or NULL.
        let marks = unsafe { pointers::bytes(maskout.cast(), nblocks) }?;
        let mut mask = Vec::new();
        mask.try_reserve_exact(marks.len())?;
        mask.extend(marks.iter().map(|&mark| mark != 0));
        context.set_maskout(mask).map(|()| 0)
    })
}

/// Compresses a buffer into a chunk.
///
/// - `context`: the context.
/// - `src`: the data; may be NULL if the context has a prefilter.
/// - `srcsize`: the size of the data in bytes, at most BLOSC2_MAX_BUFFERSIZE.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes; `srcsize` + BLOSC2_MAX_OVERHEAD is always
///   sufficient.
///
/// Returns the size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative error
/// code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_compress_ctx, in_memory, {
        // SAFETY: the caller passes a context, a source and a destination of these sizes, or NULL.
        unsafe {
            let context = Context::of(context)?;
            compress_buffer((src, srcsize), (dest, destsize), |source, dest| {
                context.compress_with(|compressor| compressor.compress_source(source, dest))
            })
        }
    })
}

/// Decompresses a chunk.
///
/// - `context`: the context.
/// - `src`: the chunk.
/// - `srcsize`: the size of the buffer with the chunk in bytes, at least the size of the chunk.
/// - `dest`: the destination, owned by the caller; may be NULL if the chunk has no data.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_decompress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_decompress_ctx, in_memory, {
        // SAFETY: the caller passes a context, a chunk and a destination of these sizes, or NULL.
        unsafe {
            let context = Context::of(context)?;
            read_chunk((src, srcsize), (dest, destsize), |src, dest| {
                context.decompress_with(|decompressor| decompressor.decompress(src, dest))
            })
        }
    })
}

/// Decompresses a range of items of a chunk.
///
/// - `context`: a context for compression or decompression.
/// - `src`: the chunk.
/// - `srcsize`: the size of the buffer with the chunk in bytes, at least the size of the chunk.
/// - `start`: the index of the first item.
/// - `nitems`: the number of items.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the number of bytes written, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_getitem_ctx, in_memory, {
        // SAFETY: the caller passes a context, a chunk and a destination of these sizes, or NULL.
        unsafe {
            let context = Context::of(context)?;
            read_chunk((src, srcsize), (dest, destsize), |src, dest| {
                context.read_with(|reader| reader.getitem(src, start, nitems, dest))
            })
        }
    })
}

/// Decompresses a range of bytes of a chunk.
///
/// - `context`: a context for compression or decompression.
/// - `src`: the chunk.
/// - `srcsize`: the size of the buffer with the chunk in bytes, at least the size of the chunk.
/// - `start`: the offset of the first byte, a multiple of the typesize.
/// - `nbytes`: the number of bytes, a multiple of the typesize.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the number of bytes written, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem_bytes_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    start: i32,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_getitem_bytes_ctx, in_memory, {
        // SAFETY: the caller passes a context, a chunk and a destination of these sizes, or NULL.
        unsafe {
            let context = Context::of(context)?;
            read_chunk((src, srcsize), (dest, destsize), |src, dest| {
                context.read_with(|reader| reader.getitem_bytes(src, start, nbytes, dest))
            })
        }
    })
}
