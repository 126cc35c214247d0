//! What a header must say before its chunk is read, in the order in which callers know the errors.
//!
//! The calls of Blosc 1.x don't say how long a chunk is: its header does, and is believed. So it is checked
//! alone, and tells how many bytes may be read and written. What the blocks hold is checked by the engine.

use super::error::{Error, Result};
use super::inspect::Header;
use super::warn::warn;
use super::{HEADER_LENGTH, MAX_BLOCKSIZE};
use crate::chunk::BasicHeader;
use crate::chunk::header::{VERSION_BLOSC1, flag};
use crate::codec::format;

/// The version of the streams of every codec.
const STREAM_VERSION: u8 = 1;
/// Bytes of a block start.
const WORD: usize = 4;

/// How many bytes a call touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Of the chunk.
    pub src: usize,
    /// Of the destination.
    pub dest: usize,
}

impl Lengths {
    const NOTHING: Lengths = Lengths {
        src: HEADER_LENGTH,
        dest: 0,
    };
}

/// A number that must not be negative.
fn size(number: i32) -> Result<usize> {
    usize::try_from(number).map_err(|_| Error::Failure)
}

fn check(is_right: bool, error: Error) -> Result<()> {
    if is_right { Ok(()) } else { Err(error) }
}

/// What decompression of the chunk with this header touches, given a destination of `destsize` bytes.
///
/// # Errors
/// [`Error::CodecSupport`] and [`Error::Version`] for streams that can't be read, [`Error::Failure`] for
/// anything else, another version of the chunk among it.
pub fn lengths(header: &Header, destsize: usize) -> Result<Lengths> {
    let header = BasicHeader::read(header);
    if header.nbytes == 0 {
        return Ok(Lengths::NOTHING);
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

/// What reading of `nitems` items of the chunk with this header, from item `start` on, touches.
///
/// # Errors
/// As for [`lengths`], but [`Error::Version`] for another version of the chunk; [`Error::Failure`] when the
/// chunk does not hold the items.
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

/// Judges the sizes that others are divided by. Blocks are no longer than `longest` bytes.
fn check_blocksize(header: &BasicHeader, longest: usize) -> Result<()> {
    let is_right = (1..=MAX_BLOCKSIZE).contains(&header.blocksize)
        && header.blocksize as usize <= longest
        && header.typesize != 0;
    check(is_right, Error::Failure)
}

/// Judges what follows the header; returns the bytes of the chunk. `has_room_for_starts` is asked when
/// there is room for that many block starts.
fn check_body(
    header: &BasicHeader,
    nbytes: usize,
    has_room_for_starts: impl Fn(usize) -> bool,
) -> Result<usize> {
    let cbytes = size(header.cbytes);
    if header.flags & flag::MEMCPYED != 0 {
        let cbytes = cbytes?;
        check(cbytes == nbytes + HEADER_LENGTH, Error::Failure)?;
        return Ok(cbytes);
    }
    check(header.format() <= format::ZSTD, Error::CodecSupport)?;
    check(header.versionlz == STREAM_VERSION, Error::Version)?;
    let cbytes = cbytes?;
    let starts = cbytes.saturating_sub(HEADER_LENGTH) / WORD;
    check(has_room_for_starts(starts), Error::Failure)?;
    Ok(cbytes)
}
