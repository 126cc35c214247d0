//! Attributes and fill values as JSON values, and back.
//!
//! | JSON | HDF5 |
//! |---|---|
//! | text, list of texts | strings of variable length, UTF-8 |
//! | integer, list of integers | integers of 8 bytes |
//! | other number, list of numbers | floats of 8 bytes |
//! | Boolean, list of Booleans | the enumeration of h5py |
//! | nested lists of equal lengths | arrays of several dimensions |
//! | null | no items |
//! | others | the JSON text |

use super::{Attribute, ItemType, Result, Scalar};
use crate::bloscpack::Value;
use crate::numpy::{Dtype, half_to};

/// Attributes that HDF5's library of dimension scales, netCDF-4 and h5py use for themselves.
const INTERNAL: [&str; 7] = [
    "DIMENSION_LABELS",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_nc3_strict",
];

/// Attributes of dimension scales, which mean something else in other objects.
const OF_SCALES: [&str; 2] = ["CLASS", "NAME"];

/// The maximum size of an attribute in bytes.
const MAX_ATTRIBUTE: usize = 64_000;
/// The maximum depth of nested lists.
const MAX_DEPTH: usize = 32;

/// Whether an attribute describes dimension scales, not the data.
pub fn is_internal(name: &str) -> bool {
    INTERNAL.contains(&name)
}

/// The values of attributes by name, and descriptions of the attributes without a value.
pub type Values = (Vec<(String, Value)>, Vec<String>);

/// Converts attributes to values.
///
/// # Errors
/// That of reading the attributes.
pub fn attributes_of(attributes: Result<Vec<(String, Attribute)>>) -> Result<Values> {
    let (mut values, mut lost) = (Vec::new(), Vec::new());
    let attributes = attributes?;
    let is_scale = attributes.iter().any(|(name, attribute)| {
        name == "CLASS"
            && matches!(value_of(attribute), Some(Value::Text(text)) if text == "DIMENSION_SCALE")
    });
    for (name, attribute) in attributes {
        if is_internal(&name) || is_scale && OF_SCALES.contains(&name.as_str()) {
            continue;
        }
        let value = match &attribute {
            Attribute::Unsupported(description) => Err(description.clone()),
            attribute => {
                value_of(attribute).ok_or_else(|| "items without a value in JSON".to_owned())
            }
        };
        match value {
            Ok(value) => values.push((name, value)),
            Err(why) => lost.push(format!("the attribute {name:?}, which has {why}")),
        }
    }
    Ok((values, lost))
}

fn value_of(attribute: &Attribute) -> Option<Value> {
    let (shape, mut values) = match attribute {
        Attribute::Texts(None, _) | Attribute::Items(_, None, _) => return Some(Value::Null),
        Attribute::Texts(Some(shape), texts) => {
            let texts =
                texts.iter().map(|text| String::from_utf8(text.clone()).ok().map(Value::Text));
            (shape.clone(), texts.collect::<Option<Vec<Value>>>()?)
        }
        Attribute::Items(item, Some(shape), bytes) => {
            let size = item.scalar.size().max(1);
            let values = bytes.chunks_exact(size).map(|bytes| item_value(&item.scalar, bytes));
            ([shape.as_slice(), &item.shape].concat(), values.collect::<Option<Vec<Value>>>()?)
        }
        Attribute::Unsupported(_) => return None,
    };
    // The innermost dimension first.
    for &len in shape.iter().rev() {
        let Some(len) = usize::try_from(len).ok().filter(|&len| len > 0) else {
            return Some(Value::List(Vec::new()));
        };
        values = values.chunks(len).map(|values| Value::List(values.to_vec())).collect();
    }
    values.pop()
}

/// Returns the bytes in little-endian order.
fn little<const N: usize>(bytes: &[u8], is_big: bool) -> Option<[u8; N]> {
    let mut bytes: [u8; N] = bytes.try_into().ok()?;
    if is_big {
        bytes.reverse();
    }
    Some(bytes)
}

fn item_value(scalar: &Scalar, bytes: &[u8]) -> Option<Value> {
    Some(match scalar {
        Scalar::Bool => Value::Bool(bytes.first()? != &0),
        Scalar::Int { is_signed, is_big, .. } => {
            Value::Int(integer(bytes, *is_signed, *is_big).to_string())
        }
        Scalar::Bits { is_big, .. } => Value::Int(integer(bytes, false, *is_big).to_string()),
        Scalar::Float { size: 2, is_big } => {
            Value::Float(half_to(u16::from_le_bytes(little(bytes, *is_big)?)))
        }
        Scalar::Float { size: 4, is_big } => {
            Value::Float(f32::from_le_bytes(little(bytes, *is_big)?).into())
        }
        Scalar::Float { is_big, .. } => Value::Float(f64::from_le_bytes(little(bytes, *is_big)?)),
        Scalar::Bytes { .. } => {
            let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            Value::Text(String::from_utf8(bytes[..len].to_vec()).ok()?)
        }
        _ => return None,
    })
}

fn integer(bytes: &[u8], is_signed: bool, is_big: bool) -> i128 {
    let mut bytes = bytes.to_vec();
    if is_big {
        bytes.reverse();
    }
    let is_negative = is_signed && bytes.last().is_some_and(|&byte| byte >= 0x80);
    bytes.resize(16, if is_negative { 0xff } else { 0 });
    bytes.try_into().map_or(0, i128::from_le_bytes)
}

/// Returns the attribute of a value, or the reason why it has none.
pub fn attribute_of(value: &Value) -> std::result::Result<Attribute, String> {
    let attribute = match value {
        Value::Null => Attribute::Items(number(8, true), None, Vec::new()),
        value => match regular(value) {
            Some(attribute) => attribute,
            None => Attribute::Texts(Some(Vec::new()), vec![value.to_json().into_bytes()]),
        },
    };
    let (len, has_nul) = match &attribute {
        Attribute::Texts(_, texts) => {
            (texts.len() * 16, texts.iter().any(|text| text.contains(&0)))
        }
        Attribute::Items(_, _, items) => (items.len(), false),
        Attribute::Unsupported(_) => (0, false),
    };
    if len > MAX_ATTRIBUTE {
        return Err("whose items exceed 64 KB, the limit of HDF5".to_owned());
    }
    if has_nul { Err("which has a text with NUL".to_owned()) } else { Ok(attribute) }
}

fn number(size: usize, is_signed: bool) -> ItemType {
    Scalar::Int { size, is_signed, is_big: false }.into()
}

/// Returns the attribute of a value whose nested lists have equal lengths and items of one type.
fn regular(value: &Value) -> Option<Attribute> {
    let (mut shape, mut leaves) = (Vec::new(), vec![value]);
    while let Some(Value::List(first)) = leaves.first() {
        if shape.len() == MAX_DEPTH {
            return None;
        }
        let len = first.len();
        let mut inner = Vec::new();
        for leaf in &leaves {
            match leaf {
                Value::List(items) if items.len() == len => inner.extend(items),
                _ => return None,
            }
        }
        shape.push(len as u64);
        leaves = inner;
    }
    if leaves.is_empty() {
        let item = Scalar::Float { size: 8, is_big: false }.into();
        return Some(Attribute::Items(item, Some(shape), Vec::new()));
    }
    let texts = leaves.iter().map(|leaf| match leaf {
        Value::Text(text) => Some(text.clone().into_bytes()),
        _ => None,
    });
    if let Some(texts) = texts.collect::<Option<Vec<_>>>() {
        return Some(Attribute::Texts(Some(shape), texts));
    }
    let of = |item: ItemType, items: Option<Vec<Vec<u8>>>| {
        items.map(|items| Attribute::Items(item, Some(shape.clone()), items.concat()))
    };
    let bools = leaves.iter().map(|leaf| match leaf {
        Value::Bool(value) => Some(vec![u8::from(*value)]),
        _ => None,
    });
    let signed = leaves.iter().map(|leaf| match leaf {
        Value::Int(digits) => Some(digits.parse::<i64>().ok()?.to_le_bytes().to_vec()),
        _ => None,
    });
    let unsigned = leaves.iter().map(|leaf| match leaf {
        Value::Int(digits) => Some(digits.parse::<u64>().ok()?.to_le_bytes().to_vec()),
        _ => None,
    });
    // Integers are not rounded.
    let exact = |digits: &str| {
        let float = digits.parse::<f64>().ok()?;
        (digits.parse::<i128>() == Ok(float as i128)).then_some(float)
    };
    let floats = leaves.iter().map(|leaf| match leaf {
        Value::Int(digits) => Some(exact(digits)?.to_le_bytes().to_vec()),
        Value::Float(number) => Some(number.to_le_bytes().to_vec()),
        _ => None,
    });
    of(Scalar::Bool.into(), bools.collect())
        .or_else(|| of(number(8, true), signed.collect()))
        .or_else(|| of(number(8, false), unsigned.collect()))
        .or_else(|| of(Scalar::Float { size: 8, is_big: false }.into(), floats.collect()))
}

/// Returns the fill value of an item, or `None` if it has no value in JSON.
pub fn fill_value(item: &ItemType, bytes: &[u8]) -> Option<Value> {
    item.shape.is_empty().then(|| item_value(&item.scalar, bytes)).flatten()
}

/// Returns the item of a fill value, or `None` if it is none of the dtype.
pub fn fill_item(dtype: &Dtype, value: &Value) -> Option<Vec<u8>> {
    crate::bcolz::item_of(dtype, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip() {
        for text in [
            "null",
            "true",
            "7",
            "-1",
            "18446744073709551615",
            "1.5",
            "\"a\"",
            "[1, 2]",
            "[1.5, 2.0]",
            "[[1, 2], [3, 4]]",
            "[\"a\", \"b\"]",
            "[true, false]",
            "[]",
        ] {
            let value = Value::parse(text.as_bytes()).unwrap();
            let attribute = attribute_of(&value).unwrap();
            assert_eq!(value_of(&attribute).unwrap().to_json(), value.to_json(), "{text}");
        }
    }

    #[test]
    fn other_values_are_json_texts() {
        let rounded = ["18446744073709551617", "[9007199254740993,1.5]"];
        for text in rounded {
            let attribute = attribute_of(&Value::parse(text.as_bytes()).unwrap()).unwrap();
            assert_eq!(attribute, Attribute::Texts(Some(Vec::new()), vec![text.into()]));
        }
        for text in ["{\"a\": 1}", "[1, \"a\"]", "[[1], [2, 3]]", "[null]", "1e400"] {
            let value = Value::parse(text.as_bytes()).unwrap();
            let attribute = attribute_of(&value).unwrap();
            let is_number = matches!(value, Value::Float(_));
            let is_text = matches!(attribute, Attribute::Texts(..));
            assert!(is_text || is_number, "{text}");
        }
        let long = Value::List(vec![Value::Float(1.0); 10_000]);
        assert!(attribute_of(&long).is_err());
        assert!(attribute_of(&Value::Text("a\0b".to_owned())).is_err());
    }

    #[test]
    fn values_without_a_form_are_described() {
        let items = |scalar: Scalar, bytes: &[u8]| {
            Attribute::Items(scalar.into(), Some(Vec::new()), bytes.to_vec())
        };
        let bits = items(Scalar::Bits { size: 2, is_big: true }, &[1, 2]);
        assert_eq!(value_of(&bits).unwrap().to_json(), "258");
        let half = items(Scalar::Float { size: 2, is_big: false }, &[0, 0x3e]);
        assert_eq!(value_of(&half).unwrap().to_json(), "1.5");
        let padded = items(Scalar::Bytes { size: 4, is_utf8: true }, b"ab\0\0");
        assert_eq!(value_of(&padded).unwrap().to_json(), "\"ab\"");
        let empty = Attribute::Items(Scalar::Bool.into(), Some(vec![2, 0]), Vec::new());
        assert_eq!(value_of(&empty).unwrap().to_json(), "[]");
        let unsupported = || Attribute::Unsupported("references to objects".to_owned());
        assert!(value_of(&unsupported()).is_none());
        let wide = items(Scalar::Float { size: 16, is_big: false }, &[0; 16]);
        let attributes = vec![
            ("CLASS".to_owned(), Attribute::Texts(Some(Vec::new()), vec![b"other".to_vec()])),
            ("DIMENSION_LIST".to_owned(), unsupported()),
            ("wide".to_owned(), wide),
            ("links".to_owned(), unsupported()),
        ];
        let (values, lost) = attributes_of(Ok(attributes)).unwrap();
        assert_eq!(values.len(), 1);
        assert_eq!(
            lost,
            [
                "the attribute \"wide\", which has items without a value in JSON",
                "the attribute \"links\", which has references to objects",
            ]
        );
        let mut deep = Value::from(1);
        for _ in 0..=MAX_DEPTH {
            deep = Value::List(vec![deep]);
        }
        assert!(
            matches!(attribute_of(&deep), Ok(Attribute::Texts(Some(shape), _)) if shape.is_empty())
        );
    }

    #[test]
    fn integers_have_their_sign_and_order() {
        assert_eq!(integer(&[0xff, 0xfe], true, true), -2);
        assert_eq!(integer(&[0xfe, 0xff], false, false), 65_534);
    }
}
