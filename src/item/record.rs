//! The dtypes of records, for the derive macro.

use std::borrow::Cow;

/// A field of a record, or padding.
pub struct Field {
    /// The name of the field.
    pub name: &'static str,
    /// Returns the dtype of an item of the field.
    pub dtype: fn() -> Cow<'static, str>,
    /// Whether items with a dtype can be those of the field.
    pub matches: fn(&str) -> bool,
    /// The lengths of the field if it is an array.
    pub shape: &'static [usize],
    /// The offset of the field in the record, in bytes.
    pub offset: usize,
    /// The size of the field in bytes.
    pub size: usize,
    /// Whether the field has no name in the dtype.
    pub is_padding: bool,
}

impl Field {
    /// Returns the dtype as a Python literal: text in quotes, or a list or dictionary.
    fn literal(&self) -> String {
        let dtype = (self.dtype)();
        if dtype.starts_with(['[', '{']) { dtype.into_owned() } else { format!("'{dtype}'") }
    }

    /// Returns the shape as a Python tuple.
    fn tuple(&self) -> String {
        let lens: String = self.shape.iter().map(|len| format!("{len}, ")).collect();
        // A tuple of one number ends with a comma.
        let end = if self.shape.len() == 1 { 1 } else { 2 };
        format!("({})", &lens[..lens.len() - end])
    }
}

/// Returns the dtype of a record in NumPy's notation: a list of names and dtypes, or with padding a
/// dictionary with offsets.
pub fn dtype(fields: &[Field]) -> String {
    let join = |entry: &dyn Fn(&Field) -> String| {
        let named = fields.iter().filter(|field| !field.is_padding);
        named.map(entry).collect::<Vec<_>>().join(", ")
    };
    if fields.iter().all(|field| !field.is_padding) {
        return format!(
            "[{}]",
            join(&|field| match field.shape {
                [] => format!("('{}', {})", field.name, field.literal()),
                _ => format!("('{}', {}, {})", field.name, field.literal(), field.tuple()),
            })
        );
    }
    format!(
        "{{'names': [{}], 'formats': [{}], 'offsets': [{}], 'itemsize': {}}}",
        join(&|field| format!("'{}'", field.name)),
        join(&|field| match field.shape {
            [] => field.literal(),
            _ => format!("({}, {})", field.literal(), field.tuple()),
        }),
        join(&|field| field.offset.to_string()),
        fields.iter().map(|field| field.size).sum::<usize>()
    )
}

/// Whether a record with this dtype has the names, dtypes, shapes and offsets of `fields`. Both of
/// NumPy's notations are compared, with the dtypes of fields in any form.
pub fn matches(dtype: &str, fields: &[Field]) -> bool {
    let Some(node) = Node::parse_all(dtype) else {
        return false;
    };
    let named = || fields.iter().filter(|field| !field.is_padding);
    match &node.value {
        Value::List(entries) => matches_list(entries, fields),
        Value::Dict(entries) => {
            let list = |key: &str| {
                let found = entries.iter().find(|(name, _)| name.is_text(key));
                found.and_then(|(_, node)| match &node.value {
                    Value::List(nodes) => Some(nodes),
                    _ => None,
                })
            };
            let (Some(names), Some(formats), Some(offsets)) =
                (list("names"), list("formats"), list("offsets"))
            else {
                return false;
            };
            let count = named().count();
            names.len() == count
                && formats.len() == count
                && offsets.len() == count
                && named().zip(names.iter().zip(formats.iter().zip(offsets))).all(
                    |(field, (name, (format, offset)))| {
                        name.is_text(field.name)
                            && offset.is_number(field.offset)
                            && match &format.value {
                                Value::List(parts) if parts.len() == 2 && format.is_tuple() => {
                                    matches_field(field, &parts[0], Some(&parts[1]))
                                }
                                _ => matches_field(field, format, None),
                            }
                    },
                )
        }
        _ => false,
    }
}

/// Compares a list of tuples: name, dtype and, for arrays, shape. Padding has an empty name and the
/// dtype `|VN`.
fn matches_list(entries: &[Node<'_>], fields: &[Field]) -> bool {
    let mut named = fields.iter().filter(|field| !field.is_padding);
    let mut offset = 0;
    for entry in entries {
        let Value::List(parts) = &entry.value else {
            return false;
        };
        let (name, dtype, shape) = match &parts[..] {
            [name, dtype] => (name, dtype, None),
            [name, dtype, shape] => (name, dtype, Some(shape)),
            _ => return false,
        };
        if name.is_text("") {
            let len = match dtype.value {
                Value::Text(text) => text.trim_start_matches('|').strip_prefix('V'),
                _ => None,
            };
            let Some(len) = len.and_then(|len| len.parse::<u32>().ok()) else {
                return false;
            };
            offset += len as usize;
            continue;
        }
        let is_same = named.next().is_some_and(|field| {
            let is_same = name.is_text(field.name)
                && offset == field.offset
                && matches_field(field, dtype, shape);
            offset += field.size;
            is_same
        });
        if !is_same {
            return false;
        }
    }
    named.next().is_none()
}

fn matches_field(field: &Field, dtype: &Node<'_>, shape: Option<&Node<'_>>) -> bool {
    let has_shape = match shape.map(|shape| &shape.value) {
        None => field.shape.is_empty(),
        Some(Value::Number(len)) => field.shape == [*len],
        Some(Value::List(lens)) => {
            lens.len() == field.shape.len()
                && lens.iter().zip(field.shape).all(|(len, &own)| len.is_number(own))
        }
        Some(_) => false,
    };
    has_shape
        && match dtype.value {
            Value::Text(text) => (field.matches)(text),
            Value::List(_) | Value::Dict(_) => (field.matches)(dtype.source),
            _ => false,
        }
}

/// A part of a Python literal.
struct Node<'a> {
    source: &'a str,
    value: Value<'a>,
}

enum Value<'a> {
    Text(&'a str),
    Number(usize),
    /// A list or a tuple.
    List(Vec<Node<'a>>),
    Dict(Vec<(Node<'a>, Node<'a>)>),
    /// `True`, `False` or `None`.
    Word,
}

/// The depth of nested brackets that is parsed.
const MAX_DEPTH: usize = 32;

impl<'a> Node<'a> {
    fn is_text(&self, text: &str) -> bool {
        matches!(self.value, Value::Text(own) if own == text)
    }

    fn is_number(&self, number: usize) -> bool {
        matches!(self.value, Value::Number(own) if own == number)
    }

    fn is_tuple(&self) -> bool {
        self.source.starts_with('(')
    }

    /// Parses a whole literal. Text with escapes is not supported, since no name of a field needs
    /// them.
    fn parse_all(source: &'a str) -> Option<Node<'a>> {
        let mut rest = source;
        let node = Node::parse(&mut rest, MAX_DEPTH)?;
        rest.trim_start().is_empty().then_some(node)
    }

    /// Parses one value from the start of `rest`, and removes it.
    fn parse(rest: &mut &'a str, depth: usize) -> Option<Node<'a>> {
        *rest = rest.trim_start();
        let start = *rest;
        let first = start.chars().next()?;
        let value = match first {
            '\'' | '"' => {
                let (text, after) = start[1..].split_once(first)?;
                *rest = after;
                if text.contains('\\') {
                    return None;
                }
                Value::Text(text)
            }
            '0'..='9' => {
                let end = start.find(|c: char| !c.is_ascii_digit()).unwrap_or(start.len());
                *rest = &start[end..];
                Value::Number(start[..end].parse().ok()?)
            }
            '[' | '(' | '{' => {
                let depth = depth.checked_sub(1)?;
                let close = match first {
                    '[' => ']',
                    '(' => ')',
                    _ => '}',
                };
                *rest = &start[1..];
                let (mut nodes, mut pairs) = (Vec::new(), Vec::new());
                loop {
                    *rest = rest.trim_start();
                    if let Some(after) = rest.strip_prefix(close) {
                        *rest = after;
                        break;
                    }
                    let node = Node::parse(rest, depth)?;
                    if first == '{' {
                        *rest = rest.trim_start().strip_prefix(':')?;
                        pairs.push((node, Node::parse(rest, depth)?));
                    } else {
                        nodes.push(node);
                    }
                    *rest = rest.trim_start();
                    match rest.strip_prefix(',') {
                        Some(after) => *rest = after,
                        None if rest.starts_with(close) => {}
                        None => return None,
                    }
                }
                if first == '{' { Value::Dict(pairs) } else { Value::List(nodes) }
            }
            _ => {
                let word =
                    ["True", "False", "None"].into_iter().find(|word| start.starts_with(word))?;
                *rest = &start[word.len()..];
                Value::Word
            }
        };
        Some(Node { source: &start[..start.len() - rest.len()], value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Item;
    use crate::item::native;

    fn field<T: Item>(name: &'static str, offset: usize) -> Field {
        Field {
            name,
            dtype: T::dtype,
            matches: T::matches,
            shape: &[],
            offset,
            size: size_of::<T>(),
            is_padding: false,
        }
    }

    #[test]
    fn records_without_padding_are_lists() {
        let of_array = |field: Field, shape: &'static [usize]| {
            let size = field.size * shape.iter().product::<usize>();
            Field { shape, size, ..field }
        };
        let fields = [
            field::<i64>("time", 0),
            of_array(field::<f32>("position", 8), &[3]),
            of_array(field::<u8>("tag", 20), &[2, 2]),
        ];
        let own = &native("[('time', '<i8'), ('position', '<f4', (3,)), ('tag', '|u1', (2, 2))]");
        assert_eq!(&dtype(&fields), own);
        for same in [
            &native("[('time', '<i8'), ('position', '<f4', 3), ('tag', '|u1', (2, 2)),]"),
            "[('time','<M8[ns]'),('position', 'f4', (3,)), (\"tag\", 'u1', (2, 2))]",
            "[('time', '=i8'), ('position', '<f4', 3), ('tag', '|u1', (2, 2)),]",
            "{'names': ['time', 'position', 'tag'], 'formats': ['<i8', ('<f4', (3,)), ('u1', (2, 2))], \
             'offsets': [0, 8, 20], 'itemsize': 24, 'aligned': True}",
        ] {
            // Without an order, numbers are little-endian.
            let is_native = same.contains('>') || cfg!(target_endian = "little");
            assert_eq!(matches(same, &fields), is_native, "{same}");
        }
        assert!(matches(own, &fields));
        for other in [
            "[('time', '>i8'), ('position', '<f4', (3,)), ('tag', '|u1', (2, 2))]",
            "[('time', '<i8'), ('position', '<f4', (3,)), ('label', '|u1', (2, 2))]",
            "[('time', '<i8'), ('position', '<f4', (4,)), ('tag', '|u1', (2, 2))]",
            "[('time', '<i8'), ('position', '<f4'), ('tag', '|u1', (2, 2))]",
            "[('time', '<i8'), ('tag', '|u1', (2, 2)), ('position', '<f4', (3,))]",
            "[('time', '<i8'), ('position', '<f4', (3,))]",
            "[('time', '<i8'), ('position', '<f4', (3,)), ('tag', '|u1', (2, 2)), ('x', '|u1')]",
            "[('time', '<i8'), ('position', '<f4', (3,)), ('tag', '|u1', (2, 2))",
            "[('time', '<i8'), ('position', '<f4', (3,)), ('tag', '|u1', (2, 2))] x",
            "{'names': ['time', 'position', 'tag'], 'formats': ['<i8', ('<f4', (3,)), ('u1', (2, 2))], \
             'offsets': [0, 8, 21], 'itemsize': 24}",
            "|V24",
            "",
            "[",
            "{'names': 1}",
            "[1]",
            "[('time',)]",
            "None",
        ] {
            assert!(!matches(&native(other), &fields), "{other}");
        }
    }

    #[test]
    fn records_with_padding_are_dictionaries() {
        let fields = [
            field::<u8>("a", 0),
            Field { is_padding: true, ..field::<[u8; 7]>("_pad", 1) },
            field::<f64>("b", 8),
        ];
        let own = native(
            "{'names': ['a', 'b'], 'formats': ['|u1', '<f8'], 'offsets': [0, 8], 'itemsize': 16}",
        );
        assert_eq!(dtype(&fields), own);
        let matches = |dtype: &str, fields: &[Field]| matches(&native(dtype), fields);
        assert!(super::matches(&own, &fields));
        assert!(matches("[('a', 'u1'), ('', '|V7'), ('b', '<f8')]", &fields));
        assert!(!matches("[('a', 'u1'), ('b', '<f8'), ('', '|V7')]", &fields));
        assert!(!matches("[('a', 'u1'), ('', '|V'), ('b', '<f8')]", &fields));
        assert!(!matches("[('a', 'u1'), ('b', '<f8')]", &fields));
    }

    #[test]
    fn deep_brackets_and_long_numbers_are_refused() {
        let fields = [field::<u8>("a", 0)];
        assert!(!matches(&"[".repeat(100_000), &fields));
        assert!(!matches("[('a', '|u1', 99999999999999999999999)]", &fields));
        assert!(!matches("[('', '|V99999999999999999999'), ('a', '|u1')]", &fields));
        assert!(!matches("[('a\\'', '|u1')]", &fields));
    }
}
