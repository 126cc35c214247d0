//! The versions of Zarr.

/// The version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Version {
    /// Version 2, which all readers support.
    V2,
    /// Version 3.
    V3,
}
