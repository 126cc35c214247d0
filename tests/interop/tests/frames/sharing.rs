//! Several threads on one handle, and several processes on one file.

use ferroblosc_interop::ffi::Cparams;
use ferroblosc_interop::isolate::{self, Outcome};
use ferroblosc_interop::library::{Library, ours, reference};
use ferroblosc_interop::schunk::Handle;
use ferroblosc_interop::storage::{Access, Kind};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::tempdir;

/// The number of items of a chunk.
const ITEMS: usize = 500;
/// The size of a chunk's data in bytes.
const NBYTES: usize = ITEMS * 4;
/// The number of chunks that each writer appends.
const APPENDED: i64 = 40;
/// The time limit of a reader waiting for a writer.
const PATIENCE: Duration = Duration::from_secs(60);

fn cparams() -> Cparams {
    Cparams { typesize: 4, ..Cparams::default() }
}

/// Returns the data of a writer's chunk: the writer, the chunk's index, and values derived from
/// both.
fn data(writer: i32, nchunk: i64) -> Vec<u8> {
    (0..ITEMS as i32)
        .flat_map(|i| (writer * 1_000_000 + nchunk as i32 * 1000 + i).to_le_bytes())
        .collect()
}

/// Returns the writer and index encoded in a chunk's data, if valid.
fn recognise(bytes: &[u8]) -> Option<(i32, i64)> {
    let first = i32::from_le_bytes(*bytes.first_chunk()?);
    let (writer, nchunk) = (first / 1_000_000, i64::from(first % 1_000_000 / 1000));
    (bytes == data(writer, nchunk)).then_some((writer, nchunk))
}

/// A handle that several threads read from.
struct Readable<'a>(&'a Handle);

// SAFETY: the interface allows several threads to read chunks of one super-chunk at the same time.
unsafe impl Sync for Readable<'_> {}

impl Readable<'_> {
    /// Reads some chunks, whole and lazily, each with its own contexts.
    fn read_some(&self, thread: i64, chunks: i64) {
        let context = self.0.library.decompressor(1);
        let mut dest = vec![0; NBYTES];
        for turn in 0..100 {
            let at = (turn * 7 + thread * 3) % chunks;
            let (len, chunk) = self.0.chunk(at);
            assert!(len > 0, "thread {thread}: chunk {at}: {len}");
            assert_eq!(context.decompress(&chunk, &mut dest), NBYTES as i32);
            assert_eq!(recognise(&dest), Some((1, at)), "thread {thread}");
            let (len, lazily) = self.0.decompress_lazily(at, NBYTES);
            assert_eq!(len, NBYTES as i64, "thread {thread}: lazy chunk {at}");
            assert_eq!(recognise(&lazily), Some((1, at)), "thread {thread}, lazily");
        }
    }
}

#[test]
fn eight_threads_read_one_handle() {
    for kind in Kind::ALL {
        let dir = tempdir().unwrap();
        let path = dir.path().join("frame");
        let handle = Handle::create(ours(), kind, &path, cparams()).expect("a super-chunk");
        for nchunk in 0..APPENDED {
            assert_eq!(handle.append_buffer(&data(1, nchunk)), nchunk + 1);
        }
        let readable = Readable(&handle);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let readable = &readable;
                scope.spawn(move || readable.read_some(thread, APPENDED));
            }
        });
    }
}

/// Appends a writer's chunks to the super-chunk at the path.
fn write(library: &'static Library, path: &Path, writer: i32) -> Result<Vec<i64>, String> {
    let handle = Handle::open(library, path, 0, Access::Locked).ok_or("cannot be opened")?;
    for nchunk in 0..APPENDED {
        let nchunks = handle.append_buffer(&data(writer, nchunk));
        if nchunks <= nchunk {
            return Err(format!("writer {writer}, chunk {nchunk}: {nchunks}"));
        }
    }
    Ok(Vec::new())
}

/// Appends in two processes at the same time; all chunks must be present, in the order of each
/// writer.
fn append_in_two_processes(kind: Kind, libraries: [&'static Library; 2]) {
    let dir = tempdir().unwrap();
    let path = dir.path().join("frame");
    let created = Handle::create_with(ours(), kind, &path, cparams(), Access::Locked);
    drop(created.expect("a super-chunk"));
    std::thread::scope(|scope| {
        let writers = [1, 2].map(|writer| {
            let (library, path) = (libraries[writer as usize - 1], &path);
            scope.spawn(move || isolate::once(|| write(library, path, writer)))
        });
        for writer in writers {
            let ended = writer.join().expect("the thread ends");
            assert_eq!(ended, Outcome::Values(Vec::new()), "{kind:?}");
        }
    });
    for library in [ours(), reference()] {
        let handle = Handle::open(library, &path, 0, Access::Plain).expect("the frame");
        assert_eq!(handle.fields().nchunks, 2 * APPENDED, "{kind:?}");
        let mut next = [0, 0];
        for at in 0..2 * APPENDED {
            let (_, bytes) = handle.decompress(at, NBYTES);
            let (writer, nchunk) = recognise(&bytes).expect("a writer's chunk");
            assert_eq!(nchunk, next[writer as usize - 1], "{kind:?}, writer {writer}");
            next[writer as usize - 1] += 1;
        }
        assert_eq!(next, [APPENDED; 2], "{kind:?}");
    }
}

#[test]
fn two_processes_append_with_locks_without_losses() {
    for kind in [Kind::File, Kind::Directory] {
        append_in_two_processes(kind, [ours(), ours()]);
    }
}

#[test]
fn a_process_with_the_reference_appends_concurrently_with_ours() {
    for kind in [Kind::File, Kind::Directory] {
        append_in_two_processes(kind, [ours(), reference()]);
    }
}

/// Follows a process that appends, and reads each chunk as soon as it appears.
fn follow(kind: Kind, writer: &'static Library, reader: &'static Library) {
    let dir = tempdir().unwrap();
    let path = dir.path().join("frame");
    let created = Handle::create_with(ours(), kind, &path, cparams(), Access::Locked);
    drop(created.expect("a super-chunk"));
    let handle = Handle::open(reader, &path, 0, Access::Locked).expect("the frame");
    std::thread::scope(|scope| {
        let path = &path;
        let writing = scope.spawn(move || isolate::once(|| write(writer, path, 1)));
        let start = Instant::now();
        let mut read = 0;
        while read < APPENDED {
            assert!(start.elapsed() < PATIENCE, "{kind:?}: {read} chunks after a minute");
            assert!(handle.refresh() >= 0, "{kind:?}: refresh");
            while read < handle.fields().nchunks {
                let (_, bytes) = handle.decompress(read, NBYTES);
                assert_eq!(recognise(&bytes), Some((1, read)), "{kind:?}");
                read += 1;
            }
        }
        let ended = writing.join().expect("the thread ends");
        assert_eq!(ended, Outcome::Values(Vec::new()), "{kind:?}");
    });
}

#[test]
fn a_reader_follows_a_growing_frame() {
    for kind in [Kind::File, Kind::Directory] {
        follow(kind, ours(), ours());
    }
}

#[test]
fn each_library_follows_the_other() {
    for kind in [Kind::File, Kind::Directory] {
        follow(kind, reference(), ours());
        follow(kind, ours(), reference());
    }
}
