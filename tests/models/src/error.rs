//! The errors of the modelled encoder.

/// An error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Encoding failed.
    Data,
}

/// A result of the modelled encoder.
pub type Result<T> = std::result::Result<T, Error>;
