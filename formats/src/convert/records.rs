//! Tables of stores from arrays of records, and back.
//!
//! | field of a record | column |
//! |---|---|
//! | booleans, integers, floats, complex numbers | `bool`, numbers |
//! | `S`, `U` | `bytes`, `string` |
//! | `datetime64` in s, ms, us or ns | `timestamp` |
//! | one with a shape | `ndarray` |
//!
//! The columns `utf8`, `vlstring` and `dictionary` become `U`, as long as their longest text.

use std::io::{self, Read, Write};

use super::error::{Error, Result};
use super::source::Source;
use crate::blpk::MAX_NBYTES;
use crate::numpy::{ArrayInfo, Dtype, Field, Kind, Literal, npy_header};
use crate::store::{self, Cells, Column, ColumnKind, ColumnSpec, StoreWriter, Table, Value};

/// The number of bytes of records that are converted at once, unless a record is larger.
const BATCH: u64 = 4 << 20;
/// The maximum number of rows that are converted at once.
const MAX_ROWS: u64 = 1 << 16;
/// The size of a character of `U` in bytes.
const CHARACTER: u64 = 4;
/// The maximum size of a field in all records in bytes, unless it is at most [`MAX_RATIO`] times
/// the size of the texts. A few long texts among many short ones would fill the disk with padding.
const MAX_PADDED: u64 = 16 << 30;
const MAX_RATIO: u64 = 16;
/// The number of rows of a table that are read at once.
const STEP: u64 = 1 << 12;

/// Whether an array can become a table: it has one dimension and its items are records.
pub fn is_records(info: &ArrayInfo) -> bool {
    info.dtype.kind() == Kind::Record && info.shape.len() == 1
}

/// Returns the name of a column that is not nested for the name of a field.
pub(super) fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('.', "\\.")
}

/// Returns the name of the field for a column.
pub(super) fn unescaped(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut chars = name.chars();
    while let Some(char) = chars.next() {
        plain.push(if char == '\\' { chars.next().unwrap_or(char) } else { char });
    }
    plain
}

/// Returns the description of the column for a field.
fn column_of(field: &Field) -> Result<ColumnSpec> {
    let dtype = &field.dtype;
    let name = escaped(&field.name);
    let unsupported = || Error::Field {
        name: field.name.clone(),
        why: if dtype.kind() == Kind::Record {
            format!(
                "its items are records, {}, which tables cannot store; b2nd and .npy hold them, and \
                 the column alone can be converted",
                dtype.text()
            )
        } else {
            format!("fields of the type {} are not supported in tables", dtype.text())
        },
    };
    let length = |unit: u64| u32::try_from(dtype.itemsize() / unit).map_err(|_| unsupported());
    let bits = 8 * dtype.itemsize();
    if !field.shape.is_empty() {
        if !dtype.kind().is_plain() {
            return Err(unsupported());
        }
        let text = match dtype.description() {
            Literal::Text(text) => text.replace('>', "<"),
            _ => return Err(unsupported()),
        };
        return Ok(ColumnSpec::array(&name, &field.shape, &text));
    }
    Ok(match (dtype.kind(), dtype.itemsize()) {
        (Kind::Bool, _) => ColumnSpec::boolean(&name),
        (Kind::Int, _) => ColumnSpec::number(&name, &format!("int{bits}")),
        (Kind::Uint, _) => ColumnSpec::number(&name, &format!("uint{bits}")),
        (Kind::Float, 4 | 8) => ColumnSpec::number(&name, &format!("float{bits}")),
        (Kind::Complex, 8 | 16) => ColumnSpec::number(&name, &format!("complex{bits}")),
        (Kind::Bytes, _) => ColumnSpec::bytes(&name, length(1)?.max(1)),
        (Kind::Unicode, _) => ColumnSpec::string(&name, length(4)?.max(1)),
        (Kind::Datetime, _) if matches!(dtype.unit(), "s" | "ms" | "us" | "ns") => {
            ColumnSpec::timestamp(&name, dtype.unit(), None)
        }
        _ => return Err(unsupported()),
    })
}

/// Reverses the bytes of the numbers in items of a big-endian dtype.
fn to_little_endian(dtype: &Dtype, bytes: &mut [u8]) {
    if !dtype.is_big_endian() {
        return;
    }
    let size = match dtype.kind() {
        Kind::Unicode => 4,
        Kind::Complex => dtype.itemsize() / 2,
        _ => dtype.itemsize(),
    };
    let size = usize::try_from(size).unwrap_or(1).max(1);
    bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
}

/// Adds a table with the records of a source, which has a column for each field. Returns the number
/// of rows. Calls `progress` with the number of bytes read so far.
///
/// # Errors
/// - [`Error::Field`] if the items are not records, or the type of a field is not supported;
/// - [`Error::Store`]; the errors of the source.
pub fn records_to_table(
    source: &mut dyn Source,
    writer: &mut StoreWriter,
    key: &str,
    progress: &mut dyn FnMut(u64),
) -> Result<u64> {
    texts_to_table(source, &[], (writer, key), progress)
}

/// Adds a table as [`records_to_table`] does. The fields of `S` and `U` for which `texts` is true
/// become `utf8` columns, whose texts are not padded. Missing entries are false.
///
/// # Errors
/// - [`Error::Field`] if the text of such a field is not UTF-8;
/// - the errors of [`records_to_table`].
pub fn texts_to_table(
    source: &mut dyn Source,
    texts: &[bool],
    (writer, key): (&mut StoreWriter, &str),
    progress: &mut dyn FnMut(u64),
) -> Result<u64> {
    let info = source.content().array.clone().filter(is_records);
    let info = info.ok_or_else(|| Error::Field {
        name: String::new(),
        why: "the data are not an array of records".to_owned(),
    })?;
    let fields = info.dtype.fields();
    let is_text = |number: usize| {
        let field = &fields[number];
        let has_texts = matches!(field.dtype.kind(), Kind::Bytes | Kind::Unicode);
        texts.get(number) == Some(&true) && has_texts && field.shape.is_empty()
    };
    let specs = fields.iter().enumerate().map(|(number, field)| {
        if is_text(number) { Ok(ColumnSpec::utf8(&escaped(&field.name))) } else { column_of(field) }
    });
    let specs = specs.collect::<Result<Vec<_>>>()?;
    let mut table = writer.create_table(key, &specs)?;
    let size = info.dtype.itemsize();
    let (rows, step) = (info.shape[0], (BATCH / size.max(1)).clamp(1, MAX_ROWS));
    let index = |number: u64| usize::try_from(number).map_err(|_| store::Error::Memory);
    let mut records = Vec::new();
    let mut start = 0;
    while start < rows {
        let count = step.min(rows - start);
        let len = index(count * size)?;
        records.try_reserve(len.saturating_sub(records.len())).map_err(store::Error::from)?;
        records.resize(len, 0);
        source.read(start * size, &mut records)?;
        let mut columns: Vec<Values> = Vec::new();
        for (number, field) in fields.iter().enumerate() {
            let (from, len) = (index(field.offset)?, index(field.nbytes().unwrap_or(0))?);
            // Records of 0 bytes have no items.
            let rows = records.chunks_exact(index(size)?.max(1));
            let items = rows.flat_map(|row| &row[from..from + len]);
            let mut items: Vec<u8> = items.copied().collect();
            to_little_endian(&field.dtype, &mut items);
            if field.dtype.itemsize() == 0 {
                // Texts without characters become those of one character.
                let width = if field.dtype.kind() == Kind::Unicode { 4 } else { 1 };
                items = vec![0; index(count)? * width];
            }
            columns.push(if is_text(number) {
                Values::Texts(texts_of(field, &items)?)
            } else {
                Values::Items(items)
            });
        }
        let batch: Vec<(&str, Cells<'_>)> = specs
            .iter()
            .zip(&columns)
            .map(|(spec, values)| match values {
                Values::Texts(values) => (spec.name(), Cells::Values(values)),
                Values::Items(bytes) => (spec.name(), Cells::Items { bytes, valid: None }),
            })
            .collect();
        table.append(&batch)?;
        progress(count * size);
        start += count;
    }
    table.finish()?;
    Ok(rows)
}

/// Returns the texts in items of a field of `S` or `U` in little-endian order.
fn texts_of(field: &Field, items: &[u8]) -> Result<Vec<Value>> {
    let is_unicode = field.dtype.kind() == Kind::Unicode;
    // Those without characters have one NUL.
    let size = field.dtype.itemsize().max(if is_unicode { CHARACTER } else { 1 });
    let size = usize::try_from(size).map_err(|_| store::Error::Memory)?;
    let text = |item: &[u8]| -> Option<String> {
        if is_unicode {
            let codes = item.as_chunks::<4>().0.iter().map(|code| u32::from_le_bytes(*code));
            let text: String = codes.map(char::from_u32).collect::<Option<_>>()?;
            return Some(text.trim_end_matches('\0').to_owned());
        }
        Some(std::str::from_utf8(item).ok()?.trim_end_matches('\0').to_owned())
    };
    let invalid = || Error::Field { name: field.name.clone(), why: "a text is invalid".to_owned() };
    let texts = items.chunks_exact(size).map(|item| text(item).ok_or_else(invalid));
    texts.map(|text| text.map(Value::Str)).collect()
}

/// Returns the names of the columns that become fields of records, and descriptions of the others.
fn fields_of<'t>(table: &'t Table<'_>) -> (Vec<&'t Column>, Vec<String>) {
    let (mut fields, mut lost) = (Vec::new(), Vec::new());
    for column in &table.schema().columns {
        match column.kind {
            ColumnKind::Number(_)
            | ColumnKind::Bool
            | ColumnKind::Timestamp { .. }
            | ColumnKind::String
            | ColumnKind::Bytes
            | ColumnKind::Array(_)
            | ColumnKind::Utf8
            | ColumnKind::VlString
            | ColumnKind::Dictionary { .. } => fields.push(column),
            _ => lost.push(format!("column {:?} of kind {}", column.name, column.kind.name())),
        }
    }
    let computed = table.schema().computed.iter();
    lost.extend(computed.map(|computed| format!("computed column {:?}", computed.name)));
    (fields, lost)
}

/// Calls `each` with ranges of rows. If it fails because the rows are too large together, which it
/// must find out before it uses any, calls it with fewer rows.
fn each_range(rows: u64, mut each: impl FnMut(std::ops::Range<u64>) -> Result<()>) -> Result<()> {
    let (mut start, mut step) = (0, STEP);
    while start < rows {
        let end = (start + step).min(rows);
        match each(start..end) {
            Ok(()) => start = end,
            Err(Error::Store(store::Error::Limit { .. })) if end - start > 1 => {
                step = (end - start) / 2;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The values of a field in several rows.
enum Values {
    Texts(Vec<Value>),
    Items(Vec<u8>),
}

/// Writes a text as UTF-32 with NULs up to `width` bytes. A buffer for all rows could need much
/// more memory than the texts.
fn write_text(output: &mut dyn Write, text: &str, width: usize) -> Result<()> {
    let chars = text.chars().flat_map(|char| u32::from(char).to_le_bytes());
    let bytes: Vec<u8> = chars.collect();
    let padding = width.checked_sub(bytes.len()).ok_or(Error::Layout)?;
    output.write_all(&bytes)?;
    io::copy(&mut io::repeat(0).take(padding as u64), output)?;
    Ok(())
}

/// The lengths of the texts of a column, in characters.
#[derive(Clone, Copy)]
struct TextLengths {
    longest: u64,
    total: u64,
}

impl TextLengths {
    /// Reads all texts of a column.
    fn of(table: &Table<'_>, column: &Column) -> Result<TextLengths> {
        let mut lengths = TextLengths { longest: 1, total: 0 };
        each_range(table.len(), |rows| {
            for value in table.values(&column.name, rows)? {
                let text = value.as_str().ok_or_else(|| nulls_error(column))?;
                let len = text.chars().count() as u64;
                lengths.longest = lengths.longest.max(len);
                lengths.total = lengths.total.saturating_add(len);
            }
            Ok(())
        })?;
        Ok(lengths)
    }

    /// Checks the size of a field with the longest text, and that of the field in all records.
    fn check(self, column: &Column, rows: u64) -> Result<()> {
        let failed = |why: String| {
            let why = format!("{why}; CSV, Arrow and Parquet have no padding");
            Err(Error::Field { name: column.name.clone(), why })
        };
        let longest = self.longest;
        let width = longest.saturating_mul(CHARACTER);
        if width > MAX_NBYTES.into() {
            return failed(format!("a text of {longest} characters is too long for records"));
        }
        let size = width.saturating_mul(rows);
        if size > MAX_PADDED && size / MAX_RATIO > self.total.saturating_mul(CHARACTER) {
            return failed(format!(
                "its longest text has {longest} characters: with padding, {rows} records need \
                 {size} bytes"
            ));
        }
        Ok(())
    }
}

fn nulls_error(column: &Column) -> Error {
    let why = "it has nulls, which records do not have; CSV has them".to_owned();
    Error::Field { name: column.name.clone(), why }
}

/// Writes the rows of a table as a `.npy` file with an array of records. Nulls of floats and
/// complex numbers become NaN, and those of times NaT. Returns descriptions of what is not kept:
/// columns of lists, maps and objects, and computed ones.
///
/// # Errors
/// - [`Error::Field`] if another column has nulls, no column can become a field, or the padding of
///   short texts to the longest one would need too much space;
/// - [`Error::Store`]; the errors of writing.
pub fn table_to_npy(table: &Table<'_>, output: &mut dyn Write) -> Result<Vec<String>> {
    let (columns, lost) = fields_of(table);
    if columns.is_empty() {
        let why = "the table has no column that can be a field of records".to_owned();
        return Err(Error::Field { name: String::new(), why });
    }
    let mut fields = Vec::new();
    for column in &columns {
        let text = |text: String| Literal::Text(text);
        let dtype = match &column.kind {
            ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. } => {
                let lengths = TextLengths::of(table, column)?;
                lengths.check(column, table.len())?;
                text(format!("<U{}", lengths.longest))
            }
            ColumnKind::Timestamp { unit, .. } => text(format!("<M8[{unit}]")),
            _ => table.items(&column.name, 0..0)?.dtype.description(),
        };
        let mut parts = vec![Literal::Text(unescaped(&column.name)), dtype];
        if let ColumnKind::Array(extents) = &column.kind {
            parts.push(Literal::Tuple(extents.iter().map(|&len| Literal::Int(len)).collect()));
        }
        fields.push(Literal::Tuple(parts));
    }
    let dtype = Dtype::of(&Literal::List(fields))?;
    let widths: Vec<usize> = dtype
        .fields()
        .iter()
        .map(|field| usize::try_from(field.nbytes().unwrap_or(0)).unwrap_or(0))
        .collect();
    let info = ArrayInfo { dtype, shape: vec![table.len()], fortran_order: false };
    output.write_all(&npy_header(&info)?)?;
    each_range(table.len(), |rows| {
        let count = usize::try_from(rows.end - rows.start).map_err(|_| store::Error::Memory)?;
        let values = columns.iter().map(|column| {
            Ok(match &column.kind {
                ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. } => {
                    Values::Texts(table.values(&column.name, rows.clone())?)
                }
                _ => Values::Items(fixed_items(table, column, rows.clone())?),
            })
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        for row in 0..count {
            for ((column, values), &width) in columns.iter().zip(&values).zip(&widths) {
                match values {
                    Values::Texts(texts) => {
                        let text = texts[row].as_str().ok_or_else(|| nulls_error(column))?;
                        write_text(output, text, width)?;
                    }
                    Values::Items(bytes) => output.write_all(&bytes[row * width..][..width])?,
                }
            }
        }
        Ok(())
    })?;
    output.flush()?;
    table.check_unchanged()?;
    Ok(lost)
}

/// Returns the items of a column; nulls are NaN or NaT.
fn fixed_items(table: &Table<'_>, column: &Column, rows: std::ops::Range<u64>) -> Result<Vec<u8>> {
    let mut items = table.items(&column.name, rows)?;
    let Some(valid) = items.valid.filter(|valid| valid.contains(&false)) else {
        return Ok(items.bytes);
    };
    let filler = match (&column.kind, items.dtype.kind(), items.dtype.itemsize()) {
        (ColumnKind::Timestamp { .. }, ..) => i64::MIN.to_le_bytes().to_vec(),
        (ColumnKind::Number(_), Kind::Float | Kind::Complex, 4) => f32::NAN.to_le_bytes().to_vec(),
        (ColumnKind::Number(_), Kind::Float, 8) => f64::NAN.to_le_bytes().to_vec(),
        (ColumnKind::Number(_), Kind::Complex, 8) => [f32::NAN.to_le_bytes(); 2].concat(),
        (ColumnKind::Number(_), Kind::Complex, 16) => [f64::NAN.to_le_bytes(); 2].concat(),
        _ => return Err(nulls_error(column)),
    };
    for (item, _) in
        items.bytes.chunks_exact_mut(filler.len()).zip(valid).filter(|(_, is_valid)| !is_valid)
    {
        item.copy_from_slice(&filler);
    }
    Ok(items.bytes)
}

/// Writes the rows of a table as CSV: a line with the names of the columns, and a line for each
/// row. The names have no escapes, unless two would be equal without them. Nulls are empty. Times
/// are ticks, byte strings keep all their bytes, and lists, maps and other objects are JSON. Returns
/// descriptions of the omitted data: computed columns.
///
/// # Errors
/// - [`Error::Store`], also if another program changed the files of the table meanwhile; the errors
///   of writing.
#[cfg(feature = "csv")]
pub fn table_to_csv(table: &Table<'_>, output: &mut dyn Write) -> Result<Vec<String>> {
    let failed = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::from(error),
        _ => Error::Layout,
    };
    let mut lines = csv::Writer::from_writer(output);
    let stored = || table.schema().columns.iter().map(|column| column.name.as_str());
    let names: Vec<String> = stored().map(unescaped).collect();
    let distinct: std::collections::HashSet<&String> = names.iter().collect();
    let header = if distinct.len() == names.len() {
        lines.write_record(&names)
    } else {
        lines.write_record(stored())
    };
    header.map_err(failed)?;
    each_range(table.len(), |rows| {
        for row in table.rows(rows)? {
            // Base64 for some of the values would look like texts.
            let fields = row.into_iter().map(|value| match value {
                Value::Bytes(bytes) => bytes,
                other => other.to_field().into_bytes(),
            });
            lines.write_record(fields).map_err(failed)?;
        }
        Ok(())
    })?;
    lines.flush()?;
    table.check_unchanged()?;
    let computed = table.schema().computed.iter();
    Ok(computed.map(|computed| format!("computed column {:?}", computed.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::{Reading, open};
    use crate::store::{Cells, ColumnSpec, Store};

    fn temporary() -> tempfile::TempDir {
        crate::testing::tempdir()
    }

    /// Writes records as `.npy`, converts them to a table, and back.
    fn round_trip(dtype: &str, rows: u64, items: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let folder = temporary();
        let info = ArrayInfo {
            dtype: Dtype::parse(dtype).unwrap(),
            shape: vec![rows],
            fortran_order: false,
        };
        let npy = [npy_header(&info).unwrap(), items.to_vec()].concat();
        let path = folder.path().join("in.npy");
        std::fs::write(&path, &npy).unwrap();
        let store = folder.path().join("t.b2z");
        let mut writer = Store::create(&store).unwrap();
        let mut source = open(&path, &Reading::default()).unwrap();
        let added = records_to_table(source.as_mut(), &mut writer, "/g/t", &mut |_| {}).unwrap();
        assert_eq!(added, rows);
        writer.commit().unwrap();
        let store = Store::open(&store).unwrap();
        let mut back = Vec::new();
        let lost = table_to_npy(&store.table("/g/t").unwrap(), &mut back).unwrap();
        assert_eq!(lost, [""; 0]);
        (npy, back)
    }

    /// The rows could be those of several states.
    #[test]
    fn tables_that_change_while_they_are_read_are_errors() {
        let folder = temporary();
        let path = |name: &str| folder.path().join(name);
        let make = |path: &std::path::Path, item: u8| {
            let mut writer = Store::create(path).unwrap();
            let mut table = writer.create_table("/", &[ColumnSpec::number("a", "uint8")]).unwrap();
            table.append(&[("a", Cells::Items { bytes: &[item], valid: None })]).unwrap();
            table.finish().unwrap();
            writer.commit().unwrap();
        };
        for name in ["t.b2d", "t.b2e", "t.b2z"] {
            make(&path(name), 1);
            make(&path("other").with_extension(&name[2..]), 2);
            let store = Store::open(path(name)).unwrap();
            let table = store.table("/").unwrap();
            let mut exported = Vec::new();
            table_to_npy(&table, &mut exported).unwrap();
            let (from, to) = (path("other").with_extension(&name[2..]), path(name));
            if to.is_dir() {
                let column = "_cols/a.b2nd";
                std::fs::rename(from.join(column), to.join(column)).unwrap();
            } else if cfg!(unix) {
                std::fs::rename(from, to).unwrap();
            } else {
                continue;
            }
            let again = table_to_npy(&table, &mut Vec::new());
            if name == "t.b2z" {
                again.unwrap();
                continue;
            }
            let is_changed = matches!(again, Err(Error::Store(store::Error::Changed(_))));
            assert!(is_changed, "{name}: {again:?}");
            #[cfg(feature = "csv")]
            assert!(table_to_csv(&table, &mut Vec::new()).is_err(), "{name}");
        }
    }

    #[cfg(feature = "csv")]
    #[test]
    fn byte_strings_in_csv_keep_their_bytes() {
        let folder = temporary();
        let path = folder.path().join("t.b2z");
        let mut writer = Store::create(&path).unwrap();
        let columns = [ColumnSpec::bytes("a", 4), ColumnSpec::vlbytes("b").nullable()];
        let mut table = writer.create_table("/", &columns).unwrap();
        let values = |texts: [&[u8]; 3]| texts.map(|text| Value::Bytes(text.to_vec()));
        let (mut one, mut other) = (values([b"\xe9", b"6Q==", b""]), values([b"\0,\xff\n"; 3]));
        other[1] = Value::Nil;
        one[2] = Value::Bytes(b"\"".to_vec());
        table.append(&[("a", Cells::Values(&one)), ("b", Cells::Values(&other))]).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
        let mut text = Vec::new();
        table_to_csv(&Store::open(&path).unwrap().table("/").unwrap(), &mut text).unwrap();
        let lines = [&b"a,b\n\xe9,\"\0,\xff\n\"\n"[..], b"6Q==,\n", b"\"\"\"\",\"\0,\xff\n\"\n"];
        assert_eq!(text, lines.concat());
    }

    #[cfg(feature = "csv")]
    #[test]
    fn names_in_csv_have_no_escapes_unless_they_would_be_equal() {
        let folder = temporary();
        for (names, header) in [
            (["a\\.b", "c/d"], "a.b,c/d\n1,1\n"),
            (["e\\\\f", "\\.\\."], "e\\f,..\n1,1\n"),
            (["a\\.b", "a.b"], "a\\.b,a.b\n1,1\n"),
        ] {
            let path = folder.path().join("t.b2z");
            let mut writer = Store::create(&path).unwrap();
            let columns = names.map(|name| ColumnSpec::number(name, "int8"));
            let mut table = writer.create_table("/", &columns).unwrap();
            let cells = Cells::Items { bytes: &[1], valid: None };
            table.append(&names.map(|name| (name, cells))).unwrap();
            table.finish().unwrap();
            writer.commit().unwrap();
            let mut text = Vec::new();
            let store = Store::open(&path).unwrap();
            table_to_csv(&store.table("/").unwrap(), &mut text).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), header);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn fields_become_texts_on_request() {
        let folder = temporary();
        let dtype = "[('a', '|S2'), ('b', '>U1'), ('c', '|S2'), ('d', '<U0'), ('e', '|u1')]";
        let info =
            ArrayInfo { dtype: Dtype::parse(dtype).unwrap(), shape: vec![2], fortran_order: false };
        let row = |a: &[u8; 2], b: u32, c: &[u8; 2]| [&a[..], &b.to_be_bytes(), c, &[7]].concat();
        let (path, store) = (folder.path().join("in.npy"), folder.path().join("t.b2z"));
        let made = |rows: [Vec<u8>; 2]| {
            std::fs::write(&path, [npy_header(&info).unwrap(), rows.concat()].concat()).unwrap();
            let mut source = open(&path, &Reading::default()).unwrap();
            let mut writer = Store::create(&store).unwrap();
            let texts = [true, true, false, true, true];
            texts_to_table(source.as_mut(), &texts, (&mut writer, "/"), &mut |_| {})?;
            Ok(writer.commit()?)
        };
        made([row(b"x\0", 0xe9, b"\xff\0"), row("é".as_bytes().try_into().unwrap(), 0, b"z\0")])
            .unwrap();
        let opened = Store::open(&store).unwrap();
        let table = opened.table("/").unwrap();
        let kinds = table.schema().columns.iter().map(|column| column.kind.name());
        assert!(kinds.eq(["utf8", "utf8", "bytes", "utf8", "uint8"]));
        let text = |text: &str| Value::Str(text.to_owned());
        assert_eq!(table.values("a", 0..2).unwrap(), [text("x"), text("é")]);
        assert_eq!(table.values("b", 0..2).unwrap(), [text("é"), text("")]);
        assert_eq!(table.values("d", 0..2).unwrap(), [text(""), text("")]);
        drop(opened);
        std::fs::remove_file(&store).unwrap();
        for (a, b) in [(b"\xff\0", 1), (b"xy", 0xd800)] {
            let refused: Result<()> = made([row(b"xy", 1, b"zz"), row(a, b, b"zz")]);
            assert!(matches!(refused, Err(Error::Field { .. })), "{refused:?}");
        }
    }

    #[test]
    fn records_without_bytes_become_empty_texts() {
        let (_, back) = round_trip("[('a', '|S0'), ('b', '<U0')]", 3, &[]);
        let info = ArrayInfo {
            dtype: Dtype::parse("[('a', '|S1'), ('b', '<U1')]").unwrap(),
            shape: vec![3],
            fortran_order: false,
        };
        assert_eq!(back, [npy_header(&info).unwrap(), vec![0; 15]].concat());
    }

    #[test]
    fn records_are_the_same_after_a_table() {
        let dtype = "[('a', '<i4'), ('b', '<f8'), ('s', '<U2'), ('y', '|S3'), ('t', '<M8[ms]'), \
                     ('v', '<i2', (2, 2)), ('ok', '|b1'), ('z.w', '<c8')]";
        let size = usize::try_from(Dtype::parse(dtype).unwrap().itemsize()).unwrap();
        let mut items = Vec::new();
        for row in 0..5000u32 {
            let mut record = Vec::new();
            record.extend(row.to_le_bytes());
            record.extend((f64::from(row) / 2.0).to_le_bytes());
            record.extend([u32::from('é').to_le_bytes(), u32::from('b').to_le_bytes()].concat());
            record.extend(b"x\0\0");
            record.extend(i64::from(row).to_le_bytes());
            record.extend([1, 0, 2, 0, 3, 0, 4, 0, (row % 2) as u8]);
            record.extend([1.5f32.to_le_bytes(), (-1f32).to_le_bytes()].concat());
            assert_eq!(record.len(), size);
            items.extend(record);
        }
        let (before, after) = round_trip(dtype, 5000, &items);
        assert!(before == after);
        let (before, after) =
            round_trip("[('a', '>i4'), ('b', '>U1')]", 1, &[0, 0, 0, 1, 0, 0, 0, 97]);
        assert_eq!(before.len(), after.len());
        assert!(after.ends_with(&[1, 0, 0, 0, 97, 0, 0, 0]));
        round_trip("[('a', '<i4')]", 0, &[]);
    }

    #[test]
    fn fields_without_a_kind_of_columns_are_refused() {
        let folder = temporary();
        for dtype in ["[('a', '<M8[D]')]", "[('a', '|V3')]", "[('a', [('b', '<i4')])]", "<i4"] {
            let info = ArrayInfo {
                dtype: Dtype::parse(dtype).unwrap(),
                shape: vec![0],
                fortran_order: false,
            };
            let path = folder.path().join("in.npy");
            std::fs::write(&path, npy_header(&info).unwrap()).unwrap();
            let mut writer = Store::create(folder.path().join("t.b2z")).unwrap();
            let mut source = open(&path, &Reading::default()).unwrap();
            let refused = records_to_table(source.as_mut(), &mut writer, "/t", &mut |_| {});
            assert!(matches!(refused, Err(Error::Field { .. })), "{dtype}: {refused:?}");
        }
    }

    #[test]
    fn nulls_are_nan_or_empty_or_refused() {
        let folder = temporary();
        let path = folder.path().join("t.b2z");
        let mut writer = Store::create(&path).unwrap();
        let columns = [
            ColumnSpec::number("f", "float32").nullable(),
            ColumnSpec::timestamp("t", "us", None).nullable(),
            ColumnSpec::dictionary("d", false),
            ColumnSpec::list("l", ColumnSpec::number("", "int8")),
        ];
        let mut table = writer.create_table("/a", &columns).unwrap();
        let word = || Value::Str("a \"b\"".to_owned());
        let list = || Value::List(vec![Value::Int(1), Value::Int(2)]);
        table
            .append_rows(&[
                vec![Value::Nil, Value::Int(5), word(), list()],
                vec![Value::Float(0.5), Value::Nil, Value::Str("c".to_owned()), list()],
            ])
            .unwrap();
        table.finish().unwrap();
        let mut table =
            writer.create_table("/b", &[ColumnSpec::number("i", "int8").nullable()]).unwrap();
        table.append_rows(&[vec![Value::Nil], vec![Value::Int(-3)]]).unwrap();
        table.finish().unwrap();
        writer.commit().unwrap();
        let store = Store::open(&path).unwrap();
        let mut npy = Vec::new();
        let lost = table_to_npy(&store.table("/a").unwrap(), &mut npy).unwrap();
        assert_eq!(lost, ["column \"l\" of kind list"]);
        let record = 4 + 8 + 20;
        let first = &npy[npy.len() - 2 * record..];
        assert!(f32::from_le_bytes(first[..4].try_into().unwrap()).is_nan());
        assert_eq!(first[record + 4..record + 12], i64::MIN.to_le_bytes());
        let refused = table_to_npy(&store.table("/b").unwrap(), &mut Vec::new());
        assert!(matches!(refused, Err(Error::Field { .. })), "{refused:?}");
        #[cfg(feature = "csv")]
        {
            let mut text = Vec::new();
            table_to_csv(&store.table("/a").unwrap(), &mut text).unwrap();
            let wanted = "f,t,d,l\n,5,\"a \"\"b\"\"\",\"[1, 2]\"\n0.5,,c,\"[1, 2]\"\n";
            assert_eq!(String::from_utf8(text).unwrap(), wanted);
            let mut text = Vec::new();
            table_to_csv(&store.table("/b").unwrap(), &mut text).unwrap();
            assert_eq!(text, b"i\n\"\"\n-3\n");
        }
    }

    /// Writes a table with texts of these lengths and their numbers.
    fn texts(lens: &[usize]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = temporary();
        let path = folder.path().join("t.b2z");
        let mut writer = Store::create(&path).unwrap();
        let columns = [ColumnSpec::utf8("s"), ColumnSpec::number("n", "int64")];
        let mut table = writer.create_table("/t", &columns).unwrap();
        for (number, &len) in lens.iter().enumerate() {
            let row = vec![Value::Str("a".repeat(len)), Value::Int(number as i64)];
            table.append_rows(&[row]).unwrap();
        }
        table.finish().unwrap();
        writer.commit().unwrap();
        (folder, path)
    }

    #[test]
    fn a_long_text_does_not_multiply_the_memory_of_short_ones() {
        let mut lens = [1; 900];
        lens[899] = 1 << 22;
        let (_folder, path) = texts(&lens);
        let store = Store::open(&path).unwrap();
        let mut space = vec![0; 1 << 20];
        let written = table_to_npy(&store.table("/t").unwrap(), &mut &mut space[..]);
        assert!(matches!(written, Err(Error::Bloscpack(_))), "{written:?}");
        let records = space.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        assert_eq!(space[records..records + 5], [b'a', 0, 0, 0, 0]);
    }

    #[test]
    fn a_long_text_does_not_fill_the_disk_with_padding() {
        let mut lens = [1; 3000];
        lens[7] = 1 << 22;
        let (_folder, path) = texts(&lens);
        let store = Store::open(&path).unwrap();
        let table = store.table("/t").unwrap();
        let refused = table_to_npy(&table, &mut &mut [][..]).unwrap_err().to_string();
        assert!(refused.contains("longest text has 4194304 characters"), "{refused}");
        let column = table.schema().columns[0].clone();
        let check = |longest, total, rows| TextLengths { longest, total }.check(&column, rows);
        assert!(check(1 << 22, 1 << 32, 1 << 14).is_ok());
        assert!(check(1 << 22, 1 << 30, 1 << 14).is_err());
        assert!(check(1 << 29, 1 << 29, 1).is_err());
        assert!(check((1 << 29) - 5, 1 << 29, 1).is_ok());
    }

    #[test]
    fn rows_that_are_too_large_together_are_written() {
        let lens: Vec<usize> = (0..500).map(|row| if row < 200 { 1 } else { 2000 }).collect();
        let (_folder, path) = texts(&lens);
        let options = store::Options { max_message: 100_000, ..store::Options::default() };
        let store = Store::open_with(&path, &options).unwrap();
        let table = store.table("/t").unwrap();
        assert!(matches!(table.values("s", 0..500), Err(store::Error::Limit { .. })));
        let mut npy = Vec::new();
        table_to_npy(&table, &mut npy).unwrap();
        let record = 4 * 2000 + 8;
        let records = &npy[npy.len() - 500 * record..];
        for (row, (record, &len)) in records.chunks_exact(record).zip(&lens).enumerate() {
            let chars = record.chunks_exact(4).take_while(|&char| char == [b'a', 0, 0, 0]);
            assert_eq!(chars.count(), len);
            assert_eq!(record[record.len() - 8..], (row as u64).to_le_bytes());
        }
        #[cfg(feature = "arrow")]
        {
            use crate::convert::{ArrowFormat, arrow_to_table, table_to_arrow};
            let arrow = path.with_file_name("t.arrow");
            let mut file = std::fs::File::create(&arrow).unwrap();
            table_to_arrow(&table, ArrowFormat::Ipc, &mut file).unwrap();
            let mut writer = Store::create(path.with_file_name("u.b2z")).unwrap();
            let read = arrow_to_table(&arrow, ArrowFormat::Ipc, &mut writer, "/t", &mut |_| {});
            assert_eq!(read.unwrap().rows, 500);
        }
        #[cfg(feature = "csv")]
        {
            let mut text = Vec::new();
            table_to_csv(&table, &mut text).unwrap();
            let lines =
                lens.iter().enumerate().map(|(row, &len)| format!("{},{row}\n", "a".repeat(len)));
            assert_eq!(
                String::from_utf8(text).unwrap(),
                format!("s,n\n{}", lines.collect::<String>())
            );
        }
    }
}
