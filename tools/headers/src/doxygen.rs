//! Turns the documentation of functions into Doxygen's commands.
//!
//! | in the Rust documentation | in the header |
//! |---|---|
//! | a list item ``- `name`: text`` | `@param name text` |
//! | a paragraph, except the first, that starts with `Returns` | `@return` and the rest of it |
//! | a first sentence that starts with `Returns`, of a function | the same, and `@return` at the end |
//!
//! Commands that become longer than a line are wrapped again.

/// The maximum line length of a header.
pub const LINE_LENGTH: usize = 100;

/// The maximum length of a line of a comment after its asterisk.
const MAX_LENGTH: usize = LINE_LENGTH - " * ".len();

/// Returns the text of a header with the commands in its comments.
pub fn with_commands(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let lines: Vec<String> = commands(text);
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        out.push_str(line);
        out.push('\n');
        rest = after;
        if line != "/**" {
            continue;
        }
        let Some(end) = after.iter().position(|line| line.trim() == "*/") else { continue };
        let (block, following) = after.split_at(end);
        let mut content: Vec<String> = block
            .iter()
            .map(|line| line.strip_prefix(" *").unwrap_or(line))
            .map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned())
            .collect();
        if is_function(&following[1..]) {
            add_result(&mut content);
        }
        for line in wrapped(&content) {
            out.push_str(format!(" * {line}").trim_end());
            out.push('\n');
        }
        rest = following;
    }
    out
}

/// Returns the lines of a header, with the commands that one line determines.
fn commands(text: &str) -> Vec<String> {
    // Whether the preceding line is empty except for the asterisk.
    let mut is_paragraph = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let (indent, content) = comment(line).unwrap_or(("", line));
        lines.push(match (parameter(content), content.strip_prefix("Returns ")) {
            (Some((name, text)), _) if !indent.is_empty() => {
                format!("{indent}@param {name} {text}")
            }
            (_, Some(text)) if is_paragraph => format!("{indent}@return {}", capitalised(text)),
            _ => line.to_owned(),
        });
        is_paragraph = line.trim() == "*";
    }
    lines
}

/// Whether the lines start with the declaration of a function.
fn is_function(lines: &[String]) -> bool {
    let mut declaration = String::new();
    for line in lines.iter().take_while(|line| !line.is_empty()) {
        declaration.push_str(line);
        if line.contains([';', '{']) {
            break;
        }
    }
    let is_other = declaration.starts_with("typedef") || declaration.starts_with('#');
    !is_other && declaration.contains('(')
}

/// Adds the result to the comment of a function whose summary states it.
fn add_result(content: &mut Vec<String>) {
    let is_summary = content.first().is_some_and(|line| line.starts_with("Returns "));
    if !is_summary || content.iter().any(|line| line.starts_with("@return ")) {
        return;
    }
    let summary: Vec<&str> =
        content.iter().map(String::as_str).take_while(|line| !line.is_empty()).collect();
    let summary = summary.join(" ");
    let end = summary.find(". ").map_or(summary.len(), |dot| dot + 1);
    let result = capitalised(&summary["Returns ".len()..end]);
    content.extend([String::new(), format!("@return {result}")]);
}

/// Wraps the commands that have lines above the maximum length.
fn wrapped(content: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = content;
    while let Some((first, after)) = rest.split_first() {
        let len = if first.starts_with('@') {
            after.iter().take_while(|line| !line.is_empty() && !line.starts_with('@')).count()
        } else {
            0
        };
        let item = &rest[..=len];
        rest = &rest[1 + len..];
        if item.iter().all(|line| line.chars().count() <= MAX_LENGTH) {
            lines.extend_from_slice(item);
            continue;
        }
        let indent = if first.starts_with("@param") { "  " } else { "" };
        let mut line = String::new();
        for word in item.iter().flat_map(|line| line.split_whitespace()) {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > MAX_LENGTH {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Returns the text with an uppercase first letter.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Splits a line of a comment after its asterisk.
fn comment(line: &str) -> Option<(&str, &str)> {
    let asterisk = line.find(|c: char| c != ' ')?;
    line[asterisk..].starts_with("* ").then(|| line.split_at(asterisk + 2))
}

/// Returns the name and the text of a list item that documents a parameter.
fn parameter(content: &str) -> Option<(&str, &str)> {
    content.strip_prefix("- `")?.split_once("`: ")
}

#[cfg(test)]
mod tests {
    use super::with_commands;

    #[test]
    fn parameters_and_results_become_commands() {
        let text = "/**\n * Copies items.\n *\n * - `dest`: buffer of `n` bytes,\n *   owned by the \
                    caller.\n *\n * Returns 0, or an error code.\n */\nint copy(void *dest);\n";
        let expected = "/**\n * Copies items.\n *\n * @param dest buffer of `n` bytes,\n *   owned \
                        by the caller.\n *\n * @return 0, or an error code.\n */\nint copy(void \
                        *dest);\n";
        assert_eq!(with_commands(text), expected);
    }

    #[test]
    fn the_result_in_a_summary_is_repeated_after_the_parameters() {
        let text = "/**\n * Returns the version\n * of a file. It is at least 1.\n *\n \
                    * - `path`: the path.\n */\nint\nversion(const char *path);\n";
        let expected = "/**\n * Returns the version\n * of a file. It is at least 1.\n *\n \
                        * @param path the path.\n *\n * @return The version of a file.\n */\nint\n\
                        version(const char *path);\n";
        assert_eq!(with_commands(text), expected);
        for other in ["typedef int (*version)(void);", "int version;", "#define VERSION(n) n"] {
            let text = format!("/**\n * Returns the version.\n */\n{other}\n");
            assert_eq!(with_commands(&text), text);
        }
    }

    #[test]
    fn a_long_command_is_wrapped() {
        let word = "w".repeat(20);
        let text = format!(
            "/**\n * - `a`: {word} {word} {word} {word} xyzxyz\n *   {word}\n */\nint a;\n"
        );
        let expected = format!(
            "/**\n * @param a {word} {word} {word} {word}\n *   xyzxyz {word}\n */\nint a;\n"
        );
        assert_eq!(with_commands(&text), expected);
    }

    #[test]
    fn declarations_are_not_changed() {
        let text = "int a(void);\n\nReturns nothing\n- `a`: b\n";
        assert_eq!(with_commands(text), text);
    }
}
