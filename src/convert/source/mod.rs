//! What is read when something is converted: bytes in C's order, of which any part can be had, and what they are.
//!
//! Whatever holds data is seen in one way here, so that each format needs one reader, not one for each other format.
//! Readers keep no more than some chunks in memory.
//!
//! | file | what |
//! |---|---|
//! | `frame.rs` | chunks, super-chunks and b2nd arrays |
//! | `plain.rs` | containers of Bloscpack and `.npy` files |
//! | `bcolz.rs` | carrays, and ctables as records |

mod bcolz;
mod frame;
mod plain;

pub(super) use frame::{array_of, chunk_error, open_schunk, schunk_of_chunk};

use std::path::Path;

use super::detect::{Detected, Format, detect};
use super::error::{Error, Result};
use crate::bloscpack::ArrayInfo;

/// What a source holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Type and shape, if it is an array. The order is always C's.
    pub array: Option<ArrayInfo>,
    /// Bytes of an item, as far as the source knows.
    pub typesize: u64,
    /// Bytes of all data.
    pub nbytes: u64,
    /// Bytes that are best read at once, when everything is read.
    pub piece: usize,
}

/// Something that data are read from.
pub trait Source: Send {
    /// What is there.
    fn content(&self) -> &Content;

    /// Fills `dest` with the bytes from `position` on, which must be there.
    ///
    /// # Errors
    /// Those of the format; [`Error::Chunk`] tells where.
    fn read(&mut self, position: u64, dest: &mut [u8]) -> Result<()>;

    /// Fills `dest` with the items of an array from `start` to before `stop` along each dimension.
    ///
    /// # Errors
    /// Those of [`Source::read`].
    fn read_box(&mut self, start: &[u64], stop: &[u64], dest: &mut [u8]) -> Result<()> {
        let (shape, typesize) = match &self.content().array {
            Some(info) => (info.shape.clone(), info.dtype.itemsize()),
            None => (vec![self.content().nbytes], 1),
        };
        runs(&shape, start, stop, &mut |first, count, filled| {
            let part = (filled * typesize) as usize..((filled + count) * typesize) as usize;
            let part = dest.get_mut(part).ok_or(crate::Error::InvalidParam)?;
            self.read(first * typesize, part)
        })
    }
}

/// Calls `f` for each run of items in a box that follow each other in C's order, with the number of the first one, how
/// many there are, and how many there were before.
fn runs(
    shape: &[u64],
    start: &[u64],
    stop: &[u64],
    f: &mut dyn FnMut(u64, u64, u64) -> Result<()>,
) -> Result<()> {
    if start.len() != shape.len() || stop.len() != shape.len() {
        return Err(crate::Error::InvalidParam.into());
    }
    // The dimensions behind this one are wanted whole.
    let whole = |dim: usize| (dim..shape.len()).all(|dim| stop[dim] - start[dim] == shape[dim]);
    let fits = (0..shape.len()).all(|dim| start[dim] <= stop[dim] && stop[dim] <= shape[dim]);
    if !fits {
        return Err(crate::Error::InvalidIndex.into());
    }
    if (0..shape.len()).any(|dim| start[dim] == stop[dim]) {
        return Ok(());
    }
    let last = (0..shape.len()).find(|&dim| whole(dim + 1)).unwrap_or(0);
    let inner: u64 = shape.iter().skip(last + 1).product();
    let mut index = start.to_vec();
    let mut filled = 0;
    loop {
        let number = index
            .iter()
            .zip(shape)
            .fold(0, |number, (index, len)| number * len + index);
        let count = match shape.is_empty() {
            true => 1,
            false => (stop[last] - start[last]) * inner,
        };
        f(number, count, filled)?;
        filled += count;
        let mut dim = last;
        loop {
            let Some(outer) = dim.checked_sub(1) else {
                return Ok(());
            };
            dim = outer;
            index[dim] += 1;
            if index[dim] < stop[dim] {
                break;
            }
            index[dim] = start[dim];
        }
    }
}

/// How a source is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The column that is wanted of a table, or none for all.
    pub column: Option<String>,
    /// Threads.
    pub nthreads: usize,
}

impl Reading {
    /// The threads as the engines count them.
    pub(super) fn threads(&self) -> i16 {
        i16::try_from(self.nthreads.max(1)).unwrap_or(i16::MAX)
    }
}

/// Opens whatever is at a path.
///
/// # Errors
/// [`Error::Unknown`]; [`Error::NoColumns`] when a column is asked of what is no table; those of the formats.
pub fn open(path: &Path, reading: &Reading) -> Result<Box<dyn Source>> {
    open_as(path, &detect(path)?, reading)
}

/// Opens what was found at a path.
///
/// # Errors
/// Those of [`open`].
pub fn open_as(path: &Path, found: &Detected, reading: &Reading) -> Result<Box<dyn Source>> {
    if reading.column.is_some() && found.format != Format::Ctable {
        return Err(Error::NoColumns);
    }
    Ok(match found.format {
        Format::Blosc1 | Format::Blosc2 => Box::new(frame::Chunks::of_chunk(path, reading)?),
        Format::Frame => Box::new(frame::Chunks::open(path, found.is_directory, reading)?),
        Format::B2nd => Box::new(frame::Items::open(path, found.is_directory, reading)?),
        Format::Bloscpack => Box::new(plain::Container::open(path, reading)?),
        Format::Npy => Box::new(plain::Npy::open(path)?),
        Format::Carray => Box::new(bcolz::Rows::open(path, reading)?),
        Format::Ctable => bcolz::open_table(path, reading)?,
    })
}

/// The most bytes that are read at once when everything is read, unless a chunk is larger.
const MOST_AT_ONCE: usize = 16 << 20;

/// How many bytes to read at once of what is stored in units of so many.
fn piece_of(unit: u64) -> usize {
    let most = MOST_AT_ONCE as u64;
    match unit {
        0 => MOST_AT_ONCE,
        unit if unit >= most => MOST_AT_ONCE,
        unit => (most / unit * unit) as usize,
    }
}

/// Refuses to read what isn't there.
fn check_range(content: &Content, start: u64, len: usize) -> Result<()> {
    let len = len as u64;
    match start.checked_add(len) {
        Some(end) if end <= content.nbytes => Ok(()),
        _ => Err(Error::NoSuchRange {
            start,
            len,
            size: content.nbytes,
        }),
    }
}
