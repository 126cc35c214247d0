//! Common code of the plugin tests: the built plugins, and calls of their filters.

#![allow(unused, reason = "each test file uses its part of this module")]

use ferroblosc_capi_testing::{build_folder, library_folder};
use ferroblosc_hdf5_common::abi::{FLAG_OPTIONAL, FLAG_REVERSE, FilterClass};
use std::ffi::{CString, c_uint, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Returns the directory with the built plugins.
pub fn plugin_folder() -> PathBuf {
    library_folder();
    build_folder()
}

/// A plugin's filter, loaded like by HDF5.
pub struct Plugin {
    class: &'static FilterClass,
}

impl Plugin {
    /// Returns filter 32001.
    pub fn blosc() -> &'static Plugin {
        static PLUGIN: OnceLock<Plugin> = OnceLock::new();
        PLUGIN.get_or_init(|| Plugin::load("libH5Zblosc.so"))
    }

    /// Returns filter 32026.
    pub fn blosc2() -> &'static Plugin {
        static PLUGIN: OnceLock<Plugin> = OnceLock::new();
        PLUGIN.get_or_init(|| Plugin::load("libH5Zblosc2.so"))
    }

    fn load(name: &str) -> Plugin {
        let path = plugin_folder().join(name);
        let path = CString::new(path.to_str().expect("a path is text")).expect("no NUL");
        // SAFETY: the functions have these types, and the library is never closed.
        unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            assert!(!library.is_null(), "{name} cannot be loaded");
            let function = |name: &std::ffi::CStr| {
                let address = libc::dlsym(library, name.as_ptr());
                assert!(!address.is_null(), "{name:?} is missing");
                address
            };
            let kind: extern "C" fn() -> i32 =
                std::mem::transmute(function(c"H5PLget_plugin_type"));
            assert_eq!(kind(), 0);
            let info: extern "C" fn() -> *const FilterClass =
                std::mem::transmute(function(c"H5PLget_plugin_info"));
            Plugin { class: &*info() }
        }
    }

    /// Returns the class of the filter.
    pub fn class(&self) -> &'static FilterClass {
        self.class
    }

    /// Compresses a chunk as an optional filter.
    pub fn compress(&self, values: &[u32], data: &[u8]) -> Option<Vec<u8>> {
        self.call(FLAG_OPTIONAL, values, data)
    }

    /// Compresses a chunk as a mandatory filter.
    pub fn compress_mandatory(&self, values: &[u32], data: &[u8]) -> Option<Vec<u8>> {
        self.call(0, values, data)
    }

    /// Decompresses a stored chunk.
    pub fn decompress(&self, values: &[u32], stored: &[u8]) -> Option<Vec<u8>> {
        self.call(FLAG_REVERSE, values, stored)
    }

    /// Calls the filter. Checks that a successful call returns the size of the buffer, which never
    /// shrinks, and that a failed one changes nothing.
    fn call(&self, flags: c_uint, values: &[u32], data: &[u8]) -> Option<Vec<u8>> {
        /// Additional bytes in the buffer, as HDF5's buffers may have.
        const SLACK: usize = 100;
        let filter = self.class.filter.expect("there is a filter");
        let mut size = data.len() + SLACK;
        // SAFETY: the buffer is allocated with `malloc` and begins with `data.len()` bytes of data;
        // the filter either replaces it or leaves it unchanged.
        unsafe {
            let mut buffer: *mut c_void = libc::malloc(size);
            std::ptr::copy_nonoverlapping(data.as_ptr(), buffer.cast(), data.len());
            let before = buffer;
            let count = values.len();
            let len =
                filter(flags, count, values.as_ptr(), data.len(), &raw mut size, &raw mut buffer);
            let usable = libc::malloc_usable_size(buffer);
            let bytes = match len {
                0 => data.len(),
                len => len,
            };
            let bytes = std::slice::from_raw_parts(buffer.cast::<u8>(), bytes).to_vec();
            libc::free(buffer);
            if len == 0 {
                assert_eq!(buffer, before, "a call that fails changed the buffer");
                assert_eq!(size, data.len() + SLACK, "… and its size");
                assert_eq!(bytes, data, "… and its content");
                return None;
            }
            assert!(len <= size && size <= usable, "{len} bytes, {size} reported, {usable} usable");
            assert!(size >= data.len() + SLACK, "the buffer of {size} bytes has shrunk");
            Some(bytes)
        }
    }
}

/// Returns deterministic incompressible bytes.
pub fn random_bytes(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Runs `work`. Returns its result and the growth of the process's peak memory in bytes.
pub fn peak_growth<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.expect("the peak is there").trim().trim_end_matches(" kB");
        kilobytes.parse::<u64>().expect("a number") * 1024
    };
    let before = peak();
    let result = work();
    (result, peak() - before)
}
