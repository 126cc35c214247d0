//! Environment variables whose names begin with `BLOSC_`.
//!
//! Each call queries several of them, which must be cheap if none is set.

use crate::os::process;
use std::ffi::OsString;

/// The prefix of all variable names.
const PREFIX: &[u8] = b"BLOSC_";

/// The variables during a call. One scan of the environment costs a tenth of querying each variable,
/// which matters for small chunks; if no variable is set, the queries that follow it cost nothing.
#[derive(Clone, Copy)]
pub struct Variables {
    is_any_set: bool,
}

impl Variables {
    /// Scans the environment for variables with the prefix [`PREFIX`].
    pub fn scan() -> Variables {
        Variables { is_any_set: process::has_variables(PREFIX) }
    }

    /// Whether a variable is set.
    pub fn is_any_set(self) -> bool {
        self.is_any_set
    }

    /// Returns the value of a variable, whose name must begin with `BLOSC_`, if it is set.
    pub(crate) fn value_of(self, name: &str) -> Option<OsString> {
        debug_assert!(name.as_bytes().starts_with(PREFIX));
        if self.is_any_set { std::env::var_os(name) } else { None }
    }

    /// Whether a variable is set, to any value.
    pub(crate) fn is_set(self, name: &str) -> bool {
        self.value_of(name).is_some()
    }

    /// Returns the number at the beginning of a variable's value; 0 if there is none.
    pub(crate) fn number(self, name: &str) -> Option<i64> {
        self.value_of(name).map(|text| leading_number(&text.to_string_lossy()))
    }
}

/// Parses the number at the beginning of a text, after white space; 0 if there is none.
fn leading_number(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    digits.bytes().map_while(|byte| char::from(byte).to_digit(10)).fold(0, |number: i64, digit| {
        number.saturating_mul(10).saturating_add(sign * i64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_up_to_the_first_other_character() {
        assert_eq!(leading_number(" 12abc"), 12);
        assert_eq!(leading_number("-7"), -7);
        assert_eq!(leading_number("+3"), 3);
        assert_eq!(leading_number("abc"), 0);
        assert_eq!(leading_number(""), 0);
        assert_eq!(leading_number("99999999999999999999999"), i64::MAX);
    }
}
