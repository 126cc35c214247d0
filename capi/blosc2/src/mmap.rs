//! The mapped-file backend as callbacks.
//!
//! The parameters are the stream: what is known of the mapping is in the struct that the caller made,
//! for him to see, and nowhere else. Each call makes the core's [`Mapping`] of it and, when something
//! changed, puts it back.

use crate::stdio::Transfer;
use crate::types::stdio::blosc2_stdio_mmap;
use ferroblosc::Error;
use ferroblosc::io::mapping::{Access, Mapping};
use ferroblosc::io::mmap::MapMode;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};

/// A mode by its name, and how the file is opened for it.
fn mode_of(name: &CStr) -> Option<(MapMode, &'static CStr)> {
    match name.to_bytes() {
        b"r" => Some((MapMode::Read, c"rb")),
        b"r+" => Some((MapMode::Update, c"rb+")),
        b"w+" => Some((MapMode::Create, c"wb+")),
        b"c" => Some((MapMode::Private, c"rb")),
        _ => None,
    }
}

/// What the struct says of its mapping; none when there is none.
fn mapping_of(params: &blosc2_stdio_mmap) -> Option<Mapping> {
    let writable = params.access_flags & i64::from(libc::PROT_WRITE) != 0;
    Some(Mapping {
        start: NonNull::new(params.addr.cast())?,
        file_size: params.file_size,
        mapping_size: params.mapping_size,
        access: match (writable, params.is_memory_only) {
            (false, _) => Access::Read,
            (true, false) => Access::Write,
            (true, true) => Access::Private,
        },
        fd: params.fd,
    })
}

/// Puts into the struct what a change of the mapping may have changed.
fn put_back(params: &mut blosc2_stdio_mmap, mapping: &Mapping) {
    params.addr = mapping.start.as_ptr().cast();
    params.file_size = mapping.file_size;
    params.mapping_size = mapping.mapping_size;
}

/// Opens the file at `urlpath`, maps it and notes that in the struct.
///
/// # Safety
/// `params` is a struct of the caller's that has no mapping; `urlpath` is NUL-terminated.
unsafe fn map(params: &mut blosc2_stdio_mmap, urlpath: *const c_char) -> Result<(), Error> {
    // SAFETY: the mode is NULL or NUL-terminated, as the caller of the C function promises.
    let mode = unsafe { pointers::c_str(params.mode) };
    let (mode, open_mode) = mode.and_then(mode_of).ok_or(Error::InvalidParam)?;
    // SAFETY: the texts are NUL-terminated; what was acquired before a failure is nobody else's.
    unsafe {
        let file = libc::fopen(urlpath, open_mode.as_ptr());
        if file.is_null() {
            return Err(Error::FileOpen);
        }
        let fd = libc::fileno(file);
        let mapping = match Mapping::new(fd, mode.access(), params.initial_mapping_size) {
            Ok(mapping) => mapping,
            Err(error) => {
                libc::fclose(file);
                return Err(error);
            }
        };
        let path = libc::strdup(urlpath);
        if path.is_null() {
            // The mapping is of pages of our own that nobody knows yet.
            let _ = mapping.unmap();
            libc::fclose(file);
            return Err(Error::MemoryAlloc);
        }
        put_back(params, &mapping);
        params.urlpath = path;
        params.file = file;
        params.fd = fd;
    }
    params.is_memory_only = mode.access() == Access::Private;
    params.access_flags = i64::from(mode.access().protection());
    params.map_flags = i64::from(mode.access().flags());
    params.mode = null();
    Ok(())
}

/// Maps a file as params, a blosc2_stdio_mmap, says; mode is not used. Gives params as the stream,
/// also when the file is mapped already; NULL for another file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_open(
    urlpath: *const c_char,
    _mode: *const c_char,
    params: *mut c_void,
) -> *mut c_void {
    boundary!(blosc2_stdio_mmap_open, {
        let stream = params.cast::<blosc2_stdio_mmap>();
        // SAFETY: the caller gives texts and a struct, or NULL. Threads that open the file again
        // only read the struct; nobody else uses it while it is first mapped.
        unsafe {
            let path = pointers::c_str(urlpath).ok_or(Error::InvalidParam)?;
            let mapped = pointers::reference(stream)?;
            if mapped.addr.is_null() {
                map(&mut *stream, urlpath)?;
            } else if pointers::c_str(mapped.urlpath) != Some(path) {
                return Err(Error::FileOpen);
            }
        }
        Ok(params)
    })
}

/// Does nothing: the file stays mapped until blosc2_stdio_mmap_destroy(). Gives 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_close(_stream: *mut c_void) -> c_int {
    0
}

/// The size of a mapped file in bytes, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_size(stream: *mut c_void) -> i64 {
    boundary!(blosc2_stdio_mmap_size, {
        // SAFETY: the caller gives a stream or NULL.
        let stream = unsafe { stream.cast::<blosc2_stdio_mmap>().as_ref() };
        let stream = stream.ok_or(Error::Failure)?;
        i64::try_from(stream.file_size).map_err(|_| Error::Failure)
    })
}

/// Writes nitems items of size bytes at a position of a mapped file, which may move pointers that
/// blosc2_stdio_mmap_read() gave. Gives the items written, all or none; none when the file is mapped
/// to be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_write(
    ptr: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    boundary!(blosc2_stdio_mmap_write, {
        // SAFETY: the caller gives a stream or NULL, and uses it nowhere else meanwhile.
        let stream = unsafe { stream.cast::<blosc2_stdio_mmap>().as_mut() };
        let (Some(stream), Some(transfer)) = (stream, Transfer::new(size, nitems, position)) else {
            return Ok(0);
        };
        let Some(mut mapping) = mapping_of(stream).filter(|_| !ptr.is_null()) else {
            return Ok(0);
        };
        // SAFETY: the struct describes what was mapped; the caller promises so many bytes.
        let written = unsafe { mapping.write(transfer.position, ptr.cast(), transfer.len) };
        put_back(stream, &mapping);
        Ok::<i64, Error>(match written {
            Ok(()) => transfer.items(transfer.len),
            Err(_) => 0,
        })
    })
}

/// Sets *ptr to nitems items of size bytes at a position of a mapped file. They may be read until
/// the file is next written. Gives nitems; 0, with *ptr NULL, when the file hasn't so many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    boundary!(blosc2_stdio_mmap_read, {
        // SAFETY: the caller gives a place for the pointer or NULL, and a stream or NULL that
        // nobody changes meanwhile; the struct describes what was mapped.
        let found = unsafe {
            Transfer::new(size, nitems, position).and_then(|transfer| {
                let stream = stream.cast::<blosc2_stdio_mmap>().as_ref()?;
                mapping_of(stream)?.at(transfer.position, transfer.len)
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

/// Makes a mapped file size bytes long. Gives 0, or -1, also when it is mapped to be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_truncate(stream: *mut c_void, size: i64) -> c_int {
    boundary!(blosc2_stdio_mmap_truncate, {
        // SAFETY: the caller gives a stream or NULL, and uses it nowhere else meanwhile.
        let stream = unsafe { stream.cast::<blosc2_stdio_mmap>().as_mut() };
        let stream = stream.ok_or(Error::Failure)?;
        let size = u64::try_from(size).map_err(|_| Error::Failure)?;
        let mut mapping = mapping_of(stream).ok_or(Error::Failure)?;
        // SAFETY: the struct describes what was mapped.
        let truncated = unsafe { mapping.truncate(size) };
        put_back(stream, &mapping);
        truncated.map_err(|_| Error::Failure)?;
        Ok(0)
    })
}

/// Ends the mapping of a file after writing its changes to the disk, and frees params when they say
/// so. Gives 0, or -1 when nothing is mapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_mmap_destroy(params: *mut c_void) -> c_int {
    boundary!(blosc2_stdio_mmap_destroy, {
        // SAFETY: the caller gives a struct or NULL, and uses nothing of the mapping any more.
        unsafe {
            let stream = params.cast::<blosc2_stdio_mmap>();
            let opened = stream.as_mut().ok_or(Error::Failure)?;
            let mapping = mapping_of(opened).ok_or(Error::Failure)?;
            let synced = mapping.sync();
            let unmapped = mapping.unmap();
            let closed = libc::fclose(opened.file);
            libc::free(opened.urlpath.cast());
            opened.addr = null_mut();
            opened.urlpath = null_mut();
            opened.file = null_mut();
            if opened.needs_free {
                libc::free(params);
            }
            match (synced, unmapped, closed) {
                (Ok(()), Ok(()), 0) => Ok(0),
                _ => Err(Error::Failure),
            }
        }
    })
}
