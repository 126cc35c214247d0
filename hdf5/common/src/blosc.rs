//! Filter 32001: each HDF5 chunk is stored as one Blosc 1 chunk without a wrapper.
//!
//! | value | meaning | set by |
//! |---|---|---|
//! | 0 | revision of the filter, 2 | the filter |
//! | 1 | version of the chunk format, 2 | the filter |
//! | 2 | type size in bytes; 1 if it exceeds 255 | the filter |
//! | 3 | size of an HDF5 chunk in bytes; unused | the filter |
//! | 4 | level, 0 to 9; default 5 | the user |
//! | 5 | shuffle: 0 none, 1 bytes, 2 bits; default 1 | the user |
//! | 6 | codec number; default 0, BloscLZ | the user |
//!
//! Only compression uses the values: the header of a chunk contains everything that decompression
//! needs. Some writers (PyTables, for ragged arrays) store arbitrary numbers in 2 and 3. (Source:
//! the Blosc filter for HDF5.)

use crate::filter::{Allowed, Choice, Dataset, Failure, Filter, Values};
use crate::limits::backed_size;
use crate::threads::Threads;
use ferroblosc::blosc1::{self, Call, Engine, EnginePool, Settings};
use ferroblosc::chunk::{self, SplitMode};
use ferroblosc::{Buffer, codec};
use ferroblosc_capi_common::global::fork_safe_global;
use std::ffi::{CStr, c_int};

/// The indices of the values.
pub mod slot {
    /// The revision of the filter.
    pub const REVISION: usize = 0;
    /// The version of the chunk format.
    pub const FORMAT: usize = 1;
    /// The type size in bytes.
    pub const TYPESIZE: usize = 2;
    /// The size of a chunk in bytes.
    pub const CHUNKSIZE: usize = 3;
    /// The level.
    pub const CLEVEL: usize = 4;
    /// The shuffle.
    pub const SHUFFLE: usize = 5;
    /// The codec.
    pub const CODEC: usize = 6;
    /// The number of values, including the values that the user sets.
    pub const COUNT: usize = 7;
    /// The number of values that the filter sets.
    pub const COUNT_OF_FILTER: usize = 4;

    /// The revision in the working parameters that netCDF-C passes for a Zarr array.
    pub const NCZARR_REVISION: u32 = u32::from_be_bytes(*b"ncz1");
    /// The slot of the block size in such parameters, in bytes, 0 for automatic.
    pub const NCZARR_WORKING_BLOCKSIZE: usize = 7;
    /// The slot of the block size in the parameters that users of netCDF-C set for a Zarr array.
    pub const NCZARR_BLOCKSIZE: usize = 3;
}

const REVISION: u32 = 2;
const FORMAT: u32 = 2;

const CLEVEL: Choice = Choice {
    slot: slot::CLEVEL,
    name: "the level",
    default: 5,
    allowed: Allowed::Values(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "0 to 9"),
};
/// The choice of the shuffle.
pub const SHUFFLE: Choice = Choice {
    slot: slot::SHUFFLE,
    name: "the shuffle",
    default: 1,
    allowed: Allowed::Values(&[0, 1, 2], "0 (none), 1 (bytes) or 2 (bits)"),
};
const CODEC: Choice =
    Choice { slot: slot::CODEC, name: "the codec", default: 0, allowed: Allowed::Blosc1Codecs };
/// The values that users choose.
pub const CHOICES: [Choice; 3] = [CLEVEL, SHUFFLE, CODEC];

/// The offset of the flags in a chunk's header.
const FLAGS: usize = 2;
/// The bit position of the codec format in the flags.
const FORMAT_SHIFT: u32 = 5;

fork_safe_global! {
    /// Cached engines. HDF5 serialises calls of filters unless it is built without its global lock.
    static ENGINES: EnginePool = EnginePool::new();
}

/// Calls `work` with a cached engine.
fn with_engine<T>(work: impl FnOnce(&mut Engine) -> T) -> T {
    let mut engine = ENGINES.with(EnginePool::take);
    let result = work(&mut engine);
    drop(ENGINES.with(|engines| engines.put(engine)));
    result
}

/// The filter.
pub struct Blosc;

impl Filter for Blosc {
    const ID: c_int = 32001;
    const NAME: &'static CStr = c"blosc";

    fn complete(values: &mut Values, dataset: &Dataset) -> Result<(), Failure> {
        for choice in CHOICES {
            choice.read(values.as_slice())?;
        }
        if dataset.is_mandatory && dataset.chunksize as usize > blosc1::MAX_BUFFERSIZE {
            return Err(Failure(format!(
                "a mandatory filter cannot store chunks of {} bytes, at most {} are possible",
                dataset.chunksize,
                blosc1::MAX_BUFFERSIZE
            )));
        }
        let count = values.as_slice().len();
        values.resize(count.clamp(slot::COUNT_OF_FILTER, slot::COUNT));
        values.set(slot::REVISION, REVISION);
        values.set(slot::FORMAT, FORMAT);
        let typesize = match usize::try_from(dataset.typesize) {
            Ok(..=chunk::MAX_TYPESIZE) => dataset.typesize,
            _ => 1,
        };
        values.set(slot::TYPESIZE, typesize);
        values.set(slot::CHUNKSIZE, dataset.chunksize);
        Ok(())
    }

    fn compress(values: &[u32], data: &[u8], threads: Threads) -> Result<Option<Buffer>, Failure> {
        // A chunk larger than its data is not worth storing.
        compress_into(&params(values, threads.for_chunk(data.len()))?, data, data.len())
    }

    fn store(data: &[u8]) -> Result<Buffer, Failure> {
        let call = Call { clevel: 0, shuffle: 0, typesize: 1 };
        let params = blosc1::Params {
            call,
            compressor: Some(codec::id::BLOSCLZ),
            blocksize: 0,
            splitmode: SplitMode::FORWARD_COMPAT,
            nthreads: 1,
        };
        compress_into(&params, data, data.len() + blosc1::HEADER_LENGTH)?
            .ok_or_else(|| Failure(format!("{} bytes cannot be a chunk", data.len())))
    }

    fn decompress(_: &[u32], stored: &[u8], threads: Threads) -> Result<Buffer, Failure> {
        let not_a_chunk = |reason: &str| Failure(format!("not a Blosc chunk: {reason}"));
        // The engine reports all damage with the same error.
        let damaged = |error: blosc1::Error, reason: &str| {
            if error == blosc1::Error::Failure {
                not_a_chunk(reason)
            } else {
                not_a_chunk(&error.to_string())
            }
        };
        let header = stored.first_chunk().ok_or_else(|| not_a_chunk("too short for a header"))?;
        let nbytes = usize::try_from(blosc1::sizes(header).nbytes);
        let nbytes = nbytes.map_err(|_| not_a_chunk("a negative size"))?;
        let lengths = blosc1::lengths(header, nbytes)
            .map_err(|error| damaged(error, "its header is damaged"))?;
        let stored = stored.get(..lengths.src);
        let stored = stored.ok_or_else(|| not_a_chunk("longer than the stored data"))?;
        if lengths.dest > backed_size(header[FLAGS] >> FORMAT_SHIFT, lengths.src) {
            return Err(not_a_chunk("more data than its bytes can hold"));
        }
        let mut data = Buffer::unspecified(lengths.dest)?;
        let nthreads = settings(threads.for_chunk(lengths.dest)).threads();
        with_engine(|engine| engine.decompress(stored, nthreads, &mut data))
            .map_err(|error| damaged(error, "its blocks are damaged"))?;
        Ok(data)
    }
}

/// Compresses data into a chunk of at most `most` bytes. Returns `None` if it does not fit.
fn compress_into(
    params: &blosc1::Params,
    data: &[u8],
    most: usize,
) -> Result<Option<Buffer>, Failure> {
    let Some(capacity) = blosc1::usable_destsize(data.len(), most) else {
        return Ok(None);
    };
    let mut stored = Buffer::unspecified(capacity)?;
    let size = with_engine(|engine| engine.compress(params, data, &mut stored))?;
    stored.resize(size)?;
    Ok((size > 0).then_some(stored))
}

/// Returns the settings without the environment.
fn settings(nthreads: i16) -> Settings {
    let settings = Settings::new();
    settings.set_nthreads(nthreads.into());
    settings
}

/// Returns the parameters from the values and the environment.
fn params(values: &[u32], nthreads: i16) -> Result<blosc1::Params, Failure> {
    let codec = CODEC.read(values)?;
    let name = blosc1::compcode_to_compname(codec as i32).ok_or_else(|| CODEC.refuse(codec))?;
    let settings = settings(nthreads);
    settings.set_compressor(name.to_bytes())?;
    let typesize = values.get(slot::TYPESIZE).map_or(1, |&size| size as usize);
    let call = Call {
        clevel: CLEVEL.read(values)? as i32,
        shuffle: SHUFFLE.read(values)? as i32,
        typesize: if (1..=chunk::MAX_TYPESIZE).contains(&typesize) { typesize } else { 1 },
    };
    let mut params = settings.params(call)?;
    if values.get(slot::REVISION) == Some(&slot::NCZARR_REVISION)
        && let Some(&blocksize) = values.get(slot::NCZARR_WORKING_BLOCKSIZE)
        && blocksize > 0
    {
        params.blocksize = blosc1::forced_blocksize(blocksize as usize);
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(given: &[u32], dataset: &Dataset) -> Vec<u32> {
        let mut values = Values::new(given);
        Blosc::complete(&mut values, dataset).unwrap();
        values.as_slice().to_vec()
    }

    /// A dataset with chunks of `items` items of `typesize` bytes.
    fn dataset(typesize: u32, items: u32) -> Dataset {
        Dataset {
            typesize,
            chunksize: typesize * items,
            chunkshape: vec![items],
            is_mandatory: false,
        }
    }

    #[test]
    fn stored_values_match_the_existing_plugin() {
        let of = |given: &[u32]| completed(given, &dataset(4, 4096));
        assert_eq!(of(&[]), [2, 2, 4, 16384]);
        assert_eq!(of(&[0, 0, 0, 0, 9]), [2, 2, 4, 16384, 9]);
        assert_eq!(of(&[9, 9, 9, 9, 5, 2, 1]), [2, 2, 4, 16384, 5, 2, 1]);
        assert_eq!(completed(&[], &dataset(23, 10)), [2, 2, 23, 230]);
        assert_eq!(completed(&[], &dataset(255, 2)), [2, 2, 255, 510]);
        assert_eq!(completed(&[], &dataset(300, 10)), [2, 2, 1, 3000]);
    }

    #[test]
    fn row_h2_more_than_seven_values_are_truncated() {
        let given = [0, 0, 0, 0, 5, 1, 4, 77, 88];
        assert_eq!(completed(&given, &dataset(4, 100)), [2, 2, 4, 400, 5, 1, 4]);
        assert_eq!(completed(&[1; 60], &dataset(4, 100)).len(), 7);
    }

    #[test]
    fn an_unknown_codec_level_or_shuffle_is_rejected() {
        let data = [0; 4096];
        for (level, shuffle, codec) in [(10, 1, 0), (5, 3, 0), (5, 1, 6), (5, 1, u32::MAX)] {
            let values = [2, 2, 4, 4096, level, shuffle, codec];
            assert!(Blosc::compress(&values, &data, Threads::ONE).is_err(), "{values:?}");
        }
        assert!(Blosc::compress(&[2, 2, 4, 4096, 9, 2, 5], &data, Threads::ONE).is_ok());
    }

    #[test]
    fn a_choice_out_of_range_is_rejected_by_name_at_dataset_creation() {
        for (level, shuffle, codec, reason) in [
            (77, 1, 5, "parameter 4, the level, is 77, but must be 0 to 9"),
            (5, 9, 5, "parameter 5, the shuffle, is 9, but must be 0 (none)"),
            (5, 1, 99, "parameter 6, the codec, is 99, but must be 0 (BloscLZ)"),
            (u32::MAX, 1, 0, "parameter 4, the level, is 4294967295"),
        ] {
            let mut values = Values::new(&[0, 0, 0, 0, level, shuffle, codec]);
            let failure = Blosc::complete(&mut values, &dataset(4, 100)).unwrap_err();
            assert!(failure.0.starts_with(reason), "{failure}");
        }
    }

    #[test]
    fn only_an_optional_filter_accepts_chunks_that_are_too_large_for_the_format() {
        let mut large = Dataset { chunksize: i32::MAX as u32, ..dataset(1, 1) };
        assert!(Blosc::complete(&mut Values::new(&[]), &large).is_ok());
        large.is_mandatory = true;
        let failure = Blosc::complete(&mut Values::new(&[]), &large).unwrap_err();
        assert!(failure.0.contains("2147483631"), "{failure}");
    }

    #[test]
    fn an_invalid_type_size_is_treated_as_one_byte() {
        let data = [7; 4096];
        for typesize in [0, 256, 32558, u32::MAX] {
            let stored = Blosc::compress(&[5, 14, typesize, 3, 5, 1, 5], &data, Threads::ONE);
            let stored = stored.unwrap().unwrap();
            assert_eq!(Blosc::decompress(&[], &stored, Threads::ONE).unwrap()[..], data);
        }
    }

    #[test]
    fn level_0_never_returns_a_chunk() {
        let compressed = Blosc::compress(&[2, 2, 4, 4096, 0, 1, 0], &[0; 4096], Threads::ONE);
        assert!(compressed.unwrap().is_none());
    }

    #[test]
    fn stored_chunks_are_16_bytes_longer_and_readable() {
        let data: Vec<u8> = (0..=255).collect();
        let stored = Blosc::store(&data).unwrap();
        assert_eq!(stored.len(), data.len() + 16);
        assert_eq!(stored[16..], data);
        assert_eq!(Blosc::decompress(&[], &stored, Threads::ONE).unwrap()[..], data);
    }
}
