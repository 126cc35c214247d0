//! The libhdf5 functions called during dataset creation, with their names and prototypes.
//!
//! All exist since HDF5 1.8 and have the same prototype since 1.10.

use crate::abi::{CLASS_ARRAY, FLAG_OPTIONAL, FilterClass, Id, MAX_RANK, Size, Status};
use crate::filter::{Dataset, Failure, Values};
use crate::library::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

type GetFilter = unsafe extern "C" fn(
    list: Id,
    filter: c_int,
    flags: *mut c_uint,
    cd_nelmts: *mut usize,
    cd_values: *mut c_uint,
    namelen: usize,
    name: *mut c_char,
    filter_config: *mut c_uint,
) -> Status;
type ModifyFilter = unsafe extern "C" fn(
    list: Id,
    filter: c_int,
    flags: c_uint,
    cd_nelmts: usize,
    cd_values: *const c_uint,
) -> Status;
type GetChunk = unsafe extern "C" fn(list: Id, max_ndims: c_int, dims: *mut Size) -> c_int;
type GetSize = unsafe extern "C" fn(datatype: Id) -> usize;
type GetClass = unsafe extern "C" fn(datatype: Id) -> c_int;
type GetSuper = unsafe extern "C" fn(datatype: Id) -> Id;
type Close = unsafe extern "C" fn(datatype: Id) -> Status;
/// `H5Zregister`.
type Register = unsafe extern "C" fn(class: *const c_void) -> Status;

/// The functions of one libhdf5.
pub struct Functions {
    get_filter: GetFilter,
    modify_filter: ModifyFilter,
    get_chunk: GetChunk,
    get_size: GetSize,
    get_class: GetClass,
    get_super: GetSuper,
    close: Close,
}

/// A filter in a dataset creation property list.
pub struct Listed {
    /// Flags, such as whether the filter is optional.
    flags: c_uint,
    /// The values.
    pub values: Values,
}

impl Listed {
    /// Whether HDF5 stores chunks unfiltered if the filter fails.
    pub fn is_optional(&self) -> bool {
        self.flags & FLAG_OPTIONAL != 0
    }
}

/// Returns the function of this name.
///
/// # Safety
/// `F` must be the type of the function.
unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Result<F, Failure> {
    // SAFETY: the caller guarantees the type.
    unsafe { library.function(name) }.ok_or_else(|| {
        let name = name.to_string_lossy();
        Failure(format!("HDF5 has no function {name}"))
    })
}

/// Registers a filter with the library.
///
/// # Errors
/// Fails if HDF5 rejects it.
pub fn register(library: &Library, class: &'static FilterClass) -> Result<(), Failure> {
    // SAFETY: the type is that of the function, and the class is static.
    let status = unsafe {
        let register: Register = function(library, c"H5Zregister")?;
        register((&raw const *class).cast())
    };
    match status {
        0.. => Ok(()),
        _ => Err(Failure::new("cannot register the filter")),
    }
}

impl Functions {
    /// Looks up the functions of a library.
    ///
    /// # Errors
    /// Fails if a function is missing.
    pub fn of(library: &Library) -> Result<Functions, Failure> {
        // SAFETY: the types are those of the functions.
        unsafe {
            Ok(Functions {
                get_filter: function(library, c"H5Pget_filter_by_id2")?,
                modify_filter: function(library, c"H5Pmodify_filter")?,
                get_chunk: function(library, c"H5Pget_chunk")?,
                get_size: function(library, c"H5Tget_size")?,
                get_class: function(library, c"H5Tget_class")?,
                get_super: function(library, c"H5Tget_super")?,
                close: function(library, c"H5Tclose")?,
            })
        }
    }

    /// Returns a filter in a property list.
    ///
    /// # Errors
    /// Fails if the list belongs to another libhdf5 or lacks the filter.
    pub fn listed(&self, list: Id, filter: c_int) -> Result<Listed, Failure> {
        let mut flags = 0;
        let mut numbers = [0; Values::MAX];
        let mut len = numbers.len();
        // SAFETY: `len` is the capacity of `numbers`; name and configuration are not requested.
        let status = unsafe {
            let (name, config) = (null_mut(), null_mut());
            let (flags, numbers) = (&raw mut flags, numbers.as_mut_ptr());
            (self.get_filter)(list, filter, flags, &raw mut len, numbers, 0, name, config)
        };
        if status < 0 {
            return Err(Failure::new("HDF5 does not return the filter's parameters"));
        }
        // HDF5 returns the total number of values, which may exceed the capacity.
        let values = Values::new(&numbers[..len.min(Values::MAX)]);
        Ok(Listed { flags, values })
    }

    /// Sets the values of a filter in a property list.
    ///
    /// # Errors
    /// Fails if HDF5 rejects them.
    pub fn set_values(&self, list: Id, filter: c_int, listed: &Listed) -> Result<(), Failure> {
        let values = listed.values.as_slice();
        // SAFETY: pointer and length are those of a slice, which HDF5 copies.
        let status = unsafe {
            (self.modify_filter)(list, filter, listed.flags, values.len(), values.as_ptr())
        };
        match status {
            0.. => Ok(()),
            _ => Err(Failure::new("HDF5 rejects the filter's parameters")),
        }
    }

    /// Returns the properties of a dataset with this property list and type, or `None` if its
    /// chunks are too large for any filter: 4 GiB or more, which HDF5 allows from 2.0 on.
    ///
    /// # Errors
    /// Fails if HDF5 does not provide them.
    pub fn dataset(
        &self,
        list: Id,
        datatype: Id,
        listed: &Listed,
    ) -> Result<Option<Dataset>, Failure> {
        let Some(chunkshape) = self.chunkshape(list)? else {
            return Ok(None);
        };
        // SAFETY: HDF5 accepts any identifier.
        let itemsize = unsafe { (self.get_size)(datatype) };
        let typesize = self.base_size(datatype, itemsize)?;
        let chunksize = chunkshape
            .iter()
            .try_fold(itemsize, |size, &dim| size.checked_mul(dim as usize))
            .and_then(|size| u32::try_from(size).ok());
        let Some(chunksize) = chunksize else {
            return Ok(None);
        };
        let narrow = |size: usize| {
            let size = u32::try_from(size).ok().filter(|&size| size > 0);
            size.ok_or_else(|| Failure(format!("items of {itemsize} bytes are not supported")))
        };
        let is_mandatory = !listed.is_optional();
        Ok(Some(Dataset { typesize: narrow(typesize)?, chunksize, chunkshape, is_mandatory }))
    }

    /// Returns the shape of chunks, or `None` if an extent does not fit in 32 bits.
    fn chunkshape(&self, list: Id) -> Result<Option<Vec<u32>>, Failure> {
        let mut dims = [0; MAX_RANK];
        // SAFETY: `dims` has the capacity that is passed.
        let rank = unsafe { (self.get_chunk)(list, MAX_RANK as c_int, dims.as_mut_ptr()) };
        let rank = usize::try_from(rank).ok().filter(|&rank| rank <= MAX_RANK);
        let rank = rank.ok_or_else(|| Failure::new("HDF5 does not return the chunk shape"))?;
        Ok(dims[..rank].iter().map(|&dim| u32::try_from(dim).ok()).collect())
    }

    /// Returns the size of an item in bytes, or that of the base type of an array type.
    fn base_size(&self, datatype: Id, itemsize: usize) -> Result<usize, Failure> {
        // SAFETY: HDF5 accepts any identifier; the base type created here is closed here.
        unsafe {
            if (self.get_class)(datatype) != CLASS_ARRAY {
                return Ok(itemsize);
            }
            let base = (self.get_super)(datatype);
            if base < 0 {
                return Err(Failure::new("HDF5 does not return the base type of an array type"));
            }
            let size = (self.get_size)(base);
            (self.close)(base);
            Ok(size)
        }
    }
}
