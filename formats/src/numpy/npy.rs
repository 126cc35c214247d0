//! The header of `.npy` files.
//!
//! ```text
//! \x93NUMPY | version: major, minor | header length: u16, u32 from version 2 | header | items
//! ```
//!
//! The header is a Python literal, padded with spaces and terminated by a newline, in Latin-1, or
//! UTF-8 from version 3. (Source: the NPY format of NumPy, versions 1 to 3.)

use std::io::Read;

use super::dtype::Dtype;
use super::literal::Literal;
use super::{Error, Result};

const MAGIC: [u8; 6] = *b"\x93NUMPY";
/// The size of magic number and version in bytes.
const PREFIX_LEN: usize = 8;
/// The maximum header length in bytes, also of written headers: that of records of 2¹⁶ fields with
/// names of 100 bytes.
pub(crate) const MAX_HEADER: usize = 8 << 20;
/// The alignment of the items in bytes.
const ALIGNMENT: usize = 64;

/// The description of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInfo {
    /// The dtype of an item.
    pub dtype: Dtype,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// Whether the first dimension varies fastest.
    pub fortran_order: bool,
}

impl ArrayInfo {
    /// Returns the size of all items in bytes.
    ///
    /// # Errors
    /// [`Error::Npy`] if the size overflows.
    pub fn nbytes(&self) -> Result<u64> {
        // An array with an empty dimension is empty, regardless of overflow in the others.
        if self.shape.contains(&0) {
            return Ok(0);
        }
        self.shape
            .iter()
            .try_fold(self.dtype.itemsize(), |size, &len| size.checked_mul(len))
            .ok_or(Error::Npy("the shape is too large"))
    }

    /// Whether the items are in Fortran order, and for this shape it differs from C order.
    pub fn is_fortran(&self) -> bool {
        self.fortran_order && self.shape.iter().filter(|&&len| len > 1).count() > 1
    }
}

fn read_exactly(reader: &mut impl Read, len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(len as u64).read_to_end(&mut bytes)?;
    if bytes.len() == len { Ok(bytes) } else { Err(Error::Npy("the header is truncated")) }
}

/// Reads the header, up to the first item.
pub fn read_npy_header(reader: &mut impl Read) -> Result<ArrayInfo> {
    let prefix = read_exactly(reader, PREFIX_LEN)?;
    if !prefix.starts_with(&MAGIC) {
        return Err(Error::Npy("its first bytes are not those of the format"));
    }
    let version = prefix[MAGIC.len()];
    let len = match version {
        1 => read_exactly(reader, 2)?,
        2 | 3 => read_exactly(reader, 4)?,
        _ => return Err(Error::Npy("the version is unknown")),
    };
    let len = len.iter().rev().fold(0, |len, &byte| len << 8 | usize::from(byte));
    if len > MAX_HEADER {
        return Err(Error::Npy("the header is too long"));
    }
    let header = read_exactly(reader, len)?;
    let text = if version == 3 {
        String::from_utf8(header).map_err(|_| Error::Npy("the header is not UTF-8"))?
    } else {
        header.into_iter().map(char::from).collect()
    };
    info_of(&text).ok_or(Error::Npy("the header is invalid"))?
}

/// Parses a header, or returns `None` if a key is missing.
fn info_of(text: &str) -> Option<Result<ArrayInfo>> {
    let Literal::Dict(entries) = Literal::parse(text.trim())? else {
        return None;
    };
    let get = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let Literal::Bool(fortran_order) = *get("fortran_order")? else {
        return None;
    };
    let Literal::Tuple(shape) = get("shape")? else {
        return None;
    };
    let shape = shape
        .iter()
        .map(|len| match len {
            Literal::Int(len) => Some(*len),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let dtype = match get("descr")? {
        literal @ (Literal::Text(_) | Literal::List(_)) => Dtype::of(literal),
        other => Err(Error::Dtype(other.repr())),
    };
    Some(dtype.and_then(Dtype::without_objects).map(|dtype| ArrayInfo {
        dtype,
        shape,
        fortran_order,
    }))
}

/// Returns the encoded header, all bytes before the items.
pub fn npy_header(info: &ArrayInfo) -> Result<Vec<u8>> {
    let shape = info.shape.iter().map(|&len| Literal::Int(len)).collect();
    let text = format!(
        "{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}",
        info.dtype.repr(),
        Literal::Bool(info.is_fortran()).repr(),
        Literal::Tuple(shape).repr(),
    );
    let is_latin = text.chars().all(|c| u32::from(c) <= 0xFF);
    let text: Vec<u8> = if is_latin {
        text.chars().map(|c| u32::from(c) as u8).collect()
    } else {
        text.into_bytes()
    };
    // Reserve space for the newline and padding.
    let is_short = text.len() + 1 + ALIGNMENT < usize::from(u16::MAX);
    let version = match (is_latin, is_short) {
        (true, true) => 1,
        (true, false) => 2,
        (false, _) => 3,
    };
    let count = if version == 1 { 2 } else { 4 };
    let end = (PREFIX_LEN + count + text.len() + 1).next_multiple_of(ALIGNMENT);
    let len = end - PREFIX_LEN - count;
    let len = u32::try_from(len).ok().filter(|_| len <= MAX_HEADER);
    let len = len.ok_or(Error::Npy("the header is too long"))?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([version, 0]);
    bytes.extend(&len.to_le_bytes()[..count]);
    bytes.extend(text);
    bytes.resize(end - 1, b' ');
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header that NumPy writes for `np.zeros((3, 4), '<i4', order='F')`.
    const NUMPY_HEADER: &[u8] = b"\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': True, 'shape': (3, 4), }                                                           \n";

    #[test]
    fn the_header_matches_numpy() {
        let info = ArrayInfo {
            dtype: Dtype::parse("'<i4'").unwrap(),
            shape: vec![3, 4],
            fortran_order: true,
        };
        assert_eq!(npy_header(&info).unwrap(), NUMPY_HEADER);
        assert_eq!(read_npy_header(&mut &NUMPY_HEADER[..]).unwrap(), info);
    }

    #[test]
    fn names_beyond_latin_1_and_long_records_use_newer_versions() {
        let read_back = |dtype: &str| {
            let info = ArrayInfo {
                dtype: Dtype::parse(dtype).unwrap(),
                shape: vec![],
                fortran_order: false,
            };
            let bytes = npy_header(&info).unwrap();
            assert_eq!(bytes.len() % ALIGNMENT, 0);
            assert_eq!(read_npy_header(&mut bytes.as_slice()).unwrap(), info);
            bytes[6]
        };
        assert_eq!(read_back("[('é', '<i4')]"), 1);
        assert_eq!(read_back("[('数', '<i4')]"), 3);
        let fields: Vec<String> = (0..5000).map(|i| format!("('field{i}', '<i4')")).collect();
        assert_eq!(read_back(&format!("[{}]", fields.join(", "))), 2);
        // Headers that could not be read again are not written.
        let info = |name: usize| {
            let name = "x".repeat(name);
            let dtype = Dtype::parse(&format!("[('{name}', '<i4')]")).unwrap();
            ArrayInfo { dtype, shape: vec![], fortran_order: false }
        };
        assert!(npy_header(&info(MAX_HEADER)).is_err());
        let bytes = npy_header(&info(MAX_HEADER - 200)).unwrap();
        assert!(read_npy_header(&mut bytes.as_slice()).is_ok());
    }

    #[test]
    fn descriptions_of_other_types_are_rejected() {
        let file = |header: &str, version: u8| {
            let len = u32::try_from(header.len()).unwrap().to_le_bytes();
            [&MAGIC[..], &[version, 0], &len, header.as_bytes()].concat()
        };
        let good = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}";
        assert_eq!(read_npy_header(&mut file(good, 2).as_slice()).unwrap().shape, [3]);
        for (from, to, why) in [
            (good, "['<i4', False, (3,)]", "the header is invalid"),
            ("'descr'", "'other'", "the header is invalid"),
            ("False", "'C'", "the header is invalid"),
            ("(3,)", "[3]", "the header is invalid"),
            ("(3,)", "('3',)", "the header is invalid"),
            ("(3,)", "(-3,)", "the header is invalid"),
            ("'<i4'", "7", "the dtype '7' is not understood"),
            ("'<i4'", "'<i3'", "the dtype '<i3' is not understood"),
            ("'<i4'", "'|O'", "arrays of Python objects can't be stored"),
        ] {
            let header = good.replace(from, to);
            let error = read_npy_header(&mut file(&header, 2).as_slice()).unwrap_err();
            assert!(error.to_string().contains(why), "{header}: {error}");
        }
        // The lengths are checked before the allocation.
        let long = [&MAGIC[..], &[2, 0], &[0xff; 4]].concat();
        let error = read_npy_header(&mut long.as_slice()).unwrap_err();
        assert_eq!(error.to_string(), "not a .npy file: the header is too long");
        let error =
            read_npy_header(&mut [&file("", 3)[..8], &[1, 0, 0, 0, 0xff]].concat().as_slice());
        assert!(error.unwrap_err().to_string().contains("the header is not UTF-8"));
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("no disk"))
            }
        }
        let error = read_npy_header(&mut Broken).unwrap_err();
        assert!(matches!(error, Error::Io(_)) && error.to_string() == "no disk");
    }

    #[test]
    fn invalid_npy_files_are_rejected() {
        for len in 0..NUMPY_HEADER.len() {
            assert!(
                matches!(read_npy_header(&mut &NUMPY_HEADER[..len]), Err(Error::Npy(_))),
                "{len}"
            );
        }
        for (at, byte) in [(0, 0), (6, 4), (6, 0), (10, b'['), (20, b'x')] {
            let mut bytes = NUMPY_HEADER.to_vec();
            bytes[at] = byte;
            assert!(read_npy_header(&mut bytes.as_slice()).is_err(), "{at}");
        }
    }
}
