//! The fast encoder for builds without liblz4, and for 32-bit and big-endian systems: greedy
//! matches from a hash table of positions.
//!
//! Its output equals that of liblz4 1.10 with a new state on 64-bit little-endian systems, so that
//! chunks do not depend on the build. This determines the hashes, the order of searches and
//! insertions, the growth of steps, and which outputs count as too long for the destination.

use crate::{Error, Result};

/// The last match starts at least this many bytes before the end.
const MATCH_START_MARGIN: usize = 12;
/// The number of literals at the end.
const LAST_LITERALS: usize = 5;
/// The minimum length of a match, in bytes.
const MIN_MATCH: usize = 4;
/// The largest distance of a match, in bytes.
const MAX_DISTANCE: usize = 65535;
/// The largest length in a token; longer ones continue after it.
const TOKEN_MAX: usize = 15;
/// Inputs of at least this length have 32-bit positions in the table.
const LARGE: usize = (64 << 10) + MATCH_START_MARGIN - 1;
/// Inputs of at least this length start with a cleared table.
const CLEARED: usize = 4 << 10;
/// The logarithm of the number of searched positions after which the step grows by one.
const SKIP_TRIGGER: u32 = 6;

/// The hash table.
#[derive(Default)]
pub(super) struct Table {
    small: Vec<u16>,
    large: Vec<u32>,
    /// Positions in `small` are counted from here; smaller ones are from earlier inputs.
    start: usize,
}

/// The entries of one size.
trait Slots {
    /// Whether distances between positions can exceed [`MAX_DISTANCE`].
    const IS_FAR: bool;
    /// Returns the hash of the string at the start of these bytes.
    fn hash(bytes: u64) -> usize;
    /// Returns the last stored position of a string with this hash, or 0.
    fn get(&self, hash: usize) -> usize;
    /// Stores the position of a string with this hash.
    fn put(&mut self, hash: usize, position: usize);
}

/// The logarithm of the number of 16-bit entries.
const SMALL_BITS: u32 = 13;
/// The logarithm of the number of 32-bit entries.
const LARGE_BITS: u32 = 12;

impl Slots for [u16; 1 << SMALL_BITS] {
    const IS_FAR: bool = false;
    #[inline(always)]
    fn hash(bytes: u64) -> usize {
        ((bytes as u32).wrapping_mul(2_654_435_761) >> (u32::BITS - SMALL_BITS)) as usize
    }
    #[inline(always)]
    fn get(&self, hash: usize) -> usize {
        self[hash].into()
    }
    #[inline(always)]
    fn put(&mut self, hash: usize, position: usize) {
        self[hash] = position as u16;
    }
}

impl Slots for [u32; 1 << LARGE_BITS] {
    const IS_FAR: bool = true;
    #[inline(always)]
    fn hash(bytes: u64) -> usize {
        ((bytes << 24).wrapping_mul(889_523_592_379) >> (u64::BITS - LARGE_BITS)) as usize
    }
    #[inline(always)]
    fn get(&self, hash: usize) -> usize {
        self[hash] as usize
    }
    #[inline(always)]
    fn put(&mut self, hash: usize, position: usize) {
        self[hash] = position as u32;
    }
}

/// Encodes `src`; returns the length of the block, or `None` if it may not fit into `dest`.
pub(super) fn encode(
    table: &mut Table,
    acceleration: u16,
    src: &[u8],
    dest: &mut [u8],
) -> Result<Option<usize>> {
    if src.len() >= LARGE {
        let slots = cleared::<u32, { 1 << LARGE_BITS }>(&mut table.large)?;
        return Ok(sequences::<_, false>(slots, 0, acceleration, src, dest));
    }
    let is_reused = src.len() < CLEARED && table.start + src.len() < MAX_DISTANCE;
    Ok(match <&mut [u16; 1 << SMALL_BITS]>::try_from(table.small.as_mut_slice()) {
        Ok(slots) if is_reused => {
            let start = table.start;
            table.start += src.len();
            sequences::<_, true>(slots, start, acceleration, src, dest)
        }
        _ => {
            table.start = src.len();
            let slots = cleared::<u16, { 1 << SMALL_BITS }>(&mut table.small)?;
            sequences::<_, false>(slots, 0, acceleration, src, dest)
        }
    })
}

/// Returns `slots` with `N` zeros.
fn cleared<T: Copy + Default, const N: usize>(slots: &mut Vec<T>) -> Result<&mut [T; N]> {
    slots.clear();
    slots.try_reserve_exact(N)?;
    slots.resize(N, T::default());
    slots.as_mut_slice().try_into().map_err(|_| Error::MemoryAlloc)
}

/// Returns the eight bytes at `at`.
#[inline(always)]
fn word(src: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*src[at..].first_chunk().expect("8 bytes before the end"))
}
/// Returns the four bytes at `at`.
#[inline(always)]
fn half(src: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*src[at..].first_chunk().expect("4 bytes before the end"))
}

/// Returns the number of equal bytes at `a` and at the earlier `b`, up to `end`.
#[inline(always)]
fn count(src: &[u8], a: usize, b: usize, end: usize) -> usize {
    const STEP: usize = 32;
    if a + STEP > end {
        return count_bytes(&src[a..end], &src[b..]);
    }
    let mut n = 0;
    while n < STEP {
        let diff = word(src, a + n) ^ word(src, b + n);
        if diff != 0 {
            return n + (diff.trailing_zeros() / 8) as usize;
        }
        n += 8;
    }
    let (a, b) = (&src[a + n..end], &src[b + n..]);
    let equal = a.chunks_exact(STEP).zip(b.chunks_exact(STEP)).take_while(|(a, b)| a == b);
    let skipped = STEP * equal.count();
    n + skipped + count_bytes(&a[skipped..], &b[skipped..])
}

/// Returns the number of equal bytes at the start of both.
#[inline]
fn count_bytes(a: &[u8], b: &[u8]) -> usize {
    let words = a.chunks_exact(8).zip(b.chunks_exact(8)).take_while(|(a, b)| a == b).count();
    let skipped = 8 * words;
    skipped + a[skipped..].iter().zip(&b[skipped..]).take_while(|(a, b)| a == b).count()
}

/// Appends the part of a length that exceeds the token.
#[inline(always)]
fn long(dest: &mut [u8], out: &mut usize, mut rest: usize) {
    while rest >= 255 {
        dest[*out] = 255;
        *out += 1;
        rest -= 255;
    }
    dest[*out] = rest as u8;
    *out += 1;
}

/// Encodes `src`; returns `None` if the block may not fit into `dest`. `start` is the position of
/// the first byte of `src` in the table. If `STALE`, the table may have positions of earlier
/// inputs, which are below `start`.
#[inline(always)]
fn sequences<S: Slots, const STALE: bool>(
    table: &mut S,
    start: usize,
    acceleration: u16,
    src: &[u8],
    dest: &mut [u8],
) -> Option<usize> {
    let len = src.len();
    let mut out = 0;
    let mut anchor = 0;
    if len > MATCH_START_MARGIN {
        let search_end = len - MATCH_START_MARGIN + 1;
        let match_end = len - LAST_LITERALS;
        table.put(S::hash(word(src, 0)), start);
        let mut ip = 1;
        let mut next_bytes = word(src, 1);
        'input: loop {
            let (mut forward, mut step, mut attempts) =
                (ip, 1, u32::from(acceleration) << SKIP_TRIGGER);
            let mut at;
            let mut next_hash = S::hash(next_bytes);
            loop {
                let (hash, bytes) = (next_hash, next_bytes);
                ip = forward;
                forward += step;
                step = (attempts >> SKIP_TRIGGER) as usize;
                attempts += 1;
                if forward > search_end {
                    break 'input;
                }
                at = table.get(hash);
                next_bytes = word(src, forward);
                next_hash = S::hash(next_bytes);
                table.put(hash, ip + start);
                if STALE && at < start {
                    continue;
                }
                if S::IS_FAR && at + MAX_DISTANCE < ip + start {
                    continue;
                }
                at -= start;
                if half(src, at) == bytes as u32 {
                    break;
                }
            }
            while at > 0 && ip > anchor && src[at - 1] == src[ip - 1] {
                at -= 1;
                ip -= 1;
            }
            let literals = ip - anchor;
            let mut token = out;
            out += 1;
            if dest.len() < out + literals + 8 + literals / 255 {
                return None;
            }
            let mut code = (literals.min(TOKEN_MAX) << 4) as u8;
            if literals >= TOKEN_MAX {
                long(dest, &mut out, literals - TOKEN_MAX);
            }
            if literals <= 16 && out + 16 <= dest.len() && anchor + 16 <= len {
                dest[out..out + 16].copy_from_slice(&src[anchor..anchor + 16]);
            } else {
                dest[out..out + literals].copy_from_slice(&src[anchor..ip]);
            }
            out += literals;
            loop {
                let distance = ((ip - at) as u16).to_le_bytes();
                dest[out..out + 2].copy_from_slice(&distance);
                out += 2;
                let more = count(src, ip + MIN_MATCH, at + MIN_MATCH, match_end);
                ip += more + MIN_MATCH;
                if dest.len() < out + 6 + (more + 240) / 255 {
                    return None;
                }
                dest[token] = code | more.min(TOKEN_MAX) as u8;
                if more >= TOKEN_MAX {
                    long(dest, &mut out, more - TOKEN_MAX);
                }
                anchor = ip;
                if ip >= search_end {
                    break 'input;
                }
                table.put(S::hash(word(src, ip - 2)), ip - 2 + start);
                let bytes = word(src, ip);
                let hash = S::hash(bytes);
                at = table.get(hash);
                table.put(hash, ip + start);
                if (!STALE || at >= start)
                    && (!S::IS_FAR || at + MAX_DISTANCE >= ip + start)
                    && half(src, at - start) == bytes as u32
                {
                    at -= start;
                    token = out;
                    code = 0;
                    out += 1;
                    continue;
                }
                ip += 1;
                next_bytes = word(src, ip);
                break;
            }
        }
    }
    let last = len - anchor;
    if dest.len() < out + last + 1 + (last + 240) / 255 {
        return None;
    }
    dest[out] = (last.min(TOKEN_MAX) << 4) as u8;
    out += 1;
    if last >= TOKEN_MAX {
        long(dest, &mut out, last - TOKEN_MAX);
    }
    dest[out..out + last].copy_from_slice(&src[anchor..]);
    Some(out + last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::lz4::decode::decode;

    fn inputs() -> Vec<Vec<u8>> {
        let mut state = 1u32;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let lengths = [0, 1, 4, 12, 13, 14, 20, 63, 300, 2000, 4095, 4096, 65_546, 65_547, 200_000];
        let mut inputs = Vec::new();
        for len in lengths {
            inputs.push(vec![7; len]);
            inputs.push((0..len).map(|i| (i / 5) as u8).collect());
            inputs.push((0..len).map(|_| random() as u8).collect());
            inputs.push((0..len).map(|_| (random() % 3) as u8).collect());
            inputs.push((0..len).map(|i| (i as u8) ^ u8::from(random() % 40 == 0)).collect());
            let words: Vec<u32> = (0..40).map(|_| random()).collect();
            let text = std::iter::repeat_with(|| words[random() as usize % 40].to_le_bytes());
            inputs.push(text.flatten().take(len).collect());
        }
        inputs
    }

    #[test]
    fn blocks_are_decoded_to_the_input() {
        let mut table = Table::default();
        for src in inputs() {
            for acceleration in [1, 5, 10] {
                let mut block = vec![0; src.len() + src.len() / 255 + 16];
                let len = encode(&mut table, acceleration, &src, &mut block).unwrap().unwrap();
                let mut back = vec![0; src.len()];
                let result = decode(&block[..len], &mut back, src.len());
                assert_eq!(result, Ok(src.len()), "{} bytes", src.len());
                assert!(back == src, "{} bytes", src.len());
            }
        }
    }

    #[cfg(feature = "lz4")]
    #[test]
    fn blocks_equal_those_of_liblz4() {
        use crate::codec::StreamCodec;
        use crate::codec::lz4::Lz4;

        let (mut table, mut liblz4) = (Table::default(), Lz4::default());
        for src in inputs() {
            let bound = src.len() + src.len() / 255 + 16;
            for level in [1, 5, 9] {
                for capacity in [bound, src.len(), src.len() / 2, src.len() / 7, 20, 3, 1, 0] {
                    let (mut block, mut expected) = (vec![0; capacity], vec![0; capacity]);
                    let acceleration = super::super::acceleration(level);
                    let len = encode(&mut table, acceleration, &src, &mut block).unwrap();
                    let theirs = liblz4.encode(level, None, &src, &mut expected).unwrap();
                    let name = format!("{} bytes into {capacity}", src.len());
                    assert_eq!(len.unwrap_or(0), theirs, "{name}");
                    assert!(block[..theirs] == expected[..theirs], "{name}");
                }
            }
        }
    }
}
