//! The objects of a process, in ELF format.

use crate::os::object::Object;
use std::ffi::{CStr, c_int, c_void};

/// The state of [`visit`].
struct Walk {
    address: usize,
    objects: Vec<Object>,
}

/// Returns all shared libraries, and the program. The one that contains `address` is marked.
pub fn loaded(address: *const c_void) -> Vec<Object> {
    let mut walk = Walk { address: address.addr(), objects: Vec::new() };
    // SAFETY: `visit` receives a pointer to `walk`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut walk).cast()) };
    walk.objects
}

/// Records one object. The dynamic linker holds a lock, so this function must not call it.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, walk: *mut c_void) -> c_int {
    // SAFETY: `loaded` passes a pointer to a walk without other references, and the linker
    // passes a valid info.
    let (walk, info) = unsafe { (&mut *walk.cast::<Walk>(), &*info) };
    let name = if info.dlpi_name.is_null() {
        c""
    } else {
        // SAFETY: the name is a C string that is valid while the object is loaded, which the
        // linker's lock ensures.
        unsafe { CStr::from_ptr(info.dlpi_name) }
    };
    let segments = if info.dlpi_phdr.is_null() {
        &[][..]
    } else {
        // SAFETY: the linker passes a pointer to this number of headers.
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
    };
    let has_address = segments.iter().any(|segment| {
        let start = (info.dlpi_addr as usize).wrapping_add(segment.p_vaddr as usize);
        segment.p_type == libc::PT_LOAD
            && walk.address.wrapping_sub(start) < segment.p_memsz as usize
    });
    walk.objects.push(Object { name: name.to_owned(), has_address });
    0
}
