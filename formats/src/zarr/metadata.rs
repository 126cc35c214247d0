//! Metadata of arrays and groups.
//!
//! | version | array | group | attributes |
//! |---|---|---|---|
//! | 2 | `.zarray` | `.zgroup` | `.zattrs` |
//! | 3 | `zarr.json` | `zarr.json` | in `zarr.json` |

use super::codecs::{Codec, Pipeline};
use super::dtype::{self, lengths, text, unsigned};
use super::error::{Error, Result};
use super::limits::{MAX_CHUNK, MAX_CHUNKS, MAX_DIM, MAX_ITEM, MAX_METADATA, MAX_SHARD_CHUNKS};
use super::storage::{ARRAY_V2, ATTRIBUTES_V2, GROUP_V2, METADATA_V3, Storage, is_valid_path};
use crate::bloscpack::Value;
use crate::numpy::Dtype;

/// The names in the metadata of a group of version 3.
const GROUP_NAMES_V3: [&str; 3] = ["zarr_format", "node_type", "attributes"];

/// The names in the metadata of an array of version 3.
const ARRAY_NAMES_V3: [&str; 11] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "storage_transformers",
    "dimension_names",
];

/// The attribute with the names of the dimensions in version 2, as xarray writes it.
pub const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The keys of chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEncoding {
    /// Whether keys start with `c`.
    pub has_prefix: bool,
    /// The separator of the indices.
    pub separator: char,
}

impl KeyEncoding {
    /// Returns the key of a chunk, without the path of the array.
    pub fn key(&self, index: &[u64]) -> String {
        let mut parts: Vec<String> = Vec::new();
        if self.has_prefix {
            parts.push("c".to_owned());
        }
        parts.extend(index.iter().map(u64::to_string));
        if parts.is_empty() {
            parts.push("0".to_owned());
        }
        parts.join(&self.separator.to_string())
    }
}

/// Shards: files with several chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sharding {
    /// The number of chunks of a shard in each dimension.
    pub counts: Vec<u64>,
    /// Whether the index is at the end of the shard, not at its start.
    pub is_at_end: bool,
    /// Whether the index has a checksum.
    pub has_checksum: bool,
}

/// The metadata of an array.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArrayMetadata {
    /// The version of the format, 2 or 3.
    pub version: u8,
    /// The shape.
    pub shape: Vec<u64>,
    /// The chunk shape; in shards that of the chunks in them.
    pub chunks: Vec<u64>,
    /// The dtype.
    pub dtype: Dtype,
    /// The bytes of the fill value, one item.
    pub fill: Vec<u8>,
    /// The fill value in the form of bcolz, if it is not zero and there is such a form.
    pub fill_value: Option<Value>,
    /// The attributes, with the names of the dimensions.
    pub attrs: Vec<(String, Value)>,
    /// The keys of chunks or shards.
    pub keys: KeyEncoding,
    /// The shards, if chunks are in shards.
    pub sharding: Option<Sharding>,
    /// The codecs of a chunk.
    pub pipeline: Pipeline,
}

/// An array or a group.
pub enum Node {
    /// An array.
    Array(Box<ArrayMetadata>),
    /// A group, with its attributes.
    Group(Vec<(String, Value)>),
}

/// The value of a key of a node.
pub fn join(node: &str, name: &str) -> String {
    if node.is_empty() { name.to_owned() } else { format!("{node}/{name}") }
}

/// The reason why metadata are not usable.
enum Fault {
    Invalid(String),
    Unsupported(String),
}

type Parsed<T> = std::result::Result<T, Fault>;

fn invalid<T>(why: impl Into<String>) -> Parsed<T> {
    Err(Fault::Invalid(why.into()))
}

fn unsupported<T>(what: impl Into<String>) -> Parsed<T> {
    Err(Fault::Unsupported(what.into()))
}

/// Returns the value of a required name.
fn required<'v>(value: &'v Value, name: &str) -> Parsed<&'v Value> {
    value.get(name).ok_or_else(|| Fault::Invalid(format!("there is no {name:?}")))
}

/// Reads a document of JSON.
fn document(storage: &Storage, key: &str) -> Result<Option<Value>> {
    let Some(bytes) = storage.get(key, MAX_METADATA)? else {
        return Ok(None);
    };
    match Value::parse(&bytes) {
        Ok(value @ Value::Object(_)) => Ok(Some(value)),
        Ok(_) => {
            let why = "it is not a JSON object".to_owned();
            Err(Error::Metadata { key: key.to_owned(), why })
        }
        Err(error) => Err(Error::Metadata { key: key.to_owned(), why: error.to_string() }),
    }
}

/// Returns the entries of a document.
fn entries(document: Option<Value>) -> Vec<(String, Value)> {
    match document {
        Some(Value::Object(entries)) => entries,
        _ => Vec::new(),
    }
}

/// Returns the attributes in the metadata of version 3.
fn attributes_in(value: &Value) -> Parsed<Vec<(String, Value)>> {
    match value.get("attributes") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(entries)) => Ok(entries.clone()),
        Some(_) => invalid("\"attributes\" is not an object"),
    }
}

/// Fails for an extension of version 3, under another name than these, that readers must not ignore.
fn check_names(value: &Value, known: &[&str]) -> Parsed<()> {
    let Value::Object(entries) = value else {
        return Ok(());
    };
    for (name, extension) in entries {
        let can_be_ignored = matches!(extension, Value::Null)
            || matches!(extension.get("must_understand"), Some(Value::Bool(false)));
        if !known.contains(&name.as_str()) && !can_be_ignored {
            return unsupported(format!("the extension {name:?}"));
        }
    }
    Ok(())
}

/// Reads the metadata of an array or a group. If there are both versions, version 3 counts.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Metadata`]; [`Error::Unsupported`]; the errors of
/// [`Storage::get`].
pub fn read(storage: &Storage, node: &str) -> Result<Node> {
    if !is_valid_path(node) {
        return Err(Error::NotFound(node.to_owned()));
    }
    let named = |key: String| {
        move |fault| match fault {
            Fault::Invalid(why) => Error::Metadata { key, why },
            Fault::Unsupported(what) => Error::Unsupported { key, what },
        }
    };
    let key = join(node, METADATA_V3);
    if let Some(found) = document(storage, &key)? {
        if found.get("zarr_format").and_then(unsigned) != Some(3) {
            return Err(named(key)(Fault::Unsupported("this version of the format".to_owned())));
        }
        return match found.get("node_type").and_then(text) {
            Some("array") => {
                let array = of_v3(&found).map_err(named(key))?;
                Ok(Node::Array(Box::new(array)))
            }
            Some("group") => {
                let attrs =
                    check_names(&found, &GROUP_NAMES_V3).and_then(|()| attributes_in(&found));
                Ok(Node::Group(attrs.map_err(named(key))?))
            }
            _ => Err(named(key)(Fault::Invalid("the node type is unknown".to_owned()))),
        };
    }
    let key = join(node, ARRAY_V2);
    if let Some(found) = document(storage, &key)? {
        let attrs = document(storage, &join(node, ATTRIBUTES_V2))?;
        let array = of_v2(&found, entries(attrs)).map_err(named(key))?;
        return Ok(Node::Array(Box::new(array)));
    }
    if document(storage, &join(node, GROUP_V2))?.is_some() {
        let attrs = document(storage, &join(node, ATTRIBUTES_V2))?;
        return Ok(Node::Group(entries(attrs)));
    }
    Err(Error::NotFound(node.to_owned()))
}

/// Whether there is an array or a group.
pub fn is_node(storage: &Storage, node: &str) -> bool {
    [METADATA_V3, ARRAY_V2, GROUP_V2].iter().any(|name| storage.has(&join(node, name)))
}

/// Checks the shapes, and returns the chunk shape; chunks of an empty dimension have one item.
fn checked(shape: &[u64], chunks: Vec<u64>, itemsize: u64) -> Parsed<Vec<u64>> {
    if shape.len() != chunks.len() {
        return invalid("the array and its chunks have different numbers of dimensions");
    }
    if shape.len() > MAX_DIM {
        return unsupported(format!("an array of more than {MAX_DIM} dimensions"));
    }
    if itemsize > MAX_ITEM {
        return unsupported(format!("an item of more than {MAX_ITEM} bytes"));
    }
    let mut checked = chunks;
    for (chunk, &len) in checked.iter_mut().zip(shape) {
        match (*chunk, len) {
            (0, 0) => *chunk = 1,
            (0, _) => return invalid("a chunk has no items"),
            _ => {}
        }
    }
    let bytes = checked.iter().try_fold(itemsize, |bytes, &len| bytes.checked_mul(len));
    if bytes.is_none_or(|bytes| bytes > MAX_CHUNK) {
        return unsupported(format!("a chunk of more than {MAX_CHUNK} bytes"));
    }
    let mut count = 1_u64;
    for (&chunk, &len) in checked.iter().zip(shape) {
        count = count.saturating_mul(len.div_ceil(chunk));
    }
    if count > MAX_CHUNKS {
        return unsupported(format!("an array of more than {MAX_CHUNKS} chunks"));
    }
    let items = shape.iter().try_fold(itemsize, |bytes, &len| bytes.checked_mul(len));
    if items.is_none_or(|bytes| i64::try_from(bytes).is_err()) && !shape.contains(&0) {
        return invalid("the shape is too large");
    }
    Ok(checked)
}

fn fill_of(dtype: &Dtype, value: &Value) -> Parsed<(Vec<u8>, Option<Value>)> {
    let Some(fill) = dtype::fill_of(dtype, value) else {
        return invalid(format!("the fill value {} does not fit the dtype", value.to_json()));
    };
    let is_zero = fill.iter().all(|&byte| byte == 0);
    let shown = if is_zero { None } else { dtype::plain_fill(dtype, &fill) };
    Ok((fill, shown))
}

fn separator_of(value: Option<&Value>, default: char) -> Parsed<char> {
    match value.map(text) {
        None => Ok(default),
        Some(Some("/")) => Ok('/'),
        Some(Some(".")) => Ok('.'),
        Some(_) => invalid("the separator of the dimensions is neither \".\" nor \"/\""),
    }
}

fn shape_in(value: &Value, name: &str) -> Parsed<Vec<u64>> {
    match lengths(required(value, name)?) {
        Some(shape) => Ok(shape),
        None => invalid(format!("{name:?} is not a list of lengths")),
    }
}

/// Parses `.zarray`.
fn of_v2(value: &Value, attrs: Vec<(String, Value)>) -> Parsed<ArrayMetadata> {
    if required(value, "zarr_format").map(unsigned)? != Some(2) {
        return unsupported("this version of the format");
    }
    let described = required(value, "dtype")?;
    let Some(dtype) = dtype::of_v2(described) else {
        return unsupported(format!("the dtype {}", described.to_json()));
    };
    let shape = shape_in(value, "shape")?;
    let chunks = checked(&shape, shape_in(value, "chunks")?, dtype.itemsize())?;
    let (fill, fill_value) = fill_of(&dtype, value.get("fill_value").unwrap_or(&Value::Null))?;
    let mut pipeline = Pipeline::default();
    if !pipeline.set_order(required(value, "order")?, shape.len()) {
        return invalid("the order is neither \"C\" nor \"F\"");
    }
    let mut list = Vec::new();
    match value.get("filters") {
        None | Some(Value::Null) => {}
        Some(Value::List(filters)) => list.extend(filters),
        Some(_) => return invalid("\"filters\" is not a list"),
    }
    list.extend(value.get("compressor").filter(|value| !matches!(value, Value::Null)));
    let mut named = Vec::new();
    for codec in list {
        let Some(name) = codec.get("id").and_then(text) else {
            return invalid("a codec has no name");
        };
        named.push((name, Some(codec)));
    }
    pipeline.codecs = Pipeline::codecs_of(named).map_err(Fault::Unsupported)?;
    let separator = separator_of(value.get("dimension_separator"), '.')?;
    Ok(ArrayMetadata {
        version: 2,
        shape,
        chunks,
        dtype,
        fill,
        fill_value,
        attrs,
        keys: KeyEncoding { has_prefix: false, separator },
        sharding: None,
        pipeline,
    })
}

/// Returns the name and the configuration of an extension point.
fn named_of<'v>(value: &'v Value, kind: &str) -> Parsed<(&'v str, Option<&'v Value>)> {
    let name = match value {
        Value::Text(name) => Some(name.as_str()),
        other => other.get("name").and_then(text),
    };
    match name {
        Some(name) => Ok((name, value.get("configuration"))),
        None => invalid(format!("the {kind} has no name")),
    }
}

/// The parts of a list of codecs: the pipeline, the byte order, and the configuration of shards.
struct CodecList<'v> {
    pipeline: Pipeline,
    is_big_endian: bool,
    sharding: Option<&'v Value>,
}

fn codecs_in(value: &Value, ndim: usize) -> Parsed<CodecList<'_>> {
    let Value::List(items) = value else {
        return invalid("\"codecs\" is not a list");
    };
    let mut list =
        CodecList { pipeline: Pipeline::default(), is_big_endian: false, sharding: None };
    let mut of_bytes = Vec::new();
    let mut has_bytes = false;
    for item in items {
        let (name, configuration) = named_of(item, "codec")?;
        let get = |key: &str| configuration.and_then(|configuration| configuration.get(key));
        match name {
            "transpose" if !has_bytes && list.pipeline.order.is_none() => {
                let order = get("order").unwrap_or(&Value::Null);
                if !list.pipeline.set_order(order, ndim) {
                    return invalid(
                        "the order of \"transpose\" does not contain each dimension once",
                    );
                }
            }
            "bytes" if !has_bytes => {
                has_bytes = true;
                list.is_big_endian = match get("endian").and_then(text) {
                    None | Some("little") => false,
                    Some("big") => true,
                    Some(_) => return invalid("the byte order is neither \"little\" nor \"big\""),
                };
            }
            "sharding_indexed" if !has_bytes => {
                has_bytes = true;
                list.sharding = Some(configuration.unwrap_or(&Value::Null));
            }
            _ if has_bytes => of_bytes.push((name, configuration)),
            name => return unsupported(format!("the codec {name:?} before \"bytes\"")),
        }
    }
    if !has_bytes {
        return invalid("there is no codec \"bytes\"");
    }
    list.pipeline.codecs = Pipeline::codecs_of(of_bytes).map_err(Fault::Unsupported)?;
    Ok(list)
}

/// Parses the configuration of shards of this shape, and returns the chunk shape, the codecs of the
/// chunks and the layout of the shards.
fn sharding_of(value: &Value, shard: &[u64]) -> Parsed<(Vec<u64>, Sharding)> {
    let chunks = shape_in(value, "chunk_shape")?;
    if shard.contains(&0) {
        return invalid("a shard has no items");
    }
    let divides = |(&chunk, &len): (&u64, &u64)| chunk > 0 && len.is_multiple_of(chunk);
    if chunks.len() != shard.len() || !chunks.iter().zip(shard).all(divides) {
        return invalid("the chunks do not divide the shard");
    }
    let counts: Vec<u64> = chunks.iter().zip(shard).map(|(chunk, len)| len / chunk).collect();
    let count = counts.iter().try_fold(1_u64, |count, &len| count.checked_mul(len));
    if count.is_none_or(|count| count > MAX_SHARD_CHUNKS) {
        return unsupported(format!("a shard of more than {MAX_SHARD_CHUNKS} chunks"));
    }
    let index = codecs_in(required(value, "index_codecs")?, shard.len() + 1)?;
    let has_checksum = match index.pipeline.codecs.as_slice() {
        [] => false,
        [Codec::Crc32c] => true,
        _ => return unsupported("a compressed index of a shard"),
    };
    if index.is_big_endian || index.sharding.is_some() || index.pipeline.order.is_some() {
        return unsupported("this encoding of the index of a shard");
    }
    let is_at_end = match value.get("index_location").map(text) {
        None | Some(Some("end")) => true,
        Some(Some("start")) => false,
        Some(_) => return invalid("the index of a shard is neither at the start nor at the end"),
    };
    Ok((chunks, Sharding { counts, is_at_end, has_checksum }))
}

/// Parses `zarr.json` of an array.
fn of_v3(value: &Value) -> Parsed<ArrayMetadata> {
    check_names(value, &ARRAY_NAMES_V3)?;
    let shape = shape_in(value, "shape")?;
    let (grid, configuration) = named_of(required(value, "chunk_grid")?, "chunk grid")?;
    if grid != "regular" {
        return unsupported(format!("the chunk grid {grid:?}"));
    }
    let outer = shape_in(configuration.unwrap_or(&Value::Null), "chunk_shape")?;
    if let Some(Value::List(transformers)) = value.get("storage_transformers")
        && !transformers.is_empty()
    {
        return unsupported("a storage transformer");
    }
    let mut codecs = codecs_in(required(value, "codecs")?, shape.len())?;
    let (mut chunks, mut sharding) = (outer.clone(), None);
    if let Some(configuration) = codecs.sharding {
        if codecs.pipeline != Pipeline::default() {
            return unsupported("a codec of whole shards");
        }
        let (inner, found) = sharding_of(configuration, &outer)?;
        codecs = codecs_in(required(configuration, "codecs")?, shape.len())?;
        if codecs.sharding.is_some() {
            return unsupported("a shard in a shard");
        }
        (chunks, sharding) = (inner, Some(found));
    }
    let described = required(value, "data_type")?;
    let Some(dtype) = dtype::of_v3(described, codecs.is_big_endian) else {
        return unsupported(format!("the data type {}", described.to_json()));
    };
    let chunks = checked(&shape, chunks, dtype.itemsize())?;
    let (fill, fill_value) = fill_of(&dtype, required(value, "fill_value")?)?;
    let (name, configuration) = named_of(required(value, "chunk_key_encoding")?, "key encoding")?;
    let separator = configuration.and_then(|configuration| configuration.get("separator"));
    let keys = match name {
        "default" => KeyEncoding { has_prefix: true, separator: separator_of(separator, '/')? },
        "v2" => KeyEncoding { has_prefix: false, separator: separator_of(separator, '.')? },
        other => return unsupported(format!("the key encoding {other:?}")),
    };
    let mut attrs = attributes_in(value)?;
    if let Some(names @ Value::List(_)) = value.get("dimension_names") {
        attrs.retain(|(name, _)| name != DIMENSIONS);
        attrs.push((DIMENSIONS.to_owned(), names.clone()));
    }
    Ok(ArrayMetadata {
        version: 3,
        shape,
        chunks,
        dtype,
        fill,
        fill_value,
        attrs,
        keys,
        sharding,
        pipeline: codecs.pipeline,
    })
}
