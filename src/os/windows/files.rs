//! Files: flags, positions, attributes, permissions, locks, and the meaning of error numbers.
//!
//! Files are opened so that others may read, write, rename and remove them meanwhile, as on Unix;
//! this is the default of `std`.

use super::wide;
use crate::os::names::{create_unused, fault_on_windows};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Seek, SeekFrom};
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::os::windows::io::{AsRawHandle, RawHandle};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_CANNOT_MAKE, ERROR_DIRECTORY_NOT_SUPPORTED, ERROR_FILE_EXISTS,
    ERROR_FILE_NOT_FOUND, ERROR_INVALID_FUNCTION, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER,
    ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NOT_SUPPORTED, ERROR_PIPE_BUSY,
    ERROR_PRIVILEGE_NOT_HELD, ERROR_TOO_MANY_OPEN_FILES, ERROR_WRITE_PROTECT, GENERIC_WRITE,
    LocalFree,
};
use windows_sys::Win32::Security::Authorization::{
    GetNamedSecurityInfoW, SE_FILE_OBJECT, SetNamedSecurityInfoW,
};
use windows_sys::Win32::Security::{
    ACL, DACL_SECURITY_INFORMATION, GetSecurityDescriptorControl,
    PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, SE_DACL_PROTECTED,
    UNPROTECTED_DACL_SECURITY_INFORMATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_TEMPORARY,
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_READ_ATTRIBUTES, FILE_TYPE_CHAR, FILE_TYPE_DISK, GetFileInformationByHandle, GetFileType,
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, MOVEFILE_REPLACE_EXISTING,
    MOVEFILE_WRITE_THROUGH, MoveFileExW, UnlockFileEx,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

/// The handle of an open file.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor(RawHandle);

// SAFETY: any thread may use a handle.
unsafe impl Send for Descriptor {}
// SAFETY: as above.
unsafe impl Sync for Descriptor {}

/// The mode in which a path is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Like [`File::open`].
    Plain,
    /// Like `Plain`: no file blocks when it is opened.
    NonBlocking,
    /// Fails for a symbolic link.
    Unfollowed,
    /// [`Opening::NonBlocking`] and [`Opening::Unfollowed`].
    NonBlockingUnfollowed,
}

/// Opens a file with these options.
///
/// # Errors
/// Returns any error of the operating system; [`ErrorKind::IsADirectory`].
pub fn open(options: &mut OpenOptions, path: &Path, opening: Opening) -> Result<File> {
    let follows = matches!(opening, Opening::Plain | Opening::NonBlocking);
    options.custom_flags(if follows { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT });
    let file = options.open(path).map_err(|error| {
        // The system denies access to directories.
        if is(&error, ERROR_ACCESS_DENIED) && path.is_dir() { is_a_directory() } else { error }
    })?;
    if !follows && file.metadata()?.is_symlink() {
        return Err(Error::new(ErrorKind::InvalidInput, "this is a symbolic link"));
    }
    Ok(file)
}

/// Does nothing: new files have the permissions that their directory defines.
pub fn set_private(_options: &mut OpenOptions, _private: bool) {}

/// Reads into `dest` from `position` on; returns the number of bytes read, which may be less.
pub fn read_at(file: &File, position: u64, dest: &mut [u8]) -> Result<usize> {
    keep_position(file, || file.seek_read(dest, position))
}

/// Restores the position of a file for sequential access after a transfer at another position,
/// which moves it. Concurrent transfers have positions of their own.
fn keep_position<T>(mut file: &File, transfer: impl FnOnce() -> Result<T>) -> Result<T> {
    // Files without a position have none to restore.
    let position = file.stream_position();
    let result = transfer();
    if let Ok(position) = position {
        file.seek(SeekFrom::Start(position))?;
    }
    result
}

/// Fills `dest` from `position` on.
///
/// # Errors
/// [`ErrorKind::UnexpectedEof`] if the file ends before; any error of the operating system.
pub fn read_exact_at(file: &File, mut position: u64, mut dest: &mut [u8]) -> Result<()> {
    while !dest.is_empty() {
        match read_at(file, position, dest) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                dest = &mut dest[read..];
                position += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes bytes from `position` on; returns the number of bytes written, which may be less.
pub fn write_at(file: &File, position: u64, bytes: &[u8]) -> Result<usize> {
    keep_position(file, || file.seek_write(bytes, position))
}

/// Writes all bytes from `position` on.
pub fn write_all_at(file: &File, mut position: u64, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match write_at(file, position, bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                position += written as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Creates a file that is removed when it is closed, in a directory.
///
/// # Errors
/// Returns any error of the operating system.
pub fn create_unnamed(directory: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.attributes(FILE_ATTRIBUTE_TEMPORARY).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    create_unused(&mut options, directory).map(|(_, file)| file)
}

/// The reason why a path with slashes is not that of one file below a directory, to which it is
/// relative.
pub fn fault_of_path(path: &str) -> Option<&'static str> {
    path.split('/').find_map(fault_on_windows)
}

/// Closes a file. Windows reports no errors of earlier writes.
pub fn close(file: File) -> Result<()> {
    drop(file);
    Ok(())
}

/// The attributes of a file that [`Metadata`] has on this system only.
pub struct Details {
    /// The owner, which is 0 for all files.
    pub owner: u32,
    /// The group, which is 0 for all files.
    pub group: u32,
    /// The permission bits: 0o400 for a read-only file, otherwise 0o600. Others count as excluded.
    pub mode: u32,
    /// The number of names.
    pub links: u64,
    /// The time of the last change, in nanoseconds since 1970.
    pub modified: i128,
    /// The time of the last change of the content or the attributes, in nanoseconds since 1970;
    /// here that of the content.
    pub changed: i128,
    /// The time of the creation, in nanoseconds since 1970; 0 if it is not known.
    pub created_ns: u64,
    /// The serial number of the volume and the number of the file.
    pub identity: (u64, u64),
}

/// Returns the attributes of an open file.
///
/// # Errors
/// Returns any error of the operating system.
pub fn attributes_of(file: &File) -> Result<(Metadata, Details)> {
    /// 100 ns from 1601, where times of Windows start, to 1970.
    const EPOCH: i128 = 116_444_736_000_000_000;
    let metadata = file.metadata()?;
    let found = information_of(file)?;
    let modified = (i128::from(metadata.last_write_time()) - EPOCH) * 100;
    let details = Details {
        owner: 0,
        group: 0,
        mode: if metadata.permissions().readonly() { 0o400 } else { 0o600 },
        links: found.nNumberOfLinks.into(),
        modified,
        changed: modified,
        // Not needed: the number of a file contains a count of the files that had it. A new file
        // may have the time of a removed one of the same name.
        created_ns: 0,
        identity: identity(&found),
    };
    Ok((metadata, details))
}

/// Returns the attributes of the file at a path; a symbolic link is not followed.
///
/// # Errors
/// Returns any error of the operating system.
pub fn attributes_at(path: &Path) -> Result<(Metadata, Details)> {
    attributes_of(&open_for_attributes(path, FILE_FLAG_OPEN_REPARSE_POINT)?)
}

/// Opens a file or a directory without access to its content.
fn open_for_attributes(path: &Path, flags: u32) -> Result<File> {
    OpenOptions::new()
        .access_mode(FILE_READ_ATTRIBUTES)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | flags)
        .open(path)
}

fn information_of(file: &File) -> Result<BY_HANDLE_FILE_INFORMATION> {
    let mut found = std::mem::MaybeUninit::uninit();
    // SAFETY: the call fills the struct when it returns a value other than 0.
    unsafe {
        match GetFileInformationByHandle(file.as_raw_handle(), found.as_mut_ptr()) {
            0 => Err(Error::last_os_error()),
            _ => Ok(found.assume_init()),
        }
    }
}

fn identity(found: &BY_HANDLE_FILE_INFORMATION) -> (u64, u64) {
    let number = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
    (found.dwVolumeSerialNumber.into(), number)
}

/// Returns the serial number of the volume and the number of an open file.
///
/// # Errors
/// Returns any error of the operating system.
pub fn identity_of(file: &File) -> Result<(u64, u64)> {
    information_of(file).map(|found| identity(&found))
}

/// Returns the serial number of the volume and the number of the file at a path; a symbolic link is
/// followed.
///
/// # Errors
/// Returns any error of the operating system.
pub fn identity_at(path: &Path) -> Result<(u64, u64)> {
    identity_of(&open_for_attributes(path, 0)?)
}

/// The kinds of open files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A regular file.
    Data,
    Directory,
    /// A console, `NUL` or another device.
    CharDevice,
    /// A pipe or a link.
    Other,
}

/// Returns the kind of an open file.
///
/// # Errors
/// Returns any error of the operating system.
pub fn content_of(file: &File) -> Result<Content> {
    // SAFETY: the handle is open.
    match unsafe { GetFileType(file.as_raw_handle()) } {
        FILE_TYPE_CHAR => return Ok(Content::CharDevice),
        FILE_TYPE_DISK => {}
        _ => return Ok(Content::Other),
    }
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_file() {
        Content::Data
    } else if kind.is_dir() {
        Content::Directory
    } else {
        Content::Other
    })
}

/// Whether a directory with open files in it can be renamed.
pub const RENAMES_DIRECTORIES_OF_OPEN_FILES: bool = false;

/// Renames a file, and waits until the new name is on the disk; an existing file at the new name is
/// replaced.
///
/// # Errors
/// Returns any error of the operating system.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    match move_file(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) {
        // The existing file is open. `std` can replace it on systems since Windows 10.
        Err(error) if is(&error, ERROR_ACCESS_DENIED) => std::fs::rename(from, to),
        result => result,
    }
}

/// Renames a file if nothing has the new name, and waits until the new name is on the disk.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`]; any error of the operating system.
pub fn rename_new(from: &Path, to: &Path) -> Result<bool> {
    move_file(from, to, MOVEFILE_WRITE_THROUGH).map(|()| true)
}

fn move_file(from: &Path, to: &Path, flags: u32) -> Result<()> {
    let (from, to) = (wide(from)?, wide(to)?);
    // SAFETY: both paths end with NUL.
    match unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), flags) } {
        0 => Err(Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Returns `result`, that of [`File::sync_data`] or [`File::sync_all`].
///
/// # Errors
/// Those of `result`.
pub fn synced(_file: &File, result: Result<()>) -> Result<()> {
    result
}

/// Waits until the entries of a directory are on the disk, if its file system can do that.
///
/// # Errors
/// Returns any error of the operating system.
pub fn sync_directory(directory: &Path) -> Result<()> {
    let opened = OpenOptions::new()
        .access_mode(GENERIC_WRITE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(directory)?;
    match opened.sync_all() {
        // Names are on the disk already: `rename` waits for them.
        Err(error) if error.raw_os_error().is_some_and(is_sync_unsupported) => Ok(()),
        result => result,
    }
}

/// The lock of [`claim`], the last byte of the offsets. Windows denies access to locked bytes, and
/// no file is that long.
fn claimed_byte() -> OVERLAPPED {
    let offset = OVERLAPPED_0_0 { Offset: u32::MAX, OffsetHigh: i32::MAX as u32 };
    OVERLAPPED {
        Anonymous: OVERLAPPED_0 { Anonymous: offset },
        hEvent: null_mut(),
        ..OVERLAPPED::default()
    }
}

/// Returns the path of the file whose lock is that of a file or a directory. Windows cannot lock
/// directories, so it is a file beside one.
pub fn path_of_lock(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    if path.is_dir() {
        name.push(".b2lock");
    }
    name.into()
}

/// Locks a file, which others may read and write nevertheless, without waiting. Returns `false` if
/// another open file has the lock.
///
/// # Errors
/// Returns any error of the operating system; `Unsupported` on file systems without locks.
pub fn claim(file: &File) -> Result<bool> {
    lock_byte(file, LOCKFILE_EXCLUSIVE_LOCK)
}

/// Whether another open file has the lock of [`claim`].
///
/// # Errors
/// None. Files of file systems without locks count as not locked.
pub fn is_claimed(file: &File) -> Result<bool> {
    match lock_byte(file, 0) {
        Ok(true) => {
            release_claim(descriptor(file));
            Ok(false)
        }
        Ok(false) => Ok(true),
        Err(_) => Ok(false),
    }
}

fn lock_byte(file: &File, flags: u32) -> Result<bool> {
    let mut at = claimed_byte();
    let flags = flags | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open, and the call does not wait, so it uses the struct only meanwhile.
    if unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &mut at) } != 0 {
        return Ok(true);
    }
    let error = Error::last_os_error();
    if is(&error, ERROR_LOCK_VIOLATION) || is(&error, ERROR_IO_PENDING) {
        Ok(false)
    } else if is(&error, ERROR_INVALID_FUNCTION) || is(&error, ERROR_NOT_SUPPORTED) {
        Err(ErrorKind::Unsupported.into())
    } else {
        Err(error)
    }
}

/// Releases the lock of [`claim`].
pub fn release_claim(file: Descriptor) {
    let mut at = claimed_byte();
    // SAFETY: the owner of the claim keeps the file open. Unlocking a locked byte cannot fail.
    unsafe { UnlockFileEx(file.0, 0, 1, 0, &mut at) };
}

/// The access control list of a file.
struct AccessList {
    /// The memory that contains the list.
    descriptor: PSECURITY_DESCRIPTOR,
    /// The list; null if everybody has all rights.
    list: *mut ACL,
    /// Whether the directory of the file does not add its entries.
    is_protected: bool,
}

impl AccessList {
    /// Returns the list of the file at a path, which ends with NUL.
    fn of(path: &[u16]) -> Result<AccessList> {
        let mut found =
            AccessList { descriptor: null_mut(), list: null_mut(), is_protected: false };
        let (mut control, mut revision) = (0, 0);
        // SAFETY: the path ends with NUL. The first call allocates the descriptor, which contains
        // the list, and which the second one reads.
        unsafe {
            let got = GetNamedSecurityInfoW(
                path.as_ptr(),
                SE_FILE_OBJECT,
                DACL_SECURITY_INFORMATION,
                null_mut(),
                null_mut(),
                &mut found.list,
                null_mut(),
                &mut found.descriptor,
            );
            if got != 0 {
                return Err(Error::from_raw_os_error(got as i32));
            }
            if GetSecurityDescriptorControl(found.descriptor, &mut control, &mut revision) == 0 {
                return Err(Error::last_os_error());
            }
        }
        found.is_protected = control & SE_DACL_PROTECTED != 0;
        Ok(found)
    }

    /// Returns the bytes of the list, if there is one.
    fn bytes(&self) -> Option<&[u8]> {
        // SAFETY: the list is valid as long as this value, and its first field states its size.
        unsafe {
            let len = self.list.as_ref()?.AclSize;
            Some(std::slice::from_raw_parts(self.list.cast(), len.into()))
        }
    }
}

impl Drop for AccessList {
    fn drop(&mut self) {
        // SAFETY: the system allocated the descriptor, or it is null; it is freed once.
        unsafe { LocalFree(self.descriptor) };
    }
}

/// Sets the access control list of a file to that of another one. Equal lists are not set: that
/// needs a right which users of network shares often lack.
///
/// # Errors
/// Returns any error of the operating system.
pub fn copy_permissions(from: &Path, to: &Path) -> Result<()> {
    let (from, to) = (wide(from)?, wide(to)?);
    let (wanted, found) = (AccessList::of(&from)?, AccessList::of(&to)?);
    if (wanted.is_protected, wanted.bytes()) == (found.is_protected, found.bytes()) {
        return Ok(());
    }
    // Without a flag, the entries of the directory would be added to a protected list.
    let protection = if wanted.is_protected {
        PROTECTED_DACL_SECURITY_INFORMATION
    } else {
        UNPROTECTED_DACL_SECURITY_INFORMATION
    };
    // SAFETY: the path ends with NUL, and the list is valid during the call.
    let set = unsafe {
        SetNamedSecurityInfoW(
            to.as_ptr(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION | protection,
            null_mut(),
            null_mut(),
            wanted.list,
            null(),
        )
    };
    if set != 0 { Err(Error::from_raw_os_error(set as i32)) } else { Ok(()) }
}

/// Whether this process may not write to a path.
pub fn is_denied_to_us(path: &Path) -> bool {
    refusal(path).is_some_and(|error| is_denied(&error))
}

/// Whether no process may write to a path: its volume is read-only, or the file is.
pub fn is_denied_to_all(path: &Path) -> bool {
    let is_read_only = std::fs::metadata(path).is_ok_and(|found| {
        found.is_file() && found.file_attributes() & FILE_ATTRIBUTE_READONLY != 0
    });
    is_read_only || refusal(path).is_some_and(|error| is(&error, ERROR_WRITE_PROTECT))
}

/// Returns the error of opening a file or a directory for writing.
fn refusal(path: &Path) -> Option<Error> {
    OpenOptions::new()
        .access_mode(GENERIC_WRITE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)
        .err()
}

/// Returns `None`: the standard library does not know the free space of a file system.
pub fn free_space(_path: &Path) -> Option<u64> {
    None
}

/// Returns the handle of a file, with which it can be unlocked.
pub fn descriptor(file: &File) -> Descriptor {
    Descriptor(file.as_raw_handle())
}

/// Releases the lock of an open file.
pub fn unlock(file: Descriptor) {
    let mut start = OVERLAPPED::default();
    // SAFETY: the caller keeps the file open. The range is that of `File::lock`.
    unsafe { UnlockFileEx(file.0, 0, u32::MAX, u32::MAX, &mut start) };
}

fn is(error: &Error, number: u32) -> bool {
    error.raw_os_error() == Some(number as i32)
}

/// Whether an error means missing write permission.
pub fn is_denied(error: &Error) -> bool {
    [ERROR_ACCESS_DENIED, ERROR_WRITE_PROTECT, ERROR_PRIVILEGE_NOT_HELD, ERROR_CANNOT_MAKE]
        .iter()
        .any(|&number| is(error, number))
}

/// Whether an error means that the process or the system has too many open files.
pub fn is_out_of_descriptors(error: &Error) -> bool {
    is(error, ERROR_TOO_MANY_OPEN_FILES)
}

/// Whether an error means that all instances of a named pipe are in use.
pub fn has_no_other_end(error: &Error) -> bool {
    is(error, ERROR_PIPE_BUSY)
}

/// Whether an error number means that a directory cannot be synced.
pub fn is_sync_unsupported(number: i32) -> bool {
    let unsupported = [
        ERROR_ACCESS_DENIED,
        ERROR_INVALID_FUNCTION,
        ERROR_INVALID_HANDLE,
        ERROR_INVALID_PARAMETER,
        ERROR_NOT_SUPPORTED,
    ];
    unsupported.iter().any(|&error| error as i32 == number)
}

/// Returns `false`: [`sync_directory`] succeeds on such file systems.
pub fn cannot_sync_directories(_number: i32) -> bool {
    false
}

/// Returns the system's error for an existing path.
pub fn exists() -> Error {
    Error::from_raw_os_error(ERROR_FILE_EXISTS as i32)
}

/// Returns the system's error for a missing path.
pub fn not_found() -> Error {
    Error::from_raw_os_error(ERROR_FILE_NOT_FOUND as i32)
}

/// Returns the system's error for a directory that is used as a file.
pub fn is_a_directory() -> Error {
    Error::from_raw_os_error(ERROR_DIRECTORY_NOT_SUPPORTED as i32)
}

/// Returns the system's error for a change where none is allowed.
pub fn read_only() -> Error {
    Error::from_raw_os_error(ERROR_WRITE_PROTECT as i32)
}
