//! The type of a column, from all its values.

/// Texts that represent a missing value, in upper or lower case; so does an empty text.
const MISSING: [&str; 5] = ["na", "n/a", "null", "none", "nil"];
/// The largest integer up to which all integers are floats of 8 bytes.
const MAX_EXACT: u64 = 1 << 53;

/// Whether a field has no value.
pub fn is_missing(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    field.is_empty() || MISSING.iter().any(|text| field.eq_ignore_ascii_case(text.as_bytes()))
}

/// Returns the Boolean of a field.
pub fn boolean(field: &[u8]) -> Option<bool> {
    match field.trim_ascii() {
        field if field.eq_ignore_ascii_case(b"true") => Some(true),
        field if field.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}

/// Returns the text of a field without blanks around it.
pub fn trimmed(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field.trim_ascii()).ok()
}

/// Returns the parts of a complex number, such as `(1+2j)`.
pub fn complex(text: &str) -> Option<(f64, f64)> {
    let text = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let Some(text) = text.strip_suffix(['j', 'J']) else {
        return Some((text.parse().ok()?, 0.0));
    };
    // The sign of the imaginary part follows a digit, not an exponent.
    let split = text.char_indices().rev().find(|&(at, sign)| {
        at > 0 && matches!(sign, '+' | '-') && !text[..at].ends_with(['e', 'E'])
    });
    match split {
        Some((at, _)) => Some((text[..at].parse().ok()?, text[at..].parse().ok()?)),
        None => Some((0.0, text.parse().ok()?)),
    }
}

/// The types that all values of a column so far have, and their sizes.
#[derive(Clone, Debug)]
pub struct Guess {
    /// The number of values.
    values: u64,
    /// The first line without a value.
    missing: Option<u64>,
    is_bool: bool,
    is_i64: bool,
    is_u64: bool,
    is_float: bool,
    /// Whether all integers are exact as floats.
    is_exact: bool,
    /// The first line with a number with leading zeros.
    padded: Option<u64>,
    is_ascii: bool,
    is_utf8: bool,
    bytes: usize,
    characters: usize,
    /// The line of the longest field.
    longest_line: u64,
    /// The size of all fields with their delimiters, in bytes.
    total: u64,
}

impl Default for Guess {
    fn default() -> Guess {
        Guess {
            values: 0,
            missing: None,
            is_bool: true,
            is_i64: true,
            is_u64: true,
            is_float: true,
            is_exact: true,
            padded: None,
            is_ascii: true,
            is_utf8: true,
            bytes: 1,
            characters: 1,
            longest_line: 1,
            total: 0,
        }
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guessed {
    /// Booleans.
    Bool,
    /// Integers that may be negative, and whether all are exact as floats.
    Int(bool),
    /// Integers above the range of signed ones.
    Uint,
    /// Floats.
    Float,
    /// ASCII, or bytes that are no UTF-8, of this length.
    Bytes(usize),
    /// This number of characters.
    Characters(usize),
}

impl Guess {
    /// Adds the value of a line.
    pub fn add(&mut self, field: &[u8], line: u64) {
        if field.len() > self.bytes {
            (self.bytes, self.longest_line) = (field.len(), line);
        }
        self.total = self.total.saturating_add(field.len() as u64 + 1);
        if field.is_ascii() {
            self.characters = self.characters.max(field.len());
        } else {
            self.is_ascii = false;
            match std::str::from_utf8(field) {
                Ok(text) => self.characters = self.characters.max(text.chars().count()),
                Err(_) => self.is_utf8 = false,
            }
        }
        if is_missing(field) {
            self.missing = self.missing.or(Some(line));
            return;
        }
        self.values += 1;
        self.is_bool &= boolean(field).is_some();
        if !(self.is_i64 || self.is_u64 || self.is_float) {
            return;
        }
        let text = trimmed(field);
        let signed = text.and_then(|text| text.parse::<i64>().ok());
        let unsigned = text.and_then(|text| text.parse::<u64>().ok());
        self.is_i64 &= signed.is_some();
        self.is_u64 &= unsigned.is_some();
        let size = signed.map(i64::unsigned_abs).or(unsigned);
        self.is_exact &= size.is_none_or(|size| size <= MAX_EXACT);
        let digits = text.map(|text| text.trim_start_matches(['+', '-']).as_bytes());
        if let Some([b'0', b'0'..=b'9', ..]) = digits {
            self.padded = self.padded.or(Some(line));
        }
        // Integers beyond 64 bits would lose digits, and other large numbers become infinities.
        let is_integer = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit));
        let starts_with_digit = digits
            .and_then(|digits| digits.first())
            .is_some_and(|first| !first.is_ascii_alphabetic());
        let float = text.and_then(|text| text.parse::<f64>().ok());
        self.is_float &= float.is_some_and(|float| {
            (signed.is_some() || unsigned.is_some() || !is_integer)
                && (float.is_finite() || !starts_with_digit)
        });
    }

    /// Returns the first line with a number with leading zeros, which the type of the column does
    /// not keep.
    pub fn padded(&self) -> Option<u64> {
        let is_number = self.is_i64 || self.is_u64 || (self.is_float && self.is_exact);
        self.padded.filter(|_| is_number)
    }

    /// Returns the size of the longest field in bytes, at least 1, and its line.
    pub fn longest(&self) -> (usize, u64) {
        (self.bytes, self.longest_line)
    }

    /// Returns the size of all fields with their delimiters, in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the description of the values.
    pub fn kind(&self) -> &'static str {
        if self.is_bool { "Booleans" } else { "integers" }
    }

    /// Whether the type of the column is that of texts, and all are UTF-8.
    pub fn is_text(&self) -> bool {
        let is_text = matches!(self.decide(), Ok(Guessed::Bytes(_) | Guessed::Characters(_)));
        is_text && self.is_utf8
    }

    /// Returns the type, or the first line without a value if the type needs one.
    pub fn decide(&self) -> Result<Guessed, u64> {
        let complete = |guessed| self.missing.map_or(Ok(guessed), Err);
        if self.values == 0 {
            return Ok(Guessed::Float);
        }
        if self.is_bool {
            complete(Guessed::Bool)
        } else if self.is_i64 {
            complete(Guessed::Int(self.is_exact))
        } else if self.is_u64 {
            complete(Guessed::Uint)
        } else if self.is_float && self.is_exact {
            Ok(Guessed::Float)
        } else if self.is_ascii || !self.is_utf8 {
            Ok(Guessed::Bytes(self.bytes))
        } else {
            Ok(Guessed::Characters(self.characters))
        }
    }
}

impl Guessed {
    /// Returns NumPy's description.
    pub fn dtype(self) -> String {
        match self {
            Guessed::Bool => "|b1".to_owned(),
            Guessed::Int(_) => "<i8".to_owned(),
            Guessed::Uint => "<u8".to_owned(),
            Guessed::Float => "<f8".to_owned(),
            Guessed::Bytes(len) => format!("|S{len}"),
            Guessed::Characters(len) => format!("<U{len}"),
        }
    }

    /// Returns the common type of all columns, if one type holds all values.
    pub fn common(columns: &[Guessed]) -> Option<Guessed> {
        let mut columns = columns.iter().copied();
        let first = columns.next()?;
        columns.try_fold(first, |a, b| match (a, b) {
            (Guessed::Int(x), Guessed::Int(y)) => Some(Guessed::Int(x && y)),
            (Guessed::Int(true), Guessed::Float) | (Guessed::Float, Guessed::Int(true)) => {
                Some(Guessed::Float)
            }
            (Guessed::Bytes(x), Guessed::Bytes(y)) => Some(Guessed::Bytes(x.max(y))),
            (Guessed::Characters(x), Guessed::Characters(y)) => Some(Guessed::Characters(x.max(y))),
            (a, b) if a == b => Some(a),
            _ => None,
        })
    }
}

/// Whether the fields of the first line are names: different texts that are neither numbers nor
/// Booleans.
pub fn is_header(fields: &[Vec<u8>]) -> bool {
    let is_name = |field: &Vec<u8>| {
        !is_missing(field)
            && boolean(field).is_none()
            && trimmed(field).is_some_and(|text| complex(text).is_none())
    };
    let distinct: std::collections::HashSet<&Vec<u8>> = fields.iter().collect();
    fields.iter().all(is_name) && distinct.len() == fields.len()
}
