//! Chunk files of the published layout, with several chunks each.
//!
//! bcolz's description of its format defines super-chunks: files with any number of chunks, or an
//! unknown number, after the same 16-byte prefix. No version of bcolz writes them, so they are read
//! and never written. Chunks are numbered consecutively across files.

use std::path::{Path, PathBuf};

use super::chunkfile::{self, Chunk, Expected, PREFIX_LEN};
use super::error::{Error, Result};
use super::store::Store;
use crate::blpk::{self, Archive, Header, Source};
use ferroblosc::io::{ReadAt, Stream};

/// The locations of all chunks.
pub struct Packed {
    locations: Vec<ChunkLocation>,
}

struct ChunkLocation {
    path: PathBuf,
    position: u64,
    cbytes: u32,
}

/// A file as the source of an archive.
struct FileSource(Box<dyn Stream>);

impl ReadAt for FileSource {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> ferroblosc::Result<usize> {
        Stream::read_at(&*self.0, position, dest)
    }
}

impl Source for FileSource {
    fn size(&self) -> crate::blpk::Result<u64> {
        Ok(self.0.size()?)
    }
}

/// Whether a chunk file declares a number of chunks other than one.
pub fn has_several(store: &Store, path: &Path) -> Result<bool> {
    let Some(stream) = store.open(path)? else {
        return Ok(false);
    };
    let mut prefix = [0; PREFIX_LEN];
    let read = stream.read_at(0, &mut prefix).map_err(Error::storage(path))?;
    let header = Header::decode(&prefix[..read]);
    Ok(header.is_ok_and(|header| header.version == 1 && header.nchunks != Some(1)))
}

/// Whether any chunk file of a directory declares a number of chunks other than one.
pub fn any_has_several(store: &Store, data: &Path) -> Result<bool> {
    for name in store.list(data)?.unwrap_or_default() {
        if chunkfile::number_of(&name).is_some() && has_several(store, &data.join(name))? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Packed {
    /// Locates at least `nchunks` chunks in the files of a directory.
    pub fn find(store: &Store, data: &Path, nchunks: u64) -> Result<Packed> {
        let mut locations = Vec::new();
        let mut file = 0_u64;
        while (locations.len() as u64) < nchunks {
            let path = chunkfile::path_of(data, file);
            let missing = || Error::MissingChunk(path.clone());
            let stream = store.open(&path)?.ok_or_else(missing)?;
            let fault = |error: blpk::Error| match error {
                blpk::Error::Io(_) | blpk::Error::Memory => Error::storage(&path)(error.code()),
                _ => Error::Chunk { path: path.clone(), why: "the chunks cannot be located" },
            };
            let mut archive = Archive::open(FileSource(stream)).map_err(fault)?;
            for index in 0..archive.nchunks().map_err(fault)? {
                let location = archive.locate(index).map_err(fault)?;
                locations.try_reserve(1)?;
                locations.push(ChunkLocation {
                    path: path.clone(),
                    position: location.position,
                    cbytes: location.chunk.cbytes,
                });
            }
            file += 1;
        }
        Ok(Packed { locations })
    }

    /// Reads a chunk and returns the path of its file.
    pub fn read(&self, store: &Store, number: u64, bytes: &mut Vec<u8>) -> Result<&Path> {
        let location = usize::try_from(number).ok().and_then(|number| self.locations.get(number));
        let location = location.ok_or(Error::Argument("there is no such chunk"))?;
        let missing = || Error::MissingChunk(location.path.clone());
        let stream = store.open(&location.path)?.ok_or_else(missing)?;
        bytes.clear();
        bytes.try_reserve_exact(location.cbytes as usize)?;
        bytes.resize(location.cbytes as usize, 0);
        let read =
            stream.read_at(location.position, bytes).map_err(Error::storage(&location.path))?;
        bytes.truncate(read);
        Ok(&location.path)
    }
}

/// The layout of the chunk files of a carray.
pub enum Layout {
    /// One chunk per file.
    Own,
    /// Several chunks per file.
    Packed(Packed),
}

impl Layout {
    /// Detects the layout of an array of `nchunks` chunks.
    pub fn find(store: &Store, data: &Path, nchunks: u64) -> Result<Layout> {
        if nchunks > 0 && has_several(store, &chunkfile::path_of(data, 0))? {
            return Ok(Layout::Packed(Packed::find(store, data, nchunks)?));
        }
        let Some(last) = nchunks.checked_sub(1) else {
            return Ok(Layout::Own);
        };
        // If the file of the last chunk is missing, other files may hold several chunks. With one
        // chunk per file, the file of the last chunk exists.
        let is_last_missing = last > 0 && !store.exists(&chunkfile::path_of(data, last))?;
        if is_last_missing && any_has_several(store, data)? {
            return Ok(Layout::Packed(Packed::find(store, data, nchunks)?));
        }
        Ok(Layout::Own)
    }

    /// Reads chunk `number` and calls `work` with it and the path of its file.
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
                let path = chunkfile::path_of(access.data, number);
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

/// Access to chunk files.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// The storage.
    pub store: &'a Store,
    /// The directory of the chunks.
    pub data: &'a Path,
    /// Whether a wrong prefix is an error.
    pub strict: bool,
}
