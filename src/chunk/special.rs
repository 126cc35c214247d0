//! Making chunks whose whole content is said by their header.

use super::blocksize::blocksize;
use super::encode::{Compressor, check_sizes, header_typesize, inform};
use super::header::{EXTENDED_HEADER_LENGTH, HeaderFields, Special, VERSION_STABLE, flag};
use super::params::CParams;
use crate::filter::{SLOTS, Slot};
use crate::{Buffer, Error, ErrorKind, Result};

/// The version byte of built-in codecs, which special chunks carry too.
const VERSIONLZ: u8 = 1;

/// Makes a chunk of `nbytes` zeros in `dest`; returns its size, 32.
///
/// # Errors
/// [`Error::Data`] when `dest` is shorter than 32 bytes or `nbytes` no multiple of the item size,
/// [`Error::NullPointer`] when no compressor can have these parameters; those of
/// [`Compressor::compress`] for parameters out of range.
pub fn zeros(params: &CParams, nbytes: i32, dest: &mut [u8]) -> Result<usize> {
    make(params, nbytes, Special::Zero, &[], dest)
}

/// Makes a chunk of NaNs, as [`zeros`] does. Only items of 4 and 8 bytes can be read back.
///
/// # Errors
/// Those of [`zeros`].
pub fn nans(params: &CParams, nbytes: i32, dest: &mut [u8]) -> Result<usize> {
    make(params, nbytes, Special::Nan, &[], dest)
}

/// Makes a chunk without content, as [`zeros`] does: decompression leaves the destination alone.
///
/// # Errors
/// Those of [`zeros`].
pub fn uninit(params: &CParams, nbytes: i32, dest: &mut [u8]) -> Result<usize> {
    make(params, nbytes, Special::Uninit, &[], dest)
}

/// Makes a chunk of `value` over and over; returns its size, 32 and the bytes of the value, which are
/// those of an item.
///
/// # Errors
/// Those of [`zeros`]; [`Error::InvalidParam`] when `value` doesn't have the bytes of an item.
pub fn repeatval(params: &CParams, nbytes: i32, value: &[u8], dest: &mut [u8]) -> Result<usize> {
    if i32::try_from(value.len()) != Ok(params.typesize) {
        return Err(Error::InvalidParam);
    }
    make(params, nbytes, Special::Value, value, dest)
}

/// A chunk of `nbytes` bytes that is all zeros, NaNs or without content, in memory of its own.
///
/// # Errors
/// [`Error::Data`] for another kind; those of [`zeros`].
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
    let compressor =
        Compressor::new(params.clone()).map_err(|error| error.recast(ErrorKind::NullPointer))?;
    check_sizes(nbytes, dest.len())?;
    compressor.check_params(false)?;
    let blocksize = blocksize(params, nbytes, typesize, params.blocksize as usize);
    inform(params, nbytes, typesize, blocksize);
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
