//! Removing and renaming frames by path.

use super::{FileOps, FileSystem, journal, lock, temporary};
use crate::{Error, Result};
use std::ffi::OsStr;
use std::fs::DirEntry;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Prefix of a file URL.
const FILE_SCHEME: &str = "file:///";

/// Returns the path without a leading `file:///`. The third slash is removed, too, so the result is
/// a relative path unless there is a fourth one.
pub fn without_scheme(path: &Path) -> &Path {
    let bytes = path.as_os_str().as_encoded_bytes();
    match bytes.strip_prefix(FILE_SCHEME.as_bytes()) {
        // SAFETY: the bytes are cut from those of an `OsStr` after a UTF-8 text.
        Some(rest) => Path::new(unsafe { OsStr::from_encoded_bytes_unchecked(rest) }),
        None => path,
    }
}

/// Returns the path without a suffix, if it ends with it.
pub fn without_suffix<'a>(path: &'a Path, suffix: &str) -> Option<&'a Path> {
    let rest = path.as_os_str().as_encoded_bytes().strip_suffix(suffix.as_bytes())?;
    // SAFETY: the bytes are cut from those of an `OsStr` before a UTF-8 text.
    Some(Path::new(unsafe { OsStr::from_encoded_bytes_unchecked(rest) }))
}

/// Splits a path at each occurrence of a separator, which is not empty. Both parts are without it.
pub fn splits<'a>(path: &'a Path, separator: &str) -> impl Iterator<Item = (&'a Path, &'a OsStr)> {
    let (bytes, separator) = (path.as_os_str().as_encoded_bytes(), separator.as_bytes());
    let is_at = move |&at: &usize| !separator.is_empty() && bytes[at..].starts_with(separator);
    (0..bytes.len()).filter(is_at).map(move |at| {
        let (before, after) = (&bytes[..at], &bytes[at + separator.len()..]);
        // SAFETY: the bytes are cut from those of an `OsStr` before and after a UTF-8 text.
        unsafe {
            (
                Path::new(OsStr::from_encoded_bytes_unchecked(before)),
                OsStr::from_encoded_bytes_unchecked(after),
            )
        }
    })
}

/// Returns the path with a text at its end.
pub fn with_text(path: &Path, text: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(text);
    PathBuf::from(name)
}

/// Removes the frame at `path`: a directory, or a file with its lock file and the leftovers of an
/// interrupted change. If there is no frame, only the journal of an earlier one is removed.
///
/// # Errors
/// [`Error::FileRemove`] when a file cannot be removed, [`Error::Failure`] when its attributes are
/// not available; the errors of [`remove_dir`].
pub fn remove_urlpath(path: &Path) -> Result<()> {
    let journal_suffix = journal::FRAME_SUFFIX;
    let attributes = FileSystem.attributes(path);
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            journal::discard(&FileSystem, path, journal_suffix, attributes.as_ref());
            return Ok(());
        }
        Err(error) => return Err(Error::Failure.during("remove").at(path).os(error)),
    };
    if found.is_dir() {
        return remove_dir(path);
    }
    std::fs::remove_file(path)
        .map_err(|error| Error::FileRemove.during("remove").at(path).os(error))?;
    journal::discard(&FileSystem, path, journal_suffix, attributes.as_ref());
    temporary::remove_leftovers(&FileSystem, path, temporary::FRAME_SUFFIX);
    // Most frames have no lock file, and a leftover one is harmless.
    let _ = std::fs::remove_file(lock::beside(path));
    Ok(())
}

/// Removes the files of a directory, then the directory itself if possible.
///
/// The directory of a frame contains only files. A directory with other entries is left unchanged,
/// because a wrong path could name any directory.
///
/// # Errors
/// [`Error::InvalidParam`] for an empty path, [`Error::NotFound`] if it is not a readable
/// directory. [`Error::Failure`] if an entry is a directory or a dangling link: then nothing is
/// removed. [`Error::Failure`] if a file cannot be removed: the others are removed nevertheless.
pub fn remove_dir(path: &Path) -> Result<()> {
    if path.as_os_str().is_empty() {
        return Err(Error::InvalidParam);
    }
    let entries = std::fs::read_dir(path).map_err(|error| {
        let error = Error::NotFound.os(error);
        error.during("read the directory").at(path)
    })?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry
            .map_err(|error| Error::Failure.during("read the directory").at(path).os(error))
            .and_then(|entry| removable(&entry))?;
        files.try_reserve(1)?;
        files.push(file);
    }
    let mut emptied = Ok(());
    for file in files {
        let removed = std::fs::remove_file(&file)
            .map_err(|error| Error::Failure.during("remove").at(file).os(error));
        emptied = emptied.and(removed);
    }
    emptied?;
    // If the path is a symbolic link to the directory, both stay.
    let _ = std::fs::remove_dir(path);
    Ok(())
}

/// Returns the path of an entry that is a file or a link to an existing file or directory.
fn removable(entry: &DirEntry) -> Result<PathBuf> {
    let path = entry.path();
    let failure = |path: &Path| Error::Failure.during("remove").at(path);
    // `file_type` does not follow links, `metadata` does.
    let kind = entry.file_type().map_err(|error| failure(&path).os(error))?;
    if kind.is_dir() {
        return Err(failure(&path).because("it is a directory"));
    }
    std::fs::metadata(&path).map_err(|error| failure(&path).os(error))?;
    Ok(path)
}

/// Renames the frame at `from` to `to`; an existing file is replaced and its journal removed. The
/// lock file keeps its name. The frame's own interrupted change must have been rolled back.
///
/// # Errors
/// [`Error::Failure`] on failure.
pub fn rename_urlpath(from: &Path, to: &Path) -> Result<()> {
    let replaced = FileSystem.attributes(to);
    std::fs::metadata(from)
        .and_then(|_| std::fs::rename(from, to))
        .map_err(|error| Error::Failure.during("rename").at(from).os(error))?;
    let file = replaced.as_ref();
    journal::discard(&FileSystem, to, journal::FRAME_SUFFIX, file);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::TempDir;
    #[cfg(unix)]
    use std::os::unix::fs::symlink;

    fn touch(path: impl AsRef<Path>) {
        std::fs::write(path, b"").unwrap();
    }

    #[test]
    fn a_path_is_not_split_without_a_separator() {
        assert_eq!(splits(Path::new("a/b"), "").count(), 0);
        assert_eq!(splits(Path::new(""), "/").count(), 0);
        assert_eq!(without_suffix(Path::new("a.b"), ".c"), None);
    }

    #[test]
    fn row_f30_exactly_eight_characters_of_a_url_are_stripped() {
        for (url, path) in [
            ("file:///w/x", "w/x"),
            ("file:////abs/x", "/abs/x"),
            ("file:///", ""),
            ("file://host/x", "file://host/x"),
            ("FILE:///x", "FILE:///x"),
            ("x/file:///y", "x/file:///y"),
            ("", ""),
        ] {
            assert_eq!(without_scheme(Path::new(url)).as_os_str(), path, "{url}");
        }
    }

    #[test]
    fn a_path_is_split_at_each_separator() {
        let parts = |path: &str| -> Vec<(String, String)> {
            let texts = |(before, after): (&Path, &OsStr)| {
                (before.to_str().unwrap().to_owned(), after.to_str().unwrap().to_owned())
            };
            splits(Path::new(path), ":/").map(texts).collect()
        };
        assert_eq!(parts("a"), []);
        let both = [("é".into(), "b:/ü".into()), ("é:/b".into(), "ü".into())];
        assert_eq!(parts("é:/b:/ü"), both);
        assert_eq!(parts(":/"), [(String::new(), String::new())]);
        assert_eq!(with_text(Path::new("a"), ":/b"), Path::new("a:/b"));
    }

    #[cfg(unix)]
    #[test]
    fn row_f29_a_directory_with_a_dangling_link_stays_and_is_reported() {
        let dir = TempDir::new("dangling");
        let path = dir.join("d");
        std::fs::create_dir(&path).unwrap();
        touch(path.join("f"));
        symlink("nowhere", path.join("l")).unwrap();
        assert_eq!(remove_dir(&path), Err(Error::Failure));
        assert!(path.join("l").is_symlink() && path.join("f").exists());
    }

    #[cfg(unix)]
    #[test]
    fn removing_a_directory_removes_links_but_not_their_targets() {
        let dir = TempDir::new("files");
        let (path, kept) = (dir.join("d"), dir.join("kept"));
        std::fs::create_dir(&path).unwrap();
        std::fs::create_dir(&kept).unwrap();
        touch(kept.join("f"));
        touch(path.join("f"));
        symlink(&kept, path.join("to-directory")).unwrap();
        symlink(kept.join("f"), path.join("to-file")).unwrap();
        assert_eq!(remove_dir(&path), Ok(()));
        assert!(!path.exists() && kept.join("f").exists());
    }

    #[test]
    fn row_f39_a_directory_with_a_directory_is_left_unchanged() {
        let dir = TempDir::new("nested");
        std::fs::create_dir(dir.join("s")).unwrap();
        // Whatever the order of the entries is, one file is listed before or after the directory.
        for name in ["a", "f", "z"] {
            touch(dir.join(name));
        }
        assert_eq!(remove_dir(dir.path()), Err(Error::Failure));
        assert_eq!(remove_urlpath(dir.path()), Err(Error::Failure));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4);
    }

    #[test]
    fn a_file_is_not_removed_as_a_directory() {
        let dir = TempDir::new("no-directory");
        touch(dir.join("f"));
        assert_eq!(remove_dir(Path::new("")), Err(Error::InvalidParam));
        assert_eq!(remove_dir(&dir.join("f")), Err(Error::NotFound));
        assert_eq!(remove_dir(&dir.join("none")), Err(Error::NotFound));
    }

    #[test]
    fn removing_a_frame_removes_its_lock_file() {
        let dir = TempDir::new("frames");
        touch(dir.join("f"));
        touch(dir.join("f.b2lock"));
        std::fs::create_dir(dir.join("d")).unwrap();
        touch(dir.join("d/.b2lock"));
        for name in ["f", "d", "none"] {
            assert_eq!(remove_urlpath(&dir.join(name)), Ok(()));
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        touch(dir.join("f"));
        // Windows does not distinguish a missing file from a path through a file.
        let through_file = if cfg!(windows) { Ok(()) } else { Err(Error::Failure) };
        assert_eq!(remove_urlpath(&dir.join("f/x")), through_file);
    }

    #[test]
    fn renaming_replaces_files_and_keeps_lock_files() {
        let dir = TempDir::new("renaming");
        let (one, other) = (dir.join("one"), dir.join("other"));
        std::fs::write(&one, b"1").unwrap();
        touch(dir.join("one.b2lock"));
        touch(&other);
        assert_eq!(rename_urlpath(&one, &other), Ok(()));
        assert_eq!(std::fs::read(&other).unwrap(), b"1");
        assert!(dir.join("one.b2lock").exists());
        assert_eq!(rename_urlpath(&one, &other), Err(Error::Failure));
        #[cfg(unix)]
        {
            symlink("nowhere", &one).unwrap();
            assert_eq!(rename_urlpath(&one, &other), Err(Error::Failure));
        }
    }
}
