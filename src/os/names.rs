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

/// The reason why a name that contains no slash is not that of one file in a directory on Windows.
///
/// A backslash and the colon of a drive lead to other directories. Other colons separate the name
/// of a stream, which no listing of the directory contains. Names of devices, also with extensions,
/// are in all directories; the bytes that are written to `NUL` are lost.
#[cfg(any(windows, test))]
pub(crate) fn fault_on_windows(name: &str) -> Option<&'static str> {
    const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
    if name.contains(|char: char| char < ' ' || "\\:*?\"<>|".contains(char)) {
        return Some("it contains a character that Windows does not permit in names of files");
    }
    if name.ends_with(['.', ' ']) {
        return Some("Windows removes dots and spaces at the end of names of files");
    }
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    let is_port = |device: &str| {
        let number = stem.get(..3).filter(|start| start.eq_ignore_ascii_case(device));
        let mut number = number.map_or("", |_| &stem[3..]).chars();
        number
            .next()
            .is_some_and(|char| char.is_ascii_digit() || "\u{b9}\u{b2}\u{b3}".contains(char))
            && number.next().is_none()
    };
    let is_device = DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device))
        || ["COM", "LPT"].into_iter().any(is_port);
    is_device.then_some("Windows reserves it for a device")
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

    #[test]
    fn names_that_windows_does_not_use_for_one_file_are_recognised() {
        for name in [
            "..\\x",
            "\\x",
            "C:",
            "C:x",
            "x:y",
            "x*",
            "x?",
            "\"x",
            "<",
            ">",
            "|",
            "x\n",
            "x.",
            "x ",
            ".",
            "nul",
            "NUL.b2nd",
            "Aux.tar.gz",
            "con .txt",
            "com1",
            "LPT9.x",
            "com\u{b2}",
            "CONIN$",
        ] {
            assert!(fault_on_windows(name).is_some(), "{name:?}");
        }
        for name in [
            "",
            "x",
            "x y",
            ".x",
            "x.y",
            "null",
            "con1",
            "com",
            "com10",
            "comx",
            "aux-1",
            "\u{e9}\u{20ac}",
            "co\u{b2}",
        ] {
            assert_eq!(fault_on_windows(name), None, "{name:?}");
        }
    }
}
