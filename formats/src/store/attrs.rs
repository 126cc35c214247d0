//! Attributes: the variable-length metalayers of a frame, one MessagePack value in each.

use ferroblosc::chunk::BasicHeader;
use ferroblosc::schunk::{Layers, SChunk, State, meta};

use super::error::{Error, Result};
use super::limits::{MAX_ATTRIBUTE, MAX_VALUES};
use super::value::{Fault, Value};

/// The variable-length metalayer with the map.
pub(super) const MAP: &str = "estore_metadata";
/// The variable-length metalayers that are not attributes: the map of an embed store, and the
/// lengths of batches.
const RESERVED: [&str; 2] = [MAP, "_batch_array_metadata"];
/// The variable-length metalayer with a map of the attributes of an object without values.
const USER_ATTRS: &str = "_b2o_user_vlmeta";

fn has_names(entries: &[(Value, Value)]) -> bool {
    entries.iter().all(|(name, _)| matches!(name, Value::Str(_)))
}

/// The attributes of an object, in the order of their addition.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Attrs {
    /// The names and values. Bytes that are not MessagePack are [`Value::Raw`].
    pub entries: Vec<(String, Value)>,
    /// The names of attributes that cannot be read, with the errors.
    pub damaged: Vec<(String, Error)>,
}

impl Attrs {
    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// Reads the attributes of the frame of the leaf `key`.
    pub(super) fn read(key: &str, schunk: &SChunk) -> Attrs {
        let mut names: Vec<Vec<u8>> = Vec::new();
        schunk.state().with_layers(Layers::Variable, &mut |layers| {
            names = layers.iter().map(|&(name, _)| name.to_vec()).collect();
        });
        let mut attrs = Attrs::default();
        for raw in names {
            let name = String::from_utf8_lossy(&raw).into_owned();
            if RESERVED.contains(&&*name) {
                continue;
            }
            match content(key, schunk, &raw) {
                Ok(content) => match Value::decode_or_raw(content) {
                    Value::Map(entries) if name == USER_ATTRS && has_names(&entries) => {
                        let named = entries.into_iter().filter_map(|(name, value)| match name {
                            Value::Str(name) => Some((name, value)),
                            _ => None,
                        });
                        attrs.entries.extend(named);
                    }
                    value => attrs.entries.push((name, value)),
                },
                Err(error) => attrs.damaged.push((name, error)),
            }
        }
        attrs
    }
}

/// Returns the names and contents of the fixed metalayers. Names can be any bytes.
pub(super) fn fixed_layers(schunk: &SChunk) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    schunk.state().with_layers(Layers::Fixed, &mut |layers| {
        found = layers.iter().map(|&(name, content)| (name.to_vec(), content.to_vec())).collect();
    });
    found
}

/// Returns the value of one attribute; `None` if there is none of this name.
///
/// # Errors
/// [`Error::Limit`] above 64 MiB; [`Error::Damaged`] if it is not one MessagePack value;
/// [`Error::Frame`]; [`Error::Memory`].
pub(super) fn value(key: &str, schunk: &SChunk, name: &str) -> Result<Option<Value>> {
    if !schunk.vlmetalayer_names().iter().any(|other| other == name) {
        return Ok(None);
    }
    let content = content(key, schunk, name.as_bytes())?;
    match Value::decode_limited(&content, MAX_VALUES) {
        Ok(value) => Ok(Some(value)),
        Err(Fault::TooMany) => Err(too_many_values(key, name)),
        Err(Fault::Invalid) => {
            let why = format!("the attribute {name:?} is not a MessagePack value");
            Err(Error::damaged(key, why))
        }
    }
}

/// Checks that the content of an attribute can be read again. It need not be MessagePack.
///
/// # Errors
/// [`Error::Limit`]
pub(super) fn check_content(key: &str, name: &str, content: &[u8]) -> Result<()> {
    check_size(key, name, content.len() as u64)?;
    match Value::decode_limited(content, MAX_VALUES) {
        Err(Fault::TooMany) => Err(too_many_values(key, name)),
        _ => Ok(()),
    }
}

fn check_size(key: &str, name: &str, size: u64) -> Result<()> {
    if size > MAX_ATTRIBUTE {
        let what = format!("{key}: the attribute {name:?} has {size} bytes");
        return Err(Error::Limit { what, limit: MAX_ATTRIBUTE });
    }
    Ok(())
}

fn too_many_values(key: &str, name: &str) -> Error {
    let what = format!("{key}: the attribute {name:?} has too many values");
    Error::Limit { what, limit: MAX_VALUES }
}

fn content(key: &str, schunk: &SChunk, name: &[u8]) -> Result<Vec<u8>> {
    let mut size = 0;
    schunk.state().with_layers(Layers::Variable, &mut |layers| {
        let found = layers.iter().find(|&&(other, _)| other == name);
        let header = found.and_then(|&(_, chunk)| BasicHeader::parse(chunk).ok());
        size = header.map_or(0, |header| u64::from(header.nbytes.max(0).unsigned_abs()));
    });
    check_size(key, &String::from_utf8_lossy(name), size)?;
    let (_, content) = meta::vl_get(schunk.state(), name).map_err(Error::frame(key))?;
    Ok(content.to_vec())
}
