//! Chunks: what their headers tell, and chunks that are only a header.

use crate::buffers::{destination, header};
use crate::context::core_cparams;
use crate::types::params::blosc2_cparams;
use ferroblosc::chunk::{self, BasicHeader, CParams, special};
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::pointers::Apart;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;

/// Stores the sizes in the header of a chunk: of its data, of itself, of a block.
///
/// Gives 0 or an error code, and the sizes are 0 then. Outputs may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut i32,
    cbytes: *mut i32,
    blocksize: *mut i32,
) -> c_int {
    boundary!(blosc2_cbuffer_sizes, in_memory, {
        // SAFETY: the caller gives a chunk, or NULL.
        let sizes = unsafe { header(cbuffer) }.and_then(chunk::sizes);
        // SAFETY: the caller gives room for each number, or NULL.
        unsafe {
            pointers::write_if_given(nbytes, sizes.as_ref().map_or(0, |sizes| sizes.nbytes));
            pointers::write_if_given(cbytes, sizes.as_ref().map_or(0, |sizes| sizes.cbytes));
            pointers::write_if_given(blocksize, sizes.as_ref().map_or(0, |sizes| sizes.blocksize));
        }
        sizes.map(|_| 0)
    })
}

/// Stores the sizes in the header of a chunk: of its data, of itself, of a block. They are 0 for
/// what is no chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    boundary!(blosc1_cbuffer_sizes, in_memory, {
        // SAFETY: the caller gives a chunk, or NULL.
        let sizes = unsafe { header(cbuffer) }.and_then(chunk::sizes);
        // SAFETY: the caller gives room for each number, or NULL.
        unsafe {
            pointers::write_if_given(
                nbytes,
                sizes.as_ref().map_or(0, |sizes| sizes.nbytes as usize),
            );
            pointers::write_if_given(
                cbytes,
                sizes.as_ref().map_or(0, |sizes| sizes.cbytes as usize),
            );
            pointers::write_if_given(
                blocksize,
                sizes.as_ref().map_or(0, |sizes| sizes.blocksize as usize),
            );
        }
        sizes.map(|_| ())
    })
}

/// Tells whether the header of a chunk makes sense and says that the chunk has cbytes bytes; stores
/// the size of its data in *nbytes, 0 when not.
///
/// Gives 0 or an error code. The data itself is not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_validate(
    cbuffer: *const c_void,
    cbytes: usize,
    nbytes: *mut usize,
) -> c_int {
    boundary!(blosc1_cbuffer_validate, in_memory, {
        // A chunk has at most i32::MAX bytes, so that sizes beyond it are all as wrong as this one.
        let len = i32::try_from(cbytes).unwrap_or(i32::MAX);
        // SAFETY: the caller gives a chunk of that size, or NULL.
        let size = unsafe { crate::buffers::whole_chunk(cbuffer, len) }.and_then(chunk::validate);
        // SAFETY: the caller gives room for a number, or NULL.
        unsafe { pointers::write_if_given(nbytes, *size.as_ref().unwrap_or(&0)) };
        size.map(|_| 0)
    })
}

/// Stores the typesize and the flags in the header of a chunk; 0 for what is no chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_metainfo(
    cbuffer: *const c_void,
    typesize: *mut usize,
    flags: *mut c_int,
) {
    boundary!(blosc1_cbuffer_metainfo, in_memory, {
        // SAFETY: the caller gives a chunk, or NULL.
        let header = unsafe { header(cbuffer) }.and_then(BasicHeader::parse);
        // SAFETY: the caller gives room for each number, or NULL.
        unsafe {
            pointers::write_if_given(
                typesize,
                header.as_ref().map_or(0, |header| header.typesize.into()),
            );
            pointers::write_if_given(
                flags,
                header.as_ref().map_or(0, |header| header.flags.into()),
            );
        }
        header.map(|_| ())
    })
}

/// Stores the version of a chunk and of the format of its codec; 0 for what is no chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_versions(
    cbuffer: *const c_void,
    version: *mut c_int,
    versionlz: *mut c_int,
) {
    boundary!(blosc2_cbuffer_versions, in_memory, {
        // SAFETY: the caller gives a chunk, or NULL.
        let header = unsafe { header(cbuffer) }.and_then(BasicHeader::parse);
        // SAFETY: the caller gives room for each number, or NULL.
        unsafe {
            pointers::write_if_given(
                version,
                header.as_ref().map_or(0, |header| header.version.into()),
            );
            pointers::write_if_given(
                versionlz,
                header.as_ref().map_or(0, |header| header.versionlz.into()),
            );
        }
        header.map(|_| ())
    })
}

/// The name of the library that made the streams of a chunk, as its header says; NULL for what is
/// no chunk or of a registered codec. Don't free it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    boundary!(blosc2_cbuffer_complib, in_memory, {
        // SAFETY: the caller gives a chunk, or NULL.
        let header = BasicHeader::parse(unsafe { header(cbuffer) }?)?;
        Ok(chunk::complib(&header).map_or(null(), |name| name.as_ptr()))
    })
}

/// Makes a chunk of nbytes bytes that are told by the header alone, or the header and a value.
///
/// # Safety
/// `cparams` is valid, and `dest` writable for `destsize` bytes or NULL.
unsafe fn make_special(
    cparams: &blosc2_cparams,
    dest: *mut c_void,
    destsize: i32,
    maker: impl FnOnce(&CParams, &mut [u8]) -> Result<usize>,
) -> Result<c_int> {
    // SAFETY: promised by the caller.
    let (mut params, dest) = unsafe { (core_cparams(cparams), destination(dest, destsize)?) };
    params
        .apply_environment()
        .map_err(|error| error.recast(ErrorKind::NullPointer))?;
    Ok(maker(&params, dest)? as c_int)
}

/// Makes a chunk of nbytes zeros, which takes BLOSC_EXTENDED_HEADER_LENGTH bytes.
///
/// Gives the size of the chunk or an error code. nbytes must be a multiple of the typesize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_zeros(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_chunk_zeros, in_memory, {
        // SAFETY: the caller gives a destination of that size, or NULL.
        unsafe {
            make_special(&cparams, dest, destsize, |params, dest| {
                special::zeros(params, nbytes, dest)
            })
        }
    })
}

/// Makes a chunk of nbytes bytes of NaNs, of 4 or 8 bytes each, which takes
/// BLOSC_EXTENDED_HEADER_LENGTH bytes.
///
/// Gives the size of the chunk or an error code. nbytes must be a multiple of the typesize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_nans(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_chunk_nans, in_memory, {
        // SAFETY: the caller gives a destination of that size, or NULL.
        unsafe {
            make_special(&cparams, dest, destsize, |params, dest| {
                special::nans(params, nbytes, dest)
            })
        }
    })
}

/// Makes a chunk of nbytes bytes without a value, which takes BLOSC_EXTENDED_HEADER_LENGTH bytes.
/// Decompressing it leaves the destination alone.
///
/// Gives the size of the chunk or an error code. nbytes must be a multiple of the typesize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_uninit(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_chunk_uninit, in_memory, {
        // SAFETY: the caller gives a destination of that size, or NULL.
        unsafe {
            make_special(&cparams, dest, destsize, |params, dest| {
                special::uninit(params, nbytes, dest)
            })
        }
    })
}

/// Makes a chunk of nbytes bytes that repeats one item, which takes
/// BLOSC_EXTENDED_HEADER_LENGTH + typesize bytes.
///
/// Gives the size of the chunk or an error code. nbytes must be a multiple of the typesize.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_chunk_repeatval(
    cparams: blosc2_cparams,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
    repeatval: *const c_void,
) -> c_int {
    boundary!(blosc2_chunk_repeatval, in_memory, {
        // SAFETY: the caller gives a destination of that size and an item, or NULL.
        unsafe {
            let item = Apart::from((repeatval, cparams.typesize), (dest, destsize))?;
            make_special(&cparams, dest, destsize, |params, dest| {
                if repeatval.is_null() || cparams.typesize < 0 {
                    return Err(Error::InvalidParam);
                }
                special::repeatval(params, nbytes, item.bytes(), dest)
            })
        }
    })
}
