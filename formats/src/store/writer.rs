//! Creation and change of stores.
//!
//! A writer has the leaves of a store after all changes. Nothing is written before the commit.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferroblosc::chunk::CParams;
use ferroblosc::codec::id;
use ferroblosc::io::claim::Claim;
use ferroblosc::io::{Attributes, Backend, FileKind, FileOps, FileSystem};
use ferroblosc::os::files::{self, Opening};

use super::attrs::{self, MAP, fixed_layers};
use super::class::{Class, STORE_TAGS};
use super::container::{Container, FileId};
use super::content::Content;
use super::embed::Entry;
use super::error::{Error, Result};
use super::keys::{self, EMBED_FILE};
use super::leaf::Leaf;
use super::limits::Options;
use super::new_leaf::NewLeaf;
use super::open::{ContainerKind, Root, Source, Store, StoreKind};
use super::report::Severity;
use super::staging::{self, Files};
use super::tree::{REGISTRY, TABLE_KIND};
use super::value::Value;
use super::zip::Archive;

/// The version of the tags of stores that is written.
const VERSION: u64 = 1;

/// The number of attempts to lock a store that other writers replace.
const LOCK_ATTEMPTS: usize = 16;

/// The form of written stores.
#[derive(Clone)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The container; the default is determined by the suffix of the path: a zip file for `.b2z`, a
    /// directory for `.b2d`, a frame for `.b2e`.
    pub container: Option<ContainerKind>,
    /// The kind of a new store in a zip file or directory: a tree, the default, or a dict.
    pub kind: StoreKind,
    /// Leaves with fewer uncompressed bytes are embedded in `embed.b2e`. By default, new leaves are
    /// not embedded, and copies of whole stores and groups keep leaves where they are.
    pub threshold: Option<u64>,
    /// Whether keys whose last part has a meaning in trees, such as `_meta`, can be added. The
    /// default is false.
    pub reserved_keys: bool,
    /// The limits of reading.
    pub limits: Options,
    pub(super) backend: Arc<dyn Backend>,
}

impl std::fmt::Debug for WriteOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("WriteOptions");
        shown.field("container", &self.container).field("kind", &self.kind);
        shown.field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions {
            container: None,
            kind: StoreKind::Tree,
            threshold: None,
            reserved_keys: false,
            limits: Options::default(),
            backend: Arc::new(FileSystem),
        }
    }
}

impl WriteOptions {
    /// Uses another backend to write files, for tests. Files are still read from the file system.
    #[doc(hidden)]
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> WriteOptions {
        self.backend = backend;
        self
    }
}

/// The content of a leaf after the changes.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// The unchanged one in the store.
    Old,
    /// A frame.
    New(Content),
    /// A reference to a remote array.
    Reference(Value),
}

/// A leaf after the changes.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The name of its file; `None` in the embed store.
    pub name: Option<String>,
    pub held: Held,
}

/// The lock of a store while it is changed.
struct WriterLock {
    /// The path of a file beside the store, which is removed.
    beside: Option<PathBuf>,
    _claim: Claim,
    _file: File,
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        if let Some(path) = &self.beside {
            // A file that cannot be removed is used by the next writer.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A store that is created or changed. Nothing is written before [`StoreWriter::commit`]; dropping
/// the writer discards the changes.
///
/// Two writers of this project exclude each other. If another program changes the file of the store
/// between the opening and the commit, the commit fails. In a directory this concerns `embed.b2e`
/// and the leaves that the commit replaces or deletes; other leaves are not compared.
pub struct StoreWriter {
    pub(super) path: PathBuf,
    pub(super) container: ContainerKind,
    pub(super) kind: StoreKind,
    /// The store before the changes; `None` for a new one.
    pub(super) old: Option<Store>,
    pub(super) items: BTreeMap<String, Item>,
    /// Files that are not leaves, by name.
    pub(super) foreign: BTreeMap<String, Content>,
    /// The fixed metalayers of the embed store besides the tag.
    pub(super) metalayers: Vec<(Vec<u8>, Vec<u8>)>,
    /// The variable-length metalayers of the embed store besides the map.
    pub(super) attrs: Vec<(String, Vec<u8>)>,
    pub(super) registry: Vec<(Value, Value)>,
    pub(super) roots: BTreeMap<String, Root>,
    /// The bytes before the first member of a zip file, and its comment.
    pub(super) prefix: Option<Content>,
    pub(super) comment: Vec<u8>,
    pub(super) options: WriteOptions,
    pub(super) files: Files,
    /// The attributes of the file of the store, or of `embed.b2e`, when the writer was opened.
    pub(super) identity: Option<Attributes>,
    /// The leaves in files of a directory that is changed: the names, and the attributes when the
    /// writer was opened.
    pub(super) leaf_files: BTreeMap<String, Option<Attributes>>,
    /// Whether copied leaves stay embedded if they are.
    pub(super) keeps_tiers: bool,
    /// Whether the embed store must be written.
    pub(super) is_embed_changed: bool,
    _lock: Option<WriterLock>,
}

impl std::fmt::Debug for StoreWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("StoreWriter");
        shown.field("path", &self.path).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// Receives the name of a file or attribute that cannot be copied, and the error. Fails if the copy
/// must not continue.
pub(super) type Refuse<'r> = &'r mut dyn FnMut(&str, Error) -> Result<()>;

/// Returns the compression parameters of frames that the writer makes.
pub(super) fn cparams() -> CParams {
    CParams::default().codec(id::ZSTD).typesize(1)
}

/// Returns the container for the suffix of a path.
///
/// # Errors
/// [`Error::Refused`] for other suffixes.
pub(super) fn container_of(path: &Path, options: &WriteOptions) -> Result<ContainerKind> {
    if let Some(container) = options.container {
        return Ok(container);
    }
    match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("b2z") => Ok(ContainerKind::Zip),
        Some("b2d") => Ok(ContainerKind::Directory),
        Some("b2e") => Ok(ContainerKind::Frame),
        _ => {
            let why = "the names of stores end with .b2z, .b2d or .b2e";
            Err(Error::refused(path.display().to_string(), why))
        }
    }
}

/// Returns the path of the file that each change of a store replaces last.
pub(super) fn main_file(path: &Path, container: ContainerKind) -> PathBuf {
    match container {
        ContainerKind::Directory => path.join(EMBED_FILE),
        _ => path.to_owned(),
    }
}

/// Locks a store against other writers. File systems without locks are not locked.
fn lock(path: &Path) -> Result<Option<WriterLock>> {
    let locked = files::path_of_lock(path);
    let beside = (locked != path).then(|| locked.clone());
    for _ in 0..LOCK_ATTEMPTS {
        let mut options = OpenOptions::new();
        options.read(true).write(beside.is_some()).create(beside.is_some()).truncate(false);
        // Another user could have planted a link beside the store.
        let opening = if beside.is_some() { Opening::Unfollowed } else { Opening::Plain };
        let file = files::open(&mut options, &locked, opening);
        let file = file.map_err(Error::storage(&locked))?;
        let claim = Claim::of(&file);
        match claim.lock(&file) {
            // Otherwise another writer has replaced or removed the file since it was opened.
            Ok(true) if is_at(&locked, &file)? => {
                return Ok(Some(WriterLock { beside, _claim: claim, _file: file }));
            }
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(None),
            Err(error) => return Err(Error::storage(path)(error)),
        }
    }
    Err(Error::Locked(path.to_owned()))
}

/// Whether a path names an open file.
fn is_at(path: &Path, file: &File) -> Result<bool> {
    let open = files::identity_of(file).map_err(Error::storage(path))?;
    match files::identity_at(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        named => Ok(open == named.map_err(Error::storage(path))?),
    }
}

/// Returns the entry of an object in the registry.
pub(super) fn entry_of(root: &Root) -> Value {
    let text = |text: &str| Value::Str(text.to_owned());
    match root {
        Root::Table => Value::Map(vec![
            (text("kind"), text(TABLE_KIND)),
            (text("version"), Value::Int(1)),
            (text("layout"), text("inline-tree-subtree")),
        ]),
        Root::RemoteStore(entry) | Root::Unknown(entry) => entry.clone(),
    }
}

impl Store {
    /// Begins a new store. The suffix determines the container: a zip file for `.b2z`, a directory
    /// for `.b2d`, a frame for `.b2e`. The first two are trees.
    ///
    /// # Errors
    /// The errors of [`Store::create_with`].
    pub fn create(path: impl AsRef<Path>) -> Result<StoreWriter> {
        Store::create_with(path, &WriteOptions::default())
    }

    /// Begins a new store.
    ///
    /// # Errors
    /// - [`Error::Exists`] if there is anything at the path, also a dangling link;
    /// - [`Error::Refused`] if neither the options nor the suffix determine the container.
    pub fn create_with(path: impl AsRef<Path>, options: &WriteOptions) -> Result<StoreWriter> {
        let path: PathBuf = path.as_ref().components().collect();
        let container = container_of(&path, options)?;
        let kind = match (container, options.kind) {
            (ContainerKind::Frame, _) => StoreKind::Embed,
            (_, StoreKind::Dict) => StoreKind::Dict,
            _ => StoreKind::Tree,
        };
        let files = Files::new(Arc::clone(&options.backend));
        files.check_free(&path)?;
        let mut writer = Store::writer_of(&path, kind, container, options, files);
        writer.is_embed_changed = true;
        Ok(writer)
    }

    /// Begins a change of a store.
    ///
    /// # Errors
    /// The errors of [`Store::change_with`].
    pub fn change(path: impl AsRef<Path>) -> Result<StoreWriter> {
        Store::change_with(path, &WriteOptions::default())
    }

    /// Begins a change of a store. Of the options, container and kind are not used.
    ///
    /// # Errors
    /// - [`Error::FileType`] if the path is a symbolic link or a special file, which are not
    ///   changed;
    /// - [`Error::Unsound`] if opening finds damage, and [`Error::Member`] if the two headers of a
    ///   member differ; [`Store::repair`] writes a sound copy;
    /// - [`Error::Refused`] for single frames, sparse frames, caches of remote stores, stores of an
    ///   unknown version, and zip files with bytes that are in no member, and are not zero;
    /// - [`Error::Locked`] if another writer has the store open;
    /// - the errors of [`Store::open_with`].
    pub fn change_with(path: impl AsRef<Path>, options: &WriteOptions) -> Result<StoreWriter> {
        let given = path.as_ref();
        let files = Files::new(Arc::clone(&options.backend));
        let path: PathBuf = given.components().collect();
        if let Some(kind @ (FileKind::Link | FileKind::Special)) = files.kind(&path)? {
            let kind = staging::kind_text(kind);
            return Err(Error::FileType { path, kind, wanted: "a store" });
        }
        // A relative path such as `.` has no name of its own.
        let path = std::fs::canonicalize(&path).map_err(Error::storage(given))?;
        let lock = lock(&path)?;
        // Compared when the change is committed, so that the store is opened after it.
        let is_directory = path.is_dir();
        let main = if is_directory { path.join(EMBED_FILE) } else { path.clone() };
        let identity = FileSystem.attributes(&main);
        let store = Store::open_with(&path, &options.limits)?;
        store.check_sound()?;
        let refused = |why: &str| Err(Error::refused(path.display().to_string(), why));
        if store.kind == StoreKind::Object {
            return refused("it is a single frame, not a store");
        }
        if store.is_cache {
            return refused("it is a cache of a remote store, and is not changed");
        }
        let container = store.container();
        if container == ContainerKind::Frame && is_directory {
            return refused("an embed store with one file for each chunk is not changed");
        }
        let mut writer = Store::writer_of(&path, store.kind, container, options, files);
        writer._lock = lock;
        writer.load_embed(&store, &mut |_, error| Err(error))?;
        for (key, source) in &store.leaves {
            let item = match source {
                Source::File(file) => Item { name: store.name_of(file), held: Held::Old },
                Source::Embedded(Entry::Reference(entry)) => {
                    Item { name: None, held: Held::Reference(entry.clone()) }
                }
                Source::Embedded(_) => Item { name: None, held: Held::Old },
            };
            if let (ContainerKind::Directory, Some(name)) = (container, &item.name) {
                let attributes = FileSystem.attributes(&path.join(name));
                writer.leaf_files.insert(name.clone(), attributes);
            }
            writer.items.insert(key.clone(), item);
        }
        if let Container::Zip(archive) = &store.container {
            archive.check_listed()?;
            writer.load_foreign(&store, &mut |_, error| Err(error))?;
            writer.load_surroundings(archive);
        }
        writer.roots = store.roots.clone();
        // Without the files, the embedded values would be read.
        writer.is_embed_changed = store.has_shadowed;
        writer.identity = identity;
        writer.old = Some(store);
        Ok(writer)
    }

    fn writer_of(
        path: &Path,
        kind: StoreKind,
        container: ContainerKind,
        options: &WriteOptions,
        files: Files,
    ) -> StoreWriter {
        StoreWriter {
            path: path.to_owned(),
            container,
            kind,
            old: None,
            items: BTreeMap::new(),
            foreign: BTreeMap::new(),
            metalayers: Vec::new(),
            attrs: Vec::new(),
            registry: Vec::new(),
            roots: BTreeMap::new(),
            prefix: None,
            comment: Vec::new(),
            options: options.clone(),
            files,
            identity: None,
            leaf_files: BTreeMap::new(),
            keeps_tiers: false,
            is_embed_changed: false,
            _lock: None,
        }
    }

    /// Checks that opening found no damage, and that the members of a zip file have two equal
    /// headers.
    ///
    /// # Errors
    /// [`Error::Unsound`]; the errors of [`Store::check_headers`].
    pub(super) fn check_sound(&self) -> Result<()> {
        let damage = self.findings.iter().find(|finding| finding.severity == Severity::Damage);
        match damage {
            None => self.check_headers(),
            Some(finding) => {
                Err(Error::Unsound { path: self.path.clone(), why: finding.to_string() })
            }
        }
    }

    /// Compares the local headers of a zip file with its directory. A copy has only one of two names
    /// or sizes that differ, and no trace of the damage.
    ///
    /// # Errors
    /// [`Error::Member`]; [`Error::Storage`].
    pub(super) fn check_headers(&self) -> Result<()> {
        let Container::Zip(archive) = &self.container else {
            return Ok(());
        };
        archive.members().iter().try_for_each(|member| archive.check_local_header(member))
    }

    /// Returns the name of a file in the container.
    pub(super) fn name_of(&self, file: &FileId) -> Option<String> {
        match (&self.container, file) {
            (Container::Zip(archive), FileId::Member(number)) => {
                Some(archive.members()[*number].name.clone())
            }
            (Container::Directory(root), FileId::Path(path)) => {
                // Windows separates the parts by backslashes.
                let parts = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str());
                Some(parts.collect::<Option<Vec<&str>>>()?.join("/"))
            }
            _ => None,
        }
    }
}

impl StoreWriter {
    /// Takes over the metalayers of the embed store. `refuse` receives those that cannot be read.
    pub(super) fn load_embed(&mut self, store: &Store, refuse: Refuse<'_>) -> Result<()> {
        let Some(embed) = &store.embed else {
            return Ok(());
        };
        let place = if store.kind == StoreKind::Embed { "/" } else { EMBED_FILE };
        for (name, content) in fixed_layers(embed) {
            let Some(tag) = STORE_TAGS.iter().find(|tag| tag.as_bytes() == name) else {
                self.metalayers.push((name, content));
                continue;
            };
            let version = Value::decode(&content).and_then(|tag| tag.get("version")?.as_u64());
            if version != Some(VERSION) {
                let why = format!("the version of {tag} is not {VERSION}");
                return Err(Error::refused(place, why));
            }
        }
        for name in embed.vlmetalayer_names() {
            if name == MAP {
                continue;
            }
            if name == REGISTRY
                && let Ok(Some(Value::Map(entries))) = attrs::value(place, embed, REGISTRY)
            {
                self.registry = entries;
                continue;
            }
            match embed.vlmetalayer(&name).map_err(Error::frame(place)) {
                Ok(content) => self.attrs.push((name, content)),
                Err(error) => refuse(&name, error)?,
            }
        }
        Ok(())
    }

    /// Takes over the files that are not leaves. `refuse` receives those that cannot be read.
    pub(super) fn load_foreign(&mut self, store: &Store, refuse: Refuse<'_>) -> Result<()> {
        for (name, file) in &store.foreign {
            match store.whole_file(file, true) {
                Ok(content) => {
                    self.foreign.insert(name.clone(), content);
                }
                Err(error) => refuse(name, error)?,
            }
        }
        Ok(())
    }

    /// Takes over the bytes before the first member of a zip file, and its comment.
    pub(super) fn load_surroundings(&mut self, archive: &Archive) {
        let len = archive.prefix_len();
        let (file, path) = (archive.file(), archive.path().to_owned());
        self.prefix = (len > 0).then_some(Content::Range { file, path, offset: 0, len });
        self.comment = archive.comment().to_vec();
    }

    /// Returns the path of the store.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of the store.
    pub fn kind(&self) -> StoreKind {
        self.kind
    }

    /// Returns the container of the store.
    pub fn container(&self) -> ContainerKind {
        self.container
    }

    /// Returns the keys of all leaves after the changes, in order.
    pub fn leaf_keys(&self) -> impl Iterator<Item = &str> {
        self.items.keys().map(String::as_str)
    }

    /// Whether there is a leaf with this key after the changes.
    pub fn contains(&self, key: &str) -> bool {
        self.items.contains_key(key)
    }

    pub(super) fn has_below(&self, group: &str) -> bool {
        // The key of the root is `/`.
        if group.is_empty() {
            return false;
        }
        let start = keys::join(group, "");
        let is_below = |key: Option<&String>| key.is_some_and(|key| key.starts_with(&start));
        is_below(self.items.range(start.clone()..).next().map(|(key, _)| key))
            || is_below(self.roots.range(start.clone()..).next().map(|(key, _)| key))
    }

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

    /// Checks that a key can be added.
    pub(super) fn check_new_key(&self, key: &str) -> Result<()> {
        let invalid =
            |why: &str| Err(Error::InvalidName { name: key.to_owned(), why: why.to_owned() });
        if key == "/" {
            return invalid("the root is not a leaf");
        }
        if let Some(why) = keys::fault_of_new_key(key) {
            return invalid(why);
        }
        if self.kind == StoreKind::Embed && key.contains(':') {
            return invalid("the keys of an embed store have no ':'");
        }
        if let Some(root) = self.root_above(key) {
            return Err(Error::refused(key, format!("it is inside the object {root}")));
        }
        if self.kind != StoreKind::Tree {
            return Ok(());
        }
        self.check_not_reserved(key)?;
        let mut group = keys::parent(key);
        while let Some(above) = group {
            if self.items.contains_key(above) {
                return Err(Error::refused(key, format!("{above} is a leaf, not a group")));
            }
            group = keys::parent(above);
        }
        if self.has_below(key) {
            return Err(Error::refused(key, "it is a group"));
        }
        Ok(())
    }

    /// Checks that the last part of a key has no meaning in trees, unless the options permit it.
    fn check_not_reserved(&self, key: &str) -> Result<()> {
        if self.kind == StoreKind::Tree && keys::is_reserved(key) && !self.options.reserved_keys {
            let why = "its last part has a meaning in trees".to_owned();
            return Err(Error::InvalidName { name: key.to_owned(), why });
        }
        Ok(())
    }

    /// Adds a leaf. Its chunks are decoded first if the store is a zip file, whose CRC-32 must not
    /// certify damaged data.
    ///
    /// # Errors
    /// - [`Error::KeyExists`];
    /// - [`Error::Damaged`] for a damaged leaf in a zip file; [`Error::Frame`];
    /// - [`Error::InvalidName`] for keys that do not start with a slash, with empty, `.` and `..`
    ///   parts, control characters, long parts, or a last part with a meaning in trees;
    /// - [`Error::Refused`] in a tree, if the key is a group or is below a leaf or an object.
    pub fn put(&mut self, key: &str, leaf: NewLeaf) -> Result<()> {
        if self.items.contains_key(key) || self.roots.contains_key(key) {
            return Err(Error::KeyExists(key.to_owned()));
        }
        self.check_new_key(key)?;
        self.set_new(key, leaf)
    }

    /// Sets a leaf of the caller, without a check of the key.
    fn set_new(&mut self, key: &str, mut leaf: NewLeaf) -> Result<()> {
        if self.container == ContainerKind::Zip {
            leaf.verify(key)?;
        }
        self.set(key, leaf);
        Ok(())
    }

    /// Adds a leaf, or replaces it with its attributes.
    ///
    /// # Errors
    /// - [`Error::KeyExists`] if the key is an object of several leaves, such as a table, which
    ///   must be deleted first;
    /// - the errors of [`StoreWriter::put`].
    pub fn replace(&mut self, key: &str, leaf: NewLeaf) -> Result<()> {
        if !self.items.contains_key(key) {
            return self.put(key, leaf);
        }
        if let Some(root) = self.root_above(key) {
            return Err(Error::refused(key, format!("it is inside the object {root}")));
        }
        self.check_not_reserved(key)?;
        self.set_new(key, leaf)
    }

    /// Sets a leaf without checks.
    pub(super) fn set(&mut self, key: &str, leaf: NewLeaf) {
        let is_embedded = self.container == ContainerKind::Frame
            || (leaf.nbytes < self.options.threshold.unwrap_or(0) && !key.contains(':'));
        let old = self.items.get(key).and_then(|item| item.name.as_ref());
        let name = match old {
            _ if is_embedded => None,
            // A replacement with another name would not be atomic.
            Some(name) if self.container == ContainerKind::Directory => Some(name.clone()),
            _ => Some(format!("{}{}", &key[1..], leaf.suffix)),
        };
        self.insert(key, Item { name, held: Held::New(leaf.content) });
    }

    pub(super) fn insert(&mut self, key: &str, item: Item) {
        let is_embedded = item.name.is_none();
        let old = self.items.insert(key.to_owned(), item);
        self.is_embed_changed |= is_embedded || old.is_some_and(|old| old.name.is_none());
    }

    fn remove(&mut self, key: &str) {
        if let Some(item) = self.items.remove(key) {
            self.is_embed_changed |= item.name.is_none();
        }
    }

    /// Deletes a leaf; a group with all keys below it and its attributes; or an object with all its
    /// leaves.
    ///
    /// # Errors
    /// - [`Error::NoSuchKey`];
    /// - [`Error::Refused`] for the root and for leaves of objects.
    pub fn delete(&mut self, key: &str) -> Result<()> {
        if key == "/" {
            return Err(Error::refused(key, "the root of a store is not deleted"));
        }
        if let Some(root) = self.root_above(key) {
            return Err(Error::refused(key, format!("it is inside the object {root}")));
        }
        let is_tree = self.kind == StoreKind::Tree;
        let is_hidden = is_tree && keys::is_reserved(key) && !self.options.reserved_keys;
        let has_leaf = self.items.contains_key(key) && !is_hidden;
        let has_root = self.roots.contains_key(key);
        let is_group = is_tree && self.has_below(key);
        if !(has_leaf || has_root || is_group) {
            return Err(Error::NoSuchKey(key.to_owned()));
        }
        self.remove(key);
        if is_tree {
            let is_deleted = |other: &str| other == key || keys::is_below(other, key);
            let below: Vec<String> =
                self.items.keys().filter(|other| is_deleted(other)).cloned().collect();
            below.iter().for_each(|key| self.remove(key));
            self.roots.retain(|other, _| !is_deleted(other));
            let count = self.registry.len();
            self.registry.retain(|(other, _)| !other.as_str().is_some_and(is_deleted));
            self.is_embed_changed |= self.registry.len() < count;
        }
        Ok(())
    }

    /// Returns the content of a leaf after the changes.
    pub(super) fn content(&self, key: &str) -> Result<Content> {
        match self.items.get(key).map(|item| &item.held) {
            Some(Held::New(content)) => Ok(content.clone()),
            Some(Held::Old) => match &self.old {
                Some(store) => store.content(key, true),
                None => Err(Error::NoSuchKey(key.to_owned())),
            },
            Some(Held::Reference(_)) => {
                Err(Error::NotData { key: key.to_owned(), class: Class::Reference.name() })
            }
            None => Err(Error::NoSuchKey(key.to_owned())),
        }
    }

    /// Opens a leaf after the changes.
    ///
    /// # Errors
    /// - the errors of [`Store::leaf`].
    pub(super) fn leaf(&self, key: &str) -> Result<Leaf> {
        match (self.items.get(key).map(|item| &item.held), &self.old) {
            (Some(Held::Old), Some(store)) => store.leaf(key),
            (Some(Held::New(content)), _) => content.open(key),
            (Some(Held::Reference(_)), _) => {
                Err(Error::NotData { key: key.to_owned(), class: Class::Reference.name() })
            }
            _ => Err(Error::NoSuchKey(key.to_owned())),
        }
    }

    /// Sets or deletes a leaf of a table, without checks. In a directory it becomes a file, so that
    /// each step of the commit replaces one leaf.
    pub(super) fn set_table_leaf(&mut self, key: &str, leaf: Option<NewLeaf>) {
        let Some(leaf) = leaf else {
            self.remove(key);
            return;
        };
        let old = self.items.get(key).and_then(|item| item.name.clone());
        if self.container == ContainerKind::Directory {
            let name = old.unwrap_or_else(|| format!("{}{}", &key[1..], leaf.suffix));
            self.insert(key, Item { name: Some(name), held: Held::New(leaf.content) });
        } else {
            self.set(key, leaf);
        }
    }

    /// Adds an object of several leaves, after its leaves.
    pub(super) fn add_root(&mut self, key: &str, root: Root) {
        // A table at the root is recognised by its leaves.
        if key != "/" {
            self.register(key, entry_of(&root));
        }
        self.roots.insert(key.to_owned(), root);
    }

    pub(super) fn register(&mut self, key: &str, entry: Value) {
        if self.registry.iter().all(|(other, _)| other.as_str() != Some(key)) {
            self.registry.push((Value::Str(key.to_owned()), entry));
            self.is_embed_changed = true;
        }
    }

    /// Returns the attributes of the embed store with the registry of objects.
    pub(super) fn attrs_with_registry(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let mut attrs = self.attrs.clone();
        if !self.registry.is_empty() {
            let mut registry = self.registry.clone();
            // python-blosc2 does not find tables outside of a registry that is not empty.
            for (key, root) in self.roots.iter().filter(|(key, _)| *key != "/") {
                if registry.iter().all(|(other, _)| other.as_str() != Some(key)) {
                    registry.push((Value::Str(key.clone()), entry_of(root)));
                }
            }
            registry.sort_by(|one, other| one.0.as_str().cmp(&other.0.as_str()));
            attrs.push((REGISTRY.to_owned(), Value::Map(registry).encode()?));
        }
        Ok(attrs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_is_not_at_its_path() {
        let folder = crate::testing::tempdir();
        let (path, other) = (folder.path().join("s.b2z"), folder.path().join("other"));
        std::fs::write(&path, b"old").unwrap();
        std::fs::write(&other, b"new").unwrap();
        let file = File::open(&path).unwrap();
        assert!(is_at(&path, &file).unwrap());
        std::fs::rename(&other, &path).unwrap();
        assert!(!is_at(&path, &file).unwrap());
        // The lock of the old file does not count.
        let old = Claim::of(&file);
        assert!(old.lock(&file).unwrap());
        assert!(lock(&path).unwrap().is_some());
    }

    #[test]
    fn a_store_has_one_writer() {
        let folder = crate::testing::tempdir();
        for name in ["s.b2z", "s.b2d", "s.b2e"] {
            let path = folder.path().join(name);
            Store::create(&path).unwrap().commit().unwrap();
            let first = Store::change(&path).unwrap();
            assert!(matches!(Store::change(&path), Err(Error::Locked(_))), "{name}");
            drop(first);
            drop(Store::change(&path).unwrap());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}
