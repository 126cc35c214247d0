//! The library: its search, version and functions, and the lock of all calls.
//!
//! The functions exist with the same prototypes from HDF5 1.10 to 2.x, except those of `Api` that
//! are options: the names of these depend on the version.

use crate::error::{Error, Result};
use ferroblosc_capi_common::os::library;
use ferroblosc_hdf5_common::Threads;
use ferroblosc_hdf5_common::abi::FilterClass;
use ferroblosc_hdf5_common::blosc::Blosc;
use ferroblosc_hdf5_common::blosc2::Blosc2;
use ferroblosc_hdf5_common::entry::class_of;
use std::cell::Cell;
use std::env::consts::DLL_SUFFIX;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The environment variable with the path of libhdf5.
pub const VARIABLE: &str = "FERROBLOSC_HDF5";

/// `hid_t`.
pub type Id = i64;
/// `hsize_t`.
pub type Size = u64;
/// `herr_t`, `htri_t`: negative on failure.
pub type Status = c_int;

/// The names of the library. Debian's serial build has a name of its own; the numbers are those of
/// HDF5 1.10 to 2.x. On macOS, package managers install it where the dynamic linker does not
/// search.
const NAMES: [&str; 25] = [
    "libhdf5.so",
    "libhdf5_serial.so",
    "libhdf5.so.320",
    "libhdf5.so.310",
    "libhdf5.so.300",
    "libhdf5.so.200",
    "libhdf5.so.103",
    "libhdf5_serial.so.320",
    "libhdf5_serial.so.310",
    "libhdf5_serial.so.300",
    "libhdf5_serial.so.200",
    "libhdf5_serial.so.103",
    "hdf5.dll",
    "libhdf5.dll",
    "libhdf5-320.dll",
    "libhdf5-310.dll",
    "libhdf5-300.dll",
    "libhdf5-200.dll",
    "libhdf5-103.dll",
    "libhdf5.dylib",
    "libhdf5.320.dylib",
    "libhdf5.310.dylib",
    "/opt/homebrew/lib/libhdf5.dylib",
    "/usr/local/lib/libhdf5.dylib",
    "/opt/local/lib/libhdf5.dylib",
];

/// The minor number of the first supported version 1, since `hid_t` had 32 bits before, and the
/// major number of the last supported version.
const VERSIONS: (u32, u32) = (10, 2);

/// Declares the functions that are loaded.
macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions of the library. The fields have the names of the functions.
        #[allow(non_snake_case, reason = "HDF5 defines the names")]
        pub struct Api {
            /// The library, which is never unloaded.
            library: Library,
            /// The version.
            pub version: (u32, u32, u32),
            $(pub $name: unsafe extern "C" fn($($argument),*) -> $result,)*
            /// `H5Eget_auto1` and `H5Eset_auto1`, which libraries without old functions do not have.
            old_printing: Option<(OldPrinting, SetOldPrinting)>,
            /// `H5Literate`, with the part of the information about links that all versions share.
            pub iterate: Iterate,
            /// `H5Oget_info`, in the version that exists.
            pub object_info: ObjectInfo,
            /// `H5Dread_chunk`, in the version that exists.
            pub read_chunk: Option<ReadChunk>,
            /// `H5Dget_chunk_info_by_coord`, since 1.10.5.
            pub chunk_info: Option<ChunkInfo>,
            /// `H5Dget_num_chunks` and `H5Dget_chunk_info`, since 1.10.5.
            pub numbered_chunks: Option<(NumChunks, NumberedChunk)>,
            /// `H5Dchunk_iter`, since 1.12.3 and 1.14.
            pub iterate_chunks: Option<IterateChunks>,
            /// `H5Dwrite_chunk`, since 1.10.3.
            pub write_chunk: Option<WriteChunk>,
        }

        impl Api {
            /// Loads all functions.
            fn of(library: Library) -> std::result::Result<Api, String> {
                let missing = |name: &str| format!("it has no function {name}");
                // SAFETY: the types are those of the functions of these names, in each version that
                // has them.
                unsafe {
                    let iterate = function(&library, "H5Literate1")
                        .or_else(|| function(&library, "H5Literate"));
                    let with_fields = function(&library, "H5Oget_info3").map(ObjectInfo::Fields);
                    let object_info = with_fields.or_else(|| {
                        let old = function(&library, "H5Oget_info1");
                        old.or_else(|| function(&library, "H5Oget_info")).map(ObjectInfo::All)
                    });
                    let sized = function(&library, "H5Dread_chunk2").map(ReadChunk::Sized);
                    let read_chunk = sized.or_else(|| {
                        let old = function(&library, "H5Dread_chunk1");
                        let old = old.or_else(|| function(&library, "H5Dread_chunk"));
                        old.map(ReadChunk::Plain)
                    });
                    Ok(Api {
                        version: (0, 0, 0),
                        $($name: function(&library, stringify!($name))
                            .ok_or_else(|| missing(stringify!($name)))?,)*
                        old_printing: function(&library, "H5Eget_auto1")
                            .zip(function(&library, "H5Eset_auto1")),
                        iterate: iterate.ok_or_else(|| missing("H5Literate"))?,
                        object_info: object_info.ok_or_else(|| missing("H5Oget_info"))?,
                        read_chunk,
                        chunk_info: function(&library, "H5Dget_chunk_info_by_coord"),
                        numbered_chunks: function(&library, "H5Dget_num_chunks")
                            .zip(function(&library, "H5Dget_chunk_info")),
                        iterate_chunks: function(&library, "H5Dchunk_iter"),
                        write_chunk: function(&library, "H5Dwrite_chunk"),
                        library,
                    })
                }
            }
        }
    };
}

/// `H5Eget_auto1`, with the function that prints errors and its data.
type OldPrinting = unsafe extern "C" fn(*mut *const c_void, *mut *const c_void) -> Status;
/// `H5Eset_auto1`.
type SetOldPrinting = unsafe extern "C" fn(*const c_void, *const c_void) -> Status;

/// `H5Literate`.
pub type Iterate = unsafe extern "C" fn(
    group: Id,
    index: c_int,
    order: c_int,
    start: *mut Size,
    visitor: *const c_void,
    data: *mut c_void,
) -> Status;

/// `H5Oget_info`.
#[derive(Clone, Copy)]
pub enum ObjectInfo {
    /// With a selection of fields, since 1.12.
    Fields(unsafe extern "C" fn(Id, *mut c_void, c_uint) -> Status),
    /// All fields.
    All(unsafe extern "C" fn(Id, *mut c_void) -> Status),
}

/// `H5Dread_chunk`.
#[derive(Clone, Copy)]
pub enum ReadChunk {
    /// With the size of the buffer, since 2.0.
    Sized(unsafe extern "C" fn(Id, Id, *const Size, *mut u32, *mut c_void, *mut usize) -> Status),
    /// Without it.
    Plain(unsafe extern "C" fn(Id, Id, *const Size, *mut u32, *mut c_void) -> Status),
}

/// `H5Dget_chunk_info_by_coord`, with the mask of skipped filters, the address and the size.
pub type ChunkInfo = unsafe extern "C" fn(Id, *const Size, *mut u32, *mut u64, *mut Size) -> Status;

/// `H5Dget_num_chunks`, with a dataspace.
pub type NumChunks = unsafe extern "C" fn(Id, Id, *mut Size) -> Status;

/// `H5Dget_chunk_info`, with a dataspace and the number of the chunk in the index of the file.
pub type NumberedChunk =
    unsafe extern "C" fn(Id, Id, Size, *mut Size, *mut u32, *mut u64, *mut Size) -> Status;

/// `H5Dchunk_iter`, with a list of properties. The arguments of the visitor after the offsets of
/// the chunk are its mask, its address, its size, which has 32 or 64 bits, and the data.
pub type IterateChunks = unsafe extern "C" fn(
    dataset: Id,
    properties: Id,
    visitor: unsafe extern "C" fn(*const Size, u32, u64, Size, *mut c_void) -> c_int,
    data: *mut c_void,
) -> Status;

/// `H5Dwrite_chunk`.
pub type WriteChunk =
    unsafe extern "C" fn(Id, Id, u32, *const Size, usize, *const c_void) -> Status;

functions! {
    H5open: fn() -> Status;
    H5dont_atexit: fn() -> Status;
    H5get_libversion: fn(*mut c_uint, *mut c_uint, *mut c_uint) -> Status;
    H5Eauto_is_v2: fn(Id, *mut c_uint) -> Status;
    H5Eget_auto2: fn(Id, *mut *const c_void, *mut *const c_void) -> Status;
    H5Eset_auto2: fn(Id, *const c_void, *const c_void) -> Status;
    H5Ewalk2: fn(Id, c_int, *const c_void, *mut c_void) -> Status;
    H5Eclear2: fn(Id) -> Status;
    H5Idec_ref: fn(Id) -> c_int;
    H5Iget_type: fn(Id) -> c_int;
    H5Iget_file_id: fn(Id) -> Id;
    H5Iget_name: fn(Id, *mut c_char, usize) -> isize;
    H5Fopen: fn(*const c_char, c_uint, Id) -> Id;
    H5Fcreate: fn(*const c_char, c_uint, Id, Id) -> Id;
    H5Fget_filesize: fn(Id, *mut Size) -> Status;
    H5Fflush: fn(Id, c_int) -> Status;
    H5Oopen: fn(Id, *const c_char, Id) -> Id;
    H5Oexists_by_name: fn(Id, *const c_char, Id) -> Status;
    H5Lexists: fn(Id, *const c_char, Id) -> Status;
    H5Ldelete: fn(Id, *const c_char, Id) -> Status;
    H5Gcreate2: fn(Id, *const c_char, Id, Id, Id) -> Id;
    H5Dopen2: fn(Id, *const c_char, Id) -> Id;
    H5Dcreate2: fn(Id, *const c_char, Id, Id, Id, Id, Id) -> Id;
    H5Dget_space: fn(Id) -> Id;
    H5Dget_type: fn(Id) -> Id;
    H5Dget_create_plist: fn(Id) -> Id;
    H5Dget_storage_size: fn(Id) -> Size;
    H5Dread: fn(Id, Id, Id, Id, Id, *mut c_void) -> Status;
    H5Dwrite: fn(Id, Id, Id, Id, Id, *const c_void) -> Status;
    H5Dvlen_reclaim: fn(Id, Id, Id, *mut c_void) -> Status;
    H5Screate: fn(c_int) -> Id;
    H5Screate_simple: fn(c_int, *const Size, *const Size) -> Id;
    H5Sget_simple_extent_type: fn(Id) -> c_int;
    H5Sget_simple_extent_ndims: fn(Id) -> c_int;
    H5Sget_simple_extent_dims: fn(Id, *mut Size, *mut Size) -> c_int;
    H5Sselect_hyperslab: fn(Id, c_int, *const Size, *const Size, *const Size, *const Size) -> Status;
    H5Pcreate: fn(Id) -> Id;
    H5Pget_layout: fn(Id) -> c_int;
    H5Pget_chunk: fn(Id, c_int, *mut Size) -> c_int;
    H5Pset_chunk: fn(Id, c_int, *const Size) -> Status;
    H5Pget_external_count: fn(Id) -> c_int;
    H5Pget_external: fn(Id, c_uint, usize, *mut c_char, *mut c_void, *mut Size) -> Status;
    H5Pget_virtual_filename: fn(Id, usize, *mut c_char, usize) -> isize;
    H5Pget_virtual_dsetname: fn(Id, usize, *mut c_char, usize) -> isize;
    H5Pset_chunk_cache: fn(Id, usize, usize, f64) -> Status;
    H5Pget_nfilters: fn(Id) -> c_int;
    H5Pget_filter2: fn(Id, c_uint, *mut c_uint, *mut usize, *mut c_uint, usize, *mut c_char, *mut c_uint) -> c_int;
    H5Pset_filter: fn(Id, c_int, c_uint, usize, *const c_uint) -> Status;
    H5Pfill_value_defined: fn(Id, *mut c_int) -> Status;
    H5Pget_fill_value: fn(Id, Id, *mut c_void) -> Status;
    H5Pset_fill_value: fn(Id, Id, *const c_void) -> Status;
    H5Pset_create_intermediate_group: fn(Id, c_uint) -> Status;
    H5Pset_obj_track_times: fn(Id, c_uint) -> Status;
    H5Pset_char_encoding: fn(Id, c_int) -> Status;
    H5Tcopy: fn(Id) -> Id;
    H5Tcreate: fn(c_int, usize) -> Id;
    H5Tequal: fn(Id, Id) -> Status;
    H5Tget_class: fn(Id) -> c_int;
    H5Tget_size: fn(Id) -> usize;
    H5Tset_size: fn(Id, usize) -> Status;
    H5Tget_order: fn(Id) -> c_int;
    H5Tget_sign: fn(Id) -> c_int;
    H5Tget_precision: fn(Id) -> usize;
    H5Tget_fields: fn(Id, *mut usize, *mut usize, *mut usize, *mut usize, *mut usize) -> Status;
    H5Tset_fields: fn(Id, usize, usize, usize, usize, usize) -> Status;
    H5Tget_ebias: fn(Id) -> usize;
    H5Tset_ebias: fn(Id, usize) -> Status;
    H5Tget_super: fn(Id) -> Id;
    H5Tget_nmembers: fn(Id) -> c_int;
    H5Tget_member_name: fn(Id, c_uint) -> *mut c_char;
    H5Tget_member_type: fn(Id, c_uint) -> Id;
    H5Tget_member_value: fn(Id, c_uint, *mut c_void) -> Status;
    H5Tinsert: fn(Id, *const c_char, usize, Id) -> Status;
    H5Tenum_create: fn(Id) -> Id;
    H5Tenum_insert: fn(Id, *const c_char, *const c_void) -> Status;
    H5Tvlen_create: fn(Id) -> Id;
    H5Tarray_create2: fn(Id, c_uint, *const Size) -> Id;
    H5Tget_array_ndims: fn(Id) -> c_int;
    H5Tget_array_dims2: fn(Id, *mut Size) -> c_int;
    H5Tis_variable_str: fn(Id) -> Status;
    H5Tset_strpad: fn(Id, c_int) -> Status;
    H5Tset_cset: fn(Id, c_int) -> Status;
    H5Tget_cset: fn(Id) -> c_int;
    H5Tget_tag: fn(Id) -> *mut c_char;
    H5Tset_tag: fn(Id, *const c_char) -> Status;
    H5Aiterate2: fn(Id, c_int, c_int, *mut Size, *const c_void, *mut c_void) -> Status;
    H5Aopen: fn(Id, *const c_char, Id) -> Id;
    H5Aexists: fn(Id, *const c_char) -> Status;
    H5Adelete: fn(Id, *const c_char) -> Status;
    H5Aget_space: fn(Id) -> Id;
    H5Aget_type: fn(Id) -> Id;
    H5Aread: fn(Id, Id, *mut c_void) -> Status;
    H5Acreate2: fn(Id, *const c_char, Id, Id, Id, Id) -> Id;
    H5Awrite: fn(Id, Id, *const c_void) -> Status;
    H5Rcreate: fn(*mut c_void, Id, *const c_char, c_int, Id) -> Status;
    H5Rdereference2: fn(Id, Id, c_int, *const c_void) -> Id;
    H5free_memory: fn(*mut c_void) -> Status;
    H5Zregister: fn(*const c_void) -> Status;
}

/// A loaded library, which is never unloaded.
struct Library(NonNull<c_void>);

// SAFETY: the handle is never closed, and `dlsym` may be called by several threads.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Loads a library. Returns the message of the dynamic linker if that fails.
    ///
    /// # Safety
    /// The initialisers of the library must have no requirements.
    unsafe fn open(path: &Path) -> std::result::Result<Library, String> {
        // SAFETY: the caller's contract.
        unsafe { library::load(path) }.map(Library)
    }

    /// Returns the address of a function or variable.
    fn address(&self, name: &str) -> Option<NonNull<c_void>> {
        library::symbol(self.0, &CString::new(name).ok()?)
    }
}

/// Returns the function of this name.
///
/// # Safety
/// `F` must be the type of the function.
unsafe fn function<F: Copy>(library: &Library, name: &str) -> Option<F> {
    let address = library.address(name)?;
    const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
    // SAFETY: the caller guarantees that `F` is the type of the function: a function pointer, which
    // has the size and representation of an address.
    Some(unsafe { std::mem::transmute_copy(&address) })
}

impl Api {
    /// Returns the value of a variable with an identifier, such as `H5T_IEEE_F32LE_g`.
    pub fn variable(&self, _: &Guard, name: &str) -> Result<Id> {
        match self.library.address(name) {
            // SAFETY: the variables of these names are identifiers, which `H5open` has set.
            Some(address) => Ok(unsafe { address.cast::<Id>().read() }),
            None => Err(Error::Unsupported(format!("it has no variable {name}"))),
        }
    }
}

/// The classes of the filters, with the life of the process.
static BLOSC: FilterClass = class_of::<Blosc>();
static BLOSC2: FilterClass = class_of::<Blosc2>();

/// The loaded library, or the reason why there is none.
static API: OnceLock<Result<Api>> = OnceLock::new();

/// Returns the library, which is loaded by the first call.
pub fn api() -> Result<&'static Api> {
    API.get_or_init(load).as_ref().map_err(Clone::clone)
}

fn load() -> Result<Api> {
    let chosen = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let library = match chosen {
        Some(path) => {
            // SAFETY: the user chose this library.
            let opened = unsafe { Library::open(Path::new(&path)) };
            opened.map_err(|reason| Error::Missing(format!("{VARIABLE}: {reason}")))?
        }
        None => {
            let names = NAMES.iter().filter(|name| name.contains(DLL_SUFFIX)).copied();
            let opened = names.clone().find_map(|name| {
                // SAFETY: the initialisers of libhdf5 have no requirements.
                unsafe { Library::open(Path::new(name)) }.ok()
            });
            opened.ok_or_else(|| {
                let names = names.collect::<Vec<_>>().join(", ");
                Error::Missing(format!("searched {names}; {VARIABLE} is the path of another file"))
            })?
        }
    };
    let mut api = Api::of(library).map_err(Error::Unsupported)?;
    let (mut major, mut minor, mut release) = (0, 0, 0);
    // SAFETY: `H5dont_atexit` must be the first call; the outputs have the types that are written.
    let status = unsafe {
        (api.H5dont_atexit)();
        (api.H5get_libversion)(&raw mut major, &raw mut minor, &raw mut release)
    };
    let is_supported = status >= 0 && (major == 1 && minor >= VERSIONS.0 || major == VERSIONS.1);
    if !is_supported {
        return Err(Error::Unsupported(format!(
            "it is version {major}.{minor}.{release}, and must be 1.10 to 2.x"
        )));
    }
    api.version = (major, minor, release);
    // Callers such as `b2` have an option for the number of threads, which the filters do not know.
    Threads::set_of_process(1);
    let guard = Guard::new(&api);
    // SAFETY: the classes are static and have the layout of `H5Z_class2_t`.
    let is_ready = unsafe {
        (api.H5open)() >= 0
            && (api.H5Zregister)((&raw const BLOSC).cast()) >= 0
            && (api.H5Zregister)((&raw const BLOSC2).cast()) >= 0
    };
    if !is_ready {
        return Err(Error::Unsupported("it rejects the filters of Blosc".to_owned()));
    }
    drop(guard);
    Ok(api)
}

static LOCK: Mutex<()> = Mutex::new(());

thread_local! {
    /// The number of guards of this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// The function with which HDF5 prints errors, and its data. The program can have set them.
enum Printing {
    /// That of `H5Eset_auto2`, also by default.
    New(*const c_void, *const c_void),
    /// That of `H5Eset_auto1`, which `H5Eget_auto2` does not return.
    Old(*const c_void, *const c_void),
    /// It cannot be determined, and is not restored.
    Unknown,
}

impl Printing {
    /// Returns that of the thread's error stack, and sets none.
    fn disable(api: &Api) -> Printing {
        let (mut print, mut data) = (std::ptr::null(), std::ptr::null());
        let mut is_new = 0;
        // SAFETY: the outputs have the types that are written; 0 is the error stack of the thread.
        unsafe {
            let is_known = (api.H5Eauto_is_v2)(0, &raw mut is_new) >= 0;
            let found = match api.old_printing {
                _ if !is_known => Printing::Unknown,
                _ if is_new != 0 && (api.H5Eget_auto2)(0, &raw mut print, &raw mut data) >= 0 => {
                    Printing::New(print, data)
                }
                Some((get, _)) if is_new == 0 && get(&raw mut print, &raw mut data) >= 0 => {
                    Printing::Old(print, data)
                }
                _ => Printing::Unknown,
            };
            (api.H5Eset_auto2)(0, std::ptr::null(), std::ptr::null());
            found
        }
    }

    /// Sets the function again.
    fn restore(&self, api: &Api) {
        // SAFETY: the function and its data are those that were set before.
        unsafe {
            match (self, api.old_printing) {
                (&Printing::New(print, data), _) => (api.H5Eset_auto2)(0, print, data),
                (&Printing::Old(print, data), Some((_, set))) => set(print, data),
                (Printing::Old(..), None) | (Printing::Unknown, _) => 0,
            };
        }
    }
}

/// The lock of all calls, which a thread can hold several times. While it is held, HDF5 prints no
/// errors. The function that prints them is restored afterwards.
pub struct Guard<'a> {
    outermost: Option<(MutexGuard<'static, ()>, &'a Api, Printing)>,
}

impl Guard<'_> {
    /// Locks the library.
    pub fn new(api: &Api) -> Guard<'_> {
        let depth = DEPTH.get();
        let outermost = (depth == 0).then(|| {
            // A panic in another thread leaves the library usable: it is C code that does not
            // unwind.
            let lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
            (lock, api, Printing::disable(api))
        });
        DEPTH.set(depth + 1);
        Guard { outermost }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if let Some((lock, api, printing)) = self.outermost.take() {
            printing.restore(api);
            drop(lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The function that prints errors, and its data.
    fn printing(api: &Api) -> (*const c_void, *const c_void) {
        let (mut print, mut data) = (std::ptr::null(), std::ptr::null());
        // SAFETY: the outputs have the types that are written.
        let status = unsafe { (api.H5Eget_auto2)(0, &raw mut print, &raw mut data) };
        assert_eq!(status, 0);
        (print, data)
    }

    /// Never called.
    extern "C" fn print_nothing(_: *mut c_void) -> Status {
        0
    }

    #[test]
    fn the_printing_of_errors_is_restored() {
        let api = api().expect("libhdf5 is installed");
        let default = printing(api);
        assert!(!default.0.is_null(), "HDF5 prints errors by default");
        let disabled = (std::ptr::null(), std::ptr::null());
        let data = 7_u64;
        let own = (print_nothing as *const c_void, (&raw const data).cast());
        for (print, data) in [own, disabled, default] {
            // SAFETY: the function is that of HDF5, or is not called.
            unsafe { (api.H5Eset_auto2)(0, print, data) };
            let outer = Guard::new(api);
            let inner = Guard::new(api);
            assert_eq!(printing(api), disabled);
            drop(inner);
            assert_eq!(printing(api), disabled);
            drop(outer);
            assert_eq!(printing(api), (print, data));
        }
        let Some((get, set)) = api.old_printing else { return };
        // SAFETY: the function is not called, and the outputs have the types that are written.
        unsafe {
            assert_eq!(set(own.0, own.1), 0);
            drop(Guard::new(api));
            let (mut print, mut data, mut is_new) = (std::ptr::null(), std::ptr::null(), 1);
            assert_eq!((api.H5Eauto_is_v2)(0, &raw mut is_new), 0);
            assert_eq!(get(&raw mut print, &raw mut data), 0);
            assert_eq!((is_new, (print, data)), (0, own));
            (api.H5Eset_auto2)(0, default.0, default.1);
        }
    }
}
