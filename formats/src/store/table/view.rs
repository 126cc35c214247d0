//! The leaves of a store with the changes of a table that are not yet part of its writer.

use std::collections::BTreeMap;
use std::path::Path;

use crate::store::error::{Error, Result};
use crate::store::leaf::{Leaf, Leaves};
use crate::store::limits::Options;
use crate::store::new_leaf::NewLeaf;
use crate::store::writer::StoreWriter;

/// The changes of leaves by key; `None` is a deleted one.
pub type Changes = BTreeMap<String, Option<NewLeaf>>;

/// A store with changes.
pub struct View<'w> {
    pub writer: &'w StoreWriter,
    pub changed: &'w Changes,
}

impl View<'_> {
    /// Whether there is a leaf.
    pub fn has(&self, key: &str) -> bool {
        match self.changed.get(key) {
            Some(change) => change.is_some(),
            None => self.writer.contains(key),
        }
    }

    /// Returns the stored frame of a leaf, to be stored under another key.
    pub fn copy_of(&self, key: &str) -> Result<NewLeaf> {
        match self.changed.get(key) {
            Some(Some(leaf)) => Ok(leaf.clone()),
            Some(None) => Err(Error::MissingLeaf(key.to_owned())),
            None => NewLeaf::of_content(key, self.writer.content(key)?),
        }
    }

    /// Returns the frame of a leaf, after comparing the CRC-32 of a member.
    pub fn frame(&self, key: &str) -> Result<Vec<u8>> {
        let limit = self.options().max_frame;
        match self.changed.get(key) {
            Some(Some(leaf)) => leaf.content.read(key, limit),
            Some(None) => Err(Error::MissingLeaf(key.to_owned())),
            None => match self.writer.content(key) {
                Ok(content) => content.read(key, limit),
                Err(Error::NoSuchKey(key)) => Err(Error::MissingLeaf(key)),
                Err(error) => Err(error),
            },
        }
    }
}

impl Leaves for View<'_> {
    fn leaf(&self, key: &str) -> Result<Leaf> {
        match self.changed.get(key) {
            Some(Some(leaf)) => leaf.content.open(key),
            Some(None) => Err(Error::NoSuchKey(key.to_owned())),
            None => self.writer.leaf(key),
        }
    }

    fn options(&self) -> &Options {
        &self.writer.options.limits
    }

    fn path(&self) -> &Path {
        self.writer.path()
    }
}
