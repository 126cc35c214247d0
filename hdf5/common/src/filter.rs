//! The interface of a filter, and its failures.

use crate::threads::Threads;
use ferroblosc::codec::{self, CodecInfo};
use ferroblosc::{Buffer, blosc1};
use std::ffi::{CStr, c_int};
use std::fmt;

/// An HDF5 filter. The values are the unsigned numbers (`cd_values`) stored with it in a file.
pub trait Filter {
    /// The registered number.
    const ID: c_int;
    /// The name stored in files.
    const NAME: &'static CStr;

    /// Completes the user's values for a dataset. The result is stored in the file.
    ///
    /// # Errors
    /// Fails if a value is out of range, or the filter does not support the dataset.
    fn complete(values: &mut Values, dataset: &Dataset) -> Result<(), Failure>;

    /// Compresses a dataset chunk. Returns `None` if that does not reduce the size, unless the
    /// filter always stores the chunk. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// Fails if a value is out of range, or there is not enough memory.
    fn compress(values: &[u32], data: &[u8], threads: Threads) -> Result<Option<Buffer>, Failure>;

    /// Returns the chunk uncompressed in the filter's format, which all readers support.
    ///
    /// # Errors
    /// Fails if the chunk is too large, or there is not enough memory.
    fn store(data: &[u8]) -> Result<Buffer, Failure>;

    /// Decompresses a chunk. Neither the values nor the bytes are trusted.
    ///
    /// # Errors
    /// Fails if the bytes are not in the filter's format.
    fn decompress(values: &[u32], stored: &[u8], threads: Threads) -> Result<Buffer, Failure>;
}

/// The properties of a new dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// The size of an item in bytes; for an array type, that of its base type.
    pub typesize: u32,
    /// The size of a chunk in bytes.
    pub chunksize: u32,
    /// The shape of a chunk in items.
    pub chunkshape: Vec<u32>,
    /// Whether HDF5 fails to write a chunk if the filter fails.
    pub is_mandatory: bool,
}

/// A value that the user chooses.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The index of the value.
    pub slot: usize,
    /// The name in errors.
    pub name: &'static str,
    /// The default.
    pub default: u32,
    /// The allowed values.
    pub allowed: Allowed,
}

/// The values that a [`Choice`] allows.
#[derive(Clone, Copy, Debug)]
pub enum Allowed {
    /// These values, and their description.
    Values(&'static [u32], &'static str),
    /// The numbers of the codecs of Blosc2.
    Codecs,
    /// The numbers of the codecs of Blosc 1.x.
    Blosc1Codecs,
}

impl Allowed {
    fn codecs(self) -> impl Iterator<Item = &'static CodecInfo> {
        codec::all().filter(move |codec| {
            codec.is_built_in() && (!codec.is_blosc1_only || matches!(self, Allowed::Blosc1Codecs))
        })
    }

    fn contains(self, value: u32) -> bool {
        match self {
            Allowed::Values(values, _) => values.contains(&value),
            Allowed::Codecs | Allowed::Blosc1Codecs => {
                self.codecs().any(|codec| u32::from(codec.id) == value)
            }
        }
    }

    /// Returns a description, such as `0 (BloscLZ), 1 (LZ4) or 4 (Zlib)`.
    fn description(self) -> String {
        if let Allowed::Values(_, description) = self {
            return description.to_owned();
        }
        let codecs = self.codecs();
        let names: Vec<String> =
            codecs.map(|codec| format!("{} ({})", codec.id, codec.title)).collect();
        match names.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            names => names.concat(),
        }
    }
}

impl Choice {
    /// Returns the chosen value.
    ///
    /// # Errors
    /// Fails if it is not allowed.
    pub fn read(&self, values: &[u32]) -> Result<u32, Failure> {
        let value = values.get(self.slot).copied().unwrap_or(self.default);
        if self.allowed.contains(value) { Ok(value) } else { Err(self.refuse(value)) }
    }

    /// Returns the failure for a value out of range.
    pub fn refuse(&self, value: u32) -> Failure {
        let Choice { slot, name, .. } = self;
        let allowed = self.allowed.description();
        Failure(format!("parameter {slot}, {name}, is {value}, but must be {allowed}"))
    }
}

/// The values of a filter, at most [`Values::MAX`].
#[derive(Clone, Copy, Debug)]
pub struct Values {
    numbers: [u32; Values::MAX],
    len: usize,
}

impl Values {
    /// The maximum number of values; filters use at most 24.
    pub const MAX: usize = 32;

    /// Copies the values. Those after [`Values::MAX`] are ignored.
    pub fn new(given: &[u32]) -> Values {
        let len = given.len().min(Values::MAX);
        let mut numbers = [0; Values::MAX];
        numbers[..len].copy_from_slice(&given[..len]);
        Values { numbers, len }
    }

    /// Returns the values.
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..self.len]
    }

    /// Changes the number of values. New ones are zero.
    ///
    /// # Panics
    /// If `len` exceeds [`Values::MAX`].
    pub fn resize(&mut self, len: usize) {
        assert!(len <= Values::MAX, "no filter has {len} values");
        self.numbers[len.min(self.len)..].fill(0);
        self.len = len;
    }

    /// Sets the value of a slot, growing the list if necessary.
    ///
    /// # Panics
    /// If `slot` is not less than [`Values::MAX`].
    pub fn set(&mut self, slot: usize, value: u32) {
        if slot >= self.len {
            self.resize(slot + 1);
        }
        self.numbers[slot] = value;
    }
}

/// The reason why a callback failed, as a message. HDF5 has no error codes for such failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl Failure {
    /// Returns a failure with this message.
    pub fn new(reason: impl fmt::Display) -> Failure {
        Failure(reason.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ferroblosc::Error> for Failure {
    fn from(error: ferroblosc::Error) -> Failure {
        Failure::new(error)
    }
}

impl From<blosc1::Error> for Failure {
    fn from(error: blosc1::Error) -> Failure {
        Failure::new(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_grow_with_zeros_and_are_truncated() {
        let mut values = Values::new(&[7, 8, 9]);
        values.set(4, 5);
        assert_eq!(values.as_slice(), [7, 8, 9, 0, 5]);
        values.resize(2);
        values.resize(4);
        assert_eq!(values.as_slice(), [7, 8, 0, 0]);
        assert_eq!(Values::new(&[1; 100]).as_slice(), [1; Values::MAX]);
    }
}
