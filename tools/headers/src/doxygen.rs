//! Turns the documentation of functions into Doxygen's commands.
//!
//! | in the Rust documentation | in the header |
//! |---|---|
//! | a list item ``- `name`: text`` | `@param name text` |
//! | a paragraph, except the first, that starts with `Returns` | `@return` and the rest of it |

/// Returns the text of a header with the commands in its comments.
pub fn with_commands(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Whether the preceding line is empty except for the asterisk.
    let mut is_paragraph = false;
    for line in text.lines() {
        let (indent, content) = comment(line).unwrap_or(("", line));
        match (parameter(content), content.strip_prefix("Returns ")) {
            (Some((name, text)), _) if !indent.is_empty() => {
                out.push_str(&format!("{indent}@param {name} {text}"));
            }
            (_, Some(text)) if is_paragraph => {
                let mut letters = text.chars();
                let first = letters.next().map(|letter| letter.to_ascii_uppercase());
                out.push_str(&format!("{indent}@return {}", first.unwrap_or_default()));
                out.push_str(letters.as_str());
            }
            _ => out.push_str(line),
        }
        out.push('\n');
        is_paragraph = line.trim() == "*";
    }
    out
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
    fn a_first_paragraph_stays_a_summary() {
        let text = "/**\n * Returns the version.\n */\nint version(void);\n";
        assert_eq!(with_commands(text), text);
    }

    #[test]
    fn code_is_not_changed() {
        let text = "int a(void);\n\nReturns nothing\n- `a`: b\n";
        assert_eq!(with_commands(text), text);
    }
}
