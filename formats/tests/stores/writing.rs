//! Stores that are created and changed.

use crate::build::{Scratch, frame, map, pack};
use crate::common::{content, fixture};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::store::{
    Class, ContainerKind, Error, NewLeaf, ObjectsWriter, Severity, Store, StoreKind, Value,
    WriteOptions,
};
use std::os::unix::fs::symlink;
use std::path::Path;

pub fn array(len: u8) -> NewLeaf {
    let len = i64::from(len);
    let layout = Layout { shape: &[len], chunkshape: &[5], blockshape: &[5] };
    let items: Vec<u8> = (0..len).flat_map(|item| (item as i32).to_le_bytes()).collect();
    let params = CParams::default().typesize(4);
    NewLeaf::array(
        &Array::from_item_bytes(Storage::frame(), params, &layout, "<i4", &items).unwrap(),
    )
    .unwrap()
}

pub fn schunk(data: &[u8]) -> NewLeaf {
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::memory(), params, DParams::default()).unwrap();
    schunk.append(data).unwrap();
    NewLeaf::schunk(&schunk).unwrap()
}

pub fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

pub fn bytes_of(store: &Store, key: &str) -> Vec<u8> {
    let leaf = store.leaf(key).unwrap_or_else(|error| panic!("{key}: {error}"));
    let mut bytes = vec![0; usize::try_from(leaf.schunk().nbytes()).unwrap()];
    leaf.schunk()
        .get_slice(0, (bytes.len() / leaf.schunk().typesize() as usize) as i64, &mut bytes)
        .unwrap();
    bytes
}

pub fn is_sound(store: &Store) {
    let findings = store.verify().unwrap();
    let damage: Vec<_> =
        findings.iter().filter(|finding| finding.severity != Severity::Note).collect();
    assert!(damage.is_empty(), "{damage:?}");
}

/// Creates a store with leaves, groups and attributes.
pub fn create(path: &Path, options: &WriteOptions) {
    let mut writer = Store::create_with(path, options).unwrap();
    writer.put("/a", array(12)).unwrap();
    writer.put("/g/b", array(100)).unwrap();
    writer.put("/g/é", schunk(b"some data")).unwrap();
    writer.set_attr("/a", "unit", &text("m")).unwrap();
    if writer.kind() != StoreKind::Dict {
        writer.set_attr("/", "title", &text("all")).unwrap();
    }
    if writer.kind() == StoreKind::Tree {
        writer.set_attr("/g", "of", &Value::Tuple(vec![Value::Int(1), text("x")])).unwrap();
    }
    writer.commit().unwrap();
}

fn forms() -> Vec<(&'static str, WriteOptions)> {
    let mut forms = Vec::new();
    for kind in [StoreKind::Tree, StoreKind::Dict] {
        for threshold in [0, 100, 1 << 20] {
            for name in ["s.b2z", "s.b2d", "s.b2e"] {
                let mut options = WriteOptions::default();
                (options.kind, options.threshold) = (kind, Some(threshold));
                forms.push((name, options));
            }
        }
    }
    forms
}

#[test]
fn every_form_is_read_back_and_has_equal_bytes_for_equal_input() {
    for (name, options) in forms() {
        let scratch = Scratch::new();
        let path = scratch.path(name);
        create(&path, &options);
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        assert_eq!(store.findings(), []);
        let wanted = if name == "s.b2e" { StoreKind::Embed } else { options.kind };
        assert_eq!(store.kind(), wanted);
        assert_eq!(store.array("/a").unwrap().items().unwrap().len(), 48);
        assert_eq!(bytes_of(&store, "/g/é"), b"some data");
        assert_eq!(store.attrs("/a").unwrap().get("unit"), Some(&text("m")));
        if wanted != StoreKind::Dict {
            assert_eq!(store.attrs("/").unwrap().get("title"), Some(&text("all")));
        }
        if wanted == StoreKind::Tree {
            assert!(store.attrs("/g").unwrap().get("of").is_some());
        }
        if options.threshold == Some(100) && name == "s.b2d" {
            assert!(!path.join("a.b2nd").exists() && path.join("g/b.b2nd").exists());
        }
        let again = scratch.path(&format!("again-{name}"));
        create(&again, &options);
        if path.is_file() {
            assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&again).unwrap(), "{name}");
        }
        // Nothing else is left.
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }
}

#[test]
fn every_form_is_changed() {
    for (name, options) in forms() {
        let scratch = Scratch::new();
        let path = scratch.path(name);
        create(&path, &options);
        let kind = Store::open(&path).unwrap().kind();
        let mut writer = Store::change_with(&path, &options).unwrap();
        assert!(matches!(writer.put("/a", array(1)), Err(Error::KeyExists(_))));
        writer.replace("/a", array(20)).unwrap();
        writer.put("/new/deep/x", schunk(b"new")).unwrap();
        writer.delete("/g/b").unwrap();
        writer.set_attr("/g/é", "k", &Value::Int(1)).unwrap();
        writer.set_attr("/g/é", "k", &Value::Int(2)).unwrap();
        writer.set_attr("/g/é", "gone", &Value::Nil).unwrap();
        writer.remove_attr("/g/é", "gone").unwrap();
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        assert_eq!(store.array("/a").unwrap().items().unwrap().len(), 80);
        assert_eq!(store.attrs("/a").unwrap().entries, []);
        assert_eq!(bytes_of(&store, "/new/deep/x"), b"new");
        let attrs = store.attrs("/g/é").unwrap().entries;
        assert_eq!(attrs, [("k".to_owned(), Value::Int(2))]);
        assert_eq!(store.class("/g/b"), Err(Error::NoSuchKey("/g/b".to_owned())));
        if kind == StoreKind::Tree {
            let mut writer = Store::change_with(&path, &options).unwrap();
            writer.delete("/g").unwrap();
            writer.delete("/new").unwrap();
            writer.commit().unwrap();
            let store = Store::open(&path).unwrap();
            assert_eq!(store.leaf_keys().collect::<Vec<_>>(), ["/__vlmeta__", "/a"]);
            if path.is_dir() {
                assert!(!path.join("g").exists() && !path.join("new").exists());
            }
        }
        // A dropped writer changes nothing.
        let before = content(&Store::open(&path).unwrap());
        let mut writer = Store::change(&path).unwrap();
        writer.delete("/a").unwrap();
        drop(writer);
        let after = content(&Store::open(&path).unwrap());
        assert_eq!(before.to_json(), after.to_json());
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}

#[test]
fn invalid_keys_and_attributes_are_refused() {
    let scratch = Scratch::new();
    let mut writer = Store::create(scratch.path("s.b2z")).unwrap();
    writer.put("/a", array(1)).unwrap();
    writer.put("/g/b", array(1)).unwrap();
    let long = format!("/{}", "x".repeat(251));
    for key in [
        "",
        "a",
        "/",
        "//",
        "/a/",
        "/g//c",
        "/../x",
        "/g/../../x",
        "/./x",
        "/g/.",
        "/a\nb",
        "/a\tb",
        "/a\0b",
        "/a\rb",
        "/_meta",
        "/g/__vlmeta__",
        "/g/_cols",
        &long,
    ] {
        let refused = writer.put(key, array(1));
        assert!(matches!(refused, Err(Error::InvalidName { .. })), "{key:?}: {refused:?}");
    }
    for key in ["/a/b", "/g", "/a/b/c"] {
        let refused = writer.put(key, array(1));
        assert!(matches!(refused, Err(Error::Refused { .. })), "{key:?}: {refused:?}");
    }
    for name in ["", "estore_metadata", "_object_registry", "proxy-x", &"n".repeat(32)] {
        let refused = writer.set_attr("/a", name, &Value::Nil);
        assert!(matches!(refused, Err(Error::InvalidName { .. })), "{name:?}");
    }
    assert!(matches!(writer.set_attr("/x", "a", &Value::Nil), Err(Error::NoSuchKey(_))));
    for number in 0..16 {
        writer.set_attr("/g", &format!("n{number}"), &Value::Int(number)).unwrap();
    }
    let refused = writer.set_attr("/g", "n16", &Value::Nil).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "/g: \"n16\" is one attribute more than the 16 that are allowed"
    );
    // The others are kept.
    writer.commit().unwrap();
    assert_eq!(Store::open(scratch.path("s.b2z")).unwrap().attrs("/g").unwrap().entries.len(), 16);
    let mut embed = Store::create(scratch.path("s.b2e")).unwrap();
    assert!(matches!(embed.put("/a:b", array(1)), Err(Error::InvalidName { .. })));
    embed.put("/_meta", array(1)).unwrap();
    assert!(matches!(Store::create(scratch.path("s.zip")), Err(Error::Refused { .. })));
    let mut options = WriteOptions::default();
    options.container = Some(ContainerKind::Zip);
    Store::create_with(scratch.path("s.zip"), &options).unwrap();
}

#[test]
fn row_t16_an_existing_path_is_refused_and_kept() {
    let scratch = Scratch::new();
    for name in ["s.b2z", "s.b2d", "s.b2e"] {
        let path = scratch.path(name);
        symlink("nowhere", &path).unwrap();
        let refused = Store::create(&path).unwrap_err().to_string();
        assert!(refused.ends_with("exists already: it is a symbolic link"), "{refused}");
        std::fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let refused = Store::create(&path).unwrap_err().to_string();
        assert!(refused.ends_with("it is a FIFO, a socket or a device"), "{refused}");
        let refused = Store::change(&path).unwrap_err().to_string();
        assert!(refused.ends_with("is a FIFO, a socket or a device, not a store"), "{refused}");
        std::fs::remove_file(&path).unwrap();
        // It appears between the creation of the writer and the commit.
        let mut writer = Store::create(&path).unwrap();
        writer.put("/a", array(1)).unwrap();
        std::fs::write(&path, b"theirs").unwrap();
        let refused = writer.commit().unwrap_err();
        assert!(matches!(refused, Error::Exists { kind: "a file", .. }), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        std::fs::remove_file(&path).unwrap();
        create(&path, &WriteOptions::default());
        let link = scratch.path(&format!("link-{name}"));
        symlink(&path, &link).unwrap();
        let refused = Store::change(&link).unwrap_err();
        assert!(matches!(refused, Error::FileType { kind: "a symbolic link", .. }), "{refused}");
        let expected = format!("'{}' is a symbolic link, not a store; ", link.display());
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        std::fs::remove_file(&link).unwrap();
    }
    assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 3);
}

#[test]
fn foreign_files_are_kept_and_links_in_a_directory_are_not_followed() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2d");
    create(&path, &WriteOptions::default());
    let victim = scratch.file("victim", b"precious");
    std::fs::create_dir(scratch.path("elsewhere")).unwrap();
    std::fs::write(path.join("README.txt"), b"text").unwrap();
    symlink(&victim, path.join("x.b2nd")).unwrap();
    symlink(scratch.path("elsewhere"), path.join("far")).unwrap();
    std::fs::create_dir(path.join("y.b2nd")).unwrap();
    for (key, reason) in [
        ("/x", "x.b2nd' exists already: it is a symbolic link"),
        ("/far/z", "far' is a symbolic link, not a directory; changes do not follow links: use"),
        ("/y", "y.b2nd' exists already: it is a directory"),
    ] {
        let mut writer = Store::change(&path).unwrap();
        writer.replace("/a", array(1)).unwrap();
        writer.put(key, array(1)).unwrap();
        let refused = writer.commit().unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
        // Nothing was changed.
        assert_eq!(Store::open(&path).unwrap().array("/a").unwrap().shape(), [12]);
    }
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(scratch.path("elsewhere")).unwrap().count(), 0);
    let mut writer = Store::change(&path).unwrap();
    writer.delete("/g").unwrap();
    writer.commit().unwrap();
    assert_eq!(std::fs::read(path.join("README.txt")).unwrap(), b"text");
    // Members of zip files that are not leaves are kept as well.
    let zip = scratch.path("f.b2z");
    std::fs::copy(fixture("x_extra_files.b2z"), &zip).unwrap();
    let mut writer = Store::change(&zip).unwrap();
    writer.put("/added", array(3)).unwrap();
    writer.commit().unwrap();
    let bytes = std::fs::read(&zip).unwrap();
    assert!(bytes.windows(6).any(|name| name == b"README"));
    is_sound(&Store::open(&zip).unwrap());
}

#[test]
fn keys_that_name_nothing_delete_and_copy_nothing() {
    for name in ["s.b2z", "s.b2d", "s.b2e"] {
        let scratch = Scratch::new();
        let path = scratch.path(name);
        let mut writer = Store::create(&path).unwrap();
        writer.put("/a", array(1)).unwrap();
        writer.put("/g/b", array(2)).unwrap();
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        let mut writer = Store::change(&path).unwrap();
        for key in ["", "a", "g", "//", "/g/", "/g//b", "/.", "*", " "] {
            let error = writer.delete(key).unwrap_err();
            assert!(
                matches!(&error, Error::NoSuchKey(found) if found == key),
                "{name} {key:?}: {error}"
            );
            let error = writer.copy_from(&store, key, "/copy").unwrap_err();
            assert!(
                matches!(&error, Error::NoSuchKey(found) if found == key),
                "{name} {key:?}: {error}"
            );
        }
        assert!(matches!(writer.delete("/").unwrap_err(), Error::Refused { .. }));
        writer.commit().unwrap();
        assert_eq!(Store::open(&path).unwrap().keys(), store.keys());
    }
}

#[test]
fn two_writers_exclude_each_other_and_other_changes_are_detected() {
    for name in ["s.b2z", "s.b2d", "s.b2e"] {
        let scratch = Scratch::new();
        let path = scratch.path(name);
        create(&path, &WriteOptions::default());
        let mut first = Store::change(&path).unwrap();
        assert!(matches!(Store::change(&path), Err(Error::Locked(_))));
        first.put("/first", array(2)).unwrap();
        first.commit().unwrap();
        let mut second = Store::change(&path).unwrap();
        second.put("/second", array(2)).unwrap();
        second.set_attr("/", "n", &Value::Int(1)).unwrap();
        // Another program replaces the main file.
        let main = if path.is_dir() { path.join("embed.b2e") } else { path.clone() };
        let copy = scratch.path("copy");
        std::fs::copy(&main, &copy).unwrap();
        std::fs::rename(&copy, &main).unwrap();
        assert!(matches!(second.commit(), Err(Error::Changed(_))));
        let store = Store::open(&path).unwrap();
        assert!(store.class("/first").is_ok() && store.class("/second").is_err());
    }
}

#[test]
fn damaged_stores_are_not_changed() {
    let scratch = Scratch::new();
    for name in ["x_duplicate.b2z", "x_embed_oob.b2e", "x_noembed.b2z", "x_traversal.b2z"] {
        if !fixture(name).exists() {
            continue;
        }
        let path = scratch.path(name);
        std::fs::copy(fixture(name), &path).unwrap();
        let before = std::fs::read(&path).unwrap();
        let refused = Store::change(&path).unwrap_err();
        assert!(matches!(refused, Error::Unsound { .. }), "{name}: {refused}");
        assert!(refused.is_corruption());
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    // Nor are stores of another version.
    let version = pack(&map(vec![("version", 2.into())]));
    let path = scratch.file("v.b2e", &frame(&[("b2embed", version)], &[], b""));
    assert!(matches!(Store::change(&path), Err(Error::Refused { .. })));
    // A single frame is not a store.
    let path = scratch.path("a.b2nd");
    std::fs::copy(fixture("a_nd.b2nd"), &path).unwrap();
    assert!(matches!(Store::change(&path), Err(Error::Refused { .. })));
}

#[test]
fn row_t32_a_member_with_another_crc_is_not_copied() {
    let scratch = Scratch::new();
    let path = scratch.path("crc.b2z");
    std::fs::copy(fixture("x_crc.b2z"), &path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut writer = Store::change(&path).unwrap();
    writer.put("/added", array(1)).unwrap();
    assert!(matches!(writer.commit(), Err(Error::Member { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn tables_are_deleted_and_copied_as_a_whole() {
    for (name, key) in [("t_table.b2d", "/data/table"), ("own_tree.b2z", "/g/tab")] {
        let source = Store::open(fixture(name)).unwrap();
        for target in ["s.b2z", "s.b2d"] {
            let scratch = Scratch::new();
            let path = scratch.path(target);
            let mut writer = Store::create(&path).unwrap();
            writer.copy_from(&source, key, "/copy/table").unwrap();
            assert!(matches!(writer.put("/copy/table/x", array(1)), Err(Error::Refused { .. })));
            assert!(matches!(writer.replace("/copy/table", array(1)), Err(Error::KeyExists(_))));
            writer.set_attr("/copy/table", "note", &text("n")).unwrap();
            writer.commit().unwrap();
            let store = Store::open(&path).unwrap();
            is_sound(&store);
            assert_eq!(store.class("/copy/table"), Ok(Class::Table));
            let (old, new) = (source.table(key).unwrap(), store.table("/copy/table").unwrap());
            assert_eq!(old.rows(0..old.len()).unwrap(), new.rows(0..new.len()).unwrap());
            assert_eq!(store.attrs("/copy/table").unwrap().get("note"), Some(&text("n")));
            let mut writer = Store::change(&path).unwrap();
            assert!(writer.delete("/copy/table/_meta").is_err());
            writer.delete("/copy/table").unwrap();
            writer.commit().unwrap();
            assert_eq!(Store::open(&path).unwrap().leaf_keys().count(), 0);
        }
    }
}

/// The leaves of a store whose root is a table are those of the table.
#[test]
fn a_table_becomes_the_root_of_an_empty_store_only() {
    let source = Store::open(fixture("own_tree.b2z")).unwrap();
    let scratch = Scratch::new();
    let mut writer = Store::create(scratch.path("full.b2z")).unwrap();
    writer.put("/a", array(1)).unwrap();
    let refused = writer.copy_from(&source, "/g/tab", "/");
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    writer.commit().unwrap();
    let store = Store::open(scratch.path("full.b2z")).unwrap();
    assert_eq!(store.keys(), ["/a"]);
    // Nor does a table replace another one.
    let mut writer = Store::create(scratch.path("empty.b2z")).unwrap();
    writer.copy_from(&source, "/g/tab", "/").unwrap();
    assert!(writer.copy_from(&source, "/g/tab", "/").is_err());
    assert!(writer.put("/a", array(1)).is_err());
    writer.commit().unwrap();
    let store = Store::open(scratch.path("empty.b2z")).unwrap();
    let (old, new) = (source.table("/g/tab").unwrap(), store.table("/").unwrap());
    assert_eq!(old.rows(0..old.len()).unwrap(), new.rows(0..new.len()).unwrap());
    // A group can be copied to the root of any store.
    let mut writer = Store::change(scratch.path("full.b2z")).unwrap();
    writer.copy_from(&source, "/g", "/").unwrap();
    writer.commit().unwrap();
    let store = Store::open(scratch.path("full.b2z")).unwrap();
    assert!(store.class("/tab") == Ok(Class::Table) && store.class("/a").is_ok());
}

#[test]
fn arrays_of_objects_are_read_back() {
    let values = [
        Value::Nil,
        Value::Int(7),
        text("x"),
        Value::Tuple(vec![Value::Bytes(vec![1]), Value::Set(vec![Value::Int(1)])]),
        Value::Map(vec![(text("k"), Value::List(vec![Value::Float(0.5)]))]),
    ];
    for items_per_block in [None, Some(1), Some(2), Some(100)] {
        let scratch = Scratch::new();
        let path = scratch.path("s.b2z");
        let mut objects = ObjectsWriter::object_array().unwrap();
        let mut batches = ObjectsWriter::batch_array(items_per_block).unwrap();
        values.iter().for_each(|value| objects.push(value).unwrap());
        batches.push_batch(&values).unwrap();
        batches.push_batch(&values[1..2]).unwrap();
        batches.push_batch(&values[2..]).unwrap();
        assert_eq!((objects.len(), batches.len()), (5, 3));
        let mut writer = Store::create(&path).unwrap();
        writer.put("/o", objects.finish().unwrap()).unwrap();
        writer.put("/b", batches.finish().unwrap()).unwrap();
        let empty = ObjectsWriter::batch_array(items_per_block).unwrap();
        writer.put("/empty", empty.finish().unwrap()).unwrap();
        writer.put("/none", ObjectsWriter::object_array().unwrap().finish().unwrap()).unwrap();
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        assert_eq!(store.class("/o"), Ok(Class::ObjectArray));
        assert_eq!(store.objects("/o").unwrap().items(0..5).unwrap(), values);
        let batches = store.objects("/b").unwrap();
        assert_eq!(batches.batch(0).unwrap(), values);
        assert_eq!(batches.batch(1).unwrap(), values[1..2]);
        assert_eq!(batches.items(5..9).unwrap()[1..], values[2..]);
        assert!(store.objects("/empty").unwrap().is_empty().unwrap());
        assert!(store.objects("/none").unwrap().is_empty().unwrap());
    }
    assert!(matches!(ObjectsWriter::batch_array(Some(0)), Err(Error::Value(_))));
    let mut batches = ObjectsWriter::batch_array(None).unwrap();
    assert!(matches!(batches.push_batch(&[]), Err(Error::Value(_))));
    // The first item would make the batch a tuple.
    let mark = batches.push_batch(&[text("__tuple__"), Value::Int(1)]);
    assert!(matches!(mark, Err(Error::Value(_))));
    assert!(batches.is_empty());
}

#[test]
fn arrays_of_lists_are_read_back_and_items_are_checked() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2d");
    let kind = |kind: &str| Value::Map(vec![(text("kind"), text(kind))]);
    let list = |numbers: &[i64]| Value::List(numbers.iter().copied().map(Value::Int).collect());
    let mut lists = ObjectsWriter::list_array(kind("int32"), true).unwrap();
    let mut rows: Vec<Value> = (0..5000).map(|row| list(&[row, -row])).collect();
    rows[7] = Value::Nil;
    rows[8] = list(&[]);
    lists.push_batch(&rows).unwrap();
    for wrong in [Value::Int(1), list(&[1 << 31]), Value::List(vec![text("x")])] {
        assert!(matches!(lists.push(&wrong), Err(Error::Value(_))), "{wrong:?}");
    }
    assert_eq!(lists.len(), 5000);
    let mut strict = ObjectsWriter::list_array(kind("string"), false).unwrap();
    assert!(strict.push(&Value::Nil).is_err());
    strict.push(&Value::List(vec![text("x")])).unwrap();
    assert!(ObjectsWriter::list_array(text("int32"), false).is_err());
    let mut writer = Store::create(&path).unwrap();
    writer.put("/l", lists.finish().unwrap()).unwrap();
    writer.put("/s", strict.finish().unwrap()).unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    is_sound(&store);
    assert_eq!(store.class("/l"), Ok(Class::ListArray));
    let found = store.objects("/l").unwrap();
    assert_eq!((found.nbatches(), found.items(0..5000).unwrap()), (3, rows));
    assert_eq!(store.objects("/s").unwrap().len(), Ok(1));
}

#[test]
fn a_small_first_batch_does_not_make_small_blocks() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2z");
    let values: Vec<Value> = (0..5000).map(Value::Int).collect();
    let mut writer = Store::create(&path).unwrap();
    let mut batches = ObjectsWriter::batch_array(None).unwrap();
    batches.push(&values[0]).unwrap();
    batches.push_batch(&values).unwrap();
    writer.put("/small_first", batches.finish().unwrap()).unwrap();
    let mut batches = ObjectsWriter::batch_array(None).unwrap();
    batches.push_batch(&values).unwrap();
    writer.put("/large_first", batches.finish().unwrap()).unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    is_sound(&store);
    let blocks = |key: &str, batch| store.objects(key).unwrap().raw_batch(batch).unwrap().len();
    assert_eq!((blocks("/small_first", 0), blocks("/small_first", 1)), (1, 3));
    assert_eq!(blocks("/large_first", 0), 1);
    assert_eq!(store.objects("/small_first").unwrap().items(1..5001).unwrap(), values);
}

#[test]
fn many_small_blocks_are_read_in_any_order() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2z");
    let values: Vec<Value> = (0..300).map(|item| text(&format!("item {item}"))).collect();
    let mut writer = Store::create(&path).unwrap();
    let mut batches = ObjectsWriter::batch_array(Some(1)).unwrap();
    batches.push_batch(&values[..200]).unwrap();
    batches.push_batch(&values[200..]).unwrap();
    writer.put("/b", batches.finish().unwrap()).unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let objects = store.objects("/b").unwrap();
    for item in [299, 0, 7, 8, 9, 199, 200, 3] {
        assert_eq!(objects.items(item as u64..item as u64 + 1).unwrap(), values[item..=item]);
    }
    for start in [0, 1, 150] {
        assert_eq!(objects.items(start as u64..300).unwrap(), values[start..]);
    }
    assert_eq!(objects.batch(1).unwrap(), values[200..]);
    assert_eq!(objects.batch(0).unwrap(), values[..200]);
}

/// The name of its file, or that of a leaf with its attributes, would be too long to be listed.
#[test]
fn keys_that_could_not_be_listed_again_are_refused() {
    let scratch = Scratch::new();
    let long = |len: usize| {
        let mut key = format!("/{}", "k".repeat(249)).repeat((len - 1) / 250);
        key.push('/');
        key.extend(std::iter::repeat_n('z', len - key.len()));
        key
    };
    let keys = [4000, 4064, 4079, 4085, 4090, 4092, 4095, 4096].map(long);
    let deep = [100, 254, 255, 256].map(|parts| "/p".repeat(parts) + "q");
    for (name, has_groups) in [("a.b2z", false), ("b.b2z", true), ("c.b2e", false)] {
        let path = scratch.path(name);
        let mut writer = Store::create(&path).unwrap();
        let mut kept = Vec::new();
        for key in keys.iter().chain(&deep) {
            let leaf = if has_groups { format!("{key}/l") } else { key.clone() };
            match writer.put(&leaf, array(3)) {
                Ok(()) => kept.push(leaf),
                Err(Error::InvalidName { .. }) => continue,
                Err(error) => panic!("{error}"),
            }
            if has_groups {
                writer.set_attr(key, "unit", &text("m")).unwrap();
            }
        }
        assert!(kept.len() >= 3, "{}", kept.len());
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        for key in kept {
            assert!(!bytes_of(&store, &key).is_empty());
            if let (true, Some(slash)) = (has_groups, key.rfind('/')) {
                let attrs = store.attrs(&key[..slash]).unwrap();
                assert_eq!(attrs.get("unit"), Some(&text("m")), "{key}");
            }
        }
    }
}

#[test]
fn attributes_with_too_many_values_are_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2e");
    let mut writer = Store::create(&path).unwrap();
    writer.put("/a", array(3)).unwrap();
    let list = |len: usize| Value::List(vec![Value::Nil; len]);
    for key in ["/", "/a"] {
        let error = writer.set_attr(key, "many", &list(1 << 22)).unwrap_err();
        assert!(matches!(error, Error::Limit { .. }), "{error}");
    }
    writer.set_attr("/a", "many", &list((1 << 22) - 1)).unwrap();
    writer.commit().unwrap();
    let attrs = Store::open(&path).unwrap().attrs("/a").unwrap();
    assert!(matches!(attrs.get("many"), Some(Value::List(_))));
}

/// The first bytes of a longer frame would be a damaged leaf.
#[test]
fn a_file_that_changes_before_the_commit_is_not_added() {
    let scratch = Scratch::new();
    let file = scratch.path("f.b2frame");
    let frame_of = |len: usize| {
        let data: Vec<u8> = (0..len).map(|item| (item * item / 7) as u8).collect();
        let params = CParams::default().typesize(1);
        let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        schunk.append(&data).unwrap();
        schunk.to_bytes().unwrap()
    };
    for name in ["s.b2z", "s.b2e", "s.b2d"] {
        let path = scratch.path(name);
        let mut writer = Store::create(&path).unwrap();
        writer.put("/a", array(3)).unwrap();
        writer.commit().unwrap();
        for changes in [false, true] {
            std::fs::write(&file, frame_of(1000)).unwrap();
            let mut writer = Store::change(&path).unwrap();
            writer.put("/x", NewLeaf::file(&file).unwrap()).unwrap();
            if changes {
                std::fs::remove_file(&file).unwrap();
                std::fs::write(&file, frame_of(50_000)).unwrap();
                let error = writer.commit().unwrap_err().to_string();
                assert!(error.contains("the file was changed in the meantime"), "{error}");
            } else {
                writer.commit().unwrap();
            }
            let store = Store::open(&path).unwrap();
            is_sound(&store);
            assert_eq!(store.leaf("/x").is_ok(), !changes);
            if !changes {
                drop(store);
                let mut writer = Store::change(&path).unwrap();
                writer.delete("/x").unwrap();
                writer.commit().unwrap();
            }
        }
    }
}
