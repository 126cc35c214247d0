//! Converts a dataset chunk to a frame.
//!
//! A chunk of two or more dimensions becomes an array of one chunk, so that readers can decode
//! single blocks. A chunk whose size does not match its shape, because a preceding filter changed
//! it, becomes a super-chunk of one chunk, as do one-dimensional chunks.

use super::blockshape::{automatic_blocksize, blockshape};
use super::parameters::{CLEVEL, CODEC, FILTER, Parameters, bytes_of};
use crate::filter::Failure;
use crate::threads::Threads;
use ferroblosc::Buffer;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams, MAX_BLOCKSIZE, MAX_BUFFERSIZE};
use ferroblosc::filter::SLOTS;
use ferroblosc::schunk::{SChunk, Storage};

/// Encodes a chunk as a frame.
///
/// # Errors
/// Fails if a parameter is out of range or the chunk is too large.
pub fn encode(
    parameters: &Parameters<'_>,
    data: &[u8],
    threads: Threads,
) -> Result<Buffer, Failure> {
    let cparams = cparams(parameters, threads.for_chunk(data.len()))?;
    match shape_of(parameters, data) {
        Some(shape) => encode_array(parameters, cparams, shape, data),
        None => encode_plain(cparams, data),
    }
}

/// Encodes a chunk as a frame without compression, ignoring the parameters.
///
/// # Errors
/// Fails if the chunk is too large.
pub fn store(data: &[u8]) -> Result<Buffer, Failure> {
    encode_plain(CParams::default().level(0).typesize(1), data)
}

/// Returns the shape of the chunk, if it is stored as an array.
fn shape_of<'a>(parameters: &Parameters<'a>, data: &[u8]) -> Option<&'a [u32]> {
    let shape = parameters.chunkshape?;
    (bytes_of(shape, parameters.typesize) == Some(data.len() as u64)).then_some(shape)
}

/// Returns the parameters from the values and the environment.
fn cparams(parameters: &Parameters<'_>, nthreads: i16) -> Result<CParams, Failure> {
    let codec = CODEC.read(parameters.values)?;
    let filter = FILTER.read(parameters.values)?;
    // Stored values are untrusted; an invalid type size is treated as one byte.
    let typesize = i32::try_from(parameters.typesize)
        .ok()
        .filter(|size| (1..=MAX_BLOCKSIZE).contains(size))
        .unwrap_or(1);
    let mut cparams = CParams::default()
        .codec(codec as u8)
        .level(CLEVEL.read(parameters.values)? as u8)
        .typesize(typesize)
        .threads(nthreads)
        .blocksize(
            i32::try_from(parameters.blocksize)
                .map_or(MAX_BLOCKSIZE, |size| size.min(MAX_BLOCKSIZE)),
        );
    cparams.filters[SLOTS - 1].id = filter as u8;
    cparams.apply_environment()?;
    // The environment must not change the type size, on which the shape depends.
    cparams.typesize = typesize;
    Ok(cparams)
}

fn encode_array(
    parameters: &Parameters<'_>,
    cparams: CParams,
    shape: &[u32],
    data: &[u8],
) -> Result<Buffer, Failure> {
    let too_large = || Failure(format!("a chunk of {} bytes is too large", data.len()));
    let typesize = cparams.typesize;
    let target = match cparams.blocksize {
        0 => {
            let chunksize = i32::try_from(data.len()).map_err(|_| too_large())?;
            automatic_blocksize(chunksize, typesize, cparams.clevel, cparams.compcode)?
        }
        requested => requested,
    };
    let target = u32::try_from(target).map_err(|_| too_large())?;
    let signed = |shape: &[u32]| -> Option<Vec<i32>> {
        shape.iter().map(|&extent| i32::try_from(extent).ok()).collect()
    };
    let chunkshape = signed(shape).ok_or_else(too_large)?;
    let block = blockshape(shape, parameters.typesize, target);
    if !is_possible_array(shape, &block, parameters.typesize) {
        return encode_plain(cparams, data);
    }
    let blockshape = signed(&block).ok_or_else(too_large)?;
    let shape: Vec<i64> = shape.iter().copied().map(i64::from).collect();
    let layout = Layout { shape: &shape, chunkshape: &chunkshape, blockshape: &blockshape };
    let dtype = format!("|V{typesize}");
    let array = Array::from_item_bytes(Storage::frame(), cparams, &layout, &dtype, data)?;
    Ok(array.into_schunk().into_buffer()?)
}

/// Whether the chunk of an array can have this shape. Its blocks are whole ones, so it may exceed
/// the maximum size of a chunk though its items do not.
fn is_possible_array(shape: &[u32], block: &[u32], typesize: u32) -> bool {
    let padded = shape.iter().zip(block).map(|(&extent, &block)| {
        let (extent, block) = (u64::from(extent), u64::from(block).max(1));
        extent.next_multiple_of(block)
    });
    let size = padded.fold(u64::from(typesize), u64::saturating_mul);
    size <= MAX_BUFFERSIZE as u64
}

fn encode_plain(cparams: CParams, data: &[u8]) -> Result<Buffer, Failure> {
    let mut schunk = SChunk::create(Storage::frame(), cparams, DParams::default())?;
    schunk.append(data)?;
    Ok(schunk.into_buffer()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_must_fit_the_format_with_whole_blocks() {
        let most = MAX_BUFFERSIZE as u32;
        assert!(is_possible_array(&[most, 1], &[most, 1], 1));
        assert!(!is_possible_array(&[most, 1], &[most - 1, 1], 1));
        assert!(!is_possible_array(&[65536, 32767], &[1024, 1024], 1));
        assert!(is_possible_array(&[65536, 32767], &[1024, 32767], 1));
        assert!(!is_possible_array(&[u32::MAX; 16], &[1; 16], u32::MAX));
    }
}
