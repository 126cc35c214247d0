//! Dictionaries built from a chunk's own filtered blocks.
//!
//! LZ4 uses the beginning of the filtered data; Zstd trains on samples. Only the blocks that
//! contain the samples are filtered for this.

use super::block::BlockEncoder;
use crate::chunk::format::limits::MAX_DICT_SIZE;
use crate::chunk::worker::state::Worker;
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

/// Builds the dictionary of a chunk. Variable-length blocks are samples; otherwise the samples have
/// equal lengths. Returns `None` if the data are not sufficient.
pub(super) fn build(encoder: &BlockEncoder<'_>, worker: &mut Worker) -> Result<Option<Dictionary>> {
    let is_vl = encoder.is_vl();
    let samples = if is_vl {
        encoder.nblocks
    } else {
        MIN_SAMPLES.max(encoder.nblocks * encoder.full_streams())
    };
    let sample_len = encoder.nbytes / samples / STREAM_PER_SAMPLE;
    let Some(capacity) = capacity(encoder.nbytes) else {
        return Ok(None);
    };
    if samples < MIN_SAMPLES || sample_len == 0 {
        return Ok(None);
    }
    let sampled = if is_vl { encoder.nbytes } else { samples * sample_len };
    let params = encoder.params;
    let bytes = if is_trained(encoder) {
        let data = filtered_prefix(encoder, worker, sampled)?;
        let mut sizes = Vec::new();
        sizes.try_reserve_exact(samples)?;
        sizes.extend((0..samples).map(
            |sample| {
                if is_vl { encoder.block_len(sample) } else { sample_len }
            },
        ));
        Dictionary::train(params.compcode as u8, &data, &sizes, capacity)
    } else {
        Some(filtered_prefix(encoder, worker, sampled.min(capacity))?)
    };
    bytes
        .map(|bytes| Dictionary::for_encoding(params.compcode as u8, params.clevel as u8, bytes))
        .transpose()
}

fn is_trained(encoder: &BlockEncoder<'_>) -> bool {
    codec::info(encoder.params.compcode).is_some_and(CodecInfo::trains_dictionaries)
}

/// Returns the first `len` bytes of the filtered blocks.
fn filtered_prefix(encoder: &BlockEncoder<'_>, worker: &mut Worker, len: usize) -> Result<Vec<u8>> {
    let mut prefix = Vec::new();
    grown(&mut prefix, len)?;
    let mut filled = 0;
    for nblock in 0..encoder.nblocks {
        if filled == len {
            break;
        }
        encoder.with_filtered(worker, nblock, 0, |_, filtered| {
            let taken = filtered.len().min(len - filled);
            prefix[filled..filled + taken].copy_from_slice(&filtered[..taken]);
            filled += taken;
            Ok(())
        })?;
    }
    Ok(prefix)
}
