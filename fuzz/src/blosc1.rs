//! The reader of Blosc 1.x, as `libblosc.so.1` calls it: the header alone determines how many bytes
//! of the chunk and of the destination are accessed.

use std::cell::RefCell;

use ferroblosc::blosc1::{self, Engine, Error, HEADER_LENGTH, Header};

use crate::alloc::largest_during;
use crate::check::{FILL, FIXED_ALLOCATION, MAX_CHUNK, MAX_NBYTES};
use crate::draw::Draw;
use crate::guard::{Guarded, Side};

struct Bench {
    chunk: Guarded,
    whole: Guarded,
    part: Guarded,
    engine: Engine,
}

thread_local! {
    /// The buffers and the engine, reused across inputs so that state left by an invalid chunk can
    /// affect the next one.
    static BENCH: RefCell<Bench> = RefCell::new(Bench {
        chunk: Guarded::new(MAX_CHUNK),
        whole: Guarded::new(MAX_NBYTES),
        part: Guarded::new(MAX_NBYTES),
        engine: Engine::default(),
    });
}

/// Checks a chunk: all calls agree, stay within bounds, and return items of the decompressed chunk.
pub fn chunk(input: &[u8]) {
    let Some(header) = input.first_chunk::<HEADER_LENGTH>() else {
        let mut engine = Engine::default();
        assert_eq!(engine.decompress(input, 1, &mut [0; 64]), Err(Error::Failure));
        assert_eq!(engine.getitem(input, 0, 1, &mut [0; 64]), Err(Error::Failure));
        return;
    };
    inspect(header, input.len());
    if input.len() <= MAX_CHUNK {
        let mut draw = Draw::new(input);
        BENCH.with_borrow_mut(|bench| decompress(bench, input, header, &mut draw));
    }
}

/// Checks the queries on a header.
fn inspect(header: &Header, len: usize) {
    let sizes = blosc1::sizes(header);
    let (typesize, flags) = blosc1::metainfo(header);
    let (version, _) = blosc1::versions(header);
    let _ = blosc1::complib(header);
    assert_eq!(flags & !0x7, 0, "flags that are not documented");
    if version != header[0] || (typesize != 0 && typesize != header[3]) {
        panic!("the version or the item size is not that of the header");
    }
    if blosc1::validate(header, len).is_ok() {
        assert_eq!(usize::try_from(sizes.cbytes), Ok(len));
        assert!(usize::try_from(sizes.nbytes).is_ok_and(|n| n <= blosc1::MAX_BUFFERSIZE));
    }
}

/// Returns the size of a destination: mostly the exact one.
fn dest_len(nbytes: usize, draw: &mut Draw) -> usize {
    match draw.below(8) {
        0 => nbytes.saturating_sub(1),
        1 => nbytes + draw.below(40),
        _ => nbytes,
    }
}

fn decompress(bench: &mut Bench, input: &[u8], header: &Header, draw: &mut Draw) {
    let nbytes = usize::try_from(blosc1::sizes(header).nbytes).unwrap_or(0);
    if nbytes > MAX_NBYTES {
        return;
    }
    let size = dest_len(nbytes, draw).min(MAX_NBYTES);
    // The calls in C pass as many bytes as the header states, and the buffer must have them.
    let whole = match blosc1::lengths(header, size) {
        Ok(lengths) if lengths.src <= input.len() => {
            assert!(lengths.dest <= size, "more bytes than the destination has");
            let src = bench.chunk.copy(&input[..lengths.src], Side::High);
            let dest = bench.whole.slice(lengths.dest, Side::draw(draw));
            dest.fill(FILL);
            let engine = &mut bench.engine;
            let (serial, largest) = largest_during(|| engine.decompress(src, 1, dest));
            let justified = FIXED_ALLOCATION + 4 * (src.len() + nbytes);
            assert!(
                largest <= justified,
                "allocated {largest} bytes at once, at most {justified} are allowed"
            );
            let again = bench.part.slice(lengths.dest, Side::draw(draw));
            again.fill(FILL);
            let threaded = bench.engine.decompress(src, 3, again);
            assert_eq!(serial, threaded, "another result with threads");
            match serial {
                Ok(written) => {
                    assert_eq!(written, lengths.dest, "differs from the header");
                    assert!(dest == again, "other bytes with threads");
                    Some(dest.to_vec())
                }
                Err(_) => None,
            }
        }
        _ => None,
    };
    getitem(bench, input, header, whole.as_deref(), draw);
}

/// Checks random access against the decompressed chunk.
fn getitem(
    bench: &mut Bench,
    input: &[u8],
    header: &Header,
    whole: Option<&[u8]>,
    draw: &mut Draw,
) {
    let (typesize, _) = blosc1::metainfo(header);
    let typesize = usize::from(typesize).max(1);
    let nbytes = usize::try_from(blosc1::sizes(header).nbytes).unwrap_or(0);
    let count = nbytes / typesize;
    for _ in 0..3 {
        let start = draw.below(count + 2);
        let nitems = match draw.below(4) {
            0 => 1,
            1 => count.saturating_sub(start),
            _ => draw.below(count + 2),
        };
        let (first, number) = (start as i32, nitems as i32);
        let Ok(lengths) = blosc1::getitem_lengths(header, first, number) else {
            continue;
        };
        assert!((start + nitems) * typesize <= nbytes, "items {start}+{nitems} of {count}");
        if lengths.src > input.len() {
            continue;
        }
        let src = bench.chunk.copy(&input[..lengths.src], Side::High);
        let dest = bench.part.slice(lengths.dest, Side::draw(draw));
        dest.fill(FILL);
        if let Ok(written) = bench.engine.getitem(src, first, number, dest) {
            assert_eq!(written, nitems * typesize, "items {start}+{nitems}");
            if let Some(whole) = whole {
                let begin = start * typesize;
                assert!(dest == &whole[begin..begin + written], "other items at {start}+{nitems}");
            }
        }
    }
    for (start, nitems) in [(-1, 1), (0, -1), (i32::MAX, 1), (1, i32::MAX), (i32::MIN, 2)] {
        assert!(blosc1::getitem_lengths(header, start, nitems).is_err());
    }
}
