//! What a filter is to this crate, and why it fails.

use ferroblosc::{Buffer, blosc1};
use std::ffi::{CStr, c_int};
use std::fmt;

/// A filter of HDF5. The values are the unsigned numbers (`cd_values`) that a file keeps with it.
pub trait Filter {
    /// Its registered number.
    const ID: c_int;
    /// The name that goes into files.
    const NAME: &'static CStr;

    /// Completes what the user gave for a dataset; the result goes into the file.
    ///
    /// # Errors
    /// When a value that the user chose is out of range, or the filter can't work on such a dataset.
    fn complete(values: &mut Values, dataset: &Dataset) -> Result<(), Failure>;

    /// Compresses a chunk of a dataset. Returns `None` for data that would not get smaller, unless the
    /// filter stores them in any case.
    ///
    /// # Errors
    /// When a value is out of range, or there is no memory.
    fn compress(values: &[u32], data: &[u8]) -> Result<Option<Buffer>, Failure>;

    /// Returns the chunk in the filter's format without compressing it. Every reader of the format reads
    /// it.
    ///
    /// # Errors
    /// When the chunk is too large, or there is no memory.
    fn store(data: &[u8]) -> Result<Buffer, Failure>;

    /// Undoes [`Filter::compress`]. Neither the values nor the bytes can be trusted.
    ///
    /// # Errors
    /// When the bytes are not what the filter makes.
    fn decompress(values: &[u32], stored: &[u8]) -> Result<Buffer, Failure>;
}

/// What a filter can know of a dataset that is being made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Bytes of an item; of an item that is an array, those of what it is made of.
    pub typesize: u32,
    /// Bytes of a chunk.
    pub chunksize: u32,
    /// Items of a chunk along each dimension.
    pub chunkshape: Vec<u32>,
    /// Whether HDF5 fails to write a chunk when the filter fails.
    pub is_mandatory: bool,
}

/// A value that the user of a filter chooses.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Its index among the values.
    pub slot: usize,
    /// Its name in errors.
    pub name: &'static str,
    /// The value that stands for a missing one.
    pub default: u32,
    /// The values that can be chosen.
    pub allowed: &'static [u32],
    /// These values in words.
    pub range: &'static str,
}

impl Choice {
    /// Returns the chosen value.
    ///
    /// # Errors
    /// When it can't be chosen.
    pub fn read(&self, values: &[u32]) -> Result<u32, Failure> {
        let value = values.get(self.slot).copied().unwrap_or(self.default);
        if self.allowed.contains(&value) {
            Ok(value)
        } else {
            Err(self.refuse(value))
        }
    }

    /// Returns the failure for a value out of range.
    pub fn refuse(&self, value: u32) -> Failure {
        let Choice {
            slot, name, range, ..
        } = self;
        Failure(format!(
            "parameter {slot}, {name}, is {value}, but must be {range}"
        ))
    }
}

/// The values of a filter, as many as can be of use.
#[derive(Clone, Copy, Debug)]
pub struct Values {
    numbers: [u32; Values::MAX],
    len: usize,
}

impl Values {
    /// The most values that are kept; the longest list of a filter has 24.
    pub const MAX: usize = 32;

    /// These values; those behind [`Values::MAX`] are left out.
    pub fn new(given: &[u32]) -> Values {
        let len = given.len().min(Values::MAX);
        let mut numbers = [0; Values::MAX];
        numbers[..len].copy_from_slice(&given[..len]);
        Values { numbers, len }
    }

    /// The values.
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..self.len]
    }

    /// Makes them so many, cutting or adding zeros.
    ///
    /// # Panics
    /// For more than [`Values::MAX`].
    pub fn resize(&mut self, len: usize) {
        assert!(len <= Values::MAX, "no filter has {len} values");
        self.numbers[len.min(self.len)..].fill(0);
        self.len = len;
    }

    /// Sets the value of a slot; the list is made long enough.
    ///
    /// # Panics
    /// For a slot behind [`Values::MAX`].
    pub fn set(&mut self, slot: usize, value: u32) {
        if slot >= self.len {
            self.resize(slot + 1);
        }
        self.numbers[slot] = value;
    }
}

/// Why a callback failed, in words for people: HDF5 knows no codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl Failure {
    /// A failure for this reason.
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
    fn values_grow_with_zeros_and_are_cut() {
        let mut values = Values::new(&[7, 8, 9]);
        values.set(4, 5);
        assert_eq!(values.as_slice(), [7, 8, 9, 0, 5]);
        values.resize(2);
        values.resize(4);
        assert_eq!(values.as_slice(), [7, 8, 0, 0]);
        assert_eq!(Values::new(&[1; 100]).as_slice(), [1; Values::MAX]);
    }
}
