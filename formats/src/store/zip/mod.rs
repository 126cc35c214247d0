//! Zip files: the directory at the end of the file, and the members in place.
//!
//! ```text
//! [prefix] (local header | name | extra | data)… directory [zip64 record, locator] end [comment]
//! ```
//!
//! Own code instead of a crate: the common crates keep one of several members of the same name,
//! hide the offsets of stored data or do not compare local headers with the directory, and
//! verification needs all three. Members are stored or deflated; written ones are stored.

mod archive;
mod directory;
mod end;
mod format;
mod inflate;
mod salvage;
mod writer;

pub use archive::{Archive, lost_text};
pub use directory::Member;
pub use writer::{Header, ZipWriter};
