//! Functions that save and copy arrays.

use super::create::make;
use super::{array_or_discard, cleared, discard, new_array, numbers};
use crate::bridge::array::CArray;
use crate::bridge::schunk::Purpose;
use crate::defaults;
use crate::schunk::{self, frames};
use crate::types::b2nd::{b2nd_array_t, b2nd_context_t};
use crate::types::io::blosc2_storage;
use crate::types::schunk::blosc2_metalayer;
use ferroblosc::b2nd::concatenate::copy_items;
use ferroblosc::b2nd::create::{Fill, check_sizes, finish};
use ferroblosc::b2nd::{MAX_DIM, State, meta, refresh, refresh_locked};
use ferroblosc::io::lock::Kind as LockKind;
use ferroblosc::schunk::{Layers, State as _, copy as schunks};
use ferroblosc::{Buffer, Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

/// Returns an array as a contiguous frame in memory.
///
/// If `needs_free` is false, the frame belongs to the array and is valid until the array changes.
///
/// - `array`: the array.
/// - `cframe`: receives the address of the frame, NULL on error.
/// - `cframe_len`: receives the size of the frame in bytes, 0 on error.
/// - `needs_free`: receives whether the caller must free() the frame.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_to_cframe(
    array: *const b2nd_array_t,
    cframe: *mut *mut u8,
    cframe_len: *mut i64,
    needs_free: *mut bool,
) -> c_int {
    boundary!(b2nd_to_cframe, {
        // SAFETY: the caller passes result pointers, or NULL.
        unsafe {
            pointers::write_if_given(cframe, null_mut());
            pointers::write_if_given(cframe_len, 0);
            pointers::write_if_given(needs_free, false);
        }
        if cframe.is_null() || cframe_len.is_null() || needs_free.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: the caller passes an array, or NULL, and result pointers.
        unsafe {
            let array = current(array)?;
            let made = frames::to_buffer(array.schunk());
            let (start, len, owned) = made.map_err(|error| error.recast(ErrorKind::Failure))?;
            cframe.write(start);
            cframe_len.write(len as i64);
            needs_free.write(owned);
        }
        Ok(0)
    })
}

/// Refreshes the array from its file and returns it.
///
/// # Safety
/// The array is alive, or NULL.
unsafe fn current(array: *const b2nd_array_t) -> Result<CArray> {
    // SAFETY: guaranteed by the caller.
    let array = unsafe { CArray::enter(array, Purpose::Inspect) }?;
    refresh(&*array)?;
    Ok(*array)
}

/// Copies an array to a path, in the layout of its storage: a file or a directory.
///
/// - `array`: the array.
/// - `urlpath`: the path, which must not exist.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_save(array: *const b2nd_array_t, urlpath: *mut c_char) -> c_int {
    boundary!(b2nd_save, {
        // SAFETY: the caller passes an array and a path, or NULL.
        unsafe {
            let array = CArray::enter(array, Purpose::Read)?;
            if urlpath.is_null() {
                return Err(Error::NullPointer);
            }
            let _held = refresh_locked(&*array, LockKind::Shared)?;
            let schunk = array.schunk();
            let storage = blosc2_storage {
                contiguous: (*(*schunk.as_ptr()).storage).contiguous,
                urlpath,
                cparams: null_mut(),
                ..defaults::STORAGE
            };
            let copy = schunk::copy_to(schunk, &storage)
                .map_err(|error| error.recast(ErrorKind::Failure))?;
            let _ = schunk::free(copy);
        }
        Ok(0)
    })
}

/// Appends an array to a file, as a contiguous frame.
///
/// The file is created if it does not exist. b2nd_open_offset() opens the array.
///
/// - `array`: the array.
/// - `urlpath`: the path of the file.
///
/// Returns the offset of the frame in the file in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_save_append(
    array: *const b2nd_array_t,
    urlpath: *const c_char,
) -> i64 {
    boundary!(b2nd_save_append, {
        // SAFETY: the caller passes an array and a path, or NULL.
        unsafe { frames::append_file(current(array)?.schunk(), urlpath) }
    })
}

/// Creates an array from a slice of another array.
///
/// - `ctx`: the context with the chunk shape, block shape and storage of the new array. Its shape
///   is set to that of the slice.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
/// - `src`: the source array.
/// - `start`: the first index in each dimension.
/// - `stop`: the index after the last one in each dimension.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_slice(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    src: *const b2nd_array_t,
    start: *const i64,
    stop: *const i64,
) -> c_int {
    boundary!(b2nd_get_slice, {
        // SAFETY: the caller passes a context, an array, a number for each dimension and a writable
        // pointer, or NULL.
        unsafe {
            let array = cleared(array)?;
            let src = CArray::enter(src, Purpose::Read)?;
            let ctx = ctx.as_mut().ok_or(Error::NullPointer)?;
            let ndim = src.ndim()?;
            let (start, stop) = (numbers(start, ndim)?, numbers(stop, ndim)?);
            let _held = refresh_locked(&*src, LockKind::Shared)?;
            array.write(slice(ctx, *src, &start, &stop)?);
        }
        Ok(0)
    })
}

/// Copies a slice to a new array.
///
/// # Safety
/// The memory that the context borrows is valid.
unsafe fn slice(
    ctx: &mut b2nd_context_t,
    src: CArray,
    start: &[i64],
    stop: &[i64],
) -> Result<*mut b2nd_array_t> {
    let mut shape = [0; MAX_DIM];
    let mut from = [0; MAX_DIM];
    for (dim, (&start, &stop)) in start.iter().zip(stop).enumerate() {
        let extent = stop.checked_sub(start).filter(|&extent| extent >= 0);
        shape[dim] = extent.filter(|_| start >= 0).ok_or(Error::InvalidParam)?;
        from[dim] = start;
    }
    ctx.set_shape(&shape[..start.len()]);
    check_typesize(ctx, src)?;
    // SAFETY: guaranteed by the caller; only this call has a pointer to the new array.
    unsafe {
        let made = make(ctx, Fill::Overwritten, &[src.schunk()])?;
        let copied = (|| {
            let mut target = CArray::new(made)?;
            let extents = target.geometry()?;
            copy_items(&mut target, &src, &extents, (&from, &[0; MAX_DIM]))?;
            finish(&mut target.schunk())?;
            // Writing chunks increments the change counter of a frame; the array must store its
            // value.
            refresh(&target)
        })();
        if let Err(error) = copied {
            discard(made);
            return Err(error);
        }
        CArray::new(made)?.schunk().clear_sources();
        Ok(made)
    }
}

/// Fails if the item size of the context differs from that of the source.
fn check_typesize(ctx: &b2nd_context_t, src: CArray) -> Result<()> {
    if src.typesize() == Ok(usize::try_from(ctx.cparams.typesize).unwrap_or(0)) {
        Ok(())
    } else {
        Err(Error::InvalidParam)
    }
}

/// Copies an array with all its metalayers.
///
/// - `ctx`: the context with the chunk shape, block shape and storage of the copy. Its shape is set
///   to that of `src`.
/// - `src`: the source array.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy(
    ctx: *mut b2nd_context_t,
    src: *const b2nd_array_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_copy, {
        // SAFETY: the caller passes a context, an array and a writable pointer, or NULL.
        unsafe {
            let array = cleared(array)?;
            let src = CArray::enter(src, Purpose::Read)?;
            let ctx = ctx.as_mut().ok_or(Error::NullPointer)?;
            let _held = refresh_locked(&*src, LockKind::Shared)?;
            array.write(copy_of(ctx, *src)?);
        }
        Ok(0)
    })
}

/// Copies an array.
///
/// # Safety
/// The memory that the context borrows is valid.
pub(super) unsafe fn copy_of(ctx: &mut b2nd_context_t, src: CArray) -> Result<*mut b2nd_array_t> {
    let old = src.geometry()?;
    ctx.set_shape(old.shape());
    check_typesize(ctx, src)?;
    let geometry = ctx.geometry()?;
    check_sizes(&geometry, ctx.cparams.typesize)?;
    if !geometry.has_partitions_of(&old) {
        // SAFETY: guaranteed by the caller.
        return unsafe { copy_with_partitions(ctx, src) };
    }
    let sc = ctx.with_storage(&geometry, |storage| {
        // SAFETY: the storage is valid during the call, which copies it.
        unsafe { schunk::copy_to(src.schunk(), storage) }
            .map_err(|error| error.recast(ErrorKind::Failure))
    })?;
    let dtype = Some(&ctx.dtype[..]);
    // SAFETY: the super-chunk was just created, and its chunks have this geometry.
    unsafe { array_or_discard(sc, || new_array(sc, &geometry, dtype, ctx.dtype_format, 0)) }
}

/// Copies an array to a new array with other chunk and block shapes.
///
/// # Safety
/// The memory that the context borrows is valid.
unsafe fn copy_with_partitions(ctx: &b2nd_context_t, src: CArray) -> Result<*mut b2nd_array_t> {
    let schunk = src.schunk();
    let mut own: Vec<(Buffer, Buffer)> = Vec::new();
    let mut copied: Result<()> = Ok(());
    schunk.with_layers(Layers::Fixed, &mut |layers| {
        copied = layers.iter().filter(|&&(name, _)| name != meta::NAME.as_bytes()).try_for_each(
            |&(name, content)| {
                let mut text = Buffer::copy_of(name)?;
                text.append(&[0])?;
                own.push((text, Buffer::copy_of(content)?));
                Ok(())
            },
        );
    });
    copied?;
    let metalayers = own
        .iter_mut()
        .map(|(name, content)| blosc2_metalayer {
            name: name.as_mut_ptr().cast(),
            content: content.as_mut_ptr(),
            // The length of a metalayer fits in 32 bits.
            content_len: content.len() as i32,
        })
        .collect();
    let shape = src.geometry()?;
    // The metalayers of the caller's context are those of arrays that it creates later.
    let mut ctx = b2nd_context_t { dtype: Buffer::copy_of(&ctx.dtype)?, metalayers, ..*ctx };
    // SAFETY: guaranteed by the caller; the metalayers are valid until the end of the function.
    let made = unsafe { slice(&mut ctx, src, &[0; MAX_DIM][..shape.ndim], shape.shape()) }?;
    // SAFETY: the array was just created, so the pointer is valid.
    unsafe {
        let copied = CArray::new(made)
            .and_then(|target| schunks::copy_vlmetalayers(&schunk, &mut target.schunk()));
        if let Err(error) = copied {
            discard(made);
            return Err(error);
        }
    }
    Ok(made)
}
