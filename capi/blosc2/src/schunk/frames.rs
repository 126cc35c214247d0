//! Super-chunks as bytes: in memory, and in files.

use super::{assemble, copy_to};
use crate::bridge::schunk::{CSchunk, Entered, Purpose};
use crate::defaults;
use crate::io::backend;
use crate::types::io::{blosc2_io, blosc2_storage};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::frame::{self, Frame, Memory, has_magic};
use ferroblosc::io::{Mode, View, WriteGranularity, append, journal};
use ferroblosc::schunk::{State, copy, serialise};
use ferroblosc::{Buffer, Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::c_char;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

/// Opens a super-chunk that is a contiguous frame of len bytes at cframe. With copy its chunks are
/// copied; without, the bytes stay the caller's and must outlive the super-chunk, which never writes to
/// them; see blosc2_schunk_avoid_cframe_free(). Gives NULL when it is no frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_from_buffer(
    cframe: *mut u8,
    len: i64,
    copy: bool,
) -> *mut blosc2_schunk {
    boundary!(blosc2_schunk_from_buffer, {
        // SAFETY: the caller gives len bytes, or NULL.
        unsafe { from_buffer(cframe, len, copy) }
    })
}

/// Opens a contiguous frame in memory.
///
/// # Safety
/// `cframe` is NULL or has `len` bytes, which stay until the super-chunk is freed unless `with_copy`.
pub(crate) unsafe fn from_buffer(
    cframe: *mut u8,
    len: i64,
    with_copy: bool,
) -> Result<*mut blosc2_schunk> {
    let start = NonNull::new(cframe).ok_or(Error::InvalidParam)?;
    let len = usize::try_from(len).map_err(|_| Error::InvalidParam)?;
    // SAFETY: promised by the caller.
    let memory = unsafe { Memory::lent(View::new(start, len)) };
    if !has_magic(memory.bytes()) {
        return Err(Error::InvalidHeader);
    }
    let (frame, loaded) = Frame::from_memory(memory)?;
    if !with_copy {
        return assemble(&loaded, Some(frame), (true, Buffer::new(), defaults::IO));
    }
    let schunk = assemble(&loaded, None, (false, Buffer::new(), defaults::IO))?;
    // SAFETY: it was just made.
    let mut target = unsafe { CSchunk::new(schunk) }?;
    if let Err(error) = copy::take_chunks(&mut target, &frame, &loaded.counters) {
        // SAFETY: nobody else has seen it.
        unsafe { super::free_parts(target) };
        return Err(error);
    }
    Ok(schunk)
}

/// Tells whether the bytes of a contiguous frame in memory stay when the super-chunk is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_avoid_cframe_free(
    schunk: *mut blosc2_schunk,
    avoid_cframe_free: bool,
) {
    boundary!(blosc2_schunk_avoid_cframe_free, always, {
        // SAFETY: the caller gives a super-chunk, or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        if let Some(frame) = schunk.frame_mut()
            && let Some(memory) = frame.memory()?
        {
            memory.set_keep(avoid_cframe_free);
        }
        Ok(())
    })
}

/// Stores where the super-chunk is as a contiguous frame in *cframe, and in *needs_free whether the
/// caller must free() it. What needs no free is valid until the super-chunk changes. Gives the bytes of
/// the frame, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_to_buffer(
    schunk: *mut blosc2_schunk,
    cframe: *mut *mut u8,
    needs_free: *mut bool,
) -> i64 {
    boundary!(blosc2_schunk_to_buffer, {
        // SAFETY: the caller gives a super-chunk and room for the results, or NULL.
        let schunk = unsafe {
            pointers::write_if_given(cframe, null_mut());
            pointers::write_if_given(needs_free, false);
            CSchunk::new(schunk)?
        };
        if cframe.is_null() || needs_free.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: neither is NULL, and the caller gives room for both.
        let give = |start: *mut u8, owned: bool| unsafe {
            cframe.write(start);
            needs_free.write(owned);
        };
        let (start, len, owned) = to_buffer(schunk)?;
        give(start, owned);
        Ok(len as i64)
    })
}

/// The super-chunk as a contiguous frame: where it is, its bytes, and whether the caller frees it.
pub(crate) fn to_buffer(schunk: CSchunk) -> Result<(*mut u8, usize, bool)> {
    let mut schunk = entered_to_copy(schunk)?;
    if let Some(memory) = in_memory(&mut schunk)? {
        let bytes = memory.give();
        return Ok((bytes.as_ptr().cast_mut(), bytes.len(), false));
    }
    let buffer = serialise(&*schunk)?;
    let len = buffer.len();
    Ok((buffer.into_raw(), len, true))
}

/// The super-chunk, entered to be copied as bytes. A frame in memory is completed first, which changes it.
fn entered_to_copy(schunk: CSchunk) -> Result<Entered<CSchunk>> {
    schunk.entered(match schunk.frame().is_some_and(Frame::is_memory) {
        true => Purpose::Change,
        false => Purpose::Read,
    })
}

/// The bytes of a contiguous frame in memory, if that is what the super-chunk is. The frame of a view says
/// another thing than the view.
fn in_memory(schunk: &mut CSchunk) -> Result<Option<&mut Memory>> {
    // SAFETY: a field of the struct.
    if unsafe { (*schunk.as_ptr()).view } {
        return Ok(None);
    }
    match schunk.frame_mut() {
        Some(frame) => frame
            .memory()
            .map_err(|error| error.recast(ErrorKind::SchunkCopy)),
        None => Ok(None),
    }
}

/// The backend and the path of a call.
///
/// # Safety
/// The super-chunk is alive; `urlpath` is NULL or a C string.
unsafe fn destination<'a>(
    schunk: CSchunk,
    urlpath: *const c_char,
) -> Result<(blosc2_io, &'a Path)> {
    // SAFETY: promised by the caller; the storage of a super-chunk is complete.
    unsafe {
        let path = pointers::path(urlpath).ok_or(Error::InvalidParam)?;
        Ok((*(*(*schunk.as_ptr()).storage).io, path))
    }
}

/// Writes the super-chunk to a contiguous frame in a file. A contiguous frame in memory is written over
/// what is there; otherwise nothing may be there. Gives the bytes of the frame, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_to_file(
    schunk: *mut blosc2_schunk,
    urlpath: *const c_char,
) -> i64 {
    boundary!(blosc2_schunk_to_file, {
        // SAFETY: the caller gives a super-chunk and a path, or NULL.
        unsafe {
            let mut schunk = entered_to_copy(CSchunk::new(schunk)?)?;
            let (io, path) = destination(*schunk, urlpath)?;
            if let Some(memory) = in_memory(&mut schunk)? {
                let backend = backend(&io)?;
                if let Some(names) = backend.file_ops() {
                    // The file it belongs to is overwritten.
                    let file = names.attributes(&names.resolve(path));
                    journal::discard(names, path, journal::FRAME_SUFFIX, file.as_ref());
                }
                let stream = backend.open(path, Mode::Create)?;
                stream.write_at(0, memory.bytes(), WriteGranularity::Bytes)?;
                stream.close()?;
                return Ok(memory.bytes().len() as i64);
            }
            let storage = blosc2_storage {
                contiguous: true,
                urlpath: urlpath.cast_mut(),
                ..defaults::STORAGE
            };
            let copy =
                copy_to(*schunk, &storage).map_err(|error| error.recast(ErrorKind::SchunkCopy))?;
            let mut copy = CSchunk::new(copy)?;
            let len = copy.frame_mut().map_or(Ok(0), Frame::frame_len);
            super::free_parts(copy);
            Ok(len? as i64)
        }
    })
}

/// Writes the super-chunk as a contiguous frame behind what is in a file, which is made if it isn't
/// there. Gives where in the file the frame begins, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_file(
    schunk: *mut blosc2_schunk,
    urlpath: *const c_char,
) -> i64 {
    boundary!(blosc2_schunk_append_file, {
        // SAFETY: the caller gives a super-chunk and a path, or NULL.
        unsafe { append_file(CSchunk::new(schunk)?, urlpath) }
    })
}

/// Writes the super-chunk as a contiguous frame behind what is in a file; gives where it begins.
///
/// # Safety
/// `urlpath` is NULL or a C string.
pub(crate) unsafe fn append_file(schunk: CSchunk, urlpath: *const c_char) -> Result<i64> {
    let mut schunk = entered_to_copy(schunk)?;
    // SAFETY: promised by the caller.
    let (io, path) = unsafe { destination(*schunk, urlpath) }?;
    // SAFETY: the parameters are what the backend expects.
    let backend = unsafe { backend(&io) }?;
    if backend.file_ops().is_some() {
        frame::settle_journal(path)?;
    }
    match in_memory(&mut schunk)? {
        Some(memory) => append(&*backend, path, memory.bytes()),
        None => append(&*backend, path, &serialise(&*schunk)?),
    }
}

/// The bytes of the frame; of one in a directory those of its index file, and of a super-chunk in memory
/// without frame an estimate. An error code when it can't be told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_frame_len(schunk: *mut blosc2_schunk) -> i64 {
    boundary!(blosc2_schunk_frame_len, {
        // SAFETY: the caller gives a super-chunk, or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        let counters = schunk.counters();
        match schunk.frame_mut() {
            Some(frame) => Ok(frame.frame_len()? as i64),
            None => Ok(counters.cbytes + size_of::<i64>() as i64 * counters.nchunks),
        }
    })
}
