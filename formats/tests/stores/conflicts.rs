//! Changes of stores that conflict with other programs or with entries of the embed store.

use crate::build::Scratch;
use crate::crash::{Faulty, options};
use crate::writing::{array, create, schunk};
use ferroblosc_formats::store::{Error, Store, Value, WriteOptions};

/// Creates a directory store whose key `/a` is both an embedded leaf and a file.
fn create_shadowed(scratch: &Scratch) -> std::path::PathBuf {
    let path = scratch.path("s.b2d");
    let mut options = WriteOptions::default();
    options.threshold = Some(1 << 20);
    let mut writer = Store::create_with(&path, &options).unwrap();
    writer.put("/a", schunk(b"embedded")).unwrap();
    writer.put("/b", schunk(b"other")).unwrap();
    writer.commit().unwrap();
    let other = scratch.path("other.b2d");
    let mut writer = Store::create(&other).unwrap();
    writer.put("/a", array(3)).unwrap();
    writer.commit().unwrap();
    std::fs::copy(other.join("a.b2nd"), path.join("a.b2nd")).unwrap();
    path
}

#[test]
fn a_deleted_file_also_deletes_the_embedded_leaf_of_its_key() {
    let scratch = Scratch::new();
    let path = create_shadowed(&scratch);
    assert_eq!(Store::open(&path).unwrap().array("/a").unwrap().shape(), [3]);
    let mut writer = Store::change(&path).unwrap();
    writer.delete("/a").unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.leaf_keys().collect::<Vec<_>>(), ["/b"]);
    assert_eq!(store.findings(), []);
}

#[test]
fn a_store_that_changes_during_the_sync_is_not_replaced() {
    for (name, main) in [("s.b2z", "s.b2z"), ("s.b2e", "s.b2e"), ("s.b2d", "s.b2d/embed.b2e")] {
        let scratch = Scratch::new();
        let (path, main) = (scratch.path(name), scratch.path(main));
        create(&path, &options(&Faulty::default(), 1 << 20));
        let changed = main.clone();
        let disk = Faulty::before(&format!("sync {name}.b2tmp"), move || {
            std::fs::write(&changed, b"of another program").unwrap();
        });
        let mut writer = Store::change_with(&path, &options(&disk, 1 << 20)).unwrap();
        writer.replace("/a", array(20)).unwrap();
        let result = writer.commit();
        assert!(disk.has_interfered(), "{name}");
        assert!(matches!(result, Err(Error::Changed(_))), "{name}: {result:?}");
        assert_eq!(std::fs::read(&main).unwrap(), b"of another program");
        assert!(!scratch.path(&format!("{name}.b2tmp")).exists());
    }
}

#[test]
fn leaves_of_a_directory_that_another_program_changed_stay() {
    type Edit = fn(&mut ferroblosc_formats::store::StoreWriter);
    let edits: [Edit; 3] = [
        |writer| writer.replace("/a", array(20)).unwrap(),
        |writer| writer.delete("/a").unwrap(),
        |writer| writer.set_attr("/a", "k", &Value::Int(1)).unwrap(),
    ];
    for edit in edits {
        let scratch = Scratch::new();
        let path = scratch.path("s.b2d");
        create(&path, &WriteOptions::default());
        let mut writer = Store::change(&path).unwrap();
        edit(&mut writer);
        writer.put("/new", array(1)).unwrap();
        std::fs::write(path.join("a.b2nd"), b"of another program").unwrap();
        let result = writer.commit();
        let changed = Error::Changed(path.canonicalize().unwrap().join("a.b2nd"));
        assert_eq!(result, Err(changed));
        assert_eq!(std::fs::read(path.join("a.b2nd")).unwrap(), b"of another program");
        assert!(!path.join("new.b2nd").exists());
    }
}

#[test]
fn a_leaf_of_a_directory_that_changes_during_the_commit_stays() {
    for call in ["sync s.b2d.b2tmp", "sync directory s.b2d"] {
        let scratch = Scratch::new();
        let path = scratch.path("s.b2d");
        create(&path, &WriteOptions::default());
        let changed = path.join("a.b2nd");
        let disk = Faulty::before(call, {
            let changed = changed.clone();
            move || std::fs::write(changed, b"of another program").unwrap()
        });
        let mut writer = Store::change_with(&path, &options(&disk, 0)).unwrap();
        if call == "sync s.b2d.b2tmp" {
            writer.replace("/a", array(20)).unwrap();
        } else {
            writer.put("/new", array(1)).unwrap();
            writer.delete("/a").unwrap();
        }
        let result = writer.commit();
        assert!(disk.has_interfered(), "{call}");
        assert!(matches!(result, Err(Error::Changed(_))), "{call}: {result:?}");
        assert_eq!(std::fs::read(&changed).unwrap(), b"of another program");
    }
}

#[test]
fn of_two_concurrent_creators_one_gets_a_complete_store() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2d");
    let other = path.clone();
    // The embed store is the last file that is synced.
    let disk = Faulty::before("sync directory s.b2d.b2tmp", move || {
        create(&other, &WriteOptions::default());
    });
    let mut writer = Store::create_with(&path, &options(&disk, 0)).unwrap();
    writer.put("/mine", array(3)).unwrap();
    let result = writer.commit();
    assert!(disk.has_interfered());
    assert!(matches!(result, Err(Error::Exists { .. })), "{result:?}");
    let store = Store::open(&path).unwrap();
    assert_eq!(store.findings(), []);
    assert!(store.leaf_keys().any(|key| key == "/a"));

    // The staged directory of another creator stays complete.
    let scratch = Scratch::new();
    let (path, other) = (scratch.path("s.b2d"), scratch.path("s.b2d"));
    let disk = Faulty::before("sync directory s.b2d.b2tmp", move || {
        let mut writer = Store::create(&other).unwrap();
        writer.put("/other", array(3)).unwrap();
        writer.commit().unwrap();
        std::fs::rename(&other, other.with_extension("moved")).unwrap();
    });
    let mut writer = Store::create_with(&path, &options(&disk, 0)).unwrap();
    writer.put("/mine", array(3)).unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.findings(), []);
    assert_eq!(store.leaf_keys().collect::<Vec<_>>(), ["/mine"]);
}

#[test]
fn reserved_keys_are_not_replaced() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2d");
    create(&path, &WriteOptions::default());
    let mut writer = Store::change(&path).unwrap();
    writer.set_attr("/g", "unit", &Value::Int(1)).unwrap();
    let key = writer.leaf_keys().find(|key| key.starts_with("/g/__")).unwrap().to_owned();
    let result = writer.replace(&key, array(3));
    assert!(matches!(result, Err(Error::InvalidName { .. })), "{result:?}");
}
