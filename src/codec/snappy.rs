//! Snappy: the block format of chunks that C-Blosc 1.x wrote. Levels and dictionaries mean nothing to it.

use super::{Dictionary, StreamCodec};
use crate::{Error, Result};

/// Snappy's states.
#[derive(Default)]
pub(super) struct Snappy {
    encoder: Option<snap::raw::Encoder>,
    /// Room for the worst case, which the encoder wants before it starts.
    bound: Vec<u8>,
}

impl StreamCodec for Snappy {
    fn encode(
        &mut self,
        _level: u8,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let encoder = self.encoder.get_or_insert_with(snap::raw::Encoder::new);
        let bound = snap::raw::max_compress_len(src.len());
        if dest.len() >= bound {
            return Ok(encoder.compress(src, dest).unwrap_or(0));
        }
        if self.bound.len() < bound {
            self.bound.try_reserve_exact(bound - self.bound.len())?;
            self.bound.resize(bound, 0);
        }
        let len = encoder.compress(src, &mut self.bound).unwrap_or(0);
        let Some(dest) = dest.get_mut(..len) else {
            return Ok(0);
        };
        dest.copy_from_slice(&self.bound[..len]);
        Ok(len)
    }

    fn decode(&mut self, _dict: Option<&Dictionary>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        snap::raw::Decoder::new()
            .decompress(src, dest)
            .map_err(|_| Error::Data)
    }
}
