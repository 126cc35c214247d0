//! Files: flags, positions, attributes, permissions, locks, and the meaning of error numbers.

use super::path::c_path;
use super::system;
use crate::os::names::create_unused;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

pub use system::rename_new;

/// The number of an open file.
pub type Descriptor = RawFd;

/// The mode in which a path is opened.
#[derive(Clone, Copy)]
pub enum Opening {
    /// Like [`File::open`].
    Plain,
    /// Never waits for a FIFO or a device.
    NonBlocking,
    /// Fails for a symbolic link.
    Unfollowed,
    /// [`Opening::NonBlocking`] and [`Opening::Unfollowed`].
    NonBlockingUnfollowed,
}

/// Opens a file with these options.
///
/// # Errors
/// Returns any error of the operating system.
pub fn open(options: &mut OpenOptions, path: &Path, opening: Opening) -> Result<File> {
    const NON_BLOCKING: i32 = libc::O_NONBLOCK | libc::O_NOCTTY;
    options.custom_flags(match opening {
        Opening::Plain => 0,
        Opening::NonBlocking => NON_BLOCKING,
        Opening::Unfollowed => libc::O_NOFOLLOW,
        Opening::NonBlockingUnfollowed => NON_BLOCKING | libc::O_NOFOLLOW,
    });
    options.open(path)
}

/// Sets the permissions of a file that is created: those of the owner only, or the default ones.
pub fn set_private(options: &mut OpenOptions, private: bool) {
    options.mode(if private { 0o600 } else { 0o666 });
}

/// Reads into `dest` from `position` on; returns the number of bytes read, which may be less.
pub fn read_at(file: &File, position: u64, dest: &mut [u8]) -> Result<usize> {
    file.read_at(dest, position)
}

/// Fills `dest` from `position` on.
///
/// # Errors
/// [`ErrorKind::UnexpectedEof`] if the file ends before; any error of the operating system.
pub fn read_exact_at(file: &File, position: u64, dest: &mut [u8]) -> Result<()> {
    file.read_exact_at(dest, position)
}

/// Writes bytes from `position` on; returns the number of bytes written, which may be less.
pub fn write_at(file: &File, position: u64, bytes: &[u8]) -> Result<usize> {
    file.write_at(bytes, position)
}

/// Writes all bytes from `position` on.
pub fn write_all_at(file: &File, position: u64, bytes: &[u8]) -> Result<()> {
    file.write_all_at(bytes, position)
}

/// Creates a file without a name, which vanishes when it is closed, on the file system of a
/// directory. Only the owner may access it.
///
/// # Errors
/// Returns any error of the operating system.
pub fn create_unnamed(directory: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    set_private(options.read(true).write(true), true);
    match system::open_unnamed(&mut options.clone(), directory) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            let (path, file) = create_unused(&mut options, directory)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        }
        opened => opened,
    }
}

/// The reason why a path without `..` is not that of one file below a directory, to which it is
/// relative. There is none: all bytes but the slash may be in names.
pub fn fault_of_path(_path: &str) -> Option<&'static str> {
    None
}

/// Closes a file and returns the error of closing, which `drop` ignores.
pub fn close(file: File) -> Result<()> {
    // SAFETY: the descriptor is open, owned by this function, and not used again.
    if unsafe { libc::close(file.into_raw_fd()) } == 0 {
        return Ok(());
    }
    let error = Error::last_os_error();
    // An interrupted close has closed the descriptor nevertheless.
    if error.kind() == ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}

/// The attributes of a file that [`Metadata`] has on this system only.
pub struct Details {
    pub owner: u32,
    pub group: u32,
    /// The permission bits.
    pub mode: u32,
    /// The number of names.
    pub links: u64,
    /// The time of the last change, in nanoseconds since 1970.
    pub modified: i128,
    /// The time of the last change of the content or the attributes, in nanoseconds since 1970.
    pub changed: i128,
    /// The time of the creation, in nanoseconds since 1970; 0 if it is not known.
    pub created_ns: u64,
    /// The device and the inode.
    pub identity: (u64, u64),
}

/// Returns the attributes of an open file.
///
/// # Errors
/// Returns any error of the operating system.
pub fn attributes_of(file: &File) -> Result<(Metadata, Details)> {
    file.metadata().map(with_details)
}

/// Returns the attributes of the file at a path; a symbolic link is not followed.
///
/// # Errors
/// Returns any error of the operating system.
pub fn attributes_at(path: &Path) -> Result<(Metadata, Details)> {
    std::fs::symlink_metadata(path).map(with_details)
}

fn with_details(metadata: Metadata) -> (Metadata, Details) {
    let created = metadata.created().ok();
    let created = created.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let details = Details {
        owner: metadata.uid(),
        group: metadata.gid(),
        mode: metadata.mode() & 0o7777,
        links: metadata.nlink(),
        modified: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
        changed: i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec()),
        created_ns: created.map_or(0, |time| time.as_nanos() as u64),
        identity: identity(&metadata),
    };
    (metadata, details)
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Returns the device and the inode of an open file.
///
/// # Errors
/// Returns any error of the operating system.
pub fn identity_of(file: &File) -> Result<(u64, u64)> {
    file.metadata().map(|found| identity(&found))
}

/// Returns the device and the inode of the file at a path; a symbolic link is followed.
///
/// # Errors
/// Returns any error of the operating system.
pub fn identity_at(path: &Path) -> Result<(u64, u64)> {
    std::fs::metadata(path).map(|found| identity(&found))
}

/// The kinds of open files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A regular file or a block device.
    Data,
    Directory,
    CharDevice,
    Other,
}

/// Returns the kind of an open file.
///
/// # Errors
/// Returns any error of the operating system.
pub fn content_of(file: &File) -> Result<Content> {
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_file() || kind.is_block_device() {
        Content::Data
    } else if kind.is_dir() {
        Content::Directory
    } else if kind.is_char_device() {
        Content::CharDevice
    } else {
        Content::Other
    })
}

/// Whether a directory with open files in it can be renamed.
pub const RENAMES_DIRECTORIES_OF_OPEN_FILES: bool = true;

/// Renames a file; an existing file at the new name is replaced.
///
/// # Errors
/// Returns any error of the operating system.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to)
}

/// Returns `result`, that of [`File::sync_data`] or [`File::sync_all`]. On macOS the file is synced
/// again without the cache of the disk, if the file system cannot flush this cache.
///
/// # Errors
/// Returns any error of the operating system.
pub fn synced(file: &File, result: Result<()>) -> Result<()> {
    system::synced(file, result)
}

/// Waits until the entries of a directory are on the disk. Does nothing on file systems that cannot
/// sync a directory, such as SMB.
///
/// # Errors
/// Returns any other error of the operating system.
pub fn sync_directory(directory: &Path) -> Result<()> {
    let directory = File::open(directory)?;
    let synced = synced(&directory, directory.sync_all());
    match synced.as_ref().err().and_then(Error::raw_os_error) {
        Some(libc::EINVAL | libc::ENOTSUP) => Ok(()),
        _ => synced,
    }
}

/// Returns the path of the file whose lock is that of a file or a directory: its own path.
pub fn path_of_lock(path: &Path) -> PathBuf {
    path.to_owned()
}

/// Locks a file, which others may read and write nevertheless, without waiting. Returns `false` if
/// another open file has the lock.
///
/// # Errors
/// Returns any error of the operating system; `Unsupported` on file systems without locks.
pub fn claim(file: &File) -> Result<bool> {
    locked(file.try_lock())
}

/// Whether another open file has the lock of [`claim`].
///
/// # Errors
/// Returns the errors of unlocking. Files of file systems without locks count as not locked.
pub fn is_claimed(file: &File) -> Result<bool> {
    match locked(file.try_lock_shared()) {
        Ok(true) => file.unlock().map(|()| false),
        Ok(false) => Ok(true),
        Err(_) => Ok(false),
    }
}

fn locked(result: std::result::Result<(), TryLockError>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Releases the lock of [`claim`].
pub fn release_claim(file: Descriptor) {
    unlock(file);
}

/// Sets the owner and the permissions of a file to those of another one, as far as this user may.
///
/// # Errors
/// Returns any error of the operating system.
pub fn copy_permissions(from: &Path, to: &Path) -> Result<()> {
    use std::os::unix::fs::{PermissionsExt, fchown};
    let from = std::fs::metadata(from)?;
    let to = &open(OpenOptions::new().read(true), to, Opening::NonBlockingUnfollowed)?;
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
pub fn is_denied_to_us(path: &Path) -> bool {
    c_path(path).is_ok_and(|path| {
        // SAFETY: the path is a NUL-terminated C string.
        let answer =
            unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS) };
        answer != 0 && is_denied(&Error::last_os_error())
    })
}

/// Whether no process may write to a path: its file system is read-only, or its mode has no write
/// bits.
pub fn is_denied_to_all(path: &Path) -> bool {
    let has_no_writer = std::fs::metadata(path).is_ok_and(|found| found.mode() & 0o222 == 0);
    has_no_writer || is_on_read_only_medium(path)
}

fn is_on_read_only_medium(path: &Path) -> bool {
    file_system_of(path).is_some_and(|found| found.f_flag & libc::ST_RDONLY != 0)
}

/// Returns the number of bytes that this process can add to the file system of a path; `None` if it
/// is not known.
pub fn free_space(path: &Path) -> Option<u64> {
    // Some network file systems have no sizes.
    let found = file_system_of(path).filter(|found| found.f_blocks > 0)?;
    let (blocks, block): (u128, u128) = (found.f_bavail.into(), found.f_frsize.into());
    Some(u64::try_from(blocks * block).unwrap_or(u64::MAX))
}

fn file_system_of(path: &Path) -> Option<libc::statvfs> {
    let path = c_path(path).ok()?;
    let mut found = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path is a NUL-terminated C string, and the call fills the struct when it returns
    // 0.
    unsafe { (libc::statvfs(path.as_ptr(), found.as_mut_ptr()) == 0).then(|| found.assume_init()) }
}

/// Returns the number of a file, with which it can be unlocked.
pub fn descriptor(file: &File) -> Descriptor {
    file.as_raw_fd()
}

/// Releases the lock of an open file.
pub fn unlock(file: Descriptor) {
    // SAFETY: the call does not access memory. Unlocking a locked file cannot fail.
    unsafe { libc::flock(file, libc::LOCK_UN) };
}

/// Whether an error means missing write permission.
pub fn is_denied(error: &Error) -> bool {
    let denied = [libc::EACCES, libc::EPERM, libc::EROFS];
    (error.raw_os_error()).is_some_and(|error| denied.contains(&error))
}

/// Whether an error means that the process or the system has too many open files.
pub fn is_out_of_descriptors(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Whether an error means that a FIFO has no reader, or that a socket was opened.
pub fn has_no_other_end(error: &Error) -> bool {
    error.raw_os_error() == Some(libc::ENXIO)
}

/// Whether an error number means that a directory cannot be synced.
pub fn is_sync_unsupported(number: i32) -> bool {
    matches!(number, libc::EACCES | libc::EINVAL | libc::ENOTSUP)
}

/// Whether an error number means that a file system cannot sync directories.
pub fn cannot_sync_directories(number: i32) -> bool {
    matches!(number, libc::EINVAL | libc::ENOTSUP)
}

/// Returns the system's error for an existing path.
pub fn exists() -> Error {
    Error::from_raw_os_error(libc::EEXIST)
}

/// Returns the system's error for a missing path.
pub fn not_found() -> Error {
    Error::from_raw_os_error(libc::ENOENT)
}

/// Returns the system's error for a directory that is used as a file.
pub fn is_a_directory() -> Error {
    Error::from_raw_os_error(libc::EISDIR)
}

/// Returns the system's error for a change where none is allowed.
pub fn read_only() -> Error {
    Error::from_raw_os_error(libc::EROFS)
}
