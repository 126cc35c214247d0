//! Keys: absolute paths such as `/group/leaf`, and their relation to names of files.

use ferroblosc::io::temporary::FRAME_SUFFIX;

use super::limits::{MAX_KEY_LEN, MAX_PARTS};

/// The last part of the key of a leaf that holds the attributes of a group.
pub const GROUP_ATTRS: &str = "__vlmeta__";
/// The file of small and remote values, and of store-wide metadata.
pub const EMBED_FILE: &str = "embed.b2e";
/// The suffixes of files that are leaves without looking at their content.
const SUFFIXES: [&str; 3] = [".b2nd", ".b2f", ".b2b"];
/// The suffixes of temporary files and lock files of python-blosc2.
const TEMPORARY: [&str; 2] = [".tmp", ".b2lock"];

/// The reason why a name in a container is not used as the key of a leaf.
///
/// Rejects absolute names, names with empty, `.` and `..` parts, which would lead out of the store,
/// names with NULs, and names that are too long or too deep.
pub fn fault_of_name(name: &str) -> Option<&'static str> {
    if name.len() >= MAX_KEY_LEN {
        return Some("the name is too long");
    }
    if name.contains('\0') {
        return Some("the name contains a NUL");
    }
    if name.starts_with('/') {
        return Some("the name is absolute");
    }
    let mut parts = 0;
    for part in name.split('/') {
        if matches!(part, "" | "." | "..") {
            return Some("the name has an empty, '.' or '..' part");
        }
        parts += 1;
    }
    (parts > MAX_PARTS).then_some("the name has too many parts")
}

/// The reason why a text of an embed map is not a key.
pub fn fault_of_key(key: &str) -> Option<&'static str> {
    match key.strip_prefix('/') {
        Some(name) => fault_of_name(name),
        None => Some("the key does not start with '/'"),
    }
}

/// The maximum length of a part of a written key, in bytes, so that a file name with a suffix has
/// at most 255.
const MAX_PART_LEN: usize = 250;
/// The length in bytes that a written key leaves for the suffix of its file, and for the leaves of a
/// group or a table at this key, such as `__vlmeta__`: their names must be valid, too.
const RESERVED_LEN: usize = 32;
/// The names with a meaning as the last part of a key in a tree.
const RESERVED: [&str; 6] =
    [TABLE_META, "_valid_rows", "_cols", TABLE_ATTRS, "_indexes", GROUP_ATTRS];
/// The leaf with the schema of a table.
pub const TABLE_META: &str = "_meta";
/// The leaf with the attributes of a table.
pub const TABLE_ATTRS: &str = "_vlmeta";

/// The reason why a key is not written, besides those of [`fault_of_key`].
pub fn fault_of_new_key(key: &str) -> Option<&'static str> {
    if let Some(why) = fault_of_key(key) {
        return Some(why);
    }
    if key.len() > MAX_KEY_LEN - RESERVED_LEN {
        return Some("the key is too long");
    }
    // A leaf of a group or a table at this key has one part more.
    if key.matches('/').count() >= MAX_PARTS {
        return Some("the key has too many parts");
    }
    if key.contains(['\n', '\r', '\t']) {
        return Some("the key contains a control character");
    }
    let is_long = key.split('/').any(|part| part.len() > MAX_PART_LEN);
    is_long.then_some("a part of the key has more than 250 bytes")
}

/// Whether the last part of a key has a meaning in a tree.
pub fn is_reserved(key: &str) -> bool {
    key.rsplit('/').next().is_some_and(|last| RESERVED.contains(&last))
}

/// How a file of a container is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileClass {
    /// A leaf, by its suffix.
    Leaf,
    /// A leaf if its content is a frame.
    Candidate,
    /// Never a leaf: a temporary file, or a suffix without a name.
    Ignored,
}

/// Whether a name is that of a temporary file of a writer.
pub fn is_temporary(name: &str) -> bool {
    // Names of this project's temporary files can end with a number.
    let unnumbered = match name.rsplit_once('-') {
        Some((start, number)) if number.parse::<u8>().is_ok() => start,
        _ => name,
    };
    unnumbered.ends_with(FRAME_SUFFIX) || TEMPORARY.iter().any(|suffix| name.ends_with(suffix))
}

/// Returns how a file with this valid name is treated.
pub fn class_of_file(name: &str) -> FileClass {
    let last = name.rsplit('/').next().unwrap_or(name);
    if is_temporary(last) || SUFFIXES.contains(&last) || last == ".b2e" {
        FileClass::Ignored
    } else if SUFFIXES.iter().any(|suffix| last.ends_with(suffix)) {
        FileClass::Leaf
    } else {
        FileClass::Candidate
    }
}

/// Returns the key of a file: its name without the last suffix.
pub fn key_of_file(name: &str) -> String {
    let start = name.rfind('/').map_or(0, |slash| slash + 1);
    let stem = match name[start..].rfind('.') {
        // A dot at the start of a file name does not start a suffix.
        Some(dot) if dot > 0 => &name[..start + dot],
        _ => name,
    };
    format!("/{stem}")
}

/// Returns the key of `name` in the group `group`.
pub fn join(group: &str, name: &str) -> String {
    if group == "/" { format!("/{name}") } else { format!("{group}/{name}") }
}

/// Returns the group that contains a key; `None` for the root.
pub fn parent(key: &str) -> Option<&str> {
    match key.rfind('/')? {
        0 if key.len() == 1 => None,
        0 => Some("/"),
        at => Some(&key[..at]),
    }
}

/// Whether `key` is in `group` or in a group below it. The empty key is not a group: that of all
/// keys is `/`.
pub fn is_below(key: &str, group: &str) -> bool {
    let rest = match group {
        "" => None,
        "/" => Some(key),
        group => key.strip_prefix(group),
    };
    rest.is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
}

/// Returns the path of a column below the key of its table, without a slash at the start. The name
/// is split at dots without a backslash; `%`, `/`, `.` and `\` in a part are percent-encoded.
pub fn column_path(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        let character = match character {
            '.' => {
                path.push('/');
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        match character {
            '%' => path.push_str("%25"),
            '/' => path.push_str("%2F"),
            '.' => path.push_str("%2E"),
            '\\' => path.push_str("%5C"),
            other => path.push(other),
        }
    }
    path
}

/// Returns the end of the keys of leaves that hold the attributes of groups.
pub(super) fn suffix_of_attrs() -> String {
    format!("/{GROUP_ATTRS}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_names_without_the_last_suffix() {
        for (name, key) in [
            ("a.b2nd", "/a"),
            ("g/v1.0.b2nd", "/g/v1.0"),
            ("x.b2nd.b2nd", "/x.b2nd"),
            ("g.d/x", "/g.d/x"),
            ("g/.hidden.b2nd", "/g/.hidden"),
            ("g/.hidden", "/g/.hidden"),
        ] {
            assert_eq!(key_of_file(name), key);
        }
        assert_eq!(parent("/a/b"), Some("/a"));
        assert_eq!((parent("/a"), parent("/")), (Some("/"), None));
        assert!(is_below("/a/b", "/a") && is_below("/a", "/") && !is_below("/ab", "/a"));
        assert!(!is_below("/", "/") && !is_below("/a", "/a") && !is_below("/a", ""));
    }

    #[test]
    fn columns_are_encoded_part_by_part() {
        for (name, path) in [
            ("trip.begin.lon", "trip/begin/lon"),
            ("a\\.b", "a%2Eb"),
            ("s/t", "s%2Ft"),
            ("p%c", "p%25c"),
            ("a\\\\b", "a%5Cb"),
            ("\\.\\.", "%2E%2E"),
        ] {
            assert_eq!(column_path(name), path);
        }
    }
}
