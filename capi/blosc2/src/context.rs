//! Contexts.

/// Parameters, buffers and state of compressions or decompressions, for one thread at a time.
pub struct blosc2_context {
    _opaque: (),
}
