//! Columns of texts, whose bytes are in one array, and texts of several rows in one buffer.

use std::ops::Range;

use super::fixed::{Blocks, Fixed, MAX_GAP_SIZE, MAX_RUN_SIZE, runs, span};
use crate::store::error::{Error, Result};
use crate::store::leaf::Leaves;

/// Texts in UTF-8, or byte strings, of consecutive rows in one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Texts {
    /// The offset of the first byte of each row, and the number of bytes of all rows.
    pub offsets: Vec<u64>,
    /// The bytes of all rows. Nulls have no bytes.
    pub bytes: Vec<u8>,
    /// Whether each row is not null; `None` if the rows have no nulls.
    pub valid: Option<Vec<bool>>,
}

impl Texts {
    pub(super) fn with_capacity(rows: usize) -> Result<Texts> {
        let mut offsets = Vec::new();
        offsets.try_reserve_exact(rows.saturating_add(1))?;
        offsets.push(0);
        Ok(Texts { offsets, bytes: Vec::new(), valid: None })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of a row, counted from the first one that was read; `None` for a null, and
    /// for a row that does not exist.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        if self.valid.as_ref().is_some_and(|valid| valid.get(row) == Some(&false)) {
            return None;
        }
        let at = |row: usize| usize::try_from(*self.offsets.get(row)?).ok();
        self.bytes.get(at(row)?..at(row + 1)?)
    }

    /// Returns the bytes of each row; `None` for nulls.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Adds a row; `None` is a null.
    pub(super) fn push(&mut self, text: Option<&[u8]>) -> Result<()> {
        let rows = self.len();
        match text {
            Some(text) => {
                self.bytes.try_reserve(text.len())?;
                self.bytes.extend_from_slice(text);
            }
            None => {
                self.valid.get_or_insert_with(|| vec![true; rows]);
            }
        }
        if let Some(valid) = &mut self.valid {
            valid.try_reserve(1)?;
            valid.push(text.is_some());
        }
        self.offsets.try_reserve(1)?;
        self.offsets.push(self.bytes.len() as u64);
        Ok(())
    }

    /// Replaces rows for which `is_null` returns true by nulls, whose bytes are removed.
    fn remove_nulls(&mut self, is_null: impl Fn(usize, &[u8]) -> bool) -> Result<()> {
        let nulls = self.iter().enumerate().map(|(row, text)| is_null(row, text.unwrap_or(&[])));
        let valid: Vec<bool> = nulls.map(|is_null| !is_null).collect();
        if !valid.contains(&false) {
            return Ok(());
        }
        let (mut start, mut end) = (0, 0);
        for (row, &is_valid) in valid.iter().enumerate() {
            let stop = usize::try_from(self.offsets[row + 1]).map_err(|_| Error::Memory)?;
            if is_valid {
                self.bytes.copy_within(start..stop, end);
                end += stop - start;
            }
            start = stop;
            self.offsets[row + 1] = end as u64;
        }
        self.bytes.truncate(end);
        self.valid = Some(valid);
        Ok(())
    }

    /// Returns the first row whose text is not UTF-8.
    fn invalid_row(&self) -> Option<usize> {
        let is_boundary = |text: &str, &offset: &u64| {
            usize::try_from(offset).is_ok_and(|offset| text.is_char_boundary(offset))
        };
        let whole = std::str::from_utf8(&self.bytes);
        if whole.is_ok_and(|text| self.offsets.iter().all(|offset| is_boundary(text, offset))) {
            return None;
        }
        self.iter().position(|text| text.is_some_and(|text| std::str::from_utf8(text).is_err()))
    }
}

/// Whether a text is a null: by its row, counted from the first one that is read, and its bytes.
pub type IsNull<'f> = dyn Fn(usize, &[u8]) -> bool + 'f;

/// A column of texts: their offsets, and their bytes.
pub struct Utf8 {
    column: String,
    offsets: Fixed,
    bytes: Fixed,
}

impl Utf8 {
    /// Opens the leaves of a column; `key` is the key of its offsets.
    pub fn open(store: &dyn Leaves, column: &str, key: &str) -> Result<Utf8> {
        let offsets = Fixed::open(store, key)?;
        let bytes = Fixed::open(store, &format!("{key}.utf8"))?;
        if offsets.dtype.text() != "<i8" || !offsets.shape.is_empty() {
            let why = "the offsets of the texts are not of type <i8";
            return Err(Error::damaged(&offsets.key, why));
        }
        if bytes.dtype.itemsize() != 1 || !bytes.shape.is_empty() {
            return Err(Error::damaged(&bytes.key, "the bytes of the texts are not bytes"));
        }
        Ok(Utf8 { column: column.to_owned(), offsets, bytes })
    }

    /// Returns the number of texts.
    pub fn rows(&self) -> u64 {
        self.offsets.rows.saturating_sub(1)
    }

    fn row_error(&self, row: u64, why: &str) -> Error {
        Error::Row { column: self.column.clone(), row, why: why.to_owned() }
    }

    /// Returns the offsets of consecutive rows, and the end of the last one.
    fn offsets(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        let first = rows.start;
        let bytes = self.offsets.read_parallel(rows.start..rows.end + 1)?;
        let mut offsets = Vec::new();
        offsets.try_reserve_exact(bytes.len() / 8)?;
        let (items, _) = bytes.as_chunks::<8>();
        // Negative offsets become larger than the bytes of the column.
        offsets.extend(items.iter().map(|&item| u64::from_le_bytes(item)));
        let is_valid = |pair: &[u64]| pair[0] <= pair[1] && pair[1] <= self.bytes.rows;
        match offsets.windows(2).position(|pair| !is_valid(pair)) {
            Some(at) => {
                let why = "its offsets are decreasing, or beyond the bytes of the column";
                Err(self.row_error(first + at as u64, why))
            }
            None => Ok(offsets),
        }
    }

    /// Returns the texts of consecutive rows, which must exist. Calls `charge` with the size of
    /// memory before it is allocated. Several threads decode large ranges.
    pub fn range(
        &self,
        rows: Range<u64>,
        is_null: Option<&IsNull<'_>>,
        charge: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Texts> {
        let first = rows.start;
        charge((rows.end - rows.start).saturating_mul(2 * size_of::<u64>() as u64))?;
        let mut offsets = self.offsets(rows)?;
        let place = offsets.first().copied().unwrap_or(0)..offsets.last().copied().unwrap_or(0);
        charge(place.end - place.start)?;
        let bytes =
            if place.is_empty() { Vec::new() } else { self.bytes.read_parallel(place.clone())? };
        offsets.iter_mut().for_each(|offset| *offset -= place.start);
        let mut texts = Texts { offsets, bytes, valid: None };
        if let Some(is_null) = is_null {
            texts.remove_nulls(is_null)?;
        }
        match texts.invalid_row() {
            Some(at) => Err(self.row_error(first + at as u64, "the text is not UTF-8")),
            None => Ok(texts),
        }
    }

    /// Calls `f` with the text of each of the rows, which are ascending and must exist; with `None`
    /// for nulls, for which `is_valid` returns false. Calls `charge` with the size of each text
    /// before it is read.
    pub fn each(
        &self,
        rows: &[u64],
        is_valid: &dyn Fn(usize) -> bool,
        charge: &mut dyn FnMut(u64) -> Result<()>,
        f: &mut dyn FnMut(Option<&str>) -> Result<()>,
    ) -> Result<()> {
        let blocks = Blocks::of(&self.bytes.array);
        let mut done = 0;
        for run in runs(rows, self.offsets.row_size, Blocks::of(&self.offsets.array)) {
            // Each row needs the offset after it as well.
            let Range { start: first, end } = span(run);
            let ends = self.offsets.read(first..end + 1)?;
            let offset = |row: u64| -> Option<u64> {
                let at = usize::try_from(row - first).ok()? * 8;
                let offset = i64::from_le_bytes(ends.get(at..at + 8)?.try_into().ok()?);
                u64::try_from(offset).ok()
            };
            let mut ranges = Vec::new();
            ranges.try_reserve_exact(run.len())?;
            for &row in run {
                let range = match (offset(row), offset(row + 1)) {
                    (Some(start), Some(end)) if start <= end && end <= self.bytes.rows => {
                        start..end
                    }
                    _ => {
                        let why = "its offsets are decreasing, or beyond the bytes of the column";
                        return Err(self.row_error(row, why));
                    }
                };
                // Nulls have no text.
                let is_read = is_valid(done);
                done += 1;
                if is_read {
                    charge(range.end - range.start)?;
                }
                ranges.push((row, is_read.then_some(range)));
            }
            let mut rest = &ranges[..];
            while !rest.is_empty() {
                let (count, place) = adjacent(rest, blocks);
                let content =
                    if place.is_empty() { Vec::new() } else { self.bytes.read(place.clone())? };
                let (near, later) = rest.split_at(count);
                for (row, range) in near {
                    let Some(range) = range else {
                        f(None)?;
                        continue;
                    };
                    let text = if range.is_empty() {
                        &[][..]
                    } else {
                        let at = |end: u64| usize::try_from(end - place.start).ok();
                        let range = at(range.start).zip(at(range.end));
                        let text = range.and_then(|(start, end)| content.get(start..end));
                        text.ok_or(Error::Memory)?
                    };
                    let text = std::str::from_utf8(text)
                        .map_err(|_| self.row_error(*row, "the text is not UTF-8"))?;
                    f(Some(text))?;
                }
                rest = later;
            }
        }
        Ok(())
    }
}

/// Returns the number of texts at the start of `texts`, which is not empty, that are read at once,
/// and their bytes from the first to the last one.
fn adjacent(texts: &[(u64, Option<Range<u64>>)], blocks: Blocks) -> (usize, Range<u64>) {
    let mut place = 0..0;
    for (at, (_, range)) in texts.iter().enumerate() {
        let Some(range) = range.as_ref().filter(|range| !range.is_empty()) else {
            continue;
        };
        if place.is_empty() {
            place = range.clone();
            continue;
        }
        let gap = range.start.checked_sub(place.end);
        let is_near = gap
            .is_some_and(|gap| gap <= MAX_GAP_SIZE || blocks.is_same(place.end - 1, range.start));
        if !is_near || range.end - place.start > MAX_RUN_SIZE {
            return (at, place);
        }
        place.end = range.end;
    }
    (texts.len(), place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_together_if_they_are_ascending() {
        let texts = |ranges: &[(u64, u64)]| {
            let ranges = ranges.iter().map(|&(start, end)| (7, Some(start..end)));
            ranges.collect::<Vec<_>>()
        };
        let blocks = Blocks { chunk: 3 << 20, block: 3 << 20 };
        assert_eq!(
            adjacent(&texts(&[(0, 5), (1 << 20, 2 << 20), (4 << 20, 5 << 20)]), blocks).0,
            2
        );
        let blocks = Blocks { chunk: 1, block: 1 };
        let adjacent = |texts: &[_]| adjacent(texts, blocks);
        assert_eq!(adjacent(&texts(&[(0, 5), (5, 5), (5, 9), (20, 30)])), (4, 0..30));
        assert_eq!(adjacent(&texts(&[(5, 9), (0, 5)])), (1, 5..9));
        assert_eq!(adjacent(&texts(&[(0, 5), (1 << 20, 2 << 20)])), (1, 0..5));
        assert_eq!(adjacent(&texts(&[(0, 9 << 20), (9 << 20, 18 << 20)])), (1, 0..9 << 20));
        assert_eq!(adjacent(&[(0, None), (1, Some(3..4)), (2, None)]), (3, 3..4));
        assert_eq!(adjacent(&[(0, None)]), (1, 0..0));
    }

    #[test]
    fn nulls_have_no_bytes_and_are_not_checked() {
        let texts = |offsets: &[u64], bytes: &[u8]| Texts {
            offsets: offsets.to_vec(),
            bytes: bytes.to_vec(),
            valid: None,
        };
        let mut found = texts(&[0, 1, 3, 3, 5], b"a\xff\xffbc");
        assert_eq!(found.invalid_row(), Some(1));
        found.remove_nulls(|row, _| row == 1).unwrap();
        assert_eq!(found.invalid_row(), None);
        let rows: Vec<Option<&[u8]>> = found.iter().collect();
        assert_eq!(rows, [Some(&b"a"[..]), None, Some(b""), Some(b"bc")]);
        assert_eq!((found.len(), found.get(4)), (4, None));

        // The two bytes of a character belong to two rows.
        assert_eq!(texts(&[0, 1, 2], "é".as_bytes()).invalid_row(), Some(0));
        let mut found = texts(&[0, 1, 1], b"-");
        found.remove_nulls(|_, text| text == b"-").unwrap();
        assert_eq!((found.bytes.len(), found.get(0), found.get(1)), (0, None, Some(&b""[..])));
    }

    #[test]
    fn rows_are_added() {
        let mut texts = Texts::with_capacity(2).unwrap();
        assert!(texts.is_empty());
        texts.push(Some(b"ab")).unwrap();
        assert_eq!(texts.valid, None);
        texts.push(None).unwrap();
        texts.push(Some(b"")).unwrap();
        assert_eq!((&texts.offsets[..], &texts.bytes[..]), (&[0, 2, 2, 2][..], &b"ab"[..]));
        assert_eq!(texts.valid.as_deref(), Some(&[true, false, true][..]));
    }
}
