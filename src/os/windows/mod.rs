//! Windows.

pub mod files;
pub(crate) mod futex;
#[cfg(feature = "mmap")]
pub(crate) mod mapping;
pub(crate) mod process;
pub(crate) mod thread;

use std::io::{Error, ErrorKind, Result};
use std::os::windows::ffi::OsStrExt;
use std::path::{Component, Path, Prefix, absolute};

/// The length in UTF-16 units from which on a path may be too long for functions of the system.
const LONG: usize = 248;

/// Returns the path as UTF-16, terminated by NUL. As in `std`, a long one is made absolute and gets
/// the prefix `\\?\`, for which the system has no limit of 260 units.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for a path with NUL.
fn wide(path: &Path) -> Result<Vec<u16>> {
    let units = |path: &Path| -> Vec<u16> { path.as_os_str().encode_wide().collect() };
    let mut wide = units(path);
    if wide.contains(&0) {
        return Err(Error::from(ErrorKind::InvalidInput));
    }
    // Of a path that cannot be made absolute, such as an empty one, the system returns the error.
    if let Ok(absolute) = absolute(path)
        && let full = units(&absolute)
        && full.len() >= LONG
        && let Some(Component::Prefix(prefix)) = absolute.components().next()
    {
        let (verbatim, rest) = match prefix.kind() {
            Prefix::Disk(_) => (r"\\?\", &full[..]),
            Prefix::UNC(..) => (r"\\?\UNC", &full[1..]),
            _ => ("", &full[..]),
        };
        wide = verbatim.encode_utf16().chain(rest.iter().copied()).collect();
    }
    wide.push(0);
    Ok(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str) -> String {
        let mut wide = wide(Path::new(path)).unwrap();
        assert_eq!(wide.pop(), Some(0));
        String::from_utf16(&wide).unwrap()
    }

    #[test]
    fn long_paths_have_the_prefix_without_a_limit() {
        let name = "n".repeat(100);
        for short in ["", "x", r"C:\x", r"\\server\share\x", "C:/x/y", r"\\.\pipe\x"] {
            assert_eq!(text(short), short);
        }
        let names = format!(r"{name}\{name}\{name}");
        assert_eq!(text(&format!(r"C:\{names}")), format!(r"\\?\C:\{names}"));
        assert_eq!(text(&format!("C:/{name}/../{name}/{name}/{name}")), format!(r"\\?\C:\{names}"));
        let share = format!(r"server\share\{names}");
        assert_eq!(text(&format!(r"\\{share}")), format!(r"\\?\UNC\{share}"));
        let verbatim = format!(r"\\?\C:\{names}");
        assert_eq!(text(&verbatim), verbatim);
        let current = std::env::current_dir().unwrap();
        assert_eq!(text(&names), format!(r"\\?\{}\{names}", current.display()));
        assert!(wide(Path::new("a\0b")).is_err());
    }
}
