//! Reads chunks, super-chunks and b2nd arrays.

use std::path::Path;

use super::super::error::{Error, Result};
use super::super::placeholder::check_has_data;
use super::interface::{
    Content, MAX_READ, Reading, Source, check_range, read_in_boxes, read_size_of,
};
use crate::bcolz;
use crate::numpy::{ArrayInfo, Dtype};
use ferroblosc::b2nd::Array;
#[cfg(any(feature = "hdf5", feature = "zarr"))]
use ferroblosc::chunk::Special;
use ferroblosc::chunk::{BasicHeader, CParams, ChunkHeader, DParams, missing_plugin};
use ferroblosc::plugin;
#[cfg(any(feature = "hdf5", feature = "zarr"))]
use ferroblosc::schunk::chunks::{lazy_chunk, special_run};
use ferroblosc::schunk::{SChunk, State, Storage, VARIABLE};

/// Opens the super-chunk at `path`.
pub fn open_schunk(path: &Path, is_directory: bool, nthreads: i16) -> ferroblosc::Result<SChunk> {
    let storage = if is_directory { Storage::directory(path) } else { Storage::file(path) };
    SChunk::open(storage, DParams::default().threads(nthreads))
}

/// Reads the chunk in a file into an in-memory super-chunk.
pub fn schunk_of_chunk(path: &Path, nthreads: i16) -> Result<SChunk> {
    let bytes = ferroblosc::io::named::read_regular(path)?;
    let chunk_0_error = |error| Error::Chunk { number: 0, position: Some(0), error };
    let header = BasicHeader::parse(&bytes).map_err(chunk_0_error)?;
    let expected = u64::try_from(header.cbytes).unwrap_or(0);
    let actual = bytes.len() as u64;
    if actual < expected {
        return Err(Error::Truncated { expected, actual });
    }
    let params = CParams::default().typesize(header.typesize.into());
    let dparams = DParams::default().threads(nthreads);
    let mut schunk = SChunk::create(Storage::memory(), params, dparams)?;
    schunk.append_chunk(&bytes[..expected as usize]).map_err(chunk_0_error)?;
    Ok(schunk)
}

/// Returns the error of a chunk with the chunk's location.
pub fn chunk_error(schunk: &SChunk, number: i64, error: ferroblosc::Error) -> Error {
    let frame = schunk.state().frame();
    let position = frame.and_then(|frame| frame.chunk_position(usize::try_from(number).ok()?));
    if plugin::may_be_missing(&error)
        && let Ok(chunk) = schunk.chunk(number)
        && let Ok(header) = ChunkHeader::parse(&chunk)
        && let Some(plugin) = missing_plugin(&header)
    {
        return Error::NeedsPlugin { number, position, plugin };
    }
    Error::Chunk { number, position, error }
}

/// Returns the item of `itemsize` bytes that all items of a chunk equal, according to its header,
/// and a lower bound of the number of such chunks from this one on.
///
/// # Errors
/// The errors of reading the chunk.
#[cfg(any(feature = "hdf5", feature = "zarr"))]
pub fn repeated_item(
    schunk: &SChunk,
    number: i64,
    itemsize: u64,
) -> ferroblosc::Result<Option<(Vec<u8>, i64)>> {
    let header = ChunkHeader::parse(&lazy_chunk(schunk.state(), number)?)?;
    let is_repeated = matches!(header.special, Special::Zero | Special::Nan | Special::Value);
    if !is_repeated || u64::try_from(schunk.typesize()).ok() != Some(itemsize) {
        return Ok(None);
    }
    let mut item = vec![0; itemsize as usize];
    let first = number * i64::from(schunk.chunksize() / schunk.typesize());
    schunk.get_slice(first, first + 1, &mut item)?;
    Ok(Some((item, special_run(schunk.state(), number)?)))
}

/// The bytes of a super-chunk.
pub struct Chunks {
    schunk: SChunk,
    content: Content,
    /// The end offset of each chunk, if the chunks vary in size.
    ends: Option<Vec<u64>>,
    /// The index and content of the last chunk that was decompressed for a partial read.
    last: Option<(i64, Vec<u8>)>,
}

impl Chunks {
    pub fn open(path: &Path, is_directory: bool, reading: &Reading) -> Result<Chunks> {
        Chunks::of(open_schunk(path, is_directory, reading.threads())?)
    }

    pub fn of_chunk(path: &Path, reading: &Reading) -> Result<Chunks> {
        Chunks::of(schunk_of_chunk(path, reading.threads())?)
    }

    pub fn of(schunk: SChunk) -> Result<Chunks> {
        check_has_data(schunk.state())?;
        let ends = match schunk.chunksize() {
            VARIABLE => Some(ends(&schunk)?),
            _ => None,
        };
        let unit = u64::try_from(schunk.chunksize()).unwrap_or(0);
        let nbytes = match &ends {
            Some(ends) => ends.last().copied().unwrap_or(0),
            None => u64::try_from(schunk.nbytes()).map_err(|_| ferroblosc::Error::InvalidHeader)?,
        };
        let content = Content {
            array: None,
            typesize: u64::try_from(schunk.typesize()).unwrap_or(1),
            nbytes,
            read_size: read_size_of(unit),
        };
        Ok(Chunks { schunk, content, ends, last: None })
    }

    /// Returns the index, start and end of the chunk that contains byte `position`.
    fn chunk_at(&self, position: u64) -> (i64, u64, u64) {
        match &self.ends {
            Some(ends) => {
                let number = ends.partition_point(|&end| end <= position);
                let start = number.checked_sub(1).map_or(0, |before| ends[before]);
                let end = ends.get(number).copied().unwrap_or(start);
                (number as i64, start, end)
            }
            None => {
                // Data that are not empty have a chunk size of at least 1.
                let size = u64::from(self.schunk.chunksize().max(1).unsigned_abs());
                let number = position / size;
                let start = number * size;
                (number as i64, start, self.content.nbytes.min(start + size))
            }
        }
    }

    /// Decompresses a chunk of the size of `dest`.
    fn decompress(&self, number: i64, dest: &mut [u8]) -> Result<()> {
        match self.schunk.decompress(number, dest) {
            Ok(read) if read == dest.len() => Ok(()),
            Ok(_) => Err(chunk_error(&self.schunk, number, ferroblosc::Error::Data)),
            Err(error) => Err(chunk_error(&self.schunk, number, error)),
        }
    }

    fn read_part(
        &mut self,
        number: i64,
        start: u64,
        end: u64,
        dest: &mut [u8],
        skip: u64,
    ) -> Result<()> {
        let size = (end - start) as usize;
        if skip == 0 && dest.len() == size {
            return self.decompress(number, dest);
        }
        // Read aligned items of a large chunk without decompressing all of it.
        let typesize = self.content.typesize;
        let first = start + skip;
        let last = first + dest.len() as u64;
        let is_whole =
            self.ends.is_none() && first.is_multiple_of(typesize) && last.is_multiple_of(typesize);
        if is_whole && size > MAX_CACHED_CHUNK {
            let (first, last) = ((first / typesize) as i64, (last / typesize) as i64);
            if self.schunk.get_slice(first, last, dest).is_ok() {
                return Ok(());
            }
        }
        if self.last.as_ref().is_none_or(|(known, _)| *known != number) {
            let mut plain = match self.last.take() {
                Some((_, plain)) => plain,
                None => Vec::new(),
            };
            plain.clear();
            plain.try_reserve_exact(size).map_err(ferroblosc::Error::from)?;
            plain.resize(size, 0);
            self.decompress(number, &mut plain)?;
            self.last = Some((number, plain));
        }
        if let Some((_, plain)) = &self.last {
            let skip = skip as usize;
            dest.copy_from_slice(&plain[skip..skip + dest.len()]);
        }
        Ok(())
    }
}

/// The maximum size in bytes of a chunk that is decompressed completely and cached for partial
/// reads.
const MAX_CACHED_CHUNK: usize = 4 << 20;

impl Source for Chunks {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, mut position: u64, dest: &mut [u8]) -> Result<()> {
        check_range(&self.content, position, dest.len())?;
        let mut rest = dest;
        while !rest.is_empty() {
            let (number, start, end) = self.chunk_at(position);
            let skip = position - start;
            let count = rest.len().min((end - position) as usize);
            let (part, others) = rest.split_at_mut(count);
            self.read_part(number, start, end, part, skip)?;
            position += count as u64;
            rest = others;
        }
        Ok(())
    }
}

/// Returns the end offset of each chunk.
fn ends(schunk: &SChunk) -> Result<Vec<u64>> {
    let mut ends = Vec::new();
    let mut end = 0_u64;
    for number in 0..schunk.nchunks() {
        let nbytes = ferroblosc::schunk::chunks::lazy_chunk(schunk.state(), number)
            .and_then(|chunk| Ok(BasicHeader::parse(&chunk)?.nbytes))
            .and_then(|nbytes| u64::try_from(nbytes).map_err(|_| ferroblosc::Error::InvalidHeader));
        let nbytes = nbytes.map_err(|error| chunk_error(schunk, number, error))?;
        end = end.checked_add(nbytes).ok_or(ferroblosc::Error::InvalidHeader)?;
        ends.try_reserve(1).map_err(ferroblosc::Error::from)?;
        ends.push(end);
    }
    Ok(ends)
}

/// The items of a b2nd array.
pub struct Items {
    array: Array,
    content: Content,
}

/// Returns the NumPy dtype. Without a dtype string, items are opaque bytes.
fn dtype_of(text: Option<&str>, typesize: i32) -> Result<Dtype> {
    let opaque = format!("|V{typesize}");
    let text = text.filter(|text| !text.is_empty()).unwrap_or(&opaque);
    let parsed = Dtype::parse(text).map_err(bcolz::Error::from)?;
    if i64::try_from(parsed.itemsize()) != Ok(typesize.into()) {
        return Err(Error::Dtype { dtype: text.to_owned(), typesize: typesize.into() });
    }
    Ok(parsed.described()?)
}

/// Returns the NumPy dtype and shape of a b2nd array.
pub fn array_of(array: &Array) -> Result<ArrayInfo> {
    Ok(ArrayInfo {
        dtype: dtype_of(array.dtype(), array.schunk().typesize())?,
        shape: array.shape().iter().map(|len| len.unsigned_abs()).collect(),
        fortran_order: false,
    })
}

impl Items {
    pub fn open(path: &Path, is_directory: bool, reading: &Reading) -> Result<Items> {
        let schunk = open_schunk(path, is_directory, reading.threads())?;
        check_has_data(schunk.state())?;
        Items::of(Array::from_schunk(schunk)?)
    }

    pub fn of(array: Array) -> Result<Items> {
        let geometry = array.geometry();
        let typesize = array.schunk().typesize();
        let info = array_of(&array)?;
        let nbytes = info.nbytes()?;
        // All chunks with the same index in the first dimension form a slab.
        let rows = geometry.chunkshape().first().map_or(1, |&len| i64::from(len));
        let inner = geometry.shape().iter().skip(1);
        let slab =
            inner.fold(rows.saturating_mul(typesize.into()), |slab, &len| slab.saturating_mul(len));
        let slab = usize::try_from(slab).unwrap_or(usize::MAX);
        let read_size = match slab {
            0 => MAX_READ,
            slab if slab <= MAX_SLAB => slab.max(MAX_READ / slab * slab),
            _ => MAX_READ,
        };
        Ok(Items {
            array,
            content: Content {
                typesize: info.dtype.itemsize(),
                array: Some(info),
                nbytes,
                read_size,
            },
        })
    }

    /// Returns the error of the first unreadable chunk that overlaps a slice.
    fn locate_error(&self, start: &[i64], stop: &[i64], error: ferroblosc::Error) -> Error {
        let schunk = self.array.schunk();
        let numbers = ferroblosc::b2nd::request::slice_chunks(&self.array.geometry(), start, stop);
        let size = usize::try_from(schunk.chunksize()).unwrap_or(0);
        let mut plain = Vec::new();
        if plain.try_reserve_exact(size).is_ok() {
            plain.resize(size, 0);
            for number in numbers.unwrap_or_default() {
                if let Err(error) = schunk.decompress(number, &mut plain) {
                    return chunk_error(schunk, number, error);
                }
            }
        }
        error.into()
    }
}

/// The maximum size in bytes of a slab of chunks that is read at once. Chunks of larger slabs are
/// decompressed more than once.
const MAX_SLAB: usize = 64 << 20;

impl Source for Items {
    fn content(&self) -> &Content {
        &self.content
    }

    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()> {
        check_range(&self.content, position, dest.len())?;
        let shape: Vec<u64> = self.array.shape().iter().map(|len| len.unsigned_abs()).collect();
        read_in_boxes(self, &shape, position, dest)
    }

    fn read_box(&mut self, start: &[u64], stop: &[u64], dest: &mut [u8]) -> Result<()> {
        let signed = |indices: &[u64]| -> Result<Vec<i64>> {
            let indices = indices.iter().map(|&index| i64::try_from(index));
            Ok(indices
                .collect::<std::result::Result<_, _>>()
                .map_err(|_| ferroblosc::Error::InvalidIndex)?)
        };
        let (start, stop) = (signed(start)?, signed(stop)?);
        let ndim = self.array.shape().len();
        if start.len() != ndim || stop.len() != ndim {
            return Err(ferroblosc::Error::InvalidParam.into());
        }
        let items = self.array.get_slice(&start, &stop);
        let items = items.map_err(|error| self.locate_error(&start, &stop, error))?;
        if items.len() != dest.len() {
            return Err(ferroblosc::Error::InvalidParam.into());
        }
        dest.copy_from_slice(&items);
        Ok(())
    }
}
