//! Leaves of columns to which rows are added: new ones, or copies of stored ones in memory.

use std::collections::HashMap;

use ferroblosc::b2nd::{Array, Layout};
use ferroblosc::chunk::DParams;
use ferroblosc::schunk::{SChunk, Storage};

use super::cells::of_json;
use super::fixed::Fixed;
use super::schema::{Column, ColumnKind, Nulls};
use super::staged::{Form, Staged};
use super::texts::Utf8;
use super::view::View;
use crate::numpy::Dtype;
use crate::store::class::{LISTS, SCALARS};
use crate::store::content::Content;
use crate::store::error::{Error, Result};
use crate::store::leaf::Leaves;
use crate::store::new_leaf::{COLUMN_SUFFIX, NewLeaf};
use crate::store::objects::Objects;
use crate::store::objects_writer::{BATCH_ROWS, ObjectsWriter};
use crate::store::value::Value;
use crate::store::writer::cparams;

/// The number of rows in a chunk of new columns, unless the rows are large.
const CHUNK_ROWS: u64 = 1 << 16;
/// The maximum size of a chunk of new columns, unless a row is larger, in bytes.
const CHUNK_SIZE: u64 = 16 << 20;
/// The number of blocks in a chunk of new columns.
const BLOCKS: u64 = 8;
/// The number of bytes in a chunk and in a block of the bytes of texts.
const TEXT_CHUNK: i32 = 512 << 10;
const TEXT_BLOCK: i32 = 64 << 10;
/// The size of the rows that are collected before they are compressed, in bytes.
const MAX_PENDING: usize = 16 << 20;
/// The number of texts in a batch of a dictionary.
const DICTIONARY_BATCH: usize = 1 << 20;
/// The dtype of masks.
const MASK: &str = "|b1";
/// The dtype of the codes of a dictionary.
const CODES: &str = "<i4";

/// The numbers of rows in the chunks and blocks of new columns.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    chunk: u64,
    block: u64,
}

impl Grid {
    /// Returns a grid for rows of at most this size.
    pub fn new(row_size: u64) -> Grid {
        let chunk = CHUNK_ROWS.min(CHUNK_SIZE / row_size.max(1)).max(1);
        Grid { chunk, block: (chunk / BLOCKS).max(1) }
    }
}

/// An array whose first dimension is the rows.
pub struct ArraySink {
    key: String,
    array: Box<Array>,
    rows: u64,
    row_size: usize,
    /// The number of rows in a chunk.
    chunk: u64,
    pending: Vec<u8>,
}

fn at(row: u64) -> Result<i64> {
    i64::try_from(row).map_err(|_| Error::Memory)
}

impl ArraySink {
    /// Creates an array without rows.
    pub fn create(key: &str, form: &Form, (chunk, block): (i32, i32)) -> Result<ArraySink> {
        let failed = |error| Error::frame(key)(error);
        let mut extents: Vec<i64> = vec![0];
        let (mut chunks, mut blocks) = (vec![chunk], vec![block]);
        for &extent in &form.shape {
            extents.push(at(extent)?);
            let extent = i32::try_from(extent).map_err(|_| Error::Memory)?;
            chunks.push(extent);
            blocks.push(extent);
        }
        let typesize = i32::try_from(form.dtype.itemsize()).map_err(|_| Error::Memory)?;
        let layout = Layout { shape: &extents, chunkshape: &chunks, blockshape: &blocks };
        let params = cparams().typesize(typesize);
        let array = Array::zeros(Storage::frame(), params, &layout, form.dtype.text());
        ArraySink::of(key, array.map_err(failed)?)
    }

    fn of(key: &str, array: Array) -> Result<ArraySink> {
        let fixed = Fixed::of(key, array)?;
        if fixed.row_size == 0 {
            return Err(Error::refused(key, "its rows have no bytes"));
        }
        let chunk = fixed.array.geometry().chunkshape()[0];
        if chunk < 1 {
            return Err(Error::refused(key, "its chunks are empty"));
        }
        Ok(ArraySink {
            key: key.to_owned(),
            rows: fixed.rows,
            row_size: usize::try_from(fixed.row_size).map_err(|_| Error::Memory)?,
            chunk: u64::from(chunk.unsigned_abs()),
            array: fixed.array,
            pending: Vec::new(),
        })
    }

    /// Returns a copy of a stored array, cut to `keep` rows.
    pub fn open(view: &View<'_>, key: &str, keep: Option<u64>) -> Result<ArraySink> {
        let schunk = SChunk::from_bytes(&view.frame(key)?, DParams::default());
        let array = Array::from_schunk(schunk.map_err(Error::frame(key))?);
        let mut sink = ArraySink::of(key, array.map_err(Error::frame(key))?)?;
        if let Some(keep) = keep {
            sink.cut(keep)?;
        }
        Ok(sink)
    }

    /// Removes the rows from `keep` on.
    fn cut(&mut self, keep: u64) -> Result<()> {
        if keep > self.rows {
            let why = format!("there are {} values for {keep} rows", self.rows);
            return Err(Error::damaged(&self.key, why));
        }
        let mut shape = self.array.shape();
        shape[0] = at(keep)?;
        self.array.resize(&shape, None).map_err(Error::frame(&self.key))?;
        self.rows = keep;
        Ok(())
    }

    pub fn form(&self) -> Result<Form> {
        let text = self.array.dtype().unwrap_or_default();
        let dtype = Dtype::parse(text)
            .map_err(|_| Error::damaged(&self.key, format!("the dtype {text:?} is invalid")))?;
        let shape = self.array.shape();
        Form::new(dtype, shape[1..].iter().map(|extent| extent.unsigned_abs()).collect())
    }

    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.pending.try_reserve(bytes.len())?;
        self.pending.extend_from_slice(bytes);
        self.rows += (bytes.len() / self.row_size.max(1)) as u64;
        let chunk = usize::try_from(self.chunk).unwrap_or(usize::MAX);
        let enough = chunk.saturating_mul(self.row_size).min(MAX_PENDING.max(self.row_size));
        if self.pending.len() >= enough { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.pending);
        self.array.append(&bytes, 0).map_err(Error::frame(&self.key))
    }

    /// Overwrites rows, which must exist, and are ascending. Rows that are near to each other are
    /// written together.
    pub fn overwrite(&mut self, rows: &[u64], bytes: &[u8]) -> Result<()> {
        self.flush()?;
        let size = self.row_size.max(1);
        let most = (MAX_PENDING / size).max(1) as u64;
        let mut rest = rows.iter().copied().zip(bytes.chunks_exact(size)).peekable();
        while let Some((first, item)) = rest.next() {
            let mut near = vec![(first, item)];
            while let Some(next) = rest.next_if(|&(row, _)| row - first < most) {
                near.push(next);
            }
            let end = near[near.len() - 1].0 + 1;
            let mut stop = self.array.shape();
            let mut start = vec![0; stop.len()];
            (start[0], stop[0]) = (at(first)?, at(end)?);
            let failed = |error| Error::frame(&self.key)(error);
            let mut span = self.array.get_slice(&start, &stop).map_err(failed)?;
            for (row, item) in near {
                let place = usize::try_from(row - first).map_err(|_| Error::Memory)? * size;
                span[place..place + size].copy_from_slice(item);
            }
            self.array.set_slice(&start, &stop, &span).map_err(Error::frame(&self.key))?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<(String, NewLeaf)> {
        self.flush()?;
        let compacted = self.array.schunk_mut().compact();
        compacted.map_err(Error::frame(&self.key))?;
        let leaf = NewLeaf::array(&self.array)?;
        Ok((self.key, leaf))
    }
}

enum Sink {
    Fixed(ArraySink),
    /// The offsets of the texts, their bytes, and the number of bytes.
    Utf8 {
        offsets: ArraySink,
        bytes: ArraySink,
        end: u64,
    },
    Objects(Box<ObjectsWriter>),
    Dictionary {
        codes: ArraySink,
        texts: Texts,
        /// The stored texts, if there are any.
        stored: Option<Box<Objects>>,
        null_code: i32,
    },
}

/// The texts of a dictionary.
struct Texts {
    /// The code of each text.
    numbers: HashMap<String, i32>,
    /// The number of stored texts.
    stored: usize,
    /// The texts that are added.
    added: Vec<Value>,
}

impl Texts {
    /// Returns the codes of values in bytes; new texts are added.
    fn codes(&mut self, values: &[Value], null_code: i32) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(values.len() * 4);
        for value in values {
            let code = match value {
                Value::Str(text) => self.code(text)?,
                _ => null_code,
            };
            bytes.extend_from_slice(&code.to_le_bytes());
        }
        Ok(bytes)
    }

    fn code(&mut self, text: &str) -> Result<i32> {
        if let Some(&code) = self.numbers.get(text) {
            return Ok(code);
        }
        let limit = i32::MAX.unsigned_abs().into();
        let code = i32::try_from(self.stored + self.added.len())
            .map_err(|_| Error::Limit { what: "the number of texts".to_owned(), limit })?;
        self.numbers.insert(text.to_owned(), code);
        self.added.push(Value::Str(text.to_owned()));
        Ok(code)
    }
}

/// The leaves of a column.
pub struct ColumnSink {
    pub column: Column,
    key: String,
    sink: Sink,
    /// The number of rows.
    rows: u64,
    mask: Option<ArraySink>,
    grid: Grid,
    form: Option<Form>,
}

/// Returns the form of items of a number dtype.
fn scalar(dtype: &str) -> Result<Form> {
    let dtype = Dtype::parse(dtype).map_err(|_| Error::Memory)?;
    Form::new(dtype, Vec::new())
}

fn partitions(grid: Grid) -> Result<(i32, i32)> {
    let extent = |rows: u64| i32::try_from(rows).map_err(|_| Error::Memory);
    Ok((extent(grid.chunk)?, extent(grid.block)?))
}

fn batch_rows(column: &Column) -> usize {
    let rows = match column.json.get("batch_rows") {
        Some(crate::bloscpack::Value::Int(digits)) => digits.parse().ok(),
        _ => None,
    };
    rows.filter(|&rows| rows > 0).unwrap_or(BATCH_ROWS)
}

/// Creates the mask of live rows, without rows.
pub fn new_mask(key: &str, grid: Grid) -> Result<ArraySink> {
    ArraySink::create(key, &scalar(MASK)?, partitions(grid)?)
}

/// Returns the number of bytes of a stored form of a row that is not of variable length.
pub fn row_size(column: &Column) -> Result<u64> {
    Ok(Form::of(column)?.map_or(8, |form| form.row_size as u64))
}

/// Returns the descriptions of a column of batches: further fixed metalayers.
fn layers(column: &Column) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let text = |text: &str| Value::Str(text.to_owned());
    let rows = Value::Int(i64::try_from(batch_rows(column)).unwrap_or(i64::MAX));
    let (name, entries) = match &column.kind {
        ColumnKind::List => (
            LISTS,
            vec![
                (text("version"), Value::Int(1)),
                (text("kind"), text("list")),
                (text("item"), column.json.get("item").map_or(Value::Nil, of_json)),
                (text("nullable"), Value::Bool(column.nullable)),
                (text("serializer"), text("msgpack")),
                (text("batch_rows"), rows),
                (text("backend"), text("batch")),
            ],
        ),
        kind => {
            let is_dictionary = matches!(kind, ColumnKind::Dictionary { .. });
            let python = match kind {
                ColumnKind::VlBytes => "bytes",
                ColumnKind::Struct => "struct",
                ColumnKind::Object => "object",
                _ => "str",
            };
            let entries = vec![
                (text("version"), Value::Int(1)),
                (text("py_type"), text(python)),
                (text("nullable"), Value::Bool(column.nullable && !is_dictionary)),
                (text("batch_rows"), rows),
            ];
            (SCALARS, entries)
        }
    };
    Ok(vec![(name.into(), Value::Map(entries).encode()?)])
}

impl ColumnSink {
    /// Begins the leaves of a new column.
    pub fn create(column: &Column, key: &str, grid: Grid) -> Result<ColumnSink> {
        let form = Form::of(column)?;
        let sink = match (&column.kind, &form) {
            (_, Some(form)) => Sink::Fixed(ArraySink::create(key, form, partitions(grid)?)?),
            (ColumnKind::Utf8, _) => {
                let mut offsets = ArraySink::create(key, &scalar("<i8")?, partitions(grid)?)?;
                offsets.push(&0i64.to_le_bytes())?;
                let parts = (TEXT_CHUNK, TEXT_BLOCK);
                let bytes = ArraySink::create(&format!("{key}.utf8"), &scalar("|u1")?, parts)?;
                Sink::Utf8 { offsets, bytes, end: 0 }
            }
            (ColumnKind::Dictionary { null_code }, _) => Sink::Dictionary {
                codes: ArraySink::create(key, &scalar(CODES)?, partitions(grid)?)?,
                texts: Texts { numbers: HashMap::new(), stored: 0, added: Vec::new() },
                stored: None,
                null_code: code(column, *null_code)?,
            },
            (ColumnKind::Unknown(kind), _) => {
                let why = format!("columns of kind {kind:?} are not written");
                return Err(Error::Column { name: column.name.clone(), why });
            }
            _ => {
                let writer = ObjectsWriter::column(layers(column)?, batch_rows(column))?;
                Sink::Objects(Box::new(writer))
            }
        };
        let (column, key) = (column.clone(), key.to_owned());
        Ok(ColumnSink { column, key, sink, rows: 0, mask: None, grid, form })
    }

    /// Copies the leaves of a stored column, cut to `keep` rows.
    pub fn open(
        view: &View<'_>,
        column: &Column,
        key: &str,
        keep: u64,
        grid: Grid,
    ) -> Result<ColumnSink> {
        if let Some(why) = &column.fault {
            return Err(Error::Column { name: column.name.clone(), why: why.clone() });
        }
        let is_fixed = Form::of(column)?.is_some();
        let missing = |rows: u64| {
            let why = format!("there are {rows} values for {keep} rows");
            Error::damaged(key, why)
        };
        let mut form = None;
        let sink = match &column.kind {
            _ if is_fixed => {
                let sink = ArraySink::open(view, key, Some(keep))?;
                form = Some(sink.form()?);
                Sink::Fixed(sink)
            }
            ColumnKind::Utf8 => {
                let mut offsets = ArraySink::open(view, key, None)?;
                let mut bytes = ArraySink::open(view, &format!("{key}.utf8"), None)?;
                Utf8::open(view, &column.name, key)?;
                if offsets.rows <= keep {
                    return Err(missing(offsets.rows.saturating_sub(1)));
                }
                let end = offsets.array.get_slice(&[at(keep)?], &[at(keep + 1)?]);
                let end = end.map_err(Error::frame(key))?.try_into().map(i64::from_le_bytes);
                let end = end.ok().and_then(|end| u64::try_from(end).ok());
                let end = end.filter(|&end| end <= bytes.rows).ok_or_else(|| {
                    Error::damaged(key, "the last offset is beyond the bytes of the column")
                })?;
                offsets.cut(keep + 1)?;
                bytes.cut(end)?;
                Sink::Utf8 { offsets, bytes, end }
            }
            ColumnKind::Dictionary { null_code } => {
                let codes = ArraySink::open(view, key, Some(keep))?;
                if codes.form()?.dtype.text() != CODES {
                    return Err(Error::refused(key, "the codes are not of type <i4"));
                }
                let stored = objects(view, &format!("{key}_dict"))?;
                stored.check_total()?;
                let mut numbers = HashMap::new();
                let texts = stored.items(0..stored.len()?)?;
                let count = texts.len();
                for (code, text) in (0..).zip(texts) {
                    if let Value::Str(text) = text {
                        numbers.entry(text).or_insert(code);
                    }
                }
                Sink::Dictionary {
                    codes,
                    texts: Texts { numbers, stored: count, added: Vec::new() },
                    stored: Some(Box::new(stored)),
                    null_code: code(column, *null_code)?,
                }
            }
            ColumnKind::Unknown(kind) => {
                let why = format!("columns of kind {kind:?} are not written");
                return Err(Error::Column { name: column.name.clone(), why });
            }
            _ => {
                let objects = objects(view, key)?;
                let len = objects.len()?;
                if len < keep {
                    return Err(missing(len));
                }
                let writer = ObjectsWriter::continued(objects, keep, batch_rows(column))?;
                Sink::Objects(Box::new(writer))
            }
        };
        let mask_key = format!("{key}.notnull");
        let mask = match column.nulls {
            Nulls::Mask if view.has(&mask_key) => {
                let mask = ArraySink::open(view, &mask_key, None)?;
                if mask.array.dtype() != Some(MASK) || mask.array.shape().len() != 1 {
                    return Err(Error::refused(&mask_key, "the mask of nulls is not of type |b1"));
                }
                let mut mask = mask;
                // Values without an entry are not null.
                let rows = mask.rows;
                if rows < keep {
                    mask.push(&ones(keep - rows)?)?;
                    mask.flush()?;
                }
                mask.cut(keep)?;
                Some(mask)
            }
            _ => None,
        };
        let (column, key) = (column.clone(), key.to_owned());
        Ok(ColumnSink { column, key, sink, rows: keep, mask, grid, form })
    }

    /// Returns the form of the items; `None` for values of other sizes.
    pub fn form(&self) -> Option<&Form> {
        self.form.as_ref()
    }

    /// Adds checked rows.
    pub fn push(&mut self, staged: &Staged) -> Result<()> {
        let (rows, valid) = match (&mut self.sink, staged) {
            (Sink::Fixed(array), Staged::Fixed { bytes, valid }) => {
                array.push(bytes)?;
                ((bytes.len() / array.row_size.max(1)) as u64, valid)
            }
            (Sink::Utf8 { offsets, bytes, end }, Staged::Values { values, valid }) => {
                for value in values {
                    let text = value.as_str().unwrap_or_default();
                    bytes.push(text.as_bytes())?;
                    *end += text.len() as u64;
                    offsets.push(&at(*end)?.to_le_bytes())?;
                }
                (values.len() as u64, valid)
            }
            (Sink::Objects(objects), Staged::Values { values, valid }) => {
                values.iter().try_for_each(|value| objects.push(value))?;
                (values.len() as u64, valid)
            }
            (
                Sink::Dictionary { codes, texts, null_code, .. },
                Staged::Values { values, valid },
            ) => {
                codes.push(&texts.codes(values, *null_code)?)?;
                (values.len() as u64, valid)
            }
            _ => return Err(Error::Memory),
        };
        self.rows += rows;
        self.push_mask(rows, valid.as_deref())
    }

    fn push_mask(&mut self, rows: u64, valid: Option<&[bool]>) -> Result<()> {
        let Some(valid) = valid else {
            return Ok(());
        };
        if self.mask.is_none() {
            // The mask is created with the first null.
            if valid.iter().all(|&is_valid| is_valid) {
                return Ok(());
            }
            let mut mask = new_mask(&format!("{}.notnull", self.key), self.grid)?;
            mask.push(&ones(self.rows - rows)?)?;
            self.mask = Some(mask);
        }
        if let Some(mask) = &mut self.mask {
            let bytes: Vec<u8> = valid.iter().map(|&is_valid| is_valid.into()).collect();
            mask.push(&bytes)?;
        }
        Ok(())
    }

    /// Overwrites values of a fixed size, or codes of a dictionary. Rows are ascending.
    pub fn overwrite(&mut self, rows: &[u64], staged: &Staged) -> Result<()> {
        let codes;
        let (array, bytes, valid) = match (&mut self.sink, staged) {
            (Sink::Fixed(array), Staged::Fixed { bytes, valid }) => (array, bytes, valid),
            (
                Sink::Dictionary { codes: array, texts, null_code, .. },
                Staged::Values { values, valid },
            ) => {
                codes = texts.codes(values, *null_code)?;
                (array, &codes, valid)
            }
            _ => return Err(Error::Memory),
        };
        // The values of nulls have no meaning, and stay: a null is one change, of the mask.
        let is_kept = |at: usize| valid.as_ref().is_some_and(|valid| !valid[at]);
        let (mut changed, mut items) = (Vec::new(), Vec::new());
        for (at, (&row, item)) in rows.iter().zip(bytes.chunks_exact(array.row_size)).enumerate() {
            if !is_kept(at) {
                changed.push(row);
                items.extend_from_slice(item);
            }
        }
        array.overwrite(&changed, &items)?;
        let Some(valid) = valid else {
            return Ok(());
        };
        if self.mask.is_none() {
            if valid.iter().all(|&is_valid| is_valid) {
                return Ok(());
            }
            let mut mask = new_mask(&format!("{}.notnull", self.key), self.grid)?;
            mask.push(&ones(self.rows)?)?;
            self.mask = Some(mask);
        }
        if let Some(mask) = &mut self.mask {
            let bytes: Vec<u8> = valid.iter().map(|&is_valid| is_valid.into()).collect();
            mask.overwrite(rows, &bytes)?;
        }
        Ok(())
    }

    /// Returns the keys and leaves.
    pub fn finish(self) -> Result<Vec<(String, NewLeaf)>> {
        let mut leaves = Vec::new();
        match self.sink {
            Sink::Fixed(array) => leaves.push(array.finish()?),
            Sink::Utf8 { offsets, mut bytes, end } => {
                if end == 0 {
                    bytes.push(&[0])?;
                }
                leaves.push(bytes.finish()?);
                leaves.push(offsets.finish()?);
            }
            Sink::Objects(objects) => {
                let mut leaf = objects.finish()?;
                leaf.suffix = COLUMN_SUFFIX;
                leaves.push((self.key, leaf));
            }
            Sink::Dictionary { codes, stored, texts, .. } => {
                let key = format!("{}_dict", self.key);
                if stored.is_none() || !texts.added.is_empty() {
                    let mut writer = match stored {
                        Some(stored) => {
                            let len = stored.len()?;
                            ObjectsWriter::continued(*stored, len, DICTIONARY_BATCH)?
                        }
                        None => ObjectsWriter::column(layers(&self.column)?, DICTIONARY_BATCH)?,
                    };
                    writer.push_batch(&texts.added)?;
                    leaves.push((key, writer.finish()?));
                }
                leaves.push(codes.finish()?);
            }
        }
        if let Some(mask) = self.mask {
            leaves.push(mask.finish()?);
        }
        Ok(leaves)
    }
}

/// Returns bytes that are all 1.
pub fn ones(count: u64) -> Result<Vec<u8>> {
    let count = usize::try_from(count).map_err(|_| Error::Memory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count)?;
    bytes.resize(count, 1);
    Ok(bytes)
}

fn objects(view: &View<'_>, key: &str) -> Result<Objects> {
    Objects::open(Content::from(view.frame(key)?).open(key)?, view.options())
}

fn code(column: &Column, null_code: i64) -> Result<i32> {
    i32::try_from(null_code).map_err(|_| {
        let why = "the code of nulls has more than 32 bits".to_owned();
        Error::Column { name: column.name.clone(), why }
    })
}
