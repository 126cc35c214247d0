//! The types and constants of HDF5's plugin interface, from 1.10 on.
//!
//! (Source: HDF5's documentation of `H5Zregister` and of dynamically loaded filters. `hid_t` had 32 bits
//! before 1.10.)

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `hid_t`: the number of an object, which means something to one libhdf5 only.
pub type Id = i64;
/// `hsize_t`: a number of items.
pub type Size = u64;
/// `herr_t`: negative for failure.
pub type Status = c_int;

/// What `H5PLget_plugin_type` gives for filters, `H5PL_TYPE_FILTER`.
pub const PLUGIN_IS_FILTER: c_int = 0;
/// `H5Z_CLASS_T_VERS`.
pub const CLASS_VERSION: c_int = 1;
/// The flag of a filter that may fail, upon which the chunk is stored as it is: `H5Z_FLAG_OPTIONAL`.
pub const FLAG_OPTIONAL: c_uint = 0x0001;
/// The flag of a call that shall undo the filter: `H5Z_FLAG_REVERSE`.
pub const FLAG_REVERSE: c_uint = 0x0100;
/// `H5T_ARRAY`, the class of types whose items are arrays of another type.
pub const CLASS_ARRAY: c_int = 10;
/// The most dimensions of a dataset, `H5S_MAX_RANK`.
pub const MAX_RANK: usize = 32;
/// `H5E_DEFAULT`, the error stack of the calling thread.
pub const DEFAULT_STACK: Id = 0;

/// The callback for a dataset that is being made: its creation properties, its type, its space.
pub type SetLocal = unsafe extern "C" fn(dcpl: Id, datatype: Id, space: Id) -> Status;

/// The callback for a chunk: gives the size of what it left in `*buf`, or 0 for failure.
pub type Run = unsafe extern "C" fn(
    flags: c_uint,
    cd_nelmts: usize,
    cd_values: *const c_uint,
    nbytes: usize,
    buf_size: *mut usize,
    buf: *mut *mut c_void,
) -> usize;

/// `H5Z_class2_t`: a filter, as HDF5 knows it.
#[repr(C)]
pub struct FilterClass {
    /// [`CLASS_VERSION`].
    pub version: c_int,
    /// The filter's registered number.
    pub id: c_int,
    /// Whether it can compress.
    pub encoder_present: c_uint,
    /// Whether it can decompress.
    pub decoder_present: c_uint,
    /// The name that goes into files.
    pub name: *const c_char,
    /// Whether it fits a dataset; NULL: always.
    pub can_apply: Option<SetLocal>,
    /// Completes its parameters for a dataset.
    pub set_local: Option<SetLocal>,
    /// Compresses and decompresses.
    pub filter: Option<Run>,
}

// SAFETY: the name is a constant text; nothing is ever written.
unsafe impl Sync for FilterClass {}
