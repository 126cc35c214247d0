//! The format of chunk files.
//!
//! ```text
//! 'blpk' | 1 | 0 0 0 | number of chunks, i64: 1 | Blosc 1.x chunk
//! ```
//!
//! This is a version 1 blpk container. bcolz ignores the first 16 bytes, so a wrong prefix only
//! causes a warning, unless [`Options::strict`](super::Options::strict) is set. (Source: chunk
//! files written by bcolz.)

use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::store::Store;
use crate::blpk::{Header, MAX_NBYTES};
use ferroblosc::blosc1::{self, Engine};
use ferroblosc::chunk::{BasicHeader, MIN_HEADER_LENGTH};
use ferroblosc::trace_warning;

/// The length of the prefix before the chunk, in bytes.
pub const PREFIX_LEN: usize = 16;
/// The highest version of Blosc 1.x chunks.
const MAX_VERSION: u8 = 2;

/// Returns the prefix.
pub fn prefix() -> Result<Vec<u8>> {
    let encoded = Header::version1(Some(1)).encode();
    encoded.map_err(|_| Error::Argument("invalid header"))
}

/// Returns the format code of a chunk's codec if this build lacks the codec and the rest of the
/// header is consistent.
pub fn unknown_codec(file: &[u8]) -> Option<u8> {
    let body = file.get(PREFIX_LEN..)?;
    let basic = BasicHeader::read(body.first_chunk::<MIN_HEADER_LENGTH>()?);
    let is_intact = basic.version <= MAX_VERSION
        && basic.nbytes >= 0
        && usize::try_from(basic.cbytes) == Ok(body.len());
    let is_unknown = !basic.has_builtin_codec();
    (is_intact && is_unknown).then(|| basic.format())
}

/// Returns the uncompressed size in the header of a chunk, whose data may be damaged or missing.
pub fn nbytes_of(file: &[u8]) -> Option<u64> {
    let header = file.get(PREFIX_LEN..)?.first_chunk::<MIN_HEADER_LENGTH>()?;
    let basic = BasicHeader::read(header);
    let nbytes = u64::try_from(basic.nbytes).ok().filter(|&nbytes| nbytes <= MAX_NBYTES.into());
    nbytes.filter(|_| basic.version <= MAX_VERSION && basic.cbytes > 0)
}

/// The accepted range of uncompressed sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The minimum, inclusive.
    pub least: u64,
    /// The maximum, inclusive, at most [`MAX_NBYTES`].
    pub most: u64,
}

/// A chunk in the content of its file.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'b> {
    /// The chunk.
    pub bytes: &'b [u8],
    /// The uncompressed size in bytes.
    pub nbytes: usize,
    /// The type size in bytes from the chunk's header, at least 1.
    pub typesize: usize,
    /// Whether the file has the expected prefix.
    pub has_valid_prefix: bool,
}

impl<'b> Chunk<'b> {
    /// Finds the chunk in the content of a file.
    ///
    /// # Errors
    /// [`Error::Chunk`]
    pub fn in_file(file: &'b [u8], expected: Expected, path: &Path) -> Result<Chunk<'b>> {
        let Some((actual, body)) = file.split_at_checked(PREFIX_LEN) else {
            return Err(fault(path, "the file is too short"));
        };
        let mut chunk = Chunk::in_bytes(body, expected, path)?;
        chunk.has_valid_prefix = actual == prefix()?;
        Ok(chunk)
    }

    /// Validates the chunk at the start of `body`.
    ///
    /// # Errors
    /// [`Error::Chunk`]
    pub fn in_bytes(body: &'b [u8], expected: Expected, path: &Path) -> Result<Chunk<'b>> {
        let Some(header) = body.first_chunk::<MIN_HEADER_LENGTH>() else {
            return Err(fault(path, "the file is too short"));
        };
        let basic = BasicHeader::read(header);
        if basic.version > MAX_VERSION {
            return Err(fault(path, "the chunk is not of Blosc 1"));
        }
        let nbytes = u64::try_from(basic.nbytes).ok();
        let nbytes = nbytes.ok_or_else(|| fault(path, "the chunk has a negative size"))?;
        if nbytes < expected.least {
            return Err(fault(path, "the chunk holds too few rows"));
        }
        if nbytes > expected.most {
            return Err(fault(path, "the chunk holds too many rows"));
        }
        let cbytes = usize::try_from(basic.cbytes).ok();
        let bytes = cbytes
            .filter(|&cbytes| cbytes >= MIN_HEADER_LENGTH)
            .and_then(|cbytes| body.get(..cbytes))
            .ok_or_else(|| fault(path, "the chunk is truncated"))?;
        Ok(Chunk {
            bytes,
            nbytes: nbytes as usize,
            typesize: usize::from(basic.typesize.max(1)),
            has_valid_prefix: true,
        })
    }

    /// Decompresses the chunk into `dest`, whose length must be the uncompressed size.
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
            _ => Err(fault(path, "the chunk cannot be decompressed")),
        }
    }

    /// Decompresses the chunk into a buffer, replacing its content.
    pub fn decode_to(
        &self,
        engine: &mut Engine,
        nthreads: i32,
        plain: &mut Vec<u8>,
        path: &Path,
    ) -> Result<()> {
        // Reject invalid sizes before the allocation.
        let header =
            self.bytes.first_chunk().ok_or_else(|| fault(path, "the file is too short"))?;
        blosc1::lengths(header, self.nbytes)
            .map_err(|_| fault(path, "the chunk cannot be decompressed"))?;
        plain.clear();
        plain.try_reserve_exact(self.nbytes)?;
        plain.resize(self.nbytes, 0);
        self.decode(engine, nthreads, plain, path)
    }

    /// Decompresses the bytes from `start` if the range consists of complete items. Returns whether
    /// it does.
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
            _ => Err(fault(path, "the chunk cannot be decompressed")),
        }
    }
}

fn fault(path: &Path, why: &'static str) -> Error {
    Error::Chunk { path: path.to_owned(), why }
}

/// Reads a chunk file, at most the size of the largest valid chunk.
///
/// # Errors
/// [`Error::MissingChunk`]
pub fn read(store: &Store, path: &Path, most: u64, file: &mut Vec<u8>) -> Result<()> {
    let missing = || Error::MissingChunk(path.to_owned());
    let stream = store.open(path)?.ok_or_else(missing)?;
    let size = stream.size().map_err(Error::storage(path))?;
    // A chunk is at most a header longer than its data.
    let max_len = most + (PREFIX_LEN + MIN_HEADER_LENGTH) as u64;
    let len = size.min(max_len) as usize;
    if file.len() < len {
        file.try_reserve_exact(len - file.len())?;
        file.resize(len, 0);
    }
    // Existing content is overwritten below.
    file.truncate(len);
    let filled = stream.read_at(0, file).map_err(Error::storage(path))?;
    file.truncate(filled);
    Ok(())
}

/// Finds the chunk in the content of its file and checks the prefix.
pub fn checked<'b>(
    file: &'b [u8],
    expected: Expected,
    strict: bool,
    path: &Path,
) -> Result<Chunk<'b>> {
    let chunk = Chunk::in_file(file, expected, path)?;
    if !chunk.has_valid_prefix {
        if strict {
            return Err(fault(path, "the file has a wrong prefix"));
        }
        trace_warning!("{} has a wrong prefix", path.display());
    }
    Ok(chunk)
}

/// Compresses rows into a chunk file at the start of `buffer`, which grows as needed. Returns the
/// length of the file. The bytes after the file are unspecified: a reused buffer is not cleared.
pub fn encode(
    engine: &mut Engine,
    params: &blosc1::Params,
    plain: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<usize> {
    let needed = PREFIX_LEN + MIN_HEADER_LENGTH + plain.len();
    if buffer.len() < needed {
        buffer.try_reserve_exact(needed - buffer.len())?;
        buffer.resize(needed, 0);
    }
    buffer[..PREFIX_LEN].copy_from_slice(&prefix()?);
    let cbytes = engine
        .compress(params, plain, &mut buffer[PREFIX_LEN..needed])
        .map_err(Error::Compression)?;
    if cbytes == 0 {
        // The buffer fits an uncompressed copy, so compression cannot run out of space.
        return Err(Error::Compression(blosc1::Error::Failure));
    }
    Ok(PREFIX_LEN + cbytes)
}

/// Returns the path of a chunk file in a data directory.
pub fn path_of(data: &Path, number: u64) -> PathBuf {
    data.join(format!("__{number}.blp"))
}

/// Returns the chunk number in the name of a chunk file, or `None` for other names.
pub fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("__")?.strip_suffix(".blp")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = digits == "0" || !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_number && is_plain)
}
