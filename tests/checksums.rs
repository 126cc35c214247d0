//! Checksums of frames: written on request, kept by every change, and verified by reads.

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams};
use ferroblosc::schunk::verify::Fingerprint;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// The variable with the path of the frame that a child of a test reads.
const PATH: &str = "FERROBLOSC_TEST_PATH";

const CHUNK: usize = 4000;
const CHUNKS: u32 = 5;

/// Returns the data of a chunk; chunk 2 is all zeros.
fn data(number: u32) -> Vec<u8> {
    let item = |i: u32| if number == 2 { 0 } else { i * i * (number + 1) };
    let items = 0..CHUNK as u32 / 4;
    items.flat_map(|i| item(i).to_le_bytes()).collect()
}

fn fill(storage: Storage) -> SChunk {
    let params = CParams::default().typesize(4);
    let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
    schunk.add_metalayer("fixed", b"0123456789").unwrap();
    for number in 0..CHUNKS {
        schunk.append(&data(number)).unwrap();
    }
    schunk.add_vlmetalayer("variable", b"value").unwrap();
    schunk
}

fn open(path: &Path) -> SChunk {
    let storage = if path.is_dir() { Storage::directory(path) } else { Storage::file(path) };
    SChunk::open(storage, DParams::default()).unwrap()
}

fn read(schunk: &SChunk, number: u32) -> Result<Vec<u8>> {
    let mut dest = vec![0; CHUNK];
    schunk.decompress(i64::from(number), &mut dest)?;
    Ok(dest)
}

/// Returns the offset of a chunk in a frame, found by its content.
fn place_of(frame: &[u8], chunk: &[u8]) -> usize {
    let found = frame.windows(chunk.len()).position(|bytes| bytes == chunk);
    found.expect("the frame contains the chunk")
}

/// Asserts that verification finds no errors.
fn assert_is_sound(schunk: &mut SChunk, context: &str) {
    let report = schunk.verify().unwrap();
    assert_eq!(report.faults(), 0, "{context}: {report:?}");
    assert_eq!(report.fingerprint, Fingerprint::Intact, "{context}");
    let stored = report.nchunks - report.decompressed;
    assert_eq!(report.compared, stored, "{context}: {report:?}");
    assert!(report.decompressed <= 1, "{context}: only zeros have no checksum");
}

#[test]
fn row_f35_reading_a_chunk_detects_any_changed_byte() {
    for durable in [false, true] {
        let scratch = tempdir().unwrap();
        let path = scratch.path().join("f.b2frame");
        let storage = Storage::file(&path).checksums();
        let schunk = fill(if durable { storage.durable() } else { storage });
        let chunk = schunk.chunk(0).unwrap().to_vec();
        drop(schunk);
        let frame = std::fs::read(&path).unwrap();
        let start = place_of(&frame, &chunk);
        for at in 0..chunk.len() {
            let mut broken = frame.clone();
            broken[start + at] ^= 0x20;
            std::fs::write(&path, &broken).unwrap();
            let schunk = open(&path);
            assert_eq!(read(&schunk, 0), Err(Error::Data), "byte {at}");
            let mut slice = [0; 4];
            assert!(schunk.get_slice(1, 2, &mut slice).is_err(), "byte {at}");
            assert_eq!(read(&schunk, 1), Ok(data(1)), "byte {at}");
            assert_eq!(read(&schunk, 2), Ok(data(2)), "byte {at}");

            let schunk = SChunk::from_bytes(&broken, DParams::default()).unwrap();
            assert_eq!(read(&schunk, 0), Err(Error::Data), "byte {at}, in memory");
            assert_eq!(read(&schunk, 4), Ok(data(4)), "byte {at}, in memory");
        }
    }
}

#[test]
fn row_f35_a_changed_chunk_in_a_directory_is_detected() {
    let scratch = tempdir().unwrap();
    let path = scratch.path().join("d.b2frame");
    drop(fill(Storage::directory(&path).checksums()));
    let file = path.join("00000001.chunk");
    let mut chunk = std::fs::read(&file).unwrap();
    let last = chunk.len() - 1;
    chunk[last] ^= 1;
    std::fs::write(&file, chunk).unwrap();
    let mut schunk = open(&path);
    assert_eq!(read(&schunk, 1), Err(Error::Data));
    assert_eq!(read(&schunk, 0), Ok(data(0)));
    let report = schunk.verify().unwrap();
    assert_eq!(report.bad_chunks, [(1..2, Error::Data)]);
    assert_eq!(report.fingerprint, Fingerprint::Intact);
}

#[test]
fn row_f35_a_corrupt_index_is_detected_and_intact_chunks_are_read() {
    let scratch = tempdir().unwrap();
    let path = scratch.path().join("f.b2frame");
    let schunk = fill(Storage::file(&path).checksums());
    let last = schunk.chunk(4).unwrap().to_vec();
    drop(schunk);
    let frame = std::fs::read(&path).unwrap();
    let data_end = place_of(&frame, &last) + last.len();
    let mut opened = 0;
    for at in data_end..frame.len() {
        let mut broken = frame.clone();
        broken[at] ^= 0x04;
        // A broken reference to the chunks may fail at opening.
        let Ok(mut schunk) = SChunk::from_bytes(&broken, DParams::default()) else {
            continue;
        };
        opened += 1;
        for number in 0..CHUNKS {
            match read(&schunk, number) {
                Ok(bytes) => assert_eq!(bytes, data(number), "byte {at}: wrong data"),
                Err(error) => assert!(
                    [Error::Data, Error::InvalidHeader].contains(&error),
                    "byte {at}: {error}"
                ),
            }
        }
        if let Ok(report) = schunk.verify() {
            // The fingerprint does not cover the byte with its own kind.
            assert_ne!(report.fingerprint, Fingerprint::Intact, "byte {at}");
        }
    }
    assert!(opened > (frame.len() - data_end) / 2);
}

#[test]
fn row_f35_every_change_keeps_the_checksums() {
    let scratch = tempdir().unwrap();
    let (file, directory) = (scratch.path().join("f.b2frame"), scratch.path().join("d.b2frame"));
    let memory = fill(Storage::frame().checksums()).to_bytes().unwrap();
    let in_memory = || SChunk::from_bytes(&memory, DParams::default()).unwrap();
    drop(fill(Storage::file(&file).checksums()));
    drop(fill(Storage::directory(&directory).checksums()));
    // The super-chunks are opened without a request for checksums.
    for mut schunk in [open(&file), open(&directory), in_memory()] {
        type Change = fn(&mut SChunk) -> Result<()>;
        let changes: [(&str, Change); 9] = [
            ("nothing", |_| Ok(())),
            ("append", |s| s.append(&data(7)).map(drop)),
            ("update", |s| s.set_slice(0, 1, &[1, 2, 3, 4])),
            ("update a vlmetalayer", |s| s.update_vlmetalayer("variable", &[7; 300])),
            ("update a metalayer", |s| s.update_metalayer("fixed", b"9876543210")),
            ("add a vlmetalayer", |s| s.add_vlmetalayer("second", b"2")),
            ("delete a vlmetalayer", |s| s.delete_vlmetalayer("variable")),
            ("reorder", |s| s.reorder(&[5, 4, 3, 2, 1, 0])),
            ("delete", |s| s.delete_chunk(1).map(drop)),
        ];
        for (name, change) in changes {
            change(&mut schunk).unwrap();
            assert_is_sound(&mut schunk, name);
        }
    }
    for path in [&file, &directory] {
        assert_is_sound(&mut open(path), "opened again");
    }
}

#[test]
fn row_f35_checksums_are_written_only_on_request() {
    let mut schunk = fill(Storage::frame());
    let frame = schunk.to_bytes().unwrap();
    assert!(frame.ends_with(&[0; 17]), "a fingerprint of kind 0");
    assert_eq!(schunk.verify().unwrap().fingerprint, Fingerprint::None);
    assert_eq!(schunk.verify().unwrap().faults(), 0);
}

#[test]
fn compacting_adds_missing_checksums() {
    let scratch = tempdir().unwrap();
    let path = scratch.path().join("f.b2frame");
    drop(fill(Storage::file(&path)));
    let storage = Storage::file(&path).checksums();
    let mut schunk = SChunk::open(storage, DParams::default()).unwrap();
    schunk.append(&data(8)).unwrap();
    let report = schunk.verify().unwrap();
    assert_eq!((report.compared, report.decompressed), (1, 5));
    schunk.compact().unwrap();
    assert_is_sound(&mut schunk, "compacted");
    assert_is_sound(&mut open(&path), "opened again");
}

/// Changes the offsets of the blocks of a chunk in a frame, so that it cannot be decompressed.
fn damage(frame: &mut [u8], chunk: &[u8]) {
    let start = place_of(frame, chunk) + 32;
    frame[start..start + 4].fill(0x7f);
}

/// Asserts that verification decompresses chunk 1 and reports it, and compares the other chunks.
fn assert_finds_damage(schunk: &mut SChunk, context: &str) {
    let report = schunk.verify().unwrap();
    assert_eq!(report.fingerprint, Fingerprint::Intact, "{context}");
    let bad = report.bad_chunks.iter().flat_map(|(numbers, _)| numbers.clone());
    assert_eq!(bad.collect::<Vec<_>>(), [1], "{context}: {report:?}");
    assert_eq!(report.compared, report.nchunks - report.decompressed, "{context}");
    assert!(report.decompressed <= 2, "{context}: zeros and the damaged chunk");
}

#[test]
fn compacting_adds_no_checksum_of_a_damaged_chunk() {
    let scratch = tempdir().unwrap();
    let path = scratch.path().join("f.b2frame");
    let schunk = fill(Storage::file(&path));
    let chunk = schunk.chunk(1).unwrap().to_vec();
    drop(schunk);
    let mut frame = std::fs::read(&path).unwrap();
    damage(&mut frame, &chunk);
    std::fs::write(&path, &frame).unwrap();
    let storage = Storage::file(&path).checksums();
    let mut schunk = SChunk::open(storage, DParams::default()).unwrap();
    schunk.append(&data(8)).unwrap();
    schunk.compact().unwrap();
    assert_finds_damage(&mut schunk, "compacted");
    assert_finds_damage(&mut open(&path), "opened again");
}

/// Chunks with blocks of variable length are copied as they are.
#[test]
fn copies_have_no_checksum_of_a_damaged_chunk() {
    let scratch = tempdir().unwrap();
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::frame(), params.clone(), DParams::default()).unwrap();
    for number in [0, 1, 3] {
        let mut chunk = vec![0; 2 * CHUNK];
        let blocks: [&[u8]; 2] = [&data(number), &data(number + 1)[..100]];
        let size = Compressor::new(params.clone()).unwrap().vl_compress(&blocks, &mut chunk);
        schunk.append_chunk(&chunk[..size.unwrap()]).unwrap();
    }
    let chunk = schunk.chunk(1).unwrap().to_vec();
    let mut frame = schunk.to_bytes().unwrap();
    damage(&mut frame, &chunk);
    let source = SChunk::from_bytes(&frame, DParams::default()).unwrap();
    let path = |name: &str| scratch.path().join(name);
    let targets = [
        ("memory", Storage::frame().checksums()),
        ("file", Storage::file(path("file")).checksums()),
        ("durable", Storage::file(path("durable")).checksums().durable()),
        ("directory", Storage::directory(path("directory")).checksums()),
    ];
    for (name, storage) in targets {
        let mut copy = source.copy_with(storage, params.clone(), DParams::default()).unwrap();
        assert_eq!(copy.chunk(1).unwrap().len(), chunk.len(), "{name}");
        assert_finds_damage(&mut copy, name);
        // A copy of the copy.
        let target = Storage::frame().checksums();
        let mut again = copy.copy_with(target, params.clone(), DParams::default()).unwrap();
        assert_finds_damage(&mut again, name);
    }
}

#[test]
#[ignore = "run by another test as a child"]
fn child_that_serialises() {
    let path = PathBuf::from(std::env::var_os(PATH).unwrap());
    let frame = open(&path).to_bytes().unwrap();
    std::fs::write(path, frame).unwrap();
}

#[test]
fn a_serialised_frame_has_no_checksum_of_a_damaged_chunk() {
    let scratch = tempdir().unwrap();
    let path = scratch.path().join("f.b2frame");
    let mut schunk = fill(Storage::frame());
    let chunk = schunk.chunk(1).unwrap().to_vec();
    let mut frame = schunk.to_bytes().unwrap();
    damage(&mut frame, &chunk);
    std::fs::write(&path, &frame).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_serialises", "--ignored"])
        .envs([(PATH, path.as_os_str()), ("FERROBLOSC_CHECKSUMS", "1".as_ref())])
        .stdout(Stdio::null())
        .status();
    assert!(child.unwrap().success());
    assert_finds_damage(&mut open(&path), "serialised");
}

#[test]
fn an_extended_array_has_no_checksum_of_a_damaged_chunk() {
    let items: Vec<u32> = (0..4000).map(|i| i * i).collect();
    let layout = Layout { shape: &[4000], chunkshape: &[1000], blockshape: &[1000] };
    let array = |storage| Array::from_items(storage, CParams::default(), &layout, &items).unwrap();
    let mut source = array(Storage::frame());
    let chunk = source.schunk().chunk(1).unwrap().to_vec();
    let mut frame = source.schunk_mut().to_bytes().unwrap();
    damage(&mut frame, &chunk);
    let source = SChunk::from_bytes(&frame, DParams::default()).unwrap();
    let source = Array::from_schunk(source).unwrap();
    let mut target = array(Storage::frame().checksums());
    target.extend(&source, 0).unwrap();
    let report = target.schunk_mut().verify().unwrap();
    let bad: Vec<i64> = report.bad_chunks.iter().flat_map(|(numbers, _)| numbers.clone()).collect();
    assert_eq!((bad, report.compared), (vec![5], 7), "{report:?}");
}

#[test]
fn verification_decompresses_chunks_without_a_checksum() {
    let mut schunk = fill(Storage::frame());
    let chunk = schunk.chunk(3).unwrap().to_vec();
    let mut frame = schunk.to_bytes().unwrap();
    let start = place_of(&frame, &chunk);
    // Increases the chunk's stored size.
    frame[start + 12] ^= 0xff;
    let mut schunk = SChunk::from_bytes(&frame, DParams::default()).unwrap();
    let report = schunk.verify().unwrap();
    assert_eq!(report.bad_chunks.len(), 1);
    assert_eq!(report.bad_chunks[0].0, 3..4);
}

#[test]
fn chunks_without_data_are_not_compared_with_checksums_of_removed_chunks() {
    let scratch = tempdir().unwrap();
    let params = || CParams::default().typesize(4);
    let mut compressor = Compressor::new(params()).unwrap();
    let empty = compressor.compress_to_vec(&[]).unwrap();
    let path = |kind: &str, others: i64| scratch.path().join(format!("{kind}-{others}.b2frame"));
    for others in [0, 1, 2] {
        let (file, directory) = (path("file", others), path("directory", others));
        let durable = path("durable", others);
        for (storage, path) in [
            (Storage::frame(), None),
            (Storage::file(&file), Some(&file)),
            (Storage::file(&durable).durable(), Some(&durable)),
            (Storage::directory(&directory), Some(&directory)),
        ] {
            let mut schunk =
                SChunk::create(storage.checksums(), params(), DParams::default()).unwrap();
            schunk.append(&data(0)).unwrap();
            for _ in 0..others {
                schunk.append_chunk(&empty).unwrap();
            }
            let is_sound = |schunk: &mut SChunk, with_data: bool| {
                let report = schunk.verify().unwrap();
                assert_eq!(report.faults(), 0, "{path:?} {others}: {report:?}");
                assert_eq!(report.fingerprint, Fingerprint::Intact, "{path:?} {others}");
                let last = schunk.nchunks() - 1;
                for nchunk in 0..=last {
                    let is_empty = nchunk < last || !with_data;
                    let expected = if is_empty { Vec::new() } else { data(1) };
                    assert_eq!(schunk.decompress_to_vec(nchunk).as_ref(), Ok(&expected));
                }
            };
            match others {
                0 => schunk.update_chunk(0, &empty).unwrap(),
                _ => schunk.delete_chunk(0).unwrap(),
            };
            is_sound(&mut schunk, false);
            schunk.add_vlmetalayer("variable", b"value").unwrap();
            is_sound(&mut schunk, false);
            if let Some(path) = path {
                let mut reopened = open(path);
                assert_eq!(reopened.nchunks(), 0);
                is_sound(&mut reopened, false);
            }
            schunk.update_chunk(0, &empty).unwrap();
            schunk.append(&data(1)).unwrap();
            is_sound(&mut schunk, true);
            if let Some(path) = path {
                is_sound(&mut open(path), true);
            }
            schunk.delete_chunk(0).unwrap();
            is_sound(&mut schunk, true);
        }
    }
}

#[test]
fn removing_all_data_adds_requested_checksums() {
    let scratch = tempdir().unwrap();
    let (path, params) = (scratch.path().join("f.b2frame"), CParams::default().typesize(4));
    let mut compressor = Compressor::new(params.clone()).unwrap();
    let empty = compressor.compress_to_vec(&[]).unwrap();
    let mut schunk = SChunk::create(Storage::file(&path), params, DParams::default()).unwrap();
    schunk.append(&data(0)).unwrap();
    drop(schunk);
    let storage = Storage::file(&path).checksums();
    let mut schunk = SChunk::open(storage, DParams::default()).unwrap();
    schunk.update_chunk(0, &empty).unwrap();
    for mut schunk in [schunk, open(&path)] {
        let report = schunk.verify().unwrap();
        assert_eq!((report.faults(), report.fingerprint), (0, Fingerprint::Intact));
    }
}

#[test]
fn a_change_of_metalayers_adds_requested_checksums() {
    let scratch = tempdir().unwrap();
    let (path, params) = (scratch.path().join("f.b2frame"), CParams::default().typesize(4));
    for has_data in [false, true] {
        for name in ["fixed", "variable"] {
            let _ = std::fs::remove_file(&path);
            let mut schunk =
                SChunk::create(Storage::file(&path), params.clone(), DParams::default()).unwrap();
            schunk.add_metalayer("fixed", b"old").unwrap();
            schunk.add_vlmetalayer("variable", b"old").unwrap();
            if has_data {
                schunk.append(&data(0)).unwrap();
            }
            drop(schunk);
            let storage = Storage::file(&path).checksums();
            let mut schunk = SChunk::open(storage, DParams::default()).unwrap();
            match name {
                "fixed" => schunk.update_metalayer(name, b"new").unwrap(),
                _ => schunk.update_vlmetalayer(name, b"new").unwrap(),
            }
            for mut schunk in [schunk, open(&path)] {
                let report = schunk.verify().unwrap();
                assert_eq!(
                    (report.faults(), report.fingerprint),
                    (0, Fingerprint::Intact),
                    "{name}, {has_data}"
                );
            }
        }
    }
}
