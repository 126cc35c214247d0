//! Creation of chunks whose content is defined by the header.

use super::blocksize::blocksize;
use super::compressor::{check_filters, check_params, check_sizes, header_typesize, log_params};
use crate::chunk::format::header::{HeaderFields, Special, VERSION_STABLE, flag, offset};
use crate::chunk::format::limits::EXTENDED_HEADER_LENGTH;
use crate::chunk::params::CParams;
use crate::filter::{SLOTS, Slot};
use crate::{Buffer, Error, ErrorKind, Result};

/// The version byte of built-in codecs, which special chunks contain as well.
const VERSIONLZ: u8 = 1;

/// Writes a chunk of `nbytes` zeros to `dest`; returns its size, 32.
///
/// # Errors
/// [`Error::Data`] if `dest` is shorter than 32 bytes or `nbytes` is not a multiple of the item
/// size; [`Error::NullPointer`] for an invalid filter id; the errors of
/// [`Compressor::compress`](crate::chunk::Compressor::compress) for parameters out of range.
pub fn zeros(params: &CParams, nbytes: i32, dest: &mut [u8]) -> Result<usize> {
    make(params, nbytes, Special::Zero, &[], dest)
}

/// Writes a chunk of NaNs, like [`zeros`]. Only items of 4 and 8 bytes can be decompressed.
///
/// # Errors
/// Returns the errors of [`zeros`].
pub fn nans(params: &CParams, nbytes: i32, dest: &mut [u8]) -> Result<usize> {
    make(params, nbytes, Special::Nan, &[], dest)
}

/// Writes an uninitialised chunk, like [`zeros`]; its decompression does not write the destination.
///
/// # Errors
/// Returns the errors of [`zeros`].
pub fn uninit(params: &CParams, nbytes: i32, dest: &mut [u8]) -> Result<usize> {
    make(params, nbytes, Special::Uninit, &[], dest)
}

/// Writes a chunk of repeated items `value`; returns its size, 32 plus the length of `value`.
///
/// # Errors
/// Returns the errors of [`zeros`]; [`Error::InvalidParam`] if the length of `value` is not the
/// item size.
pub fn repeatval(params: &CParams, nbytes: i32, value: &[u8], dest: &mut [u8]) -> Result<usize> {
    if i32::try_from(value.len()) != Ok(params.typesize) {
        return Err(Error::InvalidParam);
    }
    make(params, nbytes, Special::Value, value, dest)
}

/// Returns a new chunk of `nbytes` zeros that may end within an item: its value is one byte.
///
/// # Errors
/// Returns the errors of [`zeros`].
pub(crate) fn zero_bytes(typesize: usize, nbytes: i32) -> Result<Buffer> {
    let mut chunk = Buffer::zeroed(EXTENDED_HEADER_LENGTH + 1)?;
    repeatval(&CParams::default().typesize(1), nbytes, &[0], &mut chunk)?;
    chunk[offset::TYPESIZE] = header_typesize(typesize);
    Ok(chunk)
}

/// Returns a new chunk of `nbytes` bytes that is all zeros, all NaNs or uninitialised.
///
/// # Errors
/// [`Error::Data`] for another kind; the errors of [`zeros`].
pub(crate) fn chunk_of(kind: Special, params: &CParams, nbytes: i32) -> Result<Buffer> {
    if !matches!(kind, Special::Zero | Special::Nan | Special::Uninit) {
        return Err(Error::Data);
    }
    let mut chunk = Buffer::zeroed(EXTENDED_HEADER_LENGTH)?;
    make(params, nbytes, kind, &[], &mut chunk)?;
    Ok(chunk)
}

fn make(
    params: &CParams,
    nbytes: i32,
    special: Special,
    value: &[u8],
    dest: &mut [u8],
) -> Result<usize> {
    let typesize = usize::try_from(params.typesize).map_err(|_| Error::InvalidParam)?;
    let nbytes = usize::try_from(nbytes).map_err(|_| Error::InvalidParam)?;
    if typesize == 0 {
        return Err(Error::InvalidParam);
    }
    let cbytes = EXTENDED_HEADER_LENGTH + value.len();
    if dest.len() < cbytes || nbytes % typesize != 0 {
        return Err(Error::Data);
    }
    check_filters(params).map_err(|error| error.recast(ErrorKind::NullPointer))?;
    check_sizes(nbytes, dest.len())?;
    check_params(params, false)?;
    let blocksize = blocksize(params, nbytes, typesize, params.blocksize as usize);
    log_params(params, nbytes, typesize, blocksize);
    let header = HeaderFields {
        version: VERSION_STABLE,
        versionlz: VERSIONLZ,
        flags: flag::EXTENDED,
        typesize: header_typesize(typesize),
        nbytes,
        blocksize,
        cbytes,
        filters: [Slot::default(); SLOTS],
        udcodec: 0,
        codec_meta: 0,
        flags2: 0,
        blosc2_flags: special.bits(),
    };
    header.write(dest);
    dest[EXTENDED_HEADER_LENGTH..cbytes].copy_from_slice(value);
    Ok(cbytes)
}
