//! Changes of damaged frames that can still be opened: every call returns a result or an error. A
//! panic would leave an inconsistent state.
//!
//! `FERROBLOSC_CHANGED_FRAMES` is the number of frames, `FERROBLOSC_CHANGED_SEED` the first seed.

mod calls;

use calls::Draw;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams, Special};
use ferroblosc::codec;
use ferroblosc::io::mmap::{MapMode, Mmap};
use ferroblosc::schunk::{SChunk, Storage};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The default number of frames.
const FRAMES: u64 = 4000;
/// The limit on the address space in bytes; allocations for frames that declare more data fail.
const ADDRESS_SPACE: libc::rlim_t = if cfg!(target_pointer_width = "64") {
    (4_u64 << 30) as libc::rlim_t
} else {
    libc::RLIM_INFINITY
};
const CHUNK: usize = 400;

fn ramp(first: i32, len: usize) -> Vec<u8> {
    (first..).flat_map(i32::to_le_bytes).take(len).collect::<Vec<u8>>()
}

fn empty(storage: Storage) -> SChunk {
    let params = CParams::default().typesize(4).codec(codec::id::LZ4);
    SChunk::create(storage, params, DParams::default()).unwrap()
}

/// Creates a super-chunk with chunks of one size, some of them special, a short last chunk, and
/// both kinds of metalayers.
fn with_everything(storage: Storage) -> SChunk {
    let mut schunk = empty(storage);
    schunk.add_metalayer("first", b"of a fixed length").unwrap();
    schunk.add_metalayer("second", b"").unwrap();
    for i in 0..3 {
        schunk.append(&ramp(i * 1000, CHUNK)).unwrap();
        schunk.append(&[0; CHUNK]).unwrap();
    }
    schunk.append(&ramp(77, 100)).unwrap();
    schunk.add_vlmetalayer("text", b"one text, and the same text").unwrap();
    schunk.add_vlmetalayer("empty", b"").unwrap();
    schunk
}

/// Creates a super-chunk with chunks of different sizes.
fn with_sizes(storage: Storage) -> SChunk {
    let mut schunk = empty(storage);
    for i in 0..5 {
        let len = CHUNK - 40 * (i as usize % 3);
        schunk.append(&ramp(i, len)).unwrap();
    }
    schunk.append(&[0; 40]).unwrap();
    schunk
}

/// Creates a super-chunk with more chunks than fit in an uncompressed index.
fn with_many(storage: Storage) -> SChunk {
    let mut schunk = empty(storage);
    for i in 0..60 {
        schunk.append(&ramp(i, 64)).unwrap();
    }
    schunk
}

fn with_vl_blocks(storage: Storage) -> SChunk {
    let mut schunk = empty(storage);
    let mut dest = [0; 200];
    let blocks: [&[u8]; 3] = [b"hello", b"wonderful", b"x"];
    let params = CParams::default().typesize(1);
    let len = Compressor::new(params).unwrap().vl_compress(&blocks, &mut dest).unwrap();
    for _ in 0..2 {
        schunk.append_chunk(&dest[..len]).unwrap();
    }
    schunk
}

fn filled(storage: Storage) -> SChunk {
    let mut schunk = empty(storage);
    schunk.fill(1025, Special::Nan, CHUNK as i32).unwrap();
    schunk
}

fn without_chunks(storage: Storage) -> SChunk {
    let mut schunk = empty(storage);
    schunk.add_metalayer("first", b"layer").unwrap();
    schunk
}

/// Creates a super-chunk with a deleted chunk and reordered chunks, so that the chunks are stored
/// out of order, with a hole.
fn with_holes(storage: Storage) -> SChunk {
    let mut schunk = with_sizes(storage);
    schunk.delete_chunk(1).unwrap();
    schunk.reorder(&[4, 0, 2, 3, 1]).unwrap();
    schunk.append(&ramp(9, 200)).unwrap();
    schunk
}

fn array(storage: Storage) -> SChunk {
    let layout = Layout { shape: &[7, 9], chunkshape: &[4, 4], blockshape: &[2, 3] };
    let params = CParams::default().typesize(4);
    let items = ramp(0, 7 * 9 * 4);
    let dtype = "<i4";
    let path = storage.clone();
    let array = Array::from_item_bytes(storage, params, &layout, dtype, &items).unwrap();
    drop(array);
    SChunk::open(path, DParams::default()).unwrap()
}

fn long_array(storage: Storage) -> SChunk {
    let layout = Layout { shape: &[20], chunkshape: &[5], blockshape: &[5] };
    let params = CParams::default().typesize(8);
    let items = ramp(0, 20 * 8);
    let path = storage.clone();
    let array = Array::from_item_bytes(storage, params, &layout, "<f8", &items).unwrap();
    drop(array);
    SChunk::open(path, DParams::default()).unwrap()
}

const SAMPLES: [fn(Storage) -> SChunk; 9] = [
    with_everything,
    with_sizes,
    with_many,
    with_vl_blocks,
    filled,
    without_chunks,
    with_holes,
    array,
    long_array,
];

/// A temporary directory, in memory if possible.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let shared = Path::new("/dev/shm");
        let parent = if shared.is_dir() { shared.to_path_buf() } else { std::env::temp_dir() };
        let path = parent.join(format!("ferroblosc-changing-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The files of a frame: one, or those of a directory.
#[derive(Clone)]
struct Files(Vec<(String, Vec<u8>)>);

impl Files {
    fn read(path: &Path) -> Files {
        if path.is_file() {
            return Files(vec![(String::new(), std::fs::read(path).unwrap())]);
        }
        let mut files: Vec<_> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                (name, std::fs::read(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        // Puts the file with the index first.
        files.reverse();
        Files(files)
    }

    fn write(&self, path: &Path) {
        let _ = std::fs::remove_file(path);
        let _ = std::fs::remove_dir_all(path);
        for (name, bytes) in &self.0 {
            if name.is_empty() {
                std::fs::write(path, bytes).unwrap();
            } else {
                std::fs::create_dir_all(path).unwrap();
                std::fs::write(path.join(name), bytes).unwrap();
            }
        }
    }

    /// Changes some bytes, preferably sizes in headers.
    fn damage(&mut self, draw: &mut Draw) {
        for _ in 0..1 + draw.below(3) {
            let nfile = if draw.below(3) == 0 { draw.below(self.0.len()) } else { 0 };
            let bytes = &mut self.0[nfile].1;
            if bytes.is_empty() {
                continue;
            }
            let header_len = match bytes.get(11..15) {
                Some(len) => u32::from_be_bytes(len.try_into().unwrap()) as usize,
                None => 0,
            };
            let at = match draw.below(4) {
                // The frame's sizes.
                0 => 10 + draw.below(77),
                // Headers of chunks.
                1 => header_len.saturating_add(draw.below(40)),
                2 => bytes.len().saturating_sub(1 + draw.below(120)),
                _ => draw.below(bytes.len()),
            };
            let len = bytes.len();
            let Some(byte) = bytes.get_mut(at) else {
                continue;
            };
            match draw.below(6) {
                0 => *byte ^= 1 << draw.below(8),
                1 => *byte = draw.below(256) as u8,
                2 => *byte = [0, 0xFF, 0x7F, 0x80][draw.below(4)],
                3 => *byte = byte.wrapping_add(1),
                4 => *byte = byte.wrapping_sub(1),
                _ => {
                    // Bytes copied from another offset.
                    let from = draw.below(len);
                    let count = 8.min(len - at.max(from));
                    bytes.copy_within(from..from + count, at);
                }
            }
        }
    }
}

/// The storage of a frame during the changes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Memory,
    File,
    Mapped,
    Private,
    Directory,
    Durable,
    Checked,
}

const KINDS: [Kind; 7] = [
    Kind::Memory,
    Kind::File,
    Kind::Mapped,
    Kind::Private,
    Kind::Directory,
    Kind::Durable,
    Kind::Checked,
];

fn open(kind: Kind, files: &Files, path: &Path) -> Option<SChunk> {
    let mapped = |mode| Storage::file(path).backend(Arc::new(Mmap::new(mode, 1 << 16)));
    let storage = match kind {
        Kind::Memory => return SChunk::from_bytes(&files.0[0].1, DParams::default()).ok(),
        Kind::File => Storage::file(path),
        Kind::Mapped => mapped(MapMode::Update),
        Kind::Private => mapped(MapMode::Private),
        Kind::Directory => Storage::directory(path),
        Kind::Durable => Storage::file(path).durable(),
        Kind::Checked => Storage::file(path).checksums(),
    };
    files.write(path);
    SChunk::open(storage, DParams::default()).ok()
}

/// Opens a damaged frame and changes it; returns whether it opened.
fn try_one(seed: u64, samples: &[(Files, Files)], path: &Path) -> bool {
    let mut draw = Draw(seed);
    let kind = KINDS[draw.below(KINDS.len())];
    let sample = &samples[draw.below(samples.len())];
    let mut files = if kind == Kind::Directory { sample.1.clone() } else { sample.0.clone() };
    files.damage(&mut draw);
    let Some(mut schunk) = open(kind, &files, path) else {
        return false;
    };
    if draw.below(3) == 0 {
        calls::change_array_often(schunk, &mut draw);
    } else {
        calls::change_often(&mut schunk, &mut draw);
        if kind == Kind::Memory {
            let _ = schunk.to_bytes();
        }
    }
    true
}

/// Limits the process's address space.
fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: ADDRESS_SPACE, rlim_max: ADDRESS_SPACE };
    // SAFETY: setrlimit only reads the complete struct.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) };
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |value| value.parse().unwrap())
}

#[test]
fn damaged_frames_that_open_can_be_changed_without_a_panic() {
    limit_memory();
    let folder = Folder::new("frames");
    let samples: Vec<(Files, Files)> = SAMPLES
        .iter()
        .enumerate()
        .map(|(i, make)| {
            let file = folder.0.join(format!("sample-{i}.b2frame"));
            let directory = folder.0.join(format!("sample-{i}"));
            drop(make(Storage::file(&file)));
            drop(make(Storage::directory(&directory)));
            (Files::read(&file), Files::read(&directory))
        })
        .collect();
    let count = number("FERROBLOSC_CHANGED_FRAMES", FRAMES);
    let first = number("FERROBLOSC_CHANGED_SEED", 0);
    let (next, opened) = (AtomicU64::new(first), AtomicU64::new(0));
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let path = folder.0.join(format!("changed-{thread}"));
            let (samples, next, opened, failures) = (&samples, &next, &opened, &failures);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    let tried = catch_unwind(AssertUnwindSafe(|| try_one(seed, samples, &path)));
                    match tried {
                        Ok(true) => drop(opened.fetch_add(1, Ordering::Relaxed)),
                        Ok(false) => {}
                        Err(_) => failures.lock().unwrap().push(seed),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    println!(
        "{count} frames from {first} on, {} opened, {} panics",
        opened.load(Ordering::Relaxed),
        failures.len()
    );
    assert!(failures.is_empty(), "seeds that panic: {failures:?}");
    assert!(opened.load(Ordering::Relaxed) > count / 20);
}

/// The bytes of a frame's header with the uncompressed size of all chunks.
const NBYTES_AT: std::ops::Range<usize> = 30..38;

#[test]
fn sizes_that_contradict_the_chunks_change_nothing() {
    let folder = Folder::new("sizes");
    let path = folder.0.join("sizes.b2frame");
    drop(with_sizes(Storage::file(&path)));
    let mut files = Files::read(&path);
    // Fewer bytes than any chunk has.
    files.0[0].1[NBYTES_AT].copy_from_slice(&8i64.to_be_bytes());
    let zeros = vec![0; 40];
    let chunk =
        Compressor::new(CParams::default().typesize(4)).unwrap().compress_to_vec(&zeros).unwrap();
    for kind in [Kind::Memory, Kind::File, Kind::Mapped, Kind::Durable] {
        let mut schunk = open(kind, &files, &path).unwrap();
        let before = schunk.chunk(2).unwrap().to_vec();
        assert!(schunk.delete_chunk(0).is_err(), "{kind:?}");
        assert!(schunk.update_chunk(0, &chunk).is_err(), "{kind:?}");
        assert_eq!((schunk.nchunks(), schunk.nbytes()), (6, 8));
        assert_eq!(*schunk.chunk(2).unwrap(), before, "{kind:?}");
        if kind == Kind::Memory {
            assert_eq!(schunk.to_bytes().unwrap(), files.0[0].1);
        } else {
            drop(schunk);
            assert_eq!(std::fs::read(&path).unwrap(), files.0[0].1, "{kind:?}");
        }
    }
}
