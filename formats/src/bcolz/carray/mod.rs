//! The carray: rows of one dtype and shape, stored in chunks of equal length.
//!
//! ```text
//! ROOT/__attrs__       attributes
//! ROOT/meta/sizes      the shape
//! ROOT/meta/storage    dtype, chunk parameters, fill value
//! ROOT/data/__0.blp …  the chunks: full chunks, then the partial last one (the tail)
//! ```
//!
//! A writing handle buffers the tail in memory. It writes full chunks immediately, or, if they are
//! large, once there is one for each thread. A flush writes the tail and then the sizes. Each file
//! is replaced atomically. Growing writes the chunks before the new length, shrinking writes the
//! length first. So the rows counted by `sizes` exist even after an interruption; the tail file may
//! hold extra rows.

mod open;
mod read;
mod state;
mod write;

use std::path::{Path, PathBuf};

use super::attrs::{self, Attrs};
use super::chunkfile::{self, Expected};
use super::error::{Error, Result};
use super::meta::{Compression, Sizes, Storage};
use super::owner::Owner;
use super::packed::{Access, Layout};
use super::root::{DATA, META, SIZES, STORAGE};
use super::store::{MAX_DESCRIPTION, Store, WriterLock, description_of};
use super::{Mode, Options, chunklen, value};
use crate::bloscpack::Value;
use crate::numpy::{ArrayInfo, Dtype, Kind};
use state::{Worker, Writer};
pub(super) use write::check_growth;

/// The maximum length of a default fill value in characters.
const MAX_DFLT: u64 = MAX_DESCRIPTION / 2;

/// The parameters of a new carray.
#[derive(Clone, Debug)]
pub struct CarraySpec {
    /// The dtype of an item.
    pub dtype: Dtype,
    /// The shape of a row; empty for scalar items.
    pub row_shape: Vec<u64>,
    /// The number of rows per chunk, or `None` to derive it from the expected length.
    pub chunklen: Option<u64>,
    /// The expected number of rows.
    pub expectedlen: u64,
    /// The compression parameters.
    pub cparams: Compression,
    /// The fill value of new rows, or `None` for zeros.
    pub dflt: Option<Value>,
    /// Whether to allow record dtypes, which bcolz itself cannot reopen.
    pub records: bool,
}

impl CarraySpec {
    /// Returns the default parameters for scalar items of a dtype.
    pub fn new(dtype: Dtype) -> CarraySpec {
        CarraySpec {
            dtype,
            row_shape: Vec::new(),
            chunklen: None,
            expectedlen: 0,
            cparams: Compression::default(),
            dflt: None,
            records: false,
        }
    }

    /// Validates the parameters and fills in defaults.
    pub(super) fn check(&self) -> Result<(Storage, Sizes)> {
        if self.dtype.has_objects() {
            return Err(Error::Objects);
        }
        if self.dtype.has_packed_floats() {
            return Err(Error::Dtype(self.dtype.text().to_owned()));
        }
        if self.dtype.kind() == Kind::Record && !self.records {
            return Err(Error::Argument(
                "bcolz cannot open carrays or columns of records: make a ctable of their fields",
            ));
        }
        let typesize = self.dtype.blosc_typesize();
        typesize.ok_or(Error::Argument("the item size is not supported"))?;
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
                let size = self.dtype.itemsize() as usize;
                let mut item = Vec::new();
                item.try_reserve_exact(size)?;
                item.resize(size, 0);
                value::write_item(&self.dtype, dflt, &mut item)
                    .ok_or(Error::Argument("the fill value does not have the type of the array"))?;
                dflt.clone()
            }
            // A longer description could not be read again.
            None if value::default_len(&self.dtype).is_none_or(|len| len > MAX_DFLT) => {
                return Err(Error::Argument("the items are too large for a fill value"));
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
        description_of(&storage.to_value())?;
        Ok((storage, sizes))
    }
}

/// A carray.
///
/// ```
/// use ferroblosc_formats::bcolz::{Carray, CarraySpec, Mode, Options};
/// use ferroblosc_formats::numpy::Dtype;
///
/// # fn main() -> ferroblosc_formats::bcolz::Result<()> {
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
    /// As on disk, except `len`, which includes the buffered rows.
    sizes: Sizes,
    typesize: u8,
    attrs: Attrs,
    layout: Layout,
    /// Whether the mode allows changes.
    is_writable: bool,
    /// The process that may write.
    owner: Owner,
    lock: Option<WriterLock>,
    /// The buffered rows and the state of a writer.
    writer: Writer,
    workers: Vec<Worker>,
    /// The number and content of the last completely decoded chunk.
    cached: Option<(u64, Vec<u8>)>,
    /// The number of the chunk of the last partial read.
    last_part: Option<u64>,
}

impl Carray {
    /// Opens a carray without locking it, for a column of a locked table.
    pub(super) fn open_unlocked(root: &Path, mode: Mode, options: &Options) -> Result<Carray> {
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
            owner: Owner::this_process(),
            lock: None,
            writer: Writer::default(),
            workers: Vec::new(),
            cached: None,
            last_part: None,
        };
        if !is_object {
            array.layout = Layout::find(store, &array.data, array.nchunks())?;
        }
        Ok(array)
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the dtype of an item.
    pub fn dtype(&self) -> &Dtype {
        &self.storage.dtype
    }

    /// Returns the description as an array of NumPy.
    ///
    /// # Errors
    /// [`numpy::Error::Objects`](crate::numpy::Error::Objects)
    pub fn info(&self) -> crate::numpy::Result<ArrayInfo> {
        Ok(ArrayInfo {
            dtype: self.dtype().described()?,
            shape: self.shape(),
            fortran_order: false,
        })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.sizes.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.sizes.len == 0
    }

    /// Returns the shape.
    pub fn shape(&self) -> Vec<u64> {
        let mut shape = vec![self.sizes.len];
        shape.extend(&self.sizes.row_shape);
        shape
    }

    /// Returns the shape of a row.
    pub fn row_shape(&self) -> &[u64] {
        &self.sizes.row_shape
    }

    /// Returns the uncompressed size in bytes.
    pub fn nbytes(&self) -> u64 {
        self.sizes.nbytes()
    }

    /// Returns the size of a row in bytes.
    pub fn row_bytes(&self) -> u64 {
        self.sizes.row_bytes
    }

    /// Returns the number of rows per chunk.
    pub fn chunklen(&self) -> u64 {
        self.storage.chunklen
    }

    /// Returns the expected number of rows given at creation.
    pub fn expectedlen(&self) -> u64 {
        self.storage.expectedlen
    }

    /// Sets the number of threads.
    pub fn set_threads(&mut self, nthreads: i32) {
        self.options.nthreads = nthreads;
    }

    /// Returns the compression parameters of chunks to write.
    pub fn cparams(&self) -> &Compression {
        &self.storage.cparams
    }

    /// Returns the fill value of new rows.
    pub fn dflt(&self) -> &Value {
        &self.storage.dflt
    }

    /// Returns the attributes.
    pub fn attrs(&self) -> &Attrs {
        &self.attrs
    }

    /// Returns the number of chunks, including the partial last one.
    pub fn nchunks(&self) -> u64 {
        self.sizes.len.div_ceil(self.storage.chunklen)
    }

    /// Converts an index to a row number. Negative indices count from the end.
    ///
    /// # Errors
    /// [`Error::NoSuchRow`]
    pub fn row_number(&self, index: i64) -> Result<u64> {
        let row = match index {
            0.. => Some(index.unsigned_abs()),
            _ => self.sizes.len.checked_sub(index.unsigned_abs()),
        };
        row.filter(|&row| row < self.sizes.len).ok_or(Error::NoSuchRow(index))
    }

    /// Returns the total size of the chunk files in bytes.
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

    /// Returns the uncompressed size of a full chunk in bytes.
    fn chunk_bytes(&self) -> u64 {
        self.storage.chunklen * self.sizes.row_bytes
    }

    /// Returns the number of full chunks.
    fn full_chunks(&self) -> u64 {
        self.sizes.len / self.storage.chunklen
    }

    /// Returns the uncompressed size of the tail in bytes.
    fn tail_bytes(&self) -> u64 {
        self.sizes.len % self.storage.chunklen * self.sizes.row_bytes
    }

    fn expected(&self, number: u64) -> Expected {
        let full = self.chunk_bytes();
        let least = if number < self.full_chunks() { full } else { self.tail_bytes() };
        Expected { least, most: full }
    }

    fn access(&self) -> Access<'_> {
        Access { store: &self.options.store, data: &self.data, strict: self.options.strict }
    }

    /// Returns the path of a chunk file.
    pub(in crate::bcolz) fn chunk_path(&self, number: u64) -> PathBuf {
        chunkfile::path_of(&self.data, number)
    }

    /// Fails for Python objects.
    fn check_items(&self) -> Result<()> {
        if self.storage.dtype.has_objects() { Err(Error::Objects) } else { Ok(()) }
    }
}

fn read_sizes(store: &Store, root: &Path, dtype: &Dtype) -> Result<Sizes> {
    let path = root.join(META).join(SIZES);
    match store.read_json(&path)? {
        Some(value) => Sizes::from_value(&value, dtype, &path),
        None => Err(Error::Incomplete(root.to_owned())),
    }
}

/// Writes the files of an empty array to an empty directory. The sizes are written last and mark
/// the array as complete.
pub(super) fn write_new(
    root: &Path,
    (storage, sizes): &(Storage, Sizes),
    options: &Options,
) -> Result<()> {
    let store = &options.store;
    let meta = root.join(META);
    store.make_directory(&root.join(DATA))?;
    store.make_directory(&meta)?;
    attrs::write_none(store, root)?;
    store.replace_json(&meta.join(STORAGE), &storage.to_value())?;
    let cbytes = storage.chunklen * sizes.row_bytes;
    store.replace_json(&meta.join(SIZES), &sizes.to_value(cbytes))
}
