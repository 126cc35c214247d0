//! Systems without files and threads, such as `wasm32-unknown-unknown`.
//!
//! Operations on files fail: `std` returns [`ErrorKind::Unsupported`](std::io::ErrorKind), and no
//! file is ever open.

/// Files, which do not exist.
pub mod files {
    use std::fs::{File, Metadata, OpenOptions};
    use std::io::{Error, ErrorKind, Result};
    use std::path::{Path, PathBuf};

    /// The number of an open file.
    pub type Descriptor = i32;

    /// The mode in which a path is opened.
    #[derive(Clone, Copy)]
    pub enum Opening {
        Plain,
        NonBlocking,
        Unfollowed,
        NonBlockingUnfollowed,
    }

    pub fn open(options: &mut OpenOptions, path: &Path, _opening: Opening) -> Result<File> {
        options.open(path)
    }

    pub fn set_private(_options: &mut OpenOptions, _private: bool) {}

    pub fn read_at(_file: &File, _position: u64, _dest: &mut [u8]) -> Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn read_exact_at(_file: &File, _position: u64, _dest: &mut [u8]) -> Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn write_at(_file: &File, _position: u64, _bytes: &[u8]) -> Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn write_all_at(_file: &File, _position: u64, _bytes: &[u8]) -> Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn create_unnamed(_directory: &Path) -> Result<File> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn fault_of_path(_path: &str) -> Option<&'static str> {
        None
    }

    pub fn close(_file: File) -> Result<()> {
        Ok(())
    }

    /// The attributes of a file.
    pub struct Details {
        pub owner: u32,
        pub group: u32,
        pub mode: u32,
        pub links: u64,
        pub modified: i128,
        pub changed: i128,
        pub created_ns: u64,
        pub identity: (u64, u64),
    }

    pub fn attributes_of(_file: &File) -> Result<(Metadata, Details)> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn attributes_at(path: &Path) -> Result<(Metadata, Details)> {
        let details = Details {
            owner: 0,
            group: 0,
            mode: 0,
            links: 1,
            modified: 0,
            changed: 0,
            created_ns: 0,
            identity: (0, 0),
        };
        std::fs::symlink_metadata(path).map(|found| (found, details))
    }

    pub fn identity_of(_file: &File) -> Result<(u64, u64)> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn identity_at(_path: &Path) -> Result<(u64, u64)> {
        Err(ErrorKind::Unsupported.into())
    }

    /// The kinds of open files.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub enum Content {
        Data,
        Directory,
        CharDevice,
        Other,
    }

    pub fn content_of(file: &File) -> Result<Content> {
        let kind = file.metadata()?.file_type();
        Ok(if kind.is_file() {
            Content::Data
        } else if kind.is_dir() {
            Content::Directory
        } else if kind.is_symlink() {
            Content::Other
        } else {
            Content::CharDevice
        })
    }

    pub const RENAMES_DIRECTORIES_OF_OPEN_FILES: bool = true;

    pub fn rename(from: &Path, to: &Path) -> Result<()> {
        std::fs::rename(from, to)
    }

    pub fn synced(_file: &File, result: Result<()>) -> Result<()> {
        result
    }

    pub fn sync_directory(directory: &Path) -> Result<()> {
        File::open(directory)?.sync_all()
    }

    pub fn path_of_lock(path: &Path) -> PathBuf {
        path.to_owned()
    }

    pub fn claim(_file: &File) -> Result<bool> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn is_claimed(_file: &File) -> Result<bool> {
        Ok(false)
    }

    pub fn release_claim(_file: Descriptor) {}

    pub fn rename_new(_from: &Path, _to: &Path) -> Result<bool> {
        Ok(false)
    }

    pub fn copy_permissions(_from: &Path, _to: &Path) -> Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub fn is_denied_to_us(_path: &Path) -> bool {
        false
    }

    pub fn is_denied_to_all(_path: &Path) -> bool {
        false
    }

    pub fn free_space(_path: &Path) -> Option<u64> {
        None
    }

    pub fn descriptor(_file: &File) -> Descriptor {
        -1
    }

    pub fn unlock(_file: Descriptor) {}

    pub fn is_denied(error: &Error) -> bool {
        error.kind() == ErrorKind::PermissionDenied
    }

    pub fn is_out_of_descriptors(_error: &Error) -> bool {
        false
    }

    pub fn has_no_other_end(_error: &Error) -> bool {
        false
    }

    pub fn cannot_sync_directories(_number: i32) -> bool {
        false
    }

    pub fn is_sync_unsupported(_number: i32) -> bool {
        false
    }

    pub fn exists() -> Error {
        ErrorKind::AlreadyExists.into()
    }

    pub fn not_found() -> Error {
        ErrorKind::NotFound.into()
    }

    pub fn is_a_directory() -> Error {
        ErrorKind::IsADirectory.into()
    }

    pub fn read_only() -> Error {
        ErrorKind::ReadOnlyFilesystem.into()
    }
}

/// Rust's allocator. It must be passed the size of a block that it frees, so the size precedes the
/// block:
///
/// ```text
/// -16         0
/// +-----------+-----------------
/// | size, pad | bytes
/// +-----------+-----------------
/// ```
pub(crate) mod memory {
    use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
    use std::ptr::null_mut;

    /// The size of the header, and the alignment of blocks.
    const HEADER: usize = 16;

    fn layout(len: usize) -> Option<Layout> {
        Layout::from_size_align(len.checked_add(HEADER)?, HEADER).ok()
    }

    /// Returns the bytes of a new allocation of `len` bytes and the header.
    ///
    /// # Safety
    /// `allocation` is null, or has at least `HEADER` bytes, aligned to `HEADER`.
    unsafe fn after_header(allocation: *mut u8, len: usize) -> *mut u8 {
        if allocation.is_null() {
            return null_mut();
        }
        // SAFETY: the caller's contract.
        unsafe {
            allocation.cast::<usize>().write(len);
            allocation.add(HEADER)
        }
    }

    /// Returns the allocation and the layout of a block.
    ///
    /// # Safety
    /// `start` is a block of this allocator.
    unsafe fn allocation_of(start: *mut u8) -> (*mut u8, Layout) {
        // SAFETY: the header precedes the block. Its length had a layout when it was allocated.
        unsafe {
            let allocation = start.sub(HEADER);
            let len = allocation.cast::<usize>().read();
            (allocation, Layout::from_size_align_unchecked(len + HEADER, HEADER))
        }
    }

    /// Does nothing: the system has no pages of several sizes.
    pub(crate) fn prefer_large_pages(_start: *mut u8, _len: usize) {}

    /// Returns `len` zero bytes, or null if there is no memory.
    pub(crate) fn zeroed(len: usize) -> *mut u8 {
        let Some(layout) = layout(len) else {
            return null_mut();
        };
        // SAFETY: the layout has a size.
        unsafe { after_header(alloc_zeroed(layout), len) }
    }

    /// As [`zeroed`].
    pub(crate) fn unspecified(len: usize) -> *mut u8 {
        zeroed(len)
    }

    /// Changes the size of a block. Returns null, and leaves the block, if there is no memory.
    ///
    /// # Safety
    /// `start` is null, which allocates a block, or a block of this allocator.
    pub(crate) unsafe fn resize(start: *mut u8, len: usize) -> *mut u8 {
        let Some(new) = layout(len) else {
            return null_mut();
        };
        // SAFETY: the layouts have a size, and the old one is that of the block.
        unsafe {
            if start.is_null() {
                return after_header(alloc(new), len);
            }
            let (allocation, old) = allocation_of(start);
            after_header(realloc(allocation, old, new.size()), len)
        }
    }

    /// Frees a block.
    ///
    /// # Safety
    /// `start` is a block of this allocator, which is not used any more.
    pub(crate) unsafe fn free(start: *mut u8) {
        // SAFETY: the layout is that of the block.
        unsafe {
            let (allocation, layout) = allocation_of(start);
            dealloc(allocation, layout);
        }
    }
}

/// The only process: it has no id, no forks, no environment and no clock.
pub(crate) mod process {
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    pub(crate) fn has_variables(_prefix: &[u8]) -> bool {
        false
    }

    /// Returns 1; 0 means no process.
    pub(crate) fn id() -> u32 {
        1
    }

    pub(crate) fn user() -> u32 {
        0
    }

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

    pub(crate) fn now() -> Option<Instant> {
        None
    }

    pub(crate) fn temporary_directory() -> PathBuf {
        PathBuf::new()
    }

    pub(crate) fn sleep(_duration: Duration) {}
}
