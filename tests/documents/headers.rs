//! Every function in the headers has a comment, and one that returns memory states its owner.

/// The headers that declare functions.
const HEADERS: [&str; 8] = [
    "b2nd.h",
    "b2store.h",
    "bcolz.h",
    "blosc.h",
    "blosc2.h",
    "blosc2/blosc2-stdio.h",
    "bloscpack.h",
    "ferroblosc.h",
];
/// Phrases that state the ownership of returned memory.
const OWNERSHIP: [&str; 9] =
    ["free", "owns", "own ", "belong", "caller", "destroy", "close", "stays where", "lasts until"];

/// Returns a header's documented functions: the comment, and the declaration on one line.
fn functions(header: &str) -> Vec<(String, String)> {
    let text = crate::text(&format!("include/{header}"));
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| {
        let first = line.split_whitespace().next().unwrap_or("");
        ["BLOSC_EXPORT", "FERROBLOSC_EXPORT"].contains(&first) || line.starts_with("static inline")
    });
    let function = |(start, _): (usize, &&str)| {
        let end = (start..lines.len()).find(|&at| lines[at].contains([';', '{'])).unwrap();
        let declaration = lines[start..=end].join(" ");
        let is_comment = |at: &usize| {
            let line = lines[*at].trim_start();
            line.starts_with("/**") || line.starts_with('*')
        };
        let comment: Vec<&str> =
            (0..start).rev().take_while(is_comment).map(|at| lines[at]).collect();
        (comment.into_iter().rev().collect::<Vec<_>>().join("\n"), declaration)
    };
    starts.map(function).collect()
}

/// Whether a function returns memory to its caller, directly or through a pointer argument.
fn hands_out(declaration: &str) -> bool {
    let (result, arguments) = declaration.split_once('(').unwrap();
    let is_array = |argument: &&str| {
        let names = ["selection", "sources", "names"];
        !names.iter().any(|name| argument.ends_with(name)) && !argument.contains("const *")
    };
    let stored = arguments.split(", ").filter(is_array).any(|argument| argument.contains("**"));
    result.contains('*') || stored
}

#[test]
fn every_function_has_a_comment() {
    let mut count = 0;
    for header in HEADERS {
        for (comment, declaration) in functions(header) {
            assert!(comment.len() > 30, "{header}: {declaration}: {comment}");
            count += 1;
        }
    }
    assert!(count > 250, "{count}");
}

#[test]
fn every_comment_on_returned_memory_states_its_owner() {
    for header in HEADERS {
        for (comment, declaration) in functions(header) {
            let says = OWNERSHIP.iter().any(|word| comment.to_lowercase().contains(word));
            // Functions of I/O backends are documented with the backends.
            let is_backend = header.ends_with("stdio.h");
            assert!(says || is_backend || !hands_out(&declaration), "{header}: {declaration}");
        }
    }
}
