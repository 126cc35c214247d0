//! zlib-rs's encoder, for streams without head and checksum.
//!
//! Its interface in C is used, as that in Rust can't change the strategy: a state takes 300 KiB, and one does for all kinds of
//! streams.

use std::ffi::c_int;

use libz_rs_sys as z;

use super::mixed::{Deflater, Matches};
use super::{MEMORY_LEVEL, WINDOW_BITS};
use crate::codec::noise::Search;
use crate::{Error, Result};

/// Literals of a block without matches, half as many as it could have: bytes change on the way.
const LITERALS: usize = 8 << 10;

/// An encoder state of one level.
pub(super) struct Raw {
    /// Other than zlib's, its state doesn't point back to it.
    stream: z::z_stream,
    level: u8,
    strategy: c_int,
}

// SAFETY: the state is owned by the stream and used by one thread at a time; the encoder has no thread of its own.
unsafe impl Send for Raw {}

impl Raw {
    /// A state for this level.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]
    pub(super) fn new(level: u8) -> Result<Raw> {
        let mut stream = z::z_stream::default();
        let strategy = z::Z_DEFAULT_STRATEGY;
        // SAFETY: the stream has Rust's allocator, by `default`; version and size are those of the declarations used here.
        // The other parameters are looked at there.
        let code = unsafe {
            z::deflateInit2_(
                &mut stream,
                c_int::from(level),
                z::Z_DEFLATED,
                -c_int::from(WINDOW_BITS),
                MEMORY_LEVEL,
                strategy,
                z::zlibVersion(),
                size_of::<z::z_stream>() as c_int,
            )
        };
        match code {
            z::Z_OK => Ok(Raw {
                stream,
                level,
                strategy,
            }),
            _ => Err(Error::MemoryAlloc),
        }
    }

    /// Begins a new stream.
    fn begin(&mut self, strategy: c_int, window: &[u8]) -> Result<()> {
        let stream = &mut self.stream;
        let len = window.len() as z::uInt;
        // SAFETY: the stream was initialised in `new`; `len` bytes of the window are read, which it has, as the conversion
        // makes no number larger. Where the stream's source and destination were is left alone: a stream that was reset has
        // nothing to write before its strategy changes.
        let begun = unsafe {
            z::deflateReset(stream) == z::Z_OK
                && (self.strategy == strategy
                    || z::deflateParams(stream, c_int::from(self.level), strategy) == z::Z_OK)
                && (window.is_empty()
                    || z::deflateSetDictionary(stream, window.as_ptr(), len) == z::Z_OK)
        };
        self.strategy = strategy;
        begun.then_some(()).ok_or(Error::Data)
    }

    /// Goes on with `src`, and then flushes; returns the length, or `None` if it doesn't fit into `dest`.
    fn append(&mut self, src: &[u8], flush: c_int, dest: &mut [u8]) -> Result<Option<usize>> {
        let (Ok(avail_in), Ok(avail_out)) = (src.len().try_into(), dest.len().try_into()) else {
            // More than zlib can count.
            return Err(Error::Data);
        };
        self.stream.next_in = src.as_ptr().cast_mut();
        self.stream.avail_in = avail_in;
        self.stream.next_out = dest.as_mut_ptr();
        self.stream.avail_out = avail_out;
        // SAFETY: the stream was initialised in `new`; `avail_in` bytes of `src` are read and never written to, and at most
        // `avail_out` bytes of `dest` written.
        let code = unsafe { z::deflate(&mut self.stream, flush) };
        let left = self.stream.avail_out as usize;
        match code {
            z::Z_STREAM_END => {}
            // A flush that fills all the room may have more to say.
            z::Z_OK if flush != z::Z_FINISH && left > 0 => {}
            z::Z_OK | z::Z_BUF_ERROR => {
                self.drain();
                return Ok(None);
            }
            _ => return Err(Error::Data),
        }
        Ok(Some(dest.len() - left))
    }

    /// Brings a stream that didn't fit to its end, while its source is there. zlib-rs 0.6.8 keeps some of its state through a reset: at
    /// level 1 the next stream would lack the head of its first block.
    fn drain(&mut self) {
        let mut rest = [0; 4096];
        loop {
            self.stream.next_out = rest.as_mut_ptr();
            self.stream.avail_out = rest.len() as z::uInt;
            // SAFETY: the stream was initialised in `new`; it reads what is left of the source that `append`, the only caller, has
            // borrowed, and has room for as many bytes as it is told.
            if unsafe { z::deflate(&mut self.stream, z::Z_FINISH) } != z::Z_OK {
                return;
            }
        }
    }
}

impl Deflater for Raw {
    fn level(&self) -> u8 {
        self.level
    }

    fn search(&self) -> Search {
        match self.level {
            0 | 1 => Search::Quick,
            2..=8 => Search::Fours,
            _ => Search::Threes,
        }
    }

    fn encode(
        &mut self,
        matches: Matches<'_>,
        src: &[u8],
        last: bool,
        dest: &mut [u8],
    ) -> Result<Option<usize>> {
        match matches {
            Matches::Found { window } => self.begin(z::Z_DEFAULT_STRATEGY, window)?,
            Matches::Runs => self.begin(z::Z_RLE, &[])?,
            Matches::None => self.begin(z::Z_HUFFMAN_ONLY, &[])?,
        }
        let (mut rest, mut len) = (src, 0);
        if let Matches::None = matches {
            while rest.len() > LITERALS {
                let (block, behind) = rest.split_at(LITERALS);
                let Some(more) = self.append(block, z::Z_BLOCK, &mut dest[len..])? else {
                    return Ok(None);
                };
                (rest, len) = (behind, len + more);
            }
        }
        let flush = if last { z::Z_FINISH } else { z::Z_SYNC_FLUSH };
        let more = self.append(rest, flush, &mut dest[len..])?;
        Ok(more.map(|more| len + more))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the stream was initialised in `new` and is ended once.
        unsafe { z::deflateEnd(&mut self.stream) };
    }
}
