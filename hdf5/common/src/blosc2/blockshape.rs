//! The block shape of multidimensional chunks.
//!
//! A block has about the size that the library chooses for one-dimensional data. It grows along the
//! last dimensions first, whose items are contiguous. Readers accept any shape. The shape chosen
//! here matches other writers.

use ferroblosc::Result;
use ferroblosc::chunk::{BasicHeader, CParams, EXTENDED_HEADER_LENGTH, special};

/// The initial extent of a block in each dimension.
const FIRST_EXTENT: u32 = 2;

/// Returns the block size in bytes that the library chooses for a chunk of `chunksize` bytes. A
/// negative `compcode` selects the default codec.
///
/// # Errors
/// Returns the errors of [`special::zeros`].
pub fn automatic_blocksize(
    chunksize: i32,
    typesize: i32,
    clevel: i32,
    compcode: i32,
) -> Result<i32> {
    let mut params = CParams::default().typesize(typesize);
    params.clevel = clevel;
    if compcode >= 0 {
        params.compcode = compcode;
    }
    // A chunk of zeros is only a header, with the same block size as any other chunk.
    let mut chunk = [0; EXTENDED_HEADER_LENGTH];
    special::zeros(&params, chunksize, &mut chunk)?;
    Ok(BasicHeader::parse(&chunk)?.blocksize)
}

/// Returns the block shape in items for a block of about `target` bytes.
pub fn blockshape(chunkshape: &[u32], typesize: u32, target: u32) -> Vec<u32> {
    let wanted = u64::from(target / typesize.max(1));
    let mut block: Vec<u32> = (chunkshape.iter()).map(|&extent| extent.min(FIRST_EXTENT)).collect();
    // At most 2 to the power of the rank, and at most `wanted` after growing.
    let mut items: u64 = block.iter().map(|&extent| u64::from(extent)).product();
    while items < wanted {
        let before = items;
        for (extent, &limit) in block.iter_mut().zip(chunkshape).rev() {
            let across = items / u64::from(*extent).max(1);
            let doubled = extent.checked_mul(2).filter(|&doubled| doubled <= limit);
            let larger = match doubled {
                Some(doubled) if across * u64::from(doubled) <= wanted => doubled,
                _ if across.saturating_mul(limit.into()) <= wanted => limit,
                _ => continue,
            };
            *extent = larger;
            items = across * u64::from(larger);
        }
        if items == before {
            break;
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::codec::id::{BLOSCLZ, LZ4, ZSTD};

    /// Returns the block shape and size in bytes, to compare with other writers.
    fn chosen(chunkshape: &[u32], typesize: u32, codec: u8, level: i32) -> (Vec<u32>, u32) {
        let chunksize = chunkshape.iter().product::<u32>() * typesize;
        let target =
            automatic_blocksize(chunksize as i32, typesize as i32, level, codec.into()).unwrap();
        let block = blockshape(chunkshape, typesize, target as u32);
        let bytes = block.iter().product::<u32>() * typesize;
        (block, bytes)
    }

    #[test]
    fn block_shapes_match_other_writers() {
        assert_eq!(chosen(&[64, 64], 4, ZSTD, 5), (vec![64, 64], 16384));
        assert_eq!(chosen(&[1000, 1000], 8, ZSTD, 5), (vec![256, 256], 524_288));
        assert_eq!(chosen(&[1000, 1000], 8, BLOSCLZ, 5), (vec![256, 256], 524_288));
        assert_eq!(chosen(&[1000, 1000], 8, LZ4, 1), (vec![128, 256], 262_144));
        assert_eq!(chosen(&[7, 11, 13], 8, BLOSCLZ, 5), (vec![7, 11, 13], 8008));
        assert_eq!(chosen(&[100, 200, 300], 1, ZSTD, 9), (vec![64, 128, 128], 1_048_576));
        assert_eq!(chosen(&[3000, 3], 2, LZ4, 9), (vec![3000, 3], 18000));
        assert_eq!(chosen(&[1, 5000, 100], 4, LZ4, 5), (vec![1, 512, 100], 204_800));
    }

    #[test]
    fn blocks_do_not_exceed_the_chunk_or_the_target() {
        for chunkshape in [&[1, 1][..], &[3, 5], &[17, 1, 31], &[2; 16], &[u32::MAX; 2]] {
            for target in [0, 1, 100, 5000, u32::MAX] {
                for typesize in [1, 3, 1000] {
                    let block = blockshape(chunkshape, typesize, target);
                    assert!(block.iter().zip(chunkshape).all(|(b, c)| (1..=*c).contains(b)));
                    let items = |shape: &[u32]| -> u64 {
                        shape.iter().map(|&extent| u64::from(extent)).product()
                    };
                    let first: Vec<u32> = chunkshape.iter().map(|&c| c.min(2)).collect();
                    let most = items(&first).max((target / typesize).into());
                    assert!(items(&block) <= most, "{chunkshape:?} {target} {typesize}");
                }
            }
        }
    }

    #[test]
    fn block_sizes_match_pytables() {
        let of = |chunksize, typesize, level, codec: u8| {
            automatic_blocksize(chunksize, typesize, level, codec.into())
        };
        assert_eq!(of(40_000, 4, 5, ZSTD), Ok(40_000));
        assert_eq!(of(16_384, 4, 5, ZSTD), Ok(16_384));
        assert_eq!(of(1_048_572, 12, 9, BLOSCLZ), Ok(1_048_572));
    }

    #[test]
    fn invalid_chunk_sizes_have_no_block_size() {
        assert!(automatic_blocksize(-1, 4, 5, 0).is_err());
        assert!(automatic_blocksize(100, 0, 5, 0).is_err());
        assert_eq!(automatic_blocksize(40_000, 4, 5, -1), automatic_blocksize(40_000, 4, 5, 0));
    }
}
