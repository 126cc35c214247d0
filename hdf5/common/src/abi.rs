//! The types and constants of HDF5's plugin interface, since 1.10.
//!
//! (Source: HDF5's documentation of `H5Zregister` and of dynamically loaded filters. `hid_t` had 32
//! bits before 1.10.)

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `hid_t`: the identifier of an object, valid only within one copy of libhdf5.
pub type Id = i64;
/// `hsize_t`: a number of items.
pub type Size = u64;
/// `herr_t`: negative on failure.
pub type Status = c_int;

/// `H5PL_TYPE_FILTER`: the result of `H5PLget_plugin_type` for filters.
pub const PLUGIN_IS_FILTER: c_int = 0;
/// `H5Z_CLASS_T_VERS`.
pub const CLASS_VERSION: c_int = 1;
/// `H5Z_FLAG_OPTIONAL`: if the filter fails, the chunk is stored unfiltered.
pub const FLAG_OPTIONAL: c_uint = 0x0001;
/// `H5Z_FLAG_REVERSE`: the call decompresses.
pub const FLAG_REVERSE: c_uint = 0x0100;
/// `H5T_ARRAY`: the class of types whose items are arrays of another type.
pub const CLASS_ARRAY: c_int = 10;
/// `H5S_MAX_RANK`: the maximum number of dimensions of a dataset.
pub const MAX_RANK: usize = 32;
/// `H5E_DEFAULT`: the error stack of the calling thread.
pub const DEFAULT_STACK: Id = 0;

/// The callback for dataset creation, with the creation properties, the type and the dataspace.
pub type SetLocal = unsafe extern "C" fn(dcpl: Id, datatype: Id, space: Id) -> Status;

/// The callback for a chunk. Returns the size of the data in `*buf`, or 0 on failure.
pub type Run = unsafe extern "C" fn(
    flags: c_uint,
    cd_nelmts: usize,
    cd_values: *const c_uint,
    nbytes: usize,
    buf_size: *mut usize,
    buf: *mut *mut c_void,
) -> usize;

/// `H5Z_class2_t`: the interface of a filter.
#[repr(C)]
pub struct FilterClass {
    /// [`CLASS_VERSION`].
    pub version: c_int,
    /// The filter's registered number.
    pub id: c_int,
    /// Whether the filter can compress.
    pub encoder_present: c_uint,
    /// Whether the filter can decompress.
    pub decoder_present: c_uint,
    /// The name stored in files.
    pub name: *const c_char,
    /// Whether the filter supports a dataset; NULL means always.
    pub can_apply: Option<SetLocal>,
    /// Completes the filter's parameters for a dataset.
    pub set_local: Option<SetLocal>,
    /// Compresses or decompresses a chunk.
    pub filter: Option<Run>,
}

// SAFETY: the name pointer refers to a constant, and the struct is never modified.
unsafe impl Sync for FilterClass {}
