//! The super-chunk of Rust programs.

use super::chunks::{self, Offer};
use super::plain::{Plain, Shared};
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

/// Where a super-chunk is kept.
#[derive(Clone)]
pub struct Storage {
    contiguous: bool,
    path: Option<PathBuf>,
    start: u64,
    backend: Arc<dyn Backend>,
    locking: bool,
    care: Durability,
}

impl Storage {
    fn new(contiguous: bool, path: Option<&Path>) -> Storage {
        Storage {
            contiguous,
            path: path.map(Path::to_path_buf),
            start: 0,
            backend: Arc::new(FileSystem),
            locking: false,
            care: Durability::default(),
        }
    }

    /// In memory, each chunk apart.
    pub fn memory() -> Storage {
        Storage::new(false, None)
    }

    /// In memory, as one frame.
    pub fn frame() -> Storage {
        Storage::new(true, None)
    }

    /// In one file.
    pub fn file(path: impl AsRef<Path>) -> Storage {
        Storage::new(true, Some(path.as_ref()))
    }

    /// In a directory with a file for each chunk.
    pub fn directory(path: impl AsRef<Path>) -> Storage {
        Storage::new(false, Some(path.as_ref()))
    }

    /// In a file, from this byte on.
    pub fn at(mut self, start: u64) -> Storage {
        self.start = start;
        self
    }

    /// Behind another backend than the file system.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Storage {
        self.backend = backend;
        self
    }

    /// Locked against other processes while it is read or changed.
    pub fn locking(mut self) -> Storage {
        self.locking = true;
        self
    }

    /// Changed so that whatever interrupts a change, the super-chunk is afterwards as it was before or as it
    /// was to become, and that a change that returned lasts. Files of the file system only.
    pub fn durable(mut self) -> Storage {
        self.care.durable = true;
        self
    }

    /// Written with checksums, so that a chunk that isn't as it was written is noticed when it is read. Frames
    /// that have checksums keep them, whether or not this is asked for.
    pub fn checksums(mut self) -> Storage {
        self.care.checksums = true;
        self
    }

    fn files(&self, path: &Path) -> Files {
        let backend = Arc::clone(&self.backend);
        let files = match self.contiguous {
            true => Files::contiguous(backend, path.to_path_buf(), self.start),
            false => Files::sparse(backend, path.to_path_buf(), self.start),
        };
        files.with_durability(self.care)
    }

    fn lock(&self, path: &Path) -> Option<Arc<Lock>> {
        let wanted = self.backend.file_ops().is_some() && Lock::enabled(self.locking);
        wanted.then(|| {
            Arc::new(match self.contiguous {
                true => Lock::of_file(path),
                false => Lock::of_directory(path),
            })
        })
    }
}

/// A sequence of chunks, with parameters and metadata.
///
/// Several threads may read one at the same time.
pub struct SChunk {
    state: Plain,
}

/// An open transaction of a super-chunk. Dropping it rolls it back.
pub struct Transaction<'a> {
    schunk: &'a mut SChunk,
    is_open: bool,
}

impl Transaction<'_> {
    /// Makes the changes part of the super-chunk.
    ///
    /// # Errors
    /// Those of [`transaction::commit`]; the changes are rolled back then.
    pub fn commit(mut self) -> Result<()> {
        self.is_open = false;
        transaction::commit(&mut self.schunk.state)
    }

    /// Rolls the changes back, as dropping the transaction does.
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
            // Without a transaction, for another super-chunk may be in this one's stead, there is nothing to do.
            let _ = transaction::rollback(&mut self.schunk.state);
        }
    }
}

/// Puts the parts together.
fn assemble(
    mut cparams: CParams,
    dparams: DParams,
    threads: (i16, i16),
    frame: Option<Frame>,
) -> Result<Plain> {
    let recorded = StoredParams::of(&cparams);
    let shared: Arc<Shared> = Plain::shared(cparams.typesize);
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
    Ok(Plain::new(
        shared,
        recorded,
        threads,
        frame,
        compressor,
        new_decompressor,
    ))
}

/// An empty frame in memory, made to take up a copy of `s`.
pub(super) fn target_of_copy<S: State + ?Sized>(s: &S) -> Result<Plain> {
    let (recorded, blocksize) = s.used();
    let counters = Counters::empty(blocksize);
    // What copies record as their compression threads: nobody asked for any.
    let threads = (0, 1);
    let mut plain = assemble(recorded.params(0), DParams::default(), threads, None)?;
    plain.set_counters(counters);
    let description = super::describe::describe(&plain, counters)?;
    plain.set_frame(Frame::create_in_memory(&description)?);
    Ok(plain)
}

impl SChunk {
    /// Makes an empty super-chunk. Nothing may be at its path.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when something is at the path or nothing can be made there;
    /// [`Error::InvalidParam`] for an item size below 1; those of [`Compressor::new`].
    pub fn create(storage: Storage, cparams: CParams, dparams: DParams) -> Result<SChunk> {
        if cparams.typesize <= 0 {
            return Err(Error::InvalidParam);
        }
        let threads = (cparams.nthreads, dparams.nthreads);
        // The files are known to the readers of lazy chunks, so they come first.
        let probe = assemble(cparams.clone(), DParams::default(), threads, None)?;
        let description = super::describe::describe(&probe, probe.counters())?;
        let frame = match &storage.path {
            None if storage.contiguous => {
                let mut frame = Frame::create_in_memory(&description)?;
                if storage.care.checksums {
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

    /// Opens the super-chunk in a file or directory.
    ///
    /// # Errors
    /// Those of [`Frame::open`]; [`Error::InvalidParam`] for a storage in memory.
    pub fn open(storage: Storage, dparams: DParams) -> Result<SChunk> {
        let path = storage.path.as_deref().ok_or(Error::InvalidParam)?;
        let opened = Frame::open(storage.files(path), storage.lock(path))?;
        SChunk::of_frame(opened, dparams)
    }

    /// A super-chunk in memory that is the contiguous frame in `bytes`.
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

    /// The parts, for the operations of [`crate::schunk`] that are written over [`State`].
    pub fn state(&self) -> &(impl State + Sync + use<>) {
        &self.state
    }

    /// The parts, to be changed.
    pub fn state_mut(&mut self) -> &mut (impl State + Sync + use<>) {
        &mut self.state
    }

    /// Chunks held, as far as this handle knows.
    pub fn nchunks(&self) -> i64 {
        self.state.counters().nchunks
    }

    /// Bytes of data.
    pub fn nbytes(&self) -> i64 {
        self.state.counters().nbytes
    }

    /// Bytes of the chunks.
    pub fn cbytes(&self) -> i64 {
        self.state.counters().cbytes
    }

    /// Bytes of each chunk but the last; 0 when they differ, −1 before the first.
    pub fn chunksize(&self) -> i32 {
        self.state.counters().chunksize
    }

    /// Sets the bytes of each chunk before there is one.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] when there are chunks, and for a negative size.
    pub fn set_chunksize(&mut self, chunksize: i32) -> Result<()> {
        self.state.set_chunksize(chunksize)
    }

    /// Bytes of an item.
    pub fn typesize(&self) -> i32 {
        self.state.recorded().typesize
    }

    /// Sets the bytes of an item, when they are known better than the frame does.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for a size below 1.
    pub fn set_typesize(&mut self, typesize: i32) -> Result<()> {
        match typesize {
            1.. => self.state.set_typesize(typesize),
            _ => Err(Error::InvalidParam),
        }
    }

    /// How often the metalayers have changed, here or elsewhere.
    pub fn change_tick(&self) -> i64 {
        self.state.ticks()
    }

    /// Begins a transaction: what is changed through the result is one change, which becomes part of the
    /// super-chunk with [`Transaction::commit`]. Super-chunks in durable files and directories have transactions;
    /// appending many chunks in one is much faster than one durable change for each.
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

    /// Compresses data into a chunk behind all others; returns how many there are then.
    ///
    /// # Errors
    /// Those of [`chunks::append_data`].
    pub fn append(&mut self, data: &[u8]) -> Result<i64> {
        chunks::append_data(&mut self.state, Source::Bytes(data))
    }

    /// Adds a chunk behind all others; returns how many there are then.
    ///
    /// # Errors
    /// Those of [`chunks::append`].
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<i64> {
        chunks::append(&mut self.state, Offer::Copy(chunk))
    }

    /// Adds a chunk in front of the one of this number; returns how many there are then.
    ///
    /// # Errors
    /// Those of [`chunks::insert`].
    pub fn insert_chunk(&mut self, nchunk: i64, chunk: &[u8]) -> Result<i64> {
        chunks::insert(&mut self.state, nchunk, Offer::Copy(chunk))
    }

    /// Puts a chunk in the place of another; returns how many there are.
    ///
    /// # Errors
    /// Those of [`chunks::update`].
    pub fn update_chunk(&mut self, nchunk: i64, chunk: &[u8]) -> Result<i64> {
        chunks::update(&mut self.state, nchunk, Offer::Copy(chunk))
    }

    /// Removes a chunk; returns how many are left.
    ///
    /// # Errors
    /// Those of [`chunks::delete`].
    pub fn delete_chunk(&mut self, nchunk: i64) -> Result<i64> {
        chunks::delete(&mut self.state, nchunk)
    }

    /// Puts the chunks in another order: chunk `i` becomes the one that had the number `order[i]`.
    ///
    /// # Errors
    /// Those of [`chunks::reorder`].
    pub fn reorder(&mut self, order: &[i64]) -> Result<()> {
        chunks::reorder(&mut self.state, order)
    }

    /// Fills an empty super-chunk with items that are all one value; returns the number of chunks.
    ///
    /// # Errors
    /// Those of [`chunks::fill`].
    pub fn fill(&mut self, nitems: i64, kind: Special, chunksize: i32) -> Result<i64> {
        chunks::fill(&mut self.state, nitems, kind, chunksize)
    }

    /// A chunk.
    ///
    /// # Errors
    /// Those of [`chunks::chunk`].
    pub fn chunk(&self, nchunk: i64) -> Result<FrameChunk<'_>> {
        chunks::chunk(&self.state, nchunk)
    }

    /// Decompresses a chunk; returns its uncompressed bytes.
    ///
    /// # Errors
    /// Those of [`chunks::decompress`].
    pub fn decompress(&self, nchunk: i64, dest: &mut [u8]) -> Result<usize> {
        chunks::decompress(&self.state, nchunk, dest)
    }

    /// One block of a chunk whose blocks have lengths of their own.
    ///
    /// # Errors
    /// Those of [`chunks::vl_block`].
    pub fn vl_block(&self, nchunk: i64, nblock: i64) -> Result<Vec<u8>> {
        Ok(chunks::vl_block(&self.state, nchunk, nblock)?.to_vec())
    }

    /// Reads the items from `start` to before `stop`.
    ///
    /// # Errors
    /// Those of [`slices::get`].
    pub fn get_slice(&self, start: i64, stop: i64, dest: &mut [u8]) -> Result<()> {
        slices::get(&self.state, start, stop, dest)
    }

    /// Writes the items from `start` to before `stop`, which must be there.
    ///
    /// # Errors
    /// Those of [`slices::set`]; [`Error::InvalidParam`] when `src` has not the bytes of the slice.
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

    /// The content of a fixed metalayer.
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

    /// Gives a variable-length metalayer another content.
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

    /// The content of a variable-length metalayer.
    ///
    /// # Errors
    /// Those of [`meta::vl_get`].
    pub fn vlmetalayer(&self, name: &str) -> Result<Vec<u8>> {
        Ok(meta::vl_get(&self.state, name.as_bytes())?.1.to_vec())
    }

    /// The names of the variable-length metalayers.
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

    /// Takes up what another handle or process has changed; returns whether there was something.
    ///
    /// # Errors
    /// Those of [`sync::refresh_all`].
    pub fn refresh(&self) -> Result<bool> {
        sync::refresh_all(&self.state)
    }

    /// Reads all of the super-chunk to find what is wrong with it.
    ///
    /// # Errors
    /// Those of [`verify::verify`].
    pub fn verify(&mut self) -> Result<Report> {
        verify::verify(&mut self.state)
    }

    /// Frees the room that nothing in the frame needs, of a super-chunk in files.
    ///
    /// # Errors
    /// Those of [`chunks::compact`].
    pub fn compact(&mut self) -> Result<()> {
        chunks::compact(&mut self.state)
    }

    /// Ends the use of the super-chunk, and tells whether that worked. A durable one frees room that it no
    /// longer needs.
    ///
    /// # Errors
    /// Those of [`Frame::finish`].
    pub fn close(self) -> Result<()> {
        match self.state.into_frame() {
            Some(frame) => frame.finish(),
            None => Ok(()),
        }
    }

    /// The super-chunk as a contiguous frame.
    ///
    /// # Errors
    /// [`Error::SchunkCopy`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        if let Some(frame) = self.state.frame_mut()
            && let Some(memory) = frame.memory()?
        {
            return Ok(memory.bytes().to_vec());
        }
        Ok(sync::serialise(&self.state)?.to_vec())
    }

    /// Copies everything into a new super-chunk, compressed anew with these parameters.
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
