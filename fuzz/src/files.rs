//! Directories as texts, and temporary files and directories of the checks.
//!
//! In a text, each file is a line of `=` and its path, followed by its bytes up to the next such
//! line.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes before a file's path.
const MARK: &[u8] = b"\n=";

/// Returns the text of a directory.
pub fn text_of<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> Vec<u8> {
    let mut text = Vec::new();
    for (path, bytes) in files {
        text.extend_from_slice(MARK);
        text.extend_from_slice(path.as_bytes());
        text.push(b'\n');
        text.extend_from_slice(bytes);
    }
    text
}

/// Returns the text of the files of a directory, and of its directories.
///
/// # Panics
/// Panics if the directory cannot be read or a path is not UTF-8.
pub fn text_of_directory(root: &Path) -> Vec<u8> {
    let mut files = Vec::new();
    collect(root, root, &mut files);
    text_of(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    let entries = std::fs::read_dir(folder).expect("a directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).ok().and_then(Path::to_str).expect("a name");
            files.push((name.to_owned(), std::fs::read(&path).expect("a file")));
        }
    }
}

/// Parses the files of a text. All paths are relative and stay in the directory.
pub fn parse(text: &[u8]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut starts: Vec<usize> = text
        .windows(MARK.len())
        .enumerate()
        .filter(|(_, window)| *window == MARK)
        .map(|(at, _)| at)
        .collect();
    starts.push(text.len());
    let mut files = Vec::new();
    for pair in starts.windows(2) {
        let part = &text[pair[0] + MARK.len()..pair[1]];
        let mut lines = part.splitn(2, |&byte| byte == b'\n');
        let (Some(path), Some(bytes)) = (lines.next(), lines.next()) else {
            continue;
        };
        let is_name = |name: &str| !matches!(name, "" | "." | "..");
        if let Ok(path) = std::str::from_utf8(path)
            && path.split('/').all(is_name)
        {
            files.push((PathBuf::from(path), bytes.to_vec()));
        }
    }
    // A path cannot be a file and a directory.
    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
    files.retain(|(path, _)| {
        let is_inside = |other: &PathBuf| other != path && other.starts_with(path);
        !paths.iter().any(is_inside)
    });
    files
}

/// A temporary directory, in memory if the system supports it. Dropping it removes it.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates an empty directory.
    ///
    /// # Panics
    /// Panics if that is impossible.
    pub fn new() -> Scratch {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let shared = PathBuf::from("/dev/shm");
        let folder = if shared.is_dir() { shared } else { std::env::temp_dir() };
        let path = folder.join(format!("ferroblosc-fuzz-{}-{number}", std::process::id()));
        // A finding may have left one.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a temporary directory");
        Scratch(path)
    }

    /// Returns the path of a file or directory in the temporary directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and returns its path.
    ///
    /// # Panics
    /// Panics if that is impossible.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("a temporary file");
        path
    }

    /// Writes the files of a text into a new directory and returns its path. Skips names that the
    /// file system refuses.
    ///
    /// # Panics
    /// Panics if the directory cannot be created.
    pub fn directory(&self, name: &str, text: &[u8]) -> PathBuf {
        let root = self.path(name);
        std::fs::create_dir(&root).expect("a temporary directory");
        for (path, bytes) in parse(text) {
            let path = root.join(path);
            let parent = path.parent().unwrap_or(&root);
            if std::fs::create_dir_all(parent).is_ok() {
                let _ = std::fs::write(&path, bytes);
            }
        }
        root
    }
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
