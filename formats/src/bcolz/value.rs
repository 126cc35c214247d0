//! Converts JSON values to items, such as the fill value, and quantizes floats.

use crate::bloscpack::Value;
use crate::numpy::{Dtype, Kind, half_of, half_to, single_of};
use std::collections::TryReserveError;

/// The length of a NUL in JSON, `\u0000`.
const NUL_LEN: u64 = 6;
/// The maximum length of the default fill value of a plain dtype in JSON: `false`.
const PLAIN_LEN: u64 = 5;
/// The number of characters around an item of a list in JSON: two brackets, a comma and a space.
const AROUND: u64 = 4;

/// Returns the item of a JSON value, or `None` if it does not fit the dtype.
pub fn item_of(dtype: &Dtype, value: &Value) -> Option<Vec<u8>> {
    let mut item = vec![0; usize::try_from(dtype.itemsize()).ok()?];
    write_item(dtype, value, &mut item)?;
    Some(item)
}

/// Writes the item of a JSON value to `dest`, zeros of the item size. Returns `None` if the value
/// does not fit the dtype; `dest` then has any content.
pub fn write_item(dtype: &Dtype, value: &Value, dest: &mut [u8]) -> Option<()> {
    let is_big_endian = dtype.is_big_endian();
    match dtype.kind() {
        Kind::Bool => put(&[u8::from(integer(value)? != 0)], false, dest),
        Kind::Int | Kind::Datetime | Kind::Timedelta => {
            put(&signed(integer(value)?, dest.len())?, is_big_endian, dest)
        }
        Kind::Uint => put(&unsigned(integer(value)?, dest.len())?, is_big_endian, dest),
        Kind::Float => put(&float(number(value)?, dest.len())?, is_big_endian, dest),
        Kind::Complex => {
            let (real, _) = dest.split_at_mut(dest.len() / 2);
            put(&float(number(value)?, real.len())?, is_big_endian, real)
        }
        Kind::Bytes | Kind::Void => bytes(text(value)?, dest),
        Kind::Unicode => characters(text(value)?, dest, is_big_endian),
        Kind::Object => None,
        Kind::Record => record(dtype, value, dest),
    }
}

/// Copies a number to `dest`, which has the same length.
fn put(little_endian: &[u8], is_big_endian: bool, dest: &mut [u8]) -> Option<()> {
    dest.copy_from_slice(little_endian);
    if is_big_endian {
        dest.reverse();
    }
    Some(())
}

/// Returns a row of fill values: `value` as each item, or, in files of bcolz before 1.1, nested
/// lists of the row's shape. Returns zeros for an invalid value.
///
/// # Errors
/// The allocation of `row_bytes` bytes failed.
pub fn row_of(
    dtype: &Dtype,
    value: &Value,
    shape: &[u64],
    row_bytes: usize,
) -> std::result::Result<Vec<u8>, TryReserveError> {
    let mut row = Vec::new();
    row.try_reserve_exact(row_bytes)?;
    row.resize(row_bytes, 0);
    let size = usize::try_from(dtype.itemsize()).unwrap_or(usize::MAX);
    let first = row.get_mut(..size).filter(|first| !first.is_empty());
    if first.is_some_and(|first| write_item(dtype, value, first).is_some()) {
        // The row consists of complete items.
        for start in (size..row_bytes).step_by(size) {
            row.copy_within(..size, start);
        }
        return Ok(row);
    }
    row.fill(0);
    if nested(dtype, value, shape, &mut row).is_none() {
        row.fill(0);
    }
    Ok(row)
}

/// Writes the items of nested lists of a shape to `dest`, which has their size and contains zeros.
fn nested(dtype: &Dtype, value: &Value, shape: &[u64], dest: &mut [u8]) -> Option<()> {
    let Some((&len, shape)) = shape.split_first() else {
        return write_item(dtype, value, dest);
    };
    let Value::List(items) = value else {
        return None;
    };
    if items.len() as u64 != len {
        return None;
    }
    if dest.is_empty() {
        return Some(());
    }
    let parts = dest.chunks_exact_mut(dest.len() / items.len());
    items.iter().zip(parts).try_for_each(|(item, part)| nested(dtype, item, shape, part))
}

/// Returns an upper bound of the number of characters of the default fill value in JSON, or `None`
/// if it overflows.
pub fn default_len(dtype: &Dtype) -> Option<u64> {
    match dtype.kind() {
        Kind::Void => dtype.itemsize().checked_mul(NUL_LEN)?.checked_add(AROUND),
        Kind::Record => dtype.fields().iter().try_fold(AROUND, |len, field| {
            let item = default_len(&field.dtype)?.checked_add(AROUND)?;
            let item = item.checked_add(AROUND * field.shape.len() as u64)?;
            // A list of an empty shape may have long lists while it is made.
            let all = field.shape.iter().try_fold(item, |all, &len| all.checked_mul(len.max(1)))?;
            len.checked_add(all)
        }),
        _ => Some(PLAIN_LEN),
    }
}

/// Returns the default fill value of bcolz.
pub fn default_of(dtype: &Dtype) -> Value {
    match dtype.kind() {
        Kind::Bool => Value::Bool(false),
        Kind::Float => Value::Float(0.0),
        Kind::Bytes | Kind::Unicode => Value::from(""),
        Kind::Void => Value::Text("\0".repeat(dtype.itemsize() as usize)),
        Kind::Record => {
            let field = |field: &crate::numpy::Field| {
                let mut value = default_of(&field.dtype);
                for &len in field.shape.iter().rev() {
                    value = Value::List(vec![value; len as usize]);
                }
                value
            };
            Value::List(dtype.fields().iter().map(field).collect())
        }
        // bcolz cannot write other values for times and complex numbers.
        Kind::Int
        | Kind::Uint
        | Kind::Complex
        | Kind::Datetime
        | Kind::Timedelta
        | Kind::Object => Value::from(0),
    }
}

fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Bool(value) => Some(i128::from(*value)),
        Value::Int(digits) => digits.parse().ok(),
        _ => None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Int(digits) => digits.parse().ok(),
        Value::Bool(value) => Some(f64::from(u8::from(*value))),
        _ => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn signed(number: i128, size: usize) -> Option<Vec<u8>> {
    let limit = 1_i128 << (8 * size - 1);
    (-limit..limit).contains(&number).then(|| number.to_le_bytes()[..size].to_vec())
}

fn unsigned(number: i128, size: usize) -> Option<Vec<u8>> {
    let limit = 1_i128 << (8 * size);
    (0..limit).contains(&number).then(|| number.to_le_bytes()[..size].to_vec())
}

fn float(number: f64, size: usize) -> Option<Vec<u8>> {
    match size {
        2 => Some(half_of(number).to_le_bytes().to_vec()),
        4 => Some(single_of(number).to_le_bytes().to_vec()),
        8 => Some(number.to_le_bytes().to_vec()),
        // The platform's long double; only zero is portable.
        _ => (number == 0.0 && number.is_sign_positive()).then(|| vec![0; size]),
    }
}

fn bytes(text: &str, dest: &mut [u8]) -> Option<()> {
    let mut dest = dest.iter_mut();
    text.chars().try_for_each(|c| {
        *dest.next()? = u8::try_from(u32::from(c)).ok()?;
        Some(())
    })
}

fn characters(text: &str, dest: &mut [u8], is_big_endian: bool) -> Option<()> {
    let mut dest = dest.chunks_exact_mut(size_of::<u32>());
    text.chars().try_for_each(|c| put(&u32::from(c).to_le_bytes(), is_big_endian, dest.next()?))
}

fn record(dtype: &Dtype, value: &Value, dest: &mut [u8]) -> Option<()> {
    let Value::List(values) = value else {
        return None;
    };
    if values.len() != dtype.fields().len() {
        return None;
    }
    for (field, value) in dtype.fields().iter().zip(values) {
        let start = usize::try_from(field.offset).ok()?;
        let len = usize::try_from(field.nbytes()?).ok()?;
        let part = dest.get_mut(start..start.checked_add(len)?)?;
        // Fields may overlap.
        part.fill(0);
        nested(&field.dtype, value, &field.shape, part)?;
    }
    Some(())
}

/// Whether values of this dtype can be quantized.
pub fn can_quantize(dtype: &Dtype) -> bool {
    dtype.kind() == Kind::Float && matches!(dtype.itemsize(), 2 | 4 | 8)
}

/// Rounds floats to a multiple of a power of two that keeps about `digits` decimal places.
pub fn quantize(dtype: &Dtype, digits: u32, items: &mut [u8]) {
    let size = dtype.itemsize() as usize;
    let scale = f64::powi(2.0, (f64::from(digits) * f64::log2(10.0)).ceil() as i32);
    for item in items.chunks_exact_mut(size) {
        if dtype.is_big_endian() {
            item.reverse();
        }
        match &mut *item {
            [a, b] => {
                let scaled = half_to(half_of(half_to(u16::from_le_bytes([*a, *b])) * scale));
                let rounded = half_of(scaled.round_ties_even() / scale);
                [*a, *b] = rounded.to_le_bytes();
            }
            [a, b, c, d] => {
                let scaled = f32::from_le_bytes([*a, *b, *c, *d]) * scale as f32;
                let rounded = scaled.round_ties_even() / scale as f32;
                [*a, *b, *c, *d] = rounded.to_le_bytes();
            }
            other => {
                if let Some(bytes) = other.first_chunk_mut::<8>() {
                    let scaled = f64::from_le_bytes(*bytes) * scale;
                    *bytes = (scaled.round_ties_even() / scale).to_le_bytes();
                }
            }
        }
        if dtype.is_big_endian() {
            item.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(dtype: &str, json: &str) -> Option<Vec<u8>> {
        let value = Value::parse(json.as_bytes()).unwrap();
        item_of(&Dtype::parse(dtype).unwrap(), &value)
    }

    #[test]
    fn values_are_converted_to_items() {
        assert_eq!(item("int32", "7"), Some(vec![7, 0, 0, 0]));
        assert_eq!(item(">i4", "-2"), Some(vec![255, 255, 255, 254]));
        assert_eq!(item("int8", "128"), None);
        assert_eq!(item("uint64", "18446744073709551615"), Some(vec![255; 8]));
        assert_eq!(item("uint8", "-1"), None);
        assert_eq!(item("bool", "true"), Some(vec![1]));
        assert_eq!(item("float64", "1.5"), Some(1.5_f64.to_le_bytes().to_vec()));
        assert_eq!(item("float32", "Infinity"), Some(f32::INFINITY.to_le_bytes().to_vec()));
        assert_eq!(item("|S3", "\"ab\""), Some(b"ab\0".to_vec()));
        assert_eq!(item("|S1", "\"ab\""), None);
        assert_eq!(item(">U1", "\"é\""), Some(vec![0, 0, 0, 0xE9]));
        assert_eq!(item("datetime64[s]", "0"), Some(vec![0; 8]));
        assert_eq!(item("complex64", "2"), Some([2_f32.to_le_bytes(), [0; 4]].concat()));
        assert_eq!(item("[('a', '<i2'), ('b', '|S2')]", "[1, \"x\"]"), Some(vec![1, 0, b'x', 0]));
        assert_eq!(item("[('a', '<i2')]", "[1, 2]"), None);
        assert_eq!(item("float64", "true"), Some(1_f64.to_le_bytes().to_vec()));
        for (dtype, json) in [
            ("|O", "0"),
            ("|S3", "0"),
            (">U3", "null"),
            ("|S3", "\"\u{100}\""),
            (">U1", "\"ab\""),
            ("float64", "\"x\""),
            ("int64", "1.5"),
            ("[('a', '<i2')]", "1"),
            ("[('a', '<i2', (2,))]", "[[1]]"),
        ] {
            assert_eq!(item(dtype, json), None, "{dtype} {json}");
        }
        // Long doubles are not portable, except zero.
        assert_eq!(item("float128", "0"), Some(vec![0; 16]));
        assert_eq!(item("complex256", "0.0"), Some(vec![0; 32]));
        for number in ["-0.0", "1", "NaN"] {
            assert_eq!(item("float128", number), None);
        }
    }

    #[test]
    fn default_values_have_the_form_of_bcolz() {
        for (dtype, json) in [
            ("bool", "false"),
            ("float32", "0.0"),
            ("|S3", "\"\""),
            ("|V2", "\"\\u0000\\u0000\""),
            ("datetime64[s]", "0"),
            ("complex64", "0"),
            ("[('a', '<i2', (2, 1)), ('b', '|S2')]", "[[[0], [0]], \"\"]"),
        ] {
            let dtype = Dtype::parse(dtype).unwrap();
            let default = default_of(&dtype);
            assert_eq!(default.to_spaced_json(), json);
            assert!(default_len(&dtype).unwrap() >= json.len() as u64, "{json}");
            assert_eq!(item_of(&dtype, &default), Some(vec![0; dtype.itemsize() as usize]));
        }
        let field = |shape: u64| Dtype::parse(&format!("[('a', '|V9', ({shape},))]")).unwrap();
        assert_eq!(default_len(&field(10)), Some(4 + 10 * (9 * 6 + 12)));
    }

    #[test]
    fn rows_are_filled_from_items_lists_or_zeros() {
        let dtype = Dtype::parse("int16").unwrap();
        let row = |json: &str| {
            row_of(&dtype, &Value::parse(json.as_bytes()).unwrap(), &[2, 2], 8).unwrap()
        };
        assert_eq!(row("3"), [3, 0, 3, 0, 3, 0, 3, 0]);
        assert_eq!(row("[[1, 2], [3, 4]]"), [1, 0, 2, 0, 3, 0, 4, 0]);
        assert_eq!(row("[[1, 2], [3]]"), [0; 8]);
        assert_eq!(row("\"x\""), [0; 8]);
    }

    #[test]
    fn quantized_floats_match_bcolz() {
        // The results of bcolz with one digit.
        let plain = [1.0 / 3.0, 2.5 / 16.0, -1.0 / 3.0, 60000.0, 1.03125, 1.0 / 4096.0];
        let wide = [0.3125, 0.125, -0.3125, 60000.0, 1.0, 0.0];
        let quantized = |text: &str, mut items: Vec<u8>| {
            quantize(&Dtype::parse(text).unwrap(), 1, &mut items);
            items
        };
        let doubles = |numbers: &[f64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(quantized("float64", doubles(&plain)), doubles(&wide) as Vec<u8>);
        let swapped = |numbers: &[f64]| numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
        assert_eq!(quantized(">f8", swapped(&plain)), swapped(&wide) as Vec<u8>);
        let singles =
            |numbers: &[f64]| numbers.iter().flat_map(|n| (*n as f32).to_le_bytes()).collect();
        assert_eq!(quantized("float32", singles(&plain)), singles(&wide) as Vec<u8>);
        let halves =
            |numbers: &[f64]| numbers.iter().flat_map(|n| half_of(*n).to_le_bytes()).collect();
        let narrow = [0.3125, 0.125, -0.3125, f64::INFINITY, 1.0, 0.0];
        assert_eq!(quantized("float16", halves(&plain)), halves(&narrow) as Vec<u8>);
    }
}
