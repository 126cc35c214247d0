//! The length of the README's first part, and the width of lines in documents.

use super::markdown;

/// The most words of the README before its section "More".
const MOST_WORDS: usize = 900;

/// The most columns of a line of Markdown.
const COLUMNS: usize = 100;

/// Returns the number of words of a Markdown text, code and tables included. A word is a sequence
/// of characters without white space that contains a letter or a digit, so that the bars of tables
/// do not count.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[test]
fn the_readme_has_at_most_900_words_before_more() {
    let readme = crate::text("README.md");
    let (start, _) = readme.split_once("\n## More\n").unwrap();
    let words = words(start);
    assert!(words <= MOST_WORDS, "{words}");
}

#[test]
fn bars_and_dashes_are_not_words() {
    assert_eq!(words("| a `b c` | — |\n|---|---|\n| 1.5 | [d](e.md) |"), 5);
}

/// Whether a line may be longer: rows of tables, and lines that cannot be broken.
fn may_be_long(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('|') || !line.trim_start_matches(['-', '*', ' ']).contains(' ')
}

#[test]
fn lines_have_at_most_100_columns() {
    let mut found = Vec::new();
    for document in markdown::documents() {
        for line in &document.prose {
            if line.chars().count() > COLUMNS && !may_be_long(line) && !line.starts_with("![") {
                found.push(format!("{}: {line}", document.name));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
