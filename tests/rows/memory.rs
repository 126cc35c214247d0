//! Memory: allocations must be justified by the available bytes, and their failure is an error.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ferroblosc::chunk::{
    CParams, Compressor, DParams, Decompressor, Special, SplitMode, make_lazy, sizes, validate,
    vl_nblocks,
};
use ferroblosc::codec::id;
use ferroblosc::filter;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};

use crate::common::*;

/// The system allocator with a per-thread limit and count.
struct LimitedAllocator;

thread_local! {
    /// Larger requests fail.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The number of bytes requested.
    static REQUESTED: Cell<usize> = const { Cell::new(0) };
}

fn is_granted(size: usize) -> bool {
    REQUESTED.set(REQUESTED.get().saturating_add(size));
    size <= LIMIT.get()
}

// SAFETY: all memory is the system allocator's; a null pointer refuses a request.
unsafe impl GlobalAlloc for LimitedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_granted(layout.size()) {
            // SAFETY: forwarded to the system allocator.
            unsafe { System.alloc(layout) }
        } else {
            std::ptr::null_mut()
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: forwarded; the memory is the system allocator's.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_granted(layout.size()) {
            // SAFETY: forwarded to the system allocator.
            unsafe { System.alloc_zeroed(layout) }
        } else {
            std::ptr::null_mut()
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_granted(size) {
            // SAFETY: forwarded; the memory is the system allocator's.
            unsafe { System.realloc(memory, layout, size) }
        } else {
            std::ptr::null_mut()
        }
    }
}

#[global_allocator]
static ALLOCATOR: LimitedAllocator = LimitedAllocator;

/// Calls `work` while requests of this thread above `limit` bytes fail.
fn limited<T>(limit: usize, work: impl FnOnce() -> T) -> T {
    LIMIT.set(limit);
    let result = work();
    LIMIT.set(usize::MAX);
    result
}

/// Returns the number of bytes that `work` requests.
fn requested_by<T>(work: impl FnOnce() -> T) -> usize {
    let before = REQUESTED.get();
    work();
    REQUESTED.get() - before
}

const MIB: usize = 1 << 20;
/// Upper bound on the size of codec states and small allocations.
const STATES: usize = 200_000;

#[test]
fn row_c72_scratch_memory_that_cannot_be_allocated_is_an_error() {
    let data = ramp(4 * MIB);
    let mut dest = vec![0; data.len() + 32];
    let mut back = vec![0; data.len()];
    for filters in [
        vec![DELTA],
        vec![BITSHUFFLE],
        vec![SHUFFLE],
        vec![slot(filter::id::TRUNC_PREC, 20), DELTA, SHUFFLE],
        vec![SHUFFLE, slot(filter::id::BYTEDELTA, 4)],
    ] {
        for splitmode in [SplitMode::ALWAYS, SplitMode::NEVER] {
            let params = lz4(4, &filters).blocksize(2 * MIB as i32).splitmode(splitmode);
            let mut compressor = Compressor::new(params).unwrap();
            let failed = limited(MIB, || compressor.compress(&data, &mut dest));
            assert_eq!(failed, Err(Error::MemoryAlloc));
            let size = compressor.compress(&data, &mut dest).unwrap();
            let chunk = &dest[..size];
            let mut reader = Decompressor::new(DParams::default());
            let failed = limited(MIB, || reader.decompress(chunk, &mut back));
            assert_eq!(failed, Err(Error::MemoryAlloc));
            let failed = limited(MIB, || reader.getitem(chunk, 600_000, 10, &mut back));
            assert_eq!(failed, Err(Error::MemoryAlloc));
            assert_eq!(reader.decompress(chunk, &mut back), Ok(data.len()));
            assert_eq!(reader.getitem(chunk, 600_000, 10, &mut back), Ok(40));
        }
    }
}

#[test]
fn row_c72_dictionaries_that_cannot_be_allocated_are_an_error() {
    let data = text(2 * MIB);
    let mut dest = vec![0; data.len() + 32];
    for codec in [id::LZ4, id::LZ4HC, id::ZSTD] {
        let params = lz4(1, &[]).codec(codec).level(1).blocksize(16 << 10);
        let mut compressor = Compressor::new(params.use_dict(true)).unwrap();
        let failed = limited(20_000, || compressor.compress(&data, &mut dest));
        assert_eq!(failed, Err(Error::MemoryAlloc));
    }
    // With this many samples, the list of their sizes is larger than the samples.
    let params = lz4(1, &[]).codec(id::ZSTD).use_dict(true);
    let mut compressor = Compressor::new(params.clone().blocksize(16)).unwrap();
    let failed = limited(MIB / 2, || compressor.compress(&data, &mut dest));
    assert_eq!(failed, Err(Error::MemoryAlloc));
    let blocks: Vec<&[u8]> = data[..MIB].chunks(16).collect();
    let mut compressor = Compressor::new(params).unwrap();
    let failed = limited(MIB / 4, || compressor.vl_compress(&blocks, &mut dest));
    assert_eq!(failed, Err(Error::MemoryAlloc));
}

#[test]
fn row_c72_variable_length_blocks_that_cannot_be_allocated_are_an_error() {
    let blocks = [text(2 * MIB), text(100)];
    let mut dest = vec![0; 3 * MIB];
    let mut compressor = Compressor::new(lz4(1, &[SHUFFLE])).unwrap();
    let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
    let size = compressor.vl_compress(&blocks, &mut dest).unwrap();
    let mut reader = Decompressor::new(DParams::default());
    let failed = limited(MIB, || reader.vl_decompress(&dest[..size]));
    assert_eq!(failed, Err(Error::MemoryAlloc));
}

/// Returns chunks of all kinds, except runs, whose uncompressed length is unbounded.
fn chunks() -> Vec<Vec<u8>> {
    let data = [text(700), noise(100)].concat();
    let mut chunks = Vec::new();
    for codec in CODECS {
        for filters in [vec![], vec![SHUFFLE], vec![DELTA, BITSHUFFLE]] {
            let params = lz4(4, &filters).codec(codec).blocksize(200);
            chunks.push(compress_into(&params, &data, 2000).unwrap());
        }
    }
    let dictionary = lz4(1, &[]).use_dict(true).blocksize(1000);
    chunks.push(compress(&dictionary, &text(6000)).unwrap());
    chunks.push(compress(&lz4(1, &[]).level(0), &data).unwrap());
    chunks
}

fn vl_chunks() -> Vec<Vec<u8>> {
    let chunk_of = |codec, level| {
        let mut dest = vec![0; 2000];
        let mut compressor = Compressor::new(lz4(1, &[SHUFFLE]).codec(codec).level(level)).unwrap();
        let blocks: [&[u8]; 2] = [&text(300), &noise(20)];
        let size = compressor.vl_compress(&blocks, &mut dest).unwrap();
        dest.truncate(size);
        dest
    };
    CODECS.into_iter().flat_map(|codec| [chunk_of(codec, 0), chunk_of(codec, 5)]).collect()
}

const HUGE: [i32; 5] = [i32::MAX, i32::MAX - 32, 1 << 30, 536_866_816, 1 << 20];

#[test]
fn row_d11_decompression_allocates_no_more_than_source_and_destination_justify() {
    for chunk in chunks().into_iter().chain(vl_chunks()) {
        for offset in [at::NBYTES, at::BLOCKSIZE, at::CBYTES, at::STARTS, at::STARTS + 4] {
            for huge in HUGE {
                let chunk = with_i32(&chunk, offset, huge);
                let mut dest = vec![0; 8000];
                let bound = STATES + 12 * chunk.len() + 4 * dest.len();
                let requested = requested_by(|| {
                    let _ = sizes(&chunk);
                    let _ = validate(&chunk);
                    let _ = vl_nblocks(&chunk);
                    Decompressor::new(DParams::default()).decompress(&chunk, &mut dest)
                });
                assert!(requested <= bound, "{requested} bytes with {huge} at {offset}");
            }
        }
    }
}

#[test]
fn row_d11_no_memory_is_allocated_for_a_missing_block() {
    for chunk in chunks() {
        let mut chunk = with_i32(&chunk, at::NBYTES, 1_000_000_000);
        set_i32(&mut chunk, at::BLOCKSIZE, 500_000_000);
        for start in [-1, 0, 36, i32::MAX, chunk.len() as i32] {
            set_i32(&mut chunk, at::STARTS, start);
            set_i32(&mut chunk, at::STARTS + 4, start);
            for item in [3, 150_000_000] {
                let mut dest = [0; 40];
                let read =
                    || Decompressor::new(DParams::default()).getitem(&chunk, item, 10, &mut dest);
                let requested = requested_by(read);
                assert!(requested < STATES, "{requested} bytes for a block at {start}");
            }
        }
    }
}

#[test]
fn row_d11_a_block_longer_than_its_codec_can_make_is_refused() {
    for chunk in vl_chunks() {
        let first = get_i32(&chunk, at::STARTS) as usize;
        let stored = get_i32(&chunk, at::STARTS + 4) as usize - first - 4;
        for len in HUGE {
            let mut chunk = with_i32(&chunk, first, len - 20);
            set_i32(&mut chunk, at::NBYTES, len);
            // No codec expands a byte to more than 32768 bytes.
            let bound = STATES + 12 * chunk.len() + 2 * (stored << 15).min(len as usize);
            let mut reader = Decompressor::new(DParams::default());
            let requested = requested_by(|| assert!(reader.vl_decompress(&chunk).is_err()));
            assert!(requested <= bound, "{requested} bytes for a block of {len}");
            let claimed = reader.vl_block_len(&chunk, 0).unwrap_or(0);
            assert!(claimed <= stored << 15, "{claimed} bytes of {stored}");
        }
    }
}

#[test]
fn row_d11_lazy_chunks_are_not_longer_than_their_chunks_justify() {
    let stored = compress(&lz4(1, &[]).level(0), &noise(1000)).unwrap();
    let mut lying = with_i32(&stored, at::NBYTES, 2_000_000_000);
    set_i32(&mut lying, at::BLOCKSIZE, 1);
    let mut lazy: Result<Vec<u8>> = Ok(vec![]);
    let requested = requested_by(|| lazy = make_lazy(&lying, 0, 0));
    assert_eq!(lazy, Err(Error::Data));
    assert!(requested < 1000);
}

#[test]
fn a_chunk_with_a_short_header_cannot_be_lazy() {
    let short = Made::old(flags::NOT_SPLIT, 1, 40, 40).block(&[raw_stream(&noise(40))]);
    assert_eq!(make_lazy(&short.chunk(), 0, 0), Err(Error::InvalidParam));
}

#[test]
fn a_frame_of_too_many_chunks_is_refused_before_its_index_is_allocated() {
    let params = CParams::default().typesize(1);
    for storage in [Storage::frame(), Storage::frame().checksums()] {
        let mut frame = SChunk::create(storage, params.clone(), DParams::default()).unwrap();
        let fill = |frame: &mut SChunk, nchunks| frame.fill(nchunks, Special::Zero, 1);
        // The index has 8 bytes for each chunk, and at most `i32::MAX` bytes.
        let most = i64::from(i32::MAX) / 8;
        let refused = limited(1 << 20, || fill(&mut frame, most + 1));
        assert_eq!(refused, Err(Error::InvalidParam));
        assert_eq!((fill(&mut frame, 1000), frame.nchunks()), (Ok(1000), 1000));
    }
}
