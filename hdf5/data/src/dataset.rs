//! Datasets that are read.

use crate::api::{Guard, Id, ReadChunk, api};
use crate::attribute::{self, Attribute};
use crate::error::{Error, Result};
use crate::file::{File, Group, Node};
use crate::handle::{DEFAULT, Handle, c_name, check};
use crate::shape::extent;
use crate::types::{ItemType, Scalar};
use std::ffi::c_char;

/// `H5D_CHUNKED` and `H5D_VIRTUAL`.
const CHUNKED: i32 = 2;
const VIRTUAL: i32 = 3;
/// `H5D_FILL_VALUE_USER_DEFINED`.
const USER_DEFINED: i32 = 2;
/// The size of HDF5's cache of decoded chunks in bytes, and the number of its slots, a prime.
const CACHE: (usize, usize) = (64 << 20, 12_421);
/// The maximum number of values of a filter.
const MAX_VALUES: usize = 64;
/// `HADDR_UNDEF`.
const UNDEFINED: u64 = u64::MAX;
/// The maximum size of a stored chunk in bytes, a limit of HDF5.
const MAX_STORED: u64 = u32::MAX as u64;

/// A filter of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The registered number.
    pub id: i32,
    /// The name in the file.
    pub name: String,
    /// The values.
    pub values: Vec<u32>,
}

/// The description of a stored chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredChunk {
    /// The offset after the user block of the file, in bytes.
    pub position: u64,
    /// The size in bytes.
    pub len: u64,
    /// The filters that were skipped; bit 0 is the first one.
    pub mask: u32,
}

/// An open dataset.
#[derive(Debug)]
pub struct Dataset {
    handle: Handle,
    path: String,
    item: ItemType,
    memory: Handle,
    shape: Vec<u64>,
    is_null: bool,
    chunks: Option<Vec<u64>>,
    filters: Vec<Filter>,
    is_stored_form: bool,
    properties: Handle,
}

impl Dataset {
    /// Opens the dataset at a path.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Group`]; [`Error::Type`] if the type has no form in memory;
    /// [`Error::Elsewhere`]; [`Error::Call`].
    pub fn open(file: &File, path: &str) -> Result<Dataset> {
        let api = api()?;
        let guard = Guard::new(api);
        let (object, node) = file.open_object(path)?;
        let path = format!("/{}", path.trim_matches('/'));
        if node == Node::Group {
            return Err(Error::Group(path));
        }
        drop(object);
        let name = c_name(&path)?;
        let action = || format!("open the dataset {path:?}");
        let access = access(&guard)?;
        // SAFETY: the file is open, and the name is a C string.
        let handle = unsafe { (api.H5Dopen2)(file.handle.id(), name.as_ptr(), access.id()) };
        let handle = Handle::new(handle, &guard, action())?;
        // SAFETY: the dataset is open.
        let properties = unsafe { (api.H5Dget_create_plist)(handle.id()) };
        let properties = Handle::new(properties, &guard, action())?;
        // The shape of a virtual dataset can depend on other files, which are opened for it.
        if let Some(source) = foreign_source(&properties, &guard)? {
            return Err(Error::Elsewhere { path, source });
        }
        // SAFETY: the dataset is open.
        let (datatype, space) = unsafe {
            (
                Handle::new((api.H5Dget_type)(handle.id()), &guard, action())?,
                Handle::new((api.H5Dget_space)(handle.id()), &guard, action())?,
            )
        };
        let item = match ItemType::of(&datatype, &guard)? {
            Ok(item) if item.scalar != Scalar::Reference => item,
            Ok(_) => {
                let description = "references to objects".to_owned();
                return Err(Error::Type { path, description });
            }
            Err(description) => return Err(Error::Type { path, description }),
        };
        let memory = item.datatype(&guard)?;
        let (shape, is_null) = extent(&space, &guard)?;
        // SAFETY: both are datatypes.
        let is_stored_form = unsafe { (api.H5Tequal)(datatype.id(), memory.id()) } > 0;
        let chunks = chunks(&properties, &shape, &guard)?;
        let filters = filters(&properties, &guard)?;
        Ok(Dataset {
            handle,
            path,
            item,
            memory,
            shape,
            is_null,
            chunks,
            filters,
            is_stored_form,
            properties,
        })
    }

    /// Returns the identifier.
    pub(crate) fn id(&self) -> Id {
        self.handle.id()
    }

    /// Returns the path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the type of the items.
    pub fn item(&self) -> &ItemType {
        &self.item
    }

    /// Returns the shape in items. It is empty for one item.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Whether the dataset has no items and no shape (`H5S_NULL`).
    pub fn is_null(&self) -> bool {
        self.is_null
    }

    /// Returns the chunk shape, if the dataset is chunked.
    pub fn chunks(&self) -> Option<&[u64]> {
        self.chunks.as_deref()
    }

    /// Returns the filters in the order of writing.
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Whether decoded chunks contain the items in their form in memory.
    pub fn is_stored_form(&self) -> bool {
        self.is_stored_form
    }

    /// Returns the size of the stored items in bytes.
    pub fn stored_bytes(&self) -> u64 {
        let Ok(api) = api() else {
            return 0;
        };
        let _guard = Guard::new(api);
        // SAFETY: the dataset is open.
        unsafe { (api.H5Dget_storage_size)(self.handle.id()) }
    }

    /// Returns the dataspaces of memory and file that select `count` items from `start` on, or
    /// `None` for all items.
    fn select(
        &self,
        start: &[u64],
        count: &[u64],
        guard: &Guard,
    ) -> Result<Option<(Handle, Handle)>> {
        let api = api()?;
        let rank = self.shape.len();
        let is_inside = start.len() == rank
            && count.len() == rank
            && (0..rank).all(|dim| {
                let end = start[dim].checked_add(count[dim]);
                end.is_some_and(|end| end <= self.shape[dim])
            });
        if !is_inside {
            return Err(Error::Invalid(format!("{:?} has no such items", self.path)));
        }
        if rank == 0 {
            return Ok(None);
        }
        let action = || format!("read {:?}", self.path);
        // SAFETY: the dataset is open, and the slices have the length of the rank.
        unsafe {
            let file = Handle::new((api.H5Dget_space)(self.handle.id()), guard, action())?;
            let none = std::ptr::null();
            let status =
                (api.H5Sselect_hyperslab)(file.id(), 0, start.as_ptr(), none, count.as_ptr(), none);
            check(status, guard, action())?;
            let memory = (api.H5Screate_simple)(rank as i32, count.as_ptr(), std::ptr::null());
            Ok(Some((Handle::new(memory, guard, action())?, file)))
        }
    }

    /// Reads `count` items from index `start` in each dimension. `dest` has their size.
    ///
    /// # Errors
    /// [`Error::Call`]; [`Error::Invalid`] for other lengths.
    pub fn read(&self, start: &[u64], count: &[u64], dest: &mut [u8]) -> Result<()> {
        let api = api()?;
        let guard = Guard::new(api);
        let bytes =
            count.iter().try_fold(self.item.size() as u64, |bytes, &len| bytes.checked_mul(len));
        let is_text = matches!(self.item.scalar, Scalar::Text { .. });
        if bytes != Some(dest.len() as u64) || is_text {
            return Err(Error::Invalid(format!("{:?} has no such items", self.path)));
        }
        if dest.is_empty() {
            return Ok(());
        }
        let spaces = self.select(start, count, &guard)?;
        let (memory, file) = ids(&spaces);
        // SAFETY: the buffer has the size of the selected items in the type of memory, which has no
        // pointers.
        let status = unsafe {
            let dest = dest.as_mut_ptr().cast();
            (api.H5Dread)(self.handle.id(), self.memory.id(), memory, file, DEFAULT, dest)
        };
        check(status, &guard, format!("read {:?}", self.path)).map(drop)
    }

    /// Calls `f` with each of the strings of variable length from index `start` in each dimension.
    ///
    /// # Errors
    /// [`Error::Call`]; [`Error::Invalid`] for other types and lengths.
    pub fn read_texts(&self, start: &[u64], count: &[u64], f: &mut dyn FnMut(&[u8])) -> Result<()> {
        let api = api()?;
        let guard = Guard::new(api);
        let len = count.iter().try_fold(1_u64, |len, &extent| len.checked_mul(extent));
        let len = len.and_then(|len| usize::try_from(len).ok());
        let len = len.filter(|_| matches!(self.item.scalar, Scalar::Text { .. }));
        let len =
            len.ok_or_else(|| Error::Invalid(format!("{:?} has no such items", self.path)))?;
        if len == 0 {
            return Ok(());
        }
        let spaces = self.select(start, count, &guard)?;
        let (memory, file) = ids(&spaces);
        // SAFETY: the dataset is open.
        let whole = unsafe { (api.H5Dget_space)(self.handle.id()) };
        let whole = Handle::new(whole, &guard, format!("read {:?}", self.path))?;
        let selected = spaces.as_ref().map_or(&whole, |(memory, _)| memory);
        let mut texts: Vec<*mut c_char> = vec![std::ptr::null_mut(); len];
        // SAFETY: the buffer has a pointer for each selected item.
        let status = unsafe {
            let dest = texts.as_mut_ptr().cast();
            (api.H5Dread)(self.handle.id(), self.memory.id(), memory, file, DEFAULT, dest)
        };
        let status = check(status, &guard, format!("read {:?}", self.path));
        if status.is_ok() {
            attribute::each_text(&texts, f);
        }
        // SAFETY: the pointers are NULL or strings that HDF5 allocated.
        unsafe {
            let dest = texts.as_mut_ptr().cast();
            (api.H5Dvlen_reclaim)(self.memory.id(), selected.id(), DEFAULT, dest);
        }
        status.map(drop)
    }

    /// Returns the description of the stored chunk that starts at this index, or `None` if it is
    /// not stored.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this libhdf5 cannot find stored chunks; [`Error::Call`].
    pub fn stored_chunk(&self, start: &[u64]) -> Result<Option<StoredChunk>> {
        let api = api()?;
        let guard = Guard::new(api);
        self.check_chunk(start)?;
        let Some(find) = api.chunk_info else {
            return Err(Error::Unsupported(
                "it has no function H5Dget_chunk_info_by_coord, which 1.10.5 added".to_owned(),
            ));
        };
        let (mut mask, mut address, mut size) = (0, UNDEFINED, 0);
        // SAFETY: the index has the length of the rank, and the outputs the types that are written.
        let status = unsafe {
            let (dataset, index) = (self.handle.id(), start.as_ptr());
            find(dataset, index, &raw mut mask, &raw mut address, &raw mut size)
        };
        check(status, &guard, format!("find a chunk of {:?}", self.path))?;
        let chunk = StoredChunk { position: address, len: size, mask };
        Ok((address != UNDEFINED).then_some(chunk))
    }

    /// Returns the size of the stored chunk that starts at this index, 0 if it is not stored, or
    /// `None` if this libhdf5 cannot find stored chunks.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn chunk_size(&self, start: &[u64]) -> Result<Option<u64>> {
        self.check_chunk(start)?;
        if api()?.chunk_info.is_none() {
            return Ok(None);
        }
        Ok(Some(self.stored_chunk(start)?.map_or(0, |chunk| chunk.len)))
    }

    /// Returns the stored chunk that starts at this index, and the mask of the filters that were
    /// skipped. Returns `None` if it is not stored, or if this libhdf5 cannot read stored chunks.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn read_chunk(&self, start: &[u64]) -> Result<Option<(u32, Vec<u8>)>> {
        let api = api()?;
        let guard = Guard::new(api);
        let size = self.chunk_size(start)?.unwrap_or(0);
        let (Some(read), true) = (api.read_chunk, (1..=MAX_STORED).contains(&size)) else {
            return Ok(None);
        };
        let too_large = || Error::Invalid(format!("a chunk of {:?} has {size} bytes", self.path));
        if size > self.file_size(&guard)? {
            return Err(too_large());
        }
        let mut stored = Vec::new();
        stored.try_reserve_exact(size as usize).map_err(|_| too_large())?;
        stored.resize(size as usize, 0_u8);
        let mut mask = 0;
        let mut len = stored.len();
        // SAFETY: the index has the length of the rank, and the buffer the size of the chunk.
        let status = unsafe {
            let dest = stored.as_mut_ptr().cast();
            let (dataset, index) = (self.handle.id(), start.as_ptr());
            match read {
                ReadChunk::Sized(read) => {
                    read(dataset, DEFAULT, index, &raw mut mask, dest, &raw mut len)
                }
                ReadChunk::Plain(read) => read(dataset, DEFAULT, index, &raw mut mask, dest),
            }
        };
        check(status, &guard, format!("read a chunk of {:?}", self.path))?;
        Ok(Some((mask, stored)))
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn file_size(&self, guard: &Guard) -> Result<u64> {
        let api = api()?;
        let mut size = 0;
        // SAFETY: the dataset is open, and the output has the type that is written.
        unsafe {
            let file = (api.H5Iget_file_id)(self.handle.id());
            let file = Handle::new(file, guard, "read the size of the file")?;
            let status = (api.H5Fget_filesize)(file.id(), &raw mut size);
            check(status, guard, "read the size of the file")?;
        }
        Ok(size)
    }

    /// Fails unless a chunk starts at this index.
    fn check_chunk(&self, start: &[u64]) -> Result<()> {
        let chunks = self.chunks.as_deref().unwrap_or_default();
        let is_start = chunks.len() == start.len()
            && !chunks.is_empty()
            && (start.iter().zip(chunks).zip(&self.shape))
                .all(|((at, chunk), len)| at < len && at.is_multiple_of(*chunk));
        let invalid = || Error::Invalid(format!("{:?} has no chunk at {start:?}", self.path));
        if is_start { Ok(()) } else { Err(invalid()) }
    }

    /// Returns the fill value as an item, if the dataset has one.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn fill_value(&self) -> Result<Option<Vec<u8>>> {
        let api = api()?;
        let guard = Guard::new(api);
        let mut state = 0;
        // SAFETY: the list is that of a dataset.
        let status = unsafe { (api.H5Pfill_value_defined)(self.properties.id(), &raw mut state) };
        check(status, &guard, format!("read the fill value of {:?}", self.path))?;
        if state != USER_DEFINED || matches!(self.item.scalar, Scalar::Text { .. }) {
            return Ok(None);
        }
        let mut item = vec![0_u8; self.item.size()];
        // SAFETY: the buffer has the size of an item in memory.
        let status = unsafe {
            let dest = item.as_mut_ptr().cast();
            (api.H5Pget_fill_value)(self.properties.id(), self.memory.id(), dest)
        };
        check(status, &guard, format!("read the fill value of {:?}", self.path))?;
        Ok(Some(item))
    }

    /// Returns all attributes.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn attributes(&self) -> Result<Vec<(String, Attribute)>> {
        attribute::all(&self.handle)
    }

    /// Returns the name of the dimension scale of each dimension that has one: the last part of its
    /// path.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn scales(&self) -> Result<Vec<Option<String>>> {
        let api = api()?;
        let guard = Guard::new(api);
        let mut names = vec![None; self.shape.len()];
        // A dataset that is a scale is that of its own dimension.
        if let [name] = names.as_mut_slice()
            && crate::scales::is_scale(&self.handle)?
        {
            *name = self.path.rsplit('/').next().map(str::to_owned);
            return Ok(names);
        }
        for (name, references) in names.iter_mut().zip(attribute::scales(&self.handle)?) {
            let Some(reference) = references.first() else {
                continue;
            };
            // SAFETY: the reference has the size of an object reference; 0 is `H5R_OBJECT`.
            let object = unsafe {
                (api.H5Rdereference2)(self.handle.id(), DEFAULT, 0, reference.as_ptr().cast())
            };
            let Ok(object) = Handle::new(object, &guard, "read a dimension scale") else {
                continue;
            };
            let path = crate::scales::path_of(&object)?;
            *name = path.and_then(|path| path.rsplit('/').next().map(str::to_owned));
        }
        Ok(names)
    }
}

impl Group {
    /// Returns all attributes.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn attributes(&self) -> Result<Vec<(String, Attribute)>> {
        attribute::all(&self.handle)
    }
}

fn ids(spaces: &Option<(Handle, Handle)>) -> (Id, Id) {
    spaces.as_ref().map_or((DEFAULT, DEFAULT), |(memory, file)| (memory.id(), file.id()))
}

/// Returns a property list for reading, with a cache for chunks.
fn access(guard: &Guard) -> Result<Handle> {
    let api = api()?;
    let class = api.variable(guard, "H5P_CLS_DATASET_ACCESS_ID_g")?;
    // SAFETY: the class is that of property lists for access, which have a cache.
    unsafe {
        let list = Handle::new((api.H5Pcreate)(class), guard, "create a property list")?;
        let (bytes, slots) = CACHE;
        check((api.H5Pset_chunk_cache)(list.id(), slots, bytes, 0.75), guard, "set the cache")?;
        Ok(list)
    }
}

/// Returns the name of the first file with items of a dataset that are not in its own file, or the
/// dataset that a virtual one contains.
fn foreign_source(properties: &Handle, guard: &Guard) -> Result<Option<String>> {
    let api = api()?;
    let mut name = [0; 1024];
    let (list, text, len) = (properties.id(), name.as_mut_ptr(), name.len());
    // SAFETY: the list is that of a dataset, and the buffer has the passed length. The offset and
    // the size of the items are not requested.
    unsafe {
        if (api.H5Pget_layout)(list) == VIRTUAL {
            if (api.H5Pget_virtual_filename)(list, 0, text, len) < 0 || text_in(&name) == "." {
                (api.H5Pget_virtual_dsetname)(list, 0, name.as_mut_ptr(), len);
            }
            return Ok(Some(text_in(&name)));
        }
        let count = (api.H5Pget_external_count)(list);
        if check(count, guard, "read the properties of a dataset")? == 0 {
            return Ok(None);
        }
        let none = std::ptr::null_mut();
        let status = (api.H5Pget_external)(list, 0, len, text, none, std::ptr::null_mut());
        check(status, guard, "read the properties of a dataset")?;
        Ok(Some(text_in(&name)))
    }
}

/// Returns the text in a buffer, which may not end with NUL.
fn text_in(buffer: &[c_char]) -> String {
    let bytes = buffer.iter().map(|&byte| byte as u8).take_while(|&byte| byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}

fn chunks(properties: &Handle, shape: &[u64], guard: &Guard) -> Result<Option<Vec<u64>>> {
    let api = api()?;
    // SAFETY: the list is that of a dataset, and the buffer has the length of the rank.
    unsafe {
        if (api.H5Pget_layout)(properties.id()) != CHUNKED {
            return Ok(None);
        }
        let mut chunks = vec![0; shape.len()];
        let rank = (api.H5Pget_chunk)(properties.id(), shape.len() as i32, chunks.as_mut_ptr());
        check(rank, guard, "read the shape of chunks")?;
        if rank as usize != shape.len() || chunks.contains(&0) {
            return Err(Error::Invalid(format!("chunks of the shape {chunks:?}")));
        }
        Ok(Some(chunks))
    }
}

fn filters(properties: &Handle, guard: &Guard) -> Result<Vec<Filter>> {
    let api = api()?;
    let mut found = Vec::new();
    // SAFETY: the list is that of a dataset.
    let count = unsafe { (api.H5Pget_nfilters)(properties.id()) };
    for number in 0..check(count, guard, "read the filters")? {
        let (mut flags, mut len, mut config) = (0, MAX_VALUES, 0);
        let (mut values, mut name) = ([0; MAX_VALUES], [0; 256]);
        // SAFETY: the buffers have the passed lengths, and the outputs the types that are written.
        let id = unsafe {
            (api.H5Pget_filter2)(
                properties.id(),
                number as u32,
                &raw mut flags,
                &raw mut len,
                values.as_mut_ptr(),
                name.len(),
                name.as_mut_ptr(),
                &raw mut config,
            )
        };
        let id = check(id, guard, "read the filters")?;
        let name = text_in(&name);
        let values = values[..len.min(MAX_VALUES)].to_vec();
        found.push(Filter { id, name, values });
    }
    Ok(found)
}
