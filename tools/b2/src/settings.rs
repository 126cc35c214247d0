//! The options of compression.

use crate::cli::{Cli, CodecName, FilterName, Settings};
use crate::error::Failure;
use ferroblosc::chunk::MAX_BUFFERSIZE;
use ferroblosc::filter::{self, Slot};
use ferroblosc::io::Durability;
use ferroblosc_formats::convert::{Compression, Writing};
use ferroblosc_tools_common::size::parse;

impl CodecName {
    /// Returns the id of the codec.
    pub fn id(self) -> u8 {
        self.0.id
    }
}

impl FilterName {
    /// Returns the slot of the filter in a pipeline. `none` has no slot.
    pub fn slot(self) -> Option<Slot> {
        self.0.map(|filter| Slot { id: filter.id, meta: 0 })
    }
}

/// Returns filters for chunks without a super-chunk. The parameter 0 of BYTEDELTA means the
/// item size of the super-chunk, so here it is replaced by the item size.
pub fn without_schunk(filters: &[Slot], typesize: u8) -> Vec<Slot> {
    let stated = |slot: &Slot| match slot {
        Slot { id: filter::id::BYTEDELTA, meta: 0 } => Slot { meta: typesize, ..*slot },
        slot => *slot,
    };
    filters.iter().map(stated).collect()
}

/// Parses a size with an optional unit. `max` is the maximum size of a chunk.
pub fn size(option: &str, text: &str) -> Result<u64, Failure> {
    if text.eq_ignore_ascii_case("max") {
        return Ok(MAX_BUFFERSIZE as u64);
    }
    parse(text).map_err(|reason| Failure::usage(format!("{option} {text}: {reason}")))
}

/// Parses a size that must not be 0.
pub fn positive_size(option: &str, text: &str) -> Result<u64, Failure> {
    match size(option, text)? {
        0 => Err(Failure::usage(format!("{option} {text}: must be at least 1 byte"))),
        size => Ok(size),
    }
}

/// Parses the size of a chunk, which is at most [`MAX_BUFFERSIZE`].
pub fn chunk_size(text: &str) -> Result<u64, Failure> {
    match positive_size("--chunk-size", text)? {
        size if size > MAX_BUFFERSIZE as u64 => Err(Failure::usage(format!(
            "--chunk-size {text}: must be at most {MAX_BUFFERSIZE} bytes ('max')"
        ))),
        size => Ok(size),
    }
}

impl Settings {
    /// Whether outputs are on the disk when the command ends. The environment can request it, too.
    pub fn is_durable(&self) -> bool {
        self.durable || Durability::of_environment().durable
    }

    /// Returns the parameters for the library.
    pub fn writing(&self, cli: &Cli) -> Result<Writing, Failure> {
        self.writing_like(cli, Compression::default())
    }

    /// Returns the parameters for the library, with `defaults` for unset options.
    pub fn writing_like(&self, cli: &Cli, defaults: Compression) -> Result<Writing, Failure> {
        let is_given = self.codec.is_some()
            || self.level.is_some()
            || !self.filters.is_empty()
            || self.block_size.is_some();
        let filters: Vec<Slot> = self.filters.iter().filter_map(|filter| filter.slot()).collect();
        if filters.len() > filter::SLOTS {
            return Err(Failure::usage(format!(
                "--filters: at most {} filters are allowed",
                filter::SLOTS
            )));
        }
        let blocksize = match &self.block_size {
            Some(text) => i32::try_from(size("--block-size", text)?).map_err(|_| {
                let most = i32::MAX;
                Failure::usage(format!("--block-size {text}: must be at most {most} bytes"))
            })?,
            None => 0,
        };
        let chunk_bytes = self.chunk_size.as_deref().map(chunk_size);
        let mut writing = Writing::default();
        writing.compression = is_given.then(|| {
            let mut compression = defaults;
            compression.blocksize = blocksize;
            if let Some(codec) = self.codec {
                compression.codec = codec.id();
                // The parameter is specific to the codec.
                compression.codec_meta = 0;
            }
            if let Some(level) = self.level {
                compression.level = level;
            }
            if !self.filters.is_empty() {
                compression.filters = filters;
            }
            compression
        });
        writing.chunk_bytes = chunk_bytes.transpose()?;
        writing.checksums = !self.no_checksums;
        writing.durable = self.durable;
        writing.nthreads = cli.nthreads();
        Ok(writing)
    }
}
