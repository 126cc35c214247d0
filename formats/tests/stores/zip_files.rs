//! Parts of zip files that are not the content of members: bytes before and between them, comments,
//! times and extra fields.

use super::build::{Member, Scratch, deflated, embed, empty_tree, frame, map, stored, zip};
use super::common::fixture;
use super::writing::{array, bytes_of, is_sound, schunk};
use ferroblosc::chunk::DParams;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::store::{Error, NewLeaf, Store, Value, WriteOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable with the directory that a child of a test uses.
const CHILD_PATH: &str = "FERROBLOSC_TEST_PATH";

const PREFIX: &[u8] = b"#!/bin/sh\nexec b2 ls \"$0\"\n";
/// It contains the magic of an end record.
const COMMENT: &[u8] = b"measured in 2024 PK\x05\x06 by hand";

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u16_at(bytes, at) | u16_at(bytes, at + 2) << 16
}

/// An entry of the directory of a zip file, and the local header of the member.
struct Entry {
    name: Vec<u8>,
    /// The offset of the entry in the file, and that of the local header.
    at: usize,
    local: usize,
    extra: Vec<u8>,
    comment: Vec<u8>,
    local_extra: Vec<u8>,
}

/// Returns the entries of a zip file whose comment has `comment` bytes.
fn entries(bytes: &[u8], comment: usize) -> Vec<Entry> {
    let end = bytes.len() - comment - 22;
    let mut at = u32_at(bytes, end + 16);
    let mut entries = Vec::new();
    while at < end {
        assert!(bytes[at..].starts_with(b"PK\x01\x02"));
        let local = u32_at(bytes, at + 42);
        assert!(bytes[local..].starts_with(b"PK\x03\x04"));
        let mut rest = &bytes[at + 46..];
        let mut next = |len: usize| {
            let (field, after) = rest.split_at(len);
            rest = after;
            field.to_vec()
        };
        let lens = [28, 30, 32].map(|field| u16_at(bytes, at + field));
        let (name, extra, comment) = (next(lens[0]), next(lens[1]), next(lens[2]));
        let start = local + 30 + u16_at(bytes, local + 26);
        let local_extra = bytes[start..][..u16_at(bytes, local + 28)].to_vec();
        entries.push(Entry { name, at, local, extra, comment, local_extra });
        at += 46 + lens.iter().sum::<usize>();
    }
    entries
}

/// Adds a prefix and a comment to a zip file. The offsets count the prefix if `is_counted`.
fn surround(bytes: &[u8], is_counted: bool) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if is_counted {
        let shift = |bytes: &mut [u8], at: usize| {
            let offset = u32_at(bytes, at) + PREFIX.len();
            bytes[at..at + 4].copy_from_slice(&u32::try_from(offset).unwrap().to_le_bytes());
        };
        for entry in entries(&bytes, 0) {
            shift(&mut bytes, entry.at + 42);
        }
        let at = bytes.len() - 6;
        shift(&mut bytes, at);
    }
    let len = bytes.len();
    bytes[len - 2..].copy_from_slice(&u16::try_from(COMMENT.len()).unwrap().to_le_bytes());
    [PREFIX, &bytes, COMMENT].concat()
}

fn add(path: &Path, key: &str) {
    let mut writer = Store::change(path).unwrap();
    writer.put(key, array(3)).unwrap();
    writer.commit().unwrap();
}

#[test]
fn row_t34_a_change_keeps_the_comment_and_the_bytes_before_the_members() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], b"abc");
    let plain = zip(&[stored("a.b2f", &leaf), stored("README", b"text"), empty_tree()]);
    let empty = zip(&[empty_tree()]);
    let cases = [(&plain, true), (&plain, false), (&empty, true), (&empty, false)];
    for (number, (bytes, is_counted)) in cases.into_iter().enumerate() {
        let path = scratch.file(&format!("{number}.b2z"), &surround(bytes, is_counted));
        add(&path, "/added");
        let changed = std::fs::read(&path).unwrap();
        assert!(changed.starts_with(&[PREFIX, b"PK\x03\x04"].concat()), "{number}");
        assert!(changed.ends_with(COMMENT), "{number}");
        // The offsets count the prefix.
        assert_eq!(entries(&changed, COMMENT.len())[0].local, PREFIX.len());
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        let (leaves, others) = if number < 2 { (2, 1) } else { (1, 0) };
        assert_eq!((store.leaf_keys().count(), store.foreign_files().count()), (leaves, others));
        // A change without effect writes the same bytes.
        Store::change(&path).unwrap().commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), changed);
        // Copies that are zip files have both, others report them.
        let store = Store::open(&path).unwrap();
        let copy = scratch.path(&format!("copy-{number}.b2z"));
        let converted = store.convert(&copy, &WriteOptions::default()).unwrap();
        assert_eq!(converted.left_out, [""; 0]);
        let repaired = scratch.path(&format!("repaired-{number}.b2z"));
        Store::repair(&path, &repaired, &WriteOptions::default()).unwrap();
        for path in [copy, repaired] {
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes.starts_with(PREFIX) && bytes.ends_with(COMMENT), "{number}");
            let store = Store::open(&path).unwrap();
            is_sound(&store);
            assert_eq!(store.leaf_keys().count(), leaves);
        }
        for suffix in ["b2d", "b2e"] {
            let copy = scratch.path(&format!("copy-{number}.{suffix}"));
            let left_out = store.convert(&copy, &WriteOptions::default()).unwrap().left_out;
            assert_eq!(left_out[0], "the comment of the zip file");
            let text = format!("{} bytes before the members of the zip file", PREFIX.len());
            assert_eq!(left_out[1], text);
        }
    }
}

#[test]
fn row_t34_members_that_do_not_change_keep_their_description() {
    let scratch = Scratch::new();
    // A time, a private extra field, and a name in code page 437.
    let extra = [&0x7ffe_u16.to_le_bytes()[..], &3u16.to_le_bytes(), b"abc"].concat();
    let leaf = frame(&[], &[], b"abc");
    let mut readme = deflated("README", &b"text ".repeat(100));
    readme.extra.clone_from(&extra);
    let mut named = stored("", b"data");
    (named.name, named.flags) = (b"caf\x82.txt".to_vec(), 0);
    let bytes = zip(&[stored("a.b2f", &leaf), stored("b.b2f", &leaf), readme, named, empty_tree()]);
    let mut bytes = bytes;
    for entry in entries(&bytes, 0) {
        // The system, the time and the date, and the attributes.
        bytes[entry.at + 4..entry.at + 6].copy_from_slice(&[63, 3]);
        bytes[entry.at + 12..entry.at + 16].copy_from_slice(&[1, 2, 3, 4]);
        bytes[entry.local + 10..entry.local + 14].copy_from_slice(&[1, 2, 3, 4]);
        bytes[entry.at + 36..entry.at + 42].copy_from_slice(&[1, 0, 0, 0, 0xed, 0x81]);
    }
    let path = scratch.file("s.b2z", &bytes);
    let mut writer = Store::change(&path).unwrap();
    writer.replace("/b", schunk(b"new")).unwrap();
    writer.set_attr("/", "unit", &Value::Int(1)).unwrap();
    writer.commit().unwrap();
    is_sound(&Store::open(&path).unwrap());
    let changed = std::fs::read(&path).unwrap();
    let names: [&[u8]; 4] = [b"README", b"a.b2f", b"caf\x82.txt", b"embed.b2e"];
    let mut kept = Vec::new();
    for entry in entries(&changed, 0) {
        let time = &changed[entry.at + 12..entry.at + 16];
        assert_eq!(time, &changed[entry.local + 10..entry.local + 14]);
        if time != [1, 2, 3, 4] {
            assert_eq!(time, [0, 0, 33, 0]);
            continue;
        }
        assert_eq!(changed[entry.at + 4..entry.at + 6], [63, 3]);
        assert_eq!(changed[entry.at + 36..entry.at + 42], [1, 0, 0, 0, 0xed, 0x81]);
        let is_utf8 = changed[entry.at + 9] & 8 != 0;
        assert_eq!(is_utf8, entry.name.is_ascii(), "as it was");
        let is_readme = entry.name == b"README";
        assert_eq!(entry.extra, if is_readme { &extra[..] } else { b"" });
        kept.push(entry.name);
    }
    kept.sort();
    assert_eq!(kept, names);
    assert_eq!(Store::open(&path).unwrap().foreign_files().count(), 2);
}

#[test]
fn row_t34_comments_and_local_fields_of_members_are_kept() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], b"abc");
    let mut bytes = zip(&[stored("a.b2f", &leaf), empty_tree()]);
    // The comment of the first member is part of the directory.
    let end = bytes.len() - 22;
    let at = entries(&bytes, 0)[0].at;
    bytes[at + 32] = 4;
    let after = at + 46 + 5;
    bytes.splice(after..after, *b"note");
    let size = u32_at(&bytes, end + 4 + 12) + 4;
    bytes[end + 4 + 12..end + 4 + 16].copy_from_slice(&u32::try_from(size).unwrap().to_le_bytes());
    let path = scratch.file("s.b2z", &bytes);
    add(&path, "/b");
    let changed = std::fs::read(&path).unwrap();
    let found = entries(&changed, 0);
    let entry = found.iter().find(|entry| entry.name == b"a.b2f").unwrap();
    assert_eq!(entry.comment, b"note");
    // The fields of local headers differ from those of the directory.
    let path = scratch.path("aligned.b2z");
    std::fs::copy(fixture("x_aligned.b2z"), &path).unwrap();
    let before = entries(&std::fs::read(&path).unwrap(), 0);
    add(&path, "/b");
    is_sound(&Store::open(&path).unwrap());
    let after = entries(&std::fs::read(&path).unwrap(), 0);
    assert!(before.iter().any(|entry| !entry.local_extra.is_empty()));
    for old in &before {
        let new = after.iter().find(|entry| entry.name == old.name).unwrap();
        assert_eq!(new.local_extra, old.local_extra);
    }
}

/// Inserts bytes before the directory of a zip file without a comment.
fn with_gap(bytes: &[u8], gap: &[u8]) -> Vec<u8> {
    let end = bytes.len() - 22;
    let directory = u32_at(bytes, end + 16);
    let mut made = [&bytes[..directory], gap, &bytes[directory..]].concat();
    let at = made.len() - 6;
    let offset = u32::try_from(directory + gap.len()).unwrap();
    made[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    made
}

#[test]
fn row_t34_a_change_that_would_lose_bytes_is_refused() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], b"abc");
    let plain = zip(&[stored("a.b2f", &leaf), empty_tree()]);
    let start = u32_at(&plain, plain.len() - 6);
    // A member that was removed from the directory only.
    let removed = zip(&[stored("old.b2f", &frame(&[], &[], b"lost"))]);
    let removed = &removed[..u32_at(&removed, removed.len() - 6)];
    // A record after the entries of the directory.
    let mut signed = plain.clone();
    let end = plain.len() - 22;
    signed.splice(end..end, *b"PK\x05\x05\x01\0x");
    let size = u32_at(&signed, end + 7 + 12) + 7;
    signed[end + 7 + 12..end + 7 + 16].copy_from_slice(&u32::try_from(size).unwrap().to_le_bytes());
    let cases = [
        ("removed", with_gap(&plain, removed), start..start + removed.len()),
        ("late", with_gap(&plain, b"\0\0\0x\0"), start + 3..start + 5),
        ("signed", signed, end..end + 7),
    ];
    for (name, bytes, lost) in cases {
        let path = scratch.file(&format!("{name}.b2z"), &bytes);
        let text = format!(
            "the bytes from {} to {} of the zip file, which are in no member",
            lost.start, lost.end
        );
        let error = Store::change(&path).unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{name}: {error}");
        assert!(error.to_string().ends_with(&format!("a change would lose {text}")), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name}");
        // A copy reports them.
        let copy = scratch.path(&format!("copy-of-{name}.b2z"));
        let store = Store::open(&path).unwrap();
        let converted = store.convert(&copy, &WriteOptions::default()).unwrap();
        assert_eq!(converted.left_out, std::slice::from_ref(&text), "{name}");
        add(&copy, "/b");
        let repaired = scratch.path(&format!("repaired-{name}.b2z"));
        let repaired = Store::repair(&path, &repaired, &WriteOptions::default()).unwrap();
        assert_eq!(repaired.left_out, [text], "{name}");
    }
    // Zeros, and the sizes after the data of members, are not lost.
    let path = scratch.file("zeros.b2z", &with_gap(&plain, &[0; 100_000]));
    add(&path, "/b");
    for name in ["x_datadesc.b2z", "x_zip64.b2z", "x_prefix.b2z", "x_comment.b2z"] {
        let path = scratch.path(name);
        std::fs::copy(fixture(name), &path).unwrap();
        let keys = Store::open(&path).unwrap().keys().len();
        add(&path, "/added");
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        assert_eq!(store.keys().len(), keys + 1, "{name}");
    }
}

#[test]
fn a_truncated_zip_file_with_a_prefix_is_repaired() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], b"abc");
    let bytes = surround(&zip(&[stored("a.b2f", &leaf), empty_tree()]), false);
    let path = scratch.file("s.b2z", &bytes[..bytes.len() - COMMENT.len() - 10]);
    let target = scratch.path("repaired.b2z");
    let repaired = Store::repair(&path, &target, &WriteOptions::default()).unwrap();
    assert_eq!(repaired.leaves, 1);
    assert_eq!(repaired.left_out, ["26 bytes before the members of the zip file"]);
    assert_eq!(bytes_of(&Store::open(&target).unwrap(), "/a"), b"abc");
    assert!(
        Store::repair(scratch.file("t.b2z", b""), scratch.path("u"), &WriteOptions::default())
            .is_err()
    );
}

#[test]
fn bytes_after_the_frame_of_an_unchanged_leaf_are_kept() {
    let scratch = Scratch::new();
    let leaf = [frame(&[], &[], b"abc"), b"more".to_vec()].concat();
    let text = stored("b.b2nd", b"not a frame");
    let path = scratch.file("s.b2z", &zip(&[stored("a.b2f", &leaf), text, empty_tree()]));
    add(&path, "/c");
    let changed = std::fs::read(&path).unwrap();
    for kept in [&leaf[..], b"not a frame"] {
        assert!(changed.windows(kept.len()).any(|bytes| bytes == kept));
    }
    let store = Store::open(&path).unwrap();
    assert_eq!(store.leaf("/a").unwrap().surplus(), 4);
}

/// Returns a store with an embedded leaf of incompressible data, with one changed byte.
fn with_changed_value() -> Vec<u8> {
    let mut number = 1u32;
    let data: Vec<u8> = (0..2000)
        .map(|_| {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            number.to_le_bytes()[3]
        })
        .collect();
    let leaf = frame(&[], &[], &data);
    let entry = map(vec![("offset", 0.into()), ("length", leaf.len().into())]);
    let content = embed("b2tree", map(vec![("/a", entry)]), &leaf);
    let at = content.windows(4).position(|bytes| bytes == &data[1000..1004]).unwrap();
    let mut member: Member = stored("embed.b2e", &content);
    member.data[at] ^= 1;
    zip(&[member])
}

#[test]
fn row_t32_changed_embedded_values_get_no_new_crc() {
    let scratch = Scratch::new();
    let bytes = with_changed_value();
    let path = scratch.file("s.b2z", &bytes);
    let store = Store::open(&path).unwrap();
    // The change is not visible otherwise.
    assert_eq!(bytes_of(&store, "/a").len(), 2000);
    let is_refused = |result: Result<(), Error>, name: &str| {
        assert!(matches!(result, Err(Error::Member { .. })), "{name}: {result:?}");
    };
    for threshold in [0, 1 << 20] {
        let mut options = WriteOptions::default();
        options.threshold = Some(threshold);
        let mut writer = Store::change_with(&path, &options).unwrap();
        writer.put("/b", array(3)).unwrap();
        is_refused(writer.commit(), "put");
    }
    let mut writer = Store::change(&path).unwrap();
    writer.set_attr("/a", "unit", &Value::Int(1)).unwrap();
    is_refused(writer.commit(), "attribute");
    let mut writer = Store::create(scratch.path("copy.b2z")).unwrap();
    is_refused(writer.copy_from(&store, "/a", "/a").map(drop), "copy");
    for name in ["copy.b2z", "copy.b2d", "copy.b2e"] {
        let converted = store.convert(scratch.path(name), &WriteOptions::default());
        is_refused(converted.map(drop), name);
    }
    let extracted = store.extract("/a", scratch.path("a.b2f"), &WriteOptions::default());
    is_refused(extracted.map(drop), "extract");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // A repair reports it.
    let repaired = Store::repair(&path, scratch.path("new.b2z"), &WriteOptions::default()).unwrap();
    let found = repaired.repaired.iter().any(|line| line.contains("CRC-32"));
    assert!(found && repaired.leaves == 1, "{repaired:?}");
}

#[test]
#[ignore = "run by another test as a child"]
fn child_that_adds_damaged_leaves() {
    // Without the variable, all ignored tests run.
    let Some(folder) = std::env::var_os(CHILD_PATH).map(PathBuf::from) else { return };
    let path = folder.join("damaged.b2frame");
    let open = |storage| SChunk::open(storage, DParams::default()).unwrap();
    let schunk = open(Storage::file(&path));
    let leaves = [NewLeaf::schunk(&schunk).unwrap(), NewLeaf::file(&path).unwrap()];
    for leaf in leaves {
        let mut writer = Store::create(folder.join("s.b2z")).unwrap();
        let added = writer.put("/a", leaf);
        assert!(matches!(added, Err(Error::Damaged { .. })), "{added:?}");
    }
}

/// A checksum that is computed when a frame is copied must not hide the damage from the check of
/// leaves that are added to a zip file.
#[test]
fn damaged_leaves_get_no_crc_if_the_environment_enables_checksums() {
    let scratch = Scratch::new();
    let items: Vec<u8> = (0..10_000_u32).map(|number| (number / 7) as u8).collect();
    let mut bytes = frame(&[], &[], &items);
    let chunk = SChunk::from_bytes(&bytes, DParams::default()).unwrap().chunk(0).unwrap().to_vec();
    let at = bytes.windows(chunk.len()).position(|bytes| bytes == chunk).unwrap() + 32;
    bytes[at..at + 4].fill(0x7f);
    scratch.file("damaged.b2frame", &bytes);
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "zip_files::child_that_adds_damaged_leaves", "--ignored"])
        .env(CHILD_PATH, scratch.path(""))
        .env("FERROBLOSC_CHECKSUMS", "1")
        .stdout(Stdio::null())
        .status();
    assert!(child.unwrap().success());
}
