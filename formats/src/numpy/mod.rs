//! NumPy's descriptions of arrays: dtypes, and the headers of `.npy` files.
//!
//! ```
//! use ferroblosc_formats::numpy::{Dtype, Kind};
//!
//! let dtype = Dtype::parse("[('day', '<u4'), ('price', '>f8', (2,))]")?;
//! assert_eq!((dtype.kind(), dtype.itemsize()), (Kind::Record, 20));
//! assert!(dtype.fields()[1].dtype.is_big_endian());
//! # Ok::<(), ferroblosc_formats::numpy::Error>(())
//! ```

mod dtype;
mod half;
mod literal;
mod npy;

use std::fmt;

pub use dtype::{Dtype, Field, Kind};
pub(crate) use half::single_of;
pub use half::{half_of, half_to};
pub use literal::{Literal, text_repr};
pub(crate) use npy::MAX_HEADER;
pub use npy::{ArrayInfo, npy_header, read_npy_header};

/// The result of parsing a description.
pub type Result<T> = std::result::Result<T, Error>;

/// The error of parsing a description.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The text is not a dtype.
    Dtype(String),
    /// Fields of this dtype overlap.
    Overlap(String),
    /// The items are Python objects.
    Objects,
    /// The file is no `.npy` file, for this reason.
    Npy(&'static str),
    /// The file cannot be read.
    Io(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Dtype(text) => write!(f, "the dtype '{text}' is not understood"),
            Error::Overlap(text) => write!(f, "fields of the dtype {text} overlap"),
            Error::Objects => f.write_str("arrays of Python objects can't be stored"),
            Error::Npy(why) => write!(f, "not a .npy file: {why}"),
            Error::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}
