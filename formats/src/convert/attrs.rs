//! Stores attributes as variable-length metalayers of a super-chunk and reads them back.
//!
//! An attribute becomes a metalayer of the same name with its value in MessagePack, the convention
//! of python-blosc2. Attributes that this form does not support, such as integers of more than 64
//! bits and attributes with long names, are stored in one more metalayer, `__bcolz__`, together
//! with the fill value and the table description. Its content is a JSON text in MessagePack:
//!
//! ```text
//! {"dflt": 0, "attrs": {…}, "table": {"names": ["a", "b"], "attrs": {…}}}
//! ```

use crate::bcolz::Attrs;
use crate::bloscpack::Value;
use crate::msgpack;
use ferroblosc::frame::{MAX_METALAYERS, MAX_NAME_LEN};
use ferroblosc::schunk::{Layers, SChunk, State};
use ferroblosc::{Result, b2nd};

/// The metalayer for everything that other metalayers cannot hold.
pub(super) const DESCRIPTION: &str = "__bcolz__";
const DFLT: &str = "dflt";
const ATTRS: &str = "attrs";
const TABLE: &str = "table";
const NAMES: &str = "names";
/// The maximum nesting depth of values.
const MAX_DEPTH: usize = 100;
/// The same for the decoder, which counts two levels for each nested value.
const MAX_DECODER_DEPTH: usize = 2 * MAX_DEPTH + 2;

/// The description of a carray, apart from its rows.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// The attributes.
    pub attrs: Vec<(String, Value)>,
    /// The fill value of new rows.
    pub dflt: Option<Value>,
    /// The description of the table, if the carray is a column of one.
    pub table: Option<TableDescription>,
    /// Names of the metalayers that are not representable as attributes.
    pub unmapped: Vec<String>,
}

/// The description of a table.
#[derive(Clone, Debug, Default)]
pub struct TableDescription {
    /// The names of the columns in order.
    pub names: Vec<String>,
    /// The attributes.
    pub attrs: Vec<(String, Value)>,
}

/// Returns the attributes as name-value pairs.
pub fn pairs(attrs: &Attrs) -> Vec<(String, Value)> {
    let owned = |(name, value): (&str, &Value)| (name.to_owned(), value.clone());
    attrs.iter().map(owned).collect()
}

/// Returns descriptions of the attributes that are lost, because no other format can hold them.
pub fn undecodable(attrs: &Attrs, column: Option<&str>) -> Vec<String> {
    let of_column = column.map(|column| format!(" of the column {column:?}")).unwrap_or_default();
    let lost = attrs.undecodable().map(|name| {
        format!("the attribute \"{name}\"{of_column}, which contains an unpaired surrogate")
    });
    lost.collect()
}

impl Description {
    /// Adds the metalayers to a super-chunk that has no variable-length metalayers. Attributes that
    /// do not fit into a frame as metalayers of their own are added to [`DESCRIPTION`].
    pub fn write(&self, schunk: &mut SChunk) -> Result<()> {
        let layer_of = |(name, value): &(String, Value)| {
            let is_name = !name.is_empty() && name.len() <= MAX_NAME_LEN && name != DESCRIPTION;
            encode(value).filter(|_| is_name && !name.contains('\0'))
        };
        let layers: Vec<Option<Vec<u8>>> = self.attrs.iter().map(layer_of).collect();
        let has_description = self.dflt.is_some()
            || self.table.is_some()
            || layers.len() > MAX_METALAYERS
            || layers.iter().any(Option::is_none);
        let mut free = MAX_METALAYERS - usize::from(has_description);
        let mut rest = Vec::new();
        for ((name, value), layer) in self.attrs.iter().zip(layers) {
            match layer.filter(|_| free > 0) {
                Some(bytes) => {
                    schunk.add_vlmetalayer(name, &bytes)?;
                    free -= 1;
                }
                None => rest.push((name.clone(), value.clone())),
            }
        }
        let mut entries = Vec::new();
        if let Some(dflt) = &self.dflt {
            entries.push((DFLT, dflt.clone()));
        }
        if !rest.is_empty() {
            entries.push((ATTRS, Value::Object(rest)));
        }
        if let Some(table) = &self.table {
            let names = table.names.iter().map(|name| Value::from(name.as_str()));
            let table = Value::object([
                (NAMES, Value::List(names.collect())),
                (ATTRS, Value::Object(table.attrs.clone())),
            ]);
            entries.push((TABLE, table));
        }
        match content_of(entries) {
            Some(bytes) => schunk.add_vlmetalayer(DESCRIPTION, &bytes),
            None => Ok(()),
        }
    }

    /// Reads the description from the metalayers of a super-chunk.
    pub fn read(schunk: &SChunk) -> Result<Description> {
        let mut described = Description::of_fixed(schunk);
        for name in schunk.vlmetalayer_names() {
            let content = schunk.vlmetalayer(&name).map_err(|error| of_layer(&name, error))?;
            described.add(name, &content);
        }
        Ok(described)
    }

    /// Returns the description of a super-chunk without variable-length metalayers: the names of the
    /// fixed ones.
    pub(super) fn of_fixed(schunk: &SChunk) -> Description {
        let mut described = Description::default();
        schunk.state().with_layers(Layers::Fixed, &mut |layers| {
            let names = layers.iter().map(|(name, _)| String::from_utf8_lossy(name));
            described.unmapped = names
                .filter(|name| name != b2nd::meta::NAME && name != b2nd::meta::OLD_NAME)
                .map(|name| name.into_owned())
                .collect();
        });
        described
    }

    /// Adds the content of a metalayer.
    pub(super) fn add(&mut self, name: String, content: &[u8]) {
        match decode(content) {
            Some(Value::Text(json)) if name == DESCRIPTION => self.merge_description(&json),
            Some(value) => self.attrs.push((name, value)),
            None => self.unmapped.push(name),
        }
    }

    /// Merges the content of `DESCRIPTION`. If it is invalid, adds the name to `unmapped`.
    fn merge_description(&mut self, json: &str) {
        let Ok(rest @ Value::Object(_)) = Value::parse(json.as_bytes()) else {
            self.unmapped.push(DESCRIPTION.to_owned());
            return;
        };
        self.dflt = rest.get(DFLT).cloned();
        self.attrs.extend(attributes_in(&rest));
        self.table = rest.get(TABLE).map(|table| TableDescription {
            names: match table.get(NAMES) {
                Some(Value::List(names)) => names.iter().filter_map(text_of).collect(),
                _ => Vec::new(),
            },
            attrs: attributes_in(table),
        });
    }
}

/// Adds the name of a variable-length metalayer to the error of reading it.
pub(super) fn of_layer(name: &str, error: ferroblosc::Error) -> ferroblosc::Error {
    if error.is_corruption() {
        error.because(format!("the variable-length metalayer {name:?} is damaged"))
    } else {
        error
    }
}

/// Returns the content of `DESCRIPTION`, or `None` if there are no entries.
fn content_of(entries: Vec<(&str, Value)>) -> Option<Vec<u8>> {
    if entries.is_empty() {
        return None;
    }
    encode(&Value::Text(Value::object(entries).to_json()))
}

/// Returns the content of `DESCRIPTION` for these attributes, or `None` if there are none.
pub(super) fn description_of(attrs: Vec<(String, Value)>) -> Option<Vec<u8>> {
    let entries = (!attrs.is_empty()).then_some((ATTRS, Value::Object(attrs)));
    content_of(entries.into_iter().collect())
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn attributes_in(value: &Value) -> Vec<(String, Value)> {
    match value.get(ATTRS) {
        Some(Value::Object(entries)) => entries.clone(),
        _ => Vec::new(),
    }
}

/// Encodes a value in MessagePack, or returns `None` if that is impossible.
pub(super) fn encode(value: &Value) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &to_msgpack(value, 0)?).ok()?;
    Some(bytes)
}

fn to_msgpack(value: &Value, depth: usize) -> Option<rmpv::Value> {
    if depth == MAX_DEPTH {
        return None;
    }
    Some(match value {
        Value::Null => rmpv::Value::Nil,
        Value::Bool(truth) => rmpv::Value::from(*truth),
        Value::Int(digits) => match digits.parse::<u64>() {
            Ok(number) => rmpv::Value::from(number),
            Err(_) => rmpv::Value::from(digits.parse::<i64>().ok()?),
        },
        Value::Float(number) => rmpv::Value::from(*number),
        Value::Text(text) => rmpv::Value::from(text.as_str()),
        Value::List(items) => {
            let items = items.iter().map(|item| to_msgpack(item, depth + 1));
            rmpv::Value::Array(items.collect::<Option<_>>()?)
        }
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| {
                Some((rmpv::Value::from(name.as_str()), to_msgpack(value, depth + 1)?))
            });
            rmpv::Value::Map(entries.collect::<Option<_>>()?)
        }
    })
}

/// Decodes MessagePack, or returns `None` if the value has no JSON representation.
pub(super) fn decode(bytes: &[u8]) -> Option<Value> {
    msgpack::decode(bytes, MAX_DECODER_DEPTH).and_then(from_msgpack)
}

fn from_msgpack(value: rmpv::Value) -> Option<Value> {
    Some(match value {
        rmpv::Value::Nil => Value::Null,
        rmpv::Value::Boolean(truth) => Value::Bool(truth),
        rmpv::Value::Integer(number) => Value::Int(number.to_string()),
        rmpv::Value::F32(number) => Value::Float(number.into()),
        rmpv::Value::F64(number) => Value::Float(number),
        rmpv::Value::String(text) => Value::Text(text.into_str()?),
        rmpv::Value::Array(items) => {
            Value::List(items.into_iter().map(from_msgpack).collect::<Option<_>>()?)
        }
        rmpv::Value::Map(entries) => {
            let mut found: Vec<(String, Value)> = Vec::new();
            let mut seen = std::collections::HashSet::new();
            for (name, value) in entries {
                let name = name.as_str()?.to_owned();
                if !seen.insert(name.clone()) {
                    return None;
                }
                found.push((name, from_msgpack(value)?));
            }
            Value::Object(found)
        }
        rmpv::Value::Binary(_) | rmpv::Value::Ext(..) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        Value::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn values_round_trip_through_messagepack() {
        // The encoding of Python's msgpack.
        for (text, bytes) in [
            ("null", &b"\xc0"[..]),
            ("true", b"\xc3"),
            ("7", b"\x07"),
            ("-1", b"\xff"),
            ("300", b"\xcd\x01\x2c"),
            ("18446744073709551615", b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
            ("1.5", b"\xcb\x3f\xf8\0\0\0\0\0\0"),
            ("\"a\\u00e9\"", b"\xa3a\xc3\xa9"),
            ("[1, \"b\"]", b"\x92\x01\xa1b"),
            ("{\"k\": []}", b"\x81\xa1k\x90"),
        ] {
            assert_eq!(encode(&json(text)).as_deref(), Some(bytes), "{text}");
            assert_eq!(decode(bytes).unwrap().to_json(), json(text).to_json());
        }
    }

    #[test]
    fn all_encoded_values_can_be_decoded() {
        for content in ["", "\"text\"", "{\"k\": 1.5}"] {
            let nested = |depth: usize| {
                json(&["[".repeat(depth), content.to_owned(), "]".repeat(depth)].concat())
            };
            let encoded = (1..=MAX_DEPTH).map_while(|depth| Some((depth, encode(&nested(depth))?)));
            let mut deepest = 0;
            for (depth, bytes) in encoded {
                let decoded = decode(&bytes).unwrap_or_else(|| panic!("{content} {depth}"));
                assert_eq!(decoded.to_json(), nested(depth).to_json());
                deepest = depth;
            }
            assert!(deepest >= MAX_DEPTH - 2, "{content} {deepest}");
        }
    }

    #[test]
    fn values_without_a_counterpart_are_rejected() {
        assert!(encode(&json("18446744073709551616")).is_none());
        assert!(encode(&json("-9223372036854775809")).is_none());
        // Binary data, an extension, an integer key, a duplicate key, two values, a truncated
        // array, a truncated header, invalid UTF-8, no value, and the byte that has no meaning.
        for bytes in [
            &b"\xc4\x01a"[..],
            b"\xd4\x01a",
            b"\x81\x01\x01",
            b"\x82\xa1a\x01\xa1a\x02",
            b"\x01\x01",
            b"\x92\x01",
            b"\xdd\xff\xff\xff\xff",
            b"\xa1\xff",
            b"",
            b"\xc1",
            b"\x91\xc1",
        ] {
            assert!(decode(bytes).is_none(), "{bytes:?}");
        }
        let deep = [vec![0x91; 200], vec![0xc0]].concat();
        assert!(decode(&deep).is_none());
    }
}
