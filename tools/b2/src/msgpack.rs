//! MessagePack as JSON, and back.
//!
//! Values without a counterpart in JSON are objects with one name:
//!
//! | value | JSON |
//! |---|---|
//! | binary data | `{"$bytes": "00ff"}` |
//! | an extension | `{"$ext": [type, "00ff"]}` |
//! | a map with keys other than strings, or equal keys | `{"$map": [[key, value], ...]}` |
//! | a map whose only key is one of these names | the same |
//! | NaN and infinities | `{"$float": "nan"}`, `"inf"`, `"-inf"` |
//! | bytes that are not one MessagePack value | `{"$raw": "00ff"}` |
//! | a value with a string that is not UTF-8 | the same, for all bytes |
//!
//! A float of 32 bits becomes one of 64 bits.

use crate::items::hex;
use ferroblosc_formats::msgpack;
use rmpv::Value;
use serde_json::{Map, Value as Json, json};
use std::collections::HashSet;

/// The names of objects that represent other values.
const SPECIAL: [&str; 5] = ["$bytes", "$ext", "$map", "$float", "$raw"];
/// The maximum number of digits of a number in an error.
const SHOWN_DIGITS: usize = 60;
/// The maximum nesting depth. `serde_json` has a limit of 128.
const MAX_DEPTH: usize = 100;

/// Converts the content of a metalayer.
pub fn to_json(bytes: &[u8]) -> Json {
    let value = msgpack::decode(bytes, MAX_DEPTH).and_then(json_of);
    value.unwrap_or_else(|| json!({"$raw": hex(bytes)}))
}

/// Converts a value, or returns none for a value with a string that is not UTF-8.
fn json_of(value: Value) -> Option<Json> {
    Some(match value {
        Value::Nil => Json::Null,
        Value::Boolean(truth) => truth.into(),
        Value::Integer(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into(),
            (None, number) => number.into(),
        },
        Value::F32(number) if number.is_finite() => number.into(),
        Value::F32(number) => special(number.into()),
        Value::F64(number) if number.is_finite() => number.into(),
        Value::F64(number) => special(number),
        Value::String(text) => text.into_str()?.into(),
        Value::Binary(bytes) => json!({"$bytes": hex(&bytes)}),
        Value::Ext(kind, bytes) => json!({"$ext": [kind, hex(&bytes)]}),
        Value::Array(items) => {
            items.into_iter().map(json_of).collect::<Option<Vec<Json>>>()?.into()
        }
        Value::Map(entries) => {
            let mut names = HashSet::new();
            let is_object = entries
                .iter()
                .all(|(key, _)| key.as_str().is_some_and(|name| names.insert(name.to_owned())));
            // An object with only this name is not a map.
            let is_special =
                names.len() == 1 && names.iter().all(|name| SPECIAL.contains(&name.as_str()));
            if is_object && !is_special {
                let named = entries.into_iter().map(|(key, value)| {
                    Some((key.as_str().unwrap_or_default().to_owned(), json_of(value)?))
                });
                Json::Object(named.collect::<Option<_>>()?)
            } else {
                let pairs = entries
                    .into_iter()
                    .map(|(key, value)| Some(json!([json_of(key)?, json_of(value)?])));
                json!({"$map": pairs.collect::<Option<Vec<Json>>>()?})
            }
        }
    })
}

/// Converts NaN or an infinity.
fn special(number: f64) -> Json {
    let name = if number.is_nan() {
        "nan"
    } else if number > 0.0 {
        "inf"
    } else {
        "-inf"
    };
    json!({"$float": name})
}

/// Parses pairs of hexadecimal digits.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_digits || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// Returns the content of a metalayer for a value.
///
/// # Errors
/// The reason MessagePack does not support the value.
pub fn of_json(value: &Json) -> Result<Vec<u8>, String> {
    if let Some(("$raw", Json::String(digits))) = sole_entry(value) {
        return unhex(digits).ok_or_else(|| "'$raw' needs pairs of hexadecimal digits".to_owned());
    }
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &value_of(value)?).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Returns the only entry of an object.
fn sole_entry(value: &Json) -> Option<(&str, &Json)> {
    let entries: &Map<String, Json> = value.as_object()?;
    let (name, value) = entries.iter().next()?;
    (entries.len() == 1).then_some((name.as_str(), value))
}

fn value_of(value: &Json) -> Result<Value, String> {
    if let Some((name, inner)) = sole_entry(value)
        && let Some(special) = special_of(name, inner)
    {
        return special;
    }
    Ok(match value {
        Json::Null => Value::Nil,
        Json::Bool(truth) => Value::Boolean(*truth),
        Json::Number(number) => {
            let is_integer = !number.to_string().contains(['.', 'e', 'E']);
            match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => Value::from(number),
                (None, Some(number), _) => Value::from(number),
                (None, None, Some(number)) if !is_integer && number.is_finite() => {
                    Value::from(number)
                }
                _ => return Err(out_of_range(&number.to_string(), is_integer)),
            }
        }
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(value_of).collect::<Result<_, _>>()?),
        Json::Object(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(name, value)| Ok((name.as_str().into(), value_of(value)?)));
            Value::Map(entries.collect::<Result<_, String>>()?)
        }
    })
}

/// Returns the error of a number that MessagePack does not support. Only its first digits are
/// shown.
fn out_of_range(number: &str, is_integer: bool) -> String {
    let shown = match number.char_indices().nth(SHOWN_DIGITS) {
        Some((end, _)) => format!("{}…", &number[..end]),
        None => number.to_owned(),
    };
    if is_integer {
        format!("the number {shown} has more than 64 bits")
    } else {
        format!("the number {shown} is beyond the range of 64-bit floats")
    }
}

/// Returns a value without a counterpart in JSON, or none for another object.
fn special_of(name: &str, inner: &Json) -> Option<Result<Value, String>> {
    let invalid = || Err(format!("the value of '{name}' is invalid"));
    let bytes_of = |value: &Json| value.as_str().and_then(unhex);
    Some(match name {
        "$bytes" => bytes_of(inner).map_or_else(invalid, |bytes| Ok(Value::Binary(bytes))),
        "$float" => match inner.as_str() {
            Some("nan") => Ok(Value::F64(f64::NAN)),
            Some("inf") => Ok(Value::F64(f64::INFINITY)),
            Some("-inf") => Ok(Value::F64(f64::NEG_INFINITY)),
            _ => invalid(),
        },
        "$ext" => match inner.as_array().map(Vec::as_slice) {
            Some([kind, bytes]) => {
                let kind = kind.as_i64().and_then(|kind| i8::try_from(kind).ok());
                match (kind, bytes_of(bytes)) {
                    (Some(kind), Some(bytes)) => Ok(Value::Ext(kind, bytes)),
                    _ => invalid(),
                }
            }
            _ => invalid(),
        },
        "$map" => {
            let pairs = inner.as_array().into_iter().flatten().map(|pair| {
                match pair.as_array().map(Vec::as_slice) {
                    Some([key, value]) => Ok((value_of(key)?, value_of(value)?)),
                    _ => Err(format!("an entry of '{name}' is not [key, value]")),
                }
            });
            if inner.is_array() {
                pairs.collect::<Result<_, String>>().map(Value::Map)
            } else {
                invalid()
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_round_trips() {
        for (bytes, text) in [
            (&b"\xc0"[..], "null"),
            (b"\xc3", "true"),
            (b"\xff", "-1"),
            (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"),
            (b"\xd3\x80\0\0\0\0\0\0\0", "-9223372036854775808"),
            (b"\xcb\x3f\xf8\0\0\0\0\0\0", "1.5"),
            (b"\xcb\x7f\xf0\0\0\0\0\0\0", r#"{"$float":"inf"}"#),
            (b"\xa3a\xc3\xa9", "\"a\u{e9}\""),
            (b"\x92\x01\xa1b", r#"[1,"b"]"#),
            (b"\x82\xa1k\x90\xa1a\x80", r#"{"k":[],"a":{}}"#),
            (b"\xc4\x02\x00\xff", r#"{"$bytes":"00ff"}"#),
            (b"\xd4\x05\x01", r#"{"$ext":[5,"01"]}"#),
            (b"\x81\x01\x02", r#"{"$map":[[1,2]]}"#),
            (b"\x82\xa1a\x01\xa1a\x02", r#"{"$map":[["a",1],["a",2]]}"#),
            (b"", r#"{"$raw":""}"#),
            (b"\x01\x01", r#"{"$raw":"0101"}"#),
            (b"\x92\x01\xa1\xff", r#"{"$raw":"9201a1ff"}"#),
            (b"\x81\xa1\xff\x01", r#"{"$raw":"81a1ff01"}"#),
            (b"\x81\xa6$bytes\xa200", r#"{"$map":[["$bytes","00"]]}"#),
            (b"\x81\xa4$raw\xa200", r#"{"$map":[["$raw","00"]]}"#),
            (b"\x81\xa1k\x81\xa4$map\x90", r#"{"k":{"$map":[["$map",[]]]}}"#),
            (b"\x82\xa4$raw\x01\xa1k\x02", r#"{"$raw":1,"k":2}"#),
            (b"\xdd\xff\xff\xff\xff", r#"{"$raw":"ddffffffff"}"#),
            (b"\xc1", r#"{"$raw":"c1"}"#),
            (b"\x92\x01\xc1", r#"{"$raw":"9201c1"}"#),
        ] {
            let json = to_json(bytes);
            assert_eq!(json.to_string(), text);
            assert_eq!(of_json(&json).as_deref(), Ok(bytes), "{text}");
        }
        let nan = of_json(&json!({"$float": "nan"})).unwrap();
        assert_eq!(to_json(&nan), json!({"$float": "nan"}));
        assert_eq!(to_json(b"\xca\x3d\xcc\xcc\xcd").to_string(), "0.1");
        let deep = [vec![0x91; 200], vec![0xC0]].concat();
        assert!(to_json(&deep)["$raw"].is_string());
    }

    #[test]
    fn invalid_values_are_rejected() {
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            r#"{"$bytes": "0"}"#,
            r#"{"$bytes": "é"}"#,
            r#"{"$raw": "xx"}"#,
            r#"{"$ext": [300, ""]}"#,
            r#"{"$map": [[1]]}"#,
            r#"{"$map": 1}"#,
            r#"[{"$float": "x"}]"#,
        ] {
            let value: Json = serde_json::from_str(text).unwrap();
            assert!(of_json(&value).is_err(), "{text}");
        }
    }
}
