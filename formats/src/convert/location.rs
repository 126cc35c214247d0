//! Paths of arrays in containers of several arrays: `CONTAINER:/key`.

use ferroblosc::io::paths;
use std::path::{Component, Path, PathBuf};

/// The path of a container and a key in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file or directory.
    pub path: PathBuf,
    /// The key, without a slash at its start and end, or `None` for the whole container.
    pub key: Option<String>,
}

impl Location {
    /// Splits a path that does not exist at the first `:/` after a path that exists.
    pub fn of(path: &Path) -> Location {
        // A link without a target exists, too.
        if std::fs::symlink_metadata(path).is_ok() {
            return Location { path: path.to_owned(), key: None };
        }
        Location::split(path, Path::exists)
    }

    fn split(path: &Path, exists: impl Fn(&Path) -> bool) -> Location {
        match Location::splits(path).find(|(path, _)| exists(path)) {
            Some((path, key)) => {
                let key = key.trim_matches('/');
                let key = (!key.is_empty()).then(|| key.to_owned());
                Location { path: path.to_owned(), key }
            }
            None => Location { path: path.to_owned(), key: None },
        }
    }

    /// Returns the splits of a path at each `:/` into another path and a key, which starts with the
    /// slash. The colon of a drive, as in `C:/a.npz:/key`, belongs to the path.
    #[doc(hidden)]
    pub fn splits(path: &Path) -> impl Iterator<Item = (&Path, &str)> {
        let drive = match path.components().next() {
            Some(Component::Prefix(prefix)) => prefix.as_os_str().len(),
            _ => 0,
        };
        // Only the path may have a name that is not UTF-8.
        let splits =
            paths::splits(path, ":").filter(move |(path, _)| path.as_os_str().len() >= drive);
        splits.filter_map(|(path, key)| {
            Some((path, key.to_str().filter(|key| key.starts_with('/'))?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_a_path_that_exists() {
        let folder = crate::testing::tempdir();
        // Names on Windows have no colons.
        let path = folder.path().join(if cfg!(windows) { "a.b" } else { "a:b" });
        std::fs::write(&path, "").unwrap();
        let root = path.to_str().unwrap();
        for (text, expected) in [
            (root.to_owned(), (root, None)),
            (format!("{root}:/x/y:/z/"), (root, Some("x/y:/z"))),
            (format!("{root}:/"), (root, None)),
            (format!("{root}c:/x"), (&*format!("{root}c:/x"), None)),
        ] {
            let location = Location::of(Path::new(&text));
            let (path, key) = expected;
            let key = key.map(str::to_owned);
            assert_eq!(location, Location { path: PathBuf::from(path), key }, "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_name_of_a_container_may_have_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let folder = crate::testing::tempdir();
        let path = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
        std::fs::write(&path, "").unwrap();
        let location = Location::of(&paths::with_text(&path, ":/x/y"));
        assert_eq!(location, Location { path, key: Some("x/y".to_owned()) });
    }

    #[cfg(windows)]
    #[test]
    fn the_colon_of_a_drive_belongs_to_the_path() {
        let exists = |path: &Path| [Path::new("C"), Path::new("C:/a.npz")].contains(&path);
        let location = Location::split(Path::new("C:/a.npz:/x"), exists);
        let expected = Location { path: PathBuf::from("C:/a.npz"), key: Some("x".to_owned()) };
        assert_eq!(location, expected);
    }
}
