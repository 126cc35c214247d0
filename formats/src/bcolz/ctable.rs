//! The ctable: a directory of carrays of equal length.
//!
//! ```text
//! ROOT/__rootdirs__   {"names": ["a", "b"]}, the order of the columns
//! ROOT/__attrs__      attributes of the table
//! ROOT/a/ ROOT/b/     one carray per column
//! ```
//!
//! Old tables also have `"dirs"` with paths that are only valid where the table was created; they
//! are ignored. The published description of the format stores columns in `ROOT/data` and allows
//! tables as columns. Both are read, but never written. An append writes the rows of all columns
//! before it changes the length of any.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::attrs::{self, Attrs};
use super::carray::{self, Carray, CarraySpec, check_growth};
use super::error::{Error, Result};
use super::owner::Owner;
use super::root::{
    DATA, RENAMING, ROOTDIRS, check_unlocked, clear_root, create_object, lock_object,
};
use super::store::{Store, WriterLock};
use super::{Mode, Options, names};
use crate::bloscpack::Value;

/// The maximum nesting depth of tables.
const MAX_DEPTH: usize = 16;

/// A bcolz object.
pub enum Object {
    /// An array.
    Carray(Box<Carray>),
    /// A table.
    Ctable(Ctable),
}

impl Object {
    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        match self {
            Object::Carray(array) => array.len(),
            Object::Ctable(table) => table.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the number of threads.
    pub fn set_threads(&mut self, nthreads: i32) {
        match self {
            Object::Carray(array) => array.set_threads(nthreads),
            Object::Ctable(table) => table.set_threads(nthreads),
        }
    }

    /// Returns the attributes.
    pub fn attrs(&self) -> &Attrs {
        match self {
            Object::Carray(array) => array.attrs(),
            Object::Ctable(table) => table.attrs(),
        }
    }
}

/// A table.
///
/// ```
/// use ferroblosc_formats::bcolz::{CarraySpec, Ctable, Mode, Options};
/// use ferroblosc_formats::numpy::Dtype;
///
/// # fn main() -> ferroblosc_formats::bcolz::Result<()> {
/// # let root = std::env::temp_dir().join(format!("ctable-doc-{}", std::process::id()));
/// let columns = [
///     ("day", CarraySpec::new(Dtype::parse("uint32")?)),
///     ("price", CarraySpec::new(Dtype::parse("float64")?)),
/// ];
/// let mut table = Ctable::create(&root, &columns, Mode::Write, &Options::default())?;
/// table.append(&[&7_u32.to_le_bytes(), &1.25_f64.to_le_bytes()])?;
/// assert_eq!(table.read("price", 0..1)?, 1.25_f64.to_le_bytes());
/// # drop(table);
/// # std::fs::remove_dir_all(root).unwrap();
/// # Ok(())
/// # }
/// ```
pub struct Ctable {
    root: PathBuf,
    options: Options,
    attrs: Attrs,
    columns: Vec<(String, Object)>,
    /// Whether a column uses the published layout, which is read-only.
    is_published_layout: bool,
    is_writable: bool,
    /// The process that may write.
    owner: Owner,
    lock: Option<Box<WriterLock>>,
}

/// The path of a column, and whether its layout is writable.
pub(super) struct ColumnLocation {
    pub path: PathBuf,
    pub is_writable: bool,
}

impl Ctable {
    /// Opens the table at `root`.
    ///
    /// # Errors
    /// [`Error::Argument`] in mode [`Mode::Write`]; [`Error::Busy`] if the table or one of its
    /// columns has a writer, for reading only if the columns have different lengths because of
    /// that; [`Error::UnequalColumns`]; [`Error`].
    pub fn open(root: &Path, mode: Mode, options: &Options) -> Result<Ctable> {
        let store = &options.store;
        if mode == Mode::Write {
            return Err(Error::Argument(
                "You cannot open a ctable in 'w'rite mode without a `columns` param",
            ));
        }
        if !store.exists(&root.join(ROOTDIRS))? {
            return Err(Error::NotFound(root.to_owned()));
        }
        if mode == Mode::Read {
            let table = Ctable::open_unchecked(root, mode, options, 0)?;
            if table.has_equal_columns() {
                return Ok(table);
            }
            check_unlocked(root, store)?;
            // A writer may have completed its change in the meantime.
            return Ctable::open_unchecked(root, mode, options, 0)?.with_equal_columns();
        }
        let lock = lock_object(root, store)?;
        finish_renaming(store, root)?;
        let mut table = Ctable::open_unchecked(root, mode, options, 0)?;
        table.lock = Some(Box::new(lock));
        table.with_equal_columns()
    }

    /// Fails if the columns have different lengths.
    fn with_equal_columns(self) -> Result<Ctable> {
        if self.has_equal_columns() {
            Ok(self)
        } else {
            Err(Error::UnequalColumns(self.root.clone()))
        }
    }

    /// Opens a table without locking it or checking the lengths of the columns.
    pub(super) fn open_unchecked(
        root: &Path,
        mode: Mode,
        options: &Options,
        depth: usize,
    ) -> Result<Ctable> {
        let store = &options.store;
        let mut columns = Vec::new();
        let mut is_published_layout = depth > 0;
        for name in read_names(store, root)? {
            let location = locate_column(store, root, &name)?;
            let path = location.path;
            let object = if !store.exists(&path.join(ROOTDIRS))? {
                Object::Carray(Box::new(Carray::open_unlocked(&path, mode, options)?))
            } else if depth < MAX_DEPTH {
                is_published_layout = true;
                Object::Ctable(Ctable::open_unchecked(&path, Mode::Read, options, depth + 1)?)
            } else {
                return Err(Error::Description {
                    path,
                    why: "tables are nested too deeply".to_owned(),
                });
            };
            is_published_layout |= !location.is_writable;
            columns.push((name, object));
        }
        Ok(Ctable {
            attrs: Attrs::read(store, root)?,
            root: root.to_owned(),
            options: options.clone(),
            columns,
            is_published_layout,
            is_writable: mode != Mode::Read,
            owner: Owner::this_process(),
            lock: None,
        })
    }

    fn has_equal_columns(&self) -> bool {
        let len = self.len();
        let is_equal = |object: &Object| match object {
            Object::Carray(array) => array.len() == len,
            Object::Ctable(table) => table.len() == len && table.has_equal_columns(),
        };
        self.columns.iter().all(|(_, object)| is_equal(object))
    }

    /// Creates an empty table at `root`, whose parent must exist. [`Mode::Write`] replaces an
    /// existing bcolz object. On failure, no new files are left.
    ///
    /// # Errors
    /// [`Error::ColumnName`], [`Error::ColumnExists`]; the errors of [`Carray::create`].
    pub fn create(
        root: &Path,
        columns: &[(&str, CarraySpec)],
        mode: Mode,
        options: &Options,
    ) -> Result<Ctable> {
        let mut descriptions = Vec::new();
        for (i, (name, spec)) in columns.iter().enumerate() {
            names::check_new(name)?;
            if columns[..i].iter().any(|(other, _)| other == name) {
                return Err(Error::ColumnExists((*name).to_owned()));
            }
            descriptions.push((*name, spec.check()?));
        }
        clear_root(root, mode, options)?;
        let store = &options.store;
        let (mut table, lock) = create_object(root, store, || {
            // The table has no columns until all of them are written.
            write_names(store, root, &[])?;
            attrs::write_none(store, root)?;
            for (name, description) in &descriptions {
                let path = root.join(name);
                store.make_directory(&path)?;
                carray::write_new(&path, description, options)?;
            }
            let names: Vec<&str> = descriptions.iter().map(|(name, _)| *name).collect();
            write_names(store, root, &names)?;
            Ctable::open_unchecked(root, Mode::Append, options, 0)
        })?;
        table.lock = Some(Box::new(lock));
        Ok(table)
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.columns.first().map_or(0, |(_, object)| object.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the names of the columns in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Sets the number of threads of each column.
    pub fn set_threads(&mut self, nthreads: i32) {
        self.options.nthreads = nthreads;
        for (_, object) in &mut self.columns {
            object.set_threads(nthreads);
        }
    }

    /// Returns the attributes of the table.
    pub fn attrs(&self) -> &Attrs {
        &self.attrs
    }

    /// Returns a column: an array, or a table in the published layout.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]
    pub fn column(&self, name: &str) -> Result<&Object> {
        let found = self.columns.iter().find(|(known, _)| known == name);
        found.map(|(_, object)| object).ok_or_else(|| Error::NoSuchColumn(name.to_owned()))
    }

    /// Returns the array with this name. `TABLE/COLUMN` names a column of a nested table.
    pub(crate) fn array(&mut self, name: &str) -> Result<&mut Carray> {
        let (first, rest) = match name.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (name, None),
        };
        let found = self.columns.iter_mut().find(|(known, _)| known == first);
        match (found, rest) {
            (Some((_, Object::Carray(array))), None) => Ok(array),
            (Some((_, Object::Ctable(table))), Some(rest)) => table.array(rest),
            _ => Err(Error::NoSuchColumn(name.to_owned())),
        }
    }

    /// Returns the bytes of a range of rows of a column. `TABLE/COLUMN` names a column of a nested
    /// table.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]; the errors of [`Carray::read`].
    pub fn read(&mut self, column: &str, rows: Range<u64>) -> Result<Vec<u8>> {
        self.array(column)?.read(rows)
    }

    /// Fills `dest` with the bytes of a column's rows from `start`.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]; the errors of [`Carray::read_into`].
    pub fn read_into(&mut self, column: &str, start: u64, dest: &mut [u8]) -> Result<()> {
        self.array(column)?.read_into(start, dest)
    }

    /// Overwrites a column's rows from `start`.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]; the errors of [`Carray::set`].
    pub fn set(&mut self, column: &str, start: u64, rows: &[u8]) -> Result<()> {
        self.prepare_write()?;
        self.array(column)?.set(start, rows)
    }

    /// Appends rows and flushes. `rows` holds the data of each column in order. On failure, all
    /// columns keep their previous rows.
    ///
    /// # Errors
    /// [`Error::Argument`] if the numbers of rows differ; the errors of [`Carray::append`].
    pub fn append(&mut self, rows: &[&[u8]]) -> Result<()> {
        self.prepare_write()?;
        if rows.len() != self.columns.len() {
            return Err(Error::Argument("rows are required for each column"));
        }
        let mut counts = Vec::new();
        for (array, rows) in arrays(&mut self.columns).zip(rows) {
            array.flush()?;
            counts.push(array.rows_in(rows.len())?);
        }
        if counts.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Error::Argument("all cols in `cols` must have the same length"));
        }
        let len = self.len();
        let mut stage = || {
            for (array, rows) in arrays(&mut self.columns).zip(rows) {
                array.append(rows)?;
            }
            arrays(&mut self.columns).try_for_each(Carray::flush_tail)
        };
        if let Err(error) = stage() {
            // No length on disk has changed yet.
            arrays(&mut self.columns).for_each(|array| array.revert(len));
            return Err(error);
        }
        self.flush_lengths(len)
    }

    /// Writes the new lengths. On failure, restores the previous length of all columns.
    fn flush_lengths(&mut self, before: u64) -> Result<()> {
        // Renaming needs no space: on a full disk, this fails before any length changes.
        let staged: Result<Vec<_>> = arrays(&mut self.columns).map(Carray::stage_sizes).collect();
        let staged = match staged {
            Ok(staged) => staged,
            Err(error) => {
                arrays(&mut self.columns).for_each(|array| array.revert(before));
                return Err(error);
            }
        };
        let result = arrays(&mut self.columns)
            .zip(staged)
            .try_for_each(|(array, sizes)| array.commit_sizes(sizes));
        if result.is_err() {
            for array in arrays(&mut self.columns) {
                // If this also fails, the table needs a repair.
                let _ = if array.is_dirty() {
                    array.revert(before);
                    // The new length may be on disk if its sync failed.
                    array.write_sizes()
                } else {
                    array.trim(array.len() - before)
                };
            }
        }
        result
    }

    /// Removes the last `count` rows. If the new length of a column cannot be written, all columns
    /// keep their rows.
    ///
    /// # Errors
    /// The errors of [`Carray::trim`].
    pub fn trim(&mut self, count: u64) -> Result<()> {
        self.prepare_write()?;
        if count == 0 {
            return Ok(());
        }
        let before = self.len();
        // Renaming needs no space: on a full disk, this fails before any length changes.
        let trims: Result<Vec<_>> =
            arrays(&mut self.columns).map(|array| array.begin_trim(count)).collect();
        let committed = arrays(&mut self.columns)
            .zip(trims?)
            .try_for_each(|(array, trim)| array.commit_trim(trim));
        if let Err(error) = committed {
            for array in arrays(&mut self.columns) {
                array.revert(before);
                // If this also fails, the table needs a repair. The new length may be on disk if
                // its sync failed.
                let _ = array.write_sizes();
            }
            return Err(error);
        }
        arrays(&mut self.columns).try_for_each(Carray::finish_trim)
    }

    /// Changes the number of rows to `len`. New rows contain the fill value of each column.
    ///
    /// # Errors
    /// The errors of [`Carray::resize`].
    pub fn resize(&mut self, len: u64) -> Result<()> {
        let before = self.len();
        if let Some(count) = before.checked_sub(len) {
            self.trim(count)?;
            return self.flush();
        }
        self.prepare_write()?;
        // A failure discards all buffered rows.
        self.flush()?;
        check_growth(&mut arrays(&mut self.columns).collect::<Vec<_>>(), len)?;
        let grown = arrays(&mut self.columns).try_for_each(|array| array.grow(len));
        if let Err(error) = grown {
            // No length on disk has changed yet.
            arrays(&mut self.columns).for_each(|array| array.revert(before));
            return Err(error);
        }
        self.flush_lengths(before)
    }

    /// Writes buffered rows.
    ///
    /// # Errors
    /// The errors of [`Carray::flush`].
    pub fn flush(&mut self) -> Result<()> {
        if self.is_writable {
            arrays(&mut self.columns).try_for_each(Carray::flush)
        } else {
            Ok(())
        }
    }

    /// Flushes and closes the handle.
    ///
    /// # Errors
    /// The errors of [`Carray::flush`].
    pub fn close(mut self) -> Result<()> {
        let flushed = self.flush();
        // Dropping the columns must not flush them again.
        arrays(&mut self.columns).for_each(Carray::discard);
        flushed
    }

    /// Inserts a column before column `at`, or appends it. `fill` must append as many rows as the
    /// table has.
    ///
    /// # Errors
    /// [`Error::ColumnName`], [`Error::ColumnExists`] also if a directory of that name exists,
    /// [`Error::UnequalColumns`]; the errors of `fill`. The table is then unchanged.
    pub fn add_column<E: From<Error>>(
        &mut self,
        name: &str,
        spec: &CarraySpec,
        at: Option<usize>,
        fill: impl FnOnce(&mut Carray) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.prepare_write()?;
        names::check_new(name)?;
        let at = at.unwrap_or(self.columns.len());
        if at > self.columns.len() {
            return Err(Error::Argument("the column index is out of range").into());
        }
        let path = self.root.join(name);
        if self.column(name).is_ok() || self.options.store.exists(&path)? {
            return Err(Error::ColumnExists(name.to_owned()).into());
        }
        let description = spec.check()?;
        self.options.store.make_directory(&path)?;
        match self.fill_column(&path, &description, fill) {
            Ok(array) => {
                self.columns.insert(at, (name.to_owned(), Object::Carray(Box::new(array))));
                let written = self.write_names();
                if written.is_err() {
                    self.columns.remove(at);
                    self.restore_names();
                    let names = read_names(&self.options.store, &self.root);
                    if names.is_ok_and(|names| names.iter().all(|known| known != name)) {
                        let _ = self.options.store.remove_tree(&path);
                    }
                }
                Ok(written?)
            }
            Err(error) => {
                // Leftover files only block this column name.
                let _ = self.options.store.remove_tree(&path);
                Err(error)
            }
        }
    }

    fn fill_column<E: From<Error>>(
        &self,
        path: &Path,
        description: &(super::meta::Storage, super::meta::Sizes),
        fill: impl FnOnce(&mut Carray) -> std::result::Result<(), E>,
    ) -> std::result::Result<Carray, E> {
        carray::write_new(path, description, &self.options)?;
        let mut array = Carray::open_unlocked(path, Mode::Append, &self.options)?;
        fill(&mut array)?;
        array.flush()?;
        if self.columns.is_empty() || array.len() == self.len() {
            Ok(array)
        } else {
            Err(Error::UnequalColumns(self.root.clone()).into())
        }
    }

    /// Removes a column from the table, and its directory unless `keep` is set.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]; [`Error::Storage`].
    pub fn remove_column(&mut self, name: &str, keep: bool) -> Result<()> {
        self.prepare_write()?;
        let found = self.columns.iter().position(|(known, _)| known == name);
        let at = found.ok_or_else(|| Error::NoSuchColumn(name.to_owned()))?;
        self.flush()?;
        let column = self.columns.remove(at);
        if let Err(error) = self.write_names() {
            self.columns.insert(at, column);
            self.restore_names();
            return Err(error);
        }
        drop(column);
        if keep { Ok(()) } else { self.options.store.remove_tree(&self.root.join(name)) }
    }

    /// Renames a column.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`], [`Error::ColumnName`], [`Error::ColumnExists`]; [`Error::Storage`].
    pub fn rename_column(&mut self, from: &str, to: &str) -> Result<()> {
        self.prepare_write()?;
        names::check_new(to)?;
        let found = self.columns.iter().position(|(known, _)| known == from);
        let at = found.ok_or_else(|| Error::NoSuchColumn(from.to_owned()))?;
        let (old, new) = (self.root.join(from), self.root.join(to));
        let store = self.options.store.clone();
        if store.exists(&new)? {
            return Err(Error::ColumnExists(to.to_owned()));
        }
        self.flush()?;
        // This file lets readers find the directory under its new name before `__rootdirs__` is
        // updated.
        let marker = self.root.join(RENAMING);
        store.replace_json(&marker, &Value::List(vec![Value::from(from), Value::from(to)]))?;
        let renamed = store.rename(&old, &new).and_then(|()| {
            self.columns[at].0 = to.to_owned();
            self.write_names()
        });
        if let Err(error) = renamed {
            self.columns[at].0 = from.to_owned();
            // If only a sync failed, the directory or the names have changed. The marker is needed
            // until both are the old ones.
            let restored = self
                .write_names()
                .and_then(|()| if store.exists(&old)? { Ok(()) } else { store.rename(&new, &old) });
            if restored.is_ok() {
                let _ = store.remove(&marker);
            }
            return Err(error);
        }
        let array = Carray::open_unlocked(&new, Mode::Append, &self.options)?;
        self.columns[at].1 = Object::Carray(Box::new(array));
        store.remove(&marker)
    }

    /// Sets an attribute of the table and writes it immediately.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn set_attr(&mut self, name: &str, value: Value) -> Result<()> {
        self.check_writable()?;
        self.attrs.set(&self.options.store, name, Some(value)).map(|_| ())
    }

    /// Removes an attribute of the table. Returns whether it existed.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn remove_attr(&mut self, name: &str) -> Result<bool> {
        self.check_writable()?;
        self.attrs.set(&self.options.store, name, None)
    }

    /// Sets an attribute of a column and writes it immediately.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`], [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn set_column_attr(&mut self, column: &str, name: &str, value: Value) -> Result<()> {
        self.check_writable()?;
        self.array(column)?.set_attr(name, value)
    }

    /// Removes an attribute of a column. Returns whether it existed.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`], [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn remove_column_attr(&mut self, column: &str, name: &str) -> Result<bool> {
        self.check_writable()?;
        self.array(column)?.remove_attr(name)
    }

    fn check_writable(&self) -> Result<()> {
        if self.is_writable { self.owner.check(&self.root) } else { Err(Error::ReadOnly) }
    }

    fn prepare_write(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.is_published_layout {
            return Err(Error::ReadOnlyLayout(self.root.clone()));
        }
        self.attrs.ensure(&self.options.store)
    }

    /// Writes the names again after an error: if only the sync failed, they have changed.
    fn restore_names(&self) {
        // The caller returns the first error.
        let _ = self.write_names();
    }

    fn write_names(&self) -> Result<()> {
        let names: Vec<&str> = self.names().collect();
        write_names(&self.options.store, &self.root, &names)
    }
}

/// Returns the columns that are arrays. Writable tables have no others.
fn arrays(columns: &mut [(String, Object)]) -> impl Iterator<Item = &mut Carray> {
    columns.iter_mut().filter_map(|(_, object)| match object {
        Object::Carray(array) => Some(&mut **array),
        Object::Ctable(_) => None,
    })
}

/// Returns the names of the columns of the table at `root`.
pub(super) fn read_names(store: &Store, root: &Path) -> Result<Vec<String>> {
    let path = root.join(ROOTDIRS);
    let value = store.read_json(&path)?;
    let value = value.ok_or_else(|| Error::NotFound(root.to_owned()))?;
    let invalid = |why: &str| Error::Description { path: path.clone(), why: why.to_owned() };
    let Some(Value::List(items)) = value.get("names") else {
        return Err(invalid("the column names are missing"));
    };
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    for item in items {
        let Value::Text(name) = item else {
            return Err(invalid("a column name is not a string"));
        };
        names::check_read(name)?;
        if !seen.insert(name) {
            return Err(invalid("a column name is not unique"));
        }
        found.push(name.clone());
    }
    Ok(found)
}

fn write_names(store: &Store, root: &Path, names: &[&str]) -> Result<()> {
    let names = names.iter().map(|name| Value::from(*name)).collect();
    let value = Value::object([("names", Value::List(names))]);
    store.replace_json(&root.join(ROOTDIRS), &value)
}

/// Returns the old and new name of an interrupted column rename.
fn pending_rename(store: &Store, root: &Path) -> Result<Option<(String, String)>> {
    Ok(match store.read_trusted_json(&root.join(RENAMING), root)? {
        Some(Value::List(names)) => match names.as_slice() {
            [Value::Text(from), Value::Text(to)]
                if names::check_read(from).is_ok() && names::check_read(to).is_ok() =>
            {
                Some((from.clone(), to.clone()))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Completes an interrupted column rename.
pub(super) fn finish_renaming(store: &Store, root: &Path) -> Result<()> {
    let Some((from, to)) = pending_rename(store, root)? else {
        return Ok(());
    };
    let mut columns = read_names(store, root)?;
    if !store.exists(&root.join(&from))?
        && store.exists(&root.join(&to))?
        && let Some(name) = columns.iter_mut().find(|name| **name == from)
    {
        *name = to;
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        write_names(store, root, &names)?;
    }
    store.remove(&root.join(RENAMING))
}

/// Returns the location of a column: in the table's directory, or, in the published layout, in the
/// subdirectory `data`.
pub(super) fn locate_column(store: &Store, root: &Path, name: &str) -> Result<ColumnLocation> {
    let mut location = ColumnLocation { path: root.join(name), is_writable: true };
    if !store.exists(&location.path)? {
        let published = root.join(DATA).join(name);
        if store.exists(&published)? {
            location.path = published;
            location.is_writable = false;
        } else if let Some((from, to)) = pending_rename(store, root)?
            && from == name
        {
            location.path = root.join(to);
        }
    }
    if !store.exists(&location.path)? {
        return Err(Error::NotFound(location.path));
    }
    if store.resolve(&location.path)?.starts_with(store.resolve(root)?) {
        Ok(location)
    } else {
        Err(Error::Outside(location.path))
    }
}
