//! Generated contents, one for each kind of data that the format treats differently.
//!
//! Everything derives from a seed, so that the name of a failing cell reproduces it.

/// A small pseudo-random number generator (SplitMix64) with a fixed sequence.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator that depends only on `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns the next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.word() % bound as u64) as usize
    }

    /// Returns a number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns a digest of bytes (FNV-1a), to compare results across processes.
pub fn digest(bytes: &[u8]) -> i64 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash as i64
}

/// A kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// All zeros.
    Zeros,
    /// One byte value, not zero.
    Constant,
    /// One item value, repeated.
    ConstantItem,
    /// Increasing integers.
    Ramp,
    /// Incompressible bytes.
    Random,
    /// Words and punctuation.
    Text,
    /// Integers that increase by small random steps.
    Sorted,
    /// A random walk of floats.
    Walk,
    /// One item in a hundred is not zero.
    Sparse,
    /// Runs of one byte, of random lengths.
    Runs,
    /// Ranges of all other kinds.
    Mixed,
    /// Random bytes followed by zeros.
    HalfRandom,
}

impl Content {
    /// Every kind.
    pub const ALL: [Content; 12] = [
        Content::Zeros,
        Content::Constant,
        Content::ConstantItem,
        Content::Ramp,
        Content::Random,
        Content::Text,
        Content::Sorted,
        Content::Walk,
        Content::Sparse,
        Content::Runs,
        Content::Mixed,
        Content::HalfRandom,
    ];

    /// Returns `len` bytes of items of `typesize` bytes.
    pub fn make(self, len: usize, typesize: usize, seed: u64) -> Vec<u8> {
        let mut random = Random::new(seed);
        match self {
            Content::Zeros => vec![0; len],
            Content::Constant => vec![1 + random.below(255) as u8; len],
            Content::ConstantItem => {
                let item: Vec<u8> = (0..typesize).map(|_| random.word() as u8).collect();
                item.into_iter().cycle().take(len).collect()
            }
            Content::Ramp => {
                let step = 1 + random.below(9) as u64;
                items(len, typesize, |i| i * step)
            }
            Content::Random => (0..len).map(|_| random.word() as u8).collect(),
            Content::Text => text(len, &mut random),
            Content::Sorted => {
                let mut value = random.word() >> 40;
                items(len, typesize, |_| {
                    value += random.below(5) as u64;
                    value
                })
            }
            Content::Walk => {
                let mut value = 100.0;
                items(len, typesize, |_| {
                    value += random.unit() - 0.5;
                    if typesize == 4 {
                        u64::from((value as f32).to_bits())
                    } else {
                        f64::to_bits(value)
                    }
                })
            }
            Content::Sparse => {
                items(
                    len,
                    typesize,
                    |_| {
                        if random.below(100) == 0 { random.word() >> 48 } else { 0 }
                    },
                )
            }
            Content::Runs => {
                let mut bytes = Vec::with_capacity(len);
                while bytes.len() < len {
                    let run = (1 + random.below(2000)).min(len - bytes.len());
                    bytes.resize(bytes.len() + run, random.word() as u8);
                }
                bytes
            }
            Content::Mixed => {
                let mut bytes = Vec::with_capacity(len);
                while bytes.len() < len {
                    let run = (1 + random.below(20_000)).min(len - bytes.len());
                    let kind = Content::ALL[random.below(10)];
                    bytes.extend(kind.make(run, typesize, random.word()));
                }
                bytes
            }
            Content::HalfRandom => {
                let mut bytes = Content::Random.make(len / 2, typesize, seed);
                bytes.resize(len, 0);
                bytes
            }
        }
    }
}

/// Returns items of any size with little-endian integers; the last one may be truncated.
fn items(len: usize, typesize: usize, mut value: impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + typesize);
    let mut index = 0;
    while bytes.len() < len {
        let word = value(index).to_le_bytes();
        let end = bytes.len() + typesize;
        bytes.extend_from_slice(&word[..typesize.min(8)]);
        bytes.resize(end, 0);
        index += 1;
    }
    bytes.truncate(len);
    bytes
}

fn text(len: usize, random: &mut Random) -> Vec<u8> {
    const WORDS: [&str; 24] = [
        "ocean",
        "relief",
        "depth",
        "mean",
        "of",
        "the",
        "and",
        "temperature",
        "salinity",
        "at",
        "a",
        "station",
        "in",
        "monthly",
        "grid",
        "surface",
        "wind",
        "is",
        "was",
        "measured",
        "north",
        "latitude",
        "per",
        "level",
    ];
    let mut bytes = Vec::with_capacity(len + 16);
    while bytes.len() < len {
        bytes.extend_from_slice(WORDS[random.below(WORDS.len())].as_bytes());
        bytes.extend_from_slice(match random.below(12) {
            0 => b", ",
            1 => b".\n",
            _ => b" ",
        });
    }
    bytes.truncate(len);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_content_has_the_requested_length_and_depends_on_the_seed() {
        for content in Content::ALL {
            for (len, typesize) in [(0, 1), (1, 8), (33, 4), (10_007, 300)] {
                let bytes = content.make(len, typesize, 7);
                assert_eq!(bytes.len(), len);
                assert_eq!(bytes, content.make(len, typesize, 7));
            }
        }
    }
}
