//! The attributes of an object: user-named JSON values in the file `__attrs__`.
//!
//! Python accepts unpaired surrogates in JSON, such as `"\ud800"`, for which Rust has no strings.
//! Attributes with them are not decoded, and changes of other attributes keep their text.

use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::store::Store;
use crate::bloscpack::{Entry, Value, text_of_entries};

/// The name of the file.
pub const FILE: &str = "__attrs__";

/// The attributes. Each change rewrites the file.
#[derive(Clone, Debug)]
pub struct Attrs {
    path: PathBuf,
    entries: Vec<Entry>,
    exists: bool,
}

/// Whether an entry has this name. A name with unpaired surrogates is no string.
fn is_named(entry: &Entry, name: &str) -> bool {
    match entry {
        Entry::Value(known, _) | Entry::Raw { name: known, is_escaped: false, .. } => known == name,
        Entry::Raw { .. } => false,
    }
}

impl Attrs {
    /// Reads the attributes of the object at `root`. A missing file means no attributes.
    pub(super) fn read(store: &Store, root: &Path) -> Result<Attrs> {
        let path = root.join(FILE);
        let entries = store.read_entries(&path)?;
        Ok(Attrs { path, exists: entries.is_some(), entries: entries.unwrap_or_default() })
    }

    /// Returns the names and values in the order of the file, without those of
    /// [`undecodable`](Attrs::undecodable).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Value(name, value) => Some((name.as_str(), value)),
            Entry::Raw { .. } => None,
        })
    }

    /// Returns the names of the attributes that are kept, but cannot be decoded, because their name
    /// or value contains an unpaired surrogate. Such a name is returned with the escapes of JSON.
    pub fn undecodable(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Value(..) => None,
            Entry::Raw { name, .. } => Some(name.as_str()),
        })
    }

    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the attributes as a JSON object, without those of
    /// [`undecodable`](Attrs::undecodable).
    pub fn to_value(&self) -> Value {
        let entries = self.iter().map(|(name, value)| (name.to_owned(), value.clone()));
        Value::Object(entries.collect())
    }

    /// Returns the text of a JSON object with all attributes, in the format of Python's `json`.
    pub fn to_json(&self) -> String {
        text_of_entries(&self.entries)
    }

    /// Checks that all attributes can be decoded.
    ///
    /// # Errors
    /// [`Error::Description`], which names the attribute.
    pub(crate) fn check_decodable(&self) -> Result<()> {
        match self.undecodable().next() {
            None => Ok(()),
            Some(name) => {
                let why = format!("the attribute \"{name}\" contains an unpaired surrogate");
                Err(Error::Description { path: self.path.clone(), why })
            }
        }
    }

    /// Sets an attribute, or removes it if `value` is `None`. Returns whether it existed.
    pub(super) fn set(&mut self, store: &Store, name: &str, value: Option<Value>) -> Result<bool> {
        let mut entries = self.entries.clone();
        let index = entries.iter().position(|entry| is_named(entry, name));
        let entry = value.map(|value| Entry::Value(name.to_owned(), value));
        match (index, entry) {
            (Some(index), Some(entry)) => entries[index] = entry,
            (Some(index), None) => {
                entries.remove(index);
            }
            (None, Some(entry)) => entries.push(entry),
            (None, None) => return Ok(false),
        }
        store.replace_entries(&self.path, &entries)?;
        self.entries = entries;
        self.exists = true;
        Ok(index.is_some())
    }

    /// Creates the file if it is missing.
    pub(super) fn ensure(&mut self, store: &Store) -> Result<()> {
        if !self.exists {
            store.replace_entries(&self.path, &self.entries)?;
            self.exists = true;
        }
        Ok(())
    }
}

/// Writes an empty attribute file.
pub(super) fn write_none(store: &Store, root: &Path) -> Result<()> {
    store.replace_entries(&root.join(FILE), &[])
}
