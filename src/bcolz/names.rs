//! What columns can be called.

use super::error::{Error, Result};

/// The name that queries reserve.
const RESERVED: &str = "nrow__";

/// Python's keywords.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Judges the name of a column that is read: it must be that of a directory in the table's.
///
/// # Errors
/// [`Error::ColumnName`]
pub fn check_read(name: &str) -> Result<()> {
    let is_format = name.starts_with("__") && name.ends_with("__");
    let is_path = matches!(name, "" | "." | "..") || name.contains(['/', '\\', '\0']);
    match is_format || is_path {
        true => Err(Error::ColumnName(name.to_owned())),
        false => Ok(()),
    }
}

/// Judges the name of a new column: besides, Python must be able to use it as a name.
///
/// # Errors
/// [`Error::ColumnName`]
pub fn check_new(name: &str) -> Result<()> {
    check_read(name)?;
    let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let goes_on = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match starts && goes_on && !KEYWORDS.contains(&name) && name != RESERVED {
        true => Ok(()),
        false => Err(Error::ColumnName(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_b11_names_that_lead_elsewhere_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "../a",
            "/etc",
            "a\\b",
            "a\0",
            "__attrs__",
            "__x__",
        ] {
            assert_eq!(check_read(name), Err(Error::ColumnName(name.to_owned())));
            assert!(check_new(name).is_err());
        }
        for name in ["a", "é", "_a", "data", "1a", "a b", "class"] {
            assert_eq!(check_read(name), Ok(()));
        }
    }

    #[test]
    fn new_names_are_names_of_python() {
        for name in ["a", "f0", "_a", "é", "x_1"] {
            assert_eq!(check_new(name), Ok(()), "{name}");
        }
        for name in ["1a", "a b", "a-b", "class", "nrow__", "None"] {
            assert!(check_new(name).is_err(), "{name}");
        }
    }
}
