//! Creation and change of tables.
//!
//! The changes of a table are collected as new leaves, and become part of the writer of the store
//! with [`TableWriter::finish`]. Columns that change are in memory in their compressed form.

mod columns;
mod meta;

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::cells::{Cells, default_of, stage};
use super::schema::{Column, ColumnKind, Schema};
use super::sink::{self, ArraySink, ColumnSink, Grid, new_mask, ones};
use super::spec::ColumnSpec;
use super::staged::Staged;
use super::view::{Changes, View};
use super::{Table, VALID_ROWS};
use crate::bloscpack::Value as Json;
use crate::store::error::{Error, Result};
use crate::store::keys::{self, column_path};
use crate::store::new_leaf::NewLeaf;
use crate::store::open::{ContainerKind, Root, Store, StoreKind};
use crate::store::value::Value;
use crate::store::writer::StoreWriter;

/// The number of rows that are copied at once.
const STEP: u64 = 1 << 14;

/// The result of the change of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableChange {
    /// The number of rows after the change.
    pub rows: u64,
    /// The columns whose indexes were dropped, because values or row numbers changed.
    pub dropped_indexes: Vec<String>,
    /// The generated columns that are now stale: columns they are computed from changed.
    pub stale_columns: Vec<String>,
}

/// A table that is created or changed. The changes become part of the writer of the store with
/// [`TableWriter::finish`]; dropping the writer of the table discards them.
///
/// ```
/// use ferroblosc_formats::store::{Cells, ColumnSpec, Store, Value};
///
/// # let path = std::env::temp_dir().join(format!("table-doc-{}.b2z", std::process::id()));
/// let mut store = Store::create(&path)?;
/// let columns = [ColumnSpec::number("id", "int64"), ColumnSpec::utf8("name").nullable()];
/// let mut table = store.create_table("/people", &columns)?;
/// let names = [Value::Str("Ada".to_owned()), Value::Nil];
/// table.append(&[
///     ("id", Cells::Items { bytes: &[1i64.to_le_bytes(), 2i64.to_le_bytes()].concat(), valid: None }),
///     ("name", Cells::Values(&names)),
/// ])?;
/// table.append_rows(&[vec![Value::Int(3), Value::Str("Carl".to_owned())]])?;
/// table.delete(&[1])?;
/// assert_eq!(table.finish()?.rows, 2);
/// store.commit()?;
/// let store = Store::open(&path)?;
/// assert_eq!(store.table("/people")?.values("id", 0..2)?, [Value::Int(1), Value::Int(3)]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), ferroblosc_formats::store::Error>(())
/// ```
pub struct TableWriter<'w> {
    writer: &'w mut StoreWriter,
    key: String,
    /// The whole schema.
    json: Json,
    schema: Schema,
    changed: Changes,
    appender: Option<Appender>,
    grid: Grid,
    rows: u64,
    is_new: bool,
    are_values_changed: bool,
    is_visibility_changed: bool,
    /// Whether an addition failed halfway.
    is_broken: bool,
    dropped_indexes: BTreeSet<String>,
}

/// The leaves to which rows are added.
struct Appender {
    valid: ArraySink,
    columns: Vec<ColumnSink>,
}

impl std::fmt::Debug for TableWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("TableWriter");
        shown.field("key", &self.key).field("rows", &self.rows).finish_non_exhaustive()
    }
}

fn entry_mut<'j>(json: &'j mut Json, key: &str) -> Option<&'j mut Json> {
    match json {
        Json::Object(entries) => {
            entries.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
        }
        _ => None,
    }
}

fn set_entry(json: &mut Json, key: &str, value: Json) {
    if let Some(old) = entry_mut(json, key) {
        *old = value;
    } else if let Json::Object(entries) = json {
        entries.push((key.to_owned(), value));
    }
}

fn remove_entry(json: &mut Json, key: &str) {
    if let Json::Object(entries) = json {
        entries.retain(|(name, _)| name != key);
    }
}

/// Returns the names of the columns that a computed or generated column needs.
fn dependencies(json: &Json) -> Vec<&str> {
    let source = json.get("transformer").and_then(|transformer| transformer.get("source"));
    let mut names: Vec<&str> = match json.get("col_deps") {
        Some(Json::List(items)) => items.iter().filter_map(text).collect(),
        _ => Vec::new(),
    };
    names.extend([source, json.get("computed_column")].into_iter().flatten().filter_map(text));
    names
}

fn text(json: &Json) -> Option<&str> {
    match json {
        Json::Text(text) => Some(text),
        _ => None,
    }
}

fn items<'j>(json: &'j Json, key: &str) -> &'j [Json] {
    match json.get(key) {
        Some(Json::List(items)) => items,
        _ => &[],
    }
}

impl StoreWriter {
    /// Begins a new table. Its key can be the root of an empty tree or embed store.
    ///
    /// # Errors
    /// - [`Error::KeyExists`]; [`Error::InvalidName`] for the key, or the name of a column: an
    ///   empty name, one that starts with `_`, or one that differs from another only by case;
    /// - [`Error::Column`] if the description of a column is invalid;
    /// - [`Error::Refused`] if the store is not a tree, or the key is a group or is below a leaf or
    ///   an object.
    pub fn create_table(&mut self, key: &str, columns: &[ColumnSpec]) -> Result<TableWriter<'_>> {
        if self.contains(key) || self.roots.contains_key(key) {
            return Err(Error::KeyExists(key.to_owned()));
        }
        if key == "/" {
            if self.kind() == StoreKind::Dict {
                return Err(Error::refused(key, "a dict store is not a table"));
            }
            if self.leaf_keys().next().is_some() {
                return Err(Error::refused(key, "only the root of an empty store becomes a table"));
            }
        } else {
            if self.kind() != StoreKind::Tree {
                return Err(Error::refused(key, "only trees contain tables"));
            }
            self.check_new_key(key)?;
        }
        let mut descriptions = Vec::new();
        let mut widest = 1;
        for column in columns {
            let column = column.column()?;
            widest = widest.max(sink::row_size(&column)?);
            descriptions.push(column.json);
        }
        let json = Json::object([
            ("version", Json::from(1u64)),
            ("columns", Json::List(descriptions)),
            ("create_summary_index", Json::Bool(true)),
            ("summary_indexes_built", Json::Bool(false)),
        ]);
        let schema = parse(key, &json)?;
        check_names(key, &schema)?;
        let grid = Grid::new(widest);
        let mut changed = Changes::new();
        let mut leaves = Vec::new();
        for column in &schema.columns {
            leaves.extend(ColumnSink::create(column, &key_of(key, column), grid)?.finish()?);
        }
        leaves.push(new_mask(&keys::join(key, VALID_ROWS), grid)?.finish()?);
        changed.extend(leaves.into_iter().map(|(key, leaf)| (key, Some(leaf))));
        for key in changed.keys() {
            if let Some(why) = keys::fault_of_new_key(key) {
                return Err(Error::InvalidName { name: key.clone(), why: why.to_owned() });
            }
        }
        Ok(TableWriter {
            writer: self,
            key: key.to_owned(),
            json,
            schema,
            changed,
            appender: None,
            grid,
            rows: 0,
            is_new: true,
            are_values_changed: false,
            is_visibility_changed: false,
            is_broken: false,
            dropped_indexes: BTreeSet::new(),
        })
    }

    /// Begins a change of a table, of the store or of this writer.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`] or [`Error::WrongClass`] if there is no table;
    /// - [`Error::Refused`] if columns are stored outside of the table;
    /// - the errors of [`Store::table`].
    pub fn table(&mut self, key: &str) -> Result<TableWriter<'_>> {
        if self.roots.get(key) != Some(&Root::Table) {
            let found = if self.roots.contains_key(key) || self.contains(key) {
                "another object"
            } else if key == "/" || self.has_below(key) {
                "group"
            } else {
                return Err(Error::NoSuchKey(key.to_owned()));
            };
            return Err(Error::WrongClass { key: key.to_owned(), found, wanted: "CTable" });
        }
        let changed = Changes::new();
        let view = View { writer: self, changed: &changed };
        let table = Table::open(&view, key)?;
        let schema = table.schema().clone();
        let rows = table.len();
        let json = schema.json.clone();
        if !items(&json, "source_columns").is_empty() {
            return Err(Error::refused(key, "the table has columns that are stored elsewhere"));
        }
        let mut widest = 1;
        for column in &schema.columns {
            // Columns that cannot be read do not prevent other changes.
            widest = widest.max(sink::row_size(column).unwrap_or(1));
        }
        let grid = Grid::new(widest);
        Ok(TableWriter {
            key: key.to_owned(),
            json,
            schema,
            changed,
            appender: None,
            grid,
            rows,
            is_new: false,
            are_values_changed: false,
            is_visibility_changed: false,
            is_broken: false,
            dropped_indexes: BTreeSet::new(),
            writer: self,
        })
    }
}

fn parse(key: &str, json: &Json) -> Result<Schema> {
    let parsed = Schema::parse(json.to_spaced_json().as_bytes());
    parsed.map_err(|why| Error::Schema { key: key.to_owned(), why })
}

/// Returns the key of the values of a column.
fn key_of(table: &str, column: &Column) -> String {
    keys::join(table, &format!("_cols/{}", column_path(&column.name)))
}

/// Returns the keys of all leaves that a column can have.
fn leaf_keys(table: &str, column: &Column) -> Vec<String> {
    let key = key_of(table, column);
    let mut keys = vec![key.clone(), format!("{key}.notnull")];
    match column.kind {
        ColumnKind::Utf8 => keys.push(format!("{key}.utf8")),
        ColumnKind::Dictionary { .. } => keys.push(format!("{key}_dict")),
        _ => {}
    }
    keys
}

/// Checks that the leaves of the columns do not collide, also on file systems that ignore case.
fn check_names(table: &str, schema: &Schema) -> Result<()> {
    let mut used: HashSet<String> = HashSet::new();
    for column in &schema.columns {
        for key in leaf_keys(table, column) {
            if !used.insert(key.to_lowercase()) {
                let why = "another column has this name, or a leaf of this name".to_owned();
                return Err(Error::InvalidName { name: column.name.clone(), why });
            }
        }
    }
    for column in &schema.columns {
        let key = key_of(table, column).to_lowercase();
        let mut group = keys::parent(&key);
        while let Some(above) = group {
            if used.contains(above) {
                let why = "a part of the nested name is another column".to_owned();
                return Err(Error::InvalidName { name: column.name.clone(), why });
            }
            group = keys::parent(above);
        }
    }
    Ok(())
}

impl TableWriter<'_> {
    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    fn view(&self) -> View<'_> {
        View { writer: self.writer, changed: &self.changed }
    }

    fn check(&self) -> Result<()> {
        if self.is_broken {
            return Err(Error::refused(&*self.key, "an earlier change of the table failed"));
        }
        Ok(())
    }

    /// Whether a step of the commit replaces one leaf of the table after the other.
    fn is_stepwise(&self) -> bool {
        let valid = keys::join(&self.key, VALID_ROWS);
        let is_stored = |store: &Store| store.leaf_keys().any(|key| key == valid);
        self.writer.container() == ContainerKind::Directory
            && self.writer.old.as_ref().is_some_and(is_stored)
    }

    fn position(&self, name: &str) -> Result<usize> {
        self.schema.position(name).ok_or_else(|| Error::NoSuchColumn(name.to_owned()))
    }

    fn put(&mut self, leaves: Vec<(String, NewLeaf)>) {
        self.changed.extend(leaves.into_iter().map(|(key, leaf)| (key, Some(leaf))));
    }

    /// Appends rows: the values of each column by name, of equal lengths. Columns that are not
    /// given get the default of the schema, or nulls. Generated columns that are not given become
    /// stale.
    ///
    /// # Errors
    /// No row is appended after the first four:
    /// - [`Error::NoSuchColumn`]; [`Error::Column`] if the column is not written, such as one of an
    ///   unknown kind, is named twice, or is missing without default and nulls;
    /// - [`Error::Value`] for lengths that differ, and for values that are not of the kind of the
    ///   column, out of its limits, or equal to its null value;
    /// - [`Error::Damaged`] if a column has fewer values than the table has rows;
    /// - [`Error::Unsupported`] for lists in Arrow's form;
    /// - [`Error::Limit`]; [`Error::Frame`]; [`Error::Memory`].
    pub fn append(&mut self, batch: &[(&str, Cells<'_>)]) -> Result<()> {
        self.check()?;
        let mut given: Vec<Option<Cells<'_>>> = vec![None; self.schema.columns.len()];
        for &(name, cells) in batch {
            if given[self.position(name)?].replace(cells).is_some() {
                let why = "its values are given twice".to_owned();
                return Err(Error::Column { name: name.to_owned(), why });
            }
        }
        self.check_lengths()?;
        self.begin_append()?;
        let Some(appender) = &self.appender else {
            return Err(Error::Memory);
        };
        let mut staged: Vec<Option<Staged>> = Vec::new();
        let mut rows = None;
        for (sink, cells) in appender.columns.iter().zip(&given) {
            staged.push(match cells {
                Some(cells) => {
                    let checked = stage(&sink.column, sink.form(), *cells)?;
                    let count = checked.len(sink.form());
                    if *rows.get_or_insert(count) != count {
                        let name = &sink.column.name;
                        let why = format!("column {name:?} has {count} new rows, others not");
                        return Err(Error::Value(why));
                    }
                    Some(checked)
                }
                None => None,
            });
        }
        let rows = rows.unwrap_or(0);
        let generated: Vec<String> = items(&self.json, "materialized_columns")
            .iter()
            .filter_map(|item| text(item.get("name")?).map(str::to_owned))
            .collect();
        let mut stale = Vec::new();
        let mut complete = Vec::new();
        for (sink, staged) in appender.columns.iter().zip(staged) {
            let column = &sink.column;
            complete.push(match staged {
                Some(staged) => staged,
                None => {
                    let is_generated = generated.contains(&column.name);
                    let default = default_of(column).or(column.nullable.then_some(Value::Nil));
                    let Some(default) = default else {
                        let why = "its values are missing, and it has no default and no nulls";
                        let name = column.name.clone();
                        return Err(Error::Column { name, why: why.to_owned() });
                    };
                    if is_generated {
                        stale.push(column.name.clone());
                    }
                    let values = vec![default; rows];
                    stage(column, sink.form(), Cells::Values(&values))?
                }
            });
        }
        if rows == 0 {
            return Ok(());
        }
        self.is_broken = true;
        let Some(appender) = &mut self.appender else {
            return Err(Error::Memory);
        };
        for (sink, staged) in appender.columns.iter_mut().zip(&complete) {
            sink.push(staged)?;
        }
        appender.valid.push(&ones(rows as u64)?)?;
        self.is_broken = false;
        self.rows += rows as u64;
        self.are_values_changed = true;
        self.set_stale(&stale);
        Ok(())
    }

    /// Appends rows with the values of all columns, in the order of the schema.
    ///
    /// # Errors
    /// - [`Error::Value`] for rows of another length;
    /// - the errors of [`TableWriter::append`].
    pub fn append_rows(&mut self, rows: &[Vec<Value>]) -> Result<()> {
        let names: Vec<String> =
            self.schema.columns.iter().map(|column| column.name.clone()).collect();
        if let Some(row) = rows.iter().find(|row| row.len() != names.len()) {
            let why = format!("a row has {} values for {} columns", row.len(), names.len());
            return Err(Error::Value(why));
        }
        let columns: Vec<Vec<Value>> = (0..names.len())
            .map(|number| rows.iter().map(|row| row[number].clone()).collect())
            .collect();
        let batch: Vec<(&str, Cells<'_>)> = names
            .iter()
            .zip(&columns)
            .map(|(name, values)| (name.as_str(), Cells::Values(values)))
            .collect();
        self.append(&batch)
    }

    /// Checks that no column of values of a fixed size has another length than the table.
    fn check_lengths(&self) -> Result<()> {
        if self.appender.is_some() {
            return Ok(());
        }
        let view = self.view();
        let table = Table::with_schema(&view, &self.key, self.schema.clone())?;
        for number in 0..self.schema.columns.len() {
            if let Some(why) = table.reader(number)?.length_fault(table.stored_rows()) {
                return Err(Error::damaged(&self.key, why));
            }
        }
        Ok(())
    }

    /// Removes values without a row, such as those of rows that an interrupted commit in a
    /// directory did not finish, and deleted rows at the end of the table.
    ///
    /// # Errors
    /// - [`Error::Damaged`] if a column has fewer values than the table has rows;
    /// - the errors of [`TableWriter::append`].
    pub fn drop_surplus(&mut self) -> Result<()> {
        self.flush()?;
        self.trim()
    }

    /// Opens the leaves to which rows are added, without the stored rows after the last live one.
    fn begin_append(&mut self) -> Result<()> {
        if self.appender.is_some() {
            return Ok(());
        }
        let view = self.view();
        let table = Table::with_schema(&view, &self.key, self.schema.clone())?;
        let keep = table.end_of_live()?.max(self.committed_end()?);
        let mut columns = Vec::new();
        for column in &self.schema.columns {
            let key = key_of(&self.key, column);
            columns.push(ColumnSink::open(&view, column, &key, keep, self.grid)?);
        }
        let valid = ArraySink::open(&view, &keys::join(&self.key, VALID_ROWS), Some(keep))?;
        self.appender = Some(Appender { valid, columns });
        Ok(())
    }

    /// Returns the number of stored rows up to the last one that is live in the files of a
    /// directory. Their values stay until all steps of the commit are done.
    fn committed_end(&self) -> Result<u64> {
        match &self.writer.old {
            Some(old) if self.is_stepwise() => old.table(&self.key)?.end_of_live(),
            _ => Ok(0),
        }
    }

    /// Makes leaves of the added rows.
    fn flush(&mut self) -> Result<()> {
        self.check()?;
        let Some(appender) = self.appender.take() else {
            return Ok(());
        };
        if !self.are_values_changed {
            return Ok(());
        }
        self.is_broken = true;
        let mut leaves = vec![appender.valid.finish()?];
        for column in appender.columns {
            leaves.extend(column.finish()?);
        }
        self.put(leaves);
        self.is_broken = false;
        Ok(())
    }

    /// Whether the last stored row is deleted, and a column has values of variable length.
    fn has_dead_end(&self) -> Result<bool> {
        let has_variable = self
            .schema
            .columns
            .iter()
            .any(|column| !is_fixed(column) && !matches!(column.kind, ColumnKind::Unknown(_)));
        if !has_variable {
            return Ok(false);
        }
        let view = self.view();
        let table = Table::with_schema(&view, &self.key, self.schema.clone())?;
        Ok(table.end_of_live()? < table.stored_rows())
    }

    /// Removes the stored rows after the last live one.
    fn trim(&mut self) -> Result<()> {
        self.begin_append()?;
        self.are_values_changed = true;
        self.flush()
    }

    /// Deletes rows, in any order. Their values stay until [`TableWriter::compact`].
    ///
    /// # Errors
    /// - [`Error::OutOfRange`]; the errors of [`Table::values`]; [`Error::Frame`];
    ///   [`Error::Memory`].
    pub fn delete(&mut self, rows: &[u64]) -> Result<()> {
        let rows: BTreeSet<u64> = rows.iter().copied().collect();
        let (Some(&first), Some(&last)) = (rows.first(), rows.last()) else {
            return Ok(());
        };
        if last >= self.rows {
            let end = last.saturating_add(1);
            return Err(Error::OutOfRange { start: last, end, len: self.rows });
        }
        self.flush()?;
        let view = self.view();
        let table = Table::with_schema(&view, &self.key, self.schema.clone())?;
        let mut valid = ArraySink::open(&view, &keys::join(&self.key, VALID_ROWS), None)?;
        let mut start = first;
        while start <= last {
            let end = (start + STEP).min(last + 1);
            let numbers = table.stored_of(start..end)?;
            let deleted = rows.range(start..end).map(|&row| numbers[index(row - start)]);
            let deleted: Vec<u64> = deleted.collect();
            valid.overwrite(&deleted, &vec![0; deleted.len()])?;
            start = end;
        }
        let leaf = valid.finish()?;
        self.put(vec![leaf]);
        self.rows -= rows.len() as u64;
        self.is_visibility_changed = true;
        Ok(())
    }

    /// Replaces the values of a column in rows, which are ascending.
    ///
    /// # Errors
    /// - [`Error::NoSuchColumn`]; [`Error::Column`] if the column is not written;
    /// - [`Error::OutOfRange`] if the rows do not all exist; [`Error::Value`] if they are not
    ///   ascending, and for lengths that differ or values that the column cannot contain;
    /// - [`Error::Refused`] for the texts of a `utf8` column in a directory, which two files
    ///   contain;
    /// - the errors of [`TableWriter::append`].
    pub fn set(&mut self, column: &str, rows: &[u64], cells: Cells<'_>) -> Result<()> {
        self.check()?;
        let number = self.position(column)?;
        if !rows.is_sorted_by(|one, other| one < other) {
            return Err(Error::Value("the rows are not ascending".to_owned()));
        }
        if let Some(&last) = rows.last()
            && last >= self.rows
        {
            let end = last.saturating_add(1);
            return Err(Error::OutOfRange { start: last, end, len: self.rows });
        }
        self.flush()?;
        let description = self.schema.columns[number].clone();
        if description.kind == ColumnKind::Utf8 && self.is_stepwise() {
            let why = "the texts of a column in a directory are in two files, which cannot be \
                       replaced at once; 'Store::convert' makes a zip file";
            return Err(Error::refused(keys::join(&self.key, column), why));
        }
        let view = self.view();
        let table = Table::with_schema(&view, &self.key, self.schema.clone())?;
        let key = key_of(&self.key, &description);
        if let Some(why) = table.reader(number)?.length_fault(table.stored_rows()) {
            return Err(Error::damaged(&self.key, why));
        }
        let is_fixed = is_fixed(&description);
        let keep = if is_fixed { table.stored_rows() } else { 0 };
        let mut sink = ColumnSink::open(&view, &description, &key, keep, self.grid)?;
        let staged = stage(&description, sink.form(), cells)?;
        let count = staged.len(sink.form());
        if count != rows.len() {
            return Err(Error::Value(format!("there are {count} values for {} rows", rows.len())));
        }
        if rows.is_empty() {
            return Ok(());
        }
        let stored = table.stored_of_rows(rows, &mut table.budget())?;
        if is_fixed {
            sink.overwrite(&stored, &staged)?;
        } else {
            let end = table.end_of_live()?.max(self.committed_end()?);
            let end = end.min(table.reader(number)?.rows()?);
            rebuild(&table, number, &mut sink, end, &stored, &staged)?;
        }
        let leaves = sink.finish()?;
        self.put(leaves);
        self.are_values_changed = true;
        let stale = self.dependents(column);
        self.set_stale(&stale);
        Ok(())
    }

    /// Removes the values of deleted rows.
    ///
    /// # Errors
    /// - [`Error::Refused`] for a stored table in a directory, whose files cannot be replaced at
    ///   once: copy it with [`Store::convert`] first;
    /// - the errors of [`TableWriter::append`].
    pub fn compact(&mut self) -> Result<()> {
        self.flush()?;
        if self.is_stepwise() {
            let why = "the files of a table in a directory cannot be replaced at once; \
                       'Store::convert' makes a zip file";
            return Err(Error::refused(&*self.key, why));
        }
        let view = self.view();
        let table = Table::with_schema(&view, &self.key, self.schema.clone())?;
        if table.stored_rows() == table.len() && !table.has_surplus()? {
            return Ok(());
        }
        let mut leaves = Vec::new();
        for (number, column) in self.schema.columns.iter().enumerate() {
            let key = key_of(&self.key, column);
            if let Some(why) = table.reader(number)?.length_fault(table.stored_rows()) {
                return Err(Error::damaged(&self.key, why));
            }
            let mut sink = ColumnSink::open(&view, column, &key, 0, self.grid)?;
            copy(&table, number, Rows::Live(0..table.len()), |_, staged| sink.push(&staged))?;
            leaves.extend(sink.finish()?);
        }
        let mut valid = ArraySink::open(&view, &keys::join(&self.key, VALID_ROWS), Some(0))?;
        let mut left = table.len();
        while left > 0 {
            let count = left.min(STEP);
            valid.push(&ones(count)?)?;
            left -= count;
        }
        leaves.push(valid.finish()?);
        self.put(leaves);
        self.are_values_changed = true;
        Ok(())
    }
}

/// Whether the rows of a column, or their codes, have a fixed size.
fn is_fixed(column: &Column) -> bool {
    matches!(
        column.kind,
        ColumnKind::Number(_)
            | ColumnKind::Bool
            | ColumnKind::Timestamp { .. }
            | ColumnKind::String
            | ColumnKind::Bytes
            | ColumnKind::Array(_)
            | ColumnKind::Dictionary { .. }
    )
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Rows of a table.
enum Rows {
    /// Live rows.
    Live(Range<u64>),
    /// Stored rows, including deleted ones.
    Stored(Range<u64>),
}

/// Calls `each` with the values of a column in consecutive rows, and the number of the first one.
fn copy(
    table: &Table<'_>,
    number: usize,
    rows: Rows,
    mut each: impl FnMut(u64, Staged) -> Result<()>,
) -> Result<()> {
    let (is_live, mut rows) = match rows {
        Rows::Live(rows) => (true, rows),
        Rows::Stored(rows) => (false, rows),
    };
    let mut step = STEP;
    while !rows.is_empty() {
        let end = (rows.start + step).min(rows.end);
        let stored: Vec<u64> =
            if is_live { table.stored_of(rows.start..end)? } else { (rows.start..end).collect() };
        match table.staged(number, &stored) {
            Ok(staged) => each(rows.start, staged)?,
            // Fewer rows can be below the limit.
            Err(Error::Limit { .. }) if step > 1 => {
                step /= 2;
                continue;
            }
            Err(error) => return Err(error),
        }
        rows.start = end;
    }
    Ok(())
}

/// Adds the values of all stored rows before `end` to a sink, with other values in `rows`.
fn rebuild(
    table: &Table<'_>,
    number: usize,
    sink: &mut ColumnSink,
    end: u64,
    rows: &[u64],
    new: &Staged,
) -> Result<()> {
    let mut used = 0;
    copy(table, number, Rows::Stored(0..end), |start, mut staged| {
        while let Some(&row) = rows.get(used) {
            if !staged.replace(index(row - start), new, used) {
                break;
            }
            used += 1;
        }
        sink.push(&staged)
    })?;
    match rows.get(used) {
        Some(&row) => Err(table.reader(number)?.missing_value(row)?),
        None => Ok(()),
    }
}
