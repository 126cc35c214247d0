//! The stored chunks of datasets.
//!
//! libhdf5 numbers them in the order of the index in the file. To find one by its number it visits
//! those before it, so the fastest function depends on the version and on the number of chunks.

use crate::api::{Guard, IterateChunks, NumberedChunk, Size, api};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::handle::{DEFAULT, Handle, check};
use std::ffi::{c_int, c_void};

/// The indices in the dataset at which its stored chunks start, in C order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkStarts {
    rank: usize,
    indices: Vec<u64>,
}

impl ChunkStarts {
    /// Returns the indices of `rank` dimensions, one after the other, as starts in C order.
    fn new(rank: usize, indices: Vec<u64>) -> ChunkStarts {
        let starts = || indices.chunks_exact(rank);
        if starts().zip(starts().skip(1)).all(|(start, next)| start < next) {
            return ChunkStarts { rank, indices };
        }
        let mut sorted: Vec<&[u64]> = starts().collect();
        sorted.sort_unstable();
        sorted.dedup();
        ChunkStarts { rank, indices: sorted.concat() }
    }

    /// Returns the number of stored chunks.
    pub fn len(&self) -> usize {
        self.indices.len().checked_div(self.rank).unwrap_or(0)
    }

    /// Whether no chunk is stored.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Returns the indices.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.indices.chunks_exact(self.rank.max(1))
    }
}

/// The chunks that libhdf5 visits.
struct Visited {
    rank: usize,
    /// The maximum number of chunks.
    most: u64,
    indices: Vec<u64>,
    has_all: bool,
}

/// Adds a chunk; stops if there are too many.
unsafe extern "C" fn visit(
    index: *const Size,
    _mask: u32,
    _address: u64,
    _size: Size,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `visited_by` passes a `Visited`, and libhdf5 an index of the length of the rank.
    let (visited, index) = unsafe {
        let visited = &mut *data.cast::<Visited>();
        let index = std::slice::from_raw_parts(index, visited.rank);
        (visited, index)
    };
    let count = (visited.indices.len() / visited.rank) as u64;
    if count >= visited.most || visited.indices.try_reserve(visited.rank).is_err() {
        visited.has_all = false;
        return 1;
    }
    visited.indices.extend_from_slice(index);
    0
}

/// The function that finds a chunk by its number, and the dataspace that it requires.
struct Numbers<'d> {
    dataset: &'d Dataset,
    find: NumberedChunk,
    space: Handle,
}

impl Numbers<'_> {
    /// Returns the start of the chunk of this number.
    fn start(&self, number: u64, guard: &Guard) -> Result<Vec<u64>> {
        let mut start = vec![0; self.dataset.shape().len()];
        let (mut mask, mut address, mut size) = (0, 0, 0);
        // SAFETY: the index has the length of the rank, and the outputs the types that are written.
        let status = unsafe {
            let (dataset, index) = (self.dataset.id(), start.as_mut_ptr());
            let outputs = (&raw mut mask, &raw mut address, &raw mut size);
            (self.find)(dataset, self.space.id(), number, index, outputs.0, outputs.1, outputs.2)
        };
        check(status, guard, format!("find a chunk of {:?}", self.dataset.path()))?;
        Ok(start)
    }
}

impl Dataset {
    /// Returns the starts of all stored chunks, or `None` if this libhdf5 cannot list them. The
    /// items of other chunks are the fill value.
    ///
    /// # Errors
    /// [`Error::Call`]; [`Error::Invalid`] for a dataset without chunks, and if there are more
    /// chunks than bytes in the file.
    pub fn stored_starts(&self) -> Result<Option<ChunkStarts>> {
        let api = api()?;
        let guard = Guard::new(api);
        let rank = self.shape().len();
        let Some(chunks) = self.chunks().filter(|chunks| !chunks.is_empty()) else {
            return Err(Error::Invalid(format!("{:?} has no chunks", self.path())));
        };
        let Some((count_of, find)) = api.numbered_chunks else {
            return Ok(None);
        };
        let action = || format!("find the chunks of {:?}", self.path());
        // SAFETY: the dataset is open.
        let space = unsafe { (api.H5Dget_space)(self.id()) };
        let space = Handle::new(space, &guard, action())?;
        let numbers = Numbers { dataset: self, find, space };
        let most = self.file_size(&guard)?;
        let visited = match api.iterate_chunks {
            Some(iterate) => self.visited_by(iterate, &numbers, most, &guard)?,
            None => None,
        };
        let mut indices = match visited {
            Some(indices) => indices,
            None => {
                let mut count = 0;
                // SAFETY: both are open, and the output has the type that is written.
                let status = unsafe { count_of(self.id(), numbers.space.id(), &raw mut count) };
                check(status, &guard, action())?;
                if count > most {
                    return Err(self.too_many_chunks());
                }
                self.searched(count, &numbers, &guard)?
            }
        };
        let is_chunk = |start: &[u64]| {
            let lengths = chunks.iter().zip(self.shape());
            let mut inside = start.iter().zip(lengths);
            inside.all(|(at, (chunk, len))| at < len && at.is_multiple_of(*chunk))
        };
        // Damaged indices can list chunks outside of the dataset, which reading ignores.
        if !indices.chunks_exact(rank).all(is_chunk) {
            let inside = indices.chunks_exact(rank).filter(|start| is_chunk(start));
            indices = inside.collect::<Vec<_>>().concat();
        }
        Ok(Some(ChunkStarts::new(rank, indices)))
    }

    fn too_many_chunks(&self) -> Error {
        Error::Invalid(format!("{:?} has more stored chunks than the file can hold", self.path()))
    }

    /// Returns the starts of all stored chunks in the order of the index, found by a function that
    /// visits each once, or `None` if its results are not those of `numbers`.
    fn visited_by(
        &self,
        iterate: IterateChunks,
        numbers: &Numbers<'_>,
        most: u64,
        guard: &Guard,
    ) -> Result<Option<Vec<u64>>> {
        let rank = self.shape().len();
        let mut visited = Visited { rank, most, indices: Vec::new(), has_all: true };
        // SAFETY: the dataset is open, and the function has the arguments of visitors.
        let status = unsafe { iterate(self.id(), DEFAULT, visit, (&raw mut visited).cast()) };
        check(status, guard, format!("find the chunks of {:?}", self.path()))?;
        if !visited.has_all {
            return Err(self.too_many_chunks());
        }
        let mut indices = visited.indices;
        // Some versions count the offsets in chunks, not in items.
        let mut starts = indices.chunks_exact(rank);
        let Some(number) = starts.position(|start| start.iter().any(|&at| at > 0)) else {
            return Ok(Some(indices));
        };
        let found = indices[number * rank..][..rank].to_vec();
        let start = numbers.start(number as u64, guard)?;
        if found == start {
            return Ok(Some(indices));
        }
        let chunks = self.chunks().unwrap_or_default();
        let in_items = |index: &[u64]| -> Vec<u64> {
            index.iter().zip(chunks).map(|(at, len)| at.saturating_mul(*len)).collect()
        };
        if in_items(&found) != start {
            return Ok(None);
        }
        for index in indices.chunks_exact_mut(rank) {
            index.copy_from_slice(&in_items(index));
        }
        Ok(Some(indices))
    }

    /// Returns the starts of the `count` stored chunks, found by their numbers or their places,
    /// whichever visits fewer chunks.
    fn searched(&self, count: u64, numbers: &Numbers<'_>, guard: &Guard) -> Result<Vec<u64>> {
        let chunks = self.chunks().unwrap_or_default();
        let mut indices = Vec::new();
        let grid: Vec<u64> =
            self.shape().iter().zip(chunks).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let places = grid.iter().try_fold(1_u64, |places, &len| places.checked_mul(len));
        let of_numbers = u128::from(count) * u128::from(count) / 2;
        let Some(places) = places.filter(|&places| u128::from(places) <= of_numbers) else {
            for number in 0..count {
                indices.extend(numbers.start(number, guard)?);
            }
            return Ok(indices);
        };
        let mut index = vec![0; grid.len()];
        for _ in 0..places {
            let start: Vec<u64> = index.iter().zip(chunks).map(|(at, len)| at * len).collect();
            if self.stored_chunk(&start)?.is_some() {
                indices.extend(start);
            }
            for (at, len) in index.iter_mut().zip(&grid).rev() {
                *at += 1;
                if *at < *len {
                    break;
                }
                *at = 0;
            }
        }
        Ok(indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_in_c_order_without_duplicates() {
        let starts = ChunkStarts::new(2, vec![0, 9, 4, 0, 0, 3, 4, 0]);
        assert_eq!(starts.iter().collect::<Vec<_>>(), [&[0, 3][..], &[0, 9], &[4, 0]]);
        assert_eq!((starts.len(), starts.is_empty()), (3, false));
        let none = ChunkStarts::new(2, Vec::new());
        assert_eq!((none.len(), none.is_empty(), none.iter().count()), (0, true, 0));
        assert_eq!(ChunkStarts::default().iter().count(), ChunkStarts::default().len());
    }
}
