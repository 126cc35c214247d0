//! Parameters of a container.

use std::sync::Arc;

use super::chunking::DEFAULT_CHUNK_SIZE;
use super::error::{Error, Result};
use super::json::Value;
use crate::blpk::{Checksum, MAX_CHUNKS, MetadataCodec, OFFSET_LENGTH};
use ferroblosc::blosc1::{self, Call};
use ferroblosc::chunk::SplitMode;
use ferroblosc::codec::{self, CodecInfo, id};

/// The maximum number of offsets to reserve: 1 GiB of the file.
const MAX_RESERVED: u64 = (1 << 30) / OFFSET_LENGTH;
/// The multiple of the number of chunks that can always be reserved.
const MAX_RESERVED_TIMES: u64 = 10;

/// The filter before the codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shuffle {
    /// No filter.
    None = 0,
    /// Byte shuffle.
    Bytes = 1,
    /// Bit shuffle.
    Bits = 2,
}

/// A codec of Blosc 1.x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec(u8);

impl Codec {
    /// The default codec.
    pub const BLOSCLZ: Codec = Codec(id::BLOSCLZ);

    /// Returns the names of all codecs.
    pub fn names() -> impl Iterator<Item = &'static str> {
        codec::all().filter(|codec| codec.is_built_in()).map(CodecInfo::name_str)
    }

    /// Returns the codec with this name.
    ///
    /// # Errors
    /// [`Error::NoSuchCodec`]
    pub fn from_name(name: &str) -> Result<Codec> {
        let found = blosc1::compname_to_compcode(name.as_bytes());
        found.map(Codec).ok_or_else(|| Error::NoSuchCodec(name.to_owned()))
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        codec::info(self.0).map_or("unknown", CodecInfo::name_str)
    }
}

/// Compression parameters. Numbers are validated on use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BloscArgs {
    /// The item size in bytes.
    pub typesize: i64,
    /// The compression level, 0 (no compression) to 9 (best ratio).
    pub clevel: i64,
    /// The filter.
    pub shuffle: Shuffle,
    /// The codec.
    pub codec: Codec,
    /// The block size in bytes; 0 selects it automatically.
    pub blocksize: usize,
    /// The split mode of blocks.
    pub splitmode: SplitMode,
}

impl Default for BloscArgs {
    /// Items of 8 bytes, level 7, byte shuffle, BloscLZ.
    fn default() -> BloscArgs {
        BloscArgs {
            typesize: 8,
            clevel: 7,
            shuffle: Shuffle::Bytes,
            codec: Codec::BLOSCLZ,
            blocksize: 0,
            splitmode: SplitMode::FORWARD_COMPAT,
        }
    }
}

impl BloscArgs {
    /// Returns the type size for the container's header.
    ///
    /// # Errors
    /// [`Error::Typesize`]
    pub(super) fn header_typesize(&self) -> Result<u8> {
        u8::try_from(self.typesize).map_err(|_| Error::Typesize(self.typesize))
    }

    /// Returns the parameters of the engine with `nthreads` threads.
    ///
    /// # Errors
    /// [`Error::Typesize`], [`Error::BloscTypesize`] and [`Error::Clevel`].
    pub(super) fn params(&self, nthreads: i32) -> Result<blosc1::Params> {
        let typesize = match self.header_typesize()? {
            0 => return Err(Error::BloscTypesize),
            size => size,
        };
        let clevel = u8::try_from(self.clevel).ok().filter(|level| *level <= 9);
        Ok(blosc1::Params {
            call: Call {
                clevel: clevel.ok_or(Error::Clevel(self.clevel))?.into(),
                shuffle: self.shuffle as i32,
                typesize: typesize.into(),
            },
            compressor: Some(self.codec.0),
            blocksize: blosc1::forced_blocksize(self.blocksize),
            splitmode: self.splitmode,
            nthreads,
        })
    }
}

/// The amount to reserve, depending on the current amount.
#[derive(Clone)]
pub enum Reserve {
    /// This amount.
    Exactly(u64),
    /// A multiple of the current amount.
    Times(u64),
    /// The result of a function of the current amount.
    Function(Arc<dyn Fn(u64) -> i64 + Send + Sync>),
}

impl std::fmt::Debug for Reserve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reserve::Exactly(number) => write!(f, "Exactly({number})"),
            Reserve::Times(factor) => write!(f, "Times({factor})"),
            Reserve::Function(_) => f.write_str("Function"),
        }
    }
}

impl Reserve {
    /// Returns the amount to reserve for the current amount `now`.
    ///
    /// # Errors
    /// [`Error::MaxAppChunks`] if a function returns a negative number.
    pub(super) fn amount(&self, now: u64) -> Result<u64> {
        match self {
            Reserve::Exactly(number) => Ok(*number),
            Reserve::Times(factor) => Ok(now.saturating_mul(*factor)),
            Reserve::Function(function) => {
                let number = function(now);
                u64::try_from(number).map_err(|_| Error::MaxAppChunks(number))
            }
        }
    }
}

/// Parameters of the container format.
#[derive(Clone, Debug)]
pub struct BloscpackArgs {
    /// Whether to write offsets.
    pub offsets: bool,
    /// The checksum of each chunk.
    pub checksum: Checksum,
    /// The number of offsets to reserve for appended chunks. Ignored without offsets.
    pub max_app_chunks: Reserve,
}

impl Default for BloscpackArgs {
    /// Offsets, Adler-32, reserved offsets for ten times as many chunks.
    fn default() -> BloscpackArgs {
        BloscpackArgs {
            offsets: true,
            checksum: Checksum::Adler32,
            max_app_chunks: Reserve::Times(10),
        }
    }
}

impl BloscpackArgs {
    /// Returns the number of offsets to reserve after `nchunks` chunks, limited to the maximum of
    /// the format.
    ///
    /// # Errors
    /// [`Error::ReservedOffsets`] for more than [`MAX_RESERVED`], unless it is less than a multiple
    /// of the existing chunks.
    pub(super) fn max_app_chunks_for(&self, nchunks: u64) -> Result<u64> {
        let requested = self.max_app_chunks.amount(nchunks)?;
        let most = nchunks.saturating_mul(MAX_RESERVED_TIMES).max(MAX_RESERVED);
        if requested > most {
            return Err(Error::ReservedOffsets { requested, most });
        }
        Ok(requested.min(MAX_CHUNKS - nchunks))
    }
}

/// Storage parameters of metadata.
#[derive(Clone, Debug)]
pub struct MetadataArgs {
    /// The format; only `JSON` can be written.
    pub magic_format: String,
    /// The checksum of the section.
    pub checksum: Checksum,
    /// The codec, used only if it reduces the size.
    pub codec: MetadataCodec,
    /// The level of the codec, 0 to 9.
    pub level: i64,
    /// The size to reserve in bytes, depending on the uncompressed size.
    pub max_meta_size: Reserve,
}

impl Default for MetadataArgs {
    /// Zlib at level 6, Adler-32, reserved space for ten times the uncompressed size.
    fn default() -> MetadataArgs {
        MetadataArgs {
            magic_format: "JSON".to_owned(),
            checksum: Checksum::Adler32,
            codec: MetadataCodec::Zlib,
            level: 6,
            max_meta_size: Reserve::Times(10),
        }
    }
}

/// All parameters of packing.
#[derive(Clone, Debug)]
pub struct PackArgs {
    /// The chunk size in bytes.
    pub chunk_size: u64,
    /// The metadata.
    pub metadata: Option<Value>,
    /// The compression parameters.
    pub blosc: BloscArgs,
    /// The parameters of the container format.
    pub bloscpack: BloscpackArgs,
    /// The storage parameters of the metadata.
    pub metadata_args: MetadataArgs,
    /// The number of threads.
    pub nthreads: usize,
}

impl Default for PackArgs {
    /// Chunks of 1 MiB, no metadata, one thread, and the defaults of the other parameters.
    fn default() -> PackArgs {
        PackArgs {
            chunk_size: DEFAULT_CHUNK_SIZE,
            metadata: None,
            blosc: BloscArgs::default(),
            bloscpack: BloscpackArgs::default(),
            metadata_args: MetadataArgs::default(),
            nthreads: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_chunks_are_a_number_a_factor_or_a_function() {
        let args = |max_app_chunks| BloscpackArgs { max_app_chunks, ..BloscpackArgs::default() };
        let reserved = |reserve, nchunks| args(reserve).max_app_chunks_for(nchunks);
        assert_eq!(BloscpackArgs::default().max_app_chunks_for(8).unwrap(), 80);
        assert_eq!(reserved(Reserve::Exactly(0), 8).unwrap(), 0);
        assert_eq!(reserved(Reserve::Exactly(MAX_RESERVED), 8).unwrap(), MAX_RESERVED);
        assert_eq!(
            reserved(Reserve::Times(10), MAX_CHUNKS / 2).unwrap(),
            MAX_CHUNKS - MAX_CHUNKS / 2
        );
        let half = Reserve::Function(Arc::new(|nchunks| nchunks as i64 / 2));
        assert_eq!(reserved(half, 9).unwrap(), 4);
        let negative = Reserve::Function(Arc::new(|_| -1));
        assert!(matches!(reserved(negative, 9), Err(Error::MaxAppChunks(-1))));
    }

    /// The offsets section would fill the disk.
    #[test]
    fn too_many_reserved_chunks_are_rejected() {
        let refusal = |max_app_chunks, nchunks| {
            let args = BloscpackArgs { max_app_chunks, ..BloscpackArgs::default() };
            args.max_app_chunks_for(nchunks).unwrap_err().to_string()
        };
        assert_eq!(
            refusal(Reserve::Exactly(MAX_CHUNKS), 8),
            "'max_app_chunks' is 9223372036854775807, but at most 134217728 offsets of 8 bytes \
             can be reserved"
        );
        assert!(refusal(Reserve::Exactly(MAX_RESERVED + 1), 8).contains("134217729"));
        assert!(refusal(Reserve::Times(1 << 40), 2).contains("2199023255552"));
        let many = Reserve::Function(Arc::new(|_| i64::MAX));
        assert!(refusal(many, 8).contains("9223372036854775807"));
        // Ten times the existing chunks are the default.
        let nchunks = MAX_RESERVED;
        assert!(BloscpackArgs::default().max_app_chunks_for(nchunks).is_ok());
        assert!(refusal(Reserve::Times(11), nchunks).contains("at most 1342177280 "));
    }

    #[test]
    fn arguments_out_of_range_are_rejected_with_the_messages_of_bloscpack() {
        let refusal = |args: BloscArgs| args.params(1).unwrap_err().to_string();
        let typesize = |typesize| BloscArgs { typesize, ..BloscArgs::default() };
        assert_eq!(refusal(typesize(0)), "typesize can only be in the 1-255 range.");
        for wrong in [256, -1] {
            assert_eq!(
                refusal(typesize(wrong)),
                format!("'typesize' must be in the range 0 <= n <= 255, not '{wrong}'")
            );
        }
        let clevel = BloscArgs { clevel: 10, ..BloscArgs::default() };
        assert_eq!(refusal(clevel), "clevel can only be in the 0-9 range.");
        assert!(Codec::from_name("LZ4").is_err());
        assert_eq!(Codec::from_name("lz4hc").unwrap().name(), "lz4hc");
    }
}
