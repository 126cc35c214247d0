//! Contexts.

/// The parameters and working memory of compression or decompression. Only one call at a time may
/// use a context: a concurrent call from another thread returns BLOSC2_ERROR_INVALID_PARAM.
pub struct blosc2_context(());
