//! The HDF5 filters 32001 and 32026: stored chunks and parameters of a file.
//!
//! | bytes of the input | content |
//! |---|---|
//! | 1 | the filter: even for 32001, odd for 32026 |
//! | 1 | the number of values, modulo 25 |
//! | 4 each | the values, little-endian |
//! | the others | a stored chunk, and the data that are compressed |

use ferroblosc::chunk::DParams;
use ferroblosc::schunk::SChunk;
use ferroblosc::{Buffer, blosc1};
use ferroblosc_hdf5_common::blosc::Blosc;
use ferroblosc_hdf5_common::blosc2::Blosc2;
use ferroblosc_hdf5_common::{Dataset, Failure, Filter, Threads, Values};

use crate::alloc::largest_during;
use crate::draw::Draw;

/// The maximum size of data that are decompressed, in bytes. Larger data are slow and find nothing
/// new.
const MAX_NBYTES: usize = 1 << 20;
/// The maximum size of a single allocation for any chunk, in bytes: codec states, tables.
const FIXED_ALLOCATION: usize = 4 << 20;
/// The largest number of values, modulo which the number in the input is taken.
const MAX_VALUES: usize = 24;

/// Returns the input of a filter, values and a stored chunk.
pub fn input(is_second: bool, values: &[u32], stored: &[u8]) -> Vec<u8> {
    let mut bytes = vec![is_second.into(), values.len() as u8];
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes.extend(stored);
    bytes
}

/// Checks a chunk and values: decompression is bounded and repeatable, and what is compressed can
/// be decompressed.
pub fn chunk(input: &[u8]) {
    let [filter, count, rest @ ..] = input else {
        return;
    };
    let count = usize::from(*count) % (MAX_VALUES + 1);
    let count = count.min(rest.len() / 4);
    let (numbers, bytes) = rest.split_at(4 * count);
    let (numbers, _) = numbers.as_chunks();
    let values: Vec<u32> = numbers.iter().map(|number| u32::from_le_bytes(*number)).collect();
    let mut draw = Draw::new(input);
    if filter % 2 == 0 {
        let nbytes = bytes.first_chunk().map_or(0, |header| blosc1::sizes(header).nbytes as usize);
        if nbytes <= MAX_NBYTES {
            decompress::<Blosc>(&values, bytes);
        }
        compress::<Blosc>(&values, bytes, &mut draw);
    } else {
        if is_moderate(&values, bytes) {
            decompress::<Blosc2>(&values, bytes);
        }
        compress::<Blosc2>(&values, bytes, &mut draw);
    }
}

/// Whether a frame's data and chunks are small, or it is none.
fn is_moderate(values: &[u32], bytes: &[u8]) -> bool {
    let Ok(schunk) = SChunk::from_bytes(bytes, DParams::default()) else {
        assert!(Blosc2::decompress(values, bytes, Threads::ONE).is_err(), "data without a frame");
        return false;
    };
    let is_small = |size: i64| usize::try_from(size).is_ok_and(|size| size <= MAX_NBYTES);
    is_small(schunk.nbytes()) && is_small(schunk.nchunks()) && is_small(schunk.chunksize().into())
}

fn decompress<F: Filter>(values: &[u32], bytes: &[u8]) {
    let (first, largest) = largest_during(|| F::decompress(values, bytes, Threads::ONE));
    let justified = FIXED_ALLOCATION + 4 * (bytes.len() + MAX_NBYTES);
    assert!(
        largest <= justified,
        "allocated {largest} bytes at once, at most {justified} are allowed"
    );
    assert!(
        same(&first, &F::decompress(values, bytes, Threads::ONE)),
        "another result of the second call"
    );
}

fn same(first: &Result<Buffer, Failure>, second: &Result<Buffer, Failure>) -> bool {
    match (first, second) {
        (Ok(first), Ok(second)) => first[..] == second[..],
        (Err(first), Err(second)) => first == second,
        _ => false,
    }
}

/// Compresses data of a new dataset with these values of the user, and of a dataset with these
/// values in the file.
fn compress<F: Filter>(values: &[u32], data: &[u8], draw: &mut Draw) {
    let dataset = dataset(data.len(), draw);
    let mut completed = Values::new(values);
    let is_accepted = F::complete(&mut completed, &dataset).is_ok();
    for (values, is_valid) in [(completed.as_slice(), is_accepted), (values, false)] {
        match F::compress(values, data, Threads::ONE) {
            Ok(Some(stored)) => assert_restored::<F>(values, &stored, data),
            Ok(None) => {}
            Err(failure) => assert!(!is_valid, "{failure}"),
        }
        let stored = F::store(data).expect("a chunk of this size can be stored");
        // The chunk shape in damaged values need not match the data.
        if is_valid {
            assert_restored::<F>(values, &stored, data);
        }
    }
}

fn assert_restored<F: Filter>(values: &[u32], stored: &[u8], data: &[u8]) {
    match F::decompress(values, stored, Threads::ONE) {
        Ok(restored) => assert!(restored[..] == *data, "other data"),
        Err(failure) => panic!("a chunk of the filter cannot be read: {failure}"),
    }
}

/// Returns a dataset with chunks of about this size in bytes, mostly exactly.
fn dataset(size: usize, draw: &mut Draw) -> Dataset {
    let sizes = [1, 2, 3, 4, 8, 16, 255, 256, 300];
    let typesize = sizes[draw.below(sizes.len())];
    let items = (size / typesize).max(1);
    let mut chunkshape = Vec::new();
    let mut left = items;
    for _ in 0..draw.below(4) {
        let extent = (1..=left).filter(|extent| left % extent == 0).nth(draw.below(4)).unwrap_or(1);
        chunkshape.push(extent as u32);
        left /= extent;
    }
    chunkshape.push(left as u32);
    Dataset {
        typesize: typesize as u32,
        chunksize: (items * typesize) as u32,
        chunkshape,
        is_mandatory: draw.one_in(2),
    }
}
