//! The permitted access to mapped files.

/// Permitted access to a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Writing to the mapping and the file.
    Write,
    /// Writing to the mapping, but not to the file.
    Private,
}
