//! Queries on the header of a chunk, and chunks of special values.

use crate::bridge::params::core_cparams;
use crate::buffers::{destination, header};
use crate::types::params::blosc2_cparams;
use ferroblosc::chunk::{self, BasicHeader, CParams, special};
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::pointers::StableSource;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;

/// Returns whether the header of a chunk is valid, and its sizes: `nbytes`, `cbytes` and
/// `blocksize`, or zeros.
///
/// # Safety
/// `cbuffer` is NULL or readable for the length of a header.
unsafe fn sizes_or_zeros(cbuffer: *const c_void) -> (Result<()>, [i32; 3]) {
    // SAFETY: guaranteed by the caller.
    match unsafe { header(cbuffer) }.and_then(chunk::sizes) {
        Ok(sizes) => (Ok(()), [sizes.nbytes, sizes.cbytes, sizes.blocksize]),
        Err(error) => (Err(error), [0; 3]),
    }
}

/// Reads the sizes from the header of a chunk. They are 0 on error.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
/// - `nbytes`: receives the size of the data in bytes; may be NULL.
/// - `cbytes`: receives the size of the chunk in bytes; may be NULL.
/// - `blocksize`: receives the size of a block in bytes; may be NULL.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut i32,
    cbytes: *mut i32,
    blocksize: *mut i32,
) -> c_int {
    boundary!(blosc2_cbuffer_sizes, in_memory, {
        // SAFETY: the caller passes a chunk or NULL.
        let (valid, sizes) = unsafe { sizes_or_zeros(cbuffer) };
        // SAFETY: the caller passes writable numbers or NULL.
        unsafe {
            pointers::write_if_given(nbytes, sizes[0]);
            pointers::write_if_given(cbytes, sizes[1]);
            pointers::write_if_given(blocksize, sizes[2]);
        }
        valid.map(|()| 0)
    })
}

/// Reads the sizes from the header of a chunk. They are 0 for an invalid chunk.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
/// - `nbytes`: receives the size of the data in bytes; may be NULL.
/// - `cbytes`: receives the size of the chunk in bytes; may be NULL.
/// - `blocksize`: receives the size of a block in bytes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    boundary!(blosc1_cbuffer_sizes, in_memory, {
        // SAFETY: the caller passes a chunk or NULL.
        let (valid, sizes) = unsafe { sizes_or_zeros(cbuffer) };
        // SAFETY: the caller passes writable numbers or NULL.
        unsafe {
            pointers::write_if_given(nbytes, sizes[0] as usize);
            pointers::write_if_given(cbytes, sizes[1] as usize);
            pointers::write_if_given(blocksize, sizes[2] as usize);
        }
        valid
    });
}

/// Validates the header of a chunk, including its size. The compressed data is not checked.
///
/// - `cbuffer`: the chunk.
/// - `cbytes`: the size of the chunk in bytes.
/// - `nbytes`: receives the size of the data in bytes, or 0 on error; may be NULL.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_validate(
    cbuffer: *const c_void,
    cbytes: usize,
    nbytes: *mut usize,
) -> c_int {
    boundary!(blosc1_cbuffer_validate, in_memory, {
        // A chunk has at most `i32::MAX` bytes, so all larger sizes are invalid for the same
        // reason.
        let len = i32::try_from(cbytes).unwrap_or(i32::MAX);
        // SAFETY: the caller passes a chunk of that size or NULL.
        let size = unsafe { crate::buffers::whole_chunk(cbuffer, len) }.and_then(chunk::validate);
        // SAFETY: the caller passes a writable number or NULL.
        unsafe { pointers::write_if_given(nbytes, *size.as_ref().unwrap_or(&0)) };
        size.map(|_| 0)
    })
}

/// Reads the typesize and the flags from the header of a chunk. They are 0 for an invalid chunk.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
/// - `typesize`: receives the size of an item in bytes; may be NULL.
/// - `flags`: receives the flags; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_metainfo(
    cbuffer: *const c_void,
    typesize: *mut usize,
    flags: *mut c_int,
) {
    boundary!(blosc1_cbuffer_metainfo, in_memory, {
        // SAFETY: the caller passes a chunk or NULL.
        let header = unsafe { header(cbuffer) }.and_then(BasicHeader::parse);
        let numbers = header.as_ref().map_or((0, 0), |header| (header.typesize, header.flags));
        // SAFETY: the caller passes writable numbers or NULL.
        unsafe {
            pointers::write_if_given(typesize, numbers.0.into());
            pointers::write_if_given(flags, numbers.1.into());
        }
        header.map(|_| ())
    });
}

/// Reads the versions from the header of a chunk. They are 0 for an invalid chunk.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
/// - `version`: receives the version of the chunk format; may be NULL.
/// - `versionlz`: receives the version of the codec's format; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_versions(
    cbuffer: *const c_void,
    version: *mut c_int,
    versionlz: *mut c_int,
) {
    boundary!(blosc2_cbuffer_versions, in_memory, {
        // SAFETY: the caller passes a chunk or NULL.
        let header = unsafe { header(cbuffer) }.and_then(BasicHeader::parse);
        let numbers = header.as_ref().map_or((0, 0), |header| (header.version, header.versionlz));
        // SAFETY: the caller passes writable numbers or NULL.
        unsafe {
            pointers::write_if_given(version, numbers.0.into());
            pointers::write_if_given(versionlz, numbers.1.into());
        }
        header.map(|_| ())
    });
}

/// Returns the name of the library that compressed a chunk according to its header, or NULL for an
/// invalid chunk or a registered codec. The library owns the name.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    boundary!(blosc2_cbuffer_complib, in_memory, {
        // SAFETY: the caller passes a chunk or NULL.
        let header = BasicHeader::parse(unsafe { header(cbuffer) }?)?;
        Ok(chunk::complib(&header).map_or(null(), |name| name.as_ptr()))
    })
}

/// Writes a chunk of a special value with `maker`.
///
/// # Safety
/// `cparams` is valid, and `dest` is writable for `destsize` bytes or NULL.
unsafe fn make_special(
    cparams: &blosc2_cparams,
    dest: *mut c_void,
    destsize: i32,
    maker: impl FnOnce(&CParams, &mut [u8]) -> Result<usize>,
) -> Result<c_int> {
    // SAFETY: guaranteed by the caller.
    let (mut params, dest) = unsafe { (core_cparams(cparams), destination(dest, destsize)?) };
    params.apply_environment().map_err(|error| error.recast(ErrorKind::NullPointer))?;
    Ok(maker(&params, dest)? as c_int)
}

/// Creates a chunk of zeros. It has BLOSC_EXTENDED_HEADER_LENGTH bytes.
///
/// - `cparams`: the compression parameters.
/// - `nbytes`: the size of the data in bytes, a multiple of the typesize.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the chunk in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_zeros(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_chunk_zeros, in_memory, {
        // SAFETY: the caller passes a destination of that size or NULL.
        unsafe {
            make_special(&cparams, dest, destsize, |params, dest| {
                special::zeros(params, nbytes, dest)
            })
        }
    })
}

/// Creates a chunk of NaNs of 4 or 8 bytes. It has BLOSC_EXTENDED_HEADER_LENGTH bytes.
///
/// - `cparams`: the compression parameters; the typesize is 4 or 8.
/// - `nbytes`: the size of the data in bytes, a multiple of the typesize.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the chunk in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_nans(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_chunk_nans, in_memory, {
        // SAFETY: the caller passes a destination of that size or NULL.
        unsafe {
            make_special(&cparams, dest, destsize, |params, dest| {
                special::nans(params, nbytes, dest)
            })
        }
    })
}

/// Creates a chunk of uninitialised data. It has BLOSC_EXTENDED_HEADER_LENGTH bytes. Decompressing
/// it does not write to the destination.
///
/// - `cparams`: the compression parameters.
/// - `nbytes`: the size of the data in bytes, a multiple of the typesize.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the chunk in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_uninit(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_chunk_uninit, in_memory, {
        // SAFETY: the caller passes a destination of that size or NULL.
        unsafe {
            make_special(&cparams, dest, destsize, |params, dest| {
                special::uninit(params, nbytes, dest)
            })
        }
    })
}

/// Creates a chunk that repeats one item. It has BLOSC_EXTENDED_HEADER_LENGTH + typesize bytes.
///
/// - `cparams`: the compression parameters.
/// - `nbytes`: the size of the data in bytes, a multiple of the typesize.
/// - `dest`: the destination, owned by the caller.
/// - `destsize`: the size of the destination in bytes.
/// - `repeatval`: the item, typesize bytes.
///
/// Returns the size of the chunk in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_repeatval(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
    repeatval: *const c_void,
) -> c_int {
    boundary!(blosc2_chunk_repeatval, in_memory, {
        // SAFETY: the caller passes a destination of that size and an item, or NULL.
        unsafe {
            let item = StableSource::from((repeatval, cparams.typesize), (dest, destsize))?;
            make_special(&cparams, dest, destsize, |params, dest| {
                if repeatval.is_null() || cparams.typesize < 0 {
                    return Err(Error::InvalidParam);
                }
                special::repeatval(params, nbytes, item.bytes(), dest)
            })
        }
    })
}
