//! Limits of memory and time of stored chunks.
//!
//! The size of the data comes from the header of the stored chunk. The parameters in the file are
//! not a reliable bound: some writers store arbitrary numbers, and a malicious file can contain
//! any. So the limits depend on constants and the number of stored bytes.

use ferroblosc::b2nd::Geometry;
use ferroblosc::blosc1;
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

/// The number of chunks that a frame may have in any case. Decoding a chunk needs up to about a
/// microsecond, even if it has only one byte.
const MIN_CHUNKS: usize = 1 << 20;
/// The minimum number of bytes that a further chunk of a frame occupies, those of its header.
const CHUNK_OVERHEAD: usize = blosc1::HEADER_LENGTH;
/// The maximum number of bytes that are decoded for an array, with the items of blocks that are
/// outside of the array.
const MAX_DECODED: u64 = 16 << 30;

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

/// Returns the maximum number of chunks in a frame of `stored` bytes. The index of a frame can state
/// millions of chunks in a few bytes, if they contain one repeated value or are the same one.
pub fn frame_chunks(stored: usize) -> usize {
    MIN_CHUNKS.max(stored / CHUNK_OVERHEAD)
}

/// Whether decoding all chunks of an array takes a time that its data can justify. Blocks are
/// decoded as a whole, and may contain much more items than the array.
pub fn is_decodable(geometry: &Geometry, typesize: i32) -> bool {
    let shapes = geometry.shape().iter().zip(geometry.chunkshape()).zip(geometry.blockshape());
    let bytes =
        shapes.fold(u64::from(typesize.unsigned_abs()), |bytes, ((&len, &chunk), &block)| {
            let unsigned = |extent: i32| u64::from(extent.unsigned_abs()).max(1);
            let (len, chunk, block) = (len.unsigned_abs(), unsigned(chunk), unsigned(block));
            let of_chunk = chunk.next_multiple_of(block);
            let of_last = (len % chunk).next_multiple_of(block);
            bytes.saturating_mul((len / chunk).saturating_mul(of_chunk).saturating_add(of_last))
        });
    geometry.nchunks() <= 1 || bytes <= MAX_DECODED
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

    #[test]
    fn blocks_may_contain_more_items_than_the_array_up_to_a_limit() {
        let is_decodable = |shape: &[i64], chunks: &[i32], blocks: &[i32], typesize| {
            is_decodable(&Geometry::new(shape, chunks, blocks).unwrap(), typesize)
        };
        const LARGE: i32 = 1 << 28;
        assert!(is_decodable(&[1000, 1000], &[64, 64], &[9, 9], 8));
        // The size of one chunk is limited by the format.
        assert!(is_decodable(&[1, 1], &[1, LARGE], &[1, LARGE], 4));
        assert!(is_decodable(&[16, 1], &[1, LARGE], &[1, LARGE], 4));
        assert!(!is_decodable(&[17, 1], &[1, LARGE], &[1, LARGE], 4));
        assert!(is_decodable(&[1 << 20, 1], &[1, LARGE], &[1, 64], 4));
        assert!(!is_decodable(&[i64::MAX >> 1, 1], &[1, 2], &[1, 2], 255));
        assert_eq!(frame_chunks(100), MIN_CHUNKS);
        assert_eq!(frame_chunks(32 << 20), 2 << 20);
    }
}
