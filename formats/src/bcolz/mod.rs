//! Bcolz directories, which store arrays and tables in Blosc 1.x chunks.
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
//! Python objects are returned as pickles and never unpickled; dtypes are parsed and never
//! evaluated. (Source of the format: files written and read by bcolz 1.2, and its published
//! description for older layouts.)

// | file | content |
// |---|---|
// | `dtype.rs`, `value.rs` | item types; conversion of JSON values to items |
// | `meta.rs`, `attrs.rs`, `chunklen.rs` | the description of an array |
// | `chunkfile.rs`, `packed.rs` | chunk files; chunk files with several chunks |
// | `carray/` | arrays: reading, and changes that survive interruption |
// | `ctable.rs`, `names.rs` | tables; valid column names |
// | `verify.rs`, `repair.rs` | verification and repair of a directory |
// | `report.rs` | descriptions and findings as JSON |
// | `root.rs` | the files in the directory of an object |
// | `mode.rs`, `options.rs` | modes and options of operations |
// | `owner.rs` | the process that changes an object |
// | `store.rs` | atomic file replacement; the writer lock |
// | `error.rs` | errors |

mod attrs;
mod carray;
mod chunkfile;
mod chunklen;
mod ctable;
mod error;
mod meta;
mod mode;
mod names;
mod options;
mod owner;
mod packed;
mod repair;
mod report;
mod root;
mod store;
mod value;
mod verify;

use std::path::Path;

pub use attrs::Attrs;
pub use carray::{Carray, CarraySpec};
pub use ctable::{Ctable, Object};
pub use error::{Error, Result};
pub use meta::Compression;
pub use mode::Mode;
pub use options::Options;
pub use repair::{Repaired, repair};
pub(crate) use root::{DATA, META, is_carray, is_chunk_file, is_ctable, is_file_of_object};
pub use store::Store;
pub(crate) use value::item_of;
pub use verify::{Fault, Finding, verify};

use root::{ROOTDIRS, is_object, is_remainder, remove_object};

/// Opens the object at `root`, a table if it has a `__rootdirs__` file, otherwise an array.
///
/// # Errors
/// [`Error`]
pub fn open(root: &Path, mode: Mode, options: &Options) -> Result<Object> {
    if options.store.exists(&root.join(ROOTDIRS))? {
        Ctable::open(root, mode, options).map(Object::Ctable)
    } else {
        Carray::open(root, mode, options).map(|array| Object::Carray(Box::new(array)))
    }
}

/// Removes the object at `root` with its directory. Symbolic links are removed, not followed.
///
/// # Errors
/// [`Error::NotFound`], [`Error::NotOurs`]; [`Error::Busy`] if it has a writer; [`Error::Storage`].
pub fn purge(root: &Path, options: &Options) -> Result<()> {
    let store = &options.store;
    if !store.exists(root)? {
        return Err(Error::NotFound(root.to_owned()));
    }
    if !is_object(root, store)? && !is_remainder(root, store)? {
        return Err(Error::NotOurs(root.to_owned()));
    }
    remove_object(root, store)
}
