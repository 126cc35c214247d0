//! Groups of containers with several arrays, and their attributes.
//!
//! The groups are those that contain the arrays, and those below the key of a path. Attributes that
//! a store does not support, such as those with long names, are one more attribute of the group,
//! [`attrs::DESCRIPTION`], as those of arrays in frames.

use std::collections::BTreeSet;
use std::path::Path;

use super::attrs::{self, Description};
use super::detect::Detected;
#[cfg(any(feature = "hdf5", feature = "zarr"))]
use super::detect::Format;
use super::error::Result;
#[cfg(any(feature = "hdf5", feature = "zarr"))]
use super::location::Location;
use crate::bloscpack::Value;
#[cfg(feature = "hdf5")]
use crate::hdf5;
use crate::store::{self, Class, Store, StoreKind, StoreWriter};
#[cfg(feature = "zarr")]
use crate::zarr;

/// The maximum number of attributes of an object in a store, without [`attrs::DESCRIPTION`] and the
/// map of an embed store.
const MAX_STORE_ATTRS: usize = 14;

/// A group of a container.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Group {
    /// The path, without a slash at its start; empty for the root.
    pub path: String,
    /// The attributes.
    pub attrs: Vec<(String, Value)>,
}

/// The groups of a container.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Groups {
    /// The groups, sorted by their paths.
    pub groups: Vec<Group>,
    /// Descriptions of the attributes that have no value in JSON.
    pub lost: Vec<String>,
}

/// Returns the group of an attribute, as named in descriptions.
fn of_group(path: &str) -> String {
    format!("of the group \"/{path}\"")
}

/// Returns the paths above a key, the root first.
fn above(key: &str) -> impl Iterator<Item = &str> {
    let parents = key.match_indices('/').map(|(at, _)| &key[..at]);
    std::iter::once("").chain(parents)
}

impl Group {
    /// Returns descriptions of the attributes, and of the group itself if it has no arrays.
    fn descriptions(&self, has_arrays: bool) -> Vec<String> {
        let group = of_group(&self.path);
        let attrs = self.attrs.iter().map(|(name, _)| format!("the attribute {name:?} {group}"));
        let empty = format!("the group \"/{}\", which has no arrays", self.path);
        attrs.chain((!has_arrays && !self.path.is_empty()).then_some(empty)).collect()
    }

    /// Whether an array is below the group.
    fn has_arrays(&self, arrays: &[String]) -> bool {
        let start = format!("{}/", self.path);
        arrays.iter().any(|key| self.path.is_empty() || key.starts_with(&start))
    }
}

impl Groups {
    /// Returns the groups of an HDF5 file or of Zarr data, and no groups for other formats.
    /// `arrays` are the keys of the arrays.
    ///
    /// # Errors
    /// The errors of reading the container.
    #[cfg_attr(
        not(any(feature = "hdf5", feature = "zarr")),
        expect(unused_variables, reason = "only these formats have groups")
    )]
    pub fn read(path: &Path, found: &Detected, arrays: &[String]) -> Result<Groups> {
        match found.format {
            #[cfg(feature = "hdf5")]
            Format::Hdf5 => read_hdf5(path, arrays),
            #[cfg(feature = "zarr")]
            Format::Zarr => read_zarr(path, arrays),
            _ => Ok(Groups::default()),
        }
    }

    /// Returns the groups of a store: those that contain the group `key`, itself, and those below.
    /// The root has the attributes of an embed store.
    ///
    /// # Errors
    /// The errors of reading the store.
    pub fn read_store(store: &Store, key: &str) -> store::Result<Groups> {
        let nodes = store.walk(key)?;
        let inner = nodes.iter().filter(|node| node.class == Class::Group);
        let has_root_attrs = matches!(store.kind(), StoreKind::Tree | StoreKind::Embed);
        let key = key.trim_matches('/');
        let paths: BTreeSet<&str> = inner
            .map(|node| node.key.trim_matches('/'))
            .chain(above(key))
            .chain(Some(key).filter(|_| nodes.first().is_some_and(|node| node.key != key)))
            .filter(|path| !path.is_empty() || has_root_attrs)
            .collect();
        let mut groups = Groups::default();
        for path in paths {
            let key = format!("/{path}");
            if !matches!(store.class(&key), Ok(Class::Group)) && !path.is_empty() {
                continue;
            }
            let group = of_group(path);
            let attrs = store.attrs(&key)?;
            let damaged = attrs.damaged.iter();
            groups.lost.extend(
                damaged.map(|(name, error)| format!("the attribute {name:?} {group}: {error}")),
            );
            let mut description = Description::default();
            for (name, value) in attrs.entries {
                let content = match value {
                    store::Value::Raw(bytes) => bytes,
                    value => value.encode()?,
                };
                description.add(name, &content);
            }
            let unmapped = description.unmapped.iter();
            groups.lost.extend(
                unmapped.map(|name| {
                    format!("the attribute {name:?} {group}, which has no value in JSON")
                }),
            );
            groups.groups.push(Group { path: path.to_owned(), attrs: description.attrs });
        }
        Ok(groups)
    }

    /// Returns descriptions of all attributes and of the groups without arrays, for an output that
    /// has no groups.
    pub fn descriptions(&self, arrays: &[String]) -> Vec<String> {
        let all = self.groups.iter();
        all.flat_map(|group| group.descriptions(group.has_arrays(arrays))).collect()
    }

    /// Returns the attributes of a group.
    fn attrs(&self, path: &str) -> &[(String, Value)] {
        let found = self.groups.iter().find(|group| group.path == path);
        found.map_or(&[], |group| &group.attrs)
    }

    /// Prepares the addition to a container with the groups `existing`: adds the groups that
    /// contain the arrays, and removes the attributes that exist with the same value. An attribute
    /// with another value is replaced if `replaces` is true. Returns descriptions of those that are
    /// not.
    pub fn join(&mut self, existing: &Groups, arrays: &[String], replaces: bool) -> Vec<String> {
        let parents: BTreeSet<&str> = arrays.iter().flat_map(|key| above(key)).collect();
        for path in parents {
            if !self.groups.iter().any(|group| group.path == path) {
                self.groups.push(Group { path: path.to_owned(), attrs: Vec::new() });
            }
        }
        let mut lost = Vec::new();
        for group in &mut self.groups {
            let old = existing.attrs(&group.path);
            let shown = of_group(&group.path);
            group.attrs.retain(|(name, value)| {
                let Some((_, old)) = old.iter().find(|(other, _)| other == name) else {
                    return true;
                };
                let is_equal = old.to_json() == value.to_json();
                if !is_equal && !replaces {
                    lost.push(format!(
                        "the attribute {name:?} {shown}, which has another value there"
                    ));
                }
                !is_equal && replaces
            });
        }
        lost
    }

    /// Writes the groups with their attributes to an HDF5 file. The groups that exist keep their
    /// other attributes. Returns descriptions of the attributes that HDF5 does not support.
    ///
    /// # Errors
    /// The errors of writing.
    #[cfg(feature = "hdf5")]
    pub fn write_hdf5(&self, output: &Path) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        let file = if output.exists() {
            hdf5::File::open_to_change(output)?
        } else {
            hdf5::File::create(output)?
        };
        for group in &self.groups {
            let opened = file.create_group(&group.path)?;
            let shown = of_group(&group.path);
            for (name, value) in &group.attrs {
                match hdf5::attribute_of(value) {
                    Ok(attribute) => opened.set_attribute(name, &attribute)?,
                    Err(why) => lost.push(format!("the attribute {name:?} {shown}, {why}")),
                }
            }
        }
        file.close()?;
        Ok(lost)
    }

    /// Writes the groups with their attributes to a directory of Zarr data. Those that also exist
    /// in another container, to which the directory is added, keep their other attributes.
    ///
    /// # Errors
    /// The errors of writing.
    #[cfg(feature = "zarr")]
    pub fn write_zarr(
        &self,
        output: &Path,
        version: zarr::Version,
        existing: &Groups,
    ) -> Result<()> {
        for group in &self.groups {
            let is_new = |name: &str| group.attrs.iter().all(|(other, _)| other != name);
            let old = existing.attrs(&group.path).iter().filter(|(name, _)| is_new(name));
            let attrs: Vec<_> = old.chain(&group.attrs).cloned().collect();
            zarr::set_group_attributes(output, &group.path, version, &attrs)?;
        }
        Ok(())
    }

    /// Sets the attributes of groups in a store to which all arrays were added. Returns
    /// descriptions of the attributes that the store does not support.
    ///
    /// # Errors
    /// The errors of changing the store.
    pub fn write_store(&self, writer: &mut StoreWriter) -> store::Result<Vec<String>> {
        let mut lost = Vec::new();
        for group in &self.groups {
            let key = format!("/{}", group.path);
            let start = if group.path.is_empty() { key.clone() } else { format!("{key}/") };
            let has_arrays = writer.leaf_keys().any(|key| key.starts_with(&start));
            let has_attrs = match writer.kind() {
                StoreKind::Tree => has_arrays || group.path.is_empty(),
                StoreKind::Embed => group.path.is_empty(),
                _ => false,
            };
            if !has_attrs {
                lost.extend(group.descriptions(has_arrays));
                continue;
            }
            let mut rest = Vec::new();
            for (number, (name, value)) in group.attrs.iter().enumerate() {
                let content = attrs::encode(value).filter(|_| {
                    number < MAX_STORE_ATTRS && name != attrs::DESCRIPTION && !name.contains('\0')
                });
                let set = content.map(store::Value::Raw);
                match set.map(|content| writer.set_attr(&key, name, &content)) {
                    Some(Ok(())) => {}
                    None
                    | Some(Err(store::Error::InvalidName { .. } | store::Error::Limit { .. })) => {
                        rest.push((name.clone(), value.clone()));
                    }
                    Some(Err(error)) => return Err(error),
                }
            }
            if let Some(content) = attrs::description_of(rest) {
                writer.set_attr(&key, attrs::DESCRIPTION, &store::Value::Raw(content))?;
            }
        }
        Ok(lost)
    }
}

#[cfg(feature = "hdf5")]
fn read_hdf5(path: &Path, arrays: &[String]) -> Result<Groups> {
    let Location { path, key } = Location::of(path);
    let key = key.unwrap_or_default();
    let file = super::source::open_file(&path)?;
    let mut paths: BTreeSet<String> =
        arrays.iter().flat_map(|key| above(key)).map(str::to_owned).collect();
    paths.extend(above(&key).map(str::to_owned));
    if file.node(&key)? == hdf5::Node::Group {
        paths.insert(key.clone());
        let found = file.walk(&key)?.into_iter().filter(|(_, node)| *node == hdf5::Node::Group);
        let full = |name: String| if key.is_empty() { name } else { format!("{key}/{name}") };
        paths.extend(found.map(|(name, _)| full(name)));
    }
    let mut groups = Groups::default();
    for path in paths {
        let (attrs, lost) = hdf5::attributes_of(file.group(&path)?.attributes())?;
        let shown = of_group(&path);
        groups.lost.extend(lost.into_iter().map(|lost| format!("{lost}, {shown}")));
        groups.groups.push(Group { path, attrs });
    }
    Ok(groups)
}

#[cfg(feature = "zarr")]
fn read_zarr(path: &Path, arrays: &[String]) -> Result<Groups> {
    let Location { path, key } = Location::of(path);
    let key = key.unwrap_or_default();
    let mut paths: BTreeSet<String> =
        arrays.iter().flat_map(|key| above(key)).map(str::to_owned).collect();
    paths.extend(above(&key).map(str::to_owned));
    paths.extend(zarr::groups_in(&path, &key)?);
    let mut groups = Groups::default();
    for node in paths {
        let attrs = match zarr::attributes(&path, &node) {
            Ok(attrs) => attrs,
            // Directories that only contain arrays have no metadata in version 3.
            Err(zarr::Error::NotFound(_)) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        groups.groups.push(Group { path: node, attrs });
    }
    Ok(groups)
}
