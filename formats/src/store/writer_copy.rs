//! Copies of leaves, objects and groups from a store by a [`StoreWriter`].

use super::class::Class;
use super::container::Container;
use super::embed::Entry;
use super::error::{Error, Result};
use super::keys;
use super::new_leaf;
use super::open::{ContainerKind, Source, Store};
use super::writer::{Held, Item, StoreWriter};

impl StoreWriter {
    /// Copies a leaf, an object of several leaves, or a group with all keys below it from a store.
    /// The root of a store, `/`, can be copied to a group, and a group to the root. Returns the
    /// number of leaves.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`]; [`Error::Unsound`] if opening the store found damage;
    /// - [`Error::Member`] if the headers or the CRC-32 of a member differ; [`Error::Damaged`] if
    ///   another leaf is copied to a zip file, and one of its chunks is damaged;
    /// - the errors of [`StoreWriter::put`] and of reading the leaves.
    pub fn copy_from(&mut self, store: &Store, from: &str, to: &str) -> Result<usize> {
        store.check_sound()?;
        self.copy_keys(store, from, to)
    }

    /// As [`StoreWriter::copy_from`], without the check of the store.
    pub(super) fn copy_keys(&mut self, store: &Store, from: &str, to: &str) -> Result<usize> {
        let renamed = |key: &str| {
            let rest = if from == "/" { key } else { &key[from.len()..] };
            match (to, rest) {
                ("/", "") => "/".to_owned(),
                ("/", rest) => rest.to_owned(),
                (to, "/") => to.to_owned(),
                (to, rest) => format!("{to}{rest}"),
            }
        };
        let is_inside = |key: &str| key == from || keys::is_below(key, from);
        let found: Vec<&String> = store.leaves.keys().filter(|key| is_inside(key)).collect();
        let has_root = store.roots.keys().any(|key| is_inside(key));
        if found.is_empty() && !has_root && from != "/" {
            return Err(Error::NoSuchKey(from.to_owned()));
        }
        let becomes_root = store.roots.contains_key(from) && renamed(from) == "/";
        if becomes_root && !(self.items.is_empty() && self.roots.is_empty()) {
            return Err(Error::refused(to, "only the root of an empty store becomes a table"));
        }
        for key in &found {
            self.check_copied_key(&renamed(key))?;
        }
        if found.iter().any(|key| matches!(store.leaves.get(*key), Some(Source::Embedded(_)))) {
            store.check_embed()?;
        }
        for key in &found {
            self.check_copied_leaf(store, key)?;
            self.copy_leaf(store, key, &renamed(key), true)?;
        }
        let roots = store.roots.keys().filter(|key| is_inside(key));
        roots.for_each(|key| self.copy_root(store, key, &renamed(key)));
        Ok(found.len())
    }

    /// Checks a key for a copied leaf. The leaves of objects and attributes have reserved names.
    pub(super) fn check_copied_key(&mut self, key: &str) -> Result<()> {
        if self.items.contains_key(key) {
            return Err(Error::KeyExists(key.to_owned()));
        }
        let permitted = std::mem::replace(&mut self.options.reserved_keys, true);
        let checked = self.check_new_key(key);
        self.options.reserved_keys = permitted;
        checked
    }

    /// Checks the chunks of a leaf that is copied to a zip file, whose CRC-32 must not certify
    /// damaged data. Members of zip files, also `embed.b2e`, are compared with their own.
    fn check_copied_leaf(&self, store: &Store, key: &str) -> Result<()> {
        let has_crc = matches!(
            (&store.container, store.leaves.get(key)),
            (Container::Zip(_), _) | (_, Some(Source::Embedded(Entry::Reference(_))))
        );
        if has_crc || self.container != ContainerKind::Zip {
            return Ok(());
        }
        store.leaf(key)?.check()
    }

    /// Takes over an object of several leaves from a store, after its leaves.
    pub(super) fn copy_root(&mut self, store: &Store, key: &str, target: &str) {
        if let Some(root) = store.roots.get(key) {
            self.add_root(target, root.clone());
        }
    }

    /// Copies a leaf to a key that was checked. If `is_strict`, the CRC-32 of a member is compared.
    pub(super) fn copy_leaf(
        &mut self,
        store: &Store,
        key: &str,
        target: &str,
        is_strict: bool,
    ) -> Result<()> {
        if let Some(Source::Embedded(Entry::Reference(entry))) = store.leaves.get(key) {
            self.insert(target, Item { name: None, held: Held::Reference(entry.clone()) });
            return Ok(());
        }
        let leaf = store.leaf(key)?;
        let (class, suffix) = (leaf.class(), new_leaf::suffix_of(leaf.schunk()));
        let nbytes = leaf.schunk().nbytes().max(0).unsigned_abs();
        drop(leaf);
        let content = store.content(key, is_strict)?;
        let source = match store.leaves.get(key) {
            Some(Source::File(file)) => store.name_of(file),
            _ => None,
        };
        let is_column = store.root_above(key).is_some();
        let suffix =
            if is_column && class == Class::ListArray { new_leaf::COLUMN_SUFFIX } else { suffix };
        let is_embedded = self.container == ContainerKind::Frame
            || (nbytes < self.options.threshold.unwrap_or(0) && !key.contains(':'))
            || (self.keeps_tiers && source.is_none());
        let name = match source {
            _ if is_embedded => None,
            Some(name) if key == target => Some(name),
            _ => Some(format!("{}{suffix}", &target[1..])),
        };
        self.insert(target, Item { name, held: Held::New(content) });
        Ok(())
    }
}
