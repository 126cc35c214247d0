//! Tables (CTable): columns of equal length, and a mask of the rows that are not deleted.
//!
//! | leaf | content |
//! |---|---|
//! | `_meta` | the schema |
//! | `_valid_rows` | one byte for each stored row: not 0 if the row is live |
//! | `_cols/NAME` | the values of a column |
//! | `_cols/NAME.notnull` | the mask of the values that are not null |
//! | `_cols/NAME.utf8`, `_cols/NAME_dict` | the bytes of texts; the values of a dictionary |
//! | `_vlmeta` | the attributes |
//!
//! A *row* is a live row, counted from 0; a *stored row* counts deleted rows as well. Rows are read
//! block by block, so that memory is bounded by the rows that the caller requests.

mod cells;
mod column;
mod compare;
mod filter;
mod fixed;
mod query;
mod schema;
mod sink;
mod spec;
mod staged;
mod summary;
mod texts;
mod view;
mod writer;

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use ferroblosc::b2nd::Array;
use ferroblosc::chunk::{ChunkHeader, Special};
use ferroblosc::schunk::chunks;

pub use cells::Cells;
pub use column::Items;
use column::Reader;
pub use filter::{Comparison, Filter};
pub use query::{Matches, QueryOptions};
pub use schema::{Column, ColumnKind, Computed, Schema};
pub use spec::ColumnSpec;
use staged::Staged;
use summary::Summary;
pub use texts::Texts;
pub use writer::{TableChange, TableWriter};

use super::attrs::{self, Attrs};
use super::error::{Error, Result};
use super::file_states::FileStates;
use super::keys::{self, column_path};
use super::leaf::Leaves;
use super::limits::{Budget, MAX_MASK_CHUNKS, MAX_MASK_SIZE, MAX_ROWS};
use super::open::{Root, Store};
use super::report::Finding;
use super::value::Value;
use crate::threads;

/// The approximate number of stored rows in each step of counting live rows.
const WINDOW: u64 = 1 << 20;
/// The number of rows that are verified at once, unless they are too large.
const VERIFY_STEP: u64 = 1 << 16;
/// The number of rows whose stored rows are found at once.
const STEP: u64 = 1 << 16;
const META: &str = "_meta";
const VALID_ROWS: &str = "_valid_rows";

/// An open table.
pub struct Table<'s> {
    store: &'s dyn Leaves,
    key: String,
    schema: Schema,
    valid: Array,
    /// The number of stored rows.
    stored: u64,
    windows: Windows,
    /// The number of live rows before each window, and in total.
    live_before: Vec<u64>,
    readers: Vec<OnceLock<Reader>>,
    /// The extrema of columns: without and with those that the table stores.
    summaries: Vec<[OnceLock<Summary>; 2]>,
    findings: Vec<Finding>,
    /// The files of the table before it was opened.
    states: FileStates,
}

/// The division of the stored rows into windows: several whole chunks of the mask, or whole blocks
/// of one chunk, so that no block is decoded for two windows.
struct Windows {
    /// The number of stored rows.
    stored: u64,
    /// The number of rows in one chunk, or in several small ones.
    span: u64,
    /// The number of rows in each window, except the last one of a span.
    step: u64,
}

impl Windows {
    fn new(stored: u64, chunk: u64, block: u64) -> Windows {
        let multiple = |rows: u64| rows * (WINDOW / rows).max(1);
        if chunk <= WINDOW {
            return Windows { stored, span: multiple(chunk), step: multiple(chunk) };
        }
        Windows { stored, span: chunk, step: multiple(block) }
    }

    fn in_span(&self) -> u64 {
        self.span.div_ceil(self.step)
    }

    /// Returns the stored rows of a window; they are empty after the last one.
    fn rows(&self, window: u64) -> Range<u64> {
        let span = (window / self.in_span()).saturating_mul(self.span);
        let start = span.saturating_add(window % self.in_span() * self.step);
        let end = start.saturating_add(self.step).min(span.saturating_add(self.span));
        start.min(self.stored)..end.min(self.stored)
    }
}

impl std::fmt::Debug for Table<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Table");
        shown.field("key", &self.key).field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<'s> Table<'s> {
    pub(super) fn open(store: &'s dyn Leaves, key: &str) -> Result<Table<'s>> {
        let states = store.file_states(key);
        let schema = read_schema(store, key)?;
        Ok(Table { states, ..Table::with_schema(store, key, schema)? })
    }

    /// Opens a table whose schema is known.
    fn with_schema(store: &'s dyn Leaves, key: &str, schema: Schema) -> Result<Table<'s>> {
        let path = keys::join(key, VALID_ROWS);
        let valid = match store.leaf(&path) {
            Ok(leaf) => leaf.into_array()?,
            Err(Error::NoSuchKey(path)) => return Err(Error::MissingLeaf(path)),
            Err(error) => return Err(error),
        };
        let shape = valid.shape();
        let is_mask = matches!(valid.dtype(), Some("|b1" | "|u1" | "bool"));
        if shape.len() != 1 || valid.schunk().typesize() != 1 || !is_mask {
            return Err(Error::damaged(&path, "it is not a mask with one dimension"));
        }
        let stored = shape[0].max(0).unsigned_abs();
        if stored > MAX_ROWS {
            let what = format!("{key}: the table has {stored} stored rows");
            return Err(Error::Limit { what, limit: MAX_ROWS });
        }
        let chunk = u64::from(valid.geometry().chunkshape()[0].max(1).unsigned_abs());
        let block = u64::from(valid.geometry().blockshape()[0].max(1).unsigned_abs());
        if stored / chunk > MAX_MASK_CHUNKS {
            let what = format!("{path}: the mask has {} chunks", stored / chunk);
            return Err(Error::Limit { what, limit: MAX_MASK_CHUNKS });
        }
        let windows = Windows::new(stored, chunk, block.min(chunk));
        let mut table = Table {
            store,
            key: key.to_owned(),
            readers: schema.columns.iter().map(|_| OnceLock::new()).collect(),
            summaries: schema.columns.iter().map(|_| Default::default()).collect(),
            schema,
            valid,
            stored,
            windows,
            live_before: Vec::new(),
            findings: Vec::new(),
            states: FileStates::default(),
        };
        table.live_before = table.count_live(&path)?;
        let live = table.len();
        if let Some(recorded) = table.schema.nrows.filter(|&recorded| recorded != live) {
            let text = format!("the schema records {recorded} rows, but {live} rows are live");
            table.findings.push(Finding::note(key, text));
        }
        Ok(table)
    }

    /// Returns the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of live rows.
    pub fn len(&self) -> u64 {
        self.live_before.last().copied().unwrap_or(0)
    }

    /// Whether there are no live rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of stored rows, including deleted ones.
    pub fn stored_rows(&self) -> u64 {
        self.stored
    }

    /// Returns the differences from a valid table that were found while opening.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Checks that no file of the table was changed or replaced since it was opened. Otherwise the
    /// values that were read from a directory or an embed store can be those of several states. A
    /// zip file is read as it was when the store was opened.
    ///
    /// # Errors
    /// - [`Error::Changed`]
    pub fn check_unchanged(&self) -> Result<()> {
        self.states.check()
    }

    /// Returns the attributes.
    ///
    /// # Errors
    /// - the errors of [`Store::leaf`].
    pub fn attrs(&self) -> Result<Attrs> {
        match self.store.leaf(&keys::join(&self.key, keys::TABLE_ATTRS)) {
            Ok(leaf) => Ok(leaf.attrs()),
            Err(Error::NoSuchKey(_)) => Ok(Attrs::default()),
            Err(error) => Err(error),
        }
    }

    /// Returns the values of a column in a range of rows; nulls are [`Value::Nil`].
    ///
    /// # Errors
    /// - [`Error::NoSuchColumn`];
    /// - [`Error::Column`] if the column is computed, of an unknown kind or of another type than
    ///   its kind requires;
    /// - [`Error::OutOfRange`] if the rows do not all exist;
    /// - [`Error::MissingLeaf`] if the column or a part of it is missing;
    /// - [`Error::Row`] if a value is missing or damaged;
    /// - [`Error::Unsupported`] for lists in Arrow's form;
    /// - [`Error::Changed`] if rows were deleted since the table was opened;
    /// - [`Error::Limit`] if the rows are too large together; the errors of [`Store::leaf`].
    pub fn values(&self, column: &str, rows: Range<u64>) -> Result<Vec<Value>> {
        let number = self.column(column)?;
        let mut budget = self.budget();
        let stored = self.stored_numbers(rows, &mut budget)?;
        self.reader(number)?.values(&stored, &mut budget)
    }

    /// Returns the values of a column with values of a fixed size in a range of rows, as they are
    /// stored, and which of them are not null. Codes of dictionaries are numbers.
    ///
    /// # Errors
    /// - [`Error::Column`] for kinds with values of variable length;
    /// - the errors of [`Table::values`].
    pub fn items(&self, column: &str, rows: Range<u64>) -> Result<Items> {
        let number = self.column(column)?;
        let mut budget = self.budget();
        if self.is_stored_as(&rows)
            && let Some(items) = self.reader(number)?.items_in(rows.clone(), &mut budget)?
        {
            return Ok(items);
        }
        let stored = self.stored_numbers(rows, &mut budget)?;
        self.reader(number)?.items(&stored, &mut budget)
    }

    /// Returns the texts or byte strings of a column in a range of rows, in one buffer: those of
    /// `string`, `bytes`, `utf8`, `vlstring`, `vlbytes` and `dictionary` columns.
    ///
    /// # Errors
    /// - [`Error::Column`] for other kinds;
    /// - [`Error::Row`] if a text is damaged or not UTF-8;
    /// - the errors of [`Table::values`].
    pub fn texts(&self, column: &str, rows: Range<u64>) -> Result<Texts> {
        let number = self.column(column)?;
        let mut budget = self.budget();
        if self.is_stored_as(&rows)
            && let Some(texts) = self.reader(number)?.texts_in(rows.clone(), &mut budget)?
        {
            return Ok(texts);
        }
        let stored = self.stored_numbers(rows, &mut budget)?;
        self.reader(number)?.texts(&stored, &mut budget)
    }

    /// Whether the rows exist and have the numbers of stored rows, because none is deleted.
    fn is_stored_as(&self, rows: &Range<u64>) -> bool {
        self.len() == self.stored && rows.start <= rows.end && rows.end <= self.len()
    }

    /// Returns the values that the codes returned by [`Table::items`] represent.
    ///
    /// # Errors
    /// - [`Error::Column`] if the column is not a dictionary; the errors of [`Table::values`].
    #[cfg(feature = "arrow")]
    pub(crate) fn dictionary(&self, column: &str) -> Result<&[Value]> {
        let reader = self.reader(self.column(column)?)?;
        reader.dictionary().ok_or_else(|| {
            let why = "it is not a dictionary".to_owned();
            Error::Column { name: column.to_owned(), why }
        })
    }

    /// Returns rows: for each row the values of all stored columns, in the order of the schema.
    ///
    /// # Errors
    /// - [`Error::Damaged`] if columns have another length than the mask of live rows; such columns
    ///   can be read one by one with [`Table::values`];
    /// - the errors of [`Table::values`].
    pub fn rows(&self, rows: Range<u64>) -> Result<Vec<Vec<Value>>> {
        let mut budget = self.budget();
        let stored = self.stored_numbers(rows, &mut budget)?;
        let size = (size_of::<Vec<Value>>() as u64).checked_mul(stored.len() as u64);
        budget.charge(size, || format!("{}: the rows are too large", self.key))?;
        let mut result: Vec<Vec<Value>> = Vec::new();
        result.try_reserve_exact(stored.len())?;
        result.resize_with(stored.len(), Vec::new);
        for number in 0..self.schema.columns.len() {
            let reader = self.reader(number)?;
            if let Some(why) = reader.length_fault(self.stored) {
                return Err(Error::damaged(&self.key, why));
            }
            let values = reader.values(&stored, &mut budget)?;
            for (row, value) in result.iter_mut().zip(values) {
                row.push(value);
            }
        }
        Ok(result)
    }

    fn budget(&self) -> Budget {
        Budget::new(self.store.options().max_message)
    }

    fn column(&self, name: &str) -> Result<usize> {
        match self.schema.position(name) {
            Some(number) => Ok(number),
            None if self.schema.computed.iter().any(|computed| computed.name == name) => {
                let why = "the column is computed, has no stored values and is never evaluated";
                Err(Error::Column { name: name.to_owned(), why: why.to_owned() })
            }
            None => Err(Error::NoSuchColumn(name.to_owned())),
        }
    }

    /// Returns the open leaves of a column.
    fn reader(&self, number: usize) -> Result<&Reader> {
        if let Some(reader) = self.readers[number].get() {
            return Ok(reader);
        }
        let column = &self.schema.columns[number];
        let key = keys::join(&self.key, &format!("_cols/{}", column_path(&column.name)));
        let reader = Reader::open(self.store, column, &key)?;
        Ok(self.readers[number].get_or_init(|| reader))
    }

    /// Returns the number of live rows before each window, and in total. Several threads decode the
    /// mask, whose key is `path`.
    fn count_live(&self, path: &str) -> Result<Vec<u64>> {
        let mut budget = Budget::new(MAX_MASK_SIZE);
        let (mut counts, mut decoded) = (Vec::new(), Vec::new());
        for window in 0.. {
            let rows = self.windows.rows(window);
            if rows.is_empty() {
                break;
            }
            if !self.is_dead(&rows) {
                let what = || format!("{path}: the mask is too large");
                budget.charge(Some(rows.end - rows.start), what)?;
                decoded.try_reserve(1)?;
                decoded.push((counts.len(), rows));
            }
            counts.try_reserve(1)?;
            counts.push(0);
        }
        let windows = decoded.len() as u64;
        let (rest, found) = (Mutex::new(decoded.into_iter()), Mutex::new(counts));
        let live = |rows: Range<u64>, mask: &mut Vec<u8>| -> Result<u64> {
            let len = usize::try_from(rows.end - rows.start).map_err(|_| Error::Memory)?;
            if mask.len() < len {
                mask.try_reserve_exact(len - mask.len())?;
                mask.resize(len, 0);
            }
            self.mask_into(rows, &mut mask[..len])?;
            Ok(live_in(&mask[..len]))
        };
        threads::try_run("mask", windows, || {
            let mut mask = Vec::new();
            loop {
                let next = rest.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((window, rows)) = next else { return Ok(()) };
                let live = live(rows, &mut mask).map_err(|error| (window as u64, error))?;
                found.lock().unwrap_or_else(PoisonError::into_inner)[window] = live;
            }
        })?;
        let counts = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut before = Vec::new();
        before.try_reserve_exact(counts.len() + 1)?;
        before.push(0);
        before.extend(counts.into_iter().scan(0, |live, count| {
            *live += count;
            Some(*live)
        }));
        Ok(before)
    }

    /// Whether all chunks of the mask with these rows are recorded as zeros, without decoding them.
    fn is_dead(&self, rows: &Range<u64>) -> bool {
        let chunk_rows = self.valid.geometry().chunkshape()[0].max(1).unsigned_abs();
        let chunks = rows.start / u64::from(chunk_rows)..=(rows.end - 1) / u64::from(chunk_rows);
        chunks.into_iter().all(|nchunk| {
            let nchunk = i64::try_from(nchunk).unwrap_or(-1);
            let header = chunks::lazy_chunk(self.valid.schunk().state(), nchunk)
                .and_then(|chunk| ChunkHeader::parse(&chunk));
            header.is_ok_and(|header| header.special == Special::Zero)
        })
    }

    fn mask(&self, stored: Range<u64>) -> Result<Vec<u8>> {
        let at = |row: u64| i64::try_from(row).map_err(|_| Error::Memory);
        let mask = self.valid.get_slice(&[at(stored.start)?], &[at(stored.end)?]);
        mask.map_err(Error::frame(&keys::join(&self.key, VALID_ROWS)))
    }

    fn mask_into(&self, stored: Range<u64>, mask: &mut [u8]) -> Result<()> {
        let at = |row: u64| i64::try_from(row).map_err(|_| Error::Memory);
        let read = self.valid.get_slice_into(&[at(stored.start)?], &[at(stored.end)?], mask);
        read.map_err(Error::frame(&keys::join(&self.key, VALID_ROWS)))
    }

    /// Returns the numbers of the stored rows for a range of rows.
    fn stored_numbers(&self, rows: Range<u64>, budget: &mut Budget) -> Result<Vec<u64>> {
        if rows.start > rows.end || rows.end > self.len() {
            return Err(Error::OutOfRange { start: rows.start, end: rows.end, len: self.len() });
        }
        let size = (size_of::<u64>() as u64).checked_mul(rows.end - rows.start);
        budget.charge(size, || format!("{}: there are too many rows", self.key))?;
        let mut numbers = Vec::new();
        let count = usize::try_from(rows.end - rows.start).map_err(|_| Error::Memory)?;
        numbers.try_reserve_exact(count)?;
        let first = self.live_before.partition_point(|&before| before <= rows.start);
        let pairs = self.live_before.windows(2).enumerate().skip(first.saturating_sub(1));
        for (window, live) in pairs {
            if numbers.len() == count {
                break;
            }
            let Range { start, end } = self.windows.rows(window as u64);
            let (before, live) = (live[0], live[1] - live[0]);
            if live == end - start {
                // All rows of the window are live.
                let from = start + rows.start.saturating_sub(before);
                numbers.extend(from..end.min(start + (rows.end - before)));
                continue;
            }
            if live == 0 {
                continue;
            }
            let mask = self.mask(start..end)?;
            if live_in(&mask) != live {
                return Err(Error::Changed(self.store.path().to_owned()));
            }
            let live = mask.iter().zip(start..).filter(|&(&byte, _)| byte != 0);
            let skipped = usize::try_from(rows.start.saturating_sub(before)).unwrap_or(usize::MAX);
            let missing = count - numbers.len();
            numbers.extend(live.map(|(_, row)| row).skip(skipped).take(missing));
        }
        Ok(numbers)
    }

    /// Returns the extrema of a column of numbers; `None` for other columns.
    fn summary(&self, number: usize, uses_stored: bool) -> Result<Option<&Summary>> {
        let Some(numbers) = self.reader(number)?.numbers() else {
            return Ok(None);
        };
        let name = &self.schema.columns[number].name;
        Ok(Some(self.summaries[number][usize::from(uses_stored)].get_or_init(|| {
            if uses_stored {
                Summary::open(self.store, &self.key, name, numbers)
            } else {
                Summary::default()
            }
        })))
    }

    /// Returns the numbers of the stored rows for ascending rows.
    fn stored_of_rows(&self, rows: &[u64], budget: &mut Budget) -> Result<Vec<u64>> {
        if !rows.is_sorted_by(|one, other| one < other) {
            return Err(Error::Value("the rows are not ascending".to_owned()));
        }
        let size = (size_of::<u64>() as u64).checked_mul(rows.len() as u64);
        budget.charge(size, || format!("{}: there are too many rows", self.key))?;
        let mut numbers = Vec::new();
        numbers.try_reserve_exact(rows.len())?;
        let mut rest = rows;
        while let Some(&first) = rest.first() {
            let near = rest.partition_point(|&row| row - first < STEP);
            let (part, later) = rest.split_at(near);
            let stored = self.stored_of(first..part[near - 1] + 1)?;
            let at = |row: u64| usize::try_from(row - first).unwrap_or(usize::MAX);
            numbers.extend(part.iter().map(|&row| stored[at(row)]));
            rest = later;
        }
        Ok(numbers)
    }

    /// Returns the numbers of the stored rows for a range of rows.
    fn stored_of(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        self.stored_numbers(rows, &mut self.budget())
    }

    /// Returns the number of stored rows up to the last live one.
    fn end_of_live(&self) -> Result<u64> {
        match self.len().checked_sub(1) {
            Some(last) => Ok(self.stored_of(last..last + 1)?[0] + 1),
            None => Ok(0),
        }
    }

    /// Whether a column has more values of variable length than the table has stored rows.
    fn has_surplus(&self) -> Result<bool> {
        for number in 0..self.schema.columns.len() {
            if self.reader(number)?.surplus(self.stored).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the values of a column in stored rows, in the form in which they are written.
    fn staged(&self, number: usize, stored: &[u64]) -> Result<Staged> {
        self.reader(number)?.staged(stored, &mut self.budget())
    }

    /// Adds the findings about the columns: lengths, missing leaves and damaged values.
    pub(super) fn verify(&self, findings: &mut Vec<Finding>) {
        findings.extend(self.findings.iter().cloned());
        for (number, column) in self.schema.columns.iter().enumerate() {
            let place = format!("{} column {:?}", self.key, column.name);
            let reader = match self.reader(number) {
                Ok(reader) => reader,
                Err(error) => {
                    findings.push(Finding::of_error(&place, &error));
                    continue;
                }
            };
            if let Some(why) = reader.length_fault(self.stored) {
                findings.push(Finding::damage(&place, why));
            }
            if let Some(why) = reader.surplus(self.stored) {
                findings.push(Finding::note(&place, why));
            }
            findings
                .extend(reader.faults().iter().map(|text| Finding::damage(&place, text.as_str())));
            findings.extend(reader.notes().iter().map(|text| Finding::note(&place, text.as_str())));
            if column.is_stale {
                let text = "the values are stale: columns they were computed from changed";
                findings.push(Finding::note(&place, text));
            }
            let (mut start, mut step) = (0, VERIFY_STEP);
            while start < self.len() {
                let end = (start + step).min(self.len());
                match self.values(&column.name, start..end) {
                    Ok(_) => start = end,
                    // Fewer rows can be below the limit.
                    Err(Error::Limit { .. }) if end - start > 1 => step = (end - start) / 2,
                    Err(error) => {
                        findings.push(Finding::of_error(&place, &error));
                        break;
                    }
                }
            }
        }
    }
}

impl Store {
    /// Opens a table. The root of a store, or of an embed store, can be one.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`] or [`Error::WrongClass`] if there is no table;
    /// - [`Error::MissingLeaf`] if `_meta` or `_valid_rows` is missing;
    /// - [`Error::Schema`] if the schema is invalid;
    /// - the errors of [`Store::leaf`].
    pub fn table(&self, key: &str) -> Result<Table<'_>> {
        match self.roots.get(key) {
            Some(Root::Table) => Table::open(self, key),
            _ => {
                let found = self.class(key)?.name();
                Err(Error::WrongClass { key: key.to_owned(), found, wanted: "CTable" })
            }
        }
    }
}

/// Returns the number of live rows in a part of the mask.
fn live_in(mask: &[u8]) -> u64 {
    // The sums of groups of 255 rows fit in a byte, and vectors.
    let groups = mask.chunks(255);
    let counts = groups.map(|rows| rows.iter().map(|&row| u8::from(row != 0)).sum::<u8>());
    counts.map(u64::from).sum()
}

fn read_schema(store: &dyn Leaves, key: &str) -> Result<Schema> {
    let path = keys::join(key, META);
    let leaf = match store.leaf(&path) {
        Ok(leaf) => leaf,
        Err(Error::NoSuchKey(path)) => return Err(Error::MissingLeaf(path)),
        Err(error) => return Err(error),
    };
    let invalid = |why: &str| Error::Schema { key: key.to_owned(), why: why.to_owned() };
    let text = match attrs::value(&path, leaf.schunk(), "schema")? {
        Some(Value::Str(text)) => text.into_bytes(),
        Some(Value::Bytes(text)) => text,
        Some(_) => return Err(invalid("it is not a text")),
        None => return Err(invalid("it is missing")),
    };
    Schema::parse(&text).map_err(|why| invalid(&why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_rows_are_counted() {
        for len in [0, 1, 254, 255, 256, 1000] {
            assert_eq!(live_in(&vec![0xff; len]), len as u64);
            assert_eq!(live_in(&vec![0; len]), 0);
            let mixed: Vec<u8> = (0..len).map(|row| (row % 3) as u8).collect();
            assert_eq!(live_in(&mixed), (len - len.div_ceil(3)) as u64);
        }
    }

    #[test]
    fn windows_cover_all_rows_and_do_not_divide_blocks() {
        for (stored, chunk, block) in [
            (10, 4, 2),
            (5_000_000, 300_000, 1000),
            (5_000_000, 3_000_000, 1000),
            (5_000_000, 3_000_000, 2_000_000),
            (7_000_001, 7_000_000, 7_000_000),
            (0, 100, 10),
        ] {
            let windows = Windows::new(stored, chunk, block);
            let (mut end, mut window) = (0, 0);
            while !windows.rows(window).is_empty() {
                let rows = windows.rows(window);
                assert_eq!((rows.start, rows.start % chunk % block), (end, 0));
                assert!(rows.end - rows.start <= WINDOW.max(block));
                (end, window) = (rows.end, window + 1);
            }
            assert_eq!(end, stored);
            assert!(window <= stored / (WINDOW / 4) + 2, "{window}");
        }
    }
}
