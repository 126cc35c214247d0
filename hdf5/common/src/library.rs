//! Finding libhdf5 in the process.
//!
//! The right one is the one that called. Its functions are in the object (shared library or program) that
//! the callback returns to, whatever the file is called and however it was loaded: Python loads its copy for
//! itself only, under a name like `libhdf5-9e18f0c6.so.320.0.0`. So that object is asked first. When it
//! shows no functions of HDF5, a guess is made: what [`prefer`] was told, what the program itself was linked
//! to, any object that has them. A guess may be wrong, but does no harm: another copy of HDF5 does not know
//! the numbers of the caller's objects, and says so.
//!
//! A program that HDF5 is linked into statically shows its functions only when it was linked with
//! `-rdynamic`.

use ferroblosc_capi_common::global::fork_safe_global;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{NonNull, null};

/// A function that every libhdf5 has since 1.8.
const MARK: &CStr = c"H5Pget_filter_by_id2";

/// A function that a libhdf5 built for MPI has.
const PARALLEL_MARK: &CStr = c"H5Pset_dxpl_mpio";

/// The program itself has this name among the loaded objects.
const PROGRAM: &CStr = c"";

/// A libhdf5 of the process, which stays loaded as long as this.
#[derive(Debug)]
pub struct Library {
    handle: NonNull<c_void>,
    /// Whether it is a guess: the functions are not the caller's own.
    pub is_guess: bool,
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle came from dlopen, and is closed once.
        unsafe { libc::dlclose(self.handle.as_ptr()) };
    }
}

fork_safe_global! {
    /// The object that somebody named, by the name under which it is loaded.
    static PREFERRED: Option<CString> = None;
}

/// Names the file of libhdf5, or one that is linked to it, for calls from elsewhere than libhdf5 itself; it
/// stays loaded from then on. Returns whether it could be loaded and has what is needed.
pub fn prefer(file: &CStr) -> bool {
    let Some(library) = Library::open(file, libc::RTLD_LAZY | libc::RTLD_LOCAL) else {
        return false;
    };
    let Some(name) = library.place() else {
        return false;
    };
    PREFERRED.with(|preferred| *preferred = Some(name));
    std::mem::forget(library);
    true
}

impl Library {
    /// Returns the object that contains the address `caller`, if it or a library that it is linked to
    /// exports the function `mark`.
    pub fn of_caller_with(caller: *const c_void, mark: &CStr) -> Option<Library> {
        let objects = loaded_objects(caller);
        let calling = objects.iter().find(|object| object.is_caller)?;
        Library::exporting(&calling.name, mark)
    }

    /// The libhdf5 that `caller`, an address inside its code, is in; else the best guess.
    pub fn of_caller(caller: *const c_void) -> Option<Library> {
        let objects = loaded_objects(caller);
        let calling = objects.iter().find(|object| object.is_caller);
        if let Some(calling) = calling
            && let Some(mut library) = Library::loaded(&calling.name)
        {
            library.is_guess = library.place().as_ref() != Some(&calling.name);
            return Some(library);
        }
        Library::loaded_preferred()
            .or_else(|| Library::loaded(PROGRAM))
            .or_else(|| {
                let mut names = objects.iter().map(|object| &object.name);
                names.find_map(|name| Library::loaded(name))
            })
    }

    /// The object that the functions are in.
    fn place(&self) -> Option<CString> {
        let mark = self.symbol_address(MARK)?;
        loaded_objects(mark.as_ptr())
            .into_iter()
            .find(|object| object.is_caller)
            .map(|object| object.name)
    }

    /// The library that somebody named.
    fn loaded_preferred() -> Option<Library> {
        Library::loaded(&PREFERRED.with(|name| name.clone())?)
    }

    /// The loaded object of this name, if it or something it is linked to is HDF5.
    fn loaded(name: &CStr) -> Option<Library> {
        Library::exporting(name, MARK)
    }

    /// The loaded object of this name, if it or a library that it is linked to exports `mark`.
    fn exporting(name: &CStr, mark: &CStr) -> Option<Library> {
        Library::open(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD)
            .filter(|library| library.symbol_address(mark).is_some())
    }

    fn open(name: &CStr, flags: c_int) -> Option<Library> {
        let name = match name.is_empty() {
            true => null(),
            false => name.as_ptr(),
        };
        // SAFETY: the name is a text or NULL, which is the program.
        let handle = NonNull::new(unsafe { libc::dlopen(name, flags) })?;
        Some(Library {
            handle,
            is_guess: true,
        })
    }

    /// Whether it was built for MPI.
    pub fn is_parallel(&self) -> bool {
        self.symbol_address(PARALLEL_MARK).is_some()
    }

    /// Returns the function of this name.
    ///
    /// # Safety
    /// `F` is its type.
    pub unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        let address = self.symbol_address(name)?;
        const { assert!(size_of::<F>() == size_of::<NonNull<c_void>>()) };
        // SAFETY: `F` is a type of function pointers, as the caller promises, and those are addresses.
        Some(unsafe { std::mem::transmute_copy(&address) })
    }

    /// Where the library has the function or variable of this name.
    pub fn symbol_address(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is open.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }
}

/// A loaded object.
#[derive(Debug)]
struct Object {
    name: CString,
    /// Whether the address that is asked for is in its code or data.
    is_caller: bool,
}

/// What [`note`] works on.
struct Walk {
    address: usize,
    objects: Vec<Object>,
}

/// All loaded objects; the one with this address is marked.
fn loaded_objects(address: *const c_void) -> Vec<Object> {
    let mut walk = Walk {
        address: address.addr(),
        objects: Vec::new(),
    };
    // SAFETY: `note` is given the walk, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut walk).cast()) };
    walk.objects
}

/// Notes one object. The dynamic linker holds a lock during this, so nothing is asked of it.
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, walk: *mut c_void) -> c_int {
    // SAFETY: `loaded_objects` passes a walk that nobody else uses, the linker a valid info.
    let (walk, info) = unsafe { (&mut *walk.cast::<Walk>(), &*info) };
    let name = match info.dlpi_name.is_null() {
        true => PROGRAM,
        // SAFETY: the name is a text that stays while the object is loaded, which the lock makes sure of.
        false => unsafe { CStr::from_ptr(info.dlpi_name) },
    };
    let segments = match info.dlpi_phdr.is_null() {
        true => &[][..],
        // SAFETY: the linker says that there are so many headers.
        false => unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) },
    };
    let is_caller = segments.iter().any(|segment| {
        let start = (info.dlpi_addr as usize).wrapping_add(segment.p_vaddr as usize);
        segment.p_type == libc::PT_LOAD
            && walk.address.wrapping_sub(start) < segment.p_memsz as usize
    });
    walk.objects.push(Object {
        name: name.to_owned(),
        is_caller,
    });
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No address of an object's.
    const UNKNOWN_CALLER: *const c_void = null();

    #[test]
    fn an_address_is_in_the_object_it_belongs_to() {
        let in_program: *const c_void = (loaded_objects as *const ()).cast();
        let callers = |address| -> Vec<CString> {
            let objects = loaded_objects(address).into_iter();
            objects
                .filter(|object| object.is_caller)
                .map(|object| object.name)
                .collect()
        };
        assert_eq!(callers(in_program), [PROGRAM.to_owned()]);
        let in_libc = callers((libc::getpid as *const ()).cast());
        assert_eq!(in_libc.len(), 1);
        assert!(in_libc[0].to_string_lossy().contains("libc"));
        assert!(callers(UNKNOWN_CALLER).is_empty());
    }

    #[test]
    fn a_process_without_hdf5_has_none() {
        assert!(Library::of_caller(UNKNOWN_CALLER).is_none());
        let here: *const c_void = (loaded_objects as *const ()).cast();
        assert!(Library::of_caller(here).is_none());
        assert!(!prefer(c"libc.so.6"));
        assert!(!prefer(c"/nonexistent/libhdf5.so"));
    }
}
