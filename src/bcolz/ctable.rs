//! The ctable: carrays of one length, side by side.
//!
//! ```text
//! ROOT/__rootdirs__   {"names": ["a", "b"]}, the order of the columns
//! ROOT/__attrs__      attributes of the table
//! ROOT/a/ ROOT/b/     a carray each
//! ```
//!
//! Old tables have `"dirs"` with paths beside the names, which were right only where the table was made, so they are
//! ignored. The published description has the columns in `ROOT/data`, and tables as columns; these are read and
//! never written. Rows that are appended get to the disk in all columns before the length of any of them changes.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::attrs::{self, Attrs};
use super::carray::{self, Carray, CarraySpec, DATA};
use super::error::{Error, Result};
use super::store::{Claim, Store};
use super::{Mode, Object, Options, names};
use crate::bloscpack::Value;

/// The file that makes a directory a table.
pub(super) const ROOTDIRS: &str = "__rootdirs__";
/// The file that tells of a column that is getting another name; no name of the format's.
const RENAMING: &str = ".ferroblosc-renaming";
/// How deep tables are nested in tables.
const MAX_DEPTH: usize = 16;

/// A table.
///
/// ```
/// use ferroblosc::bcolz::{CarraySpec, Ctable, Dtype, Mode, Options};
///
/// # fn main() -> ferroblosc::bcolz::Result<()> {
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
    /// Whether some column lies where columns are only read.
    is_published_layout: bool,
    is_writable: bool,
    claim: Option<Claim>,
}

/// Where a column is, and whether it is where columns are written.
pub(super) struct Place {
    pub path: PathBuf,
    pub is_usual: bool,
}

impl Ctable {
    /// Opens the table at `root`.
    ///
    /// # Errors
    /// [`Error::Argument`] in mode [`Mode::Write`]; [`Error::UnequalColumns`]; [`Error`].
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
        let claim = match mode {
            Mode::Read => None,
            _ => {
                let claim = store.claim(root)?;
                finish_renaming(store, root)?;
                Some(claim)
            }
        };
        let mut table = Ctable::open_unchecked(root, mode, options, 0)?;
        table.claim = claim;
        match table.has_equal_columns() {
            true => Ok(table),
            false => Err(Error::UnequalColumns(root.to_owned())),
        }
    }

    /// As [`Ctable::open`], of columns of any lengths and without a claim.
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
            let place = place_of(store, root, &name)?;
            let object = match store.exists(&place.path.join(ROOTDIRS))? {
                true if depth < MAX_DEPTH => {
                    is_published_layout = true;
                    let nested =
                        Ctable::open_unchecked(&place.path, Mode::Read, options, depth + 1)?;
                    Object::Ctable(nested)
                }
                true => {
                    return Err(Error::Description {
                        path: place.path,
                        why: "tables are nested too deeply".to_owned(),
                    });
                }
                false => Object::Carray(Box::new(Carray::open_unclaimed(
                    &place.path,
                    mode,
                    options,
                )?)),
            };
            is_published_layout |= !place.is_usual;
            columns.push((name, object));
        }
        Ok(Ctable {
            attrs: Attrs::read(store, root)?,
            root: root.to_owned(),
            options: options.clone(),
            columns,
            is_published_layout,
            is_writable: mode != Mode::Read,
            claim: None,
        })
    }

    fn has_equal_columns(&self) -> bool {
        let len = self.len();
        let is_right = |object: &Object| match object {
            Object::Carray(array) => array.len() == len,
            Object::Ctable(table) => table.len() == len && table.has_equal_columns(),
        };
        self.columns.iter().all(|(_, object)| is_right(object))
    }

    /// Makes a table without rows at `root`, whose parent must be there. [`Mode::Write`] replaces what is there, if it is
    /// bcolz's.
    ///
    /// # Errors
    /// [`Error::ColumnName`], [`Error::ColumnExists`]; those of [`Carray::create`].
    pub fn create(
        root: &Path,
        columns: &[(&str, CarraySpec)],
        mode: Mode,
        options: &Options,
    ) -> Result<Ctable> {
        let mut described = Vec::new();
        for (i, (name, spec)) in columns.iter().enumerate() {
            names::check_new(name)?;
            if columns[..i].iter().any(|(other, _)| other == name) {
                return Err(Error::ColumnExists((*name).to_owned()));
            }
            described.push((*name, spec.check()?));
        }
        super::make_room(root, mode, options)?;
        let store = &options.store;
        store.make_directory(root)?;
        // A table without columns until they are there.
        write_names(store, root, &[])?;
        attrs::write_none(store, root)?;
        for (name, described) in &described {
            carray::write_new(&root.join(name), described, options)?;
        }
        let names: Vec<&str> = described.iter().map(|(name, _)| *name).collect();
        write_names(store, root, &names)?;
        Ctable::open(root, Mode::Append, options)
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.columns.first().map_or(0, |(_, object)| object.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the columns, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Lets so many threads read and write the chunks of each column.
    pub fn set_threads(&mut self, nthreads: i32) {
        self.options.nthreads = nthreads;
        for (_, object) in &mut self.columns {
            object.set_threads(nthreads);
        }
    }

    /// The attributes of the table.
    pub fn attrs(&self) -> &Attrs {
        &self.attrs
    }

    /// A column: an array, or in the published layout perhaps a table.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]
    pub fn column(&self, name: &str) -> Result<&Object> {
        let found = self.columns.iter().find(|(known, _)| known == name);
        found
            .map(|(_, object)| object)
            .ok_or_else(|| Error::NoSuchColumn(name.to_owned()))
    }

    /// The array with this name; one in a table in the table has the names of both, with a slash between them.
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

    /// The bytes of a column's rows in a range. An array in a table in this one has the names of both, with a slash
    /// between them.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]; those of [`Carray::read`].
    pub fn read(&mut self, column: &str, rows: Range<u64>) -> Result<Vec<u8>> {
        self.array(column)?.read(rows)
    }

    /// Fills `dest` with the bytes of a column's rows from `start` on.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]; those of [`Carray::read_into`].
    pub fn read_into(&mut self, column: &str, start: u64, dest: &mut [u8]) -> Result<()> {
        self.array(column)?.read_into(start, dest)
    }

    /// Writes over a column's rows from `start` on.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]; those of [`Carray::set`].
    pub fn set(&mut self, column: &str, start: u64, rows: &[u8]) -> Result<()> {
        self.begin()?;
        self.array(column)?.set(start, rows)
    }

    /// Appends rows, given column by column in their order, and flushes. A failure leaves the rows there were in all
    /// columns.
    ///
    /// # Errors
    /// [`Error::Argument`] when the columns get different numbers of rows; those of [`Carray::append`].
    pub fn append(&mut self, rows: &[&[u8]]) -> Result<()> {
        self.begin()?;
        if rows.len() != self.columns.len() {
            return Err(Error::Argument(
                "there must be rows for each of the columns",
            ));
        }
        let mut counts = Vec::new();
        for (array, rows) in arrays(&mut self.columns).zip(rows) {
            array.flush()?;
            counts.push(array.rows_in(rows.len())?);
        }
        if counts.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Error::Argument(
                "all cols in `cols` must have the same length",
            ));
        }
        let len = self.len();
        let mut stage = || {
            for (array, rows) in arrays(&mut self.columns).zip(rows) {
                array.append(rows)?;
            }
            arrays(&mut self.columns).try_for_each(Carray::flush_rest)
        };
        if let Err(error) = stage() {
            // No length has changed on the disk.
            arrays(&mut self.columns).for_each(|array| array.revert(len));
            return Err(error);
        }
        self.flush_lengths(len)
    }

    /// Writes the new lengths; when that fails, all columns get back the one they had.
    fn flush_lengths(&mut self, before: u64) -> Result<()> {
        let mut flushed = 0;
        let result = arrays(&mut self.columns).try_for_each(|array| {
            array.flush_sizes()?;
            flushed += 1;
            Ok(())
        });
        if result.is_err() {
            for (i, array) in arrays(&mut self.columns).enumerate() {
                if i < flushed {
                    // Where this fails too, the table has to be repaired.
                    let _ = array.trim(array.len() - before);
                } else {
                    array.revert(before);
                }
            }
        }
        result
    }

    /// Takes `count` rows away from the end.
    ///
    /// # Errors
    /// Those of [`Carray::trim`]; when one column fails, the table may have to be repaired.
    pub fn trim(&mut self, count: u64) -> Result<()> {
        self.begin()?;
        arrays(&mut self.columns).try_for_each(|array| array.trim(count))
    }

    /// Makes it `len` rows long, by taking rows away or filling new ones with the fill value of each column.
    ///
    /// # Errors
    /// Those of [`Carray::resize`].
    pub fn resize(&mut self, len: u64) -> Result<()> {
        self.begin()?;
        let before = self.len();
        let resized = arrays(&mut self.columns).try_for_each(|array| array.resize(len));
        if resized.is_err() {
            for array in arrays(&mut self.columns) {
                // Where this fails too, the table has to be repaired.
                let _ = array.trim(array.len().saturating_sub(before));
            }
        }
        resized
    }

    /// Writes what is only in memory.
    ///
    /// # Errors
    /// Those of [`Carray::flush`].
    pub fn flush(&mut self) -> Result<()> {
        match self.is_writable {
            true => arrays(&mut self.columns).try_for_each(Carray::flush),
            false => Ok(()),
        }
    }

    /// Flushes and closes.
    ///
    /// # Errors
    /// Those of [`Carray::flush`].
    pub fn close(mut self) -> Result<()> {
        self.flush()
    }

    /// Adds a column in front of column `at`, or behind all. `fill` appends its rows, as many as the table has.
    ///
    /// # Errors
    /// [`Error::ColumnName`], [`Error::ColumnExists`] also for a directory of that name, [`Error::UnequalColumns`];
    /// those of `fill`. There is no new column then.
    pub fn add_column<E: From<Error>>(
        &mut self,
        name: &str,
        spec: &CarraySpec,
        at: Option<usize>,
        fill: impl FnOnce(&mut Carray) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.begin()?;
        names::check_new(name)?;
        let at = at.unwrap_or(self.columns.len());
        if at > self.columns.len() {
            return Err(Error::Argument("there is no such place for a column").into());
        }
        let path = self.root.join(name);
        if self.column(name).is_ok() || self.options.store.exists(&path)? {
            return Err(Error::ColumnExists(name.to_owned()).into());
        }
        let described = spec.check()?;
        match self.fill_column(&path, &described, fill) {
            Ok(array) => {
                self.columns
                    .insert(at, (name.to_owned(), Object::Carray(Box::new(array))));
                let written = self.write_names();
                if written.is_err() {
                    self.columns.remove(at);
                    let _ = self.options.store.remove_tree(&path);
                }
                Ok(written?)
            }
            Err(error) => {
                // What can't be removed is in nobody's way but this name's.
                let _ = self.options.store.remove_tree(&path);
                Err(error)
            }
        }
    }

    fn fill_column<E: From<Error>>(
        &self,
        path: &Path,
        described: &(super::meta::Storage, super::meta::Sizes),
        fill: impl FnOnce(&mut Carray) -> std::result::Result<(), E>,
    ) -> std::result::Result<Carray, E> {
        carray::write_new(path, described, &self.options)?;
        let mut array = Carray::open_unclaimed(path, Mode::Append, &self.options)?;
        fill(&mut array)?;
        array.flush()?;
        match self.columns.is_empty() || array.len() == self.len() {
            true => Ok(array),
            false => Err(Error::UnequalColumns(self.root.clone()).into()),
        }
    }

    /// Takes a column out of the table, and removes its directory unless it is to be kept.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`]; [`Error::Storage`].
    pub fn remove_column(&mut self, name: &str, keep: bool) -> Result<()> {
        self.begin()?;
        let found = self.columns.iter().position(|(known, _)| known == name);
        let at = found.ok_or_else(|| Error::NoSuchColumn(name.to_owned()))?;
        self.flush()?;
        let column = self.columns.remove(at);
        if let Err(error) = self.write_names() {
            self.columns.insert(at, column);
            return Err(error);
        }
        drop(column);
        match keep {
            true => Ok(()),
            false => self.options.store.remove_tree(&self.root.join(name)),
        }
    }

    /// Gives a column another name.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`], [`Error::ColumnName`], [`Error::ColumnExists`]; [`Error::Storage`].
    pub fn rename_column(&mut self, from: &str, to: &str) -> Result<()> {
        self.begin()?;
        names::check_new(to)?;
        let found = self.columns.iter().position(|(known, _)| known == from);
        let at = found.ok_or_else(|| Error::NoSuchColumn(from.to_owned()))?;
        let (old, new) = (self.root.join(from), self.root.join(to));
        let store = self.options.store.clone();
        if store.exists(&new)? {
            return Err(Error::ColumnExists(to.to_owned()));
        }
        self.flush()?;
        // Whoever finds the directory under its new name before the table says so knows by this file.
        let note = self.root.join(RENAMING);
        store.replace_json(
            &note,
            &Value::List(vec![Value::from(from), Value::from(to)]),
        )?;
        let renamed = store.rename(&old, &new).and_then(|()| {
            self.columns[at].0 = to.to_owned();
            self.write_names().inspect_err(|_| {
                let _ = store.rename(&new, &old);
            })
        });
        if renamed.is_err() {
            self.columns[at].0 = from.to_owned();
        }
        store.remove(&note)?;
        renamed?;
        let array = Carray::open_unclaimed(&new, Mode::Append, &self.options)?;
        self.columns[at].1 = Object::Carray(Box::new(array));
        Ok(())
    }

    /// Puts a value under a name among the attributes of the table, on the disk at once.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn set_attr(&mut self, name: &str, value: Value) -> Result<()> {
        self.check_writable()?;
        self.attrs
            .set(&self.options.store, name, Some(value))
            .map(|_| ())
    }

    /// Takes an attribute of the table away; returns whether there was one.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn remove_attr(&mut self, name: &str) -> Result<bool> {
        self.check_writable()?;
        self.attrs.set(&self.options.store, name, None)
    }

    /// Puts a value under a name among the attributes of a column, on the disk at once.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`], [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn set_column_attr(&mut self, column: &str, name: &str, value: Value) -> Result<()> {
        self.check_writable()?;
        self.array(column)?.set_attr(name, value)
    }

    /// Takes an attribute of a column away; returns whether there was one.
    ///
    /// # Errors
    /// [`Error::NoSuchColumn`], [`Error::ReadOnly`]; [`Error::Storage`].
    pub fn remove_column_attr(&mut self, column: &str, name: &str) -> Result<bool> {
        self.check_writable()?;
        self.array(column)?.remove_attr(name)
    }

    fn check_writable(&self) -> Result<()> {
        match self.is_writable {
            true => Ok(()),
            false => Err(Error::ReadOnly),
        }
    }

    fn begin(&mut self) -> Result<()> {
        self.check_writable()?;
        if self.is_published_layout {
            return Err(Error::ReadOnlyLayout(self.root.clone()));
        }
        self.attrs.ensure(&self.options.store)
    }

    fn write_names(&self) -> Result<()> {
        let names: Vec<&str> = self.names().collect();
        write_names(&self.options.store, &self.root, &names)
    }
}

/// The columns that are arrays, which are all where anything is written.
fn arrays(columns: &mut [(String, Object)]) -> impl Iterator<Item = &mut Carray> {
    columns.iter_mut().filter_map(|(_, object)| match object {
        Object::Carray(array) => Some(&mut **array),
        Object::Ctable(_) => None,
    })
}

/// The names of the columns of the table at `root`.
pub(super) fn read_names(store: &Store, root: &Path) -> Result<Vec<String>> {
    let path = root.join(ROOTDIRS);
    let value = store.read_json(&path)?;
    let value = value.ok_or_else(|| Error::NotFound(root.to_owned()))?;
    let wrong = |why: &str| Error::Description {
        path: path.clone(),
        why: why.to_owned(),
    };
    let Some(Value::List(items)) = value.get("names") else {
        return Err(wrong("there are no names of columns"));
    };
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    for item in items {
        let Value::Text(name) = item else {
            return Err(wrong("a column's name is no text"));
        };
        names::check_read(name)?;
        if !seen.insert(name) {
            return Err(wrong("two columns have one name"));
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

/// The column that was getting another name when that was interrupted: the old one and the new one.
fn renaming(store: &Store, root: &Path) -> Result<Option<(String, String)>> {
    Ok(match store.read_note(&root.join(RENAMING), root)? {
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

/// Finishes what was interrupted, for a writer.
pub(super) fn finish_renaming(store: &Store, root: &Path) -> Result<()> {
    let Some((from, to)) = renaming(store, root)? else {
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

/// Where the column of a name is: in the table's directory, or where the published description has it.
pub(super) fn place_of(store: &Store, root: &Path, name: &str) -> Result<Place> {
    let usual = root.join(name);
    let mut place = Place {
        path: usual,
        is_usual: true,
    };
    if !store.exists(&place.path)? {
        let published = root.join(DATA).join(name);
        if store.exists(&published)? {
            place.path = published;
            place.is_usual = false;
        } else if let Some((from, to)) = renaming(store, root)?
            && from == name
        {
            place.path = root.join(to);
        }
    }
    if !store.exists(&place.path)? {
        return Err(Error::NotFound(place.path));
    }
    match store
        .resolve(&place.path)?
        .starts_with(store.resolve(root)?)
    {
        true => Ok(place),
        false => Err(Error::Outside(place.path)),
    }
}
