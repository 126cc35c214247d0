//! The super-chunk API for Rust programs.

use super::chunks::{self, NewChunk};
use super::schunk_state::SChunkState;
use super::state::{Layers, State};
use super::storage::Storage;
use super::verify::{self, Report};
use super::{copy, meta, slices, sync, transaction};
use crate::chunk::{BasicHeader, CParams, DParams, Source, Special};
use crate::escape::escape;
use crate::frame::{Frame, FrameChunk, Loaded, Memory};
use crate::{Buffer, Error, ErrorKind, Result, item, kernels};
use std::ops::{Deref, DerefMut};

/// A sequence of chunks, with parameters and metadata.
///
/// A super-chunk owns its chunks in memory, or refers to a file or a directory that contains them.
/// Several threads may read it concurrently, with `&self`; changes need `&mut self`. Chunks and
/// items are counted from 0. All sizes are in bytes, and an item has [`typesize`](SChunk::typesize)
/// bytes.
///
/// The first chunk sets the chunk size. If only the last chunk is shorter, the chunk size is fixed,
/// and items can be read and written by their numbers ([`SChunk::get_slice`]). The first chunk that
/// breaks this rule makes the chunk size variable.
///
/// ```
/// use ferroblosc::chunk::{CParams, DParams};
/// use ferroblosc::schunk::{SChunk, Storage};
///
/// let params = CParams::default().typesize(2);
/// let mut samples = SChunk::create(Storage::memory(), params, DParams::default())?;
/// for second in 0..3 {
///     let items: Vec<i16> = (second * 1000..(second + 1) * 1000).collect();
///     samples.append_items(&items)?;
/// }
/// assert_eq!((samples.nchunks(), samples.chunksize(), samples.nbytes()), (3, 2000, 6000));
/// assert_eq!(samples.get::<i16>(999..1001)?, [999, 1000]);
///
/// samples.add_vlmetalayer("unit", b"millivolt")?;
/// assert_eq!(samples.vlmetalayer("unit")?, b"millivolt");
/// # Ok::<(), ferroblosc::Error>(())
/// ```
///
/// Methods with the type parameter [`T: Item`](crate::Item) pass items of a Rust type, which must
/// have the item size. [`SChunk::reader`] and [`SChunk::writer`] are streams of bytes, and
/// [`SChunk::chunks`] is an iterator.
///
/// # Errors
///
/// Each method lists its errors. Many methods share these:
///
/// ## Access errors
///
/// Methods that use a file or directory first acquire the lock, if locking is enabled, and load the
/// changes of other handles and processes. A super-chunk in memory has only the last of these
/// errors.
///
/// - [`Error::Lock`] if the lock file cannot be created or locked;
/// - [`Error::FileOpen`] or [`Error::FileRead`] if a file cannot be opened or read, or is
///   truncated;
/// - [`Error::InvalidHeader`], [`Error::Data`], [`Error::ReadBuffer`], [`Error::FrameType`] or
///   [`Error::VersionSupport`] if the changed file is not a valid frame;
/// - [`Error::InvalidParam`] in a child of `fork`, during a transaction of the parent;
/// - the errors of a [`Backend`](crate::io::Backend) of the program;
/// - [`Error::MemoryAlloc`].
///
/// ## Read errors
///
/// Methods that read a chunk have the [access errors](SChunk#access-errors), and:
///
/// - [`Error::InvalidParam`] if there is no such chunk;
/// - [`Error::FileOpen`] or [`Error::FileRead`] if the chunk cannot be read from its file;
/// - [`Error::InvalidHeader`], [`Error::ReadBuffer`], [`Error::VersionSupport`] or [`Error::Data`]
///   if the chunk is damaged, [`Error::Data`] also if it does not match its checksum.
///
/// ## Write errors
///
/// Methods that change a frame have the [access errors](SChunk#access-errors), and the following. A
/// super-chunk in memory without a frame has only [`Error::MemoryAlloc`]. After an error the
/// super-chunk is unchanged.
///
/// - [`Error::FileOpen`], [`Error::FileWrite`], [`Error::FileTruncate`] or [`Error::FileRemove`] if
///   a file cannot be changed;
/// - [`Error::InvalidParam`] if the frame has an older layout, which is read-only, if it would grow
///   over other data in its file, or if its header or trailer would become too long;
/// - [`Error::Data`] or [`Error::InvalidHeader`] if the frame is damaged;
/// - [`Error::Failure`] if the open transaction can only be rolled back;
/// - [`Error::MemoryAlloc`].
///
/// ## Chunk errors
///
/// Methods that add or replace a chunk convert the [write errors](SChunk#write-errors) except
/// [`Error::InvalidParam`], [`Error::Lock`] and [`Error::MemoryAlloc`] to the kind of the method:
/// [`Error::ChunkAppend`], [`Error::ChunkInsert`] or [`Error::ChunkUpdate`]. [`Error::origin`]
/// returns the kind before the conversion. They also return the kind of the method:
///
/// - if a chunk with variable-length blocks joins chunks with fixed-length blocks, or the reverse;
/// - if the first chunk is longer than the size of [`SChunk::set_chunksize`];
/// - in a frame, if the only chunk is shorter than that size, and another short one is appended.
///
/// Methods with a compressed chunk as argument check only its header, and return
///
/// - [`Error::InvalidHeader`] if the bytes are not a chunk;
/// - [`Error::VersionSupport`] if the chunk has a newer format.
pub struct SChunk {
    state: SChunkState,
}

/// An open transaction of a super-chunk, see [`SChunk::transaction`]. It dereferences to the
/// super-chunk. Dropping it rolls it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction<'a> {
    schunk: &'a mut SChunk,
    /// The number of open transactions, this one included.
    depth: usize,
    is_open: bool,
}

impl Transaction<'_> {
    /// Commits the changes.
    ///
    /// # Errors
    /// After an error the changes are rolled back, and the super-chunk remains usable.
    ///
    /// - [`Error::FileOpen`] if the file was replaced since the transaction began;
    /// - [`Error::FileWrite`] if another writer changed the file, or a write or sync failed;
    /// - [`Error::InvalidParam`] in a process that did not begin the transaction, and if a nested
    ///   transaction is still open because its value was leaked;
    /// - the [write errors](SChunk#write-errors).
    pub fn commit(mut self) -> Result<()> {
        transaction::check_innermost(&self.schunk.state, self.depth)?;
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
            // Does nothing if the caller swapped the super-chunk for one without a transaction.
            let _ = transaction::rollback_to(&mut self.schunk.state, self.depth - 1);
        }
    }
}

impl SChunk {
    /// Creates an empty super-chunk. Its path must not exist. `cparams` are the parameters of all
    /// its chunks and are recorded in a frame; `dparams` are not recorded.
    ///
    /// # Errors
    /// - [`Error::FileOpen`] if the path exists or cannot be created;
    /// - [`Error::FileWrite`] if the file cannot be written;
    /// - [`Error::InvalidParam`] for an item size below 1, and for durable storage with a backend
    ///   whose files cannot be renamed;
    /// - [`Error::FilterPipeline`] if `cparams` contain an invalid filter id;
    /// - [`Error::MemoryAlloc`];
    /// - the errors of a [`Backend`](crate::io::Backend) of the program.
    ///
    /// Other parameters are checked by the first compression.
    pub fn create(storage: Storage, cparams: CParams, dparams: DParams) -> Result<SChunk> {
        item::check_size(cparams.typesize)?;
        let threads = (cparams.nthreads, dparams.nthreads);
        // The frame is created before the state, because readers of lazy chunks need its files.
        let probe = SChunkState::new(cparams.clone(), DParams::default(), threads, None)?;
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
        let state = SChunkState::new(cparams, dparams, threads, frame)?;
        Ok(SChunk { state })
    }

    /// Opens a super-chunk in a file or directory.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for a storage in memory, and for durable storage with a backend
    ///   whose files cannot be renamed;
    /// - [`Error::FileOpen`] if the file or directory does not exist or cannot be opened;
    /// - [`Error::FileRead`] if it cannot be read;
    /// - [`Error::InvalidHeader`] if the file is not a frame, or truncated;
    /// - [`Error::InvalidHeader`], [`Error::Data`], [`Error::ReadBuffer`] or [`Error::FileRead`]
    ///   for a damaged frame;
    /// - [`Error::FrameType`] if the file is the index of a directory, or the reverse; with
    ///   [`Storage::file`] a directory is [`Error::FileOpen`], and so is a file with
    ///   [`Storage::directory`];
    /// - [`Error::VersionSupport`] if the frame has a newer format;
    /// - [`Error::FilterPipeline`] if the frame records an invalid filter id;
    /// - [`Error::Lock`] if locking is enabled and the lock file cannot be created or locked;
    /// - the [decompression errors](crate::chunk::Decompressor#errors) of a damaged index;
    /// - [`Error::MemoryAlloc`];
    /// - the errors of a [`Backend`](crate::io::Backend) of the program.
    pub fn open(storage: Storage, dparams: DParams) -> Result<SChunk> {
        let path = storage.path.as_deref().ok_or_else(|| {
            Error::InvalidParam.because("only a storage in a file or a directory can be opened")
        })?;
        let opened = Frame::open(storage.files(path), storage.lock(path))?;
        SChunk::of_frame(opened, dparams)
    }

    /// Opens a copy of the contiguous frame in `bytes`, in memory. `bytes` must have the length of
    /// the frame.
    ///
    /// # Errors
    /// - [`Error::InvalidHeader`], [`Error::Data`] or [`Error::ReadBuffer`] if `bytes` are not a
    ///   valid frame, or longer or shorter than the frame;
    /// - [`Error::FrameType`] if the frame is the index of a directory;
    /// - [`Error::VersionSupport`] if the frame has a newer format;
    /// - [`Error::FilterPipeline`] if the frame records an invalid filter id;
    /// - the [decompression errors](crate::chunk::Decompressor#errors) of a damaged index;
    /// - [`Error::MemoryAlloc`].
    pub fn from_bytes(bytes: &[u8], dparams: DParams) -> Result<SChunk> {
        let memory = Memory::owned(Buffer::copy_of(bytes)?);
        SChunk::of_frame(Frame::from_memory(memory)?, dparams)
    }

    pub(super) fn of_frame((frame, loaded): (Frame, Loaded), dparams: DParams) -> Result<SChunk> {
        let cparams = loaded.recorded.params(loaded.counters.blocksize);
        let state = SChunkState::new(cparams, dparams, (1, 1), Some(frame))?;
        state.load(loaded)?;
        Ok(SChunk { state })
    }

    /// Adds the path of the frame to an error.
    #[cold]
    pub(crate) fn located(&self, error: Error) -> Error {
        match self.state.frame().and_then(Frame::path) {
            Some(path) => error.at(path),
            None => error,
        }
    }

    /// Adds the name of a metalayer to an error that has no cause.
    #[cold]
    pub(super) fn of_metalayer(&self, name: &str, error: Error) -> Error {
        let error = match error.kind() {
            ErrorKind::NotFound => error.because(format!("there is no metalayer {}", escape(name))),
            _ => error,
        };
        self.located(error)
    }

    /// Returns the state, for the C libraries and tools of this project. Other programs do not need
    /// it.
    pub fn state(&self) -> &(impl State + Sync + use<>) {
        &self.state
    }

    /// Returns the mutable state, like [`SChunk::state`].
    pub fn state_mut(&mut self) -> &mut (impl State + Sync + use<>) {
        &mut self.state
    }

    /// Returns the number of chunks at the last refresh, by any method that uses the file.
    pub fn nchunks(&self) -> i64 {
        self.state.counters().nchunks
    }

    /// Returns the uncompressed size in bytes at the last refresh.
    pub fn nbytes(&self) -> i64 {
        self.state.counters().nbytes
    }

    /// Returns the compressed size of the chunks in bytes at the last refresh. For a frame it
    /// includes unused bytes between the chunks.
    pub fn cbytes(&self) -> i64 {
        self.state.counters().cbytes
    }

    /// Returns the uncompressed size of each chunk but the last in bytes; 0 if it is variable, −1
    /// before the first chunk.
    pub fn chunksize(&self) -> i32 {
        self.state.counters().chunksize
    }

    /// Sets the chunk size in bytes, before the first chunk; 0 makes it variable. Otherwise the
    /// first chunk sets it.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if there are chunks, and for a negative size.
    pub fn set_chunksize(&mut self, chunksize: i32) -> Result<()> {
        self.state.set_chunksize(chunksize)
    }

    /// Returns the item size in bytes.
    pub fn typesize(&self) -> i32 {
        self.state.recorded().typesize
    }

    /// Overrides the item size that the frame records, in bytes, for later reads and changes.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for a size below 1.
    pub fn set_typesize(&mut self, typesize: i32) -> Result<()> {
        item::check_size(typesize)?;
        self.state.set_typesize(typesize)
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
    /// - [`Error::InvalidParam`] if the storage is not durable, is in memory, has an older layout,
    ///   or is a directory whose index is at an offset above 0;
    /// - the [write errors](SChunk#write-errors).
    pub fn transaction(&mut self) -> Result<Transaction<'_>> {
        transaction::begin(&mut self.state)?;
        let depth = transaction::depth(&self.state);
        Ok(Transaction { schunk: self, depth, is_open: true })
    }

    /// Compresses `data` into one chunk, appends it and returns the new number of chunks.
    ///
    /// # Errors
    /// - the [compression errors](crate::chunk::Compressor#errors);
    /// - [`Error::ChunkAppend`] and the other [chunk errors](SChunk#chunk-errors).
    pub fn append(&mut self, data: &[u8]) -> Result<i64> {
        chunks::append_data(&mut self.state, Source::Bytes(data))
    }

    /// Appends a copy of a compressed chunk and returns the new number of chunks. `chunk` must be
    /// exactly one chunk.
    ///
    /// # Errors
    /// - [`Error::InvalidHeader`] if `chunk` is truncated, or longer than its header records;
    /// - [`Error::ChunkAppend`] and the other [chunk errors](SChunk#chunk-errors).
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<i64> {
        chunks::append(&mut self.state, whole(chunk)?)
    }

    /// Inserts a copy of a compressed chunk before chunk `nchunk` and returns the new number of
    /// chunks. `chunk` must be exactly one chunk. If `nchunk` is the number of chunks, the chunk is
    /// appended.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `nchunk` is negative or above the number of chunks;
    /// - [`Error::InvalidHeader`] if `chunk` is truncated, or longer than its header records;
    /// - [`Error::ChunkInsert`] and the other [chunk errors](SChunk#chunk-errors).
    pub fn insert_chunk(&mut self, nchunk: i64, chunk: &[u8]) -> Result<i64> {
        chunks::insert(&mut self.state, nchunk, whole(chunk)?)
    }

    /// Replaces chunk `nchunk` with a copy of a compressed chunk and returns the number of chunks.
    /// `chunk` must be exactly one chunk.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if there is no such chunk;
    /// - [`Error::Failure`] if the header of the old chunk cannot be read;
    /// - [`Error::InvalidHeader`] if `chunk` is truncated, or longer than its header records;
    /// - [`Error::ChunkUpdate`] and the other [chunk errors](SChunk#chunk-errors).
    pub fn update_chunk(&mut self, nchunk: i64, chunk: &[u8]) -> Result<i64> {
        chunks::update(&mut self.state, nchunk, whole(chunk)?)
    }

    /// Deletes chunk `nchunk` and returns the number of chunks left. The indices of later chunks
    /// decrease by 1.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if there is no such chunk;
    /// - [`Error::Failure`] if the header of the chunk cannot be read;
    /// - [`Error::ChunkUpdate`] in place of the [write errors](SChunk#write-errors) other than
    ///   [`Error::InvalidParam`], [`Error::Lock`] and [`Error::MemoryAlloc`].
    pub fn delete_chunk(&mut self, nchunk: i64) -> Result<i64> {
        chunks::delete(&mut self.state, nchunk)
    }

    /// Reorders the chunks: new chunk `i` is old chunk `order[i]`.
    ///
    /// # Errors
    /// - [`Error::Data`] if `order` is not a permutation of the chunk indices, and for a frame
    ///   without chunks;
    /// - the [read errors](SChunk#read-errors) and the [write errors](SChunk#write-errors).
    pub fn reorder(&mut self, order: &[i64]) -> Result<()> {
        chunks::reorder(&mut self.state, order)
    }

    /// Fills an empty super-chunk with `nitems` equal items, in chunks of `chunksize` bytes, and
    /// returns the number of chunks. `kind` is [`Special::Zero`], [`Special::Nan`] (for items of 4
    /// or 8 bytes) or [`Special::Uninit`]. If `nitems` is 0, nothing happens.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if `nitems` is negative, or `chunksize` is below the item size; in
    ///   a frame also for more than 268,435,455 chunks;
    /// - [`Error::FrameSpecial`] if there are chunks already; in a frame also for another `kind`,
    ///   and if `chunksize` is not a multiple of the item size. The [write
    ///   errors](SChunk#write-errors) other than [`Error::InvalidParam`], [`Error::Lock`] and
    ///   [`Error::MemoryAlloc`] are converted to it;
    /// - [`Error::SchunkSpecial`] for more than `i32::MAX` chunks, and if the size in bytes
    ///   overflows; without a frame also for another `kind`, if `chunksize` is not a multiple of
    ///   the item size, and if the first chunk is longer than the size of
    ///   [`SChunk::set_chunksize`];
    /// - [`Error::MaxBufsizeExceeded`] if `chunksize` exceeds
    ///   [`MAX_BUFFERSIZE`](crate::chunk::MAX_BUFFERSIZE);
    /// - the [access errors](SChunk#access-errors).
    pub fn fill(&mut self, nitems: i64, kind: Special, chunksize: i32) -> Result<i64> {
        chunks::fill(&mut self.state, nitems, kind, chunksize)
    }

    /// Returns chunk `nchunk` in compressed form: borrowed from memory, or read from its file.
    ///
    /// # Errors
    /// - the [read errors](SChunk#read-errors).
    pub fn chunk(&self, nchunk: i64) -> Result<FrameChunk<'_>> {
        chunks::chunk(&self.state, nchunk)
    }

    /// Decompresses chunk `nchunk` to the start of `dest`; returns its uncompressed size in bytes,
    /// which is at most [`SChunk::chunksize`] unless that is variable. A chunk of kind
    /// [`Special::Uninit`] leaves `dest` unchanged.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] without a frame and [`Error::WriteBuffer`] in a frame if `dest` is
    ///   too short;
    /// - the [read errors](SChunk#read-errors) and the [decompression
    ///   errors](crate::chunk::Decompressor#errors).
    pub fn decompress(&self, nchunk: i64, dest: &mut [u8]) -> Result<usize> {
        chunks::decompress(&self.state, nchunk, dest)
    }

    /// Decompresses block `nblock` of a chunk with variable-length blocks into a new vector.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the chunk has fixed-length blocks, or there is no such block;
    /// - the [read errors](SChunk#read-errors) and the [decompression
    ///   errors](crate::chunk::Decompressor#errors).
    pub fn vl_block(&self, nchunk: i64, nblock: i64) -> Result<Vec<u8>> {
        Ok(kernels::copy::to_vec(&chunks::vl_block(&self.state, nchunk, nblock)?))
    }

    /// Reads the items `start..stop` to the start of `dest`, which needs
    /// [`typesize`](SChunk::typesize) bytes for each item. If `start >= stop`, nothing is read.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the chunk size is variable;
    /// - [`Error::Failure`] if the items do not all exist, if `dest` is too short, or if a chunk is
    ///   damaged or cannot be read;
    /// - [`Error::CodecSupport`] or [`Error::FilterPipeline`] if a codec or a filter is missing;
    /// - the [access errors](SChunk#access-errors).
    pub fn get_slice(&self, start: i64, stop: i64, dest: &mut [u8]) -> Result<()> {
        slices::get(&self.state, start, stop, dest)
    }

    /// Overwrites the existing items `start..stop` with `src`. Each touched chunk is compressed
    /// once. If `start >= stop`, `src` must be empty and nothing is written.
    ///
    /// Without durable storage, an error leaves the chunks before the failed one overwritten.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the items do not all exist, the chunk size is variable, or
    ///   `src` does not have [`typesize`](SChunk::typesize) bytes for each item;
    /// - [`Error::Failure`] if a chunk is damaged, cannot be read or cannot be compressed;
    /// - [`Error::CodecSupport`] or [`Error::FilterPipeline`] if a codec or a filter is missing;
    /// - [`Error::ChunkUpdate`] and the other [chunk errors](SChunk#chunk-errors);
    /// - for durable storage the [write errors](SChunk#write-errors).
    pub fn set_slice(&mut self, start: i64, stop: i64, src: &[u8]) -> Result<()> {
        let needed = slices::len_to_set(&self.state, start, stop)?;
        item::check_len(src.len(), Some(needed), "bytes")?;
        slices::set(&mut self.state, start, stop, src)
    }

    /// Reads the items with the numbers in `coordinates`, which may be in any order and repeat,
    /// into consecutive items of `dest`. `dest` must have [`typesize`](SChunk::typesize) bytes for
    /// each.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if an item does not exist, if `dest` has another size, if the
    ///   chunk size is variable or not a multiple of the item size, and for variable-length blocks;
    /// - [`Error::Failure`] if a chunk cannot be read;
    /// - the [access errors](SChunk#access-errors) and the [decompression
    ///   errors](crate::chunk::Decompressor#errors).
    pub fn get_sparse(&self, coordinates: &[i64], dest: &mut [u8]) -> Result<()> {
        let width = usize::try_from(self.typesize()).map_err(|_| Error::InvalidParam)?;
        item::check_len(dest.len(), width.checked_mul(coordinates.len()), "bytes")?;
        slices::get_sparse(&self.state, coordinates, dest)
    }

    /// Adds a fixed metalayer with a copy of `content`, whose length cannot change later. A frame
    /// accepts fixed metalayers only before its first chunk.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the name has more than
    ///   [`MAX_NAME_LEN`](crate::frame::MAX_NAME_LEN) bytes or exists already, if there are
    ///   [`MAX_METALAYERS`](crate::frame::MAX_METALAYERS) already, and in a frame that has chunks;
    /// - the [write errors](SChunk#write-errors).
    pub fn add_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let added = meta::add(&mut self.state, name.as_bytes(), content);
        added.map(drop).map_err(|error| self.located(error))
    }

    /// Overwrites the first bytes of a fixed metalayer with `content`; the bytes after it are kept.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if there is no such metalayer;
    /// - [`Error::InvalidParam`] if `content` is longer than the metalayer, or the name has more
    ///   than [`MAX_NAME_LEN`](crate::frame::MAX_NAME_LEN) bytes;
    /// - the [write errors](SChunk#write-errors).
    pub fn update_metalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let updated = meta::update_within(&mut self.state, name.as_bytes(), content);
        updated.map_err(|error| self.of_metalayer(name, error))
    }

    /// Returns a copy of the content of a fixed metalayer at the last refresh; `None` if there is
    /// no such metalayer.
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

    /// Adds a variable-length metalayer with a compressed copy of `content`.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the name has more than
    ///   [`MAX_NAME_LEN`](crate::frame::MAX_NAME_LEN) bytes or exists already, if the content is
    ///   too long for a chunk, and if there are
    ///   [`MAX_VLMETALAYERS`](crate::frame::MAX_VLMETALAYERS) already;
    /// - [`Error::Failure`] in a frame that has [`MAX_METALAYERS`](crate::frame::MAX_METALAYERS)
    ///   already;
    /// - the [write errors](SChunk#write-errors).
    pub fn add_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let added = meta::vl_add(&mut self.state, name.as_bytes(), content, CParams::default());
        added.map(drop).map_err(|error| self.located(error))
    }

    /// Replaces the content of a variable-length metalayer with a compressed copy of `content`,
    /// which may have another length.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if there is no such metalayer;
    /// - [`Error::InvalidParam`] if the name has more than
    ///   [`MAX_NAME_LEN`](crate::frame::MAX_NAME_LEN) bytes, or the content is too long for a
    ///   chunk;
    /// - the [write errors](SChunk#write-errors).
    pub fn update_vlmetalayer(&mut self, name: &str, content: &[u8]) -> Result<()> {
        let params = CParams::default();
        let updated = meta::vl_update(&mut self.state, name.as_bytes(), content, params);
        updated.map(drop).map_err(|error| self.of_metalayer(name, error))
    }

    /// Removes a variable-length metalayer.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if there is no such metalayer;
    /// - [`Error::InvalidParam`] if the name has more than
    ///   [`MAX_NAME_LEN`](crate::frame::MAX_NAME_LEN) bytes;
    /// - the [write errors](SChunk#write-errors).
    pub fn delete_vlmetalayer(&mut self, name: &str) -> Result<()> {
        let deleted = meta::vl_delete(&mut self.state, name.as_bytes());
        deleted.map(drop).map_err(|error| self.of_metalayer(name, error))
    }

    /// Returns the decompressed content of a variable-length metalayer, after loading changes by
    /// other handles or processes.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if there is no such metalayer;
    /// - [`Error::InvalidParam`] if the name has more than
    ///   [`MAX_NAME_LEN`](crate::frame::MAX_NAME_LEN) bytes;
    /// - [`Error::Data`] if the stored bytes are not one chunk of the recorded length;
    /// - [`Error::ReadBuffer`] if the chunk cannot be decompressed;
    /// - [`Error::CodecSupport`] or [`Error::FilterPipeline`] if a codec or a filter is missing;
    /// - the [access errors](SChunk#access-errors).
    pub fn vlmetalayer(&self, name: &str) -> Result<Vec<u8>> {
        let found = meta::vl_get(&self.state, name.as_bytes());
        Ok(found.map_err(|error| self.of_metalayer(name, error))?.1.to_vec())
    }

    /// Returns the names of the fixed metalayers at the last refresh, in the order of their
    /// addition. Bytes of a name that are not UTF-8 are replaced.
    pub fn metalayer_names(&self) -> Vec<String> {
        self.layer_names(Layers::Fixed)
    }

    /// Returns the names of the variable-length metalayers at the last refresh, in the order of
    /// their addition. Bytes of a name that are not UTF-8 are replaced.
    pub fn vlmetalayer_names(&self) -> Vec<String> {
        self.layer_names(Layers::Variable)
    }

    fn layer_names(&self, kind: Layers) -> Vec<String> {
        let mut names = Vec::new();
        self.state.with_layers(kind, &mut |layers| {
            names = layers
                .iter()
                .map(|&(name, _)| String::from_utf8_lossy(name).into_owned())
                .collect();
        });
        names
    }

    /// Loads changes made by other handles or processes; returns whether there were any. Without
    /// locks, a file that is being written is left for a later call.
    ///
    /// # Errors
    /// - [`Error::Lock`] if the lock file cannot be created or locked;
    /// - with locks also the other [access errors](SChunk#access-errors).
    pub fn refresh(&self) -> Result<bool> {
        sync::refresh_all(&self.state)
    }

    /// Reads the whole super-chunk and reports corruption. Chunks with a checksum are compared with
    /// it, others are decompressed. Corrupted chunks and metalayers are part of the report, not
    /// errors.
    ///
    /// # Errors
    /// - [`Error::FileOpen`], [`Error::FileRead`] or [`Error::InvalidHeader`] if the parts of the
    ///   frame other than its chunks cannot be read;
    /// - the error of the first chunk that the system cannot read, see [`Error::is_system_error`];
    /// - [`Error::MemoryAlloc`].
    pub fn verify(&mut self) -> Result<Report> {
        verify::verify(&mut self.state)
    }

    /// Removes unused space from a super-chunk in files. If a frame in one file has checksums,
    /// missing ones of chunks that can be decompressed are added. Super-chunks in memory, frames of
    /// an older layout and frames at an offset above 0 stay unchanged.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] during a transaction;
    /// - the [read errors](SChunk#read-errors) and the [write errors](SChunk#write-errors).
    pub fn compact(&mut self) -> Result<()> {
        chunks::compact(&mut self.state)
    }

    /// Closes the super-chunk and reports errors. A durable file with large holes is compacted
    /// first; a failure of the compaction is not an error. Dropping the super-chunk also closes it,
    /// without compaction and errors.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if a transaction is still open because its value was leaked; it is
    ///   rolled back, with all changes since it began;
    /// - the error of [`Backend::destroy`](crate::io::Backend::destroy).
    pub fn close(self) -> Result<()> {
        let innermost = transaction::check_innermost(&self.state, 0);
        match self.state.into_frame() {
            Some(frame) => frame.finish().and(innermost),
            None => Ok(()),
        }
    }

    /// Runs a later step of the creation of the super-chunk. If it fails, the super-chunk is closed
    /// and its files are removed.
    ///
    /// # Errors
    /// Returns the errors of `step`.
    pub(crate) fn complete(
        mut self,
        step: impl FnOnce(&mut SChunk) -> Result<()>,
    ) -> Result<SChunk> {
        match step(&mut self) {
            Ok(()) => Ok(self),
            Err(error) => {
                self.discard();
                Err(error)
            }
        }
    }

    /// Closes a super-chunk whose creation failed, and removes its files as far as possible.
    pub(crate) fn discard(self) {
        if let Some(frame) = self.state.into_frame() {
            frame.discard();
        }
    }

    /// Returns the super-chunk as a contiguous frame in a new vector, which [`SChunk::from_bytes`]
    /// opens. Its chunks are copied without recompression.
    ///
    /// # Errors
    /// - [`Error::SchunkCopy`] if a chunk cannot be read or the frame cannot be built;
    /// - [`Error::MemoryAlloc`].
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        if let Some(frame) = self.state.frame_mut()
            && let Some(memory) = frame.memory()?
        {
            return Ok(kernels::copy::to_vec(memory.bytes()));
        }
        Ok(kernels::copy::to_vec(&sync::serialize(&self.state)?))
    }

    /// Returns the bytes of [`SChunk::to_bytes`] for a frame in memory ([`Storage::frame`]), without
    /// copying them. The header records the default numbers of threads.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, DParams};
    /// use ferroblosc::schunk::{SChunk, Storage};
    ///
    /// let mut schunk = SChunk::create(Storage::frame(), CParams::default(), DParams::default())?;
    /// schunk.append(&[7; 1000])?;
    /// let frame = schunk.into_buffer()?;
    /// let schunk = SChunk::from_bytes(&frame, DParams::default())?;
    /// assert_eq!(schunk.decompress_to_vec(0)?, [7; 1000]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for other super-chunks; [`Error::MemoryAlloc`].
    pub fn into_buffer(self) -> Result<Buffer> {
        sync::into_bytes(self.state)
    }

    /// Copies the chunks and metalayers into a new super-chunk, recompressed with the given
    /// parameters. Chunks with variable-length blocks are copied without recompression. `self` is
    /// unchanged. After an error the incomplete copy is removed.
    ///
    /// # Errors
    /// - the errors of [`SChunk::create`];
    /// - the [read errors](SChunk#read-errors) and the [decompression
    ///   errors](crate::chunk::Decompressor#errors);
    /// - the errors of [`SChunk::append`], [`SChunk::add_metalayer`] and
    ///   [`SChunk::add_vlmetalayer`] on the copy.
    pub fn copy_with(
        &self,
        storage: Storage,
        cparams: CParams,
        dparams: DParams,
    ) -> Result<SChunk> {
        let target = SChunk::create(storage, cparams, dparams)?;
        target.complete(|target| copy::copy(&self.state, &mut target.state, false))
    }
}

/// Checks that the bytes are exactly one chunk.
fn whole(chunk: &[u8]) -> Result<NewChunk<'_>> {
    let recorded = BasicHeader::parse(chunk).map(|header| header.cbytes);
    match recorded {
        Ok(cbytes) if usize::try_from(cbytes) == Ok(chunk.len()) => Ok(NewChunk::Copy(chunk)),
        Ok(_) => Err(Error::InvalidHeader),
        // Too short for a header.
        Err(error) if error == Error::ReadBuffer => Err(error.recast(ErrorKind::InvalidHeader)),
        Err(error) => Err(error),
    }
}
