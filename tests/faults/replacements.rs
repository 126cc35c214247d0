//! Changes of a super-chunk whose file another program replaces: it renames a new file over the
//! path.

use super::changes::{CHUNK, Guards, Kind, chunk, data, params};
use ferroblosc::Result;
use ferroblosc::chunk::DParams;
use ferroblosc::io::{Backend, FileOps, FileSystem, Mode, Stream};
use ferroblosc::schunk::{SChunk, Storage};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The file system, and another program that renames a file over the next file that is opened for
/// changes.
#[derive(Default)]
struct Replacing(Mutex<Option<PathBuf>>);

impl Backend for Replacing {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        if mode == Mode::Update
            && let Some(from) = self.0.lock().unwrap().take()
        {
            std::fs::rename(from, path).unwrap();
        }
        FileSystem.open(path, mode)
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        FileSystem.file_ops()
    }
}

fn storage(kind: Kind, path: &Path, durable: bool) -> Storage {
    kind.at(path, Guards { durable, ..Guards::default() })
}

/// Creates a super-chunk of chunks with these numbers.
fn create(storage: Storage, numbers: &[u8]) {
    let mut schunk = SChunk::create(storage, params(), DParams::default()).unwrap();
    schunk.add_metalayer("fixed", b"0123456789").unwrap();
    for &number in numbers {
        schunk.append(&data(number, CHUNK)).unwrap();
    }
}

/// Returns the chunks; panics if one is damaged.
fn chunks(storage: Storage) -> Vec<Vec<u8>> {
    let mut schunk = SChunk::open(storage, DParams::default()).unwrap();
    assert_eq!(schunk.verify().unwrap().bad_chunks, []);
    schunk.chunks().map(Result::unwrap).collect()
}

/// The name and the change.
type Change = (&'static str, fn(&mut SChunk) -> Result<()>);

const CHANGES: [Change; 6] = [
    ("append", |s| s.append(&data(9, CHUNK)).map(drop)),
    ("insert", |s| s.insert_chunk(0, &chunk(9, CHUNK)).map(drop)),
    ("update", |s| s.update_chunk(0, &chunk(9, CHUNK)).map(drop)),
    ("delete", |s| s.delete_chunk(0).map(drop)),
    ("update a metalayer", |s| s.update_metalayer("fixed", b"9876543210")),
    ("add a vlmetalayer", |s| s.add_vlmetalayer("more", &data(9, 900))),
];

fn each(f: impl Fn(&str, bool, fn(&mut SChunk) -> Result<()>)) {
    for (name, change) in CHANGES {
        for durable in [false, true] {
            f(&format!("{name}, durable: {durable}"), durable, change);
        }
    }
}

#[test]
fn a_change_after_a_replacement_is_made_in_the_new_file() {
    each(|context, durable, change| {
        let folder = tempfile::tempdir().unwrap();
        let [old, new, changed] = ["old", "new", "changed"].map(|name| folder.path().join(name));
        let at = |path: &Path| storage(Kind::File, path, durable);
        create(at(&old), &[1, 2]);
        create(at(&new), &[3, 4, 5]);
        create(at(&changed), &[3, 4, 5]);
        let mut schunk = SChunk::open(at(&old), DParams::default()).unwrap();
        assert!(schunk.decompress_to_vec(1).unwrap() == data(2, CHUNK));
        std::fs::rename(&new, &old).unwrap();
        change(&mut schunk).unwrap();
        change(&mut SChunk::open(at(&changed), DParams::default()).unwrap()).unwrap();
        assert!(chunks(at(&old)) == chunks(at(&changed)), "{context}");
    });
}

#[test]
fn a_file_that_is_replaced_during_a_change_is_not_damaged() {
    each(|context, durable, change| {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        let at = |path: &Path| storage(Kind::File, path, durable);
        create(at(&old), &[1, 2]);
        create(at(&new), &[3, 4, 5]);
        let expected = chunks(at(&new));
        let backend = Arc::new(Replacing::default());
        let opened = SChunk::open(at(&old).backend(backend.clone()), DParams::default());
        let mut schunk = opened.unwrap();
        assert!(schunk.decompress_to_vec(1).unwrap() == data(2, CHUNK));
        *backend.0.lock().unwrap() = Some(new);
        let error = change(&mut schunk).unwrap_err();
        assert!(backend.0.lock().unwrap().is_none(), "{context}");
        assert!(error.to_string().contains("was renamed to its path"), "{context}: {error}");
        assert!(chunks(at(&old)) == expected, "{context}");
        // The next change is made in the new file.
        change(&mut schunk).unwrap();
        chunks(at(&old));
    });
}
