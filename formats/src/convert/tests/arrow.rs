//! Conversions of columns from and to Arrow and Parquet files.

use super::*;
use crate::store::{ColumnSpec, Store, Value};

/// Writes a table with a column, and exports it. Returns the exported bytes.
fn exported(spec: ColumnSpec, rows: &[Value], format: ArrowFormat) -> Result<Vec<u8>> {
    let folder = Folder::new();
    let path = folder.path("t.b2z");
    let mut writer = Store::create(&path).unwrap();
    let mut table = writer.create_table("/t", &[spec]).unwrap();
    let rows: Vec<Vec<Value>> = rows.iter().map(|value| vec![value.clone()]).collect();
    table.append_rows(&rows).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let mut bytes = Vec::new();
    table_to_arrow(&store.table("/t").unwrap(), format, &mut bytes)?;
    Ok(bytes)
}

/// Imports a file. Returns the values of its only column.
fn imported(bytes: &[u8], format: ArrowFormat) -> Result<Vec<Value>> {
    let folder = Folder::new();
    let file = folder.write("a.bin", bytes);
    let path = folder.path("t.b2z");
    let mut writer = Store::create(&path).unwrap();
    let rows = arrow_to_table(&file, format, &mut writer, "/t", &mut |_| {})?.rows;
    writer.commit().unwrap();
    let store = Store::open(&path).unwrap();
    let table = store.table("/t").unwrap();
    let name = table.schema().columns[0].name.clone();
    Ok(table.values(&name, 0..rows).unwrap())
}

#[test]
fn arrays_of_all_numbers_are_the_same_after_both_formats() {
    let list = |items: [Value; 2]| Value::List(items.to_vec());
    let ints = || list([Value::Int(1), Value::Int(0)]);
    for (dtype, value) in [
        ("|b1", list([Value::Bool(true), Value::Bool(false)])),
        ("|i1", ints()),
        ("<i2", ints()),
        ("<i4", ints()),
        ("<i8", ints()),
        ("|u1", ints()),
        ("<u2", ints()),
        ("<u4", ints()),
        ("<u8", list([Value::Int(7), Value::UInt(u64::MAX)])),
        ("<f4", list([Value::Float(1.5), Value::Float(-0.25)])),
        ("<f8", list([Value::Float(0.1), Value::Float(1e300)])),
    ] {
        let spec = ColumnSpec::array("a", &[2], dtype);
        for format in [ArrowFormat::Ipc, ArrowFormat::Parquet] {
            let rows = vec![value.clone(); 3];
            let bytes = exported(spec.clone(), &rows, format).unwrap();
            assert_eq!(imported(&bytes, format).unwrap(), rows, "{dtype} {format:?}");
        }
    }
    let spec = ColumnSpec::array("a", &[2], "<c8");
    let refused = exported(spec, &[], ArrowFormat::Ipc);
    assert!(error_of(refused).contains("cannot be written to Arrow"));
}

#[test]
fn damaged_footers_are_errors_that_name_the_fault() {
    let rows: Vec<Value> = (0..100).map(Value::Int).collect();
    let spec = || ColumnSpec::number("n", "int64");
    let parquet = exported(spec(), &rows, ArrowFormat::Parquet).unwrap();
    let end = parquet.len();
    let changed = |at: usize, bytes: &[u8]| {
        let mut changed = parquet.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    for (bytes, is_corruption, why) in [
        (changed(end - 4, b"PARE"), false, "the file is encrypted"),
        (changed(end - 4, b"XXXX"), true, "it does not end with PAR1"),
        (changed(end - 8, &[0xff; 4]), true, "the footer is larger than the file"),
        (changed(end - 8, &[1, 0, 0, 0]), true, ""),
        (parquet[..7].to_vec(), true, "the file is truncated"),
    ] {
        let error = imported(&bytes, ArrowFormat::Parquet).unwrap_err();
        assert!(error.to_string().contains(why), "{why}: {error}");
        assert_eq!(error.is_corruption(), is_corruption, "{error}");
        assert!(!catches_panics());
    }
    let ipc = exported(spec(), &rows, ArrowFormat::Ipc).unwrap();
    for len in [0, 7, 12, 100, ipc.len() / 2, ipc.len() - 1] {
        let error = imported(&ipc[..len], ArrowFormat::Ipc).unwrap_err();
        assert!(error.is_corruption(), "{len}: {error}");
    }
    // The stream in the file, between its signature and its footer.
    let start = ipc.windows(4).position(|window| window == [0xff; 4]).unwrap();
    let stream = &ipc[start..];
    assert_eq!(imported(stream, ArrowFormat::IpcStream).unwrap(), rows);
    for len in [1, 3, 4, 7, 8, 20, 200, 300] {
        let found = imported(&stream[..len.min(stream.len())], ArrowFormat::IpcStream);
        assert!(found.is_err_and(|error| error.is_corruption()), "{len}");
    }
    let negative = [&[0xff; 4][..], &[0xff, 0xff, 0xff, 0xff], &[0; 16]].concat();
    let error = imported(&negative, ArrowFormat::IpcStream).unwrap_err();
    assert!(error.to_string().contains("the size of a message is negative"), "{error}");
    let folder = Folder::new();
    assert_eq!(ArrowFormat::detect(&folder.path("")), None);
    assert_eq!(ArrowFormat::detect(&folder.path("none")), None);
    for bytes in [&b""[..], b"PAR", &negative, b"ARROW2\0\0"] {
        let path = folder.write("a.bin", bytes);
        assert_eq!(ArrowFormat::detect(&path), None, "{bytes:?}");
    }
}

/// Writes rows of several columns, and exports them with a limit of memory.
fn exported_with(specs: &[ColumnSpec], rows: &[Vec<Value>], limit: u64) -> Result<Vec<u8>> {
    let folder = Folder::new();
    let path = folder.path("t.b2z");
    let mut writer = Store::create(&path).unwrap();
    let mut table = writer.create_table("/t", specs).unwrap();
    table.append_rows(rows).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    let options = crate::store::Options { max_message: limit, ..Default::default() };
    let store = Store::open_with(&path, &options).unwrap();
    let table = store.table("/t").unwrap();
    let records = table_to_npy(&table, &mut Vec::new());
    assert_eq!(records.is_ok(), limit > 20_000 && specs.len() == 1, "{records:?}");
    let mut bytes = Vec::new();
    table_to_arrow(&table, ArrowFormat::Ipc, &mut bytes)?;
    Ok(bytes)
}

#[test]
fn tables_without_columns_or_with_equal_names_are_refused() {
    let refused = exported_with(&[], &[], u64::MAX);
    assert!(error_of(refused).contains("the table has no columns with values"));
    let names = [ColumnSpec::number("a.b", "int8"), ColumnSpec::number("a\\.b", "int8")];
    let refused = exported_with(&names, &[vec![Value::Int(1), Value::Int(2)]], u64::MAX);
    assert!(error_of(refused).contains("another column has this name, without its escapes"));
    let schema = std::sync::Arc::new(arrow_schema::Schema::empty());
    let mut bytes = Vec::new();
    arrow_ipc::writer::FileWriter::try_new(&mut bytes, &schema).unwrap().finish().unwrap();
    let refused = imported(&bytes, ArrowFormat::Ipc);
    assert!(error_of(refused).contains("the file has no columns"));
}

#[test]
fn long_values_are_exported_in_batches_of_few_rows() {
    let rows: Vec<Vec<Value>> =
        (0..100).map(|row| vec![Value::Str(format!("{row} {}", "x".repeat(10_000)))]).collect();
    let bytes = exported_with(&[ColumnSpec::utf8("c")], &rows, 100_000).unwrap();
    let expected: Vec<Value> = rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(imported(&bytes, ArrowFormat::Ipc).unwrap(), expected);
    // One row is too large.
    let refused = exported_with(&[ColumnSpec::utf8("c")], &rows, 5000);
    assert!(matches!(refused, Err(Error::Store(crate::store::Error::Limit { .. }))));
}

#[test]
fn a_footer_with_another_number_of_rows_is_damage() {
    let rows: Vec<Value> = (0..100).map(Value::Int).collect();
    let spec = ColumnSpec::number("n", "int64");
    let mut bytes = exported(spec, &rows, ArrowFormat::Parquet).unwrap();
    let end = bytes.len();
    let len = u32::from_le_bytes(bytes[end - 8..end - 4].try_into().unwrap()) as usize;
    let footer = end - 8 - len;
    // The number of rows of the file, 100, precedes that of its row group.
    let at = bytes[footer..].windows(3).position(|window| window == [0x16, 0xc8, 0x01]);
    bytes[footer + at.unwrap() + 1] = 0xca;
    let error = imported(&bytes, ArrowFormat::Parquet).unwrap_err();
    assert!(error.is_corruption(), "{error}");
    assert!(error.to_string().contains("101 rows"), "{error}");
}

#[test]
fn streams_of_old_versions_and_without_an_end_are_read() {
    use arrow_array::{Int64Array, RecordBatch};
    use arrow_ipc::MetadataVersion;
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
    let array: arrow_array::ArrayRef = std::sync::Arc::new(Int64Array::from(vec![3, 4, 5]));
    let batch = RecordBatch::try_from_iter([("n", array)]).unwrap();
    let stream = |is_old: bool| {
        let version = if is_old { MetadataVersion::V4 } else { MetadataVersion::V5 };
        let options = IpcWriteOptions::try_new(64, is_old, version).unwrap();
        let mut bytes = Vec::new();
        let mut writer =
            StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    };
    let expected = [3, 4, 5].map(Value::Int);
    for (bytes, mark) in [(stream(true), 4), (stream(false), 8)] {
        assert_eq!(imported(&bytes, ArrowFormat::IpcStream).unwrap(), expected);
        let unended = &bytes[..bytes.len() - mark];
        assert_eq!(imported(unended, ArrowFormat::IpcStream).unwrap(), expected);
        let cut = imported(&bytes[..bytes.len() - mark - 8], ArrowFormat::IpcStream);
        assert!(cut.is_err_and(|error| error.is_corruption()));
    }
}

/// The sizes in the messages are checked before memory is allocated for them.
#[test]
fn negative_sizes_in_messages_are_damage() {
    let rows: Vec<Value> = (0..1000).map(|row| Value::Int(row * row)).collect();
    let ipc = exported(ColumnSpec::number("n", "int64"), &rows, ArrowFormat::Ipc).unwrap();
    let mut found = std::collections::BTreeSet::new();
    for at in 8..ipc.len() - 18 {
        let mut damaged = ipc.clone();
        damaged[at..at + 8].copy_from_slice(&(-2_i64).to_le_bytes());
        let Err(error) = imported(&damaged, ArrowFormat::Ipc) else {
            continue;
        };
        assert!(!catches_panics());
        found.insert(error.to_string());
    }
    let has = |text: &str| found.iter().any(|error| error.contains(text));
    assert!(has("a size in the footer is negative"), "{found:#?}");
    assert!(has("the range of a buffer is negative"), "{found:#?}");
    assert!(has("the file is truncated"), "{found:#?}");
}

#[test]
fn times_of_several_units_in_one_value_are_exported() {
    let times = [ColumnSpec::timestamp("s", "s", None), ColumnSpec::timestamp("ms", "ms", None)];
    let row = |seconds: i64, milliseconds: i64| {
        let entry = |name: &str, ticks| (Value::Str(name.to_owned()), Value::Int(ticks));
        Value::Map(vec![entry("s", seconds), entry("ms", milliseconds)])
    };
    let rows = [row(5, 7), row(-1, i64::MAX)];
    let spec = ColumnSpec::structure("c", &times);
    let bytes = exported(spec.clone(), &rows, ArrowFormat::Ipc).unwrap();
    assert_eq!(imported(&bytes, ArrowFormat::Ipc).unwrap(), rows);
    // Parquet has no seconds, and the smallest integer is not a time.
    let bytes = exported(spec.clone(), &rows, ArrowFormat::Parquet).unwrap();
    let scaled = [row(5000, 7), row(-1000, i64::MAX)];
    assert_eq!(imported(&bytes, ArrowFormat::Parquet).unwrap(), scaled);
    let none = [row(i64::MIN, 0)];
    let bytes = exported(spec, &none, ArrowFormat::Parquet).unwrap();
    assert_eq!(imported(&bytes, ArrowFormat::Parquet).unwrap(), none);
}

#[test]
fn lists_whose_items_are_not_null_are_imported() {
    use arrow_array::builder::{Int64Builder, ListBuilder};
    use arrow_array::{ArrayRef, RecordBatch};
    let item = arrow_schema::Field::new("item", arrow_schema::DataType::Int64, false);
    let mut lists = ListBuilder::new(Int64Builder::new()).with_field(item);
    for len in [2, 0, 1] {
        (0..len).for_each(|number| lists.values().append_value(number));
        lists.append(true);
    }
    let array: ArrayRef = std::sync::Arc::new(lists.finish());
    let batch = RecordBatch::try_from_iter([("c", array)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let list = |len: i64| Value::List((0..len).map(Value::Int).collect());
    assert_eq!(imported(&bytes, ArrowFormat::Ipc).unwrap(), [list(2), list(0), list(1)]);
}

#[test]
fn pages_of_parquet_files_are_compared_with_their_checksums() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet");
    let mut bytes = std::fs::read(folder.join("checksums.parquet")).unwrap();
    let number = 0x0102_0304_0506_0708_i64;
    let values = [Value::Int(number), Value::Int(0x1112_1314_1516_1718)];
    assert_eq!(imported(&bytes, ArrowFormat::Parquet).unwrap(), values);
    let at = bytes.windows(8).position(|bytes| *bytes == number.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    let refused = error_of(imported(&bytes, ArrowFormat::Parquet));
    assert!(refused.contains("CRC"), "{refused}");
}
