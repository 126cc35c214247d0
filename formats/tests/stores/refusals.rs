//! The reasons why changes, conditions and damaged zip files are refused.

use crate::build::Scratch;
use crate::writing::text;
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::store::{
    Cells, ColumnSpec, Error, Filter, NewLeaf, Store, StoreKind, StoreWriter, Value, WriteOptions,
};
use std::fmt::Debug;
use std::path::Path;

/// Checks that an operation fails for a reason.
#[track_caller]
fn refused<T: Debug>(result: Result<T, Error>, reason: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(reason), "{error} is not {reason}");
}

fn leaf() -> NewLeaf {
    let params = CParams::default().typesize(1);
    let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
    schunk.append(b"some data").unwrap();
    NewLeaf::schunk(&schunk).unwrap()
}

fn created(path: &Path, kind: StoreKind) -> StoreWriter {
    let mut options = WriteOptions::default();
    options.kind = kind;
    Store::create_with(path, &options).unwrap()
}

#[test]
fn keys_inside_objects_and_reserved_ones_are_refused() {
    let scratch = Scratch::new();
    let mut writer = Store::create(scratch.path("s.b2z")).unwrap();
    let columns = [ColumnSpec::number("i", "int64")];
    writer.create_table("/t", &columns).unwrap().finish().unwrap();
    writer.put("/leaf", leaf()).unwrap();
    let inside = writer.leaf_keys().find(|key| key.ends_with("/i")).unwrap().to_owned();
    let reason = "it is inside the object /t";
    refused(writer.put("/t/new", leaf()), reason);
    refused(writer.replace(&inside, leaf()), reason);
    refused(writer.delete(&inside), reason);
    refused(writer.set_attr(&inside, "a", &Value::Int(1)), reason);
    refused(writer.put("/g/_meta", leaf()), "its last part has a meaning in trees");
    refused(writer.put("relative", leaf()), "the key does not start with '/'");
    refused(writer.put("/a\0", leaf()), "NUL");
    refused(writer.delete("/"), "the root of a store is not deleted");
    refused(writer.create_table("/leaf", &columns), "exists already");
    refused(writer.create_table("/t", &columns), "exists already");
    for key in ["/leaf", "/"] {
        refused(writer.remove_attr(key, "none"), "has no such attribute");
    }
    writer.set_attr("/leaf", "a", &Value::Int(1)).unwrap();
    writer.remove_attr("/leaf", "a").unwrap();
    refused(writer.remove_attr("/leaf", "a"), "has no such attribute");

    let mut dict = created(&scratch.path("d.b2z"), StoreKind::Dict);
    refused(dict.create_table("/t", &columns), "only trees contain tables");
    refused(dict.set_attr("/", "a", &Value::Nil), "dict stores have no attributes at their root");
    let mut embed = Store::create(scratch.path("e.b2e")).unwrap();
    refused(embed.put("/a:b", leaf()), "the keys of an embed store have no ':'");
}

#[test]
fn rows_and_columns_that_do_not_fit_are_refused() {
    let scratch = Scratch::new();
    let mut writer = Store::create(scratch.path("s.b2z")).unwrap();
    let fields = [ColumnSpec::number("a", "int64"), ColumnSpec::string("b", 3)];
    let columns = [
        ColumnSpec::number("i", "int64").at_least(-5).at_most(5),
        ColumnSpec::number("f", "float64").default_value(&Value::Float(0.5)).unwrap(),
        ColumnSpec::string("s", 2).nullable(),
        ColumnSpec::bytes("y", 2).nullable(),
        ColumnSpec::structure("st", &fields).nullable(),
        ColumnSpec::utf8("u").nullable(),
    ];
    let mut table = writer.create_table("/t", &columns).unwrap();
    let one = [Value::Int(1)];
    let mut append = |name: &str, value: Value, reason: &str| {
        let values = [value];
        let rest = [("i", Cells::Values(&one)), (name, Cells::Values(&values))];
        refused(table.append(if name == "i" { &rest[1..] } else { &rest }), reason);
    };
    append("i", Value::Int(-6), "below the minimum");
    append("i", Value::Int(6), "above the maximum");
    append("i", Value::Nil, "column \"i\", new row 0: the column has no nulls");
    append("s", text("abc"), "the length 3 is above 2");
    append("y", Value::Bytes(vec![1; 3]), "the length 3 is above 2");
    append("u", Value::Int(1), "the value is not of the kind");
    append("st", Value::Int(1), "the value is not");
    append("st", Value::Map(vec![]), "the map has 0 fields, not 2");
    let entries =
        |names: [&str; 2]| Value::Map(names.map(|name| (text(name), Value::Int(1))).to_vec());
    append("st", entries(["a", "c"]), "the map has no field \"b\"");
    append("st", entries(["a", "b"]), "field \"b\": ");

    let two = [Value::Int(1), Value::Int(2)];
    let lengths = [("i", Cells::Values(&one)), ("f", Cells::Values(&two))];
    refused(table.append(&lengths), "column \"f\" has 2 new rows, others not");
    refused(table.append_rows(&[vec![Value::Int(1)]]), "a row has 1 values for 6 columns");
    let items = Cells::Items { bytes: &[0; 8], valid: None };
    let texts = [("i", items), ("u", items)];
    refused(table.append(&texts), "its values have no fixed size");
    let nulls = Cells::Items { bytes: &[0; 8], valid: Some(&[false]) };
    refused(table.append(&[("i", nulls)]), "the column has no nulls");
    table.append(&[("i", Cells::Values(&two))]).unwrap();
    assert_eq!(table.len(), 2);

    let new = ColumnSpec::number("n", "int64");
    refused(table.add_column(&new, Some(Cells::Values(&one))), "there are 1 values for 2 rows");
    refused(table.add_column(&new, None), "its values are missing");
    let old = ColumnSpec::number("i", "int64");
    refused(table.add_column(&old, None), "another column has this name");
    refused(table.rename_column("i", "f"), "another column has this name");
    for (name, reason) in [
        ("", "it is empty"),
        ("_i", "the names of columns do not start with '_'"),
        ("a\n", "it contains a control character"),
        ("a\\", "it ends with a single backslash"),
    ] {
        refused(table.rename_column("i", name), reason);
    }
    refused(table.set("i", &[2], Cells::Values(&one)), "2..3 is out of range");
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(scratch.path("s.b2z")).unwrap();
    assert_eq!(store.table("/t").unwrap().len(), 2);
    assert!(store.verify().unwrap().is_empty());
}

#[test]
fn conditions_name_the_place_of_the_fault() {
    for (condition, reason) in [
        ("(a > 1", "at byte 6: a closing parenthesis is expected"),
        ("a is nothing", "'null' is expected"),
        ("a ~ 1", "an operator such as '==' or 'is null' is expected"),
        ("`a > 1", "the closing backquote is missing"),
        ("a == ", "a number, true, false or a text in quotes is expected"),
        ("a == 'x", "the closing quote is missing"),
        ("1 == a", "the name of a column is expected"),
        ("a == 1 b", "at byte 7"),
        ("", "the name of a column is expected"),
    ] {
        refused(Filter::parse(condition), reason);
    }
}

/// Returns the offset of the last occurrence of a magic.
fn last(bytes: &[u8], magic: &[u8; 4]) -> usize {
    bytes.windows(4).rposition(|window| window == magic).unwrap()
}

#[test]
fn damaged_zip_files_have_a_reason() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2z");
    let mut writer = Store::create(&path).unwrap();
    writer.put("/leaf", leaf()).unwrap();
    writer.commit().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    // The first entry of the directory is that of the leaf.
    let entry = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let end = last(&bytes, b"PK\x05\x06");
    let changed = |at: usize, new: &[u8]| {
        let mut changed = bytes.clone();
        changed[at..at + new.len()].copy_from_slice(new);
        std::fs::write(&path, changed).unwrap();
        Store::open(&path)
    };
    for (at, new, reason) in [
        (entry + 8, &[1, 0][..], "it is encrypted"),
        (entry + 10, &[12, 0], "compression method 12 is not supported"),
        (entry + 20, &[1, 0, 0, 0], "it is not compressed, but has two sizes"),
        (entry + 42, &[5, 0, 0, 0], "there is no local header at its offset"),
        (entry + 42, &[0, 0, 0, 0x70], "its data are out of bounds"),
        (entry + 16, &[1, 2, 3, 4], "CRC-32"),
    ] {
        let store = changed(at, new).unwrap();
        let findings: Vec<String> =
            store.verify().unwrap().iter().map(ToString::to_string).collect();
        assert!(findings.iter().any(|finding| finding.contains(reason)), "{reason}: {findings:?}");
        let extracted = store.extract("/leaf", scratch.path("out"), &WriteOptions::default());
        assert!(extracted.unwrap_err().is_corruption(), "{reason}");
        assert!(!scratch.path("out").exists());
        let changed = Store::change(&path).and_then(|mut writer| {
            writer.put("/new", leaf())?;
            writer.commit()
        });
        assert!(changed.is_err(), "{reason}");
    }
    for (at, new, reason) in [
        (entry, &[0][..], "directory entry 0 is invalid"),
        (end + 8, &[9, 0, 9, 0], "its directory is too short for its entries"),
        (end + 12, &[0xff, 0xff, 0xff, 0x70], "its directory is out of bounds"),
        (end + 4, &[1, 0], "zip files of several disks are not supported"),
        (end, &[0], "the zip file is truncated"),
    ] {
        refused(changed(at, new), reason);
    }
    // A name that differs from that of the local header, which a copy would not have any more.
    let name = bytes.windows(9).rposition(|window| window == b"leaf.b2nd");
    let name = name.or(bytes.windows(8).rposition(|window| window == b"leaf.b2f")).unwrap();
    let store = changed(name, b"l").unwrap();
    store.convert(scratch.path("copy.b2z"), &WriteOptions::default()).unwrap();
    std::fs::remove_file(scratch.path("copy.b2z")).unwrap();
    let store = changed(name, b"x").unwrap();
    assert!(store.leaf_keys().eq(["/xeaf"]));
    let reason = "its name in the local header differs from the directory";
    refused(store.convert(scratch.path("copy.b2z"), &WriteOptions::default()), reason);
    refused(Store::change(&path), reason);
    let mut copy = Store::create(scratch.path("copy.b2z")).unwrap();
    refused(copy.copy_from(&store, "/xeaf", "/copy"), reason);
    drop(copy);
    // The repair keeps the leaf.
    Store::repair(&path, scratch.path("copy.b2z"), &WriteOptions::default()).unwrap();
    let repaired = Store::open(scratch.path("copy.b2z")).unwrap();
    assert!(repaired.leaf_keys().eq(["/xeaf"]) && repaired.verify().unwrap().is_empty());
    // A locator without its record.
    let mut zip64 = bytes[..end].to_vec();
    zip64.extend(b"PK\x06\x07\0\0\0\0\x05\0\0\0\0\0\0\0\x01\0\0\0");
    zip64.extend(&bytes[end..]);
    std::fs::write(&path, &zip64).unwrap();
    refused(Store::open(&path), "its zip64 record is missing");
    // Two members of the same bytes.
    let mut writer = Store::create(scratch.path("two.b2z")).unwrap();
    writer.put("/one", leaf()).unwrap();
    writer.put("/two", leaf()).unwrap();
    writer.commit().unwrap();
    let mut bytes = std::fs::read(scratch.path("two.b2z")).unwrap();
    let at = last(&bytes, b"PK\x01\x02") + 42;
    bytes[at..at + 4].fill(0);
    std::fs::write(scratch.path("two.b2z"), &bytes).unwrap();
    let store = Store::open(scratch.path("two.b2z"));
    let shown = match store {
        Ok(store) => format!("{:?}", store.verify()),
        Err(error) => error.to_string(),
    };
    assert!(shown.contains("overlaps member"), "{shown}");
}

#[test]
fn values_and_leaves_that_cannot_be_stored_are_refused() {
    let scratch = Scratch::new();
    let mut writer = Store::create(scratch.path("s.b2z")).unwrap();
    writer.put("/leaf", leaf()).unwrap();
    let deep = (0..2000).fold(Value::Nil, |inner, _| Value::List(vec![inner]));
    refused(writer.set_attr("/leaf", "a", &deep), "it is nested deeper than");
    let twice = Value::Map(vec![(text("k"), Value::Nil), (text("k"), Value::Int(1))]);
    refused(writer.set_attr("/leaf", "a", &twice), "a map has equal keys");
    refused(writer.set_attr("/leaf", "", &Value::Nil), "the name");
    refused(writer.set_attr("/none", "a", &Value::Nil), "there is no key \"/none\"");

    refused(NewLeaf::frame(Vec::new()), "not a contiguous frame");
    refused(NewLeaf::frame(vec![7; 500]), "not a contiguous frame");
    let file =
        scratch.file("text", b"no frame, but more bytes than the header of one has in a file");
    refused(NewLeaf::file(&file), "not a contiguous frame");
    refused(NewLeaf::file(scratch.path("missing")), "missing");
    let folder = scratch.path("folder");
    std::fs::create_dir(&folder).unwrap();
    assert!(NewLeaf::file(&folder).is_err());
    refused(Store::create(scratch.path("s.zip")), "the names of stores end with");
    std::fs::create_dir(scratch.path("d.b2z")).unwrap();
    refused(Store::create(scratch.path("d.b2z")), "exists already: it is a directory");
    refused(Store::create(scratch.file("f.b2d", b"")), "exists already: it is a file");
    assert!(matches!(Store::change(&file), Err(Error::NotAStore(_))));
    // A verified leaf is not decoded again, and a sound one can be verified twice.
    let mut sound = leaf();
    sound.verify("leaf").unwrap();
    sound.verify("leaf").unwrap();
    writer.put("/sound", sound).unwrap();
    writer.commit().unwrap();
    assert!(Store::open(scratch.path("s.b2z")).unwrap().verify().unwrap().is_empty());
}
