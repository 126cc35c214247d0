//! The shape of a block, for codecs and filters that look at their block as an array of several dimensions.
//!
//! It stands in the metalayer that makes a super-chunk an array, `b2nd`, or `caterva` in files from before.
//! Both begin alike; integers are big endian:
//!
//! ```text
//! marker  version  ndim
//! marker  ndim × (marker int64)     shape
//! marker  ndim × (marker int32)     chunkshape
//! marker  ndim × (marker int32)     blockshape
//! ```
//! The metalayer is unrelated to the chunk it is read with and may be anybody's: markers are not looked at,
//! extents are only taken if all are positive, and nothing here promises that a block really is so large.
//! (Source: the B2ND format of C-Blosc2.)

use crate::Surroundings;

/// The names of the metalayer, in the order in which it is looked for.
const NAMES: [&str; 2] = ["b2nd", "caterva"];
/// The most dimensions an array has.
const MAX_DIM: usize = 16;
/// Where the number of dimensions is.
const NDIM_AT: usize = 2;
/// Where the marker of the shape is.
const SHAPE_AT: usize = 3;
const MARKER_LEN: usize = 1;
/// Bytes of an extent of the shape, with its marker.
const INT64_LEN: usize = 9;
/// Bytes of an extent of the other two, with their markers.
const INT32_LEN: usize = 5;

/// Items of a block along each dimension, the fastest one last; at least one dimension, no empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    extents: [usize; MAX_DIM],
    ndim: usize,
}

impl BlockShape {
    /// The shape of the blocks of the array a call works for, if it works for one.
    pub fn around(around: &Surroundings<'_>) -> Option<BlockShape> {
        let parent = around.parent?;
        let mut shape = None;
        let mut parse = |content: &[u8]| shape = BlockShape::parse(content);
        NAMES
            .iter()
            .find(|name| parent.with_metalayer(name, &mut parse));
        shape
    }

    /// The block shape in the content of a metalayer; none if it is cut short, or says that there is no
    /// dimension, too many, or one without items.
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

    /// Items along each dimension.
    pub fn extents(&self) -> &[usize] {
        &self.extents[..self.ndim]
    }

    /// Items of a block, unless that is more than a number can say.
    pub fn items(&self) -> Option<usize> {
        let product = |items: usize, &extent: &usize| items.checked_mul(extent);
        self.extents().iter().try_fold(1, product)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Parent;

    /// A super-chunk of an array with blocks of this shape and items of this size.
    pub(crate) struct Array {
        pub(crate) typesize: i32,
        pub(crate) meta: Vec<u8>,
    }

    impl Array {
        pub(crate) fn new(typesize: i32, blockshape: &[i32]) -> Array {
            Array {
                typesize,
                meta: metalayer(blockshape),
            }
        }

        pub(crate) fn surroundings(&self) -> Surroundings<'_> {
            Surroundings {
                parent: Some(self),
                typesize: self.typesize as usize,
                ..Surroundings::default()
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
    fn shapes_of_known_metalayers_are_read() {
        let b2nd = hex(concat!("97000392d3000000000000000592d2", "97000392"));
        assert_eq!(BlockShape::parse(&b2nd), None, "cut short");
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
    fn every_prefix_that_ends_before_the_blockshape_does_has_none() {
        let whole = metalayer(&[3, 4, 5]);
        let end = whole.len() - 9;
        for len in 0..whole.len() {
            let shape = BlockShape::parse(&whole[..len]);
            assert_eq!(shape.is_some(), len >= end, "{len} bytes");
        }
    }

    #[test]
    fn shapes_without_items_and_of_too_many_dimensions_are_none() {
        for shape in [&[][..], &[0], &[4, -1], &[1; 17]] {
            assert_eq!(BlockShape::parse(&metalayer(shape)), None, "{shape:?}");
        }
        let large = BlockShape::parse(&metalayer(&[i32::MAX; 16])).unwrap();
        assert_eq!(large.items(), None);
    }
}
