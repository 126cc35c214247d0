//! Functions for chunks with variable-length blocks.

use crate::bridge::context::Context;
use crate::buffers::{destination, whole_chunk};
use crate::types::context::blosc2_context;
use ferroblosc::chunk::vl_nblocks;
use ferroblosc::{Buffer, Error, Result};
use ferroblosc_capi_common::pointers::StableSource;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Compresses buffers into one chunk, each buffer into a separate block.
///
/// - `context`: the compression context.
/// - `srcs`: the buffers, owned by the caller; none may be NULL or empty.
/// - `srcsizes`: the sizes of the buffers in bytes.
/// - `nblocks`: the number of buffers.
/// - `dest`: the destination.
/// - `destsize`: the size of the destination in bytes.
///
/// Returns the size of the chunk in bytes, 0 if it exceeds `destsize`, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlcompress_ctx(
    context: *mut blosc2_context,
    srcs: *const *const c_void,
    srcsizes: *const i32,
    nblocks: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    boundary!(blosc2_vlcompress_ctx, in_memory, {
        // SAFETY: the caller passes a context, nblocks buffers with their sizes, and a destination,
        // or NULL.
        let (context, blocks, dest) = unsafe {
            let context = Context::of(context)?;
            let blocks = buffers(srcs, srcsizes, nblocks, (dest, destsize))?;
            (context, blocks, destination(dest, destsize)?)
        };
        let mut slices = Vec::new();
        slices.try_reserve_exact(blocks.len())?;
        slices.extend(blocks.iter().map(StableSource::bytes));
        let size = context.compress_with(|compressor| compressor.vl_compress(&slices, dest))?;
        Ok(size as c_int)
    })
}

/// Returns the buffers of an array of pointers and an array of sizes, copied where they overlap the
/// destination.
///
/// # Safety
/// Both arrays are NULL or have `count` elements, and each pointer is NULL or readable for its
/// size.
unsafe fn buffers(
    starts: *const *const c_void,
    sizes: *const i32,
    count: i32,
    dest: (*mut c_void, i32),
) -> Result<Vec<StableSource>> {
    let count = usize::try_from(count).map_err(|_| Error::InvalidParam)?;
    if starts.is_null() || sizes.is_null() {
        return Err(Error::InvalidParam);
    }
    let mut buffers = Vec::new();
    buffers.try_reserve_exact(count)?;
    for i in 0..count {
        // SAFETY: `i` is below the number of elements; the rest is guaranteed by the caller.
        buffers.push(unsafe {
            let (start, size) = (starts.add(i).read(), sizes.add(i).read());
            pointers::bytes(start, size)?;
            StableSource::from((start, size), (dest.0, dest.1))?
        });
    }
    Ok(buffers)
}

/// Decompresses all blocks of a chunk with variable-length blocks, each into a new buffer.
///
/// - `context`: the decompression context.
/// - `src`: the chunk.
/// - `srcsize`: the size of the chunk in bytes.
/// - `dests`: an array of `maxblocks` pointers; receives the buffers, which the caller must free().
///   The remaining entries are NULL, and all are NULL on error.
/// - `destsizes`: an array of `maxblocks` numbers; receives the sizes of the buffers in bytes.
/// - `maxblocks`: the length of both arrays, at least the number of blocks.
///
/// Returns the number of blocks, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vldecompress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dests: *mut *mut c_void,
    destsizes: *mut i32,
    maxblocks: i32,
) -> c_int {
    boundary!(blosc2_vldecompress_ctx, in_memory, {
        let max = usize::try_from(maxblocks);
        for i in 0..max.unwrap_or(0) {
            // SAFETY: `i` is less than the length of each array that is not NULL.
            unsafe {
                if !dests.is_null() {
                    dests.add(i).write(null_mut());
                }
                if !destsizes.is_null() {
                    destsizes.add(i).write(0);
                }
            }
        }
        // SAFETY: the caller passes a context and a chunk of that size, or NULL.
        let (context, src) = unsafe { (Context::of(context)?, whole_chunk(src, srcsize)?) };
        let max = max.map_err(|_| Error::InvalidParam)?;
        if dests.is_null() || destsizes.is_null() || max == 0 {
            return Err(Error::InvalidParam);
        }
        let blocks = context.decompress_with(|decompressor| {
            let sizes = decompressor.vl_block_sizes(src, max)?;
            let mut blocks = Vec::new();
            blocks.try_reserve_exact(sizes.len())?;
            for size in sizes {
                blocks.push(Buffer::zeroed(size)?);
            }
            let mut slices = Vec::new();
            slices.try_reserve_exact(blocks.len())?;
            slices.extend(blocks.iter_mut().map(|block| &mut **block));
            decompressor.vl_decompress_into(src, &mut slices)?;
            Ok(blocks)
        })?;
        let count = blocks.len();
        for (i, block) in blocks.into_iter().enumerate() {
            // SAFETY: there are at most `maxblocks` blocks, the number of elements.
            unsafe {
                destsizes.add(i).write(block.len() as i32);
                dests.add(i).write(block.into_raw().cast());
            }
        }
        Ok(count as c_int)
    })
}

/// Decompresses one block of a chunk with variable-length blocks into a new buffer.
///
/// - `context`: the decompression context.
/// - `src`: the chunk.
/// - `srcsize`: the size of the chunk in bytes.
/// - `nblock`: the index of the block.
/// - `dest`: receives the buffer, which the caller must free(); NULL on error.
/// - `destsize`: receives the size of the data in bytes, 0 on error.
///
/// Returns the size of the data in bytes, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vldecompress_block_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    boundary!(blosc2_vldecompress_block_ctx, in_memory, {
        // SAFETY: the caller passes result pointers, or NULL.
        unsafe {
            pointers::write_if_given(dest, null_mut());
            pointers::write_if_given(destsize, 0);
        }
        // SAFETY: the caller passes a context and a chunk of that size, or NULL.
        let (context, src) = unsafe { (Context::of(context)?, whole_chunk(src, srcsize)?) };
        if dest.is_null() || destsize.is_null() {
            return Err(Error::InvalidParam);
        }
        let nblock = usize::try_from(nblock).map_err(|_| Error::InvalidParam)?;
        let block = context.decompress_with(|decompressor| {
            let mut block = Buffer::zeroed(decompressor.vl_block_len(src, nblock)?)?;
            decompressor.vl_decompress_block(src, nblock, &mut block)?;
            Ok(block)
        })?;
        let size = block.len() as i32;
        // SAFETY: neither pointer is NULL, and the caller guarantees that both are writable.
        unsafe {
            destsize.write(size);
            dest.write(block.into_raw());
        }
        Ok(size)
    })
}

/// Returns the number of blocks of a chunk with variable-length blocks.
///
/// - `src`: the chunk.
/// - `srcsize`: the size of the chunk in bytes.
/// - `nblocks`: receives the number of blocks, 0 on error.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlchunk_get_nblocks(
    src: *const c_void,
    srcsize: i32,
    nblocks: *mut i32,
) -> c_int {
    boundary!(blosc2_vlchunk_get_nblocks, in_memory, {
        // SAFETY: the caller passes a chunk of that size and a writable pointer, or NULL.
        let found = unsafe {
            let found = whole_chunk(src, srcsize).and_then(vl_nblocks);
            pointers::write_if_given(nblocks, *found.as_ref().unwrap_or(&0));
            found
        };
        if nblocks.is_null() {
            return Err(Error::InvalidParam);
        }
        found.map(|_| 0)
    })
}
