//! The environment variables that override parameters, read on each call.
//!
//! Invalid values are ignored with a warning (under `BLOSC_TRACE`), with exceptions as in the
//! reference: a level that is not a number means level 0, a negative level is ignored without a
//! warning, and an unknown compressor selects no codec.

use super::params::{CParams, DParams, SplitMode};
use crate::environment::Variables;
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
fn positive(name: &str, variables: Variables, max: i64) -> Option<i64> {
    let value = variables.number(name)?;
    if (1..=max).contains(&value) {
        return Some(value);
    }
    trace_warning!("{name} is {value}, which is out of range: ignored");
    None
}

/// Returns the meaning of a variable's value, which must be one of a few keywords.
fn choice<T: Copy>(name: &str, variables: Variables, choices: &[(&str, T)]) -> Option<T> {
    let text = variables.value_of(name)?;
    let found = choices.iter().find(|(word, _)| text == *word).map(|&(_, value)| value);
    if found.is_none() {
        trace_warning!("{name} has the unknown value {text:?}: ignored");
    }
    found
}

/// Returns the level in `BLOSC_CLEVEL`, at least 0. A level that exceeds `i32` is the highest one,
/// which compression rejects like all above 9.
pub(super) fn clevel(variables: Variables) -> Option<i32> {
    let value = variables.number("BLOSC_CLEVEL")?;
    (value >= 0).then(|| i32::try_from(value).unwrap_or(i32::MAX))
}

/// Returns the filter in `BLOSC_SHUFFLE`.
pub(super) fn shuffle(variables: Variables) -> Option<Shuffle> {
    let words =
        [("NOSHUFFLE", Shuffle::None), ("SHUFFLE", Shuffle::Bytes), ("BITSHUFFLE", Shuffle::Bits)];
    choice("BLOSC_SHUFFLE", variables, &words)
}

/// Returns the value of `BLOSC_DELTA`.
pub(super) fn delta(variables: Variables) -> Option<bool> {
    choice("BLOSC_DELTA", variables, &[("1", true), ("0", false)])
}

/// Returns the item size in `BLOSC_TYPESIZE`, in bytes.
pub(super) fn typesize(variables: Variables) -> Option<i32> {
    positive("BLOSC_TYPESIZE", variables, i64::from(i32::MAX)).map(|value| value as i32)
}

/// Returns the codec in `BLOSC_COMPRESSOR`.
pub(super) fn compressor(variables: Variables) -> Option<Compressor> {
    let name = variables.value_of("BLOSC_COMPRESSOR")?;
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

/// Whether `BLOSC_COMPRESSOR` names a registered codec.
pub(super) fn is_registered_codec(variables: Variables) -> bool {
    matches!(compressor(variables), Some(Compressor::Registered))
}

/// Returns the block size in `BLOSC_BLOCKSIZE`, in bytes.
pub(super) fn blocksize(variables: Variables) -> Option<i32> {
    positive("BLOSC_BLOCKSIZE", variables, i64::from(i32::MAX)).map(|value| value as i32)
}

/// Returns the number of threads in `BLOSC_NTHREADS`.
pub(super) fn nthreads(variables: Variables) -> Option<i16> {
    positive("BLOSC_NTHREADS", variables, i64::from(i16::MAX)).map(|value| value as i16)
}

/// Returns the number of threads in `BLOSC_NTHREADS`, with an error for numbers out of range.
///
/// # Errors
/// [`Error::InvalidParam`]
pub(super) fn nthreads_strict(variables: Variables) -> Result<Option<i16>> {
    match variables.number("BLOSC_NTHREADS") {
        None => Ok(None),
        Some(value) => match i16::try_from(value) {
            Ok(value) if value > 0 => Ok(Some(value)),
            _ => Err(Error::InvalidParam),
        },
    }
}

/// Returns the mode in `BLOSC_SPLITMODE`.
pub(super) fn splitmode(variables: Variables) -> Option<SplitMode> {
    let words = [
        ("ALWAYS", SplitMode::ALWAYS),
        ("NEVER", SplitMode::NEVER),
        ("AUTO", SplitMode::AUTO),
        ("FORWARD_COMPAT", SplitMode::FORWARD_COMPAT),
    ];
    choice("BLOSC_SPLITMODE", variables, &words)
}

/// Whether `BLOSC_NOLOCK` is set, so that calls without context do not wait for one another.
pub fn nolock(variables: Variables) -> bool {
    variables.is_set("BLOSC_NOLOCK")
}

/// Whether `BLOSC_BLOSC1_COMPAT` is set, which selects 16-byte headers.
pub(super) fn blosc1_compat(variables: Variables) -> bool {
    variables.is_set("BLOSC_BLOSC1_COMPAT")
}

impl CParams {
    /// Applies the environment. The C interface calls this for each new context.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] if `BLOSC_COMPRESSOR` names a registered codec.
    pub fn apply_environment(&mut self) -> Result<()> {
        /// A compcode that no codec has.
        const NO_CODEC: i32 = -1;
        let variables = Variables::scan();
        if !variables.is_any_set() {
            return Ok(());
        }
        if let Some(compressor) = compressor(variables) {
            self.compcode = match compressor {
                Compressor::BuiltIn(compcode) => i32::from(compcode),
                Compressor::Registered => return Err(Error::CodecSupport),
                Compressor::Unknown => NO_CODEC,
            };
        }
        if let Some(clevel) = clevel(variables) {
            self.clevel = clevel;
        }
        if let Some(typesize) = typesize(variables) {
            self.typesize = typesize;
        }
        let last = &mut self.filters[SLOTS - 1];
        match shuffle(variables) {
            Some(Shuffle::None) => *last = Slot::default(),
            Some(Shuffle::Bytes) if self.typesize > 1 => last.id = filter::id::SHUFFLE,
            Some(Shuffle::Bits) => last.id = filter::id::BITSHUFFLE,
            _ => {}
        }
        if delta(variables) == Some(true) {
            self.filters[SLOTS - 2].id = filter::id::DELTA;
        }
        if let Some(blocksize) = blocksize(variables) {
            self.blocksize = blocksize;
        }
        if let Some(nthreads) = nthreads(variables) {
            self.nthreads = nthreads;
        }
        if let Some(splitmode) = splitmode(variables) {
            self.splitmode = splitmode;
        }
        Ok(())
    }
}

impl DParams {
    /// Applies the environment. The C interface calls this for each new context.
    pub fn apply_environment(&mut self) {
        if let Some(nthreads) = nthreads(Variables::scan()) {
            self.nthreads = nthreads;
        }
    }
}
