//! The carray: rows of one type and shape, in chunks of equally many.
//!
//! ```text
//! ROOT/__attrs__       attributes
//! ROOT/meta/sizes      the shape
//! ROOT/meta/storage    the type, how chunks are made, what growth fills with
//! ROOT/data/__0.blp …  the chunks: full ones, and behind them the rest
//! ```
//!
//! A handle that writes keeps the rows behind the last full chunk in memory. Full chunks are written at once, large ones
//! when there is one for each thread; the rest and the sizes when the handle is flushed. Each file appears complete. An
//! array that grows gets its new chunks first and its new length then, one that shrinks the other way round; so whenever a writer is
//! interrupted, the sizes on the disk tell of rows that are there: a rest may hold more rows than they say.

mod read;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attrs::{self, Attrs};
use super::chunkfile::{self, Expected};
use super::dtype::{Dtype, Kind};
use super::error::{Error, Result};
use super::meta::{Cparams, Sizes, Storage};
use super::packed::{Access, Layout};
use super::store::{Claim, Store};
use super::{Mode, Options, chunklen, value};
use crate::bloscpack::Value;
use read::Worker;

/// The directory of the chunks.
pub(super) const DATA: &str = "data";
/// The directory of the description.
pub(super) const META: &str = "meta";
/// The file of the shape, in it.
pub(super) const SIZES: &str = "sizes";
/// The file of the type and the like, in it.
pub(super) const STORAGE: &str = "storage";

/// What a carray is made with.
#[derive(Clone, Debug)]
pub struct CarraySpec {
    /// The type of an item.
    pub dtype: Dtype,
    /// The lengths of a row's dimensions; none for single items.
    pub row_shape: Vec<u64>,
    /// Rows of a chunk, or none to choose by the expected length.
    pub chunklen: Option<u64>,
    /// How many rows there will be.
    pub expectedlen: u64,
    /// How chunks are compressed.
    pub cparams: Cparams,
    /// What growth fills with, or none for zeros.
    pub dflt: Option<Value>,
    /// Whether records may be written, which bcolz itself can't open again.
    pub records: bool,
}

impl CarraySpec {
    /// Single items of a type.
    pub fn new(dtype: Dtype) -> CarraySpec {
        CarraySpec {
            dtype,
            row_shape: Vec::new(),
            chunklen: None,
            expectedlen: 0,
            cparams: Cparams::default(),
            dflt: None,
            records: false,
        }
    }

    /// Judges it, and works out what it leaves open.
    pub(super) fn check(&self) -> Result<(Storage, Sizes)> {
        if self.dtype.has_objects() {
            return Err(Error::Objects);
        }
        if self.dtype.kind() == Kind::Record && !self.records {
            return Err(Error::Argument(
                "bcolz can't open carrays of records: make a ctable",
            ));
        }
        let typesize = self.dtype.blosc_typesize();
        typesize.ok_or(Error::Argument("there are no chunks of such items"))?;
        self.cparams.check(&self.dtype)?;
        let too_large = Error::Argument("the shape is too large");
        let sizes = Sizes::new(0, &self.row_shape, &self.dtype).ok_or(too_large)?;
        let rows = match self.chunklen {
            Some(rows) => rows,
            None => chunklen::automatic(self.expectedlen, sizes.row_bytes)?,
        };
        chunklen::check(rows, sizes.row_bytes)?;
        let dflt = match &self.dflt {
            Some(dflt) => {
                let item = value::item_of(&self.dtype, dflt);
                item.ok_or(Error::Argument("the fill value is not of the type"))?;
                dflt.clone()
            }
            None => value::default_of(&self.dtype),
        };
        let storage = Storage {
            dtype: self.dtype.clone(),
            cparams: self.cparams.clone(),
            chunklen: rows,
            expectedlen: self.expectedlen,
            dflt,
        };
        Ok((storage, sizes))
    }
}

/// A carray.
///
/// ```
/// use ferroblosc::bcolz::{Carray, CarraySpec, Dtype, Mode, Options};
///
/// # fn main() -> ferroblosc::bcolz::Result<()> {
/// # let root = std::env::temp_dir().join(format!("bcolz-doc-{}", std::process::id()));
/// let spec = CarraySpec::new(Dtype::parse("int64")?);
/// let mut array = Carray::create(&root, &spec, Mode::Write, &Options::default())?;
/// let items: Vec<u8> = (0..10_000_i64).flat_map(i64::to_le_bytes).collect();
/// array.append(&items)?;
/// array.close()?;
///
/// let mut array = Carray::open(&root, Mode::Read, &Options::default())?;
/// assert_eq!(array.shape(), [10_000]);
/// assert_eq!(array.read(5000..5001)?, 5000_i64.to_le_bytes());
/// # std::fs::remove_dir_all(root).unwrap();
/// # Ok(())
/// # }
/// ```
pub struct Carray {
    root: PathBuf,
    data: PathBuf,
    options: Options,
    storage: Storage,
    /// As on the disk, but for `len`, which counts the rows in memory too.
    sizes: Sizes,
    typesize: u8,
    attrs: Attrs,
    layout: Layout,
    /// Whether the mode allows changes.
    is_writable: bool,
    claim: Option<Claim>,
    /// What a writer has in memory.
    writer: write::Writer,
    workers: Vec<Worker>,
    /// A chunk that was decoded whole for a part of it, and the last chunk of which a part was read.
    cached: Option<(u64, Vec<u8>)>,
    last_part: Option<u64>,
}

impl Carray {
    /// Opens the carray at `root`; [`Mode::Write`] takes all rows away.
    ///
    /// # Errors
    /// [`Error`]
    pub fn open(root: &Path, mode: Mode, options: &Options) -> Result<Carray> {
        let mut array = Carray::open_unclaimed(root, mode, options)?;
        if mode != Mode::Read {
            array.claim = Some(options.store.claim(root)?);
            // Somebody else may have written until now.
            array.reload()?;
        }
        if mode == Mode::Write {
            array.resize(0)?;
        }
        Ok(array)
    }

    /// As [`Carray::open`], for one in a table that is claimed.
    pub(super) fn open_unclaimed(root: &Path, mode: Mode, options: &Options) -> Result<Carray> {
        let store = &options.store;
        let meta = root.join(META);
        let path = meta.join(STORAGE);
        let Some(description) = store.read_json(&path)? else {
            return Err(Error::NotFound(root.to_owned()));
        };
        let storage = Storage::from_value(&description, &path)?;
        let sizes = read_sizes(store, root, &storage.dtype)?;
        let data = root.join(DATA);
        let is_object = storage.dtype.kind() == Kind::Object;
        if !is_object {
            sizes.check(storage.chunklen, &meta.join(SIZES))?;
        }
        let typesize = storage.dtype.blosc_typesize();
        let mut array = Carray {
            attrs: Attrs::read(store, root)?,
            root: root.to_owned(),
            data,
            options: options.clone(),
            typesize: typesize.ok_or_else(|| Error::Dtype(storage.dtype.text().to_owned()))?,
            storage,
            sizes,
            layout: Layout::Own,
            is_writable: mode != Mode::Read,
            claim: None,
            writer: write::Writer::default(),
            workers: Vec::new(),
            cached: None,
            last_part: None,
        };
        if !is_object {
            array.layout = Layout::find(store, &array.data, array.nchunks())?;
        }
        Ok(array)
    }

    /// Makes a carray without rows at `root`, whose parent must be there. [`Mode::Write`] replaces what is there, if it
    /// is bcolz's.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::Exists`], [`Error::NotOurs`]; [`Error`].
    pub fn create(root: &Path, spec: &CarraySpec, mode: Mode, options: &Options) -> Result<Carray> {
        let described = spec.check()?;
        super::make_room(root, mode, options)?;
        write_new(root, &described, options)?;
        Carray::open(root, Mode::Append, options)
    }

    /// Reads what others may have changed.
    fn reload(&mut self) -> Result<()> {
        self.sizes = read_sizes(&self.options.store, &self.root, &self.storage.dtype)?;
        self.attrs = Attrs::read(&self.options.store, &self.root)?;
        self.writer = write::Writer::default();
        self.cached = None;
        Ok(())
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The type of an item.
    pub fn dtype(&self) -> &Dtype {
        &self.storage.dtype
    }

    /// How many rows there are.
    pub fn len(&self) -> u64 {
        self.sizes.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sizes.len == 0
    }

    /// The lengths of all dimensions.
    pub fn shape(&self) -> Vec<u64> {
        let mut shape = vec![self.sizes.len];
        shape.extend(&self.sizes.row_shape);
        shape
    }

    /// The lengths of a row's dimensions.
    pub fn row_shape(&self) -> &[u64] {
        &self.sizes.row_shape
    }

    /// Bytes of all rows.
    pub fn nbytes(&self) -> u64 {
        self.sizes.nbytes()
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> u64 {
        self.sizes.row_bytes
    }

    /// Rows of a chunk.
    pub fn chunklen(&self) -> u64 {
        self.storage.chunklen
    }

    /// The guess that the rows of a chunk were chosen by.
    pub fn expectedlen(&self) -> u64 {
        self.storage.expectedlen
    }

    /// Lets so many threads read and write chunks.
    pub fn set_threads(&mut self, nthreads: i32) {
        self.options.nthreads = nthreads;
    }

    /// How chunks are compressed that are written from now on.
    pub fn cparams(&self) -> &Cparams {
        &self.storage.cparams
    }

    /// What growth fills with.
    pub fn dflt(&self) -> &Value {
        &self.storage.dflt
    }

    /// The attributes.
    pub fn attrs(&self) -> &Attrs {
        &self.attrs
    }

    /// How many chunks hold the rows, the last short one included.
    pub fn nchunks(&self) -> u64 {
        self.sizes.len.div_ceil(self.storage.chunklen)
    }

    /// The number of a row: negative ones count from the end.
    ///
    /// # Errors
    /// [`Error::NoSuchRow`]
    pub fn row_number(&self, index: i64) -> Result<u64> {
        let row = match index {
            0.. => Some(index.unsigned_abs()),
            _ => self.sizes.len.checked_sub(index.unsigned_abs()),
        };
        row.filter(|&row| row < self.sizes.len)
            .ok_or(Error::NoSuchRow(index))
    }

    /// The bytes of the chunk files.
    ///
    /// # Errors
    /// [`Error::Storage`]
    pub fn stored_bytes(&self) -> Result<u64> {
        let store = &self.options.store;
        let mut total = 0;
        for name in store.list(&self.data)?.unwrap_or_default() {
            if chunkfile::number_of(&name).is_some() {
                let path = self.data.join(name);
                if let Some(stream) = store.open(&path)? {
                    total += stream.size().map_err(Error::storage(&path))?;
                }
            }
        }
        Ok(total)
    }

    /// Bytes of a full chunk.
    fn chunk_bytes(&self) -> u64 {
        self.storage.chunklen * self.sizes.row_bytes
    }

    /// How many chunks are full.
    fn full_chunks(&self) -> u64 {
        self.sizes.len / self.storage.chunklen
    }

    /// Bytes of the rows behind the full chunks.
    fn rest_bytes(&self) -> u64 {
        self.sizes.len % self.storage.chunklen * self.sizes.row_bytes
    }

    fn expected(&self, number: u64) -> Expected {
        let full = self.chunk_bytes();
        let least = if number < self.full_chunks() {
            full
        } else {
            self.rest_bytes()
        };
        Expected { least, most: full }
    }

    fn access(&self) -> Access<'_> {
        Access {
            store: &self.options.store,
            data: &self.data,
            strict: self.options.strict,
        }
    }

    fn chunk_path(&self, number: u64) -> PathBuf {
        self.data.join(format!("__{number}.blp"))
    }

    /// Refuses arrays of Python's objects.
    fn check_items(&self) -> Result<()> {
        match self.storage.dtype.has_objects() {
            true => Err(Error::Objects),
            false => Ok(()),
        }
    }
}

impl Drop for Carray {
    fn drop(&mut self) {
        // Who wants to know whether it worked closes it.
        let _ = self.flush();
    }
}

fn read_sizes(store: &Store, root: &Path, dtype: &Dtype) -> Result<Sizes> {
    let path = root.join(META).join(SIZES);
    match store.read_json(&path)? {
        Some(value) => Sizes::from_value(&value, dtype, &path),
        None => Err(Error::Incomplete(root.to_owned())),
    }
}

/// Writes an array without rows where there is nothing; the sizes come last.
pub(super) fn write_new(
    root: &Path,
    (storage, sizes): &(Storage, Sizes),
    options: &Options,
) -> Result<()> {
    let store = &options.store;
    let meta = root.join(META);
    store.make_directory(root)?;
    store.make_directory(&root.join(DATA))?;
    store.make_directory(&meta)?;
    attrs::write_none(store, root)?;
    store.replace_json(&meta.join(STORAGE), &storage.to_value())?;
    let cbytes = storage.chunklen * sizes.row_bytes;
    store.replace_json(&meta.join(SIZES), &sizes.to_value(cbytes))
}

/// What a mutex guards, of whom nobody minds that another thread was interrupted.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
