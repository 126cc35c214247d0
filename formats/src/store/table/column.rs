//! Reading the values of a column.

use std::ops::Range;

use ferroblosc::b2nd::Array;

use super::schema::{Column, ColumnKind, Nulls};
use crate::numpy::{Dtype, Kind};
use crate::store::Store;
use crate::store::error::{Error, Result};
use crate::store::objects::Objects;
use crate::store::value::{self, Value};

/// The maximum number of rows between two wanted rows that are read with them.
const MAX_GAP: u64 = 256;

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

/// The open leaves of a column.
pub struct Reader {
    column: Column,
    key: String,
    values: Values,
    mask: Option<Box<Array>>,
    notes: Vec<String>,
}

enum Values {
    /// Values of a fixed size.
    Fixed(Fixed),
    /// Offsets of the texts, and their bytes.
    Utf8 { offsets: Fixed, bytes: Fixed },
    /// Values of variable length.
    Objects(Box<Objects>),
    /// Codes, and the values they stand for.
    Dictionary { codes: Fixed, values: Vec<Value>, null_code: i64 },
}

/// An array whose first dimension is the rows.
struct Fixed {
    key: String,
    array: Box<Array>,
    dtype: Dtype,
    /// The number of rows.
    rows: u64,
    /// The extents of the other dimensions.
    shape: Vec<i64>,
    /// The size of a row in bytes.
    row_size: u64,
}

impl Fixed {
    fn open(store: &Store, key: &str) -> Result<Fixed> {
        let array = Box::new(leaf(store, key)?.into_array()?);
        let dtype = array.dtype().ok_or_else(|| Error::damaged(key, "the array has no dtype"))?;
        let dtype = Dtype::parse(dtype)
            .map_err(|_| Error::damaged(key, format!("the dtype {dtype:?} is not supported")))?;
        let shape = array.shape();
        let Some((&rows, inner)) = shape.split_first() else {
            return Err(Error::damaged(key, "the array has no dimension"));
        };
        let extents = inner.iter().map(|&extent| u64::try_from(extent).ok());
        let row_size = extents
            .into_iter()
            .try_fold(dtype.itemsize(), |size, extent| size.checked_mul(extent?));
        let row_size = row_size.ok_or_else(|| Error::damaged(key, "the rows are too large"))?;
        if u64::try_from(array.schunk().typesize()) != Ok(dtype.itemsize()) {
            let why = "the size of the dtype differs from the size of the items";
            return Err(Error::damaged(key, why));
        }
        let rows = rows.max(0).unsigned_abs();
        let shape = inner.to_vec();
        Ok(Fixed { key: key.to_owned(), array, dtype, rows, shape, row_size })
    }

    /// Returns the bytes of consecutive rows, which must exist.
    fn read(&self, rows: Range<u64>) -> Result<Vec<u8>> {
        let at = |row: u64| i64::try_from(row).map_err(|_| Error::Memory);
        let mut start = vec![0; self.shape.len() + 1];
        let mut stop = start.clone();
        stop[1..].copy_from_slice(&self.shape);
        (start[0], stop[0]) = (at(rows.start)?, at(rows.end)?);
        self.array.get_slice(&start, &stop).map_err(Error::frame(&self.key))
    }

    /// Calls `f` with the bytes of each of the rows, which are ascending and must exist.
    fn each(&self, rows: &[u64], mut f: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let size = usize::try_from(self.row_size).map_err(|_| Error::Memory)?;
        let mut rest = rows;
        while let Some(&first) = rest.first() {
            let near = rest.windows(2).take_while(|pair| pair[1] - pair[0] <= MAX_GAP).count();
            let (run, later) = rest.split_at(near + 1);
            let bytes = self.read(first..run[near] + 1)?;
            for &row in run {
                let at = usize::try_from(row - first).map_err(|_| Error::Memory)? * size;
                f(row, &bytes[at..at + size])?;
            }
            rest = later;
        }
        Ok(())
    }
}

fn leaf(store: &Store, key: &str) -> Result<crate::store::Leaf> {
    store.leaf(key).map_err(|error| match error {
        Error::NoSuchKey(key) => Error::MissingLeaf(key),
        other => other,
    })
}

impl Reader {
    /// Opens the leaves of a column; `key` is the key of its values.
    pub fn open(store: &Store, column: &Column, key: &str) -> Result<Reader> {
        let objects = |key: &str| Objects::open(leaf(store, key)?, &store.options);
        let values = match &column.kind {
            ColumnKind::Unknown(name) => {
                let why = format!("columns of kind {name:?} are not supported");
                return Err(Error::Column { name: column.name.clone(), why });
            }
            ColumnKind::Utf8 => {
                let offsets = Fixed::open(store, key)?;
                let bytes = Fixed::open(store, &format!("{key}.utf8"))?;
                check_utf8(&offsets, &bytes)?;
                Values::Utf8 { offsets, bytes }
            }
            ColumnKind::VlString
            | ColumnKind::VlBytes
            | ColumnKind::Object
            | ColumnKind::Struct
            | ColumnKind::List => Values::Objects(Box::new(objects(key)?)),
            ColumnKind::Dictionary { null_code } => {
                let codes = Fixed::open(store, key)?;
                if codes.dtype.kind() != Kind::Int || !codes.shape.is_empty() {
                    return Err(Error::damaged(
                        key,
                        "the codes of the dictionary are not integers",
                    ));
                }
                let dictionary = objects(&format!("{key}_dict"))?;
                let values = dictionary.items(0..dictionary.len()?)?;
                Values::Dictionary { codes, values, null_code: *null_code }
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
            notes: Vec::new(),
        };
        if let (Values::Fixed(fixed), Some(expected)) =
            (&reader.values, expected_dtype(&column.kind))
        {
            let is_bool = column.kind == ColumnKind::Bool && fixed.dtype.text() == "|u1";
            if fixed.dtype.text() != expected && !is_bool {
                let found = fixed.dtype.text();
                reader.notes.push(format!(
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
    fn open_mask(&mut self, store: &Store) -> Result<()> {
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
        let short = array.shape()[0].max(0).unsigned_abs() < self.rows()?;
        if short {
            self.notes.push("the mask of nulls is short; other values are not null".to_owned());
        }
        self.mask = Some(Box::new(array));
        Ok(())
    }

    /// Returns the number of stored values.
    fn rows(&self) -> Result<u64> {
        match &self.values {
            Values::Fixed(fixed) | Values::Dictionary { codes: fixed, .. } => Ok(fixed.rows),
            Values::Utf8 { offsets, .. } => Ok(offsets.rows.saturating_sub(1)),
            Values::Objects(objects) => objects.len(),
        }
    }

    /// Returns differences from the schema that do not prevent reading.
    pub fn notes(&self) -> &[String] {
        &self.notes
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
            Values::Utf8 { .. } | Values::Objects(_) => self.rows().ok()?,
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
        let first = rows[rows.partition_point(|&row| row < len)];
        Err(self.row_error(first, format!("the value is missing: there are {len} values")))
    }

    fn check_size(&self, size: Option<u64>, limit: u64) -> Result<()> {
        match size {
            Some(size) if size <= limit => Ok(()),
            _ => {
                let what = format!("column {:?}: the rows are too large", self.column.name);
                Err(Error::Limit { what, limit })
            }
        }
    }

    /// Returns the bytes of rows of a fixed size. `rows` are stored rows, ascending.
    pub fn items(&self, rows: &[u64], limit: u64) -> Result<Items> {
        let (Values::Fixed(fixed) | Values::Dictionary { codes: fixed, .. }) = &self.values else {
            let why = "its values have no fixed size".to_owned();
            return Err(Error::Column { name: self.column.name.clone(), why });
        };
        self.check_rows(rows)?;
        let size = fixed.row_size.checked_mul(rows.len() as u64);
        self.check_size(size, limit)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(size.unwrap_or(0)).map_err(|_| Error::Memory)?)?;
        fixed.each(rows, |_, row| {
            bytes.extend_from_slice(row);
            Ok(())
        })?;
        let valid = match (&self.column.nulls, &self.values) {
            (Nulls::Mask, _) => self.validity(rows)?,
            (Nulls::None, Values::Fixed(_)) => None,
            _ => {
                let values = self.values(rows, limit)?;
                Some(values.iter().map(|value| *value != Value::Nil).collect())
            }
        };
        let shape = fixed.shape.iter().map(|extent| extent.unsigned_abs()).collect();
        Ok(Items { dtype: fixed.dtype.clone(), shape, bytes, valid })
    }

    /// Returns the mask for rows; `None` without a mask.
    fn validity(&self, rows: &[u64]) -> Result<Option<Vec<bool>>> {
        let Some(mask) = &self.mask else {
            return Ok(None);
        };
        let len = mask.shape()[0].max(0).unsigned_abs();
        let mut valid = Vec::new();
        valid.try_reserve_exact(rows.len())?;
        let mut rest = rows;
        while let Some(&first) = rest.first() {
            let near = rest.windows(2).take_while(|pair| pair[1] - pair[0] <= MAX_GAP).count();
            let (run, later) = rest.split_at(near + 1);
            let end = (run[near] + 1).min(len);
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
            rest = later;
        }
        Ok(Some(valid))
    }

    /// Returns the values of rows. `rows` are stored rows, ascending.
    pub fn values(&self, rows: &[u64], limit: u64) -> Result<Vec<Value>> {
        self.check_rows(rows)?;
        let valid = self.validity(rows)?;
        let is_valid = |at: usize| valid.as_ref().is_none_or(|valid| valid[at]);
        let mut values = Vec::new();
        values.try_reserve_exact(rows.len())?;
        match &self.values {
            Values::Fixed(fixed) => {
                self.check_size(fixed.row_size.checked_mul(rows.len() as u64), limit)?;
                let shape: Vec<u64> =
                    fixed.shape.iter().map(|extent| extent.unsigned_abs()).collect();
                fixed.each(rows, |row, bytes| {
                    let value = if is_valid(values.len()) {
                        let value = value::items(&fixed.dtype, &shape, bytes)
                            .ok_or_else(|| self.row_error(row, "the value is invalid"))?;
                        self.of_kind(value)
                    } else {
                        Value::Nil
                    };
                    values.push(value);
                    Ok(())
                })?;
            }
            Values::Dictionary { codes, values: texts, null_code } => {
                codes.each(rows, |row, bytes| {
                    let code = match value::item(&codes.dtype, bytes) {
                        Some(Value::Int(code)) => code,
                        _ => return Err(self.row_error(row, "the code is invalid")),
                    };
                    let text = usize::try_from(code).ok().and_then(|code| texts.get(code));
                    values.push(match text {
                        _ if code == *null_code => Value::Nil,
                        Some(text) => text.clone(),
                        None => {
                            let why = format!("there is no value for code {code}");
                            return Err(self.row_error(row, why));
                        }
                    });
                    Ok(())
                })?;
            }
            Values::Utf8 { offsets, bytes } => {
                self.texts(rows, (offsets, bytes), &is_valid, limit, &mut values)?;
            }
            Values::Objects(objects) => {
                let mut rest = rows;
                while let Some(&first) = rest.first() {
                    let pairs = rest.windows(2);
                    let near = pairs.take_while(|pair| pair[1] - pair[0] <= MAX_GAP).count();
                    let (run, later) = rest.split_at(near + 1);
                    let items = objects.items(first..run[near] + 1)?;
                    let mut wanted = run.iter().peekable();
                    for (row, item) in (first..).zip(items) {
                        if wanted.next_if(|&&row_wanted| row_wanted == row).is_some() {
                            values.push(item);
                        }
                    }
                    rest = later;
                }
            }
        }
        if let Nulls::Sentinel(sentinel) = &self.column.nulls {
            for value in &mut values {
                if is_sentinel(value, sentinel) {
                    *value = Value::Nil;
                }
            }
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

    /// Converts the items of arrays of booleans that are stored as bytes.
    fn of_kind(&self, value: Value) -> Value {
        let is_widened =
            |key| self.column.json.get(key).is_some_and(crate::bloscpack::Value::is_truthy);
        match self.column.kind {
            ColumnKind::Array(_) if is_widened("bool_widened_to_uint8") => as_bools(value),
            _ => value,
        }
    }

    /// Adds the texts of rows.
    fn texts(
        &self,
        rows: &[u64],
        (offsets, bytes): (&Fixed, &Fixed),
        is_valid: &dyn Fn(usize) -> bool,
        limit: u64,
        values: &mut Vec<Value>,
    ) -> Result<()> {
        let mut rest = rows;
        while let Some(&first) = rest.first() {
            let near = rest.windows(2).take_while(|pair| pair[1] - pair[0] <= MAX_GAP).count();
            let (run, later) = rest.split_at(near + 1);
            // Each row needs the offset after it as well.
            let ends = offsets.read(first..run[near] + 2)?;
            let offset = |row: u64| -> Option<i64> {
                let at = usize::try_from(row - first).ok()? * 8;
                Some(i64::from_le_bytes(ends.get(at..at + 8)?.try_into().ok()?))
            };
            let mut ranges = Vec::new();
            for &row in run {
                let start = offset(row).and_then(|start| u64::try_from(start).ok());
                let end = offset(row + 1).and_then(|end| u64::try_from(end).ok());
                match (start, end) {
                    (Some(start), Some(end)) if start <= end && end <= bytes.rows => {
                        ranges.push((row, start..end));
                    }
                    _ => {
                        let why = "its offsets are decreasing, or beyond the bytes of the column";
                        return Err(self.row_error(row, why));
                    }
                }
            }
            for (row, range) in ranges {
                if !is_valid(values.len()) || range.is_empty() {
                    let is_null = !is_valid(values.len());
                    values.push(if is_null { Value::Nil } else { Value::Str(String::new()) });
                    continue;
                }
                self.check_size(Some(range.end - range.start), limit)?;
                let text = String::from_utf8(bytes.read(range)?);
                let text = text.map_err(|_| self.row_error(row, "the text is not UTF-8"))?;
                values.push(Value::Str(text));
            }
            rest = later;
        }
        Ok(())
    }
}

fn check_utf8(offsets: &Fixed, bytes: &Fixed) -> Result<()> {
    if offsets.dtype.text() != "<i8" || !offsets.shape.is_empty() {
        return Err(Error::damaged(&offsets.key, "the offsets of the texts are not of type <i8"));
    }
    if bytes.dtype.itemsize() != 1 || !bytes.shape.is_empty() {
        return Err(Error::damaged(&bytes.key, "the bytes of the texts are not bytes"));
    }
    Ok(())
}

/// Returns the dtype that a kind requires, if it requires one.
fn expected_dtype(kind: &ColumnKind) -> Option<&str> {
    Some(match kind {
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
        _ => return None,
    })
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
        (Value::Float(one), Value::Int(other)) => *one == *other as f64,
        (Value::Int(one), Value::Float(other)) => *one as f64 == *other,
        (Value::Bool(one), Value::Int(other)) => i64::from(*one) == *other,
        (one, other) => one == other,
    }
}

fn as_bools(value: Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.into_iter().map(as_bools).collect()),
        Value::Int(number) => Value::Bool(number != 0),
        other => other,
    }
}
