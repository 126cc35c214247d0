//! JSON as read and written by Python's `json` module, the format of metadata.
//!
//! Extensions of the standard are `NaN`, `Infinity` and `-Infinity`. Key order is kept, integers
//! have any length, and output is ASCII, with Python's digits of floats. `serde_json` rejects the
//! extensions and formats floats differently.

use std::collections::HashMap;
use std::fmt;

/// The maximum nesting depth of lists and objects.
const MAX_DEPTH: usize = 200;

/// A JSON value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer in decimal digits.
    Int(String),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object with unique keys.
    Object(Vec<(String, Value)>),
}

/// An entry of an object whose unpaired surrogates are kept.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A name and a value.
    Value(String, Value),
    /// An entry with unpaired surrogates in its name or value, such as `"\ud800"`, which Python
    /// accepts, and which [`Value`] cannot represent.
    Raw {
        /// The name; if it contains surrogates, with the escapes of the text.
        name: String,
        /// Whether the surrogates are in the name.
        is_escaped: bool,
        /// The text of the value in the source.
        text: String,
    },
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The description.
    pub why: &'static str,
    /// The offset in the text, in bytes.
    pub at: usize,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.why, self.at)
    }
}

impl std::error::Error for JsonError {}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Int(number.to_string())
    }
}

impl Value {
    /// Returns an object with these entries in order.
    pub fn object<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
        let owned = entries.into_iter().map(|(key, value)| (key.to_owned(), value));
        Value::Object(owned.collect())
    }

    /// Parses a text.
    ///
    /// # Errors
    /// [`JsonError`]
    pub fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
        let text = str::from_utf8(bytes)
            .map_err(|error| JsonError { why: "not UTF-8", at: error.valid_up_to() })?;
        let mut parser = Parser { text, at: 0, surrogates: None };
        parser.skip_whitespace();
        let value = parser.value(0)?;
        parser.end()?;
        Ok(value)
    }

    /// Parses a text that is an object. Entries with unpaired surrogates are not parsed. Returns
    /// `None` if the text is another value.
    ///
    /// # Errors
    /// [`JsonError`]
    pub(crate) fn parse_entries(bytes: &[u8]) -> Result<Option<Vec<Entry>>, JsonError> {
        let text = str::from_utf8(bytes)
            .map_err(|error| JsonError { why: "not UTF-8", at: error.valid_up_to() })?;
        let mut parser = Parser { text, at: 0, surrogates: Some(false) };
        parser.skip_whitespace();
        if parser.peek() != Some(b'{') {
            return Value::parse(bytes).map(|_| None);
        }
        let entries = parser.entries()?;
        parser.end()?;
        Ok(Some(entries))
    }

    /// Formats the value without spaces.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.write((",", ":"), &mut text);
        text
    }

    /// Formats the value with a space after each comma and colon, the default of Python.
    pub fn to_spaced_json(&self) -> String {
        let mut text = String::new();
        self.write((", ", ": "), &mut text);
        text
    }

    fn write(&self, marks: (&str, &str), text: &mut String) {
        match self {
            Value::Null => text.push_str("null"),
            Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Value::Int(digits) => text.push_str(digits),
            Value::Float(number) if number.is_nan() => text.push_str("NaN"),
            Value::Float(number) if number.is_infinite() => {
                text.push_str(if *number > 0.0 { "Infinity" } else { "-Infinity" });
            }
            Value::Float(number) => text.push_str(&float_repr(*number)),
            Value::Text(value) => write_text(value, text),
            Value::List(items) => {
                text.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        text.push_str(marks.0);
                    }
                    item.write(marks, text);
                }
                text.push(']');
            }
            Value::Object(entries) => {
                text.push('{');
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i > 0 {
                        text.push_str(marks.0);
                    }
                    write_text(key, text);
                    text.push_str(marks.1);
                    value.write(marks, text);
                }
                text.push('}');
            }
        }
    }

    /// Returns the value of a key of an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Whether the value is true in Python.
    pub fn is_truthy(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(value) => *value,
            Value::Int(digits) => digits != "0",
            Value::Float(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Object(entries) => !entries.is_empty(),
        }
    }

    /// Returns the value as a number for comparisons.
    fn number(&self) -> Option<f64> {
        match self {
            Value::Bool(value) => Some(f64::from(u8::from(*value))),
            Value::Int(digits) => digits.parse().ok(),
            Value::Float(number) => Some(*number),
            _ => None,
        }
    }
}

/// Equality as in Python: key order is ignored, and `1`, `1.0` and `true` are equal.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Int(one), Value::Int(other)) => one == other,
            (Value::Text(one), Value::Text(other)) => one == other,
            (Value::List(one), Value::List(other)) => one == other,
            (Value::Object(one), Value::Object(entries)) => {
                one.len() == entries.len()
                    && one.iter().all(|(key, value)| other.get(key) == Some(value))
            }
            _ => match (self.number(), other.number()) {
                (Some(one), Some(other)) => one == other,
                _ => false,
            },
        }
    }
}

/// Returns the text of an object with these entries, with a space after each comma and colon.
pub(crate) fn text_of_entries(entries: &[Entry]) -> String {
    let text_of = |entry: &Entry| match entry {
        Entry::Value(name, value) => {
            let mut text = String::new();
            write_text(name, &mut text);
            text + ": " + &value.to_spaced_json()
        }
        Entry::Raw { name, is_escaped: true, text } => format!("\"{name}\": {text}"),
        Entry::Raw { name, is_escaped: false, text: value } => {
            let mut text = String::new();
            write_text(name, &mut text);
            text + ": " + value
        }
    };
    let texts: Vec<String> = entries.iter().map(text_of).collect();
    format!("{{{}}}", texts.join(", "))
}

fn write_text(value: &str, text: &mut String) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{C}' => text.push_str("\\f"),
            ' '..='~' => text.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    text.push('"');
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// Whether an unpaired surrogate was parsed; `None` if it is an error.
    surrogates: Option<bool>,
}

impl Parser<'_> {
    fn error(&self, why: &'static str) -> JsonError {
        JsonError { why, at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Fails if anything but whitespace follows.
    fn end(&mut self) -> Result<(), JsonError> {
        self.skip_whitespace();
        if self.at == self.text.len() { Ok(()) } else { Err(self.error("extra data")) }
    }

    /// Skips `token` if it is next. Returns whether it was.
    fn accept(&mut self, token: &str) -> bool {
        let is_next = self.text.as_bytes()[self.at..].starts_with(token.as_bytes());
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') if !self.text[self.at..].starts_with("-I") => self.number(),
            _ => self.constant(),
        }
    }

    fn constant(&mut self) -> Result<Value, JsonError> {
        let tokens = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("NaN", Value::Float(f64::NAN)),
            ("Infinity", Value::Float(f64::INFINITY)),
            ("-Infinity", Value::Float(f64::NEG_INFINITY)),
        ];
        for (token, value) in tokens {
            if self.accept(token) {
                return Ok(value);
            }
        }
        Err(self.error("no value"))
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        let mut indices: HashMap<String, usize> = HashMap::new();
        self.at += 1;
        self.skip_whitespace();
        let mut is_last = self.accept("}");
        while !is_last {
            let key = self.key()?;
            let value = self.value(depth + 1)?;
            // Duplicate keys keep the last value, at the position of the first.
            match indices.get(&key) {
                Some(&index) => entries[index].1 = value,
                None => {
                    indices.insert(key.clone(), entries.len());
                    entries.push((key, value));
                }
            }
            is_last = self.is_last_entry()?;
        }
        Ok(Value::Object(entries))
    }

    /// Parses the key of an entry and the colon.
    fn key(&mut self) -> Result<String, JsonError> {
        self.skip_whitespace();
        if self.peek() != Some(b'"') {
            return Err(self.error("no key"));
        }
        let key = self.string()?;
        self.skip_whitespace();
        if !self.accept(":") {
            return Err(self.error("no ':'"));
        }
        self.skip_whitespace();
        Ok(key)
    }

    /// Parses the end of an entry, and returns whether the object ends, too.
    fn is_last_entry(&mut self) -> Result<bool, JsonError> {
        self.skip_whitespace();
        if self.accept("}") {
            return Ok(true);
        }
        if self.accept(",") { Ok(false) } else { Err(self.error("no ','")) }
    }

    /// Parses the object at the top level.
    fn entries(&mut self) -> Result<Vec<Entry>, JsonError> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut indices: HashMap<(String, bool), usize> = HashMap::new();
        self.at += 1;
        self.skip_whitespace();
        let mut is_last = self.accept("}");
        while !is_last {
            self.surrogates = Some(false);
            self.skip_whitespace();
            let start = self.at;
            let mut name = self.key()?;
            let is_escaped = self.surrogates == Some(true);
            if is_escaped {
                let quoted =
                    self.text[start..self.at].trim_end_matches([':', ' ', '\t', '\n', '\r']);
                name = quoted[1..quoted.len() - 1].to_owned();
            }
            let start = self.at;
            let value = self.value(1)?;
            let key = (name.clone(), is_escaped);
            let entry = if self.surrogates == Some(true) {
                Entry::Raw { name, is_escaped, text: self.text[start..self.at].to_owned() }
            } else {
                Entry::Value(name, value)
            };
            // As for other objects.
            match indices.get(&key) {
                Some(&index) => entries[index] = entry,
                None => {
                    indices.insert(key, entries.len());
                    entries.push(entry);
                }
            }
            is_last = self.is_last_entry()?;
        }
        Ok(entries)
    }

    fn list(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_whitespace();
        if self.accept("]") {
            return Ok(Value::List(items));
        }
        loop {
            self.skip_whitespace();
            items.push(self.value(depth + 1)?);
            self.skip_whitespace();
            if self.accept("]") {
                return Ok(Value::List(items));
            }
            if !self.accept(",") {
                return Err(self.error("no ','"));
            }
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        self.accept("-");
        if !self.accept("0") && self.digits() == 0 {
            return Err(self.error("no digits"));
        }
        let integer_end = self.at;
        for marks in [&["."][..], &["e", "E"][..]] {
            let before = self.at;
            if marks.iter().any(|mark| self.accept(mark)) {
                if marks.len() > 1 && !self.accept("-") {
                    self.accept("+");
                }
                // Without digits the mark is not part of the number and causes an error later.
                if self.digits() == 0 {
                    self.at = before;
                }
            }
        }
        let text = &self.text[start..self.at];
        if self.at > integer_end {
            let number = text.parse().map_err(|_| self.error("no number"))?;
            return Ok(Value::Float(number));
        }
        Ok(Value::Int(if text == "-0" { "0" } else { text }.to_owned()))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let mut value = String::new();
        self.at += 1;
        loop {
            let Some(c) = self.text[self.at..].chars().next() else {
                return Err(self.error("an unterminated string"));
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(value);
                }
                '\\' => value.push(self.escape()?),
                '\0'..='\u{1F}' => return Err(self.error("a control character")),
                _ => {
                    self.at += c.len_utf8();
                    value.push(c);
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let escapes = [
            ("\"", '"'),
            ("\\", '\\'),
            ("/", '/'),
            ("n", '\n'),
            ("r", '\r'),
            ("t", '\t'),
            ("b", '\u{8}'),
            ("f", '\u{C}'),
        ];
        for (name, c) in escapes {
            if self.accept(name) {
                return Ok(c);
            }
        }
        let first = self.unit()?;
        let end = self.at;
        let units = if (0xD800..0xDC00).contains(&first) && self.accept("\\") {
            // Another escape is not a part of the pair.
            vec![first, if self.peek() == Some(b'u') { self.unit()? } else { 0 }]
        } else {
            vec![first]
        };
        let mut decoded = char::decode_utf16(units);
        match (decoded.next(), decoded.next(), &mut self.surrogates) {
            (Some(Ok(c)), None, _) => Ok(c),
            (_, _, Some(found)) => {
                *found = true;
                self.at = end;
                Ok(char::REPLACEMENT_CHARACTER)
            }
            (_, _, None) => Err(self.error("an unpaired surrogate")),
        }
    }

    /// Parses `u` and four hexadecimal digits.
    fn unit(&mut self) -> Result<u16, JsonError> {
        if !self.accept("u") {
            return Err(self.error("an unknown escape"));
        }
        let digits = self.text.get(self.at..self.at + 4);
        let unit = digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.error("four hexadecimal digits are expected"))?;
        self.at += 4;
        Ok(unit)
    }
}

/// Returns the shortest representation of a float that parses to the same number.
pub(super) fn float_repr(number: f64) -> String {
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
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        Value::parse(text.as_bytes()).unwrap().to_json()
    }

    #[test]
    fn values_are_formatted_like_python() {
        // The expected texts are the output of json.dumps(json.loads(text), separators=(',', ':')).
        for (text, expected) in [
            (r#"{"b": 1, "a": [1, 2 , 3], "b": 2}"#, r#"{"b":2,"a":[1,2,3]}"#),
            (r#" "abc" "#, r#""abc""#),
            ("\"v\u{e9}\u{1f600}\"", r#""v\u00e9\ud83d\ude00""#),
            (r#""\ud83d\ude00\/\b\f\n\r\t\"\\\u007f""#, r#""\ud83d\ude00/\b\f\n\r\t\"\\\u007f""#),
            ("[NaN,Infinity,-Infinity]", "[NaN,Infinity,-Infinity]"),
            ("[1.50,1e5,1e16,1E-7,-0,-0.0,1e999]", "[1.5,100000.0,1e+16,1e-07,0,-0.0,Infinity]"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("[null,true,false,{},[]]", "[null,true,false,{},[]]"),
        ] {
            assert_eq!(rewritten(text), expected, "{text}");
        }
    }

    #[test]
    fn invalid_json_is_rejected() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{a:1}",
            "01",
            "1.",
            "-",
            ".5",
            "+1",
            "nul",
            "\"a",
            "\"\n\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "[1] 2",
            "[1 2]",
            "{\"a\":1 \"b\":2}",
            "\"\\u12g4\"",
            "'a'",
            "1e",
            "\u{feff}1",
        ] {
            assert!(Value::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Value::parse(b"\"\xff\"").is_err());
        assert!(Value::parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn entries_with_unpaired_surrogates_keep_their_text() {
        let text_of = |text: &str| {
            let entries = Value::parse_entries(text.as_bytes()).unwrap();
            entries.map(|entries| text_of_entries(&entries))
        };
        // Python accepts all of these.
        for text in [
            r#"{"x": "\ud800", "ok": 7}"#,
            r#"{"\udc00k": [1, {"\uD83d": "\ude00\ud83d"}], "k": ""}"#,
            r#"{"a": "\ud83d\ud83d\ude00", "b": "\ud800\n", "c": "\ud800x", "d": "\ud83d\ude00"}"#,
            "{}",
        ] {
            assert_eq!(text_of(text).as_deref(), Some(text));
        }
        let twice = r#"{"a":"\ud800","b":"\udfff","\ud800"  :1,"a":1,"\ud800":2,"b":"\ud801"}"#;
        let once = r#"{"a": 1, "b": "\ud801", "\ud800": 2}"#;
        assert_eq!(text_of(twice).as_deref(), Some(once));
        assert_eq!(text_of(" [1] "), None);
        for text in
            ["{", r#"{"a":"\ud800}"#, r#"{"a":"\ud800\x"}"#, r#"{"\ud800" 1}"#, "{} 1", "[", "1 2"]
        {
            assert!(Value::parse_entries(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_true_or_false_as_in_python() {
        for (text, is_true) in [
            ("null", false),
            ("true", true),
            ("0", false),
            ("-0", false),
            ("7", true),
            ("0.0", false),
            ("-0.0", false),
            ("NaN", true),
            ("\"\"", false),
            ("\"0\"", true),
            ("[]", false),
            ("[0]", true),
            ("{}", false),
            ("{\"\":0}", true),
        ] {
            assert_eq!(Value::parse(text.as_bytes()).unwrap().is_truthy(), is_true, "{text}");
        }
    }

    #[test]
    fn values_are_compared_like_python() {
        let same = |one: &str, other: &str| {
            Value::parse(one.as_bytes()).unwrap() == Value::parse(other.as_bytes()).unwrap()
        };
        assert!(same(r#"{"a":1,"b":[2]}"#, r#"{"b":[2.0],"a":true}"#));
        assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":2}"#));
        assert!(!same("NaN", "NaN"));
        assert!(!same("null", "false"));
        assert!(!same("\"1\"", "1"));
        assert!(!same("{}", "[]"));
        assert!(same("-0", "0") && same("-0.0", "false"));
    }
}
