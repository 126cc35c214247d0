//! Tables as Arrow IPC and Parquet files, in both directions. `FERROBLOSC_ARROW_PYTHON` is the path
//! of an interpreter with pyarrow.

use crate::build::Scratch;
use crate::common::{difference, expected, fixture, json_of};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use ferroblosc_formats::bloscpack::Value as Json;
use ferroblosc_formats::convert::{ArrowFormat, Error, arrow_to_table, table_to_arrow};
use ferroblosc_formats::store::{self, ColumnSpec, Store, StoreWriter, Value};
use parquet::arrow::ArrowWriter;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

pub const FORMATS: [(&str, ArrowFormat); 2] =
    [("parquet", ArrowFormat::Parquet), ("arrow", ArrowFormat::Ipc)];

/// Runs jobs of pyarrow in one process and returns their results.
fn python(scratch: &Scratch, jobs: Vec<Json>) -> Vec<Json> {
    let interpreter = std::env::var_os("FERROBLOSC_ARROW_PYTHON").expect("an interpreter");
    let count = jobs.len();
    let path = scratch.file("jobs.json", Json::List(jobs).to_json().as_bytes());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores/arrow.py");
    let output = Command::new(interpreter).arg(script).arg(path).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    match Json::parse(&output.stdout).unwrap() {
        Json::List(results) if results.len() == count => results,
        _ => panic!("no list of {count} results"),
    }
}

fn job(command: &str, path: &Path) -> Vec<Json> {
    vec![Json::from(command), Json::Text(path.to_str().unwrap().to_owned())]
}

/// Returns the columns of a table in the form of `expect.json`.
fn columns(store: &Store, key: &str) -> Json {
    let table = store.table(key).unwrap();
    let columns = table.schema().columns.iter().map(|column| {
        let values = table.values(&column.name, 0..table.len()).unwrap();
        let name = column.name.replace("\\.", ".");
        (name, Json::List(values.iter().map(json_of).collect()))
    });
    Json::Object(columns.collect())
}

pub fn export(store: &Store, key: &str, path: &Path, format: ArrowFormat) -> Vec<String> {
    let mut file = std::fs::File::create(path).unwrap();
    table_to_arrow(&store.table(key).unwrap(), format, &mut file).unwrap()
}

pub fn import(path: &Path, target: &Path) -> Result<u64, Error> {
    let format = ArrowFormat::detect(path).expect("a known format");
    let mut writer = Store::create(target)?;
    let mut read = 0;
    let imported = arrow_to_table(path, format, &mut writer, "/", &mut |bytes| read += bytes)?;
    assert!(read <= std::fs::metadata(path).unwrap().len());
    writer.commit()?;
    Ok(imported.rows)
}

/// Returns columns with times in milliseconds instead of seconds, as in Parquet.
fn in_milliseconds(columns: &Json, is_scaled: impl Fn(&str) -> bool) -> Json {
    let Json::Object(columns) = columns else {
        panic!("no columns");
    };
    let scale = |(name, values): &(String, Json)| {
        let Json::List(items) = values else {
            panic!("no values");
        };
        let scaled = |value: &Json| match value {
            Json::Int(digits) if digits != "0" => Json::Int(format!("{digits}000")),
            other => other.clone(),
        };
        let items =
            if is_scaled(name) { items.iter().map(scaled).collect() } else { items.clone() };
        (name.clone(), Json::List(items))
    };
    Json::Object(columns.iter().map(scale).collect())
}

/// Returns columns whose names have no escapes.
fn unescaped(columns: &Json) -> Json {
    match columns {
        Json::Object(columns) => {
            let plain = |name: &str| name.replace("\\.", ".").replace("\\\\", "\\");
            Json::Object(
                columns.iter().map(|(name, values)| (plain(name), values.clone())).collect(),
            )
        }
        other => other.clone(),
    }
}

#[test]
#[ignore = "needs pyarrow: FERROBLOSC_ARROW_PYTHON"]
fn files_of_pyarrow_become_tables_and_tables_become_files_of_pyarrow() {
    let scratch = Scratch::new();
    let path = |number: usize, suffix: &str| scratch.path(&format!("{number}.{suffix}"));
    let suffixes = ["parquet", "arrow", "feather", "arrows"];
    let count = 80;
    let sources: Vec<PathBuf> =
        (0..count).map(|number| path(number, suffixes[number % 4])).collect();
    let jobs = sources.iter().enumerate().map(|(seed, path)| {
        let mut job = job("write", path);
        job.push(Json::from(seed as u64));
        Json::List(job)
    });
    let written = python(&scratch, jobs.collect());
    let mut reads = Vec::new();
    for (number, (source, written)) in sources.iter().zip(&written).enumerate() {
        let target = path(number, if number % 2 == 0 { "b2z" } else { "b2d" });
        import(source, &target).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        let store = Store::open(&target).unwrap();
        let found = columns(&store, "/");
        let wanted = written.get("columns").unwrap();
        if let Some(why) = difference(&source.display().to_string(), &found, wanted) {
            panic!("{why}");
        }
        assert!(store.verify().unwrap().is_empty(), "{:?}", store.verify().unwrap());
        for (suffix, format) in FORMATS {
            let back = path(number, &format!("back.{suffix}"));
            export(&store, "/", &back, format);
            reads.push(Json::List(job("read", &back)));
        }
    }
    let results = python(&scratch, reads);
    for (number, result) in results.iter().enumerate() {
        let written = &written[number / 2];
        let wanted = written.get("columns").unwrap();
        // The first format is Parquet.
        let wanted = match number % 2 {
            0 => in_milliseconds(wanted, |name| {
                let kind = written.get("types").unwrap().get(name).unwrap();
                ["timestamp[s]", "date32[day]"].map(Json::from).contains(kind)
            }),
            _ => wanted.clone(),
        };
        let found = result.get("columns").unwrap();
        if let Some(why) = difference(&format!("export {number}"), found, &wanted) {
            panic!("{why}");
        }
    }
}

#[test]
#[ignore = "needs pyarrow: FERROBLOSC_ARROW_PYTHON"]
fn pyarrow_reads_the_tables_of_python_blosc2() {
    let scratch = Scratch::new();
    let (mut jobs, mut names) = (Vec::new(), Vec::new());
    for (name, wanted) in expected() {
        // The schema of this one contradicts its values.
        let is_read = name != "x_wrong_dtype.b2z" && wanted.get("columns").is_some();
        if wanted.get("type") != Some(&Json::from("CTable")) || !is_read {
            continue;
        }
        let store = Store::open(fixture(&name)).unwrap();
        for (suffix, format) in FORMATS {
            let path = scratch.path(&format!("{}.{suffix}", name.replace('/', "-")));
            let mut file = std::fs::File::create(&path).unwrap();
            match table_to_arrow(&store.table("/").unwrap(), format, &mut file) {
                Ok(_) => {
                    jobs.push(Json::List(job("read", &path)));
                    let mut columns = unescaped(wanted.get("columns").unwrap());
                    if format == ArrowFormat::Parquet {
                        let table = store.table("/").unwrap();
                        columns = in_milliseconds(&columns, |name| {
                            let column = table.schema().columns.iter().find(|one| one.name == name);
                            column.is_some_and(|one| one.json.get("unit") == Some(&"s".into()))
                        });
                    }
                    names.push((path, columns));
                }
                Err(Error::Field { name: column, why }) => println!("{name}: {column}: {why}"),
                Err(error) => println!("{name}: {error}"),
            }
        }
    }
    assert!(names.len() > 30, "{}", names.len());
    for ((path, wanted), result) in names.iter().zip(python(&scratch, jobs)) {
        let name = path.display().to_string();
        if let Some(why) = difference(&name, result.get("columns").unwrap(), wanted) {
            panic!("{why}");
        }
    }
}

/// Creates a store with the table `/t`.
pub fn table(path: &Path, specs: &[ColumnSpec], rows: &[Vec<Value>]) -> Store {
    let mut writer: StoreWriter = Store::create(path).unwrap();
    let mut table = writer.create_table("/t", specs).unwrap();
    table.append_rows(rows).unwrap();
    table.finish().unwrap();
    writer.commit().unwrap();
    Store::open(path).unwrap()
}

#[test]
fn columns_without_a_type_of_arrow_are_named_in_errors() {
    let scratch = Scratch::new();
    let columns = [
        ColumnSpec::number("c8", "complex64"),
        ColumnSpec::object("anything"),
        ColumnSpec::array("text arrays", &[2], "<U3"),
        ColumnSpec::list("lists", ColumnSpec::object("")),
    ];
    for (number, column) in columns.into_iter().enumerate() {
        let name = column.name().to_owned();
        let store = table(&scratch.path(&format!("{number}.b2z")), &[column], &[]);
        for (_, format) in FORMATS {
            match table_to_arrow(&store.table("/t").unwrap(), format, &mut Vec::new()) {
                Err(Error::Field { name: found, .. }) => assert_eq!(found, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

/// Returns a file with a table of several kinds.
fn sample(scratch: &Scratch, format: ArrowFormat) -> Vec<u8> {
    let specs = [
        ColumnSpec::number("i", "int64"),
        ColumnSpec::utf8("s").nullable(),
        ColumnSpec::dictionary("d", false).nullable(),
        ColumnSpec::list("l", ColumnSpec::number("", "float64")),
    ];
    let row = |number: i64| {
        let text = Value::Str(format!("text {number}"));
        let word = Value::Str(["a", "b"][usize::from(number % 2 == 0)].to_owned());
        let list = (0..number % 4).map(|item| Value::Float(item as f64)).collect();
        let nil = number % 3 == 0;
        vec![
            Value::Int(number),
            if nil { Value::Nil } else { text },
            if nil { Value::Nil } else { word },
            Value::List(list),
        ]
    };
    let rows: Vec<Vec<Value>> = (0..6000).map(row).collect();
    let path = scratch.path(&format!("{format:?}.b2z"));
    let store = table(&path, &specs, &rows);
    let mut bytes = Vec::new();
    table_to_arrow(&store.table("/t").unwrap(), format, &mut bytes).unwrap();
    let file = scratch.file(&format!("{format:?}.bin"), &bytes);
    assert_eq!(ArrowFormat::detect(&file), Some(format));
    let back = scratch.path(&format!("{format:?}.back.b2z"));
    assert_eq!(import(&file, &back).unwrap(), 6000);
    let found = Store::open(&back).unwrap().table("/").unwrap().rows(0..6000).unwrap();
    assert_eq!(found, rows);
    bytes
}

#[test]
fn tables_are_equal_after_a_round_trip_and_damaged_files_are_errors() {
    let scratch = Scratch::new();
    for (suffix, format) in FORMATS {
        let bytes = sample(&scratch, format);
        let mut seed = 1u64;
        let mut failures = 0;
        for number in 0..60 {
            let mut damaged = bytes.clone();
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).unwrap() % bytes.len();
            if number % 3 == 0 {
                damaged.truncate(at);
            } else {
                let at = if number % 3 == 1 { bytes.len() - 1 - at % 600 } else { at };
                damaged[at] ^= 1 << (number % 8);
            }
            let file = scratch.file(&format!("damaged.{suffix}"), &damaged);
            let target = scratch.path(&format!("damaged-{suffix}-{number}.b2z"));
            let mut writer = Store::create(&target).unwrap();
            match arrow_to_table(&file, format, &mut writer, "/", &mut |_| {}) {
                Ok(_) => {}
                Err(
                    Error::Arrow { .. }
                    | Error::Field { .. }
                    | Error::Store(store::Error::Value(_)),
                ) => {
                    failures += 1;
                }
                Err(error) => {
                    println!("{error}");
                    failures += 1;
                }
            }
        }
        assert!(failures > 20, "{suffix}: {failures}");
    }
}

/// Writes a batch as a Parquet file, an Arrow IPC file and a stream; returns their paths.
pub fn files(scratch: &Scratch, batch: &RecordBatch) -> Vec<PathBuf> {
    let mut parquet = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut parquet, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    let mut ipc = Vec::new();
    let mut writer = FileWriter::try_new(&mut ipc, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let mut stream = Vec::new();
    let mut writer = StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    [("f.parquet", parquet), ("f.arrow", ipc), ("f.arrows", stream)]
        .map(|(name, bytes)| scratch.file(name, &bytes))
        .to_vec()
}

fn ints(name: &str, nullable: bool) -> (Field, ArrayRef) {
    (Field::new(name, DataType::Int32, nullable), Arc::new(Int32Array::from(vec![3, 4])))
}

pub fn batch_of(columns: Vec<(Field, ArrayRef)>) -> RecordBatch {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

#[test]
fn columns_with_equal_or_invalid_names_are_errors() {
    let scratch = Scratch::new();
    for (names, text) in [
        (["a", "a"], "column \"a\": two columns have this name"),
        (["", "a"], "the name \"\" is invalid: it is empty"),
        (["a", "b\n"], "the name \"b\\n\" is invalid: it contains a control character"),
    ] {
        let batch = batch_of(names.map(|name| ints(name, false)).to_vec());
        for file in files(&scratch, &batch) {
            let error = import(&file, &scratch.path("names.b2z")).unwrap_err();
            assert_eq!(error.to_string(), text, "{}", file.display());
            assert!(!error.is_corruption());
        }
    }
}

#[test]
fn metadata_of_files_and_fields_are_listed() {
    let scratch = Scratch::new();
    let entry = |name: &str| HashMap::from([(name.to_owned(), "1".to_owned())]);
    let (field, array) = ints("a", true);
    let field = field.with_metadata(entry("unit"));
    let schema = Schema::new_with_metadata(vec![field], entry("source"));
    let batch = RecordBatch::try_new(Arc::new(schema), vec![array]).unwrap();
    for file in files(&scratch, &batch) {
        let format = ArrowFormat::detect(&file).unwrap();
        let mut writer = Store::create(scratch.path("lost.b2z")).unwrap();
        let imported = arrow_to_table(&file, format, &mut writer, "/", &mut |_| {}).unwrap();
        let wanted = ["metadata \"source\" of the file", "metadata \"unit\" of column \"a\""];
        assert_eq!(imported.lost, wanted, "{}", file.display());
        assert_eq!(imported.rows, 2);
    }
}

#[test]
fn types_without_a_kind_of_columns_are_named() {
    let scratch = Scratch::new();
    let array: ArrayRef = Arc::new(arrow_array::Time64MicrosecondArray::from(vec![1]));
    let batch = batch_of(vec![(Field::new("t", array.data_type().clone(), true), array)]);
    for file in files(&scratch, &batch) {
        match import(&file, &scratch.path("types.b2z")) {
            Err(Error::Field { name, why }) => {
                assert_eq!(name, "t");
                assert!(why.contains("Time64"), "{why}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn long_texts_are_converted_in_batches_of_few_rows() {
    let scratch = Scratch::new();
    let text = "0123456789".repeat(100_000);
    let texts: ArrayRef = Arc::new(StringArray::from(vec![text.as_str(); 50]));
    let batch = batch_of(vec![(Field::new("s", DataType::Utf8, false), texts)]);
    for file in files(&scratch, &batch) {
        let target = scratch.path(&format!("{}.b2z", file.display()));
        assert_eq!(import(&file, &target).unwrap(), 50);
        let store = Store::open(&target).unwrap();
        let found = store.table("/").unwrap().values("s", 49..50).unwrap();
        assert_eq!(found, [Value::Str(text.clone())]);
    }
}

/// Returns a Parquet file without data, whose schema has this number of nested groups.
fn nested_groups(depth: u32) -> Vec<u8> {
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    let mut count = depth;
    while count >= 0x80 {
        footer.push(0x80 | count as u8);
        count >>= 7;
    }
    footer.push(count as u8);
    for _ in 0..depth {
        // Field 3, the repetition; field 4, the name; field 5, the number of children.
        footer.extend([0x35, 0, 0x18, 1, b'x', 0x15, 2, 0]);
    }
    footer.push(0);
    let len = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1".as_slice(), &footer, &len, b"PAR1"].concat()
}

#[test]
fn deeply_nested_schemas_are_errors() {
    let scratch = Scratch::new();
    for depth in [66, 1_000_000] {
        let file = scratch.file("deep.parquet", &nested_groups(depth));
        let error = import(&file, &scratch.path("deep.b2z")).unwrap_err();
        assert_eq!(error.to_string(), "the schema has more than 64 levels");
    }
}

#[test]
fn declared_sizes_of_buffers_are_checked() {
    let scratch = Scratch::new();
    let bytes = sample(&scratch, ArrowFormat::Ipc);
    // A frame of Zstd follows the size of the buffer.
    let frames: Vec<usize> =
        (8..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == [0x28, 0xb5, 0x2f, 0xfd]).collect();
    assert!(frames.len() > 4);
    for size in [1u64 << 40, i64::MAX as u64] {
        for &at in &frames[..4] {
            let mut damaged = bytes.clone();
            damaged[at - 8..at].copy_from_slice(&size.to_le_bytes());
            let file = scratch.file("sizes.arrow", &damaged);
            let error = import(&file, &scratch.path("sizes.b2z")).unwrap_err();
            assert!(error.is_corruption());
            assert!(error.to_string().contains("has a size of"), "{error}");
        }
    }
}
