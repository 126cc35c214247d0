//! Leaves: open frames with their class.

use std::ops::Range;
use std::path::Path;

use ferroblosc::b2nd::Array;
use ferroblosc::schunk::SChunk;

use super::attrs::{self, Attrs};
use super::class::{Class, OLD_RECIPE, PROXY, RECIPE};
use super::error::{Error, Result};
use super::file_states::FileStates;
use super::frame::Opened;
use super::limits::{Budget, Options};
use super::value::{self, Value};
use crate::numpy::Dtype;

/// The variable-length metalayer of old recipes.
const OLD_RECIPE_CONTENT: &str = "_LazyArray";

/// A set of leaves by key: a store, or a store with the changes of a writer.
pub(super) trait Leaves: Sync {
    /// Opens a leaf.
    ///
    /// # Errors
    /// [`Error::NoSuchKey`]; the errors of reading it.
    fn leaf(&self, key: &str) -> Result<Leaf>;

    /// Returns the limits of reading.
    fn options(&self) -> &Options;

    /// Returns the path of the store.
    fn path(&self) -> &Path;

    /// Returns the states of the files with an object and everything below it.
    fn file_states(&self, key: &str) -> FileStates {
        let _ = key;
        FileStates::default()
    }
}

/// An open leaf of a store.
pub struct Leaf {
    key: String,
    class: Class,
    schunk: SChunk,
    surplus: u64,
}

impl std::fmt::Debug for Leaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Leaf");
        shown.field("key", &self.key).field("class", &self.class).finish_non_exhaustive()
    }
}

impl Leaf {
    pub(super) fn new(key: &str, opened: Opened) -> Leaf {
        let class = Class::of(&opened.schunk);
        Leaf { key: key.to_owned(), class, schunk: opened.schunk, surplus: opened.surplus }
    }

    /// Returns the key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the class, which is never a group or a table.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Returns the super-chunk. The chunks of a lazy expression, a UDF or a remote array are
    /// placeholders, and those of a proxy are valid only if they were fetched.
    pub fn schunk(&self) -> &SChunk {
        &self.schunk
    }

    /// Returns the super-chunk, like [`Leaf::schunk`].
    pub fn into_schunk(self) -> SChunk {
        self.schunk
    }

    /// Decodes all chunks and returns the number of damaged chunks and metalayers.
    pub(super) fn verify(&mut self) -> Result<usize> {
        let checked = self.schunk.verify().map_err(Error::frame(&self.key))?;
        Ok(checked.faults())
    }

    /// Decodes all chunks.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a chunk or a metalayer is damaged; [`Error::Frame`].
    pub(super) fn check(&mut self) -> Result<()> {
        match self.verify()? {
            0 => Ok(()),
            faults => Err(Error::damaged(&self.key, text_of_faults(faults))),
        }
    }

    /// Returns the number of bytes that follow the frame in its member, file or entry.
    pub fn surplus(&self) -> u64 {
        self.surplus
    }

    /// Returns the attributes, without the map of keys of an embed store and the lengths of
    /// batches.
    pub fn attrs(&self) -> Attrs {
        Attrs::read(&self.key, &self.schunk)
    }

    /// Returns the stored description of a lazy expression, a UDF, a remote array or a proxy, such
    /// as the text of the expression and the paths of its operands; `None` for other classes. It is
    /// never executed or resolved.
    ///
    /// # Errors
    /// - [`Error::Damaged`] if it is not a MessagePack value; [`Error::Limit`];
    /// - [`Error::Frame`]; [`Error::Memory`].
    pub fn description(&self) -> Result<Option<Value>> {
        for (fixed, variable) in [(RECIPE, RECIPE), (OLD_RECIPE, OLD_RECIPE_CONTENT)] {
            if self.schunk.metalayer(fixed).is_some() {
                return attrs::value(&self.key, &self.schunk, variable);
            }
        }
        Ok(self.schunk.metalayer(PROXY).map(Value::decode_or_raw))
    }

    /// Interprets the leaf as an array.
    ///
    /// # Errors
    /// - [`Error::NotData`] if it has no values of its own;
    /// - [`Error::WrongClass`] if it is not an array;
    /// - [`Error::Frame`] if its shape is invalid.
    pub fn into_array(self) -> Result<Array> {
        if !self.class.has_values() {
            return Err(Error::NotData { key: self.key, class: self.class.name() });
        }
        self.check_class(Class::NdArray)?;
        let key = self.key;
        Array::from_schunk(self.schunk).map_err(|error| Error::frame(&key)(error))
    }

    pub(super) fn check_class(&self, wanted: Class) -> Result<()> {
        if self.class == wanted {
            return Ok(());
        }
        let (found, wanted) = (self.class.name(), wanted.name());
        Err(Error::WrongClass { key: self.key.clone(), found, wanted })
    }

    /// Returns the bytes of the frame.
    pub(super) fn into_frame_bytes(mut self, limit: u64) -> Result<Vec<u8>> {
        let size = self.schunk.cbytes().max(0).unsigned_abs();
        if size > limit {
            return Err(Error::Limit { what: format!("{}: {size} bytes", self.key), limit });
        }
        self.schunk.to_bytes().map_err(Error::frame(&self.key))
    }
}

/// Describes the number of damaged chunks and metalayers of a leaf.
pub(super) fn text_of_faults(faults: usize) -> String {
    match faults {
        1 => "1 chunk or metalayer is damaged".to_owned(),
        _ => format!("{faults} chunks or metalayers are damaged"),
    }
}

/// Returns the items of an array in a range of its first dimension: for each index the item, or
/// nested lists of items. An array without dimensions has one item, with the index 0. Errors
/// contain `key` as the name of the array.
///
/// # Errors
/// - [`Error::OutOfRange`] if the indices do not all exist;
/// - [`Error::Unsupported`] if the dtype is not supported, or is not of the size of the items;
/// - [`Error::Limit`] if the items need more memory than [`Options::max_message`];
/// - [`Error::Damaged`] for texts with invalid characters; [`Error::Frame`]; [`Error::Memory`].
pub fn array_values(
    key: &str,
    array: &Array,
    range: Range<u64>,
    options: &Options,
) -> Result<Vec<Value>> {
    let unsupported = |why: String| Error::Unsupported { key: key.to_owned(), why };
    let text = array.dtype().unwrap_or("|u1");
    let dtype = Dtype::parse(text)
        .ok()
        .filter(|dtype| u64::try_from(array.schunk().typesize()) == Ok(dtype.itemsize()))
        .ok_or_else(|| unsupported(format!("the dtype {text:?} is not supported")))?;
    let extents = array.shape();
    let len = extents.first().map_or(1, |extent| extent.unsigned_abs());
    if range.start > range.end || range.end > len {
        return Err(Error::OutOfRange { start: range.start, end: range.end, len });
    }
    let shape: Vec<u64> = extents.iter().skip(1).map(|extent| extent.unsigned_abs()).collect();
    let size = shape.iter().try_fold(dtype.itemsize(), |size, &extent| size.checked_mul(extent));
    let count = range.end - range.start;
    // The bytes, and the values that they become.
    let total = size
        .and_then(|size| size.checked_add(value::items_memory(&dtype, &shape)?))
        .and_then(|size| size.checked_mul(count));
    Budget::new(options.max_message).charge(total, || format!("{key}: the items are too large"))?;
    let mut rows = Vec::new();
    rows.try_reserve_exact(usize::try_from(count).map_err(|_| Error::Memory)?)?;
    if size == Some(0) {
        let row = value::items(&dtype, &shape, &[]).unwrap_or(Value::Nil);
        rows.extend((0..count).map(|_| row.clone()));
        return Ok(rows);
    }
    let (mut start, mut stop) = (vec![0; extents.len()], extents.clone());
    if !extents.is_empty() {
        let at = |index: u64| i64::try_from(index).map_err(|_| Error::Memory);
        (start[0], stop[0]) = (at(range.start)?, at(range.end)?);
    } else if range.is_empty() {
        return Ok(Vec::new());
    }
    let bytes = array.get_slice(&start, &stop).map_err(Error::frame(key))?;
    let size = usize::try_from(size.unwrap_or(1)).map_err(|_| Error::Memory)?;
    for row in bytes.chunks_exact(size) {
        let row = value::items(&dtype, &shape, row);
        rows.push(row.ok_or_else(|| Error::damaged(key, "a text is invalid"))?);
    }
    Ok(rows)
}
