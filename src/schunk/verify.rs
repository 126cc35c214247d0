//! Detection of corruption in a super-chunk.

use super::chunks;
use super::meta::decompress_content;
use super::state::{Layers, State};
use crate::chunk::{ChunkHeader, Special, missing_plugin};
use crate::frame::checksum::{FingerprintStatus, OF_SPECIAL, Table, of_metalayer};
use crate::plugin::{self, Plugin};
use crate::{Buffer, Error, Result, trace_error};
use std::ops::Range;

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of chunks.
    pub nchunks: i64,
    /// The number of chunks that were compared with a checksum.
    pub compared: i64,
    /// The number of chunks without a checksum. They were decompressed, except chunks of one
    /// repeated value and those in `unverified_chunks`.
    pub decompressed: i64,
    /// The indices of chunks that cannot be read, do not match their checksum or cannot be
    /// decompressed, with the errors, in ascending order. [`Error::Data`] is a checksum mismatch.
    /// A range of several chunks refers to the same stored chunk or repeated value.
    pub bad_chunks: Vec<(Range<i64>, Error)>,
    /// The ranges of chunks without a checksum that need a missing plugin and were not verified.
    pub unverified_chunks: Vec<(Range<i64>, Plugin)>,
    /// The names of variable-length metalayers that do not match their checksums or cannot be
    /// decompressed.
    pub bad_vlmetalayers: Vec<Vec<u8>>,
    /// The names of variable-length metalayers that need a missing plugin.
    pub unverified_vlmetalayers: Vec<(Vec<u8>, Plugin)>,
    /// The check of the frame's fingerprint, which covers everything but the chunks.
    pub fingerprint: Fingerprint,
    /// The uncompressed size of all chunks in bytes by their headers, if it differs from the
    /// recorded one. Unknown if a chunk cannot be read.
    pub other_nbytes: Option<i64>,
    /// The item size of all chunks with blocks in bytes, if it differs from the recorded one. This
    /// is not a fault: a program can append such chunks.
    pub other_typesize: Option<u8>,
}

/// The result of checking a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fingerprint {
    /// The frame has no fingerprint.
    None,
    /// Header, index, checksums and trailer are intact.
    Intact,
    /// One of them is corrupted.
    Mismatch,
}

impl Report {
    /// Returns the number of corrupted chunks, metalayers, fingerprints and sizes.
    pub fn faults(&self) -> usize {
        let around = usize::from(self.fingerprint == Fingerprint::Mismatch);
        let chunks = usize::try_from(self.count_bad_chunks()).unwrap_or(usize::MAX);
        let sizes = usize::from(self.other_nbytes.is_some());
        chunks.saturating_add(self.bad_vlmetalayers.len() + around + sizes)
    }

    /// Returns the number of corrupted chunks.
    pub fn count_bad_chunks(&self) -> i64 {
        self.bad_chunks.iter().map(|(numbers, _)| numbers.end - numbers.start).sum()
    }
}

/// Reads all chunks and metalayers. Chunks with a checksum are compared with it, others are
/// decompressed. Corrupted chunks are reported, not returned as errors.
///
/// # Errors
/// Returns the errors of reading header, index and trailer, and system errors;
/// [`Error::MemoryAlloc`].
pub fn verify<S: State + ?Sized>(s: &mut S) -> Result<Report> {
    let seal = match s.frame_mut() {
        Some(frame) => frame.seal()?,
        None => FingerprintStatus::Absent,
    };
    let nchunks = s.counters().nchunks;
    let (fingerprint, table) = match seal {
        FingerprintStatus::Absent => (Fingerprint::None, None),
        FingerprintStatus::Intact(table) => (Fingerprint::Intact, table),
        FingerprintStatus::Broken(table) => (Fingerprint::Mismatch, table),
    };
    let table = table.unwrap_or_default();
    let mut report = Report {
        nchunks,
        compared: 0,
        decompressed: 0,
        bad_chunks: Vec::new(),
        unverified_chunks: Vec::new(),
        unverified_vlmetalayers: Vec::new(),
        bad_vlmetalayers: Vec::new(),
        fingerprint,
        other_nbytes: None,
        other_typesize: None,
    };
    let mut sizes = Sizes::default();
    let has_sums = usize::try_from(nchunks) == Ok(table.chunks.len());
    let mut data = Buffer::new();
    let mut next = 0;
    while next < nchunks {
        let nchunk = next;
        let sum = if has_sums { table.chunks.get(nchunk as usize) } else { None };
        let (result, count) = match sum {
            Some(&sum) if sum != OF_SPECIAL => {
                report.compared += 1;
                (chunks::chunk(s, nchunk).map(|chunk| sizes.add(&chunk, 1)), 1)
            }
            _ => {
                // The result is the same for all of them.
                let count = chunks::equal_run(s, nchunk)?;
                report.decompressed += count;
                (check(s, nchunk..nchunk + count, &mut data, &mut sizes), count)
            }
        };
        next += count;
        if let Err(error) = result {
            if error.is_system_error() {
                return Err(error);
            }
            if plugin::may_be_missing(&error)
                && let Ok(chunk) = chunks::chunk(s, nchunk)
                && let Some(plugin) = missing_in(&chunk)
            {
                report.unverified_chunks.try_reserve(1)?;
                report.unverified_chunks.push((nchunk..next, plugin));
                continue;
            }
            trace_error!("chunk {nchunk}: {error}");
            report.bad_chunks.try_reserve(1)?;
            report.bad_chunks.push((nchunk..next, error));
        }
    }
    verify_vlmetalayers(s, &table, &mut report);
    if report.bad_chunks.is_empty() {
        let counters = s.counters();
        report.other_nbytes = Some(sizes.nbytes).filter(|&nbytes| nbytes != counters.nbytes);
        // Chunks of larger items have items of one byte.
        let recorded = u8::try_from(s.recorded().typesize).unwrap_or(1);
        report.other_typesize = match sizes.typesize {
            Typesize::Same(typesize) if typesize != recorded => Some(typesize),
            _ => None,
        };
    }
    Ok(report)
}

/// The sizes in the headers of chunks.
#[derive(Default)]
struct Sizes {
    nbytes: i64,
    typesize: Typesize,
}

/// The item sizes of chunks with blocks.
#[derive(Clone, Copy, Default)]
enum Typesize {
    /// There is no such chunk.
    #[default]
    None,
    /// All have this size in bytes.
    Same(u8),
    /// Two chunks differ.
    Different,
}

impl Sizes {
    /// Adds `count` chunks with this header. An invalid one is a bad chunk.
    fn add(&mut self, chunk: &[u8], count: i64) {
        let Ok(header) = ChunkHeader::parse(chunk) else {
            return;
        };
        let nbytes = i64::try_from(header.nbytes).unwrap_or(i64::MAX);
        self.nbytes = self.nbytes.saturating_add(nbytes.saturating_mul(count));
        if header.special == Special::None {
            self.typesize = match self.typesize {
                Typesize::None => Typesize::Same(header.basic.typesize),
                Typesize::Same(typesize) if typesize == header.basic.typesize => self.typesize,
                Typesize::Same(_) | Typesize::Different => Typesize::Different,
            };
        }
    }
}

/// Returns the missing plugin that a chunk needs.
fn missing_in(chunk: &[u8]) -> Option<Plugin> {
    missing_plugin(&ChunkHeader::parse(chunk).ok()?)
}

/// Checks equal chunks and adds their sizes. The last chunk can be shorter.
fn check<S: State + ?Sized>(
    s: &S,
    numbers: Range<i64>,
    data: &mut Buffer,
    sizes: &mut Sizes,
) -> Result<()> {
    let chunk = chunks::chunk(s, numbers.start)?;
    sizes.add(&chunk, (numbers.end - 1 - numbers.start).max(1));
    if numbers.end - 1 > numbers.start {
        sizes.add(&chunks::chunk(s, numbers.end - 1)?, 1);
    }
    chunks::check(s, &chunk, data).map_err(|error| chunks::in_chunk(s, numbers.start, error))
}

fn verify_vlmetalayers<S: State + ?Sized>(s: &S, table: &Table, report: &mut Report) {
    s.with_layers(Layers::Variable, &mut |layers| {
        let has_sums = table.vlmetalayers.len() == layers.len();
        for (number, (name, chunk)) in layers.iter().enumerate() {
            let is_right = if has_sums {
                table.vlmetalayers[number] == of_metalayer(name, chunk)
            } else {
                match decompress_content(chunk) {
                    Err(error) if plugin::may_be_missing(&error) => match missing_in(chunk) {
                        Some(plugin) => {
                            let unverified = &mut report.unverified_vlmetalayers;
                            unverified.push((name.to_vec(), plugin));
                            true
                        }
                        None => false,
                    },
                    content => content.is_ok(),
                }
            };
            if !is_right {
                trace_error!("metalayer {} is corrupted", String::from_utf8_lossy(name));
                report.bad_vlmetalayers.push(name.to_vec());
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::meta::vl_add_chunk;
    use super::missing_in;
    use crate::Error;
    use crate::chunk::{CParams, Compressor, DParams, Special, special};
    use crate::schunk::{SChunk, Storage};

    #[test]
    fn zeros_of_the_wrong_stored_size_are_a_fault() {
        let params = CParams::default().typesize(2);
        let mut chunk = [0; 40];
        special::zeros(&params, 400, &mut chunk).unwrap();
        let mut schunk = SChunk::create(Storage::memory(), params, DParams::default()).unwrap();
        schunk.append(&[7; 400]).unwrap();
        // Also stored data of 8 bytes.
        chunk[2] |= 2;
        chunk[12] = 40;
        schunk.append_chunk(&chunk).unwrap();
        let error = schunk.decompress(1, &mut [0; 400]).unwrap_err();
        assert_eq!(schunk.verify().unwrap().bad_chunks, [(1..2, error)]);
    }

    #[test]
    fn sizes_in_the_header_that_differ_from_the_chunks_are_found() {
        for lens in [&[4000_usize, 4000, 4000][..], &[4000, 400, 4000], &[4000, 4000, 1200]] {
            let params = CParams::default().typesize(4);
            let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
            for &len in lens {
                schunk.append(&vec![5; len / 2].repeat(2)).unwrap();
            }
            let nbytes = schunk.nbytes();
            let bytes = schunk.to_bytes().unwrap();
            let opened = |bytes: &[u8]| SChunk::from_bytes(bytes, DParams::default());
            let report = opened(&bytes).unwrap().verify().unwrap();
            assert_eq!((report.other_nbytes, report.other_typesize), (None, None));
            // The offsets of the data size and of the item size.
            let mut damaged = bytes.clone();
            damaged[30..38].copy_from_slice(&(nbytes - 1).to_be_bytes());
            let report = opened(&damaged).unwrap().verify().unwrap();
            assert_eq!(report.faults(), 1, "{lens:?}");
            // Otherwise no chunk has the size of the last one.
            let is_readable = report.bad_chunks.is_empty();
            assert_eq!(report.other_nbytes, is_readable.then_some(nbytes), "{lens:?}");
            damaged = bytes.clone();
            damaged[51] = 8;
            let report = opened(&damaged).unwrap().verify().unwrap();
            assert_eq!((report.other_typesize, report.faults()), (Some(4), 0), "{lens:?}");
        }
    }

    #[test]
    fn nans_of_the_wrong_item_size_are_a_fault() {
        let mut chunk = [0; 32];
        special::nans(&CParams::default().typesize(4), 400, &mut chunk).unwrap();
        let params = CParams::default().typesize(2);
        let mut schunk = SChunk::create(Storage::memory(), params, DParams::default()).unwrap();
        schunk.append(&[7; 400]).unwrap();
        chunk[3] = 2;
        schunk.append_chunk(&chunk).unwrap();
        assert_eq!(schunk.decompress(1, &mut [0; 400]), Err(Error::Data));
        let faults = schunk.verify().unwrap().bad_chunks;
        assert_eq!(faults.len(), 1);
        assert_eq!((faults[0].0.clone(), &faults[0].1), (1..2, &Error::Data));
    }

    /// The chunks between others are counted, and the last one may be shorter.
    #[test]
    fn runs_of_chunks_without_bytes_are_verified_once() {
        let params = CParams::default().typesize(4);
        for has_sums in [false, true] {
            let storage = if has_sums { Storage::frame().checksums() } else { Storage::frame() };
            let mut schunk = SChunk::create(storage, params.clone(), DParams::default()).unwrap();
            schunk.fill(100 * (1 << 18) - 7, Special::Zero, 400).unwrap();
            let report = schunk.verify().unwrap();
            assert_eq!((report.nchunks, report.decompressed), (1 << 18, 1 << 18));
            assert_eq!((report.compared, report.faults()), (0, 0));
        }
        let mut schunk =
            SChunk::create(Storage::frame(), params.clone(), DParams::default()).unwrap();
        schunk.fill(100 * 1000, Special::Zero, 400).unwrap();
        let mut chunk = [0; 32];
        special::nans(&params, 400, &mut chunk).unwrap();
        for number in [0, 1, 3, 998, 999] {
            schunk.update_chunk(number, &chunk).unwrap();
        }
        // A chunk in the middle of zeros whose stored bytes are damaged.
        let mut stored = Compressor::new(params).unwrap().compress_to_vec(&[5; 400]).unwrap();
        let last = stored.len() - 1;
        stored[last] ^= 0x55;
        stored[last - 1] ^= 0x55;
        schunk.update_chunk(500, &stored).unwrap();
        let report = schunk.verify().unwrap();
        let bad = report.bad_chunks.into_iter().flat_map(|(numbers, _)| numbers);
        assert_eq!((report.nchunks, report.decompressed), (1000, 1000));
        assert_eq!(bad.collect::<Vec<i64>>(), [500]);
    }

    /// A small file can list any number of chunks that cannot be read.
    #[test]
    fn equal_chunks_that_cannot_be_read_are_one_range() {
        let params = CParams::default().typesize(4);
        let mut schunk = SChunk::create(Storage::frame(), params, DParams::default()).unwrap();
        schunk.fill(100 * (1 << 18), Special::Nan, 400).unwrap();
        let mut bytes = schunk.to_bytes().unwrap();
        // The item size in the header: items of 2 bytes cannot be NaN.
        bytes[48..52].copy_from_slice(&2_i32.to_be_bytes());
        let mut damaged = SChunk::from_bytes(&bytes, DParams::default()).unwrap();
        let report = damaged.verify().unwrap();
        let bad: Vec<_> = report.bad_chunks.iter().map(|(numbers, _)| numbers.clone()).collect();
        assert_eq!(bad, [0..(1 << 18) - 1, (1 << 18) - 1..1 << 18]);
        assert_eq!(report.faults(), 1 << 18);
    }

    /// A metalayer whose codec is not registered is not a fault, and is copied unchanged.
    #[test]
    fn metalayers_of_unknown_codecs_are_copied_and_not_verified() {
        let params = CParams::default().typesize(1);
        let new = || SChunk::create(Storage::frame(), params.clone(), DParams::default()).unwrap();
        let mut schunk = new();
        let data: Vec<u8> = (0..4000).map(|i| (i / 3 % 251) as u8).collect();
        schunk.append(&data).unwrap();
        schunk.add_vlmetalayer("known", &[5; 1000]).unwrap();
        let mut chunk = schunk.chunk(0).unwrap().to_vec();
        // The codec 0xfe.
        chunk[2] |= 0xe0;
        chunk[22] = 0xfe;
        vl_add_chunk(schunk.state_mut(), b"unknown", &chunk).unwrap();
        assert!(schunk.vlmetalayer("unknown").is_err());

        let report = schunk.verify().unwrap();
        assert!(report.bad_vlmetalayers.is_empty());
        let [(name, plugin)] = &report.unverified_vlmetalayers[..] else {
            panic!("{:?}", report.unverified_vlmetalayers);
        };
        assert_eq!((&name[..], plugin), (&b"unknown"[..], &missing_in(&chunk).unwrap()));

        let mut copy =
            schunk.copy_with(Storage::frame(), params.clone(), DParams::default()).unwrap();
        assert_eq!(copy.vlmetalayer("known").unwrap(), [5; 1000]);
        assert_eq!(copy.verify().unwrap().unverified_vlmetalayers, report.unverified_vlmetalayers);

        // Damage of the chunk is a fault.
        chunk[4] ^= 1;
        vl_add_chunk(schunk.state_mut(), b"damaged", &chunk).unwrap();
        assert_eq!(schunk.verify().unwrap().bad_vlmetalayers, [b"damaged".to_vec()]);
    }
}
