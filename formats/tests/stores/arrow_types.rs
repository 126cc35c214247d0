//! Every type of Arrow that tables support, in both directions.

use crate::arrow::{FORMATS, batch_of, export, files, import, table};
use crate::build::Scratch;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use ferroblosc_formats::convert::{ArrowFormat, Error, table_to_arrow};
use ferroblosc_formats::store::{ColumnSpec, Store, Value};
use std::sync::Arc;

/// The number of seconds of a day.
const DAY: i64 = 86_400;

fn int(number: i64) -> Value {
    Value::Int(number)
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn bytes(bytes: &[u8]) -> Value {
    Value::Bytes(bytes.to_vec())
}

fn list(values: &[Value]) -> Value {
    Value::List(values.to_vec())
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(name, value)| (text(name), value.clone())).collect())
}

fn nullable(name: &str, data_type: &DataType) -> FieldRef {
    Arc::new(Field::new(name, data_type.clone(), true))
}

fn numbers<T: ArrowPrimitiveType>(numbers: [T::Native; 3]) -> PrimitiveArray<T> {
    let [one, two, three] = numbers;
    PrimitiveArray::from_iter([Some(one), None, Some(two), Some(three)])
}

/// Returns arrays of four items, with their values. The second item is null and has no value.
fn items() -> Vec<(ArrayRef, [Value; 3])> {
    let half = |number| <Float16Type as ArrowPrimitiveType>::Native::from_f32(number);
    let texts = [Some("a"), None, Some(""), Some("é漢")];
    let text_values = || [text("a"), text(""), text("é漢")];
    let blobs = [Some(&b"ab"[..]), None, Some(&b"\0\xff"[..]), Some(&b"  "[..])];
    let blob_values = || [bytes(b"ab"), bytes(b"\0\xff"), bytes(b"  ")];
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(blobs.into_iter(), 2);
    let words: DictionaryArray<Int8Type> = texts.into_iter().collect();
    let keys = UInt16Array::from(vec![Some(1), None, Some(0), Some(1)]);
    let coded = DictionaryArray::new(keys, Arc::new(Int64Array::from(vec![70, -80])));
    let float = Value::Float;
    vec![
        (
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)])),
            [true, false, true].map(Value::Bool),
        ),
        (Arc::new(numbers::<Int8Type>([i8::MIN, 1, i8::MAX])), [-128, 1, 127].map(int)),
        (Arc::new(numbers::<Int16Type>([i16::MIN, 1, i16::MAX])), [-32_768, 1, 32_767].map(int)),
        (
            Arc::new(numbers::<Int32Type>([i32::MIN, 1, i32::MAX])),
            [i32::MIN, 1, i32::MAX].map(|number| int(number.into())),
        ),
        (Arc::new(numbers::<Int64Type>([i64::MIN, 1, i64::MAX])), [i64::MIN, 1, i64::MAX].map(int)),
        (Arc::new(numbers::<UInt8Type>([0, 1, u8::MAX])), [0, 1, 255].map(int)),
        (Arc::new(numbers::<UInt16Type>([0, 1, u16::MAX])), [0, 1, 65_535].map(int)),
        (Arc::new(numbers::<UInt32Type>([0, 1, u32::MAX])), [0, 1, u32::MAX.into()].map(int)),
        (
            Arc::new(numbers::<UInt64Type>([0, i64::MAX.unsigned_abs(), u64::MAX])),
            [int(0), int(i64::MAX), Value::UInt(u64::MAX)],
        ),
        (
            Arc::new(numbers::<Float16Type>([0.5, -2.0, 1024.0].map(half))),
            [0.5, -2.0, 1024.0].map(float),
        ),
        (
            Arc::new(numbers::<Float32Type>([0.5, -2.0, 1e30])),
            [0.5, -2.0, 1e30f32.into()].map(float),
        ),
        (
            Arc::new(numbers::<Float64Type>([0.1, f64::INFINITY, -0.5])),
            [0.1, f64::INFINITY, -0.5].map(float),
        ),
        (Arc::new(numbers::<Date32Type>([0, -1, 20_000])), [0, -DAY, 20_000 * DAY].map(int)),
        (
            Arc::new(numbers::<Date64Type>([0, -DAY * 1000, 5 * DAY * 1000])),
            [0, -DAY * 1000, 5 * DAY * 1000].map(int),
        ),
        (Arc::new(numbers::<TimestampSecondType>([0, -1, 7])), [0, -1, 7].map(int)),
        (Arc::new(numbers::<TimestampMillisecondType>([0, -1, 7])), [0, -1, 7].map(int)),
        (
            Arc::new(numbers::<TimestampMicrosecondType>([0, -1, 7]).with_timezone("+01:00")),
            [0, -1, 7].map(int),
        ),
        (Arc::new(numbers::<TimestampNanosecondType>([0, -1, 7])), [0, -1, 7].map(int)),
        (Arc::new(StringArray::from_iter(texts)), text_values()),
        (Arc::new(LargeStringArray::from_iter(texts)), text_values()),
        (Arc::new(StringViewArray::from_iter(texts)), text_values()),
        (Arc::new(words), text_values()),
        (Arc::new(coded), [-80, 70, -80].map(int)),
        (Arc::new(BinaryArray::from_iter(blobs)), blob_values()),
        (Arc::new(LargeBinaryArray::from_iter(blobs)), blob_values()),
        (Arc::new(BinaryViewArray::from_iter(blobs)), blob_values()),
        (Arc::new(fixed.unwrap()), blob_values()),
    ]
}

/// Returns lists of the items: the first and the null, no list, an empty list, and the others.
fn lists(items: &ArrayRef, [one, two, three]: &[Value; 3]) -> (ArrayRef, [Value; 4]) {
    let field = nullable("item", items.data_type());
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 2, 2, 2, 4]));
    let nulls = NullBuffer::from(vec![true, false, true, true]);
    let lists = ListArray::new(field, offsets, Arc::clone(items), Some(nulls));
    let first = list(&[one.clone(), Value::Nil]);
    let last = list(&[two.clone(), three.clone()]);
    (Arc::new(lists), [first, Value::Nil, list(&[]), last])
}

/// Returns columns, and their values.
fn columns() -> Vec<(ArrayRef, Vec<Value>)> {
    let mut columns = Vec::new();
    for (items, values) in items() {
        let [one, two, three] = values.clone();
        columns.push((Arc::clone(&items), vec![one, Value::Nil, two, three]));
        let (lists, values) = lists(&items, &values);
        columns.push((lists, values.to_vec()));
    }
    let numbers: ArrayRef = Arc::new(Int16Array::from_iter_values(0..24));
    let values: Vec<Value> = (0..24).map(int).collect();
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter((0..8).map(|row| (row != 3).then_some("x"))));
    let bits: ArrayRef = Arc::new(BooleanArray::from_iter((0..8).map(|row| Some(row % 3 == 0))));
    let rows = || Some(NullBuffer::from(vec![true, true, false, true]));
    let fixed = |items: &ArrayRef, len: i32, nulls: Option<NullBuffer>| -> ArrayRef {
        let field = nullable("item", items.data_type());
        Arc::new(FixedSizeListArray::new(field, len, Arc::clone(items), nulls))
    };
    // Arrays of one and two dimensions.
    let chunks =
        |values: &[Value], len: usize| -> Vec<Value> { values.chunks(len).map(list).collect() };
    columns.push((fixed(&numbers, 6, None), chunks(&values, 6)));
    let inner = fixed(&numbers, 2, None);
    columns.push((fixed(&inner, 3, None), chunks(&chunks(&values, 2), 3)));
    let truths: Vec<Value> = (0..8).map(|row| Value::Bool(row % 3 == 0)).collect();
    columns.push((fixed(&bits, 2, None), chunks(&truths, 2)));
    // Lists of texts, with a null among the texts and one among the lists.
    let mut found = vec![text("x"); 8];
    found[3] = Value::Nil;
    let mut found = chunks(&found, 2);
    found[2] = Value::Nil;
    columns.push((fixed(&texts, 2, rows()), found));
    // Long lists, also of lists.
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0_i64, 4, 4, 6, 8]));
    let field = nullable("item", texts.data_type());
    let long = LargeListArray::new(field, offsets, Arc::clone(&texts), rows());
    let mut items = vec![text("x"); 8];
    items[3] = Value::Nil;
    let found = [list(&items[..4]), list(&[]), Value::Nil, list(&items[6..])];
    columns.push((Arc::new(long), found.to_vec()));
    // Maps, also in lists.
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3), Some(4)]));
    let (inner, inner_values) = lists(&numbers, &[int(1), int(3), int(4)]);
    let fields =
        Fields::from(vec![nullable("a", numbers.data_type()), nullable("b", inner.data_type())]);
    let records = StructArray::new(fields, vec![Arc::clone(&numbers), inner], rows());
    let records: ArrayRef = Arc::new(records);
    let numbers = [int(1), Value::Nil, int(3), int(4)];
    let record = |row: usize| map(&[("a", numbers[row].clone()), ("b", inner_values[row].clone())]);
    let found = vec![record(0), record(1), Value::Nil, record(3)];
    columns.push((Arc::clone(&records), found.clone()));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 1, 1, 3, 4]));
    let field = nullable("item", records.data_type());
    let of_records = ListArray::new(field, offsets, records, None);
    let found = [list(&found[..1]), list(&[]), list(&found[1..3]), list(&found[3..])];
    columns.push((Arc::new(of_records), found.to_vec()));
    columns
}

/// Whether a type contains times in seconds, which Parquet has as milliseconds.
fn has_seconds(data_type: &DataType) -> bool {
    match data_type {
        DataType::Date32 | DataType::Timestamp(arrow_schema::TimeUnit::Second, _) => true,
        DataType::List(item) => has_seconds(item.data_type()),
        _ => false,
    }
}

fn scaled(value: &Value) -> Value {
    match value {
        Value::Int(seconds) => Value::Int(seconds * 1000),
        Value::List(items) => Value::List(items.iter().map(scaled).collect()),
        other => other.clone(),
    }
}

#[test]
fn every_type_is_imported_and_exported() {
    let scratch = Scratch::new();
    for (array, expected) in columns() {
        let shown = array.data_type().to_string();
        let is_scaled = has_seconds(array.data_type());
        let batch = batch_of(vec![(Field::new("c", array.data_type().clone(), true), array)]);
        for file in files(&scratch, &batch) {
            let shown = format!("{shown}, {}", file.display());
            let (first, second) = (scratch.path("first.b2z"), scratch.path("second.b2z"));
            assert_eq!(import(&file, &first).unwrap(), 4, "{shown}");
            let store = Store::open(&first).unwrap();
            let values = |store: &Store| {
                store.table("/").unwrap().values("c", 0..4).unwrap().into_iter().collect::<Vec<_>>()
            };
            assert_eq!(values(&store), expected, "{shown}");
            assert_eq!(store.verify().unwrap(), [], "{shown}");
            for (suffix, format) in FORMATS {
                let back = scratch.path(&format!("back.{suffix}"));
                assert_eq!(export(&store, "/", &back, format), Vec::<String>::new());
                assert_eq!(import(&back, &second).unwrap(), 4, "{shown} {suffix}");
                let found = values(&Store::open(&second).unwrap());
                if is_scaled && format == ArrowFormat::Parquet {
                    let expected: Vec<Value> = expected.iter().map(scaled).collect();
                    assert_eq!(found, expected, "{shown} {suffix}");
                } else {
                    assert_eq!(found, expected, "{shown} {suffix}");
                }
                std::fs::remove_file(&second).unwrap();
            }
            drop(store);
            std::fs::remove_file(&first).unwrap();
        }
    }
}

#[test]
fn parts_of_arrays_are_imported() {
    let scratch = Scratch::new();
    for (array, expected) in columns() {
        let part = array.slice(1, 2);
        let shown = part.data_type().to_string();
        let batch = batch_of(vec![(Field::new("c", part.data_type().clone(), true), part)]);
        for file in files(&scratch, &batch) {
            let target = scratch.path("part.b2z");
            assert_eq!(import(&file, &target).unwrap(), 2, "{shown}");
            let found = Store::open(&target).unwrap().table("/").unwrap().values("c", 0..2);
            assert_eq!(found.unwrap(), expected[1..3], "{shown}");
            std::fs::remove_file(&target).unwrap();
        }
        let empty = array.slice(0, 0);
        let batch = batch_of(vec![(Field::new("c", empty.data_type().clone(), true), empty)]);
        for file in files(&scratch, &batch) {
            let target = scratch.path("empty.b2z");
            assert_eq!(import(&file, &target).unwrap(), 0, "{shown}");
            std::fs::remove_file(&target).unwrap();
        }
    }
}

/// Values that the type of Arrow for the column cannot hold.
#[test]
fn values_that_do_not_fit_are_errors_that_name_the_column() {
    let scratch = Scratch::new();
    let times = || ColumnSpec::timestamp("c", "s", None);
    let of_times = || ColumnSpec::timestamp("", "s", None);
    let seconds = i64::MAX / 1000 + 1;
    let cases = [
        (times(), int(seconds)),
        (ColumnSpec::list("c", of_times()), list(&[int(0), int(seconds)])),
        (
            ColumnSpec::structure("c", &[ColumnSpec::timestamp("t", "s", None)]),
            map(&[("t", int(seconds))]),
        ),
    ];
    for (number, (spec, value)) in cases.into_iter().enumerate() {
        let path = scratch.path(&format!("{number}.b2z"));
        let store = table(&path, &[spec], &[vec![value]]);
        let table = store.table("/t").unwrap();
        let error = table_to_arrow(&table, ArrowFormat::Parquet, &mut Vec::new()).unwrap_err();
        let expected = format!("column \"c\": {seconds} s are too many milliseconds");
        assert_eq!(error.to_string(), expected);
        assert!(!error.is_corruption());
        table_to_arrow(&table, ArrowFormat::Ipc, &mut Vec::new()).unwrap();
    }
}

#[test]
fn columns_that_a_format_cannot_hold_are_no_damage() {
    let scratch = Scratch::new();
    for (number, spec) in
        [ColumnSpec::structure("c", &[]), ColumnSpec::list("c", ColumnSpec::structure("", &[]))]
            .into_iter()
            .enumerate()
    {
        let store = table(&scratch.path(&format!("{number}.b2z")), &[spec], &[]);
        let table = store.table("/t").unwrap();
        match table_to_arrow(&table, ArrowFormat::Parquet, &mut Vec::new()) {
            Err(error @ (Error::Arrow { .. } | Error::Field { .. })) => {
                assert!(!error.is_corruption(), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
    let stream = table(&scratch.path("s.b2z"), &[ColumnSpec::number("c", "int8")], &[]);
    let error =
        table_to_arrow(&stream.table("/t").unwrap(), ArrowFormat::IpcStream, &mut Vec::new());
    assert_eq!(error.unwrap_err().to_string(), "streams of Arrow IPC are not written");
}

/// A writer to a full disk.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = bytes.len().min(self.0);
        self.0 -= len;
        if len == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(len) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_of_the_system() {
    let scratch = Scratch::new();
    let rows: Vec<Vec<Value>> = (0..5000).map(|row| vec![int(row * row)]).collect();
    let store = table(&scratch.path("s.b2z"), &[ColumnSpec::number("c", "int64")], &rows);
    for (suffix, format) in FORMATS {
        let mut whole = Vec::new();
        let table = store.table("/t").unwrap();
        table_to_arrow(&table, format, &mut whole).unwrap();
        for size in (0..whole.len()).step_by(whole.len() / 20 + 1) {
            let error = table_to_arrow(&table, format, &mut Full(size)).unwrap_err();
            assert!(!error.is_corruption(), "{suffix} {size}: {error}");
            let text = std::io::Error::from(std::io::ErrorKind::StorageFull).to_string();
            assert!(error.to_string().contains(&text), "{suffix} {size}: {error}");
        }
    }
}
