//! The attributes of an object: any JSON under names of the user's, in `__attrs__`.

use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::store::Store;
use crate::bloscpack::Value;

/// The name of the file.
pub const FILE: &str = "__attrs__";

/// The attributes, which are written with each change.
#[derive(Clone, Debug)]
pub struct Attrs {
    path: PathBuf,
    entries: Vec<(String, Value)>,
    is_there: bool,
}

impl Attrs {
    /// Reads those of the object at `root`; without the file there are none.
    pub(super) fn read(store: &Store, root: &Path) -> Result<Attrs> {
        let path = root.join(FILE);
        let (entries, is_there) = match store.read_json(&path)? {
            Some(Value::Object(entries)) => (entries, true),
            None => (Vec::new(), false),
            Some(_) => {
                return Err(Error::Description {
                    path,
                    why: "it is no object".to_owned(),
                });
            }
        };
        Ok(Attrs {
            path,
            entries,
            is_there,
        })
    }

    /// Names and values, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The value under a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// All of them as one value.
    pub fn to_value(&self) -> Value {
        Value::Object(self.entries.clone())
    }

    /// Puts a value under a name, or takes it away.
    pub(super) fn set(&mut self, store: &Store, name: &str, value: Option<Value>) -> Result<bool> {
        let mut entries = self.entries.clone();
        let place = entries.iter().position(|(known, _)| known == name);
        match (place, value) {
            (Some(place), Some(value)) => entries[place].1 = value,
            (Some(place), None) => {
                entries.remove(place);
            }
            (None, Some(value)) => entries.push((name.to_owned(), value)),
            (None, None) => return Ok(false),
        }
        store.replace_json(&self.path, &Value::Object(entries.clone()))?;
        self.entries = entries;
        self.is_there = true;
        Ok(place.is_some())
    }

    /// Makes the file when there is none.
    pub(super) fn ensure(&mut self, store: &Store) -> Result<()> {
        if !self.is_there {
            store.replace_json(&self.path, &self.to_value())?;
            self.is_there = true;
        }
        Ok(())
    }
}

/// Writes the file of an object without attributes.
pub(super) fn write_none(store: &Store, root: &Path) -> Result<()> {
    store.replace_json(&root.join(FILE), &Value::Object(Vec::new()))
}
