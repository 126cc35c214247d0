//! The environment variables of Blosc 1.x, read at each call.
//!
//! Numbers are parsed like `atoi`: characters after the number are ignored, and a text without a
//! number is 0. Zero and negative numbers are ignored where they are invalid.

use super::error::{Error, Result};
use super::warn::warn;
use crate::chunk::SplitMode;
use crate::environment::Variables;

fn saturated(value: i64) -> i32 {
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

fn positive(name: &str, variables: Variables) -> Option<i64> {
    variables.number(name).filter(|&value| value > 0)
}

/// Returns the level of `BLOSC_CLEVEL`, at least 0.
pub(super) fn clevel(variables: Variables) -> Option<i32> {
    variables.number("BLOSC_CLEVEL").map(saturated).filter(|&level| level >= 0)
}

/// Returns the filter of `BLOSC_SHUFFLE`, as the number that calls pass.
pub(super) fn shuffle(variables: Variables) -> Option<i32> {
    match variables.value_of("BLOSC_SHUFFLE")?.as_encoded_bytes() {
        b"NOSHUFFLE" => Some(0),
        b"SHUFFLE" => Some(1),
        b"BITSHUFFLE" => Some(2),
        _ => None,
    }
}

pub(super) fn typesize(variables: Variables) -> Option<usize> {
    positive("BLOSC_TYPESIZE", variables).map(|value| value as usize)
}

/// Returns the codec name in `BLOSC_COMPRESSOR`, which may be unknown.
pub(super) fn compressor(variables: Variables) -> Option<std::ffi::OsString> {
    variables.value_of("BLOSC_COMPRESSOR")
}

pub(super) fn blocksize(variables: Variables) -> Option<usize> {
    positive("BLOSC_BLOCKSIZE", variables).map(|value| value as usize)
}

pub(super) fn nthreads(variables: Variables) -> Option<i32> {
    positive("BLOSC_NTHREADS", variables).map(saturated)
}

/// Returns the mode of `BLOSC_SPLITMODE`.
///
/// # Errors
/// [`Error::Failure`] for an unknown mode.
pub(super) fn splitmode(variables: Variables) -> Result<Option<SplitMode>> {
    let Some(name) = variables.value_of("BLOSC_SPLITMODE") else {
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
    Variables::scan().is_set("BLOSC_NOLOCK")
}
