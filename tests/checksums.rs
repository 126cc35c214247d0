//! Checksums of frames: written on request, kept by every change, and verified by reads.

use ferroblosc::chunk::{CParams, Compressor, DParams};
use ferroblosc::schunk::verify::Fingerprint;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};
use std::path::Path;
use tempfile::tempdir;

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
    assert_eq!(report.bad_chunks, [(1, Error::Data)]);
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
    assert_eq!(report.bad_chunks[0].0, 3);
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
