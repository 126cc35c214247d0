//! Random calls that change a super-chunk or an array. Shared with the fuzzer.

use ferroblosc::b2nd::Array;
use ferroblosc::chunk::{CParams, Compressor, Special, special};
use ferroblosc::schunk::{SChunk, chunks};
use ferroblosc::{Buffer, Result};

/// A pseudo-random number generator with reproducible output.
pub struct Draw(pub u64);

impl Draw {
    /// Returns the next number below `bound`, or 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).checked_rem(bound as u64).unwrap_or(0) as usize
    }

    /// Returns a random index of a chunk or item, mostly a valid one.
    fn number(&mut self, count: i64) -> i64 {
        let count = count.clamp(0, 1 << 40);
        match self.below(8) {
            0 => count,
            1 => 0,
            _ => self.below(usize::try_from(count).unwrap_or(0)) as i64,
        }
    }
}

/// The maximum chunk size of super-chunks that are changed, in bytes; calls on larger chunks are
/// slow.
const MAX_CHUNK: i32 = 1 << 16;
/// The maximum number of chunks of super-chunks that are reordered.
const MAX_ORDER: i64 = 4096;
/// The maximum size of a slice in bytes.
const MAX_SLICE: usize = 1 << 14;
/// The maximum extent of an array's dimension.
const MAX_EXTENT: i64 = 64;
/// The maximum number of chunks that an array may declare.
const MAX_CHUNKS: i64 = 1000;

/// Creates a chunk that may or may not fit the super-chunk.
fn new_chunk(schunk: &SChunk, draw: &mut Draw) -> Result<Buffer> {
    let whole = usize::try_from(schunk.chunksize()).unwrap_or(0).max(4);
    let len = match draw.below(4) {
        0 => draw.below(600) / 4 * 4,
        1 => whole / 2,
        _ => whole,
    };
    let typesize = match schunk.typesize() {
        typesize @ 1..=255 => typesize,
        _ => 1,
    };
    let params = CParams::default().typesize(typesize);
    if draw.below(4) == 0 {
        let len = i32::try_from(len).unwrap_or(0) / typesize * typesize;
        let mut chunk = Buffer::zeroed(64)?;
        let len = match draw.below(3) {
            0 => special::zeros(&params, len, &mut chunk)?,
            1 => special::uninit(&params, len, &mut chunk)?,
            _ => special::nans(&params, len, &mut chunk)?,
        };
        chunk.resize(len)?;
        return Ok(chunk);
    }
    let data: Vec<u8> = (0..len).map(|i| (i / 3 % 251) as u8).collect();
    let mut chunk = Buffer::zeroed(len + 1000)?;
    let len = Compressor::new(params.level(draw.below(10) as u8))?.compress(&data, &mut chunk)?;
    chunk.resize(len)?;
    Ok(chunk)
}

/// Changes a super-chunk with one random call.
///
/// # Errors
/// Returns the error of the call.
pub fn change(schunk: &mut SChunk, draw: &mut Draw) -> Result<()> {
    let nchunks = schunk.nchunks();
    let at = draw.number(nchunks);
    let data: Vec<u8> = (0..draw.below(700)).map(|i| i as u8).collect();
    match draw.below(16) {
        0 => schunk.append(&data).map(drop),
        1 => {
            let whole = usize::try_from(schunk.chunksize()).unwrap_or(0);
            schunk.append(&vec![draw.below(2) as u8; whole]).map(drop)
        }
        2 => {
            let chunk = new_chunk(schunk, draw)?;
            schunk.append_chunk(&chunk).map(drop)
        }
        3 | 4 => {
            let chunk = new_chunk(schunk, draw)?;
            schunk.insert_chunk(at, &chunk).map(drop)
        }
        5 | 6 => {
            let chunk = new_chunk(schunk, draw)?;
            schunk.update_chunk(at, &chunk).map(drop)
        }
        7 => {
            let chunk = schunk.chunk(draw.number(nchunks))?.to_vec();
            schunk.update_chunk(at, &chunk).map(drop)
        }
        8 => schunk.delete_chunk(at).map(drop),
        9 if nchunks <= MAX_ORDER => {
            let mut order: Vec<i64> = (0..nchunks).collect();
            for i in 1..order.len() {
                order.swap(i, draw.below(i + 1));
            }
            schunk.reorder(&order)
        }
        10 => {
            let nitems = draw.below(2000) as i64;
            schunk.fill(nitems, Special::Zero, 400).map(drop)
        }
        11 => {
            let width = i64::from(schunk.typesize().max(1));
            let start = draw.number(schunk.nbytes() / width);
            let stop = start.saturating_add(draw.below(300) as i64);
            let len = usize::try_from((stop - start).saturating_mul(width)).unwrap_or(0);
            schunk.set_slice(start, stop, &vec![7; len.min(MAX_SLICE)])
        }
        12 => {
            let name = ["text", "added", "empty"][draw.below(3)];
            match draw.below(3) {
                0 => schunk.add_vlmetalayer(name, &data),
                1 => schunk.update_vlmetalayer(name, &data),
                _ => schunk.delete_vlmetalayer(name),
            }
        }
        13 => {
            let name = ["first", "second", "b2nd"][draw.below(3)];
            schunk.update_metalayer(name, &data[..data.len().min(draw.below(20))])
        }
        14 => schunk.add_metalayer("new", &data),
        _ => schunk.compact(),
    }
}

/// Changes an array with one random call.
///
/// # Errors
/// Returns the error of the call.
pub fn change_array(array: &mut Array, draw: &mut Draw) -> Result<()> {
    let geometry = array.geometry();
    let ndim = geometry.ndim;
    let is_small = geometry.nchunks() <= MAX_CHUNKS
        && geometry.extchunknitems <= i64::from(MAX_CHUNK)
        && geometry.shape().iter().all(|&extent| extent <= 1 << 20);
    let width = array.schunk().typesize().max(1);
    if !is_small || width > MAX_CHUNK {
        return Ok(());
    }
    let axis = draw.below(ndim + 1) as i8;
    let mut shape = geometry.shape().to_vec();
    for extent in &mut shape {
        match draw.below(4) {
            0 => *extent = draw.below(MAX_EXTENT as usize) as i64,
            1 => *extent = (*extent).min(3),
            _ => {}
        }
    }
    let start: Vec<i64> = (shape.iter()).map(|&extent| draw.number(extent.max(0))).collect();
    let stop: Vec<i64> = (start.iter()).map(|&start| start + draw.below(6) as i64).collect();
    let slab: i64 = (0..ndim)
        .filter(|&dim| dim != axis as usize)
        .map(|dim| geometry.shape()[dim].max(0))
        .product();
    let rows = draw.below(9) as i64;
    let len = usize::try_from(slab.saturating_mul(rows).saturating_mul(i64::from(width)));
    let rows = vec![3; len.unwrap_or(0).min(MAX_SLICE * 4)];
    match draw.below(8) {
        0 => array.resize(&shape, None),
        1 => array.resize(&shape, Some(&start)),
        2 => array.append(&rows, axis),
        3 => array.insert(&rows, axis, start.first().copied().unwrap_or(0)),
        4 => array.delete(axis, start.first().copied().unwrap_or(0), draw.below(9) as i64),
        5 => {
            let count: i64 = start.iter().zip(&stop).map(|(a, b)| b - a).product();
            let len = (count * i64::from(width)) as usize;
            array.set_slice(&start, &stop, &vec![5; len.min(MAX_SLICE * 4)])
        }
        6 => {
            let picks: Vec<&[i64]> = start.iter().map(std::slice::from_ref).collect();
            array.set_orthogonal(&picks, &vec![6; width as usize])
        }
        _ => {
            let slice = array.get_slice(&start, &stop)?;
            array.set_slice(&start, &stop, &slice)
        }
    }
}

/// Reads a changed super-chunk; any result or error is fine.
pub fn read(schunk: &SChunk) {
    let mut dest = vec![0; MAX_CHUNK as usize];
    for nchunk in 0..schunk.nchunks().min(40) {
        let _ = schunk.decompress(nchunk, &mut dest);
        let _ = chunks::lazy_chunk(schunk.state(), nchunk);
    }
    for name in schunk.vlmetalayer_names() {
        let _ = schunk.metalayer(&name);
    }
}

/// Changes a super-chunk with several calls, then reads it. Calls may fail.
pub fn change_often(schunk: &mut SChunk, draw: &mut Draw) {
    for _ in 0..1 + draw.below(8) {
        if schunk.chunksize() <= MAX_CHUNK && schunk.typesize() <= MAX_CHUNK {
            let _ = change(schunk, draw);
        }
    }
    read(schunk);
}

/// Changes the array of a super-chunk with several calls, then reads it. Calls may fail.
pub fn change_array_often(schunk: SChunk, draw: &mut Draw) {
    if schunk.chunksize() > MAX_CHUNK {
        return;
    }
    let Ok(mut array) = Array::from_schunk(schunk) else {
        return;
    };
    for _ in 0..1 + draw.below(6) {
        let _ = change_array(&mut array, draw);
    }
    read(array.schunk());
}
