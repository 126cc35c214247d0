//! What a container is made with.

use std::sync::Arc;

use super::chunking::DEFAULT_CHUNK_SIZE;
use super::error::{Error, Result};
use super::json::Value;
use crate::blosc1::{self, Call};
use crate::blpk::{Checksum, MAX_CHUNKS, MetadataCodec};
use crate::chunk::SplitMode;
use crate::codec::id;

/// The filter in front of the codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shuffle {
    /// None.
    None = 0,
    /// The bytes of the items, by their significance.
    Bytes = 1,
    /// The bits of the items.
    Bits = 2,
}

/// A codec of Blosc 1.x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec(u8);

/// The codecs by the names that people use.
const CODECS: [(&str, u8); 6] = [
    ("blosclz", id::BLOSCLZ),
    ("lz4", id::LZ4),
    ("lz4hc", id::LZ4HC),
    ("snappy", id::SNAPPY),
    ("zlib", id::ZLIB),
    ("zstd", id::ZSTD),
];

impl Codec {
    /// The codec that is used unless another is asked for.
    pub const BLOSCLZ: Codec = Codec(id::BLOSCLZ);

    /// The names of all of them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        CODECS.into_iter().map(|(name, _)| name)
    }

    /// The one with this name.
    ///
    /// # Errors
    /// [`Error::NoSuchCodec`]
    pub fn from_name(name: &str) -> Result<Codec> {
        let found = CODECS.into_iter().find(|(known, _)| *known == name);
        let (_, code) = found.ok_or_else(|| Error::NoSuchCodec(name.to_owned()))?;
        Ok(Codec(code))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = CODECS.into_iter().find(|(_, code)| *code == self.0);
        found.map_or("unknown", |(name, _)| name)
    }
}

/// How chunks are compressed. Numbers are judged when they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BloscArgs {
    /// Bytes of an item.
    pub typesize: i64,
    /// 0 (store) to 9 (densest).
    pub clevel: i64,
    /// The filter.
    pub shuffle: Shuffle,
    /// The codec.
    pub codec: Codec,
    /// Bytes of a block, or 0 to choose.
    pub blocksize: usize,
    /// How blocks are split.
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
    /// The typesize as the container's header has it.
    ///
    /// # Errors
    /// [`Error::Typesize`]
    pub(super) fn header_typesize(&self) -> Result<u8> {
        u8::try_from(self.typesize).map_err(|_| Error::Typesize(self.typesize))
    }

    /// What the engine goes by, on `nthreads` threads.
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

/// How much room is kept for later, given how much there is now.
#[derive(Clone)]
pub enum Reserve {
    /// So much.
    Exactly(u64),
    /// So many times what there is.
    Times(u64),
    /// What the function says.
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
    /// The room for `now`.
    ///
    /// # Errors
    /// [`Error::MaxAppChunks`] when a function says something negative.
    pub(super) fn for_now(&self, now: u64) -> Result<u64> {
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

/// What there is around the chunks.
#[derive(Clone, Debug)]
pub struct BloscpackArgs {
    /// Whether there are offsets.
    pub offsets: bool,
    /// What follows each chunk.
    pub checksum: Checksum,
    /// For how many more chunks there is room, given how many there are. Without offsets there is none.
    pub max_app_chunks: Reserve,
}

impl Default for BloscpackArgs {
    /// Offsets, Adler-32, room for ten times as many chunks.
    fn default() -> BloscpackArgs {
        BloscpackArgs {
            offsets: true,
            checksum: Checksum::Adler32,
            max_app_chunks: Reserve::Times(10),
        }
    }
}

impl BloscpackArgs {
    /// The room for chunks behind `nchunks`: as much as there can be, if more is asked for.
    pub(super) fn max_app_chunks_for(&self, nchunks: u64) -> Result<u64> {
        let wished = self.max_app_chunks.for_now(nchunks)?;
        Ok(wished.min(MAX_CHUNKS - nchunks))
    }
}

/// How metadata are stored.
#[derive(Clone, Debug)]
pub struct MetadataArgs {
    /// The kind: `JSON` is the only one that is written.
    pub magic_format: String,
    /// The checksum behind them.
    pub checksum: Checksum,
    /// How they are compressed, if that makes them smaller.
    pub codec: MetadataCodec,
    /// The level of the codec, 0 to 9.
    pub level: i64,
    /// Bytes reserved, given the plain bytes there are.
    pub max_meta_size: Reserve,
}

impl Default for MetadataArgs {
    /// Zlib at level 6, Adler-32, room for ten times the plain bytes.
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

/// All that data are packed with.
#[derive(Clone, Debug)]
pub struct PackArgs {
    /// Bytes of a chunk.
    pub chunk_size: u64,
    /// The metadata.
    pub metadata: Option<Value>,
    /// How chunks are compressed.
    pub blosc: BloscArgs,
    /// What there is around them.
    pub bloscpack: BloscpackArgs,
    /// How the metadata are stored.
    pub metadata_args: MetadataArgs,
    /// Threads.
    pub nthreads: usize,
}

impl Default for PackArgs {
    /// Chunks of 1 MiB, no metadata, one thread, and the defaults of the other arguments.
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
    fn room_for_chunks_is_a_number_a_factor_or_a_function() {
        let args = |max_app_chunks| BloscpackArgs {
            max_app_chunks,
            ..BloscpackArgs::default()
        };
        let room = |reserve, nchunks| args(reserve).max_app_chunks_for(nchunks);
        assert_eq!(BloscpackArgs::default().max_app_chunks_for(8).unwrap(), 80);
        assert_eq!(room(Reserve::Exactly(0), 8).unwrap(), 0);
        assert_eq!(
            room(Reserve::Exactly(MAX_CHUNKS), 8).unwrap(),
            MAX_CHUNKS - 8
        );
        assert_eq!(
            room(Reserve::Times(10), MAX_CHUNKS / 2).unwrap(),
            MAX_CHUNKS - MAX_CHUNKS / 2
        );
        let half = Reserve::Function(Arc::new(|nchunks| nchunks as i64 / 2));
        assert_eq!(room(half, 9).unwrap(), 4);
        let negative = Reserve::Function(Arc::new(|_| -1));
        assert!(matches!(room(negative, 9), Err(Error::MaxAppChunks(-1))));
    }

    #[test]
    fn arguments_out_of_range_are_refused_in_the_words_of_bloscpack() {
        let refusal = |args: BloscArgs| args.params(1).unwrap_err().to_string();
        let typesize = |typesize| BloscArgs {
            typesize,
            ..BloscArgs::default()
        };
        assert_eq!(
            refusal(typesize(0)),
            "typesize can only be in the 1-255 range."
        );
        for wrong in [256, -1] {
            assert_eq!(
                refusal(typesize(wrong)),
                format!("'typesize' must be in the range 0 <= n <= 255, not '{wrong}'")
            );
        }
        let clevel = BloscArgs {
            clevel: 10,
            ..BloscArgs::default()
        };
        assert_eq!(refusal(clevel), "clevel can only be in the 0-9 range.");
        assert!(Codec::from_name("LZ4").is_err());
        assert_eq!(Codec::from_name("lz4hc").unwrap().name(), "lz4hc");
    }
}
