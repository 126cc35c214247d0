//! Changes of stores that conflict with other programs or with entries of the embed store.

use crate::build::Scratch;
use crate::crash::{Faulty, options};
use crate::writing::{array, create, schunk};
use ferroblosc_formats::store::{Error, Store, WriteOptions};

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
fn a_deleted_leaf_does_not_uncover_an_embedded_one() {
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
