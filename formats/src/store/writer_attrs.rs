//! Changes of attributes by a [`StoreWriter`].

use ferroblosc::chunk::DParams;
use ferroblosc::schunk::{SChunk, Storage};

use super::attrs::{self, MAP};
use super::class::{Class, RECIPE};
use super::error::{Error, Result};
use super::keys::{self, GROUP_ATTRS, TABLE_ATTRS};
use super::new_leaf::NewLeaf;
use super::open::{Root, StoreKind};
use super::tree::REGISTRY;
use super::value::Value;
use super::writer::{Held, Item, StoreWriter, cparams};

/// The maximum number of attributes of an object, which python-blosc2 reads.
const MAX_ATTRS: usize = 16;
/// The maximum length of the name of an attribute, in bytes.
const MAX_ATTR_NAME: usize = 31;
/// The names of reserved attributes, and the start of others.
const RESERVED_ATTRS: [&str; 7] = [
    MAP,
    "_batch_array_metadata",
    REGISTRY,
    RECIPE,
    "_b2o_user_vlmeta",
    "_LazyArray",
    "blosc2_indexes",
];
const RESERVED_START: &str = "proxy-";
impl StoreWriter {
    /// Sets an attribute of a group, a table or a leaf. The root of an embed store has attributes,
    /// that of a dict has none. [`Value::Raw`] is stored as bytes that are not MessagePack.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`]; [`Error::Value`];
    /// - [`Error::Limit`] for a value that could not be read again;
    /// - [`Error::InvalidName`] for empty names, names above 31 bytes, and names with a meaning;
    /// - [`Error::Refused`] for the 17th attribute, which python-blosc2 does not read, and for
    ///   objects without attributes;
    /// - [`Error::NotData`] for references and recipes; the errors of reading the leaf.
    pub fn set_attr(&mut self, key: &str, name: &str, value: &Value) -> Result<()> {
        let content = match value {
            Value::Raw(bytes) => bytes.clone(),
            value => value.encode()?,
        };
        attrs::check_content(key, name, &content)?;
        let invalid =
            |why: &str| Err(Error::InvalidName { name: name.to_owned(), why: why.to_owned() });
        if name.is_empty() || name.len() > MAX_ATTR_NAME {
            return invalid("the names of attributes have 1 to 31 bytes");
        }
        if RESERVED_ATTRS.contains(&name) || name.starts_with(RESERVED_START) {
            return invalid("the name of the attribute is reserved");
        }
        let too_many = || {
            let why =
                format!("{name:?} is one attribute more than the {MAX_ATTRS} that are allowed");
            Error::refused(key, why)
        };
        let Some(holder) = self.holder(key)? else {
            // The map is an attribute, too.
            let is_new = self.attrs.iter().all(|(other, _)| other != name);
            if is_new && self.attrs.len() + 1 + usize::from(!self.registry.is_empty()) >= MAX_ATTRS
            {
                return Err(too_many());
            }
            match self.attrs.iter_mut().find(|(other, _)| other == name) {
                Some((_, old)) => *old = content,
                None => self.attrs.push((name.to_owned(), content)),
            }
            self.is_embed_changed = true;
            return Ok(());
        };
        self.edit(&holder, |schunk| {
            let names = schunk.vlmetalayer_names();
            if names.iter().any(|other| other == name) {
                schunk.update_vlmetalayer(name, &content).map_err(Error::frame(key))
            } else if names.len() >= MAX_ATTRS {
                Err(too_many())
            } else {
                schunk.add_vlmetalayer(name, &content).map_err(Error::frame(key))
            }
        })
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`]; [`Error::InvalidName`] if there is no such attribute;
    /// - as [`StoreWriter::set_attr`].
    pub fn remove_attr(&mut self, key: &str, name: &str) -> Result<()> {
        let missing = || Error::InvalidName {
            name: name.to_owned(),
            why: format!("{key} has no such attribute"),
        };
        if RESERVED_ATTRS.contains(&name) || name.starts_with(RESERVED_START) {
            let why = "the name of the attribute is reserved".to_owned();
            return Err(Error::InvalidName { name: name.to_owned(), why });
        }
        let Some(holder) = self.holder(key)? else {
            let count = self.attrs.len();
            self.attrs.retain(|(other, _)| other != name);
            self.is_embed_changed = true;
            return if self.attrs.len() < count { Ok(()) } else { Err(missing()) };
        };
        if !self.items.contains_key(&holder) {
            return Err(missing());
        }
        self.edit(&holder, |schunk| {
            if !schunk.vlmetalayer_names().iter().any(|other| other == name) {
                return Err(missing());
            }
            schunk.delete_vlmetalayer(name).map_err(Error::frame(key))
        })
    }

    /// Returns the leaf with the attributes of an object; `None` for those of an embed store.
    fn holder(&self, key: &str) -> Result<Option<String>> {
        if let Some(root) = self.root_above(key) {
            return Err(Error::refused(key, format!("it is inside the object {root}")));
        }
        match self.roots.get(key) {
            Some(Root::Table) => return Ok(Some(keys::join(key, TABLE_ATTRS))),
            Some(Root::RemoteStore(_) | Root::Unknown(_)) => {
                return Err(Error::refused(key, "the object has no attributes"));
            }
            None => {}
        }
        match self.items.get(key) {
            Some(Item { held: Held::Reference(_), .. }) => {
                let class = Class::Reference.name();
                return Err(Error::NotData { key: key.to_owned(), class });
            }
            Some(_) => return Ok(Some(key.to_owned())),
            None => {}
        }
        match self.kind {
            StoreKind::Tree if key == "/" || self.has_below(key) => {
                Ok(Some(keys::join(key, GROUP_ATTRS)))
            }
            StoreKind::Embed if key == "/" => Ok(None),
            StoreKind::Dict if key == "/" => {
                Err(Error::refused(key, "dict stores have no attributes at their root"))
            }
            _ => Err(Error::NoSuchKey(key.to_owned())),
        }
    }

    /// Changes the metalayers of a leaf. A missing leaf, which holds the attributes of a group or a
    /// table, is created.
    fn edit(&mut self, key: &str, edit: impl FnOnce(&mut SChunk) -> Result<()>) -> Result<()> {
        let mut schunk = if self.items.contains_key(key) {
            let bytes = self.content(key)?.read(key, self.options.limits.max_frame)?;
            SChunk::from_bytes(&bytes, DParams::default())
        } else {
            SChunk::create(Storage::frame(), cparams(), DParams::default())
        }
        .map_err(Error::frame(key))?;
        let class = Class::of(&schunk);
        if !class.has_values() {
            return Err(Error::NotData { key: key.to_owned(), class: class.name() });
        }
        edit(&mut schunk)?;
        let bytes = schunk.to_bytes().map_err(Error::frame(key))?;
        match self.items.get(key) {
            // It stays where it is.
            Some(item) => {
                let name = item.name.clone();
                self.insert(key, Item { name, held: Held::New(bytes.into()) });
            }
            None => self.set(key, NewLeaf::frame(bytes)?),
        }
        Ok(())
    }
}
