//! Numbers and articles in messages.

use std::fmt::Display;

/// Returns a number with a noun, in the plural unless the number is 1.
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns the name of a class or format with its indefinite article.
pub fn with_article(name: &str) -> String {
    let is_vowel = name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o', 'u']);
    // These are spoken by their letters.
    let is_letters = name.starts_with("ND") || name.starts_with("SC") || name.starts_with("HDF");
    let article = if is_vowel || is_letters { "an" } else { "a" };
    format!("{article} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_vowels_have_another_article() {
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(0_u64, "row"), "0 rows");
        assert_eq!(counted(11, "row"), "11 rows");
        assert_eq!(with_article("ObjectArray"), "an ObjectArray");
        assert_eq!(with_article("NDArray"), "an NDArray");
        assert_eq!(with_article("CTable"), "a CTable");
        assert_eq!(with_article("group"), "a group");
    }
}
