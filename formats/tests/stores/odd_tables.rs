//! Tables with schemas and leaves that no writer should have made: changes keep the values, or are
//! refused.

use crate::build::{Scratch, members_of, stored, with_schema, zip};
use crate::writing::text;
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::{Storage, serialize};
use ferroblosc_formats::store::{Cells, ColumnSpec, Error, Filter, QueryOptions, Store, Value};
use std::fmt::Debug;

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
        let source = table(&scratch, &spec.clone().nullable(), &[value.clone()]);
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
}
