//! Writers of converted data. Each writes the source in order and keeps only a few chunks in
//! memory.
//!
//! | file | writes |
//! |---|---|
//! | `frame.rs` | chunks, super-chunks and b2nd arrays |
//! | `plain.rs` | Bloscpack containers, `.npy` and `.npz` files, bytes |
//! | `zarr.rs` | Zarr arrays |
//! | `hdf5.rs` | HDF5 datasets |
//! | `chunked.rs` | the chunks of both |
//! | `rows.rs` | carrays, and ctables for records |
//!
//! `options.rs` defines the options, and `input.rs` reads sources in order.

#[cfg(any(feature = "hdf5", feature = "zarr"))]
mod chunked;
mod frame;
#[cfg(feature = "hdf5")]
mod hdf5;
mod input;
mod options;
mod plain;
mod rows;
#[cfg(feature = "zarr")]
mod zarr;

#[cfg(any(feature = "hdf5", feature = "zarr"))]
pub(super) use chunked::write_array_chunks;
pub(super) use frame::storage;
pub use frame::{NewArray, blocks_of, compress, partitions};
#[cfg(any(feature = "hdf5", feature = "zarr"))]
pub(super) use frame::{add_vlmetalayers, zero_buffer};
#[cfg(feature = "hdf5")]
pub(super) use hdf5::{Hdf5Sink, at_output};
pub use input::Progress;
#[cfg(feature = "hdf5")]
pub use options::Hdf5Filter;
pub use options::{Compression, Destination, Writing};
pub use plain::{join_npz, write_to};
pub(super) use rows::{append_rows, set_attrs};
#[cfg(feature = "zarr")]
pub(super) use zarr::ZarrSink;

use std::path::Path;

use super::attachments::Attachments;
use super::error::{Error, Result};
use super::source::Source;

/// Writes the source to `output`, which must not exist, with the attachments that the format
/// supports.
///
/// # Errors
/// Returns [`Error::CannotHold`] if the format cannot hold the source, or the error of reading or
/// writing; an incomplete output may be left.
pub(super) fn write(
    source: &mut dyn Source,
    output: &Path,
    destination: Destination,
    (writing, attachments): (&Writing, &Attachments),
    progress: Progress<'_>,
) -> Result<()> {
    let is_array = source.content().array.is_some();
    let has_partitions = match destination {
        Destination::Frame { .. } => is_array,
        Destination::B2nd { .. } => true,
        #[cfg(feature = "zarr")]
        Destination::Zarr { .. } => writing.blocks.is_none(),
        #[cfg(feature = "hdf5")]
        Destination::Hdf5 { filter } => {
            filter.is_some() && (filter == Some(Hdf5Filter::Blosc2) || writing.blocks.is_none())
        }
        _ => false,
    };
    if !has_partitions && (writing.chunks.is_some() || writing.blocks.is_some()) {
        return Err(Error::Partition(
            "only arrays in frames have chunk and block shapes, HDF5 datasets chunk shapes and with filter 32026 block shapes, and Zarr arrays chunk shapes",
        ));
    }
    match destination {
        Destination::Blosc1 | Destination::Blosc2 if is_array => {
            Err(Error::CannotHold("bytes alone, without the type and shape of an array"))
        }
        Destination::Blosc1 => plain::write_chunk1(source, output, writing, progress),
        Destination::Blosc2 => frame::write_chunk(source, output, writing, progress),
        Destination::Frame { directory } if !is_array => {
            frame::write_schunk(source, output, directory, (writing, attachments), progress)
        }
        Destination::Frame { directory } | Destination::B2nd { directory } => {
            frame::write_array(source, output, directory, (writing, attachments), progress)
        }
        Destination::Bloscpack => {
            plain::write_container(source, output, (writing, attachments), progress)
        }
        Destination::Bcolz => rows::write(source, output, (writing, attachments), progress),
        Destination::Npz => plain::write_npz(source, output, writing, progress),
        Destination::Npy => plain::write_npy(source, output, progress),
        #[cfg(feature = "zarr")]
        Destination::Zarr { version, is_zip } => {
            zarr::write_zarr(source, output, (version, is_zip), (writing, attachments), progress)
        }
        #[cfg(feature = "hdf5")]
        Destination::Hdf5 { filter } => {
            hdf5::write_hdf5(source, output, filter, (writing, attachments), progress)
        }
        Destination::Plain => plain::write_bytes(source, output, progress),
    }
}
