//! The byte shuffle by its definition: byte `j` of item `i` goes to place `i` of plane `j`.

/// Shuffles whole items: `src` holds `src.len() / typesize` of them, and nothing else. They are the items from number
/// `first` on of those whose planes, of `plane_stride` bytes each, `dest` consists of.
pub(super) fn shuffle(
    typesize: usize,
    src: &[u8],
    first: usize,
    dest: &mut [u8],
    plane_stride: usize,
) {
    for (j, plane) in dest.chunks_exact_mut(plane_stride).enumerate() {
        for (byte, item) in plane[first..].iter_mut().zip(src.chunks_exact(typesize)) {
            *byte = item[j];
        }
    }
}

/// Gathers items from the planes that `plane` returns; `dest` holds whole items only.
pub(super) fn unshuffle<'a>(typesize: usize, plane: impl Fn(usize) -> &'a [u8], dest: &mut [u8]) {
    for j in 0..typesize {
        for (item, &byte) in dest.chunks_exact_mut(typesize).zip(plane(j)) {
            item[j] = byte;
        }
    }
}
