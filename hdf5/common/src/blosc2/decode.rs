//! Converts a frame to a dataset chunk.
//!
//! The frame contains everything that decompression needs. It may have any codec, filter pipeline,
//! chunk shape and block shape. If the stored parameters contain a consistent chunk shape, an array
//! must match it.

use super::parameters::Parameters;
use crate::filter::Failure;
use crate::limits::{frame_chunks, frame_size, is_decodable};
use crate::threads::Threads;
use ferroblosc::b2nd::create::metalayer;
use ferroblosc::b2nd::request::SliceRequest;
use ferroblosc::b2nd::{Array, get};
use ferroblosc::chunk::DParams;
use ferroblosc::schunk::SChunk;
use ferroblosc::{Buffer, ErrorKind};

/// Decodes the chunk in a frame.
///
/// # Errors
/// Fails if the frame is invalid or damaged, or does not match the dataset.
pub fn decode(
    parameters: &Parameters<'_>,
    stored: &[u8],
    threads: Threads,
) -> Result<Buffer, Failure> {
    let nbytes = parameters.chunksize as usize;
    let mut dparams = DParams::default().threads(threads.for_chunk(nbytes));
    dparams.apply_environment();
    let schunk = SChunk::from_bytes(stored, dparams)?;
    let limit = frame_size(parameters.chunksize, stored.len());
    let most = frame_chunks(stored.len());
    if schunk.nchunks() > most as i64 {
        return Err(Failure(format!(
            "a frame of {} chunks where its bytes can have at most {most}",
            schunk.nchunks()
        )));
    }
    match metalayer(schunk.state()) {
        Ok(_) => decode_array(parameters, &Array::from_schunk(schunk)?, limit),
        Err(error) if error.kind() == ErrorKind::MetalayerNotFound => decode_plain(&schunk, limit),
        Err(error) => Err(error.into()),
    }
}

fn decode_array(
    parameters: &Parameters<'_>,
    array: &Array,
    limit: usize,
) -> Result<Buffer, Failure> {
    let geometry = array.geometry();
    let shape = geometry.shape();
    let wanted = parameters.consistent_shape();
    if let Some(wanted) = wanted {
        let is_same = (wanted.iter().copied().map(i64::from)).eq(shape.iter().copied());
        if !is_same {
            return Err(Failure(format!(
                "an array of shape {shape:?} where chunks have the shape {wanted:?}"
            )));
        }
    }
    let typesize = array.schunk().typesize();
    let size = shape.iter().try_fold(i64::from(typesize), |size, &extent| size.checked_mul(extent));
    let is_whole = u32::try_from(typesize) == Ok(parameters.typesize)
        || size == Some(parameters.chunksize.into());
    if wanted.is_some() && !is_whole {
        return Err(Failure(format!(
            "an array of {typesize}-byte items where the dataset has items of {} bytes",
            parameters.typesize
        )));
    }
    let Some(size) = size.filter(|&size| (1..=limit as i64).contains(&size)) else {
        return Err(Failure(format!(
            "an array of shape {shape:?} where a chunk has at most {limit} bytes"
        )));
    };
    if !is_decodable(&geometry, typesize) {
        return Err(Failure(format!(
            "an array of {size} bytes with chunks of the shape {:?}, which are too large",
            geometry.chunkshape()
        )));
    }
    let start = vec![0; shape.len()];
    let request = SliceRequest::new(&geometry, typesize as usize, &start, shape, shape, size)?;
    let mut data = Buffer::unspecified(size as usize)?;
    get::get(array, &request, &mut data)?;
    Ok(data)
}

fn decode_plain(schunk: &SChunk, limit: usize) -> Result<Buffer, Failure> {
    let size = usize::try_from(schunk.nbytes()).ok();
    let Some(size) = size.filter(|&size| size <= limit) else {
        return Err(Failure(format!(
            "{} bytes of data where a chunk has at most {limit}",
            schunk.nbytes()
        )));
    };
    let mut data = Buffer::unspecified(size)?;
    let mut done = 0;
    for nchunk in 0..schunk.nchunks() {
        match schunk.decompress(nchunk, &mut data[done..])? {
            0 => return Err(Failure::new("a chunk without data")),
            decoded => done += decoded,
        }
    }
    if done == size {
        Ok(data)
    } else {
        Err(Failure(format!("{done} bytes of data instead of {size}")))
    }
}
