//! Names of files.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Creates a temporary file in a directory, with these options; returns its path.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn create_unused(
    options: &mut OpenOptions,
    directory: &Path,
) -> Result<(PathBuf, File)> {
    loop {
        // Relaxed: the number must only be unique.
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!(".ferroblosc-{}-{number}", super::process::id()));
        match options.create_new(true).open(&path) {
            // A process that was killed left it, or one of another machine has the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return Ok((path, opened?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_file_gets_a_name_that_no_file_has() {
        let folder = tempfile::tempdir().unwrap();
        let next = COUNTER.load(Ordering::Relaxed);
        // Other tests use numbers, too.
        for number in next..next + 50 {
            let name = format!(".ferroblosc-{}-{number}", crate::os::process_id());
            std::fs::write(folder.path().join(name), b"old").unwrap();
        }
        let mut options = OpenOptions::new();
        let (path, _file) = create_unused(options.write(true), folder.path()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 51);
    }
}
