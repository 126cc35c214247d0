//! From a frame to a chunk of a dataset.
//!
//! The frame tells by itself how it is read: any codec, pipeline, shape of chunks and blocks. The parameters
//! of the file tell how much there may be, and of which shape.

use crate::filter::Parameters;
use ferroblosc::Buffer;
use ferroblosc::b2nd::create::metalayer;
use ferroblosc::b2nd::request::Request;
use ferroblosc::b2nd::{Array, get};
use ferroblosc::chunk::DParams;
use ferroblosc::schunk::SChunk;
use ferroblosc_hdf5_common::{Failure, room_for_earlier_filters};

/// The chunk in a frame.
///
/// # Errors
/// When it is no frame, is damaged, or holds something else than a chunk of the dataset.
pub fn decode(parameters: &Parameters<'_>, stored: &[u8]) -> Result<Buffer, Failure> {
    let mut dparams = DParams::default();
    dparams.apply_environment();
    let schunk = SChunk::from_bytes(stored, dparams)?;
    let is_array = metalayer(schunk.state()).is_some();
    match is_array {
        true => decode_array(parameters, &Array::from_schunk(schunk)?),
        false => decode_plain(parameters, &schunk),
    }
}

fn decode_array(parameters: &Parameters<'_>, array: &Array) -> Result<Buffer, Failure> {
    let geometry = array.geometry();
    let shape = geometry.shape();
    if let Some(wanted) = parameters.chunkshape {
        let is_same = (wanted.iter().copied().map(i64::from)).eq(shape.iter().copied());
        if !is_same {
            return Err(Failure(format!(
                "an array of shape {shape:?} where chunks have the shape {wanted:?}"
            )));
        }
    }
    let typesize = array.schunk().typesize();
    let size = shape.iter().try_fold(i64::from(typesize), |size, &extent| {
        size.checked_mul(extent)
    });
    let limit = i64::from(parameters.chunksize);
    let is_whole = u32::try_from(typesize) == Ok(parameters.typesize) || size == Some(limit);
    if parameters.chunkshape.is_some() && !is_whole {
        return Err(Failure(format!(
            "an array of {typesize}-byte items where the dataset has items of {} bytes",
            parameters.typesize
        )));
    }
    let Some(size) = size.filter(|&size| (1..=limit).contains(&size)) else {
        return Err(Failure(format!(
            "an array that does not fit into a chunk of {limit} bytes"
        )));
    };
    let start = vec![0; shape.len()];
    let request = Request::new(&geometry, typesize as usize, &start, shape, shape, size)?;
    let mut data = Buffer::zeroed(size as usize)?;
    get::get(array, &request, &mut data)?;
    Ok(data)
}

fn decode_plain(parameters: &Parameters<'_>, schunk: &SChunk) -> Result<Buffer, Failure> {
    let limit = room_for_earlier_filters(parameters.chunksize);
    let size = usize::try_from(schunk.nbytes()).ok();
    let Some(size) = size.filter(|&size| size <= limit) else {
        return Err(Failure(format!(
            "{} bytes of data where a chunk has {}",
            schunk.nbytes(),
            parameters.chunksize
        )));
    };
    let mut data = Buffer::zeroed(size)?;
    let mut done = 0;
    for nchunk in 0..schunk.nchunks() {
        match schunk.decompress(nchunk, &mut data[done..])? {
            0 => return Err(Failure::new("a chunk without data")),
            decoded => done += decoded,
        }
    }
    match done == size {
        true => Ok(data),
        false => Err(Failure(format!("{done} bytes of data instead of {size}"))),
    }
}
