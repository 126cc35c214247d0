//! The encoder of the C library zlib, for chunks of Blosc 1.x.
//!
//! zlib-rs is faster, but at most levels its minimum match length is four bytes, and zlib's is
//! three. With zlib-rs, some data with a 1- or 2-byte structure would be nearly twice as large as
//! with Blosc 1.x. (zlib-rs is used for decoding.)

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use libz_sys as z;

use super::segmented::{Deflater, MEMORY_LEVEL, Matches, WINDOW_BITS};
use super::zlib_rs::ZlibRs;
use crate::codec::incompressible::Search;
use crate::{Error, Result};

/// An encoder state for one level.
pub(super) struct CZlib {
    /// Boxed, because zlib's state points back to it.
    stream: Box<z::z_stream>,
    level: u8,
    /// The zlib-rs encoder for incompressible regions; `None` until first used.
    unsearched: Option<ZlibRs>,
}

// SAFETY: the stream owns its state, and one thread uses it at a time; zlib starts no threads.
unsafe impl Send for CZlib {}

/// Allocates memory for zlib; may fail.
unsafe extern "C" fn allocate(_: z::voidpf, items: z::uInt, size: z::uInt) -> z::voidpf {
    // SAFETY: calloc accepts all sizes.
    unsafe { libc::calloc(items as usize, size as usize) }
}

unsafe extern "C" fn free(_: z::voidpf, address: z::voidpf) {
    // SAFETY: zlib only frees memory that `allocate` returned.
    unsafe { libc::free(address.cast::<c_void>()) }
}

impl CZlib {
    /// Returns a state for this level.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]
    pub(super) fn new(level: u8) -> Result<CZlib> {
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
        // SAFETY: the stream has its allocator and does not move; version and size match the
        // declarations used here. zlib checks the other parameters.
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
            z::Z_OK => Ok(CZlib { stream, level, unsearched: None }),
            _ => Err(Error::MemoryAlloc),
        }
    }
}

impl Deflater for CZlib {
    fn level(&self) -> u8 {
        self.level
    }

    fn search(&self) -> Search {
        Search::Min3
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
                none => none.insert(ZlibRs::new(self.level)?),
            };
            return unsearched.encode(matches, src, last, dest);
        };
        self.begin(window)?;
        self.append(src, last, dest)
    }
}

impl CZlib {
    fn begin(&mut self, dictionary: &[u8]) -> Result<()> {
        let len = dictionary.len() as z::uInt;
        // SAFETY: the stream was initialised in `new`. zlib reads `len` bytes of the dictionary,
        // which has at least that many, as the conversion never increases the length.
        let code = unsafe {
            z::deflateReset(&mut *self.stream);
            z::deflateSetDictionary(&mut *self.stream, dictionary.as_ptr(), len)
        };
        match code {
            z::Z_OK => Ok(()),
            _ => Err(Error::Data),
        }
    }

    /// Encodes a whole segment.
    fn append(&mut self, src: &[u8], last: bool, dest: &mut [u8]) -> Result<Option<usize>> {
        let (Ok(avail_in), Ok(avail_out)) = (src.len().try_into(), dest.len().try_into()) else {
            // Exceeds zlib's counters.
            return Err(Error::Data);
        };
        let stream = &mut *self.stream;
        stream.next_in = src.as_ptr().cast_mut();
        stream.avail_in = avail_in;
        stream.next_out = dest.as_mut_ptr();
        stream.avail_out = avail_out;
        let (flush, done) =
            if last { (z::Z_FINISH, z::Z_STREAM_END) } else { (z::Z_SYNC_FLUSH, z::Z_OK) };
        // SAFETY: the stream was initialised in `new`; zlib reads `avail_in` bytes of `src`, does
        // not write to them, and writes at most `avail_out` bytes to `dest`.
        let code = unsafe { z::deflate(stream, flush) };
        // A flush that fills the output may be incomplete.
        let whole = code == done && (last || stream.avail_out > 0);
        Ok(whole.then(|| dest.len() - stream.avail_out as usize))
    }
}

impl Drop for CZlib {
    fn drop(&mut self) {
        // SAFETY: the stream was initialised in `new` and is ended once.
        unsafe { z::deflateEnd(&mut *self.stream) };
    }
}
