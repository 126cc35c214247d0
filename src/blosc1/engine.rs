//! Compression and decompression with the checks of Blosc 1.x.

use super::error::{Error, Result};
use super::settings::Params;
use super::warn::warn;
use super::{HEADER_LENGTH, MAX_BUFFERSIZE, MAX_THREADS, MAX_TYPESIZE, check};
use crate::chunk::{
    self, BasicHeader, CParams, Compressor, DParams, Decompressor, HeaderForm, SplitMode,
};
use crate::filter::{self, SLOTS, Slot};

/// The maximum number of idle engines in an [`EnginePool`].
const MAX_IDLE_ENGINES: usize = 8;

/// Returns the number of bytes of a `destsize`-byte destination that a chunk of `nbytes` bytes of
/// data can use. Returns `None` if the data are too long or the destination is shorter than a
/// header.
pub fn usable_destsize(nbytes: usize, destsize: usize) -> Option<usize> {
    if nbytes > MAX_BUFFERSIZE {
        warn(format_args!("the input is longer than {MAX_BUFFERSIZE} bytes"));
        return None;
    }
    if destsize < HEADER_LENGTH {
        warn(format_args!("the output is shorter than {HEADER_LENGTH} bytes"));
        return None;
    }
    Some(destsize.min(nbytes + HEADER_LENGTH))
}

/// Compresses and decompresses chunks. Codec states and buffers are reused between calls.
pub struct Engine {
    compressor: Option<Compressor>,
    decompressor: Decompressor,
}

impl Default for Engine {
    fn default() -> Engine {
        Engine { compressor: None, decompressor: Decompressor::new(decompression(1)) }
    }
}

fn decompression(nthreads: i16) -> DParams {
    DParams { nthreads, blosc1: true, ..DParams::default() }
}

impl Engine {
    /// Compresses `src` into `dest`; returns the size of the chunk, or 0 if it does not fit. It
    /// always fits if `dest` is 16 bytes longer than `src`.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for an invalid level, shuffle or item size; [`Error::CodecSupport`]
    /// for an unknown codec; [`Error::Failure`] if threads are needed and their number is invalid.
    pub fn compress(&mut self, params: &Params, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let mut chunk_params = chunk_params(params)?;
        let blocksize = chunk::blosc1::blocksize_for(&chunk_params, src.len());
        chunk_params.nthreads = threads(params.nthreads, src.len(), blocksize)?;
        let compressor = match &mut self.compressor {
            Some(compressor) => {
                compressor.set_params(chunk_params)?;
                compressor
            }
            none => none.insert(Compressor::new(chunk_params)?),
        };
        Ok(compressor.compress(src, dest)?)
    }

    /// Decompresses the chunk `src`; returns the size of its data in bytes.
    ///
    /// # Errors
    /// [`Error`] if the header or a length is invalid; [`Error::Failure`] if the blocks are
    /// invalid, or if threads are needed and their number is invalid.
    pub fn decompress(&mut self, src: &[u8], nthreads: i32, dest: &mut [u8]) -> Result<usize> {
        let header = src.first_chunk().ok_or(Error::Failure)?;
        let lengths = check::lengths(header, dest.len())?;
        if lengths.dest == 0 {
            return Ok(0);
        }
        let blocksize = BasicHeader::read(header).blocksize as usize;
        let nthreads = threads(nthreads, lengths.dest, blocksize)?;
        self.decompressor.set_params(decompression(nthreads));
        self.decompressor.decompress(src, dest).map_err(|_| Error::Failure)
    }

    /// Decompresses `nitems` items of a chunk starting with item `start`; returns their size in
    /// bytes.
    ///
    /// # Errors
    /// [`Error`] if the header or a range is invalid; [`Error::Failure`] if the blocks are invalid.
    pub fn getitem(
        &mut self,
        src: &[u8],
        start: i32,
        nitems: i32,
        dest: &mut [u8],
    ) -> Result<usize> {
        let header = src.first_chunk().ok_or(Error::Failure)?;
        check::getitem_lengths(header, start, nitems)?;
        self.decompressor.getitem(src, start, nitems, dest).map_err(|_| Error::Failure)
    }
}

/// Returns the chunk engine's parameters, except the number of threads.
fn chunk_params(params: &Params) -> Result<CParams> {
    let call = params.call;
    if !(0..=9).contains(&call.clevel) {
        warn(format_args!("the level {} is not between 0 and 9", call.clevel));
        return Err(Error::InvalidParam);
    }
    let filter_id = match call.shuffle {
        0 => 0,
        1 => filter::id::SHUFFLE,
        2 => filter::id::BITSHUFFLE,
        other => {
            warn(format_args!("the shuffle {other} is none of 0, 1 and 2"));
            return Err(Error::InvalidParam);
        }
    };
    let typesize = match call.typesize {
        0 => {
            warn(format_args!("the type size is 0"));
            return Err(Error::InvalidParam);
        }
        size if size > MAX_TYPESIZE => 1,
        size => size as i32,
    };
    let Some(compcode) = params.compressor else {
        warn(format_args!("there is no such compressor"));
        return Err(Error::CodecSupport);
    };
    if !(SplitMode::ALWAYS.0..=SplitMode::FORWARD_COMPAT.0).contains(&params.splitmode.0) {
        warn(format_args!("there is no split mode {}", params.splitmode.0));
    }
    let mut filters = [Slot::default(); SLOTS];
    filters[SLOTS - 1].id = filter_id;
    Ok(CParams {
        compcode: compcode.into(),
        clevel: call.clevel,
        typesize,
        blocksize: params.blocksize,
        splitmode: params.splitmode,
        filters,
        header: HeaderForm::Blosc1,
        ..CParams::default()
    })
}

/// Returns the number of threads for `nbytes` bytes in blocks of `blocksize`: with less than two
/// full blocks, only the calling thread.
fn threads(asked: i32, nbytes: usize, blocksize: usize) -> Result<i16> {
    if nbytes / blocksize < 2 {
        return Ok(1);
    }
    if !(1..=MAX_THREADS).contains(&asked) {
        warn(format_args!("{asked} threads are not between 1 and {MAX_THREADS}"));
        return Err(Error::Failure);
    }
    Ok(asked as i16)
}

/// Idle engines for concurrent calls.
#[derive(Default)]
pub struct EnginePool {
    engines: Vec<Engine>,
}

impl EnginePool {
    /// Returns an empty pool.
    pub const fn new() -> EnginePool {
        EnginePool { engines: Vec::new() }
    }

    /// Returns an idle engine, or a new one.
    pub fn take(&mut self) -> Engine {
        self.engines.pop().unwrap_or_default()
    }

    /// Stores an engine; returns it if the pool is full.
    pub fn put(&mut self, engine: Engine) -> Option<Engine> {
        if self.engines.len() >= MAX_IDLE_ENGINES {
            return Some(engine);
        }
        self.engines.push(engine);
        None
    }
}
