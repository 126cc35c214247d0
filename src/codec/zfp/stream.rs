//! A safe interface to the ZFP library, on slices.
//!
//! The library checks no bounds: it writes and reads as many words as the array and the parameters
//! require. Both numbers have an upper bound, which is computed from the array and the parameters,
//! and the buffers passed to the library have that size. Short streams are padded with zeros, and
//! bytes beyond the bound are never read.

use std::ffi::c_void;
use std::ptr::null_mut;

use ferroblosc_zfp_sys as zfp;

use crate::blockshape::BlockShape;
use crate::{CallContext, Error, Result};

/// The maximum number of dimensions of ZFP arrays.
pub(super) const MAX_DIM: usize = 4;
/// The number of items in a cell along each dimension.
const CELL_SIDE: usize = 4;
/// The size of a stream word in bytes.
const WORD: usize = size_of::<u64>();
const WORD_BITS: u64 = u64::BITS as u64;
/// The number of words that the library may read beyond the last bit.
const READ_AHEAD: usize = 2;
/// The defaults of an unbounded stream (`ZFP_MIN_BITS` and so on): bits per cell, bit planes and
/// the lowest bit plane. The functions that set a mode replace them.
const MIN_BITS: u32 = 1;
const MAX_BITS: u32 = 16_658;
const MAX_PRECISION: u32 = 64;
const MIN_EXPONENT: i32 = -1074;

/// The bound of the loss.
pub(super) enum Mode {
    /// The absolute error.
    Accuracy(f64),
    /// The number of bit planes.
    Precision(u32),
    /// Bits per item.
    Rate(f64),
}

/// A contiguous array of floats.
pub(super) struct Field {
    /// The number of items along each dimension, fastest first.
    extents: [usize; MAX_DIM],
    ndim: usize,
    typesize: usize,
    nbytes: usize,
}

impl Field {
    /// Returns the array of a block, if ZFP supports it.
    pub(super) fn from_context(ctx: &CallContext<'_>, typesize: usize) -> Option<Field> {
        let shape = BlockShape::from_context(ctx)?;
        let nbytes = shape.items()?.checked_mul(typesize)?;
        let ndim = shape.extents().len();
        if ndim > MAX_DIM || !matches!(typesize, 4 | 8) {
            return None;
        }
        let mut extents = [0; MAX_DIM];
        for (extent, &items) in extents.iter_mut().zip(shape.extents().iter().rev()) {
            *extent = items;
        }
        Some(Field { extents, ndim, typesize, nbytes })
    }

    pub(super) fn extents(&self) -> &[usize] {
        &self.extents[..self.ndim]
    }

    pub(super) fn ndim(&self) -> usize {
        self.ndim
    }

    pub(super) fn typesize(&self) -> usize {
        self.typesize
    }

    pub(super) fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn cells(&self) -> usize {
        let cells = |extent: &usize| extent.div_ceil(CELL_SIDE);
        self.extents().iter().map(cells).product()
    }

    fn scalar(&self) -> i32 {
        match self.typesize {
            4 => zfp::ZFP_TYPE_FLOAT,
            _ => zfp::ZFP_TYPE_DOUBLE,
        }
    }

    fn raw(&self, data: *mut c_void) -> zfp::zfp_field {
        let [nx, ny, nz, nw] = self.extents;
        zfp::zfp_field { scalar: self.scalar(), nx, ny, nz, nw, sx: 0, sy: 0, sz: 0, sw: 0, data }
    }
}

/// The parameters of a ZFP stream. The data is attached for each operation.
struct Stream {
    raw: zfp::zfp_stream,
}

impl Stream {
    /// Returns a stream without data.
    fn new(mode: &Mode, field: &Field) -> Stream {
        let mut raw = zfp::zfp_stream {
            minbits: MIN_BITS,
            maxbits: MAX_BITS,
            maxprec: MAX_PRECISION,
            minexp: MIN_EXPONENT,
            stream: null_mut(),
            exec: zfp::zfp_execution { policy: 0, params: null_mut() },
        };
        // SAFETY: `raw` is a valid stream; these functions only set its bounds.
        unsafe {
            match *mode {
                Mode::Accuracy(tolerance) => {
                    zfp::zfp_stream_set_accuracy(&mut raw, tolerance);
                }
                Mode::Precision(planes) => {
                    zfp::zfp_stream_set_precision(&mut raw, planes);
                }
                Mode::Rate(bits) => {
                    let ndim = field.ndim as u32;
                    zfp::zfp_stream_set_rate(&mut raw, bits, field.scalar(), ndim, 0);
                }
            }
        }
        Stream { raw }
    }

    /// Returns an upper bound of the words in a stream of such an array.
    fn max_words(&self, field: &Field) -> Result<usize> {
        // SAFETY: both arguments are valid; the function does not access the data.
        let bytes = unsafe { zfp::zfp_stream_maximum_size(&self.raw, &field.raw(null_mut())) };
        match bytes {
            0 => Err(Error::Data),
            _ => Ok(bytes.div_ceil(WORD) + READ_AHEAD),
        }
    }

    /// Whether all cells have the same number of bits.
    fn is_fixed_size(&self) -> bool {
        self.raw.minbits == self.raw.maxbits
    }

    /// Whether cells of fixed size need no more bytes than the array.
    fn is_shorter_than(&self, field: &Field) -> bool {
        let stored = field.cells() as u64 * u64::from(self.raw.maxbits);
        stored.div_ceil(8) <= field.nbytes as u64
    }

    /// Returns an upper bound of the words read when decompressing `len` bytes padded with zeros.
    /// The bound may be far below the maximum size of a stream, which is much larger than the array
    /// for forged shapes only.
    ///
    /// # Errors
    /// [`Error::Data`] if cells of fixed size need more bytes than the array: the codec stores such
    /// arrays raw.
    fn readable_words(&self, field: &Field, len: usize) -> Result<usize> {
        let max = self.max_words(field)?;
        if self.is_fixed_size() {
            return if self.is_shorter_than(field) { Ok(max) } else { Err(Error::Data) };
        }
        // Each zero bit is a cell of zeros, except in the cell that contains the end of the data.
        let zero_bits = field.cells() + MAX_BITS as usize;
        let words = len.div_ceil(WORD) + zero_bits.div_ceil(u64::BITS as usize);
        Ok(max.min(words + READ_AHEAD))
    }

    /// Calls `work` with the stream attached to the `count` words at `at`.
    ///
    /// # Safety
    /// The words must be valid for all accesses of `work` to the stream.
    unsafe fn with_words<T>(
        &mut self,
        at: *mut u64,
        count: usize,
        work: impl FnOnce(&mut zfp::zfp_stream) -> T,
    ) -> T {
        let mut bits = zfp::bitstream::new(at, at.wrapping_add(count));
        self.raw.stream = &raw mut bits;
        let done = work(&mut self.raw);
        self.raw.stream = null_mut();
        done
    }
}

/// Fills `words` from the beginning of `bytes`, and the rest with zeros.
fn fill_words(words: &mut [u64], bytes: &[u8]) {
    let (chunks, rest) = bytes.as_chunks::<WORD>();
    let whole = chunks.len().min(words.len());
    let (whole_words, rest_words) = words.split_at_mut(whole);
    for (word, chunk) in whole_words.iter_mut().zip(chunks) {
        *word = u64::from_le_bytes(*chunk);
    }
    rest_words.fill(0);
    if let Some(word) = rest_words.first_mut() {
        let mut padded = [0; WORD];
        padded[..rest.len()].copy_from_slice(rest);
        *word = u64::from_le_bytes(padded);
    }
}

/// Returns `count` words from the beginning of `bytes`, padded with zeros.
fn to_words(bytes: &[u8], count: usize) -> Result<Vec<u64>> {
    let (chunks, _) = bytes.as_chunks::<WORD>();
    let whole = chunks.len().min(count);
    let mut words = Vec::new();
    words.try_reserve_exact(count)?;
    words.extend(chunks[..whole].iter().map(|chunk| u64::from_le_bytes(*chunk)));
    words.resize(count, 0);
    fill_words(&mut words[whole..], &bytes[whole * WORD..]);
    Ok(words)
}

fn zeroed_words(count: usize) -> Result<Vec<u64>> {
    let mut words = Vec::new();
    words.try_reserve_exact(count)?;
    words.resize(count, 0);
    Ok(words)
}

/// Compresses an array into the beginning of `dest`; returns the length, or 0 if it does not fit.
///
/// # Errors
/// [`Error::Data`] if the library fails, [`Error::MemoryAlloc`].
pub(super) fn compress(mode: &Mode, field: &Field, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    debug_assert_eq!(src.len(), field.nbytes);
    let mut aligned = Vec::new();
    let data = if src.as_ptr().addr().is_multiple_of(field.typesize) {
        src.as_ptr()
    } else {
        aligned = zeroed_words(src.len().div_ceil(WORD))?;
        bytemuck::cast_slice_mut(&mut aligned)[..src.len()].copy_from_slice(src);
        aligned.as_ptr().cast()
    };
    let mut stream = Stream::new(mode, field);
    let capacity = stream.max_words(field)?;
    let mut words: Vec<u64> = Vec::new();
    words.try_reserve_exact(capacity)?;
    let array = field.raw(data.cast_mut().cast());
    // SAFETY: compression only writes the words, and their number is the upper bound for the array;
    // the data is aligned, has the field's size and is only read.
    let len = unsafe {
        stream.with_words(words.as_mut_ptr(), capacity, |stream| {
            (zfp::routines().compress)(stream, &array)
        })
    };
    drop(aligned);
    if len == 0 {
        return Err(Error::Data);
    }
    let Some(dest) = dest.get_mut(..len) else {
        return Ok(0);
    };
    // SAFETY: the library wrote `len` bytes, in whole words.
    unsafe { words.set_len(len / WORD) };
    for (bytes, word) in dest.chunks_exact_mut(WORD).zip(&words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Ok(len)
}

/// Decompresses arbitrary bytes into an array.
///
/// # Errors
/// [`Error::Data`] if the library fails, [`Error::MemoryAlloc`].
pub(super) fn decompress(mode: &Mode, field: &Field, src: &[u8], dest: &mut [u8]) -> Result<()> {
    debug_assert_eq!(dest.len(), field.nbytes);
    let mut stream = Stream::new(mode, field);
    let mut words = to_words(src, stream.readable_words(field, src.len())?)?;
    let is_aligned = dest.as_ptr().addr().is_multiple_of(field.typesize);
    let mut aligned =
        if is_aligned { Vec::new() } else { zeroed_words(dest.len().div_ceil(WORD))? };
    let data = if is_aligned { dest.as_mut_ptr() } else { aligned.as_mut_ptr().cast() };
    let mut array = field.raw(data.cast());
    // SAFETY: the words are initialised, and their number is the upper bound of what the library
    // reads for the array; the data is aligned and has the field's size.
    let read = unsafe {
        stream.with_words(words.as_mut_ptr(), words.len(), |stream| {
            (zfp::routines().decompress)(stream, &mut array)
        })
    };
    for (bytes, word) in dest.chunks_mut(WORD).zip(&aligned) {
        bytes.copy_from_slice(&word.to_ne_bytes()[..bytes.len()]);
    }
    match read {
        0 => Err(Error::Data),
        _ => Ok(()),
    }
}

/// Decompresses items in one row of one cell, starting with item `first`, without the rest of the
/// array. Returns `None` if cells have no fixed size or the items are not in one row.
pub(super) fn decompress_row(
    mode: &Mode,
    field: &Field,
    src: &[u8],
    first: usize,
    dest: &mut [u8],
) -> Option<Result<()>> {
    let count = dest.len() / field.typesize;
    let x = first % field.extents[0];
    let is_one_row = x % CELL_SIDE + count <= CELL_SIDE && x + count <= field.extents[0];
    let stream = Stream::new(mode, field);
    let bits = u64::from(stream.raw.maxbits);
    if !is_one_row || !stream.is_fixed_size() || !stream.is_shorter_than(field) {
        return None;
    }
    let index = CellIndex::of(field, first);
    let start = (index.cell as u64).checked_mul(bits)?;
    let from = usize::try_from(start / WORD_BITS).ok()?.checked_mul(WORD)?;
    let src = src.get(from..).unwrap_or_default();
    let start = start % WORD_BITS;
    let item = index.item;
    let [float_1, float_2, float_3, float_4] = zfp::routines().decode_block_float;
    let [double_1, double_2, double_3, double_4] = zfp::routines().decode_block_double;
    match (field.typesize, field.ndim) {
        (4, 1) => stream.decode_row::<f32, 4, { max_words(4) }>(float_1, src, start, item, dest),
        (4, 2) => stream.decode_row::<f32, 16, { max_words(16) }>(float_2, src, start, item, dest),
        (4, 3) => stream.decode_row::<f32, 64, { max_words(64) }>(float_3, src, start, item, dest),
        (4, _) => {
            stream.decode_row::<f32, 256, { max_words(256) }>(float_4, src, start, item, dest)
        }
        (_, 1) => stream.decode_row::<f64, 4, { max_words(4) }>(double_1, src, start, item, dest),
        (_, 2) => stream.decode_row::<f64, 16, { max_words(16) }>(double_2, src, start, item, dest),
        (_, 3) => stream.decode_row::<f64, 64, { max_words(64) }>(double_3, src, start, item, dest),
        _ => stream.decode_row::<f64, 256, { max_words(256) }>(double_4, src, start, item, dest),
    }
}

/// Decodes a cell from a stream.
type DecodeCell<T> = unsafe extern "C" fn(*mut zfp::zfp_stream, *mut T) -> usize;

/// Returns the maximum number of words of a cell with this many items at the highest rate (2.55
/// times 64 bits per item), starting at any bit.
const fn max_words(items: usize) -> usize {
    items * 255 / 100 + 1 + 2 + READ_AHEAD
}

impl Stream {
    /// Decodes the cell of fixed size at bit `start` of the first word of `src`, and copies its
    /// items from `item`. `decode` decodes cells of `ITEMS` items. The buffers are sized for these:
    /// clearing the largest ones is slower than decoding a single item.
    fn decode_row<T: bytemuck::Pod, const ITEMS: usize, const WORDS: usize>(
        mut self,
        decode: DecodeCell<T>,
        src: &[u8],
        start: u64,
        item: usize,
        dest: &mut [u8],
    ) -> Option<Result<()>> {
        let mut words = [0; WORDS];
        let bits = start + u64::from(self.raw.maxbits);
        let needed = usize::try_from(bits.div_ceil(WORD_BITS)).ok()?;
        let words = words.get_mut(..needed + READ_AHEAD)?;
        fill_words(words, src);
        let mut cell = [T::zeroed(); ITEMS];
        // SAFETY: the bit is in the first word; the cell holds the ITEMS items that `decode`
        // writes, and the words are initialised and contain its bits.
        unsafe {
            self.with_words(words.as_mut_ptr(), words.len(), |stream| {
                zfp::stream_rseek(stream.stream, start);
                decode(stream, cell.as_mut_ptr())
            });
        }
        let items = bytemuck::cast_slice(cell.get(item..)?);
        dest.copy_from_slice(items.get(..dest.len())?);
        Some(Ok(()))
    }
}

/// The position of an item: the index of its cell, and its index in the cell.
struct CellIndex {
    cell: usize,
    item: usize,
}

impl CellIndex {
    fn of(field: &Field, mut item: usize) -> CellIndex {
        let mut position = CellIndex { cell: 0, item: 0 };
        let (mut cells, mut items) = (1, 1);
        for &extent in field.extents() {
            let index = item % extent;
            position.cell += index / CELL_SIDE * cells;
            position.item += index % CELL_SIDE * items;
            item /= extent;
            cells *= extent.div_ceil(CELL_SIDE);
            items *= CELL_SIDE;
        }
        position
    }
}
