//! Columns that are added, removed and renamed, and the columns that are computed from others.

use super::{
    STEP, TableWriter, check_names, dependencies, entry_mut, items, key_of, leaf_keys, parse,
    set_entry, text,
};
use crate::bloscpack::Value as Json;
use crate::store::error::{Error, Result};
use crate::store::keys;
use crate::store::new_leaf::COLUMN_SUFFIX;
use crate::store::table::Table;
use crate::store::table::cells::{Cells, default_of, stage};
use crate::store::table::schema::ColumnKind;
use crate::store::table::sink::{self, ColumnSink, Grid};
use crate::store::table::spec::{ColumnSpec, check_name};
use crate::store::table::staged::Staged;
use crate::store::value::Value;

impl TableWriter<'_> {
    /// Adds a column with values for all rows; without them, with the default of the schema, or
    /// nulls. Indexes of other columns stay.
    ///
    /// # Errors
    /// - [`Error::InvalidName`]; [`Error::Column`]; the errors of [`TableWriter::append`].
    pub fn add_column(&mut self, spec: &ColumnSpec, cells: Option<Cells<'_>>) -> Result<()> {
        self.flush()?;
        let column = spec.column()?;
        self.check_free(&column.name)?;
        let mut json = self.json.clone();
        let Some(Json::List(columns)) = entry_mut(&mut json, "columns") else {
            return Err(Error::Memory);
        };
        columns.push(column.json.clone());
        let schema = parse(&self.key, &json)?;
        check_names(&self.key, &schema)?;
        let key = key_of(&self.key, &column);
        if leaf_keys(&self.key, &column).iter().any(|key| self.is_taken(key)) {
            let why = "another leaf has this name".to_owned();
            return Err(Error::InvalidName { name: column.name, why });
        }
        if let Some(why) = keys::fault_of_new_key(&key) {
            return Err(Error::InvalidName { name: column.name, why: why.to_owned() });
        }
        let view = self.view();
        let table = Table::with_schema(&view, &self.key, self.schema.clone())?;
        let grid = Grid::new(sink::row_size(&column)?);
        let mut sink = ColumnSink::create(&column, &key, grid)?;
        let rows = usize::try_from(table.len()).map_err(|_| Error::Memory)?;
        let filler = default_of(&column).or(column.nullable.then_some(Value::Nil));
        let values;
        let cells = match (cells, &filler) {
            (Some(cells), _) => cells,
            (None, Some(filler)) => {
                values = vec![filler.clone(); rows];
                Cells::Values(&values)
            }
            (None, None) if rows == 0 => Cells::Values(&[]),
            (None, None) => {
                let why = "its values are missing, and it has no default and no nulls".to_owned();
                return Err(Error::Column { name: column.name, why });
            }
        };
        let staged = stage(&column, sink.form(), cells)?;
        let count = staged.len(sink.form());
        if count != rows {
            return Err(Error::Value(format!("there are {count} values for {rows} rows")));
        }
        push_stored(&table, &staged, &mut sink)?;
        let leaves = sink.finish()?;
        (self.json, self.schema) = (json, schema);
        self.put(leaves);
        Ok(())
    }

    /// Removes a column and all indexes of the table.
    ///
    /// # Errors
    /// - [`Error::NoSuchColumn`]; [`Error::Refused`] if a computed or generated column needs it.
    pub fn drop_column(&mut self, name: &str) -> Result<()> {
        self.flush()?;
        let number = self.position(name)?;
        self.check_not_needed(name)?;
        let mut json = self.json.clone();
        if let Some(Json::List(columns)) = entry_mut(&mut json, "columns") {
            columns.remove(number);
        }
        if let Some(Json::List(generated)) = entry_mut(&mut json, "materialized_columns") {
            generated.retain(|item| item.get("name").and_then(text) != Some(name));
        }
        let schema = parse(&self.key, &json)?;
        for key in leaf_keys(&self.key, &self.schema.columns[number]) {
            if self.view().has(&key) {
                self.changed.insert(key, None);
            }
        }
        (self.json, self.schema) = (json, schema);
        self.are_values_changed = true;
        Ok(())
    }

    /// Renames a column; its values and its position stay. All indexes of the table are dropped.
    ///
    /// # Errors
    /// - [`Error::NoSuchColumn`];
    /// - [`Error::InvalidName`] for a name that another column or leaf has, or that is not valid;
    /// - [`Error::Column`] if the kind of the column is not known;
    /// - [`Error::Refused`] if a computed or generated column needs the column, or the metadata of
    ///   the table describe it as a part of a nested one;
    /// - the errors of [`Store::leaf`](crate::store::Store::leaf).
    pub fn rename_column(&mut self, name: &str, new: &str) -> Result<()> {
        self.flush()?;
        let number = self.position(name)?;
        if name == new {
            return Ok(());
        }
        self.check_not_needed(name)?;
        self.check_free(new)?;
        let old = self.schema.columns[number].clone();
        if let ColumnKind::Unknown(kind) = &old.kind {
            let why = format!("columns of kind {kind:?} are not supported");
            return Err(Error::Column { name: old.name, why });
        }
        let metadata = self.json.get("metadata");
        let is_described = |key| {
            let described = metadata.and_then(|metadata| metadata.get(key));
            described.is_some_and(|json| names_any(json, [name, new]))
        };
        if is_described("nested") || is_described("struct_parents") {
            let why = format!("the metadata of the table describe column {name:?} or {new:?}");
            return Err(Error::refused(&*self.key, why));
        }
        let mut json = self.json.clone();
        if let Some(Json::List(columns)) = entry_mut(&mut json, "columns") {
            set_entry(&mut columns[number], "name", Json::from(new));
        }
        if let Some(Json::List(generated)) = entry_mut(&mut json, "materialized_columns") {
            for item in generated {
                if item.get("name").and_then(text) == Some(name) {
                    set_entry(item, "name", Json::from(new));
                }
            }
        }
        let schema = parse(&self.key, &json)?;
        check_names(&self.key, &schema)?;
        let column = &schema.columns[number];
        let old_keys = leaf_keys(&self.key, &old);
        let keys: Vec<(String, String)> =
            old_keys.into_iter().zip(leaf_keys(&self.key, column)).collect();
        let invalid = |why: &str| Error::InvalidName { name: new.to_owned(), why: why.to_owned() };
        let is_own = |key: &str| !self.is_stepwise() && keys.iter().any(|(old, _)| old == key);
        if keys.iter().any(|(_, key)| self.is_taken(key) && !is_own(key)) {
            return Err(invalid("another leaf has this name"));
        }
        if let Some(why) = keys.iter().find_map(|(_, key)| keys::fault_of_new_key(key)) {
            return Err(invalid(why));
        }
        let mut moved = Vec::new();
        let mut removed = Vec::new();
        for (old, key) in keys {
            if self.view().has(&old) {
                let mut leaf = self.view().copy_of(&old)?;
                if column.kind.has_objects() && leaf.suffix != ".b2nd" {
                    leaf.suffix = COLUMN_SUFFIX;
                }
                moved.push((key, leaf));
                removed.push((old, None));
            }
        }
        self.changed.extend(removed);
        (self.json, self.schema) = (json, schema);
        self.put(moved);
        self.are_values_changed = true;
        Ok(())
    }

    /// Checks that a name is valid, and that no column has it.
    fn check_free(&self, name: &str) -> Result<()> {
        check_name(name)?;
        let is_computed = self.schema.computed.iter().any(|computed| computed.name == name);
        if is_computed || self.schema.position(name).is_some() {
            let why = "another column has this name".to_owned();
            return Err(Error::InvalidName { name: name.to_owned(), why });
        }
        Ok(())
    }

    /// Whether a leaf exists, or exists in the directory until the commit is complete: during its
    /// steps, the schema would use the old leaf for the new column.
    fn is_taken(&self, key: &str) -> bool {
        let is_stored = || self.writer.old.as_ref().is_some_and(|old| old.leaves.contains_key(key));
        self.view().has(key) || (self.is_stepwise() && is_stored())
    }

    /// Checks that no computed or generated column needs a column.
    fn check_not_needed(&self, name: &str) -> Result<()> {
        for key in ["computed_columns", "materialized_columns"] {
            if items(&self.json, key).iter().any(|item| dependencies(item).contains(&name)) {
                let why = format!("column {name:?} is needed by a computed column");
                return Err(Error::refused(&*self.key, why));
            }
        }
        Ok(())
    }

    /// Returns the generated columns that are computed from a column, directly or not.
    pub(super) fn dependents(&self, name: &str) -> Vec<String> {
        let mut changed: Vec<String> = vec![name.to_owned()];
        let mut next = 0;
        while next < changed.len() {
            let source = changed[next].clone();
            for key in ["computed_columns", "materialized_columns"] {
                for item in items(&self.json, key) {
                    let Some(found) = item.get("name").and_then(text) else {
                        continue;
                    };
                    let is_new = !changed.iter().any(|other| other == found);
                    if is_new && dependencies(item).contains(&source.as_str()) {
                        changed.push(found.to_owned());
                    }
                }
            }
            next += 1;
        }
        changed.retain(|found| found != name);
        changed
    }

    /// Marks generated columns as stale.
    pub(super) fn set_stale(&mut self, names: &[String]) {
        if let Some(Json::List(generated)) = entry_mut(&mut self.json, "materialized_columns") {
            for item in generated {
                if item
                    .get("name")
                    .and_then(text)
                    .is_some_and(|name| names.iter().any(|other| other == name))
                {
                    set_entry(item, "stale", Json::Bool(true));
                }
            }
        }
    }
}

/// Adds the values of all live rows to a sink, with values of the deleted rows: that of the live row
/// before them, or of the first one.
///
/// # Errors
/// - [`Error::Changed`] if other rows are live than when the table was opened;
/// - the errors of reading the mask and of writing.
fn push_stored(table: &Table<'_>, staged: &Staged, sink: &mut ColumnSink) -> Result<()> {
    let changed = || Error::Changed(table.store.path().to_owned());
    let rows = staged.len(sink.form());
    let mut live = 0usize;
    let mut start = 0;
    while start < table.stored_rows() {
        let end = (start + STEP).min(table.stored_rows());
        let mask = table.mask(start..end)?;
        let mut picks = Vec::with_capacity(mask.len());
        for byte in mask {
            live += usize::from(byte != 0);
            picks.push(live.saturating_sub(1));
        }
        if live > rows {
            return Err(changed());
        }
        if rows == 0 {
            sink.push(&Staged::fillers(picks.len(), sink.form()))?;
        } else {
            sink.push(&staged.picked(picks.into_iter(), sink.form()))?;
        }
        start = end;
    }
    if live == rows { Ok(()) } else { Err(changed()) }
}

/// Whether a key or a text of metadata is one of the names, a part of one or a group above one.
fn names_any(json: &Json, names: [&str; 2]) -> bool {
    let is_named = |text: &str| {
        names.iter().any(|name| {
            text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                || name.strip_prefix(text).is_some_and(|rest| rest.starts_with('.'))
        })
    };
    match json {
        Json::Text(text) => is_named(text),
        Json::List(items) => items.iter().any(|item| names_any(item, names)),
        Json::Object(entries) => {
            entries.iter().any(|(key, value)| is_named(key) || names_any(value, names))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::store_of_ten_rows;

    /// The mask is read twice: to count the live rows, and to assign their values.
    #[test]
    fn rows_that_become_live_during_the_addition_of_a_column_are_an_error() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("t.b2d");
        let store = store_of_ten_rows(&path);
        let column = ColumnSpec::number("b", "int64").column().unwrap();
        for count in 0..10_i64 {
            let table = store.table("/t").unwrap();
            let mut sink = ColumnSink::create(&column, "/t/_cols/b", Grid::new(8)).unwrap();
            let bytes: Vec<u8> = (0..count).flat_map(i64::to_le_bytes).collect();
            let cells = Cells::Items { bytes: &bytes, valid: None };
            let staged = stage(&column, sink.form(), cells).unwrap();
            let pushed = push_stored(&table, &staged, &mut sink);
            if count == 8 {
                assert_eq!(pushed, Ok(()));
            } else {
                let path = table.store.path().to_owned();
                assert_eq!(pushed, Err(Error::Changed(path)), "{count}");
            }
        }
    }
}
