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

use ferroblosc::chunk::{BasicHeader, Decompressor, vl_nblocks};
use ferroblosc::schunk::{SChunk, chunks};

use super::attrs::Attrs;
use super::class::Class;
use super::class::{BATCHES, LISTS, OBJECTS};
use super::error::{Error, Result};
use super::leaf::Leaf;
use super::limits::{Budget, Options};
use super::value::{Fault, MAX_VALUE_SIZE, Value};

/// The name of the encoding in MessagePack.
pub(super) const MSGPACK: &str = "msgpack";
/// The variable-length metalayer with the lengths of the batches.
pub(super) const LENGTHS: &str = "_batch_array_metadata";

/// The number of consecutive blocks after which all blocks of a batch are decompressed together.
const MIN_READ: usize = 8;
/// The maximum size of a batch that is kept in memory, in bytes.
const MAX_RECENT: i32 = 16 << 20;

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
    /// The batch that was read last.
    recent: Mutex<Recent>,
}

/// A block of a batch.
#[derive(Clone, Copy)]
struct Block {
    batch: i64,
    nblock: i64,
    /// The number of its first item.
    first: u64,
}

/// A batch whose blocks are read in their order. Each read of a single block parses the offsets of
/// all blocks, which for many small blocks takes most of the time.
#[derive(Default)]
struct Recent {
    batch: i64,
    /// The number of consecutive blocks that were read last, from the first one on.
    read: usize,
    /// All blocks, once enough of them were read.
    blocks: Vec<Vec<u8>>,
}

#[derive(Default)]
struct Blocks {
    known: Vec<Block>,
    /// The number of items in the known blocks.
    items: u64,
    /// The number of batches that were examined.
    batches: i64,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Objects");
        shown.field("key", &self.key).field("class", &self.class).finish_non_exhaustive()
    }
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
            recent: Mutex::default(),
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
        Attrs::read(&self.key, &self.schunk)
    }

    /// Returns the super-chunk, for its sizes.
    pub fn schunk(&self) -> &SChunk {
        &self.schunk
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn into_schunk(self) -> SChunk {
        self.schunk
    }

    /// Returns the number of items of each batch.
    pub(super) fn batch_lens(&self) -> Result<Vec<u64>> {
        self.check_serializer()?;
        self.examine(u64::MAX)?;
        let blocks = self.lock();
        let count = usize::try_from(self.nbatches()).map_err(|_| Error::Memory)?;
        let mut lens = Vec::new();
        lens.try_reserve_exact(count)?;
        lens.resize(count, 0);
        let ends = blocks.known.iter().skip(1).map(|block| block.first).chain([blocks.items]);
        for (block, end) in blocks.known.iter().zip(ends) {
            if let Some(len) = usize::try_from(block.batch).ok().and_then(|at| lens.get_mut(at)) {
                *len += end - block.first;
            }
        }
        Ok(lens)
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
    /// The errors of [`Objects::items`].
    pub fn len(&self) -> Result<u64> {
        if !self.is_batched {
            return Ok(self.nchunks());
        }
        self.check_serializer()?;
        self.examine(u64::MAX)?;
        Ok(self.lock().items)
    }

    /// Returns the number of items, or `limit` if there are more. Only the batches up to it are
    /// decompressed.
    ///
    /// # Errors
    /// The errors of [`Objects::items`].
    pub fn len_within(&self, limit: u64) -> Result<u64> {
        let Some(last) = limit.checked_sub(1) else {
            return Ok(0);
        };
        if !self.is_batched {
            return Ok(self.nchunks().min(limit));
        }
        self.check_serializer()?;
        self.examine(last)?;
        Ok(self.lock().items.min(limit))
    }

    /// Whether there is an item of this number. Only the batches up to it are counted.
    ///
    /// # Errors
    /// The errors of [`Objects::items`].
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
    /// The errors of [`Objects::items`].
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
            return self.pick(range, &mut Budget::new(self.limit));
        }
        self.examine(range.end - 1)?;
        let len = self.lock().items;
        if range.end > len {
            return Err(self.out_of_range(range, len));
        }
        self.pick(range, &mut Budget::new(self.limit))
    }

    /// Returns the items of these numbers, which are ascending, exist and are in examined batches.
    /// Each block is decoded once.
    pub(super) fn pick(
        &self,
        numbers: impl IntoIterator<Item = u64>,
        budget: &mut Budget,
    ) -> Result<Vec<Value>> {
        self.check_serializer()?;
        let mut items = Vec::new();
        let mut keep = |item: Value, budget: &mut Budget| -> Result<()> {
            budget.charge(Some(item.memory()), || self.too_large())?;
            items.try_reserve(1)?;
            items.push(item);
            Ok(())
        };
        // The block of the last item: the number of its first item, and its items that follow.
        let mut decoded: Option<(Range<u64>, std::vec::IntoIter<Value>)> = None;
        for number in numbers {
            if !self.is_batched {
                keep(self.object(number, &mut budget.clone())?, budget)?;
                continue;
            }
            let (mut place, mut values) = match decoded.take() {
                Some((place, values)) if place.contains(&number) => (place, values),
                _ => {
                    let block = self.block_of(number)?;
                    let values =
                        self.block_items(block.batch, block.nblock, &mut budget.clone())?;
                    (block.first..block.first + values.len() as u64, values.into_iter())
                }
            };
            let skipped = usize::try_from(number - place.start).map_err(|_| Error::Memory)?;
            let Some(item) = values.nth(skipped) else {
                return Err(self.out_of_range(number..number + 1, place.end));
            };
            keep(item, budget)?;
            place.start = number + 1;
            decoded = Some((place, values));
        }
        Ok(items)
    }

    /// Returns the block with an item, which is in an examined batch.
    fn block_of(&self, number: u64) -> Result<Block> {
        let blocks = self.lock();
        // The last block that starts at or before the item: blocks can be empty.
        let after = blocks.known.partition_point(|block| block.first <= number);
        match after.checked_sub(1).and_then(|at| blocks.known.get(at)) {
            Some(block) if number < blocks.items => Ok(*block),
            _ => Err(self.out_of_range(number..number.saturating_add(1), blocks.items)),
        }
    }

    fn too_large(&self) -> String {
        format!("{}: the items are too large together", self.key)
    }

    /// Compares the sum of the uncompressed sizes of all chunks with the limit, without
    /// decompressing them.
    pub(super) fn check_total(&self) -> Result<()> {
        let mut budget = Budget::new(self.limit);
        for nchunk in 0..self.schunk.nchunks() {
            let chunk =
                chunks::lazy_chunk(self.schunk.state(), nchunk).map_err(Error::frame(&self.key))?;
            let nbytes = BasicHeader::parse(&chunk).map_err(Error::frame(&self.key))?.nbytes;
            // An item of a chunk without bytes needs memory as well.
            let size = nbytes.max(1).unsigned_abs().into();
            budget.charge(Some(size), || self.too_large())?;
        }
        Ok(())
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
        let mut budget = Budget::new(self.limit);
        for nblock in 0..self.nblocks(batch)? {
            items.extend(self.block_items(batch, nblock, &mut budget)?);
        }
        Ok(items)
    }

    /// Returns the blocks of a batch without decoding them, for any encoding.
    ///
    /// # Errors
    /// The errors of [`Objects::batch`].
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
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(nblock).unwrap_or(usize::MAX);
        if recent.batch != batch {
            *recent = Recent { batch, ..Recent::default() };
        }
        if recent.read == at {
            recent.read += 1;
            if recent.read == MIN_READ {
                recent.blocks = self.small_batch(batch).unwrap_or_default();
            }
        }
        if let Some(block) = recent.blocks.get(at) {
            return Ok(block.clone());
        }
        drop(recent);
        self.schunk.vl_block(batch, nblock).map_err(Error::frame(&self.key))
    }

    /// Returns all blocks of a batch of at most [`MAX_RECENT`] bytes that has no error.
    fn small_batch(&self, batch: i64) -> Option<Vec<Vec<u8>>> {
        let chunk = self.schunk.chunk(batch).ok()?;
        let header = BasicHeader::parse(&chunk).ok()?;
        if header.nbytes > MAX_RECENT {
            return None;
        }
        let mut decompressor = Decompressor::default();
        decompressor.vl_decompress(&chunk).ok()
    }

    fn block_items(&self, batch: i64, nblock: i64, budget: &mut Budget) -> Result<Vec<Value>> {
        let what = || format!("block {nblock} of batch {batch}");
        match self.decode(&self.block(batch, nblock)?, budget, what)? {
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
    fn object(&self, number: u64, budget: &mut Budget) -> Result<Value> {
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
        let value = self.decode(&bytes, budget, || format!("item {number}"))?;
        value.ok_or_else(|| Error::damaged(&self.key, why()))
    }

    /// Decodes a message; returns `None` if it is not a MessagePack value. Its values and bytes use
    /// the budget.
    fn decode(
        &self,
        bytes: &[u8],
        budget: &mut Budget,
        what: impl Fn() -> String,
    ) -> Result<Option<Value>> {
        let limit = || format!("{}: {} has too many values", self.key, what());
        budget.charge(Some(bytes.len() as u64), limit)?;
        let max_values = budget.left() / MAX_VALUE_SIZE;
        let mut left = max_values;
        match Value::decode_within(bytes, &mut left) {
            Ok(value) => {
                budget.charge(Some((max_values - left) * MAX_VALUE_SIZE), limit)?;
                Ok(Some(value))
            }
            Err(Fault::Invalid) => Ok(None),
            Err(Fault::TooMany) => Err(Error::Limit { what: limit(), limit: self.limit }),
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
