//! The functions of the core that are tested in WebAssembly, and their exports.
//!
//! `run.mjs` calls the exports. The program `native` calls the functions in a native build with the
//! C codecs, and writes the results that are expected.

mod exports;

use ferroblosc::b2nd::Array;
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::filter::{self, Slot};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};

/// Decompresses a chunk into the beginning of `dest`; returns the size of its data.
///
/// # Errors
/// Returns the errors of [`Decompressor::decompress`].
pub fn decompress(chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
    Decompressor::new(DParams::default()).decompress(chunk, dest)
}

/// Reads all chunks of a super-chunk in a frame into the beginning of `dest`; returns their size.
///
/// # Errors
/// Returns the errors of opening and reading; [`Error::WriteBuffer`] if `dest` is too small.
pub fn read_frame(frame: &[u8], dest: &mut [u8]) -> Result<usize> {
    let schunk = SChunk::from_bytes(frame, DParams::default())?;
    let mut len = 0;
    for nchunk in 0..schunk.nchunks() {
        len += schunk.decompress(nchunk, &mut dest[len..])?;
    }
    Ok(len)
}

/// Reads the last two thirds of each dimension of an array in a frame; returns their size.
///
/// # Errors
/// Returns the errors of opening and reading; [`Error::WriteBuffer`] if `dest` is too small.
pub fn read_array(frame: &[u8], dest: &mut [u8]) -> Result<usize> {
    let array = Array::from_schunk(SChunk::from_bytes(frame, DParams::default())?)?;
    let shape = array.shape();
    let start: Vec<i64> = shape.iter().map(|extent| extent / 3).collect();
    let extents = shape.iter().zip(&start).map(|(extent, start)| i128::from(extent - start));
    let nitems = extents.fold(1_i128, |count, extent| count.saturating_mul(extent));
    let nbytes = nitems.saturating_mul(array.schunk().typesize().into());
    if nbytes > dest.len() as i128 {
        return Err(Error::WriteBuffer);
    }
    let items = array.get_slice(&start, &shape)?;
    dest[..items.len()].copy_from_slice(&items);
    Ok(items.len())
}

/// Parameters of a compression.
#[derive(Clone, Copy)]
pub struct Settings {
    /// The compcode.
    pub codec: u8,
    /// The level, 0 to 9.
    pub level: i32,
    /// The id of the filter; 0 for none.
    pub filter: u8,
    /// The size of an item in bytes.
    pub typesize: i32,
}

impl Settings {
    /// Returns the parameters for the core.
    pub fn cparams(self) -> CParams {
        let meta = if self.filter == filter::id::TRUNC_PREC { 10 } else { 0 };
        let slot = Slot { id: self.filter, meta };
        let slots: &[Slot] = match self.filter {
            filter::id::NONE => &[],
            filter::id::DELTA => &[slot, Slot { id: filter::id::SHUFFLE, meta: 0 }],
            filter::id::BYTEDELTA => &[Slot { id: filter::id::SHUFFLE, meta: 0 }, slot],
            _ => &[slot],
        };
        let typesize = self.typesize;
        CParams::default()
            .codec(self.codec)
            .level(self.level.clamp(0, 9) as u8)
            .typesize(typesize)
            .filters(slots)
    }
}

/// Compresses `data` into a chunk at the beginning of `dest`; returns the size of the chunk.
///
/// # Errors
/// Returns the errors of [`Compressor::compress`].
pub fn compress(settings: Settings, data: &[u8], dest: &mut [u8]) -> Result<usize> {
    Compressor::new(settings.cparams())?.compress(data, dest)
}

/// Writes a frame with two chunks of `data` in memory, and changes it; returns the size of the
/// frame.
///
/// # Errors
/// Returns the errors of the super-chunk; [`Error::WriteBuffer`] if `dest` is too small.
pub fn write_frame(settings: Settings, data: &[u8], dest: &mut [u8]) -> Result<usize> {
    // More threads than this system may have.
    let cparams = settings.cparams().threads(4);
    let mut schunk = SChunk::create(Storage::frame(), cparams, DParams::default().threads(4))?;
    schunk.append(data)?;
    schunk.append(data)?;
    schunk.add_vlmetalayer("name", b"value")?;
    schunk.set_slice(1, 3, &data[..2 * settings.typesize as usize])?;
    let bytes = schunk.to_bytes()?;
    dest.get_mut(..bytes.len()).ok_or(Error::WriteBuffer)?.copy_from_slice(&bytes);
    Ok(bytes.len())
}

/// Tries to use files, which WebAssembly does not have, and writes the texts of the errors to
/// `dest`; returns the size of the texts.
///
/// # Errors
/// [`Error::Failure`] if an operation succeeds; [`Error::WriteBuffer`] if `dest` is too small.
pub fn use_files(dest: &mut [u8]) -> Result<usize> {
    let dparams = DParams::default;
    let cparams = CParams::default;
    let storages = || {
        [
            Storage::file("/a.b2frame"),
            Storage::directory("/a.b2frame"),
            Storage::file("/a.b2frame").locking(),
            Storage::file("/a.b2frame").durable(),
        ]
    };
    let opened = storages().map(|storage| SChunk::open(storage, dparams()).err());
    let created = storages().map(|storage| SChunk::create(storage, cparams(), dparams()).err());
    let mut len = 0;
    for error in opened.into_iter().chain(created) {
        let error = error.ok_or(Error::Failure)?;
        let line = format!("{} {error}\n", error.code());
        let end = len + line.len();
        dest.get_mut(len..end).ok_or(Error::WriteBuffer)?.copy_from_slice(line.as_bytes());
        len = end;
    }
    Ok(len)
}
