//! Changes of stores that conflict with other programs or with entries of the embed store.

use crate::build::Scratch;
use crate::writing::{array, schunk};
use ferroblosc_formats::store::{Store, WriteOptions};

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
