//! Locations of frames: in files, in directories and in memory; frames as bytes.

use ferroblosc_formats::bloscpack::Value as Json;
use ferroblosc_formats::store::{Class, Error, Location, Options, Store, Value};

use crate::common::{fixture, open};

/// Returns the frame at a location.
fn frame_at(location: Location) -> Vec<u8> {
    match location {
        Location::File { path, offset } => {
            std::fs::read(path).unwrap()[usize::try_from(offset).unwrap()..].to_vec()
        }
        Location::Memory(bytes) => bytes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_location_of_a_leaf_has_its_frame() {
    for name in ["t_nested.b2z", "t_nested.b2d", "d_embedded.b2z", "e_mixed.b2e", "x_deflated.b2z"]
    {
        let store = open(name);
        let mut count = 0;
        for key in store.keys() {
            let class = store.class(&key).unwrap();
            if class == Class::Group || class == Class::Table {
                assert!(matches!(store.location(&key), Err(Error::WrongClass { .. })), "{key}");
                assert!(matches!(store.frame(&key), Err(Error::WrongClass { .. })), "{key}");
                continue;
            }
            if !class.has_values() {
                assert!(matches!(store.location(&key), Err(Error::NotData { .. })), "{key}");
                continue;
            }
            let frame = store.frame(&key).unwrap();
            let found = frame_at(store.location(&key).unwrap());
            assert_eq!(found[..frame.len()], frame, "{name} {key}");
            let opened = Store::from_bytes(frame, &Options::default()).unwrap();
            assert_eq!(opened.class("/").unwrap_or(Class::EmbedStore), class, "{name} {key}");
            count += 1;
        }
        assert!(count > 0, "{name}");
    }
}

#[test]
fn a_sparse_frame_is_a_directory() {
    let store = open("a_sparse_frame.b2nd");
    match store.location("/").unwrap() {
        Location::Directory(path) => assert_eq!(path, fixture("a_sparse_frame.b2nd")),
        other => panic!("{other:?}"),
    }
    assert!(Store::from_bytes(store.frame("/").unwrap(), &Options::default()).is_ok());
}

#[test]
fn objects_without_values_and_unknown_keys_have_no_location() {
    let store = open("a_lazyexpr.b2nd");
    assert!(matches!(store.location("/"), Err(Error::NotData { .. })));
    assert!(store.frame("/").is_ok(), "the description can be copied");
    for key in ["/none", "", "none"] {
        assert!(matches!(store.location(key), Err(Error::NoSuchKey(_))), "{key:?}");
        assert!(matches!(store.frame(key), Err(Error::NoSuchKey(_))), "{key:?}");
        assert!(matches!(store.node(key), Err(Error::NoSuchKey(_))), "{key:?}");
    }
}

#[test]
fn a_location_in_a_replaced_zip_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.b2z");
    std::fs::copy(fixture("t_nested.b2z"), &path).unwrap();
    let store = Store::open(&path).unwrap();
    assert!(store.location("/top").is_ok());
    let other = folder.path().join("other");
    std::fs::copy(fixture("t_table.b2z"), &other).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert!(matches!(store.location("/top"), Err(Error::Changed(_))));
    assert!(matches!(store.check_unchanged(), Err(Error::Changed(_))));
}

#[test]
fn json_becomes_values() {
    let value = |text: &str| Value::from_json(&Json::parse(text.as_bytes()).unwrap());
    assert_eq!(value("-9223372036854775808").unwrap(), Value::Int(i64::MIN));
    assert_eq!(value("18446744073709551615").unwrap(), Value::UInt(u64::MAX));
    assert!(matches!(value("[18446744073709551616]"), Err(Error::Value(_))));
    let list = vec![Value::Nil, Value::Bool(true), Value::Float(1.5), Value::Str("x".to_owned())];
    let map = Value::Map(vec![(Value::Str("k".to_owned()), Value::List(list))]);
    assert_eq!(value(r#"{"k": [null, true, 1.5, "x"]}"#).unwrap(), map);
}
