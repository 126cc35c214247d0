//! The description of a carray: `meta/sizes` and `meta/storage`.
//!
//! ```text
//! {"shape": [10], "nbytes": 40, "cbytes": 16384}
//! {"dtype": "int32", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0},
//!  "chunklen": 4096, "expectedlen": 10, "dflt": 0}
//! ```
//!
//! Of `meta/sizes`, only `shape` is used. `cname` and `quantize` are missing before bcolz 1.1, and
//! `shuffle` can be a boolean. (Source: files written by bcolz.)

use std::path::Path;

use super::chunklen;
use super::error::{Error, Result};
use super::value;
use crate::bloscpack::Value;
use crate::numpy::Dtype;
use ferroblosc::blosc1::{self, Call};
use ferroblosc::chunk::SplitMode;

/// The maximum number of dimensions of an array.
const MAX_DIM: usize = 64;
/// The codec if none is recorded.
const OLD_CODEC: &str = "blosclz";
/// The maximum number of digits that keeps a float in range.
const MAX_DIGITS: u32 = 300;

/// The compression parameters of chunks to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The compression level, 0 (no compression) to 9 (best ratio).
    pub clevel: u8,
    /// The filter: 0 for none, 1 for byte shuffle, 2 for bit shuffle.
    pub shuffle: u8,
    /// The name of the codec, which may be unknown to this library.
    pub cname: String,
    /// The number of decimal places of floats to keep, or 0 for all.
    pub quantize: u32,
}

impl Default for Compression {
    /// LZ4, level 5, byte shuffle.
    fn default() -> Compression {
        Compression { clevel: 5, shuffle: 1, cname: "lz4".to_owned(), quantize: 0 }
    }
}

impl Compression {
    /// Returns the parameters of the Blosc 1.x engine.
    pub(super) fn params(&self, typesize: u8, nthreads: i32) -> Result<blosc1::Params> {
        let no_codec = || Error::NoSuchCodec(self.cname.clone());
        let compressor =
            blosc1::compname_to_compcode(self.cname.as_bytes()).ok_or_else(no_codec)?;
        Ok(blosc1::Params {
            call: Call {
                clevel: self.clevel.into(),
                shuffle: self.shuffle.into(),
                typesize: typesize.into(),
            },
            compressor: Some(compressor),
            blocksize: 0,
            splitmode: SplitMode::FORWARD_COMPAT,
            nthreads,
        })
    }

    /// Validates the parameters.
    pub(super) fn check(&self, dtype: &Dtype) -> Result<()> {
        if self.clevel > 9 || self.shuffle > 2 {
            return Err(Error::Argument("the level is at most 9 and the shuffle at most 2"));
        }
        if self.quantize > 0 && !value::can_quantize(dtype) {
            return Err(Error::Argument("quantize is meant only for floating point data"));
        }
        if self.quantize > MAX_DIGITS {
            return Err(Error::Argument("the number of digits is too large"));
        }
        self.params(1, 1).map(|_| ())
    }
}

/// The content of `meta/storage`.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    pub dtype: Dtype,
    pub cparams: Compression,
    pub chunklen: u64,
    pub expectedlen: u64,
    pub dflt: Value,
}

fn number<T: std::str::FromStr>(value: &Value) -> Option<T> {
    match value {
        Value::Int(digits) => digits.parse().ok(),
        _ => None,
    }
}

fn invalid(path: &Path, why: &str) -> Error {
    Error::Description { path: path.to_owned(), why: why.to_owned() }
}

impl Storage {
    /// Parses the content of the file.
    pub fn from_value(value: &Value, path: &Path) -> Result<Storage> {
        let get = |key: &str| value.get(key);
        let Some(Value::Text(text)) = get("dtype") else {
            return Err(invalid(path, "the dtype is missing"));
        };
        let chunklen = get("chunklen").and_then(number).filter(|&rows: &u64| rows > 0);
        let chunklen =
            chunklen.ok_or_else(|| invalid(path, "chunklen must be a positive integer"))?;
        let is_quoted = text.trim_start().starts_with(['\'', '"']);
        let dtype = Dtype::parse(text)?;
        if is_quoted || dtype.has_packed_floats() {
            return Err(Error::Dtype(text.clone()));
        }
        Ok(Storage {
            dtype,
            cparams: cparams(get("cparams")).ok_or_else(|| invalid(path, "invalid cparams"))?,
            chunklen,
            expectedlen: get("expectedlen").and_then(number).unwrap_or(0),
            dflt: get("dflt").cloned().unwrap_or(Value::Null),
        })
    }

    /// Returns the content of the file.
    pub fn to_value(&self) -> Value {
        Value::object([
            ("dtype", Value::from(self.dtype.text())),
            ("cparams", self.cparams.to_value()),
            ("chunklen", Value::from(self.chunklen)),
            ("expectedlen", Value::from(self.expectedlen)),
            ("dflt", self.dflt.clone()),
        ])
    }
}

fn cparams(value: Option<&Value>) -> Option<Compression> {
    let Some(value) = value else {
        return Some(Compression { cname: OLD_CODEC.to_owned(), ..Compression::default() });
    };
    let defaults = Compression::default();
    Some(Compression {
        clevel: match value.get("clevel") {
            Some(level) => number(level)?,
            None => defaults.clevel,
        },
        shuffle: match value.get("shuffle") {
            Some(Value::Bool(shuffle)) => u8::from(*shuffle),
            Some(shuffle) => number(shuffle)?,
            None => defaults.shuffle,
        },
        cname: match value.get("cname") {
            Some(Value::Text(name)) => name.clone(),
            Some(_) => return None,
            None => OLD_CODEC.to_owned(),
        },
        quantize: match value.get("quantize") {
            Some(Value::Null) | None => 0,
            Some(digits) => number(digits)?,
        },
    })
}

/// The content of `meta/sizes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub len: u64,
    /// The shape of a row.
    pub row_shape: Vec<u64>,
    /// The size of a row in bytes.
    pub row_bytes: u64,
}

impl Sizes {
    /// Parses the content of the file.
    pub fn from_value(value: &Value, dtype: &Dtype, path: &Path) -> Result<Sizes> {
        let lengths: Option<Vec<u64>> = match value.get("shape") {
            Some(Value::List(lengths)) if lengths.len() <= MAX_DIM => {
                lengths.iter().map(number).collect()
            }
            Some(length @ Value::Int(_)) => number(length).map(|length| vec![length]),
            _ => None,
        };
        let lengths = lengths.ok_or_else(|| invalid(path, "invalid shape"))?;
        let Some((&len, row_shape)) = lengths.split_first() else {
            return Err(invalid(path, "the shape is empty"));
        };
        Sizes::new(len, row_shape, dtype).ok_or_else(|| invalid(path, "the shape is too large"))
    }

    /// Returns the sizes of `len` rows, or `None` if the total size overflows or there are more than
    /// [`MAX_DIM`] dimensions.
    pub fn new(len: u64, row_shape: &[u64], dtype: &Dtype) -> Option<Sizes> {
        let mut lengths = row_shape.iter();
        let row_bytes = lengths.try_fold(dtype.itemsize(), |size, &len| size.checked_mul(len))?;
        let total = row_bytes.checked_mul(len)?;
        let is_small = total <= i64::MAX as u64 && len <= i64::MAX as u64;
        (is_small && row_shape.len() < MAX_DIM).then(|| Sizes {
            len,
            row_shape: row_shape.to_vec(),
            row_bytes,
        })
    }

    /// Returns the size of all rows in bytes.
    pub fn nbytes(&self) -> u64 {
        self.len * self.row_bytes
    }

    /// Returns the content of the file. `cbytes` is the compressed size in bytes.
    pub fn to_value(&self, cbytes: u64) -> Value {
        let mut shape = vec![Value::from(self.len)];
        shape.extend(self.row_shape.iter().map(|&len| Value::from(len)));
        Value::object([
            ("shape", Value::List(shape)),
            ("nbytes", Value::from(self.nbytes())),
            ("cbytes", Value::from(cbytes)),
        ])
    }

    /// Checks that rows of this size fit in chunks of `chunklen` rows.
    pub fn check(&self, chunklen: u64, path: &Path) -> Result<()> {
        chunklen::check(chunklen, self.row_bytes).map_err(|error| invalid(path, &error.to_string()))
    }
}
