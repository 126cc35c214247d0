//! Super-chunks on a simulated disk, and changes of them.

use ferroblosc::Result;
use ferroblosc::chunk::{CParams, Compressor, DParams, Special};
use ferroblosc::codec;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_fault::Disk;
use std::path::Path;
use std::sync::Arc;

const TYPESIZE: usize = 4;
/// The size of a chunk's data in bytes; compressed it still spans several sectors.
pub const CHUNK: usize = 6000;
const CHUNKS: u8 = 4;

/// The offset of an embedded frame in its file, not a multiple of the sector size.
const WITHIN: usize = 700;

/// The storage of a super-chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
    /// In a file, after other data.
    Embedded,
}

/// The protection of a super-chunk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guards {
    pub durable: bool,
    pub checksums: bool,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::File, Kind::Directory, Kind::Embedded];

    /// Returns the storage at a path.
    pub fn at(self, path: &Path, guards: Guards) -> Storage {
        let mut storage = match self {
            Kind::File => Storage::file(path),
            Kind::Directory => Storage::directory(path),
            Kind::Embedded => Storage::file(path).at(WITHIN as u64),
        };
        if guards.durable {
            storage = storage.durable();
        }
        if guards.checksums {
            storage = storage.checksums();
        }
        storage
    }

    pub fn on(self, disk: &Disk, guards: Guards) -> Storage {
        self.at(Path::new("frame"), guards).backend(Arc::new(disk.clone()))
    }

    pub fn open(self, disk: &Disk, guards: Guards) -> Result<SChunk> {
        SChunk::open(self.on(disk, guards), DParams::default())
    }

    pub fn create(self, disk: &Disk, guards: Guards) -> Result<SChunk> {
        SChunk::create(self.on(disk, guards), params(), DParams::default())
    }

    /// Converts the disk of a super-chunk created as `made_as` to this kind of storage.
    pub fn moved(self, disk: Disk) -> Disk {
        if self != Kind::Embedded {
            return disk;
        }
        let before = vec![0xa5; WITHIN];
        Disk::holding(disk.contents().into_iter().map(|(path, bytes)| {
            let bytes = [before.clone(), bytes].concat();
            (path, bytes)
        }))
    }

    /// Returns the kind of storage in which a super-chunk of this kind is created.
    pub fn made_as(self) -> Kind {
        match self {
            Kind::Embedded => Kind::File,
            kind => kind,
        }
    }
}

pub fn params() -> CParams {
    CParams::default().typesize(TYPESIZE as i32).codec(codec::id::LZ4)
}

/// Returns the data of a chunk, which compress to about half their size.
pub fn data(number: u8, len: usize) -> Vec<u8> {
    let mut noise = u32::from(number) + 1;
    (0..len)
        .map(|i| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if i % TYPESIZE < 2 { (noise >> 24) as u8 } else { number }
        })
        .collect()
}

pub fn chunk(number: u8, len: usize) -> Vec<u8> {
    let mut compressor = Compressor::new(params()).unwrap();
    compressor.compress_to_vec(&data(number, len)).unwrap()
}

/// The complete state of a super-chunk.
#[derive(Debug, PartialEq, Eq)]
pub struct Content {
    pub chunks: Vec<Vec<u8>>,
    metalayer: Option<Vec<u8>>,
    pub vlmetalayers: Vec<(String, Vec<u8>)>,
}

pub fn content(schunk: &SChunk) -> Result<Content> {
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
    Ok(Content { chunks, metalayer: schunk.metalayer("fixed"), vlmetalayers })
}

/// Returns a disk with a super-chunk of some chunks and metalayers.
pub fn filled(kind: Kind, guards: Guards) -> Disk {
    let disk = Disk::new();
    let mut schunk = kind.made_as().create(&disk, guards).unwrap();
    schunk.add_metalayer("fixed", b"0123456789").unwrap();
    for number in 0..CHUNKS {
        schunk.append_chunk(&chunk(number, CHUNK)).unwrap();
    }
    schunk.add_vlmetalayer("one", &data(50, 700)).unwrap();
    schunk.add_vlmetalayer("two", &data(51, 700)).unwrap();
    kind.moved(disk)
}

/// Returns a disk with an empty super-chunk.
pub fn empty(kind: Kind, guards: Guards) -> Disk {
    let disk = Disk::new();
    kind.made_as().create(&disk, guards).unwrap();
    kind.moved(disk)
}

/// The name and the change.
pub type Change = (&'static str, fn(&mut SChunk) -> Result<()>);

/// Changes of a non-empty super-chunk.
const CHANGES: [Change; 16] = [
    ("append", |s| s.append(&data(9, CHUNK)).map(drop)),
    ("append a short chunk", |s| s.append_chunk(&chunk(9, 500)).map(drop)),
    ("append zeros", |s| s.append(&[0; CHUNK]).map(drop)),
    ("insert first", |s| s.insert_chunk(0, &chunk(9, CHUNK)).map(drop)),
    ("insert within", |s| s.insert_chunk(2, &chunk(9, CHUNK)).map(drop)),
    ("update alike", |s| s.update_chunk(1, &chunk(9, CHUNK)).map(drop)),
    ("update by zeros", |s| {
        let mut compressor = Compressor::new(params())?;
        s.update_chunk(1, &compressor.compress_to_vec(&[0; CHUNK])?).map(drop)
    }),
    ("update the last", |s| s.update_chunk(3, &chunk(9, CHUNK)).map(drop)),
    ("delete", |s| s.delete_chunk(1).map(drop)),
    ("delete the last", |s| s.delete_chunk(3).map(drop)),
    ("reorder", |s| s.reorder(&[3, 1, 0, 2])),
    ("set a slice", |s| s.set_slice(100, 200, &data(9, 400))),
    ("update a metalayer", |s| s.update_metalayer("fixed", b"9876543210")),
    ("add a vlmetalayer", |s| s.add_vlmetalayer("three", &data(9, 900))),
    ("update a vlmetalayer", |s| s.update_vlmetalayer("one", &data(9, 900))),
    ("delete a vlmetalayer", |s| s.delete_vlmetalayer("one")),
];

/// Changes of an empty super-chunk.
const FIRST_CHANGES: [Change; 4] = [
    ("add a metalayer", |s| s.add_metalayer("fixed", b"content")),
    ("append first", |s| s.append(&data(9, CHUNK)).map(drop)),
    ("fill", |s| s.fill(6000, Special::Zero, CHUNK as i32).map(drop)),
    ("add a vlmetalayer first", |s| s.add_vlmetalayer("one", &data(9, 900))),
];

/// Makes several changes in one transaction.
fn at_once(s: &mut SChunk, f: impl FnOnce(&mut SChunk) -> Result<()>) -> Result<()> {
    let mut transaction = s.transaction()?;
    f(&mut transaction)?;
    transaction.commit()
}

/// The size of a metalayer that makes the header longer than a sector, in bytes.
const LONG: usize = 600;

/// Removes all chunks.
fn clear(s: &mut SChunk) -> Result<()> {
    while s.nchunks() > 0 {
        s.delete_chunk(s.nchunks() - 1)?;
    }
    Ok(())
}

/// Transactions of a non-empty super-chunk.
const TRANSACTIONS: [Change; 12] = [
    ("append three", |s| {
        at_once(s, |s| (10..13).try_for_each(|number| s.append(&data(number, CHUNK)).map(drop)))
    }),
    ("update one often", |s| {
        at_once(s, |s| {
            (10..14).try_for_each(|number| s.update_chunk(1, &chunk(number, CHUNK)).map(drop))
        })
    }),
    ("change the chunks", |s| {
        at_once(s, |s| {
            s.update_chunk(1, &chunk(9, CHUNK))?;
            s.delete_chunk(1)?;
            s.insert_chunk(1, &chunk(10, CHUNK))?;
            s.reorder(&[3, 1, 0, 2])?;
            s.set_slice(100, 4000, &data(9, 4 * 3900))
        })
    }),
    ("change all kinds", |s| {
        at_once(s, |s| {
            s.append(&[0; CHUNK])?;
            s.update_metalayer("fixed", b"9876543210")?;
            s.update_vlmetalayer("one", &data(9, 900))?;
            s.delete_vlmetalayer("two")
        })
    }),
    ("change the metalayers", |s| {
        at_once(s, |s| {
            s.add_vlmetalayer("three", &data(9, 900))?;
            s.update_metalayer("fixed", b"9876543210")
        })
    }),
    ("change a metalayer", |s| at_once(s, |s| s.update_metalayer("fixed", b"9876543210"))),
    ("delete all", |s| at_once(s, clear)),
    ("delete all and append", |s| {
        at_once(s, |s| {
            clear(s)?;
            s.append(&data(9, CHUNK)).map(drop)
        })
    }),
    ("delete all and add a metalayer", |s| {
        at_once(s, |s| {
            s.append(&data(8, CHUNK))?;
            clear(s)?;
            s.add_metalayer("more", &data(7, 5000))?;
            s.append(&data(9, CHUNK))?;
            s.append(&data(10, CHUNK)).map(drop)
        })
    }),
    ("delete all and fill", |s| {
        at_once(s, |s| {
            clear(s)?;
            s.fill(6000, Special::Zero, CHUNK as i32).map(drop)
        })
    }),
    ("commit within", |s| {
        at_once(s, |s| {
            s.append(&data(9, CHUNK))?;
            at_once(s, |s| s.update_chunk(4, &chunk(10, CHUNK)).map(drop))?;
            s.update_chunk(4, &chunk(11, CHUNK)).map(drop)
        })
    }),
    ("set a slice over chunks", |s| s.set_slice(100, 5000, &data(9, 4 * 4900))),
];

/// Transactions of an empty super-chunk.
const FIRST_TRANSACTIONS: [Change; 3] = [
    ("append first", |s| {
        at_once(s, |s| {
            s.append(&data(9, CHUNK))?;
            s.append(&data(10, CHUNK)).map(drop)
        })
    }),
    ("add a metalayer and append", |s| {
        at_once(s, |s| {
            s.add_metalayer("fixed", &data(1, LONG))?;
            s.append(&data(9, CHUNK))?;
            s.append(&data(10, CHUNK))?;
            s.add_vlmetalayer("one", &data(9, 900))
        })
    }),
    ("add metalayers", |s| {
        at_once(s, |s| {
            s.add_vlmetalayer("one", &data(9, 900))?;
            s.add_metalayer("fixed", b"content")
        })
    }),
];

/// Calls `f` with each transaction and a disk for it.
pub fn each_transaction(kind: Kind, guards: Guards, mut f: impl FnMut(&Disk, Change)) {
    let (filled, empty) = (filled(kind, guards), empty(kind, guards));
    for change in TRANSACTIONS {
        f(&filled, change);
    }
    for change in FIRST_TRANSACTIONS {
        f(&empty, change);
    }
    let disk = Disk::new();
    let mut schunk = kind.made_as().create(&disk, guards).unwrap();
    schunk.add_metalayer("fixed", &data(1, LONG)).unwrap();
    schunk.append_chunk(&chunk(0, CHUNK)).unwrap();
    drop(schunk);
    let long = kind.moved(disk);
    f(
        &long,
        ("change a long header", |s| {
            at_once(s, |s| {
                s.update_metalayer("fixed", &data(2, LONG))?;
                s.append(&data(9, CHUNK)).map(drop)
            })
        }),
    );
}

/// Calls `f` with each change and a disk for it.
pub fn each_change(kind: Kind, guards: Guards, mut f: impl FnMut(&Disk, Change)) {
    let (filled, empty) = (filled(kind, guards), empty(kind, guards));
    for change in CHANGES {
        f(&filled, change);
    }
    for change in FIRST_CHANGES {
        f(&empty, change);
    }
}
