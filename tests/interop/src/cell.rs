//! One combination of parameters.
//!
//! A cell is a value index per dimension and a seed for its data. Its name (`lz4 level 5 …
//! [1.5.3.4.12.0.3.0.2.0.0@7]`) ends in these numbers. `FERROBLOSC_CELL`, set to the text in
//! brackets, runs only that cell.

use std::fmt;
use std::str::FromStr;

use crate::check::HEADER;
use crate::data::{Content, Random};
use crate::ffi::{Cparams, MAX_FILTERS};

/// Codecs by name and code.
pub const CODECS: [(&str, u8); 5] =
    [("blosclz", 0), ("lz4", 1), ("lz4hc", 2), ("zlib", 4), ("zstd", 5)];

const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
/// The id of the delta filter.
pub const DELTA: u8 = 3;
/// The id of the filter that zeroes mantissa bits.
pub const TRUNC_PREC: u8 = 4;
const BYTEDELTA: u8 = 35;
/// The id of the filter that zeroes integer bits.
pub const INT_TRUNC: u8 = 36;

/// Filters with their parameter bytes, in the order they are applied.
const PIPELINES: [&[(u8, i8)]; 20] = [
    &[],
    &[(SHUFFLE, 0)],
    &[(BITSHUFFLE, 0)],
    &[(DELTA, 0)],
    &[(DELTA, 0), (SHUFFLE, 0)],
    &[(DELTA, 0), (BITSHUFFLE, 0)],
    &[(SHUFFLE, 0), (DELTA, 0)],
    &[(DELTA, 0), (DELTA, 0)],
    &[(TRUNC_PREC, 10)],
    &[(TRUNC_PREC, -8), (SHUFFLE, 0)],
    &[(TRUNC_PREC, 10), (DELTA, 0)],
    &[(INT_TRUNC, -3), (SHUFFLE, 0)],
    &[(SHUFFLE, 2)],
    &[(SHUFFLE, 7), (BITSHUFFLE, 0)],
    &[(SHUFFLE, 0), (BYTEDELTA, 4)],
    &[(BITSHUFFLE, 0), (BYTEDELTA, 3)],
    &[(BITSHUFFLE, 0), (SHUFFLE, 0)],
    &[(TRUNC_PREC, 5), (SHUFFLE, 0), (BYTEDELTA, 8)],
    &[(DELTA, 0), (SHUFFLE, 0), (DELTA, 0)],
    &[(SHUFFLE, 0), (BITSHUFFLE, 0), (DELTA, 0), (SHUFFLE, 3), (BYTEDELTA, 2), (BITSHUFFLE, 0)],
];

const TYPESIZES: [i32; 15] = [1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 32, 100, 255, 256, 300];

/// The size of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    /// A number of bytes.
    Bytes(usize),
    /// A number of blocks, plus or minus a number of bytes.
    Blocks(usize, isize),
}

const SIZES: [Size; 22] = [
    Size::Bytes(0),
    Size::Bytes(1),
    Size::Bytes(15),
    Size::Bytes(16),
    Size::Bytes(17),
    Size::Bytes(31),
    Size::Bytes(32),
    Size::Bytes(33),
    Size::Bytes(300),
    Size::Bytes(1000),
    Size::Bytes(10_007),
    Size::Bytes(65_536),
    Size::Bytes(100_000),
    Size::Bytes(1 << 20),
    Size::Bytes((1 << 20) + 13),
    Size::Blocks(1, -1),
    Size::Blocks(1, 0),
    Size::Blocks(1, 1),
    Size::Blocks(3, -1),
    Size::Blocks(3, 0),
    Size::Blocks(3, 1),
    Size::Blocks(3, 20),
];

const THREADS: [i16; 3] = [1, 2, 4];
const SPLIT_MODES: [i32; 4] = [1, 2, 3, 4];
const BLOCKSIZES: [i32; 8] = [0, 16, 100, 1000, 4096, 4099, 65_536, 1 << 20];

/// Descriptions of the destination's size in a cell's name.
const CAPACITY_NAMES: [&str; 3] = ["", " ample room", " little room"];

/// The number of values of each dimension, in the order of a cell's numbers: codec, level,
/// pipeline, typesize, size, threads, split mode, block size, content, destination, dictionary.
pub const DIMENSIONS: [usize; 11] = [
    CODECS.len(),
    10,
    PIPELINES.len(),
    TYPESIZES.len(),
    SIZES.len(),
    THREADS.len(),
    SPLIT_MODES.len(),
    BLOCKSIZES.len(),
    Content::ALL.len(),
    CAPACITY_NAMES.len(),
    2,
];

/// The values of each dimension that the reference handles correctly: pipelines of one or two
/// lossless filters, automatic block sizes, large destinations, no dictionary.
pub const SOUND: [&[usize]; DIMENSIONS.len()] = [
    &[0, 1, 2, 3, 4],
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    &[0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16],
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21],
    &[0, 1, 2],
    &[0, 1, 2, 3],
    &[0],
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    &[0, 1],
    &[0],
];

/// One combination of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    picks: [usize; DIMENSIONS.len()],
    seed: u64,
}

impl Cell {
    /// Returns the cell with these value indices.
    ///
    /// # Panics
    /// Panics if the number of indices is not the number of dimensions.
    pub fn new(picks: &[usize], seed: u64) -> Cell {
        Cell { picks: picks.try_into().expect("one index per dimension"), seed }
    }

    /// Returns a random cell, with equal probability one of the [`SOUND`] ones or any.
    pub fn random(random: &mut Random) -> Cell {
        let picks = match random.below(2) {
            0 => SOUND.map(|values| values[random.below(values.len())]),
            _ => DIMENSIONS.map(|values| random.below(values)),
        };
        Cell { picks, seed: random.word() >> 32 }
    }

    /// Returns the cell with another value in one dimension.
    pub fn with(mut self, dimension: usize, value: usize) -> Cell {
        self.picks[dimension] = value;
        self
    }

    /// Returns the filters with their parameter bytes, in the order they are applied.
    pub(crate) fn pipeline(&self) -> &'static [(u8, i8)] {
        PIPELINES[self.picks[2]]
    }

    pub(crate) fn size(&self) -> Size {
        SIZES[self.picks[4]]
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the codec's index in [`CODECS`].
    pub fn codec_index(&self) -> usize {
        self.picks[0]
    }

    /// Returns the codec's name.
    pub fn codec_name(&self) -> &'static str {
        CODECS[self.picks[0]].0
    }

    /// Returns the compression level.
    pub fn level(&self) -> u8 {
        self.picks[1] as u8
    }

    /// Returns the filter ids in the order they are applied.
    pub fn filters(&self) -> Vec<u8> {
        PIPELINES[self.picks[2]].iter().map(|&(id, _)| id).collect()
    }

    /// Returns the requested typesize in bytes.
    pub fn typesize(&self) -> usize {
        TYPESIZES[self.picks[3]] as usize
    }

    /// Returns the typesize as stored in chunks, in bytes.
    pub fn stored_typesize(&self) -> usize {
        if self.typesize() > 255 { 1 } else { self.typesize() }
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> i16 {
        THREADS[self.picks[5]]
    }

    /// Whether all blocks are split into streams.
    pub fn always_split(&self) -> bool {
        SPLIT_MODES[self.picks[6]] == 1
    }

    pub(crate) fn forced_blocksize(&self) -> usize {
        BLOCKSIZES[self.picks[7]] as usize
    }

    pub(crate) fn content(&self) -> Content {
        Content::ALL[self.picks[8]]
    }

    /// Returns the size of the destination in bytes: always sufficient, ample, or too small for
    /// poorly compressible data.
    pub(crate) fn capacity(&self, nbytes: usize) -> usize {
        match self.picks[9] {
            0 => nbytes + HEADER,
            1 => nbytes + HEADER + nbytes / 2 + 4096,
            _ => nbytes / 4 * 3 + HEADER,
        }
    }

    /// Whether the destination may be too small.
    pub fn tight(&self) -> bool {
        self.picks[9] == 2
    }

    /// Whether a dictionary is requested.
    pub fn dictionary(&self) -> bool {
        self.picks[10] == 1
    }

    /// Whether the forced block size makes the reference write a wrong header (C3).
    pub fn has_ragged_blocksize(&self, nbytes: usize) -> bool {
        let forced = self.forced_blocksize();
        let header = forced.min(nbytes);
        let typesize = self.typesize();
        forced != 0
            && (nbytes < typesize || (header > typesize && !header.is_multiple_of(typesize)))
    }

    pub(crate) fn codec_has_dictionaries(&self) -> bool {
        matches!(self.codec_name(), "lz4" | "lz4hc" | "zstd")
    }

    pub(crate) fn a_filter_refuses_the_typesize(&self) -> bool {
        let typesize = self.stored_typesize();
        self.filters().iter().any(|&filter| match filter {
            TRUNC_PREC => !matches!(typesize, 4 | 8),
            INT_TRUNC => !matches!(typesize, 1 | 2 | 4 | 8),
            _ => false,
        })
    }

    /// Returns the parameters for a library.
    pub fn cparams(&self) -> Cparams {
        let pipeline = PIPELINES[self.picks[2]];
        let mut cparams = Cparams {
            compcode: CODECS[self.picks[0]].1,
            clevel: self.level(),
            use_dict: i32::from(self.dictionary()),
            typesize: TYPESIZES[self.picks[3]],
            nthreads: self.threads(),
            blocksize: BLOCKSIZES[self.picks[7]],
            splitmode: SPLIT_MODES[self.picks[6]],
            filters: [0; MAX_FILTERS],
            ..Cparams::default()
        };
        let first = MAX_FILTERS - pipeline.len();
        for (slot, &(id, meta)) in pipeline.iter().enumerate() {
            cparams.filters[first + slot] = id;
            cparams.filters_meta[first + slot] = meta as u8;
        }
        cparams
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.picks.iter().map(usize::to_string).collect();
        write!(
            f,
            "{} level {} filters {:?} typesize {} {:?} threads {} split {} blocksize {} {:?}{}{} [{}@{}]",
            self.codec_name(),
            self.level(),
            PIPELINES[self.picks[2]],
            self.typesize(),
            SIZES[self.picks[4]],
            self.threads(),
            SPLIT_MODES[self.picks[6]],
            self.forced_blocksize(),
            self.content(),
            CAPACITY_NAMES[self.picks[9]],
            if self.dictionary() { " dictionary" } else { "" },
            numbers.join("."),
            self.seed,
        )
    }
}

impl FromStr for Cell {
    type Err = String;

    /// Parses the text in brackets at the end of a cell's name.
    fn from_str(text: &str) -> Result<Cell, String> {
        let (numbers, seed) = text.split_once('@').ok_or("a cell is NUMBERS@SEED")?;
        let picks: Vec<usize> = numbers
            .split('.')
            .map(|number| number.parse().map_err(|_| format!("{number:?} is not a number")))
            .collect::<Result<_, _>>()?;
        if picks.len() != DIMENSIONS.len()
            || picks.iter().zip(DIMENSIONS).any(|(&pick, values)| pick >= values)
        {
            return Err(format!("{text:?} has other dimensions"));
        }
        let seed = seed.parse().map_err(|_| format!("{seed:?} is not a seed"))?;
        Ok(Cell::new(&picks, seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_can_be_recreated_from_its_name() {
        let mut random = Random::new(3);
        for _ in 0..100 {
            let cell = Cell::random(&mut random);
            let name = cell.to_string();
            let numbers = name.rsplit_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
            assert_eq!(numbers.unwrap_or_default().parse(), Ok(cell));
        }
    }
}
