//! Values of Arrow arrays, and arrays of values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, DictionaryArray, FixedSizeListArray, Int32Array,
    ListArray, PrimitiveArray, StringArray, StructArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, TimeUnit};

use crate::store::{Items, Texts, Value};

/// The maximum size of the texts and bytes that a batch becomes: a dictionary can repeat them.
pub const MAX_SIZE: usize = 1 << 30;
/// The number of seconds of a day.
const DAY: i64 = 86_400;

type Converted<T> = Result<T, String>;

/// Returns the values of an array. Texts and bytes use `left`, a number of bytes.
pub fn values_of(array: &dyn Array, left: &mut usize) -> Converted<Vec<Value>> {
    macro_rules! numbers {
        ($type:ty, $number:ident => $value:expr) => {
            array
                .as_primitive::<$type>()
                .iter()
                .map(|number| number.map_or(Value::Nil, |$number| $value))
                .collect()
        };
    }
    macro_rules! texts {
        ($array:expr, $variant:ident, $convert:ident) => {{
            let mut values = Vec::with_capacity(array.len());
            for text in $array.iter() {
                values.push(match text {
                    None => Value::Nil,
                    Some(text) => {
                        charge(left, text.len())?;
                        Value::$variant(text.$convert())
                    }
                });
            }
            values
        }};
    }
    Ok(match array.data_type() {
        DataType::Boolean => {
            array.as_boolean().iter().map(|truth| truth.map_or(Value::Nil, Value::Bool)).collect()
        }
        DataType::Int8 => numbers!(Int8Type, number => Value::Int(number.into())),
        DataType::Int16 => numbers!(Int16Type, number => Value::Int(number.into())),
        DataType::Int32 => numbers!(Int32Type, number => Value::Int(number.into())),
        DataType::Int64 => numbers!(Int64Type, number => Value::Int(number)),
        DataType::UInt8 => numbers!(UInt8Type, number => Value::Int(number.into())),
        DataType::UInt16 => numbers!(UInt16Type, number => Value::Int(number.into())),
        DataType::UInt32 => numbers!(UInt32Type, number => Value::Int(number.into())),
        DataType::UInt64 => numbers!(UInt64Type, number => match i64::try_from(number) {
            Ok(number) => Value::Int(number),
            Err(_) => Value::UInt(number),
        }),
        DataType::Float16 => numbers!(Float16Type, number => Value::Float(number.to_f64())),
        DataType::Float32 => numbers!(Float32Type, number => Value::Float(number.into())),
        DataType::Float64 => numbers!(Float64Type, number => Value::Float(number)),
        DataType::Date32 => numbers!(Date32Type, days => Value::Int(i64::from(days) * DAY)),
        DataType::Date64 => numbers!(Date64Type, ticks => Value::Int(ticks)),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => numbers!(TimestampSecondType, ticks => Value::Int(ticks)),
            TimeUnit::Millisecond => {
                numbers!(TimestampMillisecondType, ticks => Value::Int(ticks))
            }
            TimeUnit::Microsecond => {
                numbers!(TimestampMicrosecondType, ticks => Value::Int(ticks))
            }
            TimeUnit::Nanosecond => numbers!(TimestampNanosecondType, ticks => Value::Int(ticks)),
        },
        DataType::Utf8 => texts!(array.as_string::<i32>(), Str, to_owned),
        DataType::LargeUtf8 => texts!(array.as_string::<i64>(), Str, to_owned),
        DataType::Utf8View => texts!(array.as_string_view(), Str, to_owned),
        DataType::Binary => texts!(array.as_binary::<i32>(), Bytes, to_vec),
        DataType::LargeBinary => texts!(array.as_binary::<i64>(), Bytes, to_vec),
        DataType::BinaryView => texts!(array.as_binary_view(), Bytes, to_vec),
        DataType::FixedSizeBinary(_) => texts!(array.as_fixed_size_binary(), Bytes, to_vec),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = values_of(dictionary.values().as_ref(), &mut MAX_SIZE.clone())?;
            let keys = dictionary.keys();
            let numbers = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            let mut found = Vec::with_capacity(array.len());
            for row in 0..array.len() {
                if keys.is_null(row) {
                    found.push(Value::Nil);
                    continue;
                }
                let value = numbers.get(row).and_then(|&number| values.get(number));
                let value = value.ok_or("a key is not in the dictionary")?;
                charge(left, size_of(value))?;
                found.push(value.clone());
            }
            found
        }
        DataType::List(_) => lists(array.as_list::<i32>().values(), array, left, |row| {
            let offsets = array.as_list::<i32>().value_offsets();
            (offsets[row] as usize, offsets[row + 1] as usize)
        })?,
        DataType::LargeList(_) => lists(array.as_list::<i64>().values(), array, left, |row| {
            let offsets = array.as_list::<i64>().value_offsets();
            (offsets[row] as usize, offsets[row + 1] as usize)
        })?,
        DataType::FixedSizeList(_, len) => {
            let list = array.as_fixed_size_list();
            let len = usize::try_from(*len).map_err(|_| "a length is negative")?;
            let first = list.value_offset_at(0);
            lists(list.values(), array, left, |row| (first + row * len, first + (row + 1) * len))?
        }
        DataType::Struct(fields) => {
            let record = array.as_struct();
            let mut columns = Vec::new();
            for column in record.columns() {
                columns.push(values_of(column, left)?.into_iter());
            }
            let mut found = Vec::with_capacity(array.len());
            for row in 0..array.len() {
                let mut entries = Vec::with_capacity(columns.len());
                for (column, field) in columns.iter_mut().zip(fields) {
                    charge(left, field.name().len())?;
                    let value = column.next().ok_or("a field is too short")?;
                    entries.push((Value::Str(field.name().clone()), value));
                }
                found.push(if array.is_null(row) { Value::Nil } else { Value::Map(entries) });
            }
            found
        }
        other => return Err(format!("the Arrow type {other} is not supported in tables")),
    })
}

fn size_of(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.iter().map(|item| 32 + size_of(item)).sum(),
        Value::Map(entries) => entries.iter().map(|(_, value)| 64 + size_of(value)).sum(),
        _ => 0,
    }
}

fn charge(left: &mut usize, size: usize) -> Converted<()> {
    *left = left.checked_sub(size).ok_or("the values of a batch have more than 1 GiB")?;
    Ok(())
}

/// Returns the lists of an array; `range_of` returns the items of a row.
fn lists(
    items: &ArrayRef,
    array: &dyn Array,
    left: &mut usize,
    range_of: impl Fn(usize) -> (usize, usize),
) -> Converted<Vec<Value>> {
    let Some(last) = array.len().checked_sub(1) else {
        return Ok(Vec::new());
    };
    // The array can be a slice of others.
    let (start, end) = (range_of(0).0, range_of(last).1);
    let len = end.checked_sub(start).ok_or("the offsets are decreasing")?;
    if end > items.len() {
        return Err("the offsets exceed the items".to_owned());
    }
    charge(left, len.saturating_mul(32))?;
    let mut values = values_of(items.slice(start, len).as_ref(), left)?.into_iter();
    let mut found = Vec::with_capacity(array.len());
    for row in 0..array.len() {
        let (from, to) = range_of(row);
        let count = to.checked_sub(from).ok_or("the offsets are decreasing")?;
        let items: Vec<Value> = values.by_ref().take(count).collect();
        found.push(if array.is_null(row) { Value::Nil } else { Value::List(items) });
    }
    Ok(found)
}

fn mismatch(data_type: &DataType) -> String {
    format!("a value is not of the type {data_type}")
}

/// Whether texts or bytes of these sizes fit into one array, whose offsets have 32 bits.
pub fn fits(sizes: impl Iterator<Item = usize>) -> bool {
    i32::try_from(sizes.fold(0, usize::saturating_add)).is_ok()
}

fn check_sizes(sizes: impl Iterator<Item = usize>) -> Converted<()> {
    if fits(sizes) { Ok(()) } else { Err("the values of a batch have more than 2 GiB".to_owned()) }
}

/// Returns an array of values; nulls are [`Value::Nil`].
pub fn array_of(data_type: &DataType, values: &[&Value]) -> Converted<ArrayRef> {
    macro_rules! integers {
        ($type:ty) => {{
            let number = |value: &&Value| match value {
                Value::Nil => Ok(None),
                Value::Int(number) => {
                    (*number).try_into().map(Some).map_err(|_| mismatch(data_type))
                }
                Value::UInt(number) => {
                    (*number).try_into().map(Some).map_err(|_| mismatch(data_type))
                }
                _ => Err(mismatch(data_type)),
            };
            let numbers: Vec<Option<<$type as ArrowPrimitiveType>::Native>> =
                values.iter().map(number).collect::<Converted<_>>()?;
            let array = PrimitiveArray::<$type>::from_iter(numbers);
            Arc::new(array.with_data_type(data_type.clone()))
        }};
    }
    macro_rules! floats {
        ($type:ty, $native:ty) => {{
            let number = |value: &&Value| match value {
                Value::Nil => Ok(None),
                Value::Float(number) => Ok(Some(*number as $native)),
                // Stored integers, although the schema requires floats: only exact ones.
                Value::Int(number) if *number as $native as i128 == i128::from(*number) => {
                    Ok(Some(*number as $native))
                }
                Value::UInt(number) if *number as $native as i128 == i128::from(*number) => {
                    Ok(Some(*number as $native))
                }
                _ => Err(mismatch(data_type)),
            };
            let numbers = values.iter().map(number).collect::<Converted<Vec<_>>>()?;
            Arc::new(PrimitiveArray::<$type>::from_iter(numbers))
        }};
    }
    let nulls = || -> Option<NullBuffer> {
        let valid: Vec<bool> = values.iter().map(|value| **value != Value::Nil).collect();
        valid.contains(&false).then(|| NullBuffer::from(valid))
    };
    let failed = |error: arrow_schema::ArrowError| error.to_string();
    Ok(match data_type {
        DataType::Boolean => {
            let truth = |value: &&Value| match value {
                Value::Nil => Ok(None),
                Value::Bool(truth) => Ok(Some(*truth)),
                _ => Err(mismatch(data_type)),
            };
            let truths = values.iter().map(truth).collect::<Converted<Vec<_>>>()?;
            Arc::new(BooleanArray::from(truths))
        }
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => integers!(UInt64Type),
        DataType::Float32 => floats!(Float32Type, f32),
        DataType::Float64 => floats!(Float64Type, f64),
        DataType::Timestamp(TimeUnit::Second, _) => integers!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => integers!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => integers!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => integers!(TimestampNanosecondType),
        DataType::Utf8 => {
            let mut found: Vec<Option<&str>> = Vec::with_capacity(values.len());
            for value in values {
                found.push(match value {
                    Value::Nil => None,
                    Value::Str(text) => Some(text),
                    _ => return Err(mismatch(data_type)),
                });
            }
            check_sizes(found.iter().flatten().map(|text| text.len()))?;
            Arc::new(StringArray::from(found))
        }
        DataType::Binary => {
            let mut found: Vec<Option<&[u8]>> = Vec::with_capacity(values.len());
            for value in values {
                found.push(match value {
                    Value::Nil => None,
                    Value::Bytes(bytes) => Some(bytes),
                    _ => return Err(mismatch(data_type)),
                });
            }
            check_sizes(found.iter().flatten().map(|bytes| bytes.len()))?;
            Arc::new(BinaryArray::from(found))
        }
        DataType::List(item) => {
            let (mut items, mut lens) = (Vec::new(), Vec::with_capacity(values.len()));
            for value in values {
                match value {
                    Value::Nil => lens.push(0),
                    Value::List(list) => {
                        lens.push(list.len());
                        items.extend(list);
                    }
                    _ => return Err(mismatch(data_type)),
                }
            }
            if i32::try_from(items.len()).is_err() {
                return Err("the lists of a batch are too long".to_owned());
            }
            let items = array_of(item.data_type(), &items)?;
            let offsets = OffsetBuffer::from_lengths(lens);
            Arc::new(ListArray::try_new(Arc::clone(item), offsets, items, nulls()).map_err(failed)?)
        }
        DataType::FixedSizeList(item, len) => {
            let count = usize::try_from(*len).map_err(|_| mismatch(data_type))?;
            let mut items = Vec::new();
            for value in values {
                match value {
                    Value::Nil => items.extend((0..count).map(|_| &Value::Nil)),
                    Value::List(list) if list.len() == count => items.extend(list),
                    _ => return Err(mismatch(data_type)),
                }
            }
            let items = array_of(item.data_type(), &items)?;
            let array = FixedSizeListArray::try_new(Arc::clone(item), *len, items, nulls());
            Arc::new(array.map_err(failed)?)
        }
        DataType::Struct(fields) => {
            for value in values {
                let is_known = |(name, _): &(Value, Value)| {
                    let name = name.as_str();
                    fields.iter().any(|field| Some(field.name().as_str()) == name)
                };
                match value {
                    Value::Nil => {}
                    Value::Map(entries) if entries.iter().all(is_known) => {}
                    _ => return Err("a map has fields that the schema does not have".to_owned()),
                }
            }
            let mut arrays = Vec::new();
            for field in fields {
                let column = values.iter().map(|value| value.get(field.name()));
                let column: Vec<&Value> =
                    column.map(|value| value.unwrap_or(&Value::Nil)).collect();
                arrays.push(array_of(field.data_type(), &column)?);
            }
            let array =
                StructArray::try_new_with_length(fields.clone(), arrays, nulls(), values.len());
            Arc::new(array.map_err(failed)?)
        }
        other => return Err(format!("arrays of the type {other} are not written")),
    })
}

/// Returns an array of texts.
pub fn text_array(texts: &Texts) -> Converted<ArrayRef> {
    let offsets = texts.offsets.iter().map(|&offset| i32::try_from(offset)).collect();
    let offsets: Vec<i32> =
        Result::map_err(offsets, |_| "the values of a batch have more than 2 GiB".to_owned())?;
    let nulls = texts.valid.as_ref().map(|valid| NullBuffer::from(&valid[..]));
    let bytes = Buffer::from_slice_ref(&texts.bytes);
    let array = StringArray::try_new(OffsetBuffer::new(offsets.into()), bytes, nulls);
    Ok(Arc::new(array.map_err(|error| error.to_string())?))
}

/// Returns the array of a dictionary for codes.
pub fn dictionary_array(items: &Items, texts: &ArrayRef) -> Converted<ArrayRef> {
    let size = usize::try_from(items.dtype.itemsize()).unwrap_or(0).clamp(1, 8);
    let mut codes = Vec::with_capacity(items.bytes.len() / size);
    for (row, bytes) in items.bytes.chunks_exact(size).enumerate() {
        if items.valid.as_ref().is_some_and(|valid| !valid[row]) {
            codes.push(None);
            continue;
        }
        let mut number = [0; 8];
        number[..size].copy_from_slice(bytes);
        if items.dtype.is_big_endian() {
            number[..size].reverse();
        }
        if number[size - 1] >= 0x80 {
            number[size..].fill(0xff);
        }
        let code = i64::from_le_bytes(number);
        let known = usize::try_from(code).is_ok_and(|code| code < texts.len());
        let code = i32::try_from(code).ok().filter(|_| known);
        codes.push(Some(code.ok_or_else(|| format!("there is no value for a code in row {row}"))?));
    }
    let codes = Int32Array::from(codes);
    let array = DictionaryArray::<Int32Type>::try_new(codes, Arc::clone(texts));
    Ok(Arc::new(array.map_err(|error| error.to_string())?))
}
