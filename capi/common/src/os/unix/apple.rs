//! macOS.

use crate::os::object::Object;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;

pub(super) use libc::{__error as errno_location, fopen, fseeko, ftello};

// Only Linux needs more.
#[doc(hidden)]
#[macro_export]
macro_rules! without_thread_atexit {
    () => {};
}

// Defines a function that returns `None`: the dynamic linker requires that all functions exist.
#[doc(hidden)]
#[macro_export]
macro_rules! linked_function {
    ($(#[$doc:meta])* fn $name:ident() -> $symbol:literal: $type:ty;) => {
        $(#[$doc])*
        fn $name() -> Option<$type> {
            None
        }
    };
}

unsafe extern "C" {
    fn _dyld_image_count() -> u32;
    fn _dyld_get_image_name(index: u32) -> *const c_char;
}

/// Returns all shared libraries, and the program. The one that contains `address` is marked.
pub fn loaded(address: *const c_void) -> Vec<Object> {
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the call fills the struct if it does not return 0. The name is a C string that is
    // valid while the object is loaded, and the caller's address is in it.
    let own = unsafe {
        match libc::dladdr(address, found.as_mut_ptr()) {
            0 => None,
            _ => Some(CStr::from_ptr(found.assume_init().dli_fname)),
        }
    };
    let mut objects = Vec::new();
    // SAFETY: the names are C strings, or null if another thread has unloaded libraries in
    // between.
    unsafe {
        for index in 0.._dyld_image_count() {
            let name = _dyld_get_image_name(index);
            if name.is_null() {
                continue;
            }
            let name = CStr::from_ptr(name);
            let has_address = own == Some(name);
            // The first one is the program.
            let name = if index == 0 { c"" } else { name };
            objects.push(Object { name: name.to_owned(), has_address });
        }
    }
    objects
}
