//! Queries on the header of a chunk. Only the first BLOSC_MIN_HEADER_LENGTH bytes are read.

use crate::compress::header;
use ferroblosc::blosc1::{self, Error};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null;

/// Reads the sizes from the header of a chunk. They are 0 for an invalid chunk.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
/// - `nbytes`: receives the size of the data in bytes; may be NULL.
/// - `cbytes`: receives the size of the chunk in bytes; may be NULL.
/// - `blocksize`: receives the size of a block in bytes; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    boundary!(blosc_cbuffer_sizes, in_memory, Error, {
        // SAFETY: the caller passes a chunk or NULL.
        let sizes = unsafe { header(cbuffer) }.map(blosc1::sizes);
        let sizes = sizes.unwrap_or_default();
        // SAFETY: the caller passes writable numbers or NULL.
        unsafe {
            pointers::write_if_given(nbytes, sizes.nbytes as usize);
            pointers::write_if_given(cbytes, sizes.cbytes as usize);
            pointers::write_if_given(blocksize, sizes.blocksize as usize);
        }
        Ok(())
    });
}

/// Validates the header of a chunk. The compressed data is not checked.
///
/// - `cbuffer`: the chunk.
/// - `cbytes`: the size of the chunk in bytes.
/// - `nbytes`: receives the size of the data in bytes, or 0 on error; may be NULL.
///
/// Returns 0, or -1 for an invalid chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_validate(
    cbuffer: *const c_void,
    cbytes: usize,
    nbytes: *mut usize,
) -> c_int {
    boundary!(blosc_cbuffer_validate, in_memory, Error, {
        let size = (|| {
            if cbytes < blosc1::HEADER_LENGTH {
                return Err(Error::Failure);
            }
            // SAFETY: the caller passes that many bytes or NULL.
            let header = unsafe { header(cbuffer) }?;
            blosc1::validate(header, cbytes)?;
            Ok(blosc1::sizes(header).nbytes as usize)
        })();
        // SAFETY: the caller passes a writable number or NULL.
        unsafe { pointers::write_if_given(nbytes, *size.as_ref().unwrap_or(&0)) };
        size.map(|_| 0)
    })
}

/// Reads the typesize and the flags from the header of a chunk. They are 0 for an invalid chunk.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
/// - `typesize`: receives the size of an item in bytes; may be NULL.
/// - `flags`: receives the flags BLOSC_DOSHUFFLE, BLOSC_MEMCPYED and BLOSC_DOBITSHUFFLE; may be
///   NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_metainfo(
    cbuffer: *const c_void,
    typesize: *mut usize,
    flags: *mut c_int,
) {
    boundary!(blosc_cbuffer_metainfo, in_memory, Error, {
        // SAFETY: the caller passes a chunk or NULL.
        let info = unsafe { header(cbuffer) }.map(blosc1::metainfo);
        let (size, bits) = info.unwrap_or_default();
        // SAFETY: the caller passes writable numbers or NULL.
        unsafe {
            pointers::write_if_given(typesize, size.into());
            pointers::write_if_given(flags, bits.into());
        }
        Ok(())
    });
}

/// Reads the versions from the header of a chunk.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
/// - `version`: receives the version of the chunk format; may be NULL.
/// - `compversion`: receives the version of the compressor's format; may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_versions(
    cbuffer: *const c_void,
    version: *mut c_int,
    compversion: *mut c_int,
) {
    boundary!(blosc_cbuffer_versions, in_memory, Error, {
        // SAFETY: the caller passes a chunk or NULL.
        let versions = unsafe { header(cbuffer) }.map(blosc1::versions);
        let (chunk, streams) = versions.unwrap_or_default();
        // SAFETY: the caller passes writable numbers or NULL.
        unsafe {
            pointers::write_if_given(version, chunk.into());
            pointers::write_if_given(compversion, streams.into());
        }
        Ok(())
    });
}

/// Returns the name of the library that decompresses a chunk, or NULL if it is unknown. The library
/// owns the name.
///
/// - `cbuffer`: the chunk; the first BLOSC_MIN_HEADER_LENGTH bytes are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    boundary!(blosc_cbuffer_complib, in_memory, Error, {
        // SAFETY: the caller passes a chunk or NULL.
        let name = blosc1::complib(unsafe { header(cbuffer) }?);
        Ok(name.map_or(null(), CStr::as_ptr))
    })
}
