//! The chunk map: the compression ratio of each chunk, or of groups of chunks.
//!
//! At most [`MAX_CHUNKS`] headers are read, for at most [`PATIENCE`], so the map of a large file
//! may end before its last chunk.

use crate::error::Failure;
use crate::store::Target;
use ferroblosc::escape::escape;
use ferroblosc_formats::convert;
use ferroblosc_tools_common::size::human;
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum number of chunks.
const MAX_CHUNKS: usize = 1 << 20;
/// The maximum time to read their headers.
const PATIENCE: Duration = Duration::from_secs(2);

/// The sizes of a chunk in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub number: u64,
    pub nbytes: u64,
    pub cbytes: u64,
}

/// The chunks of an array.
pub struct ChunkMap {
    pub chunks: Vec<Chunk>,
    /// The reason why the map ends before the last chunk.
    pub note: Option<String>,
}

/// Consecutive chunks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    pub first: u64,
    pub last: u64,
    pub nbytes: u64,
    pub cbytes: u64,
}

impl Group {
    /// Returns the compression ratio.
    pub fn ratio(&self) -> f64 {
        self.nbytes as f64 / self.cbytes.max(1) as f64
    }

    /// Returns a description.
    pub fn text(&self) -> String {
        let (data, stored, ratio) = (human(self.nbytes), human(self.cbytes), self.ratio());
        let numbers = if self.first == self.last {
            format!("chunk {}", self.first)
        } else {
            format!("chunks {}–{}", self.first, self.last)
        };
        format!("{numbers}: {data} → {stored}, ratio {ratio:.2}")
    }
}

/// Collects chunks until a limit is reached.
struct Collector {
    chunks: Vec<Chunk>,
    deadline: Instant,
    is_complete: bool,
}

impl Collector {
    fn new() -> Collector {
        Collector { chunks: Vec::new(), deadline: Instant::now() + PATIENCE, is_complete: true }
    }

    /// Adds a chunk. Returns whether there may be more.
    fn add(&mut self, chunk: Chunk) -> bool {
        self.chunks.push(chunk);
        self.is_complete = self.chunks.len() < MAX_CHUNKS && Instant::now() < self.deadline;
        self.is_complete
    }

    fn finish(self, failure: Option<String>) -> ChunkMap {
        let count = self.chunks.len();
        let note = match failure {
            Some(text) => Some(escape(&text).into_owned()),
            None if self.is_complete => None,
            None => Some(format!("only the first {count} chunks are shown")),
        };
        ChunkMap { chunks: self.chunks, note }
    }
}

fn text_of(failure: Failure) -> String {
    match failure {
        Failure::Error { text, .. } => text,
        Failure::Reported(_) | Failure::BrokenPipe => "unreadable".to_owned(),
    }
}

impl ChunkMap {
    /// Reads the chunks of a file of any format except stores.
    pub fn of_file(path: &Path) -> ChunkMap {
        let mut collector = Collector::new();
        let listed = convert::detect(path).and_then(|found| {
            convert::each_chunk(path, &found, &mut |chunk| {
                let (number, nbytes, cbytes) = (chunk.number, chunk.nbytes, chunk.cbytes);
                collector.add(Chunk { number, nbytes, cbytes })
            })
        });
        collector.finish(listed.err().map(|error| text_of(error.into())))
    }

    /// Reads the chunks of an object in a store.
    pub fn of_object(path: &Path, key: &str) -> ChunkMap {
        let mut collector = Collector::new();
        let read = |collector: &mut Collector| -> Result<(), Failure> {
            let store = Target::object(path, key).open()?;
            let leaf = store.leaf(key)?;
            let schunk = leaf.schunk();
            for number in 0..schunk.nchunks() {
                let sizes = ferroblosc::chunk::sizes(&schunk.chunk(number)?)?;
                let chunk = Chunk {
                    number: number.unsigned_abs(),
                    nbytes: sizes.nbytes as u64,
                    cbytes: sizes.cbytes as u64,
                };
                if !collector.add(chunk) {
                    break;
                }
            }
            Ok(())
        };
        let failure = read(&mut collector).err();
        collector.finish(failure.map(text_of))
    }

    /// Returns at most `most` groups of equal numbers of chunks.
    pub fn groups(&self, most: usize) -> Vec<Group> {
        let size = self.chunks.len().div_ceil(most.max(1)).max(1);
        let group = |chunks: &[Chunk]| Group {
            first: chunks.first().map_or(0, |chunk| chunk.number),
            last: chunks.last().map_or(0, |chunk| chunk.number),
            nbytes: chunks.iter().map(|chunk| chunk.nbytes).sum(),
            cbytes: chunks.iter().map(|chunk| chunk.cbytes).sum(),
        };
        self.chunks.chunks(size).map(group).collect()
    }
}

/// Returns the step of a ratio on a logarithmic scale with `steps` steps: ratios up to 1 are step
/// 0, those from 100 on the last one.
pub fn step(ratio: f64, steps: usize) -> usize {
    let fraction = (ratio.max(1.0).log10() / 2.0).min(1.0);
    ((fraction * steps as f64) as usize).min(steps.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_equal_numbers_of_chunks() {
        let chunk = |number: u64| Chunk { number, nbytes: 100, cbytes: 10 * (number + 1) };
        let map = ChunkMap { chunks: (0..7).map(chunk).collect(), note: None };
        assert_eq!(map.groups(100).len(), 7);
        let groups = map.groups(3);
        let bounds: Vec<(u64, u64)> =
            groups.iter().map(|group| (group.first, group.last)).collect();
        assert_eq!(bounds, [(0, 2), (3, 5), (6, 6)]);
        assert_eq!(groups[0].ratio(), 5.0);
        assert_eq!(groups[2].text(), "chunk 6: 100 B → 70 B, ratio 1.43");
        assert_eq!(groups[0].text(), "chunks 0–2: 300 B → 60 B, ratio 5.00");
        assert!(ChunkMap { chunks: vec![], note: None }.groups(0).is_empty());
    }

    #[test]
    fn steps_of_ratios_are_logarithmic() {
        for (ratio, expected) in
            [(0.5, 0), (1.0, 0), (1.2, 0), (2.0, 1), (10.0, 5), (99.0, 9), (100.0, 9), (1e9, 9)]
        {
            assert_eq!(step(ratio, 10), expected, "{ratio}");
        }
    }
}
