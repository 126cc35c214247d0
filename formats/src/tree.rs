//! The size of directory trees.

use std::fs;
use std::io::{ErrorKind, Result};
use std::path::Path;

/// Returns the size of a file, or of all regular files in a directory tree to the given depth, in
/// bytes. Symbolic links below `path` are not followed. Files and directories that another program
/// removes in the meantime are not counted.
///
/// # Errors
/// Errors of reading `path` and its entries.
pub(crate) fn size_of(path: &Path, max_depth: usize) -> Result<u64> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_dir() {
        return Ok(metadata.len());
    }
    let mut total = 0_u64;
    let mut pending = vec![(path.to_owned(), 0)];
    while let Some((directory, depth)) = pending.pop() {
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == ErrorKind::NotFound && depth > 0 => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let found = match entry.metadata() {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                found => found?,
            };
            if found.is_dir() && depth < max_depth {
                pending.push((entry.path(), depth + 1));
            } else if found.is_file() {
                total = total.saturating_add(found.len());
            }
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn files_of_a_tree_are_counted_to_a_depth() {
        let folder = crate::testing::tempdir();
        let root = folder.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (name, len) in [("x", 1), ("a/x", 20), ("a/b/x", 300)] {
            fs::write(root.join(name), vec![0; len]).unwrap();
        }
        assert_eq!(size_of(root, 2).unwrap(), 321);
        assert_eq!(size_of(root, 1).unwrap(), 21);
        assert_eq!(size_of(&root.join("a/b/x"), 0).unwrap(), 300);
        assert_eq!(size_of(&root.join("y"), 9).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn files_may_be_removed_while_they_are_counted() {
        let folder = crate::testing::tempdir();
        let root = folder.path();
        fs::write(root.join("kept"), [0; 7]).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let names = ["one", "two", "three"].map(|name| root.join(name));
                while !done.load(Ordering::Relaxed) {
                    fs::create_dir(&names[0]).unwrap();
                    fs::write(names[0].join("file"), []).unwrap();
                    names[1..].iter().for_each(|name| fs::write(name, []).unwrap());
                    names[1..].iter().for_each(|name| fs::remove_file(name).unwrap());
                    fs::remove_dir_all(&names[0]).unwrap();
                }
            });
            let sizes: Vec<_> = (0..3000).map(|_| size_of(root, 9)).collect();
            done.store(true, Ordering::Relaxed);
            assert!(sizes.iter().all(|size| matches!(size, Ok(7))), "{sizes:?}");
        });
    }
}
