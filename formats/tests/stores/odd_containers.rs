//! Directories, zip files and embed stores with unusual files, members and entries.

use crate::build::{Scratch, deflated, embed, empty_tree, frame, map, pack, stored, zip};
use crate::common::fixture;
use crate::writing::schunk;
use ferroblosc_formats::store::{
    Class, Error, NewLeaf, Options, Severity, Store, StoreKind, WriteOptions,
};
use std::fmt::Debug;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[track_caller]
fn refused<T: Debug>(result: Result<T, Error>, reason: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(reason), "{error} is not {reason}");
}

fn fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn entry(offset: usize, length: usize) -> rmpv::Value {
    map(vec![("offset", offset.into()), ("length", length.into())])
}

/// Creates a store with the leaf `/a`.
fn create(path: &Path) {
    let mut writer = Store::create(path).unwrap();
    writer.put("/a", schunk(b"data")).unwrap();
    writer.commit().unwrap();
}

#[test]
fn the_suffix_of_a_store_can_be_omitted() {
    let scratch = Scratch::new();
    for suffix in ["b2e", "b2z", "b2d"] {
        create(&scratch.path(&format!("s.{suffix}")));
        let store = Store::open(scratch.path("s")).unwrap();
        assert_eq!(store.path(), scratch.path(&format!("s.{suffix}")));
    }
    assert!(matches!(Store::open(scratch.path("t")), Err(Error::Storage { .. })));
}

/// A FIFO would block, and its bytes could not be read twice.
#[test]
fn special_files_are_not_read() {
    let scratch = Scratch::new();
    fifo(&scratch.path("f.b2z"));
    assert!(matches!(Store::open(scratch.path("f.b2z")), Err(Error::NotAStore(_))));
    assert!(NewLeaf::file(scratch.path("f.b2z")).is_err());
    let path = scratch.path("s.b2d");
    create(&path);
    fifo(&path.join("b.b2f"));
    std::fs::write(path.join(std::ffi::OsStr::from_bytes(b"\xff.b2f")), b"x").unwrap();
    std::os::unix::fs::symlink("/dev/null", path.join("c.b2f")).unwrap();
    let store = Store::open(&path).unwrap();
    assert!(store.leaf_keys().eq(["/a"]));
    let converted = store.convert(scratch.path("s.b2z"), &WriteOptions::default()).unwrap();
    let lost = converted.left_out.join("; ");
    assert!(lost.contains("\"b.b2f\" is not a file"), "{lost}");
    assert!(lost.contains("the name \"\u{fffd}.b2f\" is not UTF-8"), "{lost}");
    assert!(lost.contains("the link \"c.b2f\" leads to no file in the store"), "{lost}");
    let notes = store.verify().unwrap();
    assert!(notes.iter().any(|note| note.text.contains("not UTF-8")), "{notes:?}");
}

/// Nothing is left out without a word.
#[test]
fn files_that_are_too_deep_are_kept_or_listed_by_a_repair() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let path = scratch.path("s.b2d");
    create(&path);
    scratch.file(&format!("s.b2d/{}deep.b2f", "d/".repeat(256)), &leaf);
    scratch.file(&format!("s.b2d/{}deeper.b2f", "d/".repeat(257)), &leaf);
    let store = Store::open(&path).unwrap();
    let findings = store.findings();
    assert!(findings.iter().any(|finding| finding.text.contains("too many parts")), "{findings:?}");
    assert!(findings.iter().any(|finding| finding.text.contains("too deep")), "{findings:?}");
    drop(store);
    let target = scratch.path("repaired.b2d");
    let repaired = Store::repair(&path, &target, &WriteOptions::default()).unwrap();
    assert_eq!(repaired.leaves, 2, "{repaired:?}");
    assert!(repaired.left_out.iter().any(|lost| lost.contains("too deep")), "{repaired:?}");
    let store = Store::open(&target).unwrap();
    let lost: Vec<&str> = store.leaf_keys().filter(|key| key.starts_with("/lost/")).collect();
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert_eq!(store.frame(lost[0]).unwrap(), leaf);
}

#[test]
fn bytes_after_the_frame_of_an_embed_store_are_noted() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2d");
    create(&path);
    let bytes = std::fs::read(path.join("embed.b2e")).unwrap();
    std::fs::write(path.join("embed.b2e"), [&bytes[..], b"rest"].concat()).unwrap();
    let store = Store::open(&path).unwrap();
    let finding = &store.findings()[0];
    assert_eq!((finding.severity, &*finding.text), (Severity::Note, "4 bytes follow the frame"));
    assert!(store.leaf("/a").is_ok());
}

#[test]
fn caches_of_remote_stores_are_listed_and_not_copied() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let metadata = map(vec![("embed_map", map(vec![("/a", entry(0, leaf.len()))]))]);
    let tags = [
        ("b2embed", pack(&map(vec![("version", 1.into())]))),
        ("b2remote_store", pack(&map(vec![("url", "https://example.org".into())]))),
    ];
    let bytes = frame(&tags, &[("estore_metadata", pack(&metadata))], &leaf);
    let path = scratch.file("s.b2e", &bytes);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.class("/"), Ok(Class::RemoteStore));
    assert_eq!(store.attrs("/").unwrap().entries.len(), 0);
    assert!(store.description("/").unwrap().is_some());
    assert!(matches!(store.leaf("/a"), Err(Error::NotData { .. })));
    assert!(matches!(store.frame("/a"), Err(Error::NotData { .. })));
    assert!(matches!(store.table("/"), Err(Error::WrongClass { .. })));
    let reason = "it is a cache of a remote store";
    refused(Store::change(&path), reason);
    let target = scratch.path("copy.b2z");
    refused(store.convert(&target, &WriteOptions::default()), reason);
    refused(Store::repair(&path, &target, &WriteOptions::default()), reason);
    assert!(!target.exists());
}

#[test]
fn the_registry_of_objects_can_have_invalid_and_unknown_entries() {
    let scratch = Scratch::new();
    let registry = rmpv::Value::Map(vec![
        ("relative".into(), map(vec![("kind", "ctable".into())])),
        (7.into(), map(vec![("kind", "ctable".into())])),
        ("/new".into(), map(vec![("kind", "graph".into())])),
        ("/far".into(), map(vec![("kind", "remote_store".into())])),
    ]);
    let tree = |registry: Vec<u8>| {
        let version = pack(&map(vec![("version", 1.into())]));
        let metadata = pack(&map(vec![("embed_map", map(Vec::new()))]));
        frame(
            &[("b2tree", version)],
            &[("estore_metadata", metadata), ("_object_registry", registry)],
            b"",
        )
    };
    let leaf = stored("a.b2f", &frame(&[], &[], &[5; 100]));
    let store = scratch.zip(&[leaf.clone(), stored("embed.b2e", &tree(pack(&registry)))]);
    let invalid = store.findings().iter().filter(|found| found.text.contains("invalid key"));
    assert_eq!(invalid.count(), 2);
    assert_eq!(store.class("/new"), Ok(Class::Unknown));
    assert_eq!(store.class("/far"), Ok(Class::RemoteStore));
    for key in ["/new", "/far"] {
        assert_eq!(store.attrs(key).unwrap().entries.len(), 0, "{key}");
        assert!(store.description(key).unwrap().is_some(), "{key}");
        assert!(store.array(key).is_err() && store.objects(key).is_err(), "{key}");
    }
    // A registry that is not a map, not a message, and one with too many values.
    let many = [&[0xdd, 0, 0x50, 0, 0][..], &vec![0xc0; 5 << 20]].concat();
    for (content, reason) in [
        (pack(&7.into()), "is not a map"),
        (vec![0xc1], "is not a MessagePack value"),
        (many, "has too many values"),
    ] {
        let store = scratch.zip(&[leaf.clone(), stored("embed.b2e", &tree(content))]);
        let finding = &store.findings()[0];
        assert!(finding.text.contains(reason), "{finding:?}");
        assert_eq!(finding.severity, Severity::Damage);
        assert!(store.leaf("/a").is_ok());
        let path = store.path().to_owned();
        drop(store);
        assert!(matches!(Store::change(&path), Err(Error::Unsound { .. })));
    }
}

#[test]
fn an_embed_store_with_a_leaf_above_another_becomes_a_dict() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    for (keys, kind) in [(["/a/b", "/c"], StoreKind::Tree), (["/a/b/c", "/a"], StoreKind::Dict)] {
        let entries = keys.map(|key| (key, entry(0, leaf.len()))).to_vec();
        let path = scratch.file("s.b2e", &embed("b2embed", map(entries), &leaf));
        let target = scratch.path("copy.b2z");
        let store = Store::open(&path).unwrap();
        assert_eq!(store.convert(&target, &WriteOptions::default()).unwrap().leaves, 2);
        let copy = Store::open(&target).unwrap();
        assert_eq!(copy.kind(), kind);
        for key in keys {
            assert_eq!(copy.frame(key).unwrap(), leaf, "{key}");
        }
        std::fs::remove_file(&target).unwrap();
    }
}

#[test]
fn the_root_of_a_store_is_extracted_as_a_whole() {
    let scratch = Scratch::new();
    for (source, class) in [("t_nested.b2z", Class::Group), ("c_ints.b2z", Class::Table)] {
        let store = Store::open(fixture(source)).unwrap();
        assert_eq!(store.class("/"), Ok(class));
        let target = scratch.path(source);
        let extracted = store.extract("/", &target, &WriteOptions::default()).unwrap();
        let copy = Store::open(&target).unwrap();
        assert_eq!(extracted.leaves, copy.leaf_keys().count());
        assert_eq!(copy.keys(), store.keys());
    }
    // A copy that makes a table of a root that is not empty.
    let store = Store::open(fixture("c_ints.b2z")).unwrap();
    let mut writer = Store::create(scratch.path("full.b2z")).unwrap();
    writer.put("/a", schunk(b"data")).unwrap();
    refused(writer.copy_from(&store, "/", "/"), "only the root of an empty store becomes a table");
    assert_eq!(writer.copy_from(&store, "/", "/g").unwrap(), store.leaf_keys().count());
    assert!(matches!(writer.copy_from(&store, "/", "/g"), Err(Error::KeyExists(_))));
    assert!(matches!(writer.copy_from(&store, "/none", "/n"), Err(Error::NoSuchKey(_))));
    let empty = Store::open(fixture("t_nested.b2z")).unwrap();
    assert!(matches!(writer.copy_from(&empty, "/none", "/n"), Err(Error::NoSuchKey(_))));
}

#[test]
fn empty_directories_of_a_zip_file_are_copied() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let store = scratch.zip(&[
        stored("empty/inner/", b""),
        stored("../", b""),
        stored("full/", b"no directory has bytes"),
        stored("a.b2f", &leaf),
        empty_tree(),
    ]);
    let damage = store.findings().iter().filter(|found| found.severity == Severity::Damage);
    let places: Vec<&str> = damage.map(|found| &*found.place).collect();
    assert_eq!(places, ["full/"]);
    let store = scratch.zip(&[stored("empty/inner/", b""), stored("a.b2f", &leaf), empty_tree()]);
    assert!(store.foreign_files().eq(["empty/inner/"]));
    let target = scratch.path("copy.b2d");
    store.convert(&target, &WriteOptions::default()).unwrap();
    assert!(target.join("empty/inner").is_dir());
    let back = scratch.path("back.b2z");
    let copy = Store::open(&target).unwrap();
    assert!(copy.leaf_keys().eq(["/a"]));
    copy.convert(&back, &WriteOptions::default()).unwrap();
}

/// Returns the bytes of members without a directory.
fn without_directory(members: &[crate::build::Member]) -> Vec<u8> {
    let mut bytes = zip(members);
    let at = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    bytes.truncate(at);
    bytes
}

#[test]
fn headers_that_are_none_are_skipped_by_a_repair() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let good = without_directory(&[stored("a.b2f", &leaf)]);
    let header = |method: u16, flags: u16, name_len: u16, sizes: [u32; 2], extra: u16| {
        [
            &b"PK\x03\x04\x14\0"[..],
            &flags.to_le_bytes(),
            &method.to_le_bytes(),
            &[0; 8],
            &sizes[0].to_le_bytes(),
            &sizes[1].to_le_bytes(),
            &name_len.to_le_bytes(),
            &extra.to_le_bytes(),
        ]
        .concat()
    };
    let repaired = |bytes: &[u8]| {
        let path = scratch.file("damaged.b2z", bytes);
        let target = scratch.path("repaired.b2z");
        let _ = std::fs::remove_file(&target);
        let repaired = Store::repair(&path, &target, &WriteOptions::default()).unwrap();
        let store = Store::open(&target).unwrap();
        assert_eq!(store.frame("/a").unwrap(), leaf);
        assert_eq!(repaired.leaves, 1, "{repaired:?}");
        repaired.left_out.join("; ")
    };
    // Other methods, and names that are empty, too long, or longer than the file.
    for (method, name_len) in [(99, 1), (0, 0), (0, 5000), (0, 60_000)] {
        let odd = [header(method, 0, name_len, [0, 0], 0), vec![b'x'; 6000]].concat();
        repaired(&[&odd[..], &good].concat());
        repaired(&[&good[..], &odd].concat());
    }
    for (odd, lost) in [
        // Sizes of 64 bits without their field, two sizes, encryption, and sizes after the data.
        (header(0, 0, 1, [u32::MAX, u32::MAX], 0), "its size is unknown"),
        (header(0, 0, 1, [5, 6], 0), "it is not compressed, but has two sizes"),
        (header(0, 1, 1, [5, 5], 0), "it is encrypted"),
        (header(0, 8, 1, [0, 0], 0), "its size is unknown"),
        (header(8, 8, 1, [0, 0], 0), "its size is unknown"),
        (header(0, 0, 1, [1 << 20, 1 << 20], 0), "its data are truncated"),
    ] {
        let odd = [&odd[..], b"x", &[7; 60]].concat();
        let text = repaired(&[&odd[..], &good].concat());
        assert!(text.contains(lost), "{text} is not {lost}");
    }
    // A descriptor after the data of a header that has the sizes, too.
    let mut flagged = good.clone();
    flagged[6] |= 8;
    repaired(&[&flagged[..], b"PK\x07\x08", &[0; 12]].concat());
    // A frame that ends after the file.
    let mut endless = [header(0, 8, 1, [0, 0], 0), b"x".to_vec(), leaf.clone()].concat();
    endless[31 + 16..31 + 24].copy_from_slice(&(1_u64 << 40).to_be_bytes());
    assert!(repaired(&[&endless[..], &good].concat()).contains("its data are truncated"));
    // The magic between two reads of the search.
    let mut long = vec![1; (1 << 20) - 2];
    long.extend(&good);
    repaired(&long);
}

#[test]
fn records_of_64_bits_that_are_missing_are_damage() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let bytes = zip(&[stored("a.b2f", &leaf), empty_tree()]);
    let end = bytes.len() - 22;
    let with = |record: u64| {
        let locator = [&b"PK\x06\x07\0\0\0\0"[..], &record.to_le_bytes(), &1_u32.to_le_bytes()];
        [&bytes[..end], &locator.concat(), &bytes[end..]].concat()
    };
    for record in [u64::MAX, end as u64, 0] {
        let path = scratch.file("s.b2z", &with(record));
        refused(Store::open(&path), "its zip64 record is missing");
    }
    // Nothing but an end record is a zip file without leaves.
    let empty = scratch.file("e.b2z", &[0; 22]);
    assert!(matches!(Store::open(&empty), Err(Error::NotAStore(_))));
    let empty = [&b"PK\x05\x06"[..], &[0; 18]].concat();
    assert!(matches!(Store::open(scratch.file("e.b2z", &empty)), Err(Error::NotAStore(_))));
}

#[test]
fn stores_are_recognized_by_their_content() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let is_store = |bytes: &[u8]| ferroblosc_formats::store::is_store(&scratch.file("file", bytes));
    assert!(is_store(&zip(&[empty_tree()])));
    assert!(is_store(&zip(&[stored("a.b2f", &leaf)])));
    assert!(!is_store(&zip(&[stored("a.txt", b"text")])));
    assert!(is_store(&embed("b2embed", map(Vec::new()), b"")));
    assert!(!is_store(&leaf) && !is_store(&leaf[..leaf.len() - 3]) && !is_store(b""));
    // A damaged zip file is one, as its leaves can be repaired.
    assert!(is_store(&without_directory(&[stored("a.b2f", &leaf)])));
    assert!(!ferroblosc_formats::store::is_store(&scratch.path("none")));
    assert!(!ferroblosc_formats::store::is_store(&scratch.path("")));
    fifo(&scratch.path("fifo"));
    assert!(!ferroblosc_formats::store::is_store(&scratch.path("fifo")));
}

#[test]
fn limits_of_frames_apply_to_all_containers() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &(0..200).collect::<Vec<u8>>());
    let mut options = Options::default();
    options.max_frame = 100;
    let bytes = embed("b2embed", map(vec![("/a", entry(0, leaf.len()))]), &leaf);
    let store = Store::from_bytes(bytes, &options).unwrap();
    assert!(matches!(store.leaf("/a"), Err(Error::Limit { .. })));
    assert!(matches!(store.frame("/a"), Err(Error::Limit { .. })));
    for member in [stored("a.b2f", &leaf), deflated("a.b2f", &leaf)] {
        let path = scratch.file("s.b2z", &zip(&[member, empty_tree()]));
        let store = Store::open_with(&path, &options).unwrap();
        assert!(matches!(store.frame("/a"), Err(Error::Limit { .. })));
    }
    let path = scratch.path("s.b2d");
    create(&path);
    let store = Store::open_with(&path, &options).unwrap();
    assert!(matches!(store.frame("/a"), Err(Error::Limit { .. })));
    let nested = store.nested("/a");
    assert!(matches!(nested, Err(Error::WrongClass { .. })), "{nested:?}");
}

/// The journal of a frame has bytes that an interrupted change replaced.
#[test]
fn a_frame_with_a_journal_is_copied_as_it_is_read() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let path = scratch.file("leaf.b2f", &leaf);
    std::fs::write(scratch.path("leaf.b2f.b2journal"), b"").unwrap();
    let mut writer = Store::create(scratch.path("s.b2z")).unwrap();
    writer.put("/a", NewLeaf::file(&path).unwrap()).unwrap();
    writer.commit().unwrap();
    let store = Store::open(scratch.path("s.b2z")).unwrap();
    assert_eq!(store.leaf("/a").unwrap().schunk().decompress_to_vec(0).unwrap(), [5; 100]);
}
