//! The tree: directories, containers, groups, tables and arrays. The entries of a group are read
//! when it is opened, the type and the sizes of an entry when it is displayed.

use crate::error::{Failure, Outcome};
use crate::info;
use crate::json::ratio;
use crate::meta;
use crate::plural::counted;
use crate::store::{self, Description, Target, shape_text};
use crate::style::Style;
use crate::table::tuple;
use ferroblosc::escape::escape;
use ferroblosc_formats::convert::{self, Format, Summary};
use ferroblosc_formats::store::Class;
use ferroblosc_tools_common::size::human;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The maximum number of entries of a group that are listed.
const MAX_ENTRIES: usize = 10_000;

/// The location of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A file, a directory or an array in a container, `FILE:/NAME`.
    Path(PathBuf),
    /// A column of a table of bcolz: the table and the name.
    Column(PathBuf, String),
    /// A group of a Zarr group: the outermost group and the key.
    Keys(PathBuf, String),
    /// An object in a store: the store and the key.
    Object(PathBuf, String),
    /// A note about entries that are not listed.
    Note,
}

/// An entry of the tree.
pub struct Entry {
    /// The name, escaped.
    pub name: String,
    pub depth: usize,
    pub location: Location,
    /// Whether the entry can be opened to show other entries.
    pub is_group: bool,
    /// Whether the entry has items.
    pub has_items: bool,
    pub is_open: bool,
    /// Type, shape and ratio, escaped, if they were read.
    pub detail: Option<String>,
}

impl Entry {
    fn new(name: &str, depth: usize, location: Location, is_group: bool, has_items: bool) -> Entry {
        let name = escape(name).into_owned();
        Entry { name, depth, location, is_group, has_items, is_open: false, detail: None }
    }

    /// Returns type, shape and ratio, or the reason why they cannot be read.
    fn describe(&self) -> String {
        let text = match &self.location {
            Location::Path(path) if is_plain_folder(path) => Ok("directory".to_owned()),
            Location::Path(path) => match store::target(path) {
                Some(target) => store::row(&target).map(|row| row.content),
                None => summary(path).map(|summary| summary_text(&summary)),
            },
            Location::Column(table, name) => {
                let summary = column_path(table, name).and_then(|path| summary(&path));
                summary.map(|summary| summary_text(&summary))
            }
            Location::Keys(..) => Ok("group".to_owned()),
            Location::Object(path, key) => object_text(path, key),
            Location::Note => Ok(String::new()),
        };
        escape(&text.unwrap_or_else(text_of)).into_owned()
    }
}

/// Returns the text of an error.
pub fn text_of(failure: Failure) -> String {
    match failure {
        Failure::Error { text, .. } => format!("unreadable: {text}"),
        Failure::Reported(_) | Failure::BrokenPipe => "unreadable".to_owned(),
    }
}

fn summary(path: &Path) -> Result<Summary, Failure> {
    Ok(convert::summarise(path, &convert::detect(path)?)?)
}

/// Returns the directory of a column. A name that is a path out of the table is an error.
pub fn column_path(table: &Path, name: &str) -> Result<PathBuf, Failure> {
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if is_inside {
        Ok(table.join(name))
    } else {
        Err(Failure::new(format!("the name of the column {name:?} is not a name of a directory")))
    }
}

fn with_ratio(text: String, ratio: Option<f64>) -> String {
    match ratio {
        Some(ratio) => format!("{text}  {ratio:.2}x"),
        None => text,
    }
}

fn summary_text(summary: &Summary) -> String {
    if let Some(fault) = &summary.fault {
        return format!("unreadable: {fault}");
    }
    if let Some(placeholder) = &summary.placeholder {
        return placeholder.clone();
    }
    let text = match (&summary.array, summary.columns.len()) {
        (Some(info), 0) => format!("{} {}", info.dtype.text(), tuple(&info.shape)),
        (Some(info), columns) => {
            format!("{}, {}", counted(info.shape[0], "row"), counted(columns, "column"))
        }
        (None, 1..) => counted(summary.columns.len(), "array"),
        (None, 0) => format!("{} of data", human(summary.nbytes)),
    };
    with_ratio(text, ratio(summary.nbytes, summary.stored).filter(|_| summary.nbytes > 0))
}

fn object_text(path: &Path, key: &str) -> Result<String, Failure> {
    let store = Target::object(path, key).open()?;
    let node = store.node(key)?;
    if let Some(fault) = &node.fault {
        return Ok(format!("unreadable: {fault}"));
    }
    let shape = node.shape.as_deref().map(shape_text).unwrap_or_default();
    let dtype = node.dtype.clone().unwrap_or_else(|| node.class.name().to_owned());
    let size = |size: Option<i64>| size.map(|size| size.max(0).unsigned_abs());
    let sizes = size(node.nbytes).zip(size(node.cbytes));
    let ratio = sizes.and_then(|(nbytes, stored)| ratio(nbytes, stored));
    Ok(with_ratio(format!("{dtype} {shape}").trim().to_owned(), ratio))
}

/// Whether a path is a directory of no known format.
fn is_plain_folder(path: &Path) -> bool {
    path.is_dir() && !store::is_whole(path) && convert::detect(path).is_err()
}

fn last_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the entry of a path, unless it has no known format.
fn entry_of(path: &Path, name: &str, depth: usize) -> Result<Entry, Failure> {
    let location = Location::Path(path.to_owned());
    if let Some(target) = store::target(path) {
        if target.is_whole_store() {
            return Ok(Entry::new(name, depth, location, true, false));
        }
        return object_entry(target.path(), target.key(), name, depth);
    }
    let found = match convert::detect(path) {
        Ok(found) => found,
        Err(_) if path.is_dir() => return Ok(Entry::new(name, depth, location, true, false)),
        Err(error) => return Err(error.into()),
    };
    let (is_group, has_items) = match found.format {
        Format::Ctable => (true, true),
        format if format.has_keys() => match convert::keys(path, &found) {
            Ok(_) => (true, false),
            // A Zarr array, or an array in a container.
            Err(convert::Error::NoKeys) => (false, true),
            Err(error) => return Err(error.into()),
        },
        _ => (false, true),
    };
    Ok(Entry::new(name, depth, location, is_group, has_items))
}

fn object_entry(path: &Path, key: &str, name: &str, depth: usize) -> Result<Entry, Failure> {
    let class = Target::object(path, key).open()?.class(key)?;
    let location = Location::Object(path.to_owned(), key.to_owned());
    Ok(Entry::new(name, depth, location, class == Class::Group, class.has_values()))
}

/// Returns the entries of a store below a key.
fn objects(path: &Path, key: &str, depth: usize) -> Result<Vec<Entry>, Failure> {
    let store = Target::object(path, key).open()?;
    let prefix = if key == "/" { "/".to_owned() } else { format!("{key}/") };
    let nodes = store.walk(key)?;
    let keys: BTreeSet<&str> = nodes.iter().map(|node| node.key.as_str()).collect();
    let mut entries = Vec::new();
    for node in &nodes {
        let Some(rest) = node.key.strip_prefix(&prefix).filter(|rest| !rest.is_empty()) else {
            continue;
        };
        // Stores without groups have keys with slashes; those of groups are listed in the group.
        let is_inner = rest.match_indices('/').any(|(at, _)| {
            let outer = &node.key[..prefix.len() + at];
            keys.contains(outer)
        });
        if !is_inner {
            let location = Location::Object(path.to_owned(), node.key.clone());
            let (class, is_group) = (node.class, node.class == Class::Group);
            entries.push(Entry::new(rest, depth, location, is_group, class.has_values()));
        }
    }
    Ok(entries)
}

/// Returns the entries of the keys of a container below a group.
fn keys(path: &Path, group: &str, depth: usize) -> Result<Vec<Entry>, Failure> {
    let found = convert::detect(path)?;
    let prefix = if group.is_empty() { String::new() } else { format!("{group}/") };
    let mut groups = BTreeSet::new();
    let mut entries = Vec::new();
    for key in convert::keys(path, &found)? {
        let Some(rest) = key.strip_prefix(&prefix) else {
            continue;
        };
        match rest.split_once('/') {
            // The names in `.npz` files have no groups.
            Some((inner, _)) if found.format != Format::Npz => {
                if groups.insert(inner.to_owned()) {
                    let location = Location::Keys(path.to_owned(), format!("{prefix}{inner}"));
                    entries.push(Entry::new(inner, depth, location, true, false));
                }
            }
            _ => {
                let mut name = path.as_os_str().to_owned();
                name.push(":/");
                name.push(OsStr::new(&key));
                entries.push(Entry::new(rest, depth, Location::Path(name.into()), false, true));
            }
        }
    }
    Ok(entries)
}

/// Whether a file is missing, or can be read and has no known format.
fn is_of_no_format(path: &Path) -> bool {
    matches!(convert::detect(path), Err(convert::Error::Unknown)) || !path.exists()
}

/// Returns the files of known formats, those that cannot be read, and the directories in a
/// directory, sorted by name.
fn files(folder: &Path, depth: usize) -> Result<Vec<Entry>, Failure> {
    let failed =
        |error| ferroblosc::io::named::named(error, ferroblosc::Error::FileRead, "read", folder);
    let read = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths = Vec::new();
    for entry in read {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    let mut entries = Vec::new();
    for path in paths {
        if entries.len() == MAX_ENTRIES {
            break;
        }
        let path = path.strip_prefix(".").unwrap_or(&path);
        let name = last_name(path);
        match entry_of(path, &name, depth) {
            Ok(entry) => entries.push(entry),
            Err(_) if is_of_no_format(path) => {}
            Err(_) => {
                let location = Location::Path(path.to_owned());
                entries.push(Entry::new(&name, depth, location, false, false));
            }
        }
    }
    Ok(entries)
}

/// Reads the entries of a group.
fn inner(entry: &Entry) -> Result<Vec<Entry>, Failure> {
    let depth = entry.depth + 1;
    let mut entries = match &entry.location {
        Location::Path(path) => match store::target(path) {
            Some(target) => objects(target.path(), target.key(), depth),
            None => match convert::detect(path) {
                Ok(found) if found.format == Format::Ctable => {
                    let column = |(name, _): &(String, Summary)| {
                        let location = Location::Column(path.clone(), name.clone());
                        Entry::new(name, depth, location, false, true)
                    };
                    Ok(convert::summarise(path, &found)?.columns.iter().map(column).collect())
                }
                Ok(_) => keys(path, "", depth),
                Err(_) => files(path, depth),
            },
        },
        Location::Keys(path, key) => keys(path, key, depth),
        Location::Object(path, key) => objects(path, key, depth),
        Location::Column(..) | Location::Note => Ok(Vec::new()),
    }?;
    if entries.len() >= MAX_ENTRIES {
        entries.truncate(MAX_ENTRIES);
        let text = format!("only {MAX_ENTRIES} entries are listed");
        entries.push(Entry::new(&text, depth, Location::Note, false, false));
    }
    Ok(entries)
}

/// The visible entries: each open group is followed by its entries.
pub struct Tree {
    pub entries: Vec<Entry>,
    pub cursor: usize,
    /// The first displayed entry.
    pub top: usize,
}

impl Tree {
    /// Returns the tree of a path. The root is open if it is a group.
    pub fn new(path: &Path) -> Result<Tree, Failure> {
        let root = entry_of(path, &path.to_string_lossy(), 0)?;
        let mut tree = Tree { entries: vec![root], cursor: 0, top: 0 };
        if tree.entries[0].is_group {
            tree.open()?;
        }
        Ok(tree)
    }

    /// Returns the entry at the cursor.
    pub fn current(&self) -> &Entry {
        &self.entries[self.cursor]
    }

    /// Opens the group at the cursor.
    pub fn open(&mut self) -> Outcome {
        let entry = &self.entries[self.cursor];
        if entry.is_group && !entry.is_open {
            let found = inner(entry)?;
            self.entries[self.cursor].is_open = true;
            self.entries.splice(self.cursor + 1..self.cursor + 1, found);
        }
        Ok(())
    }

    /// Closes the group at the cursor, or moves to the group that contains the entry.
    pub fn close(&mut self) {
        let depth = self.current().depth;
        if self.current().is_open {
            let rest = &self.entries[self.cursor + 1..];
            let count = rest.iter().take_while(|entry| entry.depth > depth).count();
            self.entries.drain(self.cursor + 1..self.cursor + 1 + count);
            self.entries[self.cursor].is_open = false;
        } else if let Some(outer) =
            self.entries[..self.cursor].iter().rposition(|entry| entry.depth < depth)
        {
            self.cursor = outer;
        }
    }

    /// Moves the cursor.
    pub fn step(&mut self, by: i64) {
        let last = self.entries.len() - 1;
        let by = isize::try_from(by).unwrap_or(if by < 0 { isize::MIN } else { isize::MAX });
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }

    /// Moves the cursor to the next entry whose name contains a text. Returns whether there is one.
    pub fn find(&mut self, text: &str) -> bool {
        let text = text.to_lowercase();
        let len = self.entries.len();
        let mut following = (1..=len).map(|step| (self.cursor + step) % len);
        let found = following.find(|&at| self.entries[at].name.to_lowercase().contains(&text));
        self.cursor = found.unwrap_or(self.cursor);
        found.is_some()
    }

    /// Scrolls to the cursor and reads the descriptions of the displayed entries.
    pub fn prepare(&mut self, height: usize) {
        self.top = self.top.min(self.cursor).max((self.cursor + 1).saturating_sub(height));
        for entry in self.entries.iter_mut().skip(self.top).take(height) {
            if entry.detail.is_none() {
                entry.detail = Some(entry.describe());
            }
        }
    }
}

/// Returns the description of an entry and its metadata, in lines. Control characters are escaped.
pub fn metadata(location: &Location) -> Vec<String> {
    let mut text = Vec::new();
    let write = |text: &mut Vec<u8>, path: &Path| -> Outcome {
        if is_plain_folder(path) {
            text.extend(format!("{}\n  a directory\n", escape(&path.to_string_lossy())).bytes());
            return Ok(());
        }
        if let Some(target) = store::target(path) {
            Description::of(target)?.show(text, Style::plain())?;
        } else {
            let name = path.to_string_lossy();
            info::show(text, Style::plain(), &name, &summary(path)?, None)?;
        }
        text.push(b'\n');
        meta::write_values(text, path)
    };
    let path = match location {
        Location::Path(path) | Location::Keys(path, _) => Ok(path.clone()),
        Location::Column(table, name) => column_path(table, name),
        Location::Object(path, key) => Ok(Target::object(path, key).name().to_owned()),
        Location::Note => return Vec::new(),
    };
    if let Err(failure) = path.and_then(|path| write(&mut text, &path)) {
        text.extend(escape(&text_of(failure)).bytes());
    }
    String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
}
