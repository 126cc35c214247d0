//! The definition of the byte shuffle: byte `j` of item `i` becomes byte `i` of plane `j`.

/// Shuffles the whole items of `src` into `dest`, which consists of planes of `plane_stride` bytes;
/// the first item has index `first` in the planes.
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

/// Gathers items from the planes returned by `plane`; `dest` holds whole items only.
pub(super) fn unshuffle<'a>(typesize: usize, plane: impl Fn(usize) -> &'a [u8], dest: &mut [u8]) {
    for j in 0..typesize {
        for (item, &byte) in dest.chunks_exact_mut(typesize).zip(plane(j)) {
            item[j] = byte;
        }
    }
}
