//! Values of attributes, object arrays and tables, and their encoding in MessagePack.
//!
//! Stores use MessagePack with these conventions:
//!
//! | encoding | value |
//! |---|---|
//! | array that starts with the string `__tuple__` | [`Value::Tuple`] |
//! | ext 44: two big-endian floats | [`Value::Complex`] |
//! | ext 45: an array | [`Value::Set`] |
//! | ext 46: a map with `dtype`, `shape` and `data`, or `values` and `shape` | arrays of NumPy |
//! | ext 42: a contiguous frame | [`Value::Frame`] |
//! | ext 43: a map | [`Value::Reference`] |
//!
//! References are returned as data and never resolved.

use super::error::Error;
use super::limits::{MAX_DEPTH, MAX_VALUES};
use crate::bloscpack::Value as Json;
use crate::msgpack;
use crate::numpy::{Dtype, Kind, Literal};

pub(super) const TUPLE: &str = "__tuple__";
pub(super) const EXT_FRAME: i8 = 42;
pub(super) const EXT_REFERENCE: i8 = 43;
pub(super) const EXT_COMPLEX: i8 = 44;
pub(super) const EXT_SET: i8 = 45;
pub(super) const EXT_ARRAY: i8 = 46;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The upper bound of the memory in bytes that a value needs while it is decoded, besides its text
/// or bytes: twice, in vectors that grow.
pub(super) const MAX_VALUE_SIZE: u64 = 160;
/// The memory of a value without its content, in bytes.
const VALUE_SIZE: u64 = size_of::<Value>() as u64;
/// The number of significant digits that identify each float. More digits do not change it, and
/// formatting panics above 65,536.
const MAX_DIGITS: usize = 17;
/// The budget after a message with too many values.
const EXHAUSTED: u64 = u64::MAX;

/// The reason why a message is not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes are not one MessagePack value.
    Invalid,
    /// There are more values than allowed.
    TooMany,
}

/// A value of an attribute, an object array or a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// None; in tables, a null.
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer below 2^63. Times in tables are ticks since 1970, or -2^63 for NaT.
    Int(i64),
    /// An integer of at least 2^63.
    UInt(u64),
    /// A float.
    Float(f64),
    /// A complex number: the real and the imaginary part.
    Complex(f64, f64),
    /// A text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list. Items of array columns are nested lists.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A set, in the stored order.
    Set(Vec<Value>),
    /// A map, in the stored order. Keys can be of any type and repeat.
    Map(Vec<(Value, Value)>),
    /// An array of NumPy.
    Array(Box<ArrayValue>),
    /// An array of Python objects.
    Objects(Box<ObjectsValue>),
    /// A contiguous frame, not opened.
    Frame(Vec<u8>),
    /// The description of an object outside of the value, not resolved.
    Reference(Box<Value>),
    /// An unknown extension: its code and content.
    Ext(i8, Vec<u8>),
    /// Bytes that are not one MessagePack value, such as attributes of C programs.
    Raw(Vec<u8>),
}

/// An array of NumPy in a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArrayValue {
    /// The type of the items.
    pub dtype: Dtype,
    /// The extent of each dimension, in items.
    pub shape: Vec<u64>,
    /// The items in C order.
    pub items: Vec<u8>,
}

/// An array of Python objects in a value.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObjectsValue {
    /// The values in C order.
    pub values: Vec<Value>,
    /// The extent of each dimension, in items.
    pub shape: Vec<u64>,
}

impl Value {
    /// Decodes exactly one MessagePack value, nested at most 64 levels deep, with at most 4,194,304
    /// values in it.
    ///
    /// Returns `None` if the bytes are empty, invalid, nested deeper, or followed by others, if a
    /// known extension has invalid content, and for more values.
    pub fn decode(bytes: &[u8]) -> Option<Value> {
        Value::decode_limited(bytes, MAX_VALUES).ok()
    }

    /// As [`Value::decode`], with another limit of the number of values.
    ///
    /// # Errors
    /// [`Fault`]
    pub(super) fn decode_limited(bytes: &[u8], max_values: u64) -> Result<Value, Fault> {
        Value::decode_within(bytes, &mut { max_values })
    }

    /// As [`Value::decode`]; `budget` is the number of values that may still be decoded.
    ///
    /// # Errors
    /// [`Fault`]
    pub(super) fn decode_within(bytes: &[u8], budget: &mut u64) -> Result<Value, Fault> {
        match decode(bytes, MAX_DEPTH, budget) {
            Some(value) => Ok(value),
            None if *budget == EXHAUSTED => Err(Fault::TooMany),
            None => Err(Fault::Invalid),
        }
    }

    /// As [`Value::decode`], but returns undecodable bytes as [`Value::Raw`].
    pub(super) fn decode_or_raw(bytes: Vec<u8>) -> Value {
        Value::decode(&bytes).unwrap_or(Value::Raw(bytes))
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a non-negative integer.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::Int(number) => u64::try_from(number).ok(),
            Value::UInt(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the value of a string key of a map; of repeated keys, the last one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => {
                let found = entries.iter().rev().find(|(name, _)| name.as_str() == Some(key));
                found.map(|(_, value)| value)
            }
            _ => None,
        }
    }

    fn is_scalar(&self) -> bool {
        use Value::{Bool, Bytes, Complex, Float, Int, Nil, Str, UInt};
        matches!(
            self,
            Nil | Bool(_) | Int(_) | UInt(_) | Float(_) | Complex(..) | Str(_) | Bytes(_)
        )
    }

    /// Returns the memory of the value in bytes, including the value itself.
    pub(super) fn memory(&self) -> u64 {
        let all = |values: &[Value]| values.iter().map(Value::memory).sum::<u64>();
        let content = match self {
            Value::Str(text) => text.len() as u64,
            Value::Bytes(bytes)
            | Value::Frame(bytes)
            | Value::Ext(_, bytes)
            | Value::Raw(bytes) => bytes.len() as u64,
            Value::List(values) | Value::Tuple(values) | Value::Set(values) => all(values),
            Value::Map(entries) => {
                entries.iter().map(|(key, value)| key.memory() + value.memory()).sum()
            }
            Value::Array(array) => {
                let shape = size_of_val(&array.shape[..]);
                (size_of::<ArrayValue>() + array.items.len() + shape) as u64
            }
            Value::Objects(objects) => {
                let shape = size_of_val(&objects.shape[..]);
                (size_of::<ObjectsValue>() + shape) as u64 + all(&objects.values)
            }
            Value::Reference(content) => content.memory(),
            _ => 0,
        };
        VALUE_SIZE + content
    }

    /// Converts JSON to a value. Integers have at most 64 bits.
    ///
    /// # Errors
    /// [`Error::Value`] for larger integers.
    pub fn from_json(json: &Json) -> Result<Value, Error> {
        Ok(match json {
            Json::Null => Value::Nil,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Int(digits) => match (digits.parse(), digits.parse()) {
                (Ok(number), _) => Value::Int(number),
                (_, Ok(number)) => Value::UInt(number),
                _ => return Err(Error::Value(format!("the integer {digits} is too large"))),
            },
            Json::Float(number) => Value::Float(*number),
            Json::Text(text) => Value::Str(text.clone()),
            Json::List(items) => {
                Value::List(items.iter().map(Value::from_json).collect::<Result<_, _>>()?)
            }
            Json::Object(entries) => {
                let entry = |(name, value): &(String, Json)| {
                    Ok((Value::Str(name.clone()), Value::from_json(value)?))
                };
                Value::Map(entries.iter().map(entry).collect::<Result<_, Error>>()?)
            }
        })
    }

    /// Returns the text of the value in a CSV file: nothing for null, texts and valid UTF-8 as they
    /// are, other bytes in base64, and JSON for all others.
    pub fn to_field(&self) -> String {
        if let Value::Bytes(bytes) = self
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return text.to_owned();
        }
        match self {
            Value::Nil => String::new(),
            Value::Str(text) => text.clone(),
            other => match other.to_json() {
                Json::Text(text) => text,
                json => json.to_spaced_json(),
            },
        }
    }

    /// Returns the value with floats of `digits` significant digits, also in lists and maps. Arrays
    /// are unchanged.
    pub fn rounded(self, digits: usize) -> Value {
        let all = |values: Vec<Value>| values.into_iter().map(|value| value.rounded(digits));
        let round = |value: f64| {
            let text = format!("{value:.*e}", digits.clamp(1, MAX_DIGITS) - 1);
            text.parse().ok().filter(|value: &f64| value.is_finite()).unwrap_or(value)
        };
        match self {
            Value::Float(value) if value.is_finite() => Value::Float(round(value)),
            Value::Complex(real, imaginary) if real.is_finite() && imaginary.is_finite() => {
                Value::Complex(round(real), round(imaginary))
            }
            Value::List(values) => Value::List(all(values).collect()),
            Value::Tuple(values) => Value::Tuple(all(values).collect()),
            Value::Set(values) => Value::Set(all(values).collect()),
            Value::Map(entries) => {
                let entry = |(key, value): (Value, Value)| (key, value.rounded(digits));
                Value::Map(entries.into_iter().map(entry).collect())
            }
            other => other,
        }
    }

    /// Converts the value to JSON: bytes become base64 text, tuples and sets become lists, and
    /// extensions become objects with their type and content. A map with a key that is a container
    /// becomes an object `{"map": [[key, value], …]}`.
    pub fn to_json(&self) -> Json {
        let list = |values: &[Value]| Json::List(values.iter().map(Value::to_json).collect());
        match self {
            Value::Nil => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Int(number) => Json::Int(number.to_string()),
            Value::UInt(number) => Json::Int(number.to_string()),
            Value::Float(number) => Json::Float(*number),
            Value::Complex(re, im) => Json::List(vec![Json::Float(*re), Json::Float(*im)]),
            Value::Str(text) => Json::Text(text.clone()),
            Value::Bytes(bytes) => Json::Text(base64(bytes)),
            Value::List(values) | Value::Tuple(values) | Value::Set(values) => list(values),
            Value::Map(entries) if entries.iter().all(|(key, _)| key.is_scalar()) => {
                Json::Object(unique_entries(entries))
            }
            // JSON texts in JSON texts would double their escapes at each level.
            Value::Map(entries) => {
                let pair = |(key, value): &(Value, Value)| {
                    Json::List(vec![key.to_json(), value.to_json()])
                };
                Json::object([("map", Json::List(entries.iter().map(pair).collect()))])
            }
            Value::Array(array) => Json::object([
                ("dtype", Json::Text(array.dtype.text().to_owned())),
                ("shape", shape_json(&array.shape)),
                ("data", Json::Text(base64(&array.items))),
            ]),
            Value::Objects(objects) => Json::object([
                ("shape", shape_json(&objects.shape)),
                ("values", list(&objects.values)),
            ]),
            Value::Frame(bytes) => Json::object([("frame", Json::Text(base64(bytes)))]),
            Value::Reference(content) => Json::object([("reference", content.to_json())]),
            Value::Ext(code, bytes) => Json::object([
                ("ext", Json::Int(code.to_string())),
                ("data", Json::Text(base64(bytes))),
            ]),
            Value::Raw(bytes) => Json::object([("raw", Json::Text(base64(bytes)))]),
        }
    }
}

fn shape_json(shape: &[u64]) -> Json {
    Json::List(shape.iter().map(|&extent| Json::from(extent)).collect())
}

/// Converts the entries of a map. Keys that are not strings become their JSON text; of repeated
/// keys the last one is kept, as in Python.
fn unique_entries(entries: &[(Value, Value)]) -> Vec<(String, Json)> {
    let mut positions = std::collections::HashMap::new();
    let mut unique: Vec<(String, Json)> = Vec::new();
    for (key, value) in entries {
        let key = match key {
            Value::Str(text) => text.clone(),
            other => other.to_json().to_json(),
        };
        let position = *positions.entry(key.clone()).or_insert(unique.len());
        match unique.get_mut(position) {
            Some(entry) => entry.1 = value.to_json(),
            None => unique.push((key, value.to_json())),
        }
    }
    unique
}

/// Encodes bytes in base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let sextet = bits >> (18 - 6 * at) & 0x3f;
            text.push(if at <= group.len() { char::from(BASE64[sextet as usize]) } else { '=' });
        }
    }
    text
}

/// Decodes base64, with or without padding; returns `None` for other characters.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let sextet = BASE64.iter().position(|&other| other == byte)?;
        bits = bits << 6 | u32::try_from(sextet).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

/// Decodes a message. `budget` is the number of values that may still be decoded. A message of few
/// compressed bytes can contain many values, so that they are counted before they are decoded.
fn decode(bytes: &[u8], depth: usize, budget: &mut u64) -> Option<Value> {
    let count = msgpack::count_values(bytes)?;
    match budget.checked_sub(count) {
        Some(rest) => *budget = rest,
        None => {
            *budget = EXHAUSTED;
            return None;
        }
    }
    // The reader counts two levels for each nested value.
    convert(msgpack::decode_counted(bytes, 2 * depth + 2)?, depth, budget)
}

fn convert(value: rmpv::Value, depth: usize, budget: &mut u64) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    Some(match value {
        rmpv::Value::Nil => Value::Nil,
        rmpv::Value::Boolean(truth) => Value::Bool(truth),
        rmpv::Value::Integer(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::UInt(number.as_u64()?),
        },
        rmpv::Value::F32(number) => Value::Float(number.into()),
        rmpv::Value::F64(number) => Value::Float(number),
        rmpv::Value::String(text) => Value::Str(text.into_str()?),
        rmpv::Value::Binary(bytes) => Value::Bytes(bytes),
        rmpv::Value::Array(items) => {
            let is_tuple = items.first().is_some_and(|item| item.as_str() == Some(TUPLE));
            let items = items.into_iter().skip(usize::from(is_tuple));
            let items = items.map(|item| convert(item, depth, budget)).collect::<Option<_>>()?;
            if is_tuple { Value::Tuple(items) } else { Value::List(items) }
        }
        rmpv::Value::Map(entries) => {
            let entries = entries.into_iter().map(|(key, value)| {
                Some((convert(key, depth, budget)?, convert(value, depth, budget)?))
            });
            Value::Map(entries.collect::<Option<_>>()?)
        }
        rmpv::Value::Ext(code, bytes) => extension(code, bytes, depth, budget)?,
    })
}

fn extension(code: i8, bytes: Vec<u8>, depth: usize, budget: &mut u64) -> Option<Value> {
    Some(match code {
        EXT_FRAME => Value::Frame(bytes),
        EXT_REFERENCE => Value::Reference(Box::new(decode_nested(&bytes, depth, budget)?)),
        EXT_COMPLEX => {
            let bytes: [u8; 16] = bytes.try_into().ok()?;
            let (re, im) = bytes.split_at(8);
            let part = |bytes: &[u8]| Some(f64::from_be_bytes(bytes.try_into().ok()?));
            Value::Complex(part(re)?, part(im)?)
        }
        EXT_SET => match decode_nested(&bytes, depth, budget)? {
            Value::List(items) => Value::Set(items),
            _ => return None,
        },
        EXT_ARRAY => array(decode_nested(&bytes, depth, budget)?)?,
        _ => Value::Ext(code, bytes),
    })
}

/// Decodes the content of an extension. Each level of nested extensions keeps a copy of its bytes,
/// which reduces the budget.
fn decode_nested(bytes: &[u8], depth: usize, budget: &mut u64) -> Option<Value> {
    match budget.checked_sub(bytes.len() as u64 / MAX_VALUE_SIZE) {
        Some(rest) => *budget = rest,
        None => {
            *budget = EXHAUSTED;
            return None;
        }
    }
    decode(bytes, depth, budget)
}

/// Converts the content of an array extension, whose sizes must agree.
fn array(content: Value) -> Option<Value> {
    let Value::List(extents) = content.get("shape")? else {
        return None;
    };
    let shape = extents.iter().map(Value::as_u64).collect::<Option<Vec<_>>>()?;
    let count = shape.iter().try_fold(1u64, |count, &extent| count.checked_mul(extent))?;
    let Value::Map(entries) = content else {
        return None;
    };
    let mut described = None;
    for (key, value) in entries {
        match (key.as_str()?, value) {
            ("values", Value::List(values)) => {
                let is_whole = values.len() as u64 == count;
                let objects = ObjectsValue { values, shape };
                return is_whole.then(|| Value::Objects(Box::new(objects)));
            }
            ("dtype", value) => described = Some(dtype_of(&value)?),
            ("data", Value::Bytes(items)) => {
                let dtype = described?;
                let nbytes = count.checked_mul(dtype.itemsize())?;
                let is_whole = nbytes == items.len() as u64;
                let array = ArrayValue { dtype, shape, items };
                return is_whole.then(|| Value::Array(Box::new(array)));
            }
            _ => {}
        }
    }
    None
}

/// Returns the dtype of a description: a map with a string `str` or a list of fields `descr`.
fn dtype_of(value: &Value) -> Option<Dtype> {
    if let Some(text) = value.get("str") {
        return Dtype::parse(text.as_str()?).ok();
    }
    Dtype::of(&literal(value.get("descr")?)?).ok()
}

/// Converts a description of fields, in which tuples may be stored as lists.
fn literal(value: &Value) -> Option<Literal> {
    let Value::List(fields) = value else {
        return value.as_str().map(|text| Literal::Text(text.to_owned()));
    };
    let field = |field: &Value| {
        let (Value::List(parts) | Value::Tuple(parts)) = field else {
            return None;
        };
        let part = |(at, part): (usize, &Value)| match part {
            Value::Str(text) => Some(Literal::Text(text.clone())),
            Value::List(extents) | Value::Tuple(extents) if at == 2 => {
                let extents = extents.iter().map(|extent| extent.as_u64().map(Literal::Int));
                Some(Literal::Tuple(extents.collect::<Option<_>>()?))
            }
            other if at == 1 => literal(other),
            _ => None,
        };
        Some(Literal::Tuple(parts.iter().enumerate().map(part).collect::<Option<_>>()?))
    };
    Some(Literal::List(fields.iter().map(field).collect::<Option<_>>()?))
}

/// Returns the value of an item of an array. `bytes` has the size of the item.
pub(super) fn item(dtype: &Dtype, bytes: &[u8]) -> Option<Value> {
    let mut word = [0; 16];
    let is_word = bytes.len() <= word.len();
    if is_word {
        word[..bytes.len()].copy_from_slice(bytes);
        if dtype.is_big_endian() {
            // Both parts of a complex number are reversed one by one.
            let parts = if dtype.kind() == Kind::Complex { 2 } else { 1 };
            for part in word[..bytes.len()].chunks_mut((bytes.len() / parts).max(1)) {
                part.reverse();
            }
        }
    }
    let eight = |at: usize| word[at..at + 8].try_into().map(u64::from_le_bytes).ok();
    let four = |at: usize| word[at..at + 4].try_into().map(u32::from_le_bytes).ok();
    Some(match (dtype.kind(), bytes.len()) {
        (Kind::Bool, 1) => Value::Bool(word[0] != 0),
        (Kind::Int, 1) => Value::Int((word[0] as i8).into()),
        (Kind::Int, 2) => Value::Int(i16::from_le_bytes([word[0], word[1]]).into()),
        (Kind::Int, 4) => Value::Int((four(0)? as i32).into()),
        (Kind::Int | Kind::Datetime | Kind::Timedelta, 8) => Value::Int(eight(0)? as i64),
        (Kind::Uint, 1 | 2 | 4 | 8) => match i64::try_from(eight(0)?) {
            Ok(number) => Value::Int(number),
            Err(_) => Value::UInt(eight(0)?),
        },
        (Kind::Float, 2) => {
            Value::Float(crate::numpy::half_to(u16::from_le_bytes([word[0], word[1]])))
        }
        (Kind::Float, 4) => Value::Float(f32::from_bits(four(0)?).into()),
        (Kind::Float, 8) => Value::Float(f64::from_bits(eight(0)?)),
        (Kind::Complex, 8) => {
            let part = |at| four(at).map(|bits| f64::from(f32::from_bits(bits)));
            Value::Complex(part(0)?, part(4)?)
        }
        (Kind::Complex, 16) => Value::Complex(f64::from_bits(eight(0)?), f64::from_bits(eight(8)?)),
        (Kind::Bytes, _) => Value::Bytes(trimmed(bytes).to_vec()),
        (Kind::Unicode, _) => Value::Str(unicode(dtype, bytes)?),
        (Kind::Record, _) => {
            let field = |field: &crate::numpy::Field| {
                let start = usize::try_from(field.offset).ok()?;
                let len = usize::try_from(field.nbytes()?).ok()?;
                let value = items(&field.dtype, &field.shape, bytes.get(start..)?.get(..len)?)?;
                Some((Value::Str(field.name.clone()), value))
            };
            Value::Map(dtype.fields().iter().map(field).collect::<Option<_>>()?)
        }
        _ => Value::Bytes(bytes.to_vec()),
    })
}

/// Returns the values of an array as nested lists; of a single item, its value.
pub(super) fn items(dtype: &Dtype, shape: &[u64], bytes: &[u8]) -> Option<Value> {
    let Some((&extent, inner)) = shape.split_first() else {
        return item(dtype, bytes);
    };
    let extent = usize::try_from(extent).ok()?;
    let size = bytes.len() / extent.max(1);
    let inner = (0..extent).map(|at| items(dtype, inner, bytes.get(at * size..)?.get(..size)?));
    Some(Value::List(inner.collect::<Option<_>>()?))
}

/// Returns an upper bound of the memory in bytes of the value of [`items`]; `None` if it overflows.
/// If an extent is 0, the others count too, because they become lists.
pub(super) fn items_memory(dtype: &Dtype, shape: &[u64]) -> Option<u64> {
    let (mut lists, mut count) = (0u64, 1u64);
    for &extent in shape {
        lists = lists.checked_add(count)?;
        count = count.checked_mul(extent)?;
    }
    let content = match dtype.kind() {
        Kind::Record => dtype.fields().iter().try_fold(0u64, |size, field| {
            let name = VALUE_SIZE + field.name.len() as u64;
            size.checked_add(name)?.checked_add(items_memory(&field.dtype, &field.shape)?)
        })?,
        _ => dtype.itemsize(),
    };
    let item = VALUE_SIZE.checked_add(content)?;
    lists.checked_mul(VALUE_SIZE)?.checked_add(count.checked_mul(item)?)
}

/// Returns the bytes without NULs at the end.
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..len]
}

/// Returns the text of UCS-4 characters without NULs at the end; `None` for invalid characters.
fn unicode(dtype: &Dtype, bytes: &[u8]) -> Option<String> {
    let character = |word: &[u8]| {
        let word = word.try_into().ok()?;
        let is_big = dtype.is_big_endian();
        char::from_u32(if is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
    };
    let text: String = bytes.chunks_exact(4).map(character).collect::<Option<_>>()?;
    Some(text.trim_end_matches('\0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_rounded_to_any_number_of_digits() {
        let list = Value::List(vec![Value::Float(0.1), Value::Complex(279.98765, 1e300)]);
        assert_eq!(list.clone().rounded(usize::MAX), list);
        assert_eq!(list.clone().rounded(17), list);
        let rounded = Value::List(vec![Value::Float(0.1), Value::Complex(280.0, 1e300)]);
        assert_eq!(list.rounded(4), rounded);
        assert_eq!(Value::Float(15.0).rounded(0), Value::Float(20.0));
    }

    #[test]
    fn base64_round_trips() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"\xff\xfe\xfd\xfc", "//79/A=="),
        ] {
            assert_eq!(base64(bytes), text);
            assert_eq!(from_base64(text).as_deref(), Some(bytes));
        }
        assert_eq!(from_base64("a-b"), None);
    }

    #[test]
    fn the_size_of_a_message_limits_the_memory_of_its_values() {
        // A byte of a message can become a value, so that their size limits the memory.
        assert!(2 * (size_of::<Value>() + size_of::<rmpv::Value>()) as u64 <= MAX_VALUE_SIZE);
        const { assert!(VALUE_SIZE <= 32) };
    }

    #[test]
    fn containers_as_keys_do_not_multiply_the_text() {
        let mut value = Value::Nil;
        for _ in 0..40 {
            value = Value::Map(vec![(value, Value::Nil)]);
        }
        assert!(value.to_json().to_json().len() < 1000);
        let value = Value::Map(vec![(Value::Tuple(vec![Value::Int(1)]), Value::Bool(true))]);
        assert_eq!(value.to_json().to_json().replace(' ', ""), r#"{"map":[[[1],true]]}"#);
        let value = Value::Map(vec![(Value::Int(1), Value::Bool(true))]);
        assert_eq!(value.to_json().to_json().replace(' ', ""), r#"{"1":true}"#);
    }

    #[test]
    fn copies_of_nested_extensions_are_counted() {
        let mut set = [&[0x91, 0xc6][..], &16000u32.to_be_bytes(), &[0; 16000]].concat();
        for _ in 0..20 {
            let len = u32::try_from(set.len()).unwrap().to_be_bytes();
            set = [&[0x91, 0xc9][..], &len, &[45], &set].concat();
        }
        // Each of the 20 levels keeps the 16,000 bytes of 100 values.
        assert_eq!(Value::decode_limited(&set, 1900), Err(Fault::TooMany));
        assert!(Value::decode_limited(&set, 2200).is_ok());
    }

    #[test]
    fn lists_around_an_extent_of_zero_are_kept() {
        let dtype = Dtype::parse("<i4").unwrap();
        let empty = || Value::List(Vec::new());
        assert_eq!(items(&dtype, &[2, 0], &[]), Some(Value::List(vec![empty(), empty()])));
        assert_eq!(items(&dtype, &[0, 2], &[]), Some(empty()));
        assert_eq!(items_memory(&dtype, &[1 << 62, 0]), None);
        assert!(items_memory(&dtype, &[1 << 40, 0, 7]).is_some_and(|size| size > 1 << 40));
        assert_eq!(items_memory(&dtype, &[1 << 62, 7, 0]), None);
    }

    #[test]
    fn messages_with_too_many_values_are_not_decoded() {
        let nils = |count: u32| {
            let len = usize::try_from(count).unwrap();
            [&[0xdd][..], &count.to_be_bytes(), &vec![0xc0; len]].concat()
        };
        assert!(Value::decode_limited(&nils(99), 100).is_ok());
        assert_eq!(Value::decode_limited(&nils(100), 100), Err(Fault::TooMany));
        assert_eq!(Value::decode_limited(&nils(100)[..50], 100), Err(Fault::Invalid));
        // Several sets share the limit.
        let set = [&[0xc7, 104, 45][..], &nils(99)].concat();
        assert!(Value::decode_limited(&set, 101).is_ok());
        let sets = [&[0x92][..], &set, &set].concat();
        assert_eq!(Value::decode_limited(&sets, 150), Err(Fault::TooMany));
        assert!(Value::decode_limited(&sets, 203).is_ok());
    }

    #[test]
    fn deep_and_truncated_messages_are_rejected() {
        let nested = |depth: usize| [vec![0x91; depth], vec![0xc0]].concat();
        assert!(Value::decode(&nested(20)).is_some());
        assert!(Value::decode(&nested(60)).is_some());
        assert!(Value::decode(&nested(63)).is_some());
        assert!(Value::decode(&nested(64)).is_none());
        assert!(Value::decode(&nested(65)).is_none());
        assert!(Value::decode(&nested(100)).is_none());
        assert!(Value::decode(&nested(1_000_000)).is_none());
        // Sets of sets.
        let mut set = vec![0x90];
        for _ in 0..200 {
            let len = u32::try_from(set.len()).unwrap().to_be_bytes();
            set = [&[0xc9][..], &len, &[45], &set].concat();
        }
        assert!(Value::decode(&set).is_none());
        for bytes in
            [&b""[..], b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x01\x01", b"\xa1\xff"]
        {
            assert_eq!(Value::decode(bytes), None, "{bytes:?}");
            assert_eq!(Value::decode_or_raw(bytes.to_vec()), Value::Raw(bytes.to_vec()));
        }
    }

    #[test]
    fn arrays_with_sizes_that_disagree_are_rejected() {
        let array = |extent: u8, len: u8| {
            let mut map = b"\x83\xa5dtype\x81\xa3str\xa3<i2\xa5shape\x91".to_vec();
            map.push(extent);
            map.extend_from_slice(b"\xa4data\xc4");
            map.push(len);
            map.extend(std::iter::repeat_n(7, len.into()));
            let len = u8::try_from(map.len()).unwrap();
            [&[0xc7, len, 46][..], &map].concat()
        };
        let Some(Value::Array(found)) = Value::decode(&array(2, 4)) else {
            panic!("not an array");
        };
        let ArrayValue { dtype, shape, items } = *found;
        assert_eq!((dtype.text(), &shape[..], &items[..]), ("<i2", &[2][..], &[7; 4][..]));
        assert_eq!(Value::decode(&array(2, 3)), None);
        assert_eq!(Value::decode(&array(0x7f, 4)), None);
    }
}
