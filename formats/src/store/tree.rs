//! The tree of a store: groups, objects that consist of several leaves, and their attributes.
//!
//! Groups exist if there is a key below them. The attributes of a group are those of the leaf
//! `__vlmeta__` in it. A table is a group with a leaf `_meta` whose attribute `kind` is `ctable`,
//! or a group in the registry, an attribute of `embed.b2e`. The leaves of a table are not listed.

use std::collections::BTreeSet;

use super::attrs::{self, Attrs};
use super::class::Class;
use super::embed::Entry;
use super::error::{Error, Result};
use super::keys::{self, GROUP_ATTRS, TABLE_ATTRS, TABLE_META};
use super::open::{Root, Source, Store, StoreKind};
use super::report::Finding;
use super::value::Value;

/// The attribute of `embed.b2e` with the objects.
pub(super) const REGISTRY: &str = "_object_registry";
pub(super) const TABLE_KIND: &str = "ctable";

/// An object of a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Node {
    /// The key.
    pub key: String,
    /// The class.
    pub class: Class,
    /// The extent of each dimension of an array, in items; also of a lazy expression.
    pub shape: Option<Vec<i64>>,
    /// The item type of an array, in NumPy's notation, if it is known.
    pub dtype: Option<String>,
    /// The uncompressed size of the leaf, in bytes.
    pub nbytes: Option<i64>,
    /// The compressed size of the leaf, in bytes.
    pub cbytes: Option<i64>,
    /// The reason why the leaf cannot be opened, if its class is [`Class::Damaged`].
    pub fault: Option<Error>,
}

impl Node {
    fn new(key: &str, class: Class) -> Node {
        Node {
            key: key.to_owned(),
            class,
            shape: None,
            dtype: None,
            nbytes: None,
            cbytes: None,
            fault: None,
        }
    }
}

impl Store {
    /// Finds tables and other objects: the registry and the leaves `_meta`.
    pub(super) fn find_roots(&mut self) -> Result<()> {
        if self.is_cache {
            return Ok(());
        }
        if let (StoreKind::Tree, Some(embed)) = (self.kind, &self.embed) {
            let registry = attrs::value(keys::EMBED_FILE, embed, REGISTRY);
            match registry {
                Ok(Some(Value::Map(entries))) => {
                    for (key, entry) in &entries {
                        self.register(key, entry);
                    }
                }
                Ok(None) => {}
                Ok(Some(_)) => {
                    let text = "the registry of objects is not a map; it is ignored";
                    self.findings.push(Finding::damage(keys::EMBED_FILE, text));
                }
                Err(error) if error.is_corruption() || matches!(error, Error::Limit { .. }) => {
                    let text = format!("the registry of objects is ignored: {error}");
                    self.findings.push(Finding::damage(keys::EMBED_FILE, text));
                }
                Err(error) => return Err(error),
            }
        }
        let end = format!("/{TABLE_META}");
        let metas = self.leaves.keys().filter_map(|key| key.strip_suffix(&end));
        let candidates: Vec<String> = match self.kind {
            StoreKind::Tree => metas.map(str::to_owned).collect(),
            // Only the root of another store can be a table.
            _ => metas.filter(|group| group.is_empty()).map(str::to_owned).collect(),
        };
        for group in candidates {
            let key = if group.is_empty() { "/".to_owned() } else { group };
            if !self.roots.contains_key(&key) && self.is_table(&key) {
                self.roots.insert(key, Root::Table);
            }
        }
        Ok(())
    }

    fn register(&mut self, key: &Value, entry: &Value) {
        let key = match key {
            Value::Str(key) if keys::fault_of_key(key).is_none() => key.clone(),
            _ => {
                let text = "the registry has an invalid key; it is ignored";
                self.findings.push(Finding::damage(keys::EMBED_FILE, text));
                return;
            }
        };
        let root = match entry.get("kind").and_then(Value::as_str) {
            Some(TABLE_KIND) => Root::Table,
            Some("remote_store") => Root::RemoteStore(entry.clone()),
            _ => Root::Unknown(entry.clone()),
        };
        self.roots.insert(key, root);
    }

    /// Whether the group has a readable leaf `_meta` of a table.
    fn is_table(&self, group: &str) -> bool {
        let key = keys::join(group, TABLE_META);
        let Ok(leaf) = self.leaf(&key) else {
            return false;
        };
        match attrs::value(&key, leaf.schunk(), "kind") {
            Ok(Some(Value::Str(kind))) => kind == TABLE_KIND,
            Ok(Some(Value::Bytes(kind))) => kind == TABLE_KIND.as_bytes(),
            _ => false,
        }
    }

    /// Returns the nearest object root above a key.
    pub(super) fn root_above(&self, key: &str) -> Option<&str> {
        let mut group = keys::parent(key);
        while let Some(key) = group {
            if let Some((root, _)) = self.roots.get_key_value(key) {
                return Some(root);
            }
            group = keys::parent(key);
        }
        None
    }

    /// Whether a leaf holds the attributes of a group.
    fn is_group_attrs(&self, key: &str) -> bool {
        self.kind == StoreKind::Tree && key.ends_with(&keys::suffix_of_attrs())
    }

    /// Returns the keys of all groups and objects, sorted by their parts. The leaves of tables and
    /// of attributes are not listed, nor is the root, unless it is an object. Dict stores and embed
    /// stores have no groups.
    pub fn keys(&self) -> Vec<String> {
        let mut found = BTreeSet::new();
        let has_groups = self.kind == StoreKind::Tree;
        let leaves = self.leaves.keys().filter(|key| self.root_above(key).is_none());
        let roots = self.roots.keys().filter(|key| self.root_above(key).is_none());
        for key in leaves.chain(roots) {
            if !self.is_group_attrs(key) {
                found.insert(key.as_str());
            }
            let mut group = keys::parent(key).filter(|_| has_groups);
            while let Some(key) = group.filter(|&key| key != "/") {
                if !found.insert(key) {
                    break;
                }
                group = keys::parent(key);
            }
        }
        let mut found: Vec<String> = found.into_iter().map(str::to_owned).collect();
        found.sort_by(|one, other| one.split('/').cmp(other.split('/')));
        found
    }

    /// Returns the keys of all leaves, including those of tables and attributes, in order.
    pub fn leaf_keys(&self) -> impl Iterator<Item = &str> {
        self.leaves.keys().map(String::as_str)
    }

    /// Returns the objects and groups below a group, each after its group. Each leaf is opened;
    /// leaves that cannot be opened are of the class [`Class::Damaged`]. If the root is an object
    /// or not a group, only this object is returned.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`].
    pub fn walk(&self, group: &str) -> Result<Vec<Node>> {
        // An embed store can have the key `/` among others.
        let is_whole = group == "/" && self.kind == StoreKind::Embed;
        if is_whole && !self.roots.contains_key("/") {
            return self.keys().iter().map(|key| self.node(key)).collect();
        }
        let own = self.class(group)?;
        if own != Class::Group {
            return Ok(vec![self.node(group)?]);
        }
        let keys = self.keys().into_iter().filter(|key| keys::is_below(key, group));
        keys.map(|key| self.node(&key)).collect()
    }

    /// Whether the key is a group: the root, or a key with keys below it.
    pub fn is_group(&self, key: &str) -> bool {
        if key == "/" {
            return !self.leaves.contains_key("/") && !self.roots.contains_key("/");
        }
        if !key.starts_with('/') {
            return false;
        }
        let start = format!("{key}/");
        let has_below = |found: Option<&String>| found.is_some_and(|key| key.starts_with(&start));
        !self.roots.contains_key(key)
            && self.root_above(key).is_none()
            && (has_below(self.leaves.range(start.clone()..).next().map(|(key, _)| key))
                || has_below(self.roots.range(start.clone()..).next().map(|(key, _)| key)))
    }

    /// Returns the class of a key. A leaf that cannot be opened is [`Class::Damaged`].
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`].
    pub fn class(&self, key: &str) -> Result<Class> {
        Ok(self.node(key)?.class)
    }

    /// Returns the description of an object or a group.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`].
    pub fn node(&self, key: &str) -> Result<Node> {
        match self.roots.get(key) {
            Some(Root::Table) => return Ok(Node::new(key, Class::Table)),
            Some(Root::RemoteStore(_)) => return Ok(Node::new(key, Class::RemoteStore)),
            Some(Root::Unknown(_)) => return Ok(Node::new(key, Class::Unknown)),
            None => {}
        }
        match self.leaves.get(key) {
            Some(Source::Embedded(Entry::Reference(_))) => {
                return Ok(Node::new(key, Class::Reference));
            }
            Some(_) => {}
            None if self.is_group(key) => return Ok(Node::new(key, Class::Group)),
            None => return Err(Error::NoSuchKey(key.to_owned())),
        }
        let leaf = match self.leaf(key) {
            Ok(leaf) => leaf,
            Err(Error::NotData { .. }) => return Ok(Node::new(key, Class::RemoteStore)),
            Err(error) => {
                let node = Node::new(key, Class::Damaged);
                return Ok(Node { fault: Some(error), ..node });
            }
        };
        let mut node = Node::new(key, leaf.class());
        let schunk = leaf.schunk();
        (node.nbytes, node.cbytes) = (Some(schunk.nbytes()), Some(schunk.cbytes()));
        let layer = [ferroblosc::b2nd::meta::NAME, ferroblosc::b2nd::meta::OLD_NAME];
        let content = layer.into_iter().find_map(|name| schunk.metalayer(name));
        let meta = content.and_then(|content| ferroblosc::b2nd::meta::parse(&content).ok());
        if let Some((meta, _)) = meta {
            node.shape = meta.geometry().ok().map(|geometry| geometry.shape().to_vec());
            node.dtype = meta.dtype.map(|dtype| String::from_utf8_lossy(&dtype).into_owned());
        }
        Ok(node)
    }

    /// Returns the attributes of a group, a table or a leaf. Dict stores have no attributes at
    /// their root.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`];
    /// - the errors of [`Store::leaf`].
    pub fn attrs(&self, key: &str) -> Result<Attrs> {
        let holder = match self.class(key)? {
            Class::Table => keys::join(key, TABLE_ATTRS),
            Class::Group if key == "/" && self.kind == StoreKind::Embed => {
                let embed = self.embed.as_ref();
                return Ok(embed.map_or_else(Attrs::default, |schunk| Attrs::read(key, schunk)));
            }
            Class::Group => keys::join(key, GROUP_ATTRS),
            Class::RemoteStore | Class::Unknown if self.roots.contains_key(key) => {
                return Ok(Attrs::default());
            }
            Class::Reference => return Ok(Attrs::default()),
            _ => return Ok(self.leaf(key)?.attrs()),
        };
        match self.leaf(&holder) {
            Ok(leaf) => Ok(leaf.attrs()),
            Err(Error::NoSuchKey(_)) => Ok(Attrs::default()),
            Err(error) => Err(error),
        }
    }

    /// Returns the stored description of an object that has no values of its own: the text of a
    /// lazy expression with the paths of its operands, the source of a UDF, the URL of a reference.
    /// Returns `None` for other objects. It is never executed, resolved or fetched.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`];
    /// - the errors of [`Store::leaf`] and [`Leaf::description`](super::Leaf::description).
    pub fn description(&self, key: &str) -> Result<Option<Value>> {
        if let Some(Root::RemoteStore(entry) | Root::Unknown(entry)) = self.roots.get(key) {
            return Ok(Some(entry.clone()));
        }
        match self.leaves.get(key) {
            Some(Source::Embedded(Entry::Reference(entry))) => Ok(Some(entry.clone())),
            Some(_) => self.leaf(key)?.description(),
            None if self.class(key).is_ok() => Ok(None),
            None => Err(Error::NoSuchKey(key.to_owned())),
        }
    }
}
