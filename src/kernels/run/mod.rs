//! Runs: is a stream one byte over and over? Such streams are stored as that byte.

mod generic;
mod vectors;

use super::compile::at_level;
use super::level::{Level, level};

/// The byte that all of `stream` consists of, if there is one. An empty stream has none.
///
/// Stops at about the first byte that differs.
///
/// ```
/// use ferroblosc::kernels::run::constant;
/// assert_eq!(constant(&[7; 100]), Some(7));
/// assert_eq!(constant(b"aab"), None);
/// assert_eq!(constant(b""), None);
/// ```
pub fn constant(stream: &[u8]) -> Option<u8> {
    // Most streams that are no run end here, without a look at the CPU.
    if stream.first() != stream.last() {
        return None;
    }
    // SAFETY: the CPU has the level that is chosen for it.
    unsafe { constant_by(level(), stream) }
}

/// [`constant`] at a level of choice.
///
/// # Panics
/// If the CPU lacks the level.
#[doc(hidden)]
pub fn constant_at(level: Level, stream: &[u8]) -> Option<u8> {
    level.assert_available();
    // SAFETY: it has just been found to be available.
    unsafe { constant_by(level, stream) }
}

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
