//! Chunks of the models have no dictionary.

/// A dictionary.
pub(crate) struct Dictionary(());

impl Dictionary {
    /// Returns no bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &[]
    }
}
