//! Tables with schemas and leaves that no writer should have made: changes keep the values, or are
//! refused.

use crate::build::{
    Scratch, empty_tree, frame, map, members_of, pack, stored, with_attribute, with_schema, zip,
};
use crate::common::open;
use crate::writing::text;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::{Storage, serialize};
use ferroblosc_formats::store::{
    Cells, ColumnSpec, Comparison, Error, Filter, ObjectsWriter, Options, QueryOptions, Store,
    TableWriter, Value, WriteOptions,
};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// Creates a store whose root is a table with one column `c` of these values.
fn table(scratch: &Scratch, spec: &ColumnSpec, values: &[Value]) -> Store {
    let path = scratch.path("source.b2z");
    let _ = std::fs::remove_file(&path);
    let mut writer = Store::create(&path).unwrap();
    let mut table = writer.create_table("/", std::slice::from_ref(spec)).unwrap();
    table.append(&[("c", Cells::Values(values))]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    Store::open(&path).unwrap()
}

/// Returns a copy of the table whose schema has `to` instead of `from`.
fn edited(scratch: &Scratch, store: &Store, from: &str, to: &str) -> Store {
    with_schema(scratch, store, |schema| {
        assert!(schema.contains(from), "{schema}");
        schema.replacen(from, to, 1)
    })
}

#[track_caller]
fn refused<T: Debug>(result: Result<T, Error>, reason: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(reason), "{error} is not {reason}");
}

/// A schema that permits nulls, but does not say how they are stored.
#[test]
fn nulls_that_a_column_cannot_record_are_refused() {
    let scratch = Scratch::new();
    for (spec, value, item) in [
        (ColumnSpec::number("c", "int16"), Value::Int(5), Some(2)),
        (ColumnSpec::number("c", "float64"), Value::Float(0.5), Some(8)),
        (ColumnSpec::boolean("c"), Value::Bool(true), Some(1)),
        (ColumnSpec::string("c", 2), text("ab"), Some(8)),
        (ColumnSpec::utf8("c"), text("ab"), None),
    ] {
        let source = table(&scratch, &spec.clone().nullable(), std::slice::from_ref(&value));
        edited(&scratch, &source, r#""null_storage": "mask""#, r#""null_storage": "other""#);
        let mut writer = Store::change(scratch.path("made.b2z")).unwrap();
        let mut table = writer.table("/").unwrap();
        let reason = "does not record nulls";
        refused(table.append_rows(&[vec![Value::Nil]]), reason);
        refused(table.set("c", &[0], Cells::Values(&[Value::Nil])), reason);
        if let Some(size) = item {
            let cells = Cells::Items { bytes: &vec![0; size], valid: Some(&[false]) };
            refused(table.set("c", &[0], cells), reason);
        }
        table.append_rows(&[vec![value.clone()]]).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
        let store = Store::open(scratch.path("made.b2z")).unwrap();
        let found = store.table("/").unwrap().values("c", 0..2).unwrap();
        assert_eq!(found, [value.clone(), value], "{spec:?}");
    }
}

/// Dictionaries and objects have nulls of their own, and no mask.
#[test]
fn a_mask_is_ignored_for_values_that_contain_their_nulls() {
    let scratch = Scratch::new();
    for (spec, value) in [
        (ColumnSpec::dictionary("c", false), text("a")),
        (ColumnSpec::vlstring("c"), text("a")),
        (ColumnSpec::object("c"), Value::Int(1)),
    ] {
        let source = table(&scratch, &spec.clone().nullable(), &[value.clone(), Value::Nil]);
        let to = r#""nullable": true, "null_storage": "mask""#;
        edited(&scratch, &source, r#""nullable": true"#, to);
        let path = scratch.path("made.b2z");
        let mut writer = Store::change(&path).unwrap();
        let mut table = writer.table("/").unwrap();
        table.append_rows(&[vec![value.clone()], vec![Value::Nil]]).unwrap();
        table.set("c", &[0], Cells::Values(&[Value::Nil])).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        let table = store.table("/").unwrap();
        let found = table.values("c", 0..4).unwrap();
        assert_eq!(found, [Value::Nil, Value::Nil, value, Value::Nil], "{spec:?}");
        let nulls = table.find(&Filter::IsNull("c".to_owned()), &QueryOptions::default());
        assert_eq!(nulls.unwrap().rows, [0, 1, 3], "{spec:?}");
    }
}

#[test]
fn codes_of_another_byte_order_are_read_and_not_changed() {
    let scratch = Scratch::new();
    let spec = ColumnSpec::dictionary("c", false);
    let values = ["a", "b", "a"].map(text);
    let source = table(&scratch, &spec, &values);
    let items = [0_i32, 1, 0].map(i32::to_be_bytes).concat();
    let layout = Layout { shape: &[3], chunkshape: &[3], blockshape: &[3] };
    let params = CParams::default().typesize(4);
    let codes = Array::from_item_bytes(Storage::frame(), params, &layout, ">i4", &items).unwrap();
    let mut members = members_of(&source);
    let member = members.iter_mut().find(|member| member.name == b"_cols/c.b2f").unwrap();
    *member = stored("_cols/c.b2f", &serialize(codes.schunk().state()).unwrap());
    let path = scratch.file("made.b2z", &zip(&members));
    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/").unwrap();
    let reason = "the codes are not of type <i4";
    refused(table.append_rows(&[vec![text("b")]]), reason);
    refused(table.set("c", &[0], Cells::Values(&[text("b")])), reason);
    drop(table);
    drop(writer);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.table("/").unwrap().values("c", 0..3).unwrap(), values);
    #[cfg(feature = "arrow")]
    assert_eq!(after_arrow(&scratch, &path), values);
}

/// Returns the values of the table after they are exported to Arrow IPC and imported again.
#[cfg(feature = "arrow")]
fn after_arrow(scratch: &Scratch, path: &Path) -> Vec<Value> {
    use ferroblosc_formats::convert::{ArrowFormat, arrow_to_table, table_to_arrow};
    let store = Store::open(path).unwrap();
    let mut bytes = Vec::new();
    table_to_arrow(&store.table("/").unwrap(), ArrowFormat::Ipc, &mut bytes).unwrap();
    let file = scratch.file("table.arrow", &bytes);
    let target = scratch.path("imported.b2z");
    let _ = std::fs::remove_file(&target);
    let mut writer = Store::create(&target).unwrap();
    arrow_to_table(&file, ArrowFormat::Ipc, &mut writer, "/", &mut |_| {}).unwrap();
    writer.commit().unwrap();
    let store = Store::open(&target).unwrap();
    let table = store.table("/").unwrap();
    table.values("c", 0..table.len()).unwrap()
}

/// Returns the frame of an array of one chunk.
fn array(shape: &[i64], dtype: &str, typesize: i32, items: &[u8]) -> Vec<u8> {
    let extents: Vec<i32> = shape.iter().map(|&extent| extent.try_into().unwrap()).collect();
    let layout = Layout { shape, chunkshape: &extents, blockshape: &extents };
    let params = CParams::default().typesize(typesize);
    let array = Array::from_item_bytes(Storage::frame(), params, &layout, dtype, items);
    array.unwrap().to_bytes().unwrap()
}

/// Returns the frame of an array of objects in one batch.
fn objects(scratch: &Scratch, values: &[Value]) -> Vec<u8> {
    let path = scratch.path("objects.b2e");
    let _ = std::fs::remove_file(&path);
    let mut objects = ObjectsWriter::batch_array(None).unwrap();
    objects.push_batch(values).unwrap();
    let mut writer = Store::create(&path).unwrap();
    writer.put("/o", objects.finish().unwrap()).unwrap();
    writer.commit().unwrap();
    Store::open(&path).unwrap().frame("/o").unwrap()
}

/// Writes a store whose root is a table of three live rows with this schema and these leaves.
fn with_leaves(scratch: &Scratch, schema: &str, leaves: &[(&str, Vec<u8>)]) -> PathBuf {
    let meta = [("kind", pack(&"ctable".into())), ("schema", pack(&schema.into()))];
    let mut members = vec![stored("_meta.b2f", &frame(&[], &meta, b"")), empty_tree()];
    if leaves.iter().all(|(name, _)| *name != MASK) {
        members.push(stored(MASK, &array(&[3], "|b1", 1, &[1; 3])));
    }
    members.extend(leaves.iter().map(|(name, bytes)| stored(name, bytes)));
    scratch.file("made.b2z", &zip(&members))
}

/// As [`with_leaves`], for the column `c` with this description.
fn made(scratch: &Scratch, column: &str, leaves: &[(&str, Vec<u8>)]) -> PathBuf {
    with_leaves(scratch, &format!(r#"{{"columns": [{{"name": "c", {column}}}]}}"#), leaves)
}

const MASK: &str = "_valid_rows.b2nd";
const VALUES: &str = "_cols/c.b2nd";
const NULLS: &str = "_cols/c.notnull.b2nd";
const BYTES: &str = "_cols/c.utf8.b2nd";
const WORDS: &str = "_cols/c_dict.b2b";

fn ints(numbers: &[i32]) -> Vec<u8> {
    let items: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    array(&[numbers.len() as i64], "<i4", 4, &items)
}

fn offsets(numbers: &[i64]) -> Vec<u8> {
    let items: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    array(&[numbers.len() as i64], "<i8", 8, &items)
}

fn values(path: &Path, count: u64) -> Result<Vec<Value>, Error> {
    Store::open(path)?.table("/")?.values("c", 0..count)
}

fn find(path: &Path, filter: &str) -> Result<Vec<u64>, Error> {
    let store = Store::open(path)?;
    let found = store.table("/")?.find(&Filter::parse(filter)?, &QueryOptions::default())?;
    Ok(found.rows)
}

/// Changes the table of a store.
fn changed<T>(
    path: &Path,
    change: impl FnOnce(&mut TableWriter<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut writer = Store::change(path)?;
    let mut table = writer.table("/")?;
    let result = change(&mut table)?;
    table.finish()?;
    writer.commit()?;
    Ok(result)
}

#[test]
fn leaves_of_another_form_are_errors_that_name_it() {
    let scratch = Scratch::new();
    let masked = r#""kind": "int32", "nullable": true, "null_storage": "mask""#;
    let words = || objects(&scratch, &[text("a")]);
    let bytes = || array(&[3], "|u1", 1, b"abc");
    let is_no_mask = "it is not a mask with one dimension";
    let is_no_code = "the codes of the dictionary are not integers";
    let is_no_offset = "the offsets of the texts are not of type <i8";
    let are_no_bytes = "the bytes of the texts are not bytes";
    for (column, leaves, reason) in [
        (
            r#""kind": "int32""#,
            vec![(VALUES, array(&[3, 1], "<i4", 4, &[0; 12]))],
            "more than one dimension",
        ),
        (r#""kind": "int32""#, vec![(VALUES, array(&[], "<i4", 4, &[0; 4]))], "has no dimension"),
        (
            r#""kind": "int32""#,
            vec![(VALUES, array(&[3], "<i8", 4, &[0; 12]))],
            "the size of the dtype",
        ),
        (r#""kind": "int32""#, vec![(VALUES, array(&[3], "<q4", 4, &[0; 12]))], "is not supported"),
        (
            r#""kind": "dictionary""#,
            vec![(VALUES, array(&[3], "<f4", 4, &[0; 12])), (WORDS, words())],
            is_no_code,
        ),
        (
            r#""kind": "dictionary""#,
            vec![(VALUES, array(&[3, 1], "<i4", 4, &[0; 12])), (WORDS, words())],
            is_no_code,
        ),
        (
            masked,
            vec![(VALUES, ints(&[1, 2, 3])), (NULLS, array(&[3, 1], "|b1", 1, &[1; 3]))],
            is_no_mask,
        ),
        (
            masked,
            vec![(VALUES, ints(&[1, 2, 3])), (NULLS, array(&[3], "<i2", 2, &[1; 6]))],
            is_no_mask,
        ),
        (r#""kind": "utf8""#, vec![(VALUES, ints(&[0, 1, 2, 3])), (BYTES, bytes())], is_no_offset),
        (
            r#""kind": "utf8""#,
            vec![(VALUES, array(&[4, 1], "<i8", 8, &[0; 32])), (BYTES, bytes())],
            is_no_offset,
        ),
        (
            r#""kind": "utf8""#,
            vec![(VALUES, offsets(&[0; 4])), (BYTES, array(&[3], "<i2", 2, &[0; 6]))],
            are_no_bytes,
        ),
        (
            r#""kind": "utf8""#,
            vec![(VALUES, offsets(&[0; 4])), (BYTES, array(&[3, 1], "|u1", 1, &[0; 3]))],
            are_no_bytes,
        ),
        (r#""kind": "int32""#, vec![(MASK, array(&[3, 1], "|b1", 1, &[1; 3]))], is_no_mask),
        (r#""kind": "int32""#, vec![(MASK, array(&[3], "<i2", 2, &[1; 6]))], is_no_mask),
        (r#""kind": "int32""#, vec![(MASK, array(&[3], "|S1", 1, &[1; 3]))], is_no_mask),
    ] {
        let path = made(&scratch, column, &leaves);
        refused(values(&path, 3), reason);
        let store = Store::open(&path).unwrap();
        let findings = store.verify().unwrap();
        assert!(
            findings.iter().any(|finding| finding.text.contains(reason)),
            "{reason}: {findings:?}"
        );
        drop(store);
        // A change of such a table would make it worse.
        assert!(
            changed(&path, |table| table.append_rows(&[vec![Value::Int(1)]])).is_err(),
            "{reason}"
        );
    }
}

#[test]
fn masks_of_another_length_or_type_are_noted() {
    let scratch = Scratch::new();
    let column = r#""kind": "int32", "nullable": true, "null_storage": "mask""#;
    let (one, two, three) = (Value::Int(1), Value::Int(2), Value::Int(3));
    for (mask, note, expected) in [
        (
            array(&[3], "|u1", 1, &[1, 0, 9]),
            "is not of type |b1",
            [one.clone(), Value::Nil, three.clone()],
        ),
        (
            array(&[4], "|b1", 1, &[1, 0, 1, 0]),
            "longer than the column",
            [one.clone(), Value::Nil, three.clone()],
        ),
        (array(&[1], "|b1", 1, &[0]), "is short", [Value::Nil, two.clone(), three.clone()]),
    ] {
        let path = made(&scratch, column, &[(VALUES, ints(&[1, 2, 3])), (NULLS, mask)]);
        assert_eq!(values(&path, 3).unwrap(), expected, "{note}");
        let store = Store::open(&path).unwrap();
        let table = store.table("/").unwrap();
        assert_eq!(table.values("c", 2..3).unwrap(), std::slice::from_ref(&three), "{note}");
        let valid = table.items("c", 0..3).unwrap().valid.unwrap();
        assert_eq!(valid, expected.clone().map(|value| value != Value::Nil), "{note}");
        let findings = store.verify().unwrap();
        assert!(findings.iter().any(|finding| finding.text.contains(note)), "{findings:?}");
        drop(table);
        drop(store);
        let appended =
            changed(&path, |table| table.append_rows(&[vec![Value::Nil], vec![Value::Int(5)]]));
        if note.contains("|b1") {
            refused(appended, "the mask of nulls is not of type |b1");
            continue;
        }
        appended.unwrap();
        let all = [&expected[..], &[Value::Nil, Value::Int(5)]].concat();
        assert_eq!(values(&path, 5).unwrap(), all, "{note}");
    }
    // The first null of a column is set, and appended as an item.
    let path = made(&scratch, column, &[(VALUES, ints(&[1, 2, 3]))]);
    changed(&path, |table| {
        table.set("c", &[0], Cells::Values(&[Value::Int(4)]))?;
        table.set("c", &[1], Cells::Values(&[Value::Nil]))?;
        table.set("c", &[2], Cells::Items { bytes: &[5, 0, 0, 0], valid: Some(&[true]) })
    })
    .unwrap();
    assert_eq!(values(&path, 3).unwrap(), [Value::Int(4), Value::Nil, Value::Int(5)]);
}

#[test]
fn big_endian_columns_are_read_and_extended() {
    let scratch = Scratch::new();
    for (kind, dtype, size, items, old, new) in [
        (r#""kind": "int32""#, ">i4", 4, [0, 0, 0, 7].repeat(3), Value::Int(7), Value::Int(-2)),
        (r#""kind": "uint16""#, ">u2", 2, [0, 7].repeat(3), Value::Int(7), Value::Int(65_534)),
        (
            r#""kind": "float64""#,
            ">f8",
            8,
            1.5_f64.to_be_bytes().repeat(3),
            Value::Float(1.5),
            Value::Float(-0.25),
        ),
        (
            r#""kind": "complex64""#,
            ">c8",
            8,
            [1.5_f32.to_be_bytes(), 2_f32.to_be_bytes()].concat().repeat(3),
            Value::Complex(1.5, 2.0),
            Value::Complex(-1.0, 0.5),
        ),
        (
            r#""kind": "string", "max_length": 2"#,
            ">U2",
            8,
            [0, 0, 0, b'a', 0, 0, 0, b'b'].repeat(3),
            text("ab"),
            text("é"),
        ),
    ] {
        let path = made(&scratch, kind, &[(VALUES, array(&[3], dtype, size, &items))]);
        assert_eq!(values(&path, 3).unwrap(), vec![old.clone(); 3], "{dtype}");
        changed(&path, |table| {
            table.append_rows(&[vec![new.clone()]])?;
            table.set("c", &[1], Cells::Values(std::slice::from_ref(&new)))
        })
        .unwrap();
        let expected = [old.clone(), new.clone(), old, new];
        assert_eq!(values(&path, 4).unwrap(), expected, "{dtype}");
        #[cfg(feature = "arrow")]
        if dtype != ">c8" {
            assert_eq!(after_arrow(&scratch, &path), expected, "{dtype}");
        }
    }
}

#[test]
fn codes_and_texts_of_another_length_are_errors() {
    let scratch = Scratch::new();
    let words = objects(&scratch, &[text("a"), text("b")]);
    let append =
        |value: Value| move |table: &mut TableWriter<'_>| table.append_rows(&[vec![value]]);
    let path = made(
        &scratch,
        r#""kind": "dictionary""#,
        &[(VALUES, ints(&[0, 1])), (WORDS, words.clone())],
    );
    refused(values(&path, 3), "there are 2 values");
    refused(changed(&path, append(text("a"))), "there are 2 values for 3 rows");
    let nullable = r#""kind": "dictionary", "nullable": true"#;
    let path = made(&scratch, nullable, &[(VALUES, ints(&[0, -1, 1])), (WORDS, words)]);
    assert_eq!(find(&path, "c == 'b'").unwrap(), [2]);
    assert_eq!(find(&path, "c != 'b'").unwrap(), [0]);
    assert_eq!(find(&path, "c is null").unwrap(), [1]);
    // Values that are not texts stay, and are not found.
    let words = objects(&scratch, &[Value::Int(7), text("a")]);
    let path = made(&scratch, nullable, &[(VALUES, ints(&[0, 1, -1])), (WORDS, words)]);
    changed(&path, |table| table.append_rows(&[vec![text("b")], vec![text("a")]])).unwrap();
    let expected = [Value::Int(7), text("a"), Value::Nil, text("b"), text("a")];
    assert_eq!(values(&path, 5).unwrap(), expected);
    assert_eq!(find(&path, "c == 'a'").unwrap(), [1, 4]);
    // Offsets that are too few, or beyond the bytes.
    let bytes = || array(&[3], "|u1", 1, b"abc");
    let path =
        made(&scratch, r#""kind": "utf8""#, &[(VALUES, offsets(&[0, 1, 2])), (BYTES, bytes())]);
    refused(values(&path, 3), "the value is missing");
    refused(changed(&path, append(text("a"))), "there are 2 values for 3 rows");
    let path =
        made(&scratch, r#""kind": "utf8""#, &[(VALUES, offsets(&[0, 1, 2, 99])), (BYTES, bytes())]);
    refused(values(&path, 3), "beyond the bytes of the column");
    assert_eq!(values(&path, 2).unwrap(), [text("a"), text("b")]);
    refused(changed(&path, append(text("a"))), "beyond the bytes of the column");
}

#[test]
fn null_values_exclude_rows_and_cannot_be_added() {
    let scratch = Scratch::new();
    let column = r#""kind": "int32", "nullable": true, "null_value": 2"#;
    let path = made(&scratch, column, &[(VALUES, ints(&[1, 2, 3]))]);
    for (filter, rows) in
        [("c >= 1", &[0, 2][..]), ("c != 1", &[2]), ("c == 2", &[]), ("c is null", &[1])]
    {
        assert_eq!(find(&path, filter).unwrap(), rows, "{filter}");
    }
    refused(
        changed(&path, |table| table.append_rows(&[vec![Value::Int(2)]])),
        "the value equals the null value of the column",
    );
    // A number is no null value of texts.
    let column = r#""kind": "string", "max_length": 1, "nullable": true, "null_value": 5"#;
    let items = [b'5', 0, 0, 0].repeat(3);
    let path = made(&scratch, column, &[(VALUES, array(&[3], "<U1", 4, &items))]);
    let store = Store::open(&path).unwrap();
    let table = store.table("/").unwrap();
    assert_eq!(table.items("c", 0..3).unwrap().valid.unwrap(), [true; 3]);
    assert_eq!(table.values("c", 0..3).unwrap(), vec![text("5"); 3]);
    drop(table);
    drop(store);
    let column = r#""kind": "utf8", "nullable": true, "null_value": "-""#;
    let bytes = array(&[3], "|u1", 1, b"a-b");
    let path = made(&scratch, column, &[(VALUES, offsets(&[0, 1, 2, 3])), (BYTES, bytes)]);
    let store = Store::open(&path).unwrap();
    let table = store.table("/").unwrap();
    assert_eq!(table.texts("c", 0..1).unwrap().valid, None);
    assert_eq!(table.texts("c", 0..3).unwrap().valid.unwrap(), [true, false, true]);
    drop(table);
    drop(store);
    refused(changed(&path, |table| table.append_rows(&[vec![text("-")]])), "equals the null value");
    changed(&path, |table| table.append_rows(&[vec![Value::Nil]])).unwrap();
    assert_eq!(values(&path, 4).unwrap(), [text("a"), Value::Nil, text("b"), Value::Nil]);
    // Texts in a column of numbers are read, and not compared with a number.
    let column = r#""kind": "int32""#;
    let path = made(&scratch, column, &[(VALUES, array(&[3], "<U1", 4, &items))]);
    assert_eq!(values(&path, 1).unwrap(), [text("5")]);
    refused(find(&path, "c == 5"), "values of the type <U1 are not compared");
    refused(
        changed(&path, |table| table.append_rows(&[vec![Value::Bool(true)]])),
        "is not of the type",
    );
    let path = made(&scratch, r#""kind": "uint16""#, &[(VALUES, array(&[3], "<u2", 2, &[0; 6]))]);
    refused(
        changed(&path, |table| table.append_rows(&[vec![Value::Bool(true)]])),
        "is not of the type",
    );
}

#[test]
fn schemas_that_are_not_understood_are_errors() {
    let scratch = Scratch::new();
    let leaves = || [(VALUES, ints(&[1, 2, 3]))];
    for (schema, reason) in [
        (r#"{"version": 7, "columns": []}"#, "version 7 is not supported"),
        (r#"{"version": "1", "columns": []}"#, "the version is not an integer"),
        (r#"{"version": 1, "columns": {}}"#, "there is no list of columns"),
        (r#"{"columns": [{"name": "c"}, {"name": "c"}]}"#, "there are two columns"),
        (r#"{"columns": [{"name": ""}]}"#, "a column has no name"),
        (r#"{"columns": [{"name": "c"}]}"#, "it has no kind"),
        (
            r#"{"columns": [{"name": "c", "kind": "ndarray"}]}"#,
            "description of kind \"ndarray\" is invalid",
        ),
        (r#"{"columns": [{"name": "c", "kind": "dictionary", "null_code": "x"}]}"#, "is invalid"),
        (
            r#"{"columns": [{"name": "c", "kind": "int8", "nullable": true, "null_value": {"x": 1}}]}"#,
            "its null value is invalid",
        ),
    ] {
        let path = with_leaves(&scratch, schema, &leaves());
        refused(values(&path, 3), reason);
        assert!(
            changed(&path, |table| table.append_rows(&[vec![Value::Int(1)]])).is_err(),
            "{schema}"
        );
    }
    // Entries without a meaning.
    let path =
        made(&scratch, r#""kind": "int32", "nullable": true, "null_value": null"#, &leaves());
    assert_eq!(values(&path, 3).unwrap(), [1, 2, 3].map(Value::Int));
    let huge = "9".repeat(60);
    let bounds = format!(r#""kind": "int32", "ge": -{huge}, "le": {huge}, "lt": "x""#);
    let path = made(&scratch, &bounds, &leaves());
    changed(&path, |table| table.append_rows(&[vec![Value::Int(4)]])).unwrap();
    let bounds = format!(r#""kind": "int32", "ge": {huge}"#);
    let path = made(&scratch, &bounds, &leaves());
    refused(changed(&path, |table| table.append_rows(&[vec![Value::Int(4)]])), "below the minimum");
    let source = objects(&scratch, &[Value::Nil, Value::Nil, Value::Nil]);
    let fields = r#""kind": "struct", "nullable": true, "fields": [{"kind": "int8"}]"#;
    let path = made(&scratch, fields, &[("_cols/c.b2b", source)]);
    let row = Value::Map(vec![(text("a"), Value::Int(1))]);
    refused(changed(&path, |table| table.append_rows(&[vec![row]])), "a field has no name");
    let elsewhere = r#"{"columns": [{"name": "c", "kind": "int32"}], "source_columns": [1]}"#;
    let path = with_leaves(&scratch, elsewhere, &leaves());
    refused(changed(&path, |_| Ok(())), "the table has columns that are stored elsewhere");
}

#[test]
fn rows_after_many_deleted_ones_are_found() {
    const DELETED: u64 = 1 << 20;
    let scratch = Scratch::new();
    let path = scratch.path("t.b2z");
    let mut writer = Store::create(&path).unwrap();
    let mut table = writer.create_table("/", &[ColumnSpec::number("c", "int32")]).unwrap();
    let items: Vec<u8> = (0..DELETED as u32 + 10).flat_map(u32::to_le_bytes).collect();
    table.append(&[("c", Cells::Items { bytes: &items, valid: None })]).unwrap();
    table.delete(&(0..DELETED).collect::<Vec<u64>>()).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let last = |number: i64| Value::Int(DELETED as i64 + number);
    assert_eq!(values(&path, 10).unwrap(), (0..10).map(last).collect::<Vec<_>>());
    assert_eq!(find(&path, &format!("c >= {}", DELETED + 7)).unwrap(), [7, 8, 9]);
    let store = Store::open(&path).unwrap();
    let table = store.table("/").unwrap();
    assert_eq!((table.len(), table.stored_rows()), (10, DELETED + 10));
    assert!(matches!(table.pick("c", &[3, 10]), Err(Error::OutOfRange { len: 10, .. })));
}

/// Each step halves the rows that are too large together.
#[test]
fn long_values_are_searched_and_compacted_in_smaller_steps() {
    let scratch = Scratch::new();
    let path = scratch.path("t.b2z");
    let long = "x".repeat(500);
    let rows: Vec<Vec<Value>> = (0..3000).map(|row| vec![text(&format!("{row} {long}"))]).collect();
    let mut writer = Store::create(&path).unwrap();
    let mut table = writer.create_table("/", &[ColumnSpec::utf8("c")]).unwrap();
    table.append_rows(&rows).unwrap();
    table.delete(&[0, 5, 2999]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let mut limits = Options::default();
    limits.max_message = 300_000;
    let store = Store::open_with(&path, &limits).unwrap();
    let table = store.table("/").unwrap();
    assert!(matches!(table.values("c", 0..table.len()), Err(Error::Limit { .. })));
    let filter = Filter::compare("c", Comparison::Eq, rows[7][0].clone());
    assert_eq!(table.find(&filter, &QueryOptions::default()).unwrap().rows, [5]);
    drop(table);
    drop(store);
    let mut options = WriteOptions::default();
    options.limits = limits;
    let mut writer = Store::change_with(&path, &options).unwrap();
    let mut table = writer.table("/").unwrap();
    table.compact().unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.table("/").unwrap();
    assert_eq!((table.len(), table.stored_rows()), (2997, 2997));
    let expected: Vec<Value> = [1, 2, 3, 4, 6].map(|row| rows[row][0].clone()).to_vec();
    assert_eq!(table.values("c", 0..5).unwrap(), expected);
}

/// Returns the table with stored extrema, with changes of their description or of their leaf.
fn with_index(
    scratch: &Scratch,
    describe: impl FnOnce(&mut Vec<(rmpv::Value, rmpv::Value)>),
    leaf: Option<Vec<u8>>,
) -> Store {
    let source = open("c_idx_summary.b2z");
    let meta = source.leaf("/_meta").unwrap();
    let catalog = meta.schunk().vlmetalayer("index_catalog").unwrap();
    let mut catalog = rmpv::decode::read_value(&mut &catalog[..]).unwrap();
    let rmpv::Value::Map(columns) = &mut catalog else { panic!("{catalog}") };
    let column = columns.iter_mut().find(|(name, _)| name.as_str() == Some("i")).unwrap();
    let rmpv::Value::Map(entries) = &mut column.1 else { panic!("no map") };
    describe(entries);
    let mut members = members_of(&source);
    for member in &mut members {
        if member.name == b"_meta.b2f" {
            *member = stored("_meta.b2f", &with_attribute(&member.data, "index_catalog", &catalog));
        } else if let Some(leaf) =
            leaf.as_ref().filter(|_| member.name == b"_indexes/i/summary.block.b2f")
        {
            *member = stored("_indexes/i/summary.block.b2f", leaf);
        }
    }
    scratch.zip(&members)
}

/// Wrong extrema would hide rows.
#[test]
fn extrema_that_do_not_describe_the_column_are_not_used() {
    let scratch = Scratch::new();
    let skipped = |store: &Store| {
        let table = store.table("/").unwrap();
        let filter = Filter::parse("i > 1000").unwrap();
        table.find(&filter, &QueryOptions::default()).unwrap().skipped
    };
    let set = |name: &'static str, value: rmpv::Value| {
        move |entries: &mut Vec<(rmpv::Value, rmpv::Value)>| {
            let entry = entries.iter_mut().find(|(key, _)| key.as_str() == Some(name));
            entry.unwrap_or_else(|| panic!("{name}")).1 = value;
        }
    };
    let source = open("c_idx_summary.b2z");
    let array = source.array("/_indexes/i/summary.block").unwrap();
    let (dtype, items, rows) =
        (array.dtype().unwrap().to_owned(), array.items().unwrap(), array.shape()[0]);
    let sized = |dtype: &str, count: i64, items: &[u8]| {
        let size = items.len() as i64 / count;
        Some(self::array(&[count], dtype, i32::try_from(size).unwrap(), items))
    };
    assert_eq!(skipped(&with_index(&scratch, |_| (), None)), 40);
    assert_eq!(skipped(&with_index(&scratch, |_| (), sized(&dtype, rows, &items))), 40);
    let list =
        |extents: &[i64]| rmpv::Value::Array(extents.iter().map(|&len| len.into()).collect());
    let level = |len: u64| map(vec![("block", map(vec![("segment_len", len.into())]))]);
    for (name, value) in [
        ("stale", true.into()),
        ("built_value_epoch", 1000.into()),
        ("shape", list(&[40, 1])),
        ("shape", list(&[41])),
        ("shape", list(&[])),
        ("shape", 40.into()),
        ("dtype", "<f8".into()),
        ("levels", level(0)),
        ("levels", level(7)),
        ("levels", map(Vec::new())),
    ] {
        let store = with_index(&scratch, set(name, value.clone()), None);
        assert_eq!(skipped(&store), 0, "{name} {value}");
    }
    let count = rows as usize;
    for (dtype, size) in [
        ("<i4", 4),
        ("[('a', '<i8'), ('b', '<i8'), ('c', '|u1'), ('d', '|u1')]", 18),
        ("[('a', '<i8'), ('b', 'V9')]", 17),
        ("[('a', '<f8'), ('b', '<i8'), ('c', '|u1')]", 17),
        ("[('a', '>i8'), ('b', '<i8'), ('c', '|u1')]", 17),
        ("[('a', '<i4'), ('b', 'V12'), ('c', '|u1')]", 17),
    ] {
        let leaf = sized(dtype, rows, &vec![0; size * count]);
        assert_eq!(skipped(&with_index(&scratch, |_| (), leaf)), 0, "{dtype}");
    }
    let more = sized(&dtype, rows + 1, &vec![0; items.len() / count * (count + 1)]);
    assert_eq!(skipped(&with_index(&scratch, |_| (), more)), 0);
    let flat = Some(self::array(&[rows, 1], &dtype, (items.len() / count) as i32, &items));
    assert_eq!(skipped(&with_index(&scratch, |_| (), flat)), 0);
    // Segments without extrema are read.
    let mut marked = items.clone();
    let size = items.len() / count;
    marked.iter_mut().skip(size - 1).step_by(size).for_each(|mark| *mark |= 1);
    let leaf = sized(&dtype, rows, &marked);
    assert_eq!(skipped(&with_index(&scratch, |_| (), leaf)), 40, "no value compares");
}

#[test]
fn tables_are_distinguished_from_groups_and_leaves() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2z");
    let mut writer = Store::create(&path).unwrap();
    writer.put("/g/leaf", crate::writing::schunk(b"data")).unwrap();
    let mut table = writer.create_table("/g/t", &[ColumnSpec::number("c", "int8")]).unwrap();
    table.append_rows(&[vec![Value::Int(1)]]).unwrap();
    table.finish().unwrap();
    for (key, found) in [("/g", "group"), ("/", "group"), ("/g/leaf", "another object")] {
        match writer.table(key) {
            Err(Error::WrongClass { found: class, .. }) => assert_eq!(class, found, "{key}"),
            other => panic!("{key}: {other:?}"),
        }
    }
    assert!(matches!(writer.table("/none"), Err(Error::NoSuchKey(_))));
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    assert!(store.is_group("/g") && store.is_group("/"));
    for key in ["/g/t", "/g/t/_cols", "/g/leaf", "/none", "g", ""] {
        assert!(!store.is_group(key), "{key}");
    }
    assert_eq!(store.description("/g").unwrap(), None);
    assert_eq!(store.description("/g/t").unwrap(), None);
    assert_eq!(store.description("/g/leaf").unwrap(), None);
    assert!(matches!(store.description("/none"), Err(Error::NoSuchKey(_))));
}
