//! Snappy: the block format in chunks of C-Blosc 1.x. It has no levels and no dictionaries.
//!
//! A stream is the length of its content as a varint, followed by elements: literal bytes, or
//! copies from up to 64 KiB back. The encoder's hash table is as long as its input, and no match
//! begins in the last 15 bytes. In short streams it therefore misses matches by collisions and near
//! the end, and chunks of small blocks would be up to 6 % longer than C-Blosc's. So a short stream
//! is encoded with zeros appended, and the elements for the zeros are removed.

use super::{Blosc1Splitting, CodecInfo, Dictionary, StreamCodec, format, id};
use crate::{Error, Result, kernels};

/// The codec's row. A copy encodes 64 bytes in 3 bytes.
pub(super) const INFO: CodecInfo = CodecInfo {
    title: "Snappy",
    library: c"Snappy",
    is_blosc1_only: true,
    blosc1_splitting: Blosc1Splitting::Automatic,
    max_expansion: 22,
    ..CodecInfo::built_in(id::SNAPPY, c"snappy", format::SNAPPY, || Box::new(Snappy::default()))
};

/// The encoder's largest hash table, in entries and in bytes of input. Shorter streams are padded.
const MAX_TABLE: usize = 16 << 10;
/// The factor by which padding extends a stream. With half of it, collisions sometimes cost 3 % of
/// a chunk.
const PADDING: usize = 16;

/// The Snappy codec with its buffers.
#[derive(Default)]
struct Snappy {
    encoder: Option<snap::raw::Encoder>,
    /// A short stream with its padding.
    padded: Vec<u8>,
    /// An output buffer of the worst-case size, which the encoder requires.
    bound: Vec<u8>,
}

impl StreamCodec for Snappy {
    fn encode(
        &mut self,
        _level: u8,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let encoder = self.encoder.get_or_insert_with(snap::raw::Encoder::new);
        let is_short = src.len() < MAX_TABLE;
        let input = if is_short {
            self.padded.clear();
            self.padded.try_reserve(MAX_TABLE)?;
            self.padded.extend_from_slice(src);
            self.padded.resize((PADDING * src.len()).min(MAX_TABLE), 0);
            &self.padded
        } else {
            src
        };
        let bound = snap::raw::max_compress_len(input.len());
        if !is_short && dest.len() >= bound {
            return Ok(encoder.compress(input, dest).unwrap_or(0));
        }
        if self.bound.len() < bound {
            self.bound.try_reserve_exact(bound - self.bound.len())?;
            self.bound.resize(bound, 0);
        }
        let len = encoder.compress(input, &mut self.bound).unwrap_or(0);
        let encoded = &self.bound[..len];
        if is_short {
            return Ok(write_prefix(encoded, src.len(), dest).unwrap_or(0));
        }
        let Some(dest) = dest.get_mut(..len) else {
            return Ok(0);
        };
        kernels::copy::copy(encoded, dest);
        Ok(len)
    }

    fn decode(
        &mut self,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        let dest = &mut dest[..len];
        snap::raw::Decoder::new().decompress(src, dest).map_err(|_| Error::Data)
    }
}

/// Writes a stream of the first `content` bytes of those in `encoded` to `dest`. Returns its
/// length, or `None` if it does not fit.
fn write_prefix(encoded: &[u8], content: usize, dest: &mut [u8]) -> Option<usize> {
    let header = encoded.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let elements = &encoded[header..];
    let mut whole = 0;
    let mut left = content;
    let last = loop {
        if left == 0 {
            break None;
        }
        let element = Element::parse(&elements[whole..])?;
        if element.content > left {
            break Some(element);
        }
        left -= element.content;
        whole += element.len;
    };
    let mut writer = Writer { dest, len: 0 };
    writer.varint(content)?;
    writer.put(&elements[..whole])?;
    match last.map(|element| element.kind) {
        None => {}
        Some(Kind::Literal(bytes)) => writer.literal(&bytes[..left])?,
        Some(Kind::Copy(offset)) => writer.copy(offset, left)?,
    }
    Some(writer.len)
}

struct Element<'a> {
    kind: Kind<'a>,
    /// The encoded size in bytes.
    len: usize,
    /// The number of content bytes.
    content: usize,
}

enum Kind<'a> {
    Literal(&'a [u8]),
    /// A copy from this many bytes back.
    Copy(u16),
}

/// The element types, in the lowest two bits of an element.
const LITERAL: u8 = 0;
const SHORT_COPY: u8 = 1;
const COPY: u8 = 2;
/// Literals longer than this have their length after the tag.
const SHORT_LITERAL: usize = 60;

impl Element<'_> {
    /// Parses the element at the start of `bytes`. Returns `None` if it is truncated or has a
    /// 4-byte offset.
    fn parse(bytes: &[u8]) -> Option<Element<'_>> {
        let tag = *bytes.first()?;
        let high = usize::from(tag >> 2);
        match tag & 3 {
            LITERAL => {
                let size_bytes = (high + 1).saturating_sub(SHORT_LITERAL);
                let start = 1 + size_bytes;
                let content = 1 + match size_bytes {
                    0 => high,
                    _ => little_endian(bytes.get(1..start)?),
                };
                let len = start + content;
                let kind = Kind::Literal(bytes.get(start..len)?);
                Some(Element { kind, len, content })
            }
            SHORT_COPY => Some(Element {
                kind: Kind::Copy(u16::from_be_bytes([tag >> 5, *bytes.get(1)?])),
                len: 2,
                content: 4 + (high & 7),
            }),
            COPY => Some(Element {
                kind: Kind::Copy(u16::from_le_bytes([*bytes.get(1)?, *bytes.get(2)?])),
                len: 3,
                content: 1 + high,
            }),
            _ => None,
        }
    }
}

fn little_endian(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte))
}

/// Writes a stream, up to the capacity of `dest`.
struct Writer<'a> {
    dest: &'a mut [u8],
    len: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.len + bytes.len();
        self.dest.get_mut(self.len..end)?.copy_from_slice(bytes);
        self.len = end;
        Some(())
    }

    fn varint(&mut self, mut value: usize) -> Option<()> {
        while value >= 0x80 {
            self.put(&[value as u8 | 0x80])?;
            value >>= 7;
        }
        self.put(&[value as u8])
    }

    /// Writes a literal of 1 byte to 64 KiB.
    fn literal(&mut self, bytes: &[u8]) -> Option<()> {
        let code = bytes.len() - 1;
        let [low, high, ..] = code.to_le_bytes();
        match code {
            ..SHORT_LITERAL => self.put(&[(code as u8) << 2 | LITERAL])?,
            SHORT_LITERAL..=0xFF => self.put(&[(SHORT_LITERAL as u8) << 2 | LITERAL, low])?,
            _ => self.put(&[(SHORT_LITERAL as u8 + 1) << 2 | LITERAL, low, high])?,
        }
        self.put(bytes)
    }

    /// Writes a copy of 1 to 64 bytes.
    fn copy(&mut self, offset: u16, len: usize) -> Option<()> {
        let [low, high] = offset.to_le_bytes();
        match len {
            4..=11 if high < 8 => self.put(&[high << 5 | (len as u8 - 4) << 2 | SHORT_COPY, low]),
            _ => self.put(&[(len as u8 - 1) << 2 | COPY, low, high]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(src: &[u8]) -> Vec<u8> {
        let mut dest = vec![0; snap::raw::max_compress_len(src.len())];
        let len = Snappy::default().encode(5, None, src, &mut dest).unwrap();
        dest.truncate(len);
        dest
    }

    fn decode(encoded: &[u8]) -> Vec<u8> {
        snap::raw::Decoder::new().decompress_vec(encoded).unwrap()
    }

    /// Returns literals, short and long copies, and literals again.
    fn varied(len: usize) -> Vec<u8> {
        let literal = |n: usize| (0..n).map(move |i| (i * i * 7 + i / 3 + n) as u8);
        let mut bytes: Vec<u8> = literal(300).collect();
        bytes.extend(literal(300).take(9));
        bytes.extend(literal(77));
        bytes.extend(literal(300).skip(100));
        bytes.extend([0; 90]);
        bytes.extend(literal(2500));
        bytes.into_iter().cycle().take(len).collect()
    }

    #[test]
    fn a_stream_can_be_truncated_at_each_byte() {
        let src = varied(3500);
        let mut encoded = vec![0; snap::raw::max_compress_len(src.len())];
        let len = snap::raw::Encoder::new().compress(&src, &mut encoded).unwrap();
        for content in 1..=src.len() {
            let mut dest = vec![0; len + 8];
            let size = write_prefix(&encoded[..len], content, &mut dest).unwrap();
            assert_eq!(decode(&dest[..size]), src[..content], "{content} bytes");
            assert!(write_prefix(&encoded[..len], content, &mut dest[..size - 1]).is_none());
        }
    }

    #[test]
    fn streams_of_all_lengths_round_trip() {
        let src = varied(MAX_TABLE + 100);
        for len in (0..400).chain([1000, 4095, 4096, MAX_TABLE - 1, MAX_TABLE, src.len()]) {
            assert_eq!(decode(&encode(&src[..len])), src[..len], "{len} bytes");
        }
    }

    #[test]
    fn a_short_stream_has_matches_up_to_its_last_byte() {
        let src = b"0123456789abcdef".repeat(20);
        // Length, a literal of 16 bytes with its tag, copies of 304 bytes.
        assert_eq!(encode(&src).len(), 2 + 17 + 5 * 3);
    }
}
