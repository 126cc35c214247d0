//! Hostile frames: opened, read and changed once, in memory and in a file.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Once};

use ferroblosc::chunk::{DParams, Decompressor, sizes};
use ferroblosc::frame::{Frame, FrameChunk, Memory};
use ferroblosc::io::View;
use ferroblosc::io::mmap::{MapMode, Mmap};
use ferroblosc::schunk::{SChunk, Storage, chunks};
use ferroblosc::{Error, Result};

use crate::calls;
use crate::draw::Draw;
use crate::guard::{Guarded, Side};

/// The maximum input length in bytes, above libFuzzer's default limit.
const MAX_FRAME: usize = 1 << 20;
/// The maximum uncompressed size of a chunk that is decompressed, in bytes. Larger chunks are slow
/// and find nothing new.
const MAX_NBYTES: usize = 1 << 20;
/// The maximum number of chunks to read: a frame may declare millions.
const MAX_CHUNKS: i64 = 40;
/// The initial size of a mapping that may grow, in bytes.
const MAPPED: usize = 1 << 16;
/// The limit on the growth of the address space in bytes, sufficient for all frames of this size.
/// Larger requests fail, which the checks report as a finding.
const ADDRESS_SPACE: u64 = 512 << 20;

/// Limits the address space of the process. Without sanitizers, the process needs little memory.
fn limit_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let pages = std::fs::read_to_string("/proc/self/statm").expect("the kernel knows the size");
        let pages: u64 = pages
            .split(' ')
            .next()
            .and_then(|pages| pages.parse().ok())
            .expect("a number of pages");
        let most = pages * 4096 + ADDRESS_SPACE;
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: a complete struct, which is only read.
        unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
    });
}

/// Converts a result to an option; running out of memory is a finding.
fn unless_out_of_memory<T>(result: Result<T>) -> Option<T> {
    assert_ne!(result.as_ref().err(), Some(&Error::MemoryAlloc));
    result.ok()
}

/// Reads a super-chunk with all functions; invalid content must be an error.
pub(crate) fn walk(schunk: &SChunk, draw: &mut Draw) {
    let mut dest = vec![0; MAX_NBYTES];
    for nchunk in 0..schunk.nchunks().min(MAX_CHUNKS) {
        let nbytes = match unless_out_of_memory(schunk.chunk(nchunk)) {
            Some(chunk) => sizes(&chunk).map_or(0, |sizes| sizes.nbytes as usize),
            None => 0,
        };
        unless_out_of_memory(chunks::lazy_chunk(schunk.state(), nchunk));
        if nbytes <= MAX_NBYTES {
            if let Some(len) = unless_out_of_memory(schunk.decompress(nchunk, &mut dest)) {
                assert_eq!(len, nbytes);
            }
            // A block's size is defined by its chunk and may be arbitrarily large.
            let _ = schunk.vl_block(nchunk, draw.below(4) as i64);
        }
    }
    let typesize = i64::from(schunk.typesize());
    let nitems = schunk.nbytes() / typesize.max(1);
    for _ in 0..4 {
        let start = draw.below(nitems.clamp(0, 1 << 40) as usize + 2) as i64;
        let stop = start + draw.below(300) as i64;
        let len = usize::try_from((stop - start).saturating_mul(typesize));
        if let Ok(len @ 0..=MAX_NBYTES) = len {
            let _ = schunk.get_slice(start, stop, &mut dest[..len]);
        }
        if let Ok(width @ 1..=1000) = usize::try_from(typesize) {
            let _ = schunk.get_sparse(&[start, stop, start], &mut dest[..3 * width]);
        }
    }
    for name in schunk.vlmetalayer_names() {
        let _ = schunk.vlmetalayer(&name);
        let _ = schunk.metalayer(&name);
    }
}

/// Changes a super-chunk once; after a success, its content must be readable.
fn change(schunk: &mut SChunk, draw: &mut Draw) {
    let nchunks = schunk.nchunks();
    let at = draw.below(usize::try_from(nchunks).unwrap_or(0)) as i64;
    let data = [draw.below(256) as u8; 96];
    let changed = match draw.below(7) {
        0 => schunk.append(&data).map(drop),
        1 => schunk.append(&[0; 96]).map(drop),
        2 => schunk.delete_chunk(at).map(drop),
        3 => schunk.add_vlmetalayer("added", &data),
        4 => schunk.update_metalayer("first", &data[..2]),
        5 => {
            let order: Vec<i64> = (0..nchunks.min(1000)).rev().collect();
            schunk.reorder(&order)
        }
        _ => schunk.chunk(at).map(|chunk| chunk.to_vec()).and_then(|chunk| {
            schunk.update_chunk(nchunks - 1, &chunk)?;
            schunk.insert_chunk(0, &chunk).map(drop)
        }),
    };
    if changed.is_ok() {
        walk(schunk, draw);
    }
}

/// Reads the chunks of a frame that ends at a guard page, without copying it.
fn walk_in_place(frame: &[u8]) {
    let start = NonNull::from(frame).cast();
    // SAFETY: the bytes outlive this function and are not written.
    let memory = unsafe { Memory::lent(View::new(start, frame.len())) };
    let Some((frame, loaded)) = unless_out_of_memory(Frame::from_memory(memory)) else {
        return;
    };
    let mut decompressor = Decompressor::new(DParams::default());
    let mut dest = vec![0; MAX_NBYTES];
    for nchunk in 0..loaded.counters.nchunks.min(MAX_CHUNKS) as usize {
        let Some(chunk) = unless_out_of_memory(frame.chunk(nchunk)) else {
            continue;
        };
        if let FrameChunk::Borrowed(bytes) = &chunk {
            assert!(bytes.len() <= frame_len(&loaded.counters), "a chunk larger than its frame");
        }
        let nbytes = sizes(&chunk).map_or(usize::MAX, |sizes| sizes.nbytes as usize);
        if nbytes <= MAX_NBYTES {
            let _ = decompressor.decompress(&chunk, &mut dest[..nbytes]);
        }
    }
}

fn frame_len(counters: &ferroblosc::frame::Counters) -> usize {
    usize::try_from(counters.cbytes).unwrap_or(0)
}

thread_local! {
    static BUFFER: RefCell<Guarded> = RefCell::new(Guarded::new(MAX_FRAME));
}

/// Checks a frame in memory.
pub fn buffer(frame: &[u8]) {
    if frame.len() > MAX_FRAME {
        return;
    }
    limit_memory();
    let mut draw = Draw::new(frame);
    BUFFER.with_borrow_mut(|buffer| walk_in_place(buffer.copy(frame, Side::draw(&mut draw))));
    if let Some(mut schunk) = unless_out_of_memory(SChunk::from_bytes(frame, DParams::default())) {
        walk(&schunk, &mut draw);
        change(&mut schunk, &mut draw);
    }
}

/// Returns the path of this process's file, in memory if the system supports it.
fn path() -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    let folder = if shared.is_dir() { shared } else { std::env::temp_dir() };
    folder.join(format!("ferroblosc-fuzz-{}.b2frame", std::process::id()))
}

/// Checks a frame in a file.
pub fn file(frame: &[u8]) {
    if frame.len() > MAX_FRAME {
        return;
    }
    limit_memory();
    let (path, mut draw) = (path(), Draw::new(frame));
    std::fs::write(&path, frame).expect("a file can be written");
    map(&path, frame, &mut draw);
    std::fs::write(&path, frame).expect("a file can be written");
    let storage = Storage::file(&path);
    if let Some(mut schunk) =
        unless_out_of_memory(SChunk::open(storage.clone(), DParams::default()))
    {
        walk(&schunk, &mut draw);
        change(&mut schunk, &mut draw);
        // A changed frame can be reopened, or the change was refused.
        if let Some(again) = unless_out_of_memory(SChunk::open(storage, DParams::default())) {
            walk(&again, &mut draw);
        }
    }
    std::fs::remove_file(&path).expect("the file can be removed");
}

/// Checks a frame in a file that is mapped into memory, which must be read as in memory.
fn map(path: &Path, frame: &[u8], draw: &mut Draw) {
    let mode = [MapMode::Read, MapMode::Private, MapMode::Update][draw.below(3)];
    let storage = || Storage::file(path).backend(Arc::new(Mmap::new(mode, MAPPED)));
    let opened = unless_out_of_memory(SChunk::open(storage(), DParams::default()));
    if let Some(mut schunk) = opened {
        walk(&schunk, draw);
        if let Ok(same) = SChunk::from_bytes(frame, DParams::default()) {
            assert_eq!(schunk.nchunks(), same.nchunks());
            for number in 0..schunk.nchunks().min(MAX_CHUNKS) {
                let (mapped, held) = (schunk.chunk(number), same.chunk(number));
                if let (Ok(mapped), Ok(held)) = (&mapped, &held) {
                    assert!(mapped[..] == held[..], "chunk {number} differs from that in memory");
                }
                assert_eq!(mapped.is_ok(), held.is_ok(), "chunk {number}");
            }
        }
        change(&mut schunk, draw);
    }
    if mode != MapMode::Update {
        assert!(std::fs::read(path).expect("the file") == frame, "the file has changed");
    } else if let Some(again) = unless_out_of_memory(SChunk::open(storage(), DParams::default())) {
        walk(&again, draw);
    }
}

/// Checks a frame under several changes, as a super-chunk and as an array, in memory and in a file.
pub fn changes(frame: &[u8]) {
    if frame.len() > MAX_FRAME {
        return;
    }
    limit_memory();
    let (path, mut draw) = (path(), Draw::new(frame));
    std::fs::write(&path, frame).expect("a file can be written");
    let open = |in_file: bool| {
        if in_file {
            SChunk::open(Storage::file(&path), DParams::default())
        } else {
            SChunk::from_bytes(frame, DParams::default())
        }
    };
    for in_file in [false, true] {
        let mut drawn = calls::Draw(draw.below(usize::MAX) as u64);
        if let Ok(mut schunk) = open(in_file) {
            calls::change_often(&mut schunk, &mut drawn);
        }
        if let Ok(schunk) = open(in_file) {
            calls::change_array_often(schunk, &mut drawn);
        }
    }
    std::fs::remove_file(&path).expect("the file can be removed");
}
