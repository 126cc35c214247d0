//! The file formats around Blosc: Bloscpack, bcolz, the stores of python-blosc2, NumPy, Zarr, CSV,
//! HDF5, Arrow and Parquet, and conversion between them and the formats of `ferroblosc`.
//!
//! | to … | use |
//! |---|---|
//! | pack, unpack and append to files of Bloscpack | [`bloscpack`] |
//! | read the chunks, offsets and metadata of such a file | [`blpk`] |
//! | parse dtypes and the headers of `.npy` files | [`numpy`] |
//! | read and write arrays and tables of bcolz | [`bcolz`] |
//! | read, create and change stores of python-blosc2 | [`store`] |
//! | read and write Zarr arrays (feature `zarr`) | `zarr` |
//! | read files of comma-separated values (feature `csv`) | `csv` |
//! | read and write HDF5 files (feature `hdf5`) | `hdf5` |
//! | convert, verify and repair files of any format | [`convert`] |
//! | convert tables from and to Arrow and Parquet (feature `arrow`) | [`convert`] |
//!
//! Each module has its own error type.

#![forbid(unsafe_code)]

pub mod bcolz;
pub mod bloscpack;
pub mod blpk;
pub mod convert;
#[cfg(feature = "csv")]
pub mod csv;
#[cfg(feature = "hdf5")]
pub mod hdf5;
#[doc(hidden)]
pub mod msgpack;
pub mod numpy;
pub mod store;
#[cfg(test)]
mod testing;
mod threads;
mod tree;
#[cfg(feature = "zarr")]
pub mod zarr;

/// Tests the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
