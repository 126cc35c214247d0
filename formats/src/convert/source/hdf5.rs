//! Reads HDF5 datasets.
//!
//! Strings of variable length become characters of NumPy (`U`) with the length of the longest one,
//! which is searched first, or bytes (`S`) if one is not UTF-8.

use std::path::Path;

use super::super::error::{Error, Result};
use super::super::grid::{grid_of, indices_of};
use super::super::location::Location;
use super::super::ndcopy::{Side, copy_box};
use super::interface::{Content, MAX_READ, Source, StoredChunks, check_range, read_in_boxes};
use crate::hdf5::{self, ChunkStarts, Dataset, File, Scalar};
use crate::numpy::{ArrayInfo, Dtype};

/// The maximum size of the chunks that are read together in bytes, that of HDF5's cache.
const MAX_CACHE: u64 = 64 << 20;
/// The maximum length of a string of variable length, in bytes.
const MAX_TEXT: usize = 16 << 20;
/// The maximum number of strings that are read at once.
const MAX_TEXTS: u64 = 1 << 16;

/// Opens the dataset of a path: that of the key, or the only one.
pub fn open_hdf5(path: &Path) -> Result<(File, Dataset)> {
    let Location { path, key } = Location::of(path);
    let file = open_file(&path)?;
    let key = key.unwrap_or_default();
    let dataset = match hdf5::datasets(&file, &key) {
        Err(hdf5::Error::NotFound(_)) => return Err(Error::NoSuchKey(key)),
        Err(error) => return Err(error.into()),
        Ok(found) => match found.as_slice() {
            [only] => Dataset::open(&file, only)?,
            [] => return Err(Error::NoSuchKey(key)),
            _ => return Err(Error::SeveralArrays(found)),
        },
    };
    Ok((file, dataset))
}

/// Opens a file. A file that cannot be read has the error of the system.
pub fn open_file(path: &Path) -> Result<File> {
    ferroblosc::io::named::NamedFile::open_regular(path)?;
    Ok(File::open(path)?)
}

/// Returns the type and shape of a dataset, and whether its items are strings of variable length.
/// Their length is searched only if `is_read`; otherwise it is 1.
pub fn describe(dataset: &Dataset, is_read: bool) -> Result<(ArrayInfo, bool)> {
    let item = dataset.item();
    let mut shape = hdf5::shape_of(dataset.shape(), item);
    if dataset.is_null() {
        shape.insert(0, 0);
    }
    let dtype = hdf5::dtype_of(&item.scalar).map_err(|_| unnamed(dataset))?;
    let is_text = dtype.is_none();
    let dtype = match dtype {
        Some(dtype) => dtype,
        None if is_read => text_dtype(dataset)?,
        None => Dtype::parse("<U1")?,
    };
    Ok((ArrayInfo { dtype, shape, fortran_order: false }, is_text))
}

fn unnamed(dataset: &Dataset) -> Error {
    let description = "records without a dtype of NumPy".to_owned();
    hdf5::Error::Type { path: dataset.path().to_owned(), description }.into()
}

/// Returns the dtype of strings of variable length.
fn text_dtype(dataset: &Dataset) -> Result<Dtype> {
    let (mut bytes, mut characters) = (1, Some(1));
    let mut longest = |text: &[u8]| {
        bytes = bytes.max(text.len());
        let count = std::str::from_utf8(text).ok().map(|text| text.chars().count());
        characters = characters.zip(count).map(|(most, count)| most.max(count));
    };
    each_stored_box(dataset, MAX_TEXTS, |start, count| {
        Ok(dataset.read_texts(start, count, &mut longest)?)
    })?;
    if let Some(start) = first_missing(dataset)? {
        dataset.read_texts(&start, &vec![1; start.len()], &mut longest)?;
    }
    if bytes > MAX_TEXT {
        let description = format!("strings of {bytes} bytes, more than {MAX_TEXT}");
        return Err(hdf5::Error::Type { path: dataset.path().to_owned(), description }.into());
    }
    Ok(match characters {
        Some(count) => Dtype::parse(&format!("<U{count}"))?,
        None => Dtype::parse(&format!("|S{bytes}"))?,
    })
}

/// Calls `f` with the start and the lengths of boxes of at most `most` items that cover the stored
/// items of a dataset: its chunks in C order, or the whole dataset. The items of other chunks are
/// the fill value. The time does not depend on the number of missing chunks.
pub fn each_stored_box(
    dataset: &Dataset,
    most: u64,
    mut f: impl FnMut(&[u64], &[u64]) -> Result<()>,
) -> Result<()> {
    let shape = dataset.shape();
    if dataset.is_null() || shape.contains(&0) {
        return Ok(());
    }
    let Some(chunks) = dataset.chunks() else {
        if dataset.stored_bytes() == 0 {
            return Ok(());
        }
        return each_box(&vec![0; shape.len()], shape, most, &mut f);
    };
    let Some(starts) = dataset.stored_starts()? else {
        return each_box(&vec![0; shape.len()], shape, most, &mut f);
    };
    for start in starts.iter() {
        let ends = start.iter().zip(chunks).zip(shape);
        let lengths: Vec<u64> = ends.map(|((at, chunk), len)| (len - at).min(*chunk)).collect();
        each_box(start, &lengths, most, &mut f)?;
    }
    Ok(())
}

/// Returns the index of the first item of a chunk that is not stored, or of a dataset without
/// stored items; `None` if all items are stored.
fn first_missing(dataset: &Dataset) -> Result<Option<Vec<u64>>> {
    let shape = dataset.shape();
    if dataset.is_null() || shape.contains(&0) {
        return Ok(None);
    }
    let Some(chunks) = dataset.chunks() else {
        return Ok((dataset.stored_bytes() == 0).then(|| vec![0; shape.len()]));
    };
    let Some(starts) = dataset.stored_starts()? else {
        return Ok(None);
    };
    let starts_of_chunks = indices_of(&grid_of(shape, chunks))
        .map(|index| index.iter().zip(chunks).map(|(at, len)| at * len).collect::<Vec<u64>>());
    let mut stored = starts.iter();
    Ok(starts_of_chunks.into_iter().find(|start| stored.next() != Some(start)))
}

/// Calls `f` with the start and the lengths of boxes of at most `most` items that cover a box, in C
/// order.
fn each_box(
    first: &[u64],
    shape: &[u64],
    most: u64,
    f: &mut impl FnMut(&[u64], &[u64]) -> Result<()>,
) -> Result<()> {
    // The lengths of a box: complete in the last dimensions.
    let mut left = most.max(1);
    let mut lengths = vec![1; shape.len()];
    for dim in (0..shape.len()).rev() {
        lengths[dim] = shape[dim].min(left);
        left = (left / lengths[dim]).max(1);
        if lengths[dim] < shape[dim] {
            break;
        }
    }
    for index in indices_of(&grid_of(shape, &lengths)) {
        let offset: Vec<u64> = index.iter().zip(&lengths).map(|(at, len)| at * len).collect();
        let ends = offset.iter().zip(&lengths).zip(shape);
        let count: Vec<u64> = ends.map(|((at, len), most)| (most - at).min(*len)).collect();
        let start: Vec<u64> = offset.iter().zip(first).map(|(at, first)| at + first).collect();
        f(&start, &count)?;
    }
    Ok(())
}

/// The items of a dataset.
pub struct Hdf5 {
    dataset: Dataset,
    content: Content,
    is_text: bool,
}

impl Hdf5 {
    pub fn open(path: &Path) -> Result<Hdf5> {
        let (_, dataset) = open_hdf5(path)?;
        let (info, is_text) = describe(&dataset, true)?;
        let itemsize = info.dtype.itemsize();
        // Chunks with the same index in the first dimension are read together.
        let read_size = dataset.chunks().and_then(|chunks| {
            let item = itemsize.checked_mul(dataset.item().shape.iter().product())?;
            let mut rows = chunks.iter().zip(dataset.shape()).enumerate();
            let slab = rows.try_fold(item, |bytes, (dim, (&chunk, &len))| {
                bytes.checked_mul(if dim == 0 { chunk } else { len })
            })?;
            (1..=MAX_CACHE).contains(&slab).then_some(slab as usize)
        });
        let content = Content {
            typesize: itemsize,
            nbytes: info.nbytes().map_err(|_| Error::TooLarge)?,
            array: Some(info),
            read_size: read_size.unwrap_or(MAX_READ),
        };
        Ok(Hdf5 { dataset, content, is_text })
    }

    /// Reads strings of variable length.
    fn read_texts(&self, start: &[u64], count: &[u64], dest: &mut [u8]) -> Result<()> {
        let size = self.content.typesize as usize;
        let is_unicode = self
            .content
            .array
            .as_ref()
            .is_some_and(|info| info.dtype.kind() == crate::numpy::Kind::Unicode);
        dest.fill(0);
        let mut items = dest.chunks_exact_mut(size);
        let mut has_all = true;
        self.dataset.read_texts(start, count, &mut |text| {
            let Some(item) = items.next() else {
                return;
            };
            if !is_unicode {
                let len = text.len().min(item.len());
                item[..len].copy_from_slice(&text[..len]);
                has_all &= len == text.len();
                return;
            }
            let text = String::from_utf8_lossy(text);
            let mut characters = text.chars();
            for (place, character) in item.chunks_exact_mut(4).zip(characters.by_ref()) {
                place.copy_from_slice(&u32::from(character).to_le_bytes());
            }
            has_all &= characters.next().is_none();
        })?;
        if has_all {
            Ok(())
        } else {
            let reason = format!("the strings of {:?} changed", self.dataset.path());
            Err(hdf5::Error::Invalid(reason).into())
        }
    }
}

impl Source for Hdf5 {
    fn content(&self) -> &Content {
        &self.content
    }

    fn chunkshape(&self) -> Option<Vec<u64>> {
        let chunks = hdf5::shape_of(self.dataset.chunks()?, self.dataset.item());
        let shape = hdf5::shape_of(self.dataset.shape(), self.dataset.item());
        // The chunks of small arrays that may grow can be much longer than the array.
        let clipped = chunks.iter().zip(&shape).map(|(&chunk, &len)| chunk.min(len.max(1)));
        Some(clipped.collect())
    }

    fn stored_chunks(&mut self) -> Result<Option<StoredChunks>> {
        let Some(missing) = first_missing(&self.dataset)? else {
            return Ok(None);
        };
        let (shape, inner) = (self.dataset.shape(), self.dataset.item().shape.clone());
        let (chunks, starts) = match self.dataset.chunks() {
            Some(chunks) => (chunks, self.dataset.stored_starts()?.unwrap_or_default()),
            None => (shape, ChunkStarts::default()),
        };
        let chunkshape = [chunks, &inner].concat();
        let origin = vec![0; inner.len()];
        let starts = starts.iter().flat_map(|start| [start, &origin].concat()).collect();
        // Items that are arrays have equal elements, except in unusual datasets.
        let first = [missing.as_slice(), &origin].concat();
        let ends = missing.iter().map(|at| at + 1).chain(inner);
        let stop: Vec<u64> = ends.collect();
        let size = self.content.typesize as usize;
        let elements = stop.iter().zip(&first).map(|(stop, at)| (stop - at) as usize);
        let mut fill = vec![0; elements.product::<usize>() * size];
        self.read_box(&first, &stop, &mut fill)?;
        let (element, others) = fill.split_at(size);
        if others.chunks_exact(size).any(|other| other != element) {
            return Ok(None);
        }
        Ok(Some(StoredChunks { chunkshape, starts, fill: element.to_vec() }))
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        check_range(&self.content, position, dest.len())?;
        let info = self.content.array.as_ref();
        let shape = info.map(|info| info.shape.clone()).unwrap_or_default();
        read_in_boxes(self, &shape, position, dest)
    }

    fn read_box(&mut self, start: &[u64], stop: &[u64], dest: &mut [u8]) -> Result<()> {
        if dest.is_empty() {
            return Ok(());
        }
        let rank = self.dataset.shape().len();
        let inner = &self.dataset.item().shape;
        let is_box = start.len() == rank + inner.len()
            && stop.len() == start.len()
            && start.iter().zip(stop).all(|(start, stop)| start < stop);
        if !is_box {
            return Err(ferroblosc::Error::InvalidIndex.into());
        }
        let extent: Vec<u64> = start.iter().zip(stop).map(|(start, stop)| stop - start).collect();
        if self.is_text {
            return self.read_texts(start, &extent, dest);
        }
        let (first, count) = (&start[..rank], &extent[..rank]);
        if extent[rank..] == **inner {
            return Ok(self.dataset.read(first, count, dest)?);
        }
        // A part of the arrays that are the items.
        let whole = [count, inner].concat();
        let size = self.dataset.item().scalar.size();
        let bytes = whole.iter().try_fold(size as u64, |bytes, &len| bytes.checked_mul(len));
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let mut items = Vec::new();
        let bytes = bytes.ok_or(ferroblosc::Error::MemoryAlloc)?;
        items.try_reserve_exact(bytes).map_err(ferroblosc::Error::from)?;
        items.resize(bytes, 0);
        self.dataset.read(first, count, &mut items)?;
        let offset = [&vec![0; rank], &start[rank..]].concat();
        let from = Side { shape: &whole, start: &offset };
        let zero = vec![0; extent.len()];
        copy_box(&extent, size, (&from, &items), (&Side { shape: &extent, start: &zero }, dest));
        Ok(())
    }
}

/// Reads all stored items of a dataset to find damage.
///
/// # Errors
/// The errors of reading, and of types without a dtype of NumPy.
pub fn check_stored(dataset: &Dataset) -> Result<()> {
    describe(dataset, false)?;
    if is_text(dataset) {
        return each_stored_box(dataset, MAX_TEXTS, |start, count| {
            Ok(dataset.read_texts(start, count, &mut |_| {})?)
        });
    }
    let size = dataset.item().size() as u64;
    // A chunk with filters is decoded as a whole.
    let has_filters = dataset.chunks().is_some() && !dataset.filters().is_empty();
    let most = if has_filters { u64::MAX } else { MAX_READ as u64 / size.max(1) };
    let mut items = Vec::new();
    each_stored_box(dataset, most, |start, count| {
        let bytes = count.iter().try_fold(size, |bytes, &len| bytes.checked_mul(len));
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let bytes = bytes.ok_or(ferroblosc::Error::MemoryAlloc)?;
        let more = bytes.saturating_sub(items.len());
        items.try_reserve_exact(more).map_err(ferroblosc::Error::from)?;
        items.resize(bytes, 0);
        Ok(dataset.read(start, count, &mut items)?)
    })
}

/// Whether the items are strings of variable length.
pub fn is_text(dataset: &Dataset) -> bool {
    matches!(dataset.item().scalar, Scalar::Text { .. })
}
