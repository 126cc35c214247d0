//! zlib-rs's encoder, for streams without head and checksum.
//!
//! Its interface in C is used, as that in Rust can't change the strategy: a state takes 300 KiB, and one does for all kinds of
//! streams.

use std::ffi::c_int;

use libz_rs_sys as z;

use super::WINDOW_BITS;
use super::mixed::{Deflater, Matches};
use crate::codec::noise::Search;
use crate::{Error, Result};

/// How much memory the state takes, as zlib's own default says.
const MEMORY_LEVEL: c_int = 8;

/// Literals of a block without matches, half as many as it could have: bytes change on the way.
const LITERALS: usize = 8 << 10;

/// An encoder state of one level.
pub(super) struct Raw {
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
        // SAFETY: the stream has an allocator; version and size are those of the declarations used here. The other
        // parameters are looked at there.
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
        let (stream, len) = (&mut self.stream, window.len() as z::uInt);
        let mut codes = [z::Z_OK; 3];
        // SAFETY: the stream was initialised in `new`; `len` bytes of the window are read, which it has, as the conversion
        // makes no number larger.
        unsafe {
            codes[0] = z::deflateReset(stream);
            if self.strategy != strategy {
                codes[1] = z::deflateParams(stream, c_int::from(self.level), strategy);
            }
            if !window.is_empty() {
                codes[2] = z::deflateSetDictionary(stream, window.as_ptr(), len);
            }
        }
        self.strategy = strategy;
        match codes {
            [z::Z_OK, z::Z_OK, z::Z_OK] => Ok(()),
            _ => Err(Error::Data),
        }
    }

    /// Takes in all of `src`; returns false if there is not room enough for what it is written as.
    fn append(&mut self, src: &[u8], flush: c_int) -> Result<bool> {
        self.stream.next_in = src.as_ptr().cast_mut();
        self.stream.avail_in = src.len().try_into().map_err(|_| Error::Data)?;
        // SAFETY: the stream was initialised in `new`, and its caller gave it the destination; `avail_in` bytes of `src`
        // are read, and none is written.
        let code = unsafe { z::deflate(&mut self.stream, flush) };
        match code {
            z::Z_STREAM_END => Ok(true),
            // A flush that fills all the room may have more to say.
            z::Z_OK | z::Z_BUF_ERROR => {
                Ok(code == z::Z_OK && flush != z::Z_FINISH && self.stream.avail_out > 0)
            }
            _ => Err(Error::Data),
        }
    }

    /// Brings a stream that didn't fit to its end. zlib-rs 0.6.8 keeps some of its state through a reset: at level 1 the next
    /// stream would lack the head of its first block.
    fn drain(&mut self) {
        let mut rest = [0; 4096];
        loop {
            self.stream.next_out = rest.as_mut_ptr();
            self.stream.avail_out = rest.len() as z::uInt;
            // SAFETY: the stream was initialised in `new`; what is left of its source is still there, and it has room for as
            // many bytes as it knows.
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
        // More than zlib can count.
        let avail_out = dest.len().try_into().map_err(|_| Error::Data)?;
        match matches {
            Matches::Found { window } => self.begin(z::Z_DEFAULT_STRATEGY, window)?,
            Matches::Runs => self.begin(z::Z_RLE, &[])?,
            Matches::None => self.begin(z::Z_HUFFMAN_ONLY, &[])?,
        }
        self.stream.next_out = dest.as_mut_ptr();
        self.stream.avail_out = avail_out;
        let mut rest = src;
        let mut fits = true;
        if let Matches::None = matches {
            while fits && rest.len() > LITERALS {
                let (block, behind) = rest.split_at(LITERALS);
                fits = self.append(block, z::Z_BLOCK)?;
                rest = behind;
            }
        }
        let flush = if last { z::Z_FINISH } else { z::Z_SYNC_FLUSH };
        fits = fits && self.append(rest, flush)?;
        let len = dest.len() - self.stream.avail_out as usize;
        if !fits {
            self.drain();
        }
        Ok(fits.then_some(len))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the stream was initialised in `new` and is ended once.
        unsafe { z::deflateEnd(&mut self.stream) };
    }
}
