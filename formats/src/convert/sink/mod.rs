//! Writers of converted data. Each writes the source in order and keeps only a few chunks in
//! memory.
//!
//! | file | writes |
//! |---|---|
//! | `frame.rs` | chunks, super-chunks and b2nd arrays |
//! | `plain.rs` | Bloscpack containers, `.npy` files, bytes |
//! | `rows.rs` | carrays, and ctables for records |

mod frame;
mod plain;
mod rows;

pub use frame::compress;
pub(super) use frame::storage;
pub use plain::write_to;
pub(super) use rows::{append_rows, set_attrs};

use std::path::Path;

use super::attachments::Attachments;
use super::error::{Error, Result};
use super::source::Source;
use crate::numpy::{ArrayInfo, Dtype};
use ferroblosc::chunk::{CParams, SplitMode};
use ferroblosc::codec;
use ferroblosc::filter::{self, Slot};

/// The target format of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One Blosc 1.x chunk.
    Blosc1,
    /// One Blosc2 chunk.
    Blosc2,
    /// A frame; a b2nd frame if the source is an array.
    Frame {
        /// Whether to create a directory.
        directory: bool,
    },
    /// A b2nd frame.
    B2nd {
        /// Whether to create a directory.
        directory: bool,
    },
    /// A Bloscpack container.
    Bloscpack,
    /// A carray, or a ctable for records.
    Bcolz,
    /// A `.npy` file.
    Npy,
    /// The uncompressed bytes.
    Plain,
}

/// Compression parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The codec's number in [`codec::id`].
    pub codec: u8,
    /// The compression level, 0 (no compression) to 9 (best ratio).
    pub level: u8,
    /// The filters in the order of compression, at most six.
    pub filters: Vec<Slot>,
    /// The block size in bytes; 0 selects it automatically.
    pub blocksize: i32,
    /// The codec's parameter.
    pub codec_meta: u8,
    /// The split mode of blocks.
    pub splitmode: SplitMode,
    /// Whether each chunk has a dictionary.
    pub use_dict: bool,
}

impl Default for Compression {
    /// Zstd, level 5, byte shuffle.
    fn default() -> Compression {
        Compression {
            codec: codec::id::ZSTD,
            level: 5,
            filters: vec![Slot { id: filter::id::SHUFFLE, meta: 0 }],
            blocksize: 0,
            codec_meta: 0,
            splitmode: SplitMode::FORWARD_COMPAT,
            use_dict: false,
        }
    }
}

impl Compression {
    /// Returns the parameters for a super-chunk.
    pub fn params(&self, typesize: i32, nthreads: i16) -> CParams {
        let mut params = CParams::default()
            .codec(self.codec)
            .level(self.level)
            .filters(&self.filters)
            .blocksize(self.blocksize)
            .splitmode(self.splitmode)
            .typesize(typesize)
            .threads(nthreads);
        params.compcode_meta = self.codec_meta;
        params.use_dict = self.use_dict;
        params
    }

    /// Returns the shuffle mode for the formats of Blosc 1.x, which have no other filters.
    pub(super) fn shuffle(&self) -> Result<u8> {
        let ids: Vec<u8> = self.filters.iter().map(|slot| slot.id).collect();
        match ids.as_slice() {
            [] => Ok(0),
            [filter::id::SHUFFLE] => Ok(1),
            [filter::id::BITSHUFFLE] => Ok(2),
            _ => Err(Error::CannotHold("only one filter, shuffle or bitshuffle")),
        }
    }
}

/// Options of writing.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    /// The compression parameters. `None` copies chunks where possible and otherwise uses the
    /// source's parameters or the default.
    pub compression: Option<Compression>,
    /// The approximate chunk size in bytes, or `None` for the default.
    pub chunk_bytes: Option<u64>,
    /// Whether to add chunk checksums, in formats where they are optional.
    pub checksums: bool,
    /// Whether a crash must leave either a complete frame or none.
    pub durable: bool,
    /// The number of threads.
    pub nthreads: usize,
}

/// The default chunk size in bytes.
const CHUNK_BYTES: u64 = 1 << 20;

impl Writing {
    fn compression(&self) -> Compression {
        self.compression.clone().unwrap_or_default()
    }

    fn threads(&self) -> i16 {
        i16::try_from(self.nthreads.max(1)).unwrap_or(i16::MAX)
    }

    /// Returns the chunk size in bytes, a multiple of the item size.
    fn chunk_bytes(&self, itemsize: u64) -> u64 {
        let requested = self.chunk_bytes.unwrap_or(CHUNK_BYTES);
        let requested = requested.min(ferroblosc::chunk::MAX_BUFFERSIZE as u64);
        (requested / itemsize.max(1)).max(1) * itemsize.max(1)
    }
}

/// A callback that receives the number of bytes processed since the last call.
pub type Progress<'p> = &'p mut (dyn FnMut(u64) + Send);

/// Calls `f` with consecutive segments of a source, at most `size` bytes each.
fn for_each_segment(
    source: &mut dyn Source,
    size: usize,
    progress: Progress<'_>,
    mut f: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let nbytes = source.content().nbytes;
    let mut segment = Vec::new();
    let mut position = 0;
    while position < nbytes {
        let len = (nbytes - position).min(size as u64) as usize;
        segment
            .try_reserve_exact(len.saturating_sub(segment.len()))
            .map_err(ferroblosc::Error::from)?;
        segment.resize(len, 0);
        source.read(position, &mut segment)?;
        f(&segment)?;
        position += len as u64;
        progress(len as u64);
    }
    Ok(())
}

/// Returns the type and shape of a source. Data other than arrays are treated as an array of bytes.
fn array_in(source: &dyn Source) -> Result<ArrayInfo> {
    let content = source.content();
    let info = match &content.array {
        Some(info) => info.clone(),
        None => ArrayInfo {
            dtype: Dtype::parse("|u1")?,
            shape: vec![content.nbytes],
            fortran_order: false,
        },
    };
    match info.dtype.itemsize() {
        0 => Err(Error::CannotHold("no items without bytes")),
        _ => Ok(info),
    }
}

/// Writes the source to `output`, which must not exist, with the attachments that the format
/// supports.
///
/// # Errors
/// Returns [`Error::CannotHold`] if the format cannot hold the source, or the error of reading or
/// writing; an incomplete output may be left.
pub(super) fn write(
    source: &mut dyn Source,
    output: &Path,
    destination: Destination,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let is_array = source.content().array.is_some();
    match destination {
        Destination::Blosc1 | Destination::Blosc2 if is_array => {
            Err(Error::CannotHold("bytes alone, without the type and shape of an array"))
        }
        Destination::Blosc1 => plain::write_chunk1(source, output, writing, progress),
        Destination::Blosc2 => frame::write_chunk(source, output, writing, progress),
        Destination::Frame { directory } if !is_array => {
            frame::write_schunk(source, output, directory, (writing, attachments), progress)
        }
        Destination::Frame { directory } | Destination::B2nd { directory } => {
            frame::write_array(source, output, directory, (writing, attachments), progress)
        }
        Destination::Bloscpack => {
            plain::write_container(source, output, (writing, attachments), progress)
        }
        Destination::Bcolz => rows::write(source, output, (writing, attachments), progress),
        Destination::Npy => plain::write_npy(source, output, progress),
        Destination::Plain => plain::write_bytes(source, output, progress),
    }
}
