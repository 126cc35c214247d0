//! Files: flags, positions, attributes, permissions, locks, and the meaning of error numbers.

use std::ffi::CString;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The number of an open file.
pub(crate) type Descriptor = RawFd;

/// The way in which a path is opened.
#[derive(Clone, Copy)]
pub(crate) enum Opening {
    /// Like [`File::open`].
    Plain,
    /// Never waits for a FIFO or a device.
    NonBlocking,
    /// Fails for a symbolic link.
    Unfollowed,
    /// Both.
    NonBlockingUnfollowed,
}

/// Sets the flags with which a file is opened.
pub(crate) fn set_opening(options: &mut OpenOptions, opening: Opening) {
    const NON_BLOCKING: i32 = libc::O_NONBLOCK | libc::O_NOCTTY;
    options.custom_flags(match opening {
        Opening::Plain => 0,
        Opening::NonBlocking => NON_BLOCKING,
        Opening::Unfollowed => libc::O_NOFOLLOW,
        Opening::NonBlockingUnfollowed => NON_BLOCKING | libc::O_NOFOLLOW,
    });
}

/// Sets the permissions of a file that is created: those of the owner only, or the default ones.
pub(crate) fn set_private(options: &mut OpenOptions, private: bool) {
    options.mode(if private { 0o600 } else { 0o666 });
}

/// Reads into `dest` from `position` on; returns the number of bytes read, which may be less.
pub(crate) fn read_at(file: &File, position: u64, dest: &mut [u8]) -> Result<usize> {
    file.read_at(dest, position)
}

/// Writes all bytes from `position` on.
pub(crate) fn write_all_at(file: &File, position: u64, bytes: &[u8]) -> Result<()> {
    file.write_all_at(bytes, position)
}

/// Closes a file and returns the error of closing, which `drop` ignores.
pub(crate) fn close(file: File) -> Result<()> {
    // SAFETY: the descriptor is open, owned by this function, and not used again.
    if unsafe { libc::close(file.into_raw_fd()) } == 0 {
        return Ok(());
    }
    let error = Error::last_os_error();
    // An interrupted close has closed the descriptor nevertheless.
    if error.kind() == ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}

/// The attributes of a file that [`Metadata`] has on this system only.
pub(crate) struct Details {
    pub owner: u32,
    pub group: u32,
    /// The permission bits.
    pub mode: u32,
    /// The number of names.
    pub links: u64,
    /// The time of the last change, in nanoseconds since 1970.
    pub modified: i128,
}

/// Returns the attributes of a file.
pub(crate) fn details(metadata: &Metadata) -> Details {
    Details {
        owner: metadata.uid(),
        group: metadata.gid(),
        mode: metadata.mode() & 0o7777,
        links: metadata.nlink(),
        modified: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
    }
}

/// Returns the device and the inode of a file.
pub(crate) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Whether a file is a block device.
pub(crate) fn is_block_device(kind: FileType) -> bool {
    kind.is_block_device()
}

/// Whether a file is a character device.
pub(crate) fn is_char_device(kind: FileType) -> bool {
    kind.is_char_device()
}

/// Renames a file if nothing has the new name. Returns `false` if the system cannot do that at once.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`]; those of the system.
#[cfg(target_os = "linux")]
pub(crate) fn rename_new(from: &Path, to: &Path) -> Result<bool> {
    let path = |path: &Path| CString::new(path.as_os_str().as_bytes());
    let (from, to) = (path(from)?, path(to)?);
    // SAFETY: both paths end with NUL. musl has no function for this system call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::RENAME_NOREPLACE,
        )
    };
    if result == 0 {
        return Ok(true);
    }
    let error = Error::last_os_error();
    match error.raw_os_error() {
        // Old kernels and some file systems.
        Some(libc::ENOSYS | libc::EINVAL) => Ok(false),
        _ => Err(error),
    }
}

/// Returns `false`: there is no such call.
#[cfg(not(target_os = "linux"))]
pub(crate) fn rename_new(_from: &Path, _to: &Path) -> Result<bool> {
    Ok(false)
}

/// Sets the owner and the permissions of a file to those of another one, as far as this user may.
///
/// # Errors
/// Those of the system.
pub(crate) fn copy_permissions(from: &Metadata, to: &File) -> Result<()> {
    use std::os::unix::fs::{PermissionsExt, fchown};
    // Only some users may change owners; otherwise the file keeps its own.
    let owned = fchown(to, Some(from.uid()), Some(from.gid()))
        .or_else(|_| fchown(to, None, Some(from.gid())));
    let mut permissions = from.permissions();
    if owned.is_err() && to.metadata()?.gid() != from.gid() {
        // The group bits were meant for another group.
        permissions.set_mode(permissions.mode() & !0o070);
    }
    to.set_permissions(permissions)
}

/// Whether this process may not write to a path.
pub(crate) fn is_denied_to_us(path: &Path) -> bool {
    c_path(path).is_some_and(|path| {
        // SAFETY: the path is a NUL-terminated C string.
        let answer =
            unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS) };
        answer != 0 && is_denied(&Error::last_os_error())
    })
}

/// Whether no process may write to a path: its file system is read-only, or its mode has no write
/// bits.
pub(crate) fn is_denied_to_all(path: &Path) -> bool {
    let has_no_writer = std::fs::metadata(path).is_ok_and(|found| found.mode() & 0o222 == 0);
    has_no_writer || is_on_read_only_medium(path)
}

fn is_on_read_only_medium(path: &Path) -> bool {
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    c_path(path).is_some_and(|path| {
        // SAFETY: the path is a NUL-terminated C string, and the call fills the struct when it
        // returns 0.
        unsafe {
            libc::statvfs(path.as_ptr(), found.as_mut_ptr()) == 0
                && found.assume_init().f_flag & libc::ST_RDONLY != 0
        }
    })
}

/// Converts the path to a C string.
fn c_path(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

/// Returns the number of a file, with which it can be unlocked.
pub(crate) fn descriptor(file: &File) -> Descriptor {
    file.as_raw_fd()
}

/// Releases the lock of an open file.
pub(crate) fn unlock(file: Descriptor) {
    // SAFETY: the call does not access memory. Unlocking a locked file cannot fail.
    unsafe { libc::flock(file, libc::LOCK_UN) };
}

/// Whether an error means missing write permission.
pub(crate) fn is_denied(error: &Error) -> bool {
    let denied = [libc::EACCES, libc::EPERM, libc::EROFS];
    (error.raw_os_error()).is_some_and(|error| denied.contains(&error))
}

/// Whether an error means that the process or the system has too many open files.
pub(crate) fn is_out_of_descriptors(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Whether an error means that a FIFO has no reader, or that a socket was opened.
pub(crate) fn has_no_other_end(error: &Error) -> bool {
    error.raw_os_error() == Some(libc::ENXIO)
}

/// Whether an error number means that a directory cannot be synced.
pub(crate) fn is_sync_unsupported(number: i32) -> bool {
    matches!(number, libc::EACCES | libc::EINVAL | libc::ENOTSUP)
}

/// Returns the system's error for an existing path.
pub(crate) fn exists() -> Error {
    Error::from_raw_os_error(libc::EEXIST)
}

/// Returns the system's error for a missing path.
pub(crate) fn not_found() -> Error {
    Error::from_raw_os_error(libc::ENOENT)
}

/// Returns the system's error for a directory that is used as a file.
pub(crate) fn is_a_directory() -> Error {
    Error::from_raw_os_error(libc::EISDIR)
}
