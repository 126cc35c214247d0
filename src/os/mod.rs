//! The operating system: functions that differ between systems.
//!
//! | module | systems |
//! |---|---|
//! | `unix` | Linux; other systems with the functions of POSIX |
//! | `windows` | Windows |
//! | `wasi` | WebAssembly with files (`wasm32-wasip1`): one thread and no file locks |
//! | `none` | no operating system (`wasm32-unknown-unknown`): one thread and no files |
//!
//! Other code contains no `cfg` for systems, except the tests. Each module has the functions that
//! are listed below; a further system is a further module with these functions.
//!
//! | module | functions |
//! |---|---|
//! | `files` | opening, positions, attributes, permissions, renaming and locks of files, free space |
//! | `futex` | waiting until a word changes |
//! | `mapping` | files mapped into memory (feature `mmap`; in WebAssembly they fail) |
//! | `memory` | the allocator of the buffers that C programs own |
//! | `pages` | large buffers of zeros |
//! | `process` | process ids, forks, the clock, the environment, the directory of temporary files |
//! | `thread` | starting a thread, disabling its cancellation |

#[cfg(feature = "mmap")]
mod access;
#[cfg(not(all(feature = "mmap", any(unix, windows))))]
pub(crate) mod heap_pages;
#[cfg(all(feature = "mmap", any(unix, windows)))]
pub(crate) mod mapped_pages;
#[cfg(any(unix, windows, target_os = "wasi"))]
pub(crate) mod memory;
#[cfg(any(unix, windows, target_os = "wasi"))]
mod names;
#[cfg(not(any(unix, windows, target_os = "wasi")))]
mod none;
#[cfg(not(any(unix, windows)))]
mod single;
#[cfg(unix)]
mod unix;
#[cfg(all(feature = "mmap", not(any(unix, windows))))]
pub(crate) mod unmapped;
#[cfg(target_os = "wasi")]
mod wasi;
#[cfg(windows)]
mod windows;

#[cfg(feature = "mmap")]
pub use access::Access;
#[cfg(not(all(feature = "mmap", any(unix, windows))))]
pub(crate) use heap_pages as pages;
#[cfg(all(feature = "mmap", any(unix, windows)))]
pub(crate) use mapped_pages as pages;
#[cfg(not(any(unix, windows, target_os = "wasi")))]
pub use none::files;
#[cfg(not(any(unix, windows, target_os = "wasi")))]
pub(crate) use none::{memory, process};
#[cfg(not(any(unix, windows)))]
pub(crate) use single::{futex, thread};
#[cfg(unix)]
pub use unix::files;
#[cfg(all(unix, feature = "mmap"))]
pub(crate) use unix::mapping;
#[cfg(all(unix, feature = "internals"))]
pub use unix::process::is_ignored;
#[cfg(unix)]
pub(crate) use unix::{futex, process, thread};
#[cfg(all(feature = "mmap", not(any(unix, windows))))]
pub(crate) use unmapped as mapping;
#[cfg(target_os = "wasi")]
pub use wasi::files;
#[cfg(target_os = "wasi")]
pub(crate) use wasi::process;
#[cfg(windows)]
pub use windows::files;
#[cfg(all(windows, feature = "mmap"))]
pub(crate) use windows::mapping;
#[cfg(windows)]
pub use windows::thread::keep_loaded;
#[cfg(windows)]
pub(crate) use windows::{futex, process, thread};

/// Returns the id of this process.
pub fn process_id() -> u32 {
    process::id()
}

/// Returns the id of the user with whose rights this process opens files; 0 on systems without
/// users.
#[cfg(feature = "internals")]
pub fn user_id() -> u32 {
    process::user()
}

/// Returns the directory of temporary files. An empty variable TMPDIR counts as unset.
pub fn temporary_directory() -> std::path::PathBuf {
    process::temporary_directory()
}

#[cfg(all(test, any(unix, windows, target_os = "wasi")))]
mod tests {
    use super::files;
    use std::io::{Read, Write};

    #[test]
    fn transfers_at_a_position_keep_the_position_for_sequential_access() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"first").unwrap();
        let mut two = [0; 2];
        files::read_exact_at(&file, 1, &mut two).unwrap();
        assert_eq!(&two, b"ir");
        file.write_all(b" second").unwrap();
        files::write_all_at(&file, 0, b"F").unwrap();
        assert_eq!(files::write_at(&file, 6, b"S").unwrap(), 1);
        file.write_all(b" third").unwrap();
        let mut all = [0; 18];
        files::read_exact_at(&file, 0, &mut all).unwrap();
        assert_eq!(&all, b"First Second third");
        assert_eq!(file.read(&mut two).unwrap(), 0);
        assert!(files::read_exact_at(&file, 17, &mut two).is_err());
    }

    #[test]
    fn unnamed_files_leave_nothing_in_their_directory() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = files::create_unnamed(folder.path()).unwrap();
        let mut other = files::create_unnamed(folder.path()).unwrap();
        one.write_all(b"one").unwrap();
        other.write_all(b"other").unwrap();
        let mut found = [0; 3];
        files::read_exact_at(&one, 0, &mut found).unwrap();
        assert_eq!(&found, b"one");
        drop((one, other));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
