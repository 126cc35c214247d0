//! Conditions on the rows of a table, and their text form.
//!
//! ```text
//! condition  = conjunction { ("or" | "||") conjunction }
//! conjunction = term { ("and" | "&&") term }
//! term       = "(" condition ")" | column operator literal | column "is" [ "not" ] "null"
//! operator   = "==" | "=" | "!=" | "<>" | "<" | "<=" | ">" | ">="
//! literal    = number | "true" | "false" | text | "b" text
//! text       = characters in '…' or "…", with \' \" \\ \n \r \t \xHH
//! column     = letters, digits, "_" and "." not starting with a digit, or any name in `…`
//! ```

use std::fmt;

use crate::store::error::{Error, Result};
use crate::store::value::Value;

/// The maximum nesting depth of parentheses.
const MAX_DEPTH: usize = 64;

/// A comparison of a value with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Not equal. NaN is not equal to any number.
    Ne,
    /// Less than.
    Lt,
    /// At most.
    Le,
    /// Greater than.
    Gt,
    /// At least.
    Ge,
}

/// A condition on the rows of a table. Comparisons with nulls are false, also [`Comparison::Ne`].
///
/// ```
/// use ferroblosc_formats::store::{Comparison, Filter, Value};
///
/// let filter = Filter::parse("day >= 3 and (name == 'x' or price is null)")?;
/// let days = Filter::compare("day", Comparison::Ge, Value::Int(3));
/// let names = Filter::compare("name", Comparison::Eq, Value::Str("x".to_owned()));
/// assert_eq!(filter, days.and(names.or(Filter::IsNull("price".to_owned()))));
/// # Ok::<(), ferroblosc_formats::store::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// The values of a column that compare with a constant: a number, a boolean, a text or bytes.
    Compare {
        /// The name of the column.
        column: String,
        /// The comparison.
        comparison: Comparison,
        /// The constant.
        value: Value,
    },
    /// The nulls of a column.
    IsNull(String),
    /// The values of a column that are not null.
    IsNotNull(String),
    /// The rows that satisfy all conditions.
    All(Vec<Filter>),
    /// The rows that satisfy a condition.
    Any(Vec<Filter>),
}

impl Filter {
    /// Returns a comparison of the values of a column.
    pub fn compare(column: &str, comparison: Comparison, value: Value) -> Filter {
        Filter::Compare { column: column.to_owned(), comparison, value }
    }

    /// Returns the condition that both hold. Many conditions that are joined one by one form one
    /// list, which is not nested.
    pub fn and(self, other: Filter) -> Filter {
        let conditions = |filter| match filter {
            Filter::All(filters) => filters,
            filter => vec![filter],
        };
        Filter::All(joined(conditions(self), conditions(other)))
    }

    /// Returns the condition that one of both holds. Like [`Filter::and`], it does not nest.
    pub fn or(self, other: Filter) -> Filter {
        let conditions = |filter| match filter {
            Filter::Any(filters) => filters,
            filter => vec![filter],
        };
        Filter::Any(joined(conditions(self), conditions(other)))
    }

    /// Parses a condition such as `a > 3 and b == "x"`. `and` binds stronger than `or`. Words are
    /// not sensitive to case. Columns with other names than words are written in backquotes.
    ///
    /// # Errors
    /// - [`Error::Filter`]
    pub fn parse(text: &str) -> Result<Filter> {
        let mut parser = Parser { text, at: 0 };
        let filter = parser.any(MAX_DEPTH)?;
        parser.skip_spaces();
        if parser.at < text.len() {
            return Err(parser.error("an operator or the end of the condition is expected"));
        }
        Ok(filter)
    }

    /// Returns the names of the columns, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.collect(&mut names);
        names
    }

    fn collect<'f>(&'f self, names: &mut Vec<&'f str>) {
        match self {
            Filter::Compare { column, .. } | Filter::IsNull(column) | Filter::IsNotNull(column) => {
                if !names.contains(&column.as_str()) {
                    names.push(column);
                }
            }
            Filter::All(filters) | Filter::Any(filters) => {
                filters.iter().for_each(|filter| filter.collect(names));
            }
        }
    }
}

/// Returns the conditions of two lists in one.
fn joined(mut first: Vec<Filter>, second: Vec<Filter>) -> Vec<Filter> {
    first.extend(second);
    first
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Eq => "==",
            Comparison::Ne => "!=",
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Gt => ">",
            Comparison::Ge => ">=",
        })
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '.')
}

impl Parser<'_> {
    fn error(&self, why: &str) -> Error {
        Error::Filter { at: self.at, why: why.to_owned() }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Skips a mark, if it follows.
    fn takes(&mut self, mark: &str) -> bool {
        self.skip_spaces();
        let follows = self.rest().starts_with(mark);
        if follows {
            self.at += mark.len();
        }
        follows
    }

    /// Returns the word that follows, which can be empty, without skipping it.
    fn word(&mut self) -> &str {
        self.skip_spaces();
        let rest = self.rest();
        &rest[..rest.find(|char| !is_name(char)).unwrap_or(rest.len())]
    }

    /// Skips a word, if it follows.
    fn takes_word(&mut self, wanted: &str) -> bool {
        let word = self.word();
        let follows = word.eq_ignore_ascii_case(wanted);
        if follows {
            self.at += wanted.len();
        }
        follows
    }

    fn any(&mut self, depth: usize) -> Result<Filter> {
        let mut filters = vec![self.all(depth)?];
        while self.takes_word("or") || self.takes("||") {
            filters.push(self.all(depth)?);
        }
        Ok(match filters.len() {
            1 => filters.remove(0),
            _ => Filter::Any(filters),
        })
    }

    fn all(&mut self, depth: usize) -> Result<Filter> {
        let mut filters = vec![self.term(depth)?];
        while self.takes_word("and") || self.takes("&&") {
            filters.push(self.term(depth)?);
        }
        Ok(match filters.len() {
            1 => filters.remove(0),
            _ => Filter::All(filters),
        })
    }

    fn term(&mut self, depth: usize) -> Result<Filter> {
        if self.takes("(") {
            let depth = depth.checked_sub(1);
            let depth = depth.ok_or_else(|| self.error("the condition is nested too deeply"))?;
            let filter = self.any(depth)?;
            if !self.takes(")") {
                return Err(self.error("a closing parenthesis is expected"));
            }
            return Ok(filter);
        }
        let column = self.column()?;
        if self.takes_word("is") {
            let is_negated = self.takes_word("not");
            if !self.takes_word("null") {
                return Err(self.error("'null' is expected"));
            }
            return Ok(if is_negated { Filter::IsNotNull(column) } else { Filter::IsNull(column) });
        }
        let comparisons = [
            ("==", Comparison::Eq),
            ("!=", Comparison::Ne),
            ("<>", Comparison::Ne),
            ("<=", Comparison::Le),
            (">=", Comparison::Ge),
            ("=", Comparison::Eq),
            ("<", Comparison::Lt),
            (">", Comparison::Gt),
        ];
        let found = comparisons.into_iter().find(|(mark, _)| self.takes(mark));
        let Some((_, comparison)) = found else {
            return Err(self.error("an operator such as '==' or 'is null' is expected"));
        };
        let value = self.literal()?;
        Ok(Filter::Compare { column, comparison, value })
    }

    fn column(&mut self) -> Result<String> {
        if self.takes("`") {
            let name = self.rest().split_once('`').map(|(name, _)| name.to_owned());
            let name = name.ok_or_else(|| self.error("the closing backquote is missing"))?;
            self.at += name.len() + 1;
            return Ok(name);
        }
        let word = self.word().to_owned();
        if word.is_empty() || word.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
            return Err(self.error("the name of a column is expected"));
        }
        self.at += word.len();
        Ok(word)
    }

    fn literal(&mut self) -> Result<Value> {
        self.skip_spaces();
        let rest = self.rest();
        if rest.starts_with(['\'', '"']) {
            let bytes = self.quoted()?;
            let text = String::from_utf8(bytes);
            return text.map(Value::Str).map_err(|_| self.error("the text is not UTF-8"));
        }
        if rest.starts_with("b'") || rest.starts_with("b\"") {
            self.at += 1;
            return self.quoted().map(Value::Bytes);
        }
        let end = rest.find(|char| !(is_name(char) || matches!(char, '+' | '-')));
        let word = rest[..end.unwrap_or(rest.len())].to_owned();
        let value = match word.to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            number => {
                let is_numeric = number
                    .trim_start_matches(['+', '-'])
                    .starts_with(|char: char| char.is_ascii_digit() || char == '.')
                    || matches!(number, "nan" | "inf" | "-inf" | "+inf");
                match (number.parse::<i64>(), number.parse::<u64>(), number.parse::<f64>()) {
                    (Ok(number), ..) => Value::Int(number),
                    (_, Ok(number), _) => Value::UInt(number),
                    (.., Ok(number)) if is_numeric => Value::Float(number),
                    _ => {
                        let why = "a number, true, false or a text in quotes is expected";
                        return Err(self.error(why));
                    }
                }
            }
        };
        self.at += word.len();
        Ok(value)
    }

    /// Returns the bytes of a text in quotes.
    fn quoted(&mut self) -> Result<Vec<u8>> {
        let mut chars = self.rest().char_indices();
        let quote = chars.next().map(|(_, quote)| quote);
        let mut bytes = Vec::new();
        let unclosed = || self.error("the closing quote is missing");
        loop {
            let (at, char) = chars.next().ok_or_else(unclosed)?;
            if Some(char) == quote {
                self.at += at + 1;
                return Ok(bytes);
            }
            if char != '\\' {
                bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            let (_, escaped) = chars.next().ok_or_else(unclosed)?;
            bytes.push(match escaped {
                'n' => b'\n',
                'r' => b'\r',
                't' => b'\t',
                '\\' | '\'' | '"' => escaped as u8,
                'x' => {
                    let mut digit = || chars.next().and_then(|(_, char)| char.to_digit(16));
                    let byte = digit().zip(digit()).map(|(high, low)| (high * 16 + low) as u8);
                    byte.ok_or_else(|| self.error("two hexadecimal digits must follow \\x"))?
                }
                _ => return Err(self.error("the character after a backslash is unknown")),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_parsed() {
        let int = |column: &str, comparison, number| {
            Filter::compare(column, comparison, Value::Int(number))
        };
        let text = |text: &str| Value::Str(text.to_owned());
        for (source, wanted) in [
            ("a==1", int("a", Comparison::Eq, 1)),
            (" a.b_c <> -1 ", int("a.b_c", Comparison::Ne, -1)),
            ("`x y` <= 2", int("x y", Comparison::Le, 2)),
            ("é>3", int("é", Comparison::Gt, 3)),
            ("a = +4", int("a", Comparison::Eq, 4)),
            (
                "a >= 18446744073709551615",
                Filter::compare("a", Comparison::Ge, Value::UInt(u64::MAX)),
            ),
            ("a < -.5e3", Filter::compare("a", Comparison::Lt, Value::Float(-500.0))),
            ("a != True", Filter::compare("a", Comparison::Ne, Value::Bool(true))),
            (
                r#"a == 'it\'s "x"\\\n'"#,
                Filter::compare("a", Comparison::Eq, text("it's \"x\"\\\n")),
            ),
            (r#"a == "é\xc3\xa9""#, Filter::compare("a", Comparison::Eq, text("éé"))),
            (
                r#"a == b"\xff\x00""#,
                Filter::compare("a", Comparison::Eq, Value::Bytes(vec![255, 0])),
            ),
            ("a IS null", Filter::IsNull("a".to_owned())),
            ("a is not NULL", Filter::IsNotNull("a".to_owned())),
            ("android is null", Filter::IsNull("android".to_owned())),
            (
                "a==1 or b==2 && c==3",
                Filter::Any(vec![
                    int("a", Comparison::Eq, 1),
                    Filter::All(vec![int("b", Comparison::Eq, 2), int("c", Comparison::Eq, 3)]),
                ]),
            ),
            (
                "(a==1 || b==2) and (c==3)",
                Filter::All(vec![
                    Filter::Any(vec![int("a", Comparison::Eq, 1), int("b", Comparison::Eq, 2)]),
                    int("c", Comparison::Eq, 3),
                ]),
            ),
        ] {
            assert_eq!(Filter::parse(source), Ok(wanted), "{source}");
        }
    }

    #[test]
    fn many_joined_conditions_are_one_list() {
        let is = |number| Filter::compare("a", Comparison::Eq, Value::Int(number));
        let all = is(0).and(is(1)).and(is(2).and(is(3)));
        assert_eq!(Ok(all), Filter::parse("a==0 and a==1 and a==2 and a==3"));
        let mixed = is(0).or(is(1)).and(is(2)).or(is(3));
        assert_eq!(Ok(mixed), Filter::parse("(a==0 or a==1) and a==2 or a==3"));
        // Functions that visit the conditions are recursive, and so is dropping them.
        let any = (1..200_000).map(is).fold(is(0), Filter::or);
        assert_eq!(any.clone().columns(), ["a"]);
    }

    #[test]
    fn invalid_conditions_are_refused_at_their_position() {
        for (source, at) in [
            ("", 0),
            ("a", 1),
            ("a ==", 4),
            ("a == x", 5),
            ("a == infinite", 5),
            ("a == 1 b", 7),
            ("a == 1 and", 10),
            ("(a == 1", 7),
            ("1 == a", 0),
            ("a == 'x", 5),
            ("a == '\\q'", 5),
            ("a == '\\x1'", 5),
            ("a == '\\xff'", 11),
            ("`a == 1", 1),
            ("a is 1", 5),
            ("a == 1)", 6),
        ] {
            match Filter::parse(source) {
                Err(Error::Filter { at: found, .. }) => assert_eq!(found, at, "{source}"),
                other => panic!("{source}: {other:?}"),
            }
        }
        let deep = format!("{}a == 1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(Filter::parse(&deep).is_err());
    }
}
