//! Tables of stores from Arrow IPC and Parquet files, and back (feature `arrow`).
//!
//! `types.rs` maps types of Arrow to columns, `values.rs` converts values. Both directions convert
//! a batch of [`STEP`] rows at a time.

mod types;
mod values;

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::error::{Error, Result};
use super::records::unescaped;
use crate::store::{Cells, ColumnKind, StoreWriter, Table, Value};

/// The number of rows that are converted at once.
const STEP: u64 = 1 << 12;
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
    /// Detects the format of a file by its content. A stream of Arrow IPC has no signature: its
    /// first message is found.
    pub fn detect(path: &Path) -> Option<ArrowFormat> {
        if !path.is_file() {
            return None;
        }
        let mut start = [0; 8];
        let mut file = File::open(path).ok()?;
        let len = file.read(&mut start).ok()?;
        match start.get(..len)? {
            [b'P', b'A', b'R', b'1' | b'E', ..] => Some(ArrowFormat::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(ArrowFormat::Ipc),
            [0xff, 0xff, 0xff, 0xff, ..] => {
                let stream = StreamReader::try_new(BufReader::new(File::open(path).ok()?), None);
                stream.ok().map(|_| ArrowFormat::IpcStream)
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
    /// Descriptions of what is not kept: metadata of the file and of its fields.
    pub lost: Vec<String>,
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Arrow(error.to_string())
}

/// Returns the error of a column.
fn column_error(name: &str, why: impl Into<String>) -> Error {
    Error::Field { name: name.to_owned(), why: why.into() }
}

/// Runs code of the Arrow crates, which panics for some damaged files.
fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(Error::Arrow("the file is damaged".to_owned())))
}

/// Adds a table with the rows of a file, which has a column for each field.
///
/// # Errors
/// - [`Error::Field`] if a field has no kind of columns, or a value cannot be stored;
/// - [`Error::Arrow`] if the file is damaged or not supported; [`Error::Store`].
pub fn arrow_to_table(
    path: &Path,
    format: ArrowFormat,
    writer: &mut StoreWriter,
    key: &str,
) -> Result<ArrowImport> {
    guarded(|| {
        let file = File::open(path)?;
        match format {
            ArrowFormat::Parquet => {
                let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(failed)?;
                let step = usize::try_from(STEP).unwrap_or(usize::MAX);
                let reader = builder.with_batch_size(step).build().map_err(failed)?;
                import(reader, writer, key)
            }
            ArrowFormat::Ipc => {
                let reader = FileReader::try_new(BufReader::new(file), None).map_err(failed)?;
                import(reader, writer, key)
            }
            ArrowFormat::IpcStream => {
                let reader = StreamReader::try_new(BufReader::new(file), None).map_err(failed)?;
                import(reader, writer, key)
            }
        }
    })
}

fn import(
    reader: impl RecordBatchReader,
    writer: &mut StoreWriter,
    key: &str,
) -> Result<ArrowImport> {
    let schema = reader.schema();
    if schema.fields().is_empty() {
        return Err(column_error("", "the file has no columns"));
    }
    let mut specs = Vec::new();
    for field in schema.fields() {
        let spec = types::spec_of(field);
        specs.push(spec.map_err(|why| column_error(field.name(), why))?);
    }
    let mut result = ArrowImport { rows: 0, lost: lost_metadata(&schema) };
    let mut table = writer.create_table(key, &specs)?;
    for batch in reader {
        let batch = batch.map_err(failed)?;
        // Batches of IPC files have any size.
        let step = usize::try_from(STEP).unwrap_or(usize::MAX);
        let mut start = 0;
        while start < batch.num_rows() {
            let part = batch.slice(start, step.min(batch.num_rows() - start));
            let mut columns = Vec::new();
            let mut left = values::MAX_SIZE;
            for (array, field) in part.columns().iter().zip(schema.fields()) {
                let values = values::values_of(array, &mut left);
                columns.push(values.map_err(|why| column_error(field.name(), why))?);
            }
            let cells = specs.iter().zip(&columns);
            let cells: Vec<(&str, Cells<'_>)> =
                cells.map(|(spec, values)| (spec.name(), Cells::Values(values))).collect();
            table.append(&cells)?;
            start += part.num_rows();
            result.rows += part.num_rows() as u64;
        }
    }
    table.finish()?;
    Ok(result)
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
                writer.write(batch).map_err(failed)?;
                if writer.in_progress_size() >= ROW_GROUP {
                    writer.flush().map_err(failed)?;
                }
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            BatchWriter::Ipc(mut writer) => writer.finish().map_err(written),
            BatchWriter::Parquet(writer) => writer.close().map(drop).map_err(failed),
        }
    }
}

/// Converts an error of writing an IPC file.
fn written(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        error => failed(error),
    }
}

/// Writes the rows of a table, compressed with Zstd. Returns descriptions of what is not kept:
/// computed columns and attributes of the table.
///
/// # Errors
/// - [`Error::Field`] if a column has no type of Arrow, or a value is not of the type of its column;
/// - [`Error::Arrow`] for the stream format, and if writing fails; [`Error::Store`].
pub fn table_to_arrow(
    table: &Table<'_>,
    format: ArrowFormat,
    output: &mut (dyn Write + Send),
) -> Result<Vec<String>> {
    let columns = &table.schema().columns;
    if columns.is_empty() {
        return Err(column_error("", "the table has no columns with values"));
    }
    // Parquet has no times in seconds.
    let has_seconds = format != ArrowFormat::Parquet;
    let mut fields = Vec::new();
    for column in columns {
        let field = types::field_of(column, unescaped(&column.name), has_seconds);
        let field = field.map_err(|why| column_error(&column.name, why))?;
        if fields.iter().any(|other: &arrow_schema::Field| other.name() == field.name()) {
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
    let mut start = 0;
    while start < table.len() {
        let rows = start..(start + STEP).min(table.len());
        let mut arrays = Vec::new();
        for ((column, field), dictionary) in columns.iter().zip(schema.fields()).zip(&dictionaries)
        {
            let array = match dictionary {
                Some(texts) => {
                    let items = table.items(&column.name, rows.clone())?;
                    values::dictionary_array(&items, texts)
                }
                None => {
                    let mut found = table.values(&column.name, rows.clone())?;
                    if !has_seconds && types::contains_seconds(&column.json) {
                        let scale = |value| types::to_milliseconds(&column.json, value);
                        let scaled = found.iter_mut().try_for_each(scale);
                        scaled.map_err(|why| column_error(&column.name, why))?;
                    }
                    values::array_of(field.data_type(), &found.iter().collect::<Vec<&Value>>())
                }
            };
            arrays.push(array.map_err(|why| column_error(&column.name, why))?);
        }
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(failed)?;
        writer.write(&batch)?;
        start = rows.end;
    }
    writer.finish()?;
    let mut lost: Vec<String> = table
        .schema()
        .computed
        .iter()
        .map(|computed| format!("computed column {:?}", computed.name))
        .collect();
    let attrs = table.attrs()?;
    lost.extend(attrs.entries.iter().map(|(name, _)| format!("attribute {name:?}")));
    lost.extend(attrs.damaged.iter().map(|(name, _)| format!("attribute {name:?}")));
    Ok(lost)
}

/// Returns the texts of a dictionary.
fn dictionary_of(table: &Table<'_>, column: &str) -> Result<ArrayRef> {
    let texts = table.dictionary(column)?;
    let texts = texts.iter().map(|value| value.as_str());
    let texts: Option<Vec<&str>> = texts.collect();
    let texts =
        texts.ok_or_else(|| column_error(column, "a value of the dictionary is no text"))?;
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
                .map_err(failed)?;
            let writer = FileWriter::try_new_with_options(output, schema, options);
            BatchWriter::Ipc(Box::new(writer.map_err(written)?))
        }
        ArrowFormat::Parquet => {
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .build();
            let writer = ArrowWriter::try_new(output, Arc::clone(schema), Some(properties));
            BatchWriter::Parquet(Box::new(writer.map_err(failed)?))
        }
        ArrowFormat::IpcStream => {
            return Err(failed("streams of Arrow IPC are not written"));
        }
    })
}
