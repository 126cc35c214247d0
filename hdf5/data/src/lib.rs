//! Reads and writes HDF5 files with the libhdf5 that is installed, which is loaded at run time.
//!
//! All functions are safe. libhdf5 may be built without threads, so a lock serialises its calls.
//! The filters 32001 and 32026 are registered in the process: no plugin path is needed.

mod api;
mod attribute;
mod chunks;
mod create;
mod dataset;
mod error;
mod file;
mod handle;
mod scales;
mod shape;
mod stack;
mod types;

pub use api::VARIABLE;
pub use attribute::Attribute;
pub use chunks::ChunkStarts;
pub use create::{NewDataset, Spec};
pub use dataset::{Dataset, Filter, StoredChunk};
pub use error::{Error, Result};
pub use file::{File, Group, Node};
pub use scales::Dimension;
pub use types::{Field, ItemType, Scalar};

/// Returns the version of libhdf5.
///
/// # Errors
/// [`Error::Missing`] if it is not installed, [`Error::Unsupported`] for another version.
pub fn version() -> Result<(u32, u32, u32)> {
    Ok(api::api()?.version)
}
