//! Values of MessagePack.
//!
//! `rmpv` decodes the byte 0xc1, which the format does not use, as nil. A message with it is invalid
//! here, as for other decoders.

use rmpv::Value;
use rmpv::decode::read_value_with_max_depth;

/// Decodes bytes that are one value. Returns `None` for other bytes, and for more than `max_depth`
/// levels; each nested value has two.
pub fn decode(bytes: &[u8], max_depth: usize) -> Option<Value> {
    count_values(bytes)?;
    decode_counted(bytes, max_depth)
}

/// Decodes bytes as [`decode`], after [`count_values`] has found a value.
pub(crate) fn decode_counted(mut bytes: &[u8], max_depth: usize) -> Option<Value> {
    let value = read_value_with_max_depth(&mut bytes, max_depth).ok()?;
    bytes.is_empty().then_some(value)
}

/// Returns the number of values in the first MessagePack value of `bytes`, or `None` if it is
/// truncated or invalid. The content of extensions is not counted.
pub(crate) fn count_values(mut bytes: &[u8]) -> Option<u64> {
    let (mut pending, mut count) = (1u64, 0);
    while pending > 0 {
        // Each value has at least one byte.
        if pending > bytes.len() as u64 {
            return None;
        }
        let (&marker, rest) = bytes.split_first()?;
        let number = |len: usize| {
            let digits = rest.get(..len)?.iter();
            Some(digits.fold(0u64, |number, &byte| number << 8 | u64::from(byte)))
        };
        // The bytes after the marker, and the values in an array or a map.
        let (skipped, children) = match marker {
            0x00..=0x7f | 0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => (0, 0),
            0x80..=0x8f => (0, u64::from(marker & 0x0f) * 2),
            0x90..=0x9f => (0, u64::from(marker & 0x0f)),
            0xa0..=0xbf => (u64::from(marker & 0x1f), 0),
            0xc1 => return None,
            0xc4..=0xc6 => {
                let len = 1 << (marker - 0xc4);
                (len as u64 + number(len)?, 0)
            }
            0xc7..=0xc9 => {
                let len = 1 << (marker - 0xc7);
                (len as u64 + 1 + number(len)?, 0)
            }
            0xca => (4, 0),
            0xcb => (8, 0),
            0xcc..=0xcf => (1 << (marker - 0xcc), 0),
            0xd0..=0xd3 => (1 << (marker - 0xd0), 0),
            0xd4..=0xd8 => (1 + (1 << (marker - 0xd4)), 0),
            0xd9..=0xdb => {
                let len = 1 << (marker - 0xd9);
                (len as u64 + number(len)?, 0)
            }
            0xdc | 0xdd => {
                let len = 2 << (marker - 0xdc);
                (len as u64, number(len)?)
            }
            0xde | 0xdf => {
                let len = 2 << (marker - 0xde);
                (len as u64, number(len)? * 2)
            }
        };
        bytes = rest.get(usize::try_from(skipped).ok()?..)?;
        count += 1;
        pending = pending - 1 + children;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counted_values_are_those_that_are_decoded() {
        for (bytes, count) in [
            (&b"\x01"[..], 1),
            (b"\x82\xa1a\x01\xa1b\x92\xc0\xc3", 7),
            (b"\xc4\x03abc", 1),
            (b"\xc5\x00\x01a", 1),
            (b"\xc7\x02\x07ab", 1),
            (b"\xd5\x07ab", 1),
            (b"\xd8\x070123456789abcdef", 1),
            (b"\xcb\0\0\0\0\0\0\0\0", 1),
            (b"\xcd\x01\x02", 1),
            (b"\xd3\0\0\0\0\0\0\0\x01", 1),
            (b"\xda\0\x02ab", 1),
            (b"\xdc\0\x02\x01\x02", 3),
            (b"\xde\0\x01\x01\x02", 3),
            (b"\xdf\0\0\0\x01\x01\x02", 3),
        ] {
            assert_eq!(count_values(bytes), Some(count), "{bytes:?}");
            assert_eq!(count_values(&bytes[..bytes.len() - 1]), None, "{bytes:?}");
            assert!(decode(bytes, 10).is_some(), "{bytes:?}");
        }
    }

    #[test]
    fn the_unused_byte_is_invalid_at_any_depth() {
        for bytes in [&b"\xc1"[..], b"\x91\xc1", b"\x81\xa1a\xc1", b"\x81\xc1\x01", b"\xc0\xc1"] {
            assert_eq!(decode(bytes, 10), None, "{bytes:?}");
        }
        // Within texts and bytes it is data.
        assert_eq!(decode(b"\xc4\x01\xc1", 10), Some(Value::Binary(vec![0xc1])));
    }
}
