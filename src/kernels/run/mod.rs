//! Run detection: whether all bytes of a stream are equal. Such a stream is stored as its size, and
//! unless the byte is 0, a token.

mod generic;
mod vectors;

use super::compile::at_level;
use super::level::{Level, level};

/// Returns the byte that `stream` repeats, or `None` if bytes differ or the stream is empty.
///
/// Stops soon after the first byte that differs.
///
/// ```
/// use ferroblosc::kernels::run::constant;
/// assert_eq!(constant(&[7; 100]), Some(7));
/// assert_eq!(constant(b"aab"), None);
/// assert_eq!(constant(b""), None);
/// ```
pub fn constant(stream: &[u8]) -> Option<u8> {
    // Rejects most streams that are not runs before the CPU's level is loaded.
    if stream.first() != stream.last() {
        return None;
    }
    // SAFETY: the CPU has the selected level.
    unsafe { constant_by(level(), stream) }
}

/// Runs [`constant`] at a given level.
///
/// # Panics
/// If the CPU lacks the level.
#[doc(hidden)]
pub fn constant_at(level: Level, stream: &[u8]) -> Option<u8> {
    level.assert_available();
    // SAFETY: the level is available, as asserted.
    unsafe { constant_by(level, stream) }
}

/// Runs [`constant`] at a level without checking that the CPU has it.
///
/// # Safety
/// The CPU has the level.
unsafe fn constant_by(level: Level, stream: &[u8]) -> Option<u8> {
    let (&byte, rest) = stream.split_first()?;
    let (from, len) = (rest.as_ptr(), rest.len());
    // SAFETY: the level is available, and `rest` is `len` bytes.
    let is_run = unsafe {
        at_level!(
            level,
            |V| fn(byte: u8, from: *const u8, len: usize) -> bool {
                vectors::is_run_of::<V>(byte, from, len)
            },
            generic: generic::is_run_of(byte, rest),
        )
    };
    is_run.then_some(byte)
}
