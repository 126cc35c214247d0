//! Mappings of systems that can neither resize a mapping nor move its pages.

use std::io::{Error, Result};
use std::os::fd::RawFd;
use std::ptr::{NonNull, null_mut};

/// Maps `wanted` bytes of a file instead of `len`, at another address. Both mappings share the
/// pages of the file.
///
/// # Errors
/// Returns any error of the operating system; the old mapping then remains.
///
/// # Safety
/// `len` bytes of the file are mapped at `start` with the flag [`libc::MAP_SHARED`] and this
/// protection, and nothing relies on their address.
pub(in crate::os) unsafe fn resize_shared(
    fd: RawFd,
    protection: i32,
    start: NonNull<u8>,
    len: usize,
    wanted: usize,
) -> Result<NonNull<u8>> {
    // SAFETY: a new mapping at an address that the system chooses.
    let new = unsafe { libc::mmap(null_mut(), wanted, protection, libc::MAP_SHARED, fd, 0) };
    if new == libc::MAP_FAILED {
        return Err(Error::last_os_error());
    }
    // SAFETY: the caller's contract.
    unsafe { libc::munmap(start.as_ptr().cast(), len) };
    NonNull::new(new.cast()).ok_or_else(Error::last_os_error)
}

/// Returns `false`: the caller copies the bytes.
///
/// # Safety
/// None; the function of other systems has requirements.
pub(in crate::os) unsafe fn move_pages(_from: NonNull<u8>, _to: NonNull<u8>, _len: usize) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::Access;
    use crate::os::mapping::{map, protection, unmap};
    use std::fs::File;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsRawFd;

    #[test]
    fn a_resized_mapping_has_the_bytes_of_the_file_and_changes_it() {
        let mut file: File = tempfile::tempfile().unwrap();
        file.write_all(b"first").unwrap();
        let (fd, len, wanted) = (file.as_raw_fd(), 4096, 4 * 65536);
        let start = map(fd, Access::Write, 5, len).unwrap();
        // SAFETY: the mapping is not used later, and the file has the bytes that are accessed.
        unsafe {
            start.write(b'F');
            let start = resize_shared(fd, protection(Access::Write), start, len, wanted).unwrap();
            file.set_len(wanted as u64).unwrap();
            start.add(wanted - 1).write(7);
            assert_eq!(std::slice::from_raw_parts(start.as_ptr(), 5), b"First");
            unmap(start, wanted).unwrap();
        }
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        assert_eq!((bytes.len(), &bytes[..5], bytes[wanted - 1]), (wanted, &b"First"[..], 7));
        // SAFETY: the function accesses no memory.
        assert!(!unsafe { move_pages(NonNull::dangling(), NonNull::dangling(), 4096) });
        // SAFETY: nothing is mapped, and the call fails.
        let refused = unsafe { resize_shared(-1, 0, NonNull::dangling(), 4096, wanted) };
        assert!(refused.is_err());
    }
}
