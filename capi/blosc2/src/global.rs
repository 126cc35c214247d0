//! The calls without context, and the settings they share.

use crate::buffers::{chunk_apart, chunk_by_header, destination, nullable_dest, source};
use crate::{plugins, tuners};
use ferroblosc::chunk::oneshot::{Request, Settings, nolock};
use ferroblosc::chunk::{BasicHeader, DParams, Decompressor, MAX_BUFFERSIZE, Shuffle, SplitMode};
use ferroblosc::{Error, Result, codec, filter, pool};
use ferroblosc_capi_common::global::fork_safe_global;
use ferroblosc_capi_common::pointers::Apart;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;
use try_lock::TryLock;

/// What the library remembers between calls without context.
struct State {
    settings: Settings,
    phase: Phase,
}

/// Where the library stands between `blosc2_init` and `blosc2_destroy`.
#[derive(PartialEq)]
enum Phase {
    /// Nobody has initialised it.
    Untouched,
    /// Somebody has, if only by a call that does so by itself.
    Initialised,
    /// It was destroyed after that.
    Destroyed,
}

fork_safe_global! {
    /// The state; every call without context goes through it, one at a time.
    static STATE: State = State { settings: Settings::new(), phase: Phase::Untouched };
}

impl State {
    /// What `blosc2_init` does, and every call that needs it done.
    fn initialise(&mut self) -> &mut Settings {
        if self.phase == Phase::Destroyed {
            codec::reset_user_registrations();
            filter::reset();
            tuners::reset();
        }
        self.phase = Phase::Initialised;
        plugins::install();
        &mut self.settings
    }

    /// Gives up threads and working memory; both come back when they are needed.
    fn release(&mut self) {
        self.settings.release();
        if let Some(mut reader) = READER.try_lock() {
            *reader = None;
        }
        ferroblosc::chunk::release();
        ferroblosc::schunk::release();
        pool::release();
    }
}

/// What reads single items, which takes no setting. It is kept for what it keeps, and only ever tried: calls at
/// the same time, and those of a child that was forked amid one, bring their own.
static READER: TryLock<Option<Decompressor>> = TryLock::new(None);

/// Lets `work` use something that reads single items.
fn with_reader<T>(work: impl FnOnce(&mut Decompressor) -> T) -> T {
    plugins::install();
    let make = || Decompressor::new(DParams::default());
    match READER.try_lock() {
        Some(mut reader) => work(reader.get_or_insert_with(make)),
        None => work(&mut make()),
    }
}

/// Lets `work` use the settings.
fn with_settings<T>(work: impl FnOnce(&mut Settings) -> T) -> T {
    STATE.with(|state| work(state.initialise()))
}

/// Initialises the library. It works without, but after blosc2_destroy() this makes it forget the
/// codecs, filters and tuners that users registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_init() {
    boundary!(blosc2_init, always, {
        STATE.with(|state| {
            state.initialise();
        });
        Ok(())
    })
}

/// Ends the threads of the library and frees its working memory. Settings stay, and contexts stay
/// usable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_destroy() {
    boundary!(blosc2_destroy, always, {
        STATE.with(|state| {
            if state.phase == Phase::Initialised {
                state.phase = Phase::Destroyed;
                state.release();
            }
        });
        Ok(())
    })
}

/// Frees threads and working memory of the calls without context, until the next one. Gives 0, or
/// -1 when the library is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_free_resources() -> c_int {
    boundary!(blosc2_free_resources, always, {
        STATE.with(|state| {
            if state.phase != Phase::Initialised {
                return Err(Error::Failure);
            }
            state.release();
            Ok(0)
        })
    })
}

/// Compresses as a request says, under the lock or, with BLOSC_NOLOCK, apart.
fn compress(request: Request<'_>, dest: &mut [u8]) -> Result<c_int> {
    let size = if nolock() {
        with_settings(Settings::snapshot_for_compression).compress_nolock(request, dest)?
    } else {
        with_settings(|settings| settings.compress(request, dest))?
    };
    Ok(size as c_int)
}

/// Decompresses under the lock or, with BLOSC_NOLOCK, apart.
fn decompress(src: &[u8], dest: &mut [u8]) -> Result<usize> {
    if nolock() {
        with_settings(Settings::snapshot_for_decompression)?.decompress(src, dest)
    } else {
        with_settings(|settings| settings.decompress(src, dest))
    }
}

/// Compresses srcsize bytes at src, items of typesize bytes, into a chunk at dest.
///
/// clevel is from 0 (store) to 9 (smallest); doshuffle is BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or
/// BLOSC_BITSHUFFLE. Gives the size of the chunk, 0 when it is larger than destsize, or an error
/// code. A destination that is BLOSC2_MAX_OVERHEAD bytes larger than the source is always large
/// enough.
///
/// Environment variables take precedence over the arguments and over what was set before:
/// BLOSC_CLEVEL, BLOSC_SHUFFLE, BLOSC_DELTA, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE,
/// BLOSC_NTHREADS, BLOSC_SPLITMODE. With BLOSC_NOLOCK, calls in different threads don't wait for
/// one another. With BLOSC_BLOSC1_COMPAT the chunk has the header of Blosc 1.x.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: i32,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_compress, in_memory, {
        // SAFETY: the caller gives a source and a destination of these sizes, or NULL.
        let apart = unsafe { Apart::from((src, srcsize), (dest, destsize)) }?;
        // SAFETY: as above.
        let (source, dest) = unsafe {
            let dest = destination(dest, destsize)?;
            (source(apart.as_ptr().cast(), srcsize, dest.len())?, dest)
        };
        let shuffle = Shuffle::from_number(doshuffle);
        compress(
            Request {
                clevel,
                shuffle,
                typesize,
                source,
            },
            dest,
        )
    })
}

/// blosc2_compress() with the arguments of Blosc 1.x. Gives what that gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_compress(
    clevel: c_int,
    doshuffle: c_int,
    typesize: usize,
    nbytes: usize,
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    boundary!(blosc1_compress, in_memory, {
        if nbytes > MAX_BUFFERSIZE {
            return Err(Error::MaxBufsizeExceeded);
        }
        let typesize = i32::try_from(typesize).map_err(|_| Error::InvalidParam)?;
        let (srcsize, destsize) = (clamped(nbytes), clamped(destsize));
        // SAFETY: the caller gives a source and a destination of these sizes, or NULL.
        let apart = unsafe { Apart::from((src, srcsize), (dest, destsize)) }?;
        // SAFETY: as above.
        let (source, dest) = unsafe {
            let dest = destination(dest, destsize)?;
            (source(apart.as_ptr().cast(), srcsize, dest.len())?, dest)
        };
        let shuffle = Shuffle::from_number(doshuffle);
        compress(
            Request {
                clevel,
                shuffle,
                typesize,
                source,
            },
            dest,
        )
    })
}

/// A size of Blosc 1.x; beyond the range of today's, as large as possible.
fn clamped(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

/// Decompresses the chunk at src, of at most srcsize bytes, to dest.
///
/// Gives the bytes the chunk holds, or an error code. dest may be NULL when it holds none. The
/// environment variables BLOSC_NTHREADS and BLOSC_NOLOCK count as for blosc2_compress().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_decompress(
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_decompress, in_memory, {
        // SAFETY: the caller gives a chunk and a destination of these sizes, or NULL.
        let (chunk, dest) = unsafe {
            let chunk = chunk_apart((src, srcsize), (dest, destsize))?;
            (chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        Ok(dest.fill(|dest| decompress(src, dest))? as c_int)
    })
}

/// blosc2_decompress() with the arguments of Blosc 1.x: the chunk is as large as its header says.
/// Gives what that gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    boundary!(blosc1_decompress, in_memory, {
        // SAFETY: the caller gives a chunk and a destination of that size, or NULL.
        let (chunk, dest) = unsafe {
            let srcsize = chunk_by_header(src)?.len() as i32;
            let destsize = clamped(destsize);
            let chunk = chunk_apart((src, srcsize), (dest, destsize))?;
            (chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        Ok(dest.fill(|dest| decompress(src, dest))? as c_int)
    })
}

/// Decompresses nitems items of the chunk at src, from item start on, to dest. Gives the bytes
/// written, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem(
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_getitem, in_memory, {
        // SAFETY: the caller gives a chunk and a destination of these sizes, or NULL.
        let (chunk, dest) = unsafe {
            let chunk = chunk_apart((src, srcsize), (dest, destsize))?;
            (chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        let size =
            with_reader(|reader| dest.fill(|dest| reader.getitem(src, start, nitems, dest)))?;
        Ok(size as c_int)
    })
}

/// blosc2_getitem() with the arguments of Blosc 1.x: the chunk is as large as its header says, and
/// dest as the items need. Gives what that gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_getitem(
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    boundary!(blosc1_getitem, in_memory, {
        // SAFETY: the caller gives a chunk and room for the items, or NULL.
        let (chunk, dest) = unsafe {
            let chunk = chunk_by_header(src)?;
            let (srcsize, header) = (chunk.len() as i32, BasicHeader::parse(chunk)?);
            let destsize = i32::from(header.typesize).saturating_mul(nitems);
            let chunk = chunk_apart((src, srcsize), (dest, destsize))?;
            (chunk, nullable_dest(dest, destsize))
        };
        let src = chunk.bytes();
        let size =
            with_reader(|reader| dest.fill(|dest| reader.getitem(src, start, nitems, dest)))?;
        Ok(size as c_int)
    })
}

/// The number of threads of the calls without context, which super-chunks get that are opened.
pub(crate) fn nthreads() -> i16 {
    with_settings(|settings| settings.nthreads())
}

/// The number of threads of the calls without context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_nthreads() -> i16 {
    boundary!(blosc2_get_nthreads, { Ok(nthreads()) })
}

/// Sets the number of threads of the calls without context. Gives the number before, or an error
/// code for a number below 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_nthreads(nthreads: i16) -> i16 {
    boundary!(blosc2_set_nthreads, {
        with_settings(|settings| settings.set_nthreads(nthreads))
    })
}

/// The name of the codec of the calls without context; NULL after an unknown one was set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_get_compressor() -> *const c_char {
    boundary!(blosc1_get_compressor, always, {
        let code = with_settings(|settings| settings.compressor());
        let name = code.and_then(codec::compcode_to_compname);
        Ok(name.map_or(null(), |name| name.as_ptr()))
    })
}

/// Chooses the codec of the calls without context. Gives its code; -1 for an unknown one, and
/// compressing fails then until another one is chosen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_set_compressor(compname: *const c_char) -> c_int {
    boundary!(blosc1_set_compressor, {
        // SAFETY: the caller gives a NUL-terminated string, or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        let code = with_settings(|settings| settings.set_compressor(name.to_bytes()))?;
        Ok(c_int::from(code))
    })
}

/// The block size of the calls without context; 0 when it is automatic.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_get_blocksize() -> c_int {
    boundary!(blosc1_get_blocksize, {
        Ok(with_settings(|settings| settings.blocksize()))
    })
}

/// Sets the block size of the calls without context; 0 is automatic.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_set_blocksize(blocksize: usize) {
    boundary!(blosc1_set_blocksize, {
        with_settings(|settings| settings.set_blocksize(clamped(blocksize)));
        Ok(())
    })
}

/// Chooses whether the calls without context split blocks in streams: BLOSC_ALWAYS_SPLIT and its
/// siblings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_set_splitmode(splitmode: c_int) {
    boundary!(blosc1_set_splitmode, {
        with_settings(|settings| settings.set_splitmode(SplitMode(splitmode)));
        Ok(())
    })
}

/// Chooses whether the calls without context apply the delta filter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_delta(dodelta: c_int) {
    boundary!(blosc2_set_delta, {
        with_settings(|settings| settings.set_delta(dodelta != 0));
        Ok(())
    })
}
