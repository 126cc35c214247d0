//! The zlib-rs encoder, for raw deflate streams.
//!
//! Uses its C interface, because the Rust interface cannot change the strategy: a state has 300
//! KiB, and one state is used for all strategies.

use std::ffi::c_int;

use libz_rs_sys as z;

use super::segmented::{Deflater, MEMORY_LEVEL, Matches, WINDOW_BITS};
use crate::codec::incompressible::Search;
use crate::{Error, Result};

/// The number of literals in a block without matches, half of the maximum, since byte statistics
/// change within a region.
const BLOCK_LITERALS: usize = 8 << 10;

/// An encoder state for one level.
pub(super) struct ZlibRs {
    /// Unlike zlib's, the state does not point back to the stream, which may move.
    stream: z::z_stream,
    level: u8,
    strategy: c_int,
}

// SAFETY: the stream owns its state, and one thread uses it at a time; the encoder starts no
// threads.
unsafe impl Send for ZlibRs {}

impl ZlibRs {
    /// Returns a state for this level.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]
    pub(super) fn new(level: u8) -> Result<ZlibRs> {
        let mut stream = z::z_stream::default();
        let strategy = z::Z_DEFAULT_STRATEGY;
        // SAFETY: `default` sets Rust's allocator in the stream; version and size match the
        // declarations used here. The function checks the other parameters.
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
            z::Z_OK => Ok(ZlibRs { stream, level, strategy }),
            _ => Err(Error::MemoryAlloc),
        }
    }

    fn begin(&mut self, strategy: c_int, window: &[u8]) -> Result<()> {
        let stream = &mut self.stream;
        let len = window.len() as z::uInt;
        // SAFETY: the stream was initialised in `new`. The function reads `len` bytes of the
        // window, which has at least that many, as the conversion never increases the length. The
        // old source and destination pointers are not used: a stream just reset has nothing to
        // write before its strategy changes.
        let started = unsafe {
            z::deflateReset(stream) == z::Z_OK
                && (self.strategy == strategy
                    || z::deflateParams(stream, c_int::from(self.level), strategy) == z::Z_OK)
                && (window.is_empty()
                    || z::deflateSetDictionary(stream, window.as_ptr(), len) == z::Z_OK)
        };
        self.strategy = strategy;
        started.then_some(()).ok_or(Error::Data)
    }

    /// Encodes `src` and flushes; returns the length, or `None` if it does not fit into `dest`.
    fn append(&mut self, src: &[u8], flush: c_int, dest: &mut [u8]) -> Result<Option<usize>> {
        let (Ok(avail_in), Ok(avail_out)) = (src.len().try_into(), dest.len().try_into()) else {
            // Exceeds zlib's counters.
            return Err(Error::Data);
        };
        self.stream.next_in = src.as_ptr().cast_mut();
        self.stream.avail_in = avail_in;
        self.stream.next_out = dest.as_mut_ptr();
        self.stream.avail_out = avail_out;
        // SAFETY: the stream was initialised in `new`; the function reads `avail_in` bytes of
        // `src`, does not write to them, and writes at most `avail_out` bytes of `dest`.
        let code = unsafe { z::deflate(&mut self.stream, flush) };
        let left = self.stream.avail_out as usize;
        match code {
            z::Z_STREAM_END => {}
            // A flush that fills the output may be incomplete.
            z::Z_OK if flush != z::Z_FINISH && left > 0 => {}
            z::Z_OK | z::Z_BUF_ERROR => {
                self.drain();
                return Ok(None);
            }
            _ => return Err(Error::Data),
        }
        Ok(Some(dest.len() - left))
    }

    /// Finishes a stream that did not fit, while its source is borrowed. zlib-rs 0.6.8 keeps some
    /// of its state through a reset: at level 1 the next stream would lack the header of its first
    /// block.
    fn drain(&mut self) {
        let mut rest = [0; 4096];
        loop {
            self.stream.next_out = rest.as_mut_ptr();
            self.stream.avail_out = rest.len() as z::uInt;
            // SAFETY: the stream was initialised in `new`. The function reads the remaining source,
            // which `append`, the only caller, has borrowed, and writes at most `avail_out` bytes
            // of `rest`.
            if unsafe { z::deflate(&mut self.stream, z::Z_FINISH) } != z::Z_OK {
                return;
            }
        }
    }
}

impl Deflater for ZlibRs {
    fn level(&self) -> u8 {
        self.level
    }

    fn search(&self) -> Search {
        match self.level {
            0 | 1 => Search::Fast,
            2..=8 => Search::Min4,
            _ => Search::Min3,
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
            while rest.len() > BLOCK_LITERALS {
                let (block, after) = rest.split_at(BLOCK_LITERALS);
                let Some(more) = self.append(block, z::Z_BLOCK, &mut dest[len..])? else {
                    return Ok(None);
                };
                (rest, len) = (after, len + more);
            }
        }
        let flush = if last { z::Z_FINISH } else { z::Z_SYNC_FLUSH };
        let more = self.append(rest, flush, &mut dest[len..])?;
        Ok(more.map(|more| len + more))
    }
}

impl Drop for ZlibRs {
    fn drop(&mut self) {
        // SAFETY: the stream was initialised in `new` and is ended once.
        unsafe { z::deflateEnd(&mut self.stream) };
    }
}
