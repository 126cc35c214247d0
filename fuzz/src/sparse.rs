//! Sparse frames: directories of an index and one file per chunk, read and changed.
//!
//! The input is a directory as one text (see [`files`]).

use ferroblosc::chunk::DParams;
use ferroblosc::schunk::{SChunk, Storage};
use std::path::Path;

use crate::alloc::largest_during;
use crate::calls;
use crate::draw::Draw;
use crate::files::{self, Scratch};
use crate::frame::walk;

/// The file that holds the index.
const INDEX: &str = "chunks.b2frame";
/// The number of digits in the name of a chunk file.
const DIGITS: usize = 8;
/// The maximum size of a single allocation for any directory, in bytes. Few bytes may declare a
/// metalayer of many zeros.
const FIXED_ALLOCATION: usize = 512 << 20;

/// Whether a change may write or remove this file: the index, chunk files, journals and locks.
fn is_ours(path: &Path) -> bool {
    let name = path.to_str().unwrap_or("");
    let is_chunk = name.strip_suffix(".chunk").is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    is_chunk || name.starts_with(INDEX) || name.starts_with(".")
}

/// Checks a directory: reading changes no file, changes keep the files of others, and a changed
/// frame can be opened again.
pub fn directory(text: &[u8]) {
    let scratch = Scratch::new();
    let root = scratch.directory("d.b2frame", text);
    let files = files::parse(text);
    let mut draw = Draw::new(text);
    let ((), largest) = largest_during(|| run(&root, &files, &mut draw));
    let justified = FIXED_ALLOCATION + 64 * text.len();
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
}

fn run(root: &Path, files: &[(std::path::PathBuf, Vec<u8>)], draw: &mut Draw) {
    let storage = || {
        let storage = Storage::directory(root);
        if draw_durable(files) { storage.durable() } else { storage }
    };
    let written: Vec<_> = (files.iter().enumerate())
        .filter(|(at, (path, bytes))| {
            // Of two files with one name, the last one counts; the file system refuses some names.
            let is_last = files[at + 1..].iter().all(|(other, _)| other != path);
            is_last && std::fs::read(root.join(path)).is_ok_and(|found| found == *bytes)
        })
        .map(|(_, file)| file)
        .collect();
    let Ok(schunk) = SChunk::open(storage(), DParams::default()) else {
        return;
    };
    walk(&schunk, draw);
    drop(schunk);
    for (path, bytes) in &written {
        let found = std::fs::read(root.join(path)).expect("reading has removed a file");
        assert!(found == *bytes, "reading has changed {}", path.display());
    }
    let Ok(mut schunk) = SChunk::open(storage(), DParams::default()) else {
        return;
    };
    calls::change_often(&mut schunk, &mut calls::Draw(draw.below(usize::MAX) as u64));
    let after = (schunk.nchunks(), schunk.nbytes());
    drop(schunk);
    for (path, bytes) in written.iter().filter(|(path, _)| !is_ours(path)) {
        let found = std::fs::read(root.join(path))
            .unwrap_or_else(|_| panic!("a change has removed {}", path.display()));
        assert!(found == *bytes, "a change has changed {}", path.display());
    }
    let again = SChunk::open(storage(), DParams::default());
    // Chunks without bytes are not stored in the index.
    if let Ok(again) = again
        && after.1 > 0
    {
        assert_eq!((again.nchunks(), again.nbytes()), after, "the reopened frame differs");
        walk(&again, draw);
    }
}

/// Whether the storage is durable, which depends on the number of files.
fn draw_durable(files: &[(std::path::PathBuf, Vec<u8>)]) -> bool {
    files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() % 2 == 1
}
