//! The form in which new rows of a column are written.

use crate::numpy::Dtype;
use crate::store::error::{Error, Result};
use crate::store::value::Value;

/// The checked rows of a column in their stored form.
pub enum Staged {
    /// Items of a fixed size, and which rows are not null if the column has a mask.
    Fixed { bytes: Vec<u8>, valid: Option<Vec<bool>> },
    /// Values of another size, and which rows are not null if the column has a mask. Texts of
    /// dictionaries do not have their codes yet.
    Values { values: Vec<Value>, valid: Option<Vec<bool>> },
}

impl Staged {
    /// Returns the number of rows.
    pub fn len(&self, form: Option<&Form>) -> usize {
        match (self, form) {
            (Staged::Fixed { bytes, .. }, Some(form)) => bytes.len() / form.row_size.max(1),
            (Staged::Fixed { .. }, None) => 0,
            (Staged::Values { values, .. }, _) => values.len(),
        }
    }

    /// Returns rows that are never read: those of a table without live rows.
    pub fn fillers(rows: usize, form: Option<&Form>) -> Staged {
        match form {
            Some(form) => Staged::Fixed { bytes: vec![0; rows * form.row_size], valid: None },
            None => Staged::Values { values: vec![Value::Nil; rows], valid: None },
        }
    }

    /// Returns the rows with these numbers, which exist.
    pub fn picked(&self, rows: impl Iterator<Item = usize>, form: Option<&Form>) -> Staged {
        let rows: Vec<usize> = rows.collect();
        let pick = |valid: &Option<Vec<bool>>| {
            valid.as_ref().map(|valid| rows.iter().map(|&row| valid[row]).collect())
        };
        match self {
            Staged::Fixed { bytes, valid } => {
                let size = form.map_or(1, |form| form.row_size);
                let items = rows.iter().flat_map(|&row| &bytes[row * size..][..size]);
                Staged::Fixed { bytes: items.copied().collect(), valid: pick(valid) }
            }
            Staged::Values { values, valid } => {
                let items = rows.iter().map(|&row| values[row].clone());
                Staged::Values { values: items.collect(), valid: pick(valid) }
            }
        }
    }

    /// Replaces a row of values by row `at` of other ones; returns whether the row exists.
    pub fn replace(&mut self, row: usize, other: &Staged, at: usize) -> bool {
        let (Staged::Values { values, valid }, Staged::Values { values: new, valid: marks }) =
            (self, other)
        else {
            return false;
        };
        let Some(old) = values.get_mut(row) else {
            return false;
        };
        *old = new[at].clone();
        if let (Some(valid), Some(marks)) = (valid, marks) {
            valid[row] = marks[at];
        }
        true
    }
}

/// The form of the items of a column with values of a fixed size.
#[derive(Clone, Debug)]
pub struct Form {
    pub dtype: Dtype,
    /// The extents of the array in each row, in items.
    pub shape: Vec<u64>,
    /// The size of a row, in bytes.
    pub row_size: usize,
}

impl Form {
    pub fn new(dtype: Dtype, shape: Vec<u64>) -> Result<Form> {
        let size =
            shape.iter().try_fold(dtype.itemsize(), |size, &extent| size.checked_mul(extent));
        let row_size = size.filter(|&size| size <= i32::MAX.unsigned_abs().into());
        let row_size = row_size.ok_or_else(|| Error::Limit {
            what: "the size of a row".to_owned(),
            limit: i32::MAX.unsigned_abs().into(),
        })?;
        Ok(Form { dtype, shape, row_size: usize::try_from(row_size).map_err(|_| Error::Memory)? })
    }
}
