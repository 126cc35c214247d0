//! The attributes of an object: user-named JSON values in the file `__attrs__`.

use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::store::Store;
use crate::bloscpack::Value;

/// The name of the file.
pub const FILE: &str = "__attrs__";

/// The attributes. Each change rewrites the file.
#[derive(Clone, Debug)]
pub struct Attrs {
    path: PathBuf,
    entries: Vec<(String, Value)>,
    exists: bool,
}

impl Attrs {
    /// Reads the attributes of the object at `root`. A missing file means no attributes.
    pub(super) fn read(store: &Store, root: &Path) -> Result<Attrs> {
        let path = root.join(FILE);
        let (entries, exists) = match store.read_json(&path)? {
            Some(Value::Object(entries)) => (entries, true),
            None => (Vec::new(), false),
            Some(_) => {
                return Err(Error::Description { path, why: "it is not an object".to_owned() });
            }
        };
        Ok(Attrs { path, entries, exists })
    }

    /// Returns the names and values in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Returns all attributes as a JSON object.
    pub fn to_value(&self) -> Value {
        Value::Object(self.entries.clone())
    }

    /// Sets an attribute, or removes it if `value` is `None`. Returns whether it existed.
    pub(super) fn set(&mut self, store: &Store, name: &str, value: Option<Value>) -> Result<bool> {
        let mut entries = self.entries.clone();
        let index = entries.iter().position(|(known, _)| known == name);
        match (index, value) {
            (Some(index), Some(value)) => entries[index].1 = value,
            (Some(index), None) => {
                entries.remove(index);
            }
            (None, Some(value)) => entries.push((name.to_owned(), value)),
            (None, None) => return Ok(false),
        }
        store.replace_json(&self.path, &Value::Object(entries.clone()))?;
        self.entries = entries;
        self.exists = true;
        Ok(index.is_some())
    }

    /// Creates the file if it is missing.
    pub(super) fn ensure(&mut self, store: &Store) -> Result<()> {
        if !self.exists {
            store.replace_json(&self.path, &self.to_value())?;
            self.exists = true;
        }
        Ok(())
    }
}

/// Writes an empty attribute file.
pub(super) fn write_none(store: &Store, root: &Path) -> Result<()> {
    store.replace_json(&root.join(FILE), &Value::Object(Vec::new()))
}
