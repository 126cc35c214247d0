//! Names of files beside a file: its name with a suffix.
//!
//! File systems limit the length of a name. A name that would be too long is shortened and ends
//! with a hash of the whole name, so that files with the same start have different names. The
//! result depends on the path and the suffix alone, so leftovers and journals are found again.

use std::ffi::OsString;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

/// The maximum length of a name in bytes on common file systems.
const NAME_MAX: usize = 255;
/// The length of a hash in a name: `~` and 16 digits.
const HASH_LEN: usize = 17;

/// The hash FNV-1a, whose values do not depend on the version of the program.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the path with a suffix. The name is shortened if it would exceed the limit with the
/// suffix and `reserve` more bytes.
pub fn with_suffix(path: &Path, suffix: &str, reserve: usize) -> PathBuf {
    let most = NAME_MAX.saturating_sub(suffix.len() + reserve);
    if let Some(name) = path.file_name().filter(|name| name.len() > most) {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        hash.write(name.as_encoded_bytes());
        let text = name.to_string_lossy();
        let mut len = most.saturating_sub(HASH_LEN).min(text.len());
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        let (start, hash) = (&text[..len], hash.finish());
        return path.with_file_name(format!("{start}~{hash:016x}{suffix}"));
    }
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(len: usize, reserve: usize) -> String {
        let path = Path::new("a/b").join("n".repeat(len));
        let beside = with_suffix(&path, ".b2tmp", reserve);
        assert_eq!(beside.parent(), path.parent());
        beside.file_name().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn a_name_is_shortened_only_if_it_exceeds_the_limit() {
        assert_eq!(with_suffix(Path::new("a/b"), ".x", 3), Path::new("a/b.x"));
        assert_eq!(name_of(249, 0), format!("{}.b2tmp", "n".repeat(249)));
        assert_eq!(name_of(246, 3), format!("{}.b2tmp", "n".repeat(246)));
        for (len, reserve) in [(247, 3), (250, 0), (255, 0), (255, 3)] {
            let name = name_of(len, reserve);
            assert_eq!(name.len(), 255 - reserve, "{len}");
            assert!(name.ends_with(".b2tmp") && name.contains('~'), "{name}");
        }
        assert_ne!(name_of(254, 3), name_of(255, 3));
    }

    #[test]
    fn the_hash_is_that_of_fnv_1a() {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        hash.write(b"foobar");
        assert_eq!(hash.finish(), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn characters_stay_whole() {
        let path = PathBuf::from("\u{fc}".repeat(127));
        let name = with_suffix(&path, ".b2tmp", 0);
        assert!(name.to_str().unwrap().starts_with("\u{fc}\u{fc}"));
        assert!(name.as_os_str().len() <= NAME_MAX);
        // The limit is within a character.
        let path = PathBuf::from(format!("n{}", "\u{fc}".repeat(127)));
        let name = with_suffix(&path, ".b2tmp", 0);
        let start = name.to_str().unwrap().split('~').next().unwrap();
        assert!(path.to_str().unwrap().starts_with(start) && start.len() > 200, "{start}");
        assert!(name.as_os_str().len() <= NAME_MAX);
    }
}
