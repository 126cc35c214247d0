//! Tests of frames beside other data, and of frames that cannot be changed.

use super::format::legacy::tests::tiny;
use crate::b2nd::{Array, Layout};
use crate::chunk::{CParams, DParams};
use crate::io::{FileSystem, append};
use crate::schunk::{SChunk, State, Storage};
use crate::{Error, Result};
use std::path::Path;

fn create(storage: Storage) -> SChunk {
    SChunk::create(storage, CParams::default().typesize(1), DParams::default()).unwrap()
}

fn open(storage: Storage) -> Result<SChunk> {
    SChunk::open(storage, DParams::default())
}

/// Returns a frame in memory with two chunks and a metalayer of each kind.
fn frame(value: u8) -> Vec<u8> {
    let mut schunk = create(Storage::frame());
    schunk.add_metalayer("fixed", &[value; 5]).unwrap();
    schunk.append(&[value; 500]).unwrap();
    schunk.append(&(0..500).map(|i| i as u8 ^ value).collect::<Vec<u8>>()).unwrap();
    schunk.add_vlmetalayer("variable", &[value; 50]).unwrap();
    schunk.to_bytes().unwrap()
}

/// Makes each kind of change, and checks that it fails.
fn check_unchangeable(schunk: &mut SChunk) {
    let chunk = schunk.chunk(0).unwrap().to_vec();
    assert_eq!(schunk.append_chunk(&chunk), Err(Error::InvalidParam));
    assert_eq!(schunk.update_chunk(0, &chunk), Err(Error::InvalidParam));
    assert_eq!(schunk.delete_chunk(0), Err(Error::InvalidParam));
    let order: Vec<i64> = (0..schunk.nchunks()).rev().collect();
    assert_eq!(schunk.reorder(&order), Err(Error::InvalidParam));
    assert_eq!(schunk.add_vlmetalayer("new", b"content"), Err(Error::InvalidParam));
}

#[test]
fn a_frame_before_other_data_is_read_only_and_the_last_one_is_not() {
    for durable in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let (one, two) = (frame(1), frame(2));
        assert_eq!(append(&FileSystem, &path, &one), Ok(0));
        let start = append(&FileSystem, &path, &two).unwrap() as u64;
        assert_eq!(start, one.len() as u64);
        let storage = |start| {
            let storage = Storage::file(&path).at(start);
            if durable { storage.durable() } else { storage }
        };
        let mut first = open(storage(0)).unwrap();
        check_unchangeable(&mut first);
        assert_eq!(first.update_metalayer("fixed", b"12345"), Err(Error::InvalidParam));
        assert_eq!(std::fs::read(&path).unwrap(), [&one[..], &two].concat());
        let mut last = open(storage(start)).unwrap();
        last.update_metalayer("fixed", b"12345").unwrap();
        last.append(&[3; 500]).unwrap();
        let before = std::fs::read(&path).unwrap();
        last.compact().unwrap();
        last.close().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before, "it is not compacted");
        let last = open(storage(start)).unwrap();
        assert_eq!(last.metalayer("fixed").unwrap(), b"12345");
        assert_eq!(last.decompress_to_vec(2).unwrap(), [3; 500]);
        assert_eq!(open(storage(0)).unwrap().decompress_to_vec(0).unwrap(), [1; 500]);
        // Other bytes after the last frame make it read-only, too.
        append(&FileSystem, &path, b"a note").unwrap();
        check_unchangeable(&mut open(storage(start)).unwrap());
    }
}

#[test]
fn frames_of_an_older_layout_are_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let bytes = tiny();
    std::fs::write(&path, &bytes).unwrap();
    for locking in [false, true] {
        let storage = Storage::file(&path);
        let storage = if locking { storage.locking() } else { storage };
        let mut schunk = open(storage.clone()).unwrap();
        check_unchangeable(&mut schunk);
        assert_eq!(schunk.refresh(), Ok(false));
        schunk.compact().unwrap();
        let items = schunk.decompress_to_vec(0).unwrap();
        let memory = SChunk::from_bytes(&bytes, DParams::default()).unwrap();
        assert_eq!(memory.decompress_to_vec(0).unwrap(), items);
        assert_eq!(open(storage.durable()).unwrap().transaction().err(), Some(Error::InvalidParam));
        // Another file at the path is read.
        let other = folder.path().join("other");
        std::fs::write(&other, &bytes).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(schunk.refresh(), Ok(true));
        assert_eq!(schunk.decompress_to_vec(0).unwrap(), items);
    }
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let mut memory = SChunk::from_bytes(&bytes, DParams::default()).unwrap();
    check_unchangeable(&mut memory);
    for len in 0..bytes.len() {
        assert!(SChunk::from_bytes(&bytes[..len], DParams::default()).is_err(), "{len}");
    }
}

#[test]
fn missing_files_and_other_kinds_of_files_are_errors_with_and_without_locks() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("text"), b"a text, and no frame").unwrap();
    std::fs::write(at("empty"), b"").unwrap();
    std::fs::write(at("cut"), &frame(1)[..50]).unwrap();
    std::fs::create_dir(at("folder")).unwrap();
    let kind = |storage: Storage| open(storage).err().unwrap().kind();
    for (name, expected) in [
        ("missing", Error::FileOpen),
        ("folder", Error::FileOpen),
        ("text", Error::InvalidHeader),
        ("empty", Error::InvalidHeader),
        ("cut", Error::InvalidHeader),
    ] {
        assert_eq!(kind(Storage::file(at(name))), expected.kind(), "{name}");
        assert_eq!(kind(Storage::file(at(name)).locking()), expected.kind(), "{name}");
    }
    for name in ["missing", "folder", "text"] {
        assert_eq!(kind(Storage::directory(at(name))), Error::FileOpen.kind(), "{name}");
    }
}

#[test]
fn chunks_in_one_file_have_positions() {
    let folder = tempfile::tempdir().unwrap();
    let fill = |storage: Storage| {
        let mut schunk = create(storage);
        schunk.append(&(0..500).map(|i| i as u8).collect::<Vec<u8>>()).unwrap();
        schunk.append(&[0; 500]).unwrap();
        schunk
    };
    let position =
        |schunk: &SChunk, number| State::frame(schunk.state()).unwrap().chunk_position(number);
    let path = folder.path().join("f");
    let schunk = fill(Storage::file(&path));
    let at = position(&schunk, 0).unwrap() as usize;
    let chunk = schunk.chunk(0).unwrap();
    assert!(std::fs::read(&path).unwrap()[at..].starts_with(&chunk));
    assert_eq!((position(&schunk, 1), position(&schunk, 2)), (None, None));
    let sparse = fill(Storage::directory(folder.path().join("d")));
    assert_eq!(position(&sparse, 0), None);
}

#[test]
fn a_durable_file_of_several_segments_is_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mut random = 1u64;
    let mut noise = |len: usize| -> Vec<u8> {
        let next = || {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (random >> 56) as u8
        };
        std::iter::repeat_with(next).take(len).collect()
    };
    let mut schunk = create(Storage::file(&path).durable().checksums());
    let chunks: Vec<Vec<u8>> = (0..4).map(|_| noise(600_000)).collect();
    for chunk in &chunks {
        schunk.append(chunk).unwrap();
    }
    for (number, chunk) in chunks.iter().enumerate() {
        schunk.set_slice(number as i64 * 600_000, (number as i64 + 1) * 600_000, chunk).unwrap();
    }
    schunk.compact().unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert!((2_400_000..2_402_000).contains(&size), "{size}");
    for (number, chunk) in chunks.iter().enumerate() {
        assert!(schunk.decompress_to_vec(number as i64).unwrap() == *chunk, "{number}");
    }
    assert_eq!(schunk.verify().unwrap().compared, 4);
    assert!(!Path::new(&format!("{}.b2tmp", path.display())).exists());
}

/// A small index can refer to one chunk any number of times.
#[test]
fn a_compaction_copies_a_chunk_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mut schunk = create(Storage::file(&path));
    for value in [[1, 2], [3, 4], [5, 6]] {
        schunk.append(&value.repeat(500)).unwrap();
    }
    let offsets = State::frame(schunk.state()).unwrap().offsets().unwrap();
    let offsets: Vec<i64> = offsets.iter().collect();
    schunk.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // Few offsets are stored without compression.
    let list: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let at = bytes.windows(list.len()).position(|window| window == list).unwrap();
    bytes[at + 16..at + 24].copy_from_slice(&offsets[0].to_le_bytes());
    std::fs::write(&path, &bytes).unwrap();
    let mut schunk = open(Storage::file(&path)).unwrap();
    schunk.compact().unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert_eq!(size, bytes.len() as u64 - (offsets[2] - offsets[1]) as u64);
    for (nchunk, value) in [[1, 2], [3, 4], [1, 2]].iter().enumerate() {
        assert_eq!(schunk.decompress_to_vec(nchunk as i64).unwrap(), value.repeat(500));
    }
}

#[test]
fn a_frame_is_locked_and_unlocked_explicitly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let lock_file = folder.path().join("f.b2lock");
    let schunk = create(Storage::file(&path));
    let frame = State::frame(schunk.state()).unwrap();
    frame.lock().unwrap();
    frame.unlock();
    assert!(!lock_file.exists());
    let schunk = open(Storage::file(&path).locking()).unwrap();
    let frame = State::frame(schunk.state()).unwrap();
    let is_locked = || std::fs::File::open(&lock_file).unwrap().try_lock_shared().is_err();
    frame.lock().unwrap();
    frame.lock().unwrap();
    frame.unlock();
    assert!(is_locked());
    frame.unlock();
    assert!(!is_locked());
    frame.unlock();
    let generation = std::fs::read(&lock_file).unwrap();
    assert_eq!(generation, [0u64, 1].map(u64::to_ne_bytes).concat());
}

#[test]
fn a_commit_fails_if_a_chunk_file_of_its_transaction_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d");
    let mut schunk = create(Storage::directory(&path).durable());
    schunk.append(&[1; 500]).unwrap();
    let mut transaction = schunk.transaction().unwrap();
    transaction.append(&[2; 500]).unwrap();
    std::fs::remove_file(path.join("00000001.chunk")).unwrap();
    assert_eq!(transaction.commit(), Err(Error::FileOpen));
    assert_eq!(schunk.nchunks(), 1);
    schunk.append(&[3; 500]).unwrap();
    let again = open(Storage::directory(&path)).unwrap();
    assert_eq!(again.decompress_to_vec(1).unwrap(), [3; 500]);
}

#[test]
fn chunks_without_data_stay_until_the_first_chunk_with_data() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::file(folder.path().join("f"));
    let mut schunk = create(storage.clone());
    for _ in 0..3 {
        schunk.append(&[]).unwrap();
    }
    assert_eq!(schunk.refresh(), Ok(false));
    schunk.delete_chunk(1).unwrap();
    schunk.reorder(&[1, 0]).unwrap();
    assert_eq!(schunk.decompress_to_vec(1), Ok(vec![]));
    assert_eq!((schunk.nchunks(), open(storage.clone()).unwrap().nchunks()), (2, 0));
    schunk.append(&[1; 500]).unwrap();
    let again = open(storage).unwrap();
    assert_eq!((again.nchunks(), again.nbytes()), (3, 500));
    assert_eq!(again.decompress_to_vec(2).unwrap(), [1; 500]);
}

#[test]
fn a_slice_of_several_chunks_of_a_directory_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let storage = || Storage::directory(folder.path().join("d"));
    let items: Vec<u32> = (0..400_000_u32).map(|item| item.wrapping_mul(2_654_435_761)).collect();
    let layout = Layout { shape: &[1000, 400], chunkshape: &[1000, 100], blockshape: &[10, 100] };
    let params = CParams::default().typesize(4);
    Array::from_items(storage(), params, &layout, &items).unwrap().close().unwrap();
    for threads in [1, 4] {
        let array = Array::open(storage(), DParams::default().threads(threads)).unwrap();
        for row in [35, 700] {
            let slice = array.get::<u32>((row..row + 5, 0..400)).unwrap();
            let from = 400 * row as usize;
            assert!(slice == items[from..from + 2000], "row {row}, {threads} threads");
        }
    }
}
