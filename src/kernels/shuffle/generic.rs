//! The byte shuffle: byte `j` of item `i` becomes byte `i` of plane `j`.
//!
//! Items of 2, 4 and 8 bytes are moved in words of 64 bits. For other sizes that is slower than one
//! byte at a time, which takes one cycle.

use crate::kernels::words::{WORD, exchange_planes, read, read_items, write, write_items};
use std::array::from_fn;

/// Bytes of a tile: the items of eight words.
const TILE: usize = WORD * WORD;

/// Shuffles the whole items of `src` into `dest`, which consists of planes of `plane_stride` bytes;
/// the first item has index `first` in the planes.
pub(super) fn shuffle(
    typesize: usize,
    src: &[u8],
    first: usize,
    dest: &mut [u8],
    plane_stride: usize,
) {
    let done = match typesize {
        2 => shuffle_tiles::<2>(src, first, dest, plane_stride),
        4 => shuffle_tiles::<4>(src, first, dest, plane_stride),
        8 => shuffle_tiles::<8>(src, first, dest, plane_stride),
        _ => 0,
    };
    for (j, plane) in dest.chunks_exact_mut(plane_stride).enumerate() {
        let items = src[done * typesize..].chunks_exact(typesize);
        for (byte, item) in plane[first + done..].iter_mut().zip(items) {
            *byte = item[j];
        }
    }
}

/// Shuffles the items of whole tiles; returns their number.
fn shuffle_tiles<const SIZE: usize>(
    src: &[u8],
    first: usize,
    dest: &mut [u8],
    plane_stride: usize,
) -> usize {
    let mut done = 0;
    for tile in src.as_chunks::<TILE>().0 {
        let mut words = from_fn(|k| read_items::<SIZE>(tile, 0, SIZE, k));
        exchange_planes::<SIZE>(&mut words);
        for (c, word) in words.into_iter().enumerate() {
            write(dest, c % SIZE * plane_stride + first + done + c / SIZE * 8, word);
        }
        done += TILE / SIZE;
    }
    done
}

/// Gathers items from the planes returned by `plane`; `dest` holds whole items only.
pub(super) fn unshuffle<'a>(typesize: usize, plane: impl Fn(usize) -> &'a [u8], dest: &mut [u8]) {
    let done = match typesize {
        2 => unshuffle_tiles::<2>(&plane, dest),
        4 => unshuffle_tiles::<4>(&plane, dest),
        8 => unshuffle_tiles::<8>(&plane, dest),
        _ => 0,
    };
    for j in 0..typesize {
        let items = dest[done * typesize..].chunks_exact_mut(typesize);
        for (item, &byte) in items.zip(&plane(j)[done..]) {
            item[j] = byte;
        }
    }
}

/// Undoes [`shuffle_tiles`].
fn unshuffle_tiles<'a, const SIZE: usize>(
    plane: impl Fn(usize) -> &'a [u8],
    dest: &mut [u8],
) -> usize {
    let planes: [&[u8]; SIZE] = from_fn(plane);
    let mut done = 0;
    for tile in dest.as_chunks_mut::<TILE>().0 {
        let mut words = from_fn(|c| read(planes[c % SIZE], done + c / SIZE * 8));
        exchange_planes::<SIZE>(&mut words);
        for (k, word) in words.into_iter().enumerate() {
            write_items::<SIZE>(tile, 0, SIZE, k, word);
        }
        done += TILE / SIZE;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_j_of_item_i_becomes_byte_i_of_plane_j() {
        for typesize in 2..40 {
            for items in [1, 7, 8, 9, 31, 32, 33, 70] {
                let len = typesize * items;
                let src: Vec<u8> = (0..len).map(|i| (i * 7 + i / 251) as u8).collect();
                let (first, plane_stride) = (3, items + 5);
                let mut dest = vec![1; typesize * plane_stride];
                let mut expected = dest.clone();
                for (i, item) in src.chunks_exact(typesize).enumerate() {
                    for (j, &byte) in item.iter().enumerate() {
                        expected[j * plane_stride + first + i] = byte;
                    }
                }
                shuffle(typesize, &src, first, &mut dest, plane_stride);
                assert!(dest == expected, "{items} items of {typesize} bytes");
                let mut back = vec![0; len];
                unshuffle(typesize, |j| &dest[j * plane_stride + first..][..items], &mut back);
                assert!(back == src, "{items} items of {typesize} bytes");
            }
        }
    }
}
