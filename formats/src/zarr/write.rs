//! Arrays that are written, with chunks of Blosc 1.x.

use std::fs;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use super::array::chunk_count;
use super::dtype::{fill_of, fill_of_plain, fill_to, has_byte_order, to_v2, to_v3};
use super::error::{Error, Result};
use super::limits::{MAX_CHUNKS, MAX_ITEM};
use super::metadata::{self, DIMENSIONS, KeyEncoding, Node, join};
use super::storage::{ARRAY_V2, ATTRIBUTES_V2, GROUP_V2, METADATA_V3, Storage, is_valid_path};
use super::version::Version;
use crate::bloscpack::Value;
use crate::numpy::Dtype;
use crate::store::Error as StoreError;
use crate::store::zip::ZipWriter;
use ferroblosc::io::named::{self, NamedFile};
use ferroblosc::os::files;

/// The size of the buffer of a zip file in bytes.
const FILE_BUFFER: usize = 256 << 10;

/// The parameters of Blosc, which are stored in the metadata.
#[derive(Clone, Debug)]
pub struct Compression {
    /// The name of the codec.
    pub cname: String,
    /// The level.
    pub level: u8,
    /// 0, 1 for bytes, 2 for bits.
    pub shuffle: u8,
    /// The block size in bytes; 0 selects it automatically.
    pub blocksize: u64,
}

/// The description of an array to create.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The version of the format.
    pub version: Version,
    /// The shape.
    pub shape: Vec<u64>,
    /// The chunk shape.
    pub chunks: Vec<u64>,
    /// The dtype.
    pub dtype: Dtype,
    /// The fill value, or `None` for zero.
    pub fill_value: Option<Value>,
    /// The attributes.
    pub attrs: Vec<(String, Value)>,
    /// The parameters of Blosc.
    pub compression: Compression,
}

enum Target {
    Directory(PathBuf),
    Zip(Box<ZipWriter<BufWriter<NamedFile>>>),
}

/// An array that is written.
pub struct ArrayWriter {
    target: Target,
    node: String,
    keys: KeyEncoding,
    /// The bytes of the fill value.
    fill: Vec<u8>,
    is_nested: bool,
}

/// Returns the bytes that readers use for a fill value of these bytes, and the value in the metadata.
fn read(dtype: &Dtype, fill: &[u8], version: Version) -> Option<(Vec<u8>, Value)> {
    let shown = fill_to(dtype, fill, version)?;
    Some((fill_of(dtype, &shown)?, shown))
}

/// Returns the bytes that readers use for a fill value, and the value in the metadata, or `None` if
/// it is not a value of the dtype, or the version cannot represent it.
pub fn fill_in(dtype: &Dtype, value: &Value, version: Version) -> Option<(Vec<u8>, Value)> {
    read(dtype, &fill_of_plain(dtype, value)?, version)
}

impl Spec {
    /// Returns the fill value in the metadata and its bytes, which are those that readers use:
    /// zeros if there is none, or if the version cannot represent it.
    fn fill(&self) -> (Value, Vec<u8>) {
        let zeros = vec![0; self.dtype.itemsize() as usize];
        let given = self.fill_value.as_ref();
        let given = given.and_then(|value| fill_in(&self.dtype, value, self.version));
        match given.or_else(|| read(&self.dtype, &zeros, self.version)) {
            Some((fill, shown)) => (shown, fill),
            None => (Value::Null, zeros),
        }
    }

    /// Returns the metadata of version 2: `.zarray` and the attributes.
    fn v2(&self, fill: Value) -> [(&'static str, Value); 2] {
        let Compression { cname, level, shuffle, blocksize } = &self.compression;
        let compressor = Value::object([
            ("blocksize", Value::from(*blocksize)),
            ("clevel", Value::from(u64::from(*level))),
            ("cname", Value::from(cname.as_str())),
            ("id", Value::from("blosc")),
            ("shuffle", Value::from(u64::from(*shuffle))),
        ]);
        let array = Value::object([
            ("chunks", list(&self.chunks)),
            ("compressor", compressor),
            ("dimension_separator", Value::from(".")),
            ("dtype", to_v2(&self.dtype)),
            ("fill_value", fill),
            ("filters", Value::Null),
            ("order", Value::from("C")),
            ("shape", list(&self.shape)),
            ("zarr_format", Value::from(2)),
        ]);
        [(ARRAY_V2, array), (ATTRIBUTES_V2, Value::Object(self.attrs.clone()))]
    }

    /// Returns the metadata of version 3.
    fn v3(&self, fill: Value) -> Result<Value> {
        let dtype = to_v3(&self.dtype).ok_or_else(|| Error::Dtype(self.dtype.text().to_owned()))?;
        let Compression { cname, level, shuffle, blocksize } = &self.compression;
        let shuffle = match shuffle {
            0 => "noshuffle",
            1 => "shuffle",
            _ => "bitshuffle",
        };
        let endian = if self.dtype.is_big_endian() { "big" } else { "little" };
        let endian = has_byte_order(&self.dtype).then(|| ("endian", Value::from(endian)));
        let blosc = [
            ("typesize", Value::from(self.typesize())),
            ("cname", Value::from(cname.as_str())),
            ("clevel", Value::from(u64::from(*level))),
            ("shuffle", Value::from(shuffle)),
            ("blocksize", Value::from(*blocksize)),
        ];
        let mut attrs = self.attrs.clone();
        let names = attrs.iter().position(|(name, value)| {
            let is_name = |name: &Value| matches!(name, Value::Text(_) | Value::Null);
            name == DIMENSIONS
                && matches!(value, Value::List(names)
                    if names.len() == self.shape.len() && names.iter().all(is_name))
        });
        let names = names.map(|at| attrs.remove(at).1);
        let mut entries = vec![
            ("shape", list(&self.shape)),
            ("data_type", dtype),
            ("chunk_grid", named("regular", [("chunk_shape", list(&self.chunks))])),
            ("chunk_key_encoding", named("default", [("separator", Value::from("/"))])),
            ("fill_value", fill),
            ("codecs", Value::List(vec![named("bytes", endian), named("blosc", blosc)])),
            ("attributes", Value::Object(attrs)),
        ];
        entries.extend(names.map(|names| ("dimension_names", names)));
        entries.push(("zarr_format", Value::from(3)));
        entries.push(("node_type", Value::from("array")));
        entries.push(("storage_transformers", Value::List(Vec::new())));
        Ok(Value::object(entries))
    }

    /// Returns the item size for Blosc, which supports at most 255 bytes.
    pub fn typesize(&self) -> u64 {
        Some(self.dtype.itemsize()).filter(|&size| size <= 255).unwrap_or(1)
    }
}

/// Returns the name and the content of the metadata of a group. Version 2 has its attributes in
/// another file.
fn group_document(version: Version, attrs: Vec<(String, Value)>) -> (&'static str, Value) {
    match version {
        Version::V2 => (GROUP_V2, Value::object([("zarr_format", Value::from(2))])),
        Version::V3 => {
            let entries = [
                ("attributes", Value::Object(attrs)),
                ("zarr_format", Value::from(3)),
                ("node_type", Value::from("group")),
            ];
            (METADATA_V3, Value::object(entries))
        }
    }
}

/// Sets the attributes of a group in a directory, which is created if it does not exist.
///
/// # Errors
/// [`Error::Name`] if the path of the group is not valid; [`Error::Storage`].
pub fn set_group_attributes(
    path: &Path,
    node: &str,
    version: Version,
    attrs: &[(String, Value)],
) -> Result<()> {
    if !is_valid_path(node) || files::fault_of_path(node).is_some() {
        return Err(Error::Name(node.to_owned()));
    }
    let folder = if node.is_empty() { path.to_owned() } else { path.join(node) };
    fs::create_dir_all(&folder).map_err(StoreError::storage(&folder))?;
    let (name, document) = group_document(version, attrs.to_vec());
    let mut documents = vec![(name, document)];
    if version == Version::V2 {
        documents.push((ATTRIBUTES_V2, Value::Object(attrs.to_vec())));
    }
    for (name, document) in documents {
        let file = folder.join(name);
        named::write(&file, document.to_json().as_bytes()).map_err(StoreError::storage(&file))?;
    }
    Ok(())
}

/// Checks that no array in a directory is above a node: its metadata would be replaced by those of
/// a group.
fn check_parents(path: &Path, node: &str) -> Result<()> {
    let storage = Storage::open(path)?;
    for parent in parents(node) {
        match metadata::read(&storage, parent) {
            Ok(Node::Group(_)) | Err(Error::NotFound(_)) => {}
            Ok(Node::Array(_)) => return Err(Error::Name(node.to_owned())),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the groups that contain a node, the root first.
fn parents(node: &str) -> impl Iterator<Item = &str> {
    let starts = node.match_indices('/').map(|(at, _)| &node[..at]);
    Some("").filter(|_| !node.is_empty()).into_iter().chain(starts)
}

fn list(lengths: &[u64]) -> Value {
    Value::List(lengths.iter().map(|&len| Value::from(len)).collect())
}

fn named<'a>(name: &str, configuration: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let mut entries = vec![("name", Value::from(name))];
    let configuration: Vec<(&str, Value)> = configuration.into_iter().collect();
    if !configuration.is_empty() {
        entries.push(("configuration", Value::object(configuration)));
    }
    Value::object(entries)
}

impl ArrayWriter {
    /// Creates an array in a new directory, or in a new zip file. `node` is its path in it, empty
    /// for the root; its parents become groups. With a node, the directory can exist and contain
    /// other arrays; groups lose their attributes.
    ///
    /// # Errors
    /// [`Error::Name`] if the path of the node is not valid, or is below an array; [`Error::Dtype`]
    /// if the version does not support the dtype; [`Error::Limit`] for large items and too many
    /// chunks; [`Error::Storage`]; the errors of reading the metadata of existing groups.
    pub fn create(path: &Path, is_zip: bool, node: &str, spec: &Spec) -> Result<ArrayWriter> {
        if !is_valid_path(node) || !is_zip && files::fault_of_path(node).is_some() {
            return Err(Error::Name(node.to_owned()));
        }
        let itemsize = spec.dtype.itemsize();
        if itemsize > MAX_ITEM {
            let why = format!("an item of Zarr has at most {MAX_ITEM} bytes, not {itemsize}");
            return Err(Error::Limit(why));
        }
        let lengths = spec.shape.iter().zip(&spec.chunks);
        let grid: Vec<u64> = lengths.map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let count = chunk_count(&grid);
        if count > MAX_CHUNKS {
            let why = format!("an array of Zarr has at most {MAX_CHUNKS} chunks here, not {count}");
            return Err(Error::Limit(why));
        }
        let (shown, fill) = spec.fill();
        let documents = match spec.version {
            Version::V2 => spec.v2(shown).to_vec(),
            Version::V3 => vec![(METADATA_V3, spec.v3(shown)?)],
        };
        let target = if is_zip {
            let file = NamedFile::create(path).map_err(StoreError::storage(path))?;
            Target::Zip(Box::new(ZipWriter::new(BufWriter::with_capacity(FILE_BUFFER, file), 0)))
        } else {
            // An array is added to a group that exists, but does not replace one.
            if node.is_empty() || !path.is_dir() {
                fs::create_dir(path).map_err(StoreError::storage(path))?;
            }
            if path.join(node).exists() && !node.is_empty() {
                return Err(Error::Name(node.to_owned()));
            }
            check_parents(path, node)?;
            Target::Directory(path.to_owned())
        };
        let is_nested = spec.version == Version::V3;
        let keys =
            KeyEncoding { has_prefix: is_nested, separator: if is_nested { '/' } else { '.' } };
        let mut writer = ArrayWriter { target, node: node.to_owned(), keys, fill, is_nested };
        let (group, format) = group_document(spec.version, Vec::new());
        for parent in parents(node) {
            writer.make_directory(parent)?;
            writer.put(&join(parent, group), format.to_json().as_bytes())?;
        }
        writer.make_directory(node)?;
        for (name, document) in documents {
            writer.put(&join(node, name), document.to_json().as_bytes())?;
        }
        Ok(writer)
    }

    /// Creates a directory and its parents.
    fn make_directory(&self, key: &str) -> Result<()> {
        match &self.target {
            Target::Directory(root) => {
                let path = root.join(key);
                fs::create_dir_all(&path).map_err(StoreError::storage(&path))?;
            }
            Target::Zip(_) => {}
        }
        Ok(())
    }

    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<()> {
        match &mut self.target {
            Target::Directory(root) => {
                let path = root.join(key);
                named::write(&path, bytes).map_err(StoreError::storage(&path))?;
            }
            Target::Zip(writer) => {
                writer.add(key, bytes).map_err(StoreError::storage(Path::new(key)))?;
            }
        }
        Ok(())
    }

    /// Returns the bytes of the fill value.
    pub fn fill(&self) -> &[u8] {
        &self.fill
    }

    /// Whether all items are the fill value. Such chunks are not written.
    pub fn is_empty(&self, items: &[u8]) -> bool {
        items.chunks_exact(self.fill.len()).all(|item| item == self.fill)
    }

    /// Writes a chunk of Blosc 1.x.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn put_chunk(&mut self, index: &[u64], chunk: &[u8]) -> Result<()> {
        let key = join(&self.node, &self.keys.key(index));
        if self.is_nested
            && let Some((directory, _)) = key.rsplit_once('/')
        {
            self.make_directory(directory)?;
        }
        self.put(&key, chunk)
    }

    /// Completes the array.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn finish(self) -> Result<()> {
        if let Target::Zip(writer) = self.target {
            writer.finish().map_err(StoreError::storage(Path::new("the zip file")))?;
        }
        Ok(())
    }
}
