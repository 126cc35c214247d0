//! Layer 6: bcolz directories, which store arrays and tables in Blosc 1.x chunks.
//!
//! A [`Carray`] is an array that grows in its first dimension. A [`Ctable`] is a directory of
//! carrays of equal length, its columns. Both have attributes. bcolz can read the written
//! directories, and vice versa.
//!
//! ```
//! use ferroblosc_formats::bcolz::{self, Mode, Object, Options};
//!
//! # fn main() -> bcolz::Result<()> {
//! # let root = std::path::Path::new("tests/data/bcolz/ct_mixed");
//! match bcolz::open(root, Mode::Read, &Options::default())? {
//!     Object::Carray(mut array) => println!("{:?}", array.read(0..10)?),
//!     Object::Ctable(table) => println!("{:?}", table.names().collect::<Vec<_>>()),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | file | content |
//! |---|---|
//! | `dtype.rs`, `value.rs` | item types; conversion of JSON values to items |
//! | `meta.rs`, `attrs.rs`, `chunklen.rs` | the description of an array |
//! | `chunkfile.rs`, `packed.rs` | chunk files; chunk files with several chunks |
//! | `carray/` | arrays: reading, and changes that survive interruption |
//! | `ctable.rs`, `names.rs` | tables; valid column names |
//! | `verify.rs`, `repair.rs` | verification and repair of a directory |
//! | `report.rs` | descriptions and findings as JSON |
//! | `store.rs` | atomic file replacement; the writer lock |
//! | `error.rs` | errors |
//!
//! Python objects are returned as pickles and never unpickled; dtypes are parsed and never
//! evaluated. (Source of the format: files written and read by bcolz 1.2, and its published
//! description for older layouts.)

mod attrs;
mod carray;
mod chunkfile;
mod chunklen;
mod ctable;
mod error;
mod meta;
mod names;
mod packed;
mod repair;
mod report;
mod store;
mod value;
mod verify;

use std::path::Path;

pub use attrs::Attrs;
pub use carray::{Carray, CarraySpec};
pub use ctable::Ctable;
pub use error::{Error, Result};
pub use meta::Cparams;
pub use repair::{Repaired, repair};
pub use store::Store;
pub(crate) use value::item_of;
pub use verify::{Fault, Finding, verify};

/// The mode of opening or creating an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Read only.
    Read,
    /// Read and write.
    Append,
    /// Read and write, after removing existing data.
    Write,
}

impl Mode {
    /// Returns the letter that bcolz uses.
    pub fn letter(self) -> char {
        match self {
            Mode::Read => 'r',
            Mode::Append => 'a',
            Mode::Write => 'w',
        }
    }

    /// Returns the mode with this letter.
    ///
    /// # Errors
    /// [`Error::Argument`]
    pub fn from_name(name: &str) -> Result<Mode> {
        match name {
            "r" => Ok(Mode::Read),
            "a" => Ok(Mode::Append),
            "w" => Ok(Mode::Write),
            _ => Err(Error::Argument("mode should be 'r', 'w' or 'a'")),
        }
    }
}

/// Options of bcolz operations.
#[derive(Clone)]
pub struct Options {
    /// The storage of the objects.
    pub store: Store,
    /// Whether a wrong prefix of a chunk file is an error.
    pub strict: bool,
    /// The number of threads for reading and writing.
    pub nthreads: i32,
}

impl Default for Options {
    /// The file system, one thread, not strict.
    fn default() -> Options {
        Options { store: Store::default(), strict: false, nthreads: 1 }
    }
}

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

/// Opens the object at `root`, a table if it has a `__rootdirs__` file, otherwise an array.
///
/// # Errors
/// [`Error`]
pub fn open(root: &Path, mode: Mode, options: &Options) -> Result<Object> {
    if options.store.exists(&root.join(ctable::ROOTDIRS))? {
        Ctable::open(root, mode, options).map(Object::Ctable)
    } else {
        Carray::open(root, mode, options).map(|array| Object::Carray(Box::new(array)))
    }
}

/// Removes the object at `root` with its directory. Symbolic links are removed, not followed.
///
/// # Errors
/// [`Error::NotFound`], [`Error::NotOurs`]; [`Error::Storage`].
pub fn purge(root: &Path, options: &Options) -> Result<()> {
    let store = &options.store;
    match (store.exists(root)?, is_object(root, store)?) {
        (false, _) => Err(Error::NotFound(root.to_owned())),
        (true, false) => Err(Error::NotOurs(root.to_owned())),
        (true, true) => store.remove_tree(root),
    }
}

/// Whether there is an object at `root`, complete or not.
fn is_object(root: &Path, store: &Store) -> Result<bool> {
    let description = root.join(carray::META).join(carray::STORAGE);
    Ok(store.exists(&root.join(ctable::ROOTDIRS))? || store.exists(&description)?)
}

/// Removes an existing object at `root` if the mode allows it.
fn clear_root(root: &Path, mode: Mode, options: &Options) -> Result<()> {
    let store = &options.store;
    if mode == Mode::Read {
        return Err(Error::ReadOnly);
    }
    if !store.exists(root)? {
        return Ok(());
    }
    if mode == Mode::Append {
        let path = root.to_owned();
        return Err(Error::Exists { path, mode });
    }
    if !store.is_directory(root)? {
        return Err(Error::NotOurs(root.to_owned()));
    }
    let is_empty = store.list(root)?.is_some_and(|names| names.is_empty());
    if !is_empty && !is_object(root, store)? {
        return Err(Error::NotOurs(root.to_owned()));
    }
    if !is_empty {
        // Fail if another writer holds the lock.
        drop(store.lock(root)?);
    }
    store.remove_tree(root)
}
