//! Ratio and speed of settings for a sample: measurements, Pareto fronts, and the best setting for
//! a goal. `bench` and `--auto` use it.
//!
//! Times are compared with a model of storage: the time to read is that to transfer the compressed
//! bytes and to decompress them, the time to write that to compress and to transfer them.

use crate::cli::{CodecName, FilterName, Goal};
use crate::error::Failure;
use crate::settings::without_schunk;
use ferroblosc::Error;
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::filter::Slot;
use std::time::{Duration, Instant};

/// The bandwidth of storage for the goals `read` and `write`, in bytes per second: a disk.
const DISK: f64 = 1e9;
/// The bandwidth of storage for the goal `balanced`, in bytes per second: a network.
const NETWORK: f64 = 1e8;
/// The maximum number of calls in a measurement; the shortest is reported.
const ROUNDS: usize = 20;
/// The number of calls after which a measurement that took [`ENOUGH`] ends.
const FEW_ROUNDS: usize = 3;
/// Shorter measurements are repeated.
const ENOUGH: Duration = Duration::from_millis(30);

/// A codec, a level and a filter.
#[derive(Clone, Copy)]
pub struct Setting {
    pub codec: CodecName,
    pub level: u8,
    pub filter: FilterName,
}

impl Setting {
    /// Returns the text `lz4 5 shuffle`.
    pub fn text(&self) -> String {
        format!("{} {} {}", self.codec.name(), self.level, self.filter.name())
    }

    /// Returns the filters in the order of compression.
    pub fn filters(&self) -> Vec<Slot> {
        self.filter.slot().into_iter().collect()
    }
}

/// Returns all combinations, in the order of codecs, filters and levels.
pub fn combinations(codecs: &[CodecName], filters: &[FilterName], levels: &[u8]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for &codec in codecs {
        for &filter in filters {
            settings.extend(levels.iter().map(|&level| Setting { codec, level, filter }));
        }
    }
    settings
}

/// Returns the filters that are compared by default: none, shuffle and bitshuffle.
pub fn common_filters() -> Vec<FilterName> {
    let common = ["none", "shuffle", "bitshuffle"];
    FilterName::all().filter(|filter| common.contains(&filter.name())).collect()
}

/// A sample and the form in which it is compressed.
pub struct Sample<'a> {
    pub data: &'a [u8],
    /// The size of an item in bytes, `1..=255`.
    pub typesize: u8,
    /// The size of a chunk in bytes.
    pub chunk: usize,
    pub nthreads: usize,
}

/// The sizes and times of one setting for a sample. The times are zero if they were not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// The size of the sample in bytes.
    pub nbytes: usize,
    /// The size of all compressed chunks in bytes.
    pub cbytes: usize,
    pub compress: Duration,
    pub decompress: Duration,
}

impl Figure {
    /// Returns the compression ratio.
    pub fn ratio(&self) -> f64 {
        self.nbytes as f64 / self.cbytes.max(1) as f64
    }

    /// Returns the speed of compression in MB/s.
    pub fn compress_speed(&self) -> f64 {
        self.nbytes as f64 / 1e6 / self.compress.as_secs_f64().max(1e-9)
    }

    /// Returns the speed of decompression in MB/s.
    pub fn decompress_speed(&self) -> f64 {
        self.nbytes as f64 / 1e6 / self.decompress.as_secs_f64().max(1e-9)
    }

    /// Returns the cost for a goal; the setting with the least cost is the best.
    fn cost(&self, goal: Goal) -> f64 {
        let cbytes = self.cbytes as f64;
        match goal {
            Goal::Read => cbytes / DISK + self.decompress.as_secs_f64(),
            Goal::Write => cbytes / DISK + self.compress.as_secs_f64(),
            Goal::Size => cbytes,
            Goal::Balanced => {
                2.0 * cbytes / NETWORK + (self.compress + self.decompress).as_secs_f64()
            }
        }
    }
}

/// Returns the index of the best figure for a goal: the first of those with the least cost.
pub fn best(figures: &[Figure], goal: Goal) -> Option<usize> {
    let costs = figures.iter().map(|figure| figure.cost(goal)).enumerate();
    costs.reduce(|best, next| if next.1 < best.1 { next } else { best }).map(|(index, _)| index)
}

/// Returns for each figure whether it is on the Pareto front of size and a time: no other figure is
/// better in one and at least as good in the other.
pub fn front(figures: &[Figure], time: impl Fn(&Figure) -> Duration) -> Vec<bool> {
    let is_better = |one: &Figure, other: &Figure| {
        (one.cbytes < other.cbytes && time(one) <= time(other))
            || (one.cbytes <= other.cbytes && time(one) < time(other))
    };
    let is_on = |figure: &Figure| !figures.iter().any(|other| is_better(other, figure));
    figures.iter().map(is_on).collect()
}

/// Returns a buffer of zeros.
pub fn buffer(len: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(Error::from)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Returns the shortest time of several calls. There is at least one call; no further one begins
/// after the end of `budget`.
fn shortest_time(
    budget: Duration,
    mut call: impl FnMut() -> Result<(), Error>,
) -> Result<Duration, Failure> {
    let begin = Instant::now();
    let mut shortest = Duration::MAX;
    for round in 1..=ROUNDS {
        let start = Instant::now();
        call()?;
        shortest = shortest.min(start.elapsed());
        let spent = begin.elapsed();
        if spent + shortest > budget || (round >= FEW_ROUNDS && spent > ENOUGH) {
            break;
        }
    }
    Ok(shortest)
}

/// The buffers of measurements: compressed chunks and decompressed data.
pub struct Bench<'a> {
    sample: Sample<'a>,
    chunks: Vec<Vec<u8>>,
    back: Vec<u8>,
}

impl<'a> Bench<'a> {
    /// Prepares measurements of a sample. The buffers have about twice its size.
    pub fn new(sample: Sample<'a>) -> Result<Bench<'a>, Failure> {
        let chunks = sample.data.chunks(sample.chunk.max(1));
        let chunks = chunks.map(|plain| buffer(plain.len() + ferroblosc::chunk::MAX_OVERHEAD));
        let chunks = chunks.collect::<Result<_, _>>()?;
        let back = buffer(sample.data.len())?;
        Ok(Bench { sample, chunks, back })
    }

    fn compressor(&self, setting: &Setting) -> Result<Compressor, Failure> {
        let params = CParams::default()
            .codec(setting.codec.id())
            .level(setting.level)
            .filters(&without_schunk(&setting.filters(), self.sample.typesize))
            .typesize(self.sample.typesize.into())
            .threads(i16::try_from(self.sample.nthreads).unwrap_or(i16::MAX));
        Ok(Compressor::new(params)?)
    }

    /// Compresses the sample once. Only the sizes of the result are set. Errors name the setting.
    pub fn size(&mut self, setting: &Setting) -> Result<Figure, Failure> {
        self.find_size(setting).map_err(|failure| failure.of(&setting.text()))
    }

    fn find_size(&mut self, setting: &Setting) -> Result<Figure, Failure> {
        let mut compressor = self.compressor(setting)?;
        let mut cbytes = 0;
        let plain = self.sample.data.chunks(self.sample.chunk.max(1));
        for (plain, dest) in plain.zip(&mut self.chunks) {
            cbytes += compressor.compress(plain, dest)?;
        }
        Ok(Figure { nbytes: self.sample.data.len(), cbytes, ..Figure::default() })
    }

    /// Compresses and decompresses the sample, several times if `budget` permits it. The data that
    /// the last call returned are compared with the sample. Errors name the setting.
    pub fn measure(&mut self, setting: &Setting, budget: Duration) -> Result<Figure, Failure> {
        self.find_times(setting, budget).map_err(|failure| failure.of(&setting.text()))
    }

    fn find_times(&mut self, setting: &Setting, budget: Duration) -> Result<Figure, Failure> {
        let mut compressor = self.compressor(setting)?;
        let nthreads = i16::try_from(self.sample.nthreads).unwrap_or(i16::MAX);
        let mut decompressor = Decompressor::new(DParams::default().threads(nthreads));
        let (data, chunk) = (self.sample.data, self.sample.chunk.max(1));
        let mut lengths = vec![0; self.chunks.len()];
        let chunks = &mut self.chunks;
        let compress = shortest_time(budget / 2, || {
            let dests = chunks.iter_mut().zip(&mut lengths);
            for (plain, (dest, len)) in data.chunks(chunk).zip(dests) {
                *len = compressor.compress(plain, dest)?;
            }
            Ok(())
        })?;
        let back = &mut self.back;
        let decompress = shortest_time(budget / 2, || {
            for ((plain, stored), len) in back.chunks_mut(chunk).zip(&*chunks).zip(&lengths) {
                decompressor.decompress(&stored[..*len], plain)?;
            }
            Ok(())
        })?;
        if self.back != data {
            return Err(Failure::new("the decompressed data differ from the original"));
        }
        Ok(Figure { nbytes: data.len(), cbytes: lengths.iter().sum(), compress, decompress })
    }
}

/// Returns the offsets of the chunks of a sample of at most `limit` bytes that are distributed over
/// `len` bytes, and the size of the data in them. Offsets are multiples of `chunk` bytes; the first
/// and the last complete chunk belong to the sample, if it has several.
pub fn sample_offsets(len: u64, chunk: u64, limit: u64) -> (Vec<u64>, u64) {
    let chunk = chunk.max(1);
    if len <= limit || len <= chunk {
        let chunks = len.div_ceil(chunk);
        return ((0..chunks).map(|number| number * chunk).collect(), len.min(limit.max(chunk)));
    }
    let complete = len / chunk;
    let count = (limit / chunk).clamp(1, complete);
    let last = u128::from(complete - 1);
    let offset = |number: u64| match count {
        1 => 0,
        _ => (last * u128::from(number) / u128::from(count - 1)) as u64 * chunk,
    };
    ((0..count).map(offset).collect(), count * chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(cbytes: usize, compress: u64, decompress: u64) -> Figure {
        let (compress, decompress) =
            (Duration::from_micros(compress), Duration::from_micros(decompress));
        Figure { nbytes: 1_000_000, cbytes, compress, decompress }
    }

    #[test]
    fn fronts_have_the_figures_that_no_other_one_dominates() {
        let figures = [
            figure(100, 50, 9),
            figure(200, 20, 9),
            figure(200, 30, 8),
            figure(300, 40, 5),
            figure(300, 10, 5),
        ];
        let reading = front(&figures, |figure| figure.decompress);
        assert_eq!(reading, [true, false, true, true, true]);
        let writing = front(&figures, |figure| figure.compress);
        assert_eq!(writing, [true, true, false, false, true]);
        assert_eq!(front(&[], |figure| figure.compress), [false; 0]);
    }

    #[test]
    fn goals_weigh_times_and_sizes() {
        // A dense slow one, a fast one, one that is written fast and read slowly, and a copy.
        let figures = [
            figure(100_000, 500_000, 2_000),
            figure(300_000, 2_500, 100),
            figure(320_000, 1_000, 5_000),
            figure(1_000_016, 80, 80),
        ];
        assert_eq!(best(&figures, Goal::Size), Some(0));
        assert_eq!(best(&figures, Goal::Read), Some(1));
        assert_eq!(best(&figures, Goal::Write), Some(3));
        assert_eq!(best(&figures, Goal::Balanced), Some(1));
        // The first of equal ones.
        assert_eq!(best(&[figures[1], figures[1]], Goal::Read), Some(0));
        assert_eq!(best(&[], Goal::Read), None);
    }

    #[test]
    fn samples_are_distributed_over_the_data() {
        assert_eq!(sample_offsets(10, 4, 100), (vec![0, 4, 8], 10));
        assert_eq!(sample_offsets(100, 10, 30), (vec![0, 40, 90], 30));
        assert_eq!(sample_offsets(105, 10, 30), (vec![0, 40, 90], 30));
        assert_eq!(sample_offsets(100, 10, 5), (vec![0], 10));
        assert_eq!(sample_offsets(0, 10, 5), (vec![], 0));
        let (offsets, size) = sample_offsets(u64::MAX, 1 << 20, 3 << 20);
        assert_eq!((offsets.len(), size), (3, 3 << 20));
        assert!(offsets[2] <= u64::MAX - (1 << 20));
    }

    #[test]
    fn errors_of_measurements_name_the_setting() {
        // The filter needs the shape of an array.
        let filter = ferroblosc::filter::all().find(|filter| filter.needs_shape).unwrap();
        let (codec, filter) = (CodecName::all().next().unwrap(), FilterName(Some(filter)));
        let setting = Setting { codec, level: 5, filter };
        let data = [1; 1000];
        let sample = Sample { data: &data, typesize: 4, chunk: 1000, nthreads: 1 };
        let mut bench = Bench::new(sample).unwrap();
        let expected = format!("{}: a filter failed", setting.text());
        for result in [bench.size(&setting), bench.measure(&setting, Duration::ZERO)] {
            match result {
                Err(Failure::Error { text, .. }) => assert!(text.starts_with(&expected), "{text}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_measurement_ends_with_its_budget() {
        let mut calls = 0;
        let slow = || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(3));
            Ok(())
        };
        assert!(shortest_time(Duration::ZERO, slow).unwrap() >= Duration::from_millis(3));
        assert_eq!(calls, 1);
        let mut calls = 0;
        let fast = || {
            calls += 1;
            Ok(())
        };
        shortest_time(Duration::from_secs(60), fast).unwrap();
        assert_eq!(calls, ROUNDS);
    }
}
