//! Escapes untrusted text for terminals.
//!
//! Names and texts in files can contain control characters, which move the cursor, change the
//! window title or end the line, and marks that change the direction of the following text. All of
//! these are replaced by escapes: `\n`, `\u{1b}`.
//!
//! ```
//! use ferroblosc::escape::escape;
//!
//! assert_eq!(escape("a name\x1b[31m"), "a name\\u{1b}[31m");
//! ```

use std::borrow::Cow;

/// Whether a terminal or an editor interprets a character instead of displaying it.
pub fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Directional marks, embeddings, overrides and isolates.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Line and paragraph separators, and zero-width characters.
            | '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the text with escapes for all characters that [`is_active`] matches. A text without such
/// characters is borrowed.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_active(c) {
            escaped.extend(c.escape_default());
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

/// Returns a JSON text with JSON escapes for active characters, except `\n`, `\r` and `\t`, which
/// valid JSON contains only between values. All other active characters are inside strings.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    let is_active = |c: char| is_active(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_active(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_direction_marks_are_escaped() {
        for (text, expected) in [
            ("plain é 漢 🦀", "plain é 漢 🦀"),
            ("a\x1b[31mb", "a\\u{1b}[31mb"),
            ("two\nlines\t", "two\\nlines\\t"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}"),
            ("\u{202e}gpj.exe", "\\u{202e}gpj.exe"),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("\u{2028}", "\\u{2028}"),
        ] {
            assert_eq!(escape(text), expected);
        }
    }

    #[test]
    fn json_keeps_its_lines_and_its_values() {
        let text = "{\n  \"a\": \"\u{9b}\u{202e}\u{e0041}\"\n}";
        assert_eq!(escape_json(text), "{\n  \"a\": \"\\u009b\\u202e\\udb40\\udc41\"\n}");
    }
}
