//! Serialisation of the array metalayer.
//!
//! ```text
//! 97  version  ndim
//! 90+ndim  d3 int64  d3 int64 …     shape
//! 90+ndim  d2 int32  d2 int32 …     chunkshape
//! 90+ndim  d2 int32  d2 int32 …     blockshape
//! format   db uint32  bytes         dtype
//! ```
//! Integers are big-endian and have a fixed width, so that a resize can overwrite them in place.
//! The metalayer of Caterva, the predecessor, starts with `95` and ends after the blockshape.
//! (Source: the B2ND format of C-Blosc2.)

use super::MAX_DIM;
use super::geometry::Geometry;
use crate::{Error, Result};

/// The name of the metalayer.
pub const NAME: &str = "b2nd";
/// The name of the metalayer in Caterva.
pub const OLD_NAME: &str = "caterva";
/// The dtype that is written if the caller has none.
pub const DEFAULT_DTYPE: &[u8] = b"|u1";

/// The version that is written; readers ignore it.
const VERSION: u8 = 0;
/// A msgpack array of seven entries.
const FIXARRAY_OF_7: u8 = 0x97;
/// A msgpack array; the number of entries is added, up to 16.
const FIXARRAY: u8 = 0x90;
const INT64: u8 = 0xD3;
const INT32: u8 = 0xD2;
const STR32: u8 = 0xDB;
/// The offset of the number of dimensions.
const NDIM_AT: usize = 2;
/// The offset of the first extent of the shape, after its marker.
const SHAPE_AT: usize = 4;
const INT64_LEN: usize = 9;
const INT32_LEN: usize = 5;
/// The length of the header of the dtype: format, marker and length.
const DTYPE_HEAD: usize = 6;

/// The parsed content of the metalayer, not yet validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Extent of the array in each dimension, in items.
    pub shape: Vec<i64>,
    /// Extent of a chunk in each dimension, in items.
    pub chunkshape: Vec<i32>,
    /// Extent of a block in each dimension, in items.
    pub blockshape: Vec<i32>,
    /// The notation of the dtype.
    pub dtype_format: i8,
    /// The item type, as text for programs that use the array. Arrays of Caterva have none.
    pub dtype: Option<Vec<u8>>,
}

/// Serialises shapes with one entry per dimension.
///
/// # Errors
/// [`Error::Failure`] for shapes of different lengths or more than [`MAX_DIM`] dimensions, a
/// negative format, and a dtype whose length overflows; [`Error::MemoryAlloc`].
pub fn serialize(
    shape: &[i64],
    chunkshape: &[i32],
    blockshape: &[i32],
    dtype: Option<&[u8]>,
    dtype_format: i8,
) -> Result<Vec<u8>> {
    let ndim = shape.len();
    let dtype = dtype.unwrap_or(DEFAULT_DTYPE);
    let dtype_len = i32::try_from(dtype.len()).map_err(|_| Error::Failure)?;
    let fits = ndim <= MAX_DIM && chunkshape.len() == ndim && blockshape.len() == ndim;
    if !fits || dtype_format < 0 {
        return Err(Error::Failure);
    }
    let mut bytes = vec![FIXARRAY_OF_7, VERSION, ndim as u8];
    let marker = FIXARRAY + ndim as u8;
    bytes.push(marker);
    for extent in shape {
        bytes.push(INT64);
        bytes.extend_from_slice(&extent.to_be_bytes());
    }
    for partition in [chunkshape, blockshape] {
        bytes.push(marker);
        for extent in partition {
            bytes.push(INT32);
            bytes.extend_from_slice(&extent.to_be_bytes());
        }
    }
    bytes.push(dtype_format as u8);
    bytes.push(STR32);
    bytes.extend_from_slice(&dtype_len.to_be_bytes());
    bytes.try_reserve_exact(dtype.len())?;
    bytes.extend_from_slice(dtype);
    Ok(bytes)
}

/// Returns a copy of a dtype or of a metalayer.
///
/// # Errors
/// [`Error::MemoryAlloc`].
pub(super) fn copy_of(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// Returns the number of dimensions, if the byte exists.
pub fn ndim(bytes: &[u8]) -> Option<i8> {
    bytes.get(NDIM_AT).map(|&byte| byte as i8)
}

/// Parses the shapes; returns them, without a dtype, and the offset of the dtype.
///
/// # Errors
/// [`Error::Failure`] if bytes are missing or there are too many dimensions.
pub fn parse_shapes(bytes: &[u8]) -> Result<(Meta, usize)> {
    let ndim = ndim(bytes).and_then(|ndim| usize::try_from(ndim).ok());
    let ndim = ndim.filter(|&ndim| ndim <= MAX_DIM).ok_or(Error::Failure)?;
    let mut rest = bytes.get(SHAPE_AT..).ok_or(Error::Failure)?;
    let shape = numbers::<INT64_LEN>(&mut rest, ndim)?
        .map(|entry| i64::from_be_bytes(*entry.last_chunk().expect("a marker and 8 bytes")))
        .collect();
    let mut partition = || -> Result<Vec<i32>> {
        rest = rest.get(1..).ok_or(Error::Failure)?;
        Ok(numbers::<INT32_LEN>(&mut rest, ndim)?
            .map(|entry| i32::from_be_bytes(*entry.last_chunk().expect("a marker and 4 bytes")))
            .collect())
    };
    let (chunkshape, blockshape) = (partition()?, partition()?);
    let meta = Meta { shape, chunkshape, blockshape, dtype_format: 0, dtype: None };
    Ok((meta, bytes.len() - rest.len()))
}

/// Splits `count` entries of `LEN` bytes off the front.
fn numbers<'a, const LEN: usize>(
    rest: &mut &'a [u8],
    count: usize,
) -> Result<impl Iterator<Item = &'a [u8; LEN]> + use<'a, LEN>> {
    let (taken, others) = rest.split_at_checked(count * LEN).ok_or(Error::Failure)?;
    *rest = others;
    Ok(taken.as_chunks::<LEN>().0.iter())
}

/// Parses the metalayer; returns its content and its length in bytes. Trailing bytes are ignored.
///
/// # Errors
/// Returns the same errors as [`parse_shapes`]; [`Error::Failure`] also for a malformed dtype;
/// [`Error::MemoryAlloc`].
pub fn parse(bytes: &[u8]) -> Result<(Meta, usize)> {
    let (mut meta, at) = parse_shapes(bytes)?;
    if at == bytes.len() {
        return Ok((meta, at));
    }
    let (head, rest) = bytes[at..].split_first_chunk::<DTYPE_HEAD>().ok_or(Error::Failure)?;
    let len = i32::from_be_bytes(*head.last_chunk().expect("the last 4 of 6 bytes"));
    let len = usize::try_from(len).map_err(|_| Error::Failure)?;
    if head[1] != STR32 {
        return Err(Error::Failure);
    }
    meta.dtype_format = head[0] as i8;
    meta.dtype = Some(copy_of(rest.get(..len).ok_or(Error::Failure)?)?);
    Ok((meta, at + DTYPE_HEAD + len))
}

/// Overwrites the shape.
///
/// # Errors
/// [`Error::Failure`] if the metalayer has another number of dimensions.
pub fn set_shape(bytes: &mut [u8], shape: &[i64]) -> Result<()> {
    if ndim(bytes).map(usize::try_from) != Some(Ok(shape.len())) {
        return Err(Error::Failure);
    }
    let entries =
        bytes.get_mut(SHAPE_AT..SHAPE_AT + shape.len() * INT64_LEN).ok_or(Error::Failure)?;
    for (entry, extent) in entries.as_chunks_mut::<INT64_LEN>().0.iter_mut().zip(shape) {
        entry[1..].copy_from_slice(&extent.to_be_bytes());
    }
    Ok(())
}

impl Meta {
    /// Builds and validates the geometry.
    ///
    /// # Errors
    /// Returns the errors of [`Geometry::new`].
    pub fn geometry(&self) -> Result<Geometry> {
        Geometry::new(&self.shape, &self.chunkshape, &self.blockshape)
    }
}

/// Formats the metalayer as text for users.
pub fn describe(meta: &Meta) -> String {
    fn list<T: ToString>(numbers: &[T]) -> String {
        match numbers {
            [] => String::from("0"),
            _ => numbers.iter().map(T::to_string).collect::<Vec<_>>().join(", "),
        }
    }
    let dtype = meta
        .dtype
        .as_ref()
        .map_or_else(String::new, |dtype| format!(" dtype: {}\n", String::from_utf8_lossy(dtype)));
    format!(
        "b2nd metalayer parameters:\n Ndim:       {}\n shape:      {}\n chunkshape: {}\n{dtype} blockshape: {}\n",
        meta.shape.len(),
        list(&meta.shape),
        list(&meta.chunkshape),
        list(&meta.blockshape),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(hex: &str) -> Vec<u8> {
        let digits: Vec<char> = hex.chars().filter(|digit| !digit.is_whitespace()).collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap())
            .collect()
    }

    const PLAIN: &str = "97 00 02 92 d30000000000000005 d30000000000000007 92 d200000004 d200000004
        92 d200000002 d200000002 00 db 00000003 3c6934";
    const CATERVA: &str =
        "95000292d30000000000000004d3000000000000000892d200000004d20000000492d200000002d200000002";

    #[test]
    fn published_metalayers_round_trip() {
        type Shapes = (&'static [i64], &'static [i32], &'static [i32]);
        let cases: [(Shapes, Option<&[u8]>, &str); 5] = [
            ((&[5, 7], &[4, 4], &[2, 2]), Some(b"<i4"), PLAIN),
            ((&[], &[], &[]), None, "97 00 00 90 90 90 00 db 00000003 7c7531"),
            ((&[10], &[10], &[5]),
                Some(b"|u1"),
                "97 00 01 91 d3000000000000000a 91 d20000000a 91 d200000005 00 db 00000003 7c7531",
            ),
            ((&[0], &[0], &[0]),
                Some(b""),
                "97 00 01 91 d30000000000000000 91 d200000000 91 d200000000 00 db 00000000",
            ),
            ((&[3, 3, 3], &[2, 2, 2], &[2, 1, 2]),
                Some(b"[('a', '<i4'), ('b', '<f8')]"),
                "97000393d30000000000000003d30000000000000003d3000000000000000393d200000002d200000002
                 d20000000293d200000002d200000001d20000000200db0000001c5b282761272c20273c693427292c20
                 282762272c20273c663827295d",
            ),
        ];
        for ((shape, chunks, blocks), dtype, hex) in cases {
            let bytes = serialize(shape, chunks, blocks, dtype, 0).unwrap();
            assert_eq!(bytes, bytes_of(hex));
            let (meta, len) = parse(&bytes).unwrap();
            assert_eq!(len, bytes.len());
            assert_eq!((&meta.shape[..], &meta.chunkshape[..]), (shape, chunks));
            assert_eq!(meta.blockshape, blocks);
            assert_eq!(meta.dtype.as_deref(), Some(dtype.unwrap_or(b"|u1")));
        }
    }

    #[test]
    fn row_n37_sixteen_dimensions_have_the_marker_a0_and_reading_is_lenient() {
        let bytes = serialize(&[1; 16], &[1; 16], &[1; 16], Some(b"<f8"), 0).unwrap();
        assert_eq!(bytes[..5], [0x97, 0, 16, 0xA0, 0xD3]);
        assert_eq!(bytes.len(), 319);
        let (meta, _) = parse(&bytes).unwrap();
        assert_eq!(meta.shape, [1; 16]);
        // Markers, version and trailing bytes are ignored; the format is signed.
        let mut odd = bytes_of(PLAIN);
        for at in [0, 1, 3, 4, 13, 22, 23] {
            odd[at] = 0x55;
        }
        let at = odd.len() - 9;
        odd[at] = 0xFF;
        odd.extend([1, 2, 3]);
        let (meta, len) = parse(&odd).unwrap();
        assert_eq!((meta.shape, meta.dtype_format, len), (vec![5, 7], -1, 53));
        // Only the marker of the dtype is checked.
        odd[at + 1] = 0xDA;
        assert_eq!(parse(&odd), Err(Error::Failure));
    }

    #[test]
    fn truncated_metalayers_are_refused() {
        let bytes = bytes_of(PLAIN);
        for len in 0..bytes.len() {
            // The dtype may be missing.
            assert_eq!(parse(&bytes[..len]).is_ok(), len == 44, "{len} bytes");
        }
        let mut negative = bytes.clone();
        negative[46] = 0xFF;
        assert_eq!(parse(&negative), Err(Error::Failure));
        let mut many = bytes;
        for ndim in [17, 0x80, 0xFF] {
            many[2] = ndim;
            assert_eq!(parse(&many), Err(Error::Failure));
        }
    }

    #[test]
    fn arrays_of_caterva_have_no_dtype() {
        let (meta, len) = parse(&bytes_of(CATERVA)).unwrap();
        assert_eq!((meta.shape, meta.dtype, len), (vec![4, 8], None, 44));
    }

    #[test]
    fn row_n36_unrepresentable_content_is_refused() {
        assert_eq!(serialize(&[1; 17], &[1; 17], &[1; 17], None, 0), Err(Error::Failure));
        assert_eq!(serialize(&[1], &[1], &[1], None, -1), Err(Error::Failure));
        assert!(serialize(&[-5], &[-4], &[-3], None, 0).is_ok());
    }

    #[test]
    fn a_shape_is_overwritten_in_place() {
        let mut bytes = bytes_of(PLAIN);
        set_shape(&mut bytes, &[9, 1 << 40]).unwrap();
        let (meta, _) = parse(&bytes).unwrap();
        assert_eq!((meta.shape, meta.chunkshape), (vec![9, 1 << 40], vec![4, 4]));
        assert_eq!(set_shape(&mut bytes, &[1]), Err(Error::Failure));
        assert_eq!(set_shape(&mut bytes[..20], &[1, 1]), Err(Error::Failure));
    }

    #[test]
    fn row_n35_metalayers_are_described_and_zero_dimensions_print_as_zero() {
        let (meta, _) = parse(&bytes_of(PLAIN)).unwrap();
        assert_eq!(
            describe(&meta),
            "b2nd metalayer parameters:\n Ndim:       2\n shape:      5, 7\n chunkshape: 4, 4\n \
             dtype: <i4\n blockshape: 2, 2\n"
        );
        let (meta, _) = parse(&bytes_of("97 00 00 90 90 90")).unwrap();
        assert_eq!(
            describe(&meta),
            "b2nd metalayer parameters:\n Ndim:       0\n shape:      0\n chunkshape: 0\n \
             blockshape: 0\n"
        );
    }
}
