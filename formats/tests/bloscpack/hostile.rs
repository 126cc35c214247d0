//! Invalid files: extreme field values, truncations and bit flips. Reading returns an error or the
//! data; it never panics, and memory use stays proportional to the file.

use crate::common::{Scratch, fixture, iota, json, unpacked};
use ferroblosc_formats::bloscpack::{self, BloscpackArgs, Error, PackArgs};
use ferroblosc_formats::blpk::{self, Archive, Header, Stream};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which records the largest request of each thread.
struct Watched;

fn note(size: usize) {
    // Thread-locals are not accessible while a thread ends.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's contract is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// Upper bound on a legitimate allocation, in bytes: codec states and a chunk of the test data.
const JUSTIFIED: usize = 4 << 20;

/// Reads a container with every reader; checks the memory use.
fn read_with_every_reader(container: &[u8]) -> bloscpack::Result<Vec<u8>> {
    LARGEST.set(0);
    let mut plain = Vec::new();
    let result = bloscpack::Unpacking::new(container, Some(container.len() as u64))
        .and_then(|unpacking| unpacking.run(&mut plain, 1, &mut ()));
    if let Ok(mut stream) = Stream::new(container, None) {
        let mut stored = Vec::new();
        while let Ok(Some(chunk)) = stream.next_chunk(&mut stored) {
            let _ = chunk.verify(&stored);
        }
    }
    if let Ok(mut archive) = Archive::open(container.to_vec()) {
        let _ = archive.offsets().map(|offsets| offsets.map(<[i64]>::len));
        let _ = archive.read_range(1, &mut [0; 9]);
        let _ = archive
            .read_chunk(archive.header().nchunks.unwrap_or(1).wrapping_sub(1), &mut Vec::new());
    }
    let _ = bloscpack::unpack_ndarray_from_bytes(container, 1);
    let largest = LARGEST.get();
    assert!(largest <= JUSTIFIED, "an allocation of {largest} bytes");
    result.map(|_| plain)
}

/// Returns a small container with all optional sections.
fn small() -> Vec<u8> {
    let args = PackArgs {
        chunk_size: 400,
        metadata: Some(json(r#"{"dtype":"'<i8'","shape":[125],"order":"C","container":"numpy"}"#)),
        ..PackArgs::default()
    };
    bloscpack::pack_bytes_to_bytes(&iota(125), &args).unwrap()
}

#[test]
fn every_prefix_is_an_error() {
    let container = small();
    for len in 0..container.len() {
        assert!(read_with_every_reader(&container[..len]).is_err(), "{len} bytes");
    }
    assert_eq!(read_with_every_reader(&container).unwrap(), iota(125));
}

#[test]
fn a_changed_byte_is_detected_or_harmless() {
    let container = small();
    for at in 0..container.len() {
        let mut changed = container.clone();
        for byte in [0, 1, 0x7F, 0x80, 0xFF, container[at] ^ 1, container[at] ^ 0x20] {
            changed[at] = byte;
            if let Ok(plain) = read_with_every_reader(&changed) {
                // Without an error, only header bytes that no digest covers may differ.
                assert!(plain == iota(125) || at < 32, "byte {at} is {byte}");
            }
        }
    }
}

#[test]
fn row_p17_sizes_are_checked_against_the_file_before_allocating() {
    let container = small();
    for (at, field) in [
        (8, &i32::MAX.wrapping_sub(16).to_le_bytes()[..]),
        (12, &i32::MAX.wrapping_sub(16).to_le_bytes()),
        (16, &i64::MAX.to_le_bytes()),
        (16, &(1_i64 << 40).to_le_bytes()),
        (24, &i64::MAX.to_le_bytes()),
        (24, &(1_i64 << 60).to_le_bytes()),
        (32 + 12, &u32::MAX.to_le_bytes()),
        (32 + 12, &(60_u32 << 20).to_le_bytes()),
        (32 + 16, &u32::MAX.to_le_bytes()),
        (32 + 20, &u32::MAX.to_le_bytes()),
    ] {
        let mut changed = container.clone();
        changed[at..at + field.len()].copy_from_slice(field);
        assert!(read_with_every_reader(&changed).is_err(), "{field:?} at {at}");
    }
}

#[test]
fn row_p17_chunks_with_too_large_sizes_are_refused() {
    let chunk_at = Archive::open(small()).unwrap().prelude().chunks_start as usize;
    for (at, field) in [
        (4, i32::MAX - 16),
        (4, -1),
        (4, 399),
        (8, 0),
        (8, -5),
        (8, i32::MAX),
        (12, 15),
        (12, -1),
        (12, i32::MAX),
    ] {
        for checksum in [None, Some(())] {
            let mut changed = small();
            let at = chunk_at + at;
            changed[at..at + 4].copy_from_slice(&field.to_le_bytes());
            if checksum.is_none() {
                // Without digests, only the size check can reject it.
                changed[6] = 0;
            }
            assert!(read_with_every_reader(&changed).is_err(), "{field} at {at}");
        }
    }
    let mut changed = small();
    changed[chunk_at] = 3;
    assert!(matches!(unpacked(&changed), Err(Error::Container(blpk::Error::ChunkHeader { .. }))));
}

#[test]
fn invalid_offsets_are_refused() {
    let container = fixture("iota_none.blp");
    let start = Archive::open(container.clone()).unwrap().prelude().offsets_start as usize;
    for offset in [0, 31, -2, i64::MIN, i64::MAX, container.len() as i64 - 15] {
        let mut changed = container.clone();
        changed[start + 8..start + 16].copy_from_slice(&offset.to_le_bytes());
        let mut archive = Archive::open(changed.clone()).unwrap();
        assert!(matches!(archive.locate(1), Err(blpk::Error::Offset { index: 1, .. })), "{offset}");
        // A sequential reader does not use the offsets.
        assert_eq!(unpacked(&changed).unwrap(), iota(40_000));
        let scratch = Scratch::new();
        let report = bloscpack::verify(&scratch.file("x.blp", &changed), 1).unwrap();
        assert!(matches!(report.faults[..], [blpk::Error::Offset { index: 1, .. }]));
        // The last offset is where an append writes.
        let mut changed = container.clone();
        changed[start + 24..start + 32].copy_from_slice(&offset.to_le_bytes());
        let path = scratch.file("y.blp", &changed);
        let args = bloscpack::AppendArgs::default();
        assert!(bloscpack::append(&path, &b"x"[..], Some(1), &args, &mut ()).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), changed);
    }
}

/// Otherwise the data of another chunk would be read, whose checksum is correct.
#[test]
fn offsets_of_other_chunks_are_refused() {
    let container = fixture("iota_none.blp");
    let start = Archive::open(container.clone()).unwrap().prelude().offsets_start as usize;
    let entry = |index: usize| start + 8 * index..start + 8 * (index + 1);
    for (index, other) in [(1, 0), (1, 2), (1, 3), (0, 2), (3, 1), (3, 2)] {
        let mut changed = container.clone();
        changed.copy_within(entry(other), entry(index).start);
        let mut archive = Archive::open(changed).unwrap();
        for chunk in 0..4 {
            let located = archive.locate(chunk);
            assert_eq!(located.is_ok(), chunk != index as u64, "{index} as {other}: {located:?}");
        }
    }
}

#[test]
fn metadata_with_another_size_are_refused() {
    let compressed =
        PackArgs { metadata: Some(json(&format!("{:?}", "a".repeat(44)))), ..PackArgs::default() };
    let compressed = bloscpack::pack_bytes_to_bytes(b"", &compressed).unwrap();
    // One section is compressed, the other is not; both have 46 bytes.
    for (container, codec) in [(compressed, 1), (fixture("meta_zlib.blp"), 0)] {
        assert_eq!((container[32 + 10], container[32 + 12]), (codec, 46));
        for size in [0_u32, 45, 47, 1000, 1 << 20] {
            let mut changed = container.clone();
            changed[32 + 12..32 + 16].copy_from_slice(&size.to_le_bytes());
            assert!(read_with_every_reader(&changed).is_err(), "{size}");
        }
    }
}

#[test]
fn damage_is_found_anywhere_and_later_chunks_are_read() {
    let args =
        PackArgs { chunk_size: 1000, bloscpack: BloscpackArgs::default(), ..PackArgs::default() };
    let container = bloscpack::pack_bytes_to_bytes(&iota(1000), &args).unwrap();
    let mut archive = Archive::open(container.clone()).unwrap();
    let mut changed = container.clone();
    for index in [1, 4] {
        changed[archive.locate(index).unwrap().position as usize + 30] ^= 4;
    }
    let scratch = Scratch::new();
    let report = bloscpack::verify(&scratch.file("x.blp", &changed), 2).unwrap();
    assert_eq!(report.chunks, 8);
    assert!(matches!(
        report.faults[..],
        [
            blpk::Error::Checksum { what: blpk::Checked::Chunk(1), .. },
            blpk::Error::Checksum { what: blpk::Checked::Chunk(4), .. }
        ]
    ));
}

#[test]
fn a_container_with_a_huge_chunk_count_ends_with_its_file() {
    let header = Header { nchunks: Some(i64::MAX as u64), ..Header::default() };
    let container = header.encode().unwrap();
    assert!(read_with_every_reader(&container).is_err());
}

#[test]
fn the_number_of_reported_faults_is_limited() {
    let args = PackArgs { chunk_size: 8, ..PackArgs::default() };
    let container = bloscpack::pack_bytes_to_bytes(&iota(150), &args).unwrap();
    let mut archive = Archive::open(container.clone()).unwrap();
    let mut changed = container.clone();
    for index in 0..150 {
        changed[archive.locate(index).unwrap().position as usize + 16] ^= 4;
    }
    let scratch = Scratch::new();
    let report = bloscpack::verify(&scratch.file("x.blp", &changed), 2).unwrap();
    assert_eq!((report.chunks, report.faults.len()), (150, 100));
}

/// Offsets that were not written yet are counted, and are no fault.
#[test]
fn chunks_without_an_offset_are_counted() {
    let args = PackArgs { chunk_size: 80, ..PackArgs::default() };
    let container = bloscpack::pack_bytes_to_bytes(&iota(50), &args).unwrap();
    let mut archive = Archive::open(container.clone()).unwrap();
    let first = archive.offsets().unwrap().unwrap()[0];
    let at = container.windows(8).position(|bytes| bytes == first.to_le_bytes()).unwrap();
    let mut changed = container;
    changed[at + 8..at + 16].copy_from_slice(&(-1_i64).to_le_bytes());
    let scratch = Scratch::new();
    let report = bloscpack::verify(&scratch.file("x.blp", &changed), 1).unwrap();
    assert_eq!((report.without_offset, report.faults.len(), report.chunks), (1, 0, 5));
    // Of an impossible offset, it is a fault.
    changed[at + 8..at + 16].copy_from_slice(&(-2_i64).to_le_bytes());
    let report = bloscpack::verify(&scratch.file("x.blp", &changed), 1).unwrap();
    assert_eq!((report.without_offset, report.faults.len()), (0, 1));
}
