//! The cost of calls on a disk: the number of files opened, and of bytes read and written.
//!
//! The tests count operations, because times depend on the machine, and because every operation is
//! expensive on network file systems.

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, Compressor, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_fault::{Disk, Usage};
use std::path::Path;
use std::sync::Arc;

/// The size of a large variable-length metalayer in bytes.
const LARGE: usize = 1 << 20;
/// The size of a large chunk in bytes.
const CHUNK: usize = 3 << 20;

/// Returns incompressible bytes.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Returns the kinds of storage on a disk that these tests use.
fn storages(disk: &Disk) -> [Storage; 2] {
    [Storage::file("frame"), Storage::directory("frame")]
        .map(|storage| storage.backend(Arc::new(disk.clone())))
}

/// Calls `test` with an empty super-chunk in a file, and with one in a directory.
fn for_each_storage(level: u8, test: impl Fn(&Disk, SChunk, usize)) {
    for which in 0..2 {
        let disk = Disk::new();
        let [file, directory] = storages(&disk);
        let storage = if which == 0 { file } else { directory };
        let params = CParams::default().typesize(8).level(level);
        let schunk = SChunk::create(storage, params, DParams::default()).unwrap();
        test(&disk, schunk, which);
    }
}

fn opened(usage: &Usage, name: &str) -> usize {
    usage.opened.get(Path::new(name)).copied().unwrap_or(0)
}

#[test]
fn a_change_reads_no_large_metalayers() {
    for_each_storage(5, |disk, mut schunk, _| {
        schunk.add_vlmetalayer("large", &noise(1, LARGE)).unwrap();
        schunk.add_vlmetalayer("small", b"1").unwrap();
        let used = |change: &str| {
            let usage = disk.take_usage();
            assert!(usage.bytes_read < LARGE / 8, "{change}: {usage:?}");
            usage
        };
        disk.take_usage();
        for i in 0..4 {
            schunk.append(&noise(i, 8000)).unwrap();
            used("append");
        }
        schunk.update_vlmetalayer("small", b"12").unwrap();
        used("update of a metalayer");
        schunk.update_vlmetalayer("small", b"34").unwrap();
        used("another update of it");
        schunk.add_vlmetalayer("third", b"3").unwrap();
        used("a new metalayer");
        schunk.delete_chunk(0).unwrap();
        used("delete");
        let params = CParams::default().typesize(8);
        let chunk = Compressor::new(params).unwrap().compress_to_vec(&noise(9, 8000)).unwrap();
        schunk.update_chunk(1, &chunk).unwrap();
        let usage = used("update");
        assert!(usage.bytes_written < LARGE / 8, "{usage:?}");
        schunk.set_slice(5, 6, &[1; 8]).unwrap();
        let usage = used("one item");
        assert!(usage.bytes_written < LARGE / 8, "{usage:?}");
        while schunk.nchunks() > 0 {
            schunk.delete_chunk(schunk.nchunks() - 1).unwrap();
            used("delete of the last chunk");
        }
        assert_eq!(schunk.vlmetalayer("large").unwrap(), noise(1, LARGE));
        assert_eq!(schunk.vlmetalayer("small").unwrap(), b"34");
    });
}

#[test]
fn the_first_metalayer_change_after_opening_reads_the_others() {
    for_each_storage(5, |disk, mut schunk, which| {
        schunk.add_vlmetalayer("large", &noise(1, LARGE)).unwrap();
        schunk.append(&noise(2, 8000)).unwrap();
        drop(schunk);
        let [file, directory] = storages(disk);
        let storage = if which == 0 { file } else { directory };
        let mut schunk = SChunk::open(storage, DParams::default()).unwrap();
        schunk.add_vlmetalayer("small", b"1").unwrap();
        disk.take_usage();
        schunk.update_vlmetalayer("small", b"12").unwrap();
        let usage = disk.take_usage();
        assert!(usage.bytes_read < LARGE / 8, "{usage:?}");
        let mut bytes = vec![0; 8000];
        schunk.decompress(0, &mut bytes).unwrap();
        assert_eq!(bytes, noise(2, 8000));
        drop(schunk);
        let [file, directory] = storages(disk);
        let storage = if which == 0 { file } else { directory };
        let schunk = SChunk::open(storage, DParams::default()).unwrap();
        assert_eq!(schunk.vlmetalayer("small").unwrap(), b"12");
    });
}

#[test]
fn one_item_of_a_large_chunk_reads_it_at_most_twice() {
    for_each_storage(0, |disk, mut schunk, which| {
        for number in 0..3 {
            schunk.append(&noise(number, CHUNK)).unwrap();
        }
        disk.take_usage();
        let item = (CHUNK / 8) as i64 + 7;
        schunk.set_slice(item, item + 1, b"new item").unwrap();
        let usage = disk.take_usage();
        // In a file the old chunk is compared with the new one, and only changed bytes are written;
        // in a directory the new chunk is a new file.
        let (read, written) = [(2, CHUNK / 8), (1, CHUNK)][which];
        assert!(usage.bytes_read < read * CHUNK + 4096, "{usage:?}");
        assert!(usage.bytes_written < written + 4096, "{usage:?}");
        let mut found = [0; 8];
        schunk.get_slice(item, item + 1, &mut found).unwrap();
        assert_eq!(&found, b"new item");
    });
}

#[test]
fn an_update_reads_the_chunk_that_it_replaces_at_most_once() {
    for_each_storage(0, |disk, mut schunk, which| {
        for number in 0..3 {
            schunk.append(&noise(number, CHUNK)).unwrap();
        }
        let params = CParams::default().typesize(8).level(0);
        let mut compressor = Compressor::new(params).unwrap();
        for seed in [7, 8] {
            let chunk = compressor.compress_to_vec(&noise(seed, CHUNK)).unwrap();
            disk.take_usage();
            schunk.update_chunk(1, &chunk).unwrap();
            let usage = disk.take_usage();
            let read = [CHUNK, 0][which];
            assert!(usage.bytes_read < read + 4096, "{usage:?}");
            assert!(usage.bytes_written < CHUNK + 4096, "{usage:?}");
        }
    });
}

#[test]
fn a_slice_of_an_array_in_a_directory_opens_only_the_files_of_its_chunks() {
    let disk = Disk::new();
    let storage = || Storage::directory("array").backend(Arc::new(disk.clone()));
    let layout = Layout { shape: &[100, 1500], chunkshape: &[10, 1500], blockshape: &[1, 1500] };
    let items: Vec<u8> = (0..150_000u32).flat_map(|i| (i * 7).to_le_bytes()).collect();
    let params = CParams::default().typesize(4);
    Array::from_item_bytes(storage(), params, &layout, "<i4", &items).unwrap();
    let array = Array::open(storage(), DParams::default()).unwrap();
    for (start, stop, chunks) in [(55, 56, vec![5]), (18, 31, vec![1, 2, 3]), (55, 57, vec![5])] {
        disk.take_usage();
        let found = array.get_slice(&[start, 0], &[stop, 1500]).unwrap();
        let usage = disk.take_usage();
        assert_eq!(found, items[start as usize * 6000..stop as usize * 6000]);
        for number in &chunks {
            assert_eq!(opened(&usage, &format!("array/{number:08X}.chunk")), 1);
        }
        let all: usize = usage.opened.values().sum();
        assert_eq!(all, chunks.len(), "{usage:?}");
        // Reads the index's header once for the array and once per chunk, and each chunk's header,
        // table and blocks.
        assert!(usage.reads <= 1 + chunks.len() * 15, "{usage:?}");
    }
    disk.take_usage();
    array.get_slice(&[55, 0], &[56, 1500]).unwrap();
    let usage = disk.take_usage();
    assert!(usage.reads <= 5, "{usage:?}");
}

#[test]
fn a_durable_array_loses_many_chunks_in_one_change() {
    let layout = Layout { shape: &[4000], chunkshape: &[4], blockshape: &[4] };
    let items = noise(3, 16_000);
    for which in 0..2 {
        let disk = Disk::new();
        let storage = || {
            let [file, directory] = storages(&disk);
            if which == 0 { file.durable() } else { directory.durable() }
        };
        let params = CParams::default().typesize(4);
        Array::from_item_bytes(storage(), params, &layout, "<i4", &items).unwrap();
        let mut array = Array::open(storage(), DParams::default()).unwrap();
        disk.take_usage();
        array.resize(&[8], None).unwrap();
        let usage = disk.take_usage();
        if which == 0 {
            // The index, the checksums, and the two chunks that are left, which are moved.
            assert!(usage.reads <= 40, "{usage:?}");
        } else {
            // The sizes of the removed chunks are in their files.
            assert!(usage.reads <= 1000 * 2 + 40, "{usage:?}");
        }
        assert_eq!(array.get_slice(&[0], &[8]).unwrap(), items[..32]);
        let array = Array::open(storage(), DParams::default()).unwrap();
        assert_eq!(array.shape(), [8]);
        assert_eq!(array.schunk().nchunks(), 2);
        assert_eq!(array.get_slice(&[0], &[8]).unwrap(), items[..32]);
    }
}

#[test]
fn removed_chunks_that_a_transaction_wrote_leave_no_trace() {
    let layout = Layout { shape: &[40, 6], chunkshape: &[4, 3], blockshape: &[4, 3] };
    let items = noise(5, 40 * 6 * 4);
    for which in 0..2 {
        let disk = Disk::new();
        let storage = || {
            let [file, directory] = storages(&disk);
            if which == 0 { file.durable() } else { directory.durable() }
        };
        let params = CParams::default().typesize(4);
        let mut array = Array::from_item_bytes(storage(), params, &layout, "<i4", &items).unwrap();
        let expected: Vec<u8> = (0..20).flat_map(|row| items[row * 24..][..12].to_vec()).collect();
        for rolls_back in [true, false] {
            let mut change = array.transaction().unwrap();
            change.resize(&[60, 6], None).unwrap();
            change.set_slice(&[40, 0], &[60, 6], &noise(7, 20 * 6 * 4)).unwrap();
            change.resize(&[20, 3], None).unwrap();
            assert_eq!(change.get_slice(&[0, 0], &[20, 3]).unwrap(), expected);
            if rolls_back {
                change.rollback();
                assert_eq!(array.get_slice(&[0, 0], &[40, 6]).unwrap(), items);
            } else {
                change.commit().unwrap();
            }
        }
        let array = Array::open(storage(), DParams::default()).unwrap();
        assert_eq!(array.shape(), [20, 3]);
        assert_eq!(array.schunk().nchunks(), 5);
        assert_eq!(array.get_slice(&[0, 0], &[20, 3]).unwrap(), expected);
    }
}
