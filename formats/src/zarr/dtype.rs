//! Data types and fill values.
//!
//! | version 3 | NumPy |
//! |---|---|
//! | `bool`, `int8` … `uint64`, `float16` … `float64`, `complex64`, `complex128` | the same |
//! | `r24` or `raw_bytes` | `\|V3` |
//! | `null_terminated_bytes`, `fixed_length_utf32` | `\|S4`, `<U4` |
//! | `numpy.datetime64`, `numpy.timedelta64` | `<M8[ns]`, `<m8[ns]` |
//! | `structured` | records |
//!
//! Version 2 has NumPy's descriptions. In version 3 the codec `bytes` has the byte order.

use super::version::Version;
use crate::bcolz::item_of;
use crate::bloscpack::Value;
use crate::numpy::{Dtype, Field, Kind, Literal, half_to};
use crate::store::{base64, from_base64};

/// The maximum size in bytes of a record whose fill value has a form of bcolz.
const MAX_RECORD: usize = 64 << 10;

/// The names of version 3 that are those of NumPy, and the kinds and sizes.
const NAMES: [(&str, Kind, u64); 14] = [
    ("bool", Kind::Bool, 1),
    ("int8", Kind::Int, 1),
    ("int16", Kind::Int, 2),
    ("int32", Kind::Int, 4),
    ("int64", Kind::Int, 8),
    ("uint8", Kind::Uint, 1),
    ("uint16", Kind::Uint, 2),
    ("uint32", Kind::Uint, 4),
    ("uint64", Kind::Uint, 8),
    ("float16", Kind::Float, 2),
    ("float32", Kind::Float, 4),
    ("float64", Kind::Float, 8),
    ("complex64", Kind::Complex, 8),
    ("complex128", Kind::Complex, 16),
];

/// Returns the text of a value, if it is one.
pub fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Returns a number that is not negative.
pub fn unsigned(value: &Value) -> Option<u64> {
    match value {
        Value::Int(digits) => digits.parse().ok(),
        _ => None,
    }
}

/// Returns a list of numbers that are not negative.
pub fn lengths(value: &Value) -> Option<Vec<u64>> {
    match value {
        Value::List(items) => items.iter().map(unsigned).collect(),
        _ => None,
    }
}

/// Converts the description of version 2 to a literal: names and types are texts, fields tuples.
fn literal_of(value: &Value) -> Option<Literal> {
    let Value::List(fields) = value else {
        return Some(Literal::Text(text(value)?.to_owned()));
    };
    let fields = fields.iter().map(|field| {
        let Value::List(parts) = field else {
            return None;
        };
        let [name, kind, rest @ ..] = parts.as_slice() else {
            return None;
        };
        let mut tuple = vec![Literal::Text(text(name)?.to_owned()), literal_of(kind)?];
        if let [shape] = rest {
            let shape = match shape {
                Value::List(_) => lengths(shape)?,
                length => vec![unsigned(length)?],
            };
            tuple.push(Literal::Tuple(shape.into_iter().map(Literal::Int).collect()));
        }
        Some(Literal::Tuple(tuple))
    });
    Some(Literal::List(fields.collect::<Option<_>>()?))
}

/// Returns the dtype of a description of version 2.
pub fn of_v2(value: &Value) -> Option<Dtype> {
    let dtype = Dtype::of(&literal_of(value)?).ok()?;
    dtype.described().ok().filter(|dtype| dtype.itemsize() > 0)
}

/// Returns the description of version 2.
pub fn to_v2(dtype: &Dtype) -> Value {
    fn value_of(literal: &Literal) -> Value {
        match literal {
            Literal::Text(text) => Value::Text(text.clone()),
            Literal::Int(number) => Value::from(*number),
            Literal::Bool(truth) => Value::Bool(*truth),
            Literal::Tuple(items) | Literal::List(items) => {
                Value::List(items.iter().map(value_of).collect())
            }
            Literal::Dict(_) => Value::Null,
        }
    }
    value_of(&dtype.description())
}

/// Returns the dtype of a data type of version 3 in this byte order.
pub fn of_v3(value: &Value, is_big_endian: bool) -> Option<Dtype> {
    let found = Dtype::of(&literal_of_v3(value, is_big_endian)?).ok()?;
    found.described().ok().filter(|dtype| dtype.itemsize() > 0)
}

fn literal_of_v3(value: &Value, is_big_endian: bool) -> Option<Literal> {
    let order = if is_big_endian { '>' } else { '<' };
    let (name, configuration) = match value {
        Value::Text(name) => (name.as_str(), None),
        _ => (text(value.get("name")?)?, value.get("configuration")),
    };
    let get = |key: &str| configuration.and_then(|configuration| configuration.get(key));
    if let Some((_, kind, size)) = NAMES.into_iter().find(|(known, ..)| *known == name) {
        let letter = match kind {
            Kind::Bool => 'b',
            Kind::Int => 'i',
            Kind::Uint => 'u',
            Kind::Float => 'f',
            _ => 'c',
        };
        return Some(Literal::Text(format!("{order}{letter}{size}")));
    }
    let length = || unsigned(get("length_bytes")?);
    let unit = || {
        let unit = text(get("unit")?)?;
        let scale = get("scale_factor").map_or(Some(1), unsigned)?;
        Some(match (unit, scale) {
            // NumPy has the unit with a `u` only.
            ("\u{b5}s" | "\u{3bc}s", 1) => "[us]".to_owned(),
            ("\u{b5}s" | "\u{3bc}s", scale) => format!("[{scale}us]"),
            ("generic", _) => String::new(),
            (unit, 1) => format!("[{unit}]"),
            (unit, scale) => format!("[{scale}{unit}]"),
        })
    };
    Some(Literal::Text(match name {
        "raw_bytes" => format!("|V{}", length()?),
        "null_terminated_bytes" => format!("|S{}", length()?),
        "fixed_length_utf32" => {
            format!("{order}U{}", length().filter(|length| length.is_multiple_of(4))? / 4)
        }
        "numpy.datetime64" => format!("{order}M8{}", unit()?),
        "numpy.timedelta64" => format!("{order}m8{}", unit()?),
        "structured" | "struct" => {
            let Value::List(fields) = get("fields")? else {
                return None;
            };
            let fields = fields.iter().map(|field| {
                let (name, kind) = match field {
                    Value::List(parts) => match parts.as_slice() {
                        [name, kind] => (name, kind),
                        _ => return None,
                    },
                    field => (field.get("name")?, field.get("data_type")?),
                };
                let kind = literal_of_v3(kind, is_big_endian)?;
                Some(Literal::Tuple(vec![Literal::Text(text(name)?.to_owned()), kind]))
            });
            return Some(Literal::List(fields.collect::<Option<_>>()?));
        }
        raw => {
            let bits: u64 = raw.strip_prefix('r')?.parse().ok()?;
            format!("|V{}", bits.is_multiple_of(8).then_some(bits / 8)?)
        }
    }))
}

/// Returns the data type of version 3, or `None` if it has none.
pub fn to_v3(dtype: &Dtype) -> Option<Value> {
    let mut names = NAMES.into_iter();
    let same = |kind, size| kind == dtype.kind() && size == dtype.itemsize();
    if let Some((name, ..)) = names.find(|&(_, kind, size)| same(kind, size)) {
        return Some(Value::from(name));
    }
    let named = |name: &str, configuration| {
        let configuration = Value::object(configuration);
        Value::object([("name", Value::from(name)), ("configuration", configuration)])
    };
    let of_length = |name| named(name, vec![("length_bytes", Value::from(dtype.itemsize()))]);
    let of_unit = |name| {
        let unit = dtype.unit();
        let digits = unit.len() - unit.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let scale = if digits == 0 { 1 } else { unit[..digits].parse().ok()? };
        let unit = if unit.is_empty() { "generic" } else { &unit[digits..] };
        let is_known = unit.bytes().all(|byte| byte.is_ascii_alphabetic());
        let unit = [("unit", Value::from(unit)), ("scale_factor", Value::from(scale))];
        is_known.then(|| named(name, unit.to_vec()))
    };
    Some(match dtype.kind() {
        Kind::Void => of_length("raw_bytes"),
        Kind::Bytes => of_length("null_terminated_bytes"),
        Kind::Unicode => of_length("fixed_length_utf32"),
        Kind::Datetime => of_unit("numpy.datetime64")?,
        Kind::Timedelta => of_unit("numpy.timedelta64")?,
        Kind::Record => {
            // Only fields without gaps, subarrays and other byte orders can be described.
            let mut end = 0;
            let mut fields = Vec::new();
            for field in dtype.fields() {
                let is_plain = field.offset == end && field.shape.is_empty();
                if !is_plain || is_any_big_endian(&field.dtype) {
                    return None;
                }
                end += field.dtype.itemsize();
                let kind = to_v3(&field.dtype)?;
                fields.push(Value::List(vec![Value::from(field.name.as_str()), kind]));
            }
            if end != dtype.itemsize() {
                return None;
            }
            named("structured", vec![("fields", Value::List(fields))])
        }
        _ => return None,
    })
}

fn is_any_big_endian(dtype: &Dtype) -> bool {
    dtype.is_big_endian() || dtype.fields().iter().any(|field| is_any_big_endian(&field.dtype))
}

/// Whether the codec `bytes` of version 3 has a byte order for this dtype.
pub fn has_byte_order(dtype: &Dtype) -> bool {
    let has_order = !matches!(dtype.kind(), Kind::Bool | Kind::Void | Kind::Bytes | Kind::Record);
    has_order && dtype.itemsize() > 1
}

/// Returns the bytes of a fill value. Null, and the missing fill value of version 2, is zero.
pub fn fill_of(dtype: &Dtype, value: &Value) -> Option<Vec<u8>> {
    let size = usize::try_from(dtype.itemsize()).ok()?;
    let little_endian = match (dtype.kind(), value) {
        (_, Value::Null) => return Some(vec![0; size]),
        // Version 2 of zarr-python writes 0 for all kinds.
        (Kind::Record | Kind::Void | Kind::Bytes | Kind::Unicode, Value::Int(digits)) => {
            return (digits == "0").then(|| vec![0; size]);
        }
        (Kind::Float, Value::Text(text)) => return float_of(dtype, text, size),
        (Kind::Complex, Value::List(parts)) => {
            let [real, imaginary] = parts.as_slice() else {
                return None;
            };
            let order = if dtype.is_big_endian() { '>' } else { '<' };
            let part = Dtype::parse(&format!("{order}f{}", size / 2)).ok()?;
            return Some([fill_of(&part, real)?, fill_of(&part, imaginary)?].concat());
        }
        (Kind::Datetime | Kind::Timedelta, Value::Text(text)) if text == "NaT" => {
            i64::MIN.to_le_bytes().to_vec()
        }
        (kind @ (Kind::Bytes | Kind::Void | Kind::Record), Value::Text(text)) => {
            // Without the padding, it may be the text itself, as old programs wrote it.
            let decoded = from_base64(text).filter(|_| text.len().is_multiple_of(4));
            let mut bytes = decoded.filter(|bytes| bytes.len() <= size)?;
            if kind == Kind::Record && bytes.len() < size {
                return None;
            }
            bytes.resize(size, 0);
            return Some(bytes);
        }
        // The fill values of the fields, by name.
        (Kind::Record, Value::Object(values)) => return record_of(dtype, values, size),
        // Version 3 has the bytes of raw types as numbers.
        (Kind::Void, Value::List(_)) => {
            let bytes = lengths(value)?.into_iter().map(|byte| u8::try_from(byte).ok());
            return bytes.collect::<Option<Vec<u8>>>().filter(|bytes| bytes.len() == size);
        }
        // Integers may be written as 5.0.
        (Kind::Int | Kind::Uint, Value::Float(number)) if number.fract() == 0.0 => {
            return item_of(dtype, &Value::Int(format!("{number:.0}")));
        }
        _ => return item_of(dtype, value),
    };
    let mut item = little_endian;
    if dtype.is_big_endian() {
        item.reverse();
    }
    Some(item)
}

/// Returns the range of bytes of a field.
fn range_of(field: &Field) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(field.offset).ok()?;
    Some(start..start.checked_add(usize::try_from(field.nbytes()?).ok()?)?)
}

/// Returns the record of the fill values of its fields.
fn record_of(dtype: &Dtype, values: &[(String, Value)], size: usize) -> Option<Vec<u8>> {
    let mut item = vec![0; size];
    for field in dtype.fields() {
        let (_, value) = values.iter().find(|(name, _)| *name == field.name)?;
        let fill = fill_of(&field.dtype, value).filter(|_| field.shape.is_empty())?;
        item.get_mut(range_of(field)?)?.copy_from_slice(&fill);
    }
    (values.len() == dtype.fields().len()).then_some(item)
}

/// Returns the item of a NaN, an infinity, or a float in hexadecimal.
fn float_of(dtype: &Dtype, text: &str, size: usize) -> Option<Vec<u8>> {
    let number = match text {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        hex => {
            let digits = hex.strip_prefix("0x").filter(|digits| digits.len() == 2 * size)?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                // A sign would be accepted.
                return None;
            }
            let bits = u64::from_str_radix(digits, 16).ok()?;
            // Wider floats have no hexadecimal form here.
            let mut item = bits.to_be_bytes()[8_usize.checked_sub(size)?..].to_vec();
            if !dtype.is_big_endian() {
                item.reverse();
            }
            return Some(item);
        }
    };
    item_of(dtype, &Value::Float(number))
}

/// Returns an item of at most 8 bytes as a number, in the lower bits.
fn bits_of(dtype: &Dtype, item: &[u8]) -> Option<u64> {
    let mut wide = [0; 8];
    wide.get_mut(..item.len())?.copy_from_slice(item);
    if dtype.is_big_endian() {
        wide[..item.len()].reverse();
    }
    Some(u64::from_le_bytes(wide))
}

/// Converts the bits of a single-precision float to `f64`. A NaN keeps its sign and payload.
fn single_to(bits: u32) -> f64 {
    let number = f32::from_bits(bits);
    if !number.is_nan() {
        return number.into();
    }
    let payload = u64::from(bits & 0x7F_FFFF) << 29;
    f64::from_bits(u64::from(bits >> 31) << 63 | 0x7FF << 52 | payload)
}

/// Returns a float, or `None` if it is too long and not zero.
fn float_in(dtype: &Dtype, item: &[u8]) -> Option<f64> {
    match item.len() {
        2 => Some(half_to(bits_of(dtype, item)? as u16)),
        4 => Some(single_to(bits_of(dtype, item)? as u32)),
        8 => Some(f64::from_bits(bits_of(dtype, item)?)),
        _ => item.iter().all(|&byte| byte == 0).then_some(0.0),
    }
}

/// Returns the JSON of a fill value in a version of the format, the opposite of [`fill_of`]. Only
/// version 3 has NaNs with a sign or a payload.
pub fn fill_to(dtype: &Dtype, item: &[u8], version: Version) -> Option<Value> {
    Some(match dtype.kind() {
        Kind::Bool => Value::Bool(item != [0]),
        Kind::Uint => Value::from(bits_of(dtype, item)?),
        Kind::Int | Kind::Datetime | Kind::Timedelta => {
            let shift = 64 - 8 * u32::try_from(item.len()).ok()?;
            Value::Int(((bits_of(dtype, item)? << shift) as i64 >> shift).to_string())
        }
        Kind::Float => {
            let number = float_in(dtype, item)?;
            let is_usual = || item_of(dtype, &Value::Float(f64::NAN)).as_deref() == Some(item);
            if number.is_nan() && version == Version::V3 && !is_usual() {
                let digits = 2 * item.len();
                Value::Text(format!("0x{:0digits$x}", bits_of(dtype, item)?))
            } else if number.is_nan() {
                Value::from("NaN")
            } else if number.is_infinite() {
                Value::from(if number > 0.0 { "Infinity" } else { "-Infinity" })
            } else {
                Value::Float(number)
            }
        }
        Kind::Complex => {
            let order = if dtype.is_big_endian() { '>' } else { '<' };
            let part = Dtype::parse(&format!("{order}f{}", item.len() / 2)).ok()?;
            let (real, imaginary) = item.split_at(item.len() / 2);
            Value::List(vec![fill_to(&part, real, version)?, fill_to(&part, imaginary, version)?])
        }
        Kind::Bytes | Kind::Void | Kind::Record => Value::Text(base64(item)),
        Kind::Unicode => {
            let codes = item.chunks_exact(4).map(|bytes| {
                let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
                let code = if dtype.is_big_endian() {
                    u32::from_be_bytes(bytes)
                } else {
                    u32::from_le_bytes(bytes)
                };
                char::from_u32(code)
            });
            let text = codes.collect::<Option<String>>()?;
            Value::from(text.trim_end_matches('\0'))
        }
        Kind::Object => return None,
    })
}

/// Returns a fill value in the form of bcolz, which differs in floats, bytes and records. A NaN
/// keeps its sign and payload.
pub fn plain_fill(dtype: &Dtype, item: &[u8]) -> Option<Value> {
    match dtype.kind() {
        Kind::Float => Some(Value::Float(float_in(dtype, item)?)),
        Kind::Bytes | Kind::Void => {
            let text: String = item.iter().map(|&byte| char::from(byte)).collect();
            Some(Value::from(text.trim_end_matches('\0')))
        }
        Kind::Record if item.len() <= MAX_RECORD => {
            let fields = dtype.fields().iter();
            let values = fields
                .map(|field| plain_field(&field.dtype, &field.shape, item.get(range_of(field)?)?));
            let value = Value::List(values.collect::<Option<_>>()?);
            // Bytes between the fields have no form.
            (item_of(dtype, &value).as_deref() == Some(item)).then_some(value)
        }
        Kind::Record => None,
        _ => fill_to(dtype, item, Version::V3),
    }
}

/// Returns the value of a field of a shape: nested lists.
fn plain_field(dtype: &Dtype, shape: &[u64], bytes: &[u8]) -> Option<Value> {
    let Some((&len, shape)) = shape.split_first() else {
        return plain_fill(dtype, bytes);
    };
    let len = usize::try_from(len).ok().filter(|&len| len > 0 && len <= bytes.len())?;
    let parts = bytes.chunks_exact(bytes.len() / len);
    Some(Value::List(parts.map(|part| plain_field(dtype, shape, part)).collect::<Option<_>>()?))
}

/// Returns the bytes of a fill value in the form of bcolz, or of Zarr if there is no such form.
pub fn fill_of_plain(dtype: &Dtype, value: &Value) -> Option<Vec<u8>> {
    item_of(dtype, value).or_else(|| fill_of(dtype, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        Value::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn descriptions_are_those_of_zarr_python() {
        for (numpy, v2, v3) in [
            ("<i4", "\"<i4\"", "\"int32\""),
            ("|b1", "\"|b1\"", "\"bool\""),
            ("<c16", "\"<c16\"", "\"complex128\""),
            (
                "<M8[10ns]",
                "\"<M8[10ns]\"",
                r#"{"name":"numpy.datetime64","configuration":{"unit":"ns","scale_factor":10}}"#,
            ),
            (
                "<U3",
                "\"<U3\"",
                r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":12}}"#,
            ),
            ("|V3", "\"|V3\"", r#"{"name":"raw_bytes","configuration":{"length_bytes":3}}"#),
            (
                "[('a', '<i4'), ('b', '<f8')]",
                r#"[["a","<i4"],["b","<f8"]]"#,
                r#"{"name":"structured","configuration":{"fields":[["a","int32"],["b","float64"]]}}"#,
            ),
        ] {
            let dtype = Dtype::parse(numpy).unwrap().described().unwrap();
            assert_eq!(to_v2(&dtype).to_json(), v2);
            assert_eq!(to_v3(&dtype).unwrap().to_json(), v3);
            assert_eq!(of_v2(&json(v2)).unwrap(), dtype);
            assert_eq!(of_v3(&json(v3), false).unwrap(), dtype);
        }
        assert_eq!(of_v3(&json("\"r24\""), false).unwrap().text(), "|V3");
        assert_eq!(of_v3(&json("\"float32\""), true).unwrap().text(), ">f4");
        let subarray = of_v2(&json(r#"[["a","<i4",[2]],["b","|u1",3]]"#)).unwrap();
        assert_eq!(subarray.itemsize(), 11);
        assert!(to_v3(&subarray).is_none());
        for invalid in ["\"int128\"", "\"r7\"", "7", "{}", r#"{"name":"structured"}"#, "\"string\""]
        {
            assert!(of_v3(&json(invalid), false).is_none(), "{invalid}");
        }
        for invalid in ["\"|O\"", "\"<i3\"", "[[\"a\"]]", "null", "\"|S0\""] {
            assert!(of_v2(&json(invalid)).is_none(), "{invalid}");
        }
    }

    /// Their values have no gaps, so that other readers of Zarr could read them.
    #[test]
    fn dtypes_that_version_3_cannot_describe_are_refused() {
        for numpy in ["|b1", "<m8[s]", "<M8", "|S3", "[('a', '<i4'), ('b', [('c', '|V2')])]"] {
            let dtype = Dtype::parse(numpy).unwrap().described().unwrap();
            assert_eq!(of_v3(&to_v3(&dtype).unwrap(), false).unwrap(), dtype, "{numpy}");
        }
        for numpy in [
            "<f16",
            "<M8[25s/3]",
            "[('a', '>i4')]",
            "[('a', [('b', '>i4')])]",
            "[('a', '|i1'), ('', '|V3'), ('b', '<i4')]",
            "[('a', '<i4'), ('', '|V4')]",
            "[('a', '<i4', (2,))]",
        ] {
            assert!(to_v3(&Dtype::parse(numpy).unwrap()).is_none(), "{numpy}");
        }
        for described in [
            r#"{"name":"structured","configuration":{"fields":[["a"]]}}"#,
            r#"{"name":"structured","configuration":{"fields":[["a","int8","x"]]}}"#,
            r#"{"name":"structured","configuration":{"fields":[{"name":"a"}]}}"#,
            r#"{"name":"structured","configuration":{"fields":{}}}"#,
            r#"{"name":"fixed_length_utf32","configuration":{"length_bytes":6}}"#,
            r#"{"name":"numpy.datetime64","configuration":{"scale_factor":1}}"#,
            r#"{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":-1}}"#,
        ] {
            assert!(of_v3(&json(described), false).is_none(), "{described}");
        }
        let object =
            r#"{"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int8"}]}}"#;
        assert_eq!(of_v3(&json(object), false).unwrap().text(), "[('a', '|i1')]");
        let generic = r#"{"name":"numpy.datetime64","configuration":{"unit":"generic"}}"#;
        assert_eq!(of_v3(&json(generic), true).unwrap().text(), ">M8");
        for described in ["[7]", "[[\"a\"]]", "[[7,\"<i4\"]]", "[[\"a\",\"<i4\",[-1]]]"] {
            assert!(of_v2(&json(described)).is_none(), "{described}");
        }
    }

    #[test]
    fn floats_that_are_not_finite_have_a_plain_form() {
        for (numpy, number) in [("<f2", f64::NAN), (">f4", f64::INFINITY), ("<f8", -f64::INFINITY)]
        {
            let dtype = Dtype::parse(numpy).unwrap();
            let item = item_of(&dtype, &Value::Float(number)).unwrap();
            let plain = plain_fill(&dtype, &item);
            assert!(
                matches!(plain, Some(Value::Float(found)) if found.to_bits() == number.to_bits())
            );
            assert_eq!(fill_of_plain(&dtype, &plain.unwrap()), Some(item));
        }
        let record = Dtype::parse("[('a', '<i2')]").unwrap();
        assert_eq!(plain_fill(&record, &[1, 0]).unwrap().to_json(), "[1]");
        let bytes = Dtype::parse("|S3").unwrap();
        assert_eq!(plain_fill(&bytes, b"\xe9x\0").unwrap().to_json(), "\"\\u00e9x\"");
    }

    #[test]
    fn fill_values_round_trip() {
        for (numpy, value, bytes) in [
            ("<f8", "1.5", &1.5_f64.to_le_bytes()[..]),
            (">f4", "\"-Infinity\"", &f32::NEG_INFINITY.to_be_bytes()),
            ("<i2", "-3", &(-3_i16).to_le_bytes()),
            (">u8", "18446744073709551615", &[255; 8]),
            ("|b1", "true", &[1]),
            ("<c8", "[1.0,\"NaN\"]", &[0, 0, 128, 63, 0, 0, 192, 127]),
            ("<M8[s]", "-9223372036854775808", &i64::MIN.to_le_bytes()),
            ("|S4", "\"eAAAAA==\"", b"x\0\0\0"),
            ("<U2", "\"a\"", b"a\0\0\0\0\0\0\0"),
            (">U1", "\"a\"", b"\0\0\0a"),
        ] {
            let dtype = Dtype::parse(numpy).unwrap();
            assert_eq!(fill_of(&dtype, &json(value)).as_deref(), Some(bytes), "{numpy}");
            for version in [Version::V2, Version::V3] {
                assert_eq!(fill_to(&dtype, bytes, version).unwrap().to_json(), value, "{numpy}");
            }
        }
        let of = |numpy: &str, value: &str| fill_of(&Dtype::parse(numpy).unwrap(), &json(value));
        assert_eq!(of("<f4", "\"0x7fc00001\""), Some(vec![1, 0, 192, 127]));
        assert_eq!(of("<i4", "2.0"), Some(vec![2, 0, 0, 0]));
        assert_eq!(of("|S2", "null"), Some(vec![0, 0]));
        assert_eq!(of("|V2", "[1, 2]"), Some(vec![1, 2]));
        for (numpy, value) in [
            ("<i1", "300"),
            ("<f8", "\"x\""),
            ("<f4", "\"0x+fc00000\""),
            ("<i4", "2.5"),
            ("|S1", "\"AAAA\""),
            ("|S3", "\"abc\""),
            ("|V3", "\"YW\""),
            ("[('a', '<i4')]", "\"AQ==\""),
            ("<c8", "[1]"),
        ] {
            assert_eq!(of(numpy, value), None, "{numpy} {value}");
        }
        // A NaN is in hexadecimal if it is not the usual one, which version 2 does not have.
        for (numpy, value) in [
            ("<f2", "\"0x7e01\""),
            (">f4", "\"0xffc00000\""),
            ("<f8", "\"0x7ff00000000007a2\""),
            (">c8", "[1.0,\"0x7fc00001\"]"),
        ] {
            let dtype = Dtype::parse(numpy).unwrap();
            let item = fill_of(&dtype, &json(value)).unwrap();
            assert_eq!(fill_to(&dtype, &item, Version::V3).unwrap().to_json(), value);
            let old = fill_to(&dtype, &item, Version::V2).unwrap().to_json();
            assert!(old.contains("\"NaN\""), "{old}");
            let plain = plain_fill(&dtype, &item).unwrap();
            assert_eq!(fill_of_plain(&dtype, &plain), Some(item), "{numpy}");
        }
        assert_eq!(of("<M8[s]", "\"NaT\""), Some(i64::MIN.to_le_bytes().to_vec()));
        assert_eq!(of(">m8[s]", "\"NaT\""), Some(i64::MIN.to_be_bytes().to_vec()));
        // Zero has no other form in version 2.
        for numpy in ["|S2", "|V2", "<U1", "[('a', '<i2')]"] {
            let zeros = vec![0; Dtype::parse(numpy).unwrap().itemsize() as usize];
            assert_eq!(of(numpy, "0"), Some(zeros), "{numpy}");
            assert_eq!(of(numpy, "1"), None, "{numpy}");
        }
        // Codes that are no characters.
        assert_eq!(
            fill_to(&Dtype::parse("<U1").unwrap(), &[0, 0xd8, 0, 0], Version::V3).map(drop),
            None
        );
        // Floats of more than 8 bytes.
        let wide = Dtype::parse("<f16").unwrap();
        assert_eq!(fill_to(&wide, &[0; 16], Version::V3).unwrap().to_json(), "0.0");
        assert_eq!(fill_to(&wide, &[1; 16], Version::V3).map(drop), None);
        for (numpy, size) in [("<f12", 12), (">f16", 16)] {
            let hex = format!("\"0x{}\"", "0".repeat(2 * size));
            assert_eq!(of(numpy, &hex), None, "{numpy}");
            let zero = Dtype::parse(numpy).unwrap();
            assert_eq!(fill_to(&zero, &vec![0; size], Version::V2).unwrap().to_json(), "0.0");
            assert!(fill_to(&zero, &vec![1; size], Version::V2).is_none());
            let complex =
                numpy.replace('f', "c").replace(&size.to_string(), &(2 * size).to_string());
            assert_eq!(of(&complex, &format!("[{hex},{hex}]")), None, "{complex}");
        }
    }

    #[test]
    fn records_have_fill_values_by_field() {
        let dtype = of_v3(
            &json(
                r#"{"name":"struct","configuration":{"fields":[
                    {"name":"a","data_type":"int16"},
                    {"name":"b","data_type":{"name":"struct","configuration":{"fields":[
                        {"name":"c","data_type":"float32"}]}}}]}}"#,
            ),
            false,
        )
        .unwrap();
        assert_eq!(dtype.text(), "[('a', '<i2'), ('b', [('c', '<f4')])]");
        let expected = [&[7, 0][..], &f32::INFINITY.to_le_bytes()].concat();
        for value in [
            r#"{"a":7,"b":{"c":"Infinity"}}"#,
            r#"{"b":{"c":"Infinity"},"a":7}"#,
            "\"BwAAAIB/\"",
            r#"[7,[Infinity]]"#,
        ] {
            assert_eq!(fill_of(&dtype, &json(value)), Some(expected.clone()), "{value}");
        }
        for value in [r#"{"a":7}"#, r#"{"a":7,"b":{"c":0,"d":0}}"#, r#"{"a":70000,"b":{"c":0}}"#] {
            assert_eq!(fill_of(&dtype, &json(value)), None, "{value}");
        }
        assert_eq!(plain_fill(&dtype, &expected).unwrap().to_json(), "[7,[Infinity]]");
        // Subarrays are nested lists; padding has no form unless it is zero.
        let dtype =
            Dtype::parse("[('s', '|S2', (2,)), ('', '|V1'), ('n', '<i2', (1, 2))]").unwrap();
        let item = b"ab\xe9\0\0\x05\0\x06\0";
        let plain = plain_fill(&dtype, item).unwrap();
        assert_eq!(plain.to_spaced_json(), r#"[["ab", "\u00e9"], [[5, 6]]]"#);
        assert_eq!(fill_of_plain(&dtype, &plain).as_deref(), Some(&item[..]));
        assert!(plain_fill(&dtype, b"ab\xe9\0\x01\x05\0\x06\0").is_none());
        let large = Dtype::parse("[('s', '|S70000')]").unwrap();
        assert!(plain_fill(&large, &[1; 70_000]).is_none());
    }

    #[test]
    fn microseconds_have_two_names() {
        for unit in ["us", "\u{b5}s", "\u{3bc}s"] {
            for (scale, text) in [(1, "<M8[us]"), (5, "<M8[5us]")] {
                let described = format!(
                    r#"{{"name":"numpy.datetime64","configuration":{{"unit":"{unit}","scale_factor":{scale}}}}}"#
                );
                assert_eq!(of_v3(&json(&described), false).unwrap().text(), text, "{unit}");
            }
        }
    }
}
