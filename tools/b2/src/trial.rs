//! The choice of the item size and of the filter for bytes of unknown structure.
//!
//! A sample is compressed with each candidate, and the smallest result decides. Candidates are: no
//! filter; shuffle with items of 1, 2, 4 and 8 bytes; shuffle with the width of the records, if the
//! sample seems to consist of records of equal size. Shuffle does not change items of one byte, but
//! the automatic block size depends on the filter. If the filters are given, only the item size is
//! chosen.
//!
//! The sample has the size of a chunk, but at most [`SAMPLE_BYTES`]. It consists of four segments
//! of equal size that are distributed over a regular file, or over the first [`PREFIX_BYTES`] of
//! other inputs. A quarter of the sample is compressed with all candidates, the whole sample only
//! with those that are close to the best one.

use crate::settings::without_schunk;
use ferroblosc::chunk::Compressor;
use ferroblosc::filter::{self, Slot};
use ferroblosc::os::files;
use ferroblosc_formats::convert::Compression;
use std::fs::File;
use std::io::Write;

/// The maximum size of a sample in bytes.
pub const SAMPLE_BYTES: usize = 1 << 20;
/// The number of bytes of an input that is not a regular file from which the sample is taken.
pub const PREFIX_BYTES: usize = 16 << 20;
/// The number of segments of a sample.
const SEGMENTS: usize = 4;
/// A sample of at most this size in bytes is compressed as a whole with all candidates.
const SMALL_SAMPLE: usize = 256 << 10;
/// A candidate whose result for a quarter of the sample exceeds the smallest one by more than this
/// percentage is dropped.
const CLOSE_PERCENT: usize = 10;
/// The number of bytes in which the width of records is searched.
const WINDOW: usize = 16 << 10;
/// The maximum width of a record: the largest item size of a chunk.
const MAX_WIDTH: usize = 255;

/// An item size and the filters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The size of an item in bytes.
    pub typesize: u8,
    /// The filters in the order of compression.
    pub filters: Vec<Slot>,
}

/// Returns the width of the records in the middle of `data`: the shortest distance at which
/// considerably more bytes are equal than at most other distances.
fn record_width(data: &[u8]) -> Option<u8> {
    let skip = data.len().saturating_sub(WINDOW) / 2;
    let window = &data[skip..data.len().min(skip + WINDOW)];
    if window.len() < 4 * MAX_WIDTH {
        return None;
    }
    let compared = window.len() - MAX_WIDTH;
    let equal = |width: usize| {
        let pairs = window[width..width + compared].iter().zip(window);
        pairs.map(|(one, other)| usize::from(one == other)).sum()
    };
    let counts: Vec<usize> = (1..=MAX_WIDTH).map(equal).collect();
    let most = *counts.iter().max()?;
    let mut sorted = counts.clone();
    sorted.sort_unstable();
    let usual = sorted[sorted.len() / 2];
    if most - usual < compared / 20 {
        return None;
    }
    // Multiples of the width have about as many equal bytes.
    let close = usual + (most - usual) / 8 * 7;
    let shortest = counts.iter().position(|&count| count >= close)?;
    u8::try_from(shortest + 1).ok()
}

/// Returns segments that are distributed over `len` bytes, or none if `read` fails. The offsets of
/// the segments are multiples of `unit` bytes.
fn segments(
    len: u64,
    (size, unit): (usize, usize),
    read: impl Fn(&mut [u8], u64) -> std::io::Result<()>,
) -> Option<Vec<u8>> {
    let segment = size / SEGMENTS / unit * unit;
    let mut sample = vec![0; SEGMENTS * segment];
    let last = (len - segment as u64) / unit as u64;
    for (number, dest) in sample.chunks_exact_mut(segment).enumerate() {
        let at = last * number as u64 / (SEGMENTS as u64 - 1) * unit as u64;
        read(dest, at).ok()?;
    }
    Some(sample)
}

/// Returns the first quarter of each segment.
fn quarter(sample: &[u8]) -> Vec<u8> {
    let segment = sample.len().div_ceil(SEGMENTS);
    // A multiple of most item sizes.
    let size = (segment / SEGMENTS).next_multiple_of(840).min(segment);
    let heads = sample.chunks(segment).map(|segment| &segment[..size.min(segment.len())]);
    heads.collect::<Vec<_>>().concat()
}

/// Returns the size of the compressed sample.
fn trial(
    sample: &[u8],
    choice: &Choice,
    base: &Compression,
    nthreads: i16,
    dest: &mut Vec<u8>,
) -> ferroblosc::Result<usize> {
    let mut compression = base.clone();
    compression.filters = without_schunk(&choice.filters, choice.typesize);
    let params = compression.params(choice.typesize.into(), nthreads);
    dest.resize(sample.len() + ferroblosc::chunk::MAX_OVERHEAD, 0);
    Compressor::new(params)?.compress(sample, dest)
}

/// Returns the best choice for data that begin with `first`. `file` is the regular file that
/// contains the data, if there is one, with its size in bytes. `size` is the size of a chunk in
/// bytes. If `is_fixed` is true, the filters of `base` are used.
pub fn choose(
    first: &[u8],
    file: Option<(&File, u64)>,
    size: usize,
    base: &Compression,
    is_fixed: bool,
    nthreads: i16,
) -> ferroblosc::Result<Choice> {
    let shuffle = vec![Slot { id: filter::id::SHUFFLE, meta: 0 }];
    let with = |typesize: u8| Choice {
        typesize,
        filters: if is_fixed { base.filters.clone() } else { shuffle.clone() },
    };
    let unfiltered = Choice { typesize: 1, filters: Vec::new() };
    let simplest = if is_fixed { with(1) } else { unfiltered };
    if first.is_empty() || base.level == 0 {
        return Ok(simplest);
    }
    let start = &first[..first.len().min(SAMPLE_BYTES).min(size)];
    let width = record_width(start);
    let mut sizes = vec![1, 2, 4, 8];
    sizes.extend(width.filter(|width| !sizes.contains(width)));
    let unit = 8 * usize::from(width.unwrap_or(1));
    let request = (start.len(), unit);
    let is_longer = |len: u64| len > start.len() as u64 && start.len() > SEGMENTS * unit;
    let distributed = match file {
        Some((file, len)) if is_longer(len) => {
            segments(len, request, |dest, at| files::read_exact_at(file, at, dest))
        }
        None if is_longer(first.len() as u64) => {
            segments(first.len() as u64, request, |mut dest, at| {
                let (at, len) = (at as usize, dest.len());
                dest.write_all(&first[at..at + len])
            })
        }
        _ => None,
    };
    let sample = distributed.as_deref().unwrap_or(start);
    let mut candidates = vec![simplest.clone()];
    candidates.extend(sizes.into_iter().map(with).filter(|choice| *choice != simplest));
    let mut dest = Vec::new();
    if sample.len() > SMALL_SAMPLE {
        let short = quarter(sample);
        let results: Vec<usize> = candidates
            .iter()
            .map(|choice| trial(&short, choice, base, nthreads, &mut dest))
            .collect::<ferroblosc::Result<_>>()?;
        let smallest = results.iter().min().copied().unwrap_or(0);
        let mut results = results.into_iter();
        candidates.retain(|_| {
            results.next().is_some_and(|size| size <= smallest + smallest / 100 * CLOSE_PERCENT)
        });
    }
    let mut best = None;
    for choice in candidates {
        let size = trial(sample, &choice, base, nthreads, &mut dest)?;
        if best.as_ref().is_none_or(|(smallest, _)| size < *smallest) {
            best = Some((size, choice));
        }
    }
    Ok(best.map_or(simplest, |(_, choice)| choice))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers without a pattern.
    fn noise(len: usize) -> Vec<u64> {
        let mut state = 1u64;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 40
        };
        (0..len).map(next).collect()
    }

    fn chosen(data: &[u8]) -> Choice {
        choose(data, None, 1 << 20, &Compression::default(), false, 1).unwrap()
    }

    #[test]
    fn numbers_are_shuffled_by_their_size() {
        let floats: Vec<u8> = noise(50_000)
            .iter()
            .zip(0..)
            .flat_map(|(&noise, i)| ((i as f32 / 500.0).sin() + noise as f32 * 1e-10).to_le_bytes())
            .collect();
        assert_eq!(chosen(&floats).typesize, 4);
        assert!(!chosen(&floats).filters.is_empty());
        let doubles: Vec<u8> =
            noise(50_000).iter().flat_map(|&n| (n as f64 * 1.5).to_le_bytes()).collect();
        assert_eq!(chosen(&doubles).typesize, 8);
    }

    #[test]
    fn text_is_not_shuffled() {
        let lines: String =
            noise(20_000).iter().map(|n| format!("{},word{},{n}\n", n % 1000, n % 7)).collect();
        assert_eq!(chosen(lines.as_bytes()).typesize, 1);
        assert_eq!(chosen(b""), Choice { typesize: 1, filters: Vec::new() });
    }

    #[test]
    fn the_width_of_records_is_found() {
        let mut records = Vec::new();
        for (i, n) in noise(20_000).iter().enumerate() {
            records.extend((i as u32).to_le_bytes());
            records.extend((*n as f64).to_le_bytes());
            records.extend((*n as u16).to_be_bytes());
        }
        assert_eq!(record_width(&records), Some(14));
        assert_eq!(chosen(&records).typesize, 14);
        let lines: String = (0..20_000).map(|i| format!("{i:08}\n")).collect();
        assert_eq!(record_width(lines.as_bytes()), Some(9));
        assert_eq!(record_width(&[0; 100_000]), None);
        assert_eq!(record_width(&noise(20_000).iter().map(|n| *n as u8).collect::<Vec<_>>()), None);
    }

    #[test]
    fn a_sample_of_a_file_is_taken_from_all_of_it() {
        // A megabyte of text, followed by three megabytes of numbers.
        let lines = noise(100_000).into_iter();
        let mut data: Vec<u8> =
            lines.flat_map(|n| format!("{},word{},{n}\n", n % 1000, n % 7).into_bytes()).collect();
        data.truncate(1 << 20);
        let numbers = noise(800_000).into_iter().map(|n| n as u32 % 1000);
        data.extend(numbers.flat_map(u32::to_le_bytes));
        let path = std::env::temp_dir().join(format!("b2-trial-{}", std::process::id()));
        std::fs::write(&path, &data).unwrap();
        let file = File::open(&path).unwrap();
        let base = Compression::default();
        let size = data.len() as u64;
        let found = choose(&data[..1 << 20], Some((&file, size)), 1 << 20, &base, false, 1);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found.unwrap().typesize, 4);
        assert_eq!(chosen(&data[..1 << 20]).typesize, 1);
        // Without a file, the sample is taken from all bytes that were read.
        assert_eq!(chosen(&data).typesize, 4);
    }
}
