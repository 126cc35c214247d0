//! Tables of stores from Arrow IPC and Parquet files, and back (feature `arrow`).
//!
//! | file | content |
//! |---|---|
//! | `failures.rs` | errors of the Arrow crates |
//! | `source.rs` | reading of files, with checks of the sizes in Arrow IPC |
//! | `footer.rs` | a check of the nesting in the footer of Parquet |
//! | `types.rs` | types of Arrow and kinds of columns |
//! | `values.rs` | values of any type, one by one |
//! | `items.rs` | numbers, booleans and times, as items of a fixed size |
//!
//! Both directions convert a batch of rows at a time. The Arrow crates can panic for damaged files:
//! [`guarded`] returns such a panic as an error.

mod failures;
mod footer;
mod items;
mod source;
mod types;
mod values;

use std::cell::Cell;
use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use self::failures::{damaged, ipc_error, parquet_error, parquet_written, unsupported, written};
use self::source::Source;
use super::error::{Error, Result};
use super::records::unescaped;
use crate::store::{self, Cells, ColumnKind, StoreWriter, Table, Value};

/// The size of the values that are converted at once, in bytes, unless a row is larger.
const BATCH: usize = 32 << 20;
/// The maximum number of rows that are converted at once.
const MAX_ROWS: usize = 1 << 14;
/// The number of rows of a table in its first batch.
const FIRST_ROWS: usize = 1 << 8;
/// The size of the encoded rows that a row group of a Parquet file has at least, in bytes, except
/// the last one.
const ROW_GROUP: usize = 64 << 20;

/// A file format of Arrow tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrowFormat {
    /// The file format of Arrow IPC, also called Feather V2.
    Ipc,
    /// The stream format of Arrow IPC. It is read only.
    IpcStream,
    /// Parquet.
    Parquet,
}

impl ArrowFormat {
    /// Detects the format of a regular file by its content. A stream of Arrow IPC has no signature:
    /// its first message must be a schema.
    pub fn detect(path: &Path) -> Option<ArrowFormat> {
        if !path.is_file() {
            return None;
        }
        let source = Source::open(path).ok()?;
        let start = source.bytes(0, source.len().min(8)).ok()?;
        match &start[..] {
            [b'P', b'A', b'R', b'1' | b'E', ..] => Some(ArrowFormat::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(ArrowFormat::Ipc),
            [0xff, 0xff, 0xff, 0xff, ..] => {
                guarded(|| Ok(source.starts_with_schema())).ok()?.then_some(ArrowFormat::IpcStream)
            }
            _ => None,
        }
    }
}

/// The result of an import.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ArrowImport {
    /// The number of rows.
    pub rows: u64,
    /// Descriptions of the omitted data: metadata of the file and of its fields.
    pub lost: Vec<String>,
}

thread_local! {
    /// Whether the thread catches panics.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is in code of the Arrow crates whose panics become errors. The panic
/// hook of a program can print nothing in this case.
pub fn catches_panics() -> bool {
    IS_GUARDED.try_with(Cell::get).unwrap_or(false)
}

/// Runs code of the Arrow crates, which panics for some damaged files.
fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(before);
    result.unwrap_or_else(|_| Err(damaged("the file is damaged")))
}

/// Fails on big-endian machines: the Arrow crates copy numbers between memory and files, whose
/// numbers are little-endian, without a conversion.
fn check_byte_order() -> Result<()> {
    if cfg!(target_endian = "big") {
        return Err(unsupported("Arrow and Parquet files need a little-endian machine"));
    }
    Ok(())
}

/// Returns the error of a column.
fn column_error(name: &str, why: impl Into<String>) -> Error {
    Error::Field { name: name.to_owned(), why: why.into() }
}

/// Adds a table with the rows of a file, which has a column for each field. Calls
/// `progress` with the number of bytes of the file read so far.
///
/// # Errors
/// - [`Error::Field`] if the type of a field is not supported, or a value cannot be stored;
/// - [`Error::Arrow`] if the file is damaged or not supported, and on big-endian machines;
///   [`Error::Store`].
pub fn arrow_to_table(
    path: &Path,
    format: ArrowFormat,
    writer: &mut StoreWriter,
    key: &str,
    progress: &mut dyn FnMut(u64),
) -> Result<ArrowImport> {
    check_byte_order()?;
    let source = Source::open(path)?;
    let read = source.clone();
    let target = (writer, key);
    let mut reported = 0;
    let progress = &mut || {
        let total = read.total_read().min(read.len());
        progress(total.saturating_sub(reported));
        reported = total.max(reported);
    };
    let imported = match format {
        ArrowFormat::Parquet => {
            let reader = guarded(|| {
                footer::check(&source)?;
                let builder = ParquetRecordBatchReaderBuilder::try_new(source);
                let builder = builder.map_err(parquet_error)?;
                let groups = builder.metadata().row_groups();
                let size: i64 = groups
                    .iter()
                    .fold(0, |size, group| size.saturating_add(group.total_byte_size()));
                let rows = builder.metadata().file_metadata().num_rows();
                let step = rows_of(size.max(0).unsigned_abs(), rows.max(0).unsigned_abs());
                // The schema of the reader has no metadata.
                let lost = lost_metadata(builder.schema());
                let reader = builder.with_batch_size(step).build().map_err(parquet_error)?;
                Ok((reader, lost, rows))
            });
            reader.and_then(|(reader, lost, rows)| {
                import(reader, (lost, Some(rows)), target, progress)
            })
        }
        ArrowFormat::Ipc => {
            let reader = guarded(|| {
                source.check_file()?;
                FileReader::try_new(source, None).map_err(ipc_error)
            });
            reader.and_then(|reader| import_ipc(reader, target, progress))
        }
        ArrowFormat::IpcStream => {
            let reader = guarded(|| {
                source.check_stream()?;
                StreamReader::try_new(source, None).map_err(ipc_error)
            });
            reader.and_then(|reader| import_ipc(reader, target, progress))
        }
    };
    // The crates return errors of reading as texts.
    imported.map_err(|error| match (&error, read.failure()) {
        (Error::Arrow { .. }, Some(failure)) => failure.into(),
        _ => error,
    })
}

/// Returns the number of rows to convert at once, if `rows` have this size in bytes.
fn rows_of(size: u64, rows: u64) -> usize {
    let one = usize::try_from(size / rows.max(1)).unwrap_or(usize::MAX);
    (BATCH / one.max(1)).clamp(1, MAX_ROWS)
}

/// Adds the rows of a reader of Arrow IPC.
fn import_ipc(
    reader: impl RecordBatchReader,
    target: (&mut StoreWriter, &str),
    progress: &mut dyn FnMut(),
) -> Result<ArrowImport> {
    let lost = lost_metadata(&reader.schema());
    import(reader, (lost, None), target, progress)
}

/// Adds the rows of a reader. Beside the metadata that are lost, the number of rows that the file
/// declares is given, if it does.
fn import(
    mut reader: impl RecordBatchReader,
    (lost, declared): (Vec<String>, Option<i64>),
    (writer, key): (&mut StoreWriter, &str),
    progress: &mut dyn FnMut(),
) -> Result<ArrowImport> {
    let schema = reader.schema();
    if schema.fields().is_empty() {
        return Err(column_error("", "the file has no columns"));
    }
    let mut specs = Vec::new();
    let mut names = HashSet::new();
    for field in schema.fields() {
        if !names.insert(field.name()) {
            return Err(column_error(field.name(), "two columns have this name"));
        }
        let spec = types::spec_of(field);
        specs.push(spec.map_err(|why| column_error(field.name(), why))?);
    }
    let mut result = ArrowImport { rows: 0, lost };
    let mut table = writer.create_table(key, &specs)?;
    while let Some(batch) = guarded(|| reader.next().transpose().map_err(ipc_error))? {
        // Batches of IPC files have any size.
        let step = rows_of(batch.get_array_memory_size() as u64, batch.num_rows() as u64);
        let mut start = 0;
        while start < batch.num_rows() {
            let part = batch.slice(start, step.min(batch.num_rows() - start));
            let columns = guarded(|| columns_of(&part))?;
            let cells = specs.iter().zip(&columns);
            let cells: Vec<(&str, Cells<'_>)> =
                cells.map(|(spec, column)| (spec.name(), column.cells())).collect();
            table.append(&cells)?;
            start += part.num_rows();
            result.rows += part.num_rows() as u64;
        }
        progress();
    }
    if let Some(declared) = declared.filter(|&rows| u64::try_from(rows) != Ok(result.rows)) {
        let why = format!("the footer declares {declared} rows, and the file has {}", result.rows);
        return Err(damaged(why));
    }
    table.finish()?;
    Ok(result)
}

/// The values of a column in a batch.
enum Column {
    Values(Vec<Value>),
    Items { bytes: Vec<u8>, valid: Option<Vec<bool>> },
}

impl Column {
    fn cells(&self) -> Cells<'_> {
        match self {
            Column::Values(values) => Cells::Values(values),
            Column::Items { bytes, valid } => Cells::Items { bytes, valid: valid.as_deref() },
        }
    }
}

fn columns_of(batch: &RecordBatch) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    let mut left = values::MAX_SIZE;
    let schema = batch.schema();
    for (array, field) in batch.columns().iter().zip(schema.fields()) {
        columns.push(match items::bytes_of(array) {
            Some(bytes) => {
                let valid = array.nulls().filter(|nulls| nulls.null_count() > 0);
                Column::Items { bytes, valid: valid.map(|nulls| nulls.iter().collect()) }
            }
            None => {
                let values = values::values_of(array, &mut left);
                Column::Values(values.map_err(|why| column_error(field.name(), why))?)
            }
        });
    }
    Ok(columns)
}

/// Returns descriptions of metadata, which tables do not have.
fn lost_metadata(schema: &Schema) -> Vec<String> {
    let mut names: Vec<&String> = schema.metadata().keys().collect();
    names.sort();
    let mut lost: Vec<String> =
        names.into_iter().map(|name| format!("metadata {name:?} of the file")).collect();
    for field in schema.fields() {
        // Parquet files number their fields.
        let mut names: Vec<&String> =
            field.metadata().keys().filter(|name| !name.starts_with("PARQUET:")).collect();
        names.sort();
        lost.extend(
            names.into_iter().map(|name| format!("metadata {name:?} of column {:?}", field.name())),
        );
    }
    lost
}

/// A writer of record batches.
enum BatchWriter<'w> {
    Ipc(Box<FileWriter<&'w mut (dyn Write + Send)>>),
    Parquet(Box<ArrowWriter<&'w mut (dyn Write + Send)>>),
}

impl BatchWriter<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            BatchWriter::Ipc(writer) => writer.write(batch).map_err(written),
            BatchWriter::Parquet(writer) => {
                writer.write(batch).map_err(parquet_written)?;
                if writer.in_progress_size() >= ROW_GROUP {
                    writer.flush().map_err(parquet_written)?;
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            BatchWriter::Ipc(mut writer) => writer.finish().map_err(written),
            BatchWriter::Parquet(writer) => writer.close().map(drop).map_err(parquet_written),
        }
    }
}

/// Writes the rows of a table, compressed with Zstd. Returns descriptions of the omitted data:
/// computed columns and attributes of the table.
///
/// # Errors
/// - [`Error::Field`] if Arrow has no type for a column, or a value has another type than its
///   column;
/// - [`Error::Arrow`] for the stream format, on big-endian machines, and if writing fails;
///   [`Error::Store`].
pub fn table_to_arrow(
    table: &Table<'_>,
    format: ArrowFormat,
    output: &mut (dyn Write + Send),
) -> Result<Vec<String>> {
    check_byte_order()?;
    let columns = &table.schema().columns;
    if columns.is_empty() {
        return Err(column_error("", "the table has no columns with values"));
    }
    // Parquet has no times in seconds.
    let has_seconds = format != ArrowFormat::Parquet;
    let mut fields = Vec::new();
    let mut names = HashSet::new();
    for column in columns {
        let field = types::field_of(column, unescaped(&column.name), has_seconds);
        let field = field.map_err(|why| column_error(&column.name, why))?;
        if !names.insert(field.name().clone()) {
            let why = "another column has this name, without its escapes";
            return Err(column_error(&column.name, why));
        }
        fields.push(field);
    }
    let schema = Arc::new(Schema::new(fields));
    let mut dictionaries = Vec::new();
    for column in columns {
        dictionaries.push(match column.kind {
            ColumnKind::Dictionary { .. } => Some(dictionary_of(table, &column.name)?),
            _ => None,
        });
    }
    let mut writer = open_writer(&schema, format, output)?;
    let mut step = FIRST_ROWS;
    let mut start = 0;
    while start < table.len() {
        let rows = start..start.saturating_add(step as u64).min(table.len());
        let fields = columns.iter().zip(schema.fields()).zip(&dictionaries);
        let arrays = fields.map(|((column, field), dictionary)| match dictionary {
            Some(texts) => {
                let items = table.items(&column.name, rows.clone())?;
                let array = values::dictionary_array(&items, texts);
                array.map_err(|why| column_error(&column.name, why))
            }
            None => array_of(table, column, field, rows.clone(), has_seconds),
        });
        let arrays = match arrays.collect::<Result<Vec<_>>>() {
            // Fewer rows can be below the limit.
            Err(Error::Store(store::Error::Limit { .. })) if step > 1 => {
                step /= 2;
                continue;
            }
            arrays => arrays?,
        };
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(written)?;
        writer.write(&batch)?;
        start = rows.end;
        let sizes = batch.columns().iter().zip(&dictionaries).map(|(array, dictionary)| {
            // The texts of a dictionary are shared by all batches.
            if dictionary.is_some() { 4 * array.len() } else { array.get_array_memory_size() }
        });
        let size = sizes.fold(0, usize::saturating_add);
        step = rows_of(size as u64, batch.num_rows() as u64).min(4 * step);
    }
    writer.finish()?;
    let mut lost: Vec<String> = table
        .schema()
        .computed
        .iter()
        .map(|computed| format!("computed column {:?}", computed.name))
        .collect();
    let attrs = table.attrs()?;
    table.check_unchanged()?;
    lost.extend(attrs.entries.iter().map(|(name, _)| format!("attribute {name:?}")));
    lost.extend(attrs.damaged.iter().map(|(name, _)| format!("attribute {name:?}")));
    Ok(lost)
}

/// Returns the array of rows of a column that is not a dictionary.
fn array_of(
    table: &Table<'_>,
    column: &crate::store::Column,
    field: &Field,
    rows: Range<u64>,
    has_seconds: bool,
) -> Result<ArrayRef> {
    let is_scaled = !has_seconds && types::contains_seconds(&column.json);
    let is_fixed = matches!(
        column.kind,
        ColumnKind::Number(_) | ColumnKind::Bool | ColumnKind::Timestamp { .. }
    );
    if is_fixed && !is_scaled {
        let items = table.items(&column.name, rows.clone())?;
        if let Some(array) = items::array_of(field.data_type(), &items) {
            return Ok(array);
        }
    }
    let of_column = |why| column_error(&column.name, why);
    let has_texts =
        matches!(column.kind, ColumnKind::Utf8 | ColumnKind::String | ColumnKind::VlString);
    if has_texts && *field.data_type() == DataType::Utf8 {
        let texts = table.texts(&column.name, rows)?;
        return values::text_array(&texts).map_err(of_column);
    }
    let mut found = table.values(&column.name, rows)?;
    if is_scaled {
        let scale = |value| types::to_milliseconds(&column.json, value);
        found.iter_mut().try_for_each(scale).map_err(of_column)?;
    }
    let found: Vec<&Value> = found.iter().collect();
    values::array_of(field.data_type(), &found).map_err(of_column)
}

/// Returns the texts of a dictionary.
fn dictionary_of(table: &Table<'_>, column: &str) -> Result<ArrayRef> {
    let texts = table.dictionary(column)?;
    let texts = texts.iter().map(|value| value.as_str());
    let texts: Option<Vec<&str>> = texts.collect();
    let texts =
        texts.ok_or_else(|| column_error(column, "a value of the dictionary is not text"))?;
    if !values::fits(texts.iter().map(|text| text.len())) {
        return Err(column_error(column, "the texts of the dictionary have more than 2 GiB"));
    }
    Ok(Arc::new(arrow_array::StringArray::from(texts)))
}

fn open_writer<'w>(
    schema: &SchemaRef,
    format: ArrowFormat,
    output: &'w mut (dyn Write + Send),
) -> Result<BatchWriter<'w>> {
    Ok(match format {
        ArrowFormat::Ipc => {
            let options = IpcWriteOptions::default()
                .try_with_compression(Some(CompressionType::ZSTD))
                .map_err(written)?;
            let writer = FileWriter::try_new_with_options(output, schema, options);
            BatchWriter::Ipc(Box::new(writer.map_err(written)?))
        }
        ArrowFormat::Parquet => {
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .build();
            let writer = ArrowWriter::try_new(output, Arc::clone(schema), Some(properties));
            BatchWriter::Parquet(Box::new(writer.map_err(parquet_written)?))
        }
        ArrowFormat::IpcStream => {
            return Err(unsupported("streams of Arrow IPC are not written"));
        }
    })
}
