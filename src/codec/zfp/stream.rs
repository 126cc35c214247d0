//! The ZFP library on slices.
//!
//! The library checks no bounds: it writes, and reads, as many words as array and parameters make it.
//! Both numbers have an upper limit that follows from the array and the parameters, so it is given buffers
//! of that size. A stream that ends early is followed by zeros there, and what lies behind the limit is never
//! looked at.

use std::ffi::c_void;
use std::ptr::null_mut;

use ferroblosc_zfp_sys as zfp;

use crate::blockshape::BlockShape;
use crate::{Error, Result, Surroundings};

/// The most dimensions ZFP takes.
pub(super) const MAX_DIM: usize = 4;
/// Items of a cell along each dimension.
const CELL_SIDE: usize = 4;
/// Bytes of the words that streams consist of.
const WORD: usize = size_of::<u64>();
const WORD_BITS: u64 = u64::BITS as u64;
/// Words the library may read ahead of the last bit.
const READ_AHEAD: usize = 2;
/// The bounds of a stream without bounds: bits of a cell, bit planes, and the lowest of those (`ZFP_MIN_BITS`
/// and so on). The functions that set a mode replace them.
const MIN_BITS: u32 = 1;
const MAX_BITS: u32 = 16_658;
const MAX_PRECISION: u32 = 64;
const MIN_EXPONENT: i32 = -1074;

/// What bounds the loss.
pub(super) enum Mode {
    /// The absolute error.
    Accuracy(f64),
    /// Bit planes.
    Precision(u32),
    /// Bits per item.
    Rate(f64),
}

/// A contiguous array of floats.
pub(super) struct Field {
    /// Items along each dimension, the fastest one first.
    extents: [usize; MAX_DIM],
    ndim: usize,
    typesize: usize,
    nbytes: usize,
}

impl Field {
    /// The array that a block is, if ZFP takes such arrays.
    pub(super) fn around(around: &Surroundings<'_>, typesize: usize) -> Option<Field> {
        let shape = BlockShape::around(around)?;
        let nbytes = shape.items()?.checked_mul(typesize)?;
        let ndim = shape.extents().len();
        if ndim > MAX_DIM || !matches!(typesize, 4 | 8) {
            return None;
        }
        let mut extents = [0; MAX_DIM];
        for (extent, &items) in extents.iter_mut().zip(shape.extents().iter().rev()) {
            *extent = items;
        }
        Some(Field {
            extents,
            ndim,
            typesize,
            nbytes,
        })
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

    /// The number of cells.
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
        zfp::zfp_field {
            scalar: self.scalar(),
            nx,
            ny,
            nz,
            nw,
            sx: 0,
            sy: 0,
            sz: 0,
            sw: 0,
            data,
        }
    }
}

/// Parameters and the bits they are for.
struct Stream {
    raw: zfp::zfp_stream,
}

impl Stream {
    /// A stream without bits, to ask for limits.
    fn new(mode: &Mode, field: &Field) -> Stream {
        let mut raw = zfp::zfp_stream {
            minbits: MIN_BITS,
            maxbits: MAX_BITS,
            maxprec: MAX_PRECISION,
            minexp: MIN_EXPONENT,
            stream: null_mut(),
            exec: zfp::zfp_execution {
                policy: 0,
                params: null_mut(),
            },
        };
        // SAFETY: `raw` is a valid stream, of which these functions set the bounds.
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

    /// Words that hold any stream of such an array.
    fn max_words(&self, field: &Field) -> Result<usize> {
        // SAFETY: both are valid; the data is not looked at.
        let bytes = unsafe { zfp::zfp_stream_maximum_size(&self.raw, &field.raw(null_mut())) };
        match bytes {
            0 => Err(Error::Data),
            _ => Ok(bytes.div_ceil(WORD) + READ_AHEAD),
        }
    }

    /// Whether all cells take the same number of bits.
    fn is_fixed_size(&self) -> bool {
        self.raw.minbits == self.raw.maxbits
    }

    /// Whether cells of the same number of bits take no more room than the array.
    fn is_shorter_than(&self, field: &Field) -> bool {
        let stored = field.cells() as u64 * u64::from(self.raw.maxbits);
        stored.div_ceil(8) <= field.nbytes as u64
    }

    /// Words that decompression can read of `len` bytes and the zeros behind them. It may be far fewer than
    /// the longest stream has: where that is longer than the array, only a made-up shape asks for it.
    ///
    /// # Errors
    /// [`Error::Data`] for cells of a fixed size that take more room than the array: that is no stream of
    /// this codec, which leaves such arrays raw.
    fn readable_words(&self, field: &Field, len: usize) -> Result<usize> {
        let most = self.max_words(field)?;
        if self.is_fixed_size() {
            return match self.is_shorter_than(field) {
                true => Ok(most),
                false => Err(Error::Data),
            };
        }
        // Zeros are a cell of zeros each, but for the one that the end is in.
        let in_zeros = field.cells() + MAX_BITS as usize;
        let words = len.div_ceil(WORD) + in_zeros.div_ceil(u64::BITS as usize);
        Ok(most.min(words + READ_AHEAD))
    }

    /// Has `work` done on the `count` words at `at`, from the first bit on.
    ///
    /// # Safety
    /// They are valid for what `work` does with the stream.
    unsafe fn on<T>(
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

/// The words of the front of `bytes`, followed by zeros.
fn fill_words(words: &mut [u64], bytes: &[u8]) {
    let (chunks, rest) = bytes.as_chunks::<WORD>();
    let whole = chunks.len().min(words.len());
    let (front, behind) = words.split_at_mut(whole);
    for (word, chunk) in front.iter_mut().zip(chunks) {
        *word = u64::from_le_bytes(*chunk);
    }
    behind.fill(0);
    if let Some(word) = behind.first_mut() {
        let mut padded = [0; WORD];
        padded[..rest.len()].copy_from_slice(rest);
        *word = u64::from_le_bytes(padded);
    }
}

/// So many words, the front of `bytes` followed by zeros.
fn words_of(bytes: &[u8], count: usize) -> Result<Vec<u64>> {
    let (chunks, _) = bytes.as_chunks::<WORD>();
    let whole = chunks.len().min(count);
    let mut words = Vec::new();
    words.try_reserve_exact(count)?;
    words.extend(
        chunks[..whole]
            .iter()
            .map(|chunk| u64::from_le_bytes(*chunk)),
    );
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

/// Compresses an array into the front of `dest`; returns the length, or 0 if that does not fit.
///
/// # Errors
/// [`Error::Data`] if the library refuses, [`Error::MemoryAlloc`].
pub(super) fn compress(mode: &Mode, field: &Field, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    debug_assert_eq!(src.len(), field.nbytes);
    let mut aligned = Vec::new();
    let data = if src.as_ptr().addr().is_multiple_of(field.typesize) {
        src.as_ptr()
    } else {
        aligned = words_of(src, src.len().div_ceil(WORD))?;
        aligned.as_ptr().cast()
    };
    let mut stream = Stream::new(mode, field);
    let capacity = stream.max_words(field)?;
    let mut words: Vec<u64> = Vec::new();
    words.try_reserve_exact(capacity)?;
    let array = field.raw(data.cast_mut().cast());
    // SAFETY: the words may be written, which is all that compression does with them, and are as many as
    // any stream of the array takes; the data is aligned, as long as the field says, and only read.
    let len = unsafe {
        stream.on(words.as_mut_ptr(), capacity, |stream| {
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
    // SAFETY: so many were written, in whole words.
    unsafe { words.set_len(len / WORD) };
    for (bytes, word) in dest.chunks_exact_mut(WORD).zip(&words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    Ok(len)
}

/// Decompresses any bytes into an array.
///
/// # Errors
/// [`Error::Data`] if the library refuses, [`Error::MemoryAlloc`].
pub(super) fn decompress(mode: &Mode, field: &Field, src: &[u8], dest: &mut [u8]) -> Result<()> {
    debug_assert_eq!(dest.len(), field.nbytes);
    let mut stream = Stream::new(mode, field);
    let mut words = words_of(src, stream.readable_words(field, src.len())?)?;
    let is_aligned = dest.as_ptr().addr().is_multiple_of(field.typesize);
    let mut aligned = match is_aligned {
        true => Vec::new(),
        false => zeroed_words(dest.len().div_ceil(WORD))?,
    };
    let data = match is_aligned {
        true => dest.as_mut_ptr(),
        false => aligned.as_mut_ptr().cast(),
    };
    let mut array = field.raw(data.cast());
    // SAFETY: the words are initialised, and as many as the library can read for the array; the data is
    // aligned and as long as the field says.
    let read = unsafe {
        stream.on(words.as_mut_ptr(), words.len(), |stream| {
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

/// Decompresses items that stand in one row of one cell, from item `first` on, if cells have a fixed size
/// and these items do; the rest of the array is not decompressed.
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
    let place = Place::of(field, first);
    let start = (place.cell as u64).checked_mul(bits)?;
    let from = usize::try_from(start / WORD_BITS).ok()?.checked_mul(WORD)?;
    let src = src.get(from..).unwrap_or_default();
    let start = start % WORD_BITS;
    let item = place.item;
    let [float_1, float_2, float_3, float_4] = zfp::routines().decode_block_float;
    let [double_1, double_2, double_3, double_4] = zfp::routines().decode_block_double;
    match (field.typesize, field.ndim) {
        (4, 1) => stream.row::<f32, 4, { max_words(4) }>(float_1, src, start, item, dest),
        (4, 2) => stream.row::<f32, 16, { max_words(16) }>(float_2, src, start, item, dest),
        (4, 3) => stream.row::<f32, 64, { max_words(64) }>(float_3, src, start, item, dest),
        (4, _) => stream.row::<f32, 256, { max_words(256) }>(float_4, src, start, item, dest),
        (_, 1) => stream.row::<f64, 4, { max_words(4) }>(double_1, src, start, item, dest),
        (_, 2) => stream.row::<f64, 16, { max_words(16) }>(double_2, src, start, item, dest),
        (_, 3) => stream.row::<f64, 64, { max_words(64) }>(double_3, src, start, item, dest),
        _ => stream.row::<f64, 256, { max_words(256) }>(double_4, src, start, item, dest),
    }
}

/// Decodes a cell from a stream.
type DecodeCell<T> = unsafe extern "C" fn(*mut zfp::zfp_stream, *mut T) -> usize;

/// Words of a cell of so many items at the highest rate (2.55 times 64 bits an item), wherever it begins.
const fn max_words(items: usize) -> usize {
    items * 255 / 100 + 1 + 2 + READ_AHEAD
}

impl Stream {
    /// Decodes the cell of fixed size that begins `start` bits into `src`, in its first word, and copies items of
    /// it from `item` on. `decode` is the function for cells of `ITEMS` items, and buffers are no larger than
    /// those: a single item is read in less time than the largest take to clear.
    fn row<T: bytemuck::Pod, const ITEMS: usize, const WORDS: usize>(
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
        // SAFETY: the bit is in the first word; the cell has room for the items that `decode` makes of it, and
        // the words are initialised and hold its bits.
        unsafe {
            self.on(words.as_mut_ptr(), words.len(), |stream| {
                zfp::stream_rseek(stream.stream, start);
                decode(stream, cell.as_mut_ptr())
            });
        }
        let items = bytemuck::cast_slice(cell.get(item..)?);
        dest.copy_from_slice(items.get(..dest.len())?);
        Some(Ok(()))
    }
}

/// Where an item of an array is: the number of its cell, and its number there.
struct Place {
    cell: usize,
    item: usize,
}

impl Place {
    fn of(field: &Field, mut item: usize) -> Place {
        let mut place = Place { cell: 0, item: 0 };
        let (mut cells, mut items) = (1, 1);
        for &extent in field.extents() {
            let index = item % extent;
            place.cell += index / CELL_SIDE * cells;
            place.item += index % CELL_SIDE * items;
            item /= extent;
            cells *= extent.div_ceil(CELL_SIDE);
            items *= CELL_SIDE;
        }
        place
    }
}
