//! Transposes of bytes and bits in words of 64 bits, for CPUs without a SIMD level.
//!
//! A matrix is eight words: byte `c` of word `r`, counted from the lowest one, is in row `r` and
//! column `c`.

/// Swaps the bits of `a` at `mask << shift` with those of `b` at `mask`.
#[inline(always)]
fn exchange(a: &mut u64, b: &mut u64, shift: u32, mask: u64) {
    let differ = (*a >> shift ^ *b) & mask;
    *b ^= differ;
    *a ^= differ << shift;
}

/// Applies [`exchange`] to the words whose numbers differ in bit `distance`.
#[inline(always)]
fn exchange_all(words: &mut [u64; WORD], distance: usize, shift: u32, mask: u64) {
    for pair in words.chunks_exact_mut(2 * distance) {
        let (low, high) = pair.split_at_mut(distance);
        for (a, b) in low.iter_mut().zip(high) {
            exchange(a, b, shift, mask);
        }
    }
}

/// Transposes a matrix of bytes.
#[inline(always)]
pub(super) fn transpose_bytes(words: &mut [u64; WORD]) {
    exchange_planes::<8>(words);
}

/// Transposes the bits of each column: swaps bit `k` of row `r` with bit `r` of row `k`.
#[inline(always)]
pub(super) fn transpose_bits(words: &mut [u64; WORD]) {
    exchange_all(words, 4, 4, 0x0f0f_0f0f_0f0f_0f0f);
    exchange_all(words, 2, 2, 0x3333_3333_3333_3333);
    exchange_all(words, 1, 1, 0x5555_5555_5555_5555);
}

/// The number of words, and the bytes of one.
pub(super) const WORD: usize = 8;

/// Moves bytes between items of `SIZE` bytes (2, 4 or 8) and planes.
///
/// Word `k` has the items `8 * (k / SIZE) + k % SIZE + SIZE * m`, for the numbers `m` from 0 on.
/// The result has in word `c` byte `c % SIZE` of the eight items from `8 * (c / SIZE)` on, and vice
/// versa.
#[inline(always)]
pub(super) fn exchange_planes<const SIZE: usize>(words: &mut [u64; WORD]) {
    if SIZE == 8 {
        exchange_all(words, 4, 32, 0x0000_0000_ffff_ffff);
    }
    if SIZE >= 4 {
        exchange_all(words, 2, 16, 0x0000_ffff_0000_ffff);
    }
    exchange_all(words, 1, 8, 0x00ff_00ff_00ff_00ff);
}

/// Reads the items of word `k` of [`exchange_planes`]. Item `i` is at `start + i * step`.
#[inline(always)]
pub(super) fn read_items<const SIZE: usize>(
    bytes: &[u8],
    start: usize,
    step: usize,
    k: usize,
) -> u64 {
    let mut word = [0; WORD];
    for (m, item) in word.chunks_exact_mut(SIZE).enumerate() {
        let at = start + (8 * (k / SIZE) + k % SIZE + SIZE * m) * step;
        item.copy_from_slice(&bytes[at..at + SIZE]);
    }
    u64::from_le_bytes(word)
}

/// Writes the items of word `k`, as [`read_items`] reads them.
#[inline(always)]
pub(super) fn write_items<const SIZE: usize>(
    bytes: &mut [u8],
    start: usize,
    step: usize,
    k: usize,
    word: u64,
) {
    for (m, item) in word.to_le_bytes().chunks_exact(SIZE).enumerate() {
        let at = start + (8 * (k / SIZE) + k % SIZE + SIZE * m) * step;
        bytes[at..at + SIZE].copy_from_slice(item);
    }
}

/// Reads eight bytes from `at` on.
#[inline(always)]
pub(super) fn read(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + WORD].try_into().expect("eight bytes"))
}

/// Writes eight bytes from `at` on.
#[inline(always)]
pub(super) fn write(bytes: &mut [u8], at: usize, word: u64) {
    bytes[at..at + WORD].copy_from_slice(&word.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_moves_to_the_mirrored_index() {
        for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
            let mut words = [0; WORD];
            words[row] = 0x5a << (8 * column);
            transpose_bytes(&mut words);
            let mut mirrored = [0; WORD];
            mirrored[column] = 0x5a << (8 * row);
            assert_eq!(words, mirrored);
        }
    }

    #[test]
    fn each_bit_moves_to_the_mirrored_row() {
        for (row, bit) in (0..8).flat_map(|row| (0..8).map(move |bit| (row, bit))) {
            for column in 0..8 {
                let mut words = [0; WORD];
                words[row] = 1 << (8 * column + bit);
                transpose_bits(&mut words);
                let mut mirrored = [0; WORD];
                mirrored[bit] = 1 << (8 * column + row);
                assert_eq!(words, mirrored);
            }
        }
    }
}
