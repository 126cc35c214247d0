//! The shortest Snappy stream for a few bytes.
//!
//! In a stream this short every offset fits the short form of a copy, so all that counts of the matches at a
//! position is the longest: any part of it can be taken, and the price depends on the part's length alone. Going
//! backwards, the price of what is left from each position on is then exact, be it a copy or literals that come
//! first:
//!
//! ```text
//! copy    2 bytes for 4 to 11 bytes, 3 bytes for 1 to 64
//! literal 1 byte more than its bytes up to 60, 2 bytes more up to 256
//! ```

use super::{Kind, SHORT_LITERAL, Writer};

/// The longest stream this is for. The work grows with the square of the length.
pub(super) const LONGEST: usize = 256;
/// Longer copies are several elements.
const LONGEST_COPY: usize = 64;
/// A copy of less never pays.
const SHORTEST_MATCH: usize = 3;
const HASH_BITS: u32 = 8;
/// No position.
const NONE: u16 = u16::MAX;
/// The price of what can't be had.
const NEVER: u16 = 1 << 14;

/// What the encoder knows of each position.
pub(super) struct Positions {
    /// How long the longest match there is, 0 for none, and from how far back.
    matches: [(u8, u16); LONGEST],
    /// The price of all from there on.
    prices: [u16; LONGEST + 1],
    /// The price of all from there on if it does not begin with a literal, plus the position: so the price of
    /// literals up to there differs from it by nothing that depends on there.
    copies: [u16; LONGEST + 1],
}

impl Default for Positions {
    fn default() -> Positions {
        Positions {
            matches: [(0, 0); LONGEST],
            prices: [0; LONGEST + 1],
            copies: [0; LONGEST + 1],
        }
    }
}

impl Positions {
    /// Writes the stream of `src`, which has at most [`LONGEST`] bytes, to `dest`. Gives its length, or nothing
    /// if it does not fit.
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
                    let len = self.common(src, back, at, ahead);
                    if len > longest {
                        longest = len;
                        self.matches[at] = (len as u8, (at - back) as u16);
                    }
                }
                from = previous[back];
            }
        }
    }

    /// How many bytes of `ahead`, which begins at `at`, stand at `back` too. The match of the position before is
    /// of use if it is from as far back and was not cut.
    fn common(&self, src: &[u8], back: usize, at: usize, ahead: &[u8]) -> usize {
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
        let mut beyond = NEVER;
        for at in (0..len).rev() {
            let copy = self.copy_prices(at).min().unwrap_or(NEVER);
            self.copies[at] = copy + at as u16;
            let near = len.min(at + SHORT_LITERAL);
            if let Some(&price) = self.copies[..=len].get(at + SHORT_LITERAL + 1) {
                beyond = beyond.min(price);
            }
            let short = self.copies[at + 1..=near].iter().copied().min();
            let literal = (short.unwrap_or(NEVER) + 1).min(beyond + 2) - at as u16;
            self.prices[at] = copy.min(literal);
        }
    }

    /// The prices from `at` on with a copy of 1, 2, 3... bytes first.
    fn copy_prices(&self, at: usize) -> impl DoubleEndedIterator<Item = u16> + ExactSizeIterator {
        let longest = usize::from(self.matches[at].0);
        (1..longest + 1).map(move |len| self.prices[at + len] + copy_price(len))
    }

    /// The element at `at` of the cheapest stream, and how many bytes it stands for: of copies that come to the
    /// same, the longest, as other encoders have it.
    fn element<'a>(&self, src: &'a [u8], at: usize) -> (Kind<'a>, usize) {
        let price = self.prices[at];
        if let Some(part) = self.copy_prices(at).rposition(|copy| copy == price) {
            return (Kind::Copy(self.matches[at].1), part + 1);
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
        let len = Positions::default().encode(src, &mut dest).unwrap();
        dest.truncate(len);
        let back = snap::raw::Decoder::new().decompress_vec(&dest).unwrap();
        assert!(back == src);
        dest
    }

    /// The length of the shortest stream by trying every element at every position.
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
    fn no_stream_of_the_format_is_shorter() {
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
    fn short_and_long_elements_are_told_apart() {
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
            Positions::default()
                .encode(&noise[..60], &mut [0; 61])
                .is_none()
        );
    }
}
