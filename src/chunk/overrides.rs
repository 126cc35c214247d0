//! The environment variables that override parameters, read on each call.
//!
//! Invalid values are ignored with a warning (under `BLOSC_TRACE`), with exceptions as in the
//! reference: a level that is not a number means level 0, a negative level is ignored without a
//! warning, and an unknown compressor selects no codec.

use super::params::{CParams, DParams, SplitMode};
use crate::environment::{has_no_variables, is_set, number, variable};
use crate::filter::{self, SLOTS, Slot};
use crate::{Error, Result, codec, trace_warning};

/// The filter of the last slot, in the calls without context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// No filter.
    None,
    /// Byte shuffle, for items longer than a byte.
    Bytes,
    /// Bit shuffle.
    Bits,
    /// Any other number.
    Unknown,
}

impl Shuffle {
    /// Returns the filter with this number in the C interface.
    pub fn from_number(number: i32) -> Shuffle {
        match number {
            0 => Shuffle::None,
            1 => Shuffle::Bytes,
            2 => Shuffle::Bits,
            _ => Shuffle::Unknown,
        }
    }
}

/// The value of `BLOSC_COMPRESSOR`.
pub(super) enum Compressor {
    /// A built-in codec.
    BuiltIn(u8),
    /// A registered codec, which variables cannot select.
    Registered,
    /// No codec.
    Unknown,
}

/// Returns the number in a variable if it is in `1..=max`.
fn positive(name: &str, max: i64) -> Option<i64> {
    let value = number(name)?;
    if (1..=max).contains(&value) {
        return Some(value);
    }
    trace_warning!("{name} is {value}, which is out of range: ignored");
    None
}

/// Returns the meaning of a variable's value, which must be one of a few keywords.
fn choice<T: Copy>(name: &str, choices: &[(&str, T)]) -> Option<T> {
    let text = variable(name)?;
    let found = choices.iter().find(|(word, _)| text == *word).map(|&(_, value)| value);
    if found.is_none() {
        trace_warning!("{name} has the unknown value {text:?}: ignored");
    }
    found
}

/// Returns the level in `BLOSC_CLEVEL`, at least 0.
pub(super) fn clevel() -> Option<i32> {
    let value = number("BLOSC_CLEVEL")?;
    i32::try_from(value).ok().filter(|&level| level >= 0)
}

/// Returns the filter in `BLOSC_SHUFFLE`.
pub(super) fn shuffle() -> Option<Shuffle> {
    let words =
        [("NOSHUFFLE", Shuffle::None), ("SHUFFLE", Shuffle::Bytes), ("BITSHUFFLE", Shuffle::Bits)];
    choice("BLOSC_SHUFFLE", &words)
}

/// Returns the value of `BLOSC_DELTA`.
pub(super) fn delta() -> Option<bool> {
    choice("BLOSC_DELTA", &[("1", true), ("0", false)])
}

/// Returns the item size in `BLOSC_TYPESIZE`, in bytes.
pub(super) fn typesize() -> Option<i32> {
    positive("BLOSC_TYPESIZE", i64::from(i32::MAX)).map(|value| value as i32)
}

/// Returns the codec in `BLOSC_COMPRESSOR`.
pub(super) fn compressor() -> Option<Compressor> {
    let name = variable("BLOSC_COMPRESSOR")?;
    Some(match codec::compname_to_compcode(name.as_encoded_bytes()) {
        Some(compcode) if codec::is_built_in(compcode) => Compressor::BuiltIn(compcode),
        Some(_) => {
            trace_warning!("BLOSC_COMPRESSOR cannot choose the registered codec {name:?}");
            Compressor::Registered
        }
        None => {
            trace_warning!("BLOSC_COMPRESSOR is set to the unknown codec {name:?}");
            Compressor::Unknown
        }
    })
}

/// Returns the block size in `BLOSC_BLOCKSIZE`, in bytes.
pub(super) fn blocksize() -> Option<i32> {
    positive("BLOSC_BLOCKSIZE", i64::from(i32::MAX)).map(|value| value as i32)
}

/// Returns the number of threads in `BLOSC_NTHREADS`.
pub(super) fn nthreads() -> Option<i16> {
    positive("BLOSC_NTHREADS", i64::from(i16::MAX)).map(|value| value as i16)
}

/// Returns the number of threads in `BLOSC_NTHREADS`, with an error for numbers out of range.
///
/// # Errors
/// [`Error::InvalidParam`]
pub(super) fn nthreads_strict() -> Result<Option<i16>> {
    match number("BLOSC_NTHREADS") {
        None => Ok(None),
        Some(value) => match i16::try_from(value) {
            Ok(value) if value > 0 => Ok(Some(value)),
            _ => Err(Error::InvalidParam),
        },
    }
}

/// Returns the mode in `BLOSC_SPLITMODE`.
pub(super) fn splitmode() -> Option<SplitMode> {
    let words = [
        ("ALWAYS", SplitMode::ALWAYS),
        ("NEVER", SplitMode::NEVER),
        ("AUTO", SplitMode::AUTO),
        ("FORWARD_COMPAT", SplitMode::FORWARD_COMPAT),
    ];
    choice("BLOSC_SPLITMODE", &words)
}

/// Whether `BLOSC_NOLOCK` is set, so that calls without context do not wait for one another.
pub fn nolock() -> bool {
    is_set("BLOSC_NOLOCK")
}

/// Whether `BLOSC_BLOSC1_COMPAT` is set, which selects 16-byte headers.
pub(super) fn blosc1_compat() -> bool {
    is_set("BLOSC_BLOSC1_COMPAT")
}

impl CParams {
    /// Applies the environment. The C interface calls this for each new context.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] if `BLOSC_COMPRESSOR` names a registered codec.
    pub fn apply_environment(&mut self) -> Result<()> {
        /// A compcode that no codec has.
        const NO_CODEC: i32 = -1;
        if has_no_variables() {
            return Ok(());
        }
        if let Some(compressor) = compressor() {
            self.compcode = match compressor {
                Compressor::BuiltIn(compcode) => i32::from(compcode),
                Compressor::Registered => return Err(Error::CodecSupport),
                Compressor::Unknown => NO_CODEC,
            };
        }
        if let Some(clevel) = clevel() {
            self.clevel = clevel;
        }
        if let Some(typesize) = typesize() {
            self.typesize = typesize;
        }
        let last = &mut self.filters[SLOTS - 1];
        match shuffle() {
            Some(Shuffle::None) => *last = Slot::default(),
            Some(Shuffle::Bytes) if self.typesize > 1 => last.id = filter::id::SHUFFLE,
            Some(Shuffle::Bits) => last.id = filter::id::BITSHUFFLE,
            _ => {}
        }
        if delta() == Some(true) {
            self.filters[SLOTS - 2].id = filter::id::DELTA;
        }
        if let Some(blocksize) = blocksize() {
            self.blocksize = blocksize;
        }
        if let Some(nthreads) = nthreads() {
            self.nthreads = nthreads;
        }
        if let Some(splitmode) = splitmode() {
            self.splitmode = splitmode;
        }
        Ok(())
    }
}

impl DParams {
    /// Applies the environment. The C interface calls this for each new context.
    pub fn apply_environment(&mut self) {
        if let Some(nthreads) = nthreads() {
            self.nthreads = nthreads;
        }
    }
}
