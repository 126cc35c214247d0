//! Environment variables whose names begin with `BLOSC_`.
//!
//! Each call queries several of them, which must be cheap if none is set.

use crate::os::process;
use std::ffi::OsString;

/// The prefix of all variable names.
const PREFIX: &[u8] = b"BLOSC_";

/// Whether no variable with the prefix [`PREFIX`] is set. One scan costs a tenth of querying each
/// variable, which matters for small chunks.
pub(crate) fn has_no_variables() -> bool {
    !process::has_variables(PREFIX)
}

/// Returns the value of a variable, whose name must begin with `BLOSC_`, if it is set.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    debug_assert!(name.as_bytes().starts_with(PREFIX));
    if has_no_variables() {
        return None;
    }
    std::env::var_os(name)
}

/// Whether a variable is set, to any value.
pub(crate) fn is_set(name: &str) -> bool {
    variable(name).is_some()
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

/// Returns the number at the beginning of a variable's value; 0 if there is none.
pub(crate) fn number(name: &str) -> Option<i64> {
    variable(name).map(|text| leading_number(&text.to_string_lossy()))
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
