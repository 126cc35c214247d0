//! The definition of the bit shuffle, eight items at a time.

/// Transposes `rows * 8` items: bit `k` of byte `j` of item `i` becomes bit `i % 8` of byte `i / 8`
/// of row `8 * j + k`; a row is `rows` bytes.
pub(super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8], rows: usize) {
    for (r, items) in src.chunks_exact(8 * typesize).enumerate() {
        for j in 0..typesize {
            let bytes: [u8; 8] = std::array::from_fn(|e| items[e * typesize + j]);
            for (k, byte) in transpose(bytes).into_iter().enumerate() {
                dest[(8 * j + k) * rows + r] = byte;
            }
        }
    }
}

/// Undoes [`bitshuffle`] for the items that fit `dest`; rows start `step` bytes apart.
pub(super) fn bitunshuffle(typesize: usize, src: &[u8], step: usize, dest: &mut [u8]) {
    for (r, items) in dest.chunks_exact_mut(8 * typesize).enumerate() {
        for j in 0..typesize {
            let bytes: [u8; 8] = std::array::from_fn(|k| src[(8 * j + k) * step + r]);
            for (e, byte) in transpose(bytes).into_iter().enumerate() {
                items[e * typesize + j] = byte;
            }
        }
    }
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
}
