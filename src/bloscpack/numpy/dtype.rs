//! The type of an item, as NumPy describes it.
//!
//! A plain type is a text, `<f8`; a record is a list of fields, `[('a', '|S1'), ('b', '<f8', (2,))]`: a name, or
//! title and name; a type, again a text or a list; and the shape of a field that holds several. Fields without
//! a name fill gaps.

use super::super::error::{Error, Result};
use super::super::json::Value;
use super::super::python::Literal;
use super::MAX_ITEMSIZE;

/// Bytes of a character of unicode texts.
const UNICODE_CHARACTER: u64 = 4;

/// The type of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dtype {
    literal: Literal,
    itemsize: u64,
}

impl Dtype {
    /// The type with this description: the literal of a text or of a list.
    ///
    /// # Errors
    /// [`Error::Dtype`]; [`Error::ObjectArray`] for Python's objects.
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

    /// The type in metadata: a literal in a text; or, in old files, a plain type without quotes, or lists.
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

    /// Bytes of an item.
    pub fn itemsize(&self) -> u64 {
        self.itemsize
    }

    /// The description, as a literal.
    pub fn repr(&self) -> String {
        self.literal.repr().into_owned()
    }

    /// The description.
    pub(super) fn literal(&self) -> &Literal {
        &self.literal
    }
}

/// Lists of old files: those that begin with a list are lists, the others were tuples.
fn literal_of(value: &Value) -> Result<Literal> {
    let wrong = || Error::Dtype(value.repr());
    match value {
        Value::Text(text) => Ok(Literal::Text(text.clone())),
        Value::Int(digits) => Ok(Literal::Int(digits.parse().map_err(|_| wrong())?)),
        Value::List(items) => {
            let literals = items.iter().map(literal_of).collect::<Result<_>>()?;
            match items.first() {
                Some(Value::List(_)) => Ok(Literal::List(literals)),
                _ => Ok(Literal::Tuple(literals)),
            }
        }
        _ => Err(wrong()),
    }
}

/// Bytes of an item of this type.
fn size_of(literal: &Literal) -> Result<u64> {
    let wrong = || Error::Dtype(literal.repr().into_owned());
    match literal {
        Literal::Text(text) => size_of_plain(text),
        Literal::List(fields) => {
            let mut size = 0_u64;
            for field in fields {
                let Literal::Tuple(parts) = field else {
                    return Err(wrong());
                };
                size = size.checked_add(size_of_field(parts)?).ok_or_else(wrong)?;
            }
            Ok(size)
        }
        _ => Err(wrong()),
    }
}

/// Bytes of a field: name, type and perhaps a shape.
fn size_of_field(parts: &[Literal]) -> Result<u64> {
    let wrong = || Error::Dtype(Literal::Tuple(parts.to_vec()).repr().into_owned());
    let (name, kind, shape) = match parts {
        [name, kind] => (name, kind, None),
        [name, kind, shape] => (name, kind, Some(shape)),
        _ => return Err(wrong()),
    };
    let is_name = match name {
        Literal::Text(_) => true,
        Literal::Tuple(names) => matches!(names.as_slice(), [Literal::Text(_), Literal::Text(_)]),
        _ => false,
    };
    if !is_name {
        return Err(wrong());
    }
    let lengths = match shape {
        None => &[][..],
        Some(Literal::Tuple(lengths)) => lengths,
        Some(length @ Literal::Int(_)) => std::slice::from_ref(length),
        Some(_) => return Err(wrong()),
    };
    lengths
        .iter()
        .try_fold(size_of(kind)?, |size, length| match length {
            Literal::Int(length) => size.checked_mul(*length).ok_or_else(wrong),
            _ => Err(wrong()),
        })
}

/// Bytes of a plain type: byte order, kind, size, and perhaps the unit of a time.
fn size_of_plain(text: &str) -> Result<u64> {
    let wrong = || Error::Dtype(text.to_owned());
    let rest = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
    let kind = rest.chars().next().ok_or_else(wrong)?;
    let rest = &rest[kind.len_utf8()..];
    let (digits, unit) = rest.split_once('[').unwrap_or((rest, ""));
    if !unit.is_empty() && (!matches!(kind, 'M' | 'm') || !unit.ends_with(']')) {
        return Err(wrong());
    }
    if kind == 'O' {
        return Err(Error::ObjectArray);
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    match (kind, number) {
        ('b', 1) | ('i' | 'u', 1 | 2 | 4 | 8) | ('M' | 'm', 8) => Ok(number),
        ('f', 2 | 4 | 8 | 10 | 12 | 16) | ('c', 8 | 16 | 20 | 24 | 32) => Ok(number),
        ('S' | 'a' | 'V', _) => Ok(number),
        ('U', _) => number.checked_mul(UNICODE_CHARACTER).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_the_size_that_numpy_gives_them() {
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
    fn what_is_no_type_is_refused() {
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
    fn old_spellings_are_understood() {
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
