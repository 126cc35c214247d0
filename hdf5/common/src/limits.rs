//! How much memory a stored chunk may ask for.
//!
//! The size of the data is the one that the stored chunk's own header states. The parameters in the file
//! are no reliable bound: some writers leave arbitrary numbers in them, and a hostile file chooses them.
//! So the bounds are constants and the number of bytes that are really stored.

use ferroblosc::codec::format;

/// The largest size of a chunk in HDF5, in bytes.
const MAX_CHUNK: usize = u32::MAX as usize;
/// The largest size, in bytes, that data without stored bytes (runs of one value in a frame) may have
/// unless the parameters of the filter state a larger one.
const MAX_UNBACKED: usize = 256 << 20;

/// The upper bound on the bytes that filters before ours add to a chunk, besides a share of it.
const FIXED: usize = 64 * 1024;
/// The divisor for the share of a chunk that a filter may add.
const SHARE: usize = 4;

/// Returns the largest number of bytes that one byte of a stream of this format decodes to.
///
/// A run of BloscLZ and LZ4 grows by 255 bytes with each byte, a copy of Snappy has 64 bytes of data in 3,
/// one of Deflate 258 bytes in 2 bits, and a block of Zstandard 128 KiB in 4 bytes.
fn expansion(codec_format: u8) -> usize {
    match codec_format {
        format::BLOSCLZ | format::LZ4 => 255,
        format::SNAPPY => 22,
        format::ZLIB => 1032,
        _ => 32 * 1024,
    }
}

/// Returns the largest number of bytes that `stored` bytes of this format can decode to, at most
/// `MAX_CHUNK`.
pub fn backed_size(codec_format: u8, stored: usize) -> usize {
    stored
        .saturating_mul(expansion(codec_format))
        .min(MAX_CHUNK)
}

/// Returns the largest size that a frame of `stored` bytes may decode to, in bytes: what its bytes can hold
/// with the densest codec; for runs of one value `MAX_UNBACKED`, or the size of a chunk that the
/// parameters state and what earlier filters may have added. Never above `MAX_CHUNK`.
pub fn frame_size(chunksize: u32, stored: usize) -> usize {
    let chunksize = chunksize as usize;
    let stated = chunksize
        .saturating_add(chunksize / SHARE)
        .saturating_add(FIXED);
    backed_size(format::ZSTD, stored)
        .max(MAX_UNBACKED)
        .max(stated)
        .min(MAX_CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::chunk::{CParams, Compressor};
    use ferroblosc::codec::id;

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
            // A byte less than a run of one value, which would be no stream.
            let mut data = data.clone();
            data[0] = 1;
            let cparams = CParams::default().codec(codec).level(9).typesize(1);
            let cparams = cparams.blocksize(data.len() as i32);
            let stored = Compressor::new(cparams)
                .unwrap()
                .compress_to_vec(&data)
                .unwrap();
            assert!(
                data.len() <= backed_size(codec_format, stored.len()),
                "{codec}"
            );
        }
    }

    #[test]
    fn no_parameter_raises_the_limit_above_a_chunk_of_hdf5() {
        assert_eq!(frame_size(u32::MAX, 100), MAX_CHUNK);
        assert_eq!(frame_size(0, usize::MAX), MAX_CHUNK);
        assert_eq!(frame_size(0, 0), MAX_UNBACKED);
        assert_eq!(frame_size(1 << 30, 0), (1 << 30) + (1 << 28) + FIXED);
        assert_eq!(backed_size(format::LZ4, 100), 25_500);
    }
}
