//! The matches at each position of a short stream.

use super::{LONGEST, SHORTEST_MATCH};

/// A match of `len` bytes at distance `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) len: u16,
    pub(super) offset: u16,
}

const HASH_BITS: u32 = 10;
/// Marks an empty entry.
const NONE: u16 = u16::MAX;

/// All useful matches: at each position, those longer than all nearer ones, nearest first.
pub(super) struct Matches {
    found: Vec<Match>,
    /// The index in `found` of the first match of each position.
    starts: Vec<usize>,
    /// The last position for each hash, and for each position the previous one with the same hash.
    heads: [u16; 1 << HASH_BITS],
    previous: [u16; LONGEST],
}

impl Default for Matches {
    fn default() -> Matches {
        Matches {
            found: Vec::new(),
            starts: Vec::new(),
            heads: [NONE; 1 << HASH_BITS],
            previous: [NONE; LONGEST],
        }
    }
}

impl Matches {
    pub(super) fn find(&mut self, src: &[u8]) {
        self.found.clear();
        self.starts.clear();
        self.heads.fill(NONE);
        let mut previous_match = Match { len: 0, offset: 0 };
        for at in 0..src.len() {
            self.starts.push(self.found.len());
            let Some(&[a, b, c]) = src[at..].first_chunk() else {
                continue;
            };
            let hash =
                u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS);
            let head = &mut self.heads[hash as usize];
            let mut from = std::mem::replace(head, at as u16);
            self.previous[at] = from;
            let mut longest = SHORTEST_MATCH - 1;
            let continued = previous_match;
            previous_match.len = 0;
            while from != NONE && at + longest < src.len() {
                let back = usize::from(from);
                if src[back + longest] == src[at + longest] {
                    let offset = (at - back) as u16;
                    let len = if offset == continued.offset && continued.len > 0 {
                        usize::from(continued.len) - 1
                    } else {
                        common_len(src, back, at)
                    };
                    if len > longest {
                        longest = len;
                        previous_match = Match {
                            len: len as u16,
                            offset,
                        };
                        self.found.push(previous_match);
                    }
                }
                from = self.previous[back];
            }
        }
        self.starts.push(self.found.len());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn at(&self, position: usize) -> &[Match] {
        &self.found[self.starts[position]..self.starts[position + 1]]
    }
}

/// Returns the number of equal bytes from `back` and from `here`, which must be after `back`.
pub(super) fn common_len(src: &[u8], back: usize, here: usize) -> usize {
    const WORD: usize = size_of::<u64>();
    let word = |at: usize| {
        let bytes = src.get(at..)?.first_chunk::<WORD>()?;
        Some(u64::from_le_bytes(*bytes))
    };
    let mut len = 0;
    while let Some(new) = word(here + len)
        && let Some(old) = word(back + len)
    {
        let differing = new ^ old;
        if differing != 0 {
            return len + (differing.trailing_zeros() / u8::BITS) as usize;
        }
        len += WORD;
    }
    let rest = src[here + len..].iter().zip(&src[back + len..]);
    len + rest.take_while(|(new, old)| new == old).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_sorted_by_distance_and_length() {
        let mut matches = Matches::default();
        let src = b"abcdefghij abcdef abcd abcdefgh";
        matches.find(src);
        let last = src.len() - 8;
        let expected = [(4, 5), (6, 12), (8, 23)].map(|(len, offset)| Match { len, offset });
        assert_eq!(matches.at(last), expected);
        assert!(matches.at(0).is_empty());
        assert!(matches.at(src.len() - 1).is_empty());
    }

    #[test]
    fn common_bytes_end_at_the_first_difference_or_the_end() {
        let mut src = [5; 100];
        assert_eq!(common_len(&src, 0, 1), 99);
        assert_eq!(common_len(&src, 0, 93), 7);
        src[50] = 6;
        assert_eq!(common_len(&src, 20, 30), 20);
        assert_eq!(common_len(&src, 0, 48), 2);
    }
}
