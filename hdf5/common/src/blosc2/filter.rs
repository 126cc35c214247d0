//! Filter 32026: each HDF5 chunk is stored as a contiguous Blosc2 frame.
//!
//! The frame contains everything that decompression needs. It must match the
//! [values](super::parameters) only if they are consistent. (Source: the Blosc2 filter for HDF5 of
//! PyTables and hdf5plugin.)

use super::parameters::{CLEVEL, CODEC, FILTER, Parameters, RANKS, slot};
use super::{decode, encode};
use crate::filter::{Choice, Dataset, Failure, Filter, Values};
use crate::threads::Threads;
use ferroblosc::{Buffer, chunk};
use std::ffi::{CStr, c_int};

const REVISION: u32 = 1;
const CHOICES: [Choice; 3] = [CLEVEL, FILTER, CODEC];
/// The smallest block size in bytes that a codec can compress.
const MIN_BLOCKSIZE: u32 = 32;

/// The filter.
pub struct Blosc2;

impl Filter for Blosc2 {
    const ID: c_int = 32026;
    const NAME: &'static CStr = c"blosc2";

    fn complete(values: &mut Values, dataset: &Dataset) -> Result<(), Failure> {
        for choice in CHOICES {
            choice.read(values.as_slice())?;
        }
        let blocksize = Parameters::read(values.as_slice()).blocksize;
        if (1..MIN_BLOCKSIZE).contains(&blocksize) && blocksize < dataset.chunksize {
            return Err(Failure(format!(
                "parameter {}, the bytes of a block, is {blocksize}, but must be 0 (automatic), \
                 {MIN_BLOCKSIZE} or more, or those of a chunk",
                slot::BLOCKSIZE
            )));
        }
        if dataset.is_mandatory && dataset.chunksize as usize > chunk::MAX_BUFFERSIZE {
            return Err(Failure(format!(
                "a mandatory filter cannot store chunks of {} bytes, at most {} are possible",
                dataset.chunksize,
                chunk::MAX_BUFFERSIZE
            )));
        }
        let given = values.as_slice().len();
        let rank = dataset.chunkshape.len();
        if RANKS.contains(&rank) {
            values.resize(slot::CHUNKSHAPE + rank);
            for Choice { slot, default, .. } in CHOICES {
                if slot >= given {
                    values.set(slot, default);
                }
            }
            values.set(slot::RANK, rank as u32);
            for (slot, &extent) in (slot::CHUNKSHAPE..).zip(&dataset.chunkshape) {
                values.set(slot, extent);
            }
        } else {
            // Values after the user's would be interpreted as a rank.
            values.resize(given.clamp(slot::COUNT_OF_FILTER, slot::RANK));
        }
        values.set(slot::REVISION, REVISION);
        values.set(slot::TYPESIZE, dataset.typesize);
        values.set(slot::CHUNKSIZE, dataset.chunksize);
        Ok(())
    }

    fn compress(values: &[u32], data: &[u8], threads: Threads) -> Result<Option<Buffer>, Failure> {
        encode::encode(&Parameters::read(values), data, threads).map(Some)
    }

    fn store(data: &[u8]) -> Result<Buffer, Failure> {
        encode::store(data)
    }

    fn decompress(values: &[u32], stored: &[u8], threads: Threads) -> Result<Buffer, Failure> {
        decode::decode(&Parameters::read(values), stored, threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(given: &[u32], typesize: u32, chunkshape: &[u32]) -> Vec<u32> {
        let dataset = Dataset {
            typesize,
            chunksize: chunkshape.iter().product::<u32>() * typesize,
            chunkshape: chunkshape.to_vec(),
            is_mandatory: false,
        };
        let mut values = Values::new(given);
        Blosc2::complete(&mut values, &dataset).unwrap();
        values.as_slice().to_vec()
    }

    #[test]
    fn stored_values_match_the_existing_plugin() {
        assert_eq!(completed(&[0, 0, 0, 0, 5, 1, 5], 4, &[1000]), [1, 0, 4, 4000, 5, 1, 5]);
        assert_eq!(
            completed(&[0, 0, 0, 0, 5, 2, 1], 4, &[64, 64]),
            [1, 0, 4, 16384, 5, 2, 1, 2, 64, 64]
        );
        assert_eq!(completed(&[], 4, &[64, 64]), [1, 0, 4, 16384, 5, 1, 0, 2, 64, 64]);
        assert_eq!(completed(&[], 4, &[1000]), [1, 0, 4, 4000]);
        assert_eq!(completed(&[0, 0, 0, 0, 9, 1], 12, &[87_381]), [1, 0, 12, 1_048_572, 9, 1]);
        // The user chose the block size.
        assert_eq!(
            completed(&[0, 512, 0, 0, 5, 1, 5, 9, 9, 9, 9, 9], 1, &[10, 20]),
            [1, 512, 1, 200, 5, 1, 5, 2, 10, 20]
        );
        assert_eq!(completed(&[], 300, &[10])[2..], [300, 3000]);
        assert_eq!(
            completed(&[0, 64, 0, 0, 5, 2, 5, 7, 7, 7], 1, &[100]),
            [1, 64, 1, 100, 5, 2, 5]
        );
    }

    #[test]
    fn stored_chunks_are_readable() {
        let data: Vec<u8> = (0..=255).collect();
        let stored = Blosc2::store(&data).unwrap();
        for values in [&[1, 0, 4, 256][..], &[1, 0, 4, 256, 11, 9, 9, 2, 8, 8]] {
            assert_eq!(Blosc2::decompress(values, &stored, Threads::ONE).unwrap()[..], data);
        }
    }

    #[test]
    fn seventeen_dimensions_are_not_recorded() {
        assert_eq!(completed(&[], 4, &[1; 17]), [1, 0, 4, 4]);
        assert_eq!(completed(&[], 4, &[1; 16]).len(), 24);
    }

    #[test]
    fn a_truncated_shape_is_ignored() {
        let shape = |values: &[u32]| Parameters::read(values).chunkshape.is_some();
        assert!(shape(&[1, 0, 4, 16, 5, 1, 0, 2, 2, 2]));
        assert!(!shape(&[1, 0, 4, 16, 5, 1, 0, 2, 2]));
        assert!(!shape(&[1, 0, 4, 16, 5, 1, 0, 1, 4]));
        assert!(!shape(&[1, 0, 4, 16, 5, 1, 0, 17, 1]));
        assert!(!shape(&[1, 0, 4, 16]));
        assert!(!shape(&[1, 0, 4]));
    }

    #[test]
    fn a_choice_out_of_range_is_rejected_by_name_at_dataset_creation() {
        let refused = |values: &[u32]| {
            let dataset =
                Dataset { typesize: 8, chunksize: 800, chunkshape: vec![100], is_mandatory: false };
            let result = Blosc2::complete(&mut Values::new(values), &dataset);
            result.map_or_else(|failure| failure.0, |()| String::new())
        };
        for (values, reason) in [
            (&[0, 0, 0, 0, 77, 1, 5][..], "parameter 4, the level, is 77, but must be 0 to 9"),
            (&[0, 0, 0, 0, 5, 9, 5], "parameter 5, the filter, is 9, but must be 0 (none)"),
            (&[0, 0, 0, 0, 5, 1, 3], "parameter 6, the codec, is 3, but must be 0 (BloscLZ)"),
            (
                &[0, 8],
                "parameter 1, the bytes of a block, is 8, but must be 0 (automatic), 32 or more",
            ),
        ] {
            assert!(refused(values).starts_with(reason), "{}", refused(values));
        }
        for values in [&[][..], &[0, 32], &[0, u32::MAX], &[0, 0, 9, 9, 0, 0, 0]] {
            assert_eq!(refused(values), "");
        }
    }

    #[test]
    fn a_small_block_is_accepted_if_it_is_the_whole_chunk() {
        assert_eq!(completed(&[0, 8], 4, &[2])[1], 8);
    }
}
