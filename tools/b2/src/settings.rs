//! How something is compressed.

use crate::cli::{Cli, CodecName, FilterName, Settings};
use crate::voice::Failure;
use ferroblosc::bloscpack::{SizeError, parse_size};
use ferroblosc::codec;
use ferroblosc::convert::{Compression, Writing};
use ferroblosc::filter::{self, Slot};

impl CodecName {
    /// The number of the codec.
    pub fn id(self) -> u8 {
        match self {
            CodecName::Blosclz => codec::id::BLOSCLZ,
            CodecName::Lz4 => codec::id::LZ4,
            CodecName::Lz4hc => codec::id::LZ4HC,
            CodecName::Zlib => codec::id::ZLIB,
            CodecName::Zstd => codec::id::ZSTD,
        }
    }
}

impl FilterName {
    /// The filter in a pipeline, if it is one.
    pub fn slot(self) -> Option<Slot> {
        let id = match self {
            FilterName::None => return None,
            FilterName::Shuffle => filter::id::SHUFFLE,
            FilterName::Bitshuffle => filter::id::BITSHUFFLE,
            FilterName::Delta => filter::id::DELTA,
            FilterName::Bytedelta => filter::id::BYTEDELTA,
        };
        Some(Slot { id, meta: 0 })
    }
}

/// A number of bytes with a unit.
pub fn size(option: &str, text: &str) -> Result<u64, Failure> {
    parse_size(text).map_err(|error| {
        let why = match error {
            SizeError::Negative => "it is negative".to_owned(),
            SizeError::Text(why) => why,
        };
        Failure::usage(format!("{option} {text}: {why}"))
    })
}

impl Settings {
    /// What the library makes of them.
    pub fn writing(&self, cli: &Cli) -> Result<Writing, Failure> {
        self.writing_like(cli, Compression::default())
    }

    /// The same, where what isn't said about compression is as in `defaults`.
    pub fn writing_like(&self, cli: &Cli, defaults: Compression) -> Result<Writing, Failure> {
        let is_given = self.codec.is_some()
            || self.level.is_some()
            || !self.filters.is_empty()
            || self.block_size.is_some();
        let filters: Vec<Slot> = self
            .filters
            .iter()
            .filter_map(|filter| filter.slot())
            .collect();
        if filters.len() > filter::SLOTS {
            let most = filter::SLOTS;
            return Err(Failure::usage(format!(
                "there can be {most} filters at most"
            )));
        }
        let blocksize = match &self.block_size {
            Some(text) => i32::try_from(size("--block-size", text)?)
                .map_err(|_| Failure::usage("--block-size: blocks are smaller"))?,
            None => 0,
        };
        let chunk_bytes = self
            .chunk_size
            .as_deref()
            .map(|text| size("--chunk-size", text));
        Ok(Writing {
            compression: is_given.then(|| Compression {
                codec: self.codec.map_or(defaults.codec, CodecName::id),
                level: self.level.unwrap_or(defaults.level),
                filters: if self.filters.is_empty() {
                    defaults.filters
                } else {
                    filters
                },
                blocksize,
                // The parameter of another codec means something else.
                codec_meta: if self.codec.is_some() {
                    0
                } else {
                    defaults.codec_meta
                },
                splitmode: defaults.splitmode,
                use_dict: defaults.use_dict,
            }),
            chunk_bytes: chunk_bytes.transpose()?,
            checksums: !self.no_checksums,
            durable: self.durable,
            nthreads: cli.nthreads(),
        })
    }
}
