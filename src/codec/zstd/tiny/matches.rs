//! The matches at each position of a short stream.

use super::{LONGEST, SHORTEST_MATCH};

/// What stands at a position stood there before, so far back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) len: u16,
    pub(super) offset: u16,
}

const HASH_BITS: u32 = 10;
/// No position.
const NONE: u16 = u16::MAX;

/// All matches worth a look: at each position each that is longer than all nearer ones, from the nearest on.
pub(super) struct Matches {
    found: Vec<Match>,
    /// Where those of each position begin in `found`.
    starts: Vec<usize>,
    /// The last position with each hash, and for each position the one before with the same.
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
        let mut before = Match { len: 0, offset: 0 };
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
            let continued = before;
            before.len = 0;
            while from != NONE && at + longest < src.len() {
                let back = usize::from(from);
                if src[back + longest] == src[at + longest] {
                    let offset = (at - back) as u16;
                    let len = if offset == continued.offset && continued.len > 0 {
                        usize::from(continued.len) - 1
                    } else {
                        common(src, back, at)
                    };
                    if len > longest {
                        longest = len;
                        before = Match {
                            len: len as u16,
                            offset,
                        };
                        self.found.push(before);
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

/// How many bytes from `back` on are the same as those from `here` on, which is further on.
pub(super) fn common(src: &[u8], back: usize, here: usize) -> usize {
    const WORD: usize = size_of::<u64>();
    let word = |at: usize| {
        let bytes = src.get(at..)?.first_chunk::<WORD>()?;
        Some(u64::from_le_bytes(*bytes))
    };
    let mut len = 0;
    while let Some(ahead) = word(here + len)
        && let Some(behind) = word(back + len)
    {
        let different = ahead ^ behind;
        if different != 0 {
            return len + (different.trailing_zeros() / u8::BITS) as usize;
        }
        len += WORD;
    }
    let rest = src[here + len..].iter().zip(&src[back + len..]);
    len + rest.take_while(|(ahead, behind)| ahead == behind).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_grow_from_the_nearest_on() {
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
    fn what_is_common_ends_at_the_first_difference_and_at_the_end() {
        let mut src = [5; 100];
        assert_eq!(common(&src, 0, 1), 99);
        assert_eq!(common(&src, 0, 93), 7);
        src[50] = 6;
        assert_eq!(common(&src, 20, 30), 20);
        assert_eq!(common(&src, 0, 48), 2);
    }
}
