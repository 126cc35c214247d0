//! Values of options.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ferroblosc::codec::{self, CodecInfo};
use ferroblosc::filter::{self, FilterInfo};
use std::iter;

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    B2frame,
    B2nd,
    Blp,
    Bcolz,
    Npy,
    Npz,
    /// Zarr version 3
    #[value(alias = "zarr3")]
    Zarr,
    /// Zarr version 2
    Zarr2,
    /// HDF5
    #[value(alias = "h5")]
    Hdf5,
    /// Comma-separated values
    Csv,
    /// A table as an Arrow IPC file (Feather V2)
    Arrow,
    /// A table as a Parquet file
    Parquet,
    Blosc1,
    Blosc2,
    /// Bytes without type and shape
    Bin,
    /// A store in a zip file
    B2z,
    /// A store in a directory
    B2d,
    /// A store in a frame
    B2e,
}

/// The filter of the chunks of an HDF5 dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Hdf5FilterName {
    /// Blosc2: a frame for each chunk
    #[default]
    #[value(name = "32026", alias = "blosc2")]
    Blosc2,
    /// Blosc: a chunk of Blosc 1.x for each chunk
    #[value(name = "32001", alias = "blosc")]
    Blosc,
    /// No filter and no chunks
    None,
}

/// An input format that is not detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InputFormat {
    /// Bytes without type and shape
    Bin,
    /// Comma-separated values
    Csv,
}

/// Whether the first line of a CSV file contains the names of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum HeaderName {
    /// If its fields are different texts, neither numbers nor Booleans
    #[default]
    Auto,
    Yes,
    No,
}

/// The order of the items of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// The last dimension varies fastest
    #[default]
    #[value(name = "C")]
    C,
    /// The first dimension varies fastest
    #[value(name = "F")]
    Fortran,
}

/// A codec: one of the built-in codecs of Blosc2.
#[derive(Clone, Copy)]
pub struct CodecName(pub &'static CodecInfo);

impl CodecName {
    /// Returns all codecs.
    pub fn all() -> impl Iterator<Item = CodecName> {
        codec::all().filter(|codec| codec.is_built_in() && !codec.is_blosc1_only).map(CodecName)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.0.name_str()
    }

    pub fn parser() -> impl TypedValueParser<Value = CodecName> {
        PossibleValuesParser::new(CodecName::all().map(CodecName::name)).map(|name| {
            let mut all = CodecName::all();
            all.find(|codec| codec.name().eq_ignore_ascii_case(&name))
                .expect("clap allows only these names")
        })
    }
}

/// A filter that needs no parameter, or none.
#[derive(Clone, Copy)]
pub struct FilterName(pub Option<&'static FilterInfo>);

impl FilterName {
    /// Returns `none` and all filters.
    pub fn all() -> impl Iterator<Item = FilterName> {
        let filters = filter::all().filter(|filter| !filter.needs_meta && !filter.is_replaced);
        iter::once(None).chain(filters.map(Some)).map(FilterName)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.0.map_or("none", |filter| filter.name)
    }

    pub fn parser() -> impl TypedValueParser<Value = FilterName> {
        PossibleValuesParser::new(FilterName::all().map(FilterName::name)).map(|name| {
            let mut all = FilterName::all();
            all.find(|filter| filter.name().eq_ignore_ascii_case(&name))
                .expect("clap allows only these names")
        })
    }
}

/// A goal for which compression is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Goal {
    /// The least time to read and decompress
    Read,
    /// The least time to compress and write
    Write,
    /// The smallest size; does not depend on measured times
    Size,
    /// The least time to compress, write, read and decompress with slow storage
    Balanced,
}

impl Goal {
    /// All goals.
    pub const ALL: [Goal; 4] = [Goal::Read, Goal::Write, Goal::Size, Goal::Balanced];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Read => "read",
            Goal::Write => "write",
            Goal::Size => "size",
            Goal::Balanced => "balanced",
        }
    }

    /// Returns the name in sentences.
    pub fn purpose(self) -> &'static str {
        match self {
            Goal::Read => "for reading",
            Goal::Write => "for writing",
            Goal::Size => "for size",
            Goal::Balanced => "balanced",
        }
    }
}

/// Parses a duration in seconds, at most a day.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=86400.0).contains(&number) => Ok(number),
        _ => Err("it must be a number of seconds from 0 to 86400, such as 2.5".to_owned()),
    }
}

/// The shape of an array.
#[derive(Clone, Debug)]
pub struct Shape(pub Vec<u64>);

/// Parses the character between the fields of a CSV file.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        b"\\t" => Ok(b'\t'),
        _ => Err("it must be one ASCII character, or '\\t' for a tab".to_owned()),
    }
}

/// Parses a shape.
pub fn shape(text: &str) -> Result<Shape, String> {
    let lengths = text.split(',').map(|text| {
        let number = text.trim().parse::<u64>().ok().filter(|&len| i64::try_from(len).is_ok());
        number.ok_or_else(|| {
            format!("'{text}' is not an extent; a shape has a number for each dimension: 100,20")
        })
    });
    lengths.collect::<Result<_, _>>().map(Shape)
}

/// Parses a permitted difference.
pub fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        _ => Err("it must be a number that is not negative, such as 1e-6".to_owned()),
    }
}
