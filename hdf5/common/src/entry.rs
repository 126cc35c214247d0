//! The exported functions of a plugin, and the capture of the caller's address.
//!
//! HDF5's callbacks have no argument that identifies the calling libhdf5, but every call has a
//! return address. Rust code cannot read it, so each entry point is a short assembly stub that
//! passes it as an additional argument. On architectures without a stub the caller is guessed.

use crate::abi::{FilterClass, Id, Status};
use crate::callbacks::{self, Call};
use crate::filter::Filter;
use crate::library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// The instructions that pass the return address after this number of arguments and jump to
/// `{inner}`.
#[cfg(all(target_arch = "x86_64", not(windows)))]
#[doc(hidden)]
#[macro_export]
macro_rules! jump_with_caller {
    (2) => {
        "mov rdx, qword ptr [rsp]\njmp {inner}"
    };
    (3) => {
        "mov rcx, qword ptr [rsp]\njmp {inner}"
    };
    // The seventh argument is on the stack; pushing it restores the alignment for calls.
    (6) => {
        "push qword ptr [rsp]\ncall {inner}\nadd rsp, 8\nret"
    };
}

/// The instructions that pass the return address after this number of arguments and jump to
/// `{inner}`.
#[cfg(all(target_arch = "x86_64", windows))]
#[doc(hidden)]
#[macro_export]
macro_rules! jump_with_caller {
    (2) => {
        "mov r8, qword ptr [rsp]\njmp {inner}"
    };
    (3) => {
        "mov r9, qword ptr [rsp]\njmp {inner}"
    };
    // The fifth and sixth arguments, at [rsp + 40], are copied to a new frame before the seventh,
    // after the 32 bytes that belong to the callee. The directives describe the frame to unwinders.
    (6) => {
        ".seh_proc {inner}\n\
         sub rsp, 56\n\
         .seh_stackalloc 56\n\
         .seh_endprologue\n\
         mov rax, qword ptr [rsp + 96]\n\
         mov qword ptr [rsp + 32], rax\n\
         mov rax, qword ptr [rsp + 104]\n\
         mov qword ptr [rsp + 40], rax\n\
         mov rax, qword ptr [rsp + 56]\n\
         mov qword ptr [rsp + 48], rax\n\
         call {inner}\n\
         add rsp, 56\n\
         ret\n\
         .seh_endproc"
    };
}

/// The instructions that pass the return address after this number of arguments and jump to
/// `{inner}`.
#[cfg(all(target_arch = "aarch64", not(windows)))]
#[doc(hidden)]
#[macro_export]
macro_rules! jump_with_caller {
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

/// Defines C functions whose inner function receives the return address as an additional argument.
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
        /// The arguments must be those that HDF5, or a C program acting as HDF5, passes.
        #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", not(windows))))]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name $(<$filter: $crate::Filter>)? ($($argument: $type),*) -> $result {
            std::arch::naked_asm!($crate::jump_with_caller!($count), inner = sym $inner)
        }

        $(#[$attribute])*
        ///
        /// # Safety
        /// The arguments must be those that HDF5, or a C program acting as HDF5, passes.
        #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", not(windows)))))]
        pub unsafe extern "C" fn $name $(<$filter: $crate::Filter>)? ($($argument: $type),*) -> $result {
            // SAFETY: the caller guarantees valid arguments.
            unsafe { $inner($($argument,)* std::ptr::null()) }
        }
    )*};
}

with_caller! {
    /// The `set_local` callback of a filter.
    fn 3 set_local<F> (list: Id, datatype: Id, space: Id) -> Status => set_local_from::<F>;

    /// The `filter` callback of a filter.
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
    let call = Call { flags, cd_nelmts, cd_values, nbytes, buf_size, buf, caller };
    // SAFETY: HDF5 calls this function with valid arguments.
    unsafe { callbacks::run::<F>(&call) }
}

/// Returns the class of a filter.
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

/// Implements a plugin's `init_filter`: records the file of libhdf5 or of a library linked to it.
/// Returns 0, or -1 if the file cannot be loaded or does not use HDF5.
///
/// # Safety
/// `file` must be a C string or NULL.
pub unsafe fn init_filter(file: *const c_char) -> c_int {
    if file.is_null() {
        return -1;
    }
    // SAFETY: the caller guarantees a C string, and the pointer is not NULL.
    if library::prefer(unsafe { CStr::from_ptr(file) }) { 0 } else { -1 }
}

/// Implements a plugin's `register_…`: registers the filter with HDF5 and returns copies of the
/// version and its date, which the caller must `free`. Always returns 1, as programs expect.
///
/// # Safety
/// `version` and `date` must be NULL or writable.
pub unsafe fn register(
    class: &'static FilterClass,
    texts: (&CStr, &CStr),
    outputs: (*mut *mut c_char, *mut *mut c_char),
    caller: *const c_void,
) -> c_int {
    // SAFETY: the caller guarantees that the pointers are NULL or writable.
    unsafe { callbacks::register(class, texts, outputs, caller) }
}

/// Defines the exports of a plugin: `plugin!(Filter, register_name, VERSION, DATE)`.
#[macro_export]
macro_rules! plugin {
    ($filter:ty, $register:ident, $version:expr, $date:expr) => {
        /// The allocator, with a reserve for small allocations when the system is out of memory.
        #[global_allocator]
        static ALLOCATOR: $crate::Reserve = $crate::Reserve;

        static CLASS: $crate::abi::FilterClass = $crate::entry::class_of::<$filter>();

        /// Returns the type of the plugin to HDF5: a filter.
        #[unsafe(no_mangle)]
        pub extern "C" fn H5PLget_plugin_type() -> std::ffi::c_int {
            $crate::abi::PLUGIN_IS_FILTER
        }

        /// Returns the filter's class to HDF5.
        #[unsafe(no_mangle)]
        pub extern "C" fn H5PLget_plugin_info() -> *const std::ffi::c_void {
            (&raw const CLASS).cast()
        }

        /// Sets the file of libhdf5, or of a library linked to it, for processes in which it cannot
        /// be found. Returns 0, or a negative number on failure.
        ///
        /// # Safety
        /// `file` must be a C string or NULL.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn init_filter(file: *const std::ffi::c_char) -> std::ffi::c_int {
            // SAFETY: the caller guarantees a C string or NULL.
            unsafe { $crate::entry::init_filter(file) }
        }

        $crate::with_caller! {
            /// Registers the filter with the program's HDF5 and returns copies of the library's
            /// version and its date, which the caller must `free`. Returns 1.
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
            // SAFETY: the program passes writable pointers or NULL.
            unsafe { $crate::entry::register(&CLASS, ($version, $date), (version, date), caller) }
        }
    };
}
