//! Formats values like Python, and parses Python literals.
//!
//! Metadata are printed like `pprint`, and the dtype of an array is stored as a literal.

use std::borrow::Cow;

use super::json::Value;

/// Returns the shortest representation of a float that parses to the same number.
pub fn float_repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // The digits and the exponent of the first digit: d.ddde-7.
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Python uses exponents outside this range.
    if (-4..16).contains(&exponent) {
        let plain = format!("{number}");
        return if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// Returns a string in quotes.
pub fn text_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
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
        _ => {
            "x".chars()
                .chain([c])
                .collect::<String>()
                .escape_debug()
                .count()
                == 2
        }
    }
}

impl Value {
    /// Formats the value on one line.
    pub fn repr(&self) -> String {
        match self {
            Value::Null => "None".to_owned(),
            Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
            Value::Int(digits) => digits.clone(),
            Value::Float(number) => float_repr(*number),
            Value::Text(text) => text_repr(text),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Value::repr).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Object(_) => {
                let entries: Vec<String> = self
                    .sorted()
                    .iter()
                    .map(|(key, value)| format!("{}: {}", text_repr(key), value.repr()))
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    /// Returns the entries of an object, sorted by key.
    fn sorted(&self) -> Vec<(&str, &Value)> {
        let mut entries: Vec<(&str, &Value)> = match self {
            Value::Object(entries) => entries
                .iter()
                .map(|(key, value)| (key.as_str(), value))
                .collect(),
            _ => Vec::new(),
        };
        entries.sort_by_key(|entry| entry.0);
        entries
    }

    /// Formats the value in lines of at most `width` characters, where possible.
    pub fn pretty(&self, width: usize) -> String {
        let mut printer = Printer {
            text: String::new(),
            width,
        };
        printer.value(
            self,
            Position {
                column: 0,
                trailing: 0,
                is_outermost: true,
            },
        );
        printer.text
    }
}

/// The layout context of a value.
#[derive(Clone, Copy)]
struct Position {
    /// The start column.
    column: usize,
    /// The number of characters after the value on its last line.
    trailing: usize,
    is_outermost: bool,
}

struct Printer {
    text: String,
    width: usize,
}

impl Printer {
    fn new_line(&mut self, column: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', column));
    }

    fn value(&mut self, value: &Value, position: Position) {
        let line = value.repr();
        let available = self
            .width
            .saturating_sub(position.column + position.trailing);
        if line.chars().count() <= available {
            self.text.push_str(&line);
            return;
        }
        match value {
            Value::List(items) if !items.is_empty() => {
                let entries: Vec<_> = items.iter().map(|item| (String::new(), item)).collect();
                self.entries(('[', ']'), &entries, position);
            }
            Value::Object(entries) if !entries.is_empty() => {
                let entries: Vec<_> = value
                    .sorted()
                    .into_iter()
                    .map(|(key, value)| (format!("{}: ", text_repr(key)), value))
                    .collect();
                self.entries(('{', '}'), &entries, position);
            }
            Value::Text(text) => self.long_text(text, &line, position),
            _ => self.text.push_str(&line),
        }
    }

    /// Writes the entries of a list or an object on one line each.
    fn entries(
        &mut self,
        brackets: (char, char),
        entries: &[(String, &Value)],
        position: Position,
    ) {
        let column = position.column + 1;
        self.text.push(brackets.0);
        for (i, (key, value)) in entries.iter().enumerate() {
            if i > 0 {
                self.text.push(',');
                self.new_line(column);
            }
            self.text.push_str(key);
            let is_last = i + 1 == entries.len();
            let position = Position {
                column: column + key.chars().count(),
                // A comma, or the bracket and its trailing characters.
                trailing: if is_last { position.trailing + 1 } else { 1 },
                is_outermost: false,
            };
            self.value(value, position);
        }
        self.text.push(brackets.1);
    }

    /// Writes a string as several literals, which Python concatenates: split at newlines, then
    /// between words.
    fn long_text(&mut self, text: &str, line: &str, position: Position) {
        let bracket = usize::from(position.is_outermost);
        let column = position.column + bracket;
        let available = self.width.saturating_sub(column);
        let trailing = position.trailing + bracket;
        let mut literals = Vec::new();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (i, line) in lines.iter().enumerate() {
            let is_last_line = i + 1 == lines.len();
            let words = words_of(line);
            let mut literal = String::new();
            for (j, word) in words.iter().enumerate() {
                let is_last = is_last_line && j + 1 == words.len();
                let available = available.saturating_sub(if is_last { trailing } else { 0 });
                let extended = format!("{literal}{word}");
                if text_repr(&extended).chars().count() > available && !literal.is_empty() {
                    literals.push(text_repr(&literal));
                    literal = (*word).to_owned();
                } else {
                    literal = extended;
                }
            }
            if !literal.is_empty() {
                literals.push(text_repr(&literal));
            }
        }
        if literals.len() < 2 {
            self.text.push_str(line);
            return;
        }
        if position.is_outermost {
            self.text.push('(');
        }
        for (i, literal) in literals.iter().enumerate() {
            if i > 0 {
                self.new_line(column);
            }
            self.text.push_str(literal);
        }
        if position.is_outermost {
            self.text.push(')');
        }
    }
}

/// Splits a line into words with their trailing whitespace.
fn words_of(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let whitespace = rest[word..].find(|c: char| !c.is_whitespace());
        let end = whitespace.map_or(rest.len(), |whitespace| word + whitespace);
        let (word, trailing) = rest.split_at(end);
        words.push(word);
        rest = trailing;
    }
    words
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
    pub fn repr(&self) -> Cow<'static, str> {
        let joined = |items: &[Literal]| -> String {
            let items: Vec<_> = items.iter().map(Literal::repr).collect();
            items.join(", ")
        };
        match self {
            Literal::Text(text) => text_repr(text).into(),
            Literal::Int(number) => number.to_string().into(),
            Literal::Bool(value) => (if *value { "True" } else { "False" }).into(),
            Literal::List(items) => format!("[{}]", joined(items)).into(),
            Literal::Tuple(items) if items.len() == 1 => format!("({},)", joined(items)).into(),
            Literal::Tuple(items) => format!("({})", joined(items)).into(),
            Literal::Dict(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| format!("{}: {}", text_repr(key), value.repr()))
                    .collect();
                format!("{{{}}}", entries.join(", ")).into()
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
                            digits.push(chars.next()?.1);
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
    fn floats_are_formatted_like_python() {
        for (number, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123_456.789, "123456.789"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(float_repr(number), text);
        }
    }

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
    fn lines_are_broken_like_pprint() {
        // The expected texts are the output of pprint.pformat(value, width=…).
        let value = |text: &str| Value::parse(text.as_bytes()).unwrap();
        let small = value(r#"{"shape":[200000000],"dtype":"float64","container":"numpy"}"#);
        assert_eq!(
            small.pretty(90),
            "{'container': 'numpy', 'dtype': 'float64', 'shape': [200000000]}"
        );
        assert_eq!(
            small.pretty(30),
            "{'container': 'numpy',\n 'dtype': 'float64',\n 'shape': [200000000]}"
        );
        assert_eq!(value("[[1,2],[3,4]]").pretty(8), "[[1, 2],\n [3, 4]]");
        assert_eq!(value("[11,22,33]").pretty(9), "[11,\n 22,\n 33]");
        assert_eq!(
            value(r#"{"key":"some words that are long"}"#).pretty(20),
            "{'key': 'some '\n        'words '\n        'that are '\n        'long'}"
        );
        assert_eq!(
            value(r#""one two three""#).pretty(10),
            "('one '\n 'two '\n 'three')"
        );
    }

    #[test]
    fn values_are_formatted_like_pprint() {
        // Each line contains a value in the format of json.dumps, a width, and the output of
        // pprint.pformat.
        let lines = include_str!("../../tests/data/bloscpack/pprint.jsonl");
        for line in lines.lines() {
            let Value::List(line) = Value::parse(line.as_bytes()).unwrap() else {
                panic!("a line is a list");
            };
            let [Value::Text(json), Value::Int(width), Value::Text(shown)] = &line[..] else {
                panic!("a line has three parts");
            };
            let value = Value::parse(json.as_bytes()).unwrap();
            assert_eq!(&value.to_json(), json);
            assert_eq!(&value.pretty(width.parse().unwrap()), shown, "{json}");
        }
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
        for text in [
            "",
            "<f8",
            "['a'",
            "[1 2]",
            "a()",
            "'a",
            "__import__('os')",
            "{1: 2}",
            "'a' 'b'",
        ] {
            assert_eq!(Literal::parse(text), None, "{text}");
        }
        assert_eq!(Literal::parse(&"[".repeat(10_000)), None);
    }
}
