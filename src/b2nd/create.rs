//! Making a super-chunk an array, and finding that it is one.

use super::geometry::Geometry;
use super::meta::{self, Meta};
use super::state::Chunks;
use crate::chunk::{
    CParams, EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, MAX_BUFFERSIZE, MAX_TYPESIZE, Special, special,
};
use crate::schunk::chunks::{Offer, fill, update};
use crate::schunk::transaction::{self, atomically};
use crate::schunk::{Layers, meta as metalayers};
use crate::{Buffer, Error, ErrorKind, Result};

/// What the items of a new array are.
#[derive(Clone, Copy, Debug)]
pub enum Fill<'a> {
    /// Zeros, NaNs or nothing in particular.
    Special(Special),
    /// One value, of the bytes of an item.
    Value(&'a [u8]),
    /// Zeros that the caller overwrites, and then calls [`finish`].
    Overwritten,
}

/// How an array is described besides its shapes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Description<'a> {
    /// The type of an item, for programs.
    pub dtype: Option<&'a [u8]>,
    /// How to read it; only 0 is defined.
    pub dtype_format: i8,
    /// Fixed metalayers to add.
    pub metalayers: &'a [(&'a [u8], &'a [u8])],
}

/// Whether an array can be made of chunks and blocks of these sizes.
///
/// # Errors
/// [`Error::InvalidParam`] for an item without bytes and blocks that are too large,
/// [`Error::MaxBufsizeExceeded`] for chunks that are.
pub fn check_sizes(geometry: &Geometry, typesize: i32) -> Result<()> {
    if typesize <= 0 {
        return Err(Error::InvalidParam);
    }
    let chunk = geometry.extchunknitems.checked_mul(i64::from(typesize));
    if chunk.is_none_or(|bytes| bytes > MAX_BUFFERSIZE as i64) {
        return Err(Error::MaxBufsizeExceeded);
    }
    let block = i64::from(geometry.blocknitems).checked_mul(i64::from(typesize));
    match block.is_some_and(|bytes| bytes <= MAX_BLOCKSIZE as i64) {
        true => Ok(()),
        false => Err(Error::InvalidParam),
    }
}

/// Makes an empty super-chunk an array.
///
/// # Errors
/// Those of [`check_sizes`]; [`Error::Data`] for NaNs of items that are neither 4 nor 8 bytes long;
/// [`Error::Failure`] when the metalayers or the chunks can't be made.
pub fn initialise(
    s: &mut Chunks<'_>,
    geometry: &Geometry,
    description: &Description<'_>,
    content: Fill<'_>,
) -> Result<()> {
    let typesize = s.recorded().typesize;
    check_sizes(geometry, typesize)?;
    let (kind, value) = match content {
        Fill::Special(kind) => (kind, None),
        Fill::Value(value) => (Special::Zero, Some(value)),
        Fill::Overwritten => (Special::Zero, None),
    };
    if kind == Special::Nan && typesize != 4 && typesize != 8 {
        return Err(Error::Data);
    }
    let chunksize =
        i32::try_from(geometry.chunksize(typesize)?).map_err(|_| Error::InvalidParam)?;
    let mut counters = s.counters();
    counters.chunksize = chunksize;
    s.set_counters(counters);
    let bytes = meta::serialise(
        geometry.shape(),
        geometry.chunkshape(),
        geometry.blockshape(),
        description.dtype,
        description.dtype_format,
    )?;
    let added = metalayers::add(s, meta::NAME.as_bytes(), &bytes);
    added.map_err(|error| error.recast(ErrorKind::Failure))?;
    for (name, content) in description.metalayers {
        metalayers::add(s, name, content).map_err(|error| error.recast(ErrorKind::Failure))?;
    }
    if matches!(content, Fill::Overwritten) && transaction::has_transactions(s) {
        transaction::begin(s)?;
    }
    if geometry.nitems == 0 {
        return Ok(());
    }
    let nitems = geometry
        .nchunks()
        .checked_mul(geometry.extchunknitems)
        .ok_or(Error::Failure)?;
    atomically(s, |s| {
        fill(s, nitems, kind, chunksize).map_err(|error| error.recast(ErrorKind::Failure))?;
        if let Some(value) = value {
            let chunk = value_chunk(s, geometry, value)?;
            for nchunk in 0..geometry.nchunks() {
                update(s, nchunk, Offer::Copy(&chunk))
                    .map_err(|error| error.recast(ErrorKind::Failure))?;
            }
        }
        Ok(())
    })
}

/// Makes the items of an array of [`Fill::Overwritten`] last together: a durable array has no chunks before.
///
/// # Errors
/// Those of [`transaction::commit`].
pub fn finish(s: &mut Chunks<'_>) -> Result<()> {
    if transaction::has_transactions(s) {
        transaction::commit(s)
    } else {
        Ok(())
    }
}

/// The parameters that special chunks of an array are made with, and the bytes of a chunk.
fn special_params(s: &Chunks<'_>, geometry: &Geometry) -> Result<(CParams, i32)> {
    let recorded = s.recorded();
    let typesize = recorded.typesize;
    let chunksize = i32::try_from(geometry.chunksize(typesize)?);
    let params = CParams {
        compcode: i32::from(recorded.compcode),
        clevel: i32::from(recorded.clevel),
        typesize,
        blocksize: geometry.blocknitems.saturating_mul(typesize),
        ..CParams::default()
    };
    Ok((params, chunksize.map_err(|_| Error::InvalidParam)?))
}

/// A chunk of one value over and over.
fn value_chunk(s: &Chunks<'_>, geometry: &Geometry, value: &[u8]) -> Result<Buffer> {
    let (params, chunksize) = special_params(s, geometry)?;
    let mut chunk = Buffer::zeroed(EXTENDED_HEADER_LENGTH + value.len())?;
    special::repeatval(&params, chunksize, value, &mut chunk)?;
    Ok(chunk)
}

/// A chunk of zeros.
pub(super) fn zero_chunk(s: &Chunks<'_>, geometry: &Geometry) -> Result<Buffer> {
    let (params, chunksize) = special_params(s, geometry)?;
    let mut chunk = Buffer::zeroed(EXTENDED_HEADER_LENGTH)?;
    special::zeros(&params, chunksize, &mut chunk)?;
    Ok(chunk)
}

/// The metalayer that makes a super-chunk an array: its name and its bytes.
pub fn metalayer(s: &Chunks<'_>) -> Option<(&'static str, Vec<u8>)> {
    let mut found = None;
    s.with_layers(Layers::Fixed, &mut |layers| {
        found = [meta::NAME, meta::OLD_NAME].into_iter().find_map(|wanted| {
            let layer = layers
                .iter()
                .find(|&&(name, _)| name == wanted.as_bytes())?;
            Some((wanted, layer.1.to_vec()))
        });
    });
    found
}

/// What the metalayer says, and the shapes.
///
/// # Errors
/// [`Error::MetalayerNotFound`] for what is no array, [`Error::NullPointer`] for an empty metalayer,
/// [`Error::Failure`] for one that can't be read, [`Error::InvalidParam`] for shapes that can't be.
pub fn find(s: &Chunks<'_>) -> Result<(Meta, Geometry)> {
    let (_, bytes) = metalayer(s).ok_or(Error::MetalayerNotFound)?;
    if bytes.is_empty() {
        return Err(Error::NullPointer);
    }
    let (meta, _) = meta::parse(&bytes)?;
    let geometry = meta.geometry()?;
    Ok((meta, geometry))
}

/// The bytes of an item that a super-chunk should have said.
///
/// C-Blosc2 writes the frame of a super-chunk in memory with items of more than 255 bytes as if they had
/// one; the size of the chunks tells what they have.
pub fn true_typesize(s: &Chunks<'_>, meta: &Meta, geometry: &Geometry) -> Option<i32> {
    let chunksize = i64::from(s.counters().chunksize);
    if s.recorded().typesize != 1 || geometry.extchunknitems == 0 {
        return None;
    }
    // A dtype of items that do have one byte.
    let is_byte = |dtype: &[u8]| {
        matches!(dtype, [b'|', b'u' | b'i' | b'b' | b'S' | b'V', b'1']) || dtype == b"|b1"
    };
    if meta.dtype.as_deref().is_some_and(is_byte) || chunksize % geometry.extchunknitems != 0 {
        return None;
    }
    i32::try_from(chunksize / geometry.extchunknitems)
        .ok()
        .filter(|&typesize| typesize > MAX_TYPESIZE as i32)
}
