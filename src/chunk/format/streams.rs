//! The streams of a block.
//!
//! Each stream starts with a little-endian 32-bit word:
//!
//! | word | stream |
//! |---|---|
//! | 0 | a run of zeros |
//! | −255…−1 | a run of the byte −word; a token byte follows, whose bit 0 is set |
//! | the stream's uncompressed length | raw bytes |
//! | any other positive number | that many bytes of codec output |
//!
//! (Source: the C-Blosc2 chunk format.)

use super::limits::WORD;
use crate::{Error, ErrorKind, Result};

/// The token byte of a run. Other bits of the token are ignored when a chunk is read.
pub(crate) const TOKEN_RUN: u8 = 0x01;

/// Returns the stored size of a run of `value` in bytes.
pub(crate) fn run_len(value: u8) -> usize {
    WORD + usize::from(value != 0)
}

/// A stored stream.
pub(crate) enum Stream<'a> {
    Run(u8),
    Raw(&'a [u8]),
    Coded(&'a [u8]),
}

/// A reader of the streams of a block. Its bytes may extend past the block.
#[derive(Clone, Copy)]
pub(crate) struct StreamReader<'a>(pub &'a [u8]);

impl<'a> StreamReader<'a> {
    /// Reads the next stream, of `len` uncompressed bytes.
    #[inline(always)]
    pub fn next_stream(&mut self, len: usize) -> Result<Stream<'a>> {
        let (size, rest) = self.0.split_first_chunk::<WORD>().ok_or(Error::ReadBuffer)?;
        let size = i32::from_le_bytes(*size);
        if size == 0 {
            self.0 = rest;
            return Ok(Stream::Run(0));
        }
        if size < 0 {
            let (&token, rest) = rest.split_first().ok_or(Error::ReadBuffer)?;
            self.0 = rest;
            let value = u8::try_from(-i64::from(size)).map_err(|_| Error::RunLength)?;
            let is_run = token & TOKEN_RUN != 0;
            return if is_run { Ok(Stream::Run(value)) } else { Err(Error::RunLength) };
        }
        let size = size as usize;
        let (bytes, rest) = rest.split_at_checked(size).ok_or(Error::ReadBuffer)?;
        self.0 = rest;
        Ok(if size == len { Stream::Raw(bytes) } else { Stream::Coded(bytes) })
    }
}

/// Maps the error of a codec that failed to encode or decode a stream.
#[cold]
pub(crate) fn codec_failure(error: Error) -> Error {
    match error.kind() {
        ErrorKind::CodecSupport | ErrorKind::MemoryAlloc => error,
        _ => error.recast(ErrorKind::Data),
    }
}
