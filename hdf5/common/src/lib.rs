//! The two HDF5 filters, and the code that makes plugins of them.
//!
//! A plugin is a shared object that exports one struct, [`abi::FilterClass`], with two callbacks:
//! `set_local` completes the filter's parameters at dataset creation, `filter` compresses and
//! decompresses chunks. A filter implements [`Filter`] in safe Rust; [`plugin!`] defines the
//! exports.
//!
//! A plugin is not linked to libhdf5. There are many builds of it (serial, two kinds of MPI,
//! private copies in Python wheels), a process may load several, and identifiers are valid only in
//! the calling one. So each callback captures its return address, and the functions of the library
//! that contains this address are called (`library.rs`).
//!
//! | file | content |
//! |---|---|
//! | `blosc.rs`, `blosc2/` | the filters 32001 and 32026 |
//! | `abi.rs` | the types and constants of HDF5's plugin interface |
//! | `filter.rs` | the interface of a filter, and its failures |
//! | `callbacks.rs` | adapters from HDF5's callbacks to a [`Filter`] |
//! | `entry.rs` | the exported functions, and the capture of the caller's address |
//! | `library.rs` | lookup of libhdf5 in the process |
//! | `functions.rs` | the libhdf5 functions that are called |
//! | `netcdf.rs` | the libnetcdf functions that are called |
//! | `limits.rs` | memory limits of stored chunks |
//! | `report.rs` | error reporting on HDF5's error stack |
//! | `threads.rs` | the number of threads without `BLOSC_NTHREADS` |

pub mod abi;
pub mod blosc;
pub mod blosc2;
mod callbacks;
pub mod entry;
mod filter;
mod functions;
mod library;
mod limits;
pub mod netcdf;
mod report;
mod threads;

pub use ferroblosc_capi_common::reserve::Reserve;
pub use filter::{Allowed, Choice, Dataset, Failure, Filter, Values};
pub use limits::{backed_size, frame_size};
pub use threads::Threads;
