//! Arrays that are read, one chunk at a time.

use std::path::Path;

use super::codecs::{Codec, Fault};
use super::error::{Error, Result};
use super::limits::{MAX_CHUNK, max_encoded};
use super::metadata::{self, ArrayMetadata, Node, join};
use super::storage::{Part, Storage};
use crate::bloscpack::Value;
use ferroblosc::blosc1::Engine;

/// The bytes of an entry of the index of a shard: the offset and the length, in 64 bits each.
const ENTRY: u64 = 16;
/// The size of a checksum in bytes.
const CHECKSUM: u64 = 4;

/// The decoded index of a shard.
struct ShardIndex {
    key: String,
    /// The entries, or `None` if there is no shard.
    entries: Option<Vec<u8>>,
}

/// An array that is read.
pub struct Array {
    storage: Storage,
    node: String,
    metadata: ArrayMetadata,
    engine: Engine,
    /// The index of the last shard.
    index: Option<ShardIndex>,
}

impl Array {
    /// Opens an array in a directory or a zip file; `node` is its path in it.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Group`]; [`Error::Metadata`]; [`Error::Unsupported`];
    /// [`Error::Storage`].
    pub fn open(path: &Path, node: &str) -> Result<Array> {
        Array::of(Storage::open(path)?, node)
    }

    fn of(storage: Storage, node: &str) -> Result<Array> {
        match metadata::read(&storage, node)? {
            Node::Array(metadata) => Ok(Array {
                storage,
                node: node.to_owned(),
                metadata: *metadata,
                engine: Engine::default(),
                index: None,
            }),
            Node::Group(_) => Err(Error::Group(node.to_owned())),
        }
    }

    /// Returns the metadata.
    pub fn metadata(&self) -> &ArrayMetadata {
        &self.metadata
    }

    /// Returns the size of all files of the array, in bytes.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn stored_bytes(&self) -> Result<u64> {
        self.storage.stored_bytes(&self.node)
    }

    /// Returns the number of chunks in each dimension.
    pub fn grid(&self) -> Vec<u64> {
        let lengths = self.metadata.shape.iter().zip(&self.metadata.chunks);
        lengths.map(|(len, chunk)| len.div_ceil(*chunk)).collect()
    }

    /// Returns the number of chunks, at most 2²⁴.
    pub fn nchunks(&self) -> u64 {
        chunk_count(&self.grid())
    }

    /// Returns the index of a chunk in each dimension from its number in C order.
    pub fn chunk_index(&self, number: u64) -> Vec<u64> {
        let grid = self.grid();
        let mut index = vec![0; grid.len()];
        let mut rest = number;
        for dim in (0..grid.len()).rev() {
            index[dim] = rest % grid[dim];
            rest /= grid[dim];
        }
        index
    }

    /// Returns the size of a chunk in bytes.
    pub fn chunk_bytes(&self) -> usize {
        let bytes = self.metadata.chunks.iter().product::<u64>() * self.metadata.dtype.itemsize();
        // Opening checks that it is at most `MAX_CHUNK`.
        bytes as usize
    }

    /// Returns the key of a chunk, or of the shard that contains it.
    pub fn key(&self, index: &[u64]) -> String {
        let file: Vec<u64> = match &self.metadata.sharding {
            Some(sharding) => {
                index.iter().zip(&sharding.counts).map(|(index, count)| index / count).collect()
            }
            None => index.to_vec(),
        };
        join(&self.node, &self.metadata.keys.key(&file))
    }

    /// Returns an encoded chunk, or `None` if it is missing: all its items are the fill value.
    ///
    /// # Errors
    /// [`Error::Chunk`] for a damaged shard; [`Error::Storage`]; [`Error::Link`]; [`Error::Limit`].
    pub fn stored_chunk(&mut self, index: &[u64]) -> Result<Option<Vec<u8>>> {
        let key = self.key(index);
        let limit = max_encoded(self.chunk_bytes()) as u64;
        let Some(sharding) = self.metadata.sharding.clone() else {
            return self.storage.get(&key, limit);
        };
        let count: u64 = sharding.counts.iter().product();
        if self.index.as_ref().is_none_or(|index| index.key != key) {
            let len = count * ENTRY + if sharding.has_checksum { CHECKSUM } else { 0 };
            let part =
                if sharding.is_at_end { Part::End(len) } else { Part::At { offset: 0, len } };
            let mut entries = self.storage.get_part(&key, part, MAX_CHUNK)?;
            if let Some(bytes) = entries.as_mut().filter(|_| sharding.has_checksum) {
                let (content, stored) = bytes.split_at((count * ENTRY) as usize);
                if crc32c::crc32c(content).to_le_bytes() != stored {
                    let why = "the CRC-32C of the index of the shard is wrong".to_owned();
                    return Err(Error::Chunk { key, why });
                }
                bytes.truncate((count * ENTRY) as usize);
            }
            self.index = Some(ShardIndex { key: key.clone(), entries });
        }
        let Some(entries) = self.index.as_ref().and_then(|index| index.entries.as_ref()) else {
            return Ok(None);
        };
        let inner = index.iter().zip(&sharding.counts);
        let number = inner.fold(0, |number, (index, count)| number * count + index % count);
        let at = (number * ENTRY) as usize;
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&entries[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let (offset, len) = (word(at), word(at + 8));
        if (offset, len) == (u64::MAX, u64::MAX) {
            return Ok(None);
        }
        if len > limit {
            let why = format!("it has {len} bytes in a shard, and at most {limit} can be valid");
            return Err(Error::Chunk { key, why });
        }
        self.storage.get_part(&key, Part::At { offset, len }, MAX_CHUNK)
    }

    /// Decodes a chunk to its items in C order. Chunks at the edges are complete, too.
    ///
    /// # Errors
    /// [`Error::Chunk`]; [`Error::Memory`].
    pub fn decode(&mut self, index: &[u64], encoded: Vec<u8>) -> Result<Vec<u8>> {
        let ArrayMetadata { pipeline, chunks, dtype, .. } = &self.metadata;
        let shape = (chunks.as_slice(), dtype.itemsize() as usize);
        let decoded = pipeline.decode_chunk(&mut self.engine, encoded, shape);
        decoded.map_err(|fault| match fault {
            Fault::Damaged(why) => Error::Chunk { key: self.key(index), why },
            Fault::Memory => Error::Memory,
        })
    }

    /// Fills a buffer with the fill value.
    pub fn fill(&self, items: &mut [u8]) {
        for item in items.chunks_exact_mut(self.metadata.fill.len()) {
            item.copy_from_slice(&self.metadata.fill);
        }
    }

    /// Whether all bytes of the fill value are zero.
    pub fn is_fill_zero(&self) -> bool {
        self.metadata.fill.iter().all(|&byte| byte == 0)
    }

    /// Returns the codec that compresses, for descriptions: the last one that is not a checksum.
    pub fn compressor(&self) -> Option<&Codec> {
        let mut codecs = self.metadata.pipeline.codecs.iter().rev();
        codecs.find(|codec| !matches!(codec, Codec::Crc32c | Codec::Shuffle(_)))
    }
}

/// Returns the number of chunks of a grid. A grid with an empty dimension has none, regardless of
/// overflow in the others.
pub fn chunk_count(grid: &[u64]) -> u64 {
    if grid.contains(&0) { 0 } else { grid.iter().fold(1, |count, &len| count.saturating_mul(len)) }
}

/// Returns the attributes of an array or a group.
///
/// # Errors
/// The errors of [`Array::open`].
pub fn attributes(path: &Path, node: &str) -> Result<Vec<(String, Value)>> {
    Ok(match metadata::read(&Storage::open(path)?, node)? {
        Node::Array(metadata) => metadata.attrs,
        Node::Group(attrs) => attrs,
    })
}

/// Returns the paths of all arrays in an array or a group: its own if it is an array.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Metadata`]; [`Error::Unsupported`]; [`Error::Storage`];
/// [`Error::Limit`].
pub fn arrays_in(path: &Path, node: &str) -> Result<Vec<String>> {
    let storage = Storage::open(path)?;
    if let Node::Array(_) = metadata::read(&storage, node)? {
        return Ok(vec![node.to_owned()]);
    }
    let mut arrays = Vec::new();
    for name in storage.nodes(node)? {
        match metadata::read(&storage, &name) {
            Ok(Node::Group(_)) => {}
            // Arrays that cannot be read are listed, too.
            Ok(Node::Array(_)) | Err(Error::Unsupported { .. } | Error::Limit(_)) => {
                arrays.push(name);
            }
            Err(error) if error.is_corruption() => arrays.push(name),
            Err(error) => return Err(error),
        }
    }
    Ok(arrays)
}

/// Returns the paths of all groups in a group, and its own; none for an array.
///
/// # Errors
/// The errors of [`arrays_in`].
pub fn groups_in(path: &Path, node: &str) -> Result<Vec<String>> {
    let storage = Storage::open(path)?;
    let mut groups = Vec::new();
    if let Node::Group(_) = metadata::read(&storage, node)? {
        groups.push(node.to_owned());
        for name in storage.nodes(node)? {
            match metadata::read(&storage, &name) {
                Ok(Node::Group(_)) => groups.push(name),
                // `arrays_in` lists them.
                Ok(Node::Array(_)) | Err(Error::Unsupported { .. } | Error::Limit(_)) => {}
                Err(error) if error.is_corruption() => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(groups)
}
