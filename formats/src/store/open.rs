//! Opening of stores, and access to their leaves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ferroblosc::b2nd::Array;
use ferroblosc::schunk::SChunk;

use super::class::{self, Class};
use super::container::{self, Container, FileId};
use super::embed::{self, Entry};
use super::error::{Error, Result};
use super::file_states::FileStates;
use super::frame;
use super::keys;
use super::leaf::{Leaf, Leaves};
use super::limits::Options;
use super::objects::Objects;
use super::report::Finding;
use super::value::Value;
use super::zip;

/// The kind of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreKind {
    /// A tree with groups, tables and attributes of groups (TreeStore).
    Tree,
    /// A flat map of keys (DictStore).
    Dict,
    /// A frame that contains frames (EmbedStore).
    Embed,
    /// A single object with the key `/`.
    Object,
}

/// The container of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContainerKind {
    /// A zip file.
    Zip,
    /// A directory.
    Directory,
    /// A frame, in a file, a directory or memory.
    Frame,
}

/// The location of a leaf.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A file of the container.
    File(FileId),
    /// An entry of the embed store.
    Embedded(Entry),
}

/// The root of an object that consists of several leaves, or of none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Root {
    /// A table.
    Table,
    /// A reference to a remote store: its entry in the registry.
    RemoteStore(Value),
    /// An object of an unknown kind: its entry in the registry.
    Unknown(Value),
}

/// An open store. Nothing is ever written. Several threads may read it concurrently.
///
/// Keys are absolute paths without a slash at the end; the root is `/`.
pub struct Store {
    pub(super) path: PathBuf,
    pub(super) container: Container,
    pub(super) kind: StoreKind,
    pub(super) embed: Option<SChunk>,
    pub(super) leaves: BTreeMap<String, Source>,
    pub(super) roots: BTreeMap<String, Root>,
    /// Whether the leaves are a cache of a remote store, and valid only if they were fetched.
    pub(super) is_cache: bool,
    pub(super) findings: Vec<Finding>,
    /// Whether the embed store has entries whose keys files have.
    pub(super) has_shadowed: bool,
    /// The file of the embed store of a zip file or a directory.
    pub(super) embed_file: Option<FileId>,
    /// The files that are not leaves.
    pub(super) foreign: Vec<(String, FileId)>,
    /// Descriptions of the entries of a directory that are not read.
    pub(super) skipped: Vec<String>,
    /// The files that are not used, because another one has their key or their name is unsafe.
    pub(super) hidden: Vec<FileId>,
    pub(super) options: Options,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Store");
        shown.field("path", &self.path).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Store {
    /// Returns the names of the files that are neither a leaf nor the embed store.
    pub fn foreign_files(&self) -> impl Iterator<Item = &str> {
        self.foreign.iter().map(|(name, _)| name.as_str())
    }

    /// Opens a store or a frame with the default options. If the path does not exist, the suffixes
    /// `.b2d`, `.b2z` and `.b2e` are tried.
    ///
    /// # Errors
    /// The errors of [`Store::open_with`].
    pub fn open(path: impl AsRef<Path>) -> Result<Store> {
        Store::open_with(path, &Options::default())
    }

    /// Opens a store or a frame. Damaged leaves and entries do not prevent opening; they are
    /// [findings](Store::findings), or errors when the leaf is read.
    ///
    /// # Errors
    /// - [`Error::NotAStore`] if the path is neither a frame nor a zip file or directory with
    ///   leaves;
    /// - [`Error::Zip`] if the directory of the zip file is damaged;
    /// - [`Error::Frame`] or [`Error::Damaged`] if the only frame is damaged;
    /// - [`Error::Storage`] if a file cannot be read; [`Error::Limit`]; [`Error::Memory`].
    pub fn open_with(path: impl AsRef<Path>, options: &Options) -> Result<Store> {
        let path = existing(path.as_ref());
        let metadata = std::fs::metadata(&path).map_err(Error::storage(&path))?;
        let container = if metadata.is_dir() {
            if path.join(SPARSE_INDEX).is_file() {
                Container::Frame(path.clone())
            } else {
                Container::Directory(path.clone())
            }
        } else if !metadata.is_file() {
            return Err(Error::NotAStore(path));
        } else if container::is_frame(&path) {
            Container::Frame(path.clone())
        } else {
            match zip::Archive::open(&path)? {
                Some(archive) => Container::Zip(archive.into()),
                None => return Err(Error::NotAStore(path)),
            }
        };
        Store::of_container(path, container, options)
    }

    /// Opens a frame in memory: an embed store, a table, or a single object.
    ///
    /// # Errors
    /// - [`Error::Damaged`] or [`Error::Frame`] if the bytes are not a contiguous frame;
    /// - [`Error::Limit`]; [`Error::Memory`].
    pub fn from_bytes(bytes: Vec<u8>, options: &Options) -> Result<Store> {
        Store::of_container(PathBuf::new(), Container::Memory(bytes), options)
    }

    /// Opens a store in a container.
    ///
    /// # Errors
    /// The errors of [`Store::open_with`].
    pub(super) fn of_container(
        path: PathBuf,
        container: Container,
        options: &Options,
    ) -> Result<Store> {
        let files = container.files()?;
        let mut store = Store {
            path,
            container,
            kind: StoreKind::Object,
            embed: None,
            leaves: BTreeMap::new(),
            roots: BTreeMap::new(),
            is_cache: false,
            findings: files.findings,
            has_shadowed: false,
            embed_file: files.embed.clone(),
            foreign: files.foreign,
            skipped: files.skipped,
            hidden: files.hidden,
            options: options.clone(),
        };
        let mut embed = files.embed;
        let leaves = files.leaves.into_iter().map(|(key, file)| (key, Source::File(file)));
        store.leaves = leaves.collect();
        match store.container {
            Container::Frame(_) | Container::Memory(_) => {
                let opened = store.container.open("/", &FileId::Only, options)?;
                if Class::of(&opened.schunk) == Class::EmbedStore {
                    store.kind = StoreKind::Embed;
                    store.leaves.clear();
                    store.add_embedded(opened.schunk)?;
                }
            }
            Container::Zip(_) | Container::Directory(_) => {
                if embed.is_none() && store.leaves.is_empty() {
                    return Err(Error::NotAStore(store.path));
                }
                store.kind = StoreKind::Tree;
                match embed.take() {
                    Some(file) => store.open_embedded(&file)?,
                    None => {
                        let text = "the file is missing; the store is read from its leaves";
                        store.findings.push(Finding::damage(keys::EMBED_FILE, text));
                    }
                }
            }
        }
        store.find_roots()?;
        Ok(store)
    }

    /// Opens `embed.b2e`; if it is damaged, the store has the leaves in files only.
    fn open_embedded(&mut self, file: &FileId) -> Result<()> {
        match self.container.open(keys::EMBED_FILE, file, &self.options) {
            Ok(opened) => {
                if opened.surplus > 0 {
                    let text = format!("{} bytes follow the frame", opened.surplus);
                    self.findings.push(Finding::note(keys::EMBED_FILE, text));
                }
                let has = |tag| opened.schunk.metalayer(tag).is_some();
                let has_group_attrs = |store: &Store| {
                    store.leaves.keys().any(|key| key.ends_with(&keys::suffix_of_attrs()))
                };
                let (is_tree, is_dict, is_embed) = (has("b2tree"), has("b2dict"), has("b2embed"));
                self.add_embedded(opened.schunk)?;
                // Up to python-blosc2 4.0 all stores have the tag of embed stores.
                let is_old_dict = is_embed && !has_group_attrs(self);
                let is_directory = matches!(self.container, Container::Directory(_));
                let is_unknown_directory = !is_tree && !is_embed && is_directory;
                if !is_tree && (is_dict || is_old_dict || is_unknown_directory) {
                    self.kind = StoreKind::Dict;
                }
                Ok(())
            }
            Err(error) if error.is_corruption() || matches!(error, Error::Limit { .. }) => {
                self.findings.push(Finding::damage(keys::EMBED_FILE, error.to_string()));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Adds the entries of an embed store. Leaves in files have precedence.
    fn add_embedded(&mut self, schunk: SChunk) -> Result<()> {
        let place = if self.kind == StoreKind::Embed { "/" } else { keys::EMBED_FILE };
        if let Some(content) = schunk.metalayer(class::REMOTE_STORE) {
            let text = "the store is a cache of a remote store, and may be incomplete";
            self.findings.push(Finding::note(place, text));
            self.is_cache = true;
            self.roots.insert("/".to_owned(), Root::RemoteStore(Value::decode_or_raw(content)));
        }
        let map = embed::map(place, &schunk)?;
        self.findings.extend(map.faults.into_iter().map(|text| Finding::damage(place, text)));
        for (key, entry) in map.entries {
            if let Entry::Damaged(why) = &entry {
                self.findings.push(Finding::damage(&key, why.clone()));
            }
            match self.leaves.entry(key) {
                std::collections::btree_map::Entry::Vacant(slot) => {
                    slot.insert(Source::Embedded(entry));
                }
                std::collections::btree_map::Entry::Occupied(slot) => {
                    let text = "the key is also in the embed store; the file is used";
                    self.findings.push(Finding::note(slot.key(), text));
                    self.has_shadowed = true;
                }
            }
        }
        self.embed = Some(schunk);
        Ok(())
    }

    /// Returns the path of the store; it is empty for a store in memory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind.
    pub fn kind(&self) -> StoreKind {
        self.kind
    }

    /// Returns the kind of the container.
    pub fn container(&self) -> ContainerKind {
        match self.container {
            Container::Zip(_) => ContainerKind::Zip,
            Container::Directory(_) => ContainerKind::Directory,
            Container::Frame(_) | Container::Memory(_) => ContainerKind::Frame,
        }
    }

    /// Returns the differences from a valid store that were found while opening.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Opens a leaf. Any leaf can be opened, also one that is part of a table.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`] if there is no such leaf;
    /// - [`Error::NotData`] if the entry is a reference to a remote array, or if the store is a
    ///   cache of a remote store;
    /// - [`Error::Changed`] if another file replaced the zip file;
    /// - [`Error::Member`], [`Error::Damaged`] or [`Error::Frame`] if it is damaged;
    /// - [`Error::Storage`], [`Error::Limit`], [`Error::Memory`].
    pub fn leaf(&self, key: &str) -> Result<Leaf> {
        let opened = match self.leaves.get(key) {
            None => return Err(Error::NoSuchKey(key.to_owned())),
            Some(_) if self.is_cache => {
                let class = Class::RemoteStore.name();
                return Err(Error::NotData { key: key.to_owned(), class });
            }
            Some(Source::File(file)) => self.container.open(key, file, &self.options)?,
            Some(Source::Embedded(Entry::Frame { offset, length })) => {
                let schunk = self.embed.as_ref().ok_or_else(|| Error::NoSuchKey(key.to_owned()))?;
                embed::open(key, schunk, *offset, *length, self.options.max_frame)?
            }
            Some(Source::Embedded(Entry::Reference(_))) => {
                let class = Class::Reference.name();
                return Err(Error::NotData { key: key.to_owned(), class });
            }
            Some(Source::Embedded(Entry::Damaged(why))) => {
                return Err(Error::damaged(key, why.clone()));
            }
        };
        Ok(Leaf::new(key, opened))
    }

    /// Opens an array.
    ///
    /// # Errors
    /// - [`Error::WrongClass`] if the object is not an array;
    /// - [`Error::NotData`] if it has the form of an array, but no values of its own, such as a
    ///   lazy expression or a proxy;
    /// - the errors of [`Store::leaf`].
    pub fn array(&self, key: &str) -> Result<Array> {
        self.check_not_root(key, "NDArray")?;
        self.leaf(key)?.into_array()
    }

    /// Opens an array of Python objects: an ObjectArray, a BatchArray or a ListArray.
    ///
    /// # Errors
    /// - [`Error::WrongClass`] if the object is none of these;
    /// - [`Error::Damaged`] if its description is invalid;
    /// - the errors of [`Store::leaf`].
    pub fn objects(&self, key: &str) -> Result<Objects> {
        self.check_not_root(key, "ObjectArray, BatchArray or ListArray")?;
        Objects::open(self.leaf(key)?, &self.options)
    }

    /// Opens an embed store that is a leaf.
    ///
    /// # Errors
    /// - [`Error::WrongClass`] if the object is not an embed store;
    /// - the errors of [`Store::leaf`] and [`Store::from_bytes`].
    pub fn nested(&self, key: &str) -> Result<Store> {
        let leaf = self.leaf(key)?;
        leaf.check_class(Class::EmbedStore)?;
        let bytes = leaf.into_frame_bytes(self.options.max_frame)?;
        Store::from_bytes(bytes, &self.options)
    }

    pub(super) fn check_not_root(&self, key: &str, wanted: &'static str) -> Result<()> {
        let found = match self.roots.get(key) {
            Some(Root::Table) => Class::Table.name(),
            Some(Root::RemoteStore(_)) => {
                let class = Class::RemoteStore.name();
                return Err(Error::NotData { key: key.to_owned(), class });
            }
            Some(Root::Unknown(_)) => Class::Unknown.name(),
            None if !self.leaves.contains_key(key) && self.is_group(key) => Class::Group.name(),
            None => return Ok(()),
        };
        Err(Error::WrongClass { key: key.to_owned(), found, wanted })
    }
}

impl Leaves for Store {
    fn leaf(&self, key: &str) -> Result<Leaf> {
        Store::leaf(self, key)
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn file_states(&self, key: &str) -> FileStates {
        Store::file_states(self, key)
    }
}

/// Whether a path is a store with several objects, by its content: a directory with `embed.b2e`, a
/// zip file with leaves or a damaged one, or a frame with the tag of a store. Unlike
/// [`Store::open`], it does not try other suffixes.
pub fn is_store(path: &Path) -> bool {
    if path.is_dir() {
        return path.join(keys::EMBED_FILE).is_file();
    }
    if !path.is_file() {
        return false;
    }
    if container::is_frame(path) {
        let opened = frame::open_at("/", path, 0, path.metadata().map_or(0, |data| data.len()));
        return opened.is_ok_and(|opened| Class::of(&opened.schunk) == Class::EmbedStore);
    }
    match zip::Archive::open(path) {
        Ok(Some(archive)) => Container::Zip(archive.into())
            .files()
            .is_ok_and(|files| files.embed.is_some() || !files.leaves.is_empty()),
        Ok(None) => false,
        Err(error) => error.is_corruption(),
    }
}

/// The index file of a frame in a directory.
const SPARSE_INDEX: &str = "chunks.b2frame";

/// Returns the path, or the path with the first of the suffixes of stores that exists.
fn existing(path: &Path) -> PathBuf {
    if !path.exists() {
        for suffix in [".b2d", ".b2z", ".b2e"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            let path = PathBuf::from(name);
            if path.exists() {
                return path;
            }
        }
    }
    path.to_owned()
}
