//! Functions that create, open, copy and free super-chunks.

pub mod chunks;
pub mod frames;
pub mod parameters;
pub mod slices;

use crate::bridge::context::Context;
use crate::bridge::io::{backend, is_locked};
use crate::bridge::params::{cparams_of_stored, stored_params};
use crate::bridge::schunk::{Allocated, CSchunk, Purpose};
use crate::types::flag::{flag, is_set};
use crate::types::io::{blosc2_io, blosc2_storage};
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use crate::types::schunk::blosc2_schunk;
use crate::{defaults, global};
use ferroblosc::frame::{Counters, Files, Frame, Loaded};
use ferroblosc::io::lock::Lock;
use ferroblosc::io::{Backend, paths};
use ferroblosc::schunk::{Layers, State, copy, describe, refresh_all};
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::{boundary, os, pointers};
use std::ffi::{c_char, c_int};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;

/// The environment variable that selects the tuner [`BTUNE`].
const BTUNE_VARIABLE: &str = "BTUNE_TRADEOFF";
const BTUNE: c_int = 32;

/// A copy of a caller's storage, owned by the library.
struct OwnStorage {
    contiguous: bool,
    /// The path as a C string; empty without a path.
    urlpath: Buffer,
    cparams: blosc2_cparams,
    dparams: blosc2_dparams,
    io: blosc2_io,
}

impl OwnStorage {
    /// Copies a storage; NULL members become the defaults.
    ///
    /// # Safety
    /// `storage` is NULL or a storage whose pointers are NULL or valid.
    unsafe fn copy_of(storage: *const blosc2_storage) -> Result<OwnStorage> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let storage = storage.as_ref().unwrap_or(&defaults::STORAGE);
            Ok(OwnStorage {
                contiguous: is_set(storage.contiguous),
                urlpath: match pointers::path(storage.urlpath)? {
                    Some(path) => copied_path(paths::without_scheme(path))?,
                    None => Buffer::new(),
                },
                cparams: *storage.cparams.as_ref().unwrap_or(&defaults::CPARAMS),
                dparams: *storage.dparams.as_ref().unwrap_or(&defaults::DPARAMS),
                io: *storage.io.as_ref().unwrap_or(&defaults::IO),
            })
        }
    }

    /// Moves the storage to the heap, for the `storage` field of a super-chunk.
    fn into_raw(self) -> *mut blosc2_storage {
        Box::into_raw(Box::new(blosc2_storage {
            contiguous: flag(self.contiguous),
            urlpath: self.urlpath.into_raw().cast(),
            cparams: Box::into_raw(Box::new(self.cparams)),
            dparams: Box::into_raw(Box::new(self.dparams)),
            io: Box::into_raw(Box::new(self.io)),
        }))
    }
}

/// Copies a path to a C string from `malloc`.
fn copied_path(path: &Path) -> Result<Buffer> {
    let text = os::path::text(path).ok_or(Error::InvalidParam)?;
    Buffer::copy_of(text.as_bytes_with_nul())
}

/// Returns the files of a frame, and the lock of its path if locking is enabled.
///
/// # Safety
/// The parameters in `io` are those that the backend expects.
unsafe fn files_and_lock(
    backend: Arc<dyn Backend>,
    io: &blosc2_io,
    path: &Path,
    contiguous: bool,
    start: u64,
) -> (Files, Option<Arc<Lock>>) {
    // SAFETY: guaranteed by the caller.
    let locked = unsafe { is_locked(io) };
    if contiguous {
        (
            Files::contiguous(backend, path.to_path_buf(), start),
            locked.then(|| Arc::new(Lock::of_file(path))),
        )
    } else {
        (
            Files::sparse(backend, path.to_path_buf(), start),
            locked.then(|| Arc::new(Lock::of_directory(path))),
        )
    }
}

/// A super-chunk under construction. It is freed when dropped before [`Building::finish`].
struct Building(CSchunk);

impl Building {
    /// Creates an empty super-chunk with the parameters of the storage. The current call fills it
    /// from `sources`.
    fn new(storage: OwnStorage, sources: &[CSchunk]) -> Result<Building> {
        let schunk = Allocated::zeroed()?;
        // SAFETY: the super-chunk was just created, so the pointer is valid.
        let building = Building(unsafe { CSchunk::new(schunk) }?);
        building.0.set_sources(sources);
        let OwnStorage { cparams, dparams, .. } = &storage;
        building.0.set_recorded(&stored_params(cparams));
        building.0.store_counters(Counters::empty(cparams.blocksize));
        let (mut cparams, mut dparams) = (*cparams, *dparams);
        let storage = storage.into_raw();
        // SAFETY: the struct and its storage were just created, and only this call has pointers to
        // them.
        unsafe {
            (*schunk).storage = storage;
            (*schunk).tuner_params = cparams.tuner_params;
            (*schunk).tuner_id = cparams.tuner_id;
            cparams.schunk = schunk.cast();
            dparams.schunk = schunk.cast();
            *(*storage).cparams = cparams;
            *(*storage).dparams = dparams;
            (*schunk).cctx = Context::for_compression(cparams)?;
            (*schunk).dctx = Context::for_decompression(dparams)?;
        }
        Ok(building)
    }

    fn set_frame(&self, frame: Frame) {
        // SAFETY: only this call has a pointer to the struct, which has no frame yet.
        unsafe { self.0.set_frame(frame) }
    }

    fn finish(self) -> *mut blosc2_schunk {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        // SAFETY: this call created the super-chunk and holds the only pointer to it.
        unsafe { free_parts(self.0) }
    }
}

/// Frees a super-chunk and everything it owns, but no files.
///
/// # Safety
/// The super-chunk is not used again.
pub(crate) unsafe fn free_parts(schunk: CSchunk) {
    schunk.free_layers(Layers::Fixed);
    schunk.free_layers(Layers::Variable);
    let nchunks = usize::try_from(schunk.counters().nchunks).unwrap_or(0);
    let schunk = schunk.as_ptr();
    // SAFETY: each pointer that is not NULL was allocated by the library, or passed to it with
    // ownership. The chunks and the frame of a view belong to its base and are not freed.
    unsafe {
        Context::free((*schunk).cctx);
        Context::free((*schunk).dctx);
        if !(*schunk).view {
            if !(*schunk).data.is_null() {
                for i in 0..nchunks {
                    libc::free((*(*schunk).data.add(i)).cast());
                }
                libc::free((*schunk).data.cast());
            }
            if !(*schunk).frame.is_null() {
                Box::from_raw((*schunk).frame).frame.compact_on_close();
            }
        }
        libc::free((*schunk).blockshape.cast());
        if !(*schunk).storage.is_null() {
            let storage = Box::from_raw((*schunk).storage);
            libc::free(storage.urlpath.cast());
            drop(Box::from_raw(storage.cparams));
            drop(Box::from_raw(storage.dparams));
            drop(Box::from_raw(storage.io));
        }
        drop(Box::from_raw(schunk.cast::<Allocated>()));
    }
}

/// Creates an empty super-chunk. If the current call fills it from `sources`, it must end with
/// [`CSchunk::clear_sources`].
///
/// # Safety
/// `storage` is NULL or a storage whose pointers are NULL or valid.
pub(crate) unsafe fn create(
    storage: *const blosc2_storage,
    sources: &[CSchunk],
) -> Result<*mut blosc2_schunk> {
    // SAFETY: guaranteed by the caller.
    let mut storage = unsafe { OwnStorage::copy_of(storage) }?;
    if storage.cparams.typesize <= 0 {
        return Err(Error::InvalidParam);
    }
    if std::env::var_os(BTUNE_VARIABLE).is_some() {
        storage.cparams.tuner_id = BTUNE;
    }
    if storage.cparams.tuner_id == BTUNE {
        storage.cparams.use_dict = 0;
    }
    let (contiguous, io) = (storage.contiguous, storage.io);
    let building = Building::new(storage, sources)?;
    let description = describe(&building.0, building.0.counters())?;
    // SAFETY: the super-chunk owns the path; the parameters are those that the backend expects.
    let frame = unsafe {
        let urlpath = (*(*building.0.as_ptr()).storage).urlpath;
        match pointers::path(urlpath)? {
            None if contiguous => Some(Frame::create_in_memory(&description)?),
            None => None,
            Some(path) => {
                let (files, lock) = files_and_lock(backend(&io)?, &io, path, contiguous, 0);
                Some(Frame::create(files, lock, &description)?)
            }
        }
    };
    if let Some(frame) = frame {
        building.set_frame(frame);
    }
    Ok(building.finish())
}

/// Frees a super-chunk whose construction failed, and removes its files, unless another file was
/// renamed to their path.
///
/// # Safety
/// The current call created the super-chunk and holds the only pointer to it.
pub(crate) unsafe fn discard(schunk: *mut blosc2_schunk) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Ok(schunk) = CSchunk::new(schunk) {
            // The files of a view belong to its base.
            let is_view = (*schunk.as_ptr()).view;
            let frame = schunk.frame().filter(|_| !is_view);
            let is_named = frame.and_then(Frame::files).is_some_and(|files| files.is_named());
            let path = frame.and_then(Frame::path).filter(|_| is_named);
            free_parts(schunk);
            if let Some(path) = path {
                let _ = paths::remove_urlpath(&path);
            }
        }
    }
}

/// Creates a super-chunk in memory that shares the chunks of `base` and has no fixed metalayers
/// yet.
///
/// # Safety
/// The base is alive, its storage is complete, and it outlives the view.
pub(crate) unsafe fn view_of(base: CSchunk) -> Result<*mut blosc2_schunk> {
    // SAFETY: guaranteed by the caller.
    let storage = unsafe {
        let storage = &*(*base.as_ptr()).storage;
        OwnStorage::copy_of(&blosc2_storage {
            contiguous: flag(false),
            urlpath: null_mut(),
            ..*storage
        })?
    };
    let building = Building::new(storage, &[])?;
    let mut copied = Ok(());
    base.with_layers(Layers::Variable, &mut |layers| {
        copied = layers.iter().try_for_each(|&(name, content)| {
            let content = ferroblosc::Buffer::copy_of(content)?;
            let mut view = building.0;
            view.add_layer(Layers::Variable, name, content)
        });
    });
    copied?;
    building.0.set_recorded(&base.recorded());
    building.0.store_counters(base.counters());
    building.0.set_view_of(base);
    Ok(building.finish())
}

/// Sets the item size, in bytes, of a super-chunk that was just opened.
///
/// # Safety
/// Only this call uses the super-chunk.
pub(crate) unsafe fn set_typesize(schunk: CSchunk, typesize: i32) -> Result<()> {
    let cparams = schunk.cctx()?.cparams();
    let schunk = schunk.as_ptr();
    // SAFETY: guaranteed by the caller; an opened super-chunk has valid contexts and a valid
    // storage.
    unsafe {
        let context = Context::for_compression(blosc2_cparams {
            typesize,
            schunk: schunk.cast(),
            ..cparams
        })?;
        Context::free(std::mem::replace(&mut (*schunk).cctx, context));
        (*schunk).typesize = typesize;
        (*(*(*schunk).storage).cparams).typesize = typesize;
    }
    Ok(())
}

/// Returns the parameters of an opened frame.
fn parameters_of(loaded: &Loaded) -> (blosc2_cparams, blosc2_dparams) {
    let nthreads = global::nthreads();
    let cparams = blosc2_cparams {
        nthreads,
        ..cparams_of_stored(&loaded.recorded, loaded.counters.blocksize)
    };
    let dparams = blosc2_dparams { nthreads, typesize: 0, ..defaults::DPARAMS };
    (cparams, dparams)
}

/// Creates a super-chunk from the contents of a frame. It owns `frame`; with `None`, its chunks are
/// stored in separate blocks of memory.
pub(crate) fn assemble(
    loaded: &Loaded,
    frame: Option<Frame>,
    (contiguous, urlpath, io): (bool, Buffer, blosc2_io),
) -> Result<*mut blosc2_schunk> {
    let (cparams, dparams) = parameters_of(loaded);
    let building = Building::new(OwnStorage { contiguous, urlpath, cparams, dparams, io }, &[])?;
    building.0.replace_layers(Layers::Fixed, &loaded.metalayers)?;
    building.0.replace_layers(Layers::Variable, &loaded.vlmetalayers)?;
    if let Some(frame) = frame {
        building.set_frame(frame);
        building.0.store_counters(loaded.counters);
    }
    Ok(building.finish())
}

/// Opens a frame in files.
///
/// # Safety
/// `urlpath` is NULL or a C string; `io` is NULL or a backend with the parameters it expects.
pub(crate) unsafe fn open(
    urlpath: *const c_char,
    offset: i64,
    io: *const blosc2_io,
) -> Result<*mut blosc2_schunk> {
    // SAFETY: guaranteed by the caller.
    let (given, io) = unsafe {
        let given = pointers::path(urlpath)?.ok_or(Error::InvalidParam)?;
        (given, *io.as_ref().unwrap_or(&defaults::IO))
    };
    // SAFETY: guaranteed by the caller.
    let backend = unsafe { backend(&io) }?;
    let opened = (|| {
        let path = paths::without_scheme(given);
        let start = u64::try_from(offset).map_err(|_| Error::InvalidParam)?;
        let contiguous = !std::fs::metadata(path)
            .map_err(|error| Error::FileOpen.during("open").at(path).os(error))?
            .is_dir();
        // SAFETY: guaranteed by the caller.
        let (files, lock) =
            unsafe { files_and_lock(Arc::clone(&backend), &io, path, contiguous, start) };
        let (frame, loaded) = Frame::open(files, lock)?;
        assemble(&loaded, Some(frame), (contiguous, copied_path(given)?, io))
    })();
    if opened.is_err() {
        // Notifies the backend that its parameters are not used again.
        let _ = backend.destroy();
    }
    opened
}

/// Creates an empty super-chunk in memory or at a path.
///
/// - `storage`: the storage, which is copied. NULL, or a NULL member, selects the defaults. With a
///   `urlpath`, the path must not exist.
///
/// Returns a super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_new(storage: *mut blosc2_storage) -> *mut blosc2_schunk {
    boundary!(blosc2_schunk_new, {
        // SAFETY: the caller passes a storage, or NULL.
        unsafe { create(storage, &[]) }
    })
}

/// Copies a super-chunk to another storage, with its metalayers.
///
/// The chunks are recompressed if the compression parameters of the storage differ from those of
/// the super-chunk.
///
/// - `schunk`: the super-chunk.
/// - `storage`: the storage of the copy. NULL compression parameters select those of the
///   super-chunk.
///
/// Returns a super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_copy(
    schunk: *mut blosc2_schunk,
    storage: *mut blosc2_storage,
) -> *mut blosc2_schunk {
    boundary!(blosc2_schunk_copy, {
        // SAFETY: the caller passes a super-chunk and a storage, or NULL.
        unsafe { copy_to(*CSchunk::enter(schunk, Purpose::Read)?, pointers::reference(storage)?) }
    })
}

/// Copies a super-chunk to another storage.
///
/// # Safety
/// The pointers in the storage are NULL or valid.
pub(crate) unsafe fn copy_to(
    source: CSchunk,
    storage: &blosc2_storage,
) -> Result<*mut blosc2_schunk> {
    let own = source.cparams_of_copies();
    // SAFETY: guaranteed by the caller.
    let mut cparams = *unsafe { storage.cparams.as_ref() }.unwrap_or(&own);
    let verbatim = parameters::make_same_chunks(source, &cparams, &own);
    let storage = blosc2_storage { cparams: &raw mut cparams, ..*storage };
    // SAFETY: the caller guarantees the pointers in the storage, and `cparams` outlives the call.
    let target = unsafe { create(&raw const storage, &[source]) }?;
    // SAFETY: the super-chunk was just created, so the pointer is valid.
    let mut state = unsafe { CSchunk::new(target) }?;
    if let Err(error) = copy::copy(&source, &mut state, verbatim) {
        // SAFETY: this call created the super-chunk and holds the only pointer to it.
        unsafe { discard(target) };
        return Err(error);
    }
    state.clear_sources();
    Ok(target)
}

/// Frees a super-chunk. Files are kept.
///
/// The views of the super-chunk must be freed first.
///
/// - `schunk`: the super-chunk; NULL is allowed.
///
/// Returns 0, or 1 if the I/O backend could not free its parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_free(schunk: *mut blosc2_schunk) -> c_int {
    boundary!(blosc2_schunk_free, always, {
        // SAFETY: the caller passes a super-chunk that is not used again, or NULL.
        Ok(c_int::from(unsafe { free(schunk) }.is_err()))
    })
}

/// Frees a super-chunk; NULL is allowed.
///
/// # Errors
/// The error of the I/O backend's `destroy`.
///
/// # Safety
/// The super-chunk is not used again.
pub(crate) unsafe fn free(schunk: *mut blosc2_schunk) -> Result<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Ok(schunk) = CSchunk::new(schunk) else {
            return Ok(());
        };
        let io = (*schunk.as_ptr()).storage.as_ref().map(|storage| *storage.io);
        let is_view = (*schunk.as_ptr()).view;
        free_parts(schunk);
        // The base of a view still uses the backend.
        match io.filter(|_| !is_view).and_then(|io| backend(&io).ok()) {
            Some(backend) => backend.destroy(),
            None => Ok(()),
        }
    }
}

/// Opens the super-chunk in a file or directory.
///
/// - `urlpath`: the path of the file or directory.
///
/// Returns a super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_open(urlpath: *const c_char) -> *mut blosc2_schunk {
    boundary!(blosc2_schunk_open, {
        // SAFETY: the caller passes a path, or NULL.
        unsafe { open(urlpath, 0, std::ptr::null()) }
    })
}

/// Opens the super-chunk whose frame starts at an offset in a file.
///
/// - `urlpath`: the path of the file.
/// - `offset`: the offset of the frame in bytes.
///
/// Returns a super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_open_offset(
    urlpath: *const c_char,
    offset: i64,
) -> *mut blosc2_schunk {
    boundary!(blosc2_schunk_open_offset, {
        // SAFETY: the caller passes a path, or NULL.
        unsafe { open(urlpath, offset, std::ptr::null()) }
    })
}

/// Opens a super-chunk through an I/O backend.
///
/// - `urlpath`: the path of the file or directory.
/// - `udio`: the backend, or NULL for the file system. The struct is copied; its `params` must
///   outlive the super-chunk. The backend destroys them with the super-chunk, and also if opening
///   fails.
///
/// Returns a super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_open_udio(
    urlpath: *const c_char,
    udio: *const blosc2_io,
) -> *mut blosc2_schunk {
    boundary!(blosc2_schunk_open_udio, {
        // SAFETY: the caller passes a path and a backend, or NULL.
        unsafe { open(urlpath, 0, udio) }
    })
}

/// Opens the super-chunk whose frame starts at an offset in a file, through an I/O backend.
///
/// - `urlpath`: the path of the file.
/// - `offset`: the offset of the frame in bytes.
/// - `udio`: the backend, as for blosc2_schunk_open_udio().
///
/// Returns a super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_open_offset_udio(
    urlpath: *const c_char,
    offset: i64,
    udio: *const blosc2_io,
) -> *mut blosc2_schunk {
    boundary!(blosc2_schunk_open_offset_udio, {
        // SAFETY: the caller passes a path and a backend, or NULL.
        unsafe { open(urlpath, offset, udio) }
    })
}

/// Reloads a super-chunk if another handle or process has changed its file.
///
/// - `schunk`: the super-chunk.
///
/// Returns 1 if the file had changed, 0 if not, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_refresh(schunk: *mut blosc2_schunk) -> c_int {
    boundary!(blosc2_schunk_refresh, {
        // SAFETY: the caller passes a super-chunk, or NULL.
        let schunk = unsafe { CSchunk::enter(schunk, Purpose::Inspect) }?;
        refresh_all(&*schunk).map(c_int::from)
    })
}

/// Locks the file of a super-chunk against other handles and processes.
///
/// Calls may be nested; each needs a blosc2_schunk_unlock(). Without locking enabled, or without a
/// file, the file is not locked. The call waits for calls of other threads with the super-chunk.
///
/// - `schunk`: the super-chunk.
///
/// Returns 0, BLOSC2_ERROR_LOCK, or BLOSC2_ERROR_INVALID_PARAM if it would wait for a callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_lock(schunk: *mut blosc2_schunk) -> c_int {
    boundary!(blosc2_schunk_lock, {
        // Readers hold the lock shared, and a lock that is held is not upgraded.
        // SAFETY: the caller passes a super-chunk, or NULL.
        let schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        schunk.frame().map_or(Ok(()), Frame::lock).map(|()| 0)
    })
}

/// Releases a lock of blosc2_schunk_lock().
///
/// - `schunk`: the super-chunk.
///
/// Returns 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_unlock(schunk: *mut blosc2_schunk) -> c_int {
    boundary!(blosc2_schunk_unlock, always, {
        // SAFETY: the caller passes a super-chunk, or NULL.
        let schunk = unsafe { CSchunk::new(schunk) }?;
        // Overlapping calls of other threads would otherwise keep the lock, which stays exclusive.
        // A call that can't wait for them releases it nevertheless.
        let _entered = schunk.entered(Purpose::Change).ok();
        if let Some(frame) = schunk.frame() {
            frame.unlock();
        }
        Ok(0)
    })
}
