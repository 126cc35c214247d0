//! Unusual values, attributes, columns and arrays of stores.

use std::path::PathBuf;

use super::value::{EXT_ARRAY, EXT_SET};
use super::*;
use crate::bloscpack::Value as Json;
use crate::numpy::Dtype;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};

fn temporary() -> (tempfile::TempDir, PathBuf) {
    let folder = crate::testing::tempdir();
    let path = folder.path().join("s.b2z");
    (folder, path)
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(name, value)| (text(name), value.clone())).collect())
}

fn frame() -> NewLeaf {
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    schunk.append(&[7; 100]).unwrap();
    NewLeaf::schunk(&schunk).unwrap()
}

/// Returns an array of one dimension, or of none if `len` is `None`.
fn array(dtype: &str, len: Option<i64>, items: &[u8]) -> Array {
    let size = items.len() as i64 / len.unwrap_or(1).max(1);
    let params = CParams::default().typesize(i32::try_from(size).unwrap());
    let (shape, chunk, block) = match len {
        Some(len) => (vec![len], vec![2], vec![1]),
        None => (vec![], vec![], vec![]),
    };
    let layout = Layout { shape: &shape, chunkshape: &chunk, blockshape: &block };
    Array::from_item_bytes(Storage::frame(), params, &layout, dtype, items).unwrap()
}

#[test]
fn values_of_all_kinds_have_a_text() {
    let dtype = Dtype::parse("<i2").unwrap();
    let items = Value::Array(Box::new(ArrayValue { dtype, shape: vec![1], items: vec![1, 0] }));
    let objects = ObjectsValue { values: vec![Value::Nil, text("a")], shape: vec![2] };
    let reference = map(&[("urlpath", text("x"))]);
    for (value, json, field) in [
        (Value::Nil, "null", ""),
        (Value::UInt(u64::MAX), "18446744073709551615", "18446744073709551615"),
        (Value::Complex(1.0, -0.5), "[1.0,-0.5]", "[1.0, -0.5]"),
        (Value::Bytes(b"ab".to_vec()), "\"YWI=\"", "ab"),
        (Value::Bytes(vec![0xff]), "\"/w==\"", "/w=="),
        (text("a,b"), "\"a,b\"", "a,b"),
        (Value::Set(vec![Value::Int(1)]), "[1]", "[1]"),
        (
            items,
            r#"{"dtype":"<i2","shape":[1],"data":"AQA="}"#,
            r#"{"dtype": "<i2", "shape": [1], "data": "AQA="}"#,
        ),
        (
            Value::Objects(Box::new(objects)),
            r#"{"shape":[2],"values":[null,"a"]}"#,
            r#"{"shape": [2], "values": [null, "a"]}"#,
        ),
        (Value::Frame(vec![1]), r#"{"frame":"AQ=="}"#, r#"{"frame": "AQ=="}"#),
        (
            Value::Reference(Box::new(reference)),
            r#"{"reference":{"urlpath":"x"}}"#,
            r#"{"reference": {"urlpath": "x"}}"#,
        ),
        (Value::Ext(7, vec![1]), r#"{"ext":7,"data":"AQ=="}"#, r#"{"ext": 7, "data": "AQ=="}"#),
        (Value::Raw(vec![1]), r#"{"raw":"AQ=="}"#, r#"{"raw": "AQ=="}"#),
        // Of repeated keys the last one is kept, at the position of the first.
        (
            Value::Map(vec![
                (Value::Int(1), Value::Nil),
                (text("b"), Value::Bool(true)),
                (text("1"), Value::Bool(false)),
            ]),
            r#"{"1":false,"b":true}"#,
            r#"{"1": false, "b": true}"#,
        ),
    ] {
        assert_eq!(value.to_json().to_json(), json);
        assert_eq!(value.to_field(), field, "{json}");
        assert!(value.memory() >= value::trimmed(json.as_bytes()).len().min(8) as u64);
        if !matches!(value, Value::Raw(_) | Value::Map(_)) {
            assert_eq!(Value::decode(&value.encode().unwrap()), Some(value), "{json}");
        }
    }
    let large = Json::parse(b"18446744073709551616").unwrap();
    assert!(matches!(Value::from_json(&large), Err(Error::Value(_))));
}

#[test]
fn floats_in_all_containers_are_rounded() {
    let third = || Value::Float(1.0 / 3.0);
    let rounded = || Value::Float(0.33);
    for (value, expected) in [
        (Value::Set(vec![third()]), Value::Set(vec![rounded()])),
        (Value::Tuple(vec![third()]), Value::Tuple(vec![rounded()])),
        (map(&[("a", third())]), map(&[("a", rounded())])),
        (Value::Float(f64::INFINITY), Value::Float(f64::INFINITY)),
        (Value::Complex(f64::INFINITY, 1.23), Value::Complex(f64::INFINITY, 1.23)),
        (Value::Complex(1.0, f64::NEG_INFINITY), Value::Complex(1.0, f64::NEG_INFINITY)),
        // Rounded up, it would be infinite.
        (Value::Float(f64::MAX), Value::Float(f64::MAX)),
    ] {
        assert_eq!(value.rounded(2), expected);
    }
}

/// Returns the extension of MessagePack with this content.
fn extension(code: i8, content: &Value) -> Vec<u8> {
    let content = content.encode().unwrap();
    let len = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&[0xc9], &len[..], &code.to_be_bytes(), &content].concat()
}

#[test]
fn arrays_in_values_must_match_their_description() {
    let shape = |extents: &[i64]| Value::List(extents.iter().map(|&len| Value::Int(len)).collect());
    let dtype = |text: &str| map(&[("str", Value::Str(text.to_owned()))]);
    let bytes = |len: usize| Value::Bytes(vec![1; len]);
    let fields =
        |parts: &[Value]| map(&[("descr", Value::List(vec![Value::List(parts.to_vec())]))]);
    let good = |described: &Value, len: usize| {
        let content =
            map(&[("shape", shape(&[2])), ("dtype", described.clone()), ("data", bytes(len))]);
        Value::decode(&extension(EXT_ARRAY, &content))
    };
    assert!(matches!(good(&dtype("<i2"), 4), Some(Value::Array(_))));
    let nested = Value::List(vec![Value::List(vec![text("b"), text("<i2")])]);
    for (parts, len) in [
        (&[text("a"), text("<i2")][..], 4),
        (&[text("a"), text("<i2"), shape(&[3])], 12),
        (&[text("a"), text("<i2"), Value::Tuple(vec![Value::Int(3)])], 12),
        (&[text("a"), nested], 4),
    ] {
        assert!(matches!(good(&fields(parts), len), Some(Value::Array(_))), "{parts:?}");
    }
    for content in [
        // The shape is missing, is no list, is negative, and overflows.
        map(&[("dtype", dtype("<i2")), ("data", bytes(4))]),
        map(&[("shape", Value::Int(2)), ("dtype", dtype("<i2")), ("data", bytes(4))]),
        map(&[("shape", shape(&[-2])), ("dtype", dtype("<i2")), ("data", bytes(4))]),
        map(&[("shape", shape(&[i64::MAX, 3])), ("dtype", dtype("<i2")), ("data", bytes(4))]),
        // The sizes differ.
        map(&[("shape", shape(&[2])), ("dtype", dtype("<i2")), ("data", bytes(3))]),
        map(&[("shape", shape(&[2])), ("values", Value::List(vec![Value::Nil]))]),
        // No dtype before the data, and none that is known.
        map(&[("shape", shape(&[2])), ("data", bytes(4)), ("dtype", dtype("<i2"))]),
        map(&[("shape", shape(&[2])), ("dtype", dtype("<q9")), ("data", bytes(4))]),
        map(&[("shape", shape(&[2])), ("dtype", Value::Nil), ("data", bytes(4))]),
        map(&[("shape", shape(&[2])), ("dtype", fields(&[Value::Nil])), ("data", bytes(4))]),
        map(&[("shape", shape(&[2])), ("dtype", fields(&[text("a"), Value::Int(1)]))]),
        // No items, and a key that is no text.
        map(&[("shape", shape(&[2]))]),
        Value::Map(vec![(text("shape"), shape(&[2])), (Value::Bytes(vec![1]), Value::Nil)]),
        Value::Nil,
    ] {
        assert_eq!(Value::decode(&extension(EXT_ARRAY, &content)), None, "{content:?}");
    }
    assert_eq!(Value::decode(&extension(EXT_SET, &Value::Int(1))), None);
    let described = map(&[("descr", Value::List(vec![text("a")]))]);
    assert_eq!(good(&described, 4), None);
}

#[test]
fn items_of_arrays_have_values_in_both_byte_orders() {
    let options = Options::default();
    let double = |number: f64| Value::Float(number);
    for (dtype, items, expected) in [
        ("<i2", &[0xfe, 0xff, 1, 0][..], [Value::Int(-2), Value::Int(1)]),
        (">i4", &[0, 0, 0, 5, 0xff, 0xff, 0xff, 0xff], [Value::Int(5), Value::Int(-1)]),
        (
            ">u8",
            &[[0xff; 8], [0, 0, 0, 0, 0, 0, 0, 9]].concat(),
            [Value::UInt(u64::MAX), Value::Int(9)],
        ),
        (">f2", &[0x3e, 0, 0xc0, 0], [double(1.5), double(-2.0)]),
        (
            ">f8",
            &[1.5_f64.to_be_bytes(), f64::MIN.to_be_bytes()].concat(),
            [double(1.5), double(f64::MIN)],
        ),
        (
            ">c8",
            &[1.5_f32, 2.0, -1.0, 0.5].map(f32::to_be_bytes).concat(),
            [Value::Complex(1.5, 2.0), Value::Complex(-1.0, 0.5)],
        ),
        (
            ">c16",
            &[1.5_f64, 2.0, -1.0, 0.5].map(f64::to_be_bytes).concat(),
            [Value::Complex(1.5, 2.0), Value::Complex(-1.0, 0.5)],
        ),
        (
            ">M8[s]",
            &[7_i64.to_be_bytes(), i64::MIN.to_be_bytes()].concat(),
            [Value::Int(7), Value::Int(i64::MIN)],
        ),
        (">U1", &[0, 0, 0, b'a', 0, 0, 0, 0], [text("a"), text("")]),
        ("|S2", b"a\0\0\0", [Value::Bytes(b"a".to_vec()), Value::Bytes(vec![])]),
        ("|V1", &[1, 2], [Value::Bytes(vec![1]), Value::Bytes(vec![2])]),
        (
            "[('a', '>i2'), ('b', '|b1')]",
            &[0, 1, 1, 0, 2, 0],
            [(1, true), (2, false)]
                .map(|(a, b)| map(&[("a", Value::Int(a)), ("b", Value::Bool(b))])),
        ),
    ] {
        let array = array(dtype, Some(2), items);
        let values = array_values("/a", &array, 0..2, &options).unwrap();
        assert_eq!(values, expected, "{dtype}");
        assert_eq!(array_values("/a", &array, 1..2, &options).unwrap(), expected[1..]);
        assert_eq!(array_values("/a", &array, 2..2, &options).unwrap(), []);
        for range in [0..3, 3..3, 3..4] {
            let outside = array_values("/a", &array, range, &options);
            assert!(matches!(outside, Err(Error::OutOfRange { len: 2, .. })), "{outside:?}");
        }
    }
    let scalar = array("<i2", None, &[3, 0]);
    assert_eq!(array_values("/a", &scalar, 0..1, &options).unwrap(), [Value::Int(3)]);
    assert_eq!(array_values("/a", &scalar, 0..0, &options).unwrap(), []);
    assert!(array_values("/a", &scalar, 0..2, &options).is_err());
    // A surrogate, a dtype of another size, and one that does not exist.
    let surrogate = array("<U1", Some(1), &[0x80, 0xdc, 0, 0]);
    assert!(matches!(array_values("/a", &surrogate, 0..1, &options), Err(Error::Damaged { .. })));
    for dtype in ["<i8", "<q4", "|O"] {
        let odd = array(dtype, Some(1), &[1; 4]);
        let refused = array_values("/a", &odd, 0..1, &options);
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{dtype}: {refused:?}");
    }
    let small = Options { max_message: 10, ..Options::default() };
    let refused = array_values("/a", &array("<i2", Some(2), &[1; 4]), 0..2, &small);
    assert!(matches!(refused, Err(Error::Limit { .. })), "{refused:?}");
}

#[test]
fn attributes_that_cannot_be_set_or_removed_are_refused() {
    let (_folder, path) = temporary();
    let mut writer = Store::create(&path).unwrap();
    writer.put("/g/a", frame()).unwrap();
    let mut table = writer.create_table("/t", &[ColumnSpec::number("n", "int8")]).unwrap();
    table.append_rows(&[vec![Value::Int(1)]]).unwrap();
    table.finish().unwrap();
    let long = "n".repeat(32);
    for name in ["", long.as_str(), "_LazyArray", "proxy-source", "blosc2_indexes"] {
        let refused = writer.set_attr("/g/a", name, &Value::Nil);
        assert!(matches!(refused, Err(Error::InvalidName { .. })), "{name}: {refused:?}");
    }
    for key in ["/g/a", "/g", "/", "/t"] {
        writer.set_attr(key, "unit", &text("m")).unwrap();
        writer.set_attr(key, "unit", &text("km")).unwrap();
        for name in ["none", "_LazyArray", "proxy-x"] {
            let refused = writer.remove_attr(key, name);
            assert!(matches!(refused, Err(Error::InvalidName { .. })), "{key}: {refused:?}");
        }
        writer.remove_attr(key, "unit").unwrap();
        assert!(writer.remove_attr(key, "unit").is_err(), "{key}");
        for number in 0..16 {
            writer.set_attr(key, &format!("a{number}"), &Value::Int(number)).unwrap();
        }
        let refused = writer.set_attr(key, "more", &Value::Nil);
        assert!(matches!(refused, Err(Error::Refused { .. })), "{key}: {refused:?}");
        writer.set_attr(key, "a7", &Value::Nil).unwrap();
    }
    let large = Value::Raw(vec![0; (limits::MAX_ATTRIBUTE + 1) as usize]);
    assert!(matches!(writer.set_attr("/", "a7", &large), Err(Error::Limit { .. })));
    for key in ["/none", "/t/n", "/t/_meta"] {
        assert!(writer.set_attr(key, "a", &Value::Nil).is_err(), "{key}");
        assert!(writer.remove_attr(key, "a").is_err(), "{key}");
    }
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    for key in ["/g/a", "/g", "/", "/t"] {
        let attrs = store.attrs(key).unwrap().entries;
        assert_eq!((attrs.len(), &attrs[7]), (16, &("a7".to_owned(), Value::Nil)), "{key}");
    }
}

#[test]
fn the_root_of_an_embed_store_has_attributes_and_that_of_a_dict_has_none() {
    let (folder, _) = temporary();
    let path = folder.path().join("s.b2e");
    let mut writer = Store::create(&path).unwrap();
    writer.put("/a", frame()).unwrap();
    for number in 0..15 {
        writer.set_attr("/", &format!("a{number}"), &Value::Int(number)).unwrap();
    }
    // The map of the store is one, too.
    assert!(matches!(writer.set_attr("/", "more", &Value::Nil), Err(Error::Refused { .. })));
    writer.set_attr("/", "a3", &Value::Nil).unwrap();
    writer.remove_attr("/", "a4").unwrap();
    assert!(matches!(writer.remove_attr("/", "a4"), Err(Error::InvalidName { .. })));
    writer.set_attr("/", "more", &Value::Nil).unwrap();
    writer.commit().unwrap();
    let mut writer = Store::change(&path).unwrap();
    assert!(writer.set_attr("/", "again", &Value::Nil).is_err());
    writer.remove_attr("/", "a5").unwrap();
    writer.commit().unwrap();
    let attrs = Store::open(&path).unwrap().attrs("/").unwrap().entries;
    assert_eq!(attrs.len(), 14);
    assert_eq!(attrs.iter().find(|(name, _)| name == "a3").unwrap().1, Value::Nil);
    let path = folder.path().join("d.b2z");
    let options = WriteOptions { kind: StoreKind::Dict, ..WriteOptions::default() };
    let mut writer = Store::create_with(&path, &options).unwrap();
    writer.put("/g/a", frame()).unwrap();
    for key in ["/", "/g"] {
        assert!(writer.set_attr(key, "a", &Value::Nil).is_err(), "{key}");
    }
    writer.set_attr("/g/a", "a", &Value::Nil).unwrap();
    writer.commit().unwrap();
    assert_eq!(Store::open(&path).unwrap().attrs("/g/a").unwrap().entries.len(), 1);
}

#[test]
fn columns_with_invalid_descriptions_are_refused() {
    let (_folder, path) = temporary();
    let mut writer = Store::create(&path).unwrap();
    for (spec, why) in [
        (ColumnSpec::number("a", "int3"), "not a kind of"),
        (ColumnSpec::number("a", "string"), "maximum length"),
        (ColumnSpec::timestamp("a", "h", None), "not a unit of times"),
        (ColumnSpec::string("a", 0), "maximum length"),
        (ColumnSpec::bytes("a", 0), "maximum length"),
        (ColumnSpec::array("a", &[], "<i4"), "not at least 1"),
        (ColumnSpec::array("a", &[2, 0], "<i4"), "not at least 1"),
        (ColumnSpec::array("a", &[2], "<q4"), "not supported"),
        (ColumnSpec::array("a", &[2], "|S0"), "not supported"),
        (ColumnSpec::array("a", &[2], "<M8[s]"), "not supported"),
        (ColumnSpec::number("", "int8"), "it is empty"),
        (ColumnSpec::number("_a", "int8"), "do not start with '_'"),
        (ColumnSpec::number("a\nb", "int8"), "a control character"),
        (ColumnSpec::number("a\\", "int8"), "a single backslash"),
    ] {
        let error = writer.create_table("/t", std::slice::from_ref(&spec)).err().unwrap();
        let is_refused = matches!(error, Error::Column { .. } | Error::InvalidName { .. });
        assert!(is_refused && error.to_string().contains(why), "{spec:?}: {error}");
    }
    for value in [Value::Nil, Value::List(vec![])] {
        assert!(ColumnSpec::object("a").default_value(&value).is_err());
    }
    let defaults = [
        ColumnSpec::number("c", "complex64").default_value(&Value::Complex(1.0, -2.0)).unwrap(),
        ColumnSpec::bytes("b", 3).default_value(&Value::Bytes(vec![0xff])).unwrap(),
        ColumnSpec::number("n", "int8").at_least(-1).at_most(5),
    ];
    let mut table = writer.create_table("/t", &defaults).unwrap();
    table.append(&[("n", Cells::Values(&[Value::Int(5), Value::Int(-1)]))]).unwrap();
    for bad in [-2, 6] {
        assert!(table.append(&[("n", Cells::Values(&[Value::Int(bad)]))]).is_err(), "{bad}");
    }
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.table("/t").unwrap();
    assert_eq!(
        table.values("c", 0..2).unwrap(),
        [Value::Complex(1.0, -2.0), Value::Complex(1.0, -2.0)]
    );
    assert_eq!(table.values("b", 1..2).unwrap(), [Value::Bytes(vec![0xff])]);
    let copied = ColumnSpec::like(&table.schema().columns[1], "other");
    assert_eq!(copied.name(), "other");
    for range in [0..3, 3..3] {
        for column in ["c", "n"] {
            let outside = table.values(column, range.clone());
            assert!(matches!(outside, Err(Error::OutOfRange { len: 2, .. })), "{outside:?}");
            assert!(table.items(column, range.clone()).is_err());
        }
        assert!(table.rows(range).is_err());
    }
    assert!(matches!(table.values("none", 0..1), Err(Error::NoSuchColumn(_))));
    assert!(table.texts("n", 0..1).is_err());
    assert_eq!(
        (table.len(), table.is_empty(), table.stored_rows(), table.key()),
        (2, false, 2, "/t")
    );
}

#[test]
fn objects_outside_of_an_array_are_out_of_range() {
    let (_folder, path) = temporary();
    let mut writer = Store::create(&path).unwrap();
    let mut objects = ObjectsWriter::object_array().unwrap();
    let mut batches = ObjectsWriter::batch_array(Some(2)).unwrap();
    assert!(objects.is_empty() && batches.is_empty());
    for number in 0..5 {
        objects.push(&Value::Int(number)).unwrap();
    }
    batches.push_batch(&[Value::Int(0), Value::Int(1), Value::Int(2)]).unwrap();
    batches.push_batch(&[Value::Int(3), Value::Int(4)]).unwrap();
    assert_eq!((objects.len(), batches.is_empty()), (5, false));
    writer.put("/o", objects.finish().unwrap()).unwrap();
    writer.put("/b", batches.finish().unwrap()).unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    for key in ["/o", "/b"] {
        let objects = store.objects(key).unwrap();
        assert_eq!(objects.len().unwrap(), 5);
        assert!(format!("{objects:?}").contains(key));
        assert_eq!(objects.items(1..4).unwrap(), [1, 2, 3].map(Value::Int), "{key}");
        assert_eq!(objects.items(3..3).unwrap(), []);
        for (start, end) in [(4, 6), (5, 6), (3, 2), (u64::MAX - 1, u64::MAX)] {
            let outside = objects.items(start..end);
            assert!(matches!(outside, Err(Error::OutOfRange { .. })), "{key} {start} {outside:?}");
        }
        assert_eq!(objects.len_within(0).unwrap(), 0, "{key}");
    }
    let batches = store.objects("/b").unwrap();
    assert_eq!((batches.nbatches(), batches.class()), (2, Class::BatchArray));
    assert_eq!(batches.batch(1).unwrap(), [3, 4].map(Value::Int));
    for number in [2, u64::MAX] {
        assert!(matches!(batches.batch(number), Err(Error::OutOfRange { .. })));
        assert!(batches.raw_batch(number).is_err());
    }
    // Leaves of another class.
    assert!(store.array("/o").is_err());
    assert!(matches!(store.objects("/none"), Err(Error::NoSuchKey(_))));
    let leaf = store.leaf("/o").unwrap();
    assert!(format!("{leaf:?}").contains("/o"));
}

/// Names of metalayers are bytes; a text of them would be another name.
#[test]
fn changes_keep_metalayers_whose_names_are_not_utf8() {
    let (folder, path) = temporary();
    let layers = |schunk: &SChunk| -> Vec<(Vec<u8>, Vec<u8>)> {
        let layers = super::attrs::fixed_layers(schunk);
        layers.into_iter().filter(|(name, _)| name[0] == 0xff).collect()
    };
    let kept = [(b"\xff1".to_vec(), b"one".to_vec()), (b"\xff2".to_vec(), b"two".to_vec())];
    let with_layers = |bytes: &[u8]| {
        let old = SChunk::from_bytes(bytes, DParams::default()).unwrap();
        let params = CParams::default().typesize(old.typesize());
        let mut new = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        ferroblosc::schunk::copy::copy_head(old.state(), new.state_mut()).unwrap();
        for (name, content) in &kept {
            ferroblosc::schunk::meta::add(new.state_mut(), name, content).unwrap();
        }
        for number in 0..old.nchunks() {
            new.append_chunk(&old.chunk(number).unwrap()).unwrap();
        }
        for name in old.vlmetalayer_names() {
            new.add_vlmetalayer(&name, &old.vlmetalayer(&name).unwrap()).unwrap();
        }
        new.to_bytes().unwrap()
    };
    // The embed store of a directory, and the values of a column.
    let path = path.with_extension("b2d");
    let mut writer = Store::create(&path).unwrap();
    let mut table = writer.create_table("/t", &[ColumnSpec::object("c")]).unwrap();
    table.append_rows(&[vec![Value::Int(1)], vec![Value::Nil]]).unwrap_err();
    table.append_rows(&[vec![Value::Int(1)], vec![Value::Int(2)]]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let files = [path.join("embed.b2e"), path.join("t/_cols/c.b2b")];
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        std::fs::write(file, with_layers(&bytes)).unwrap();
    }
    let mut writer = Store::change(&path).unwrap();
    writer.set_attr("/", "unit", &text("m")).unwrap();
    let embedded = WriteOptions { threshold: Some(1000), ..WriteOptions::default() };
    let mut table = writer.table("/t").unwrap();
    table.append_rows(&[vec![Value::Int(3)]]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let found = store.table("/t").unwrap().values("c", 0..3).unwrap();
    assert_eq!(found, [1, 2, 3].map(Value::Int));
    store.convert(folder.path().join("copy.b2d"), &embedded).unwrap();
    for file in [&files[1], &folder.path().join("copy.b2d/embed.b2e")] {
        let schunk = SChunk::open(Storage::file(file), DParams::default()).unwrap();
        assert_eq!(layers(&schunk), kept, "{}", file.display());
    }
}

#[test]
fn a_large_embed_store_has_large_chunks() {
    let (folder, _) = temporary();
    let path = folder.path().join("s.b2e");
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..9 << 20)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    schunk.append(&noise).unwrap();
    let mut writer = Store::create(&path).unwrap();
    writer.put("/a", NewLeaf::schunk(&schunk).unwrap()).unwrap();
    writer.commit().unwrap();
    let embed = SChunk::open(Storage::file(&path), DParams::default()).unwrap();
    assert_eq!(embed.chunksize(), 1 << 20);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.leaf("/a").unwrap().schunk().decompress_to_vec(0).unwrap(), noise);
}

#[test]
fn the_group_of_lost_leaves_does_not_mix_with_others() {
    let (folder, path) = temporary();
    let mut writer = Store::create(&path).unwrap();
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    let items: Vec<u8> = (0..10_000_u32).map(|number| (number / 7) as u8).collect();
    schunk.append(&items).unwrap();
    schunk.add_vlmetalayer("a", b"\x01").unwrap();
    let leaf = NewLeaf::schunk(&schunk).unwrap();
    let long = format!("/{}/{}", "x".repeat(150), "y".repeat(150));
    for key in ["/lost", "/g/damaged", long.as_str()] {
        writer.put(key, leaf.clone()).unwrap();
    }
    writer.commit().unwrap();
    // The offset of the first block, in all leaves but the first.
    let chunk = schunk.chunk(0).unwrap().to_vec();
    let mut bytes = std::fs::read(&path).unwrap();
    let at: Vec<usize> = bytes
        .windows(chunk.len())
        .enumerate()
        .filter(|(_, window)| *window == chunk)
        .map(|(at, _)| at + 32)
        .collect();
    assert_eq!(at.len(), 3);
    for at in at {
        bytes[at..at + 4].fill(0x7f);
    }
    // Another name, and no directory.
    let damaged = folder.path().join("damaged.zip");
    let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    bytes.truncate(end);
    std::fs::write(&damaged, &bytes).unwrap();
    let target = folder.path().join("repaired.b2z");
    let repaired = Store::repair(&damaged, &target, &WriteOptions::default()).unwrap();
    assert_eq!(repaired.leaves, 3, "{repaired:?}");
    let store = Store::open(&target).unwrap();
    let mut keys: Vec<&str> = store.leaf_keys().collect();
    keys.sort_unstable();
    assert!(keys.iter().all(|key| key.starts_with("/lost-1/")), "{keys:?}");
    assert!(keys.iter().all(|key| key.len() < 250), "{keys:?}");
    // Nothing is readable.
    std::fs::write(&damaged, b"PK\x03\x04 and nothing else").unwrap();
    let target = folder.path().join("none.b2z");
    assert!(Store::repair(&damaged, &target, &WriteOptions::default()).is_err());
    assert!(!target.exists());
}

#[test]
fn cells_that_a_column_cannot_hold_are_refused() {
    let (_folder, path) = temporary();
    let mut writer = Store::create(&path).unwrap();
    let pair = |one, two| Value::List(vec![Value::Int(one), Value::Int(two)]);
    let fields = [ColumnSpec::number("n", "int8"), ColumnSpec::vlstring("s")];
    for (number, (spec, good, bad)) in [
        (
            ColumnSpec::number("c", "int8"),
            vec![Value::Int(-128), Value::Int(127)],
            vec![Value::Int(128), Value::Float(1.5), text("1"), Value::Nil],
        ),
        (
            ColumnSpec::number("c", "uint64"),
            vec![Value::UInt(u64::MAX), Value::Int(0)],
            vec![Value::Int(-1), Value::Bytes(vec![1])],
        ),
        (
            ColumnSpec::boolean("c"),
            vec![Value::Bool(true), Value::Bool(false)],
            vec![Value::Int(2), text("true"), Value::Nil],
        ),
        (
            ColumnSpec::number("c", "complex64"),
            vec![Value::Complex(1.5, -2.0), Value::Complex(0.0, 0.0)],
            vec![text("1j"), Value::Complex(1e300, 0.0)],
        ),
        (
            ColumnSpec::bytes("c", 2),
            vec![Value::Bytes(b"ab".to_vec()), Value::Bytes(b"a".to_vec())],
            vec![Value::Bytes(b"abc".to_vec()), Value::Bytes(b"a\0".to_vec()), text("a")],
        ),
        (
            ColumnSpec::string("c", 2),
            vec![text("é漢"), text("")],
            vec![text("abc"), text("a\0"), Value::Bytes(b"a".to_vec()), Value::Int(1)],
        ),
        (
            ColumnSpec::timestamp("c", "us", None),
            vec![Value::Int(5), Value::Int(-5)],
            vec![Value::Float(1.5), text("2020")],
        ),
        (
            ColumnSpec::array("c", &[2], "<i2"),
            vec![pair(1, 2), pair(-3, 4)],
            vec![Value::Int(1), Value::List(vec![Value::Int(1)]), pair(1, 40_000)],
        ),
        (
            ColumnSpec::list("c", ColumnSpec::number("", "int8")),
            vec![pair(1, 2), Value::List(vec![])],
            vec![Value::Int(1), pair(1, 1000)],
        ),
        (
            ColumnSpec::structure("c", &fields),
            vec![map(&[("n", Value::Int(1)), ("s", text("a"))]); 2],
            vec![Value::Int(1), map(&[("n", text("a"))])],
        ),
        (
            ColumnSpec::dictionary("c", false),
            vec![text("a"), text("b")],
            vec![Value::Int(1), Value::Nil],
        ),
        (ColumnSpec::utf8("c"), vec![text("a"), text("")], vec![Value::Int(1), Value::Nil]),
        (
            ColumnSpec::vlbytes("c"),
            vec![Value::Bytes(vec![0]), Value::Bytes(vec![])],
            vec![text("a"), Value::Nil],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("/t{number}");
        let mut table = writer.create_table(&key, std::slice::from_ref(&spec)).unwrap();
        table.append(&[("c", Cells::Values(&good))]).unwrap();
        for value in bad {
            let refused = table.append(&[("c", Cells::Values(std::slice::from_ref(&value)))]);
            assert!(matches!(refused, Err(Error::Value(_))), "{spec:?} {value:?}: {refused:?}");
            let refused = table.set("c", &[0], Cells::Values(std::slice::from_ref(&value)));
            assert!(refused.is_err(), "{spec:?} {value:?}");
        }
        // Rows and columns that do not exist, other numbers of values, and items of another size.
        for (column, rows, count) in [
            ("c", &[2][..], 1),
            ("c", &[1, 0], 2),
            ("c", &[0, 0], 2),
            ("c", &[0], 2),
            ("d", &[0], 1),
        ] {
            let refused = table.set(column, rows, Cells::Values(&good[..count]));
            assert!(refused.is_err(), "{spec:?} {column} {rows:?}");
        }
        table.set("c", &[], Cells::Values(&[])).unwrap();
        let odd = Cells::Items { bytes: &[1; 3], valid: None };
        assert!(table.set("c", &[0, 1, 2], odd).is_err(), "{spec:?}");
        assert!(matches!(table.delete(&[0, 2]), Err(Error::OutOfRange { len: 2, .. })));
        table.delete(&[]).unwrap();
        assert!(matches!(table.drop_column("d"), Err(Error::NoSuchColumn(_))));
        assert!(matches!(table.rename_column("d", "e"), Err(Error::NoSuchColumn(_))));
        for name in ["", "_x"] {
            assert!(matches!(table.rename_column("c", name), Err(Error::InvalidName { .. })));
        }
        table.rename_column("c", "c").unwrap();
        let twice = table.add_column(&ColumnSpec::number("c", "int8"), None);
        assert!(matches!(twice, Err(Error::InvalidName { .. })), "{twice:?}");
        table.finish().unwrap();
        // The table is as after the first batch.
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(store.table(&key).unwrap().values("c", 0..2).unwrap(), good, "{spec:?}");
        writer = Store::change(&path).unwrap();
    }
}
