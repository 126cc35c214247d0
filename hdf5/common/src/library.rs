//! Lookup of libhdf5 in the process.
//!
//! The functions must be those of the calling libhdf5. They are in the object (shared library or
//! program) that contains the return address of the callback, regardless of its file name and of
//! `dlopen` flags: Python loads private copies with names such as `libhdf5-9e18f0c6.so.320.0.0`. If
//! that object exports no HDF5 functions, these are tried in order: the library set by [`prefer`],
//! the libraries linked to the program, any object that exports them. A wrong guess is harmless:
//! another copy of HDF5 rejects the identifiers of the caller's objects.
//!
//! A program that links HDF5 statically exports its functions only if it is linked with
//! `-rdynamic`.

use ferroblosc_capi_common::global::fork_safe_global;
use ferroblosc_capi_common::os::{library, objects};
use std::ffi::{CStr, CString, c_void};
use std::ptr::NonNull;

/// A function that every libhdf5 exports since 1.8.
const MARK: &CStr = c"H5Pget_filter_by_id2";

/// A function that only a libhdf5 built for MPI exports.
const PARALLEL_MARK: &CStr = c"H5Pset_dxpl_mpio";

/// The name of the program among the loaded objects.
const PROGRAM: &CStr = c"";

/// A loaded libhdf5, which stays loaded until the value is dropped.
#[derive(Debug)]
pub struct Library {
    handle: NonNull<c_void>,
    /// Whether the library is a guess instead of the caller's.
    pub is_guess: bool,
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle is closed once.
        unsafe { objects::close(self.handle) };
    }
}

fork_safe_global! {
    /// The name of the library set by [`prefer`].
    static PREFERRED: Option<CString> = None;
}

/// Sets the file of libhdf5, or of a library linked to it, for calls from other objects. The file
/// is never unloaded. Returns whether it could be loaded and exports the functions.
pub fn prefer(file: &CStr) -> bool {
    // SAFETY: the program chose this library.
    let Some(handle) = (unsafe { objects::open(file) }) else {
        return false;
    };
    let library = Library { handle, is_guess: true };
    let Some(name) = library.object_name() else {
        return false;
    };
    PREFERRED.with(|preferred| *preferred = Some(name));
    std::mem::forget(library);
    true
}

impl Library {
    /// Returns the object that contains the address `caller`, if it or a library that it is linked
    /// to exports the function `mark`.
    pub fn of_caller_with(caller: *const c_void, mark: &CStr) -> Option<Library> {
        let objects = objects::loaded(caller);
        let calling = objects.iter().find(|object| object.has_address)?;
        Library::exporting(&calling.name, mark)
    }

    /// Returns the libhdf5 that contains the address `caller`, otherwise the best guess.
    pub fn of_caller(caller: *const c_void) -> Option<Library> {
        let objects = objects::loaded(caller);
        let calling = objects.iter().find(|object| object.has_address);
        if let Some(calling) = calling
            && let Some(mut library) = Library::loaded(&calling.name)
        {
            library.is_guess = library.object_name().as_ref() != Some(&calling.name);
            return Some(library);
        }
        Library::loaded_preferred().or_else(|| Library::loaded(PROGRAM)).or_else(|| {
            let mut names = objects.iter().map(|object| &object.name);
            names.find_map(|name| Library::loaded(name))
        })
    }

    /// Returns the name of the object that contains the functions.
    fn object_name(&self) -> Option<CString> {
        let mark = self.symbol_address(MARK)?;
        objects::loaded(mark.as_ptr())
            .into_iter()
            .find(|object| object.has_address)
            .map(|object| object.name)
    }

    /// Returns the library set by [`prefer`].
    fn loaded_preferred() -> Option<Library> {
        Library::loaded(&PREFERRED.with(|name| name.clone())?)
    }

    /// Returns the loaded object of this name, if it or a library that it is linked to is HDF5.
    fn loaded(name: &CStr) -> Option<Library> {
        Library::exporting(name, MARK)
    }

    /// Returns the loaded object of this name, if it or a library that it is linked to exports
    /// `mark`.
    fn exporting(name: &CStr, mark: &CStr) -> Option<Library> {
        objects::open_loaded(name)
            .map(|handle| Library { handle, is_guess: true })
            .filter(|library| library.symbol_address(mark).is_some())
    }

    /// Whether the library was built for MPI.
    pub fn is_parallel(&self) -> bool {
        self.symbol_address(PARALLEL_MARK).is_some()
    }

    /// Returns the function of this name.
    ///
    /// # Safety
    /// `F` must be the type of the function.
    pub unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        let address = self.symbol_address(name)?;
        const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
        // SAFETY: the caller guarantees that `F` is a function pointer type; those have the size
        // and representation of an address.
        Some(unsafe { std::mem::transmute_copy(&address) })
    }

    /// Returns the address of a function or variable.
    pub fn symbol_address(&self, name: &CStr) -> Option<NonNull<c_void>> {
        library::symbol(self.handle, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null;

    /// An address that is in no object.
    const UNKNOWN_CALLER: *const c_void = null();

    #[test]
    fn the_object_that_contains_an_address_is_found() {
        let in_program: *const c_void = (objects::loaded as *const ()).cast();
        let callers = |address| -> Vec<CString> {
            let objects = objects::loaded(address).into_iter();
            objects.filter(|object| object.has_address).map(|object| object.name).collect()
        };
        assert_eq!(callers(in_program), [PROGRAM.to_owned()]);
        let in_libc = callers((libc::getpid as *const ()).cast());
        assert_eq!(in_libc.len(), 1);
        assert!(in_libc[0].to_string_lossy().contains("libc"));
        assert!(callers(UNKNOWN_CALLER).is_empty());
    }

    #[test]
    fn a_process_without_hdf5_has_no_library() {
        assert!(Library::of_caller(UNKNOWN_CALLER).is_none());
        let here: *const c_void = (objects::loaded as *const ()).cast();
        assert!(Library::of_caller(here).is_none());
        assert!(!prefer(c"libc.so.6"));
        assert!(!prefer(c"/nonexistent/libhdf5.so"));
    }
}
