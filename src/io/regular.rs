//! Opening of files that may not be regular files.
//!
//! A path can name a FIFO, a device or a directory. Opening a FIFO waits for its other end, and
//! opening a device may block or have side effects. Files are therefore opened without blocking,
//! and their type is checked before anything is read or written.

use super::reader::open_with_spare_descriptors;
use crate::os::files::{self, Content, Opening};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Opens a file with these options, without blocking.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a FIFO or a socket, and for a character device unless the file
/// is written; [`ErrorKind::IsADirectory`]; the errors of opening.
pub(crate) fn open_with(options: &mut OpenOptions, path: &Path, writes: bool) -> Result<File> {
    let opened = open_with_spare_descriptors(|| files::open(options, path, Opening::NonBlocking));
    let file = match opened {
        // Another process holds a lease on the regular file; a blocking open waits until it ends.
        Err(error) if error.kind() == ErrorKind::WouldBlock && path.is_file() => {
            open_with_spare_descriptors(|| files::open(options, path, Opening::Plain))?
        }
        // The writing end of a FIFO without a reader, or a socket.
        Err(error) if files::has_no_other_end(&error) => return Err(not_regular()),
        opened => opened?,
    };
    match files::content_of(&file)? {
        Content::Data => Ok(file),
        Content::CharDevice if writes => Ok(file),
        Content::Directory => Err(files::is_a_directory()),
        Content::CharDevice | Content::Other => Err(not_regular()),
    }
}

fn not_regular() -> Error {
    Error::new(ErrorKind::InvalidInput, "this is not a regular file")
}

/// Opens a file for reading like [`File::open`], but never waits for a FIFO and rejects character
/// devices.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a FIFO, a socket or a character device;
/// [`ErrorKind::IsADirectory`]; the errors of opening.
pub fn open_regular(path: &Path) -> Result<File> {
    open_with(OpenOptions::new().read(true), path, false)
}

/// Reads a whole file like [`std::fs::read`], under the conditions of [`open_regular`].
///
/// # Errors
/// Returns the errors of [`open_regular`] and of reading; [`ErrorKind::OutOfMemory`].
pub fn read_regular(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn special_files_are_rejected_without_blocking() {
        let name = format!("ferroblosc-regular-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).unwrap();
        let fifo = folder.join("fifo");
        let c_path = CString::new(fifo.as_os_str().as_bytes()).unwrap();
        // SAFETY: the path is a NUL-terminated C string.
        assert_eq!(unsafe { libc::mkfifo(c_path.as_ptr(), 0o600) }, 0);
        let link = folder.join("link");
        std::os::unix::fs::symlink(&fifo, &link).unwrap();
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let file = folder.join("file");
        std::fs::write(&file, b"bytes").unwrap();
        for path in [&fifo, &link, &socket, &folder, &"/dev/zero".into()] {
            let kind = open_regular(path).unwrap_err().kind();
            let expected =
                if path.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
            assert_eq!(kind, expected, "{}", path.display());
            let options = &mut OpenOptions::new();
            let written = open_with(options.write(true), path, false);
            assert!(written.is_err(), "{}", path.display());
        }
        assert_eq!(read_regular(&file).unwrap(), b"bytes");
        let options = &mut OpenOptions::new();
        assert!(open_with(options.write(true), Path::new("/dev/null"), true).is_ok());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
