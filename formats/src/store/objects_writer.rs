//! Arrays of Python objects that are created: ObjectArray, BatchArray and ListArray.

use ferroblosc::chunk::{CParams, Compressor, DParams, MAX_OVERHEAD};
use ferroblosc::schunk::{SChunk, Storage, meta};

use super::attrs::fixed_layers;
use super::class::{BATCHES, LISTS, OBJECTS};
use super::error::{Error, Result};
use super::new_leaf::NewLeaf;
use super::objects::{LENGTHS, MSGPACK, Objects};
use super::value::Value;
use super::writer::cparams;

/// The name of the array in errors, before it has a key.
const PLACE: &str = "the new array";
/// The upper bound of the sum of the sizes of the items of a block, in bytes, if their number is
/// chosen.
const BLOCK_SIZE: usize = 8 << 20;
/// The number of rows in a batch of a ListArray.
pub(super) const BATCH_ROWS: usize = 2048;
/// The size of the items of a batch from which it is not extended, in bytes.
const MAX_PENDING: usize = 64 << 20;
/// The maximum size of an item or a batch, in bytes.
const MAX_SIZE: usize = i32::MAX as usize - MAX_OVERHEAD;

/// An array of Python objects that is created in memory.
///
/// ```
/// use ferroblosc_formats::store::{ObjectsWriter, Store, Value};
///
/// let path = std::env::temp_dir().join(format!("objects-{}.b2z", std::process::id()));
/// let mut objects = ObjectsWriter::object_array()?;
/// objects.push(&Value::Tuple(vec![Value::Int(1), Value::Nil]))?;
/// let mut batches = ObjectsWriter::batch_array(None)?;
/// batches.push_batch(&[Value::Float(0.5), Value::Bool(true)])?;
/// let mut store = Store::create(&path)?;
/// store.put("/objects", objects.finish()?)?;
/// store.put("/batches", batches.finish()?)?;
/// store.commit()?;
/// assert_eq!(Store::open(&path)?.objects("/batches")?.len()?, 2);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), ferroblosc_formats::store::Error>(())
/// ```
pub struct ObjectsWriter {
    form: Form,
    lists: Option<Lists>,
    /// The number of items in each batch, except the last one, if the caller does not form batches.
    batch_rows: Option<usize>,
    /// The items of the next batch, and their size in bytes.
    pending: Vec<Value>,
    pending_size: usize,
    /// Further fixed metalayers.
    layers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Further variable-length metalayers.
    vl_layers: Vec<(String, Vec<u8>)>,
    params: CParams,
    compressor: Compressor,
}

enum Form {
    /// The super-chunk, with an item in each chunk.
    Objects(Box<SChunk>),
    /// The chunks, the lengths of their batches, and the number of items in a block if it is known.
    Batches { chunks: Vec<Vec<u8>>, lengths: Vec<i64>, items_per_block: Option<u32> },
}

/// The lists of a ListArray.
struct Lists {
    /// The description of the items.
    item: Value,
    nullable: bool,
}

impl std::fmt::Debug for ObjectsWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectsWriter").field("len", &self.len()).finish_non_exhaustive()
    }
}

fn text(text: &str) -> Value {
    Value::Str(text.to_owned())
}

fn failed(error: ferroblosc::Error) -> Error {
    Error::frame(PLACE)(error)
}

impl ObjectsWriter {
    fn new(form: Form) -> Result<ObjectsWriter> {
        let params = cparams();
        let compressor = Compressor::new(params.clone()).map_err(failed)?;
        Ok(ObjectsWriter {
            form,
            lists: None,
            batch_rows: None,
            pending: Vec::new(),
            pending_size: 0,
            layers: Vec::new(),
            vl_layers: Vec::new(),
            params,
            compressor,
        })
    }

    /// Begins the values of a column of a table, in batches of `batch_rows` values that are not
    /// checked. `layers` are further fixed metalayers.
    pub(super) fn column(
        layers: Vec<(Vec<u8>, Vec<u8>)>,
        batch_rows: usize,
    ) -> Result<ObjectsWriter> {
        let mut writer = ObjectsWriter::batch_array(None)?;
        (writer.layers, writer.batch_rows) = (layers, Some(batch_rows.max(1)));
        Ok(writer)
    }

    /// Continues a copy of an array after its first `keep` items. New items are in batches of
    /// `batch_rows`, and are not checked.
    pub(super) fn continued(
        objects: Objects,
        keep: u64,
        batch_rows: usize,
    ) -> Result<ObjectsWriter> {
        let key = objects.key().to_owned();
        let failed = |error| Error::frame(&key)(error);
        let batch_rows = batch_rows.max(1);
        if !objects.is_batched() {
            let mut schunk = objects.into_schunk();
            while schunk.nchunks().max(0).unsigned_abs() > keep {
                schunk.delete_chunk(schunk.nchunks() - 1).map_err(failed)?;
            }
            return ObjectsWriter::new(Form::Objects(Box::new(schunk)));
        }
        let (mut chunks, mut lengths, mut pending) = (Vec::new(), Vec::new(), Vec::new());
        let mut left = keep;
        let batches = objects.batch_lens()?;
        for (number, &len) in (0..).zip(&batches) {
            if left == 0 {
                break;
            }
            // A short batch at the end is written again with the items that follow.
            let is_last = left <= len || number + 1 == batches.len() as u64;
            if len > left || (is_last && len < batch_rows as u64) {
                pending = objects.batch(number)?;
                pending.truncate(usize::try_from(left).map_err(|_| Error::Memory)?);
                break;
            }
            let number = i64::try_from(number).map_err(|_| Error::Memory)?;
            chunks.push(objects.schunk().chunk(number).map_err(failed)?.to_vec());
            lengths.push(i64::try_from(len).map_err(|_| Error::Memory)?);
            left -= len;
        }
        let schunk = objects.schunk();
        let mut layers = Vec::new();
        let mut items_per_block = None;
        for (name, content) in fixed_layers(schunk) {
            if name == BATCHES.as_bytes() {
                let count = Value::decode(&content)
                    .and_then(|layer| layer.get("items_per_block")?.as_u64())
                    .and_then(|count| u32::try_from(count).ok());
                items_per_block = count.filter(|&count| count > 0);
            } else {
                layers.push((name, content));
            }
        }
        let names = schunk.vlmetalayer_names().into_iter().filter(|name| name != LENGTHS);
        let vl_layers = names
            .map(|name| Ok((name.clone(), schunk.vlmetalayer(&name).map_err(failed)?)))
            .collect::<Result<_>>()?;
        let writer = ObjectsWriter::new(Form::Batches { chunks, lengths, items_per_block })?;
        Ok(ObjectsWriter { batch_rows: Some(batch_rows), pending, layers, vl_layers, ..writer })
    }

    /// Begins an ObjectArray, which has an item in each chunk.
    ///
    /// # Errors
    /// - [`Error::Memory`]; [`Error::Frame`].
    pub fn object_array() -> Result<ObjectsWriter> {
        let created = SChunk::create(Storage::frame(), cparams(), DParams::default());
        let mut schunk = created.map_err(failed)?;
        let description =
            Value::Map(vec![(text("version"), Value::Int(1)), (text("serializer"), text(MSGPACK))]);
        schunk.add_metalayer(OBJECTS, &description.encode()?).map_err(failed)?;
        ObjectsWriter::new(Form::Objects(Box::new(schunk)))
    }

    /// Begins a BatchArray, which has a batch of items in each chunk. The blocks of a batch, which
    /// are read separately, have `items_per_block` items; the default is as many items of the first
    /// batch as have 8 MiB together. If it has less, blocks have up to 2048 items, or as many as
    /// the first batch.
    ///
    /// # Errors
    /// - [`Error::Value`] for blocks of 0 items; [`Error::Memory`]; [`Error::Frame`].
    pub fn batch_array(items_per_block: Option<u32>) -> Result<ObjectsWriter> {
        if items_per_block == Some(0) {
            return Err(Error::Value("a block has at least one item".to_owned()));
        }
        let (chunks, lengths) = (Vec::new(), Vec::new());
        ObjectsWriter::new(Form::Batches { chunks, lengths, items_per_block })
    }

    /// Begins a ListArray, whose rows are lists, or [`Value::Nil`] if `nullable` is true. `item`
    /// describes the items as in schemas of tables, such as `{"kind": "int32"}`. Batches have 2048
    /// rows.
    ///
    /// # Errors
    /// - [`Error::Value`] if the description has no text `kind`; [`Error::Memory`];
    /// - [`Error::Frame`].
    pub fn list_array(item: Value, nullable: bool) -> Result<ObjectsWriter> {
        if item.get("kind").and_then(Value::as_str).is_none() {
            return Err(Error::Value("the description of the items has no kind".to_owned()));
        }
        item.encode()?;
        let mut writer = ObjectsWriter::batch_array(None)?;
        writer.lists = Some(Lists { item, nullable });
        writer.batch_rows = Some(BATCH_ROWS);
        Ok(writer)
    }

    /// Returns the number of items of an ObjectArray, of batches of a BatchArray, and of rows of a
    /// ListArray.
    pub fn len(&self) -> usize {
        if let (Some(_), Form::Batches { lengths, .. }) = (self.batch_rows, &self.form) {
            let rows: i64 = lengths.iter().sum();
            return usize::try_from(rows).unwrap_or(0) + self.pending.len();
        }
        match &self.form {
            Form::Objects(schunk) => usize::try_from(schunk.nchunks()).unwrap_or(0),
            Form::Batches { chunks, .. } => chunks.len(),
        }
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an item to an ObjectArray; to a BatchArray, a batch of one item; to a ListArray, a row.
    ///
    /// # Errors
    /// - [`Error::Value`] for values that cannot be stored, and for rows that contradict the
    ///   description of the items;
    /// - [`Error::Limit`] above 2 GiB; [`Error::Frame`]; [`Error::Memory`].
    pub fn push(&mut self, value: &Value) -> Result<()> {
        if let Some(lists) = &self.lists {
            match value {
                Value::Nil if lists.nullable => {}
                Value::List(items) => {
                    items.iter().try_for_each(|item| check_item(&lists.item, item))?;
                }
                _ => return Err(Error::Value("the row is not a list".to_owned())),
            }
        }
        if let Some(batch_rows) = self.batch_rows {
            self.pending_size = self.pending_size.saturating_add(value.encode()?.len());
            self.pending.push(value.clone());
            if self.pending.len() < batch_rows && self.pending_size < MAX_PENDING {
                return Ok(());
            }
            let rows = std::mem::take(&mut self.pending);
            self.pending_size = 0;
            return self.add_batch(&rows);
        }
        let Form::Objects(schunk) = &mut self.form else {
            return self.push_batch(std::slice::from_ref(value));
        };
        let bytes = value.encode()?;
        check_size("an item", bytes.len())?;
        let chunk = self.compressor.compress_to_vec(&bytes).map_err(failed)?;
        schunk.append_chunk(&chunk).map_err(failed)?;
        Ok(())
    }

    /// Adds a batch to a BatchArray; to other arrays, each of the items.
    ///
    /// # Errors
    /// - [`Error::Value`] for values that cannot be stored, and for an empty batch;
    /// - [`Error::Limit`] above 2 GiB; [`Error::Frame`]; [`Error::Memory`].
    pub fn push_batch(&mut self, values: &[Value]) -> Result<()> {
        if self.batch_rows.is_some() {
            return values.iter().try_for_each(|value| self.push(value));
        }
        self.add_batch(values)
    }

    fn add_batch(&mut self, values: &[Value]) -> Result<()> {
        let Form::Batches { chunks, lengths, items_per_block } = &mut self.form else {
            return values.iter().try_for_each(|value| self.push(value));
        };
        if values.is_empty() {
            return Err(Error::Value("a batch has at least one item".to_owned()));
        }
        let items_per_block = match *items_per_block {
            Some(count) => count,
            None => {
                let (mut size, mut count) = (0, 0);
                for value in values {
                    let len = value.encode()?.len();
                    if size + len > BLOCK_SIZE && count > 0 {
                        break;
                    }
                    size += len;
                    count += 1;
                }
                // A first batch of few small items does not limit the blocks of the other batches.
                let more = (BLOCK_SIZE / size.div_ceil(count).max(1)).min(BATCH_ROWS);
                let count = if count == values.len() { count.max(more) } else { count };
                *items_per_block.insert(u32::try_from(count).unwrap_or(u32::MAX))
            }
        };
        let mut blocks = Vec::new();
        for items in values.chunks(items_per_block as usize) {
            blocks.push(Value::List(items.to_vec()).encode()?);
        }
        let size = blocks.iter().map(Vec::len).sum();
        check_size("a batch", size)?;
        let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        // Each block has its length and an offset of 4 bytes besides its data.
        let mut chunk = Vec::new();
        let bound = size + MAX_OVERHEAD + blocks.len() * 64;
        chunk.try_reserve_exact(bound)?;
        chunk.resize(bound, 0);
        let used = self.compressor.vl_compress(&blocks, &mut chunk).map_err(failed)?;
        if used == 0 {
            let what = format!("{PLACE}: a batch of {size} bytes");
            return Err(Error::Limit { what, limit: MAX_SIZE as u64 });
        }
        chunk.truncate(used);
        chunk.shrink_to_fit();
        chunks.push(chunk);
        lengths.push(i64::try_from(values.len()).map_err(|_| Error::Memory)?);
        Ok(())
    }

    /// Returns the array as a leaf.
    ///
    /// # Errors
    /// - [`Error::Frame`]; [`Error::Memory`].
    pub fn finish(mut self) -> Result<NewLeaf> {
        let rows = std::mem::take(&mut self.pending);
        if !rows.is_empty() {
            self.add_batch(&rows)?;
        }
        let mut schunk = match self.form {
            Form::Objects(schunk) => *schunk,
            Form::Batches { chunks, lengths, items_per_block } => {
                let created = SChunk::create(Storage::frame(), self.params, DParams::default());
                let mut schunk = created.map_err(failed)?;
                if let Some(lists) = &self.lists {
                    let description = Value::Map(vec![
                        (text("version"), Value::Int(1)),
                        (text("kind"), text("list")),
                        (text("item"), lists.item.clone()),
                        (text("nullable"), Value::Bool(lists.nullable)),
                        (text("serializer"), text(MSGPACK)),
                        (text("batch_rows"), Value::Int(BATCH_ROWS as i64)),
                        (text("backend"), text("batch")),
                    ]);
                    schunk.add_metalayer(LISTS, &description.encode()?).map_err(failed)?;
                }
                for (name, content) in &self.layers {
                    meta::add(schunk.state_mut(), name, content).map_err(failed)?;
                }
                let per_block =
                    items_per_block.map_or(Value::Nil, |count| Value::Int(count.into()));
                let description = Value::Map(vec![
                    (text("version"), Value::Int(1)),
                    (text("serializer"), text(MSGPACK)),
                    (text("items_per_block"), per_block),
                    (text("arrow_schema"), Value::Nil),
                ]);
                schunk.add_metalayer(BATCHES, &description.encode()?).map_err(failed)?;
                for chunk in &chunks {
                    schunk.append_chunk(chunk).map_err(failed)?;
                }
                if !lengths.is_empty() {
                    let lengths = lengths.into_iter().map(Value::Int).collect();
                    let lengths = Value::Map(vec![(text("batch_lengths"), Value::List(lengths))]);
                    schunk.add_vlmetalayer(LENGTHS, &lengths.encode()?).map_err(failed)?;
                }
                for (name, content) in &self.vl_layers {
                    schunk.add_vlmetalayer(name, content).map_err(failed)?;
                }
                schunk
            }
        };
        NewLeaf::frame(schunk.to_bytes().map_err(failed)?)
    }
}

/// Checks an item of a list against its description. Kinds that are not listed here are not
/// checked.
pub(super) fn check_item(description: &Value, item: &Value) -> Result<()> {
    let kind = description.get("kind").and_then(Value::as_str).unwrap_or_default();
    let is_nullable = description.get("nullable") == Some(&Value::Bool(true));
    let integer = |bits: u32, is_signed: bool| {
        let (low, high) = if is_signed {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        } else {
            (0, (1i128 << bits) - 1)
        };
        match item {
            Value::Int(number) => (low..=high).contains(&i128::from(*number)),
            Value::UInt(number) => (low..=high).contains(&i128::from(*number)),
            _ => false,
        }
    };
    let is_valid = match kind {
        _ if *item == Value::Nil => is_nullable,
        "int8" => integer(8, true),
        "int16" => integer(16, true),
        "int32" => integer(32, true),
        "int64" | "timestamp" => integer(64, true),
        "uint8" => integer(8, false),
        "uint16" => integer(16, false),
        "uint32" => integer(32, false),
        "uint64" => integer(64, false),
        "float32" | "float64" => matches!(item, Value::Float(_)),
        "bool" => matches!(item, Value::Bool(_)),
        "string" | "vlstring" | "utf8" => matches!(item, Value::Str(_)),
        "bytes" | "vlbytes" => matches!(item, Value::Bytes(_)),
        "list" => match (item, description.get("item")) {
            (Value::List(items), Some(inner)) => {
                return items.iter().try_for_each(|item| check_item(inner, item));
            }
            (found, _) => matches!(found, Value::List(_)),
        },
        "struct" => matches!(item, Value::Map(_)),
        _ => true,
    };
    if is_valid {
        return Ok(());
    }
    Err(Error::Value(format!("an item of the list is not of the kind {kind:?}")))
}

fn check_size(what: &str, size: usize) -> Result<()> {
    if size <= MAX_SIZE {
        return Ok(());
    }
    let what = format!("{PLACE}: {what} of {size} bytes");
    Err(Error::Limit { what, limit: MAX_SIZE as u64 })
}
