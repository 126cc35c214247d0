//! Frames in files with a hostile journal: opened, recovered and changed.
//!
//! The input is a text (see [`files`]) of two files: the frame `f` and the journal `j`. Of most
//! journals, the identity of the file and all checksums are made valid, so that mutations reach the
//! code after these checks.

use ferroblosc::chunk::DParams;
use ferroblosc::frame::recover_journal;
use ferroblosc::io::journal::{Image, Record, UNKNOWN};
use ferroblosc::io::{Backend, FileSystem, Mode};
use ferroblosc::schunk::{SChunk, Storage};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::alloc::largest_during;
use crate::calls;
use crate::draw::Draw;
use crate::files::{self, Scratch};

/// The first bytes of all journals that are used.
const MAGIC: &[u8] = b"B2JRNL02";
/// The first bytes of journals of older formats, which are kept.
const OLD_MAGICS: [&[u8]; 2] = [b"B2JRNL01", b"blpkundo"];
/// The size of a head and of a record without bytes of the file, in bytes.
const HEAD_LEN: usize = 96;
/// The size of a checksum in bytes.
const WORD: usize = 8;
/// The maximum position of a record in a journal whose checksums are made valid.
const MAX_POSITION: u64 = 1 << 40;
/// The maximum size of a chunk that is read, in bytes.
const MAX_NBYTES: usize = 1 << 20;
/// The maximum number of chunks that are read.
const MAX_CHUNKS: i64 = 40;
/// The maximum size of a single allocation for any input, in bytes. Few bytes may declare a
/// metalayer of many zeros.
const FIXED_ALLOCATION: usize = 512 << 20;

/// The numbers and records of a journal, regardless of its checksums.
struct Recipe {
    start: u64,
    len: (u64, u64),
    size: (u64, u64),
    records: Vec<Record>,
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

impl Recipe {
    fn parse(bytes: &[u8]) -> Option<Recipe> {
        let mut rest = bytes.get(HEAD_LEN..)?;
        let mut records = Vec::new();
        while let (Some(position), Some(before), Some(after)) =
            (word(rest, 0), word(rest, WORD), word(rest, 2 * WORD))
        {
            rest = &rest[3 * WORD..];
            let mut cut = |len: u64| {
                let len = rest.len().min(usize::try_from(len).unwrap_or(usize::MAX));
                let (bytes, left) = rest.split_at(len);
                rest = left;
                bytes.to_vec()
            };
            let before = cut(before);
            let after = (after != UNKNOWN).then(|| cut(after));
            records.push(Record { position, before, after });
            rest = &rest[WORD.min(rest.len())..];
        }
        Some(Recipe {
            start: word(bytes, 24)?,
            len: (word(bytes, 32)?, word(bytes, 40)?),
            size: (word(bytes, 48)?, word(bytes, 56)?),
            records,
        })
    }

    /// Returns a journal of the file with valid checksums.
    fn encode(self, file: &Path) -> Option<Vec<u8>> {
        let stream = FileSystem.open(file, Mode::Read).ok()?;
        // Journals with other positions are refused before their content is compared.
        if self.records.iter().any(|record| record.position > MAX_POSITION) {
            return None;
        }
        let Recipe { start, len, size, records } = self;
        Image::new(&*stream, start, len, size, records).ok()?.encode().ok()
    }
}

/// Writes a part of the change to the file: each record is old, new, or half new.
fn interrupt(path: &Path, recipe: &Recipe, draw: &mut Draw) {
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("the frame");
    for record in &recipe.records {
        let bytes = match (&record.after, draw.below(4)) {
            (Some(after), 0) => after.as_slice(),
            (Some(after), 1) => &after[..after.len() / 2],
            (_, 2) => record.before.as_slice(),
            _ => continue,
        };
        let is_inside = record.position.checked_add(bytes.len() as u64);
        if is_inside.is_some_and(|end| end <= MAX_NBYTES as u64) {
            file.write_all_at(bytes, record.position).expect("a frame that can be written");
        }
    }
}

/// The readable content of a frame: its chunks and metalayers.
#[derive(Debug, PartialEq)]
struct Content {
    chunks: Vec<Option<Vec<u8>>>,
    layers: Vec<(String, Option<Vec<u8>>)>,
}

impl Content {
    fn of(schunk: &SChunk) -> Content {
        let mut dest = vec![0; MAX_NBYTES];
        let numbers = 0..schunk.nchunks().min(MAX_CHUNKS);
        let chunks = numbers.map(|number| {
            dest.fill(0);
            let len = schunk.decompress(number, &mut dest).ok()?;
            Some(dest[..len].to_vec())
        });
        let chunks = chunks.collect();
        let names = schunk.metalayer_names().into_iter();
        let mut layers: Vec<_> =
            names.map(|name| (name.clone(), schunk.metalayer(&name))).collect();
        let names = schunk.vlmetalayer_names().into_iter();
        layers.extend(names.map(|name| (name.clone(), schunk.vlmetalayer(&name).ok())));
        Content { chunks, layers }
    }

    fn at(path: &Path) -> Option<Content> {
        SChunk::open(Storage::file(path), DParams::default()).ok().map(|s| Content::of(&s))
    }
}

/// Checks a frame and a journal: reading changes no file, recovery keeps the data that readers see,
/// and no other file is removed or changed.
pub fn journal(text: &[u8]) {
    let files = files::parse(text);
    let find = |name: &str| {
        let mut named = files.iter().filter(|(path, _)| path == Path::new(name));
        named.next().map(|(_, bytes)| bytes.as_slice())
    };
    let (Some(frame), Some(stored)) = (find("f"), find("j")) else {
        return;
    };
    let mut draw = Draw::new(text);
    let scratch = Scratch::new();
    let path = scratch.file("f", frame);
    let mut journal = stored.to_vec();
    if !draw.one_in(8)
        && let Some(recipe) = Recipe::parse(stored)
    {
        if draw.one_in(2) {
            interrupt(&path, &recipe, &mut draw);
        }
        journal = recipe.encode(&path).unwrap_or(journal);
    }
    let journal_path = scratch.file("f.b2journal", &journal);
    let others: Vec<_> = ["f.b2journal~", "f2.b2journal", "g"]
        .map(|name| scratch.file(name, name.as_bytes()))
        .to_vec();
    let is_ours = journal.starts_with(MAGIC)
        || MAGIC.starts_with(&journal)
        || journal.iter().take(512).all(|&byte| byte == 0);
    let is_kept = !is_ours || OLD_MAGICS.iter().any(|magic| journal.starts_with(magic));
    let ((), largest) = largest_during(|| run(&path, &journal_path, &journal, &mut draw));
    if is_kept {
        let found = std::fs::read(&journal_path).expect("a file that is not a journal was removed");
        assert!(found == journal, "a file that is not a journal has changed");
    }
    for other in others {
        let name = other.file_name().and_then(|name| name.to_str()).expect("a name");
        let found = std::fs::read(&other).expect("another file was removed");
        assert!(found == name.as_bytes(), "another file has changed");
    }
    let justified = FIXED_ALLOCATION + 16 * text.len();
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
}

fn run(path: &Path, journal_path: &Path, journal: &[u8], draw: &mut Draw) {
    let was = std::fs::read(path).expect("the frame");
    let before = Content::at(path);
    let _ = ferroblosc::frame::describe_journal(path);
    assert!(std::fs::read(path).expect("the frame") == was, "reading has changed the frame");
    let found = std::fs::read(journal_path).expect("the journal");
    assert!(found == journal, "reading has changed the journal");
    if draw.one_in(2) {
        let recovered = recover_journal(path);
        let after = Content::at(path);
        if before.is_some() {
            assert!(after == before, "recovery ({recovered:?}) has lost content");
        }
    }
    let Ok(mut schunk) = SChunk::open(Storage::file(path), DParams::default()) else {
        return;
    };
    let before = Content::of(&schunk);
    if schunk.add_vlmetalayer("added", &[draw.below(256) as u8; 20]).is_ok() {
        let mut after = Content::at(path).expect("the frame after a new metalayer");
        assert!(after.layers.pop().is_some_and(|(name, _)| name == "added"));
        assert!(after == before, "other content after a new metalayer");
    }
    calls::change_often(&mut schunk, &mut calls::Draw(draw.below(usize::MAX) as u64));
}
