//! Tables that are created and changed: single cases.

use crate::build::{Scratch, empty_tree, stored, with_schema};
use crate::common::{check_column, fixture};
use crate::writing::{is_sound, text};
use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::CParams;
use ferroblosc::schunk::{Storage, serialize};
use ferroblosc_formats::store::{
    Cells, Class, Column, ColumnSpec, Error, Options, Store, StoreWriter, TableWriter, Value,
    WriteOptions,
};
use std::path::Path;

fn columns(specs: &[ColumnSpec]) -> (Scratch, StoreWriter) {
    let scratch = Scratch::new();
    let mut writer = Store::create(scratch.path("t.b2z")).unwrap();
    writer.create_table("/t", specs).unwrap().finish().unwrap();
    (scratch, writer)
}

#[test]
fn values_that_a_column_cannot_contain_are_refused_and_change_nothing() {
    let specs = [
        ColumnSpec::number("i", "int8").at_least(-5).at_most(100),
        ColumnSpec::string("s", 2).nullable(),
        ColumnSpec::bytes("y", 3).nullable(),
        ColumnSpec::list("l", ColumnSpec::number("", "uint8")).nullable(),
        ColumnSpec::structure("st", &[ColumnSpec::number("a", "int64")]).nullable(),
        ColumnSpec::array("nd", &[2], "<u2").nullable(),
        ColumnSpec::object("o").nullable(),
        ColumnSpec::number("f", "float64").default_value(&Value::Float(0.5)).unwrap(),
    ];
    let (_scratch, mut writer) = columns(&specs);
    let mut table = writer.table("/t").unwrap();
    let one = [Value::Int(1)];
    table.append(&[("i", Cells::Values(&one))]).unwrap();
    for (name, value) in [
        ("i", Value::Nil),
        ("i", Value::Int(-6)),
        ("i", Value::Int(101)),
        ("i", Value::Int(1000)),
        ("i", Value::Float(1.0)),
        ("s", text("abc")),
        ("s", text("a\0")),
        ("y", Value::Bytes(vec![1, 0])),
        ("y", text("a")),
        ("l", Value::List(vec![Value::Int(256)])),
        ("l", Value::Int(1)),
        ("st", Value::Map(Vec::new())),
        ("st", Value::Map(vec![(text("b"), Value::Int(1))])),
        ("nd", Value::List(vec![Value::Int(1)])),
        ("nd", Value::List(vec![Value::Int(1), Value::Int(-1)])),
        ("o", Value::Map(vec![(Value::Int(1), Value::Nil)])),
        ("f", Value::Int((1 << 53) + 1)),
    ] {
        let values = [value];
        let batch = match name {
            "i" => vec![("i", Cells::Values(&values))],
            name => vec![("i", Cells::Values(&one)), (name, Cells::Values(&values))],
        };
        let refused = table.append(&batch).unwrap_err();
        assert!(matches!(refused, Error::Value(_)), "{name} {values:?}: {refused}");
        let refused = table.set(name, &[0], Cells::Values(&values)).unwrap_err();
        assert!(matches!(refused, Error::Value(_)), "{name} {values:?}: {refused}");
    }
    // Batches with missing, unknown or repeated columns, and of different lengths.
    assert!(matches!(
        table.append(&[("s", Cells::Values(&[text("x")]))]),
        Err(Error::Column { .. })
    ));
    let unknown = table.append(&[("i", Cells::Values(&one)), ("z", Cells::Values(&one))]);
    assert!(matches!(unknown, Err(Error::NoSuchColumn(_))));
    let twice = table.append(&[("i", Cells::Values(&one)), ("i", Cells::Values(&one))]);
    assert!(matches!(twice, Err(Error::Column { .. })));
    let lens = table.append(&[("i", Cells::Values(&one)), ("f", Cells::Values(&[]))]);
    assert!(matches!(lens, Err(Error::Value(_))));
    assert!(matches!(table.append_rows(&[Vec::new()]), Err(Error::Value(_))));
    let cells = Cells::Items { bytes: &[1, 2, 3], valid: Some(&[true]) };
    assert!(matches!(table.append(&[("i", cells)]), Err(Error::Value(_))));
    let cells = Cells::Items { bytes: &[1, 2, 3], valid: None };
    let wrong = table.append(&[("i", Cells::Values(&one)), ("f", cells)]);
    assert!(matches!(wrong, Err(Error::Value(_))));
    let list = table.append(&[("i", Cells::Values(&one)), ("l", cells)]);
    assert!(matches!(list, Err(Error::Column { .. })));
    // Rows that do not exist, or are not ascending.
    assert!(matches!(table.delete(&[1]), Err(Error::OutOfRange { .. })));
    assert!(matches!(table.delete(&[0, u64::MAX]), Err(Error::OutOfRange { .. })));
    let far = table.set("i", &[u64::MAX], Cells::Values(&one));
    assert!(matches!(far, Err(Error::OutOfRange { .. })));
    let far = table.set("i", &[1], Cells::Values(&one));
    assert!(matches!(far, Err(Error::OutOfRange { .. })));
    let twice = table.set("i", &[0, 0], Cells::Values(&[Value::Int(1), Value::Int(2)]));
    assert!(matches!(twice, Err(Error::Value(_))));
    let count = table.set("i", &[0], Cells::Values(&[]));
    assert!(matches!(count, Err(Error::Value(_))));
    assert_eq!(table.len(), 1);
    table.finish().unwrap();
    let path = writer.path().to_owned();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    is_sound(&store);
    let wanted = [
        Value::Int(1),
        Value::Nil,
        Value::Nil,
        Value::Nil,
        Value::Nil,
        Value::Nil,
        Value::Nil,
        Value::Float(0.5),
    ];
    assert_eq!(store.table("/t").unwrap().rows(0..1).unwrap(), [wanted.to_vec()]);
}

#[test]
fn invalid_descriptions_and_names_are_refused() {
    let scratch = Scratch::new();
    let mut writer = Store::create(scratch.path("t.b2z")).unwrap();
    let int = |name: &str| ColumnSpec::number(name, "int8");
    for specs in [
        vec![int("")],
        vec![int("_a")],
        vec![int("a\nb")],
        vec![int("a"), int("A")],
        vec![int("a"), int("a.b")],
        vec![ColumnSpec::dictionary("a", false), int("a_dict")],
        vec![int(&"x".repeat(300))],
        vec![int("a..b")],
    ] {
        let refused = writer.create_table("/t", &specs).unwrap_err();
        assert!(matches!(refused, Error::InvalidName { .. }), "{specs:?}: {refused}");
    }
    let two = writer.create_table("/t", &[int("a"), int("a")]).unwrap_err();
    assert!(matches!(two, Error::Schema { .. }), "{two}");
    for spec in [
        ColumnSpec::number("a", "int128"),
        ColumnSpec::timestamp("a", "days", None),
        ColumnSpec::string("a", 0),
        ColumnSpec::array("a", &[0], "<f8"),
        ColumnSpec::array("a", &[], "<f8"),
        ColumnSpec::array("a", &[2], "object"),
        ColumnSpec::array("a", &[2], "nonsense"),
    ] {
        let refused = writer.create_table("/t", std::slice::from_ref(&spec)).unwrap_err();
        assert!(matches!(refused, Error::Column { .. }), "{spec:?}: {refused}");
    }
    assert!(int("a").default_value(&Value::List(Vec::new())).is_err());
    writer.create_table("/t", &[int("a")]).unwrap().finish().unwrap();
    assert!(matches!(writer.create_table("/t", &[int("a")]), Err(Error::KeyExists(_))));
    assert!(matches!(writer.create_table("/t/u", &[int("a")]), Err(Error::Refused { .. })));
    assert!(matches!(writer.create_table("/", &[int("a")]), Err(Error::Refused { .. })));
    assert!(matches!(writer.table("/u"), Err(Error::NoSuchKey(_))));
    assert!(matches!(writer.table("/"), Err(Error::WrongClass { .. })));
    let mut table = writer.table("/t").unwrap();
    for name in ["a", "A"] {
        assert!(matches!(table.add_column(&int(name), None), Err(Error::InvalidName { .. })));
    }
    assert!(matches!(table.drop_column("b"), Err(Error::NoSuchColumn(_))));
    let mut options = WriteOptions::default();
    options.kind = ferroblosc_formats::store::StoreKind::Dict;
    let mut dict = Store::create_with(scratch.path("d.b2z"), &options).unwrap();
    assert!(matches!(dict.create_table("/", &[int("a")]), Err(Error::Refused { .. })));
    assert!(matches!(dict.create_table("/t", &[int("a")]), Err(Error::Refused { .. })));
}

#[test]
fn dropped_writers_change_nothing() {
    let (_scratch, mut writer) = columns(&[ColumnSpec::number("i", "int64")]);
    let mut table = writer.table("/t").unwrap();
    table.append_rows(&[vec![Value::Int(1)]]).unwrap();
    table.delete(&[0]).unwrap();
    drop(table);
    drop(writer.create_table("/u", &[ColumnSpec::utf8("u")]).unwrap());
    let path = writer.path().to_owned();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.keys(), ["/t"]);
    assert_eq!(store.table("/t").unwrap().stored_rows(), 0);
}

fn copied(scratch: &Scratch, name: &str) -> std::path::PathBuf {
    let path = scratch.path(name);
    std::fs::copy(fixture(name), &path).unwrap();
    path
}

#[test]
fn row_t30_indexes_are_dropped_with_the_rows_that_they_describe() {
    let scratch = Scratch::new();
    let has_index = |path: &Path| {
        let store = Store::open(path).unwrap();
        is_sound(&store);
        let meta = store.leaf("/_meta").unwrap().attrs();
        let has_catalog = meta.get("index_catalog").is_some();
        assert_eq!(store.leaf_keys().any(|key| key.starts_with("/_indexes/")), has_catalog);
        has_catalog
    };
    let change = |change: &dyn Fn(&mut TableWriter<'_>)| {
        let path = copied(&scratch, "c_idx_summary.b2z");
        assert!(has_index(&path));
        let mut writer = Store::change(&path).unwrap();
        let mut table = writer.table("/").unwrap();
        change(&mut table);
        let result = table.finish().unwrap();
        writer.commit().unwrap();
        (has_index(&path), result.dropped_indexes)
    };
    let dropped = (false, vec!["i".to_owned()]);
    let row = || vec![Value::Int(7), Value::Float(0.5), text("x")];
    assert_eq!(change(&|table| table.append_rows(&[row()]).unwrap()), dropped);
    let values = [Value::Int(900)];
    assert_eq!(change(&|table| table.set("i", &[3], Cells::Values(&values)).unwrap()), dropped);
    assert_eq!(change(&|table| table.drop_column("g").unwrap()), dropped);
    let compacted = |table: &mut TableWriter<'_>| {
        table.delete(&[3]).unwrap();
        table.compact().unwrap();
    };
    assert_eq!(change(&compacted), dropped);
    let kept = (true, Vec::new());
    assert_eq!(change(&|table| table.compact().unwrap()), kept);
    assert_eq!(change(&|table| table.delete(&[3, 39]).unwrap()), kept);
    let column = ColumnSpec::boolean("new").nullable();
    assert_eq!(change(&|table| table.add_column(&column, None).unwrap()), kept);
}

#[test]
fn renamed_columns_keep_their_values() {
    let scratch = Scratch::new();
    for end in ["b2z", "b2d"] {
        let path = scratch.path(&format!("renamed.{end}"));
        let mut writer = Store::create(&path).unwrap();
        let specs = [
            ColumnSpec::dictionary("d", false).nullable(),
            ColumnSpec::utf8("u").nullable(),
            ColumnSpec::number("n", "int16"),
        ];
        let mut table = writer.create_table("/t", &specs).unwrap();
        table.append_rows(&[vec![text("x"), Value::Nil, Value::Int(1)]]).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
        let mut writer = Store::change(&path).unwrap();
        let mut table = writer.table("/t").unwrap();
        assert!(matches!(table.rename_column("z", "a"), Err(Error::NoSuchColumn(_))));
        for name in ["", "_a", "u", "N", "u.x", "a\n", &"x".repeat(300)] {
            let refused = table.rename_column("d", name);
            assert!(matches!(refused, Err(Error::InvalidName { .. })), "{name:?}: {refused:?}");
        }
        table.append_rows(&[vec![Value::Nil, text("y"), Value::Int(2)]]).unwrap();
        // Columns may exchange their names, and have the name of another leaf of their own; but not
        // in a directory, where the schema would use the old leaves until they are replaced.
        let is_zip = end == "b2z";
        assert_eq!(table.rename_column("d", "d_dict").is_ok(), is_zip);
        table.rename_column("n", "g.m").unwrap();
        table.rename_column("g.m", "g.m").unwrap();
        assert_eq!(table.rename_column("u", "n").is_ok(), is_zip);
        table.finish().unwrap();
        // The first change is not yet on the disk.
        let mut table = writer.table("/t").unwrap();
        let again = table.add_column(&ColumnSpec::utf8("d").nullable(), None);
        assert_eq!(again.is_ok(), is_zip, "{again:?}");
        let again = table.rename_column("g.m", if is_zip { "u" } else { "n" });
        assert_eq!(again.is_ok(), is_zip, "{again:?}");
        table.finish().unwrap();
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        let table = store.table("/t").unwrap();
        let names: Vec<&str> =
            table.schema().columns.iter().map(|column| column.name.as_str()).collect();
        let wanted = if is_zip { vec!["d_dict", "n", "u", "d"] } else { vec!["d", "u", "g.m"] };
        assert_eq!(names, wanted);
        let rows = table.rows(0..2).unwrap();
        assert_eq!(rows[0][..3], [text("x"), Value::Nil, Value::Int(1)]);
        assert_eq!(rows[1][..3], [Value::Nil, text("y"), Value::Int(2)]);
        let leaves: Vec<&str> =
            store.leaf_keys().filter_map(|key| key.strip_prefix("/t/_cols/")).collect();
        let wanted = if is_zip {
            let old = ["d", "d.notnull", "d.utf8", "d_dict", "d_dict_dict"];
            [&old[..], &["n", "n.notnull", "n.utf8", "u"]].concat()
        } else {
            vec!["d", "d_dict", "g/m", "u", "u.notnull", "u.utf8"]
        };
        assert_eq!(leaves, wanted);
    }
}

#[test]
fn columns_that_others_need_are_not_renamed() {
    let scratch = Scratch::new();
    let path = copied(&scratch, "c_generated.b2z");
    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/").unwrap();
    assert!(matches!(table.rename_column("i", "j"), Err(Error::Refused { .. })));
    table.rename_column("m", "generated").unwrap();
    let values = [Value::Int(5)];
    table.set("i", &[0], Cells::Values(&values)).unwrap();
    assert_eq!(table.finish().unwrap().stale_columns, ["generated"]);
    writer.commit().unwrap();
    is_sound(&Store::open(&path).unwrap());
    // The metadata name nested columns.
    let source = Store::open(fixture("c_names.b2z")).unwrap();
    let metadata = "\"metadata\": {\"struct_parents\": {\"trip\": {}}}, \"columns\"";
    let store =
        with_schema(&scratch, &source, |schema| schema.replacen("\"columns\"", metadata, 1));
    let path = store.path().to_owned();
    drop(store);
    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/").unwrap();
    let refused = table.rename_column("trip.begin.lon", "trip.begin.x");
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    assert!(matches!(table.rename_column("x", "trip.x"), Err(Error::Refused { .. })));
    table.rename_column("x", "tripx").unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
}

#[test]
fn generated_columns_become_stale_and_keep_what_they_need() {
    let scratch = Scratch::new();
    let path = copied(&scratch, "c_generated.b2z");
    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/").unwrap();
    assert!(matches!(table.drop_column("i"), Err(Error::Refused { .. })));
    let cells: Vec<Value> = vec![Value::Int(5)];
    table.set("i", &[0], Cells::Values(&cells)).unwrap();
    assert_eq!(table.finish().unwrap().stale_columns, ["m"]);
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.table("/").unwrap();
    let is_stale = |column: &&Column| column.is_stale;
    let stale: Vec<&str> =
        table.schema().columns.iter().filter(is_stale).map(|column| &*column.name).collect();
    assert_eq!(stale, ["m"]);
}

#[test]
fn tables_of_the_reference_are_changed() {
    let scratch = Scratch::new();
    let mut count = 0;
    for entry in std::fs::read_dir(fixture("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.starts_with("c_") || !name.ends_with(".b2z") {
            continue;
        }
        let path = copied(&scratch, &name);
        let mut writer = Store::change(&path).unwrap();
        let store = Store::open(fixture(&name)).unwrap();
        let old = store.table("/").unwrap();
        let Ok(rows) = old.rows(0..old.len()) else {
            // Lists in Arrow's form.
            assert_eq!(name, "c_list_arrow.b2z");
            let mut table = writer.table("/").unwrap();
            assert!(matches!(table.compact(), Err(Error::Unsupported { .. }) | Ok(())));
            continue;
        };
        let mut table = writer.table("/").unwrap();
        if let Some(first) = rows.first() {
            table
                .append_rows(std::slice::from_ref(first))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            table.append_rows(&rows[..rows.len().min(3)]).unwrap();
            table.delete(&[0]).unwrap();
            for (column, value) in old.schema().columns.iter().zip(first) {
                let cells = std::slice::from_ref(value);
                table.set(&column.name, &[1], Cells::Values(cells)).unwrap();
            }
            table.compact().unwrap();
        }
        table.finish().unwrap();
        writer.commit().unwrap();
        let mut wanted = rows.clone();
        if let Some(first) = rows.first() {
            wanted.push(first.clone());
            wanted.extend_from_slice(&rows[..rows.len().min(3)]);
            wanted.remove(0);
            wanted[1] = first.clone();
        }
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        let table = store.table("/").unwrap();
        let found = table.rows(0..table.len()).unwrap();
        // NaN differs from itself.
        assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{name}");
        assert!(rows.is_empty() || table.stored_rows() == table.len(), "{name}");
        count += 1;
    }
    assert!(count > 25, "{count}");
}

#[test]
fn false_values_in_a_schema_are_errors_or_have_no_effect() {
    let scratch = Scratch::new();
    let source = Store::open(fixture("c_midhole.b2z")).unwrap();
    let old = source.table("/").unwrap();
    let rows = old.rows(0..old.len()).unwrap();
    let huge = "999999999999999999999";
    let cycle = "\"materialized_columns\": [{\"name\": \"i\", \"col_deps\": [\"v\"]}, {\"name\": \"v\", \
                 \"col_deps\": [\"i\"]}], \"computed_columns\": [{\"name\": \"c\", \"col_deps\": [\"c\", \"i\"]}], \
                 \"n_rows\"";
    for (from, to) in [
        ("\"n_rows\": 4", "\"n_rows\": 4000000000000".to_owned()),
        ("\"n_rows\": 4", format!("\"n_rows\": {huge}")),
        ("\"n_rows\"", cycle.to_owned()),
        ("\"batch_rows\": 2048", "\"batch_rows\": 0".to_owned()),
        ("\"batch_rows\": 2048", format!("\"batch_rows\": {huge}")),
        ("\"null_code\": -1", "\"null_code\": 99999999999".to_owned()),
        ("\"kind\": \"int64\"", format!("\"kind\": \"string\", \"max_length\": {huge}")),
        ("\"kind\": \"int64\"", "\"kind\": \"string\", \"max_length\": 4000000000".to_owned()),
        (
            "\"kind\": \"int64\"",
            "\"kind\": \"ndarray\", \"item_shape\": [4000000000, 4000000000]".to_owned(),
        ),
        ("\"kind\": \"int64\"", "\"kind\": \"utf8\"".to_owned()),
        ("\"kind\": \"utf8\"", "\"kind\": \"dictionary\"".to_owned()),
        ("\"kind\": \"int64\"", "\"kind\": \"int64\", \"ge\": 1e999, \"lt\": NaN".to_owned()),
    ] {
        let store = with_schema(&scratch, &source, |schema| {
            assert!(schema.contains(from), "{schema}");
            schema.replace(from, &to)
        });
        let path = store.path().to_owned();
        drop(store);
        let mut writer = Store::change(&path).unwrap();
        let Ok(mut table) = writer.table("/") else {
            continue;
        };
        let is_appended = table.append_rows(&rows[..1]).is_ok();
        let is_set = table.set("i", &[0], Cells::Values(&rows[0][..1])).is_ok();
        let result = table.finish();
        if let Ok(result) = &result {
            assert_eq!(result.rows, 4 + u64::from(is_appended), "{to}");
        }
        writer.commit().unwrap();
        // The changed values are read again.
        let store = Store::open(&path).unwrap();
        let table = store.table("/").unwrap();
        if is_appended && is_set && result.is_ok() {
            assert_eq!(table.values("i", 4..5).unwrap(), rows[0][..1], "{to}");
        }
    }
}

#[test]
fn damaged_tables_are_not_extended() {
    let scratch = Scratch::new();
    for name in ["c_crash", "x_valid_long", "x_valid_short", "x_missing_col", "x_unknown_kind"] {
        let end = if fixture(&format!("{name}.b2d")).exists() { "b2d" } else { "b2z" };
        let source = Store::open(fixture(&format!("{name}.{end}"))).unwrap();
        let path = scratch.path(&format!("{name}.b2z"));
        source.convert(&path, &WriteOptions::default()).unwrap();
        let mut writer = Store::change(&path).unwrap();
        let mut table = writer.table("/").unwrap();
        let names: Vec<String> =
            table.schema().columns.iter().map(|column| column.name.clone()).collect();
        let cells: Vec<(&str, Cells<'_>)> =
            names.iter().map(|name| (&**name, Cells::Values(&[]))).collect();
        let refused = table.append(&cells);
        let is_refused = matches!(
            refused,
            Err(Error::Damaged { .. } | Error::MissingLeaf(_) | Error::Column { .. })
        );
        assert!(is_refused, "{name}: {refused:?}");
        // Nothing changed.
        drop(table);
        writer.commit().unwrap();
        assert_eq!(Store::open(&path).unwrap().class("/"), Ok(Class::Table));
    }
}

/// Column `v` has no values for the rows of the table: a new one would be lost.
#[test]
fn values_that_are_missing_are_not_replaced() {
    let scratch = Scratch::new();
    let path = scratch.path("t.b2z");
    Store::open(fixture("c_crash.b2d")).unwrap().convert(&path, &WriteOptions::default()).unwrap();
    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/").unwrap();
    for row in 0..5 {
        let refused = table.set("v", &[row], Cells::Values(&[text("new")]));
        let is_refused = matches!(&refused, Err(Error::Row { row: found, .. }) if *found == row);
        assert!(is_refused, "{row}: {refused:?}");
    }
}

#[test]
fn tables_in_directories_are_not_compacted_in_place() {
    let scratch = Scratch::new();
    let path = scratch.path("t.b2d");
    let mut writer = Store::create(&path).unwrap();
    let mut table = writer.create_table("/t", &[ColumnSpec::utf8("u")]).unwrap();
    table.append_rows(&[vec![text("a")], vec![text("b")]]).unwrap();
    table.delete(&[0]).unwrap();
    table.compact().unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/t").unwrap();
    assert!(matches!(table.compact(), Err(Error::Refused { .. })));
    let cells = [text("c")];
    let set = table.set("u", &[0], Cells::Values(&cells));
    assert!(matches!(set, Err(Error::Refused { .. })));
    table.append_rows(&[vec![text("d")]]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.table("/t").unwrap();
    assert_eq!(table.values("u", 0..2).unwrap(), [text("b"), text("d")]);
}

#[test]
fn texts_are_read_by_several_threads() {
    let scratch = Scratch::new();
    let path = scratch.path("texts.b2z");
    let rows = 300_000;
    let value = |row: u64| match row % 7 {
        0 => Value::Nil,
        1 => text(""),
        _ => text(&format!("{}é{row}", "x".repeat(row as usize % 19))),
    };
    let mut writer = Store::create(&path).unwrap();
    let specs = [ColumnSpec::utf8("u").nullable(), ColumnSpec::utf8("v")];
    let mut table = writer.create_table("/t", &specs).unwrap();
    let values: Vec<Value> = (0..rows).map(value).collect();
    let others: Vec<Value> = (0..rows).map(|row| text(&row.to_string())).collect();
    table.append(&[("u", Cells::Values(&values)), ("v", Cells::Values(&others))]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.table("/t").unwrap();
    check_column(&table, "u", &values);
    check_column(&table, "v", &others);
    drop(store);

    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/t").unwrap();
    table.delete(&[5, 299_998]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.table("/t").unwrap();
    let left: Vec<Value> = (0..rows).filter(|row| ![5, 299_998].contains(row)).map(value).collect();
    check_column(&table, "u", &left);
}

#[test]
fn renamed_columns_of_lists_have_the_file_name_that_python_blosc2_expects() {
    let scratch = Scratch::new();
    let path = scratch.path("lists.b2d");
    let mut writer = Store::create(&path).unwrap();
    let item = ColumnSpec::number("", "int8");
    let specs =
        [ColumnSpec::list("l", item), ColumnSpec::vlstring("v"), ColumnSpec::number("n", "int8")];
    let mut table = writer.create_table("/t", &specs).unwrap();
    let list = Value::List(vec![Value::Int(1)]);
    table.append_rows(&[vec![list.clone(), text("x"), Value::Int(2)]]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/t").unwrap();
    for (old, new) in [("l", "l2"), ("v", "v2"), ("n", "n2")] {
        table.rename_column(old, new).unwrap();
    }
    table.finish().unwrap();
    writer.commit().unwrap();
    let mut files: Vec<_> = std::fs::read_dir(path.join("t/_cols"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["l2.b2b", "n2.b2nd", "v2.b2b"]);
    let store = Store::open(&path).unwrap();
    let rows = store.table("/t").unwrap().rows(0..1).unwrap();
    assert_eq!(rows, [[list, text("x"), Value::Int(2)]]);
}

#[test]
fn the_nulls_of_columns_count_as_memory() {
    let scratch = Scratch::new();
    let path = scratch.path("nulls.b2z");
    let mut writer = Store::create(&path).unwrap();
    let specs = [ColumnSpec::number("n", "int8").nullable(), ColumnSpec::number("m", "int8")];
    let mut table = writer.create_table("/t", &specs).unwrap();
    table.append_rows(&vec![vec![Value::Nil, Value::Int(1)]; 600]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let mut options = Options::default();
    options.max_message = 1000;
    let store = Store::open_with(&path, &options).unwrap();
    let table = store.table("/t").unwrap();
    assert_eq!(table.items("m", 0..600).unwrap().bytes.len(), 600);
    assert!(matches!(table.items("n", 0..600), Err(Error::Limit { .. })));
    assert_eq!(table.items("n", 0..400).unwrap().valid, Some(vec![false; 400]));
}

/// Returns the specifications of a column of each group of kinds.
fn kinds() -> Vec<ColumnSpec> {
    vec![
        ColumnSpec::number("n", "int16"),
        ColumnSpec::boolean("b"),
        ColumnSpec::string("s", 4),
        ColumnSpec::utf8("u"),
        ColumnSpec::vlstring("v"),
        ColumnSpec::vlbytes("y"),
        ColumnSpec::object("o"),
        ColumnSpec::structure("st", &[ColumnSpec::number("a", "int64")]),
        ColumnSpec::list("l", ColumnSpec::number("", "int8")),
        ColumnSpec::dictionary("d", false),
        ColumnSpec::array("nd", &[2], "<u2"),
    ]
}

#[test]
fn columns_are_added_to_tables_whose_rows_are_all_deleted() {
    let row = [
        Value::Int(1),
        Value::Int(2),
        Value::Bool(true),
        text("s"),
        text("u"),
        text("v"),
        Value::Bytes(b"y".to_vec()),
        Value::Nil,
        Value::Map(vec![(text("a"), Value::Int(3))]),
        Value::List(vec![Value::Int(4)]),
        text("d"),
        Value::List(vec![Value::Int(5), Value::Int(6)]),
    ];
    for name in ["s.b2z", "s.b2d"] {
        let scratch = Scratch::new();
        let path = scratch.path(name);
        let mut writer = Store::create(&path).unwrap();
        let mut table = writer.create_table("/t", &[ColumnSpec::number("i", "int64")]).unwrap();
        table.append_rows(&[vec![Value::Int(7)], vec![Value::Int(8)]]).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
        let mut writer = Store::change(&path).unwrap();
        let mut table = writer.table("/t").unwrap();
        table.delete(&[0, 1]).unwrap();
        assert!(table.is_empty());
        for (number, spec) in kinds().into_iter().enumerate() {
            // Without rows there are no values, also if there is no default.
            let cells = (number % 2 == 0).then_some(Cells::Values(&[]));
            table.add_column(&spec, cells).unwrap();
        }
        table.finish().unwrap();
        writer.commit().unwrap();
        let mut writer = Store::change(&path).unwrap();
        let mut table = writer.table("/t").unwrap();
        assert!(table.is_empty());
        let mut nullable = row.to_vec();
        nullable[7] = Value::Int(9);
        table.append_rows(&[nullable.clone()]).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        is_sound(&store);
        assert_eq!(store.table("/t").unwrap().rows(0..1).unwrap(), [nullable], "{name}");
    }
}

#[test]
fn rows_without_a_value_get_the_default_of_any_type() {
    let defaults = [
        ("complex128", Value::Complex(0.5, -1.0)),
        ("complex64", Value::Complex(1.0, 2.0)),
        ("float32", Value::Float(0.5)),
        ("float64", Value::Float(f64::INFINITY)),
        ("uint64", Value::UInt(u64::MAX)),
        ("int8", Value::Int(-3)),
    ];
    let mut specs = vec![ColumnSpec::number("i", "int64")];
    for (number, (kind, value)) in defaults.iter().enumerate() {
        let spec = ColumnSpec::number(&format!("n{number}"), kind);
        specs.push(spec.default_value(value).unwrap());
    }
    specs.push(ColumnSpec::boolean("b").default_value(&Value::Bool(true)).unwrap());
    specs.push(ColumnSpec::bytes("y", 3).default_value(&Value::Bytes(vec![1, 2])).unwrap());
    specs.push(ColumnSpec::utf8("u").default_value(&text("é")).unwrap());
    let list = Value::List(Vec::new());
    let refused = ColumnSpec::utf8("u").default_value(&list);
    assert!(matches!(refused, Err(Error::Value(_))));
    let (_scratch, mut writer) = columns(&specs);
    let mut table = writer.table("/t").unwrap();
    table.append(&[("i", Cells::Values(&[Value::Int(1), Value::Int(2)]))]).unwrap();
    table.finish().unwrap();
    let path = writer.path().to_owned();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let mut wanted: Vec<Value> = defaults.into_iter().map(|(_, value)| value).collect();
    wanted.extend([Value::Bool(true), Value::Bytes(vec![1, 2]), text("é")]);
    let rows = store.table("/t").unwrap().rows(0..2).unwrap();
    assert_eq!((&rows[0][1..], &rows[1][1..]), (&wanted[..], &wanted[..]));
}

/// The shape of the items of a column is that of its array.
#[test]
fn tables_with_rows_without_bytes_are_read_and_not_changed() {
    let scratch = Scratch::new();
    let path = scratch.path("s.b2z");
    let mut writer = Store::create(&path).unwrap();
    let spec = ColumnSpec::array("a", &[1], "<i4");
    let mut table = writer.create_table("/", &[ColumnSpec::number("i", "int8"), spec]).unwrap();
    let row = [Value::Int(1), Value::List(vec![Value::Int(2)])];
    table.append_rows(&[row.to_vec(), row.to_vec()]).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let layout = Layout { shape: &[2, 0], chunkshape: &[2, 0], blockshape: &[2, 0] };
    let params = CParams::default().typesize(4);
    let array = Array::zeros(Storage::frame(), params, &layout, "<i4").unwrap();
    let mut members = Vec::new();
    for key in store.leaf_keys() {
        let frame = if key == "/_cols/a" {
            serialize(array.schunk().state()).unwrap().to_vec()
        } else {
            store.leaf(key).unwrap().into_schunk().to_bytes().unwrap()
        };
        let suffix = if key == "/_meta" { "b2f" } else { "b2nd" };
        members.push(stored(&format!("{}.{suffix}", &key[1..]), &frame));
    }
    members.push(empty_tree());
    scratch.zip(&members);
    let edited = |text: &str| text.replace("\"item_shape\": [1]", "\"item_shape\": [0]");
    let store = with_schema(&scratch, &Store::open(scratch.path("made.b2z")).unwrap(), edited);
    let table = store.table("/").unwrap();
    assert_eq!(table.values("a", 0..2).unwrap(), vec![Value::List(Vec::new()); 2]);
    drop(table);
    let path = store.path().to_owned();
    drop(store);
    let mut writer = Store::change(&path).unwrap();
    let mut table = writer.table("/").unwrap();
    let cells = Cells::Items { bytes: &[], valid: None };
    let one = [Value::Int(1)];
    let refused = table.append(&[("i", Cells::Values(&one)), ("a", cells)]);
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    let refused = table.set("a", &[0], cells);
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
    table.delete(&[0]).unwrap();
    assert!(matches!(table.compact(), Err(Error::Refused { .. })));
}
