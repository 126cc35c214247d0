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
