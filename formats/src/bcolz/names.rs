//! Validation of column names.

use super::error::{Error, Result};
use ferroblosc::os::files;

/// The name reserved for queries.
const RESERVED: &str = "nrow__";

/// Python's keywords.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Validates the name of a column to read: it must be the name of a subdirectory.
///
/// # Errors
/// [`Error::ColumnName`]
pub fn check_read(name: &str) -> Result<()> {
    let is_format = name.starts_with("__") && name.ends_with("__");
    let is_path = matches!(name, "" | "." | "..") || name.contains(['/', '\\', '\0']);
    let is_file = files::fault_of_path(name).is_none();
    if is_format || is_path || !is_file { Err(Error::ColumnName(name.to_owned())) } else { Ok(()) }
}

/// Validates the name of a new column: it must also be a Python identifier.
///
/// # Errors
/// [`Error::ColumnName`]
pub fn check_new(name: &str) -> Result<()> {
    check_read(name)?;
    let has_valid_start = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let has_valid_chars = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if has_valid_start && has_valid_chars && !KEYWORDS.contains(&name) && name != RESERVED {
        Ok(())
    } else {
        Err(Error::ColumnName(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_b11_names_that_lead_out_of_the_table_are_rejected() {
        for name in ["", ".", "..", "a/b", "../a", "/etc", "a\\b", "a\0", "__attrs__", "__x__"] {
            assert_eq!(check_read(name), Err(Error::ColumnName(name.to_owned())));
            assert!(check_new(name).is_err());
        }
        for name in ["a", "é", "_a", "data", "1a", "a b", "class"] {
            assert_eq!(check_read(name), Ok(()));
        }
        for name in ["C:", "C:x", "a:b", "nul", "a."] {
            assert_eq!(check_read(name).is_err(), cfg!(windows), "{name}");
        }
    }

    #[test]
    fn new_names_are_python_identifiers() {
        for name in ["a", "f0", "_a", "é", "x_1"] {
            assert_eq!(check_new(name), Ok(()), "{name}");
        }
        for name in ["1a", "a b", "a-b", "class", "nrow__", "None"] {
            assert!(check_new(name).is_err(), "{name}");
        }
    }
}
