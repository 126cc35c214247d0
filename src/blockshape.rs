//! The block shape, for codecs and filters that process blocks as multidimensional arrays. (Source:
//! the B2ND format of C-Blosc2.)
//!
//! The shape is stored in the metalayer `b2nd` of an array's super-chunk, or `caterva` in older
//! files. Both have the same beginning; integers are big-endian:
//!
//! ```text
//! marker  version  ndim
//! marker  ndim × (marker int64)     shape
//! marker  ndim × (marker int32)     chunkshape
//! marker  ndim × (marker int32)     blockshape
//! ```
//!
//! The metalayer is untrusted and independent of the chunk: markers are ignored, all extents must
//! be positive, and the shape may not match the size of the block.

use crate::CallContext;
use crate::slice::MAX_DIM;

/// The names of the metalayer, in lookup order.
const NAMES: [&str; 2] = ["b2nd", "caterva"];
/// The offset of the number of dimensions.
const NDIM_AT: usize = 2;
/// The offset of the marker of the shape.
const SHAPE_AT: usize = 3;
const MARKER_LEN: usize = 1;
/// The size of an extent of the shape with its marker.
const INT64_LEN: usize = 9;
/// The size of an extent of chunkshape or blockshape with its marker.
const INT32_LEN: usize = 5;

/// The number of items of a block along each dimension, fastest last. There is at least one
/// dimension, and no extent is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    extents: [usize; MAX_DIM],
    ndim: usize,
}

impl BlockShape {
    /// Returns the block shape of the array that a call processes, if any.
    pub fn from_context(ctx: &CallContext<'_>) -> Option<BlockShape> {
        let parent = ctx.parent?;
        let mut shape = None;
        let mut parse = |content: &[u8]| shape = BlockShape::parse(content);
        NAMES.iter().find(|name| parent.with_metalayer(name, &mut parse));
        shape
    }

    /// Parses the block shape from the content of a metalayer. Returns `None` if the content is
    /// truncated, has no or more than 16 dimensions, or has an extent below 1.
    pub fn parse(content: &[u8]) -> Option<BlockShape> {
        let ndim = usize::from(*content.get(NDIM_AT)?);
        if !(1..=MAX_DIM).contains(&ndim) {
            return None;
        }
        let chunkshape_at = SHAPE_AT + MARKER_LEN + ndim * INT64_LEN;
        let blockshape_at = chunkshape_at + MARKER_LEN + ndim * INT32_LEN + MARKER_LEN;
        let entries = content.get(blockshape_at..)?.get(..ndim * INT32_LEN)?;
        let mut extents = [0; MAX_DIM];
        for (extent, entry) in extents.iter_mut().zip(entries.as_chunks::<INT32_LEN>().0) {
            let [_marker, value @ ..] = *entry;
            let value = usize::try_from(i32::from_be_bytes(value)).ok()?;
            *extent = Some(value).filter(|&value| value > 0)?;
        }
        Some(BlockShape { extents, ndim })
    }

    /// Returns the number of items along each dimension.
    pub fn extents(&self) -> &[usize] {
        &self.extents[..self.ndim]
    }

    /// Returns the number of items of a block, or `None` if it overflows.
    pub fn items(&self) -> Option<usize> {
        let product = |items: usize, &extent: &usize| items.checked_mul(extent);
        self.extents().iter().try_fold(1, product)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Parent;

    /// A super-chunk of an array with the given block shape and item size.
    pub(crate) struct Array {
        pub(crate) typesize: i32,
        pub(crate) meta: Vec<u8>,
    }

    impl Array {
        pub(crate) fn new(typesize: i32, blockshape: &[i32]) -> Array {
            Array { typesize, meta: metalayer(blockshape) }
        }

        pub(crate) fn call_context(&self) -> CallContext<'_> {
            CallContext {
                parent: Some(self),
                typesize: self.typesize as usize,
                ..CallContext::default()
            }
        }
    }

    impl Parent for Array {
        fn typesize(&self) -> i32 {
            self.typesize
        }

        fn with_metalayer(&self, name: &str, read: &mut dyn FnMut(&[u8])) -> bool {
            (name == "b2nd").then(|| read(&self.meta)).is_some()
        }

        fn current_chunk(&self) -> i64 {
            0
        }
    }

    fn metalayer(blockshape: &[i32]) -> Vec<u8> {
        let ndim = blockshape.len() as u8;
        let mut bytes = vec![0x97, 0, ndim, 0x90 + ndim];
        for &extent in blockshape {
            bytes.push(0xD3);
            bytes.extend_from_slice(&i64::from(extent).to_be_bytes());
        }
        for _ in 0..2 {
            bytes.push(0x90 + ndim);
            for extent in blockshape {
                bytes.push(0xD2);
                bytes.extend_from_slice(&extent.to_be_bytes());
            }
        }
        bytes.extend_from_slice(b"\0\xDB\0\0\0\x03|u1");
        bytes
    }

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
            .collect()
    }

    #[test]
    fn shapes_of_known_metalayers_are_parsed() {
        let b2nd = hex(concat!("97000392d3000000000000000592d2", "97000392"));
        assert_eq!(BlockShape::parse(&b2nd), None, "truncated");
        let b2nd = hex(concat!(
            "97000292d30000000000000005d30000000000000007",
            "92d200000004d20000000492d200000002d20000000300db000000033c6934"
        ));
        assert_eq!(BlockShape::parse(&b2nd).unwrap().extents(), [2, 3]);
        let caterva = hex(concat!(
            "95000292d30000000000000004d30000000000000008",
            "92d200000004d20000000492d200000002d200000002"
        ));
        assert_eq!(BlockShape::parse(&caterva).unwrap().extents(), [2, 2]);
    }

    #[test]
    fn prefixes_without_the_whole_blockshape_are_rejected() {
        let whole = metalayer(&[3, 4, 5]);
        let end = whole.len() - 9;
        for len in 0..whole.len() {
            let shape = BlockShape::parse(&whole[..len]);
            assert_eq!(shape.is_some(), len >= end, "{len} bytes");
        }
    }

    #[test]
    fn empty_shapes_and_too_many_dimensions_are_rejected() {
        for shape in [&[][..], &[0], &[4, -1], &[1; 17]] {
            assert_eq!(BlockShape::parse(&metalayer(shape)), None, "{shape:?}");
        }
        let large = BlockShape::parse(&metalayer(&[i32::MAX; 16])).unwrap();
        assert_eq!(large.items(), None);
    }
}
