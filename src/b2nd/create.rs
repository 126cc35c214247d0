//! Creating an array on a super-chunk, and recognising one.

use super::geometry::Geometry;
use super::meta::{self, Meta};
use super::state::Chunks;
use crate::chunk::{
    CParams, EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, MAX_BUFFERSIZE, MAX_TYPESIZE, Special, special,
};
use crate::schunk::chunks::{NewChunk, fill, update};
use crate::schunk::transaction::{self, atomically};
use crate::schunk::{Layers, meta as metalayers};
use crate::{Buffer, Error, ErrorKind, Result, item};

/// The initial items of an array.
///
/// ```
/// use ferroblosc::b2nd::{Array, Fill, Layout};
/// use ferroblosc::chunk::CParams;
/// use ferroblosc::schunk::Storage;
///
/// let layout = Layout { shape: &[1000], chunkshape: &[500], blockshape: &[100] };
/// let params = CParams::default().typesize(4);
/// let value = 1.5f32.to_le_bytes();
/// let array = Array::create(Storage::memory(), params, &layout, "<f4", Fill::Value(&value))?;
/// assert_eq!(array.get_slice(&[999], &[1000])?, value);
/// # Ok::<(), ferroblosc::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Fill<'a> {
    /// Zeros, NaNs or uninitialised items.
    Special(Special),
    /// One value, in bytes; its length is the item size.
    Value(&'a [u8]),
    /// Zeros that are overwritten before the array is used. In durable storage the chunks are part
    /// of a transaction that only functions of this crate commit.
    #[doc(hidden)]
    Overwritten,
}

/// The description of an array, except its shapes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Description<'a> {
    /// The item type, as text for programs that use the array.
    pub dtype: Option<&'a [u8]>,
    /// The notation of `dtype`; only 0 is defined.
    pub dtype_format: i8,
    /// Additional fixed metalayers.
    pub metalayers: &'a [(&'a [u8], &'a [u8])],
}

/// Checks that an array can have chunks and blocks of these sizes.
///
/// # Errors
/// [`Error::InvalidParam`] for an item size of 0 and blocks that are too large,
/// [`Error::MaxBufsizeExceeded`] for chunks that are too large.
pub fn check_sizes(geometry: &Geometry, typesize: i32) -> Result<()> {
    item::check_size(typesize)?;
    let chunk = geometry.extchunknitems.checked_mul(i64::from(typesize));
    if chunk.is_none_or(|bytes| bytes > MAX_BUFFERSIZE as i64) {
        let text = format!("a chunk of this array is longer than {MAX_BUFFERSIZE} bytes");
        return Err(Error::MaxBufsizeExceeded.because(text));
    }
    let block = i64::from(geometry.blocknitems).checked_mul(i64::from(typesize));
    if block.is_some_and(|bytes| bytes <= MAX_BLOCKSIZE as i64) {
        Ok(())
    } else {
        let text = format!("a block of this array is longer than {MAX_BLOCKSIZE} bytes");
        Err(Error::InvalidParam.because(text))
    }
}

/// Turns an empty super-chunk into an array.
///
/// # Errors
/// Returns the errors of [`check_sizes`]; [`Error::Data`] for NaNs of items that are neither 4 nor
/// 8 bytes long; [`Error::Failure`] if the metalayers or the chunks cannot be created.
pub fn initialize(
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
    let bytes = meta::serialize(
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
    let nitems = geometry.nchunks().checked_mul(geometry.extchunknitems).ok_or(Error::Failure)?;
    atomically(s, |s| {
        fill(s, nitems, kind, chunksize).map_err(|error| error.recast(ErrorKind::Failure))?;
        if let Some(value) = value {
            let chunk = value_chunk(s, geometry, value)?;
            for nchunk in 0..geometry.nchunks() {
                update(s, nchunk, NewChunk::Copy(&chunk))
                    .map_err(|error| error.recast(ErrorKind::Failure))?;
            }
        }
        Ok(())
    })
}

/// Commits the items of an array created with [`Fill::Overwritten`]. A durable array has no chunks
/// before this call.
///
/// # Errors
/// Returns the errors of [`transaction::commit`].
pub fn finish(s: &mut Chunks<'_>) -> Result<()> {
    if transaction::has_transactions(s) { transaction::commit(s) } else { Ok(()) }
}

/// Returns the parameters of the array's special chunks and the chunk size in bytes.
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

/// Returns a chunk of one repeated value.
fn value_chunk(s: &Chunks<'_>, geometry: &Geometry, value: &[u8]) -> Result<Buffer> {
    let (params, chunksize) = special_params(s, geometry)?;
    let mut chunk = Buffer::zeroed(EXTENDED_HEADER_LENGTH + value.len())?;
    special::repeatval(&params, chunksize, value, &mut chunk)?;
    Ok(chunk)
}

/// Returns a chunk of zeros.
pub(super) fn zero_chunk(s: &Chunks<'_>, geometry: &Geometry) -> Result<Buffer> {
    let (params, chunksize) = special_params(s, geometry)?;
    let mut chunk = Buffer::zeroed(EXTENDED_HEADER_LENGTH)?;
    special::zeros(&params, chunksize, &mut chunk)?;
    Ok(chunk)
}

/// Returns the name and the content of the metalayer that describes the array.
///
/// # Errors
/// [`Error::MetalayerNotFound`] if the super-chunk is not an array; [`Error::MemoryAlloc`].
pub fn metalayer(s: &Chunks<'_>) -> Result<(&'static str, Vec<u8>)> {
    with_metalayer(s, |name, content| Ok((name, meta::copy_of(content)?)))
}

/// Returns the result of `f` for the name and the content of the metalayer that describes the
/// array.
///
/// # Errors
/// [`Error::MetalayerNotFound`] if the super-chunk is not an array; the errors of `f`.
pub(super) fn with_metalayer<T>(
    s: &Chunks<'_>,
    f: impl Fn(&'static str, &[u8]) -> Result<T>,
) -> Result<T> {
    let mut result = Err(Error::MetalayerNotFound);
    s.with_layers(Layers::Fixed, &mut |layers| {
        let found = [meta::NAME, meta::OLD_NAME].into_iter().find_map(|wanted| {
            let layer = layers.iter().find(|&&(name, _)| name == wanted.as_bytes())?;
            Some((wanted, layer.1))
        });
        if let Some((name, content)) = found {
            result = f(name, content);
        }
    });
    result
}

/// Parses the array metalayer and derives the geometry.
///
/// # Errors
/// [`Error::MetalayerNotFound`] if the super-chunk is not an array, [`Error::NullPointer`] for an
/// empty metalayer, [`Error::Failure`] for a malformed one, [`Error::InvalidParam`] for invalid
/// shapes; [`Error::MemoryAlloc`].
pub fn find(s: &Chunks<'_>) -> Result<(Meta, Geometry)> {
    let (meta, _) = with_metalayer(s, |_, content| match content {
        [] => Err(Error::NullPointer),
        _ => meta::parse(content),
    })?;
    let geometry = meta.geometry()?;
    Ok((meta, geometry))
}

/// Returns the item size in bytes that the super-chunk should have recorded.
///
/// For a super-chunk in memory with items of more than 255 bytes, C-Blosc2 records an item size of
/// 1 in the frame. The correct size follows from the chunk size.
pub fn true_typesize(s: &Chunks<'_>, meta: &Meta, geometry: &Geometry) -> Option<i32> {
    let chunksize = i64::from(s.counters().chunksize);
    if s.recorded().typesize != 1 || geometry.extchunknitems == 0 {
        return None;
    }
    // A dtype whose items have one byte.
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
