//! Memory limits of stored chunks.
//!
//! The size of the data comes from the header of the stored chunk. The parameters in the file are
//! not a reliable bound: some writers store arbitrary numbers, and a malicious file can contain
//! any. So the limits depend on constants and the number of stored bytes.

use ferroblosc::codec::{self, CodecInfo};

/// The maximum size of an HDF5 chunk in bytes.
const MAX_CHUNK: usize = u32::MAX as usize;
/// The maximum size in bytes of data without stored bytes (runs of one value in a frame), unless
/// the parameters of the filter contain a larger size.
const MAX_UNBACKED: usize = 256 << 20;

/// The maximum number of bytes that preceding filters add to a chunk, in addition to a fraction of
/// its size.
const FIXED: usize = 64 * 1024;
/// The divisor of the fraction of a chunk that a filter may add.
const SHARE: usize = 4;

/// Returns the maximum number of bytes that one byte of a stream of this format decodes to.
fn expansion(codec_format: u8) -> usize {
    codec::info_of_format(codec_format)
        .map_or(CodecInfo::LARGEST_EXPANSION, |codec| codec.max_expansion)
}

/// Returns the maximum number of bytes that `stored` bytes of this format can decode to, at most
/// `MAX_CHUNK`.
pub fn backed_size(codec_format: u8, stored: usize) -> usize {
    stored.saturating_mul(expansion(codec_format)).min(MAX_CHUNK)
}

/// Returns the maximum decoded size of a frame of `stored` bytes: the maximum for the densest
/// codec; for runs of one value `MAX_UNBACKED`, or the chunk size in the parameters and the
/// possible additions of preceding filters. At most `MAX_CHUNK`.
pub fn frame_size(chunksize: u32, stored: usize) -> usize {
    let chunksize = chunksize as usize;
    let stated = chunksize.saturating_add(chunksize / SHARE).saturating_add(FIXED);
    stored.saturating_mul(CodecInfo::LARGEST_EXPANSION).max(MAX_UNBACKED).max(stated).min(MAX_CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::chunk::{CParams, Compressor};
    use ferroblosc::codec::{format, id};

    #[test]
    fn runs_stay_below_the_limit_of_their_codec() {
        let data = vec![7; 8 << 20];
        for (codec, codec_format) in [
            (id::BLOSCLZ, format::BLOSCLZ),
            (id::LZ4, format::LZ4),
            (id::LZ4HC, format::LZ4),
            (id::ZLIB, format::ZLIB),
            (id::ZSTD, format::ZSTD),
        ] {
            // One byte differs, since a run of one value would have no stream.
            let mut data = data.clone();
            data[0] = 1;
            let cparams = CParams::default().codec(codec).level(9).typesize(1);
            let cparams = cparams.blocksize(data.len() as i32);
            let stored = Compressor::new(cparams).unwrap().compress_to_vec(&data).unwrap();
            assert!(data.len() <= backed_size(codec_format, stored.len()), "{codec}");
        }
    }

    #[test]
    fn parameters_cannot_raise_the_limit_above_the_maximum_chunk_size() {
        assert_eq!(frame_size(u32::MAX, 100), MAX_CHUNK);
        assert_eq!(frame_size(0, usize::MAX), MAX_CHUNK);
        assert_eq!(frame_size(0, 0), MAX_UNBACKED);
        assert_eq!(frame_size(1 << 30, 0), (1 << 30) + (1 << 28) + FIXED);
        assert_eq!(backed_size(format::LZ4, 100), 25_500);
    }
}
