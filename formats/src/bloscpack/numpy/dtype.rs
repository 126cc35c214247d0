//! The dtype of an item, as described by NumPy.
//!
//! A simple type is a string, `<f8`. A record is a list of fields, `[('a', '|S1'), ('b', '<f8',
//! (2,))]`: a name, or title and name; a type, either a string or a list; and the shape of a field
//! with several items. Fields without a name are padding.

use super::super::error::{Error, Result};
use super::super::json::Value;
use super::super::python::Literal;
use super::MAX_ITEMSIZE;

/// The size of a Unicode character in bytes.
const UNICODE_CHARACTER: u64 = 4;

/// The dtype of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dtype {
    literal: Literal,
    itemsize: u64,
}

impl Dtype {
    /// Parses a description: the literal of a string or list.
    ///
    /// # Errors
    /// [`Error::Dtype`]; [`Error::ObjectArray`] for Python objects.
    pub fn parse(text: &str) -> Result<Dtype> {
        let literal = Literal::parse(text).ok_or_else(|| Error::Dtype(text.to_owned()))?;
        Dtype::of(literal)
    }

    pub(super) fn of(literal: Literal) -> Result<Dtype> {
        let itemsize = size_of(&literal)?;
        if itemsize > MAX_ITEMSIZE {
            return Err(Error::Dtype(literal.repr().into_owned()));
        }
        Ok(Dtype { literal, itemsize })
    }

    /// Parses the dtype in metadata: a literal in a string, or, in old files, a simple type without
    /// quotes, or lists.
    pub(super) fn from_metadata(value: &Value) -> Result<Dtype> {
        match value {
            Value::Text(text) => match Literal::parse(text) {
                Some(literal @ (Literal::Text(_) | Literal::List(_))) => Dtype::of(literal),
                _ => Dtype::of(Literal::Text(text.clone())),
            },
            Value::List(_) => Dtype::of(literal_of(value)?),
            other => Err(Error::Dtype(other.repr())),
        }
    }

    /// Returns the item size in bytes.
    pub fn itemsize(&self) -> u64 {
        self.itemsize
    }

    /// Returns the description as the text of a Python literal.
    pub fn repr(&self) -> String {
        self.literal.repr().into_owned()
    }

    /// Returns the description.
    pub(super) fn literal(&self) -> &Literal {
        &self.literal
    }
}

/// Converts the lists of old files. A list whose first item is a list stays a list; any other list
/// represents a tuple.
fn literal_of(value: &Value) -> Result<Literal> {
    let invalid = || Error::Dtype(value.repr());
    match value {
        Value::Text(text) => Ok(Literal::Text(text.clone())),
        Value::Int(digits) => Ok(Literal::Int(digits.parse().map_err(|_| invalid())?)),
        Value::List(items) => {
            let literals = items.iter().map(literal_of).collect::<Result<_>>()?;
            match items.first() {
                Some(Value::List(_)) => Ok(Literal::List(literals)),
                _ => Ok(Literal::Tuple(literals)),
            }
        }
        _ => Err(invalid()),
    }
}

/// Returns the size of an item in bytes.
fn size_of(literal: &Literal) -> Result<u64> {
    let invalid = || Error::Dtype(literal.repr().into_owned());
    match literal {
        Literal::Text(text) => size_of_simple(text),
        Literal::List(fields) => {
            let mut size = 0_u64;
            for field in fields {
                let Literal::Tuple(parts) = field else {
                    return Err(invalid());
                };
                size = size
                    .checked_add(size_of_field(parts)?)
                    .ok_or_else(invalid)?;
            }
            Ok(size)
        }
        _ => Err(invalid()),
    }
}

/// Returns the size of a field in bytes: name, type and optional shape.
fn size_of_field(parts: &[Literal]) -> Result<u64> {
    let invalid = || Error::Dtype(Literal::Tuple(parts.to_vec()).repr().into_owned());
    let (name, kind, shape) = match parts {
        [name, kind] => (name, kind, None),
        [name, kind, shape] => (name, kind, Some(shape)),
        _ => return Err(invalid()),
    };
    let is_name = match name {
        Literal::Text(_) => true,
        Literal::Tuple(names) => matches!(names.as_slice(), [Literal::Text(_), Literal::Text(_)]),
        _ => false,
    };
    if !is_name {
        return Err(invalid());
    }
    let lengths = match shape {
        None => &[][..],
        Some(Literal::Tuple(lengths)) => lengths,
        Some(length @ Literal::Int(_)) => std::slice::from_ref(length),
        Some(_) => return Err(invalid()),
    };
    lengths
        .iter()
        .try_fold(size_of(kind)?, |size, length| match length {
            Literal::Int(length) => size.checked_mul(*length).ok_or_else(invalid),
            _ => Err(invalid()),
        })
}

/// Returns the size of a simple type in bytes: byte order, kind, size, and optional time unit.
fn size_of_simple(text: &str) -> Result<u64> {
    let invalid = || Error::Dtype(text.to_owned());
    let rest = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
    let kind = rest.chars().next().ok_or_else(invalid)?;
    let rest = &rest[kind.len_utf8()..];
    let (digits, unit) = rest.split_once('[').unwrap_or((rest, ""));
    if !unit.is_empty() && (!matches!(kind, 'M' | 'm') || !unit.ends_with(']')) {
        return Err(invalid());
    }
    if kind == 'O' {
        return Err(Error::ObjectArray);
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid());
    }
    let number: u64 = digits.parse().map_err(|_| invalid())?;
    match (kind, number) {
        ('b', 1) | ('i' | 'u', 1 | 2 | 4 | 8) | ('M' | 'm', 8) => Ok(number),
        ('f', 2 | 4 | 8 | 10 | 12 | 16) | ('c', 8 | 16 | 20 | 24 | 32) => Ok(number),
        ('S' | 'a' | 'V', _) => Ok(number),
        ('U', _) => number.checked_mul(UNICODE_CHARACTER).ok_or_else(invalid),
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_sizes_match_numpy() {
        for (text, size) in [
            ("'<f8'", 8),
            ("'|b1'", 1),
            ("'>i2'", 2),
            ("'<U3'", 12),
            ("'|S5'", 5),
            ("'|V8'", 8),
            ("'<M8[ns]'", 8),
            ("'<f16'", 16),
            ("'<c16'", 16),
            ("[('a', '|S1'), ('b', '<f8')]", 9),
            (
                "[('year', '<i4'), ('c', [('iso', '|S3'), ('v', '<f4', (2,))])]",
                15,
            ),
            (
                "[(('T', 'a'), '<i4'), ('', '|V7'), ('m', '<i2', (2, 3))]",
                23,
            ),
            ("'|S0'", 0),
        ] {
            let dtype = Dtype::parse(text).unwrap();
            assert_eq!((dtype.itemsize(), dtype.repr()), (size, text.to_owned()));
        }
    }

    #[test]
    fn invalid_dtypes_are_rejected() {
        for text in [
            "'f'",
            "'<q8'",
            "'<i3'",
            "5",
            "[('a',)]",
            "['a']",
            "[(1, '<f8')]",
            "'<f8[s]'",
            "'<U99999999999999999999'",
        ] {
            assert!(matches!(Dtype::parse(text), Err(Error::Dtype(_))), "{text}");
        }
        let huge = "[('a', '<f8', (99999999999999, 99999999999999))]";
        assert!(matches!(Dtype::parse(huge), Err(Error::Dtype(_))));
        for text in ["'|O'", "'|O8'", "[('a', '<f8'), ('b', [('c', '|O')])]"] {
            assert!(
                matches!(Dtype::parse(text), Err(Error::ObjectArray)),
                "{text}"
            );
        }
    }

    #[test]
    fn old_spellings_are_parsed() {
        let read = |text: &str| {
            Dtype::from_metadata(&Value::parse(text.as_bytes()).unwrap())
                .unwrap()
                .repr()
        };
        assert_eq!(read(r#""<i8""#), "'<i8'");
        assert_eq!(
            read(r#"[["a","|S1"],["b","<f8"]]"#),
            "[('a', '|S1'), ('b', '<f8')]"
        );
        assert_eq!(
            read(r#"[["c",[["iso","|S3"],["v","<f4",[2]]]]]"#),
            "[('c', [('iso', '|S3'), ('v', '<f4', (2,))])]"
        );
    }
}
