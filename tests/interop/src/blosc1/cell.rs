//! One combination of parameters for Blosc 1.x, and its checks.

use std::ffi::{CString, c_int};
use std::fmt;
use std::ops::Range;

use super::Library;
use crate::data::{Content, Random};
use crate::tally::Report;

/// Codec names, indexed by code.
pub const CODECS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
const LEVELS: usize = 10;
const SHUFFLES: usize = 3;
const TYPESIZES: [usize; 15] = [1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 24, 33, 255, 256, 300];
const SIZES: [usize; 20] = [
    0,
    1,
    7,
    16,
    100,
    127,
    128,
    129,
    1000,
    1003,
    4096,
    10_007,
    32_767,
    65_536,
    100_000,
    262_144,
    300_001,
    641_091,
    1 << 20,
    2_500_003,
];
const THREADS: [c_int; 4] = [1, 2, 3, 4];
const SPLIT_MODES: usize = 4;
const ALWAYS_SPLIT: c_int = 1;
const BLOCKSIZES: [usize; 14] =
    [0, 1, 16, 50, 100, 128, 200, 256, 1000, 4096, 4099, 65_536, 100_000, 1 << 20];
/// The indexes in [`BLOCKSIZES`] of 16 to 256 bytes.
const SHORT_BLOCKSIZES: Range<usize> = 2..8;
/// The indexes in [`SIZES`] of sizes that result in a few to some hundred such blocks.
const SHORT_BLOCK_SIZES: Range<usize> = 4..12;

/// The number of values of each dimension: codec, level, shuffle, typesize, size, threads, split
/// mode, block size, content.
pub const DIMENSIONS: [usize; 9] = [
    CODECS.len(),
    LEVELS,
    SHUFFLES,
    TYPESIZES.len(),
    SIZES.len(),
    THREADS.len(),
    SPLIT_MODES,
    BLOCKSIZES.len(),
    Content::ALL.len(),
];

const HEADER: usize = 16;
const MEMCPYED: u8 = 0x02;
/// The maximum number of streams of a split block in Blosc 1.x.
const MAX_STREAMS: usize = 16;
const MIN_STREAM: usize = 128;
/// The allowed excess of a chunk's size over the reference's: a factor and a number of bytes.
const SIZE_SLACK: (f64, f64) = (1.02, 16.0);
/// The allowed excess with a block size of [`SHORT_BLOCKSIZES`] and one of [`OTHER_LIBRARIES`] (row
/// L16). Such cells do not count for the mean ratio.
const SHORT_BLOCK_SLACK: (f64, f64) = (1.25, 16.0);
/// The codecs whose library differs from the reference's in version or implementation.
const OTHER_LIBRARIES: [&str; 2] = ["snappy", "zstd"];

/// One combination of parameters.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    picks: [usize; DIMENSIONS.len()],
    seed: u64,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} level {} shuffle {} typesize {} of {} bytes, {} threads, split mode {}, block size {}, {:?} {}",
            self.codec_name(),
            self.level(),
            self.picks[2],
            self.typesize(),
            self.nbytes(),
            self.threads(),
            self.splitmode(),
            self.blocksize(),
            self.content(),
            self.seed,
        )
    }
}

impl Cell {
    /// Returns the cell with these value indices.
    ///
    /// # Panics
    /// Panics if the number of indices is not the number of dimensions.
    pub fn new(picks: &[usize], seed: u64) -> Cell {
        let picks = picks.try_into().expect("one index per dimension");
        Cell { picks, seed }
    }

    /// Returns a random cell.
    pub fn random(random: &mut Random) -> Cell {
        Cell { picks: DIMENSIONS.map(|values| random.below(values)), seed: random.word() >> 32 }
    }

    /// Returns a random cell with a block size of `SHORT_BLOCKSIZES` and one of
    /// `OTHER_LIBRARIES`.
    pub fn random_with_short_blocks(random: &mut Random) -> Cell {
        let mut cell = Cell::random(random);
        let name = OTHER_LIBRARIES[random.below(OTHER_LIBRARIES.len())];
        let codec = CODECS.iter().position(|&other| other == name);
        cell.picks[0] = codec.expect("a codec");
        cell.picks[1] = 1 + random.below(LEVELS - 1);
        cell.picks[4] = SHORT_BLOCK_SIZES.start + random.below(SHORT_BLOCK_SIZES.len());
        cell.picks[7] = SHORT_BLOCKSIZES.start + random.below(SHORT_BLOCKSIZES.len());
        cell
    }

    /// Returns the codec's index in [`CODECS`].
    pub fn codec(&self) -> usize {
        self.picks[0]
    }

    fn codec_name(&self) -> &'static str {
        CODECS[self.codec()]
    }

    /// Returns the level.
    pub fn level(&self) -> usize {
        self.picks[1]
    }

    fn typesize(&self) -> usize {
        TYPESIZES[self.picks[3]]
    }

    /// Returns the typesize as stored in a header.
    fn items(&self) -> usize {
        match self.typesize() {
            256.. => 1,
            typesize => typesize,
        }
    }

    fn nbytes(&self) -> usize {
        SIZES[self.picks[4]]
    }

    fn threads(&self) -> c_int {
        THREADS[self.picks[5]]
    }

    fn splitmode(&self) -> c_int {
        1 + self.picks[6] as c_int
    }

    fn blocksize(&self) -> usize {
        BLOCKSIZES[self.picks[7]]
    }

    fn content(&self) -> Content {
        Content::ALL[self.picks[8]]
    }

    fn compress(
        &self,
        library: &Library,
        source: &[u8],
        threads: c_int,
    ) -> Result<Vec<u8>, String> {
        let codec = CString::new(self.codec_name()).expect("no NUL");
        let mut chunk = vec![0xA5; source.len() + HEADER];
        // SAFETY: the length of every buffer is passed.
        let size = unsafe {
            (library.blosc_set_splitmode)(self.splitmode());
            (library.blosc_compress_ctx)(
                self.level() as c_int,
                self.picks[2] as c_int,
                self.typesize(),
                source.len(),
                source.as_ptr().cast(),
                chunk.as_mut_ptr().cast(),
                chunk.len(),
                codec.as_ptr(),
                self.blocksize(),
                threads,
            )
        };
        if size <= 0 {
            return Err(format!("{} compresses to {size}", library.name));
        }
        chunk.truncate(size as usize);
        Ok(chunk)
    }

    fn reads_back(&self, reader: &Library, chunk: &[u8], source: &[u8]) -> Result<(), String> {
        let mut back = vec![0x5A; source.len()];
        let size = reader.decompress(chunk, &mut back, self.threads());
        if usize::try_from(size) != Ok(source.len()) {
            return Err(format!("{} decompresses to {size}", reader.name));
        }
        if back != source {
            return Err(format!("{} decompresses to other bytes", reader.name));
        }
        Ok(())
    }

    fn same_items(&self, libraries: [&Library; 2], chunk: &[u8]) -> Result<(), String> {
        let count = self.nbytes() / self.items();
        let mut random = Random::new(self.seed);
        for _ in 0..4 {
            let start = random.below(count + 2);
            let nitems = random.below(count + 2 - start.min(count));
            let get = |library: &Library| {
                let mut dest = vec![0; nitems * self.items()];
                // SAFETY: the chunk is valid, and the buffer has space for the items.
                let size = unsafe {
                    (library.blosc_getitem)(
                        chunk.as_ptr().cast(),
                        start as c_int,
                        nitems as c_int,
                        dest.as_mut_ptr().cast(),
                    )
                };
                (size, dest)
            };
            if get(libraries[0]) != get(libraries[1]) {
                return Err(format!("{nitems} items from {start} on differ"));
            }
        }
        Ok(())
    }

    /// Compresses with both libraries, decodes both chunks with both, and compares sizes and
    /// headers.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn check(&self, ours: &Library, reference: &Library) -> Result<Report, String> {
        let source = self.content().make(self.nbytes(), self.items(), self.seed);
        let mine = self.compress(ours, &source, self.threads())?;
        let serial = self.compress(ours, &source, 1)?;
        if mine != serial {
            return Err("the number of threads changes the chunk".to_owned());
        }
        let theirs = self.compress(reference, &source, 1)?;
        for chunk in [&mine, &theirs] {
            self.reads_back(ours, chunk, &source)?;
        }
        self.reads_back(reference, &mine, &source)?;
        let mut nbytes = 0;
        // SAFETY: the chunk's length is passed.
        let code = unsafe {
            (reference.blosc_cbuffer_validate)(mine.as_ptr().cast(), mine.len(), &mut nbytes)
        };
        if code != 0 || nbytes != source.len() {
            return Err(format!("validation returns {code} and {nbytes} bytes"));
        }
        self.same_items([ours, reference], &mine)?;
        // Row L11: the reference splits such blocks and then cannot read them.
        let blocksize = u32::from_le_bytes([mine[8], mine[9], mine[10], mine[11]]) as usize;
        let is_guarded = self.items() > MAX_STREAMS || blocksize / self.items() < MIN_STREAM;
        if self.splitmode() == ALWAYS_SPLIT && is_guarded {
            return Ok(Report::default());
        }
        self.reads_back(reference, &theirs, &source)?;
        if (mine[2] ^ theirs[2]) & !MEMCPYED != 0
            || mine[..2] != theirs[..2]
            || mine[3..12] != theirs[3..12]
        {
            return Err(format!("the header is {:02x?}, not {:02x?}", &mine[..12], &theirs[..12]));
        }
        let has_short_blocks = SHORT_BLOCKSIZES.contains(&self.picks[7])
            && OTHER_LIBRARIES.contains(&self.codec_name());
        let (part, bytes) = if has_short_blocks { SHORT_BLOCK_SLACK } else { SIZE_SLACK };
        let allowed = part * theirs.len() as f64 + bytes;
        if mine.len() as f64 > allowed {
            return Err(format!("{} bytes, not {}", mine.len(), theirs.len()));
        }
        if has_short_blocks {
            return Ok(Report::default());
        }
        Ok(Report {
            ours: mine.len() as i64,
            reference: theirs.len() as i64,
            comparable_bytes: self.codec_name() == "blosclz",
            identical: mine == theirs,
        })
    }
}
