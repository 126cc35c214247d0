//! Checks that comments and documents do not contain certain words, for which the field has other
//! terms.

/// The words and the ones to use instead.
const AVOIDED: [(&str, &str); 13] = [
    ("behind", "after, following"),
    ("in front of", "before, preceding"),
    ("tell", "returns, states"),
    ("tells", "returns, states"),
    ("told", "given, stated"),
    ("whoever", "the caller"),
    ("nobody", "no caller, no thread"),
    ("somebody", "another user, the caller"),
    ("anew", "again"),
    ("so many", "that many, a number"),
    ("of which", "two sentences"),
    ("as it is", "unchanged"),
    ("gets to", "reaches, may"),
];

/// The file types and the start of their comments; documents are checked as a whole.
const TYPES: [(&str, &str); 15] = [
    (".md", ""),
    (".rs", "//"),
    (".js", "//"),
    (".js", "*"),
    (".ts", "//"),
    (".ts", "*"),
    (".c", "/*"),
    (".h", "*"),
    (".f90", "!"),
    (".sh", "#"),
    (".py", "#"),
    (".toml", "#"),
    (".cmake", "#"),
    ("CMakeLists.txt", "#"),
    ("Makefile", "#"),
];

/// Returns the comment of a line; C comments may continue over lines that start with an asterisk.
fn comment<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    let line = line.trim_start();
    match start {
        "/*" | "*" if line.starts_with('*') => Some(line),
        "*" => line.find("/*").map(|at| &line[at..]),
        _ => line.find(start).map(|at| &line[at..]),
    }
}

/// Returns the avoided words in a text, each with the words to use instead.
fn avoided(text: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = text.to_lowercase();
    AVOIDED.into_iter().filter(move |(word, _)| {
        text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !is_letter(before) && !is_letter(after)
        })
    })
}

#[test]
fn comments_and_documents_use_the_terms_of_the_field() {
    let mut found = Vec::new();
    let mut files = 0;
    for (ending, start) in TYPES {
        for path in crate::files("", ending) {
            let name = path.strip_prefix(crate::root()).unwrap();
            let is_foreign = name.starts_with("vendor") || name.starts_with("formats/tests/data");
            if is_foreign {
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            for (number, line) in text.lines().enumerate() {
                let words = comment(line, start).into_iter().flat_map(avoided);
                found.extend(words.map(|(word, better)| {
                    format!("{}:{}: {word} ({better})", name.display(), number + 1)
                }));
            }
        }
    }
    assert!(files > 700, "{files}");
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn words_are_found_in_comments_only() {
    let words = |line: &str, start| comment(line, start).map(|text| avoided(text).count());
    let line = format!("let behind = 1; // {} it", AVOIDED[0].0);
    assert_eq!(words(&line, "//"), Some(1));
    assert_eq!(words("let behind = 1;", "//"), None);
    assert_eq!(words(" * Told by the caller.", "/*"), Some(1));
    assert_eq!(words("# retold, tellers, has_told", "#"), Some(0));
    assert_eq!(words("Nobody reads so many pages.", ""), Some(2));
}
