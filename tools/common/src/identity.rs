//! The identity of a file and its state, to detect changes.

use ferroblosc::os::files::{self, Details};
use std::fs::{self, File, Metadata};
use std::io::Result;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Identifies a file and the state of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The identity of the file.
    file: (u64, u64),
    /// The size of the file in bytes.
    pub len: u64,
    /// The times of the last change of the content and of the attributes, in nanoseconds.
    modified: i128,
    changed: i128,
}

impl Identity {
    /// Returns the identity and the state of an open file.
    pub fn of(file: &File) -> Result<Identity> {
        files::attributes_of(file).map(Identity::from)
    }

    /// Returns the identity and the state of the file at a path; a symbolic link is not followed.
    pub fn at(path: &Path) -> Result<Identity> {
        files::attributes_at(path).map(Identity::from)
    }

    /// As [`Identity::at`], for the target of symbolic links.
    pub fn of_target(path: &Path) -> Result<Identity> {
        Identity::at(&fs::canonicalize(path)?)
    }

    /// Whether both belong to one file with the same content. Its name and its other attributes may
    /// differ.
    pub fn has_content_of(&self, other: &Identity) -> bool {
        (self.file, self.len, self.modified) == (other.file, other.len, other.modified)
    }

    /// Whether the content was last changed more than `duration` ago, by the system's clock.
    pub fn is_older_than(&self, duration: Duration) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (age, duration) = (now.as_nanos().cast_signed() - self.modified, duration.as_nanos());
        // A time in the future is that of another clock.
        age < 0 || age > duration.cast_signed()
    }
}

impl From<(Metadata, Details)> for Identity {
    fn from((found, details): (Metadata, Details)) -> Identity {
        Identity {
            file: details.identity,
            len: found.len(),
            modified: details.modified,
            changed: details.changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_the_content_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = File::create(&path).unwrap();
        let now = SystemTime::now();
        let hour = Duration::from_secs(3600);
        for (modified, is_older) in [(now - 2 * hour, true), (now, false), (now + hour, true)] {
            file.set_modified(modified).unwrap();
            assert_eq!(Identity::at(&path).unwrap().is_older_than(hour), is_older);
        }
    }
}
