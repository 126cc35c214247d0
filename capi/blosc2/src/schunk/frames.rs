//! Super-chunks as contiguous frames, in memory and in files.

use super::{assemble, copy_to};
use crate::bridge::backends::FILESYSTEM_MMAP;
use crate::bridge::io::backend;
use crate::bridge::schunk::{CSchunk, Entered, Purpose};
use crate::defaults;
use crate::types::flag::{Flag, flag, is_set};
use crate::types::io::{blosc2_io, blosc2_storage};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::frame::{self, Files, Frame, Memory, has_magic};
use ferroblosc::io::{Backend, Mode, View, WriteGranularity, append, journal};
use ferroblosc::schunk::{State, copy, serialize};
use ferroblosc::{Buffer, Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::c_char;
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

/// Opens a contiguous frame in memory as a super-chunk.
///
/// - `cframe`: the frame. Without `copy` it must outlive the super-chunk, which does not write to
///   it or free it; see blosc2_schunk_avoid_cframe_free().
/// - `len`: the size of the frame in bytes.
/// - `copy`: whether to copy the chunks into the super-chunk.
///
/// Returns a super-chunk, which the caller frees with blosc2_schunk_free(), or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_from_buffer(
    cframe: *mut u8,
    len: i64,
    copy: Flag,
) -> *mut blosc2_schunk {
    boundary!(blosc2_schunk_from_buffer, {
        // SAFETY: the caller passes `len` bytes, or NULL.
        unsafe { from_buffer(cframe, len, is_set(copy)) }
    })
}

/// Opens a contiguous frame in memory.
///
/// # Safety
/// `cframe` is NULL or points to `len` bytes, which outlive the super-chunk unless `with_copy` is
/// set.
pub(crate) unsafe fn from_buffer(
    cframe: *mut u8,
    len: i64,
    with_copy: bool,
) -> Result<*mut blosc2_schunk> {
    let start = NonNull::new(cframe).ok_or(Error::InvalidParam)?;
    let len = usize::try_from(len).map_err(|_| Error::InvalidParam)?;
    // SAFETY: guaranteed by the caller.
    let memory = unsafe { Memory::lent(View::new(start, len)) };
    if !has_magic(memory.bytes()) {
        return Err(Error::InvalidHeader);
    }
    let (frame, loaded) = Frame::from_memory(memory)?;
    if !with_copy {
        return assemble(&loaded, Some(frame), (true, Buffer::new(), defaults::IO));
    }
    let schunk = assemble(&loaded, None, (false, Buffer::new(), defaults::IO))?;
    // SAFETY: the super-chunk was just created, so the pointer is valid.
    let mut target = unsafe { CSchunk::new(schunk) }?;
    if let Err(error) = copy::take_chunks(&mut target, &frame, &loaded.counters) {
        // SAFETY: this call created the super-chunk and holds the only pointer to it.
        unsafe { super::free_parts(target) };
        return Err(error);
    }
    Ok(schunk)
}

/// Sets the owner of the buffer of an in-memory frame.
///
/// - `schunk`: the super-chunk. Without an in-memory frame the call has no effect.
/// - `avoid_cframe_free`: with true, the buffer that blosc2_schunk_from_buffer() received or
///   blosc2_schunk_to_buffer() returned belongs to the caller and outlives the super-chunk. With
///   false, the super-chunk owns the buffer, a block of malloc(), and frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_avoid_cframe_free(
    schunk: *mut blosc2_schunk,
    avoid_cframe_free: Flag,
) {
    boundary!(blosc2_schunk_avoid_cframe_free, always, {
        // SAFETY: the caller passes a super-chunk, or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        if let Some(frame) = schunk.shared_frame_mut()
            && let Some(memory) = frame.memory()?
        {
            memory.set_keep(is_set(avoid_cframe_free));
        }
        Ok(())
    });
}

/// Returns a super-chunk as a contiguous frame in memory.
///
/// If `needs_free` is false, the frame belongs to the super-chunk and is valid until the
/// super-chunk changes.
///
/// - `schunk`: the super-chunk.
/// - `cframe`: receives the address of the frame, NULL on error.
/// - `needs_free`: receives whether the caller must free() the frame.
///
/// Returns the size of the frame in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_to_buffer(
    schunk: *mut blosc2_schunk,
    cframe: *mut *mut u8,
    needs_free: *mut bool,
) -> i64 {
    boundary!(blosc2_schunk_to_buffer, {
        // SAFETY: the caller passes a super-chunk and result pointers, or NULL.
        let schunk = unsafe {
            pointers::write_if_given(cframe, null_mut());
            pointers::write_if_given(needs_free, false);
            CSchunk::new(schunk)?
        };
        if cframe.is_null() || needs_free.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: neither pointer is NULL, and the caller guarantees that both are writable.
        let give = |start: *mut u8, owned: bool| unsafe {
            cframe.write(start);
            needs_free.write(owned);
        };
        let (start, len, owned) = to_buffer(schunk)?;
        give(start, owned);
        Ok(len as i64)
    })
}

/// Returns the super-chunk as a contiguous frame: the address, the size in bytes, and whether the
/// caller frees it.
pub(crate) fn to_buffer(schunk: CSchunk) -> Result<(*mut u8, usize, bool)> {
    let mut schunk = entered_to_copy(schunk)?;
    if let Some(memory) = in_memory(&mut schunk)? {
        let (start, len) = memory.give();
        return Ok((start.as_ptr(), len, false));
    }
    let buffer = serialize(&*schunk)?;
    let len = buffer.len();
    Ok((buffer.into_raw(), len, true))
}

/// Enters the super-chunk to serialise it. A frame in memory is completed first, which changes it.
fn entered_to_copy(schunk: CSchunk) -> Result<Entered<CSchunk>> {
    schunk.entered(if schunk.frame().is_some_and(Frame::is_memory) {
        Purpose::Change
    } else {
        Purpose::Read
    })
}

/// Returns the bytes of the super-chunk's contiguous frame in memory, if it has one. A view has
/// none: the frame it shares describes its base.
fn in_memory(schunk: &mut CSchunk) -> Result<Option<&mut Memory>> {
    // SAFETY: a field of the struct.
    if unsafe { (*schunk.as_ptr()).view } {
        return Ok(None);
    }
    match schunk.frame_mut() {
        Some(frame) => frame.memory().map_err(|error| error.recast(ErrorKind::SchunkCopy)),
        None => Ok(None),
    }
}

/// Returns the backend of the super-chunk and the path of the caller.
///
/// # Safety
/// The super-chunk is alive; `urlpath` is NULL or a C string.
unsafe fn destination<'a>(
    schunk: CSchunk,
    urlpath: *const c_char,
) -> Result<(blosc2_io, &'a Path)> {
    // SAFETY: guaranteed by the caller; the pointers in a super-chunk's storage are valid.
    unsafe {
        let path = pointers::path(urlpath)?.ok_or(Error::InvalidParam)?;
        Ok((*(*(*schunk.as_ptr()).storage).io, path))
    }
}

/// Writes a super-chunk to a file, as a contiguous frame.
///
/// If the super-chunk is a contiguous frame in memory, an existing file is overwritten, or replaced
/// as a whole if changes are durable. Otherwise the path must not exist.
///
/// - `schunk`: the super-chunk.
/// - `urlpath`: the path of the file.
///
/// Returns the size of the frame in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_to_file(
    schunk: *mut blosc2_schunk,
    urlpath: *const c_char,
) -> i64 {
    boundary!(blosc2_schunk_to_file, {
        // SAFETY: the caller passes a super-chunk and a path, or NULL.
        unsafe {
            let mut schunk = entered_to_copy(CSchunk::new(schunk)?)?;
            let (io, path) = destination(*schunk, urlpath)?;
            if let Some(memory) = in_memory(&mut schunk)? {
                write_file(backend(&io)?, path, memory.bytes())?;
                return Ok(memory.bytes().len() as i64);
            }
            let storage = blosc2_storage {
                contiguous: flag(true),
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

/// Writes a frame to a file, which is created or overwritten, or replaced if the frame is durable.
fn write_file(backend: Arc<dyn Backend>, path: &Path, frame: &[u8]) -> Result<()> {
    // The journal of the old file is obsolete.
    let discard_journal = || {
        if let Some(names) = backend.file_ops() {
            let file = names.attributes(&names.resolve(path));
            journal::discard(names, path, journal::FRAME_SUFFIX, file.as_ref());
        }
    };
    let files = Files::contiguous(Arc::clone(&backend), path.to_path_buf(), 0);
    if files.is_replaceable() {
        files.replace_with(frame)?;
        discard_journal();
        return Ok(());
    }
    discard_journal();
    let stream = backend.open(path, Mode::Create)?;
    stream.write_at(0, frame, WriteGranularity::Bytes)?;
    stream.close()
}

/// Appends a super-chunk to a file, as a contiguous frame.
///
/// The file is created if it does not exist. blosc2_schunk_open_offset() opens the frame.
///
/// - `schunk`: the super-chunk.
/// - `urlpath`: the path of the file.
///
/// Returns the offset of the frame in the file in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_append_file(
    schunk: *mut blosc2_schunk,
    urlpath: *const c_char,
) -> i64 {
    boundary!(blosc2_schunk_append_file, {
        // SAFETY: the caller passes a super-chunk and a path, or NULL.
        unsafe { append_file(CSchunk::new(schunk)?, urlpath) }
    })
}

/// Appends the super-chunk to a file, as a contiguous frame; returns the frame's offset.
///
/// # Safety
/// `urlpath` is NULL or a C string.
pub(crate) unsafe fn append_file(schunk: CSchunk, urlpath: *const c_char) -> Result<i64> {
    let mut schunk = entered_to_copy(schunk)?;
    // SAFETY: guaranteed by the caller.
    let (mut io, path) = unsafe { destination(*schunk, urlpath) }?;
    if io.id == FILESYSTEM_MMAP.id {
        // The parameters of the mapping belong to another file.
        io = defaults::IO;
    }
    // SAFETY: the parameters in the super-chunk's storage are those that its backend expects.
    let backend = unsafe { backend(&io) }?;
    if backend.file_ops().is_some() {
        frame::recover_journal(path)?;
    }
    match in_memory(&mut schunk)? {
        Some(memory) => append(&*backend, path, memory.bytes()),
        None => append(&*backend, path, &serialize(&*schunk)?),
    }
}

/// Returns the size of the frame of a super-chunk.
///
/// For a sparse frame this is the size of its index file; for a super-chunk without frame it is an
/// estimate.
///
/// - `schunk`: the super-chunk.
///
/// Returns the size in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_schunk_frame_len(schunk: *mut blosc2_schunk) -> i64 {
    boundary!(blosc2_schunk_frame_len, {
        // SAFETY: the caller passes a super-chunk, or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        let counters = schunk.counters();
        match schunk.shared_frame_mut() {
            Some(frame) => Ok(frame.frame_len()? as i64),
            None => Ok(counters.cbytes + size_of::<i64>() as i64 * counters.nchunks),
        }
    })
}
