//! Compression and decompression of a chunk.

use std::slice::{from_raw_parts, from_raw_parts_mut};

use ferroblosc::chunk::{
    self, CParams, ChunkHeader, Compressor, DParams, Decompressor, HeaderForm, Special,
};
use ferroblosc::filter::{self, Slot};
use ferroblosc::{Error, Result};

use crate::LIMIT;
use crate::memory::{code, set_result};

/// Returns the uncompressed size of a chunk, which must be complete.
///
/// # Errors
/// [`Error::ReadBuffer`] for a truncated chunk; the errors of parsing the header.
pub fn nbytes(chunk: &[u8]) -> Result<usize> {
    if chunk.len() < chunk::MIN_HEADER_LENGTH {
        let text = format!(
            "the chunk has {} bytes, and a header has {}",
            chunk.len(),
            chunk::MIN_HEADER_LENGTH
        );
        return Err(Error::ReadBuffer.because(text));
    }
    let sizes = chunk::sizes(chunk)?;
    if sizes.cbytes as usize > chunk.len() {
        let text = format!(
            "the chunk is truncated: it has {} bytes, but its header records {}",
            chunk.len(),
            sizes.cbytes
        );
        return Err(Error::ReadBuffer.because(text));
    }
    Ok(sizes.nbytes as usize)
}

/// Checks a size against the caller's limit; stores the text of the error.
///
/// # Errors
/// [`LIMIT`].
pub fn check_limit(nbytes: usize, limit: usize) -> std::result::Result<(), i32> {
    if nbytes <= limit {
        return Ok(());
    }
    set_result(format!("the data has {nbytes} bytes, and at most {limit} are allowed").into());
    Err(LIMIT)
}

/// Decompresses a chunk; every byte of its data is written.
///
/// # Errors
/// The errors of [`Decompressor::decompress`].
pub fn decompress(chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
    let header = ChunkHeader::parse(chunk)?;
    if header.special == Special::Uninit {
        dest.fill(0);
    }
    Decompressor::new(DParams::default()).decompress(chunk, dest).map_err(|error| {
        match chunk::missing_plugin(&header) {
            Some(plugin) => error.because(format!("this build does not contain {plugin}")),
            None => error,
        }
    })
}

/// Returns the uncompressed size of a chunk, or the code of an error, such as [`LIMIT`].
///
/// # Safety
/// The memory is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_chunk_nbytes(src: *const u8, src_len: usize, limit: usize) -> i32 {
    // SAFETY: the caller's contract.
    let src = unsafe { from_raw_parts(src, src_len) };
    match nbytes(src) {
        Ok(nbytes) => check_limit(nbytes, limit).err().unwrap_or(nbytes as i32),
        error => code(error),
    }
}

/// Decompresses a chunk; returns the size of its data, or the code of an error.
///
/// # Safety
/// The memory is valid, and the blocks do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_decompress(
    src: *const u8,
    src_len: usize,
    dest: *mut u8,
    dest_len: usize,
) -> i32 {
    // SAFETY: the caller's contract.
    let (src, dest) = unsafe { (from_raw_parts(src, src_len), from_raw_parts_mut(dest, dest_len)) };
    code(decompress(src, dest))
}

/// Compresses data; returns the size of the chunk, or the code of an error. `filter` is an id, and
/// `header` is 1 for chunks of Blosc 1.x.
///
/// # Safety
/// The memory is valid, and the blocks do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_compress(
    src: *const u8,
    src_len: usize,
    dest: *mut u8,
    dest_len: usize,
    codec: u8,
    level: u8,
    filter: u8,
    typesize: i32,
    blocksize: i32,
    header: u8,
) -> i32 {
    // SAFETY: the caller's contract.
    let (src, dest) = unsafe { (from_raw_parts(src, src_len), from_raw_parts_mut(dest, dest_len)) };
    let slot = [Slot { id: filter, meta: 0 }];
    let slots = if filter == filter::id::NONE { &slot[..0] } else { &slot };
    let mut params = CParams::default().codec(codec).level(level).typesize(typesize).filters(slots);
    params.blocksize = blocksize;
    if header == 1 {
        params.header = HeaderForm::Blosc1;
    }
    code(Compressor::new(params).and_then(|mut compressor| compressor.compress(src, dest)))
}
