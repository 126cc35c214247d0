//! The measured super-chunk functions of one library.

use ferroblosc_interop::ffi::{Context, Cparams, Dparams};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

/// `blosc2_storage`.
#[repr(C)]
pub struct Storage {
    contiguous: bool,
    urlpath: *mut c_char,
    cparams: *mut Cparams,
    dparams: *mut Dparams,
    io: *mut Io,
}

/// `blosc2_io`.
#[repr(C)]
struct Io {
    id: u8,
    name: *const c_char,
    params: *mut c_void,
}

/// `blosc2_stdio_mmap`.
#[repr(C)]
struct Mmap {
    mode: *const c_char,
    initial_mapping_size: i64,
    needs_free: bool,
    addr: *mut c_char,
    urlpath: *mut c_char,
    file_size: i64,
    mapping_size: i64,
    is_memory_only: bool,
    file: *mut c_void,
    fd: c_int,
    access_flags: i64,
    map_flags: i64,
}

/// The id of the backend that maps files.
const MMAP: u8 = 1;

/// A super-chunk of either library.
pub enum Schunk {}

macro_rules! functions {
    ($($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions of one library.
        pub struct Api { $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)* }

        impl Api {
            /// Opens a library.
            ///
            /// # Errors
            /// Returns the missing file or function.
            pub fn open(path: &Path) -> Result<Api, String> {
                let text = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
                // SAFETY: a NUL-terminated path of a library whose constructors may run.
                let handle = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
                if handle.is_null() {
                    return Err(format!("{}: cannot be opened", path.display()));
                }
                let find = |name: &CStr| {
                    // SAFETY: the handle is never closed.
                    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
                    if found.is_null() {
                        Err(format!("{}: no {}", path.display(), name.to_string_lossy()))
                    } else {
                        Ok(found)
                    }
                };
                Ok(Api {
                    $($name: {
                        let name = CString::new(stringify!($name)).map_err(|e| e.to_string())?;
                        // SAFETY: both libraries have the functions of C-Blosc2 3.3 with these
                        // types.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($arg),*) $(-> $ret)?>(find(&name)?)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    blosc2_init: fn();
    blosc2_create_cctx: fn(Cparams) -> *mut Context;
    blosc2_free_ctx: fn(*mut Context);
    blosc2_compress_ctx: fn(*mut Context, *const c_void, i32, *mut c_void, i32) -> c_int;
    blosc2_schunk_new: fn(*mut Storage) -> *mut Schunk;
    blosc2_schunk_open: fn(*const c_char) -> *mut Schunk;
    blosc2_schunk_free: fn(*mut Schunk) -> c_int;
    blosc2_schunk_append_buffer: fn(*mut Schunk, *const c_void, i32) -> i64;
    blosc2_schunk_append_chunk: fn(*mut Schunk, *mut u8, bool) -> i64;
    blosc2_schunk_update_chunk: fn(*mut Schunk, i64, *mut u8, bool) -> i64;
    blosc2_schunk_set_slice_buffer: fn(*mut Schunk, i64, i64, *mut c_void) -> c_int;
    blosc2_schunk_decompress_chunk: fn(*mut Schunk, i64, *mut c_void, i32) -> c_int;
    blosc2_schunk_get_slice_buffer: fn(*mut Schunk, i64, i64, *mut c_void) -> c_int;
    blosc2_vlmeta_add: fn(*mut Schunk, *const c_char, *mut u8, i32, *mut Cparams) -> c_int;
    blosc2_vlmeta_update: fn(*mut Schunk, *const c_char, *mut u8, i32, *mut Cparams) -> c_int;
    blosc2_remove_urlpath: fn(*const c_char) -> c_int;
}

/// The storage of super-chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// In memory, as separate chunks.
    Memory,
    /// In memory, as a frame.
    Frame,
    /// In a file.
    File,
    /// In a directory.
    Directory,
    /// In a memory-mapped file.
    Mapped,
}

impl Kind {
    /// All storages.
    pub const ALL: [Kind; 5] =
        [Kind::Memory, Kind::Frame, Kind::File, Kind::Directory, Kind::Mapped];

    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Memory => "memory",
            Kind::Frame => "frame",
            Kind::File => "file",
            Kind::Directory => "directory",
            Kind::Mapped => "mmap",
        }
    }

    /// Whether the storage is on disk.
    pub fn is_on_disk(self) -> bool {
        !matches!(self, Kind::Memory | Kind::Frame)
    }
}

/// A super-chunk. Dropping it frees it and removes its files.
pub struct Owned<'a> {
    api: &'a Api,
    schunk: *mut Schunk,
    path: CString,
    _mmap: Option<Box<Mmap>>,
}

impl<'a> Owned<'a> {
    /// Creates an empty super-chunk, at `path` if its storage is on disk.
    pub fn new(api: &'a Api, kind: Kind, path: &str) -> Owned<'a> {
        let path = CString::new(path).expect("a path of ours");
        let mut cparams = Cparams { typesize: 8, ..Cparams::default() };
        let mut mmap = (kind == Kind::Mapped).then(|| {
            Box::new(Mmap {
                mode: c"w+".as_ptr(),
                initial_mapping_size: 1 << 30,
                needs_free: false,
                addr: std::ptr::null_mut(),
                urlpath: std::ptr::null_mut(),
                file_size: 0,
                mapping_size: 0,
                is_memory_only: false,
                file: std::ptr::null_mut(),
                fd: -1,
                access_flags: -1,
                map_flags: -1,
            })
        });
        let mut io = Io {
            id: if mmap.is_some() { MMAP } else { 0 },
            name: c"".as_ptr(),
            params: mmap
                .as_deref_mut()
                .map_or(std::ptr::null_mut(), |mmap| std::ptr::from_mut(mmap).cast()),
        };
        let mut storage = Storage {
            contiguous: !matches!(kind, Kind::Memory | Kind::Directory),
            urlpath: if kind.is_on_disk() {
                path.as_ptr().cast_mut()
            } else {
                std::ptr::null_mut()
            },
            cparams: &raw mut cparams,
            dparams: std::ptr::null_mut(),
            io: &raw mut io,
        };
        // SAFETY: the storage is copied; the parameters of the mapping live as long as the
        // super-chunk.
        let schunk = unsafe { (api.blosc2_schunk_new)(&raw mut storage) };
        assert!(!schunk.is_null(), "a super-chunk at {path:?}");
        Owned { api, schunk, path, _mmap: mmap }
    }

    /// Frees the super-chunk; its files are kept until it is dropped.
    pub fn close(&mut self) {
        if !self.schunk.is_null() {
            // SAFETY: the super-chunk is alive, and not used again.
            unsafe { (self.api.blosc2_schunk_free)(self.schunk) };
            self.schunk = std::ptr::null_mut();
        }
    }

    /// Returns the path.
    pub fn path(&self) -> &CStr {
        &self.path
    }

    /// Compresses and appends data.
    pub fn append(&self, data: &[i64]) {
        // SAFETY: the super-chunk is alive; the size of the data is passed.
        let nchunks = unsafe {
            (self.api.blosc2_schunk_append_buffer)(
                self.schunk,
                data.as_ptr().cast(),
                size_of_val(data) as i32,
            )
        };
        assert!(nchunks > 0, "append: {nchunks}");
    }

    /// Appends a copy of a chunk.
    pub fn append_chunk(&self, chunk: &mut [u8]) {
        // SAFETY: the super-chunk is alive; the chunk is whole and copied.
        let nchunks =
            unsafe { (self.api.blosc2_schunk_append_chunk)(self.schunk, chunk.as_mut_ptr(), true) };
        assert!(nchunks > 0, "append_chunk: {nchunks}");
    }

    /// Replaces a chunk by a copy of another.
    pub fn update_chunk(&self, nchunk: i64, chunk: &mut [u8]) {
        // SAFETY: the super-chunk is alive; the chunk is whole and copied.
        let nchunks = unsafe {
            (self.api.blosc2_schunk_update_chunk)(self.schunk, nchunk, chunk.as_mut_ptr(), true)
        };
        assert!(nchunks > 0, "update_chunk: {nchunks}");
    }

    /// Writes an item.
    pub fn set_item(&self, at: i64, item: i64) {
        let mut item = item;
        // SAFETY: the super-chunk is alive; the item exists.
        let rc = unsafe {
            (self.api.blosc2_schunk_set_slice_buffer)(
                self.schunk,
                at,
                at + 1,
                (&raw mut item).cast(),
            )
        };
        assert_eq!(rc, 0, "set_slice_buffer");
    }

    /// Decompresses a chunk.
    pub fn decompress(&self, nchunk: i64, dest: &mut [i64]) {
        // SAFETY: the super-chunk is alive; the size of the buffer is passed.
        let size = unsafe {
            (self.api.blosc2_schunk_decompress_chunk)(
                self.schunk,
                nchunk,
                dest.as_mut_ptr().cast(),
                size_of_val(dest) as i32,
            )
        };
        assert!(size > 0, "decompress: {size}");
    }

    /// Reads items.
    pub fn slice(&self, start: i64, dest: &mut [i64]) {
        let stop = start + dest.len() as i64;
        // SAFETY: the super-chunk is alive; the buffer has space for the items.
        let rc = unsafe {
            (self.api.blosc2_schunk_get_slice_buffer)(
                self.schunk,
                start,
                stop,
                dest.as_mut_ptr().cast(),
            )
        };
        assert_eq!(rc, 0, "slice");
    }

    /// Adds a variable-length metalayer.
    pub fn add_metadata(&self, content: &mut [u8]) {
        // SAFETY: the super-chunk is alive; the content is copied.
        let rc = unsafe {
            let len = content.len() as i32;
            (self.api.blosc2_vlmeta_add)(
                self.schunk,
                c"notes".as_ptr(),
                content.as_mut_ptr(),
                len,
                std::ptr::null_mut(),
            )
        };
        assert_eq!(rc, 0, "vlmeta_add");
    }

    /// Replaces the content of the metalayer.
    pub fn update_metadata(&self, content: &mut [u8]) {
        // SAFETY: as above.
        let rc = unsafe {
            let len = content.len() as i32;
            (self.api.blosc2_vlmeta_update)(
                self.schunk,
                c"notes".as_ptr(),
                content.as_mut_ptr(),
                len,
                std::ptr::null_mut(),
            )
        };
        assert_eq!(rc, 0, "vlmeta_update");
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        self.close();
        // SAFETY: the path names files of the library, or nothing.
        unsafe {
            (self.api.blosc2_remove_urlpath)(self.path.as_ptr());
        }
    }
}
