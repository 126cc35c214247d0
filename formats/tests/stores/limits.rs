//! Limits of memory and time: shared bytes, sums of sizes and stores that change.

use crate::build::{Scratch, embed, empty_tree, frame, map, pack, stored};
use crate::common::{fixture, open};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::store::{Class, Error, Options, Severity, Store, Value, array_values};

fn options(max_message: u64) -> Options {
    let mut options = Options::default();
    options.max_message = max_message;
    options
}

fn entry(offset: usize, length: usize) -> rmpv::Value {
    map(vec![("offset", offset.into()), ("length", length.into())])
}

#[test]
fn messages_about_overlaps_do_not_repeat_long_names() {
    let scratch = Scratch::new();
    let leaf = frame(&[], &[], &[5; 100]);
    let first = stored(&format!("{}.b2f", "a".repeat(4000)), &leaf);
    let mut second = stored("b.b2f", &leaf);
    second.offset = Some(0);
    let store = scratch.zip(&[first, second, empty_tree()]);
    let text = store.leaf("/b").err().unwrap().to_string();
    assert!(text.contains("overlaps member \"aaaa") && text.len() < 300, "{}", text.len());
}

#[test]
fn the_directory_of_a_zip_file_has_a_limit() {
    let scratch = Scratch::new();
    let path = scratch.file("sparse.b2z", b"PK\x03\x04");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let size = (1u32 << 30) + 50;
    let mut end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec();
    end.extend(size.to_le_bytes());
    end.extend([0; 6]);
    std::os::unix::fs::FileExt::write_all_at(&file, &end, size.into()).unwrap();
    let error = Store::open(&path).err().unwrap();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}

#[test]
fn entries_with_the_same_bytes_are_verified_once() {
    let mut bytes = frame(&[], &[], b"abc");
    for _ in 0..12 {
        let keys: Vec<String> = (0..50).map(|number| format!("/k{number}")).collect();
        let entries = keys.iter().map(|key| (&**key, entry(0, bytes.len()))).collect();
        bytes = embed("b2embed", map(entries), &bytes);
    }
    let store = Store::from_bytes(bytes, &Options::default()).unwrap();
    let findings = store.verify().unwrap();
    assert!(findings.iter().any(|finding| finding.text.contains("has the same bytes as /k")));
    // Entries of the same offset can be too short for the frame.
    let bytes = frame(&[], &[], b"abc");
    let entries =
        vec![("/a", entry(0, bytes.len())), ("/b", entry(0, 40)), ("/c", entry(0, bytes.len()))];
    let store = embed("b2embed", map(entries), &bytes);
    let store = Store::from_bytes(store, &Options::default()).unwrap();
    let findings = store.verify().unwrap();
    let damaged = findings.iter().filter(|finding| finding.severity == Severity::Damage);
    let damaged: Vec<&str> = damaged.map(|finding| &*finding.place).collect();
    assert_eq!(damaged, ["/b"]);
    assert!(store.leaf("/b").is_err() && store.leaf("/c").is_ok());
}

#[test]
fn the_number_of_verified_nested_stores_has_a_limit() {
    let inner = embed("b2embed", map(Vec::new()), b"");
    let keys: Vec<String> = (0..1030).map(|number| format!("/k{number}")).collect();
    let at = |number: usize| entry(number * inner.len(), inner.len());
    let entries = keys.iter().enumerate().map(|(number, key)| (&**key, at(number))).collect();
    let bytes = embed("b2embed", map(entries), &inner.repeat(1030));
    let store = Store::from_bytes(bytes, &Options::default()).unwrap();
    let findings = store.verify().unwrap();
    let texts = findings.iter().filter(|finding| finding.text.contains("too many nested"));
    assert_eq!(texts.count(), 6);
}

/// Returns the sum of the lengths of the texts.
fn text_size(value: &Value) -> u64 {
    match value {
        Value::Str(text) => text.len() as u64,
        Value::List(values) => values.iter().map(text_size).sum(),
        _ => 0,
    }
}

#[test]
fn the_values_of_all_columns_share_the_limit() {
    for name in ["c_utf8.b2z", "c_dictionary.b2z", "c_string.b2z", "c_list.b2z", "c_nulls_mask.b2z"]
    {
        let whole = open(name);
        let table = whole.table("/").unwrap();
        let rows = table.rows(0..table.len()).unwrap();
        let size = rows.iter().flatten().map(|value| text_size(value) + 16).sum::<u64>();
        for limit in [size / 2, size - 1] {
            let store = Store::open_with(fixture(name), &options(limit)).unwrap();
            let Ok(table) = store.table("/") else {
                continue;
            };
            let read = table.rows(0..table.len());
            assert!(matches!(read, Err(Error::Limit { .. })), "{name} {limit}");
        }
    }
}

#[test]
fn the_objects_of_one_call_share_the_limit() {
    let version = map(vec![("version", 1.into()), ("serializer", "msgpack".into())]);
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    schunk.add_metalayer("vlarray", &pack(&version)).unwrap();
    for _ in 0..10 {
        schunk.append(&pack(&rmpv::Value::Binary(vec![7; 1000]))).unwrap();
    }
    let bytes = schunk.to_bytes().unwrap();
    let store = Store::from_bytes(bytes, &options(5000)).unwrap();
    let objects = store.objects("/").unwrap();
    assert_eq!(objects.items(6..9).unwrap().len(), 3);
    assert!(matches!(objects.items(0..6), Err(Error::Limit { .. })));
    // Batches of a dictionary are summed before they are decoded.
    let name = fixture("c_dictionary.b2z");
    let table = Store::open(&name).unwrap();
    let table = table.table("/").unwrap();
    let column = table.schema().columns.iter().find(|column| column.kind.name() == "dictionary");
    let column = column.unwrap().name.clone();
    let store = Store::open_with(&name, &options(10)).unwrap();
    let table = store.table("/");
    let read = table.and_then(|table| table.values(&column, 0..1));
    assert!(matches!(read, Err(Error::Limit { .. })), "{read:?}");
}

#[test]
fn a_table_that_loses_rows_while_it_is_open_is_an_error() {
    let scratch = Scratch::new();
    let source = open("c_deleted.b2z");
    for key in source.leaf_keys() {
        let bytes = source.leaf(key).unwrap().into_schunk().to_bytes().unwrap();
        scratch.file(&format!("t.b2d{key}.b2nd"), &bytes);
    }
    scratch.file("t.b2d/embed.b2e", &embed("b2tree", map(Vec::new()), b""));
    let store = Store::open(scratch.path("t.b2d")).unwrap();
    let table = store.table("/").unwrap();
    assert!(table.len() > 1 && table.len() < table.stored_rows());
    let path = scratch.path("t.b2d/_valid_rows.b2nd");
    let mut mask = Array::open(Storage::file(&path), DParams::default()).unwrap();
    let rows = mask.shape()[0];
    mask.set_slice(&[1], &[rows], &vec![0; usize::try_from(rows - 1).unwrap()]).unwrap();
    drop(mask);
    let error = table.rows(0..table.len()).err().unwrap();
    assert!(error.to_string().contains("changed while it was read"), "{error}");
    assert_eq!(store.class("/"), Ok(Class::Table));
}

#[test]
fn rows_without_bytes_are_limited() {
    let layout = Layout { shape: &[4, 0], chunkshape: &[4, 1], blockshape: &[1, 1] };
    let params = CParams::default().typesize(1);
    let array = Array::zeros(Storage::frame(), params.clone(), &layout, "|i1").unwrap();
    let empty = Value::List(Vec::new());
    assert_eq!(array_values("/a", &array, 0..4, &Options::default()), Ok(vec![empty; 4]));
    let layout = Layout { shape: &[1 << 62, 0], ..layout };
    let array = Array::zeros(Storage::frame(), params, &layout, "|i1").unwrap();
    let read = array_values("/a", &array, 0..1 << 62, &Options::default());
    assert!(matches!(read, Err(Error::Limit { .. })), "{read:?}");
    // The values of bytes need more memory than the bytes.
    let layout = Layout { shape: &[1000], chunkshape: &[1000], blockshape: &[1000] };
    let params = CParams::default().typesize(1);
    let array = Array::zeros(Storage::frame(), params, &layout, "|i1").unwrap();
    let read = array_values("/a", &array, 0..1000, &options(20_000));
    assert!(matches!(read, Err(Error::Limit { .. })), "{read:?}");
    assert!(array_values("/a", &array, 0..1000, &options(50_000)).is_ok());
}
