//! A check of the footer of Parquet files, before the crate `parquet` reads it: the crate builds
//! the tree of the schema recursively.
//!
//! The file ends with the footer, its length (4 bytes, little-endian) and `PAR1`. The footer is a
//! struct in the compact protocol of Thrift, whose field 2 is the list of the nodes of the schema
//! in depth-first order. Field 5 of a node is the number of its children.

use super::failures::{damaged, unsupported};
use super::source::Source;
use crate::convert::error::Result;

/// The maximum depth of the schema, and of other nested values.
const MAX_DEPTH: usize = 64;

/// Types of values in the compact protocol.
mod kind {
    pub const STOP: u8 = 0;
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const I8: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 13;
}

/// Fails if the schema is nested too deeply. Other faults are left to the crate `parquet`.
pub fn check(source: &Source) -> Result<()> {
    let Some(start) = source.len().checked_sub(8) else {
        return Err(damaged("the file is truncated"));
    };
    let tail = source.bytes(start, 8)?;
    let (len, magic) = tail.split_at(4);
    let len = u64::from(u32::from_le_bytes(len.try_into().unwrap_or_default()));
    if magic != b"PAR1" {
        let is_encrypted = magic == b"PARE";
        return Err(if is_encrypted {
            unsupported("the file is encrypted")
        } else {
            damaged("the file is truncated or damaged: it does not end with PAR1")
        });
    }
    let Some(start) = start.checked_sub(len) else {
        return Err(damaged("the footer is larger than the file"));
    };
    let footer = source.bytes(start, len)?;
    match depth_of(&mut Thrift { bytes: &footer }) {
        Some(depth) if depth > MAX_DEPTH => {
            Err(unsupported(format!("the schema has more than {MAX_DEPTH} levels")))
        }
        Some(_) => Ok(()),
        None => Err(damaged("the footer is damaged")),
    }
}

/// Returns the depth of the schema; `None` if the footer is damaged.
fn depth_of(thrift: &mut Thrift<'_>) -> Option<usize> {
    let mut depth = 0;
    let mut id = 0;
    while let Some(kind) = thrift.field(&mut id)? {
        if (id, kind) != (2, kind::LIST) {
            thrift.skip(kind, 0)?;
            continue;
        }
        let (count, kind) = thrift.list()?;
        if kind != kind::STRUCT {
            return None;
        }
        // The numbers of children that are missing on each level.
        let mut missing: Vec<u64> = Vec::new();
        for _ in 0..count {
            let children = thrift.children()?;
            if children > count {
                return None;
            }
            if let Some(last) = missing.last_mut() {
                *last -= 1;
            }
            missing.push(children);
            depth = depth.max(missing.len());
            if depth > MAX_DEPTH {
                return Some(depth);
            }
            while missing.last() == Some(&0) {
                missing.pop();
            }
        }
    }
    Some(depth)
}

/// The remaining bytes of a footer.
struct Thrift<'b> {
    bytes: &'b [u8],
}

impl Thrift<'_> {
    fn skip_bytes(&mut self, len: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(len).ok()?..)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Returns the type of the next field, and updates the number of the field; `Some(None)` at the
    /// end of the struct.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let header = self.byte()?;
        if header & 0xf == kind::STOP {
            return Some(None);
        }
        *id = match header >> 4 {
            0 => self.signed()?,
            delta => id.checked_add(i64::from(delta))?,
        };
        Some(Some(header & 0xf))
    }

    /// Returns the number of the elements of a list or set, and their type. An element has at least
    /// one byte.
    fn list(&mut self) -> Option<(u64, u8)> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        (count <= self.bytes.len() as u64).then_some((count, header & 0xf))
    }

    /// Reads a node of the schema. Returns the number of its children.
    fn children(&mut self) -> Option<u64> {
        let (mut children, mut id) = (0, 0);
        while let Some(kind) = self.field(&mut id)? {
            if (id, kind) == (5, kind::I32) {
                children = u64::try_from(self.signed()?).ok()?;
            } else {
                self.skip(kind, 0)?;
            }
        }
        Some(children)
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            kind::TRUE | kind::FALSE => Some(()),
            kind::I8 => self.skip_bytes(1),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(drop),
            kind::DOUBLE => self.skip_bytes(8),
            kind::UUID => self.skip_bytes(16),
            kind::BINARY => {
                let len = self.varint()?;
                self.skip_bytes(len)
            }
            kind::LIST | kind::SET => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth))
            }
            kind::MAP => {
                let count = self.varint()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth)?;
                    self.skip_element(kinds & 0xf, depth)
                })
            }
            kind::STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Skips an element of a list or map. Booleans have a byte.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            kind::TRUE | kind::FALSE => self.skip_bytes(1),
            _ => self.skip(kind, depth + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a footer whose schema has nodes with these numbers of children.
    fn footer(children: &[u8]) -> Vec<u8> {
        // Field 1, an integer; field 2, a list with a size in a byte.
        let mut bytes = vec![0x15, 2, 0x19, 0xfc, u8::try_from(children.len()).unwrap()];
        for &count in children {
            // Field 4, a name; field 5, the number of children.
            bytes.extend([0x48, 1, b'x', 0x15, 2 * count, 0]);
        }
        bytes.push(0);
        bytes
    }

    fn depth(bytes: &[u8]) -> Option<usize> {
        depth_of(&mut Thrift { bytes })
    }

    #[test]
    fn the_depth_of_a_schema_is_that_of_its_deepest_node() {
        assert_eq!(depth(&footer(&[2, 0, 0])), Some(2));
        assert_eq!(depth(&footer(&[2, 1, 0, 0])), Some(3));
        assert_eq!(depth(&footer(&[2, 1, 1, 0, 1, 0])), Some(4));
        assert_eq!(depth(&footer(&[1; 63])), Some(63));
        assert_eq!(depth(&footer(&[1; 100])), Some(65));
        assert_eq!(depth(&footer(&[9, 0])), None);
        // A list of integers instead of nodes, an empty map, and values that are nested too deep.
        assert_eq!(depth(&[0x29, 0x15, 2, 0]), None);
        assert_eq!(depth(&[&[0x1b, 0, 0x19, 0x1c, 0x15, 2, 0, 0][..]].concat()), Some(1));
        assert_eq!(depth(&[&[0x1c; 60][..], &[0; 61]].concat()), Some(0));
        assert_eq!(depth(&[&[0x1c; 100][..], &[0; 101]].concat()), None);
        let whole = footer(&[2, 0, 0]);
        for len in 0..whole.len() {
            assert_eq!(depth(&whole[..len]), None, "{len}");
        }
    }
}
