//! The target formats and the options of writing.

use super::super::error::{Error, Result};
#[cfg(feature = "zarr")]
use crate::zarr::Version;
use ferroblosc::chunk::{CParams, SplitMode};
use ferroblosc::codec;
use ferroblosc::filter::{self, Slot};

/// The target format of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// A `.npz` file with one array.
    Npz,
    /// A Zarr array.
    #[cfg(feature = "zarr")]
    Zarr {
        /// The version of the format.
        version: Version,
        /// Whether to create a zip file instead of a directory.
        is_zip: bool,
    },
    /// An HDF5 dataset.
    #[cfg(feature = "hdf5")]
    Hdf5 {
        /// The filter of its chunks, or `None` for a dataset without chunks.
        filter: Option<Hdf5Filter>,
    },
    /// The uncompressed bytes.
    Plain,
}

/// A filter of HDF5.
#[cfg(feature = "hdf5")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hdf5Filter {
    /// 32001: chunks of Blosc 1.x.
    Blosc,
    /// 32026: frames of Blosc2.
    Blosc2,
}

/// Compression parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    pub(in crate::convert) fn shuffle(&self) -> Result<u8> {
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
#[non_exhaustive]
pub struct Writing {
    /// The compression parameters. `None` copies chunks where possible and otherwise uses the
    /// source's parameters or the default.
    pub compression: Option<Compression>,
    /// The approximate chunk size in bytes, or `None` for the default.
    pub chunk_bytes: Option<u64>,
    /// The chunk shape of an array in a frame, or `None` for one of about `chunk_bytes`.
    pub chunks: Option<Vec<u64>>,
    /// The block shape of an array in a frame, or `None` for the default.
    pub blocks: Option<Vec<u64>>,
    /// The name of the array in a container, or `None` for the default.
    pub name: Option<String>,
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
    pub(super) fn compression(&self) -> Compression {
        self.compression.clone().unwrap_or_default()
    }

    pub(in crate::convert) fn threads(&self) -> i16 {
        i16::try_from(self.nthreads.max(1)).unwrap_or(i16::MAX)
    }

    /// Returns the chunk size in bytes, a multiple of the item size.
    pub(super) fn chunk_bytes(&self, itemsize: u64) -> u64 {
        let requested = self.chunk_bytes.unwrap_or(CHUNK_BYTES);
        let requested = requested.min(ferroblosc::chunk::MAX_BUFFERSIZE as u64);
        (requested / itemsize.max(1)).max(1) * itemsize.max(1)
    }
}
