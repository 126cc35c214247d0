//! What a source is written into. Each writer takes pieces in order and keeps no more than some chunks in memory.
//!
//! | file | what |
//! |---|---|
//! | `frame.rs` | chunks, super-chunks and b2nd arrays |
//! | `plain.rs` | containers of Bloscpack, `.npy` files, bytes |
//! | `rows.rs` | carrays, and ctables for records |

mod frame;
mod plain;
mod rows;

pub use frame::compress;
pub(super) use frame::storage;
pub use plain::write_to;
pub(super) use rows::set_attrs;

use std::path::Path;

use super::attachments::Attachments;
use super::error::{Error, Result};
use super::source::Source;
use crate::bloscpack::ArrayInfo;
use crate::chunk::{CParams, SplitMode};
use crate::codec;
use crate::filter::{self, Slot};

/// What something is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One chunk of Blosc 1.x.
    Blosc1,
    /// One chunk of Blosc 2.
    Blosc2,
    /// A frame: one of an array when the source is one.
    Frame {
        /// Whether it is a directory.
        directory: bool,
    },
    /// The frame of an array.
    B2nd {
        /// Whether it is a directory.
        directory: bool,
    },
    /// A container of Bloscpack.
    Bloscpack,
    /// A carray, or a ctable for records.
    Bcolz,
    /// A `.npy` file.
    Npy,
    /// The bytes alone.
    Plain,
}

/// How data are compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The codec's number in [`codec::id`].
    pub codec: u8,
    /// 0 (store) to 9 (densest).
    pub level: u8,
    /// The filters in the order they are applied, at most six.
    pub filters: Vec<Slot>,
    /// Bytes of a block; 0 lets the library choose.
    pub blocksize: i32,
    /// The parameter of the codec.
    pub codec_meta: u8,
    /// Whether blocks are split into streams.
    pub splitmode: SplitMode,
    /// Whether a dictionary is made for each chunk.
    pub use_dict: bool,
}

impl Default for Compression {
    /// Zstd, level 5, byte shuffle.
    fn default() -> Compression {
        Compression {
            codec: codec::id::ZSTD,
            level: 5,
            filters: vec![Slot {
                id: filter::id::SHUFFLE,
                meta: 0,
            }],
            blocksize: 0,
            codec_meta: 0,
            splitmode: SplitMode::FORWARD_COMPAT,
            use_dict: false,
        }
    }
}

impl Compression {
    /// What super-chunks are made with.
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

    /// The shuffle as Blosc 1.x counts: all there is in its formats.
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

/// How something is written.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    /// How it is compressed; or none to take chunks as they are where that can be done, and the usual where not.
    pub compression: Option<Compression>,
    /// Bytes of a chunk, about; or none to choose.
    pub chunk_bytes: Option<u64>,
    /// Whether chunks get checksums, in formats that don't always have them.
    pub checksums: bool,
    /// Whether frames are made so that a crash leaves a whole one or none.
    pub durable: bool,
    /// Threads.
    pub nthreads: usize,
}

/// Bytes of a chunk where nobody chooses.
const CHUNK_BYTES: u64 = 1 << 20;

impl Writing {
    fn compression(&self) -> Compression {
        self.compression.clone().unwrap_or_default()
    }

    fn threads(&self) -> i16 {
        i16::try_from(self.nthreads.max(1)).unwrap_or(i16::MAX)
    }

    /// Bytes of a chunk of whole items.
    fn chunk_bytes(&self, itemsize: u64) -> u64 {
        let wished = self.chunk_bytes.unwrap_or(CHUNK_BYTES);
        let wished = wished.min(crate::chunk::MAX_BUFFERSIZE as u64);
        (wished / itemsize.max(1)).max(1) * itemsize.max(1)
    }
}

/// Hears of bytes that have been read.
pub type Progress<'p> = &'p mut (dyn FnMut(u64) + Send);

/// Reads all of a source in pieces of at most `size` bytes.
fn each_piece(
    source: &mut dyn Source,
    size: usize,
    progress: Progress<'_>,
    mut f: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let nbytes = source.content().nbytes;
    let mut piece = Vec::new();
    let mut position = 0;
    while position < nbytes {
        let len = (nbytes - position).min(size as u64) as usize;
        piece
            .try_reserve_exact(len.saturating_sub(piece.len()))
            .map_err(crate::Error::from)?;
        piece.resize(len, 0);
        source.read(position, &mut piece)?;
        f(&piece)?;
        position += len as u64;
        progress(len as u64);
    }
    Ok(())
}

/// Type and shape of a source: of what is no array those of its bytes.
fn array_in(source: &dyn Source) -> Result<ArrayInfo> {
    let content = source.content();
    let info = match &content.array {
        Some(info) => info.clone(),
        None => ArrayInfo {
            dtype: crate::bloscpack::Dtype::parse("'|u1'")?,
            shape: vec![content.nbytes],
            fortran_order: false,
        },
    };
    match info.dtype.itemsize() {
        0 => Err(Error::CannotHold("no items without bytes")),
        _ => Ok(info),
    }
}

/// Writes all of a source to where nothing is yet, with as much of the attachments as the format holds.
///
/// # Errors
/// [`Error::CannotHold`] when the format can't hold it; those of reading and of writing, which may leave something
/// unfinished.
pub(super) fn write(
    source: &mut dyn Source,
    output: &Path,
    destination: Destination,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let is_array = source.content().array.is_some();
    match destination {
        Destination::Blosc1 | Destination::Blosc2 if is_array => Err(Error::CannotHold(
            "bytes alone, without the type and shape of an array",
        )),
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
