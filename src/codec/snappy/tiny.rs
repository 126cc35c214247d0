//! The shortest Snappy stream for a few bytes.
//!
//! In a stream this short all offsets fit the short form of a copy, so at each position only the
//! longest match matters: any prefix of it can be used, at a price that depends on its length
//! alone. Computed backwards from the end, the minimum price of the rest from each position is
//! exact:
//!
//! ```text
//! copy    2 bytes for 4 to 11 bytes, 3 bytes for 1 to 64
//! literal 1 byte more than its bytes up to 60, 2 bytes more up to 256
//! ```

use super::{Kind, SHORT_LITERAL, Writer};

/// The maximum length of a stream. The work is quadratic in it.
pub(super) const LONGEST: usize = 256;
/// The longest copy that one element encodes, in bytes.
const LONGEST_COPY: usize = 64;
/// The shortest match in bytes; shorter copies never save anything.
const SHORTEST_MATCH: usize = 3;
const HASH_BITS: u32 = 8;
/// Marks an empty entry.
const NONE: u16 = u16::MAX;
/// An infinite price.
const INFINITE: u16 = 1 << 14;

/// The encoder's tables, by position.
pub(super) struct Encoder {
    /// The length of the longest match (0 for none) and its offset.
    matches: [(u8, u16); LONGEST],
    /// The minimum price of the rest.
    prices: [u16; LONGEST + 1],
    /// The minimum price of the rest if it does not begin with a literal, plus the position. The
    /// price of a literal up to there differs from it only by the literal's start and tag.
    copies: [u16; LONGEST + 1],
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder {
            matches: [(0, 0); LONGEST],
            prices: [0; LONGEST + 1],
            copies: [0; LONGEST + 1],
        }
    }
}

impl Encoder {
    /// Writes the stream of `src`, which has at most [`LONGEST`] bytes, to `dest`. Returns its
    /// length, or `None` if it does not fit.
    pub(super) fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        self.find_matches(src);
        self.set_prices(src.len());
        let mut writer = Writer { dest, len: 0 };
        writer.varint(src.len())?;
        let mut at = 0;
        while at < src.len() {
            let (kind, len) = self.element(src, at);
            match kind {
                Kind::Literal(bytes) => writer.literal(bytes)?,
                Kind::Copy(offset) => writer.copy(offset, len)?,
            }
            at += len;
        }
        Some(writer.len)
    }

    fn find_matches(&mut self, src: &[u8]) {
        let mut heads = [NONE; 1 << HASH_BITS];
        let mut previous = [NONE; LONGEST];
        self.matches[..src.len()].fill((0, 0));
        for (at, window) in src.windows(SHORTEST_MATCH).enumerate() {
            let word = u32::from_le_bytes([window[0], window[1], window[2], 0]);
            let hash = word.wrapping_mul(0x9E37_79B1) >> (u32::BITS - HASH_BITS);
            let mut from = std::mem::replace(&mut heads[hash as usize], at as u16);
            previous[at] = from;
            let ahead = &src[at..src.len().min(at + LONGEST_COPY)];
            let mut longest = SHORTEST_MATCH - 1;
            while from != NONE && longest < ahead.len() {
                let back = usize::from(from);
                if src[back + longest] == ahead[longest] {
                    let len = self.common_len(src, back, at, ahead);
                    if len > longest {
                        longest = len;
                        self.matches[at] = (len as u8, (at - back) as u16);
                    }
                }
                from = previous[back];
            }
        }
    }

    /// Returns the number of bytes at `back` equal to `ahead`, which begins at `at`. Reuses the
    /// length of the previous position's match if it has the same offset.
    fn common_len(&self, src: &[u8], back: usize, at: usize, ahead: &[u8]) -> usize {
        let known = match at.checked_sub(1).map(|before| self.matches[before]) {
            Some((len, offset)) if usize::from(offset) == at - back => {
                usize::from(len).saturating_sub(1)
            }
            _ => 0,
        };
        let rest = src[back + known..].iter().zip(&ahead[known..]);
        known + rest.take_while(|(back, here)| back == here).count()
    }

    fn set_prices(&mut self, len: usize) {
        self.prices[len] = 0;
        self.copies[len] = len as u16;
        let mut beyond = INFINITE;
        for at in (0..len).rev() {
            let copy = self.copy_prices(at).min().unwrap_or(INFINITE);
            self.copies[at] = copy + at as u16;
            let near = len.min(at + SHORT_LITERAL);
            if let Some(&price) = self.copies[..=len].get(at + SHORT_LITERAL + 1) {
                beyond = beyond.min(price);
            }
            let short = self.copies[at + 1..=near].iter().copied().min();
            let literal = (short.unwrap_or(INFINITE) + 1).min(beyond + 2) - at as u16;
            self.prices[at] = copy.min(literal);
        }
    }

    /// Returns the prices of the rest from `at` that begin with a copy of 1, 2, 3... bytes.
    fn copy_prices(&self, at: usize) -> impl DoubleEndedIterator<Item = u16> + ExactSizeIterator {
        let longest = usize::from(self.matches[at].0);
        (1..longest + 1).map(move |len| self.prices[at + len] + copy_price(len))
    }

    /// Returns the element at `at` of the cheapest stream, and its number of content bytes. Of
    /// equally cheap copies the longest is used, as in other encoders.
    fn element<'a>(&self, src: &'a [u8], at: usize) -> (Kind<'a>, usize) {
        let price = self.prices[at];
        if let Some(copy) = self.copy_prices(at).rposition(|copy| copy == price) {
            return (Kind::Copy(self.matches[at].1), copy + 1);
        }
        let len = (1..src.len() - at)
            .find(|&len| self.copies[at + len] + literal_tag(len) == price + at as u16)
            .unwrap_or(src.len() - at);
        (Kind::Literal(&src[at..at + len]), len)
    }
}

fn copy_price(len: usize) -> u16 {
    match len {
        4..=11 => 2,
        _ => 3,
    }
}

fn literal_tag(len: usize) -> u16 {
    match len {
        ..=SHORT_LITERAL => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(src: &[u8]) -> Vec<u8> {
        let mut dest = vec![0; snap::raw::max_compress_len(src.len())];
        let len = Encoder::default().encode(src, &mut dest).unwrap();
        dest.truncate(len);
        let back = snap::raw::Decoder::new().decompress_vec(&dest).unwrap();
        assert!(back == src);
        dest
    }

    /// Returns the length of the shortest stream, found by trying every element at every position.
    fn shortest(src: &[u8]) -> usize {
        let mut prices = vec![0; src.len() + 1];
        for at in (0..src.len()).rev() {
            let literals = (1..=src.len() - at)
                .map(|len| prices[at + len] + len + if len > 60 { 2 } else { 1 });
            let copies = (0..at).flat_map(|from| {
                let len = (at..src.len())
                    .zip(from..)
                    .take_while(|&(here, back)| src[here] == src[back])
                    .count();
                let prices = &prices;
                (1..=len.min(64))
                    .map(move |len| prices[at + len] + if (4..=11).contains(&len) { 2 } else { 3 })
            });
            prices[at] = literals.chain(copies).min().unwrap();
        }
        prices[0] + if src.len() < 128 { 1 } else { 2 }
    }

    #[test]
    fn no_valid_stream_is_shorter() {
        let mut random = 7u32;
        for round in 0..120 {
            let values = [2, 3, 6, 40][round % 4];
            let src: Vec<u8> = (0..10 + round * 2)
                .flat_map(|i| {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let run = 1 + (random >> 20) as usize % [1, 9, 30][round % 3];
                    [(random >> 24) as u8 % values + i as u8 / 200; 30]
                        .into_iter()
                        .take(run)
                })
                .take(LONGEST)
                .collect();
            assert_eq!(encode(&src).len(), shortest(&src), "{src:?}");
        }
    }

    #[test]
    fn short_and_long_elements_have_the_right_size() {
        let noise: Vec<u8> = (0..=255u8)
            .map(|i| i.wrapping_mul(151) ^ (i >> 3))
            .collect();
        for (len, size) in [
            (1, 3),
            (60, 62),
            (61, 64),
            (127, 130),
            (128, 132),
            (256, 260),
        ] {
            assert_eq!(encode(&noise[..len]).len(), size, "{len} different bytes");
        }
        for (len, size) in [
            (5, 5),
            (12, 5),
            (13, 6),
            (65, 6),
            (76, 8),
            (256, 2 + 2 + 4 * 3),
        ] {
            assert_eq!(encode(&vec![9; len]).len(), size, "{len} equal bytes");
        }
        assert!(
            Encoder::default()
                .encode(&noise[..60], &mut [0; 61])
                .is_none()
        );
    }
}
