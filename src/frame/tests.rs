//! Tests of frames beside other data, and of frames that cannot be changed.

use super::format::legacy::tests::tiny;
use crate::chunk::{CParams, DParams};
use crate::io::{FileSystem, append};
use crate::schunk::{SChunk, Storage};
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
    let position = |schunk: &SChunk, number| {
        crate::schunk::State::frame(schunk.state()).unwrap().chunk_position(number)
    };
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
