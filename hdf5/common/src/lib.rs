//! What the two filter plugins of HDF5 share.
//!
//! A plugin is a shared object from which HDF5 asks one struct, [`abi::FilterClass`], with two callbacks: one
//! that completes the filter's parameters when a dataset is made (`set_local`), one that compresses and
//! decompresses chunks of it. What a filter does is an implementation of [`Filter`] in safe Rust;
//! [`plugin!`] makes of it what HDF5 wants to find.
//!
//! The one idea: a plugin is linked to no libhdf5. There are many builds of it (serial, two kinds of MPI,
//! private copies in Python wheels), a process may hold several, and only the one that calls knows the
//! numbers it passes. So each callback takes note of where it returns to, and the library that this address
//! lies in is the one whose functions are called (`library.rs`).
//!
//! | file | what |
//! |---|---|
//! | `abi.rs` | the types and constants of HDF5's plugin interface |
//! | `filter.rs` | what a filter is to this crate, and why it fails |
//! | `callbacks.rs` | from the calls of HDF5 to a [`Filter`] and back |
//! | `entry.rs` | the exported functions of a plugin, and taking note of the caller |
//! | `library.rs` | finding libhdf5 in the process |
//! | `functions.rs` | the functions of libhdf5 that are called |
//! | `netcdf.rs` | the functions of libnetcdf that are called |
//! | `limits.rs` | how much memory a stored chunk may ask for |
//! | `report.rs` | errors on HDF5's stack |

pub mod abi;
mod callbacks;
pub mod entry;
mod filter;
mod functions;
mod library;
mod limits;
pub mod netcdf;
mod report;

pub use ferroblosc_capi_common::reserve::Reserve;
pub use filter::{Choice, Dataset, Failure, Filter, Values};
pub use limits::{backed_size, frame_size};
