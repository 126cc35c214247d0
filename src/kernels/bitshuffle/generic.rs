//! The bit shuffle in words of 64 bits.

use crate::kernels::words::{
    WORD, exchange_planes, read, read_items, transpose_bits, transpose_bytes, write, write_items,
};
use std::array::from_fn;

/// Groups of eight items in a tile of items of 8 bytes.
const GROUPS: usize = WORD;

/// Transposes `rows * 8` items: bit `k` of byte `j` of item `i` becomes bit `i % 8` of byte `i / 8`
/// of row `8 * j + k`; a row is `rows` bytes.
pub(super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8], rows: usize) {
    let done = match typesize {
        1 => bitshuffle_bytes(src, dest, rows),
        2 => bitshuffle_tiles::<2>(src, dest, rows),
        4 => bitshuffle_tiles::<4>(src, dest, rows),
        8 => bitshuffle_tiles::<8>(src, dest, rows),
        _ => bitshuffle_columns(typesize, src, dest, rows),
    };
    for (r, items) in src.chunks_exact(8 * typesize).enumerate().skip(done) {
        for j in 0..typesize {
            let bytes: [u8; 8] = from_fn(|e| items[e * typesize + j]);
            for (k, byte) in transpose(bytes).into_iter().enumerate() {
                dest[(8 * j + k) * rows + r] = byte;
            }
        }
    }
}

/// Transposes the groups of whole tiles of items of one byte; returns their number.
fn bitshuffle_bytes(src: &[u8], dest: &mut [u8], rows: usize) -> usize {
    let mut done = 0;
    for tile in src.as_chunks::<{ 8 * GROUPS }>().0 {
        // Word `e` has item `8 * r + e` in byte `r`.
        let mut words = from_fn(|r| read(tile, 8 * r));
        transpose_bytes(&mut words);
        transpose_bits(&mut words);
        for (k, word) in words.into_iter().enumerate() {
            write(dest, k * rows + done, word);
        }
        done += GROUPS;
    }
    done
}

/// Transposes the groups of whole tiles; returns their number.
fn bitshuffle_tiles<const SIZE: usize>(src: &[u8], dest: &mut [u8], rows: usize) -> usize {
    let (mut done, groups) = (0, GROUPS * (8 / SIZE));
    for tile in src.chunks_exact(groups * 8 * SIZE) {
        // Items `e` of the groups, in planes.
        let planes: [[u64; WORD]; 8] = from_fn(|e| {
            let mut words = from_fn(|k| read_items::<SIZE>(tile, e * SIZE, 8 * SIZE, k));
            exchange_planes::<SIZE>(&mut words);
            words
        });
        for c in 0..WORD {
            let mut words = of_each(&planes, c);
            transpose_bits(&mut words);
            for (k, word) in words.into_iter().enumerate() {
                write(dest, (8 * (c % SIZE) + k) * rows + done + c / SIZE * 8, word);
            }
        }
        done += groups;
    }
    done
}

/// Transposes eight bytes of the items of eight groups at a time, and the last eight bytes of items
/// whose size is not a multiple of 8; returns the number of groups. The bytes that are read after
/// small items must exist.
fn bitshuffle_columns(typesize: usize, src: &[u8], dest: &mut [u8], rows: usize) -> usize {
    let mut done = 0;
    while (8 * (done + GROUPS) - 1) * typesize + typesize.max(WORD) <= src.len() {
        for column in (0..typesize).step_by(WORD) {
            let column = column.min(typesize.saturating_sub(WORD));
            let planes: [[u64; WORD]; 8] = from_fn(|e| {
                let mut words = from_fn(|r| read(src, (8 * (done + r) + e) * typesize + column));
                transpose_bytes(&mut words);
                words
            });
            for c in 0..WORD.min(typesize) {
                let mut words = of_each(&planes, c);
                transpose_bits(&mut words);
                for (k, word) in words.into_iter().enumerate() {
                    write(dest, (8 * (column + c) + k) * rows + done, word);
                }
            }
        }
        done += GROUPS;
    }
    done
}

/// Undoes [`bitshuffle`] for the items that fit `dest`; rows start `step` bytes apart.
pub(super) fn bitunshuffle(typesize: usize, src: &[u8], step: usize, dest: &mut [u8]) {
    let done = match typesize {
        1 => bitunshuffle_bytes(src, step, dest),
        2 => bitunshuffle_tiles::<2>(src, step, dest),
        4 => bitunshuffle_tiles::<4>(src, step, dest),
        8 => bitunshuffle_tiles::<8>(src, step, dest),
        _ => bitunshuffle_columns(typesize, src, step, dest),
    };
    for (r, items) in dest.chunks_exact_mut(8 * typesize).enumerate().skip(done) {
        for j in 0..typesize {
            let bytes: [u8; 8] = from_fn(|k| src[(8 * j + k) * step + r]);
            for (e, byte) in transpose(bytes).into_iter().enumerate() {
                items[e * typesize + j] = byte;
            }
        }
    }
}

/// Undoes [`bitshuffle_bytes`].
fn bitunshuffle_bytes(src: &[u8], step: usize, dest: &mut [u8]) -> usize {
    let mut done = 0;
    for tile in dest.as_chunks_mut::<{ 8 * GROUPS }>().0 {
        let mut words = from_fn(|k| read(src, k * step + done));
        transpose_bits(&mut words);
        transpose_bytes(&mut words);
        for (r, word) in words.into_iter().enumerate() {
            write(tile, 8 * r, word);
        }
        done += GROUPS;
    }
    done
}

/// Undoes [`bitshuffle_tiles`].
fn bitunshuffle_tiles<const SIZE: usize>(src: &[u8], step: usize, dest: &mut [u8]) -> usize {
    let (mut done, groups) = (0, GROUPS * (8 / SIZE));
    for tile in dest.chunks_exact_mut(groups * 8 * SIZE) {
        let items: [[u64; 8]; WORD] = from_fn(|c| {
            let row = |k| read(src, (8 * (c % SIZE) + k) * step + done + c / SIZE * 8);
            let mut words = from_fn(row);
            transpose_bits(&mut words);
            words
        });
        for e in 0..8 {
            let mut words = of_each(&items, e);
            exchange_planes::<SIZE>(&mut words);
            for (k, word) in words.into_iter().enumerate() {
                write_items::<SIZE>(tile, e * SIZE, 8 * SIZE, k, word);
            }
        }
        done += groups;
    }
    done
}

/// Undoes [`bitshuffle_columns`].
fn bitunshuffle_columns(typesize: usize, src: &[u8], step: usize, dest: &mut [u8]) -> usize {
    let mut done = 0;
    for tile in dest.chunks_exact_mut(8 * GROUPS * typesize) {
        for column in (0..typesize).step_by(WORD) {
            let column = column.min(typesize.saturating_sub(WORD));
            let len = WORD.min(typesize);
            let items: [[u64; 8]; WORD] = from_fn(|c| {
                if c >= len {
                    return [0; 8];
                }
                let mut words = from_fn(|k| read(src, (8 * (column + c) + k) * step + done));
                transpose_bits(&mut words);
                words
            });
            for e in 0..8 {
                let mut words = of_each(&items, e);
                transpose_bytes(&mut words);
                for (r, word) in words.into_iter().enumerate() {
                    let at = (8 * r + e) * typesize + column;
                    tile[at..at + len].copy_from_slice(&word.to_le_bytes()[..len]);
                }
            }
        }
        done += GROUPS;
    }
    done
}

/// Returns word `c` of each row.
#[inline(always)]
fn of_each(rows: &[[u64; WORD]; WORD], c: usize) -> [u64; WORD] {
    rows.each_ref().map(|words| words[c])
}

/// Transposes a matrix of 8 x 8 bits: bit `k` of byte `e` becomes bit `e` of byte `k`.
fn transpose(bytes: [u8; 8]) -> [u8; 8] {
    // Swaps the off-diagonal quarters of blocks of 2 x 2, 4 x 4 and 8 x 8 bits.
    let mut bits = u64::from_le_bytes(bytes);
    for (shift, upper) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let differ = (bits ^ (bits >> shift)) & upper;
        bits ^= differ ^ (differ << shift);
    }
    bits.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_swaps_row_and_column_of_every_bit() {
        for e in 0..8 {
            for k in 0..8 {
                let mut bytes = [0; 8];
                bytes[e] = 1 << k;
                let mut mirrored = [0; 8];
                mirrored[k] = 1 << e;
                assert_eq!(transpose(bytes), mirrored);
            }
        }
    }

    #[test]
    fn bit_k_of_byte_j_of_item_i_moves_to_row_8_j_plus_k() {
        for typesize in 1..20 {
            for rows in [1, 7, 8, 9, 31, 32, 33, 40] {
                let len = 8 * rows * typesize;
                let src: Vec<u8> = (0..len).map(|i| (i * 7 + i / 251) as u8).collect();
                let mut expected = vec![0; len];
                for (i, item) in src.chunks_exact(typesize).enumerate() {
                    for bit in 0..8 * typesize {
                        expected[bit * rows + i / 8] |= (item[bit / 8] >> (bit % 8) & 1) << (i % 8);
                    }
                }
                let mut dest = vec![1; len];
                bitshuffle(typesize, &src, &mut dest, rows);
                assert!(dest == expected, "{rows} groups of items of {typesize} bytes");
                let mut back = vec![0; len];
                bitunshuffle(typesize, &dest, rows, &mut back);
                assert!(back == src, "{rows} groups of items of {typesize} bytes");
            }
        }
    }
}
