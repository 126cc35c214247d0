//! NumPy arrays: raw items in a container whose metadata describe them.
//!
//! ```text
//! {"dtype":"'<f8'","shape":[24,30],"order":"C","container":"numpy"}
//! ```
//!
//! `dtype` is a Python literal within the JSON string; older files have it without quotes, or as
//! JSON lists. Items are stored unchanged in their byte order, and in Fortran order if `order` is
//! `F`. Chunks end at item boundaries. Arrays are read from and written to `.npy` files and memory.

use ferroblosc::io::named::NamedFile;
use std::io::{BufReader, Cursor, Read, Write};
use std::path::Path;

use super::args::PackArgs;
use super::chunking::checked_chunk_size;
use super::error::{Error, Result};
use super::json::Value;
use super::metadata::Metadata;
use super::pack::{FILE_BUFFER, Observer, Packed, pack, pack_to_file};
use super::replacement::{Replacement, check_different};
use super::unpack::{Bytes, Unpacked, Unpacking, open_file};
use crate::numpy::{ArrayInfo, Dtype, Literal, npy_header, read_npy_header};

/// The value of `container` in the metadata of arrays.
const CONTAINER: &str = "numpy";
/// The maximum type size of a header.
const MAX_HEADER_TYPESIZE: u64 = 255;

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The description.
    pub info: ArrayInfo,
    /// The items.
    pub data: Vec<u8>,
}

impl ArrayInfo {
    /// Returns the metadata of the array.
    pub fn to_metadata(&self) -> Value {
        let order = if self.is_fortran() { "F" } else { "C" };
        let shape = self.shape.iter().map(|&len| Value::from(len)).collect();
        Value::object([
            ("dtype", Value::Text(self.dtype.repr())),
            ("shape", Value::List(shape)),
            ("order", Value::from(order)),
            ("container", Value::from(CONTAINER)),
        ])
    }

    /// Parses metadata.
    ///
    /// # Errors
    /// [`Error::NotANumpyArray`] if they do not describe an array; [`Error::Dtype`],
    /// [`Error::ObjectArray`].
    pub fn from_metadata(metadata: Option<&Metadata>) -> Result<ArrayInfo> {
        let value = metadata.and_then(Metadata::value);
        let value = value
            .filter(|value| value.get("container") == Some(&Value::from(CONTAINER)))
            .ok_or(Error::NotANumpyArray)?;
        let get = |key| value.get(key).ok_or(Error::NotANumpyArray);
        let Value::List(shape) = get("shape")? else {
            return Err(Error::NotANumpyArray);
        };
        let shape = shape.iter().map(|len| match len {
            Value::Int(digits) => digits.parse().map_err(|_| Error::NotANumpyArray),
            _ => Err(Error::NotANumpyArray),
        });
        let fortran_order = match get("order")? {
            Value::Text(order) if order == "C" => false,
            Value::Text(order) if order == "F" => true,
            _ => return Err(Error::NotANumpyArray),
        };
        Ok(ArrayInfo {
            dtype: dtype_of(get("dtype")?)?,
            shape: shape.collect::<Result<_>>()?,
            fortran_order,
        })
    }

    /// Returns `args` with the metadata and type size of the array, and a chunk size that is a
    /// multiple of the item size.
    fn pack_args(&self, args: &PackArgs) -> Result<PackArgs> {
        let itemsize = self.dtype.itemsize();
        let mut args = args.clone();
        args.metadata = Some(self.to_metadata());
        args.blosc.typesize = match itemsize {
            1..=MAX_HEADER_TYPESIZE => itemsize as i64,
            _ => 1,
        };
        if self.nbytes()? > 0 {
            let requested = u64::from(checked_chunk_size(args.chunk_size)?);
            args.chunk_size = (requested - requested % itemsize).max(itemsize);
        }
        Ok(args)
    }
}

/// Parses the dtype in metadata: a literal in a string, or, in old files, a simple type without
/// quotes, or lists.
fn dtype_of(value: &Value) -> Result<Dtype> {
    let literal = match value {
        Value::Text(text) => match Literal::parse(text) {
            Some(literal @ (Literal::Text(_) | Literal::List(_))) => literal,
            _ => Literal::Text(text.clone()),
        },
        Value::List(_) => literal_of(value)?,
        other => return Err(Error::Dtype(other.repr())),
    };
    Ok(Dtype::of(&literal)?.without_objects()?)
}

/// Converts the lists of old files. A list whose first item is a list stays a list; any other list
/// represents a tuple.
fn literal_of(value: &Value) -> Result<Literal> {
    let invalid = || Error::Dtype(value.repr());
    match value {
        Value::Text(text) => Ok(Literal::Text(text.clone())),
        Value::Int(digits) => Ok(Literal::Int(digits.parse().map_err(|_| invalid())?)),
        Value::List(items) => {
            let literals = items.iter().map(literal_of).collect::<Result<_>>()?;
            match items.first() {
                Some(Value::List(_)) => Ok(Literal::List(literals)),
                _ => Ok(Literal::Tuple(literals)),
            }
        }
        _ => Err(invalid()),
    }
}

/// Reads the header of a `.npy` file and packs the items that follow into a file.
///
/// # Errors
/// [`Error`]
pub fn pack_npy(
    mut npy: impl Read + Send,
    output: &Path,
    args: &PackArgs,
    observer: &mut impl Observer,
) -> Result<Packed> {
    let info = read_npy_header(&mut npy)?;
    let args = info.pack_args(args)?;
    pack_to_file(npy, Some(info.nbytes()?), output, &args, observer)
}

/// Packs an array into a file.
///
/// # Errors
/// [`Error`]; [`Error::ArraySize`] if the size of the data does not match the shape.
pub fn pack_ndarray_to_file(array: &Array, output: &Path, args: &PackArgs) -> Result<Packed> {
    let (args, size) = array.pack_args(args)?;
    pack_to_file(array.data.as_slice(), size, output, &args, &mut ())
}

/// Packs an array into memory.
///
/// # Errors
/// The errors of [`pack_ndarray_to_file`].
pub fn pack_ndarray_to_bytes(array: &Array, args: &PackArgs) -> Result<Vec<u8>> {
    let (args, size) = array.pack_args(args)?;
    let mut output = Cursor::new(Vec::new());
    pack(array.data.as_slice(), size, &mut output, &args, &mut ())?;
    Ok(output.into_inner())
}

impl Array {
    /// Reads a `.npy` file.
    ///
    /// # Errors
    /// [`Error::Npy`], [`Error::Dtype`], [`Error::ObjectArray`].
    pub fn from_npy(mut npy: impl Read) -> Result<Array> {
        let info = read_npy_header(&mut npy)?;
        let mut data = Bytes::default();
        let nbytes = info.nbytes()?;
        let copied = std::io::copy(&mut npy.take(nbytes), &mut data)?;
        if copied < nbytes {
            return Err(Error::Npy("there are too few items"));
        }
        Ok(Array { info, data: data.0 })
    }

    /// Writes a `.npy` file.
    ///
    /// # Errors
    /// [`Error`]
    pub fn to_npy(&self, output: &mut impl Write) -> Result<()> {
        output.write_all(&npy_header(&self.info)?)?;
        output.write_all(&self.data)?;
        Ok(())
    }

    fn pack_args(&self, args: &PackArgs) -> Result<(PackArgs, Option<u64>)> {
        let (expected, actual) = (self.info.nbytes()?, self.data.len() as u64);
        if expected != actual {
            return Err(Error::ArraySize { expected, actual });
        }
        Ok((self.info.pack_args(args)?, Some(actual)))
    }
}

/// Returns the array described by a container's metadata and its size in bytes. Fails if the size
/// in the header differs.
fn array_in(unpacking: &Unpacking<impl Read + Send>) -> Result<(ArrayInfo, u64)> {
    let info = ArrayInfo::from_metadata(unpacking.metadata())?;
    let expected = info.nbytes()?;
    match unpacking.header().plain_size() {
        Some(actual) if actual != expected => Err(Error::ArraySize { expected, actual }),
        _ => Ok((info, expected)),
    }
}

/// A writer that fails beyond a maximum number of bytes.
struct Limited<W> {
    output: W,
    remaining: u64,
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.remaining = self
            .remaining
            .checked_sub(bytes.len() as u64)
            .ok_or(std::io::ErrorKind::FileTooLarge)?;
        self.output.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.output.flush()
    }
}

/// Unpacks exactly `expected` bytes.
fn unpack_exactly(
    unpacking: Unpacking<impl Read + Send>,
    output: &mut (impl Write + Send),
    expected: u64,
    nthreads: usize,
    observer: &mut impl Observer,
) -> Result<Unpacked> {
    let mut limited = Limited { output, remaining: expected };
    let unpacked = unpacking.run(&mut limited, nthreads, observer)?;
    match unpacked.output_size {
        actual if actual != expected => Err(Error::ArraySize { expected, actual }),
        _ => Ok(unpacked),
    }
}

fn unpack_array(unpacking: Unpacking<impl Read + Send>, nthreads: usize) -> Result<Array> {
    let (info, expected) = array_in(&unpacking)?;
    let mut data = Bytes::default();
    unpack_exactly(unpacking, &mut data, expected, nthreads, &mut ())?;
    Ok(Array { info, data: data.0 })
}

/// Unpacks the array in a file.
///
/// # Errors
/// [`Error`]; [`Error::NotANumpyArray`] if there is none, [`Error::ArraySize`] if the size of the
/// data does not match the shape.
pub fn unpack_ndarray_from_file(input: &Path, nthreads: usize) -> Result<Array> {
    unpack_array(open_file(input)?, nthreads)
}

/// Unpacks the array in a byte slice.
///
/// # Errors
/// The errors of [`unpack_ndarray_from_file`].
pub fn unpack_ndarray_from_bytes(input: &[u8], nthreads: usize) -> Result<Array> {
    unpack_array(Unpacking::new(input, Some(input.len() as u64))?, nthreads)
}

/// Unpacks an array into a `.npy` file, which is created atomically.
///
/// # Errors
/// The errors of [`unpack_ndarray_from_file`].
pub fn npy_to_file(
    unpacking: Unpacking<impl Read + Send>,
    output: &Path,
    nthreads: usize,
    observer: &mut impl Observer,
) -> Result<Unpacked> {
    let (info, expected) = array_in(&unpacking)?;
    let mut replacement = Replacement::create(output)?;
    let mut writer = replacement.writer();
    writer.write_all(&npy_header(&info)?)?;
    let unpacked = unpack_exactly(unpacking, &mut writer, expected, nthreads, observer)?;
    writer.flush()?;
    drop(writer);
    replacement.commit()?;
    Ok(unpacked)
}

/// Packs a `.npy` file into a file.
///
/// # Errors
/// The errors of [`pack_npy`]; [`Error::SameFile`] if both paths are the same file.
pub fn pack_npy_file(npy: &Path, output: &Path, args: &PackArgs) -> Result<Packed> {
    check_different(npy, output)?;
    let reader = BufReader::with_capacity(FILE_BUFFER, NamedFile::open(npy)?);
    pack_npy(reader, output, args, &mut ())
}

/// Unpacks the array in a file into a `.npy` file.
///
/// # Errors
/// The errors of [`npy_to_file`]; [`Error::SameFile`] if both paths are the same file.
pub fn unpack_npy_file(input: &Path, npy: &Path, nthreads: usize) -> Result<Unpacked> {
    check_different(input, npy)?;
    npy_to_file(open_file(input)?, npy, nthreads, &mut ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_spellings_are_parsed() {
        let read = |text: &str| dtype_of(&Value::parse(text.as_bytes()).unwrap()).unwrap().repr();
        assert_eq!(read(r#""<i8""#), "'<i8'");
        assert_eq!(read(r#"[["a","|S1"],["b","<f8"]]"#), "[('a', '|S1'), ('b', '<f8')]");
        assert_eq!(
            read(r#"[["c",[["iso","|S3"],["v","<f4",[2]]]]]"#),
            "[('c', [('iso', '|S3'), ('v', '<f4', (2,))])]"
        );
    }
}
