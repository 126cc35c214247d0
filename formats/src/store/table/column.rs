//! Reading the values of a column.

use std::ops::Range;

use ferroblosc::b2nd::Array;

use super::compare::{self, Number, compare_items};
use super::filter::Comparison;
use super::fixed::{Blocks, Fixed, leaf, runs, span};
use super::schema::{Column, ColumnKind, Nulls};
use super::staged::Staged;
use super::summary::Summary;
use super::texts::{IsNull, Texts, Utf8};
use crate::numpy::{Dtype, Kind, half_of, half_to};
use crate::store::error::{Error, Result};
use crate::store::leaf::Leaves;
use crate::store::limits::Budget;
use crate::store::objects::Objects;
use crate::store::value::{self, Value};

/// The number of rows whose nulls are found at once.
const STEP: usize = 1 << 12;
/// The number of consecutive rows whose mask is read at once.
const MASK_STEP: u64 = 1 << 20;
/// The memory of a value without its content, in bytes.
const VALUE_SIZE: u64 = size_of::<Value>() as u64;

/// Values of a fixed size.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Items {
    /// The type of the items.
    pub dtype: Dtype,
    /// The extents of the array in each row, in items; empty for a single item.
    pub shape: Vec<u64>,
    /// The items of all rows in C order. Values of nulls have no meaning.
    pub bytes: Vec<u8>,
    /// Whether each row is not null; `None` if the column has no nulls.
    pub valid: Option<Vec<bool>>,
}

/// A comparison with a constant.
pub struct Test<'c> {
    pub comparison: Comparison,
    pub constant: &'c Value,
}

/// The open leaves of a column.
pub struct Reader {
    column: Column,
    key: String,
    values: Values,
    mask: Option<Box<Array>>,
    /// The stored value of nulls.
    sentinel: Option<Value>,
    notes: Vec<String>,
    faults: Vec<String>,
}

enum Values {
    /// Values of a fixed size.
    Fixed(Fixed),
    /// Texts.
    Utf8(Box<Utf8>),
    /// Values of variable length.
    Objects(Box<Objects>),
    /// Codes, and the values they represent.
    Dictionary { codes: Fixed, values: Vec<Value>, sizes: Vec<u64>, null_code: i64 },
}

impl Reader {
    /// Opens the leaves of a column; `key` is the key of its values.
    pub fn open(store: &dyn Leaves, column: &Column, key: &str) -> Result<Reader> {
        let objects = |key: &str| Objects::open(leaf(store, key)?, store.options());
        if let Some(why) = &column.fault {
            return Err(Error::Column { name: column.name.clone(), why: why.clone() });
        }
        let values = match &column.kind {
            ColumnKind::Unknown(name) => {
                let why = format!("columns of kind {name:?} are not supported");
                return Err(Error::Column { name: column.name.clone(), why });
            }
            ColumnKind::Utf8 => Values::Utf8(Box::new(Utf8::open(store, &column.name, key)?)),
            kind if kind.has_objects() => Values::Objects(Box::new(objects(key)?)),
            ColumnKind::Dictionary { null_code } => {
                let codes = Fixed::open(store, key)?;
                if codes.dtype.kind() != Kind::Int || !codes.shape.is_empty() {
                    return Err(Error::damaged(
                        key,
                        "the codes of the dictionary are not integers",
                    ));
                }
                let dictionary = objects(&format!("{key}_dict"))?;
                dictionary.check_total()?;
                let values = dictionary.items(0..dictionary.len()?)?;
                let sizes = values.iter().map(Value::memory).collect();
                Values::Dictionary { codes, values, sizes, null_code: *null_code }
            }
            ColumnKind::Array(extents) => {
                let fixed = Fixed::open(store, key)?;
                let is_equal = fixed.shape.len() == extents.len()
                    && fixed
                        .shape
                        .iter()
                        .zip(extents)
                        .all(|(&one, &other)| u64::try_from(one) == Ok(other));
                if !is_equal {
                    let why = "the shape of the items differs from the schema";
                    return Err(Error::damaged(key, why));
                }
                Values::Fixed(fixed)
            }
            _ => {
                let fixed = Fixed::open(store, key)?;
                if !fixed.shape.is_empty() {
                    return Err(Error::damaged(key, "the column has more than one dimension"));
                }
                Values::Fixed(fixed)
            }
        };
        let mut reader = Reader {
            column: column.clone(),
            key: key.to_owned(),
            values,
            mask: None,
            sentinel: None,
            notes: Vec::new(),
            faults: Vec::new(),
        };
        if let Nulls::Sentinel(sentinel) = &column.nulls {
            reader.sentinel = Some(match &reader.values {
                Values::Fixed(fixed) => as_stored(sentinel, &fixed.dtype),
                _ => sentinel.clone(),
            });
        }
        if let (Values::Fixed(fixed), Some(expected)) = (&reader.values, expected_dtype(column)) {
            let is_bool = (column.kind == ColumnKind::Bool || reader.is_widened())
                && fixed.dtype.text() == "|u1";
            if fixed.dtype.text() != expected && !is_bool {
                let found = fixed.dtype.text();
                reader.faults.push(format!(
                    "the dtype is {found:?}, not {expected:?} as the schema requires; the values \
                     are read as {found:?}"
                ));
            }
        }
        if matches!(column.nulls, Nulls::Mask) {
            reader.open_mask(store)?;
        }
        Ok(reader)
    }

    /// Opens the mask of values that are not null. Without the leaf there are no nulls.
    fn open_mask(&mut self, store: &dyn Leaves) -> Result<()> {
        let key = format!("{}.notnull", self.key);
        let array = match store.leaf(&key) {
            Ok(leaf) => leaf.into_array()?,
            Err(Error::NoSuchKey(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if array.shape().len() != 1 || array.schunk().typesize() != 1 {
            return Err(Error::damaged(&key, "it is not a mask with one dimension"));
        }
        if array.dtype() != Some("|b1") {
            self.notes.push("the mask of nulls is not of type |b1; 0 is null".to_owned());
        }
        let (len, rows) = (array.shape()[0].max(0).unsigned_abs(), self.rows()?);
        if len < rows {
            self.notes.push("the mask of nulls is short; other values are not null".to_owned());
        }
        // python-blosc2 does not compact masks.
        if len > rows {
            let why = "the mask of nulls is longer than the column: after a compaction, nulls may \
                       belong to other rows";
            self.notes.push(why.to_owned());
        }
        self.mask = Some(Box::new(array));
        Ok(())
    }

    /// Returns the values that the codes of a dictionary represent; `None` for other columns.
    #[cfg(feature = "arrow")]
    pub fn dictionary(&self) -> Option<&[Value]> {
        match &self.values {
            Values::Dictionary { values, .. } => Some(values),
            _ => None,
        }
    }

    /// Returns the number of stored values.
    pub fn rows(&self) -> Result<u64> {
        match &self.values {
            Values::Fixed(fixed) | Values::Dictionary { codes: fixed, .. } => Ok(fixed.rows),
            Values::Utf8(texts) => Ok(texts.rows()),
            Values::Objects(objects) => objects.len(),
        }
    }

    /// Returns differences from the schema that do not prevent reading.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns contradictions to the schema: values are read, but may be wrong.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Returns the reason if the number of stored values contradicts the number of stored rows.
    /// Values of variable length and codes may be more, and values of rows that a writer did not
    /// finish are errors of their rows.
    pub fn length_fault(&self, stored: u64) -> Option<String> {
        match &self.values {
            Values::Fixed(fixed) if fixed.rows != stored => Some(format!(
                "column {:?} has {} values for {stored} stored rows",
                self.column.name, fixed.rows
            )),
            _ => None,
        }
    }

    /// Returns a note if there are more values of variable length than stored rows.
    pub fn surplus(&self, stored: u64) -> Option<String> {
        let rows = match &self.values {
            Values::Utf8(_) | Values::Objects(_) => self.rows().ok()?,
            Values::Fixed(_) | Values::Dictionary { .. } => return None,
        };
        (rows > stored).then(|| {
            format!(
                "there are {rows} values for {stored} stored rows: after a deletion, values may \
                 belong to other rows"
            )
        })
    }

    fn row_error(&self, row: u64, why: impl Into<String>) -> Error {
        Error::Row { column: self.column.name.clone(), row, why: why.into() }
    }

    fn check_rows(&self, rows: &[u64]) -> Result<()> {
        let Some(&last) = rows.last() else {
            return Ok(());
        };
        // The items of later batches are not counted.
        let exists = match &self.values {
            Values::Objects(objects) => objects.has(last)?,
            _ => last < self.rows()?,
        };
        if exists {
            return Ok(());
        }
        let len = self.rows()?;
        Err(self.missing_value(rows[rows.partition_point(|&row| row < len)])?)
    }

    /// Returns the error of a stored row whose value is missing.
    pub fn missing_value(&self, row: u64) -> Result<Error> {
        let len = self.rows()?;
        Ok(self.row_error(row, format!("the value is missing: there are {len} values")))
    }

    fn charge(&self, budget: &mut Budget, size: Option<u64>) -> Result<()> {
        budget.charge(size, || format!("column {:?}: the rows are too large", self.column.name))
    }

    /// Returns the bytes of rows of a fixed size. `rows` are stored rows, ascending.
    pub fn items(&self, rows: &[u64], budget: &mut Budget) -> Result<Items> {
        let (Values::Fixed(fixed) | Values::Dictionary { codes: fixed, .. }) = &self.values else {
            let why = "its values have no fixed size".to_owned();
            return Err(Error::Column { name: self.column.name.clone(), why });
        };
        self.check_rows(rows)?;
        self.charge(budget, fixed.row_size.checked_mul(rows.len() as u64))?;
        let bytes = fixed.gather(rows)?;
        let valid = match (&self.column.nulls, &self.values) {
            (Nulls::Mask, _) => self.validity(rows)?,
            (Nulls::None, Values::Fixed(_)) => None,
            _ => {
                let mut valid = Vec::new();
                valid.try_reserve_exact(rows.len())?;
                for rows in rows.chunks(STEP) {
                    let values = self.values(rows, &mut budget.clone())?;
                    valid.extend(values.iter().map(|value| *value != Value::Nil));
                }
                Some(valid)
            }
        };
        let shape = fixed.shape.iter().map(|extent| extent.unsigned_abs()).collect();
        Ok(Items { dtype: fixed.dtype.clone(), shape, bytes, valid })
    }

    /// Returns the bytes of consecutive stored rows of a fixed size; `None` for other columns, and
    /// for those whose null value is not a number. Several threads decode large ranges.
    pub fn items_in(&self, rows: Range<u64>, budget: &mut Budget) -> Result<Option<Items>> {
        let Values::Fixed(fixed) = &self.values else {
            return Ok(None);
        };
        if rows.is_empty() {
            return Ok(None);
        }
        let not_null = match &self.sentinel {
            None => None,
            Some(sentinel) if fixed.shape.is_empty() => match Number::of(sentinel) {
                Some(null) => Some(not_equal(null)),
                None => return Ok(None),
            },
            Some(_) => return Ok(None),
        };
        self.check_rows(&[rows.start, rows.end - 1])?;
        self.charge(budget, fixed.row_size.checked_mul(rows.end - rows.start))?;
        let valid = self.validity_in(rows.clone(), budget)?;
        let bytes = fixed.read_parallel(rows)?;
        let valid = match not_null {
            None => valid,
            Some(test) => {
                let mut valid = Vec::new();
                let count = bytes.len() as u64 / fixed.row_size.max(1);
                self.charge(budget, Some(count))?;
                valid.try_reserve_exact(usize::try_from(count).map_err(|_| Error::Memory)?)?;
                if !compare_items(&fixed.dtype, &bytes, test, &mut valid) {
                    return Ok(None);
                }
                Some(valid)
            }
        };
        let shape = fixed.shape.iter().map(|extent| extent.unsigned_abs()).collect();
        Ok(Some(Items { dtype: fixed.dtype.clone(), shape, bytes, valid }))
    }

    /// Returns the texts or byte strings of rows. `rows` are stored rows, ascending.
    pub fn texts(&self, rows: &[u64], budget: &mut Budget) -> Result<Texts> {
        self.check_texts()?;
        self.check_rows(rows)?;
        self.charge(budget, (size_of::<u64>() as u64).checked_mul(rows.len() as u64))?;
        let mut texts = Texts::with_capacity(rows.len())?;
        match &self.values {
            Values::Utf8(stored) => {
                let valid = self.validity(rows)?;
                let is_valid = |at: usize| valid.as_ref().is_none_or(|valid| valid[at]);
                let charge = &mut |size| self.charge(budget, Some(size));
                stored.each(rows, &is_valid, charge, &mut |text| {
                    let text = text.map(str::as_bytes).filter(|text| !self.is_null_text(text));
                    texts.push(text)
                })?;
            }
            _ => {
                for rows in rows.chunks(STEP) {
                    let values = self.values(rows, &mut budget.clone())?;
                    for (&row, value) in rows.iter().zip(&values) {
                        let text = match value {
                            Value::Nil => None,
                            Value::Str(text) => Some(text.as_bytes()),
                            Value::Bytes(bytes) => Some(&bytes[..]),
                            _ => {
                                let why = "the value is neither a text nor bytes";
                                return Err(self.row_error(row, why));
                            }
                        };
                        self.charge(budget, Some(text.map_or(0, |text| text.len() as u64)))?;
                        texts.push(text)?;
                    }
                }
            }
        }
        Ok(texts)
    }

    /// Returns the texts of consecutive stored rows; `None` for columns of another kind than
    /// `utf8`.
    pub fn texts_in(&self, rows: Range<u64>, budget: &mut Budget) -> Result<Option<Texts>> {
        let Values::Utf8(stored) = &self.values else {
            return Ok(None);
        };
        if rows.is_empty() {
            return Ok(None);
        }
        self.check_rows(&[rows.start, rows.end - 1])?;
        let valid = self.validity_in(rows.clone(), budget)?;
        let is_null = |row: usize, text: &[u8]| {
            valid.as_ref().is_some_and(|valid| !valid[row]) || self.is_null_text(text)
        };
        let has_nulls = valid.is_some() || self.sentinel.is_some();
        let is_null = has_nulls.then_some(&is_null as &IsNull<'_>);
        let charge = &mut |size| self.charge(budget, Some(size));
        stored.range(rows, is_null, charge).map(Some)
    }

    /// Whether a text is the stored value of nulls.
    fn is_null_text(&self, text: &[u8]) -> bool {
        matches!(&self.sentinel, Some(Value::Str(sentinel)) if sentinel.as_bytes() == text)
    }

    fn check_texts(&self) -> Result<()> {
        let kind = &self.column.kind;
        if kind.has_texts() {
            return Ok(());
        }
        let why = format!("a column of kind {:?} has neither texts nor bytes", kind.name());
        Err(Error::Column { name: self.column.name.clone(), why })
    }

    /// Returns the values of rows in the form in which they are written. `rows` are stored rows,
    /// ascending.
    pub fn staged(&self, rows: &[u64], budget: &mut Budget) -> Result<Staged> {
        let has_mask = matches!(self.column.nulls, Nulls::Mask);
        let marks = |valid: Option<Vec<bool>>| {
            has_mask.then(|| valid.unwrap_or_else(|| vec![true; rows.len()]))
        };
        if let Values::Fixed(fixed) = &self.values {
            self.check_rows(rows)?;
            self.charge(budget, fixed.row_size.checked_mul(rows.len() as u64))?;
            let bytes = fixed.gather(rows)?;
            return Ok(Staged::Fixed { bytes, valid: marks(self.validity(rows)?) });
        }
        let mut values = self.values(rows, budget)?;
        if let Nulls::Sentinel(sentinel) = &self.column.nulls {
            for value in values.iter_mut().filter(|value| **value == Value::Nil) {
                *value = sentinel.clone();
            }
        }
        Ok(Staged::Values { values, valid: marks(self.validity(rows)?) })
    }

    /// Returns the dtype and the number of values of a column of single numbers.
    pub fn numbers(&self) -> Option<(&Dtype, u64)> {
        match &self.values {
            Values::Fixed(fixed) if fixed.shape.is_empty() => Some((&fixed.dtype, fixed.rows)),
            _ => None,
        }
    }

    /// Whether the values of rows compare with a constant; nulls do not. `rows` are stored rows,
    /// ascending. Extrema of the numbers that are read are added to `summary`.
    pub fn matching(
        &self,
        rows: &[u64],
        test: &Test<'_>,
        summary: Option<&Summary>,
        budget: &mut Budget,
    ) -> Result<Vec<bool>> {
        self.check_rows(rows)?;
        match (&self.values, Number::of(test.constant)) {
            (Values::Fixed(fixed), Some(constant)) if fixed.shape.is_empty() => {
                self.matching_numbers(fixed, rows, (test.comparison, constant), summary)
            }
            (Values::Dictionary { codes, values, null_code, .. }, _) => {
                let mut known: Vec<Option<bool>> = vec![None; values.len()];
                let mut found = Vec::with_capacity(rows.len());
                codes.each(rows, |row, bytes| {
                    let Some(Value::Int(code)) = value::item(&codes.dtype, bytes) else {
                        return Err(self.row_error(row, "the code is invalid"));
                    };
                    if code == *null_code {
                        found.push(false);
                        return Ok(());
                    }
                    let at = usize::try_from(code).unwrap_or(usize::MAX);
                    let (Some(text), Some(known)) = (values.get(at), known.get_mut(at)) else {
                        return Err(
                            self.row_error(row, format!("there is no value for code {code}"))
                        );
                    };
                    let holds = || compare::holds(text, test.comparison, test.constant);
                    found.push(*known.get_or_insert_with(holds));
                    Ok(())
                })?;
                Ok(found)
            }
            _ => {
                let values = self.values(rows, budget)?;
                let holds = |value| compare::holds(value, test.comparison, test.constant);
                Ok(values.iter().map(holds).collect())
            }
        }
    }

    fn matching_numbers(
        &self,
        fixed: &Fixed,
        rows: &[u64],
        (comparison, constant): (Comparison, Number),
        summary: Option<&Summary>,
    ) -> Result<Vec<bool>> {
        let not_null = self.sentinel.as_ref().and_then(Number::of).map(not_equal);
        let mut found = Vec::new();
        found.try_reserve_exact(rows.len())?;
        let (mut holds, mut valid) = (Vec::new(), Vec::new());
        for run in runs(rows, fixed.row_size, Blocks::of(&fixed.array)) {
            let bytes = fixed.read(span(run))?;
            if let Some(summary) = summary {
                summary.record(&fixed.dtype, run[0], &bytes);
            }
            holds.clear();
            if !compare_items(&fixed.dtype, &bytes, (comparison, constant), &mut holds) {
                let why = format!("values of the type {} are not compared", fixed.dtype.text());
                return Err(Error::Column { name: self.column.name.clone(), why });
            }
            if let Some(test) = not_null {
                valid.clear();
                compare_items(&fixed.dtype, &bytes, test, &mut valid);
                holds.iter_mut().zip(&valid).for_each(|(holds, is_valid)| *holds &= is_valid);
            }
            if holds.len() == run.len() {
                found.extend_from_slice(&holds);
                continue;
            }
            let at = |row: u64| usize::try_from(row - run[0]).unwrap_or(usize::MAX);
            found.extend(run.iter().map(|&row| holds.get(at(row)).copied().unwrap_or(false)));
        }
        if let Some(valid) = self.validity(rows)? {
            for (found, is_valid) in found.iter_mut().zip(valid) {
                *found &= is_valid;
            }
        }
        Ok(found)
    }

    /// Whether the values of rows are null. `rows` are stored rows, ascending.
    pub fn nulls(&self, rows: &[u64], budget: &mut Budget) -> Result<Vec<bool>> {
        match (&self.column.nulls, &self.mask) {
            (Nulls::Mask, None) => Ok(vec![false; rows.len()]),
            (Nulls::Mask, Some(_)) => {
                let valid = self.validity(rows)?.unwrap_or_default();
                Ok(valid.into_iter().map(|is_valid| !is_valid).collect())
            }
            _ => {
                let values = self.values(rows, budget)?;
                Ok(values.iter().map(|value| *value == Value::Nil).collect())
            }
        }
    }

    /// Returns the mask for rows; `None` without a mask.
    fn validity(&self, rows: &[u64]) -> Result<Option<Vec<bool>>> {
        let Some(mask) = &self.mask else {
            return Ok(None);
        };
        let len = mask.shape()[0].max(0).unsigned_abs();
        let mut valid = Vec::new();
        valid.try_reserve_exact(rows.len())?;
        for run in runs(rows, 1, Blocks::of(mask)) {
            let (first, end) = (run[0], span(run).end.min(len));
            let at = |row: u64| i64::try_from(row).map_err(|_| Error::Memory);
            let bytes = if first < end {
                mask.get_slice(&[at(first)?], &[at(end)?]).map_err(Error::frame(&self.key))?
            } else {
                Vec::new()
            };
            let is_valid = |row: u64| {
                let byte = usize::try_from(row - first).ok().and_then(|at| bytes.get(at));
                byte.is_none_or(|&byte| byte != 0)
            };
            valid.extend(run.iter().map(|&row| is_valid(row)));
        }
        Ok(Some(valid))
    }

    /// Returns the mask for consecutive rows, whose memory reduces the budget; `None` without a
    /// mask.
    fn validity_in(&self, rows: Range<u64>, budget: &mut Budget) -> Result<Option<Vec<bool>>> {
        if self.mask.is_none() {
            return Ok(None);
        }
        let count = rows.end - rows.start;
        self.charge(budget, Some(count))?;
        let mut valid = Vec::new();
        valid.try_reserve_exact(usize::try_from(count).map_err(|_| Error::Memory)?)?;
        let mut start = rows.start;
        while start < rows.end {
            let end = (start + MASK_STEP).min(rows.end);
            valid.extend(self.validity(&(start..end).collect::<Vec<u64>>())?.unwrap_or_default());
            start = end;
        }
        Ok(Some(valid))
    }

    /// Returns the values of rows, whose memory reduces the budget. `rows` are stored rows,
    /// ascending.
    pub fn values(&self, rows: &[u64], budget: &mut Budget) -> Result<Vec<Value>> {
        self.check_rows(rows)?;
        let valid = self.validity(rows)?;
        let is_valid = |at: usize| valid.as_ref().is_none_or(|valid| valid[at]);
        let mut values = Vec::new();
        match &self.values {
            Values::Fixed(fixed) => {
                let shape: Vec<u64> =
                    fixed.shape.iter().map(|extent| extent.unsigned_abs()).collect();
                let size = value::items_memory(&fixed.dtype, &shape);
                self.charge(budget, size.and_then(|size| size.checked_mul(rows.len() as u64)))?;
                values.try_reserve_exact(rows.len())?;
                fixed.each(rows, |row, bytes| {
                    let value = if is_valid(values.len()) {
                        value::items(&fixed.dtype, &shape, bytes)
                            .ok_or_else(|| self.row_error(row, "the value is invalid"))?
                    } else {
                        Value::Nil
                    };
                    values.push(value);
                    Ok(())
                })?;
            }
            Values::Dictionary { codes, values: texts, sizes, null_code } => {
                codes.each(rows, |row, bytes| {
                    let Some(Value::Int(code)) = value::item(&codes.dtype, bytes) else {
                        return Err(self.row_error(row, "the code is invalid"));
                    };
                    let at = usize::try_from(code).unwrap_or(usize::MAX);
                    let value = match (texts.get(at), sizes.get(at)) {
                        _ if code == *null_code => {
                            self.charge(budget, Some(VALUE_SIZE))?;
                            Value::Nil
                        }
                        (Some(text), Some(&size)) => {
                            self.charge(budget, Some(size))?;
                            text.clone()
                        }
                        _ => {
                            let why = format!("there is no value for code {code}");
                            return Err(self.row_error(row, why));
                        }
                    };
                    values.try_reserve(1)?;
                    values.push(value);
                    Ok(())
                })?;
            }
            Values::Utf8(texts) => {
                let size = VALUE_SIZE.checked_mul(rows.len() as u64);
                self.charge(budget, size)?;
                values.try_reserve_exact(rows.len())?;
                let charge = &mut |size| self.charge(budget, Some(size));
                texts.each(rows, &is_valid, charge, &mut |text| {
                    values.push(text.map_or(Value::Nil, |text| Value::Str(text.to_owned())));
                    Ok(())
                })?;
            }
            Values::Objects(objects) => {
                values = objects.pick(rows.iter().copied(), budget)?;
            }
        }
        // The sentinel is compared with the stored numbers.
        if let Some(sentinel) = &self.sentinel {
            for value in &mut values {
                if is_sentinel(value, sentinel) {
                    *value = Value::Nil;
                }
            }
        }
        if self.is_widened() {
            values = values.into_iter().map(as_bools).collect();
        }
        if self.column.kind == ColumnKind::Bool {
            for value in &mut values {
                if let Value::Int(number) = value {
                    *value = Value::Bool(*number != 0);
                }
            }
        }
        Ok(values)
    }

    /// Whether the items are booleans in arrays that are stored as bytes.
    fn is_widened(&self) -> bool {
        let is_set = self.column.json.get("bool_widened_to_uint8");
        matches!(self.column.kind, ColumnKind::Array(_))
            && is_set.is_some_and(crate::bloscpack::Value::is_truthy)
    }
}

/// Returns the maximum number of characters or bytes in a row that a description contains.
pub(super) fn max_length(column: &Column) -> Option<u64> {
    match column.json.get("max_length") {
        Some(crate::bloscpack::Value::Int(digits)) => digits.parse().ok(),
        _ => None,
    }
}

/// Returns the dtype that a description requires, if it requires one.
pub(super) fn expected_dtype(column: &Column) -> Option<String> {
    use crate::bloscpack::Value as Json;
    let max_length = || max_length(column);
    let text = match &column.kind {
        ColumnKind::Number(name) => match &**name {
            "int8" => "|i1",
            "int16" => "<i2",
            "int32" => "<i4",
            "int64" => "<i8",
            "uint8" => "|u1",
            "uint16" => "<u2",
            "uint32" => "<u4",
            "uint64" => "<u8",
            "float32" => "<f4",
            "float64" => "<f8",
            "complex64" => "<c8",
            _ => "<c16",
        },
        ColumnKind::Bool => "|b1",
        ColumnKind::Timestamp { .. } => "<i8",
        ColumnKind::String => return Some(format!("<U{}", max_length()?)),
        ColumnKind::Bytes => return Some(format!("|S{}", max_length()?)),
        ColumnKind::Array(_) => match column.json.get("dtype_str") {
            Some(Json::Text(text)) => {
                return Dtype::parse(text).ok().map(|dtype| dtype.text().to_owned());
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(text.to_owned())
}

/// Returns the comparison that holds for all numbers but `null`.
fn not_equal(null: Number) -> (Comparison, Number) {
    match null {
        Number::Float(float) if float.is_nan() => (Comparison::Le, Number::Float(f64::INFINITY)),
        null => (Comparison::Ne, null),
    }
}

/// Whether a value, or each item of an array, equals the sentinel. NaN equals NaN.
fn is_sentinel(value: &Value, sentinel: &Value) -> bool {
    match (value, sentinel) {
        (Value::List(items), _) => {
            !items.is_empty() && items.iter().all(|item| is_sentinel(item, sentinel))
        }
        (Value::Float(one), Value::Float(other)) => {
            one == other || (one.is_nan() && other.is_nan())
        }
        (Value::Bool(one), Value::Int(other)) => i64::from(*one) == *other,
        (one, other) => one == other,
    }
}

/// Returns the stored form of a sentinel in an array of a dtype: rounded to its precision, or an
/// integer. A number that the dtype cannot contain is not changed, and equals no value.
pub(super) fn as_stored(sentinel: &Value, dtype: &Dtype) -> Value {
    let number = match *sentinel {
        Value::Int(number) => number as f64,
        Value::UInt(number) => number as f64,
        Value::Float(number) => number,
        _ => return sentinel.clone(),
    };
    // Limits of the integers: 2^63 and 2^64 are not in the ranges.
    let (signed, unsigned) = (-(2f64.powi(63))..2f64.powi(63), 0.0..2f64.powi(64));
    match (dtype.kind(), dtype.itemsize(), sentinel) {
        (Kind::Float, 2, _) => Value::Float(half_to(half_of(number))),
        (Kind::Float, 4, _) => Value::Float(f64::from(number as f32)),
        (Kind::Float, _, _) => Value::Float(number),
        (Kind::Int | Kind::Uint, _, Value::Float(_)) if number.fract() == 0.0 => {
            if signed.contains(&number) {
                Value::Int(number as i64)
            } else if unsigned.contains(&number) {
                Value::UInt(number as u64)
            } else {
                sentinel.clone()
            }
        }
        _ => sentinel.clone(),
    }
}

fn as_bools(value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(as_bools).collect()),
        Value::Int(number) => Value::Bool(number != 0),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentinels_are_compared_as_they_are_stored() {
        let stored = |value: Value, dtype: &str| as_stored(&value, &Dtype::parse(dtype).unwrap());
        assert_eq!(stored(Value::Float(0.1), "<f4"), Value::Float(0.1f32.into()));
        assert_eq!(stored(Value::Float(0.1), "<f2"), Value::Float(half_to(half_of(0.1))));
        assert_eq!(stored(Value::Int(-9), "<f8"), Value::Float(-9.0));
        assert_eq!(stored(Value::Float(-9.0), "<i8"), Value::Int(-9));
        assert_eq!(stored(Value::Float(-9.5), "<i8"), Value::Float(-9.5));
        // Beyond 63 bits, and beyond all integers.
        assert_eq!(stored(Value::Float(1e19), "<u8"), Value::UInt(10_000_000_000_000_000_000));
        for float in [1e30, -1e30, 1.5, f64::NAN, f64::INFINITY] {
            let kept = stored(Value::Float(float), "<i8");
            assert!(matches!(kept, Value::Float(found) if found.to_bits() == float.to_bits()));
        }
        let large = Value::Int(1 << 60);
        assert_eq!(stored(Value::Float((1u64 << 60) as f64), "<i8"), large);
        assert!(!is_sentinel(&Value::Int((1 << 60) + 1), &large));
        assert!(is_sentinel(&Value::Float(f64::NAN), &stored(Value::Float(f64::NAN), "<f4")));
    }
}
