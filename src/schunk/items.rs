//! Typed access to the items of super-chunks.

use super::schunk::SChunk;
use crate::item::{self, BytesMut, bytes_of, check_len};
use crate::{AxisRange, Error, Item, Result};

/// Returns the start and the exclusive stop of a range of items, which must exist.
fn bounds(schunk: &SChunk, range: impl Into<AxisRange>) -> Result<(i64, i64)> {
    let nitems = schunk.nbytes() / i64::from(schunk.typesize()).max(1);
    let range = range.into();
    range.within(nitems).ok_or_else(|| {
        Error::InvalidParam.because(format!("{range:#} is outside the {nitems} items"))
    })
}

/// Returns the number of items in a range.
fn count(start: i64, stop: i64) -> Result<usize> {
    usize::try_from(stop - start).map_err(|_| Error::InvalidParam)
}

impl SChunk {
    /// Checks that items can be accessed as `T`.
    pub(super) fn check_item<T: Item>(&self) -> Result<()> {
        item::check::<T>(usize::try_from(self.typesize()).unwrap_or(0), None)
    }

    /// Compresses `items` into one chunk, appends it and returns the new number of chunks.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    ///
    /// let params = CParams::default().typesize(2);
    /// let mut samples = SChunk::create(Storage::memory(), params, DParams::default())?;
    /// samples.append_items(&[1i16, 2, 3])?;
    /// samples.append_items(&[4i16, 5, 6])?;
    /// assert_eq!(samples.get::<i16>(2..4)?, [3, 4]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the item size;
    /// - the errors of [`SChunk::append`].
    pub fn append_items<T: Item>(&mut self, items: &[T]) -> Result<i64> {
        self.check_item::<T>()?;
        self.append(bytes_of(items))
    }

    /// Returns the items of a range, or the item at an index, in a new vector. [`AxisRange`] lists
    /// the types of ranges. Super-chunks record no dtype, so only the size of `T` is checked.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the item size, and if the items do not all
    ///   exist;
    /// - the errors of [`SChunk::get_slice`].
    pub fn get<T: Item>(&self, range: impl Into<AxisRange>) -> Result<Vec<T>> {
        self.check_item::<T>()?;
        let (start, stop) = bounds(self, range)?;
        let mut items = item::zeroed(count(start, stop)?)?;
        self.get_slice(start, stop, &mut BytesMut::new(&mut items))?;
        Ok(items)
    }

    /// Reads the items of a range into `dest`, which must have the length of the range.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `dest` has another length;
    /// - the errors of [`SChunk::get`], after which some items of `dest` may have changed.
    pub fn get_into<T: Item>(&self, range: impl Into<AxisRange>, dest: &mut [T]) -> Result<()> {
        self.check_item::<T>()?;
        let (start, stop) = bounds(self, range)?;
        check_len(dest.len(), Some(count(start, stop)?), "items")?;
        self.get_slice(start, stop, &mut BytesMut::new(dest))
    }

    /// Overwrites the existing items of a range with `items`, which must have its length. Each
    /// touched chunk is compressed once.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `T` does not have the item size, if the items do not all exist,
    ///   and if `items` has another length;
    /// - the errors of [`SChunk::set_slice`].
    pub fn set<T: Item>(&mut self, range: impl Into<AxisRange>, items: &[T]) -> Result<()> {
        self.check_item::<T>()?;
        let (start, stop) = bounds(self, range)?;
        check_len(items.len(), Some(count(start, stop)?), "items")?;
        self.set_slice(start, stop, bytes_of(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{CParams, DParams};
    use crate::schunk::Storage;

    fn hundred() -> SChunk {
        let params = CParams::default().typesize(4);
        let mut schunk = SChunk::create(Storage::memory(), params, DParams::default()).unwrap();
        let items: Vec<i32> = (0..100).collect();
        for chunk in items.chunks(40) {
            schunk.append_items(chunk).unwrap();
        }
        schunk
    }

    #[test]
    fn items_are_read_and_written() {
        let mut schunk = hundred();
        assert_eq!(schunk.get::<i32>(38..=41).unwrap(), [38, 39, 40, 41]);
        assert_eq!(schunk.get::<i32>(..).unwrap(), (0..100).collect::<Vec<i32>>());
        assert_eq!(schunk.get::<i32>(98..).unwrap(), [98, 99]);
        assert!(schunk.get::<i32>(100..).unwrap().is_empty());
        schunk.set(39..41, &[-1, -2]).unwrap();
        let mut four = [0; 4];
        schunk.get_into(38..42, &mut four).unwrap();
        assert_eq!(four, [38, -1, -2, 41]);
    }

    #[test]
    fn errors_name_the_range_and_the_sizes() {
        let mut schunk = hundred();
        let text = schunk.get::<i32>(98..101).unwrap_err().to_string();
        assert_eq!(text, "the range 98..101 is outside the 100 items");
        assert_eq!(schunk.get::<i32>(-1..3), Err(Error::InvalidParam));
        assert_eq!(schunk.get::<i32>(..=i64::MAX), Err(Error::InvalidParam));
        let text = schunk.set(0..3, &[0i32; 2]).unwrap_err().to_string();
        assert_eq!(text, "the buffer has 2 items, but 3 are needed");
        assert_eq!(schunk.get_into(0..3, &mut [0i32; 4]), Err(Error::InvalidParam));
        let text = schunk.append_items(&[0i64]).unwrap_err().to_string();
        let expected = "the stored items have 4 bytes, but i64 has the dtype <i8 and 8 bytes";
        assert_eq!(text, crate::item::native(expected));
        assert_eq!(schunk.get::<u8>(..), Err(Error::InvalidParam));
        assert_eq!(schunk.set(..1, &[0u8]), Err(Error::InvalidParam));
        assert_eq!(schunk.nchunks(), 3);
    }
}
