//! Floor 6: the directories of bcolz, which keep arrays and tables of chunks of Blosc 1.x.
//!
//! A [`Carray`] is an array that grows in its first dimension; a [`Ctable`] is a directory of carrays of the same
//! length, its columns. Both have attributes. What bcolz wrote is read, and what is written here is read by bcolz.
//!
//! ```
//! use ferroblosc::bcolz::{self, Mode, Object, Options};
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
//! | file | what |
//! |---|---|
//! | `dtype.rs`, `value.rs` | types of items; values in descriptions as items |
//! | `meta.rs`, `attrs.rs`, `chunklen.rs` | what describes an array |
//! | `chunkfile.rs`, `packed.rs` | the files of chunks; those with several |
//! | `carray/` | arrays: reading, and changes that can be interrupted |
//! | `ctable.rs`, `names.rs` | tables, and what columns can be called |
//! | `verify.rs`, `repair.rs` | what is wrong with a directory, and what can be mended |
//! | `report.rs` | what is known and what was found, as JSON |
//! | `store.rs` | files, whole or not at all; the lock of a writer |
//! | `error.rs` | why something fails |
//!
//! Objects of Python's are counted and never unpickled; dtypes are parsed and never evaluated. (Source of the format:
//! what bcolz 1.2 writes and reads, and its published description for what it reads no more.)

mod attrs;
mod carray;
mod chunkfile;
mod chunklen;
mod ctable;
mod dtype;
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
pub use dtype::{Dtype, Field, Kind};
pub use error::{Error, Result};
pub use meta::Cparams;
pub use repair::{Repaired, repair};
pub use store::Store;
pub(crate) use value::item_of;
pub use verify::{Fault, Finding, verify};

/// How an object is opened or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To be read; nothing on the disk changes.
    Read,
    /// To be read and written.
    Append,
    /// To be written anew: what was there is gone.
    Write,
}

impl Mode {
    /// The letter that Python's users know.
    pub fn letter(self) -> char {
        match self {
            Mode::Read => 'r',
            Mode::Append => 'a',
            Mode::Write => 'w',
        }
    }

    /// The mode with this name.
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

/// How objects are worked with.
#[derive(Clone)]
pub struct Options {
    /// Where they are.
    pub store: Store,
    /// Whether chunk files that begin with the wrong bytes are an error.
    pub strict: bool,
    /// Threads that read and write.
    pub nthreads: i32,
}

impl Default for Options {
    /// The file system, one thread; what can be read is.
    fn default() -> Options {
        Options {
            store: Store::default(),
            strict: false,
            nthreads: 1,
        }
    }
}

/// What a directory holds.
pub enum Object {
    /// An array.
    Carray(Box<Carray>),
    /// A table.
    Ctable(Ctable),
}

impl Object {
    /// How many rows there are.
    pub fn len(&self) -> u64 {
        match self {
            Object::Carray(array) => array.len(),
            Object::Ctable(table) => table.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets so many threads read and write chunks.
    pub fn set_threads(&mut self, nthreads: i32) {
        match self {
            Object::Carray(array) => array.set_threads(nthreads),
            Object::Ctable(table) => table.set_threads(nthreads),
        }
    }

    /// The attributes.
    pub fn attrs(&self) -> &Attrs {
        match self {
            Object::Carray(array) => array.attrs(),
            Object::Ctable(table) => table.attrs(),
        }
    }
}

/// Opens what is at `root`: a table if it says so, else an array.
///
/// # Errors
/// [`Error`]
pub fn open(root: &Path, mode: Mode, options: &Options) -> Result<Object> {
    match options.store.exists(&root.join(ctable::ROOTDIRS))? {
        true => Ctable::open(root, mode, options).map(Object::Ctable),
        false => Carray::open(root, mode, options).map(|array| Object::Carray(Box::new(array))),
    }
}

/// Removes the object at `root` with all that is in its directory. Links are removed, and what they lead to stays.
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

/// Makes room at `root` for something new, as the mode allows.
fn make_room(root: &Path, mode: Mode, options: &Options) -> Result<()> {
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
    let is_empty = store.list(root)?.is_some_and(|names| names.is_empty());
    if !is_empty && !is_object(root, store)? {
        return Err(Error::NotOurs(root.to_owned()));
    }
    if !is_empty {
        // Nobody may be writing to what goes.
        drop(store.claim(root)?);
    }
    store.remove_tree(root)
}
