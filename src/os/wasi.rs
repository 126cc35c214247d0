//! WebAssembly with the system interface WASI, preview 1 (`wasm32-wasip1`): files in the
//! directories that the host opens, one thread, and neither locks nor owners of files.

/// Files: positions, attributes and renaming.
pub mod files {
    use crate::os::names::create_unused;
    use std::ffi::{CString, OsStr};
    use std::fs::{File, Metadata, OpenOptions};
    use std::io::{Error, ErrorKind, Result};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
    use std::os::wasi::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    /// The number of an open file.
    pub type Descriptor = RawFd;

    /// The mode in which a path is opened. The host decides whether FIFOs are waited for.
    #[derive(Clone, Copy)]
    pub enum Opening {
        Plain,
        NonBlocking,
        /// Fails for a symbolic link.
        Unfollowed,
        /// Fails for a symbolic link.
        NonBlockingUnfollowed,
    }

    /// Opens a file with these options.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn open(options: &mut OpenOptions, path: &Path, opening: Opening) -> Result<File> {
        let follows = matches!(opening, Opening::Plain | Opening::NonBlocking);
        if !follows && std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            return Err(Error::from_raw_os_error(libc::ELOOP));
        }
        options.open(path)
    }

    /// Does nothing: files have no permissions.
    pub fn set_private(_options: &mut OpenOptions, _private: bool) {}

    /// Reads into `dest` from `position` on; returns the number of bytes read, which may be less.
    pub fn read_at(file: &File, position: u64, dest: &mut [u8]) -> Result<usize> {
        let position = offset(position)?;
        // SAFETY: the buffer is writable in its whole length.
        count(unsafe {
            libc::pread(file.as_raw_fd(), dest.as_mut_ptr().cast(), dest.len(), position)
        })
    }

    /// Fills `dest` from `position` on.
    ///
    /// # Errors
    /// [`ErrorKind::UnexpectedEof`] if the file ends before; any error of the operating system.
    pub fn read_exact_at(file: &File, mut position: u64, mut dest: &mut [u8]) -> Result<()> {
        while !dest.is_empty() {
            match read_at(file, position, dest) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    dest = &mut dest[count..];
                    position += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes bytes from `position` on; returns the number of bytes written, which may be less.
    pub fn write_at(file: &File, position: u64, bytes: &[u8]) -> Result<usize> {
        let position = offset(position)?;
        // SAFETY: the buffer is readable in its whole length.
        count(unsafe {
            libc::pwrite(file.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), position)
        })
    }

    /// Writes all bytes from `position` on.
    pub fn write_all_at(file: &File, mut position: u64, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match write_at(file, position, bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    bytes = &bytes[count..];
                    position += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn offset(position: u64) -> Result<libc::off_t> {
        position.try_into().map_err(|_| Error::from_raw_os_error(libc::EFBIG))
    }

    fn count(result: isize) -> Result<usize> {
        usize::try_from(result).map_err(|_| Error::last_os_error())
    }

    /// Creates a file without a name, which vanishes when it is closed, on the file system of a
    /// directory.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn create_unnamed(directory: &Path) -> Result<File> {
        let (path, file) = create_unused(OpenOptions::new().read(true).write(true), directory)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    }

    /// The reason why a path without `..` is not that of one file below a directory, to which it is
    /// relative. There is none: all bytes but the slash may be in names.
    pub fn fault_of_path(_path: &str) -> Option<&'static str> {
        None
    }

    /// Closes a file and returns the error of closing, which `drop` ignores.
    pub fn close(file: File) -> Result<()> {
        // SAFETY: the descriptor is open, owned by this function, and not used again.
        match unsafe { libc::close(file.into_raw_fd()) } {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    }

    /// The attributes of a file that [`Metadata`] has on this system only.
    pub struct Details {
        /// 0: files have no owners.
        pub owner: u32,
        /// 0: files have no groups.
        pub group: u32,
        /// 0: files have no permissions.
        pub mode: u32,
        /// The number of names.
        pub links: u64,
        /// The time of the last change, in nanoseconds since 1970.
        pub modified: i128,
        /// The time of the last change of the content or the attributes, in nanoseconds since 1970.
        pub changed: i128,
        /// 0: the time of the creation is not known.
        pub created_ns: u64,
        /// The device and the inode.
        pub identity: (u64, u64),
    }

    /// Returns the attributes of an open file.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn attributes_of(file: &File) -> Result<(Metadata, Details)> {
        Ok((file.metadata()?, details(&status_of(file)?)))
    }

    /// Returns the attributes of the file at a path; a symbolic link is not followed.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn attributes_at(path: &Path) -> Result<(Metadata, Details)> {
        let found = status_at(path, libc::AT_SYMLINK_NOFOLLOW)?;
        Ok((std::fs::symlink_metadata(path)?, details(&found)))
    }

    fn details(found: &libc::stat) -> Details {
        let ns = |time: &libc::timespec| {
            i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
        };
        Details {
            owner: 0,
            group: 0,
            mode: 0,
            links: found.st_nlink,
            modified: ns(&found.st_mtim),
            changed: ns(&found.st_ctim),
            created_ns: 0,
            identity: identity(found),
        }
    }

    fn identity(found: &libc::stat) -> (u64, u64) {
        (found.st_dev, found.st_ino)
    }

    fn status_of(file: &File) -> Result<libc::stat> {
        let mut found = MaybeUninit::uninit();
        // SAFETY: the call fills the struct when it returns 0.
        unsafe {
            match libc::fstat(file.as_raw_fd(), found.as_mut_ptr()) {
                0 => Ok(found.assume_init()),
                _ => Err(Error::last_os_error()),
            }
        }
    }

    fn status_at(path: &Path, flags: i32) -> Result<libc::stat> {
        let text: &OsStr = path.as_ref();
        let text = CString::new(text.as_bytes())?;
        let mut found = MaybeUninit::uninit();
        // SAFETY: the path ends with NUL, and the call fills the struct when it returns 0.
        unsafe {
            match libc::fstatat(libc::AT_FDCWD, text.as_ptr(), found.as_mut_ptr(), flags) {
                0 => Ok(found.assume_init()),
                _ => Err(Error::last_os_error()),
            }
        }
    }

    /// Returns the device and the inode of an open file.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn identity_of(file: &File) -> Result<(u64, u64)> {
        status_of(file).map(|found| identity(&found))
    }

    /// Returns the device and the inode of the file at a path; a symbolic link is followed.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn identity_at(path: &Path) -> Result<(u64, u64)> {
        status_at(path, 0).map(|found| identity(&found))
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
        Ok(match status_of(file)?.st_mode & libc::S_IFMT {
            libc::S_IFREG | libc::S_IFBLK => Content::Data,
            libc::S_IFDIR => Content::Directory,
            libc::S_IFCHR => Content::CharDevice,
            _ => Content::Other,
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

    /// Returns `result`, that of [`File::sync_data`] or [`File::sync_all`].
    ///
    /// # Errors
    /// Those of `result`.
    pub fn synced(_file: &File, result: Result<()>) -> Result<()> {
        result
    }

    /// Waits until the entries of a directory are on the disk.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    pub fn sync_directory(directory: &Path) -> Result<()> {
        File::open(directory)?.sync_all()
    }

    /// Returns the path of the file whose lock is that of a file or a directory: its own path.
    pub fn path_of_lock(path: &Path) -> PathBuf {
        path.to_owned()
    }

    /// Returns `true`: without locks, this program is taken to be the only one that changes the
    /// file.
    ///
    /// # Errors
    /// None.
    pub fn claim(_file: &File) -> Result<bool> {
        Ok(true)
    }

    /// Returns `false`: there are no locks.
    ///
    /// # Errors
    /// None.
    pub fn is_claimed(_file: &File) -> Result<bool> {
        Ok(false)
    }

    /// Does nothing: there are no locks.
    pub fn release_claim(_file: Descriptor) {}

    /// Returns `false`: there is no such call.
    pub fn rename_new(_from: &Path, _to: &Path) -> Result<bool> {
        Ok(false)
    }

    /// Does nothing: files have neither owners nor permissions.
    ///
    /// # Errors
    /// None.
    pub fn copy_permissions(_from: &Path, _to: &Path) -> Result<()> {
        Ok(())
    }

    /// Returns `false`: files have no permissions.
    pub fn is_denied_to_us(_path: &Path) -> bool {
        false
    }

    /// Returns `false`: files have no permissions.
    pub fn is_denied_to_all(_path: &Path) -> bool {
        false
    }

    /// Returns `None`: the standard library does not know the free space of a file system.
    pub fn free_space(_path: &Path) -> Option<u64> {
        None
    }

    /// Returns the number of a file.
    pub fn descriptor(file: &File) -> Descriptor {
        file.as_raw_fd()
    }

    /// Does nothing: there are no locks.
    pub fn unlock(_file: Descriptor) {}

    /// Whether an error means missing write permission.
    pub fn is_denied(error: &Error) -> bool {
        // The last one is that of a directory which the host opened for reading.
        let denied = [libc::EACCES, libc::EPERM, libc::EROFS, libc::ENOTCAPABLE];
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
        number == libc::EACCES || cannot_sync_directories(number)
    }

    /// Whether an error number means that a file system or the host cannot sync directories.
    pub fn cannot_sync_directories(number: i32) -> bool {
        [libc::EINVAL, libc::ENOTSUP, libc::ENOTCAPABLE, libc::EBADF].contains(&number)
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
}

/// The process: its environment and the clock. It has no forks.
pub(crate) mod process {
    use std::hash::{BuildHasher, RandomState};
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    /// Whether the name of an environment variable begins with `prefix`.
    pub(crate) fn has_variables(prefix: &[u8]) -> bool {
        std::env::vars_os().any(|(name, _)| name.as_encoded_bytes().starts_with(prefix))
    }

    /// Returns a random number that is not 0: the system has no process ids.
    pub(crate) fn id() -> u32 {
        static ID: OnceLock<u32> = OnceLock::new();
        *ID.get_or_init(|| (RandomState::new().hash_one(0) as u32).max(1))
    }

    /// Returns 0: the system has no users.
    pub(crate) fn user() -> u32 {
        0
    }

    /// Returns 0: the number of files that the process may have open is not known.
    pub(crate) fn max_open_files() -> u64 {
        0
    }

    /// Returns `false`. The pool then starts no threads.
    ///
    /// # Safety
    /// None; the function of other systems has requirements.
    pub(crate) unsafe fn call_in_child(_handler: unsafe extern "C" fn()) -> bool {
        false
    }

    /// Returns the time.
    pub(crate) fn now() -> Option<Instant> {
        Some(Instant::now())
    }

    /// Returns the directory of temporary files: that of the variable TMPDIR, or `/tmp` if it
    /// is unset or empty.
    pub(crate) fn temporary_directory() -> PathBuf {
        let path = std::env::var_os("TMPDIR").filter(|path| !path.is_empty());
        path.map_or_else(|| "/tmp".into(), PathBuf::from)
    }

    /// Waits for a duration.
    pub(crate) fn sleep(duration: Duration) {
        std::thread::sleep(duration);
    }
}
