//! Files of arbitrary bytes: detected, described, verified, read and repaired.

use ferroblosc::chunk::{BasicHeader, DParams};
use ferroblosc::frame::{FrameHeader, Kind};
use ferroblosc::io::named::NamedFile;
use ferroblosc::schunk::chunks::lazy_chunk;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::blpk::Archive;
use ferroblosc_formats::convert::{self, Detected, Format, Reading};
use ferroblosc_formats::numpy::read_npy_header;
use std::path::{Path, PathBuf};

use crate::alloc::largest_during;
use crate::draw::Draw;
use crate::files::Scratch;

/// The maximum size of data and chunks that are read, in bytes. Larger ones are slow and find
/// nothing new.
const MAX_NBYTES: u64 = 1 << 20;
/// The maximum number of chunks and members that are read one by one.
const MAX_CHUNKS: u64 = 40;
/// The maximum size of a single allocation for any file, in bytes. Few bytes may declare a
/// metalayer of many zeros.
const FIXED_ALLOCATION: usize = 512 << 20;

/// Checks a file: each call returns an error or a result, all ways of reading agree, a repair keeps
/// all readable chunks, and no allocation is large.
pub fn file(bytes: &[u8]) {
    let scratch = Scratch::new();
    let path = scratch.file("data", bytes);
    let mut draw = Draw::new(bytes);
    let _ = read_npy_header(&mut &bytes[..]);
    let Ok(found) = convert::detect(&path) else {
        assert!(convert::open(&path, &Reading::default()).is_err());
        return;
    };
    let ((), largest) = largest_during(|| {
        each_member(&path, &found, &mut draw);
        if is_moderate(&path, &found) {
            verify(&path, &found);
            repair(&path, &found, &scratch);
        }
    });
    assert!(scratch.path("data").exists(), "the file is gone");
    let justified = FIXED_ALLOCATION + 64 * bytes.len();
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
}

/// Describes and reads the data and the arrays in them.
fn each_member(path: &Path, found: &Detected, draw: &mut Draw) {
    read(path, found, draw);
    for key in convert::keys(path, found).unwrap_or_default().iter().take(MAX_CHUNKS as usize) {
        let member = PathBuf::from(format!("{}:/{key}", path.display()));
        if let Ok(found) = convert::detect(&member) {
            read(&member, &found, draw);
        }
    }
}

fn read(path: &Path, found: &Detected, draw: &mut Draw) {
    let _ = convert::summarise(path, found);
    let mut left = MAX_CHUNKS;
    let _ = convert::each_chunk(path, found, &mut |_| {
        left -= 1;
        left > 0
    });
    let Ok(mut source) = convert::open_as(path, found, &Reading::default()) else {
        return;
    };
    let content = source.content().clone();
    if content.nbytes == 0 || content.nbytes > MAX_NBYTES || !is_moderate(path, found) {
        return;
    }
    let mut all = vec![0; content.nbytes as usize];
    if source.read(0, &mut all).is_err() {
        return;
    }
    for _ in 0..3 {
        let start = draw.below(all.len());
        let mut part = vec![0; draw.below(all.len() - start + 1)];
        // A part of a damaged chunk may be an error although the whole chunk can be read.
        if source.read(start as u64, &mut part).is_ok() {
            assert!(part == all[start..start + part.len()], "other bytes at {start}");
        }
    }
}

/// Whether all chunks can be decompressed in little memory and time.
fn is_moderate(path: &Path, found: &Detected) -> bool {
    let is_small = |nbytes: u64| nbytes <= MAX_NBYTES;
    let is_few = |nchunks: u64| nchunks <= MAX_CHUNKS;
    let bytes = std::fs::read(path).unwrap_or_default();
    match found.format {
        Format::Npy | Format::Npz => true,
        Format::Blosc1 | Format::Blosc2 => has_small_data(&bytes),
        Format::Frame | Format::B2nd => {
            // A repair without an index finds chunks of the size in the header.
            let is_header_small = match FrameHeader::parse(&bytes, Kind::Contiguous) {
                Ok(header) => {
                    header.nchunks().is_some_and(|nchunks| is_few(nchunks.unsigned_abs()))
                        && is_small(header.counters.chunksize.unsigned_abs().into())
                }
                Err(_) => true,
            };
            let opened = SChunk::open(Storage::file(path), DParams::default());
            is_header_small
                && opened.is_ok_and(|schunk| {
                    is_few(schunk.nchunks().unsigned_abs())
                        && (0..schunk.nchunks()).all(|number| {
                            let chunk = lazy_chunk(schunk.state(), number);
                            chunk.map_or(true, |chunk| has_small_data(&chunk))
                        })
                })
        }
        Format::Bloscpack => {
            let opened = NamedFile::open_regular(path).ok();
            let Some(mut archive) = opened.and_then(|file| Archive::open(file).ok()) else {
                return true;
            };
            let nchunks = archive.nchunks().unwrap_or(0);
            let mut stored = Vec::new();
            is_few(nchunks)
                && is_small(archive.header().chunk_size.map_or(0, |size| size.into()))
                && (0..nchunks).all(|number| {
                    archive.read_stored(number, &mut stored).is_err() || has_small_data(&stored)
                })
        }
        _ => false,
    }
}

/// Whether a chunk declares at most [`MAX_NBYTES`] bytes of data.
fn has_small_data(chunk: &[u8]) -> bool {
    BasicHeader::parse(chunk)
        .map_or(true, |header| u64::from(header.nbytes.unsigned_abs()) <= MAX_NBYTES)
}

fn verify(path: &Path, found: &Detected) {
    let verified = convert::verify(path, found, &Reading::default());
    if let Ok(verification) = verified {
        assert!(!(verification.is_intact() && verification.is_damaged()));
        if verification.is_intact() {
            let chunks = chunks(path, found, false);
            let bad = chunks.iter().position(Option::is_none);
            assert!(
                bad.is_none(),
                "chunk {bad:?} of {} is intact, but cannot be read",
                chunks.len()
            );
        }
    }
}

/// Returns the decompressed chunks of a frame or a container; `None` for those that cannot be read.
fn chunks(path: &Path, found: &Detected, is_repaired: bool) -> Vec<Option<Vec<u8>>> {
    let mut dest = vec![0; MAX_NBYTES as usize];
    match found.format {
        Format::Frame | Format::B2nd => {
            let opened = SChunk::open(Storage::file(path), DParams::default());
            let Ok(schunk) = opened else {
                assert!(!is_repaired, "the repaired frame cannot be opened");
                return Vec::new();
            };
            let numbers = 0..schunk.nchunks().min(MAX_CHUNKS as i64);
            let chunks = numbers.map(|number| {
                dest.fill(0);
                let len = schunk.decompress(number, &mut dest).ok()?;
                Some(dest[..len].to_vec())
            });
            chunks.collect()
        }
        Format::Bloscpack => {
            let opened = NamedFile::open_regular(path).ok();
            let Some(mut archive) = opened.and_then(|file| Archive::open(file).ok()) else {
                assert!(!is_repaired, "the repaired container cannot be opened");
                return Vec::new();
            };
            let numbers = 0..archive.nchunks().unwrap_or(0).min(MAX_CHUNKS);
            let chunks = numbers.map(|number| {
                let mut chunk = Vec::new();
                archive.read_chunk(number, &mut chunk).ok().map(|_| chunk)
            });
            chunks.collect()
        }
        _ => Vec::new(),
    }
}

/// Repairs the file. Readable chunks must have the same content afterwards.
fn repair(path: &Path, found: &Detected, scratch: &Scratch) {
    let before = chunks(path, found, false);
    let was = std::fs::read(path).expect("the file");
    let mode = convert::repair_mode(path, found);
    let output = scratch.path("repaired");
    if convert::repair(path, found, &output).is_err() {
        return;
    }
    let result = match mode {
        convert::RepairMode::Rebuild => {
            assert!(std::fs::read(path).expect("the file") == was, "the old file has changed");
            &output
        }
        _ => path,
    };
    let found = convert::detect(result).expect("repaired data");
    let after = chunks(result, &found, true);
    for (number, chunk) in before.iter().enumerate() {
        // A chunk without data is readable with any header, but may be invalid afterwards.
        if chunk.as_ref().is_some_and(|chunk| !chunk.is_empty()) {
            assert!(after.get(number) == Some(chunk), "chunk {number} is lost");
        }
    }
}
