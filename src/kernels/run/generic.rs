//! Run detection by its definition.

/// Whether all bytes of `stream` are `byte`.
pub(super) fn is_run_of(byte: u8, stream: &[u8]) -> bool {
    stream.iter().all(|&other| other == byte)
}
