//! Zstandard without the C library: a decoder in Rust, without unsafe code.
//!
//! The blocks of a frame are decoded directly to the destination, which is also the window: the
//! window that a frame declares, which can be any, needs no memory. (Source: RFC 8878.)
//!
//! | file | content |
//! |---|---|
//! | `bits.rs` | bit streams |
//! | `fse.rs` | tables of finite state entropy codes |
//! | `huffman.rs` | Huffman codes of literals |
//! | `block.rs` | compressed blocks |

mod bits;
mod block;
mod fse;
mod huffman;

use xxhash_rust::xxh64::xxh64;

use self::block::{MAX_BLOCK, Output, Tables};
#[cfg(any(not(feature = "zstd"), test))]
use crate::codec::CodecInfo;
#[cfg(any(not(feature = "zstd"), test))]
use crate::codec::dictionary::Dictionaries;
use crate::codec::{Dictionary, StreamCodec};
use crate::{Error, Result};

/// The row of the codec.
#[cfg(any(not(feature = "zstd"), test))]
pub(in crate::codec) const INFO: CodecInfo = CodecInfo {
    can_encode: false,
    dictionaries: Some(Dictionaries {
        train: None,
        for_encoding: |_, _| Err(Error::CodecSupport),
        for_decoding: Some(|bytes| Ok(Box::new(PureDict::new(bytes)?))),
    }),
    ..super::row(|| Box::new(PureZstd::default()))
};

const MAGIC: u32 = 0xFD2F_B528;
/// The magic numbers of skippable frames, without their lowest 4 bits.
const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;
const DICTIONARY_MAGIC: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();

/// The length of the header of a block.
const BLOCK_HEADER: usize = 3;
/// The base-2 logarithm of the largest window, as in the C library.
const MAX_WINDOW_LOG: u8 = 31;

/// A dictionary, shared by all threads of a context.
pub(super) struct PureDict {
    /// The number of a complete dictionary, and its tables; `None` for raw content.
    trained: Option<(u32, Tables)>,
    /// The content, which precedes each frame.
    content: Vec<u8>,
}

impl PureDict {
    /// Prepares a copy of `bytes`. If they begin with the dictionary magic number, they must be a
    /// complete dictionary; otherwise they are raw content.
    pub(super) fn new(bytes: &[u8]) -> Result<PureDict> {
        /// The length from which on the C library looks for the magic number.
        const MIN_TRAINED: usize = 8;

        let (trained, content) =
            if bytes.len() >= MIN_TRAINED && bytes.starts_with(&DICTIONARY_MAGIC) {
                let (id, tables, content) = parse(bytes).map_err(|_| Error::CodecDict)?;
                (Some((id, tables)), content)
            } else {
                (None, bytes)
            };
        let mut copy = Vec::new();
        copy.try_reserve_exact(content.len())?;
        copy.extend_from_slice(content);
        Ok(PureDict { trained, content: copy })
    }
}

/// Parses a trained dictionary: its number, its tables and its content.
///
/// # Errors
/// [`Error::Data`]
fn parse(mut bytes: &[u8]) -> Result<(u32, Tables, &[u8])> {
    /// The kinds of the tables in their order: offsets, match lengths, literal lengths.
    const ORDER: [usize; 3] = [1, 2, 0];

    little_endian(&mut bytes, DICTIONARY_MAGIC.len())?;
    let id = little_endian(&mut bytes, 4)? as u32;
    let mut tables = Tables::new();
    bytes = &bytes[tables.codes.read(bytes)?..];
    tables.has_codes = true;
    for kind in ORDER {
        bytes = &bytes[tables.read_sequences(kind, bytes)?..];
    }
    for offset in &mut tables.offsets {
        *offset = little_endian(&mut bytes, 4)? as u32;
    }
    let are_within = tables.offsets.iter().all(|&at| at != 0 && at as usize <= bytes.len());
    if are_within { Ok((id, tables, bytes)) } else { Err(Error::Data) }
}

/// The codec, with tables and a buffer that are reused.
#[derive(Default)]
pub(super) struct PureZstd {
    tables: Option<Tables>,
    literals: Vec<u8>,
}

impl StreamCodec for PureZstd {
    fn encode(
        &mut self,
        _level: u8,
        _dict: Option<&Dictionary>,
        _src: &[u8],
        _dest: &mut [u8],
    ) -> Result<usize> {
        Err(Error::CodecSupport)
    }

    /// Accepts any number of frames, including skippable ones.
    fn decode(
        &mut self,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        self.decode_with(dict.and_then(Dictionary::prepared::<PureDict>), src, &mut dest[..len])
    }
}

impl PureZstd {
    pub(super) fn decode_with(
        &mut self,
        dict: Option<&PureDict>,
        mut src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let mut done = 0;
        while !src.is_empty() {
            match Header::parse(&mut src)? {
                Header::Skippable(len) => {
                    src = usize::try_from(len)
                        .ok()
                        .and_then(|len| src.get(len..))
                        .ok_or(Error::Data)?;
                }
                Header::Frame(frame) => {
                    done += self.decode_frame(&frame, dict, &mut src, &mut dest[done..])?;
                }
            }
        }
        Ok(done)
    }

    /// Decodes the blocks of a frame and removes them from `src`; returns the length of the
    /// content.
    fn decode_frame(
        &mut self,
        frame: &Frame,
        dict: Option<&PureDict>,
        src: &mut &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        if frame.content_size.is_some_and(|size| size > dest.len() as u64) {
            return Err(Error::Data);
        }
        let trained = dict.and_then(|dict| dict.trained.as_ref());
        if frame.dict_id != 0 && trained.is_none_or(|(id, _)| *id != frame.dict_id) {
            return Err(Error::Data);
        }
        let tables = self.tables.get_or_insert_with(Tables::new);
        match trained {
            Some((_, of_dict)) => tables.copy_from(of_dict),
            None => tables.reset(),
        }
        let prefix = dict.map_or(&[][..], |dict| &dict.content);
        let mut output = Output { prefix, dest, done: 0 };
        loop {
            let header = little_endian(src, BLOCK_HEADER)? as usize;
            let (is_last, kind, len) = (header & 1 != 0, header >> 1 & 3, header >> 3);
            if len > MAX_BLOCK {
                return Err(Error::Data);
            }
            let stored = if kind == 1 { 1 } else { len };
            let (block, rest) = src.split_at_checked(stored).ok_or(Error::Data)?;
            *src = rest;
            match kind {
                0 => output.push(block)?,
                1 => output.fill(block[0], len)?,
                2 => block::decode(tables, &mut self.literals, block, &mut output)?,
                _ => return Err(Error::Data),
            }
            if is_last {
                break;
            }
        }
        let done = output.done;
        let content = &dest[..done];
        let is_intact = !frame.has_checksum || {
            let stored = little_endian(src, 4)? as u32;
            stored == xxh64(content, 0) as u32
        };
        let is_whole = frame.content_size.is_none_or(|size| size == done as u64);
        if is_whole && is_intact { Ok(done) } else { Err(Error::Data) }
    }
}

/// The decoder in Rust, which builds with the C library do not use; for tests.
#[cfg(all(feature = "internals", feature = "zstd"))]
#[derive(Default)]
pub struct RustDecoder(PureZstd);

#[cfg(all(feature = "internals", feature = "zstd"))]
impl RustDecoder {
    /// Decompresses frames into `dest`; returns the length of the content.
    ///
    /// # Errors
    /// [`Error::Data`] for damaged frames and for longer content,
    /// [`Error::CodecDict`] for an invalid dictionary,
    /// [`Error::MemoryAlloc`].
    pub fn decode(&mut self, dict: Option<&[u8]>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let dict = dict.map(PureDict::new).transpose()?;
        self.0.decode_with(dict.as_ref(), src, dest)
    }
}

enum Header {
    /// A frame of another program, with this length after its header.
    Skippable(u32),
    Frame(Frame),
}

/// The header of a frame.
struct Frame {
    content_size: Option<u64>,
    /// The number of the dictionary; 0 for none.
    dict_id: u32,
    has_checksum: bool,
}

impl Header {
    /// Parses a header and removes it from `src`.
    ///
    /// # Errors
    /// [`Error::Data`] for invalid and truncated headers, and for those of later formats.
    fn parse(src: &mut &[u8]) -> Result<Header> {
        let magic = little_endian(src, 4)? as u32;
        if magic & !0xF == SKIPPABLE_MAGIC {
            return Ok(Header::Skippable(little_endian(src, 4)? as u32));
        }
        let descriptor = little_endian(src, 1)? as u8;
        let is_reserved = descriptor & 8 != 0;
        if magic != MAGIC || is_reserved {
            return Err(Error::Data);
        }
        let is_single_segment = descriptor & 0x20 != 0;
        let window = if is_single_segment { None } else { Some(little_endian(src, 1)? as u8) };
        let dict_id = little_endian(src, [0, 1, 2, 4][usize::from(descriptor & 3)])? as u32;
        let content_size = match descriptor >> 6 {
            0 if !is_single_segment => None,
            0 => Some(little_endian(src, 1)?),
            1 => Some(little_endian(src, 2)? + 256),
            2 => Some(little_endian(src, 4)?),
            _ => Some(little_endian(src, 8)?),
        };
        // The C library uses this number for an unknown size.
        let content_size = content_size.filter(|&size| size != u64::MAX);
        if window.is_some_and(|window| 10 + (window >> 3) > MAX_WINDOW_LOG) {
            return Err(Error::Data);
        }
        let has_checksum = descriptor & 4 != 0;
        Ok(Header::Frame(Frame { content_size, dict_id, has_checksum }))
    }
}

/// Removes `len` bytes from `src`, at most 8, and returns their number.
fn little_endian(src: &mut &[u8], len: usize) -> Result<u64> {
    let (bytes, rest) = src.split_at_checked(len).ok_or(Error::Data)?;
    *src = rest;
    Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
