//! Zarr arrays and groups with arbitrary content: detected, listed, opened and read.
//!
//! The input is a zip file, or a directory as one text (see [`files`](crate::files)).

use ferroblosc_formats::convert::{self, Reading, Source};
use ferroblosc_formats::zarr::{Array, arrays_in, attributes};
use std::path::{Path, PathBuf};

use crate::alloc::largest_during;
use crate::draw::Draw;
use crate::files::Scratch;

/// The maximum size of chunks and arrays that are read, in bytes. Larger ones are slow and find
/// nothing new.
const MAX_NBYTES: u64 = 1 << 20;
/// The maximum number of arrays that are read.
const MAX_ARRAYS: usize = 8;
/// The maximum number of chunks of an array that are read.
const MAX_CHUNKS: u64 = 8;
/// The maximum size of a single allocation for any input, in bytes: codec states and tables, and
/// the bytes that a compressed member of a zip file may have.
const FIXED_ALLOCATION: usize = 24 << 20;
/// The start of a zip file.
const ZIP: &[u8] = b"PK";

/// Checks Zarr data: all calls return values or errors, all ways of reading agree, and no
/// allocation is large.
pub fn zarr(input: &[u8]) {
    let scratch = Scratch::new();
    let path = if input.starts_with(ZIP) {
        scratch.file("data.zip", input)
    } else {
        scratch.directory("data", input)
    };
    let ((), largest) = largest_during(|| read(&path, &mut Draw::new(input)));
    let justified = FIXED_ALLOCATION + 16 * input.len();
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
}

fn read(path: &Path, draw: &mut Draw) {
    let found = convert::detect(path);
    if let Ok(found) = &found {
        let _ = convert::keys(path, found);
    }
    let _ = attributes(path, "");
    for node in arrays_in(path, "").unwrap_or_default().iter().take(MAX_ARRAYS) {
        let _ = attributes(path, node);
        let Ok(mut array) = Array::open(path, node) else {
            continue;
        };
        let _ = array.stored_bytes();
        read_chunks(&mut array, draw);
        let whole = if node.is_empty() {
            path.to_owned()
        } else {
            PathBuf::from(format!("{}:/{node}", path.display()))
        };
        // Summaries and verification decompress no more than chunks.
        let is_small = array.chunk_bytes() as u64 <= MAX_NBYTES;
        if let (Ok(found), true) = (convert::detect(&whole), is_small) {
            let _ = convert::summarise(&whole, &found);
            if array.nchunks() <= MAX_CHUNKS {
                let _ = convert::verify(&whole, &found, &Reading::default());
            }
            if let Ok(source) = convert::open_as(&whole, &found, &Reading::default()) {
                read_items(source, draw);
            }
        }
    }
}

/// Reads and decodes the first and some other chunks.
fn read_chunks(array: &mut Array, draw: &mut Draw) {
    let (nchunks, size) = (array.nchunks(), array.chunk_bytes());
    for round in 0..MAX_CHUNKS.min(nchunks) {
        let number = match round {
            0 => 0,
            1 => nchunks - 1,
            _ => draw.below(usize::try_from(nchunks).unwrap_or(usize::MAX)) as u64,
        };
        let index = array.chunk_index(number);
        let _ = array.key(&index);
        if let Ok(Some(stored)) = array.stored_chunk(&index)
            && size as u64 <= MAX_NBYTES
            && let Ok(items) = array.decode(&index, stored)
        {
            assert_eq!(items.len(), size, "a chunk of another size");
        }
    }
}

/// Reads a source as a whole, in parts and as boxes, which must agree.
fn read_items(mut source: Box<dyn Source>, draw: &mut Draw) {
    let content = source.content().clone();
    if content.nbytes > MAX_NBYTES {
        return;
    }
    let mut all = vec![0; content.nbytes as usize];
    if source.read(0, &mut all).is_err() || all.is_empty() {
        return;
    }
    for _ in 0..4 {
        let start = draw.below(all.len());
        let mut part = vec![0; draw.below(all.len() - start + 1)];
        source.read(start as u64, &mut part).expect("bytes of those read");
        assert!(part == all[start..start + part.len()], "other bytes at {start}");
    }
    let Some(info) = content.array else { return };
    let itemsize = info.dtype.itemsize() as usize;
    let last: Vec<u64> = info.shape.iter().map(|len| len - 1).collect();
    let mut item = vec![0; itemsize];
    source.read_box(&last, &info.shape, &mut item).expect("an item of those read");
    assert!(item == all[all.len() - itemsize..], "another last item");
    let mut again = vec![0; all.len()];
    let start = vec![0; info.shape.len()];
    source.read_box(&start, &info.shape, &mut again).expect("a box of those read");
    assert!(again == all, "another box");
}
