//! Zstandard without the C library: the decoder of the crate `ruzstd`.
//!
//! The decoder collects a frame in a buffer as large as the window that the frame declares. A
//! hostile frame may declare any window, so the decoder is passed a header of our own: its window
//! is not larger than the content that the caller expects. The rest of the original header is
//! checked here.

use std::sync::atomic::{AtomicU64, Ordering};

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, Dictionary as RuzstdDictionary, FrameDecoder};
use ruzstd::io::Read;
use xxhash_rust::xxh64::xxh64;

use crate::codec::dictionary::Dictionaries;
use crate::codec::{CodecInfo, Dictionary, StreamCodec};
use crate::{Error, Result};

/// The row of the codec.
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

/// The number under which the decoder keeps its dictionary. Our headers contain no number.
const DICTIONARY_ID: u32 = 0;
/// The maximum size of the content of a block.
const MAX_BLOCK: usize = 128 << 10;
/// The base-2 logarithm of the largest window, as in the C library.
const MAX_WINDOW_LOG: u8 = 31;
/// The number of bytes that are decoded before finished ones are copied to the destination.
const STEP: usize = 1 << 20;

/// A dictionary, shared by all threads of a context.
pub(super) struct PureDict {
    /// Differs for each dictionary of the process.
    key: u64,
    kind: DictKind,
}

enum DictKind {
    /// Only content, which precedes each frame.
    Raw(Vec<u8>),
    /// A complete dictionary with this number. Each decoder parses it, since it needs a copy.
    Trained { id: u32, bytes: Vec<u8> },
}

impl PureDict {
    /// Prepares a copy of `bytes`. If they begin with the dictionary magic number, they must be a
    /// complete dictionary; otherwise they are raw content.
    pub(super) fn new(bytes: &[u8]) -> Result<PureDict> {
        /// The length from which on the C library looks for the magic number.
        const MIN_TRAINED: usize = 8;
        static KEYS: AtomicU64 = AtomicU64::new(1);

        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len())?;
        copy.extend_from_slice(bytes);
        let kind = if bytes.len() >= MIN_TRAINED && bytes.starts_with(&DICTIONARY_MAGIC) {
            DictKind::Trained { id: parse(bytes)?.id, bytes: copy }
        } else {
            DictKind::Raw(copy)
        };
        // Relaxed: the number orders no other memory.
        Ok(PureDict { key: KEYS.fetch_add(1, Ordering::Relaxed), kind })
    }
}

/// Parses a trained dictionary.
///
/// # Errors
/// [`Error::CodecDict`]
fn parse(bytes: &[u8]) -> Result<RuzstdDictionary> {
    let dict = RuzstdDictionary::decode_dict(bytes).map_err(|_| Error::CodecDict)?;
    let len = dict.dict_content.len();
    let are_within = dict.offset_hist.iter().all(|&at| at != 0 && at as usize <= len);
    if are_within { Ok(dict) } else { Err(Error::CodecDict) }
}

/// The codec with its decoder, which is reset for each frame.
#[derive(Default)]
pub(super) struct PureZstd {
    decoder: Option<FrameDecoder>,
    /// The key of the dictionary that the decoder has; 0 for none.
    dict: u64,
    /// The number of bytes for which the decoder has memory.
    reserved: usize,
    /// A frame with the content of a dictionary before its blocks.
    prefixed: Vec<u8>,
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

    /// Decodes the blocks of a frame and removes them from `src`; returns the length of the content.
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
        let dict_id = match dict.map(|dict| &dict.kind) {
            Some(DictKind::Trained { id, .. }) => *id,
            Some(DictKind::Raw(_)) | None => 0,
        };
        if frame.dict_id != 0 && frame.dict_id != dict_id {
            return Err(Error::Data);
        }
        let (prefix, trained) = match dict.map(|dict| (dict.key, &dict.kind)) {
            Some((_, DictKind::Raw(bytes))) => (&**bytes, None),
            Some((key, DictKind::Trained { bytes, .. })) => (&[][..], Some((key, bytes))),
            None => (&[][..], None),
        };
        let wanted = match usize::try_from(frame.window) {
            // The C library accepts whole blocks in smaller windows, too.
            Ok(window) if prefix.is_empty() => window.max(MAX_BLOCK).min(dest.len()),
            // The window moves over the prefix, which must stay complete.
            _ => dest.len().checked_add(prefix.len()).ok_or(Error::MemoryAlloc)?,
        };
        let descriptor = window_descriptor(wanted);
        self.reserve(window_of(descriptor))?;
        let decoder = self.decoder.get_or_insert_with(|| {
            let mut decoder = FrameDecoder::new();
            decoder.set_max_window_size(u64::MAX);
            decoder
        });
        if let Some((key, bytes)) = trained
            && key != self.dict
        {
            let mut dict = parse(bytes)?;
            dict.id = DICTIONARY_ID;
            decoder.add_dict(dict).map_err(failure)?;
            self.dict = key;
        }
        let header = frame.header(descriptor);
        decoder.reset(&header[..]).map_err(failure)?;
        if trained.is_some() {
            decoder.force_dict(DICTIONARY_ID).map_err(failure)?;
        }
        if !prefix.is_empty() {
            write_raw_blocks(prefix, &mut self.prefixed)?;
            let all = BlockDecodingStrategy::UptoBytes(prefix.len());
            decoder.decode_blocks(&self.prefixed[..], all).map_err(failure)?;
        }
        let mut unread = prefix.len();
        let mut done = 0;
        loop {
            let is_last = decoder
                .decode_blocks(&mut *src, BlockDecodingStrategy::UptoBytes(STEP))
                .map_err(failure)?;
            // The window contains the prefix until the frame ends.
            while unread > 0 && is_last {
                let buffer = &mut [0; 4096][..unread.min(4096)];
                unread -= match read(decoder, buffer)? {
                    0 => return Err(Error::Data),
                    len => len,
                };
            }
            done += read(decoder, &mut dest[done..])?;
            if decoder.can_collect() > 0 {
                return Err(Error::Data);
            }
            if is_last {
                break;
            }
        }
        let content = &dest[..done];
        let is_whole = frame.content_size.is_none_or(|size| size == done as u64);
        let is_intact = match decoder.get_checksum_from_data() {
            Some(stored) => stored == xxh64(content, 0) as u32,
            None => true,
        };
        if is_whole && is_intact { Ok(done) } else { Err(Error::Data) }
    }

    /// Returns the number of bytes for which the decoder has memory.
    #[cfg(test)]
    pub(super) fn reserved(&self) -> usize {
        self.reserved
    }

    /// Checks that there is memory for a window, since the decoder panics without it.
    fn reserve(&mut self, window: usize) -> Result<()> {
        if window <= self.reserved {
            return Ok(());
        }
        // The decoder allocates at most twice the window and the bytes of a step.
        let most = window.saturating_add(STEP + MAX_BLOCK).saturating_mul(2);
        let mut memory = Vec::<u8>::new();
        memory.try_reserve_exact(most)?;
        // Keeps the compiler from removing the unused allocation.
        std::hint::black_box(&memory);
        self.reserved = window;
        Ok(())
    }
}

fn read(decoder: &mut FrameDecoder, dest: &mut [u8]) -> Result<usize> {
    decoder.read(dest).map_err(|_| Error::Data)
}

fn failure(_: FrameDecoderError) -> Error {
    Error::Data
}

/// Writes `bytes` as blocks of raw bytes that are not the last block of a frame.
///
/// ```text
/// last:1 bit  type:2 bits  length:21 bits | bytes
/// ```
fn write_raw_blocks(bytes: &[u8], blocks: &mut Vec<u8>) -> Result<()> {
    const HEADER_LEN: usize = 3;
    blocks.clear();
    blocks.try_reserve(bytes.len() + bytes.len().div_ceil(MAX_BLOCK) * HEADER_LEN)?;
    for block in bytes.chunks(MAX_BLOCK) {
        blocks.extend_from_slice(&((block.len() as u32) << 3).to_le_bytes()[..HEADER_LEN]);
        blocks.extend_from_slice(block);
    }
    Ok(())
}

/// Returns the window size of a descriptor: `1 + mantissa / 8` times `2 ** (exponent + 10)` bytes.
fn window_of(descriptor: u8) -> usize {
    let base = 1_usize << (10 + (descriptor >> 3)).min(usize::BITS as u8 - 2);
    base + base / 8 * usize::from(descriptor & 7)
}

/// Returns the descriptor of the smallest window of at least `len` bytes.
fn window_descriptor(len: usize) -> u8 {
    const LARGEST: u8 = (MAX_WINDOW_LOG - 10) << 3;
    (0..LARGEST).find(|&descriptor| window_of(descriptor) >= len).unwrap_or(LARGEST)
}

enum Header {
    /// A frame of another program, with this length after its header.
    Skippable(u32),
    Frame(Frame),
}

/// The header of a frame.
struct Frame {
    /// The size of the window in bytes.
    window: u64,
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
        let window = match (window, content_size) {
            (Some(window), _) => {
                let log = 10 + (window >> 3);
                if log > MAX_WINDOW_LOG {
                    return Err(Error::Data);
                }
                (1 << log) + (1 << log) / 8 * u64::from(window & 7)
            }
            (None, size) => size.unwrap_or(u64::MAX),
        };
        let has_checksum = descriptor & 4 != 0;
        Ok(Header::Frame(Frame { window, content_size, dict_id, has_checksum }))
    }
}

impl Frame {
    /// Returns a header with this window, for the same blocks.
    fn header(&self, window_descriptor: u8) -> [u8; 6] {
        let [a, b, c, d] = MAGIC.to_le_bytes();
        [a, b, c, d, u8::from(self.has_checksum) << 2, window_descriptor]
    }
}

/// Removes `len` bytes from `src`, at most 8, and returns their number.
fn little_endian(src: &mut &[u8], len: usize) -> Result<u64> {
    let (bytes, rest) = src.split_at_checked(len).ok_or(Error::Data)?;
    *src = rest;
    Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
