//! Opening a frame whose bytes JavaScript supplies, and its properties.

use std::path::PathBuf;
use std::slice::from_raw_parts;
use std::sync::Arc;

use ferroblosc::b2nd::Array;
use ferroblosc::chunk::DParams;
use ferroblosc::escape::escape;
use ferroblosc::frame::{FIXED_HEADER_LEN, FrameHeader, Kind, legacy};
use ferroblosc::io::Stream;
use ferroblosc::schunk::{Layers, SChunk, State, Storage};
use ferroblosc::{Error, Result};

use crate::chunk::{check_limit, decompress, nbytes};
use crate::memory::{failed, set_result, zeros};
use crate::ranges::Source;
use crate::read::Read;
use crate::{DONE, NEED};

/// The metalayers of arrays, of the current and of the older format.
const ARRAY_LAYERS: [&str; 2] = ["b2nd", "caterva"];

/// The content of a frame.
pub enum Content {
    /// An array.
    Array(Box<Array>),
    /// Chunks without a shape.
    Chunks(Box<SChunk>),
}

impl Content {
    /// Returns the super-chunk.
    pub fn schunk(&self) -> &SChunk {
        match self {
            Content::Array(array) => array.schunk(),
            Content::Chunks(schunk) => schunk,
        }
    }
}

/// A frame that JavaScript has a pointer to.
pub struct Frame {
    name: PathBuf,
    /// The bytes that are available.
    pub source: Source,
    /// The content, after the frame was opened.
    pub content: Option<Content>,
    /// The reads in progress, by their numbers.
    pub reads: Vec<(u32, Read)>,
    /// The number of the last read.
    pub last_read: u32,
}

impl Frame {
    /// Returns the content.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] before the frame was opened.
    pub fn content(&self) -> Result<&Content> {
        self.content.as_ref().ok_or(Error::InvalidParam)
    }

    /// Opens the frame.
    ///
    /// # Errors
    /// The errors of [`SChunk::open`] and [`Array::from_schunk`], also if bytes are missing.
    pub fn open(&mut self) -> Result<()> {
        let storage = Storage::file(&self.name).backend(Arc::new(self.source.clone()));
        let schunk = SChunk::open(storage, DParams::default())?;
        let names = schunk.metalayer_names();
        let is_array = names.iter().any(|name| ARRAY_LAYERS.contains(&name.as_str()));
        self.content = Some(if is_array {
            Content::Array(Box::new(Array::from_schunk(schunk)?))
        } else {
            Content::Chunks(Box::new(schunk))
        });
        Ok(())
    }

    /// Lets missing bytes of chunks be zeros, from now on (see [`Source::assume_zeros`]). Frames of
    /// the older layouts are excluded.
    ///
    /// # Errors
    /// The errors of reading the header.
    pub fn assume_zeros_in_chunks(&self) -> Result<()> {
        let mut fixed = [0; FIXED_HEADER_LEN];
        if self.source.read_at(0, &mut fixed)? == fixed.len() && !legacy::is_legacy(&fixed) {
            let header = FrameHeader::parse(&fixed, Kind::Contiguous)?;
            let start = u64::from(header.header_len);
            let len = header.counters.cbytes.max(0) as u64;
            self.source.assume_zeros(start..start.saturating_add(len));
        }
        Ok(())
    }
}

/// Returns the result of an attempt: [`NEED`] if bytes are missing, even after an error.
fn attempted(source: &Source, result: Result<()>) -> i32 {
    match result {
        _ if source.missing().0 > 0 => NEED,
        Ok(()) => DONE,
        Err(error) => failed(&error),
    }
}

/// Returns a new frame in a source of `size` bytes; `name` is the name in texts of errors.
///
/// # Safety
/// The memory is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_frame_new(size: u64, name: *const u8, name_len: usize) -> *mut Frame {
    // SAFETY: the caller's contract.
    let name = unsafe { from_raw_parts(name, name_len) };
    Box::into_raw(Box::new(Frame {
        name: String::from_utf8_lossy(name).as_ref().into(),
        source: Source::new(size),
        content: None,
        reads: Vec::new(),
        last_read: 0,
    }))
}

/// Frees a frame.
///
/// # Safety
/// The frame was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_frame_free(frame: *mut Frame) {
    // SAFETY: the caller's contract.
    drop(unsafe { Box::from_raw(frame) });
}

/// Supplies bytes of the source for a read, or for the frame if `read` is 0.
///
/// # Safety
/// The frame and the memory are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_frame_supply(
    frame: *mut Frame,
    read: u32,
    start: u64,
    bytes: *const u8,
    len: usize,
) -> i32 {
    // SAFETY: the caller's contract.
    let (frame, bytes) = unsafe { (&*frame, from_raw_parts(bytes, len)) };
    match frame.source.supply(read, start, bytes) {
        Ok(()) => DONE,
        Err(error) => failed(&error),
    }
}

/// Stores the missing ranges as the result: the start and the end of each, in 64 bits.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_frame_missing(frame: *mut Frame) {
    // SAFETY: the caller's contract.
    let missing = unsafe { &*frame }.source.take_missing();
    let numbers = missing.iter().flat_map(|range| [range.start, range.end]);
    set_result(numbers.flat_map(u64::to_le_bytes).collect());
}

/// Opens a frame; returns [`DONE`], [`NEED`] or the code of an error.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_frame_open(frame: *mut Frame) -> i32 {
    // SAFETY: the caller's contract.
    let frame = unsafe { &mut *frame };
    let opened = frame.open().and_then(|()| frame.assume_zeros_in_chunks());
    attempted(&frame.source, opened)
}

/// Stores the properties of a frame as the result: 64-bit numbers, and then the dtype.
///
/// The numbers are: the number of dimensions, −1 for a frame without a shape; the item size; the
/// number of chunks; the uncompressed and the compressed size; the chunk size; the codec; the
/// level; 6 filters; 1 if there is a dtype; the shapes of the array, of a chunk and of a block.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_frame_info(frame: *mut Frame) -> i32 {
    // SAFETY: the caller's contract.
    let content = match unsafe { &*frame }.content() {
        Ok(content) => content,
        Err(error) => return failed(&error),
    };
    let schunk = content.schunk();
    let recorded = schunk.state().recorded();
    let geometry = match content {
        Content::Array(array) => Some(array.geometry()),
        Content::Chunks(_) => None,
    };
    let dtype = match content {
        Content::Array(array) => array.dtype(),
        Content::Chunks(_) => None,
    };
    let mut numbers = vec![
        geometry.map_or(-1, |geometry| geometry.ndim as i64),
        schunk.typesize().into(),
        schunk.nchunks(),
        schunk.nbytes(),
        schunk.cbytes(),
        schunk.chunksize().into(),
        recorded.compcode.into(),
        recorded.clevel.into(),
    ];
    numbers.extend(recorded.filters.iter().map(|slot| i64::from(slot.id)));
    numbers.push(dtype.is_some().into());
    if let Some(geometry) = geometry {
        numbers.extend(geometry.shape());
        numbers.extend(geometry.chunkshape().iter().map(|&extent| i64::from(extent)));
        numbers.extend(geometry.blockshape().iter().map(|&extent| i64::from(extent)));
    }
    let mut result: Vec<u8> = numbers.into_iter().flat_map(i64::to_le_bytes).collect();
    result.extend_from_slice(dtype.unwrap_or_default().as_bytes());
    set_result(result);
    DONE
}

/// Stores the names of the metalayers, or of those of variable length, as the result: the length of
/// each name in 32 bits, and the name.
///
/// # Safety
/// The frame is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_frame_layers(frame: *mut Frame, variable: u32) -> i32 {
    // SAFETY: the caller's contract.
    let content = match unsafe { &*frame }.content() {
        Ok(content) => content,
        Err(error) => return failed(&error),
    };
    let mut result = Vec::new();
    content.schunk().state().with_layers(kind_of(variable), &mut |layers| {
        for (name, _) in layers {
            result.extend_from_slice(&(name.len() as u32).to_le_bytes());
            result.extend_from_slice(name);
        }
    });
    set_result(result);
    DONE
}

/// Returns the kind of metalayers that JavaScript names with a number.
fn kind_of(variable: u32) -> Layers {
    if variable != 0 { Layers::Variable } else { Layers::Fixed }
}

/// Returns the content of a metalayer. Those of variable length are stored as chunks.
///
/// # Errors
/// The inner result is [`LIMIT`](crate::LIMIT) if it has more bytes than `limit`.
fn layer(
    schunk: &SChunk,
    kind: Layers,
    name: &[u8],
    limit: usize,
) -> Result<std::result::Result<Vec<u8>, i32>> {
    let mut found = Err(Error::NotFound);
    schunk.state().with_layers(kind, &mut |layers| {
        let Some((_, stored)) = layers.iter().find(|(it, _)| *it == name) else {
            return;
        };
        found = match kind {
            Layers::Fixed => Ok(Ok(stored.to_vec())),
            Layers::Variable => nbytes(stored).and_then(|nbytes| {
                if let Err(code) = check_limit(nbytes, limit) {
                    return Ok(Err(code));
                }
                let mut content = zeros(nbytes)?;
                decompress(stored, &mut content)?;
                Ok(Ok(content))
            }),
        };
    });
    found
}

/// Stores the content of a metalayer as the result, if it has at most `limit` bytes.
///
/// # Safety
/// The frame and the memory are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_frame_layer(
    frame: *mut Frame,
    variable: u32,
    name: *const u8,
    name_len: usize,
    limit: usize,
) -> i32 {
    // SAFETY: the caller's contract.
    let (frame, name) = unsafe { (&*frame, from_raw_parts(name, name_len)) };
    let found =
        frame.content().and_then(|content| layer(content.schunk(), kind_of(variable), name, limit));
    match found {
        Ok(Ok(layer)) => {
            set_result(layer);
            DONE
        }
        Ok(Err(code)) => code,
        Err(error) if error == Error::NotFound => {
            let name = String::from_utf8_lossy(name);
            failed(&error.because(format!("there is no metalayer {}", escape(&name))))
        }
        Err(error) => failed(&error),
    }
}
