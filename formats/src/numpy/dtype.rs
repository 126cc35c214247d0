//! Item types, parsed from the strings that NumPy prints for dtypes.
//!
//! | kind | strings |
//! |---|---|
//! | numbers in native order (little-endian) | `bool`, `int32`, `float64`, `complex128` … |
//! | numbers with an explicit byte order | `<i4`, `>f8`, `\|b1` … |
//! | strings and bytes | `\|S3`, `<U3`, `\|V8` |
//! | times | `datetime64[ns]`, `<M8[ns]`, `timedelta64[s]` … |
//! | Python objects | `object`, `\|O8`, `O` |
//! | records | lists such as `[('a', '<i4'), ('b', '<f8', (2,))]` |
//! | records | dictionaries with `names`, `formats`, `offsets` and `itemsize` |
//!
//! Strings are parsed and never evaluated. (Source: the strings of NumPy's dtypes.)

use super::literal::{Literal, text_repr};
use super::{Error, Result};
use crate::blpk::MAX_NBYTES;
use std::collections::HashSet;

/// The maximum type size of a Blosc header.
const MAX_TYPESIZE: u64 = 255;
/// The size of a `U` character in bytes.
const CHARACTER: u64 = 4;

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// `True` or `False`.
    Bool,
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Uint,
    /// A binary floating-point number.
    Float,
    /// A pair of floating-point numbers.
    Complex,
    /// Bytes, padded with NUL.
    Bytes,
    /// UCS-4 characters, padded with NUL.
    Unicode,
    /// Opaque bytes.
    Void,
    /// A point in time.
    Datetime,
    /// A duration.
    Timedelta,
    /// A Python object.
    Object,
    /// A record of fields.
    Record,
}

impl Kind {
    /// Whether items are truth values, numbers, bytes or characters.
    pub(crate) fn is_plain(self) -> bool {
        matches!(
            self,
            Kind::Bool
                | Kind::Int
                | Kind::Uint
                | Kind::Float
                | Kind::Complex
                | Kind::Bytes
                | Kind::Unicode
        )
    }

    /// Returns NumPy's letter.
    fn letter(self) -> char {
        match self {
            Kind::Bool => 'b',
            Kind::Int => 'i',
            Kind::Uint => 'u',
            Kind::Float => 'f',
            Kind::Complex => 'c',
            Kind::Bytes => 'S',
            Kind::Unicode => 'U',
            Kind::Void | Kind::Record => 'V',
            Kind::Datetime => 'M',
            Kind::Timedelta => 'm',
            Kind::Object => 'O',
        }
    }

    /// Returns the kind for the letter of a NumPy type string with a size, such as `i4`.
    fn from_letter(letter: char) -> Option<Kind> {
        Some(match letter {
            'b' => Kind::Bool,
            'i' => Kind::Int,
            'u' => Kind::Uint,
            'f' => Kind::Float,
            'c' => Kind::Complex,
            'S' | 'a' => Kind::Bytes,
            'U' => Kind::Unicode,
            'V' => Kind::Void,
            'M' => Kind::Datetime,
            'm' => Kind::Timedelta,
            'O' => Kind::Object,
            _ => return None,
        })
    }

    /// Whether items can have this size in bytes.
    fn allows(self, size: u64) -> bool {
        match self {
            Kind::Bool => size == 1,
            Kind::Int | Kind::Uint => matches!(size, 1 | 2 | 4 | 8),
            Kind::Float => matches!(size, 2 | 4 | 8 | 10 | 12 | 16),
            Kind::Complex => matches!(size, 8 | 16 | 20 | 24 | 32),
            Kind::Datetime | Kind::Timedelta => size == 8,
            Kind::Bytes | Kind::Unicode | Kind::Void | Kind::Record => true,
            Kind::Object => matches!(size, 4 | 8),
        }
    }

    /// Whether items have a byte order.
    fn has_order(self) -> bool {
        matches!(
            self,
            Kind::Int
                | Kind::Uint
                | Kind::Float
                | Kind::Complex
                | Kind::Unicode
                | Kind::Datetime
                | Kind::Timedelta
        )
    }
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name.
    pub name: String,
    /// The dtype.
    pub dtype: Dtype,
    /// The shape; empty for a single item.
    pub shape: Vec<u64>,
    /// The offset in the record, in bytes.
    pub offset: u64,
}

/// The type of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dtype {
    text: String,
    kind: Kind,
    itemsize: u64,
    is_big_endian: bool,
    unit: String,
    fields: Vec<Field>,
}

/// Type names, with kind and size in bytes.
const NAMES: [(&str, Kind, u64); 24] = [
    ("bool", Kind::Bool, 1),
    ("int8", Kind::Int, 1),
    ("int16", Kind::Int, 2),
    ("int32", Kind::Int, 4),
    ("int64", Kind::Int, 8),
    ("int", Kind::Int, 8),
    ("uint8", Kind::Uint, 1),
    ("uint16", Kind::Uint, 2),
    ("uint32", Kind::Uint, 4),
    ("uint64", Kind::Uint, 8),
    ("uint", Kind::Uint, 8),
    ("float16", Kind::Float, 2),
    ("float32", Kind::Float, 4),
    ("float64", Kind::Float, 8),
    ("float", Kind::Float, 8),
    ("float96", Kind::Float, 12),
    ("float128", Kind::Float, 16),
    ("complex64", Kind::Complex, 8),
    ("complex128", Kind::Complex, 16),
    ("complex", Kind::Complex, 16),
    ("complex192", Kind::Complex, 24),
    ("complex256", Kind::Complex, 32),
    ("object", Kind::Object, 8),
    ("O", Kind::Object, 8),
];

/// C type letters, with kind and size in bytes.
const LETTERS: [(char, Kind, u64); 18] = [
    ('?', Kind::Bool, 1),
    ('b', Kind::Int, 1),
    ('h', Kind::Int, 2),
    ('i', Kind::Int, 4),
    ('l', Kind::Int, 8),
    ('q', Kind::Int, 8),
    ('B', Kind::Uint, 1),
    ('H', Kind::Uint, 2),
    ('I', Kind::Uint, 4),
    ('L', Kind::Uint, 8),
    ('Q', Kind::Uint, 8),
    ('e', Kind::Float, 2),
    ('f', Kind::Float, 4),
    ('d', Kind::Float, 8),
    ('g', Kind::Float, 16),
    ('F', Kind::Complex, 8),
    ('D', Kind::Complex, 16),
    ('O', Kind::Object, 8),
];

impl Dtype {
    /// Parses a dtype string, with or without quotes.
    ///
    /// # Errors
    /// [`Error::Dtype`]
    pub fn parse(text: &str) -> Result<Dtype> {
        if !text.trim_start().starts_with(['[', '{', '\'', '"']) {
            return Dtype::of(&Literal::Text(text.to_owned()));
        }
        let invalid = || Error::Dtype(text.to_owned());
        let literal = Literal::parse(text).ok_or_else(invalid)?;
        let mut dtype = Dtype::of(&literal).map_err(|_| invalid())?;
        if dtype.kind == Kind::Record {
            text.clone_into(&mut dtype.text);
        }
        Ok(dtype)
    }

    /// Returns the dtype of a NumPy description.
    ///
    /// # Errors
    /// [`Error::Dtype`]
    pub fn of(literal: &Literal) -> Result<Dtype> {
        let text = match literal {
            Literal::Text(text) => text.clone(),
            other => other.repr(),
        };
        match Dtype::parse_literal(literal) {
            Some(found) => Ok(Dtype { text, ..found }),
            None => Err(Error::Dtype(text)),
        }
    }

    fn plain(kind: Kind, itemsize: u64, is_big_endian: bool, unit: &str) -> Option<Dtype> {
        (kind.allows(itemsize) && itemsize <= u64::from(MAX_NBYTES)).then(|| Dtype {
            text: String::new(),
            kind,
            itemsize,
            is_big_endian: is_big_endian && kind.has_order() && itemsize > 1,
            unit: unit.to_owned(),
            fields: Vec::new(),
        })
    }

    fn parse_simple(text: &str) -> Option<Dtype> {
        if let Some((_, kind, size)) = NAMES.into_iter().find(|(name, ..)| *name == text) {
            return Dtype::plain(kind, size, false, "");
        }
        let (base, unit) = match text.split_once('[') {
            Some((base, rest)) => (base, rest.strip_suffix(']')?),
            None => (text, ""),
        };
        let has_unit = base.len() < text.len();
        match base {
            "datetime64" => return Dtype::plain(Kind::Datetime, 8, false, checked_unit(unit)?),
            "timedelta64" => return Dtype::plain(Kind::Timedelta, 8, false, checked_unit(unit)?),
            _ => {}
        }
        let is_big_endian = base.starts_with('>');
        let rest = base.strip_prefix(['<', '>', '|', '=']).unwrap_or(base);
        let letter = rest.chars().next()?;
        let digits = &rest[letter.len_utf8()..];
        if digits.is_empty() && !has_unit {
            let found = LETTERS.into_iter().find(|(known, ..)| *known == letter);
            let (_, kind, size) = found?;
            return Dtype::plain(kind, size, is_big_endian, "");
        }
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let kind = Kind::from_letter(letter)?;
        let is_time = matches!(kind, Kind::Datetime | Kind::Timedelta);
        if has_unit && !is_time {
            return None;
        }
        let number: u64 = digits.parse().ok()?;
        let size = match kind {
            Kind::Unicode => number.checked_mul(CHARACTER)?,
            _ => number,
        };
        Dtype::plain(kind, size, is_big_endian, checked_unit(unit)?)
    }

    /// The depth of the recursion is that of the literal, which its parser limits.
    fn parse_literal(literal: &Literal) -> Option<Dtype> {
        let (fields, itemsize) = match literal {
            Literal::Text(text) => return Dtype::parse_simple(text),
            Literal::List(items) => fields_of_list(items)?,
            Literal::Dict(entries) => fields_of_dict(entries)?,
            _ => return None,
        };
        let is_inside = |field: &Field| {
            let end = field.nbytes().and_then(|len| len.checked_add(field.offset));
            end.is_some_and(|end| end <= itemsize)
        };
        let names: HashSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let are_valid = fields.iter().all(is_inside) && names.len() == fields.len();
        if itemsize > u64::from(MAX_NBYTES) || !are_valid {
            return None;
        }
        Some(Dtype {
            text: String::new(),
            kind: Kind::Record,
            itemsize,
            is_big_endian: false,
            unit: String::new(),
            fields,
        })
    }

    /// Returns the dtype string.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the dtype string as a Python literal.
    pub fn repr(&self) -> String {
        match self.kind {
            Kind::Record => self.text.clone(),
            _ => text_repr(&self.text),
        }
    }

    /// Returns the kind of an item.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the size of an item in bytes.
    pub fn itemsize(&self) -> u64 {
        self.itemsize
    }

    /// Whether items are stored in big-endian order.
    pub fn is_big_endian(&self) -> bool {
        self.is_big_endian
    }

    /// Returns the unit of a time, such as `ns`, or an empty string.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Returns the fields of a record.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether the dtype contains Python objects.
    pub fn has_objects(&self) -> bool {
        self.kind == Kind::Object || self.fields.iter().any(|field| field.dtype.has_objects())
    }

    /// Whether the dtype contains floats of 10 bytes or pairs of them, which NumPy has on no
    /// platform of bcolz.
    pub fn has_packed_floats(&self) -> bool {
        matches!((self.kind, self.itemsize), (Kind::Float, 10) | (Kind::Complex, 20))
            || self.fields.iter().any(|field| field.dtype.has_packed_floats())
    }

    /// Returns the type size for chunks, or `None` if the item size is 0 or not supported.
    pub fn blosc_typesize(&self) -> Option<u8> {
        match self.kind {
            Kind::Bytes => Some(1),
            Kind::Unicode => Some(CHARACTER as u8),
            Kind::Void | Kind::Record if self.itemsize > MAX_TYPESIZE => Some(1),
            _ => u8::try_from(self.itemsize).ok().filter(|&size| size > 0),
        }
    }

    /// Returns NumPy's description as in `.npy` files, with an explicit byte order. Fields must not
    /// overlap.
    pub fn description(&self) -> Literal {
        if self.kind != Kind::Record {
            let order = match (self.kind.has_order() && self.itemsize > 1, self.is_big_endian) {
                (false, _) => '|',
                (true, true) => '>',
                (true, false) => '<',
            };
            let count = match self.kind {
                Kind::Unicode => self.itemsize / CHARACTER,
                _ => self.itemsize,
            };
            let mut text = format!("{order}{}{count}", self.kind.letter());
            if !self.unit.is_empty() {
                text.push_str(&format!("[{}]", self.unit));
            }
            return Literal::Text(text);
        }
        let mut fields: Vec<&Field> = self.fields.iter().collect();
        fields.sort_by_key(|field| field.offset);
        let mut described = Vec::new();
        let mut end = 0;
        let padding = |len: u64| {
            Literal::Tuple(vec![Literal::Text(String::new()), Literal::Text(format!("|V{len}"))])
        };
        for field in fields {
            if field.offset > end {
                described.push(padding(field.offset - end));
            }
            let mut parts = vec![Literal::Text(field.name.clone()), field.dtype.description()];
            if !field.shape.is_empty() {
                let shape = field.shape.iter().map(|&len| Literal::Int(len)).collect();
                parts.push(Literal::Tuple(shape));
            }
            described.push(Literal::Tuple(parts));
            end = field.offset + field.nbytes().unwrap_or(0);
        }
        if self.itemsize > end {
            described.push(padding(self.itemsize - end));
        }
        Literal::List(described)
    }

    /// Returns the dtype with its description as the string.
    ///
    /// # Errors
    /// [`Error::Objects`]; [`Error::Overlap`] if fields overlap, which a description does not
    /// support.
    pub fn described(&self) -> Result<Dtype> {
        if self.has_overlap() {
            return Err(Error::Overlap(self.text.clone()));
        }
        Dtype::of(&self.description())?.without_objects()
    }

    /// Whether fields of a record, or of a record in it, overlap.
    fn has_overlap(&self) -> bool {
        let mut fields: Vec<&Field> = self.fields.iter().collect();
        fields.sort_by_key(|field| field.offset);
        let mut end = 0;
        fields.iter().any(|field| {
            let overlaps = field.offset < end;
            end = field.offset + field.nbytes().unwrap_or(0);
            overlaps || field.dtype.has_overlap()
        })
    }

    /// Returns the dtype with the string that bcolz writes for it.
    pub fn named(mut self) -> Dtype {
        if let Some(name) = self.name() {
            self.text = name;
        }
        self
    }

    /// Returns the dtype if it contains no Python objects.
    ///
    /// # Errors
    /// [`Error::Objects`]
    pub fn without_objects(self) -> Result<Dtype> {
        if self.has_objects() { Err(Error::Objects) } else { Ok(self) }
    }

    /// Returns the name of a type in native order, if it has one.
    fn name(&self) -> Option<String> {
        let unit = match self.unit.as_str() {
            "" => String::new(),
            unit => format!("[{unit}]"),
        };
        match self.kind {
            _ if self.is_big_endian => None,
            Kind::Datetime => Some(format!("datetime64{unit}")),
            Kind::Timedelta => Some(format!("timedelta64{unit}")),
            _ => {
                let mut names = NAMES.into_iter();
                let same = |kind, size| kind == self.kind && size == self.itemsize;
                let (name, ..) = names.find(|&(_, kind, size)| same(kind, size))?;
                Some(name.to_owned())
            }
        }
    }
}

impl Field {
    /// Returns the number of items in the field.
    pub fn count(&self) -> Option<u64> {
        self.shape.iter().try_fold(1_u64, |count, &len| count.checked_mul(len))
    }

    /// Returns the size of the field in bytes.
    pub fn nbytes(&self) -> Option<u64> {
        self.count()?.checked_mul(self.dtype.itemsize)
    }
}

/// Validates a time unit: alphanumeric characters and `/`.
fn checked_unit(unit: &str) -> Option<&str> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'/';
    unit.bytes().all(is_valid).then_some(unit)
}

fn name_of(literal: &Literal) -> Option<String> {
    match literal {
        Literal::Text(name) => Some(name.clone()),
        // A title and a name.
        Literal::Tuple(parts) => match parts.as_slice() {
            [Literal::Text(_), Literal::Text(name)] => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn shape_of(literal: &Literal) -> Option<Vec<u64>> {
    let length = |item: &Literal| match item {
        Literal::Int(length) => Some(*length),
        _ => None,
    };
    match literal {
        Literal::Int(length) => Some(vec![*length]),
        Literal::Tuple(lengths) => lengths.iter().map(length).collect(),
        _ => None,
    }
}

/// Returns the fields of a list, which are contiguous, and the size of the record in bytes.
fn fields_of_list(items: &[Literal]) -> Option<(Vec<Field>, u64)> {
    let mut fields = Vec::new();
    let mut offset = 0_u64;
    for item in items {
        let Literal::Tuple(parts) = item else {
            return None;
        };
        let (name, dtype, shape) = match parts.as_slice() {
            [name, dtype] => (name, dtype, Vec::new()),
            [name, dtype, shape] => (name, dtype, shape_of(shape)?),
            _ => return None,
        };
        let field = Field { name: name_of(name)?, dtype: Dtype::of(dtype).ok()?, shape, offset };
        offset = offset.checked_add(field.nbytes()?)?;
        // Opaque bytes without a name are padding, as in NumPy.
        if !field.name.is_empty() || field.dtype.kind != Kind::Void {
            fields.push(field);
        }
    }
    Some((fields, offset))
}

/// Returns the fields of a dictionary and the size of the record in bytes.
fn fields_of_dict(entries: &[(String, Literal)]) -> Option<(Vec<Field>, u64)> {
    let get = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let list = |key: &str| match get(key)? {
        Literal::List(items) | Literal::Tuple(items) => Some(items.as_slice()),
        _ => None,
    };
    let (names, formats) = (list("names")?, list("formats")?);
    let offsets = list("offsets");
    if names.len() != formats.len() || offsets.is_some_and(|all| all.len() != names.len()) {
        return None;
    }
    let mut fields = Vec::new();
    let mut end = 0;
    for (i, (name, format)) in names.iter().zip(formats).enumerate() {
        let (format, shape) = match format {
            Literal::Tuple(parts) => match parts.as_slice() {
                [format, shape] => (format, shape_of(shape)?),
                _ => return None,
            },
            format => (format, Vec::new()),
        };
        let offset = match offsets {
            Some(offsets) => match offsets[i] {
                Literal::Int(offset) => offset,
                _ => return None,
            },
            None => end,
        };
        let field = Field { name: name_of(name)?, dtype: Dtype::of(format).ok()?, shape, offset };
        end = end.max(offset.checked_add(field.nbytes()?)?);
        fields.push(field);
    }
    match get("itemsize") {
        Some(Literal::Int(itemsize)) => Some((fields, *itemsize)),
        Some(_) => None,
        None => Some((fields, end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numpy_dtype_strings_are_parsed() {
        // String, item size in bytes, type size of chunks, description.
        for (text, itemsize, typesize, description) in [
            ("bool", 1, Some(1), "'|b1'"),
            ("int8", 1, Some(1), "'|i1'"),
            ("uint32", 4, Some(4), "'<u4'"),
            ("float16", 2, Some(2), "'<f2'"),
            ("float128", 16, Some(16), "'<f16'"),
            ("complex128", 16, Some(16), "'<c16'"),
            ("<f10", 10, Some(10), "'<f10'"),
            ("|S0", 0, Some(1), "'|S0'"),
            (">i4", 4, Some(4), "'>i4'"),
            ("<i4", 4, Some(4), "'<i4'"),
            ("i4", 4, Some(4), "'<i4'"),
            ("f8", 8, Some(8), "'<f8'"),
            ("b1", 1, Some(1), "'|b1'"),
            ("?", 1, Some(1), "'|b1'"),
            ("|S3", 3, Some(1), "'|S3'"),
            ("|S300", 300, Some(1), "'|S300'"),
            ("<U4", 16, Some(4), "'<U4'"),
            (">U4", 16, Some(4), "'>U4'"),
            ("<U100", 400, Some(4), "'<U100'"),
            ("|V8", 8, Some(8), "'|V8'"),
            ("|V300", 300, Some(1), "'|V300'"),
            ("datetime64[ns]", 8, Some(8), "'<M8[ns]'"),
            ("datetime64[25s]", 8, Some(8), "'<M8[25s]'"),
            (">M8[D]", 8, Some(8), "'>M8[D]'"),
            ("timedelta64[s]", 8, Some(8), "'<m8[s]'"),
            ("datetime64", 8, Some(8), "'<M8'"),
            ("object", 8, Some(8), "'|O8'"),
            ("|O8", 8, Some(8), "'|O8'"),
            ("O", 8, Some(8), "'|O8'"),
            ("[('u', '<f8'), ('v', '<i2')]", 10, Some(10), "[('u', '<f8'), ('v', '<i2')]"),
            (
                "[('a', '|S1'), ('b', [('c', '>i4', (2, 3))])]",
                25,
                Some(25),
                "[('a', '|S1'), ('b', [('c', '>i4', (2, 3))])]",
            ),
            (
                "{'names':['a','b'], 'formats':['u1','<i4'], 'offsets':[0,4], 'itemsize':12}",
                12,
                Some(12),
                "[('a', '|u1'), ('', '|V3'), ('b', '<i4'), ('', '|V4')]",
            ),
        ] {
            let dtype = Dtype::parse(text).unwrap();
            assert_eq!(dtype.text(), text);
            assert_eq!(dtype.itemsize(), itemsize, "{text}");
            assert_eq!(dtype.blosc_typesize(), typesize, "{text}");
            assert_eq!(dtype.description().repr(), description, "{text}");
        }
    }

    #[test]
    fn invalid_dtype_strings_are_rejected() {
        for text in [
            "",
            "int128",
            "i3",
            "<q8",
            "x",
            "f8[s]",
            "datetime64[",
            "datetime64[a b]",
            "U",
            "S",
            "|U99999999999999999999",
            "|S4294967296",
            "__import__('os')",
            "[('a',)]",
            "[]()",
            "{'names':['a'], 'formats':[]}",
            "{'names':['a'], 'formats':['i4'], 'offsets':[1], 'itemsize':4}",
            "{'names':['a'], 'formats':['i4'], 'offsets':[18446744073709551615]}",
            "[('a', 'i4', (4294967296, 4294967296, 4294967296))]",
            "[('a', '<i4'), ('a', '<i4')]",
            "{'names':['a','a'], 'formats':['i4','i4']}",
        ] {
            let error = Dtype::parse(text).unwrap_err();
            assert!(matches!(error, Error::Dtype(shown) if shown == text));
        }
        let deep = format!("{}'i4'{}", "[('a', ".repeat(60), ")]".repeat(60));
        assert!(Dtype::parse(&deep).is_err());
    }

    #[test]
    fn records_in_other_forms_are_rejected() {
        for text in [
            "{}",
            "{'names':['a']}",
            "{'names':'a', 'formats':['i4']}",
            "{'names':['a'], 'formats':['i4', 'i4']}",
            "{'names':['a'], 'formats':['i4'], 'offsets':[]}",
            "{'names':['a'], 'formats':['i4'], 'offsets':['0']}",
            "{'names':['a'], 'formats':['i4'], 'itemsize':'4'}",
            "{'names':['a'], 'formats':[('i4',)]}",
            "{'names':['a'], 'formats':[('i4', 'x')]}",
            "{'names':[7], 'formats':['i4']}",
            "['a']",
            "[('a', 'i4', 2, 3)]",
            "[('a', 'i4', ('2',))]",
            "[(('T', 'a', 'b'), 'i4')]",
            "[((1, 2), 'i4')]",
            "[(7, 'i4')]",
            "[('a', 7)]",
            "[('a', '|V2000000000'), ('b', '|V2000000000')]",
            "True",
            "i[s]",
        ] {
            assert!(Dtype::parse(text).is_err(), "{text}");
        }
        for (text, itemsize) in [
            ("{'names':('a',), 'formats':[('i4', 2)], 'offsets':(4,)}", 12),
            ("{'names':['a'], 'formats':[('i4', (2, 3))], 'itemsize':30}", 30),
            ("[('a', 'i4', 2)]", 8),
            ("timedelta64", 8),
            (">i1", 1),
        ] {
            assert_eq!(Dtype::parse(text).unwrap().itemsize(), itemsize, "{text}");
        }
        let single = Dtype::parse(">i1").unwrap();
        assert!(!single.is_big_endian() && single.described().unwrap().text() == "|i1");
        let duration = Dtype::parse("<m8[ms]").unwrap().named();
        assert_eq!(duration.text(), "timedelta64[ms]");
    }

    #[test]
    fn descriptions_get_the_names_that_bcolz_writes() {
        for (description, text) in [
            ("'<i4'", "int32"),
            ("'|b1'", "bool"),
            ("'>i4'", ">i4"),
            ("'|S5'", "|S5"),
            ("'<U5'", "<U5"),
            ("'<M8[ms]'", "datetime64[ms]"),
            ("'>m8[ms]'", ">m8[ms]"),
            ("'<c8'", "complex64"),
            ("[('a', '<i4')]", "[('a', '<i4')]"),
        ] {
            let literal = Literal::parse(description).unwrap();
            assert_eq!(Dtype::of(&literal).unwrap().named().text(), text);
        }
    }
    #[test]
    fn descriptions_keep_titles_and_padding() {
        for text in [
            "'<f8'",
            "'|S5'",
            "[('year', '<i4'), ('c', [('iso', '|S3'), ('v', '<f4', (2,))])]",
            "[(('T', 'a'), '<i4'), ('', '|V7'), ('m', '<i2', (2, 3))]",
        ] {
            assert_eq!(Dtype::parse(text).unwrap().repr(), text);
        }
    }

    #[test]
    fn only_opaque_bytes_without_a_name_are_padding() {
        for (text, names) in [
            ("[('', '|V4'), ('b', '<i4')]", &["b"][..]),
            ("[('', '<f4'), ('b', '<i4')]", &["", "b"]),
            ("[('', [('c', '<i4')]), ('b', '<i4')]", &["", "b"]),
        ] {
            let dtype = Dtype::parse(text).unwrap();
            let found: Vec<&str> = dtype.fields().iter().map(|field| field.name.as_str()).collect();
            assert_eq!(found, names, "{text}");
            assert_eq!(dtype.itemsize(), 8);
            assert_eq!(dtype.described().unwrap().text(), text);
        }
    }

    #[test]
    fn overlapping_fields_have_no_description() {
        for text in [
            "{'names':['a','b'], 'formats':['<i4','<i2'], 'offsets':[0,0], 'itemsize':4}",
            "{'names':['a','b'], 'formats':['<i2','<i4'], 'offsets':[2,0]}",
            "{'names':['a','b','c'], 'formats':['<i8','i1','i1'], 'offsets':[0,0,7]}",
            "{'names':['a','b'], 'formats':['<i4','<i2'], 'offsets':[0,3], 'itemsize':16}",
            "[('x', {'names':['a','b'], 'formats':['<i4','<i4'], 'offsets':[0,2]}), ('y', 'i1')]",
        ] {
            let dtype = Dtype::parse(text).unwrap();
            let described = dtype.described();
            assert!(matches!(described, Err(Error::Overlap(shown)) if shown == text), "{text}");
        }
        // The order of the fields does not matter, nor do padding and fields without bytes.
        for (text, description) in [
            (
                "{'names':['b','a'], 'formats':['<i2','<i4'], 'offsets':[4,0]}",
                "[('a', '<i4'), ('b', '<i2')]",
            ),
            (
                "{'names':['a','e','b'], 'formats':['i1','|S0','i1'], 'offsets':[0,2,2]}",
                "[('a', '|i1'), ('', '|V1'), ('e', '|S0'), ('b', '|i1')]",
            ),
        ] {
            let described = Dtype::parse(text).unwrap().described().unwrap();
            assert_eq!(described.text(), description);
        }
    }

    #[test]
    fn objects_have_no_description() {
        for text in ["|O", "|O8", "[('a', '<f8'), ('b', [('c', '|O')])]"] {
            let dtype = Dtype::parse(text).unwrap();
            assert!(matches!(dtype.described(), Err(Error::Objects)), "{text}");
        }
    }
}
