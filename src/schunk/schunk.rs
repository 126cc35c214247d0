//! The super-chunk API for Rust programs.

use super::chunks::{self, NewChunk};
use super::schunk_state::{SChunkState, Shared};
use super::state::{Layers, State};
use super::verify::{self, Report};
use super::{copy, meta, slices, sync, transaction};
use crate::chunk::{CParams, Compressor, DParams, Decompressor, LazySource, Source, Special};
use crate::frame::{Counters, Files, Frame, FrameChunk, Loaded, Memory, StoredParams};
use crate::io::lock::Lock;
use crate::io::{Backend, Durability, FileSystem};
use crate::{Buffer, Error, Parent, Result};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The storage of a super-chunk: memory, a file or a directory, and its options.
#[derive(Clone)]
pub struct Storage {
    contiguous: bool,
    path: Option<PathBuf>,
    start: u64,
    backend: Arc<dyn Backend>,
    locking: bool,
    durability: Durability,
}

impl Storage {
    fn new(contiguous: bool, path: Option<&Path>) -> Storage {
        Storage {
            contiguous,
            path: path.map(Path::to_path_buf),
            start: 0,
            backend: Arc::new(FileSystem),
            locking: false,
            durability: Durability::default(),
        }
    }

    /// Returns the storage for separate chunks in memory.
    pub fn memory() -> Storage {
        Storage::new(false, None)
    }

    /// Returns the storage for one frame in memory.
    pub fn frame() -> Storage {
        Storage::new(true, None)
    }

    /// Returns the storage for one file.
    pub fn file(path: impl AsRef<Path>) -> Storage {
        Storage::new(true, Some(path.as_ref()))
    }

    /// Returns the storage for a directory with one file per chunk.
    pub fn directory(path: impl AsRef<Path>) -> Storage {
        Storage::new(false, Some(path.as_ref()))
    }

    /// Sets the offset of the frame in its file, in bytes.
    pub fn at(mut self, start: u64) -> Storage {
        self.start = start;
        self
    }

    /// Uses the given I/O backend instead of the file system.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Storage {
        self.backend = backend;
        self
    }

    /// Locks the super-chunk against other processes during reads and changes.
    pub fn locking(mut self) -> Storage {
        self.locking = true;
        self
    }

    /// Makes changes atomic and durable: an interrupted change leaves the super-chunk in the state
    /// before or after it, and a completed call survives a crash. Only the file system supports
    /// this.
    pub fn durable(mut self) -> Storage {
        self.durability.durable = true;
        self
    }

    /// Adds checksums, which reads verify. Frames that already have checksums keep them regardless.
    pub fn checksums(mut self) -> Storage {
        self.durability.checksums = true;
        self
    }

    fn files(&self, path: &Path) -> Files {
        let backend = Arc::clone(&self.backend);
        let files = if self.contiguous {
            Files::contiguous(backend, path.to_path_buf(), self.start)
        } else {
            Files::sparse(backend, path.to_path_buf(), self.start)
        };
        files.with_durability(self.durability)
    }

    fn lock(&self, path: &Path) -> Option<Arc<Lock>> {
        let wanted = self.backend.file_ops().is_some() && Lock::enabled(self.locking);
        wanted.then(|| {
            Arc::new(if self.contiguous {
                Lock::of_file(path)
            } else {
                Lock::of_directory(path)
            })
        })
    }
}

/// A sequence of chunks, with parameters and metadata.
///
/// Several threads may read it concurrently.
pub struct SChunk {
    state: SChunkState,
}

/// An open transaction of a super-chunk. Dropping it rolls it back.
pub struct Transaction<'a> {
    schunk: &'a mut SChunk,
    is_open: bool,
}

impl Transaction<'_> {
    /// Commits the changes.
    ///
    /// # Errors
    /// Those of [`transaction::commit`], after which the changes are rolled back.
    pub fn commit(mut self) -> Result<()> {
        self.is_open = false;
        transaction::commit(&mut self.schunk.state)
    }

    /// Rolls the changes back. Dropping the transaction has the same effect.
    pub fn rollback(self) {}
}

impl Deref for Transaction<'_> {
    type Target = SChunk;

    fn deref(&self) -> &SChunk {
        self.schunk
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut SChunk {
        self.schunk
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Rollback fails only if the caller swapped the super-chunk for one without a
            // transaction.
            let _ = transaction::rollback(&mut self.schunk.state);
        }
    }
}

/// Builds the state from its components.
fn assemble(
    mut cparams: CParams,
    dparams: DParams,
    threads: (i16, i16),
    frame: Option<Frame>,
) -> Result<SChunkState> {
    let recorded = StoredParams::of(&cparams);
    let shared: Arc<Shared> = SChunkState::shared(cparams.typesize);
    let parent: Arc<dyn Parent> = Arc::clone(&shared) as _;
    cparams.parent = Some(Arc::clone(&parent));
    let files = frame.as_ref().and_then(Frame::files).map(Arc::clone);
    let new_decompressor = Box::new(move || {
        let mut params = dparams.clone();
        params.parent = Some(Arc::clone(&parent));
        params.lazy = files.clone().map(|files| files as Arc<dyn LazySource>);
        Decompressor::new(params)
    });
    let compressor = Compressor::new(cparams)?;
    Ok(SChunkState::new(
        shared,
        recorded,
        threads,
        frame,
        compressor,
        new_decompressor,
    ))
}

/// Creates an empty frame in memory as the target of a copy of `s`.
pub(super) fn target_of_copy<S: State + ?Sized>(s: &S) -> Result<SChunkState> {
    let (recorded, blocksize) = s.used();
    let counters = Counters::empty(blocksize);
    // Copies record these default numbers of threads.
    let threads = (0, 1);
    let mut plain = assemble(recorded.params(0), DParams::default(), threads, None)?;
    plain.set_counters(counters);
    let description = super::describe::describe(&plain, counters)?;
    plain.set_frame(Frame::create_in_memory(&description)?);
    Ok(plain)
}

impl SChunk {
    /// Creates an empty super-chunk. Its path must not exist.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if the path exists or cannot be created; [`Error::InvalidParam`] for an
    /// item size below 1; those of [`Compressor::new`].
    pub fn create(storage: Storage, cparams: CParams, dparams: DParams) -> Result<SChunk> {
        if cparams.typesize <= 0 {
            return Err(Error::InvalidParam);
        }
        let threads = (cparams.nthreads, dparams.nthreads);
        // The frame is created before the state, because readers of lazy chunks need its files.
        let probe = assemble(cparams.clone(), DParams::default(), threads, None)?;
        let description = super::describe::describe(&probe, probe.counters())?;
        let frame = match &storage.path {
            None if storage.contiguous => {
                let mut frame = Frame::create_in_memory(&description)?;
                if storage.durability.checksums {
                    frame.add_checksums();
                }
                Some(frame)
            }
            None => None,
            Some(path) => {
                let files = storage.files(path);
                Some(Frame::create(files, storage.lock(path), &description)?)
            }
        };
        let state = assemble(cparams, dparams, threads, frame)?;
        Ok(SChunk { state })
    }

    /// Opens a super-chunk in a file or directory.
    ///
    /// # Errors
    /// Those of [`Frame::open`]; [`Error::InvalidParam`] for a storage in memory.
    pub fn open(storage: Storage, dparams: DParams) -> Result<SChunk> {
        let path = storage.path.as_deref().ok_or(Error::InvalidParam)?;
        let opened = Frame::open(storage.files(path), storage.lock(path))?;
        SChunk::of_frame(opened, dparams)
    }

    /// Opens a copy of the contiguous frame in `bytes`, in memory.
    ///
    /// # Errors
    /// Those of [`Frame::from_memory`].
    pub fn from_bytes(bytes: &[u8], dparams: DParams) -> Result<SChunk> {
        let memory = Memory::owned(Buffer::copy_of(bytes)?);
        SChunk::of_frame(Frame::from_memory(memory)?, dparams)
    }

    pub(super) fn of_frame((frame, loaded): (Frame, Loaded), dparams: DParams) -> Result<SChunk> {
        let cparams = loaded.recorded.params(loaded.counters.blocksize);
        let state = assemble(cparams, dparams, (1, 1), Some(frame))?;
        state.load(loaded)?;
        Ok(SChunk { state })
    }

    /// Returns the state, for the functions of [`crate::schunk`] that operate on a [`State`].
    pub fn state(&self) -> &(impl State + Sync + use<>) {
        &self.state
    }

    /// Returns the mutable state.
    pub fn state_mut(&mut self) -> &mut (impl State + Sync + use<>) {
        &mut self.state
    }

    /// Returns the number of chunks at the last refresh.
    pub fn nchunks(&self) -> i64 {
        self.state.counters().nchunks
    }

    /// Returns the uncompressed size in bytes.
    pub fn nbytes(&self) -> i64 {
        self.state.counters().nbytes
    }

    /// Returns the compressed size of the chunks in bytes.
    pub fn cbytes(&self) -> i64 {
        self.state.counters().cbytes
    }

    /// Returns the size of each chunk but the last in bytes; 0 if it is variable, −1 before the
    /// first.
    pub fn chunksize(&self) -> i32 {
        self.state.counters().chunksize
    }

    /// Sets the chunk size in bytes, before the first chunk.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] if there are chunks, and for a negative size.
    pub fn set_chunksize(&mut self, chunksize: i32) -> Result<()> {
        self.state.set_chunksize(chunksize)
    }

    /// Returns the item size in bytes.
    pub fn typesize(&self) -> i32 {
        self.state.recorded().typesize
    }

    /// Overrides the item size that the frame records, in bytes.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a size below 1.
    pub fn set_typesize(&mut self, typesize: i32) -> Result<()> {
        match typesize {
            1.. => self.state.set_typesize(typesize),
            _ => Err(Error::InvalidParam),
        }
    }

    /// Returns a counter that increases with each metalayer change, and whenever changes of other
    /// handles or processes are loaded.
    pub fn version(&self) -> i64 {
        self.state.version()
    }

    /// Begins a transaction: all changes through the result take effect together on
    /// [`Transaction::commit`]. It requires a durable file or directory. Appending many chunks in
    /// one transaction is much faster than one durable change per chunk.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    ///
    /// let path = std::env::temp_dir().join(format!("orders-{}.b2frame", std::process::id()));
    /// let storage = Storage::file(&path).durable();
    /// let mut orders = SChunk::create(storage, CParams::default(), DParams::default())?;
    /// let mut transaction = orders.transaction()?;
    /// transaction.append(&[1; 8000])?;
    /// transaction.append(&[2; 8000])?;
    /// transaction.commit()?;
    ///
    /// let mut transaction = orders.transaction()?;
    /// transaction.append(&[3; 8000])?;
    /// drop(transaction);
    /// assert_eq!(orders.nchunks(), 2);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`transaction::begin`].
    pub fn transaction(&mut self) -> Result<Transaction<'_>> {
        transaction::begin(&mut self.state)?;
        Ok(Transaction {
            schunk: self,
            is_open: true,
        })
    }

    /// Compresses data, appends the chunk and returns the new number of chunks.
    ///
    /// # Errors
    /// Those of [`chunks::append_data`].
    pub fn append(&mut self, data: &[u8]) -> Result<i64> {
        chunks::append_data(&mut self.state, Source::Bytes(data))
    }

    /// Appends a chunk and returns the new number of chunks.
    ///
    /// # Errors
    /// Those of [`chunks::append`].
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<i64> {
        chunks::append(&mut self.state, NewChunk::Copy(chunk))
    }

    /// Inserts a chunk before chunk `nchunk` and returns the new number of chunks.
    ///
    /// # Errors
    /// Those of [`chunks::insert`].
    pub fn insert_chunk(&mut self, nchunk: i64, chunk: &[u8]) -> Result<i64> {
        chunks::insert(&mut self.state, nchunk, NewChunk::Copy(chunk))
    }

    /// Replaces a chunk and returns the number of chunks.
    ///
    /// # Errors
    /// Those of [`chunks::update`].
    pub fn update_chunk(&mut self, nchunk: i64, chunk: &[u8]) -> Result<i64> {
        chunks::update(&mut self.state, nchunk, NewChunk::Copy(chunk))
    }

    /// Deletes a chunk and returns the number of chunks left.
    ///
    /// # Errors
    /// Those of [`chunks::delete`].
    pub fn delete_chunk(&mut self, nchunk: i64) -> Result<i64> {
        chunks::delete(&mut self.state, nchunk)
    }

    /// Reorders the chunks: new chunk `i` is old chunk `order[i]`.
    ///
    /// # Errors
    /// Those of [`chunks::reorder`].
    pub fn reorder(&mut self, order: &[i64]) -> Result<()> {
        chunks::reorder(&mut self.state, order)
    }

    /// Fills an empty super-chunk with equal items and returns the number of chunks.
    ///
    /// # Errors
    /// Those of [`chunks::fill`].
    pub fn fill(&mut self, nitems: i64, kind: Special, chunksize: i32) -> Result<i64> {
        chunks::fill(&mut self.state, nitems, kind, chunksize)
    }

    /// Returns a chunk, borrowed from memory or read from a file.
    ///
    /// # Errors
    /// Those of [`chunks::chunk`].
    pub fn chunk(&self, nchunk: i64) -> Result<FrameChunk<'_>> {
        chunks::chunk(&self.state, nchunk)
    }

    /// Decompresses a chunk; returns its uncompressed size in bytes.
    ///
    /// # Errors
    /// Those of [`chunks::decompress`].
    pub fn decompress(&self, nchunk: i64, dest: &mut [u8]) -> Result<usize> {
        chunks::decompress(&self.state, nchunk, dest)
    }

    /// Decompresses one block of a chunk with variable-length blocks.
    ///
    /// # Errors
    /// Those of [`chunks::vl_block`].
    pub fn vl_block(&self, nchunk: i64, nblock: i64) -> Result<Vec<u8>> {
        Ok(chunks::vl_block(&self.state, nchunk, nblock)?.to_vec())
    }

    /// Reads the items `start..stop`.
    ///
    /// # Errors
    /// Those of [`slices::get`].
    pub fn get_slice(&self, start: i64, stop: i64, dest: &mut [u8]) -> Result<()> {
        slices::get(&self.state, start, stop, dest)
    }

    /// Overwrites the existing items `start..stop`.
    ///
    /// # Errors
    /// Those of [`slices::set`]; [`Error::InvalidParam`] if `src` is not exactly as long as the
    /// slice.
    pub fn set_slice(&mut self, start: i64, stop: i64, src: &[u8]) -> Result<()> {
        if slices::len_to_set(&self.state, start, stop)? != src.len() {
            return Err(Error::InvalidParam);
        }
        slices::set(&mut self.state, start, stop, src)
    }

    /// Reads the item at each coordinate.
    ///
    /// # Errors
    /// Those of [`slices::get_sparse`].
    pub fn get_sparse(&self, coordinates: &[i64], dest: &mut [u8]) -> Result<()> {
        slices::get_sparse(&self.state, coordinates, dest)
    }

    /// Adds a fixed metalayer.
    ///
    /// # Errors
    /// Those of [`meta::add`].
    pub fn add_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        meta::add(&mut self.state, name.as_bytes(), content).map(|_| ())
    }

    /// Overwrites the start of a fixed metalayer.
    ///
    /// # Errors
    /// Those of [`meta::update`].
    pub fn update_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        meta::update(&mut self.state, name.as_bytes(), content).map(|_| ())
    }

    /// Returns the content of a fixed metalayer.
    pub fn metalayer(&self, name: &str) -> Option<Vec<u8>> {
        let mut found = None;
        self.state.with_layers(Layers::Fixed, &mut |layers| {
            found = layers
                .iter()
                .find(|&&(other, _)| other == name.as_bytes())
                .map(|&(_, content)| content.to_vec());
        });
        found
    }

    /// Adds a variable-length metalayer.
    ///
    /// # Errors
    /// Those of [`meta::vl_add`].
    pub fn add_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        meta::vl_add(
            &mut self.state,
            name.as_bytes(),
            content,
            CParams::default(),
        )
        .map(|_| ())
    }

    /// Replaces the content of a variable-length metalayer.
    ///
    /// # Errors
    /// Those of [`meta::vl_update`].
    pub fn update_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        meta::vl_update(
            &mut self.state,
            name.as_bytes(),
            content,
            CParams::default(),
        )
        .map(|_| ())
    }

    /// Removes a variable-length metalayer.
    ///
    /// # Errors
    /// Those of [`meta::vl_delete`].
    pub fn delete_vlmetalayer(&mut self, name: &str) -> Result<()> {
        meta::vl_delete(&mut self.state, name.as_bytes()).map(|_| ())
    }

    /// Returns the content of a variable-length metalayer.
    ///
    /// # Errors
    /// Those of [`meta::vl_get`].
    pub fn vlmetalayer(&self, name: &str) -> Result<Vec<u8>> {
        Ok(meta::vl_get(&self.state, name.as_bytes())?.1.to_vec())
    }

    /// Returns the names of the variable-length metalayers.
    pub fn vlmetalayer_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.state.with_layers(Layers::Variable, &mut |layers| {
            names = layers
                .iter()
                .map(|&(name, _)| String::from_utf8_lossy(name).into_owned())
                .collect();
        });
        names
    }

    /// Loads changes made by other handles or processes; returns whether there were any.
    ///
    /// # Errors
    /// Those of [`sync::refresh_all`].
    pub fn refresh(&self) -> Result<bool> {
        sync::refresh_all(&self.state)
    }

    /// Reads the whole super-chunk and reports corruption.
    ///
    /// # Errors
    /// Those of [`verify::verify`].
    pub fn verify(&mut self) -> Result<Report> {
        verify::verify(&mut self.state)
    }

    /// Removes unused space from a super-chunk in files.
    ///
    /// # Errors
    /// Those of [`chunks::compact`].
    pub fn compact(&mut self) -> Result<()> {
        chunks::compact(&mut self.state)
    }

    /// Closes the super-chunk and reports errors. A durable file with large holes is compacted.
    ///
    /// # Errors
    /// Those of [`Frame::finish`].
    pub fn close(self) -> Result<()> {
        match self.state.into_frame() {
            Some(frame) => frame.finish(),
            None => Ok(()),
        }
    }

    /// Returns the super-chunk as a contiguous frame.
    ///
    /// # Errors
    /// [`Error::SchunkCopy`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        if let Some(frame) = self.state.frame_mut()
            && let Some(memory) = frame.memory()?
        {
            return Ok(memory.bytes().to_vec());
        }
        Ok(sync::serialize(&self.state)?.to_vec())
    }

    /// Copies the super-chunk into a new one, recompressed with the given parameters.
    ///
    /// # Errors
    /// Those of [`SChunk::create`] and [`copy::copy`].
    pub fn copy_with(
        &self,
        storage: Storage,
        cparams: CParams,
        dparams: DParams,
    ) -> Result<SChunk> {
        let mut target = SChunk::create(storage, cparams, dparams)?;
        copy::copy(&self.state, &mut target.state, false)?;
        Ok(target)
    }
}
