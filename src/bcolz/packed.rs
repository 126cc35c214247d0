//! Chunk files of the published layout, which hold several chunks each.
//!
//! bcolz's description of its format has super-chunks: files with any number of chunks, or an unknown one, behind the
//! same sixteen bytes. No version of bcolz wrote them, so they are read and never written. The chunks follow each
//! other through the files, in the order of their numbers.

use std::path::{Path, PathBuf};

use super::chunkfile::{self, Chunk, Expected, FRONT};
use super::error::{Error, Result};
use super::store::Store;
use crate::blpk::{Archive, Header, Source};
use crate::io::{ReadAt, Stream};

/// Where each chunk is.
pub struct Packed {
    places: Vec<Place>,
}

struct Place {
    path: PathBuf,
    position: u64,
    cbytes: u32,
}

/// A file as the source of an archive.
struct FileSource(Box<dyn Stream>);

impl ReadAt for FileSource {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> crate::Result<usize> {
        Stream::read_at(&*self.0, position, dest)
    }
}

impl Source for FileSource {
    fn size(&self) -> crate::blpk::Result<u64> {
        Ok(self.0.size()?)
    }
}

/// Whether a chunk file says that it holds another number of chunks than one.
pub fn has_several(store: &Store, path: &Path) -> Result<bool> {
    let Some(stream) = store.open(path)? else {
        return Ok(false);
    };
    let mut front = [0; FRONT];
    let read = stream
        .read_at(0, &mut front)
        .map_err(Error::storage(path))?;
    let header = Header::decode(&front[..read]);
    Ok(header.is_ok_and(|header| header.version == 1 && header.nchunks != Some(1)))
}

impl Packed {
    /// Finds the chunks in the files of a directory, of which there must be `nchunks`.
    pub fn find(store: &Store, data: &Path, nchunks: u64) -> Result<Packed> {
        let mut places = Vec::new();
        let mut file = 0_u64;
        while (places.len() as u64) < nchunks {
            let path = data.join(format!("__{file}.blp"));
            let missing = || Error::MissingChunk(path.clone());
            let stream = store.open(&path)?.ok_or_else(missing)?;
            let fault = |_| Error::Chunk {
                path: path.clone(),
                why: "its chunks can't be found",
            };
            let mut archive = Archive::open(FileSource(stream)).map_err(fault)?;
            for index in 0..archive.nchunks().map_err(fault)? {
                let place = archive.place(index).map_err(fault)?;
                places.try_reserve(1)?;
                places.push(Place {
                    path: path.clone(),
                    position: place.position,
                    cbytes: place.chunk.cbytes,
                });
            }
            file += 1;
        }
        Ok(Packed { places })
    }

    /// Reads a chunk; returns the file it is in.
    pub fn read(&self, store: &Store, number: u64, bytes: &mut Vec<u8>) -> Result<&Path> {
        let place = usize::try_from(number)
            .ok()
            .and_then(|number| self.places.get(number));
        let place = place.ok_or(Error::Argument("there is no such chunk"))?;
        let missing = || Error::MissingChunk(place.path.clone());
        let stream = store.open(&place.path)?.ok_or_else(missing)?;
        bytes.clear();
        bytes.try_reserve_exact(place.cbytes as usize)?;
        bytes.resize(place.cbytes as usize, 0);
        let read = stream
            .read_at(place.position, bytes)
            .map_err(Error::storage(&place.path))?;
        bytes.truncate(read);
        Ok(&place.path)
    }
}

/// Where the chunks of a carray are.
pub enum Layout {
    /// Each in a file of its own.
    Own,
    /// Several in a file.
    Packed(Packed),
}

impl Layout {
    /// Finds out, for an array of so many chunks.
    pub fn find(store: &Store, data: &Path, nchunks: u64) -> Result<Layout> {
        if nchunks > 0 && has_several(store, &data.join("__0.blp"))? {
            return Ok(Layout::Packed(Packed::find(store, data, nchunks)?));
        }
        let Some(last) = nchunks.checked_sub(1) else {
            return Ok(Layout::Own);
        };
        // Where each file holds one chunk, as many as there are chunks, one of several comes late only in a
        // directory that has fewer files.
        if last > 0 && !store.exists(&data.join(format!("__{last}.blp")))? {
            let numbers = store.list(data)?.unwrap_or_default();
            let numbers = numbers.iter().filter_map(|name| chunkfile::number_of(name));
            for number in numbers {
                if has_several(store, &data.join(format!("__{number}.blp")))? {
                    return Ok(Layout::Packed(Packed::find(store, data, nchunks)?));
                }
            }
        }
        Ok(Layout::Own)
    }

    /// Reads chunk `number`, and hands it on with the path of its file.
    pub fn with_chunk<R>(
        &self,
        access: Access<'_>,
        number: u64,
        expected: Expected,
        bytes: &mut Vec<u8>,
        work: impl FnOnce(Chunk<'_>, &Path) -> Result<R>,
    ) -> Result<R> {
        match self {
            Layout::Own => {
                let path = access.data.join(format!("__{number}.blp"));
                chunkfile::read(access.store, &path, expected.most, bytes)?;
                let chunk = chunkfile::checked(bytes, expected, access.strict, &path)?;
                work(chunk, &path)
            }
            Layout::Packed(packed) => {
                let path = packed.read(access.store, number, bytes)?;
                work(Chunk::in_bytes(bytes, expected, path)?, path)
            }
        }
    }
}

/// How chunks are got at.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Where files are.
    pub store: &'a Store,
    /// The directory of the chunks.
    pub data: &'a Path,
    /// Whether whatever is wrong is an error.
    pub strict: bool,
}
