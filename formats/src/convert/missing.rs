//! Runs of chunks that a source does not store, as chunks of a frame.
//!
//! A frame stores no bytes for runs of zeros and NaNs. The chunks of other values are stored, with
//! one item each.

use super::error::{Error, Result};
#[cfg(any(feature = "hdf5", feature = "zarr"))]
use ferroblosc::chunk::{CParams, special};
use ferroblosc::schunk::SChunk;
use ferroblosc::schunk::chunks::insert_special;

/// The maximum number of chunks of a frame: its index is a chunk with 8 bytes for each of them.
const MAX_CHUNKS: u64 = i32::MAX as u64 / 8;
/// The maximum number of chunks that are added at once.
const MAX_RUN: u64 = 1 << 20;
/// The maximum size of a special chunk in bytes: its header and an item.
#[cfg(any(feature = "hdf5", feature = "zarr"))]
const MAX_SPECIAL: usize = 32 + 255;

/// Fails for more chunks than a frame can have.
///
/// # Errors
/// [`Error::Partition`].
pub fn check_count(nchunks: u64) -> Result<()> {
    if nchunks > MAX_CHUNKS {
        return Err(Error::Partition(
            "a frame has at most 268435455 chunks; larger ones are needed",
        ));
    }
    Ok(())
}

/// The missing chunks at the end of a frame that is written.
pub struct MissingChunks {
    /// One of them, or nothing if there is no special chunk of the items.
    chunk: Vec<u8>,
    /// The number of those that are not appended yet.
    count: u64,
}

impl MissingChunks {
    /// Returns no chunks for now. Each has `nbytes` bytes, filled with this value.
    #[cfg(any(feature = "hdf5", feature = "zarr"))]
    pub fn new(params: &CParams, nbytes: i32, fill: &[u8]) -> MissingChunks {
        let mut chunk = vec![0; MAX_SPECIAL];
        let is_nan = fill == f32::NAN.to_ne_bytes() || fill == f64::NAN.to_ne_bytes();
        let made = if fill.iter().all(|&byte| byte == 0) {
            special::zeros(params, nbytes, &mut chunk)
        } else if is_nan {
            special::nans(params, nbytes, &mut chunk)
        } else {
            special::repeatval(params, nbytes, fill, &mut chunk)
        };
        chunk.truncate(made.unwrap_or(0));
        MissingChunks { chunk, count: 0 }
    }

    /// Returns copies of a chunk.
    pub fn of(chunk: &[u8], count: u64) -> MissingChunks {
        MissingChunks { chunk: chunk.to_vec(), count }
    }

    /// Adds chunks, unless there is no special chunk of such large items. Returns whether it did.
    #[cfg(any(feature = "hdf5", feature = "zarr"))]
    pub fn add(&mut self, count: u64) -> bool {
        let can_add = !self.chunk.is_empty();
        self.count += if can_add { count } else { 0 };
        can_add
    }

    /// Appends the chunks that were added.
    ///
    /// # Errors
    /// The errors of writing.
    pub fn flush(&mut self, schunk: &mut SChunk) -> Result<()> {
        // One chunk shows whether a run of them has no bytes in the frame.
        let mut most = 1;
        while self.count > 0 {
            let run = self.count.min(most);
            let first = usize::try_from(schunk.nchunks()).map_err(|_| Error::Layout)?;
            let numbers: Vec<usize> = (first..first + run as usize).collect();
            if insert_special(schunk.state_mut(), &numbers, &self.chunk)? {
                self.count -= run;
                most = MAX_RUN;
            } else {
                // The first chunk of a frame, or chunks with bytes.
                schunk.append_chunk(&self.chunk)?;
                self.count -= 1;
            }
        }
        Ok(())
    }
}

#[cfg(all(test, any(feature = "hdf5", feature = "zarr")))]
mod tests {
    use super::*;
    use ferroblosc::chunk::DParams;
    use ferroblosc::schunk::Storage;

    #[test]
    fn runs_of_all_values_are_appended() {
        let nan = f64::NAN.to_ne_bytes();
        for fill in [[0; 8], nan, 7_u64.to_ne_bytes(), (-f64::NAN).to_ne_bytes()] {
            let params = CParams::default().typesize(8);
            let mut schunk =
                SChunk::create(Storage::frame(), params.clone(), DParams::default()).unwrap();
            let mut missing = MissingChunks::new(&params, 80, &fill);
            let mut expected = Vec::new();
            for (run, item) in [(3, 1), (0, 2), (1, 3), (4, 4)] {
                assert!(missing.add(run));
                missing.flush(&mut schunk).unwrap();
                schunk.append(&[item; 80]).unwrap();
                expected.extend(fill.repeat(10 * run as usize));
                expected.extend([item; 80]);
            }
            assert!(missing.add(2));
            missing.flush(&mut schunk).unwrap();
            missing.flush(&mut schunk).unwrap();
            expected.extend(fill.repeat(20));
            let mut found = vec![0; expected.len()];
            schunk.get_slice(0, expected.len() as i64 / 8, &mut found).unwrap();
            assert_eq!(found, expected, "{fill:?}");
            assert_eq!(schunk.nchunks(), 14);
        }
        let large = CParams::default().typesize(300);
        assert!(!MissingChunks::new(&large, 600, &[1; 300]).add(1));
        assert!(MissingChunks::new(&large, 600, &[0; 300]).add(1));
    }

    #[test]
    fn runs_of_zeros_are_short() {
        let params = CParams::default().typesize(4);
        let mut schunk =
            SChunk::create(Storage::frame(), params.clone(), DParams::default()).unwrap();
        let mut missing = MissingChunks::new(&params, 4000, &[0; 4]);
        assert!(missing.add(3 << 20));
        missing.flush(&mut schunk).unwrap();
        assert_eq!((schunk.nchunks(), schunk.nbytes()), (3 << 20, 4000 * (3 << 20)));
        assert!(schunk.to_bytes().unwrap().len() < 1 << 20);
        assert!(check_count(MAX_CHUNKS).is_ok() && check_count(MAX_CHUNKS + 1).is_err());
    }

    /// Each of them is stored, but the others are not listed for it.
    #[test]
    fn runs_of_other_values_take_linear_time() {
        let params = CParams::default().typesize(4);
        let mut schunk =
            SChunk::create(Storage::frame(), params.clone(), DParams::default()).unwrap();
        let mut missing = MissingChunks::new(&params, 400, &7_i32.to_ne_bytes());
        assert!(missing.add(1 << 17));
        missing.flush(&mut schunk).unwrap();
        assert_eq!((schunk.nchunks(), schunk.nbytes()), (1 << 17, 400 << 17));
        assert_eq!(schunk.decompress_to_vec(99_999).unwrap(), 7_i32.to_ne_bytes().repeat(100));
    }
}
