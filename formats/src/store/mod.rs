//! Layer 6: stores of python-blosc2, read only: `.b2z`, `.b2d` and `.b2e`, and the objects in them.
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
//! | layer | file | content |
//! |---|---|---|
//! | containers | `zip/`, `container.rs` | files in zip files and directories |
//! | frames | `frame.rs` | opening a frame that must not reach beyond its place |
//! | keys | `keys.rs`, `embed.rs`, `tree.rs` | names to keys; embed stores; groups and objects |
//! | leaves | `class.rs`, `leaf.rs`, `attrs.rs` | the class and the attributes of a frame |
//! | objects | `objects.rs`, `table/` | arrays of objects; tables |
//! | stores | `open.rs` | opening, and access to the leaves |
//! | values | `value.rs` | MessagePack |
//! | reports | `report.rs`, `verify.rs` | findings; verification |
//! | limits | `limits.rs`, `error.rs` | limits for untrusted stores; errors |
//!
//! Stores are untrusted: nothing in them is executed, resolved or fetched. Lazy expressions,
//! user-defined functions, proxies and references are listed under their names, and reading their
//! values fails with [`Error::NotData`].

mod attrs;
mod class;
mod container;
mod embed;
mod error;
mod frame;
mod keys;
mod leaf;
mod limits;
mod objects;
mod open;
mod report;
mod table;
mod tree;
mod value;
mod verify;
pub(crate) mod zip;

pub use attrs::Attrs;
pub use class::Class;
pub use error::{Error, Result};
pub use leaf::{Leaf, array_values};
pub use limits::Options;
pub use objects::Objects;
pub use open::{ContainerKind, Store, StoreKind, is_store};
pub use report::{Finding, Severity};
pub use table::{Column, ColumnKind, Computed, Items, Schema, Table};
pub use tree::Node;
pub use value::{ArrayValue, ObjectsValue, Value};
#[cfg(feature = "zarr")]
pub(crate) use value::{base64, from_base64};
