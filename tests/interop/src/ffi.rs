//! The C interface that the tests call: structs and a table of functions.
//!
//! These are the interface facts of C-Blosc2 3.3 on 64-bit Unix, declared independently of the
//! library under test, so that errors in its own declarations are detected.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{offset_of, size_of};
use std::ptr::null_mut;

/// The number of slots in a filter pipeline.
pub const MAX_FILTERS: usize = 6;

/// An opaque compression or decompression context.
#[repr(C)]
pub struct Context {
    _private: [u8; 0],
}

/// `blosc2_cparams`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Cparams {
    /// Codec.
    pub compcode: u8,
    /// Codec parameter byte.
    pub compcode_meta: u8,
    /// Compression level, 0 to 9.
    pub clevel: u8,
    /// Whether to build a dictionary.
    pub use_dict: c_int,
    /// The size of an item in bytes.
    pub typesize: i32,
    /// The number of threads.
    pub nthreads: i16,
    /// The size of a block in bytes; 0 for automatic.
    pub blocksize: i32,
    /// Split mode, 1 to 4.
    pub splitmode: i32,
    /// The super-chunk that the context belongs to.
    pub schunk: *mut c_void,
    /// Filter ids, slot by slot.
    pub filters: [u8; MAX_FILTERS],
    /// Filter parameter bytes.
    pub filters_meta: [u8; MAX_FILTERS],
    /// Prefilter function.
    pub prefilter: *mut c_void,
    /// Prefilter parameters.
    pub preparams: *mut c_void,
    /// Tuner parameters.
    pub tuner_params: *mut c_void,
    /// Tuner id.
    pub tuner_id: c_int,
    /// Whether to measure instead of storing data.
    pub instr_codec: bool,
    /// User codec parameters.
    pub codec_params: *mut c_void,
    /// User filter parameters.
    pub filter_params: [*mut c_void; MAX_FILTERS],
}

/// `blosc2_dparams`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Dparams {
    /// The number of threads.
    pub nthreads: i16,
    /// Super-chunk the context belongs to.
    pub schunk: *mut c_void,
    /// Postfilter function.
    pub postfilter: *mut c_void,
    /// Postfilter parameters.
    pub postparams: *mut c_void,
    /// The size of an item in bytes, as reported.
    pub typesize: i32,
}

const _: () = {
    assert!(size_of::<Cparams>() == 136);
    assert!(offset_of!(Cparams, typesize) == 8);
    assert!(offset_of!(Cparams, blocksize) == 16);
    assert!(offset_of!(Cparams, filters) == 32);
    assert!(offset_of!(Cparams, prefilter) == 48);
    assert!(offset_of!(Cparams, tuner_id) == 72);
    assert!(offset_of!(Cparams, filter_params) == 88);
    assert!(size_of::<Dparams>() == 40);
    assert!(offset_of!(Dparams, schunk) == 8);
    assert!(offset_of!(Dparams, typesize) == 32);
};

impl Default for Cparams {
    /// Returns the documented defaults: BloscLZ, level 5, items of 8 bytes, shuffle in the last
    /// slot.
    fn default() -> Cparams {
        Cparams {
            compcode: 0,
            compcode_meta: 0,
            clevel: 5,
            use_dict: 0,
            typesize: 8,
            nthreads: 1,
            blocksize: 0,
            splitmode: 4,
            schunk: std::ptr::null_mut(),
            filters: [0, 0, 0, 0, 0, 1],
            filters_meta: [0; MAX_FILTERS],
            prefilter: std::ptr::null_mut(),
            preparams: std::ptr::null_mut(),
            tuner_params: std::ptr::null_mut(),
            tuner_id: 0,
            instr_codec: false,
            codec_params: std::ptr::null_mut(),
            filter_params: [std::ptr::null_mut(); MAX_FILTERS],
        }
    }
}

impl Default for Dparams {
    fn default() -> Dparams {
        Dparams {
            nthreads: 1,
            schunk: std::ptr::null_mut(),
            postfilter: std::ptr::null_mut(),
            postparams: std::ptr::null_mut(),
            typesize: 8,
        }
    }
}

/// `blosc2_stdio_mmap`.
#[repr(C)]
pub struct StdioMmap {
    /// The mode's name, until the file is open.
    pub mode: *const c_char,
    /// The initial size of the mapping in bytes.
    pub initial_mapping_size: usize,
    /// Whether the library frees the struct.
    pub needs_free: bool,
    /// The start of the mapping.
    pub addr: *mut u8,
    /// The file's path.
    pub urlpath: *mut c_char,
    /// The file's size in bytes.
    pub file_size: usize,
    /// The size of the mapping in bytes.
    pub mapping_size: usize,
    /// Whether changes stay in memory.
    pub is_memory_only: bool,
    /// The open file.
    pub file: *mut c_void,
    /// The file descriptor.
    pub fd: c_int,
    /// The protection flags of the mapping.
    pub access_flags: i64,
    /// The flags of the mapping.
    pub map_flags: i64,
}

impl StdioMmap {
    /// Creates a closed mapping with this initial size in bytes.
    pub fn new(mode: &'static CStr, initial_mapping_size: usize) -> StdioMmap {
        StdioMmap {
            mode: mode.as_ptr(),
            initial_mapping_size,
            needs_free: false,
            addr: null_mut(),
            urlpath: null_mut(),
            file_size: 0,
            mapping_size: 0,
            is_memory_only: false,
            file: null_mut(),
            fd: -1,
            access_flags: -1,
            map_flags: -1,
        }
    }
}

const _: () = {
    assert!(size_of::<StdioMmap>() == 96);
    assert!(offset_of!(StdioMmap, file_size) == 40);
    assert!(offset_of!(StdioMmap, map_flags) == 88);
};

/// A user codec, as passed to `blosc2_register_codec`.
#[repr(C)]
pub struct Codec {
    /// Id, 160 to 255.
    pub compcode: u8,
    /// NUL-terminated name that outlives the library.
    pub compname: *const c_char,
    /// The id of the codec's library.
    pub complib: u8,
    /// Version of the stream format.
    pub version: u8,
    /// Encoder function.
    pub encoder: *mut c_void,
    /// Decoder function.
    pub decoder: *mut c_void,
}

/// A user filter, as passed to `blosc2_register_filter`.
#[repr(C)]
pub struct Filter {
    /// Id, 160 to 255.
    pub id: u8,
    /// NUL-terminated name that outlives the library.
    pub name: *const c_char,
    /// Version.
    pub version: u8,
    /// Forward function.
    pub forward: *mut c_void,
    /// Backward function.
    pub backward: *mut c_void,
}

/// `blosc2_prefilter_params`.
#[repr(C)]
pub struct PrefilterParams {
    /// The caller's data.
    pub user_data: *mut c_void,
    /// The block in the source.
    pub input: *const u8,
    /// The destination of the block.
    pub output: *mut u8,
    /// The size of the output in bytes.
    pub output_size: i32,
    /// The size of an output item in bytes.
    pub output_typesize: i32,
    /// The offset of the block in the chunk, in bytes.
    pub output_offset: i32,
    /// The index of the chunk.
    pub nchunk: i64,
    /// The index of the block.
    pub nblock: i32,
    /// The index of the worker.
    pub tid: i32,
    /// Scratch memory.
    pub ttmp: *mut u8,
    /// The size of the scratch memory in bytes.
    pub ttmp_nbytes: usize,
    /// The context.
    pub ctx: *mut Context,
    /// Whether the output is discarded, so that only side effects matter.
    pub output_is_disposable: bool,
}

/// `blosc2_postfilter_params`.
#[repr(C)]
pub struct PostfilterParams {
    /// The caller's data.
    pub user_data: *mut c_void,
    /// The decoded block.
    pub input: *const u8,
    /// The destination of the result.
    pub output: *mut u8,
    /// The size of both in bytes.
    pub size: i32,
    /// The size of an item in bytes.
    pub typesize: i32,
    /// The offset of the block in the chunk, in bytes.
    pub offset: i32,
    /// The index of the chunk.
    pub nchunk: i64,
    /// The index of the block.
    pub nblock: i32,
    /// The index of the worker.
    pub tid: i32,
    /// Scratch memory.
    pub ttmp: *mut u8,
    /// The size of the scratch memory in bytes.
    pub ttmp_nbytes: usize,
    /// The context.
    pub ctx: *mut Context,
}

const _: () = {
    assert!(size_of::<PrefilterParams>() == 88);
    assert!(size_of::<PostfilterParams>() == 80);
};

/// A metalayer.
#[repr(C)]
pub struct Metalayer {
    /// The NUL-terminated name.
    pub name: *mut c_char,
    /// The content, compressed if the metalayer has variable length.
    pub content: *mut u8,
    /// The size of the content in bytes.
    pub content_len: i32,
}

/// `blosc2_schunk`.
#[repr(C)]
pub struct SChunk {
    /// Format version.
    pub version: u8,
    /// Codec.
    pub compcode: u8,
    /// Codec parameter byte.
    pub compcode_meta: u8,
    /// Compression level.
    pub clevel: u8,
    /// Split mode.
    pub splitmode: u8,
    /// The size of an item in bytes.
    pub typesize: i32,
    /// The requested block size in bytes.
    pub blocksize: i32,
    /// The chunk size in bytes; 0 if chunks differ in size, -1 before the first chunk.
    pub chunksize: i32,
    /// The flags of the chunks.
    pub flags2: u8,
    /// Whether chunks are compressed with a dictionary.
    pub use_dict: u8,
    /// Filter ids.
    pub filters: [u8; MAX_FILTERS],
    /// Filter parameter bytes.
    pub filters_meta: [u8; MAX_FILTERS],
    /// The number of chunks.
    pub nchunks: i64,
    /// The index of the current chunk.
    pub current_nchunk: i64,
    /// The uncompressed size in bytes.
    pub nbytes: i64,
    /// The compressed size in bytes.
    pub cbytes: i64,
    /// The chunks of a super-chunk without a frame.
    pub data: *mut *mut u8,
    /// The size of that array in bytes.
    pub data_len: usize,
    /// The storage parameters.
    pub storage: *mut Storage,
    /// The frame, or NULL.
    pub frame: *mut c_void,
    /// Compression context.
    pub cctx: *mut Context,
    /// Decompression context.
    pub dctx: *mut Context,
    /// The fixed metalayers.
    pub metalayers: [*mut Metalayer; 16],
    /// The number of fixed metalayers.
    pub nmetalayers: u16,
    /// The variable-length metalayers.
    pub vlmetalayers: [*mut Metalayer; 8192],
    /// The number of variable-length metalayers.
    pub nvlmetalayers: i16,
    /// Tuner parameters.
    pub tuner_params: *mut c_void,
    /// Tuner id.
    pub tuner_id: c_int,
    /// The number of dimensions.
    pub ndim: i8,
    /// The shape of the blocks.
    pub blockshape: *mut i64,
    /// Whether the super-chunk is a view.
    pub view: bool,
    /// The number of metadata changes.
    pub change_tick: i64,
}

/// `blosc2_io`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Io {
    /// Id of the backend.
    pub id: u8,
    /// The name of the backend.
    pub name: *const c_char,
    /// The parameters of the backend.
    pub params: *mut c_void,
}

/// `blosc2_io_cb`.
#[repr(C)]
pub struct IoCallbacks {
    /// Id, 160 to 255.
    pub id: u8,
    /// NUL-terminated name that outlives the library.
    pub name: *const c_char,
    /// Whether reads fill a buffer of the library.
    pub is_allocation_necessary: bool,
    /// Opens a file.
    pub open: unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void,
    /// Closes the file.
    pub close: unsafe extern "C" fn(*mut c_void) -> c_int,
    /// Returns the file's size in bytes.
    pub size: unsafe extern "C" fn(*mut c_void) -> i64,
    /// Writes items at an offset.
    pub write: unsafe extern "C" fn(*const c_void, i64, i64, i64, *mut c_void) -> i64,
    /// Reads items at an offset.
    pub read: unsafe extern "C" fn(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64,
    /// Sets the file's size.
    pub truncate: unsafe extern "C" fn(*mut c_void, i64) -> c_int,
    /// Frees the parameters.
    pub destroy: unsafe extern "C" fn(*mut c_void) -> c_int,
}

/// `blosc2_storage`.
#[repr(C)]
pub struct Storage {
    /// Whether the chunks are stored contiguously.
    pub contiguous: bool,
    /// Path, or NULL.
    pub urlpath: *mut c_char,
    /// The compression parameters, or NULL.
    pub cparams: *mut Cparams,
    /// The decompression parameters, or NULL.
    pub dparams: *mut Dparams,
    /// The I/O backend, or NULL.
    pub io: *mut Io,
}

const _: () = {
    assert!(size_of::<SChunk>() == 65840);
    assert!(offset_of!(SChunk, nchunks) == 40);
    assert!(offset_of!(SChunk, cctx) == 104);
    assert!(offset_of!(SChunk, nvlmetalayers) == 65792);
    assert!(offset_of!(SChunk, change_tick) == 65832);
    assert!(size_of::<Io>() == 24);
    assert!(size_of::<IoCallbacks>() == 80);
    assert!(size_of::<Storage>() == 40);
};

/// Declares `Api`, a table of C functions with these names and types, and its loader.
#[macro_export]
macro_rules! functions {
    ($($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions of one loaded library, named as in C.
        #[allow(missing_docs, reason = "each is the C function of its name")]
        #[derive(Clone, Copy)]
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl Api {
            /// Looks up every function in a library opened with `dlopen`.
            ///
            /// # Errors
            /// Returns the names of missing functions.
            ///
            /// # Safety
            /// `handle` is a live `dlopen` handle of a library whose functions have these
            /// signatures.
            pub unsafe fn load(handle: *mut std::ffi::c_void) -> Result<Api, String> {
                let mut missing = Vec::new();
                let mut look_up = |name: &'static std::ffi::CStr| {
                    // SAFETY: the caller guarantees a live handle; the name is NUL-terminated.
                    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
                    if address.is_null() {
                        missing.push(name.to_string_lossy().into_owned());
                    }
                    address
                };
                $(let $name = look_up(
                    std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes())
                        .expect("a name has one NUL, at its end"),
                );)*
                if !missing.is_empty() {
                    return Err(format!("missing symbols: {}", missing.join(", ")));
                }
                Ok(Api {
                    $(
                        // SAFETY: the address is not NULL, and the caller guarantees the signature.
                        $name: unsafe {
                            std::mem::transmute::<
                                *mut std::ffi::c_void,
                                unsafe extern "C" fn($($arg),*) $(-> $ret)?,
                            >($name)
                        },
                    )*
                })
            }
        }
    };
}

functions! {
    blosc2_init: fn();
    blosc2_destroy: fn();
    blosc2_free_resources: fn() -> c_int;
    blosc2_get_version_string: fn() -> *const c_char;
    blosc2_list_compressors: fn() -> *const c_char;
    blosc2_error_string: fn(c_int) -> *const c_char;
    blosc2_compname_to_compcode: fn(*const c_char) -> c_int;
    blosc2_compcode_to_compname: fn(c_int, *mut *const c_char) -> c_int;
    blosc2_get_complib_info: fn(*const c_char, *mut *mut c_char, *mut *mut c_char) -> c_int;
    blosc1_get_compressor: fn() -> *const c_char;
    blosc1_set_compressor: fn(*const c_char) -> c_int;
    blosc1_compress: fn(c_int, c_int, usize, usize, *const c_void, *mut c_void, usize) -> c_int;
    blosc1_decompress: fn(*const c_void, *mut c_void, usize) -> c_int;
    blosc1_getitem: fn(*const c_void, c_int, c_int, *mut c_void) -> c_int;
    blosc1_cbuffer_sizes: fn(*const c_void, *mut usize, *mut usize, *mut usize);
    blosc1_cbuffer_validate: fn(*const c_void, usize, *mut usize) -> c_int;
    blosc1_cbuffer_metainfo: fn(*const c_void, *mut usize, *mut c_int);
    blosc1_get_blocksize: fn() -> c_int;
    blosc1_set_blocksize: fn(usize);
    blosc1_set_splitmode: fn(c_int);
    blosc2_compress: fn(c_int, c_int, i32, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_decompress: fn(*const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_getitem: fn(*const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
    blosc2_get_nthreads: fn() -> i16;
    blosc2_set_nthreads: fn(i16) -> i16;
    blosc2_set_delta: fn(c_int);
    blosc2_cbuffer_sizes: fn(*const c_void, *mut i32, *mut i32, *mut i32) -> c_int;
    blosc2_cbuffer_versions: fn(*const c_void, *mut c_int, *mut c_int);
    blosc2_cbuffer_complib: fn(*const c_void) -> *const c_char;
    blosc2_create_cctx: fn(Cparams) -> *mut Context;
    blosc2_create_dctx: fn(Dparams) -> *mut Context;
    blosc2_free_ctx: fn(*mut Context);
    blosc2_ctx_get_cparams: fn(*mut Context, *mut Cparams) -> c_int;
    blosc2_ctx_get_dparams: fn(*mut Context, *mut Dparams) -> c_int;
    blosc2_get_blosc2_cparams_defaults: fn() -> Cparams;
    blosc2_get_blosc2_dparams_defaults: fn() -> Dparams;
    blosc2_set_maskout: fn(*mut Context, *mut bool, c_int) -> c_int;
    blosc2_compress_ctx: fn(*mut Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_decompress_ctx: fn(*mut Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_getitem_ctx: fn(*mut Context, *const c_void, i32, c_int, c_int, *mut c_void, i32) -> c_int;
    blosc2_getitem_bytes_ctx: fn(*mut Context, *const c_void, i32, i32, i32, *mut c_void, i32) -> c_int;
    blosc2_vlcompress_ctx: fn(*mut Context, *const *const c_void, *const i32, i32, *mut c_void, i32) -> c_int;
    blosc2_vldecompress_ctx: fn(*mut Context, *const c_void, i32, *mut *mut c_void, *mut i32, i32) -> c_int;
    blosc2_vldecompress_block_ctx: fn(*mut Context, *const c_void, i32, i32, *mut *mut u8, *mut i32) -> c_int;
    blosc2_vlchunk_get_nblocks: fn(*const c_void, i32, *mut i32) -> c_int;
    blosc2_chunk_zeros: fn(Cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_nans: fn(Cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_uninit: fn(Cparams, i32, *mut c_void, i32) -> c_int;
    blosc2_chunk_repeatval: fn(Cparams, i32, *mut c_void, i32, *const c_void) -> c_int;
    blosc2_register_codec: fn(*const Codec) -> c_int;
    blosc2_register_filter: fn(*const Filter) -> c_int;
    blosc2_remove_dir: fn(*const c_char) -> c_int;
    blosc2_remove_urlpath: fn(*const c_char) -> c_int;
    blosc2_rename_urlpath: fn(*const c_char, *const c_char) -> c_int;
    blosc2_stdio_open: fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void;
    blosc2_stdio_close: fn(*mut c_void) -> c_int;
    blosc2_stdio_size: fn(*mut c_void) -> i64;
    blosc2_stdio_write: fn(*const c_void, i64, i64, i64, *mut c_void) -> i64;
    blosc2_stdio_read: fn(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64;
    blosc2_stdio_truncate: fn(*mut c_void, i64) -> c_int;
    blosc2_stdio_mmap_open: fn(*const c_char, *const c_char, *mut c_void) -> *mut c_void;
    blosc2_stdio_mmap_close: fn(*mut c_void) -> c_int;
    blosc2_stdio_mmap_size: fn(*mut c_void) -> i64;
    blosc2_stdio_mmap_write: fn(*const c_void, i64, i64, i64, *mut c_void) -> i64;
    blosc2_stdio_mmap_read: fn(*mut *mut c_void, i64, i64, i64, *mut c_void) -> i64;
    blosc2_stdio_mmap_truncate: fn(*mut c_void, i64) -> c_int;
    blosc2_stdio_mmap_destroy: fn(*mut c_void) -> c_int;
    blosc2_register_io_cb: fn(*const IoCallbacks) -> c_int;
    blosc2_schunk_new: fn(*mut Storage) -> *mut SChunk;
    blosc2_schunk_copy: fn(*mut SChunk, *mut Storage) -> *mut SChunk;
    blosc2_schunk_free: fn(*mut SChunk) -> c_int;
    blosc2_schunk_open_offset: fn(*const c_char, i64) -> *mut SChunk;
    blosc2_schunk_open_offset_udio: fn(*const c_char, i64, *const Io) -> *mut SChunk;
    blosc2_schunk_refresh: fn(*mut SChunk) -> c_int;
    blosc2_schunk_lock: fn(*mut SChunk) -> c_int;
    blosc2_schunk_unlock: fn(*mut SChunk) -> c_int;
    blosc2_schunk_append_chunk: fn(*mut SChunk, *mut u8, bool) -> i64;
    blosc2_schunk_append_buffer: fn(*mut SChunk, *const c_void, i32) -> i64;
    blosc2_schunk_insert_chunk: fn(*mut SChunk, i64, *mut u8, bool) -> i64;
    blosc2_schunk_update_chunk: fn(*mut SChunk, i64, *mut u8, bool) -> i64;
    blosc2_schunk_delete_chunk: fn(*mut SChunk, i64) -> i64;
    blosc2_schunk_reorder_offsets: fn(*mut SChunk, *mut i64) -> c_int;
    blosc2_schunk_fill_special: fn(*mut SChunk, i64, c_int, i32) -> i64;
    blosc2_schunk_decompress_chunk: fn(*mut SChunk, i64, *mut c_void, i32) -> c_int;
    blosc2_schunk_get_chunk: fn(*mut SChunk, i64, *mut *mut u8, *mut bool) -> c_int;
    blosc2_schunk_get_lazychunk: fn(*mut SChunk, i64, *mut *mut u8, *mut bool) -> c_int;
    blosc2_schunk_get_vlblock: fn(*mut SChunk, i64, i32, *mut *mut u8, *mut i32) -> c_int;
    blosc2_frame_get_offsets: fn(*mut SChunk) -> *mut i64;
    blosc2_schunk_from_buffer: fn(*mut u8, i64, bool) -> *mut SChunk;
    blosc2_schunk_avoid_cframe_free: fn(*mut SChunk, bool);
    blosc2_schunk_to_buffer: fn(*mut SChunk, *mut *mut u8, *mut bool) -> i64;
    blosc2_schunk_to_file: fn(*mut SChunk, *const c_char) -> i64;
    blosc2_schunk_append_file: fn(*mut SChunk, *const c_char) -> i64;
    blosc2_schunk_frame_len: fn(*mut SChunk) -> i64;
    blosc2_schunk_get_slice_buffer: fn(*mut SChunk, i64, i64, *mut c_void) -> c_int;
    blosc2_schunk_set_slice_buffer: fn(*mut SChunk, i64, i64, *mut c_void) -> c_int;
    blosc2_schunk_get_sparse_buffer: fn(*mut SChunk, i64, *const i64, *mut c_void) -> c_int;
    blosc2_meta_add: fn(*mut SChunk, *const c_char, *mut u8, i32) -> c_int;
    blosc2_meta_update: fn(*mut SChunk, *const c_char, *mut u8, i32) -> c_int;
    blosc2_vlmeta_exists: fn(*mut SChunk, *const c_char) -> c_int;
    blosc2_vlmeta_add: fn(*mut SChunk, *const c_char, *mut u8, i32, *mut Cparams) -> c_int;
    blosc2_vlmeta_update: fn(*mut SChunk, *const c_char, *mut u8, i32, *mut Cparams) -> c_int;
    blosc2_vlmeta_get: fn(*mut SChunk, *const c_char, *mut *mut u8, *mut i32) -> c_int;
    blosc2_vlmeta_delete: fn(*mut SChunk, *const c_char) -> c_int;
    blosc2_vlmeta_get_names: fn(*mut SChunk, *mut *mut c_char) -> c_int;
    blosc2_shuffle: fn(i32, i32, *const c_void, *mut c_void) -> i32;
    blosc2_unshuffle: fn(i32, i32, *const c_void, *mut c_void) -> i32;
    blosc2_bitshuffle: fn(i32, i32, *const c_void, *mut c_void) -> i32;
    blosc2_bitunshuffle: fn(i32, i32, *const c_void, *mut c_void) -> i32;
}
