//! NumPy's arrays: raw items in a container whose metadata say how to take them.
//!
//! ```text
//! {"dtype":"'<f8'","shape":[24,30],"order":"C","container":"numpy"}
//! ```
//!
//! `dtype` is a Python literal inside of the JSON text; older files have it without quotes, or as JSON lists. The
//! items are stored as they are, in their own byte order, and in Fortran's order when `order` says so. No chunk
//! ends inside of an item. Here arrays come from `.npy` files and memory, and go there.

mod dtype;
mod npy;

use crate::io::named::NamedFile;
use std::io::{BufReader, Cursor, Read, Write};
use std::path::Path;

use super::args::PackArgs;
use super::chunking::checked_chunk_size;
use super::error::{Error, Result};
use super::json::Value;
use super::metadata::Metadata;
use super::pack::{FILE_BUFFER, Observer, Packed, pack, pack_to_file};
use super::safe::{Replacement, check_different};
use super::unpack::{Bytes, Unpacked, Unpacking, open_file};
use crate::blpk::MAX_NBYTES;
pub use dtype::Dtype;
pub use npy::{header as npy_header, read_header as read_npy_header};

/// The value of `container` in the metadata of arrays.
const CONTAINER: &str = "numpy";
/// The longest items a header can tell.
const MAX_HEADER_TYPESIZE: u64 = 255;

/// What an array is, without its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInfo {
    /// The type of an item.
    pub dtype: Dtype,
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// Whether the first dimension varies fastest.
    pub fortran_order: bool,
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// What it is.
    pub info: ArrayInfo,
    /// Its items.
    pub data: Vec<u8>,
}

impl ArrayInfo {
    /// Bytes of all items.
    ///
    /// # Errors
    /// [`Error::Npy`] when there are more than can be counted.
    pub fn nbytes(&self) -> Result<u64> {
        // An empty dimension makes an empty array, however long the others are.
        if self.shape.contains(&0) {
            return Ok(0);
        }
        self.shape
            .iter()
            .try_fold(self.dtype.itemsize(), |size, &len| size.checked_mul(len))
            .ok_or(Error::Npy("the shape is too large"))
    }

    /// Whether the order of dimensions makes a difference.
    fn is_fortran(&self) -> bool {
        self.fortran_order && self.shape.iter().filter(|&&len| len > 1).count() > 1
    }

    /// The metadata that say so.
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

    /// What metadata say.
    ///
    /// # Errors
    /// [`Error::NotANumpyArray`] when they say something else; [`Error::Dtype`], [`Error::ObjectArray`].
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
            dtype: Dtype::from_metadata(get("dtype")?)?,
            shape: shape.collect::<Result<_>>()?,
            fortran_order,
        })
    }

    /// The arguments for this array: its metadata, its items as Blosc's, and chunks of whole items.
    fn pack_args(&self, args: &PackArgs) -> Result<PackArgs> {
        let itemsize = self.dtype.itemsize();
        let mut args = args.clone();
        args.metadata = Some(self.to_metadata());
        args.blosc.typesize = match itemsize {
            1..=MAX_HEADER_TYPESIZE => itemsize as i64,
            _ => 1,
        };
        if self.nbytes()? > 0 {
            let wished = u64::from(checked_chunk_size(args.chunk_size)?);
            args.chunk_size = (wished - wished % itemsize).max(itemsize);
        }
        Ok(args)
    }
}

/// Reads the description of an array from the beginning of a `.npy` file, and packs the items that follow into
/// a file.
///
/// # Errors
/// [`Error`]
pub fn pack_npy(
    mut npy: impl Read + Send,
    output: &Path,
    args: &PackArgs,
    observer: &mut impl Observer,
) -> Result<Packed> {
    let info = npy::read_header(&mut npy)?;
    let args = info.pack_args(args)?;
    pack_to_file(npy, Some(info.nbytes()?), output, &args, observer)
}

/// Packs an array into a file.
///
/// # Errors
/// [`Error`]; [`Error::ArraySize`] when there are not as many bytes as the shape says.
pub fn pack_ndarray_to_file(array: &Array, output: &Path, args: &PackArgs) -> Result<Packed> {
    let (args, size) = array.pack_args(args)?;
    pack_to_file(array.data.as_slice(), size, output, &args, &mut ())
}

/// Packs an array into bytes.
///
/// # Errors
/// Those of [`pack_ndarray_to_file`].
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
        let info = npy::read_header(&mut npy)?;
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
        output.write_all(&npy::header(&self.info)?)?;
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

/// The array that a container's front describes, if the container holds as many bytes.
fn array_in(unpacking: &Unpacking<impl Read + Send>) -> Result<(ArrayInfo, u64)> {
    let info = ArrayInfo::from_metadata(unpacking.metadata())?;
    let expected = info.nbytes()?;
    match unpacking.header().plain_size() {
        Some(actual) if actual != expected => Err(Error::ArraySize { expected, actual }),
        _ => Ok((info, expected)),
    }
}

/// Refuses to be written more than there should be.
struct Limited<W> {
    output: W,
    left: u64,
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.left = self
            .left
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
fn run(
    unpacking: Unpacking<impl Read + Send>,
    output: &mut (impl Write + Send),
    expected: u64,
    nthreads: usize,
    observer: &mut impl Observer,
) -> Result<Unpacked> {
    let mut limited = Limited {
        output,
        left: expected,
    };
    let unpacked = unpacking.run(&mut limited, nthreads, observer)?;
    match unpacked.output_size {
        actual if actual != expected => Err(Error::ArraySize { expected, actual }),
        _ => Ok(unpacked),
    }
}

fn unpack_array(unpacking: Unpacking<impl Read + Send>, nthreads: usize) -> Result<Array> {
    let (info, expected) = array_in(&unpacking)?;
    let mut data = Bytes::default();
    run(unpacking, &mut data, expected, nthreads, &mut ())?;
    Ok(Array { info, data: data.0 })
}

/// Unpacks the array in a file.
///
/// # Errors
/// [`Error`]; [`Error::NotANumpyArray`] when there is none, [`Error::ArraySize`] when the container holds something
/// else.
pub fn unpack_ndarray_from_file(input: &Path, nthreads: usize) -> Result<Array> {
    unpack_array(open_file(input)?, nthreads)
}

/// Unpacks the array in bytes.
///
/// # Errors
/// Those of [`unpack_ndarray_from_file`].
pub fn unpack_ndarray_from_bytes(input: &[u8], nthreads: usize) -> Result<Array> {
    unpack_array(Unpacking::new(input, Some(input.len() as u64))?, nthreads)
}

/// Unpacks an array into a `.npy` file, which appears when it is complete.
///
/// # Errors
/// Those of [`unpack_ndarray_from_file`].
pub fn npy_to_file(
    unpacking: Unpacking<impl Read + Send>,
    output: &Path,
    nthreads: usize,
    observer: &mut impl Observer,
) -> Result<Unpacked> {
    let (info, expected) = array_in(&unpacking)?;
    let mut replacement = Replacement::create(output)?;
    let mut writer = replacement.writer();
    writer.write_all(&npy::header(&info)?)?;
    let unpacked = run(unpacking, &mut writer, expected, nthreads, observer)?;
    writer.flush()?;
    drop(writer);
    replacement.commit()?;
    Ok(unpacked)
}

/// Packs a `.npy` file into a file.
///
/// # Errors
/// Those of [`pack_npy`]; [`Error::SameFile`] when they are one.
pub fn pack_npy_file(npy: &Path, output: &Path, args: &PackArgs) -> Result<Packed> {
    check_different(npy, output)?;
    let reader = BufReader::with_capacity(FILE_BUFFER, NamedFile::open(npy)?);
    pack_npy(reader, output, args, &mut ())
}

/// Unpacks the array in a file into a `.npy` file.
///
/// # Errors
/// Those of [`npy_to_file`]; [`Error::SameFile`] when they are one.
pub fn unpack_npy_file(input: &Path, npy: &Path, nthreads: usize) -> Result<Unpacked> {
    check_different(input, npy)?;
    npy_to_file(open_file(input)?, npy, nthreads, &mut ())
}

/// The longest item: it is a chunk.
const MAX_ITEMSIZE: u64 = MAX_NBYTES as u64;
