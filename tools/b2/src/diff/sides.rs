//! The arguments of `diff`: a file, an object in a store, or a container of arrays.

use crate::container;
use crate::error::Failure;
use crate::io::{Input, temporary_folder};
use crate::store::{self, Target};
use crate::tables;
use ferroblosc::io::paths;
use ferroblosc_formats::convert::{self, Detected, Location, Reading};
use ferroblosc_formats::store::{Class, Store, WriteOptions};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// An argument.
pub enum Side {
    /// A file, or a single object.
    Data(Data),
    /// All arrays of a container.
    Members(Members),
}

/// Data to compare.
pub enum Data {
    Array(ArrayInput),
    /// A table or a list of objects in a store.
    Rows(Rows),
}

/// An array, or bytes.
pub struct ArrayInput {
    pub input: Input,
    pub found: Detected,
}

/// A table or a list of objects in a store.
pub struct Rows {
    pub target: Target,
    pub store: Box<Store>,
    pub class: Class,
}

/// The data of a member.
enum Content {
    /// A file or directory, or an array in a file.
    File(PathBuf, Detected),
    /// An object of a store, with its class.
    Object(String, Class),
    /// Nothing can be compared, for this reason.
    Other(String),
}

/// All arrays of a container, by their path in it.
pub struct Members {
    name: PathBuf,
    target: Option<Target>,
    members: BTreeMap<String, Content>,
}

impl Data {
    /// Returns the members of a container, also of one with a single array; `None` for other data.
    pub fn members(&self) -> Result<Option<Members>, Failure> {
        let Data::Array(ArrayInput { input, found }) = self else {
            return Ok(None);
        };
        if !found.format.has_keys() {
            return Ok(None);
        }
        let key = Location::of(input.path()).key.unwrap_or_default();
        match convert::keys(input.path(), found) {
            // A Zarr array, or an array in a container.
            Err(convert::Error::NoKeys) => Ok(None),
            Ok(keys) if keys == [key.trim_matches('/')] => Ok(None),
            Ok(keys) => Ok(Some(of_container(input, *found, keys))),
            Err(error) => Err(input.error(error)),
        }
    }

    /// Returns an array. Tables become arrays of records.
    pub fn into_array(self) -> Result<ArrayInput, Failure> {
        let rows = match self {
            Data::Array(array) => return Ok(array),
            Data::Rows(rows) => rows,
        };
        if rows.class != Class::Table {
            let class = rows.class.name();
            let text = format!("objects of the class {class} are not compared with arrays");
            return Err(rows.target.at(Failure::new(text)));
        }
        let input = tables::as_records(&rows.target, &rows.store)?;
        let found = input.detect()?;
        Ok(ArrayInput { input, found })
    }
}

impl Side {
    /// Opens an argument.
    pub fn open(path: &Path) -> Result<Side, Failure> {
        if let Some(target) = store::target(path) {
            return of_store(target);
        }
        let input = Input::new_or_fifo(path)?;
        let found = match convert::detect(input.path()) {
            Err(convert::Error::Unknown) if input.path().is_dir() => {
                return Ok(Side::Members(of_directory(path)?));
            }
            found => found.map_err(|error| input.error(error))?,
        };
        if found.format.has_keys()
            && let Err(convert::Error::SeveralArrays(_)) =
                convert::open_as(input.path(), &found, &Reading::default())
        {
            let keys = convert::keys(input.path(), &found).map_err(|error| input.error(error))?;
            return Ok(Side::Members(of_container(&input, found, keys)));
        }
        Ok(Side::Data(Data::Array(ArrayInput { input, found })))
    }
}

fn of_store(target: Target) -> Result<Side, Failure> {
    let opened = target.open_to_read_all()?;
    let class = opened.class(target.key()).map_err(|error| target.error(error))?;
    let is_group = class == Class::Group || class == Class::EmbedStore && target.key() == "/";
    if !is_group {
        return Ok(Side::Data(object(target, opened, class)?));
    }
    let nodes = opened.walk(target.key()).map_err(|error| target.error(error))?;
    let base = target.key().trim_end_matches('/').len() + 1;
    let nodes = nodes.into_iter().filter(|node| node.class != Class::Group);
    let members = nodes.map(|node| {
        let key = node.key.get(base..).unwrap_or(&node.key).to_owned();
        (key, Content::Object(node.key, node.class))
    });
    let members = members.collect();
    Ok(Side::Members(Members { name: target.name().to_owned(), target: Some(target), members }))
}

/// Opens an object of a store. Arrays are extracted to a temporary file.
fn object(target: Target, opened: Store, class: Class) -> Result<Data, Failure> {
    match class {
        Class::NdArray | Class::SChunk => {
            let folder = temporary_folder()?;
            let path = folder.path("object");
            let extracted = opened.extract(target.key(), &path, &WriteOptions::default());
            extracted
                .map_err(|error| target.error(error).of_target(&path, &copy_name(target.name())))?;
            let input = Input::temporary(path, target.name(), folder);
            let found = input.detect()?;
            Ok(Data::Array(ArrayInput { input, found }))
        }
        Class::Table | Class::ObjectArray | Class::BatchArray | Class::ListArray => {
            Ok(Data::Rows(Rows { target, store: Box::new(opened), class }))
        }
        _ => {
            if class == Class::Damaged {
                opened.leaf(target.key()).map_err(|error| target.error(error))?;
            }
            let text = format!("objects of the class {} cannot be compared", class.name());
            Err(target.at(Failure::new(text)))
        }
    }
}

/// Returns the name of the temporary copy of an object in errors.
fn copy_name(name: &Path) -> PathBuf {
    PathBuf::from(format!("the temporary file for {}", name.display()))
}

fn of_container(input: &Input, found: Detected, keys: Vec<String>) -> Members {
    let location = Location::of(input.path());
    let path = |key: &str| paths::with_text(&location.path, &format!(":/{key}"));
    let prefix = location.key.map_or(String::new(), |key| format!("{}/", key.trim_matches('/')));
    let members = keys.into_iter().map(|key| {
        let content = Content::File(path(&key), found);
        let relative = key.strip_prefix(&prefix).map(str::to_owned);
        (relative.unwrap_or(key), content)
    });
    Members { name: input.name().to_owned(), target: None, members: members.collect() }
}

/// Returns all files in a directory. Their paths have no extension, unless two files differ only in
/// it.
fn of_directory(root: &Path) -> Result<Members, Failure> {
    let files = container::files(root)?;
    let mut counts: HashMap<String, usize> = HashMap::new();
    for file in &files {
        *counts.entry(file.key.clone()).or_default() += 1;
    }
    let mut members = BTreeMap::new();
    for file in files {
        let is_unknown = is_unknown_file(&file.path, &file.found);
        let content = match file.found {
            Ok(found) if found.format.has_keys() => {
                let text = "it contains several arrays; compare it alone";
                Content::Other(text.to_owned())
            }
            Ok(found) => Content::File(file.path, found),
            Err(_) if is_unknown => Content::File(file.path, Detected::raw()),
            Err(error) => Content::Other(error.to_string()),
        };
        let is_unique = counts.get(&file.key) == Some(&1) && !is_unknown;
        members.insert(if is_unique { file.key } else { file.name }, content);
    }
    Ok(Members { name: root.to_owned(), target: None, members })
}

impl Members {
    /// Returns the name of the container.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the paths of the members, in order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.members.keys()
    }

    /// Whether there is a member with this path.
    pub fn has(&self, key: &str) -> bool {
        self.members.contains_key(key)
    }

    /// Whether there is only one member.
    pub fn is_single(&self) -> bool {
        self.members.len() == 1
    }

    /// Returns the only member.
    pub fn only(&self) -> Result<Data, Failure> {
        let mut keys = self.members.keys();
        match (keys.next(), keys.next()) {
            (Some(key), None) => self.open(key),
            _ => {
                let count = self.members.len();
                let failure = Failure::new(format!("contains {count} objects"));
                let hint =
                    "two containers are compared with each other, and FILE:/NAME is one object";
                Err(failure.at(&self.name).with_hint(hint))
            }
        }
    }

    /// Opens a member.
    pub fn open(&self, key: &str) -> Result<Data, Failure> {
        let content = self.members.get(key);
        let at = |failure: Failure| failure.at(&self.name.join(key));
        match (content, &self.target) {
            (Some(Content::File(path, found)), _) => {
                let input = Input::new(path)?;
                Ok(Data::Array(ArrayInput { input, found: *found }))
            }
            (Some(Content::Object(key, class)), Some(target)) => {
                object(Target::object(target.path(), key), target.open_to_read_all()?, *class)
            }
            (Some(Content::Other(reason)), _) => Err(at(Failure::new(reason.clone()))),
            _ => Err(at(Failure::new("does not exist"))),
        }
    }
}

/// Whether the format of a file is unknown, and it is not a directory.
fn is_unknown_file(path: &Path, found: &convert::Result<Detected>) -> bool {
    matches!(found, Err(convert::Error::Unknown)) && path.is_file()
}
