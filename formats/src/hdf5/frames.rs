//! Stored chunks of the filters 32001 and 32026.
//!
//! A stored chunk of 32026 is a frame with one chunk of Blosc2: with two dimensions or more a b2nd
//! array, otherwise a super-chunk.

use ferroblosc::b2nd::{self, Array, Geometry, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage, serialize};
use ferroblosc::{Buffer, ErrorKind, Result};

/// The number of the filter that stores chunks of Blosc 1.x.
pub const BLOSC: i32 = 32001;
/// The number of the filter that stores frames of Blosc2.
pub const BLOSC2: i32 = 32026;

/// Returns the chunk of a frame of one chunk, and its block shape if it is an array of this chunk
/// shape. Returns `None` for other frames and invalid ones, which are decoded instead.
pub fn chunk_in(stored: &[u8], chunkshape: &[i32]) -> Option<(Vec<u8>, Option<Vec<i32>>)> {
    let schunk = SChunk::from_bytes(stored, DParams::default()).ok()?;
    if schunk.nchunks() != 1 {
        return None;
    }
    let chunk = schunk.chunk(0).ok()?.to_vec();
    match b2nd::create::metalayer(schunk.state()) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::MetalayerNotFound => return Some((chunk, None)),
        Err(_) => return None,
    }
    let array = Array::from_schunk(schunk).ok()?;
    let geometry = array.geometry();
    let is_same = geometry.chunkshape() == chunkshape
        && geometry.shape().iter().copied().eq(chunkshape.iter().map(|&len| i64::from(len)));
    is_same.then(|| (chunk, Some(geometry.blockshape().to_vec())))
}

/// Returns the frame around a chunk of Blosc2. `shapes` are its chunk shape and block shape.
///
/// # Errors
/// Errors of creating a frame in memory.
pub fn frame_around(
    chunk: &[u8],
    params: CParams,
    (chunkshape, blockshape): (&[i32], &[i32]),
) -> Result<Buffer> {
    let typesize = params.typesize;
    let shape: Vec<i64> = chunkshape.iter().map(|&len| i64::from(len)).collect();
    let geometry = Geometry::new(&shape, chunkshape, blockshape)?;
    let mut schunk = SChunk::create(Storage::memory(), params, DParams::default())?;
    if chunkshape.len() > 1 {
        let chunksize = geometry.chunksize(typesize)?;
        schunk.set_chunksize(chunksize.try_into().map_err(|_| ferroblosc::Error::InvalidParam)?)?;
        let dtype = format!("|V{typesize}");
        let dtype = Some(dtype.as_bytes());
        let meta = b2nd::meta::serialize(&shape, chunkshape, blockshape, dtype, 0)?;
        schunk.add_metalayer(b2nd::meta::NAME, &meta)?;
    }
    schunk.append_chunk(chunk)?;
    serialize(schunk.state())
}

/// Returns the frame of the items of a chunk. `shapes` are the chunk shape and the block shape.
///
/// # Errors
/// Errors of compression.
pub fn frame_of(
    items: &[u8],
    params: CParams,
    (chunkshape, blockshape): (&[i32], &[i32]),
) -> Result<Buffer> {
    if chunkshape.len() < 2 {
        let mut schunk = SChunk::create(Storage::memory(), params, DParams::default())?;
        schunk.append(items)?;
        return serialize(schunk.state());
    }
    let dtype = format!("|V{}", params.typesize);
    let shape: Vec<i64> = chunkshape.iter().map(|&len| i64::from(len)).collect();
    let layout = Layout { shape: &shape, chunkshape, blockshape };
    let array = Array::from_item_bytes(Storage::memory(), params, &layout, &dtype, items)?;
    serialize(array.schunk().state())
}
