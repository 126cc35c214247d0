//! The identity of a file and its state, to detect changes.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Identifies a file and the state of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
    len: u64,
    /// The times of the last change of the content and of the inode: seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Returns the identity and the state of a file.
pub fn identity(found: &Metadata) -> Identity {
    Identity {
        device: found.dev(),
        inode: found.ino(),
        len: found.len(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    }
}
