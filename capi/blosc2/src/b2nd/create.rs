//! Making arrays.

use super::slices::write_all;
use super::{array_or_discard, cleared, discard, new_array};
use crate::bridge::array::CArray;
use crate::bridge::schunk::CSchunk;
use crate::types::b2nd::{B2ND_MAX_METALAYERS, b2nd_array_t, b2nd_context_t};
use crate::types::io::blosc2_storage;
use crate::types::schunk::blosc2_metalayer;
use crate::{defaults, schunk};
use ferroblosc::b2nd::create::{Description, Fill, check_sizes, finish, initialise};
use ferroblosc::b2nd::{Geometry, MAX_DIM};
use ferroblosc::chunk::Special;
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CString, c_char, c_int, c_void};

impl b2nd_context_t {
    /// The geometry of the arrays to make.
    pub(super) fn geometry(&self) -> Result<Geometry> {
        let ndim = self.ndim;
        Geometry::new(
            &self.shape[..ndim],
            &self.chunkshape[..ndim],
            &self.blockshape[..ndim],
        )
    }

    /// From now on arrays of this shape are made.
    pub(super) fn set_shape(&mut self, shape: &[i64]) {
        self.ndim = shape.len();
        self.shape[..shape.len()].copy_from_slice(shape);
    }

    /// Calls `f` with the storage of an array of this geometry.
    pub(super) fn with_storage<T>(
        &self,
        geometry: &Geometry,
        f: impl FnOnce(&blosc2_storage) -> Result<T>,
    ) -> Result<T> {
        let mut cparams = self.cparams;
        cparams.blocksize = geometry.blocknitems.saturating_mul(cparams.typesize);
        f(&blosc2_storage {
            cparams: &raw mut cparams,
            ..self.storage
        })
    }

    /// The metalayers to add: names and contents.
    ///
    /// # Safety
    /// What the caller lent is still there.
    unsafe fn metalayers<'a>(&self) -> Result<Vec<(&'a [u8], &'a [u8])>> {
        self.metalayers
            .iter()
            .map(|layer| {
                // SAFETY: promised by the caller.
                unsafe {
                    let name = pointers::c_str(layer.name).ok_or(Error::Failure)?;
                    let content = pointers::bytes(layer.content.cast(), layer.content_len);
                    Ok((name.to_bytes(), content.map_err(|_| Error::Failure)?))
                }
            })
            .collect()
    }
}

/// Makes what arrays are created with: where and how they are stored, the shapes of the array, its chunks
/// and its blocks, the type of its items in NumPy's spelling, and metalayers to add. NULL for storage or
/// dtype means the default. What storage and metalayers point to stays the caller's and must outlive the
/// context; one context can create several arrays. Gives NULL for shapes that can't be. Free it with
/// b2nd_free_ctx().
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
        // SAFETY: the caller gives as many numbers and metalayers as it says, and valid storage.
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
                    Some(dtype) => dtype.to_owned(),
                    None => default_dtype(cparams.typesize),
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

/// The type of items of which only the size is known.
fn default_dtype(typesize: i32) -> CString {
    CString::new(format!("|S{typesize}")).unwrap_or_default()
}

/// Refuses shapes that can't be, but for what depends on the shape of the array, which may change.
fn check_partitions(context: &b2nd_context_t) -> Result<()> {
    let ndim = context.ndim;
    if context.shape[..ndim].iter().any(|&extent| extent < 0) {
        return Err(Error::InvalidParam);
    }
    let nothing = [0; MAX_DIM];
    let partitions = Geometry::new(
        &nothing[..ndim],
        &context.chunkshape[..ndim],
        &context.blockshape[..ndim],
    );
    let blocknitems = match partitions {
        Ok(geometry) => geometry.blocknitems,
        // A chunk that is too large is told when an array is created.
        Err(_) => block_items(context)?,
    };
    let blocksize = blocknitems.checked_mul(context.cparams.typesize);
    match blocksize.is_some() && context.cparams.typesize >= 0 {
        true => Ok(()),
        false => Err(Error::InvalidParam),
    }
}

/// The items of a block, whatever the chunk is.
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

/// Frees a context. The arrays made with it stay. Gives 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free_ctx(ctx: *mut b2nd_context_t) -> c_int {
    boundary!(b2nd_free_ctx, always, {
        if ctx.is_null() {
            return Err(Error::NullPointer);
        }
        // SAFETY: the caller gives a context that isn't used any more.
        drop(unsafe { Box::from_raw(ctx) });
        Ok(0)
    })
}

/// Makes an array.
///
/// # Safety
/// What the context points to is still there.
pub(super) unsafe fn make(ctx: &b2nd_context_t, content: Fill<'_>) -> Result<*mut b2nd_array_t> {
    let geometry = ctx.geometry()?;
    check_sizes(&geometry, ctx.cparams.typesize)?;
    // SAFETY: promised by the caller.
    let metalayers = unsafe { ctx.metalayers() }?;
    let sc = ctx.with_storage(&geometry, |storage| {
        // SAFETY: the storage is valid while it is copied.
        unsafe { schunk::create(storage) }.map_err(|error| error.recast(ErrorKind::Failure))
    })?;
    let description = Description {
        dtype: Some(ctx.dtype.as_bytes()),
        dtype_format: ctx.dtype_format,
        metalayers: &metalayers,
    };
    // SAFETY: it was just made.
    unsafe {
        array_or_discard(sc, || {
            initialise(&mut CSchunk::new(sc)?, &geometry, &description, content)?;
            let dtype = Some(ctx.dtype.as_bytes());
            new_array(sc, &geometry, dtype, ctx.dtype_format, 0)
        })
    }
}

/// Makes an array for a C caller.
///
/// # Safety
/// A context or NULL; room for a pointer or NULL.
unsafe fn make_for(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    content: Fill<'_>,
) -> Result<c_int> {
    // SAFETY: promised by the caller.
    unsafe {
        let array = cleared(array)?;
        let ctx = ctx.as_ref().ok_or(Error::NullPointer)?;
        array.write(make(ctx, content)?);
    }
    Ok(0)
}

/// Makes an array of zeros. Gives 0, or an error code. The caller frees the array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_empty(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_empty, {
        // SAFETY: the caller gives a context and room for a pointer, or NULL.
        unsafe { make_for(ctx, array, Fill::Special(Special::Zero)) }
    })
}

/// Makes an array whose items are whatever they are. Gives 0, or an error code. The caller frees
/// the array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_uninit(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_uninit, {
        // SAFETY: the caller gives a context and room for a pointer, or NULL.
        unsafe { make_for(ctx, array, Fill::Special(Special::Uninit)) }
    })
}

/// Makes an array of NaNs, of items of 4 or 8 bytes. Gives 0, or an error code. The caller frees
/// the array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_nans(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_nans, {
        // SAFETY: the caller gives a context and room for a pointer, or NULL.
        unsafe { make_for(ctx, array, Fill::Special(Special::Nan)) }
    })
}

/// Makes an array of zeros. Gives 0, or an error code. The caller frees the array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_zeros(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    boundary!(b2nd_zeros, {
        // SAFETY: the caller gives a context and room for a pointer, or NULL.
        unsafe { make_for(ctx, array, Fill::Special(Special::Zero)) }
    })
}

/// Makes an array whose items are all the one at fill_value. Gives 0, or an error code. The caller
/// frees the array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_full(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    fill_value: *const c_void,
) -> c_int {
    boundary!(b2nd_full, {
        // SAFETY: the caller gives a context, room for a pointer and an item, or NULL.
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

/// Makes an array of the items in buffer, which come rows first. Gives 0, or an error code. The
/// caller frees the array by b2nd_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_cbuffer(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
) -> c_int {
    boundary!(b2nd_from_cbuffer, {
        // SAFETY: the caller gives a context, room for a pointer and the items, or NULL.
        unsafe {
            let array = cleared(array)?;
            let ctx = ctx.as_ref().ok_or(Error::NullPointer)?;
            if buffer.is_null() {
                return Err(Error::NullPointer);
            }
            let made = make(ctx, Fill::Overwritten)?;
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
