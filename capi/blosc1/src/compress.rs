//! Compression and decompression.

use crate::state::{self, SETTINGS, in_turn, initialise};
use ferroblosc::blosc1::{self, Call, Engine, Error, Header, Params};
use ferroblosc_capi_common::pointers::Apart;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int, c_void};

/// The header of a chunk.
///
/// # Safety
/// `chunk` is NULL or readable for 16 bytes.
pub(crate) unsafe fn header<'a>(chunk: *const c_void) -> Result<&'a Header, Error> {
    // SAFETY: promised by the caller; the array has no alignment.
    Ok(unsafe { pointers::reference(chunk.cast::<Header>()) }?)
}

/// A source of `size` bytes, copied if it overlaps the destination; [`blosc1`] has checked that both sizes
/// are in range.
///
/// # Safety
/// `start` is NULL or readable for `size` bytes.
unsafe fn apart(
    (start, size): (*const c_void, usize),
    dest: (*mut c_void, usize),
) -> Result<Apart, Error> {
    // SAFETY: promised by the caller.
    unsafe {
        pointers::bytes(start, size as i32)?;
        Ok(Apart::from((start, size as i32), (dest.0, dest.1 as i32))?)
    }
}

/// A destination of `size` bytes; [`blosc1`] has checked that the size is in range.
///
/// # Safety
/// `start` is NULL or writable for `size` bytes.
unsafe fn writable<'a>(start: *mut c_void, size: usize) -> Result<&'a mut [u8], Error> {
    // SAFETY: promised by the caller.
    Ok(unsafe { pointers::bytes_mut(start, size as i32) }?)
}

/// Compresses with the engine that `run` lends.
///
/// # Safety
/// `src` is NULL or readable for `nbytes` bytes, `dest` NULL or writable for `destsize` bytes.
unsafe fn compress(
    params: &Params,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    run: impl FnOnce(&mut dyn FnMut(&mut Engine) -> Result<usize, Error>) -> Result<usize, Error>,
) -> Result<c_int, Error> {
    let Some(room) = blosc1::room(nbytes, destsize) else {
        return Ok(0);
    };
    // SAFETY: promised by the caller; `room` is at most `destsize`.
    let (src, dest) = unsafe {
        let src = apart((src, nbytes), (dest, room))?;
        (src, writable(dest, room)?)
    };
    Ok(run(&mut |engine| engine.compress(params, src.bytes(), dest))? as c_int)
}

/// Decompresses with the engine that `run` lends.
///
/// # Safety
/// `src` is NULL or a chunk, `dest` NULL or writable for `destsize` bytes.
unsafe fn decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    nthreads: c_int,
    run: impl FnOnce(&mut dyn FnMut(&mut Engine) -> Result<usize, Error>) -> Result<usize, Error>,
) -> Result<c_int, Error> {
    // SAFETY: a chunk has a header; it is as long as its header says, which is checked, and `dest` at least
    // as long as the data.
    let (src, dest) = unsafe {
        let lengths = blosc1::lengths(header(src)?, destsize)?;
        let src = apart((src, lengths.src), (dest, lengths.dest))?;
        (src, writable(dest, lengths.dest)?)
    };
    Ok(run(&mut |engine| engine.decompress(src.bytes(), nthreads, dest))? as c_int)
}

/// Compresses nbytes bytes at src, items of typesize bytes, into a chunk at dest.
///
/// clevel is from 0 (store) to 9 (smallest); doshuffle is BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or
/// BLOSC_BITSHUFFLE; a typesize above BLOSC_MAX_TYPESIZE counts as 1. Gives the size of the chunk,
/// 0 when it is larger than destsize, or a negative number. A destination that is
/// BLOSC_MAX_OVERHEAD bytes larger than the source is always large enough.
///
/// Environment variables take precedence over the arguments and over what was set before:
/// BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE, BLOSC_NTHREADS,
/// BLOSC_SPLITMODE; the last four for good. With BLOSC_NOLOCK, calls in different threads don't
/// wait for one another. With BLOSC_WARN above 0, messages on stderr say why a call is refused.
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
        initialise();
        let call = Call {
            clevel,
            shuffle: doshuffle,
            typesize,
        };
        let params = SETTINGS.params(call)?;
        // SAFETY: the caller gives a source and a destination of these sizes, or NULL.
        unsafe {
            compress(&params, nbytes, src, dest, destsize, |work| {
                if blosc1::nolock() {
                    state::apart(work)
                } else {
                    in_turn(work)
                }
            })
        }
    })
}

/// blosc_compress() without global state: nothing counts but the arguments and the split mode that
/// was set. Calls in different threads don't wait for one another.
///
/// blocksize 0 is automatic; numinternalthreads is the number of threads of this call.
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
        // SAFETY: the caller gives a NUL-terminated string, or NULL.
        let name = unsafe { pointers::c_str(compressor) };
        let params = Params {
            call: Call {
                clevel,
                shuffle: doshuffle,
                typesize,
            },
            compressor: name.and_then(|name| blosc1::compname_to_compcode(name.to_bytes())),
            blocksize: blosc1::forced_blocksize(blocksize),
            splitmode: SETTINGS.splitmode(),
            nthreads: numinternalthreads,
        };
        // SAFETY: the caller gives a source and a destination of these sizes, or NULL.
        unsafe {
            compress(&params, nbytes, src, dest, destsize, |work| {
                state::apart(work)
            })
        }
    })
}

/// Decompresses the chunk at src to dest. The chunk is believed to be as long as its header says:
/// ask blosc_cbuffer_validate() first when it may not be.
///
/// Gives the bytes the chunk holds, or a negative number. The environment variables BLOSC_NTHREADS
/// and BLOSC_NOLOCK count as for blosc_compress().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    boundary!(blosc_decompress, in_memory, Error, {
        initialise();
        let nthreads = SETTINGS.threads();
        // SAFETY: the caller gives a chunk and a destination of that size, or NULL.
        unsafe {
            decompress(src, dest, destsize, nthreads, |work| {
                if blosc1::nolock() {
                    state::apart(work)
                } else {
                    in_turn(work)
                }
            })
        }
    })
}

/// blosc_decompress() without global state. Calls in different threads don't wait for one another.
///
/// numinternalthreads is the number of threads of this call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_decompress_ctx(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
    numinternalthreads: c_int,
) -> c_int {
    boundary!(blosc_decompress_ctx, in_memory, Error, {
        // SAFETY: the caller gives a chunk and a destination of that size, or NULL.
        unsafe {
            decompress(src, dest, destsize, numinternalthreads, |work| {
                state::apart(work)
            })
        }
    })
}

/// Decompresses nitems items of the chunk at src, from item start on, to dest. Gives the bytes
/// written, or a negative number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_getitem(
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    boundary!(blosc_getitem, in_memory, Error, {
        // SAFETY: the caller gives a chunk, which has a header and is as long as it says, and room for the
        // items, or NULL.
        let (src, dest) = unsafe {
            let lengths = blosc1::getitem_lengths(header(src)?, start, nitems)?;
            let src = apart((src, lengths.src), (dest, lengths.dest))?;
            (src, writable(dest, lengths.dest)?)
        };
        Ok(state::apart(|engine| engine.getitem(src.bytes(), start, nitems, dest))? as c_int)
    })
}
