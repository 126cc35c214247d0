//! Runs the checks of files, journals and sparse frames on the seeds, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test files` in this directory writes `seeds-convert/`,
//! `seeds-journal/` and `seeds-sparse/`.

use std::collections::BTreeMap;

use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::io::journal::{Image, Record};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::convert::{self, Destination, Reading};
use ferroblosc_fuzz::files::{Scratch, parse, text_of, text_of_directory};
use ferroblosc_fuzz::seeds::{
    assert_survives, converted, each_change, each_prefix, folder, write_if_requested,
};
use ferroblosc_fuzz::{convert as checks, journal, sparse};

type Seeds = BTreeMap<&'static str, Vec<u8>>;

/// Returns a file of each format that can be in one.
fn files() -> Seeds {
    BTreeMap::from([
        ("blosc1", converted(Destination::Blosc1)),
        ("blosc2", converted(Destination::Blosc2)),
        ("b2frame", converted(Destination::Frame { directory: false })),
        ("b2nd", converted(Destination::B2nd { directory: false })),
        ("blp", converted(Destination::Bloscpack)),
        ("npy", converted(Destination::Npy)),
        ("npz", converted(Destination::Npz)),
    ])
}

/// Changes a new super-chunk of three chunks and a metalayer.
fn filled(storage: Storage, chunk: u8) -> SChunk {
    let params = CParams::default().typesize(4);
    let mut schunk = SChunk::create(storage, params, DParams::default()).unwrap();
    schunk.add_metalayer("first", b"0123456789").unwrap();
    let items: Vec<u8> = (0..100u32).flat_map(|item| (item / 3).to_le_bytes()).collect();
    schunk.append(&items).unwrap();
    schunk.append(&[chunk; 400]).unwrap();
    schunk.append(&items[..80]).unwrap();
    schunk.add_vlmetalayer("text", b"a text of variable length").unwrap();
    schunk
}

/// Returns the text of a frame and the journal of a change to another frame.
fn journaled(before: &[u8], after: &[u8]) -> Vec<u8> {
    let header = 87.min(before.len());
    let record = |range: std::ops::Range<usize>, end: usize| Record {
        position: range.start as u64,
        before: before[range.clone()].to_vec(),
        after: Some(after[range.start..end].to_vec()),
    };
    let image = Image {
        inode: 0,
        created_ns: 0,
        start: 0,
        len: (before.len() as u64, after.len() as u64),
        size: (before.len() as u64, after.len() as u64),
        beside: 0,
        records: vec![record(0..header, header), record(header + 200..before.len(), after.len())],
    };
    let journal = image.encode().unwrap();
    text_of([("f", before), ("j", &journal)])
}

/// Returns frames beside a journal of a changed metalayer, of an added chunk and of a removed one.
fn journals() -> Seeds {
    let frame = |chunk| filled(Storage::frame(), chunk).to_bytes().unwrap();
    let mut longer = filled(Storage::frame(), 7);
    longer.append_chunk(&filled(Storage::frame(), 9).chunk(1).unwrap()).unwrap();
    let longer = longer.to_bytes().unwrap();
    BTreeMap::from([
        ("updated", journaled(&frame(7), &frame(8))),
        ("grown", journaled(&frame(7), &longer)),
        ("shrunk", journaled(&longer, &frame(7))),
        ("diary", text_of([("f", &frame(7)[..]), ("j", b"a diary")])),
        ("old", text_of([("f", &frame(7)[..]), ("j", b"B2JRNL01 and more")])),
    ])
}

/// Returns the texts of directories: a frame, one with checksums, and one with other files.
fn directories() -> Seeds {
    let text = |storage: fn(&std::path::Path) -> Storage| {
        let scratch = Scratch::new();
        let path = scratch.path("d.b2frame");
        filled(storage(&path), 7).close().unwrap();
        text_of_directory(&path)
    };
    let plain = text(|path| Storage::directory(path));
    let others = text_of([("notes.txt", &b"mine"[..]), ("000000ff.chunk", b"no chunk")]);
    BTreeMap::from([
        ("others", [plain.clone(), others].concat()),
        ("plain", plain),
        ("checksums", text(|path| Storage::directory(path).checksums())),
    ])
}

fn are_written(name: &str, seeds: Seeds) {
    write_if_requested(&folder(name), seeds.clone());
    for (seed, bytes) in seeds {
        assert!(bytes.len() <= 4096, "{name}/{seed} is longer than inputs are: {}", bytes.len());
        assert!(std::fs::read(folder(name).join(seed)).is_ok(), "{name}/{seed} is missing");
    }
}

#[test]
fn the_seeds_of_convert_are_files_of_all_formats() {
    are_written("seeds-convert", files());
    for (name, bytes) in files() {
        let scratch = Scratch::new();
        let path = scratch.file("data", &bytes);
        let found = convert::detect(&path).unwrap();
        assert_eq!(found.format.name(), name);
        assert!(convert::verify(&path, &found, &Reading::default()).unwrap().is_intact(), "{name}");
    }
}

#[test]
fn the_seeds_of_directories_are_frames() {
    are_written("seeds-sparse", directories());
    for (name, text) in directories() {
        let scratch = Scratch::new();
        let path = scratch.directory("d.b2frame", &text);
        let schunk = SChunk::open(Storage::directory(path), DParams::default()).unwrap();
        assert_eq!((schunk.nchunks(), schunk.nbytes()), (3, 880), "{name}");
    }
}

#[test]
fn the_seeds_of_journals_have_a_frame() {
    are_written("seeds-journal", journals());
    for (name, text) in journals() {
        let files = parse(&text);
        assert!(SChunk::from_bytes(&files[0].1, DParams::default()).is_ok(), "{name}");
    }
}

/// Runs a check on all prefixes of the seeds and on seeds with one byte changed.
fn survive(seeds: Seeds, check: fn(&[u8])) {
    // Each check writes files, so there are few values per byte.
    let others = |was| [was ^ 1, was ^ 0x80, 0xFF];
    for (name, seed) in seeds {
        each_prefix(&seed, |bytes| assert_survives(name, bytes, check));
        each_change(&seed, others, |bytes| assert_survives(name, bytes, check));
    }
}

#[test]
fn damaged_files_pass_the_checks() {
    survive(files(), checks::file);
}

#[test]
fn damaged_directories_pass_the_checks() {
    survive(directories(), sparse::directory);
}

#[test]
fn damaged_journals_pass_the_checks() {
    survive(journals(), journal::journal);
}
