//! The callbacks of the mapped-file backend.
//!
//! The stream is the parameter struct of the caller, which holds the visible state of the mapping.
//! Each call builds the core's [`Mapping`] from the struct, compares it with the size of the file,
//! which other processes may change, and stores the changes in the struct. Pages of earlier
//! mappings stay mapped until the backend is destroyed, since pointers into them may have been
//! returned.

use crate::global::ENGINES;
use crate::stdio::Transfer;
use crate::types::flag::{flag, is_set};
use crate::types::io::blosc2_io_cb;
use crate::types::stdio::blosc2_stdio_mmap;
use ferroblosc::Error;
use ferroblosc::io::mapping::{Access, Mapping, Pages, identity_of};
use ferroblosc::io::mmap::MapMode;
use ferroblosc::io::{Identity, Mapped};
use ferroblosc::os::files;
use ferroblosc_capi_common::global::{Locked, fork_safe_global};
use ferroblosc_capi_common::os::{self, stdio};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, fn_addr_eq, null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Returns the mapping mode of a name.
fn mode_of(name: &CStr) -> Option<MapMode> {
    match name.to_bytes() {
        b"r" => Some(MapMode::Read),
        b"r+" => Some(MapMode::Update),
        b"w+" => Some(MapMode::Create),
        b"c" => Some(MapMode::Private),
        _ => None,
    }
}

/// Opens the file at `path` as a file of the C library, which is never null.
fn open(path: &CStr, mode: MapMode) -> Result<*mut libc::FILE, Error> {
    let path = os::path::of(path).ok_or(Error::FileOpen)?;
    let failed = |error| Error::FileOpen.during("open").at(path).os(error);
    let file = stdio::of(
        mode.open(path).map_err(failed)?,
        match mode {
            MapMode::Read | MapMode::Private => c"rb",
            MapMode::Update | MapMode::Create => c"rb+",
        },
    );
    if file.is_null() { Err(failed(std::io::Error::last_os_error())) } else { Ok(file) }
}

fork_safe_global! {
    /// State of mapped files that is not in their structs. An entry exists from the first use of a
    /// mapping until it is destroyed. Callbacks of calls that lock the engines may use mapped
    /// files.
    static MAPPED: Vec<MappingState> = Vec::new();
    locked after ENGINES;
}

/// State of a mapped file that is not in its struct.
struct MappingState {
    /// The address of the struct.
    params: usize,
    /// The size of the file in bytes when it was mapped, for a private mapping.
    of_file: usize,
    /// Whether a private mapping was written to.
    changed: bool,
    /// Pages of earlier mappings that pointers may still refer to.
    old: Vec<Pages>,
}

/// The total number of [`MappingState::old`] in all entries. It changes only while [`MAPPED`] is
/// locked, and is read without the lock.
static OLD_PAGES: AtomicUsize = AtomicUsize::new(0);

impl MappingState {
    /// Keeps pages of the mapping that is replaced. Must precede [`store_mapping`].
    fn keep(&mut self, pages: Pages) {
        self.old.push(pages);
        OLD_PAGES.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for MappingState {
    fn drop(&mut self) {
        OLD_PAGES.fetch_sub(self.old.len(), Ordering::Relaxed);
    }
}

fn mapped() -> Locked<'static, Vec<MappingState>> {
    MAPPED.lock()
}

/// Returns the entry of a struct. Adds an entry if a program filled in the struct itself.
fn state_of(
    mapped: &mut Vec<MappingState>,
    params: *const blosc2_stdio_mmap,
    file_size: usize,
) -> &mut MappingState {
    let params = params.addr();
    let at = mapped.iter().position(|state| state.params == params);
    let at = at.unwrap_or_else(|| {
        mapped.push(MappingState { params, of_file: file_size, changed: false, old: Vec::new() });
        mapped.len() - 1
    });
    &mut mapped[at]
}

/// Returns the kind of mapping that these callbacks create with these parameters; [`Mapped::No`]
/// for callbacks of other modules and for NULL.
///
/// # Safety
/// The parameters are those that the callbacks expect.
pub(crate) unsafe fn kind_of(callbacks: &blosc2_io_cb, params: *mut c_void) -> Mapped {
    type Open = unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void;
    let is_here =
        callbacks.open.is_some_and(|open| fn_addr_eq(open, blosc2_stdio_mmap_open as Open));
    if !is_here {
        return Mapped::No;
    }
    // SAFETY: these callbacks expect this struct, or NULL.
    let Some(params) = (unsafe { params.cast::<blosc2_stdio_mmap>().as_ref() }) else {
        return Mapped::No;
    };
    // SAFETY: the mode is NULL or NUL-terminated, as the caller of the C function guarantees.
    let mode = unsafe { pointers::c_str(params.mode) }.and_then(mode_of);
    let is_private = mode == Some(MapMode::Private);
    if is_set(params.is_memory_only) || is_private { Mapped::Private } else { Mapped::Shared }
}

/// Returns the mapping that the struct describes, if there is one.
///
/// # Safety
/// The struct is valid during the call.
unsafe fn mapping_of(params: *mut blosc2_stdio_mmap) -> Option<Mapping> {
    // SAFETY: guaranteed by the caller. Fields that other threads may change are atomic. The file
    // size is loaded first since it is stored last.
    unsafe {
        let file_size = AtomicUsize::from_ptr(&raw mut (*params).file_size).load(Ordering::Acquire);
        let mapping_size = AtomicUsize::from_ptr(&raw mut (*params).mapping_size);
        let start = AtomicPtr::from_ptr(&raw mut (*params).addr).load(Ordering::Acquire);
        let writable = Access::is_writable((*params).access_flags);
        Some(Mapping {
            start: NonNull::new(start.cast())?,
            file_size,
            mapping_size: mapping_size.load(Ordering::Acquire),
            access: match (writable, is_set((*params).is_memory_only)) {
                (false, _) => Access::Read,
                (true, false) => Access::Write,
                (true, true) => Access::Private,
            },
            fd: stdio::descriptor((*params).fd),
            of_file: file_size,
            has_holes: false,
            changed: false,
        })
    }
}

/// Returns the mapping of a struct, updated to the size of its file; `None` if there is no mapping,
/// or if the file cannot be mapped again.
///
/// # Safety
/// The same conditions as for [`mapping_of`].
unsafe fn current(params: *mut blosc2_stdio_mmap) -> Option<Mapping> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut mapping = mapping_of(params)?;
        if mapping.access != Access::Private && mapping.compare() {
            return Some(mapping);
        }
        let mut all = mapped();
        let mut mapping = mapping_of(params)?;
        let state = state_of(&mut all, params, mapping.file_size);
        (mapping.of_file, mapping.changed) = (state.of_file, state.changed);
        let old = mapping.adapt_to_file_size().ok()?;
        if let Some(pages) = old {
            state.keep(pages);
        }
        state.of_file = mapping.of_file;
        store_mapping(params, &mapping);
        Some(mapping)
    }
}

/// Changes a mapped file and stores the new state in the struct.
///
/// # Safety
/// The same conditions as for [`mapping_of`]; no other thread uses the struct during the call.
unsafe fn change<T>(
    params: *mut blosc2_stdio_mmap,
    change: impl FnOnce(&mut Mapping) -> T,
) -> Option<T> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut mapping = current(params)?;
        let result = change(&mut mapping);
        store_mapping(params, &mapping);
        state_of(&mut mapped(), params, mapping.file_size).changed = mapping.changed;
        Some(result)
    }
}

/// Whether at least one of the `len` bytes at `start` is mapped, now or by an earlier mapping whose
/// pages are kept. Only addresses are compared.
///
/// # Safety
/// The same conditions as for [`mapping_of`].
pub(crate) unsafe fn is_mapped(
    params: *mut blosc2_stdio_mmap,
    start: *const u8,
    len: usize,
) -> bool {
    // SAFETY: guaranteed by the caller.
    if unsafe { mapping_of(params) }.is_some_and(|mapping| mapping.has(start, len)) {
        return true;
    }
    // A thread that replaced the mapping kept its pages before. Files are rarely mapped again, and
    // reads should not wait for the list.
    OLD_PAGES.load(Ordering::Relaxed) > 0
        && mapped()
            .iter()
            .filter(|state| state.params == params.addr())
            .any(|state| state.old.iter().any(|pages| pages.has(start, len)))
}

/// Stores the address and the sizes of a mapping in its struct.
///
/// # Safety
/// The same conditions as for [`mapping_of`].
unsafe fn store_mapping(params: *mut blosc2_stdio_mmap, mapping: &Mapping) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let start = AtomicPtr::from_ptr(&raw mut (*params).addr);
        start.store(mapping.start.as_ptr().cast(), Ordering::Release);
        AtomicUsize::from_ptr(&raw mut (*params).mapping_size)
            .store(mapping.mapping_size, Ordering::Release);
        AtomicUsize::from_ptr(&raw mut (*params).file_size)
            .store(mapping.file_size, Ordering::Release);
    }
}

/// Maps the file at the path if it is not the mapped file. On failure, the old mapping is kept.
///
/// # Safety
/// The same conditions as for [`mapping_of`]; the struct has a mapping.
unsafe fn remap_if_replaced(params: *mut blosc2_stdio_mmap, path: &CStr) {
    let named = os::path::of(path).and_then(|path| files::identity_at(path).ok());
    let Some(named) = named else { return };
    // SAFETY: guaranteed by the caller; the file opened here is used only by this call.
    unsafe {
        let is_same = |fd| {
            identity_of(stdio::descriptor(fd)).is_none_or(|ours| (ours.device, ours.inode) == named)
        };
        if is_same((*params).fd) {
            return;
        }
        let mut all = mapped();
        let Some(mut mapping) = mapping_of(params).filter(|_| !is_same((*params).fd)) else {
            return;
        };
        let state = state_of(&mut all, params, mapping.file_size);
        if state.changed && mapping.access == Access::Private {
            return;
        }
        let mode = match mapping.access {
            Access::Write => MapMode::Update,
            Access::Read | Access::Private => MapMode::Read,
        };
        let Ok(file) = open(path, mode) else {
            return;
        };
        let initial = (*params).initial_mapping_size;
        // The descriptor keeps its number, since other threads may be using it.
        if stdio::redirect((*params).fd, stdio::number(file))
            && let Ok(new) = Mapping::new(stdio::descriptor((*params).fd), mapping.access, initial)
        {
            state.keep(mapping.replace(new));
            state.of_file = mapping.of_file;
            store_mapping(params, &mapping);
        }
        libc::fclose(file);
    }
}

/// Returns the identity of the file that a struct maps.
///
/// # Safety
/// The struct is valid during the call.
pub(crate) unsafe fn identity(params: *mut blosc2_stdio_mmap) -> Option<Identity> {
    // SAFETY: guaranteed by the caller.
    unsafe { identity_of(mapping_of(params)?.fd) }
}

/// Opens the file at `urlpath`, maps it and stores the mapping in the struct.
///
/// # Safety
/// `params` is a struct without a mapping; `urlpath` is NUL-terminated.
unsafe fn map(params: &mut blosc2_stdio_mmap, urlpath: *const c_char) -> Result<(), Error> {
    // SAFETY: the mode is NULL or NUL-terminated, as the caller of the C function guarantees.
    let mode = unsafe { pointers::c_str(params.mode) };
    let mode = mode.and_then(mode_of).ok_or(Error::InvalidParam)?;
    // SAFETY: the strings are NUL-terminated. After a failure only this call has pointers to the
    // file and the mapping.
    unsafe {
        let file = open(CStr::from_ptr(urlpath), mode)?;
        let fd = stdio::number(file);
        let mapping =
            match Mapping::new(stdio::descriptor(fd), mode.access(), params.initial_mapping_size) {
                Ok(mapping) => mapping,
                Err(error) => {
                    libc::fclose(file);
                    return Err(error);
                }
            };
        let path = libc::strdup(urlpath);
        if path.is_null() {
            // No pointer into the new mapping exists yet.
            let _ = mapping.unmap();
            libc::fclose(file);
            return Err(Error::MemoryAlloc);
        }
        mode.write_info(&CStr::from_ptr(urlpath).to_string_lossy(), &mapping);
        store_mapping(params, &mapping);
        let mut all = mapped();
        all.retain(|state| state.params != (&raw const *params).addr());
        drop(all);
        params.urlpath = path;
        params.file = file;
        params.fd = fd;
    }
    params.is_memory_only = flag(mode.access() == Access::Private);
    params.access_flags = i64::from(mode.access().protection());
    params.map_flags = i64::from(mode.access().flags());
    params.mode = null();
    Ok(())
}

/// Maps a file.
///
/// - `urlpath`: the path of the file.
/// - `_mode`: not used.
/// - `params`: a blosc2_stdio_mmap with the mode and the initial size of the mapping, owned by the
///   caller. If it has a mapping already, `urlpath` must be the mapped file.
///
/// Returns `params` as the stream, or NULL on error. blosc2_stdio_mmap_destroy() removes the
/// mapping.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_open(
    urlpath: *const c_char,
    _mode: *const c_char,
    params: *mut c_void,
) -> *mut c_void {
    boundary!(blosc2_stdio_mmap_open, {
        let stream = params.cast::<blosc2_stdio_mmap>();
        // SAFETY: the caller passes C strings and a struct, or NULL. A thread that opens the file
        // again only reads the struct; no other thread uses it while it is mapped for the first
        // time.
        unsafe {
            let path = pointers::c_str(urlpath).ok_or(Error::InvalidParam)?;
            let mapped = pointers::reference(stream)?;
            if mapped.addr.is_null() {
                map(&mut *stream, urlpath)?;
            } else if pointers::c_str(mapped.urlpath) != Some(path) {
                return Err(Error::FileOpen);
            } else {
                remap_if_replaced(stream, path);
            }
        }
        Ok(params)
    })
}

/// Does nothing: the file stays mapped until blosc2_stdio_mmap_destroy().
///
/// - `_stream`: the stream of blosc2_stdio_mmap_open().
///
/// Returns 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_close(_stream: *mut c_void) -> c_int {
    0
}

/// Returns the size of a mapped file.
///
/// - `stream`: the stream of blosc2_stdio_mmap_open().
///
/// Returns the size in bytes, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_size(stream: *mut c_void) -> i64 {
    boundary!(blosc2_stdio_mmap_size, {
        // SAFETY: the caller passes a stream or NULL.
        let stream = NonNull::new(stream).ok_or(Error::Failure)?;
        // SAFETY: as above.
        let mapping = unsafe { current(stream.as_ptr().cast()) }.ok_or(Error::Failure)?;
        i64::try_from(mapping.file_size).map_err(|_| Error::Failure)
    })
}

/// Writes items at an offset of a mapped file.
///
/// The file grows if necessary; the mapping may move then.
///
/// - `ptr`: the items.
/// - `size`: the size of an item in bytes.
/// - `nitems`: the number of items.
/// - `position`: the offset in the file in bytes.
/// - `stream`: the stream of blosc2_stdio_mmap_open().
///
/// Returns `nitems`, or 0 on error and for a read-only mapping.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_write(
    ptr: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    boundary!(blosc2_stdio_mmap_write, {
        let Some(transfer) = Transfer::new(size, nitems, position) else {
            return Ok(0);
        };
        if stream.is_null() || ptr.is_null() {
            return Ok(0);
        }
        // SAFETY: the caller passes a stream that no other thread uses during the call, and `len`
        // bytes at `ptr`; the struct describes the mapping.
        let written = unsafe {
            change(stream.cast(), |mapping| {
                mapping.write(transfer.position, ptr.cast(), transfer.len)
            })
        };
        Ok::<i64, Error>(match written {
            Some(Ok(())) => transfer.items(transfer.len),
            _ => 0,
        })
    })
}

/// Returns the address of items at an offset of a mapped file.
///
/// The items belong to the mapping and must not be freed. They may be read until the file is next
/// written or truncated. If another process truncates the file, reading them raises SIGBUS.
///
/// - `ptr`: receives the address of the items, NULL on error.
/// - `size`: the size of an item in bytes.
/// - `nitems`: the number of items.
/// - `position`: the offset in the file in bytes.
/// - `stream`: the stream of blosc2_stdio_mmap_open().
///
/// Returns `nitems`, or 0 if the file is too short.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    boundary!(blosc2_stdio_mmap_read, {
        // SAFETY: the caller passes a writable pointer or NULL, and a stream or NULL that no other
        // thread changes during the call; the struct describes the mapping.
        let found = unsafe {
            Transfer::new(size, nitems, position).and_then(|transfer| {
                let stream = NonNull::new(stream)?;
                current(stream.as_ptr().cast())?.at(transfer.position, transfer.len)
            })
        };
        // SAFETY: as above.
        unsafe {
            let start = found.map_or(null_mut(), NonNull::as_ptr);
            pointers::write_if_given(ptr, start.cast());
        }
        Ok::<i64, Error>(match found {
            Some(_) if !ptr.is_null() => nitems,
            _ => 0,
        })
    })
}

/// Sets the size of a mapped file.
///
/// - `stream`: the stream of blosc2_stdio_mmap_open().
/// - `size`: the new size in bytes.
///
/// Returns 0, or -1 on error and for a read-only mapping.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_truncate(stream: *mut c_void, size: i64) -> c_int {
    boundary!(blosc2_stdio_mmap_truncate, {
        let stream = NonNull::new(stream).ok_or(Error::Failure)?;
        let size = u64::try_from(size).map_err(|_| Error::Failure)?;
        // SAFETY: the caller passes a stream that no other thread uses during the call; the struct
        // describes the mapping.
        let truncated = unsafe { change(stream.as_ptr().cast(), |mapping| mapping.truncate(size)) };
        truncated
            .ok_or(Error::Failure)?
            .map_err(|error| error.recast(ferroblosc::ErrorKind::Failure))?;
        Ok(0)
    })
}

/// Removes the mapping of a file after writing its changes to disk.
///
/// - `params`: the blosc2_stdio_mmap, which is freed if its `needs_free` is true.
///
/// Returns 0, or -1 on error and if no file is mapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_destroy(params: *mut c_void) -> c_int {
    boundary!(blosc2_stdio_mmap_destroy, always, {
        // SAFETY: the caller passes a struct or NULL, and does not use the mapping again.
        unsafe {
            let stream = params.cast::<blosc2_stdio_mmap>();
            let opened = stream.as_mut().ok_or(Error::Failure)?;
            let mapping = mapping_of(stream).ok_or(Error::Failure)?;
            mapped().retain(|state| state.params != stream.addr());
            let synced = mapping.sync();
            let unmapped = mapping.unmap();
            let closed = libc::fclose(opened.file);
            libc::free(opened.urlpath.cast());
            opened.addr = null_mut();
            opened.urlpath = null_mut();
            opened.file = null_mut();
            if is_set(opened.needs_free) {
                libc::free(params);
            }
            match (synced, unmapped, closed) {
                (Ok(()), Ok(()), 0) => Ok(0),
                _ => Err(Error::Failure),
            }
        }
    })
}
