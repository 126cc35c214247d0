//! What becomes of a super-chunk on a disk that fails: a change that meets an error either tells of it and
//! leaves everything as it was, or gets over it and is made as a whole.

use ferroblosc::Result;
use ferroblosc::chunk::{CParams, Compressor, DParams, Special};
use ferroblosc::codec;
use ferroblosc::io::fault::{Disk, Fault};
use ferroblosc::schunk::{SChunk, Storage};
use std::sync::Arc;

const TYPESIZE: usize = 4;
/// Bytes of a chunk; compressed it is still some sectors long.
const CHUNK: usize = 6000;
const CHUNKS: u8 = 4;

/// How a super-chunk is kept on a disk.
#[derive(Clone, Copy, Debug)]
enum Kind {
    File,
    Directory,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::File, Kind::Directory];

    fn on(self, disk: &Disk) -> Storage {
        let storage = match self {
            Kind::File => Storage::file("frame"),
            Kind::Directory => Storage::directory("frame"),
        };
        storage.backend(Arc::new(disk.clone()))
    }

    fn open(self, disk: &Disk) -> Result<SChunk> {
        SChunk::open(self.on(disk), DParams::default())
    }

    fn create(self, disk: &Disk) -> Result<SChunk> {
        SChunk::create(self.on(disk), params(), DParams::default())
    }
}

fn params() -> CParams {
    CParams::default()
        .typesize(TYPESIZE as i32)
        .codec(codec::id::LZ4)
}

/// The data of a chunk, which compresses to about half.
fn data(number: u8, len: usize) -> Vec<u8> {
    let mut noise = u32::from(number) + 1;
    (0..len)
        .map(|i| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if i % TYPESIZE < 2 {
                (noise >> 24) as u8
            } else {
                number
            }
        })
        .collect()
}

fn chunk(number: u8, len: usize) -> Vec<u8> {
    let mut compressor = Compressor::new(params()).unwrap();
    compressor.compress_to_vec(&data(number, len)).unwrap()
}

/// All that a super-chunk holds.
#[derive(Debug, PartialEq, Eq)]
struct Content {
    chunks: Vec<Vec<u8>>,
    metalayer: Option<Vec<u8>>,
    vlmetalayers: Vec<(String, Vec<u8>)>,
}

fn content(schunk: &SChunk) -> Result<Content> {
    let mut chunks = Vec::new();
    for number in 0..schunk.nchunks() {
        let mut bytes = vec![0; 2 * CHUNK];
        let len = schunk.decompress(number, &mut bytes)?;
        bytes.truncate(len);
        chunks.push(bytes);
    }
    let mut vlmetalayers = Vec::new();
    for name in schunk.vlmetalayer_names() {
        let value = schunk.vlmetalayer(&name)?;
        vlmetalayers.push((name, value));
    }
    Ok(Content {
        chunks,
        metalayer: schunk.metalayer("fixed"),
        vlmetalayers,
    })
}

/// A disk with a super-chunk of some chunks and metalayers.
fn filled(kind: Kind) -> Disk {
    let disk = Disk::new();
    let mut schunk = kind.create(&disk).unwrap();
    schunk.add_metalayer("fixed", b"0123456789").unwrap();
    for number in 0..CHUNKS {
        schunk.append_chunk(&chunk(number, CHUNK)).unwrap();
    }
    schunk.add_vlmetalayer("one", &data(50, 700)).unwrap();
    schunk.add_vlmetalayer("two", &data(51, 700)).unwrap();
    disk
}

/// A disk with a super-chunk that holds nothing.
fn empty(kind: Kind) -> Disk {
    let disk = Disk::new();
    kind.create(&disk).unwrap();
    disk
}

/// A change and its name.
type Change = (&'static str, fn(&mut SChunk) -> Result<()>);

/// The changes of a super-chunk that holds something.
const CHANGES: [Change; 16] = [
    ("append", |s| s.append(&data(9, CHUNK)).map(drop)),
    ("append a short chunk", |s| {
        s.append_chunk(&chunk(9, 500)).map(drop)
    }),
    ("append zeros", |s| s.append(&[0; CHUNK]).map(drop)),
    ("insert in front", |s| {
        s.insert_chunk(0, &chunk(9, CHUNK)).map(drop)
    }),
    ("insert within", |s| {
        s.insert_chunk(2, &chunk(9, CHUNK)).map(drop)
    }),
    ("update alike", |s| {
        s.update_chunk(1, &chunk(9, CHUNK)).map(drop)
    }),
    ("update by zeros", |s| {
        let mut compressor = Compressor::new(params())?;
        s.update_chunk(1, &compressor.compress_to_vec(&[0; CHUNK])?)
            .map(drop)
    }),
    ("update the last", |s| {
        s.update_chunk(3, &chunk(9, CHUNK)).map(drop)
    }),
    ("delete", |s| s.delete_chunk(1).map(drop)),
    ("delete the last", |s| s.delete_chunk(3).map(drop)),
    ("reorder", |s| s.reorder(&[3, 1, 0, 2])),
    ("set a slice", |s| s.set_slice(100, 200, &data(9, 400))),
    ("update a metalayer", |s| {
        s.update_metalayer("fixed", b"9876543210")
    }),
    ("add a vlmetalayer", |s| {
        s.add_vlmetalayer("three", &data(9, 900))
    }),
    ("update a vlmetalayer", |s| {
        s.update_vlmetalayer("one", &data(9, 900))
    }),
    ("delete a vlmetalayer", |s| s.delete_vlmetalayer("one")),
];

/// The changes of an empty one.
const FIRST_CHANGES: [Change; 4] = [
    ("add a metalayer", |s| s.add_metalayer("fixed", b"content")),
    ("append first", |s| s.append(&data(9, CHUNK)).map(drop)),
    ("fill", |s| {
        s.fill(6000, Special::Zero, CHUNK as i32).map(drop)
    }),
    ("add a vlmetalayer first", |s| {
        s.add_vlmetalayer("one", &data(9, 900))
    }),
];

/// Lets a change meet a fault at each of its calls.
fn meets_faults(kind: Kind, base: &Disk, (name, change): Change) {
    let again = || Disk::holding(base.contents());
    let disk = again();
    let mut schunk = kind.open(&disk).unwrap();
    let old = content(&schunk).unwrap();
    change(&mut schunk).unwrap();
    let new = content(&schunk).unwrap();
    assert_ne!(old, new, "{name} changes nothing");
    let log = disk.log();
    for (call, what) in log.iter().enumerate() {
        for fault in [Fault::Fail, Fault::Cut, Fault::Full] {
            let context = format!("{kind:?}: {name}, {fault:?} at {call}, {what}");
            let disk = again();
            let mut schunk = kind.open(&disk).unwrap();
            disk.plan(call, fault);
            let expected = match change(&mut schunk) {
                Ok(()) => &new,
                Err(_) => &old,
            };
            disk.heal();
            for (whose, schunk) in [("its", &schunk), ("another", &kind.open(&disk).unwrap())] {
                let found = content(schunk);
                assert_eq!(
                    found.map(|found| found == *expected),
                    Ok(true),
                    "{context}: {whose} handle"
                );
            }
            let mut schunk = kind.open(&disk).unwrap();
            schunk.append(&data(8, CHUNK)).unwrap();
        }
    }
}

#[test]
fn a_change_that_meets_an_error_is_made_as_a_whole_or_not_at_all() {
    for kind in Kind::ALL {
        let (filled, empty) = (filled(kind), empty(kind));
        for change in CHANGES {
            meets_faults(kind, &filled, change);
        }
        for change in FIRST_CHANGES {
            meets_faults(kind, &empty, change);
        }
    }
}

#[test]
fn what_could_not_be_made_leaves_nothing() {
    for kind in Kind::ALL {
        let disk = Disk::new();
        kind.create(&disk).unwrap();
        for call in 0..disk.log().len() {
            for fault in [Fault::Fail, Fault::Cut, Fault::Full] {
                let disk = Disk::new();
                disk.plan(call, fault);
                if kind.create(&disk).is_ok() {
                    continue;
                }
                disk.heal();
                assert!(disk.contents().is_empty(), "{kind:?}, {fault:?} at {call}");
                kind.create(&disk).unwrap();
            }
        }
    }
}
