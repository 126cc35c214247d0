//! Checks of a chunk header before the chunk is read. Their order determines the documented error
//! code of a header with several faults.
//!
//! Calls of Blosc 1.x do not pass the length of a chunk and rely on its header. So the header is
//! checked on its own and determines the number of bytes that may be read and written. The engine
//! checks the blocks.

use super::error::{Error, Result};
use super::inspect::Header;
use super::warn::warn;
use super::{HEADER_LENGTH, MAX_BLOCKSIZE};
use crate::chunk::BasicHeader;
use crate::chunk::header::{VERSION_BLOSC1, flag};
use crate::codec;

/// The stream version of all codecs.
const STREAM_VERSION: u8 = 1;
/// The size of a block offset in bytes.
const START_LEN: usize = 4;

/// The number of bytes that a call accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The number of bytes read from the chunk.
    pub src: usize,
    /// The number of bytes written to the destination.
    pub dest: usize,
}

impl Lengths {
    const EMPTY: Lengths = Lengths { src: HEADER_LENGTH, dest: 0 };
}

/// Converts a number that must not be negative.
fn size(number: i32) -> Result<usize> {
    usize::try_from(number).map_err(|_| Error::Failure)
}

fn check(is_valid: bool, error: Error) -> Result<()> {
    if is_valid { Ok(()) } else { Err(error) }
}

/// Returns the bytes accessed when decompressing the chunk with this header into `destsize` bytes.
///
/// # Errors
/// [`Error::CodecSupport`] and [`Error::Version`] for streams that cannot be decoded;
/// [`Error::Failure`] for all other faults, including an unsupported version of the chunk.
pub fn lengths(header: &Header, destsize: usize) -> Result<Lengths> {
    let header = BasicHeader::read(header);
    if header.nbytes == 0 {
        return Ok(Lengths::EMPTY);
    }
    check_blocksize(&header, destsize)?;
    check(header.version == VERSION_BLOSC1, Error::Failure)?;
    check(header.flags & flag::DELTA == 0, Error::Failure)?;
    let nbytes = size(header.nbytes)?;
    check(nbytes <= destsize, Error::Failure)?;
    let nblocks = nbytes.div_ceil(header.blocksize as usize);
    let src = check_body(&header, nbytes, |starts| nblocks <= starts)?;
    Ok(Lengths { src, dest: nbytes })
}

/// Returns the bytes accessed when reading `nitems` items of the chunk with this header, from item
/// `start`.
///
/// # Errors
/// Returns the errors of [`lengths`], but [`Error::Version`] for an unsupported version of the
/// chunk; [`Error::Failure`] if the chunk does not contain the items.
pub fn getitem_lengths(header: &Header, start: i32, nitems: i32) -> Result<Lengths> {
    let header = BasicHeader::read(header);
    check(header.version == VERSION_BLOSC1, Error::Version)?;
    let nbytes = size(header.nbytes)?;
    check_blocksize(&header, nbytes)?;
    let nblocks = nbytes.div_ceil(header.blocksize as usize);
    let src = check_body(&header, nbytes, |starts| nblocks < starts)?;
    let offset = |item: i64| item.checked_mul(header.typesize.into());
    let is_inside = |item: i64| offset(item).is_some_and(|at| (0..=nbytes as i64).contains(&at));
    let (start, nitems) = (i64::from(start), i64::from(nitems));
    if !is_inside(start) {
        warn(format_args!("`start` is out of bounds"));
        return Err(Error::Failure);
    }
    if nitems < 0 || !is_inside(start + nitems) {
        warn(format_args!("`start` + `nitems` is out of bounds"));
        return Err(Error::Failure);
    }
    let dest = nitems as usize * usize::from(header.typesize);
    Ok(Lengths { src, dest })
}

/// Checks the sizes used as divisors. Blocks have at most `longest` bytes.
fn check_blocksize(header: &BasicHeader, longest: usize) -> Result<()> {
    let is_valid = (1..=MAX_BLOCKSIZE).contains(&header.blocksize)
        && header.blocksize as usize <= longest
        && header.typesize != 0;
    check(is_valid, Error::Failure)
}

/// Checks the header fields about the body; returns the size of the chunk. `fits_starts` is called
/// with the number of block offsets that fit.
fn check_body(
    header: &BasicHeader,
    nbytes: usize,
    fits_starts: impl Fn(usize) -> bool,
) -> Result<usize> {
    let cbytes = size(header.cbytes);
    if header.flags & flag::MEMCPYED != 0 {
        let cbytes = cbytes?;
        check(cbytes == nbytes + HEADER_LENGTH, Error::Failure)?;
        return Ok(cbytes);
    }
    check(codec::info_of_format(header.format()).is_some(), Error::CodecSupport)?;
    check(header.versionlz == STREAM_VERSION, Error::Version)?;
    let cbytes = cbytes?;
    let starts = cbytes.saturating_sub(HEADER_LENGTH) / START_LEN;
    check(fits_starts(starts), Error::Failure)?;
    Ok(cbytes)
}
