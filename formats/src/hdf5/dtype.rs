//! Dtypes as types of HDF5, and back.
//!
//! | dtype | HDF5 |
//! |---|---|
//! | `b1` | the enumeration of `FALSE` and `TRUE`, as h5py writes it |
//! | `i`, `u`, `f2`, `f4`, `f8` | integers, and floats of IEEE 754, in their byte order |
//! | `c8`, `c16` | records of `r` and `i` |
//! | `S` | strings of this size, padded with NUL |
//! | `U` | strings of UTF-8 with 4 bytes for each character; the items are converted |
//! | `V`, `M8`, `m8` | opaque bytes; a time has the tag `NUMPY:` with its dtype, as in h5py |
//! | records | records with the same offsets |

use super::{Field, ItemType, Scalar};
use crate::numpy::{self, Dtype, Kind, Literal};

/// The start of the tags with which h5py stores dtypes that HDF5 lacks, such as `<M8[ns]`.
const TAG: &str = "NUMPY:";

/// Returns the dtype of a type, without its shape, or `None` for strings of variable length and
/// references.
///
/// # Errors
/// [`numpy::Error::Dtype`] if NumPy has no such dtype, for example for records with equal names.
pub fn dtype_of(scalar: &Scalar) -> numpy::Result<Option<Dtype>> {
    literal_of(scalar).map(|literal| Dtype::of(&literal)).transpose()
}

fn literal_of(scalar: &Scalar) -> Option<Literal> {
    let order = |is_big: bool, size: usize| match (size, is_big) {
        (1, _) => '|',
        (_, true) => '>',
        (_, false) => '<',
    };
    Some(Literal::Text(match scalar {
        Scalar::Bool => "|b1".to_owned(),
        Scalar::Int { size, is_signed, is_big } => {
            let letter = if *is_signed { 'i' } else { 'u' };
            format!("{}{letter}{size}", order(*is_big, *size))
        }
        Scalar::Bits { size, is_big } => format!("{}u{size}", order(*is_big, *size)),
        Scalar::Float { size, is_big } => format!("{}f{size}", order(*is_big, *size)),
        Scalar::Complex { size, is_big } => format!("{}c{size}", order(*is_big, *size)),
        Scalar::Bytes { size, .. } => format!("|S{size}"),
        Scalar::Opaque { size, tag } => {
            let dtype = tag.strip_prefix(TAG).and_then(|text| Dtype::parse(text).ok());
            let time = dtype.filter(|dtype| {
                matches!(dtype.kind(), Kind::Datetime | Kind::Timedelta)
                    && dtype.itemsize() == *size as u64
            });
            match time {
                Some(dtype) => return Some(dtype.description()),
                None => format!("|V{size}"),
            }
        }
        Scalar::Record { fields, .. } => {
            let mut described = Vec::new();
            for field in fields {
                let mut parts =
                    vec![Literal::Text(field.name.clone()), literal_of(&field.item.scalar)?];
                if !field.item.shape.is_empty() {
                    let lengths = field.item.shape.iter().map(|&len| Literal::Int(len));
                    parts.push(Literal::Tuple(lengths.collect()));
                }
                described.push(Literal::Tuple(parts));
            }
            return Some(Literal::List(described));
        }
        Scalar::Text { .. } | Scalar::Reference => return None,
    }))
}

/// Returns the shape of an array of items: that of the dataset, and that of the items.
pub fn shape_of(shape: &[u64], item: &ItemType) -> Vec<u64> {
    [shape, &item.shape].concat()
}

/// Returns the type of a dtype, or `None` if HDF5 has none.
pub fn item_of(dtype: &Dtype) -> Option<ItemType> {
    let size = usize::try_from(dtype.itemsize()).ok().filter(|&size| size > 0)?;
    let is_big = dtype.is_big_endian();
    let scalar = match dtype.kind() {
        Kind::Bool => Scalar::Bool,
        Kind::Int => Scalar::Int { size, is_signed: true, is_big },
        Kind::Uint => Scalar::Int { size, is_signed: false, is_big },
        Kind::Float if size <= 8 => Scalar::Float { size, is_big },
        Kind::Complex if size <= 16 => Scalar::Complex { size, is_big },
        Kind::Bytes => Scalar::Bytes { size, is_utf8: false },
        Kind::Unicode => Scalar::Bytes { size, is_utf8: true },
        Kind::Void => Scalar::Opaque { size, tag: String::new() },
        Kind::Datetime | Kind::Timedelta => {
            let Literal::Text(text) = dtype.description() else {
                return None;
            };
            Scalar::Opaque { size, tag: format!("{TAG}{text}") }
        }
        Kind::Record => {
            let mut fields = Vec::new();
            for field in dtype.fields() {
                // Characters of four bytes have no type in records.
                if field.dtype.kind() == Kind::Unicode {
                    return None;
                }
                let item = item_of(&field.dtype)?;
                fields.push(Field {
                    name: field.name.clone(),
                    offset: usize::try_from(field.offset).ok()?,
                    item: ItemType { shape: [field.shape.clone(), item.shape].concat(), ..item },
                });
            }
            if fields.is_empty() {
                return None;
            }
            Scalar::Record { fields, size }
        }
        Kind::Float | Kind::Complex | Kind::Object => return None,
    };
    Some(scalar.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_round_trip_except_characters() {
        for text in [
            "|b1", "|i1", "<i2", ">i4", "<u8", "<f2", ">f4", "<f8", "<c8", ">c16", "|S7", "|V3",
            "<M8[ns]", ">m8[s]",
        ] {
            let dtype = Dtype::parse(text).unwrap();
            let item = item_of(&dtype).unwrap();
            assert_eq!(item.size() as u64, dtype.itemsize(), "{text}");
            assert_eq!(dtype_of(&item.scalar).unwrap().unwrap().text(), text);
        }
        let text = "[('a', '<i4'), ('b', '<f8', (2,)), ('c', [('d', '|S3')])]";
        let item = item_of(&Dtype::parse(text).unwrap()).unwrap();
        assert_eq!(dtype_of(&item.scalar).unwrap().unwrap().text(), text);
        let characters = item_of(&Dtype::parse("<U3").unwrap()).unwrap();
        assert_eq!(dtype_of(&characters.scalar).unwrap().unwrap().text(), "|S12");
    }

    #[test]
    fn dtypes_without_a_type_are_rejected() {
        for text in ["<f16", "|O8", "|S0", "[('a', '<U3')]", "[('a', '<f16')]"] {
            assert_eq!(Dtype::parse(text).ok().and_then(|dtype| item_of(&dtype)), None, "{text}");
        }
    }
}
