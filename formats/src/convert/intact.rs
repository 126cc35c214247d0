//! The check of chunks that are copied without recompression.
//!
//! A copy can have a new checksum, which must not certify damaged data.

use super::error::{self, Error};
use super::source::chunk_error;
use ferroblosc::Result;
use ferroblosc::chunk::{ChunkHeader, DParams, Decompressor, Special, missing_plugin};
use ferroblosc::schunk::SChunk;

/// Whether a chunk needs a plugin that is missing.
pub fn needs_plugin(chunk: &[u8]) -> bool {
    ChunkHeader::parse(chunk).is_ok_and(|header| missing_plugin(&header).is_some())
}

/// Checks that a chunk of a super-chunk can be decompressed. One that needs a missing plugin is not
/// checked.
///
/// # Errors
/// [`Error::Chunk`]
pub fn check_chunk(schunk: &SChunk, number: i64) -> error::Result<()> {
    let decompressed = schunk.decompress_to_vec(number);
    match decompressed.map_err(|error| chunk_error(schunk, number, error)) {
        Ok(_) | Err(Error::NeedsPlugin { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Decompresses chunks to find damaged ones.
pub struct ChunkCheck(Decompressor);

impl ChunkCheck {
    /// Returns a check on `nthreads` threads.
    pub fn new(nthreads: i16) -> ChunkCheck {
        ChunkCheck(Decompressor::new(DParams::default().threads(nthreads)))
    }

    /// Checks that a chunk can be decompressed. Chunks of one repeated value, and those that need a
    /// missing plugin, are not decompressed.
    ///
    /// # Errors
    /// The error of decompression.
    pub fn check(&mut self, chunk: &[u8]) -> Result<()> {
        let header = ChunkHeader::parse(chunk)?;
        if header.special != Special::None || missing_plugin(&header).is_some() {
            return Ok(());
        }
        self.0.decompress_to_vec(chunk).map(drop)
    }

    /// Whether a chunk passes [`ChunkCheck::check`].
    pub fn is_intact(&mut self, chunk: &[u8]) -> bool {
        self.check(chunk).is_ok()
    }
}
