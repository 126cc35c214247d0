//! The checks of chunks, one function per target: invariants of calls on arbitrary bytes.

use std::cell::RefCell;

use ferroblosc::Error;
use ferroblosc::chunk::{
    BasicHeader, ChunkHeader, DParams, Decompressor, complib, sizes, validate, vl_nblocks,
};

use crate::alloc::largest_during;
use crate::draw::Draw;
use crate::guard::{Guarded, Side};

/// The maximum uncompressed size of a chunk that is decompressed, in bytes. Larger chunks are slow
/// and find nothing new.
pub(crate) const MAX_NBYTES: usize = 1 << 20;

/// The maximum input length in bytes, above libFuzzer's default limit.
pub(crate) const MAX_CHUNK: usize = 1 << 20;

/// The maximum size of a single allocation for any chunk, in bytes: codec states and tables.
pub(crate) const FIXED_ALLOCATION: usize = 1 << 20;

/// The initial content of destinations.
pub(crate) const FILL: u8 = 0xA5;

struct Bench {
    chunk: Guarded,
    whole: Guarded,
    part: Guarded,
    serial: Decompressor,
    threaded: Decompressor,
}

thread_local! {
    /// The buffers and decompressors, reused across inputs so that state left by an invalid chunk
    /// can affect the next one.
    static BENCH: RefCell<Bench> = RefCell::new(Bench {
        chunk: Guarded::new(MAX_CHUNK),
        whole: Guarded::new(MAX_NBYTES),
        part: Guarded::new(MAX_NBYTES),
        serial: Decompressor::new(DParams::default()),
        threaded: Decompressor::new(DParams::default().threads(3)),
    });
}

fn on_bench(chunk: &[u8], check: impl FnOnce(&mut Bench, &mut Draw)) {
    if chunk.len() <= MAX_CHUNK {
        BENCH.with_borrow_mut(|bench| check(bench, &mut Draw::new(chunk)));
    }
}

/// Calls `f` and checks that its largest allocation is justified by the length of `chunk` and by
/// `nbytes`, its uncompressed size.
fn with_bounded_allocations<T>(chunk: &[u8], nbytes: usize, f: impl FnOnce() -> T) -> T {
    let (result, largest) = largest_during(f);
    let justified = FIXED_ALLOCATION + 4 * (chunk.len() + nbytes);
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
    result
}

/// Returns the uncompressed size in the header, or 0.
fn nbytes_of(chunk: &[u8]) -> usize {
    BasicHeader::parse(chunk).map_or(0, |header| usize::try_from(header.nbytes).unwrap_or(0))
}

/// Draws the length of a destination, mostly the exact one. With another length, the result must be
/// the same size or an error.
fn dest_len(nbytes: usize, draw: &mut Draw) -> usize {
    let len = match draw.below(8) {
        0 => nbytes.saturating_sub(1),
        1 => nbytes + draw.below(40),
        2 => draw.below(nbytes),
        _ => nbytes,
    };
    len.min(MAX_NBYTES)
}

/// Checks decompression: within bounds, complete, and the same with several threads.
pub fn decompress(chunk: &[u8]) {
    on_bench(chunk, |bench, draw| {
        let nbytes = nbytes_of(chunk);
        let chunk = bench.chunk.copy(chunk, Side::draw(draw));
        let len = dest_len(nbytes, draw);
        let side = Side::draw(draw);
        let dest = bench.whole.slice(len, side);
        dest.fill(FILL);
        let serial = with_bounded_allocations(chunk, len, || bench.serial.decompress(chunk, dest));
        if let Ok(written) = serial {
            assert_eq!(written, nbytes, "differs from the header");
            assert!(dest[written..].iter().all(|&byte| byte == FILL), "wrote past the data");
        }
        let again = bench.part.slice(len, side);
        again.fill(FILL);
        let threaded = bench.threaded.decompress(chunk, again);
        assert_eq!(serial.is_ok(), threaded.is_ok(), "{serial:?}, {threaded:?} with threads");
        if serial.is_ok() {
            assert!(dest == again, "other bytes with threads");
        }
    });
}

/// Checks random access: the items of the decompressed chunk, and an error for items out of range.
pub fn getitem(chunk: &[u8]) {
    on_bench(chunk, |bench, draw| {
        let Ok(header) = BasicHeader::parse(chunk) else {
            assert!(bench.serial.getitem(chunk, 0, 1, &mut [0; 256]).is_err());
            return;
        };
        let nbytes = nbytes_of(chunk);
        let chunk = bench.chunk.copy(chunk, Side::draw(draw));
        if nbytes > MAX_NBYTES {
            return;
        }
        let whole = bench.whole.slice(nbytes, Side::High);
        whole.fill(FILL);
        let is_whole = bench.serial.decompress(chunk, whole).is_ok();
        let typesize = usize::from(header.typesize).max(1);
        let count = nbytes / typesize;
        for _ in 0..3 {
            let start = draw.below(count + 2);
            let nitems = match draw.below(4) {
                0 => 1,
                1 => count.saturating_sub(start),
                _ => draw.below(count + 2),
            };
            let len = nitems * typesize;
            if len > MAX_NBYTES {
                continue;
            }
            let part = bench.part.slice(len, Side::draw(draw));
            part.fill(FILL);
            let (first, number) = (start as i32, nitems as i32);
            let result = with_bounded_allocations(chunk, nbytes, || {
                bench.serial.getitem(chunk, first, number, part)
            });
            if result.is_ok() && is_whole && nitems > 0 {
                assert_eq!(result, Ok(len), "items {start}+{nitems}");
                let begin = start * typesize;
                assert!(part == &whole[begin..begin + len], "other items at {start}+{nitems}");
            }
            if nitems > 0 && start + nitems > count.max(nbytes.div_ceil(typesize)) {
                assert!(result.is_err(), "returned items {start}+{nitems} of {count}");
            }
        }
        for (start, nitems) in [(-1, 1), (0, -1), (i32::MAX, 1), (1, i32::MAX), (i32::MIN, 2)] {
            let part = bench.part.slice(typesize, Side::High);
            assert!(bench.serial.getitem(chunk, start, nitems, part).is_err());
        }
    });
}

/// Checks variable-length blocks: the same one by one, together and as one buffer.
pub fn vldecompress(chunk: &[u8]) {
    on_bench(chunk, |bench, draw| {
        let nbytes = nbytes_of(chunk);
        let chunk = bench.chunk.copy(chunk, Side::draw(draw));
        let lens = with_bounded_allocations(chunk, 8 * chunk.len(), || {
            bench.serial.vl_block_sizes(chunk, usize::MAX)
        });
        let Ok(lens) = lens else {
            assert!(bench.serial.vl_decompress(chunk).is_err());
            return;
        };
        assert_eq!(vl_nblocks(chunk), Ok(lens.len() as i32));
        assert_eq!(lens.iter().sum::<usize>(), nbytes);
        assert_eq!(bench.serial.vl_block_len(chunk, lens.len()), Err(Error::InvalidParam));
        if nbytes > MAX_NBYTES {
            return;
        }
        let blocks = with_bounded_allocations(chunk, nbytes, || bench.serial.vl_decompress(chunk));
        let threaded = bench.threaded.vl_decompress(chunk);
        assert_eq!(blocks.is_ok(), threaded.is_ok(), "{blocks:?}, {threaded:?} with threads");
        for (nblock, &len) in lens.iter().enumerate() {
            assert_eq!(bench.serial.vl_block_len(chunk, nblock), Ok(len));
            let dest = bench.part.slice(len, Side::draw(draw));
            let one = bench.serial.vl_decompress_block(chunk, nblock, dest);
            if let Ok(blocks) = &blocks {
                assert_eq!(one, Ok(()), "block {nblock}");
                assert!(dest == blocks[nblock], "block {nblock} differs");
            }
        }
        if let Ok(blocks) = blocks {
            assert!(threaded.is_ok_and(|threaded| threaded == blocks), "other bytes with threads");
            let whole = bench.whole.slice(nbytes, Side::High);
            if bench.serial.decompress(chunk, whole).is_ok() {
                assert!(whole == blocks.concat(), "the chunk as a whole differs");
            }
        }
    });
}

/// Checks headers: all queries agree.
pub fn header(chunk: &[u8]) {
    on_bench(chunk, |bench, draw| {
        let chunk = bench.chunk.copy(chunk, Side::draw(draw));
        let basic = BasicHeader::parse(chunk);
        let full = ChunkHeader::parse(chunk);
        if let Ok(basic) = &basic {
            complib(basic);
        } else {
            assert!(full.is_err() && sizes(chunk).is_err() && validate(chunk).is_err());
        }
        if let Ok(full) = &full {
            let sizes = sizes(chunk).expect("the full header was right");
            assert_eq!(sizes.nbytes as usize, full.nbytes);
            assert_eq!(sizes.cbytes as usize, full.cbytes);
            assert!(full.header_len() <= chunk.len());
        }
        if let Ok(nbytes) = validate(chunk) {
            let sizes = sizes(chunk).expect("the chunk was valid");
            assert_eq!(sizes.nbytes as usize, nbytes);
            assert_eq!(sizes.cbytes as usize, chunk.len());
        }
        if let Ok(nblocks) = vl_nblocks(chunk) {
            assert!(full.is_ok_and(|full| full.vl_blocks) && nblocks > 0);
        }
    });
}
