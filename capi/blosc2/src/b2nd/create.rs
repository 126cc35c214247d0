//! Functions that create arrays.

use super::slices::write_all;
use super::{array_or_discard, cleared, discard, new_array};
use crate::bridge::array::CArray;
use crate::bridge::schunk::CSchunk;
use crate::types::b2nd::{B2ND_MAX_METALAYERS, b2nd_array_t, b2nd_context_t};
use crate::types::io::blosc2_storage;
use crate::types::schunk::blosc2_metalayer;
use crate::{defaults, schunk};
use ferroblosc::b2nd::create::{Description, Fill, check_sizes, finish, initialize};
use ferroblosc::b2nd::{Geometry, MAX_DIM};
use ferroblosc::chunk::Special;
use ferroblosc::{Buffer, Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int, c_void};

impl b2nd_context_t {
    /// Returns the geometry of new arrays.
    pub(super) fn geometry(&self) -> Result<Geometry> {
        let ndim = self.ndim;
        Geometry::new(&self.shape[..ndim], &self.chunkshape[..ndim], &self.blockshape[..ndim])
    }

    /// Sets the shape of new arrays.
    pub(super) fn set_shape(&mut self, shape: &[i64]) {
        self.ndim = shape.len();
        self.shape[..shape.len()].copy_from_slice(shape);
    }

    /// Calls `f` with the storage of a new array of this geometry.
    pub(super) fn with_storage<T>(
        &self,
        geometry: &Geometry,
        f: impl FnOnce(&blosc2_storage) -> Result<T>,
    ) -> Result<T> {
        let mut cparams = self.cparams;
        cparams.blocksize = geometry.blocknitems.saturating_mul(cparams.typesize);
        f(&blosc2_storage { cparams: &raw mut cparams, ..self.storage })
    }

    /// Returns the names and contents of the metalayers to add.
    ///
    /// # Safety
    /// The names and contents that the caller lent to the context are still valid.
    unsafe fn metalayers<'a>(&self) -> Result<Vec<(&'a [u8], &'a [u8])>> {
        self.metalayers
            .iter()
            .map(|layer| {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let name = pointers::c_str(layer.name).ok_or(Error::Failure)?;
                    let content = pointers::bytes(layer.content.cast(), layer.content_len);
                    Ok((name.to_bytes(), content.map_err(|_| Error::Failure)?))
                }
            })
            .collect()
    }
}

/// Creates a context that describes new arrays.
///
/// A context can create any number of arrays.
///
/// - `b2_storage`: the storage of the arrays, or NULL for the defaults. The struct is copied; the
///   memory it points to belongs to the caller and must outlive the context.
/// - `ndim`: the number of dimensions, 0 to B2ND_MAX_DIM.
/// - `shape`: the extent of the array in each dimension, in items.
/// - `chunkshape`: the extent of a chunk in each dimension, in items.
/// - `blockshape`: the extent of a block in each dimension, in items.
/// - `dtype`: the type of an item as a string, which is copied; NULL for the bytes dtype of the
///   item size.
/// - `dtype_format`: the format of `dtype`, such as DTYPE_NUMPY_FORMAT.
/// - `metalayers`: the metalayers to add, or NULL for none. Their names and contents belong to the
///   caller and must outlive the context.
/// - `nmetalayers`: the number of metalayers, at most B2ND_MAX_METALAYERS.
///
/// Returns a context, which the caller frees with b2nd_free_ctx(), or NULL for invalid arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_create_ctx(
    b2_storage: *const blosc2_storage,
    ndim: i8,
    shape: *const i64,
    chunkshape: *const i32,
    blockshape: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    metalayers: *const blosc2_metalayer,
    nmetalayers: i32,
) -> *mut b2nd_context_t {
    boundary!(b2nd_create_ctx, {
        // SAFETY: the caller passes `ndim` numbers, `nmetalayers` metalayers and a valid storage.
        unsafe {
            let ndim = usize::try_from(ndim).ok().filter(|&ndim| ndim <= MAX_DIM);
            let ndim = ndim.ok_or(Error::InvalidParam)?;
            let count = usize::try_from(nmetalayers).ok();
            let count = count.filter(|&count| count <= B2ND_MAX_METALAYERS);
            let count = count.ok_or(Error::InvalidParam)?;
            let storage = *b2_storage.as_ref().unwrap_or(&defaults::STORAGE);
            let cparams = *storage.cparams.as_ref().unwrap_or(&defaults::CPARAMS);
            let mut context = Box::new(b2nd_context_t {
                ndim,
                shape: [1; MAX_DIM],
                chunkshape: [1; MAX_DIM],
                blockshape: [1; MAX_DIM],
                dtype: match pointers::c_str(dtype) {
                    Some(dtype) => Buffer::copy_of(dtype.to_bytes())?,
                    None => default_dtype(cparams.typesize)?,
                },
                dtype_format,
                storage,
                cparams,
                metalayers: Vec::new(),
            });
            if ndim > 0 {
                context.shape[..ndim].copy_from_slice(&super::numbers(shape, ndim)?);
                context.chunkshape[..ndim].copy_from_slice(&super::numbers(chunkshape, ndim)?);
                context.blockshape[..ndim].copy_from_slice(&super::numbers(blockshape, ndim)?);
            }
            check_partitions(&context)?;
            for layer in match count {
                0 => &[],
                _ => super::entries(metalayers, count)?,
            } {
                context.metalayers.push(blosc2_metalayer { ..*layer });
            }
            Ok(Box::into_raw(context))
        }
    })
}

/// Returns the bytes dtype for items of `typesize` bytes.
fn default_dtype(typesize: i32) -> Result<Buffer> {
    Buffer::copy_of(format!("|S{typesize}").as_bytes())
}

/// Checks the shapes of a context, apart from limits that depend on the array's shape, which may
/// change.
fn check_partitions(context: &b2nd_context_t) -> Result<()> {
    let ndim = context.ndim;
    if context.shape[..ndim].iter().any(|&extent| extent < 0) {
        return Err(Error::InvalidParam);
    }
    let nothing = [0; MAX_DIM];
    let partitions =
        Geometry::new(&nothing[..ndim], &context.chunkshape[..ndim], &context.blockshape[..ndim]);
    let blocknitems = match partitions {
        Ok(geometry) => geometry.blocknitems,
        // A chunk that is too large is reported when an array is created.
        Err(_) => block_items(context)?,
    };
    let blocksize = blocknitems.checked_mul(context.cparams.typesize);
    if blocksize.is_some() && context.cparams.typesize >= 0 {
        Ok(())
    } else {
        Err(Error::InvalidParam)
    }
}

/// Returns the number of items of a block, even if the chunk is too large.
fn block_items(context: &b2nd_context_t) -> Result<i32> {
    let ndim = context.ndim;
    (context.chunkshape[..ndim].iter())
        .zip(&context.blockshape[..ndim])
        .try_fold(1i32, |items, (&chunk, &block)| {
            let is_sound = chunk >= 0 && block >= 0 && (chunk == 0 || block > 0);
            items.checked_mul(block).filter(|_| is_sound)
        })
        .ok_or(Error::InvalidParam)
}

/// Frees a context. The arrays created with it remain valid.
///
/// - `ctx`: the context.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free_ctx(ctx: *mut b2nd_context_t) -> c_int {
    boundary!(b2nd_free_ctx, always, {
        if ctx.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: the caller passes a context that is not used again.
        drop(unsafe { Box::from_raw(ctx) });
        Ok(0)
    })
}

/// Creates the array that a context describes. If the current call fills it from `sources`, it must
/// end with [`CSchunk::clear_sources`].
///
/// # Safety
/// The memory that the context borrows is valid.
pub(super) unsafe fn make(
    ctx: &b2nd_context_t,
    content: Fill<'_>,
    sources: &[CSchunk],
) -> Result<*mut b2nd_array_t> {
    let geometry = ctx.geometry()?;
    check_sizes(&geometry, ctx.cparams.typesize)?;
    // SAFETY: guaranteed by the caller.
    let metalayers = unsafe { ctx.metalayers() }?;
    let sc = ctx.with_storage(&geometry, |storage| {
        // SAFETY: the storage is valid during the call, which copies it.
        unsafe { schunk::create(storage, sources) }
            .map_err(|error| error.recast(ErrorKind::Failure))
    })?;
    let description = Description {
        dtype: Some(&ctx.dtype),
        dtype_format: ctx.dtype_format,
        metalayers: &metalayers,
    };
    // SAFETY: the super-chunk was just created, and only this call has a pointer to it.
    unsafe {
        array_or_discard(sc, || {
            initialize(&mut CSchunk::new(sc)?, &geometry, &description, content)?;
            let dtype = Some(&ctx.dtype[..]);
            new_array(sc, &geometry, dtype, ctx.dtype_format, 0)
        })
    }
}

/// Creates the array that a context describes and stores its address in `array`.
///
/// # Safety
/// `ctx` is NULL or a context; `array` is NULL or valid for the write of a pointer.
unsafe fn make_for(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    content: Fill<'_>,
) -> Result<c_int> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let array = cleared(array)?;
        let ctx = ctx.as_ref().ok_or(Error::NullPointer)?;
        array.write(make(ctx, content, &[])?);
    }
    Ok(0)
}

/// Creates an array of zeros.
///
/// - `ctx`: the context that describes the array.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_empty(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_empty, {
        // SAFETY: the caller passes a context and a writable pointer, or NULL.
        unsafe { make_for(ctx, array, Fill::Special(Special::Zero)) }
    })
}

/// Creates an array of uninitialised items.
///
/// - `ctx`: the context that describes the array.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_uninit(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_uninit, {
        // SAFETY: the caller passes a context and a writable pointer, or NULL.
        unsafe { make_for(ctx, array, Fill::Special(Special::Uninit)) }
    })
}

/// Creates an array of NaNs.
///
/// - `ctx`: the context that describes the array, with items of 4 or 8 bytes.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_nans(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_nans, {
        // SAFETY: the caller passes a context and a writable pointer, or NULL.
        unsafe { make_for(ctx, array, Fill::Special(Special::Nan)) }
    })
}

/// Creates an array of zeros.
///
/// - `ctx`: the context that describes the array.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_zeros(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_zeros, {
        // SAFETY: the caller passes a context and a writable pointer, or NULL.
        unsafe { make_for(ctx, array, Fill::Special(Special::Zero)) }
    })
}

/// Creates an array whose items all have one value.
///
/// - `ctx`: the context that describes the array.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
/// - `fill_value`: the value, one item.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_full(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    fill_value: *const c_void,
) -> c_int {
    boundary!(b2nd_full, {
        // SAFETY: the caller passes a context, a writable pointer and an item, or NULL.
        unsafe {
            cleared(array)?;
            let context = ctx.as_ref().ok_or(Error::NullPointer)?;
            if fill_value.is_null() {
                return Err(Error::NullPointer);
            }
            let typesize = context.cparams.typesize;
            let value = pointers::bytes(fill_value, typesize)?;
            make_for(ctx, array, Fill::Value(value))
        }
    })
}

/// Creates an array from a buffer.
///
/// - `ctx`: the context that describes the array.
/// - `array`: receives the array, which the caller frees with b2nd_free(); NULL on error.
/// - `buffer`: all items in row-major order, owned by the caller.
/// - `buffersize`: the size of the buffer in bytes, at least that of the items.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_cbuffer(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_from_cbuffer, {
        // SAFETY: the caller passes a context, a writable pointer and the items, or NULL.
        unsafe {
            let array = cleared(array)?;
            let ctx = ctx.as_ref().ok_or(Error::NullPointer)?;
            if buffer.is_null() {
                return Err(Error::NullPointer);
            }
            let made = make(ctx, Fill::Overwritten, &[])?;
            let new = CArray::new(made)?;
            let written =
                write_all(new, buffer, buffersize).and_then(|()| finish(&mut new.schunk()));
            if let Err(error) = written {
                discard(made);
                return Err(error);
            }
            array.write(made);
        }
        Ok(0)
    })
}
