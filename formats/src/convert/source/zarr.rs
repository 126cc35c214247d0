//! Reads Zarr arrays.

use std::collections::VecDeque;
use std::path::Path;

use super::super::error::{Error, Result};
use super::super::location::Location;
use super::super::ndcopy::{Side, copy_box};
use super::interface::{Content, MAX_READ, Source, check_range, read_in_boxes};
use crate::numpy::ArrayInfo;
use crate::zarr::{self, Array};

/// The maximum size of the cached chunks in bytes, unless one is larger.
const MAX_CACHE: usize = 64 << 20;

/// Opens the array of a path: that of the key, or the only one.
pub fn open_zarr(path: &Path) -> Result<Array> {
    let Location { path, key } = Location::of(path);
    let node = key.unwrap_or_default();
    match Array::open(&path, &node) {
        Err(zarr::Error::Group(_)) => {
            let arrays = zarr::arrays_in(&path, &node)?;
            match arrays.as_slice() {
                [only] => Ok(Array::open(&path, only)?),
                [] => Err(Error::NoSuchKey(node)),
                _ => Err(Error::SeveralArrays(arrays)),
            }
        }
        opened => Ok(opened?),
    }
}

/// The items of a Zarr array.
pub struct Zarr {
    array: Array,
    content: Content,
    /// The last decoded chunks by index; missing ones have no items.
    cache: VecDeque<(Vec<u64>, Option<Vec<u8>>)>,
    /// The size of the cached chunks in bytes.
    cached: usize,
}

impl Zarr {
    pub fn open(path: &Path) -> Result<Zarr> {
        let array = open_zarr(path)?;
        let metadata = array.metadata();
        let info = ArrayInfo {
            dtype: metadata.dtype.clone(),
            shape: metadata.shape.clone(),
            fortran_order: false,
        };
        // Chunks with the same index in the first dimension are read together.
        let rows = metadata.shape.iter().zip(&metadata.chunks).enumerate();
        let slab = rows.fold(info.dtype.itemsize(), |bytes, (dim, (&len, &chunk))| {
            bytes.saturating_mul(if dim == 0 { chunk } else { len })
        });
        let read_size = usize::try_from(slab).ok().filter(|size| (1..=MAX_CACHE).contains(size));
        let content = Content {
            typesize: info.dtype.itemsize(),
            nbytes: info.nbytes()?,
            array: Some(info),
            read_size: read_size.unwrap_or(MAX_READ),
        };
        Ok(Zarr { array, content, cache: VecDeque::new(), cached: 0 })
    }

    /// Decodes a chunk, unless it is cached, and moves it to the end of the cache.
    fn load(&mut self, index: &[u64]) -> Result<()> {
        if let Some(at) = self.cache.iter().position(|(known, _)| known == index) {
            if let Some(entry) = self.cache.remove(at) {
                self.cache.push_back(entry);
            }
            return Ok(());
        }
        let items = match self.array.stored_chunk(index)? {
            Some(stored) => Some(self.array.decode(index, stored)?),
            None => None,
        };
        self.cached += items.as_ref().map_or(0, Vec::len);
        self.cache.push_back((index.to_vec(), items));
        while self.cache.len() > 1 && (self.cached > MAX_CACHE || self.cache.len() > MAX_CHUNKS) {
            let oldest = self.cache.pop_front().and_then(|(_, items)| items);
            self.cached -= oldest.map_or(0, |items| items.len());
        }
        Ok(())
    }
}

/// The maximum number of cached chunks.
const MAX_CHUNKS: usize = 1024;

impl Source for Zarr {
    fn content(&self) -> &Content {
        &self.content
    }

    fn chunkshape(&self) -> Option<Vec<u64>> {
        Some(self.array.metadata().chunks.clone())
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        check_range(&self.content, position, dest.len())?;
        let shape = self.array.metadata().shape.clone();
        read_in_boxes(self, &shape, position, dest)
    }

    fn read_box(&mut self, start: &[u64], stop: &[u64], dest: &mut [u8]) -> Result<()> {
        let metadata = self.array.metadata();
        let (shape, chunks) = (metadata.shape.clone(), metadata.chunks.clone());
        let is_inside = start.len() == shape.len()
            && stop.len() == shape.len()
            && (0..shape.len()).all(|dim| start[dim] <= stop[dim] && stop[dim] <= shape[dim]);
        let extent: Vec<u64> =
            start.iter().zip(stop).map(|(start, stop)| stop.saturating_sub(*start)).collect();
        let itemsize = self.content.typesize as usize;
        let bytes = extent.iter().product::<u64>() as usize * itemsize;
        if !is_inside || bytes != dest.len() {
            return Err(ferroblosc::Error::InvalidIndex.into());
        }
        if bytes == 0 {
            return Ok(());
        }
        let first: Vec<u64> =
            start.iter().zip(&chunks).map(|(start, chunk)| start / chunk).collect();
        let last: Vec<u64> =
            stop.iter().zip(&chunks).map(|(stop, chunk)| (stop - 1) / chunk).collect();
        let mut index = first.clone();
        loop {
            self.load(&index)?;
            // The part of the box in this chunk.
            let origin: Vec<u64> = index.iter().zip(&chunks).map(|(at, len)| at * len).collect();
            let from: Vec<u64> = origin.iter().zip(start).map(|(a, b)| *a.max(b)).collect();
            let to = origin.iter().zip(&chunks).zip(stop).map(|((a, len), b)| (a + len).min(*b));
            let part: Vec<u64> = to.zip(&from).map(|(to, from)| to - from).collect();
            let in_chunk: Vec<u64> = from.iter().zip(&origin).map(|(a, b)| a - b).collect();
            let in_box: Vec<u64> = from.iter().zip(start).map(|(a, b)| a - b).collect();
            let target = Side { shape: &extent, start: &in_box };
            match self.cache.back() {
                Some((_, Some(items))) => {
                    let source = Side { shape: &chunks, start: &in_chunk };
                    copy_box(&part, itemsize, (&source, items), (&target, &mut *dest));
                }
                _ => {
                    // A missing chunk.
                    let len = part.iter().product::<u64>() as usize * itemsize;
                    let mut items = vec![0; len];
                    self.array.fill(&mut items);
                    let source = Side { shape: &part, start: &vec![0; part.len()] };
                    copy_box(&part, itemsize, (&source, &items), (&target, &mut *dest));
                }
            }
            let mut dim = index.len();
            loop {
                let Some(outer) = dim.checked_sub(1) else {
                    return Ok(());
                };
                dim = outer;
                index[dim] += 1;
                if index[dim] <= last[dim] {
                    break;
                }
                index[dim] = first[dim];
            }
        }
    }
}
