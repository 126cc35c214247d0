//! Stores of python-blosc2: `.b2z`, `.b2d` and `.b2e`, and the objects in them.
//!
//! A [`Store`] is a zip file, a directory or a frame that contains frames, its *leaves*. Each leaf
//! has a key, an absolute path such as `/group/leaf`. The leaves are arrays, super-chunks, arrays
//! of Python objects ([`Objects`]), embed stores, or the parts of tables ([`Table`]). Groups,
//! arrays and tables have attributes ([`Attrs`]).
//!
//! ```
//! use ferroblosc_formats::store::{Class, Store};
//!
//! # fn main() -> ferroblosc_formats::store::Result<()> {
//! # let path = std::path::Path::new("tests/data/stores/t_nested.b2z");
//! let store = Store::open(path)?;
//! for node in store.walk("/")? {
//!     println!("{} is a {}", node.key, node.class.name());
//!     if node.class == Class::NdArray {
//!         let array = store.array(&node.key)?;
//!         println!("{:?} {:?}", array.shape(), array.dtype());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A [`StoreWriter`] creates or changes a store:
//!
//! ```
//! use ferroblosc::b2nd::{Array, Layout};
//! use ferroblosc::chunk::CParams;
//! use ferroblosc::schunk::Storage;
//! use ferroblosc_formats::store::{NewLeaf, Store, Value};
//!
//! let layout = Layout { shape: &[10], chunkshape: &[10], blockshape: &[10] };
//! let params = CParams::default().typesize(1);
//! let array = Array::from_item_bytes(Storage::frame(), params, &layout, "|u1", &[7; 10])?;
//! let path = std::env::temp_dir().join(format!("made-{}.b2z", std::process::id()));
//! let mut writer = Store::create(&path)?;
//! writer.put("/group/array", NewLeaf::array(&array)?)?;
//! writer.set_attr("/group", "unit", &Value::Str("m".to_owned()))?;
//! writer.commit()?;
//! assert_eq!(Store::open(&path)?.array("/group/array")?.items()?, [7; 10]);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Stores are untrusted: nothing in them is executed, resolved or fetched. Lazy expressions,
//! user-defined functions, proxies and references are listed under their names, and reading their
//! values fails with [`Error::NotData`].

// | layer | file | content |
// |---|---|---|
// | containers | `zip/`, `container.rs` | files in zip files and directories |
// | contents | `content.rs`, `staging.rs` | stored bytes; new and replaced files |
// | frames | `frame.rs`, `held.rs` | opening a frame that must not exceed its range; open files |
// | states | `file_states.rs` | changes of files by other programs |
// | keys | `keys.rs`, `embed.rs`, `tree.rs` | names to keys; embed stores; groups and objects |
// | leaves | `class.rs`, `leaf.rs`, `attrs.rs` | the class and the attributes of a frame |
// | objects | `objects.rs`, `objects_writer.rs`, `table/` | arrays of objects; tables |
// | stores | `open.rs`, `location.rs` | opening, and access to the leaves |
// | writing | `new_leaf.rs`, `writer.rs`, `writer_attrs.rs`, `writer_copy.rs`, `commit.rs` | new and changed stores |
// | copies | `convert.rs`, `repair.rs` | other containers; sound copies of damaged stores |
// | values | `value.rs`, `encode.rs` | MessagePack |
// | reports | `report.rs`, `verify.rs` | findings; verification |
// | limits | `limits.rs`, `error.rs` | limits for untrusted stores; errors |

mod attrs;
mod class;
mod commit;
mod container;
mod content;
mod convert;
mod embed;
mod encode;
mod error;
mod file_states;
mod frame;
mod held;
mod keys;
mod leaf;
mod limits;
mod location;
mod new_leaf;
mod objects;
mod objects_writer;
mod open;
mod repair;
mod report;
mod staging;
mod table;
mod tree;
mod value;
mod verify;
mod writer;
mod writer_attrs;
mod writer_copy;
pub(crate) mod zip;

pub use attrs::Attrs;
pub use class::Class;
pub use convert::Converted;
pub use error::{Error, Result};
pub use leaf::{Leaf, array_values};
pub use limits::Options;
pub use location::Location;
pub use new_leaf::NewLeaf;
pub use objects::Objects;
pub use objects_writer::ObjectsWriter;
pub use open::{ContainerKind, Store, StoreKind, is_store};
pub use repair::Repaired;
pub use report::{Finding, Severity};
pub use table::{
    Cells, Column, ColumnKind, ColumnSpec, Comparison, Computed, Filter, Items, Matches,
    QueryOptions, Schema, Table, TableChange, TableWriter, Texts,
};
pub use tree::Node;
pub use value::{ArrayValue, ObjectsValue, Value};
#[cfg(feature = "zarr")]
pub(crate) use value::{base64, from_base64};
pub use writer::{StoreWriter, WriteOptions};

#[cfg(test)]
mod tests;
