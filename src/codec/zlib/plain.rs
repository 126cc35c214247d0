//! Encoding by zlib itself, for chunks of Blosc 1.x.
//!
//! zlib-rs is faster, but at most levels its matches begin at four bytes where zlib's begin at three. That
//! makes some data of 1- and 2-byte structure nearly twice as large, so whoever replaces Blosc 1.x can't use
//! it. (zlib-rs does the decoding.)

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use libz_sys as z;

use super::mixed::{Deflater, Matches};
use super::raw::Raw;
use super::{MEMORY_LEVEL, WINDOW_BITS};
use crate::codec::noise::Search;
use crate::{Error, Result};

/// An encoder state of one level.
pub(super) struct Deflate {
    /// zlib's state points back to it: it must not move.
    stream: Box<z::z_stream>,
    level: u8,
    /// zlib-rs's, for what is not searched; `None` until there is some.
    unsearched: Option<Raw>,
}

// SAFETY: the state is owned by the stream and used by one thread at a time; zlib has no thread of its own.
unsafe impl Send for Deflate {}

/// Memory for zlib: it may be refused.
unsafe extern "C" fn allocate(_: z::voidpf, items: z::uInt, size: z::uInt) -> z::voidpf {
    // SAFETY: calloc takes any sizes.
    unsafe { libc::calloc(items as usize, size as usize) }
}

unsafe extern "C" fn free(_: z::voidpf, address: z::voidpf) {
    // SAFETY: zlib gives back what `allocate` gave it.
    unsafe { libc::free(address.cast::<c_void>()) }
}

impl Deflate {
    /// A state for this level.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]
    pub(super) fn new(level: u8) -> Result<Deflate> {
        let mut stream = Box::new(z::z_stream {
            next_in: null_mut(),
            avail_in: 0,
            total_in: 0,
            next_out: null_mut(),
            avail_out: 0,
            total_out: 0,
            msg: null_mut(),
            state: null_mut(),
            zalloc: allocate,
            zfree: free,
            opaque: null_mut(),
            data_type: 0,
            adler: 0,
            reserved: 0,
        });
        // SAFETY: the stream has its allocator and stays where it is; version and size are those of the
        // declarations used here. zlib looks at the other parameters itself.
        let code = unsafe {
            z::deflateInit2_(
                &mut *stream,
                c_int::from(level),
                z::Z_DEFLATED,
                -c_int::from(WINDOW_BITS),
                MEMORY_LEVEL,
                z::Z_DEFAULT_STRATEGY,
                z::zlibVersion(),
                size_of::<z::z_stream>() as c_int,
            )
        };
        match code {
            z::Z_OK => Ok(Deflate {
                stream,
                level,
                unsearched: None,
            }),
            _ => Err(Error::MemoryAlloc),
        }
    }
}

impl Deflater for Deflate {
    fn level(&self) -> u8 {
        self.level
    }

    fn search(&self) -> Search {
        Search::Threes
    }

    fn encode(
        &mut self,
        matches: Matches<'_>,
        src: &[u8],
        last: bool,
        dest: &mut [u8],
    ) -> Result<Option<usize>> {
        let Matches::Found { window } = matches else {
            let unsearched = match &mut self.unsearched {
                Some(unsearched) => unsearched,
                none => none.insert(Raw::new(self.level)?),
            };
            return unsearched.encode(matches, src, last, dest);
        };
        self.begin(window)?;
        self.append(src, last, dest)
    }
}

impl Deflate {
    /// Begins a new stream.
    fn begin(&mut self, dictionary: &[u8]) -> Result<()> {
        let len = dictionary.len() as z::uInt;
        // SAFETY: the stream was initialised in `new`; zlib reads `len` bytes of the dictionary, which has them, as the
        // conversion makes no number larger.
        let code = unsafe {
            z::deflateReset(&mut *self.stream);
            z::deflateSetDictionary(&mut *self.stream, dictionary.as_ptr(), len)
        };
        match code {
            z::Z_OK => Ok(()),
            _ => Err(Error::Data),
        }
    }

    /// Encodes all of a stream.
    fn append(&mut self, src: &[u8], last: bool, dest: &mut [u8]) -> Result<Option<usize>> {
        let (Ok(avail_in), Ok(avail_out)) = (src.len().try_into(), dest.len().try_into()) else {
            // More than zlib can count.
            return Err(Error::Data);
        };
        let stream = &mut *self.stream;
        stream.next_in = src.as_ptr().cast_mut();
        stream.avail_in = avail_in;
        stream.next_out = dest.as_mut_ptr();
        stream.avail_out = avail_out;
        let (flush, done) = if last {
            (z::Z_FINISH, z::Z_STREAM_END)
        } else {
            (z::Z_SYNC_FLUSH, z::Z_OK)
        };
        // SAFETY: the stream was initialised in `new`; zlib reads `avail_in` bytes of `src`, never writes to
        // them, and writes at most `avail_out` bytes to `dest`.
        let code = unsafe { z::deflate(stream, flush) };
        // A flush that fills all the room may have more to say.
        let whole = code == done && (last || stream.avail_out > 0);
        Ok(whole.then(|| dest.len() - stream.avail_out as usize))
    }
}

impl Drop for Deflate {
    fn drop(&mut self) {
        // SAFETY: the stream was initialised in `new` and is ended once.
        unsafe { z::deflateEnd(&mut *self.stream) };
    }
}
