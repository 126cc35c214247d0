//! The measured array functions of one library.

use ferroblosc_interop::ffi::{Cparams, Dparams, Storage};
use ferroblosc_interop::functions;
use ferroblosc_interop::storage::Kind;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;

/// An array of either library.
pub enum Array {}

/// The creation context of either library.
pub enum Context {}

functions! {
    blosc2_init: fn();
    blosc2_remove_urlpath: fn(*const c_char) -> c_int;
    b2nd_create_ctx: fn(*const Storage, i8, *const i64, *const i32, *const i32, *const c_char, i8, *const c_void, i32) -> *mut Context;
    b2nd_free_ctx: fn(*mut Context) -> c_int;
    b2nd_zeros: fn(*mut Context, *mut *mut Array) -> c_int;
    b2nd_from_cbuffer: fn(*mut Context, *mut *mut Array, *const c_void, i64) -> c_int;
    b2nd_to_cbuffer: fn(*const Array, *mut c_void, i64) -> c_int;
    b2nd_get_slice_cbuffer: fn(*const Array, *const i64, *const i64, *mut c_void, *const i64, i64) -> c_int;
    b2nd_set_slice_cbuffer: fn(*const c_void, *const i64, i64, *const i64, *const i64, *mut Array) -> c_int;
    b2nd_get_sparse_cbuffer: fn(*const Array, i64, *const i64, *mut c_void, i64) -> c_int;
    b2nd_get_orthogonal_selection: fn(*const Array, *mut *mut i64, *mut i64, *mut c_void, *mut i64, i64) -> c_int;
    b2nd_set_orthogonal_selection: fn(*mut Array, *mut *mut i64, *mut i64, *const c_void, *mut i64, i64) -> c_int;
    b2nd_resize: fn(*mut Array, *const i64, *const i64) -> c_int;
    b2nd_append: fn(*mut Array, *const c_void, i64, i8) -> c_int;
    b2nd_concatenate: fn(*mut Context, *const Array, *const Array, i8, bool, *mut *mut Array) -> c_int;
    b2nd_copy: fn(*mut Context, *const Array, *mut *mut Array) -> c_int;
    b2nd_get_slice: fn(*mut Context, *mut *mut Array, *const Array, *const i64, *const i64) -> c_int;
    b2nd_free: fn(*mut Array) -> c_int;
}

/// The storage of arrays and the number of threads.
#[derive(Clone, Copy)]
pub struct StorageOptions<'a> {
    /// The kind of storage.
    pub kind: Kind,
    /// The name of files and directories.
    pub path: &'a str,
    /// The number of threads for compression and decompression.
    pub nthreads: i16,
}

/// The partitions of an array.
#[derive(Clone, Copy)]
pub struct Partitions<'a> {
    /// The shape of a chunk.
    pub chunks: &'a [i32],
    /// The shape of a block.
    pub blocks: &'a [i32],
}

/// An array of 32-bit integers. Dropping it frees it and removes its files.
pub struct Owned<'a> {
    api: &'a Api,
    array: *mut Array,
    path: CString,
}

fn bytes<T>(items: &[T]) -> i64 {
    size_of_val(items) as i64
}

impl<'a> Owned<'a> {
    /// Calls `make` with a context of these properties and returns its array.
    fn made(
        api: &'a Api,
        storage: StorageOptions<'_>,
        shape: &[i64],
        partitions: Partitions<'_>,
        make: impl FnOnce(*mut Context, *mut *mut Array) -> c_int,
    ) -> Owned<'a> {
        let path = CString::new(storage.path).expect("a path of ours");
        let mut cparams = Cparams { typesize: 4, nthreads: storage.nthreads, ..Cparams::default() };
        let mut dparams = Dparams { nthreads: storage.nthreads, ..Dparams::default() };
        let storage = Storage {
            contiguous: storage.kind.contiguous(),
            urlpath: if storage.kind.on_disk() { path.as_ptr().cast_mut() } else { null_mut() },
            cparams: &raw mut cparams,
            dparams: &raw mut dparams,
            io: null_mut(),
        };
        let mut array = null_mut();
        // SAFETY: each list has an entry for each dimension; the context is freed before the
        // storage.
        let code = unsafe {
            (api.blosc2_remove_urlpath)(path.as_ptr());
            let context = (api.b2nd_create_ctx)(
                &raw const storage,
                shape.len() as i8,
                shape.as_ptr(),
                partitions.chunks.as_ptr(),
                partitions.blocks.as_ptr(),
                c"<i4".as_ptr(),
                0,
                std::ptr::null(),
                0,
            );
            assert!(!context.is_null(), "a context");
            let code = make(context, &raw mut array);
            (api.b2nd_free_ctx)(context);
            code
        };
        assert_eq!(code, 0, "making an array at {path:?}");
        Owned { api, array, path }
    }

    /// Returns an array of zeros.
    pub fn zeros(
        api: &'a Api,
        storage: StorageOptions<'_>,
        shape: &[i64],
        partitions: Partitions<'_>,
    ) -> Owned<'a> {
        Owned::made(api, storage, shape, partitions, |context, array| {
            // SAFETY: the context is alive.
            unsafe { (api.b2nd_zeros)(context, array) }
        })
    }

    /// Returns an array of these items.
    pub fn of_items(
        api: &'a Api,
        storage: StorageOptions<'_>,
        shape: &[i64],
        partitions: Partitions<'_>,
        items: &[i32],
    ) -> Owned<'a> {
        Owned::made(api, storage, shape, partitions, |context, array| {
            // SAFETY: the context is alive; the size of the items is passed.
            unsafe { (api.b2nd_from_cbuffer)(context, array, items.as_ptr().cast(), bytes(items)) }
        })
    }

    /// Returns a copy with these partitions.
    pub fn copy(
        &self,
        storage: StorageOptions<'_>,
        shape: &[i64],
        partitions: Partitions<'_>,
    ) -> Owned<'a> {
        Owned::made(self.api, storage, shape, partitions, |context, array| {
            // SAFETY: context and array are alive.
            unsafe { (self.api.b2nd_copy)(context, self.array, array) }
        })
    }

    /// Returns a slice as a new array.
    pub fn slice(
        &self,
        storage: StorageOptions<'_>,
        start: &[i64],
        stop: &[i64],
        partitions: Partitions<'_>,
    ) -> Owned<'a> {
        Owned::made(self.api, storage, stop, partitions, |context, array| {
            // SAFETY: context and array are alive.
            unsafe {
                let (start, stop) = (start.as_ptr(), stop.as_ptr());
                (self.api.b2nd_get_slice)(context, array, self.array, start, stop)
            }
        })
    }

    /// Returns the concatenation of two arrays.
    pub fn concatenated(
        &self,
        other: &Owned<'_>,
        axis: i8,
        storage: StorageOptions<'_>,
        shape: &[i64],
        partitions: Partitions<'_>,
    ) -> Owned<'a> {
        Owned::made(self.api, storage, shape, partitions, |context, array| {
            // SAFETY: context and arrays are alive.
            unsafe {
                (self.api.b2nd_concatenate)(context, self.array, other.array, axis, true, array)
            }
        })
    }

    /// Reads all items.
    pub fn read_all(&self, dest: &mut [i32]) {
        let len = bytes(dest);
        // SAFETY: the array is alive; the size of the buffer is passed.
        let code = unsafe { (self.api.b2nd_to_cbuffer)(self.array, dest.as_mut_ptr().cast(), len) };
        assert_eq!(code, 0, "to_cbuffer");
    }

    /// Reads a slice.
    pub fn get(&self, start: &[i64], stop: &[i64], dest: &mut [i32]) {
        let shape = extents(start, stop);
        let len = bytes(dest);
        // SAFETY: as above; the lists have an entry for each dimension.
        let code = unsafe {
            (self.api.b2nd_get_slice_cbuffer)(
                self.array,
                start.as_ptr(),
                stop.as_ptr(),
                dest.as_mut_ptr().cast(),
                shape.as_ptr(),
                len,
            )
        };
        assert_eq!(code, 0, "get_slice_cbuffer");
    }

    /// Writes a slice.
    pub fn set(&self, start: &[i64], stop: &[i64], src: &[i32]) {
        let shape = extents(start, stop);
        // SAFETY: as above.
        let code = unsafe {
            (self.api.b2nd_set_slice_cbuffer)(
                src.as_ptr().cast(),
                shape.as_ptr(),
                bytes(src),
                start.as_ptr(),
                stop.as_ptr(),
                self.array,
            )
        };
        assert_eq!(code, 0, "set_slice_cbuffer");
    }

    /// Reads the items at these indices.
    pub fn get_sparse(&self, numbers: &[i64], dest: &mut [i32]) {
        let len = bytes(dest);
        // SAFETY: as above; the buffer has space for an item of each index.
        let code = unsafe {
            (self.api.b2nd_get_sparse_cbuffer)(
                self.array,
                numbers.len() as i64,
                numbers.as_ptr(),
                dest.as_mut_ptr().cast(),
                len,
            )
        };
        assert_eq!(code, 0, "get_sparse_cbuffer");
    }

    /// Reads all combinations of indices.
    pub fn get_orthogonal(&self, indices: &[Vec<i64>], dest: &mut [i32]) {
        let mut lists: Vec<*mut i64> = indices.iter().map(|i| i.as_ptr().cast_mut()).collect();
        let mut shape: Vec<i64> = indices.iter().map(|i| i.len() as i64).collect();
        let mut sizes = shape.clone();
        let len = bytes(dest);
        // SAFETY: the lists and the buffer have the passed sizes, and the lists are only read.
        let code = unsafe {
            (self.api.b2nd_get_orthogonal_selection)(
                self.array,
                lists.as_mut_ptr(),
                sizes.as_mut_ptr(),
                dest.as_mut_ptr().cast(),
                shape.as_mut_ptr(),
                len,
            )
        };
        assert_eq!(code, 0, "get_orthogonal_selection");
    }

    /// Writes all combinations of indices.
    pub fn set_orthogonal(&self, indices: &[Vec<i64>], src: &[i32]) {
        let mut lists: Vec<*mut i64> = indices.iter().map(|i| i.as_ptr().cast_mut()).collect();
        let mut shape: Vec<i64> = indices.iter().map(|i| i.len() as i64).collect();
        let mut sizes = shape.clone();
        // SAFETY: as above.
        let code = unsafe {
            (self.api.b2nd_set_orthogonal_selection)(
                self.array,
                lists.as_mut_ptr(),
                sizes.as_mut_ptr(),
                src.as_ptr().cast(),
                shape.as_mut_ptr(),
                bytes(src),
            )
        };
        assert_eq!(code, 0, "set_orthogonal_selection");
    }

    /// Resizes the array.
    pub fn resize(&self, shape: &[i64]) {
        // SAFETY: the list has an entry for each dimension.
        let code = unsafe { (self.api.b2nd_resize)(self.array, shape.as_ptr(), std::ptr::null()) };
        assert_eq!(code, 0, "resize");
    }

    /// Appends items along an axis.
    pub fn append(&self, src: &[i32], axis: i8) {
        // SAFETY: the size of the items is passed.
        let code =
            unsafe { (self.api.b2nd_append)(self.array, src.as_ptr().cast(), bytes(src), axis) };
        assert_eq!(code, 0, "append");
    }
}

fn extents(start: &[i64], stop: &[i64]) -> Vec<i64> {
    start.iter().zip(stop).map(|(a, b)| b - a).collect()
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: the array is freed once; the path names files of the library, or nothing.
        unsafe {
            (self.api.b2nd_free)(self.array);
            (self.api.blosc2_remove_urlpath)(self.path.as_ptr());
        }
    }
}
