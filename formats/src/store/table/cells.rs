//! Values of new rows: checks, and their stored form.

use std::cmp::Ordering;

use super::column::{as_stored, expected_dtype};
use super::schema::{Column, ColumnKind, Nulls, constant};
use super::staged::{Form, Staged};
use crate::bloscpack::Value as Json;
use crate::numpy::{Dtype, Kind, half_of, half_to};
use crate::store::error::{Error, Result};
use crate::store::objects_writer::check_item;
use crate::store::value::Value;

/// Values of a column for new or changed rows.
#[derive(Clone, Copy, Debug)]
pub enum Cells<'a> {
    /// A value for each row; nulls are [`Value::Nil`].
    Values(&'a [Value]),
    /// The items of all rows in C order, in the dtype of the column, for columns with values of a
    /// fixed size, except dictionaries.
    Items {
        /// The bytes of the items.
        bytes: &'a [u8],
        /// Whether each row is not null; `None` if none is. The items of nulls are not used.
        valid: Option<&'a [bool]>,
    },
}

impl Form {
    /// Returns the form that the schema requires; `None` for values of other sizes and for
    /// dictionaries.
    pub fn of(column: &Column) -> Result<Option<Form>> {
        let shape = match &column.kind {
            ColumnKind::Array(extents) => extents.clone(),
            ColumnKind::Number(_)
            | ColumnKind::Bool
            | ColumnKind::Timestamp { .. }
            | ColumnKind::String
            | ColumnKind::Bytes => Vec::new(),
            _ => return Ok(None),
        };
        let invalid = || {
            let why = "its dtype is missing or not supported".to_owned();
            Error::Column { name: column.name.clone(), why }
        };
        let is_widened = match column.kind {
            ColumnKind::Bool => matches!(column.nulls, Nulls::Sentinel(_)),
            _ => column.json.get("bool_widened_to_uint8").is_some_and(Json::is_truthy),
        };
        let dtype = match expected_dtype(column).ok_or_else(invalid)? {
            // Booleans with a null value.
            text if is_widened && text == "|b1" => "|u1".to_owned(),
            text => text,
        };
        let dtype = Dtype::parse(&dtype).map_err(|_| invalid())?;
        Form::new(dtype, shape).map(Some)
    }
}

impl Column {
    fn value_error(&self, row: usize, why: impl std::fmt::Display) -> Error {
        Error::Value(format!("column {:?}, new row {row}: {why}", self.name))
    }

    /// Checks that a new row can be null.
    fn check_null(&self, row: usize) -> Result<()> {
        if !self.nullable {
            return Err(self.value_error(row, "the column has no nulls"));
        }
        if matches!(self.nulls, Nulls::None) && !self.kind.contains_nulls() {
            let why = "the schema permits nulls, but does not record nulls by a mask or a value";
            return Err(self.value_error(row, why));
        }
        Ok(())
    }
}

/// Checks the rows of a column and returns their stored form. `form` is that of the stored array.
pub fn stage(column: &Column, form: Option<&Form>, cells: Cells<'_>) -> Result<Staged> {
    match (cells, form) {
        (Cells::Values(values), Some(form)) => stage_values(column, form, values),
        (Cells::Values(values), None) => stage_others(column, values),
        (Cells::Items { bytes, valid }, Some(form)) => {
            if bytes.len() % form.row_size != 0 {
                let why = format!("{} bytes are not rows of {} bytes", bytes.len(), form.row_size);
                return Err(Error::Value(format!("column {:?}: {why}", column.name)));
            }
            let rows = bytes.len() / form.row_size;
            if valid.is_some_and(|valid| valid.len() != rows) {
                let why = "the number of rows differs from the number of their nulls";
                return Err(Error::Value(format!("column {:?}: {why}", column.name)));
            }
            stage_items(column, form, bytes, valid)
        }
        (Cells::Items { .. }, None) => {
            let why = "its values have no fixed size".to_owned();
            Err(Error::Column { name: column.name.clone(), why })
        }
    }
}

fn stage_values(column: &Column, form: &Form, values: &[Value]) -> Result<Staged> {
    let limits = Limits::of(column);
    let sentinel = Sentinel::of(column, form)?;
    let mut bytes = Vec::new();
    let size = form.row_size.checked_mul(values.len()).ok_or(Error::Memory)?;
    bytes.try_reserve_exact(size)?;
    let mut valid = vec![true; values.len()];
    for (row, value) in values.iter().enumerate() {
        if *value == Value::Nil {
            column.check_null(row)?;
            valid[row] = false;
            sentinel.push(form, &mut bytes);
            continue;
        }
        limits.check(value).map_err(|why| column.value_error(row, why))?;
        let start = bytes.len();
        let encoded = encode_nested(&form.dtype, &form.shape, value, &mut bytes);
        encoded.map_err(|why| column.value_error(row, why))?;
        if sentinel.is_null(form, &bytes[start..]) {
            return Err(column.value_error(row, "the value equals the null value of the column"));
        }
    }
    let has_mask = matches!(column.nulls, Nulls::Mask);
    Ok(Staged::Fixed { bytes, valid: has_mask.then_some(valid) })
}

fn stage_items(
    column: &Column,
    form: &Form,
    bytes: &[u8],
    valid: Option<&[bool]>,
) -> Result<Staged> {
    let limits = Limits::of(column);
    let sentinel = Sentinel::of(column, form)?;
    let is_checked = !limits.is_empty() || form.dtype.kind() == Kind::Unicode;
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len())?;
    for (row, item) in bytes.chunks_exact(form.row_size).enumerate() {
        if valid.is_some_and(|valid| !valid[row]) {
            column.check_null(row)?;
            sentinel.push(form, &mut copy);
            continue;
        }
        if is_checked {
            let value = crate::store::value::items(&form.dtype, &form.shape, item);
            let value = value.ok_or_else(|| column.value_error(row, "a text is invalid"))?;
            limits.check(&value).map_err(|why| column.value_error(row, why))?;
        }
        if sentinel.is_null(form, item) {
            return Err(column.value_error(row, "the value equals the null value of the column"));
        }
        copy.extend_from_slice(item);
    }
    let valid = match (&column.nulls, valid) {
        (Nulls::Mask, Some(valid)) => Some(valid.to_vec()),
        (Nulls::Mask, None) => Some(vec![true; bytes.len() / form.row_size]),
        _ => None,
    };
    Ok(Staged::Fixed { bytes: copy, valid })
}

fn stage_others(column: &Column, values: &[Value]) -> Result<Staged> {
    let limits = Limits::of(column);
    let mut staged = Vec::new();
    staged.try_reserve_exact(values.len())?;
    let mut valid = vec![true; values.len()];
    for (row, value) in values.iter().enumerate() {
        if *value == Value::Nil {
            column.check_null(row)?;
            valid[row] = false;
            staged.push(match (&column.nulls, &column.kind) {
                (Nulls::Sentinel(sentinel), _) => sentinel.clone(),
                (Nulls::Mask, ColumnKind::Utf8) => Value::Str(String::new()),
                _ => Value::Nil,
            });
            continue;
        }
        let is_valid = match &column.kind {
            ColumnKind::Utf8 | ColumnKind::VlString | ColumnKind::Dictionary { .. } => {
                matches!(value, Value::Str(_))
            }
            ColumnKind::VlBytes => matches!(value, Value::Bytes(_)),
            ColumnKind::Struct => {
                check_fields(&column.json, value).map_err(|why| column.value_error(row, why))?;
                true
            }
            ColumnKind::List => match (value, column.json.get("item")) {
                (Value::List(items), Some(item)) => {
                    let item = of_json(item);
                    for value in items {
                        check_item(&item, value).map_err(|error| match error {
                            Error::Value(why) => column.value_error(row, why),
                            other => other,
                        })?;
                    }
                    true
                }
                _ => false,
            },
            _ => true,
        };
        if !is_valid {
            let why = format!("the value is not of the kind {:?}", column.kind.name());
            return Err(column.value_error(row, why));
        }
        limits.check(value).map_err(|why| column.value_error(row, why))?;
        if let Nulls::Sentinel(sentinel) = &column.nulls
            && sentinel == value
        {
            return Err(column.value_error(row, "the value equals the null value of the column"));
        }
        // Values that python-blosc2 could not read are refused before any row is added.
        if !matches!(value, Value::Str(_) | Value::Bytes(_)) {
            value.encode().map_err(|error| match error {
                Error::Value(why) => column.value_error(row, why),
                other => other,
            })?;
        }
        staged.push(value.clone());
    }
    let has_mask = matches!(column.nulls, Nulls::Mask);
    Ok(Staged::Values { values: staged, valid: has_mask.then_some(valid) })
}

/// Checks that a value is a map with exactly the fields of a description.
fn check_fields(json: &Json, value: &Value) -> std::result::Result<(), String> {
    let (Value::Map(entries), Some(Json::List(fields))) = (value, json.get("fields")) else {
        return Err("the value is not a map".to_owned());
    };
    if entries.len() != fields.len() {
        return Err(format!("the map has {} fields, not {}", entries.len(), fields.len()));
    }
    for field in fields {
        let Some(Json::Text(name)) = field.get("name") else {
            return Err("a field has no name".to_owned());
        };
        let value = value.get(name).ok_or_else(|| format!("the map has no field {name:?}"))?;
        check_item(&of_json(field), value).map_err(|error| match error {
            Error::Value(why) => format!("field {name:?}: {why}"),
            other => other.to_string(),
        })?;
    }
    Ok(())
}

/// Converts a description of items.
pub fn of_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Int(digits) => match digits.parse() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Float(digits.parse().unwrap_or(f64::NAN)),
        },
        Json::Float(number) => Value::Float(*number),
        Json::Text(text) => Value::Str(text.clone()),
        Json::List(items) => Value::List(items.iter().map(of_json).collect()),
        Json::Object(entries) => {
            let entry = |(key, value): &(String, Json)| (Value::Str(key.clone()), of_json(value));
            Value::Map(entries.iter().map(entry).collect())
        }
    }
}

/// Returns the default of a column: the value of rows that are appended without one.
pub fn default_of(column: &Column) -> Option<Value> {
    let json = column.json.get("default")?;
    if json.get("__complex__").is_some() {
        let part = |key| match json.get(key) {
            Some(Json::Float(number)) => Some(*number),
            Some(Json::Int(digits)) => digits.parse().ok(),
            _ => None,
        };
        return Some(Value::Complex(part("real")?, part("imag")?));
    }
    match json {
        Json::Null => Some(Value::Nil),
        json => constant(json),
    }
}

/// The stored form of nulls.
struct Sentinel {
    /// The bytes of an item.
    item: Vec<u8>,
    /// The bytes of the zero of the other sign, which equals the item.
    other_zero: Option<Vec<u8>>,
    /// Whether they are the null value, which other rows must not have.
    is_value: bool,
}

impl Sentinel {
    fn of(column: &Column, form: &Form) -> Result<Sentinel> {
        let filler = match (form.dtype.kind(), &column.kind) {
            (Kind::Float, _) => Value::Float(f64::NAN),
            (Kind::Complex, _) => Value::Complex(f64::NAN, f64::NAN),
            (_, ColumnKind::Timestamp { .. }) => Value::Int(i64::MIN),
            (Kind::Bool, _) => Value::Bool(false),
            (Kind::Bytes, _) => Value::Bytes(Vec::new()),
            (Kind::Unicode, _) => Value::Str(String::new()),
            _ => Value::Int(0),
        };
        let (value, is_value) = match &column.nulls {
            Nulls::Sentinel(sentinel) => (as_stored(sentinel, &form.dtype), true),
            _ => (filler, false),
        };
        let encoded = |value: &Value| -> Result<Vec<u8>> {
            let mut item = Vec::new();
            encode(&form.dtype, value, &mut item).map_err(|why| Error::Column {
                name: column.name.clone(),
                why: format!("its null value cannot be stored: {why}"),
            })?;
            Ok(item)
        };
        let item = encoded(&value)?;
        let other_zero = match value {
            Value::Float(zero) if zero == 0.0 => Some(encoded(&Value::Float(-zero))?),
            _ => None,
        };
        // A NaN in a column whose null value is NaN is a null.
        let is_nan = matches!(value, Value::Float(number) if number.is_nan());
        Ok(Sentinel { item, other_zero, is_value: is_value && !is_nan })
    }

    fn push(&self, form: &Form, bytes: &mut Vec<u8>) {
        for _ in 0..form.row_size / self.item.len().max(1) {
            bytes.extend_from_slice(&self.item);
        }
    }

    fn is_null(&self, form: &Form, row: &[u8]) -> bool {
        self.is_value
            && form.row_size > 0
            && row
                .chunks_exact(self.item.len().max(1))
                .all(|item| item == self.item || self.other_zero.as_deref() == Some(item))
    }
}

/// Whether a bound holds for the order of a value and the bound.
type Holds = fn(Ordering) -> bool;

/// The limits of the values of a column.
struct Limits {
    /// The bounds of numbers, when they hold, and the fault otherwise.
    bounds: Vec<(Json, Holds, &'static str)>,
    lengths: (Option<usize>, Option<usize>),
}

impl Limits {
    fn of(column: &Column) -> Limits {
        let rules: [(&str, Holds, &str); 4] = [
            ("ge", Ordering::is_ge, "below the minimum"),
            ("gt", Ordering::is_gt, "not above the lower bound"),
            ("le", Ordering::is_le, "above the maximum"),
            ("lt", Ordering::is_lt, "not below the upper bound"),
        ];
        let bounds = rules.into_iter().filter_map(|(key, holds, text)| {
            let bound = column.json.get(key)?;
            matches!(bound, Json::Int(_) | Json::Float(_)).then(|| (bound.clone(), holds, text))
        });
        let length = |key| match column.json.get(key) {
            Some(Json::Int(digits)) => digits.parse().ok(),
            _ => None,
        };
        Limits { bounds: bounds.collect(), lengths: (length("min_length"), length("max_length")) }
    }

    fn is_empty(&self) -> bool {
        // The maximum length is that of the dtype.
        self.bounds.is_empty() && self.lengths.0.is_none()
    }

    fn check(&self, value: &Value) -> std::result::Result<(), String> {
        for (bound, holds, text) in &self.bounds {
            if let Some(order) = compare(value, bound)
                && !holds(order)
            {
                return Err(format!("the value is {text} {}", bound.to_json()));
            }
        }
        let len = match value {
            Value::Str(text) => text.chars().count(),
            Value::Bytes(bytes) => bytes.len(),
            _ => return Ok(()),
        };
        match self.lengths {
            (Some(min), _) if len < min => Err(format!("the length {len} is below {min}")),
            (_, Some(max)) if len > max => Err(format!("the length {len} is above {max}")),
            _ => Ok(()),
        }
    }
}

/// Compares a number with a bound; `None` for other values. NaN satisfies each bound.
fn compare(value: &Value, bound: &Json) -> Option<Ordering> {
    let whole = match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        _ => None,
    };
    if let (Some(number), Json::Int(digits)) = (whole, bound)
        && let Ok(bound) = digits.parse::<i128>()
    {
        return Some(number.cmp(&bound));
    }
    let number = match value {
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Float(number) => *number,
        _ => return None,
    };
    let bound = match bound {
        Json::Int(digits) => digits.parse::<f64>().ok()?,
        Json::Float(bound) => *bound,
        _ => return None,
    };
    number.partial_cmp(&bound)
}

/// Encodes an array of items, nested lists.
fn encode_nested(
    dtype: &Dtype,
    shape: &[u64],
    value: &Value,
    bytes: &mut Vec<u8>,
) -> std::result::Result<(), String> {
    let Some((&extent, inner)) = shape.split_first() else {
        return encode(dtype, value, bytes);
    };
    match value {
        Value::List(items) if items.len() as u64 == extent => {
            items.iter().try_for_each(|item| encode_nested(dtype, inner, item, bytes))
        }
        _ => Err(format!("the value is not a list of {extent} items")),
    }
}

/// Encodes an item of a dtype.
fn encode(dtype: &Dtype, value: &Value, bytes: &mut Vec<u8>) -> std::result::Result<(), String> {
    let size = usize::try_from(dtype.itemsize()).map_err(|_| "the item is too large")?;
    let start = bytes.len();
    let invalid = || format!("the value is not of the type {}", dtype.text());
    let whole = match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        _ => None,
    };
    let float = |size: usize| match value {
        Value::Float(number) => Some(*number),
        // Only integers that a float of this size can represent.
        _ => whole
            .map(|number| number as f64)
            .filter(|&float| Some(rounded(size, float) as i128) == whole),
    };
    let too_large = |number: f64| format!("{number} is out of the range of {}", dtype.text());
    match dtype.kind() {
        Kind::Bool => match value {
            Value::Bool(truth) => bytes.push((*truth).into()),
            _ => return Err(invalid()),
        },
        Kind::Int => {
            let number = whole.ok_or_else(invalid)?;
            let bits = 8 * u32::try_from(size).map_err(|_| invalid())?;
            if !(-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&number) {
                return Err(format!("{number} is out of the range of {}", dtype.text()));
            }
            bytes.extend_from_slice(&number.to_le_bytes()[..size]);
        }
        Kind::Uint => {
            let number = match value {
                // Booleans with a null value.
                Value::Bool(truth) if size == 1 => (*truth).into(),
                _ => whole.ok_or_else(invalid)?,
            };
            let bits = 8 * u32::try_from(size).map_err(|_| invalid())?;
            if !(0..1i128 << bits).contains(&number) {
                return Err(format!("{number} is out of the range of {}", dtype.text()));
            }
            bytes.extend_from_slice(&number.to_le_bytes()[..size]);
        }
        Kind::Float => {
            let number = float(size).ok_or_else(invalid)?;
            push_float(size, number, bytes).ok_or_else(|| too_large(number))?;
        }
        Kind::Complex => {
            let (re, im) = match value {
                Value::Complex(re, im) => (*re, *im),
                _ => (float(size / 2).ok_or_else(invalid)?, 0.0),
            };
            push_float(size / 2, re, bytes).ok_or_else(|| too_large(re))?;
            push_float(size / 2, im, bytes).ok_or_else(|| too_large(im))?;
        }
        Kind::Bytes => {
            let Value::Bytes(content) = value else {
                return Err(invalid());
            };
            if content.len() > size {
                return Err(format!("{} bytes are more than {size}", content.len()));
            }
            if content.last() == Some(&0) {
                return Err("zero bytes at the end would be lost".to_owned());
            }
            bytes.extend_from_slice(content);
            bytes.resize(start + size, 0);
        }
        Kind::Unicode => {
            let Value::Str(text) = value else {
                return Err(invalid());
            };
            let count = text.chars().count();
            if count > size / 4 {
                return Err(format!("{count} characters are more than {}", size / 4));
            }
            if text.ends_with('\0') {
                return Err("NUL characters at the end would be lost".to_owned());
            }
            text.chars().for_each(|char| bytes.extend_from_slice(&u32::from(char).to_le_bytes()));
            bytes.resize(start + size, 0);
        }
        _ => return Err(invalid()),
    }
    if dtype.is_big_endian() {
        let unit = match dtype.kind() {
            Kind::Complex => size / 2,
            Kind::Unicode => 4,
            _ => size,
        };
        bytes[start..].chunks_mut(unit.max(1)).for_each(<[u8]>::reverse);
    }
    Ok(())
}

/// Returns the nearest float of a size.
fn rounded(size: usize, number: f64) -> f64 {
    match size {
        2 => half_to(half_of(number)),
        4 => f64::from(number as f32),
        _ => number,
    }
}

/// Returns `None` for other sizes than 2, 4 and 8, and for finite numbers that would become
/// infinite.
fn push_float(size: usize, number: f64, bytes: &mut Vec<u8>) -> Option<()> {
    if number.is_finite() && !rounded(size, number).is_finite() {
        return None;
    }
    match size {
        2 => bytes.extend_from_slice(&half_of(number).to_le_bytes()),
        4 => bytes.extend_from_slice(&(number as f32).to_le_bytes()),
        8 => bytes.extend_from_slice(&number.to_le_bytes()),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: &str, rest: &str) -> Column {
        let text = format!(r#"{{"name": "f", "kind": "{kind}", "nullable": true{rest}}}"#);
        Column::parse(&Json::parse(text.as_bytes()).unwrap()).unwrap()
    }

    fn staged(column: &Column, value: Value) -> Result<Vec<u8>> {
        let form = Form::of(column).unwrap();
        match stage(column, form.as_ref(), Cells::Values(&[value]))? {
            Staged::Fixed { bytes, .. } => Ok(bytes),
            Staged::Values { .. } => panic!("the column has values of a fixed size"),
        }
    }

    #[test]
    fn finite_numbers_do_not_become_infinite_and_integers_are_not_rounded() {
        let single = column("float32", "");
        for value in [Value::Float(1e300), Value::Float(-3.5e38), Value::Int((1 << 24) + 1)] {
            let refused = staged(&single, value.clone());
            assert!(matches!(refused, Err(Error::Value(_))), "{value:?}: {refused:?}");
        }
        for (value, stored) in [
            (Value::Float(0.1), 0.1f32),
            (Value::Float(f64::INFINITY), f32::INFINITY),
            (Value::Float(3.4e38), 3.4e38),
            (Value::Int(1 << 24), 16_777_216.0),
            (Value::UInt(1 << 63), 9_223_372_036_854_775_808.0),
        ] {
            assert_eq!(staged(&single, value).unwrap(), stored.to_le_bytes());
        }
        let pair = column("complex64", "");
        for value in [Value::Complex(0.0, 1e39), Value::Float(1e39), Value::Int((1 << 24) + 1)] {
            assert!(staged(&pair, value.clone()).is_err(), "{value:?}");
        }
        assert!(staged(&column("complex128", ""), Value::Int((1 << 24) + 1)).is_ok());
    }

    #[test]
    fn bounds_of_any_kind_are_compared_exactly() {
        let large = Value::UInt(u64::MAX);
        for (kind, rule, good, bad) in [
            ("float64", r#""ge": 0.5"#, Value::Float(0.5), Value::Float(0.25)),
            ("float64", r#""gt": 0"#, Value::Float(1e-300), Value::Float(0.0)),
            ("float64", r#""le": 2.5"#, Value::Int(2), Value::Int(3)),
            ("int64", r#""lt": 2.5"#, Value::Int(2), Value::Int(3)),
            ("uint64", r#""gt": 18446744073709551614"#, large.clone(), Value::UInt(u64::MAX - 1)),
            ("uint64", r#""le": 9223372036854775807.5"#, Value::Int(i64::MAX), large),
        ] {
            let column = column(kind, &format!(", {rule}"));
            assert!(staged(&column, good).is_ok(), "{kind} {rule}");
            assert!(matches!(staged(&column, bad), Err(Error::Value(_))), "{kind} {rule}");
        }
        // NaN satisfies each bound, and bounds of texts mean nothing.
        assert!(staged(&column("float64", r#", "ge": 0.5"#), Value::Float(f64::NAN)).is_ok());
        let text = column("string", r#", "max_length": 2, "min_length": 1, "ge": 5"#);
        assert!(staged(&text, Value::Str("é".to_owned())).is_ok());
        assert!(staged(&text, Value::Str(String::new())).is_err());
        assert!(staged(&text, Value::Str("abc".to_owned())).is_err());
    }

    /// Readers compare numbers, so that the zero of the other sign would be read as a null.
    #[test]
    fn both_zeros_equal_a_null_value_of_zero() {
        for null in ["0.0", "-0.0", "0"] {
            for kind in ["float32", "float64"] {
                let column = column(kind, &format!(r#", "null_value": {null}"#));
                for zero in [0.0, -0.0] {
                    let refused = staged(&column, Value::Float(zero));
                    assert!(matches!(refused, Err(Error::Value(_))), "{null} {zero}");
                }
                let null = staged(&column, Value::Nil).unwrap();
                let form = Form::of(&column).unwrap().unwrap();
                let cells = Cells::Items { bytes: &null, valid: None };
                assert!(stage(&column, Some(&form), cells).is_err());
                assert!(staged(&column, Value::Float(1e-3)).is_ok());
            }
        }
    }
}
