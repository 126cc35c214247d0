//! The file of a chunk.
//!
//! ```text
//! 'blpk' | 1 | 0 0 0 | number of chunks, i64: 1 | a chunk of Blosc 1.x
//! ```
//!
//! That is a blpk container of version 1. bcolz looks at none of the first sixteen bytes, so files in which they are
//! wrong are read as well, with a warning, unless the reader is strict. (Source: the chunk files of bcolz.)

use std::path::Path;

use super::error::{Error, Result};
use super::store::Store;
use crate::blosc1::{self, Engine};
use crate::blpk::{Header, MAX_NBYTES};
use crate::chunk::{BasicHeader, MIN_HEADER_LENGTH};
use crate::{codec, trace_warning};

/// Bytes in front of the chunk.
pub const FRONT: usize = 16;
/// The newest chunks that are of Blosc 1.x.
const NEWEST_VERSION: u8 = 2;

/// The bytes in front of each chunk.
pub fn front() -> Result<Vec<u8>> {
    let front = Header::version1(Some(1)).encode();
    front.map_err(|_| Error::Argument("a header that can't be"))
}

/// Returns the format code of a chunk's codec if this version does not have that codec. The rest of the header is
/// that of an intact chunk then.
pub fn unknown_codec(file: &[u8]) -> Option<u8> {
    let body = file.get(FRONT..)?;
    let basic = BasicHeader::read(body.first_chunk::<MIN_HEADER_LENGTH>()?);
    let is_intact = basic.version <= NEWEST_VERSION
        && basic.nbytes >= 0
        && usize::try_from(basic.cbytes) == Ok(body.len());
    let is_unknown = !codec::has_format(basic.format(), basic.version);
    (is_intact && is_unknown).then(|| basic.format())
}

/// Which plain bytes a chunk must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// At least.
    pub least: u64,
    /// At most.
    pub most: u64,
}

/// A chunk in the bytes of its file.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'b> {
    /// The chunk itself.
    pub bytes: &'b [u8],
    /// Plain bytes.
    pub nbytes: usize,
    /// Bytes of an item, as the chunk has it.
    pub typesize: usize,
    /// Whether what stands in front of it is as it should be.
    pub has_right_front: bool,
}

impl<'b> Chunk<'b> {
    /// Finds the chunk in a file's bytes.
    ///
    /// # Errors
    /// [`Error::Chunk`]
    pub fn in_file(file: &'b [u8], expected: Expected, path: &Path) -> Result<Chunk<'b>> {
        let Some((front_there, body)) = file.split_at_checked(FRONT) else {
            return Err(fault(path, "the file is too short"));
        };
        let mut chunk = Chunk::in_bytes(body, expected, path)?;
        chunk.has_right_front = front_there == front()?;
        Ok(chunk)
    }

    /// Judges a chunk that bytes begin with.
    ///
    /// # Errors
    /// [`Error::Chunk`]
    pub fn in_bytes(body: &'b [u8], expected: Expected, path: &Path) -> Result<Chunk<'b>> {
        let Some(header) = body.first_chunk::<MIN_HEADER_LENGTH>() else {
            return Err(fault(path, "the file is too short"));
        };
        let basic = BasicHeader::read(header);
        if basic.version > NEWEST_VERSION {
            return Err(fault(path, "the chunk is not of Blosc 1"));
        }
        let nbytes = u64::try_from(basic.nbytes).ok();
        let nbytes = nbytes.ok_or_else(|| fault(path, "the chunk holds less than nothing"))?;
        if nbytes < expected.least {
            return Err(fault(path, "the chunk holds too few rows"));
        }
        if nbytes > expected.most || nbytes > u64::from(MAX_NBYTES) {
            return Err(fault(path, "the chunk holds too many rows"));
        }
        let cbytes = usize::try_from(basic.cbytes).ok();
        let bytes = cbytes
            .filter(|&cbytes| cbytes >= MIN_HEADER_LENGTH)
            .and_then(|cbytes| body.get(..cbytes))
            .ok_or_else(|| fault(path, "the chunk is cut off"))?;
        Ok(Chunk {
            bytes,
            nbytes: nbytes as usize,
            typesize: usize::from(basic.typesize.max(1)),
            has_right_front: true,
        })
    }

    /// Decompresses all of it into `dest`, which has as many bytes.
    pub fn decode(
        &self,
        engine: &mut Engine,
        nthreads: i32,
        dest: &mut [u8],
        path: &Path,
    ) -> Result<()> {
        let decoded = engine.decompress(self.bytes, nthreads, dest);
        match decoded {
            Ok(len) if len == self.nbytes => Ok(()),
            _ => Err(fault(path, "the chunk can't be decompressed")),
        }
    }

    /// Decompresses all of it into a buffer, which is replaced.
    pub fn decode_to(
        &self,
        engine: &mut Engine,
        nthreads: i32,
        plain: &mut Vec<u8>,
        path: &Path,
    ) -> Result<()> {
        // Sizes that can't be are refused before there is memory for them.
        let header = self
            .bytes
            .first_chunk()
            .ok_or_else(|| fault(path, "the file is too short"))?;
        blosc1::lengths(header, self.nbytes)
            .map_err(|_| fault(path, "the chunk can't be decompressed"))?;
        plain.clear();
        plain.try_reserve_exact(self.nbytes)?;
        plain.resize(self.nbytes, 0);
        self.decode(engine, nthreads, plain, path)
    }

    /// Decompresses the bytes from `start` on, if these are whole items of the chunk; returns whether they are.
    pub fn decode_part(
        &self,
        engine: &mut Engine,
        start: usize,
        dest: &mut [u8],
        path: &Path,
    ) -> Result<bool> {
        if !start.is_multiple_of(self.typesize) || !dest.len().is_multiple_of(self.typesize) {
            return Ok(false);
        }
        let item = |bytes: usize| i32::try_from(bytes / self.typesize).unwrap_or(i32::MAX);
        let read = engine.getitem(self.bytes, item(start), item(dest.len()), dest);
        match read {
            Ok(len) if len == dest.len() => Ok(true),
            _ => Err(fault(path, "the chunk can't be decompressed")),
        }
    }
}

fn fault(path: &Path, why: &'static str) -> Error {
    Error::Chunk {
        path: path.to_owned(),
        why,
    }
}

/// Reads the file of a chunk, as far as such a chunk can be long.
///
/// # Errors
/// [`Error::MissingChunk`]
pub fn read(store: &Store, path: &Path, most: u64, file: &mut Vec<u8>) -> Result<()> {
    let missing = || Error::MissingChunk(path.to_owned());
    let stream = store.open(path)?.ok_or_else(missing)?;
    let size = stream.size().map_err(Error::storage(path))?;
    // A chunk is never longer than its data and a header.
    let longest = most.min(u64::from(MAX_NBYTES)) + (FRONT + MIN_HEADER_LENGTH) as u64;
    let len = size.min(longest) as usize;
    if file.len() < len {
        file.try_reserve_exact(len - file.len())?;
        file.resize(len, 0);
    }
    // What was there is written over.
    file.truncate(len);
    let filled = stream.read_at(0, file).map_err(Error::storage(path))?;
    file.truncate(filled);
    Ok(())
}

/// Finds the chunk in its file, as a reader who may be strict sees it.
pub fn checked<'b>(
    file: &'b [u8],
    expected: Expected,
    strict: bool,
    path: &Path,
) -> Result<Chunk<'b>> {
    let chunk = Chunk::in_file(file, expected, path)?;
    if !chunk.has_right_front {
        if strict {
            return Err(fault(path, "the file does not begin as it should"));
        }
        trace_warning!("{} does not begin as it should", path.display());
    }
    Ok(chunk)
}

/// Compresses rows into the bytes of a chunk's file: the first ones of `room`, which grows as it must; returns how
/// many they are. What else is in `room` means nothing, so that it can be used again and again.
pub fn encode(
    engine: &mut Engine,
    params: &blosc1::Params,
    plain: &[u8],
    room: &mut Vec<u8>,
) -> Result<usize> {
    let needed = FRONT + MIN_HEADER_LENGTH + plain.len();
    if room.len() < needed {
        room.try_reserve_exact(needed - room.len())?;
        room.resize(needed, 0);
    }
    room[..FRONT].copy_from_slice(&front()?);
    let cbytes = engine
        .compress(params, plain, &mut room[FRONT..needed])
        .map_err(Error::Compression)?;
    if cbytes == 0 {
        // There is room for a copy, so the engine always finds one.
        return Err(Error::Compression(blosc1::Error::Failure));
    }
    Ok(FRONT + cbytes)
}

/// The number in the name of a chunk's file; none for other names.
pub fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("__")?.strip_suffix(".blp")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = digits == "0" || !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_number && is_plain)
}
