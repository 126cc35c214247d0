//! Snappy: the block format of chunks that C-Blosc 1.x wrote. Levels and dictionaries mean nothing to it.

use super::{Dictionary, StreamCodec};
use crate::{Error, Result};

/// Snappy's states.
#[derive(Default)]
pub(super) struct Snappy {
    encoder: Option<snap::raw::Encoder>,
}

impl StreamCodec for Snappy {
    /// Like the C library, wants room for the worst case before it starts; less room counts as "does not
    /// fit".
    fn encode(
        &mut self,
        _level: u8,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let encoder = self.encoder.get_or_insert_with(snap::raw::Encoder::new);
        Ok(encoder.compress(src, dest).unwrap_or(0))
    }

    fn decode(&mut self, _dict: Option<&Dictionary>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        snap::raw::Decoder::new()
            .decompress(src, dest)
            .map_err(|_| Error::Data)
    }
}
