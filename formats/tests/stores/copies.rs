//! Conversion between containers, extraction and repair.

use crate::build::{Member, Scratch, empty_tree, stored, zip};
use crate::common::{content, difference, fixture, open};
use crate::writing::{array, bytes_of, create, is_sound, schunk};
use ferroblosc::schunk::serialize;
use ferroblosc_formats::bloscpack::Value as Json;
use ferroblosc_formats::store::{
    Class, Error, Finding, Leaf, Options, Repaired, Severity, Store, StoreKind, WriteOptions,
};
use std::path::Path;

fn options() -> WriteOptions {
    WriteOptions::default()
}

/// The content without the type and the groups, which only trees have.
fn items(store: &Store) -> String {
    let content = content(store);
    let Some(Json::Object(items)) = content.get("items") else {
        return content.to_json();
    };
    let is_leaf = |item: &Json| item.get("type") != Some(&Json::from("group"));
    let leaves = items.iter().filter(|(_, item)| is_leaf(item));
    Json::Object(leaves.cloned().collect()).to_json()
}

#[test]
fn every_fixture_is_converted_without_a_change() {
    let mut count = 0;
    for entry in std::fs::read_dir(fixture("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_store = ["b2z", "b2d", "b2e"].iter().any(|suffix| name.ends_with(suffix));
        let is_kept = ["c_", "d_", "e_", "t_", "own"].iter().any(|start| name.starts_with(start));
        // Their values cannot all be read.
        let unreadable = ["t_lazy.b2z", "e_c2ref.b2e", "c_list_arrow.b2z", "c_crash.b2d"];
        if !is_store || !is_kept || unreadable.contains(&name.as_str()) {
            continue;
        }
        let store = open(&name);
        let wanted = items(&store);
        let scratch = Scratch::new();
        let mut last = None;
        for target in ["s.b2z", "s.b2d", "t.b2z", "u.b2d"] {
            let target = scratch.path(target);
            let source = last.as_ref().unwrap_or(&store);
            let converted = source.convert(&target, &options()).unwrap();
            assert_eq!(converted.left_out, Vec::<String>::new(), "{name}");
            assert_eq!(converted.leaves, store.leaf_keys().count());
            let copy = Store::open(&target).unwrap();
            is_clean(&copy, &store);
            assert_eq!(items(&copy), wanted, "{name}");
            last = Some(copy);
        }
        // The tree is the same after a stay in an embed store.
        let embed = scratch.path("v.b2e");
        let converted = store.convert(&embed, &options());
        if name == "t_names.b2z" {
            // It has the key `/a:b`.
            assert!(matches!(converted, Err(Error::InvalidName { .. })));
            continue;
        }
        converted.unwrap();
        let back = scratch.path("w.b2z");
        Store::open(&embed).unwrap().convert(&back, &options()).unwrap();
        let back = Store::open(&back).unwrap();
        if store.kind() == StoreKind::Tree {
            assert_eq!(difference(&name, &content(&back), &content(&store)), None);
        }
        assert_eq!(
            back.leaf_keys().collect::<Vec<_>>(),
            store.leaf_keys().collect::<Vec<_>>(),
            "{name}"
        );
        count += 1;
    }
    assert!(count > 40, "{count}");
}

/// Fails if a copy has damage that the source has not.
fn is_clean(copy: &Store, source: &Store) {
    let damage = |store: &Store| {
        let findings = store.verify().unwrap().into_iter();
        findings.filter(|finding| finding.severity == Severity::Damage).count()
    };
    assert_eq!(damage(copy), damage(source), "{}", source.path().display());
}

#[test]
fn equal_stores_have_equal_bytes_whatever_container_they_came_from() {
    let scratch = Scratch::new();
    create(&scratch.path("a.b2d"), &options());
    create(&scratch.path("b.b2z"), &options());
    let directory = Store::open(scratch.path("a.b2d")).unwrap();
    directory.convert(scratch.path("c.b2z"), &options()).unwrap();
    let bytes = |name: &str| std::fs::read(scratch.path(name)).unwrap();
    assert_eq!(bytes("b.b2z"), bytes("c.b2z"));
}

#[test]
fn references_and_embedded_values_are_converted() {
    let scratch = Scratch::new();
    let store = open("e_c2ref.b2e");
    let path = scratch.path("s.b2z");
    store.convert(&path, &options()).unwrap();
    let copy = Store::open(&path).unwrap();
    for key in store.keys() {
        assert_eq!(copy.description(&key), store.description(&key));
        assert_eq!(copy.class(&key), store.class(&key));
    }
    // The values of a dict stay embedded.
    let store = open("d_embedded.b2z");
    store.convert(scratch.path("s.b2d"), &options()).unwrap();
    assert_eq!(std::fs::read_dir(scratch.path("s.b2d")).unwrap().count(), 1);
    // With a threshold they become files.
    let mut files = options();
    files.threshold = Some(0);
    store.convert(scratch.path("f.b2d"), &files).unwrap();
    assert!(scratch.path("f.b2d/g/b.b2nd").exists());
    assert_eq!(items(&Store::open(scratch.path("f.b2d")).unwrap()), items(&store));
    let remote = open("t_remote_ref.b2z");
    remote.convert(scratch.path("r.b2d"), &options()).unwrap();
    let copy = Store::open(scratch.path("r.b2d")).unwrap();
    assert_eq!(copy.class("/far"), Ok(Class::RemoteStore));
}

#[test]
fn a_folder_of_frames_is_a_source_and_other_damage_is_not() {
    let scratch = Scratch::new();
    let store = Store::open(fixture("x_noembed.b2d")).unwrap();
    let converted = store.convert(scratch.path("s.b2z"), &options()).unwrap();
    assert!(converted.left_out[0].starts_with("embed.b2e is missing"));
    is_sound(&Store::open(scratch.path("s.b2z")).unwrap());
    for name in ["x_traversal.b2z", "x_duplicate.b2z", "x_embed_oob.b2e"] {
        let refused = open(name).convert(scratch.path("t.b2d"), &options()).unwrap_err();
        assert!(matches!(refused, Error::Unsound { .. }), "{name}: {refused}");
    }
    let refused = open("x_bitrot.b2z").convert(scratch.path("t.b2d"), &options()).unwrap_err();
    assert!(matches!(refused, Error::Member { .. }), "{refused}");
    let refused = open("a_nd.b2nd").convert(scratch.path("t.b2d"), &options()).unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    let refused = open("t_nested.b2z").convert(scratch.path("s.b2z"), &options()).unwrap_err();
    assert!(matches!(refused, Error::Exists { .. }), "{refused}");
    assert!(!scratch.path("t.b2d").exists());
}

#[test]
fn leaves_groups_and_tables_are_extracted() {
    let scratch = Scratch::new();
    let store = open("own_tree.b2z");
    store.extract("/g/x", scratch.path("x.b2nd"), &options()).unwrap();
    let file = Store::open(scratch.path("x.b2nd")).unwrap();
    assert_eq!(file.array("/").unwrap().items(), store.array("/g/x").unwrap().items());
    let refused = store.extract("/g/x", scratch.path("x.b2nd"), &options()).unwrap_err();
    assert!(matches!(refused, Error::Exists { kind: "a file", .. }));
    for target in ["t.b2z", "t.b2d", "t.b2e"] {
        store.extract("/g/tab", scratch.path(target), &options()).unwrap();
        let table = Store::open(scratch.path(target)).unwrap();
        assert_eq!(table.class("/"), Ok(Class::Table));
        let (one, other) = (store.table("/g/tab").unwrap(), table.table("/").unwrap());
        assert_eq!(one.rows(0..one.len()).unwrap(), other.rows(0..other.len()).unwrap());
        assert_eq!(store.attrs("/g/tab").unwrap().entries, table.attrs("/").unwrap().entries);
    }
    store.extract("/g", scratch.path("g.b2z"), &options()).unwrap();
    let group = Store::open(scratch.path("g.b2z")).unwrap();
    assert_eq!(group.class("/tab"), Ok(Class::Table));
    assert_eq!(group.attrs("/").unwrap().entries, store.attrs("/g").unwrap().entries);
    let missing = store.extract("/none", scratch.path("n"), &options()).unwrap_err();
    assert_eq!(missing, Error::NoSuchKey("/none".to_owned()));
    let damaged = open("x_bitrot.b2z");
    let key = damaged.leaf_keys().next().unwrap().to_owned();
    let keys: Vec<String> = damaged.leaf_keys().map(str::to_owned).collect();
    let extracted = |key: &String| damaged.extract(key, scratch.path("d"), &options());
    assert!(keys.iter().any(|key| {
        let refused = matches!(extracted(key), Err(Error::Member { .. }));
        let _ = std::fs::remove_file(scratch.path("d"));
        refused
    }));
    drop(key);
}

/// Returns the frame of a leaf, written again.
fn frame_of(leaf: &Leaf) -> Vec<u8> {
    serialize(leaf.schunk().state()).unwrap().to_vec()
}

/// Repairs a store; the source must not change, and the copy must be sound but for `/lost`.
fn repair(scratch: &Scratch, path: &Path) -> (Store, Repaired) {
    let suffix = path.extension().unwrap().to_str().unwrap();
    let target = scratch.path(&format!("repaired.{suffix}"));
    let before = if path.is_file() { std::fs::read(path).unwrap() } else { Vec::new() };
    let repaired = Store::repair(path, &target, &options())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.is_file() {
        assert!(std::fs::read(path).unwrap() == before);
    }
    let store = Store::open(&target).unwrap();
    assert_eq!(store.leaf_keys().count(), repaired.leaves);
    for finding in store.findings() {
        assert_eq!(finding.severity, Severity::Note, "{finding}");
    }
    (store, repaired)
}

#[test]
fn every_damaged_fixture_is_repaired_without_losing_a_readable_leaf() {
    let mut count = 0;
    for entry in std::fs::read_dir(fixture("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_store = ["b2z", "b2d", "b2e"].iter().any(|suffix| name.ends_with(suffix));
        let Some(store) = Store::open(&path).ok().filter(|_| is_store) else {
            continue;
        };
        if store.kind() == StoreKind::Object {
            continue;
        }
        let scratch = Scratch::new();
        let (copy, repaired) = repair(&scratch, &path);
        let lost: Vec<&str> = copy.leaf_keys().filter(|key| key.starts_with("/lost/")).collect();
        for key in store.leaf_keys() {
            let is_listed = |line: &String| line.starts_with(&format!("{key}:"));
            if store.class(key) == Ok(Class::Reference) {
                assert_eq!(copy.class(key), Ok(Class::Reference), "{name}: {key}");
                continue;
            }
            let Ok(leaf) = store.leaf(key) else {
                assert!(repaired.left_out.iter().any(is_listed), "{name}: {key} {repaired:?}");
                continue;
            };
            let bytes = frame_of(&leaf);
            let keys = std::iter::once(key).chain(lost.iter().copied());
            let is_kept = keys
                .into_iter()
                .any(|key| copy.leaf(key).is_ok_and(|leaf| frame_of(&leaf) == bytes));
            assert!(is_kept, "{name}: {key} {repaired:?}");
        }
        count += 1;
    }
    assert!(count > 90, "{count}");
}

#[test]
fn a_truncated_zip_file_is_repaired_from_its_local_headers() {
    let whole = open("t_nested.b2z");
    let bytes = std::fs::read(fixture("t_nested.b2z")).unwrap();
    let scratch = Scratch::new();
    let mut counts = std::collections::BTreeSet::new();
    for len in (40..bytes.len()).step_by(23) {
        let path = scratch.file("cut.b2z", &bytes[..len]);
        let target = scratch.path("repaired.b2z");
        let _ = std::fs::remove_file(&target);
        match Store::repair(&path, &target, &options()) {
            Ok(repaired) => {
                let store = Store::open(&target).unwrap();
                is_sound(&store);
                for key in store.leaf_keys() {
                    assert_eq!(bytes_of(&store, key), bytes_of(&whole, key));
                }
                counts.insert(repaired.leaves);
            }
            // Not even one member is complete.
            Err(error) => assert!(len < 400, "{len}: {error}"),
        }
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    // A member that is cut off is named.
    let path = scratch.file("cut.b2z", &bytes[..bytes.len() / 2]);
    let _ = std::fs::remove_file(scratch.path("repaired.b2z"));
    let (_, repaired) = repair(&scratch, &path);
    assert!(repaired.left_out.iter().any(|line| line.ends_with("its data are truncated")));
}

#[test]
fn suspicious_leaves_are_kept_in_the_group_lost() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2d");
    let mut writer = Store::create(&path).unwrap();
    writer.put("/a", array(9)).unwrap();
    writer.put("/b", schunk(b"x")).unwrap();
    writer.commit().unwrap();
    let read = |name: &str| std::fs::read(path.join(name)).unwrap();
    let (a, b) = (read("a.b2nd"), read("b.b2f"));
    let wrong_crc = Member { crc: 1, ..stored("c.b2nd", &a) };
    let members = [
        stored("a.b2nd", &a),
        stored("a.b2nd", &b),
        stored("../evil.b2nd", &a),
        stored("_meta.b2nd", &a[..40]),
        wrong_crc,
        stored("README", b"text"),
        empty_tree(),
    ];
    let damaged = scratch.file("d.b2z", &zip(&members));
    let (store, repaired) = repair(&scratch, &damaged);
    is_sound(&store);
    let keys: Vec<&str> = store.leaf_keys().collect();
    assert_eq!(keys, ["/a", "/lost/...evil.b2nd", "/lost/a.b2nd", "/lost/c"]);
    assert_eq!(bytes_of(&store, "/a"), b"x");
    assert_eq!(store.array("/lost/a.b2nd").unwrap().shape(), [9]);
    assert_eq!(repaired.left_out.len(), 1, "{repaired:?}");
    assert!(repaired.left_out[0].starts_with("/_meta: "), "{repaired:?}");
    let text = std::fs::read(scratch.path("repaired.b2z")).unwrap();
    assert!(text.windows(6).any(|name| name == b"README"));
}

#[test]
fn frames_of_an_embed_store_without_a_map_are_found() {
    let scratch = Scratch::new();
    for name in ["x_embed_badpack.b2e", "x_embed_nokeys.b2e"] {
        let (store, repaired) = repair(&scratch, &fixture(name));
        assert!(repaired.leaves > 0, "{name}: {repaired:?}");
        assert!(store.leaf_keys().all(|key| key.starts_with("/lost/")));
        is_sound(&store);
        std::fs::remove_file(store.path()).unwrap();
    }
}

#[test]
fn files_that_are_not_stores_are_not_repaired() {
    let scratch = Scratch::new();
    let text = scratch.file("text.b2z", b"no zip file");
    let target = scratch.path("t.b2z");
    assert!(Store::repair(&text, &target, &options()).is_err());
    assert!(Store::repair(fixture("a_nd.b2nd"), &target, &options()).is_err());
    let garbage = scratch.file("g.b2z", &[b"PK\x03\x04".to_vec(), vec![0xff; 500]].concat());
    assert!(Store::repair(&garbage, &target, &options()).is_err());
    assert!(!target.exists());
    assert_eq!(Options::default().max_frame, 1 << 30);
}

/// Changed bytes, and parts that are missing, end in an error or in a store that can be opened, and
/// nothing else is left.
#[test]
fn randomly_damaged_stores_are_repaired_or_refused() {
    let mut random = 1u64;
    let mut next = |end: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % end
    };
    for name in ["t_objects.b2z", "e_mixed.b2e", "own_tree.b2z", "x_zip64.b2z", "x_datadesc.b2z"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let (mut whole, mut repaired_stores) = (0, 0);
        for _ in 0..60 {
            let mut damaged = bytes.clone();
            for _ in 0..=next(3) {
                let at = next(damaged.len());
                damaged[at] = damaged[at].wrapping_add(1 + next(255) as u8);
            }
            if next(4) == 0 {
                damaged.truncate(next(damaged.len()));
            }
            let scratch = Scratch::new();
            let path = scratch.file(name, &damaged);
            let target = scratch.path(&format!("repaired-{name}"));
            match Store::repair(&path, &target, &options()) {
                Ok(repaired) => {
                    let store = Store::open(&target).unwrap();
                    assert_eq!(store.leaf_keys().count(), repaired.leaves);
                    let has_damage = |finding: &Finding| finding.severity == Severity::Damage;
                    assert!(!store.findings().iter().any(has_damage), "{:?}", store.findings());
                    repaired_stores += usize::from(!repaired.repaired.is_empty());
                    whole += usize::from(repaired.repaired.is_empty());
                }
                Err(_) => assert!(!target.exists()),
            }
            let _ = store_is_changed(&path);
            let left = std::fs::read_dir(scratch.path("")).unwrap().count();
            assert_eq!(left, 1 + usize::from(target.exists()));
        }
        assert!(whole + repaired_stores > 10, "{name}: {whole} {repaired_stores}");
    }
}

/// Adds a leaf to a store that may be damaged.
fn store_is_changed(path: &Path) -> Result<(), Error> {
    let mut writer = Store::change(path)?;
    writer.put("/added", array(3))?;
    writer.commit()?;
    Store::open(path)?.leaf("/added").map(|_| ())
}

#[test]
fn a_leaf_named_lost_does_not_prevent_repair() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2d");
    let mut writer = Store::create(&path).unwrap();
    writer.put("/a", array(9)).unwrap();
    writer.commit().unwrap();
    let a = std::fs::read(path.join("a.b2nd")).unwrap();
    let wrong_crc = Member { crc: 1, ..stored("z.b2nd", &a) };
    let members = [stored("lost.b2nd", &a), wrong_crc, empty_tree()];
    let damaged = scratch.file("d.b2z", &zip(&members));
    let (store, repaired) = repair(&scratch, &damaged);
    is_sound(&store);
    assert_eq!(store.leaf_keys().collect::<Vec<_>>(), ["/lost", "/lost-1/z"]);
    assert_eq!(repaired.left_out, [""; 0]);
}

/// Returns a zip file without its directory.
fn without_directory(members: &[Member]) -> Vec<u8> {
    let mut bytes = zip(members);
    let at = bytes.windows(4).position(|magic| magic == b"PK\x01\x02").unwrap();
    bytes.truncate(at);
    bytes
}

#[test]
fn salvaged_members_with_two_sizes_are_lost() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(fixture("a_nd.b2nd")).unwrap();
    let size = u32::try_from(bytes.len()).unwrap() + (1 << 20);
    let wrong = Member { size, ..stored("wrong.b2nd", &bytes) };
    let members = [wrong, stored("right.b2nd", &bytes), empty_tree()];
    let path = scratch.file("cut.b2z", &without_directory(&members));
    let (store, repaired) = repair(&scratch, &path);
    assert_eq!(store.leaf_keys().collect::<Vec<_>>(), ["/right"]);
    assert!(repaired.left_out.iter().any(|line| line.contains("two sizes")), "{repaired:?}");
}

#[test]
fn the_description_of_lost_members_is_bounded() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(fixture("a_nd.b2nd")).unwrap();
    let encrypted = Member { flags: 1, ..stored("e.b2nd", b"") };
    let mut members = vec![encrypted; 3000];
    members.extend([stored("right.b2nd", &bytes), empty_tree()]);
    let path = scratch.file("cut.b2z", &without_directory(&members));
    let (store, repaired) = repair(&scratch, &path);
    assert_eq!(store.leaf_keys().collect::<Vec<_>>(), ["/right"]);
    assert_eq!(repaired.left_out.len(), 1001);
    assert_eq!(repaired.left_out[1000], "2000 more members that cannot be used");
}

#[test]
fn temporary_files_of_a_directory_are_reported_by_copies() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2d");
    create(&path, &WriteOptions::default());
    for name in ["x.tmp", "a.b2nd.b2tmp-1"] {
        std::fs::write(path.join(name), b"content").unwrap();
    }
    let store = Store::open(&path).unwrap();
    let converted = store.convert(scratch.path("copy.b2z"), &options()).unwrap();
    let wanted = ["a.b2nd.b2tmp-1", "x.tmp"];
    let wanted = wanted.map(|name| format!("{name:?} is a temporary file or a lock"));
    assert_eq!(converted.left_out, wanted);
    let (_, repaired) = repair(&scratch, &path);
    assert!(wanted.iter().all(|line| repaired.left_out.contains(line)), "{repaired:?}");
}
