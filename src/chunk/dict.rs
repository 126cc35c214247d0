//! Dictionaries built from a chunk's own filtered blocks.
//!
//! LZ4 uses the beginning of the filtered data; Zstd trains on samples. Only the blocks that
//! contain the samples are filtered for this.

use super::encode::Job;
use super::view::MAX_DICT_SIZE;
use super::worker::Worker;
use crate::codec::{self, CodecInfo, Dictionary};
use crate::{Result, filter::grown};

/// The minimum useful size of a dictionary in bytes.
const MIN_USEFUL_DICT: usize = 256;
/// The minimum ratio of the data to the dictionary.
const DATA_PER_DICT: usize = 20;
/// The minimum number of samples to train on.
const MIN_SAMPLES: usize = 8;
/// The ratio of a stream to a sample.
const STREAM_PER_SAMPLE: usize = 16;

/// Whether the codec supports dictionaries.
pub(super) fn is_supported(compcode: i32) -> bool {
    codec::info(compcode).is_some_and(CodecInfo::has_dictionaries)
}

/// Returns the maximum size of a dictionary for `nbytes` bytes of data, or `None` if it is not
/// useful.
fn capacity(nbytes: usize) -> Option<usize> {
    let capacity = MAX_DICT_SIZE.min(nbytes / DATA_PER_DICT);
    (capacity >= MIN_USEFUL_DICT).then_some(capacity)
}

/// Builds the dictionary of a regular chunk. Returns `None` if the data are not sufficient.
pub(super) fn for_blocks(job: &Job<'_>, worker: &mut Worker) -> Result<Option<Dictionary>> {
    let streams = if job.encoder.split {
        job.encoder.typesize
    } else {
        1
    };
    let samples = MIN_SAMPLES.max(job.nblocks * streams);
    let sample_len = job.nbytes / samples / STREAM_PER_SAMPLE;
    let Some(capacity) = capacity(job.nbytes) else {
        return Ok(None);
    };
    if sample_len == 0 {
        return Ok(None);
    }
    let sampled = samples * sample_len;
    if is_trained(job) {
        let data = filtered_prefix(job, worker, sampled)?;
        let sizes = sample_sizes(samples, |_| sample_len)?;
        prepare(job, train(job, &data, &sizes, capacity))
    } else {
        let prefix = filtered_prefix(job, worker, sampled.min(capacity))?;
        prepare(job, Some(prefix))
    }
}

/// Builds the dictionary of a chunk with variable-length blocks; each block is a sample.
pub(super) fn for_vl_blocks(job: &Job<'_>, worker: &mut Worker) -> Result<Option<Dictionary>> {
    let Some(capacity) = capacity(job.nbytes) else {
        return Ok(None);
    };
    if job.nblocks < MIN_SAMPLES || job.nbytes / job.nblocks / STREAM_PER_SAMPLE == 0 {
        return Ok(None);
    }
    if is_trained(job) {
        let data = filtered_prefix(job, worker, job.nbytes)?;
        let sizes = sample_sizes(job.nblocks, |nblock| job.encoder.block_len(nblock))?;
        prepare(job, train(job, &data, &sizes, capacity))
    } else {
        let prefix = filtered_prefix(job, worker, capacity)?;
        prepare(job, Some(prefix))
    }
}

/// Returns the lengths of `count` samples.
fn sample_sizes(count: usize, len: impl FnMut(usize) -> usize) -> Result<Vec<usize>> {
    let mut sizes = Vec::new();
    sizes.try_reserve_exact(count)?;
    sizes.extend((0..count).map(len));
    Ok(sizes)
}

fn is_trained(job: &Job<'_>) -> bool {
    codec::info(job.encoder.params.compcode).is_some_and(CodecInfo::trains_dictionaries)
}

fn train(job: &Job<'_>, samples: &[u8], sizes: &[usize], capacity: usize) -> Option<Vec<u8>> {
    Dictionary::train(job.encoder.params.compcode as u8, samples, sizes, capacity)
}

fn prepare(job: &Job<'_>, bytes: Option<Vec<u8>>) -> Result<Option<Dictionary>> {
    let params = job.encoder.params;
    bytes
        .map(|bytes| Dictionary::for_encoding(params.compcode as u8, params.clevel as u8, bytes))
        .transpose()
}

/// Returns the first `len` bytes of the filtered blocks.
fn filtered_prefix(job: &Job<'_>, worker: &mut Worker, len: usize) -> Result<Vec<u8>> {
    let mut prefix = Vec::new();
    grown(&mut prefix, len)?;
    let mut filled = 0;
    for nblock in 0..job.nblocks {
        if filled == len {
            break;
        }
        job.encoder
            .with_filtered(worker, nblock, 0, |_, filtered| {
                let taken = filtered.len().min(len - filled);
                prefix[filled..filled + taken].copy_from_slice(&filtered[..taken]);
                filled += taken;
                Ok(())
            })?;
    }
    Ok(prefix)
}
