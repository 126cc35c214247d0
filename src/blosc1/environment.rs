//! The environment variables of Blosc 1.x, read at each call.
//!
//! Numbers are parsed like `atoi`: characters after the number are ignored, and a text without a
//! number is 0. Zero and negative numbers are ignored where they are invalid.

use super::error::{Error, Result};
use super::warn::warn;
use crate::chunk::SplitMode;
use crate::environment::{number, variable};

fn saturated(value: i64) -> i32 {
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

fn positive(name: &str) -> Option<i64> {
    number(name).filter(|&value| value > 0)
}

/// Returns the level of `BLOSC_CLEVEL`, at least 0.
pub(super) fn clevel() -> Option<i32> {
    number("BLOSC_CLEVEL").map(saturated).filter(|&level| level >= 0)
}

/// Returns the filter of `BLOSC_SHUFFLE`, as the number that calls pass.
pub(super) fn shuffle() -> Option<i32> {
    match variable("BLOSC_SHUFFLE")?.as_encoded_bytes() {
        b"NOSHUFFLE" => Some(0),
        b"SHUFFLE" => Some(1),
        b"BITSHUFFLE" => Some(2),
        _ => None,
    }
}

pub(super) fn typesize() -> Option<usize> {
    positive("BLOSC_TYPESIZE").map(|value| value as usize)
}

/// Returns the codec name in `BLOSC_COMPRESSOR`, which may be unknown.
pub(super) fn compressor() -> Option<std::ffi::OsString> {
    variable("BLOSC_COMPRESSOR")
}

pub(super) fn blocksize() -> Option<usize> {
    positive("BLOSC_BLOCKSIZE").map(|value| value as usize)
}

pub(super) fn nthreads() -> Option<i32> {
    positive("BLOSC_NTHREADS").map(saturated)
}

/// Returns the mode of `BLOSC_SPLITMODE`.
///
/// # Errors
/// [`Error::Failure`] for an unknown mode.
pub(super) fn splitmode() -> Result<Option<SplitMode>> {
    let Some(name) = variable("BLOSC_SPLITMODE") else {
        return Ok(None);
    };
    match name.as_encoded_bytes() {
        b"FORWARD_COMPAT" => Ok(Some(SplitMode::FORWARD_COMPAT)),
        b"AUTO" => Ok(Some(SplitMode::AUTO)),
        b"ALWAYS" => Ok(Some(SplitMode::ALWAYS)),
        b"NEVER" => Ok(Some(SplitMode::NEVER)),
        _ => {
            warn(format_args!("BLOSC_SPLITMODE has the unknown value {name:?}"));
            Err(Error::Failure)
        }
    }
}

/// Whether `BLOSC_NOLOCK` is set, even to an empty value: calls then run concurrently.
pub fn nolock() -> bool {
    variable("BLOSC_NOLOCK").is_some()
}
