//! Compression and decompression.

use crate::state::{self, SETTINGS, initialize, with_engine};
use ferroblosc::blosc1::{self, Call, Engine, Error, Header, Params};
use ferroblosc_capi_common::pointers::StableSource;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int, c_void};

/// Returns the header of a chunk.
///
/// # Safety
/// `chunk` is NULL or readable for 16 bytes.
pub(crate) unsafe fn header<'a>(chunk: *const c_void) -> Result<&'a Header, Error> {
    // SAFETY: guaranteed by the caller; the array has no alignment requirement.
    Ok(unsafe { pointers::reference(chunk.cast::<Header>()) }?)
}

/// Returns the source of `size` bytes, copied if it overlaps the destination. [`blosc1`] has
/// checked that both sizes are in range.
///
/// # Safety
/// `start` is NULL or readable for `size` bytes.
unsafe fn source(
    (start, size): (*const c_void, usize),
    dest: (*mut c_void, usize),
) -> Result<StableSource, Error> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        pointers::bytes(start, size as i32)?;
        Ok(StableSource::from((start, size as i32), (dest.0, dest.1 as i32))?)
    }
}

/// Returns the destination of `size` bytes. [`blosc1`] has checked that the size is in range.
///
/// # Safety
/// `start` is NULL or writable for `size` bytes.
unsafe fn writable<'a>(start: *mut c_void, size: usize) -> Result<&'a mut [u8], Error> {
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { pointers::bytes_mut(start, size as i32) }?)
}

/// Compresses with the engine that `run` provides.
///
/// # Safety
/// `src` is NULL or readable for `nbytes` bytes, `dest` is NULL or writable for `destsize` bytes.
unsafe fn compress(
    params: &Params,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    run: impl FnOnce(&mut dyn FnMut(&mut Engine) -> Result<usize, Error>) -> Result<usize, Error>,
) -> Result<c_int, Error> {
    let Some(len) = blosc1::usable_destsize(nbytes, destsize) else {
        return Ok(0);
    };
    // SAFETY: guaranteed by the caller; `len` is at most `destsize`.
    let (src, dest) = unsafe {
        let src = source((src, nbytes), (dest, len))?;
        (src, writable(dest, len)?)
    };
    Ok(run(&mut |engine| engine.compress(params, src.bytes(), dest))? as c_int)
}

/// Decompresses with the engine that `run` provides.
///
/// # Safety
/// `src` is NULL or a chunk, `dest` is NULL or writable for `destsize` bytes.
unsafe fn decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    nthreads: c_int,
    run: impl FnOnce(&mut dyn FnMut(&mut Engine) -> Result<usize, Error>) -> Result<usize, Error>,
) -> Result<c_int, Error> {
    // SAFETY: a chunk has a header and the length that its header contains, which is checked;
    // `dest` is at least as long as the data.
    let (src, dest) = unsafe {
        let lengths = blosc1::lengths(header(src)?, destsize)?;
        let src = source((src, lengths.src), (dest, lengths.dest))?;
        (src, writable(dest, lengths.dest)?)
    };
    Ok(run(&mut |engine| engine.decompress(src.bytes(), nthreads, dest))? as c_int)
}

/// Compresses a buffer into a chunk, with the global settings.
///
/// Environment variables override the arguments and the settings: BLOSC_CLEVEL, BLOSC_SHUFFLE,
/// BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE; the last
/// four change the settings permanently. With BLOSC_NOLOCK, calls in different threads do not wait
/// for one another. With BLOSC_WARN above 0, messages on stderr explain why a call is refused.
///
/// - `clevel`: the compression level: 0 (no compression) to 9 (smallest).
/// - `doshuffle`: BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
/// - `typesize`: the size of an item in bytes; sizes above BLOSC_MAX_TYPESIZE are treated as 1.
/// - `nbytes`: the size of the data in bytes, at most BLOSC_MAX_BUFFERSIZE.
/// - `src`: the data.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes; `nbytes` + BLOSC_MAX_OVERHEAD is always
///   sufficient.
///
/// Returns the size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    boundary!(blosc_compress, in_memory, Error, {
        initialize();
        let call = Call { clevel, shuffle: doshuffle, typesize };
        let params = SETTINGS.params(call)?;
        // SAFETY: the caller passes a source and a destination of these sizes, or NULL.
        unsafe {
            compress(&params, nbytes, src, dest, destsize, |work| {
                if blosc1::nolock() { state::with_pooled_engine(work) } else { with_engine(work) }
            })
        }
    })
}

/// Compresses a buffer into a chunk without global state: the call depends only on the arguments
/// and the split mode. Calls in different threads do not wait for one another.
///
/// - `clevel`: the compression level: 0 (no compression) to 9 (smallest).
/// - `doshuffle`: BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
/// - `typesize`: the size of an item in bytes; sizes above BLOSC_MAX_TYPESIZE are treated as 1.
/// - `nbytes`: the size of the data in bytes, at most BLOSC_MAX_BUFFERSIZE.
/// - `src`: the data.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes; `nbytes` + BLOSC_MAX_OVERHEAD is always
///   sufficient.
/// - `compressor`: the name of the compressor.
/// - `blocksize`: the block size in bytes, or 0 for an automatic one.
/// - `numinternalthreads`: the number of threads of this call.
///
/// Returns the size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_compress_ctx(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    compressor: *const c_char,
    blocksize: usize,
    numinternalthreads: c_int,
) -> c_int {
    boundary!(blosc_compress_ctx, in_memory, Error, {
        // SAFETY: the caller passes a NUL-terminated string or NULL.
        let name = unsafe { pointers::c_str(compressor) };
        let params = Params {
            call: Call { clevel, shuffle: doshuffle, typesize },
            compressor: name.and_then(|name| blosc1::compname_to_compcode(name.to_bytes())),
            blocksize: blosc1::forced_blocksize(blocksize),
            splitmode: SETTINGS.splitmode(),
            nthreads: numinternalthreads,
        };
        // SAFETY: the caller passes a source and a destination of these sizes, or NULL.
        unsafe {
            compress(&params, nbytes, src, dest, destsize, |work| state::with_pooled_engine(work))
        }
    })
}

/// Decompresses a chunk. It reads as many bytes as the header of the chunk states: check chunks
/// from other sources with blosc_cbuffer_validate() first. The environment variables BLOSC_NTHREADS
/// and BLOSC_NOLOCK apply as in blosc_compress().
///
/// - `src`: the chunk.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the data in bytes, or a negative number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    boundary!(blosc_decompress, in_memory, Error, {
        initialize();
        let nthreads = SETTINGS.threads();
        // SAFETY: the caller passes a chunk and a destination of that size, or NULL.
        unsafe {
            decompress(src, dest, destsize, nthreads, |work| {
                if blosc1::nolock() { state::with_pooled_engine(work) } else { with_engine(work) }
            })
        }
    })
}

/// Decompresses a chunk without global state. Calls in different threads do not wait for one
/// another. It reads as many bytes as the header of the chunk states.
///
/// - `src`: the chunk.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
/// - `numinternalthreads`: the number of threads of this call.
///
/// Returns the size of the data in bytes, or a negative number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_decompress_ctx(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    numinternalthreads: c_int,
) -> c_int {
    boundary!(blosc_decompress_ctx, in_memory, Error, {
        // SAFETY: the caller passes a chunk and a destination of that size, or NULL.
        unsafe {
            decompress(src, dest, destsize, numinternalthreads, |work| {
                state::with_pooled_engine(work)
            })
        }
    })
}

/// Decompresses a range of items of a chunk. It reads as many bytes as the header of the chunk
/// states.
///
/// - `src`: the chunk.
/// - `start`: the index of the first item.
/// - `nitems`: the number of items.
/// - `dest`: the destination, `nitems` * typesize bytes, owned by the caller.
///
/// Returns the number of bytes written, or a negative number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_getitem(
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    boundary!(blosc_getitem, in_memory, Error, {
        // SAFETY: the caller passes a chunk, which has a header and the length that its header
        // contains, and space for the items, or NULL.
        let (src, dest) = unsafe {
            let lengths = blosc1::getitem_lengths(header(src)?, start, nitems)?;
            let src = source((src, lengths.src), (dest, lengths.dest))?;
            (src, writable(dest, lengths.dest)?)
        };
        Ok(state::with_pooled_engine(|engine| engine.getitem(src.bytes(), start, nitems, dest))?
            as c_int)
    })
}
