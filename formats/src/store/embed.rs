//! Embed stores: a super-chunk whose data are frames, and a map of their keys.
//!
//! ```text
//! estore_metadata = {"embed_map": {key: {"offset", "length"} or {"urlbase", "path"}, …}, …}
//! ```
//!
//! Ranges that reach beyond the data, and entries of another form, make a key damaged; the other
//! keys stay readable.

use ferroblosc::frame::FIXED_HEADER_LEN;
use ferroblosc::schunk::SChunk;

use super::attrs::{self, MAP};
use super::error::{Error, Result};
use super::frame::{self, Opened};
use super::keys;
use super::value::Value;

pub(super) const ENTRIES: &str = "embed_map";

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A range of the data: offset and length, in bytes.
    Frame { offset: u64, length: u64 },
    /// A reference to a remote array.
    Reference(Value),
    /// An invalid entry, for this reason.
    Damaged(String),
}

/// The entries of an embed store, and the reasons why others are left out.
#[derive(Debug, Default)]
pub struct Map {
    /// The keys and their values, in the stored order.
    pub entries: Vec<(String, Entry)>,
    /// The entries or the part of the map that cannot be used, with the reasons.
    pub faults: Vec<String>,
}

/// Reads the map of the store at `place`. If it is missing, the store is empty.
pub fn map(place: &str, schunk: &SChunk) -> Result<Map> {
    let mut map = Map::default();
    let value = match attrs::value(place, schunk, MAP) {
        Ok(None) => return Ok(map),
        Ok(Some(value)) => value,
        Err(error) if error.is_corruption() => {
            map.faults.push(format!("the map of keys cannot be read: {error}"));
            return Ok(map);
        }
        Err(error) => return Err(error),
    };
    let Some(Value::Map(entries)) = value.get(ENTRIES) else {
        map.faults.push(format!("the map of keys has no map {ENTRIES:?}"));
        return Ok(map);
    };
    let has_root = place == "/";
    let size = schunk.nbytes().max(0).unsigned_abs();
    for (key, content) in entries {
        match key {
            // The key `/` would hide the groups of a tree.
            Value::Str(key) => match keys::fault_of_key(key).filter(|_| !has_root || key != "/") {
                None => map.entries.push((key.clone(), entry(content, size))),
                Some(why) => map.faults.push(format!("the key {key:?} is ignored: {why}")),
            },
            _ => map.faults.push("a key that is not a string is ignored".to_owned()),
        }
    }
    Ok(map)
}

fn entry(content: &Value, size: u64) -> Entry {
    if content.get("urlbase").and_then(Value::as_str).is_some_and(|base| !base.is_empty()) {
        return Entry::Reference(content.clone());
    }
    let range = |name| content.get(name).and_then(Value::as_u64);
    let (Some(offset), Some(length)) = (range("offset"), range("length")) else {
        return Entry::Damaged("its entry in the map has no valid offset and length".to_owned());
    };
    match offset.checked_add(length) {
        Some(end) if end <= size => Entry::Frame { offset, length },
        _ => Entry::Damaged(format!(
            "its entry in the map reaches beyond the data: {length} bytes at {offset} of {size}"
        )),
    }
}

/// Returns a copy of `len` bytes of the data, which exist.
///
/// # Errors
/// [`Error::Damaged`] if the items are not bytes; [`Error::Frame`]; [`Error::Memory`].
pub fn data(key: &str, schunk: &SChunk, offset: u64, len: u64) -> Result<Vec<u8>> {
    if schunk.typesize() != 1 {
        return Err(Error::damaged(key, "the items of the embed store are not bytes"));
    }
    let mut bytes = Vec::new();
    let size = usize::try_from(len).map_err(|_| Error::Memory)?;
    bytes.try_reserve_exact(size)?;
    bytes.resize(size, 0);
    let at = |position: u64| i64::try_from(position).map_err(|_| Error::Memory);
    schunk.get_slice(at(offset)?, at(offset + len)?, &mut bytes).map_err(Error::frame(key))?;
    Ok(bytes)
}

/// Returns a copy of the frame in a range of the data.
///
/// # Errors
/// [`Error::Damaged`] if the range does not start with a frame or is shorter than it;
/// [`Error::Limit`] if the frame has more than `limit` bytes; [`Error::Frame`]; [`Error::Memory`].
pub fn read(key: &str, schunk: &SChunk, offset: u64, length: u64, limit: u64) -> Result<Vec<u8>> {
    // The length of the frame is checked before memory for it is allocated.
    let len = frame_len(key, schunk, offset, length)?;
    if len > limit {
        return Err(Error::Limit { what: format!("{key}: the frame has {len} bytes"), limit });
    }
    data(key, schunk, offset, len)
}

/// Returns the length of the frame at the start of a range of the data.
///
/// # Errors
/// [`Error::Damaged`] if the range does not start with a frame or is shorter than it;
/// [`Error::Frame`]; [`Error::Memory`].
pub fn frame_len(key: &str, schunk: &SChunk, offset: u64, length: u64) -> Result<u64> {
    let start = data(key, schunk, offset, length.min(FIXED_HEADER_LEN as u64))?;
    frame::len(key, &start, length)
}

/// Opens a copy of the frame in a range of the data.
///
/// # Errors
/// The errors of [`read`].
pub fn open(key: &str, schunk: &SChunk, offset: u64, length: u64, limit: u64) -> Result<Opened> {
    let bytes = read(key, schunk, offset, length, limit)?;
    let mut opened = frame::open_bytes(key, &bytes)?;
    opened.surplus = length - bytes.len() as u64;
    Ok(opened)
}
