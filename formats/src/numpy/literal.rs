//! Python literals: strings, numbers, booleans, lists, tuples and dictionaries. No JSON parser
//! reads them, because of their quotes, tuples and prefixes.

/// Returns a string in quotes.
pub fn text_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut repr = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => repr.push_str("\\\\"),
            '\n' => repr.push_str("\\n"),
            '\r' => repr.push_str("\\r"),
            '\t' => repr.push_str("\\t"),
            _ if c == quote => {
                repr.push('\\');
                repr.push(c);
            }
            _ if is_printable(c) => repr.push(c),
            _ => {
                let code = u32::from(c);
                let escaped = match code {
                    0..=0xFF => format!("\\x{code:02x}"),
                    0x100..=0xFFFF => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                };
                repr.push_str(&escaped);
            }
        }
    }
    repr.push(quote);
    repr
}

fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        _ if c.is_ascii() || c.is_whitespace() || c == '\u{AD}' => false,
        // `escape_debug` escapes combining characters only at the start of a string.
        _ => "x".chars().chain([c]).collect::<String>().escape_debug().count() == 2,
    }
}

/// A Python literal of the types needed to describe an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A string or bytes.
    Text(String),
    /// A non-negative integer.
    Int(u64),
    /// `True` or `False`.
    Bool(bool),
    /// A list.
    List(Vec<Literal>),
    /// A tuple.
    Tuple(Vec<Literal>),
    /// A dictionary with string keys.
    Dict(Vec<(String, Literal)>),
}

/// The maximum nesting depth of lists and tuples.
const MAX_DEPTH: usize = 64;

impl Literal {
    /// Parses a literal, or returns `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Literal> {
        let mut parser = Parser { rest: text };
        let literal = parser.literal(0)?;
        parser.skip_whitespace();
        parser.rest.is_empty().then_some(literal)
    }

    /// Formats the literal like Python.
    pub fn repr(&self) -> String {
        let joined = |items: &[Literal]| -> String {
            let items: Vec<_> = items.iter().map(Literal::repr).collect();
            items.join(", ")
        };
        match self {
            Literal::Text(text) => text_repr(text),
            Literal::Int(number) => number.to_string(),
            Literal::Bool(value) => (if *value { "True" } else { "False" }).to_owned(),
            Literal::List(items) => format!("[{}]", joined(items)),
            Literal::Tuple(items) if items.len() == 1 => format!("({},)", joined(items)),
            Literal::Tuple(items) => format!("({})", joined(items)),
            Literal::Dict(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{}: {}", text_repr(key), value.repr()))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    fn skip_whitespace(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn accept(&mut self, mark: &str) -> bool {
        self.skip_whitespace();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn literal(&mut self, depth: usize) -> Option<Literal> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_whitespace();
        for (token, value) in [("True", true), ("False", false)] {
            if self.accept(token) {
                return Some(Literal::Bool(value));
            }
        }
        match self.rest.chars().next()? {
            '[' => {
                self.accept("[");
                Some(Literal::List(self.items("]", depth)?.0))
            }
            '(' => {
                self.accept("(");
                let (mut items, has_comma) = self.items(")", depth)?;
                // Parentheses around a single item without a comma only group.
                if items.len() == 1 && !has_comma {
                    return items.pop();
                }
                Some(Literal::Tuple(items))
            }
            '{' => {
                self.accept("{");
                self.entries(depth)
            }
            '0'..='9' => self.number(),
            _ => Some(Literal::Text(self.text()?)),
        }
    }

    /// Parses items up to `end`. The second result is whether there was a comma.
    fn items(&mut self, end: &str, depth: usize) -> Option<(Vec<Literal>, bool)> {
        let mut items = Vec::new();
        let mut has_comma = false;
        while !self.accept(end) {
            items.push(self.literal(depth + 1)?);
            if self.accept(",") {
                has_comma = true;
            } else if self.accept(end) {
                break;
            } else {
                return None;
            }
        }
        Some((items, has_comma))
    }

    fn entries(&mut self, depth: usize) -> Option<Literal> {
        let mut entries = Vec::new();
        while !self.accept("}") {
            self.skip_whitespace();
            let key = self.text()?;
            if !self.accept(":") {
                return None;
            }
            entries.push((key, self.literal(depth + 1)?));
            if !self.accept(",") {
                if self.accept("}") {
                    break;
                }
                return None;
            }
        }
        Some(Literal::Dict(entries))
    }

    fn number(&mut self) -> Option<Literal> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        // Python 2 appends `L` to long integers.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        Some(Literal::Int(digits.parse().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let rest = self.rest.trim_start_matches(['u', 'b', 'U', 'B']);
        if self.rest.len() - rest.len() > 1 {
            return None;
        }
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                _ if c == quote => {
                    self.rest = &rest[at + 1..];
                    return Some(text);
                }
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    kind @ ('x' | 'u' | 'U') => {
                        let len = match kind {
                            'x' => 2,
                            'u' => 4,
                            _ => 8,
                        };
                        let mut digits = String::new();
                        for _ in 0..len {
                            digits.push(
                                chars.next().map(|(_, c)| c).filter(char::is_ascii_hexdigit)?,
                            );
                        }
                        text.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                    }
                    other @ ('\\' | '\'' | '"') => text.push(other),
                    _ => return None,
                },
                '\n' => return None,
                _ => text.push(c),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_formatted_like_python() {
        assert_eq!(text_repr("it's"), "\"it's\"");
        assert_eq!(text_repr("'\"\\\n"), r#"'\'"\\\n'"#);
        assert_eq!(
            text_repr("é\u{301}\u{7f}\u{a0}\u{200b}\u{e000}"),
            "'é\u{301}\\x7f\\xa0\\u200b\\ue000'"
        );
    }

    #[test]
    fn literals_of_dtypes_are_parsed_and_formatted() {
        for text in [
            "'<f8'",
            "[('a', '|S1'), ('b', '<f8')]",
            "[('year', '<i4'), ('c', [('iso', '|S3'), ('v', '<f4', (2,))])]",
            "[(('T', 'a'), '<i4'), ('', '|V7')]",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}",
            "()",
        ] {
            assert_eq!(Literal::parse(text).unwrap().repr(), text);
        }
        let old = Literal::parse("[(u'a', b'|S1'), (\"b\", '<f8', (2L,))]").unwrap();
        assert_eq!(old.repr(), "[('a', '|S1'), ('b', '<f8', (2,))]");
        assert_eq!(Literal::parse("(1)").unwrap(), Literal::Int(1));
        for text in
            ["", "<f8", "['a'", "[1 2]", "a()", "'a", "__import__('os')", "{1: 2}", "'a' 'b'"]
        {
            assert_eq!(Literal::parse(text), None, "{text}");
        }
        assert_eq!(Literal::parse(&"[".repeat(10_000)), None);
    }

    #[test]
    fn escapes_in_strings_are_those_of_python() {
        let text = Literal::parse(r#"'\x41\u00e9\U0001f980\n\r\t\\\'\"'"#);
        assert_eq!(text, Some(Literal::Text("Aé🦀\n\r\t\\'\"".to_owned())));
        let repr = Literal::Text("\u{1}\u{2028}\u{e0001}".to_owned()).repr();
        assert_eq!(repr, r"'\x01\u2028\U000e0001'");
        assert_eq!(Literal::parse(&repr).unwrap().repr(), repr);
        for text in [
            r"'\x4'",
            r"'\x+4'",
            r"'\x4g'",
            r"'\q'",
            r"'\ud800'",
            r"'\U00110000'",
            r"'\",
            "'a\nb'",
            "uu'a'",
            "ub'a'",
            "{'a' 1}",
            "{'a': 1 'b': 2}",
            "{'a': 1,",
            "(1,,2)",
            "(,)",
            "99999999999999999999",
        ] {
            assert_eq!(Literal::parse(text), None, "{text}");
        }
    }
}
