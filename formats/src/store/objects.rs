//! Arrays of Python objects: ObjectArray, BatchArray and ListArray.
//!
//! | class | fixed metalayers | chunk |
//! |---|---|---|
//! | ObjectArray | `vlarray` | one item, in MessagePack |
//! | BatchArray | `batcharray` | a batch; each block is a MessagePack array of items |
//! | ListArray | `listarray` and one of the above | a list, or a batch of lists |
//!
//! The chunks of batches have blocks of variable length. The recorded lengths of batches are not
//! used: an item is found by the lengths of the arrays in the blocks.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use ferroblosc::chunk::{BasicHeader, vl_nblocks};
use ferroblosc::schunk::{SChunk, chunks};

use super::class::{BATCHES, LISTS, OBJECTS};
use super::error::{Error, Result};
use super::leaf::Leaf;
use super::limits::Options;
use super::value::{Fault, MAX_VALUE_SIZE, Value};
use super::{Attrs, Class};

/// The vlmeta with the lengths of the batches, which is not an attribute.
const BATCH_LENGTHS: &str = "_batch_array_metadata";
const MSGPACK: &str = "msgpack";

/// An array of Python objects. Items are counted from 0.
pub struct Objects {
    key: String,
    class: Class,
    schunk: SChunk,
    is_batched: bool,
    serializer: String,
    spec: Option<Value>,
    limit: u64,
    /// The blocks of the batches before the first one that was not examined.
    blocks: Mutex<Blocks>,
}

/// A block of a batch.
#[derive(Clone, Copy)]
struct Block {
    batch: i64,
    nblock: i64,
    /// The number of its first item.
    first: u64,
}

#[derive(Default)]
struct Blocks {
    known: Vec<Block>,
    /// The number of items in the known blocks.
    items: u64,
    /// The number of batches that were examined.
    batches: i64,
}

impl Objects {
    pub(super) fn open(leaf: Leaf, options: &Options) -> Result<Objects> {
        let (key, class) = (leaf.key().to_owned(), leaf.class());
        if !matches!(class, Class::ObjectArray | Class::BatchArray | Class::ListArray) {
            if !class.has_values() {
                return Err(Error::NotData { key, class: class.name() });
            }
            let wanted = "ObjectArray, BatchArray or ListArray";
            return Err(Error::WrongClass { key, found: class.name(), wanted });
        }
        let schunk = leaf.into_schunk();
        let layer = |name: &str| match schunk.metalayer(name) {
            None => Ok(None),
            Some(content) => match Value::decode(&content) {
                Some(value @ Value::Map(_)) => Ok(Some(value)),
                _ => Err(Error::damaged(&key, format!("the metalayer {name:?} is not a map"))),
            },
        };
        let (spec, batches, objects) = (layer(LISTS)?, layer(BATCHES)?, layer(OBJECTS)?);
        let is_batched = batches.is_some() && objects.is_none();
        let Some(description) = objects.or(batches) else {
            return Err(Error::damaged(&key, "the array of lists has no storage"));
        };
        let serializer = description.get("serializer").and_then(Value::as_str);
        Ok(Objects {
            serializer: serializer.unwrap_or(MSGPACK).to_owned(),
            class,
            schunk,
            is_batched,
            spec,
            limit: options.max_message,
            blocks: Mutex::default(),
            key,
        })
    }

    /// Returns the class: an ObjectArray, a BatchArray or a ListArray.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Whether the items are stored in batches.
    pub fn is_batched(&self) -> bool {
        self.is_batched
    }

    /// Returns the name of the encoding of items: `msgpack` or `arrow`.
    pub fn serializer(&self) -> &str {
        &self.serializer
    }

    /// Returns the description of the items of a ListArray, as stored.
    pub fn spec(&self) -> Option<&Value> {
        self.spec.as_ref()
    }

    /// Returns the attributes.
    pub fn attrs(&self) -> Attrs {
        Attrs::read(&self.key, &self.schunk, &[BATCH_LENGTHS])
    }

    /// Returns the super-chunk, for its sizes.
    pub fn schunk(&self) -> &SChunk {
        &self.schunk
    }

    /// Returns the number of batches, which is 0 if the items are not stored in batches.
    pub fn nbatches(&self) -> u64 {
        if self.is_batched { self.nchunks() } else { 0 }
    }

    fn nchunks(&self) -> u64 {
        self.schunk.nchunks().max(0).unsigned_abs()
    }

    /// Returns the number of items. Batches are decompressed once to count them.
    ///
    /// # Errors
    /// As [`Objects::items`].
    pub fn len(&self) -> Result<u64> {
        if !self.is_batched {
            return Ok(self.nchunks());
        }
        self.check_serializer()?;
        self.examine(u64::MAX)?;
        Ok(self.lock().items)
    }

    /// Whether there is an item of this number. Only the batches up to it are counted.
    ///
    /// # Errors
    /// As [`Objects::items`].
    pub(super) fn has(&self, number: u64) -> Result<bool> {
        if !self.is_batched {
            return Ok(number < self.nchunks());
        }
        self.check_serializer()?;
        self.examine(number)?;
        Ok(number < self.lock().items)
    }

    /// Whether there are no items.
    ///
    /// # Errors
    /// As [`Objects::items`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(!self.has(0)?)
    }

    /// Returns the items in a range of numbers.
    ///
    /// # Errors
    /// - [`Error::OutOfRange`] if the items do not all exist;
    /// - [`Error::Unsupported`] if they are encoded with Arrow;
    /// - [`Error::Damaged`] or [`Error::Frame`] if a batch or an item is damaged;
    /// - [`Error::Limit`] if a batch or an item is too large; [`Error::Memory`].
    pub fn items(&self, range: Range<u64>) -> Result<Vec<Value>> {
        self.check_serializer()?;
        if range.start > range.end {
            return Err(self.out_of_range(range, self.len()?));
        }
        if range.is_empty() {
            return Ok(Vec::new());
        }
        if !self.is_batched {
            if range.end > self.nchunks() {
                return Err(self.out_of_range(range, self.nchunks()));
            }
            return range.map(|number| self.object(number)).collect();
        }
        self.examine(range.end - 1)?;
        let (from, len) = {
            let blocks = self.lock();
            (blocks.known.partition_point(|block| block.first <= range.start), blocks.items)
        };
        if range.end > len {
            return Err(self.out_of_range(range, len));
        }
        let mut items = Vec::new();
        // The block before the first one that starts after the first item contains it.
        for at in from.saturating_sub(1).. {
            let Some(block) = self.lock().known.get(at).copied() else {
                break;
            };
            if block.first >= range.end {
                break;
            }
            let values = self.block_items(block.batch, block.nblock)?;
            let skipped = usize::try_from(range.start.saturating_sub(block.first)).unwrap_or(0);
            let wanted = usize::try_from(range.end - block.first).unwrap_or(usize::MAX);
            items.extend(values.into_iter().take(wanted).skip(skipped));
        }
        Ok(items)
    }

    /// Returns the items of a batch.
    ///
    /// # Errors
    /// - [`Error::OutOfRange`] if there is no such batch, or if there are no batches;
    /// - as [`Objects::items`].
    pub fn batch(&self, number: u64) -> Result<Vec<Value>> {
        self.check_serializer()?;
        let batch = self.checked_batch(number)?;
        let mut items = Vec::new();
        for nblock in 0..self.nblocks(batch)? {
            items.extend(self.block_items(batch, nblock)?);
        }
        Ok(items)
    }

    /// Returns the blocks of a batch without decoding them, for any encoding.
    ///
    /// # Errors
    /// As [`Objects::batch`].
    pub fn raw_batch(&self, number: u64) -> Result<Vec<Vec<u8>>> {
        let batch = self.checked_batch(number)?;
        (0..self.nblocks(batch)?).map(|nblock| self.block(batch, nblock)).collect()
    }

    fn checked_batch(&self, number: u64) -> Result<i64> {
        match i64::try_from(number) {
            Ok(batch) if number < self.nbatches() => Ok(batch),
            _ => Err(self.out_of_range(number..number.saturating_add(1), self.nbatches())),
        }
    }

    fn check_serializer(&self) -> Result<()> {
        if self.serializer == MSGPACK {
            return Ok(());
        }
        let why = format!("items encoded with {:?} are not decoded", self.serializer);
        Err(Error::Unsupported { key: self.key.clone(), why })
    }

    fn out_of_range(&self, range: Range<u64>, len: u64) -> Error {
        Error::OutOfRange { start: range.start, end: range.end, len }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the items of batches until item `number` is in an examined one.
    fn examine(&self, number: u64) -> Result<()> {
        let mut blocks = self.lock();
        while blocks.items <= number && blocks.batches < self.schunk.nchunks() {
            let batch = blocks.batches;
            let mut first = blocks.items;
            let known = blocks.known.len();
            for nblock in 0..self.nblocks(batch)? {
                let len = match self.block(batch, nblock).and_then(|block| {
                    array_len(&block).ok_or_else(|| self.damaged_block(batch, nblock))
                }) {
                    Ok(len) => len,
                    Err(error) => {
                        blocks.known.truncate(known);
                        return Err(error);
                    }
                };
                blocks.known.try_reserve(1)?;
                blocks.known.push(Block { batch, nblock, first });
                first += u64::from(len);
            }
            (blocks.items, blocks.batches) = (first, batch + 1);
        }
        Ok(())
    }

    fn damaged_block(&self, batch: i64, nblock: i64) -> Error {
        let why = format!("block {nblock} of batch {batch} is not an array in MessagePack");
        Error::damaged(&self.key, why)
    }

    /// Returns the number of blocks of a batch, after checking its size.
    fn nblocks(&self, batch: i64) -> Result<i64> {
        let chunk =
            chunks::lazy_chunk(self.schunk.state(), batch).map_err(Error::frame(&self.key))?;
        let header = BasicHeader::parse(&chunk).map_err(Error::frame(&self.key))?;
        self.check_size(&format!("batch {batch}"), header.nbytes)?;
        let nblocks = vl_nblocks(&chunk).map_err(|_| {
            let why = format!("batch {batch} is not a chunk with blocks of variable length");
            Error::damaged(&self.key, why)
        })?;
        Ok(nblocks.into())
    }

    fn check_size(&self, what: &str, nbytes: i32) -> Result<()> {
        let size = u64::from(nbytes.max(0).unsigned_abs());
        if size > self.limit {
            let what = format!("{}: {what} has {size} bytes", self.key);
            return Err(Error::Limit { what, limit: self.limit });
        }
        Ok(())
    }

    fn block(&self, batch: i64, nblock: i64) -> Result<Vec<u8>> {
        self.schunk.vl_block(batch, nblock).map_err(Error::frame(&self.key))
    }

    fn block_items(&self, batch: i64, nblock: i64) -> Result<Vec<Value>> {
        let what = || format!("block {nblock} of batch {batch}");
        match self.decode(&self.block(batch, nblock)?, what)? {
            Some(Value::List(items)) => Ok(items),
            // The items of a block that start with the mark of tuples.
            Some(Value::Tuple(items)) => {
                let mark = Value::Str("__tuple__".to_owned());
                Ok(std::iter::once(mark).chain(items).collect())
            }
            _ => Err(self.damaged_block(batch, nblock)),
        }
    }

    /// Returns the item of a chunk.
    fn object(&self, number: u64) -> Result<Value> {
        let nchunk = i64::try_from(number).map_err(|_| Error::Memory)?;
        let chunk =
            chunks::lazy_chunk(self.schunk.state(), nchunk).map_err(Error::frame(&self.key))?;
        let nbytes = BasicHeader::parse(&chunk).map_err(Error::frame(&self.key))?.nbytes;
        drop(chunk);
        self.check_size(&format!("item {number}"), nbytes)?;
        let mut bytes = Vec::new();
        let size = usize::try_from(nbytes).map_err(|_| Error::Memory)?;
        bytes.try_reserve_exact(size)?;
        bytes.resize(size, 0);
        self.schunk.decompress(nchunk, &mut bytes).map_err(Error::frame(&self.key))?;
        let why = || format!("item {number} is not a MessagePack value");
        let value = self.decode(&bytes, || format!("item {number}"))?;
        value.ok_or_else(|| Error::damaged(&self.key, why()))
    }

    /// Decodes a message; returns `None` if it is not a MessagePack value.
    fn decode(&self, bytes: &[u8], what: impl Fn() -> String) -> Result<Option<Value>> {
        match Value::decode_limited(bytes, self.limit / MAX_VALUE_SIZE) {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Invalid) => Ok(None),
            Err(Fault::TooMany) => {
                let what = format!("{}: {} has too many values", self.key, what());
                Err(Error::Limit { what, limit: self.limit })
            }
        }
    }
}

/// Returns the length of the MessagePack array that starts with `bytes`. Each item has at least one
/// byte.
fn array_len(bytes: &[u8]) -> Option<u32> {
    let (len, start) = match *bytes.first()? {
        byte @ 0x90..=0x9f => (u32::from(byte & 0x0f), 1),
        0xdc => (u16::from_be_bytes(bytes.get(1..3)?.try_into().ok()?).into(), 3),
        0xdd => (u32::from_be_bytes(bytes.get(1..5)?.try_into().ok()?), 5),
        _ => return None,
    };
    (u64::from(len) <= (bytes.len() - start) as u64).then_some(len)
}
