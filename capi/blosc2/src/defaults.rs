//! Functions that return the default parameters, for bindings of other languages, which cannot use
//! the `*_DEFAULTS` objects of the header. The values are constants, so these functions cannot
//! panic and need no boundary.

use crate::constants::blosc1::{BLOSC_BLOSCLZ, BLOSC_FORWARD_COMPAT_SPLIT, BLOSC_SHUFFLE};
use crate::constants::io::BLOSC2_IO_FILESYSTEM;
use crate::constants::limits::BLOSC2_MAX_FILTERS;
use crate::types::flag::flag;
use crate::types::io::{blosc2_io, blosc2_storage};
use crate::types::params::{blosc2_cparams, blosc2_dparams};
use crate::types::stdio::blosc2_stdio_mmap;
use ferroblosc::io::mmap::DEFAULT_INITIAL_SIZE;
use std::ffi::CStr;
use std::ptr::null_mut;

/// The default compression level.
const DEFAULT_CLEVEL: u8 = 5;
/// The default size of an item in bytes.
const DEFAULT_TYPESIZE: i32 = 8;

/// The default compression parameters.
pub const CPARAMS: blosc2_cparams = blosc2_cparams {
    compcode: BLOSC_BLOSCLZ as u8,
    compcode_meta: 0,
    clevel: DEFAULT_CLEVEL,
    use_dict: 0,
    typesize: DEFAULT_TYPESIZE,
    nthreads: 1,
    blocksize: 0,
    splitmode: BLOSC_FORWARD_COMPAT_SPLIT,
    schunk: null_mut(),
    filters: [0, 0, 0, 0, 0, BLOSC_SHUFFLE as u8],
    filters_meta: [0; BLOSC2_MAX_FILTERS],
    prefilter: None,
    preparams: null_mut(),
    tuner_params: null_mut(),
    tuner_id: 0,
    instr_codec: flag(false),
    codec_params: null_mut(),
    filter_params: [null_mut(); BLOSC2_MAX_FILTERS],
};

/// The default decompression parameters.
pub const DPARAMS: blosc2_dparams = blosc2_dparams {
    nthreads: 1,
    schunk: null_mut(),
    postfilter: None,
    postparams: null_mut(),
    typesize: DEFAULT_TYPESIZE,
};

/// The name of the file system backend.
pub const FILESYSTEM_NAME: &CStr = c"filesystem";

/// The default I/O backend.
pub const IO: blosc2_io = blosc2_io {
    id: BLOSC2_IO_FILESYSTEM as u8,
    name: FILESYSTEM_NAME.as_ptr(),
    params: null_mut(),
};

/// The default storage.
pub const STORAGE: blosc2_storage = blosc2_storage {
    contiguous: flag(false),
    urlpath: null_mut(),
    cparams: null_mut(),
    dparams: null_mut(),
    io: null_mut(),
};

/// The default parameters of the memory-mapped file backend.
pub const STDIO_MMAP: blosc2_stdio_mmap = blosc2_stdio_mmap {
    mode: c"r".as_ptr(),
    initial_mapping_size: DEFAULT_INITIAL_SIZE,
    needs_free: flag(false),
    addr: null_mut(),
    urlpath: null_mut(),
    file_size: 0,
    mapping_size: 0,
    is_memory_only: flag(false),
    file: null_mut(),
    fd: -1,
    access_flags: -1,
    map_flags: -1,
    #[cfg(windows)]
    mmap_handle: std::ptr::without_provenance_mut(usize::MAX),
};

/// Returns BLOSC2_CPARAMS_DEFAULTS: BloscLZ at level 5 after a byte shuffle of 8-byte items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_blosc2_cparams_defaults() -> blosc2_cparams {
    CPARAMS
}

/// Returns BLOSC2_DPARAMS_DEFAULTS: one thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_blosc2_dparams_defaults() -> blosc2_dparams {
    DPARAMS
}

/// Returns BLOSC2_IO_DEFAULTS: the file system.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_blosc2_io_defaults() -> blosc2_io {
    IO
}

/// Returns BLOSC2_STORAGE_DEFAULTS: separate chunks in memory with default parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_blosc2_storage_defaults() -> blosc2_storage {
    STORAGE
}

/// Returns BLOSC2_STDIO_MMAP_DEFAULTS: read-only, with an initial mapping of 1 GiB.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_blosc2_stdio_mmap_defaults() -> blosc2_stdio_mmap {
    STDIO_MMAP
}
