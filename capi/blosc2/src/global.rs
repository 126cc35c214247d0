//! Functions without context, and the settings they share.

use crate::bridge::{active_callbacks, plugins, tuner};
use crate::buffers::{chunk_by_header, compress_buffer, read_chunk};
use ferroblosc::chunk::oneshot::{Engines, Request, Settings, SharedSettings, Variables, nolock};
use ferroblosc::chunk::{
    BasicHeader, DParams, Decompressor, MAX_BUFFERSIZE, Shuffle, Source, SplitMode,
};
use ferroblosc::{Error, Result, codec, filter, pool};
use ferroblosc_capi_common::global::fork_safe_global;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering};
use try_lock::TryLock;

/// The lifecycle state between `blosc2_init` and `blosc2_destroy`.
#[derive(PartialEq)]
enum Phase {
    /// Not initialised.
    Untouched,
    /// Initialised, by `blosc2_init` or implicitly by another call.
    Initialised,
    /// Destroyed after initialisation.
    Destroyed,
}

/// The settings of the functions without context.
static SETTINGS: SharedSettings = SharedSettings::new();

fork_safe_global! {
    /// The working memory, which is locked during each call that compresses or decompresses, also
    /// while this call runs callbacks of the program.
    pub(crate) static ENGINES: Engines = Engines::new();
    locked during active_callbacks::is_callback;
}

fork_safe_global! {
    /// The lifecycle of the library. No callback runs while it is locked, so callbacks can use it.
    static PHASE: Phase = Phase::Untouched;
    locked after ENGINES;
}

/// Whether `PHASE` is [`Phase::Initialised`]; changed while it is locked. The calls that compress
/// and decompress need no lock then.
static IS_INITIALISED: AtomicBool = AtomicBool::new(false);

/// Initialises the library. `blosc2_init` and each call that uses the settings call this function.
fn initialize() {
    // The thread that set it has initialised the library before.
    if IS_INITIALISED.load(Ordering::Acquire) {
        return;
    }
    PHASE.with(|phase| {
        if *phase == Phase::Destroyed {
            codec::reset_user_registrations();
            filter::reset_user_registrations();
            tuner::reset();
        }
        *phase = Phase::Initialised;
        plugins::install();
        IS_INITIALISED.store(true, Ordering::Release);
    });
}

/// Releases threads and working memory until they are needed again. A callback does not release the
/// working memory of the call that runs it.
fn release() {
    if !active_callbacks::is_callback() && !ENGINES.is_lost() {
        ENGINES.with(Engines::release);
    }
    if let Some(mut reader) = READER.try_lock() {
        *reader = None;
    }
    ferroblosc::chunk::release();
    ferroblosc::schunk::release();
    pool::release();
}

/// A reader of single items, which depends on no setting. It caches the last block. Calls never
/// wait for the lock: concurrent calls, and those of a child forked during a call, use a temporary
/// reader.
static READER: TryLock<Option<Decompressor>> = TryLock::new(None);

/// Runs `work` with a reader of single items.
fn with_reader<T>(work: impl FnOnce(&mut Decompressor) -> T) -> T {
    plugins::install();
    let make = || Decompressor::new(DParams::default());
    match READER.try_lock() {
        Some(mut reader) => work(reader.get_or_insert_with(make)),
        None => work(&mut make()),
    }
}

/// Returns the settings.
fn settings() -> &'static SharedSettings {
    initialize();
    &SETTINGS
}

/// Changes the settings, and returns the result of `change`, which may be called several times.
fn with_settings<T>(change: impl FnMut(&mut Settings) -> T) -> T {
    settings().update(change)
}

/// Runs `work` with the shared engines, under their lock. Without lock (BLOSC_NOLOCK), and in a
/// callback, whose call may hold the lock, `work` has engines of its own, as in a process that was
/// forked by such a callback.
fn with_engines<T>(is_unlocked: bool, work: impl FnOnce(&mut Engines) -> T) -> T {
    if is_unlocked || active_callbacks::is_callback() || ENGINES.is_lost() {
        work(&mut Engines::new())
    } else {
        ENGINES.with(work)
    }
}

/// Initialises the library. Calling it is optional, but after blosc2_destroy() it removes the
/// codecs, filters and tuners that were registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_init() {
    boundary!(blosc2_init, always, {
        initialize();
        Ok(())
    });
}

/// Stops the threads of the library and frees its working memory. Settings are kept, and contexts
/// remain usable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_destroy() {
    boundary!(blosc2_destroy, always, {
        let was_initialised = PHASE.with(|phase| {
            let is_initialised = *phase == Phase::Initialised;
            if is_initialised {
                *phase = Phase::Destroyed;
                IS_INITIALISED.store(false, Ordering::Relaxed);
            }
            is_initialised
        });
        if was_initialised {
            release();
        }
        Ok(())
    });
}

/// Stops the threads and frees the working memory of the functions without context until they are
/// needed again.
///
/// Returns 0, or -1 if the library is not initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_free_resources() -> c_int {
    boundary!(blosc2_free_resources, always, {
        if !IS_INITIALISED.load(Ordering::Relaxed) {
            return Err(Error::Failure);
        }
        release();
        Ok(0)
    })
}

/// Compresses a buffer with the settings.
///
/// # Safety
/// The same conditions as for [`compress_buffer`].
unsafe fn compress(
    (clevel, doshuffle, typesize): (c_int, c_int, i32),
    src: (*const c_void, i32),
    dest: (*mut c_void, i32),
) -> Result<c_int> {
    let work = |source: Source<'_>, dest: &mut [u8]| {
        let request =
            Request { clevel, shuffle: Shuffle::from_number(doshuffle), typesize, source };
        let variables = Variables::scan();
        let settings = settings().for_compression(variables);
        let is_unlocked = nolock(variables);
        with_engines(is_unlocked, |engines| {
            if is_unlocked {
                engines.compress_nolock(&settings, variables, request, dest)
            } else {
                engines.compress(&settings, variables, request, dest)
            }
        })
    };
    // SAFETY: guaranteed by the caller.
    unsafe { compress_buffer(src, dest, work) }
}

/// Decompresses a chunk with the settings.
///
/// # Safety
/// The same conditions as for [`read_chunk`].
unsafe fn decompress(src: (*const c_void, i32), dest: (*mut c_void, i32)) -> Result<c_int> {
    let work = |src: &[u8], dest: &mut [u8]| {
        let variables = Variables::scan();
        let settings = settings().for_decompression(variables)?;
        with_engines(nolock(variables), |engines| engines.decompress(&settings, src, dest))
    };
    // SAFETY: guaranteed by the caller.
    unsafe { read_chunk(src, dest, work) }
}

/// Decompresses a range of items of a chunk.
///
/// # Safety
/// The same conditions as for [`read_chunk`].
unsafe fn getitem(
    src: (*const c_void, i32),
    start: c_int,
    nitems: c_int,
    dest: (*mut c_void, i32),
) -> Result<c_int> {
    let work = |src: &[u8], dest: &mut [u8]| {
        with_reader(|reader| reader.getitem(src, start, nitems, dest))
    };
    // SAFETY: guaranteed by the caller.
    unsafe { read_chunk(src, dest, work) }
}

/// Compresses a buffer into a chunk, with the global settings.
///
/// Environment variables override the arguments and the settings: BLOSC_CLEVEL, BLOSC_SHUFFLE,
/// BLOSC_DELTA, BLOSC_TYPESIZE, BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE, BLOSC_NTHREADS, BLOSC_SPLITMODE.
/// With BLOSC_NOLOCK, calls in different threads do not wait for one another. With
/// BLOSC_BLOSC1_COMPAT, the chunk has the header of Blosc 1.x.
///
/// - `clevel`: the compression level: 0 (no compression) to 9 (smallest).
/// - `doshuffle`: BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
/// - `typesize`: the size of an item in bytes.
/// - `src`: the data.
/// - `srcsize`: the size of the data in bytes, at most BLOSC2_MAX_BUFFERSIZE.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes; `srcsize` + BLOSC2_MAX_OVERHEAD is always
///   sufficient.
///
/// Returns the size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative error
/// code.
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
        let how = (clevel, doshuffle, typesize);
        // SAFETY: the caller passes a source and a destination of these sizes, or NULL.
        unsafe { compress(how, (src, srcsize), (dest, destsize)) }
    })
}

/// Compresses a buffer into a chunk like blosc2_compress(), with the signature of Blosc 1.x.
///
/// - `clevel`: the compression level: 0 (no compression) to 9 (smallest).
/// - `doshuffle`: BLOSC_NOSHUFFLE, BLOSC_SHUFFLE or BLOSC_BITSHUFFLE.
/// - `typesize`: the size of an item in bytes.
/// - `nbytes`: the size of the data in bytes, at most BLOSC2_MAX_BUFFERSIZE.
/// - `src`: the data.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes; `nbytes` + BLOSC2_MAX_OVERHEAD is always
///   sufficient.
///
/// Returns the size of the chunk in bytes, 0 if it does not fit in `destsize`, or a negative error
/// code.
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
        let how = (clevel, doshuffle, typesize);
        // SAFETY: the caller passes a source and a destination of these sizes, or NULL.
        unsafe { compress(how, (src, clamped(nbytes)), (dest, clamped(destsize))) }
    })
}

/// Converts a size of Blosc 1.x, limited to `i32::MAX`.
fn clamped(size: usize) -> i32 {
    i32::try_from(size).unwrap_or(i32::MAX)
}

/// Decompresses a chunk. The environment variables BLOSC_NTHREADS and BLOSC_NOLOCK apply as in
/// blosc2_compress().
///
/// - `src`: the chunk.
/// - `srcsize`: the size of the buffer with the chunk in bytes, at least the size of the chunk.
/// - `dest`: the destination, owned by the caller; may be NULL if the chunk has no data.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_decompress(
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_decompress, in_memory, {
        // SAFETY: the caller passes a chunk and a destination of these sizes, or NULL.
        unsafe { decompress((src, srcsize), (dest, destsize)) }
    })
}

/// Decompresses a chunk like blosc2_decompress(), with the signature of Blosc 1.x. It reads as many
/// bytes as the header of the chunk states: do not use it for untrusted chunks.
///
/// - `src`: the chunk.
/// - `dest`: the destination, owned by the caller; may be NULL if the chunk has no data.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_decompress(
    src: *const c_void,
    dest: *mut c_void,
    destsize: usize,
) -> c_int {
    boundary!(blosc1_decompress, in_memory, {
        // SAFETY: the caller passes a chunk and a destination of that size, or NULL.
        unsafe {
            let srcsize = chunk_by_header(src)?.len() as i32;
            decompress((src, srcsize), (dest, clamped(destsize)))
        }
    })
}

/// Decompresses a range of items of a chunk.
///
/// - `src`: the chunk.
/// - `srcsize`: the size of the buffer with the chunk in bytes, at least the size of the chunk.
/// - `start`: the index of the first item.
/// - `nitems`: the number of items.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the number of bytes written, or a negative error code.
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
        // SAFETY: the caller passes a chunk and a destination of these sizes, or NULL.
        unsafe { getitem((src, srcsize), start, nitems, (dest, destsize)) }
    })
}

/// Decompresses a range of items of a chunk like blosc2_getitem(), with the signature of Blosc 1.x.
/// It reads as many bytes as the header of the chunk states: do not use it for untrusted chunks.
///
/// - `src`: the chunk.
/// - `start`: the index of the first item.
/// - `nitems`: the number of items.
/// - `dest`: the destination, `nitems` * typesize bytes, owned by the caller.
///
/// Returns the number of bytes written, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_getitem(
    src: *const c_void,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
) -> c_int {
    boundary!(blosc1_getitem, in_memory, {
        // SAFETY: the caller passes a chunk and space for the items, or NULL.
        unsafe {
            let chunk = chunk_by_header(src)?;
            let (srcsize, header) = (chunk.len() as i32, BasicHeader::parse(chunk)?);
            let destsize = i32::from(header.typesize).saturating_mul(nitems);
            getitem((src, srcsize), start, nitems, (dest, destsize))
        }
    })
}

/// Returns the number of threads of the functions without context, which is also that of opened
/// super-chunks.
pub(crate) fn nthreads() -> i16 {
    settings().get().nthreads()
}

/// Returns the number of threads of the functions without context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_nthreads() -> i16 {
    boundary!(blosc2_get_nthreads, { Ok(nthreads()) })
}

/// Sets the number of threads of the functions without context.
///
/// - `nthreads`: the number of threads, at least 1.
///
/// Returns the previous number, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_nthreads(nthreads: i16) -> i16 {
    boundary!(blosc2_set_nthreads, { with_settings(|settings| settings.set_nthreads(nthreads)) })
}

/// Returns the name of the codec of the functions without context, or NULL after an unknown one was
/// set. The library owns the name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_get_compressor() -> *const c_char {
    boundary!(blosc1_get_compressor, always, {
        let code = settings().get().compressor();
        let name = code.and_then(codec::compcode_to_compname);
        Ok(name.map_or(null(), |name| name.as_ptr()))
    })
}

/// Sets the codec of the functions without context.
///
/// - `compname`: the name of the codec.
///
/// Returns the code of the codec, or -1 for an unknown one; compression then fails until another
/// one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_set_compressor(compname: *const c_char) -> c_int {
    boundary!(blosc1_set_compressor, {
        // SAFETY: the caller passes a NUL-terminated string or NULL.
        let name = unsafe { pointers::c_str(compname) }.ok_or(Error::Failure)?;
        let code = with_settings(|settings| settings.set_compressor(name.to_bytes()))?;
        Ok(c_int::from(code))
    })
}

/// Returns the block size of the functions without context in bytes, or 0 if it is automatic.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_get_blocksize() -> c_int {
    boundary!(blosc1_get_blocksize, { Ok(settings().get().blocksize()) })
}

/// Sets the block size of the functions without context.
///
/// - `blocksize`: the block size in bytes, or 0 for an automatic one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_set_blocksize(blocksize: usize) {
    boundary!(blosc1_set_blocksize, {
        with_settings(|settings| settings.set_blocksize(clamped(blocksize)));
        Ok(())
    });
}

/// Sets the mode in which the functions without context split blocks into streams.
///
/// - `splitmode`: BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT, BLOSC_AUTO_SPLIT or
///   BLOSC_FORWARD_COMPAT_SPLIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_set_splitmode(splitmode: c_int) {
    boundary!(blosc1_set_splitmode, {
        with_settings(|settings| settings.set_splitmode(SplitMode(splitmode)));
        Ok(())
    });
}

/// Enables or disables the delta filter of the functions without context.
///
/// - `dodelta`: 0 to disable it; otherwise it is enabled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_delta(dodelta: c_int) {
    boundary!(blosc2_set_delta, {
        with_settings(|settings| settings.set_delta(dodelta != 0));
        Ok(())
    });
}
