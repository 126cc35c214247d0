//! Readers of data to convert: random access to bytes in C order, with their type and shape.
//!
//! All formats share this interface, so that each needs one reader instead of one per target
//! format. Readers keep only a few chunks in memory.
//!
//! | file | reads |
//! |---|---|
//! | `frame.rs` | chunks, super-chunks and b2nd arrays |
//! | `plain.rs` | Bloscpack containers, `.npy` and `.npz` files, bytes, and arrays in Fortran order |
//! | `zarr.rs` | Zarr arrays |
//! | `hdf5.rs` | HDF5 datasets |
//! | `bcolz.rs` | carrays, and ctables as records |
//!
//! `interface.rs` defines the interface.

mod bcolz;
mod frame;
#[cfg(feature = "hdf5")]
mod hdf5;
mod interface;
mod plain;
#[cfg(feature = "zarr")]
mod zarr;

pub(super) use frame::{array_of, chunk_error, open_schunk, schunk_of_chunk};
#[cfg(feature = "hdf5")]
pub(super) use hdf5::{describe, is_text, open_file, open_hdf5};
pub use interface::{Content, Reading, Source};
pub(super) use plain::{Container, Npy, from_fortran_order};
#[cfg(feature = "zarr")]
pub(super) use zarr::open_zarr;

use std::path::Path;

use super::detect::{Detected, Format, detect};
use super::error::{Error, Result};

/// Opens the data at `path`.
///
/// # Errors
/// Returns [`Error::Unknown`] for an unknown format, [`Error::NoColumns`] if a column is requested
/// of data other than a table, or the error of the format.
pub fn open(path: &Path, reading: &Reading) -> Result<Box<dyn Source>> {
    open_as(path, &detect(path)?, reading)
}

/// Opens the data at `path` as the detected format.
///
/// # Errors
/// Returns the errors of [`open`].
pub fn open_as(path: &Path, found: &Detected, reading: &Reading) -> Result<Box<dyn Source>> {
    if reading.column.is_some() && found.format != Format::Ctable {
        return Err(Error::NoColumns);
    }
    Ok(match found.format {
        Format::Blosc1 | Format::Blosc2 => Box::new(frame::Chunks::of_chunk(path, reading)?),
        Format::Frame => Box::new(frame::Chunks::open(path, found.is_directory, reading)?),
        Format::B2nd => Box::new(frame::Items::open(path, found.is_directory, reading)?),
        Format::Bloscpack => Box::new(plain::Container::open(path, reading)?),
        Format::Npy => Box::new(plain::Npy::open(path)?),
        #[cfg(feature = "zarr")]
        Format::Zarr => Box::new(zarr::Zarr::open(path)?),
        #[cfg(feature = "hdf5")]
        Format::Hdf5 => Box::new(hdf5::Hdf5::open(path)?),
        Format::Npz => Box::new(plain::Npy::open_member(path)?),
        Format::Raw => Box::new(plain::Raw::open(path)?),
        Format::Carray => Box::new(bcolz::Rows::open(path, reading)?),
        Format::Ctable => bcolz::open_table(path, reading)?,
    })
}
