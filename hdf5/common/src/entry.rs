//! The exported functions of a plugin, and taking note of the caller.
//!
//! HDF5 passes its callbacks nothing that tells which libhdf5 it is, but each call has an address to return
//! to. A function in Rust can't see that, so a few instructions stand in front of each: they pass the address
//! as one more argument. On machines they are not written for, the caller is guessed.

use crate::abi::{FilterClass, Id, Status};
use crate::callbacks::{self, Call};
use crate::filter::Filter;
use crate::library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// The instructions that pass the return address behind so many arguments, and go on in `{inner}`.
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
#[macro_export]
macro_rules! go_on_with_caller {
    (2) => {
        "mov rdx, qword ptr [rsp]\njmp {inner}"
    };
    (3) => {
        "mov rcx, qword ptr [rsp]\njmp {inner}"
    };
    // The seventh argument lies on the stack, which is aligned with it as calls want it.
    (6) => {
        "push qword ptr [rsp]\ncall {inner}\nadd rsp, 8\nret"
    };
}

/// The instructions that pass the return address behind so many arguments, and go on in `{inner}`.
#[cfg(target_arch = "aarch64")]
#[doc(hidden)]
#[macro_export]
macro_rules! go_on_with_caller {
    (2) => {
        "mov x2, x30\nb {inner}"
    };
    (3) => {
        "mov x3, x30\nb {inner}"
    };
    (6) => {
        "mov x6, x30\nb {inner}"
    };
}

/// Defines functions of C whose inner function gets one argument more: where the call returns to.
#[doc(hidden)]
#[macro_export]
macro_rules! with_caller {
    ($(
        $(#[$attribute:meta])*
        fn $count:tt $name:ident $(<$filter:ident>)? ($($argument:ident: $type:ty),*) -> $result:ty => $inner:path;
    )*) => {$(
        $(#[$attribute])*
        ///
        /// # Safety
        /// The arguments are what HDF5, or a C program in its place, passes.
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name $(<$filter: $crate::Filter>)? ($($argument: $type),*) -> $result {
            std::arch::naked_asm!($crate::go_on_with_caller!($count), inner = sym $inner)
        }

        $(#[$attribute])*
        ///
        /// # Safety
        /// The arguments are what HDF5, or a C program in its place, passes.
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        pub unsafe extern "C" fn $name $(<$filter: $crate::Filter>)? ($($argument: $type),*) -> $result {
            // SAFETY: the caller's promise.
            unsafe { $inner($($argument,)* std::ptr::null()) }
        }
    )*};
}

with_caller! {
    /// The `set_local` of a filter's class.
    fn 3 set_local<F> (list: Id, datatype: Id, space: Id) -> Status => set_local_from::<F>;

    /// The `filter` of a filter's class.
    fn 6 run<F> (
        flags: c_uint,
        cd_nelmts: usize,
        cd_values: *const c_uint,
        nbytes: usize,
        buf_size: *mut usize,
        buf: *mut *mut c_void
    ) -> usize => run_from::<F>;
}

unsafe extern "C" fn set_local_from<F: Filter>(
    list: Id,
    datatype: Id,
    _space: Id,
    caller: *const c_void,
) -> Status {
    callbacks::set_local::<F>(list, datatype, caller)
}

unsafe extern "C" fn run_from<F: Filter>(
    flags: c_uint,
    cd_nelmts: usize,
    cd_values: *const c_uint,
    nbytes: usize,
    buf_size: *mut usize,
    buf: *mut *mut c_void,
    caller: *const c_void,
) -> usize {
    let call = Call {
        flags,
        cd_nelmts,
        cd_values,
        nbytes,
        buf_size,
        buf,
        caller,
    };
    // SAFETY: HDF5 passes what it passes to filters.
    unsafe { callbacks::run::<F>(&call) }
}

/// The class of a filter.
pub const fn class_of<F: Filter>() -> FilterClass {
    FilterClass {
        version: crate::abi::CLASS_VERSION,
        id: F::ID,
        encoder_present: 1,
        decoder_present: 1,
        name: F::NAME.as_ptr(),
        can_apply: None,
        set_local: Some(set_local::<F>),
        filter: Some(run::<F>),
    }
}

/// What a plugin's `init_filter` does: notes the file of libhdf5, or of something linked to it. Gives 0, or -1
/// when that file can't be loaded or has nothing to do with HDF5.
///
/// # Safety
/// `file` is a text, or NULL.
pub unsafe fn init_filter(file: *const c_char) -> c_int {
    if file.is_null() {
        return -1;
    }
    // SAFETY: the caller's promise.
    match library::prefer(unsafe { CStr::from_ptr(file) }) {
        true => 0,
        false => -1,
    }
}

/// What a plugin's `register_…` does: makes the filter known to HDF5 and copies the version and its date, for
/// the caller to `free`. Gives 1 always, as programs expect.
///
/// # Safety
/// `version` and `date` are NULL or places for pointers.
pub unsafe fn register(
    class: &'static FilterClass,
    texts: (&CStr, &CStr),
    places: (*mut *mut c_char, *mut *mut c_char),
    caller: *const c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { callbacks::register(class, texts, places, caller) }
}

/// Makes a shared library a plugin: `plugin!(Filter, register_name, VERSION, DATE)` defines what it exports.
#[macro_export]
macro_rules! plugin {
    ($filter:ty, $register:ident, $version:expr, $date:expr) => {
        /// Small requests succeed when the system has no memory.
        #[global_allocator]
        static ALLOCATOR: $crate::Reserve = $crate::Reserve;

        static CLASS: $crate::abi::FilterClass = $crate::entry::class_of::<$filter>();

        /// Tells HDF5 what kind of plugin this is: one with a filter.
        #[unsafe(no_mangle)]
        pub extern "C" fn H5PLget_plugin_type() -> std::ffi::c_int {
            $crate::abi::PLUGIN_IS_FILTER
        }

        /// Gives HDF5 the filter.
        #[unsafe(no_mangle)]
        pub extern "C" fn H5PLget_plugin_info() -> *const std::ffi::c_void {
            (&raw const CLASS).cast()
        }

        /// Names the file of libhdf5, or one linked to it, for a process where it can't be found otherwise.
        /// Gives 0, or a negative number.
        ///
        /// # Safety
        /// `file` is a text, or NULL.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn init_filter(file: *const std::ffi::c_char) -> std::ffi::c_int {
            // SAFETY: the caller's promise.
            unsafe { $crate::entry::init_filter(file) }
        }

        $crate::with_caller! {
            /// Makes the filter known to the HDF5 of the program, and gives copies of the version of the
            /// library and of its date, for the caller to `free`. Gives 1.
            #[unsafe(no_mangle)]
            fn 2 $register (
                version: *mut *mut std::ffi::c_char,
                date: *mut *mut std::ffi::c_char
            ) -> std::ffi::c_int => register_from;
        }

        unsafe extern "C" fn register_from(
            version: *mut *mut std::ffi::c_char,
            date: *mut *mut std::ffi::c_char,
            caller: *const std::ffi::c_void,
        ) -> std::ffi::c_int {
            // SAFETY: the program passes places for pointers, or NULL.
            unsafe { $crate::entry::register(&CLASS, ($version, $date), (version, date), caller) }
        }
    };
}
