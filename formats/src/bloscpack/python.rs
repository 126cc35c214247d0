//! Formats values like Python: metadata are printed like `pprint`.

use super::json::{Value, float_repr};
use crate::numpy::text_repr;

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
            Value::Object(entries) => {
                entries.iter().map(|(key, value)| (key.as_str(), value)).collect()
            }
            _ => Vec::new(),
        };
        entries.sort_by_key(|entry| entry.0);
        entries
    }

    /// Formats the value in lines of at most `width` characters, where possible.
    pub fn pretty(&self, width: usize) -> String {
        let mut printer = Printer { text: String::new(), width };
        printer.value(self, Position { column: 0, trailing: 0, is_outermost: true });
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
        let available = self.width.saturating_sub(position.column + position.trailing);
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
        assert_eq!(value(r#""one two three""#).pretty(10), "('one '\n 'two '\n 'three')");
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
}
